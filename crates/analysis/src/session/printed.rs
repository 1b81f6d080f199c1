//! What a program printed of itself: numbers that are missing, how they were read, and clocks that the kernel's
//! contradict.

use crate::session::sample::{center_of, trial_value};
use crate::stats::order::median_in_place;
use model::measures::{self, CPU, PROCESSES, WALL};
use model::{Design, Metric, Record, Response, Unit};
use std::collections::BTreeMap;
use wording::number::{self, Terms};

/// How much longer than the elapsed time a program's own clock must say to contradict it: clocks and their
/// reading differ by less.
const LONGER: f64 = 1.05;

/// From how much shorter on a time is not that of the whole program, and up to how much shorter it may be meant
/// to be: what takes a thousandth is a single operation.
const SHORTER: f64 = 5.0;
const MUCH_SHORTER: f64 = 1_000.0;

/// From this share of the CPU time on that no printed time explains, one of them may lack it, if it is not shorter
/// than this part: four processes take a parent some 100 µs, and run for seconds.
const UNEXPLAINED: f64 = 1.0 / 3.0;
const LEAST_PART: f64 = 10_000.0;

/// The same where the program was too short to see whether it makes child processes: many time a part.
const SHORTER_UNSEEN: f64 = 20.0;

/// Returns what a reader must know of the numbers that the program of an experiment printed.
pub(crate) fn warnings(design: &Design, records: &[&Record]) -> Vec<String> {
    let times = metrics(design).into_iter().filter(|(_, response)| response.unit == Unit::Ns);
    let times: Vec<&Response> = times.map(|(_, response)| response).collect();
    let clocks = times.iter().filter_map(|response| clock(design, response, &times, records));
    let outlived = design.subject.as_ref().and_then(|_| outlived(records));
    missing_numbers(design, records).into_iter().chain(clocks).chain(outlived).collect()
}

/// Says in how many trials the program ended before processes that it had begun.
fn outlived(records: &[&Record]) -> Option<String> {
    let completed = || records.iter().filter(|record| record.measured.is_some());
    let has = |record: &&&Record| record.observed.get("outlived").is_some_and(|count| count != "0");
    let (trials, of) = (completed().filter(has).count(), completed().count());
    (trials > 0).then(|| {
        format!(
            "In {trials} of {of} trials the program ended before processes that it had begun: their CPU time counts, \
             the elapsed time is that of the program alone. Let it wait for them"
        )
    })
}

/// Returns the metrics that some completed trials have no number of, in sentences.
pub fn missing_numbers(design: &Design, records: &[&Record]) -> Vec<String> {
    let missing = |(metric, response): (&Metric, &Response)| missing(metric, response, records);
    metrics(design).into_iter().filter_map(missing).collect()
}

/// Returns how the first number of each metric was printed and read, where that was no plain number.
pub fn read_as<'a>(
    design: &Design,
    records: impl IntoIterator<Item = &'a Record> + Clone,
) -> Vec<(String, String)> {
    let first = |(metric, response): (&Metric, &Response)| {
        let fact = measures::read_as(&metric.response);
        let mut records = records.clone().into_iter().filter(|it| it.experiment == design.id);
        let read = records.find_map(|record| record.observed.get(fact.as_str()))?;
        Some((response.label.clone(), read.to_string()))
    };
    metrics(design).into_iter().filter_map(first).collect()
}

/// Returns the metrics of a design with their responses.
fn metrics(design: &Design) -> Vec<(&Metric, &Response)> {
    let metrics = design.subject.iter().flat_map(|subject| &subject.metrics);
    metrics.filter_map(|metric| Some((metric, design.response(&metric.response)?))).collect()
}

/// Says in how many trials a metric has no number, with the commonest reason.
fn missing(metric: &Metric, response: &Response, records: &[&Record]) -> Option<String> {
    let fact = measures::no_number(&metric.response);
    let completed = records.iter().filter(|record| record.measured.is_some());
    let mut reasons: BTreeMap<&str, u64> = BTreeMap::new();
    for why in completed.clone().filter_map(|record| record.observed.get(fact.as_str())) {
        *reasons.entry(why.as_str()).or_default() += 1;
    }
    let (commonest, _) = reasons.iter().max_by_key(|(_, trials)| **trials)?;
    let such_as = if reasons.len() > 1 { ", such as" } else { "" };
    let (trials, of) = (reasons.values().sum::<u64>(), completed.count());
    Some(format!(
        "{} has no number in {trials} of {of} trials{such_as}: {commonest}",
        response.label
    ))
}

/// A program's own time in a trial, with the kernel's.
struct Times {
    own: f64,
    /// All times that it printed, which may be those of its parts.
    parts: f64,
    wall: f64,
    cpu: f64,
}

impl Times {
    /// Reports whether the time may be that of a clock that misses child processes, of which the program made at most
    /// this number; `None` where it was too short to see them.
    fn may_lack_processes(&self, processes: Option<f64>) -> bool {
        let least = match processes {
            Some(processes) if processes < 2.0 => return false,
            Some(_) => SHORTER,
            None => SHORTER_UNSEEN,
        };
        let whole = self.wall.min(self.cpu);
        if self.parts * least < whole && self.own * MUCH_SHORTER > whole {
            return true;
        }
        // Next to a time that may be right, it is held against the CPU time that no printed time explains.
        let rest = self.cpu - self.parts;
        self.parts > 2.0 * self.own
            && rest > UNEXPLAINED * self.cpu
            && self.own * least < rest
            && self.own * LEAST_PART > rest
    }
}

/// Says what contradicts a time that a program printed: the elapsed time and the CPU time of the same trials.
fn clock(
    design: &Design,
    response: &Response,
    all: &[&Response],
    records: &[&Record],
) -> Option<String> {
    let value = |record: &Record, name: &str| trial_value(record, name, center_of(design, name));
    let times = |record: &&Record| {
        let own = value(record, &response.name)?;
        let parts = all.iter().filter_map(|other| value(record, &other.name)).sum();
        Some(Times { own, parts, wall: value(record, WALL)?, cpu: value(record, CPU)? })
    };
    let times: Vec<Times> = records.iter().filter_map(times).collect();
    let all_trials = |holds: &dyn Fn(&Times) -> bool| !times.is_empty() && times.iter().all(holds);
    let middle = |of: &dyn Fn(&Times) -> f64| {
        median_in_place(&mut times.iter().map(of).collect::<Vec<_>>()).unwrap_or(f64::NAN)
    };
    let (own, wall, cpu) = (middle(&|it| it.own), middle(&|it| it.wall), middle(&|it| it.cpu));
    let in_words = |ns: f64| number::value(ns, &Unit::Ns);
    let times_as = |ratio: f64| number::rounded(ratio, Terms::Times);
    let seen = format!("{} ({} by the program's own clock) is", response.label, in_words(own));
    let than = |of: &str, ns: f64| format!("{} {of} ({})", times_as(own / ns), in_words(ns));
    if all_trials(&|it| it.own <= 0.0 && it.wall > 0.0) {
        return Some(format!(
            "{seen} never above 0, the elapsed time is {}: it times nothing, or its clock counts in longer steps, \
             as time() does, or misses child processes, as clock() does, or is read at its end before its start",
            in_words(wall)
        ));
    }
    if all_trials(&|it| it.own > LONGER * it.wall && it.own > LONGER * it.cpu) {
        return Some(format!(
            "{seen} {} and {}: its unit is another, it adds up times of several threads or processes, or it is \
             no time of this run",
            than("the elapsed time", wall),
            than("the CPU time", cpu),
        ));
    }
    if all_trials(&|it| it.own > LONGER * it.wall) {
        return Some(format!(
            "{seen} {} but not more than the CPU time ({}): it may be CPU time, which adds up over \
             threads, as that of clock() does, or its unit is another",
            than("the elapsed time", wall),
            in_words(cpu)
        ));
    }
    let processes = records.iter().filter_map(|record| value(record, PROCESSES));
    let processes = processes.reduce(f64::max);
    all_trials(&|it| it.may_lack_processes(processes)).then(|| {
        format!(
            "{seen} {} less than the elapsed time ({}) and {} less than the CPU time ({}): it times a \
             part of the program or one of several operations, its unit is another, or its clock misses child \
             processes, as clock() does",
            times_as(wall / own),
            in_words(wall),
            times_as(cpu / own),
            in_words(cpu)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Trial;
    use model::{Card, Subject};

    /// Returns an experiment on a program that prints its own time and a speed.
    fn study() -> Design {
        let response =
            |name: &str, label: &str, unit| Response::new(name, label, unit, Card::default());
        let metric = |name: &str| Metric { response: name.into(), ..Metric::default() };
        Design {
            id: "made_up".into(),
            responses: vec![
                response("own_ns", "own", Unit::Ns),
                response("speed", "speed", Unit::Other("MB/s".into())),
            ],
            subject: Some(Subject {
                metrics: vec![metric("own_ns"), metric("speed")],
                ..Subject::default()
            }),
            ..Design::default()
        }
    }

    /// Says what three such trials say; 0 processes mean that none were seen.
    fn said(own_us: i64, wall_us: u64, cpu_us: u64, processes: i64) -> Vec<String> {
        let trial = |block| {
            let times = Trial::new(block).wall(1_000 * wall_us).cpu(1_000 * cpu_us);
            let times = times.series("own_ns", 1, &[1_000 * own_us]);
            let seen = if processes > 0 { vec![processes] } else { Vec::new() };
            times.series(PROCESSES, 1, &seen).record()
        };
        let records: Vec<Record> = (0..3).map(trial).collect();
        warnings(&study(), &records.iter().collect::<Vec<_>>())
    }

    #[test]
    fn a_clock_that_the_kernel_contradicts_is_named() {
        for (own_us, wall_us, cpu_us, processes, part) in [
            (700, 37_000, 30_000, 0, "52.9× less"),
            (700, 37_000, 30_000, 3, "52.9× less than the elapsed time (37.0 ms)"),
            (150_000, 37_000, 150_000, 1, "but not more than the CPU time"),
            (900_000, 37_000, 150_000, 1, "its unit is another"),
            (0, 37_000, 30_000, 1, "never above 0"),
            (-700, 37_000, 30_000, 0, "never above 0"),
        ] {
            let said = said(own_us, wall_us, cpu_us, processes);
            assert!(said.len() == 1 && said[0].contains(part), "{said:?}");
        }
    }

    #[test]
    fn a_clock_without_child_processes_is_named_next_to_one_that_is_right() {
        let mut design = study();
        let threads = Response::new("threads_ns", "threads", Unit::Ns, Card::default());
        design.responses.push(threads);
        let subject = design.subject.as_mut().unwrap();
        subject.metrics.push(Metric { response: "threads_ns".into(), ..Metric::default() });
        let trial = |processes_us: i64| {
            let times = Trial::new(0).wall(576_000_000).cpu(1_060_000_000);
            let times = times.series("own_ns", 1, &[1_000 * processes_us]);
            let times = times.series("threads_ns", 1, &[530_000_000]);
            times.series(PROCESSES, 1, &[5]).record()
        };
        let said = |processes_us| warnings(&design, &[&trial(processes_us)]);
        assert!(
            matches!(&said(572)[..], [one] if one.starts_with("own (572 µs")),
            "{:?}",
            said(572)
        );
        // Both together are all of the CPU time.
        assert_eq!(said(528_000), Vec::<String>::new());
    }

    #[test]
    fn a_time_of_a_part_of_the_program_is_not_doubted() {
        for (own_us, wall_us, cpu_us, processes) in [
            (36_000, 37_000, 30_000, 3),
            // A part, by a program that makes no other process.
            (700, 37_000, 30_000, 1),
            (3_000, 37_000, 30_000, 0),
            // A single operation.
            (7, 37_000, 30_000, 3),
            // It waits, and says for how long it does not.
            (700, 37_000, 900, 3),
        ] {
            assert_eq!(said(own_us, wall_us, cpu_us, processes), Vec::<String>::new());
        }
    }

    #[test]
    fn missing_numbers_and_notations_are_told() {
        let trial = |block, fact: &str, text: &str| Trial::new(block).observed(fact, text).record();
        let records = [
            trial(0, "no_speed", "it is “a”"),
            trial(1, "no_speed", "it is “b”"),
            trial(2, "no_speed", "it is “b”"),
            trial(3, "read_speed", "“1,5” as 1.5"),
        ];
        let told = warnings(&study(), &records.iter().collect::<Vec<_>>());
        assert_eq!(told, ["speed has no number in 3 of 4 trials, such as: it is “b”"]);
        let read = read_as(&study(), &records);
        assert_eq!(read, [("speed".to_string(), "“1,5” as 1.5".to_string())]);
    }
}
