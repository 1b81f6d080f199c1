//! A study's text becomes its design.

use crate::place::{Result, Source};
use crate::subject::millis;
use crate::table::Value;
use crate::{
    Around, claims, factors, figures, findings, is_word, measured, metrics, responses, scale,
    subject,
};
use ask::hint;
use ask::units;
use model::measures::{self, AGAIN, CPU, WALL};
use model::{Design, Factor, Grid, Metric, Needs, Profile, Quantity, Response, SCRATCH, Subject};

/// The keys of the file that speak of the experiment; the others stand in [`subject::KEYS`].
const KEYS: &str = "name question factors grids responses metrics figures claims precision";

/// How long a trial may take, if the file does not say.
const TIME_LIMIT_MS: u64 = 60_000;

/// How narrow the intervals are to be, if the file does not say: a program is noisier than a loop.
const PRECISION: f64 = 0.01;

/// Reads a study. `missing` is asked for a key that names what is not there (`command`, `folder`, `stdin`,
/// `prepare`, `cleanup`), and for what is to be said of it.
///
/// # Errors
/// The first thing that is wrong with it, with its place, and what would be right.
pub fn read(
    text: &str,
    around: &Around<'_>,
    missing: impl FnOnce(&Design) -> Option<(&'static str, String)>,
) -> Result<Design> {
    let source = Source { file: around.file, text };
    let table = source.parse()?;
    let top = Value::top(source, &table);
    top.known(&format!("{KEYS} {}", subject::KEYS))?;
    let mut subject = subject::read(&top, around)?;
    let own = top.read("factors", |value| factors::read(value, &mut subject))?.unwrap_or_default();
    let picked = top.read("metrics", metrics::read)?.unwrap_or_default();
    let (responses, front) = all_responses(&picked, top.get("responses").as_ref(), &top)?;
    subject.metrics = picked.into_iter().map(|(metric, _)| metric).collect();
    placeholders(&top, &subject, &own)?;
    let mut design = Design {
        id: id(&top, around)?,
        version: 1,
        chapter: "your own programs".into(),
        question: question(&top, &own, &subject)?,
        method: method(&subject),
        findings: findings::derive(&own, &responses[..front]),
        grids: grids(top.get("grids"), &own)?,
        factors: own,
        controls: scale::controls(),
        responses,
        needs: Needs { cpus: 1, ..Needs::default() },
        precision: precision(&top)?,
        time_limit_ms: time_limit(&top)?,
        ..Design::default()
    };
    design.claims = top.read("claims", |value| claims::read(value, &design))?.unwrap_or_default();
    tell_levels(&mut design.factors, &subject);
    design.factors.push(measures::again());
    design.subject = Some(subject);
    design.figures = figures::read(&top, &design)?;
    check(&top, &design)?;
    figures::check(&top, &design)?;
    only_what_is_measured(&top, &mut design)?;
    if let Some((key, what)) = missing(&design) { Err(top.error_at(key, what)) } else { Ok(design) }
}

/// What the grids leave out has no answer, and must not be claimed.
fn only_what_is_measured(top: &Value<'_>, design: &mut Design) -> Result<()> {
    let planned = design.treatments(Profile::Thorough);
    let own = design.clone();
    let is_measured = |quantity: &Quantity| quantity.is_planned(&own, &planned);
    design.findings.retain(|finding| is_measured(&finding.quantity));
    match design.claims.iter().find(|claim| !is_measured(&claim.quantity)) {
        None => Ok(()),
        Some(claim) => {
            let what = format!(
                "{:?} is about a treatment that no grid measures; add it to grids, or name \
                 another",
                claim.text
            );
            Err(top.error_at("claims", what))
        }
    }
}

/// What the design itself refuses, and what only a treatment completes.
fn check(top: &Value<'_>, design: &Design) -> Result<()> {
    design.check().map_err(|error| top.error(error.what))?;
    let Some(subject) = &design.subject else { return Ok(()) };
    for treatment in design.treatments(Profile::Thorough) {
        // Placeholders were looked at already.
        let filled = subject.filled(&treatment, "").unwrap_or_default();
        let limits = &filled.limits;
        for (key, text, fits, like) in [
            ("limits", &limits.address_space_bytes, is_size as fn(&str) -> bool, SIZE),
            ("limits", &limits.memory_bytes, is_size, SIZE),
            ("limits", &limits.cpus_quota, is_quota, "a number of CPUs above 0"),
            ("affinity", &filled.cpus, is_cpu_list, "a list of CPUs such as 0,2-3, or one, or all"),
            ("workers", &filled.workers, is_count, "a number of workers"),
        ] {
            if !text.is_empty() && !fits(text) {
                let what =
                    format!("{text:?} is not {like} (with {})", described(design, &treatment));
                return Err(top.error_at(key, what));
            }
        }
    }
    Ok(())
}

/// A limit on memory, for errors.
const SIZE: &str = "a size such as 512MiB";

fn is_size(text: &str) -> bool {
    measures::bytes(text).is_some()
}

fn is_quota(text: &str) -> bool {
    text.parse().is_ok_and(|cpus: f64| cpus.is_finite() && cpus > 0.0)
}

fn is_count(text: &str) -> bool {
    text.parse().is_ok_and(|count: u32| count > 0)
}

/// Describes a treatment by the user's factors.
fn described(design: &Design, treatment: &model::Treatment) -> String {
    let own = treatment.0.iter().filter(|(factor, _)| factor.as_str() != AGAIN);
    let levels: Vec<String> = own.map(|(factor, level)| format!("{factor} {level}")).collect();
    if levels.is_empty() { design.id.clone() } else { levels.join(", ") }
}

fn is_cpu_list(text: &str) -> bool {
    let number = |text: &str| text.trim().parse::<u32>().ok();
    let range = |part: &str| match part.split_once('-') {
        Some((low, high)) => matches!((number(low), number(high)), (Some(a), Some(b)) if a <= b),
        None => number(part).is_some(),
    };
    ["one", "all"].contains(&text) || text.split(',').all(range)
}

fn id(top: &Value<'_>, around: &Around<'_>) -> Result<String> {
    if let Some(value) = top.get("name") {
        let name = value.text("a name")?;
        if !is_word(&name) || name.len() > model::NAME_BYTES_MAX {
            return Err(value.error("a study's name must be a word of a-z, 0-9 and _"));
        }
        return Ok(name);
    }
    let stem = around.stem.to_ascii_lowercase();
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let stem: String = stem.chars().map(|c| if fits(c) { c } else { '_' }).collect();
    let stem: String = stem.trim_matches('_').chars().take(64).collect();
    Ok(if stem.is_empty() { "study".into() } else { stem })
}

fn question(top: &Value<'_>, own: &[Factor], subject: &Subject) -> Result<String> {
    if let Some(value) = top.get("question") {
        let question = value.text("a question")?;
        let question = question.trim();
        return Ok(if question.ends_with('?') { question.into() } else { format!("{question}?") });
    }
    let program = model::program(&subject.command).rsplit('/').next().unwrap_or_default();
    let names: Vec<&str> = own.iter().map(|factor| factor.name.as_str()).collect();
    Ok(match names.as_slice() {
        [] => format!("What does {program} cost?"),
        [one] => format!("What does {one} change?"),
        [first @ .., last] => format!("What do {} and {last} change?", first.join(", ")),
    })
}

fn method(subject: &Subject) -> String {
    let how = if subject.shell { "by /bin/sh" } else { "without a shell" };
    let prepared = match (subject.prepare.is_empty(), subject.cleanup.is_empty()) {
        (true, true) => "",
        (false, true) => " What prepares it runs before and is not timed.",
        (true, false) => " What cleans up after it runs later and is not timed.",
        (false, false) => " What prepares it and what cleans up after it are not timed.",
    };
    format!(
        "Each trial starts the command once, {how}, and waits until it has ended. It is timed from \
         just before its start to its end; what it used is what the kernel accounted to it and to \
         all that came of it, whether or not the command waited for them. The program itself is \
         not changed and knows nothing of it.{prepared} The baseline is measured twice in each \
         block under two names: how much the two differ is how far this command can be trusted \
         here."
    )
}

/// Says of each level what it puts into the command, where the file says nothing of it.
fn tell_levels(factors: &mut [Factor], subject: &Subject) {
    for factor in factors {
        let (words, lists) = (subject.words.get(&factor.name), subject.lists.get(&factor.name));
        for level in factor.levels.iter_mut().filter(|level| level.about.is_empty()) {
            let word = words.and_then(|words| words.get(&level.name));
            level.about = match lists.and_then(|lists| lists.get(&level.name)) {
                Some(list) if list.is_empty() => format!("{{{}}} is left out", factor.name),
                Some(list) => format!("{{{}}} is {}", factor.name, shell_words::join(list)),
                None => format!("{{{}}} is {}", factor.name, word.unwrap_or(&level.name)),
            };
        }
    }
}

fn all_responses(
    picked: &[(Metric, Response)],
    asked: Option<&Value<'_>>,
    top: &Value<'_>,
) -> Result<(Vec<Response>, usize)> {
    let mut all = measured()?;
    // A program that keeps one CPU busy is known by its CPU time where others use the CPU as well.
    let elapsed = all.iter_mut().filter(|response| response.name == WALL);
    elapsed.for_each(|response| response.cpu_twin = Some(CPU.into()));
    for (_, response) in picked {
        if all.iter().any(|known| known.name == response.name) {
            let what =
                format!("{} is measured already; give the metric another name", response.name);
            return Err(top.needed("metrics")?.error_at_name(what));
        }
        all.push(response.clone());
    }
    responses::ordered(all, picked.len(), asked)
}

/// Every placeholder has a factor; every factor a placeholder; and where one stands for several
/// arguments, it is a whole argument.
fn placeholders(top: &Value<'_>, subject: &Subject, factors: &[Factor]) -> Result<()> {
    let known = |name: &str| name == SCRATCH || factors.iter().any(|it| it.name == name);
    let of_subject = |entry: &Value<'_>| subject::KEYS.split(' ').any(|key| key == entry.name);
    for entry in top.entries().into_iter().filter(of_subject) {
        let own = Subject { command: entry.texts(), ..Subject::default() };
        if let Some(name) = own.placeholders().find(|name| !known(name)) {
            let names = factors.iter().map(|factor| factor.name.as_str());
            let hint = match factors.len() {
                0 => "the study has no factor".to_string(),
                _ => hint(name, names),
            };
            return Err(entry.error(format!("{{{name}}} is no factor of the study; {hint}")));
        }
        let arguments = ["command", "prepare", "cleanup"].contains(&entry.name.as_str());
        for factor in subject.lists.keys() {
            let placeholder = format!("{{{factor}}}");
            let whole = |text: &str| arguments && !subject.shell && text == placeholder;
            if own.texts().any(|text| text.contains(&placeholder) && !whole(text)) {
                let what = format!(
                    "{placeholder} stands for a list of arguments, so it must be an argument of \
                     its own"
                );
                return Err(entry.error(what));
            }
        }
    }
    let used: Vec<&str> = subject.placeholders().collect();
    match factors.iter().find(|factor| !used.contains(&factor.name.as_str())) {
        None => Ok(()),
        Some(Factor { name, .. }) => {
            let idle = top.needed("factors")?.needed(name)?;
            Err(idle.error_at_name(format!(
                "{{{name}}} stands nowhere, so all its levels would be the same; put it into \
                 the command, or leave the factor out"
            )))
        }
    }
}

/// Which factors are crossed: all, where the file does not say; and the control.
fn grids(value: Option<Value<'_>>, factors: &[Factor]) -> Result<Vec<Grid>> {
    let like =
        "a list of lists of factors that are crossed, such as [[\"model\", \"n\"], [\"size\"]]";
    let mut grids = Vec::new();
    for item in value.as_ref().map_or(Ok(Vec::new()), |value| value.list(like))? {
        let mut vary: Vec<(String, Vec<String>)> = Vec::new();
        if item.is_table() {
            for entry in item.table(like)?.entries() {
                let known = factors::find(factors, &entry.name, |what| entry.error_at_name(what))?;
                let levels = entry.list("a list of levels")?;
                let levels = levels.iter().map(|level| factors::level_of(known, level));
                vary.push((entry.name.clone(), levels.collect::<Result<_, _>>()?));
            }
        } else {
            for name in item.list(like)? {
                let known =
                    factors::find(factors, &name.text("a factor")?, |what| name.error(what))?;
                vary.push((known.name.clone(), Vec::new()));
            }
        }
        grids.push(vary);
    }
    if value.is_none() && !factors.is_empty() {
        grids.push(factors.iter().map(|it| (it.name.clone(), Vec::new())).collect());
    }
    grids.push(vec![(AGAIN.to_string(), Vec::new())]);
    Ok(grids.into_iter().map(|vary| Grid { from: Profile::Smoke, vary }).collect())
}

/// The part of a difference that half an interval may be, for the difference to be decided in most
/// sessions: the other part is the scatter of the point.
const OF_A_DIFFERENCE: f64 = 1.5;

/// Sets how precise the first answers of a study are to be, so that a difference of that share is
/// decided where there is one.
///
/// # Errors
/// The share is not from 0.1 % to 100 %; says how it is written.
pub fn detect(design: &mut Design, difference: &str) -> Result<(), String> {
    let share = precise(difference).ok_or_else(|| {
        format!("{difference:?} is not a percentage from 0.1% to 100%; write it like 2%")
    })?;
    design.precision = share / OF_A_DIFFERENCE;
    Ok(())
}

/// Returns a share that intervals can be as narrow as.
fn precise(text: &str) -> Option<f64> {
    units::share(text).filter(|share| (0.001..=1.0).contains(share))
}

fn precision(top: &Value<'_>) -> Result<f64> {
    let share = |value: &Value<'_>| {
        let share = precise(&value.text("a share such as \"2%\"")?);
        share.ok_or_else(|| value.error("expected a share from \"0.1%\" to \"100%\""))
    };
    Ok(top.read("precision", share)?.unwrap_or(PRECISION))
}

fn time_limit(top: &Value<'_>) -> Result<u64> {
    let Some(value) = top.get("time_limit") else { return Ok(TIME_LIMIT_MS) };
    match millis(&value, "a time such as \"30s\"")? {
        0 => Err(value.error("no trial can be over in no time; write it as \"30s\"")),
        ms => Ok(ms.into()),
    }
}
