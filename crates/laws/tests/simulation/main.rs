//! Simulated sessions with known truth: what intervals cover, which law is chosen, what is said of
//! a peak. Seeded, so that a failure is a change of the method and never bad luck.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod choice;
mod coverage;
mod planted;
