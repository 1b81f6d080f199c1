//! What is measured, apart from the interfaces that measure it: loops whose machine code is fixed, and
//! functions of libc that are weighed for what they share.

pub mod arithmetic;
pub mod blocks;
pub mod gate;
pub mod increment;
pub mod null;
pub mod relock;
pub mod tokens;
pub(crate) mod touch;
