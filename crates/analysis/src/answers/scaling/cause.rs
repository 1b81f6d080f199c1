//! Why a program does not scale further: what the account of its workers' time speaks for.
//!
//! Within the CPUs (at the largest n that is no more than there are) the largest part of what was
//! lost decides which rule is asked; beyond them there is one question more ([`beyond`]).

use super::account::share;
use super::evidence::Signs;
use super::level::{Level, chosen, ratio};
use super::trials::ScaleTrial;
use super::words::{figure, percent, percent_of, time, with_interval};
use model::{
    Bottleneck, Estimate, Grade, ScaleAccount, ScaleCause, ScaleCurve, ScaleLevel, ScaleLoss,
};
use serde::Deserialize;
use std::sync::LazyLock;

/// A wait that takes this long at a time is no lock's: it is a hundred times what it costs to put a
/// thread to sleep and to wake it, so that a wait this long is a phase of work.
const LOCK_NS_MAX: f64 = 1e6;

/// What explains more than half of something is named for it.
const MOST: f64 = 0.5;

/// Where a spinning lock's holder loses its CPU, all others burn theirs until it is back; where
/// memory is short, no more workers run at a time than before. So CPU time that is more than twice
/// as much above one worker's when there are more workers than CPUs speaks for spinning.
const CROWDED: f64 = 2.0;

/// A bottleneck with a sentence and a remedy. `{}` in either stands for the one number that the finding
/// has.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    cause: Bottleneck,
    sentence: String,
    #[serde(default)]
    remedy: String,
}

impl Row {
    /// Returns a cause as it is shown.
    fn cause(
        &self,
        number: &str,
        (at, lost): (f64, Option<Estimate>),
        grade: Grade,
        evidence: Vec<String>,
    ) -> ScaleCause {
        let [sentence, remedy] = [&self.sentence, &self.remedy].map(|it| it.replace("{}", number));
        ScaleCause { cause: self.cause, at, lost, grade, sentence, evidence, remedy }
    }
}

/// All causes, by their names in `causes.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rows {
    /// The remedy where only throughput is known.
    shape: String,
    mutex: Row,
    quota: Row,
    neighbour: Row,
    guests: Row,
    confined: Row,
    serial: Row,
    kernel: Row,
    hardware: Row,
    spinning: Row,
    spinning_or_hardware: Row,
    unknown: Row,
    nothing: Row,
    cpus: Row,
    turns: Row,
    falls: Row,
    flat: Row,
    pairs: Row,
    one_at_a_time: Row,
    no_shape: Row,
}

/// The file as read; a test reads it.
static ROWS: LazyLock<Rows> = LazyLock::new(|| {
    toml::from_str(include_str!("causes.toml")).unwrap_or_else(|error| unreachable!("{error}"))
});

/// A loss below this share of the workers' time is not looked into: an account of looks some
/// milliseconds apart, beside neighbours that nobody sees, is not finer.
const NOTABLE: f64 = 0.05;

/// All that is known.
pub(super) struct Case<'a> {
    pub(super) levels: &'a [Level<'a>],
    pub(super) described: &'a [ScaleLevel],
    pub(super) cpus: Option<u32>,
    /// Trials of several copies at once.
    pub(super) copies: Vec<&'a ScaleTrial>,
    pub(super) curve: &'a ScaleCurve,
}

/// A level as measured and as shown.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    pub(super) level: &'a Level<'a>,
    pub(super) described: &'a ScaleLevel,
}

impl<'a> Case<'a> {
    fn at(&self, place: usize) -> At<'a> {
        At { level: &self.levels[place], described: &self.described[place] }
    }

    /// Returns one worker.
    pub(super) fn one(&self) -> Option<At<'a>> {
        let place = self.levels.iter().position(|level| level.n == 1.0)?;
        Some(self.at(place))
    }

    /// Returns the most workers that all have a CPU.
    pub(super) fn within(&self) -> Option<At<'a>> {
        let cpus = f64::from(self.cpus?);
        let place = self.levels.iter().rposition(|level| level.n > 1.0 && level.n <= cpus)?;
        Some(self.at(place))
    }

    /// Returns the most workers of all, if they are more than the CPUs.
    pub(super) fn most(&self) -> Option<At<'a>> {
        let cpus = f64::from(self.cpus?);
        let place = self.levels.iter().rposition(|level| level.n > cpus.max(1.0))?;
        Some(self.at(place))
    }
}

/// Returns the causes, the first being that of the loss within the CPUs.
pub(super) fn causes(case: &Case<'_>) -> Vec<ScaleCause> {
    let measured = case.described.iter().any(|level| level.account.is_some());
    let (Some(one), true) = (case.one(), measured) else { return vec![by_law(case)] };
    let within = case.within().map(|at| within(case, one, at));
    let found = within.filter(|cause| cause.cause != Bottleneck::Nothing);
    let beyond = beyond(case, one, found.as_ref());
    let mut causes: Vec<ScaleCause> = found.into_iter().chain(beyond).collect();
    if causes.is_empty() {
        causes.push(nothing(case));
    }
    causes
}

fn within(case: &Case<'_>, one: At<'_>, at: At<'_>) -> ScaleCause {
    let lost = lost(at.described).filter(|lost| lost.point >= NOTABLE && lost.low > 0.0);
    let Some(lost) = lost else { return nothing(case) };
    let unknown =
        |evidence| ROWS.unknown.cause("", (at.described.n, Some(lost)), Grade::Timing, evidence);
    let (Some(account), Some(alone)) = (&at.described.account, &one.described.account) else {
        return unknown(Vec::new());
    };
    let beyond_one = |into: ScaleLoss| share(account, into) - share(alone, into);
    let idle = beyond_one(ScaleLoss::Blocked) + beyond_one(ScaleLoss::Absent);
    let parts = [
        (ScaleLoss::MoreCpu, share(account, ScaleLoss::MoreCpu)),
        // A quota holds one worker back, too: then nothing of it is new.
        (ScaleLoss::Throttled, share(account, ScaleLoss::Throttled)),
        (ScaleLoss::Waiting, beyond_one(ScaleLoss::Waiting)),
        (ScaleLoss::Blocked, idle),
        (ScaleLoss::OffCpu, beyond_one(ScaleLoss::OffCpu)),
        // One worker's time that was counted twice explains nothing of what n lack.
        (ScaleLoss::Rest, share(account, ScaleLoss::Rest) - share(alone, ScaleLoss::Rest).max(0.0)),
    ];
    let signs = Signs::of(one.level, at.level, case.cpus);
    let mut search = Search { case, one, at, account, signs, evidence: Vec::new() };
    search.evidence.push(format!(
        "{} of the time of {} workers is lost: the speedup is {}",
        percent_of(&lost),
        figure(at.described.n),
        at.described.speedup.as_ref().map(with_interval).unwrap_or_default(),
    ));
    let Some((into, row)) = search.decide(parts) else { return unknown(search.evidence) };
    let grade = if into == ScaleLoss::OffCpu { Grade::Timing } else { Grade::Software };
    row.cause("", (at.described.n, Some(lost)), grade, search.evidence)
}

/// The search for what the time of n workers went into, and the numbers found on the way.
struct Search<'a> {
    case: &'a Case<'a>,
    one: At<'a>,
    at: At<'a>,
    account: &'a ScaleAccount,
    signs: Signs,
    evidence: Vec<String>,
}

impl Search<'_> {
    /// Returns the rule of the largest part. What neighbours took says nothing of the program: where it
    /// lost something else as well, that is its cause.
    fn decide(&mut self, mut parts: [(ScaleLoss, f64); 6]) -> Option<(ScaleLoss, &'static Row)> {
        parts.sort_by(|a, b| b.1.total_cmp(&a.1));
        let mut of_others = None;
        for (into, share) in parts {
            if of_others.is_some() && share < NOTABLE {
                break;
            }
            self.evidence.push(format!("{} of it: {}", percent(share), super::words::loss(into)));
            let row = match into {
                ScaleLoss::Throttled => self.quota(),
                _ if self.signs.lost_each_ns.is_some_and(|ns| ns < LOCK_NS_MAX) => self.sleeping(),
                ScaleLoss::Waiting => self.waiting(),
                ScaleLoss::OffCpu if self.signs.is_crowded() => self.crowded(share),
                ScaleLoss::MoreCpu => self.more_cpu(),
                ScaleLoss::Blocked | ScaleLoss::OffCpu => self.idle_workers(into),
                _ => return of_others,
            };
            let may_be_others = matches!(into, ScaleLoss::Waiting | ScaleLoss::OffCpu);
            if !may_be_others || row.cause != Bottleneck::Neighbour {
                return Some((into, row));
            }
            of_others = Some((into, row));
        }
        of_others
    }

    fn quota(&mut self) -> &'static Row {
        self.evidence.push(format!(
            "the quota throttled the program for {} of the elapsed time, summed over CPUs",
            percent(self.signs.throttled)
        ));
        &ROWS.quota
    }

    /// Finds that every so little that is lost, a worker went to sleep: whether the time is that of
    /// sleeping, of waiting for a CPU after it was woken, or of the kernel's work for both.
    fn sleeping(&mut self) -> &'static Row {
        self.evidence.push(format!(
            "{} more sleeps than with one worker, one per {} of lost time",
            figure(self.signs.more_switches),
            time(self.signs.lost_each_ns.unwrap_or_default())
        ));
        &ROWS.mutex
    }

    fn waiting(&mut self) -> &'static Row {
        self.evidence.push(format!(
            "other programs used {} of the CPUs; workers waited for a CPU for {} of the elapsed time",
            percent(self.signs.foreign + self.signs.steal),
            percent(self.signs.waiting.unwrap_or_default())
        ));
        self.others_or_crowd(self.signs.waiting.unwrap_or(f64::INFINITY))
    }

    /// Finds as [`Search::waiting`], of a program that was too short-lived to be looked at: it lost
    /// `share` of its workers' time, and its threads lost their CPUs to others that were ready.
    fn crowded(&mut self, share: f64) -> &'static Row {
        self.evidence.push(format!(
            "threads are preempted {} times per second more than with one worker; other programs \
             used {} of the CPUs",
            figure(self.signs.preempted_per_s),
            percent(self.signs.foreign + self.signs.steal)
        ));
        self.others_or_crowd(share)
    }

    /// Finds whether others took most of what was `lost`, or the program's own threads one another.
    fn others_or_crowd(&mut self, lost: f64) -> &'static Row {
        let n = self.at.described.n;
        let kept = self.signs.kept_to(n);
        if kept.is_none() && self.signs.foreign + self.signs.steal >= MOST * lost {
            return &ROWS.neighbour;
        }
        self.evidence.extend(kept.map(|kept| {
            let (kept, n) = (figure(kept), figure(n));
            format!(
                "Together, {n} workers use exactly {kept} CPU: an affinity mask or a quota confines \
                 them"
            )
        }));
        &ROWS.confined
    }

    fn idle_workers(&mut self, into: ScaleLoss) -> &'static Row {
        if let Some(ns) = self.signs.blocked_each_ns {
            let (each, switches) = (time(ns), figure(self.signs.more_switches));
            self.evidence.push(format!(
                "a worker blocks for {each} each time ({switches} more switches than with one worker)"
            ));
        }
        let share = |into| share(self.account, into);
        if share(ScaleLoss::Absent) > share(ScaleLoss::Blocked) {
            self.evidence.push("during most of it, there were fewer workers than n".into());
        }
        if into == ScaleLoss::OffCpu {
            let unseen = "its processes are too short-lived for sampling: blocked, absent and waiting \
                          for a CPU are one part";
            self.evidence.push(unseen.into());
        }
        &ROWS.serial
    }

    fn more_cpu(&mut self) -> &'static Row {
        let (n, growth) = (self.at.described.n, self.signs.cpu_growth);
        self.evidence.push(format!(
            "CPU time per operation is {} higher with {} workers than with one, {} of that in the \
             kernel",
            percent(growth),
            figure(n),
            percent(self.signs.system_share)
        ));
        if self.signs.steal * n >= MOST * growth {
            let guests = "the hypervisor gave that amount of CPU time to other guests";
            self.evidence.push(guests.into());
            return &ROWS.guests;
        }
        if self.signs.system_share >= MOST {
            return &ROWS.kernel;
        }
        if let Some(row) = self.by_copies().or_else(|| self.by_crowd()) {
            return row;
        }
        let alike = "without --copies the two cannot be distinguished: it runs separate copies with \
                     one worker each at the same time";
        self.evidence.push(alike.into());
        &ROWS.spinning_or_hardware
    }

    /// Finds what the copies say: separate copies share the hardware and nothing of the program: what
    /// they also lose is the hardware's.
    fn by_copies(&mut self) -> Option<&'static Row> {
        let copies = &self.case.copies;
        let each: Vec<f64> = copies.iter().filter_map(|trial| trial.cpu_each_ns()).collect();
        let alone = self.one.level.values(ScaleTrial::cpu_each_ns);
        let apart = ratio(&each, &alone)?.point - 1.0;
        self.evidence.push(format!(
            "{} separate copies of one worker each need {} more CPU time each than one alone; {} \
             workers of one program need {} more",
            copies.first()?.copies,
            percent(apart),
            figure(self.at.described.n),
            percent(self.signs.cpu_growth)
        ));
        let is_shared = apart >= MOST * self.signs.cpu_growth;
        Some(if is_shared { &ROWS.hardware } else { &ROWS.spinning })
    }

    /// Finds whether CPU time that grew within the CPUs grows much further beyond them.
    fn by_crowd(&mut self) -> Option<&'static Row> {
        let (most, within) = (self.case.most()?, self.case.within()?);
        let of = |level: &Level<'_>| level.values(ScaleTrial::cpu_each_ns);
        let beyond = ratio(&of(most.level), &of(self.one.level))?.point - 1.0;
        let is_far = most.described.n >= 2.0 * within.described.n;
        if !is_far || beyond < CROWDED * self.signs.cpu_growth {
            return None;
        }
        self.evidence.push(format!(
            "with {} workers, more than the CPUs, it is {} higher: workers spin while the worker that \
             they wait for has no CPU",
            figure(most.described.n),
            percent(beyond)
        ));
        Some(&ROWS.spinning)
    }
}

/// Returns the cause beyond the CPUs, if there were more workers than them and it cost something.
///
/// A program that rises on beyond the CPUs waits for something else than them, and one that a
/// quota, neighbours or a crowd on too few CPUs stopped before it ran out of CPUs has no cause here.
fn beyond(case: &Case<'_>, one: At<'_>, found: Option<&ScaleCause>) -> Option<ScaleCause> {
    let most = case.most()?;
    let before = case.within().unwrap_or(one);
    let short = [Bottleneck::Quota, Bottleneck::Neighbour, Bottleneck::Oversubscribed];
    if found.is_some_and(|cause| short.contains(&cause.cause)) {
        return None;
    }
    let values = |at: At<'_>| at.level.values(ScaleTrial::throughput);
    let change = ratio(&values(most), &values(before))?;
    if change.low > 1.0 && change.point > 1.0 + NOTABLE {
        return None;
    }
    let cpus = case.cpus.unwrap_or(1);
    let falls = change.high < 1.0 && change.point < 1.0 - NOTABLE;
    let evidence = vec![format!(
        "throughput of {} workers is {} times that of {} (there {} {cpus} CPU{})",
        figure(most.described.n),
        with_interval(&change),
        figure(before.described.n),
        if cpus == 1 { "is" } else { "are" },
        if cpus == 1 { "" } else { "s" },
    )];
    // With a single CPU, every second worker is one too many.
    let (row, number) = match (falls, cpus) {
        (true, _) => (&ROWS.falls, percent_of(&change.map(|times| times - 1.0))),
        (false, 1) => (&ROWS.turns, String::new()),
        _ => (&ROWS.cpus, cpus.to_string()),
    };
    let at = (most.described.n, lost(most.described));
    Some(row.cause(&number, at, Grade::Software, evidence))
}

/// Returns what n workers lack of n times one worker, as a share of it.
fn lost(described: &ScaleLevel) -> Option<Estimate> {
    let speedup = described.speedup?;
    let of = |speedup: f64| 1.0 - speedup / described.n;
    let (low, high) = (of(speedup.high), of(speedup.low));
    Some(Estimate { point: of(speedup.point), low, high, ..speedup })
}

/// Returns the most workers measured, and what they lack.
fn last(case: &Case<'_>) -> (f64, Option<Estimate>) {
    let n = case.levels.last().map_or(1.0, |level| level.n);
    (n, case.described.last().and_then(lost))
}

fn nothing(case: &Case<'_>) -> ScaleCause {
    let last = last(case);
    ROWS.nothing.cause(&figure(last.0), last, Grade::Software, Vec::new())
}

/// Returns what the chosen law says where nothing but throughput is known: a shape, which several causes
/// have.
fn by_law(case: &Case<'_>) -> ScaleCause {
    let (last, fit, reason) = (last(case), chosen(case.curve), &case.curve.reason);
    let above = |symbol: &str| {
        let mut all = fit.iter().flat_map(|fit| &fit.coefficients);
        all.any(|one| one.symbol == symbol && one.low > 0.0)
    };
    let row = match fit.map_or("", |fit| &fit.law) {
        "linear" => &ROWS.nothing,
        "kink" | "kink with contention" => &ROWS.flat,
        _ if above("β") => &ROWS.pairs,
        _ if above("α") || above("s") => &ROWS.one_at_a_time,
        _ => &ROWS.no_shape,
    };
    let law = if fit.is_some() { "the law: " } else { "" };
    let cause = row.cause(&figure(last.0), last, Grade::Timing, vec![format!("{law}{reason}")]);
    ScaleCause { remedy: ROWS.shape.clone(), ..cause }
}

#[cfg(test)]
mod tests {
    use super::ROWS;

    #[test]
    fn the_file_of_causes_is_read() {
        assert!(ROWS.nothing.sentence.contains("{}") && ROWS.flat.remedy.is_empty());
        assert!(!format!("{:?}", *ROWS).contains("  "));
    }
}
