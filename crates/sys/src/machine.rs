//! What a session records of the machine: kernel, libraries, settings.

use crate::clock::Clock;
use crate::{Result, affinity, cgroup, needed, perf, text, topology};
use rustix::system::Uname;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CStr;

/// The kernel's release, for example `6.1.0-18-amd64`.
pub fn kernel_release() -> Option<String> {
    named(Uname::release)
}

/// The machine's name in the network.
pub fn hostname() -> Option<String> {
    named(Uname::nodename).filter(|name| !name.is_empty())
}

/// One of the names that `uname` gives.
fn named(name: fn(&Uname) -> &CStr) -> Option<String> {
    // rustix has no error for this call.
    if needed::is_missing("uname") {
        return None;
    }
    name(&rustix::system::uname()).to_str().ok().map(str::to_string)
}

/// A fingerprint of /etc/machine-id, as 16 hexadecimal digits: enough to tell
/// that two sessions come from one machine. The id itself is confidential
/// (machine-id(5)) and is not kept.
pub fn machine_id_hash() -> Option<String> {
    let id = text::value("/etc/machine-id").or_else(|| text::value("/var/lib/dbus/machine-id"))?;
    Some(format!("{:016x}", fingerprint(id.as_bytes())))
}

/// The 64-bit hash FNV-1a (Fowler, Noll, Vo), salted with this program's name
/// so that it equals nobody else's.
fn fingerprint(bytes: &[u8]) -> u64 {
    b"scruple:".iter().chain(bytes).fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The number the kernel drew when it booted.
pub fn boot_id() -> Option<String> {
    text::value("/proc/sys/kernel/random/boot_id")
}

/// The C library that is measured: `glibc 2.36`, or `musl`, which tells no version.
pub fn c_library() -> String {
    glibc_version().map_or_else(|_| "musl".into(), |version| format!("glibc {version}"))
}

/// The version of glibc in use.
///
/// # Errors
/// Unsupported with another C library: a treatment that only glibc has cannot be realised.
pub fn glibc_version() -> Result<String> {
    #[cfg(target_env = "gnu")]
    {
        // SAFETY: returns a pointer to a constant, terminated string.
        let version = unsafe { CStr::from_ptr(libc::gnu_get_libc_version()) };
        Ok(version.to_string_lossy().into_owned())
    }
    #[cfg(not(target_env = "gnu"))]
    {
        Err(crate::Error::unsupported(
            "needs glibc",
            "this scruple is linked with musl. To measure the glibc of this machine, build scruple on it: \
             cargo install --locked --path crates/lab",
        ))
    }
}

/// The settings that move measurements, by short names; what a machine does
/// not have is absent.
pub fn settings() -> BTreeMap<String, String> {
    const FILES: [(&str, &str); 12] = [
        ("autogroup", "/proc/sys/kernel/sched_autogroup_enabled"),
        ("aslr", "/proc/sys/kernel/randomize_va_space"),
        ("overcommit", "/proc/sys/vm/overcommit_memory"),
        ("swappiness", "/proc/sys/vm/swappiness"),
        ("ptrace_scope", "/proc/sys/kernel/yama/ptrace_scope"),
        ("numa_balancing", "/proc/sys/kernel/numa_balancing"),
        ("max_map_count", "/proc/sys/vm/max_map_count"),
        ("rt_runtime_us", "/proc/sys/kernel/sched_rt_runtime_us"),
        ("no_turbo", "/sys/devices/system/cpu/intel_pstate/no_turbo"),
        ("boost", "/sys/devices/system/cpu/cpufreq/boost"),
        ("smt", "/sys/devices/system/cpu/smt/control"),
        ("isolated_cpus", "/sys/devices/system/cpu/isolated"),
    ];
    const CHOICES: [(&str, &str); 2] = [
        ("thp", "/sys/kernel/mm/transparent_hugepage/enabled"),
        ("thp_defrag", "/sys/kernel/mm/transparent_hugepage/defrag"),
    ];
    // The driver tells `intel_pstate`, whose `powersave` is not that of `acpi-cpufreq`; the preference
    // is that of a CPU that chooses its own frequency; the capacity is beside the fastest CPU's, 1024.
    const OF_CPUS: [(&str, &str); 5] = [
        ("governor", "cpufreq/scaling_governor"),
        ("frequency_driver", "cpufreq/scaling_driver"),
        ("energy_preference", "cpufreq/energy_performance_preference"),
        ("frequency_max_khz", "cpufreq/scaling_max_freq"),
        ("cpu_capacity", "cpu_capacity"),
    ];
    let cpus = affinity::allowed().unwrap_or_default();
    let of_all = |file| distinct(cpus.iter().filter_map(|cpu| topology::of_cpu(*cpu, file)));
    let versions: Vec<&str> = cgroup::versions().into_iter().map(cgroup::Version::name).collect();
    let others = [
        ("clocksource", topology::clocksource()),
        ("perf_event_paranoid", perf::paranoid().map(|level| level.to_string())),
        ("mitigations", mitigations()),
        ("hz", timer_hz().map(|hz| hz.to_string())),
        ("cgroup", (!versions.is_empty()).then(|| versions.join("+"))),
    ];
    let files = FILES.map(|(name, path)| (name, text::value(path)));
    let choices = CHOICES.map(|(name, path)| (name, text::value(path).and_then(|it| chosen(&it))));
    let of_cpus = OF_CPUS.map(|(name, file)| (name, of_all(file)));
    let all = files.into_iter().chain(choices).chain(of_cpus).chain(others);
    all.filter_map(|(name, value)| Some((name.to_string(), value?))).collect()
}

/// The values that occur, each once, in order: one where all CPUs are alike.
fn distinct(values: impl Iterator<Item = String>) -> Option<String> {
    let values: BTreeSet<String> = values.collect();
    (!values.is_empty()).then(|| values.into_iter().collect::<Vec<_>>().join(", "))
}

/// The word in brackets of a list of choices: `always [madvise] never`.
pub(crate) fn chosen(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('[')?;
    let (word, _) = rest.split_once(']')?;
    Some(word.to_string())
}

/// How many known weaknesses of CPUs there are, how many are worked around here
/// and how many stay open: `3 mitigated, 1 vulnerable of 19`.
fn mitigations() -> Option<String> {
    let states: Vec<String> = std::fs::read_dir("/sys/devices/system/cpu/vulnerabilities")
        .ok()?
        .filter_map(|entry| text::value(entry.ok()?.path()))
        .collect();
    let with = |word: &str| states.iter().filter(|state| state.starts_with(word)).count();
    Some(format!(
        "{} mitigated, {} vulnerable of {}",
        with("Mitigation"),
        with("Vulnerable"),
        states.len()
    ))
}

/// The frequency of the timer tick, in Hz: the coarse clock advances by one
/// tick at a time, and the kernel says so as its resolution.
pub fn timer_hz() -> Option<u64> {
    let tick_ns = Clock::MonotonicCoarse.resolution_ns().filter(|tick_ns| *tick_ns > 0)?;
    // A tick of 3333333 ns means 300 Hz.
    Some((1_000_000_000 + tick_ns / 2) / tick_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_says_what_it_is() {
        assert!(kernel_release().unwrap().contains('.'));
        assert!(hostname().is_some());
        let settings = settings();
        assert!(settings.values().all(|value| !value.is_empty()));
        println!("{settings:?}");
    }

    #[test]
    fn the_fingerprint_is_stable_and_not_the_id() {
        // FNV-1a of "scruple:" alone, by an independent calculation.
        assert_eq!(fingerprint(b""), 0x15e3_547f_03c8_aaa1);
        assert_ne!(fingerprint(b"a"), fingerprint(b"b"));
        if let Some(hash) = machine_id_hash() {
            assert_eq!(hash.len(), 16);
            assert!(!text::value("/etc/machine-id").unwrap_or_default().contains(&hash));
        }
    }

    #[test]
    fn choices_are_read() {
        assert_eq!(chosen("always [madvise] never").as_deref(), Some("madvise"));
        assert_eq!(chosen("always"), None);
        assert_eq!(chosen("] ["), None);
        let twice = ["schedutil", "performance", "schedutil"].map(str::to_string);
        assert_eq!(distinct(twice.into_iter()).as_deref(), Some("performance, schedutil"));
        assert_eq!(distinct(std::iter::empty()), None);
        assert!(timer_hz().is_some_and(|hz| (24..=10_000).contains(&hz)));
    }
}
