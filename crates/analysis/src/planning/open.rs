//! Requests that come at a rate, whatever becomes of those before them.

use super::closed::rates;
use super::{CPUS_MAX, Case, Done, Kind, WAIT_PART, WORKERS_MAX, least, p95_of};
use laws::queue::many::mmc;
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
    if let Some(target) = case.load.target_p95_ns
        && p95_of(held) > target
    {
        return Ok(Err(out_of_reach(case, rate, p95_of(held), target)?));
    }
    match case.kind {
        Kind::Pool => pool(case, rate, held),
        Kind::Each => Ok(Ok(each(case, rate, held)?)),
        Kind::Loop => Ok(Ok(Done { workers: 1, least: 1, ..each(case, rate, held)? })),
    }
}

/// How long a request takes with so many CPUs where it never waits for a worker.
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

/// The pools of all numbers of workers up to some, on some CPUs.
struct Pools<'a> {
    case: &'a Case<'a>,
    /// What so many busy workers do, per ns.
    rates: Vec<f64>,
}

/// A pool in its steady state.
#[derive(Clone, Copy, Debug)]
struct Steady {
    /// Workers that are busy on average.
    busy: f64,
    /// Requests that are there on average.
    present: f64,
    p95: f64,
}

impl Pools<'_> {
    fn does(&self, workers: u32) -> f64 {
        self.rates[(workers as usize).min(self.rates.len() - 1)]
    }

    /// A pool of so many workers; absent where its queue never settles.
    ///
    /// Requests are born at the rate and die at what so many busy workers do: k of them at the most
    /// (the flow-equivalent server of Chandy, Herzog and Woo, "Parametric analysis of queuing
    /// networks", IBM Journal of Research and Development 19, 1975).
    fn steady(&self, rate: f64, workers: u32) -> Result<Option<Steady>, Error> {
        let last = rate / self.does(workers);
        if last >= 1.0 {
            return Ok(None);
        }
        let mut logs = vec![0.0];
        for present in 1..=workers {
            let before = logs[present as usize - 1];
            logs.push(before + (rate / self.does(present)).ln());
        }
        let highest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (mut sum, mut busy, mut present, mut chance) = (0.0, 0.0, 0.0, 0.0);
        for (count, log) in logs.iter().enumerate() {
            chance = (log - highest).exp();
            sum += chance;
            busy += chance * count as f64;
            present += chance * count as f64;
        }
        // Beyond k each is as likely as the one before times the same.
        let (k, beyond) = (f64::from(workers), last / (1.0 - last));
        sum += chance * beyond;
        busy += chance * beyond * k;
        present += chance * beyond * (k + 1.0 / (1.0 - last));
        let (busy, present) = (busy / sum, present / sum);
        let p95 = p95_of(little::response(present, rate)?);
        Ok(Some(Steady { busy, present, p95 }))
    }

    fn suffices(&self, rate: f64, workers: u32) -> Result<bool, Error> {
        let Some(steady) = self.steady(rate, workers)? else { return Ok(false) };
        Ok(match self.case.load.target_p95_ns {
            Some(target) => steady.p95 <= target,
            None => steady.present - steady.busy <= WAIT_PART * steady.busy,
        })
    }
}

fn pool(case: &Case<'_>, rate: f64, hold: f64) -> Result<Result<Done, Refusal>, Error> {
    // With twice as many as are there at once where nobody waits for a worker, nobody does.
    let top = at_once(little::present(rate, hold)?).saturating_mul(2).saturating_add(64);
    let top = top.max(case.load.workers.unwrap_or(1)).min(WORKERS_MAX);
    let pools = Pools { case, rates: rates(case.cpus, case.cpu_ns, case.idle_ns, top) };
    let late = Refusal::Target { p95_ns: p95_of(hold), cpus_least: None };
    let Some(stable) = least(1, top, |workers| Ok(pools.does(workers) > rate))? else {
        return Ok(Err(late));
    };
    let asked = least(stable, top, |workers| pools.suffices(rate, workers))?;
    let has_target = case.load.target_p95_ns.is_some();
    let workers = match (case.load.workers, asked) {
        (Some(given), _) if given < stable => {
            return Ok(Err(Refusal::Workers { workers_least: stable }));
        }
        (Some(given), _) => given,
        (None, Some(asked)) => asked,
        (None, None) => return Ok(Err(late)),
    };
    let Some(steady) = pools.steady(rate, workers)? else {
        return Ok(Err(Refusal::Workers { workers_least: stable + 1 }));
    };
    if let Some(workers_enough) = asked.filter(|asked| workers < *asked && has_target) {
        return Ok(Err(Refusal::Late { p95_ns: steady.p95, workers_enough }));
    }
    // Held by stability alone where a number is given and no time is asked for.
    let stability_alone = case.load.workers.is_some() && !has_target;
    let rate_most = most(rate, pools.does(workers), |rate| {
        Ok(stability_alone || pools.suffices(rate, workers)?)
    })?;
    Ok(Ok(Done {
        workers,
        holders: workers,
        least: stable,
        throughput: rate,
        cpus: rate * case.cpu_ns,
        busy: steady.busy,
        wait: little::response((steady.present - steady.busy).max(0.0), rate)?,
        response: little::response(steady.present, rate)?,
        p95: steady.p95,
        rate_most: Some(rate_most),
    }))
}

fn each(case: &Case<'_>, rate: f64, hold: f64) -> Result<Done, Error> {
    let limit = f64::from(case.cpus) / case.cpu_ns;
    let rate_most = most(rate, limit, |rate| match case.load.target_p95_ns {
        Some(target) => Ok(p95_of(held(case, case.cpus, rate)?) <= target),
        None => Ok(true),
    })?;
    let present = little::present(rate, hold)?;
    Ok(Done {
        workers: at_once(present),
        holders: at_once(present),
        least: 1,
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
