//! Why a program does not scale further: what the account of its workers' time speaks for.
//!
//! Within the CPUs (at the largest n that is no more than there are) the largest part of what was
//! lost decides which rule is asked; beyond them there is one question more ([`beyond`]).

use super::account::share;
use super::case::{At, Case, last, lost};
use super::evidence::Signs;
use super::held::Held;
use super::level::{NOTABLE, ratio};
use super::repeated::{ignored, repeated};
use super::rows::{Found, ROWS, Row};
use super::shape::by_shape;
use super::trials::ScaleTrial;
use super::words::{figure, percent, percent_of, time, with_interval};
use model::{Bottleneck, Founding, ScaleAccount, ScaleCause, ScaleLevel, ScaleLoss};

/// A wait that takes this long at a time is no lock's: it is a hundred times what it costs to put a
/// thread to sleep and to wake it, so that a wait this long is a phase of work.
const LOCK_NS_MAX: f64 = 1e6;

/// What explains more than half of something is named for it.
pub(super) const MOST: f64 = 0.5;

/// No part below this share of the workers' time is a cause.
const FLOOR: f64 = NOTABLE / 2.0;

/// A fall of throughput is explained by CPU time per operation if it is no larger, to this part of the throughput.
const CPU_EXPLAINS: f64 = 0.15;

/// Throughput that may rise by more than this is not said to stay.
const CANNOT_TELL: f64 = 1.25;

/// CPUs used for less than this share of the time are not what a program lacks.
const BUSY: f64 = 0.8;

/// A program that uses this number of CPUs with one worker has more threads than that one.
const MANY_CPUS: f64 = 1.25;

/// CPUs used for at least this share of the time are all in use.
const FULL: f64 = 0.95;

/// Workers within the CPUs that surely lose this part of their time have another limit than CPUs.
const STOPPED: f64 = 0.25;

/// A speedup that is surely this part above n is more than what n workers give.
const SUPERLINEAR: f64 = 0.1;

/// Workers that are asleep or absent for more than this share of their time mostly are.
const MOSTLY: f64 = 0.5;

/// Returns the causes, the first being that of the loss within the CPUs.
pub(super) fn causes(case: &Case<'_>) -> Vec<ScaleCause> {
    let is_known = |level: &ScaleLevel| level.account.is_some();
    let measured = case.cpus.is_some() && case.described.iter().any(is_known);
    let (Some(one), true) = (case.one(), measured) else { return vec![by_shape(case)] };
    if let Some(ignored) = ignored(case, one) {
        return vec![ignored];
    }
    let within = case.within().map(|at| within(case, one, at));
    let found = within.filter(|cause| cause.cause != Bottleneck::Nothing);
    let beyond = beyond(case, one, found.as_ref());
    let mut causes: Vec<ScaleCause> = found.into_iter().chain(beyond).collect();
    if causes.is_empty() {
        causes.push(at_the_end(case, one));
    }
    causes
}

/// Returns what the most workers lose that rise on to them.
fn at_the_end(case: &Case<'_>, one: At<'_>) -> ScaleCause {
    let (n, lost) = last(case);
    let Some(loss) = lost.filter(|lost| lost.point >= NOTABLE) else { return nothing(case) };
    let most = case.most().filter(|_| loss.low > 0.0);
    match most.zip(most.and_then(|most| used(case, one, most))) {
        Some((most, used)) if used < BUSY => {
            let own = own_used(case, one, most).unwrap_or(used);
            let found = idle_cpus(case, one, most, own, Vec::new());
            found.unwrap_or_else(|evidence| {
                ROWS.unknown.cause("", (n, lost), Founding::Suspected, evidence)
            })
        }
        Some(_) => ROWS.unknown.cause("", (n, lost), Founding::Suspected, Vec::new()),
        None => ROWS.unclear.cause(&figure(n), (n, lost), Founding::Suspected, Vec::new()),
    }
}

/// Returns the share of the CPUs that was used at a level, by others too.
fn used(case: &Case<'_>, one: At<'_>, at: At<'_>) -> Option<f64> {
    let signs = Signs::of(one.level, at.level, case.cpus);
    Some(own_used(case, one, at)? + signs.foreign + signs.steal)
}

/// Returns the share of the CPUs that the program itself used at a level.
fn own_used(case: &Case<'_>, one: At<'_>, at: At<'_>) -> Option<f64> {
    Some(Signs::of(one.level, at.level, case.cpus).used? / f64::from(case.cpus?))
}

fn within(case: &Case<'_>, one: At<'_>, at: At<'_>) -> ScaleCause {
    let Some(lost) = lost(at.described).filter(|lost| lost.point >= NOTABLE) else {
        return nothing(case);
    };
    let place = (at.described.n, Some(lost));
    let unknown = |evidence| ROWS.unknown.cause("", place, Founding::Suspected, evidence);
    let (Some(account), Some(alone)) = (&at.described.account, &one.described.account) else {
        return unknown(Vec::new());
    };
    let mut search = Search::new(case, one, at, account);
    search.evidence.push(format!(
        "{} of the time of {} workers is lost: the speedup is {}",
        percent_of(&lost),
        figure(at.described.n),
        at.described.speedup.as_ref().map(with_interval).unwrap_or_default(),
    ));
    let peers = search.held.iter().flat_map(|held| &held.peers);
    let peers = peers.filter(|(_, used)| *used >= NOTABLE);
    let of_peer = |(name, used): &(String, f64)| {
        let used = figure(*used);
        format!("{name}, which is connected to them or named by --with, used {used} CPUs meanwhile")
    };
    let of_peers: Vec<String> = peers.map(of_peer).collect();
    search.evidence.extend(of_peers);
    if lost.low <= 0.0 {
        let number = figure(at.described.n);
        return ROWS.unclear.cause(&number, place, Founding::Suspected, search.evidence);
    }
    if let Some(row) = search.own_threads() {
        return row.cause("", place, Founding::Consistent, search.evidence);
    }
    if let Some(cpus) = search.pinned() {
        return ROWS.pinned.cause(&cpus, place, Founding::Consistent, search.evidence);
    }
    // Per unit of work, so that what one worker also waits explains nothing of what n workers lack.
    let shorter = alone.budget_ns / account.budget_ns;
    let beyond_one = |into: ScaleLoss| share(account, into) - shorter * share(alone, into);
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
    match search.decide(parts) {
        None => unknown(search.evidence),
        Some(found) => found.row.cause(&found.name, place, found.standing, search.evidence),
    }
}

/// The search for what the time of n workers went into, and the numbers found on the way.
pub(super) struct Search<'a> {
    pub(super) case: &'a Case<'a>,
    pub(super) one: At<'a>,
    pub(super) at: At<'a>,
    pub(super) account: &'a ScaleAccount,
    pub(super) signs: Signs,
    /// What was seen of waits at this level.
    pub(super) held: Option<Held>,
    pub(super) evidence: Vec<String>,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        case: &'a Case<'a>,
        one: At<'a>,
        at: At<'a>,
        account: &'a ScaleAccount,
    ) -> Self {
        let signs = Signs::of(one.level, at.level, case.cpus);
        let held = Held::of(at.level);
        Search { case, one, at, account, signs, held, evidence: Vec::new() }
    }

    /// Returns the rule of the largest part. What neighbours took says nothing of the program: where it
    /// lost something else as well, that is its cause.
    fn decide(&mut self, mut parts: [(ScaleLoss, f64); 6]) -> Option<Found> {
        parts.sort_by(|a, b| b.1.total_cmp(&a.1));
        let waited =
            parts.iter().find(|(into, _)| *into == ScaleLoss::Waiting).map_or(0.0, |it| it.1);
        let others = self.signs.foreign + self.signs.steal;
        // A worker that others delay makes those wait that wait for it: as far as others took what it waited for.
        let is_theirs = others >= NOTABLE.max(MOST * waited);
        let passed_on = if is_theirs { waited.max(0.0) } else { 0.0 };
        let mut of_others = None;
        for (into, share) in parts {
            if share < if of_others.is_some() { NOTABLE } else { FLOOR } {
                break;
            }
            self.evidence.push(format!("{} of it: {}", percent(share), super::words::loss(into)));
            // Separate copies suffer from others as the program does: what they tell apart is its own.
            let is_compared = into == ScaleLoss::MoreCpu && !self.case.copies.is_empty();
            let is_own = is_compared
                || into == ScaleLoss::MoreCpu && self.repeats()
                || matches!(into, ScaleLoss::Throttled | ScaleLoss::Waiting | ScaleLoss::OffCpu);
            if !is_own && passed_on >= NOTABLE && share < passed_on + NOTABLE {
                of_others = of_others.or(Some(Found::new(&ROWS.neighbour, Founding::Consistent)));
                continue;
            }
            let is_sleeping = self.signs.lost_each_ns.is_some_and(|ns| ns < LOCK_NS_MAX);
            let found = match into {
                ScaleLoss::Throttled => Some(self.quota()),
                // Many short sleeps make threads ready often: what they sleep for explains it, or nothing does.
                _ if is_sleeping => self.sleeping(into),
                ScaleLoss::Waiting => {
                    self.waiting().map(|row| Found::new(row, Founding::Consistent))
                }
                ScaleLoss::OffCpu if self.signs.is_crowded() => {
                    self.crowded(share).map(|row| Found::new(row, Founding::Suspected))
                }
                ScaleLoss::MoreCpu => self.more_cpu(),
                ScaleLoss::Blocked | ScaleLoss::OffCpu => self.idle_workers(into),
                _ => None,
            };
            let Some(found) = found else { return of_others };
            let may_be_others = matches!(into, ScaleLoss::Waiting | ScaleLoss::OffCpu);
            if !may_be_others || found.row.cause != Bottleneck::Neighbour {
                return Some(found);
            }
            of_others = Some(found);
        }
        of_others
    }

    /// Finds that the program used several CPUs with one worker already, and uses all of them now.
    fn own_threads(&mut self) -> Option<&'static Row> {
        let of_cpus = |trial: &ScaleTrial| Some(trial.cpu_ns? / trial.wall_ns);
        let alone = self.one.level.mean(of_cpus).filter(|used| *used >= MANY_CPUS)?;
        let cpus = f64::from(self.case.cpus?);
        let others = self.signs.foreign + self.signs.steal;
        let waited = self.signs.waiting.unwrap_or_default();
        let is_full =
            self.signs.used? / cpus + others >= FULL && others < NOTABLE.max(MOST * waited);
        is_full.then(|| {
            let (alone, used) = (figure(alone), figure(self.signs.used.unwrap_or_default()));
            let n = figure(self.at.described.n);
            self.evidence.push(format!(
                "with n = 1 the program used {alone} CPUs, with n = {n} it used {used} of {cpus}"
            ));
            &ROWS.own_threads
        })
    }

    /// Reports whether workers on one CPU showed that they repeat work: nobody else makes them use that CPU time.
    fn repeats(&self) -> bool {
        let found = repeated(self.case, self.one, &mut Vec::new());
        found.is_some_and(|found| found.row.cause == Bottleneck::Repeated)
    }

    /// Finds that the threads are pinned to fewer CPUs than there are for them, and wait for these.
    fn pinned(&mut self) -> Option<String> {
        let (allowed, cpus) = (self.held.as_ref()?.cpus?, self.case.cpus?);
        let is_kept = f64::from(allowed) < self.at.described.n.min(f64::from(cpus));
        let waited = share(self.account, ScaleLoss::Waiting);
        let lost = lost(self.at.described)?.point;
        (is_kept && waited >= MOST * lost).then(|| {
            self.evidence.push(format!(
                "{} of the time of its workers went into waiting for a CPU, and {}",
                percent(waited),
                self.taken()
            ));
            format!("{allowed} of {cpus} CPUs")
        })
    }

    fn quota(&mut self) -> Found {
        self.evidence.push(format!(
            "the quota throttled the program for {} of the elapsed time, summed over CPUs",
            percent(self.signs.throttled)
        ));
        Found::new(&ROWS.quota, Founding::Confirmed)
    }

    /// Finds that every so little that is lost, a worker went to sleep: whether the time is that of
    /// sleeping, of waiting for a CPU after it was woken, or of the kernel's work for both. What they slept
    /// for is known by looks alone.
    fn sleeping(&mut self, into: ScaleLoss) -> Option<Found> {
        self.evidence.push(format!(
            "{} more sleeps than with one worker, one per {} of lost time",
            figure(self.signs.more_switches),
            time(self.signs.lost_each_ns.unwrap_or_default())
        ));
        match self.held {
            Some(_) => self.by_waits(into, true),
            None => Some(Found::new(&ROWS.mutex, Founding::Suspected)),
        }
    }

    /// Returns who took CPUs from the program, each with its share.
    fn taken(&self) -> String {
        let programs = format!("other programs used {} of the CPUs", percent(self.signs.foreign));
        match self.signs.steal {
            ..FLOOR => programs,
            steal => format!("{programs} and other machines (steal) {}", percent(steal)),
        }
    }

    fn waiting(&mut self) -> Option<&'static Row> {
        self.evidence.push(format!(
            "{}; workers waited for a CPU for {} of the elapsed time",
            self.taken(),
            percent(self.signs.waiting.unwrap_or_default())
        ));
        self.others_or_crowd(self.signs.waiting.unwrap_or(f64::INFINITY))
    }

    /// Finds as [`Search::waiting`], of a program that was too short-lived to be looked at: it lost
    /// `share` of its workers' time, and its threads lost their CPUs to others that were ready.
    fn crowded(&mut self, share: f64) -> Option<&'static Row> {
        self.evidence.push(format!(
            "threads are preempted {} times per second more than with one worker; {}",
            figure(self.signs.preempted_per_s),
            self.taken()
        ));
        self.others_or_crowd(share)
    }

    /// Finds whether others took most of what was `lost`, or the program's own threads took CPUs from one
    /// another. Threads that were ready while CPUs were idle are not explained.
    fn others_or_crowd(&mut self, lost: f64) -> Option<&'static Row> {
        let n = self.at.described.n;
        let others = self.signs.foreign + self.signs.steal;
        let cpus = self.case.cpus.map_or(1.0, f64::from);
        let is_full = self.signs.used.unwrap_or(cpus) / cpus + others >= FULL;
        // Who outranks it leaves a program whole CPUs.
        let kept = self.signs.kept_to(n).filter(|_| !is_full || others < NOTABLE);
        if kept.is_none() && others >= MOST * lost {
            return Some(&ROWS.neighbour);
        }
        if let Some(kept) = kept {
            let (kept, n) = (figure(kept), figure(n));
            self.evidence.push(format!(
                "Together, {n} workers use exactly {kept} CPU: an affinity mask or a quota confines \
                 them"
            ));
        } else if !is_full {
            let idle = "meanwhile CPUs were idle: it is not known why threads had to wait";
            self.evidence.push(idle.into());
            return None;
        }
        Some(&ROWS.confined)
    }
}

/// Returns the cause beyond the CPUs, if there were more workers than them and it cost something.
///
/// A program that rises on beyond the CPUs waits for something else than them, and one that a
/// quota, neighbours or a crowd on too few CPUs stopped before it ran out of CPUs has no cause here.
fn beyond(case: &Case<'_>, one: At<'_>, found: Option<&ScaleCause>) -> Option<ScaleCause> {
    let most = case.most()?;
    let before = case.within().unwrap_or(one);
    let short = [
        Bottleneck::Quota,
        Bottleneck::Neighbour,
        Bottleneck::Oversubscribed,
        Bottleneck::Repeated,
    ];
    if found.is_some_and(|cause| short.contains(&cause.cause)) {
        return None;
    }
    let values = |at: At<'_>| at.level.values(ScaleTrial::throughput);
    let change = ratio(&values(most), &values(before))?;
    if change.low > 1.0 && change.point > 1.0 + NOTABLE {
        return None;
    }
    // What is not shown to rise may rise.
    if change.high > CANNOT_TELL {
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
    if let Some(own) = lacks_no_cpu(case, one, most, falls) {
        let at = (most.described.n, lost(most.described));
        return Some(idle_cpus(case, one, most, own, evidence).unwrap_or_else(|evidence| {
            ROWS.idle_cpus.cause("", at, Founding::Suspected, evidence)
        }));
    }
    let mut again = evidence.clone();
    if let Some(found) = repeated(case, one, &mut again) {
        let at = (most.described.n, lost(most.described));
        return Some(found.row.cause(&found.name, at, found.standing, again));
    }
    // Throughput that falls as CPU time per operation rises has the cause of that.
    let each = |at: At<'_>| at.level.values(ScaleTrial::cpu_each_ns);
    let grown = ratio(&each(most), &each(before)).map_or(1.0, |grown| grown.point);
    if found.is_some() && falls && grown * change.point > 1.0 - CPU_EXPLAINS {
        return None;
    }
    // Throughput that had stopped rising before the CPUs ran out is not limited by them.
    let stopped = lost(before.described).is_some_and(|lost| lost.low >= STOPPED);
    if stopped && !falls && found.is_some() {
        return None;
    }
    // With a single CPU, every second worker is one too many.
    let (row, number) = match (falls, cpus) {
        (true, _) => (&ROWS.falls, percent_of(&change.map(|times| times - 1.0))),
        (false, 1) => (&ROWS.turns, String::new()),
        _ => (&ROWS.cpus, cpus.to_string()),
    };
    let at = (most.described.n, lost(most.described));
    Some(row.cause(&number, at, Founding::Consistent, evidence))
}

/// Returns the share of the CPUs that a program uses that lacks none with the most workers, although its throughput does
/// not rise.
fn lacks_no_cpu(case: &Case<'_>, one: At<'_>, most: At<'_>, falls: bool) -> Option<f64> {
    let of = |into| most.described.account.as_ref().map_or(0.0, |account| share(account, into));
    let asleep = of(ScaleLoss::Blocked) + of(ScaleLoss::Absent) + of(ScaleLoss::OffCpu);
    let sleep_more_than_wait = asleep > of(ScaleLoss::Waiting);
    // Ready workers beside idle CPUs were not given them yet: nobody lacks a CPU, unless taking turns costs something.
    let has_idle_cpus =
        used(case, one, most).is_some_and(|used| used < BUSY) && (!falls || sleep_more_than_wait);
    // Nor does a program whose workers sleep most of the time, even if others use the CPUs meanwhile.
    let mostly_sleeps = asleep > MOSTLY && sleep_more_than_wait;
    // Nor does one that goes to sleep each time that little more is lost: who is woken is ready for some time.
    let signs = Signs::of(one.level, most.level, case.cpus);
    let sleeps_often = signs.lost_each_ns.is_some_and(|ns| ns < LOCK_NS_MAX);
    let own = own_used(case, one, most).filter(|own| *own < BUSY);
    own.filter(|_| has_idle_cpus || mostly_sleeps || sleeps_often)
}

/// Returns what workers beyond the CPUs lose although these are not used up, or the evidence alone.
fn idle_cpus(
    case: &Case<'_>,
    one: At<'_>,
    most: At<'_>,
    used: f64,
    mut evidence: Vec<String>,
) -> Result<ScaleCause, Vec<String>> {
    evidence.push(format!("the program used the CPUs for {} of the time only", percent(used)));
    let at = (most.described.n, lost(most.described));
    let found = most.described.account.as_ref().and_then(|account| {
        let mut search = Search::new(case, one, most, account);
        let by_sleeps = search.signs.lost_each_ns.is_some_and(|ns| ns < LOCK_NS_MAX);
        let is_seen = search.held.is_some();
        let found = is_seen.then(|| search.by_waits(ScaleLoss::Blocked, by_sleeps)).flatten();
        evidence.append(&mut search.evidence);
        found
    });
    let Some(found) = found else { return Err(evidence) };
    Ok(found.row.cause(&found.name, at, found.standing, evidence))
}

fn nothing(case: &Case<'_>) -> ScaleCause {
    let last = last(case);
    if case.levels.len() < 2 {
        return ROWS.single.cause(&figure(last.0), last, Founding::Suspected, Vec::new());
    }
    let rises = case.described.last().and_then(|level| level.speedup);
    let row = match rises.is_some_and(|times| times.low > (1.0 + SUPERLINEAR) * last.0) {
        true => &ROWS.superlinear,
        false => &ROWS.nothing,
    };
    row.cause(&figure(last.0), last, Founding::Consistent, Vec::new())
}
