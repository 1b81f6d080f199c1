//! Files that a program opens: what is read comes from outside, and what is written stays in the machine.

use super::Machine;
use std::collections::BTreeMap;

/// What a call returns that cannot do what it is to do.
pub(super) const NOTHING: u32 = u32::MAX;

/// The most files that are open at once.
const OPEN_MAX: usize = 64;

/// The most bytes of a file that is written.
const WRITTEN_MAX_BYTES: usize = 16 << 20;

/// The number of the first file that is opened: those before it are the console.
const FIRST: u32 = 3;

/// Where the contents of files come from: the folder of the program, and what reads a file by that and its name.
#[derive(Clone, Debug)]
pub struct Folder {
    /// The folder.
    pub path: String,
    /// Returns the content of a file by the folder and its name; none where there is no such file.
    pub read: fn(&str, &str) -> Option<Vec<u8>>,
}

/// What a program does with a file that it opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Read,
    Write,
    Append,
}

impl Mode {
    /// Returns what is done with a file that is opened with some flags.
    pub(super) fn of_flags(flags: u32, append: u32) -> Self {
        match flags {
            _ if flags & append != 0 => Mode::Append,
            _ if flags & 3 != 0 => Mode::Write,
            _ => Mode::Read,
        }
    }
}

#[derive(Clone, Debug)]
struct Open {
    name: String,
    content: Vec<u8>,
    position: usize,
    mode: Mode,
}

/// The files of a program.
#[derive(Clone, Debug, Default)]
pub(super) struct Files {
    folder: Option<Folder>,
    open: Vec<Option<Open>>,
    /// What was written and closed, by names.
    written: BTreeMap<String, Vec<u8>>,
    /// The first file that was not there.
    missing: Option<String>,
}

impl Files {
    /// Opens a file: its number, or none where it is not there.
    pub(super) fn open(&mut self, name: String, mode: Mode) -> Option<u32> {
        let folder = self.folder.as_ref();
        let before = || {
            let read = || folder.and_then(|folder| (folder.read)(&folder.path, &name));
            self.written.get(&name).cloned().or_else(read)
        };
        let content = match mode {
            Mode::Write => Some(Vec::new()),
            Mode::Append => Some(before().unwrap_or_default()),
            Mode::Read => before(),
        };
        let Some(content) = content.filter(|_| folder.is_some()) else {
            self.missing.get_or_insert(name);
            return None;
        };
        let position = if mode == Mode::Append { content.len() } else { 0 };
        let opened = Some(Open { name, content, position, mode });
        let free = self.open.iter().position(Option::is_none);
        let place = free.or_else(|| (self.open.len() < OPEN_MAX).then_some(self.open.len()))?;
        if place == self.open.len() {
            self.open.push(None);
        }
        self.open[place] = opened;
        Some(FIRST + place as u32)
    }

    fn get(&mut self, number: u32) -> Option<&mut Open> {
        self.open.get_mut(number.checked_sub(FIRST)? as usize)?.as_mut()
    }

    /// Returns the next bytes of a file, at most a number.
    pub(super) fn read(&mut self, number: u32, most: u32) -> Option<Vec<u8>> {
        let file = self.get(number)?;
        let rest = file.content.get(file.position..).unwrap_or_default();
        let bytes = rest[..rest.len().min(most as usize)].to_vec();
        file.position += bytes.len();
        Some(bytes)
    }

    /// Writes bytes to a file; none where it is not open to be written.
    pub(super) fn write(&mut self, number: u32, bytes: &[u8]) -> Option<()> {
        let file = self.get(number).filter(|file| file.mode != Mode::Read)?;
        let end = file.position.checked_add(bytes.len()).filter(|end| *end <= WRITTEN_MAX_BYTES)?;
        file.content.resize(file.content.len().max(end), 0);
        file.content[file.position..end].copy_from_slice(bytes);
        file.position = end;
        Some(())
    }

    pub(super) fn close(&mut self, number: u32) -> Option<()> {
        let place = number.checked_sub(FIRST)? as usize;
        let file = self.open.get_mut(place)?.take()?;
        if file.mode != Mode::Read {
            self.written.insert(file.name, file.content);
        }
        Some(())
    }

    /// Moves to a place of a file, from its start, from where it is, or from its end.
    pub(super) fn seek(&mut self, number: u32, by: i32, from: u32) -> Option<u32> {
        let file = self.get(number)?;
        let from = match from {
            0 => 0,
            1 => file.position,
            _ => file.content.len(),
        };
        let place = from.checked_add_signed(by as isize)?;
        file.position = place.min(WRITTEN_MAX_BYTES);
        u32::try_from(place).ok()
    }

    /// Reports whether all of a file was read.
    pub(super) fn is_at_end(&mut self, number: u32) -> Option<bool> {
        self.get(number).map(|file| file.position >= file.content.len())
    }
}

impl Machine {
    /// Gives the program files to read; what it writes to files is kept in the machine alone.
    pub fn set_folder(&mut self, folder: Folder) {
        self.host.files.folder = Some(folder);
    }

    /// Returns the first file that the program wanted to open and that was not there.
    pub fn missing_file(&self) -> Option<&str> {
        self.host.files.missing.as_deref()
    }

    /// Returns the names of the files that the program wrote, and their sizes.
    pub fn written_files(&self) -> impl Iterator<Item = (&str, usize)> {
        let files = &self.host.files;
        let closed = files.written.iter().map(|(name, bytes)| (name.as_str(), bytes.len()));
        let open = files.open.iter().flatten().filter(|file| file.mode != Mode::Read);
        closed.chain(open.map(|file| (file.name.as_str(), file.content.len())))
    }

    /// Opens the file that memory names: its number, or `NOTHING`.
    pub(super) fn open_file(&mut self, name: u32, mode: Mode) -> u32 {
        let name = self.string(name);
        self.host.files.open(name, mode).unwrap_or(NOTHING)
    }

    /// Reads from a file into memory: how many bytes, or `NOTHING`.
    pub(super) fn read_file(&mut self, file: u32, address: u32, most: u32) -> u32 {
        let Some(bytes) = self.host.files.read(file, most) else { return NOTHING };
        let count = bytes.len() as u32;
        if self.store_bytes(address, bytes) { count } else { NOTHING }
    }
}
