//! `scruple load URL --predict`: which models of a server are consistent with its response times.

use super::files;
use super::live::{Watch, silence};
use super::plan::Asked;
use super::server_cpu::Server;
use crate::cli::load::{LoadArgs, Supposed};
use crate::destination::place;
use crate::exit::Exit;
use crate::session;
use analysis::{MeasuredLoad, MeasuredRequest};
use anyhow::{anyhow, bail};
use model::{Arrivals, Estimate, LoadPlan, LoadPrediction, Network, ServerSeen};
use report::PredictedCurves;
use web::load::{Noted, Outcome};

/// The parts of the saturated throughput at which requests come.
const UTILISATIONS: [f64; 3] = [0.5, 0.7, 0.9];

/// How long one request at a time is asked for in each piece, and how long each closed loop lasts that is to
/// find how many connections get the most answers.
const ALONE_MS: u64 = 700;
const CLOSED_MS: u64 = 1_500;

/// Those connections ask again in that number of pieces for the throughput that is kept, all of them together
/// for at most this time. At 90 % utilisation 1 % of capacity is 10 % of the response time.
const PIECES: u64 = 3;
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
    // Before the loads: what cannot be measured again should have a place.
    let html = place(args.html.as_deref(), "--html")?;
    let supposed = match args.predict {
        Some(Supposed::Kind(kind)) => Some(kind),
        _ => None,
    };
    let mut prediction = LoadPrediction {
        format: model::PREDICTION_FORMAT,
        scruple: session::VERSION.into(),
        plan: asked.plan.clone(),
        asked: args.expect_model.or(supposed),
        seen: None,
        doubts: Vec::new(),
        models: Vec::new(),
        complete: false,
    };
    let mut study = Study {
        asked,
        server: Server::find(&asked.plan.url),
        watch: Watch::new(None),
        connections_max: args.connections.unwrap_or_else(|| most_open(MOST)),
        fixed: args.connections.is_some(),
        alone_ns: Vec::new(),
        doubts: Vec::new(),
    };
    let mut loads = Vec::new();
    prediction.complete = study.conduct(args, &mut prediction.seen, &mut loads)?;
    prediction.doubts = study.doubts;
    if let Some(seen) = &prediction.seen {
        let measured: Vec<MeasuredLoad<'_>> = loads.iter().map(Noticed::measured).collect();
        let (server, keep_alive) = (prediction.asked, asked.plan.keep_alive);
        let models = analysis::predicted_models(seen, server, keep_alive, &measured);
        prediction.models = models.map_err(|why| anyhow!(why))?;
    }
    let ends = |load: &Noticed| {
        let shown = prediction.shown();
        let ends = shown.map(|model| analysis::predicted_ends(model, &load.requests));
        curves(&load.requests, &ends.unwrap_or_default())
    };
    let curves: Vec<PredictedCurves> = loads.iter().map(ends).collect();
    let drawn = report::prediction(&prediction, &curves);
    let plain = report::prediction(&prediction, &[]);
    files::show(args, html, &prediction, &drawn, Some(&plain))?;
    let expected = args.expect_model.and_then(|kind| prediction.is_consistent(kind));
    Ok(match expected {
        _ if !prediction.complete => Exit::Incomplete,
        Some(false) => Exit::Refuted,
        None if args.expect_model.is_some() => Exit::Incomplete,
        _ => Exit::Done,
    })
}

/// What was measured at one rate.
struct Noticed {
    per_s: f64,
    utilisation: f64,
    requests: Vec<MeasuredRequest>,
    doubts: Vec<String>,
}

impl Noticed {
    fn measured(&self) -> MeasuredLoad<'_> {
        let Noticed { per_s, utilisation, requests, doubts } = self;
        MeasuredLoad { per_s: *per_s, utilisation: *utilisation, requests, doubts }
    }
}

/// The loads of one prediction.
struct Study<'a> {
    asked: &'a Asked,
    server: Server,
    watch: Watch,
    connections_max: u32,
    /// Whether a number of connections was stated.
    fixed: bool,
    /// The mean response time of one request at a time, in each piece of it.
    alone_ns: Vec<f64>,
    /// What made the closed loops doubtful.
    doubts: Vec<String>,
}

/// A closed loop.
#[derive(Clone, Copy)]
struct Closed {
    connections: u32,
    per_s: f64,
    /// CPU time of the server's own processes, per answer and per time.
    cpu_ns: Option<f64>,
    cpus_busy: Option<f64>,
}

impl Study<'_> {
    /// Conducts all loads. False if it was interrupted.
    fn conduct(
        &mut self,
        args: &LoadArgs,
        seen: &mut Option<ServerSeen>,
        loads: &mut Vec<Noticed>,
    ) -> anyhow::Result<bool> {
        let Some(connections) = self.most_answers()? else { return Ok(false) };
        let Some(pieces) = self.pieces(connections)? else { return Ok(false) };
        let rates: Vec<f64> = pieces.iter().map(|piece| piece.per_s).collect();
        let throughput = analysis::median(&rates).filter(|per_s| *per_s > 0.0);
        let Some(per_s) = throughput else { bail!("{} answered nothing", self.asked.plan.url) };
        for (number, utilisation) in UTILISATIONS.into_iter().enumerate() {
            if !self.alone()? {
                return Ok(false);
            }
            match self.open(utilisation, per_s, connections, number as u64)? {
                Some(load) => loads.push(load),
                None => break,
            }
        }
        let middle = |of: fn(&Closed) -> Option<f64>| {
            let all: Option<Vec<f64>> = pieces.iter().map(of).collect();
            analysis::median(&all?)
        };
        let allowed = || sys::affinity::allowed().map_or(1, |cpus| cpus.len() as u32);
        *seen = analysis::median_estimate(&self.alone_ns).map(|alone_ns| ServerSeen {
            alone_ns,
            connections,
            throughput_per_s: Estimate {
                point: per_s,
                low: rates.iter().copied().fold(f64::INFINITY, f64::min),
                high: rates.iter().copied().fold(0.0, f64::max),
                standard_error: None,
                // The median of three lies between the least and the most of them in 3 of 4 cases.
                level: 0.75,
                samples: rates.len() as u32,
            },
            cpu_ns: middle(|piece| piece.cpu_ns),
            cpus_busy: middle(|piece| piece.cpus_busy),
            cpus: args.server_cpus.unwrap_or_else(allowed),
        });
        Ok(loads.len() == UTILISATIONS.len())
    }

    /// Adds the mean response time of one request at a time. False if interrupted.
    fn alone(&mut self) -> anyhow::Result<bool> {
        let plan = self.closed(1, ALONE_MS);
        let Some((outcome, _)) = self.load("one at a time", &plan, false)? else {
            return Ok(false);
        };
        if let Some(why) = silence(&outcome.result).filter(|_| self.alone_ns.is_empty()) {
            bail!("{why}");
        }
        // The one that was under way at the end is one of many, and nobody knows its time.
        let known = &outcome.response.known;
        self.alone_ns.extend((!known.is_empty()).then(|| known.mean()));
        Ok(true)
    }

    /// Returns how many connections get the most answers: they are doubled until they bring no more, and the most of
    /// those that are alike count.
    fn most_answers(&mut self) -> anyhow::Result<Option<u32>> {
        let mut best: Option<Closed> = None;
        let mut connections = FIRST.min(self.connections_max);
        loop {
            if !self.alone()? {
                return Ok(None);
            }
            let Some(seen) = self.saturated(connections, CLOSED_MS)? else { return Ok(None) };
            let least = best.map_or(0.0, |best| best.per_s);
            if best.is_none() || seen.per_s > least {
                best = Some(seen);
            }
            let gains = seen.per_s > GAIN_LEAST * least;
            if !gains || connections >= self.connections_max {
                // As many as bring no more, and cost nothing, show that something limits the server.
                let kept = best.filter(|best| GAIN_LEAST * seen.per_s < best.per_s);
                return Ok(Some(kept.map_or(connections, |best| best.connections)));
            }
            connections = (2 * connections).min(self.connections_max);
        }
    }

    /// Returns the pieces of the closed loop whose throughput is kept; requests one at a time come between
    /// them. What makes it doubtful is that of its last piece.
    fn pieces(&mut self, connections: u32) -> anyhow::Result<Option<Vec<Closed>>> {
        let whole_ms = self.asked.plan.duration_ms.unwrap_or(0).min(SATURATED_MS_MAX);
        let each_ms = (whole_ms / PIECES).max(CLOSED_MS.min(whole_ms)).max(1);
        let mut pieces = Vec::new();
        for _ in 0..PIECES {
            self.doubts.clear();
            match self.saturated(connections, each_ms)? {
                Some(piece) => pieces.push(piece),
                None => return Ok(None),
            }
            if !self.alone()? {
                return Ok(None);
            }
        }
        Ok(Some(pieces))
    }

    /// Returns one closed loop; `None` if it was interrupted.
    fn saturated(&mut self, connections: u32, duration_ms: u64) -> anyhow::Result<Option<Closed>> {
        let plan = self.closed(connections, duration_ms);
        let about = format!("{connections} connections");
        let before_ns = self.server.cpu_ns();
        let Some((outcome, _)) = self.load(&about, &plan, false)? else { return Ok(None) };
        let used_ns = before_ns.zip(self.server.cpu_ns());
        let used_ns = used_ns.map(|(before, now)| now.saturating_sub(before) as f64);
        let result = outcome.result;
        self.doubts = result.doubts;
        Ok(Some(Closed {
            connections,
            per_s: outcome.steady.map_or(result.throughput_per_s, |steady| steady.per_s),
            cpu_ns: used_ns.map(|ns| ns / result.counts.answered.max(1) as f64),
            cpus_busy: used_ns.map(|ns| ns / result.elapsed_ns.max(1) as f64),
        }))
    }

    /// Returns a load at a part of what the server sustains; `None` if it was interrupted.
    fn open(
        &mut self,
        utilisation: f64,
        most_per_s: f64,
        connections: u32,
        number: u64,
    ) -> anyhow::Result<Option<Noticed>> {
        let per_s = utilisation * most_per_s;
        let seed = self.asked.seed.wrapping_add(number);
        let enough = (OPEN_TIMES * connections).max(self.asked.plan.connections);
        let plan = LoadPlan {
            arrivals: Arrivals::Poisson { per_s, seed },
            connections: if self.fixed { self.asked.plan.connections } else { most_open(enough) },
            ..self.asked.plan.clone()
        };
        let about = format!("{:.0} % of it", 100.0 * utilisation);
        let Some((outcome, noted)) = self.load(&about, &plan, true)? else { return Ok(None) };
        let mut requests: Vec<MeasuredRequest> = noted.iter().filter_map(observed).collect();
        requests.sort_by_key(|one| one.at_ns);
        let mut doubts = outcome.result.doubts;
        doubts.extend(turned_away(&outcome.result.network));
        Ok(Some(Noticed { per_s, utilisation, requests, doubts }))
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

/// Returns a request as the simulation takes it: it comes to the server when it is sent, whenever it was due. `None`
/// for one that never was.
fn observed(one: &Noted) -> Option<MeasuredRequest> {
    let (at_ns, connection) = (one.sent_ns?, one.connection?);
    let refused = matches!(one.end, web::load::End::Status(400..));
    Some(MeasuredRequest { at_ns, done_ns: one.done_ns, connection, refused })
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
