//! The sessions behind the paths of the command line.

use crate::{session, ui};
use analysis::CompareSession;
use anyhow::{Context, bail};
use model::{Design, Summary};
use std::path::{Path, PathBuf};
use store::Stored;

/// The most sessions of a side: the width of an interval over sessions hardly shrinks beyond.
const SESSIONS_MAX: usize = 64;

/// The most bytes of all trials together, since all of them are held.
const BYTES_MAX: u64 = 2 * store::TRIALS_BYTES_MAX;

/// A session with what its trials say.
pub(crate) type Read = (Stored, Summary);

/// One side, read whole.
#[derive(Debug)]
pub(crate) struct Opened {
    /// The path, as it was given.
    pub(crate) name: String,
    sessions: Vec<Read>,
}

impl Opened {
    pub(crate) fn designs(&self) -> impl Iterator<Item = &Design> {
        self.sessions.iter().flat_map(|(stored, _)| &stored.manifest.designs)
    }

    pub(crate) fn sessions(&self) -> Vec<CompareSession<'_>> {
        self.sessions.iter().map(session_of).collect()
    }
}

pub(crate) fn session_of((stored, summary): &Read) -> CompareSession<'_> {
    CompareSession { manifest: &stored.manifest, records: &stored.records, summary }
}

/// Reads all sides.
///
/// # Errors
/// Names the folder that is no session and holds none, or the file that is damaged.
pub(crate) fn open(paths: &[&Path]) -> anyhow::Result<Vec<Opened>> {
    let side = |path: &&Path| folders(path, SESSIONS_MAX, "a side has");
    let folders: Vec<Vec<PathBuf>> = paths.iter().map(side).collect::<anyhow::Result<_>>()?;
    let bytes: u64 = folders.iter().flatten().map(|dir| trial_bytes(dir)).sum();
    if bytes > BYTES_MAX {
        bail!(
            "the sessions have {bytes} bytes of trials together, and at most {BYTES_MAX} are \
             compared at once: give fewer sessions"
        );
    }
    let sides = paths.iter().zip(folders).map(|(path, folders)| {
        let sessions = folders.iter().map(|dir| read(dir)).collect::<anyhow::Result<Vec<_>>>()?;
        Ok(Opened { name: path.display().to_string(), sessions })
    });
    sides.collect()
}

/// The session that a path is, or those that it holds, by name: at most so many, which `who` has.
pub(crate) fn folders(path: &Path, most: usize, who: &str) -> anyhow::Result<Vec<PathBuf>> {
    let is_session = |dir: &Path| dir.join(store::MANIFEST_FILE).exists();
    if is_session(path) {
        return Ok(vec![path.to_path_buf()]);
    }
    let entries = std::fs::read_dir(path).with_context(|| {
        format!("cannot read {} as a session or a folder of sessions", path.display())
    })?;
    let mut found = Vec::new();
    for entry in entries {
        let dir = entry.with_context(|| format!("cannot read {}", path.display()))?.path();
        if is_session(&dir) {
            found.push(dir);
        }
        if found.len() > most {
            bail!("{} holds more than {most} sessions: {who} at most so many", path.display());
        }
    }
    if found.is_empty() {
        bail!(
            "{} is not a session, and holds none: a session's folder has a {}",
            path.display(),
            store::MANIFEST_FILE
        );
    }
    found.sort();
    Ok(found)
}

pub(crate) fn trial_bytes(dir: &Path) -> u64 {
    std::fs::metadata(dir.join(store::TRIALS_FILE)).map_or(0, |file| file.len())
}

/// Tells of what is wrong with one session of several; whether anything is.
pub(crate) fn say_what_is_odd(stored: &Stored) -> bool {
    let dir = stored.dir.display();
    if let Some(torn) = &stored.torn {
        ui::warn(&format!(
            "{dir}: line {} of trials.ndjson is torn; the trial it belonged to is not counted",
            torn.line
        ));
    }
    let doubles = stored.duplicates().len();
    if doubles > 0 {
        ui::warn(&format!("{dir}: {doubles} trials are stored twice"));
    }
    stored.torn.is_some() || doubles > 0
}

/// A session with what its trials say, which is computed anew: the folder may hold no summary, or
/// that of an earlier scruple.
pub(crate) fn read(dir: &Path) -> anyhow::Result<Read> {
    let mut stored = store::open(dir)?;
    say_what_is_odd(&stored);
    // What no number is taken from need not be held.
    for record in &mut stored.records {
        record.log = String::new();
        if let Some(measured) = &mut record.measured {
            measured.exhibits = Vec::new();
        }
    }
    let designs = &stored.manifest.designs;
    let summary = session::summarise(&stored.manifest, &stored.records, designs);
    Ok((stored, summary))
}
