//! The files of a program: an ELF file, or texts and what they include.

use super::loaded::Loaded;
use crate::cli::core::CoreArgs;
use crate::{input, ui};
use anyhow::{Context, bail, ensure};
use isa::Folder;
use isa::assembly::{self, Assembled, Mistakes, Text};
use model::ProgramFile;
use std::cell::RefCell;
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

/// Functions of C that programs call without having them; each part begins with `#: ` and its names.
const LIBRARY: &str = include_str!("library.s");

/// The most files that are looked at beside a program.
const BESIDE_MAX: usize = 500;

/// A file as it was read.
#[derive(Clone)]
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
    let folder = folder_beside(files).filter(|_| !args.strict);
    let skips_ebreak = args.skip_ebreak;
    let arguments = arguments(args, &name);
    if let Some(elf) = files.iter().find(|file| file.content.starts_with(ELF)) {
        ensure!(
            files.len() == 1,
            "{} is an ELF file, which is a whole program; name it alone",
            elf.name
        );
        let program = program_of_elf(elf, &file, compressed, args.strict)?;
        let (lines, files, notes) = Default::default();
        let input = given;
        return Ok(Loaded {
            program,
            lines,
            files,
            notes,
            file,
            input,
            folder,
            arguments,
            skips_ebreak,
        });
    }
    let texts = files.iter().cloned().map(text).collect::<anyhow::Result<Vec<_>>>()?;
    let first = texts.first().map(|text| text.name.clone()).unwrap_or_default();
    let found = RefCell::new(Vec::new());
    let read = |name: &str, from: &str| match from {
        "" => supplied(name, args, &mut found.borrow_mut()).ok_or_else(String::new),
        _ => named(name, &[from, &first], &args.include).map_err(|error| format!("{error:#}")),
    };
    let assembled = assembly::assemble(&texts, &args.define, compressed, &read);
    let Assembled { mut program, lines, files: read, notes } =
        assembled.map_err(|mistakes| complain(&name, &mistakes))?;
    let notes = [remarks(&read, &notes), found.into_inner()].concat();
    if args.strict {
        program.sparse_from = None;
    } else {
        // Simulators let programs write anywhere.
        program.segments.iter_mut().for_each(|segment| segment.writable = true);
    }
    if let Some(memory) = args.memory {
        program.add_memory(memory.address, memory.bytes);
    }
    Ok(Loaded {
        program,
        lines,
        files: read,
        notes,
        file,
        input: given,
        folder,
        arguments,
        skips_ebreak,
    })
}

/// Returns the folder of the first file, from which its program may read.
fn folder_beside(files: &[File]) -> Option<Folder> {
    let path = Path::new(&files.first()?.name).with_file_name("").display().to_string();
    Some(Folder { path, read: beside })
}

/// Returns the program's name and its arguments; none without arguments.
fn arguments(args: &CoreArgs, name: &str) -> Vec<String> {
    let given = args.args.iter().flat_map(|text| text.split_whitespace());
    let given: Vec<String> = given.map(str::to_owned).collect();
    match given.is_empty() {
        true => given,
        false => [vec![name.to_string()], given].concat(),
    }
}

fn program_of_elf(
    elf: &File,
    file: &ProgramFile,
    compressed: bool,
    strict: bool,
) -> anyhow::Result<isa::Program> {
    let name = &elf.name;
    ensure!(!compressed, "--compressed is for assembly language; {name} is an ELF file");
    let program = experiments::load(&elf.content, file).map_err(anyhow::Error::msg);
    let mut program = program.context(name.clone())?;
    if strict {
        program.sparse_from = None;
    }
    Ok(program)
}

/// Returns a file that is to be assembled.
fn text(File { name, content }: File) -> anyhow::Result<Text> {
    ensure!(!content.is_empty(), "{name} is empty");
    ensure!(
        content.len() <= TEXT_BYTES_MAX,
        "{name} has more than 8 MiB of text, the most that is assembled"
    );
    Ok(Text { name, bytes: content })
}

/// Returns the file that another one names: beside it, beside the first, where the command runs, or in a folder of
/// `--include`.
fn named(name: &str, others: &[&str], folders: &[PathBuf]) -> anyhow::Result<Text> {
    let beside = others.iter().map(|other| Path::new(other).with_file_name("").join(name));
    let included = folders.iter().map(|folder| folder.join(name));
    let all = beside.chain([PathBuf::from(name)]).chain(included);
    let paths: Vec<PathBuf> = all.map(|it| plain(&it)).collect();
    let Some(path) = paths.iter().find(|path| path.is_file()) else {
        let first = paths.first().map_or(name.into(), |path| path.display().to_string());
        bail!("{name} is not there: there is no {first}; --include DIR names its folder");
    };
    text(read_file(path)?)
}

/// Returns what defines a function that no file of the program does: the one file beside it that does, or a part of
/// the library. Notes which it is.
fn supplied(function: &str, args: &CoreArgs, notes: &mut Vec<String>) -> Option<Text> {
    let program = args.files.first().filter(|path| !input::is_standard(path));
    let beside = program.map_or_else(Vec::new, |path| defining(function, path));
    let part = |part: &&str| {
        let names = part.lines().next().unwrap_or_default();
        names.split(' ').any(|name| name == function)
    };
    match beside.as_slice() {
        [file] => {
            notes.push(format!("{function} is that of {}, beside the program", file.name));
            Some(file.clone())
        }
        [] => {
            let (names, text) = LIBRARY.split("#: ").skip(1).find(part)?.split_once('\n')?;
            if !function.starts_with("scruple_") {
                notes.push(format!("no file defines {function}; scruple's own is used"));
            }
            Some(Text { name: format!("scruple's {names}"), bytes: text.into() })
        }
        _ => None,
    }
}

/// Returns the files beside a program that define a function and are no programs.
fn defining(function: &str, program: &Path) -> Vec<Text> {
    let folder = program.with_file_name("");
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { &folder };
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.take(BESIDE_MAX).filter_map(|entry| Some(plain(&entry.ok()?.path())));
    let is_text = |path: &PathBuf| {
        let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
        path.is_file() && (extension == "s" || extension == "asm")
    };
    let texts = paths.filter(is_text).filter_map(|path| text(read_file(&path).ok()?).ok());
    let defines = |text: &Text, label: &str| {
        let text = String::from_utf8_lossy(&text.bytes);
        let mut lines = text.lines().filter_map(|line| line.trim_start().strip_prefix(label));
        lines.any(|rest| rest.trim_start().starts_with(':'))
    };
    let is_program = |text: &Text| ["main", "_start"].iter().any(|label| defines(text, label));
    texts.filter(|text| defines(text, function) && !is_program(text)).collect()
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

/// Returns what was decided where texts can be read in two ways.
fn remarks(files: &[String], notes: &[assembly::Mistake]) -> Vec<String> {
    let file = |note: &assembly::Mistake| files.get(note.place.file as usize).cloned();
    let all = notes.iter().take(MISTAKES_SHOWN);
    all.map(|note| format!("{}:{note}", file(note).unwrap_or_default())).collect()
}

/// Lists the mistakes of texts; the last line is the error of the command.
fn complain(name: &str, mistakes: &Mistakes) -> anyhow::Error {
    let file = |mistake: &assembly::Mistake| {
        let file = mistakes.files.get(mistake.place.file as usize);
        file.map_or_else(|| name.to_owned(), Clone::clone)
    };
    remarks(&mistakes.files, &mistakes.notes).iter().for_each(|note| ui::note(note));
    if let [only] = mistakes.listed.as_slice() {
        return anyhow::anyhow!("{}:{only}", file(only));
    }
    for mistake in mistakes.listed.iter().take(MISTAKES_SHOWN) {
        ui::note(&format!("{}:{mistake}", file(mistake)));
    }
    anyhow::anyhow!("{name} cannot be assembled: {} mistakes", mistakes.count)
}
