//! Requests that come at a rate, whatever becomes of those before them.

use super::{CPUS_MAX, Case, Done, Kind, WAIT_PART, WORKERS_MAX, least, p95_of};
use laws::queue::many::{mmc, mmc_response_quantile};
use laws::queue::single::mg1;
use laws::{Error, little};
use model::Refusal;

/// Share of the time in which no more workers are there at once than are planned for.
const ENOUGH: f64 = 0.999;

/// What the case needs at `rate` requests per ns, or why nothing suffices.
pub(super) fn done(case: &Case<'_>, rate: f64) -> Result<Result<Done, Refusal>, Error> {
    let rate_below = f64::from(case.cpus) / case.cpu_ns;
    if rate >= rate_below {
        let asked = (rate * case.cpu_ns).min(f64::from(u32::MAX) - 1.0);
        let cpus_least = if case.kind == Kind::Loop { 1 } else { asked as u32 + 1 };
        return Ok(Err(Refusal::Cpus { cpus_least, rate_below_per_s: rate_below * 1e9 }));
    }
    let held = held(case, case.cpus, rate)?;
    let stable = (little::present(rate, held)?.min(f64::from(u32::MAX) - 1.0)) as u32 + 1;
    if let Some(target) = case.load.target_p95_ns
        && p95_of(held) > target
    {
        return Ok(Err(out_of_reach(case, rate, p95_of(held), target)?));
    }
    match case.kind {
        Kind::Pool => pool(case, rate, held, stable),
        Kind::Each => Ok(Ok(each(case, rate, held, stable)?)),
        Kind::Loop => Ok(Ok(Done { workers: 1, least: 1, ..each(case, rate, held, 1)? })),
    }
}

/// How long a request holds a worker with so many CPUs.
fn held(case: &Case<'_>, cpus: u32, rate: f64) -> Result<f64, Error> {
    let on_cpu = match case.kind {
        Kind::Loop => mg1(rate, case.cpu_ns, 1.0)?,
        _ => mmc(rate, case.cpu_ns, cpus)?,
    };
    Ok(case.idle_ns + on_cpu.response)
}

/// No number of workers meets the target, since the CPUs alone take too long.
fn out_of_reach(case: &Case<'_>, rate: f64, p95_ns: f64, target: f64) -> Result<Refusal, Error> {
    let alone = p95_of(case.idle_ns + case.cpu_ns);
    let cpus_least = match case.kind {
        Kind::Loop => None,
        _ if alone >= target => None,
        _ => least(case.cpus, CPUS_MAX, |cpus| Ok(p95_of(held(case, cpus, rate)?) <= target))?,
    };
    Ok(Refusal::Target { p95_ns, cpus_least })
}

fn pool(
    case: &Case<'_>,
    rate: f64,
    hold: f64,
    stable: u32,
) -> Result<Result<Done, Refusal>, Error> {
    let enough = |workers: u32| Ok(workers >= stable && suffices(case, rate, hold, workers)?);
    let asked = least(stable, WORKERS_MAX, enough)?;
    let workers = match (case.load.workers, asked) {
        (Some(given), _) if given < stable => {
            return Ok(Err(Refusal::Workers { workers_least: stable }));
        }
        (Some(given), Some(asked)) if given < asked && case.load.target_p95_ns.is_some() => {
            let p95_ns = mmc_response_quantile(rate, hold, given, 0.95)?;
            return Ok(Err(Refusal::Late { p95_ns, workers_enough: asked }));
        }
        (Some(given), _) => given,
        (None, Some(asked)) => asked,
        (None, None) => return Ok(Err(Refusal::Target { p95_ns: p95_of(hold), cpus_least: None })),
    };
    let station = mmc(rate, hold, workers)?;
    // Held by stability alone where a number is given and no time is asked for.
    let stability_alone = case.load.workers.is_some() && case.load.target_p95_ns.is_none();
    let rate_most = most(rate, f64::from(case.cpus) / case.cpu_ns, |rate| {
        let hold = held(case, case.cpus, rate)?;
        let settles = little::present(rate, hold)? < f64::from(workers);
        Ok(settles && (stability_alone || suffices(case, rate, hold, workers)?))
    })?;
    Ok(Ok(Done {
        workers,
        holders: workers,
        least: stable,
        throughput: rate,
        cpus: rate * case.cpu_ns,
        busy: little::present(rate, hold)?,
        wait: station.wait,
        response: station.response,
        p95: mmc_response_quantile(rate, hold, workers, 0.95)?,
        rate_most: Some(rate_most),
    }))
}

/// Whether a pool of workers that are held for so long answers as is asked for.
fn suffices(case: &Case<'_>, rate: f64, hold: f64, workers: u32) -> Result<bool, Error> {
    if little::present(rate, hold)? >= f64::from(workers) {
        return Ok(false);
    }
    match case.load.target_p95_ns {
        Some(target) => Ok(mmc_response_quantile(rate, hold, workers, 0.95)? <= target),
        None => Ok(mmc(rate, hold, workers)?.wait <= WAIT_PART * hold),
    }
}

fn each(case: &Case<'_>, rate: f64, hold: f64, stable: u32) -> Result<Done, Error> {
    let limit = f64::from(case.cpus) / case.cpu_ns;
    let rate_most = most(rate, limit, |rate| match case.load.target_p95_ns {
        Some(target) => Ok(p95_of(held(case, case.cpus, rate)?) <= target),
        None => Ok(true),
    })?;
    let present = little::present(rate, hold)?;
    Ok(Done {
        workers: at_once(present),
        holders: at_once(present),
        least: stable,
        throughput: rate,
        cpus: rate * case.cpu_ns,
        busy: present,
        wait: 0.0,
        response: hold,
        p95: p95_of(hold),
        rate_most: Some(rate_most),
    })
}

/// How many of requests that come at random, `mean` of which are there on average, are there at once
/// at most in 99.9 % of the time: of a Poisson number (M/G/∞).
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

/// The highest rate from `low` up to below `limit` at which something holds, by bisection to a
/// thousandth.
fn most(
    low: f64,
    limit: f64,
    mut holds: impl FnMut(f64) -> Result<bool, Error>,
) -> Result<f64, Error> {
    let (mut low, mut high) = (low, limit);
    // Nearer to the limit no queue can be told from one that never settles.
    if holds(limit * (1.0 - 1e-6))? {
        return Ok(limit);
    }
    while high - low > 1e-4 * low {
        let middle = f64::midpoint(low, high);
        if holds(middle)? { low = middle } else { high = middle }
    }
    Ok(low)
}
