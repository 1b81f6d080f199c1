/// The closed forms that the tests of `laws` have.
#[path = "../../../../../laws/tests/it/oracle.rs"]
#[expect(dead_code, reason = "the tests of `laws` need the rest")]
mod oracle;

mod served;

use super::case::WAIT_PART;
use super::pools::rates;
use super::workers::at_once;
use super::*;
use laws::queue::many::mmc;
use model::{
    Design, Factor, Level, Measured, Outcome, Response, Series, Subject, Surroundings, Treatment,
};
use oracle::repairman;
use proptest::prelude::*;

const MS: f64 = 1e6;

fn factor(name: &str, levels: &[&str]) -> Factor {
    let level = |name: &&str| Level { value: name.parse().ok(), ..Level::new(name, "") };
    Factor {
        name: name.into(),
        about: String::new(),
        levels: levels.iter().map(level).collect(),
        baseline: levels[0].into(),
        ..Factor::default()
    }
}

fn response(name: &str, unit: Unit) -> Response {
    Response {
        name: name.into(),
        label: String::new(),
        unit,
        center: model::Center::Median,
        cpu_twin: None,
        subtract: None,
        exact: false,
        independent: false,
        limits: Vec::new(),
        card: model::Card::default(),
    }
}

fn experiment(id: &str, factors: Vec<Factor>, responses: Vec<Response>) -> Design {
    Design { id: id.into(), factors, responses, ..Design::default() }
}

/// A trial of one number, which scatters by `scatter` over the blocks.
fn trial(
    design: &Design,
    block: u32,
    at: &[(&str, &str)],
    of: &str,
    value: f64,
    scatter: f64,
) -> Record {
    let baseline = design.factors.iter().map(|f| (f.name.clone(), f.baseline.clone()));
    let mut treatment = Treatment::from_iter(baseline);
    for (factor, level) in at {
        treatment.levels_mut().insert(factor.to_string(), level.to_string());
    }
    // Neighbouring blocks are not alike.
    let value = value * (1.0 + scatter * (f64::from(block * 7 % 10) - 4.5) / 4.5);
    let series = vec![Series { response: of.into(), per: 1, values: vec![value as i64] }];
    Record {
        trial: 0,
        experiment: design.id.as_str().into(),
        block,
        position: 0,
        treatment,
        started_unix_ms: 0,
        padding_bytes: 0,
        outcome: Outcome::Completed { leaked: 0 },
        observed: Default::default(),
        measured: Some(Measured { series, ..Measured::default() }),
        process: None,
        spawn_to_ready_ns: None,
        harness_ns: None,
        measuring_ns: None,
        total_ns: 1,
        runner_cpu_ns: None,
        machine: Surroundings::default(),
        log: String::new(),
    }
}

/// A session in which a hand-off costs 2 µs (5 to another CPU, which is not asked for), a thread 20, a
/// process 200, a switch 1.5; a thread takes 50 kB, a process 200 kB.
struct Session {
    designs: Vec<Design>,
    records: Vec<Record>,
}

impl Session {
    fn new(scatter: f64) -> Self {
        let create = experiment(
            "create",
            vec![
                factor("mechanism", &["pthread", "fork", "pool_futex"]),
                factor("placement", &["same", "other"]),
            ],
            vec![response("cpu_ns", Unit::Ns)],
        );
        let switch = experiment(
            "switch",
            vec![factor("model", &["process", "thread"])],
            vec![response("switch_cpu_ns", Unit::Ns)],
        );
        let workers = experiment(
            "workers",
            vec![
                factor("model", &["thread", "process"]),
                factor("worker", &["cpu", "mem"]),
                factor("count", &["1", "2", "4", "8"]),
            ],
            vec![response("pss_bytes", Unit::Bytes)],
        );
        let mut records = Vec::new();
        for block in 0..10 {
            for (mechanism, placement, ns) in [
                ("pthread", "same", 20e3),
                ("fork", "same", 200e3),
                ("pool_futex", "same", 2e3),
                ("pool_futex", "other", 5e3),
            ] {
                let at = [("mechanism", mechanism), ("placement", placement)];
                records.push(trial(&create, block, &at, "cpu_ns", ns, scatter));
            }
            for model in ["thread", "process"] {
                let at = [("model", model)];
                records.push(trial(&switch, block, &at, "switch_cpu_ns", 1.5e3, scatter));
                let each = if model == "thread" { 50e3 } else { 200e3 };
                for count in ["1", "8"] {
                    let all: f64 = 5e6 + count.parse::<f64>().unwrap() * each;
                    let at = [("model", model), ("count", count)];
                    records.push(trial(&workers, block, &at, "pss_bytes", all, 0.0));
                }
            }
        }
        Session { designs: vec![create, switch, workers], records }
    }

    fn without(mut self, id: &str) -> Self {
        self.designs.retain(|design| design.id != id);
        self
    }

    fn plan(&self, load: Load) -> Advice {
        self.try_plan(load).unwrap()
    }

    fn try_plan(&self, load: Load) -> Result<Advice, BadLoad> {
        let (designs, records) = (&self.designs, &self.records);
        plan(&PlanInput { scruple: "test", session: "made up", designs, records, load })
    }
}

/// 500 requests per second of 20 ms, 30 % of it on a CPU, on eight CPUs.
fn load() -> Load {
    Load {
        rate_per_s: Some(500.0),
        service_ns: 20.0 * MS,
        cpu_share: 0.3,
        cpus: 8,
        ..Load::default()
    }
}

fn of<'a>(advice: &'a Advice, model: &str) -> &'a Staffing {
    advice.models.iter().find(|one| one.model == model).unwrap()
}

#[test]
fn the_costs_of_a_session_become_the_cpu_time_of_a_request() {
    let advice = Session::new(0.0).plan(load());
    // 6 ms of the request's own, the model's part, and two switches.
    let expected = [("pool", 6.005 * MS), ("thread", 6.023 * MS), ("process", 6.203 * MS)];
    for (model, cpu_ns) in expected {
        let found = of(&advice, model);
        assert!((found.cpu_point_ns - cpu_ns).abs() < 1.0, "{model}: {found:?}");
        assert_eq!(found.cpu_ns, found.cpu_point_ns, "no scatter, no worse end");
    }
    assert_eq!(advice.recommended.as_deref(), Some("pool"));
    assert_eq!(advice.alike, ["thread", "process"]);
    let memory = advice.costs.iter().find(|cost| cost.id == "process_memory").unwrap();
    assert_eq!((memory.estimate.point, memory.divided_by), (200e3, 7.0));
    assert_eq!(advice.gaps.len(), 1, "the event loop alone: {:?}", advice.gaps);
}

/// The memory of a worker, measured with the kernel's part, takes the place of a crew's growth.
#[test]
fn a_worker_takes_what_was_measured_with_the_kernel_s_part() {
    let mut session = Session::new(0.0);
    let footprint = experiment(
        "footprint",
        vec![factor("model", &["thread", "process"]), factor("buffer", &["0", "64"])],
        vec![response("worker_bytes", Unit::Bytes)],
    );
    for block in 0..10 {
        let at = [("model", "process"), ("buffer", "0")];
        session.records.push(trial(&footprint, block, &at, "worker_bytes", 260e3, 0.0));
    }
    session.designs.push(footprint);
    let advice = session.plan(load());
    let of = |id: &str| advice.costs.iter().find(|cost| cost.id == id).unwrap();
    let (process, thread) = (of("process_memory"), of("thread_memory"));
    assert_eq!((process.experiment.as_str(), process.estimate.point), ("footprint", 260e3));
    assert_eq!((thread.experiment.as_str(), thread.estimate.point), ("workers", 50e3));
}

/// Where every busy worker has a CPU, a pool is M/M/k, and Erlang's formulas say the same.
#[test]
fn a_pool_has_as_many_workers_as_erlang_says() {
    let rate = 500.0 / 1e9;
    let roomy = Load { cpus: 500, ..load() };
    let advice = Session::new(0.0).plan(roomy.clone());
    let pool = of(&advice, "pool");
    let hold = 20.005 * MS;
    assert_eq!(pool.workers_least, Some(11), "500/s of 20.005 ms keep 10.0025 busy");
    let workers = pool.workers.unwrap();
    let wait = |workers| mmc(rate, hold, workers).unwrap().wait;
    // Near the border a play may take one more or fewer.
    assert!(
        wait(workers + 1) < WAIT_PART * hold && wait(workers - 2) > WAIT_PART * hold,
        "{workers}"
    );
    let expected = mmc(rate, hold, workers).unwrap();
    assert!((pool.response_ns.unwrap() / expected.response - 1.0).abs() < 0.02, "{pool:?}");
    assert!((pool.worker_busy.unwrap() - 10.0025 / f64::from(workers)).abs() < 0.02, "{pool:?}");
    assert!((pool.cpu_busy.unwrap() - 500.0 * 6.005e-3 / 500.0).abs() < 1e-9);
    // A target takes the fewest that meet it.
    let target = Load { target_p95_ns: Some(65.0 * MS), ..roomy };
    let found = Session::new(0.0).plan(target.clone());
    let workers = of(&found, "pool").workers.unwrap();
    assert!(of(&found, "pool").p95_ns.unwrap() <= 65.0 * MS);
    let fewer = Session::new(0.0).plan(Load { workers: Some(workers - 1), ..target });
    assert!(matches!(of(&fewer, "pool").refusal, Some(Refusal::Late { .. }) | None), "{fewer:?}");
}

/// Where nothing but CPUs is needed, more workers than CPUs change nothing.
#[test]
fn a_pool_that_only_computes_is_as_its_cpus_are() {
    let (rate, cpu_ns) = (300.0 / 1e9, 20.002 * MS);
    let computes = Load { rate_per_s: Some(300.0), cpu_share: 1.0, cpus: 8, ..load() };
    let does = |workers| {
        let load = Load { workers: Some(workers), ..computes.clone() };
        of(&Session::new(0.0).plan(load), "pool").clone()
    };
    for workers in [7, 8, 9, 20] {
        let expected = mmc(rate, cpu_ns, workers.min(8)).unwrap().response;
        let found = does(workers).response_ns.unwrap();
        // Shared CPUs, and workers of which each keeps one, answer alike on average.
        assert!((found / expected - 1.0).abs() < 0.05, "{workers}: {found} {expected}");
    }
    assert_eq!(does(6).refusal, Some(Refusal::Workers { workers_least: 7 }));
}

#[test]
fn a_given_number_is_told_how_many_would_do() {
    let service_p95_ns = Some(60.0 * MS);
    let load = Load { target_p95_ns: Some(70.0 * MS), service_p95_ns, ..load() };
    let advice = Session::new(0.0).plan(load.clone());
    let pool = of(&advice, "pool");
    let (workers, least) = (pool.workers.unwrap(), pool.workers_least.unwrap());
    assert!(pool.rate_most_per_s.unwrap() > 500.0 && workers > least);
    let given = |workers| {
        let load = Load { workers: Some(workers), ..load.clone() };
        of(&Session::new(0.0).plan(load), "pool").refusal.clone()
    };
    assert_eq!(given(workers), None);
    match given(workers - 1) {
        Some(Refusal::Late { p95_ns, workers_enough }) => {
            assert!(p95_ns > 70.0 * MS && workers_enough == workers);
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(given(least - 1), Some(Refusal::Workers { workers_least: least }));
}

#[test]
fn an_unstable_load_is_refused_with_the_fewest_cpus_that_bear_it() {
    let session = Session::new(0.0);
    let unstable = Load { cpus: 3, ..load() };
    let advice = session.plan(unstable);
    let Some(Refusal::Cpus { cpus_least, rate_below_per_s }) = of(&advice, "pool").refusal else {
        panic!("{advice:?}");
    };
    assert_eq!(cpus_least, Some(4), "500 × 6.005 ms are 3.0025 CPUs");
    assert!((rate_below_per_s - 3.0 / 6.005e-3).abs() < 1e-6);
    assert_eq!((advice.recommended, advice.alike.len()), (None, 0));
    // With those it is borne.
    assert_eq!(of(&session.plan(Load { cpus: 4, ..load() }), "pool").refusal, None);
}

#[test]
fn a_target_out_of_reach_says_what_would_reach_it() {
    let session = Session::new(0.0);
    // Four CPUs are busy for three quarters, so that requests wait for them, which all need the same.
    let service_p95_ns = Some(20.0 * MS);
    let target_p95_ns = Some(21.5 * MS);
    let tight = Load { cpus: 4, target_p95_ns, service_p95_ns, ..load() };
    let Some(Refusal::Target { p95_ns, cpus_least: Some(cpus) }) =
        of(&session.plan(tight.clone()), "pool").refusal
    else {
        panic!("out of reach");
    };
    assert!(p95_ns > 21.5 * MS && cpus > 4, "{p95_ns} {cpus}");
    let refusal = |cpus| of(&session.plan(Load { cpus, ..tight.clone() }), "pool").refusal.clone();
    assert_eq!(refusal(cpus), None);
    assert!(matches!(refusal(cpus - 1), Some(Refusal::Target { .. })));
    // No machine does better than the service time.
    let hopeless = Load { target_p95_ns: Some(19.0 * MS), ..tight };
    let found = of(&session.plan(hopeless), "pool").refusal.clone();
    assert!(matches!(found, Some(Refusal::Target { cpus_least: None, .. })), "{found:?}");
}

#[test]
fn an_unknown_spread_refuses_no_target_that_equal_times_meet() {
    let session = Session::new(0.0);
    // 95 % of exponential times of 20 ms are within 60 ms.
    let load = Load { target_p95_ns: Some(40.0 * MS), ..load() };
    let advice = session.plan(load.clone());
    let pool = of(&advice, "pool");
    assert!(pool.refusal.is_none() && pool.depends_on_spread, "{pool:?}");
    assert!(pool.p95_least_ns.unwrap() < 40.0 * MS && pool.p95_ns.unwrap() > 40.0 * MS);
    assert!(advice.gaps.iter().any(|gap| gap.what.contains("--service-p95")), "{:?}", advice.gaps);
    // It is decided by those who know it.
    for (p95_ms, is_met) in [(30.0, true), (60.0, false)] {
        let service_p95_ns = Some(p95_ms * MS);
        let advice = session.plan(Load { service_p95_ns, ..load.clone() });
        let pool = of(&advice, "pool");
        assert_eq!((pool.refusal.is_none(), pool.depends_on_spread), (is_met, false), "{pool:?}");
        let p95_ns = pool.p95_ns.unwrap_or(60.0 * MS);
        assert!((0.95..1.25).contains(&(p95_ns / (p95_ms * MS))), "{p95_ns}");
    }
}

#[test]
fn a_session_that_measured_nothing_of_it_says_what_to_measure() {
    let advice = Session::new(0.0).without("create").plan(load());
    assert!(advice.models.is_empty() && advice.recommended.is_none());
    assert_eq!(advice.gaps[0].measure, "scruple run create");
    let advice = Session::new(0.0).without("switch").plan(load());
    assert!(advice.gaps.iter().any(|gap| gap.measure == "scruple run switch"));
    assert!((of(&advice, "pool").cpu_point_ns - 6.002 * MS).abs() < 1.0);
    // Work that never waits is not switched away from.
    let busy = Session::new(0.0).plan(Load { cpu_share: 1.0, rate_per_s: Some(100.0), ..load() });
    assert!((of(&busy, "pool").cpu_point_ns - 20.002 * MS).abs() < 1.0);
}

#[test]
fn scatter_makes_a_plan_larger_and_never_smaller() {
    let load =
        || Load { cpu_share: 0.0, service_ns: 0.2 * MS, rate_per_s: Some(20_000.0), ..load() };
    let (sure, unsure) = (Session::new(0.0).plan(load()), Session::new(0.5).plan(load()));
    for model in ["pool", "thread", "process"] {
        let (sure, unsure) = (of(&sure, model), of(&unsure, model));
        assert!(unsure.cpu_ns > 1.05 * unsure.cpu_point_ns, "{model}");
        assert!(unsure.cpu_ns > sure.cpu_ns);
        assert!(unsure.workers.unwrap() >= unsure.workers_point.unwrap());
    }
}

#[test]
fn connections_are_a_closed_system() {
    let session = Session::new(0.0);
    let closed = Load { rate_per_s: None, connections: Some(64), ..load() };
    let advice = session.plan(closed.clone());
    let (pool, thread) = (of(&advice, "pool"), of(&advice, "thread"));
    // A thread for each connection: the repairman, who thinks while it waits.
    let free = repairman(64, 14.0 * MS, 6.023 * MS, 8);
    assert!((thread.throughput_per_s.unwrap() / (free.throughput * 1e9) - 1.0).abs() < 0.02);
    assert_eq!((thread.workers, thread.workers_least), (Some(64), Some(64)));
    // The pool has the fewest that do 95 % of that.
    let workers = pool.workers.unwrap();
    let does = |k| repairman(k, 14.0 * MS, 6.005 * MS, 8).throughput;
    assert!(
        does(workers + 1) > 0.95 * does(64) && does(workers - 2) < 0.95 * does(64),
        "{workers}"
    );
    // Nobody waits where all have a CPU, and the response time is the service's.
    let idle = session.plan(Load { connections: Some(1), ..closed });
    assert!((of(&idle, "pool").response_ns.unwrap() / (20.005 * MS) - 1.0).abs() < 0.02);
}

#[test]
fn a_machine_of_several_does_what_it_would_alone() {
    let session = Session::new(0.0);
    let think_ns = 200.0 * MS;
    let closed = Load { rate_per_s: None, connections: Some(240), think_ns, ..load() };
    let alone = session.plan(closed.clone());
    assert_eq!(alone.simulated, None);
    // 720 over three machines: 240 each; and one connection more makes one machine the fullest.
    let spread = |connections: u32| {
        let over = Load { connections: Some(connections), machines: Some(3), ..closed.clone() };
        session.plan(over)
    };
    let played = spread(720);
    let simulated = played.simulated.clone().unwrap();
    assert_eq!((simulated.connections, simulated.requests), (240, 20_000));
    assert_eq!(spread(721).simulated.unwrap().connections, 241);
    assert_eq!(played.models, alone.models);
    // A thread for each connection: the repairman, who thinks.
    let free = repairman(240, 200.0 * MS + 14.0 * MS, 6.023 * MS, 8);
    let thread = of(&played, "thread");
    assert!((thread.throughput_per_s.unwrap() / (free.throughput * 1e9) - 1.0).abs() < 0.02);
    let p95 = thread.p95_ns.unwrap() / thread.response_ns.unwrap();
    assert!((1.2..3.1).contains(&p95), "{p95}");
    assert_eq!(thread.rate_most_per_s, None);
}

#[test]
fn a_million_connections_over_machines() {
    let session = Session::new(0.0);
    // 20,000 on each: 333 ask per second, each for 6 ms of 8 CPUs.
    let million = Load {
        rate_per_s: None,
        connections: Some(1_000_000),
        machines: Some(50),
        think_ns: 60e9,
        ..load()
    };
    let advice = session.plan(million.clone());
    let pool = of(&advice, "pool");
    let each = pool.throughput_per_s.unwrap();
    assert!((each / 333.2 - 1.0).abs() < 0.01, "{each}");
    assert!((7..20).contains(&pool.workers.unwrap()), "{pool:?}");
    assert_eq!(of(&advice, "thread").workers, Some(20_000));
    // One machine has CPUs for 1332 per second; 30,000 connections wait for them, 21 s each.
    let (connections, machines, think_ns) = (Some(30_000), Some(1), 1e9);
    let few = session.plan(Load { connections, machines, think_ns, ..million });
    let thread = of(&few, "thread");
    assert!(thread.cpu_busy.unwrap() > 0.95 && thread.response_ns.unwrap() > 10e9, "{thread:?}");
}

#[test]
fn a_worker_for_each_request_is_there_as_often_as_poisson_says() {
    // Tables of the Poisson distribution: P(N ≤ 9 | 3) = 0.9989, P(N ≤ 10 | 3) = 0.9997.
    assert_eq!(at_once(3.0), 10);
    assert_eq!(at_once(1e-6), 1);
    let (near, far) = (at_once(99_999.0), at_once(100_001.0));
    assert!(near.abs_diff(far) < 20, "{near} {far}");
}

#[test]
fn a_program_that_was_measured_answers_for_itself() {
    let mut session = Session::new(0.0);
    let mut own = experiment(
        "server",
        vec![factor("n", &["1", "2", "4"])],
        vec![response("answers_per_s", Unit::PerSecond)],
    );
    own.subject = Some(Subject::default());
    for block in 0..10 {
        for (n, rate) in [("1", 300.0), ("2", 560.0), ("4", 700.0)] {
            session.records.push(trial(&own, block, &[("n", n)], "answers_per_s", rate, 0.05));
        }
    }
    session.designs.push(own);
    let measured = session.plan(load()).measured;
    assert_eq!((measured.len(), measured[0].level.as_deref()), (1, Some("2")));
    assert_eq!(measured[0].best_level, "4");
    let too_much = session.plan(Load { rate_per_s: Some(1e4), cpus: 100, ..load() }).measured;
    assert_eq!(too_much[0].level, None);
    // The whole interval must lie above: 560 with an interval down to some 540.
    let near = session.plan(Load { rate_per_s: Some(555.0), ..load() }).measured;
    assert_eq!(near[0].level.as_deref(), Some("4"));
}

#[test]
fn an_event_loop_is_reckoned_where_servers_were_measured() {
    let mut session = Session::new(0.0);
    let servers = experiment(
        "servers",
        vec![factor("model", &["pool", "event_loop"])],
        vec![response("request_cpu_ns", Unit::Ns), response("connection_bytes", Unit::Bytes)],
    );
    for block in 0..10 {
        let at = [("model", "event_loop")];
        session.records.push(trial(&servers, block, &at, "request_cpu_ns", 30e3, 0.0));
        session.records.push(trial(&servers, block, &at, "connection_bytes", 9e3, 0.0));
    }
    session.designs.push(servers);
    let light = Load { cpu_share: 0.01, ..load() };
    let advice = session.plan(light);
    let found = of(&advice, "event_loop");
    assert_eq!((found.workers, found.refusal.clone()), (Some(1), None));
    assert!((found.cpu_busy.unwrap() - 500.0 * 230e-6).abs() < 1e-6, "{found:?}");
    assert!(found.memory_bytes.unwrap() > 9e3 * found.present.unwrap());
    // One thread has one CPU, however many there are.
    let heavy = session.plan(load());
    let refusal = of(&heavy, "event_loop").refusal.clone();
    assert!(matches!(refusal, Some(Refusal::Cpus { cpus_least: None, .. })), "{refusal:?}");
    assert!(advice.gaps.is_empty());
}

#[test]
fn a_load_that_cannot_be_is_refused_in_words() {
    let session = Session::new(0.0);
    let wrong = |change: &dyn Fn(&mut Load)| {
        let mut bad = load();
        change(&mut bad);
        session.try_plan(bad).unwrap_err().0
    };
    assert_eq!(wrong(&|l| l.rate_per_s = None), "a load is a rate or a number of connections");
    assert!(wrong(&|l| l.connections = Some(5)).contains("not both"));
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(wrong(&|l| l.rate_per_s = Some(bad)).contains("rate"));
        assert!(wrong(&|l| l.service_ns = bad).contains("service"));
    }
    assert!(wrong(&|l| l.machines = Some(2)).contains("not a rate"));
    let spread = |change: &dyn Fn(&mut Load)| {
        wrong(&|l| {
            (l.rate_per_s, l.connections, l.machines) = (None, Some(100_000), Some(10));
            change(l);
        })
    };
    assert!(spread(&|l| l.machines = None).contains("--machines"));
    assert!(spread(&|l| l.machines = Some(0)).contains("machines must be"));
    assert!(spread(&|l| l.connections = Some(10_000_001)).contains("of each machine"));
    assert!(spread(&|l| l.connections = Some(0)).contains("of each machine"));
    assert!(spread(&|l| l.cpus = 257).contains("256 CPUs"));
    assert!(spread(&|l| l.target_p95_ns = Some(1e9)).contains("with several machines"));
    assert!(spread(&|l| l.think_ns = 1e15).contains("a day"));
    assert!(wrong(&|l| l.cpu_share = 1.1).contains("share"));
    for p95_ms in [19.0, 77.0] {
        assert!(wrong(&|l| l.service_p95_ns = Some(p95_ms * MS)).contains("3.8 times"));
    }
    assert!(wrong(&|l| l.think_ns = -1.0).contains("think"));
    assert!(wrong(&|l| l.headroom = -0.1).contains("headroom"));
    assert!(wrong(&|l| l.workers = Some(0)).contains("workers"));
    assert!(wrong(&|l| l.cpus = 0).contains("CPUs"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, failure_persistence: None, ..ProptestConfig::default() })]

    /// Buzen's convolution against birth and death.
    #[test]
    fn busy_workers_do_what_the_repairman_does(
        cpus in 1u32..9, cpu in 0.01..10.0_f64, idle in 0.0..50.0_f64, most in 1u32..60
    ) {
        let found = rates(cpus, cpu, idle, most);
        for busy in 1..=most {
            let expected = repairman(busy, idle, cpu, cpus).throughput;
            let found = found[busy as usize];
            prop_assert!((found / expected - 1.0).abs() < 1e-9, "{busy}: {found} {expected}");
        }
    }

    #[test]
    fn littles_law_and_the_load_hold_in_every_plan(
        rate in 1.0..3000.0_f64, service_ms in 0.1..100.0_f64, share in 0.0..1.0_f64,
        cpus in 1u32..33, connections in 1u32..200, think_ms in 0.0..50.0_f64, target in 0.0..500.0_f64
    ) {
        let session = Session::new(0.1);
        let open = Load {
            rate_per_s: Some(rate), service_ns: service_ms * MS, cpu_share: share, cpus,
            target_p95_ns: (target > 100.0).then_some(target * MS), ..Load::default()
        };
        let closed = Load {
            rate_per_s: None, connections: Some(connections), think_ns: think_ms * MS, ..open.clone()
        };
        for load in [open, closed] {
            for one in session.plan(load.clone()).models.iter().filter(|one| one.refusal.is_none()) {
                let per_ns = one.throughput_per_s.unwrap() / 1e9;
                let present = one.present.unwrap();
                prop_assert!((per_ns * one.response_ns.unwrap() - present).abs() <= 1e-9 * present);
                prop_assert!(one.cpu_busy.unwrap() <= 1.0 + 1e-9, "{one:?}");
                prop_assert!(one.workers >= one.workers_least);
                if load.connections.is_some() {
                    // Those that are there and those that think are all of them.
                    let all = present + per_ns * load.think_ns;
                    prop_assert!((all / f64::from(connections) - 1.0).abs() < 1e-6, "{all}");
                } else {
                    prop_assert!(one.rate_most_per_s.unwrap() >= rate * (1.0 - 1e-9));
                }
                if let Some(target) = load.target_p95_ns {
                    let decides = if one.depends_on_spread { one.p95_least_ns } else { one.p95_ns };
                    prop_assert!(decides.unwrap() <= target * 1.01);
                }
            }
        }
    }
}
