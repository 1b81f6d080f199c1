//! The shared folder of a fleet.
//!
//! Each attempt measures in a folder of its own below `.partial`, whose name holds the node, the job and
//! how often the job was restarted; when its session is complete the folder is given its place by a
//! rename, all of it at once. So what an orphan of an earlier attempt goes on writing is never in the
//! way of a later one, and whatever has its place is whole.

use crate::{Error, names};
use model::{FLEET_FORMAT, Fleet, FleetEngine, NodeFacts};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// What was submitted.
pub const FLEET_FILE: &str = "fleet.json";
/// What a node says of its session; in the session's folder.
pub const NODE_FILE: &str = "node.json";
/// What came of the fleet.
pub const RESULT_FILE: &str = "result.json";
/// The same as a page.
pub const REPORT_FILE: &str = "report.html";

const SCRIPT_FILE: &str = "job.sh";
const LOCK_FILE: &str = "lock";
pub(crate) const LOG_FOLDER: &str = "log";
const PARTIAL_FOLDER: &str = ".partial";

/// The same for every fleet.
const SCRIPT: &str = include_str!("../job.sh");

/// The most bytes of `fleet.json` and of `node.json`.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// The most bytes of the end of a log that are read.
const LOG_BYTES_MAX: u64 = 16 << 10;

/// How often a file is read that is being replaced on a network file system just then.
const READS: u32 = 5;

/// The folder of one fleet.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
}

/// A session that has its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    /// The node.
    pub node: String,
    /// The job.
    pub job: String,
    /// How often the job had been restarted.
    pub restart: u32,
    /// The folder's name.
    pub name: String,
}

/// The right to submit for a fleet and to write down what was. The kernel takes it back when the
/// process ends.
#[derive(Debug)]
pub struct Locked {
    _file: File,
}

impl Folder {
    /// Makes the folder of a new fleet. It must be new or empty.
    ///
    /// # Errors
    /// If something is in it, or the operating system refuses.
    pub fn create(path: &Path) -> Result<Self, Error> {
        let make = |path: &Path| DirBuilder::new().recursive(true).mode(0o755).create(path);
        make(path).map_err(Error::io("create", path))?;
        let mut entries = std::fs::read_dir(path).map_err(Error::io("read", path))?;
        if entries.next().is_some() {
            return Err(Error::folder(path, "it is not empty: a new fleet needs a new folder"));
        }
        for name in [LOG_FOLDER, PARTIAL_FOLDER] {
            let path = path.join(name);
            make(&path).map_err(Error::io("create", &path))?;
        }
        let folder = Folder { path: path.to_path_buf() };
        folder.replace(SCRIPT_FILE, SCRIPT.as_bytes())?;
        Ok(folder)
    }

    /// A fleet that was begun.
    ///
    /// # Errors
    /// If the folder holds none, or one whose file is damaged, of a later scruple, or names what no
    /// fleet names.
    pub fn open(path: &Path) -> Result<(Self, Fleet), Error> {
        let folder = Folder { path: path.to_path_buf() };
        let file = path.join(FLEET_FILE);
        let fleet: Fleet = match read(&file) {
            Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                return Err(Error::folder(
                    path,
                    format!("it holds no fleet: there is no {FLEET_FILE}"),
                ));
            }
            read => read?,
        };
        check(&fleet).map_err(|what| Error::folder(&file, what))?;
        Ok((folder, fleet))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The script of every job, below a fleet's folder.
    pub(crate) fn script(folder: &str) -> String {
        format!("{folder}/{SCRIPT_FILE}")
    }

    /// Takes the fleet, so that no second process submits for it.
    ///
    /// # Errors
    /// If another one has it.
    pub fn lock(&self) -> Result<Locked, Error> {
        let path = self.path.join(LOCK_FILE);
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o644)
            .custom_flags(NO_FOLLOW)
            .open(&path)
            .map_err(Error::io("open", &path))?;
        match file.try_lock() {
            Ok(()) => Ok(Locked { _file: file }),
            Err(TryLockError::WouldBlock) => Err(Error::folder(
                &self.path,
                "another scruple looks after this fleet: wait until it has ended, or end it (the \
                 jobs go on)",
            )),
            Err(TryLockError::Error(error)) => Err(Error::io("lock", &path)(error)),
        }
    }

    /// Writes down what was submitted, at once or not at all.
    ///
    /// # Errors
    /// What the operating system refused.
    pub fn write(&self, fleet: &Fleet) -> Result<(), Error> {
        self.replace(FLEET_FILE, &json(fleet, &self.path)?)
    }

    /// Gives a file of the folder a new content, at once or not at all.
    ///
    /// # Errors
    /// What the operating system refused.
    pub fn replace(&self, name: &str, content: &[u8]) -> Result<(), Error> {
        replace(&self.path, name, content)
    }

    /// The sessions that have their place, of this fleet's nodes alone. A link, or a name that no attempt
    /// has, is none.
    ///
    /// # Errors
    /// What the operating system refused.
    pub fn published(&self, fleet: &Fleet) -> Result<Vec<Published>, Error> {
        attempts(&self.path, fleet)
    }

    /// The folders in which attempts measure, or measured when they were cut off.
    ///
    /// # Errors
    /// What the operating system refused.
    pub fn partial(&self, fleet: &Fleet) -> Result<Vec<Published>, Error> {
        attempts(&self.path.join(PARTIAL_FOLDER), fleet)
    }

    /// Where an attempt that has its place lies.
    pub fn session(&self, of: &Published) -> PathBuf {
        self.path.join(&of.name)
    }

    /// Where an attempt measures.
    pub fn workplace(&self, of: &Published) -> PathBuf {
        self.path.join(PARTIAL_FOLDER).join(&of.name)
    }

    /// What a node says of the session that it has published.
    ///
    /// # Errors
    /// If there is no such file, or it is damaged.
    pub fn facts(&self, of: &Published) -> Result<NodeFacts, Error> {
        read(&self.session(of).join(NODE_FILE))
    }

    /// Gives a complete session its place, with what its node says of it.
    ///
    /// # Errors
    /// If the place is taken, or the operating system refuses.
    pub fn publish(&self, of: &Published, facts: &NodeFacts) -> Result<(), Error> {
        let (from, to) = (self.workplace(of), self.session(of));
        replace(&from, NODE_FILE, &json(facts, &from)?)?;
        std::fs::rename(&from, &to).map_err(Error::io("give its place to", &from))?;
        sys::replace::names(&self.path).map_err(Error::io("write", &self.path))
    }

    /// The last line that a job of a scheduler said on a node, if it said anything.
    pub fn last_words(&self, node: &str, job: &str) -> Option<String> {
        let text = self.end_of_log(&format!("{node}.{job}.txt"))?;
        text.lines().map(str::trim).rfind(|line| !line.is_empty()).map(String::from)
    }

    /// The end of a log.
    pub(crate) fn end_of_log(&self, name: &str) -> Option<String> {
        let mut file = regular(&self.path.join(LOG_FOLDER).join(name)).ok()?;
        let bytes = file.metadata().ok()?.len();
        file.seek(SeekFrom::Start(bytes.saturating_sub(LOG_BYTES_MAX))).ok()?;
        let mut text = Vec::new();
        file.take(LOG_BYTES_MAX).read_to_end(&mut text).ok()?;
        Some(String::from_utf8_lossy(&text).into_owned())
    }
}

impl Published {
    /// An attempt by its three parts.
    pub fn new(node: &str, job: &str, restart: u32) -> Self {
        let name = format!("{node}.{job}.{restart}");
        Published { node: node.into(), job: job.into(), restart, name }
    }

    /// The attempt that a folder's name stands for.
    fn of(name: &str) -> Option<Self> {
        let mut parts = name.rsplitn(3, '.');
        let (restart, job, node) = (parts.next()?, parts.next()?, parts.next()?);
        let fits = names::host("", node).is_ok() && names::node("", job).is_ok();
        let read = Self::new(node, job, restart.parse().ok().filter(|_| fits)?);
        // "+1" and "01" are also numbers.
        (read.name == name).then_some(read)
    }
}

/// A folder on many machines may hold links to places that are not ours, and pipes that never answer.
const NO_FOLLOW: i32 = libc::O_NOFOLLOW | libc::O_NONBLOCK;

fn attempts(dir: &Path, fleet: &Fleet) -> Result<Vec<Published>, Error> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(Error::io("read", dir))? {
        let entry = entry.map_err(Error::io("read", dir))?;
        // A folder from other hosts may hold links to places that are not theirs.
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let attempt = entry.file_name().to_str().and_then(Published::of);
        let own = attempt.filter(|it| fleet.nodes.iter().any(|node| node.name == it.node));
        found.extend(own.filter(|_| is_folder));
    }
    found.sort_by(|a, b| (&a.node, a.restart, &a.job).cmp(&(&b.node, b.restart, &b.job)));
    Ok(found)
}

/// Whether a fleet from a file is one that could have been submitted.
fn check(fleet: &Fleet) -> Result<(), String> {
    if fleet.format > FLEET_FORMAT {
        return Err(format!(
            "format {}, and this scruple reads up to {FLEET_FORMAT}: use the scruple that wrote it, \
             or a newer one",
            fleet.format
        ));
    }
    let is_id = fleet.fleet.len() == 12 && fleet.fleet.bytes().all(|b| b.is_ascii_hexdigit());
    if !is_id {
        return Err("its identifier is not 12 hexadecimal digits".into());
    }
    if fleet.nodes.is_empty() || fleet.nodes.len() > crate::NODES_MAX {
        return Err(format!(
            "it has {} nodes, and 1 to {} are right",
            fleet.nodes.len(),
            crate::NODES_MAX
        ));
    }
    let name = match fleet.engine {
        FleetEngine::Slurm => names::node,
        FleetEngine::Hosts => names::host,
    };
    let checked = || {
        for node in &fleet.nodes {
            name("a node", &node.name)?;
            for attempt in &node.attempts {
                names::node("a job", &attempt.job)?;
            }
        }
        names::path("the folder", &fleet.folder)?;
        names::path("the binary", &fleet.binary)?;
        let request = &fleet.request;
        for word in [&request.account, &request.qos, &request.reservation].into_iter().flatten() {
            names::word("the request", word)?;
        }
        request.partition.iter().try_for_each(|it| names::partitions("the partition", it))?;
        request.constraint.iter().try_for_each(|it| names::constraint("the constraint", it))
    };
    checked().map_err(|error: Error| error.to_string())
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<T, Error> {
    let mut last = None;
    for _ in 0..READS {
        match once(path) {
            // On a network file system a file that is replaced may vanish while it is read.
            Err(error) if error.raw_os_error() == Some(libc::ESTALE) => last = Some(error),
            Err(error) => return Err(Error::io("read", path)(error)),
            Ok(text) => {
                return serde_json::from_slice(&text)
                    .map_err(|error| Error::folder(path, format!("it is damaged: {error}")));
            }
        }
    }
    let error = last.unwrap_or_else(|| io::Error::other("it is replaced again and again"));
    Err(Error::io("read", path)(error))
}

fn once(path: &Path) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    regular(path)?.take(FILE_BYTES_MAX + 1).read_to_end(&mut text)?;
    if text.len() as u64 > FILE_BYTES_MAX {
        return Err(io::Error::other(format!("it has more than {FILE_BYTES_MAX} bytes")));
    }
    Ok(text)
}

/// A file to read that is no link, no device and no pipe.
fn regular(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(NO_FOLLOW).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is not a regular file")),
    }
}

fn json<T: Serialize>(value: &T, path: &Path) -> Result<Vec<u8>, Error> {
    let mut text =
        serde_json::to_vec_pretty(value).map_err(|error| Error::folder(path, error.to_string()))?;
    text.push(b'\n');
    Ok(text)
}

fn replace(dir: &Path, name: &str, content: &[u8]) -> Result<(), Error> {
    // Nodes that share the folder may replace one file at once.
    let temporary = format!(".{name}.{}.new", std::process::id());
    sys::replace::file(dir, name, &temporary, content).map_err(Error::io("write", &dir.join(name)))
}

#[cfg(test)]
mod tests;
