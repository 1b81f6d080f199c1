//! From addresses to names.

use super::demangle::{demangled, path, plain};
use super::files::Files;
use super::primitives::{self, GIL};
use super::stack::{self, Frame, Located};
use super::symbols::{Symbol, Symbols};
use super::{Asker, Found, Futex, Image, timeouts};
use model::{GOROUTINES, WaitKind};
use std::collections::HashMap;

/// What a word is waited for where no function says it.
const FUTEX: &str = "a lock or a signal of another thread";

/// What the thread of Go waits for that waits for the next goroutine whose time comes.
const GO_SLEEPS: &str = "a time-out (sleep) of a goroutine; Go hides what others wait for";

/// The sizes of the word of a futex, and of a pointer.
const WORD_BYTES: u64 = 4;
const POINTER_BYTES: u64 = 8;

/// An object that is larger may well hold several locks of one word.
const SMALL_BYTES: u64 = 64;

/// What a thread waits for at a word that C++'s library keeps for many objects.
const CPP_ATOMIC: &str = "an atomic variable, barrier, latch or semaphore of C++";

/// The size of an object, and where the words in it lie that are waited for.
type Size<'a> = (u64, Option<&'a [u64]>);

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

    fn idle_of_go() -> Self {
        Named { kind: WaitKind::Hidden, what: GOROUTINES.into(), place: String::new() }
    }
}

/// The names of the waits that an [`Asker`] found, as far as they were looked up.
#[derive(Debug, Default)]
pub(crate) struct Names {
    files: Files,
    /// The names of variables that hold something that is waited for, by their files and addresses.
    objects: HashMap<(String, u64), String>,
    /// The word at which a small object was first found to be waited for, by the object's file and address.
    words: HashMap<(String, u64), u64>,
    named: Vec<Named>,
    /// The same with time-outs in the place of what they were given up for.
    shown: Vec<Named>,
}

/// A function of a stack with its name as its language writes it.
struct Function {
    name: String,
    /// The same without generic arguments.
    path: String,
    /// It belongs to the language or the system rather than to the program.
    is_library: bool,
    file: String,
}

impl Names {
    /// Returns the names of all waits that were found so far, by their numbers.
    pub(crate) fn of(&mut self, asker: &Asker) -> &[Named] {
        for found in &asker.found[self.named.len()..] {
            let named = self.name(found, &asker.images[found.image]);
            self.named.push(named);
        }
        let mut sums: HashMap<&Named, [u64; 2]> = HashMap::new();
        // Who waits without a time-out waits for something.
        let timed = self.named.iter().enumerate().filter(|(id, _)| asker.found[*id].is_timed);
        for (id, named) in timed {
            let times = asker.time_outs.of(id);
            let sums = sums.entry(named).or_default();
            sums.iter_mut().zip(times).for_each(|(sum, ns)| *sum += ns);
        }
        let is_over = |named: &&Named| timeouts::are_over(sums[named]) && !keeps_name(named);
        let shown = self.named.iter().zip(&asker.found).map(|(named, found)| {
            match Some(named).filter(|_| found.is_timed).filter(is_over) {
                Some(named) => Named {
                    kind: WaitKind::Timer,
                    what: "a time-out (sleep)".into(),
                    place: named.place.clone(),
                },
                None => named.clone(),
            }
        });
        self.shown = shown.collect();
        &self.shown
    }

    fn name(&mut self, found: &Found, image: &Image) -> Named {
        let frames = stack::functions(found, image, &mut self.files);
        let all: Vec<Function> = frames.into_iter().map(Function::from).collect();
        let program = all.iter().position(|one| !one.is_library);
        let place = program.map_or(String::new(), |own| all[own].name.clone());
        let inner = &all[..program.unwrap_or(all.len())];
        let here = Located::find(found.at, image, &mut self.files);
        let is_of_go = here.is_some_and(|here| here.symbols.is_of_go());
        let Some(futex) = &found.futex else {
            let kind = found.kind.unwrap_or(WaitKind::Unknown);
            // Go parks goroutines that sleep, and waits for the next one that is to go on: what waits for a time of its
            // own, or for its own eventfd alone, has nothing to do.
            return match is_of_go {
                true if found.what.contains("eventfd") && found.is_timed => {
                    Named { kind: WaitKind::Timer, what: GO_SLEEPS.into(), place }
                }
                true if kind == WaitKind::Timer || found.what.contains("eventfd") => {
                    Named::idle_of_go()
                }
                _ => Named { kind, what: found.what.clone(), place },
            };
        };
        let functions = inner.iter().map(|one| (one.path.as_str(), one.file.as_str()));
        let row = primitives::of_functions(functions);
        if is_of_go && row.is_none_or(|row| row.kind == WaitKind::Hidden) {
            return Named::idle_of_go();
        }
        let (kind, what) = match row {
            // A thread that was woken takes the mutex of the condition again.
            Some(row) if futex.is_lock_word && row.what.contains("condition variable") => {
                (WaitKind::Lock, "the mutex of a condition variable")
            }
            Some(row) => (row.kind, row.what.as_str()),
            None if futex.is_lock_word => (WaitKind::Lock, "a lock"),
            None => (WaitKind::Hidden, FUTEX),
        };
        let bytes = row.map_or(Some(WORD_BYTES), |row| row.bytes);
        let words = row.and_then(|row| row.words.as_deref());
        // Where the words lie is known of glibc alone.
        let words =
            words.map(|words| if inner.iter().any(Function::is_of_glibc) { words } else { &[] });
        let variable = bytes.map(|bytes| self.variable(futex, (bytes, words), image));
        let variable = variable.unwrap_or_default();
        // The library keeps the words that many objects share in a variable of its own.
        if variable.starts_with("std::") {
            let (kind, what) = match row {
                Some(row) => (row.kind, row.what.as_str()),
                None => (WaitKind::Signal, CPP_ATOMIC),
            };
            return Named { kind, what: what.into(), place };
        }
        let is_shown = |one: &&Function| {
            !matches!(one.name.as_str(), "" | "syscall") && !one.name.starts_with('_')
        };
        let function = inner.last().filter(is_shown);
        let what = match (row, variable.is_empty(), function) {
            (_, false, _) if variable == "_PyRuntime" => GIL.into(),
            (_, false, _) => format!("{variable} ({})", bare(what)),
            (None, true, Some(one)) if kind == WaitKind::Lock && program.is_some() => {
                format!("a lock in {}", one.name)
            }
            _ => what.to_string(),
        };
        Named { kind, what, place }
    }

    /// Returns the static variable that holds an object of `bytes` with the word that is waited for, or that points to
    /// an object on the heap that does.
    fn variable(&mut self, futex: &Futex, (bytes, words): Size<'_>, image: &Image) -> String {
        if let Some(name) = self.object(futex.address, (bytes, words), image) {
            return name;
        }
        let Some((pointer, distance)) = futex.pointer else { return String::new() };
        // Names that begin so are those of the C library, which keeps lists of objects of its own.
        let name = self.object(pointer, (POINTER_BYTES, None), image);
        let name = name.filter(|name| !name.starts_with('_'));
        match (name, begin(distance, words)) {
            (None, _) => String::new(),
            (Some(name), None | Some(0)) => format!("*{name}"),
            (Some(name), Some(distance)) => format!("*{name} + {distance}"),
        }
    }

    /// Returns the name of the variable that holds an object of a size with the word at an address, and how far from
    /// the variable's beginning the object is if more than one such object has room in it.
    fn object(&mut self, address: u64, (bytes, words): Size<'_>, image: &Image) -> Option<String> {
        let located = Located::find(address, image, &mut self.files)?;
        let (symbols, own) = (&located.symbols, located.address);
        let variable = symbols.variable(own, WORD_BYTES).filter(|one| one.size >= bytes)?;
        let object = (located.file.clone(), variable.address);
        let name = self.objects.entry(object.clone()).or_insert_with(|| {
            let program = image.mappings.iter().find(|one| one.file.starts_with('/'));
            let is_program = program.is_none_or(|one| one.file == located.file);
            own_name(symbols, variable) + &in_library(&located.file, is_program)
        });
        let name = name.clone();
        let Some(distance) = begin(own - variable.address, words) else { return Some(name) };
        let is_plain = match bytes {
            _ if variable.size < 2 * bytes => true,
            // A lock of one word lies somewhere in an object of unknown parts.
            WORD_BYTES if variable.size <= SMALL_BYTES => {
                *self.words.entry(object).or_insert(distance) == distance
            }
            _ => distance < POINTER_BYTES,
        };
        Some(if is_plain { name } else { format!("{name} + {distance}") })
    }
}

impl Function {
    fn is_of_glibc(&self) -> bool {
        self.file.ends_with("/libc.so.6") || self.name.contains("futex_abstimed_wait")
    }
}

impl From<Frame> for Function {
    fn from(frame: Frame) -> Self {
        let name = demangled(plain(&frame.symbol));
        let path = path(&name);
        let is_library = name.is_empty()
            || name.starts_with("__")
            || primitives::is_runtime(&frame.file)
            || primitives::is_library(&path)
            || primitives::of_function(&path, &frame.file).is_some();
        Function { name, path, is_library, file: frame.file }
    }
}

/// Returns how far an object begins from where something else does, by the distance of the word in it that is waited
/// for; `None` where it is not known where in the object that lies.
fn begin(distance: u64, words: Option<&[u64]>) -> Option<u64> {
    let Some(words) = words else { return Some(distance) };
    let mut begins = words.iter().filter_map(|word| distance.checked_sub(*word));
    begins.find(|begin| begin.is_multiple_of(POINTER_BYTES))
}

/// Reports whether a wait keeps its name where its time-out ends it: who gives up waiting for a lock has waited for it,
/// and what Go hides stays hidden.
fn keeps_name(named: &Named) -> bool {
    named.kind == WaitKind::Lock || named.what == GOROUTINES || named.what == GO_SLEEPS
}

/// Returns the name of a variable; where others have the same, with its source file, or else with its address.
fn own_name(symbols: &Symbols, variable: &Symbol) -> String {
    let name = demangled(plain(&variable.name));
    let is_same =
        |one: &&Symbol| one.address != variable.address && demangled(plain(&one.name)) == name;
    let same: Vec<&Symbol> = symbols.variables().iter().filter(is_same).collect();
    if same.is_empty() {
        return name;
    }
    match same.iter().all(|one| one.source != variable.source) && !variable.source.is_empty() {
        true => format!("{name} of {}", variable.source),
        false => format!("{name} at {:#x}", variable.address),
    }
}

/// Returns what follows the name of a library's variable.
fn in_library(file: &str, is_program: bool) -> String {
    let base = file.rsplit('/').next().unwrap_or_default();
    if is_program { String::new() } else { format!(" in {base}") }
}

/// Returns a noun without its article.
fn bare(what: &str) -> &str {
    let without = ["a ", "an ", "the "].iter().find_map(|article| what.strip_prefix(article));
    without.unwrap_or(what)
}
