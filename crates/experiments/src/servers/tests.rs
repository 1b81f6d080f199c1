use super::*;
use kit::model::LoadPercentile;

fn treatment(model: Model, service: Service, connections: u32) -> Treatment {
    Treatment {
        server: Plan { model, service, keep_alive: false },
        connections,
        held: connections,
        backlog: 1024,
        per_s: None,
        profile: Profile::Quick,
        seed: 1,
    }
}

#[test]
fn every_level_has_its_code() {
    let design = design();
    crate::check_levels(&design, "model", &MODELS);
    crate::check_levels(&design, "service", &SERVICES);
    crate::check_levels(&design, "keep_alive", &KEEP_ALIVE);
    crate::check_levels(&design, "arrivals", &ARRIVALS);
}

#[test]
fn in_a_load_each_connection_can_have_two_answers() {
    let lasts = |model, service, connections| treatment(model, service, connections).duration_ms();
    let wait = Service::Wait(Duration::from_millis(20));
    let compute = Service::Compute(Duration::from_millis(5));
    // Two rounds and one answer more, and a tenth of that.
    assert_eq!(lasts(Model::Single, wait, 16), 33 * 22);
    assert_eq!(lasts(Model::Pool(POOL), wait, 16), 5 * 22);
    assert_eq!(lasts(Model::EventLoop, wait, 1000), 70);
    let database = Service::Database { connections: 4, time: QUERY, queue: None };
    assert_eq!(lasts(Model::EventLoop, database, 64), 33 * 22);
    assert_eq!(lasts(Model::EventLoop, compute, 64), 129 * 55 / 10);
    assert_eq!(lasts(Model::Single, wait, 1000), LOAD_MS_MAX);
    assert_eq!(lasts(Model::Single, Service::Nothing, 1000), 70);
}

#[test]
fn a_percentile_that_nobody_knows_is_none() {
    let known = |percent, ns| LoadPercentile { percent, ns };
    let percentiles = vec![known(50.0, Some(7)), known(99.0, None)];
    let times = LoadTimes { percentiles, ..LoadTimes::default() };
    assert_eq!([50.0, 99.0, 12.0].map(|at| times.at(at)), [Some(7), None, None]);
}

#[test]
fn every_held_connection_of_a_process_or_thread_has_one() {
    let held = |model, connections| treatment(model, Service::Nothing, connections).memory(&[]);
    for model in [Model::ForkPerRequest, Model::ThreadPerConnection] {
        let memory = held(model, 64).unwrap().unwrap().added;
        // A stack of 8 MiB each, or a whole address space.
        assert!(memory.virtual_bytes >= 64 * 1_000_000, "{model:?}: {memory:?}");
        assert!(memory.pss_bytes > 0, "{model:?}: {memory:?}");
    }
    let memory = held(Model::EventLoop, 100).unwrap().unwrap().added;
    assert!(memory.virtual_bytes < 100 * 1_000_000, "{memory:?}");
    let short = |model| Treatment { backlog: 5, ..treatment(model, Service::Nothing, 64) };
    assert!(short(Model::Single).memory(&[]).unwrap().is_none());
    // What serves all connections at a time takes them from its queue.
    assert!(short(Model::Tokio(2)).memory(&[]).unwrap().is_some());
}

#[test]
fn an_account_grows_with_the_requests() {
    let compute = Service::Compute(Duration::from_millis(5));
    let treatment = treatment(Model::PreFork(2), compute, 1);
    let mut server = treatment.start(&treatment.server, &[], None).unwrap();
    let before = Account::of(&server).unwrap();
    for _ in 0..4 {
        server.wait_until_ready(PATIENCE).unwrap();
    }
    let used = Account::of(&server).unwrap().since(&before);
    assert!(used.cpu_ns >= 20_000_000 && used.slices >= 4, "{used:?}");
    assert_eq!(server.end(PATIENCE).unwrap().code, Some(0));
}
