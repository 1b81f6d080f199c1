//! Which block comes next: a base of complete rounds over all experiments, then rounds over those with
//! wide intervals, until they are narrow enough or the time is up.

mod course;
mod fits;

pub(crate) use course::Course;
pub(crate) use fits::{Forecast, forecast};

use analysis::Need;
use model::{Options, Treatment};

/// A block to be conducted.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Next {
    pub(crate) course: usize,
    pub(crate) block: u32,
    pub(crate) treatments: Vec<(u32, Treatment)>,
}

/// The most blocks that can be asked for.
pub(crate) const BLOCKS_MAX: u32 = model::BLOCKS_MAX;

/// The blocks of an experiment that computes its numbers: they are the same every time.
const EXACT_BLOCKS: u32 = 1;

/// Returns the blocks of the base that are not complete yet, in the order of the rounds.
///
/// With a limit of `left_ns`, what the time does not suffice for gives way: blocks beyond those that a verdict
/// takes, then treatments ([`fits::chosen`]). What is left of the time is for the others. Otherwise all would lack their
/// last blocks alike, and none of them could decide anything. What is likely not to end in time is
/// not begun. Only costs are looked at, never results.
pub(crate) fn next_of_base(courses: &[Course], seed: u64, left_ns: Option<u64>) -> Option<Next> {
    let affordable = |&(course, _, trials): &(usize, u32, usize)| {
        let cost_ns = courses[course].seen_cost_ns(trials);
        left_ns.is_none_or(|left_ns| left_ns > 0 && cost_ns <= left_ns)
    };
    let next = |(course, block, _): (usize, u32, usize), among: &[Vec<Treatment>]| {
        let treatments = courses[course].missing(seed, block, &among[course]);
        Next { course, block, treatments }
    };
    let limit_ns = left_ns.filter(|_| courses.iter().all(|course| course.gives_way));
    if let Some((chosen, less)) = limit_ns.and_then(|left_ns| fits::chosen(courses, left_ns)) {
        let is_fit =
            |&(course, block, _): &(usize, u32, usize)| block < courses[course].fewer_blocks(less);
        let fit = in_rounds(courses, seed, &chosen).filter(is_fit);
        // What was left out would lack most of its blocks: further ones of the others come first.
        if let Some(first) = fit.chain(in_rounds(courses, seed, &chosen)).find(affordable) {
            return Some(next(first, &chosen));
        }
    }
    let all: Vec<Vec<Treatment>> = courses.iter().map(|course| course.base.clone()).collect();
    let first = in_rounds(courses, seed, &all).find(affordable)?;
    Some(next(first, &all))
}

/// Returns the experiments whose base is not complete, with the blocks that each has and should have of what claims
/// and main answers need.
pub(crate) fn incomplete(courses: &[Course]) -> impl Iterator<Item = (&Course, u32, u32)> {
    courses.iter().filter_map(|course| {
        let (all, is_main) = (course.base_blocks(), course.asks_main(None));
        (course.complete_blocks(true) < all)
            .then(|| (course, course.complete_blocks(!is_main), all))
    })
}

/// Returns how many claims can have a number: their treatments are in the profile, and none is known to be refused.
pub(crate) fn measured_claims(courses: &[Course]) -> usize {
    courses.iter().map(Course::measured_claims).sum()
}

/// Returns what the rest of the base is likely to take; `None` where an experiment has no trial yet that says
/// how long its own take.
pub(crate) fn rest_of_base_ns(courses: &[Course]) -> Option<u64> {
    courses.iter().try_fold(0_u64, |sum, course| {
        let (trials, cost_ns) = course.rest_of_base();
        (trials == 0 || course.trials > 0).then(|| sum.saturating_add(cost_ns))
    })
}

/// Returns the incomplete blocks of the base, of some treatments of each experiment: its place, the block, and
/// how many trials it lacks.
fn in_rounds<'a>(
    courses: &'a [Course],
    seed: u64,
    among: &'a [Vec<Treatment>],
) -> impl Iterator<Item = (usize, u32, usize)> + 'a {
    // What is missing where nothing is done is missing nowhere else if it is nothing: a stranger's
    // session may ask for thousands of rounds and have been refused in the first.
    let mut over = false;
    let last = courses.iter().map(Course::base_blocks).max().unwrap_or_default();
    let rounds = (0..last).map_while(move |round| {
        if over {
            return None;
        }
        let is_untouched = courses.iter().all(|course| !course.done.contains_key(&round));
        let order = runner::round_order(seed, round, courses.len()).into_iter();
        let missing = order.filter_map(|course| {
            if round >= courses[course].base_blocks() {
                return None;
            }
            let trials = courses[course].lacking(round, &among[course]).count();
            (trials > 0).then_some((course, round, trials))
        });
        let missing: Vec<(usize, u32, usize)> = missing.collect();
        over = is_untouched && missing.is_empty();
        Some(missing)
    });
    rounds.flatten()
}

/// Returns the next block of those experiments whose intervals are too wide; none if all are narrow enough or at
/// their most blocks. It looks at widths and costs alone, never at significance: a rule that stops on
/// significance finds it too often. Without a time limit, or with a number of blocks that was asked for, only
/// an experiment that confirms an answer has another block.
///
/// Until an experiment has half as many blocks again as its base, the time is shared evenly: where
/// one block is as dear as ten of another, a verdict of the other is had for a tenth. From then on they go in rounds.
/// Either way the blocks of one experiment lie apart in time, so that what lasts for seconds does
/// not make neighbouring blocks alike.
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
    wide.sort_by_cached_key(|index| {
        let course = &courses[*index];
        let round = course.next_block();
        let place = runner::round_order(seed, round, courses.len());
        let place = place.iter().position(|at| at == index);
        (course.turn(needs[*index].treatments.len()), round, place)
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
mod tests;
