//! A small RISC-V machine, RV32IMC with machine-mode traps: what it runs, what its instruction cache
//! sees, and what its pipeline loses. Everything here is exact and the same on every machine.
//!
//! The machine yields one [`Step`] per instruction. Caches and pipelines are fed with steps (or with
//! addresses) and know nothing of how an instruction is carried out; the machine knows neither.

pub mod cache;
mod step;

pub use step::{Access, Cause, Exception, Interrupt, Kind, Step, Trap};
