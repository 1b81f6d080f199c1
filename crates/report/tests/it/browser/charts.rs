//! The charts of the recorded session, judged by their marks.

use super::eyes::Looked;
use super::made_up::{row_said, written};
use super::pipe::browser;
use crate::fixture::Fixture;
use crate::grown;
use crate::recorded;
use model::{Outcome, Profile, Treatment};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// One browser for all that is asked of one page: opening it costs more than asking.
#[test]
fn the_charts_of_the_recorded_session_are_true_to_it() {
    let fixture = recorded::session("base");
    let scratch = tempfile::tempdir().unwrap();
    let browser = browser();
    let looked = Looked::open(&browser, &written(&fixture, scratch.path()));
    looked.width(1280);
    slopes_join_what_was_measured(&looked, &fixture);
    distributions_rise_from_none_to_all(&looked, &fixture);
    caches_stand_where_they_belong(&looked, &fixture);
    panels_share_what_looks_the_same(&looked);
    for kind in [".slopes", ".distributions"] {
        marks_speak(&looked, kind);
    }
    for width in [390, 768, 1280] {
        looked.ask("document.querySelectorAll('details').forEach((d) => { d.open = false; })");
        looked.assert_no_overflow(width);
        everything_stays_inside(&looked, width);
        looked.ask("document.querySelectorAll('.behind').forEach((d) => { d.open = true; })");
        looked.assert_no_overflow(width);
    }
    it_prints_to_few_sheets(&looked);
    looked.assert_quiet();
}

/// The profile `quick` has no field of two factors; the same session with the treatments of `standard` has.
#[test]
fn the_fields_of_a_whole_field_are_true_to_its_treatments() {
    let mut fixture = grown::session(Profile::Standard, 6_000, 8);
    fixture.manifest.designs.retain(|design| design.id == "counters");
    fixture.records.retain(|record| record.experiment == "counters");
    fixture.summary = recorded::summary(&fixture.manifest, &fixture.records);
    let scratch = tempfile::tempdir().unwrap();
    let browser = browser();
    let looked = Looked::open(&browser, &written(&fixture, scratch.path()));
    looked.width(1280);
    fields_are_treatments(&looked, &fixture);
    marks_speak(&looked, ".heat");
    fields_are_readable(&looked);
    looked.assert_quiet();
}

/// On paper what is folded away stays so, charts stand beside one another, and a chapter begins where
/// the last one ended: unfolded, and with a sheet for each chapter, it was 162 sheets.
fn it_prints_to_few_sheets(looked: &Looked) {
    looked.ask("document.querySelectorAll('details').forEach((d) => { d.open = false; })");
    let folded = "document.querySelectorAll('details:not([open])').length";
    let before = looked.number(folded);
    let pdf = looked.pdf();
    let page = b"/Type /Page";
    let after = |at: usize| pdf.get(at + page.len()).copied();
    let sheets = (0..pdf.len())
        .filter(|at| pdf[*at..].starts_with(page) && after(*at) != Some(b's'))
        .count();
    assert!((20..=90).contains(&sheets), "{sheets} sheets");
    // What was unfolded for the paper is folded again.
    assert_eq!(looked.number(folded), before);
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

/// On a logarithmic axis the rise of a slope in pixels is the logarithm of its ratio: one factor
/// fits all slopes of a figure, and the ratio beside each is that of its ends.
fn slopes_join_what_was_measured(looked: &Looked, fixture: &Fixture) {
    let figures = looked.ask(
        "Array.from(document.querySelectorAll('.figure:has(.slopes)')).map((figure) => ({\
           lines: Array.from(figure.querySelectorAll('.slopes .line')).map((l) =>\
             [l.getAttribute('y1'), l.getAttribute('y2')].map(Number)),\
           marks: Array.from(figure.querySelectorAll('.slopes .mark .point')).map((p) =>\
             Number(p.getAttribute('y'))),\
           ratios: Array.from(figure.querySelectorAll('.slopes .ratio')).map((t) =>\
             [t.textContent, Number(t.getAttribute('y'))]),\
           rows: Array.from(figure.querySelectorAll('.behind tbody tr')).map((row) =>\
             Array.from(row.children).map((cell) => cell.textContent)),\
         }))",
    );
    assert!(list(&figures).len() >= 3, "{}", list(&figures).len());
    for figure in list(&figures) {
        let (lines, rows) = (list(&figure["lines"]), list(&figure["rows"]));
        let marks: Vec<f64> =
            list(&figure["marks"]).iter().map(|mark| mark.as_f64().unwrap()).collect();
        assert!(lines.len() >= 2);
        assert_eq!((lines.len(), lines.len() * 2), (rows.len(), marks.len()));
        assert_eq!(list(&figure["ratios"]).len(), lines.len());
        let mut pixels_per_log = Vec::new();
        for (index, (line, row)) in lines.iter().zip(rows).enumerate() {
            let ends = [line[0].as_f64().unwrap(), line[1].as_f64().unwrap()];
            assert_eq!(ends, [marks[2 * index], marks[2 * index + 1]]);
            let [from, to] = [1, 2].map(|at| nanoseconds(row[at].as_str().unwrap()).unwrap());
            assert_eq!(row[3], figure["ratios"][index][0]);
            let told: f64 = row[3].as_str().unwrap().split('×').next().unwrap().parse().unwrap();
            let (rise, log) = (ends[0] - ends[1], (to / from).ln());
            // Medians of both ends and the centre of their ratios are not the same number.
            assert!((told.ln() - log).abs() < 0.4 + 0.1 * log.abs(), "{row:?}");
            if log.abs() > 0.2 {
                pixels_per_log.push(rise / log);
            }
        }
        for pixels in &pixels_per_log {
            assert!((pixels / pixels_per_log[0] - 1.0).abs() < 0.1, "{pixels_per_log:?}");
        }
    }
    let design = fixture.manifest.designs.iter().find(|design| design.id == "create").unwrap();
    let own = fixture.records.iter().filter(|record| record.experiment == design.id);
    let samples = analysis::samples(design, own, "whole_ns");
    let of = |mechanism: &str| {
        let cell = model::Cell::new([("mechanism", mechanism)]);
        samples[&design.complete(&cell)].iter().copied().collect::<BTreeMap<u32, f64>>()
    };
    let (threads, processes) = (of("pthread"), of("fork"));
    let ratios: Vec<f64> =
        threads.iter().filter_map(|(block, one)| Some(processes.get(block)? / one)).collect();
    let told = looked.text(
        "document.querySelector('#experiment-create .slopes').closest('.figure')\
         .querySelector('.behind tbody tr').children[3].textContent",
    );
    let told: f64 = told.split('×').next().unwrap().parse().unwrap();
    let truth = analysis::median(&ratios).unwrap();
    assert!((told / truth - 1.0).abs() < 0.1, "{told} {truth}");
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
            // Down the drawing is up the axis: 204 is none, 8 is all.
            assert_eq!((points[0].1, points[points.len() - 1].1), (204.0, 8.0));
            for pair in points.windows(2) {
                assert!(pair[0].0 <= pair[1].0 && pair[0].1 > pair[1].1, "{pair:?}");
            }
        }
    }
    let row = list(&figures[0]["rows"]).iter().find(|row| row[0] == "fork").unwrap();
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

/// A heat map has a field for each treatment that was planned, a colour that rises with its
/// number, and the number in it.
fn fields_are_treatments(looked: &Looked, fixture: &Fixture) {
    let fields = looked.ask(
        "Array.from(document.querySelectorAll('#experiment-counters .heat .field')).map((field) => \
         ({text: field.textContent, kind: field.className,\
           wide: field.scrollWidth - field.clientWidth}))",
    );
    // The table behind has a row for each, in the same order, from which a field's words come.
    let rows = looked.ask(
        "Array.from(document.querySelectorAll('#experiment-counters .figure:has(.heat) .behind tbody tr'))\
         .map((row) => row.cells[1].textContent)",
    );
    let own = fixture.records.iter().filter(|record| record.experiment == "counters");
    let spread: BTreeSet<&Treatment> = own
        .filter(|record| matches!(record.outcome, Outcome::Completed { .. }))
        .map(|record| &record.treatment)
        .filter(|treatment| treatment.level("placement") == Some("spread"))
        .collect();
    let measured: Vec<&Value> = list(&fields)
        .iter()
        .filter(|field| field["kind"].as_str().unwrap().contains("mark"))
        .collect();
    assert!(spread.len() >= 6);
    assert_eq!(measured.len(), spread.len());
    let blank = list(&fields).iter().filter(|field| field["kind"] == "field").count();
    let levels = |factor: &str| {
        spread
            .iter()
            .map(|treatment| treatment.level(factor).unwrap())
            .collect::<BTreeSet<_>>()
            .len()
    };
    assert_eq!(measured.len() + blank, levels("kind") * levels("threads"));
    let mut steps: Vec<(f64, u32)> = Vec::new();
    assert_eq!(list(&rows).len(), measured.len());
    for (field, row) in measured.into_iter().zip(list(&rows)) {
        let text = field["text"].as_str().unwrap();
        assert_eq!(row, text, "{field}");
        assert!(field["wide"].as_f64().unwrap() <= 0.0, "{field}");
        let kind = field["kind"].as_str().unwrap();
        let step = kind.split(" h").find_map(|rest| rest.parse().ok()).unwrap();
        steps.push((nanoseconds(text).unwrap(), step));
    }
    steps.sort_by(|a, b| a.0.total_cmp(&b.0));
    assert!(steps.windows(2).all(|pair| pair[0].1 <= pair[1].1), "{steps:?}");
    assert_eq!((steps[0].1, steps[steps.len() - 1].1), (0, 6));
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
    // A slope and a distribution carry what they say, a field has it from the table.
    let words = |mark: usize| match kind {
        ".heat" => row_said(looked, ".figure:has(.heat)", mark),
        _ => looked.text(&format!(
            "document.querySelector('{kind}').querySelectorAll('.mark')[{mark}].dataset.tip"
        )),
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

/// No mark, label or ratio of a chart leaves its figure.
fn everything_stays_inside(looked: &Looked, width: u32) {
    let stray = looked.ask(
        "Array.from(document.querySelectorAll(\
           '.slopes .mark .point, .slopes .ratio, .distributions .mark .point, .landmarks text,\
            .heat .field, .heat .heat-name, .row .mark use'))\
         .filter((mark) => {\
           const a = mark.getBoundingClientRect();\
           const b = mark.closest('.plot, .rows').getBoundingClientRect();\
           return !(a.left >= b.left - 8 && a.right <= b.right + 8 && a.top >= b.top - 8 && \
                    a.bottom <= b.bottom + 8 && a.width > 0);\
         }).map((mark) => mark.outerHTML.slice(0, 120))",
    );
    assert_eq!(list(&stray).len(), 0, "{width}: {stray}");
}

/// The number in a field stands out from its colour by what WCAG 2.2 asks of text (4.5, success
/// criterion 1.4.3), in both schemes.
fn fields_are_readable(looked: &Looked) {
    for scheme in ["light", "dark"] {
        looked.scheme(scheme);
        let contrasts = looked.ask(
            "(() => {\
              const light = (text) => {\
                const [r, g, b] = text.match(/\\d+/g).map((v) => {\
                  const c = v / 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; });\
                return 0.2126 * r + 0.7152 * g + 0.0722 * b; };\
              return [0, 1, 2, 3, 4, 5, 6].map((step) => {\
                const field = document.querySelector('.heat-scale .h' + step);\
                const style = getComputedStyle(field);\
                const [ink, paper] = [light(style.color), light(style.backgroundColor)];\
                return [(Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05), paper]; });\
            })()",
        );
        let lightness: Vec<f64> =
            list(&contrasts).iter().map(|pair| pair[1].as_f64().unwrap()).collect();
        for pair in list(&contrasts) {
            assert!(pair[0].as_f64().unwrap() >= 4.5, "{scheme}: {contrasts}");
        }
        // Lightness alone tells the order, to an eye that sees no hue and on grey paper.
        let rising = lightness.is_sorted();
        assert!(rising || lightness.iter().rev().is_sorted(), "{scheme}: {lightness:?}");
        for width in [390, 1280] {
            looked.width(width);
            looked.pictures(&format!("charts-{scheme}-{width}"));
        }
    }
}
