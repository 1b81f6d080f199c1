//! One experiment: what differs, in which doubt, its charts, its verdicts, its table.

use super::found::{Found, Size};
use super::item::{Chapter, FINDINGS, Item};
use super::opening::{against, badge, begin, directions, rests_on, value};
use super::{Page, ratios, sentence, slopes, table};
use crate::format::count;
use crate::page::note;
use crate::words::{self, counted, letter, short};
use maud::{Markup, html};
use model::{ComparedVerdict, Replication};

/// Rows of a chart that are not folded away: differing ones at most, and all where few differ.
const DIFFERING_MAX: usize = 40;
const SHOWN_MIN: usize = 8;

/// Differences without a ratio that are listed.
const UNSHOWN_MAX: usize = 20;

/// Marks on the whole page beyond which folded charts are cut, so that it stays light.
const MARKS_ON_PAGE: usize = 1_500;

/// An experiment's part of the page.
pub(super) fn chapter(page: &Page<'_>, chapter: &Chapter<'_>) -> Markup {
    let experiment = chapter.experiment;
    let versions: Vec<String> = experiment.versions.iter().flatten().map(u32::to_string).collect();
    html! {
        section.experiment id=(chapter.anchor) {
            p.eyebrow {
                (short(&experiment.id, 80))
                @if let Some(version) = versions.first() && versions.iter().all(|v| v == version) {
                    " · version " (version) " of its design"
                }
            }
            h2 { (sentence(&experiment.question)) }
            @if let Some(why) = &experiment.refused {
                (note("bad", "✗", "not compared", &html! {
                    p { (sentence(why)) }
                    (sides_versions(chapter))
                }))
            }
            @for warning in experiment.warnings.iter().take(20) {
                (note("care", "!", "doubtful", &html! { (sentence(warning)) }))
            }
            @if !chapter.items.is_empty() {
                (answer(page, chapter))
                (charts(page, chapter))
                (without_ratio(chapter))
                (verdicts(page, chapter))
                (slopes::slopes(&chapter.items, page.comparison.sides.len()))
                (table::table(&chapter.items, page.comparison.sides.len()))
            } @else {
                (verdicts(page, chapter))
            }
        }
    }
}

/// The experiments of which nothing is compared, with the reason of each.
pub(super) fn bare(page: &Page<'_>) -> Markup {
    let mut bare = page.chapters.iter().filter(|chapter| chapter.is_bare()).peekable();
    if bare.peek().is_none() {
        return html! {};
    }
    html! {
        section.experiment aria-labelledby="not-compared" {
            h2 #not-compared { "Not compared" }
            dl.facts {
                @for chapter in bare {
                    div id=(chapter.anchor) {
                        dt { (short(&chapter.experiment.id, 80)) }
                        dd {
                            @match &chapter.experiment.refused {
                                Some(why) => (sentence(why)),
                                None => "No number was measured on A and another side.",
                            }
                            " " (sides_versions(chapter))
                            @for warning in chapter.experiment.warnings.iter().take(20) {
                                p.small { (sentence(warning)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Which side measured which version.
fn sides_versions(chapter: &Chapter<'_>) -> Markup {
    html! {
        p.small {
            @for (side, version) in chapter.experiment.versions.iter().enumerate() {
                @if side > 0 { "; " }
                (letter(side)) ": "
                @match version { Some(version) => { "version " (version) }, None => "not measured" }
            }
            "."
        }
    }
}

fn answer(page: &Page<'_>, chapter: &Chapter<'_>) -> Markup {
    let units =
        || chapter.items.iter().flat_map(Item::ratios).map(|(_, _, e)| e.unit_of_replication);
    let trials = units().any(|unit| unit == Replication::Trials);
    let sessions = units().any(|unit| unit == Replication::Sessions);
    html! {
        @for other in 0..page.others() {
            @let tally = chapter.tally(other);
            @let side = letter(other + 1);
            p.answer {
                @if page.others() > 1 { (side) ": " }
                @if tally.compared == 0 { (begin(page, "nothing of it could be held against A.")) }
                @else if tally.differ() == 0 {
                    (begin(page, "no difference from A was found in "))
                    (counted(tally.compared as u64, "number")) "."
                } @else {
                    b { (count(tally.differ() as u64)) } " of "
                    (counted(tally.compared as u64, "number"))
                    @if tally.differ() == 1 { " differs" } @else { " differ" } " from A: "
                    (directions(tally, &side)) "."
                }
            }
        }
        @if trials || sessions { p.small { (rests_on(trials, sessions)) } }
        @let left_out = chapter.experiment.treatments_left_out;
        @if left_out > 0 {
            p.small {
                (counted(left_out, "treatment")) " left out: not measured on A and another side."
            }
        }
    }
}

/// The most important rows as a chart, the others folded behind it.
fn charts(page: &Page<'_>, chapter: &Chapter<'_>) -> Markup {
    let sides = page.comparison.sides.len();
    let (shown, folded) = split(&chapter.items);
    if shown.is_empty() {
        return html! {};
    }
    let place = page.chapters.iter().position(|other| std::ptr::eq(other, chapter)).unwrap_or(0);
    let drawn = folded.len().min(folded_max(page));
    let title = short(&chapter.experiment.id, 64);
    let without = chapter.items.iter().filter(|item| item.ratios().next().is_none()).count();
    html! {
        figure.figure {
            h4 { (if sides > 2 { "The other sides" } else { "B" }) " as a multiple of A" }
            @if sides > 2 {
                ul.legend aria-label="sides" { @for side in 1..sides { li { (badge(side)) } } }
            }
            (ratios::draw(&shown, sides, 2 * place, &title))
            figcaption {
                "Filled with ▲ or ▼: a difference that stands after Holm's correction. Hollow: none \
                 was found. Bands about 1: the floor, and lighter that of the verdict."
                @if without > 0 {
                    " " (counted(without as u64, "number")) " without a ratio: in the table."
                }
            }
            @if !folded.is_empty() {
                details.behind.folded {
                    summary {
                        (counted(folded.len() as u64, "more row"))
                        @if folded.iter().all(|item| !item.differs()) { ", none of which differs" }
                    }
                    @if drawn > 0 {
                        (ratios::draw(&folded[..drawn], sides, 2 * place + 1, &title))
                    }
                    @if folded.len() > drawn {
                        p.small { (folded.len() - drawn) " more are in the table alone." }
                    }
                }
            }
        }
    }
}

/// Rows that each chapter may fold behind its chart: all, unless the page would be too heavy.
fn folded_max(page: &Page<'_>) -> usize {
    let marks = |chapter: &Chapter<'_>| -> usize {
        chapter.items.iter().map(|item| item.ratios().count()).sum()
    };
    let each: Vec<usize> = page.chapters.iter().map(marks).filter(|marks| *marks > 0).collect();
    match each.iter().sum::<usize>() <= MARKS_ON_PAGE {
        true => usize::MAX,
        false => MARKS_ON_PAGE / (each.len().max(1) * page.others().max(1)),
    }
}

/// What is drawn at once, and what is folded; each in the order of the chapter. Answers and what
/// differs are the most important; where that is little, the first answer's response is added.
pub(super) fn split<'i, 'a>(items: &'i [Item<'a>]) -> (Vec<&'i Item<'a>>, Vec<&'i Item<'a>>) {
    let drawable: Vec<&Item<'_>> =
        items.iter().filter(|item| item.ratios().next().is_some()).collect();
    let mut differing: Vec<usize> =
        (0..drawable.len()).filter(|index| drawable[*index].differs()).collect();
    differing.sort_by(|a, b| drawable[*b].surest().total_cmp(&drawable[*a].surest()));
    differing.truncate(DIFFERING_MAX);
    let main = items.iter().find(|item| item.group == FINDINGS).map(|item| item.response);
    let importance = |item: &Item<'_>| match () {
        () if item.is_finding() => 0,
        () if Some(item.response) == main => 1,
        () => 2,
    };
    let mut rest: Vec<usize> =
        (0..drawable.len()).filter(|index| !differing.contains(index)).collect();
    rest.sort_by_key(|index| importance(drawable[*index]));
    let mut shown = differing;
    // What differs but was too much stays folded: only the few are filled up.
    let room = SHOWN_MIN.saturating_sub(shown.len());
    shown.extend(rest.into_iter().take(room));
    shown.sort_unstable();
    let kept = |index: &usize| shown.binary_search(index).is_ok();
    let (shown, folded): (Vec<usize>, Vec<usize>) = (0..drawable.len()).partition(|i| kept(i));
    let of = |indices: Vec<usize>| indices.into_iter().map(|index| drawable[index]).collect();
    (of(shown), of(folded))
}

/// Differences that a chart of ratios cannot show.
fn without_ratio(chapter: &Chapter<'_>) -> Markup {
    let unshown = |found: &Found<'_>| found.effect.differs && !matches!(found.size, Size::Ratio(_));
    let all = chapter
        .items
        .iter()
        .flat_map(|item| item.all_found().map(move |(other, found)| (item, other, found)));
    let all: Vec<_> = all.filter(|(_, _, found)| unshown(found)).collect();
    if all.is_empty() {
        return html! {};
    }
    html! {
        h3 { "Differences that are no ratios" }
        ul {
            @for (item, other, found) in all.iter().take(UNSHOWN_MAX) {
                li {
                    bdi { (item.full_name()) } ": A " (value(item, 0)) ", " (letter(other + 1)) " "
                    (value(item, other + 1)) "; " span.figures { (against(found, item.terms())) }
                }
            }
            @if all.len() > UNSHOWN_MAX {
                li { "and " (all.len() - UNSHOWN_MAX) " more, in the table" }
            }
        }
    }
}

/// Claims that are not judged alike.
fn verdicts(page: &Page<'_>, chapter: &Chapter<'_>) -> Markup {
    let verdicts = &chapter.experiment.verdicts;
    let sides = page.comparison.sides.len();
    if verdicts.is_empty() {
        return html! {};
    }
    html! {
        h3 { "Verdicts that are not the same" }
        div.scroll tabindex="0" role="region" aria-label="verdicts that are not the same" {
            table.changed-verdicts {
                thead {
                    tr {
                        th scope="col" { "claim" }
                        @for side in 0..sides { th scope="col" { (badge(side)) } }
                    }
                }
                tbody { @for verdict in verdicts { (verdict_row(verdict, sides)) } }
            }
        }
    }
}

fn verdict_row(changed: &ComparedVerdict, sides: usize) -> Markup {
    html! {
        tr {
            th scope="row" { (short(&changed.text, 600)) }
            @for side in 0..sides {
                @match changed.verdicts.get(side).copied().flatten() {
                    Some(verdict) => td.(words::verdict(verdict)) {
                        span.verdict { (words::mark(verdict)) " " (words::verdict(verdict)) }
                    },
                    None => td.quiet { "not judged" },
                }
            }
        }
    }
}
