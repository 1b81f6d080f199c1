//! Which resource limits a command.

use super::conditions;
use crate::Session;
use crate::chart::{self, Body, Cell, Line, Panel};
use crate::doc::{Block, Doc, Figure, Role, Table, Text, Tone};
use crate::paint::{self, Folds};
use crate::text::Letters;
use model::{Card, Estimate, Response, SqueezeResult, Summary, Unit, Why, is_elasticity_known};
use std::borrow::Cow;
use wording::number::{self, Terms, estimate, or_dash};
use wording::{capital, command_line, short};

/// Returns which resource limits a session's command; `None` where the session squeezed nothing.
pub fn why(session: &Session<'_>) -> Option<Why> {
    let squeezes = |design: &&model::Design| {
        design.subject.as_ref().is_some_and(|subject| subject.squeeze.is_some())
    };
    let design = session.manifest.designs.iter().find(squeezes)?;
    let Summary { scruple, session: name, complete, .. } = session.summary;
    analysis::why::why(scruple, name, *complete, design, session.records)
}

/// Returns what limits the command for a terminal of `width` columns, with ANSI colours: each squeeze with its elasticity and its strengths,
/// what the kernel counted, and what was not squeezed; before them the conditions of the session, where it is not
/// shown beside.
pub fn why_text(why: &Why, session: Option<&Session<'_>>, width: usize) -> String {
    let mut doc = Doc::new(&why.scruple, "what limits a command", why.command.join(" "));
    doc.push(Block::paragraph(Role::Lead, command_line(&why.command)));
    if let Some(session) = session {
        doc.blocks.extend(conditions::conditions(session));
    }
    doc.blocks.extend(blocks(why));
    paint::text(&doc, width, Folds::Open)
}

/// Returns what limits the command, each resource with its elasticity, what was counted, and what was not
/// tested.
pub(crate) fn blocks(why: &Why) -> Vec<Block<'_>> {
    let mut blocks = vec![
        Block::paragraph(Role::Answer, why.answer.clone()),
        Block::paragraph(Role::Small, evidence(why)),
    ];
    blocks.extend(why.warnings.iter().map(|text| Block::note(Tone::Care, short(text, 1000))));
    blocks.extend(waits(why));
    blocks.extend(threads(why));
    blocks.extend(elasticities(why).map(Block::Figure));
    blocks.push(Block::fold("The strengths of each squeeze", vec![strengths(why)]));
    let mut rest: Vec<Text> = why.squeezes.iter().filter_map(remark).collect();
    rest.extend(why.not_squeezed.iter().map(|it| {
        format!("Not squeezed: {}: {}", it.resource.words(), short(&it.reason, 600)).into()
    }));
    rest.extend(control(why).chain(counted(why)).map(|text| capital(&text).into()));
    blocks.push(Block::List(rest));
    blocks.push(Block::small(OTHERS));
    blocks
}

/// Where more is to be found.
const OTHERS: &str = "scruple waits -- COMMAND shows each thread with what it waits for; scruple scale -- COMMAND with \
     {n} in it shows what limits more workers.";

/// Returns the elasticities in order, and what they leave unexplained; an interval that excludes nothing is not
/// drawn. `None` where none is left.
fn elasticities(why: &Why) -> Option<Figure<'static>> {
    let response = Response::new("elasticity", "elasticity", Unit::Count, Card::default());
    let row = |style: usize, label: String, estimate: Estimate| {
        let cell = Cell::alone(label, estimate, estimate.samples as usize);
        Line { name: String::new(), style, points: vec![(0.0, cell)] }
    };
    let known = why.squeezes.iter().filter_map(|one| Some((one, one.known()?)));
    let of = |(one, known): (&SqueezeResult, Estimate)| {
        let name = capital(one.resource.words());
        match one.stands {
            true => row(STANDS, name, known),
            false => row(OPEN, format!("{name} (not significant)"), known),
        }
    };
    let mut lines: Vec<Line> = known.map(of).collect();
    if lines.is_empty() {
        return None;
    }
    let residual = why.residual.filter(is_elasticity_known);
    lines.extend(residual.map(|known| row(REST, RESIDUAL.into(), known)));
    let panels = vec![Panel::of(Cow::Owned(response), lines)];
    let body = Body::Panels { axis: None, panels };
    let figure = chart::Figure::bare("What its time depends on".into(), body);
    let figure = chart::Figure { heads: ["resource", "blocks"], ..figure };
    let caption = vec![MEANING.into()];
    Some(chart::shown(figure, "elasticities".into(), Some(Letters::Unicode), caption))
}

/// Returns a table of where the time goes with nothing taken.
fn waits(why: &Why) -> Option<Block<'static>> {
    why.time.still?;
    let share = |known: &Estimate| estimate(known, Terms::Share);
    let rows = why.time.waited.iter().map(|wait| {
        let name = [&wait.what, &wait.holder].map(|it| (!it.is_empty()).then(|| it.clone()));
        let name = wording::clauses(name, ", ").unwrap_or_default();
        [capital(analysis::scaling::kind_words(wait.kind)), short(&name, 80), share(&wait.share)]
    });
    let still = why.time.still.iter().map(|all| ["All together".into(), String::new(), share(all)]);
    let heads = ["what it waited for", "name", "#part of its time"];
    Some(Block::Table(Table::of(&heads).rows(rows.chain(still))))
}

/// Returns a table of what the threads of a program of several waited for, also while others ran.
fn threads(why: &Why) -> Option<Block<'static>> {
    why.time.workers.filter(|workers| workers.point >= 2.0)?;
    let rows = why.time.threads.iter().map(|wait| {
        let name = [&wait.what, &wait.holder].map(|it| (!it.is_empty()).then(|| it.clone()));
        let name = wording::clauses(name, ", ").unwrap_or_default();
        let number = estimate(&wait.share, Terms::Plain);
        [capital(analysis::scaling::kind_words(wait.kind)), short(&name, 80), number]
    });
    let heads = ["what its threads waited for, also while others ran", "name", "#threads"];
    let table = Table::of(&heads).rows(rows);
    (!table.rows.is_empty()).then_some(Block::Table(table))
}

/// A share whose interval is wider is not known.
const SHARE_SPAN_MAX: f64 = 0.5;

/// Returns what each strength of each squeeze took, and what came of it.
fn strengths(why: &Why) -> Block<'static> {
    let number = |known: Option<Estimate>, terms, is_precise: fn(&Estimate) -> bool| {
        or_dash(known, |it| match is_precise(&it) {
            true => estimate(&it, terms),
            false => number::IMPRECISE.into(),
        })
    };
    let all = why.squeezes.iter().flat_map(|one| one.doses.iter().map(move |dose| (one, dose)));
    let rows = all.map(|(one, dose)| {
        [
            capital(one.resource.words()),
            short(&dose.level, 40),
            number(dose.taken, Terms::Share, |share| share.high - share.low < SHARE_SPAN_MAX),
            number(dose.slower, Terms::Times, number::is_precise),
            number(dose.elasticity, Terms::Plain, is_elasticity_known),
        ]
    });
    let heads = ["resource", "strength", "#taken", "#time", "#elasticity"];
    Block::Table(Table::of(&heads).rows(rows))
}

/// Returns what must be known of all strengths of a squeeze together, if anything.
fn remark(one: &SqueezeResult) -> Option<Text> {
    let bent = "the effect is not linear in the strength of the squeeze";
    let without = "the elasticity leaves out what the co-runners took from the CPU itself";
    let is_unknown = one.elasticity.is_some_and(|e| !is_elasticity_known(&e));
    let said = [
        is_unknown.then_some(number::IMPRECISE),
        (one.linear == Some(false)).then_some(bent),
        (one.cpu_subtracted && one.elasticity.is_some()).then_some(without),
        Some(one.remark.as_str()).filter(|text| !text.is_empty()),
    ];
    let said: Vec<&str> = said.into_iter().flatten().collect();
    let name = capital(one.resource.words());
    (!said.is_empty()).then(|| format!("{name}: {}.", said.join("; ")).into())
}

/// Styles of the rows: of what is significant, of what is not, and of the rest.
const STANDS: usize = 0;
const OPEN: usize = 2;
const REST: usize = 5;

/// What an elasticity is.
const MEANING: &str = "Elasticity: at 1 nothing else limits the program, at 0 the resource does not matter; 95 % \
     confidence intervals over blocks. Significance: 5 % level, after Hommel's correction. Time on the CPU \
     includes what is lost there to memory, cache and wake-ups.";

/// What the residual is.
const RESIDUAL: &str = "Not explained by CPU time, storage and timers";

/// "Evidence: timing and counters; 12 trials of 1.2 s with nothing taken."
fn evidence(why: &Why) -> String {
    let wall = why.wall_ns.as_ref().map(|wall| {
        let time = estimate(wall, Terms::In(&Unit::Ns));
        format!("; {} trials took {time} with nothing taken", wall.samples)
    });
    format!("Evidence: {}{}.", why.evidence, wall.unwrap_or_default())
}

/// What the controls say.
fn control(why: &Why) -> impl Iterator<Item = String> {
    let again = ("control, the same again", &why.again);
    let beside = "without the CPUs kept for co-runners, next to a busy CPU that uses no memory";
    let all = [again, (beside, &why.beside)];
    all.into_iter().filter_map(|(name, result)| {
        let ratio = result.as_ref()?.estimate.filter(number::is_precise)?;
        Some(format!("{name}: {}", estimate(&ratio, Terms::Times)))
    })
}

/// What the kernel counted, in one line.
fn counted(why: &Why) -> Option<String> {
    let one = |count: &model::WhyCount| {
        format!("{} {}", count.label, number::value(count.estimate.point, &count.unit))
    };
    let all: Vec<String> = why.counted.iter().map(one).collect();
    (!all.is_empty()).then(|| format!("counted with nothing taken: {}", all.join(", ")))
}
