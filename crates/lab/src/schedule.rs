//! Which block comes next: a base of complete rounds over all experiments, then rounds over those with
//! wide intervals, until they are narrow enough or the time is up.

use analysis::Need;
use analysis::scaling::{WORKERS, coarse, is_on_one_cpu};
use model::{Design, Inquiry, Options, Record, Treatment};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The state of one experiment in this session.
#[derive(Debug)]
pub(crate) struct Course {
    pub(crate) design: Design,
    pub(crate) treatments: Vec<Treatment>,
    /// Those that every block of the base measures.
    pub(crate) base: Vec<Treatment>,
    /// What its intervals still need, if that is known since its last trial.
    pub(crate) need: Option<Need>,
    compared: Vec<Vec<Treatment>>,
    done: BTreeMap<u32, BTreeSet<Treatment>>,
    total_ns: u64,
    /// The longest of its trials that completed.
    longest_ns: u64,
    trials: u64,
    completed: BTreeSet<Treatment>,
    refused: BTreeSet<Treatment>,
}

impl Course {
    pub(crate) fn new(design: Design, options: &Options) -> Self {
        let treatments = design.treatments(options.profile);
        let base = base(&treatments, options);
        let compared = analysis::compared(&design, &treatments);
        Course {
            design,
            treatments,
            base,
            need: None,
            compared,
            done: BTreeMap::new(),
            total_ns: 0,
            longest_ns: 0,
            trials: 0,
            completed: BTreeSet::new(),
            refused: BTreeSet::new(),
        }
    }

    /// Takes note of a trial that has its record.
    pub(crate) fn note(&mut self, record: &Record) {
        self.done.entry(record.block).or_default().insert(record.treatment.clone());
        self.total_ns = self.total_ns.saturating_add(record.total_ns);
        self.trials += 1;
        match record.outcome {
            model::Outcome::Completed { .. } => {
                self.completed.insert(record.treatment.clone());
                self.longest_ns = self.longest_ns.max(record.total_ns);
            }
            model::Outcome::Unsupported { .. } => {
                self.refused.insert(record.treatment.clone());
            }
            _ => {}
        }
    }

    /// Returns how many blocks its base has.
    pub(crate) fn base_blocks(&self, options: &Options) -> u32 {
        base_blocks_of(&self.design, options)
    }

    /// Returns the first block that has no trial yet.
    pub(crate) fn next_block(&self) -> u32 {
        self.done.last_key_value().map_or(0, |(block, _)| block.saturating_add(1))
    }

    /// Returns the treatments of a block that are still to be conducted, with their places in the
    /// block's order. What this machine refuses is tried in one block, not again in each; what it
    /// has done once it can do, and something else was in the way.
    pub(crate) fn missing(
        &self,
        seed: u64,
        block: u32,
        among: &[Treatment],
    ) -> Vec<(u32, Treatment)> {
        let lacking: BTreeSet<&Treatment> = self.lacking(block, among).collect();
        let id = &self.design.id;
        let order = runner::order(seed, id, block, &self.treatments, &self.compared);
        (0..).zip(order).filter(|(_, treatment)| lacking.contains(treatment)).collect()
    }

    /// Returns how many trials its base still lacks, and what they are likely to take in ns.
    pub(crate) fn rest_of_base(&self, options: &Options) -> (usize, u64) {
        let trials = self.missing_of_base(base_blocks_of(&self.design, options));
        (trials, self.cost_ns(trials))
    }

    /// Returns how many trials this number of blocks of its base still lacks.
    fn missing_of_base(&self, blocks: u32) -> usize {
        let touched = self.done.range(..blocks).map(|(block, _)| *block);
        let untouched = blocks as usize - touched.clone().count();
        untouched * self.missing_in(self.next_block())
            + touched.map(|block| self.missing_in(block)).sum::<usize>()
    }

    /// Returns how many trials of its base a block still lacks.
    fn missing_in(&self, block: u32) -> usize {
        self.lacking(block, &self.base).count()
    }

    /// Returns those of some treatments that have no trial in a block, without those that this machine
    /// refuses.
    fn lacking<'a>(
        &'a self,
        block: u32,
        among: &'a [Treatment],
    ) -> impl Iterator<Item = &'a Treatment> {
        let done = self.done.get(&block);
        among.iter().filter(move |treatment| {
            let is_possible =
                self.completed.contains(treatment) || !self.refused.contains(treatment);
            is_possible && !done.is_some_and(|done| done.contains(treatment))
        })
    }

    /// Returns how long a trial of a block that was begun in time may take when the time is up: twice as
    /// long as one took before. To end those that are a little late would leave out the slow ones.
    pub(crate) fn patience(&self) -> Duration {
        Duration::from_nanos(self.longest_ns.saturating_mul(2))
    }

    /// Returns what this number of trials is likely to take, from those that are over.
    pub(crate) fn cost_ns(&self, trials: usize) -> u64 {
        self.total_ns.checked_div(self.trials).unwrap_or(0).saturating_mul(trials as u64)
    }
}

/// Returns the treatments of the base: all, but where the question is how a program scales, a part of the
/// numbers of workers, and where it is what limits it, those that take nothing, unless a number of blocks was
/// asked for; the rest is measured where it narrows the answer.
fn base(treatments: &[Treatment], options: &Options) -> Vec<Treatment> {
    match options.inquiry {
        Some(Inquiry::Scale) => {}
        Some(Inquiry::Why) if options.blocks.is_none() => {
            return treatments.iter().filter(|it| analysis::why::is_plain(it)).cloned().collect();
        }
        _ => return treatments.to_vec(),
    }
    let of = |treatment: &Treatment| treatment.level(WORKERS)?.parse::<u64>().ok();
    let mut levels: Vec<u64> = treatments.iter().filter_map(of).collect();
    levels.sort_unstable();
    levels.dedup();
    let coarse = coarse(&levels, options.cpus.len() as u64);
    let is_coarse = |treatment: &&Treatment| {
        !is_on_one_cpu(treatment) && of(treatment).is_none_or(|n| coarse.contains(&n))
    };
    treatments.iter().filter(is_coarse).cloned().collect()
}

/// A block to be conducted.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Next {
    pub(crate) course: usize,
    pub(crate) block: u32,
    pub(crate) treatments: Vec<(u32, Treatment)>,
}

/// The most blocks that can be asked for.
pub(crate) const BLOCKS_MAX: u32 = model::BLOCKS_MAX;

/// Returns how many complete blocks every experiment gets first.
pub(crate) fn base_blocks(options: &Options) -> u32 {
    // A manifest that somebody else wrote may ask for more than the command line would take.
    options.blocks.unwrap_or_else(|| options.profile.blocks_min()).min(BLOCKS_MAX)
}

/// The blocks of an experiment that computes its numbers: they are the same every time.
const EXACT_BLOCKS: u32 = 1;

/// Returns how many complete blocks this experiment gets first. A number of blocks that was
/// asked for is kept.
fn base_blocks_of(design: &Design, options: &Options) -> u32 {
    let all = base_blocks(options);
    match options.blocks {
        None if design.is_exact() => all.min(EXACT_BLOCKS),
        None if options.inquiry == Some(Inquiry::Why) => analysis::why::PLAIN_BLOCKS,
        _ => all,
    }
}

/// Returns the blocks of the base that are not complete yet, in the order of the rounds.
///
/// With a limit of `left_ns`, what the time does not suffice for gives way: the most expensive experiments
/// wait until the others have their blocks, and then get what is left. Otherwise all would lack their
/// last blocks alike, and none of them could decide anything. What is likely not to end in time is
/// not begun. Only costs are looked at, never results.
pub(crate) fn next_of_base(
    courses: &[Course],
    options: &Options,
    seed: u64,
    left_ns: Option<u64>,
) -> Option<Next> {
    let waiting = left_ns.map(|left_ns| giving_way(courses, options, left_ns)).unwrap_or_default();
    let fits = |next: &Next| {
        let cost_ns = courses[next.course].cost_ns(next.treatments.len());
        left_ns.is_none_or(|left_ns| left_ns > 0 && cost_ns <= left_ns)
    };
    in_rounds(courses, options, seed, |course| !waiting.contains(&course)).find(fits).or_else(
        || in_rounds(courses, options, seed, |course| waiting.contains(&course)).find(fits),
    )
}

/// Returns the experiments whose base is not complete, with the blocks that each has and should have.
pub(crate) fn incomplete<'a>(
    courses: &'a [Course],
    options: &'a Options,
) -> impl Iterator<Item = (&'a Course, u32, u32)> {
    courses.iter().filter_map(|course| {
        let blocks = base_blocks_of(&course.design, options);
        let complete = (0..blocks).take_while(|block| course.missing_in(*block) == 0);
        let complete = complete.count() as u32;
        (complete < blocks).then_some((course, complete, blocks))
    })
}

/// Returns what the rest of the base is likely to take; `None` where an experiment has no trial yet that says
/// how long its own take.
pub(crate) fn rest_of_base_ns(courses: &[Course], options: &Options) -> Option<u64> {
    courses.iter().try_fold(0_u64, |sum, course| {
        let (trials, cost_ns) = course.rest_of_base(options);
        (trials == 0 || course.trials > 0).then(|| sum.saturating_add(cost_ns))
    })
}

/// Returns the experiments that wait, so that the rest of the base of all others fits into the time: the
/// most expensive first.
fn giving_way(courses: &[Course], options: &Options, left_ns: u64) -> BTreeSet<usize> {
    let rest = courses.iter().map(|course| course.rest_of_base(options).1);
    let mut rest: Vec<(u64, usize)> = rest.zip(0..).collect();
    rest.sort_unstable();
    let mut all_ns = rest.iter().fold(0_u64, |sum, (ns, _)| sum.saturating_add(*ns));
    let mut waiting = BTreeSet::new();
    // One alone has nobody to give way to.
    while all_ns > left_ns && rest.len() > 1 {
        let Some((ns, course)) = rest.pop() else { break };
        all_ns = all_ns.saturating_sub(ns);
        waiting.insert(course);
    }
    waiting
}

/// Returns the incomplete blocks of the base of some experiments.
fn in_rounds<'a>(
    courses: &'a [Course],
    options: &'a Options,
    seed: u64,
    of: impl Fn(usize) -> bool + Copy + 'a,
) -> impl Iterator<Item = Next> + 'a {
    // What is missing where nothing is done is missing nowhere else if it is nothing: a stranger's
    // session may ask for thousands of rounds and have been refused in the first.
    let mut over = false;
    let rounds = (0..base_blocks(options)).map_while(move |round| {
        if over {
            return None;
        }
        let is_untouched = courses.iter().all(|course| !course.done.contains_key(&round));
        let order = runner::round_order(seed, round, courses.len()).into_iter();
        let missing = order.filter(|course| of(*course)).filter_map(|course| {
            if round >= base_blocks_of(&courses[course].design, options) {
                return None;
            }
            let treatments = courses[course].missing(seed, round, &courses[course].base);
            (!treatments.is_empty()).then_some(Next { course, block: round, treatments })
        });
        let missing: Vec<Next> = missing.collect();
        over = is_untouched && missing.is_empty();
        Some(missing)
    });
    rounds.flatten()
}

/// Returns the next block of the experiment that has fewest, of those whose intervals are too wide; none
/// if all are narrow enough or at their most blocks. It looks at widths alone, never at significance: a
/// rule that stops on significance finds it too often. Without a time limit, or with a number of blocks that was
/// asked for, only an experiment that confirms an answer has another block.
///
/// Going in rounds gives an expensive experiment the blocks that its verdicts take, and keeps the blocks of
/// one experiment apart in time, so that what lasts for seconds does not make neighbouring blocks alike.
pub(crate) fn next_by_width(
    courses: &[Course],
    needs: &[&Need],
    options: &Options,
    seed: u64,
    left_ns: Option<u64>,
) -> Option<Next> {
    if left_ns == Some(0) {
        return None;
    }
    let narrows = options.blocks.is_none() && left_ns.is_some();
    let left_ns = left_ns.unwrap_or(u64::MAX);
    let mut wide: Vec<usize> = (0..courses.len())
        .filter(|course| needs[*course].ratio > 1.0 && (narrows || needs[*course].confirms))
        .collect();
    let place = |round: u32, course: usize| {
        runner::round_order(seed, round, courses.len()).iter().position(|at| *at == course)
    };
    wide.sort_by_cached_key(|course| {
        let round = courses[*course].next_block();
        (round, place(round, *course))
    });
    wide.into_iter().find_map(|index| {
        let course = &courses[index];
        let block = course.next_block();
        let treatments = course.missing(seed, block, &needs[index].treatments);
        let affordable = course.cost_ns(treatments.len()) <= left_ns;
        let worthwhile = block < options.profile.blocks_max() && !treatments.is_empty();
        (affordable && worthwhile).then_some(Next { course: index, block, treatments })
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests {
    use super::*;

    fn course() -> Course {
        let design = crate::catalog::designs().into_iter().find(|design| design.id == "null");
        {
            let options = Options { profile: model::Profile::Smoke, ..Options::default() };
            Course::new(design.unwrap_or_default(), &options)
        }
    }

    /// Returns a record of a treatment that ended in some way.
    fn record(course: &Course, block: u32, outcome: model::Outcome) -> Record {
        Record {
            trial: 0,
            experiment: course.design.id.as_str().into(),
            block,
            position: 0,
            treatment: course.treatments[0].clone(),
            started_unix_ms: 0,
            padding_bytes: 0,
            outcome,
            observed: Default::default(),
            measured: None,
            process: None,
            spawn_to_ready_ns: None,
            harness_ns: None,
            measuring_ns: None,
            total_ns: 1,
            runner_cpu_ns: None,
            machine: model::Surroundings::default(),
            log: String::new(),
        }
    }

    fn is_planned(course: &Course, block: u32) -> bool {
        let planned = course.missing(7, block, &course.treatments);
        planned.iter().any(|(_, treatment)| *treatment == course.treatments[0])
    }

    #[test]
    fn a_base_of_which_all_is_refused_is_complete_at_once() {
        let mut course = course();
        let refusal = || model::Outcome::Unsupported { reason: "no".into() };
        for treatment in course.treatments.clone() {
            let record = Record { treatment, ..record(&course, 0, refusal()) };
            course.note(&record);
        }
        let options = Options { blocks: Some(u32::MAX), ..Options::default() };
        assert_eq!(next_of_base(&[course], &options, 7, None), None);
    }

    #[test]
    fn what_is_computed_is_conducted_once_unless_more_is_asked_for() {
        let blocks = |exact: bool, blocks: Option<u32>| {
            let mut course = course();
            course.design.responses.iter_mut().for_each(|response| response.exact = exact);
            let options = Options { profile: model::Profile::Quick, blocks, ..Options::default() };
            let mut conducted = 0;
            let mut courses = [course];
            while let Some(next) = next_of_base(&courses, &options, 7, None) {
                conducted += 1;
                for (_, treatment) in next.treatments {
                    let completed = model::Outcome::Completed { leaked: 0 };
                    let record = record(&courses[0], next.block, completed);
                    courses[0].note(&Record { treatment, ..record });
                }
            }
            conducted
        };
        assert_eq!((blocks(false, None), blocks(true, None)), (6, 1));
        assert_eq!((blocks(true, Some(1)), blocks(true, Some(4))), (1, 4));
    }

    /// Returns a session of three experiments whose trials cost so much, as long as the time suffices: the
    /// blocks that each has in the end, and the time that is left.
    fn measured(costs_ns: [u64; 3], budget_ns: u64) -> ([u32; 3], u64) {
        let options = Options { profile: model::Profile::Quick, ..Options::default() };
        let mut courses = ["a", "b", "c"].map(|id| {
            let mut course = course();
            course.design.id = id.into();
            course
        });
        let mut left_ns = budget_ns;
        while let Some(next) = next_of_base(&courses, &options, 7, Some(left_ns)) {
            for (_, treatment) in next.treatments {
                let course = &mut courses[next.course];
                let completed = model::Outcome::Completed { leaked: 0 };
                let record = record(course, next.block, completed);
                let total_ns = costs_ns[next.course];
                course.note(&Record { treatment, total_ns, ..record });
                left_ns = left_ns.saturating_sub(total_ns);
            }
        }
        (courses.map(|course| course.next_block()), left_ns)
    }

    #[test]
    fn the_dearest_gives_way_where_the_time_does_not_suffice_for_all() {
        let trials = course().treatments.len() as u64;
        assert_eq!(measured([30, 10, 1], 41 * 6 * trials), ([6, 6, 6], 0));
        // Three blocks of the most expensive are missing, and none of the others.
        assert_eq!(measured([30, 10, 1], (41 * 6 - 30 * 3) * trials), ([3, 6, 6], 0));
        // What is left would not suffice for another block, and is not overdrawn.
        let (blocks, left_ns) = measured([30, 10, 1], (41 * 6 - 30 * 3 - 1) * trials);
        assert_eq!((blocks, left_ns), ([2, 6, 6], 29 * trials));
        // Two give way where one does not suffice.
        assert_eq!(measured([30, 10, 1], (41 + 5 + 10) * trials), ([1, 2, 6], 0));
        assert_eq!(measured([30, 10, 1], 0), ([0, 0, 0], 0));
    }

    /// Returns how long trials of each experiment took in a recorded session of the catalog, on average in ns.
    fn recorded_costs_ns() -> BTreeMap<String, u64> {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../recorded/base");
        let stored = store::open(std::path::Path::new(folder)).unwrap();
        let mut sums: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        for record in stored.records {
            let (ns, trials) = sums.entry(record.experiment.to_string()).or_default();
            (*ns, *trials) = (*ns + record.total_ns, *trials + 1);
        }
        sums.into_iter().map(|(id, (ns, trials))| (id, ns / trials)).collect()
    }

    #[test]
    fn quick_stays_within_its_budget_on_64_cpus_and_goes_as_far_as_they_do() {
        let costs_ns = recorded_costs_ns();
        let cpus: Vec<u32> = (0..64).collect();
        let cores: Vec<Vec<u32>> = (0..32).map(|core| vec![core, core + 32]).collect();
        let topology = model::Topology { cores, ..model::Topology::default() };
        let profile = model::Profile::Quick;
        let options = Options { profile, cpus: cpus.clone(), ..Options::default() };
        let designs = crate::catalog::designs().into_iter().map(|it| it.on(&cpus, &topology));
        let mut courses: Vec<Course> = designs.map(|it| Course::new(it, &options)).collect();
        let budget_ns = profile.budget_s() * 1_000_000_000;
        let (mut left_ns, mut farthest) = (budget_ns, BTreeMap::<String, u64>::new());
        while let Some(next) = next_of_base(&courses, &options, 7, Some(left_ns)) {
            let course = &mut courses[next.course];
            for (_, treatment) in next.treatments {
                let counts = ["count", "threads"].iter().filter_map(|it| treatment.level(it));
                let most = counts.filter_map(|count| count.parse().ok()).max().unwrap_or(0);
                let known = farthest.entry(course.design.id.clone()).or_default();
                *known = most.max(*known);
                let total_ns = costs_ns.get(&course.design.id).copied().unwrap_or(50_000_000);
                let completed = model::Outcome::Completed { leaked: 0 };
                let record = record(course, next.block, completed);
                course.note(&Record { treatment, total_ns, ..record });
                left_ns = left_ns.checked_sub(total_ns).unwrap();
            }
        }
        for experiment in ["workers", "speedup", "counters", "allocator"] {
            assert!(farthest[experiment] >= 64, "{experiment}: {farthest:?}");
        }
        let begun = courses.iter().all(|course| course.next_block() > 0);
        let blocks: Vec<_> = courses.iter().map(|it| (&it.design.id, it.next_block())).collect();
        assert!(begun && left_ns < budget_ns / 2, "{left_ns} ns left; {blocks:?}");
    }

    #[test]
    fn no_number_of_blocks_ends_a_session_while_time_is_left() {
        let mut course = course();
        let need = analysis::Need {
            ratio: 1.5,
            treatments: course.treatments.clone(),
            headline: None,
            confirms: false,
        };
        let completed = || model::Outcome::Completed { leaked: 0 };
        for (block, in_quick) in [(5, true), (39, true), (500, true), (BLOCKS_MAX - 1, false)] {
            let one = record(&course, block, completed());
            course.note(&one);
            let next = |profile, left_ns| {
                let options = Options { profile, ..Options::default() };
                let courses = std::slice::from_ref(&course);
                next_by_width(courses, &[&need], &options, 7, Some(left_ns)).map(|next| next.block)
            };
            let follows = in_quick.then_some(block + 1);
            assert_eq!(next(model::Profile::Quick, u64::MAX), follows);
            assert_eq!(next(model::Profile::Quick, 0), None);
            assert_eq!(next(model::Profile::Smoke, u64::MAX), None);
        }
    }

    #[test]
    fn with_a_number_of_blocks_or_without_a_limit_only_what_confirms_has_another_block() {
        let mut course = course();
        let completed = model::Outcome::Completed { leaked: 0 };
        course.note(&record(&course, 5, completed));
        let treatments = course.treatments.clone();
        let next = |confirms, blocks, left_ns| {
            let need =
                Need { ratio: 2.0, treatments: treatments.clone(), headline: None, confirms };
            let options = Options { profile: model::Profile::Quick, blocks, ..Options::default() };
            next_by_width(std::slice::from_ref(&course), &[&need], &options, 7, left_ns).is_some()
        };
        for (blocks, left_ns, narrows) in
            [(None, Some(u64::MAX), true), (Some(6), Some(u64::MAX), false), (Some(6), None, false)]
        {
            assert_eq!(next(false, blocks, left_ns), narrows, "{blocks:?} {left_ns:?}");
            assert!(next(true, blocks, left_ns), "{blocks:?} {left_ns:?}");
        }
        assert!(!next(true, None, Some(0)));
    }

    #[test]
    fn who_has_fewest_blocks_of_those_with_wide_intervals_comes_next() {
        let mut courses = [course(), course(), course()];
        for (course, blocks) in courses.iter_mut().zip([20, 6, 7]) {
            for block in 0..blocks {
                let one = record(course, block, model::Outcome::Completed { leaked: 0 });
                course.note(&one);
            }
        }
        let need = |ratio| analysis::Need {
            ratio,
            treatments: course().treatments,
            headline: None,
            confirms: false,
        };
        let options = Options { profile: model::Profile::Quick, ..Options::default() };
        let next = |ratios: [f64; 3]| {
            let needs = ratios.map(need);
            let needs: Vec<_> = needs.iter().collect();
            next_by_width(&courses, &needs, &options, 7, Some(u64::MAX)).map(|next| next.course)
        };
        assert_eq!(next([9.0, 1.1, 1.2]), Some(1));
        assert_eq!(next([9.0, 0.9, 1.01]), Some(2));
        assert_eq!(next([9.0, 0.9, 0.9]), Some(0));
        assert_eq!(next([0.9, 0.9, 0.9]), None);
    }

    #[test]
    fn what_lacks_blocks_is_named_with_those_it_has() {
        let options = Options { profile: model::Profile::Quick, ..Options::default() };
        let mut courses = [course()];
        let of = |courses: &[Course]| {
            incomplete(courses, &options).map(|(_, has, of)| (has, of)).collect::<Vec<_>>()
        };
        for block in 0..6 {
            assert_eq!(of(&courses), [(block, 6)]);
            for treatment in courses[0].treatments.clone() {
                let completed = model::Outcome::Completed { leaked: 0 };
                let record = record(&courses[0], block, completed);
                courses[0].note(&Record { treatment, ..record });
            }
        }
        assert_eq!(of(&courses), []);
    }

    #[test]
    fn a_hole_in_the_base_is_found_behind_blocks_that_are_whole() {
        let mut course = course();
        for block in [0, 2] {
            for treatment in course.treatments.clone() {
                let completed = model::Outcome::Completed { leaked: 0 };
                let record = Record { treatment, ..record(&course, block, completed) };
                course.note(&record);
            }
        }
        let options = Options { blocks: Some(3), ..Options::default() };
        let next = next_of_base(&[course], &options, 7, None).map(|next| next.block);
        assert_eq!(next, Some(1));
    }

    #[test]
    fn what_is_refused_is_not_tried_again_unless_it_was_possible_before() {
        let refusal = || model::Outcome::Unsupported { reason: "no".into() };
        let mut course = course();
        course.note(&record(&course, 0, refusal()));
        assert!(!is_planned(&course, 0) && !is_planned(&course, 1));
        let mut course = self::course();
        course.note(&record(&course, 0, model::Outcome::Completed { leaked: 0 }));
        course.note(&record(&course, 1, refusal()));
        assert!(!is_planned(&course, 1) && is_planned(&course, 2));
    }
}
