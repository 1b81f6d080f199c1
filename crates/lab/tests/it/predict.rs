//! `scruple load --predict`: from the command line to what it says, on servers of room `web`.

use crate::support;
use crate::support::{eventually, said, scruple};
use model::{LoadPrediction, ServerKind, ServerLimit};
use std::process::{Output, Stdio};
use std::time::Duration;
use web::serve::{Model, Plan, Running, Service, listen};

/// What each request waits for.
const WAIT: Duration = Duration::from_millis(5);

/// An event loop whose requests wait.
fn serve() -> Running {
    let plan = Plan { model: Model::EventLoop, service: Service::Wait(WAIT), keep_alive: true };
    let mut server = Running::start(listen(1024).unwrap(), &plan, &[]).unwrap();
    server.wait_until_ready(Duration::from_secs(60)).unwrap();
    server
}

fn predict(words: &[&str]) -> Output {
    scruple().args(["load", "--predict"]).args(words).output().unwrap()
}

#[test]
fn measured_and_predicted_are_told_for_each_rate() {
    let server = serve();
    let url = format!("http://{}/", server.address());
    let words = ["event-loop", &url, "-c", "8", "-z", "500ms", "--seed", "7", "--json"];
    let output = predict(&words);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let told: LoadPrediction = serde_json::from_slice(&output.stdout).unwrap();
    assert!(told.complete && told.server == ServerKind::EventLoop(1));
    let demand = told.demand.unwrap();
    let wait_ns = WAIT.as_nanos() as f64;
    assert!(demand.alone_ns >= wait_ns, "{demand:?}");
    assert_eq!(demand.connections, 8);
    // Eight that wait beside each other are answered eight times as often as one, and no oftener.
    assert!(demand.throughput_per_s <= 8.0 * 1e9 / wait_ns, "{demand:?}");
    let at = |part: f64| part * demand.throughput_per_s;
    assert_eq!(told.loads.len(), 3);
    for (load, part) in told.loads.iter().zip([0.5, 0.7, 0.9]) {
        assert!((load.per_s - at(part)).abs() < 1e-6 * at(part), "{load:?}");
        assert!((load.utilisation - part).abs() < 1e-9);
        let mean = load.mean.unwrap();
        assert!(mean.measured_ns >= wait_ns && load.requests > 0, "{load:?}");
        let asked_ns = (demand.wait_ns + demand.cpu_ns + demand.outside_ns) as f64;
        assert!(mean.predicted_ns >= asked_ns - 1.0, "{load:?} {demand:?}");
        if demand.limit == ServerLimit::Nothing {
            // Nobody waits for another, in the play and in the formula.
            assert!((mean.predicted_ns - asked_ns).abs() < 1.0, "{load:?}");
            let formula = load.formula.as_ref().unwrap();
            assert!((formula.mean_ns - asked_ns).abs() < 1.0, "{load:?}");
        }
    }
}

#[test]
fn what_it_cannot_do_is_refused_in_one_line() {
    for (words, part) in [
        (&["pools", "http://127.0.0.1:9/"][..], "pool:K"),
        (&["single", "http://127.0.0.1:9/", "-q", "5"], "cannot be used with"),
        (&["single", "http://127.0.0.1:9/", "--hdr-log", "x"], "cannot be used with"),
        (&["single", "http://127.0.0.1:9/", "--html", "/no/such/place/x"], "--html"),
        (&["single", "http://127.0.0.1:9/", "--html", "-", "--json"], "standard output"),
        (&["single", "http://127.0.0.1:9/", "--server-cpus", "0"], "1..=65536"),
        (&["single", "http://192.0.2.1/"], "not this machine"),
        (&["single", "http://127.0.0.1:9/"], "refused"),
    ] {
        let output = predict(words);
        let text = String::from_utf8_lossy(&output.stderr).to_string();
        assert_eq!(output.status.code(), Some(2), "{words:?}: {text}");
        assert!(output.stdout.is_empty() && text.contains(part), "{words:?}: {text}");
    }
    let alone = scruple().args(["load", "http://127.0.0.1:9/", "--server-cpus", "2"]).output();
    assert_eq!(alone.unwrap().status.code(), Some(2));
}

#[test]
fn few_descriptors_are_made_do_with() {
    let server = serve();
    let (url, program) = (format!("http://{}/", server.address()), support::binary());
    let line = r#"ulimit -n 100 && exec "$0" load --predict event-loop "$1" -z 200ms --json"#;
    let output = std::process::Command::new("sh")
        .args(["-c", line])
        .args([program.as_os_str(), url.as_ref()])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let told: LoadPrediction = serde_json::from_slice(&output.stdout).unwrap();
    assert!(told.complete && told.demand.unwrap().connections < 100, "{told:?}");
}

#[test]
fn ctrl_c_shows_what_is_known_by_then() {
    let server = serve();
    let url = format!("http://{}/", server.address());
    sys::signal::heed(sys::signal::SIGINT).unwrap();
    let child = scruple()
        .args(["load", "--predict", "event-loop", &url, "-c", "4", "-z", "1h"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let threads =
        || std::fs::read_dir(format!("/proc/{}/task", child.id())).map_or(0, Iterator::count);
    eventually("its load is under way", || threads() == 2);
    sys::process::kill(child.id() as i32, sys::signal::SIGINT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    let text = String::from_utf8_lossy(&output.stdout).to_string();
    assert!(text.contains("Interrupted"), "{text}");
}
