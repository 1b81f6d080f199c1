//! What is read from caches side by side.

use super::{Geometry, Tally};

/// The hit rate of code that never comes back to a line, one access per instruction: of the
/// `line_bytes / instruction_bytes` instructions of a line the first misses, so 1 − size / line. With
/// lines of 8 bytes it is 0.50 for instructions of 4 bytes and 0.75 for those of 2, whatever the
/// program: a loop that stays in the cache is above it, and one whose misses are conflicts below.
///
/// `instruction_bytes` may be a mean. `None` if it is not above 0, or longer than the line.
#[must_use]
pub fn no_reuse_hit_rate(instruction_bytes: f64, line_bytes: u32) -> Option<f64> {
    let part = instruction_bytes / f64::from(line_bytes);
    (part > 0.0 && part <= 1.0).then_some(1.0 - part)
}

/// Cycles per instruction of a machine that takes one cycle for each and `penalty_cycles` more for
/// each miss: 1 + penalty · misses / instructions. `None` without instructions.
#[must_use]
pub fn cycles_per_instruction(misses: u64, instructions: u64, penalty_cycles: f64) -> Option<f64> {
    (instructions > 0).then(|| 1.0 + penalty_cycles * misses as f64 / instructions as f64)
}

/// The smallest cache of a list whose hit rate is at least so high, in bytes; of several equally
/// small ones the first. One of the list, never a size between two: a hit rate jumps where a loop
/// begins to fit, and what lies between two measured sizes is not on a line between them.
///
/// Asked for the hit rate of a compressed program among the results of the same program without
/// compression, it says how large a cache the compression is worth.
#[must_use]
pub fn smallest_reaching(
    results: &[(Geometry, Tally)],
    hit_rate: f64,
) -> Option<(Geometry, Tally)> {
    let reaches = |tally: &Tally| tally.hit_rate().is_some_and(|rate| rate >= hit_rate);
    let reaching = results.iter().filter(|(_, tally)| reaches(tally));
    reaching.min_by_key(|(geometry, _)| geometry.bytes()).copied()
}

/// Where a hit rate rises most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cliff {
    /// The largest cache below it.
    pub below: Geometry,
    /// The smallest cache above it.
    pub above: Geometry,
    /// By how much the hit rate rises between the two.
    pub rise: f64,
}

/// The capacity at which a program begins to fit: of neighbours by bytes the two between which the
/// hit rate rises most, the smaller ones if several do. Meant for caches that differ in nothing else:
/// lines of the same size, and as many sets or as many ways.
///
/// `None` if it rises nowhere.
#[must_use]
pub fn cliff(results: &[(Geometry, Tally)]) -> Option<Cliff> {
    let mut ordered: Vec<(Geometry, f64)> = results
        .iter()
        .filter_map(|(geometry, tally)| Some((*geometry, tally.hit_rate()?)))
        .collect();
    ordered.sort_by_key(|(geometry, _)| geometry.bytes());
    let mut steepest: Option<Cliff> = None;
    for pair in ordered.windows(2) {
        let &[(below, low), (above, high)] = pair else {
            continue;
        };
        let rise = high - low;
        if rise > steepest.map_or(0.0, |cliff| cliff.rise) {
            steepest = Some(Cliff { below, above, rise });
        }
    }
    steepest
}

#[cfg(test)]
mod tests {
    use super::{
        Cliff, Geometry, Tally, cliff, cycles_per_instruction, no_reuse_hit_rate, smallest_reaching,
    };

    fn result(lines: u32, hits: u64) -> (Geometry, Tally) {
        let geometry = Geometry::fully_associative(lines, 8).unwrap();
        (geometry, Tally { accesses: 100, capacity: 100 - hits, ..Tally::default() })
    }

    #[test]
    fn code_without_reuse_misses_once_a_line() {
        assert_eq!(no_reuse_hit_rate(4.0, 8), Some(0.5));
        assert_eq!(no_reuse_hit_rate(2.0, 8), Some(0.75));
        assert_eq!(no_reuse_hit_rate(4.0, 4), Some(0.0));
        for wrong in [0.0, -2.0, 8.5, f64::NAN, f64::INFINITY] {
            assert_eq!(no_reuse_hit_rate(wrong, 8), None, "{wrong}");
        }
    }

    #[test]
    fn misses_cost_cycles() {
        assert_eq!(cycles_per_instruction(50, 100, 10.0), Some(6.0));
        assert_eq!(cycles_per_instruction(0, 0, 10.0), None);
    }

    #[test]
    fn the_smallest_that_reaches_a_rate_is_one_of_the_list() {
        let results = [result(8, 90), result(2, 50), result(4, 90), result(3, 89)];
        assert_eq!(smallest_reaching(&results, 0.9), Some(results[2]));
        assert_eq!(smallest_reaching(&results, 0.1), Some(results[1]));
        assert_eq!(smallest_reaching(&results, 0.91), None);
        assert_eq!(smallest_reaching(&[], 0.0), None);
    }

    #[test]
    fn a_cliff_stands_where_the_rate_rises_most() {
        let results = [result(8, 92), result(2, 10), result(6, 90), result(4, 15)];
        let Some(Cliff { below, above, rise }) = cliff(&results) else {
            panic!("there is one");
        };
        assert_eq!((below.lines(), above.lines()), (4, 6));
        assert!((rise - 0.75).abs() < 1e-12);
        assert_eq!(cliff(&[result(2, 50), result(4, 50)]), None);
    }
}
