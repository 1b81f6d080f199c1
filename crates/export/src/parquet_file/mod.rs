//! The table as Parquet, with types instead of texts.

use crate::table::{Cell, Column, Kind, Table};
use crate::{Choice, Error, Result, Rows, Session};
use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::data_type::{ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
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
) -> Result<u64> {
    let table = Table::new(*session, choice, rows)?;
    let columns = table.columns();
    let properties = WriterProperties::builder()
        .set_created_by(format!("scruple {}", session.manifest.scruple))
        .set_compression(Compression::SNAPPY)
        .build();
    let mut file = SerializedFileWriter::new(out, schema(&columns)?, Arc::new(properties))?;
    let mut group: Vec<Vec<Cell<'static>>> = vec![Vec::new(); columns.len()];
    let mut held = 0;
    let count = table.each(|row| {
        for (cells, cell) in group.iter_mut().zip(row) {
            cells.push(cell.to_static());
        }
        held += 1;
        if held == GROUP_ROWS {
            held = 0;
            write_group(&mut file, &columns, &mut group)?;
        }
        Ok::<(), Error>(())
    })?;
    if held > 0 {
        write_group(&mut file, &columns, &mut group)?;
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
        Error::Refused(format!("cannot write Parquet: {error}"))
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

/// Writes what waits, column by column, and empties it.
fn write_group<W: Write + Send>(
    file: &mut SerializedFileWriter<W>,
    columns: &[Column],
    group: &mut [Vec<Cell<'static>>],
) -> Result<(), ParquetError> {
    let mut rows = file.next_row_group()?;
    for (column, cells) in columns.iter().zip(group) {
        let Some(mut writer) = rows.next_column()? else {
            return Err(ParquetError::General("the schema has too few columns".into()));
        };
        let out = &mut writer;
        match column.kind {
            Kind::Text => write_cells::<ByteArrayType>(out, cells, |cell| match cell {
                Cell::Text(text) => Some(text.into_owned().into_bytes().into()),
                _ => None,
            })?,
            Kind::Integer | Kind::Moment => {
                write_cells::<Int64Type>(out, cells, |cell| match cell {
                    Cell::Integer(number) => Some(number),
                    _ => None,
                })?
            }
            Kind::Number => write_cells::<DoubleType>(out, cells, |cell| match cell {
                Cell::Number(number) => Some(number),
                _ => None,
            })?,
        }
        writer.close()?;
    }
    rows.close()?;
    Ok(())
}

/// Writes the cells of a column and empties it. A level is 0 where the cell is empty, else 1.
fn write_cells<T: DataType>(
    writer: &mut SerializedColumnWriter<'_>,
    cells: &mut Vec<Cell<'static>>,
    value: fn(Cell<'static>) -> Option<T::T>,
) -> Result<(), ParquetError> {
    let cells: Vec<Option<T::T>> = cells.drain(..).map(value).collect();
    let levels: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
    let values: Vec<T::T> = cells.into_iter().flatten().collect();
    writer.typed::<T>().write_batch(&values, Some(&levels), None)?;
    Ok(())
}

#[cfg(test)]
mod tests;
