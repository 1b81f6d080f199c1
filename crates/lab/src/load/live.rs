//! How far a load is: a live line on a terminal, plain lines elsewhere.

use super::log::Log;
use crate::progress::Line;
use model::{LoadCounts, LoadError, LoadPlan, LoadResult, Unit};
use std::time::{Duration, Instant};
use web::load::{Live, Noted, Outcome, Payload};

/// A load is hopeless after this number of failures and this time without an answer.
const FAILED_LEAST: u64 = 100;
const HOPELESS_AFTER: Duration = Duration::from_secs(3);

/// The pause after one load of several, in which a server ends what it still has to do: as long as its
/// responses took, within these.
const REST_LEAST: Duration = Duration::from_millis(100);
pub(super) const REST_MOST: Duration = Duration::from_secs(2);

/// How often a pause looks for an interrupt.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Shows what becomes of a load, and heeds who wants it to end.
#[derive(Debug)]
pub(super) struct Watch {
    line: Line,
    /// What stands before each line.
    about: String,
    last: Live,
    gives_up: bool,
}

impl Watch {
    /// Begins to watch a load that takes `whole`; `None` where it ends after a number of requests.
    pub(super) fn new(whole: Option<Duration>) -> Self {
        let length = whole.map(|whole| whole.as_millis() as u64);
        let line = Line::new(length, "{wide_bar:.cyan/dim} {prefix}\n{msg}").waits();
        Watch { line, about: String::new(), last: Live::default(), gives_up: true }
    }

    /// Runs a load, which is shown as `about`, and returns what became of it; where it is `noted`, of each
    /// request too.
    pub(super) fn run(
        &mut self,
        about: String,
        plan: &LoadPlan,
        body: &Payload,
        noted: bool,
    ) -> anyhow::Result<(Outcome, Vec<Noted>)> {
        (self.about, self.last) = (about, Live::default());
        let before = self.line.begun.elapsed();
        let mut look = |live| self.look(live, before);
        Ok(match noted {
            true => web::load::run_noting(plan, body, &mut look)?,
            false => (web::load::run(plan, body, &mut look)?, Vec::new()),
        })
    }

    /// Runs a load and writes each request to a log, if there is one.
    pub(super) fn run_logging(
        &mut self,
        plan: &LoadPlan,
        body: &Payload,
        log: Option<&mut Log>,
    ) -> Result<Outcome, web::load::Error> {
        let mut look = |live| self.look(live, Duration::ZERO);
        match log {
            Some(log) => {
                let mut add = |noted: &[Noted]| log.add(noted);
                web::load::run_logging(plan, body, &mut look, &mut add)
            }
            None => web::load::run(plan, body, &mut look),
        }
    }

    /// Runs a load of several, and lets the server end what it still has to do. `None` if somebody wants to
    /// stop: what was cut short says nothing.
    pub(super) fn run_part(
        &mut self,
        about: &str,
        plan: &LoadPlan,
        body: &Payload,
        noted: bool,
    ) -> anyhow::Result<Option<(Outcome, Vec<Noted>)>> {
        let outcome = self.run(format!("{about}: "), plan, body, noted)?;
        if interrupted() {
            return Ok(None);
        }
        rest(&outcome.0.result);
        Ok(Some(outcome))
    }

    /// Goes on even where nothing is answered.
    pub(super) fn never_gives_up(mut self) -> Self {
        self.gives_up = false;
        self
    }

    /// Shows how far it is, `before` having passed in parts before this one. False where it is to end.
    fn look(&mut self, live: Live, before: Duration) -> bool {
        let elapsed = before + live.elapsed;
        let (last, about) = (self.last, &self.about);
        let since = live.elapsed.saturating_sub(last.elapsed).as_secs_f64();
        let per_s = match since > 0.0 {
            true => live.answered.saturating_sub(last.answered) as f64 / since,
            false => 0.0,
        };
        let mut text = format!(
            "{about}{} answered, {} failed, {} under way, {per_s:.0} per second now",
            live.answered, live.failed, live.in_flight
        );
        for (name, ns) in [("p50", live.p50_ns), ("p95", live.p95_ns)] {
            let ns = ns.map(|ns| wording::number::value(ns as f64, &Unit::Ns));
            text.extend(ns.map(|time| format!(", {name} {time}")));
        }
        if self.line.show(elapsed.as_millis() as u64, elapsed, text) {
            self.last = live;
        }
        !interrupted() && !self.is_hopeless(live)
    }

    /// Reports whether nobody answers there: the rest of the time would not change it.
    fn is_hopeless(&self, live: Live) -> bool {
        let nothing = live.answered == 0 && live.failed >= FAILED_LEAST;
        self.gives_up && nothing && live.elapsed >= HOPELESS_AFTER
    }
}

/// Reports whether somebody asked this program to end. From then on the next such signal ends it at once.
pub(super) fn interrupted() -> bool {
    let asked = sys::interrupt::requested().is_some();
    if asked {
        // It has no error that is known; at worst the second signal is noted like the first.
        let _ = sys::interrupt::restore_default();
    }
    asked
}

/// Lets the server end what it still has to do, unless somebody wants to stop.
fn rest(result: &LoadResult) {
    let longest = result.response.max_ns.map_or(REST_MOST, Duration::from_nanos);
    let until = Instant::now() + longest.clamp(REST_LEAST, REST_MOST);
    while Instant::now() < until && !interrupted() {
        std::thread::sleep(LOOK_EVERY);
    }
}

/// Returns why nothing was answered; `None` if anything was.
pub(super) fn silence(result: &LoadResult) -> Option<String> {
    let counts = &result.counts;
    if counts.answered > 0 {
        return None;
    }
    let url = &result.plan.url;
    let of = |error| counts.errors.get(&error).copied().unwrap_or(0);
    let refused = of(LoadError::Refused);
    if refused > 0 && refused == counts.failed() {
        return Some(format!("nobody listens at {url}: connection refused, {refused} times"));
    }
    let kinds = [
        (refused, "were refused"),
        (of(LoadError::Reset), "were reset by the server"),
        (of(LoadError::Closed), "ended when the server closed the connection"),
        (of(LoadError::Garbage), "got an answer that is not valid HTTP"),
        (of(LoadError::Socket), "failed with another socket error"),
        (of(LoadError::Tls), "failed in TLS"),
        (of(LoadError::StreamReset), "were refused or reset by the server (RST_STREAM or GOAWAY)"),
        (counts.timed_out, "timed out"),
        (counts.in_flight, "had no answer at the end"),
        (counts.unsent, "were not sent"),
    ];
    let kinds = kinds.iter().filter(|(n, _)| *n > 0);
    let kinds: Vec<String> = kinds.map(|(n, what)| format!("{n} {what}")).collect();
    let seconds = result.elapsed_ns as f64 / 1e9;
    let due = wording::counted(counts.due(), "request");
    // Of several reasons, the one that most requests had.
    let most = counts.errors.iter().max_by_key(|(_, n)| **n);
    let cause = most.and_then(|(error, _)| counts.causes.get(error));
    let cause = cause.map_or(String::new(), |it| format!(" ({})", wording::short(it, 160)));
    let kinds = kinds.join(", ");
    Some(format!("{url} answered nothing in {seconds:.1} s: of {due}, {kinds}{cause}"))
}

/// Returns the statuses of the answers if none is a success; `None` if any is, or nothing was answered.
pub(super) fn no_success(result: &LoadResult) -> Option<String> {
    let LoadCounts { answered, succeeded, statuses, .. } = &result.counts;
    if *answered == 0 || *succeeded > 0 {
        return None;
    }
    let each: Vec<String> = statuses.iter().map(|(status, n)| format!("{status}: {n}")).collect();
    Some(format!(
        "no request to {} succeeded: answers by status {}",
        result.plan.url,
        each.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_load_that_nobody_answers_is_hopeless() {
        let watch = Watch::new(None);
        let live = |answered, failed, seconds| Live {
            elapsed: Duration::from_secs(seconds),
            answered,
            failed,
            ..Live::default()
        };
        assert!(watch.is_hopeless(live(0, 5_000, 3)));
        assert!(!watch.is_hopeless(live(0, 5_000, 2)));
        assert!(!watch.is_hopeless(live(1, 5_000, 9)));
        assert!(!watch.is_hopeless(live(0, 3, 60)), "slow is not hopeless");
        assert!(!watch.never_gives_up().is_hopeless(live(0, 5_000, 9)));
    }
}
