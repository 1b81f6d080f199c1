use crate::{
    Account, Claim, Control, Diagnosis, Figure, Finding, Headline, Planted, Profile, ProgramFile,
    Quantity, Subject, Unit,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An experiment as data: one question with its factors, responses and claims.
///
/// Runner, store, analysis and report see a design and its trial records and nothing else, so
/// they cannot tell a built-in experiment from a user's study.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Design {
    /// The experiment's name: a word of lower-case letters, digits and `_`.
    pub id: String,
    /// Raised whenever a change of the experiment can move its numbers.
    pub version: u32,
    /// The chapter of the catalog it belongs to.
    pub chapter: String,
    /// The question in plain words, ending in a question mark.
    pub question: String,
    /// Words by which people look for it, beyond those that a report shows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<String>,
    /// The findings that answer the question together; empty where the first one does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<String>,
    /// The finding that says why the first one is as it is; empty where none does.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// Why the first finding is as it is, as far as is known without a measurement; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub because: String,
    /// What the trial does, in a few sentences for somebody who doubts it.
    pub method: String,
    /// The controlled variables.
    pub factors: Vec<Factor>,
    /// Which combinations are measured; empty means the full factorial.
    pub grids: Vec<Grid>,
    /// The measured variables.
    pub responses: Vec<Response>,
    /// The quantities that answer the question; the first is the headline.
    pub findings: Vec<Finding>,
    /// What the totals are made of.
    #[serde(default)]
    pub accounts: Vec<Account>,
    /// What the report draws, in this order; if nothing is declared, it draws the main response.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<Figure>,
    /// Its answers that the first screen of a report shows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headlines: Vec<Headline>,
    /// What people say, and the data that would refute it.
    pub claims: Vec<Claim>,
    /// Pairs of treatments that are identical: the A/A controls.
    pub controls: Vec<Control>,
    /// Known answers that were put into it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub planted: Vec<Planted>,
    /// Gaps whose cause is looked for among suspects.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diagnoses: Vec<Diagnosis>,
    /// The program of the user's that its trials start; none for an experiment of the catalog.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<Subject>,
    /// The files of the user's that its trials look at, where it was made for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<ProgramFile>,
    /// What a machine must have for this experiment to mean anything.
    pub needs: Needs,
    /// The relative half-width of the intervals at which measuring may stop.
    pub precision: f64,
    /// The time after which a trial is killed, in milliseconds.
    pub time_limit_ms: u64,
}

/// A controlled variable.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Factor {
    /// Its name in code, JSON and tables.
    pub name: String,
    /// What is varied, in one line.
    pub about: String,
    /// What it is called in figures; empty if its name says it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// Its settings.
    pub levels: Vec<Level>,
    /// The level others are compared with; also what a grid uses that does not name this factor.
    pub baseline: String,
    /// What the levels' values are measured in, where they are a quantity with a unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
}

/// One setting of a factor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Level {
    /// Its name; unique within the factor.
    pub name: String,
    /// Where it lies on an axis, if the factor is a quantity.
    pub value: Option<f64>,
    /// What the trial does at this level, in one line.
    pub about: String,
    /// What it is called in figures; empty if its name says it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// The smallest profile that measures it.
    pub from: Profile,
}

/// A full factorial over some factors, the others at their baselines.
///
/// A design's treatments are the union of its grids, so that a costly factor need not be crossed
/// with every other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Grid {
    /// The smallest profile that measures it.
    pub from: Profile,
    /// The factors that vary with the levels they take; an empty list means all levels.
    pub vary: Vec<(String, Vec<String>)>,
}

/// A measured variable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Response {
    /// Its name, ending in the unit: `create_ns`.
    pub name: String,
    /// What it is called in sentences and on axes: "time to create".
    pub label: String,
    /// Its unit.
    pub unit: Unit,
    /// How the observations of one trial become the trial's one number.
    pub center: Center,
    /// The response that holds the CPU time of the same work: elapsed time is corrected for what other
    /// programs took from it, but to no less than this.
    pub cpu_twin: Option<String>,
    /// The control treatment whose value is subtracted block by block, in analysis only.
    pub subtract: Option<crate::Cell>,
    /// Whether it is computed, not measured: every trial of a treatment gives the same number. It has no
    /// interval, and one block decides.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub exact: bool,
    /// Whether the chances of one trial are independent by construction: each is a fresh attempt
    /// that shares nothing with the last. Then a frequency is bounded by its chances as long as the
    /// trials scatter by no more than chance, else by its trials.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub independent: bool,
    /// What exactly is measured.
    pub card: Card,
    /// Values that a theory gives it, to be drawn as lines where it is drawn over an axis.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<Limit>,
}

/// A value that a theory gives a response.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Limit {
    /// The value, in the response's unit.
    pub value: f64,
    /// What it is, in a few words.
    pub label: String,
    /// Of which treatments it is true.
    pub at: crate::Cell,
}

/// The definition card of a response: what is measured from where to where.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Card {
    /// The instant at which the measurement begins.
    pub from: String,
    /// The instant at which it ends.
    pub to: String,
    /// What is divided by or subtracted, and why; empty if nothing is.
    pub corrected: String,
    /// The interface that the number is read from.
    pub source: String,
}

/// How the observations of one trial become the trial's one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Center {
    /// The median: for durations.
    Median,
    /// The mean: for counts per operation.
    Mean,
    /// The sum: for totals over workers.
    Sum,
    /// The largest: for peaks.
    Max,
}

/// What a machine must have for an experiment to mean anything.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Needs {
    /// CPUs that the trials may use at the same time.
    pub cpus: u32,
    /// Free memory for the largest treatment, in bytes.
    pub memory_bytes: u64,
    /// Free space for the largest treatment, in bytes.
    pub disk_bytes: u64,
    /// Rights and kernel features beyond an ordinary user's, each with what is lost without it:
    /// "to read page frame numbers (root): without, sharing shows by its effect alone". A treatment that cannot do without says `Unsupported`.
    #[serde(default)]
    pub privileges: Vec<String>,
}

impl Design {
    /// The factor of that name.
    pub fn factor(&self, name: &str) -> Option<&Factor> {
        self.factors.iter().find(|factor| factor.name == name)
    }

    /// The factor that tells the second of two identical treatments from the first and means nothing
    /// else: the one in which the pairs of a user's program differ, if nothing asks for it. Tables
    /// and charts need not name it, and a chart need not show the second.
    pub fn repetition(&self) -> Option<&Factor> {
        self.subject.as_ref()?;
        let mut between = self.controls.iter().map(|pair| {
            let moved = |(factor, level): (&String, &String)| {
                (pair.a.0.get(factor) != Some(level)).then(|| factor.clone())
            };
            pair.b.0.iter().filter_map(moved).collect::<Vec<_>>()
        });
        let name = between.next().filter(|names| names.len() == 1)?.pop()?;
        let findings = self.findings.iter().map(|finding| &finding.quantity);
        let mut asked = findings
            .chain(self.claims.iter().map(|claim| &claim.quantity))
            .flat_map(crate::Quantity::cells);
        let alone = between.all(|names| names.iter().all(|other| *other == name));
        let unasked = !asked.any(|cell| cell.0.contains_key(&name));
        if alone && unasked { self.factor(&name) } else { None }
    }

    /// Whether a treatment is another's again, as [`Design::repetition`] tells.
    pub fn repeats(&self, treatment: &crate::Treatment) -> bool {
        self.repetition().is_some_and(|factor| {
            treatment.level(&factor.name).is_some_and(|level| level != factor.baseline)
        })
    }

    /// A treatment as its author names it: without the factor that [`Design::repetition`] tells,
    /// where that is at its baseline.
    pub fn as_named(&self, treatment: &crate::Treatment) -> crate::Treatment {
        let mut named = treatment.clone();
        if let Some(factor) = self.repetition().filter(|_| !self.repeats(treatment)) {
            named.levels_mut().remove(&factor.name);
        }
        named
    }

    /// Whether nothing of it is measured: all its responses are computed.
    pub fn is_exact(&self) -> bool {
        !self.responses.is_empty() && self.responses.iter().all(|response| response.exact)
    }

    /// The program of the user's whose one run answers a treatment: nothing of it is measured, so that
    /// other treatments with this program need no run of their own. `None` where each needs one.
    pub fn program_of(&self, treatment: &crate::Treatment) -> Option<&str> {
        let programs = || self.programs.iter().map(|program| &program.level);
        let is_of_programs =
            |factor: &&Factor| factor.levels.iter().map(|level| &level.name).eq(programs());
        let factor = self.factors.iter().find(is_of_programs);
        let level = treatment.level(&factor.filter(|_| self.is_exact())?.name)?;
        programs().find(|known| *known == level).map(String::as_str)
    }

    /// Reports whether a finding or a claim asks how often a response happens. Its number at a treatment is
    /// then that frequency, and the median over blocks another thing.
    pub fn is_frequency(&self, response: &str) -> bool {
        let findings = self.findings.iter().map(|finding| &finding.quantity);
        let mut asked = findings.chain(self.claims.iter().map(|claim| &claim.quantity));
        asked.any(|quantity| {
            matches!(quantity, Quantity::Frequency { .. }) && quantity.response() == response
        })
    }

    /// The response of that name.
    pub fn response(&self, name: &str) -> Option<&Response> {
        self.responses.iter().find(|response| response.name == name)
    }
}

impl Level {
    /// A level of every profile that has no place on an axis.
    pub fn new(name: &str, about: &str) -> Self {
        let (name, about, label) = (name.into(), about.into(), String::new());
        Level { name, value: None, about, label, from: Profile::Smoke }
    }

    /// A level of every profile that is a number.
    pub fn number(value: u64, about: &str) -> Self {
        Level { value: Some(value as f64), ..Level::new(&value.to_string(), about) }
    }
}

impl Card {
    /// A card: from where, to where, how corrected, read from what.
    pub fn new(from: &str, to: &str, corrected: &str, source: &str) -> Self {
        Card {
            from: from.into(),
            to: to.into(),
            corrected: corrected.into(),
            source: source.into(),
        }
    }
}

impl Response {
    /// A response that is measured, and centred by its median.
    pub fn new(name: &str, label: &str, unit: Unit, card: Card) -> Self {
        Response {
            name: name.into(),
            label: label.into(),
            unit,
            center: Center::Median,
            cpu_twin: None,
            subtract: None,
            exact: false,
            independent: false,
            card,
            limits: Vec::new(),
        }
    }

    /// Whether its numbers have no noise of a clock, so that two that agree decide: exact counts, of
    /// things or of bytes, and what is computed.
    pub fn is_counted(&self) -> bool {
        self.exact || matches!(self.unit, Unit::Count | Unit::Bytes)
    }
}

impl Factor {
    /// The levels that a profile measures, of those that are wanted; an empty list means all.
    pub(crate) fn levels_of<'f>(
        &'f self,
        profile: Profile,
        wanted: &'f [String],
    ) -> impl Iterator<Item = &'f Level> {
        let named = |name| wanted.is_empty() || wanted.contains(name);
        self.levels.iter().filter(move |it| it.from <= profile && named(&it.name))
    }

    /// The level of that name.
    pub fn level(&self, name: &str) -> Option<&Level> {
        self.levels.iter().find(|level| level.name == name)
    }
}
