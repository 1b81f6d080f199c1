//! One session: from its trials to effects, verdicts, floors, tags and its summary.

pub(crate) mod costs;
pub(crate) mod diagnosis;
pub(crate) mod disturbance;
pub(crate) mod effect;
pub(crate) mod evidence;
pub(crate) mod floors;
pub(crate) mod grade;
pub(crate) mod harness;
pub(crate) mod input;
pub(crate) mod likeness;
pub(crate) mod lost;
pub(crate) mod meter;
pub(crate) mod need;
pub(crate) mod numbers;
pub(crate) mod outcomes;
pub(crate) mod places;
pub(crate) mod planted;
pub(crate) mod printed;
pub(crate) mod sample;
pub(crate) mod summary;
pub(crate) mod tags;
pub(crate) mod trends;
pub(crate) mod untagged;
pub(crate) mod variance;
pub(crate) mod verdict;
