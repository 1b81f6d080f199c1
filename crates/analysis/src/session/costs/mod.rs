//! Cost accounts: counts times unit costs against a measured total, block by block.
//!
//! Every line is multiplied within its block, so that what slows a whole block down slows the
//! total and its parts alike. Only blocks that have all of an account's numbers count, so that
//! **in each of them the parts and the residual make up the total**. Their centres need not: a
//! number measured at one treatment has the median over blocks, as in the table of estimates; a
//! number formed from several has the median, as effects have; a share is a ratio of centres,
//! as [`Quantity::Share`](model::Quantity::Share) is.

use crate::session::disturbance::disturbed;
use crate::session::effect::common;
use crate::session::sample::{ByBlock, Table, less};
use crate::stats::interval::{BLOCKS_FREE, Located, centre, median_located, ratio_of_centres};
use model::{Account, AccountResult, Estimate, PartResult, Term, Treatment, Unit};
use std::collections::BTreeSet;

/// What sums of so few numbers lose to rounding, as a share of the total, at the most.
const ROUNDING: f64 = 32.0 * f64::EPSILON;

/// Returns all accounts of an experiment.
pub(crate) fn accounts(table: &Table<'_>) -> Vec<AccountResult> {
    table.design.accounts.iter().map(|account| result(table, account)).collect()
}

fn result(table: &Table<'_>, account: &Account) -> AccountResult {
    let unit = account
        .total
        .response()
        .and_then(|name| table.design.response(name))
        .map_or(Unit::Count, |response| response.unit.clone());
    let found = Ledger::of(table, account);
    let remarks = match &found {
        Ok(ledger) => remarks(table, account, ledger),
        Err(missing) => missing.clone(),
    };
    let lines = vec![Line::default(); account.parts.len()];
    let ledger = found.unwrap_or(Ledger { lines, ..Ledger::default() });
    let total = &ledger.total;
    let computed = computed(table, account);
    let described = |located: Option<Located>| {
        let located = located?;
        let estimate = located.estimate(|value| value);
        let exact = computed && located.agrees;
        Some(if exact { Estimate::exactly(estimate.point, estimate.samples) } else { estimate })
    };
    let part = |(part, line): (&model::Part, &Line)| PartResult {
        label: part.label.clone(),
        count: described(line.count.centre()),
        each: described(line.each.centre()),
        amount: described(line.amount.centre()),
        share: described(line.amount.share_of(total)),
    };
    AccountResult {
        id: account.id.clone(),
        title: account.title.clone(),
        unit,
        total: described(total.centre()),
        parts: account.parts.iter().zip(&ledger.lines).map(part).collect(),
        residual: described(ledger.residual.centre()),
        residual_share: described(ledger.residual.share_of(total)),
        remark: remarks.join("; "),
    }
}

/// Reports whether nothing of an account is measured.
fn computed(table: &Table<'_>, account: &Account) -> bool {
    let is_exact = |name| table.design.response(name).is_some_and(|it| it.exact);
    account.terms().filter_map(Term::response).all(is_exact)
}

/// The numbers of an account, one per block.
#[derive(Debug, Default)]
struct Ledger {
    total: Column,
    lines: Vec<Line>,
    residual: Column,
    /// Blocks that tried every treatment of it and lack a number all the same.
    lacking: usize,
}

/// A part's numbers.
#[derive(Clone, Debug, Default)]
struct Line {
    count: Column,
    each: Column,
    amount: Column,
}

/// One number per block.
#[derive(Clone, Debug, Default)]
struct Column {
    values: Vec<f64>,
    kind: Kind,
}

/// What a column's numbers are, which decides how they are centred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kind {
    /// The same number in every block, known beforehand.
    #[default]
    Known,
    /// Measured at one treatment.
    Level,
    /// Formed from several.
    Formed,
}

impl Column {
    fn centre(&self) -> Option<Located> {
        match self.kind {
            Kind::Level => median_located(&self.values),
            Kind::Known | Kind::Formed => centre(&self.values),
        }
    }

    /// Returns nothing (`None`) where the total is not distinguishable from 0.
    fn share_of(&self, total: &Column) -> Option<Located> {
        ratio_of_centres(&self.values, &total.values)
    }

    fn times(&self, other: &Column) -> Column {
        let kind = match (self.kind, other.kind) {
            (Kind::Known, kind) | (kind, Kind::Known) => kind,
            _ => Kind::Formed,
        };
        Column { values: self.values.iter().zip(&other.values).map(|(a, b)| a * b).collect(), kind }
    }

    fn less(&self, amounts: &[Line]) -> Column {
        let left = |(block, total): (usize, &f64)| {
            let left = amounts.iter().fold(*total, |left, line| left - line.amount.values[block]);
            // What computed parts leave over is 0 except for the rounding of each step.
            if left.abs() <= ROUNDING * total.abs() { 0.0 } else { left }
        };
        Column { values: self.values.iter().enumerate().map(left).collect(), kind: Kind::Formed }
    }
}

impl Ledger {
    /// Returns the account's numbers in the blocks that have them all; else what is missing.
    fn of(table: &Table<'_>, account: &Account) -> Result<Ledger, Vec<String>> {
        let missing = missing(table, account);
        if !missing.is_empty() {
            return Err(missing);
        }
        let columns = account.terms().filter_map(|term| by_block(table, term));
        let blocks = common(columns.map(|column| column.into_keys().collect()));
        let is_one_enough = blocks.len() == 1 && computed(table, account);
        if blocks.len() < 2 && !is_one_enough {
            return Err(vec![format!(
                "{} blocks have all of its numbers, 2 are needed",
                blocks.len()
            )]);
        }
        // Another block of computed numbers would say the same.
        let twice = usize::from(is_one_enough) + 1;
        let blocks: Vec<u32> = blocks.into_iter().collect::<Vec<_>>().repeat(twice);
        let total = column(table, &account.total, &blocks);
        let lines: Vec<Line> = account
            .parts
            .iter()
            .map(|part| {
                let [count, each] = [&part.count, &part.each].map(|it| column(table, it, &blocks));
                Line { amount: count.times(&each), count, each }
            })
            .collect();
        let residual = total.less(&lines);
        let places = places(table, account).into_iter();
        let tried = common(places.map(|(response, treatment)| table.tried(response, &treatment)));
        let lacking = tried.iter().filter(|block| !blocks.contains(block)).count();
        Ok(Ledger { total, lines, residual, lacking })
    }
}

/// Returns the numbers of a term by block, each net of its response's control; `None` for a known one.
fn by_block(table: &Table<'_>, term: &Term) -> Option<ByBlock> {
    let at = |response: &str, cell| table.blocks(response, &table.design.complete(cell));
    match term {
        Term::Known { .. } => None,
        Term::Measured { response, at: cell } => Some(at(response, cell)),
        Term::Difference { response, of, to } => Some(less(&at(response, of), &at(response, to))),
    }
}

fn column(table: &Table<'_>, term: &Term, blocks: &[u32]) -> Column {
    let kind = match term {
        Term::Known { .. } => Kind::Known,
        Term::Measured { .. } => Kind::Level,
        Term::Difference { .. } => Kind::Formed,
    };
    let values = by_block(table, term).unwrap_or_default();
    let value = |block| match term {
        Term::Known { value } => Some(*value),
        _ => values.get(block).copied(),
    };
    Column { values: blocks.iter().filter_map(value).collect(), kind }
}

/// Returns each response with a treatment where the account reads it, once.
fn places<'a>(table: &Table<'_>, account: &'a Account) -> BTreeSet<(&'a str, Treatment)> {
    let mut places = BTreeSet::new();
    for term in account.terms() {
        for cell in term.cells() {
            places.extend(term.response().map(|name| (name, table.design.complete(cell))));
        }
    }
    places
}

/// Returns what no block has, in words, each treatment once.
fn missing(table: &Table<'_>, account: &Account) -> Vec<String> {
    let mut described: BTreeSet<Treatment> = BTreeSet::new();
    let mut missing = Vec::new();
    for (response, treatment) in places(table, account) {
        if table.blocks(response, &treatment).is_empty() && described.insert(treatment.clone()) {
            let why = table.why_not(&treatment);
            missing.push(format!("no completed trial of {treatment}{why}"));
        }
    }
    missing
}

/// Returns what is to be doubted about an account that has its numbers.
fn remarks(table: &Table<'_>, account: &Account, ledger: &Ledger) -> Vec<String> {
    let blocks = ledger.total.values.len();
    let mut remarks = Vec::new();
    let is_disturbed = || places(table, account).iter().any(|it| disturbed(table.records(&it.1)));
    if !table.design.is_exact() && is_disturbed() {
        remarks.push("other programs, the host or a quota took part of the elapsed time of some of its trials"
                .into(),
        );
    }
    if ledger.lacking > 0 {
        remarks.push(format!(
            "{} of {} blocks lack one of its numbers and are left out",
            ledger.lacking,
            blocks + ledger.lacking
        ));
    }
    if blocks < BLOCKS_FREE && !table.design.is_exact() {
        remarks.push(format!(
            "only {blocks} blocks: the intervals assume normally distributed numbers"
        ));
    }
    if ledger.total.centre().is_some() && ledger.total.share_of(&ledger.total).is_none() {
        remarks
            .push("the total is not distinguishable from 0, so no share of it can be given".into());
    }
    remarks
}

#[cfg(test)]
mod tests;
