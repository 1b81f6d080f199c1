//! `scruple load URL --predict SERVER`: whether a server does as the queue that it should be.

use super::files;
use super::live::{Watch, silence};
use super::plan::Asked;
use crate::cli::load::LoadArgs;
use crate::destination::place;
use crate::exit::Exit;
use crate::session;
use analysis::{MeasuredLoad, MeasuredRequest, Saturated};
use anyhow::{anyhow, bail};
use model::{Arrivals, LoadPlan, LoadPrediction, Network, PredictedLoad, ServerDemand};
use report::PredictedCurves;
use web::load::{Noted, Outcome};

/// The parts of the saturated throughput at which requests come.
const UTILISATIONS: [f64; 3] = [0.5, 0.7, 0.9];

/// How long one request at a time is asked for, and how long each closed loop lasts that is to find
/// how many connections get the most answers.
const ALONE_MS: u64 = 2_000;
const CLOSED_MS: u64 = 1_500;

/// How long those connections ask again for the throughput that is kept, at most. What is under way at
/// its end is missing from the throughput: half of 16 requests that share a CPU are 1 % of 1.5 s of
/// them, and at 90 % utilisation 1 % of capacity is 10 % of the response time.
const SATURATED_MS_MAX: u64 = 10_000;

/// More connections must bring so much more throughput for yet more to be tried.
const GAIN_LEAST: f64 = 1.03;

/// Connections of the first closed loop, and of the last at most.
const FIRST: u32 = 16;
const MOST: u32 = 1024;

/// The connections of an open loop are at most this multiple of those of the closed loop that got the
/// most answers: there, each had a request under way all the time.
const OPEN_TIMES: u32 = 2;

/// Descriptors that are left for all else.
const FILES_LEFT: u64 = 64;

pub(super) fn predict(args: &LoadArgs, asked: &Asked) -> anyhow::Result<Exit> {
    let Some(server) = args.predict else {
        bail!("--predict needs the model of the server, such as --predict pool:8")
    };
    // Before the loads: what cannot be measured again should have a place.
    let html = place(args.html.as_deref(), "--html")?;
    let study = Study {
        asked,
        watch: Watch::new(None),
        connections_max: args.connections.unwrap_or_else(|| most_open(MOST)),
        fixed: args.connections.is_some(),
        curves: Vec::new(),
    };
    let mut prediction = LoadPrediction {
        format: model::PREDICTION_FORMAT,
        scruple: session::VERSION.into(),
        plan: asked.plan.clone(),
        server,
        cpus: 0,
        demand: None,
        doubts: Vec::new(),
        loads: Vec::new(),
        complete: false,
    };
    let curves = study.conduct(args, &mut prediction)?;
    let drawn = report::prediction(&prediction, &curves);
    let plain = report::prediction(&prediction, &[]);
    files::show(args, html, &prediction, &drawn, Some(&plain))?;
    Ok(if prediction.complete { Exit::Done } else { Exit::Incomplete })
}

/// The loads of one prediction.
struct Study<'a> {
    asked: &'a Asked,
    watch: Watch,
    connections_max: u32,
    /// Whether a number of connections was stated.
    fixed: bool,
    /// The response times of each load that was played.
    curves: Vec<PredictedCurves>,
}

impl Study<'_> {
    /// Conducts all loads, unless it is interrupted. Returns the curves of those that were played.
    fn conduct(
        mut self,
        args: &LoadArgs,
        prediction: &mut LoadPrediction,
    ) -> anyhow::Result<Vec<PredictedCurves>> {
        let Some(alone_ns) = self.alone()? else { return Ok(self.curves) };
        let Some((saturated, doubts)) = self.saturate()? else { return Ok(self.curves) };
        prediction.doubts = doubts;
        let most = sys::affinity::allowed().map_or(1, |cpus| cpus.len() as u32);
        prediction.cpus = args.server_cpus.unwrap_or_else(|| analysis::cpus_seen(&saturated, most));
        let demand =
            analysis::server_demand(prediction.server, prediction.cpus, alone_ns, &saturated);
        let demand = demand.ok_or_else(|| anyhow!("{} answered nothing", self.asked.plan.url))?;
        prediction.demand = Some(demand);
        for (number, utilisation) in UTILISATIONS.into_iter().enumerate() {
            match self.beside(prediction, &demand, utilisation, number as u64)? {
                Some(load) => prediction.loads.push(load),
                None => return Ok(self.curves),
            }
        }
        prediction.complete = true;
        Ok(self.curves)
    }

    /// Returns the mean response time of one request at a time, in ns; `None` if interrupted.
    fn alone(&mut self) -> anyhow::Result<Option<f64>> {
        let plan = self.closed(1, ALONE_MS);
        let Some((outcome, _)) = self.load("one at a time", &plan, false)? else { return Ok(None) };
        if let Some(why) = silence(&outcome.result) {
            bail!("{why}");
        }
        // The one that was under way at the end is one of many, and nobody knows its time.
        Ok(Some(outcome.response.known.mean()))
    }

    /// Returns the closed loop with the most answers, and what makes it doubtful: connections are doubled
    /// until they bring no more, and those that brought the most ask for as long as a load lasts.
    fn saturate(&mut self) -> anyhow::Result<Option<(Saturated, Vec<String>)>> {
        let mut best: Option<(Saturated, Vec<String>)> = None;
        let mut connections = FIRST.min(self.connections_max);
        loop {
            let Some(seen) = self.saturated(connections, CLOSED_MS)? else { return Ok(None) };
            let least = best.as_ref().map_or(0.0, |(best, _)| best.throughput_per_s);
            let gains = seen.0.throughput_per_s > GAIN_LEAST * least;
            if best.is_none() || seen.0.throughput_per_s > least {
                best = Some(seen);
            }
            if !gains || connections >= self.connections_max {
                break;
            }
            connections = (2 * connections).min(self.connections_max);
        }
        let long_ms = self.asked.plan.duration_ms.unwrap_or(0).min(SATURATED_MS_MAX);
        match best {
            Some((best, _)) if long_ms > CLOSED_MS => self.saturated(best.connections, long_ms),
            best => Ok(best),
        }
    }

    /// Returns one closed loop; `None` if it was interrupted.
    fn saturated(
        &mut self,
        connections: u32,
        duration_ms: u64,
    ) -> anyhow::Result<Option<(Saturated, Vec<String>)>> {
        let plan = self.closed(connections, duration_ms);
        let about = format!("{connections} connections");
        let Some((outcome, _)) = self.load(&about, &plan, false)? else { return Ok(None) };
        let result = outcome.result;
        let answered = result.counts.answered.max(1) as f64;
        let seen = Saturated {
            connections,
            throughput_per_s: result.throughput_per_s,
            cpu_seen_ns: result.foreign_cpu_ns.map(|ns| ns as f64 / answered),
        };
        Ok(Some((seen, result.doubts)))
    }

    /// Returns a load at a part of what the server bears, measured and predicted.
    fn beside(
        &mut self,
        prediction: &LoadPrediction,
        demand: &ServerDemand,
        utilisation: f64,
        number: u64,
    ) -> anyhow::Result<Option<PredictedLoad>> {
        let per_s = utilisation * demand.throughput_per_s;
        let seed = self.asked.seed.wrapping_add(number);
        let enough = (OPEN_TIMES * demand.connections).max(self.asked.plan.connections);
        let plan = LoadPlan {
            arrivals: Arrivals::Poisson { per_s, seed },
            connections: if self.fixed { self.asked.plan.connections } else { most_open(enough) },
            ..self.asked.plan.clone()
        };
        let about = format!("{:.0} % of it", 100.0 * utilisation);
        let Some((outcome, noted)) = self.load(&about, &plan, true)? else { return Ok(None) };
        let requests: Vec<MeasuredRequest> = noted.iter().map(|one| observed(one, &plan)).collect();
        let mut doubts = outcome.result.doubts;
        doubts.extend(turned_away(&outcome.result.network));
        let load = MeasuredLoad {
            per_s,
            random: true,
            keep_alive: plan.keep_alive,
            requests: &requests,
            doubts: &doubts,
        };
        let played = analysis::predicted_load(prediction.server, prediction.cpus, demand, &load);
        let played = played.map_err(|why| anyhow!(why))?;
        self.curves.push(curves(&requests, &played.done_ns));
        Ok(Some(played.load))
    }

    /// Returns a closed loop.
    fn closed(&self, connections: u32, duration_ms: u64) -> LoadPlan {
        LoadPlan {
            arrivals: Arrivals::Closed,
            connections,
            threads: self.asked.plan.threads.min(connections),
            duration_ms: Some(duration_ms),
            ..self.asked.plan.clone()
        }
    }

    fn load(
        &mut self,
        about: &str,
        plan: &LoadPlan,
        note: bool,
    ) -> anyhow::Result<Option<(Outcome, Vec<Noted>)>> {
        self.watch.run_part(about, plan, &self.asked.body, note)
    }
}

/// Returns what the play does not know of: it has room for all who come.
fn turned_away(network: &Network) -> Option<String> {
    let times = match network.listen_overflows? {
        0 => return None,
        1 => "once".to_string(),
        n => format!("{n} times"),
    };
    Some(format!(
        "an accept queue on this machine overflowed {times}: such a connection is tried again \
         after a second or more, which the simulation does not include"
    ))
}

/// Returns how long the requests took that were answered in both, measured and simulated.
fn curves(requests: &[MeasuredRequest], predicted: &[Option<u64>]) -> PredictedCurves {
    let took: Vec<(u64, u64)> = requests
        .iter()
        .zip(predicted)
        .filter_map(|(one, predicted)| Some((one.done_ns? - one.at_ns, (*predicted)? - one.at_ns)))
        .collect();
    let curve = |of: fn(&(u64, u64)) -> u64| {
        let mut ns: Vec<u64> = took.iter().map(of).collect();
        ns.sort_unstable();
        let counts: Vec<(u64, u64)> =
            ns.chunk_by(PartialEq::eq).map(|same| (same[0], same.len() as u64)).collect();
        analysis::answered_within(&counts, &[])
    };
    [curve(|it| it.0), curve(|it| it.1)]
}

/// Returns the number of connections wanted, or the most that this process may have open.
fn most_open(wanted: u32) -> u32 {
    let limit = sys::limits::get(sys::limits::Resource::OpenFiles).soft;
    let room = limit.map_or(u64::MAX, |files| files.saturating_sub(FILES_LEFT));
    wanted.min(u32::try_from(room).unwrap_or(u32::MAX)).max(1)
}

/// Returns a request as the simulation takes it. One that was never sent would have come on a connection
/// of its own.
fn observed(one: &Noted, plan: &LoadPlan) -> MeasuredRequest {
    MeasuredRequest {
        at_ns: one.due_ns,
        done_ns: one.done_ns,
        connection: one.connection.unwrap_or(plan.connections),
    }
}

#[cfg(test)]
mod tests {
    use super::turned_away;
    use model::Network;

    #[test]
    fn a_queue_that_overflowed_is_a_doubt() {
        let network = |overflows| Network { listen_overflows: overflows, ..Network::default() };
        assert_eq!((turned_away(&network(None)), turned_away(&network(Some(0)))), (None, None));
        let doubt = |overflows| turned_away(&network(Some(overflows))).unwrap_or_default();
        assert!(doubt(1).starts_with("an accept queue on this machine overflowed once: "));
        assert!(doubt(30).starts_with("an accept queue on this machine overflowed 30 times: "));
    }
}
