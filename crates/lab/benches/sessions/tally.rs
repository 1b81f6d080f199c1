//! What many sessions said, counted.

use anyhow::Context;
use model::{Estimate, Summary, Verdict};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The experiment with the planted delays.
pub(crate) const PLANTED: &str = "planted_delay";

/// At most this share of sessions may find a difference where there is none.
const FALSE_SHARE_MAX: f64 = 0.05;

/// In at least this share a planted delay must be found, and held by its interval.
const FOUND_SHARE_MIN: f64 = 0.90;

/// At least this share of the claims with a number must be decided on a quiet machine, and beside a
/// neighbour.
const DECIDED_SHARE_MIN: [f64; 2] = [0.95, 0.90];

/// The experiment of the question that the program exists for, and the share of its claims.
const MAIN: &str = "workers";
const MAIN_SHARE_MIN: f64 = 0.90;

/// At most this share of verdicts may turn between two sessions.
const TURNED_SHARE_MAX: f64 = 0.01;

/// Sessions in which something was the case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count {
    pub(crate) events: u64,
    pub(crate) sessions: u64,
}

impl Count {
    pub(crate) fn add(&mut self, event: bool) {
        self.events += u64::from(event);
        self.sessions += 1;
    }

    fn share(self) -> f64 {
        self.events as f64 / self.sessions as f64
    }

    /// Whether there is any, and it happened in no more of them.
    pub(crate) fn share_is_at_most(self, most: f64) -> bool {
        self.sessions > 0 && self.share() <= most
    }

    /// Whether there is any, and it happened in no fewer of them.
    pub(crate) fn share_is_at_least(self, least: f64) -> bool {
        self.sessions > 0 && self.share() >= least
    }

    /// "3 of 200, 1.5 % [0.3, 4.3]".
    pub(crate) fn text(self) -> String {
        let Count { events, sessions } = self;
        match analysis::proportion(events, sessions) {
            None => "none".into(),
            Some(Estimate { point, low, high, .. }) => format!(
                "{events} of {sessions}, {:.1} % [{:.1}, {:.1}]",
                100.0 * point,
                100.0 * low,
                100.0 * high
            ),
        }
    }
}

/// What the A/A sessions said.
#[derive(Clone, Debug, Default)]
pub(crate) struct Nulls {
    /// Sessions with at least one false verdict.
    pub(crate) wrong: Count,
    /// Comparisons with a false verdict, by kind of work.
    pub(crate) by_work: BTreeMap<String, Count>,
    /// Comparisons of elapsed times that are corrected for what others took.
    pub(crate) carried: BTreeMap<String, Count>,
    /// CPU time of others in each session, as a share.
    pub(crate) foreign: Vec<f64>,
}

impl Nulls {
    /// Counts one session, and says whether it told identical things apart.
    pub(crate) fn add(&mut self, summary: &Summary, works: &[String]) -> anyhow::Result<bool> {
        let null = summary.experiments.iter().find(|experiment| experiment.id == "null");
        let null = null.context("the session has no experiment null")?;
        let controls = summary.trust.controls.iter().filter(|it| it.experiment == "null");
        let controls: Vec<_> = controls.collect();
        if controls.len() != works.len() {
            // A control without an interval is missing: a session that says nothing is none.
            anyhow::bail!("{} of {} A/A comparisons have a number", controls.len(), works.len());
        }
        self.wrong.add(!summary.trust.holds);
        for (work, control) in works.iter().zip(controls) {
            self.by_work.entry(work.clone()).or_default().add(control.differs);
        }
        for finding in &null.findings {
            let carried = finding.result.carried_by.is_some();
            self.carried.entry(finding.id.clone()).or_default().add(carried);
        }
        self.foreign.extend(summary.harness.foreign_cpu_share);
        Ok(!summary.trust.holds)
    }

    /// Whether at most one session in twenty erred.
    pub(crate) fn holds(&self) -> bool {
        self.wrong.share_is_at_most(FALSE_SHARE_MAX)
    }

    /// The table.
    pub(crate) fn text(&self) -> String {
        let mut text = format!("sessions with a false verdict: {}\n", self.wrong.text());
        for (work, count) in &self.by_work {
            let _ = writeln!(text, "  {work}: {}", count.text());
        }
        text += "comparisons without what others took:\n";
        for (work, count) in &self.carried {
            let _ = writeln!(text, "  {work}: {}", count.text());
        }
        let foreign = analysis::median(&self.foreign).map_or("unknown".into(), |share| {
            format!("{:.0} % of one CPU (median over sessions)", 100.0 * share)
        });
        let _ = writeln!(text, "CPU time of others while trials lived: {foreign}");
        let _ = writeln!(text, "at most 5 %: {}", yes_or_no(self.holds()));
        text
    }
}

/// What became of one planted answer over the sessions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answer {
    pub(crate) what: String,
    /// Nothing was planted: what is found is found out of nothing.
    pub(crate) nothing: bool,
    pub(crate) found: Count,
    pub(crate) holds: Count,
    pub(crate) excluded: Count,
    /// Point and half width of each session's interval.
    numbers: Vec<(f64, f64)>,
}

/// What the sessions with planted delays said.
#[derive(Clone, Debug, Default)]
pub(crate) struct Planted {
    /// In the order in which they were met.
    pub(crate) answers: Vec<(String, Answer)>,
}

impl Planted {
    /// Counts one session. An answer without an interval was neither found nor held.
    pub(crate) fn add(&mut self, summary: &Summary) -> anyhow::Result<()> {
        let found = summary.experiments.iter().find(|experiment| experiment.id == PLANTED);
        let found = found.with_context(|| format!("the session has no experiment {PLANTED}"))?;
        if found.planted.is_empty() {
            anyhow::bail!("{PLANTED} says nothing of what was planted");
        }
        for result in &found.planted {
            let at = self.answers.iter().position(|(id, _)| *id == result.id);
            let at = at.unwrap_or_else(|| {
                let what = result.what.clone();
                let nothing = result.truth.contains(result.without);
                self.answers
                    .push((result.id.clone(), Answer { what, nothing, ..Answer::default() }));
                self.answers.len() - 1
            });
            let answer = &mut self.answers[at].1;
            answer.found.add(result.found == Some(true));
            answer.holds.add(result.holds == Some(true));
            answer.excluded.add(result.excluded == Some(true));
            let estimate = result.result.estimate;
            answer.numbers.extend(estimate.map(|it| (it.point, (it.high - it.low) / 2.0)));
        }
        Ok(())
    }

    /// Whether each delay was found and held in nine sessions of ten; where nothing was planted,
    /// whether nothing was found in nineteen of twenty.
    pub(crate) fn holds(&self) -> bool {
        let good = |answer: &Answer| match answer.nothing {
            true => answer.found.share() <= FALSE_SHARE_MAX,
            false => {
                answer.found.share() >= FOUND_SHARE_MIN && answer.holds.share() >= FOUND_SHARE_MIN
            }
        };
        !self.answers.is_empty() && self.answers.iter().all(|(_, answer)| good(answer))
    }

    /// The table.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for (id, answer) in &self.answers {
            let middle = |of: fn(&(f64, f64)) -> f64| {
                let values: Vec<f64> = answer.numbers.iter().map(of).collect();
                analysis::median(&values).unwrap_or(f64::NAN)
            };
            let _ = writeln!(text, "{id}: {}", answer.what);
            let found = if answer.nothing { "found where nothing is" } else { "found" };
            let _ = writeln!(text, "  {found}: {}", answer.found.text());
            let _ = writeln!(text, "  the interval held the truth: {}", answer.holds.text());
            let _ = writeln!(text, "  the truth was excluded: {}", answer.excluded.text());
            let _ = writeln!(
                text,
                "  median of the numbers {:.4}, of half the intervals' width {:.4}",
                middle(|number| number.0),
                middle(|number| number.1)
            );
        }
        let _ = writeln!(
            text,
            "each in at least 90 %, nothing out of nothing in at least 95 %: {}",
            yes_or_no(self.holds())
        );
        text
    }
}

/// What default runs of one machine decided.
#[derive(Clone, Debug, Default)]
pub(crate) struct Decided {
    /// Whether there is a neighbour.
    disturbed: bool,
    /// The verdict on each claim that has a number, by `experiment.claim`.
    verdicts: Vec<BTreeMap<String, Verdict>>,
    rows: String,
}

impl Decided {
    /// No session yet; `disturbed`: whether there is a neighbour.
    pub(crate) fn new(disturbed: bool) -> Self {
        Decided { disturbed, ..Decided::default() }
    }

    /// Counts one session, and says what it left open.
    pub(crate) fn add(&mut self, summary: &Summary) -> String {
        let mut verdicts = BTreeMap::new();
        let mut claims = 0;
        for experiment in &summary.experiments {
            claims += experiment.claims.len();
            for claim in experiment.claims.iter().filter(|it| it.result.estimate.is_some()) {
                verdicts.insert(format!("{}.{}", experiment.id, claim.id), claim.verdict);
            }
        }
        let open = verdicts.iter().filter(|(_, verdict)| **verdict == Verdict::Inconclusive);
        let open = open.map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
        self.verdicts.push(verdicts);
        let [all, main] = self.counts(self.verdicts.len() - 1);
        let foreign = summary.harness.foreign_cpu_share;
        let foreign = foreign.map_or("–".into(), |share| format!("{:.0} %", 100.0 * share));
        let row = format!("{claims} | {} | {} | {foreign}", all.text(), main.text());
        let _ = writeln!(self.rows, "| {} | {row} |", self.verdicts.len());
        format!("{row}; open: {open}")
    }

    /// Decided among the claims with a number of one session: of all, and of [`MAIN`].
    fn counts(&self, session: usize) -> [Count; 2] {
        let mut counts = [Count::default(); 2];
        for (name, verdict) in &self.verdicts[session] {
            let decided = *verdict != Verdict::Inconclusive;
            counts[0].add(decided);
            if name.split('.').next() == Some(MAIN) {
                counts[1].add(decided);
            }
        }
        counts
    }

    /// Verdicts that two sessions decide differently, among those which both have, over all pairs.
    fn turned(&self) -> Count {
        let mut count = Count::default();
        for (index, one) in self.verdicts.iter().enumerate() {
            for (name, other) in self.verdicts[index + 1..].iter().flatten() {
                let Some(verdict) = one.get(name) else { continue };
                let open = [verdict, other].contains(&&Verdict::Inconclusive);
                count.add(!open && verdict != other);
            }
        }
        count
    }

    /// Each bar, and whether it holds.
    fn bars(&self) -> [(String, bool); 3] {
        let least = DECIDED_SHARE_MIN[usize::from(self.disturbed)];
        let each = |kind: usize, least: f64| {
            let mut sessions = 0..self.verdicts.len();
            sessions.all(|session| self.counts(session)[kind].share_is_at_least(least))
        };
        let turned = self.turned().share_is_at_most(TURNED_SHARE_MAX);
        [
            (format!("at least {:.0} % decided in each session", 100.0 * least), each(0, least)),
            (
                format!("at least {:.0} % of {MAIN}", 100.0 * MAIN_SHARE_MIN),
                each(1, MAIN_SHARE_MIN),
            ),
            (format!("at most {:.0} % turned", 100.0 * TURNED_SHARE_MAX), turned),
        ]
    }

    /// Whether all bars hold; with one session nothing can be said.
    pub(crate) fn holds(&self) -> bool {
        self.bars().iter().all(|(_, holds)| *holds)
    }

    /// The table.
    pub(crate) fn text(&self) -> String {
        let mut text = format!(
            "| session | claims | decided of those with a number | {MAIN} | CPU time of others |\n\
             |---|---|---|---|---|\n{}",
            self.rows
        );
        let _ =
            writeln!(text, "verdicts that turned between two sessions: {}", self.turned().text());
        for (bar, holds) in self.bars() {
            let _ = writeln!(text, "{bar}: {}", yes_or_no(holds));
        }
        text
    }
}

fn yes_or_no(answer: bool) -> &'static str {
    if answer { "yes" } else { "NO" }
}
