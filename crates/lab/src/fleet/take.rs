//! Sessions that came back from machines that share nothing.

use super::gather;
use crate::{session_folders, ui};
use ::fleet::{Files, Folder, Intake, NODES_MAX, Taken};
use analysis::Heads;
use anyhow::ensure;
use std::path::{Path, PathBuf};

/// What is taken of a session; everything else is computed from it.
const FILES: Files<'static> = &[
    (store::MANIFEST_FILE, store::MANIFEST_BYTES_MAX as u64),
    (store::TRIALS_FILE, store::TRIALS_BYTES_MAX),
];

/// What came of the sessions that came in.
#[derive(Debug, Default)]
struct Count {
    new: usize,
    known: usize,
    refused: usize,
}

/// Takes sessions in: folders, folders of sessions, and archives. One that cannot be taken is named, and
/// the others are taken; of an archive that is damaged nothing is. Returns how many could not be taken.
pub(super) fn take(folder: &Folder, paths: &[PathBuf]) -> anyhow::Result<usize> {
    let _lock = folder.lock()?;
    let mut count = Count::default();
    let mut heads = Heads::default();
    for path in paths {
        if !path.is_dir() {
            count.take(folder, path, &mut heads)?;
            continue;
        }
        match session_folders::of_path(path, NODES_MAX, "a fleet has") {
            Err(why) => count.refuse(&path.display().to_string(), &format!("{why:#}")),
            Ok(dirs) => {
                dirs.iter().try_for_each(|dir| count.take(folder, dir, &mut heads))?;
            }
        }
    }
    if !paths.is_empty() {
        let Count { new, known, refused } = count;
        ui::note(&format!("{new} taken in, {known} there already, {refused} refused"));
    }
    Ok(count.refused)
}

impl Count {
    /// Takes in what a session's folder or an archive holds.
    fn take(&mut self, folder: &Folder, path: &Path, heads: &mut Heads) -> anyhow::Result<()> {
        let mut intake = folder.intake(FILES)?;
        let shown = path.display();
        if let Err(why) = come_in(&mut intake, path) {
            self.refuse(&shown.to_string(), &format!("{why:#}"));
            return Ok(());
        }
        for (name, session) in intake.sessions() {
            match one(folder, &intake, session, heads) {
                Ok(Taken::New) => self.new += 1,
                Ok(Taken::Known) => self.known += 1,
                Err(why) => {
                    // Where it lies now means nothing to who named it.
                    let place = session.display().to_string();
                    let why = format!("{why:#}").replace(&format!("{place}/"), "");
                    self.refuse(&format!("{shown}: {name}"), &why.replace(&place, "it"));
                }
            }
        }
        Ok(())
    }

    fn refuse(&mut self, what: &str, why: &str) {
        self.refused += 1;
        let what = wording::cleaned(what.trim_end_matches([':', ' ']));
        ui::warn(&format!("{what}: {}", wording::cleaned(why)));
    }
}

/// Copies what a path holds.
fn come_in(intake: &mut Intake<'_>, path: &Path) -> anyhow::Result<()> {
    if path.is_dir() {
        return Ok(intake.add_folder(path)?);
    }
    intake.add_archive(path)?;
    let manifest = store::MANIFEST_FILE;
    ensure!(!intake.sessions().is_empty(), "it holds no session: one has a {manifest}");
    Ok(())
}

/// Checks a session that was copied and gives it its place.
fn one(
    folder: &Folder,
    intake: &Intake<'_>,
    session: &Path,
    heads: &mut Heads,
) -> anyhow::Result<Taken> {
    let (facts, of) = intake.facts(session)?;
    gather::must_be_its_own(&facts, &folder.fleet, &of)?;
    let manifest = store::read_manifest(session)?;
    gather::must_be_as_planned(&heads.head(manifest), &folder.fleet)?;
    store::open(session)?;
    Ok(intake.publish(session, &of)?)
}
