//! From addresses to names.

use super::primitives::{self, GIL, MALLOC, Row};
use super::symbols::{Symbols, demangled};
use super::{Asker, Found, Futex, Image};
use model::{GOROUTINES, WaitKind};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// A wait with its names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Named {
    pub(crate) kind: WaitKind,
    pub(crate) what: String,
    /// The function of the program that waits; empty where none is known.
    pub(crate) place: String,
}

impl Named {
    /// Returns what is known of a wait that no look found.
    pub(crate) const fn unknown() -> Self {
        Named { kind: WaitKind::Unknown, what: String::new(), place: String::new() }
    }
}

/// A function on a stack.
struct Frame {
    file: String,
    symbol: String,
}

/// The files that were read.
type Files = HashMap<String, Option<Symbols>>;

/// The names of the waits that an [`Asker`] found, as far as they were looked up.
#[derive(Debug, Default)]
pub(crate) struct Names {
    files: Files,
    named: Vec<Named>,
}

impl Names {
    /// Returns the names of all waits that were found so far, by their numbers.
    pub(crate) fn of(&mut self, asker: &Asker) -> &[Named] {
        for found in &asker.found[self.named.len()..] {
            self.named.push(name(found, &asker.images[found.image], &mut self.files));
        }
        &self.named
    }
}

fn name(found: &Found, image: &Image, files: &mut Files) -> Named {
    let frames = frames(found, image, files);
    let place = place(&frames);
    let Some(futex) = &found.futex else {
        let kind = found.kind.unwrap_or(WaitKind::Unknown);
        // Go parks goroutines that sleep; what calls nanosleep(2) is its runtime, which has nothing to do.
        if kind == WaitKind::Timer
            && frames.iter().any(|frame| frame.symbol.starts_with("runtime."))
        {
            return Named { kind: WaitKind::Hidden, what: GOROUTINES.into(), place: String::new() };
        }
        return Named { kind, what: found.what.clone(), place };
    };
    let variable = variable(futex, image, files);
    if variable == "_PyRuntime" {
        return Named { kind: WaitKind::Lock, what: GIL.into(), place: String::new() };
    }
    let (kind, what) = primitive(&frames, futex);
    if let (WaitKind::Lock, "a lock", true, Some(function)) =
        (kind, what, variable.is_empty(), called(&frames))
    {
        return Named { kind, what: format!("a lock in {function}"), place };
    }
    // What a runtime sleeps on is no variable of the program.
    let is_own = kind != WaitKind::Hidden && !matches!(what, GIL | MALLOC);
    // The name of a lock, and what it is.
    let what = match (variable.is_empty(), what) {
        (false, what) if is_own && !what.is_empty() => format!("{variable} ({})", bare(what)),
        (false, _) if is_own => variable,
        (_, what) => what.to_string(),
    };
    Named { kind, what, place }
}

/// Returns a noun without its article.
fn bare(what: &str) -> &str {
    what.strip_prefix("a ").unwrap_or(what)
}

/// Returns what a thread waits for at a futex.
fn primitive(frames: &[Frame], futex: &Futex) -> (WaitKind, &'static str) {
    let runtime =
        |frame: &Frame| primitives::RUNTIMES.iter().find(|(part, ..)| frame.symbol.contains(part));
    let library = |frame: &Frame| {
        let base = frame.file.rsplit('/').next().unwrap_or_default();
        primitives::LIBRARIES.iter().find(|(name, ..)| base.starts_with(name))
    };
    let found: Option<&Row> = frames
        .iter()
        .find_map(runtime)
        .or_else(|| frames.iter().find_map(|frame| primitives::of_function(&frame.symbol)))
        .or_else(|| frames.iter().find_map(library));
    match found {
        // A thread that was woken takes the mutex of the condition again.
        Some((_, WaitKind::Signal, what))
            if futex.is_lock_word && what.contains("condition variable") =>
        {
            (WaitKind::Lock, "the mutex of a condition variable")
        }
        Some((_, kind, what)) => (*kind, what),
        None if futex.is_lock_word => (WaitKind::Lock, "a lock"),
        None => (WaitKind::Signal, "a futex"),
    }
}

/// Returns the functions on a stack, the innermost first. An address that no call comes before is no return address.
fn frames(found: &Found, image: &Image, files: &mut Files) -> Vec<Frame> {
    let mut frames = Vec::new();
    for (place, address) in found.frames.iter().enumerate() {
        let Some(mapping) = image.mapping(*address) else { continue };
        let symbols = symbols(files, image, &mapping.file);
        let own = symbols.and_then(|symbols| {
            let own = symbols.address(mapping.offset + (address - mapping.start))?;
            (place == 0 || symbols.follows_a_call(own)).then_some((symbols, own))
        });
        let Some((symbols, own)) = own else { continue };
        // A return address may lie just behind a function that never returns.
        let symbol = symbols.function(own - u64::from(place > 0)).unwrap_or_default();
        frames.push(Frame { file: mapping.file.clone(), symbol: symbol.to_string() });
    }
    frames
}

/// Returns the function of a library that the program's own function called.
fn called(frames: &[Frame]) -> Option<String> {
    let own = frames.iter().position(is_own)?;
    let frame = frames[..own].iter().rfind(|frame| !frame.symbol.is_empty())?;
    let is_hidden = frame.symbol.starts_with("__") || !primitives::is_runtime(&frame.file);
    (!is_hidden).then(|| demangled(&frame.symbol))
}

/// Returns the innermost function that is the program's own.
fn place(frames: &[Frame]) -> String {
    frames
        .iter()
        .find(|frame| is_own(frame))
        .map_or(String::new(), |frame| demangled(&frame.symbol))
}

/// Reports whether a function is the program's own.
fn is_own(frame: &Frame) -> bool {
    const LIBRARY: [&str; 13] = [
        "_ZN3std",
        "_ZN4core",
        "_ZNSt",
        "_RNvNtC",
        "_ZN5alloc",
        "runtime.",
        "sync.",
        "internal/",
        "crosscall",
        "x_cgo_",
        "threadentry",
        "_ZN11parking_lot",
        "_start",
    ];
    let is_library = LIBRARY.iter().any(|part| frame.symbol.starts_with(part));
    let is_wait =
        frame.symbol.starts_with("__") || primitives::of_function(&frame.symbol).is_some();
    !frame.symbol.is_empty() && !is_library && !is_wait && !primitives::is_runtime(&frame.file)
}

/// Returns the static variable that holds a lock, or that points to the object that does.
fn variable(futex: &Futex, image: &Image, files: &mut Files) -> String {
    match (at(futex.address, image, files), futex.pointer) {
        (Some(name), _) => name,
        (None, Some((pointer, distance))) => match at(pointer, image, files) {
            Some(name) if distance == 0 => format!("*{name}"),
            Some(name) => format!("*{name} + {distance}"),
            None => String::new(),
        },
        (None, None) => String::new(),
    }
}

/// Returns the static variable at an address: of the last file whose mappings begin before it.
fn at(address: u64, image: &Image, files: &mut Files) -> Option<String> {
    let before = image.mappings.partition_point(|one| one.start <= address);
    let mapping = image.mappings[..before].iter().rfind(|one| one.file.starts_with('/'))?;
    let symbols = symbols(files, image, &mapping.file)?;
    let begin = symbols.address(mapping.offset)?;
    symbols.variable(begin + (address - mapping.start)).map(demangled)
}

/// Returns the symbols of a file of a process, whose root may be another one.
fn symbols<'f>(files: &'f mut Files, image: &Image, file: &str) -> Option<&'f Symbols> {
    let read = || {
        let file = file.trim_end_matches(" (deleted)");
        let inside = PathBuf::from(format!("/proc/{}/root{file}", image.pid));
        Symbols::read(&inside).or_else(|| Symbols::read(Path::new(file)))
    };
    files.entry(file.to_string()).or_insert_with(read).as_ref()
}
