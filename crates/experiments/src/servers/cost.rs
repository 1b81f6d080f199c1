//! What a server uses, seen from outside.

use kit::{Result, Stop};
use std::time::{Duration, Instant};
use web::serve::{Model, Running};

/// What the living processes of a server have used.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Account {
    /// CPU time, of ended threads too, in ns.
    pub(super) cpu_ns: u64,
    /// Times that a living thread was put on a CPU.
    pub(super) slices: u64,
}

impl Account {
    pub(super) fn of(server: &Running) -> Result<Account> {
        let mut sum = Account::default();
        for pid in server.family() {
            // One that has ended meanwhile is accounted for by its parent.
            let Some(cpu_ns) = sys::clock::process_cpu_ns_of(pid) else { continue };
            sum.cpu_ns += cpu_ns;
            sum.slices += sys::proc::schedstat_process(pid).map_or(0, |account| account.slices);
        }
        if sum.cpu_ns == 0 { Err(Stop::failed("the server is gone")) } else { Ok(sum) }
    }

    pub(super) fn since(self, before: &Account) -> Account {
        Account {
            cpu_ns: self.cpu_ns.saturating_sub(before.cpu_ns),
            slices: self.slices.saturating_sub(before.slices),
        }
    }
}

/// Memory of a server's processes, summed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Memory {
    /// Resident, a shared page counted once in all (PSS).
    pub(super) pss_bytes: i64,
    /// Address space.
    pub(super) virtual_bytes: i64,
    /// Page tables of the processes.
    page_tables_bytes: i64,
}

/// What the machine's kernel holds in stacks and objects that it cannot drop, where it is shown.
fn kernel_bytes() -> Result<Option<i64>> {
    let machine = sys::proc::meminfo()?;
    let parts = machine.kernel_stack_bytes.zip(machine.slab_bytes);
    Ok(parts.map(|(stacks, objects)| (stacks + objects) as i64))
}

/// What connections take of a server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    /// The server without them.
    pub(super) idle: Memory,
    /// What they add.
    pub(super) added: Memory,
    /// What they add to the kernel's memory: stacks, page tables and objects, those of the client's ends
    /// among them; `None` where the kernel does not show it.
    pub(super) kernel_bytes: Option<i64>,
}

/// How far two readings of a runtime's memory may be apart that is at rest: compilers and collectors of
/// garbage go on in the background.
const UNREST_BYTES: i64 = 256 << 10;

impl Memory {
    fn is_as(self, last: Memory, model: Model) -> bool {
        let moved = (self.pss_bytes - last.pss_bytes).abs();
        self == last || matches!(model, Model::Runtime(_)) && moved <= UNREST_BYTES
    }

    fn now(server: &Running) -> Result<Memory> {
        let mut sum = Memory::default();
        for pid in server.family() {
            sum.pss_bytes += sys::proc::memory(pid)?.pss_bytes as i64;
            let status = sys::proc::status(pid)?;
            sum.virtual_bytes += status.vm_size_bytes.unwrap_or(0) as i64;
            sum.page_tables_bytes += status.page_tables_bytes.unwrap_or(0) as i64;
        }
        Ok(sum)
    }
}

/// How long an answer may take, and the server's memory to come to rest.
const PATIENCE: Duration = Duration::from_secs(5);

/// How far apart two looks are that must see the same.
const STILL: Duration = Duration::from_millis(4);

/// How far two readings of the kernel's memory may be apart that is at rest, and how long that may take:
/// the kernel frees what ended processes and connections left in the background.
const KERNEL_UNREST_BYTES: i64 = 64 << 10;
const KERNEL_PATIENCE: Duration = Duration::from_millis(500);

/// Returns the kernel's memory once it is at rest, or what it is after [`KERNEL_PATIENCE`].
fn kernel_bytes_at_rest() -> Result<Option<i64>> {
    let begun = Instant::now();
    let mut last = kernel_bytes()?;
    loop {
        std::thread::sleep(STILL);
        let now = kernel_bytes()?;
        let moved = now.zip(last).map_or(0, |(now, last)| (now - last).abs());
        if moved <= KERNEL_UNREST_BYTES || begun.elapsed() > KERNEL_PATIENCE {
            return Ok(now);
        }
        last = now;
    }
}

/// Returns what that number of connections takes. Each has had one request answered and stays open; where
/// a server serves only a few connections at a time, each has sent a part of its first request.
pub(super) fn memory_of(server: &Running, model: Model, connections: u32) -> Result<Held> {
    let kernel_before = kernel_bytes_at_rest()?;
    let idle = Memory::now(server)?;
    let mut held = Vec::with_capacity(connections as usize);
    for _ in 0..connections {
        held.push(server.connection(PATIENCE, serves_all(model))?);
    }
    let begun = Instant::now();
    let mut last = None;
    loop {
        std::thread::sleep(STILL);
        kit::ensure!(begun.elapsed() <= PATIENCE, "the server's memory does not come to rest");
        if !has_all(server, model, connections)? {
            continue;
        }
        let now = Memory::now(server)?;
        if last.replace(now).is_some_and(|last| now.is_as(last, model)) {
            let added = Memory {
                pss_bytes: now.pss_bytes - idle.pss_bytes,
                virtual_bytes: now.virtual_bytes - idle.virtual_bytes,
                page_tables_bytes: now.page_tables_bytes - idle.page_tables_bytes,
            };
            let kernel = kernel_bytes_at_rest()?.zip(kernel_before);
            let kernel_bytes = kernel.map(|(now, then)| now - then + added.page_tables_bytes);
            return Ok(Held { idle, added, kernel_bytes });
        }
    }
}

/// Whether a server answers a connection while any number of others is open.
pub(super) fn serves_all(model: Model) -> bool {
    !matches!(model, Model::Single | Model::Pool(_) | Model::PreFork(_))
}

/// Whether every connection has its thread or process, where each is to have one.
fn has_all(server: &Running, model: Model, connections: u32) -> Result<bool> {
    let connections = u64::from(connections);
    Ok(match model {
        Model::ThreadPerConnection => sys::proc::status(server.pid())?.threads == connections + 1,
        Model::Runtime(runtime) if runtime.has_a_thread_each() => {
            sys::proc::status(server.pid())?.threads > connections
        }
        Model::ForkPerRequest => server.family().len() as u64 == connections + 1,
        _ => true,
    })
}
