//! What a load's result says, in sentences.

use super::{due, percentile, rate, time};
use crate::format::{Terms, count, rounded, value};
use crate::words::{self, counted};
use model::{Arrivals, LoadError, LoadResult, Unit};

/// A response time is told beside the service time where it is so many times as long.
const HIDDEN_LEAST: f64 = 1.1;

/// Answers that send the client elsewhere (RFC 9110, 15.4).
const REDIRECTS: [u16; 5] = [301, 302, 303, 307, 308];

/// What came due at the very end and was not sent any more is told as an aside: of so many at most one.
const UNSENT_ONE_OF: u64 = 1000;

/// How a sentence is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// What was measured.
    Plain,
    /// Something to know before the numbers are used.
    Care,
    /// Something that went wrong.
    Bad,
    /// For who wants to know.
    Aside,
}

/// A sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Saying {
    pub(super) kind: Kind,
    pub(super) text: String,
}

fn saying(kind: Kind, text: impl Into<String>) -> Saying {
    Saying { kind, text: text.into() }
}

/// The answer: throughput.
pub(super) fn answer(result: &LoadResult) -> String {
    let counts = &result.counts;
    if counts.succeeded == 0 {
        let what = if counts.answered > 0 { "succeeded" } else { "was answered" };
        return format!(
            "Nothing {what}: {} in {}.",
            counted(due(result), "request"),
            elapsed(result)
        );
    }
    format!(
        "{} requests per second succeeded: {} of {} in {}.",
        rate(result.throughput_per_s),
        count(counts.succeeded),
        count(due(result)),
        elapsed(result)
    )
}

fn elapsed(result: &LoadResult) -> String {
    time(result.elapsed_ns as f64)
}

/// All that is to be said beside the table of times, the weightiest first.
pub(super) fn sayings(result: &LoadResult) -> Vec<Saying> {
    let mut all: Vec<Saying> = Vec::new();
    all.extend(result.doubts.iter().map(|doubt| saying(Kind::Care, words::sentence(doubt, 600))));
    all.extend(failed(result));
    all.extend(given_up(result));
    all.extend(fairness(result));
    all.extend(network(result));
    all.extend(hidden(result));
    all.extend(own(result));
    all.extend(audit(result));
    all.push(saying(Kind::Aside, cost(result)));
    all
}

/// What a reader of service times would not have learned.
fn hidden(result: &LoadResult) -> Option<Saying> {
    if result.plan.arrivals == Arrivals::Closed {
        let text = "In a closed loop nobody asks while all wait for their answers: a stall of the \
                    server delays one request per connection and hides those that would have come. \
                    --rate with --open lets them come.";
        return Some(saying(Kind::Aside, text));
    }
    // Against the response time without the generator's own lateness, which no user would wait for.
    let worst = [99.0, 95.0, 50.0].into_iter().find_map(|percent| {
        let service = percentile(&result.service, percent)? as f64;
        let waited = percentile(&result.punctual, percent).map(|ns| ns as f64);
        let hides = waited.is_none_or(|waited| waited > HIDDEN_LEAST * service);
        hides.then_some((percent, service, waited))
    });
    Some(match worst {
        Some((percent, service, waited)) => {
            // The table has the generator's own lateness in it.
            let shown = percentile(&result.response, percent).map(|ns| time(ns as f64));
            let waited = waited.map_or("more than could be measured".into(), time);
            let without = match shown {
                Some(shown) if shown != waited => " (without the generator's own lateness)",
                _ => "",
            };
            let text = format!(
                "Service time alone would have told p{percent} = {}; who came when they were to come \
                 waited {waited}{without}. A loop that sends the next request after the answer to the last \
                 hides that difference.",
                time(service)
            );
            saying(Kind::Care, text)
        }
        None => saying(
            Kind::Aside,
            "Service time alone would have told the same: hardly a request had to wait for a \
             connection.",
        ),
    })
}

/// What the generator's own lateness adds to response times where it is no doubt: the doubt says it
/// itself.
fn own(result: &LoadResult) -> Option<Saying> {
    // In a closed loop nothing is due before it can be sent.
    let closed = result.plan.arrivals == Arrivals::Closed;
    if closed || result.own_lateness(LoadResult::OWN_LATENESS_NS).is_some() {
        return None;
    }
    let own = result.own_lateness(0)?;
    let text = format!(
        "The generator itself was a little late: without that, p{} of the response time would be {} and \
         not {}. For so short times, read the service time.",
        own.percent,
        time(own.punctual_ns as f64),
        time(own.response_ns as f64)
    );
    Some(saying(Kind::Aside, text))
}

fn failed(result: &LoadResult) -> Vec<Saying> {
    let counts = &result.counts;
    let mut all = Vec::new();
    for (error, n) in counts.errors.iter().filter(|(_, n)| **n > 0) {
        let text = format!("{} {}.", counted(*n, "request"), error_words(*error));
        all.push(saying(Kind::Bad, text));
    }
    let refused: u64 =
        counts.statuses.iter().filter(|(status, _)| **status >= 400).map(|(_, n)| n).sum();
    let redirects = counts.statuses.keys().any(|status| REDIRECTS.contains(status));
    if refused > 0 || redirects || counts.statuses.len() > 1 {
        let each: Vec<String> =
            counts.statuses.iter().map(|(status, n)| format!("{status}: {}", count(*n))).collect();
        let kind = match (refused > 0, redirects) {
            (true, _) => Kind::Bad,
            (false, true) => Kind::Care,
            (false, false) => Kind::Plain,
        };
        let refused = if refused > 0 { "; 400 and above are no throughput" } else { "" };
        let followed = if redirects { "; redirects are not followed" } else { "" };
        let text = format!("Answers by status: {}{refused}{followed}.", each.join(", "));
        all.push(saying(kind, text));
    }
    all
}

/// What an error is, after "12 requests".
fn error_words(error: LoadError) -> &'static str {
    match error {
        LoadError::Refused => "found nobody listening (connection refused)",
        LoadError::Reset => "ended in a reset by the server",
        LoadError::Closed => "ended before the answer was whole: the server closed the connection",
        LoadError::Socket => "failed in another error of the socket",
        LoadError::Garbage => "got what is no answer in HTTP/1.1",
    }
}

/// What was not waited for: it is in the percentiles as what took longer than that.
fn given_up(result: &LoadResult) -> Option<Saying> {
    let counts = &result.counts;
    let limit = time(result.plan.timeout_ms as f64 * 1e6);
    let parts = [
        (counts.timed_out, format!("had no answer within {limit}")),
        (counts.in_flight, "had none yet when the time was over".to_string()),
        (counts.unsent, format!("came due and {} never sent", was_or_were(counts.unsent))),
    ];
    let told: Vec<String> = parts
        .iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, what)| format!("{} {what}", count(*n)))
        .collect();
    let unsent = counts.unsent * UNSENT_ONE_OF > due(result);
    let kind = if counts.timed_out > 0 || unsent { Kind::Care } else { Kind::Aside };
    let text = format!(
        "Given up: {}. They count as waited for until then, not as answered.",
        told.join(", ")
    );
    (!told.is_empty()).then(|| saying(kind, text))
}

fn fairness(result: &LoadResult) -> Option<Saying> {
    let fair = result.fairness?;
    if fair.connections < 2 {
        return None;
    }
    let index = format!("Jain's index {:.2}", fair.index);
    if fair.starved > 0 {
        let text = format!(
            "{} of {} connections got nothing; the one that got the most has {} ({index}). The \
             percentiles are of those that were answered and of what was given up.",
            count(fair.starved.into()),
            count(fair.connections.into()),
            counted(fair.most, "answer")
        );
        return Some(saying(Kind::Bad, text));
    }
    if fair.least == fair.most {
        let text = format!("Each connection got {}.", counted(fair.most, "answer"));
        return Some(saying(Kind::Aside, text));
    }
    let text = format!(
        "Each connection got {} to {} answers, {} in the middle ({index}).",
        count(fair.least),
        count(fair.most),
        count(fair.median)
    );
    let uneven = fair.index < 0.8;
    Some(saying(if uneven { Kind::Care } else { Kind::Aside }, text))
}

fn network(result: &LoadResult) -> Vec<Saying> {
    let mut all = Vec::new();
    let network = &result.network;
    if let Some(n) = network.listen_overflows.filter(|n| *n > 0) {
        let times = if n == 1 { "once".into() } else { format!("{} times", count(n)) };
        let text = format!(
            "An accept queue on this machine overflowed {times}: a server did not take connections \
             as fast as they came, and its backlog was full."
        );
        all.push(saying(Kind::Bad, text));
    }
    if !result.syn_backoff.is_empty() {
        let modes: Vec<String> = result
            .syn_backoff
            .iter()
            .map(|mode| format!("{} took {} s", count(mode.requests), mode.seconds))
            .collect();
        let text = format!(
            "Of the requests {} to connect: the kernel's back-off after a lost SYN, not the server's \
             time.",
            modes.join(", ")
        );
        all.push(saying(Kind::Care, text));
    } else if let Some(n) = network.syn_retransmits.filter(|n| *n > 0) {
        let text = format!("{} sent again on this machine meanwhile.", segments(n, "SYN segment"));
        all.push(saying(Kind::Care, text));
    }
    all
}

fn segments(n: u64, what: &str) -> String {
    format!("{} {}", counted(n, what), was_or_were(n))
}

fn was_or_were(n: u64) -> &'static str {
    if n == 1 { "was" } else { "were" }
}

fn audit(result: &LoadResult) -> Vec<Saying> {
    let told = |law: &model::LawCheck| {
        format!(
            "{}: {} and {}",
            words::short(&law.law, 80),
            value(law.left, &Unit::Count),
            value(law.right, &Unit::Count)
        )
    };
    let (kept, broken): (Vec<_>, Vec<_>) = result.audit.iter().partition(|law| law.holds);
    let mut all: Vec<Saying> = broken
        .into_iter()
        .map(|law| {
            let text = format!(
                "The audit fails, so that something in this result is wrong: {}, more than 2 % \
                 apart.",
                told(law)
            );
            saying(Kind::Bad, text)
        })
        .collect();
    if !kept.is_empty() {
        let kept: Vec<String> = kept.into_iter().map(told).collect();
        all.push(saying(Kind::Aside, format!("Audit passed: {}.", kept.join("; "))));
    }
    all
}

/// What the generator itself took.
fn cost(result: &LoadResult) -> String {
    let elapsed = result.elapsed_ns.max(1) as f64;
    let own = result.generator_cpu_ns as f64;
    let mut text =
        format!("The generator used {} of one CPU", rounded(own / elapsed, Terms::Share));
    if result.counts.sent > 0 {
        text.push_str(&format!(" ({} per request)", time(own / result.counts.sent as f64)));
    }
    if let Some(foreign) = result.foreign_cpu_ns {
        let share = rounded(foreign as f64 / elapsed, Terms::Share);
        text.push_str(&format!(", all other programs {share}"));
    }
    let bytes = |n: u64| value(n as f64, &Unit::Bytes);
    text.push_str(&format!(
        "; {} read, {} written.",
        bytes(result.read_bytes),
        bytes(result.written_bytes)
    ));
    text
}
