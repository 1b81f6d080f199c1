//! What several experiments share: where files lie, programs by name, numbers drawn at random, counting together.

pub(crate) mod arithmetic;
pub(crate) mod counting;
//! What several experiments share: where files lie, programs by name, numbers drawn at random,
//! threads that work at the same time.

pub(crate) mod arithmetic;
pub(crate) mod crowd;
pub(crate) mod program;
pub(crate) mod random;
pub(crate) mod storage;
