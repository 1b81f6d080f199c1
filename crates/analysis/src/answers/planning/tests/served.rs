//! Plans from a session of servers: all models, headroom, what would change the answer.

use super::*;

/// A session of servers alone: a pool and a thread for each connection (30 µs of CPU time; 12 kB and 35 kB
/// of the kernel's each, beside 2 MB), a process for each (200 µs; 300 kB and 90 kB), an event loop (25 µs; 1 kB and 4 kB), Node.js (80 µs; 6 kB and 4 kB,
/// beside 45 MB).
fn served() -> Session {
    let servers = experiment(
        "servers",
        vec![factor("model", &["pool", "thread_each", "fork_each", "event_loop", "node"])],
        ["request_cpu_ns", "connection_bytes", "connection_kernel_bytes", "server_bytes"]
            .map(|name| response(name, if name.ends_with("ns") { Unit::Ns } else { Unit::Bytes }))
            .into(),
    );
    let mut records = Vec::new();
    for block in 0..10 {
        for (model, numbers) in [
            ("pool", [30e3, 0.0, 4e3, 2e6]),
            ("thread_each", [30e3, 12e3, 35e3, 2e6]),
            ("fork_each", [200e3, 300e3, 90e3, 2e6]),
            ("event_loop", [25e3, 1e3, 4e3, 2e6]),
            ("node", [80e3, 6e3, 4e3, 45e6]),
        ] {
            for (response, value) in servers.responses.iter().zip(numbers) {
                records.push(trial(
                    &servers,
                    block,
                    &[("model", model)],
                    &response.name,
                    value,
                    0.0,
                ));
            }
        }
    }
    Session { designs: vec![servers], records }
}

/// 1,000 connections that each ask once a minute, for 20 ms of waiting and 0.2 ms of CPU time.
fn chat() -> Load {
    Load {
        connections: Some(1000),
        think_ns: 60e9,
        service_ns: 20.2 * MS,
        cpu_share: 0.2 / 20.2,
        memory_bytes: Some(1e9),
        headroom: 0.3,
        cpus: 2,
        ..Load::default()
    }
}

#[test]
fn servers_alone_answer_for_every_model_that_they_have() {
    let advice = served().plan(chat());
    let models: Vec<&str> = advice.models.iter().map(|one| one.model.as_str()).collect();
    assert_eq!(models, ["pool", "thread", "process", "event_loop", "node"]);
    let memory = |model| of(&advice, model).memory_bytes.unwrap();
    let is = |found: f64, expected: f64| (found / expected - 1.0).abs() < 1e-12;
    assert!(is(memory("thread"), 1.1 * (2e6 + 1000.0 * 47e3)));
    assert!(is(memory("event_loop"), 1.1 * (2e6 + 1000.0 * 5e3)));
    assert!(is(memory("node"), 1.1 * (45e6 + 1000.0 * 10e3)));
    assert!(is(of(&advice, "node").memory_least_bytes.unwrap(), 0.9 * (45e6 + 1000.0 * 10e3)));
    // A thread of a pool takes what a thread takes; the open connections take what an event loop's do.
    let pool = of(&advice, "pool");
    let threads = f64::from(pool.workers.unwrap()) * 47e3;
    assert!(is(pool.memory_bytes.unwrap(), 1.1 * (2e6 + 1000.0 * 5e3 + threads)));
    for one in &advice.models {
        assert_eq!(one.refusal, None, "{one:?}");
        let (least, most) = (one.p95_least_ns.unwrap() / MS, one.p95_ns.unwrap() / MS);
        assert!((20.2..20.6).contains(&least) && (58.0..67.0).contains(&most), "{one:?}");
    }
    assert!(advice.gaps.is_empty(), "{:?}", advice.gaps);
}

#[test]
fn memory_is_that_of_the_worst_end_and_of_the_users_own() {
    let session = Session::new(0.0);
    let roomy = Load { memory_bytes: Some(1e9), worker_memory_bytes: 10e6, ..load() };
    let advice = session.plan(roomy.clone());
    let process = of(&advice, "process");
    let each = 10e6 + 1.1 * 200e3;
    assert_eq!(process.memory_bytes, Some(f64::from(process.workers.unwrap()) * each));
    let small = session.plan(Load { memory_bytes: Some(100e6), ..roomy });
    assert_eq!(
        of(&small, "process").refusal,
        Some(Refusal::Memory {
            needed_bytes: f64::from(process.workers.unwrap()) * each,
            workers_fit: 9
        })
    );
    // Without a measure of memory nothing is recommended that must fit into some.
    let blind = Session::new(0.0).without("workers");
    let advice = blind.plan(Load { memory_bytes: Some(1e9), ..load() });
    assert_eq!(advice.recommended, None);
    assert!(advice.gaps.iter().any(|gap| gap.measure == "scruple run footprint"));
    assert_eq!(blind.plan(load()).recommended.as_deref(), Some("pool"));
}

#[test]
fn memory_far_from_the_measured_number_of_connections_is_unknown() {
    let held = |count: &str| {
        let mut session = served();
        session.designs[0].factors.push(factor("held", &[count]));
        for record in &mut session.records {
            record.treatment.levels_mut().insert("held".into(), count.into());
        }
        session.plan(chat())
    };
    let near = held("1000");
    let is = |found: f64, expected: f64| (found / expected - 1.0).abs() < 1e-12;
    let event_loop = of(&near, "event_loop");
    assert!(is(event_loop.memory_least_bytes.unwrap(), 0.9 * (2e6 + 5e6)));
    assert!(is(event_loop.memory_bytes.unwrap(), 1.1 * (2e6 + 5e6)));
    // 1,000 connections are no tenfold of 100: nothing is said to fit, or not to.
    let far = held("100");
    assert!(far.models.iter().all(|one| one.refusal.is_none() && one.memory_bytes.is_none()));
    assert_eq!(far.recommended, None);
    assert!(far.gaps.iter().any(|gap| gap.what.contains("memory of 1000 connections")));
}

#[test]
fn a_kept_connection_says_what_a_request_costs() {
    let mut session = served();
    session.designs[0].factors.push(factor("keep_alive", &["no", "yes"]));
    for record in &mut session.records {
        record.treatment.levels_mut().insert("keep_alive".into(), "no".into());
    }
    for block in 0..10 {
        let at = [("model", "node"), ("keep_alive", "yes")];
        session.records.push(trial(&session.designs[0], block, &at, "request_cpu_ns", 10e3, 0.0));
    }
    let advice = session.plan(chat());
    let cost = |model| of(&advice, model).cpu_point_ns - 0.2 * MS;
    assert!((cost("node") - 10e3).abs() < 1.0 && (cost("event_loop") - 25e3).abs() < 1.0);
    // The cold one stands beside it.
    let listed = |id: &str| advice.costs.iter().any(|cost| cost.id == id);
    assert!(listed("node_kept") && listed("node_added") && !listed("event_loop_kept"));
}

#[test]
fn a_plan_bears_more_than_the_load_by_the_headroom() {
    // 600/s of 6.03 ms take 3.6 of four CPUs: 90 %.
    let tight = Load { rate_per_s: Some(600.0), cpus: 4, ..load() };
    let session = served();
    assert_eq!(of(&session.plan(tight.clone()), "thread").refusal, None);
    let refused = session.plan(Load { headroom: 0.3, ..tight.clone() });
    assert_eq!(refused.recommended, None);
    let why = of(&refused, "thread").refusal.clone();
    assert!(matches!(why, Some(Refusal::Cpus { cpus_least: Some(5), .. })), "{why:?}");
    // What is shown is the stated load with the workers of the grown one.
    let roomy = Load { cpus: 8, ..tight };
    let bare = session.plan(roomy.clone());
    let ample = session.plan(Load { headroom: 0.3, ..roomy.clone() });
    let grown = session.plan(Load { rate_per_s: Some(780.0), ..roomy });
    let workers = |advice: &Advice| of(advice, "pool").workers.unwrap();
    assert!(workers(&ample) > workers(&bare));
    assert_eq!(workers(&ample), workers(&grown));
    assert_eq!(of(&ample, "pool").throughput_per_s, Some(600.0));
    assert!(of(&ample, "pool").rate_most_per_s.unwrap() >= 780.0);
    assert!(of(&ample, "pool").response_ns < of(&bare, "pool").response_ns);
}

#[test]
fn connections_that_think_need_cpu_time_for_more_of_them() {
    // 1,000 connections ask 100 times a second each, for 18.03 ms of CPU time every 10.02 s: 1.8 of 2 CPUs.
    let busy = Load { think_ns: 10e9, service_ns: 20.0 * MS, cpu_share: 0.9, ..chat() };
    let session = served();
    let bare = session.plan(Load { headroom: 0.0, ..busy.clone() });
    assert_eq!(of(&bare, "thread").refusal, None);
    let refusal = of(&session.plan(busy.clone()), "thread").refusal.clone();
    assert!(matches!(refusal, Some(Refusal::Cpus { cpus_least: Some(3), .. })), "{refusal:?}");
    // Connections that ask again at once leave no headroom on any machine.
    let at_once = session.plan(Load { think_ns: 0.0, ..busy });
    assert_eq!(of(&at_once, "thread").refusal, None);
}

#[test]
fn a_plan_says_what_would_change_it() {
    let session = served();
    let (designs, records, load) = (&session.designs, &session.records, chat());
    let input = PlanInput { scruple: "test", session: "made up", designs, records, load };
    let changes = sensitivity(&input).unwrap();
    let names: Vec<&str> = changes.iter().map(|one| one.change.as_str()).collect();
    let expected =
        ["twice the load", "twice the CPU time of a request", "half the CPUs", "half the memory"];
    assert_eq!(names, expected);
    for one in &changes {
        assert_eq!(one.recommended.as_deref(), Some("pool"), "{one:?}");
    }
    // A megabyte in which no server fits.
    let small = PlanInput { load: Load { memory_bytes: Some(4e6), ..input.load.clone() }, ..input };
    let half = sensitivity(&small).unwrap().pop().unwrap();
    assert_eq!((half.change.as_str(), half.recommended), ("half the memory", None));
    // Curves begin below the load and end at twice of it, or where a queue would grow.
    let advice = session.plan(chat());
    let curve = |model: &str| advice.curves.iter().find(|curve| curve.model == model).unwrap();
    let ends = |points: &[(f64, f64)]| (points[0].0, points[points.len() - 1].0);
    assert_eq!(ends(&curve("thread").points), (100.0, 2000.0));
    assert!(curve("thread").points.is_sorted_by(|a, b| a.1 <= 1.03 * b.1));
}
