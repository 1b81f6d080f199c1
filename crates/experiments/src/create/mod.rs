//! What does it cost to create one thread or one process, and to wait for its end?
//!
//! The trial makes the parent what the treatment says it is (memory touched, descriptors,
//! mappings, CPU), proves it, and then creates and awaits one entity after the other. What an
//! entity does is nothing: the costs are those of life and death alone.

mod mechanism;
mod parent;
pub(crate) mod pool;
pub(crate) mod thread;
mod timing;

use kit::{Result, Trial};
use mechanism::{Expected, MECHANISMS};
use parent::{PLACEMENTS, Parent};
use sys::stdio::Unflushed;
use timing::Tally;

experiment!("create", "create.toml");

/// What the parent has printed and not flushed when it forks: a header, as programs print one.
const HEADER: &[u8] = b"task,create_us,wait_us\n";

fn trial(trial: &mut Trial<'_>) -> Result<()> {
    let mechanism = trial.pick("mechanism", &MECHANISMS)?;
    let placement = trial.pick("placement", &PLACEMENTS)?;
    let partner = placement.take(trial)?;
    let parent = Parent::prepare(trial)?;
    let printed = Unflushed::new(HEADER)?;
    let tally = (mechanism.measure)(trial, partner)?;
    let expected = mechanism.expected.at(placement);
    record(trial, &tally, &expected);
    trial.record("echoed_bytes", tally.all_operations, vec![printed.written_bytes()? as i64]);
    drop(parent);
    Ok(())
}

/// Keeps what was counted over the timed region, per operation, and holds it against what the
/// mechanism must do.
fn record(trial: &mut Trial<'_>, tally: &Tally, expected: &Expected) {
    let operations = tally.operations;
    trial.record("cpu_ns", operations, vec![tally.cpu_ns as i64]);
    trial.record("parent_faults_count", operations, vec![tally.parent_faults as i64]);
    trial.record("child_faults_count", operations, vec![tally.child_faults as i64]);
    trial.record("switches_count", operations, vec![tally.switches as i64]);
    for (name, count, (low, high)) in [
        ("switches", tally.switches, expected.switches),
        ("faults of the parent", tally.parent_faults, expected.parent_faults),
        ("faults of the child", tally.child_faults, expected.child_faults),
    ] {
        let seen = count as f64 / operations as f64;
        trial.check(&format!("{name} per operation"), seen, low, high);
    }
    if let Some(lived) = tally.lived {
        let share = lived as f64 / tally.all_operations as f64;
        trial.check("entities that lived per operation", share, 1.0, 1.0);
    }
    let left = sys::process::adopted_children(&[]).len();
    trial.check("children not awaited", left as f64, 0.0, 0.0);
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests;
