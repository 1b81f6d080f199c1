//! Connections of which each waits for its answer before it asks again.

use super::{CPUS_MAX, Case, Done, Kind, THROUGHPUT_PART, least, p95_of};
use laws::{Error, little};
use model::Refusal;

/// What the case needs for so many connections, or why nothing suffices.
pub(super) fn done(case: &Case<'_>, connections: u32) -> Result<Result<Done, Refusal>, Error> {
    let rates = rates(case.cpus, case.cpu_ns, case.idle_ns, connections);
    let all = station(case, connections, connections, &rates)?;
    let target = case.load.target_p95_ns;
    if let Some(target) = target
        && all.p95 > target
    {
        return Ok(Err(out_of_reach(case, connections, all.p95, target)?));
    }
    if case.kind != Kind::Pool {
        let workers = if case.kind == Kind::Loop { 1 } else { connections };
        return Ok(Ok(Done { workers, least: workers, ..all }));
    }
    let enough = |workers: u32| -> Result<bool, Error> {
        let done = station(case, connections, workers, &rates)?;
        Ok(match target {
            Some(target) => done.p95 <= target,
            None => done.throughput >= THROUGHPUT_PART * all.throughput,
        })
    };
    let asked = least(1, connections, enough)?.unwrap_or(connections);
    // More workers than connections have nothing to do.
    let workers = case.load.workers.map_or(asked, |given| given.min(connections));
    let done = station(case, connections, workers, &rates)?;
    if workers < asked && target.is_some() {
        return Ok(Err(Refusal::Late { p95_ns: done.p95, workers_enough: asked }));
    }
    Ok(Ok(Done { workers: case.load.workers.unwrap_or(asked), ..done }))
}

fn out_of_reach(
    case: &Case<'_>,
    connections: u32,
    p95_ns: f64,
    target: f64,
) -> Result<Refusal, Error> {
    let idle = p95_of(case.idle_ns + case.cpu_ns) > target;
    if idle || case.kind == Kind::Loop {
        return Ok(Refusal::Target { p95_ns, cpus_least: None });
    }
    let cpus_least = least(case.cpus, connections.max(case.cpus).min(CPUS_MAX), |cpus| {
        let rates = rates(cpus, case.cpu_ns, case.idle_ns, connections);
        let more = Case { cpus, ..*case };
        Ok(station(&more, connections, connections, &rates)?.p95 <= target)
    })?;
    Ok(Refusal::Target { p95_ns, cpus_least })
}

/// Requests done per ns by 1, 2, … `most` busy workers that need a CPU for `cpu_ns` and then none
/// for `idle_ns`, with so many CPUs; the first number is for none.
///
/// By Buzen's convolution of a delay with a station of c servers: X(j) = G(j − 1) / G(j), where
/// G(j) = Σ Wⁱ/i! · b(j − i) and b(m) = b(m − 1) C / min(m, c). From m = c on b is geometric, so
/// that each G takes c terms; in logarithms, which neither overflow nor vanish.
pub(super) fn rates(cpus: u32, cpu_ns: f64, idle_ns: f64, most: u32) -> Vec<f64> {
    let served = |busy: u32| f64::from(busy.min(cpus)) / cpu_ns;
    if idle_ns <= 0.0 {
        return (0..=most).map(served).collect();
    }
    let (servers, most) = (cpus as usize, most as usize);
    // ln Wⁱ/i!
    let mut delay = Vec::with_capacity(most + 1);
    delay.push(0.0);
    for i in 1..=most {
        delay.push(delay[i - 1] + idle_ns.ln() - (i as f64).ln());
    }
    // ln b(m) for m < c.
    let mut busy = vec![0.0];
    for m in 1..servers {
        busy.push(busy[m - 1] + cpu_ns.ln() - (m as f64).ln());
    }
    let each = cpu_ns.ln() - (cpus as f64).ln();
    let (mut rates, mut before, mut tail) = (vec![0.0], 0.0, f64::NEG_INFINITY);
    for j in 1..=most {
        tail = match j.checked_sub(servers) {
            Some(i) => each + log_sum(&[tail, delay[i] + busy[servers - 1]]),
            None => f64::NEG_INFINITY,
        };
        let mut terms: Vec<f64> = (0..servers.min(j + 1)).map(|m| delay[j - m] + busy[m]).collect();
        terms.push(tail);
        let whole = log_sum(&terms);
        rates.push((before - whole).exp());
        before = whole;
    }
    rates
}

fn log_sum(logs: &[f64]) -> f64 {
    let highest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if highest == f64::NEG_INFINITY {
        return highest;
    }
    highest + logs.iter().map(|log| (log - highest).exp()).sum::<f64>().ln()
}

/// The connections and `workers` that do [`rates`] when so many are busy.
pub(super) fn station(
    case: &Case<'_>,
    connections: u32,
    workers: u32,
    rates: &[f64],
) -> Result<Done, Error> {
    let think = case.load.think_ns;
    let rate = |present: u32| rates[present.min(workers) as usize];
    let (mut throughput, mut present, mut busy) =
        (rate(connections), f64::from(connections), f64::from(workers.min(connections)));
    if think > 0.0 {
        // ln p(k) − ln p(0): customers come at (N − k)/Z and go at the station's rate.
        let mut logs = vec![0.0];
        for k in 1..=connections {
            let come = (f64::from(connections - k + 1) / think).ln();
            logs.push(logs[k as usize - 1] + come - rate(k).ln());
        }
        let whole = log_sum(&logs);
        (throughput, present, busy) = (0.0, 0.0, 0.0);
        for (k, log) in (0_u32..).zip(&logs) {
            let chance = (log - whole).exp();
            throughput += chance * rate(k);
            present += chance * f64::from(k);
            busy += chance * f64::from(k.min(workers));
        }
    }
    let response = little::response(present, throughput)?;
    Ok(Done {
        workers,
        holders: workers,
        least: 1,
        throughput,
        cpus: throughput * case.cpu_ns,
        busy,
        wait: little::response((present - busy).max(0.0), throughput)?,
        response,
        p95: p95_of(response),
        rate_most: None,
    })
}
