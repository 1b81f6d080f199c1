//! What several experiments share: where files lie, memory by the page size, programs by name,
//! numbers drawn at random, workers that count, threads that work at the same time.

pub(crate) mod arithmetic;
pub(crate) mod counting;
pub(crate) mod crowd;
pub(crate) mod memory;
pub(crate) mod program;
pub(crate) mod random;
pub(crate) mod storage;
