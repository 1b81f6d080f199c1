//! What the processor's own counters counted.

use super::chapter::Chapter;
use crate::doc::{Block, Column, Table, Text};
use crate::words;
use model::{Record, Treatment};
use std::collections::BTreeMap;
use wording::number::count;

/// A figure of a trial: its head, and how it follows from the counts by name.
type Figure = (&'static str, fn(&dyn Fn(&str) -> Option<f64>) -> Option<f64>);

/// The figures that are shown, each as the median over trials.
const FIGURES: [Figure; 6] = [
    ("cycles", |of| of("cycles")),
    ("instructions", |of| of("instructions")),
    ("instructions per cycle", |of| Some(of("instructions")? / of("cycles")?)),
    ("cache misses per 1000 instructions", |of| per_1000(of("cache-misses")?, of("instructions")?)),
    ("branch misses per 1000 instructions", |of| {
        per_1000(of("branch-misses")?, of("instructions")?)
    }),
    ("cycles stalled, in %", |of| Some(100.0 * of("stalled-cycles-backend")? / of("cycles")?)),
];

fn per_1000(events: f64, instructions: f64) -> Option<f64> {
    Some(1000.0 * events / instructions)
}

/// Returns a table of what the processor counted, by treatment; nothing where it counted nothing.
pub(crate) fn counted(chapter: &Chapter<'_>) -> Vec<Block<'static>> {
    let mut trials: BTreeMap<&Treatment, Vec<&Record>> = BTreeMap::new();
    for record in &chapter.records {
        if record.measured.as_ref().is_some_and(|measured| measured.counters.pmu.iter().len() > 0) {
            trials.entry(&record.treatment).or_default().push(record);
        }
    }
    let known: Vec<&Figure> = FIGURES
        .iter()
        .filter(|one| trials.values().any(|all| middle(one, all).is_some()))
        .collect();
    if known.is_empty() {
        return Vec::new();
    }
    let mut trials: Vec<_> = trials.into_iter().collect();
    trials.sort_by_cached_key(|(treatment, _)| words::place(chapter.design, treatment));
    let mut table = Table::of(&["treatment"]).kind("wide", "what the processor counted");
    let heads = known.iter().map(|(head, _)| Column { head: (*head).into(), number: true });
    table.columns.extend(heads);
    for (treatment, records) in trials {
        let figures = known.iter().map(|one| middle(one, &records).map_or("–".into(), shown));
        let name = Text::from(chapter.name(treatment));
        table.row(std::iter::once(name).chain(figures.map(Text::from)));
    }
    let about = "Medians over trials, from the processor's counters (perf_event_open) of the threads of the trial \
                 while it measured. Child processes that are no workers are not counted.";
    vec![Block::Table(table), Block::small(about)]
}

fn middle((_, figure): &Figure, records: &[&Record]) -> Option<f64> {
    let of = |record: &&Record| {
        let counts = &record.measured.as_ref()?.counters.pmu;
        let value = figure(&|name| counts.get(name).map(|count| *count as f64))?;
        value.is_finite().then_some(value)
    };
    analysis::median(&records.iter().filter_map(of).collect::<Vec<_>>())
}

fn shown(value: f64) -> String {
    if value >= 1000.0 { count(value.round() as u64) } else { format!("{value:.2}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::say::chapter::chapters_without_figures;

    /// Returns the words of the table, if there is one.
    fn words(pmu: &[(&str, u64)]) -> Option<String> {
        let mut fixture = fixture::mechanisms(2);
        for measured in fixture.records.iter_mut().filter_map(|record| record.measured.as_mut()) {
            measured.counters.pmu = pmu.iter().map(|(name, n)| (*name, *n)).collect();
        }
        let fixture::Fixture { manifest, records, summary } = &fixture;
        let session = crate::Session { manifest, records, summary };
        let chapters = chapters_without_figures(&session);
        let blocks = counted(&chapters[0]);
        let Some(Block::Table(table)) = blocks.first() else { return None };
        let heads = table.columns.iter().map(|column| column.head.clone());
        let cells = table.rows[0].cells.iter().map(Text::words);
        Some(heads.chain(cells).collect::<Vec<_>>().join("|"))
    }

    #[test]
    fn what_the_processor_counted_is_shown_and_what_it_did_not_count_is_no_column() {
        assert_eq!(words(&[]), None);
        let few = words(&[("cycles", 2_000_000), ("instructions", 3_000_000)]).unwrap_or_default();
        assert!(few.starts_with("treatment|cycles|instructions|instructions per cycle|"), "{few}");
        assert!(few.ends_with("|1.50") && few.split('|').count() == 8, "{few}");
        // Nothing is divided by a counter that stood still.
        let still = words(&[("cycles", 0), ("instructions", 0), ("cache-misses", 5)]);
        let still = still.unwrap_or_default();
        assert!(still.ends_with("|0.00|0.00"), "{still}");
    }
}
