//! The treatments that findings and claims speak of, each with a short name.

use kit::declare::cell;
use kit::model::Cell;

/// A function with the one who enters it again.
pub(super) fn at(function: &str, reentry: &str) -> Cell {
    cell([("function", function), ("reentry", reentry)])
}
