//! The files that a load's result may be written to.

use anyhow::{Context, anyhow};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
use report::LoadCurves;
use std::io::Write;
use std::time::{Duration, SystemTime};
use web::load::{Outcome, Times};

/// What HdrHistogram's tools show of a maximum is in ms where values are in ns.
const NS_PER_MS: f64 = 1e6;

/// The times as curves of what was answered within each.
pub(super) fn curves(outcome: &Outcome) -> LoadCurves {
    LoadCurves {
        response: curve(&outcome.response),
        service: curve(&outcome.service),
        lateness: curve(&outcome.lateness),
    }
}

fn curve(times: &Times) -> Vec<(u64, f64)> {
    let counts = |histogram: &Histogram<u64>| -> Vec<(u64, u64)> {
        histogram.iter_recorded().map(|it| (it.value_iterated_to(), it.count_at_value())).collect()
    };
    analysis::answered_within(&counts(&times.known), &counts(&times.censored))
}

/// Writes the histograms as one interval of a log (version 1.3, histograms of V2, deflated): those of
/// the known times under the tags response, service and lateness, those of what was given up, with
/// what had passed by then, under the same with `-given-up`. Values are in ns.
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
    let elapsed = Duration::from_nanos(outcome.result.elapsed_ns);
    let all = [
        ("response", "response-given-up", &outcome.response),
        ("service", "service-given-up", &outcome.service),
        ("lateness", "lateness-given-up", &outcome.lateness),
    ];
    for (known, given_up, times) in all {
        for (tag, histogram) in [(known, &times.known), (given_up, &times.censored)] {
            if tag == given_up && histogram.is_empty() {
                continue;
            }
            log.write_histogram(histogram, Duration::ZERO, elapsed, Tag::new(tag))
                .map_err(|error| anyhow!("{tag}: {error}"))?;
        }
    }
    Ok(())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests {
    use super::*;
    use hdrhistogram::serialization::Deserializer;
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

    fn times(known: &[u64], censored: &[u64]) -> Times {
        let of = |values: &[u64]| {
            let mut histogram = Histogram::new(3).unwrap();
            values.iter().for_each(|value| histogram.record(*value).unwrap());
            histogram
        };
        Times { known: of(known), censored: of(censored) }
    }

    fn outcome() -> Outcome {
        Outcome {
            result: crate::load::tests::result(),
            response: times(&[1_000_000, 2_000_000, 900_000_000], &[50_000_000]),
            service: times(&[1_000_000, 1_100_000, 1_200_000], &[]),
            lateness: times(&[100, 900_000, 898_800_000], &[]),
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
        let mut tags = Vec::new();
        for entry in IntervalLogIterator::new(&bytes) {
            let LogEntry::Interval(interval) = entry.unwrap() else { continue };
            let encoded = interval.encoded_histogram().as_bytes().to_vec();
            let tag = interval.tag().unwrap().as_str().to_string();
            tags.push((tag, interval.max(), interval.duration(), decoded(&encoded)));
        }
        let names: Vec<&str> = tags.iter().map(|(tag, ..)| tag.as_str()).collect();
        assert_eq!(names, ["response", "response-given-up", "service", "lateness"]);
        let (_, max, duration, histogram) = &tags[0];
        assert!((max - 900.0).abs() < 1.0, "{max} ms");
        assert_eq!(*duration, Duration::from_secs(10));
        assert_eq!(*histogram, outcome().response.known);
    }

    /// Base64 by hand: the tests need no library for forty lines of letters.
    fn decoded(text: &[u8]) -> Histogram<u64> {
        let value = |byte: u8| match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            _ => 63,
        };
        let mut bytes = Vec::new();
        let (mut bits, mut kept) = (0_u32, 0);
        for byte in text.iter().filter(|byte| **byte != b'=') {
            bits = bits << 6 | u32::from(value(*byte));
            kept += 6;
            if kept >= 8 {
                kept -= 8;
                bytes.push((bits >> kept) as u8);
            }
        }
        Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap()
    }

    #[test]
    fn curves_hold_what_was_given_up() {
        let curves = curves(&outcome());
        let shares: Vec<f64> = curves.response.iter().map(|(_, share)| *share).collect();
        // A quarter, a half; who was given up at 50 ms leaves one, answered at 900 ms.
        assert_eq!(shares, [0.25, 0.5, 1.0]);
        assert_eq!(curves.service.len(), 3);
    }
}
