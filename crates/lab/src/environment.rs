//! The recorded facts of the machine.

use crate::ui;
use model::{CpuCache, Environment, Manifest, Neighbour, Run, ShieldReport};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;
use sys::limits::Resource;

/// How long neighbours are looked at, and how many are named.
const LOOK: Duration = Duration::from_millis(200);
const NEIGHBOURS_MAX: usize = 5;

/// A neighbour that uses less of a CPU than this is not worth a line.
const NEIGHBOUR_SHARE_MIN: f64 = 0.01;

/// Looks at the machine. What it does not tell stays empty; nothing here can fail a session.
pub(crate) fn look() -> Environment {
    let allowed = sys::affinity::allowed().unwrap_or_default();
    let first = allowed.first().copied().unwrap_or_default();
    let memory = sys::proc::meminfo().ok();
    let neighbours = sys::proc::neighbours(LOOK);
    let topology = kit::topology();
    let threads_per_core = topology.cores.iter().map(Vec::len).max().unwrap_or_default();
    Environment {
        host: sys::machine::hostname().unwrap_or_default(),
        machine: sys::machine::machine_hash().unwrap_or_default(),
        boot: sys::machine::boot_hash().unwrap_or_default(),
        kernel: sys::machine::kernel_release().unwrap_or_default(),
        cpu_model: sys::topology::model_name().unwrap_or_default(),
        cpus_online: sys::topology::online().len() as u32,
        cpus_allowed: allowed,
        threads_per_core: threads_per_core as u32,
        topology,
        caches: caches(first),
        memory_bytes: memory.as_ref().map_or(0, |memory| memory.total_bytes),
        memory_available_bytes: memory.as_ref().map_or(0, |memory| memory.available_bytes),
        page_bytes: sys::pages::page_bytes() as u64,
        hypervisor: sys::topology::hypervisor().unwrap_or_default(),
        libc: sys::machine::c_library(),
        rustc: env!("SCRUPLE_RUSTC").into(),
        build: if cfg!(debug_assertions) { "debug" } else { "release" }.into(),
        rights: if sys::process::is_root() { "root" } else { "user" }.into(),
        settings: settings(memory.as_ref().map_or(u64::MAX, |memory| memory.total_bytes)),
        load: sys::proc::load().unwrap_or_default(),
        neighbours: neighbours
            .into_iter()
            .filter(|(_, share)| *share >= NEIGHBOUR_SHARE_MIN)
            .take(NEIGHBOURS_MAX)
            .map(|(name, cpu_share)| Neighbour { name, cpu_share })
            .collect(),
        // Those of a session are looked at when it has a plan.
        files: Vec::new(),
    }
}

/// Returns the facts that may change from run to run of a session and change its numbers, by name.
fn changeable(environment: &Environment, shield: &ShieldReport) -> BTreeMap<String, String> {
    let own = [
        ("boot", environment.boot.chars().take(8).collect()),
        ("C library", environment.libc.clone()),
        ("rights", environment.rights.clone()),
        ("CPUs online", environment.cpus_online.to_string()),
        ("shield", shield.means.join(", ")),
    ];
    let own = own.into_iter().map(|(name, value): (&str, String)| (name.to_string(), value));
    let settings = environment.settings.iter();
    own.chain(settings.map(|(name, value)| (name.clone(), value.clone()))).collect()
}

/// Returns what differs between two runs, by name: then and now.
fn differs(
    then: (&Environment, &ShieldReport),
    now: (&Environment, &ShieldReport),
) -> BTreeMap<String, [String; 2]> {
    let (then, mut now) = (changeable(then.0, then.1), changeable(now.0, now.1));
    let mut both: BTreeMap<String, [String; 2]> = BTreeMap::new();
    for (name, before) in then {
        let now = now.remove(&name).unwrap_or_default();
        both.insert(name, [before, now]);
    }
    both.extend(now.into_iter().map(|(name, now)| (name, [String::new(), now])));
    both.retain(|_, [then, now]| then != now);
    both
}

/// Records the niceness with which trials run, where somebody else set it.
pub(crate) fn note_niceness(session: &mut Manifest) {
    let nice = sys::process::nice();
    if nice != 0 && !session.shield.means.iter().any(|means| means.starts_with("nice")) {
        session.environment.settings.insert("nice".into(), nice.to_string());
    }
}

/// Returns what is recorded of a run that resumes a session, and warns if its conditions are
/// others.
pub(crate) fn run(
    manifest: &Manifest,
    here: &Environment,
    shield: &ShieldReport,
    first_trial: u64,
) -> Run {
    let mut now =
        Manifest { environment: here.clone(), shield: shield.clone(), ..manifest.clone() };
    note_niceness(&mut now);
    let then = (&manifest.environment, &manifest.shield);
    let differs = differs(then, (&now.environment, &now.shield));
    let started_unix_ms = sys::clock::unix_ms();
    let run = Run { started_unix_ms, first_trial, differs };
    if let Some(text) = report::run_differs(&run) {
        ui::warn(&text);
    }
    run
}

fn caches(cpu: u32) -> Vec<CpuCache> {
    sys::topology::caches(cpu)
        .into_iter()
        .map(|cache| CpuCache {
            level: cache.level,
            kind: format!("{:?}", cache.kind),
            size_bytes: cache.size_bytes,
            line_bytes: cache.line_bytes.unwrap_or_default() as u32,
        })
        .collect()
}

/// What an overlay file system does to numbers: the file system and the one under it both count what
/// copy_file_range, sendfile and splice write, and both count it for the process.
pub(crate) const COPIES_COUNT_TWICE: &str =
    "the kernel counts bytes that cp, cat and others copy within the kernel twice";

/// Returns the working folder or the folder for temporary files, whichever lies on an overlay file system, as a
/// container's root does.
pub(crate) fn on_overlay() -> Option<PathBuf> {
    let both = [std::env::current_dir().ok(), Some(std::env::temp_dir())];
    let is_overlay = |dir: &PathBuf| sys::files::filesystem(dir).is_ok_and(|it| it == "overlayfs");
    both.into_iter().flatten().find(is_overlay)
}

fn settings(memory_bytes: u64) -> BTreeMap<String, String> {
    let mut settings = sys::machine::settings();
    if let Some(quota) = sys::cgroup::cpu_quota() {
        settings.insert("cpu_quota".into(), format!("{quota:.2} CPUs"));
    }
    settings.extend(limits(memory_bytes));
    settings.extend(sys::inherited::facts());
    if on_overlay().is_some() {
        settings.insert("overlayfs".into(), COPIES_COUNT_TWICE.into());
    }
    settings
}

/// Returns the limits that the session inherits, by the name under which they are recorded. A limit on
/// memory that is above what the machine has limits nothing.
fn limits(memory_bytes: u64) -> impl Iterator<Item = (String, String)> {
    let memory = sys::cgroup::memory_room().map(|room| room.limit);
    let memory = memory.filter(|limit| *limit < memory_bytes);
    let tasks = sys::cgroup::tasks_room().map(|room| room.limit);
    let groups = [
        memory.map(|limit| ("memory_cgroup", in_mb(limit))),
        tasks.map(|limit| ("tasks_cgroup", format!("{limit} tasks"))),
    ];
    let own = sys::limits::in_force().into_iter().filter_map(move |(resource, limit)| {
        if resource.is_of_memory() && limit >= memory_bytes {
            return None;
        }
        Some(match resource {
            Resource::AddressSpace => ("address_space", in_mb(limit)),
            Resource::Data => ("data", in_mb(limit)),
            Resource::FileSize => ("file_size", in_mb(limit)),
            Resource::Stack => ("stack", in_mb(limit)),
            Resource::LockedMemory => ("locked_memory", in_mb(limit)),
            Resource::OpenFiles => ("open_files", limit.to_string()),
            Resource::Processes => ("tasks_user", format!("{limit} tasks")),
            Resource::CpuTime => ("cpu_time", format!("{limit} s")),
            // Scruple lowers it itself.
            Resource::Core => return None,
        })
    });
    let all = groups.into_iter().flatten().chain(own);
    all.map(|(name, limit)| (format!("limit_{name}"), limit))
}

fn in_mb(bytes: u64) -> String {
    format!("{} MB", bytes / 1_000_000)
}
