use crate::{Cell, Design, Figure, Grid, Profile, Quantity, Treatment};
use std::collections::BTreeSet;

impl Design {
    /// Returns this design with these grids alone, whose levels every profile measures. It leaves out the levels
    /// that no grid reaches, and findings, claims, accounts, controls and figures that need other treatments.
    /// A figure stays if all factors that it varies still vary.
    #[must_use]
    pub fn with_grids_alone(&self, grids: Vec<Grid>) -> Design {
        let mut narrow = Design { grids, ..self.clone() };
        let levels = narrow.factors.iter_mut().flat_map(|factor| &mut factor.levels);
        levels.for_each(|level| level.from = Profile::Smoke);
        let planned = narrow.treatments(Profile::Thorough);
        for factor in &mut narrow.factors {
            let at = |name: &str| planned.iter().any(|it| it.level(&factor.name) == Some(name));
            factor.levels.retain(|level| level.name == factor.baseline || at(&level.name));
        }
        let asked = |quantity: &Quantity| quantity.is_planned(self, &planned);
        let has = |response: Option<&str>, cells: Vec<&Cell>| {
            cells.iter().all(|cell| self.plans(response, &self.complete(cell), &planned))
        };
        narrow.findings.retain(|it| asked(&it.quantity));
        narrow.claims.retain(|it| asked(&it.quantity));
        narrow.planted.retain(|it| asked(&it.quantity));
        narrow.accounts.retain(|it| it.terms().all(|term| has(term.response(), term.cells())));
        narrow.controls.retain(|it| has(Some(&it.response), vec![&it.a, &it.b]));
        narrow.diagnoses.retain(|it| {
            let suspects = it.suspects.iter().map(|suspect| &suspect.without);
            has(Some(&it.response), suspects.chain([&it.whole, &it.base]).collect())
        });
        let Design { findings, claims, headlines, figures, factors, .. } = &mut narrow;
        let known = |id: &String| {
            findings.iter().any(|it| it.id == *id) || claims.iter().any(|it| it.id == *id)
        };
        headlines.retain(|it| known(&it.of) && it.claim.as_ref().is_none_or(known));
        for (name, levels) in figures.iter_mut().flat_map(|figure| &mut figure.plot.at) {
            let factor = factors.iter().find(|factor| factor.name == *name);
            levels.retain(|level| factor.is_some_and(|factor| factor.level(level).is_some()));
        }
        let whole = narrow.clone();
        narrow.figures.retain(|Figure { plot, .. }| {
            let shown = plot.treatments(&whole, Profile::Thorough);
            plot.over.iter().chain(&plot.by).all(|factor| {
                let levels: BTreeSet<_> = shown.iter().map(|it| it.level(factor)).collect();
                levels.len() > 1
            })
        });
        for response in &mut narrow.responses {
            response.limits.retain(|limit| planned.iter().any(|it| it.matches(&limit.at)));
        }
        narrow
    }

    /// Reports whether a treatment is planned, and the control that is subtracted from the response there.
    fn plans(&self, response: Option<&str>, of: &Treatment, planned: &[Treatment]) -> bool {
        let response = response.and_then(|name| self.response(name));
        let control = response.and_then(|it| it.subtract.as_ref());
        planned.contains(of) && control.is_none_or(|at| planned.contains(&of.with(at)))
    }
}

impl Quantity {
    /// Reports whether some planned treatments of a design suffice for it.
    pub fn is_planned(&self, design: &Design, planned: &[Treatment]) -> bool {
        use Quantity as Q;
        let found = || self.treatments(design, planned).len();
        let needed = match self {
            Q::Exponent { .. } | Q::Linearity { .. } => return found() > 2,
            Q::Frequency { .. } => return found() > 0,
            Q::Proportion { over, lower, upper, at, .. } => {
                [lower, upper].map(|level| design.complete(&at.with(over, level))).to_vec()
            }
            _ => self.cells().into_iter().map(|cell| design.complete(cell)).collect(),
        };
        needed.iter().all(|it| design.plans(Some(self.response()), it, planned))
    }
}
