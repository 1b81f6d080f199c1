//! The one number of each trial, trial by trial: what every estimate is made from.

use crate::session::sample::{Table, center_of, centre, observations, raw_observations};
use model::Record;

/// What one trial says of one response, in the response's unit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Number {
    /// The trial's number as it was measured: its observations, each divided by the operations it
    /// is the total of, become one as the response's `center` says. `None` if the trial did not
    /// complete or did not observe this.
    pub measured: Option<f64>,
    /// The number that estimates are made from: `measured`, less what others took where the treatment's
    /// estimate is corrected so, and less the control's number of the same block where the response
    /// subtracts one, never clamped. `None` where there is no `measured`,
    /// and where the block lacks the control. The control itself keeps its number.
    pub value: Option<f64>,
    /// Observations behind it.
    pub observations: u64,
    /// Operations that the observations are the totals of, together.
    pub operations: u64,
}

/// One observation of a trial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observation {
    /// What was measured, in the response's unit: the total over `operations`.
    pub total: i64,
    /// Operations, 1 or more.
    pub operations: u64,
}

impl Table<'_> {
    /// Returns what a trial of this experiment says of a response.
    pub fn of(&self, record: &Record, response: &str) -> Number {
        let found = observations(record, response);
        let count = found.len() as u64;
        let measured = centre(found, center_of(self.design, response));
        let carrier = self.design.response(response);
        let carrier = carrier.and_then(|it| self.carrier(it, &record.treatment));
        let name = carrier.as_deref().unwrap_or(response);
        let own = match &carrier {
            Some(_) if !self.losses(response, &record.treatment).is_timed => {
                self.corrected(record, response)
            }
            _ => measured,
        };
        let value = own.and_then(|own| match self.control(name, &record.treatment) {
            None => Some(own),
            Some(control) => Some(own - control.get(&record.block)?),
        });
        let operations = raw_observations(record, response).map(|(_, per)| per);
        let operations = operations.fold(0, u64::saturating_add).max(count);
        Number { measured, value, observations: count, operations }
    }

    /// Returns the observations of a completed trial, in the order in which they were made. Where no
    /// series holds the response, a count that the kernel kept is one observation.
    pub fn observations(&self, record: &Record, response: &str) -> Vec<Observation> {
        let found: Vec<Observation> = raw_observations(record, response)
            .map(|(total, operations)| Observation { total, operations })
            .collect();
        if !found.is_empty() {
            return found;
        }
        // Counts of the kernel are whole; what is beyond 2^53 lost its last bits on the way.
        let counted = observations(record, response).into_iter();
        counted.map(|value| Observation { total: value as i64, operations: 1 }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Trial;
    use crate::samples;
    use model::{Cell, Center, Design, Outcome, Response, Unit};

    fn design() -> Design {
        let response = |name: &str, subtract: bool| Response {
            name: name.into(),
            label: name.into(),
            unit: Unit::Ns,
            center: Center::Mean,
            cpu_twin: None,
            subtract: subtract.then(|| Cell::new([("kind", "none")])),
            exact: false,
            independent: false,
            limits: Vec::new(),
            card: model::Card::default(),
        };
        Design {
            id: "made_up".into(),
            responses: vec![response("call_ns", true), response("bare_ns", false)],
            ..Design::default()
        }
    }

    fn records() -> Vec<Record> {
        let trial = |block, kind, values: &[i64]| {
            let at = Trial::new(block).at([("kind", kind)]);
            at.series("call_ns", 10, values).series("bare_ns", 1, values).wall(7).record()
        };
        let unsupported = Outcome::Unsupported { reason: "no such page".into() };
        vec![
            trial(0, "none", &[40, 60]),
            trial(0, "real", &[100, 200, 300]),
            trial(1, "real", &[500]),
            Trial::new(2).at([("kind", "real")]).ended(unsupported).record(),
        ]
    }

    #[test]
    fn a_trial_tells_what_was_measured_and_what_is_left_without_its_control() {
        let (design, records) = (design(), records());
        let numbers = Table::new(&design, &records);
        let of = |index: usize, response| numbers.of(&records[index], response);
        let call = of(1, "call_ns");
        assert_eq!((call.measured, call.value), (Some(20.0), Some(15.0)));
        assert_eq!((call.observations, call.operations), (3, 30));
        // The control keeps its number; a block without the control has none.
        assert_eq!(of(0, "call_ns").value, Some(5.0));
        assert_eq!((of(2, "call_ns").measured, of(2, "call_ns").value), (Some(50.0), None));
        assert_eq!(of(2, "bare_ns").value, Some(500.0));
        assert_eq!(of(3, "bare_ns"), Number::default());
        // A count of the kernel's is one observation.
        assert_eq!((of(0, "wall_ns").value, of(0, "wall_ns").observations), (Some(7.0), 1));
        let seen = numbers.observations(&records[0], "wall_ns");
        assert_eq!(seen, [Observation { total: 7, operations: 1 }]);
        assert_eq!(numbers.observations(&records[1], "call_ns")[2].total, 300);
        assert!(numbers.observations(&records[3], "call_ns").is_empty());
    }

    #[test]
    fn they_are_the_numbers_that_estimates_are_made_from() {
        let (design, records) = (design(), records());
        let numbers = Table::new(&design, &records);
        for response in ["call_ns", "bare_ns", "wall_ns"] {
            let sampled = samples(&design, &records, response);
            for treatment in numbers.treatments() {
                let mine: Vec<(u32, f64)> = numbers
                    .records(treatment)
                    .iter()
                    .filter_map(|record| Some((record.block, numbers.of(record, response).value?)))
                    .collect();
                assert_eq!(sampled.get(treatment).cloned().unwrap_or_default(), mine);
            }
        }
    }
}
