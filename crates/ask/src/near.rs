//! The known word that a mistyped one is nearest to.

/// Words that differ by more than this part of their letters are not meant for one another.
const LIKENESS_MIN: f64 = 0.7;

/// Known words that an error names.
const KNOWN_MAX: usize = 24;

/// Returns the known word that is most like `word`, if one is like it.
pub fn meant<'k>(word: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    let likeness = |known: &str| strsim::jaro_winkler(word, known);
    let best = known.max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(best) >= LIKENESS_MIN).then_some(best)
}

/// Returns "did you mean a?", or the list of known words.
pub fn hint<'k>(word: &str, known: impl Iterator<Item = &'k str> + Clone) -> String {
    match meant(word, known.clone()) {
        Some(meant) => format!("did you mean {meant}?"),
        None => format!("there are: {}", known.take(KNOWN_MAX).collect::<Vec<_>>().join(", ")),
    }
}
