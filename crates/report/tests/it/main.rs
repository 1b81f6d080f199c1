//! The integration tests of the room `report`: one binary, a module for each subject.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test should stop where it fails")]

mod advice;
mod any_session;
mod browser;
mod charts;
mod compared;
mod comparison;
mod comparison_text;
mod embedded;
mod fixture;
mod grown;
mod hostile;
mod load;
mod loads;
mod one_number;
mod page;
mod pictures;
mod plain;
mod recorded;
#[path = "../../../model/tests/scale/mod.rs"]
mod scale;
mod text;
