//! The blocks of a document as they stand on a page.

use crate::chart;
use crate::doc::{
    Answer, Block, Claim, Figure, Fold, Kind, Note, Role, Row, Span, Table, Text, Tone,
};
use crate::words;
use maud::{Markup, PreEscaped, html};
use wording::number::{CORRECTED, Parts};
use wording::short;

/// The most characters of one piece of text.
const CHARACTERS_MAX: usize = 4000;

/// Returns blocks as they stand within a page.
pub(crate) fn blocks(blocks: &[Block<'_>]) -> Markup {
    let folded = |block: &Block<'_>| matches!(block, Block::Fold(_));
    let all = |blocks: &[Block<'_>]| html! { @for one in blocks { (block(one)) } };
    html! {
        // Folds that follow one another have their labels in one line.
        @for run in blocks.chunk_by(|one, next| folded(one) && folded(next)) {
            @if folded(&run[0]) { div.folds { (all(run)) } } @else { (all(run)) }
        }
    }
}

fn block(block: &Block<'_>) -> Markup {
    match block {
        Block::Heading(1, text) => html! { h1 { bdi { (inline(text)) } } },
        Block::Heading(2, text) => html! { h2 { (inline(text)) } },
        Block::Heading(3, text) => html! { h3 { (inline(text)) } },
        Block::Heading(_, text) => html! { h4 { (inline(text)) } },
        Block::Paragraph(role, text) => match role {
            Role::Lead => html! { p.lead { (inline(text)) } },
            Role::Answer => html! { p.answer { (inline(text)) } },
            Role::Further => html! { p.further { (inline(text)) } },
            Role::Plain => html! { p { (inline(text)) } },
            Role::Command => html! { p.repeat { (inline(text)) } },
            Role::Definition => html! { p.small.definition { (inline(text)) } },
            Role::Caveat | Role::Small => html! { p.small { (inline(text)) } },
        },
        Block::Note(note) => self::note(note),
        Block::List(items) => html! { ul.notes { @for item in items { li { (inline(item)) } } } },
        Block::Chart(place, figure) => html! {
            div.anchored.picture id=(place) {
                a.anchor href={ "#" (place) } aria-label="Link to this chart" { "#" }
                (self::figure(figure))
            }
        },
        Block::Anchored(name, text) => html! { p.small id=(name) { (inline(text)) } },
        Block::Claims(claims) => self::claims(claims),
        Block::KeyClaims(claims) => key_claims(claims),
        Block::OnPage(markup) => html! { (markup) },
        Block::InTerminal(_) => html! {},
        Block::Table(table) => scrolled(table),
        Block::Facts(facts) => html! {
            dl.facts { @for (name, text) in facts { div { dt { (name) } dd { (inline(text)) } } } }
        },
        Block::Letters(lines) => html! { pre { (lines.join("\n")) } },
        Block::Figure(figure) => self::figure(figure),
        Block::Fold(fold) => self::fold(fold),
        Block::Section(id, inner) => html! { section id=(id) { (blocks(inner)) } },
        Block::Chapter(id, inner) => chapter(id, inner),
        Block::Answers(answers) => html! {
            ol.answers #contents { @for one in answers { (answer(one)) } }
        },
        Block::Columns(kind, columns) => {
            let (all, one) = match kind {
                Kind::Glance => ("glance", ""),
                Kind::Cards => ("cards", "card"),
            };
            html! { div.(all) { @for column in columns { div.(one) { (self::blocks(column)) } } } }
        }
    }
}

/// Returns a part of the document with a link to itself.
fn chapter(id: &str, inner: &[Block<'_>]) -> Markup {
    let (heading, inner) = inner.split_at(inner.len().min(1));
    html! {
        section.experiment id=(id) {
            div.anchored {
                (blocks(heading))
                a.anchor href={ "#" (id) } aria-label="Link to this chapter" { "#" }
            }
            (blocks(inner))
        }
    }
}

fn answer(answer: &Answer) -> Markup {
    html! {
        li {
            p.question {
                a href={ "#" (answer.chapter) } { (short(&answer.question, 400)) }
                " " span.quiet { (short(&answer.name, 64)) " " (answer.verdicts) }
            }
            p.answer { (inline(&answer.answer)) }
            @if let Some(why) = &answer.why { p.why { (inline(why)) } }
        }
    }
}

fn note(note: &Note) -> Markup {
    html! {
        div.note.(class(note.tone)) {
            span.note-word { (note.tone.mark()) " " (short(&note.word, 80)) }
            div { @for text in &note.text { p { (inline(text)) } } }
        }
    }
}

fn class(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "good",
        Tone::Bad => "bad",
        Tone::Care | Tone::Open | Tone::Absent => "care",
        Tone::Plain | Tone::Quiet => "plain",
    }
}

fn fold(fold: &Fold<'_>) -> Markup {
    let kind = (!fold.kind.is_empty()).then_some(fold.kind);
    html! {
        details class=[kind] open[fold.open] {
            summary { (inline(&fold.label)) }
            (blocks(&fold.blocks))
        }
    }
}

/// Returns claims, a line each with its verdict and its number, and the rest folded.
fn claims(claims: &[Claim]) -> Markup {
    html! { div.claims { @for claim in claims { (self::claim(claim)) } } }
}

/// Returns claims as sentences, each with its mark, its verdict and its number.
fn key_claims(claims: &[Claim]) -> Markup {
    html! {
        ul.key-claims {
            @for claim in claims {
                li.(words::verdict(claim.verdict)) {
                    span.verdict aria-hidden="true" { (words::mark(claim.verdict)) }
                    span {
                        (short(&brief(&claim.text), 600)) " " (judged(claim))
                    }
                }
            }
        }
    }
}

/// Returns a claim without what it adds in brackets at its end.
fn brief(claim: &str) -> String {
    let end = claim.strip_suffix(").").and_then(|rest| rest.rfind(" ("));
    end.map_or(claim.into(), |end| format!("{}.", &claim[..end]))
}

fn claim(claim: &Claim) -> Markup {
    let kind = words::verdict(claim.verdict);
    html! {
        details.(kind) {
            summary {
                span.verdict aria-hidden="true" { (words::mark(claim.verdict)) }
                span { span.claim-text { (short(&claim.text, 600)) } " " (judged(claim)) }
            }
            @if !claim.missing.is_empty() {
                p.small { (wording::capital(&short(&claim.missing, 1000))) "." }
            }
            @for text in &claim.about { p.small { (inline(text)) } }
            p.small { b { "Source: " } (short(&claim.source, 200)) "." }
            (claim.drawing)
            @for text in &claim.evidence { p.small { (inline(text)) } }
            @if let Some(text) = &claim.caveat { p.small { (short(text, CHARACTERS_MAX)) } }
        }
    }
}

/// Returns the verdict of a claim with its number, and why it is open.
fn judged(claim: &Claim) -> Markup {
    html! {
        @if claim.number.0.is_empty() { span.verdict { (claim.judged) "." } }
        @else { span.verdict { (claim.judged) ":" } " " (inline(&claim.number)) }
        @if !claim.open.is_empty() { "; " (claim.open) "." }
    }
}

/// Returns the class of a cell of a picture; that of a letter is the same in both cases.
fn cell_class(cell: char) -> Option<String> {
    let held = if cell.is_ascii_lowercase() { " held" } else { "" };
    cell.is_ascii_alphabetic().then(|| format!("cell-{}{held}", cell.to_ascii_lowercase()))
}

fn scrolled(table: &Table) -> Markup {
    let about = (!table.about.is_empty()).then(|| short(&table.about, 200));
    let role = about.as_ref().map(|_| "group");
    html! {
        div.scroll tabindex="0" role=[role] aria-label=[about] { (self::table(table)) }
    }
}

fn table(table: &Table) -> Markup {
    let kind = (!table.kind.is_empty()).then_some(table.kind);
    html! {
        table class=[kind] {
            thead {
                tr {
                    @for column in &table.columns {
                        th scope="col" class=[column.number.then_some("number")] { (short(&column.head, 200)) }
                    }
                }
            }
            tbody { @for row in &table.rows { (self::row(table, row)) } }
        }
    }
}

fn row(table: &Table, row: &Row) -> Markup {
    let toned = row.tone != Tone::Plain;
    let number = |index: usize| table.columns.get(index).is_some_and(|column| column.number);
    html! {
        tr.(class(row.tone))[toned] {
            @for (index, cell) in row.cells.iter().enumerate() {
                @if index == 0 { th scope="row" class=[number(0).then_some("number")] { (inline(cell)) } }
                @else if table.kind == "wide" { td { (light(cell)) } }
                @else { td class=[number(index).then_some("number")] data-v=[sorted(cell)] { (inline(cell)) } }
            }
            @if let Some(instead) = &row.instead {
                td.refusal colspan=(table.columns.len().saturating_sub(1)) { (inline(instead)) }
            }
        }
    }
}

/// Returns the number by which a script sorts a cell; short, since there are many.
fn sorted(cell: &Text) -> Option<String> {
    let by = cell.0.iter().find_map(|span| match span {
        Span::Sorted(by) => Some(*by),
        _ => None,
    })?;
    Some(if by.is_finite() { format!("{by:.4e}") } else { String::new() })
}

fn figure(figure: &Figure<'_>) -> Markup {
    let folded = figure.numbers.as_ref().filter(|_| !figure.shown);
    html! {
        figure.figure {
            h3 { (inline(&figure.title)) }
            (figure.drawing.svg())
            div.figure-folds {
                label.enlarge { input type="checkbox"; "Enlarge" }
                details.behind {
                    summary { (if folded.is_some() { "Numbers, files" } else { "About, files" }) }
                    @for text in &figure.caption { p.small { (inline(text)) } }
                    @if let Some(numbers) = folded { (scrolled(numbers)) }
                }
            }
            @if let Some(numbers) = figure.numbers.as_ref().filter(|_| figure.shown) { (scrolled(numbers)) }
        }
    }
}

/// Returns a text with its pieces marked up; what others wrote is made harmless.
pub(super) fn inline(text: &Text) -> Markup {
    html! { @for span in &text.0 { (self::span(span)) } }
}

/// Returns a cell of a table that has thousands: an interval stands in a line of its own.
fn light(text: &Text) -> Markup {
    let short = |span: &Span| match span {
        Span::Number(parts) if parts.interval.is_empty() => parts.point.clone(),
        Span::Number(parts) => format!("{}\n{}", parts.point, parts.interval),
        other => other.words(),
    };
    html! { (text.0.iter().map(short).collect::<String>()) }
}

/// Paints a number with its interval; a mark behind it may stand on a line of its own.
fn figures(parts: &Parts) -> Markup {
    let (interval, mark) = match parts.interval.strip_suffix(CORRECTED) {
        Some(interval) => (interval.trim_end(), CORRECTED),
        None => (parts.interval.as_str(), ""),
    };
    html! {
        span.figures {
            b { (parts.point) }
            @if !interval.is_empty() { " " span.interval { (interval) } }
        }
        @if !mark.is_empty() { " " span.interval { (mark) } }
    }
}

fn span(span: &Span) -> Markup {
    let harmless = |text: &str| short(text, CHARACTERS_MAX);
    match span {
        Span::Plain(text) => html! { (harmless(text)) },
        Span::Strong(text) => html! { b { (harmless(text)) } },
        Span::Code(text) => html! { code { (harmless(text)) } },
        Span::Quiet(text) => html! { span.quiet { (harmless(text)) } },
        Span::Number(parts) => figures(parts),
        Span::Cells(text) => html! {
            span.cells { @for cell in harmless(text).chars() { i class=[cell_class(cell)] { (cell) } } }
        },
        Span::OnPage(markup) => html! { (PreEscaped(markup)) },
        Span::Sorted(_) => html! {},
        Span::Key(index) => html! { (chart::key(*index)) " " },
        Span::Link(text, to) => html! { a href=(to) { (harmless(text)) } },
    }
}
