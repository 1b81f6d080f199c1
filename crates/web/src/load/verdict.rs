//! What the counts of all threads say together, and what makes them doubtful.

use super::Times;
use super::series::Slice;
use super::survival::{self, sum_ns};
use super::tally::Tally;
use model::{
    Arrivals, Fairness, LawCheck, LoadCounts, LoadIntervals, LoadPlan, LoadResult, LoadServer,
    Network, SynBackoff,
};

/// The most by which the sides of a law may differ, relative to the connections.
const LAW_TOLERANCE: f64 = 0.02;

/// The same of what is sampled, relative to the greater side, or in standard errors. The thread that
/// samples has to wait for a CPU, so it sees busy moments less often.
const SAMPLED_TOLERANCE: f64 = 0.1;
const SAMPLED_ERRORS: f64 = 5.0;

/// Requests in flight are judged where looks should see this number of them or more, in groups whose
/// means scatter as their mean does.
const SIGHTS_LEAST: f64 = 20.0;
const LOOKS_LEAST: u64 = 20;
const LOOK_GROUPS: usize = 20;

/// CPU time of the generator beyond this part of the time and of its threads is a doubt.
const BUSY_SHARE: f64 = 0.9;

/// Time without a CPU beyond this part of the time and of its threads is a doubt; so is stolen time
/// of the machine.
const WAIT_SHARE: f64 = 0.05;

/// A generator that waits for a CPU for this part of the time of its threads measures its own waits.
const STARVED: f64 = 0.5;

/// The kernel counts CPU time of the machine in ticks of mostly 10 ms: in a load shorter than this, one
/// of them would be taken for a share of the time. So would what a thread does once.
const SHARES_FROM_NS: u64 = 100_000_000;

/// What was seen of the machine meanwhile.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Surroundings {
    pub(super) network: Network,
    pub(super) foreign_cpu_ns: Option<u64>,
    /// Time that the host gave to others, in ns.
    pub(super) stolen_ns: Option<u64>,
    /// Time for which a CPU quota held this process back, summed over CPUs, in ns.
    pub(super) throttled_ns: u64,
    /// Whether it was ended from outside.
    pub(super) stopped: bool,
    /// From the start to the last answer that was waited for, in ns.
    pub(super) drained_ns: u64,
    pub(super) threads: u32,
    /// The share of its time that the busiest thread was on a CPU.
    pub(super) busiest_share: f64,
}

/// The result of a load that took `elapsed_ns`.
pub(super) fn result(
    plan: &LoadPlan,
    tally: &Tally,
    elapsed_ns: u64,
    seen: &Surroundings,
    slices: &[Slice],
) -> LoadResult {
    let counts = counts(tally);
    let audit = audit(plan, tally, seen, elapsed_ns, slices);
    let mut result = LoadResult {
        format: model::LOAD_FORMAT,
        scruple: env!("CARGO_PKG_VERSION").to_string(),
        plan: plan.clone(),
        elapsed_ns,
        throughput_per_s: per_s((counts.succeeded - counts.succeeded_late) as f64, elapsed_ns),
        counts,
        read_bytes: tally.read_bytes,
        written_bytes: tally.written_bytes,
        response: survival::summary(&tally.response),
        succeeded: None,
        service: survival::summary(&tally.service),
        lateness: survival::summary(&tally.lateness),
        punctual: survival::summary(&tally.punctual),
        intervals: LoadIntervals::default(),
        series: slices.iter().map(|slice| slice.seen.clone()).collect(),
        expected: Vec::new(),
        fairness: fairness(plan, &tally.answers),
        network: seen.network,
        syn_backoff: tally
            .syn_backoff
            .iter()
            .map(|(seconds, requests)| SynBackoff { seconds: *seconds, requests: *requests })
            .collect(),
        stalls: Vec::new(),
        late_ends: tally.late_ends,
        pathologies: Vec::new(),
        server: server(tally, elapsed_ns, slices),
        audit,
        generator_cpu_ns: tally.cpu_ns,
        foreign_cpu_ns: seen.foreign_cpu_ns.filter(|_| elapsed_ns >= SHARES_FROM_NS),
        doubts: Vec::new(),
    };
    result.doubts = doubts(&result, tally, seen);
    result
}

/// How many per second.
fn per_s(count: f64, elapsed_ns: u64) -> f64 {
    if elapsed_ns == 0 { 0.0 } else { count * 1e9 / elapsed_ns as f64 }
}

/// What became of the requests.
fn counts(tally: &Tally) -> LoadCounts {
    LoadCounts {
        sent: tally.sent,
        answered: tally.answered(),
        succeeded: tally.succeeded(),
        succeeded_late: tally.succeeded_late,
        statuses: tally.statuses.clone(),
        errors: tally.errors.clone(),
        causes: tally.causes.clone(),
        timed_out: tally.timed_out,
        in_flight: tally.in_flight,
        unsent: tally.unsent,
        retried: tally.retried,
        closed: tally.closed,
    }
}

/// Returns what follows for the server; `None` where nothing was answered in time.
fn server(tally: &Tally, elapsed_ns: u64, slices: &[Slice]) -> Option<LoadServer> {
    let in_time = tally.answered().checked_sub(tally.late_answers).filter(|n| *n > 0)? as f64;
    let Times { known, censored } = &tally.service;
    let present_ns = sum_ns(known) + sum_ns(censored) + tally.failed_ns - tally.late_ns;
    let answers_per_s = per_s(in_time, elapsed_ns);
    let cpu_ns: Option<u64> = slices.iter().map(|slice| slice.seen.server_cpu_ns).sum();
    let cpu_ns = cpu_ns.filter(|_| elapsed_ns >= SHARES_FROM_NS).map(|ns| ns as f64);
    Some(LoadServer {
        answers_per_s,
        present: present_ns.max(0.0) / elapsed_ns.max(1) as f64,
        in_progress: answers_per_s * known.min() as f64 / 1e9,
        cpus: cpu_ns.map(|ns| ns / elapsed_ns as f64),
        cpu_ns: cpu_ns.map(|ns| ns / in_time),
    })
}

/// How answers were shared out.
fn fairness(plan: &LoadPlan, answers: &[u64]) -> Option<Fairness> {
    let closed = matches!(plan.arrivals, Arrivals::Closed | Arrivals::Paced { .. });
    if !(closed && plan.keep_alive) || answers.is_empty() {
        return None;
    }
    let mut sorted = answers.to_vec();
    sorted.sort_unstable();
    let sum: f64 = sorted.iter().map(|count| *count as f64).sum();
    let squares: f64 = sorted.iter().map(|count| (*count as f64).powi(2)).sum();
    Some(Fairness {
        connections: sorted.len() as u32,
        starved: sorted.iter().take_while(|count| **count == 0).count() as u32,
        least: sorted[0],
        median: sorted[sorted.len() / 2],
        most: sorted[sorted.len() - 1],
        // Where none got anything, all got the same.
        index: if squares == 0.0 { 1.0 } else { sum.powi(2) / (sorted.len() as f64 * squares) },
    })
}

/// Requests in flight, by sources that do not depend on each other: looks at some moments against the
/// service times that were recorded; and the response times of a closed loop without a pace against the
/// connections, each of which has a request all the time unless requests fail.
fn audit(
    plan: &LoadPlan,
    tally: &Tally,
    seen: &Surroundings,
    elapsed_ns: u64,
    slices: &[Slice],
) -> Vec<LawCheck> {
    let sum = |times: &Times| sum_ns(&times.known) + sum_ns(&times.censored);
    let check = |law: &str, left: f64, right: f64, tolerance: f64| LawCheck {
        law: law.to_string(),
        left,
        right,
        holds: (left - right).abs() <= tolerance,
    };
    let right = (sum(&tally.service) + tally.failed_ns) / seen.drained_ns.max(1) as f64;
    let sampled = sampled(slices).filter(|seen| seen.looks * seen.mean.max(right) >= SIGHTS_LEAST);
    let sampled = sampled.map(|seen| {
        // Looks that all saw the same show no scatter. Up to `places` requests that come and go by
        // themselves scatter as a binomial number does.
        let free = 1.0 - (right / f64::from(plan.places())).min(1.0);
        let error = seen.error.max((right * free / seen.looks).sqrt());
        let tolerance = (SAMPLED_TOLERANCE * seen.mean.max(right)).max(SAMPLED_ERRORS * error);
        check("N = X · S", seen.mean, right, tolerance)
    });
    // A number of requests, or an interruption, ends some connections before others.
    let asks_always = plan.arrivals == Arrivals::Closed
        && plan.requests.is_none()
        && !seen.stopped
        && tally.failed() == 0
        && elapsed_ns >= SHARES_FROM_NS;
    let connections = asks_always.then(|| {
        let present_ns = sum(&tally.response) + tally.unstarted_ns - tally.late_ns;
        // A connection of HTTP/2 has a request on each of its streams.
        let connections = f64::from(plan.places());
        check("N = c", present_ns / elapsed_ns as f64, connections, LAW_TOLERANCE * connections)
    });
    sampled.into_iter().chain(connections).collect()
}

/// Requests in flight at the moments that were looked at.
struct Sampled {
    looks: f64,
    mean: f64,
    /// The standard error of the mean.
    error: f64,
}

/// Returns what was seen of requests in flight; `None` where there were too few looks.
fn sampled(slices: &[Slice]) -> Option<Sampled> {
    let looks: u64 = slices.iter().map(|slice| slice.in_flight.1).sum();
    let groups: Vec<(u64, u64)> = slices
        .chunks(slices.len().div_ceil(LOOK_GROUPS).max(1))
        .map(|group| {
            let sums = group.iter().map(|slice| slice.in_flight);
            sums.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
        })
        .filter(|(_, looks)| *looks > 0)
        .collect();
    if looks < LOOKS_LEAST || groups.len() < 2 {
        return None;
    }
    let sum: u64 = groups.iter().map(|(sum, _)| sum).sum();
    let mean = sum as f64 / looks as f64;
    let squares = groups.iter().map(|(sum, n)| (*sum as f64 - mean * *n as f64).powi(2));
    let part = groups.len() as f64 / (groups.len() - 1) as f64;
    let error = (part * squares.sum::<f64>()).sqrt() / looks as f64;
    Some(Sampled { looks: looks as f64, mean, error })
}

/// What makes a result doubtful.
fn doubts(result: &LoadResult, tally: &Tally, seen: &Surroundings) -> Vec<String> {
    let mut doubts = Vec::new();
    for law in result.audit.iter().filter(|law| !law.holds) {
        doubts.push(format!(
            "{} does not hold: {:.4} against {:.4} requests in flight; do not rely on this result",
            law.law, law.left, law.right
        ));
    }
    // One that hardly had a CPU read answers late as well, so that it is not known what else would have been.
    let threads_ns = result.elapsed_ns as f64 * f64::from(seen.threads.max(1));
    if tally.queue_wait_ns.is_none_or(|ns| (ns as f64) < STARVED * threads_ns) {
        doubts.extend(late(result));
    }
    if result.elapsed_ns >= SHARES_FROM_NS {
        doubts.extend(shares(result, tally, seen));
    }
    let open = matches!(result.plan.arrivals, Arrivals::Constant { .. } | Arrivals::Poisson { .. });
    // What came due in the last moment is not sent, whatever is free.
    let all_taken = tally.in_flight >= u64::from(result.plan.places());
    let waited = tally.waited + if all_taken { tally.unsent } else { 0 };
    if open && waited > 0 {
        doubts.push(format!(
            "all {} connections were taken when requests came due ({} of them): the loop was not open for \
             these; give it more connections",
            result.plan.connections, waited
        ));
    }
    if tally.without_port > 0 {
        doubts.push(format!(
            "{} connections were not opened because all ephemeral ports were taken: each closed connection \
             keeps its port for a minute (TIME_WAIT); keep connections, or extend \
             net.ipv4.ip_local_port_range",
            tally.without_port
        ));
    }
    if tally.without_descriptor > 0 {
        doubts.push(format!(
            "{} connections were not opened because no descriptor was left; raise the limit (ulimit -n)",
            tally.without_descriptor
        ));
    }
    if tally.stalled > 0 {
        doubts.push(format!(
            "{} requests timed out because the server did not take their bodies: it kept its \
             flow-control window shut (HTTP/2)",
            tally.stalled
        ));
    }
    if seen.stopped {
        doubts.push("it was ended before its time".to_string());
    }
    doubts
}

/// What the machine did beside the server in too great a part of the time.
fn shares(result: &LoadResult, tally: &Tally, seen: &Surroundings) -> Vec<String> {
    let mut doubts = Vec::new();
    let thread_ns = result.elapsed_ns as f64 * f64::from(seen.threads.max(1));
    if seen.busiest_share > BUSY_SHARE {
        doubts.push(format!(
            "a thread of the generator was on a CPU {:.0} % of the time: it may be what limits \
             the load, and not the server; give it more threads",
            100.0 * seen.busiest_share
        ));
    }
    let throttled = seen.throttled_ns as f64;
    let is_throttled = throttled > WAIT_SHARE * result.elapsed_ns as f64;
    if let Some(wait_ns) = tally.queue_wait_ns.filter(|ns| *ns as f64 > WAIT_SHARE * thread_ns) {
        // A thread waits once at a time, whatever several sums of its wait say.
        let share = (100.0 * wait_ns as f64 / thread_ns).min(100.0);
        let by = match is_throttled {
            true => "a CPU quota of its control group held it back",
            false => "others on this machine, perhaps the server, disturbed it",
        };
        doubts.push(format!("the generator waited {share:.0} % of the time for a CPU: {by}"));
    } else if is_throttled {
        doubts.push("a CPU quota of its control group held the generator back".to_string());
    }
    let stolen = seen.stolen_ns.filter(|ns| *ns as f64 > WAIT_SHARE * result.elapsed_ns as f64);
    if let Some(stolen_ns) = stolen {
        doubts.push(format!(
            "the host gave {:.0} % of a CPU's time to others",
            100.0 * stolen_ns as f64 / result.elapsed_ns as f64
        ));
    }
    doubts
}

/// Response times that are the generator's doing to a good part. That it sent some request late says
/// nothing yet: what its users read is a percentile, and that a percentile of a server that answers in
/// some 0.1 ms is longer by the time it takes to be woken is shown next to it and is no doubt.
fn late(result: &LoadResult) -> Option<String> {
    let own = result.own_lateness(LoadResult::OWN_LATENESS_NS)?;
    Some(format!(
        "the generator itself was late: p{} of the response time is {:.3} ms, and would have been {:.3} \
         ms had it sent each request when it could",
        own.percent,
        own.response_ns as f64 / 1e6,
        own.punctual_ns as f64 / 1e6
    ))
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;
