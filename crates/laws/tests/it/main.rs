//! The integration tests of the room `laws`: one binary, a module for each subject.

#![expect(clippy::unwrap_used, reason = "a test should stop where it fails")]

mod document;
mod oracle;
mod queues;
mod reference;
mod scaling;
mod simulation;
mod simulation_page;
