//! Programs and files that a session's commands name, and whether somebody else changes them meanwhile.

use model::{Design, NamedFile, Profile, Treatment};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use subject::Lookup;

/// A larger file is known by its size and time alone.
const HASHED_BYTES_MAX: u64 = 64 << 20;

/// The most files of a session that are looked at.
const FILES_MAX: usize = 1000;

/// A change within this time of another may bear the same time: the clock for files has ticks of some milliseconds.
const TICK: Duration = Duration::from_millis(20);

/// What is known of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// No trial that names it has ended.
    New,
    /// A trial that names it left it as it was.
    Kept,
    /// It was changed while its first trial ran, by the trial or by somebody.
    Doubtful,
    /// Its trials change it.
    Own,
}

/// The files of a session.
#[derive(Debug, Default)]
pub(crate) struct NamedFiles {
    files: BTreeMap<PathBuf, (NamedFile, State)>,
    of: HashMap<String, HashMap<Treatment, BTreeSet<PathBuf>>>,
    /// The programs that are looked for in a PATH, and where each was found.
    lookups: BTreeMap<Lookup, Option<PathBuf>>,
}

/// A file that somebody changed, with what to do.
#[derive(Debug, thiserror::Error)]
#[error(
    "{} was changed while its session was measured, so that trials before and after it ran something else: \
     begin a new session (a trial that changes its own files works on copies: prepare, {{scratch}})",
    path.display()
)]
pub(crate) struct Changed {
    path: PathBuf,
}

impl NamedFiles {
    /// Looks at the files of a session that begins.
    pub(crate) fn of(designs: &[Design], profile: Profile) -> NamedFiles {
        let mut named = NamedFiles::default();
        for design in designs {
            let Some(subject) = &design.subject else { continue };
            let of = named.of.entry(design.id.clone()).or_default();
            for treatment in design.treatments(profile) {
                let lookups = subject::looked_up(subject, &treatment).into_iter();
                named.lookups.extend(lookups.map(|lookup| (lookup.clone(), lookup.find())));
                let files = subject::named_files(subject, &treatment);
                for path in &files {
                    let is_new = !named.files.contains_key(path) && named.files.len() < FILES_MAX;
                    if let Some(file) = is_new.then(|| look(path)).flatten() {
                        named.files.insert(path.clone(), (file, State::New));
                    }
                }
                of.insert(treatment, files);
            }
        }
        named
    }

    /// Looks at the files of a session that is resumed, which had these when it began.
    ///
    /// # Errors
    /// The first that is another one now.
    pub(crate) fn again(
        designs: &[Design],
        profile: Profile,
        before: &[NamedFile],
    ) -> Result<NamedFiles, Changed> {
        let mut named = NamedFiles::of(designs, profile);
        let then: BTreeMap<&Path, &NamedFile> =
            before.iter().map(|file| (Path::new(&file.path), file)).collect();
        // What is not among them is changed by trials, or was made later.
        named.files.retain(|path, _| then.contains_key(path.as_path()));
        let is_complete = then.len() < FILES_MAX;
        for path in named.lookups.values().flatten().filter(|_| is_complete) {
            if !then.contains_key(path.as_path()) {
                return Err(Changed { path: path.clone() });
            }
        }
        for (path, file) in then {
            if now(path, file).is_none() {
                return Err(Changed { path: path.into() });
            }
        }
        Ok(named)
    }

    /// Returns the files as a session stores them, by path.
    pub(crate) fn stored(&self) -> Vec<NamedFile> {
        let files = self.files.values().filter(|(_, state)| *state != State::Own);
        files.map(|(file, _)| file.clone()).collect()
    }

    /// Checks the files before a trial.
    ///
    /// # Errors
    /// The first that somebody changed since.
    pub(crate) fn before_trial(&mut self) -> Result<(), Changed> {
        for (path, (file, state)) in &mut self.files {
            if *state != State::Own {
                *file = now(path, file).ok_or_else(|| Changed { path: path.clone() })?;
            }
        }
        // What was not found then is made by a `prepare`.
        let found = self.lookups.iter().filter_map(|(lookup, path)| Some((lookup, path.as_ref()?)));
        for (lookup, before) in found {
            let now = lookup.find();
            if now.as_ref() != Some(before) {
                return Err(Changed { path: now.unwrap_or_else(|| before.clone()) });
            }
        }
        Ok(())
    }

    /// Checks the files after a trial. One that each of its trials changes is their own. Returns whether there
    /// are others to store than before.
    ///
    /// # Errors
    /// The first that somebody changed meanwhile.
    pub(crate) fn after_trial(&mut self, id: &str, treatment: &Treatment) -> Result<bool, Changed> {
        let own = self.of.get(id).and_then(|of| of.get(treatment));
        let mut differs = false;
        for (path, (file, state)) in &mut self.files {
            let names = own.is_some_and(|own| own.contains(path));
            let same = now(path, file);
            let is_changed = same.is_none();
            *file = match same.or_else(|| look(path)) {
                Some(file) => file,
                None => return Err(Changed { path: path.clone() }),
            };
            *state = match (*state, names, is_changed) {
                (State::Own, ..) => State::Own,
                (State::New, true, true) => State::Doubtful,
                (State::Doubtful, true, true) => State::Own,
                (State::New, true, false) => State::Kept,
                (state, false, false) | (state @ State::Kept, true, false) => state,
                _ => return Err(Changed { path: path.clone() }),
            };
            differs |= is_changed;
        }
        Ok(differs)
    }
}

/// Returns a file as it is; `None` of one that cannot be looked at.
fn look(path: &Path) -> Option<NamedFile> {
    let facts = path.metadata().ok().filter(std::fs::Metadata::is_file)?;
    let bytes = facts.len();
    let hashed = bytes <= HASHED_BYTES_MAX;
    let sha256 = match hashed.then(|| std::fs::read(path)) {
        Some(content) => sys::hash::sha256(&content.ok()?),
        None => String::new(),
    };
    // Where another change could bear the same time, only the content is trusted.
    let is_trusted = !hashed || is_older(changed_unix_ns(&facts), TICK);
    let modified_unix_ns = if is_trusted { changed_unix_ns(&facts) } else { 0 };
    Some(NamedFile { path: path.display().to_string(), bytes, modified_unix_ns, sha256 })
}

/// Returns when a file was changed last, its name and rights included: a copy that takes the place of another may have
/// its size and the time of its content.
fn changed_unix_ns(facts: &std::fs::Metadata) -> i64 {
    facts.ctime().saturating_mul(1_000_000_000) + facts.ctime_nsec()
}

/// Reports whether a time is at least that long ago.
fn is_older(unix_ns: i64, than: Duration) -> bool {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.as_nanos() as i128 - i128::from(unix_ns) >= than.as_nanos() as i128
}

/// Returns a file as it is now if it holds what it held; its content is read only where size and time leave a
/// doubt.
fn now(path: &Path, file: &NamedFile) -> Option<NamedFile> {
    let facts = path.metadata().ok()?;
    let modified_unix_ns = changed_unix_ns(&facts);
    if facts.len() != file.bytes {
        return None;
    }
    if modified_unix_ns == file.modified_unix_ns {
        return Some(file.clone());
    }
    look(path).filter(|now| !now.sha256.is_empty() && now.sha256 == file.sha256)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
mod tests {
    use super::*;
    use model::Subject;

    fn write(path: &Path, text: &str) {
        std::fs::write(path, text).unwrap();
    }

    /// Returns the path of a file, the files of a session whose command names it, and a treatment.
    fn session(dir: &Path) -> (PathBuf, NamedFiles, Treatment) {
        let path = dir.join("data");
        write(&path, "0");
        let subject = Subject {
            command: vec!["cat".into(), path.display().to_string()],
            ..Subject::default()
        };
        let design = Design { id: "a".into(), subject: Some(subject), ..Design::default() };
        let files = NamedFiles::of(&[design], Profile::Smoke);
        let treatment = files.of["a"].keys().next().unwrap().clone();
        assert!(files.stored().iter().any(|file| Path::new(&file.path) == path));
        (path, files, treatment)
    }

    #[test]
    fn a_program_that_another_hides_in_the_path_has_changed() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let make = |name: &str, text: &str| {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            write(&path, text);
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
            path
        };
        make("late/tool", "#!/usr/bin/env interpreter\n");
        make("late/interpreter", "#!/bin/sh\n");
        std::fs::create_dir(dir.path().join("early")).unwrap();
        let path = format!("{0}/early:{0}/late", dir.path().display());
        let subject = Subject {
            command: vec!["tool".into()],
            environment: [("PATH".to_string(), path)].into(),
            ..Subject::default()
        };
        let designs = [Design { id: "a".into(), subject: Some(subject), ..Design::default() }];
        for name in ["early/tool", "early/interpreter"] {
            let mut files = NamedFiles::of(&designs, Profile::Smoke);
            let stored = files.stored();
            files.before_trial().unwrap();
            let hiding = make(name, "#!/bin/sh\n");
            assert_eq!(files.before_trial().unwrap_err().path, hiding);
            let again = NamedFiles::again(&designs, Profile::Smoke, &stored);
            assert_eq!(again.unwrap_err().path, hiding);
            std::fs::remove_file(hiding).unwrap();
        }
    }

    /// Puts another file of the same size in the place of one, as a compiler does.
    fn replace(path: &Path) {
        let new = path.with_extension("new");
        write(&new, "1");
        std::fs::rename(new, path).unwrap();
    }

    /// Does the same with the time of the old content, as `cp -p`, `tar` and package managers do.
    fn copy(path: &Path) {
        let modified = path.metadata().unwrap().modified().unwrap();
        let new = path.with_extension("new");
        write(&new, "1");
        std::fs::File::options().append(true).open(&new).unwrap().set_modified(modified).unwrap();
        std::fs::rename(new, path).unwrap();
    }

    #[test]
    fn what_every_trial_changes_is_its_own_and_what_one_changes_is_somebodys() {
        let dir = tempfile::tempdir().unwrap();
        let (path, mut files, treatment) = session(dir.path());
        for text in ["1", "22", "333"] {
            files.before_trial().unwrap();
            write(&path, text);
            files.after_trial("a", &treatment).unwrap();
        }
        assert!(!files.stored().iter().any(|file| Path::new(&file.path) == path));

        let (path, mut files, treatment) = session(dir.path());
        files.before_trial().unwrap();
        write(&path, "1");
        assert!(files.after_trial("a", &treatment).unwrap());
        files.before_trial().unwrap();
        assert_eq!(files.after_trial("a", &treatment).unwrap_err().path, path);
    }

    #[test]
    fn a_change_between_or_in_later_trials_is_noticed_and_a_touch_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let (path, mut files, treatment) = session(dir.path());
        files.before_trial().unwrap();
        assert!(!files.after_trial("a", &treatment).unwrap());
        write(&path, "0");
        files.before_trial().unwrap();
        write(&path, "1");
        assert_eq!(files.after_trial("a", &treatment).unwrap_err().path, path);
        let edits: [fn(&Path); 4] =
            [|path| write(path, "12"), |path| std::fs::remove_file(path).unwrap(), replace, copy];
        for edit in edits {
            let (path, mut files, _) = session(dir.path());
            edit(&path);
            assert_eq!(files.before_trial().unwrap_err().path, path);
        }
    }
}
