//! How fast a thread may ask its CPU to run: the scheduler's utilisation clamp
//! (Documentation/scheduler/sched-util-clamp.rst), and the frequencies from which to choose it.
//!
//! It belongs to the thread alone and ends with it, unlike the switches for turbo, which are the
//! whole machine's and stay as they are left. Whether the CPU heeds it is another question: only the
//! governor `schedutil` does, so the speed must be measured.

use crate::error::{Error, Result, check};
use crate::text;

/// The utilisation of a thread that asks for the highest frequency.
pub const FULL: u32 = 1024;

/// `struct sched_attr` in its second size, as sched_setattr(2) has it since Linux 5.3.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime: u64,
    deadline: u64,
    period: u64,
    util_min: u32,
    util_max: u32,
}

const KEEP_POLICY: u64 = 0x08;
const KEEP_PARAMETERS: u64 = 0x10;
const CLAMP_MAX: u64 = 0x40;

/// Lets the calling thread, and the threads it makes afterwards, ask for at most so much of the
/// highest frequency, in parts of [`FULL`].
///
/// # Errors
/// Unsupported where the kernel is built without CONFIG_UCLAMP_TASK or is older than 5.3; `EINVAL`
/// for more than [`FULL`].
pub fn cap(util_max: u32) -> Result<()> {
    let attributes = Attributes {
        size: size_of::<Attributes>() as u32,
        flags: KEEP_POLICY | KEEP_PARAMETERS | CLAMP_MAX,
        util_max,
        ..Attributes::default()
    };
    let call = || format!("sched_setattr(util_max {util_max})");
    // SAFETY: the kernel reads `size` bytes from a live structure laid out as its header has it;
    // 0 is the calling thread.
    let result = unsafe {
        libc::syscall(libc::SYS_sched_setattr, 0, std::ptr::from_ref(&attributes), 0_u32)
    };
    match check(result, call) {
        Err(error) if matches!(error.errno(), Some(libc::EOPNOTSUPP | libc::E2BIG)) => {
            Err(Error::unsupported(call(), "the kernel is built without CONFIG_UCLAMP_TASK"))
        }
        other => other.map(|_| ()),
    }
}

/// The frequency that `cpu` holds without turbo, as a part of the highest it can reach, in parts of
/// [`FULL`]; `None` where the machine shows no two such frequencies.
pub fn without_turbo(cpu: u32) -> Option<u32> {
    let folder = format!("/sys/devices/system/cpu/cpu{cpu}");
    let khz = |file: &str| text::value(format!("{folder}/{file}"))?.parse::<u64>().ok();
    let highest = khz("cpufreq/cpuinfo_max_freq")?;
    let nominal =
        khz("cpufreq/base_frequency").or_else(|| Some(khz("acpi_cppc/nominal_freq")? * 1000))?;
    part(nominal, highest)
}

fn part(nominal_khz: u64, highest_khz: u64) -> Option<u32> {
    let part = (u128::from(nominal_khz) * u128::from(FULL)).checked_div(highest_khz.into())?;
    (nominal_khz > 0 && nominal_khz < highest_khz).then_some(part as u32)
}

#[cfg(test)]
mod tests {
    use super::{FULL, cap, part, without_turbo};

    #[test]
    fn a_part_is_below_the_whole_or_absent() {
        assert_eq!(part(2_000_000, 4_000_000), Some(FULL / 2));
        assert_eq!(part(4_000_000, 4_000_000), None, "no turbo");
        assert_eq!((part(0, 4_000_000), part(1, 0)), (None, None));
        let here = without_turbo(0);
        assert!(here.is_none_or(|part| part < FULL), "{here:?}");
    }

    #[test]
    fn a_cap_is_set_or_unsupported_and_nonsense_is_neither() {
        std::thread::spawn(|| {
            if let Err(error) = cap(FULL / 2) {
                assert!(error.is_unsupported(), "{error}");
                return;
            }
            assert!(cap(FULL).is_ok() && cap(FULL + 1).is_err());
        })
        .join()
        .ok()
        .unwrap_or_else(|| panic!("see above"));
    }
}
