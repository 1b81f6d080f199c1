//! What the layouts of benchmark tools are made of: one response at one treatment.

use crate::choice::Chosen;
use crate::{Choice, Result, Session};
use analysis::{Number, Numbers};
use model::{Design, Record, Response, Treatment, Unit};

/// What a layout has no place for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Responses that are no times, as `experiment.response`, where the layout takes times alone.
    pub no_times: Vec<String>,
    /// Responses that stand only as the CPU time of another one.
    pub stand_as_cpu_time: Vec<String>,
    /// Trials that did not complete.
    pub not_completed: u64,
    /// Pairs of response and treatment without any number.
    pub without_number: u64,
}

/// One response at one treatment, with the trials that have a number.
pub(crate) struct Case<'a, 'n> {
    pub(crate) design: &'a Design,
    pub(crate) response: &'a Response,
    pub(crate) treatment: &'a Treatment,
    pub(crate) numbers: &'n Numbers<'a>,
    pub(crate) trials: Vec<(&'a Record, Number)>,
}

impl Case<'_, '_> {
    /// The numbers that estimates are made from, in the response's unit, in the order of the
    /// session.
    pub(crate) fn values(&self) -> Vec<f64> {
        self.trials.iter().filter_map(|(_, number)| number.value).collect()
    }

    /// The numbers of another response in the same trials, if each has one.
    pub(crate) fn values_of(&self, response: &str) -> Option<Vec<f64>> {
        self.trials.iter().map(|(record, _)| self.numbers.of(record, response).value).collect()
    }
}

/// Hands over every case of the chosen experiments that has a number, those of one response
/// together, in the order of the manifest.
pub(crate) fn each_case<'a>(
    session: &Session<'a>,
    choice: &Choice,
    wanted: impl Fn(&Design, &Response, &mut LeftOut) -> bool,
    mut take: impl FnMut(&Case<'a, '_>),
) -> Result<LeftOut> {
    let mut left_out = LeftOut::default();
    for Chosen { design, responses } in choice.of(session)? {
        let numbers = Numbers::new(design, session.records);
        let treatments = numbers.treatments();
        for treatment in &treatments {
            let lost = |record: &&&Record| record.measured.is_none();
            left_out.not_completed += numbers.records(treatment).iter().filter(lost).count() as u64;
        }
        for response in responses {
            if !wanted(design, response, &mut left_out) {
                continue;
            }
            for &treatment in &treatments {
                let trials = numbers.records(treatment).iter();
                let with_number = |record: &&'a Record| {
                    let number = numbers.of(record, &response.name);
                    number.value.map(|_| (*record, number))
                };
                let trials: Vec<(&Record, Number)> = trials.filter_map(with_number).collect();
                if trials.is_empty() {
                    left_out.without_number += 1;
                    continue;
                }
                take(&Case { design, response, treatment, numbers: &numbers, trials });
            }
        }
    }
    Ok(left_out)
}

/// Whether a response is a time; what is not is noted.
pub(crate) fn is_time(design: &Design, response: &Response, left_out: &mut LeftOut) -> bool {
    let time = response.unit == Unit::Ns;
    if !time {
        left_out.no_times.push(format!("{}.{}", design.id, response.name));
    }
    time
}
