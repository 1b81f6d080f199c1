use super::*;
use crate::fixture::{Trial, design, task};

fn of(records: &[Record]) -> Option<Variance> {
    let design = design();
    let found = variances(&Table::new(&design, records.iter()), &Tagger::over(&[], records));
    found.into_iter().find(|variance| variance.response == "task_ns")
}

/// Trials of four treatments in each block: the logarithm of each in thousandths, by treatment and
/// block.
fn records(blocks: u32, log: impl Fn(u32, u32) -> f64) -> Vec<Record> {
    let one = |place: u32, n: &str, block: u32| {
        let value = 1e9 * f64::from(1 + place) * (log(place, block) / 1000.0).exp();
        task(block, "thread", n, value.round() as i64).record()
    };
    let levels = [(0, "1"), (1, "2"), (2, "4"), (3, "8")];
    (0..blocks).flat_map(|block| levels.map(|(place, n)| one(place, n, block))).collect()
}

/// Whole numbers between −2 and 2 without a pattern along either side (multiplicative hashing:
/// Knuth, *The Art of Computer Programming* 3, 6.4).
fn noise(place: u32, block: u32) -> f64 {
    let mixed = (place * 1_000 + block + 1).wrapping_mul(2_654_435_769);
    f64::from(((mixed ^ (mixed >> 15)).wrapping_mul(2_654_435_769) >> 16) % 5) - 2.0
}

#[test]
fn a_table_by_hand() {
    // Two treatments, three blocks; logarithms about the treatments: block effects −1, 0, 1 and
    // ± 0.1 in turn, which leave residuals of ± 0.1 less their means.
    let rows = [[-1.1, 0.1, 1.0], [-0.9, -0.1, 1.0]];
    let cells = rows.iter().enumerate().flat_map(|(treatment, row)| {
        (0..3).map(move |block| (treatment, block, row[block as usize]))
    });
    let found = Cells::new(cells.collect()).unwrap().components().unwrap();
    // Residuals ± 0.1, ± 0.1, 0: squares 0.04 over (3 − 1)(2 − 1) degrees of freedom.
    assert!((found.residual - 0.02).abs() < 1e-12, "{found:?}");
    // Mean square of blocks: 2 (1 + 0 + 1) / 2 = 2.
    assert!((found.blocks - (2.0 - 0.02) / 2.0).abs() < 1e-12, "{found:?}");
}

#[test]
fn drift_is_told_from_trials() {
    let drifting = of(&records(9, |place, block| f64::from(40 * block) + noise(place, block)));
    let found = drifting.unwrap();
    assert_eq!(found.largest, Source::BetweenBlocks);
    assert!(found.between_blocks > 0.99, "{found:?}");
    assert!(found.remedy.starts_with("It is drift, which cancels"), "{}", found.remedy);
    // Steps of 40 thousandths over 9 blocks: a variance of 40² (81 − 1)/12.
    assert!((found.total / 0.1095 - 1.0).abs() < 0.05, "{found:?}");
    let still = of(&records(9, |place, block| 10.0 * noise(place, block))).unwrap();
    assert_eq!(still.largest, Source::BetweenTrials);
    assert_eq!(still.within_trials, None);
    assert!((still.between_trials + still.between_blocks - 1.0).abs() < 1e-12, "{still:?}");
    assert!(still.remedy.contains("few observations"), "{}", still.remedy);
}

#[test]
fn one_wild_trial_does_not_own_the_picture() {
    let log = |place, block| 10.0 * noise(place, block) + f64::from(40 * (block % 3));
    let mut all = records(12, log);
    let calm = of(&all).unwrap();
    all[17].measured.as_mut().unwrap().series[0].values[0] *= 50;
    let wild = of(&all).unwrap();
    assert_eq!(wild.largest, calm.largest);
    assert!((wild.total / calm.total - 1.0).abs() < 0.5, "{calm:?} {wild:?}");
    assert!(wild.between_blocks > 0.5 * calm.between_blocks, "{calm:?} {wild:?}");
}

#[test]
fn what_cannot_be_taken_apart_has_no_row() {
    assert_eq!(of(&[]), None);
    assert_eq!(of(&records(1, noise)), None);
    assert_eq!(of(&records(9, |_, _| 0.0)), None, "a constant does not scatter");
    let one: Vec<Record> =
        records(9, noise).into_iter().filter(|r| r.treatment.level("n") == Some("1")).collect();
    assert_eq!(of(&one), None, "one treatment does not part trials from blocks");
    let mut zero = records(9, noise);
    for record in zero.iter_mut().filter(|r| r.treatment.level("n") != Some("1")) {
        record.measured.as_mut().unwrap().series[0].values[0] = 0;
    }
    assert_eq!(of(&zero), None, "nothing positive but one treatment");
    // Each block has a treatment of its own: no degree of freedom is left.
    let mut apart = records(4, noise);
    apart.retain(|r| r.treatment.level("n") == Some(["1", "2", "4", "8"][r.block as usize]));
    assert_eq!(of(&apart), None);
}

#[test]
fn two_blocks_are_enough_for_a_first_look() {
    let found = of(&records(2, |place, block| 10.0 * noise(place, block))).unwrap();
    assert!(found.total > 0.0 && found.between_trials >= 0.0 && found.between_blocks >= 0.0);
}

#[test]
fn missing_trials_change_little() {
    let log = |place, block| 10.0 * noise(place, block) + f64::from(30 * (block % 4));
    let full = records(24, log);
    let mut gaps = full.clone();
    gaps.retain(|r| (r.block * 5 + u32::from(r.treatment.level("n") == Some("4"))) % 7 != 0);
    let (full, gaps) = (of(&full).unwrap(), of(&gaps).unwrap());
    assert!((gaps.total / full.total - 1.0).abs() < 0.1, "{full:?} {gaps:?}");
    assert!((gaps.between_blocks - full.between_blocks).abs() < 0.1, "{full:?} {gaps:?}");
    // Further blocks that measured two treatments only.
    let mut more = records(60, log);
    more.retain(|r| r.block < 12 || matches!(r.treatment.level("n"), Some("1" | "2")));
    let more = of(&more).unwrap();
    assert!((more.total / full.total - 1.0).abs() < 0.15, "{full:?} {more:?}");
}

#[test]
fn a_table_in_two_parts_loses_a_degree_of_freedom() {
    // Two treatments in blocks 0 to 3, two others in blocks 4 to 7: nothing compares the parts.
    let mut all = records(8, noise);
    all.retain(|r| (r.block < 4) == matches!(r.treatment.level("n"), Some("1" | "2")));
    let cells = |(index, record): (usize, &Record)| {
        let n = record.treatment.level("n").unwrap();
        let treatment = ["1", "2", "4", "8"].iter().position(|level| *level == n).unwrap();
        (treatment, record.block as usize, index as f64)
    };
    let cells: Vec<(usize, usize, f64)> = all.iter().enumerate().map(cells).collect();
    assert_eq!(table::connected(&cells, 4, 8), 2);
    assert!(of(&all).is_some());
}

/// Trials with many observations: the halves of each differ by twice `within` thousandths, this
/// way or that, and the trials by `noise`.
fn halved(blocks: u32, within: f64, between: f64, tilt: f64) -> Vec<Record> {
    let mut all = records(blocks, |place, block| between * noise(place, block));
    for (index, record) in all.iter_mut().enumerate() {
        let series = &mut record.measured.as_mut().unwrap().series[0];
        let level = series.values[0] as f64;
        let up = within * noise(index as u32 * 3, index as u32 / 4 + 1) + tilt;
        let at = |up: f64| (level * (up / 1000.0).exp()).round() as i64;
        series.values = (0..12).map(|i| at(if i < 6 { up } else { -up })).collect();
    }
    all
}

#[test]
fn what_differs_within_trials_is_seen_there() {
    let found = of(&halved(12, 20.0, 1.0, 0.0)).unwrap();
    assert_eq!(found.largest, Source::WithinTrials);
    assert!(found.remedy.starts_with("Longer trials"), "{}", found.remedy);
    let calm = of(&halved(12, 0.5, 20.0, 0.0)).unwrap();
    assert_eq!(calm.largest, Source::BetweenTrials);
    assert!(calm.within_trials.unwrap() < 0.1, "{calm:?}");
    assert!(calm.remedy.ends_with("give it more time."), "{}", calm.remedy);
    let sum = calm.within_trials.unwrap() + calm.between_trials + calm.between_blocks;
    assert!((sum - 1.0).abs() < 1e-12);
    // All trials warm up alike: that is no scatter.
    let warm = of(&halved(12, 0.5, 20.0, 50.0)).unwrap();
    assert!((warm.within_trials.unwrap() - calm.within_trials.unwrap()).abs() < 0.01, "{warm:?}");
}

#[test]
fn few_observations_do_not_tell_what_happens_within() {
    let mut all = halved(12, 20.0, 1.0, 0.0);
    for record in all.iter_mut().filter(|r| r.block >= 4) {
        record.measured.as_mut().unwrap().series[0].values.truncate(7);
    }
    assert_eq!(of(&all).unwrap().within_trials, None);
    // Nor do sums and maxima over workers have halves.
    let mut design = design();
    design.responses[0].center = Center::Max;
    let all = halved(12, 20.0, 1.0, 0.0);
    assert_eq!(
        variances(&Table::new(&design, all.iter()), &Tagger::over(&[], &all))[0].within_trials,
        None
    );
}

/// Makes some trials scatter, and marks them.
fn marked(mark: impl Fn(Trial) -> Trial, pinned: bool) -> Vec<Record> {
    marked_beside(4.0, mark, pinned)
}

/// The same with this much scatter of the others.
fn marked_beside(rest: f64, mark: impl Fn(Trial) -> Trial, pinned: bool) -> Vec<Record> {
    let one = |place: u32, n: &str, block: u32| {
        let odd = (place + block).is_multiple_of(3);
        let size = if odd { 60.0 } else { rest };
        let value = 1e6 * (1.0 + size * noise(place, block) / 1000.0);
        let trial = task(block, "thread", n, value as i64).wall(1000).cpu(1000);
        let mut record = if odd { mark(trial) } else { trial }.record();
        if pinned {
            record.observed.insert("affinity", "1");
        }
        record
    };
    let levels = [(0, "1"), (1, "2"), (2, "4"), (3, "8")];
    (0..15).flat_map(|block| levels.map(|(place, n)| one(place, n, block))).collect()
}

#[test]
fn the_remedy_looks_at_what_scatters() {
    let moved = of(&marked(|trial| trial.moved(2), false)).unwrap();
    assert!(moved.remedy.starts_with("20 of 60 trials moved between CPUs"), "{}", moved.remedy);
    let pinned = of(&marked(|trial| trial.moved(2), true)).unwrap();
    assert!(pinned.remedy.starts_with("More trials"), "{}", pinned.remedy);
    let stolen = of(&marked(|trial| trial.steal(20), false)).unwrap();
    assert!(stolen.remedy.starts_with("The 20 of 60 trials that others"), "{}", stolen.remedy);
    assert!(stolen.remedy.ends_with("a quieter machine."), "{}", stolen.remedy);
    // A block in three scatters, and the rest not at all.
    let whole = marked_beside(0.0, |trial| trial.steal(20), false);
    let remedy = of(&whole).unwrap().remedy;
    assert!(remedy.starts_with("The 20 of 60 trials that others disturbed scatter"), "{remedy}");
    assert!(!remedy.contains("inf"), "{remedy}");
    let calm = of(&marked(|trial| trial, false)).unwrap();
    assert!(calm.remedy.starts_with("More trials"), "{}", calm.remedy);
}
