//! One resource at a time is taken from a command: which of them limits it?

use crate::cli::WhyArgs;
use crate::exit::Exit;
use crate::plan::{Plan, Purpose};
use crate::{inquiry, plan, spoken};
use anyhow::ensure;
use model::{Inquiry, Profile};
use study::WhyRequest;

/// The time to measure in, in seconds.
const BUDGET_S: u64 = 180;

/// The time after which a trial is killed unless --time-limit says otherwise, in milliseconds.
const TIME_LIMIT_MS: u64 = 120_000;

/// One of this number of CPUs is kept for co-runners; of fewer, one.
const KEPT_OF: usize = 4;

const PURPOSE: Purpose = Purpose::Ask(Inquiry::Why);

pub(crate) fn why(args: &WhyArgs) -> anyhow::Result<Exit> {
    inquiry::perform(&args.plan, PURPOSE, args.json, None, || session_plan(args))
}

fn session_plan(args: &WhyArgs) -> anyhow::Result<Plan> {
    let cpus = plan::cpus(args.plan.measure.affinity.as_deref())?;
    let kept = kept(cpus.len());
    let command = spoken::texts(&args.command, &args.env)?;
    ensure!(
        !command.iter().any(|word| word == "{n}"),
        "{{n}} stands for a number of workers, which only scale varies: write a number in its place, or \
         scruple scale -- {}",
        wording::command_line(&command)
    );
    let asked = WhyRequest {
        command: &command,
        folder: std::env::current_dir()?.to_string_lossy().into_owned(),
        resources: &args.squeeze,
        // Interrupts gather on the first CPUs, which the co-runners get. The same at every level, so that
        // nothing but the squeeze differs.
        cpus: sys::affinity::format_list(&cpus[kept..]),
        kept,
        any_exit_code: args.ignore_failure,
        time_limit_ms: args.time_limit.unwrap_or(TIME_LIMIT_MS),
    };
    let design = study::why(&asked).map_err(anyhow::Error::msg)?;
    Plan::new(PURPOSE, vec![design], Profile::Quick, &args.plan, BUDGET_S)
}

/// Returns how many of this number of CPUs are kept for co-runners.
fn kept(cpus: usize) -> usize {
    if cpus > 1 { (cpus / KEPT_OF).max(1) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::kept;

    #[test]
    fn a_cpu_is_kept_where_there_are_two() {
        assert_eq!([1, 2, 3, 4, 7, 8, 64].map(kept), [0, 1, 1, 1, 1, 2, 16]);
    }
}
