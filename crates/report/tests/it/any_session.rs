//! A session that somebody else, or a bug, has written: any numbers and any words. Rendering it
//! must neither panic nor hand a terminal or a browser a command.

use crate::fixture;
use crate::plain::plain;
use crate::scale;
use model::{Manifest, Record, Summary};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use report::{Letters, Session};
use serde_json::Value;
use unicode_width::UnicodeWidthStr;

/// JSON that no honest session holds: as text, so that numbers at the edge of a type stay exact.
const VALUES: [&str; 17] = [
    "0",
    "-1",
    "1",
    "18446744073709551615",
    "9223372036854775807",
    "-9223372036854775808",
    "4294967295",
    "1e308",
    "-1e308",
    "5e-324",
    "null",
    "[]",
    "\"\"",
    "\"{} {} }{ \\u0000\\u001b]0;owned\\u0007\\u009b31m\\u202e\\u2066\"",
    "\"<script>alert(1)</script> \\\" ' & </style>\"",
    "\"名前の長い実験 e\\u0301 ☎\\ufe0f 👩‍👩‍👧 \\u200b幅\"",
    "true",
];

/// The leaves of a value, each with its path.
fn leaves<'a>(value: &'a mut Value, into: &mut Vec<&'a mut Value>) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| leaves(item, into)),
        Value::Object(fields) => fields.values_mut().for_each(|field| leaves(field, into)),
        leaf => into.push(leaf),
    }
}

/// The value with other leaves, as far as they are of its type.
fn altered<T>(honest: &T, changes: &[(Index, &str)]) -> T
where
    T: serde::Serialize + serde::de::DeserializeOwned,
{
    let mut value = serde_json::to_value(honest).unwrap();
    for (at, other) in changes {
        let before = value.clone();
        let mut all = Vec::new();
        leaves(&mut value, &mut all);
        *all.swap_remove(at.index(all.len())) = serde_json::from_str(other).unwrap();
        if serde_json::from_value::<T>(value.clone()).is_err() {
            value = before;
        }
    }
    serde_json::from_value(value).unwrap()
}

fn changes(most: usize) -> impl Strategy<Value = Vec<(Index, &'static str)>> {
    prop::collection::vec((any::<Index>(), select(&VALUES[..])), 0..most)
}

/// Renders in every way, and looks for what must not be there.
fn render(manifest: &Manifest, records: &[Record], summary: &Summary) {
    let session = Session { manifest, records, summary };
    for page in [report::html(&session), report::claims_html(&session)] {
        assert!(!page.contains("<script>alert"), "a word became a tag");
    }
    let texts = [
        report::terminal(&session, 80, Letters::Unicode, None),
        report::terminal(&session, 80, Letters::Unicode, Some(45)),
        report::selftest_text(&session, 80),
    ];
    let charts = [(40, Letters::Unicode), (80, Letters::Ascii), (121, Letters::Unicode)];
    let charts = charts.map(|(width, letters)| {
        let text = report::charts(&session, &[], width, letters, false);
        let plain = plain(&text);
        let wide = plain.lines().find(|line| line.width() > width);
        assert_eq!(wide, None, "wider than {width} columns");
        assert!(letters == Letters::Unicode || plain.is_ascii(), "{plain}");
        text
    });
    for text in texts.into_iter().chain(charts) {
        let plain = plain(&text);
        let bad = |c: &char| {
            (c.is_control() && *c != '\n')
                || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        };
        assert_eq!(plain.chars().find(bad), None, "{plain}");
    }
}

proptest! {
    #![proptest_config(scale::at_scale(24))]

    #[test]
    fn any_summary_is_rendered(
        of_manifest in changes(8),
        of_records in changes(24),
        of_summary in changes(48),
        doubted in any::<bool>(),
    ) {
        let honest = if doubted { fixture::doubted(2) } else { fixture::mechanisms(3) };
        let manifest = altered(&honest.manifest, &of_manifest);
        let records = altered(&honest.records, &of_records);
        let summary = altered(&honest.summary, &of_summary);
        render(&manifest, &records, &summary);
    }

    #[test]
    fn any_trials_are_analysed_and_rendered(
        of_manifest in changes(8),
        of_records in changes(24),
        few in any::<bool>(),
    ) {
        let honest = if few { fixture::mechanisms(2) } else { fixture::session(4) };
        let manifest = altered(&honest.manifest, &of_manifest);
        let records = altered(&honest.records, &of_records);
        let summary = analysis::summarise(&analysis::Input {
            scruple: "0.1.0",
            session: &manifest.session,
            complete: true,
            environment: &manifest.environment,
            shield: &manifest.shield,
            designs: &manifest.designs,
            records: &records,
        });
        render(&manifest, &records, &summary);
    }
}

#[test]
fn numbers_that_json_cannot_hold_are_rendered() {
    for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN_POSITIVE, -0.0] {
        let mut session = fixture::doubted(3);
        for experiment in &mut session.summary.experiments {
            for variance in &mut experiment.variances {
                (variance.total, variance.between_trials) = (number, number);
            }
            for floor in &mut experiment.floors {
                (floor.now, floor.in_ten_times) = (Some(number), Some(number));
            }
            for planted in &mut experiment.planted {
                (planted.without, planted.size) = (number, Some(number));
                planted.truth = model::Region { low: Some(number), high: Some(number) };
            }
            for row in &mut experiment.estimates {
                row.untagged.iter_mut().for_each(|untagged| untagged.point = number);
            }
            let rows = experiment.estimates.iter_mut().map(|row| &mut row.estimate);
            let claims = experiment.claims.iter_mut().map(|claim| &mut claim.result.estimate);
            let findings = experiment.findings.iter_mut().map(|one| &mut one.result.estimate);
            for estimate in rows.chain(claims).chain(findings).flatten() {
                (estimate.point, estimate.high) = (number, number);
                estimate.standard_error = Some(number);
            }
        }
        session.summary.trust.floor = Some(number);
        for control in &mut session.summary.trust.controls {
            (control.ratio.low, control.ratio.high) = (number, number);
        }
        let meter = &mut session.summary.meter;
        (meter.calibration_ns, meter.calibration_spread) = (Some(number), Some(number));
        (meter.steal_share, meter.throttled_share) = (Some(number), Some(number));
        render(&session.manifest, &session.records, &session.summary);
    }
}
