use super::*;
use crate::fixture::made;

fn read(choice: &Choice) -> (LeftOut, serde_json::Value, String) {
    let made = made();
    let mut out = Vec::new();
    let left_out = google_benchmark(&made.session(), choice, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    (left_out, serde_json::from_str(&text).unwrap(), text)
}

#[test]
fn a_session_as_google_benchmark_writes_it() {
    let (left_out, _, text) = read(&Choice::default());
    assert_eq!(left_out.no_times, ["calls.size_bytes"]);
    assert_eq!(left_out.stand_as_cpu_time, ["calls.call_cpu_ns"]);
    insta::assert_snapshot!(text);
}

#[test]
fn every_entry_has_what_compare_py_reads_and_repetitions_are_counted() {
    let (_, json, _) = read(&Choice::default());
    let entries = json["benchmarks"].as_array().unwrap();
    for entry in entries {
        for field in ["real_time", "cpu_time"] {
            assert!(entry[field].is_number(), "{entry}");
        }
        assert_eq!(entry["time_unit"], "ns");
        let name = entry["run_name"].as_str().unwrap();
        let trials = entries
            .iter()
            .filter(|other| other["run_name"] == name && other["run_type"] == "iteration");
        assert_eq!(entry["repetitions"], trials.count());
    }
    let of = |name: &str| entries.iter().find(|entry| entry["name"] == name).unwrap();
    assert_eq!(of("calls/call_ns/kind:real_mean")["aggregate_unit"], "time");
    assert_eq!(of("calls/call_ns/kind:real_cv")["aggregate_unit"], "percentage");
    // With the CPU time of the same work, less the same control; without one, and saying so.
    assert_eq!(of("calls/call_ns/kind:real")["cpu_time"], 7.5);
    assert!(of("calls/call_ns/kind:real")["label"].is_null());
    assert_eq!(of("whole/wall_ns/pages:4k")["cpu_time"], of("whole/wall_ns/pages:4k")["real_time"]);
    assert_eq!(of("whole/wall_ns/pages:4k")["label"], NO_CPU_TIME);
}

#[test]
fn a_cpu_time_that_is_asked_for_is_given() {
    let choice = Choice { responses: vec!["call_cpu_ns".into()], ..Choice::default() };
    let (left_out, json, _) = read(&choice);
    assert!(left_out.stand_as_cpu_time.is_empty());
    assert_eq!(json["benchmarks"][0]["run_name"], "calls/call_cpu_ns/kind:none");
}
