//! A real browser opens what `report` writes from disk and is asked what it sees.
//!
//! The screenshots under the target folder's `report-screenshots` are for people to look at.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test should stop where it fails")]

mod charts;
#[path = "../compared/mod.rs"]
mod compared;
mod comparison;
mod eyes;
#[path = "../fixture/mod.rs"]
mod fixture;
#[path = "../grown/mod.rs"]
mod grown;
#[path = "../hostile/mod.rs"]
mod hostile;
mod load;
#[path = "../loads/mod.rs"]
mod loads;
mod made_up;
#[path = "../predicted/mod.rs"]
mod predicted;
mod raw;
#[path = "../recorded/mod.rs"]
mod recorded;
