//! What the kernel says of a task for free: `getrusage`.

use crate::error::check;

/// The kernel's account of a thread, a process or ended children.
///
/// The split of CPU time into user and system is sampled by the timer tick:
/// the sum is good, the parts are not over short times.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Usage {
    /// CPU time in user space, in ns (the kernel counts µs).
    pub user_ns: u64,
    /// CPU time in the kernel, in ns (the kernel counts µs).
    pub system_ns: u64,
    /// Highest resident set so far, in bytes. For [`Usage::of_children`] that
    /// of the largest child. It survives `fork`, and on most kernels `exec`.
    pub rss_peak_bytes: u64,
    /// Page faults served without a disk.
    pub minor_faults: u64,
    /// Page faults that had to wait for a disk.
    pub major_faults: u64,
    /// Times the task gave the CPU up by blocking.
    pub voluntary_switches: u64,
    /// Times the task was preempted.
    pub involuntary_switches: u64,
    /// Blocks of 512 bytes read from a device.
    pub blocks_in: u64,
    /// Blocks of 512 bytes handed to be written.
    pub blocks_out: u64,
}

impl Usage {
    /// All threads of this process, living and ended.
    pub fn of_self() -> Self {
        Self::read(libc::RUSAGE_SELF)
    }

    /// All children that have ended and been waited for, and theirs.
    pub fn of_children() -> Self {
        Self::read(libc::RUSAGE_CHILDREN)
    }

    /// The calling thread alone (its `rss_peak_bytes` is the process's).
    pub fn of_thread() -> Self {
        Self::read(libc::RUSAGE_THREAD)
    }

    /// The sum of two accounts; of the peaks the higher.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            rss_peak_bytes: self.rss_peak_bytes.max(other.rss_peak_bytes),
            ..self.zip(other, u64::saturating_add)
        }
    }

    /// What was added since an `earlier` account of the same task; the peak
    /// stays the later one, since peaks cannot be subtracted.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self { rss_peak_bytes: self.rss_peak_bytes, ..self.zip(earlier, u64::saturating_sub) }
    }

    /// User and system time together, in ns.
    pub fn cpu_ns(self) -> u64 {
        self.user_ns.saturating_add(self.system_ns)
    }

    /// Combines the fields of two accounts one by one.
    fn zip(self, other: Self, combine: fn(u64, u64) -> u64) -> Self {
        Self {
            user_ns: combine(self.user_ns, other.user_ns),
            system_ns: combine(self.system_ns, other.system_ns),
            rss_peak_bytes: combine(self.rss_peak_bytes, other.rss_peak_bytes),
            minor_faults: combine(self.minor_faults, other.minor_faults),
            major_faults: combine(self.major_faults, other.major_faults),
            voluntary_switches: combine(self.voluntary_switches, other.voluntary_switches),
            involuntary_switches: combine(self.involuntary_switches, other.involuntary_switches),
            blocks_in: combine(self.blocks_in, other.blocks_in),
            blocks_out: combine(self.blocks_out, other.blocks_out),
        }
    }

    fn read(who: libc::c_int) -> Self {
        // SAFETY: all-zero bytes are a valid rusage: it holds integers only.
        let mut raw: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: `raw` is ours and large enough. The call fails only for a
        // `who` that does not exist (RUSAGE_THREAD before Linux 2.6.26); the
        // account then stays zero.
        let result = unsafe { libc::getrusage(who, &raw mut raw) };
        debug_assert!(check(result.into(), || "getrusage".to_string()).is_ok());
        Self::from_raw(&raw)
    }

    /// The kernel's structure, in our units.
    pub(crate) fn from_raw(raw: &libc::rusage) -> Self {
        fn count(value: libc::c_long) -> u64 {
            u64::try_from(value).unwrap_or(0)
        }
        fn ns(time: libc::timeval) -> u64 {
            count(time.tv_sec)
                .saturating_mul(1_000_000_000)
                .saturating_add(count(time.tv_usec as libc::c_long).saturating_mul(1_000))
        }
        Self {
            user_ns: ns(raw.ru_utime),
            system_ns: ns(raw.ru_stime),
            rss_peak_bytes: count(raw.ru_maxrss).saturating_mul(1024),
            minor_faults: count(raw.ru_minflt),
            major_faults: count(raw.ru_majflt),
            voluntary_switches: count(raw.ru_nvcsw),
            involuntary_switches: count(raw.ru_nivcsw),
            blocks_in: count(raw.ru_inblock),
            blocks_out: count(raw.ru_oublock),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::{Huge, Mapping, page_bytes};

    #[test]
    fn touched_pages_are_counted_as_faults_of_this_thread() {
        let mut mapping = Mapping::new(256 * page_bytes(), Huge::Never).unwrap();
        let before = Usage::of_thread();
        mapping.touch(page_bytes());
        let after = Usage::of_thread().since(before);
        assert!(after.minor_faults >= 256, "{after:?}");
        assert!(Usage::of_self().minor_faults >= after.minor_faults);
    }

    #[test]
    fn a_sleep_is_a_voluntary_switch() {
        let before = Usage::of_thread();
        crate::clock::sleep_ns(100_000);
        assert!(Usage::of_thread().since(before).voluntary_switches >= 1);
    }

    #[test]
    fn sums_and_differences_keep_the_peak() {
        let small = Usage { user_ns: 5, rss_peak_bytes: 10, minor_faults: 1, ..Usage::default() };
        let large = Usage { user_ns: 7, rss_peak_bytes: 30, minor_faults: 4, ..Usage::default() };
        let sum = small.plus(large);
        assert_eq!((sum.user_ns, sum.rss_peak_bytes, sum.minor_faults), (12, 30, 5));
        let gained = large.since(small);
        assert_eq!((gained.user_ns, gained.rss_peak_bytes, gained.minor_faults), (2, 30, 3));
        assert_eq!(small.since(large).user_ns, 0);
        assert_eq!(sum.cpu_ns(), 12);
    }
}
