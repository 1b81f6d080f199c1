//! Sessions as tables that DuckDB reads: a file of Parquet for the trials of each, and small ones.
//!
//! One session is held at a time. It goes to DuckDB as CSV, whose columns keep their names and whose
//! types are said, and DuckDB makes Parquet of it, so that every build of scruple, with the feature
//! `parquet` or without, makes the same tables, and what is kept is small and fast.

use super::columns::{Small, kind};
use super::engine::{self, Answer, Engine};
use super::sql;
use crate::cli::query::AnswerFormat;
use crate::destination::Stopped;
use crate::progress::Count;
use crate::scratch::Scratch;
use crate::session::{self, VERSION};
use crate::ui;
use anyhow::{Context, bail, ensure};
use export::{Choice, Kind, Rows, Session};
use model::Manifest;
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, BufWriter};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Raised when the tables change, so that those that were kept are made anew.
const TABLES_FORMAT: u32 = 1;

/// The most bytes of CSV that wait for DuckDB at once: they lie on the disk, and a start of DuckDB for
/// each small session would take longer than the session.
const WAITING_BYTES_MAX: u64 = 128 << 20;

/// The most files of CSV that wait for it.
const WAITING_MAX: usize = 64;

/// What a kept table's name ends in.
const ENDING: &str = ".parquet";

/// Hexadecimal digits of a hash in such a name.
const DIGITS: usize = 32;

/// Makes the tables of all sessions, and says in SQL how they are read.
///
/// # Errors
/// Names the session that cannot be read, or the folder that cannot be written. [`Stopped`] if it was to
/// end.
pub(super) fn make(
    sessions: &[PathBuf],
    keep: Option<&Path>,
    engine: &Engine,
    scratch: &Scratch,
    analysed: bool,
) -> anyhow::Result<String> {
    let mut making = Making {
        analysed,
        keep,
        engine,
        scratch,
        names: HashSet::new(),
        seen: HashMap::new(),
        small: Small::default(),
        files: Vec::new(),
        waiting: Vec::new(),
    };
    let mut count = Count::new("sessions", sessions.len());
    for dir in sessions {
        if sys::interrupt::requested().is_some() {
            return Err(io::Error::other(Stopped).into());
        }
        making.session(dir)?;
        count.one_more();
    }
    making.turn_into_parquet()?;
    let files: Vec<String> =
        making.files.iter().map(|file| sql::file(file)).collect::<anyhow::Result<_>>()?;
    let mut script = engine::settings(scratch)?;
    script.push_str(&making.small.write(scratch)?);
    script.push_str(&format!(
        "CREATE VIEW trials AS FROM read_parquet([{}], union_by_name = true, \
         hive_partitioning = false);\n",
        files.join(", ")
    ));
    Ok(script)
}

struct Making<'a> {
    /// Whether the question is about what the analysis finds.
    analysed: bool,
    keep: Option<&'a Path>,
    engine: &'a Engine,
    scratch: &'a Scratch,
    /// What the sessions are called in the tables.
    names: HashSet<String>,
    /// Which sessions there were, wherever their folders lie.
    seen: HashMap<Identity, PathBuf>,
    small: Small,
    /// The tables of trials.
    files: Vec<PathBuf>,
    waiting: Vec<Waiting>,
}

/// What no two sessions share: name, machine, beginning, seed.
type Identity = (String, String, u64, u64);

/// A session's trials on their way.
struct Waiting {
    csv: PathBuf,
    rows: u64,
    /// Where the table goes.
    to: PathBuf,
    dir: PathBuf,
}

impl Making<'_> {
    fn session(&mut self, dir: &Path) -> anyhow::Result<()> {
        // Looked at before it is read: what is added meanwhile makes the kept table an old one.
        let state = state(dir)?;
        let manifest = store::read_manifest(dir)?;
        let machine = manifest.environment.machine.clone();
        let identity = (manifest.session.clone(), machine, manifest.started_unix_ms, manifest.seed);
        if let Some(other) = self.seen.get(&identity) {
            let [copy, other] = [dir, other].map(|it| it.display().to_string());
            ui::warn(&format!("{copy} and {other} are the same session; it is read once"));
            return Ok(());
        }
        self.seen.insert(identity, dir.to_path_buf());
        let called = self.called(&manifest);
        self.small.push(&called, dir, &manifest)?;
        drop(manifest);
        if self.analysed {
            let stored = store::open(dir)?;
            self.small.push_analysis(&called, &stored.manifest, &session::summary(&stored));
        }
        let kept = self.keep.map(|keep| kept(keep, dir, &state, &called)).transpose()?;
        if let Some(kept) = kept.as_ref().filter(|kept| kept.is_file()) {
            self.files.push(kept.clone());
            return Ok(());
        }
        self.export(dir, &called, kept)
    }

    /// Returns a name of its own for each session: two machines may both have one called "base".
    fn called(&mut self, manifest: &Manifest) -> String {
        let name = &manifest.session;
        let mut called = name.clone();
        let mut count = 1;
        while !self.names.insert(called.clone()) {
            count += 1;
            called = format!("{name} ({count})");
        }
        if count > 1 {
            ui::warn(&format!("there are several sessions called {name}: one is {called:?} here"));
        }
        called
    }

    fn export(&mut self, dir: &Path, called: &str, kept: Option<PathBuf>) -> anyhow::Result<()> {
        let mut stored = store::open(dir)?;
        // What is odd is to be said each time, so that such a table is not kept.
        let odd = session::say_what_is_odd(&stored);
        stored.manifest.session = called.to_string();
        let number = self.files.len();
        let csv = self.scratch.path().join(format!("{number}.csv"));
        let own = self.scratch.path().join(format!("{number}{ENDING}"));
        let session = Session { manifest: &stored.manifest, records: &stored.records };
        let write = || -> Result<u64, export::Error> {
            let file = BufWriter::with_capacity(1 << 16, File::create_new(&csv)?);
            export::write_csv(&session, &Choice::default(), Rows::Trials, true, file)
        };
        let rows = write().with_context(|| format!("cannot write {}", csv.display()))?;
        let to = kept.filter(|_| !odd).unwrap_or(own);
        self.files.push(to.clone());
        self.waiting.push(Waiting { csv, rows, to, dir: dir.to_path_buf() });
        let bytes: u64 = self.waiting.iter().map(|it| length(&it.csv)).sum();
        if bytes >= WAITING_BYTES_MAX || self.waiting.len() >= WAITING_MAX {
            self.turn_into_parquet()?;
        }
        Ok(())
    }

    /// Has DuckDB read what waits.
    fn turn_into_parquet(&mut self) -> anyhow::Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let mut script = String::new();
        for waiting in &self.waiting {
            let made = self.made(waiting);
            let (csv, to, made) = (sql::file(&waiting.csv)?, sql::text(&made)?, sql::file(&made)?);
            script.push_str(&format!(
                "COPY (SELECT * REPLACE ({}) FROM read_csv({csv}, {}, all_varchar = true)) TO {to} \
                 (FORMAT parquet);\nSELECT count(*) AS rows FROM read_parquet({made}, \
                 hive_partitioning = false);\n",
                types(),
                sql::CSV
            ));
        }
        let mut said = Vec::new();
        let before = engine::settings(self.scratch)?;
        let answer =
            self.engine.ask(self.scratch, &before, &script, AnswerFormat::Csv, &mut |it| {
                said.extend_from_slice(it);
                Ok(())
            });
        let answer = answer.map_err(engine::failed)?;
        if let Answer::Refused(why) = answer {
            bail!("DuckDB cannot make tables of the sessions: {why}");
        }
        let said = String::from_utf8_lossy(&said);
        let counts = said.lines().filter_map(|line| line.parse::<u64>().ok()).collect::<Vec<_>>();
        for (index, waiting) in self.waiting.iter().enumerate() {
            let (read, rows) = (counts.get(index).copied().unwrap_or(0), waiting.rows);
            ensure!(read == rows, "{}: DuckDB read {read} rows of {rows}", waiting.dir.display());
        }
        for waiting in std::mem::take(&mut self.waiting) {
            std::fs::remove_file(&waiting.csv)?;
            let made = self.made(&waiting);
            if made != waiting.to {
                std::fs::rename(&made, &waiting.to)
                    .with_context(|| format!("--keep: cannot write {}", waiting.to.display()))?;
                self.forget_older(&waiting);
            }
        }
        Ok(())
    }

    /// Returns where DuckDB puts a table: in the scratch, from where a kept one is given its place when it
    /// is whole.
    fn made(&self, waiting: &Waiting) -> PathBuf {
        match waiting.to.file_name() {
            Some(name) => self.scratch.path().join(name),
            None => waiting.to.clone(),
        }
    }

    /// Removes what was kept of a session as it was before.
    fn forget_older(&self, of: &Waiting) {
        let Some((keep, name)) = self.keep.zip(of.to.file_name().and_then(|it| it.to_str())) else {
            return;
        };
        let Ok(entries) = std::fs::read_dir(keep) else { return };
        for entry in entries.flatten() {
            let other = entry.file_name();
            let other = other.to_str().filter(|it| is_kept(it) && *it != name);
            if other.is_some_and(|it| it[..DIGITS] == name[..DIGITS]) {
                // It is unused; if it cannot be removed, it only takes space on the disk.
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }
}

fn length(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |file| file.len())
}

/// Returns what gives the columns that are no texts their types.
fn types() -> String {
    let typed = export::columns(Rows::Trials, &[]).into_iter().filter(|it| it.kind != Kind::Text);
    let casts = typed.map(|it| format!("CAST({} AS {}) AS {0}", it.name, kind(it.kind)));
    casts.collect::<Vec<_>>().join(", ")
}

/// Returns what changes when a session does: the length and the last change of its two files.
fn state(dir: &Path) -> anyhow::Result<String> {
    let files = [store::MANIFEST_FILE, store::TRIALS_FILE];
    let of = |name: &str| {
        let path = dir.join(name);
        let file = std::fs::metadata(&path);
        let file = file.with_context(|| format!("cannot read {}", path.display()))?;
        Ok(format!("{} {} {} {}", file.ino(), file.len(), file.mtime(), file.mtime_nsec()))
    };
    Ok(files.iter().map(|name| of(name)).collect::<anyhow::Result<Vec<_>>>()?.join(" "))
}

/// Returns where the table of a session in this state is kept: the name says which session, and which
/// state.
fn kept(keep: &Path, dir: &Path, state: &str, called: &str) -> anyhow::Result<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    let dir = std::fs::canonicalize(dir)?;
    let state = format!("{TABLES_FORMAT} {VERSION} {state} {called}");
    let [which, state] = [dir.as_os_str().as_bytes(), state.as_bytes()].map(|it| {
        let mut hash = sys::hash::sha256(it);
        hash.truncate(DIGITS);
        hash
    });
    Ok(keep.join(format!("{which}-{state}{ENDING}")))
}

/// Reports whether a file has a name that only a kept table has.
fn is_kept(name: &str) -> bool {
    let hashes = name.strip_suffix(ENDING).and_then(|it| it.split_once('-'));
    let is_hash = |it: &str| it.len() == DIGITS && it.bytes().all(|b| b.is_ascii_hexdigit());
    hashes.is_some_and(|(which, state)| is_hash(which) && is_hash(state))
}
