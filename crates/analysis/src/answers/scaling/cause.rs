//! Why a program does not scale further: what the account of its workers' time speaks for.
//!
//! Within the CPUs (at the largest n that is no more than there are) the largest part of what was
//! lost decides which rule is asked; beyond them there is one question more ([`super::beyond`]).

use super::account::share;
use super::beyond;
use super::case::{At, Case, NOTABLE, lost};
use super::evidence::{Signs, by_crowd};
use super::level::{chosen, ratio};
use super::rows::{self, Row, cause};
use super::trials::ScaleTrial;
use super::words::{figure, percent, percent_of, time, with_interval};
use model::{Bottleneck, Estimate, Grade, ScaleCause, ScaleLoss};

/// A wait that takes this long at a time is no lock's: it is a hundred times what it costs to put a
/// thread to sleep and to wake it, so that a wait this long is a phase of work.
const LOCK_NS_MAX: f64 = 1e6;

/// What explains more than half of something is named for it.
const MOST: f64 = 0.5;

/// Returns the causes, the first being that of the loss within the CPUs.
pub(super) fn causes(case: &Case<'_>) -> Vec<ScaleCause> {
    let measured = case.described.iter().any(|level| level.account.is_some());
    let (Some(one), true) = (case.one(), measured) else { return vec![by_law(case)] };
    let within = case.within().map(|at| within(case, one, at));
    let found = within.filter(|cause| cause.cause != Bottleneck::Nothing);
    let beyond = beyond::beyond(case, one, found.as_ref());
    let mut causes: Vec<ScaleCause> = found.into_iter().chain(beyond).collect();
    if causes.is_empty() {
        causes.push(nothing(case));
    }
    causes
}

fn within(case: &Case<'_>, one: At<'_>, at: At<'_>) -> ScaleCause {
    let Some(lost) = lost(at.described) else { return nothing(case) };
    if lost.point < NOTABLE || lost.low <= 0.0 {
        return nothing(case);
    }
    let (Some(account), Some(alone)) = (&at.described.account, &one.described.account) else {
        return unknown(at, lost, Vec::new());
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
    let mut evidence = vec![format!(
        "{} of the time of {} workers is lost: the speedup is {}",
        percent_of(&lost),
        figure(at.described.n),
        at.described.speedup.as_ref().map(with_interval).unwrap_or_default(),
    )];
    let Some((into, found)) = decide(case, one, at, &signs, parts, &mut evidence) else {
        return unknown(at, lost, evidence);
    };
    evidence.extend(found.evidence);
    let grade = if into == ScaleLoss::OffCpu { Grade::Timing } else { Grade::Software };
    cause(found.row, "", (at.described.n, Some(lost)), grade, evidence)
}

/// Returns the rule of the largest part. What neighbours took says nothing of the program: where it lost
/// something else as well, that is its cause.
fn decide(
    case: &Case<'_>,
    one: At<'_>,
    at: At<'_>,
    signs: &Signs,
    mut parts: [(ScaleLoss, f64); 6],
    evidence: &mut Vec<String>,
) -> Option<(ScaleLoss, Finding)> {
    parts.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut of_others = None;
    for (into, share) in parts {
        if of_others.is_some() && share < NOTABLE {
            break;
        }
        evidence.push(format!("{} of it: {}", percent(share), super::words::loss(into)));
        let account = at.described.account.as_ref()?;
        let found = match into {
            ScaleLoss::Throttled => quota(signs),
            _ if signs.lost_each_ns.is_some_and(|ns| ns < LOCK_NS_MAX) => sleeping(signs),
            ScaleLoss::Waiting => waiting(signs, at.described.n),
            ScaleLoss::OffCpu if signs.is_crowded() => crowded(signs, at.described.n, share),
            ScaleLoss::MoreCpu => more_cpu(case, one, at, signs),
            ScaleLoss::Blocked | ScaleLoss::OffCpu => idle_workers(account, signs, into),
            _ => return of_others,
        };
        if !matches!(into, ScaleLoss::Waiting | ScaleLoss::OffCpu)
            || found.row.0 != Bottleneck::Neighbour
        {
            return Some((into, found));
        }
        evidence.extend(found.evidence.iter().cloned());
        of_others = Some((into, Finding { evidence: Vec::new(), ..found }));
    }
    of_others
}

/// Returns every so little that is lost, a worker went to sleep: whether the time is that of sleeping, of
/// waiting for a CPU after it was woken, or of the kernel's work for both.
fn sleeping(signs: &Signs) -> Finding {
    let evidence = format!(
        "{} more sleeps than with one worker, one per {} of lost time",
        figure(signs.more_switches.unwrap_or_default()),
        time(signs.lost_each_ns.unwrap_or_default())
    );
    Finding { row: rows::MUTEX, evidence: vec![evidence] }
}

/// A cause on its way.
struct Finding {
    row: Row,
    evidence: Vec<String>,
}

fn quota(signs: &Signs) -> Finding {
    let evidence = format!(
        "the quota throttled the program for {} of the elapsed time, summed over CPUs",
        percent(signs.throttled.unwrap_or_default())
    );
    Finding { row: rows::QUOTA, evidence: vec![evidence] }
}

fn waiting(signs: &Signs, n: f64) -> Finding {
    let others = signs.foreign.unwrap_or_default() + signs.steal.unwrap_or_default();
    let described = format!(
        "other programs used {} of the CPUs; workers waited for a CPU for {} of the elapsed time",
        percent(others),
        percent(signs.waiting.unwrap_or_default())
    );
    others_or_crowd(signs, n, others >= MOST * signs.waiting.unwrap_or(f64::INFINITY), described)
}

/// Finds as [`waiting`], of a program that was too short-lived to be looked at: it lost `share` of its
/// workers' time, and its threads lost their CPUs to others that were ready.
fn crowded(signs: &Signs, n: f64, share: f64) -> Finding {
    let others = signs.foreign.unwrap_or_default() + signs.steal.unwrap_or_default();
    let described = format!(
        "threads are preempted {} times per second more than with one worker; other programs \
         used {} of the CPUs",
        figure(signs.preempted_per_s.unwrap_or_default()),
        percent(others)
    );
    others_or_crowd(signs, n, others >= MOST * share, described)
}

fn others_or_crowd(signs: &Signs, n: f64, of_others: bool, described: String) -> Finding {
    let kept = signs.kept_to(n);
    if kept.is_none() && of_others {
        return Finding { row: rows::NEIGHBOUR, evidence: vec![described] };
    }
    let whole = kept.map(|kept| {
        let (kept, n) = (figure(kept), figure(n));
        format!(
            "Together, {n} workers use exactly {kept} CPU: an affinity mask or a quota confines \
             them"
        )
    });
    Finding { row: rows::CONFINED, evidence: [described].into_iter().chain(whole).collect() }
}

fn idle_workers(account: &model::ScaleAccount, signs: &Signs, into: ScaleLoss) -> Finding {
    let mut evidence = Vec::new();
    if let Some(ns) = signs.blocked_each_ns {
        let switches = figure(signs.more_switches.unwrap_or_default());
        evidence.push(format!(
            "a worker blocks for {} each time ({switches} more switches than with one worker)",
            time(ns)
        ));
    }
    let absent = share(account, ScaleLoss::Absent) > share(account, ScaleLoss::Blocked);
    if absent {
        evidence.push("during most of it, there were fewer workers than n".into());
    }
    if into == ScaleLoss::OffCpu {
        evidence.push(
            "its processes are too short-lived for sampling: blocked, absent and waiting for a \
             CPU are one part"
                .into(),
        );
    }
    Finding { row: rows::SERIAL, evidence }
}

fn more_cpu(case: &Case<'_>, one: At<'_>, at: At<'_>, signs: &Signs) -> Finding {
    let growth = signs.cpu_growth.unwrap_or_default();
    let mut evidence = vec![format!(
        "CPU time per operation is {} higher with {} workers than with one, {} of that in the \
         kernel",
        percent(growth),
        figure(at.described.n),
        percent(signs.system_share.unwrap_or_default())
    )];
    if signs.steal.unwrap_or_default() * at.described.n >= MOST * growth {
        evidence.push("the hypervisor gave that amount of CPU time to other guests".into());
        return Finding { row: rows::GUESTS, evidence };
    }
    if signs.system_share.is_some_and(|share| share >= MOST) {
        return Finding { row: rows::KERNEL, evidence };
    }
    let (row, described) = by_copies(case, one, at, growth)
        .or_else(|| by_crowd(case, one, growth))
        .unwrap_or_else(|| {
            let described = "without --copies the two cannot be distinguished: it runs separate \
                             copies with one worker each at the same time";
            (rows::SPINNING_OR_HARDWARE, described.to_string())
        });
    evidence.push(described);
    Finding { row, evidence }
}

/// Returns what the copies say: separate copies share the hardware and nothing of the program: what they also
/// lose is the hardware's.
fn by_copies(case: &Case<'_>, one: At<'_>, at: At<'_>, growth: f64) -> Option<(Row, String)> {
    let of = |trials: &[&ScaleTrial]| -> Vec<f64> {
        trials.iter().filter_map(|trial| trial.cpu_each_ns()).collect()
    };
    let apart = ratio(&of(&case.copies), &of(&one.level.trials))?.point - 1.0;
    let count = case.copies.first()?.copies;
    let described = format!(
        "{count} separate copies of one worker each need {} more CPU time each than one alone; {} \
         workers of one program need {} more",
        percent(apart),
        figure(at.described.n),
        percent(growth)
    );
    let row = if apart >= MOST * growth { rows::HARDWARE } else { rows::SPINNING };
    Some((row, described))
}

fn unknown(at: At<'_>, lost: Estimate, evidence: Vec<String>) -> ScaleCause {
    cause(rows::UNKNOWN, "", (at.described.n, Some(lost)), Grade::Timing, evidence)
}

/// Returns the most workers measured, and what they lack.
fn last(case: &Case<'_>) -> (f64, Option<Estimate>) {
    let n = case.levels.last().map_or(1.0, |level| level.n);
    (n, case.described.last().and_then(lost))
}

fn nothing(case: &Case<'_>) -> ScaleCause {
    let last = last(case);
    cause(rows::NOTHING, &figure(last.0), last, Grade::Software, Vec::new())
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
        "linear" => rows::STRAIGHT,
        "kink" | "kink with contention" => rows::FLAT,
        _ if above("β") => rows::PAIRS,
        _ if above("α") || above("s") => rows::ONE_AT_A_TIME,
        _ => rows::NO_SHAPE,
    };
    let law = if fit.is_some() { "the law: " } else { "" };
    cause(row, &figure(last.0), last, Grade::Timing, vec![format!("{law}{reason}")])
}
