//! Counters of the kernel and of the CPU: `perf_event_open`.
//!
//! The crate `perf-event2` could open them; it brings five more crates (bindings, and memory maps of
//! samples, which nothing here takes) for the four system calls below.

use crate::error::last_errno;
use crate::{Error, Result, text};
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsRawFd, FromRawFd};

/// Something that can be counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Event {
    /// Switches of the task, by the kernel.
    ContextSwitches,
    /// Moves to another CPU, by the kernel.
    Migrations,
    /// Page faults, by the kernel.
    PageFaults,
    /// Time on a CPU, in ns, by the kernel.
    TaskClock,
    /// CPU cycles, by the CPU.
    Cycles,
    /// Instructions retired, by the CPU.
    Instructions,
    /// Misses of the last cache, by the CPU.
    CacheMisses,
    /// Branches predicted wrongly, by the CPU.
    BranchMisses,
    /// Cycles in which the CPU issued nothing because it waited for data or units, by the CPU.
    StalledCycles,
}

impl Event {
    /// The name that `perf stat` uses.
    pub fn name(self) -> &'static str {
        EVENTS[self as usize].0
    }

    /// Whether the CPU counts it (and may have no counters, as in most virtual
    /// machines) and not the kernel.
    pub fn is_hardware(self) -> bool {
        self.type_and_number().0 == PERF_TYPE_HARDWARE
    }

    /// Whether the event happens inside the kernel, so that a counter that
    /// leaves the kernel out reads 0, without an error.
    fn happens_in_kernel(self) -> bool {
        matches!(self, Event::ContextSwitches | Event::Migrations)
    }

    /// `type` and `config` of linux/perf_event.h.
    fn type_and_number(self) -> (u32, u64) {
        let (_, kind, number) = EVENTS[self as usize];
        (kind, number)
    }
}

const PERF_TYPE_HARDWARE: u32 = 0;
const PERF_TYPE_SOFTWARE: u32 = 1;

/// The events in the order of [`Event`]: name, `type` and `config`.
const EVENTS: [(&str, u32, u64); 9] = [
    ("context-switches", PERF_TYPE_SOFTWARE, 3),
    ("cpu-migrations", PERF_TYPE_SOFTWARE, 4),
    ("page-faults", PERF_TYPE_SOFTWARE, 2),
    ("task-clock", PERF_TYPE_SOFTWARE, 1),
    ("cycles", PERF_TYPE_HARDWARE, 0),
    ("instructions", PERF_TYPE_HARDWARE, 1),
    ("cache-misses", PERF_TYPE_HARDWARE, 3),
    ("branch-misses", PERF_TYPE_HARDWARE, 5),
    ("stalled-cycles-backend", PERF_TYPE_HARDWARE, 8),
];

/// `PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING`.
const READ_FORMAT: u64 = 3;

/// Bits of the attributes' flag word.
const DISABLED: u64 = 1;
const INHERIT: u64 = 1 << 1;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HYPERVISOR: u64 = 1 << 6;

/// `PERF_FLAG_FD_CLOEXEC`.
const CLOSE_ON_EXEC: libc::c_ulong = 8;

/// `_IO('$', 0)`, `_IO('$', 1)` and `_IO('$', 3)`.
const ENABLE: u64 = 0x2400;
const DISABLE: u64 = 0x2401;
/// `struct perf_event_attr`, its first version of 64 bytes.
#[repr(C)]
#[derive(Debug, Default)]
struct Attributes {
    kind: u32,
    size: u32,
    number: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup: u32,
    breakpoint: u32,
    extra: u64,
}

/// A counter of one event on one thread, and on its descendants if inherited.
#[derive(Debug)]
pub struct Counter {
    file: File,
    event: Event,
}

/// One reading of a counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// What was counted, unscaled.
    pub value: u64,
    /// How long the counter was enabled, in ns.
    pub enabled_ns: u64,
    /// How long it really counted, in ns: less, where several counters share
    /// the CPU's few.
    pub running_ns: u64,
}

impl Counter {
    /// Opens a counter, disabled, for the calling thread; with `inherit` also
    /// for the threads and processes it creates from now on.
    ///
    /// # Errors
    /// `Unsupported` with what would help: where the machine has no such
    /// counter, where the user may not use it, and for an event that happens in
    /// the kernel together with `exclude_kernel`, which would silently read 0.
    pub fn open(event: Event, inherit: bool, exclude_kernel: bool) -> Result<Self> {
        let call = format!("perf_event_open({})", event.name());
        if exclude_kernel && event.happens_in_kernel() {
            return Err(Error::unsupported(
                call,
                "the event happens in the kernel and reads 0 where the kernel is excluded",
            ));
        }
        let (kind, number) = event.type_and_number();
        let mut flags = DISABLED | EXCLUDE_HYPERVISOR;
        if inherit {
            flags |= INHERIT;
        }
        if exclude_kernel {
            flags |= EXCLUDE_KERNEL;
        }
        let attributes = Attributes {
            kind,
            size: size_of::<Attributes>() as u32,
            number,
            read_format: READ_FORMAT,
            flags,
            ..Attributes::default()
        };
        // SAFETY: the attributes are laid out as linux/perf_event.h says, carry
        // their size and outlive the call; 0 and -1 mean "this thread, any CPU".
        let result = unsafe {
            libc::syscall(
                libc::SYS_perf_event_open,
                &raw const attributes,
                0 as libc::pid_t,
                -1 as libc::c_int,
                -1 as libc::c_int,
                CLOSE_ON_EXEC,
            )
        };
        match libc::c_int::try_from(result) {
            Ok(descriptor) if descriptor >= 0 => {
                // SAFETY: the kernel has just given us this descriptor; nobody
                // else owns it.
                let file = unsafe { File::from_raw_fd(descriptor) };
                Ok(Self { file, event })
            }
            _ => Err(open_error(event, call, last_errno())),
        }
    }

    /// Opens a counter that includes the kernel where this user may, and else
    /// one of user space only, where the event makes sense there. Returns the
    /// counter and whether the kernel is included.
    ///
    /// # Errors
    /// As [`Counter::open`].
    pub fn open_widest(event: Event, inherit: bool) -> Result<(Self, bool)> {
        match Self::open(event, inherit, false) {
            Ok(counter) => Ok((counter, true)),
            Err(error) if event.happens_in_kernel() => Err(error),
            Err(_) => Ok((Self::open(event, inherit, true)?, false)),
        }
    }

    /// What it counts.
    pub fn event(&self) -> Event {
        self.event
    }

    /// Begins to count.
    ///
    /// # Errors
    /// What `ioctl` says.
    pub fn enable(&self) -> Result<()> {
        self.control(ENABLE, "enable")
    }

    /// Stops counting; the value stays.
    ///
    /// # Errors
    /// What `ioctl` says.
    pub fn disable(&self) -> Result<()> {
        self.control(DISABLE, "disable")
    }

    /// The value so far, scaled up where the counter had to share the CPU's.
    ///
    /// # Errors
    /// `Unsupported` where it was enabled but never got a counter of the CPU.
    pub fn read(&self) -> Result<u64> {
        let reading = self.reading()?;
        if reading.running_ns == 0 && reading.enabled_ns > 0 {
            return Err(Error::unsupported(
                format!("read(perf event {})", self.event.name()),
                "the CPU's counters were taken by others all the time",
            ));
        }
        if reading.running_ns >= reading.enabled_ns {
            return Ok(reading.value);
        }
        let scaled = u128::from(reading.value) * u128::from(reading.enabled_ns)
            / u128::from(reading.running_ns);
        Ok(u64::try_from(scaled).unwrap_or(u64::MAX))
    }

    /// The value and the times it was enabled and running.
    ///
    /// # Errors
    /// What `read` says.
    pub fn reading(&self) -> Result<Reading> {
        let call = || format!("read(perf event {})", self.event.name());
        let mut bytes = [0_u8; 24];
        (&self.file).read_exact(&mut bytes).map_err(|error| Error::io(call(), &error))?;
        let (words, _) = bytes.as_chunks::<8>();
        let word = |index: usize| u64::from_ne_bytes(words[index]);
        Ok(Reading { value: word(0), enabled_ns: word(1), running_ns: word(2) })
    }

    fn control(&self, request: u64, name: &str) -> Result<()> {
        // SAFETY: the descriptor is an open perf event; these requests take an
        // integer and touch no memory.
        let result = unsafe { libc::ioctl(self.file.as_raw_fd(), request as _, 0) };
        crate::error::check(result.into(), || {
            format!("ioctl(perf event {}, {name})", self.event.name())
        })
        .map(|_| ())
    }
}

/// Says what a refusal means and what would help.
fn open_error(event: Event, call: String, errno: i32) -> Error {
    match errno {
        libc::ENOENT | libc::ENODEV | libc::EOPNOTSUPP if event.is_hardware() => {
            Error::unsupported(
                call,
                "this machine gives us no hardware counters (no PMU, or a virtual machine)",
            )
        }
        libc::ENOSYS => Error::unsupported(call, "the kernel was built without perf events"),
        libc::EACCES | libc::EPERM => {
            let now = paranoid().map_or_else(|| "unknown".to_string(), |level| level.to_string());
            Error::unsupported(
                call,
                format!(
                    "not permitted: kernel.perf_event_paranoid is {now}; it needs 1 or less to count the \
                     kernel, 2 or less to count user space, or CAP_PERFMON"
                ),
            )
        }
        _ => Error::new(call, errno),
    }
}

/// The setting `kernel.perf_event_paranoid`: 2 keeps ordinary users from
/// counting in the kernel, 3 and 4 (Debian, Ubuntu) from all of it. `None`
/// without perf events.
pub fn paranoid() -> Option<i32> {
    text::value("/proc/sys/kernel/perf_event_paranoid")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::{Huge, Mapping, page_bytes};

    /// The counter, or `None` with the reason printed.
    fn open_or_say(event: Event, inherit: bool) -> Option<(Counter, bool)> {
        match Counter::open_widest(event, inherit) {
            Ok(opened) => Some(opened),
            Err(error) => {
                assert!(error.is_unsupported(), "{error}");
                println!("skipped: {error}");
                None
            }
        }
    }

    #[test]
    fn touched_pages_are_counted() {
        let Some((counter, _)) = open_or_say(Event::PageFaults, false) else { return };
        let mut mapping = Mapping::new(300 * page_bytes(), Huge::Never).unwrap();
        counter.enable().unwrap();
        mapping.touch(page_bytes());
        counter.disable().unwrap();
        let faults = counter.read().unwrap();
        assert!(faults >= 300, "{faults}");
        drop(mapping);
        assert_eq!(counter.read().unwrap(), faults, "a disabled counter stands still");
    }

    #[test]
    fn sleeps_are_counted_as_switches_where_the_kernel_may_be_counted() {
        let Some((counter, kernel)) = open_or_say(Event::ContextSwitches, false) else { return };
        assert!(kernel);
        counter.enable().unwrap();
        for _ in 0..5 {
            crate::clock::sleep_ns(100_000);
        }
        counter.disable().unwrap();
        assert!(counter.read().unwrap() >= 5);
    }

    #[test]
    fn an_inherited_counter_sees_a_thread_that_was_made_later() {
        let Some((counter, _)) = open_or_say(Event::PageFaults, true) else { return };
        counter.enable().unwrap();
        std::thread::spawn(|| {
            Mapping::new(300 * page_bytes(), Huge::Never).unwrap().touch(page_bytes());
        })
        .join()
        .unwrap();
        counter.disable().unwrap();
        assert!(counter.read().unwrap() >= 300);
    }

    #[test]
    fn an_event_of_the_kernel_is_not_counted_without_the_kernel() {
        for event in [Event::ContextSwitches, Event::Migrations] {
            let error = Counter::open(event, false, true).unwrap_err();
            assert!(error.is_unsupported());
            assert!(error.to_string().contains("reads 0"), "{error}");
        }
    }

    #[test]
    fn hardware_counts_or_says_why_not() {
        use Event::{BranchMisses, CacheMisses, Cycles, Instructions};
        for event in [Cycles, Instructions, CacheMisses, BranchMisses] {
            let Some((counter, _)) = open_or_say(event, false) else { continue };
            counter.enable().unwrap();
            let mut sum = 0_u64;
            for step in 0..1_000_000_u64 {
                sum = crate::black_box(sum.wrapping_add(step));
            }
            counter.disable().unwrap();
            if event == Event::Instructions {
                assert!(counter.read().unwrap() >= 1_000_000);
            }
        }
    }

    #[test]
    fn refusals_say_what_would_help() {
        let text = open_error(Event::Cycles, "c".into(), libc::EACCES).to_string();
        assert!(text.contains("perf_event_paranoid"), "{text}");
        assert!(open_error(Event::Cycles, "c".into(), libc::ENOENT).is_unsupported());
        assert_eq!(
            open_error(Event::PageFaults, "c".into(), libc::ENOENT).errno(),
            Some(libc::ENOENT)
        );
    }
}
