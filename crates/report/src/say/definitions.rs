//! What exactly is measured: definition cards near the numbers, and how the trials work.

use super::chapter::Chapter;
use crate::catalog::{card_lines, definition, needs, unit};
use crate::doc::{Block, Kind, Role, Table, Text};
use crate::words::{self, capital};
use model::{Design, Quantity, Response};
use std::collections::BTreeSet;

/// Returns the definition of a number, where an experiment measures one thing by several: findings and
/// claims about different responses of the same unit are easily taken for the same.
pub(crate) fn of_quantity(chapter: &Chapter<'_>, quantity: &Quantity) -> Option<String> {
    let design = chapter.design?;
    let response = design.response(quantity.response())?;
    is_ambiguous(design, response).then(|| definition(response)).flatten().map(|it| capital(&it))
}

/// Reports whether findings and claims are also about other responses of this one's unit.
fn is_ambiguous(design: &Design, response: &Response) -> bool {
    let findings = design.findings.iter().map(|finding| finding.quantity.response());
    let claims = design.claims.iter().map(|claim| claim.quantity.response());
    let asked: BTreeSet<&str> = findings.chain(claims).collect();
    asked
        .into_iter()
        .filter_map(|name| design.response(name))
        .any(|other| other.name != response.name && other.unit == response.unit)
}

/// Returns the definition cards of some responses.
pub(crate) fn cards<'r>(responses: impl Iterator<Item = &'r Response>) -> Block<'static> {
    Block::Columns(Kind::Cards, responses.map(card).collect())
}

fn card(response: &Response) -> Vec<Block<'static>> {
    let name = Text::strong(capital(&words::label(response)))
        .then(" ")
        .then(Text::code(response.name.clone()))
        .then(Text::quiet(format!(", in {}", unit(&response.unit))));
    let lines = card_lines(response).into_iter().chain(gaps(response));
    vec![Block::paragraph(Role::Plain, name), Block::List(lines.map(Text::from).collect())]
}

/// Returns what a card leaves open, in words: a reader is not to guess whether nothing was corrected or
/// nobody said so.
fn gaps(response: &Response) -> Vec<String> {
    let card = &response.card;
    let mut gaps = Vec::new();
    if card.from.is_empty() && card.to.is_empty() {
        gaps.push("from where to where: the card does not say".into());
    }
    if card.corrected.is_empty() && response.subtract.is_none() {
        gaps.push("corrected: nothing is divided or subtracted".into());
    }
    if card.source.is_empty() {
        gaps.push("read from: the card does not say".into());
    }
    gaps
}

/// Returns how the trials work, what they vary and what they need.
pub(crate) fn method(design: &Design) -> Block<'static> {
    let needs = needs(design).iter().map(|line| capital(line).into()).collect();
    let mut table = Table::of(&["factor", "level", "from profile", "what the trial does"]);
    for factor in &design.factors {
        for level in &factor.levels {
            let baseline = if level.name == factor.baseline { " (baseline)" } else { "" };
            table.row([
                words::plain(&factor.name),
                format!("{}{baseline}", words::plain(&level.name)),
                level.from.name().to_string(),
                level.about.clone(),
            ]);
        }
    }
    Block::fold(
        "How it is measured, and what it needs",
        vec![
            Block::paragraph(Role::Plain, design.method.clone()),
            Block::heading(4, "Needs and limits"),
            Block::List(needs),
            Block::heading(4, "What is varied"),
            Block::Table(table),
        ],
    )
}
