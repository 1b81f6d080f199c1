//! What trials a manifest plans.

use model::{Design, Manifest, Profile, Record, Treatment};
use std::collections::{HashMap, HashSet};

/// The treatments of each experiment of a session.
///
/// A reader makes a row for each treatment that has a trial, so trials may name those of the
/// manifest only, whose number is bounded.
#[derive(Debug, PartialEq)]
pub(crate) struct Plan {
    experiments: HashMap<String, HashSet<Treatment>>,
}

impl Plan {
    /// The plan of a manifest that was checked.
    pub(crate) fn of(manifest: &Manifest) -> Self {
        Self::with(&manifest.designs, manifest.options.profile)
    }

    /// The plan of some designs.
    pub(crate) fn with(designs: &[Design], profile: Profile) -> Self {
        let treatments = designs
            .iter()
            .map(|design| (design.id.clone(), design.treatments(profile).into_iter().collect()));
        Plan { experiments: treatments.collect() }
    }

    /// The treatment of a record, as the plan holds it, if the record can be of a trial of this
    /// plan and is within its bounds.
    pub(crate) fn check(&self, record: &Record) -> Result<&Treatment, String> {
        record.check()?;
        let Some(treatments) = self.experiments.get(record.experiment.as_str()) else {
            let name = &record.experiment;
            return Err(format!("experiment {name} is none of its manifest's"));
        };
        treatments.get(&record.treatment).ok_or_else(|| {
            let (name, treatment) = (&record.experiment, &record.treatment);
            format!("{treatment} is no treatment of {name} in its manifest")
        })
    }
}
