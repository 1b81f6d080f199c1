//! The first screen: its picture lies above the fold, and its search leads to what people look for.

use super::eyes::Looked;
use super::made_up::written;
use super::pipe::browser;
use crate::{fixture, recorded};

#[test]
fn the_first_screen_shows_answers_and_finds_what_people_ask_for() {
    let mut fixture = fixture::session(6);
    fixture.manifest.designs[0].words = vec!["cost of creation".into()];
    fixture.manifest.designs[1].words = vec!["execution time".into(), "speedup".into()];
    let scratch = tempfile::tempdir().unwrap();
    let browser = browser();
    let looked = Looked::open(&browser, &written(&fixture, scratch.path()));
    looked.width(1280);
    let top = "document.querySelector('.front-field').getBoundingClientRect().top";
    assert!(looked.number(top) < 900.0);
    for (query, place) in [
        ("cost of creation", "#experiment-create"),
        ("execution time", "#experiment-workers"),
        ("speedup", "#experiment-workers"),
    ] {
        looked.ask("(document.activeElement.blur(), 0)");
        looked.tab.press("/");
        assert_eq!(looked.text("document.activeElement.getAttribute('role')"), "combobox");
        looked.ask(&format!(
            "(() => {{ const box = document.querySelector('#find input'); box.value = '{query}';\
               box.dispatchEvent(new Event('input')); return 0; }})()"
        ));
        assert_eq!(
            looked.text("document.querySelector('#find input').getAttribute('aria-expanded')"),
            "true"
        );
        looked.tab.press("Enter");
        let hash = looked.text("location.hash");
        assert!(hash.contains(place.trim_start_matches("#experiment-")), "{query}: {hash}");
    }
    for width in [390, 1280] {
        looked.assert_no_overflow(width);
    }
    looked.assert_quiet();
}

/// The least space between two neighbouring labels of an axis in the first screen, in pixels.
const CLOSEST: &str = "Math.min(...[...document.querySelectorAll('.front-field .row-axis')].flatMap((axis) => {
  const labels = [...axis.children].map((one) => one.getBoundingClientRect()).filter((one) => one.width > 0);
  return labels.slice(1).map((one, before) => one.left - labels[before].right);
}))";

#[test]
fn labels_of_an_axis_keep_a_distance() {
    let browser = browser();
    for name in ["base", "threads"] {
        let scratch = tempfile::tempdir().unwrap();
        let looked = Looked::open(&browser, &written(&recorded::session(name), scratch.path()));
        for width in [360, 390, 768, 1280] {
            looked.width(width);
            let closest = looked.number(CLOSEST);
            assert!((4.0..400.0).contains(&closest), "{name} at {width}: {closest} px");
        }
    }
}
