//! What the machine did beside the trials, over the whole session.

use crate::session::disturbance::throttled_of_its_own_ns;
use crate::session::harness::share;
use crate::session::input::Input;
use crate::session::outcomes::tag_counts;
use crate::session::tags::{Tag, Tagger, calibration};
use crate::stats::order::{median, quantile, sorted};
use model::measures::QUOTA_ENTERED;
use model::{Environment, Meter, Record, ShieldReport, Surroundings};

/// The clock changed when the last third of the trials ran by this share faster or slower than the
/// first: an order of magnitude above what an undisturbed loop repeats to.
const CLOCK_CHANGED: f64 = 0.03;

/// The clock was unsteady when the slowest tenth of the loops took this share longer than the
/// fastest.
const CLOCK_UNSTEADY: f64 = 0.10;

/// This number of trials with a calibration makes thirds that can be compared.
const TRIALS_IN_THIRDS: usize = 9;

/// Less time stolen than this share is not worth a sentence: the kernel counts it in steps of 10 ms.
const STEAL_TOLD: f64 = 0.001;

/// The slowest and the fastest tenth.
const TENTH: f64 = 0.1;

pub(crate) fn meter(input: &Input<'_>, tagger: &Tagger) -> Meter {
    let records = input.records;
    let clock = Clock::of(records, tagger);
    let mut meter = Meter {
        tagged: records.iter().filter(|record| tagger.is_tagged(record)).count() as u64,
        tags: tag_counts(tagger, records),
        calibration_ns: clock.calibration_ns,
        calibration_spread: clock.spread,
        steal_share: share(records, |it| Some((it.machine.steal_ns?, it.total_ns))),
        cpu_pressure_share: share(records, |it| wait(it, it.machine.cpu_pressure_ns)),
        throttled_share: share(records, |it| wait(it, it.machine.throttled_ns)),
        conditions: Vec::new(),
        recognised: Vec::new(),
    };
    let quota = quota(input.environment, records, meter.throttled_share);
    let (held, idle) = match meter.throttled_share {
        Some(share) if share > 0.0 => (quota, None),
        _ => (None, quota),
    };
    let inherited = wording::conditions(&input.environment.settings);
    let limits = memory_limits(input.environment);
    let held = held.into_iter().chain(entered(records));
    meter.conditions = held.chain(inherited).chain(limits).collect();
    meter.recognised = [
        idle,
        autogroup(input.environment, input.shield),
        governor(input.environment),
        clock.changed(),
        clock.unsteady(),
        steal(meter.steal_share),
        suspended(records),
        paused(records),
        stood_still(records),
        joined(records),
        hardware_threads(input.environment),
    ]
    .into_iter()
    .flatten()
    .collect();
    meter
}

/// Returns a wait of a trial, no longer than the trial lived, and how long that was: the kernel adds up
/// the CPUs of a group, counts a wait that began before when it ends, and is asked a little earlier and
/// later than the clock.
fn wait(record: &Record, wait_ns: Option<u64>) -> Option<(u64, u64)> {
    Some((wait_ns?.min(record.total_ns), record.total_ns))
}

/// What the calibration loops say of the CPU's clock.
#[derive(Debug, Default)]
struct Clock {
    /// Median of the shorter loop of each trial.
    calibration_ns: Option<f64>,
    /// Slowest tenth of all loops over the fastest, less 1; each loop as a multiple of its ordinary
    /// time on the same CPUs, so that CPUs of two kinds are not a clock that changes.
    spread: Option<f64>,
    /// Last third of the trials over the first, less 1.
    drift: Option<f64>,
}

impl Clock {
    fn of(records: &[Record], tagger: &Tagger) -> Self {
        let mut in_order: Vec<&Record> = records.iter().collect();
        in_order.sort_by_key(|record| record.trial);
        let shorter =
            |record: &&Record| calibration(record).map(|it| it.before_ns.min(it.after_ns));
        let all: Vec<f64> = in_order.iter().filter_map(shorter).map(|ns| ns as f64).collect();
        let times: Vec<[f64; 2]> = in_order.iter().filter_map(|r| tagger.clock(r)).collect();
        let loops = sorted(&times.concat());
        let tenths = quantile(&loops, TENTH).zip(quantile(&loops, 1.0 - TENTH));
        let third = times.len() / 3;
        let centre = |part: &[[f64; 2]]| {
            let shorter: Vec<f64> = part.iter().map(|[a, b]| a.min(*b)).collect();
            median(&shorter)
        };
        let ends = (times.len() >= TRIALS_IN_THIRDS)
            .then(|| centre(&times[..third]).zip(centre(&times[times.len() - third..])))
            .flatten();
        let more = |(low, high): (f64, f64)| (low > 0.0).then(|| high / low - 1.0);
        Clock {
            calibration_ns: median(&all),
            spread: tenths.and_then(more),
            drift: ends.and_then(more),
        }
    }

    fn changed(&self) -> Option<String> {
        let drift = self.drift.filter(|drift| drift.abs() > CLOCK_CHANGED)?;
        let percent = 100.0 * drift.abs();
        let how = if drift > 0.0 { "longer" } else { "less" };
        Some(format!(
            "The CPU's clock changed: in the last third of the trials the same loop took \
             {percent:.1} % {how} than in the first. This hardly affects comparisons within a \
             block, but it does affect absolute values and comparisons with other sessions."
        ))
    }

    fn unsteady(&self) -> Option<String> {
        let spread = self.spread.filter(|spread| *spread > CLOCK_UNSTEADY)?;
        Some(format!(
            "The CPU's clock was unsteady: the slowest tenth of the calibration loops took {:.0} % \
             longer than the fastest. Its frequency changed from trial to trial, or somebody shared \
             the core.",
            100.0 * spread
        ))
    }
}

/// Returns how many trials something happened to, in words; `None` of none.
fn trials_with(records: &[Record], happened: impl Fn(&Surroundings) -> bool) -> Option<String> {
    match records.iter().filter(|record| happened(&record.machine)).count() {
        0 => None,
        1 => Some("1 trial".into()),
        many => Some(format!("{many} trials")),
    }
}

fn suspended(records: &[Record]) -> Option<String> {
    let trials = trials_with(records, |machine| machine.suspended_ms > 0)?;
    let whole_ms: u64 = records.iter().map(|record| u64::from(record.machine.suspended_ms)).sum();
    Some(format!(
        "The machine was suspended, for {:.1} s in all, during {trials}: its clock stood still \
         meanwhile, and the trial went on with cold caches. Such trials are tagged.",
        whole_ms as f64 / 1e3
    ))
}

fn paused(records: &[Record]) -> Option<String> {
    let trials = trials_with(records, |machine| machine.runner_pauses > 0)?;
    Some(format!(
        "scruple itself was stopped and continued (SIGSTOP, Ctrl-Z) during {trials}: its own clock \
         counts the pause. What trials measured does not, unless they are tagged as paused."
    ))
}

fn stood_still(records: &[Record]) -> Option<String> {
    let trials = trials_with(records, |machine| machine.trial_pauses > 0)?;
    let them = if trials == "1 trial" { "It is" } else { "They are" };
    Some(format!(
        "{trials} stood still for a while: stopped (SIGSTOP), or frozen with a cgroup or a container. \
         The times that were measured include the pause. {them} tagged."
    ))
}

fn joined(records: &[Record]) -> Option<String> {
    let trials = trials_with(records, |machine| machine.other_sessions > 0)?;
    Some(format!(
        "Another scruple session measured on the same CPUs during {trials}: the times of both include \
         the interference. Measure one after the other, or give each session its own CPUs (--affinity)."
    ))
}

fn quota(environment: &Environment, records: &[Record], share: Option<f64>) -> Option<String> {
    let held = records.iter().filter(|record| Tag::Throttled.of(record) == Some(true)).count();
    let quota = environment.settings.get("cpu_quota");
    if quota.is_none() && held == 0 {
        return None;
    }
    let limit = quota.map_or(String::new(), |quota| format!(" to {quota}"));
    let effect = match (held, share) {
        (0, None) => "the kernel does not tell whether it throttled trials".to_string(),
        (0, Some(_)) => "it throttled no trial".to_string(),
        (held, share) => format!(
            "it throttled {held} of {} trials, for {:.1} % of their time in all. Raise cpu.max or \
             cpu.cfs_quota_us of its cgroup",
            records.len(),
            100.0 * share.unwrap_or(0.0)
        ),
    };
    Some(format!("A quota limits CPU time{limit}: {effect}."))
}

/// Says what quotas did of cgroups that programs entered themselves.
fn entered(records: &[Record]) -> Option<String> {
    let held = records.iter().filter_map(|one| Some((one, one.observed.get(QUOTA_ENTERED)?)));
    let held: Vec<_> = held.collect();
    let (_, quota) = held.first()?;
    let walls = held.iter().filter_map(|(one, _)| Some(one.measured.as_ref()?.counters.wall_ns));
    let taken = held.iter().map(|(one, _)| throttled_of_its_own_ns(one));
    let share = 100.0 * taken.sum::<f64>() / walls.sum::<u64>().max(1) as f64;
    Some(format!(
        "A cgroup that the program enters limits its CPU time to {quota}: the quota throttled {} of {} \
         trials, for {share:.0} % of the elapsed time, summed over CPUs. Raise cpu.max or \
         cpu.cfs_quota_us of that cgroup.",
        held.len(),
        records.len(),
    ))
}

/// The limits on memory that the session has inherited, by the name under which they are recorded.
const MEMORY_LIMITS: [(&str, &str); 3] = [
    ("limit_memory_cgroup", "A memory cgroup limits this session"),
    ("limit_address_space", "RLIMIT_AS (ulimit -v) limits the address space of each process"),
    ("limit_data", "RLIMIT_DATA (ulimit -d) limits the data of each process"),
];

fn memory_limits(environment: &Environment) -> impl Iterator<Item = String> {
    MEMORY_LIMITS.into_iter().filter_map(|(name, what)| {
        let limit = environment.settings.get(name)?;
        Some(format!("{what} to {limit}: treatments that need more are unsupported."))
    })
}

/// Niceness as the only means of the shield says nothing to processes of another session, where the
/// kernel groups tasks by session: it weighs the groups against each other first (sched(7), "The
/// autogroup feature").
fn autogroup(environment: &Environment, shield: &ShieldReport) -> Option<String> {
    let is_on = environment.settings.get("autogroup").is_some_and(|value| value == "1");
    let is_niceness = |means: &String| means.starts_with("nice");
    let only = !shield.means.is_empty() && shield.means.iter().all(is_niceness);
    (is_on && only).then(|| {
        "Niceness is the only shield here and autogroup is on: it acts within this login session \
         alone, and neighbours from other sessions compete as if there were no shield. Allow a \
         cgroup with CPU weight, or set kernel.sched_autogroup_enabled to 0."
            .to_string()
    })
}

fn governor(environment: &Environment) -> Option<String> {
    let governor = environment.settings.get("governor").filter(|name| *name != "performance")?;
    let driver = environment.settings.get("frequency_driver");
    let by = driver.map_or(String::new(), |driver| format!(" (driver {driver})"));
    Some(format!(
        "The frequency governor is {governor}{by}: the clock may follow the load. The calibration \
         loop tells whether it did; the governor performance keeps it up."
    ))
}

fn steal(share: Option<f64>) -> Option<String> {
    let share = share.filter(|share| *share >= STEAL_TOLD)?;
    Some(format!(
        "The hypervisor gave {:.1} % of the time of the trials, as of one CPU, to other machines \
         (steal).",
        100.0 * share
    ))
}

fn hardware_threads(environment: &Environment) -> Option<String> {
    let threads = environment.threads_per_core;
    (threads > 1).then(|| {
        format!(
            "A core runs {threads} hardware threads (SMT): a neighbour on the same core slows a \
             trial without taking its CPU, which no count of this session shows."
        )
    })
}

#[cfg(test)]
mod tests;
