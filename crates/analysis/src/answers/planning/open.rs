//! Requests that come at a rate, whatever becomes of those before them.

use super::case::{CPUS_MAX, Case, Done, Kind, Steady, WORKERS_MAX, least, p95_of};
use super::pools::{Arrivals, Pools};
use laws::queue::many::mmc;
use laws::queue::single::mg1;
use laws::{Error, little};
use model::Refusal;

/// Share of the time in which no more workers are there at once than are planned for.
const ENOUGH: f64 = 0.999;

/// Returns what the case needs at `rate` requests per ns, or why nothing suffices.
pub(super) fn done(case: &Case<'_>, rate: f64) -> Result<Result<Done, Refusal>, Error> {
    let rate_below = f64::from(case.cpus) / case.cpu_ns;
    if rate >= rate_below {
        let asked = (rate * case.cpu_ns).min(f64::from(u32::MAX) - 1.0);
        let cpus_least = if case.kind == Kind::Loop { 1 } else { asked as u32 + 1 };
        return Ok(Err(Refusal::Cpus { cpus_least, rate_below_per_s: rate_below * 1e9 }));
    }
    let held_ns = held(case, case.cpus, rate)?;
    if let Some(target) = case.load.target_p95_ns
        && p95_of(held_ns) > target
    {
        let p95 = |cpus| Ok(p95_of(held(case, cpus, rate)?));
        return Ok(Err(case.out_of_reach((p95_of(held_ns), target), CPUS_MAX, p95)?));
    }
    match case.kind {
        Kind::Pool => pool(case, rate, held_ns),
        Kind::Each => Ok(Ok(each(case, rate, held_ns)?)),
        Kind::Loop => Ok(Ok(Done { workers: 1, ..each(case, rate, held_ns)? })),
    }
}

/// Returns how long a request takes with this number of CPUs where it never waits for a worker.
fn held(case: &Case<'_>, cpus: u32, rate: f64) -> Result<f64, Error> {
    let on_cpu = match case.kind {
        Kind::Loop => mg1(rate, case.cpu_ns, 1.0)?,
        _ => mmc(rate, case.cpu_ns, cpus)?,
    };
    Ok(case.idle_ns + on_cpu.response)
}

/// Reports whether a pool of this number of workers bears its load within the target, or else with short
/// waits for a worker.
fn suffices(pools: &Pools<'_>, rate: f64, workers: u32) -> Result<bool, Error> {
    if rate >= pools.does(workers) {
        return Ok(false);
    }
    let steady = pools.steady(Arrivals::Open(rate), workers)?;
    Ok(match pools.case.load.target_p95_ns {
        Some(target) => p95_of(steady.response()?) <= target,
        None => steady.waits_little(pools.case.load),
    })
}

fn pool(case: &Case<'_>, rate: f64, held_ns: f64) -> Result<Result<Done, Refusal>, Error> {
    // With twice as many as are there at once where nobody waits for a worker, nobody does.
    let top = at_once(little::present(rate, held_ns)?).saturating_mul(2).saturating_add(64);
    let top = top.max(case.load.workers.unwrap_or(1)).min(WORKERS_MAX);
    let pools = Pools::new(case, top);
    let late = Refusal::Target { p95_ns: p95_of(held_ns), cpus_least: None };
    let Some(stable) = least(1, top, |workers| Ok(pools.does(workers) > rate))? else {
        return Ok(Err(late));
    };
    let asked = least(stable, top, |workers| suffices(&pools, rate, workers))?;
    let has_target = case.load.target_p95_ns.is_some();
    let workers = match (case.load.workers, asked) {
        (Some(given), _) if given < stable => {
            return Ok(Err(Refusal::Workers { workers_least: stable }));
        }
        (Some(given), _) => given,
        (None, Some(asked)) => asked,
        (None, None) => return Ok(Err(late)),
    };
    let done = pools.done(Arrivals::Open(rate), workers)?;
    if let Some(workers_enough) = asked.filter(|asked| workers < *asked && has_target) {
        return Ok(Err(Refusal::Late { p95_ns: done.p95, workers_enough }));
    }
    // Held by stability alone where a number is given and no time is asked for.
    let stability_alone = case.load.workers.is_some() && !has_target;
    let rate_most = most(rate, pools.does(workers), |rate| {
        Ok(stability_alone || suffices(&pools, rate, workers)?)
    })?;
    Ok(Ok(Done { least: stable, rate_most: Some(rate_most), ..done }))
}

fn each(case: &Case<'_>, rate: f64, held_ns: f64) -> Result<Done, Error> {
    let limit = f64::from(case.cpus) / case.cpu_ns;
    let rate_most = most(rate, limit, |rate| match case.load.target_p95_ns {
        Some(target) => Ok(p95_of(held(case, case.cpus, rate)?) <= target),
        None => Ok(true),
    })?;
    let present = little::present(rate, held_ns)?;
    let done = Steady { throughput: rate, present, busy: present }.done(case, at_once(present))?;
    let (response, p95) = (held_ns, p95_of(held_ns));
    Ok(Done { response, p95, rate_most: Some(rate_most), ..done })
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

/// Returns the highest rate from `low` up to below `limit` at which something holds, by bisection to a
/// thousandth.
fn most(
    low: f64,
    limit: f64,
    mut holds: impl FnMut(f64) -> Result<bool, Error>,
) -> Result<f64, Error> {
    let (mut low, mut high) = (low, limit);
    // Nearer to the limit a queue is indistinguishable from one that never settles.
    if holds(limit * (1.0 - 1e-6))? {
        return Ok(limit);
    }
    while high - low > 1e-4 * low {
        let middle = f64::midpoint(low, high);
        if holds(middle)? { low = middle } else { high = middle }
    }
    Ok(low)
}
