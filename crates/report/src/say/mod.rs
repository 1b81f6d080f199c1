//! Turns results into documents: every sentence that a reader sees is written here, once.

mod asked;

pub(crate) use asked::asked;
