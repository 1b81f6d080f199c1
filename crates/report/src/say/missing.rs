//! Why a number is missing, in the place where it would stand.

use crate::doc::Text;
use crate::words;
use model::{Design, Factor, Outcome, Profile, Quantity, Record, Treatment};
use std::collections::{BTreeMap, HashMap};
use wording::{capital, counted, short};

/// The profiles, each holding the levels of the ones before.
const PROFILES: [Profile; 4] =
    [Profile::Smoke, Profile::Quick, Profile::Standard, Profile::Thorough];

/// Treatments of one reason that are named.
const NAMED_MAX: usize = 4;

/// Why there is no number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Missing {
    /// In two or three words, where there is little room: "refused here", "not in quick".
    pub(crate) word: String,
    /// The same where there is room: "not measured in profile quick".
    pub(crate) lead: String,
    /// What stands after the lead and a colon, without its full stop.
    pub(crate) why: String,
}

impl Missing {
    /// Returns it in a sentence.
    pub(crate) fn text(&self) -> Text {
        Text::strong(format!("{}:", capital(&self.lead))).then(format!(" {}.", self.why))
    }
}

/// What became of a treatment without a number.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Fate {
    /// Where a reader should hear it among others.
    place: u8,
    /// As in [`Missing`].
    lead: String,
    /// What stands after the names of treatments that share it.
    reason: String,
}

/// An experiment with its trials, as far as they tell what is missing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured<'a> {
    pub(crate) design: &'a Design,
    /// Its trials, or their [`witnesses`], which are enough to say what is missing.
    pub(crate) records: &'a [&'a Record],
    pub(crate) profile: Profile,
}

/// Returns of each treatment the trial that tells what became of it: the first that measured, else the
/// first that was refused, else the first.
pub(crate) fn witnesses<'a>(records: &[&'a Record]) -> Vec<&'a Record> {
    let place = |record: &Record| match record.outcome {
        _ if record.measured.is_some() => 0,
        Outcome::Unsupported { .. } => 1,
        _ => 2,
    };
    let mut witnesses: HashMap<&Treatment, &Record> = HashMap::new();
    for record in records {
        let known = witnesses.entry(&record.treatment).or_insert(record);
        if place(record) < place(known) {
            *known = record;
        }
    }
    witnesses.into_values().collect()
}

impl Measured<'_> {
    /// Returns why a quantity has no number: from what became of the treatments it needs, or else in the
    /// words of the analysis.
    pub(crate) fn of_quantity(self, quantity: &Quantity, remark: &str) -> Missing {
        let design = self.design;
        let needed: Vec<Treatment> = match quantity {
            Quantity::Exponent { .. } | Quantity::Linearity { .. } | Quantity::Frequency { .. } => {
                let planned = design.treatments(self.profile);
                let all = design.treatments(Profile::Thorough);
                let here = quantity.treatments(design, &planned);
                let anywhere = quantity.treatments(design, &all);
                // These make do with whatever levels there are: what a larger profile adds is no gap.
                (if here.is_empty() { anywhere } else { here }).into_iter().cloned().collect()
            }
            Quantity::Proportion { over, lower, upper, at, .. } => {
                [lower, upper].map(|level| design.complete(&at.with(over, level))).to_vec()
            }
            _ => quantity.cells().into_iter().map(|cell| design.complete(cell)).collect(),
        };
        self.of_needed(&needed, remark)
    }

    /// Returns why an account has no number.
    pub(crate) fn of_account(self, id: &str, remark: &str) -> Missing {
        let account = self.design.accounts.iter().find(|account| account.id == id);
        let terms = account.into_iter().flat_map(model::Account::terms);
        let cells = terms.flat_map(model::Term::cells);
        let needed: Vec<Treatment> = cells.map(|cell| self.design.complete(cell)).collect();
        self.of_needed(&needed, remark)
    }

    fn of_needed(self, needed: &[Treatment], remark: &str) -> Missing {
        of_treatments(self, needed).unwrap_or_else(|| {
            let why = if remark.is_empty() { "the trials do not give one" } else { remark };
            let word = "not measured".to_string();
            Missing { lead: word.clone(), word, why: short(why, 600) }
        })
    }

    fn fate(self, treatment: &Treatment) -> Option<Fate> {
        let witness = self.records.iter().find(|record| record.treatment == *treatment);
        let (place, lead, reason) = match witness.map(|record| (&record.measured, &record.outcome))
        {
            Some((Some(_), _)) => return None,
            Some((_, Outcome::Unsupported { reason })) => {
                (0, "refused here".into(), format!(": {}", short(reason, 600)))
            }
            Some((_, outcome)) => {
                let how = short(&words::outcome(outcome), 600);
                (1, "no trial succeeded".into(), format!(": {how}"))
            }
            None => self.unreached(treatment),
        };
        Some(Fate { place, lead, reason })
    }

    /// Returns why a treatment has no trial.
    fn unreached(self, treatment: &Treatment) -> (u8, String, String) {
        let has = |profile: &Profile| self.design.treatments(*profile).contains(treatment);
        match PROFILES.into_iter().find(has) {
            Some(first) if first > self.profile => {
                let lead = format!("not measured in profile {}", self.profile.name());
                (2, lead, format!(", from profile {} on", first.name()))
            }
            None => (3, "in no profile".into(), String::new()),
            Some(_) => (4, "not reached in time".into(), String::new()),
        }
    }
}

/// Returns why some treatments have no number; `None` if all of them have completed trials.
pub(crate) fn of_treatments(measured: Measured<'_>, treatments: &[Treatment]) -> Option<Missing> {
    of_each(measured, treatments, |fate| fate.reason)
}

/// Returns the same beside a figure: why a treatment was refused stands once in its chapter.
pub(crate) fn of_figure(measured: Measured<'_>, treatments: &[Treatment]) -> Option<Missing> {
    of_each(measured, treatments, |fate| if fate.place == 0 { String::new() } else { fate.reason })
}

fn of_each(
    measured: Measured<'_>,
    treatments: &[Treatment],
    reason: fn(Fate) -> String,
) -> Option<Missing> {
    let mut by_fate: BTreeMap<Fate, Vec<&Treatment>> = BTreeMap::new();
    for treatment in treatments {
        if let Some(fate) = measured.fate(treatment) {
            by_fate.entry(fate).or_default().push(treatment);
        }
    }
    let mut by_lead: BTreeMap<(u8, String), Vec<String>> = BTreeMap::new();
    for (fate, same) in by_fate {
        let key = (fate.place, fate.lead.clone());
        let names = named(measured.design, &same, treatments);
        by_lead.entry(key).or_default().push(names + &reason(fate));
    }
    let mut reasons = by_lead.into_iter().map(|((_, lead), each)| (lead, each.join("; ")));
    let (lead, first) = reasons.next()?;
    let others: String = reasons.map(|(lead, why)| format!("; {lead}: {why}")).collect();
    Some(Missing { word: lead.replace("measured in profile", "in"), lead, why: first + &others })
}

/// Names some of `all` treatments: by the levels that they alone share, else one by one.
pub(crate) fn named(design: &Design, some: &[&Treatment], all: &[Treatment]) -> String {
    let has = |treatment: &Treatment, of: &Treatment, factor: &Factor| {
        treatment.level(&factor.name) == of.level(&factor.name)
    };
    if let [first, _, ..] = some {
        let is_shared = |factor: &&Factor| some.iter().all(|one| has(one, first, factor));
        let shared: Vec<&Factor> = design.factors.iter().filter(is_shared).collect();
        let fits = |one: &&Treatment| shared.iter().all(|factor| has(one, first, factor));
        let name = levels(first, shared.iter().copied());
        if !name.is_empty() && all.iter().filter(fits).all(|one| some.contains(&one)) {
            return name;
        }
    }
    let mut names: Vec<String> = some.iter().map(|treatment| apart(design, treatment)).collect();
    names.dedup();
    let more = names.split_off(names.len().min(NAMED_MAX)).len() as u64;
    names.extend((more > 0).then(|| counted(more, "more treatment")));
    names.join("; ")
}

/// Returns a treatment by the levels that are not the baseline's.
fn apart(design: &Design, treatment: &Treatment) -> String {
    let special = levels(treatment, design.factors.iter());
    if special.is_empty() { "the baseline".into() } else { special }
}

/// Returns those of a treatment's levels of these factors that are not the baseline's.
fn levels<'a>(treatment: &Treatment, factors: impl Iterator<Item = &'a Factor>) -> String {
    let special = factors.filter_map(|factor| {
        let level = treatment.level(&factor.name).filter(|level| *level != factor.baseline)?;
        Some(format!("{} {}", words::plain(&factor.name), words::plain(level)))
    });
    short(&special.collect::<Vec<_>>().join(", "), 160)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(missing: &Missing) -> String {
        format!("{}: {}", missing.lead, missing.why)
    }

    use crate::fixture::{self, Fixture};
    use model::Cell;

    fn why(fixture: &Fixture, quantity: &Quantity) -> Missing {
        let design = &fixture.manifest.designs[0];
        let records: Vec<&Record> =
            fixture.records.iter().filter(|record| record.experiment == design.id).collect();
        let measured = Measured { design, records: &witnesses(&records), profile: Profile::Quick };
        measured.of_quantity(quantity, "a remark")
    }

    fn ratio(of: &str, to: &str) -> Quantity {
        let cell = |level| Cell::new([("mechanism", level)]);
        Quantity::Ratio { response: "create_ns".into(), of: cell(of), to: cell(to) }
    }

    #[test]
    fn a_refusal_is_told_with_its_reason() {
        let missing = why(&fixture::session(2), &ratio("clone3", "pthread"));
        assert_eq!(missing.word, "refused here");
        assert!(missing.why.starts_with("mechanism clone3: clone3 is blocked by"));
    }

    #[test]
    fn what_another_profile_measures_is_told_with_the_profile() {
        let missing = why(&fixture::session(2), &ratio("isolated", "pthread"));
        assert_eq!(missing.word, "not in quick");
        let reasons = "not measured in profile quick: mechanism isolated, from profile standard on";
        assert_eq!(whole(&missing), reasons);
        let both = why(&fixture::session(2), &ratio("isolated", "clone3"));
        assert_eq!(both.word, "refused here");
        assert!(both.why.ends_with(&format!("; {reasons}")), "{}", both.why);
    }

    #[test]
    fn what_was_not_reached_or_died_is_told() {
        let mut fixture = fixture::session(2);
        fixture.records.retain(|record| record.treatment.level("mechanism") != Some("fork"));
        let missing = why(&fixture, &ratio("fork", "pthread"));
        assert_eq!(whole(&missing), "not reached in time: mechanism fork");
        for record in &mut fixture.records {
            if record.treatment.level("mechanism") == Some("pthread") {
                record.measured = None;
                record.outcome = Outcome::Died { signal: 11, phase: model::Phase::Measuring };
            }
        }
        let missing = why(&fixture, &ratio("fork", "pthread"));
        assert_eq!(missing.word, "no trial succeeded");
        assert!(missing.why.starts_with("the baseline: died of signal 11 while measuring; not"));
        // Where every trial completed, the analysis knows better.
        let missing = why(&fixture, &ratio("vfork", "vfork"));
        assert_eq!(whole(&missing), "not measured: a remark");
    }

    #[test]
    fn no_profile_measures_what_no_grid_crosses() {
        let design = fixture::create();
        let uncrossed = Cell::new([("mechanism", "pool"), ("memory", "512")]);
        let quantity = Quantity::Value { response: "create_ns".into(), at: uncrossed.clone() };
        assert!(!design.treatments(Profile::Thorough).contains(&design.complete(&uncrossed)));
        let missing = why(&fixture::session(1), &quantity);
        assert_eq!(whole(&missing), "in no profile: mechanism pool, memory 512");
    }
}
