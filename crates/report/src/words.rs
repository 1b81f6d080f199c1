//! The words that terminal and page share: verdicts, regions, quantities, dates, commands.

use model::{
    Caches, Cell, ClaimResult, Design, Factor, Inquiry, Lies, Likeness, Lost, Manifest, Outcome,
    ProgramFile, Quantity, Record, Region, Response, Term, Treatment, Unit, Verdict,
};
use wording::number::{self, Terms};
use wording::{command_line, counted, quoted, short};

mod shown;
#[cfg(test)]
mod tests;

pub(crate) use shown::Shown;

/// The most characters of a treatment's name in a table or chart.
pub(crate) const LABEL_CHARACTERS_MAX: usize = 300;

/// The most characters of a cell in a sentence: a bound for names from outside, beyond any of the catalog.
const CELL_CHARACTERS_MAX: usize = 600;

/// The mark of a verdict. It never stands without its word.
pub(crate) fn mark(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Supported => "✓",
        Verdict::Refuted => "✗",
        Verdict::Inconclusive => "?",
    }
}

/// The word of a verdict.
pub(crate) fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Supported => "supported",
        Verdict::Refuted => "refuted",
        Verdict::Inconclusive => "inconclusive",
    }
}

/// Returns a claim's verdict with the region that it was tested against: "Refuted (claimed: ≥ 2×)",
/// "Inconclusive, points to true (claimed: ≤ 5 %)".
pub(crate) fn judged(claim: &ClaimResult, design: &Design) -> String {
    let points = match claim.open.and_then(|open| open.leans) {
        Some(Verdict::Supported) => ", points to true",
        Some(Verdict::Refuted) => ", points to false",
        _ => "",
    };
    let region = region_of(claim, design);
    format!("{}{points} (claimed: {region})", wording::capital(verdict(claim.verdict)))
}

/// Returns where a claim's number must lie, as the claim reads it.
pub(crate) fn region_of(claim: &ClaimResult, design: &Design) -> String {
    let shown = Shown::of(design, &claim.id, number::terms(&claim.result));
    shown.region(&claim.result.quantity, claim.holds_if)
}

/// Returns how far apart the sides of a ratio are, where its interval does not lie beyond the region in
/// which they are alike: "more, by less than 5 %"; `None` elsewhere.
pub(crate) fn apart(likeness: Likeness, above: bool) -> Option<String> {
    let margin = number::share(likeness.alike.high? - 1.0);
    let more = if above { "more" } else { "less" };
    match likeness.lies {
        Lies::Above | Lies::Below => None,
        Lies::Upwards | Lies::Downwards => Some(format!("{more}, {margin} not decided")),
        Lies::Slight => Some(format!("{more}, by less than {margin}")),
        Lies::Alike => Some(format!("less than {margin} apart")),
        Lies::Open => Some("more or less is open".into()),
    }
}

/// Returns what trials that one side lost mean for a number.
pub(crate) fn lost(lost: &Lost) -> String {
    let how = match lost.timed_out {
        n if n == lost.trials => "timed out",
        _ => "gave no number",
    };
    let (at, own) = (cell(&lost.at), number::count(lost.trials.into()));
    let other = if lost.other_trials == 0 { "none".into() } else { lost.other_trials.to_string() };
    format!(
        "{own} of {} trials of {at} {how}, and {other} of {} of the other side: if these were its slow \
         ones, {at} takes more than shown",
        number::count(lost.of.into()),
        number::count(lost.other_of.into())
    )
}

/// Returns where a claim's number must lie. Of something that is counted whole, a region ends between two
/// counts, so that none lies on its edge, and its words name the counts in it: "≥ 5" for 4.5 and more.
pub(crate) fn claimed(
    quantity: &Quantity,
    holds_if: Region,
    terms: Terms<'_>,
    design: &Design,
) -> String {
    let is_rate = design.is_frequency(quantity.response());
    let is_between = |end: f64| end.rem_euclid(1.0) == 0.5;
    let ends = [holds_if.low, holds_if.high];
    let is_whole = matches!(terms, Terms::In(Unit::Count | Unit::Bytes));
    if !is_whole || is_rate || !ends.into_iter().flatten().all(is_between) {
        return region(holds_if, terms);
    }
    let whole = |end: f64| number::limit(end, terms);
    match ends.map(|end| end.unwrap_or_default()) {
        [low, high] if holds_if.low.is_none() => match high.floor() {
            0.0 => "none".into(),
            most => format!("≤ {}", whole(most.max(low))),
        },
        [low, _] if holds_if.high.is_none() => format!("≥ {}", whole(low.ceil())),
        [low, high] if low.ceil() == high.floor() => whole(low.ceil()),
        [low, high] => format!("{} to {}", whole(low.ceil()), whole(high.floor())),
    }
}

/// Where a number must lie, in its own terms: "2.0× to 3.0×", "≥ 15×".
pub(crate) fn region(region: Region, terms: Terms<'_>) -> String {
    let end = |x: f64| number::limit(x, terms);
    match (region.low, region.high) {
        (Some(low), Some(high)) if low == high => end(low),
        (Some(low), Some(high)) => format!("{} to {}", end(low), end(high)),
        (Some(low), None) => format!("≥ {}", end(low)),
        (None, Some(high)) => format!("≤ {}", end(high)),
        (None, None) => "anywhere".into(),
    }
}

/// What a value of a response is that has a frequency over all trials: another number.
const MEDIAN_RATE: &str = "median of the blocks' rates";

/// What a quantity is, in words: "time to create: mechanism fork ÷ mechanism pthread".
pub(crate) fn quantity(quantity: &Quantity, design: &Design) -> String {
    use Quantity as Q;
    let name = name(design, quantity.response());
    match quantity {
        Q::Value { response, at } if design.is_frequency(response) => {
            format!("{MEDIAN_RATE}: {name}{}", at_cell(at))
        }
        Q::Value { at, .. } => format!("{name}{}", at_cell(at)),
        Q::Ratio { of, to, .. } => format!("{name}: {} ÷ {}", cell(of), cell(to)),
        Q::Quotient { by, at, .. } => {
            format!("{name} ÷ {}{}", self::name(design, by), at_cell(at))
        }
        Q::Difference { of, to, .. } => format!("{name}: {} − {}", cell(of), cell(to)),
        Q::Share { whole, without, base, .. } => format!(
            "{name}: share of the gap from {} to {} that is gone with {}",
            cell(whole),
            cell(base),
            cell(without)
        ),
        Q::Exponent { over, at, .. } => {
            format!("exponent b of {name} ∝ {}ᵇ{}", plain(over), at_cell(at))
        }
        Q::Linearity { over, at, .. } => {
            format!("R² of a straight line of {name} over {}{}", plain(over), at_cell(at))
        }
        Q::Proportion { over, lower, upper, at, .. } => format!(
            "{name} at {over} {upper}, as a multiple of what proportion to {over} {lower} predicts{}",
            at_cell(at),
            over = plain(over)
        ),
        Q::Frequency { among, .. } => format!("how often: {name}{}", at_cell(among)),
    }
}

/// Returns what a quantity compares, by the levels that differ alone: "fork ÷ pthread".
pub(crate) fn direction(quantity: &Quantity, design: &Design) -> String {
    use Quantity as Q;
    let whole: Vec<Treatment> = quantity.cells().into_iter().map(|c| design.complete(c)).collect();
    let differs = |factor: &model::Factor| {
        whole.iter().any(|one| one.level(&factor.name) != whole[0].level(&factor.name))
    };
    let differing = design.factors.iter().filter(|factor| differs(factor));
    let differing: Vec<String> = differing.map(|factor| factor.name.clone()).collect();
    let named = |cell| treatment(design, &design.complete(cell), &differing);
    match quantity {
        Q::Ratio { of, to, .. } => format!("{} ÷ {}", named(of), named(to)),
        Q::Difference { of, to, .. } => format!("{} − {}", named(of), named(to)),
        Q::Share { whole, without, base, .. } => format!(
            "share of the gap from {} to {} that is gone with {}:",
            named(whole),
            named(base),
            named(without)
        ),
        other => format!("{}:", self::quantity(other, design)),
    }
}

/// What a response is called; one that the design lacks by its name.
fn name(design: &Design, response: &str) -> String {
    design.response(response).map_or_else(|| plain(response), label)
}

/// A number of an account, in words: "0.5", "time of a call, at mechanism fork".
pub(crate) fn term(term: &Term, design: &Design) -> String {
    match term {
        Term::Known { value } => number::rounded(*value, Terms::Plain),
        Term::Measured { response, at } => format!("{}{}", name(design, response), at_cell(at)),
        Term::Difference { response, of, to } => {
            format!("({}: {} − {})", name(design, response), cell(of), cell(to))
        }
    }
}

/// A cell in words: "mechanism fork, memory 64"; the baseline if it names nothing.
pub(crate) fn cell(cell: &Cell) -> String {
    if cell.0.is_empty() {
        return "the baseline".into();
    }
    let pairs = cell.0.iter().map(|(factor, level)| format!("{} {}", plain(factor), plain(level)));
    short(&pairs.collect::<Vec<_>>().join(", "), CELL_CHARACTERS_MAX)
}

/// ", at mechanism fork"; empty if the cell names nothing.
pub(crate) fn at_cell(at: &Cell) -> String {
    if at.0.is_empty() { String::new() } else { format!(", at {}", cell(at)) }
}

/// What a response is called, bounded.
pub(crate) fn label(response: &Response) -> String {
    short(&response.label, LABEL_CHARACTERS_MAX)
}

/// A name with its underscores as spaces, cleaned and bounded.
pub(crate) fn plain(name: &str) -> String {
    short(&name.replace('_', " "), LABEL_CHARACTERS_MAX)
}

/// A treatment in the words of the factors that vary: "fork · memory 64". A level that begins
/// with a digit is meaningless without its factor's name.
pub(crate) fn treatment(design: &Design, treatment: &Treatment, varying: &[String]) -> String {
    let repetition = design.repetition();
    let known = design.factors.iter().filter(|factor| varying.contains(&factor.name));
    let known = known.filter(|factor| repetition.is_none_or(|again| again.name != factor.name));
    let words = known.filter_map(|it| Some(level_of(it, treatment.level(&it.name)?)));
    let mut words: Vec<String> = words.collect();
    if repetition.is_some() && words.is_empty() {
        words.push("the command".into());
    }
    if design.repeats(treatment) {
        words.push("again".into());
    }
    let text = if words.is_empty() { "all trials".to_string() } else { words.join(" · ") };
    short(&text, LABEL_CHARACTERS_MAX)
}

/// Where a treatment stands in a table: by the order in which the design names its levels.
pub(crate) fn place(design: &Design, treatment: &Treatment) -> Vec<usize> {
    place_among(&design.factors, treatment)
}

/// Does the same by some factors alone.
pub(crate) fn place_among<'f>(
    factors: impl IntoIterator<Item = &'f model::Factor>,
    treatment: &Treatment,
) -> Vec<usize> {
    let index = |factor: &model::Factor| {
        let level = treatment.level(&factor.name);
        let found = factor.levels.iter().position(|known| Some(known.name.as_str()) == level);
        found.unwrap_or(factor.levels.len())
    };
    factors.into_iter().map(index).collect()
}

/// The factors that have more than one level among some trials: what tells treatments apart.
pub(crate) fn varying(design: &Design, records: &[&Record]) -> Vec<String> {
    let varies = |name: &str| {
        let mut levels = records.iter().filter_map(|record| record.treatment.level(name));
        let first = levels.next();
        levels.any(|level| Some(level) != first)
    };
    let factors = design.factors.iter().map(|factor| &factor.name);
    factors.filter(|name| varies(name)).cloned().collect()
}

/// A level in words: its own name, or "count 4" where the name alone says nothing.
pub(crate) fn level(factor: &str, level: &str) -> String {
    let vague = ["yes", "no", "on", "off", "none", "true", "false"].contains(&level);
    if vague || level.starts_with(|c: char| c.is_ascii_digit()) {
        format!("{} {}", plain(factor), plain(level))
    } else {
        plain(level)
    }
}

/// Returns what a factor is called.
pub(crate) fn factor(factor: &Factor) -> String {
    plain(if factor.label.is_empty() { &factor.name } else { &factor.label })
}

/// Returns what a level of a factor is called: as it is declared, or else its own name.
pub(crate) fn level_of(factor: &Factor, name: &str) -> String {
    match factor.level(name).map(|level| level.label.as_str()) {
        Some(label) if !label.is_empty() => short(label, LABEL_CHARACTERS_MAX),
        _ => level(&self::factor(factor), name),
    }
}

/// Returns the address of an experiment on a page.
pub(crate) fn anchor(id: &str) -> String {
    format!("experiment-{}", short(id, 64))
}

/// The letter of a side of a comparison: A is the base. After Z comes AA.
pub(crate) fn letter(side: usize) -> String {
    let digit = char::from(b'A' + (side % 26) as u8);
    match side / 26 {
        0 => digit.to_string(),
        more => format!("{}{digit}", letter(more - 1)),
    }
}

/// How a trial ended, in words, where that needs saying.
pub(crate) fn outcome(outcome: &Outcome) -> String {
    let (word, reason) = analysis::outcome_words(outcome);
    let word = plain(word);
    match outcome {
        Outcome::Completed { leaked: 0 } => word,
        Outcome::Completed { leaked } => format!("{word}, leaving {leaked} processes behind"),
        Outcome::Died { .. } => format!("{word} of {reason}"),
        Outcome::TimedOut { .. } | Outcome::OutOfMemory { .. } => format!("{word} {reason}"),
        _ => format!("{word}: {reason}"),
    }
}

/// Returns how many were left out where at most `most` are shown: "3 more facts"; `None` where none was.
pub(crate) fn left_out(all: usize, most: usize, noun: &str) -> Option<String> {
    (all > most).then(|| counted((all - most) as u64, noun))
}

/// How long a quick study measures at most, if nobody says otherwise, in seconds.
const STUDY_QUICK_S: f64 = 30.0;

/// The command that repeats some experiments of a session, or all of them: same seed, same
/// profile, and the options that were not left at their defaults.
pub(crate) fn repeat_command(manifest: &Manifest, experiments: &[String]) -> String {
    let options = &manifest.options;
    let mut own = manifest.designs.iter().filter(|design| experiments.contains(&design.id));
    if let Some(design) = own.find(|design| !design.programs.is_empty()) {
        return sweep_command(&design.programs);
    }
    let command = match options.inquiry {
        Some(inquiry) => inquiry.command(),
        None if options.selftest => "selftest",
        None => "run",
    };
    let what = match (options.inquiry, &options.study) {
        (Some(Inquiry::Study), Some(file)) => quoted(file),
        // The session holds all that its file said.
        (Some(Inquiry::Study), None) => format!("--from {}", quoted(&manifest.session)),
        // A preset is measured as a whole.
        _ => match &options.preset {
            Some(preset) => quoted(&preset.name),
            None => command_line(experiments),
        },
    };
    let mut words = vec!["scruple".to_string(), command.to_string()];
    words.extend(Some(what).filter(|what| !what.is_empty()));
    let cpus: Vec<_> = options.cpus.iter().map(u32::to_string).collect();
    let usual_s = options.profile.budget_s() as f64;
    // A study's own time is that of its command, unless somebody asked for another.
    let is_usual = |s: &f64| match options.inquiry {
        Some(Inquiry::Study) => *s == usual_s || *s == STUDY_QUICK_S,
        _ => *s == usual_s,
    };
    let budget_s = options.time_budget_s.filter(|s| options.selftest || !is_usual(s));
    let stated = [
        Some(format!("--seed {}", manifest.seed)),
        Some(format!("--profile {}", options.profile.name())),
        options.blocks.map(|blocks| format!("--runs {blocks}")),
        (!cpus.is_empty()).then(|| format!("--affinity {}", cpus.join(","))),
        budget_s.map(|budget_s| format!("--time-budget {budget_s}s")),
        (!options.shield).then(|| "--no-shield".to_string()),
    ];
    words.extend(stated.into_iter().flatten());
    words.join(" ")
}

/// Returns the command that runs programs before their caches again.
fn sweep_command(programs: &[ProgramFile]) -> String {
    let mut words = vec!["scruple core".to_string()];
    words.extend(programs.iter().map(|program| quoted(&program.path)));
    // All programs of a session have the same limits and caches.
    if let Some(ProgramFile { instructions_max, stack_bytes, memory, caches, .. }) =
        programs.first()
    {
        words.push(format!("--instructions {instructions_max}"));
        words.extend(stack_bytes.map(|bytes| format!("--stack {bytes}")));
        words.extend(memory.map(|range| format!("--memory {range}")));
        words.push("--sweep".into());
        words.extend(caches.as_ref().map(choice));
    }
    words.join(" ")
}

/// Returns the words that choose some caches.
fn choice(caches: &Caches) -> String {
    let Caches { bytes, line_bytes, ways, policies, cycles } = caches;
    let list = |all: &[u32]| all.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    let ways = ways.iter().map(|ways| match ways {
        0 => "full".to_owned(),
        ways => ways.to_string(),
    });
    let policies: Vec<&str> = policies.iter().map(|policy| policy.name()).collect();
    format!(
        "size={} line={} ways={} policy={}{}",
        list(bytes),
        list(line_bytes),
        ways.collect::<Vec<_>>().join(","),
        policies.join(","),
        if *cycles { "" } else { " cycles=off" }
    )
}

/// Returns a finding's sentence whose number stands elsewhere, or nowhere: "A pipe takes N.", "CPU use".
pub(crate) fn without_number(sentence: &str) -> String {
    let name = sentence.strip_suffix(": {}.").map(str::to_string);
    name.unwrap_or_else(|| sentence.replace("{}", "N"))
}

/// Trials that span less than this, in milliseconds, may all lie within one mode of their host.
const MINUTE_MS: u64 = 60_000;

/// Returns within which time some trials lie, where it is less than a minute: hosts keep a placement of CPUs for
/// tens of seconds, and no interval within one placement shows another.
pub(crate) fn within<'r>(records: impl Iterator<Item = &'r Record>) -> Option<String> {
    let (first, last) = records.map(|record| record.started_unix_ms).fold(None, |ends, ms| {
        let (first, last) = ends.unwrap_or((ms, ms));
        Some((ms.min(first), ms.max(last)))
    })?;
    let span_ms = last.saturating_sub(first);
    (span_ms < MINUTE_MS).then(|| number::duration_s(span_ms.div_ceil(1000).max(1)))
}
