use crate::Error;
use crate::guard::{Guard, Message};
use crate::leftovers::{self, group_name};
use crate::rival::Rival;
use crate::settings::Settings;
use model::ShieldReport;
use std::hint::black_box;
use sys::cgroup::{Cgroup, Nest, Plan};
use sys::task::Pid;

/// The niceness asked for: the most that the kernel gives.
const NICE: i32 = -20;

/// How long the loop beside the rival lasts: several of the scheduler's slices.
const LOOK_NS: u64 = 40_000_000;

/// What keeps the rest of the machine away from the trials, as far as the rights allow.
///
/// The runner itself enters the shield, so that every trial is born in it: moving a process into
/// a cgroup can take milliseconds (the kernel waits for an RCU grace period), and it would do so
/// for each trial.
#[derive(Debug)]
pub struct Shield {
    report: ShieldReport,
    cpu: Option<Moved>,
    memory: Option<Cgroup>,
    /// In which trials may limit CPU time. Not the shield's own group: a group of version 2 that
    /// holds processes, the runner, hands no controller down.
    quota: Option<Cgroup>,
    nice_before: Option<i32>,
    /// In version 2, so that there can be groups with controllers at all. Fields are dropped after
    /// [`Shield::drop`] has removed those.
    nest: Option<Nest>,
}

/// A cgroup of ours and the one we came from.
#[derive(Debug)]
struct Moved {
    from: Cgroup,
    to: Cgroup,
}

impl Shield {
    /// Raises what can be raised. The guard hears of every cgroup, so that it can be removed even if
    /// the runner is killed.
    pub(crate) fn raise(settings: &Settings, guard: &mut Guard) -> Result<Self, Error> {
        leftovers::sweep();
        let mut shield = Shield {
            report: ShieldReport::default(),
            cpu: None,
            memory: None,
            quota: None,
            nice_before: None,
            nest: nest(guard),
        };
        shield.memory = shield.own_cgroup("memory", "memory", guard).ok();
        shield.quota = shield.own_cgroup("cpu", "quota", guard).ok();
        if !settings.shield {
            shield.report.missing.push("switched off by --no-shield".into());
            return Ok(shield);
        }
        let cpu = settings.cpus.last().copied().unwrap_or_default();
        let rival = Rival::start(cpu)?;
        shield.report.share_without = share_beside_rival(cpu, &settings.cpus);
        shield.raise_cpu_weight(guard);
        shield.raise_niceness();
        shield.report.share_with = share_beside_rival(cpu, &settings.cpus);
        drop(rival);
        Ok(shield)
    }

    fn raise_cpu_weight(&mut self, guard: &mut Guard) {
        let entered = self.own_cgroup("cpu", "cpu", guard).and_then(|to| {
            let entered = Cgroup::own("cpu").and_then(|from| {
                to.set_cpu_weight_max()?;
                // What a trial moves from the shield into a group of its own is to keep the weight.
                if let Some(quota) = &self.quota {
                    quota.set_cpu_weight_max()?;
                }
                to.add(sys::process::pid())?;
                Ok(from)
            });
            let from = entered.inspect_err(|_| {
                // Nobody is in it, and nobody will be.
                let _ = to.remove();
            })?;
            let means = format!("{} with the highest CPU weight", to.version().name());
            Ok((Moved { from, to }, means))
        });
        match entered {
            Ok((moved, means)) => {
                self.cpu = Some(moved);
                self.report.means.push(means);
            }
            Err(error) => self.report.missing.push(format!("CPU weight by cgroup: {error}")),
        }
    }

    fn raise_niceness(&mut self) {
        let before = sys::process::nice();
        match sys::process::set_nice(NICE) {
            Ok(()) => {
                self.nice_before = Some(before);
                self.report.means.push(format!("nice {}", sys::process::nice()));
            }
            Err(error) => self.report.missing.push(format!("niceness below 0: {error}")),
        }
    }

    /// What is in force, what is missing, and what it does to a rival.
    pub fn report(&self) -> &ShieldReport {
        &self.report
    }

    /// The folders of the cgroups in which trials may limit memory and CPU time.
    pub(crate) fn trials_cgroups(&self) -> [Option<String>; 2] {
        [&self.memory, &self.quota]
            .map(|cgroup| Some(cgroup.as_ref()?.path().display().to_string()))
    }

    fn own_cgroup(
        &self,
        controller: &str,
        purpose: &str,
        guard: &mut Guard,
    ) -> sys::Result<Cgroup> {
        // In version 2 all controllers share one tree, where each of ours needs a name of its own.
        let name = group_name(purpose);
        let own = Cgroup::own(controller)?;
        let own = self.nest.as_ref().map_or(own, Nest::base);
        // Reported before it is made: a process killed in between leaves nothing unknown behind. The
        // name is of this process alone.
        guard.tell(Message::Cgroup(own.path().join(&name).into()));
        own.child_for(controller, &name)
    }

    /// Leads a guard that was born in the shield out of it: it is to outlive the shield.
    pub(crate) fn leads_out(&mut self, guard: Pid) -> sys::Result<()> {
        if let Some(nest) = &mut self.nest {
            nest.set_family(&[guard]);
        }
        self.cpu.as_ref().map_or(Ok(()), |moved| moved.from.add(guard))
    }

    /// Removes the cgroups that a trial made, if it died before it could.
    pub(crate) fn tidy(&self) {
        for cgroup in [&self.memory, &self.quota].into_iter().flatten() {
            let _ = cgroup.remove_children();
        }
    }
}

impl Drop for Shield {
    fn drop(&mut self) {
        // Each step stands for itself; the guard tries the cgroups again when it is let go.
        if let Some(nice) = self.nice_before {
            let _ = sys::process::set_nice(nice);
        }
        if let Some(moved) = &self.cpu {
            let _ = moved.from.add(sys::process::pid());
            let _ = moved.to.remove();
        }
        for cgroup in [&self.memory, &self.quota].into_iter().flatten() {
            let _ = cgroup.remove();
        }
    }
}

/// Makes room for groups with controllers where this process is in the way. Where others are also in
/// the way, the request for such a group fails and says so.
fn nest(guard: &mut Guard) -> Option<Nest> {
    let plan = Plan::below_own(&["memory", "cpu"], &group_name("home"))?;
    let (base, home) = (plan.base.clone().into(), plan.home.clone().into());
    guard.tell(Message::Nest { base, home, controllers: plan.controllers.clone() });
    plan.settle(&[guard.pid()]).ok()
}

/// The share of a CPU that a loop of this thread keeps there.
fn share_beside_rival(cpu: u32, cpus: &[u32]) -> Option<f64> {
    let before = sys::affinity::allowed().ok()?;
    sys::affinity::pin(&[cpu]).ok()?;
    // The rival has to have started, and both have to have had their first slices.
    sys::clock::sleep_ns(10_000_000);
    let (wall_ns, cpu_ns) = (sys::clock::now_ns(), sys::clock::thread_cpu_ns());
    while sys::clock::now_ns() - wall_ns < LOOK_NS {
        black_box(0);
    }
    let used_ns = sys::clock::thread_cpu_ns() - cpu_ns;
    let share = used_ns as f64 / (sys::clock::now_ns() - wall_ns) as f64;
    let back = if before.is_empty() { cpus } else { &before };
    sys::affinity::pin(back).ok()?;
    Some(share)
}
