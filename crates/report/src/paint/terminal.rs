//! A document as text for a terminal, with ANSI colours that a pipe can strip.

use super::styled::{marked, plain, plain_words, style, styled};
use super::{claims, table};
use crate::doc::{Block, Doc, Note, Role, Table, Text, Tone};
use crate::text::{BOLD, CARE, DIM, bounded, paint};

/// Whether details are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Folds {
    /// All of them.
    Open,
    /// None.
    Closed,
}

/// Returns the document in lines of at most `width` columns.
pub(crate) fn text(doc: &Doc<'_>, width: usize, folds: Folds) -> String {
    let lines = lines(&doc.blocks, bounded(width), folds);
    let first = lines.iter().position(|line| !line.is_empty()).unwrap_or(0);
    let mut out = lines[first..].join("\n");
    out.truncate(out.trim_end().len());
    out + "\n"
}

/// Returns blocks as lines of at most `width` columns, one of which may be empty at either end.
pub(crate) fn lines(blocks: &[Block<'_>], width: usize, folds: Folds) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut before: Option<bool> = None;
    for block in blocks {
        let lines = self::block(block, width, folds);
        if lines.is_empty() {
            continue;
        }
        // What is not a sentence stands apart; under its heading it need not.
        let apart = !matches!(block, Block::Paragraph(..) | Block::Note(_) | Block::List(_));
        let heading = matches!(block, Block::Heading(..));
        let begins = heading || matches!(block, Block::Section(..) | Block::Chapter(..));
        let answer = matches!(block, Block::Paragraph(Role::Answer, _));
        if before.is_some_and(|headed| begins || (!headed && (apart || answer))) {
            blank(&mut out);
        }
        out.extend(lines);
        if apart && !heading {
            blank(&mut out);
        }
        before = Some(heading);
    }
    out
}

fn blank(lines: &mut Vec<String>) {
    if lines.last().is_some_and(|line| !line.is_empty()) {
        lines.push(String::new());
    }
}

fn block(block: &Block<'_>, width: usize, folds: Folds) -> Vec<String> {
    match block {
        Block::Heading(_, text) => styled(BOLD, &text.words(), "", width),
        Block::Paragraph(role, text) => match role {
            Role::Command => plain(&text.words(), "  ", width),
            Role::Caveat => styled(CARE, &text.words(), "", width),
            Role::Definition if folds != Folds::Open => Vec::new(),
            Role::Lead | Role::Definition | Role::Small => styled(DIM, &text.words(), "", width),
            Role::Answer => styled(BOLD, &text.words(), "", width),
            Role::Further | Role::Plain => plain(&plain_words(text), "", width),
        },
        Block::Note(note) => self::note(note, width),
        Block::List(items) => {
            items.iter().flat_map(|item| marked("·", DIM, &plain_words(item), width)).collect()
        }
        Block::Table(table) => table::lines(table, width),
        Block::Facts(facts) => {
            let rows = facts.iter().map(|(name, text)| [name.as_str().into(), text.clone()]);
            table::lines(&Table::of(&["", ""]).rows::<Text>(rows), width)
        }
        Block::Letters(lines) => lines.clone(),
        Block::Figure(figure) | Block::Chart(_, figure) => {
            let drawn = figure.drawing.letters(width);
            if drawn.is_empty() {
                return Vec::new();
            }
            let mut lines = styled(BOLD, &figure.title.words(), "", width);
            lines.extend(drawn);
            let caption = figure.caption.iter();
            let caption: Vec<String> = caption.map(Text::words).collect();
            lines.extend(styled(DIM, &caption.join(" "), "", width));
            let numbers = figure.numbers.iter().filter(|_| figure.shown);
            lines.extend(numbers.flat_map(|numbers| table::lines(numbers, width)));
            lines
        }
        Block::Anchored(_, text) => styled(DIM, &text.words(), "", width),
        Block::Claims(claims) => claims::lines(claims, width, folds),
        Block::KeyClaims(claims) => claims::lines(claims, width, Folds::Closed),
        Block::OnPage(_) => Vec::new(),
        Block::Fold(fold) if folds == Folds::Open => {
            let mut lines = styled(BOLD, &fold.label.words(), "", width);
            let inner = self::lines(&fold.blocks, width.saturating_sub(2), folds);
            lines.extend(inner.iter().map(|line| indented(line)));
            lines
        }
        Block::Fold(_) => Vec::new(),
        Block::Section(_, blocks) | Block::Chapter(_, blocks) | Block::InTerminal(blocks) => {
            self::lines(blocks, width, folds)
        }
        Block::Answers(answers) => {
            let rows = answers.iter().map(|one| {
                [one.name.as_str().into(), one.verdicts.as_str().into(), one.answer.clone()]
            });
            table::lines(&Table::of(&["", "", ""]).rows::<Text>(rows), width)
        }
        Block::Columns(_, columns) => {
            let mut out = Vec::new();
            for column in columns {
                blank(&mut out);
                out.extend(self::lines(column, width, folds));
            }
            out
        }
    }
}

fn indented(line: &str) -> String {
    if line.is_empty() { String::new() } else { format!("  {line}") }
}

fn note(note: &Note, width: usize) -> Vec<String> {
    let style = style(note.tone);
    let text: Vec<String> = note.text.iter().map(plain_words).collect();
    let text = text.join(" ");
    let lines = marked(note.tone.mark(), style, &text, width);
    match note.tone {
        Tone::Quiet => lines.iter().map(|line| paint(DIM, line)).collect(),
        _ => lines,
    }
}
