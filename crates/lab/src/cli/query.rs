//! The command line of `scruple query`.

use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

/// Query many sessions in SQL with DuckDB
///
/// The table `trials` has the trials of all sessions, with the columns of `scruple export`. The table
/// `sessions` has a row per session (machine, kernel, version), `settings` a row per setting of its machine,
/// `estimates` the numbers of the report, and `verdicts` its claims. --schema lists them. DuckDB's answer goes to standard output. An error in the SQL is
/// reported in DuckDB's words, with exit code 2.
///
/// DuckDB 1.0 or later must be installed: the program `duckdb` on the PATH (`pip install duckdb-cli`),
/// or the package `duckdb` of python3 (`pip install duckdb`).
///
/// Your SQL may do whatever DuckDB can, such as write files. Text from sessions never becomes SQL.
/// docs/query.md has example queries.
#[derive(Debug, Args)]
#[command(override_usage = "scruple query [OPTIONS] [DIR]... <SQL>\n       \
    scruple query [OPTIONS] --file <FILE> [DIR]...\n       \
    scruple query --schema [DIR]...")]
pub(crate) struct QueryArgs {
    /// Sessions or folders of sessions [default: the latest session], then the SQL as the last word (`-`:
    /// from standard input)
    #[arg(value_name = "DIR", required_unless_present_any = ["schema", "file"])]
    pub(crate) words: Vec<OsString>,
    /// Read the SQL from this file (`-`: standard input); every other word is a folder
    #[arg(long, value_name = "FILE", conflicts_with = "schema")]
    pub(crate) file: Option<PathBuf>,
    /// List the tables with their columns, for the sessions of the named folders, if any, and run no
    /// query
    #[arg(long)]
    pub(crate) schema: bool,
    /// Print the answer in this format [default: table on a terminal, else csv]
    #[arg(short, long, value_enum, conflicts_with = "schema")]
    pub(crate) format: Option<AnswerFormat>,
    /// Keep the tables in this folder, and reuse those of unchanged sessions
    #[arg(long, value_name = "DIR", conflicts_with = "schema")]
    pub(crate) keep: Option<PathBuf>,
    /// Run this program instead of `duckdb` on the PATH
    #[arg(long, value_name = "FILE", conflicts_with = "schema")]
    pub(crate) duckdb: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnswerFormat {
    /// DuckDB's box, as wide as the terminal; a long answer shows its first and last rows
    Table,
    /// All rows, with a header; NULL is an empty cell
    Csv,
    /// A list of objects for each statement
    Json,
    /// A Markdown table
    Markdown,
}
