//! What a session records of the machine: kernel, libraries, settings.

use crate::clock::Clock;
use crate::{Result, affinity, cgroup, hash, perf, refusal, text, topology};
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

/// Returns one of the names that `uname` gives.
fn named(name: fn(&Uname) -> &CStr) -> Option<String> {
    name(&refusal::uname()?).to_str().ok().map(str::to_string)
}

/// What the identities below are of: one of this program's own, so that they equal nobody else's.
const APPLICATION_ID: [u8; 16] =
    *b"\x88\x07\xfe\x5f\x7d\x21\x41\xa8\xa2\xf3\x6a\xba\xf8\x76\xff\xef";

/// Returns what tells this machine from others without its id, which is confidential (machine-id(5)): the
/// id's hash, keyed by the id itself, as 32 hexadecimal digits. It is the one of
/// sd_id128_get_machine_app_specific(3). `None` where the machine has no id.
pub fn machine_hash() -> Option<String> {
    machine_id().map(application_specific)
}

/// Returns what tells this boot from others without its id, as [`machine_hash`] does.
pub fn boot_hash() -> Option<String> {
    hash_of_boot(&text::value("/proc/sys/kernel/random/boot_id")?)
}

/// Returns the hash of a boot's id as the kernel shows it; `None` for any other text.
pub fn hash_of_boot(id: &str) -> Option<String> {
    let dashes = [8, 13, 18, 23];
    let is_uuid = id.len() == 36 && dashes.iter().all(|at| id.as_bytes()[*at] == b'-');
    if is_uuid { id_of(&id.replace('-', "")).map(application_specific) } else { None }
}

/// Returns a hash of a text that only this machine can make: it is keyed by the machine's id, or, where it has
/// none, as many containers, by the boot's. Nobody who does not know the id can try which text it is of.
/// `None` where there is neither.
pub fn hash_of_this_machine(text: &str) -> Option<String> {
    let message = ["scruple text", text].join("\0");
    let of_boot = || id_of(&text::value("/proc/sys/kernel/random/boot_id")?.replace('-', ""));
    let id = machine_id().or_else(of_boot)?;
    Some(hash::hex(&hash::hmac(&id, message.as_bytes())))
}

fn machine_id() -> Option<[u8; 16]> {
    let files = ["/etc/machine-id", "/var/lib/dbus/machine-id"];
    // A file may also hold the word "uninitialized".
    files.iter().find_map(|file| id_of(&text::value(file)?))
}

/// Reads an id of 32 hexadecimal digits.
fn id_of(digits: &str) -> Option<[u8; 16]> {
    let is_id = digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    Some(u128::from_str_radix(digits, 16).ok().filter(|_| is_id)?.to_be_bytes())
}

fn application_specific(id: [u8; 16]) -> String {
    let mut bytes = hash::hmac(&id, &APPLICATION_ID);
    // The marks of a random UUID (RFC 9562).
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    hash::hex(&bytes[..16])
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
    fn ids_are_hashed_as_systemd_hashes_them() {
        // As HMAC-SHA256 of another program gives them, which agrees with systemd-id128(1).
        let id = id_of("0123456789abcdef0123456789abcdef").unwrap();
        assert_eq!(application_specific(id), "d58407aec8874930bf8f512efa06054c");
        for text in ["", "uninitialized", "+123456789abcdef0123456789abcdef", "é"] {
            assert_eq!(id_of(text), None, "{text}");
        }
        let boot = "01234567-89ab-4cde-8f01-23456789abcd";
        assert_eq!(hash_of_boot(boot).as_deref(), Some("dbfe8b4519184b808643b470224dbc85"));
        let hash = boot_hash().unwrap();
        assert_eq!((hash.len(), hash_of_boot(&hash)), (32, None));
        if let Some(hash) = machine_hash() {
            assert!(!text::value("/etc/machine-id").unwrap_or_default().contains(&hash));
            assert_ne!(hash_of_this_machine("a"), hash_of_this_machine("b"));
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
