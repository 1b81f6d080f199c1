//! What happened to the trials of an experiment, counted and put in plain words.

use crate::session::disturbance::{DISTURBED_SHARE, share_of_host, share_of_programs};
use crate::session::tags::{Tag, Tagger};
use crate::session::{printed, trends};
use crate::stats::interval::BLOCKS_FREE;
use model::{Design, Outcome, OutcomeCount, Phase, Record, Treatment};
use std::collections::{BTreeMap, BTreeSet};

/// The most treatments that are named with one way of ending.
const TREATMENTS_NAMED: usize = 8;

/// The most ways of ending, and failed checks, that are listed one by one. Each becomes a warning, and a
/// trial that puts a number into its reason would have as many reasons as trials.
const KINDS_TOLD: usize = 32;

/// Returns the word for an outcome, and its reason where there is one.
pub fn words(outcome: &Outcome) -> (&'static str, String) {
    let when = |phase: Phase| match phase {
        Phase::SettingUp => "while setting up",
        Phase::Measuring => "while measuring",
        Phase::Ending => "after its answer",
    };
    match outcome {
        Outcome::Completed { .. } => ("completed", String::new()),
        Outcome::Unsupported { reason } => ("unsupported", reason.clone()),
        Outcome::Failed { reason } => ("failed", reason.clone()),
        Outcome::Died { signal, phase } => ("died", format!("signal {signal} {}", when(*phase))),
        Outcome::TimedOut { phase } => ("timed_out", when(*phase).into()),
        Outcome::OutOfMemory { phase } => ("out_of_memory", when(*phase).into()),
        Outcome::ProtocolViolated { reason } => ("protocol_violated", reason.clone()),
    }
}

/// Returns a reason with "…" for each number that has a fraction. Such a number was measured, and is
/// another in each trial that gives the same reason; whole ones (a signal, a number of CPUs) tell reasons
/// apart.
pub(crate) fn without_fractions(reason: &str) -> String {
    let mut out = String::new();
    let mut rest = reason;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        out.push_str(&rest[..start]);
        let number = &rest[start..];
        let length = number
            .char_indices()
            .find(|(at, c)| {
                let next = number[at + c.len_utf8()..].starts_with(|c: char| c.is_ascii_digit());
                !(c.is_ascii_digit() || *c == '.' && next)
            })
            .map_or(number.len(), |(at, _)| at);
        let (number, after) = number.split_at(length);
        out.push_str(if number.contains('.') { "…" } else { number });
        rest = after;
    }
    out + rest
}

/// Returns how trials ended, the commonest first.
pub(crate) fn outcomes(records: &[&Record]) -> Vec<OutcomeCount> {
    type Group<'a> = (Option<String>, BTreeMap<&'a Treatment, u64>);
    let mut groups: BTreeMap<(&str, String), Group<'_>> = BTreeMap::new();
    for record in records {
        let (outcome, reason) = words(&record.outcome);
        let key = (outcome, without_fractions(&reason));
        let (exact, treatments) =
            groups.entry(key).or_insert_with(|| (Some(reason.clone()), BTreeMap::new()));
        if exact.as_ref() != Some(&reason) {
            *exact = None;
        }
        *treatments.entry(&record.treatment).or_default() += 1;
    }
    let mut counts: Vec<OutcomeCount> = groups
        .into_iter()
        .map(|((outcome, reason), (exact, treatments))| OutcomeCount {
            outcome: outcome.to_string(),
            reason: exact.unwrap_or(reason),
            trials: treatments.values().sum(),
            treatments: treatments.into_keys().take(TREATMENTS_NAMED).cloned().collect(),
        })
        .collect();
    counts.sort_by_key(|count| std::cmp::Reverse(count.trials));
    let rarer = counts.split_off(counts.len().min(KINDS_TOLD));
    counts.extend(together(rarer));
    counts
}

/// Ways of ending that are too many to be listed: one for each outcome.
fn together(counts: Vec<OutcomeCount>) -> impl Iterator<Item = OutcomeCount> {
    let mut sums: BTreeMap<String, OutcomeCount> = BTreeMap::new();
    for count in counts {
        if let Some(sum) = sums.get_mut(&count.outcome) {
            sum.trials += count.trials;
            let room = TREATMENTS_NAMED - sum.treatments.len();
            sum.treatments.extend(count.treatments.into_iter().take(room));
        } else {
            let reason = "for reasons that were rarer".into();
            sums.insert(count.outcome.clone(), OutcomeCount { reason, ..count });
        }
    }
    sums.into_values()
}

/// Returns the manipulation checks that failed, by name, with the number of trials in which they did.
pub(crate) fn failed_checks<'r>(records: &[&'r Record]) -> Vec<(String, u64)> {
    let of_trial = |record: &&'r Record| -> BTreeSet<&'r str> {
        let checks = record.measured.iter().flat_map(|measured| &measured.checks);
        checks.filter(|check| !check.holds()).map(|check| check.name.as_str()).collect()
    };
    let failed = counted(records.iter().flat_map(of_trial));
    let mut often: Vec<u64> = failed.iter().map(|(_, trials)| *trials).collect();
    often.sort_unstable_by(|a, b| b.cmp(a));
    let least = often.get(KINDS_TOLD).map_or(0, |first_left_out| first_left_out + 1);
    let (mut described, rarer): (Vec<_>, Vec<_>) =
        failed.into_iter().partition(|(_, trials)| *trials >= least);
    if !rarer.is_empty() {
        let trials = rarer.iter().map(|(_, trials)| trials).sum();
        described.push(("checks that failed more rarely".into(), trials));
    }
    described
}

/// Returns the tags that occur, each with the number of trials.
pub(crate) fn tag_counts<'a>(
    tagger: &Tagger,
    records: impl IntoIterator<Item = &'a Record>,
) -> Vec<(String, u64)> {
    let tags = records.into_iter().flat_map(|record| tagger.tags(record));
    counted(tags.map(Tag::name))
}

/// Returns each name once, with how often it comes.
fn counted<'n>(names: impl Iterator<Item = &'n str>) -> Vec<(String, u64)> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    names.for_each(|name| *counts.entry(name).or_default() += 1);
    counts.into_iter().map(|(name, count)| (name.to_string(), count)).collect()
}

/// Returns how many trials did not complete, by how they ended.
pub(crate) fn incomplete(records: &[&Record]) -> Vec<String> {
    let counts = outcomes(records).into_iter().filter(|count| count.outcome != "completed");
    let words = |count: OutcomeCount| {
        let kind = match count.outcome.as_str() {
            "unsupported" => "could not be made here",
            "failed" => "failed",
            "died" => "died",
            "timed_out" => "took longer than their limit",
            "out_of_memory" => "were killed for lack of memory",
            _ => "broke the protocol",
        };
        let reason =
            if count.reason.is_empty() { String::new() } else { format!(": {}", count.reason) };
        format!("{} of {} trials {kind}{reason}", count.trials, records.len())
    };
    counts.map(words).collect()
}

/// Returns what a reader must know before the numbers of one experiment, the worst first: trials that did
/// not complete, checks that failed, a disturbed wall clock where one is read, left-over processes,
/// too few blocks.
pub(crate) fn warnings(design: &Design, records: &[&Record], blocks: usize) -> Vec<String> {
    let mut warnings = incomplete(records);
    let completed: Vec<&Record> =
        records.iter().filter(|record| record.measured.is_some()).copied().collect();
    for (name, trials) in failed_checks(records) {
        let why = match wants_cpus(&completed, &name) {
            None => "",
            Some(false) => ": other programs used the CPUs",
            Some(true) => ": a quota held them back",
        };
        warnings.push(format!(
            "check \"{name}\" failed in {trials} of {} trials{why}",
            completed.len()
        ));
    }
    warnings.extend(printed::warnings(design, records));
    warnings.extend(trends::trends(design, &completed));
    let is_timed = design.responses.iter().any(|response| !response.is_counted());
    type Share = fn(&Record) -> Option<f64>;
    let takers: [(Share, &str); 2] = [
        (share_of_programs, "other programs used"),
        (share_of_host, "other machines took (steal)"),
    ];
    for (share, who) in takers.into_iter().filter(|_| is_timed) {
        let lost = completed.iter().filter_map(|record| share(record));
        let disturbed = lost.filter(|share| *share > DISTURBED_SHARE).count();
        if disturbed > 0 {
            warnings.push(format!(
                "{who} more than {:.0} % of the elapsed time of {disturbed} of {} trials",
                100.0 * DISTURBED_SHARE,
                completed.len()
            ));
        }
    }
    let leaking = leaking_trials(records);
    if leaking > 0 {
        let plural = if leaking == 1 { "" } else { "s" };
        warnings.push(format!("{leaking} trial{plural} left processes behind, which were killed"));
    }
    if blocks < 2 && !(blocks == 1 && design.is_exact()) {
        warnings.push(format!("{}: an interval needs 2 at least", blocks_words(blocks)));
    } else if blocks < BLOCKS_FREE && !design.is_exact() {
        warnings.push(format!(
            "only {}: below {BLOCKS_FREE} the intervals assume a normal distribution",
            blocks_words(blocks)
        ));
    }
    warnings
}

/// Reports whether a quota held most of the trials back in which a check of that name failed that others can
/// make fail; `None` where there are none.
fn wants_cpus(records: &[&Record], name: &str) -> Option<bool> {
    let fails = |record: &&&Record| {
        let checks = record.measured.iter().flat_map(|measured| &measured.checks);
        checks.into_iter().any(|check| check.name == name && check.wants_cpus && !check.holds())
    };
    let failed: Vec<&Record> = records.iter().filter(fails).copied().collect();
    let held = failed.iter().filter(|record| Tag::Throttled.of(record) == Some(true)).count();
    (!failed.is_empty()).then_some(2 * held > failed.len())
}

fn blocks_words(blocks: usize) -> String {
    format!("{blocks} block{}", if blocks == 1 { "" } else { "s" })
}

/// Returns the completed trials that left processes behind.
pub(crate) fn leaking_trials(records: &[&Record]) -> u64 {
    let leaks = |record: &&&Record| matches!(record.outcome, Outcome::Completed { leaked: 1.. });
    records.iter().filter(leaks).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Trial, task};
    use model::{Check, Unit};

    /// Returns a design with a clock and a count.
    fn timed() -> Design {
        let response = |name: &str, unit| model::Response {
            name: name.into(),
            label: name.into(),
            unit,
            center: model::Center::Median,
            cpu_twin: None,
            subtract: None,
            exact: false,
            independent: false,
            limits: Vec::new(),
            card: model::Card::default(),
        };
        let responses = vec![response("wall_ns", Unit::Ns), response("lost_count", Unit::Count)];
        Design { responses, ..Design::default() }
    }

    fn refuse(block: u32, n: &str) -> Record {
        task(block, "thread", n, 0)
            .ended(Outcome::Unsupported { reason: "needs 2 CPUs".into() })
            .record()
    }

    #[test]
    fn reasons_and_checks_without_number_are_told_together() {
        let refuse = |i: u32| Outcome::Unsupported { reason: format!("reason {i}") };
        let mut records: Vec<Record> =
            (0..500).map(|i| task(i, "thread", "1", 0).ended(refuse(i)).record()).collect();
        records.push(task(500, "thread", "1", 0).ended(refuse(7)).record());
        let all: Vec<&Record> = records.iter().collect();
        let counts = outcomes(&all);
        assert_eq!(counts.len(), KINDS_TOLD + 1);
        assert_eq!((counts[0].reason.as_str(), counts[0].trials), ("reason 7", 2));
        assert_eq!(counts.iter().map(|count| count.trials).sum::<u64>(), 501);
        let check = |name: String| Check {
            name: name.into(),
            seen: 1.0,
            low: 2.0,
            high: 3.0,
            wants_cpus: false,
        };
        for count in [KINDS_TOLD as u32, 500] {
            let records: Vec<Record> = (0..count)
                .map(|i| {
                    let mut record = task(i, "thread", "1", 5).record();
                    let checks = vec![check(format!("check {i}")), check("all".into())];
                    record.measured.as_mut().unwrap().checks = checks;
                    record
                })
                .collect();
            let all: Vec<&Record> = records.iter().collect();
            let failed = failed_checks(&all);
            assert!(failed.len() <= KINDS_TOLD, "{}", failed.len());
            assert!(failed.contains(&("all".to_string(), u64::from(count))));
            assert_eq!(failed.iter().map(|(_, trials)| trials).sum::<u64>(), 2 * u64::from(count));
        }
    }

    #[test]
    fn outcomes_are_grouped_by_reason() {
        let mut records: Vec<Record> = (0..3).map(|b| task(b, "thread", "1", 5).record()).collect();
        records.extend((0..20).map(|i| refuse(i, &format!("{i:02}"))));
        let died = Outcome::Died { signal: 11, phase: Phase::Measuring };
        records.push(task(9, "process", "1", 0).ended(died).record());
        let records: Vec<&Record> = records.iter().collect();
        let counts = outcomes(&records);
        let seen: Vec<(&str, &str, u64, usize)> = counts
            .iter()
            .map(|c| (c.outcome.as_str(), c.reason.as_str(), c.trials, c.treatments.len()))
            .collect();
        assert_eq!(
            seen,
            vec![
                ("unsupported", "needs 2 CPUs", 20, 8),
                ("completed", "", 3, 1),
                ("died", "signal 11 while measuring", 1, 1),
            ]
        );
        let warnings = warnings(&timed(), &records, 3);
        assert_eq!(
            warnings,
            vec![
                "20 of 24 trials could not be made here: needs 2 CPUs",
                "1 of 24 trials died: signal 11 while measuring",
                "only 3 blocks: below 6 the intervals assume a normal distribution",
            ]
        );
    }

    #[test]
    fn what_differs_by_a_measured_number_alone_is_one_reason() {
        assert_eq!(
            without_fractions("of 2 CPUs 0.5 % (1.25×) in v1.2.3: 7."),
            "of 2 CPUs … % (…×) in v…: 7."
        );
        assert_eq!(without_fractions("none"), "none");
        let records: Vec<Record> =
            ["takes 1.01 times", "takes 0.98 times", "takes 2 times", "takes 2 times"]
                .into_iter()
                .enumerate()
                .map(|(i, reason)| {
                    let outcome = Outcome::Unsupported { reason: reason.into() };
                    task(i as u32, "thread", "1", 5).ended(outcome).record()
                })
                .collect();
        let counts = outcomes(&records.iter().collect::<Vec<_>>());
        let mut seen: Vec<(&str, u64)> =
            counts.iter().map(|count| (count.reason.as_str(), count.trials)).collect();
        seen.sort_unstable();
        assert_eq!(seen, vec![("takes 2 times", 2), ("takes … times", 2)]);
        let counts = outcomes(&[&records[0], &records[0]]);
        assert_eq!(counts[0].reason, "takes 1.01 times");
    }

    #[test]
    fn failed_checks_count_trials() {
        let mut bad = task(0, "thread", "1", 5).record();
        let check = |name: &str, seen| Check {
            name: name.into(),
            seen,
            low: 0.9,
            high: 1.0,
            wants_cpus: name == "overlap",
        };
        bad.measured.as_mut().unwrap().checks =
            vec![check("overlap", 0.5), check("overlap", 0.6), check("switches", 1.0)];
        let good = task(1, "thread", "1", 5).record();
        assert_eq!(failed_checks(&[&bad, &bad, &good]), vec![("overlap".to_string(), 2)]);
        let described = warnings(&timed(), &[&bad, &good], 9);
        assert_eq!(
            described,
            vec!["check \"overlap\" failed in 1 of 2 trials: other programs used the CPUs"]
        );
        bad.measured.as_mut().unwrap().checks = vec![check("switches", 0.0)];
        let described = warnings(&timed(), &[&bad, &good], 9);
        assert_eq!(described, vec!["check \"switches\" failed in 1 of 2 trials"]);
    }

    #[test]
    fn disturbed_and_leaking_trials_are_told() {
        let loud = Trial::new(0).wall(100).cpu(50).foreign(50).switches(1).record();
        let mut leaky = Trial::new(1).wall(100).cpu(100).record();
        leaky.outcome = Outcome::Completed { leaked: 2 };
        let described = warnings(&timed(), &[&loud, &leaky], 6);
        assert_eq!(
            described,
            vec![
                "other programs used more than 5 % of the elapsed time of 1 of 2 trials",
                "1 trial left processes behind, which were killed",
            ]
        );
        let mut counted = timed();
        counted.responses.retain(|response| response.unit == Unit::Count);
        assert_eq!(warnings(&counted, &[&loud, &leaky], 6), described[1..]);
        // Each taker by its own name: a quota is a condition of the session.
        let stolen = Trial::new(0).wall(100).cpu(50).foreign(0).steal(50).switches(1).record();
        let held = Trial::new(0).wall(100).cpu(50).foreign(0).throttled(50).switches(1).record();
        assert_eq!(
            warnings(&timed(), &[&stolen, &held], 6),
            ["other machines took (steal) more than 5 % of the elapsed time of 1 of 2 trials"]
        );
        assert_eq!([&stolen, &held].map(|one| Tag::Preempted.of(one)), [Some(false); 2]);
        let tagger = Tagger::default();
        assert_eq!(tag_counts(&tagger, [&loud, &leaky]), vec![("preempted".into(), 1)]);
        assert_eq!(warnings(&timed(), &[&leaky], 1)[1], "1 block: an interval needs 2 at least");
    }
}
