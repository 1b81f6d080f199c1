//! Why a number is missing, in the place where it would stand.

use crate::words::{self, counted, short};
use model::{Design, Outcome, Profile, Quantity, Record, Treatment};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};

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

/// What became of a treatment without a number; in the order in which a reader should hear it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    Refused(String),
    Ended(String),
    LaterProfile(Profile),
    NoProfile,
    NotReached,
}

/// An experiment with its trials, as far as they tell what is missing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured<'a> {
    pub(crate) design: &'a Design,
    /// Its trials, or their [`witnesses`].
    pub(crate) records: &'a [&'a Record],
    pub(crate) profile: Profile,
}

/// Of each treatment at most three trials, which tell what became of it: the first that measured,
/// the first that was refused, and the first of all. Who asks about many treatments asks these: a
/// large session has hundreds of trials of each.
pub(crate) fn witnesses<'a>(records: &[&'a Record]) -> Vec<&'a Record> {
    let mut known: HashMap<&Treatment, [bool; 2]> = HashMap::new();
    let mut tells = |record: &&'a Record| {
        let kinds =
            [record.measured.is_some(), matches!(record.outcome, Outcome::Unsupported { .. })];
        match known.entry(&record.treatment) {
            Entry::Vacant(first) => {
                first.insert(kinds);
                true
            }
            Entry::Occupied(mut seen) => {
                let seen = seen.get_mut();
                let new = kinds.iter().zip(*seen).any(|(kind, seen)| *kind && !seen);
                *seen = [seen[0] || kinds[0], seen[1] || kinds[1]];
                new
            }
        }
    };
    records.iter().copied().filter(|record| tells(record)).collect()
}

/// Why a quantity has no number: from what became of the treatments it needs, or else in the words
/// of the analysis. Without a design only those are known.
pub(crate) fn of_quantity(
    measured: Option<Measured<'_>>,
    quantity: &Quantity,
    remark: &str,
) -> Missing {
    let Some(measured) = measured else {
        return otherwise(remark);
    };
    let design = measured.design;
    let needed: Vec<Treatment> = match quantity {
        Quantity::Exponent { .. } | Quantity::Linearity { .. } | Quantity::Frequency { .. } => {
            let planned = design.treatments(measured.profile);
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
    of_treatments(measured, &needed).unwrap_or_else(|| otherwise(remark))
}

/// Why an account has no number.
pub(crate) fn of_account(measured: Option<Measured<'_>>, id: &str, remark: &str) -> Missing {
    let needed = measured.and_then(|measured| {
        let account = measured.design.accounts.iter().find(|account| account.id == id)?;
        let cells = account.terms().flat_map(model::Term::cells);
        let needed: Vec<Treatment> = cells.map(|cell| measured.design.complete(cell)).collect();
        of_treatments(measured, &needed)
    });
    needed.unwrap_or_else(|| otherwise(remark))
}

fn otherwise(remark: &str) -> Missing {
    let why = if remark.is_empty() { "the trials do not give one" } else { remark };
    let word = "not measured".to_string();
    Missing { lead: word.clone(), word, why: short(why, 600) }
}

/// Why some treatments have no number; `None` if all of them have completed trials.
pub(crate) fn of_treatments(measured: Measured<'_>, treatments: &[Treatment]) -> Option<Missing> {
    let Measured { design, profile, .. } = measured;
    let mut by_fate: BTreeMap<Fate, Vec<&Treatment>> = BTreeMap::new();
    for treatment in treatments {
        if let Some(fate) = fate(measured, treatment) {
            let same = by_fate.entry(fate).or_default();
            if !same.contains(&treatment) {
                same.push(treatment);
            }
        }
    }
    let first = by_fate.keys().next()?;
    let (word, lead) = (word(first, profile), lead(first, profile));
    let reasons = by_fate.iter().enumerate().map(|(index, (fate, same))| match index {
        0 => what(design, fate, same),
        _ => format!("{}: {}", self::lead(fate, profile), what(design, fate, same)),
    });
    let why = reasons.collect::<Vec<_>>().join("; ");
    Some(Missing { word, lead, why })
}

fn fate(measured: Measured<'_>, treatment: &Treatment) -> Option<Fate> {
    let Measured { design, records, profile } = measured;
    let own = || records.iter().filter(|record| record.treatment == *treatment);
    if own().any(|record| record.measured.is_some()) {
        return None;
    }
    let refused = own().find_map(|record| match &record.outcome {
        Outcome::Unsupported { reason } => Some(Fate::Refused(reason.clone())),
        _ => None,
    });
    let ended = || own().next().map(|record| Fate::Ended(words::outcome(&record.outcome)));
    let unreached = || {
        let first = PROFILES.into_iter().find(|p| design.treatments(*p).contains(treatment));
        match first {
            None => Fate::NoProfile,
            Some(first) if first <= profile => Fate::NotReached,
            Some(first) => Fate::LaterProfile(first),
        }
    };
    refused.or_else(ended).or_else(|| Some(unreached()))
}

fn word(fate: &Fate, profile: Profile) -> String {
    match fate {
        Fate::LaterProfile(_) => format!("not in {}", profile.name()),
        other => lead(other, profile),
    }
}

fn lead(fate: &Fate, profile: Profile) -> String {
    match fate {
        Fate::Refused(_) => "refused here".into(),
        Fate::Ended(_) => "no trial succeeded".into(),
        Fate::LaterProfile(_) => format!("not measured in profile {}", profile.name()),
        Fate::NoProfile => "in no profile".into(),
        Fate::NotReached => "not reached in time".into(),
    }
}

/// Which treatments, and why.
fn what(design: &Design, fate: &Fate, same: &[&Treatment]) -> String {
    let mut names: Vec<String> =
        same.iter().take(NAMED_MAX).map(|treatment| apart(design, treatment)).collect();
    if same.len() > NAMED_MAX {
        names.push(counted((same.len() - NAMED_MAX) as u64, "more treatment"));
    }
    let names = names.join("; ");
    match fate {
        Fate::Refused(reason) => format!("{names}: {}", short(reason, 600)),
        Fate::Ended(how) => format!("{names}: {}", short(how, 600)),
        Fate::LaterProfile(first) => format!("{names}, from profile {} on", first.name()),
        Fate::NoProfile | Fate::NotReached => names,
    }
}

/// A treatment by the levels that are not the baseline's.
fn apart(design: &Design, treatment: &Treatment) -> String {
    let special: Vec<String> = design
        .factors
        .iter()
        .filter_map(|factor| {
            let level = treatment.level(&factor.name)?;
            (level != factor.baseline)
                .then(|| format!("{} {}", words::plain(&factor.name), words::plain(level)))
        })
        .collect();
    if special.is_empty() { "the baseline".into() } else { short(&special.join(", "), 160) }
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
        let measured = Measured { design, records: &records, profile: Profile::Quick };
        of_quantity(Some(measured), quantity, "a remark")
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
