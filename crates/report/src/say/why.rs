//! Which resource limits a command.

use crate::Session;
use crate::chart::squeezes::{Ranked, Strengths};
use crate::doc::{Block, Doc, Figure, Role, Table, Text, Tone};
use crate::format::{self, Terms, joined, parts};
use crate::words::{capital, short};
use model::{Estimate, SqueezeResult, Why};

/// Returns the answer from a session's trials; `None` where the session squeezed nothing.
pub(crate) fn of(session: &Session<'_>) -> Option<Why> {
    let squeezes = |design: &&model::Design| {
        design.subject.as_ref().is_some_and(|subject| subject.squeeze.is_some())
    };
    let design = session.manifest.designs.iter().find(squeezes)?;
    analysis::why(&analysis::WhyInput {
        scruple: &session.summary.scruple,
        session: &session.summary.session,
        complete: session.summary.complete,
        design,
        records: session.records,
    })
}

/// Returns the answer for a terminal.
pub(crate) fn document(why: &Why) -> Doc<'_> {
    let mut doc = Doc::new(&why.scruple, "what limits a command", why.command.join(" "));
    doc.push(Block::paragraph(Role::Lead, crate::words::command_line(&why.command)));
    doc.blocks.extend(blocks(why));
    doc
}

/// Returns what limits the command, each resource with its elasticity, what was counted, and what was not
/// tested.
pub(crate) fn blocks(why: &Why) -> Vec<Block<'_>> {
    let mut blocks = vec![
        Block::paragraph(Role::Answer, why.answer.clone()),
        Block::paragraph(Role::Small, evidence(why)),
    ];
    blocks.extend(why.warnings.iter().map(|text| Block::note(Tone::Care, short(text, 1000))));
    let figure = |title: &str, drawing, caption: Vec<Text>| {
        Block::Figure(Figure { title: title.into(), drawing, caption, numbers: None, shown: false })
    };
    let ranked = Box::new(Ranked(why));
    blocks.push(figure("What its time depends on", ranked, vec![MEANING.into()]));
    let strengths = Strengths(why);
    if strengths.any() {
        let title = "How strongly each was squeezed, and what came of it";
        blocks.push(figure(title, Box::new(strengths), Vec::new()));
    }
    blocks.push(Block::details("", "The strengths of each squeeze", false, vec![table(why)]));
    let mut rest: Vec<Text> = Vec::new();
    if let Some(residual) = &why.residual {
        rest.push(format!("{RESIDUAL}: {}.", joined(&parts(residual, Terms::Plain))).into());
    }
    let not = |it: &model::NotSqueezed| {
        format!("Not squeezed: {}: {}", it.resource.words(), short(&it.reason, 600)).into()
    };
    rest.extend(why.not_squeezed.iter().map(not));
    rest.extend(control(why).chain(counted(why)).map(|text| capital(&text).into()));
    blocks.push(Block::List(rest));
    blocks
}

fn table(why: &Why) -> Block<'static> {
    let number = |estimate: &Option<Estimate>, terms: Terms<'_>| {
        let known = estimate.as_ref();
        Text::from(known.map_or("–".into(), |estimate| joined(&parts(estimate, terms))))
    };
    let mut table = Table::of(&["resource", "strength", "#taken", "#time", "#elasticity"]);
    for one in &why.squeezes {
        table.row([
            Text::strong(capital(one.resource.words())),
            all(one).into(),
            Text::default(),
            Text::default(),
            number(&one.elasticity, Terms::Plain),
        ]);
        for dose in &one.doses {
            table.row([
                Text::default(),
                short(&dose.level, 40).into(),
                number(&dose.taken, Terms::Share),
                number(&dose.slower, Terms::Times),
                number(&dose.elasticity, Terms::Plain),
            ]);
        }
    }
    Block::Table(table)
}

/// Returns what is to be known of all strengths of a squeeze together.
fn all(one: &SqueezeResult) -> String {
    let mut said = vec!["all".to_string()];
    if one.linear == Some(false) {
        said.push("the stronger does not do what the weaker makes expect".into());
    }
    if one.cpu_subtracted && one.elasticity.is_some() {
        said.push("the elasticity is without the CPU time that its co-runners took".into());
    }
    if !one.remark.is_empty() {
        said.push(one.remark.clone());
    }
    said.join("; ")
}

/// What an elasticity is.
const MEANING: &str = "Elasticity: at 1 nothing else limits the program, at 0 the resource does not matter; 95 % \
     confidence intervals over blocks. Time on the CPU includes what is lost there to memory, cache \
     and wake-ups.";

/// What the residual is.
pub(crate) const RESIDUAL: &str = "Not explained by CPU time, storage and timers";

/// "Evidence: timing and counters; 12 trials of 1.2 s with nothing taken."
fn evidence(why: &Why) -> String {
    let wall = why.wall_ns.as_ref().map(|wall| {
        let time = format::estimate(wall, Some(&model::Unit::Ns));
        format!("; {} trials took {time} with nothing taken", wall.samples)
    });
    format!("Evidence: {}{}.", why.evidence, wall.unwrap_or_default())
}

/// What the controls say.
fn control(why: &Why) -> impl Iterator<Item = String> {
    let ratio = |result: &Option<model::QuantityResult>| {
        let estimate = result.as_ref()?.estimate.as_ref()?;
        Some(joined(&parts(estimate, Terms::Times)))
    };
    let again = ratio(&why.again).map(|it| format!("control, the same again: {it}"));
    let beside =
        ratio(&why.beside).map(|it| format!("next to a busy CPU that uses no memory: {it}"));
    [again, beside].into_iter().flatten()
}

/// What the kernel counted, in one line.
fn counted(why: &Why) -> Option<String> {
    let one = |count: &model::WhyCount| {
        format!("{} {}", count.label, format::value(count.estimate.point, &count.unit))
    };
    let all: Vec<String> = why.counted.iter().map(one).collect();
    (!all.is_empty()).then(|| format!("counted with nothing taken: {}", all.join(", ")))
}
