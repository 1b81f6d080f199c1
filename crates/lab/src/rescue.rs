//! What is kept of a session whose writing had to end, and how to finish it.

use crate::plan::Purpose;
use crate::redaction;
use model::{Manifest, Record};
use std::path::{Path, PathBuf};
use std::time::Duration;
use store::{Error, MANIFEST_FILE, Place, TRIALS_FILE, Writer};

/// How long somebody who removes a folder may take from its first file to its last.
const REMOVING: Duration = Duration::from_millis(200);

/// The most folders of rescued trials beside a session.
const RESCUES_MAX: u32 = 100;

/// Returns an error that says what is left of a session, and where, if its folder or one of its files is no
/// longer as it was written: whatever else went wrong, went wrong for that. `records` are stored in it.
pub(crate) fn displaced(
    writer: &Writer,
    manifest: &Manifest,
    records: &[Record],
) -> Option<anyhow::Error> {
    writer.must_be_whole().err()?;
    // What is left once it is done: both files of a folder that is removed go, one after the other.
    std::thread::sleep(REMOVING);
    let error = writer.must_be_whole().err()?;
    let Error::Displaced { place, .. } = &error else { return Some(error.into()) };
    let trials = records.len();
    let kept = match place {
        Place::Here => return None,
        Place::Moved(now) => match session_around(now) {
            Some(dir) => what_is_kept(manifest, dir, trials),
            None => {
                let resume = how_to_resume(manifest, writer.dir());
                format!("{trials} trials are kept in it; move it back, then: {resume}")
            }
        },
        Place::Replaced | Place::Removed | Place::Changed => {
            match rescued(writer.dir(), manifest, records) {
                Some(dir) => what_is_kept(manifest, &dir, trials),
                None => {
                    format!("the {trials} trials stored in it are lost unless there is a copy")
                }
            }
        }
    };
    Some(anyhow::anyhow!("{error}; {kept}"))
}

/// Stores a session again in a new folder beside its own, unless somebody removed both of its files: what was
/// done to them stays as it is. Returns the new folder.
fn rescued(dir: &Path, manifest: &Manifest, records: &[Record]) -> Option<PathBuf> {
    let is_there = [MANIFEST_FILE, TRIALS_FILE].iter().any(|name| dir.join(name).exists());
    let name = dir.file_name().filter(|_| is_there && !records.is_empty())?;
    for number in 1..=RESCUES_MAX {
        let mut name = name.to_os_string();
        name.push(if number == 1 { ".kept".into() } else { format!(".kept-{number}") });
        let beside = dir.with_file_name(name);
        match Writer::create(&beside, manifest) {
            Ok(mut writer) => {
                writer.append_all(records).ok()?;
                return Some(beside);
            }
            Err(Error::NotEmpty { .. } | Error::Busy { .. }) => {}
            Err(_) => return None,
        }
    }
    None
}

/// Says what is kept in a session's folder, and how to finish it.
pub(crate) fn what_is_kept(manifest: &Manifest, dir: &Path, trials: usize) -> String {
    format!("{trials} trials are kept, to finish: {}", how_to_resume(manifest, dir))
}

/// Returns the folder of a session whose file of trials this is; `None` if it stands alone.
fn session_around(trials: &Path) -> Option<&Path> {
    let dir = trials.parent().filter(|_| trials.ends_with(TRIALS_FILE))?;
    store::read_manifest(dir).is_ok().then_some(dir)
}

/// Returns the command that finishes a session.
pub(crate) fn how_to_resume(manifest: &Manifest, dir: &Path) -> String {
    if !redaction::can_be_resumed(manifest) {
        return "begin a new session, since a redacted one holds no commands".into();
    }
    let command = Purpose::of(&manifest.options).command();
    format!("scruple {command} --resume {}", dir.display())
}
