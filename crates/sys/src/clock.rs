//! Clocks: what time is read by, what a reading costs and how fine it is.

use std::time::Duration;

/// A way to read time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Clock {
    /// `CLOCK_MONOTONIC` through the vDSO, in ns.
    Monotonic,
    /// `CLOCK_MONOTONIC_RAW` through the vDSO: not slewed by NTP, in ns.
    MonotonicRaw,
    /// `CLOCK_MONOTONIC_COARSE`: the value of the last tick, in ns.
    MonotonicCoarse,
    /// `CLOCK_REALTIME`: may be set and may jump, in ns since 1970.
    Realtime,
    /// CPU time of the calling thread, in ns.
    ThreadCpu,
    /// CPU time of all threads of the process, in ns.
    ProcessCpu,
    /// The CPU's counter (`rdtsc`, `cntvct_el0`), in ticks, not ordered with
    /// the instructions around it.
    Tsc,
    /// The CPU's counter read after all earlier instructions have completed
    /// (`lfence; rdtsc`, `isb; mrs`), in ticks.
    TscOrdered,
    /// `CLOCK_MONOTONIC` by a real system call, past the vDSO, in ns.
    MonotonicBySyscall,
}

impl Clock {
    /// All clocks with their names, the levels of a factor, in the order in which they are declared.
    pub const ALL: [(&str, Clock); 9] = [
        ("monotonic", Clock::Monotonic),
        ("monotonic_raw", Clock::MonotonicRaw),
        ("monotonic_coarse", Clock::MonotonicCoarse),
        ("realtime", Clock::Realtime),
        ("thread_cpu", Clock::ThreadCpu),
        ("process_cpu", Clock::ProcessCpu),
        ("tsc", Clock::Tsc),
        ("tsc_ordered", Clock::TscOrdered),
        ("monotonic_by_syscall", Clock::MonotonicBySyscall),
    ];

    /// The name of the clock, as a level of a factor.
    pub fn name(self) -> &'static str {
        Clock::ALL[self as usize].0
    }

    /// Whether the clock can be read here. Only the CPU's counter can be
    /// missing: another architecture, or a process that may not read it
    /// (`PR_SET_TSC`).
    pub fn available(self) -> bool {
        if self.id().is_some() { self.resolution_ns().is_some() } else { counter_readable() }
    }

    /// Whether [`Clock::read`] counts ticks of the CPU's counter and not ns.
    pub fn counts_ticks(self) -> bool {
        self.id().is_none()
    }

    /// Reads the clock: ns, or ticks for [`Clock::Tsc`] and
    /// [`Clock::TscOrdered`]. A clock that is not [`Clock::available`] reads 0.
    #[inline]
    pub fn read(self) -> u64 {
        match self {
            Clock::Monotonic => read_id(libc::CLOCK_MONOTONIC),
            Clock::MonotonicRaw => read_id(libc::CLOCK_MONOTONIC_RAW),
            Clock::MonotonicCoarse => read_id(libc::CLOCK_MONOTONIC_COARSE),
            Clock::Realtime => read_id(libc::CLOCK_REALTIME),
            Clock::ThreadCpu => read_id(libc::CLOCK_THREAD_CPUTIME_ID),
            Clock::ProcessCpu => read_id(libc::CLOCK_PROCESS_CPUTIME_ID),
            Clock::Tsc => counter(),
            Clock::TscOrdered => counter_ordered(),
            Clock::MonotonicBySyscall => read_by_syscall(),
        }
    }

    /// What the kernel claims as the clock's resolution (`clock_getres`), in
    /// ns. It is a claim: see [`step_ns`] for what is measured. `None` for the
    /// CPU's counter, of which the kernel says nothing.
    pub fn resolution_ns(self) -> Option<u64> {
        let id = self.id()?;
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: `time` is a valid timespec that outlives the call.
        let result = unsafe { libc::clock_getres(id, &raw mut time) };
        (result == 0).then(|| nanoseconds(&time))
    }

    /// The kernel's number of the clock; `None` for the CPU's counter.
    fn id(self) -> Option<libc::clockid_t> {
        match self {
            Clock::Monotonic | Clock::MonotonicBySyscall => Some(libc::CLOCK_MONOTONIC),
            Clock::MonotonicRaw => Some(libc::CLOCK_MONOTONIC_RAW),
            Clock::MonotonicCoarse => Some(libc::CLOCK_MONOTONIC_COARSE),
            Clock::Realtime => Some(libc::CLOCK_REALTIME),
            Clock::ThreadCpu => Some(libc::CLOCK_THREAD_CPUTIME_ID),
            Clock::ProcessCpu => Some(libc::CLOCK_PROCESS_CPUTIME_ID),
            Clock::Tsc | Clock::TscOrdered => None,
        }
    }
}

/// `CLOCK_MONOTONIC`, in ns since an arbitrary moment (mostly the boot).
#[inline]
pub fn now_ns() -> u64 {
    read_id(libc::CLOCK_MONOTONIC)
}

/// So often the clocks are read for one comparison: that all are torn apart is unlikely.
const READINGS: u32 = 3;

/// For how long this machine has been suspended since its boot, in ns: what `CLOCK_BOOTTIME` has
/// counted and `CLOCK_MONOTONIC` has not. A virtual machine that its host has paused does not know
/// of it, and nothing shows here.
pub fn suspended_ns() -> u64 {
    // The two are read one after the other, and this process may have to wait in between: the reading
    // counts that is the closest.
    let reading = |_| {
        let before = now_ns();
        let with = read_id(libc::CLOCK_BOOTTIME);
        let after = now_ns();
        (after.saturating_sub(before), with.saturating_sub(before))
    };
    (0..READINGS).map(reading).min().map_or(0, |(_, suspended)| suspended)
}

/// CPU time of the calling thread, in ns.
#[inline]
pub fn thread_cpu_ns() -> u64 {
    read_id(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// CPU time of all threads of this process, living and ended, in ns.
#[inline]
pub fn process_cpu_ns() -> u64 {
    read_id(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// CPU time of all threads of another process, living and ended, in ns; `None`
/// where there is no such process.
pub fn process_cpu_ns_of(pid: crate::Pid) -> Option<u64> {
    let mut id = 0;
    // SAFETY: `id` is ours and outlives the call.
    if unsafe { libc::clock_getcpuclockid(pid, &raw mut id) } != 0 {
        return None;
    }
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec that outlives the call.
    let read = unsafe { libc::clock_gettime(id, &raw mut time) };
    (read == 0).then(|| nanoseconds(&time))
}

/// Milliseconds since 1970, UTC.
pub fn unix_ms() -> u64 {
    read_id(libc::CLOCK_REALTIME) / 1_000_000
}

/// Sleeps at least `duration_ns`, also when signals arrive meanwhile.
pub fn sleep_ns(duration_ns: u64) {
    std::thread::sleep(Duration::from_nanos(duration_ns));
}

/// The measured precision of [`now_ns`]: the smallest difference between two
/// successive readings that is not zero, over some thousand readings, in ns.
/// It contains the cost of one reading.
pub fn step_ns() -> u64 {
    const READINGS: usize = 10_000;
    let mut smallest_ns = u64::MAX;
    let mut before_ns = now_ns();
    let mut readings = 0;
    // A coarse clock source may show the same value thousands of times, so the
    // loop also goes on until it has seen at least one step.
    while readings < READINGS || smallest_ns == u64::MAX {
        let after_ns = now_ns();
        if after_ns > before_ns {
            smallest_ns = smallest_ns.min(after_ns - before_ns);
        }
        before_ns = after_ns;
        readings += 1;
    }
    smallest_ns
}

/// How many ticks of the CPU's counter pass in one ns, measured over the given
/// time; `None` where there is no counter. The relative error is about one
/// clock reading divided by `over`.
pub fn ticks_per_ns(over: Duration) -> Option<f64> {
    if !counter_readable() {
        return None;
    }
    let (ticks_before, before_ns) = (counter_ordered(), now_ns());
    std::thread::sleep(over);
    let (ticks_after, after_ns) = (counter_ordered(), now_ns());
    let passed_ns = after_ns.checked_sub(before_ns).filter(|passed_ns| *passed_ns > 0)?;
    Some(ticks_after.checked_sub(ticks_before)? as f64 / passed_ns as f64)
}

/// A timespec in ns. Times before the clock's origin count as 0.
#[inline]
fn nanoseconds(time: &libc::timespec) -> u64 {
    (time.tv_sec.max(0) as u64)
        .saturating_mul(1_000_000_000)
        .saturating_add(time.tv_nsec.max(0) as u64)
}

/// Reads a clock of the kernel through libc (and with it through the vDSO).
#[inline]
fn read_id(id: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec that outlives the call. A clock that
    // the kernel does not know leaves it at zero, which is what is documented.
    unsafe { libc::clock_gettime(id, &raw mut time) };
    nanoseconds(&time)
}

/// `CLOCK_MONOTONIC` by a system call.
#[inline]
fn read_by_syscall() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: as in `read_id`; the numbers are those of clock_gettime(2).
    unsafe { libc::syscall(libc::SYS_clock_gettime, libc::CLOCK_MONOTONIC, &raw mut time) };
    nanoseconds(&time)
}

/// Whether user space may read the CPU's counter.
fn counter_readable() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        let mut mode: libc::c_int = 0;
        // SAFETY: PR_GET_TSC writes one int to the given address, which is ours.
        let result = unsafe { libc::prctl(libc::PR_GET_TSC, &raw mut mode) };
        result == 0 && mode == libc::PR_TSC_ENABLE
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        cfg!(target_arch = "aarch64")
    }
}

/// The CPU's counter, unordered.
#[inline]
fn counter() -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: every x86_64 CPU has rdtsc; it reads a register.
        unsafe { core::arch::x86_64::_rdtsc() }
    }
    #[cfg(target_arch = "aarch64")]
    {
        let ticks: u64;
        // SAFETY: Linux lets user space read the virtual counter; the
        // instruction writes one register and nothing else.
        unsafe {
            core::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack, preserves_flags));
        }
        ticks
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        0
    }
}

/// The CPU's counter, read when all earlier instructions have completed.
#[inline]
fn counter_ordered() -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: lfence and rdtsc exist on every x86_64 CPU and change no
        // memory.
        unsafe {
            core::arch::x86_64::_mm_lfence();
            core::arch::x86_64::_rdtsc()
        }
    }
    #[cfg(target_arch = "aarch64")]
    {
        let ticks: u64;
        // SAFETY: as in `counter`; isb orders it after earlier instructions.
        unsafe {
            core::arch::asm!("isb", "mrs {}, cntvct_el0", out(reg) ticks, options(nostack, preserves_flags));
        }
        ticks
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_available_clock_advances_and_never_goes_back() {
        for (_, clock) in Clock::ALL.into_iter().filter(|(_, clock)| clock.available()) {
            // The wall clock may be set while the test goes on.
            if clock == Clock::Realtime {
                assert!(clock.read() > 0);
                continue;
            }
            let first = clock.read();
            let mut last = first;
            let mut readings = 0_u64;
            while last == first {
                let now = clock.read();
                assert!(now >= last, "{} went back", clock.name());
                last = now;
                readings += 1;
                assert!(readings < 1 << 32, "{} stands still", clock.name());
            }
        }
    }

    #[test]
    fn names_are_distinct_and_the_kernel_clocks_are_available() {
        let names: std::collections::HashSet<_> = Clock::ALL.iter().map(|(name, _)| name).collect();
        assert_eq!(names.len(), Clock::ALL.len());
        assert!(Clock::ALL.iter().all(|(name, clock)| clock.name() == *name));
        for (_, clock) in Clock::ALL.into_iter().filter(|(_, clock)| !clock.counts_ticks()) {
            assert!(clock.available(), "{}", clock.name());
            assert!(clock.resolution_ns().unwrap() >= 1);
        }
        assert_eq!(Clock::Tsc.resolution_ns(), None);
    }

    #[test]
    fn sleeping_takes_at_least_as_long_as_asked() {
        let before_ns = now_ns();
        sleep_ns(2_000_000);
        assert!(now_ns() - before_ns >= 2_000_000);
    }

    #[test]
    fn the_threads_cpu_time_is_part_of_the_processs() {
        // The process is asked first and last, so that its time encloses the
        // thread's.
        let process_ns = process_cpu_ns();
        let thread_ns = thread_cpu_ns();
        let mut sum = 0_u64;
        while thread_cpu_ns() - thread_ns < 1_000_000 {
            sum = crate::black_box(sum.wrapping_add(1));
        }
        assert!(process_cpu_ns() - process_ns >= 1_000_000);
    }

    #[test]
    fn the_step_is_a_difference_that_was_seen() {
        assert!(step_ns() >= 1);
        assert!(unix_ms() > 1_700_000_000_000);
    }

    #[test]
    fn ticks_and_nanoseconds_have_a_positive_rate() {
        if let Some(rate) = ticks_per_ns(Duration::from_millis(5)) {
            assert!(rate > 0.0 && rate.is_finite());
        } else {
            println!("skipped: this CPU's counter cannot be read");
        }
    }

    #[test]
    fn a_timespec_before_its_origin_is_zero() {
        assert_eq!(nanoseconds(&libc::timespec { tv_sec: -5, tv_nsec: 3 }), 3);
        assert_eq!(nanoseconds(&libc::timespec { tv_sec: 2, tv_nsec: 7 }), 2_000_000_007);
    }

    #[test]
    fn the_cpu_time_of_another_process_stands_still_while_it_sleeps() {
        let own = process_cpu_ns_of(crate::process::pid()).unwrap();
        assert!(own > 0 && own <= process_cpu_ns());
        let child = crate::task::fork_run(|| {
            sleep_ns(60_000_000_000);
            0
        })
        .unwrap();
        crate::testing::eventually("its sleep", || {
            let before = process_cpu_ns_of(child).unwrap();
            sleep_ns(5_000_000);
            before > 0 && process_cpu_ns_of(child) == Some(before)
        });
        crate::process::kill(child, libc::SIGKILL).unwrap();
        crate::task::wait(child).unwrap();
        assert_eq!(process_cpu_ns_of(child), None);
    }

    #[test]
    fn a_machine_that_was_awake_all_the_time_was_not_suspended_meanwhile() {
        let before = suspended_ns();
        sleep_ns(1_000_000);
        // It never becomes less. That it does not become more is a matter of the machine.
        assert!(suspended_ns() + 1_000_000_000 > before);
    }
}
