//! What docs/machine.md says of csrs, stops and addresses is so.

use isa::encode::nop;
use isa::{MSIP_ADDRESS, MTIME_ADDRESS, MTIMECMP_ADDRESS, Machine, Program, Setup};

const PAGE: &str = include_str!("../../../../docs/machine.md");

/// The cells of the table under a header, row by row.
fn table(header: &str) -> Vec<Vec<&'static str>> {
    let rows = PAGE.lines().skip_while(|line| *line != header).skip(2);
    let rows = rows.take_while(|line| line.starts_with('|'));
    rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

fn number(word: &str) -> u16 {
    u16::from_str_radix(word.trim().strip_prefix("0x").unwrap(), 16).unwrap()
}

#[test]
fn the_csrs_of_the_page_are_those_of_the_machine() {
    let mut shown = Vec::new();
    for row in table("| csr | number | what it holds |") {
        for piece in row[1].split(',') {
            match piece.split_once(" to ") {
                Some((first, last)) => shown.extend(number(first)..=number(last)),
                None => shown.push(number(piece)),
            }
        }
    }
    shown.sort_unstable();
    let machine = Machine::new(&Program::from_words(0, &[nop()]), &Setup::default()).unwrap();
    let there: Vec<u16> = (0..4096).filter(|number| machine.csr(*number).is_some()).collect();
    assert_eq!(shown, there);
}

#[test]
fn the_stops_of_the_page_are_those_of_the_machine() {
    let source = include_str!("../../src/machine/stop.rs");
    let shown = table("| stop | when |");
    let names: Vec<&str> = shown.iter().map(|row| row[0].trim_matches('`')).collect();
    assert_eq!(names.len(), 6);
    for name in names {
        assert!(source.contains(&format!("\n    {name}")), "{name}");
    }
}

#[test]
fn the_timer_lies_where_the_page_says() {
    for address in [MSIP_ADDRESS, MTIMECMP_ADDRESS, MTIME_ADDRESS] {
        assert!(PAGE.contains(&format!("{address:#010x}")), "{address:#010x}");
    }
}
