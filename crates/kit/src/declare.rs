//! Short forms for declaring a design.
//!
//! ```
//! use kit::declare::{factor, level, median, response};
//! use model::{Profile, Unit};
//!
//! let pages = factor("pages", "how many pages are touched", "1")
//!     .level(level("1", "one page").value(1.0))
//!     .level(level("4096", "16 MiB").value(4096.0).from(Profile::Standard));
//! let touch = response("touch_ns", "time to touch a page", Unit::Ns).card(
//!     "before the first write",
//!     "after the last write",
//!     "divided by the number of pages",
//!     "clock_gettime(CLOCK_MONOTONIC)",
//! );
//! assert_eq!(pages.build().levels.len(), 2);
//! assert_eq!(touch.build().center, median());
//! ```

use model::{
    Account, Card, Cell, Center, Claim, Diagnosis, Factor, Finding, Grid, Level, Part, Planted,
    Profile, Quantity, Region, Response, Suspect, Term, Unit,
};

/// A level that carries the function (or any value) that realises it, so that the name in the
/// design and the code behind it cannot part.
#[derive(Clone, Copy, Debug)]
pub struct Named<T> {
    /// The level's name.
    pub name: &'static str,
    /// What the trial does at this level, in one line.
    pub about: &'static str,
    /// The smallest profile that measures it.
    pub from: Profile,
    /// What realises it.
    pub by: T,
}

impl<T> Named<T> {
    /// A level of every profile.
    pub const fn new(name: &'static str, about: &'static str, by: T) -> Self {
        Named { name, about, from: Profile::Smoke, by }
    }

    /// A level measured from a larger profile on.
    pub const fn from(name: &'static str, about: &'static str, from: Profile, by: T) -> Self {
        Named { name, about, from, by }
    }
}

/// Begins a factor.
pub fn factor(name: &str, about: &str, baseline: &str) -> FactorBuilder {
    FactorBuilder(Factor {
        name: name.into(),
        about: about.into(),
        levels: Vec::new(),
        baseline: baseline.into(),
        unit: None,
    })
}

/// A factor under construction.
#[derive(Clone, Debug)]
pub struct FactorBuilder(Factor);

impl FactorBuilder {
    /// Adds a level.
    #[must_use]
    pub fn level(mut self, level: LevelBuilder) -> Self {
        self.0.levels.push(level.0);
        self
    }

    /// Adds the levels of a table that also holds what realises them.
    #[must_use]
    pub fn named<T>(mut self, table: &[Named<T>]) -> Self {
        self.0.levels.extend(table.iter().map(|named| Level {
            name: named.name.into(),
            value: None,
            about: named.about.into(),
            from: named.from,
        }));
        self
    }

    /// Adds one numeric level per value, named by the number.
    #[must_use]
    pub fn numbers(mut self, from: Profile, about: &str, values: &[u64]) -> Self {
        self.0.levels.extend(values.iter().map(|value| Level {
            name: value.to_string(),
            value: Some(*value as f64),
            about: about.into(),
            from,
        }));
        self
    }

    /// What the levels' values are measured in. An axis of bytes shows this machine's caches.
    #[must_use]
    pub fn unit(mut self, unit: Unit) -> Self {
        self.0.unit = Some(unit);
        self
    }

    /// The factor, its numeric levels in ascending order.
    pub fn build(mut self) -> Factor {
        if self.0.levels.iter().all(|level| level.value.is_some()) {
            self.0
                .levels
                .sort_by(|a, b| a.value.partial_cmp(&b.value).unwrap_or(std::cmp::Ordering::Equal));
        }
        self.0
    }
}

/// Begins a level that every profile measures.
pub fn level(name: &str, about: &str) -> LevelBuilder {
    LevelBuilder(Level {
        name: name.into(),
        value: None,
        about: about.into(),
        from: Profile::Smoke,
    })
}

/// A level under construction.
#[derive(Clone, Debug)]
pub struct LevelBuilder(Level);

impl LevelBuilder {
    /// Where it lies on an axis.
    #[must_use]
    pub fn value(mut self, value: f64) -> Self {
        self.0.value = Some(value);
        self
    }

    /// The smallest profile that measures it.
    #[must_use]
    pub fn from(mut self, from: Profile) -> Self {
        self.0.from = from;
        self
    }
}

/// A grid: the factors named vary over the levels named (none: all), the others stand at their
/// baselines.
pub fn grid(from: Profile, vary: &[(&str, &[&str])]) -> Grid {
    Grid {
        from,
        vary: vary
            .iter()
            .map(|(factor, levels)| {
                (factor.to_string(), levels.iter().map(|level| level.to_string()).collect())
            })
            .collect(),
    }
}

/// The median: the center of durations.
pub const fn median() -> Center {
    Center::Median
}

/// Begins a response whose observations are centred by their median.
pub fn response(name: &str, label: &str, unit: Unit) -> ResponseBuilder {
    ResponseBuilder(Response {
        name: name.into(),
        label: label.into(),
        unit,
        center: Center::Median,
        cpu_twin: None,
        subtract: None,
        exact: false,
        independent: false,
        card: Card::default(),
        limits: Vec::new(),
    })
}

/// A response under construction.
#[derive(Clone, Debug)]
pub struct ResponseBuilder(Response);

impl ResponseBuilder {
    /// Declares that the chances of one trial are independent by construction
    /// ([`Response::independent`]).
    #[must_use]
    pub fn independent(mut self) -> Self {
        self.0.independent = true;
        self
    }

    /// How a trial's observations become its one number.
    #[must_use]
    pub fn center(mut self, center: Center) -> Self {
        self.0.center = center;
        self
    }

    /// The response that holds the CPU time of the same work.
    #[must_use]
    pub fn cpu_twin(mut self, name: &str) -> Self {
        self.0.cpu_twin = Some(name.into());
        self
    }

    /// The control whose value analysis subtracts.
    #[must_use]
    pub fn subtract(mut self, control: Cell) -> Self {
        self.0.subtract = Some(control);
        self
    }

    /// It is computed, not measured: the trial gives the same number on every machine, and has
    /// computed it twice to be sure.
    #[must_use]
    pub fn exact(mut self) -> Self {
        self.0.exact = true;
        self
    }

    /// The definition card: from where, to where, how corrected, read from what.
    #[must_use]
    pub fn card(mut self, from: &str, to: &str, corrected: &str, source: &str) -> Self {
        self.0.card = Card {
            from: from.into(),
            to: to.into(),
            corrected: corrected.into(),
            source: source.into(),
        };
        self
    }

    /// The response.
    pub fn build(self) -> Response {
        self.0
    }
}

/// A finding for which measuring goes on until it is precise.
pub fn finding(id: &str, sentence: &str, quantity: Quantity) -> Finding {
    Finding { id: id.into(), sentence: sentence.into(), quantity, drives: true }
}

/// A finding that is reported as precise as it happens to be.
pub fn remark(id: &str, sentence: &str, quantity: Quantity) -> Finding {
    Finding { id: id.into(), sentence: sentence.into(), quantity, drives: false }
}

/// A claim: who says what, why, and the number that decides.
pub fn claim(id: &str, source: &str, text: &str, mechanism: &str) -> ClaimBuilder {
    ClaimBuilder {
        id: id.into(),
        source: source.into(),
        text: text.into(),
        mechanism: mechanism.into(),
        note: String::new(),
    }
}

/// A claim under construction.
#[derive(Clone, Debug)]
pub struct ClaimBuilder {
    id: String,
    source: String,
    text: String,
    mechanism: String,
    note: String,
}

impl ClaimBuilder {
    /// What a reader should know about the verdict, whichever it is.
    #[must_use]
    pub fn note(mut self, note: &str) -> Self {
        self.note = note.into();
        self
    }

    /// The number that decides, and where it lies if the claim is true.
    pub fn holds_if(self, quantity: Quantity, region: Region) -> Claim {
        Claim {
            id: self.id,
            text: self.text,
            source: self.source,
            mechanism: self.mechanism,
            quantity,
            holds_if: region,
            note: self.note,
        }
    }
}

/// A known answer: where its number lies as planted, and what it would be without.
pub fn planted(id: &str, what: &str, quantity: Quantity, without: f64, truth: Region) -> Planted {
    Planted { id: id.into(), what: what.into(), quantity, without, truth, size: None }
}

/// A known answer with its size: the effect as a share of what it was planted into, by which a
/// machine is graded.
pub fn sized(planted: Planted, size: f64) -> Planted {
    Planted { size: Some(size), ..planted }
}

/// Begins the search for the cause of a gap in a response, from the treatment `base` to the
/// treatment `whole`.
pub fn diagnosis(
    id: &str,
    what: &str,
    response: &str,
    whole: Cell,
    base: Cell,
) -> DiagnosisBuilder {
    DiagnosisBuilder(Diagnosis {
        id: id.into(),
        what: what.into(),
        response: response.into(),
        whole,
        base,
        suspects: Vec::new(),
        planted: None,
    })
}

/// A diagnosis under construction.
#[derive(Clone, Debug)]
pub struct DiagnosisBuilder(Diagnosis);

impl DiagnosisBuilder {
    /// Adds what may be the cause.
    #[must_use]
    pub fn suspects(mut self, suspects: impl IntoIterator<Item = Suspect>) -> Self {
        self.0.suspects.extend(suspects);
        self
    }

    /// The suspect that is the cause, because it was planted.
    #[must_use]
    pub fn planted(mut self, suspect: &str) -> Self {
        self.0.planted = Some(suspect.into());
        self
    }

    /// The diagnosis.
    pub fn build(self) -> Diagnosis {
        self.0
    }
}

/// A suspect, and the treatment from which it was removed.
pub fn suspect(name: &str, without: Cell) -> Suspect {
    Suspect { name: name.into(), without }
}

/// The response at one treatment.
pub fn value(response: &str, at: Cell) -> Quantity {
    Quantity::Value { response: response.into(), at }
}

/// Response at one treatment divided by that at another.
pub fn ratio(response: &str, of: Cell, to: Cell) -> Quantity {
    Quantity::Ratio { response: response.into(), of, to }
}

/// Response at one treatment less that at another.
pub fn difference(response: &str, of: Cell, to: Cell) -> Quantity {
    Quantity::Difference { response: response.into(), of, to }
}

/// The share of the gap `whole` − `base` that vanishes at `without`.
pub fn share(response: &str, whole: Cell, without: Cell, base: Cell) -> Quantity {
    Quantity::Share { response: response.into(), whole, without, base }
}

/// The exponent of the response's growth over a numeric factor.
pub fn exponent(response: &str, over: &str, at: Cell) -> Quantity {
    Quantity::Exponent { response: response.into(), over: over.into(), at }
}

/// R² of a straight line through the response over a numeric factor.
pub fn linearity(response: &str, over: &str, at: Cell) -> Quantity {
    Quantity::Linearity { response: response.into(), over: over.into(), at }
}

/// How far the response at `upper` is from proportional to that at `lower`.
pub fn proportion(response: &str, over: &str, lower: &str, upper: &str, at: Cell) -> Quantity {
    Quantity::Proportion {
        response: response.into(),
        over: over.into(),
        lower: lower.into(),
        upper: upper.into(),
        at,
    }
}

/// The share of observations above zero among the trials that match a cell.
pub fn frequency(response: &str, among: Cell) -> Quantity {
    Quantity::Frequency { response: response.into(), among }
}

/// A cell from pairs of factor and level.
pub fn cell<const N: usize>(pairs: [(&str, &str); N]) -> Cell {
    Cell::new(pairs)
}

/// A cost account: what the response `total` at one treatment is made of.
pub fn account(id: &str, title: &str, total: Term, parts: Vec<Part>) -> Account {
    Account { id: id.into(), title: title.into(), total, parts }
}

/// One line of an account: so many, each at its cost in the unit of the total.
pub fn part(label: &str, count: Term, each: Term) -> Part {
    Part { label: label.into(), count, each }
}

/// A number known beforehand.
pub fn known(value: f64) -> Term {
    Term::Known { value }
}

/// A response at one treatment, in an account.
pub fn measured(response: &str, at: Cell) -> Term {
    Term::Measured { response: response.into(), at }
}

/// A response at `of` less the same at `to`, in an account.
pub fn beyond(response: &str, of: Cell, to: Cell) -> Term {
    Term::Difference { response: response.into(), of, to }
}
