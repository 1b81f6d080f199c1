//! How many workers a load needs: the fewest with which a play meets its terms.

use super::case::{CPUS_MAX, Case, Done, Kind, THROUGHPUT_PART, WAIT_PART, WORKERS_MAX, least};
use super::play::{Arrivals, done};
use super::pools::rates;
use laws::{Error, little};
use model::Refusal;

/// Share of the time in which no more workers are there at once than are planned for.
const ENOUGH: f64 = 0.999;

/// How near to the highest rate the one is that is found.
const MARGIN_PART: f64 = 0.02;

/// Returns what the case needs at `rate` requests per ns, or why nothing suffices.
pub(super) fn open(case: &Case<'_>, rate: f64) -> Result<Result<Done, Refusal>, Error> {
    let limit = f64::from(case.cpus) / case.cpu_ns;
    if rate >= limit {
        let asked = (rate * case.cpu_ns).min(f64::from(u32::MAX) - 1.0) as u32 + 1;
        let cpus_least = (case.kind != Kind::Loop).then_some(asked);
        return Ok(Err(Refusal::Cpus { cpus_least, rate_below_per_s: limit * 1e9 }));
    }
    let arrivals = Arrivals::Open(rate);
    let free = unlimited(case, arrivals, 1)?;
    if let Some(target) = case.load.target_p95_ns
        && free.p95 > target
    {
        return Ok(Err(out_of_reach(case, free.p95, arrivals, CPUS_MAX)?));
    }
    if case.kind == Kind::Pool {
        return pool(case, rate, &free);
    }
    let present = little::present(rate, free.response)?;
    let most =
        most(case, rate, limit, |rate| Ok(meets(case, &done(case, Arrivals::Open(rate), 1)?)))?;
    let holders = at_once(present);
    let workers = if case.kind == Kind::Loop { 1 } else { holders };
    Ok(Ok(Done { workers, holders, rate_most: most, ..free }))
}

/// Returns what a model does that has a worker for each request.
fn unlimited(case: &Case<'_>, arrivals: Arrivals, workers: u32) -> Result<Done, Error> {
    let kind = if case.kind == Kind::Pool { Kind::Each } else { case.kind };
    done(&Case { kind, ..*case }, arrivals, workers)
}

/// Reports whether a model with enough workers keeps the target, if there is one.
fn meets(case: &Case<'_>, done: &Done) -> bool {
    case.load.target_p95_ns.is_none_or(|target| done.p95 <= target)
}

/// Reports whether workers suffice: within the target, or else with short waits for a worker.
fn suffices(case: &Case<'_>, done: &Done) -> bool {
    match case.load.target_p95_ns {
        Some(target) => done.p95 <= target,
        None => done.wait <= WAIT_PART * (done.response - done.wait),
    }
}

fn pool(case: &Case<'_>, rate: f64, free: &Done) -> Result<Result<Done, Refusal>, Error> {
    // With twice as many as are there at once where nobody waits for a worker, nobody does.
    let top = at_once(little::present(rate, free.response)?).saturating_mul(2).saturating_add(64);
    let top = top.max(case.load.workers.unwrap_or(1)).min(WORKERS_MAX);
    let rates = rates(case.cpus, case.cpu_ns, case.idle_ns, top);
    let late = Refusal::Target { p95_ns: free.p95, cpus_least: None };
    let Some(stable) = (1..=top).find(|workers| rates[*workers as usize] > rate) else {
        return Ok(Err(late));
    };
    let arrivals = Arrivals::Open(rate);
    let enough = |workers| Ok(suffices(case, &done(case, arrivals, workers)?));
    let workers = match case.load.workers {
        Some(given) if given < stable => {
            return Ok(Err(Refusal::Workers { workers_least: stable }));
        }
        Some(given) => given,
        None => match least(stable, top, enough)? {
            Some(asked) => asked,
            None => return Ok(Err(late)),
        },
    };
    let found = done(case, arrivals, workers)?;
    if case.load.workers.is_some() && !meets(case, &found) {
        return Ok(Err(match least(workers, top, enough)? {
            Some(workers_enough) => Refusal::Late { p95_ns: found.p95, workers_enough },
            None => late,
        }));
    }
    // Held by stability alone where a number is given and no time is asked for.
    let stability_alone = case.load.workers.is_some() && case.load.target_p95_ns.is_none();
    let rate_most = most(case, rate, rates[workers as usize], |rate| {
        Ok(stability_alone || suffices(case, &done(case, Arrivals::Open(rate), workers)?))
    })?;
    Ok(Ok(Done { least: stable, rate_most, ..found }))
}

/// Returns what the case needs for this number of connections, or why nothing suffices.
pub(super) fn closed(case: &Case<'_>, connections: u32) -> Result<Result<Done, Refusal>, Error> {
    let arrivals = Arrivals::Closed(connections);
    let all = unlimited(case, arrivals, connections)?;
    if !meets(case, &all) {
        let most = connections.max(case.cpus).min(CPUS_MAX);
        return Ok(Err(out_of_reach(case, all.p95, arrivals, most)?));
    }
    if case.kind != Kind::Pool {
        let workers = if case.kind == Kind::Loop { 1 } else { connections };
        return Ok(Ok(Done { workers, holders: connections, least: workers, ..all }));
    }
    // Connections that never think wait for something with any number of workers.
    let never_thinks = case.load.think_ns <= 0.0;
    let enough = |workers: u32| -> Result<bool, Error> {
        let found = done(case, arrivals, workers)?;
        let does = found.throughput >= THROUGHPUT_PART * all.throughput;
        Ok(match case.load.target_p95_ns {
            Some(_) => meets(case, &found),
            None => does && (never_thinks || suffices(case, &found)),
        })
    };
    let top = connections.min(WORKERS_MAX);
    // More workers than connections have nothing to do.
    let given = case.load.workers.map(|given| given.min(top));
    let found = match given {
        Some(given) => done(case, arrivals, given)?,
        None => {
            // Fewer could not do that even if none waited for a CPU.
            let busy = THROUGHPUT_PART * all.throughput * (case.idle_ns + case.cpu_ns);
            let busy = (0.9 * busy).floor().clamp(1.0, f64::from(top)) as u32;
            let from = if case.load.target_p95_ns.is_some() { 1 } else { busy };
            done(case, arrivals, least(from, top, enough)?.unwrap_or(top))?
        }
    };
    if given.is_some() && !meets(case, &found) {
        let workers_enough = least(found.workers, top, enough)?.unwrap_or(top);
        return Ok(Err(Refusal::Late { p95_ns: found.p95, workers_enough }));
    }
    Ok(Ok(Done { workers: case.load.workers.unwrap_or(found.workers), ..found }))
}

/// Returns the refusal of a target that is missed although no request waits for a worker, with the fewest
/// CPUs, up to `most`, that would meet it.
fn out_of_reach(
    case: &Case<'_>,
    p95_ns: f64,
    arrivals: Arrivals,
    most: u32,
) -> Result<Refusal, Error> {
    let workers = if let Arrivals::Closed(connections) = arrivals { connections } else { 1 };
    let holds = |cpus| {
        let more = Case { cpus, ..*case };
        Ok(meets(&more, &unlimited(&more, arrivals, workers)?))
    };
    let cpus_least = match case.kind {
        Kind::Loop => None,
        _ => least(case.cpus, most, holds)?,
    };
    Ok(Refusal::Target { p95_ns, cpus_least })
}

/// Returns how many of requests that come at random, `mean` of which are there on average, are there at
/// once at most in 99.9 % of the time: of a Poisson number (M/G/∞).
pub(super) fn at_once(mean: f64) -> u32 {
    if mean > 1e5 {
        // By the normal approximation, which is near enough there.
        return (mean + 3.09 * mean.sqrt()).ceil().min(f64::from(u32::MAX)) as u32;
    }
    let (mut log, mut sum, mut count) = (-mean, 0.0, 0_u32);
    loop {
        sum += log.exp();
        if sum >= ENOUGH || count >= 1_000_000 {
            return count.max(1);
        }
        count += 1;
        log += mean.ln() - f64::from(count).ln();
    }
}

/// Returns the highest rate from `low` up to below `limit` at which something holds, by bisection; `None` where
/// it is not asked for.
fn most(
    case: &Case<'_>,
    low: f64,
    limit: f64,
    mut holds: impl FnMut(f64) -> Result<bool, Error>,
) -> Result<Option<f64>, Error> {
    if !case.margin {
        return Ok(None);
    }
    let (mut low, mut high) = (low, limit);
    // Nearer to the limit a queue is indistinguishable from one that never settles.
    if holds(limit * (1.0 - 1e-3))? {
        return Ok(Some(limit));
    }
    while high - low > MARGIN_PART * low {
        let middle = f64::midpoint(low, high);
        if holds(middle)? { low = middle } else { high = middle }
    }
    Ok(Some(low))
}
