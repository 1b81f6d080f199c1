use super::*;
use crate::fixture::made;

fn text(choice: &Choice) -> (LeftOut, String) {
    let made = made();
    let mut out = Vec::new();
    let left_out = hyperfine(&made.session(), choice, &mut out).unwrap();
    (left_out, String::from_utf8(out).unwrap())
}

#[test]
fn a_session_as_hyperfine_writes_it() {
    let (left_out, text) = text(&Choice::default());
    assert_eq!(left_out.no_times, ["calls.size_bytes"]);
    // The treatment that was refused: one trial, and no number of the one response.
    assert_eq!((left_out.not_completed, left_out.without_number), (1, 1));
    insta::assert_snapshot!(text);
}

#[test]
fn the_times_are_those_without_the_control() {
    let (_, text) = text(&Choice { responses: vec!["call_ns".into()], ..Choice::default() });
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let results = json["results"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    let real = &results[1];
    assert_eq!(real["command"], "calls call_ns kind=real");
    // Block 0: the median of 120, 121 and 9000, over ten operations, less that of 40 and 42.
    let first = real["times"][0].as_f64().unwrap();
    assert!((first - (12.1 - 4.1) * 1e-9).abs() < 1e-18, "{first}");
    // The kernel's accounts are of the whole region, and this is of one operation.
    assert!(real["user"].is_null() && real["system"].is_null());
}
