//! The shared folder of a fleet.
//!
//! Each attempt measures in a folder of its own below `.partial`, whose name holds the node, the job and
//! how often the job was restarted; when its session is complete the folder is given its place by a
//! rename, all of it at once. So what an orphan of an earlier attempt goes on writing is never in the
//! way of a later one, and whatever has its place is whole.

mod gathered;

use crate::{Error, NODES_MAX, names};
use model::{FLEET_FORMAT, Fleet, FleetEngine, FleetNode, NodeFacts, natural_order};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// What was submitted.
pub const FLEET_FILE: &str = "fleet.json";
/// What a node says of its session; in the session's folder.
pub(crate) const NODE_FILE: &str = "node.json";
/// What came of the fleet.
pub const RESULT_FILE: &str = "result.json";
/// The same as a page.
pub const REPORT_FILE: &str = "report.html";

pub(crate) const SCRIPT_FILE: &str = "job.sh";
const LOCK_FILE: &str = "lock";
pub(crate) const LOG_FOLDER: &str = "log";
pub(crate) const PARTIAL_FOLDER: &str = ".partial";

/// The same for every fleet.
const SCRIPT: &str = include_str!("../job.sh");

/// The most bytes of `fleet.json` and of `node.json`: all nodes, each with all its attempts.
pub(crate) const FILE_BYTES_MAX: u64 = 8 << 20;

/// The most bytes of the end of a log that are read.
const LOG_BYTES_MAX: u64 = 16 << 10;

/// How often a file is read that is being replaced on a network file system just then.
const READS: u32 = 5;

/// The folder of one fleet.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
    /// What was submitted.
    pub fleet: Fleet,
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

impl Folder {
    /// Makes the folder of a new fleet. It must be new or empty.
    ///
    /// # Errors
    /// If something is in it, or the operating system refuses.
    pub fn create(fleet: Fleet) -> Result<Self, Error> {
        let folder = Folder { path: PathBuf::from(&fleet.folder), fleet };
        let path = &folder.path;
        make(path)?;
        let mut entries = std::fs::read_dir(path).map_err(Error::io("read", path))?;
        if entries.next().is_some() {
            let why = "it is not empty: a new fleet needs a new folder";
            return Err(Error::of(path.display(), why));
        }
        make(&path.join(PARTIAL_FOLDER))?;
        if folder.fleet.engine != FleetEngine::Gather {
            make(&path.join(LOG_FOLDER))?;
            folder.replace(SCRIPT_FILE, SCRIPT.as_bytes())?;
        }
        Ok(folder)
    }

    /// A folder in which a machine that shares nothing measures for a fleet; `file` is a copy of the
    /// `fleet.json` that says what, or the folder that holds it. What lies in the folder stays.
    ///
    /// # Errors
    /// As [`Folder::open`], and what the operating system refused.
    pub fn elsewhere(file: &Path, path: &Path) -> Result<Self, Error> {
        let file = if file.is_dir() { file.join(FLEET_FILE) } else { file.to_path_buf() };
        // Who mounts or copies it may do so by a link, and has named it.
        let file = std::fs::canonicalize(&file).map_err(Error::io("read", &file))?;
        let fleet = fleet_of(&file)?;
        make(&path.join(PARTIAL_FOLDER))?;
        Ok(Folder { path: path.to_path_buf(), fleet })
    }

    /// A fleet that was begun.
    ///
    /// # Errors
    /// If the folder holds none, or one whose file is damaged, of a later scruple, or names what no
    /// fleet names.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let file = path.join(FLEET_FILE);
        if std::fs::symlink_metadata(&file).is_err_and(|it| it.kind() == io::ErrorKind::NotFound) {
            let why = format!("it holds no fleet: there is no {FLEET_FILE}");
            return Err(Error::of(path.display(), why));
        }
        let mut folder = Folder { path: path.to_path_buf(), fleet: fleet_of(&file)? };
        if folder.fleet.engine == FleetEngine::Gather {
            folder.fleet.nodes = gathered::nodes(&folder.published()?);
        }
        Ok(folder)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Takes the fleet, so that no second process submits for it while the file is open. The kernel closes
    /// it when the process ends.
    ///
    /// # Errors
    /// If another one has it.
    pub fn lock(&self) -> Result<File, Error> {
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
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => Err(Error::of(
                self.path.display(),
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
    pub fn write(&self) -> Result<(), Error> {
        self.replace(FLEET_FILE, &json(&self.fleet)?)
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
    pub fn published(&self) -> Result<Vec<Published>, Error> {
        self.attempts(&self.path)
    }

    /// The folders in which attempts measure, or measured when they were cut off.
    ///
    /// # Errors
    /// What the operating system refused.
    pub fn partial(&self) -> Result<Vec<Published>, Error> {
        self.attempts(&self.path.join(PARTIAL_FOLDER))
    }

    fn attempts(&self, dir: &Path) -> Result<Vec<Published>, Error> {
        let (mut found, fleet) = (Vec::new(), &self.fleet);
        let is_of_this = |it: &Published| {
            fleet.engine == FleetEngine::Gather || fleet.nodes.iter().any(|node| it.is_of(node))
        };
        let entries = match std::fs::read_dir(dir) {
            // Who copies a folder may leave out what is hidden.
            Err(error) if error.kind() == io::ErrorKind::NotFound && dir != self.path => {
                return Ok(found);
            }
            entries => entries.map_err(Error::io("read", dir))?,
        };
        for entry in entries {
            let entry = entry.map_err(Error::io("read", dir))?;
            // A folder from other hosts may hold links to places that are not theirs.
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let attempt = entry.file_name().to_str().and_then(Published::of);
            found.extend(attempt.filter(|it| is_folder && is_of_this(it)));
        }
        found.sort_by(|a, b| {
            let of_one_node = || (a.restart, &a.job).cmp(&(b.restart, &b.job));
            natural_order(&a.node, &b.node).then_with(of_one_node)
        });
        Ok(found)
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
        replace(&from, NODE_FILE, &json(facts)?)?;
        std::fs::rename(&from, &to).map_err(Error::io("give its place to", &from))?;
        if self.fleet.engine == FleetEngine::Gather {
            // In a folder of somebody's own only the session stays.
            let _ = std::fs::remove_dir(self.path.join(PARTIAL_FOLDER));
        }
        sys::replace::names(&self.path).map_err(Error::io("write", &self.path))
    }

    /// A file of an attempt that has no place yet; none where it is no regular file.
    pub fn file(&self, of: &Published, name: &str) -> Option<File> {
        regular(&self.workplace(of).join(name)).ok()
    }

    /// The last line that a job said on a node, if it said anything.
    pub fn last_words(&self, node: &str, job: &str) -> Option<String> {
        let log = self.path.join(LOG_FOLDER).join(format!("{node}.{job}.txt"));
        let mut file = regular(&log).ok()?;
        let bytes = file.metadata().ok()?.len();
        file.seek(SeekFrom::Start(bytes.saturating_sub(LOG_BYTES_MAX))).ok()?;
        let mut text = Vec::new();
        file.take(LOG_BYTES_MAX).read_to_end(&mut text).ok()?;
        let text = String::from_utf8_lossy(&text);
        text.lines().map(str::trim).rfind(|line| !line.is_empty()).map(String::from)
    }
}

impl Published {
    /// An attempt by its three parts.
    pub fn new(node: &str, job: &str, restart: u32) -> Self {
        let name = format!("{node}.{job}.{restart}");
        Published { node: node.into(), job: job.into(), restart, name }
    }

    /// Returns the node with the job, which tells nodes of one name apart.
    pub(crate) fn numbered(&self) -> String {
        format!("{}.{}", self.node, self.job)
    }

    /// Reports whether it is an attempt of a node.
    pub(crate) fn is_of(&self, node: &FleetNode) -> bool {
        let own_job = || node.attempts.iter().any(|attempt| attempt.job == self.job);
        self.node == node.name || own_job() && node.name == self.numbered()
    }

    /// The attempt that a folder's name stands for.
    pub(crate) fn of(name: &str) -> Option<Self> {
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

pub(crate) fn make(path: &Path) -> Result<(), Error> {
    let mut builder = DirBuilder::new();
    builder.recursive(true).mode(0o755).create(path).map_err(Error::io("create", path))
}

/// The fleet that a file says.
fn fleet_of(file: &Path) -> Result<Fleet, Error> {
    let fleet: Fleet = read(file)?;
    check(&fleet).map_err(|what| Error::of(file.display(), what))?;
    Ok(fleet)
}

/// Whether a fleet from a file is one that could have been submitted.
fn check(fleet: &Fleet) -> Result<(), String> {
    let format = fleet.format;
    model::ensure!(
        format <= FLEET_FORMAT,
        "format {format}, and this scruple reads up to {FLEET_FORMAT}: use the scruple that wrote \
             it, or a newer one"
    );
    let is_id = fleet.fleet.len() == 12 && fleet.fleet.bytes().all(|b| b.is_ascii_hexdigit());
    model::ensure!(is_id, "its identifier is not 12 hexadecimal digits");
    let nodes = fleet.nodes.len();
    let least = usize::from(fleet.engine != FleetEngine::Gather);
    if !(least..=NODES_MAX).contains(&nodes) {
        return Err(format!("it has {nodes} nodes, and {least} to {NODES_MAX} are right"));
    }
    names_of(fleet).map_err(|error| error.to_string())
}

/// Checks the names that a fleet holds.
fn names_of(fleet: &Fleet) -> Result<(), Error> {
    for node in &fleet.nodes {
        match fleet.engine {
            FleetEngine::Slurm => names::node("a node", &node.name)?,
            FleetEngine::Gather => names::host("a node", &node.name)?,
        }
        node.attempts.iter().try_for_each(|attempt| names::node("a job", &attempt.job))?;
    }
    if fleet.engine != FleetEngine::Gather {
        names::path("the folder", &fleet.folder)?;
        names::path("the binary", &fleet.binary)?;
    }
    names::request("the ", &fleet.request)
}

pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> Result<T, Error> {
    let mut last = None;
    for _ in 0..READS {
        match once(path) {
            // On a network file system a file that is replaced may vanish while it is read.
            Err(error) if error.raw_os_error() == Some(libc::ESTALE) => last = Some(error),
            Err(error) => return Err(Error::io("read", path)(error)),
            Ok(text) => {
                return serde_json::from_slice(&text)
                    .map_err(|error| Error::of(path.display(), format!("it is damaged: {error}")));
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
pub(crate) fn regular(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(NO_FOLLOW).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is not a regular file")),
    }
}

fn json(value: &impl Serialize) -> Result<Vec<u8>, Error> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Error::of("JSON", error))?;
    Ok((text + "\n").into_bytes())
}

fn replace(dir: &Path, name: &str, content: &[u8]) -> Result<(), Error> {
    // Nodes that share the folder may replace one file at once.
    let temporary = format!(".{name}.{}.new", std::process::id());
    sys::replace::file(dir, name, &temporary, content).map_err(Error::io("write", &dir.join(name)))
}

#[cfg(test)]
pub(crate) mod tests;
