use crate::{Design, Profile, Treatment};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A figure of a report: what is drawn of an experiment, and under which title.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Figure {
    /// Its name in the file that declares it.
    pub id: String,
    /// Its title.
    pub title: String,
    /// What the first screen of a report calls it; empty where that does not name it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub link: String,
    /// Words by which people look for it, beyond those of its title.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<String>,
    /// What it shows.
    pub plot: Plot,
}

/// What a figure shows: responses at some treatments, over an axis or in rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Plot {
    /// The responses; each has panels of its own.
    pub responses: Vec<String>,
    /// Another response that divides the one that is shown, within each trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub divided_by: Option<String>,
    /// What of them.
    #[serde(default, skip_serializing_if = "Drawn::is_value")]
    pub drawn: Drawn,
    /// The numeric factor of the horizontal axis; none if each treatment is a row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<String>,
    /// The factors that vary besides: the first has a line or a row for each level, the others have
    /// panels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by: Vec<String>,
    /// Whether each combination of the first two factors of `by` has a line or a row.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub crossed: bool,
    /// Levels by factor: those that are shown of a factor that varies, and the one at which another
    /// stands. Factors that are named nowhere stand at their baselines.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub at: BTreeMap<String, Vec<String>>,
}

/// What a figure shows of a response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Drawn {
    /// The response itself.
    #[default]
    Value,
    /// The speed-up: a time at the lowest level of the axis by that at each level; of a rate, the inverse.
    Speedup,
    /// The speed-up by how many times the level is the lowest one.
    Efficiency,
}

impl Drawn {
    /// Reports whether it is the response itself.
    pub fn is_value(&self) -> bool {
        *self == Drawn::Value
    }
}

impl Plot {
    /// Returns how many factors of `by` tell lines or rows apart; the others have panels.
    pub fn lines_of(&self) -> usize {
        self.by.len().min(if self.crossed { 2 } else { 1 })
    }

    /// Reports whether a factor varies in the figure.
    pub fn varies(&self, factor: &str) -> bool {
        self.over.iter().chain(&self.by).any(|name| name == factor)
    }

    /// Returns the treatments of a design that the figure shows in a profile.
    pub fn treatments(&self, design: &Design, profile: Profile) -> Vec<Treatment> {
        let mut all = design.treatments(profile);
        all.retain(|treatment| self.shows(design, treatment));
        all
    }

    fn shows(&self, design: &Design, treatment: &Treatment) -> bool {
        design.factors.iter().all(|factor| {
            let level = treatment.level(&factor.name).unwrap_or_default();
            match self.at.get(&factor.name) {
                Some(levels) => levels.iter().any(|known| known == level),
                None => self.varies(&factor.name) || level == factor.baseline,
            }
        })
    }
}
