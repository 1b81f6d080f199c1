//! The machine, what measuring cost on it, and how to do it all again.

use crate::Session;
use crate::doc::{Block, Role, Text};
use crate::format::{self, Terms, rounded, value};
use crate::words::{self, short};
use model::{Environment, Unit};

/// The most neighbours and settings listed.
const LISTED_MAX: usize = 60;

/// Returns the recorded facts of the machine.
pub(crate) fn environment(session: &Session<'_>) -> Vec<Block<'static>> {
    let environment = &session.manifest.environment;
    let facts = facts(environment).into_iter().filter(|(_, fact)| !fact.is_empty());
    let facts = facts.map(|(name, fact)| (name.to_string(), short(&fact, 300).into()));
    let mut blocks = vec![Block::heading(2, "The machine"), Block::Facts(facts.collect())];
    if !environment.settings.is_empty() {
        let settings = environment.settings.iter().take(LISTED_MAX);
        let settings =
            settings.map(|(name, setting)| (short(name, 80), short(setting, 300).into()));
        blocks.push(Block::heading(3, "Settings that move numbers"));
        blocks.push(Block::Facts(settings.collect()));
    }
    if !environment.neighbours.is_empty() {
        let neighbours = environment.neighbours.iter().take(LISTED_MAX).map(|neighbour| {
            let share = rounded(neighbour.cpu_share, Terms::Share);
            format!("{}: {share} of one CPU", short(&neighbour.name, 120)).into()
        });
        blocks.push(Block::heading(3, "The busiest others when the session began"));
        blocks.push(Block::List(neighbours.collect()));
    }
    blocks
}

fn facts(environment: &Environment) -> Vec<(&'static str, String)> {
    let bytes =
        |n: u64| if n == 0 { String::new() } else { rounded(n as f64, Terms::In(&Unit::Bytes)) };
    let cpus: Vec<String> = environment.cpus_allowed.iter().map(u32::to_string).collect();
    let caches: Vec<String> = environment
        .caches
        .iter()
        .map(|cache| {
            let size = binary(cache.size_bytes);
            format!("L{} {} {size}, lines of {} B", cache.level, cache.kind, cache.line_bytes)
        })
        .collect();
    let virtual_on = match environment.hypervisor.as_str() {
        "" => "none seen".to_string(),
        name => name.to_string(),
    };
    vec![
        ("host", environment.host.clone()),
        ("machine, hashed", environment.machine.clone()),
        ("processor", environment.cpu_model.clone()),
        ("CPUs online", environment.cpus_online.to_string()),
        ("CPUs allowed", cpus.join(", ")),
        ("threads per core", environment.threads_per_core.to_string()),
        ("caches", caches.join("; ")),
        ("memory", bytes(environment.memory_bytes)),
        ("memory available", bytes(environment.memory_available_bytes)),
        ("page", binary(environment.page_bytes)),
        ("hypervisor", virtual_on),
        ("kernel", environment.kernel.clone()),
        ("C library", environment.libc.clone()),
        ("built by", format!("{}, profile {}", environment.rustc, environment.build)),
        ("rights", environment.rights.clone()),
        ("load at the start", format!("{:.2}", environment.load)),
        ("boot", environment.boot.clone()),
    ]
}

/// Sizes of caches are powers of two.
fn binary(bytes: u64) -> String {
    const KIB: u64 = 1024;
    match bytes {
        b if b >= KIB * KIB && b % (KIB * KIB) == 0 => format!("{} MiB", b / KIB / KIB),
        b if b >= KIB => format!("{} KiB", b / KIB),
        0 => String::new(),
        b => format!("{b} B"),
    }
}

/// Returns what the instrument itself cost.
pub(crate) fn harness(session: &Session<'_>) -> Vec<Block<'static>> {
    let harness = &session.summary.harness;
    let ns = |n: Option<u64>| n.map_or("not known".into(), |n| value(n as f64, &Unit::Ns));
    let share = |x: Option<f64>| x.map_or("not known".into(), |x| rounded(x, Terms::Share));
    let rows = [
        ("trials with a record", format::count(harness.trials)),
        ("from the start of a trial's process to its Ready, median", ns(harness.spawn_to_ready_ns)),
        ("per trial outside its timed region, median", ns(harness.outside_ns)),
        ("CPU of scruple itself while trials measured", share(harness.runner_cpu_share)),
        ("CPU of others while trials lived", share(harness.foreign_cpu_share)),
        ("trials that left processes behind", format::count(harness.leaking_trials)),
    ];
    vec![
        Block::heading(2, "What measuring cost"),
        Block::Facts(rows.into_iter().map(|(name, fact)| (name.into(), fact.into())).collect()),
    ]
}

/// Returns what the instrument cost, in a sentence.
pub(crate) fn harness_sentence(session: &Session<'_>) -> Option<String> {
    let harness = &session.summary.harness;
    let time = |ns: u64| value(ns as f64, &Unit::Ns);
    let parts = [
        harness.spawn_to_ready_ns.map(|ns| format!("{} from start to Ready", time(ns))),
        harness.outside_ns.map(|ns| format!("{} outside the timed region", time(ns))),
        harness.runner_cpu_share.map(|share| {
            format!("{} of one CPU while a trial measures", rounded(share, Terms::Share))
        }),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let said = format!("The harness itself cost, per trial (median): {}.", parts.join(", "));
    (!parts.is_empty()).then_some(said)
}

/// Returns the commands that do it again.
pub(crate) fn repeat(session: &Session<'_>) -> Vec<Block<'static>> {
    let manifest = session.manifest;
    let started = short(&words::command_line(&manifest.command), 2000);
    let again = words::repeat_command(manifest, &manifest.options.experiments);
    let report = format!("scruple report {}", short(&manifest.session, 120));
    let command = |text: String| Block::paragraph(Role::Command, Text::code(text));
    let plain = |text: &str| Block::paragraph(Role::Plain, text);
    vec![
        Block::heading(2, "How to repeat it"),
        plain("The whole session, in the same random order:"),
        command(again),
        plain("The command line it was started with:"),
        command(started),
        plain("This page from the stored trials, on this machine or another:"),
        command(report),
    ]
}
