//! How far a session is: a live line on a terminal, plain lines elsewhere.

use crate::ui;
use indicatif::ProgressBar;
use model::{Design, FindingResult, Treatment, Unit};
use runner::Other;
use std::time::{Duration, Instant};
use wording::number::{self, duration_s};

/// How often a plain line is written at the most.
const PLAIN_EVERY: Duration = Duration::from_secs(10);

/// A live line on a terminal, which is cleared at the end; plain lines elsewhere.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) bar: Option<ProgressBar>,
    pub(crate) begun: Instant,
    last_plain: Option<Instant>,
}

impl Line {
    /// Begins a line of some length; none means that it only moves.
    pub(crate) fn new(length: Option<u64>, template: &str) -> Self {
        Line { bar: ui::bar(length, template), begun: Instant::now(), last_plain: None }
    }

    /// Lets a moment pass before the first plain line.
    pub(crate) fn waits(mut self) -> Self {
        self.last_plain = Some(self.begun);
        self
    }

    /// Shows a text with the time that has passed: on the live line, of which `position` is done, or as a plain
    /// line unless one was written a moment ago. Reports whether it did.
    pub(crate) fn show(&mut self, position: u64, elapsed: Duration, text: String) -> bool {
        let so_far = duration_s(elapsed.as_secs());
        if let Some(bar) = &self.bar {
            bar.set_position(position);
            bar.set_prefix(so_far);
            bar.set_message(text);
            bar.tick();
            return true;
        }
        let is_due = self.last_plain.is_none_or(|last| last.elapsed() >= PLAIN_EVERY);
        if is_due {
            self.last_plain = Some(Instant::now());
            ui::note(&format!("[{so_far}] {text}"));
        }
        is_due
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Returns how long a session measures yet, in words: a block that has begun may take longer than the limit.
fn words(left: Duration) -> String {
    format!("about {} left", duration_s(left.as_secs_f64().ceil() as u64))
}

/// Shows what is being done. It draws between trials only, so that no drawing falls into a timed
/// region.
#[derive(Debug)]
pub(crate) struct Progress {
    line: Line,
    /// The experiment whose answer is the last, and that answer; none before the first.
    headline: Option<(String, String)>,
    experiment: String,
    place: String,
}

impl Progress {
    pub(crate) fn new(budget: Option<Duration>) -> Self {
        let length = budget.map(|budget| budget.as_millis() as u64);
        Progress {
            line: Line::new(length, "{wide_bar:.cyan/dim} {prefix}\n{msg}"),
            headline: None,
            experiment: String::new(),
            place: String::new(),
        }
    }

    /// Shows that a block begins: the `block`th, from 0, of N, if N is known.
    pub(crate) fn block(
        &mut self,
        experiment: &str,
        block: u32,
        of: Option<u32>,
        left: Option<Duration>,
    ) {
        self.experiment = experiment.into();
        let of = of.map_or_else(String::new, |of| format!(" of {of}"));
        self.place = format!("{experiment}, block {}{of}", block + 1);
        match &self.line.bar {
            Some(bar) => {
                let whole = left.map(|left| self.elapsed() + left);
                whole.into_iter().for_each(|whole| bar.set_length(whole.as_millis() as u64));
                bar.set_prefix(left.map_or_else(String::new, words));
            }
            None => {
                let left = left.map_or_else(String::new, |left| format!(", {}", words(left)));
                let headline = self.so_far().map_or_else(String::new, |it| format!("; {it}"));
                let text = format!("{}{left}{headline}", self.place);
                self.line.show(0, self.elapsed(), text);
            }
        }
    }

    /// Shows that a trial begins.
    pub(crate) fn trial(&mut self, design: &Design, treatment: &Treatment) {
        if let Some(bar) = &self.line.bar {
            bar.set_position(self.line.begun.elapsed().as_millis() as u64);
            let trial = format!("{}: {}", self.place, report::briefly(design, treatment));
            let lines = std::iter::once(trial).chain(self.so_far());
            let lines = lines.flat_map(|line| report::wrapped(&line, ui::width()));
            bar.set_message(lines.collect::<Vec<_>>().join("\n"));
            bar.tick();
        }
    }

    /// Notes that the answer so far has changed.
    pub(crate) fn answer(&mut self, experiment: &str, finding: &FindingResult) {
        let ratio = finding.result.estimate.filter(|_| finding.result.quantity.is_multiple());
        let answer = match ratio.is_none_or(|ratio| wording::number::is_precise(&ratio)) {
            true => wording::number::sentence(&finding.sentence, &finding.result),
            false => wording::number::IMPRECISE.into(),
        };
        self.headline = Some((experiment.into(), wording::cleaned(&answer)));
    }

    /// Returns the last answer; whose it is where another experiment is being measured.
    fn so_far(&self) -> Option<String> {
        let (whose, answer) = self.headline.as_ref()?;
        Some(if *whose == self.experiment {
            format!("so far: {answer}")
        } else {
            format!("{whose} so far: {answer}")
        })
    }

    /// Says something on a line of its own.
    pub(crate) fn note(&self, text: &str) {
        self.apart(|| ui::note(text));
    }

    /// Warns on a line of its own.
    pub(crate) fn warn(&self, text: &str) {
        self.apart(|| ui::warn(text));
    }

    fn apart(&self, say: impl FnOnce()) {
        match &self.line.bar {
            Some(bar) => bar.suspend(say),
            None => say(),
        }
    }

    /// Returns when this time has passed; none if that is never.
    pub(crate) fn end(&self, budget: Duration) -> Option<Instant> {
        self.line.begun.checked_add(budget)
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.line.begun.elapsed()
    }
}

/// Says that the guard is another one.
pub(crate) const GUARD_REPLACED: &str = "the process that cleans up after this session was killed; another one \
                              has taken its place";

/// Says that another session is there.
pub(crate) fn joined(Other { pid, cpus }: &Other) -> String {
    format!(
        "another scruple (process {pid}) measures on CPU {}: each disturbs the times of the other. \
         Wait until it has ended, or give each its own CPUs (--affinity)",
        sys::affinity::format_list(cpus)
    )
}

/// Says that a trial ran when the time was up. That is no failure of its program, and no number.
pub(crate) fn cut(design: &Design, treatment: &Treatment, begun: Instant) -> String {
    let took = number::value(begun.elapsed().as_nanos() as f64, &Unit::Ns);
    let of = match report::briefly(design, treatment) {
        nothing if nothing.is_empty() => String::new(),
        name => format!(" ({name})"),
    };
    let id = &design.id;
    format!(
        "a trial of {id}{of} ran when the time was up; it was ended after {took} and does not count"
    )
}

/// Fewer things than this are not counted aloud.
const COUNTED_MIN: usize = 10;

/// Shows how many of some things are done.
#[derive(Debug)]
pub(crate) struct Count {
    /// None for a few things.
    line: Option<Line>,
    what: &'static str,
    of: usize,
    done: usize,
}

impl Count {
    /// Begins to count things that are called `what`.
    pub(crate) fn new(what: &'static str, of: usize) -> Self {
        let new = || Line::new(Some(of as u64), "{wide_bar:.cyan/dim} {msg}").waits();
        Count { line: (of >= COUNTED_MIN).then(new), what, of, done: 0 }
    }

    /// Shows that one more is done.
    pub(crate) fn one_more(&mut self) {
        self.done += 1;
        let Some(line) = &mut self.line else { return };
        let gone = line.begun.elapsed();
        let whole = gone.mul_f64(self.of as f64 / self.done as f64);
        let left = duration_s(whole.saturating_sub(gone).as_secs());
        let text = format!("{} of {} {}, about {left} left", self.done, self.of, self.what);
        line.show(self.done as u64, gone, text);
    }
}
