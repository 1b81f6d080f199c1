//! The sessions behind the paths of the command line.

use crate::parallel::in_order;
use crate::progress::Count;
use crate::{lookup, session, ui};
use analysis::{Digest, Heads, Questions, SideHeads};
use anyhow::{Context, bail, ensure};
use model::{Manifest, natural_order};
use std::path::{Path, PathBuf};

/// The most sessions of a side. Of each some hundred kilobytes are held.
pub(crate) const SESSIONS_MAX: usize = 4096;

/// The most sessions that are named where something about them is odd.
const NAMED_MAX: usize = 5;

/// The most bytes of trials that all threads have at once.
const BYTES_AT_ONCE_MAX: u64 = store::TRIALS_BYTES_MAX;

/// Returns the session that a path is or a word names, or those that it holds, by name: at most `most`, the
/// number that `who` has.
pub(crate) fn of_path(path: &Path, most: usize, who: &str) -> anyhow::Result<Vec<PathBuf>> {
    let unreadable =
        || format!("cannot read {} as a session or a folder of sessions", path.display());
    let path = &lookup::named(path).with_context(unreadable)?;
    let is_session = |dir: &Path| dir.join(store::MANIFEST_FILE).exists();
    if is_session(path) {
        return Ok(vec![path.clone()]);
    }
    let entries = std::fs::read_dir(path).with_context(unreadable)?;
    let mut found = Vec::new();
    for entry in entries {
        let dir = entry.with_context(|| format!("cannot read {}", path.display()))?.path();
        if is_session(&dir) {
            found.push(dir);
        }
        ensure!(
            found.len() <= most,
            "{} holds more than {most} sessions, the most that {who}",
            path.display()
        );
    }
    ensure!(
        !found.is_empty(),
        "{} is not a session, and holds none: a session's folder has a {}",
        path.display(),
        store::MANIFEST_FILE
    );
    let name = |path: &Path| path.to_string_lossy().into_owned();
    found.sort_by(|a, b| natural_order(&name(a), &name(b)));
    Ok(found)
}

/// Returns what was read of a session; of one of `among` several that cannot be read, nothing: it is left out with a
/// line, since one damaged folder is not to stop all others.
///
/// # Errors
/// That of the only session.
pub(crate) fn or_left_out<T, E: Into<anyhow::Error>>(
    dir: &Path,
    among: usize,
    read: Result<T, E>,
) -> anyhow::Result<Option<T>> {
    match read.map_err(Into::into) {
        Err(error) if among > 1 => {
            ui::note(&format!("{} is left out: {error:#}", dir.display()));
            Ok(None)
        }
        other => other.map(Some),
    }
}

/// What the manifests of some sides say, with the folders of their sessions.
pub(crate) struct Found {
    /// By path.
    pub(crate) sides: Vec<SideHeads>,
    /// Those of a path in the order of their names.
    pub(crate) folders: Vec<Vec<PathBuf>>,
    /// Whether a session was left out.
    pub(crate) left_out: bool,
}

/// Returns what the manifests of the sessions say, by path.
///
/// # Errors
/// Names the folder that is no session and holds none, or holds too many; or the manifest that is
/// damaged, if its side has no other.
pub(crate) fn heads(paths: &[&Path]) -> anyhow::Result<Found> {
    let found = paths.iter().map(|path| of_path(path, SESSIONS_MAX, "a side has"));
    let found = found.collect::<anyhow::Result<Vec<_>>>()?;
    let mut folders: Vec<Vec<PathBuf>> = vec![Vec::new(); found.len()];
    let name = |path: &&Path| SideHeads { name: path.display().to_string(), heads: Vec::new() };
    let mut sides: Vec<SideHeads> = paths.iter().map(name).collect();
    let all: Vec<(usize, &PathBuf)> = found
        .iter()
        .enumerate()
        .flat_map(|(at, side)| side.iter().map(move |it| (at, it)))
        .collect();
    let mut heads = Heads::default();
    let mut count = Count::new("manifests", all.len());
    let read = |(side, dir): &(usize, &PathBuf)| {
        let manifest =
            store::read_manifest(dir).map_err(anyhow::Error::from).and_then(|manifest| {
                let trials = dir.join(store::TRIALS_FILE);
                ensure!(trials.exists(), "it has no {}", store::TRIALS_FILE);
                Ok(manifest)
            });
        or_left_out(dir, found[*side].len(), manifest)
    };
    in_order(&all, (|_| 0, 1), read, |(side, dir), manifest: Option<Manifest>| {
        if let Some(manifest) = manifest {
            sides[*side].heads.push(heads.head(manifest));
            folders[*side].push((*dir).clone());
        }
        count.one_more();
        Ok(())
    })?;
    if let Some(side) = folders.iter().position(Vec::is_empty) {
        bail!("{} holds no session that can be read", paths[side].display());
    }
    let left_out = folders.iter().map(Vec::len).sum::<usize>() < all.len();
    Ok(Found { sides, folders, left_out })
}

/// Reads the trials of all sessions, a few sessions at a time, and hands on what is kept of each, in
/// [`Questions::order`]. `dir` is the folder of a session, by the place of its side and its own there.
///
/// # Errors
/// The first of `take`.
pub(crate) fn read(
    questions: &Questions,
    dir: impl Fn(usize, usize) -> PathBuf + Sync,
    mut take: impl FnMut((usize, usize), anyhow::Result<Digest>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let order = questions.order();
    let dir = |&(side, at): &(usize, usize)| dir(side, at);
    let mut odd: Vec<String> = Vec::new();
    let mut count = Count::new("sessions", order.len());
    let weight = |at: &(usize, usize)| lookup::trial_bytes(&dir(at));
    let one = |at: &(usize, usize)| Ok(digest(questions, *at, &dir(at)));
    let done = in_order(&order, (weight, BYTES_AT_ONCE_MAX), one, |at, read| {
        count.one_more();
        let read = read.map(|(digest, oddity)| {
            odd.extend(oddity);
            digest
        });
        take(*at, read)
    });
    drop(count);
    odd.iter().take(NAMED_MAX).for_each(|line| ui::warn(line));
    if odd.len() > NAMED_MAX {
        let more = odd.len() - NAMED_MAX;
        ui::warn(&format!("{more} more sessions have torn, repeated or damaged lines"));
    }
    done
}

/// Returns what is kept of the session in a folder, and what is odd about it.
fn digest(
    questions: &Questions,
    at: (usize, usize),
    dir: &Path,
) -> anyhow::Result<(Digest, Option<String>)> {
    let stored = store::open(dir)?;
    let complete = session::is_complete(&stored.manifest, &stored.records);
    let digest = questions.digest(at, &stored.records, complete);
    Ok((digest, session::oddity(&stored)))
}
