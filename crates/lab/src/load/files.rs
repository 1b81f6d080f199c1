//! The files that a load's result may be written to.

use crate::cli::load::LoadArgs;
use crate::destination::Destination;
use crate::{input, ui};
use anyhow::{Context, anyhow};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
use model::LoadSlice;
use report::{Curve, Doc, LoadCurves};
use serde::Serialize;
use std::io::Write;
use std::time::{Duration, SystemTime};
use web::load::{Counts, Outcome, Times};

/// What HdrHistogram's tools show of a maximum is in ms where values are in ns.
const NS_PER_MS: f64 = 1e6;

/// Shows a result: its page, `drawn`, where the command line has it, and JSON or the `plain` document on
/// standard output, unless a file that was asked for goes there or there is none.
pub(super) fn show(
    args: &LoadArgs,
    html: Option<Destination>,
    result: &impl Serialize,
    drawn: &Doc,
    plain: Option<&Doc>,
) -> anyhow::Result<()> {
    if let Some(file) = html {
        file.put(drawn.page().as_bytes()).context("--html")?;
    }
    let mut files = [&args.html, &args.hdr_log, &args.log].into_iter().flatten();
    if !args.json && files.any(|file| input::is_standard(file)) {
        return Ok(());
    }
    match plain {
        Some(plain) => ui::show(args.json, result, |width| plain.text(width)),
        None => Ok(()),
    }
}

/// Returns the times as curves of what was answered within each.
pub(super) fn curves(outcome: &Outcome) -> LoadCurves {
    [&outcome.response, &outcome.service, &outcome.lateness].map(curve)
}

fn curve(times: &Times) -> Curve {
    let counts = |histogram: &Histogram<u64>| -> Vec<(u64, u64)> {
        histogram.iter_recorded().map(|it| (it.value_iterated_to(), it.count_at_value())).collect()
    };
    analysis::answered_within(&counts(&times.known), &counts(&times.censored))
}

/// Writes the histograms of each slice as intervals of a log (version 1.3, histograms of V2, deflated):
/// those of the known times under the tags response, service and lateness, those of requests without an
/// answer, with what had passed by then, under the same with `-given-up`. Values are in ns.
pub(super) fn hdr_log(
    outcome: &Outcome,
    begun: SystemTime,
    file: &mut impl Write,
) -> anyhow::Result<()> {
    let mut serializer = V2DeflateSerializer::new();
    let comment = format!(
        "scruple {} load; values in ns; tags ending in -given-up hold what had passed when a \
         request was given up",
        crate::session::VERSION
    );
    let mut log = IntervalLogWriterBuilder::new()
        .add_comment("[Histogram log format version 1.3]")
        .add_comment(&comment)
        .with_start_time(begun)
        .with_max_value_divisor(NS_PER_MS)
        .begin_log_with(file, &mut serializer)
        .context("cannot begin the log")?;
    for slice in &outcome.slices {
        let LoadSlice { from_ns, until_ns, .. } = slice.seen;
        let [from, length] = [from_ns, until_ns - from_ns].map(Duration::from_nanos);
        let all = [
            ("response", "response-given-up", &slice.response),
            ("service", "service-given-up", &slice.service),
            ("lateness", "lateness-given-up", &slice.lateness),
        ];
        for (known, given_up, times) in all {
            for (tag, counts) in [(known, &times.known), (given_up, &times.censored)] {
                if !counts.is_empty() {
                    log.write_histogram(&histogram(counts)?, from, length, Tag::new(tag))
                        .map_err(|error| anyhow!("{tag}: {error}"))?;
                }
            }
        }
    }
    Ok(())
}

/// Returns a histogram of some times.
fn histogram(counts: &Counts) -> anyhow::Result<Histogram<u64>> {
    let mut histogram = Histogram::new(3)?;
    histogram.auto(true);
    for (ns, count) in counts {
        histogram.record_n(*ns, *count)?;
    }
    Ok(histogram)
}

#[cfg(test)]
#[path = "../../tests/it/hdr_log.rs"]
mod hdr_log;

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests {
    use super::*;
    use web::load::{Counted, Slice};

    fn times(known: &[u64], censored: &[u64]) -> Times {
        let of = |values: &[u64]| {
            let mut histogram = Histogram::new(3).unwrap();
            values.iter().for_each(|value| histogram.record(*value).unwrap());
            histogram
        };
        Times { known: of(known), censored: of(censored) }
    }

    fn slice(from_s: u64, response: Counted) -> Slice {
        let seen = LoadSlice {
            from_ns: from_s * 1_000_000_000,
            until_ns: (from_s + 1) * 1_000_000_000,
            ..LoadSlice::default()
        };
        let lateness = Counted { known: vec![(100, 1)], censored: Vec::new() };
        Slice { seen, response, lateness, ..Slice::default() }
    }

    fn outcome() -> Outcome {
        let counted = |known: &[(u64, u64)], censored: &[(u64, u64)]| Counted {
            known: known.to_vec(),
            censored: censored.to_vec(),
        };
        Outcome {
            result: crate::load::tests::result(),
            steady: None,
            response: times(&[1_000_000, 2_000_000, 900_000_000], &[50_000_000]),
            service: times(&[1_000_000, 1_100_000, 1_200_000], &[]),
            lateness: times(&[100, 900_000, 898_800_000], &[]),
            slices: vec![
                slice(0, counted(&[(1_000_000, 7), (900_000_000, 1)], &[(50_000_000, 2)])),
                slice(1, counted(&[(1_000_000, 5)], &[])),
            ],
        }
    }

    #[test]
    fn a_log_is_read_as_it_was_written() {
        let mut bytes = Vec::new();
        let begun = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        hdr_log(&outcome(), begun, &mut bytes).unwrap();
        let text = String::from_utf8(bytes.clone()).unwrap();
        assert!(text.contains("#[Histogram log format version 1.3]"), "{text}");
        assert!(text.contains("HISTFAAA"), "{text}");
        let all = hdr_log::intervals(&bytes);
        let names: Vec<&str> = all.iter().map(|interval| interval.tag.as_str()).collect();
        assert_eq!(names, ["response", "response-given-up", "lateness", "response", "lateness"]);
        assert!((all[0].max_ms - 900.0).abs() < 1.0, "{} ms", all[0].max_ms);
        assert_eq!(
            (all[3].start, all[3].duration),
            (Duration::from_secs(1), Duration::from_secs(1))
        );
        let known = |interval: &hdr_log::Interval| {
            let histogram = &interval.histogram;
            (histogram.len(), histogram.count_at(1_000_000))
        };
        assert_eq!((known(&all[0]), known(&all[3]), all[1].histogram.len()), ((8, 7), (5, 5), 2));
    }

    #[test]
    fn curves_hold_what_was_given_up() {
        let [response, service, _] = curves(&outcome());
        let shares: Vec<f64> = response.iter().map(|(_, share)| *share).collect();
        // A quarter, a half; who was given up at 50 ms leaves one, answered at 900 ms.
        assert_eq!(shares, [0.25, 0.5, 1.0]);
        assert_eq!(service.len(), 3);
    }
}
