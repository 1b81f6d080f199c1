//! What stands for the names of an experiment.

use crate::{Cell, Design, Inquiry, Quantity, Treatment, measures};
use std::collections::BTreeMap;

/// The factor whose levels are program files.
pub(super) const PROGRAM: &str = "program";

/// The names of one experiment, each with what stands for it. A name that is not among them stays.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    id: Option<String>,
    factors: BTreeMap<String, String>,
    /// By factor and level.
    levels: BTreeMap<String, BTreeMap<String, String>>,
    responses: BTreeMap<String, String>,
    are_of_a_user: bool,
}

impl Names {
    /// Returns what stands for the names in a design: for those that the user of a study chose, and for those of
    /// program files. All others are scruple's own.
    pub(super) fn of(design: &Design, inquiry: Option<Inquiry>) -> Names {
        let are_of_a_user = design.subject.is_some() || !design.programs.is_empty();
        let mut names = Names { are_of_a_user, ..Names::default() };
        let files = design.programs.iter().enumerate();
        let files: BTreeMap<String, String> =
            files.map(|(n, file)| (file.level.clone(), format!("program_{}", n + 1))).collect();
        if !files.is_empty() {
            names.levels.insert(PROGRAM.into(), files);
        }
        let Some(subject) = &design.subject else { return names };
        if matches!(inquiry, Some(Inquiry::Scale | Inquiry::Why)) {
            return names;
        }
        names.id = Some("study".into());
        let again = measures::again();
        let own = design.factors.iter().filter(|factor| **factor != again);
        for (place, factor) in own.enumerate() {
            names.factors.insert(factor.name.clone(), format!("factor_{}", place + 1));
            let words =
                factor.levels.iter().enumerate().filter(|(_, level)| !is_number(&level.name));
            let words = words
                .map(|(n, level)| (level.name.clone(), format!("f{}_level_{}", place + 1, n + 1)));
            names.levels.insert(factor.name.clone(), words.collect());
        }
        for (place, metric) in subject.metrics.iter().enumerate() {
            let unit = design.response(&metric.response).map(|response| &response.unit);
            let suffix = unit.and_then(|unit| unit.suffix()).unwrap_or_default();
            names
                .responses
                .insert(metric.response.clone(), format!("metric_{}{suffix}", place + 1));
        }
        names
    }

    /// Whether the experiment is about programs of the user's.
    pub(super) fn are_of_a_user(&self) -> bool {
        self.are_of_a_user
    }

    pub(super) fn id(&self, id: &str) -> String {
        self.id.clone().unwrap_or_else(|| id.into())
    }

    /// Whether another name stands for that of a factor, and for those of its levels.
    pub(super) fn replace(&self, factor: &str) -> bool {
        self.factors.contains_key(factor)
    }

    pub(super) fn factor(&self, name: &str) -> String {
        self.factors.get(name).map_or(name, String::as_str).into()
    }

    pub(super) fn level(&self, factor: &str, level: &str) -> String {
        let known = self.levels.get(factor).and_then(|levels| levels.get(level));
        known.map_or(level, String::as_str).into()
    }

    pub(super) fn response(&self, name: &str) -> String {
        self.responses.get(name).map_or(name, String::as_str).into()
    }

    pub(super) fn cell(&self, cell: &Cell) -> Cell {
        Cell(self.by_factor(&cell.0))
    }

    pub(super) fn treatment(&self, treatment: &Treatment) -> Treatment {
        match self.levels.is_empty() && self.factors.is_empty() {
            true => treatment.clone(),
            false => self.by_factor(&treatment.0).into_iter().collect(),
        }
    }

    fn by_factor(&self, levels: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        let one =
            |(factor, level): (&String, &String)| (self.factor(factor), self.level(factor, level));
        levels.iter().map(one).collect()
    }

    pub(super) fn quantity(&self, quantity: &Quantity) -> Quantity {
        use Quantity as Q;
        let response = self.response(quantity.response());
        match quantity {
            Q::Value { at, .. } => Q::Value { response, at: self.cell(at) },
            Q::Ratio { of, to, .. } => Q::Ratio { response, of: self.cell(of), to: self.cell(to) },
            Q::Quotient { by, at, .. } => {
                Q::Quotient { response, by: self.response(by), at: self.cell(at) }
            }
            Q::Difference { of, to, .. } => {
                Q::Difference { response, of: self.cell(of), to: self.cell(to) }
            }
            Q::Share { whole, without, base, .. } => Q::Share {
                response,
                whole: self.cell(whole),
                without: self.cell(without),
                base: self.cell(base),
            },
            Q::Exponent { over, at, .. } => {
                Q::Exponent { response, over: self.factor(over), at: self.cell(at) }
            }
            Q::Linearity { over, at, .. } => {
                Q::Linearity { response, over: self.factor(over), at: self.cell(at) }
            }
            Q::Proportion { over, lower, upper, at, .. } => Q::Proportion {
                response,
                over: self.factor(over),
                lower: self.level(over, lower),
                upper: self.level(over, upper),
                at: self.cell(at),
            },
            Q::Frequency { among, .. } => Q::Frequency { response, among: self.cell(among) },
        }
    }
}

/// Reports whether a level is a number: it has a place on an axis, and says nothing else.
fn is_number(level: &str) -> bool {
    level.parse::<f64>().is_ok_and(f64::is_finite)
}
