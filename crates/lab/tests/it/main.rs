//! The integration tests of the binary: one binary, a module for each subject.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test should stop where it fails")]

mod adverse;
mod advise;
mod ask;
mod book;
mod calibration;
mod cluster;
mod compare;
mod core;
mod doctor;
mod drawn;
mod drill;
mod export;
mod face;
mod figure;
mod fleet;
mod fleet_folder;
mod gather;
mod habits;
mod hdr_log;
mod killed;
mod kubernetes;
mod load;
mod load_ways;
mod many_sessions;
mod meanwhile;
mod method;
mod method_machine;
mod precious;
mod predict;
mod preset;
mod programs;
mod query;
mod recorded;
mod redact;
mod refused;
mod scale;
mod security;
mod selftest;
mod stranger;
mod study;
mod support;
mod syscalls;
mod waits;
mod why;
