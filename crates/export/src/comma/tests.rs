use super::*;
use crate::fixture::{Made, design, factor, made, manifest, response, trial, with};
use model::{Outcome, Unit};
use proptest::prelude::*;

fn text(made: &Made, choice: &Choice, rows: Rows) -> (u64, String) {
    let mut out = Vec::new();
    let count = write_csv(&made.session(), choice, rows, false, &mut out).unwrap();
    (count, String::from_utf8(out).unwrap())
}

/// Returns the text that [`guarded`] was given.
fn unguarded(text: &str) -> &str {
    text.strip_prefix('\'').unwrap_or(text)
}

/// The header, and the rows by the names of the columns.
fn read(text: &str) -> Vec<std::collections::HashMap<String, String>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().unwrap().clone();
    let row = |row: csv::StringRecord| {
        header.iter().map(str::to_string).zip(row.iter().map(str::to_string)).collect()
    };
    reader.records().map(|record| row(record.unwrap())).collect()
}

#[test]
fn a_session_as_a_table() {
    let (count, text) = text(&made(), &Choice::default(), Rows::Trials);
    assert_eq!(count, 6 * 3 + 4);
    insta::assert_snapshot!(text);
}

#[test]
fn a_session_as_its_observations() {
    let (count, text) = text(&made(), &Choice::default(), Rows::Observations);
    // Two trials of `calls` per block with 2 + 1 + 0 and 3 + 1 + 1 observations, and a row for
    // the response that one of them lacks.
    assert_eq!(count, 3 * (4 + 5) + 4);
    insta::assert_snapshot!(text);
}

#[test]
fn a_part_has_the_columns_of_its_own_factors() {
    let choice = Choice { experiments: vec!["whole".into()], responses: Vec::new() };
    let (count, text) = text(&made(), &choice, Rows::Trials);
    assert_eq!(count, 4);
    let header = text.lines().next().unwrap();
    assert!(header.contains("factor_pages") && !header.contains("factor_kind"), "{header}");
}

#[test]
fn a_part_has_the_tags_that_the_whole_session_tells() {
    let mut made = made();
    for record in &mut made.records {
        // The clock of one trial of `whole` is slow beside all others, most of them of `calls`.
        let ns = if record.trial == 5 { 30_000 } else { 20_000 };
        if let Some(measured) = &mut record.measured {
            measured.calibration = Some(model::Calibration { before_ns: ns, after_ns: ns });
        }
    }
    let choice = Choice { experiments: vec!["whole".into()], responses: Vec::new() };
    let tags: Vec<String> =
        read(&text(&made, &choice, Rows::Trials).1).iter().map(|row| row["tags"].clone()).collect();
    assert_eq!(tags, ["", "slow clock", "", ""]);
}

#[test]
fn a_name_that_is_not_there_is_told_with_those_that_are() {
    let made = made();
    let unknown = |choice: Choice| {
        write_csv(&made.session(), &choice, Rows::Trials, false, std::io::sink())
            .unwrap_err()
            .to_string()
    };
    let choice = Choice { experiments: vec!["call".into()], ..Choice::default() };
    assert_eq!(
        unknown(choice),
        "no experiment of this session is named \"call\"; there are: calls, whole"
    );
    let experiments = vec!["whole".into()];
    let choice = Choice { experiments, responses: vec!["call_ns".into()] };
    assert_eq!(
        unknown(choice),
        "no response of this session is named \"call_ns\"; there are: wall_ns"
    );
}

#[test]
fn a_full_disk_is_an_error() {
    let made = made();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let error =
        write_csv(&made.session(), &Choice::default(), Rows::Trials, false, full).unwrap_err();
    assert!(matches!(&error, Error::Io(io) if io.raw_os_error() == Some(28)), "{error:?}");
}

#[test]
fn formulas_are_texts_and_numbers_are_numbers() {
    for text in
        ["=1+1", "+x", "-x", "@SUM(A1)", "\t=1", "\r", "\n=1", "  =1", "'", "＝1", "-inf", "-"]
    {
        assert_eq!(guarded(text), format!("'{text}"));
        assert_eq!(unguarded(&guarded(text)), text);
    }
    for text in ["-1", "+5", "-1.5e-3", "", "a=1", "4k", "mechanism=thread", " x", "日本"] {
        assert_eq!(guarded(text), text);
        assert_eq!(unguarded(text), text);
    }
}

/// Texts that a table could stumble over.
fn hostile() -> impl Strategy<Value = String> {
    prop_oneof![
        "[=+@,;\"'\r\n\t -]{0,6}[a-z0-9\"',\r\n=]{0,6}",
        any::<String>(),
        Just("-1".to_string()),
        Just("=cmd|' /C calc'!A0".to_string()),
        Just("\u{feff}x\u{202e}\u{1b}[31m\0".to_string()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn any_text_comes_back(text in hostile()) {
        let stored = guarded(&text);
        prop_assert_eq!(unguarded(&stored), text.as_str());
        let first = stored.trim_start_matches(' ').chars().next();
        let formula = first.is_some_and(|c| "=+-@\t\r\n".contains(c)) && stored.parse::<f64>().is_err();
        prop_assert!(!formula, "{stored:?}");
    }

    #[test]
    fn any_session_can_be_read_back(
        names in proptest::collection::vec(hostile(), 5),
        trials in proptest::collection::vec(
            (any::<bool>(), 1_u64..1000, proptest::collection::vec(any::<i64>(), 0..5), 0_u32..9),
            0..12,
        ),
    ) {
        let level = |side: bool| if side { format!("b{}", names[0]) } else { names[0].clone() };
        let unit = Unit::Other(names[1].clone());
        let levels = [level(false), level(true)];
        let levels: Vec<&str> = levels.iter().map(String::as_str).collect();
        let design = design("odd", vec![factor(&names[2], &levels)], vec![response(&names[3], unit)]);
        let mut manifest = manifest(vec![design]);
        manifest.environment.host = names[4].clone();
        let records = trials.iter().enumerate().map(|(index, (side, per, values, block))| {
            let mut it = trial(index as u64, "odd", *block, &[(&names[2], &level(*side))]);
            if values.len() == 4 {
                it.outcome = Outcome::Failed { reason: names[4].clone() };
                it.measured = None;
                return it;
            }
            with(it, &names[3], *per, values)
        });
        let made = Made { manifest, records: records.collect() };
        let (count, text) = text(&made, &Choice::default(), Rows::Trials);
        let rows = read(&text);
        prop_assert_eq!(rows.len(), trials.len());
        prop_assert_eq!(count, trials.len() as u64);
        for (row, record) in rows.iter().zip(&made.records) {
            prop_assert_eq!(unguarded(&row["host"]), names[4].as_str());
            prop_assert_eq!(unguarded(&row["unit"]), names[1].as_str());
            let factor = format!("factor_{}", names[2]);
            let level = record.treatment.level(&names[2]).unwrap();
            prop_assert_eq!(unguarded(&row[&factor]), level);
            let numbers = analysis::Numbers::new(&made.manifest.designs[0], &made.records);
            let number = numbers.of(record, &names[3]);
            prop_assert_eq!(row["value"].parse().ok(), number.value);
            prop_assert_eq!(row["measured_value"].parse().ok(), number.measured);
            prop_assert_eq!(row["observations"].parse().ok(), Some(number.observations));
            prop_assert_eq!(row["block"].parse().ok(), Some(record.block));
            let failed = record.measured.is_none();
            prop_assert_eq!(&row["outcome"], if failed { "failed" } else { "completed" });
            let reason = if failed { names[4].as_str() } else { "" };
            prop_assert_eq!(unguarded(&row["reason"]), reason);
        }
    }
}
