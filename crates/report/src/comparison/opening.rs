//! The first screen: what is held against what, what makes it doubtful, what differs.

use super::found::{Found, Size, by_sureness, for_findings};
use super::item::{Chapter, Item, Tally, style};
use super::{Page, joined, letters_of_others, sentence};
use crate::chart::{mark_of, style_class};
use crate::format::{Parts, Terms, count, parts, rough, rounded};
use crate::page::note;
use crate::words::{self, counted, letter, short};
use maud::{Markup, html};
use model::{Comparison, Estimate, Replication, Side, Weight};

/// Differences that are listed at the top.
const LARGEST_MAX: usize = 10;

/// Warnings that are listed at the top.
const WARNINGS_MAX: usize = 12;

/// See the module.
pub(super) fn opening(page: &Page<'_>) -> Markup {
    let comparison = page.comparison;
    html! {
        header.opening {
            p.eyebrow { "scruple · a comparison of sessions" }
            h1 { (letters_of_others(comparison)) " held against A" }
            (sides(comparison))
            (doubts(page))
            @for other in 0..page.others() { (answer(page, other)) }
            (largest(page))
            p.small.brackets { (brackets(page)) }
            (key(comparison))
        }
    }
}

/// What is compared, the base first.
fn sides(comparison: &Comparison) -> Markup {
    html! {
        ol.sides {
            @for (index, side) in comparison.sides.iter().enumerate() {
                li {
                    (badge(index))
                    div {
                        p.side-name { bdi { (short(&side.name, 120)) } }
                        p.small { (told(side)) }
                        @match side.trusted {
                            Some(true) => {}
                            Some(false) => p.small.distrusted {
                                b { "✗ not to be trusted: " }
                                "its own A/A controls found a difference where there is none"
                                @if side.sessions.len() > 1 { ", in more sessions than by chance" }
                                "."
                            },
                            None => p.small.distrusted {
                                b { "! not known whether to be trusted: " }
                                "it has no A/A control of its own."
                            },
                        }
                    }
                }
            }
        }
    }
}

/// Host, date, trials and sessions of a side.
fn told(side: &Side) -> Markup {
    let host = if side.host.is_empty() { "unknown host".into() } else { short(&side.host, 80) };
    html! {
        bdi { (host) } " · " (words::moment(side.started_unix_ms)) " · "
        (counted(side.trials, "trial"))
        @if side.sessions.len() > 1 {
            " in " (counted(side.sessions.len() as u64, "session"))
        }
    }
}

/// A side's letter with its mark.
pub(super) fn badge(side: usize) -> Markup {
    let style = style(side);
    html! {
        span.badge.(style_class(style)) {
            svg width="14" height="14" aria-hidden="true" {
                @if side > 0 { use.point href=(mark_of(style)) x="7" y="7" {} }
                @else { line.whisker x1="7" x2="7" y1="1" y2="13" {} }
            }
            (letter(side))
        }
    }
}

/// What must be read before any number.
fn doubts(page: &Page<'_>) -> Markup {
    let comparison = page.comparison;
    let of = |weight: Weight| comparison.facts.iter().filter(move |fact| fact.weight == weight);
    let invalid: Vec<String> = of(Weight::Invalid).map(|fact| short(&fact.name, 80)).collect();
    let refused = refusals(page);
    html! {
        @if !invalid.is_empty() {
            (note("bad", "✗", "invalid", &html! {
                p { b { "What was measured is not the same thing on all sides." } }
                p { "What differs and makes numbers incomparable: " (joined(&invalid)) "." }
            }))
        }
        @if !comparison.warnings.is_empty() {
            (note("care", "!", "doubtful", &html! {
                ul.plain {
                    @for warning in comparison.warnings.iter().take(WARNINGS_MAX) {
                        li { (sentence(warning)) }
                    }
                    @if comparison.warnings.len() > WARNINGS_MAX {
                        li { "And " (comparison.warnings.len() - WARNINGS_MAX) " more." }
                    }
                }
            }))
        }
        @if !refused.is_empty() {
            (note("care", "✗", "not compared", &html! {
                ul.plain {
                    @for (why, chapters) in refused.iter().take(WARNINGS_MAX) {
                        li {
                            (words::capital(&short(why, 400))) ": "
                            @for (index, chapter) in chapters.iter().enumerate() {
                                @if index > 0 { ", " }
                                a href={ "#" (chapter.anchor) } {
                                    (short(&chapter.experiment.id, 64))
                                }
                            }
                            "."
                        }
                    }
                    @if refused.len() > WARNINGS_MAX {
                        li { "And " (refused.len() - WARNINGS_MAX) " more reasons: see the contents." }
                    }
                }
            }))
        }
    }
}

/// The refused experiments by their reasons, each as the comparison has it first.
fn refusals<'p, 'a>(page: &'p Page<'a>) -> Vec<(&'a str, Vec<&'p Chapter<'a>>)> {
    let mut refusals: Vec<(&str, Vec<&Chapter<'_>>)> = Vec::new();
    for chapter in &page.chapters {
        let Some(why) = chapter.experiment.refused.as_deref() else {
            continue;
        };
        match refusals.iter_mut().find(|(known, _)| *known == why) {
            Some((_, chapters)) => chapters.push(chapter),
            None => refusals.push((why, vec![chapter])),
        }
    }
    refusals
}

/// A sentence begins with a capital unless a side's letter stands before it.
pub(super) fn begin(page: &Page<'_>, text: &str) -> String {
    if page.others() == 1 { words::capital(text) } else { text.into() }
}

/// "11 larger in B, 3 smaller"; all of one direction need no number.
pub(super) fn directions(tally: Tally, side: &str) -> String {
    match (tally.larger, tally.smaller) {
        (_, 0) => format!("larger in {side}"),
        (0, _) => format!("smaller in {side}"),
        (larger, smaller) => format!("{larger} larger in {side}, {smaller} smaller"),
    }
}

/// "2 of 37 findings and 6 of 433 other numbers": each shares its error with its kind alone.
fn by_family(all: Tally, findings: Tally) -> String {
    format!(
        "{} of {} and {} of {}",
        findings.differ(),
        counted(findings.compared as u64, "finding"),
        all.differ() - findings.differ(),
        counted((all.compared - findings.compared) as u64, "other number"),
    )
}

/// What all numbers say of one side, in sentences.
fn answer(page: &Page<'_>, other: usize) -> Markup {
    let tally = page.tally(other);
    let side = letter(other + 1);
    let numbers = |n: usize| counted(n as u64, "number");
    let of = match page.others() {
        1 => String::new(),
        _ => format!("{side}: "),
    };
    html! {
        p.answer {
            (of)
            @if tally.compared == 0 {
                (begin(page, "no number could be held against A."))
            } @else if tally.differ() == 0 {
                (begin(page, "none of ")) (numbers(tally.compared)) " differs from A, as far as could be seen."
            } @else {
                b { (count(tally.differ() as u64)) } " of " (numbers(tally.compared))
                @if tally.differ() == 1 { " differs" } @else { " differ" }
                " from A: " (by_family(tally, page.tally_of_findings(other))) "; "
                (directions(tally, &side)) "."
                @if let Some((item, ratio)) = surest(page, other) {
                    " The largest: " (in_words(item, ratio, &side))
                }
            }
        }
        @if tally.compared > 0 { p.further { (finest(page, other, tally.differ() == 0)) } }
        @if tally.without > 0 {
            p.small {
                (numbers(tally.without)) " more could not be compared: the tables say why."
            }
        }
    }
}

/// The ratio of one side that is surely the farthest from 1.
fn surest<'p, 'a>(page: &'p Page<'a>, other: usize) -> Option<(&'p Item<'a>, &'a Estimate)> {
    let items = page.chapters.iter().flat_map(|chapter| &chapter.items);
    let found = items.filter_map(|item| Some((item, item.found(other)?)));
    let farthest = found
        .filter(|(_, found)| found.effect.differs)
        .max_by(|(_, a), (_, b)| a.sure().total_cmp(&b.sure()));
    match farthest {
        Some((item, Found { size: Size::Ratio(ratio), .. })) => Some((item, ratio)),
        _ => None,
    }
}

/// "time to create, fork: 1.31 [1.25, 1.36] times as long in B as in A."
fn in_words(item: &Item<'_>, ratio: &Estimate, side: &str) -> Markup {
    let numbers = parts(ratio, Terms::Times);
    html! {
        (words::uncapital(&item.full_name())) ": "
        span.figures {
            b { (numbers.point.trim_end_matches('×')) }
            @if !numbers.interval.is_empty() { " " span.interval { (numbers.interval) } }
        }
        " times " (item.as_much()) " in " (side) " as in A."
    }
}

/// How small a difference could have been found, so that "no difference" is worth something.
fn finest(page: &Page<'_>, other: usize, none_differs: bool) -> Markup {
    let items = || page.chapters.iter().flat_map(|chapter| &chapter.items);
    let ratios = || items().filter_map(|item| item.ratio(other));
    let floors = sorted(ratios().filter_map(|(_, effect)| effect.floor));
    let of_verdict = sorted(ratios().filter_map(|(_, effect)| effect.floor_of_verdict));
    let ends = sorted(ratios().flat_map(|(ratio, _)| [ratio.low, ratio.high]));
    let share = |floor: f64| rough(floor, Terms::Share);
    html! {
        @if none_differs && let (Some(low), Some(high)) = (ends.first(), ends.last()) {
            "All intervals of ratios lie between " (rounded(*low, Terms::Times)) " and "
            (rounded(*high, Terms::Times)) " of A. "
        }
        @if let (Some(fine), Some(middle), Some(coarse)) =
            (quartile(&floors, 1), quartile(&floors, 2), quartile(&floors, 3))
        {
            "The smallest difference that could have been found four times in five is "
            b { (share(middle)) } " in the middle number; in the finest quarter " (share(fine))
            " or less, in the coarsest " (share(coarse)) " or more, each for itself"
            @if let Some(middle) = quartile(&of_verdict, 2) {
                "; to stand among its kind (findings, responses), the middle number needs "
                (share(middle))
            }
            "."
        } @else {
            "How small a difference could have been found is not known."
        }
    }
}

/// The first, second or third quartile of ascending numbers: the one of them that is nearest.
fn quartile(ascending: &[f64], number: usize) -> Option<f64> {
    let last = ascending.len().checked_sub(1)?;
    ascending.get((last * number + 2) / 4).copied()
}

/// The finite ones in ascending order.
fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.filter(|x| x.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The surest differences of all sides.
fn largest(page: &Page<'_>) -> Markup {
    let mut found: Vec<(&Chapter<'_>, &Item<'_>, usize, Found<'_>)> = Vec::new();
    for chapter in &page.chapters {
        for item in &chapter.items {
            let differing = item.all_found().filter(|(_, found)| found.effect.differs);
            found.extend(differing.map(|(other, found)| (chapter, item, other, found)));
        }
    }
    if found.is_empty() {
        return html! {};
    }
    found.sort_by(|a, b| by_sureness(&a.3, &b.3));
    let more = found.len().saturating_sub(LARGEST_MAX);
    let (mut findings, mut responses): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|(_, item, ..)| item.is_finding());
    findings.truncate(for_findings(findings.len(), responses.len(), LARGEST_MAX));
    responses.truncate(LARGEST_MAX - findings.len());
    let families = [("Findings", findings), ("Responses at each treatment", responses)];
    html! {
        h2.largest-title { "The largest differences" }
        table.largest {
            thead {
                tr {
                    th scope="col" { "number" }
                    th.number scope="col" { "A" }
                    th.number scope="col" { "other side" }
                    th.number scope="col" { "against A" }
                }
            }
            @for (family, found) in families.iter().filter(|(_, found)| !found.is_empty()) {
                tbody {
                    tr { th.family colspan="4" scope="rowgroup" { (family) } }
                    @for (chapter, item, other, found) in found {
                        tr {
                            th scope="row" {
                                a href={ "#" (chapter.anchor) } {
                                    (short(&chapter.experiment.id, 64))
                                }
                                " "
                                bdi { (item.full_name()) }
                            }
                            td.number { (value(item, 0)) }
                            td.number { span.side-letter { (letter(other + 1)) } " " (value(item, other + 1)) }
                            td.number { (against(found, item.terms())) }
                        }
                    }
                }
            }
        }
        p.small {
            "Findings first, since they are what the experiments ask; each in the order of the end of \
             the interval that is nearer to 1: of what is sure of them."
            @if more > 0 { " " (counted(more as u64, "more difference")) " in the chapters below." }
        }
    }
}

/// A side's own number, without its interval.
pub(super) fn value(item: &Item<'_>, side: usize) -> String {
    match item.values.get(side).copied().flatten() {
        Some(estimate) => parts(&estimate, item.terms()).point,
        None => "–".into(),
    }
}

/// "▲ 1.31× [1.25, 1.36]"; a difference has its direction, anything else none.
pub(super) fn against(found: &Found<'_>, terms: Terms<'_>) -> Markup {
    let numbers = size(found, terms);
    html! {
        @if found.effect.differs {
            b { (found.direction()) " " (numbers.point) }
        } @else {
            (numbers.point)
        }
        @if !numbers.interval.is_empty() { " " span.interval { (numbers.interval) } }
    }
}

/// What one side is against the base, ready to be read: "1.31×", "+0.12", "+2.1 points".
pub(super) fn size(found: &Found<'_>, terms: Terms<'_>) -> Parts {
    match found.size {
        Size::Ratio(ratio) => parts(ratio, Terms::Times),
        Size::Difference(difference) => {
            let Parts { point, interval } = parts(difference, terms);
            let sign = if difference.point > 0.0 { "+" } else { "" };
            Parts { point: in_points(&format!("{sign}{point}")), interval }
        }
        Size::Unformed => Parts { point: "A is 0".into(), interval: String::new() },
    }
}

/// A floor in the terms of what differs: relative for a ratio.
pub(super) fn floor(found: &Found<'_>, floor: f64, terms: Terms<'_>) -> String {
    match found.size {
        Size::Difference(_) => in_points(&rough(floor, terms)),
        Size::Ratio(_) | Size::Unformed => rough(floor, Terms::Share),
    }
}

/// The difference of two percentages is no percentage.
fn in_points(text: &str) -> String {
    match text.strip_suffix(" %") {
        Some(number) => format!("{number} points"),
        None => text.into(),
    }
}

/// What the intervals are made of.
fn brackets(page: &Page<'_>) -> Markup {
    let all = || page.chapters.iter().flat_map(|chapter| &chapter.items).flat_map(Item::all_found);
    let items = page.chapters.iter().flat_map(|chapter| &chapter.items);
    let any_exact = items.flat_map(|item| item.values).flatten().any(Estimate::is_exact);
    let of = |unit: Replication| all().any(|(_, found)| found.effect.unit_of_replication == unit);
    html! {
        "In brackets: the 95 % confidence interval; a number without was the same in every trial. "
        @if any_exact {
            "[exact] is a number that was computed, not measured. "
        }
        (replication(of(Replication::Trials), of(Replication::Sessions)))
    }
}

/// What an interval rests on, and what that leaves out.
pub(super) fn replication(trials: bool, sessions: bool) -> &'static str {
    match (trials, sessions) {
        (true, false) => {
            "The unit of replication is the trial, of one session a side: what changes from session \
             to session is not in the intervals."
        }
        (false, true) => {
            "The unit of replication is the session: what changes from one to the next is in the \
             intervals."
        }
        (true, true) => {
            "The unit of replication is the session where both sides have two or more, else the \
             trial: those intervals do not hold what changes from session to session. Each chapter \
             says which."
        }
        (false, false) => "",
    }
}

/// The same in a few words, where the page has said it.
pub(super) fn rests_on(trials: bool, sessions: bool) -> &'static str {
    match (trials, sessions) {
        (true, false) => "Intervals rest on trials of one session a side.",
        (false, true) => "Intervals rest on sessions, two or more a side.",
        (true, true) => {
            "Intervals rest on sessions where both sides have two or more, else on trials."
        }
        (false, false) => "",
    }
}

/// How to read the charts: once for all of them.
fn key(comparison: &Comparison) -> Markup {
    let sides = comparison.sides.len();
    html! {
        details.chart-key {
            summary { "How to read the charts" }
            ul.legend {
                @for side in 1..sides.min(12) {
                    li { (badge(side)) " against A: " bdi { (short(&comparison.sides[side].name, 60)) } }
                }
                li {
                    span.badge.s0 {
                        svg width="28" height="14" aria-hidden="true" {
                            line.whisker x1="2" x2="26" y1="7" y2="7" {}
                            use.point href="#mark0" x="14" y="7" {}
                        }
                    }
                    "filled, ▲ larger or ▼ smaller: a difference that stands"
                }
                li {
                    span.badge.s0.same {
                        svg width="28" height="14" aria-hidden="true" {
                            line.whisker x1="2" x2="26" y1="7" y2="7" {}
                            use.point href="#mark0" x="14" y="7" {}
                        }
                    }
                    "hollow: none was found"
                }
                li {
                    svg.swatch width="28" height="14" aria-hidden="true" {
                        rect.floor width="28" height="14" {}
                        rect.floor x="7" width="14" height="14" {}
                    }
                    "the floor, and that of the verdict"
                }
            }
            p.small {
                "Each mark is the ratio of a side to A, with its 95 % interval, on a logarithmic axis \
                 about 1. A difference stands after Holm's correction over all findings, or over all \
                 responses, that are compared here, so that an interval may lie beside 1 and its \
                 difference not stand. \
                 The dark band about 1 is the floor, the light one that of the verdict: a difference \
                 within it would have been missed more often than once in five, by itself or after \
                 that correction. Larger is not worse: what is better \
                 depends on the response."
            }
        }
    }
}

/// All chapters with what differs in each.
pub(super) fn contents(page: &Page<'_>) -> Markup {
    html! {
        nav #contents aria-label="Contents" {
            h2 { "Contents" }
            ol.contents {
                @for chapter in &page.chapters {
                    li {
                        a href={ "#" (chapter.anchor) } {
                            b { (short(&chapter.experiment.id, 64)) }
                            span.quiet { (short(&chapter.experiment.question, 200)) }
                        }
                        span.tallies {
                            @if chapter.experiment.refused.is_some() { "✗ not compared" }
                            @else {
                                @for other in 0..page.others() {
                                    @let tally = chapter.tally(other);
                                    span {
                                        @if page.others() > 1 { (letter(other + 1)) " " }
                                        @if tally.larger > 0 { b { "▲ " (tally.larger) } " " }
                                        @if tally.smaller > 0 { b { "▼ " (tally.smaller) } " " }
                                        @if tally.differ() == 0 { "none" }
                                        " of " (tally.compared)
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
