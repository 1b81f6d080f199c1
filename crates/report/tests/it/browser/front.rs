//! The first screen: its picture lies above the fold, and its search leads to what people look for.

use super::eyes::Looked;
use super::made_up::written;
use super::pipe::browser;
use crate::fixture;

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
