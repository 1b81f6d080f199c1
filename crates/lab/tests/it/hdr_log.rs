//! Reads what `--hdr-log` writes, by the reader of the crate hdrhistogram.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use std::time::Duration;

/// An interval of a log.
#[derive(Debug)]
pub(crate) struct Interval {
    pub(crate) tag: String,
    /// The greatest value in ms.
    pub(crate) max_ms: f64,
    /// From the start of the log.
    pub(crate) start: Duration,
    pub(crate) duration: Duration,
    /// Of values in ns.
    pub(crate) histogram: Histogram<u64>,
}

/// All intervals of a log, each of which has a tag.
pub(crate) fn intervals(bytes: &[u8]) -> Vec<Interval> {
    let mut all = Vec::new();
    for entry in IntervalLogIterator::new(bytes) {
        let LogEntry::Interval(interval) = entry.unwrap() else { continue };
        all.push(Interval {
            tag: interval.tag().unwrap().as_str().to_string(),
            max_ms: interval.max(),
            start: interval.start_timestamp(),
            duration: interval.duration(),
            histogram: decoded(interval.encoded_histogram().as_bytes()),
        });
    }
    all
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
