//! What a browser sees of loads.

use super::comparison::marks_stay_inside;
use super::eyes::Looked;
use super::pipe::browser;
use crate::loads::{stalled, starved};
use report::LoadCurves;
use std::path::{Path, PathBuf};

/// What these pages are called here; users choose their name.
pub(crate) const PAGE: &str = "load.html";

/// What is read, and what is drawn.
const TEXT: [&str; 5] = [".eyebrow", ".lead", "table th", "table td", ".figure-folds summary"];
const DRAWN: [&str; 2] = ["path.line", "figure text"];

fn written(page: &str, folder: &Path) -> PathBuf {
    let place = folder.join(PAGE);
    std::fs::write(&place, page).unwrap();
    place
}

/// Nothing is cut off, complains, or is too pale, in windows and colours of all kinds.
fn is_seen(page: &str, name: &str) {
    let scratch = tempfile::tempdir().unwrap();
    let browser = browser();
    let looked = Looked::open(&browser, &written(page, scratch.path()));
    for width in [390, 768, 1280] {
        looked.assert_no_overflow(width);
        marks_stay_inside(&looked);
    }
    for (scheme, width) in [("light", 1280), ("dark", 390)] {
        looked.scheme(scheme);
        looked.width(width);
        for (what, ratio) in TEXT.iter().zip(looked.contrasts(&TEXT, "color")) {
            assert!(ratio >= 4.5, "{name}, {scheme}, {what}: contrast {ratio}");
        }
        for (what, property) in DRAWN.iter().zip(["stroke", "fill"]) {
            let ratio = looked.contrasts(&[what], property)[0];
            assert!(ratio >= 3.0, "{name}, {scheme}, {what}: contrast {ratio}");
        }
        looked.pictures(&format!("{name}-{scheme}"));
    }
    assert_eq!(looked.number("document.querySelectorAll('script[src], img, iframe').length"), 0.0);
    looked.assert_quiet();
}

/// Times that spread over six decades.
fn grown() -> LoadCurves {
    let curve = |times: f64| -> Vec<(u64, f64)> {
        (1..=500).map(|n| ((times * 1.03_f64.powi(n)) as u64, f64::from(n) / 500.0)).collect()
    };
    [curve(4e5), curve(2e5), curve(200.0)]
}

#[test]
fn a_load_works_in_a_browser() {
    is_seen(&report::load(&stalled(), &grown()).page(), "load");
}

/// It was starved, its connections were given up, and its address is a script.
#[test]
fn a_load_that_went_wrong_works_in_a_browser() {
    is_seen(&report::load(&starved(), &grown()).page(), "load-starved");
}
