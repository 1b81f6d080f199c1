//! A document as one self-contained page.

use crate::doc::{Block, Doc, Figure, Note, Role, Row, Span, Table, Text, Tone};
use crate::page::document_of;
use crate::words::short;
use maud::{Markup, html};

/// The most characters of one piece of text.
const CHARACTERS_MAX: usize = 4000;

/// Returns the page; `style` is what its drawings need beside the common look.
pub(crate) fn page(doc: &Doc<'_>, style: &str) -> String {
    let title = format!("scruple · {}", short(&doc.title, 120));
    // What comes before the second heading is the opening.
    let opening = doc.blocks.iter().position(|block| matches!(block, Block::Heading(2, _)));
    let (opening, rest) = doc.blocks.split_at(opening.unwrap_or(doc.blocks.len()));
    let body = html! {
        main {
            header.opening {
                p.eyebrow { "scruple · " (doc.kind) }
                (blocks(opening))
            }
            @for section in sections(rest) { section { (blocks(section)) } }
        }
        footer {
            p { "Made by scruple " (short(&doc.scruple, 40)) ". This file needs no network." }
        }
        div #tip role="status" aria-live="polite" hidden {}
    };
    document_of(&doc.scruple, &title, &body, style)
}

/// Cuts blocks before each heading of level 2.
fn sections<'d, 'a>(blocks: &'d [Block<'a>]) -> Vec<&'d [Block<'a>]> {
    let heads = blocks.iter().enumerate().filter(|(_, b)| matches!(b, Block::Heading(2, _)));
    let mut cuts: Vec<usize> = heads.map(|(index, _)| index).collect();
    cuts.push(blocks.len());
    cuts.windows(2).map(|pair| &blocks[pair[0]..pair[1]]).collect()
}

/// Returns blocks as they stand within a page.
pub(crate) fn blocks(blocks: &[Block<'_>]) -> Markup {
    html! { @for one in blocks { (block(one)) } }
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
            Role::Small => html! { p.small { (inline(text)) } },
        },
        Block::Note(note) => self::note(note),
        Block::List(items) => html! { ul.notes { @for item in items { li { (inline(item)) } } } },
        Block::Table(table) => html! { div.scroll { (self::table(table)) } },
        Block::Facts(facts) => html! {
            dl.facts { @for (name, text) in facts { div { dt { (name) } dd { (inline(text)) } } } }
        },
        Block::Figure(figure) => self::figure(figure),
        Block::Fold { label, open, blocks } => html! {
            details open[*open] {
                summary { (inline(label)) }
                (self::blocks(blocks))
            }
        },
        Block::Columns(columns) => html! {
            div.columns { @for column in columns { div { (self::blocks(column)) } } }
        },
    }
}

fn note(note: &Note) -> Markup {
    html! {
        div.note.(class(note.tone)) {
            span.note-word { (note.mark) " " (short(&note.word, 80)) }
            div { @for text in &note.text { p { (inline(text)) } } }
        }
    }
}

fn class(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "good",
        Tone::Bad => "bad",
        Tone::Care => "care",
        Tone::Plain | Tone::Quiet => "plain",
    }
}

fn table(table: &Table) -> Markup {
    html! {
        table {
            thead {
                tr {
                    @for column in &table.columns {
                        th scope="col" .number[column.number] { (short(&column.head, 200)) }
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
                @if index == 0 { th scope="row" .number[number(0)] { (inline(cell)) } }
                @else { td .number[number(index)] { (inline(cell)) } }
            }
        }
    }
}

fn figure(figure: &Figure<'_>) -> Markup {
    html! {
        figure.figure {
            h4 { (inline(&figure.title)) }
            (figure.drawing.svg())
            figcaption {
                @for (index, text) in figure.caption.iter().enumerate() {
                    @if index > 0 { " " }
                    (inline(text))
                }
            }
            @if let Some(numbers) = &figure.numbers {
                details.behind {
                    summary { "The numbers behind this figure" }
                    div.scroll { (table(numbers)) }
                }
            }
        }
    }
}

/// Returns a text with its pieces marked up; what others wrote is made harmless.
pub(crate) fn inline(text: &Text) -> Markup {
    html! { @for span in &text.0 { (self::span(span)) } }
}

fn span(span: &Span) -> Markup {
    let harmless = |text: &str| short(text, CHARACTERS_MAX);
    match span {
        Span::Plain(text) => html! { (harmless(text)) },
        Span::Strong(text) => html! { b { (harmless(text)) } },
        Span::Code(text) => html! { code { (harmless(text)) } },
        Span::Quiet(text) => html! { span.quiet { (harmless(text)) } },
        Span::Number(parts) => html! {
            span.figures {
                b { (parts.point) }
                @if !parts.interval.is_empty() { " " span.interval { (parts.interval) } }
            }
        },
        Span::Link(text, to) => html! { a href=(to) { (harmless(text)) } },
    }
}
