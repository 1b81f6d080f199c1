//! The table as Parquet, with types instead of texts.

use crate::table::{Cell, Column, Kind, Table};
use crate::{Choice, Error, Rows, Session};
use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use std::io::Write;
use std::sync::Arc;

/// Rows that are held before they are written: they bound the memory that this takes.
const GROUP_ROWS: usize = 1 << 15;

/// Writes the table as Parquet, in groups of rows; returns the number of rows.
///
/// The columns are those of [`crate::write_csv`]: texts as dictionaries of UTF-8 strings, counts as
/// 64-bit integers, numbers as doubles, the start as a timestamp in UTC. Where there is nothing to
/// tell a cell is null. Texts stand as they are, since no spreadsheet takes them for formulas.
///
/// # Errors
/// If a name of the choice is not in the session, or if `out` fails.
pub fn write_parquet(
    session: &Session<'_>,
    choice: &Choice,
    rows: Rows,
    out: impl Write + Send,
) -> Result<u64, Error> {
    let table = Table::new(*session, choice, rows)?;
    let columns = table.columns();
    let properties = WriterProperties::builder()
        .set_created_by(format!("scruple {}", session.manifest.scruple))
        .set_compression(Compression::SNAPPY)
        .build();
    let mut file = SerializedFileWriter::new(out, schema(&columns)?, Arc::new(properties))?;
    let mut group: Vec<Values> = columns.iter().map(|column| Values::new(column.kind)).collect();
    let mut held = 0;
    let count = table.each(|row| {
        for (values, cell) in group.iter_mut().zip(row) {
            values.push(cell);
        }
        held += 1;
        if held == GROUP_ROWS {
            held = 0;
            write_group(&mut file, &mut group)?;
        }
        Ok::<(), Error>(())
    })?;
    if held > 0 {
        write_group(&mut file, &mut group)?;
    }
    file.close()?;
    Ok(count)
}

impl From<ParquetError> for Error {
    fn from(error: ParquetError) -> Self {
        // What the writer below said comes back as it was, so that a closed pipe is known as one.
        let error = match error {
            ParquetError::External(inner) => match inner.downcast::<std::io::Error>() {
                Ok(io) => return Error::Io(*io),
                Err(other) => ParquetError::External(other),
            },
            other => other,
        };
        Error::Parquet(error.to_string())
    }
}

fn schema(columns: &[Column]) -> Result<Arc<Type>, ParquetError> {
    let field = |column: &Column| {
        let (physical, logical) = match column.kind {
            Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Kind::Integer => (Physical::INT64, None),
            Kind::Number => (Physical::DOUBLE, None),
            Kind::Moment => (Physical::INT64, Some(LogicalType::timestamp(true, TimeUnit::MILLIS))),
        };
        let field = Type::primitive_type_builder(&column.name, physical)
            .with_logical_type(logical)
            .with_repetition(Repetition::OPTIONAL);
        Ok(Arc::new(field.build()?))
    };
    let fields = columns.iter().map(field).collect::<Result<Vec<_>, ParquetError>>()?;
    Ok(Arc::new(Type::group_type_builder("session").with_fields(fields).build()?))
}

/// The cells of one column that wait to be written. A level is 0 where the cell is empty, else 1.
struct Values {
    levels: Vec<i16>,
    cells: Cells,
}

enum Cells {
    Texts(Vec<ByteArray>),
    Integers(Vec<i64>),
    Numbers(Vec<f64>),
}

impl Values {
    fn new(kind: Kind) -> Self {
        let cells = match kind {
            Kind::Text => Cells::Texts(Vec::new()),
            Kind::Integer | Kind::Moment => Cells::Integers(Vec::new()),
            Kind::Number => Cells::Numbers(Vec::new()),
        };
        Values { levels: Vec::new(), cells }
    }

    fn push(&mut self, cell: &Cell<'_>) {
        let there = match (&mut self.cells, cell) {
            (Cells::Texts(texts), Cell::Text(text)) => {
                // Most texts are those of the row above, and are shared with it.
                let bytes = match texts.last() {
                    Some(last) if last.data() == text.as_bytes() => last.clone(),
                    _ => ByteArray::from(text.as_bytes().to_vec()),
                };
                texts.push(bytes);
                true
            }
            (Cells::Integers(integers), Cell::Integer(integer)) => {
                integers.push(*integer);
                true
            }
            (Cells::Numbers(numbers), Cell::Number(number)) => {
                numbers.push(*number);
                true
            }
            _ => false,
        };
        self.levels.push(i16::from(there));
    }
}

/// Writes what waits and empties it.
fn write_group<W: Write + Send>(
    file: &mut SerializedFileWriter<W>,
    group: &mut [Values],
) -> Result<(), ParquetError> {
    let mut rows = file.next_row_group()?;
    for values in group {
        let Some(mut column) = rows.next_column()? else {
            return Err(ParquetError::General("the schema has too few columns".into()));
        };
        let levels = Some(values.levels.as_slice());
        match &mut values.cells {
            Cells::Texts(texts) => {
                column.typed::<ByteArrayType>().write_batch(texts, levels, None)?;
                texts.clear();
            }
            Cells::Integers(integers) => {
                column.typed::<Int64Type>().write_batch(integers, levels, None)?;
                integers.clear();
            }
            Cells::Numbers(numbers) => {
                column.typed::<DoubleType>().write_batch(numbers, levels, None)?;
                numbers.clear();
            }
        }
        values.levels.clear();
        column.close()?;
    }
    rows.close()?;
    Ok(())
}

#[cfg(test)]
mod tests;
