//! Does it show when two threads share a cache line, or a cache and memory?

mod hog;
mod line;

use kit::{Result, Trial};

experiment!("planted_sharing", "sharing.toml");

/// What two threads, each on a CPU of its own, do: both count, on words that lie apart; or one walks
/// through memory that the shared cache holds, and the other copies through far more, or only waits.
type Pair = fn(&mut Trial<'_>) -> Result<()>;

/// Words of 8 bytes between two counters that share no line, nor a pair of lines that some
/// processors fetch together.
const APART_WORDS: usize = 32;

/// The levels of the factor `pair`.
const PAIRS: [(&str, Pair); 4] = [
    ("count_apart", |trial| line::count(trial, APART_WORDS)),
    ("count_one_line", |trial| line::count(trial, 1)),
    ("walk_alone", |trial| hog::walk(trial, false)),
    ("walk_hog", |trial| hog::walk(trial, true)),
];

fn trial(trial: &mut Trial<'_>) -> Result<()> {
    trial.pick("pair", &PAIRS)?(trial)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests {
    use super::{PAIRS, design, hog};

    #[test]
    fn truths_are_above_what_would_be_without() {
        let design = design();
        crate::check_levels(&design, "pair", &PAIRS);
        assert_eq!(design.needs.memory_bytes, 2 * hog::BYTES_MAX);
        assert!(design.planted.iter().all(|it| !it.truth.contains(it.without)));
        // A hog that passes the trial's own look is well in the truth.
        let felt = design.planted.iter().find(|it| it.id == "memory_hog").unwrap();
        assert!(hog::FELT_MIN > felt.truth.low.unwrap());
    }
}
