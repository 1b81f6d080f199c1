use super::*;
use crate::fixture::{Made, made, trial, with};
use crate::write_csv;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use std::fs::File;

/// What another reader finds: the names of the columns, and the rows as texts; nothing where a
/// cell is null.
fn read(made: &Made, rows: Rows) -> (u64, Vec<String>, Vec<Vec<String>>, usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.parquet");
    let file = File::create(&path).unwrap();
    let count = write_parquet(&made.session(), &Choice::default(), rows, file).unwrap();
    let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
    let groups = reader.num_row_groups();
    let fields = reader.metadata().file_metadata().schema().get_fields();
    let names = fields.iter().map(|field| field.name().to_string()).collect();
    let cell = |(_, field): (&String, &Field)| match field {
        Field::Null => String::new(),
        Field::Str(text) => text.clone(),
        Field::Long(number) => number.to_string(),
        Field::Double(number) => number.to_string(),
        Field::TimestampMillis(ms) => ms.to_string(),
        other => panic!("a cell of a kind that is not written: {other:?}"),
    };
    let rows = reader.get_row_iter(None).unwrap();
    let rows = rows.map(|row| row.unwrap().get_column_iter().map(cell).collect()).collect();
    (count, names, rows, groups)
}

/// The same of the table as CSV.
fn as_csv(made: &Made, rows: Rows) -> (Vec<String>, Vec<Vec<String>>) {
    let mut out = Vec::new();
    write_csv(&made.session(), &Choice::default(), rows, false, &mut out).unwrap();
    let mut reader = csv::Reader::from_reader(out.as_slice());
    let texts = |record: &csv::StringRecord| record.iter().map(str::to_string).collect();
    let header = texts(reader.headers().unwrap());
    (header, reader.records().map(|record| texts(&record.unwrap())).collect())
}

#[test]
fn it_is_the_table_that_csv_is() {
    for rows in [Rows::Trials, Rows::Observations] {
        let (count, names, found, groups) = read(&made(), rows);
        assert_eq!((names, found.clone()), as_csv(&made(), rows));
        assert_eq!((count, groups), (found.len() as u64, 1));
    }
}

#[test]
fn types_are_those_of_the_numbers() {
    let mut out = Vec::new();
    write_parquet(&made().session(), &Choice::default(), Rows::Trials, &mut out).unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("x"), &out).unwrap();
    let reader = SerializedFileReader::new(File::open(folder.path().join("x")).unwrap()).unwrap();
    let schema = reader.metadata().file_metadata().schema_descr();
    let kind = |name: &str| {
        let column = schema.columns().iter().find(|column| column.name() == name).unwrap();
        (column.physical_type(), column.logical_type_ref().cloned())
    };
    assert_eq!(kind("treatment"), (Physical::BYTE_ARRAY, Some(LogicalType::String)));
    assert_eq!(kind("block"), (Physical::INT64, None));
    assert_eq!(kind("value"), (Physical::DOUBLE, None));
    let utc = LogicalType::timestamp(true, TimeUnit::MILLIS);
    assert_eq!(kind("started_unix_ms"), (Physical::INT64, Some(utc)));
}

#[test]
fn a_long_session_is_written_in_groups() {
    let mut made = made();
    let one = |number| {
        let it = trial(number, "whole", 0, &[("pages", "4k")]);
        with(it, "wall_ns", 1, &[number as i64])
    };
    made.records = (0..GROUP_ROWS as u64 * 2 + 5).map(one).collect();
    let (count, _, found, groups) = read(&made, Rows::Trials);
    assert_eq!((count, groups), (made.records.len() as u64, 3));
    assert_eq!(found, as_csv(&made, Rows::Trials).1);
}

#[test]
fn a_full_disk_is_the_error_that_it_is() {
    let full = File::options().write(true).open("/dev/full").unwrap();
    let full = std::io::LineWriter::with_capacity(1, full);
    let error = write_parquet(&made().session(), &Choice::default(), Rows::Trials, full);
    let error = error.unwrap_err();
    assert!(matches!(&error, Error::Io(io) if io.raw_os_error() == Some(28)), "{error:?}");
}
