//! What a browser sees of a program's waits.

use super::eyes::Looked;
use super::pipe::browser;
use model::{ThreadTime, WaitKind, Watched, WatchedCell, WatchedThread, WatchedWait};
use report::Letters;

/// A program of two threads, one of which waits for a lock whose name is long and a script.
fn watched() -> Watched {
    let time = |running_ns, ready_ns, waiting_ns| ThreadTime { running_ns, ready_ns, waiting_ns };
    let cell = |place: u64| WatchedCell {
        time: time(1_000 * (place % 7), 500, 1_000 * (6 - place % 7)),
        wait: (place % 7 < 6).then_some(0),
    };
    let thread = |tid| WatchedThread {
        name: "worker".into(),
        pid: 1,
        tid,
        time: time(240_000, 40_000, 200_000),
        wait: Some(0),
        cells: (0..80).map(cell).collect(),
    };
    Watched {
        command: vec!["made up".into()],
        elapsed_ns: 520_000,
        processes: 1,
        threads_at_once: 2,
        looks: 80,
        time: time(480_000, 80_000, 400_000),
        waits: vec![WatchedWait {
            kind: WaitKind::Lock,
            what: "<script>alert(1)</script>".repeat(6),
            ns: 400_000,
            found: 100,
            ..WatchedWait::default()
        }],
        threads: [2, 3].map(thread).into(),
        cell_ns: 6_500,
        ..Watched::default()
    }
}

#[test]
fn waits_work_in_a_browser() {
    let scratch = tempfile::tempdir().unwrap();
    let page = scratch.path().join(super::load::PAGE);
    std::fs::write(&page, report::waits(&watched(), Letters::Unicode).page()).unwrap();
    let browser = browser();
    let looked = Looked::open(&browser, &page);
    for width in [390, 768, 1280] {
        looked.width(width);
        looked.assert_no_overflow(width);
        // A stroke around each cell of a timeline would cover it.
        let drawn = "[...document.querySelectorAll('.timeline .piece')].filter(it => \
                     getComputedStyle(it).stroke === 'none' && it.getBoundingClientRect().width > 100)";
        assert_eq!(looked.number(&format!("{drawn}.length")), 6.0, "{width}");
    }
    for (scheme, width) in [("light", 1280), ("dark", 390)] {
        looked.scheme(scheme);
        looked.width(width);
        let ratio = looked.contrasts(&[".timeline .piece"], "fill")[0];
        assert!(ratio >= 3.0, "{scheme}: contrast {ratio}");
        looked.pictures(&format!("waits-{scheme}"));
    }
    assert_eq!(looked.number("document.querySelectorAll('script[src], img, iframe').length"), 0.0);
    looked.assert_quiet();
}
