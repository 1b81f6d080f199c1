//! What a figure shows: `compute_ns over count by model, worker where affinity=one`.
//!
//! ```text
//! figure = response {"," response} ["over" factor] ["by" factor {"," factor}]
//!          ["where" level {"," level}]
//! ```
//!
//! The levels of the factor after `over` are numbers, or a response of the name `FACTOR_bytes` measures
//! what they are. A factor that is not named stands at its baseline. Several levels of one factor choose among
//! those that are shown of it.

use crate::parse::{Cursor, Name};
use crate::resolve::{axis, factor, located, response};
use crate::{Error, hint};
use model::{Design, Plot};
use std::collections::BTreeMap;

/// The words between the parts of a figure.
const WORDS: [&str; 3] = ["over", "by", "where"];

/// Returns what a text shows of a design.
///
/// # Errors
/// What is wrong, with its place in the text and what would be right.
pub fn plot(text: &str, design: &Design) -> Result<Plot, Error> {
    let mut cursor = Cursor { text, at: 0 };
    let responses = names(&mut cursor)?;
    let mut plot = Plot::default();
    for name in &responses {
        plot.responses.push(response(name, design)?.name.clone());
    }
    if cursor.takes_word("over") {
        let name = cursor.word()?;
        // Where a response measured what each level was here, its numbers are the axis.
        let is_measured = design.response(&format!("{}_bytes", name.text)).is_some();
        plot.over = Some(match is_measured {
            true => factor(&name, design)?.name.clone(),
            false => axis(&name, design)?,
        });
    }
    if cursor.takes_word("by") {
        for name in names(&mut cursor)? {
            let factor = factor(&name, design)?.name.clone();
            if plot.varies(&factor) {
                return Err(name.error(format!("{factor} is named twice")));
            }
            plot.by.push(factor);
        }
    }
    if cursor.takes_word("where") {
        plot.at = levels(&mut cursor, &plot, design)?;
    }
    if cursor.rest().is_empty() {
        return Ok(plot);
    }
    let name = cursor.word()?;
    Err(name.error(format!(
        "expected RESPONSE over FACTOR by FACTOR where LEVEL, not {:?}; {}",
        name.text,
        hint(&name.text, WORDS.into_iter())
    )))
}

/// Parses names with commas between them.
fn names(cursor: &mut Cursor<'_>) -> Result<Vec<Name>, Error> {
    let mut names = vec![cursor.word()?];
    while cursor.takes(",") {
        names.push(cursor.word()?);
    }
    Ok(names)
}

fn levels(
    cursor: &mut Cursor<'_>,
    plot: &Plot,
    design: &Design,
) -> Result<BTreeMap<String, Vec<String>>, Error> {
    let mut at: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for named in cursor.all_levels()? {
        let (factor, level) = located(&named, design)?;
        let levels = at.entry(factor.clone()).or_default();
        if levels.contains(&level) || (!levels.is_empty() && !plot.varies(&factor)) {
            let what = format!("two levels of {factor}, which does not vary here");
            return Err(named.level.error(what));
        }
        levels.push(level);
    }
    Ok(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print::cell_text;
    use crate::tests::design;
    use model::Cell;
    use proptest::prelude::*;

    #[test]
    fn a_figure_names_responses_factors_and_levels() {
        let text = "whole_ns, rss_bytes over touched by mechanism where pthread, mechanism=none";
        let levels = vec!["pthread".to_string(), "none".to_string()];
        let shown = Plot {
            responses: vec!["whole_ns".into(), "rss_bytes".into()],
            over: Some("touched".into()),
            by: vec!["mechanism".into()],
            at: [("mechanism".to_string(), levels)].into(),
        };
        assert_eq!(plot(text, &design()), Ok(shown));
    }

    #[test]
    fn an_error_names_the_place_and_what_would_be_right() {
        let cases = [
            ("", 0, "expected a word"),
            ("whole_n by mechanism", 0, "did you mean whole_ns?"),
            ("whole_ns by mecanism", 12, "did you mean mechanism?"),
            ("whole_ns over mechanism", 14, "no numbers"),
            ("whole_ns over touched by touched", 25, "touched is named twice"),
            ("whole_ns wher fork", 9, "did you mean where?"),
            ("whole_ns by mechanism over touched", 22, "did you mean over?"),
            ("whole_ns where forc", 15, "did you mean fork?"),
            ("whole_ns by touched where fork, pthread", 32, "two levels of mechanism"),
            ("whole_ns by mechanism where fork, fork", 34, "two levels of mechanism"),
            ("whole_ns where none", 15, "mechanism=none or touched=none"),
        ];
        for (text, column, what) in cases {
            let error = plot(text, &design()).unwrap_err();
            assert_eq!(error.at, column, "{text}: {error}");
            assert!(error.what.contains(what), "{text}: {error}");
        }
    }

    fn plots() -> impl Strategy<Value = Plot> {
        let responses = proptest::sample::subsequence(vec![0, 1, 2, 3, 4], 1..=3);
        let chosen = proptest::sample::subsequence(vec![0, 1, 2, 3], 0..=3);
        (responses, any::<bool>(), any::<bool>(), chosen).prop_map(|(shown, over, by, chosen)| {
            let design = design();
            let responses = shown.iter().map(|at: &usize| design.responses[*at].name.clone());
            let mut plot = Plot { responses: responses.collect(), ..Plot::default() };
            plot.over = over.then(|| "touched".to_string());
            plot.by = if by { vec!["mechanism".into()] } else { Vec::new() };
            let names = &design.factors[0].levels;
            let mut levels: Vec<String> = chosen.iter().map(|at| names[*at].name.clone()).collect();
            levels.truncate(if by { 3 } else { 1 });
            if !levels.is_empty() {
                plot.at.insert("mechanism".into(), levels);
            }
            plot
        })
    }

    /// Returns a text of what a figure shows.
    fn text_of(shown: &Plot) -> String {
        let over = shown.over.as_ref().map(|over| format!(" over {over}")).unwrap_or_default();
        let by = if shown.by.is_empty() { "" } else { " by " };
        let levels = shown.at.iter().flat_map(|(factor, levels)| {
            let level = |level| cell_text(&Cell::new([(factor.as_str(), level)]), &design());
            levels.iter().map(move |name| level(name.as_str()))
        });
        let levels: Vec<String> = levels.collect();
        let at = if levels.is_empty() { "" } else { " where " };
        let (responses, factors) = (shown.responses.join(", "), shown.by.join(", "));
        format!("{responses}{over}{by}{factors}{at}{}", levels.join(", "))
    }

    proptest! {
        #[test]
        fn printing_and_parsing_are_inverses(shown in plots()) {
            let text = text_of(&shown);
            prop_assert_eq!(plot(&text, &design()), Ok(shown), "{}", text);
        }

        #[test]
        fn no_text_makes_it_panic(text in ".{0,60}", part in "[a-z_\\[\\]=, \"0-9-]{0,40}") {
            let _ = plot(&text, &design());
            let _ = plot(&format!("whole_ns over touched by mechanism where {part}"), &design());
        }
    }
}
