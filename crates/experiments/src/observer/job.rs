//! The job that is watched: a fixed amount of work in a process of its own, which times itself.

use crate::support::child::Child;
use crate::support::{arithmetic, storage};
use kit::model::Profile;
use kit::{Result, Stop};
use std::hint::black_box;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use sys::gate::SharedGate;
use sys::pages::SharedWords;
use sys::task::Pid;

/// What limits the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Job {
    /// Arithmetic, with a write now and then.
    Cpu,
    /// The cheapest system call, again and again.
    Syscalls,
}

/// What the levels of the factor `job` stand for.
pub(super) const JOBS: [(&str, Job); 2] = [("cpu", Job::Cpu), ("syscalls", Job::Syscalls)];

/// Writes of the job `cpu`.
const WRITES: u64 = 16;
const WRITE_BYTES: usize = 64 << 10;

/// Bytes that the job `cpu` writes.
pub(super) const JOB_BYTES: u64 = WRITES * WRITE_BYTES as u64;
const FILE: &str = "job-file";

/// Words of a [`Report`].
const WORDS: usize = 4;

/// What the job reported of itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Report {
    /// From its first instant to its last, in ns.
    pub(super) wall_ns: u64,
    /// Its CPU time between the two, in ns.
    pub(super) cpu_ns: u64,
    /// The sum that its work came to, for [`Job::expected`].
    pub(super) sum: f64,
    /// Bytes of page cache that its process made dirty, in all.
    pub(super) written_bytes: u64,
}

/// A job that waits to be started.
#[derive(Debug)]
pub(super) struct Waiting {
    child: Child,
    words: SharedWords,
}

impl Job {
    /// How much is to be done: units of arithmetic, or system calls.
    pub(super) fn amount(self, profile: Profile) -> u64 {
        // From `quick` on the computation lasts longer than the 100 ms between two samples of the
        // slowest watcher, and than top takes to start and to write a frame; from `standard` on,
        // some hundred milliseconds. Sixteen divides every number of units.
        match self {
            Job::Cpu => profile.pick([160, 8_000, 48_000, 56_000]),
            Job::Syscalls => profile.pick([2_000, 2_000, 50_000, 100_000]),
        }
    }

    /// What the sum of its work must come to, computed in another way than the job does: sines of
    /// twice the angle, and a product for the repetition.
    pub(super) fn expected(self, amount: u64) -> f64 {
        let once = match self {
            Job::Cpu => (1..=arithmetic::ITERATIONS_PER_UNIT)
                .map(|step| (step as f64).sqrt() * (2.0 * step as f64).sin() / 2.0)
                .sum(),
            // Each call tells the job who its parent is: this process.
            Job::Syscalls => f64::from(sys::process::pid()),
        };
        once * amount as f64
    }

    /// Lays out the job's file and forks the job, which waits at its gate.
    pub(super) fn fork(self, amount: u64) -> Result<Waiting> {
        storage::lay_out(Path::new(FILE), JOB_BYTES)?;
        let words = sys::pages::shared(WORDS * size_of::<u64>())?;
        let child = Child::fork(Stop::failed("the job died before it began"), |gate| {
            i32::from(self.live(amount, words.words(), gate).is_err())
        })?;
        Ok(Waiting { child, words })
    }

    fn live(self, amount: u64, words: &[AtomicU64], gate: &SharedGate) -> Result<()> {
        let file = sys::files::open(Path::new(FILE), sys::files::Sync::None)?;
        // Its code is in memory when it begins.
        black_box(arithmetic::unit(0.0));
        gate.arrive_and_wait();
        let wall_ns = sys::clock::now_ns();
        let cpu_ns = sys::clock::thread_cpu_ns();
        let sum = match self {
            Job::Cpu => compute(amount, &file)?,
            Job::Syscalls => call(amount),
        };
        let cpu_ns = sys::clock::thread_cpu_ns() - cpu_ns;
        let wall_ns = sys::clock::now_ns() - wall_ns;
        let io = sys::proc::io(sys::process::pid()).unwrap_or_default();
        let report: [u64; WORDS] = [wall_ns, cpu_ns, sum.to_bits(), io.write_bytes];
        for (word, value) in words.iter().zip(report) {
            word.store(value, Ordering::Release);
        }
        Ok(())
    }
}

fn compute(units: u64, file: &std::fs::File) -> Result<f64> {
    let chunk = [1; WRITE_BYTES];
    let mut sum = black_box(0.0);
    for write in 0..WRITES {
        for _ in 0..units / WRITES {
            sum = arithmetic::unit(sum);
        }
        file.write_all_at(&chunk, write * WRITE_BYTES as u64)?;
    }
    Ok(sum)
}

fn call(calls: u64) -> f64 {
    (0..calls).map(|_| black_box(sys::syscall::getppid()) as f64).sum()
}

impl Waiting {
    /// The job's process.
    pub(super) fn pid(&self) -> Pid {
        self.child.pid()
    }

    /// Lets the job begin.
    pub(super) fn start(&self) {
        self.child.release();
    }

    /// What the job reported; to be read when it has ended.
    pub(super) fn report(&self) -> Report {
        let word = |index: usize| self.words.words()[index].load(Ordering::Acquire);
        let [wall_ns, cpu_ns, sum, written_bytes]: [u64; WORDS] = std::array::from_fn(word);
        Report { wall_ns, cpu_ns, sum: f64::from_bits(sum), written_bytes }
    }
}
