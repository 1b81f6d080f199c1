//! What kind of evidence a verdict rests on.

use crate::session::sample::Table;
use model::{Grade, Quantity, Record, Response};

/// Returns the grade of a number, and what would raise it; empty at the highest.
///
/// * [`Grade::Pmu`]: all completed trials behind it carry counters of the processor, of which one
///   at least counted.
/// * [`Grade::Software`]: the number itself is kept by software (its unit is a count or bytes, or it
///   is a frequency of events); or each completed trial behind it checked that its treatment was
///   realised, and all those checks held. What is computed is also of this grade, and nothing
///   raises it: no counter of this machine's counts what another would do. A check that only asks whether the trial had the CPUs it
///   wanted does not count: it says that the machine was free, not what the mechanism did.
/// * [`Grade::Timing`]: neither. What was timed is believed to be what its name says.
pub(crate) fn grade(table: &Table<'_>, quantity: &Quantity) -> (Grade, String) {
    let design = table.design;
    let behind: Vec<&Record> = table
        .needed(quantity)
        .iter()
        .flat_map(|treatment| table.records(treatment))
        .filter(|record| record.measured.is_some())
        .copied()
        .collect();
    if behind.is_empty() {
        return (Grade::Timing, "Trials that complete: none did.".into());
    }
    if behind.iter().all(|record| counted_by_processor(record)) {
        return (Grade::Pmu, String::new());
    }
    let response = design.response(quantity.response());
    let exact = |name| design.response(name).is_some_and(|response| response.exact);
    if quantity.responses().all(exact) {
        return (Grade::Software, String::new());
    }
    let counts = response.is_some_and(Response::is_counted)
        || matches!(quantity, Quantity::Frequency { .. });
    let realised = behind.iter().filter(|record| realised(record)).count();
    if counts || realised == behind.len() {
        return (Grade::Software, TO_PMU.into());
    }
    if realised > 0 {
        let lacking = behind.len() - realised;
        return (
            Grade::Timing,
            format!(
                "{lacking} of {} trials have no check that their treatment was realised, or \
                 failed it; if all had passed, this would be a software counter.",
                behind.len()
            ),
        );
    }
    (Grade::Timing, TO_SOFTWARE.into())
}

/// The settings are those that `scruple doctor` names.
const TO_PMU: &str = "The processor's own counters: bare metal or a virtual machine with a virtual \
                      PMU, and kernel.perf_event_paranoid at most 1.";

const TO_SOFTWARE: &str = "A count of what the mechanism predicts (switches, faults, system calls), \
                           from the kernel's software events or tracepoints.";

fn counted_by_processor(record: &Record) -> bool {
    let counters = record.measured.as_ref().map(|measured| &measured.counters.pmu);
    counters.is_some_and(|counters| counters.iter().any(|(_, count)| *count > 0))
}

fn realised(record: &Record) -> bool {
    let checks = record.measured.iter().flat_map(|measured| &measured.checks);
    let mut own = checks.filter(|check| !check.wants_cpus).peekable();
    own.peek().is_some() && own.all(model::Check::holds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{design, task};
    use model::{Cell, Check, Outcome};

    fn ratio(response: &str) -> Quantity {
        let at = |model| Cell::new([("model", model)]);
        Quantity::Ratio { response: response.into(), of: at("process"), to: at("thread") }
    }

    fn check(seen: f64, wants_cpus: bool) -> Check {
        Check { name: "switches per hop".into(), seen, low: 0.9, high: 1.1, wants_cpus }
    }

    /// Returns trials of two treatments with these checks each.
    fn records(checks: &[Check]) -> Vec<Record> {
        let with = |mut record: Record| {
            record.measured.as_mut().unwrap().checks = checks.to_vec();
            record
        };
        let both = |block| ["process", "thread"].map(|m| with(task(block, m, "1", 100).record()));
        (0..4).flat_map(both).collect()
    }

    fn of(records: &[Record], quantity: &Quantity) -> (Grade, String) {
        let design = design();
        grade(&Table::new(&design, records.iter()), quantity)
    }

    #[test]
    fn a_clock_alone_is_timing() {
        let (found, raise) = of(&records(&[]), &ratio("task_ns"));
        assert_eq!((found, raise.as_str()), (Grade::Timing, TO_SOFTWARE));
        // That the CPUs were free says nothing of the mechanism.
        assert_eq!(of(&records(&[check(1.0, true)]), &ratio("task_ns")).0, Grade::Timing);
        assert_eq!(of(&[], &ratio("task_ns")).0, Grade::Timing);
    }

    #[test]
    fn checks_that_hold_in_every_trial_are_counts_by_software() {
        let mut all = records(&[check(1.0, false), check(0.5, true)]);
        assert_eq!(of(&all, &ratio("task_ns")), (Grade::Software, TO_PMU.into()));
        all[3].measured.as_mut().unwrap().checks[0].seen = 2.0;
        let (found, raise) = of(&all, &ratio("task_ns"));
        assert_eq!(found, Grade::Timing);
        assert!(raise.starts_with("1 of 8 trials have no check"), "{raise}");
        all[3].measured.as_mut().unwrap().checks.clear();
        assert_eq!(of(&all, &ratio("task_ns")).0, Grade::Timing);
        // A trial that did not complete stands behind no number; nor does one of elsewhere.
        all[3].outcome = Outcome::Failed { reason: "no".into() };
        all[3].measured = None;
        all.push(task(0, "empty", "1", 1).record());
        assert_eq!(of(&all, &ratio("task_ns")).0, Grade::Software);
    }

    #[test]
    fn counts_are_software_and_the_processors_counters_more() {
        let mut all = records(&[]);
        assert_eq!(of(&all, &ratio("faults_count")).0, Grade::Software);
        let among = Cell::default();
        let seen = Quantity::Frequency { response: "task_ns".into(), among };
        assert_eq!(of(&all, &seen).0, Grade::Software);
        for record in &mut all {
            let pmu = &mut record.measured.as_mut().unwrap().counters.pmu;
            pmu.insert("cycles", 5_u64);
        }
        assert_eq!(of(&all, &ratio("task_ns")), (Grade::Pmu, String::new()));
        // A counter that never ran counted nothing.
        let pmu = &mut all[0].measured.as_mut().unwrap().counters.pmu;
        pmu.insert("cycles", 0_u64);
        assert_eq!(of(&all, &ratio("task_ns")).0, Grade::Timing);
    }
}
