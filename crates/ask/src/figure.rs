//! What a figure shows: `compute_ns over count by model, worker where affinity=one`.
//!
//! ```text
//! figure = drawn ["over" factor] ["by" factor ["and" factor] {"," factor}]
//!          ["where" level {"," level}]
//! drawn  = response {"," response} | response "/" response | ("speedup" | "efficiency") "(" response ")"
//! ```
//!
//! With `by A and B`, each combination of their levels has a line; factors after a comma have panels.
//! The levels of the factor after `over` are numbers, or a response of the name `FACTOR_bytes` measures
//! what they are. A factor that is not named stands at its baseline. Several levels of one factor choose among
//! those that are shown of it.

use crate::names::{Name, axis, factor, located, response};
use crate::parse::Cursor;
use crate::{Error, hint};
use model::{Cell, Design, Drawn, Factor, Plot, Quantity, Unit};
use std::collections::BTreeMap;

/// The words between the parts of a figure.
const WORDS: [&str; 3] = ["over", "by", "where"];

/// What may be drawn of a response instead of its own values.
const RATIOS: [(&str, Drawn); 2] = [("speedup", Drawn::Speedup), ("efficiency", Drawn::Efficiency)];

/// Returns what a text shows of a design.
///
/// # Errors
/// What is wrong, with its place in the text and what would be right.
pub fn plot(text: &str, design: &Design) -> Result<Plot, Error> {
    let mut cursor = Cursor { text, at: 0 };
    let mut plot = Plot::default();
    let mut responses = names(&mut cursor)?;
    let ratio = cursor.takes("(").then(|| responses.remove(0));
    if let Some(function) = &ratio {
        plot.drawn = ratio_of(function)?;
        responses = vec![cursor.word()?];
        cursor.wants(")")?;
    }
    for name in &responses {
        plot.responses.push(response(name, design)?.name.clone());
    }
    if ratio.is_none() && responses.len() == 1 && cursor.takes("/") {
        let by = cursor.word()?;
        let (above, below) = (&plot.responses[0], response(&by, design)?);
        let (above, name, at) = (above.clone(), below.name.clone(), Cell::default());
        let quantity = Quantity::Quotient { response: above, by: name.clone(), at };
        design.check_units(&quantity).map_err(|what| by.error(what))?;
        plot.divided_by = Some(name);
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
        let mut by = vec![cursor.word()?];
        plot.crossed = cursor.takes_word("and");
        if plot.crossed {
            by.push(cursor.word()?);
        }
        if cursor.takes(",") {
            by.extend(names(&mut cursor)?);
        }
        for name in by {
            let factor = factor(&name, design)?.name.clone();
            if plot.varies(&factor) {
                return Err(name.error(format!("{factor} is named twice")));
            }
            plot.by.push(factor);
        }
    }
    if let Some(function) = &ratio {
        check_ratio(function, &responses[0], &plot, design)?;
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

/// Returns what a function of a figure draws.
fn ratio_of(function: &Name) -> Result<Drawn, Error> {
    let known = RATIOS.iter().find(|(name, _)| *name == function.text);
    known.map(|(_, drawn)| *drawn).ok_or_else(|| {
        let hint = hint(&function.text, RATIOS.iter().map(|(name, _)| *name));
        function.error(format!("a figure has no function {:?}; {hint}", function.text))
    })
}

/// Refuses a speed-up of what is no time and no rate, or over levels that are not numbers above 0.
fn check_ratio(function: &Name, of: &Name, plot: &Plot, design: &Design) -> Result<(), Error> {
    let unit = design.response(&plot.responses[0]).map(|response| &response.unit);
    if !matches!(unit, Some(Unit::Ns | Unit::PerSecond)) {
        return Err(of.error(format!("{} is neither a time nor a rate; name one that is", of.text)));
    }
    let over = plot.over.as_ref().and_then(|name| design.factor(name));
    let counts = |over: &Factor| over.levels.iter().all(|it| it.value.is_some_and(|x| x > 0.0));
    let what = "needs \"over\" and a factor whose levels are numbers above 0, such as the number of \
                workers";
    let wrong = || function.error(format!("{} {what}", function.text));
    over.is_some_and(counts).then_some(()).ok_or_else(wrong)
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
    use proptest::prelude::*;

    #[test]
    fn a_figure_names_responses_factors_and_levels() {
        let text = "whole_ns, rss_bytes over touched by mechanism where pthread, mechanism=none";
        let levels = vec!["pthread".to_string(), "none".to_string()];
        let shown = Plot {
            responses: vec!["whole_ns".into(), "rss_bytes".into()],
            divided_by: None,
            drawn: Drawn::Value,
            over: Some("touched".into()),
            by: vec!["mechanism".into()],
            crossed: false,
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
            ("speedupp(whole_ns) over touched", 0, "did you mean speedup?"),
            ("speedup(whole_n) over touched", 8, "did you mean whole_ns?"),
            ("speedup(whole_ns over touched", 17, "expected )"),
            ("speedup(rss_bytes) over touched", 8, "neither a time nor a rate"),
            ("speedup(whole_ns) by mechanism", 0, "needs \"over\" and a factor"),
            ("efficiency(whole_ns) over touched", 0, "numbers above 0"),
            ("whole_ns / rss_bytes over touched", 11, "different units"),
            ("whole_ns / exec over touched", 11, "did you mean exec_ns?"),
            ("whole_ns by mechanism and mechanism", 26, "mechanism is named twice"),
        ];
        for (text, column, what) in cases {
            let error = plot(text, &design()).unwrap_err();
            assert_eq!(error.at, column, "{text}: {error}");
            assert!(error.what.contains(what), "{text}: {error}");
        }
    }

    #[test]
    fn a_figure_may_show_a_speedup_and_cross_two_factors() {
        let mut design = design();
        let touched = design.factors.iter_mut().find(|factor| factor.name == "touched").unwrap();
        touched.levels.retain(|level| level.value.is_some_and(|value| value > 0.0));
        let shown = plot("efficiency(whole_ns) over touched by mechanism", &design).unwrap();
        assert_eq!((shown.drawn, shown.crossed), (Drawn::Efficiency, false));
        assert_eq!(shown.responses, ["whole_ns"]);
        let crossed = plot("whole_ns by mechanism and touched", &design).unwrap();
        assert!(
            crossed.crossed && crossed.by == ["mechanism", "touched"] && crossed.lines_of() == 2
        );
        let divided = plot("whole_ns / exec_ns over touched", &design).unwrap();
        assert_eq!((divided.responses.len(), divided.divided_by.as_deref()), (1, Some("exec_ns")));
        let apart = plot("whole_ns by mechanism, touched", &design).unwrap();
        assert!(!apart.crossed && apart.lines_of() == 1);
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
