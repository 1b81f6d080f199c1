//! The result of a load.

mod expected;
mod server;

use crate::LoadCurves;
use crate::chart::{Mark, load_over_time, request_times};
use crate::doc::{Block, Doc, Role, Table, Tone};
pub(super) use expected::number_alone;
use expected::{expectation, succeeded};
use model::{
    Arrivals, Estimate, Fairness, LateEnds, LawCheck, LoadCounts, LoadError, LoadNumber,
    LoadPathology, LoadPlan, LoadResult, LoadTimes, RequestOrder, Unit,
};
use wording::number::{Terms, count, estimate, parts, rounded, share, value};
use wording::{counted, sentences, short};

/// The percentiles that the figure marks.
const MARKED: [Mark; 4] = [("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("p99.9", 0.999)];

/// A response time is compared with the service time where it is this many times as long.
const HIDDEN_LEAST: f64 = 1.1;

/// Answers that send the client elsewhere (RFC 9110, 15.4).
const REDIRECTS: [u16; 5] = [301, 302, 303, 307, 308];

/// Requests that were never sent are a caveat where they are more than one in this many.
const UNSENT_ONE_OF: u64 = 1000;

/// Jain's index below which answers were shared out unevenly.
const FAIR_LEAST: f64 = 0.8;

/// CPUs below which a server computed nothing, and above which it computed all the time.
const SERVER_IDLE: f64 = 0.1;
const SERVER_BUSY: f64 = 0.8;

/// A sentence and how it is meant: a `Plain` one is a detail, any other a note.
type Remark = (Tone, String);

/// Returns what a load did: throughput, caveats, errors, the three times side by side, details, settings
/// and counts; a page has the distributions of the times where there are curves. What others wrote is
/// made harmless.
pub fn load(result: &LoadResult, curves: &LoadCurves) -> Doc<'static> {
    let lead = asked(&result.plan);
    let mut doc = begin(&result.scruple, "a load on a server", &result.plan, &lead);
    doc.push(answer(result.counts.succeeded > 0, throughput(result)));
    let errors = result.counts.error_share();
    doc.blocks.extend(result.expected.iter().map(|expected| expectation(expected, errors)));
    doc.blocks.extend(doubts(&result.doubts));
    let cause = |one| Block::said(Tone::Bad, "cause", vec![pathology(one).into()]);
    doc.blocks.extend(result.pathologies.iter().map(cause));
    let (details, notes): (Vec<Remark>, Vec<Remark>) =
        remarks(result).into_iter().partition(|(tone, _)| *tone == Tone::Plain);
    doc.blocks.extend(notes.into_iter().map(|(tone, text)| Block::note(tone, text)));
    if result.counts.answered == 0 {
        // There is no time to show.
        doc.push(Block::fold("Settings and counts", vec![Block::facts(facts(result))]));
        return doc;
    }
    doc.push(Block::heading(2, "Times"));
    doc.push(Block::Table(table(result)));
    doc.blocks.extend(succeeded(result).map(Block::small));
    doc.push(Block::small(interval_meaning(result)));
    let meaning = "Response time runs from the moment a request came due to its answer: what a user \
                   waits. Service time runs from sending to the answer: what most tools show. Lateness \
                   runs from the moment a request came due to its sending.";
    doc.push(Block::small(meaning));
    doc.blocks.extend(figure(result, curves));
    doc.blocks.extend(load_over_time(&result.series));
    let server = server::sentences(result);
    if !server.is_empty() {
        doc.push(Block::heading(2, "Server"));
        doc.push(Block::list(server));
    }
    doc.push(Block::heading(2, "Details"));
    doc.push(Block::list(details.into_iter().map(|(_, text)| text)));
    doc.push(Block::fold("Settings and counts", vec![Block::facts(facts(result))]));
    doc
}

/// Returns a document that begins with the request and what was done with it.
pub(super) fn begin(
    version: &str,
    kind: &'static str,
    plan: &LoadPlan,
    lead: &str,
) -> Doc<'static> {
    let (method, url) = (short(&plan.method, 20), short(&plan.url, 400));
    let mut doc = Doc::new(version, kind, url.clone());
    doc.push(Block::heading(1, format!("{method} {url}")));
    doc.push(Block::paragraph(Role::Lead, wording::capital(lead)));
    doc
}

/// Returns an answer, as a note where it is bad news.
pub(super) fn answer(good: bool, text: String) -> Block<'static> {
    if good { Block::paragraph(Role::Answer, text) } else { Block::note(Tone::Bad, text) }
}

/// Returns what makes a result doubtful, as notes.
pub(super) fn doubts(doubts: &[String]) -> impl Iterator<Item = Block<'static>> {
    doubts.iter().map(|doubt| Block::note(Tone::Care, wording::sentence(doubt, 600)))
}

/// Returns a time in ns with its unit: "12.3 µs".
pub(super) fn time(ns: f64) -> String {
    value(ns, &Unit::Ns)
}

/// Returns a time in ns with its unit, or "unknown".
pub(super) fn time_or_unknown(ns: Option<f64>) -> String {
    ns.map_or("unknown".into(), time)
}

/// Returns a length in bytes with its unit: "1.25 MB".
pub(super) fn bytes(bytes: f64) -> String {
    value(bytes, &Unit::Bytes)
}

/// Returns a rate without its unit: "1234", "0.520".
pub(super) fn rate(per_s: f64) -> String {
    if per_s >= 100.0 { count(per_s.round() as u64) } else { value(per_s, &Unit::Count) }
}

/// Returns how requests came and what they have in common, in sentences, the first without its
/// capital.
fn asked(plan: &LoadPlan) -> String {
    let connections = counted(plan.connections.into(), "connection");
    let per_s = plan.arrivals.per_s().map_or(String::new(), rate);
    let open = format!("open loop, {per_s} requests per second");
    let arrivals = match plan.arrivals {
        Arrivals::Closed => format!("closed loop, {connections}"),
        Arrivals::Paced { .. } => {
            format!("closed loop at {per_s} requests per second, {connections}")
        }
        Arrivals::Constant { .. } => format!("{open} at constant intervals, at most {connections}"),
        Arrivals::Poisson { seed, .. } => {
            format!("{open} at random intervals (Poisson, seed {seed}), at most {connections}")
        }
    };
    format!("{arrivals}. {}", alike(plan))
}

/// Returns how requests came in short: "closed loop, 50 connections".
pub(super) fn alike_with(plan: &LoadPlan) -> String {
    asked(plan).split(". ").next().unwrap_or_default().to_string()
}

/// Returns what all requests have in common, in sentences.
pub(super) fn alike(plan: &LoadPlan) -> String {
    let options = &plan.options;
    let kept = match plan.keep_alive {
        true if options.http2 => &format!(
            "HTTP/2, {} at the same time on each connection.",
            counted(options.streams.into(), "request")
        ),
        true => "Connections are kept where the server allows it.",
        false => "Each connection is for one request.",
    };
    let different = (options.variants > 1).then(|| {
        let order = match options.order {
            RequestOrder::InOrder => "in order",
            RequestOrder::Random { .. } => "at random",
        };
        format!("{} are sent {order}.", counted(options.variants.into(), "different request"))
    });
    let warm_up = (options.warm_up_ms > 0).then(|| {
        let length = time(options.warm_up_ms as f64 * 1e6);
        format!("Requests of the first {length} are not counted (warm-up).")
    });
    let threads =
        (plan.threads > 1).then(|| format!("The generator has {} threads.", plan.threads));
    let body = Some(plan.body_bytes as f64).filter(|body| *body > 0.0).map(bytes);
    let body = body.map(|body| match options.variants {
        1 => format!("Each request has a body of {body}."),
        _ => format!("Bodies have at most {body}."),
    });
    sentences([Some(kept.into()), threads, different, body, warm_up])
}

/// Returns a percentile of some times, in ns; `None` where it is unknown.
fn percentile(times: &LoadTimes, percent: f64) -> Option<f64> {
    times.at(percent).map(|ns| ns as f64)
}

fn throughput(result: &LoadResult) -> String {
    let counts = &result.counts;
    let (due, elapsed) = (count(counts.due()), time(result.elapsed_ns as f64));
    let succeeded = count(counts.succeeded);
    let per_s = match result.intervals.throughput_per_s {
        Some(known) => estimate(&known, Terms::In(&Unit::Count)),
        None => rate(result.throughput_per_s),
    };
    match (counts.succeeded, counts.answered) {
        (0, 0) => format!("No request was answered: {due} came due in {elapsed}."),
        (0, _) => {
            let statuses = listed_statuses(result);
            format!("No request succeeded: {due} came due in {elapsed}. Answers: {statuses}.")
        }
        _ => format!(
            "Throughput: {per_s} requests per second. {succeeded} of {due} succeeded in {elapsed}."
        ),
    }
}

/// Returns the answers by status: "200: 12, 404: 3".
fn listed_statuses(result: &LoadResult) -> String {
    let statuses = result.counts.statuses.iter();
    let each: Vec<String> = statuses.map(|(code, n)| format!("{code}: {}", count(*n))).collect();
    each.join(", ")
}

/// Returns what the intervals of the table are.
fn interval_meaning(result: &LoadResult) -> String {
    let known = result.intervals.percentiles.iter().any(|it| it.ns.is_some());
    let unknown = result.intervals.percentiles.iter().any(|it| it.ns.is_none());
    let meaning = "In about 95 % of loads, such an interval contains the value that an endless load would \
                   give. It allows for times that depend on each other, not for what differs from one run \
                   to the next.";
    let short = "An interval is missing if the load is too short for one, or if its times drifted.";
    let parts = [known.then(|| meaning.to_string()), unknown.then(|| short.to_string())];
    sentences(parts)
}

/// Returns a row for each percentile, and a column for each of the three times.
fn table(result: &LoadResult) -> Table {
    let mut table =
        Table::of(&["requests", "#response", "#95 % interval", "#service", "#lateness"]);
    table.row(row(result, "shortest", |times| time_or_unknown(times.min_ns.map(|ns| ns as f64))));
    for known in &result.response.percentiles {
        let name = format!("p{}", known.percent);
        let mut cells = row(result, &name, |of| time_or_unknown(percentile(of, known.percent)));
        cells[2] = interval(result.number(LoadNumber::Percentile(known.percent)).1);
        table.row(cells);
    }
    table.row(row(result, "longest", |times| time_or_unknown(times.max_ns.map(|ns| ns as f64))));
    let mut mean = row(result, "mean", mean);
    mean[2] = interval(result.intervals.mean_ns);
    table.row(mean);
    table.row(row(result, "answered", |times| count(times.count)));
    table.row(row(result, "not answered", |times| count(times.censored)));
    table
}

fn row(result: &LoadResult, name: &str, cell: impl Fn(&LoadTimes) -> String) -> [String; 5] {
    let LoadResult { response, service, lateness, .. } = result;
    [name.into(), cell(response), String::new(), cell(service), cell(lateness)]
}

fn interval(estimate: Option<Estimate>) -> String {
    estimate.map_or(String::new(), |known| parts(&known, Terms::In(&Unit::Ns)).interval)
}

/// Returns a mean, or the least that it can be.
fn mean(times: &LoadTimes) -> String {
    match (times.mean_ns, times.mean_least_ns) {
        (Some(mean), _) => time(mean),
        (None, Some(least)) => format!("≥ {}", time(least)),
        (None, None) => "unknown".into(),
    }
}

fn figure(result: &LoadResult, curves: &LoadCurves) -> Option<Block<'static>> {
    // In a closed loop without a pace nothing can be late.
    let closed = result.plan.arrivals == Arrivals::Closed;
    let all = ["response", "service", "lateness"].into_iter().zip(curves);
    let all = all.take(if closed { 2 } else { 3 });
    let caption = "The share of the requests that had been answered (lateness: sent) within a time. A \
                   curve that ends below 100 % ends where the rest was given up. The marks are p50, \
                   p95, p99 and p99.9.";
    request_times(&MARKED, all, caption)
}

fn facts(result: &LoadResult) -> Vec<(&'static str, String)> {
    let (plan, counts) = (&result.plan, &result.counts);
    let duration = plan.duration_ms.map(|ms| format!("after {}", time(ms as f64 * 1e6)));
    let requests = plan.requests.map(|n| format!("after {}", counted(n, "request")));
    let ends: Vec<String> = duration.into_iter().chain(requests).collect();
    let mut facts = vec![
        ("ends", ends.join(" or ")),
        ("timeout", time(plan.timeout_ms as f64 * 1e6)),
        ("waits after the end at most", time(plan.drain_ms as f64 * 1e6)),
        ("came due", count(counts.due())),
        ("sent", count(counts.sent)),
        ("answered", count(counts.answered)),
        ("succeeded (status below 400)", count(counts.succeeded)),
        ("errors", count(counts.failed())),
        ("timed out", count(counts.timed_out)),
        ("succeeded after the end", count(counts.succeeded_late)),
        ("in flight at the end", count(counts.in_flight)),
        ("never sent", count(counts.unsent)),
        ("repeated on a new connection", count(counts.retried)),
        ("read", bytes(result.read_bytes as f64)),
        ("written", bytes(result.written_bytes as f64)),
        ("CPU time of the generator", share_of_cpu(result, result.generator_cpu_ns)),
    ];
    let foreign = result.foreign_cpu_ns.map(|ns| share_of_cpu(result, ns));
    facts.extend(foreign.map(|share| ("CPU time of all other programs", share)));
    let header =
        |(name, value): &(String, String)| format!("{}: {}", short(name, 80), short(value, 200));
    facts.extend(plan.headers.iter().map(|one| ("header", header(one))));
    let options = &plan.options;
    let connects = options.unix_socket.as_ref().or(options.connect_to.as_ref());
    facts.extend(connects.map(|to| ("connects to", short(to, 200))));
    facts.extend(options.insecure.then(|| ("certificates", "not verified".into())));
    facts
}

/// Returns a CPU time as a share of one CPU's.
fn share_of_cpu(result: &LoadResult, ns: u64) -> String {
    let part = ns as f64 / result.elapsed_ns.max(1) as f64;
    format!("{} of one CPU", rounded(part, Terms::Share))
}

/// Returns what there is to say beyond the table, the most important first.
fn remarks(result: &LoadResult) -> Vec<Remark> {
    let mut all = failed(result);
    all.extend(given_up(result));
    all.extend(in_flight(result));
    all.extend(result.fairness.and_then(fairness));
    all.extend(network(result));
    all.push(hidden(result));
    all.extend(own_lateness(result));
    all.extend(result.audit.iter().map(audit));
    all
}

fn failed(result: &LoadResult) -> Vec<Remark> {
    let LoadCounts { errors, causes, statuses, .. } = &result.counts;
    let of_error = |(error, n): (&LoadError, &u64)| {
        let cause = causes.get(error).map_or(String::new(), |it| format!(": {}", short(it, 160)));
        let text = format!("{} {}{cause}.", counted(*n, "request"), error_words(*error));
        (*n > 0).then_some((Tone::Bad, text))
    };
    let mut all: Vec<Remark> = errors.iter().filter_map(of_error).collect();
    let retried = result.counts.retried;
    all.extend((retried > 0).then(|| {
        let text = format!(
            "scruple repeated {} on a new connection, which is no failure: the server had closed a kept \
             connection before it answered (RFC 9112, 9.3.1) or had refused the stream.",
            counted(retried, "request")
        );
        (Tone::Care, text)
    }));
    let closed = result.counts.closed;
    all.extend((closed > 0).then(|| {
        let answers = counted(result.counts.answered, "answer");
        (
            Tone::Plain,
            format!("The server closed the connection after {} of {answers}.", count(closed)),
        )
    }));
    let refused = statuses.range(400..).any(|(_, n)| *n > 0);
    let redirected = statuses.keys().any(|status| REDIRECTS.contains(status));
    let (tone, refusal) = match (refused, redirected) {
        (true, _) => (Tone::Bad, "; throughput does not count 400 and above"),
        (false, true) => (Tone::Care, ""),
        (false, false) => (Tone::Plain, ""),
    };
    let redirects = match (redirected, result.plan.options.redirects) {
        (false, _) => "",
        (true, 0) => "; redirects are not followed",
        (true, _) => "; these redirects lead to another server or were too many",
    };
    let is_said_first = result.counts.succeeded == 0;
    if !is_said_first && (refused || redirected || statuses.len() > 1) {
        let each = listed_statuses(result);
        all.push((tone, format!("Answers by status: {each}{refusal}{redirects}.")));
    }
    all
}

/// Returns what an error is, after "12 requests".
fn error_words(error: LoadError) -> &'static str {
    match error {
        LoadError::Refused => "found no listening server (connection refused)",
        LoadError::Reset => "ended with a reset by the server",
        LoadError::Closed => {
            "ended before the answer was complete: the server closed the connection"
        }
        LoadError::Socket => "failed with another socket error",
        LoadError::Garbage => "got an answer that is not valid HTTP",
        LoadError::Tls => "failed in TLS",
        LoadError::StreamReset => "were refused or reset by the server (RST_STREAM or GOAWAY)",
    }
}

fn given_up(result: &LoadResult) -> Option<Remark> {
    let counts = &result.counts;
    let limit = time(result.plan.timeout_ms as f64 * 1e6);
    let parts = [
        (counts.timed_out, format!("had no answer within {limit}")),
        (counts.unsent, "came due and were not sent".into()),
    ];
    let given_up = parts.iter().filter(|(n, _)| *n > 0);
    let given_up: Vec<String> = given_up.map(|(n, what)| format!("{} {what}", count(*n))).collect();
    let unsent = counts.unsent * UNSENT_ONE_OF > counts.due();
    let tone = if counts.timed_out > 0 || unsent { Tone::Care } else { Tone::Plain };
    let counted = " Percentiles count them as waiting until then (Kaplan–Meier); a percentile that they \
                   leave open is unknown.";
    let counted = if counts.answered > 0 { counted } else { "" };
    let text = format!("Requests given up: {}.{counted}", given_up.join(", "));
    (!given_up.is_empty()).then_some((tone, text))
}

/// Returns how many requests were neither answered nor given up when the load ended.
fn in_flight(result: &LoadResult) -> Option<Remark> {
    let n = result.counts.in_flight;
    let drain = time(result.plan.drain_ms as f64 * 1e6);
    let until = match result.plan.drain_ms {
        0 => "when the time was over".to_string(),
        _ => format!("{drain} after the end of the time"),
    };
    let were = if n == 1 { "was" } else { "were" };
    let text = format!(
        "{} {were} still in flight {until}. Percentiles count such requests as waiting until then, and \
         the mean is at least what the table shows.",
        counted(n, "request")
    );
    (n > 0).then_some((Tone::Plain, text))
}

fn fairness(fair: Fairness) -> Option<Remark> {
    let [starved, connections] = [fair.starved, fair.connections].map(|n| count(n.into()));
    let [least, median] = [fair.least, fair.median].map(count);
    let (most, index) = (counted(fair.most, "answer"), format!("Jain's index {:.2}", fair.index));
    let remark = if fair.starved > 0 {
        let text = format!(
            "{starved} of {connections} connections got no answer, and one got {most} ({index}). The \
             percentiles do not show that."
        );
        (Tone::Bad, text)
    } else if fair.least == fair.most {
        (Tone::Plain, format!("Each connection got {most}."))
    } else {
        let tone = if fair.index < FAIR_LEAST { Tone::Care } else { Tone::Plain };
        (tone, format!("Connections got {least} to {most} each, median {median} ({index})."))
    };
    (fair.connections > 1).then_some(remark)
}

fn network(result: &LoadResult) -> Vec<Remark> {
    let overflowed = result.network.listen_overflows.filter(|n| *n > 0).map(|n| {
        let text = format!(
            "An accept queue on this machine overflowed ({}): a server accepted connections more \
             slowly than they came, and its backlog was full.",
            counted(n, "time")
        );
        (Tone::Bad, text)
    });
    let modes = result.syn_backoff.iter();
    let modes =
        modes.map(|mode| format!("{} s ({})", mode.seconds, counted(mode.requests, "request")));
    let modes = modes.collect::<Vec<_>>().join(", ");
    let lost = match result.network.syn_retransmits.filter(|n| *n > 0) {
        _ if !modes.is_empty() => Some(format!(
            "Connecting took {modes}: the kernel's back-off after a lost SYN, not the server's time."
        )),
        Some(n) => {
            let segments = counted(n, "SYN segment");
            Some(format!("This machine retransmitted {segments} during the load."))
        }
        None => None,
    };
    overflowed.into_iter().chain(lost.map(|text| (Tone::Care, text))).collect()
}

/// Returns a well-known cause of long response times, with its evidence.
fn pathology(found: &LoadPathology) -> String {
    match *found {
        LoadPathology::DelayedAck(LateEnds { count, hurried, hurried_late }) => format!(
            "Nagle's algorithm and delayed acknowledgements: {} ended 40 ms after they began. Of {hurried} \
             whose first part scruple acknowledged at once, {hurried_late} did. The server sends an answer \
             in two parts, and its kernel keeps the second until the first is acknowledged. Send answers \
             in one write, or set TCP_NODELAY.",
            counted(count, "answer")
        ),
        LoadPathology::AllStalled { times, longest_ns, total_ns, waiting, server_cpus } => {
            let [longest, total] = [longest_ns, total_ns].map(|ns| time(ns as f64));
            let often = match times {
                1 => format!("for {longest}"),
                _ => format!("{times} times, for up to {longest} ({total} together)"),
            };
            let waiting = counted(waiting.into(), "request");
            format!(
                "All connections stalled at once: {often} no answer came while {waiting} waited. {}",
                stalled_because(server_cpus)
            )
        }
    }
}

/// Returns what a stall of all connections means, by the CPUs that the server used meanwhile.
fn stalled_because(server_cpus: Option<f64>) -> String {
    let Some(cpus) = server_cpus else {
        return "Whether the server computed meanwhile is unknown.".into();
    };
    let used = format!("The server used {} CPUs meanwhile", value(cpus, &Unit::Count));
    if cpus < SERVER_IDLE {
        format!("{used}: it was stopped, or waited for a lock, a disk or a CPU quota.")
    } else if cpus > SERVER_BUSY {
        format!(
            "{used}: it collected garbage, for example, or one request computed and held up all others \
             (head-of-line blocking)."
        )
    } else {
        format!("{used}.")
    }
}

/// Returns what service times alone would hide.
fn hidden(result: &LoadResult) -> Remark {
    if result.plan.arrivals == Arrivals::Closed {
        let text = "In a closed loop, each connection waits for its answer before it sends the next \
                    request. A stall of the server delays one request per connection and hides those \
                    that would have come meanwhile. Add --rate and --open to include them.";
        return (Tone::Plain, text.into());
    }
    // Against the response time without the generator's own lateness, which no user would wait for.
    let worst = [99.0, 95.0, 50.0].into_iter().find_map(|percent| {
        let service = percentile(&result.service, percent)?;
        let waited = percentile(&result.punctual, percent);
        let hides = waited.is_none_or(|waited| waited > HIDDEN_LEAST * service);
        hides.then_some((percent, time(service), waited))
    });
    let Some((percent, service, waited)) = worst else {
        let text = "Service time hides nothing: hardly any request waited for a connection.";
        return (Tone::Plain, text.into());
    };
    let waited = waited.map_or("longer than could be measured".into(), time);
    // The table has the generator's own lateness in it.
    let shown = percentile(&result.response, percent).map(time);
    let own = shown.is_some_and(|shown| shown != waited);
    let without = if own { " (without the generator's own lateness)" } else { "" };
    let text = format!(
        "p{percent} of the service time is {service}, but users waited {waited}{without}. A tool that \
         sends a request only after the last answer hides this difference."
    );
    (Tone::Care, text)
}

/// Returns what the generator itself adds to response times where that is no doubt: the doubt says it
/// itself.
fn own_lateness(result: &LoadResult) -> Option<Remark> {
    // In a closed loop nothing is due before it can be sent.
    let closed = result.plan.arrivals == Arrivals::Closed;
    if closed || result.own_lateness(LoadResult::OWN_LATENESS_NS).is_some() {
        return None;
    }
    let own = result.own_lateness(0)?;
    let [punctual, response] = [own.punctual_ns, own.response_ns].map(|ns| time(ns as f64));
    let text = format!(
        "The generator sent some requests slightly late. Without that, p{} of the response time would \
         be {punctual}, not {response}. For times this short, use the service time.",
        own.percent
    );
    Some((Tone::Plain, text))
}

fn audit(law: &LawCheck) -> Remark {
    let [left, right] = [law.left, law.right].map(|side| value(side, &Unit::Count));
    let sides = format!("{}, {left} and {right} requests in flight", short(&law.law, 80));
    if law.holds {
        return (Tone::Plain, format!("Audit passed: {sides}."));
    }
    (Tone::Bad, format!("Audit failed: {sides}. Part of this result is wrong."))
}
