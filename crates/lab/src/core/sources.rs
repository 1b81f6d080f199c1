//! The files of a program: an ELF file, or texts and what they include.

use super::run::Loaded;
use crate::cli::core::CoreArgs;
use crate::{input, ui};
use anyhow::{Context, bail, ensure};
use isa::Folder;
use isa::assembly::{self, Assembled, Mistakes, Text};
use model::ProgramFile;
use std::path::{Component, Path, PathBuf};

/// The most bytes of a file.
const FILE_BYTES_MAX: u64 = 256 << 20;

/// The most bytes of a text that is assembled.
const TEXT_BYTES_MAX: usize = 8 << 20;

/// The most bytes of a program's input.
const INPUT_BYTES_MAX: u64 = 16 << 20;

/// The mistakes of a text that are listed.
const MISTAKES_SHOWN: usize = 20;

const ELF: &[u8] = b"\x7fELF";

/// A file as it was read.
pub(super) struct File {
    name: String,
    content: Vec<u8>,
}

/// Reads the files that the command line names.
pub(super) fn read(args: &CoreArgs) -> anyhow::Result<Vec<File>> {
    args.files.iter().map(|path| read_file(path)).collect()
}

fn read_file(path: &Path) -> anyhow::Result<File> {
    let content = match input::is_standard(path) {
        true => input::bytes(path, FILE_BYTES_MAX)?,
        false => kit::programs::read(path).map_err(anyhow::Error::msg)?.0,
    };
    Ok(File { name: input::name(path), content })
}

/// Returns the program of some files; texts are assembled together.
pub(super) fn load(args: &CoreArgs, files: &[File], compressed: bool) -> anyhow::Result<Loaded> {
    let given = args.input.as_deref().map(|path| input::bytes(path, INPUT_BYTES_MAX));
    let given = given.transpose().context("--input")?.unwrap_or_default();
    let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    let name = names.join(", ");
    let contents: Vec<&[u8]> = files.iter().map(|file| file.content.as_slice()).collect();
    let file = ProgramFile {
        path: name.clone(),
        sha256: sys::hash::sha256(&contents.concat()),
        instructions_max: args.instructions,
        stack_bytes: args.stack,
        memory: args.memory,
        ..ProgramFile::default()
    };
    let folder = files
        .first()
        .filter(|_| !args.strict)
        .map(|file| Path::new(&file.name).with_file_name("").display().to_string())
        .map(|path| Folder { path, read: beside });
    if let Some(elf) = files.iter().find(|file| file.content.starts_with(ELF)) {
        let name = &elf.name;
        ensure!(files.len() == 1, "{name} is an ELF file, which is a whole program; name it alone");
        ensure!(!compressed, "--compressed is for assembly language; {name} is an ELF file");
        let mut program = experiments::load(&elf.content, &file)
            .map_err(anyhow::Error::msg)
            .context(name.clone())?;
        if args.strict {
            program.sparse_from = None;
        }
        return Ok(Loaded { program, lines: Vec::new(), file, input: given, folder });
    }
    let texts = files.iter().map(text).collect::<anyhow::Result<Vec<_>>>()?;
    let first = texts.first().map(|text| text.name.clone()).unwrap_or_default();
    let read =
        |name: &str, from: &str| named(name, &[from, &first]).map_err(|error| format!("{error:#}"));
    let assembled = assembly::assemble(&texts, &args.define, compressed, &read);
    let Assembled { mut program, lines, .. } =
        assembled.map_err(|mistakes| complain(&name, &mistakes))?;
    if args.strict {
        program.sparse_from = None;
    } else {
        // Simulators let programs write anywhere.
        program.segments.iter_mut().for_each(|segment| segment.writable = true);
    }
    if let Some(memory) = args.memory {
        program.add_memory(memory.address, memory.bytes);
    }
    Ok(Loaded { program, lines, file, input: given, folder })
}

/// Returns the text of a file: in UTF-8, in UTF-16 with its mark, or else in Latin-1.
fn text(file: &File) -> anyhow::Result<Text> {
    let File { name, content } = file;
    ensure!(!content.is_empty(), "{name} is empty");
    ensure!(
        content.len() <= TEXT_BYTES_MAX,
        "{name} has more than 8 MiB of text, the most that is assembled"
    );
    let halves = |from: fn([u8; 2]) -> u16| {
        let halves = content[2..].chunks_exact(2).map(|pair| from([pair[0], pair[1]]));
        String::from_utf16_lossy(&halves.collect::<Vec<u16>>())
    };
    let text = match (content.as_slice(), std::str::from_utf8(content)) {
        ([0xff, 0xfe, ..], _) => halves(u16::from_le_bytes),
        ([0xfe, 0xff, ..], _) => halves(u16::from_be_bytes),
        (_, Ok(text)) => text.to_owned(),
        (bytes, Err(_)) => bytes.iter().map(|byte| char::from(*byte)).collect(),
    };
    if text.contains('\0') {
        bail!(
            "{name} is neither an ELF file nor a text; scruple core takes an ELF file or .s files"
        );
    }
    Ok(Text { name: name.clone(), text })
}

/// Returns the text that another one names: beside it, beside the first, or where the command runs.
fn named(name: &str, others: &[&str]) -> anyhow::Result<Text> {
    let beside = others.iter().map(|other| Path::new(other).with_file_name("").join(name));
    let mut paths: Vec<PathBuf> =
        beside.chain([PathBuf::from(name)]).map(|it| plain(&it)).collect();
    paths.dedup();
    let found = paths.iter().find(|path| path.is_file());
    let Some(path) = found else {
        bail!(
            "{name} is not there: there is no {}",
            paths.first().map_or(name.into(), |it| it.display().to_string())
        );
    };
    text(&read_file(path)?)
}

/// Returns the content of a file that a program opens: beside the program, or where the command runs.
fn beside(folder: &str, name: &str) -> Option<Vec<u8>> {
    let paths = [Path::new(folder).join(name), PathBuf::from(name)];
    let path = paths.iter().find(|path| path.is_file())?;
    input::bytes(path, INPUT_BYTES_MAX).ok()
}

/// Returns a path without `.` and without folders that are left again.
fn plain(path: &Path) -> PathBuf {
    let mut all = PathBuf::new();
    for part in path.components() {
        let leaves = matches!(part, Component::ParentDir)
            && matches!(all.components().next_back(), Some(Component::Normal(_)));
        if leaves {
            all.pop();
        } else if part != Component::CurDir {
            all.push(part);
        }
    }
    all
}

/// Lists the mistakes of texts; the last line is the error of the command.
fn complain(name: &str, mistakes: &Mistakes) -> anyhow::Error {
    let file = |mistake: &assembly::Mistake| {
        let file = mistakes.files.get(mistake.place.file as usize);
        file.map_or_else(|| name.to_owned(), Clone::clone)
    };
    if let [only] = mistakes.listed.as_slice() {
        return anyhow::anyhow!("{}:{only}", file(only));
    }
    for mistake in mistakes.listed.iter().take(MISTAKES_SHOWN) {
        ui::note(&format!("{}:{mistake}", file(mistake)));
    }
    anyhow::anyhow!("{name} cannot be assembled: {} mistakes", mistakes.count)
}
