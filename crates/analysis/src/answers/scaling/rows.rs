//! What is said of each cause: data, which the rules of `cause` and `beyond` select from.

use model::{Bottleneck, Estimate, Grade, ScaleCause};
use serde::Deserialize;
use std::sync::LazyLock;

/// A bottleneck with a sentence and a remedy. `{}` in either stands for the one number that the finding
/// has.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    pub(super) cause: Bottleneck,
    sentence: String,
    #[serde(default)]
    remedy: String,
}

impl Row {
    /// Returns a cause as it is shown.
    pub(super) fn cause(
        &self,
        number: &str,
        (at, lost): (f64, Option<Estimate>),
        grade: Grade,
        evidence: Vec<String>,
    ) -> ScaleCause {
        let [sentence, remedy] = [&self.sentence, &self.remedy].map(|it| it.replace("{}", number));
        ScaleCause { cause: self.cause, at, lost, grade, sentence, evidence, remedy }
    }
}

/// All causes, by their names in `causes.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rows {
    /// The remedy where only throughput is known.
    pub(super) shape: String,
    pub(super) mutex: Row,
    pub(super) quota: Row,
    pub(super) neighbour: Row,
    pub(super) guests: Row,
    pub(super) confined: Row,
    pub(super) serial: Row,
    pub(super) kernel: Row,
    pub(super) hardware: Row,
    pub(super) spinning: Row,
    pub(super) spinning_or_hardware: Row,
    pub(super) unknown: Row,
    pub(super) nothing: Row,
    pub(super) cpus: Row,
    pub(super) turns: Row,
    pub(super) falls: Row,
    pub(super) flat: Row,
    pub(super) pairs: Row,
    pub(super) one_at_a_time: Row,
    pub(super) no_shape: Row,
}

/// The file as read; a test reads it.
pub(super) static ROWS: LazyLock<Rows> = LazyLock::new(|| {
    toml::from_str(include_str!("causes.toml")).unwrap_or_else(|error| unreachable!("{error}"))
});

#[cfg(test)]
mod tests {
    use super::ROWS;

    #[test]
    fn the_file_of_causes_is_read() {
        assert!(ROWS.nothing.sentence.contains("{}") && ROWS.flat.remedy.is_empty());
        assert!(!format!("{:?}", *ROWS).contains("  "));
    }
}
