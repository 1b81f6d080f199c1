//! What is measured of a program of the user's, whatever it is: the responses that every trial of a
//! [`crate::Subject`] records, with their definition cards.
//!
//! A design uses some of them; the trial records them all.

use crate::{Card, Center, Factor, Level, Response, Unit};

/// From the last moment before the program's exec until its own process has ended.
pub const WALL: &str = "wall_ns";
/// CPU time of the program and all that came of it.
pub const CPU: &str = "cpu_ns";
/// CPU time by elapsed time.
pub const CPU_SHARE: &str = "cpu_share_ppm";
/// Peak of the memory of all its processes, shared pages counted once (PSS).
pub const PEAK_PSS: &str = "peak_pss_bytes";
/// The same as tools show it, shared pages counted in each process (RSS).
pub const PEAK_RSS: &str = "peak_rss_bytes";
/// Peak of the memory that its cgroup was charged, cached files included.
pub const PEAK_CGROUP: &str = "peak_cgroup_bytes";
/// Bytes it read by system calls.
pub const READ: &str = "read_bytes";
/// Bytes it wrote by system calls.
pub const WRITTEN: &str = "written_bytes";
/// Bytes fetched from storage for it.
pub const STORAGE_READ: &str = "storage_read_bytes";
/// Bytes that it caused to be written to storage, if they are written before they are replaced.
pub const STORAGE_WRITTEN: &str = "storage_written_bytes";
/// Page faults without I/O.
pub const MINOR_FAULTS: &str = "minor_faults_count";
/// Page faults with I/O.
pub const MAJOR_FAULTS: &str = "major_faults_count";
/// Switches because it waited.
pub const VOLUNTARY: &str = "voluntary_switches_count";
/// Switches because another was to run.
pub const INVOLUNTARY: &str = "involuntary_switches_count";
/// Time its threads were ready to run and waited for a CPU. Not recorded, as the next two, where too
/// little of the CPU time was seen by looking.
pub const QUEUE_WAIT: &str = "queue_wait_ns";
/// Time its workers lived and neither ran nor waited for a CPU.
pub const BLOCKED: &str = "blocked_ns";
/// Time in which there were fewer workers than it was asked to use.
pub const ABSENT: &str = "absent_ns";
/// Time for which a quota of its own held it back, over all CPUs.
pub const THROTTLED: &str = "throttled_ns";
/// The most processes at once. Not recorded, as the threads, where the program was too short for
/// three looks.
pub const PROCESSES: &str = "processes_count";
/// The most threads at once.
pub const THREADS: &str = "threads_count";
/// CPU time that looking at it took.
pub const LOOKING: &str = "looking_cpu_ns";

/// The factor that tells the second of two identical treatments, the A/A control, from the first.
pub const AGAIN: &str = "again";

/// Returns that factor.
pub fn again() -> Factor {
    Factor {
        name: AGAIN.into(),
        about: "whether it is the second of two identical treatments".into(),
        levels: vec![
            Level::new("no", "as the other factors say"),
            Level::new("yes", "the very same once more: the A/A control"),
        ],
        baseline: "no".into(),
        unit: None,
    }
}

/// A number of bytes: `4096`, `512MiB`, `1.5 GB`. Powers of 1000 (kB, MB, GB, TB) and of 1024 (KiB,
/// MiB, GiB, TiB); none if it is no such text, or more than 2⁶³.
pub fn bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let factor = match unit.trim_start() {
        "" | "B" => 1.0,
        "kB" | "KB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        "TB" => 1e12,
        "KiB" | "K" => 1024.0,
        "MiB" | "M" => 1_048_576.0,
        "GiB" | "G" => 1_073_741_824.0,
        "TiB" | "T" => 1_099_511_627_776.0,
        _ => return None,
    };
    if factor == 1.0 {
        return number.parse().ok().filter(|bytes| *bytes <= 1 << 63);
    }
    let number: f64 = number.parse().ok()?;
    let bytes = number * factor;
    (bytes <= (1_u64 << 63) as f64).then_some(bytes as u64)
}

const TREE: &str = "of the program and all its descendants, those included that outlived it, as \
                    soon as somebody waited for them";
const LOOKS: &str =
    "sampled some milliseconds apart: what rises and falls between two samples is missed";

/// All of them, in the order in which people read them.
pub fn responses() -> Vec<Response> {
    let of = |name: &str, label: &str, unit: Unit, corrected: &str, source: &str| {
        let to = "when its own process has ended; sums go on until the last of its descendants \
        has ended";
        let card = Card::new("right before the program's exec", to, corrected, source);
        Response::new(name, label, unit, card)
    };
    let usage = "getrusage(RUSAGE_CHILDREN), when all were waited for";
    let io = "/proc/self/io of the trial, to which the kernel adds its children's, minus its own";
    let shares = "/proc/PID/smaps_rollup, plus the growth of RssAnon in /proc/PID/status since";
    let resident = "VmRSS of /proc/PID/status of each process, and ru_maxrss of the largest";
    let tasks = "/proc/PID/task/TID/schedstat of each thread, where 90 % of the CPU time was seen";
    let busiest = "over as many slots as workers, filled by the threads that want most";
    vec![
        of(WALL, "elapsed time", Unit::Ns, "", "clock_gettime(CLOCK_MONOTONIC)"),
        of(CPU, "CPU time", Unit::Ns, TREE, usage),
        of(CPU_SHARE, "CPU use", Unit::Ppm, "CPU time by elapsed time: 100 % is one CPU", usage),
        of(PEAK_PSS, "peak memory (PSS)", Unit::Bytes, LOOKS, shares).centred(Center::Max),
        of(PEAK_RSS, "peak memory (RSS)", Unit::Bytes, LOOKS, resident).centred(Center::Max),
        of(PEAK_CGROUP, "peak memory (cgroup)", Unit::Bytes, TREE, "the memory cgroup's peak")
            .centred(Center::Max),
        of(READ, "bytes read", Unit::Bytes, TREE, io).centred(Center::Sum),
        of(WRITTEN, "bytes written", Unit::Bytes, TREE, io).centred(Center::Sum),
        of(STORAGE_READ, "bytes read from storage", Unit::Bytes, TREE, io).centred(Center::Sum),
        of(STORAGE_WRITTEN, "bytes written to storage", Unit::Bytes, TREE, io).centred(Center::Sum),
        of(MINOR_FAULTS, "minor faults", Unit::Count, TREE, usage).centred(Center::Sum),
        of(MAJOR_FAULTS, "major faults", Unit::Count, TREE, usage).centred(Center::Sum),
        of(VOLUNTARY, "voluntary switches", Unit::Count, TREE, usage).centred(Center::Sum),
        of(INVOLUNTARY, "involuntary switches", Unit::Count, TREE, usage).centred(Center::Sum),
        of(QUEUE_WAIT, "wait for a CPU", Unit::Ns, "over all its threads", tasks)
            .centred(Center::Sum),
        of(BLOCKED, "blocked", Unit::Ns, busiest, tasks).centred(Center::Sum),
        of(ABSENT, "without a worker", Unit::Ns, busiest, tasks).centred(Center::Sum),
        of(
            THROTTLED,
            "held back by a quota",
            Unit::Ns,
            "summed over all CPUs; only of a quota of its own",
            "cpu.stat of its cgroup",
        )
        .centred(Center::Sum),
        of(PROCESSES, "processes at once", Unit::Count, LOOKS, "/proc/PID/task/TID/children")
            .centred(Center::Max),
        of(THREADS, "threads at once", Unit::Count, LOOKS, "/proc/PID/task").centred(Center::Max),
        of(LOOKING, "CPU time of looking", Unit::Ns, "", "CLOCK_THREAD_CPUTIME_ID of the looker")
            .centred(Center::Sum),
    ]
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn sizes_have_their_units() {
        assert_eq!(bytes("4096"), Some(4096));
        assert_eq!(bytes("512MiB"), Some(512 << 20));
        assert_eq!(bytes("1.5 GB"), Some(1_500_000_000));
        assert_eq!(bytes("2G"), Some(2 << 30));
        assert_eq!(bytes(&u64::MAX.to_string()), None);
        for text in ["", "MiB", "1.2.3 MB", "-1", "1.5", "5 parsecs", "9999999999 TiB", "é"] {
            assert_eq!(bytes(text), None, "{text}");
        }
    }
}
