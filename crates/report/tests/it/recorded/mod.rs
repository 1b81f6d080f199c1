//! The sessions under `recorded/`, as they were measured.

use crate::fixture::Fixture;
use model::{Manifest, Record, Summary};
use std::path::Path;

/// A recorded session: `base` or `later`.
pub(crate) fn session(name: &str) -> Fixture {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../recorded").join(name);
    let read = |file: &str| std::fs::read_to_string(folder.join(file)).unwrap();
    let manifest: Manifest = serde_json::from_str(&read("manifest.json")).unwrap();
    let records: Vec<Record> =
        read("trials.ndjson").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let summary = summary(&manifest, &records);
    Fixture { manifest, records, summary }
}

/// What the analysis makes of trials.
pub(crate) fn summary(manifest: &Manifest, records: &[Record]) -> Summary {
    analysis::summarise(&analysis::Input {
        scruple: &manifest.scruple,
        session: &manifest.session,
        complete: true,
        environment: &manifest.environment,
        shield: &manifest.shield,
        designs: &manifest.designs,
        records,
    })
}
