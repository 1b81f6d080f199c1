//! What a program prints.

use crate::bench::{measured, observed, script, test, value};
use libtest_mimic::Trial as Test;
use model::{Metric, Pick, Stream, Subject};

pub(crate) fn tests() -> Vec<Test> {
    vec![
        test("numbers_are_picked_from_both_streams", numbers_are_picked_from_both_streams),
        test("a_metric_that_matches_nothing", a_metric_that_matches_nothing),
        test("gigabytes_are_counted_and_not_kept", gigabytes_are_counted_and_not_kept),
    ]
}

fn metric(response: &str, from: Stream, pick: Pick, scale: f64) -> Metric {
    Metric { response: response.into(), from, pick, scale, ..Metric::default() }
}

fn numbers_are_picked_from_both_streams() {
    let metrics = vec![
        metric("rate_count", Stream::Stdout, Pick::Regex(r"rate: (\S+)".into()), 1000.0),
        metric("spins_count", Stream::Stderr, Pick::Regex(r"^\d+$".into()), 1.0),
    ];
    let text = "echo rate: 1; echo rate: 2.5e1 per s; echo 12 >&2; echo spins >&2";
    let record = measured(Subject { metrics, ..script(text) });
    assert_eq!(value(&record, "rate_count"), 25_000);
    assert_eq!(value(&record, "spins_count"), 12);

    let metrics =
        vec![metric("files_count", Stream::Stdout, Pick::Regex("^(.*) files".into()), 1.0)];
    let record = measured(Subject { metrics, ..script("echo 12,345 files") });
    assert_eq!(value(&record, "files_count"), 12_345);
    assert_eq!(observed(&record, "read_files_count"), "“12,345” as 12345");

    let pointer = Pick::Pointer("/a/1".into());
    let metrics = vec![metric("a_count", Stream::Stdout, pointer, 1.0)];
    let record = measured(Subject { metrics, ..script("echo '{\"a\": [1, 7]}'") });
    assert_eq!(value(&record, "a_count"), 7);
}

fn a_metric_that_matches_nothing() {
    let pick = Pick::Regex("rate: (.*)".into());
    let metrics = vec![metric("rate_count", Stream::Stdout, pick, 1.0)];
    let record = measured(Subject { metrics, ..script("echo speed: 3") });
    assert!(value(&record, "wall_ns") > 0);
    assert_eq!(
        observed(&record, "no_rate_count"),
        "/rate: (.*)/ matches nothing in the 9 bytes of stdout; it begins with \
         “speed: 3\\n”"
    );
}

fn gigabytes_are_counted_and_not_kept() {
    let pick = Pick::Regex("^sum: (.*)".into());
    let metrics = vec![metric("sum_count", Stream::Stdout, pick, 1.0)];
    let text = "head -c 2000000000 /dev/zero; echo; echo sum: 42";
    let record = measured(Subject { metrics, ..script(text) });
    assert_eq!(observed(&record, "stdout_bytes"), (2_000_000_000 + 1 + 8).to_string());
    assert_eq!(value(&record, "sum_count"), 42);
}
