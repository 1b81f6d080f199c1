//! A small RISC-V machine, RV32IMC with machine-mode traps: what it runs, what its instruction cache
//! sees, and what its pipeline loses. Everything here is exact and the same on every machine.
//!
//! The machine yields one [`Step`] per instruction. Caches and pipelines are fed with steps (or with
//! addresses) and know nothing of how an instruction is carried out; the machine knows neither.

#![cfg_attr(test, expect(clippy::unwrap_used, reason = "a test may stop at the first surprise"))]

pub mod cache;
pub mod csr;
mod decode;
mod elf;
pub mod encode;
mod error;
mod expand;
mod machine;
pub mod pipeline;
mod program;
mod step;

pub use error::Error;
pub use expand::expand;
pub use machine::{
    Leaving, MEMORY_MAX_BYTES, MSIP_ADDRESS, MTIME_ADDRESS, MTIMECMP_ADDRESS, Machine, Misaligned,
    SEGMENTS_MAX, Setup, Stopped, TEXT_MAX_BYTES, TIMER_ADDRESS, TIMER_BYTES,
};
pub use program::{Program, Segment, Symbol};
pub use step::{Access, Cause, Exception, Interrupt, Kind, Step, Trap};
