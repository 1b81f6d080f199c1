use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Some factors with their levels.
///
/// Where one treatment is meant, the factors that are not named stand at their baselines; where
/// a set of treatments is meant, they are free.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Cell(pub BTreeMap<String, String>);

impl Cell {
    /// A cell from pairs of factor and level.
    pub fn new<const N: usize>(pairs: [(&str, &str); N]) -> Self {
        Cell(pairs.iter().map(|(factor, level)| (factor.to_string(), level.to_string())).collect())
    }

    /// This cell with one more factor fixed (or moved).
    #[must_use]
    pub fn with(&self, factor: &str, level: &str) -> Self {
        let mut cell = self.clone();
        cell.0.insert(factor.to_string(), level.to_string());
        cell
    }
}

/// A number that the data determine, with an interval.
///
/// All of them are formed **block by block** from one number per trial, so that what disturbs a
/// whole block cancels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Quantity {
    /// The response at one treatment.
    Value {
        /// The response.
        response: String,
        /// The treatment.
        at: Cell,
    },
    /// Response at `of` divided by response at `to`.
    Ratio {
        /// The response.
        response: String,
        /// The numerator's treatment.
        of: Cell,
        /// The denominator's treatment.
        to: Cell,
    },
    /// A response divided by another of the same unit at the same treatment, within the trial: for a program
    /// that measures two variants in one run.
    Quotient {
        /// The response that is divided.
        response: String,
        /// The response that divides it.
        by: String,
        /// The treatment.
        at: Cell,
    },
    /// Response at `of` less response at `to`.
    Difference {
        /// The response.
        response: String,
        /// The treatment subtracted from.
        of: Cell,
        /// The treatment subtracted.
        to: Cell,
    },
    /// The share of a gap that vanishes when a suspected cause is removed (an ablation):
    /// (whole − without) / (whole − base).
    Share {
        /// The response.
        response: String,
        /// The treatment with the cause.
        whole: Cell,
        /// The treatment with the cause removed.
        without: Cell,
        /// The treatment the gap is measured to.
        base: Cell,
    },
    /// The exponent b of response ∝ levelᵇ: slope of log response over log level by least
    /// squares. 1 is linear growth, 0 none.
    Exponent {
        /// The response.
        response: String,
        /// The numeric factor that varies, over its levels above 0.
        over: String,
        /// The other factors.
        at: Cell,
    },
    /// The coefficient of determination R² of a straight line through the response over a
    /// numeric factor.
    Linearity {
        /// The response.
        response: String,
        /// The numeric factor that varies.
        over: String,
        /// The other factors.
        at: Cell,
    },
    /// How far the response at the upper level of a numeric factor lies above (1 +) or below the
    /// straight line through the origin and the response at the lower level:
    /// (upper response / lower response) / (upper level / lower level). 1 is proportional.
    Proportion {
        /// The response.
        response: String,
        /// The numeric factor.
        over: String,
        /// The lower level, at which the line is fixed.
        lower: String,
        /// The upper level, which is judged.
        upper: String,
        /// The other factors.
        at: Cell,
    },
    /// The share of events among all chances of the trials that match a cell: of workers that
    /// escaped, of signals that were lost. An observation over one operation is an event if it is
    /// above zero; one over n operations (`Series::per`) is that many events among n.
    ///
    /// Interval: Clopper–Pearson; where the trials differ by more than chance, with the effective
    /// number of chances of Korn and Graubard.
    Frequency {
        /// A response whose observations count events.
        response: String,
        /// The trials that count; factors not named are free.
        among: Cell,
    },
}

impl Quantity {
    /// All responses it is formed from.
    pub fn responses(&self) -> impl Iterator<Item = &str> {
        let by = match self {
            Quantity::Quotient { by, .. } => Some(by.as_str()),
            _ => None,
        };
        std::iter::once(self.response()).chain(by)
    }

    /// Reports whether it is one number divided by another of the same unit, and so read as a multiple.
    pub fn is_multiple(&self) -> bool {
        matches!(
            self,
            Quantity::Ratio { .. } | Quantity::Quotient { .. } | Quantity::Proportion { .. }
        )
    }

    /// The response it is formed from; of two, the first.
    pub fn response(&self) -> &str {
        match self {
            Quantity::Value { response, .. }
            | Quantity::Ratio { response, .. }
            | Quantity::Quotient { response, .. }
            | Quantity::Difference { response, .. }
            | Quantity::Share { response, .. }
            | Quantity::Exponent { response, .. }
            | Quantity::Linearity { response, .. }
            | Quantity::Proportion { response, .. }
            | Quantity::Frequency { response, .. } => response,
        }
    }
}

/// An interval of the real line; an end that is absent is infinite.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Region {
    /// The lower end, which belongs to the region.
    pub low: Option<f64>,
    /// The upper end, which belongs to the region.
    pub high: Option<f64>,
}

impl Region {
    /// From `low` upwards.
    pub fn above(low: f64) -> Self {
        Region { low: Some(low), high: None }
    }

    /// Up to `high`.
    pub fn below(high: f64) -> Self {
        Region { low: None, high: Some(high) }
    }

    /// From `low` to `high`.
    pub fn within(low: f64, high: f64) -> Self {
        Region { low: Some(low), high: Some(high) }
    }

    /// `value` divided and multiplied by 1 + `margin`: what "about" means for a ratio.
    pub fn about(value: f64, margin: f64) -> Self {
        Region::within(value / (1.0 + margin), value * (1.0 + margin))
    }

    /// Whether a number lies in the region.
    pub fn contains(&self, x: f64) -> bool {
        self.low.is_none_or(|low| x >= low) && self.high.is_none_or(|high| x <= high)
    }
}

/// A quantity that answers the experiment's question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// Its name within the experiment.
    pub id: String,
    /// A sentence with `{}` where the value and its interval stand.
    pub sentence: String,
    /// The number.
    pub quantity: Quantity,
    /// Whether measuring goes on until this number is as precise as the design asks.
    pub drives: bool,
}

/// A statement the data can refute.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Claim {
    /// Its name within the experiment.
    pub id: String,
    /// The statement.
    pub text: String,
    /// Who makes it.
    pub source: String,
    /// Why it is believed to be so: the mechanism.
    pub mechanism: String,
    /// The number that decides.
    pub quantity: Quantity,
    /// Where the number lies if the claim is true.
    pub holds_if: Region,
    /// What a reader should know about the verdict, whichever it is; may be empty.
    pub note: String,
    /// The number in the claim's own words, with its place: `{}` as it is, `{share}` as a part of a whole,
    /// `{rest}` as what is missing to the whole, `{8 ×}` as a multiple of an eighth. May be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub shown: String,
}

/// How a number is read in the words of its claim.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reading {
    /// As it is.
    Itself,
    /// As a part of a whole that is 1.
    Share,
    /// As what is missing to a whole that is 1.
    Rest,
    /// As a multiple of such a part.
    Times(f64),
}

impl Claim {
    /// Returns the words before the number, how it is read, and the words behind it; `None` where the claim has no
    /// words of its own for it, or none that can be read.
    pub fn shown(&self) -> Option<(&str, Reading, &str)> {
        let (before, rest) = self.shown.split_once('{')?;
        let (place, after) = rest.split_once('}')?;
        let reading = match place {
            "" => Reading::Itself,
            "share" => Reading::Share,
            "rest" => Reading::Rest,
            times => {
                let times = times.strip_suffix('×')?.trim().parse().ok()?;
                Reading::Times(Some(times).filter(|times: &f64| times.is_finite() && *times > 0.0)?)
            }
        };
        Some((before, reading, after))
    }
}

/// Two treatments that are the same in all but name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Control {
    /// The response compared.
    pub response: String,
    /// One of them.
    pub a: Cell,
    /// The other.
    pub b: Cell,
}
