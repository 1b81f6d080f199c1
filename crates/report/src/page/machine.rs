//! The machine, what measuring cost on it, and how to do it all again.

use crate::Session;
use crate::format::{self, Terms, rounded, value};
use crate::words::{self, short};
use maud::{Markup, html};
use model::{Environment, Unit};

/// The most neighbours and settings listed.
const LISTED_MAX: usize = 60;

/// Recorded facts of the machine.
pub(super) fn environment(session: &Session<'_>) -> Markup {
    let environment = &session.manifest.environment;
    html! {
        section #environment {
            h2 { "The machine" }
            dl.facts {
                @for (name, fact) in facts(environment) {
                    @if !fact.is_empty() {
                        div { dt { (name) } dd { bdi { (short(&fact, 300)) } } }
                    }
                }
            }
            @if !environment.settings.is_empty() {
                h3 { "Settings that move numbers" }
                dl.facts {
                    @for (name, setting) in environment.settings.iter().take(LISTED_MAX) {
                        div { dt { (short(name, 80)) } dd { bdi { (short(setting, 300)) } } }
                    }
                }
            }
            @if !environment.neighbours.is_empty() {
                h3 { "The busiest others when the session began" }
                ul {
                    @for neighbour in environment.neighbours.iter().take(LISTED_MAX) {
                        li {
                            bdi { (short(&neighbour.name, 120)) } ": "
                            (rounded(neighbour.cpu_share, Terms::Share)) " of one CPU"
                        }
                    }
                }
            }
        }
    }
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

/// What the instrument itself cost.
pub(super) fn harness(session: &Session<'_>) -> Markup {
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
    html! {
        section #harness {
            h2 { "What measuring cost" }
            p { "An instrument that does not know its own weight cannot weigh anything." }
            dl.facts { @for (name, fact) in rows { div { dt { (name) } dd { (fact) } } } }
        }
    }
}

/// The commands that do it again.
pub(super) fn repeat(session: &Session<'_>) -> Markup {
    let manifest = session.manifest;
    html! {
        section #repeat {
            h2 { "How to repeat it" }
            p { "The whole session, in the same random order:" }
            p.repeat { code { (words::repeat_command(manifest, &manifest.options.experiments)) } }
            p { "The command line it was started with:" }
            p.repeat { code { (short(&words::command_line(&manifest.command), 2000)) } }
            p {
                "This page from the stored trials, on this machine or another: "
                code { "scruple report " (short(&manifest.session, 120)) }
            }
        }
    }
}
