//! The treatments that findings and claims speak of, each with a short name.

use kit::declare::{cell, share};
use kit::model::{Cell, Quantity};

/// A mechanism in a bare parent, on one CPU.
pub(super) fn by(mechanism: &str) -> Cell {
    cell([("mechanism", mechanism)])
}

/// The same where the parent has touched so many MiB.
pub(super) fn with_memory(mechanism: &str, touched: &str) -> Cell {
    by(mechanism).with("touched", touched)
}

pub(super) fn placed(mechanism: &str, placement: &str) -> Cell {
    by(mechanism).with("placement", placement)
}

/// The part of the gap between fork and a thread that vanishes without libc.
pub(super) fn of_libc(touched: &str) -> Quantity {
    share(
        "whole_ns",
        with_memory("fork", touched),
        with_memory("clone_copy", touched),
        with_memory("pthread", touched),
    )
}

/// The part of the gap between a bare copy and a thread that vanishes where the memory is shared.
pub(super) fn of_the_copy(touched: &str) -> Quantity {
    share(
        "whole_ns",
        with_memory("clone_copy", touched),
        with_memory("clone_vm", touched),
        with_memory("pthread", touched),
    )
}
