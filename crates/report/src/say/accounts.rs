//! What totals are made of: counts times unit costs, and what they leave over.

use super::chapter::Chapter;
use crate::chart::Stack;
use crate::doc::{Block, Figure, Span, Table, Text, Tone};
use crate::text::Letters;
use model::{AccountResult, Estimate, PartResult};
use wording::number::{Terms, parts};
use wording::{capital, short, stated};

/// Returns all accounts of an experiment.
pub(crate) fn accounts(chapter: &Chapter<'_>, letters: Letters) -> Vec<Block<'static>> {
    let accounts = &chapter.summary.accounts;
    if accounts.is_empty() {
        return Vec::new();
    }
    let about = if accounts.iter().all(is_exact) {
        "Counts times unit costs, computed as the total is. The rest is what the parts do not explain."
    } else {
        "Counts times unit costs, measured in the same blocks as the total and multiplied block by \
         block. The rest is what the parts do not explain. Each line has its own centre, so that \
         lines need not add up to the last digit."
    };
    let mut blocks = vec![Block::small(about)];
    blocks.extend(accounts.iter().flat_map(|account| one(chapter, account, letters)));
    blocks
}

/// Reports whether an account was computed, not measured.
fn is_exact(account: &AccountResult) -> bool {
    account.total.as_ref().is_some_and(Estimate::is_exact)
}

fn one(chapter: &Chapter<'_>, account: &AccountResult, letters: Letters) -> Vec<Block<'static>> {
    let title = capital(&short(&account.title, 200));
    if account.total.is_none() {
        let missing = chapter.measured().of_account(&account.id, &account.remark);
        let text = vec![format!("There is no account: {}.", missing.why).into()];
        return vec![Block::heading(3, title), Block::said(Tone::Absent, missing.word, text)];
    }
    let remark = stated(&account.remark).map(|remark| Text::from(format!("{}.", capital(remark))));
    if let Some(bar) = bar(account, letters) {
        let ends = if is_exact(account) { "" } else { ", with the 95 % interval" };
        let what = format!("Vertical line: the total. Below the bar: where its parts end{ends}.");
        let caption = std::iter::once(what.into()).chain(remark).collect();
        let numbers = Some(table(account));
        let figure = Figure { numbers, shown: true, ..Figure::new(title, bar, caption) };
        return vec![Block::Figure(figure)];
    }
    let mut blocks = vec![Block::heading(3, title), Block::Table(table(account))];
    blocks.extend(remark.map(Block::small));
    blocks
}

/// Returns the parts of a total as shares of it, if all of them are known.
fn bar(account: &AccountResult, letters: Letters) -> Option<Stack> {
    let part = |part: &PartResult| Some((part.label.clone(), part.share?));
    let parts = account.parts.iter().map(part).collect::<Option<Vec<_>>>()?;
    Some(Stack { parts, rest: account.residual_share?, letters })
}

fn table(account: &AccountResult) -> Table {
    let heads = ["part", "#count", "#× each", "#= amount", "#share of the total"];
    let mut table = Table::of(&heads).kind("sums", "");
    let unit = Terms::In(&account.unit);
    for (index, part) in account.parts.iter().enumerate() {
        table.row([
            Text(vec![Span::Key(index)]).then(short(&part.label, 120)),
            amount(part.count.as_ref(), Terms::Plain),
            amount(part.each.as_ref(), unit),
            amount(part.amount.as_ref(), unit),
            amount(part.share.as_ref(), Terms::Share),
        ]);
    }
    let rest = match &account.residual {
        Some(residual) if residual.high < 0.0 => "the rest: its parts are more than the total",
        _ => "the rest: explained by none of these",
    };
    let none = Text::default;
    table.row([
        rest.into(),
        none(),
        none(),
        amount(account.residual.as_ref(), unit),
        amount(account.residual_share.as_ref(), Terms::Share),
    ]);
    let all = if is_exact(account) { "in all" } else { "in all, as measured" };
    let total = amount(account.total.as_ref(), unit);
    table.row([all.into(), none(), none(), total, "100 %".into()]);
    table
}

/// Returns a number with its interval. One that was known beforehand, or the same in every block, has
/// none; above the table stands that all are computed where they are.
fn amount(estimate: Option<&Estimate>, terms: Terms<'_>) -> Text {
    let Some(estimate) = estimate else {
        return "–".into();
    };
    let mut number = parts(estimate, terms);
    if estimate.is_exact() {
        number.interval.clear();
    }
    Text::number(number)
}
