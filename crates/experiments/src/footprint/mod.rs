//! How much memory one worker takes: its own pages, and what the kernel keeps for it.

use kit::workers::{Crew, Fate, MODEL_LEVELS, Model, Refusal, Worker, crew};
use kit::{Result, Stop, Trial};
use sys::pages::{Huge, Mapping};
use sys::task::Pid;

experiment!("footprint", "footprint.toml");

/// Memory beside the buffers: the trial itself, and 128 KiB and more for each worker.
const SPARE_BYTES: u64 = 64 << 20;

/// How many workers are made first for each one that is measured. They use up what the kernel and libc
/// have kept of others that ended; without them the measured ones would seem to take less.
const EARLIER: usize = 2;

/// How long the kernel is given to free what processes and threads have left that ended before, at
/// least and at most, in ns. It does so after a grace period of some ticks, and later on busy CPUs.
const SETTLE_NS: [u64; 2] = [12_000_000, 120_000_000];

/// Memory that a process and the kernel hold.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    /// Pages of these processes alone, in bytes.
    private_bytes: u64,
    /// Page tables below the top level, in bytes.
    page_tables_bytes: Option<u64>,
    /// Stacks of the machine's threads in the kernel, in bytes.
    kernel_stacks_bytes: Option<u64>,
    /// The kernel's objects of the machine, in bytes.
    objects_bytes: Option<u64>,
}

impl Held {
    /// Reads what the machine's kernel holds, and this process and `workers` together.
    fn now(workers: &[Pid]) -> Result<Self> {
        // First: reading of processes makes objects.
        let machine = sys::proc::meminfo()?;
        let (mut private_bytes, mut page_tables_bytes) = (0, Some(0));
        for pid in workers.iter().copied().chain([sys::process::pid()]) {
            private_bytes += sys::proc::memory(pid)?.uss_bytes;
            let tables = sys::proc::status(pid)?.page_tables_bytes;
            page_tables_bytes = page_tables_bytes.zip(tables).map(|(sum, one)| sum + one);
        }
        Ok(Held {
            private_bytes,
            page_tables_bytes,
            kernel_stacks_bytes: machine.kernel_stack_bytes,
            objects_bytes: machine.slab_bytes,
        })
    }
}

/// What `count` workers added to memory, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Added {
    /// Their own pages, without their buffers.
    user: i64,
    page_tables: Option<i64>,
    kernel_stacks: Option<i64>,
    objects: Option<i64>,
}

impl Added {
    fn between(before: &Held, after: &Held, buffers_bytes: u64) -> Self {
        let grown = |of: fn(&Held) -> Option<u64>| {
            of(after).zip(of(before)).map(|(now, then)| now as i64 - then as i64)
        };
        // A container may show a text of its own in the place of the kernel's. Threads have stacks.
        let shows_kernel = grown(|held| held.kernel_stacks_bytes).filter(|bytes| *bytes > 0);
        Added {
            user: after.private_bytes as i64 - before.private_bytes as i64 - buffers_bytes as i64,
            page_tables: grown(|held| held.page_tables_bytes),
            kernel_stacks: shows_kernel,
            objects: shows_kernel.and_then(|_| grown(|held| held.objects_bytes)),
        }
    }

    /// All that the kernel keeps for them, where all of it is shown.
    fn kernel(&self) -> Option<i64> {
        Some(self.page_tables? + self.kernel_stacks? + self.objects?)
    }

    /// Records what each of `count` workers added, with buffers of `buffers` bytes in all.
    fn record(&self, trial: &mut Trial, count: u64, buffers: i64) {
        let kernel = self.kernel();
        if kernel.is_none() {
            trial.observe("kernel_memory", "not shown by /proc/meminfo or /proc/PID/status");
        }
        let parts = [
            ("worker_bytes", kernel.map(|kernel| buffers + self.user + kernel)),
            ("user_bytes", Some(self.user)),
            ("kernel_bytes", kernel),
            ("page_table_bytes", self.page_tables),
            ("kernel_stack_bytes", self.kernel_stacks),
            ("object_bytes", self.objects),
        ];
        for (response, bytes) in parts {
            if let Some(bytes) = bytes {
                trial.record(response, count, vec![bytes]);
            }
        }
    }
}

fn trial(trial: &mut Trial) -> Result<()> {
    let model = trial.pick("model", &MODEL_LEVELS)?;
    let buffer_bytes = trial.number("buffer")? << 10;
    let count = trial.spec().profile.pick([16, 64, 128, 256]);
    trial.need_tasks((1 + EARLIER) * count)?;
    let in_all = count as u64 * buffer_bytes + SPARE_BYTES;
    let most = if model == Model::Thread { in_all } else { SPARE_BYTES };
    trial.need_memory_in_all(in_all, most)?;
    let cpu = trial.pin_to_one()?;
    settle();
    trial.begin()?;
    let crew = Workers { model, count, cpu };
    let added = crew.added(buffer_bytes, |_| fill(buffer_bytes as usize))?;
    trial.end()?;
    added.record(trial, count as u64, (count as u64 * buffer_bytes) as i64);
    Ok(())
}

/// Workers of one kind, all on one CPU.
struct Workers {
    model: Model,
    count: usize,
    cpu: u32,
}

impl Workers {
    /// Returns what they add to memory that do `work`, and wait until all memory has been read. They
    /// are made while [`EARLIER`] times as many wait that do nothing. `buffer_bytes` of each are no
    /// part of its own memory.
    fn added<Kept>(
        &self,
        buffer_bytes: u64,
        work: impl Fn(&Worker<'_>) -> Result<Kept, Refusal> + Sync,
    ) -> Result<Added> {
        let Workers { model, count, cpu } = *self;
        let mut added = Err(Stop::failed("no worker held still"));
        let earlier = crew(
            model,
            EARLIER * count,
            &[cpu],
            |_| Ok(()),
            |_| {
                added = Held::now(&[]).and_then(|before| {
                    let mut after = Ok(before);
                    let crew = crew(model, count, &[cpu], work, |pids| after = Held::now(pids))?;
                    all_done(&crew)?;
                    Ok(Added::between(&before, &after?, count as u64 * buffer_bytes))
                });
            },
        )?;
        all_done(&earlier)?;
        added
    }
}

fn all_done(crew: &Crew) -> Result<()> {
    let (done, all) = (crew.count(Fate::Done), crew.reports.len());
    kit::require!(
        done >= all,
        "only {done} of {all} workers could be made and fill their buffers; a limit on \
             processes, address space or memory (ulimit -u, ulimit -v, a cgroup) is too low"
    );
    Ok(())
}

/// Waits until the kernel has stopped freeing objects.
fn settle() {
    let objects_bytes = || sys::proc::meminfo().ok().and_then(|memory| memory.slab_bytes);
    let [least_ns, most_ns] = SETTLE_NS;
    let begun_ns = sys::clock::now_ns();
    let mut before = objects_bytes();
    while sys::clock::now_ns() - begun_ns < most_ns {
        sys::clock::sleep_ns(least_ns);
        let now = objects_bytes();
        if now >= before {
            return;
        }
        before = now;
    }
}

/// Maps memory and writes to each page of it.
fn fill(bytes: usize) -> Result<Option<Mapping>, Refusal> {
    if bytes == 0 {
        return Ok(None);
    }
    let mut buffer = Mapping::new(bytes, Huge::Never).map_err(|_| Refusal::Refused)?;
    buffer.touch(sys::pages::page_bytes());
    Ok(Some(buffer))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests;
