use super::*;
use crate::fixture::Trial;
use proptest::prelude::*;

fn trial(number: u64) -> Trial {
    Trial::new(number as u32).throttled(0).steal(0).calibration(20_000, 20_000)
}

fn metered(environment: &Environment, shield: &ShieldReport, records: &[Record]) -> Meter {
    let input = Input {
        scruple: "0.1.0",
        session: "s",
        complete: true,
        environment,
        shield,
        designs: &[],
        records,
    };
    meter(&input, &Tagger::over(&[], records))
}

fn meter_of(records: &[Record]) -> Meter {
    metered(&Environment::default(), &ShieldReport::default(), records)
}

fn with(settings: &[(&str, &str)]) -> Environment {
    let settings = settings.iter().map(|(name, value)| (name.to_string(), value.to_string()));
    Environment { settings: settings.collect(), ..Environment::default() }
}

#[test]
fn a_quiet_session_has_nothing_to_recognise() {
    let records: Vec<Record> = (0..12).map(|number| trial(number).record()).collect();
    let quiet = with(&[("autogroup", "1"), ("governor", "performance")]);
    let means = vec!["v1 with the highest CPU weight".to_string(), "nice -20".to_string()];
    let shield = ShieldReport { means, ..ShieldReport::default() };
    let meter = metered(&quiet, &shield, &records);
    let expected = Meter {
        calibration_ns: Some(20_000.0),
        calibration_spread: Some(0.0),
        steal_share: Some(0.0),
        throttled_share: Some(0.0),
        ..Meter::default()
    };
    assert_eq!(meter, expected);
    assert_eq!(meter_of(&[]), Meter::default());
}

#[test]
fn shares_are_of_the_time_of_the_trials_that_tell() {
    let mut records: Vec<Record> = (0..3).map(|number| trial(number).record()).collect();
    // Each lived 5,000 ns. The first was held back on several CPUs at once.
    records[0].machine.throttled_ns = Some(12_000);
    records[1].machine.throttled_ns = None;
    records[1].machine.steal_ns = Some(3_000);
    records[2].machine.cpu_pressure_ns = Some(500);
    records[0].machine.cpu_pressure_ns = Some(5_100);
    let meter = meter_of(&records);
    assert_eq!(meter.throttled_share, Some(0.5));
    assert_eq!(meter.steal_share, Some(0.2));
    assert_eq!(meter.cpu_pressure_share, Some(0.55));
    assert_eq!(meter.tagged, 2);
    assert_eq!(meter.tags, vec![("stolen from".to_string(), 1), ("throttled".to_string(), 1)]);
    assert_eq!(
        meter.conditions,
        [
            "A quota limits CPU time: it throttled 1 of 3 trials, for 50.0 % of their time in all. Raise \
          cpu.max or cpu.cfs_quota_us of its cgroup."
        ]
    );
    assert_eq!(
        meter.recognised,
        vec![
            "The hypervisor gave 20.0 % of the time of the trials, as of one CPU, to other machines \
             (steal).",
        ]
    );
}

#[test]
fn a_quota_is_told_with_what_it_did() {
    let limited = with(&[("cpu_quota", "1.50 CPUs")]);
    let shield = ShieldReport::default();
    let described = |records: &[Record]| metered(&limited, &shield, records).recognised;
    assert_eq!(
        described(&[trial(0).record()]),
        ["A quota limits CPU time to 1.50 CPUs: it throttled no trial."]
    );
    assert_eq!(
        described(&[Trial::new(0).record()]),
        ["A quota limits CPU time to 1.50 CPUs: the kernel does not tell whether it throttled \
             trials."]
    );
}

/// A program may enter a cgroup itself, which the session's settings know nothing of.
#[test]
fn a_quota_that_the_program_enters_is_a_condition() {
    let held = Trial::new(0).wall(1000).cpu(300).series("throttled_ns", 1, &[600]);
    let records = [held.observed("quota_entered", "0.30 CPUs").record(), trial(1).record()];
    let found = metered(&with(&[]), &ShieldReport::default(), &records).conditions;
    let [quota] = &found[..] else { panic!("{found:?}") };
    for part in ["0.30 CPUs", "1 of 2 trials", "60 %"] {
        assert!(quota.contains(part), "{quota}");
    }
}

/// Each state that a session may inherit is a condition, with what was recorded of it.
#[test]
fn inherited_state_is_a_condition_of_all_trials() {
    let shield = ShieldReport::default();
    assert_eq!(metered(&with(&[]), &shield, &[]).conditions, [""; 0]);
    let names = ["tracer", "seccomp", "nice", "scheduling_policy", "timer_slack", "personality"];
    let more = ["thp_of_process", "memory_policy", "io_priority", "speculation"];
    for name in names.into_iter().chain(more) {
        let meter = metered(&with(&[(name, "VALUE")]), &shield, &[]);
        assert!(meter.conditions.len() == 1 && meter.conditions[0].contains("VALUE"), "{meter:?}");
        assert_eq!(meter.recognised, [""; 0]);
    }
}

#[test]
fn what_the_settings_do_is_recognised() {
    let mut machine = with(&[
        ("autogroup", "1"),
        ("governor", "powersave"),
        ("frequency_driver", "intel_pstate"),
    ]);
    machine.threads_per_core = 2;
    let shield = |means: &[&str]| ShieldReport {
        means: means.iter().map(|means| means.to_string()).collect(),
        ..ShieldReport::default()
    };
    let described = metered(&machine, &shield(&["nice -20"]), &[]).recognised;
    assert_eq!(described.len(), 3, "{described:?}");
    assert!(described[0].starts_with("Niceness is the only shield here and autogroup is on"));
    assert!(described[1].starts_with("The frequency governor is powersave (driver intel_pstate):"));
    assert!(described[2].starts_with("A core runs 2 hardware threads"));
    // A weight acts between sessions; no shield at all is told elsewhere.
    for means in [&["v2 with the highest CPU weight", "nice -20"][..], &[]] {
        assert_eq!(metered(&machine, &shield(means), &[]).recognised.len(), 2);
    }
    machine.settings.insert("autogroup".into(), "0".into());
    assert_eq!(metered(&machine, &shield(&["nice -20"]), &[]).recognised.len(), 2);
}

#[test]
fn a_clock_that_changes_is_told_from_one_that_is_unsteady() {
    let falling = |number: u64| {
        let ns = if number < 15 { 20_000 } else { 21_000 };
        trial(number).calibration(ns, ns).record()
    };
    // Stored in any order; the trials' numbers tell the time.
    let mut records: Vec<Record> = (0..30).map(falling).rev().collect();
    let meter = meter_of(&records);
    assert_eq!(meter.calibration_ns, Some(20_500.0));
    assert!((meter.calibration_spread.unwrap() - 0.05).abs() < 1e-9);
    assert_eq!(meter.recognised.len(), 1, "{:?}", meter.recognised);
    assert!(meter.recognised[0].contains("the same loop took 5.0 % longer than in the first"));
    for (index, record) in records.iter_mut().enumerate() {
        let ns = if index % 4 == 0 { 26_000 } else { 20_000 };
        record.measured.as_mut().unwrap().calibration =
            Some(model::Calibration { before_ns: 20_000, after_ns: ns });
    }
    let meter = meter_of(&records);
    assert!((meter.calibration_spread.unwrap() - 0.3).abs() < 1e-9);
    assert_eq!(meter.recognised.len(), 1, "{:?}", meter.recognised);
    assert!(meter.recognised[0].contains("took 30 % longer than the fastest"));
}

#[test]
fn two_kinds_of_cpu_are_no_clock_that_changes() {
    let pinned = |number: u64| {
        let (cpu, ns) = if number < 15 { ("0", 20_000) } else { ("8", 35_000) };
        trial(number).observed("affinity", cpu).calibration(ns, ns).record()
    };
    let records: Vec<Record> = (0..30).map(pinned).collect();
    let meter = meter_of(&records);
    assert_eq!((meter.calibration_spread, meter.tagged), (Some(0.0), 0));
    assert!(meter.recognised.is_empty(), "{:?}", meter.recognised);
}

proptest! {
    #[test]
    fn any_numbers_make_a_meter_that_json_can_hold(
        numbers in proptest::collection::vec(any::<[u64; 5]>(), 0..24),
    ) {
        let one = |[before, after, throttled, steal, total]: &[u64; 5]| {
            let trial = Trial::new(0).calibration(*before, *after).throttled(*throttled);
            let mut record = trial.steal(*steal).record();
            record.total_ns = *total;
            record
        };
        let records: Vec<Record> = numbers.iter().map(one).collect();
        let meter = meter_of(&records);
        let shares = [
            meter.calibration_ns,
            meter.calibration_spread,
            meter.steal_share,
            meter.throttled_share,
        ];
        prop_assert!(shares.into_iter().flatten().all(|share| share.is_finite() && share >= 0.0));
        prop_assert!(meter.throttled_share.is_none_or(|share| share <= 1.0));
        prop_assert!(meter.tagged <= records.len() as u64);
    }
}

#[test]
fn who_stood_still_is_told() {
    let mut records: Vec<Record> = (0..5).map(|number| trial(number).record()).collect();
    records[1] = trial(1).suspended(12_300).record();
    records[2] = trial(2).suspended(1_000).record();
    records[3] = trial(3).paused().record();
    records[4] = trial(4).stood_still().joined().record();
    let meter = meter_of(&records);
    assert_eq!(meter.tags, vec![("paused".to_string(), 1), ("suspended".to_string(), 2)]);
    let [machine, own, trial, other] = &meter.recognised[..] else {
        panic!("{:?}", meter.recognised)
    };
    assert!(machine.contains("suspended, for 13.3 s in all, during 2 trials"), "{machine}");
    assert!(own.contains("stopped and continued") && own.contains("during 1 trial:"), "{own}");
    assert!(trial.starts_with("1 trial stood still for a while: stopped (SIGSTOP)"), "{trial}");
    assert!(trial.ends_with("It is tagged."), "{trial}");
    assert!(other.contains("on the same CPUs during 1 trial: the times of both"), "{other}");
}

#[test]
fn inherited_limits_on_memory_are_recognised() {
    let mut environment = Environment::default();
    assert_eq!(memory_limits(&environment).count(), 0);
    environment.settings.insert("limit_memory_cgroup".into(), "600 MB".into());
    environment.settings.insert("limit_address_space".into(), "307 MB".into());
    let described: Vec<String> = memory_limits(&environment).collect();
    assert_eq!(described.len(), 2);
    assert!(
        described[0].starts_with("A memory cgroup limits this session to 600 MB"),
        "{described:?}"
    );
}
