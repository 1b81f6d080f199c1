//! Something is taken from the program: co-runners that use a resource while it runs, as threads of
//! the trial, so that they end with it whatever ends it.
//!
//! How much is taken is measured in every trial, as Bubble-Up does with its reporter (Mars et al.,
//! MICRO 2011): what a co-runner consumes says little about what others lose by it (Eklöv et al.,
//! *Bandwidth Bandit*, ISPASS 2012). A small reference program that is limited by the resource alone
//! runs on the program's CPU, in turns with the co-runner and without, before the program starts;
//! the part of its rate that is lost is the part that was taken. CPU time needs no reference: the
//! kernel says how much of it the co-runners had while the program ran.

mod corunner;
mod cpu;
mod memory;
mod queue;
mod reference_program;
mod storage;
mod timer;

use corunner::{CoRunner, Done};
use kit::{Result, Stop, Trial};
use model::squeezed as responses;
use model::{NOTHING, Resource, Squeeze, Subject};

/// What is taken during a trial.
#[derive(Default)]
pub(crate) struct Squeezed {
    squeeze: Squeeze,
    co_runners: Vec<CoRunner>,
    /// What the reference program lost.
    taken: Option<f64>,
    /// What a reference lost that needs nothing but its CPU, where the co-runners also take some of that.
    cpu_lost: Option<f64>,
    timer_slack_ns: Option<u64>,
    /// How many CPUs the program may use.
    cpus: usize,
    /// Whether the co-runners stand on them.
    on_program: bool,
    began_ns: u64,
}

/// Where things stand during a squeeze.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// The CPUs that the program may use.
    pub(crate) program: Vec<u32>,
    /// Those of the session's that it may not: for co-runners.
    pub(crate) beside: Vec<u32>,
}

impl Place {
    fn of(trial: &Trial<'_>, program: &[u32]) -> Self {
        let all = &trial.spec().cpus;
        let program = if program.is_empty() { all.clone() } else { program.to_vec() };
        let beside = all.iter().copied().filter(|cpu| !program.contains(cpu)).collect();
        Place { program, beside }
    }

    /// The CPU of the reference program.
    fn reference(&self) -> Result<u32> {
        self.program.last().copied().ok_or_else(|| Stop::failed("the plan gives no CPU"))
    }
}

/// Makes ready what the treatment takes, and measures how much that is; nothing where the subject
/// is not squeezed.
///
/// # Errors
/// Unsupported: the resource cannot be taken here.
pub(crate) fn prepare(
    trial: &mut Trial<'_>,
    subject: &Subject,
    program_cpus: &[u32],
) -> Result<Option<Squeezed>> {
    let Some(factor) = &subject.squeeze else { return Ok(None) };
    let level = trial.level(factor)?.to_string();
    let squeeze = Squeeze::of_level(&level).ok_or_else(|| {
        Stop::failed(format!("{level} is no squeeze: {NOTHING}, or a resource as in cpu-25"))
    })?;
    let place = Place::of(trial, program_cpus);
    let mut made = Squeezed { squeeze, cpus: place.program.len(), ..Squeezed::default() };
    match squeeze {
        // Idle, but there: the same threads, parked.
        Squeeze::Nothing => {
            made.co_runners = cpu::co_runners(&place, 50)?;
            made.on_program = true;
        }
        Squeeze::Beside => made.co_runners = memory::streamers(trial, &place, 0)?,
        Squeeze::Take(resource, percent) => made.take(trial, &place, resource, percent)?,
    }
    if let Some(how) = made.co_runners.first().map(CoRunner::how) {
        trial.observe("co_runner", how);
    }
    trial.observe("co_runners", made.co_runners.len());
    Ok(Some(made))
}

impl Squeezed {
    fn take(
        &mut self,
        trial: &mut Trial<'_>,
        place: &Place,
        resource: Resource,
        percent: u32,
    ) -> Result<()> {
        let taken = match resource {
            Resource::Cpu => {
                self.co_runners = cpu::co_runners(place, percent)?;
                self.on_program = true;
                return Ok(());
            }
            Resource::Memory => {
                self.co_runners = memory::streamers(trial, place, percent)?;
                self.lost(place, memory::near(place)?, memory::stream, memory::own_walk)?
            }
            Resource::Cache => {
                let bytes = memory::shared_cache(place)?;
                self.co_runners = memory::walkers(trial, place, percent, bytes)?;
                let walk = || memory::walk(bytes / 2);
                self.lost(place, memory::near(place)?, walk, memory::own_walk)?
            }
            Resource::Storage => {
                self.co_runners = storage::writers(trial, place, percent)?;
                self.lost(place, Vec::new(), storage::requests, cpu::compute)?
            }
            Resource::Queue => {
                self.co_runners = queue::wakers(place, percent)?;
                self.on_program = true;
                self.lost(place, Vec::new(), queue::hand_over, cpu::compute)?
            }
            Resource::Timer => {
                let slack_ns = timer::slack_ns(percent);
                self.timer_slack_ns = Some(slack_ns);
                trial.observe("timer_slack_ns", slack_ns);
                timer::lost(place, slack_ns)?
            }
        };
        self.taken = Some(taken);
        Ok(())
    }

    /// Returns what `reference` loses to the co-runners compared with those of `instead`, and notes what one
    /// loses that needs nothing but its CPU.
    fn lost<W, C>(
        &mut self,
        place: &Place,
        instead: Vec<CoRunner>,
        reference: impl FnOnce() -> Result<W> + Send,
        computing: impl FnOnce() -> Result<C> + Send,
    ) -> Result<f64>
    where
        W: FnMut() -> Result<u64>,
        C: FnMut() -> Result<u64>,
    {
        let both = (&self.co_runners[..], &instead[..]);
        self.cpu_lost = Some(reference_program::lost(both, place, computing)?);
        reference_program::lost(both, place, reference)
    }

    /// How late the program's sleeps may end; `None` where that is left as it is.
    pub(crate) fn timer_slack_ns(&self) -> Option<u64> {
        self.timer_slack_ns
    }

    /// Begins to take it.
    pub(crate) fn begin(&mut self) {
        if self.squeeze != Squeeze::Nothing {
            self.co_runners.iter().for_each(CoRunner::go);
        }
        self.began_ns = sys::clock::now_ns();
    }

    /// Ends the co-runners and records how much was taken.
    ///
    /// # Errors
    /// A co-runner that failed: then nobody knows what was taken.
    pub(crate) fn end(&mut self, trial: &mut Trial<'_>) -> Result<()> {
        let elapsed_ns = sys::clock::now_ns().saturating_sub(self.began_ns).max(1);
        let mut all = Done::default();
        for co_runner in self.co_runners.drain(..) {
            all = all.plus(co_runner.end()?);
        }
        let whole_ns = elapsed_ns as f64 * self.cpus.max(1) as f64;
        let of_cpus = if self.on_program { all.cpu_ns as f64 / whole_ns } else { 0.0 };
        let taken = match self.squeeze {
            Squeeze::Take(Resource::Cpu, _) => Some(of_cpus),
            _ => self.taken,
        };
        let per_s = all.units as f64 * 1e9 / elapsed_ns as f64;
        let rounded = |number: f64| number.round() as i64;
        if let Some(taken) = taken {
            trial.record_one(responses::TAKEN, rounded(taken * 1e6));
        }
        if let Some(lost) = self.cpu_lost {
            trial.record_one(responses::CPU_LOST, rounded(lost * 1e6));
        }
        trial.record_one(responses::DONE, rounded(per_s));
        trial.record_one(responses::CO_RUNNER_CPU, rounded(of_cpus * 1e6));
        Ok(())
    }
}
