//! A document as Markdown, for the docs.

use crate::doc::{Block, Doc, Role, Span, Table, Text};

/// Returns the document. Drawings, and what only a page or a terminal can do, are left out.
pub(crate) fn markdown(doc: &Doc<'_>) -> String {
    let blocks: Vec<String> = doc.blocks.iter().map(block).collect();
    blocks.join("\n")
}

fn block(block: &Block<'_>) -> String {
    match block {
        Block::Heading(level, text) => {
            format!("{} {}\n", "#".repeat(usize::from(*level)), inline(text))
        }
        Block::Paragraph(Role::Answer, text) => format!("**{}**\n", inline(text)),
        Block::Paragraph(_, text) => format!("{}\n", inline(text)),
        Block::List(items) => items.iter().map(|item| format!("- {}\n", inline(item))).collect(),
        Block::Table(table) => self::table(table),
        _ => String::new(),
    }
}

fn table(table: &Table) -> String {
    let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let heads = table.columns.iter().map(|column| escaped(&column.head)).collect();
    let rows = table.rows.iter().map(|one| row(one.cells.iter().map(cell).collect()));
    let rule = format!("|{}\n", "---|".repeat(table.columns.len()));
    row(heads) + &rule + &rows.collect::<String>()
}

fn cell(text: &Text) -> String {
    inline(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn inline(text: &Text) -> String {
    let span = |span: &Span| match span {
        Span::Code(code) => format!("`{code}`"),
        other => escaped(&other.words()),
    };
    text.0.iter().map(span).collect()
}

/// Returns text that cannot end a cell of a table or become markup.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if c.is_whitespace() {
            out.push_str(if out.ends_with(' ') { "" } else { " " });
            continue;
        }
        if matches!(c, '|' | '*' | '_' | '`' | '<' | '>' | '[' | ']' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
