//! What is walked: anonymous memory or a mapped file, brought into the state that the kind asks
//! for before each walk.

use super::kind::{Before, Limit, Plan, Touch};
use crate::support::child::Child;
use crate::support::memory::{cgroup_for_limits, limited_cgroup, mapped, move_into};
use kit::{Result, Stop, Trial};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use sys::clock::{now_ns, thread_cpu_ns};
use sys::pages::{FileMapping, Huge, Mapping, Share, page_bytes};
use sys::usage::Usage;

/// The file's name, in the trial's own folder.
const FILE: &str = "pages";

/// Written to the pages of memory that is only read.
const RESIDENT: u8 = 1;

/// How often the kernel is asked to drop the file. Pages that another CPU has just added to the
/// cache may wait in its own list for a moment.
const DROPS_MAX: u32 = 5;

/// One walk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Walk {
    /// The time that the advice took.
    pub(super) set_up_ns: u64,
    /// The time that the touches took.
    pub(super) walk_ns: u64,
    /// The CPU time that the touches took.
    pub(super) cpu_ns: u64,
    /// The CPU time that the advice took.
    pub(super) set_up_cpu_ns: u64,
    /// The kernel's account of the touches.
    pub(super) touching: Usage,
    /// The kernel's account of advice and touches.
    pub(super) whole: Usage,
    /// Bytes of the file in the page cache before the advice, where it had to be cold.
    pub(super) cached_bytes: u64,
    /// Whether every page was touched, by their sum.
    pub(super) adds_up: bool,
}

/// What lies behind the pages.
#[derive(Debug)]
enum Behind {
    Memory { memory: Mapping, target: Option<Mapping>, sharer: Option<Child> },
    File { file: File, share: Share, mapping: Option<FileMapping> },
}

/// What is walked.
#[derive(Debug)]
pub(super) struct Subject<'p> {
    plan: &'p Plan,
    behind: Behind,
    walks: u64,
}

impl<'p> Subject<'p> {
    /// Makes what the plan asks for, and puts it under its limit.
    pub(super) fn prepare(trial: &mut Trial<'_>, plan: &'p Plan) -> Result<Self> {
        // Twice the size for a copy or a child, and no more than half of what the trial may use.
        trial.need_memory(4 * plan.bytes)?;
        if plan.limit != Limit::None {
            // Before a file is written for nothing.
            cgroup_for_limits(trial.spec().memory_cgroup.as_deref())?;
        }
        let behind = if plan.kind.is_file() { file(trial, plan)? } else { memory(plan)? };
        if let Some(bytes) = plan.limit.bytes(plan.bytes) {
            enter_limit(trial, bytes)?;
        }
        Ok(Subject { plan, behind, walks: 0 })
    }

    /// Anonymous memory without a trial around it.
    #[cfg(test)]
    pub(super) fn of_memory(plan: &'p Plan) -> Result<Self> {
        Ok(Subject { plan, behind: memory(plan)?, walks: 0 })
    }

    /// Whether the pages look touched by a walk that never was.
    #[cfg(test)]
    pub(super) fn seems_walked(&mut self) -> Result<bool> {
        self.behind.make_ready(self.plan, 255)?;
        self.behind.adds_up(self.plan, 255, 0)
    }

    /// Brings the pages into their state, gives the advice, touches each page, and looks whether
    /// they all were.
    pub(super) fn walk(&mut self) -> Result<Walk> {
        self.walks += 1;
        let plan = self.plan;
        // A value that the pages do not hold yet.
        let value = (self.walks % 200) as u8 + 2;
        let cached_bytes = self.behind.make_ready(plan, value)?;
        let before = Usage::of_thread();
        let asked_cpu_ns = thread_cpu_ns();
        let asked_ns = now_ns();
        self.behind.expect(plan)?;
        let advised_ns = now_ns();
        let advised_cpu_ns = thread_cpu_ns();
        let advised = Usage::of_thread();
        let begun_cpu_ns = thread_cpu_ns();
        let begun_ns = now_ns();
        let sum = self.behind.touch(plan, value);
        let ended_ns = now_ns();
        let ended_cpu_ns = thread_cpu_ns();
        let after = Usage::of_thread();
        Ok(Walk {
            set_up_ns: advised_ns - asked_ns,
            walk_ns: ended_ns - begun_ns,
            cpu_ns: ended_cpu_ns - begun_cpu_ns,
            set_up_cpu_ns: advised_cpu_ns - asked_cpu_ns,
            touching: after.since(advised),
            whole: after.since(before),
            cached_bytes,
            adds_up: self.behind.adds_up(plan, value, sum)?,
        })
    }

    /// The anonymous memory.
    pub(super) fn memory(&self) -> Option<&[u8]> {
        match &self.behind {
            Behind::Memory { memory, .. } => Some(memory.as_slice()),
            Behind::File { .. } => None,
        }
    }

    /// How much of the memory is in huge pages, in bytes.
    pub(super) fn huge_bytes(&self) -> Result<u64> {
        match &self.behind {
            Behind::Memory { memory, .. } => Ok(memory.huge_bytes()?),
            Behind::File { .. } => Ok(0),
        }
    }
}

/// Puts this process under a limit on all of its memory, page cache included, and verifies it. The
/// runner removes the group when the trial
/// is over: a process cannot remove the group it is in.
fn enter_limit(trial: &mut Trial<'_>, bytes: u64) -> Result<()> {
    let group = limited_cgroup(trial.spec().memory_cgroup.as_deref(), "fault", bytes)?;
    move_into(&group)?;
    let found = group.memory_limit();
    if found != Some(bytes) {
        let found = found.map_or("no limit".into(), |bytes| format!("{bytes} bytes"));
        return Err(Stop::unsupported(format!(
            "asked for a limit of {bytes} bytes of memory, the kernel gave {found}"
        )));
    }
    trial.observe("limit_bytes", bytes);
    Ok(())
}

/// Anonymous memory, touched so that its pages are not fresh ones of the host's.
fn memory(plan: &Plan) -> Result<Behind> {
    let make = |huge| {
        let mut memory = mapped(plan.bytes as usize, huge)?;
        memory.pages().fill_each(&plan.order, RESIDENT);
        Ok::<_, Stop>(memory)
    };
    let target = if plan.kind.touch == Touch::Copy { Some(make(plan.huge)?) } else { None };
    Ok(Behind::Memory { memory: make(plan.huge)?, target, sharer: None })
}

/// Forks a child that does nothing but hold the copy of the memory that fork gave it. It stands
/// still, so that it takes no CPU and no copy later.
fn share() -> Result<Child> {
    Child::fork(Stop::failed("the child that was to share the memory died"), |gate| {
        gate.arrive_and_wait();
        0
    })
}

/// The trial's own file, and out of the page cache where a walk must meet it cold or bring it
/// back under a limit.
fn file(trial: &mut Trial<'_>, plan: &Plan) -> Result<Behind> {
    trial.need_disk(plan.bytes)?;
    kit::require!(plan.huge != Huge::Always, "huge pages are measured for anonymous memory alone");
    let here = Path::new(".");
    trial.observe("file_system", sys::files::filesystem(here)?);
    if let Some(bytes) = sys::files::read_ahead_bytes(here)? {
        trial.observe("read_ahead_bytes", bytes);
    }
    let file = lay_out(plan.bytes)?;
    if plan.kind.touch == Touch::Read {
        sys::files::sync_data(&file)?;
        let left = dropped(&file)?;
        kit::require!(
            left == 0 || !(plan.needs_disk() || plan.limit != Limit::None),
            "{left} bytes of the file stay in the page cache although the kernel was asked to \
                 drop them: keep the session on a disk file system (this is {})",
            sys::files::filesystem(here)?
        );
    }
    let share = if plan.kind.touch == Touch::Write { Share::Private } else { Share::Shared };
    Ok(Behind::File { file, share, mapping: None })
}

/// Writes the file: each page begins with its mark.
fn lay_out(bytes: u64) -> Result<File> {
    let page = page_bytes();
    let file = sys::files::open(Path::new(FILE), sys::files::Sync::None)?;
    let mut chunk = vec![0_u8; (1 << 20).max(page)];
    let mut at = 0;
    while at < bytes {
        for (index, first) in chunk.iter_mut().step_by(page).enumerate() {
            *first = mark((at / page as u64) as u32 + index as u32);
        }
        let length = (bytes - at).min(chunk.len() as u64);
        file.write_all_at(&chunk[..length as usize], at)?;
        at += length;
    }
    Ok(file)
}

/// The first byte of a page of the file: never 0, and not the same for neighbours.
pub(super) fn mark(page: u32) -> u8 {
    (page % 251) as u8 + 1
}

/// Drops the file from the page cache; returns how much of it stayed, in bytes.
fn dropped(file: &File) -> Result<u64> {
    let mut left = 0;
    for _ in 0..DROPS_MAX {
        sys::files::drop_cache(file)?;
        left = sys::files::cached_bytes(file)?;
        if left == 0 {
            break;
        }
    }
    Ok(left)
}

impl Behind {
    /// Brings the pages into the state that the kind asks for; returns what is cached of a file
    /// that must be cold.
    fn make_ready(&mut self, plan: &Plan, value: u8) -> Result<u64> {
        match self {
            Behind::Memory { memory, target, sharer } => {
                match plan.kind.before {
                    Before::Discard => memory.discard()?,
                    _ if target.is_some() => memory.pages().write_each(&plan.order, value),
                    _ => {}
                }
                if plan.kind.before == Before::Fork {
                    *sharer = Some(share()?);
                }
                Ok(0)
            }
            Behind::File { file, share, mapping } => {
                // Mapped pages are not dropped.
                *mapping = None;
                let cached_bytes = if plan.kind.is_cold() { dropped(file)? } else { 0 };
                *mapping = Some(FileMapping::new(file, *share)?);
                Ok(cached_bytes)
            }
        }
    }

    fn expect(&mut self, plan: &Plan) -> Result<()> {
        let Some(advice) = plan.hint.advice(plan.kind.touch) else { return Ok(()) };
        match self {
            Behind::Memory { memory, .. } => memory.expect(advice)?,
            Behind::File { mapping: Some(mapping), .. } => mapping.expect(advice)?,
            Behind::File { mapping: None, .. } => {}
        }
        Ok(())
    }

    /// The walk itself; returns the sum of what was read.
    fn touch(&mut self, plan: &Plan, value: u8) -> u64 {
        let order = &plan.order;
        let (mut pages, target) = match self {
            Behind::Memory { memory, target, .. } => (memory.pages(), target.as_mut()),
            Behind::File { mapping: Some(mapping), .. } => (mapping.pages(), None),
            Behind::File { mapping: None, .. } => return 0,
        };
        match (plan.kind.touch, target) {
            (Touch::Write, _) => pages.write_each(order, value),
            (Touch::Fill, _) => pages.fill_each(order, value),
            (Touch::Copy, Some(target)) => pages.copy_each(order, &mut target.pages()),
            (Touch::Read | Touch::Copy, _) => return pages.read_each(order),
        }
        0
    }

    /// Whether each page was touched, and lets go a child that shared them.
    fn adds_up(&mut self, plan: &Plan, value: u8, sum: u64) -> Result<bool> {
        let order = &plan.order;
        let all = |value: u8| u64::from(value) * plan.touched();
        match self {
            Behind::Memory { memory, target, sharer } => {
                if let Some(sharer) = sharer.take()
                    && sharer.end()?.code != Some(0)
                {
                    return Err(Stop::failed("the child that shared the memory did not end well"));
                }
                Ok(match (plan.kind.touch, target) {
                    (Touch::Read, _) if plan.kind.before == Before::Discard => {
                        // All zeros add up to 0 whether they were read or not.
                        sum == 0 && memory.resident_bytes()? >= plan.bytes
                    }
                    (Touch::Read, _) => sum == all(RESIDENT),
                    (Touch::Copy, Some(target)) => target.pages().read_each(order) == all(value),
                    _ => memory.pages().read_each(order) == all(value),
                })
            }
            Behind::File { mapping: Some(mapping), .. } if plan.kind.touch == Touch::Write => {
                Ok(mapping.pages().read_each(order) == all(value))
            }
            Behind::File { .. } => {
                Ok(sum == order.iter().map(|page| u64::from(mark(*page))).sum::<u64>())
            }
        }
    }
}
