//! What looks find threads to be doing.

use sys::task::Pid;

/// A thread: its process, and its own number.
pub(crate) type Name = (Pid, Pid);

/// The number of a wait among those that were found.
pub(crate) type WaitId = usize;

/// What threads were seen to be doing between two looks, as far as idle time depends on it.
#[derive(Clone, Debug)]
pub(crate) struct Doing {
    pub(crate) name: Name,
    /// What it calls itself.
    pub(crate) label: String,
    pub(crate) is_ready: bool,
    /// It had ended when it was looked, at a moment that nobody knows.
    pub(crate) has_ended: bool,
    /// It ran or waited for a CPU, in ns.
    pub(crate) busy_ns: i64,
    /// The part of it in which it waited for a CPU, in ns.
    pub(crate) ready_ns: i64,
    /// Of a worker that sleeps: how long it neither ran nor waited for a CPU, in ns.
    pub(crate) idle_ns: i64,
    /// CPU time since it was first seen, in ns.
    pub(crate) ran_ns: u64,
    pub(crate) wait: Option<Asked>,
}

/// A wait, and what it says of where its end comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) id: WaitId,
    pub(crate) since: Since,
    /// It is for another thread or process of the program.
    pub(crate) is_secondary: bool,
    /// It may be for something outside of the program.
    pub(crate) may_be_outside: bool,
}

/// What the look before found of the same thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Since {
    /// That it did not wait.
    New,
    /// That it was in this very wait.
    Lasting,
    /// That it waited, and it has run since.
    Renewed,
}
