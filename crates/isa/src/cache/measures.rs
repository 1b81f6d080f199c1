//! What is read from caches side by side.

use super::{Config, Tally};

/// The hit rate of code that never comes back to a line, one access per instruction: of the
/// `line_bytes / instruction_bytes` instructions of a line the first misses, so 1 − size / line. With
/// lines of 8 bytes it is 0.50 for instructions of 4 bytes and 0.75 for those of 2, whatever the
/// program: a loop that stays in the cache is above it, and one whose misses are conflicts below.
///
/// `instruction_bytes` may be a mean. `None` if it is not above 0, or longer than the line.
pub fn no_reuse_hit_rate(instruction_bytes: f64, line_bytes: u32) -> Option<f64> {
    let part = instruction_bytes / f64::from(line_bytes);
    (part > 0.0 && part <= 1.0).then_some(1.0 - part)
}

/// The smallest cache of a list whose hit rate is at least so high, in bytes; of several equally
/// small ones the first. One of the list, never a size between two: a hit rate jumps where a loop
/// begins to fit, and what lies between two measured sizes is not on a line between them.
///
/// Asked for the hit rate of a compressed program among the results of the same program without
/// compression, it says how large a cache the compression is worth.
pub fn smallest_reaching(results: &[(Config, Tally)], hit_rate: f64) -> Option<(Config, Tally)> {
    let reaches = |tally: &Tally| tally.hit_rate().is_some_and(|rate| rate >= hit_rate);
    let reaching = results.iter().filter(|(_, tally)| reaches(tally));
    reaching.min_by_key(|(config, _)| config.geometry().bytes()).copied()
}

#[cfg(test)]
mod tests {
    use super::super::Geometry;
    use super::{Config, Tally, no_reuse_hit_rate, smallest_reaching};

    fn result(lines: u32, hits: u64) -> (Config, Tally) {
        let geometry = Geometry::fully_associative(lines, 8).unwrap();
        (geometry.into(), Tally { accesses: 100, capacity: 100 - hits, ..Tally::default() })
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
    fn the_smallest_that_reaches_a_rate_is_one_of_the_list() {
        let results = [result(8, 90), result(2, 50), result(4, 90), result(3, 89)];
        assert_eq!(smallest_reaching(&results, 0.9), Some(results[2]));
        assert_eq!(smallest_reaching(&results, 0.1), Some(results[1]));
        assert_eq!(smallest_reaching(&results, 0.91), None);
        assert_eq!(smallest_reaching(&[], 0.0), None);
    }
}
