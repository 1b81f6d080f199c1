//! The recorded facts of the machine.

use model::{CpuCache, Environment, Neighbour};
use std::time::Duration;

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
    Environment {
        host: sys::machine::hostname().unwrap_or_default(),
        machine: sys::machine::machine_id_hash().unwrap_or_default(),
        boot: sys::machine::boot_id().unwrap_or_default(),
        kernel: sys::machine::kernel_release().unwrap_or_default(),
        cpu_model: sys::topology::model_name().unwrap_or_default(),
        cpus_online: sys::topology::online().len() as u32,
        cpus_allowed: allowed,
        threads_per_core: sys::topology::threads_per_core(),
        caches: caches(first),
        memory_bytes: memory.as_ref().map_or(0, |memory| memory.total_bytes),
        memory_available_bytes: memory.as_ref().map_or(0, |memory| memory.available_bytes),
        page_bytes: sys::pages::page_bytes() as u64,
        hypervisor: sys::topology::hypervisor().unwrap_or_default(),
        libc: sys::machine::glibc_version().map_or_else(String::new, |it| format!("glibc {it}")),
        rustc: env!("SCRUPLE_RUSTC").into(),
        build: if cfg!(debug_assertions) { "debug" } else { "release" }.into(),
        rights: if sys::process::is_root() { "root" } else { "user" }.into(),
        settings: settings(),
        load: sys::proc::load().unwrap_or_default(),
        neighbours: neighbours
            .into_iter()
            .filter(|(_, share)| *share >= NEIGHBOUR_SHARE_MIN)
            .take(NEIGHBOURS_MAX)
            .map(|(name, cpu_share)| Neighbour { name, cpu_share })
            .collect(),
    }
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

/// How many processes and threads the user may have; root may have any number.
fn of_user() -> Option<u64> {
    let limit = sys::limits::get(sys::limits::Resource::Processes).ok()?.soft;
    limit.filter(|_| !sys::process::is_root())
}

fn settings() -> std::collections::BTreeMap<String, String> {
    let mut settings = sys::machine::settings();
    if let Some(quota) = sys::cgroup::cpu_quota() {
        settings.insert("cpu_quota".into(), format!("{quota:.2} CPUs"));
    }
    for limit in sys::limits::of_memory() {
        let name = match limit.by {
            "RLIMIT_AS" => "limit_address_space",
            "RLIMIT_DATA" => "limit_data",
            _ => "limit_memory_cgroup",
        };
        settings.insert(name.into(), format!("{} MB", limit.bytes / 1_000_000));
    }
    if let Some(tasks) = sys::cgroup::tasks_limit() {
        settings.insert("limit_tasks_cgroup".into(), format!("{tasks} tasks"));
    }
    if let Some(tasks) = of_user() {
        settings.insert("limit_tasks_user".into(), format!("{tasks} tasks"));
    }
    settings
}
