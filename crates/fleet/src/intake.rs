//! Sessions that come back from machines that share nothing, as folders or archives.
//!
//! What comes is data of somebody else's. The named files of each session, and nothing else, are copied
//! to a place of the fleet's own, within bounds and under names that are not theirs; when they were
//! checked the session gets its place by a rename, which replaces nothing.

use crate::folder::{FILE_BYTES_MAX, NODE_FILE, PARTIAL_FOLDER, make, read, regular};
use crate::tar::Archive;
use crate::{Error, Folder, NODES_MAX, Published, names};
use model::NodeFacts;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use sys::program::Bounds;

/// The first bytes of what is compressed, and the program that reads it.
const COMPRESSED: [(&[u8], &str); 3] =
    [(b"\x1f\x8b", "gzip"), (b"\x28\xb5\x2f\xfd", "zstd"), (b"\xfd7zXZ\0", "xz")];

/// The most bytes of an archive when it is unpacked.
const ARCHIVE_BYTES_MAX: u64 = 4 << 30;

/// How long it may take to unpack one, and the most bytes of what the program complains about.
const PATIENCE: Duration = Duration::from_secs(600);
const COMPLAINT_BYTES_MAX: usize = 4 << 10;

/// Where sessions lie until they are checked; no attempt has such a name.
const INTAKE_FOLDER: &str = ".in";

/// What is taken of a session: the names of its files, each with the most bytes that it may have.
pub type Files<'a> = &'a [(&'a str, u64)];

/// A folder of the fleet's for what comes in; it goes with all that is still in it.
#[derive(Debug)]
pub struct Intake<'a> {
    folder: &'a Folder,
    files: Files<'a>,
    place: PathBuf,
    /// Sessions that have come: what they were called there, and where they lie now.
    sessions: Vec<(String, PathBuf)>,
}

/// What became of a session that came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It has its place now.
    New,
    /// It was there before, byte for byte.
    Known,
}

impl Folder {
    /// Makes room for sessions that come in, of which these files are taken. Who calls holds the lock.
    ///
    /// # Errors
    /// What the operating system refused.
    pub fn intake<'a>(&'a self, files: Files<'a>) -> Result<Intake<'a>, Error> {
        let place = self.path().join(PARTIAL_FOLDER).join(INTAKE_FOLDER);
        // Left by a process that was killed.
        let _ = std::fs::remove_dir_all(&place);
        make(&place)?;
        Ok(Intake { folder: self, files, place, sessions: Vec::new() })
    }
}

impl Drop for Intake<'_> {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.place);
    }
}

impl Intake<'_> {
    /// Copies the session that a folder is; it is called nothing.
    ///
    /// # Errors
    /// If a file is no regular one or has too many bytes, or the operating system refuses.
    pub fn add_folder(&mut self, dir: &Path) -> Result<(), Error> {
        for (file, most) in self.wanted() {
            let from = dir.join(&file);
            let input = match regular(&from) {
                // Whether it is needed, who checks the session says.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                input => input.map_err(Error::io("read", &from))?,
            };
            self.keep("", &file, most, input).map_err(Error::io("copy", &from))?;
        }
        Ok(())
    }

    /// Copies the sessions that an archive of tar holds, which may be compressed.
    ///
    /// # Errors
    /// If it is no such archive, is larger than an archive may be, or the operating system refuses.
    pub fn add_archive(&mut self, path: &Path) -> Result<(), Error> {
        let failed = || Error::io("read", path);
        let mut archive = Archive::new(self.unpacked(path)?).map_err(failed())?;
        while let Some(member) = archive.next().map_err(failed())? {
            let (session, file) = member.path.rsplit_once('/').unwrap_or(("", &member.path));
            let wanted = self.wanted().find(|(name, _)| name == file);
            if let Some((file, most)) = wanted {
                let content = archive.content(&member);
                self.keep(session, &file, most, content).map_err(failed())?;
            }
        }
        Ok(())
    }

    /// Returns what was copied: what each was called where it came from, and where it lies.
    pub fn sessions(&self) -> &[(String, PathBuf)] {
        &self.sessions
    }

    /// Returns what a session says of its node, and the attempt that it is.
    ///
    /// # Errors
    /// If it says nothing, or gives itself a name that no node has.
    pub fn facts(&self, session: &Path) -> Result<(NodeFacts, Published), Error> {
        let file = session.join(NODE_FILE);
        if std::fs::symlink_metadata(&file).is_err() {
            let why = format!(
                "it has no {NODE_FILE}: `scruple fleet node` did not measure or complete it"
            );
            return Err(Error::of(session.display(), why));
        }
        let facts: NodeFacts = read(&file)?;
        names::host("its node", &facts.node)?;
        names::node("its job", &facts.job)?;
        let of = Published::new(&facts.node, &facts.job, facts.restart);
        // A name that is read again as another one would be lost.
        match Published::of(&of.name) {
            Some(read) if read == of => Ok((facts, of)),
            _ => Err(Error::of(&of.name, "it is no name of a session")),
        }
    }

    /// Gives a session its place.
    ///
    /// # Errors
    /// If its place is taken by another one, or the operating system refuses.
    pub fn publish(&self, session: &Path, of: &Published) -> Result<Taken, Error> {
        let place = self.folder.session(of);
        if std::fs::symlink_metadata(&place).is_ok() {
            for (file, _) in self.wanted() {
                let same = same(&session.join(&file), &place.join(&file));
                if !same.map_err(Error::io("compare", &place.join(&file)))? {
                    let why = format!(
                        "another session of this name is in the fleet, and its {file} differs; \
                         nothing was replaced"
                    );
                    return Err(Error::of(&of.name, why));
                }
            }
            return Ok(Taken::Known);
        }
        std::fs::rename(session, &place).map_err(Error::io("give a place to", session))?;
        sys::replace::names(self.folder.path()).map_err(Error::io("write", &place))?;
        Ok(Taken::New)
    }

    fn wanted(&self) -> impl Iterator<Item = (String, u64)> + use<> {
        let own = (NODE_FILE, FILE_BYTES_MAX);
        let all: Vec<_> =
            self.files.iter().chain([&own]).map(|(n, most)| (n.to_string(), *most)).collect();
        all.into_iter()
    }

    /// Copies a file of the session that is called `session`.
    fn keep(&mut self, session: &str, file: &str, most: u64, input: impl Read) -> io::Result<()> {
        let known = self.sessions.iter().find(|(name, _)| name == session);
        let dir = match known {
            Some((_, dir)) => dir.clone(),
            None if self.sessions.len() == NODES_MAX => {
                return Err(io::Error::other(format!("it holds more than {NODES_MAX} sessions")));
            }
            None => {
                let dir = self.place.join(self.sessions.len().to_string());
                std::fs::create_dir(&dir)?;
                self.sessions.push((session.to_string(), dir.clone()));
                dir
            }
        };
        let twice = |error: io::Error| match error.kind() {
            io::ErrorKind::AlreadyExists => {
                io::Error::other(format!("it holds {session}/{file} twice"))
            }
            _ => error,
        };
        let mut out =
            OpenOptions::new().write(true).create_new(true).open(dir.join(file)).map_err(twice)?;
        if io::copy(&mut input.take(most + 1), &mut out)? > most {
            return Err(io::Error::other(format!("{file} has more than {most} bytes")));
        }
        out.sync_all()
    }

    /// Returns an archive without compression.
    fn unpacked(&self, path: &Path) -> Result<File, Error> {
        // A link is fine: who runs this has named it.
        let path = &std::fs::canonicalize(path).map_err(Error::io("read", path))?;
        let failed = || Error::io("read", path);
        let input = regular(path).map_err(failed())?;
        let mut first = Vec::new();
        (&input).take(8).read_to_end(&mut first).map_err(failed())?;
        let Some((_, program)) = COMPRESSED.iter().find(|(bytes, _)| first.starts_with(bytes))
        else {
            return Ok(input);
        };
        let place = self.place.join("archive");
        let open = || OpenOptions::new().read(true).write(true).create_new(true).open(&place);
        let mut out = open().map_err(Error::io("create", &place))?;
        // The name goes with the last opening.
        std::fs::remove_file(&place).map_err(Error::io("remove", &place))?;
        let input = regular(path).map_err(failed())?;
        let mut command = sys::program::command(program);
        command.arg("-dc").stdin(Stdio::from(input));
        let bounds = Bounds {
            time: Some(PATIENCE),
            complaint_bytes_max: COMPLAINT_BYTES_MAX,
            // Who ends scruple closes the pipe that it writes to.
            stop: &|| false,
        };
        let mut room = ARCHIVE_BYTES_MAX;
        let ended = sys::program::run(&mut command, &bounds, &mut |bytes| {
            let Some(left) = room.checked_sub(bytes.len() as u64) else {
                let why = format!("it has more than {ARCHIVE_BYTES_MAX} bytes unpacked");
                return Err(io::Error::other(why));
            };
            room = left;
            out.write_all(bytes)
        });
        let ended = ended.map_err(|why| match why {
            sys::program::Failure::Missing => Error::of(
                path.display(),
                format!(
                    "{program} reads it, and is not on the PATH: install it, or unpack the file"
                ),
            ),
            why => Error::of(path.display(), why),
        })?;
        if !ended.status.success() {
            return Err(Error::of(path.display(), format!("{program} finds it damaged")));
        }
        Ok(out)
    }
}

/// Reports whether two files hold the same, or neither is there.
fn same(a: &Path, b: &Path) -> io::Result<bool> {
    let open = |path: &Path| match regular(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        file => file.map(|file| Some(BufReader::new(file))),
    };
    let (mut a, mut b) = match (open(a)?, open(b)?) {
        (Some(a), Some(b)) => (a, b),
        (a, b) => return Ok(a.is_none() && b.is_none()),
    };
    loop {
        let (one, other) = (a.fill_buf()?, b.fill_buf()?);
        let bytes = one.len().min(other.len());
        if bytes == 0 || one[..bytes] != other[..bytes] {
            return Ok(one.is_empty() && other.is_empty());
        }
        a.consume(bytes);
        b.consume(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::process::Command;

    const FILES: Files<'static> = &[("manifest.json", 8), ("trials.ndjson", 1000)];

    fn folder() -> (tempfile::TempDir, Folder) {
        let dir = tempfile::tempdir().unwrap();
        let fleet = crate::folder::tests::gathered(&dir.path().join("fleet"));
        let folder = Folder::create(fleet).unwrap();
        (dir, folder)
    }

    /// A folder with the files of a session.
    fn session(dir: &Path, trials: &str) {
        std::fs::create_dir_all(dir).unwrap();
        std::fs::write(dir.join("manifest.json"), "{}").unwrap();
        std::fs::write(dir.join("trials.ndjson"), trials).unwrap();
        std::fs::write(dir.join("report.html"), "not taken").unwrap();
    }

    #[test]
    fn what_is_too_large_or_no_file_is_refused() {
        let (dir, folder) = folder();
        let source = dir.path().join("source");
        session(&source, "x");
        let refused = |change: &dyn Fn()| {
            change();
            let mut intake = folder.intake(FILES).unwrap();
            intake.add_folder(&source).unwrap_err().to_string()
        };
        let trials = source.join("trials.ndjson");
        let large = refused(&|| std::fs::write(&trials, [b'x'; 1001]).unwrap());
        assert!(large.contains("trials.ndjson has more than 1000 bytes"), "{large}");
        let link = refused(&|| {
            std::fs::remove_file(&trials).unwrap();
            symlink("/etc/passwd", &trials).unwrap();
        });
        assert!(link.contains("cannot read"), "{link}");
        // Nothing of it is left.
        let left = std::fs::read_dir(folder.path().join(PARTIAL_FOLDER)).unwrap();
        assert_eq!(left.count(), 0);
    }

    #[test]
    fn an_archive_is_read_however_it_is_compressed() {
        let (dir, folder) = folder();
        for name in ["one", "two"] {
            session(&dir.path().join("all").join(name), name);
        }
        for program in ["cat", "gzip", "zstd", "xz"] {
            if sys::program::find(program).is_none() {
                println!("skipped: no {program}");
                continue;
            }
            let archive = dir.path().join("archive");
            let mut tar = Command::new("tar");
            let option = format!("--use-compress-program={program}");
            tar.args([&option, "--sort=name", "-cf"]).arg(&archive).arg("-C").arg(dir.path());
            assert!(tar.arg("all").status().unwrap().success(), "{option}");
            let mut intake = folder.intake(FILES).unwrap();
            intake.add_archive(&archive).unwrap();
            let names: Vec<&str> =
                intake.sessions().iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(names, ["all/one", "all/two"], "{option}");
            for ((_, place), trials) in intake.sessions().iter().zip(["one", "two"]) {
                let mut files: Vec<_> =
                    std::fs::read_dir(place).unwrap().map(|it| it.unwrap().file_name()).collect();
                files.sort();
                assert_eq!(files, ["manifest.json", "trials.ndjson"], "{option}");
                assert_eq!(std::fs::read_to_string(place.join("trials.ndjson")).unwrap(), trials);
            }
        }
    }

    #[test]
    fn files_are_the_same_byte_for_byte() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str, content: &str| {
            let path = dir.path().join(name);
            std::fs::write(&path, content).unwrap();
            path
        };
        let long = "x".repeat(100_000);
        let (a, b, c) = (file("a", &long), file("b", &long), file("c", &(long.clone() + "y")));
        assert!(same(&a, &b).unwrap() && !same(&a, &c).unwrap() && !same(&c, &a).unwrap());
        let [none, empty] = [dir.path().join("none"), file("empty", "")];
        assert!(same(&none, &none).unwrap() && !same(&none, &empty).unwrap());
    }
}
