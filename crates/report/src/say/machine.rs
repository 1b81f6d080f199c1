//! The machine, what measuring cost on it, and how to do it all again.

use crate::Session;
use crate::doc::{Block, Role, Table, Text};
use crate::words;
use model::{Environment, Unit};
use wording::number::{self, Terms, binary, rounded, share, value};
use wording::short;

/// The most neighbours and settings listed.
const LISTED_MAX: usize = 60;

/// Returns the recorded facts of the machine.
pub(crate) fn environment(session: &Session<'_>) -> Vec<Block<'static>> {
    let environment = &session.manifest.environment;
    let facts = facts(environment).into_iter().filter(|(_, fact)| !fact.is_empty());
    let facts = facts.map(|(name, fact)| (name, short(&fact, 300)));
    let about = format!(
        "{}, {}, Linux {}, {}.",
        short(&environment.cpu_model, 120),
        wording::counted(environment.cpus_allowed.len() as u64, "CPU"),
        short(&environment.kernel, 80),
        wording::stated(&environment.hypervisor).map_or("no hypervisor seen".into(), |name| {
            format!("virtual ({})", short(name, 80))
        })
    );
    let mut blocks = vec![Block::facts(facts)];
    blocks.extend(where_experiments_ran(session));
    if !environment.settings.is_empty() {
        let settings = environment.settings.iter().take(LISTED_MAX);
        let settings = settings.map(|(name, setting)| (short(name, 80), short(setting, 300)));
        blocks.push(Block::heading(3, "Settings that move numbers"));
        blocks.push(Block::facts(settings));
    }
    if !environment.neighbours.is_empty() {
        let neighbours = environment.neighbours.iter().take(LISTED_MAX).map(|neighbour| {
            format!("{}: {} of one CPU", short(&neighbour.name, 120), share(neighbour.cpu_share))
        });
        blocks.push(Block::heading(3, "The busiest others when the session began"));
        blocks.push(Block::list(neighbours));
    }
    let known = Block::fold("All that is known of it", blocks);
    let mut part = vec![Block::heading(2, "The machine"), Block::plain(about), known];
    // Before what is behind a label.
    let fold = part.len() - 1;
    part.splice(fold..fold, drawing(session));
    part
}

/// The width of the drawing of the machine: a narrow page's.
const DRAWING_CHARACTERS: usize = 40;

/// The most lines of it.
const DRAWING_LINES_MAX: usize = 60;

/// Returns how the CPUs are arranged; nothing where that is not known.
fn drawing(session: &Session<'_>) -> Vec<Block<'static>> {
    let (topology, ours) = (&session.manifest.environment.topology, &session.manifest.options.cpus);
    let mut drawing = wording::cpus::drawing(topology, ours, DRAWING_CHARACTERS);
    drawing.truncate(DRAWING_LINES_MAX);
    if drawing.is_empty() {
        return Vec::new();
    }
    let has_others = topology.cores.concat().iter().any(|cpu| !ours.contains(cpu));
    let others = " This session did not use the CPUs in parentheses.";
    let legend = "Brackets are cores with the CPUs that are their hardware threads.";
    let legend = format!("{legend}{}", if has_others { others } else { "" });
    vec![Block::Letters(drawing), Block::small(legend)]
}

fn where_experiments_ran(session: &Session<'_>) -> Vec<Block<'static>> {
    let topology = &session.manifest.environment.topology;
    let experiments = session.summary.experiments.iter();
    let rows = experiments.filter(|it| !it.ran_on.is_empty()).map(|experiment| {
        let sets =
            experiment.ran_on.iter().map(|set| wording::cpus::described(topology, &set.cpus));
        [short(&experiment.id, 80), sets.collect::<Vec<_>>().join("; ")]
    });
    let rows: Vec<[String; 2]> = rows.collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let table = Table::of(&["experiment", "CPUs"]).rows(rows);
    vec![Block::heading(3, "Where the experiments ran"), Block::Table(table)]
}

fn facts(environment: &Environment) -> Vec<(&'static str, String)> {
    let bytes = |n: u64| match n {
        0 => String::new(),
        n => rounded(n as f64, Terms::In(&Unit::Bytes)),
    };
    let caches = environment.caches.iter().map(|cache| {
        let size = binary(cache.size_bytes as f64);
        format!("L{} {} {size}, lines of {} B", cache.level, cache.kind, cache.line_bytes)
    });
    let caches: Vec<String> = caches.collect();
    vec![
        ("host", environment.host.clone()),
        ("machine, hashed", environment.machine.clone()),
        ("processor", environment.cpu_model.clone()),
        ("CPUs online", environment.cpus_online.to_string()),
        (
            "CPUs allowed",
            wording::cpus::described(&environment.topology, &environment.cpus_allowed),
        ),
        ("caches", caches.join("; ")),
        ("memory", bytes(environment.memory_bytes)),
        ("memory available", bytes(environment.memory_available_bytes)),
        ("page", binary(environment.page_bytes as f64)),
        ("hypervisor", wording::stated(&environment.hypervisor).unwrap_or("none seen").into()),
        ("kernel", environment.kernel.clone()),
        ("C library", environment.libc.clone()),
        ("built by", format!("{}, profile {}", environment.rustc, environment.build)),
        ("rights", environment.rights.clone()),
        ("load at the start", format!("{:.2}", environment.load)),
        ("boot", environment.boot.clone()),
    ]
}

/// Returns what the instrument itself cost.
pub(crate) fn harness(session: &Session<'_>) -> Vec<Block<'static>> {
    let harness = &session.summary.harness;
    let known = |known: Option<String>| known.unwrap_or_else(|| "not known".into());
    let rows = [
        ("trials with a record", number::count(harness.trials)),
        (
            "from the start of a trial's process to its Ready, median",
            known(harness.spawn_to_ready_ns.map(time)),
        ),
        ("per trial outside its timed region, median", known(harness.outside_ns.map(time))),
        ("CPU of scruple itself while trials measured", known(harness.runner_cpu_share.map(share))),
        ("CPU of others while trials lived", known(harness.foreign_cpu_share.map(share))),
        ("trials that left processes behind", number::count(harness.leaking_trials)),
    ];
    let head = Block::heading(2, "What measuring cost");
    vec![head, Block::fold("All costs", vec![Block::facts(rows)])]
}

fn time(ns: u64) -> String {
    value(ns as f64, &Unit::Ns)
}

/// Returns what the instrument cost, in a sentence.
pub(crate) fn harness_sentence(session: &Session<'_>) -> Option<String> {
    let harness = &session.summary.harness;
    let parts = [
        harness.spawn_to_ready_ns.map(|ns| format!("{} from start to Ready", time(ns))),
        harness.outside_ns.map(|ns| format!("{} outside the timed region", time(ns))),
        harness
            .runner_cpu_share
            .map(|part| format!("{} of one CPU while a trial measures", share(part))),
    ];
    let parts = wording::clauses(parts, ", ")?;
    Some(format!("The harness itself cost, per trial (median): {parts}."))
}

/// Returns what a redacted session does not say.
fn redacted() -> Vec<Block<'static>> {
    let what = "This session is redacted. It holds no host name, path, command, name or output of a program, and no \
                variable. Names that the user of a study chose are numbered in their order.";
    vec![Block::heading(2, "What is left out"), Block::plain(what)]
}

/// Returns the commands that do it again.
pub(crate) fn repeat(session: &Session<'_>) -> Vec<Block<'static>> {
    let manifest = session.manifest;
    if manifest.redacted {
        return redacted();
    }
    let whole = words::repeat_command(manifest, &manifest.options.experiments);
    let whole = Text::from("The whole session, in the same random order: ").then(Text::code(whole));
    let steps = [
        (
            "The command line it was started with:",
            short(&wording::command_line(&manifest.command), 2000),
        ),
        (
            "This page from the stored trials, on this machine or another:",
            format!("scruple report {}", short(&manifest.session, 120)),
        ),
    ];
    let steps = steps.into_iter().flat_map(|(what, command)| {
        [Block::plain(what), Block::paragraph(Role::Command, Text::code(command))]
    });
    vec![
        Block::heading(2, "How to repeat it"),
        Block::paragraph(Role::Command, whole),
        Block::fold("Other commands", steps.collect()),
    ]
}
