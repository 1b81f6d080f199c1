//! One handler, nine models of concurrency, under load.

mod bounded;
mod cost;

use crate::support::allow_descriptors;
use cost::{Account, Held};
use kit::model::{Arrivals, LoadCounts, LoadPlan, LoadResult, LoadTimes, Profile};
use kit::{Result, Stop, Trial};
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;
use web::load::Outcome;
use web::serve::{Model, Plan, Running, Runtime, Service, StartError, listen_for};

experiment!("servers", "servers.toml");

/// Workers of a pool of threads or processes.
const POOL: u32 = 8;

/// The levels of the factor `model`.
const MODELS: [(&str, Model); 15] = [
    ("single", Model::Single),
    ("pool", Model::Pool(POOL)),
    ("thread_each", Model::ThreadPerConnection),
    ("fork_each", Model::ForkPerRequest),
    ("pre_fork", Model::PreFork(POOL)),
    ("event_loop", Model::EventLoop),
    ("io_uring", Model::IoUring),
    ("reuseport", Model::ReusePort(2)),
    ("tokio", Model::Tokio(2)),
    ("go", Model::Runtime(Runtime::Go)),
    ("java_threads", Model::Runtime(Runtime::JavaThreads)),
    ("java_virtual", Model::Runtime(Runtime::JavaVirtual)),
    ("node", Model::Runtime(Runtime::Node)),
    ("python_threads", Model::Runtime(Runtime::PythonThreads)),
    ("python_asyncio", Model::Runtime(Runtime::PythonAsyncio)),
];

/// The folder of the programs of other runtimes: next to the trial's own, for all trials of a session.
const PROGRAMS: &str = "../programs";

/// The levels of the factor `service`. A request computes for a short time only: the ratio of two
/// servers needs many requests, not long ones.
const SERVICES: [(&str, Service); 6] = [
    ("wait", Service::Wait(Duration::from_millis(20))),
    ("compute", Service::Compute(Duration::from_millis(5))),
    ("none", Service::Nothing),
    ("mixed", Service::Mixed { wait: MIXED, compute: MIXED, every: 10 }),
    ("database", Service::Database { connections: DATABASE, time: QUERY, queue: None }),
    (
        "database_bounded",
        Service::Database { connections: DATABASE, time: QUERY, queue: Some(QUEUE) },
    ),
];

/// Connections to the database, and how long a request holds one: 200 requests per second.
const DATABASE: u32 = 4;
const QUERY: Duration = Duration::from_millis(20);

/// How many requests may wait for the database, where its queue has a bound.
const QUEUE: u32 = 16;

/// What a request of a mixture waits, and what every tenth computes before.
const MIXED: Duration = Duration::from_millis(20);

/// The levels of the factor `keep_alive`.
const KEEP_ALIVE: [(&str, bool); 2] = [("no", false), ("yes", true)];

/// The levels of the factor `arrivals`: requests come as soon as an answer is there, or at random and
/// whatever is answered, at this number per second. 40 are 80 % of the capacity of one thread that
/// waits 20 ms for each; 200 of a mixture need 40 % of a CPU, and 400
/// are twice what the database can do.
const ARRIVALS: [(&str, Option<f64>); 4] = [
    ("closed", None),
    ("poisson_40", Some(40.0)),
    ("poisson_200", Some(200.0)),
    ("poisson_400", Some(400.0)),
];

/// How long a server may take to begin, or to end by itself.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long an answer may take, in ms: longer than any queue here is.
const ANSWER_MS: u64 = 20_000;

/// The longest load, in ms, whatever its rounds take.
const LOAD_MS_MAX: u64 = 10_000;

/// The shortest load of which every tenth request computes, in ms.
const MIXED_MS: u64 = 200;

/// How long more requests come than the database can serve, in ms: in any profile, since a queue without a
/// bound grows with it.
const OVERLOAD_MS: u64 = 2_000;

/// Rounds of all connections in a closed loop: each connection has an answer before the half of the time in
/// which answers are counted.
const ROUNDS: u64 = 2;

/// How much longer than its calculated time a round may take, in per cent.
const SLOWER_PERCENT: u64 = 110;

/// How far N = X·R may lie from the number of connections.
const LITTLE: f64 = 0.01;

/// Descriptors of the trial, or of a server, beside those of connections.
const OTHER_DESCRIPTORS: u64 = 64;

/// Processes and threads of the trial and of a server, beside those that serve.
const OTHER_TASKS: usize = 4;

/// Threads of another runtime, beside those that serve: compilers, collectors of garbage.
const RUNTIME_TASKS: u32 = 64;

/// How long a server whose memory is read leaves silent connections open.
const SILENCE: Duration = Duration::from_secs(600);

/// What one trial is to do.
#[derive(Debug)]
struct Treatment {
    server: Plan,
    connections: u32,
    /// Connections that are held while memory is read.
    held: u32,
    backlog: u32,
    /// Requests per second at random, if they come so.
    per_s: Option<f64>,
    profile: Profile,
    seed: u64,
}

fn trial(trial: &mut Trial) -> Result<()> {
    let treatment = Treatment::read(trial)?;
    if let Model::Runtime(runtime) = treatment.server.model {
        runtime.prepare(Path::new(PROGRAMS)).map_err(not_started)?;
    }
    let sockets = treatment.held.max(treatment.connections);
    allow_descriptors(u64::from(sockets) + OTHER_DESCRIPTORS)?;
    trial.need_tasks(treatment.tasks())?;
    // Runtimes choose their collector and their threads by the number of CPUs.
    let memory = treatment.memory(&trial.spec().cpus)?;
    let server_cpus = place(trial)?;
    let server = treatment.start(&treatment.server, &server_cpus, None)?;
    let load = treatment.load(&server);
    if matches!(treatment.server.model, Model::Runtime(_)) {
        // Its compiler is to have seen the program at work.
        web::load::run(&load, b"", &mut |_| true).map_err(no_load)?;
    }
    let before = Account::of(&server)?;
    trial.begin()?;
    let outcome = match is_bounded(treatment.server.service) {
        true => bounded::run(&load),
        false => web::load::run(&load, b"", &mut |_| true),
    };
    let outcome = outcome.map_err(no_load)?;
    trial.end()?;
    let used = Account::of(&server)?.since(&before);
    let family = server.family();
    let ended = server.end(PATIENCE)?;
    record_requests(trial, &outcome);
    treatment.check_little(trial, &outcome);
    treatment.record_costs(trial, &outcome.result, used, &before, &ended, memory);
    let left = family.iter().filter(|pid| sys::task::exists(**pid)).count();
    trial.check("processes that the server left", left as f64, 0.0, 0.0);
    trial.check("the server's exit code", f64::from(ended.code.unwrap_or(-1)), 0.0, 0.0);
    treatment.check_answers(trial, &outcome.result.counts);
    show_doubts(trial, &outcome.result);
    Ok(())
}

/// Confines the trial to the CPU of the generator, and returns the server's: the last one, since
/// interrupts gather on the first.
fn place(trial: &mut Trial) -> Result<Vec<u32>> {
    let server = trial.one_cpu()?;
    // On one CPU the two share it.
    let generator = trial.other_cpu().unwrap_or(server);
    trial.pin(&[generator])?;
    trial.observe("server_cpu", server);
    Ok(vec![server])
}

/// Whether a server refuses requests that would wait behind too many.
fn is_bounded(service: Service) -> bool {
    matches!(service, Service::Database { queue: Some(_), .. })
}

fn no_load(error: web::load::Error) -> Stop {
    Stop::failed(format!("the load generator: {error}"))
}

/// Turns an error of the room `web` into one of the kit.
fn not_started(error: StartError) -> Stop {
    match error {
        StartError::Process(error) => error.into(),
        StartError::Missing(needs) => Stop::unsupported(needs),
        StartError::System { what, error } if error.kind() == ErrorKind::NetworkUnreachable => {
            Stop::unsupported(format!(
                "{what}: {error}: the loopback interface is down (ip link set lo up)"
            ))
        }
        other => Stop::failed(other.to_string()),
    }
}

impl Treatment {
    fn read(trial: &Trial) -> Result<Self> {
        let number = |factor: &str| {
            let number = trial.number(factor)?;
            u32::try_from(number).map_err(|_| Stop::failed(format!("{factor} of {number}")))
        };
        let per_s = trial.pick("arrivals", &ARRIVALS)?;
        let service = trial.pick("service", &SERVICES)?;
        if is_bounded(service) && per_s.is_none() {
            return Err(Stop::unsupported(
                "a queue with a bound needs requests that come at random",
            ));
        }
        Ok(Treatment {
            server: Plan {
                model: trial.pick("model", &MODELS)?,
                service,
                keep_alive: trial.pick("keep_alive", &KEEP_ALIVE)?,
            },
            connections: number("connections")?,
            held: number("held")?,
            backlog: number("backlog")?,
            per_s,
            profile: trial.spec().profile,
            seed: trial.spec().seed,
        })
    }

    /// Starts a server and waits until it serves. It leaves peers that are silent for longer than `silence`.
    fn start(&self, plan: &Plan, cpus: &[u32], silence: Option<Duration>) -> Result<Running> {
        let listener = listen_for(plan.model, self.backlog)?;
        let started = match plan.model {
            Model::Runtime(runtime) => {
                Running::start_program(listener, plan, runtime, cpus, Path::new(PROGRAMS))
            }
            _ => match silence {
                Some(silence) => Running::start_with(listener, plan, cpus, silence),
                None => Running::start(listener, plan, cpus),
            },
        };
        let mut server = started.map_err(not_started)?;
        server.wait_until_ready(PATIENCE).map_err(not_started)?;
        Ok(server)
    }

    /// Processes and threads of the server at most, and of the generator.
    fn tasks(&self) -> usize {
        let serving = match self.server.model {
            Model::ThreadPerConnection | Model::ForkPerRequest => self.held.max(self.connections),
            Model::Pool(count)
            | Model::PreFork(count)
            | Model::ReusePort(count)
            | Model::Tokio(count) => count,
            Model::Runtime(runtime) if runtime.has_a_thread_each() => {
                RUNTIME_TASKS + self.held.max(self.connections)
            }
            Model::Runtime(_) => RUNTIME_TASKS,
            Model::Single | Model::EventLoop | Model::IoUring => 0,
        };
        serving as usize + OTHER_TASKS
    }

    /// Whether threads or processes of the server end meanwhile, with their counts.
    fn loses_threads(&self) -> bool {
        match self.server.model {
            Model::Runtime(runtime) => runtime.has_a_thread_each(),
            model => matches!(model, Model::ForkPerRequest | Model::ThreadPerConnection),
        }
    }

    /// What the connections take that are held, by a server of its own; `None` where they are more than
    /// its accept queue has room for.
    fn memory(&self, cpus: &[u32]) -> Result<Option<Held>> {
        let model = self.server.model;
        if !cost::serves_all(model) && self.held > self.backlog {
            return Ok(None);
        }
        let idle = Plan { service: Service::Nothing, keep_alive: true, model };
        let server = self.start(&idle, cpus, Some(SILENCE))?;
        let memory = cost::memory_of(&server, model, self.held)?;
        server.end(PATIENCE)?;
        Ok(Some(memory))
    }

    fn load(&self, server: &Running) -> LoadPlan {
        LoadPlan {
            url: format!("http://{}/", server.address()),
            method: "GET".into(),
            headers: Vec::new(),
            body_bytes: 0,
            arrivals: match self.per_s {
                None => Arrivals::Closed,
                Some(per_s) => Arrivals::Poisson { per_s, seed: self.seed },
            },
            connections: self.connections,
            keep_alive: self.server.keep_alive,
            threads: 1,
            duration_ms: Some(self.duration_ms()),
            requests: None,
            timeout_ms: ANSWER_MS,
            drain_ms: match self.per_s {
                // The queue is to be seen whole.
                Some(_) if self.is_overload() => ANSWER_MS,
                Some(_) => 0,
                // The time of a request under way at the end says which part of it was within.
                None => self.duration_ms(),
            },
            options: Default::default(),
        }
    }

    /// Whether requests for the database come whatever is answered.
    fn is_overload(&self) -> bool {
        self.per_s.is_some() && matches!(self.server.service, Service::Database { .. })
    }

    /// How long the load lasts: some rounds of all connections at least.
    fn duration_ms(&self) -> u64 {
        if self.is_overload() {
            return OVERLOAD_MS;
        }
        let least = self.profile.pick([100, 70, 2_000, 5_000]);
        let connections = u64::from(self.connections);
        let service = match self.server.service {
            Service::Nothing => return least,
            // Some of the requests that compute must be among those that are counted.
            Service::Mixed { .. } => return least.max(MIXED_MS),
            Service::Wait(time) | Service::Compute(time) | Service::Database { time, .. } => time,
        };
        let at_a_time = match (self.server.service, self.server.model) {
            // The server has one CPU.
            (Service::Compute(_), _) | (_, Model::Single) => 1,
            (Service::Database { connections, .. }, _) => u64::from(connections),
            (_, Model::Pool(_) | Model::PreFork(_)) => u64::from(POOL),
            _ => connections,
        };
        // With keep-alive a served connection stays served, and there are no rounds.
        let in_turn = if self.server.keep_alive { 1 } else { connections.div_ceil(at_a_time) };
        // The first answers come after a round at most, and the second ones a round later.
        let rounds = (ROUNDS * in_turn + 1) * service.as_millis() as u64 * SLOWER_PERCENT / 100;
        rounds.clamp(least, LOAD_MS_MAX)
    }

    /// In a closed loop N = X·R is the number of connections. It is not where a connection does not ask
    /// again at once.
    fn check_little(&self, trial: &mut Trial, outcome: &Outcome) {
        if self.per_s.is_some() {
            return;
        }
        let connections = f64::from(self.connections);
        let seen = outcome.steady.map_or(0.0, |steady| steady.in_system / connections);
        trial.check("N = X·R per connection", seen, 1.0 - LITTLE, 1.0 + LITTLE);
    }

    /// All answers are 200, except those to requests that a full queue refused.
    fn check_answers(&self, trial: &mut Trial, counts: &LoadCounts) {
        let mut other = counts.answered - counts.succeeded;
        if is_bounded(self.server.service) {
            let refused = counts.statuses.get(&bounded::REFUSED).copied().unwrap_or(0);
            other -= refused;
            if counts.answered > 0 {
                trial.record("refused_count", counts.answered, vec![refused as i64]);
            }
        }
        trial.check("answers other than 200, or 503 of a full queue", other as f64, 0.0, 0.0);
    }

    fn record_costs(
        &self,
        trial: &mut Trial,
        result: &LoadResult,
        used: Account,
        before: &Account,
        ended: &sys::task::Ended,
        memory: Option<Held>,
    ) {
        let answered = result.counts.answered;
        if answered > 0 {
            let (cpu_ns, requests) = match self.server.model {
                // The children are gone. The server counted them when it awaited them, that of the
                // first request among them, which is no part of the load.
                Model::ForkPerRequest => {
                    (ended.usage.cpu_ns().saturating_sub(before.cpu_ns), answered + 1)
                }
                _ => (used.cpu_ns, answered),
            };
            trial.record("request_cpu_ns", requests, vec![cpu_ns as i64]);
            if !self.loses_threads() {
                trial.record("switches_count", answered, vec![used.slices as i64]);
            }
        }
        if let Some(memory) = memory {
            let held = self.held.into();
            trial.record_one("server_bytes", memory.idle.pss_bytes);
            trial.record("connection_bytes", held, vec![memory.added.pss_bytes]);
            trial.record("connection_virtual_bytes", held, vec![memory.added.virtual_bytes]);
            if let Some(bytes) = memory.kernel_bytes {
                trial.record("connection_kernel_bytes", held, vec![bytes]);
            }
        }
    }
}

/// Thousandths, so that a rate is not rounded to whole answers.
const PARTS: f64 = 1000.0;

fn record_requests(trial: &mut Trial, outcome: &Outcome) {
    let result = &outcome.result;
    let per_s = outcome.steady.map_or(result.throughput_per_s, |steady| steady.per_s);
    let per_s = (per_s * PARTS).round();
    trial.record("throughput_per_s", PARTS as u64, vec![per_s as i64]);
    let mut time = |name: &str, times: &LoadTimes, percent: f64| {
        if let Some(ns) = times.at(percent) {
            trial.record_one(name, i64::try_from(ns).unwrap_or(i64::MAX));
        }
    };
    time("response_p50_ns", &result.response, 50.0);
    time("response_p75_ns", &result.response, 75.0);
    time("response_p99_ns", &result.response, 99.0);
    time("service_p50_ns", &result.service, 50.0);
    time("lateness_p99_ns", &result.lateness, 99.0);
    let counts = &result.counts;
    let failed = counts.errors.values().sum::<u64>() + counts.timed_out;
    trial.record_one("errors_count", failed as i64);
    if let Some(fairness) = &result.fairness {
        trial.record_one("starved_count", fairness.starved.into());
    }
    let network = &result.network;
    trial.record_known("overflow_count", network.listen_overflows);
    trial.record_known("syn_retransmit_count", network.syn_retransmits);
}

/// What the generator itself says against its result.
fn show_doubts(trial: &mut Trial, result: &LoadResult) {
    let broken = result.audit.iter().filter(|law| !law.holds).map(|law| {
        let (left, right) = (law.left, law.right);
        format!("{} does not hold to 2 %: {left:.4} and {right:.4}", law.law)
    });
    let rows: Vec<Vec<String>> =
        result.doubts.iter().cloned().chain(broken).map(|doubt| vec![doubt]).collect();
    if !rows.is_empty() {
        trial.exhibit("What makes the load doubtful", &["doubt"], rows);
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests;
