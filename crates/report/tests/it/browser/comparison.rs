//! Comparisons that were made up, and what a browser sees of them.

#[path = "../../../../analysis/tests/support/together.rs"]
mod together;

use super::eyes::Looked;
use super::pipe::browser;
use crate::{compared, hostile, recorded};
use model::*;
use serde_json::json;
use std::path::{Path, PathBuf};
use together::{CompareInput, CompareSession, CompareSide, compare};

/// What the page is called here; users choose its name.
pub(crate) const PAGE: &str = "compare.html";

fn written(comparison: &Comparison, folder: &Path) -> PathBuf {
    let page = folder.join(PAGE);
    std::fs::write(&page, report::comparison_html(comparison)).unwrap();
    page
}

fn unfold(looked: &Looked, open: bool) {
    let all =
        format!("document.querySelectorAll('details').forEach((d) => {{ d.open = {open}; }})");
    looked.ask(&all);
}

/// Effects with a ratio, and those of them that differ.
fn ratios(comparison: &Comparison) -> (f64, f64) {
    let experiments = || comparison.experiments.iter();
    let rows = experiments().flat_map(|e| &e.rows).flat_map(|row| &row.effects);
    let findings = experiments().flat_map(|e| &e.findings).flat_map(|one| &one.effects);
    let known = rows.chain(findings).flatten().filter(|effect| effect.ratio.is_some());
    let known: Vec<_> = known.collect();
    let differing = known.iter().filter(|effect| effect.differs).count();
    (known.len() as f64, differing as f64)
}

fn count(looked: &Looked, what: &str) -> f64 {
    looked.number(&format!("document.querySelectorAll('{what}').length"))
}

#[test]
fn a_comparison_works_in_a_browser() {
    let comparison = compared::two();
    let scratch = tempfile::tempdir().unwrap();
    let browser = browser();
    let looked = Looked::open(&browser, &written(&comparison, scratch.path()));
    looked.width(1280);
    what_makes_it_doubtful_comes_first(&looked);
    marks_speak(&looked);
    tables_sort(&looked);
    unfold(&looked, true);
    marks_are_where_their_numbers_say(&looked, &comparison);
    for width in [390, 768, 1280] {
        looked.assert_no_overflow(width);
        marks_stay_inside(&looked);
    }
    for scheme in ["light", "dark"] {
        looked.scheme(scheme);
        readable(&looked, scheme);
        unfold(&looked, false);
        for width in [390, 1280] {
            looked.assert_no_overflow(width);
            looked.pictures(&format!("compare-{scheme}-{width}"));
        }
        unfold(&looked, true);
        looked.pictures(&format!("compare-open-{scheme}"));
    }
    looked.print();
    looked.pictures("compare-print");
    looked.assert_quiet();
}

#[test]
fn three_sides_and_a_thousand_rows_work_in_a_browser() {
    let comparison = compared::large(1000);
    let scratch = tempfile::tempdir().unwrap();
    let browser = browser();
    let looked = Looked::open(&browser, &written(&comparison, scratch.path()));
    for width in [390, 768, 1280] {
        looked.assert_no_overflow(width);
    }
    // The first chart shows the most that is shown of what differs; the table has every row.
    assert_eq!(count(&looked, ".ratios:not(.folded .ratios) .row:has(.mark)"), 40.0);
    assert_eq!(count(&looked, ".wide tbody tr"), 1000.0);
    assert_eq!(count(&looked, ".row-value > div"), count(&looked, ".strips .mark"));
    // One mark per side, told apart by more than its colour.
    let marks = "Array.from(document.querySelector('.ratios .row:has(.mark)')\
                 .querySelectorAll('.mark use')).map((one) => one.getAttribute('href'))";
    assert_eq!(looked.ask(marks), json!(["#mark0", "#mark1"]));
    looked.pictures("compare-large-1280");
    unfold(&looked, true);
    looked.assert_no_overflow(390);
    marks_stay_inside(&looked);
    looked.assert_quiet();
}

#[test]
fn sides_that_are_alike_work_in_a_browser() {
    let comparison = compared::alike();
    let scratch = tempfile::tempdir().unwrap();
    let browser = browser();
    let looked = Looked::open(&browser, &written(&comparison, scratch.path()));
    assert_eq!(count(&looked, ".note.bad, .largest, .ratios .mark:not(.same)"), 0.0);
    for width in [390, 1280] {
        looked.assert_no_overflow(width);
        looked.pictures(&format!("compare-alike-{width}"));
    }
    looked.assert_quiet();
}

#[test]
fn text_from_outside_does_nothing_in_a_comparison() {
    let comparison = bitten();
    let scratch = tempfile::tempdir().unwrap();
    let browser = browser();
    let page = written(&comparison, scratch.path());
    let text = std::fs::read_to_string(&page).unwrap();
    for raw in ["<script>window", "<img", "onload=window.bitten=1>", "\u{202e}", "\u{1b}"] {
        assert!(!text.contains(raw), "{raw:?}");
    }
    let looked = Looked::open(&browser, &page);
    unfold(&looked, true);
    looked.width(390);
    for width in [390, 1280] {
        looked.assert_no_overflow(width);
    }
    looked.ask("document.querySelector('.ratios').focus()");
    looked.tab.press("ArrowRight");
    assert_eq!(looked.number("document.getElementById('tip').children.length"), 0.0);
    looked.ask("document.querySelectorAll('.wide th button').forEach((one) => one.click())");
    looked.pictures("compare-hostile-1280");
    assert_eq!(looked.text("typeof window.bitten"), "undefined");
    assert_eq!(count(&looked, "script"), 1.0);
    let places = "new Set(Array.from(document.querySelectorAll('[id]'), (one) => one.id)).size";
    assert_eq!(looked.number(places), count(&looked, "[id]"));
    looked.assert_quiet();
}

/// The sessions that stand under `recorded/`, compared as `scruple compare` does it.
#[test]
fn the_recorded_sessions_work_in_a_comparison() {
    let [base, later] = ["base", "later"].map(recorded::session);
    let sessions = [&base, &later].map(|fixture| {
        [CompareSession {
            manifest: &fixture.manifest,
            records: &fixture.records,
            complete: fixture.summary.complete,
        }]
    });
    let sides = [
        CompareSide { name: "recorded/base", sessions: &sessions[0] },
        CompareSide { name: "recorded/later", sessions: &sessions[1] },
    ];
    let conditions = ["create > +5%".parse().unwrap()];
    let comparison = compare(&CompareInput {
        scruple: "recorded",
        sides: &sides,
        only: &[],
        conditions: &conditions,
    });
    let scratch = tempfile::tempdir().unwrap();
    let browser = browser();
    let looked = Looked::open(&browser, &written(&comparison, scratch.path()));
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(PAGE);
    std::fs::copy(scratch.path().join(PAGE), kept).unwrap();
    for (scheme, width) in [("light", 1280), ("light", 400), ("dark", 1280)] {
        looked.scheme(scheme);
        looked.assert_no_overflow(width);
        looked.pictures(&format!("compare-recorded-{scheme}-{width}"));
    }
    unfold(&looked, true);
    looked.width(1280);
    every_ratio_has_its_mark(&looked, &comparison);
    for width in [390, 768, 1280] {
        looked.assert_no_overflow(width);
        marks_stay_inside(&looked);
    }
    looked.assert_quiet();
}

/// A comparison in which each text that comes from outside bites.
fn bitten() -> Comparison {
    let mut texts = hostile::texts().into_iter().cycle();
    let mut next = move || texts.next().unwrap_or_default();
    let mut comparison = compared::two();
    comparison.scruple = next();
    for side in &mut comparison.sides {
        (side.name, side.host) = (next(), next());
        side.sessions = (0..9).map(|_| next()).collect();
    }
    comparison.facts = (0..9)
        .map(|_| FactRow {
            name: next(),
            values: vec![next(), next(), next()],
            weight: Weight::Invalid,
        })
        .collect();
    comparison.alike = (0..9).map(|_| next()).collect();
    comparison.warnings = (0..20).map(|_| next()).collect();
    let control = comparison.controls[0].as_mut().unwrap();
    control.remark = next();
    for gate in &mut comparison.gates {
        (gate.condition, gate.reason) = (next(), next());
        let look = &mut gate.looked_at[0];
        (look.experiment, look.response) = (next(), next());
        look.treatment = (0..4).map(|_| (next(), next())).collect::<Vec<_>>().into_treatment();
    }
    // Two experiments of one name, too.
    comparison.experiments.push(comparison.experiments[0].clone());
    for (index, experiment) in comparison.experiments.iter_mut().enumerate() {
        experiment.question = next();
        experiment.id = if index == 3 { "x".repeat(10_000) } else { next() };
        experiment.refused = (index == 2).then(&mut next);
        experiment.warnings = (0..30).map(|_| next()).collect();
        for finding in &mut experiment.findings {
            finding.sentence = format!("{} {{}} {}", next(), next());
        }
        for (place, row) in experiment.rows.iter_mut().enumerate() {
            row.label = next();
            row.unit = Unit::Other(next());
            row.treatment = vec![(next(), format!("{place} {}", next()))].into_treatment();
            row.effects.iter_mut().flatten().for_each(|effect| effect.remark = next());
        }
        for verdict in &mut experiment.verdicts {
            verdict.text = next();
        }
    }
    comparison
}

/// Pairs of factor and level as a treatment.
trait IntoTreatment {
    fn into_treatment(self) -> Treatment;
}

impl IntoTreatment for Vec<(String, String)> {
    fn into_treatment(self) -> Treatment {
        self.into_iter().collect()
    }
}

/// Invalid, doubtful, refused: above every number.
fn what_makes_it_doubtful_comes_first(looked: &Looked) {
    let top = |what: &str| {
        looked.number(&format!("document.querySelector('{what}').getBoundingClientRect().top"))
    };
    assert_eq!(count(looked, ".opening .note.bad"), 1.0);
    // A warning, a side that is not trusted, an experiment that is not compared.
    assert_eq!(count(looked, ".opening .note.care"), 3.0);
    assert!(top(".opening .note") < 450.0, "{}", top(".opening .note"));
    for note in [".opening .note.bad", ".opening .note.care"] {
        assert!(top(note) < top(".answer"), "{note}");
    }
    assert!(top(".answer") < 900.0, "the answer is on the first screen");
}

/// One mark for each ratio, filled where it differs.
fn every_ratio_has_its_mark(looked: &Looked, comparison: &Comparison) {
    let (known, differing) = ratios(comparison);
    assert_eq!(count(looked, ".ratios .mark"), known);
    assert_eq!(count(looked, ".ratios .mark:not(.same)"), differing);
    assert!(known > 0.0);
}

/// Farther right the larger the ratio, about 1 in the middle.
fn marks_are_where_their_numbers_say(looked: &Looked, comparison: &Comparison) {
    every_ratio_has_its_mark(looked, comparison);
    let (known, differing) = ratios(comparison);
    assert!(differing > 0.0 && differing < known);
    let disordered = looked.number(
        "Array.from(document.querySelectorAll('.ratios')).map((chart) => {\
           const marks = Array.from(chart.querySelectorAll('.mark')).map((mark) => [\
             Number(mark.dataset.tip.match(/against A: ([0-9.]+)/)[1]),\
             mark.querySelector('.point').getBoundingClientRect().left]);\
           marks.sort((a, b) => a[0] - b[0]);\
           return marks.filter((mark, i) => i > 0 && mark[0] > marks[i - 1][0]\
             && mark[1] < marks[i - 1][1] + 0.01).length;\
         }).reduce((a, b) => a + b, 0)",
    );
    assert_eq!(disordered, 0.0);
    // A ratio of 1 lies in the middle: the line about which all is drawn.
    let middle = looked.ask(
        "(() => { const strip = document.querySelector('.ratios .strip').getBoundingClientRect();\
         const one = document.querySelector('.ratios .floor').getBoundingClientRect();\
         return [(one.left + one.right) / 2, (strip.left + strip.right) / 2]; })()",
    );
    let off = middle[0].as_f64().unwrap() - middle[1].as_f64().unwrap();
    assert!(off.abs() < 2.0, "{middle}");
}

pub(crate) fn marks_stay_inside(looked: &Looked) {
    let stray = looked.number(
        "Array.from(document.querySelectorAll('.strip .mark > *, .strip .floor, .canvas .mark > *'))\
         .filter((mark) => {\
           const a = mark.getBoundingClientRect();\
           const b = mark.closest('.strip, .canvas').getBoundingClientRect();\
           const x = a.left + a.width / 2; const y = a.top + a.height / 2;\
           return !(a.left >= b.left - 6 && a.right <= b.right + 6 && x >= b.left && x <= b.right\
             && y >= b.top - 1 && y <= b.bottom + 1);\
         }).length",
    );
    assert_eq!(stray, 0.0);
    let flat = looked.number(
        "Array.from(document.querySelectorAll('.canvas, .strip'))\
         .filter((svg) => svg.getBoundingClientRect().width < 100).length",
    );
    assert_eq!(flat, 0.0);
    let touching = looked.number(
        "Array.from(document.querySelectorAll('.legend')).map((names) => {\
           const boxes = Array.from(names.querySelectorAll('li'), (one) => one.getBoundingClientRect());\
           return boxes.filter((a, i) => boxes.some((b, j) => i < j && a.left < b.right\
             && b.left < a.right && a.top < b.bottom && b.top < a.bottom)).length;\
         }).reduce((a, b) => a + b, 0)",
    );
    assert_eq!(touching, 0.0);
}

/// Pointing at a mark and stepping with the keyboard both show its numbers.
fn marks_speak(looked: &Looked) {
    let tip = |looked: &Looked| looked.text("document.getElementById('tip').textContent");
    let hidden = |looked: &Looked| looked.ask("document.getElementById('tip').hidden");
    let shown = "new Promise((done) => setTimeout(() => done(0), 150))";
    for chart in [".ratios", ".values"] {
        let mark = format!("document.querySelectorAll('{chart} .mark')[3]");
        looked.ask(&format!("{mark}.scrollIntoView({{block: 'center', behavior: 'instant'}})"));
        let at = looked.ask(&format!(
            "(() => {{ const b = {mark}.querySelector('.point').getBoundingClientRect();\
             return [b.left + b.width / 2, b.top + b.height / 2]; }})()"
        ));
        let (x, y) = (at[0].as_f64().unwrap(), at[1].as_f64().unwrap());
        looked.tab.point_at(x, y);
        looked.tab.evaluate(shown);
        let said = tip(looked);
        assert_eq!(said, looked.text(&format!("{mark}.dataset.tip")), "{chart}");
        assert!(said.contains('[') && said.contains('×'), "{said}");
        looked.tab.point_at(2.0, 2.0);
        looked.tab.evaluate(shown);
        looked.ask(&format!("document.querySelector('{chart}').focus()"));
        looked.tab.press("Escape");
        assert_eq!(hidden(looked), json!(true), "{chart}");
        looked.tab.press("ArrowRight");
        looked.tab.press("ArrowDown");
        let second = format!("document.querySelectorAll('{chart} .mark')[1].dataset.tip");
        assert_eq!(tip(looked), looked.text(&second), "{chart}");
        looked.ask(&format!("document.querySelector('{chart}').blur()"));
        assert_eq!(hidden(looked), json!(true), "{chart}");
    }
}

/// By the smallest, by the largest, as it was; what is no number stays at the end.
fn tables_sort(looked: &Looked) {
    let table = "document.querySelector('.wide')";
    looked.ask(&format!("{table}.closest('details').open = true"));
    looked.tab.wait_for(".wide th button");
    let column = |looked: &Looked| {
        looked.ask(&format!(
            "Array.from({table}.tBodies[0].rows, (row) => row.cells[3].dataset.v || '')"
        ))
    };
    let press = |looked: &Looked| {
        looked.ask(&format!("({table}.tHead.rows[0].cells[3].querySelector('button').click(), 0)"));
        let order =
            looked.text(&format!("{table}.tHead.rows[0].cells[3].getAttribute('aria-sort')"));
        let cells: Vec<f64> = column(looked)
            .as_array()
            .unwrap()
            .iter()
            .map(|cell| cell.as_str().unwrap().parse().unwrap_or(f64::NAN))
            .collect();
        (order, cells)
    };
    let given = column(looked);
    let (order, cells) = press(looked);
    assert_eq!(order, "ascending");
    let known: Vec<f64> = cells.iter().copied().take_while(|x| x.is_finite()).collect();
    assert!(known.len() > 30 && known.windows(2).all(|pair| pair[0] <= pair[1]), "{cells:?}");
    assert!(cells[known.len()..].iter().all(|x| x.is_nan()) && cells.len() > known.len());
    let (order, cells) = press(looked);
    assert_eq!(order, "descending");
    assert!(cells[..known.len()].windows(2).all(|pair| pair[0] >= pair[1]), "{cells:?}");
    assert!(cells[known.len()..].iter().all(|x| x.is_nan()), "{cells:?}");
    assert_eq!(press(looked).0, "");
    assert_eq!(column(looked), given);
}

/// Text stands out by 4.5, marks by 3 (WCAG 2.2, success criteria 1.4.3 and 1.4.11).
fn readable(looked: &Looked, scheme: &str) {
    let text = [
        ".note.bad p",
        ".note-word",
        ".differing-facts td",
        ".row-value .interval",
        ".ratios .row-label",
        ".legend li",
        ".wide th button",
        ".compared td:not(.number)",
    ];
    for (what, ratio) in text.iter().zip(looked.contrasts(&text, "color")) {
        assert!(ratio >= 4.5, "{scheme} {what}: contrast {ratio}");
    }
    for (property, marks) in [
        ("fill", [".ratios .mark:not(.same) .point", ".values .row-axis text"]),
        ("stroke", [".ratios .same .point", ".ratios .whisker"]),
    ] {
        for (what, ratio) in marks.iter().zip(looked.contrasts(&marks, property)) {
            assert!(ratio >= 3.0, "{scheme} {what}: contrast {ratio}");
        }
    }
}
