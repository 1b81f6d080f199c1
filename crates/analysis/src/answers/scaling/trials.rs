//! From records to what scaling needs of a trial.

use crate::session::sample::observations;
use model::measures::{THREADS, THROTTLED};
use model::{Outcome, Record, Treatment, Waits};
use model::{
    SCALE_COPIES as COPIES, SCALE_PLACEMENT as PLACEMENT, SCALE_WORK as WORK,
    SCALE_WORKERS as WORKERS,
};

/// What is known of one trial of a program that was asked to use n workers. Times in ns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScaleTrial {
    /// How many workers it was asked to use.
    pub n: f64,
    /// How many copies of it ran at once, with this number of workers each.
    pub copies: u32,
    /// It ran on one CPU of several.
    pub one_cpu: bool,
    /// The block that it belongs to.
    pub block: u32,
    /// How much work it did; 1 where the whole command is the work.
    pub work: f64,
    /// Elapsed time.
    pub wall_ns: f64,
    /// CPU time of all that came of it, and of the programs that worked for it.
    pub cpu_ns: Option<f64>,
    /// The part of it that was spent in the kernel.
    pub system_ns: Option<f64>,
    /// Time its threads were ready to run and waited for a CPU.
    pub waiting_ns: Option<f64>,
    /// Time its workers neither ran nor waited for a CPU, nor for programs that ran for them.
    pub blocked_ns: Option<f64>,
    /// Time in which there were fewer workers than n.
    pub absent_ns: Option<f64>,
    /// Time for which a quota held it back, over all CPUs.
    pub throttled_ns: Option<f64>,
    /// Switches because it waited.
    pub voluntary: Option<f64>,
    /// Switches because its time slice was over or somebody else came first.
    pub involuntary: Option<f64>,
    /// CPU time that others used meanwhile.
    pub foreign_ns: Option<f64>,
    /// CPU time that the hypervisor gave to others meanwhile.
    pub steal_ns: Option<f64>,
    /// The most threads at once that looks found.
    pub threads: Option<f64>,
    /// What its threads waited for, where somebody looked.
    pub waits: Option<Box<Waits>>,
}

impl ScaleTrial {
    /// Returns a trial of which its throughput alone is known, in work per second.
    pub fn of_throughput(n: f64, throughput: f64, block: u32) -> Self {
        ScaleTrial {
            n,
            copies: 1,
            block,
            work: 1.0,
            wall_ns: 1e9 / throughput,
            ..ScaleTrial::default()
        }
    }

    /// Returns the work per second; `None` where either is not above 0.
    pub fn throughput(&self) -> Option<f64> {
        rate(self.work, self.wall_ns)
    }

    /// Returns the work per second of CPU time.
    pub fn cpu_throughput(&self) -> Option<f64> {
        rate(self.work, self.cpu_ns?)
    }

    /// Returns the CPU time per unit of work, in ns.
    pub(crate) fn cpu_each_ns(&self) -> Option<f64> {
        Some(self.cpu_ns? / self.work)
    }

    /// Returns a time of it per unit of work.
    pub(crate) fn each(&self, time: Option<f64>) -> Option<f64> {
        Some(time? / self.work)
    }
}

fn rate(work: f64, time_ns: f64) -> Option<f64> {
    let rate = work / (time_ns / 1e9);
    (work > 0.0 && time_ns > 0.0 && rate.is_finite()).then_some(rate)
}

/// Returns the completed trials of a session. `counted` is whether the program tells its work; a trial
/// that then printed none, or not above 0, is left out.
pub fn trials<'a>(records: impl IntoIterator<Item = &'a Record>, counted: bool) -> Vec<ScaleTrial> {
    records.into_iter().filter_map(|record| trial(record, counted)).collect()
}

/// Reports whether a treatment keeps the program to one CPU, to confirm a cause.
pub fn is_on_one_cpu(treatment: &Treatment) -> bool {
    treatment.level(PLACEMENT).is_some_and(|level| level == "one")
}

fn trial(record: &Record, counted: bool) -> Option<ScaleTrial> {
    let (Outcome::Completed { .. }, Some(measured)) = (&record.outcome, &record.measured) else {
        return None;
    };
    let number = |factor: &str| record.treatment.level(factor)?.parse::<f64>().ok();
    let of = |response: &str| observations(record, response).first().copied();
    let n = number(WORKERS).filter(|n| *n >= 1.0)?;
    let copies = number(COPIES).unwrap_or(1.0).clamp(1.0, 1e6) as u32;
    let described = if counted { of(WORK).filter(|work| *work > 0.0)? } else { 1.0 };
    let machine = &record.machine;
    let waits = measured.waits.clone();
    let peers_ns = waits.as_deref().map_or(0, Waits::peers_ns) as f64;
    let float = |value: Option<u64>| value.map(|value| value as f64);
    let wall_ns = of("wall_ns").filter(|ns| *ns > 0.0)?;
    // What the machine did is known over the trial's whole life, which is longer.
    let meanwhile = (wall_ns / record.total_ns.max(1) as f64).min(1.0);
    let beside = |value: Option<u64>| Some(float(value)? * meanwhile);
    // A quota on the session also holds its programs back.
    let throttled = [of(THROTTLED), beside(machine.throttled_ns)];
    Some(ScaleTrial {
        n,
        copies,
        one_cpu: is_on_one_cpu(&record.treatment),
        block: record.block,
        // Each copy does what one alone does.
        work: described * f64::from(copies),
        wall_ns,
        cpu_ns: of("cpu_ns").filter(|ns| *ns > 0.0).map(|ns| ns + peers_ns),
        system_ns: float(measured.counters.system_ns),
        waiting_ns: of("queue_wait_ns"),
        blocked_ns: of("blocked_ns").map(|ns| (ns - peers_ns).max(0.0)),
        absent_ns: of("absent_ns"),
        throttled_ns: throttled.into_iter().flatten().reduce(f64::max),
        voluntary: of("voluntary_switches_count"),
        involuntary: of("involuntary_switches_count"),
        foreign_ns: beside(machine.foreign_cpu_ns),
        steal_ns: beside(machine.steal_ns),
        threads: of(THREADS),
        waits,
    })
}
