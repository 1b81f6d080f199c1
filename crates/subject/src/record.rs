//! What is recorded of a program: what is known, and nothing in the place of what is not.

use crate::Seen;
use kit::Trial;
use model::measures as responses;

/// With fewer looks than this, nothing that only looking tells is recorded: so short a program may
/// have had anything between them.
const LOOKS_MIN: u32 = 3;

/// With fewer readings of its counters than this, no peak of memory is recorded: it would be that of
/// some moment.
const READINGS_MIN: u32 = 10;

/// The part of the largest process's peak that must have been seen for the peak of all to be said.
const SEEN_PEAK_MIN: f64 = 0.9;

/// What a forked process may touch after it has reported how much it has, in bytes.
const FORKED_BYTES: u64 = 1 << 20;

/// The most that looking may cost, as a part of the elapsed time: a program as short as
/// [`SHORT_NS`] is looked at once, whatever that costs.
const LOOKING_SHARE_MAX: f64 = 0.03;

/// How long a program must take for the cost of looking to be a matter of its length.
const SHORT_NS: u64 = 100_000_000;

/// Records all that is known.
pub(crate) fn all(trial: &mut Trial<'_>, seen: &Seen) {
    let wall_ns = seen.ended_ns.saturating_sub(seen.began.at_ns);
    let cpu_ns = seen.usage.cpu_ns();
    let entered = seen.looked.throttling.worst();
    if let Some((_, cpus)) = entered {
        let quota = cpus.map_or("a quota".into(), |cpus| format!("{cpus:.2} CPUs"));
        trial.observe(responses::QUOTA_ENTERED, quota);
    }
    let throttled_ns = seen.groups.throttled_ns().max(entered.map(|(ns, _)| ns));
    let mut found: Vec<(&str, Option<u64>)> = vec![
        (responses::WALL, Some(wall_ns)),
        (responses::CPU, Some(cpu_ns)),
        (responses::CPU_SHARE, Some(share_ppm(cpu_ns, wall_ns))),
        (responses::MINOR_FAULTS, Some(seen.usage.minor_faults)),
        (responses::MAJOR_FAULTS, Some(seen.usage.major_faults)),
        (responses::VOLUNTARY, Some(seen.usage.voluntary_switches)),
        (responses::INVOLUNTARY, Some(seen.usage.involuntary_switches)),
        (responses::READ, seen.io.map(|io| io.rchar)),
        (responses::WRITTEN, seen.io.map(|io| io.wchar.saturating_sub(seen.began.written_bytes))),
        (responses::STORAGE_READ, seen.io.map(|io| io.read_bytes)),
        (responses::STORAGE_WRITTEN, seen.io.map(|io| io.write_bytes)),
        (responses::PEAK_CGROUP, seen.groups.memory_peak_bytes()),
        (responses::LOOKING, Some(seen.looked.cpu_ns)),
        (responses::THROTTLED, throttled_ns),
    ];
    found.extend(memory(trial, seen));
    found.extend(threads(trial, seen, wall_ns, cpu_ns));
    for (response, value) in found {
        if let Some(value) = value {
            trial.record_one(response, i64::try_from(value).unwrap_or(i64::MAX));
        }
    }
    if seen.looked.looks > 0 {
        trial.waits(seen.looked.waits.clone());
    }
    observe(trial, seen, wall_ns);
    counters(trial, seen, wall_ns);
}

fn share_ppm(part: u64, whole: u64) -> u64 {
    (part as f64 / whole.max(1) as f64 * 1e6).round() as u64
}

/// The peaks that looking knows, held against what the kernel says of the largest process.
fn memory(trial: &mut Trial<'_>, seen: &Seen) -> [(&'static str, Option<u64>); 2] {
    let looks = &seen.looked.memory;
    // The kernel's figure begins at what this process had when it forked, whatever was executed
    // then: up to that it says nothing.
    let floor = seen.began.usage.rss_peak_bytes + FORKED_BYTES;
    let largest = Some(seen.ended.usage.rss_peak_bytes).filter(|bytes| *bytes > floor);
    let looked = looks.counts >= READINGS_MIN;
    let seen_bytes = looks.rss_bytes as f64;
    let is_seen =
        looked && largest.is_none_or(|largest| seen_bytes >= SEEN_PEAK_MIN * largest as f64);
    if let Some(largest) = largest {
        trial.observe("largest_process_rss_bytes", largest);
    }
    if let Some(why) = &looks.refused {
        trial.observe(&responses::no_number("pss"), why);
    }
    trial.observe("memory_readings", looks.counts);
    trial.observe("memory_walks", looks.walks);
    // When the largest process was at its peak, all of them together had at least as much.
    let at_least = looks.rss_bytes.max(looks.largest_rss_bytes).max(largest.unwrap_or(0));
    // A program that was seen to be one process had no more than that.
    let alone = seen.looked.processes <= 1 && largest.is_some();
    let rss = (looked || alone).then_some(at_least);
    let pss = (is_seen && looks.pss_bytes > 0).then_some(looks.pss_bytes);
    [(responses::PEAK_PSS, pss), (responses::PEAK_RSS, rss)]
}

fn threads(
    trial: &mut Trial<'_>,
    seen: &Seen,
    wall_ns: u64,
    cpu_ns: u64,
) -> [(&'static str, Option<u64>); 5] {
    let looked = &seen.looked;
    let enough = looked.looks >= LOOKS_MIN;
    let division = looked.slots.division(cpu_ns, wall_ns);
    trial.observe("looks", looked.looks);
    trial.observe("seen_cpu", format!("{:.3}", division.seen_share));
    [
        (responses::PROCESSES, enough.then_some(looked.processes as u64)),
        (responses::THREADS, enough.then_some(looked.counted.most as u64)),
        (responses::QUEUE_WAIT, division.queue_wait_ns),
        (responses::BLOCKED, division.blocked_ns),
        (responses::ABSENT, division.absent_ns),
    ]
}

fn observe(trial: &mut Trial<'_>, seen: &Seen, wall_ns: u64) {
    if let Some(code) = seen.ended.code {
        trial.observe("exit_code", code);
    }
    trial.observe("outlived", seen.outlived.processes);
    trial.observe("killed", seen.outlived.killed);
    trial.observe("stdout_bytes", seen.stdout.bytes);
    trial.observe("stderr_bytes", seen.stderr.bytes);
    // What a process would have used that was killed is counted in nothing.
    trial.check("processes killed after it", seen.outlived.killed as f64, 0.0, 0.0);
    if wall_ns >= SHORT_NS {
        let share = seen.looked.cpu_ns as f64 / wall_ns as f64;
        trial.check("CPU time of looking by elapsed time", share, 0.0, LOOKING_SHARE_MAX);
    }
}

/// The trial's counters are those of the program, and not of what watched it.
fn counters(trial: &mut Trial<'_>, seen: &Seen, wall_ns: u64) {
    let queue_wait_ns = seen.looked.slots.division(seen.usage.cpu_ns(), wall_ns).queue_wait_ns;
    let counters = trial.counters_mut();
    counters.wall_ns = wall_ns;
    counters.user_ns = Some(seen.usage.user_ns);
    counters.system_ns = Some(seen.usage.system_ns);
    counters.minor_faults = Some(seen.usage.minor_faults);
    counters.major_faults = Some(seen.usage.major_faults);
    counters.voluntary_switches = Some(seen.usage.voluntary_switches);
    counters.involuntary_switches = Some(seen.usage.involuntary_switches);
    counters.blocks_in = Some(seen.usage.blocks_in);
    counters.blocks_out = Some(seen.usage.blocks_out);
    counters.on_cpu_ns = Some(seen.usage.cpu_ns());
    counters.queue_wait_ns = queue_wait_ns;
    // Only known of the thread that waited.
    counters.migrations = None;
    counters.read_bytes = seen.io.map(|io| io.read_bytes);
    counters.write_bytes = seen.io.map(|io| io.write_bytes);
}
