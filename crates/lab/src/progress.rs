//! How far a session is: a live line on a terminal, plain lines elsewhere.

use crate::ui;
use indicatif::ProgressBar;
use model::{FindingResult, Treatment};
use std::time::{Duration, Instant};

/// How often a plain line is written at the most.
const PLAIN_EVERY: Duration = Duration::from_secs(10);

/// Shows what is being done. It draws between trials only, so that no drawing falls into a timed
/// region.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    begun: Instant,
    last_plain: Option<Instant>,
    /// The experiment whose answer is the last, and that answer; none before the first.
    headline: Option<(String, String)>,
    experiment: String,
    place: String,
}

impl Progress {
    pub(crate) fn new(budget: Option<Duration>) -> Self {
        let length = budget.map(|budget| budget.as_millis() as u64);
        let bar = ui::bar(length, "{wide_bar:.cyan/dim} {prefix}\n{msg}");
        Progress {
            bar,
            begun: Instant::now(),
            last_plain: None,
            headline: None,
            experiment: String::new(),
            place: String::new(),
        }
    }

    /// Shows that a block begins.
    pub(crate) fn block(&mut self, experiment: &str, block: u32, of: &str, left: Option<Duration>) {
        self.experiment = experiment.into();
        self.place = format!("{experiment}, block {}{of}", block + 1);
        let left = left.map_or_else(String::new, |left| {
            format!("at most {} left", ui::seconds(left.as_secs()))
        });
        if let Some(bar) = &self.bar {
            bar.set_prefix(left);
        } else if self.last_plain.is_none_or(|last| last.elapsed() >= PLAIN_EVERY) {
            self.last_plain = Some(Instant::now());
            let comma = if left.is_empty() { "" } else { ", " };
            let so_far = ui::seconds(self.begun.elapsed().as_secs());
            let headline = self.so_far().map_or_else(String::new, |answer| format!("; {answer}"));
            ui::note(&format!("[{so_far}] {}{comma}{left}{headline}", self.place));
        }
    }

    /// Shows that a trial begins.
    pub(crate) fn trial(&mut self, treatment: &Treatment) {
        if let Some(bar) = &self.bar {
            bar.set_position(self.begun.elapsed().as_millis() as u64);
            let headline = self.so_far().map_or_else(String::new, |answer| format!("\n{answer}"));
            // Levels have any name that a study's file, or a session that goes on, gives them.
            let treatment = report::harmless(&treatment.to_string());
            bar.set_message(format!("{}: {treatment}{headline}", self.place));
            bar.tick();
        }
    }

    /// Notes that the answer so far has changed.
    pub(crate) fn answer(&mut self, experiment: &str, finding: &FindingResult) {
        let answer = report::format::sentence(&finding.sentence, &finding.result);
        self.headline = Some((experiment.into(), report::harmless(&answer)));
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

    /// Clears the live line.
    pub(crate) fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }
}

/// Fewer things than this are not counted aloud.
const COUNTED_MIN: usize = 10;

/// Shows how many of some things are done: a live line on a terminal, plain lines elsewhere.
#[derive(Debug)]
pub(crate) struct Count {
    bar: Option<ProgressBar>,
    what: &'static str,
    of: usize,
    done: usize,
    begun: Instant,
    last_plain: Instant,
}

impl Count {
    /// Begins to count things that are called `what`.
    pub(crate) fn new(what: &'static str, of: usize) -> Self {
        let template = "{wide_bar:.cyan/dim} {pos} of {len} {msg}, {prefix}";
        let bar = if of >= COUNTED_MIN { ui::bar(Some(of as u64), template) } else { None };
        let bar = bar.map(|bar| bar.with_message(what).with_prefix("just begun"));
        Count { bar, what, of, done: 0, begun: Instant::now(), last_plain: Instant::now() }
    }

    /// Shows that one more is done.
    pub(crate) fn one_more(&mut self) {
        self.done += 1;
        let gone = self.begun.elapsed();
        let whole = gone.mul_f64(self.of as f64 / self.done as f64);
        let left = format!("about {} left", ui::seconds(whole.saturating_sub(gone).as_secs()));
        if let Some(bar) = &self.bar {
            bar.set_prefix(left);
            bar.set_position(self.done as u64);
        } else if self.of >= COUNTED_MIN && self.last_plain.elapsed() >= PLAIN_EVERY {
            self.last_plain = Instant::now();
            ui::note(&format!(
                "[{}] {} of {} {}, {left}",
                ui::seconds(gone.as_secs()),
                self.done,
                self.of,
                self.what
            ));
        }
    }
}

impl Drop for Count {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
