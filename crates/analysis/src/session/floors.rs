//! The floor of a response: the smallest difference between two of its treatments that this
//! session could have found, and could find in ten times the time.
//!
//! It is formed as a claim's number would be: the log-ratio of two treatments block by block, the
//! interval of their median, the standard error of that, and Bloom's multiple of it
//! ([`crate::minimum_detectable`]). The response's floor is the **median over pairs of
//! treatments**. Up to 10 treatments these are all pairs; where there are more, every treatment is
//! paired with as many others as keeps the pairs near 45, near ones and far ones in the order of
//! the treatments, each treatment equally often, since thousands of pairs would cost a second and
//! move the median by nothing.
//!
//! A pair that agrees exactly in all blocks has no floor and does not count; a treatment with a
//! number at or below 0 has no logarithm and is left out.

use crate::session::sample::{Table, less, logarithms};
use crate::stats::floor::minimum_detectable_in;
use crate::stats::interval::centre;
use crate::stats::order::median;
use crate::stats::tail::TEN_TIMES;
use model::ResponseFloor;

/// About this number of pairs makes up a floor: all there are among 10 treatments.
const PAIRS: usize = 45;

/// Returns one for each response that was measured, in the design's order.
pub(crate) fn floors(table: &Table<'_>) -> Vec<ResponseFloor> {
    let measured = |name: &str| {
        table.treatments().into_iter().any(|treatment| !table.trials(name, treatment).is_empty())
    };
    let responses = table.design.responses.iter().filter(|response| measured(&response.name));
    responses.map(|response| floor_of(table, &response.name)).collect()
}

fn floor_of(table: &Table<'_>, response: &str) -> ResponseFloor {
    let columns = logarithms(table, response);
    let mut errors: Vec<(f64, usize)> = Vec::new();
    for (one, other) in pairs(columns.len()) {
        let effects: Vec<f64> = less(&columns[one].1, &columns[other].1).into_values().collect();
        if let Some(located) = centre(&effects).filter(|located| !located.agrees) {
            errors.push((located.standard_error, located.samples));
        }
    }
    let in_times = |times: usize| {
        let least = |&(error, blocks): &(f64, usize)| minimum_detectable_in(times, error, blocks);
        let floors: Vec<f64> = errors.iter().filter_map(least).collect();
        median(&floors).map(f64::exp_m1).filter(|floor| floor.is_finite())
    };
    let mut blocks: Vec<usize> = errors.iter().map(|(_, blocks)| *blocks).collect();
    blocks.sort_unstable();
    ResponseFloor {
        response: response.to_string(),
        now: in_times(1),
        in_ten_times: in_times(TEN_TIMES),
        blocks: blocks.get(blocks.len() / 2).map_or(0, |middle| *middle as u32),
    }
}

/// Returns pairs of this number of things: all of them where these are few, else about [`PAIRS`], in which
/// each thing stands equally often.
fn pairs(count: usize) -> Vec<(usize, usize)> {
    if count * count.saturating_sub(1) / 2 <= PAIRS {
        return (0..count).flat_map(|one| (0..one).map(move |other| (other, one))).collect();
    }
    // Steps around the circle of treatments; up to half of it none gives a pair twice.
    let steps = (PAIRS / count).max(1);
    let half = (count - 1) / 2;
    let step = |index: usize| 1 + index * (half - 1) / steps;
    (0..steps)
        .flat_map(|index| (0..count).map(move |one| (one, (one + step(index)) % count)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{design, task};
    use crate::session::effect::effect;
    use model::{Cell, Quantity, Record};
    use std::collections::BTreeSet;

    fn of(records: &[Record]) -> ResponseFloor {
        let design = design();
        let found = floors(&Table::new(&design, records.iter()));
        found.into_iter().find(|floor| floor.response == "task_ns").unwrap()
    }

    /// Returns a drift of a factor of 2 a block, and noise that differs from treatment to treatment.
    fn noisy(blocks: u32, levels: &[&str]) -> Vec<Record> {
        let value = |block: u32, place: usize| {
            let noise = (block as usize * 7 + place * 5 + place * block as usize) % 11;
            (1000 << block) * (1000 + noise as i64) * (1 + place as i64)
        };
        let one = |(place, n): (usize, &&str), block| {
            task(block, "thread", n, value(block, place)).record()
        };
        (0..blocks)
            .flat_map(|block| levels.iter().enumerate().map(move |level| one(level, block)))
            .collect()
    }

    #[test]
    fn two_treatments_have_the_floor_of_their_ratio() {
        let records = noisy(9, &["1", "2"]);
        let design = design();
        let table = Table::new(&design, records.iter());
        let at = |n| Cell::new([("n", n)]);
        let quantity = Quantity::Ratio { response: "task_ns".into(), of: at("2"), to: at("1") };
        let ratio = effect(&table, &quantity).result(&table, &quantity);
        let found = of(&records);
        let near = |a: Option<f64>, b: Option<f64>| (a.unwrap() / b.unwrap() - 1.0).abs() < 1e-9;
        assert!(near(found.now, ratio.floor) && found.blocks == 9, "{found:?} {ratio:?}");
        assert!(near(found.in_ten_times, ratio.floor_in_ten_times), "{found:?} {ratio:?}");
        // From 8 to 89 degrees of freedom and a tenth of the variance.
        let better = found.now.unwrap() / found.in_ten_times.unwrap();
        assert!(better > 10f64.sqrt() && better < 1.3 * 10f64.sqrt(), "{better}");
    }

    #[test]
    fn the_median_over_pairs_is_no_single_treatments() {
        // Of the 28 pairs of eight treatments 7 have the loud one.
        let mut records = noisy(9, &["1", "2", "4", "8"]);
        let others = records.clone().into_iter().map(|mut record| {
            record.treatment.levels_mut().insert("model".into(), "process".into());
            record.measured.as_mut().unwrap().series[0].values[0] += i64::from(record.block) % 2;
            record
        });
        records.extend(others);
        let quiet = of(&records).now.unwrap();
        let one_treatment = records[3].treatment.clone();
        for record in &mut records {
            let loud = record.treatment == one_treatment;
            if loud && record.block % 2 == 0 {
                record.measured.as_mut().unwrap().series[0].values[0] *= 3;
            }
        }
        let loud = of(&records).now.unwrap();
        assert!(loud < 2.0 * quiet, "{quiet} {loud}");
    }

    #[test]
    fn too_few_or_exact_have_no_floor() {
        let none = |records: &[Record], blocks: u32| {
            let found = of(records);
            assert_eq!((found.now, found.in_ten_times, found.blocks), (None, None, blocks));
        };
        none(&noisy(9, &["1"]), 0);
        none(&noisy(1, &["1", "2"]), 0);
        let same = |block| ["1", "2"].map(|n| task(block, "thread", n, 7).record());
        none(&(0..9).flat_map(same).collect::<Vec<_>>(), 0);
        let mut zero = noisy(9, &["1", "2"]);
        zero[0].measured.as_mut().unwrap().series[0].values[0] = 0;
        none(&zero, 0);
        assert!(of(&noisy(2, &["1", "2"])).now.unwrap() > 0.0);
        assert!(floors(&Table::new(&design(), [].iter())).is_empty());
    }

    #[test]
    fn pairs_are_bounded_and_even() {
        assert_eq!(pairs(0).len() + pairs(1).len(), 0);
        assert_eq!(pairs(3), vec![(0, 1), (0, 2), (1, 2)]);
        for count in 2..200 {
            let pairs = pairs(count);
            assert!(pairs.len() <= PAIRS.max(count), "{count}");
            let once: BTreeSet<_> = pairs.iter().map(|(a, b)| (a.min(b), a.max(b))).collect();
            assert_eq!(once.len(), pairs.len(), "{count}");
            assert!(pairs.iter().all(|(a, b)| a != b && *a < count && *b < count));
            let stands = |thing| pairs.iter().filter(|(a, b)| *a == thing || *b == thing).count();
            assert!((0..count).all(|thing| stands(thing) == stands(0)), "{count}");
        }
    }
}
