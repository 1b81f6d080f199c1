//! What several experiments share: where files lie, programs by name, numbers drawn at random, counting together.

pub(crate) mod arithmetic;
pub(crate) mod counting;
pub(crate) mod program;
pub(crate) mod random;
pub(crate) mod storage;
