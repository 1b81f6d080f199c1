//! A table as CSV, for other programs: numbers without the marks that only readers want.

use crate::doc::Table;

/// What the columns of a number are called after its own.
const PARTS: [&str; 4] = ["", " unit", " low", " high"];

/// Returns a table as CSV by RFC 4180 with a line feed at the end of a line. A number that stands with its unit
/// and its interval has a column for each of its parts.
pub(crate) fn csv(table: &Table) -> String {
    let plain = |cell: &str| cell.replace('\u{202f}', "").replace('\u{a0}', " ").replace('−', "-");
    let cell = |row: &crate::doc::Row, index: usize| {
        row.cells.get(index).map_or(String::new(), |cell| plain(&cell.words()))
    };
    let mut columns: Vec<Vec<String>> = Vec::new();
    for (index, column) in table.columns.iter().enumerate() {
        let cells = table.rows.iter().map(|row| cell(row, index));
        let parted: Vec<[String; 4]> = match index {
            0 => cells.map(whole).collect(),
            _ => cells.map(|cell| parts(&cell).unwrap_or_else(|| whole(cell))).collect(),
        };
        for (part, name) in PARTS.iter().enumerate() {
            if parted.iter().any(|cell| !cell[part].is_empty()) {
                let head = format!("{}{name}", column.head);
                columns.push(
                    std::iter::once(head)
                        .chain(parted.iter().map(|cell| cell[part].clone()))
                        .collect(),
                );
            }
        }
    }
    let line = |row: usize| {
        let cells: Vec<String> = columns.iter().map(|column| field(&column[row])).collect();
        cells.join(",") + "\n"
    };
    (0..=table.rows.len()).map(line).collect()
}

/// Returns a cell that is no number; a dash is none.
fn whole(cell: String) -> [String; 4] {
    [if cell == "–" { String::new() } else { cell }, String::new(), String::new(), String::new()]
}

/// Returns the number, unit and ends of "20.7 µs [20.3, 22.2]", as far as they are there.
fn parts(cell: &str) -> Option<[String; 4]> {
    let (number, interval) = match cell.split_once('[') {
        Some((number, rest)) => (number.trim(), rest.strip_suffix(']')?.split_once(", ")?),
        None => (cell, ("", "")),
    };
    let (number, unit) = number.split_once(' ').unwrap_or((number, ""));
    let known = number.is_empty() != number.parse::<f64>().is_ok();
    let (low, high) = interval;
    (known && !unit.contains(' ')).then(|| [number, unit, low, high].map(str::to_string))
}

/// Returns a field as RFC 4180 quotes it. What a spreadsheet would take for a formula gets an apostrophe.
fn field(text: &str) -> String {
    let formula =
        text.trim_start().starts_with(['=', '+', '-', '@', '\'', '\t', '＝', '＋', '－', '＠']);
    let guard = if formula && text.parse::<f64>().is_err() { "'" } else { "" };
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{guard}{}\"", text.replace('"', "\"\"")),
        false => format!("{guard}{text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_a_column_for_each_of_its_parts() {
        let mut table = Table::of(&["treatment", "#time", "#95 % interval", "#in all", "#trials"]);
        table.row(["fork, a \"copy\"", "1\u{202f}023 µs", "[−3, 5]", "3 ns [1, 4]", "15"]);
        table.row(["=call", "–", "", "5 %", "2"]);
        let expected = "treatment,time,time unit,95 % interval low,95 % interval high,in all,in all unit,\
                        in all low,in all high,trials\n\
                        \"fork, a \"\"copy\"\"\",1023,µs,-3,5,3,ns,1,4,15\n'=call,,,,,5,%,,,2\n";
        assert_eq!(csv(&table), expected);
    }
}
