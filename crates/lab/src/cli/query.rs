//! `scruple query`: the words of its command line.

use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

/// Ask many sessions a question in SQL: DuckDB answers
///
/// The trials of all sessions are one table, `trials`, with the columns of `scruple export`; `sessions`
/// has a row for each session (its machine, kernel, version), `settings` one for each setting of its
/// machine. --schema lists them. What DuckDB answers goes to standard output; an error in the SQL is
/// told in DuckDB's own words, with exit code 2.
///
/// DuckDB does not come with scruple. It is the program `duckdb` on the PATH (`pip install duckdb-cli`
/// brings one), or else the package of that name of python3 (`pip install duckdb`); 1.0 or later.
///
/// The SQL is yours and may do what DuckDB may, such as to write files. What stands in sessions
/// never becomes SQL. docs/query.md has questions to begin from.
#[derive(Debug, Args)]
#[command(override_usage = "scruple query [OPTIONS] <DIR>... <SQL>\n       \
    scruple query [OPTIONS] --file <FILE> <DIR>...\n       \
    scruple query --schema [DIR]...")]
pub(crate) struct QueryArgs {
    /// Sessions, or folders that hold sessions; and, last, the question in SQL (`-`: from standard input)
    #[arg(value_name = "DIR", required_unless_present = "schema")]
    pub(crate) words: Vec<OsString>,
    /// Read the question from a file (`-`: from standard input); every other word is a folder
    #[arg(long, value_name = "FILE", conflicts_with = "schema")]
    pub(crate) file: Option<PathBuf>,
    /// List the tables with their columns, those of the folders' sessions where some are named, and ask
    /// nothing
    #[arg(long)]
    pub(crate) schema: bool,
    /// How the answer is printed [default: table on a terminal, else csv]
    #[arg(short, long, value_enum, conflicts_with = "schema")]
    pub(crate) format: Option<AnswerFormat>,
    /// Keep the tables in this folder, and use those that are there of sessions that have not changed
    #[arg(long, value_name = "DIR", conflicts_with = "schema")]
    pub(crate) keep: Option<PathBuf>,
    /// The program to ask, in the place of `duckdb` on the PATH
    #[arg(long, value_name = "FILE", conflicts_with = "schema")]
    pub(crate) duckdb: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnswerFormat {
    /// DuckDB's box, as wide as the terminal; of a long answer the first and last rows
    Table,
    /// All rows, with a header; an empty cell where there is nothing
    Csv,
    /// A list of objects for each question
    Json,
    /// A table for a document
    Markdown,
}
