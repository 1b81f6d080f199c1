//! The causes and shapes with their words, from `causes.toml`.

use model::{Bottleneck, Estimate, Founding, ScaleCause};
use serde::Deserialize;
use std::sync::LazyLock;

/// A bottleneck with a sentence and a remedy. `{}` in either stands for the one number that the finding
/// has.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    pub(super) cause: Bottleneck,
    pub(super) sentence: String,
    #[serde(default)]
    pub(super) remedy: String,
}

impl Row {
    /// Returns a cause as it is shown.
    pub(super) fn cause(
        &self,
        number: &str,
        (at, lost): (f64, Option<Estimate>),
        standing: Founding,
        evidence: Vec<String>,
    ) -> ScaleCause {
        let [sentence, remedy] = [&self.sentence, &self.remedy].map(|it| it.replace("{}", number));
        ScaleCause { cause: self.cause, at, lost, standing, sentence, evidence, remedy }
    }
}

/// All causes, by their names in `causes.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rows {
    /// What is said where only throughput is known.
    pub(super) shape: ShapeRows,
    pub(super) mutex: Row,
    pub(super) quota: Row,
    pub(super) neighbour: Row,
    pub(super) guests: Row,
    pub(super) confined: Row,
    pub(super) pinned: Row,
    pub(super) own_threads: Row,
    pub(super) serial: Row,
    pub(super) alone: Row,
    pub(super) unequal: Row,
    pub(super) lock: Row,
    pub(super) handover: Row,
    pub(super) hidden: Row,
    pub(super) outside: Row,
    pub(super) still: Row,
    pub(super) still_hidden: Row,
    pub(super) memory: Row,
    pub(super) unclear: Row,
    pub(super) idle_cpus: Row,
    pub(super) kernel: Row,
    pub(super) hardware: Row,
    pub(super) repeated: Row,
    pub(super) repeated_part: Row,
    pub(super) repeated_or_busy: Row,
    pub(super) ignored: Row,
    pub(super) same: Row,
    pub(super) spinning: Row,
    pub(super) spin_lock: Row,
    pub(super) sharing: Row,
    pub(super) sharing_or_hardware: Row,
    pub(super) spinning_or_hardware: Row,
    pub(super) unknown: Row,
    pub(super) single: Row,
    pub(super) nothing: Row,
    pub(super) superlinear: Row,
    pub(super) cpus: Row,
    pub(super) turns: Row,
    pub(super) falls: Row,
}

/// The file as read; a test reads it.
pub(super) static ROWS: LazyLock<Rows> = LazyLock::new(|| {
    toml::from_str(include_str!("causes.toml")).unwrap_or_else(|error| unreachable!("{error}"))
});

/// What is said of each shape, from `causes.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ShapeRows {
    /// The remedy of a shape that has none of its own.
    pub(super) remedy: String,
    /// Follows a sentence about proportion where one worker was not measured.
    pub(super) no_speedup: String,
    pub(super) none: ShapeRow,
    pub(super) proportional: ShapeRow,
    pub(super) superlinear: ShapeRow,
    pub(super) bends: ShapeRow,
    pub(super) less: ShapeRow,
    pub(super) unsure: ShapeRow,
    pub(super) flat: ShapeRow,
    pub(super) no_rise: ShapeRow,
    pub(super) scattered: ShapeRow,
    pub(super) falls: ShapeRow,
}

/// `{}` stands for the number of workers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ShapeRow {
    pub(super) sentence: String,
    #[serde(default)]
    pub(super) explained: String,
    #[serde(default)]
    pub(super) remedy: String,
}

/// A cause with the name of what it is about.
pub(super) struct Found {
    pub(super) row: &'static Row,
    pub(super) name: String,
    pub(super) standing: Founding,
}

impl Found {
    pub(super) fn new(row: &'static Row, standing: Founding) -> Self {
        Found { row, name: String::new(), standing }
    }

    pub(super) fn named(row: &'static Row, name: String) -> Self {
        Found { row, name, standing: Founding::Consistent }
    }
}

#[cfg(test)]
mod tests {
    use super::ROWS;

    #[test]
    fn the_file_of_causes_is_read() {
        assert!(ROWS.nothing.sentence.contains("{}"));
        assert!(!format!("{:?}", *ROWS).contains("  "));
    }
}
