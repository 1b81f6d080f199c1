//! The integration tests of the room `store`: one binary, a module for each subject.

#![expect(clippy::unwrap_used, reason = "a test should stop where it fails")]

#[path = "../../../model/tests/damage/mod.rs"]
mod damage;
mod folder;
mod hostile;
#[path = "../../../model/tests/scale/mod.rs"]
mod scale;
mod session;
mod support;
