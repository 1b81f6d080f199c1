//! What trials a manifest plans.

use model::{Design, Manifest, Profile, Record, Treatment};
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// The member with which a line begins: a hash of what its trial was planned by.
const STAMP: &str = "{\"manifest\":\"";

/// The digits of the hash that are kept.
const STAMP_DIGITS: usize = 16;

/// The treatments of each experiment of a session.
///
/// A reader makes a row for each treatment that has a trial, so trials may name those of the
/// manifest only, whose number is bounded.
#[derive(Debug, PartialEq)]
pub(crate) struct Plan {
    experiments: HashMap<String, HashSet<Treatment>>,
    /// A hash of the manifest's start, seed and designs.
    stamp: String,
}

impl Plan {
    /// The plan of a manifest that was checked, with its content as it is stored.
    pub(crate) fn of(manifest: &Manifest, content: &[u8]) -> Self {
        let value: Value = serde_json::from_slice(content).unwrap_or_default();
        let planned = ["started_unix_ms", "seed", "designs"].map(|name| value[name].to_string());
        let mut stamp = sys::hash::sha256(planned.join("\n").as_bytes());
        stamp.truncate(STAMP_DIGITS);
        Self::with(&manifest.designs, manifest.options.profile, stamp)
    }

    /// The plan of some designs.
    pub(crate) fn with(designs: &[Design], profile: Profile, stamp: String) -> Self {
        let treatments = designs
            .iter()
            .map(|design| (design.id.clone(), design.treatments(profile).into_iter().collect()));
        Plan { experiments: treatments.collect(), stamp }
    }

    /// Returns a record's line with the stamp in front.
    pub(crate) fn stamped(&self, line: &[u8]) -> Vec<u8> {
        let rest = line.strip_prefix(b"{").unwrap_or_default();
        [STAMP.as_bytes(), self.stamp.as_bytes(), b"\",", rest].concat()
    }

    /// Checks that a line is of this plan, as far as it says so: those of earlier versions do not.
    pub(crate) fn check_stamp(&self, line: &[u8]) -> Result<(), String> {
        let stamp = line.strip_prefix(STAMP.as_bytes());
        match stamp.is_none_or(|stamp| stamp.starts_with(self.stamp.as_bytes())) {
            true => Ok(()),
            false => Err("it is a trial of another session, or manifest.json is another one's: the start, \
                          the seed or an experiment differs; put the file back that belongs to the other"
                .into()),
        }
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
