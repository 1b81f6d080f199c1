//! How many workers, and of which model, for a stated load: a queue with measured costs, played request by
//! request.
//!
//! A request keeps a worker busy for a service time, of which a part needs a CPU and the rest waits
//! (for a disk, for another machine). So two queues stand one in the other: requests wait for a
//! worker, and busy workers wait for a CPU ([`laws::station`]). Requests come at random.
//!
//! * c = f S + o: the CPU time of a request, with what the model adds to it (`costs`): making and
//!   ending a thread or a process, or a hand-off to a pool; and two switches where it waits.
//! * Times and their 95th percentile are counted in a play (`play`). Service times scatter as their stated
//!   95th percentile says (`Spread`), or as exponential ones do, which is more than most do.
//! * Busy workers are a closed system: each waits for (1 − f) S and then needs a CPU for c. What j of
//!   them do per second, X(j), is found by Buzen's convolution ("Computational algorithms for closed
//!   queueing networks with exponential servers", Communications of the ACM 16, 1973; `pools`). The queue of a
//!   pool of k settles if X(k) exceeds the rate.
//! * The fewest workers that suffice are looked for play by play (`workers`).
//!
//! Everything is computed from the worst end of the measured intervals. No session can check the service
//! time, which is the user's own word.

mod case;
mod costs;
mod play;
mod pools;
mod workers;

pub use case::{CPUS_MAX, WORKERS_MAX};

use case::{Case, Done, Kind, Model, SPREAD_MAX, Spread};
use costs::Costs;
use model::{
    Advice, Design, Gap, Load, MeasuredProgram, Quantity, Record, Refusal, ResponseCurve,
    Sensitivity, Simulated, Staffing, Unit,
};
use play::Arrivals;

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

/// The most connections of a plan that does not say over how many machines they are spread.
pub const CONNECTIONS_MAX: u32 = 10_000;

/// The most connections over all machines.
pub const CONNECTIONS_SPREAD_MAX: u32 = 1_000_000_000;

/// The most connections of one machine, and the most CPUs with them.
const EACH_MAX: u32 = 1_000_000;
const CPUS_SIMULATED_MAX: u32 = 256;

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
    let models = staffings(load, &costs.models, true)?;
    let best = recommended(load, &models);
    let is_alike = |one: &&Staffing| {
        best.is_some_and(|best| is_alike(load, &models, one) && one.model != best.model)
    };
    let mut gaps = costs.gaps;
    if models.iter().any(|one| one.depends_on_spread) {
        gaps.push(Gap {
            what: "how much service times scatter (--service-p95), which decides the target".into(),
            measure: "scruple load URL -c 1".into(),
        });
    }
    let curves = match load.machines {
        Some(_) => Vec::new(),
        None => curves(load, &costs.models, &models).map_err(|error| BadLoad(error.to_string()))?,
    };
    let name = |one: &Staffing| one.model.clone();
    Ok(Advice {
        scruple: input.scruple.into(),
        session: input.session.into(),
        load: load.clone(),
        recommended: best.map(name),
        alike: models.iter().filter(is_alike).map(name).collect(),
        costs: costs.list,
        gaps,
        simulated: simulated(load),
        measured: measured(input),
        sensitivity: Vec::new(),
        curves,
        models,
    })
}

/// Returns what each model needs.
fn staffings(load: &Load, models: &[Model], margin: bool) -> Result<Vec<Staffing>, BadLoad> {
    let all = models.iter().map(|model| staffed(load, model, margin));
    all.collect::<Result<_, laws::Error>>().map_err(|error| BadLoad(error.to_string()))
}

/// Reports whether a model bears the load, as far as is known.
fn bears(load: &Load, one: &Staffing) -> bool {
    one.refusal.is_none() && (load.memory_bytes.is_none() || one.memory_bytes.is_some())
}

/// Reports whether a model bears the load at about the least CPU time per request.
fn is_alike(load: &Load, models: &[Staffing], one: &Staffing) -> bool {
    let bearing = models.iter().filter(|one| bears(load, one));
    let least_ns = bearing.map(|one| one.cpu_ns).fold(f64::INFINITY, f64::min);
    bears(load, one) && one.cpu_ns <= ALIKE * least_ns
}

/// Returns the model to use: of those that are alike the pool, which does not grow with the load, and then
/// the others in their order.
fn recommended<'a>(load: &Load, models: &'a [Staffing]) -> Option<&'a Staffing> {
    models.iter().find(|one| is_alike(load, models, one))
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
        let costs = Costs::of(input.designs, input.records, &load);
        let models = staffings(&load, &costs.models, false)?;
        let best = recommended(&load, &models);
        let workers = best.and_then(|best| best.workers);
        let recommended = best.map(|best| best.model.clone());
        Ok(Sensitivity { change: change.into(), recommended, workers })
    };
    others.map(answer).collect()
}

/// The points of a curve, and the requests that are counted for each.
const CURVE_POINTS: u32 = 20;
const CURVE_COUNTED: u64 = 5_000;

/// Returns the response time of each model that bears the load, from a fraction of it up to what it
/// sustains at most or to twice the connections.
fn curves(
    load: &Load,
    models: &[Model],
    staffed: &[Staffing],
) -> Result<Vec<ResponseCurve>, laws::Error> {
    let mut curves = Vec::new();
    for (model, staffing) in models.iter().zip(staffed).filter(|(_, it)| it.refusal.is_none()) {
        let workers = staffing.workers.unwrap_or(1);
        let mut points = Vec::new();
        for step in 1..=CURVE_POINTS {
            let part = 2.0 * f64::from(step) / f64::from(CURVE_POINTS);
            let case = Case::new(load, model, model.added_ns.point);
            let case = Case { counted: CURVE_COUNTED, ..case };
            let (x, arrivals) = match (load.rate_per_s, load.connections) {
                (Some(rate), _) => (part * rate, Arrivals::Open(part * rate / 1e9)),
                (None, connections) => {
                    let count = ((part * f64::from(connections.unwrap_or(1))) as u32).max(1);
                    (f64::from(count), Arrivals::Closed(count))
                }
            };
            if settles(&case, arrivals, workers) {
                points.push((x, play::done(&case, arrivals, workers)?.response));
            }
        }
        points.dedup_by(|a, b| a.0 == b.0);
        curves.push(ResponseCurve { model: model.name.into(), points });
    }
    Ok(curves)
}

/// Reports whether the queue of this number of workers settles.
fn settles(case: &Case<'_>, arrivals: Arrivals, workers: u32) -> bool {
    match arrivals {
        Arrivals::Closed(connections) => connections <= CONNECTIONS_MAX,
        Arrivals::Open(rate) if case.kind == Kind::Pool => {
            pools::rates(case.cpus, case.cpu_ns, case.idle_ns, workers)
                .last()
                .is_some_and(|does| rate < *does)
        }
        Arrivals::Open(rate) => rate * case.cpu_ns < f64::from(case.cpus),
    }
}

/// Returns what was simulated, if anything was.
fn simulated(load: &Load) -> Option<Simulated> {
    let (machines, connections) = load.machines.zip(load.connections)?;
    let connections = connections.div_ceil(machines);
    let requests = play::counted(connections, case::COUNTED);
    Some(Simulated { connections, requests, seed: play::SEED })
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
    let day_ns = 24.0 * 3600.0 * 1e9;
    if load.service_ns > day_ns || load.think_ns > day_ns {
        return wrong("times that are simulated must be at most a day");
    }
    let multiple = load.service_p95_ns.map(|p95_ns| p95_ns / load.service_ns);
    if multiple.is_some_and(|multiple| !(1.0..=SPREAD_MAX).contains(&multiple)) {
        return wrong("the 95th percentile of the service time must be 1 to 3.8 times its mean");
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
    if count == 0 || count.div_ceil(machines) > EACH_MAX {
        return wrong("the connections of each machine must be 1 to 1,000,000");
    }
    if load.cpus > CPUS_SIMULATED_MAX {
        return wrong("a machine that is simulated has at most 256 CPUs");
    }
    if load.target_p95_ns.is_some() {
        return wrong(
            "a target time cannot be combined with several machines: state the machines, and see \
             their times",
        );
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
    let found = done(&Case { load: &given, margin: false, ..*case })?;
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
    let asked = (wanted * case.cpu_ns).min(f64::from(u32::MAX) - 1.0) as u32 + 1;
    (wanted >= most && throughput < wanted).then(|| Refusal::Cpus {
        cpus_least: (case.kind != Kind::Loop).then_some(asked),
        rate_below_per_s: most * 1e9,
    })
}

/// Returns what a case needs, or why nothing suffices.
fn done(case: &Case<'_>) -> Result<Result<Done, Refusal>, laws::Error> {
    match arrivals(case.load) {
        Arrivals::Open(rate) => workers::open(case, rate),
        Arrivals::Closed(connections) => workers::closed(case, connections),
    }
}

/// Returns what a case needs. Where nobody stated how service times scatter and exponential ones miss the
/// target, those that are all equal decide whether it can be met.
fn needed(case: &Case<'_>) -> Result<(Result<Done, Refusal>, Spread), laws::Error> {
    let found = with_headroom(case)?;
    let misses = matches!(found, Err(Refusal::Target { .. } | Refusal::Late { .. }));
    if !misses || case.spread != Spread::Exponential {
        return Ok((found, case.spread));
    }
    Ok((with_headroom(&Case { spread: Spread::Equal, ..*case })?, Spread::Equal))
}

fn staffed(load: &Load, model: &Model, margin: bool) -> Result<Staffing, laws::Error> {
    let worst = Case { margin, ..Case::new(load, model, model.added_ns.high) };
    let point = Case::new(load, model, model.added_ns.point);
    let mut staffing = Staffing {
        model: model.name.into(),
        cpu_point_ns: point.cpu_ns,
        cpu_ns: worst.cpu_ns,
        ..Staffing::default()
    };
    let (found, spread) = needed(&worst)?;
    let needed = match found {
        Ok(needed) => needed,
        Err(refusal) => {
            staffing.refusal = Some(refusal);
            return Ok(staffing);
        }
    };
    staffing.depends_on_spread = worst.spread != spread;
    // What is shown first is the time of exponential ones, whichever decided.
    let arrivals = arrivals(load);
    let needed = match spread {
        Spread::Equal => {
            let shown = play::done(&worst, arrivals, needed.workers)?;
            let Done { workers, holders, least, rate_most, .. } = needed;
            Done { workers, holders, least, rate_most, ..shown }
        }
        _ => needed,
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
    let cheap = with_headroom(&Case { spread, ..point })?.ok();
    let least = play::done(&evenly(point), arrivals, needed.workers)?;
    Ok(Staffing {
        workers: Some(needed.workers),
        workers_point: cheap.map(|done| done.workers),
        workers_least: Some(needed.least),
        throughput_per_s: Some(needed.throughput * 1e9),
        cpu_busy: Some(needed.cpus / f64::from(worst.cpus)),
        worker_busy: Some((needed.busy / f64::from(needed.workers)).min(1.0)),
        present: Some(laws::little::present(needed.throughput, needed.response)?),
        wait_ns: Some(needed.wait),
        response_ns: Some(needed.response),
        p95_ns: Some(needed.p95),
        p95_least_ns: Some(least.p95.min(needed.p95)),
        memory_bytes: needed_bytes,
        memory_least_bytes: model.memory_bytes.map(|each| {
            let each = less * each.low.max(0.0) + own;
            base_least_bytes + each * f64::from(needed.holders)
        }),
        rate_most_per_s: needed.rate_most.map(|rate| rate * 1e9),
        ..staffing
    })
}

/// Returns the same queue with the least scatter that is possible, where nothing is known of it.
fn evenly<'a>(point: Case<'a>) -> Case<'a> {
    match point.spread {
        Spread::Exponential => Case { spread: Spread::Equal, ..point },
        _ => point,
    }
}

/// Returns how the requests of a load come to a machine.
fn arrivals(load: &Load) -> Arrivals {
    match (load.rate_per_s, load.connections) {
        (Some(rate), _) => Arrivals::Open(rate / 1e9),
        (None, count) => Arrivals::Closed(count.unwrap_or(1).div_ceil(load.machines.unwrap_or(1))),
    }
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
