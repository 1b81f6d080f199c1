//! The answers that a study gives without being asked: what it costs at the baseline, what every
//! other level costs against it, and how cost grows over numbers.

use crate::factors::is_axis;
use model::{Cell, Factor, Finding, Level, Quantity, Response};
use wording::capital;

/// The most levels that are held against the baseline for a response other than the first: the
/// table has them all.
const LEVELS_OF_OTHERS: usize = 3;

/// The most places at which two levels are compared.
const PLACES_MAX: usize = 12;

/// The findings for the responses in front, those of the first one first. How long is measured is
/// decided by the first answer about each factor: dozens of numbers, each to be precise, would take
/// a session for themselves, and they share its blocks anyway.
pub(crate) fn derive(factors: &[Factor], responses: &[Response]) -> Vec<Finding> {
    // The first answer about each response comes before the second about any.
    let (mut all, mut further) = (Vec::new(), Vec::new());
    for (index, response) in responses.iter().enumerate() {
        let most = if index == 0 { usize::MAX } else { LEVELS_OF_OTHERS };
        let mut waiting: Vec<&str> = factors.iter().map(|factor| factor.name.as_str()).collect();
        for (place, draft) in of_response(factors, response, most).into_iter().enumerate() {
            let (id, sentence, quantity) = draft;
            let about = match &quantity {
                Quantity::Ratio { of, to, .. } => {
                    waiting.iter().position(|name| of.0.get(*name) != to.0.get(*name))
                }
                _ => None,
            };
            let first = about.is_some() || factors.is_empty();
            about.map(|place| waiting.remove(place));
            let drives = index == 0 && first;
            let list = if place == 0 { &mut all } else { &mut further };
            list.push(Finding { id, sentence, quantity, drives });
        }
    }
    all.append(&mut further);
    all.truncate(model::ENTRIES_MAX);
    all
}

type Draft = (String, String, Quantity);

fn of_response(factors: &[Factor], response: &Response, most: usize) -> Vec<Draft> {
    let name = &response.name;
    let label = harmless(&response.label);
    let mut drafts: Vec<Draft> = Vec::new();
    let first = compared(factors);
    for factor in first.into_iter().chain(factors.iter().filter(|it| Some(*it) != first)) {
        drafts.extend(against_baseline(factors, factor, response, most));
    }
    for factor in factors.iter().filter(|factor| is_axis(factor)) {
        let word = harmless(&factor.name);
        let at = elsewhere(factors, &factor.name, &Cell::default());
        let sentence = format!(
            "Over {word}, {label} grows as {word} to the power of {{}}{at} (0: not at all; 1: in \
             proportion)."
        );
        let id = format!("{name}_growth_{}", factor.name);
        let (response, over) = (name.clone(), factor.name.clone());
        drafts.push((id, sentence, Quantity::Exponent { response, over, at: Cell::default() }));
    }
    let at = match elsewhere(factors, "", &Cell::default()) {
        at if at.is_empty() => String::new(),
        at => format!(" at the baseline{at}"),
    };
    let sentence = format!("{}{at}: {{}}.", capital(&label));
    let quantity = Quantity::Value { response: name.clone(), at: Cell::default() };
    drafts.push((format!("{name}_baseline"), sentence, quantity));
    drafts
}

/// Each other level of a factor against its baseline; for words, also where numbers are largest.
fn against_baseline(
    factors: &[Factor],
    factor: &Factor,
    response: &Response,
    most: usize,
) -> Vec<Draft> {
    let (name, label) = (&response.name, harmless(&response.label));
    let others = factor.levels.iter().rev().filter(|level| level.name != factor.baseline);
    let mut others: Vec<&Level> = others.collect();
    if !factor.levels.iter().all(|level| level.value.is_some()) {
        others.reverse();
    }
    let mut drafts = Vec::new();
    for level in others.into_iter().take(most) {
        for (place, at) in places(factors, factor) {
            let (this, base) = (words(factor, &level.name), words(factor, &factor.baseline));
            let where_else = elsewhere(factors, &factor.name, &at);
            let sentence = format!("With {this}: {{}} times the {label} of {base}{where_else}.");
            let (of, to) =
                (at.with(&factor.name, &level.name), at.with(&factor.name, &factor.baseline));
            let id = format!("{name}_{}_{}{place}", factor.name, level.name);
            let quantity = Quantity::Ratio { response: name.clone(), of, to };
            drafts.push((bounded(&id), sentence, quantity));
        }
    }
    drafts
}

/// Where a factor's levels are compared: at the baselines, and for words also at the largest number of each axis,
/// since what two ways cost is seen where there is much to do. The factor that is compared first is compared
/// there at each level of the other words.
fn places(factors: &[Factor], factor: &Factor) -> Vec<(String, Cell)> {
    let mut places = Vec::new();
    if !is_axis(factor) {
        let others = || factors.iter().filter(|other| other.name != factor.name);
        let axes = others().filter(|axis| is_axis(axis));
        let largest = axes.filter_map(|axis| {
            let last = axis.levels.last().filter(|level| level.name != axis.baseline)?;
            Some((axis, last))
        });
        let mut all = vec![(String::new(), Cell::default())];
        for (axis, last) in largest {
            for (id, cell) in &mut all {
                *id = format!("{id}_{}_{}", axis.name, last.name);
                *cell = cell.with(&axis.name, &last.name);
            }
        }
        let words = others().filter(|other| !is_axis(other) && compared(factors) == Some(factor));
        for other in words {
            let crossed = other.levels.iter().flat_map(|level| {
                all.iter().map(move |(id, cell)| match level.name == other.baseline {
                    true => (id.clone(), cell.clone()),
                    false => (format!("{id}_{}", level.name), cell.with(&other.name, &level.name)),
                })
            });
            let crossed: Vec<_> = crossed.collect();
            if crossed.len() <= PLACES_MAX {
                all = crossed;
            }
        }
        all.retain(|(_, cell)| !cell.0.is_empty());
        places = all;
    }
    places.push((String::new(), Cell::default()));
    places
}

/// Returns the factor whose levels are compared first: the first of two words, or else the first of words.
fn compared(factors: &[Factor]) -> Option<&Factor> {
    let words = || factors.iter().filter(|factor| !is_axis(factor));
    words().find(|factor| factor.levels.len() == 2).or_else(|| words().next())
}

/// Returns the levels of the factors but one, in brackets; empty where there is none.
fn elsewhere(factors: &[Factor], but: &str, at: &Cell) -> String {
    let others = factors.iter().filter(|other| other.name != but && other.levels.len() > 1);
    let levels: Vec<String> = others
        .map(|other| words(other, at.0.get(&other.name).unwrap_or(&other.baseline)))
        .collect();
    if levels.is_empty() { String::new() } else { format!(" ({})", levels.join(", ")) }
}

/// A level in words: "n 8", or its own name where that says enough.
fn words(factor: &Factor, level: &str) -> String {
    let vague = ["yes", "no", "on", "off", "none", "true", "false"].contains(&level);
    let is_number = level.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    let text = if vague || is_number {
        format!("{} {level}", factor.name.replace('_', " "))
    } else {
        level.to_string()
    };
    harmless(&text)
}

/// A user's words in a sentence whose `{}` is the number's place.
fn harmless(text: &str) -> String {
    text.replace("{}", "{ }")
}

fn bounded(id: &str) -> String {
    id.chars().take(model::NAME_BYTES_MAX / 4).collect()
}
