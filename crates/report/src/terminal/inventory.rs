//! Planted answers, accounts, floors and exhibits in the terminal: a line that points to the
//! report, or all of them.

use super::Own;
use crate::evidence;
use crate::exhibits::{Shown, shown};
use crate::format::{self, Terms, joined, parts};
use crate::missing;
use crate::text::{CARE, DIM, columns, cut, padded, paint, wrapped};
use crate::words::{self, counted};
use model::{AccountResult, Estimate, Exhibit, ResponseFloor};

/// Columns of a response's name, of a part's, and of one cell of an exhibit, at most.
const LABEL_COLUMNS_MAX: usize = 32;
const PART_COLUMNS_MAX: usize = 120;
const CELL_COLUMNS_MAX: usize = 40;

/// Rows of one exhibit, exhibits of one experiment that are printed.
const ROWS_MAX: usize = 64;
const SHOWN_MAX: usize = 40;

/// One line per account that has its numbers, and one that counts the exhibits.
pub(super) fn pointer(own: &Own<'_>, width: usize) -> Vec<String> {
    let inner = width.saturating_sub(2);
    let mut lines = Vec::new();
    for account in &own.summary.accounts {
        if let (Some(total), Some(rest)) = (&account.total, &account.residual_share) {
            let total = format::rounded(total.point, Terms::In(&account.unit));
            let text = format!("Account: {}, {total}, {}", account.title, left(rest));
            lines.push(format!("  {}", cut(&text, inner)));
        }
    }
    lines.extend(exhibits_pointer(own, inner));
    lines
}

/// A line of so many columns that counts the exhibits; none where there are none.
pub(super) fn exhibits_pointer(own: &Own<'_>, inner: usize) -> Option<String> {
    let seen = shown(own.design, &own.records);
    let more = match seen.len() {
        0 | 1 => String::new(),
        n => format!(" and {} more", n - 1),
    };
    let text = format!("In the report: {}{more}", seen.first()?.exhibit.title);
    Some(format!("  {}", paint(DIM, &cut(&text, inner))))
}

/// How much of a total its parts do not explain, or how much more they are.
fn left(rest: &Estimate) -> String {
    if rest.high < 0.0 {
        let (low, high) = (-rest.high, -rest.low);
        let more = Estimate { point: -rest.point, low, high, ..*rest };
        return format!("its parts are {} more", joined(&parts(&more, Terms::Share)));
    }
    format!("{} unexplained", joined(&parts(rest, Terms::Share)))
}

/// All planted answers, accounts, floors and exhibits.
pub(super) fn whole(own: &Own<'_>, width: usize) -> Vec<String> {
    let accounts = own.summary.accounts.iter().flat_map(|a| account_lines(own, a, width));
    let planted = crate::selftest::tables(&[own.summary], width.saturating_sub(2));
    let mut lines: Vec<String> = planted.iter().map(|line| format!("  {line}")).collect();
    lines.extend(accounts);
    lines.extend(floor_lines(own, width));
    let seen = shown(own.design, &own.records);
    for one in seen.iter().take(SHOWN_MAX) {
        let place = match own.design {
            Some(design) => {
                words::treatment(design, one.treatment, &words::varying(design, &own.records))
            }
            None => cut(&one.treatment.to_string(), words::LABEL_CHARACTERS_MAX),
        };
        lines.extend(exhibit_lines(one, &place, width));
    }
    if seen.len() > SHOWN_MAX {
        let more = counted((seen.len() - SHOWN_MAX) as u64, "more exhibit");
        lines.push(format!("  {more} in trials.ndjson"));
    }
    lines
}

/// How small a difference each response shows, and where its scatter comes from.
pub(super) fn floor_lines(own: &Own<'_>, width: usize) -> Vec<String> {
    let inner = width.saturating_sub(6);
    let share = |x: Option<f64>| x.map_or("–".to_string(), |x| format::rounded(x, Terms::Share));
    let least = |x: Option<f64>| x.map_or("–".to_string(), |x| format::rough(x, Terms::Share));
    let mut lines = Vec::new();
    // Of what was the same in every trial there is nothing to say.
    let known = |floor: &&ResponseFloor| floor.now.is_some() || floor.in_ten_times.is_some();
    for floor in own.summary.floors.iter().filter(known) {
        let variance = own.summary.variances.iter().find(|v| v.response == floor.response);
        let mut text = format!(
            "{}: {} now, {} in ten times the time",
            cut(&floor.response, LABEL_COLUMNS_MAX),
            least(floor.now),
            least(floor.in_ten_times)
        );
        if let Some(variance) = variance {
            text.push_str(&format!(
                "; a trial scatters by {}, mostly {}",
                share(Some(variance.total)),
                evidence::source(variance.largest)
            ));
            if !variance.remedy.is_empty() {
                text.push_str(&format!(". {}", cut(variance.remedy.trim_end_matches('.'), 200)));
            }
        }
        for (index, line) in wrapped(&text, inner).iter().enumerate() {
            lines.push(format!("{}{line}", if index == 0 { "    " } else { "      " }));
        }
    }
    if !lines.is_empty() {
        lines.insert(0, "  The smallest difference that shows:".into());
    }
    lines
}

fn account_lines(own: &Own<'_>, account: &AccountResult, width: usize) -> Vec<String> {
    let inner = width.saturating_sub(4);
    let title = cut(&format!("Account: {}", account.title), inner);
    let mut lines = vec![format!("  {title}")];
    lines.extend(account_table(own, account, false, width));
    lines
}

/// The parts of an account with the rest and the total, or why there is none. With `keyed` each
/// part begins with the number that it has in the bar.
pub(super) fn account_table(
    own: &Own<'_>,
    account: &AccountResult,
    keyed: bool,
    width: usize,
) -> Vec<String> {
    let inner = width.saturating_sub(4);
    let mut lines = Vec::new();
    let Some(total) = &account.total else {
        let missing = missing::of_account(own.measured(), &account.id, &account.remark);
        let text = cut(&missing.whole(), 3 * inner);
        lines.extend(wrapped(&text, inner).iter().map(|line| format!("    {}", paint(CARE, line))));
        return lines;
    };
    let unit = Terms::In(&account.unit);
    let told = |estimate: Option<&Estimate>, terms| {
        estimate.map_or("–".to_string(), |estimate| joined(&parts(estimate, terms)))
    };
    let mut rows: Vec<[String; 3]> = account
        .parts
        .iter()
        .enumerate()
        .map(|(index, part)| {
            let (count, each) =
                (told(part.count.as_ref(), Terms::Plain), told(part.each.as_ref(), unit));
            let product = format!("{count} × {each} = {}", told(part.amount.as_ref(), unit));
            let key = if keyed { format!("{} ", index + 1) } else { String::new() };
            [
                key + &cut(&part.label, PART_COLUMNS_MAX),
                told(part.share.as_ref(), Terms::Share),
                product,
            ]
        })
        .collect();
    rows.push([
        "the rest".into(),
        told(account.residual_share.as_ref(), Terms::Share),
        told(account.residual.as_ref(), unit),
    ]);
    rows.push(["in all".into(), "100 %".into(), told(Some(total), unit)]);
    lines.extend(account_rows(&rows, inner).iter().map(|line| format!("    {line}")));
    lines
}

/// Rows of name, share and amount in columns; where one is too wide, all amounts stand under their
/// names.
fn account_rows(rows: &[[String; 3]], width: usize) -> Vec<String> {
    let most = |column: usize| rows.iter().map(|row| columns(&row[column])).max().unwrap_or(0);
    let (first, second, third) = (most(0), most(1), most(2));
    let under = first + second + third + 4 > width;
    let mut lines = Vec::new();
    for [name, share, amount] in rows {
        if under {
            let name = format!("{name}: {share}");
            lines.extend(wrapped(&name, width));
            let amount = wrapped(amount, width.saturating_sub(2));
            lines.extend(amount.iter().map(|line| format!("  {line}")));
        } else {
            lines.push(format!("{}  {}  {amount}", padded(name, first), padded(share, second)));
        }
    }
    lines
}

fn exhibit_lines(one: &Shown<'_>, place: &str, width: usize) -> Vec<String> {
    let inner = width.saturating_sub(4);
    let title = format!("{} ({place})", one.exhibit.title);
    let mut lines: Vec<String> =
        wrapped(&cut(&title, 2 * inner), inner).iter().map(|line| format!("  {line}")).collect();
    let origin = wrapped(&one.origin(), inner);
    lines.extend(origin.iter().map(|line| format!("    {}", paint(DIM, line))));
    lines.extend(exhibit_rows(one.exhibit, inner).iter().map(|line| format!("    {line}")));
    let left_out = one.exhibit.rows.len().saturating_sub(ROWS_MAX) as u64;
    let left_out = left_out.saturating_add(one.exhibit.rows_left_out);
    if left_out > 0 {
        lines.push(format!("    {} not shown", counted(left_out, "more row")));
    }
    lines
}

/// A table whose cells are cut so that a row is a line.
fn exhibit_rows(exhibit: &Exhibit, width: usize) -> Vec<String> {
    let all = || std::iter::once(&exhibit.columns).chain(exhibit.rows.iter().take(ROWS_MAX));
    let widths: Vec<usize> = (0..exhibit.columns.len())
        .map(|column| {
            let cells = all().filter_map(|row| row.get(column));
            cells.map(|cell| columns(cell).min(CELL_COLUMNS_MAX)).max().unwrap_or(0)
        })
        .collect();
    let line = |row: &Vec<String>| {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, most)| padded(&cut(cell, *most), *most)).collect();
        cut(cells.join("  ").trim_end(), width)
    };
    all()
        .enumerate()
        .map(|(index, row)| match index {
            0 => paint(DIM, &line(row)),
            _ => line(row),
        })
        .collect()
}
