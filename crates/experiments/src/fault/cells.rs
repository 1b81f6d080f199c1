//! The treatments that findings and claims speak of, each with a short name.

use kit::declare::cell;
use kit::model::Cell;

/// A kind of touch, all else at the baselines.
pub(super) fn by(kind: &str) -> Cell {
    cell([("kind", kind)])
}

/// A kind of touch after an advice.
pub(super) fn advised(kind: &str, advice: &str) -> Cell {
    by(kind).with("advice", advice)
}

/// A page at a time, in no order and without reading ahead: where each touch stands alone.
pub(super) fn alone(kind: &str) -> Cell {
    advised(kind, "random").with("access", "random")
}

/// The second walk over a file under a limit, in order. Half of it must hold several windows of
/// reading ahead, which are 8 MiB on some disks: else pages are thrown away before they are used.
pub(super) fn limited(limit: &str) -> Cell {
    by("file_warm").with("limit", limit).with("size", "64")
}

/// The same where the kernel is told that it will be in order.
pub(super) fn limited_and_told(limit: &str) -> Cell {
    limited(limit).with("advice", "sequential")
}

/// The walk over pages that are mapped already, in the same order over as much memory.
pub(super) fn control() -> Cell {
    cell([("kind", "resident"), ("advice", "none"), ("limit", "none")])
}
