use crate::plan::Plan;
use crate::trials::{Damage, Torn, Trials, read_trials};
use crate::words::{explain, in_words};
use crate::{Error, MANIFEST_BYTES_MAX, MANIFEST_FILE, TRIALS_FILE, files};
use model::{Manifest, Record, SESSION_FORMAT};
use serde::Deserialize;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A session as it stands on the disk.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    /// Its folder, as it was given.
    pub dir: PathBuf,
    /// What was asked, and on which machine.
    pub manifest: Manifest,
    /// One per trial, in the order in which they ended.
    pub records: Vec<Record>,
    /// Lines that repeat an earlier one to the last value: a file that was copied behind itself. They
    /// are not among the records.
    pub repeated: u64,
    /// Lines that are no records of this session. They are not among the records.
    pub damage: Damage,
    /// The last line, if its newline is missing: its writer was killed while it wrote. It is not
    /// among the records.
    pub torn: Option<Torn>,
}

/// Reads a session and changes nothing.
///
/// A torn last line is reported in [`Stored::torn`]: that is what a killed writer leaves. Other lines that
/// are no records of the session are left out and reported in [`Stored::damage`], as long as they are no
/// more than its records.
///
/// # Errors
/// If the folder holds no session, if a later scruple wrote it, if its designs contradict
/// themselves or are larger than `model`'s bounds, or if more lines than there are records are none of a
/// trial that the manifest plans, or contradict an earlier one: the error names file, line and what is wrong.
///
/// Whatever stands in the folder, not more than [`crate::TRIALS_BYTES_MAX`] is read of it, and not
/// more than some ten times that is held.
pub fn open(dir: &Path) -> Result<Stored, Error> {
    let (manifest, plan) = read_plan(dir)?;
    let path = dir.join(TRIALS_FILE);
    let file = files::open_to_read(&path).map_err(Error::io("read", &path))?;
    let trials = read_trials(&file, &path, &plan)?;
    let dir = dir.to_path_buf();
    let Trials { records, repeated, damage, torn, .. } = trials;
    Ok(Stored { dir, manifest, records, repeated, damage, torn })
}

/// The part of a manifest that every version of the format has.
#[derive(Deserialize)]
struct Format {
    format: u64,
}

/// Reads the `manifest.json` of a session, of any format there ever was, and none of its trials.
///
/// # Errors
/// As [`open`], of the manifest alone.
pub fn read_manifest(dir: &Path) -> Result<Manifest, Error> {
    Ok(read_content(dir)?.0)
}

/// Reads a session's manifest and what it plans.
pub(crate) fn read_plan(dir: &Path) -> Result<(Manifest, Plan), Error> {
    let (manifest, content) = read_content(dir)?;
    let plan = Plan::of(&manifest, &content);
    Ok((manifest, plan))
}

fn read_content(dir: &Path) -> Result<(Manifest, Vec<u8>), Error> {
    let path = dir.join(MANIFEST_FILE);
    let content = read_bounded(dir, &path)?;
    let broken = |error: serde_json::Error| Error::Broken {
        path: path.clone(),
        line: error.line() as u64,
        what: in_words(&format!("this is not a session's manifest: {}", explain(&error))),
    };
    let Format { format } = serde_json::from_slice(&content).map_err(broken)?;
    if format > u64::from(SESSION_FORMAT) {
        return Err(Error::Newer { path, found: format, known: SESSION_FORMAT });
    }
    if format == 0 {
        let why = "its manifest has format 0, and formats begin at 1".to_string();
        return Err(Error::NotASession { path: dir.to_path_buf(), why });
    }
    let mut manifest: Manifest = serde_json::from_slice(&content).map_err(broken)?;
    // Earlier versions stored the boot's identifier itself.
    if let Some(hash) = sys::machine::hash_of_boot(&manifest.environment.boot) {
        manifest.environment.boot = hash;
    }
    check_manifest(&manifest, &path)?;
    Ok((manifest, content))
}

/// Checks that a manifest can be read back by others.
pub(crate) fn check_manifest(manifest: &Manifest, path: &Path) -> Result<(), Error> {
    let what = |what: String| Error::Inconsistent { path: path.into(), what: in_words(&what) };
    manifest.check().map_err(what)
}

fn read_bounded(dir: &Path, path: &Path) -> Result<Vec<u8>, Error> {
    let not_a_session =
        |why: &str| Err(Error::NotASession { path: dir.to_path_buf(), why: why.to_string() });
    match dir.metadata() {
        Ok(metadata) if metadata.is_dir() => {}
        Ok(_) => return not_a_session("give the session's folder, not a file of it"),
        Err(error) => return Err(Error::io("open", dir)(error)),
    }
    let file = match files::open_to_read(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return not_a_session(&format!("it has no {MANIFEST_FILE}"));
        }
        other => other.map_err(Error::io("read", path))?,
    };
    let mut content = Vec::new();
    file.take(MANIFEST_BYTES_MAX as u64 + 1)
        .read_to_end(&mut content)
        .map_err(Error::io("read", path))?;
    if content.len() > MANIFEST_BYTES_MAX {
        return not_a_session(&format!("its {MANIFEST_FILE} is over {MANIFEST_BYTES_MAX} bytes"));
    }
    Ok(content)
}
