//! What is known of the machines and settings that were measured on.

use super::gathered::{self, Answers};
use super::heads::{Head, SideHeads};
use model::{Comparison, CpuCache, Estimate, FactRow, Manifest, Replication, Weight};
use std::collections::BTreeSet;

/// Load averages that lie no further apart than this are said to be the same: half a CPU.
const LOAD_APART: f64 = 0.5;

const LOAD: &str = "load when it began";
const MACHINE: &str = "machine";

/// A neighbour that used less of a CPU than this is not named.
const NEIGHBOUR_SHARE: f64 = 0.1;

type Fact = (&'static str, Weight, fn(&Manifest) -> String);

/// What is looked at beside the settings, the gravest first.
const FACTS: [Fact; 24] = [
    // Another build of the instrument has other costs around and inside every timed region.
    ("build", Weight::Invalid, |it| it.environment.build.clone()),
    ("scruple", Weight::Nuisance, |it| it.scruple.clone()),
    ("compiler", Weight::Nuisance, |it| it.environment.rustc.clone()),
    ("shield", Weight::Nuisance, shield),
    // The profile sets how long a trial measures.
    ("profile", Weight::Nuisance, |it| it.options.profile.name().to_string()),
    ("busy neighbours", Weight::Nuisance, neighbours),
    ("rights", Weight::Nuisance, |it| it.environment.rights.clone()),
    (MACHINE, Weight::Subject, machine),
    ("kernel", Weight::Subject, |it| it.environment.kernel.clone()),
    ("processor", Weight::Subject, |it| it.environment.cpu_model.clone()),
    ("CPUs online", Weight::Subject, |it| number(u64::from(it.environment.cpus_online))),
    ("CPUs allowed", Weight::Subject, |it| cpus(&it.environment.cpus_allowed)),
    ("CPUs of the trials", Weight::Subject, trial_cpus),
    ("threads per core", Weight::Subject, |it| number(u64::from(it.environment.threads_per_core))),
    ("caches", Weight::Subject, |it| caches(&it.environment.caches)),
    ("memory", Weight::Subject, |it| gigabytes(it.environment.memory_bytes)),
    ("page size", Weight::Subject, |it| number(it.environment.page_bytes)),
    ("hypervisor", Weight::Subject, |it| it.environment.hypervisor.clone()),
    ("C library", Weight::Subject, |it| it.environment.libc.clone()),
    ("self-test", Weight::Invalid, |it| yes(it.options.selftest)),
    ("format of the session", Weight::Nuisance, |it| number(u64::from(it.format))),
    ("boot", Weight::Nuisance, |it| it.environment.boot.chars().take(8).collect()),
    ("shield asked for", Weight::Nuisance, |it| yes(it.options.shield)),
    (LOAD, Weight::Nuisance, |it| format!("{:.2}", it.environment.load)),
];

fn yes(answer: bool) -> String {
    if answer { "yes" } else { "no" }.to_string()
}

fn number(n: u64) -> String {
    if n == 0 { String::new() } else { n.to_string() }
}

fn gigabytes(bytes: u64) -> String {
    if bytes == 0 { String::new() } else { format!("{:.1} GB", bytes as f64 / 1e9) }
}

/// Returns the host's name, and the beginning of what tells machines of one name apart.
fn machine(it: &Manifest) -> String {
    format!("{} {}", it.environment.host, machine_hash(it)).trim().to_string()
}

fn machine_hash(it: &Manifest) -> String {
    it.environment.machine.chars().take(8).collect()
}

fn host(it: &Manifest) -> String {
    it.environment.host.clone()
}

/// Returns what tells the machines of some sessions apart: what all of them have. A redacted session has no
/// host, and an earlier version's hash is of another kind.
fn machine_of(sides: &[&[Head]]) -> fn(&Manifest) -> String {
    let named = all(sides).all(|it| !it.manifest.environment.host.is_empty());
    match (named, hashes_are_alike(sides)) {
        (true, true) => machine,
        (true, false) => host,
        (false, true) => machine_hash,
        (false, false) => |_| String::new(),
    }
}

fn hashes_are_alike(sides: &[&[Head]]) -> bool {
    let kinds: BTreeSet<usize> =
        all(sides).map(|it| it.manifest.environment.machine.len()).collect();
    kinds.len() <= 1
}

fn shield(it: &Manifest) -> String {
    if it.shield.means.is_empty() { "none".into() } else { it.shield.means.join(", ") }
}

fn trial_cpus(it: &Manifest) -> String {
    let own = &it.options.cpus;
    cpus(if own.is_empty() { &it.environment.cpus_allowed } else { own })
}

/// Formats a list of CPUs: "0-3,8".
fn cpus(cpus: &[u32]) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for &cpu in cpus {
        match runs.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(cpu) => *last = cpu,
            _ => runs.push((cpu, cpu)),
        }
    }
    let described = runs.iter().map(|(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    });
    described.collect::<Vec<_>>().join(",")
}

fn caches(caches: &[CpuCache]) -> String {
    let described = caches.iter().map(|cache| {
        let kind = match cache.kind.as_str() {
            "Data" => "d",
            "Instruction" => "i",
            _ => "",
        };
        format!("L{}{kind} {} KiB", cache.level, cache.size_bytes >> 10)
    });
    described.collect::<Vec<_>>().join(", ")
}

/// Lists the names of neighbours alone: how busy they were changes from minute to minute.
fn neighbours(it: &Manifest) -> String {
    let busy = it.environment.neighbours.iter().filter(|it| it.cpu_share >= NEIGHBOUR_SHARE);
    let names: BTreeSet<&str> = busy.map(|it| it.name.as_str()).collect();
    names.into_iter().collect::<Vec<_>>().join(", ")
}

/// The most values of one fact on one side that are shown.
const VALUES_MAX: usize = 8;

/// Returns the facts that are not the same on all sides, each of which is some sessions: the gravest first.
pub(crate) fn facts(sides: &[&[Head]]) -> Vec<FactRow> {
    let machine = machine_of(sides);
    let known = FACTS.into_iter().filter_map(|(name, weight, of)| {
        row(name, weight, sides, if name == MACHINE { machine } else { of })
    });
    let mut rows: Vec<FactRow> = known.collect();
    let names = all(sides).flat_map(|it| it.manifest.environment.settings.keys());
    rows.extend(names.collect::<BTreeSet<_>>().into_iter().filter_map(|name| {
        let inherited = wording::is_inherited(name);
        // What is usual is not recorded.
        let absent = if inherited || name.starts_with("limit_") { "none" } else { "" };
        let of = |it: &Manifest| {
            it.environment.settings.get(name).cloned().unwrap_or_else(|| absent.into())
        };
        let weight = if inherited { Weight::Nuisance } else { Weight::Subject };
        row(&format!("setting {name}"), weight, sides, of)
    }));
    let machines: BTreeSet<String> = all(sides).map(|it| machine(&it.manifest)).collect();
    let may_be_others = machines.len() > 1 || !hashes_are_alike(sides);
    let has_shield = rows.iter().any(|row| row.name == "shield");
    rows.retain(|row| match row.name.as_str() {
        LOAD => !loads_are_near(sides),
        // Of course: another machine was started at another time.
        "boot" => !may_be_others,
        "shield asked for" => !has_shield,
        _ => true,
    });
    rows.sort_by_key(|row| std::cmp::Reverse(row.weight));
    rows
}

/// Returns for each side whether a fact makes its numbers another thing than the base's.
pub(crate) fn invalid(sides: &[&[Head]]) -> Vec<bool> {
    let differs = |side: &&[Head]| {
        let mut gravest = FACTS.iter().filter(|(_, weight, _)| *weight == Weight::Invalid);
        gravest.any(|(.., of)| values(side, of) != values(sides[0], of))
    };
    sides.iter().map(differs).collect()
}

fn values(side: &[Head], of: impl Fn(&Manifest) -> String) -> BTreeSet<String> {
    side.iter().map(|it| of(&it.manifest)).collect()
}

fn row(
    name: &str,
    weight: Weight,
    sides: &[&[Head]],
    of: impl Fn(&Manifest) -> String,
) -> Option<FactRow> {
    let values: Vec<BTreeSet<String>> = sides.iter().map(|side| values(side, &of)).collect();
    let differs = values.iter().any(|value| *value != values[0]);
    let described = values.into_iter().map(|it| described(name, it.into_iter().collect()));
    differs.then(|| FactRow { name: name.to_string(), values: described.collect(), weight })
}

/// Returns what the sessions of one side say, each value once.
fn described(name: &str, mut values: Vec<String>) -> String {
    if name == LOAD {
        values.sort_by(|a, b| a.len().cmp(&b.len()).then(a.cmp(b)));
        if let [first, .., last] = values.as_slice() {
            return format!("{first} to {last}");
        }
    }
    listed(&values, VALUES_MAX, " / ")
}

/// Joins the first of some names, and says how many more there are.
fn listed<T: std::borrow::Borrow<str>>(names: &[T], most: usize, separator: &str) -> String {
    match names.split_at_checked(most) {
        Some((first, more @ [_, ..])) => {
            format!("{} and {} more", first.join(separator), more.len())
        }
        _ => names.join(separator),
    }
}

fn all<'a>(sides: &'a [&'a [Head]]) -> impl Iterator<Item = &'a Head> {
    sides.iter().copied().flatten()
}

fn loads_are_near(sides: &[&[Head]]) -> bool {
    let loads = || all(sides).map(|it| it.manifest.environment.load);
    let (low, high) = (loads().fold(f64::MAX, f64::min), loads().fold(f64::MIN, f64::max));
    high - low <= LOAD_APART
}

/// Returns what is good to know that does not differ.
pub(crate) fn alike(sides: &[&[Head]]) -> Vec<String> {
    let one = |of: fn(&Head) -> String| {
        let values: BTreeSet<String> = all(sides).map(of).collect();
        values.len() == 1 && values.iter().all(|value| !value.is_empty())
    };
    let machine = one(|it| it.manifest.environment.machine.clone());
    let boot = one(|it| it.manifest.environment.boot.clone());
    match (machine, boot) {
        (true, true) => vec![
            "All sides were measured on the same machine, and without a restart between them."
                .into(),
        ],
        (true, false) => vec!["All sides were measured on the same machine.".into()],
        _ if !hashes_are_alike(sides) => vec![
            "Whether the sides were measured on one machine is not known: some sessions lack the hash \
             that would show it, or have that of an earlier version."
                .into(),
        ],
        _ => Vec::new(),
    }
}

/// Returns what makes the whole comparison doubtful, the worst first.
pub(crate) fn warnings(answers: &Answers, comparison: &Comparison) -> Vec<String> {
    let sides = &answers.questions.sides;
    let mut warnings = same_sessions(sides);
    for row in comparison.facts.iter().filter(|row| row.weight == Weight::Invalid) {
        let values = row.values.join(" against ");
        warnings.push(format!(
            "{}: {values}. What was measured is not the same thing; no gate passes or fails on it",
            row.name
        ));
    }
    if comparison.experiments.iter().all(|it| it.refused.is_some()) {
        warnings.push("Nothing can be compared: see why for each experiment".into());
    }
    for (effect, side) in comparison.controls.iter().zip(sides.iter().skip(1)) {
        let ratio = effect.as_ref().filter(|it| it.differs).and_then(|it| it.ratio);
        warnings.extend(ratio.map(|ratio| {
            format!(
                "The same computation, which no treatment moves, took {} times as long in {}: other \
                 differences of that size may come from the machine alone",
                multiple(&ratio),
                side.name
            )
        }));
    }
    if comparison.controls.iter().any(Option::is_none) && !comparison.controls.is_empty() {
        warnings.push(
            "A side lacks the experiment null, the same computation on any machine: what the machine \
             itself changed is not known"
                .into(),
        );
    }
    for (side, own) in sides.iter().zip(&answers.sides) {
        warnings.extend(of_side(side, own));
    }
    warnings.extend(of_redacted(sides));
    warnings.extend(by_trials(sides, comparison));
    warnings
}

/// Returns a ratio that is not 1 with its interval, in as many digits as it takes to see that an end is
/// not 1: "1.000 [0.981, 1.000] times as long" would read as no difference.
fn multiple(ratio: &Estimate) -> String {
    let shown = |x: f64, digits: usize| format!("{x:.digits$}");
    let hides = |digits: &usize| {
        let ends = [ratio.low, ratio.high];
        ends.iter().any(|end| *end != 1.0 && shown(*end, *digits) == shown(1.0, *digits))
    };
    let digits = (3..9).find(|digits| !hides(digits)).unwrap_or(9);
    let [point, low, high] = [ratio.point, ratio.low, ratio.high].map(|x| shown(x, digits));
    format!("{point} [{low}, {high}]")
}

/// Names the sessions that stand on two sides, or twice on one: such a session is compared with itself.
fn same_sessions(sides: &[SideHeads]) -> Vec<String> {
    let (mut seen, mut twice) = (BTreeSet::new(), BTreeSet::new());
    for Head { manifest, .. } in sides.iter().flat_map(|side| &side.heads) {
        let machine = &manifest.environment.machine;
        if !seen.insert((&manifest.session, manifest.started_unix_ms, manifest.seed, machine)) {
            twice.insert(&manifest.session);
        }
    }
    let why = "what is compared with itself cannot differ, and what is counted twice looks more \
               certain than it is";
    let one = |name: &&String| format!("The session {name} stands here more than once: {why}");
    let mut described: Vec<String> = twice.iter().take(NAMES_MAX).map(one).collect();
    if let more @ 1.. = twice.len().saturating_sub(NAMES_MAX) {
        described.push(format!("So do {more} more sessions"));
    }
    described
}

/// Says what cannot be seen of programs that a redacted session does not name.
fn of_redacted(sides: &[SideHeads]) -> Option<String> {
    let nameless = |head: &Head| {
        head.manifest.redacted && head.designs.iter().any(|design| design.subject.is_some())
    };
    sides.iter().flat_map(|side| &side.heads).any(nameless).then(|| {
        "Sessions of programs are redacted: levels are compared by their number, and whether commands \
         and levels are the same on all sides is not known"
            .into()
    })
}

fn of_side(side: &SideHeads, own: &gathered::Side) -> Vec<String> {
    let mut warnings = Vec::new();
    let name = &side.name;
    let of = |count: usize| match side.heads.len() {
        1 => name.clone(),
        all => format!("{count} of {all} sessions of {name}"),
    };
    if own.distrusted > 0 {
        let chance = match side.heads.len() {
            1 => "",
            _ => "; by chance it happens in one session of twenty",
        };
        warnings.push(format!(
            "{}: identical treatments differ within the session{chance}",
            of(own.distrusted)
        ));
    }
    if own.unknown > 0 {
        warnings.push(format!("{}: it has no A/A control of its own", of(own.unknown)));
    }
    if own.incomplete > 0 {
        let of = of(own.incomplete);
        warnings.push(format!("{of}: not complete, some planned trials have no record"));
    }
    let alone: Vec<&[Head]> = side.heads.chunks(1).collect();
    let mixed: Vec<String> = facts(&alone)
        .into_iter()
        .filter(|row| row.weight != Weight::Nuisance || row.name == "shield")
        .map(|row| row.name)
        .collect();
    if !mixed.is_empty() {
        warnings.push(format!(
            "The sessions of {name} are not of one setting: {} differ among them",
            mixed.join(", ")
        ));
    }
    warnings
}

/// The most sides that are named in a sentence.
const NAMES_MAX: usize = 4;

/// Returns what intervals by trial do not hold.
fn by_trials(sides: &[SideHeads], comparison: &Comparison) -> Option<String> {
    let effects = comparison.experiments.iter().flat_map(|it| {
        let findings = it.findings.iter().flat_map(|it| &it.effects);
        findings.chain(it.rows.iter().flat_map(|it| &it.effects))
    });
    let intervals = effects.flatten().filter(|it| it.floor.is_some());
    let largest = intervals.clone().filter_map(|it| it.between).reduce(f64::max);
    if !intervals.clone().any(|it| it.unit_of_replication == Replication::Trials) {
        return None;
    }
    let single = sides.iter().filter(|it| it.heads.len() < 2).map(|side| side.name.as_str());
    let which = match single.collect::<Vec<&str>>().as_slice() {
        [] => "Some intervals come from trials, since only one session of a side gives the number"
            .into(),
        single => format!(
            "The intervals come from the trials of one session per side ({})",
            listed(single, NAMES_MAX, ", ")
        ),
    };
    if let Some(between) = largest {
        let between = 100.0 * between.exp_m1();
        return Some(format!(
            "{which}. What changes from session to session although nothing was changed is estimated \
             from the scatter of all findings: up to {between:.1} % (standard deviation), which \
             intervals and verdicts include. A number that changes more than others from session to \
             session may still differ by itself. Measure each side three times or more, put the \
             sessions of a side into one folder, and compare the folders"
        ));
    }
    Some(format!(
        "{which}. They leave out what changes from session to session although nothing was changed (where things lie in memory, the clock, \
         the host's other guests), so another session may not find small differences again. Measure each side three times or more, put the sessions of a side into one \
         folder, and compare the folders"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_that_is_not_1_does_not_read_as_1() {
        let described = |low: f64, point: f64, high: f64| {
            let estimate = Estimate { low, point, high, ..Estimate::exactly(point, 3) };
            multiple(&estimate)
        };
        assert_eq!(described(0.9812, 0.9871, 0.9931), "0.987 [0.981, 0.993]");
        assert_eq!(described(0.9812, 0.999_61, 0.999_93), "0.9996 [0.9812, 0.9999]");
        assert_eq!(described(1.000_2, 1.1, 1.2), "1.1000 [1.0002, 1.2000]");
        // Where there is nothing to see, it ends.
        assert_eq!(described(1.0, 1.0, 1.0), "1.000 [1.000, 1.000]");
        assert_eq!(described(1.0 - 1e-15, 1.0, 1.0), "1.000000000 [1.000000000, 1.000000000]");
    }

    #[test]
    fn of_many_values_some_are_told_and_all_are_looked_at() {
        let values = |count: usize, last: &str| {
            let own = (0..count).map(|n| format!("{n:04}"));
            own.chain([last.to_string()]).collect::<Vec<String>>()
        };
        assert_eq!(described("kernel", values(2, "x")), "0000 / 0001 / x");
        let many = described("kernel", values(1000, "x"));
        assert!(many.ends_with("0007 and 993 more") && many.len() < 100, "{many}");
        let loads = ["9.20", "10.50", "0.10"].map(String::from).to_vec();
        assert_eq!(described(LOAD, loads), "0.10 to 10.50");
    }
}
