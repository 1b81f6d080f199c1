//! The control groups that the program begins in.

use crate::command::Filled;
use kit::{Result, Stop, Trial};
use model::Spec;
use std::path::Path;
use sys::cgroup::{Cgroup, Guard};
use sys::launch::Launch;
use sys::limits::Resource;

/// What would allow control groups, for those who cannot make them.
const HELP: &str = "run as root, or in a scope of one's own: systemd-run --user --scope \
                    -p Delegate=yes";

/// The program's groups, which are removed when this is dropped.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    memory: Option<Guard>,
    cpu: Option<Guard>,
    memory_limit_bytes: Option<u64>,
}

impl Groups {
    /// Makes what is needed: a memory group wherever one can be made, since it knows the peak to
    /// the page, and one for CPU time where that is limited.
    ///
    /// # Errors
    /// Unsupported: a limit is asked for, and its group cannot be made here.
    pub(crate) fn make(trial: &mut Trial<'_>, filled: &Filled) -> Result<Self> {
        let spec = trial.spec().clone();
        let memory = match memory_group(&spec, filled.memory_bytes) {
            Ok(group) => Some(group),
            Err(why) if filled.memory_bytes.is_some() => {
                let what = "a limit on the memory of a program needs a memory cgroup";
                return Err(Stop::unsupported(format!("{what}: {why}; {HELP}")));
            }
            Err(_) => None,
        };
        let cpu = filled.cpus_quota.map(|cpus| cpu_group(&spec, cpus)).transpose().map_err(
            |why: String| {
                let what = "a quota of CPU time needs a cgroup of its own";
                Stop::unsupported(format!("{what}: {why}; {HELP}"))
            },
        )?;
        if let Some(limit) = memory.as_ref().and_then(|guard| guard.group().memory_limit()) {
            trial.observe("memory_limit_bytes", limit);
        }
        if let Some(cpus) = filled.cpus_quota {
            trial.observe("cpus_quota", cpus);
        }
        Ok(Groups { memory, cpu, memory_limit_bytes: filled.memory_bytes })
    }

    /// The groups to begin in.
    pub(crate) fn all(&self) -> Vec<Cgroup> {
        [&self.memory, &self.cpu].into_iter().flatten().map(|guard| guard.group().clone()).collect()
    }

    /// The most memory that the group was charged, in bytes.
    pub(crate) fn memory_peak_bytes(&self) -> Option<u64> {
        self.memory.as_ref()?.group().memory_peak()
    }

    /// For how long its own quota held the program back, in ns, summed over CPUs; `None` without one.
    pub(crate) fn throttled_ns(&self) -> Option<u64> {
        self.cpu.as_ref()?.group().throttled_ns()
    }

    /// The limit on memory, where the kernel killed a process that went beyond it.
    pub(crate) fn broken_limit_bytes(&self) -> Option<u64> {
        let group = self.memory.as_ref()?.group();
        self.memory_limit_bytes.filter(|_| group.oom_kills().is_some_and(|kills| kills > 0))
    }
}

/// How the program is launched: its CPUs and its limits, found to be such as the kernel accepts.
///
/// # Errors
/// Unsupported: CPUs that may not be used here, an address space beyond the hard limit.
pub(crate) fn launch(trial: &mut Trial<'_>, filled: &Filled, groups: &Groups) -> Result<Launch> {
    let cpus = if let Some(cpus) = &filled.cpus { cpus.clone() } else { trial.spec().cpus.clone() };
    if !cpus.is_empty() {
        accepted(&cpus)?;
        trial.observe("affinity", sys::affinity::format_list(&cpus));
    }
    if let Some(bytes) = filled.address_space_bytes {
        let hard = sys::limits::get(Resource::AddressSpace).hard;
        kit::require!(
            hard.is_none_or(|hard| hard >= bytes),
            "an address space of {bytes} bytes is beyond the hard limit of this user, {} \
                 bytes: raise it (ulimit -Hv)",
            hard.unwrap_or_default()
        );
        trial.observe("address_space_bytes", bytes);
    }
    Ok(Launch {
        cpus,
        address_space_bytes: filled.address_space_bytes,
        groups: groups.all(),
        ..Launch::default()
    })
}

/// Whether the kernel lets a task of ours use these CPUs and keeps all of them: asked in a thread
/// that comes to nothing. The program's own process asks again, where the answer would be a number.
fn accepted(cpus: &[u32]) -> Result<()> {
    let asked = std::thread::scope(|scope| scope.spawn(|| sys::affinity::pin(cpus)).join());
    let asked = asked.map_err(|_| Stop::failed("asking for CPUs panicked"))?;
    asked.map_err(|error| {
        Stop::unsupported(format!("{error}: choose CPUs that may be used here (scruple doctor)"))
    })
}

/// Makes the program's group for a controller, of which the session's is `parent`.
fn group(parent: Option<&String>, controller: &str) -> Result<Guard, String> {
    let parent = Cgroup::at(Path::new(parent.ok_or("none can be made")?));
    Ok(parent.child_for(controller, "subject").map_err(|error| error.to_string())?.guarded())
}

fn memory_group(spec: &Spec, limit_bytes: Option<u64>) -> Result<Guard, String> {
    let guard = group(spec.memory_cgroup.as_ref(), "memory")?;
    if let Some(bytes) = limit_bytes {
        guard.group().set_memory_limit(bytes).map_err(|error| error.to_string())?;
        // The kernel rounds down to pages; anything else would be another treatment.
        let kept = guard.group().memory_limit();
        if kept.is_none_or(|kept| kept > bytes || kept + 65_536 <= bytes) {
            return Err(format!("asked for {bytes} bytes, the kernel gave {kept:?}"));
        }
    }
    Ok(guard)
}

fn cpu_group(spec: &Spec, cpus: f64) -> Result<Guard, String> {
    let guard = group(spec.cpu_cgroup.as_ref(), "cpu")?;
    guard.group().set_cpu_quota(cpus).map_err(|error| error.to_string())?;
    Ok(guard)
}
