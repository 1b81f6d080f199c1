//! The answer in words.
//!
//! Time on the CPU holds the time that is lost there to memory, cache and switches: a program that
//! streams through memory is as elastic to the one as to the other. So the question has two levels:
//! first what the time goes by (CPU time, storage, timers, or none of them), and, where that is the
//! CPU, what the CPU waits for.

use super::threads::share;
use super::time::{decided, longest, most, running, waited};
use super::{LIVES_ON, threads};
use crate::scaling::kind_words;
use crate::stats::interval::BLOCKS_FREE;
use model::measures::{CPU_SHARE, MAJOR_FAULTS, STORAGE_READ, STORAGE_WRITTEN, VOLUNTARY};
use model::{Estimate, Price, Resource, SqueezeResult, WaitKind, Why, WhyWait};
use wording::number::{self, Terms};

/// The part of the elasticity to CPU time from which what lies within it is named instead.
const WITHIN: f64 = 0.4;

/// A CPU use that agrees with living on something else than the CPU, in parts of one.
const IDLE_SHARE: f64 = 0.8;

/// From this part of its time on a CPU, and of its CPU time in the kernel, a program is limited by these.
const ON_CPU: f64 = 0.9;
const IN_KERNEL: f64 = 0.5;

/// The least that a wake-up and the switch to it take, in seconds.
const WAKE_UP_MIN_S: f64 = 1e-6;

/// A wait of this part of its kind is all of it, as far as a sentence goes.
const MOST_OF_ITS_KIND: f64 = 0.8;

/// What limits a program, by the strongest evidence there is.
enum Limit<'a> {
    /// Taking it makes it slower.
    Squeezed(Resource),
    /// It waits for that most of its time.
    Waits(&'a WhyWait),
    /// It runs all the time, most of it in the kernel: for wake-ups of threads and processes (true), or for
    /// other work.
    Kernel(bool),
    /// What its threads do together.
    Threads(threads::Limit<'a>),
    /// A CPU quota holds it back for this part of its time.
    Quota(Estimate),
    /// It runs all the time.
    Runs,
    Unknown,
}

/// Fills in the answer, what it names, and what it rests on.
pub(super) fn answer(described: &mut Why) {
    let mut warnings = impossible(described);
    let limit = limit(described);
    let named = match &limit {
        Limit::Squeezed(resource) => Some(*resource),
        Limit::Waits(wait) => of_wait(wait.kind),
        Limit::Kernel(true) => Some(Resource::Queue),
        Limit::Threads(threads::Limit::Wait(wait, _)) => of_wait(wait.kind),
        Limit::Threads(_) | Limit::Quota(_) | Limit::Runs => Some(Resource::Cpu),
        Limit::Kernel(false) | Limit::Unknown => None,
    };
    let is_computing = named == Some(Resource::Cpu) && !matches!(limit, Limit::Quota(_));
    let open = if is_computing { open(described) } else { Vec::new() };
    let mut evidence = Vec::new();
    if let Limit::Squeezed(resource) = limit {
        evidence.push("timing".to_string());
        match counters_agree(described, resource) {
            Ok(agree) => evidence.extend(agree.then(|| "counters".into())),
            Err(contradiction) => warnings.push(contradiction),
        }
        match waits_agree(described, resource) {
            Ok(agree) => evidence.extend(agree.then(|| "waits".into())),
            Err(contradiction) => warnings.push(contradiction),
        }
    }
    let (text, rest) = match &limit {
        Limit::Squeezed(resource) => (lives_on(described, *resource), ""),
        Limit::Waits(wait) => (waits_for(described, wait), "waits"),
        Limit::Kernel(wakes) => (in_kernel(described, *wakes), "counters"),
        Limit::Threads(threads) => (threads::words(&described.time, threads), "waits and counters"),
        Limit::Quota(share) => (held_back(described, share), "counters"),
        Limit::Runs => (runs(described), "counters"),
        Limit::Unknown => (nothing_named(described), "timing"),
    };
    evidence.extend(Some(rest.to_string()).filter(|rest| !rest.is_empty()));
    let named_wait = match &limit {
        Limit::Waits(wait) | Limit::Threads(threads::Limit::Wait(wait, _)) if named.is_none() => {
            Some(wait.kind)
        }
        _ => None,
    };
    let named_kernel = matches!(limit, Limit::Kernel(false));
    let faster = |one: &SqueezeResult| one.elasticity.is_some_and(|e| e.high < -LIVES_ON);
    if let Some(faster) = words(&described.squeezes, faster, " and ") {
        warnings.push(format!(
            "it was faster where {faster} was taken: a CPU that co-runners keep from idling wakes up \
             sooner, which hides what else they do to a program that waits"
        ));
    }
    described.answer = wording::sentences([Some(text), still_open(described, &open)]);
    described.evidence = wording::listed(&evidence);
    (described.named, described.named_wait, described.named_kernel) =
        (named, named_wait, named_kernel);
    described.open = open;
    described.warnings.extend(warnings);
}

/// Decides what limits a program: what stands of what was taken from it, and by elimination what it does with
/// nothing taken.
fn limit(described: &Why) -> Limit<'_> {
    let time = &described.time;
    if let Some(share) = super::time::held_back(time).filter(|_| longest(time).is_none()) {
        return Limit::Quota(share);
    }
    let squeezed = named(described);
    let cpu = described.squeezes.iter().find(|one| one.resource == Resource::Cpu);
    let in_vain = cpu.and_then(|one| one.elasticity).is_some_and(|e| e.high < LIVES_ON);
    // Who waits is not limited by a CPU that it was seen to need; who runs alone may need memory there.
    let is_of_threads = |limit: &threads::Limit<'_>| match limit {
        threads::Limit::Wait(..) => squeezed.is_none_or(|it| of_cpu(it) || it == Resource::Queue),
        _ => squeezed.is_none_or(|it| it == Resource::Cpu),
    };
    if let Some(threads) = threads::limit(time).filter(is_of_threads) {
        return Limit::Threads(threads);
    }
    let runs = !in_vain && running(time).is_some_and(|share| share.low >= ON_CPU);
    if runs && squeezed.is_none_or(|resource| resource == Resource::Cpu) {
        let in_kernel = decided(&time.kernel).is_some_and(|share| share.low >= IN_KERNEL);
        if in_kernel {
            let wake_ups = decided(&time.switches_per_s);
            let wakes = wake_ups.is_some_and(|it| it.low * WAKE_UP_MIN_S >= LIVES_ON);
            return Limit::Kernel(wakes);
        }
    }
    match (squeezed, longest(time)) {
        // Who takes CPU time also stops a program that is to wait meanwhile, and those who end its waits.
        (Some(resource), Some(wait)) if of_cpu(resource) => Limit::Waits(wait),
        (Some(resource), _) => Limit::Squeezed(resource),
        (None, Some(wait)) => Limit::Waits(wait),
        (None, None) if runs => Limit::Runs,
        (None, None) => threads::one(time).map_or(Limit::Unknown, Limit::Threads),
    }
}

/// Returns the resource that a kind of wait is for.
fn of_wait(kind: WaitKind) -> Option<Resource> {
    match kind {
        WaitKind::Storage => Some(Resource::Storage),
        WaitKind::Timer => Some(Resource::Timer),
        _ => None,
    }
}

/// Warns of resources without which the program is slower than the time that can depend on them explains.
fn impossible(described: &Why) -> Vec<String> {
    let is_odd = |one: &&SqueezeResult| {
        one.stands
            && one.elasticity.is_some_and(|e| e.point >= LIVES_ON)
            && !is_possible(described, one)
    };
    let odd = described.squeezes.iter().filter(is_odd).map(|one| {
        let depends = number::share(most(&described.time, one.resource).max(0.0));
        format!(
            "{} is not named: taking it slowed the command by more than the {depends} of its time explain that can \
             depend on it (co-runners also delay the ends of waits)",
            one.resource.words(),
        )
    });
    odd.collect()
}

/// Reports whether so much of its time can depend on a resource: an elasticity is hardly larger than that share.
fn is_possible(described: &Why, one: &SqueezeResult) -> bool {
    let most = most(&described.time, one.resource);
    let explains =
        most >= 1.0 - LIVES_ON || one.elasticity.is_none_or(|e| e.low <= most + LIVES_ON);
    most >= LIVES_ON && explains
}

/// Returns what a program that is limited by CPU time may wait for on the CPU, since nothing excludes it.
fn open(described: &Why) -> Vec<Resource> {
    let within = Resource::ALL.into_iter().filter(|resource| resource.is_within_cpu());
    let is_low = |resource: &Resource| {
        // Taking bandwidth says nothing of a program that waits for the latency of memory.
        let is_excluded = *resource != Resource::Memory && is_silent(described, *resource);
        is_excluded || most(&described.time, *resource) < LIVES_ON
    };
    within.filter(|resource| !is_low(resource)).collect()
}

/// Reports whether taking a resource surely did next to nothing.
fn is_silent(described: &Why, resource: Resource) -> bool {
    let one = described.squeezes.iter().find(|one| one.resource == resource);
    let e = one.and_then(|one| one.elasticity);
    e.is_some_and(|e| e.high < LIVES_ON && e.samples as usize >= BLOCKS_FREE)
}

/// Says what is not known of the CPU time that is named.
fn still_open(described: &Why, open: &[Resource]) -> Option<String> {
    let words = |resource: &Resource| match resource {
        Resource::Memory if is_silent(described, Resource::Memory) => "the latency of memory",
        other => other.words(),
    };
    let words: Vec<&str> = open.iter().map(words).collect();
    (!words.is_empty()).then(|| {
        format!("Whether it computes there or waits for {} is not known.", words.join(" or "))
    })
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

/// Returns the resource that limits the program by what was taken from it.
fn named(described: &Why) -> Option<Resource> {
    let largest = |among: &[Resource]| {
        let found = among.iter().filter_map(|of| {
            let (one, e) = stands(&described.squeezes, *of)?;
            (one.known().is_some() && is_possible(described, one)).then_some((*of, e))
        });
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

/// Reports whether the waits of its threads agree; an error where they contradict.
fn waits_agree(described: &Why, resource: Resource) -> Result<bool, String> {
    let Some((low, high)) = waited(&described.time, resource) else {
        let runs = running(&described.time).is_some_and(|share| share.low >= 0.5);
        return Ok(runs && described.time.still.is_some() && of_cpu(resource));
    };
    if high < LIVES_ON {
        return Err(format!(
            "the waits do not agree: it waited for {} for at most {} of its time",
            resource.words(),
            number::share(high)
        ));
    }
    Ok(low >= LIVES_ON)
}

fn of_cpu(resource: Resource) -> bool {
    matches!(resource, Resource::Cpu | Resource::Memory | Resource::Cache)
}

/// "It waits for storage for 93 % [90, 95] of its time: /tmp/x."
fn waits_for(described: &Why, wait: &WhyWait) -> String {
    let of_kind = described.time.waited.iter().find(|it| it.kind == wait.kind);
    let most = of_kind.filter(|it| it.share.point >= MOST_OF_ITS_KIND * wait.share.point);
    let name = most.and_then(|it| {
        let parts = [&it.what, &it.holder].map(|part| (!part.is_empty()).then(|| part.clone()));
        wording::clauses(parts, ", ")
    });
    let name = name.map_or_else(String::new, |name| format!(": {}", wording::short(&name, 200)));
    format!(
        "This command waits for {} for {} of its time{name}.",
        kind_words(wait.kind),
        share(&wait.share)
    )
}

/// Says where the time of a program goes that runs all the time, most of it in the kernel.
fn in_kernel(described: &Why, wakes: bool) -> String {
    let time = &described.time;
    let [cpu, kernel] = [running(time), time.kernel].map(|it| or_dash(it.as_ref()));
    let of = format!("it is on a CPU for {cpu} of its time, and {kernel} of that is the kernel's");
    match time.switches_per_s.filter(|_| wakes) {
        Some(switches) => format!(
            "This command is limited by prompt wake-ups: {of}. Its threads and processes wait for each \
             other {} times a second.",
            number::count(switches.point.round() as u64)
        ),
        None => format!(
            "This command is limited by the kernel's work for it, system calls and page faults: {of}. \
             scruple syscalls counts its system calls."
        ),
    }
}

fn or_dash(known: Option<&Estimate>) -> String {
    number::or_dash(known, share)
}

fn held_back(described: &Why, throttled: &Estimate) -> String {
    format!(
        "This command is limited by a CPU quota, which holds it back for {} of its time: it uses {} CPUs.",
        share(throttled),
        number::or_dash(described.time.cpu.as_ref(), |used| number::estimate(used, Terms::Plain)),
    )
}

fn runs(described: &Why) -> String {
    let cpu = running(&described.time);
    format!(
        "This command is limited by CPU time: it is on a CPU for {} of its time.{}",
        or_dash(cpu.as_ref()),
        threads::used(&described.time).unwrap_or_default()
    )
}

fn lives_on(described: &Why, resource: Resource) -> String {
    let Some((one, _)) = stands(&described.squeezes, resource) else { return String::new() };
    let mut text = format!("This command is limited by {}", resource.words());
    if let Some(price) = &one.price {
        text += &format!(": {}", priced(price));
    }
    text.push('.');
    if of_cpu(resource) {
        text += &threads::used(&described.time).unwrap_or_default();
    }
    if resource.is_within_cpu()
        && let Some((_, cpu)) = stands(&described.squeezes, Resource::Cpu)
    {
        text +=
            &format!(" Its elasticity to CPU time is {:.2}; that CPU time is spent there.", cpu);
    }
    let e = |one: &SqueezeResult| one.elasticity.map_or(0.0, |e| e.point);
    let within = Resource::ALL.into_iter().filter(|it| it.is_within_cpu());
    let silent = within.filter(|it| is_silent(described, *it)).map(|it| match it {
        Resource::Memory => "memory bandwidth",
        other => other.words(),
    });
    let silent: Vec<&str> = silent.collect();
    if resource == Resource::Cpu && !silent.is_empty() {
        text += &format!(" While it is on a CPU, it hardly waits for {}.", silent.join(" or "));
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

/// Says what the time goes by where there is no single thing that most of it goes by.
fn parts(described: &Why) -> Option<String> {
    let running = running(&described.time).filter(|share| share.high >= LIVES_ON);
    let on_cpu = running.map(|it| format!("it is on a CPU for {} of its time", share(&it)));
    let waits = described
        .time
        .kinds
        .iter()
        .filter(|it| decided(&Some(it.share)).is_some_and(|share| share.low >= LIVES_ON));
    let waits =
        waits.map(|it| format!("waits for {} for {}", kind_words(it.kind), share(&it.share)));
    let parts: Vec<String> = on_cpu.into_iter().chain(waits).collect();
    (parts.len() > 1)
        .then(|| format!("No single thing limits this command: {}.", wording::listed(&parts)))
}

fn nothing_named(described: &Why) -> String {
    let known: Vec<_> =
        described.squeezes.iter().filter_map(|one| one.elasticity.as_ref()).collect();
    if described.wall_ns.is_none() {
        return "Nothing is known: no trial of the command completed.".into();
    }
    if let Some(parts) = parts(described) {
        return parts;
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
