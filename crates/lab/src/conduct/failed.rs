//! What became of the trials of a program of the user's.

use super::Session;
use crate::ui;
use model::Summary;

/// The outcome of a trial that measured.
const COMPLETED: &str = "completed";

/// Treatments of one outcome that are named.
const NAMED_MAX: usize = 6;

impl Session {
    /// Says at which treatments the command failed, and how. False if it never succeeded.
    pub(crate) fn say_what_failed(&self, summary: &Summary) -> bool {
        let mut succeeded = false;
        for experiment in &summary.experiments {
            let designs = &self.manifest().designs;
            let design = designs.iter().find(|design| design.id == experiment.id);
            for outcome in &experiment.outcomes {
                if outcome.outcome == COMPLETED {
                    succeeded = true;
                    continue;
                }
                let names = outcome.treatments.iter().take(NAMED_MAX);
                let names: Vec<String> =
                    names.filter_map(|it| Some(report::treatment(design?, it))).collect();
                let more = match outcome.treatments.len().saturating_sub(NAMED_MAX) {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                let how = outcome.outcome.replace('_', " ");
                let why = if outcome.reason.is_empty() { "" } else { ": " };
                ui::warn(&format!(
                    "{} of {} trials {how}{why}{} (at: {}{more})",
                    outcome.trials,
                    experiment.outcomes.iter().map(|outcome| outcome.trials).sum::<u64>(),
                    outcome.reason,
                    names.join("; ")
                ));
            }
        }
        succeeded
    }
}
