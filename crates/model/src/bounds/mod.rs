//! How large the data of a session may be.
//!
//! A session may come from a stranger. What it says decides how much its reader has to hold and to
//! compute, often as a product: eight factors of sixteen levels each are four thousand million
//! treatments in one kilobyte of text. Each bound is an order of magnitude above what the catalog
//! needs (its figures stand beside it), so that nobody who measures will meet it.

use crate::{Design, Factor, Manifest, Outcome, Profile, Record};
use serde_json::Value;

/// The most blocks of an experiment, counted from 0.
///
/// An interval over n blocks looks at the means of all n²/2 pairs, several times: 16 MB and a tenth
/// of a second at this many, but 400 MB and 4 s at five times as many. `thorough` measures 200.
pub const BLOCKS_MAX: u32 = 2_000;

/// The most treatments of a design, with those counted twice that two grids share (catalog: 352).
pub const TREATMENTS_MAX: usize = 4_096;

/// The most treatments of a session's designs together (catalog: 1,080).
pub const SESSION_TREATMENTS_MAX: usize = 16_384;

/// The most factors of a design (catalog: 7).
pub const FACTORS_MAX: usize = 32;

/// The most entries of any other list in a design: levels, responses, claims… (catalog: 26); and of
/// those in a record but the observations, of which a short text could make many (catalog: 64).
pub const ENTRIES_MAX: usize = 256;

/// The most arguments and other texts of a program of the user's, all its commands together.
pub const SUBJECT_TEXTS_MAX: usize = 4_096;

/// The most quantities of a session's designs together: findings, claims, controls, known answers,
/// suspects, and the numbers of accounts (catalog: about 400). Each may look at all trials.
pub const SESSION_QUANTITIES_MAX: usize = 4_096;

/// The most designs of a session (catalog: 17).
pub const DESIGNS_MAX: usize = 256;

/// The most bytes of a name that treatments or tables repeat (catalog: 26).
pub const NAME_BYTES_MAX: usize = 256;

/// The most bytes of a text in a design (catalog: 1,346), and of the reason for which a trial
/// ended: it stands beside every number that lacks the trial.
pub const TEXT_BYTES_MAX: usize = 16 << 10;

/// The longest that a trial may be allowed to take, in milliseconds: a week, as a whole session.
pub const TIME_LIMIT_MS_MAX: u64 = 7 * 24 * 3600 * 1000;

impl Manifest {
    /// Whether the designs are consistent and, together, small enough to be read.
    ///
    /// # Errors
    /// A sentence that names the experiment and says what would be right.
    pub fn check(&self) -> Result<(), String> {
        count("designs", self.designs.len(), DESIGNS_MAX)?;
        let mut ids = std::collections::BTreeSet::new();
        let (mut treatments, mut quantities) = (0_usize, 0_usize);
        for design in &self.designs {
            design.check().map_err(|error| error.to_string())?;
            crate::ensure!(ids.insert(&design.id), "experiment {} stands in it twice", design.id);
            treatments = treatments.saturating_add(design.treatments_at_most(Profile::Thorough));
            quantities = quantities.saturating_add(design.quantity_count());
        }
        count("treatments in all", treatments, SESSION_TREATMENTS_MAX)?;
        count("quantities in all", quantities, SESSION_QUANTITIES_MAX)
    }
}

impl Record {
    /// Whether its numbers can be those of a trial.
    ///
    /// # Errors
    /// A sentence that says what is out of range.
    pub fn check(&self) -> Result<(), String> {
        crate::ensure!(
            self.block < BLOCKS_MAX,
            "block {} is beyond the last, {}",
            self.block,
            BLOCKS_MAX - 1
        );
        if self.position as usize >= TREATMENTS_MAX {
            let last = TREATMENTS_MAX - 1;
            return Err(format!("position {} is beyond the last, {last}", self.position));
        }
        if let Some(measured) = &self.measured {
            count("series", measured.series.len(), ENTRIES_MAX)?;
            count("checks", measured.checks.len(), ENTRIES_MAX)?;
            count("counters", measured.counters.pmu.len(), ENTRIES_MAX)?;
            count("exhibits", measured.exhibits.len(), ENTRIES_MAX)?;
            for exhibit in &measured.exhibits {
                count("columns of an exhibit", exhibit.columns.len(), ENTRIES_MAX)?;
                count("rows of an exhibit", exhibit.rows.len(), ENTRIES_MAX)?;
            }
        }
        count("observed facts", self.observed.len(), ENTRIES_MAX)?;
        match &self.outcome {
            Outcome::Unsupported { reason }
            | Outcome::Failed { reason }
            | Outcome::ProtocolViolated { reason } => text("the reason of its outcome", reason),
            _ => Ok(()),
        }
    }
}

impl Design {
    /// At least as many as the treatments of a profile, found without making any: those that two
    /// grids share count twice.
    pub fn treatments_at_most(&self, profile: Profile) -> usize {
        let levels = |it: &Factor, wanted: &[String]| it.levels_of(profile, wanted).count();
        if self.grids.is_empty() {
            return product(self.factors.iter().map(|factor| levels(factor, &[])));
        }
        let grids = self.grids.iter().filter(|grid| grid.from <= profile);
        let sizes = grids.map(|grid| {
            let varied = grid.vary.iter().filter_map(|(name, wanted)| {
                self.factor(name).map(|factor| levels(factor, wanted))
            });
            product(varied)
        });
        sizes.fold(0, usize::saturating_add)
    }

    /// How many numbers analysis has to form.
    fn quantity_count(&self) -> usize {
        let suspects: usize = self.diagnoses.iter().map(|it| it.suspects.len()).sum();
        let terms: usize = self.accounts.iter().map(|account| account.terms().count()).sum();
        let single = [&self.findings.len(), &self.claims.len(), &self.controls.len()];
        single.into_iter().sum::<usize>() + self.planted.len() + suspects + terms
    }

    /// Whether it is small enough; looked at before anything is expanded or compared.
    pub(crate) fn check_size(&self) -> Result<(), String> {
        let value = serde_json::to_value(self).map_err(|error| error.to_string())?;
        check_value("design", &value)?;
        if let Some(subject) = &self.subject {
            let around = subject.prepare.len() + subject.cleanup.len();
            count("commands before and after", around, ENTRIES_MAX)?;
            count("texts of a command", subject.texts().count(), SUBJECT_TEXTS_MAX)?;
            count("words for levels", subject.stand_ins().count(), SUBJECT_TEXTS_MAX)?;
        }
        if self.time_limit_ms > TIME_LIMIT_MS_MAX {
            let limit = self.time_limit_ms;
            return Err(format!("its time limit of {limit} ms is over {TIME_LIMIT_MS_MAX}"));
        }
        let treatments = self.treatments_at_most(Profile::Thorough);
        count("treatments", treatments, TREATMENTS_MAX)
            .map_err(|what| format!("{what}; cross fewer factors, or name grids"))
    }
}

/// The fields whose texts treatments and tables repeat. (`other` is a unit that a user named.)
const NAMES: [&str; 7] = ["id", "name", "baseline", "cpu_twin", "other", "planted", "level"];

/// The fields whose keys are a user's own words.
const MAPS: [&str; 3] = ["environment", "words", "lists"];

/// What a field's entries are called in an error, and the most that it may have.
fn entries_of(field: &str) -> (&str, usize) {
    match field {
        "factors" => (field, FACTORS_MAX),
        "vary" => ("factors of a grid", FACTORS_MAX),
        "levels" => ("levels of a factor", ENTRIES_MAX),
        "limits" => ("limits of a response", ENTRIES_MAX),
        "parts" => ("parts of an account", ENTRIES_MAX),
        "planted" => ("known answers", ENTRIES_MAX),
        "environment" => ("variables", ENTRIES_MAX),
        "command" | "prepare" | "cleanup" => ("texts of a command", SUBJECT_TEXTS_MAX),
        "words" | "lists" => ("words for levels", SUBJECT_TEXTS_MAX),
        other => (other, ENTRIES_MAX),
    }
}

/// Whether every list and text of a part of a design has an end. `field` is where it stands.
fn check_value(field: &str, value: &Value) -> Result<(), String> {
    let (what, most) = entries_of(field);
    match value {
        Value::String(name) if NAMES.contains(&field) => bytes("a name", name, NAME_BYTES_MAX),
        Value::String(found) => text("a text", found),
        Value::Array(all) => {
            count(what, all.len(), most)?;
            let within = if field == "vary" { "levels of a grid's factor" } else { field };
            all.iter().try_for_each(|one| check_value(within, one))
        }
        Value::Object(all) if MAPS.contains(&field) => {
            count(what, all.len(), most)?;
            all.values().try_for_each(|one| check_value(field, one))
        }
        // Cells are maps as well, and every other object has fewer fields than a cell may.
        Value::Object(all) => {
            count("factors of a cell", all.len(), FACTORS_MAX)?;
            all.iter().try_for_each(|(field, one)| check_value(field, one))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}

fn product(sizes: impl Iterator<Item = usize>) -> usize {
    sizes.fold(1, usize::saturating_mul)
}

fn count(what: &str, found: usize, most: usize) -> Result<(), String> {
    if found > most { Err(format!("{found} {what} are more than {most}")) } else { Ok(()) }
}

fn bytes(what: &str, found: &str, most: usize) -> Result<(), String> {
    if found.len() <= most {
        return Ok(());
    }
    let start: String = found.chars().take(20).collect();
    Err(format!("{what} of {} bytes ({start:?}…) is longer than {most}", found.len()))
}

fn text(what: &str, found: &str) -> Result<(), String> {
    bytes(what, found, TEXT_BYTES_MAX)
}

#[cfg(test)]
mod tests;
