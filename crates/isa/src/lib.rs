//! A small RISC-V machine, RV32IMAC with machine-mode traps: what it runs, what its instruction cache
//! sees, and what its pipeline loses. Everything here is exact and the same on every machine.
//!
//! The machine yields one [`Step`] per instruction. Caches and pipelines are fed with steps (or with
//! addresses) and know nothing of how an instruction is carried out; the machine knows neither.
//!
//! * [`assembly`]: programs from text, and text from instructions.
//! * [`encode`]: instruction words by name, for programs that are written here.
//! * [`Program`]: what is run, from such words or from an ELF file.
//! * [`Machine`]: runs it, and says of each instruction what it did and why it stopped ([`Stopped`]).
//! * [`expand()`]: compressed instructions as what they stand for.
//! * [`system`]: caches of both kinds and a pipeline together, for one run.
//! * [`trace`]: each step as a line of text.
//! * [`csr`]: numbers of control and status registers.
//!
//! What the machine is, chooses and leaves out stands in docs/machine.md.
//!
//! ```
//! use isa::encode::{A0, A1, ZERO, add, addi, bne, ret};
//! use isa::{Machine, Program, Setup, Stopped};
//!
//! let sum = [add(A1, A1, A0), addi(A0, A0, -1), bne(A0, ZERO, -8), ret()];
//! let mut machine = Machine::new(&Program::from_words(0x1000, &sum), &Setup::default())?;
//! machine.set_register(A0, 10);
//! let mut taken = 0;
//! let stopped = machine.run(1_000_000, |step| taken += u32::from(step.redirects()));
//! assert_eq!(stopped, Stopped::Left { pc: isa::HOME });
//! assert_eq!((machine.register(A1), machine.steps(), taken), (55, 31, 10));
//! # Ok::<(), isa::Error>(())
//! ```

#![cfg_attr(test, expect(clippy::unwrap_used, reason = "a test may stop at the first surprise"))]

pub mod assembly;
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
mod ram;
mod step;
pub mod system;
mod table;
pub mod trace;

// Tests of this folder share modules with those of `tests/it`, which know the room by its name.
#[cfg(test)]
extern crate self as isa;

pub use error::Error;
pub use expand::expand;
pub use machine::{
    Cycles, Folder, HOME, MEMORY_MAX_BYTES, MSIP_ADDRESS, MTIME_ADDRESS, MTIMECMP_ADDRESS, Machine,
    Misaligned, OUTPUT_MAX_BYTES, SEGMENTS_MAX, Setup, Stopped, TIMER_ADDRESS, TIMER_BYTES,
};
pub use program::{Program, Segment, Symbol};
pub use step::{Access, Cause, Exception, Interrupt, Kind, Step, Trap};
