use crate::lines::Lines;
use crate::lock::Lock;
use crate::plan::Plan;
use crate::read::{Stored, check_manifest, read_manifest, read_plan};
use crate::trials::{Trials, read_trials};
use crate::watched::Content;
use crate::{
    CLAIMS_FILE, Error, LINE_BYTES_MAX, LOCK_FILE, MANIFEST_BYTES_MAX, MANIFEST_FILE, REPORT_FILE,
    SCRATCH_FOLDER, SUMMARY_FILE, TRIALS_BYTES_MAX, TRIALS_FILE, files,
};
use model::{Manifest, Record, Summary};
use serde::de::DeserializeOwned;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Bytes of lines for which the disk is waited once, where trials are copied.
const LINES_BYTES: usize = 4 << 20;

/// The one process that writes a session.
///
/// It holds the session's lock until it is dropped; the lock file goes with it. All file names
/// are fixed: nothing that a manifest or a record says becomes part of a path.
#[derive(Debug)]
pub struct Writer {
    plan: Plan,
    trials: Lines<File>,
    written: Written,
    // Last, so that the lock is released when everything else is closed.
    pages: Pages,
}

/// What the manifest and the trials hold.
#[derive(Debug)]
struct Written {
    manifest: Content,
    trials: Content,
}

impl Written {
    /// What they hold now, of the trials as far as they are whole lines.
    fn of(dir: &Path, trials: &Lines<File>) -> Result<Written, Error> {
        let path = dir.join(TRIALS_FILE);
        let whole = Content::of(trials.sink(), trials.whole_bytes());
        Ok(Written {
            manifest: manifest_of(dir)?,
            trials: whole.map_err(Error::io("read", &path))?,
        })
    }
}

/// Returns what the manifest in a folder holds.
fn manifest_of(dir: &Path) -> Result<Content, Error> {
    let path = dir.join(MANIFEST_FILE);
    let read =
        files::open_to_read(&path).and_then(|file| Content::of(&file, file.metadata()?.len()));
    read.map_err(Error::io("read", &path))
}

/// The right to replace what is derived from a session's trials, and nothing else: neither its
/// manifest nor its trials are touched, or held.
///
/// It holds the session's lock until it is dropped, as [`Writer`] does.
#[derive(Debug)]
pub struct Pages {
    dir: PathBuf,
    _lock: Lock,
}

impl Pages {
    /// For a session that exists.
    ///
    /// # Errors
    /// [`Error::Busy`] if another process is writing it, [`Error::NotASession`] if it is none, or
    /// what the operating system refused.
    pub fn of(dir: &Path) -> Result<Pages, Error> {
        // First, so that no lock file is put into a folder that is not a session.
        read_manifest(dir)?;
        Ok(Pages { dir: dir.to_path_buf(), _lock: Lock::acquire(dir)? })
    }

    /// Replaces `summary.json`, at once or not at all.
    ///
    /// # Errors
    /// What the operating system refused; then the file is as it was.
    pub fn write_summary(&self, summary: &Summary) -> Result<(), Error> {
        let path = self.dir.join(SUMMARY_FILE);
        let content = encode::<Summary>(serde_json::to_vec_pretty(summary), &path, usize::MAX)?;
        files::replace(&self.dir, SUMMARY_FILE, &content)
    }

    /// Replaces `report.html`, at once or not at all.
    ///
    /// # Errors
    /// What the operating system refused; then the file is as it was.
    pub fn write_report(&self, html: &str) -> Result<(), Error> {
        files::replace(&self.dir, REPORT_FILE, html.as_bytes())
    }

    /// Replaces `claims.html`, at once or not at all.
    ///
    /// # Errors
    /// What the operating system refused; then the file is as it was.
    pub fn write_claims(&self, html: &str) -> Result<(), Error> {
        files::replace(&self.dir, CLAIMS_FILE, html.as_bytes())
    }
}

impl Writer {
    /// Begins a session in `dir`, which must not exist or be empty; parents are made. What a scruple
    /// that was killed before its session began has left there (an empty lock, an empty list of
    /// trials, the beginning of a manifest) counts as nothing.
    ///
    /// The manifest comes last and whole, so a folder with a manifest is a session. Where it fails,
    /// what it has made is gone again.
    ///
    /// # Errors
    /// [`Error::NotEmpty`], [`Error::Busy`], or what the operating system refused.
    pub fn create(dir: &Path, manifest: &Manifest) -> Result<Writer, Error> {
        let content = checked(dir, manifest)?;
        let folders = files::NewFolders::create(dir).map_err(Error::io("create", dir))?;
        // Before the lock, so that no file of ours is put into somebody's folder, and again
        // after it, since another scruple may have come and gone in between.
        must_hold_no_session(dir)?;
        let lock = Lock::acquire(dir)?;
        must_hold_no_session(dir)?;
        match begin(dir, &content) {
            Ok((trials, written)) => {
                folders.keep();
                let pages = Pages { dir: dir.to_path_buf(), _lock: lock };
                Ok(Writer { plan: Plan::of(manifest, &content), trials, written, pages })
            }
            Err(error) => {
                // The same command can be tried again.
                let _ = std::fs::remove_file(dir.join(TRIALS_FILE));
                // Before the folders, which it would keep from going.
                drop(lock);
                Err(error)
            }
        }
    }

    /// Goes on with a session: cuts a torn last line off `trials.ndjson` and returns what is
    /// there. [`Stored::torn`] tells what was cut off. Nothing else in the folder is touched.
    ///
    /// # Errors
    /// [`Error::Busy`] if another process is writing it, and all that [`crate::open`] may say.
    pub fn resume(dir: &Path) -> Result<(Writer, Stored), Error> {
        // First, so that no lock file is put into a folder that is not a session.
        read_manifest(dir)?;
        let lock = Lock::acquire(dir)?;
        let (manifest, plan) = read_plan(dir)?;
        let path = dir.join(TRIALS_FILE);
        let file = files::open_to_append(&path).map_err(Error::io("open", &path))?;
        let trials = read_trials(&file, &path, &plan)?;
        let lines = Lines::new(file, trials.whole_bytes, trials.torn.is_some())
            .map_err(Error::io("cut a torn line off", &path))?;
        let written = Written::of(dir, &lines)?;
        let dir = dir.to_path_buf();
        let pages = Pages { dir: dir.clone(), _lock: lock };
        let writer = Writer { plan, trials: lines, written, pages };
        let Trials { records, repeated, damage, torn, .. } = trials;
        Ok((writer, Stored { dir, manifest, records, repeated, damage, torn }))
    }

    /// Stores one trial: one write of the whole line, then a wait until it is on the disk.
    ///
    /// # Errors
    /// [`Error::Displaced`], and nothing is written. What the operating system refused (a full disk):
    /// then the record is not stored, those before it are as they were, and a later append may succeed. [`Error::Unreadable`] if the
    /// record could not be read again: it is longer than [`LINE_BYTES_MAX`], of no trial that
    /// the manifest plans, beyond `model`'s bounds, or has a number that JSON does not know. [`Error::TooLarge`] if the session is full.
    pub fn append(&mut self, record: &Record) -> Result<(), Error> {
        self.must_be_in_place()?;
        let path = self.trials_path();
        let unreadable = |what| Error::Unreadable { path: path.clone(), what };
        self.plan.check(record).map_err(unreadable)?;
        let line = self.line(record, &path)?;
        self.append_lines(&line, &path)
    }

    /// Stores many trials that are there already, and waits for the disk once for some megabytes of them.
    ///
    /// # Errors
    /// As [`Writer::append`]; trials before the one at fault may be stored.
    pub fn append_all(&mut self, records: &[Record]) -> Result<(), Error> {
        let path = self.pages.dir.join(TRIALS_FILE);
        let mut lines = Vec::new();
        for record in records {
            self.plan
                .check(record)
                .map_err(|what| Error::Unreadable { path: path.clone(), what })?;
            lines.append(&mut self.line(record, &path)?);
            if lines.len() > LINES_BYTES {
                self.append_lines(&std::mem::take(&mut lines), &path)?;
            }
        }
        self.append_lines(&lines, &path)
    }

    fn line(&self, record: &Record, path: &Path) -> Result<Vec<u8>, Error> {
        let line = serde_json::to_vec(record).map(|line| self.plan.stamped(&line));
        encode::<Record>(line, path, LINE_BYTES_MAX)
    }

    fn append_lines(&mut self, lines: &[u8], path: &Path) -> Result<(), Error> {
        must_fit(self.trials.whole_bytes(), lines.len(), path)?;
        self.trials.append(lines).map_err(Error::io("append to", path))?;
        self.written.trials.add(lines, self.trials.sink());
        Ok(())
    }

    /// Checks that what is written at the folder's path comes to stand beside the trials, and that nobody
    /// has changed them or the manifest, by their sizes and times.
    ///
    /// # Errors
    /// [`Error::Displaced`].
    pub fn must_be_in_place(&self) -> Result<(), Error> {
        self.must_be_as_written(false)
    }

    /// Checks the same by reading both files.
    ///
    /// # Errors
    /// [`Error::Displaced`].
    pub fn must_be_whole(&self) -> Result<(), Error> {
        self.must_be_as_written(true)
    }

    fn must_be_as_written(&self, thoroughly: bool) -> Result<(), Error> {
        let Written { manifest, trials } = &self.written;
        trials.must_be_in(self.trials.sink(), &self.trials_path(), thoroughly)?;
        manifest.must_be_at(&self.pages.dir.join(MANIFEST_FILE), thoroughly)
    }

    fn trials_path(&self) -> PathBuf {
        self.pages.dir.join(TRIALS_FILE)
    }

    /// Replaces `manifest.json`, at once or not at all: for what is known only once the folder is
    /// held, such as how well the shield works.
    ///
    /// # Errors
    /// [`Error::Displaced`], or what the operating system refused; then the file is as it was.
    pub fn write_manifest(&mut self, manifest: &Manifest) -> Result<(), Error> {
        self.must_be_in_place()?;
        let content = checked(&self.pages.dir, manifest)?;
        if Plan::of(manifest, &content) != self.plan {
            let what = "it plans other trials than the session began with".into();
            return Err(Error::Unreadable { path: self.pages.dir.join(MANIFEST_FILE), what });
        }
        files::replace(&self.pages.dir, MANIFEST_FILE, &content)?;
        self.written.manifest = manifest_of(&self.pages.dir)?;
        Ok(())
    }

    /// What is derived from the trials.
    pub fn pages(&self) -> &Pages {
        &self.pages
    }

    /// The session's folder, as it was given.
    pub fn dir(&self) -> &Path {
        &self.pages.dir
    }

    /// Where the trials' files are to be, whether or not the folder is there yet.
    pub fn scratch_path(&self) -> PathBuf {
        self.pages.dir.join(SCRATCH_FOLDER)
    }

    /// The folder for the trials' files, which is made if it is not there: only this user may
    /// enter it.
    ///
    /// # Errors
    /// What the operating system refused; also if something else has the folder's name.
    pub fn scratch(&self) -> Result<PathBuf, Error> {
        let path = self.scratch_path();
        files::create_private_folder(&path).map_err(Error::io("create", &path))?;
        Ok(path)
    }

    /// Removes the folder for the trials' files, with all that is in it, if it is there. Links
    /// in it are removed, not followed.
    ///
    /// # Errors
    /// What the operating system refused.
    pub fn remove_scratch(&self) -> Result<(), Error> {
        let path = self.scratch_path();
        files::gone(std::fs::remove_dir_all(&path)).map_err(Error::io("remove", &path))
    }
}

/// The two files that every session has; the manifest is what makes the folder a session.
fn begin(dir: &Path, manifest: &[u8]) -> Result<(Lines<File>, Written), Error> {
    let path = dir.join(TRIALS_FILE);
    // Left, empty, by one that was killed here.
    files::gone(std::fs::remove_file(&path)).map_err(Error::io("replace", &path))?;
    let trials = files::create_new(&path)
        .and_then(|file| Lines::new(file, 0, false))
        .map_err(Error::io("create", &path))?;
    files::replace(dir, MANIFEST_FILE, manifest)?;
    let written = Written::of(dir, &trials)?;
    Ok((trials, written))
}

/// The content of a session's manifest, of which a reader refuses nothing.
fn checked(dir: &Path, manifest: &Manifest) -> Result<Vec<u8>, Error> {
    let path = dir.join(MANIFEST_FILE);
    check_manifest(manifest, &path)?;
    encode::<Manifest>(serde_json::to_vec_pretty(manifest), &path, MANIFEST_BYTES_MAX)
}

/// What a reader would refuse is not written.
fn must_fit(whole_bytes: u64, line_bytes: usize, path: &Path) -> Result<(), Error> {
    let found = whole_bytes.saturating_add(line_bytes as u64);
    if found > TRIALS_BYTES_MAX {
        return Err(Error::TooLarge { path: path.into(), found, limit: TRIALS_BYTES_MAX });
    }
    Ok(())
}

/// A folder is free if nothing is in it but what [`Writer::create`] itself puts there before the
/// manifest, in the state in which it may be killed.
fn must_hold_no_session(dir: &Path) -> Result<(), Error> {
    let begun = files::temporary(MANIFEST_FILE);
    match files::holds_only(dir, &[LOCK_FILE, TRIALS_FILE], &[&begun]) {
        Ok(true) => Ok(()),
        Ok(false) => Err(Error::NotEmpty { dir: dir.to_path_buf() }),
        Err(error) => Err(Error::io("read", dir)(error)),
    }
}

/// A value as JSON with a newline at its end, of at most `limit` bytes, and known to be readable.
///
/// JSON has no infinity: serde writes `null` for it, which is no number when it is read again.
/// One such value would make the whole session unreadable, so every text is read once before it
/// is stored (some 20 microseconds for a usual record, beside a wait for the disk).
fn encode<T: DeserializeOwned>(
    text: serde_json::Result<Vec<u8>>,
    path: &Path,
    limit: usize,
) -> Result<Vec<u8>, Error> {
    let unreadable = |what: String| Error::Unreadable { path: path.to_path_buf(), what };
    let mut text = text.map_err(|error| unreadable(error.to_string()))?;
    text.push(b'\n');
    if text.len() > limit {
        return Err(unreadable(format!("it has {} bytes, and {limit} is the most", text.len())));
    }
    serde_json::from_slice::<T>(&text)
        .map_err(|error| unreadable(format!("it could not be read again: {error}")))?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::must_fit;
    use crate::{Error, TRIALS_BYTES_MAX};
    use std::path::Path;

    #[test]
    fn a_session_is_full_where_its_reader_would_refuse_more() {
        let fits = |whole, line| must_fit(whole, line, Path::new("trials.ndjson"));
        assert!(fits(TRIALS_BYTES_MAX - 7, 7).is_ok());
        let refused = fits(TRIALS_BYTES_MAX - 7, 8);
        assert!(matches!(&refused, Err(Error::TooLarge { .. })), "{refused:?}");
        assert!(refused.unwrap_err().to_string().contains("fewer experiments or blocks"));
        assert!(fits(u64::MAX, 1).is_err());
    }
}
