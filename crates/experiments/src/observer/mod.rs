//! What does watching cost? A fixed job, watched in different ways.

mod job;
mod watch;

use crate::support::storage::Storage;
use job::{JOBS, Job, Report};
use kit::{Result, Trial, ppm};
use watch::{WATCHERS, Watched, Watcher};

experiment!("observer", "observer.toml");

/// Stops of a traced job besides those of its counted system calls: the end of the futex it waits
/// in, the CPU clock, its own /proc/self/io, its writes and its exit.
const OTHER_STOPS_MAX: u64 = 400;

/// CPU time that the inherited counter sees besides the job's own account, at most: the parent's
/// and the job's from its last instant to its end. It matters for the short job of system calls.
const COUNTED_BESIDES_NS_MAX: f64 = 2e6;

/// Whether the watcher works on another CPU than the job: the levels of the factor `watcher_cpu`.
const PLACES: [(&str, bool); 2] = [("same", false), ("other", true)];

fn trial(trial: &mut Trial) -> Result<()> {
    let watcher = trial.pick("watcher", &WATCHERS)?;
    let kind = trial.pick("job", &JOBS)?;
    let elsewhere = trial.pick("watcher_cpu", &PLACES)?;
    let job_cpu = trial.pin_to_one()?;
    let watcher_cpu = if elsewhere { trial.other_cpu()? } else { job_cpu };
    Storage::of(trial)?;
    let amount = kind.amount(trial.spec().profile);
    let tools = watcher.prepare()?;
    let job = kind.fork(amount)?;
    sys::affinity::pin(&[watcher_cpu])?;
    let found = sys::affinity::allowed()?;
    trial.observe("watcher_affinity", sys::affinity::format_list(&found));
    let io = sys::proc::io(sys::process::pid());
    trial.begin()?;
    let cpu_ns = sys::clock::thread_cpu_ns();
    let watched = watcher.watch(&tools, &job)?;
    let own_cpu_ns = sys::clock::thread_cpu_ns() - cpu_ns;
    trial.end()?;
    kit::ensure!(watched.ended.code == Some(0), "the job did not do its work");
    let report = job.report();
    // This account also holds the reaped job's bytes.
    let io_after = sys::proc::io(sys::process::pid());
    let written = io.zip(io_after).map(|(before, after)| {
        after.write_bytes.saturating_sub(before.write_bytes + report.written_bytes)
    });
    trial.record_one("job_wall_ns", report.wall_ns as i64);
    trial.record_one("job_cpu_ns", report.cpu_ns as i64);
    trial.record_one("watcher_cpu_ns", (own_cpu_ns + watched.programs_cpu_ns) as i64);
    if report.cpu_ns > 0 {
        let share = (own_cpu_ns + watched.programs_cpu_ns) as f64 / report.cpu_ns as f64;
        trial.record_one("watcher_ppm", (share * 1e6) as i64);
    }
    trial.record_one("samples_count", watched.samples as i64);
    if let Some(written) = written {
        trial.record_one("written_bytes", written as i64);
        let all = written + report.written_bytes;
        if all > 0 {
            trial.record_one("written_ppm", ppm(written, all));
        }
    }
    check(trial, watcher, kind, amount, &report, &watched);
    Ok(())
}

fn check(
    trial: &mut Trial,
    watcher: Watcher,
    kind: Job,
    amount: u64,
    report: &Report,
    watched: &Watched,
) {
    // The two ways to add differ by rounding only.
    let expected = kind.expected(amount);
    let slack = expected.abs() * 1e-6;
    trial.check("work_sum", report.sum, expected - slack, expected + slack);
    let samples = watched.samples as f64;
    match watcher {
        Watcher::Nothing => trial.check("samples", samples, 0.0, 0.0),
        Watcher::Tracer => {
            let calls = if kind == Job::Syscalls { amount } else { 0 };
            let least = 2 * calls;
            trial.check("stops", samples, least as f64, (least + OTHER_STOPS_MAX) as f64);
        }
        // Every top is let finish its two frames.
        Watcher::TopLoop => trial.check("samples", samples, 2.0, f64::MAX),
        Watcher::PerfSoftware => {
            let job_ns = report.cpu_ns as f64;
            let most_ns = 1.3 * job_ns + COUNTED_BESIDES_NS_MAX;
            trial.check("task_clock_ns", watched.task_clock_ns as f64, 0.8 * job_ns, most_ns);
        }
        Watcher::Proc(_) => trial.check("samples", samples, 1.0, f64::MAX),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests {
    use super::{JOBS, PLACES, WATCHERS, design, job};

    #[test]
    fn every_level_has_its_code() {
        let design = design();
        crate::check_levels(&design, "watcher", &WATCHERS);
        crate::check_levels(&design, "job", &JOBS);
        crate::check_levels(&design, "watcher_cpu", &PLACES);
    }

    #[test]
    fn the_claim_on_io_asks_for_six_percent_of_all_that_is_written() {
        let design = design();
        let claim = design.claims.iter().find(|claim| claim.id == "io_is_the_observers").unwrap();
        let least = claim.holds_if.low.unwrap();
        let share = least / (least + job::JOB_BYTES as f64);
        assert!((share - 0.06).abs() < 1e-12, "{share}");
    }
}
