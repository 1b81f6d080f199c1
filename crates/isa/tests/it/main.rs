//! The integration tests of the room `isa`: one binary, a module for each subject.

#![expect(clippy::unwrap_used, reason = "a test should stop where it fails")]

mod compressed;
mod document;
mod elf;
mod expand;
mod hostile;
mod icache;
mod pipeline_page;
mod qemu;
mod random;
mod reference;
mod rtl;
mod rtl_core;
