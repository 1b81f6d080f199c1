//! The pipeline against cycles that were measured on an RTL core, without that core.

use crate::rtl::{Computed, Measured, compute, fault, measurements, samples, table};

/// What the RTL core took, as `cargo xtask rtl DIR --write` wrote it.
const RECORDED: &str = include_str!("../../rtl/recorded.csv");

const DOCUMENT: &str = include_str!("../../../../docs/machine.md");

#[test]
fn the_pipeline_takes_the_cycles_of_the_rtl_core() {
    let recorded = measurements(RECORDED);
    let samples = samples();
    assert!(samples.iter().map(|sample| sample.name).eq(recorded.iter().map(|(name, _)| *name)));
    let rows: Vec<(&str, Measured, Computed)> = recorded
        .into_iter()
        .zip(&samples)
        .map(|((name, rtl), sample)| (name, rtl, compute(&sample.program)))
        .collect();
    let faults: Vec<String> = rows.iter().filter_map(fault).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let table = table(&rows);
    assert!(DOCUMENT.contains(&table), "docs/machine.md should have this table:\n{table}");
}
