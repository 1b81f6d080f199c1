//! Statistics of numbers: order, intervals, tests, frequencies. Nothing here knows what the numbers were
//! measured for.

pub(crate) mod dependence;
pub(crate) mod estimate;
pub(crate) mod floor;
pub(crate) mod frequency;
pub(crate) mod hommel;
pub mod interval;
pub(crate) mod order;
pub(crate) mod ranks;
pub(crate) mod tail;
