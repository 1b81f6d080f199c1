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

use case::{Case, Done, Kind, Model};
use costs::Costs;
use model::{
    Advice, Design, Load, MeasuredProgram, Quantity, Record, Refusal, ResponseCurve, Sensitivity,
    Simulated, Staffing, Unit,
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

/// Models that cost at most this multiple of the CPU time per request are as good as the best.
const ALIKE: f64 = 1.05;

/// Memory is planned with this share more and less than the ends of its interval: the heaps of runtimes, and
/// the kernel's memory, differ by that much from run to run and from program to program
/// (docs/notes/threads-or-async.md).
const MEMORY_MARGIN: f64 = 0.1;

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
    let curves = match load.machines {
        Some(_) => Vec::new(),
        None => curves(load, &costs.models, &models).map_err(|error| BadLoad(error.to_string()))?,
    };
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
        sensitivity: Vec::new(),
        curves,
        models,
    })
}

/// Returns what each number of the load decides: what would be recommended for other ones.
///
/// # Errors
/// As [`plan`].
pub fn sensitivity(input: &PlanInput<'_>) -> Result<Vec<Sensitivity>, BadLoad> {
    let load = &input.load;
    let twice = |load: &Load| Load {
        rate_per_s: load.rate_per_s.map(|rate| 2.0 * rate),
        connections: load.connections.map(|count| 2 * count),
        ..load.clone()
    };
    let mut others = vec![
        ("twice the load", twice(load)),
        (
            "twice the CPU time of a request",
            Load {
                service_ns: load.service_ns * (1.0 + load.cpu_share),
                cpu_share: 2.0 * load.cpu_share / (1.0 + load.cpu_share),
                ..load.clone()
            },
        ),
        ("half the CPUs", Load { cpus: load.cpus.div_ceil(2), ..load.clone() }),
    ];
    if let Some(bytes) = load.memory_bytes {
        others.push(("half the memory", Load { memory_bytes: Some(bytes / 2.0), ..load.clone() }));
    }
    let is_possible = |load: &Load| load.connections.is_none_or(|count| count <= CONNECTIONS_MAX);
    let others = others.into_iter().filter(|(_, other)| other != load && is_possible(other));
    let answer = |(change, load): (&str, Load)| {
        let advice = plan(&PlanInput { load, ..input.clone() })?;
        let best = advice.models.iter().find(|one| Some(&one.model) == advice.recommended.as_ref());
        let workers = best.and_then(|best| best.workers);
        Ok(Sensitivity { change: change.into(), recommended: advice.recommended, workers })
    };
    others.map(answer).collect()
}

/// The points of a curve.
const CURVE_POINTS: u32 = 40;

/// Returns the response time of each model that bears the load, from a fraction of it up to what it
/// sustains at most or to twice the connections.
fn curves(
    load: &Load,
    models: &[Model],
    staffed: &[Staffing],
) -> Result<Vec<ResponseCurve>, laws::Error> {
    let mut curves = Vec::new();
    for (model, staffing) in models.iter().zip(staffed).filter(|(_, it)| it.refusal.is_none()) {
        let free = Load { target_p95_ns: None, workers: staffing.workers, ..load.clone() };
        let mut points = Vec::new();
        for step in 1..=CURVE_POINTS {
            let part = 2.0 * f64::from(step) / f64::from(CURVE_POINTS);
            let at = Load {
                rate_per_s: load.rate_per_s.map(|rate| part * rate),
                connections: load
                    .connections
                    .map(|count| ((part * f64::from(count)) as u32).max(1)),
                ..free.clone()
            };
            let x = at.rate_per_s.unwrap_or_else(|| f64::from(at.connections.unwrap_or(1)));
            let case = Case::new(&at, model, model.added_ns.point);
            if at.connections.is_none_or(|count| count <= CONNECTIONS_MAX)
                && let Ok(done) = done(&case)?
            {
                points.push((x, done.response));
            }
        }
        points.dedup_by(|a, b| a.0 == b.0);
        curves.push(ResponseCurve { model: model.name.into(), points });
    }
    Ok(curves)
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
    if !(load.headroom.is_finite() && (0.0..=10.0).contains(&load.headroom)) {
        return wrong("the headroom must be 0 to 1000 %");
    }
    if !(load.think_ns.is_finite() && load.think_ns >= 0.0) {
        return wrong("the think time must be 0 or more");
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

/// Returns what the model needs so that the load may grow by the headroom, and what that does under the
/// stated load; or why nothing suffices.
fn with_headroom(case: &Case<'_>) -> Result<Result<Done, Refusal>, laws::Error> {
    let load = case.load;
    if !load.keeps_headroom() {
        return done(case);
    }
    let more = 1.0 + load.headroom;
    let grown = Load {
        rate_per_s: load.rate_per_s.map(|rate| more * rate),
        connections: load.connections.map(|count| (more * f64::from(count)).ceil() as u32),
        ..load.clone()
    };
    let needed = match done(&Case { load: &grown, ..*case })? {
        Ok(needed) => needed,
        Err(refusal) => return Ok(Err(refusal)),
    };
    if let Some(refusal) = too_busy(case, needed.throughput) {
        return Ok(Err(refusal));
    }
    let workers = (case.kind == Kind::Pool).then_some(needed.workers);
    let given = Load { workers, ..load.clone() };
    let found = done(&Case { load: &given, ..*case })?;
    // Workers are made before the load grows.
    Ok(found.map(|found| {
        let found = Done { rate_most: needed.rate_most, ..found };
        match case.kind {
            Kind::Pool => Done { workers: needed.workers, holders: needed.holders, ..found },
            Kind::Each | Kind::Loop => found,
        }
    }))
}

/// Returns why connections ask for more CPU time than there is: they wait, and so ask less often than they
/// would.
fn too_busy(case: &Case<'_>, throughput: f64) -> Option<Refusal> {
    let load = case.load;
    let wanted = f64::from(load.connections?) * (1.0 + load.headroom)
        / (load.think_ns + case.idle_ns + case.cpu_ns);
    let most = f64::from(case.cpus) / case.cpu_ns;
    (wanted >= most && throughput < wanted).then(|| Refusal::Cpus {
        cpus_least: (wanted * case.cpu_ns).min(f64::from(u32::MAX) - 1.0) as u32 + 1,
        rate_below_per_s: most * 1e9,
    })
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
    let worst = Case::new(load, model, model.added_ns.high);
    let point = Case::new(load, model, model.added_ns.point);
    let mut staffing = Staffing {
        model: model.name.into(),
        cpu_point_ns: point.cpu_ns,
        cpu_ns: worst.cpu_ns,
        ..Staffing::default()
    };
    let needed = match with_headroom(&worst)? {
        Ok(needed) => needed,
        Err(refusal) => {
            staffing.refusal = Some(refusal);
            return Ok(staffing);
        }
    };
    let (more, less) = (1.0 + MEMORY_MARGIN, 1.0 - MEMORY_MARGIN);
    let own = load.worker_memory_bytes;
    let each_bytes = model.memory_bytes.map(|ends| more * ends.high.max(0.0) + own);
    let open = load.connections.map_or(0, |count| count.div_ceil(load.machines.unwrap_or(1)));
    let base = |base: f64, each: f64| base.max(0.0) + each.max(0.0) * f64::from(open);
    let base_bytes = more * base(model.base_bytes.high, model.open_bytes.high);
    let base_least_bytes = less * base(model.base_bytes.low, model.open_bytes.low);
    let needed_bytes = each_bytes.map(|each| base_bytes + each * f64::from(needed.holders));
    if let (Some(needed_bytes), Some(each), Some(limit)) =
        (needed_bytes, each_bytes, load.memory_bytes)
        && needed_bytes > limit
    {
        let workers_fit = ((limit - base_bytes).max(0.0) / each).min(f64::from(u32::MAX)) as u32;
        staffing.refusal = Some(Refusal::Memory { needed_bytes, workers_fit });
        return Ok(staffing);
    }
    let cheap = with_headroom(&point)?.ok();
    Ok(Staffing {
        workers: Some(needed.workers),
        workers_point: cheap.as_ref().map(|done| done.workers),
        workers_least: Some(needed.least),
        throughput_per_s: Some(needed.throughput * 1e9),
        cpu_busy: Some(needed.cpus / f64::from(worst.cpus)),
        worker_busy: Some((needed.busy / f64::from(needed.workers)).min(1.0)),
        present: Some(laws::little::present(needed.throughput, needed.response)?),
        wait_ns: Some(needed.wait),
        response_ns: Some(needed.response),
        p95_ns: Some(needed.p95),
        p95_least_ns: cheap.map(|done| point.p95_least(&done).min(needed.p95)),
        memory_bytes: needed_bytes,
        memory_least_bytes: model.memory_bytes.map(|each| {
            let each = less * each.low.max(0.0) + own;
            base_least_bytes + each * f64::from(needed.holders)
        }),
        rate_most_per_s: needed.rate_most.map(|rate| rate * 1e9),
        ..staffing
    })
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
