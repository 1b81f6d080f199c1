//! Sessions of one plan on many machines.
//!
//! This room submits jobs to Slurm, keeps the
//! shared folder in which they leave their sessions ([`Folder`]), takes in those of machines that share
//! nothing ([`Intake`]), and says what became of each node
//! ([`Fate`]). It knows Slurm and folders. It does not know what a session holds, what its numbers mean, or what
//! a page looks like, and it prints nothing.
//!
//! No text from outside is ever read by a shell: options are arguments of a process, the job's script is
//! the same for every fleet, and every name is checked against a set of characters before anything is
//! submitted ([`names`]).

#![cfg_attr(test, expect(clippy::unwrap_used, reason = "a test that cannot go on has failed"))]

mod command;
mod error;
mod fate;
mod folder;
mod intake;
mod jobs;
pub mod names;
mod nodes;
mod slurm;
mod tar;

pub use error::Error;
pub use fate::Fate;
pub use folder::{FLEET_FILE, Folder, Published, REPORT_FILE, RESULT_FILE};
pub use intake::{Files, Intake, Taken};
pub use nodes::{NODES_MAX, expand};
pub use slurm::usable;
