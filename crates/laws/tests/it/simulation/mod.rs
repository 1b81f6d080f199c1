//! Simulated sessions with known truth: what intervals cover, which law is chosen, what is said of
//! a peak. Seeded, so that a failure is a change of the method and never bad luck.

mod choice;
mod coverage;
mod planted;
