//! How a program scales with the number of its workers.

use super::conditions;
use crate::Session;
use crate::chart::{self, Stack, Workers};
use crate::doc::{Block, Column, Doc, Figure, Role, Span, Table, Text, Tone};
use crate::text::Letters;
use analysis::scaling::{ScaleInput, cause_words, loss_words, standing_words, waited_for};
use model::{
    Estimate, Inquiry, Manifest, Record, ScaleAccount, ScaleCurve, ScaleFit, ScaleLevel, ScaleLoss,
    Scaling,
};
use wording::number::{Terms, estimate, or_dash, rounded};
use wording::{capital, short};

/// Returns what a session of `scruple scale` says, computed from its trials; none for a session of
/// another kind. `scruple` is the version that analyses.
pub fn scaling(manifest: &Manifest, records: &[Record], scruple: &str) -> Option<Scaling> {
    if manifest.options.inquiry != Some(Inquiry::Scale) {
        return None;
    }
    let design = manifest.designs.iter().find(|design| design.subject.is_some())?;
    let own = records.iter().filter(|record| record.experiment == design.id);
    let cpus = match manifest.options.cpus.len() {
        0 => manifest.environment.cpus_allowed.len(),
        some => some,
    };
    let input = ScaleInput::of_session(scruple, &manifest.session, cpus, design, own);
    Some(analysis::scaling::scaling(&input))
}

/// Returns how a program scales: the conditions of the session if there is one, the answer, what to do, throughput
/// over n as a chart, where the workers' time went, the causes, the laws. What others wrote is made harmless.
pub fn scaling_answer<'a>(scaling: &'a Scaling, session: Option<&Session<'_>>) -> Doc<'a> {
    let mut doc = Doc::new(&scaling.scruple, "how a program scales", scaling.source.clone());
    doc.push(Block::paragraph(Role::Lead, short(&scaling.source, 400)));
    if let Some(session) = session {
        doc.blocks.extend(conditions::conditions(session));
    }
    doc.blocks.extend(blocks(scaling));
    doc
}

/// Returns the answer, what to do, throughput over n, what became of the workers' time, why it does not
/// scale further, and the laws.
pub(crate) fn blocks(scaling: &Scaling) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    for (index, sentence) in scaling.answer.iter().enumerate() {
        let role = if index == 0 { Role::Answer } else { Role::Further };
        blocks.push(Block::paragraph(role, short(sentence, 1000)));
    }
    let sentences = scaling.advice.sentences.iter().map(|text| short(text, 1000));
    blocks.extend([Block::heading(3, "What to do"), Block::list(sentences)]);
    let remarks = scaling.remarks.iter().map(|text| short(text, 1000));
    blocks.extend(remarks.map(|text| Block::note(Tone::Care, text)));
    blocks.push(Block::heading(3, "Throughput over n"));
    let title = format!("Work by elapsed time, in {}", short(&scaling.work.unit, 24));
    blocks.extend(curve(scaling, &scaling.throughput, title, |level| level.throughput, THROUGHPUT));
    if let Some(cpu) = &scaling.cpu_throughput {
        let title = "Work by CPU second: what it costs".to_string();
        blocks.extend(curve(scaling, cpu, title, |level| level.cpu_throughput, "cpu-throughput"));
    }
    blocks.extend(workers(scaling));
    blocks.push(Block::heading(3, "Why it does not scale further"));
    for cause in &scaling.causes {
        let name = Text::strong(capital(cause_words(cause.cause)));
        let text = name.then(Text::quiet(format!(" ({})", standing_words(cause.standing))));
        let evidence = cause.evidence.iter().map(|text| short(text, 1000));
        let sentence = format!("{}.", short(&cause.sentence, 1000));
        blocks.extend([Block::plain(text), Block::plain(sentence), Block::list(evidence)]);
    }
    blocks.push(Block::heading(3, "The laws"));
    blocks.extend(laws(&scaling.throughput, "Fitted to throughput"));
    if let Some(cpu) = &scaling.cpu_throughput {
        blocks.extend(laws(cpu, "Fitted to work by CPU second"));
    }
    blocks.push(definitions(scaling));
    let others = "scruple waits -- COMMAND shows each thread with what it waits for; scruple why -- COMMAND takes one \
                  resource at a time from it.";
    blocks.push(Block::small(others));
    blocks
}

/// The address of the chart of throughput, whose table has the speedup.
const THROUGHPUT: &str = "throughput";

/// Returns the chart of one throughput, with the numbers behind it.
fn curve(
    scaling: &Scaling,
    curve: &ScaleCurve,
    title: String,
    of: fn(&ScaleLevel) -> Option<Estimate>,
    place: &'static str,
) -> Option<Block<'static>> {
    let drawn = chart::throughput(scaling, curve, of, title)?;
    let end = if scaling.cpus.is_some() { " Where n exceeds the CPUs is marked." } else { "" };
    let line = match curve.chosen {
        Some(_) => "; the line (a dot in a terminal) is the chosen law",
        None => "",
    };
    let caption = format!(
        "Each mark is the mean of the trials at one n, with its 95 % interval{line}. {}.{end}",
        capital(&curve.peak.sentence)
    );
    let letters = Some(Letters::Unicode);
    let mut figure = chart::shown(drawn, place.into(), letters, vec![caption.into()]);
    if let Some(numbers) = figure.numbers.as_mut().filter(|_| place == THROUGHPUT) {
        let measured = scaling.levels.iter().filter(|level| of(level).is_some());
        let speedups =
            measured.map(|level| or_dash(level.speedup, |it| estimate(&it, Terms::Plain)));
        numbers.columns.insert(1, Column { head: "times one worker".into(), number: true });
        for (row, speedup) in numbers.rows.iter_mut().zip(speedups) {
            row.cells.insert(1, speedup.into());
        }
    }
    Some(Block::Figure(figure))
}

/// The parts of the workers' time in the order in which they are laid end to end, each with its meaning for
/// those who see its name for the first time.
const PARTS: [(ScaleLoss, &str); 7] = [
    (ScaleLoss::Useful, "the CPU time that one worker needed for the same work"),
    (ScaleLoss::MoreCpu, "CPU time beyond that; below 0 where n workers need less"),
    (ScaleLoss::Throttled, "ready to run, but held back by a CPU quota"),
    (ScaleLoss::Waiting, "ready to run, but no CPU was free"),
    (ScaleLoss::Blocked, "a worker was there, and slept: for a lock, for I/O, for work"),
    (ScaleLoss::Absent, "fewer threads were there than n"),
    (ScaleLoss::OffCpu, "on no CPU; too short-lived to tell waiting from sleeping"),
];

/// Returns the share of a part, with its interval.
fn share(account: &ScaleAccount, into: ScaleLoss) -> Option<Estimate> {
    account.parts.iter().find(|part| part.into == into).map(|part| part.share)
}

/// Returns what became of the workers' time.
fn workers(scaling: &Scaling) -> Vec<Block<'_>> {
    let levels = scaling.levels.iter();
    let known: Vec<(f64, &ScaleAccount)> =
        levels.filter_map(|level| Some((level.n, level.account.as_ref()?))).collect();
    // A part that is nothing anywhere needs no line.
    let matters = |(into, _): &(ScaleLoss, &str)| {
        known.iter().any(|(_, of)| share(of, *into).is_some_and(|it| it.point.abs() >= 0.005))
    };
    let (present, meanings): (Vec<ScaleLoss>, Vec<&str>) =
        PARTS.into_iter().filter(matters).unzip();
    if present.is_empty() {
        return Vec::new();
    }
    let mut caption = vec![Text::from(
        "Each bar is n times the elapsed time, which is 100 %: the mean of the trials.",
    )];
    caption.extend(present.iter().zip(meanings).enumerate().map(|(index, (into, meaning))| {
        let (key, name) = (Text(vec![Span::Key(index)]), Text::strong(capital(loss_words(*into))));
        Text::filled(&format!("{{}} {{}}: {meaning}."), [key, name])
    }));
    let drawn = Workers {
        parts: present.iter().map(|into| loss_words(*into)).collect(),
        bars: known.iter().map(|(n, account)| (*n, bar(account, &present))).collect(),
    };
    let columns = present.iter().chain([&ScaleLoss::Rest]).copied();
    let heads = columns.clone().map(|into| format!("#{}", loss_words(into)));
    let heads: Vec<String> = std::iter::once("n".into()).chain(heads).collect();
    let numbers = Table::of(&heads).rows(known.iter().map(|(n, account)| {
        let cell = |into| or_dash(share(account, into), |it| estimate(&it, Terms::Share));
        [n.to_string()].into_iter().chain(columns.clone().map(cell))
    }));
    let figure = Figure::new("Where the time of n workers went", drawn, caption);
    let figure = Block::Figure(Figure { numbers: Some(numbers), ..figure });
    vec![Block::heading(3, "What became of the workers' time"), figure]
        .into_iter()
        .chain(waits(&known, scaling.causes.first().map(|cause| cause.at)))
        .collect()
}

/// Returns what blocked workers waited for at the n that the answer is about, or else at the largest that was looked
/// at; nothing where they hardly did.
fn waits<'a>(known: &[(f64, &ScaleAccount)], at: Option<f64>) -> Option<Block<'a>> {
    let mut seen = known.iter().filter(|(_, account)| !account.waits.is_empty());
    let (n, account) = seen.clone().find(|(n, _)| Some(*n) == at).or_else(|| seen.next_back())?;
    let notable: Vec<_> =
        account.waits.iter().filter(|one| one.share.point >= 0.01).take(8).collect();
    let heads = [format!("what blocked workers waited for at n = {n}"), "held by".into()];
    let heads = heads.into_iter().chain(["#share of their time".to_string(), "#looks".into()]);
    let rows = notable.iter().map(|one| {
        let what = short(&waited_for(one.kind, &one.what, &one.place), 200);
        let share = estimate(&one.share, Terms::Share);
        [what, short(&one.holder, 40), share, one.looks.to_string()]
    });
    (!notable.is_empty()).then(|| Block::Table(Table::of(&heads.collect::<Vec<_>>()).rows(rows)))
}

/// Returns the time of n workers as a bar of some parts and the rest.
fn bar(account: &ScaleAccount, present: &[ScaleLoss]) -> Stack {
    // A part that does not occur is nothing.
    let of = |into: &ScaleLoss| share(account, *into).unwrap_or(Estimate::exactly(0.0, 0));
    let parts = present.iter().map(|into| (loss_words(*into).to_string(), of(into))).collect();
    Stack { parts, rest: of(&ScaleLoss::Rest), letters: Letters::Unicode }
}

fn laws(curve: &ScaleCurve, title: &str) -> Vec<Block<'static>> {
    let mut table =
        Table::of(&["law", "coefficients, with 95 % intervals", "#AICc", "#lack of fit, p"]);
    for fit in &curve.fits {
        let chosen = curve.chosen.as_ref() == Some(&fit.law);
        let name = capital(&fit.law);
        let name = if chosen { Text::strong(format!("{name} (chosen)")) } else { name.into() };
        if fit.missing.is_empty() {
            table.row(std::iter::once(name).chain(numbers(fit)));
        } else {
            table.absent(name, short(&fit.missing, 400));
        }
    }
    let formulas = curve.fits.iter().filter(|fit| !fit.formula.is_empty());
    let formulas = formulas.map(|fit| {
        Text::from(format!("{}: ", capital(&fit.law))).then(Text::code(fit.formula.clone()))
    });
    let how = match curve.intervals.as_str() {
        "bootstrap" => "Intervals are from the trials of each n, drawn again 400 times.",
        _ => "Intervals are Student's t.",
    };
    let about = format!(
        "{how} A p below 0.01 refutes a law: the scatter of the trials at each n does not explain how \
         far the law is from them."
    );
    vec![
        Block::plain(format!("{title}: {}.", curve.reason.trim_end_matches('.'))),
        Block::Table(table),
        Block::small(about),
        Block::fold("The formulas", vec![Block::list(formulas)]),
    ]
}

fn numbers(fit: &ScaleFit) -> [Text; 3] {
    let coefficients = fit.coefficients.iter().map(|one| {
        let known = Estimate::between(one.low, one.value, one.high);
        format!("{} {}", one.symbol, estimate(&known, Terms::Plain))
    });
    let aicc = or_dash(fit.aicc, |aicc| format!("{aicc:.1}").replace('-', "−"));
    let small = |p| if p < 0.001 { "below 0.001".into() } else { format!("{p:.3}") };
    let p = or_dash(fit.lack_of_fit_p, small);
    let refuted = if fit.refuted { ", refuted" } else { "" };
    let coefficients = coefficients.collect::<Vec<_>>().join(", ");
    [coefficients.into(), aicc.into(), format!("{p}{refuted}").into()]
}

fn definitions(scaling: &Scaling) -> Block<'static> {
    let work = if scaling.work.counted {
        "the work that the program reports, by the elapsed time"
    } else {
        "1 over the elapsed time: each trial is assumed to do the same work, whatever n is"
    };
    let define = |name: &str, text: &str| Text::strong(format!("{name}: ")).then(text);
    let mut list = vec![
        define("Throughput", work)
            .then(". The elapsed time is from just before the program's exec to its end."),
        define(
            "Work by CPU second",
            "the same work by the CPU time of the program and all its processes (getrusage).",
        ),
        define(
            "The workers' time",
            "n times the elapsed time. Useful is the CPU time that one worker needed for the same work; \
             what n workers needed beyond that is more CPU per operation. Waiting for a CPU, blocked \
             and without a worker are sampled while it runs (schedstat of the n busiest threads), some \
             milliseconds apart.",
        ),
        define("Intervals", "95 %, from trials: one number per trial."),
    ];
    let accounts = scaling.levels.iter().filter_map(|level| level.account.as_ref());
    let rests = accounts.filter_map(|account| Some(share(account, ScaleLoss::Rest)?.point));
    if let Some(worst) = rests.max_by(|a, b| a.abs().total_cmp(&b.abs())) {
        let sum = rounded(1.0 - worst, Terms::Share);
        list.push(format!("At the n where they miss 100 % most, the parts sum to {sum}.").into());
    }
    Block::fold("How these figures are defined", vec![Block::List(list)])
}
