//! What is measured of a program of the user's, whatever it is: the names of the responses that every trial of a
//! [`crate::Subject`] records. `study::measured` has their definition cards.
//!
//! A design uses some of them; the trial records them all.

use crate::{Factor, Level};

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
/// The fact under which a trial keeps the quota of a cgroup that its program entered itself.
pub const QUOTA_ENTERED: &str = "quota_entered";
/// The most processes at once. Not recorded, as the threads, where the program was too short for
/// three looks.
pub const PROCESSES: &str = "processes_count";
/// The most threads at once.
pub const THREADS: &str = "threads_count";
/// CPU time that looking at it took.
pub const LOOKING: &str = "looking_cpu_ns";

/// Returns the fact under which a trial keeps why it has no number of a response.
pub fn no_number(response: &str) -> String {
    format!("no_{response}")
}

/// Returns the fact under which a trial keeps how a number was printed that is no plain one, and as what it was
/// read.
pub fn read_as(response: &str) -> String {
    format!("read_{response}")
}

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
        ..Factor::default()
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
