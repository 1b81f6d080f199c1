//! The charts of the recorded session, judged by their marks.

use super::eyes::Looked;
use super::made_up::written;
use super::pipe::browser;
use crate::fixture::Fixture;
use crate::recorded;
use serde_json::Value;

/// One browser for all that is asked of one page: opening it costs more than asking.
#[test]
fn the_charts_of_the_recorded_session_are_true_to_it() {
    let fixture = recorded::session("base");
    let scratch = tempfile::tempdir().unwrap();
    let browser = browser();
    let looked = Looked::open(&browser, &written(&fixture, scratch.path()));
    looked.width(1280);
    looked.unfold();
    declared_figures_are_drawn(&looked, &fixture);
    distributions_rise_from_none_to_all(&looked, &fixture);
    caches_stand_where_they_belong(&looked, &fixture);
    panels_share_what_looks_the_same(&looked);
    marks_speak(&looked, ".distributions");
    for width in [390, 768, 1280] {
        looked.fold();
        looked.assert_no_overflow(width);
        looked.unfold();
        everything_stays_inside(&looked, width);
        looked.assert_no_overflow(width);
    }
    it_prints_to_few_sheets(&looked);
    it_is_read_at_a_glance(&looked);
    looked.assert_quiet();
}

/// On paper what is folded away stays so, charts stand beside one another, and a chapter begins where
/// the last one ended: unfolded, and with a sheet for each chapter, it was 162 sheets.
fn it_prints_to_few_sheets(looked: &Looked) {
    looked.fold();
    let folded = "document.querySelectorAll('details:not([open])').length";
    let before = looked.number(folded);
    let pdf = looked.pdf();
    let page = b"/Type /Page";
    let after = |at: usize| pdf.get(at + page.len()).copied();
    let sheets = (0..pdf.len())
        .filter(|at| pdf[*at..].starts_with(page) && after(*at) != Some(b's'))
        .count();
    assert!((5..=30).contains(&sheets), "{sheets} sheets");
    // What was unfolded for the paper is folded again.
    assert_eq!(looked.number(folded), before);
}

/// With its folds closed the whole page has twelve screens and 6000 words, and the first figure stands in the
/// first of them. In a narrow window the contents' bar lies beside no text, and a link into a fold opens it.
fn it_is_read_at_a_glance(looked: &Looked) {
    looked.fold();
    looked.width(1280);
    let screens = looked.number("document.documentElement.scrollHeight / 900");
    assert!(screens <= 12.0, "{screens} screens");
    let words = looked.number("document.body.innerText.split(/\\s+/).length");
    assert!(words <= 6000.0, "{words} words");
    let first = looked.number(
        "Math.min(...Array.from(document.querySelectorAll('svg'), (svg) => svg.getBoundingClientRect())\
         .filter((box) => box.width > 150 && box.height > 60).map((box) => box.top + scrollY))",
    );
    assert!(first < 900.0, "the first figure is at {first} px");
    looked.width(390);
    // What stays while the text is scrolled takes the whole width, or else would lie upon a part of it.
    let upon = looked.ask(
        "Array.from(document.body.querySelectorAll('*')).filter((one) => {\
           const box = one.getBoundingClientRect();\
           return ['fixed', 'sticky'].includes(getComputedStyle(one).position) && box.height > 0 &&\
             !one.closest('table') && box.width < document.documentElement.clientWidth; }).map((one) => one.outerHTML)",
    );
    assert_eq!(list(&upon).len(), 0, "{upon}");
    looked.width(1280);
    looked.ask("(location.hash = 'experiment-create-chart-2', 0)");
    looked.tab.wait_for("details[open] #experiment-create-chart-2");
    looked.fold();
}

fn list(value: &Value) -> &Vec<Value> {
    value.as_array().unwrap()
}

/// "19.5 µs [19.3, 19.7]" in nanoseconds.
fn nanoseconds(text: &str) -> Option<f64> {
    let mut words = text.split(' ');
    let number: f64 = words.next()?.replace('\u{202f}', "").parse().ok()?;
    let unit = [("fs", 1e-6), ("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)];
    let word = words.next()?;
    unit.iter().find(|(name, _)| *name == word).map(|(_, factor)| number * factor)
}

/// Each declared figure has a chart in its experiment's chapter, in the order of the file, with a mark for
/// every row of the table behind it: the estimate that is drawn there.
fn declared_figures_are_drawn(looked: &Looked, fixture: &Fixture) {
    for design in &fixture.manifest.designs {
        let figures = looked.ask(&format!(
            "Array.from(document.querySelectorAll('#experiment-{} .picture')).map((picture) => ({{\
               title: picture.querySelector('h3').textContent,\
               marks: picture.querySelectorAll('.mark, .lone').length,\
               rows: picture.querySelectorAll('.behind tbody tr').length}}))",
            design.id
        ));
        let drawn: Vec<&Value> = list(&figures).iter().take(design.figures.len()).collect();
        let titles: Vec<&str> = drawn.iter().map(|it| it["title"].as_str().unwrap()).collect();
        let declared: Vec<&str> = design.figures.iter().map(|it| it.title.as_str()).collect();
        assert_eq!(titles, declared, "{}", design.id);
        for figure in drawn {
            assert_eq!(figure["marks"], figure["rows"], "{}: {figure}", design.id);
            assert!(figure["rows"].as_u64() > Some(0), "{}: {figure}", design.id);
        }
    }
}

/// Each curve rises from 0 to 1, and its largest is the largest that any trial saw.
fn distributions_rise_from_none_to_all(looked: &Looked, fixture: &Fixture) {
    let figures = looked.ask(
        "Array.from(document.querySelectorAll('.figure:has(.distributions)')).map((figure) => ({\
           id: figure.closest('.experiment').id,\
           curves: Array.from(figure.querySelectorAll('.distributions path.line')).map((p) =>\
             p.getAttribute('d').slice(1).split('L').map((at) => at.split(' ').map(Number))),\
           marks: figure.querySelectorAll('.distributions .mark').length,\
           rows: Array.from(figure.querySelectorAll('.behind tbody tr')).map((row) =>\
             Array.from(row.children).map((cell) => cell.textContent)),\
         }))",
    );
    let ids: Vec<&str> = list(&figures).iter().map(|f| f["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["experiment-create", "experiment-signals", "experiment-null"]);
    for figure in list(&figures) {
        let (curves, rows) = (list(&figure["curves"]), list(&figure["rows"]));
        assert_eq!(curves.len(), rows.len());
        assert!((2..=6).contains(&curves.len()));
        let numbers = rows.iter().flat_map(|row| &list(row)[3..]);
        let known = numbers.filter(|text| text.as_str() != Some("–")).count();
        assert_eq!(figure["marks"].as_u64(), Some(known as u64));
        for curve in curves {
            let points: Vec<(f64, f64)> = list(curve)
                .iter()
                .map(|at| (at[0].as_f64().unwrap(), at[1].as_f64().unwrap()))
                .collect();
            assert!((30..=100).contains(&points.len()), "{}", points.len());
            // Down the drawing is up the axis: 158 is none, 8 is all.
            assert_eq!((points[0].1, points[points.len() - 1].1), (158.0, 8.0));
            for pair in points.windows(2) {
                assert!(pair[0].0 <= pair[1].0 && pair[0].1 > pair[1].1, "{pair:?}");
            }
        }
    }
    let row = list(&figures[0]["rows"]).iter().find(|row| row[0] == "process (fork)").unwrap();
    let mut largest = 0;
    let mut observations = 0;
    for record in fixture.records.iter().filter(|record| record.experiment == "create") {
        let baseline = ["touched", "descriptors", "mappings"].map(|f| record.treatment.level(f));
        let fork = record.treatment.level("mechanism") == Some("fork")
            && baseline == [Some("0"); 3]
            && record.treatment.level("placement") == Some("same");
        let Some(measured) = record.measured.as_ref().filter(|_| fork) else { continue };
        for series in measured.series.iter().filter(|series| series.response == "whole_ns") {
            largest = largest.max(series.values.iter().copied().max().unwrap());
            observations += series.values.len();
        }
    }
    assert_eq!(row[2].as_str().unwrap().replace('\u{202f}', ""), observations.to_string());
    let told = nanoseconds(row[6].as_str().unwrap()).unwrap();
    assert!((told / largest as f64 - 1.0).abs() < 0.01, "{told} {largest}");
}

/// The caches of the machine that was measured, on the axis of what it walked; and its line on the
/// axis of a distance.
fn caches_stand_where_they_belong(looked: &Looked, fixture: &Fixture) {
    let at = |id: &str| {
        looked.ask(&format!(
            "(() => {{ const figure = document.querySelector('#experiment-{id} .figure:has(.landmarks)');\
             const of = (texts, lines) => texts.map((t, i) => \
               [t.textContent, lines[i].getAttribute('x1')]);\
             const all = (q) => Array.from(figure.querySelectorAll(q));\
             return {{marks: of(all('.landmarks text'), all('.landmarks line')),\
               levels: all('.levels text').map((t) => [t.textContent, t.getAttribute('x')])}}; }})()"
        ))
    };
    let switch = at("switch");
    let l2 = fixture.manifest.environment.caches.iter().find(|cache| cache.level == 2).unwrap();
    let size = format!("{} MiB", l2.size_bytes >> 20);
    let mark = list(&switch["marks"]).iter().find(|mark| mark[0] == format!("L2 {size}")).unwrap();
    let level = list(&switch["levels"]).iter().find(|level| level[0] == size).unwrap();
    assert_eq!(mark[1], level[1]);
    let line = format!("cache line {} B", l2.line_bytes);
    assert_eq!(at("false_sharing")["marks"][0][0], line);
    // No other axis has them: a number of threads is no size.
    let none = looked.number("document.querySelectorAll('#experiment-workers .landmarks').length");
    assert_eq!(none, 0.0);
}

/// What a panel takes from the first of its figure looks there as it does in the first: as high, and
/// in a panel of the same width as wide. (A style that depends on what is around it would not.)
fn panels_share_what_looks_the_same(looked: &Looked) {
    let shared = looked.ask(
        "Array.from(document.querySelectorAll('.plot use')).filter((use) => \
           !use.getAttribute('href').startsWith('#mark')).map((use) => {\
           const first = document.querySelector(use.getAttribute('href'));\
           const wide = (one) => one.closest('svg').getBoundingClientRect().width;\
           const [a, b] = [use.getBBox(), first.getBBox()];\
           return [a.height, b.height, a.width / wide(use), b.width / wide(first)]; })",
    );
    assert!(list(&shared).len() > 10, "{shared}");
    for pair in list(&shared) {
        let [high, first_high, wide, first_wide] =
            [0, 1, 2, 3].map(|at| pair[at].as_f64().unwrap());
        assert!((high - first_high).abs() < 0.5 && high > 10.0, "{pair}");
        assert!((wide - first_wide).abs() < 0.02 && wide > 0.1, "{pair}");
    }
}

/// The first mark of a kind of chart speaks when pointed at, and arrow keys walk through all.
fn marks_speak(looked: &Looked, kind: &str) {
    looked.ask(&format!(
        "document.querySelector('{kind}').scrollIntoView({{block: 'center', behavior: 'instant'}})"
    ));
    let at = looked.ask(&format!(
        "(() => {{ const m = document.querySelector('{kind} .mark');\
         const b = (m.querySelector('.point') || m).getBoundingClientRect();\
         return [b.left + b.width / 2, b.top + b.height / 2]; }})()"
    ));
    let (x, y) = (at[0].as_f64().unwrap(), at[1].as_f64().unwrap());
    let shown = "new Promise((done) => setTimeout(() => done(0), 150))";
    looked.tab.point_at(x, y);
    looked.tab.evaluate(shown);
    let said = || looked.text("document.getElementById('tip').textContent");
    let hidden = || looked.ask("document.getElementById('tip').hidden").as_bool().unwrap();
    assert!(!hidden(), "{kind}");
    // A distribution carries what it says.
    let words = |mark: usize| {
        looked.text(&format!(
            "document.querySelector('{kind}').querySelectorAll('.mark')[{mark}].dataset.tip"
        ))
    };
    let all: Vec<String> = (0..4).map(words).collect();
    assert!(all.contains(&said()), "{kind}: {} is none of {all:?}", said());
    looked.tab.point_at(2.0, 2.0);
    looked.tab.evaluate(shown);
    looked.ask(&format!("document.querySelector('{kind}').focus()"));
    looked.tab.press("Escape");
    assert!(hidden(), "{kind}");
    looked.tab.press("ArrowRight");
    looked.tab.press("ArrowRight");
    let second = words(1);
    assert!(!second.is_empty() && second.contains('\n'), "{kind}");
    assert_eq!(said(), second);
    looked.ask(&format!("document.querySelector('{kind}').blur()"));
}

/// No mark or label of a chart leaves its figure.
fn everything_stays_inside(looked: &Looked, width: u32) {
    let stray = looked.ask(
        "Array.from(document.querySelectorAll(\
           '.distributions .mark .point, .landmarks text, .row .mark use'))\
         .filter((mark) => {\
           const a = mark.getBoundingClientRect();\
           const b = mark.closest('.plot, .rows').getBoundingClientRect();\
           return !(a.left >= b.left - 8 && a.right <= b.right + 8 && a.top >= b.top - 8 && \
                    a.bottom <= b.bottom + 8 && a.width > 0);\
         }).map((mark) => mark.outerHTML.slice(0, 120))",
    );
    assert_eq!(list(&stray).len(), 0, "{width}: {stray}");
}
