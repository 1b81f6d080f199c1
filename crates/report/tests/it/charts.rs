//! What `report --terminal` draws, as reviewed snapshots and as promises about any session.

use crate::fixture;
use crate::fixture::Fixture;
use crate::plain::plain;
use crate::recorded;
use report::{Letters, Session};
use unicode_width::UnicodeWidthStr;

fn drawn(fixture: &Fixture, experiments: &[&str], width: usize, letters: Letters) -> String {
    let Fixture { manifest, records, summary } = fixture;
    let experiments: Vec<String> = experiments.iter().map(ToString::to_string).collect();
    let session = Session { manifest, records, summary };
    plain(&report::charts(&session, &experiments, width, letters, false))
}

#[test]
fn a_recorded_session_at_three_widths_and_in_ascii() {
    let base = recorded::session("base");
    for width in [44, 80, 120] {
        let text = drawn(&base, &["create", "false_sharing"], width, Letters::Unicode);
        insta::assert_snapshot!(format!("recorded_{width}"), text);
    }
    let text = drawn(&base, &["create", "false_sharing"], 80, Letters::Ascii);
    insta::assert_snapshot!("recorded_ascii", text);
}

#[test]
fn a_chapter_in_short_takes_at_most_eighty_lines() {
    for name in ["base", "later", "servers", "speedup", "threads"] {
        let session = recorded::session(name);
        for experiment in &session.summary.experiments {
            let text = drawn(&session, &[&experiment.id], 80, Letters::Unicode);
            let lines = text.lines().count();
            assert!(lines <= 80, "{name}, {}: {lines} lines", experiment.id);
        }
    }
}

#[test]
fn twins_over_a_count_are_panels_side_by_side_where_there_is_room() {
    let base = recorded::session("base");
    insta::assert_snapshot!("twins_120", drawn(&base, &["workers"], 120, Letters::Unicode));
}

#[test]
fn made_up_sessions() {
    let create = fixture::session(12);
    insta::assert_snapshot!("made_up_100", drawn(&create, &[], 100, Letters::Unicode));
    let doubted = fixture::doubted(12);
    insta::assert_snapshot!("doubted_60", drawn(&doubted, &[], 60, Letters::Ascii));
    let mechanisms = fixture::mechanisms(12);
    insta::assert_snapshot!("mechanisms_80", drawn(&mechanisms, &[], 80, Letters::Unicode));
}

#[test]
fn every_experiment_of_the_catalog_fits_every_width() {
    let base = recorded::session("base");
    for letters in [Letters::Unicode, Letters::Ascii] {
        for width in [40, 44, 59, 80, 100, 120, 160] {
            let text = drawn(&base, &[], width, letters);
            let wide = text.lines().find(|line| line.width() > width);
            assert_eq!(wide, None, "at {width} columns");
            assert!(letters == Letters::Unicode || text.is_ascii());
            for experiment in &base.summary.experiments {
                assert!(text.contains(&experiment.id), "{}", experiment.id);
            }
        }
    }
}

#[test]
fn narrower_or_wider_than_can_be_is_the_nearest_that_can() {
    let session = fixture::session(3);
    let at = |width| drawn(&session, &[], width, Letters::Unicode);
    assert_eq!(at(0), at(40));
    assert_eq!(at(9_999), at(160));
}
