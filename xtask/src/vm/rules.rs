//! What may be said of a machine, given its facts: `rules.txt`, applied to sentences.

use crate::machine::{Entry, blocks};
use anyhow::{Context, Result};
use regex::{Regex, RegexBuilder};
use std::collections::BTreeMap;

const RULES: &str = include_str!("rules.txt");

/// The facts of a machine by name.
pub(crate) type Facts = BTreeMap<String, f64>;

/// What somebody reads: its name and its sentences.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) name: String,
    pub(crate) sentences: Vec<String>,
}

/// Returns what documents say against a machine's facts, and what they do not say and should.
///
/// # Errors
/// If the rules are wrong.
pub(crate) fn contradictions(facts: &Facts, documents: &[Document]) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for entry in blocks(RULES, "rule") {
        let name = entry.get("rule");
        let wrong = || format!("rules.txt: {name}");
        if applies(entry, facts).with_context(wrong)? {
            let broken = broken(entry, facts, documents).with_context(wrong)?;
            found.extend(broken.into_iter().map(|where_| format!("{name}: {where_}")));
        }
    }
    Ok(found)
}

fn applies(entry: Entry<'_>, facts: &Facts) -> Result<bool> {
    let condition = entry.get("where");
    let Some((fact, relation)) = condition.split_once(' ') else { return Ok(true) };
    // A fact that the machine does not have is none that holds.
    facts.get(fact).map_or(Ok(false), |value| holds(*value, relation, facts))
}

/// Where a rule is broken.
fn broken(entry: Entry<'_>, facts: &Facts, documents: &[Document]) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let pattern = |key: &str| -> Result<Option<Regex>> {
        let text = entry.get(key);
        let regex = || RegexBuilder::new(&filled(text, facts)).case_insensitive(true).build();
        Ok((!text.is_empty()).then(regex).transpose()?)
    };
    let (with, but) = (pattern("with")?, pattern("but")?);
    if let Some(never) = pattern("never")? {
        for document in documents {
            for text in document.sentences.iter().filter(|text| never.is_match(text)) {
                let counts = with.as_ref().is_none_or(|with| with.is_match(text))
                    && !but.as_ref().is_some_and(|but| but.is_match(text));
                if counts && !numbers_hold(&never, text, entry.get("number"), facts)? {
                    found.push(format!("{}: {text}", document.name));
                }
            }
        }
    }
    if let Some(always) = pattern("always")? {
        for name in entry.get("within").split_whitespace() {
            let mut within = documents.iter().filter(|document| document.name == name);
            if !within.any(|it| it.sentences.iter().any(|text| always.is_match(text))) {
                found.push(format!("{name}: no sentence has {always}"));
            }
        }
    }
    Ok(found)
}

/// Reports whether all numbers of a pattern in a text are as they may be; false where none may be.
fn numbers_hold(pattern: &Regex, text: &str, relation: &str, facts: &Facts) -> Result<bool> {
    if relation.is_empty() {
        return Ok(false);
    }
    for found in pattern.captures_iter(text) {
        let group = found.iter().skip(1).flatten().next();
        let number = group.and_then(|group| number(group.as_str()));
        // A word that is no number says nothing of the fact.
        if let Some(number) = number
            && !holds(number, relation, facts)?
        {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Reads `12`, `1,024` or `two`.
fn number(text: &str) -> Option<f64> {
    const WORDS: [&str; 9] =
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight"];
    let word = WORDS.iter().position(|word| text.eq_ignore_ascii_case(word));
    word.map(|number| number as f64).or_else(|| text.replace(',', "").parse().ok())
}

/// Reports whether a relation such as `= cpus` or `> 1` holds for a number.
fn holds(left: f64, relation: &str, facts: &Facts) -> Result<bool> {
    let (operator, right) =
        relation.split_once(' ').context("a relation is an operator and a value")?;
    let right = facts.get(right).copied().or_else(|| right.parse().ok());
    let right = right.with_context(|| format!("{relation}: no such fact"))?;
    Ok(match operator {
        "=" => left == right,
        "<=" => left <= right,
        ">" => left > right,
        _ => anyhow::bail!("{relation}: no such operator"),
    })
}

/// Puts the facts in the places of their names.
fn filled(text: &str, facts: &Facts) -> String {
    let fill = |text: String, (name, value): (&String, &f64)| {
        text.replace(&format!("{{{name}}}"), &value.to_string())
    };
    facts.iter().fold(text.to_string(), fill)
}

#[cfg(test)]
mod tests {
    use super::{Document, Facts, contradictions};
    use crate::vm::list::machines;
    use crate::vm::sentences::sentences;

    /// What is wrong if doctor prints a text on a machine of the list.
    fn wrong(machine: &str, facts: &[(&str, f64)], text: &str) -> Vec<String> {
        let mut all: Facts = machines(Some(machine)).unwrap()[0].facts();
        all.extend(facts.iter().map(|(name, value)| (name.to_string(), *value)));
        let document = |name: &str| Document { name: name.into(), sentences: sentences(text) };
        contradictions(&all, &[document("doctor.txt")]).unwrap()
    }

    #[test]
    fn a_sentence_that_contradicts_the_machine_is_found() {
        for (machine, text) in [
            ("one-cpu", "Eight threads on two CPUs take 1.0 [0.9, 1.1] times as long."),
            ("one-core", "Workers are pinned to CPUs of different cores."),
            ("one-core", "CPUs: 2 online, 0-1 for this process, 1 thread(s) per core"),
            ("many-cpus", "CPUs: 8 online, 0-7 for this process"),
            ("many-cpus", "guest · QEMU · 8 CPUs, Linux 6.1"),
            ("smt", "All 64 CPUs take 3 [2, 4] ns."),
            ("smt", "Between two sockets a line takes 90 [80, 99] ns."),
            ("new-kernel", "thread 'main' panicked at src/main.rs"),
        ] {
            let found = wrong(machine, &[], text);
            assert!(found.iter().any(|it| it.contains(text)), "{machine}: {text}: {found:?}");
        }
    }

    #[test]
    fn a_sentence_that_is_true_is_none() {
        for (machine, text) in [
            ("one-cpu", "Refused here: threads on two CPUs: needs 2 CPUs, has 1."),
            ("many-cpus", "CPUs: 64 online, 0-63 for this process, 1 thread(s) per core"),
            (
                "two-sockets",
                "Two threads on two CPUs take 3 [2, 4] ns, on other sockets 9 [8, 10].",
            ),
            ("new-kernel", "Workers are pinned to CPUs of different cores."),
            ("one-core", "“Code is at most 1.6 times as fast on two cores as on one.”"),
        ] {
            let found = wrong(machine, &[], text);
            assert!(!found.iter().any(|it| it.contains(text)), "{machine}: {text}: {found:?}");
        }
    }

    #[test]
    fn what_must_be_said_is_missed() {
        let silent = wrong("limited", &[], "4 CPUs");
        assert!(silent.iter().any(|it| it.contains("1.50? CPUs")), "{silent:?}");
        assert!(silent.iter().any(|it| it.contains("536 MB")), "{silent:?}");
        let stated =
            "a cgroup limits this process to 1.50 CPUs: a memory cgroup limits it to 536 MB";
        let stated = wrong("limited", &[], stated);
        assert!(!stated.iter().any(|it| it.contains("doctor.txt")), "{stated:?}");
        let counters = wrong("smt", &[("counters", 1.0)], "✗ hardware counters");
        assert!(counters.iter().any(|it| it.contains("✓ hardware counters")), "{counters:?}");
    }
}
