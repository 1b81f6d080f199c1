//! The answer in words.
//!
//! Time on the CPU holds the time that is lost there to memory, cache and switches: a program that
//! streams through memory is as elastic to the one as to the other. So the question has two levels:
//! first what the time goes by (CPU time, storage, timers, or none of them), and, where that is the
//! CPU, what the CPU waits for.

use model::measures::{CPU_SHARE, MAJOR_FAULTS, STORAGE_READ, STORAGE_WRITTEN, VOLUNTARY};
use model::{Price, Resource, SqueezeResult, Why};

/// The least elasticity at which a resource limits a program.
const LIVES_ON: f64 = 0.2;

/// The part of the elasticity to CPU time from which what lies within it is named instead.
const WITHIN: f64 = 0.4;

/// A CPU use that agrees with living on something else than the CPU, in parts of one.
const IDLE_SHARE: f64 = 0.8;

/// Fills in the answer, what it names, and what it rests on.
pub(super) fn answer(described: &mut Why) {
    let named = named(&described.squeezes);
    described.named = named;
    let agreement = named.map(|resource| counters_agree(described, resource));
    let is_agreed = matches!(agreement, Some(Ok(true)));
    described.evidence = if is_agreed { "timing and counters" } else { "timing" }.into();
    described.warnings.extend(agreement.and_then(Result::err));
    let faster = |one: &SqueezeResult| one.elasticity.is_some_and(|e| e.high < -LIVES_ON);
    if let Some(faster) = words(&described.squeezes, faster, " and ") {
        described.warnings.push(format!(
            "it was faster where {faster} was taken: a CPU that co-runners keep from idling wakes up \
             sooner, which hides what else they do to a program that waits"
        ));
    }
    described.answer = match named {
        Some(resource) => lives_on(described, resource),
        None => nothing_named(described),
    };
}

/// Returns the resources of some squeezes in words; `None` of none.
fn words(
    squeezes: &[SqueezeResult],
    of: impl Fn(&SqueezeResult) -> bool,
    joint: &str,
) -> Option<String> {
    let words = squeezes.iter().filter(|one| of(one)).map(|one| one.resource.words());
    let words: Vec<&str> = words.collect();
    (!words.is_empty()).then(|| words.join(joint))
}

fn stands(squeezes: &[SqueezeResult], resource: Resource) -> Option<(&SqueezeResult, f64)> {
    let one = squeezes.iter().find(|one| one.resource == resource && one.stands)?;
    Some((one, one.elasticity.as_ref()?.point))
}

fn named(squeezes: &[SqueezeResult]) -> Option<Resource> {
    let largest = |among: &[Resource]| {
        let found = among.iter().filter_map(|of| Some((*of, stands(squeezes, *of)?.1)));
        found.max_by(|a, b| a.1.total_cmp(&b.1))
    };
    let (first, e) = largest(&[Resource::Cpu, Resource::Storage, Resource::Timer])
        .or_else(|| largest(&Resource::ALL))
        .filter(|(_, e)| *e >= LIVES_ON)?;
    if first != Resource::Cpu {
        return Some(first);
    }
    let within: Vec<Resource> =
        Resource::ALL.into_iter().filter(|resource| resource.is_within_cpu()).collect();
    match largest(&within) {
        Some((inner, inner_e)) if inner_e >= WITHIN * e => Some(inner),
        _ => Some(first),
    }
}

/// Reports whether what the kernel counted agrees; an error where it contradicts.
fn counters_agree(described: &Why, resource: Resource) -> Result<bool, String> {
    let count = |name: &str| {
        let found = described.counted.iter().find(|count| count.response == name);
        found.map(|count| count.estimate.point)
    };
    let Some(cpu) = count(CPU_SHARE).map(|ppm| ppm / 1e6) else { return Ok(false) };
    let percent = 100.0 * cpu;
    match resource {
        Resource::Cpu | Resource::Memory | Resource::Cache if cpu < LIVES_ON => Err(format!(
            "the counters do not agree: it used a CPU for {percent:.0} % of its time only"
        )),
        Resource::Storage | Resource::Timer if cpu > 1.0 - LIVES_ON / 2.0 => {
            Err(format!("the counters do not agree: it used a CPU for {percent:.0} % of its time"))
        }
        Resource::Cpu | Resource::Memory | Resource::Cache => Ok(cpu >= 0.5),
        Resource::Storage => {
            let moved = [STORAGE_READ, STORAGE_WRITTEN, MAJOR_FAULTS];
            Ok(cpu < IDLE_SHARE && moved.iter().any(|name| count(name).is_some_and(|n| n > 0.0)))
        }
        Resource::Timer => Ok(cpu < IDLE_SHARE && count(VOLUNTARY).is_some_and(|n| n > 0.0)),
        Resource::Queue => Ok(count(VOLUNTARY).is_some_and(|n| n > 0.0)),
    }
}

fn lives_on(described: &Why, resource: Resource) -> String {
    let Some((one, _)) = stands(&described.squeezes, resource) else { return String::new() };
    let mut text = format!("This command is limited by {}", resource.words());
    if let Some(price) = &one.price {
        text += &format!(": {}", priced(price));
    }
    text.push('.');
    if resource.is_within_cpu()
        && let Some((_, cpu)) = stands(&described.squeezes, Resource::Cpu)
    {
        text +=
            &format!(" Its elasticity to CPU time is {:.2}; that CPU time is spent there.", cpu);
    }
    let e = |one: &SqueezeResult| one.elasticity.map_or(0.0, |e| e.point);
    let silent = |one: &SqueezeResult| {
        one.resource.is_within_cpu() && one.elasticity.is_some_and(|e| e.high < LIVES_ON)
    };
    if resource == Resource::Cpu
        && let Some(silent) = words(&described.squeezes, silent, " or ")
    {
        text += &format!(" While it is on a CPU, it hardly waits for {silent}.");
    }
    let is_other = |one: &SqueezeResult| {
        let container = resource.is_within_cpu() && one.resource == Resource::Cpu;
        one.resource != resource && one.stands && !container && e(one) >= LIVES_ON
    };
    if let Some(others) = words(&described.squeezes, is_other, " and ") {
        text += &format!(" It also depends on {others}.");
    }
    text
}

/// Says what a part costs: "taking 10 % of it costs 8 [7, 9] %".
pub(super) fn priced(price: &Price) -> String {
    let percent = |part: f64| format!("{:.1}", 100.0 * part);
    let cost = &price.cost;
    let part = 100.0 * price.part;
    let part = if part >= 9.95 { format!("{part:.0}") } else { format!("{part:.1}") };
    format!(
        "taking {part} % of it costs {} [{}, {}] % of its time",
        percent(cost.point),
        percent(cost.low),
        percent(cost.high)
    )
}

fn nothing_named(described: &Why) -> String {
    let known: Vec<_> =
        described.squeezes.iter().filter_map(|one| one.elasticity.as_ref()).collect();
    if described.wall_ns.is_none() {
        return "Nothing is known: no trial of the command completed.".into();
    }
    if known.is_empty() {
        return "No resource can be named: none was squeezed strongly and often enough.".into();
    }
    if known.iter().all(|e| e.high < LIVES_ON) {
        let unknown = described.squeezes.iter().filter(|one| one.elasticity.is_none());
        let unknown: Vec<&str> = unknown
            .map(|one| one.resource)
            .chain(described.not_squeezed.iter().map(|not| not.resource))
            .map(Resource::words)
            .collect();
        return match unknown[..] {
            [] => "None of the resources tested limits this command: it waits for something else, \
                   such as another program, a network or a fixed time."
                .into(),
            _ => format!(
                "None of the resources tested limits this command. Nothing is known about {}.",
                unknown.join(" and ")
            ),
        };
    }
    "Cannot tell: the intervals are too wide; give it more time (--time-budget) or a quieter \
     machine."
        .into()
}
