//! The kernel and the CPU: one file per interface, and the workloads that must be fixed machine code.
//!
//! This is the only room that may hold `unsafe`; every block argues why it is
//! sound. It knows nothing of experiments, of JSON, of trials or of sessions:
//! it asks the kernel, and hands back numbers with their units in their names.
//!
//! Rules of this room:
//! * Every system call's error is looked at. [`Error`] names the call, its
//!   object and the kernel's answer.
//! * Parsers take text and never panic on it; what they cannot read is `None`
//!   or an error, never a zero that could be taken for a measurement.
//! * What a forked child runs is kept small. Trial processes are
//!   single-threaded when they fork (see [`task`]).

#![cfg_attr(test, expect(clippy::unwrap_used, reason = "a test may stop at the first surprise"))]

pub mod accept_queue;
pub mod affinity;
pub mod allocator;
pub mod block;
pub mod calls;
pub mod cgroup;
pub mod clock;
pub mod condvar;
mod errno;
mod error;
pub mod eventfd;
pub mod files;
pub mod filter;
pub mod futex;
pub mod handler;
pub mod hash;
#[cfg(test)]
mod hostile;
pub mod inherited;
pub mod interrupt;
pub mod kworker;
pub mod launch;
pub mod limits;
pub mod machine;
pub mod mailbox;
pub mod needed;
pub mod netstat;
pub mod pagemap;
pub mod pages;
pub mod pauses;
pub mod perf;
pub mod pidfd;
pub mod poll;
pub mod proc;
pub mod process;
pub mod program;
pub mod refusal;
pub mod replace;
pub mod shared_futexes;
pub mod signal;
pub mod sock_diag;
pub mod stdio;
pub mod syscall;
pub mod task;
#[cfg(test)]
mod testing;
mod text;
pub mod timerfd;
pub mod topology;
pub mod tracer;
pub mod uclamp;
pub mod uring;
pub mod usage;
pub mod wait_signal;
mod workloads;

pub use error::{Error, Result};
pub use std::hint::black_box;
pub use task::Pid;
pub use workloads::{arithmetic, blocks, gate, increment, null, relock, tokens};
