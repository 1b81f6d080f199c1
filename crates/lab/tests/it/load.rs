//! `scruple load`: what it refuses before the first request, in one line and with exit code 2; and what
//! it does to servers of room `web`, from the command line to its streams, files and exit codes.

use crate::hdr_log;
use crate::support::{binary, eventually, said, scruple};
use hdrhistogram::Histogram;
use model::{Arrivals, LoadResult, LoadTimes};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Output, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use web::serve::{Model, Plan, Running, Service, listen};

const HERE: &str = "http://127.0.0.1:9/";
/// TEST-NET-1 of RFC 5737: nobody has it.
const ELSEWHERE: &str = "http://192.0.2.1/";

fn load(words: &[&str]) -> Output {
    scruple().arg("load").args(words).output().unwrap()
}

/// The one line of an error.
fn refusal(words: &[&str]) -> String {
    let output = load(words);
    assert_eq!(output.status.code(), Some(2), "{words:?}: {}", said(&output));
    assert!(output.stdout.is_empty(), "{words:?}: {}", said(&output));
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(text.lines().count(), 1, "{words:?}: {text}");
    assert!(text.starts_with("error: "), "{text}");
    text
}

#[test]
fn what_is_no_url_of_http_is_told_what_would_be() {
    assert!(refusal(&["ftp://127.0.0.1/"]).contains("ftp is not supported"));
    assert!(refusal(&["127.0.0.1:80"]).contains("http://127.0.0.1:8080/"));
    assert!(refusal(&["http://no.such.host.invalid/"]).contains("no.such.host.invalid"));
}

#[test]
fn another_machine_is_asked_only_by_who_says_so_and_how_much() {
    assert!(refusal(&[ELSEWHERE]).contains("--allow-remote"));
    let with = |words: &[&str]| refusal(&[&[ELSEWHERE, "--allow-remote"], words].concat());
    for words in [&[][..], &["-q", "10"], &["-z", "1s"], &["-q", "10", "-n", "5"]] {
        assert!(with(words).contains("--rate and --duration"), "{words:?}");
    }
    for words in [&["--find-knee"][..], &["--find-knee", "-q", "9"]] {
        assert!(with(words).contains("--rate and --time-budget"), "{words:?}");
    }
    assert!(refusal(&["http://0.0.0.0/"]).contains("not this machine"));
}

#[test]
fn flags_that_contradict_each_other_are_told() {
    assert!(refusal(&[HERE, "--open"]).contains("--rate"));
    assert!(refusal(&[HERE, "-c", "2", "-t", "4"]).contains("2 connections"));
    assert!(refusal(&[HERE, "-c", "1", "-t", "2"]).contains("there is 1 connection to"));
    assert!(refusal(&[HERE, "-H", "connection: Close"]).contains("--no-keep-alive"));
    assert!(refusal(&[HERE, "-H", "Connection: keep-alive", "--no-keep-alive"]).contains("leave"));
    assert!(refusal(&[HERE, "-D", "/no/such/file"]).contains("/no/such/file"));
    assert!(refusal(&[HERE, "--json", "--html", "-"]).contains("standard output"));
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().to_str().unwrap();
    assert!(refusal(&[HERE, "--html", folder]).contains("--html"));
    assert!(refusal(&[HERE, "--hdr-log", folder]).contains("--hdr-log"));
}

#[test]
fn what_the_command_line_cannot_mean_is_refused() {
    for (words, part) in [
        (&["-t", "20s"][..], "--timeout"),
        (&["-z", "10x"], "such as 10s"),
        (&["-q", "0"], "such as 500"),
        (&["-c", "0"], "1..=65536"),
        (&["-n", "0"], "0 is not in"),
        (&["-H", "Content-Length: 1"], "follows from the body"),
        (&["-H", "none"], "Accept: text/html"),
        (&["-m", "GET /"], "such as GET"),
        (&["-d", "a", "-D", "b"], "cannot be used with"),
        (&["--find-knee", "-n", "5"], "cannot be used with"),
        (&["--limit", "50ms"], "--find-knee"),
        (&["--open=sometimes", "-q", "5"], "poisson"),
    ] {
        let output = load(&[&[HERE], words].concat());
        let text = String::from_utf8_lossy(&output.stderr).to_string();
        assert_eq!(output.status.code(), Some(2), "{words:?}: {text}");
        assert!(text.contains(part), "{words:?}: {text}");
    }
}

#[test]
fn the_help_lists_the_exit_codes() {
    let output = load(&["--help"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in
        ["Exit codes: 0 measured", "--allow-remote", "three times per request", "docs/load.md"]
    {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let short = String::from_utf8(scruple().arg("--help").output().unwrap().stdout).unwrap();
    assert!(short.contains("Load an HTTP server"), "{short}");
}

/// A server of room `web` that answers after a while; it ends with its value.
fn serve(service: Service) -> Running {
    let plan = Plan { model: Model::EventLoop, service, keep_alive: true };
    let mut server = Running::start(listen(1024).unwrap(), &plan, &[]).unwrap();
    server.wait_until_ready(Duration::from_secs(60)).unwrap();
    server
}

fn url(server: &Running) -> String {
    format!("http://{}/", server.address())
}

/// The result of a load that is carried out, as `--json` prints it.
fn result(server: &Running, words: &[&str]) -> LoadResult {
    let output = load(&[&[&url(server), "--json"], words].concat());
    assert_eq!(output.status.code(), Some(0), "{words:?}: {}", said(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn its_json_is_that_of_its_schema() {
    let server = serve(Service::Nothing);
    let output = load(&[&url(&server), "-n", "200", "-c", "4", "-t", "2", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    let found: LoadResult = serde_json::from_value(printed.clone()).unwrap();
    assert_eq!(serde_json::to_value(&found).unwrap(), printed, "fields that the schema lacks");
    let schema: Value =
        serde_json::from_str(include_str!("../../../../docs/load.schema.json")).unwrap();
    for required in schema["required"].as_array().unwrap() {
        assert!(printed.get(required.as_str().unwrap()).is_some(), "{required} is missing");
    }
    assert_eq!(found.counts.statuses, [(200, 200)].into());
    assert_eq!(found.response.count, 200);
    assert_eq!((found.plan.connections, found.plan.threads), (4, 2));
    assert_eq!((found.plan.requests, found.plan.duration_ms), (Some(200), None));
    assert_eq!(found.plan.arrivals, Arrivals::Closed);
}

#[test]
fn requests_come_as_the_flags_say() {
    let server = serve(Service::Nothing);
    // The last of forty comes due 195 ms after the first.
    let paced = result(&server, &["-q", "200", "-n", "40", "-c", "3"]);
    assert_eq!(paced.plan.arrivals, Arrivals::Paced { per_s: 200.0 });
    assert!(paced.counts.succeeded == 40 && paced.elapsed_ns >= 195_000_000, "{paced:?}");
    let constant = result(&server, &["-q", "200", "--open=constant", "-z", "200ms"]);
    assert_eq!(constant.plan.arrivals, Arrivals::Constant { per_s: 200.0 });
    assert_eq!((constant.plan.connections, constant.elapsed_ns), (500, 200_000_000));
    let due = |result: &LoadResult| result.counts.sent + result.counts.unsent;
    assert_eq!(due(&constant), 40);
    let random =
        || result(&server, &["-q", "300/min", "--open", "--seed", "7", "-z", "1s", "-c", "9"]);
    let (one, other) = (random(), random());
    assert_eq!(one.plan.arrivals, Arrivals::Poisson { per_s: 5.0, seed: 7 });
    let moments: Vec<u64> =
        web::load::due_ns(&one.plan).take_while(|due_ns| *due_ns < 1_000_000_000).collect();
    assert_eq!((due(&one), due(&other)), (moments.len() as u64, moments.len() as u64));
    // Each of ten requests on a connection of its own, which no fairness can be found of.
    let single = result(&server, &["-n", "10", "-c", "2", "--no-keep-alive"]);
    assert!(single.counts.succeeded == 10 && single.fairness.is_none(), "{single:?}");
}

/// A server for one connection that keeps what it is sent, and answers by `answer`.
fn keeper(answer: &'static [u8]) -> (String, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/items?page=2", listener.local_addr().unwrap());
    let keep = move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut bytes = [0; 4096];
        let mut kept = String::new();
        loop {
            match stream.read(&mut bytes) {
                Ok(read @ 1..) => kept += std::str::from_utf8(&bytes[..read]).unwrap(),
                _ => return kept,
            }
            if kept.ends_with("the end") {
                stream.write_all(answer).unwrap();
            }
        }
    };
    (url, std::thread::spawn(keep))
}

#[test]
fn a_request_is_what_the_flags_say() {
    let ok = b"HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("body");
    std::fs::write(&file, "not yet the end").unwrap();
    let file = file.to_str().unwrap();
    for body in [["-d", "not yet the end"], ["-D", file]] {
        let (url, kept) = keeper(ok);
        let host = url.trim_start_matches("http://").split('/').next().unwrap().to_string();
        let words = ["-n", "1", "-c", "1", "-m", "POST", "-H", "Accept: text/html", "-H", "X-A:b"];
        let output = load(&[&[&url as &str], &words[..], &body[..]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        assert_eq!(
            kept.join().unwrap(),
            format!(
                "POST /items?page=2 HTTP/1.1\r\nHost: {host}\r\nUser-Agent: scruple/{}\r\n\
                 Accept: text/html\r\nX-A: b\r\nContent-Length: 15\r\n\r\nnot yet the end",
                env!("CARGO_PKG_VERSION")
            )
        );
    }
}

#[test]
fn page_and_log_say_what_the_json_says() {
    let server = serve(Service::Wait(Duration::from_millis(2)));
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let (page, log) = (path("load.html"), path("load.hlog"));
    let words = ["-q", "400", "-z", "500ms", "-c", "8", "--html", &page, "--hdr-log", &log];
    let found = result(&server, &words);
    let intervals = hdr_log::intervals(&std::fs::read(&log).unwrap());
    let sum_of = |tag: &str| {
        let mut sum = Histogram::<u64>::new(3).unwrap();
        sum.auto(true);
        let own = intervals.iter().filter(|interval| interval.tag == tag);
        own.for_each(|interval| sum.add(&interval.histogram).unwrap());
        sum
    };
    for (tag, times) in
        [("response", &found.response), ("service", &found.service), ("lateness", &found.lateness)]
    {
        let whole = sum_of(tag);
        assert_eq!((whole.len(), Some(whole.max())), (times.count, times.max_ns), "{tag}");
        assert_eq!(sum_of(&format!("{tag}-given-up")).len(), times.censored, "{tag}");
        // Without what was given up, Kaplan and Meier's percentiles are the histogram's own.
        for percentile in times.percentiles.iter().filter(|_| times.censored == 0) {
            let own = whole.value_at_percentile(percentile.percent);
            assert_eq!(percentile.ns, Some(own), "{tag}, p{}", percentile.percent);
        }
    }
    for interval in &intervals {
        let max_ms = interval.histogram.max() as f64 / 1e6;
        assert!((interval.max_ms - max_ms).abs() <= 0.001 * max_ms.max(1.0), "{max_ms}");
        assert!(interval.start + interval.duration <= Duration::from_millis(500));
        assert!(interval.duration <= Duration::from_millis(50));
    }
    let succeeded: u64 = found.series.iter().map(|slice| slice.succeeded).sum();
    assert_eq!(succeeded, found.counts.succeeded - found.counts.succeeded_late);
    let page = std::fs::read_to_string(&page).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("requests per second"));
    assert!(page.contains(&server.address().to_string()), "{page}");
}

#[test]
fn files_can_go_to_standard_output_in_place_of_the_text() {
    let server = serve(Service::Nothing);
    let page = load(&[&url(&server), "-n", "5", "-c", "1", "--html", "-"]);
    assert!(
        page.status.success() && page.stdout.starts_with(b"<!DOCTYPE html>"),
        "{}",
        said(&page)
    );
    let log = load(&[&url(&server), "-n", "5", "-c", "1", "--hdr-log", "-"]);
    assert!(log.status.success(), "{}", said(&log));
    let intervals = hdr_log::intervals(&log.stdout);
    let responses = intervals.iter().filter(|interval| interval.tag == "response");
    assert_eq!(responses.map(|interval| interval.histogram.len()).sum::<u64>(), 5);
    let lines = load(&[&url(&server), "-n", "5", "-c", "1", "--log", "-"]);
    assert_eq!(String::from_utf8(lines.stdout).unwrap().lines().count(), 6);
}

#[test]
fn a_log_has_a_line_for_each_request() {
    let server = serve(Service::Nothing);
    let folder = tempfile::tempdir().unwrap();
    for name in ["load.csv", "load.csv.gz"] {
        let path = folder.path().join(name);
        let words = ["-q", "2000", "-n", "300", "-t", "2", "--log", path.to_str().unwrap()];
        let found = result(&server, &words);
        let file = std::fs::File::open(&path).unwrap();
        let text = match name.ends_with("gz") {
            true => std::io::read_to_string(flate2::read::GzDecoder::new(file)),
            false => std::io::read_to_string(file),
        };
        let text = text.unwrap();
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("due_ns,sent_ns,ended_ns,connection,status,error"));
        let mut took = Vec::new();
        for line in lines {
            let fields: Vec<&str> = line.split(',').collect();
            let [due, sent, ended] = [0, 1, 2].map(|index| fields[index].parse::<u64>().unwrap());
            assert!(due <= sent && sent <= ended && fields[4..] == ["200", ""], "{line}");
            took.push(ended - due);
        }
        assert_eq!(took.len(), 300);
        let most = took.iter().max().copied().unwrap();
        let known = found.response.max_ns.unwrap();
        assert!(most <= known && known as f64 <= 1.001 * most as f64 + 1.0, "{most} {known}");
    }
}

#[test]
fn thresholds_decide_how_a_load_ends() {
    let server = serve(Service::Nothing);
    let code = |words: &[&str]| {
        let output = load(&[&[&url(&server) as &str], words].concat());
        (output.status.code(), said(&output))
    };
    let met =
        code(&["-z", "1s", "-c", "2", "--expect", "errors <= 0%", "--expect", "errors < 50%"]);
    assert_eq!(met.0, Some(0), "{}", met.1);
    assert!(
        met.1.contains("errors <= 0%: met") && met.1.contains("errors < 50%: met"),
        "{}",
        met.1
    );
    // Five requests say nothing of a percentile.
    let few = ["-n", "5", "-c", "1", "--expect", "p99 < 1h"];
    let undecided = code(&few);
    assert!(
        undecided.0 == Some(3) && undecided.1.contains("requests like these decide it"),
        "{}",
        undecided.1
    );
    assert_eq!(code(&[&few[..], &["--bisect"]].concat()).0, Some(125));
    for (text, word) in [("p99 < 50", "such as 50ms"), ("p99", "no < or >"), ("p98 < 5ms", "p99.9")]
    {
        let (refused, found) = code(&["--expect", text]);
        assert!(refused == Some(2) && found.contains(word), "{found}");
    }
}

#[test]
fn a_server_of_which_nothing_is_known_is_skipped_by_bisect() {
    let gone = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}/", listener.local_addr().unwrap())
    };
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = format!("http://{}/", silent.local_addr().unwrap());
    for (url, code) in [(&gone, 125), (&silent, 125)] {
        let words = [url as &str, "-z", "300ms", "--timeout", "100ms", "-c", "2", "--bisect"];
        let output = load(&words);
        assert_eq!(output.status.code(), Some(code), "{}", said(&output));
        // One line, and not ten rows of nothing.
        assert!(output.stdout.is_empty(), "{}", said(&output));
        let found = String::from_utf8(output.stderr).unwrap();
        assert_eq!(found.lines().filter(|line| line.starts_with("error: ")).count(), 1, "{found}");
    }
    let usage = load(&[&gone, "--bisect", "-t", "9", "-c", "1"]);
    assert_eq!(usage.status.code(), Some(2), "{}", said(&usage));
}

/// Writes a result whose p99 is some ms, with an interval of a tenth on either side.
fn stored(folder: &std::path::Path, name: &str, like: &LoadResult, p99_ms: f64) -> String {
    let p99 = model::Estimate::between(0.9e6 * p99_ms, 1e6 * p99_ms, 1.1e6 * p99_ms);
    let mut result = like.clone();
    for percentile in &mut result.response.percentiles {
        percentile.ns = Some((p99_ms * 1e6) as u64);
    }
    for interval in &mut result.intervals.percentiles {
        interval.ns = (interval.percent == 99.0).then_some(p99);
    }
    let path = folder.join(name);
    std::fs::write(&path, serde_json::to_string(&result).unwrap()).unwrap();
    path.to_str().unwrap().to_string()
}

#[test]
fn stored_loads_are_compared_with_intervals_and_gates() {
    let server = serve(Service::Nothing);
    let like = result(&server, &["-n", "50", "-c", "2"]);
    let folder = tempfile::tempdir().unwrap();
    let of = |name: &str, p99_ms| stored(folder.path(), name, &like, p99_ms);
    let (base, near, far) = (of("a.json", 14.1), of("b.json", 14.6), of("c.json", 30.0));
    let compare = |words: &[&str]| {
        let output = scruple().arg("compare").args(words).output().unwrap();
        (output.status.code(), said(&output))
    };
    let (code, text) = compare(&[&base, &near]);
    assert!(code == Some(0) && text.contains("No difference is significant"), "{text}");
    let (code, text) = compare(&[&base, &far]);
    assert!(code == Some(0) && text.contains("Significantly different: p99."), "{text}");
    assert_eq!(compare(&[&base, &near, "--fail-if", "p99 > +50%"]).0, Some(0));
    assert_eq!(compare(&[&base, &far, "--fail-if", "p99 > +50%"]).0, Some(1));
    assert_eq!(compare(&[&base, &near, "--fail-if", "p99 > +5%"]).0, Some(3));
    assert_eq!(compare(&[&base, &near, "--fail-if", "p50 > +5%"]).0, Some(3));
    let (code, text) = compare(&[&base, &near, "--fail-if", "p98 > +5%"]);
    assert!(code == Some(2) && text.contains("unknown number"), "{text}");
    std::fs::write(folder.path().join("d.json"), "{}").unwrap();
    let broken = folder.path().join("d.json");
    let (code, text) = compare(&[&base, broken.to_str().unwrap()]);
    assert!(code == Some(2) && text.contains("d.json is no result of scruple load"), "{text}");
}

#[test]
fn two_servers_take_turns() {
    let (one, other) = (serve(Service::Nothing), serve(Service::Wait(Duration::from_millis(20))));
    let words = ["-n", "6", "-c", "2", "--blocks", "2", "--json"];
    let output = load(&[&[&url(&one) as &str, "--against", &url(&other)], &words[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let found: model::LoadComparison = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((found.blocks, found.sides.len()), (Some(2), 2));
    let p50 =
        found.rows.iter().find(|row| row.number == model::LoadNumber::Percentile(50.0)).unwrap();
    assert!(p50.value.unwrap() >= 20e6 && p50.ratio.is_some(), "{p50:?}");
}

#[test]
fn what_is_measured_is_told_and_what_is_not_is_an_error() {
    // Every answer says no: that is shown, and is no success.
    let busy = b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    let (url, kept) = keeper(busy);
    let output = load(&[&url, "-n", "1", "-c", "1", "-m", "POST", "-d", "the end"]);
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(text.contains("No request succeeded") && text.contains("503: 1"), "{text}");
    kept.join().unwrap();
    let (url, kept) = keeper(busy);
    let words = ["-n", "1", "-c", "1", "-m", "POST", "-d", "the end", "--expect", "errors <= 0%"];
    let output = load(&[&[&url as &str], &words[..]].concat());
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    kept.join().unwrap();
    // Nobody is there.
    let gone = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}/", listener.local_addr().unwrap())
    };
    for how in [&["-c", "3"][..], &["-q", "50"], &["-q", "50", "--open"], &["--json"]] {
        let found = refusal(&[&[&gone as &str, "-z", "1h"], how].concat());
        assert!(found.contains("refused") && found.contains("127.0.0.1"), "{how:?}: {found}");
    }
    // Somebody listens and never says a word: what happened is said, and is no measurement.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", silent.local_addr().unwrap());
    let output = load(&[&url, "-z", "300ms", "-c", "2"]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.starts_with("error: ") && errors.contains("answered nothing in 0.3 s"));
}

#[test]
fn few_descriptors_are_told_before_the_first_request() {
    let server = serve(Service::Nothing);
    let script = "ulimit -n 128; exec \"$0\" load \"$1\" -n 1000 -c \"$2\"";
    let with = |connections: &str| {
        let mut shell = Command::new("sh");
        shell.args(["-c", script]).arg(binary()).args([&url(&server), connections]);
        shell.output().unwrap()
    };
    let output = with("200");
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(text.contains("200 connections") && text.contains("ulimit -Hn 240"), "{text}");
    assert_eq!((text.lines().count(), output.stdout.len()), (1, 0), "{}", said(&output));
    // As many as it says that there may be can be.
    let output = with("88");
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(!said(&output).contains("no port or descriptor"), "{}", said(&output));
}

/// A load on a server that has begun.
fn under_way(server: &Running, words: &[&str], stdout: Stdio) -> Child {
    sys::signal::heed(sys::signal::SIGINT).unwrap();
    let child = scruple()
        .args(["load", &url(server), "-c", "2"])
        .args(words)
        .stdout(stdout)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let before = switches(server);
    eventually("the server has answered some requests", || switches(server) >= before + 20);
    child
}

/// How often the server's threads have left a CPU: an idle one leaves it after each request.
fn switches(server: &Running) -> u64 {
    let tasks = std::fs::read_dir(format!("/proc/{}/task", server.pid())).unwrap().flatten();
    let texts = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("status")).ok());
    texts.flat_map(|text| text.lines().filter_map(counted_switches).collect::<Vec<_>>()).sum()
}

fn counted_switches(line: &str) -> Option<u64> {
    let (name, count) = line.split_once(':')?;
    name.ends_with("_ctxt_switches").then(|| count.trim().parse().unwrap())
}

fn threads(child: &Child) -> usize {
    std::fs::read_dir(format!("/proc/{}/task", child.id())).map_or(0, Iterator::count)
}

fn interrupt(child: &Child) {
    sys::process::kill(child.id() as i32, sys::signal::SIGINT).unwrap();
}

#[test]
fn a_server_that_was_stopped_is_seen_as_its_users_saw_it() {
    let server = serve(Service::Nothing);
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("load.html");
    let words = ["-q", "200", "-z", "4s", "--json", "--html", page.to_str().unwrap()];
    let child = under_way(&server, &words, Stdio::piped());
    sys::process::kill(server.pid(), sys::signal::SIGSTOP).unwrap();
    let since = Instant::now();
    std::thread::sleep(Duration::from_secs(1));
    let stopped = since.elapsed();
    sys::process::kill(server.pid(), nix::sys::signal::SIGCONT as i32).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let found: LoadResult = serde_json::from_slice(&output.stdout).unwrap();
    let p95 = |times: &LoadTimes| {
        let found = times.percentiles.iter().find(|found| found.percent == 95.0).unwrap();
        Duration::from_nanos(found.ns.unwrap_or(u64::MAX))
    };
    // Nobody who came in the stop was answered before its end, and one in twenty of all in four
    // seconds came in its first fifth of a second.
    let least = stopped.mul_f64(0.98).checked_sub(Duration::from_millis(200)).unwrap();
    assert!(p95(&found.response) >= least, "{:?} of {stopped:?}", p95(&found.response));
    // Two of eight hundred were under way.
    assert!(p95(&found.service) < least / 2, "{:?}", p95(&found.service));
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("of the service time is"), "{page}");
}

#[test]
fn ctrl_c_shows_what_was_measured_until_then() {
    let server = serve(Service::Nothing);
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("load.html");
    let words = ["-z", "1h", "--html", page.to_str().unwrap()];
    let child = under_way(&server, &words, Stdio::piped());
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("Throughput: "), "{}", said(&output));
    assert!(text.contains("It was ended before its time"), "{}", said(&output));
    assert!(String::from_utf8_lossy(&output.stderr).contains("interrupted"), "{}", said(&output));
    assert!(std::fs::read_to_string(page).unwrap().starts_with("<!DOCTYPE html>"));
}

#[test]
fn a_second_ctrl_c_ends_it_at_once() {
    let server = serve(Service::Nothing);
    // It cannot write its result: the pipe is full, and nobody reads.
    let (reader, mut writer) = std::io::pipe().unwrap();
    let full = writer.try_clone().unwrap();
    let filler = std::thread::spawn(move || while writer.write_all(&[b'x'; 4096]).is_ok() {});
    let mut child = under_way(&server, &["-z", "1h", "--json"], full.into());
    interrupt(&child);
    eventually("the load is over", || threads(&child) == 1);
    assert!(child.try_wait().unwrap().is_none(), "it has something to write");
    interrupt(&child);
    let mut ended = None;
    eventually("it has ended", || {
        ended = child.try_wait().unwrap();
        ended.is_some()
    });
    assert_eq!(ended.unwrap().signal(), Some(sys::signal::SIGINT), "{ended:?}");
    drop(reader);
    filler.join().unwrap();
}

#[test]
fn who_reads_no_further_is_no_error() {
    let server = serve(Service::Nothing);
    for words in [&[][..], &["--json"], &["--html", "-"], &["--hdr-log", "-"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = scruple();
        command.args(["load", &url(&server), "-n", "50", "-c", "2"]).args(words);
        let child = command.stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{words:?}: {}", said(&output));
        assert!(output.stderr.is_empty(), "{words:?}: {}", said(&output));
    }
}

#[test]
fn colours_are_for_who_wants_them() {
    let server = serve(Service::Nothing);
    let coloured = |set: &[(&str, &str)], words: &[&str]| {
        let mut command = scruple();
        command.args(["load", &url(&server), "-n", "50", "-c", "2"]).args(words);
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
            command.env_remove(name);
        }
        let output = command.envs(set.iter().copied()).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        output.stdout.contains(&b'\x1b')
    };
    assert!(!coloured(&[], &[]), "a pipe gets none");
    assert!(coloured(&[("CLICOLOR_FORCE", "1")], &[]));
    assert!(!coloured(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], &[]));
    assert!(coloured(&[("NO_COLOR", "1")], &["--color", "always"]));
}
