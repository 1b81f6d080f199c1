//! How many workers, and of which model, for a stated load: measured costs put into queueing forms.
//!
//! A request keeps a worker busy for a service time, of which a part needs a CPU and the rest waits
//! (for a disk, for another machine). So two queues stand one in the other: requests wait for a
//! worker, and busy workers wait for a CPU ([`laws::queue`]). Requests come at random, and times
//! scatter as exponential ones do, which is more than most do.
//!
//! * c = f S + o: the CPU time of a request, with what the model adds to it (`costs`): making and
//!   ending a thread or a process, or a hand-off to a pool; and two switches where it waits.
//! * Busy workers are a closed system: each waits for (1 − f) S and then needs a CPU for c. What j of
//!   them do per second, X(j), is found by Buzen's convolution ("Computational algorithms for closed
//!   queueing networks with exponential servers", Communications of the ACM 16, 1973).
//! * A pool of k workers is a station that does X(j) while j ≤ k are busy. Its queue settles if X(k)
//!   exceeds the rate. A test plays such pools request by request.
//! * Of a model that makes a worker for each request the response time is (1 − f) S + R(c), R being
//!   that of M/M/n with as many servers as there are CPUs.
//! * With connections in place of a rate the whole is closed and never unstable: the workers are the
//!   same station, and the connections a population that thinks and asks.
//! * With connections over several machines one of them is played request by request (`machines`).
//!
//! Everything is computed from the worst end of the measured intervals. No session can check the service
//! time, which is the user's own word.

mod case;
mod closed;
mod costs;
mod machines;
mod open;
mod pools;

pub use case::{CPUS_MAX, WORKERS_MAX};

use case::{Case, Done, Model};
use costs::Costs;
use model::{
    Advice, Design, Load, MeasuredProgram, Quantity, Record, Refusal, Simulated, Staffing, Unit,
};

/// What a plan is made from.
#[derive(Clone, Debug)]
pub struct PlanInput<'a> {
    /// Version of the scruple that plans.
    pub scruple: &'a str,
    /// The session's name.
    pub session: &'a str,
    /// What the session measured.
    pub designs: &'a [Design],
    /// Its trials.
    pub records: &'a [Record],
    /// The load.
    pub load: Load,
}

/// The most connections that formulas are used for.
pub const CONNECTIONS_MAX: u32 = 10_000;

/// The most connections over all machines.
pub const CONNECTIONS_SPREAD_MAX: u32 = 1_000_000_000;

/// The most machines.
pub const MACHINES_MAX: u32 = 1_000_000;

/// The most of the capacity that may be left unused.
const HEADROOM_MAX: f64 = 0.9;

/// Models that cost at most this multiple of the CPU time per request are as good as the best.
const ALIKE: f64 = 1.05;

/// Why a load cannot be planned for.
#[derive(Clone, Debug, PartialEq)]
pub struct BadLoad(pub String);

/// Returns what a load needs, from what the trials of a session say.
///
/// # Errors
/// If the load states neither a rate nor connections, or both, or a number that cannot be.
pub fn plan(input: &PlanInput<'_>) -> Result<Advice, BadLoad> {
    let load = &input.load;
    check(load)?;
    let costs = Costs::of(input.designs, input.records, load);
    let models: Vec<Staffing> = costs
        .models
        .iter()
        .map(|model| staffed(load, model))
        .collect::<Result<_, laws::Error>>()
        .map_err(|error| BadLoad(error.to_string()))?;
    let bears = |one: &&Staffing| {
        one.refusal.is_none() && (load.memory_bytes.is_none() || one.memory_bytes.is_some())
    };
    let cpu_ns = models.iter().filter(bears).map(|one| one.cpu_ns).fold(f64::INFINITY, f64::min);
    let alike = |one: &&Staffing| one.cpu_ns <= ALIKE * cpu_ns;
    // Of those that are alike the pool, which does not grow with the load, and then the others in
    // their order.
    let best = models.iter().filter(bears).find(alike);
    let other = |one: &&Staffing| best.is_some_and(|best| best.model != one.model);
    let name = |one: &Staffing| one.model.clone();
    Ok(Advice {
        format: model::ADVICE_FORMAT,
        scruple: input.scruple.into(),
        session: input.session.into(),
        load: load.clone(),
        recommended: best.map(name),
        alike: models.iter().filter(bears).filter(alike).filter(other).map(name).collect(),
        costs: costs.list,
        gaps: costs.gaps,
        simulated: simulated(load),
        measured: measured(input),
        models,
    })
}

/// Returns what was simulated, if anything was.
fn simulated(load: &Load) -> Option<Simulated> {
    let (machines, connections) = load.machines.zip(load.connections)?;
    let connections = connections.div_ceil(machines);
    Some(Simulated { connections, requests: machines::counted(connections), seed: machines::SEED })
}

fn check(load: &Load) -> Result<(), BadLoad> {
    let wrong = |what: &str| Err(BadLoad(what.into()));
    let positive = |x: f64| x.is_finite() && x > 0.0;
    match (load.rate_per_s, load.connections) {
        (None, None) => return wrong("a load is a rate or a number of connections"),
        (Some(_), Some(_)) => {
            return wrong("a load is a rate or a number of connections, not both");
        }
        (Some(rate), None) if !positive(rate) => return wrong("the rate must be above 0"),
        (None, Some(count)) => connections(load, count)?,
        _ if load.machines.is_some() => {
            return wrong("over machines only connections can be spread, not a rate");
        }
        _ => {}
    }
    if !positive(load.service_ns) {
        return wrong("the service time must be above 0");
    }
    if !(0.0..=1.0).contains(&load.cpu_share) {
        return wrong("the CPU share must be 0 to 1");
    }
    if !(load.think_ns.is_finite() && load.think_ns >= 0.0) {
        return wrong("the think time must be 0 or more");
    }
    if !(0.0..=HEADROOM_MAX).contains(&load.headroom) {
        return wrong("the headroom must be 0 to 90 %");
    }
    if load.workers.is_some_and(|count| !(1..=WORKERS_MAX).contains(&count)) {
        return wrong("the workers must be 1 to 100,000");
    }
    if !(1..=CPUS_MAX).contains(&load.cpus) { wrong("the CPUs must be 1 to 4096") } else { Ok(()) }
}

/// Connections, on one machine or on several.
fn connections(load: &Load, count: u32) -> Result<(), BadLoad> {
    let wrong = |what: &str| Err(BadLoad(what.into()));
    let Some(machines) = load.machines else {
        if (1..=CONNECTIONS_MAX).contains(&count) {
            return Ok(());
        }
        return wrong("the connections must be 1 to 10,000; more over --machines, by simulation");
    };
    if !(1..=MACHINES_MAX).contains(&machines) {
        return wrong("the machines must be 1 to 1,000,000");
    }
    if count == 0 || count.div_ceil(machines) > machines::EACH_MAX {
        return wrong("the connections of each machine must be 1 to 1,000,000");
    }
    if load.cpus > machines::CPUS_SIMULATED_MAX {
        return wrong("a machine that is simulated has at most 256 CPUs");
    }
    if load.target_p95_ns.is_some() {
        return wrong(
            "a target time cannot be combined with several machines: state the machines, and see \
             their times",
        );
    }
    let day_ns = 24.0 * 3600.0 * 1e9;
    if load.service_ns > day_ns || load.think_ns > day_ns {
        return wrong("times that are simulated must be at most a day");
    }
    Ok(())
}

/// Returns what a case needs, or why nothing suffices.
fn done(case: &Case<'_>) -> Result<Result<Done, Refusal>, laws::Error> {
    let load = case.load;
    match (load.rate_per_s, load.connections, load.machines) {
        (Some(rate), _, _) => open::done(case, rate / 1e9),
        (None, Some(connections), Some(machines)) => {
            machines::done(case, connections.div_ceil(machines))
        }
        (None, connections, _) => closed::done(case, connections.unwrap_or(1)),
    }
}

fn staffed(load: &Load, model: &Model) -> Result<Staffing, laws::Error> {
    let used = 1.0 - load.headroom;
    let raised = Load { rate_per_s: load.rate_per_s.map(|rate| rate / used), ..load.clone() };
    let worst = Case::new(&raised, model, model.added_ns.high);
    let point = Case::new(&raised, model, model.added_ns.point);
    let mut staffing = Staffing {
        model: model.name.into(),
        cpu_point_ns: point.cpu_ns,
        cpu_ns: worst.cpu_ns,
        ..Staffing::default()
    };
    let asked = done(&worst)?.map_err(|refusal| lowered(refusal, used));
    let asked = asked.and_then(|asked| with_headroom(&worst, used, asked));
    let needed = match asked {
        Ok(needed) => needed,
        Err(refusal) => {
            staffing.refusal = Some(refusal);
            return Ok(staffing);
        }
    };
    // Sized for the raised rate, they have the stated one.
    let own = Load { workers: load.workers.or(Some(needed.workers)), ..load.clone() };
    let does = match load.headroom > 0.0 && load.rate_per_s.is_some() {
        true => done(&Case::new(&own, model, model.added_ns.high))?.unwrap_or(needed),
        false => needed,
    };
    let each_bytes = model.memory_bytes.map(|ends| ends.high.max(0.0) + load.worker_memory_bytes);
    let needed_bytes = each_bytes.map(|each| each * f64::from(needed.holders));
    if let (Some(needed_bytes), Some(each), Some(limit)) =
        (needed_bytes, each_bytes, load.memory_bytes)
        && needed_bytes > limit
    {
        let workers_fit = (limit / each).min(f64::from(u32::MAX)) as u32;
        staffing.refusal = Some(Refusal::Memory { needed_bytes, workers_fit });
        return Ok(staffing);
    }
    Ok(Staffing {
        workers: Some(needed.workers),
        workers_point: done(&point)?.ok().map(|done| done.workers),
        workers_least: Some(needed.least),
        throughput_per_s: Some(does.throughput * 1e9),
        cpu_busy: Some(does.cpus / f64::from(worst.cpus)),
        worker_busy: Some((does.busy / f64::from(needed.workers)).min(1.0)),
        present: Some(laws::little::present(does.throughput, does.response)?),
        wait_ns: Some(does.wait),
        response_ns: Some(does.response),
        p95_ns: Some(does.p95),
        memory_bytes: needed_bytes,
        rate_most_per_s: needed.rate_most.map(|rate| rate * 1e9),
        ..staffing
    })
}

/// Returns a refusal of a raised rate in terms of the stated one.
fn lowered(refusal: Refusal, used: f64) -> Refusal {
    match refusal {
        Refusal::Cpus { cpus_least, rate_below_per_s } => {
            Refusal::Cpus { cpus_least, rate_below_per_s: used * rate_below_per_s }
        }
        other => other,
    }
}

/// Refuses connections that think between their requests if they leave too little of the CPUs. Without a
/// pause they use whatever there is.
fn with_headroom(case: &Case<'_>, used: f64, done: Done) -> Result<Done, Refusal> {
    let thinks = case.load.rate_per_s.is_none() && case.load.think_ns > 0.0;
    let cpus = f64::from(case.cpus);
    if !thinks || done.cpus <= used * cpus || used >= 1.0 {
        return Ok(done);
    }
    let cpus_least = (done.cpus / used).ceil().min(f64::from(CPUS_MAX)) as u32;
    Err(Refusal::Cpus { cpus_least, rate_below_per_s: used * cpus / case.cpu_ns * 1e9 })
}

/// Programs of the user's whose throughput was measured by number of workers.
fn measured(input: &PlanInput<'_>) -> Vec<MeasuredProgram> {
    let Some(rate) = input.load.rate_per_s else { return Vec::new() };
    let mut found = Vec::new();
    for design in input.designs.iter().filter(|design| design.subject.is_some()) {
        let rates = design.responses.iter().filter(|response| response.unit == Unit::PerSecond);
        for response in rates {
            let counts = design.factors.iter().filter(|factor| {
                factor.levels.len() > 1 && factor.levels.iter().all(|level| level.value.is_some())
            });
            for factor in counts {
                let levels = factor.levels.iter().filter_map(|level| {
                    let at = model::Cell::new([(factor.name.as_str(), level.name.as_str())]);
                    let quantity = Quantity::Value { response: response.name.clone(), at };
                    let estimate = costs::estimate(design, input.records, &quantity)?;
                    Some((level.name.clone(), estimate))
                });
                let levels: Vec<_> = levels.collect();
                let best = levels.iter().max_by(|a, b| a.1.point.total_cmp(&b.1.point));
                let Some(best) = best else { continue };
                let enough = levels.iter().find(|(_, throughput)| throughput.low >= rate);
                found.push(MeasuredProgram {
                    experiment: design.id.clone(),
                    response: response.name.clone(),
                    factor: factor.name.clone(),
                    level: enough.map(|(level, _)| level.clone()),
                    throughput: enough.unwrap_or(best).1,
                    best_level: best.0.clone(),
                });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests;
