//! Sessions that were made up, each for what it shows.

use super::eyes::Looked;
use super::pipe::browser;
use crate::{fixture, hostile, recorded};
use report::Session;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Writes the report of a session into a folder.
pub(crate) fn written(fixture: &fixture::Fixture, folder: &Path) -> PathBuf {
    let session = Session {
        manifest: &fixture.manifest,
        records: &fixture.records,
        summary: &fixture.summary,
    };
    let page = folder.join(report::REPORT_PAGE);
    std::fs::write(&page, report::html(&session)).unwrap();
    std::fs::write(folder.join(report::CLAIMS_PAGE), report::claims_html(&session)).unwrap();
    page
}

#[test]
fn the_report_works_in_a_browser() {
    let fixture = fixture::session(12);
    let scratch = tempfile::tempdir().unwrap();
    let browser = browser();
    let looked = Looked::open(&browser, &written(&fixture, scratch.path()));

    looked.unfold();
    charts_are_drawn(&looked, &fixture);
    marks_speak(&looked);
    looked.fold();
    for width in [390, 768, 1280] {
        looked.assert_no_overflow(width);
    }
    looked.unfold();
    for width in [390, 768, 1280] {
        looked.assert_no_overflow(width);
    }
    looked.fold();
    schemes_differ(&looked);

    looked.assert_quiet();
}

#[test]
fn text_from_outside_does_nothing_in_a_browser() {
    let browser = browser();
    for (index, fixture) in hostile::bitten().iter().enumerate() {
        let scratch = tempfile::tempdir().unwrap();
        let looked = Looked::open(&browser, &written(fixture, scratch.path()));
        looked.unfold();
        for width in [390, 1280] {
            looked.assert_no_overflow(width);
        }
        looked.ask("document.querySelector('.rows').focus()");
        looked.tab.press("ArrowRight");
        assert_eq!(looked.number("document.getElementById('tip').children.length"), 0.0);
        looked.pictures(&format!("hostile-{index}-1280"));
        assert_eq!(looked.text("typeof window.bitten"), "undefined");
        looked.assert_quiet();
        let looked = Looked::open(&browser, &scratch.path().join(report::CLAIMS_PAGE));
        for width in [390, 1280] {
            looked.assert_no_overflow(width);
        }
        assert_eq!(looked.text("typeof window.bitten"), "undefined");
        looked.assert_quiet();
    }
}

#[test]
fn a_script_that_is_not_the_pages_own_does_not_run() {
    let scratch = tempfile::tempdir().unwrap();
    let page = written(&fixture::session(6), scratch.path());
    let whole = std::fs::read_to_string(&page).unwrap();
    let planted = "<script>window.bitten = 1</script>\
                   <img src=\"data:,x\" onerror=\"window.bitten = 2\"></body>";
    std::fs::write(&page, whole.replacen("</body>", planted, 1)).unwrap();
    let browser = browser();
    let looked = Looked::open(&browser, &page);
    assert_eq!(looked.text("typeof window.bitten"), "undefined");
    // Both were refused, and nothing else.
    let complaints = looked.complaints();
    assert_eq!(complaints.len(), 2, "{complaints:?}");
    assert!(
        complaints.iter().all(|it| it.to_string().contains("Content Security Policy")),
        "{complaints:?}"
    );
}

#[test]
fn accounts_and_exhibits_work_in_a_browser() {
    let fixture = fixture::mechanisms(12);
    let scratch = tempfile::tempdir().unwrap();
    let browser = browser();
    let looked = Looked::open(&browser, &written(&fixture, scratch.path()));
    looked.unfold();
    bars_are_drawn(&looked);
    for width in [390, 768, 1280] {
        looked.assert_no_overflow(width);
        bars_stay_inside(&looked);
    }
    for scheme in ["light", "dark"] {
        looked.scheme(scheme);
        // Large or bold marks must stand out by 3 (WCAG 2.2, success criterion 1.4.11).
        for ratio in looked.ask(&contrasts(".key, .piece-number", ".key")).as_array().unwrap() {
            assert!(ratio.as_f64().unwrap() >= 3.0, "{scheme}: contrast {ratio}");
        }
        for width in [390, 1280] {
            looked.width(width);
            looked.pictures(&format!("mechanisms-{scheme}-{width}"));
        }
    }
    looked.unfold();
    for width in [390, 768, 1280] {
        looked.assert_no_overflow(width);
    }
    looked.width(390);
    wide_tables_scroll(&looked);
    looked.pictures("mechanisms-open-390");
    looked.width(1280);
    looked.pictures("mechanisms-open-1280");
    looked.print();
    looked.pictures("mechanisms-print");
    looked.assert_quiet();
}

#[test]
fn a_session_to_be_doubted_works_in_a_browser() {
    let fixture = fixture::doubted(12);
    let scratch = tempfile::tempdir().unwrap();
    let browser = browser();
    let looked = Looked::open(&browser, &written(&fixture, scratch.path()));
    looked.width(1280);
    // The warning is on the first screen, above every answer.
    let top = |what: &str| {
        looked.number(&format!("document.querySelector('{what}').getBoundingClientRect().top"))
    };
    assert!(top(".note.bad") > 0.0 && top(".note.bad") < 450.0, "{}", top(".note.bad"));
    assert!(top(".note.bad") < top(".answers"));
    looked.unfold();
    the_meter_speaks(&looked);
    for scheme in ["light", "dark"] {
        looked.scheme(scheme);
        for ratio in looked.ask(&contrasts(".key, .piece-number", ".key")).as_array().unwrap() {
            assert!(ratio.as_f64().unwrap() >= 3.0, "{scheme}: contrast {ratio}");
        }
        for width in [400, 1280] {
            looked.assert_no_overflow(width);
            bars_stay_inside(&looked);
            looked.pictures(&format!("doubted-{scheme}-{width}"));
        }
    }
    looked.unfold();
    for width in [400, 768, 1280] {
        looked.assert_no_overflow(width);
    }
    looked.width(400);
    looked.pictures("doubted-open-400");
    looked.print();
    looked.pictures("doubted-print");
    looked.assert_quiet();
}

/// Each stretch of time says what happened in it, wherever it is pointed at.
fn the_meter_speaks(looked: &Looked) {
    let hit = "document.querySelectorAll('.meter .hit')[24]";
    looked.ask(&format!("{hit}.scrollIntoView({{block: 'center', behavior: 'instant'}})"));
    let at = looked.ask(&format!(
        "(() => {{ const b = {hit}.getBoundingClientRect();\
         return [b.left + b.width / 2, b.top + 3]; }})()"
    ));
    let (x, y) = (at[0].as_f64().unwrap(), at[1].as_f64().unwrap());
    looked.tab.point_at(x, y);
    let shown = "new Promise((done) => setTimeout(() => done(0), 150))";
    looked.tab.evaluate(shown);
    let said = looked.text("document.getElementById('tip').textContent");
    assert_eq!(said, looked.text(&format!("{hit}.dataset.tip")));
    assert!(said.ends_with("after the start"), "{said}");
    assert!(said.starts_with("CPU time of others: median "), "{said}");
    looked.tab.point_at(2.0, 2.0);
    looked.tab.evaluate(shown);
}

#[test]
fn the_claims_page_works_in_a_browser() {
    let fixture = fixture::doubted(12);
    let scratch = tempfile::tempdir().unwrap();
    let browser = browser();
    written(&fixture, scratch.path());
    let looked = Looked::open(&browser, &scratch.path().join(report::CLAIMS_PAGE));
    let seen = "Array.from(document.querySelectorAll('#claims section'))\
                .filter((one) => one.getBoundingClientRect().height > 0).map((one) => one.id)";
    assert_eq!(looked.ask(seen), json!(["refuted", "supported", "inconclusive"]));
    looked.ask("document.querySelector('input[value=supported]').click()");
    assert_eq!(looked.ask(seen), json!(["supported"]));
    assert_eq!(looked.text("location.hash"), "#supported");
    looked.ask("(location.hash = 'refuted', 0)");
    looked.tab.evaluate("new Promise((done) => setTimeout(() => done(0), 100))");
    assert_eq!(looked.ask(seen), json!(["refuted"]));
    looked.ask("document.querySelector('input[value=all]').click()");
    looked.unfold();
    for scheme in ["light", "dark"] {
        looked.scheme(scheme);
        for width in [400, 768, 1280] {
            looked.assert_no_overflow(width);
        }
        for width in [400, 1280] {
            looked.width(width);
            looked.pictures(&format!("claims-{scheme}-{width}"));
        }
    }
    looked.print();
    looked.pictures("claims-print");
    // It leads to the experiment's chapter, and the report leads back.
    looked.ask("(document.querySelector('#claims details a').click(), 0)");
    looked.tab.wait_for("#experiment-create");
    assert_eq!(looked.text("document.querySelector(location.hash).className"), "experiment");
    assert_eq!(
        looked.text("document.querySelector('#said a').getAttribute('href')"),
        report::CLAIMS_PAGE
    );
    looked.assert_quiet();
}

/// Parts, rest and line of the total, as the accounts say: two accounts have their numbers.
fn bars_are_drawn(looked: &Looked) {
    looked.width(1280);
    let count = |what: &str| looked.number(&format!("document.querySelectorAll('{what}').length"));
    assert_eq!((count(".sums"), count("figure > .stack")), (2.0, 2.0));
    // The second account's parts are more than its total, so that nothing is left of it.
    assert_eq!((count("figure > .stack .piece"), count("figure > .stack .rest")), (4.0, 1.0));
    let shares = looked.ask(
        "Array.from(document.querySelectorAll('.stack')[0].querySelectorAll('rect'))\
         .map((bar) => bar.getBoundingClientRect().width\
           / document.querySelector('.stack').getBoundingClientRect().width)",
    );
    for (share, expected) in shares.as_array().unwrap().iter().zip([0.314, 0.394, 0.290]) {
        assert!((share.as_f64().unwrap() - expected / 1.01).abs() < 0.01, "{shares}");
    }
}

fn bars_stay_inside(looked: &Looked) {
    let outside = looked.number(
        "Array.from(document.querySelectorAll('.stack rect, .stack text')).filter((mark) => {\
           const a = mark.getBoundingClientRect();\
           const b = mark.closest('.stack').getBoundingClientRect();\
           return a.left < b.left - 2 || a.right > b.right + 2;\
         }).length",
    );
    assert_eq!(outside, 0.0);
}

/// What is wider than a narrow window scrolls in a box of its own.
fn wide_tables_scroll(looked: &Looked) {
    for table in [".wide", ".seen"] {
        let box_of = format!(
            "Array.from(document.querySelectorAll('{table}'), (one) => one.closest('.scroll'))\
             .sort((a, b) => b.scrollWidth - a.scrollWidth)[0]"
        );
        let (wide, room) = (
            looked.number(&format!("{box_of}.scrollWidth")),
            looked.number(&format!("{box_of}.clientWidth")),
        );
        assert!(wide > room && room <= 390.0, "{table}: {wide} in {room}");
        // The first column stays while the others move.
        looked.ask(&format!("{box_of}.scrollTo(200, 0)"));
    }
    let first = looked.number(
        "document.querySelector('.wide tbody th').getBoundingClientRect().left\
         - document.querySelector('.wide').closest('.scroll').getBoundingClientRect().left",
    );
    assert!(first.abs() < 2.0, "{first}");
}

/// An expression for the contrast of each mark's ink with what lies behind it.
fn contrasts(marks: &str, filled: &str) -> String {
    format!(
        "(() => {{\
         const light = (text) => {{\
           const [r, g, b] = text.match(/\\d+/g).map((v) => {{\
             const c = v / 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; }});\
           return 0.2126 * r + 0.7152 * g + 0.0722 * b; }};\
         const behind = (mark) => mark.matches('{filled}') ? getComputedStyle(mark).backgroundColor\
           : getComputedStyle(mark.parentNode.querySelector('.piece')).fill;\
         const ink = (mark) => mark.matches('{filled}') ? getComputedStyle(mark).color\
           : getComputedStyle(mark).fill;\
         return Array.from(document.querySelectorAll('{marks}')).map((mark) => {{\
           const [a, b] = [light(ink(mark)), light(behind(mark))];\
           return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05); }});\
         }})()"
    )
}

/// Charts are judged by their marks: one dot for each trial that measured, one mark for each
/// estimate, and all of them inside their drawings.
fn charts_are_drawn(looked: &Looked, fixture: &fixture::Fixture) {
    looked.width(1280);
    let measured = |id: &str| {
        let own = fixture.records.iter().filter(|record| record.experiment == id);
        own.filter(|record| record.measured.is_some()).count()
    };
    let dots = |id: &str, figure: usize| {
        looked.number(&format!(
            "document.querySelectorAll('#experiment-{id} .figure:has(circle)')[{figure}]\
             .querySelectorAll('.mark circle').length"
        ))
    };
    assert_eq!(dots("null", 0), measured("null") as f64);
    // Four responses of each trial; the treatments of the second grid have a figure of their own.
    let blocks = 12;
    let main_grid = 2 * 3 * 8;
    assert_eq!(dots("workers", 0), f64::from(4 * main_grid * blocks));
    assert_eq!(dots("workers", 1), f64::from(2 * 2 * blocks));
    assert_eq!(dots("create", 0), f64::from(6 * blocks));
    assert_eq!(dots("create", 1), f64::from(3 * 4 * blocks));
    let marks = looked
        .number("document.querySelectorAll('#experiment-workers .panel .mark:has(circle)').length");
    assert_eq!(marks, f64::from(4 * main_grid));
    let stray = looked.number(
        "Array.from(document.querySelectorAll('.canvas .mark use, .canvas .mark circle'))\
         .filter((mark) => {\
           const a = mark.getBoundingClientRect();\
           const b = mark.closest('.canvas').getBoundingClientRect();\
           const x = a.left + a.width / 2; const y = a.top + a.height / 2;\
           return !(x >= b.left - 1 && x <= b.right + 1 && y >= b.top - 1 && y <= b.bottom + 1);\
         }).length",
    );
    assert_eq!(stray, 0.0);
    let flat = looked.number(
        "Array.from(document.querySelectorAll('.canvas, .strip'))\
         .filter((svg) => svg.getBoundingClientRect().width < 100).length",
    );
    assert_eq!(flat, 0.0);
    let high = looked.number(
        "Math.max(...Array.from(document.querySelectorAll('.rows:not(.meter) .row'),\
         (row) => row.getBoundingClientRect().height))",
    );
    assert!((20.0..=60.0).contains(&high), "a row of one or two lines is {high} px high");
}

/// Pointing at a mark and stepping with the keyboard both show its numbers.
fn marks_speak(looked: &Looked) {
    looked.ask("document.querySelector('.plot:has(circle) .mark').scrollIntoView({block: 'center', behavior: 'instant'})");
    let at = looked.ask(
        "(() => { const b = document.querySelector('.plot:has(circle) .mark use').getBoundingClientRect();\
         return [b.left + b.width / 2, b.top + b.height / 2]; })()",
    );
    let (x, y) = (at[0].as_f64().unwrap(), at[1].as_f64().unwrap());
    looked.tab.point_at(x, y);
    let shown = "new Promise((done) => setTimeout(() => done(0), 150))";
    looked.tab.evaluate(shown);
    assert!(!looked.ask("document.getElementById('tip').hidden").as_bool().unwrap());
    let said = looked.text("document.getElementById('tip').textContent");
    assert_eq!(said, row_said(looked, ".figure:has(.plot circle)", 0));
    assert!(said.contains('[') && said.contains("12 trials"), "{said}");
    dots_speak(looked);

    looked.tab.point_at(2.0, 2.0);
    looked.tab.evaluate(shown);
    looked.ask("document.querySelector('.rows').focus()");
    looked.tab.press("Escape");
    assert!(looked.ask("document.getElementById('tip').hidden").as_bool().unwrap());
    looked.tab.press("ArrowRight");
    looked.tab.press("ArrowRight");
    let said = looked.text("document.getElementById('tip').textContent");
    assert_eq!(said, row_said(looked, ".figure:has(.rows:not(.meter))", 1));
    looked.ask("document.querySelector('.rows').blur()");
    assert!(looked.ask("document.getElementById('tip').hidden").as_bool().unwrap());
}

/// What a row of the table behind the first such figure says: what its mark must say.
pub(crate) fn row_said(looked: &Looked, figure: &str, row: usize) -> String {
    looked.text(&format!(
        "(() => {{ const row = document.querySelector('{figure}')\
           .querySelectorAll('.behind tbody tr')[{row}];\
         const cells = Array.from(row.cells, (cell) => cell.textContent);\
         const [estimate, interval, trials] = cells.slice(-3);\
         return `${{cells[0]}}\\n${{`${{estimate}} ${{interval}}`.trim()}}\\n${{trials}} trials`; }})()"
    ))
}

/// The dot that lies farthest from its estimate says which trial it is, also when the table behind its
/// chart has been sorted since.
fn dots_speak(looked: &Looked) {
    let dot = looked.ask(
        "(() => {\
         const middle = (mark) => { const b = mark.getBoundingClientRect();\
           return [b.left + b.width / 2, b.top + b.height / 2]; };\
         const far = (dot) => { const [a, b] = [dot, dot.parentNode.querySelector('use')].map(middle);\
           return Math.hypot(a[0] - b[0], a[1] - b[1]); };\
         const all = Array.from(document.querySelectorAll('.plot .mark circle'));\
         const dot = all.reduce((a, b) => (far(b) > far(a) ? b : a));\
         const [cell, figure] = [dot.parentNode, dot.closest('figure')];\
         const row = Array.from(figure.querySelectorAll('.mark')).indexOf(cell);\
         const name = figure.querySelectorAll('.behind tbody tr')[row].cells[0].textContent;\
         figure.querySelector('.behind').open = true;\
         dot.closest('.plot').scrollIntoView({block: 'center', behavior: 'instant'});\
         const index = Array.from(cell.querySelectorAll('circle')).indexOf(dot);\
         figure.id = 'speaking';\
         return {far: far(dot), at: middle(dot), name, told: cell.dataset.dots.split('\\n')[index]};\
         })()",
    );
    assert!(dot["far"].as_f64().unwrap() > 8.0, "{dot}");
    looked.tab.wait_for("#speaking .behind th button");
    let first = looked.text("document.querySelector('#speaking .behind tbody').textContent");
    // Twice: downwards.
    for _ in 0..2 {
        looked.ask("(document.querySelector('#speaking .behind th button').click(), 0)");
    }
    let sorted = looked.text("document.querySelector('#speaking .behind tbody').textContent");
    assert_ne!(first, sorted);
    looked.tab.point_at(dot["at"][0].as_f64().unwrap(), dot["at"][1].as_f64().unwrap());
    looked.tab.evaluate("new Promise((done) => setTimeout(() => done(0), 150))");
    let (block, value) = dot["told"].as_str().unwrap().split_once(' ').unwrap();
    assert_eq!(
        looked.text("document.getElementById('tip').textContent"),
        format!("{}\ntrial of block {block}: {value}", dot["name"].as_str().unwrap())
    );
    // Back to how it was written.
    looked.ask("(document.querySelector('#speaking .behind th button').click(), 0)");
    assert_eq!(looked.text("document.querySelector('#speaking .behind tbody').textContent"), first);
    looked.ask("(document.querySelector('#speaking .behind').open = false, 0)");
}

/// Both colour schemes have their own background and readable ink.
fn schemes_differ(looked: &Looked) {
    let paper = "getComputedStyle(document.body).backgroundColor";
    let contrast = "(() => {\
        const light = (text) => {\
          const [r, g, b] = text.match(/\\d+/g).map((v) => {\
            const c = v / 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; });\
          return 0.2126 * r + 0.7152 * g + 0.0722 * b; };\
        const at = (q, p) => getComputedStyle(document.querySelector(q))[p];\
        const paper = light(at('body', 'backgroundColor'));\
        return ['body', '.quiet', '.supported .verdict', '.refuted .verdict', '.note-word', 'a']\
          .map((q) => light(at(q, 'color')))\
          .map((ink) => (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05));\
      })()";
    let mut papers = Vec::new();
    for scheme in ["light", "dark"] {
        looked.scheme(scheme);
        papers.push(looked.text(paper));
        // 4.5 is what WCAG 2.2 asks of text (success criterion 1.4.3).
        for ratio in looked.ask(contrast).as_array().unwrap() {
            assert!(ratio.as_f64().unwrap() >= 4.5, "{scheme}: contrast {ratio}");
        }
        for width in [390, 1280] {
            looked.width(width);
            looked.pictures(&format!("{scheme}-{width}"));
        }
    }
    assert_ne!(papers[0], papers[1]);
}

/// The session of the whole catalog that stands under `recorded/`.
#[test]
fn the_recorded_session_works_in_a_browser() {
    let fixture = recorded::session("base");
    let scratch = tempfile::tempdir().unwrap();
    let browser = browser();
    let looked = Looked::open(&browser, &written(&fixture, scratch.path()));
    for width in [390, 768, 1280] {
        looked.assert_no_overflow(width);
    }
    looked.assert_quiet();
}
