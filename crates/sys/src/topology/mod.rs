//! CPUs, cores and caches, as /sys and /proc/cpuinfo describe them.

mod arrangement;

pub use arrangement::{Arrangement, arrangement};

use crate::{affinity, text};
use std::path::Path;

/// Where the kernel describes CPUs.
const CPUS: &str = "/sys/devices/system/cpu";

/// What a cache holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CacheKind {
    /// Data only.
    Data,
    /// Instructions only.
    Instruction,
    /// Both.
    Unified,
}

/// A cache that a CPU uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cache {
    /// 1 is nearest to the CPU.
    pub level: u32,
    /// What it holds.
    pub kind: CacheKind,
    /// Its size in bytes.
    pub size_bytes: u64,
    /// The length of a line, in bytes.
    pub line_bytes: Option<u64>,
    /// The CPUs that share it, ascending; empty where unknown.
    pub shared_by: Vec<u32>,
}

impl Cache {
    /// Whether data are kept in it.
    pub fn holds_data(&self) -> bool {
        self.kind != CacheKind::Instruction
    }
}

/// The CPUs that are online, ascending.
pub fn online() -> Vec<u32> {
    online_in(Path::new(CPUS))
}

fn online_in(cpus: &Path) -> Vec<u32> {
    text::value(cpus.join("online"))
        .and_then(|list| affinity::parse_list(&list).ok())
        .unwrap_or_else(|| {
            // Without /sys: as many as libc counts, numbered from 0.
            // SAFETY: asks libc for a number.
            let count = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
            (0..u32::try_from(count).unwrap_or(1)).collect()
        })
}

/// The caches of `cpu`, nearest first; empty where /sys does not say (some
/// virtual machines and ARM boards).
pub fn caches(cpu: u32) -> Vec<Cache> {
    caches_in(Path::new(CPUS), cpu)
}

fn caches_in(cpus: &Path, cpu: u32) -> Vec<Cache> {
    let mut caches: Vec<Cache> = (0..32)
        .map_while(|index| {
            let folder = cpus.join(format!("cpu{cpu}/cache/index{index}"));
            folder.exists().then_some(folder)
        })
        .filter_map(|folder| cache(&folder))
        .collect();
    caches.sort_by_key(|cache| cache.level);
    caches
}

fn cache(folder: &Path) -> Option<Cache> {
    let shared = text::value(folder.join("shared_cpu_list"));
    Some(Cache {
        level: u32::try_from(text::number(folder.join("level"))?).ok()?,
        kind: match text::value(folder.join("type"))?.as_str() {
            "Data" => CacheKind::Data,
            "Instruction" => CacheKind::Instruction,
            "Unified" => CacheKind::Unified,
            _ => return None,
        },
        size_bytes: parse_size(&text::value(folder.join("size"))?)?,
        line_bytes: text::number(folder.join("coherency_line_size")).filter(|bytes| *bytes > 0),
        shared_by: shared.and_then(|list| affinity::parse_list(&list).ok()).unwrap_or_default(),
    })
}

/// Reads a size as /sys writes it: `48K`, `2M`.
pub(crate) fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let (digits, factor) = match text.char_indices().last()? {
        (at, 'K') => (&text[..at], 1 << 10),
        (at, 'M') => (&text[..at], 1 << 20),
        (at, 'G') => (&text[..at], 1 << 30),
        _ => (text, 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

/// The CPU's name as the kernel gives it: the model on x86, the implementer and
/// part on ARM, which has no names here.
pub fn model_name() -> Option<String> {
    parse_model_name(&text::read("/proc/cpuinfo").ok()?).or_else(|| {
        let name = text::value("/proc/device-tree/model")?;
        Some(name.trim_matches('\0').to_string())
    })
}

pub(crate) fn parse_model_name(cpuinfo: &str) -> Option<String> {
    if let Some(name) = cpuinfo_value(cpuinfo, "model name") {
        return Some(name.to_string());
    }
    let implementer = cpuinfo_value(cpuinfo, "CPU implementer")?;
    let part = cpuinfo_value(cpuinfo, "CPU part")?;
    Some(format!("ARM implementer {implementer} part {part}"))
}

/// The first value of a key in cpuinfo; `None` where it is empty.
pub(crate) fn cpuinfo_value<'text>(cpuinfo: &'text str, key: &str) -> Option<&'text str> {
    cpuinfo.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key && !value.trim().is_empty()).then(|| value.trim())
    })
}

/// Whether the CPU claims `flag` (x86: `flags`, ARM: `Features`).
pub fn has_flag(flag: &str) -> bool {
    text::read("/proc/cpuinfo").is_ok_and(|cpuinfo| {
        ["flags", "Features"]
            .into_iter()
            .filter_map(|key| cpuinfo_value(&cpuinfo, key))
            .any(|flags| flags.split_whitespace().any(|one| one == flag))
    })
}

/// The hypervisor this machine runs on; `None` where there seems to be none.
///
/// x86 names it by CPUID; else /sys/hypervisor or the firmware's product name
/// may; a CPU that only claims to be virtual gives `unknown`.
pub fn hypervisor() -> Option<String> {
    let claimed = has_flag("hypervisor");
    if claimed && let Some(name) = cpuid_hypervisor() {
        return Some(name);
    }
    if let Some(name) = text::value("/sys/hypervisor/type") {
        return Some(name);
    }
    let product = ["sys_vendor", "product_name"]
        .into_iter()
        .filter_map(|file| text::value(format!("/sys/class/dmi/id/{file}")))
        .find_map(|value| known_product(&value));
    product.or_else(|| claimed.then(|| "unknown".to_string()))
}

/// The hypervisor behind a vendor's or product's name.
pub(crate) fn known_product(value: &str) -> Option<String> {
    const KNOWN: [(&str, &str); 8] = [
        ("QEMU", "QEMU"),
        ("KVM", "KVM"),
        ("VMware", "VMware"),
        ("VirtualBox", "VirtualBox"),
        ("Xen", "Xen"),
        ("Amazon EC2", "Amazon EC2"),
        ("Google Compute Engine", "Google Compute Engine"),
        ("Virtual Machine", "Hyper-V"),
    ];
    KNOWN.iter().find(|(part, _)| value.contains(part)).map(|(_, name)| (*name).to_string())
}

/// The vendor that CPUID's leaf 0x4000_0000 names.
fn cpuid_hypervisor() -> Option<String> {
    #[cfg(target_arch = "x86_64")]
    {
        let leaf = std::arch::x86_64::__cpuid(0x4000_0000);
        let bytes: Vec<u8> =
            [leaf.ebx, leaf.ecx, leaf.edx].into_iter().flat_map(u32::to_le_bytes).collect();
        vendor_name(&bytes)
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        None
    }
}

/// A readable name for a vendor's twelve bytes.
#[cfg(any(target_arch = "x86_64", test))]
pub(crate) fn vendor_name(bytes: &[u8]) -> Option<String> {
    let text: String = bytes
        .iter()
        .take_while(|byte| byte.is_ascii_graphic() || **byte == b' ')
        .map(|byte| char::from(*byte))
        .collect();
    let text = text.trim();
    Some(match text {
        "" => return None,
        "KVMKVMKVM" => "KVM".to_string(),
        "Microsoft Hv" => "Hyper-V".to_string(),
        "VMwareVMware" => "VMware".to_string(),
        "XenVMMXenVMM" => "Xen".to_string(),
        "TCGTCGTCGTCG" => "QEMU without KVM".to_string(),
        "bhyve bhyve" => "bhyve".to_string(),
        other => other.to_string(),
    })
}

/// The governor that sets the frequency of `cpu`; `None` where the kernel does
/// not set it.
pub fn governor(cpu: u32) -> Option<String> {
    of_cpu(cpu, "cpufreq/scaling_governor")
}

/// Returns the value in a file of `cpu` in /sys/devices/system/cpu.
pub(crate) fn of_cpu(cpu: u32, file: &str) -> Option<String> {
    text::value(format!("{CPUS}/cpu{cpu}/{file}"))
}

/// The clock source the kernel keeps time by: `tsc`, `kvm-clock`…
pub fn clocksource() -> Option<String> {
    text::value("/sys/devices/system/clocksource/clocksource0/current_clocksource")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_consistent() {
        let online = online();
        assert!(!online.is_empty());
        for cpu in affinity::allowed().unwrap() {
            assert!(online.contains(&cpu));
        }
        for cache in caches(online[0]) {
            assert!(cache.level >= 1 && cache.size_bytes >= 1024, "{cache:?}");
            assert!(cache.shared_by.is_empty() || cache.shared_by.contains(&online[0]));
        }
    }

    #[test]
    fn sizes_are_read() {
        assert_eq!(parse_size("48K"), Some(48 << 10));
        assert_eq!(parse_size("2M\n"), Some(2 << 20));
        assert_eq!(parse_size("512"), Some(512));
        for text in
            ["", "K", "x", "-1K", "48Q", "99999999999999999999K", "18446744073709551615G", "4é"]
        {
            assert_eq!(parse_size(text), None, "{text:?}");
        }
    }

    #[test]
    fn names_are_read() {
        let x86 =
            "processor\t: 0\nmodel\t\t: 85\nmodel name\t: Some CPU @ 2 GHz\nflags\t: fpu tsc\n";
        assert_eq!(parse_model_name(x86).as_deref(), Some("Some CPU @ 2 GHz"));
        let arm = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n";
        assert_eq!(parse_model_name(arm).as_deref(), Some("ARM implementer 0x41 part 0xd0c"));
        assert_eq!(parse_model_name("model name :\n"), None);
        assert_eq!(parse_model_name(""), None);
        assert!(!has_flag("no such flag"));
    }

    #[test]
    fn hypervisors_are_named() {
        assert_eq!(vendor_name(b"KVMKVMKVM\0\0\0").as_deref(), Some("KVM"));
        assert_eq!(vendor_name(b"Microsoft Hv").as_deref(), Some("Hyper-V"));
        assert_eq!(vendor_name(&[0; 12]), None);
        assert_eq!(vendor_name(&[0xff; 12]), None);
        assert_eq!(known_product("Standard PC (QEMU)").as_deref(), Some("QEMU"));
        assert_eq!(known_product("ThinkPad"), None);
    }
}
