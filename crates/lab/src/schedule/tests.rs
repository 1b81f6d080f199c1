use super::*;
use model::Record;
use std::collections::BTreeMap;

fn course() -> Course {
    begun("null", |_| {}, &Options::default())
}

/// Returns an experiment of the catalog that has not begun, changed in some way.
fn begun(id: &str, change: impl Fn(&mut model::Design), options: &Options) -> Course {
    let mut design = crate::catalog::designs().into_iter().find(|design| design.id == id).unwrap();
    change(&mut design);
    Course::new(design, options)
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
    let options = Options { blocks: Some(u32::MAX), ..Options::default() };
    let mut course = begun("null", |_| {}, &options);
    let refusal = || model::Outcome::Unsupported { reason: "no".into() };
    for treatment in course.treatments.clone() {
        let record = Record { treatment, ..record(&course, 0, refusal()) };
        course.note(&record);
    }
    assert_eq!(next_of_base(&[course], 7, None), None);
}

#[test]
fn what_is_computed_is_conducted_once_unless_more_is_asked_for() {
    let blocks = |exact: bool, blocks: Option<u32>| {
        let options = Options { profile: model::Profile::Quick, blocks, ..Options::default() };
        let is_exact = |it: &mut model::Design| {
            it.responses.iter_mut().for_each(|response| response.exact = exact);
        };
        let mut conducted = 0;
        let mut courses = [begun("null", is_exact, &options)];
        while let Some(next) = next_of_base(&courses, 7, None) {
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

/// Returns a session of two experiments whose trials cost so much, as long as the time suffices, and the time
/// that is left.
fn measured(costs_ns: [u64; 2], budget_ns: u64) -> ([Course; 2], u64) {
    let options = Options { first_blocks: Some(9), ..Options::default() };
    let mut courses = ["create", "null"].map(|id| begun(id, |_| {}, &options));
    let mut left_ns = budget_ns;
    while let Some(next) = next_of_base(&courses, 7, Some(left_ns)) {
        for (_, treatment) in next.treatments {
            let course = &mut courses[next.course];
            let record = record(course, next.block, model::Outcome::Completed { leaked: 0 });
            let total_ns = costs_ns[next.course];
            course.note(&Record { treatment, total_ns, ..record });
            left_ns = left_ns.saturating_sub(total_ns);
        }
    }
    (courses, left_ns)
}

/// Returns the shares of an experiment's questions of a rank all of whose treatments have their blocks.
fn answered(course: &Course, rank: analysis::Rank) -> f64 {
    let own = course.questions.iter().filter(|(own, places)| *own == rank && !places.is_empty());
    let all: Vec<bool> =
        own.map(|(_, places)| places.iter().all(|place| course.rest_of(*place, 0) == 0)).collect();
    all.iter().filter(|has_all| **has_all).count() as f64 / all.len() as f64
}

#[test]
fn treatments_give_way_before_blocks_and_main_answers_are_the_last_to() {
    let all_ns = |costs_ns: [u64; 2]| {
        let (courses, _) = measured(costs_ns, u64::MAX);
        let trials = courses.iter().zip(costs_ns).map(|(it, ns)| it.treatments.len() as u64 * ns);
        9 * trials.sum::<u64>()
    };
    for costs_ns in [[20, 10], [10, 20]] {
        let whole_ns = all_ns(costs_ns);
        let (courses, left_ns) = measured(costs_ns, whole_ns);
        assert_eq!((courses.map(|it| it.next_block()), left_ns), ([9, 9], 0));
        let mut before = [0.0; 2];
        for tenths in 1..=10 {
            let (courses, left_ns) = measured(costs_ns, whole_ns * tenths / 10);
            let [create, null] = &courses;
            let ranks = [analysis::Rank::Headline, analysis::Rank::Claim];
            let shares = ranks.map(|rank| answered(create, rank));
            // More time answers no less, and main answers first.
            assert!(shares[0] >= before[0] && shares[1] >= before[1], "{tenths}: {shares:?}");
            assert!(shares[0] >= shares[1], "{tenths}: {shares:?}");
            assert!(tenths < 5 || shares[0] == 1.0, "{tenths}: {shares:?}");
            assert!(tenths < 8 || answered(null, analysis::Rank::Control) == 1.0, "{tenths}");
            assert!(left_ns < 9 * costs_ns[0].max(costs_ns[1]) * 4, "{tenths}: {left_ns}");
            before = shares;
        }
        assert_eq!(before, [1.0, 1.0]);
    }
    let (courses, _) = measured([20, 10], 0);
    assert_eq!(courses.map(|it| it.next_block()), [0, 0]);
}

#[test]
fn what_no_claim_needs_waits_until_each_experiment_has_shown_what_its_trials_take() {
    let options = Options { first_blocks: Some(9), ..Options::default() };
    let mut courses = ["create", "fault"].map(|id| begun(id, |_| {}, &options));
    let mut seen = Vec::new();
    for _ in 0..3 {
        let next = next_of_base(&courses, 7, Some(u64::MAX / 4)).unwrap();
        assert_eq!(next.block, 0);
        let course = &mut courses[next.course];
        let place = |it: &Treatment| course.treatments.iter().position(|known| known == it);
        seen.push(next.treatments.iter().filter(|(_, it)| course.asks_main(place(it))).count());
        seen.push(next.treatments.len());
        for (_, treatment) in next.treatments {
            let completed = model::Outcome::Completed { leaked: 0 };
            course.note(&Record { treatment, total_ns: 1_000_000, ..record(course, 0, completed) });
        }
    }
    // Both begin with what claims need, and the rest of the first comes behind.
    assert!(seen[0] == seen[1] && seen[2] == seen[3] && seen[1] * seen[3] > 0, "{seen:?}");
    assert!(seen[4] == 0 && seen[5] > 0, "{seen:?}");
}

#[test]
fn a_block_with_a_failed_trial_is_replaced_unless_the_treatment_never_completes() {
    let failed = || model::Outcome::Failed { reason: "no".into() };
    let blocks = |fails: fn(u32) -> bool, options: &Options| {
        let mut courses = [begun("null", |_| {}, options)];
        while let Some(next) = next_of_base(&courses, 7, None) {
            for (_, treatment) in next.treatments {
                let fails = treatment == courses[0].treatments[0] && fails(next.block);
                let completed = model::Outcome::Completed { leaked: 0 };
                let outcome = if fails { failed() } else { completed };
                let record = record(&courses[0], next.block, outcome);
                courses[0].note(&Record { treatment, ..record });
            }
        }
        courses[0].next_block()
    };
    let options = Options { first_blocks: Some(9), ..Options::default() };
    assert_eq!(blocks(|_| false, &options), 9);
    // Blocks 0, 5 and 10 fail: 12 blocks have 9 whole ones.
    assert_eq!(blocks(|block| block % 5 == 0, &options), 12);
    assert_eq!(blocks(|_| true, &options), 9);
    assert_eq!(blocks(|block| block > 0, &options), 18);
    let asked = Options { blocks: Some(7), ..Options::default() };
    assert_eq!(blocks(|block| block % 5 == 0, &asked), 7);
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
fn the_typical_costs_are_those_of_the_recorded_session() {
    let costs = recorded_costs_ns();
    let lines = costs.iter().map(|(id, ns)| format!("{id}\t{}\n", ns / 1000));
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../experiments/src/costs.tsv");
    // What the recorded session lacks was measured by hand.
    let known = std::fs::read_to_string(path).unwrap();
    let id = |line: &str| line.split_once('\t').map(|(id, _)| id.to_string());
    let by_hand = known.lines().filter(|line| id(line).is_some_and(|id| !costs.contains_key(&id)));
    let mut lines: Vec<String> = lines.chain(by_hand.map(|line| format!("{line}\n"))).collect();
    lines.sort();
    let recorded = lines.concat();
    if std::env::var_os("SCRUPLE_UPDATE").is_some() {
        std::fs::write(path, &recorded).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap(), recorded, "renew it: SCRUPLE_UPDATE=1");
}

#[test]
fn quick_stays_within_its_budget_on_64_cpus_and_goes_as_far_as_they_do() {
    let costs_ns = recorded_costs_ns();
    let cpus: Vec<u32> = (0..64).collect();
    let cores: Vec<Vec<u32>> = (0..32).map(|core| vec![core, core + 32]).collect();
    let topology = model::Topology { cores, ..model::Topology::default() };
    let profile = model::Profile::Quick;
    let first_blocks = Some(10);
    let options = Options { profile, first_blocks, cpus: cpus.clone(), ..Options::default() };
    let designs = crate::catalog::designs().into_iter().map(|it| it.on(&cpus, &topology));
    let mut courses: Vec<Course> = designs.map(|it| Course::new(it, &options)).collect();
    let budget_ns = profile.budget_s() * 1_000_000_000;
    let (mut left_ns, mut farthest) = (budget_ns, BTreeMap::<String, u64>::new());
    while let Some(next) = next_of_base(&courses, 7, Some(left_ns)) {
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

/// Returns the blocks that each claim of the catalog has at the end of a default session on a host that is `slower`
/// than the recorded one, does nothing for 15 s after `stall_s`, and disturbs a trial now and then.
fn blocks_of_claims(slower: f64, stall_s: i64) -> Vec<usize> {
    let recorded = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../recorded"));
    let mut costs: BTreeMap<(String, Treatment), Vec<u64>> = BTreeMap::new();
    let sessions = ["base", "speedup", "servers"].map(|name| store::open(&recorded.join(name)));
    for record in sessions.into_iter().flat_map(|stored| stored.unwrap().records) {
        if matches!(record.outcome, model::Outcome::Completed { .. }) {
            let key = (record.experiment.to_string(), record.treatment);
            costs.entry(key).or_default().push(record.total_ns);
        }
    }
    let options = Options {
        profile: model::Profile::Quick,
        first_blocks: Some(analysis::blocks_for(133)),
        cpus: vec![0, 1],
        ..Options::default()
    };
    let known = |id: &str| costs.keys().any(|(known, _)| known == id);
    let designs = crate::catalog::designs().into_iter().filter(|it| known(&it.id));
    let mut courses: Vec<Course> = designs.map(|it| Course::new(it, &options)).collect();
    let (mut used_ns, stall_ns) = (0_i64, stall_s * 1_000_000_000);
    let budget_ns = options.profile.budget_s() as i64 * 1_000_000_000;
    let left = |used_ns: i64| u64::try_from(budget_ns - used_ns).unwrap_or(0);
    while let Some(next) = next_of_base(&courses, 7, Some(left(used_ns))) {
        let course = &mut courses[next.course];
        for (_, treatment) in next.treatments {
            let refused = model::Outcome::Unsupported { reason: "no".into() };
            let known = costs.get(&(course.design.id.clone(), treatment.clone()));
            let total_ns = known.map_or(0.0, |known| known[known.len() / 2] as f64 * slower) as u64;
            let before_ns = used_ns;
            used_ns += total_ns as i64 + 5_000_000;
            let stalls = before_ns < stall_ns && used_ns >= stall_ns;
            used_ns += if stalls { 15_000_000_000 } else { 0 };
            if used_ns > budget_ns {
                break;
            }
            let completed = model::Outcome::Completed { leaked: 0 };
            let failed = model::Outcome::Failed { reason: "others use the CPUs".into() };
            let fails = course.design.id == "allocator" && next.block % 3 == 1;
            let outcome = match known {
                Some(_) if fails && treatment == course.treatments[0] => failed,
                Some(_) => completed,
                None => refused,
            };
            course.note(&Record { treatment, total_ns, ..record(course, next.block, outcome) });
        }
    }
    let of = |course: &Course| -> Vec<usize> {
        let claims = course.questions.iter().filter(|(rank, _)| *rank == analysis::Rank::Claim);
        let measured = claims.filter(|(_, at)| !at.is_empty() && !course.is_refused(at));
        let has = |places: &[usize], done: &std::collections::BTreeSet<Treatment>| {
            places.iter().all(|place| done.contains(&course.treatments[*place]))
        };
        measured.map(|(_, at)| course.done.values().filter(|done| has(at, done)).count()).collect()
    };
    courses.iter().filter(|it| !it.design.is_exact()).flat_map(of).collect()
}

#[test]
fn a_host_that_is_slow_or_stalls_costs_a_few_claims_and_not_the_blocks_of_all() {
    let least = analysis::fewest_blocks_for(133) as usize;
    let blocks = blocks_of_claims(1.6, 100);
    let enough = blocks.iter().filter(|blocks| **blocks >= least).count();
    assert!(enough * 10 >= blocks.len() * 8, "{blocks:?}");
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
        let need = Need { ratio: 2.0, treatments: treatments.clone(), headline: None, confirms };
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
fn beyond_the_base_the_time_is_shared_evenly_until_half_as_many_blocks_again() {
    let mut courses = [course(), course()];
    let taking = |course: &Course, block, total_ns| Record {
        total_ns,
        ..record(course, block, model::Outcome::Completed { leaked: 0 })
    };
    let (cheap_ns, dear_ns) = (1_000_000, 4_000_000);
    for (course, ns) in courses.iter_mut().zip([cheap_ns, dear_ns]) {
        (0..6).for_each(|block| course.note(&taking(course, block, ns)));
    }
    let wide =
        Need { ratio: 2.0, treatments: course().treatments, headline: None, confirms: false };
    let options = Options { profile: model::Profile::Quick, ..Options::default() };
    let mut order = Vec::new();
    for _ in 0..8 {
        let next = next_by_width(&courses, &[&wide, &wide], &options, 7, Some(u64::MAX)).unwrap();
        let ns = [cheap_ns, dear_ns][next.course];
        let one = taking(&courses[next.course], next.block, ns);
        courses[next.course].note(&one);
        order.push(next.course);
    }
    // Half of six is three. The cheap one has had 2.5 blocks' time when the dear one has had half of its next.
    assert_eq!(order[..3], [0, 0, 1], "{order:?}");
    assert_eq!(order[..6].iter().filter(|course| **course == 0).count(), 3, "{order:?}");
    // Then they go in rounds.
    let blocks = courses.each_ref().map(Course::next_block);
    assert_eq!(blocks, [10, 10], "{order:?}");
}

#[test]
fn what_lacks_blocks_is_named_with_those_it_has() {
    let mut courses = [course()];
    let of =
        |courses: &[Course]| incomplete(courses).map(|(_, has, of)| (has, of)).collect::<Vec<_>>();
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
    let options = Options { blocks: Some(3), ..Options::default() };
    let mut course = begun("null", |_| {}, &options);
    for block in [0, 2] {
        for treatment in course.treatments.clone() {
            let completed = model::Outcome::Completed { leaked: 0 };
            let record = Record { treatment, ..record(&course, block, completed) };
            course.note(&record);
        }
    }
    let next = next_of_base(&[course], 7, None).map(|next| next.block);
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
