//! The treatments that findings and claims speak of, each with a short name.

use kit::declare::cell;
use kit::model::Cell;

/// A ring of two processes with so much memory each.
pub(super) fn ring(working_set: &str) -> Cell {
    cell([("kind", "ring"), ("working_set", working_set)])
}

/// Its control of the same total footprint.
pub(super) fn single(working_set: &str) -> Cell {
    ring(working_set).with("kind", "single")
}

/// lmbench's control: one buffer.
pub(super) fn own(working_set: &str) -> Cell {
    ring(working_set).with("kind", "self")
}

/// A ring of so many processes or threads without memory.
pub(super) fn of(model: &str, tasks: &str) -> Cell {
    ring("none").with("model", model).with("tasks", tasks)
}
