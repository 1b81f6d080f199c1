//! What several experiments share: where files lie, memory by the page size, programs by name,
//! numbers drawn at random, passes of arithmetic, workers that do the same at the same time, and
//! count.

pub(crate) mod arithmetic;
pub(crate) mod counting;
pub(crate) mod memory;
pub(crate) mod party;
pub(crate) mod passes;
pub(crate) mod program;
pub(crate) mod random;
pub(crate) mod storage;
