use super::*;
use crate::fixture::{made, response, trial, with};
use model::Unit;

fn read(made: &crate::fixture::Made) -> (serde_json::Value, String) {
    let mut out = Vec::new();
    let left_out = bencher(&made.session(), &Choice::default(), &mut out).unwrap();
    assert!(left_out.no_times.is_empty());
    let text = String::from_utf8(out).unwrap();
    (serde_json::from_str(&text).unwrap(), text)
}

#[test]
fn a_session_as_bencher_metric_format() {
    insta::assert_snapshot!(read(&made()).1);
}

#[test]
fn a_single_trial_has_no_interval() {
    let mut made = made();
    made.records.truncate(2);
    let (json, _) = read(&made);
    let size = json["calls kind=real"]["size-bytes"].as_object().unwrap();
    assert_eq!(size.len(), 1);
    assert_eq!(size["value"], 4096.0);
}

#[test]
fn responses_that_differ_in_a_dash_are_kept_apart() {
    let mut made = made();
    made.manifest.designs[1].responses =
        vec![response("a_b", Unit::Other("x".into())), response("a-b", Unit::Other("x".into()))];
    let it = trial(0, "whole", 0, &[("pages", "4k")]);
    made.records = vec![with(with(it, "a_b", 1, &[1]), "a-b", 1, &[2])];
    let measures = &read(&made).0["whole pages=4k"];
    assert_eq!((&measures["a_b"]["value"], &measures["a-b"]["value"]), (&1.0.into(), &2.0.into()));
}

#[test]
fn a_name_is_never_longer_than_bencher_takes() {
    let long = |end: &str| shortened(&("é".repeat(800) + end));
    assert!(long("").len() <= NAME_BYTES_MAX);
    assert_ne!(long("a"), long("b"));
    assert_eq!(shortened("short"), "short");
}
