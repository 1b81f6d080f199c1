//! How large the data of a session may be.
//!
//! A session may come from a stranger. What it says decides how much its reader has to hold and to
//! compute, often as a product: eight factors of sixteen levels each are four thousand million
//! treatments in one kilobyte of text. Each bound is an order of magnitude above what the catalog
//! needs (its figures stand beside it), so that nobody who measures will meet it.

use crate::{Cell, Design, DesignError, Factor, Manifest, Outcome, Profile, Record, Unit};

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
            design.check().map_err(|error: DesignError| error.to_string())?;
            if !ids.insert(&design.id) {
                return Err(format!("experiment {} stands in it twice", design.id));
            }
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
        if self.block >= BLOCKS_MAX {
            return Err(format!("block {} is beyond the last, {}", self.block, BLOCKS_MAX - 1));
        }
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
        let levels = |factor: &Factor, wanted: &[String]| {
            let named = |name| wanted.is_empty() || wanted.contains(name);
            factor.levels.iter().filter(|l| l.from <= profile && named(&l.name)).count()
        };
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
        count("factors", self.factors.len(), FACTORS_MAX)?;
        for (what, length) in [
            ("grids", self.grids.len()),
            ("responses", self.responses.len()),
            ("findings", self.findings.len()),
            ("accounts", self.accounts.len()),
            ("claims", self.claims.len()),
            ("controls", self.controls.len()),
            ("known answers", self.planted.len()),
            ("diagnoses", self.diagnoses.len()),
            ("programs", self.programs.len()),
            ("privileges", self.needs.privileges.len()),
        ] {
            count(what, length, ENTRIES_MAX)?;
        }
        for factor in &self.factors {
            count("levels of a factor", factor.levels.len(), ENTRIES_MAX)?;
        }
        for grid in &self.grids {
            count("factors of a grid", grid.vary.len(), FACTORS_MAX)?;
            grid.vary.iter().try_for_each(|(_, levels)| {
                count("levels of a grid's factor", levels.len(), ENTRIES_MAX)
            })?;
        }
        for response in &self.responses {
            count("limits of a response", response.limits.len(), ENTRIES_MAX)?;
        }
        for account in &self.accounts {
            count("parts of an account", account.parts.len(), ENTRIES_MAX)?;
        }
        for diagnosis in &self.diagnoses {
            count("suspects", diagnosis.suspects.len(), ENTRIES_MAX)?;
        }
        if let Some(subject) = &self.subject {
            count(
                "commands before and after",
                subject.prepare.len() + subject.cleanup.len(),
                ENTRIES_MAX,
            )?;
            count("metrics", subject.metrics.len(), ENTRIES_MAX)?;
            count("variables", subject.environment.len(), ENTRIES_MAX)?;
            count("texts of a command", subject.texts().count(), SUBJECT_TEXTS_MAX)?;
            count("words for levels", subject.stand_ins().count(), SUBJECT_TEXTS_MAX)?;
        }
        self.names().try_for_each(|it| bytes("a name", it, NAME_BYTES_MAX))?;
        self.texts().try_for_each(|it| text("a text", it))?;
        self.cells().try_for_each(|cell| count("factors of a cell", cell.0.len(), FACTORS_MAX))?;
        if self.time_limit_ms > TIME_LIMIT_MS_MAX {
            let limit = self.time_limit_ms;
            return Err(format!("its time limit of {limit} ms is over {TIME_LIMIT_MS_MAX}"));
        }
        let treatments = self.treatments_at_most(Profile::Thorough);
        count("treatments", treatments, TREATMENTS_MAX)
            .map_err(|what| format!("{what}; cross fewer factors, or name grids"))
    }

    /// What treatments and tables repeat.
    fn names(&self) -> impl Iterator<Item = &str> {
        let factors = self.factors.iter().flat_map(|factor| {
            let levels = factor.levels.iter().map(|level| &level.name);
            [&factor.name, &factor.baseline].into_iter().chain(levels)
        });
        let responses = self.responses.iter().flat_map(|response| {
            let unit = match &response.unit {
                Unit::Other(name) => Some(name),
                _ => None,
            };
            std::iter::once(&response.name).chain(&response.cpu_twin).chain(unit)
        });
        let findings = self.findings.iter().map(|finding| &finding.id);
        let claims = self.claims.iter().map(|claim| &claim.id);
        let accounts = self.accounts.iter().map(|account| &account.id);
        let planted = self.planted.iter().map(|planted| &planted.id);
        let diagnoses = self.diagnoses.iter().flat_map(|it| {
            let suspects = it.suspects.iter().map(|suspect| &suspect.name);
            std::iter::once(&it.id).chain(&it.planted).chain(suspects)
        });
        let ids = findings.chain(claims).chain(accounts).chain(planted).chain(diagnoses);
        let programs = self.programs.iter().map(|program| &program.level);
        let rest = responses.chain(ids).chain(programs);
        std::iter::once(&self.id).chain(factors).chain(rest).map(String::as_str)
    }

    /// What is printed as it is.
    fn texts(&self) -> impl Iterator<Item = &str> {
        let factors = self.factors.iter().flat_map(|factor| {
            std::iter::once(&factor.about).chain(factor.levels.iter().map(|level| &level.about))
        });
        let responses = self.responses.iter().flat_map(|response| {
            let card = &response.card;
            [&response.label, &card.from, &card.to, &card.corrected, &card.source]
                .into_iter()
                .chain(response.limits.iter().map(|limit| &limit.label))
        });
        let findings = self.findings.iter().map(|finding| &finding.sentence);
        let accounts = self.accounts.iter().flat_map(|account| {
            std::iter::once(&account.title).chain(account.parts.iter().map(|part| &part.label))
        });
        let claims = self
            .claims
            .iter()
            .flat_map(|claim| [&claim.text, &claim.source, &claim.mechanism, &claim.note]);
        let planted = self.planted.iter().map(|planted| &planted.what);
        let diagnoses = self.diagnoses.iter().map(|diagnosis| &diagnosis.what);
        let programs = self
            .programs
            .iter()
            .flat_map(|program| [&program.path, &program.sha256, &program.about]);
        let subject =
            self.subject.iter().flat_map(|subject| subject.texts().chain(subject.stand_ins()));
        [&self.chapter, &self.question, &self.method]
            .into_iter()
            .chain(&self.needs.privileges)
            .chain(factors)
            .chain(responses)
            .chain(findings.chain(accounts).chain(claims).chain(planted).chain(diagnoses))
            .chain(programs)
            .map(String::as_str)
            .chain(subject)
    }

    /// Every cell that something names.
    fn cells(&self) -> impl Iterator<Item = &Cell> {
        let subtracted = self.responses.iter().filter_map(|response| response.subtract.as_ref());
        let quantities = self
            .findings
            .iter()
            .map(|finding| &finding.quantity)
            .chain(self.claims.iter().map(|claim| &claim.quantity))
            .chain(self.planted.iter().map(|planted| &planted.quantity));
        let terms = self.accounts.iter().flat_map(crate::Account::terms);
        let controls = self.controls.iter().flat_map(|control| [&control.a, &control.b]);
        let diagnoses = self.diagnoses.iter().flat_map(|it| {
            [&it.whole, &it.base].into_iter().chain(it.suspects.iter().map(|s| &s.without))
        });
        let limits = self.responses.iter().flat_map(|response| &response.limits);
        subtracted
            .chain(limits.map(|limit| &limit.at))
            .chain(quantities.flat_map(crate::Quantity::cells))
            .chain(terms.flat_map(crate::Term::cells))
            .chain(controls)
            .chain(diagnoses)
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
