//! A real browser opens what `report` writes from disk and is asked what it sees.
//!
//! The screenshots under the target folder's `report-screenshots` are for people to look at.

mod charts;
mod comparison;
mod eyes;
mod figures;
mod front;
mod load;
mod made_up;
mod pipe;
mod raw;
mod waits;
