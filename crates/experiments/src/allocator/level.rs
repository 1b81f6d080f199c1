//! The allocators: how each is put in place before the program begins, and how one sees that it is
//! the one that works.

use kit::{Result, Stop, Trial};
use std::ffi::CStr;
use std::path::{Path, PathBuf};
use sys::allocator::{self, Allocator};

/// An allocator, as a level of the factor `allocator`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Level {
    source: Source,
    pub(super) calls: Calls,
}

/// How the work reaches the allocator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Calls {
    /// It calls `malloc` and `free`.
    Plain,
    /// Each call stands behind one mutex of ours.
    BehindMutex,
    /// It calls neither: the block that was given back is taken again.
    None,
}

/// Where `malloc` comes from.
#[derive(Clone, Copy, Debug)]
enum Source {
    /// The C library.
    Glibc(Tuning),
    /// A library that is loaded before it.
    Preloaded(&'static Library),
}

/// What of glibc's malloc is taken away, by tunables that it reads before the program begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Tuning {
    /// All threads share the main arena, and so its lock.
    one_arena: bool,
    /// No thread keeps freed blocks for itself.
    no_cache: bool,
}

/// An allocator that a machine may have as a library.
#[derive(Debug)]
struct Library {
    /// The names of its file, the newest first.
    files: &'static [&'static str],
    /// A function that it alone exports.
    mark: &'static CStr,
    version: fn() -> Option<String>,
    /// How one gets it.
    package: &'static str,
}

static JEMALLOC: Library = Library {
    files: &["libjemalloc.so.2"],
    mark: c"mallctl",
    version: allocator::jemalloc_version,
    package: "libjemalloc2 on Debian and Ubuntu, jemalloc elsewhere",
};

static MIMALLOC: Library = Library {
    files: &["libmimalloc.so.3", "libmimalloc.so.2", "libmimalloc.so"],
    mark: c"mi_version",
    version: allocator::mimalloc_version,
    package: "libmimalloc2.0 on Debian and Ubuntu, mimalloc elsewhere",
};

static TCMALLOC: Library = Library {
    files: &["libtcmalloc_minimal.so.4", "libtcmalloc.so.4"],
    mark: c"tc_version",
    version: allocator::tcmalloc_version,
    package: "libtcmalloc-minimal4 on Debian and Ubuntu, gperftools-libs or gperftools elsewhere",
};

/// Where systems keep libraries; a trial's environment is empty and names none.
const FOLDERS: [&str; 8] = [
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/lib64",
    "/lib",
    "/usr/local/lib",
    "/run/current-system/sw/lib",
];

const fn glibc(one_arena: bool, no_cache: bool) -> Source {
    Source::Glibc(Tuning { one_arena, no_cache })
}

const fn plain(source: Source) -> Level {
    Level { source, calls: Calls::Plain }
}

/// The levels of the factor `allocator`.
pub(super) const ALLOCATORS: [(&str, Level); 9] = [
    ("none", Level { source: glibc(false, false), calls: Calls::None }),
    ("glibc", plain(glibc(false, false))),
    ("no_cache", plain(glibc(false, true))),
    ("one_arena", plain(glibc(true, false))),
    ("one_lock", plain(glibc(true, true))),
    ("mutex_around", Level { source: glibc(false, false), calls: Calls::BehindMutex }),
    ("jemalloc", plain(Source::Preloaded(&JEMALLOC))),
    ("mimalloc", plain(Source::Preloaded(&MIMALLOC))),
    ("tcmalloc", plain(Source::Preloaded(&TCMALLOC))),
];

impl Tuning {
    /// The value of GLIBC_TUNABLES (glibc manual, "Memory Allocation Tunables").
    fn tunables(self) -> String {
        let one_arena = self.one_arena.then_some("glibc.malloc.arena_max=1");
        let no_cache = self.no_cache.then_some("glibc.malloc.tcache_count=0");
        one_arena.into_iter().chain(no_cache).collect::<Vec<_>>().join(":")
    }
}

impl Library {
    fn path(&self) -> Option<PathBuf> {
        let places = FOLDERS
            .iter()
            .flat_map(|folder| self.files.iter().map(move |file| Path::new(folder).join(file)));
        places.into_iter().find(|path| path.is_file())
    }
}

impl Level {
    /// Puts the allocator in place: the program is executed anew with what the dynamic linker and
    /// glibc read before it begins. Every level is, so that they differ in the allocator alone.
    pub(super) fn put_in_place(self, trial: &mut Trial<'_>) -> Result<()> {
        let name = trial.level("allocator")?.to_string();
        let mut variables = vec![("SCRUPLE_ALLOCATOR", name)];
        match self.source {
            Source::Glibc(tuning) => {
                sys::machine::glibc_version()?;
                variables.push(("GLIBC_TUNABLES", tuning.tunables()));
            }
            Source::Preloaded(library) => {
                let path = library.path().ok_or_else(|| {
                    let files = library.files.join(", ");
                    Stop::unsupported(format!(
                        "no {files} in the usual folders: install {}",
                        library.package
                    ))
                })?;
                variables.push(("LD_PRELOAD", path.display().to_string()));
            }
        }
        let variables: Vec<(&str, &str)> =
            variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
        trial.need_environment(&variables)?;
        self.verify(trial)
    }

    /// Whose `malloc` this process has, and what of glibc's is at work.
    fn verify(self, trial: &mut Trial<'_>) -> Result<()> {
        let malloc = allocator::library_of(c"malloc");
        let whose = malloc.as_deref().unwrap_or(Path::new("unknown"));
        trial.observe("malloc_of", whose.display());
        let mark = match self.source {
            Source::Glibc(_) => c"gnu_get_libc_version",
            Source::Preloaded(library) => library.mark,
        };
        kit::require!(
            malloc.is_some() && malloc == allocator::library_of(mark),
            "malloc comes from {}; a program that is linked statically, or whose rights were \
                 raised, cannot replace it",
            whose.display()
        );
        match self.source {
            Source::Glibc(tuning) => verify_cache(trial, tuning),
            Source::Preloaded(library) => {
                let version = (library.version)().unwrap_or_else(|| "unknown".into());
                trial.observe("allocator_version", version);
                Ok(())
            }
        }
    }

    /// Returns how many arenas there must be when that number of threads has allocated; `None`
    /// where the allocator is not glibc.
    pub(super) fn arenas(self, threads: usize) -> Option<usize> {
        match self.source {
            Source::Preloaded(_) => None,
            Source::Glibc(Tuning { one_arena: true, .. }) => Some(1),
            // The main one and one for each thread. glibc makes up to eight per CPU, which is as
            // many as there are threads here.
            Source::Glibc(_) => Some(threads + 1),
        }
    }

    /// The functions to call.
    pub(super) fn functions(self) -> Allocator {
        match self.calls {
            Calls::Plain | Calls::None => Allocator::of_process(),
            Calls::BehindMutex => Allocator::behind_one_mutex(),
        }
    }
}

fn verify_cache(trial: &mut Trial<'_>, tuning: Tuning) -> Result<()> {
    let version = sys::machine::glibc_version()?;
    let caches = allocator::glibc_caches_per_thread();
    trial.observe("allocator_version", format!("glibc {version}"));
    trial.observe("cache_per_thread", caches.map_or("unknown", |on| if on { "on" } else { "off" }));
    kit::require!(
        caches == Some(!tuning.no_cache),
        "the threads' caches of glibc {version} should be {}, and are not: tunables for them \
             came with glibc 2.26",
        if tuning.no_cache { "off" } else { "on" }
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tunables_name_what_is_taken_away() {
        let of = |one_arena, no_cache| Tuning { one_arena, no_cache }.tunables();
        assert_eq!(of(false, false), "");
        assert_eq!(of(true, false), "glibc.malloc.arena_max=1");
        assert_eq!(of(true, true), "glibc.malloc.arena_max=1:glibc.malloc.tcache_count=0");
    }

    #[test]
    fn a_library_that_nobody_has_is_not_found() {
        let library =
            Library { files: &["no-such-library.so"], mark: c"", version: || None, package: "" };
        assert_eq!(library.path(), None);
    }

    #[test]
    fn levels_that_differ_by_a_lock_differ_by_it_alone() {
        let level = |name| ALLOCATORS.iter().find(|(other, _)| *other == name).map(|(_, by)| *by);
        let tuning = |name| match level(name).map(|level| level.source) {
            Some(Source::Glibc(tuning)) => Some((tuning.one_arena, tuning.no_cache)),
            _ => None,
        };
        assert_eq!(tuning("one_lock"), Some((true, true)));
        assert_eq!(tuning("no_cache"), Some((false, true)));
        assert_eq!(tuning("one_arena"), Some((true, false)));
        assert_eq!(tuning("mutex_around"), tuning("glibc"));
        assert_eq!(level("mutex_around").map(|l| l.calls), Some(Calls::BehindMutex));
        assert_eq!(level("glibc").and_then(|l| l.arenas(2)), Some(3));
        assert!(level("jemalloc").is_some_and(|l| l.arenas(2).is_none()));
    }
}
