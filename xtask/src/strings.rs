//! `cargo xtask strings`: a random sample of the sentences that users read, for a reader to judge.

use crate::tidy::{Tree, sentences};
use anyhow::Result;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Prints `sample` sentences of the product's sources, each with its file and line. The same seed
/// prints the same sample of the same sources.
pub(crate) fn print(root: &Path, sample: usize, seed: Option<u64>) -> Result<()> {
    let seed = match seed {
        Some(seed) => seed,
        None => SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs(),
    };
    let tree = Tree::read(root)?;
    let mut all = sentences(&tree);
    let count = all.len();
    all.sort_by_cached_key(|sentence| {
        let mut hasher = DefaultHasher::new();
        (seed, sentence).hash(&mut hasher);
        hasher.finish()
    });
    all.truncate(sample);
    for (place, text) in &all {
        println!("{place}: {text}");
    }
    println!("-- {} of {count} strings, --seed {seed}", all.len());
    Ok(())
}
