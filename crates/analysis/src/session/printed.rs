//! What a program printed of itself: numbers that are missing, and how they were read.

use model::{Design, Metric, Record, Response, measures};
use std::collections::BTreeMap;

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Trial;
    use model::{Card, Subject, Unit};

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

    #[test]
    fn missing_numbers_and_notations_are_told() {
        let trial = |block, fact: &str, text: &str| Trial::new(block).observed(fact, text).record();
        let records = [
            trial(0, "no_speed", "it is “a”"),
            trial(1, "no_speed", "it is “b”"),
            trial(2, "no_speed", "it is “b”"),
            trial(3, "read_speed", "“1,5” as 1.5"),
        ];
        let told = missing_numbers(&study(), &records.iter().collect::<Vec<_>>());
        assert_eq!(told, ["speed has no number in 3 of 4 trials, such as: it is “b”"]);
        let read = read_as(&study(), &records);
        assert_eq!(read, [("speed".to_string(), "“1,5” as 1.5".to_string())]);
    }
}
