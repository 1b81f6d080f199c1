//! What /proc says of a task and of the machine.
//!
//! The parsers take text, are tested on hostile texts, and answer `None` or an
//! error where they cannot read it: a number that is missing is never a zero.

mod census;
mod listeners;
mod load;
mod memory;
mod task;
mod threads;
pub mod wait;

pub use census::{Census, Found, last_given};
pub use listeners::listeners;
pub use load::{
    MachineCpu, MemInfo, load, machine_cpu, meminfo, neighbours, oom_kills, parse_meminfo,
    parse_pressure, pressure, tick_ns,
};
pub use memory::{Memory, Resident, memory, parse_memory, resident};
pub use task::{
    Io, SchedStat, Stat, Status, io, migrations_thread, parse_io, parse_schedstat, parse_stat,
    parse_status, schedstat_process, schedstat_thread, stat, status,
};
pub use threads::{Thread, io_of_children, is_thread_of, thread_name};

/// The file or folder `name` of the process `pid`.
fn path(pid: crate::Pid, name: &str) -> String {
    format!("/proc/{pid}/{name}")
}

#[cfg(test)]
pub(crate) use load::{parse_load, parse_machine_stat};

#[cfg(test)]
pub(crate) use memory::parse_statm;

#[cfg(test)]
mod tests;
