//! `scruple load --predict`: from the command line to what it says, on servers of room `web`.

use crate::support;
use crate::support::{eventually, said, scruple};
use model::{LoadPrediction, ServerKind};
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
    let printed: LoadPrediction = serde_json::from_slice(&output.stdout).unwrap();
    assert!(printed.complete && printed.asked == Some(ServerKind::EventLoop(1)));
    let seen = printed.seen.unwrap();
    let wait_ns = WAIT.as_nanos() as f64;
    assert!(seen.alone_ns.low >= wait_ns, "{seen:?}");
    assert_eq!(seen.connections, 8);
    // Eight that wait beside each other are answered eight times as often as one, and no oftener.
    assert!(seen.throughput_per_s.point <= 8.0 * 1e9 / wait_ns, "{seen:?}");
    assert!(seen.cpu_ns.unwrap() > 0.0, "the CPU time of its own processes: {seen:?}");
    assert!(printed.models.iter().any(|model| model.server == ServerKind::Single));
    let shown = printed.shown().unwrap();
    assert_eq!(shown.server, ServerKind::EventLoop(1));
    // None where the machine was too busy for a demand.
    for (load, part) in shown.loads.iter().zip([0.5, 0.7, 0.9]) {
        let per_s = part * seen.throughput_per_s.point;
        assert!((load.per_s - per_s).abs() < 1e-6 * per_s, "{load:?}");
        assert!((load.utilisation - part).abs() < 1e-9);
        let mean = load.mean.unwrap();
        assert!(mean.measured_ns >= wait_ns && load.requests > 0, "{load:?}");
        assert!(mean.low_ns <= mean.predicted_ns && mean.predicted_ns <= mean.high_ns);
    }
}

#[test]
fn a_model_that_is_refuted_ends_with_its_own_code() {
    let server = serve();
    let url = format!("http://{}/", server.address());
    // One thread would take the whole 5 ms for each request: the throughput of eight refutes it.
    let words = [&url, "--predict", "--expect-model", "single", "-c", "8", "-z", "300ms"];
    let output = scruple().arg("load").args(words).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let text = String::from_utf8_lossy(&output.stdout).to_string();
    assert!(text.contains("No: it is not a single thread"), "{text}");
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
        (&["http://127.0.0.1:9/"], "before --predict"),
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
    let printed: LoadPrediction = serde_json::from_slice(&output.stdout).unwrap();
    assert!(printed.complete && printed.seen.unwrap().connections < 100, "{printed:?}");
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
