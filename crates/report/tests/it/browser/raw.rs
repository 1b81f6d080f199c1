//! What stands around the charts: the table of every trial, sorting, download, contents.

use super::eyes::Looked;
use super::made_up::written;
use super::pipe::browser;
use crate::{fixture, hostile, recorded};
use analysis::Numbers;
use model::{Design, Record};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

/// A download of a few kilobytes has arrived long before; more is a hung browser.
const DOWNLOAD_WAIT: Duration = Duration::from_secs(30);

fn design<'a>(fixture: &'a fixture::Fixture, id: &str) -> &'a Design {
    fixture.manifest.designs.iter().find(|design| design.id == id).unwrap()
}

fn records<'a>(fixture: &'a fixture::Fixture, id: &str) -> Vec<&'a Record> {
    fixture.records.iter().filter(|record| record.experiment == id).collect()
}

/// The fold that holds an experiment's trials.
fn fold(id: &str) -> String {
    format!("document.querySelector('#experiment-{id} details.raw')")
}

/// Opens the table of an experiment and waits until it is there.
fn unfold(looked: &Looked, id: &str) {
    looked.ask(&format!(
        "(() => {{ for (let it = {}; it; it = it.parentElement.closest('details')) it.open = true; }})()",
        fold(id)
    ));
    looked.tab.wait_for(&format!("#experiment-{id} .raw-table tbody"));
}

/// The cells of a column on all pages of the table, from the first.
fn column(looked: &Looked, id: &str, head: &str) -> Vec<String> {
    let cells = looked.ask(&format!(
        "(() => {{\
           const place = {};\
           const heads = Array.from(place.querySelectorAll('.raw-table th'), (th) => th.textContent);\
           const at = heads.indexOf('{head}');\
           const press = (word) => Array.from(place.querySelectorAll('.raw-pages button'))\
             .find((button) => button.textContent === word);\
           if (!press('First').disabled) press('First').click();\
           const found = [];\
           for (;;) {{\
             for (const row of place.querySelectorAll('tbody tr')) found.push(row.cells[at].textContent);\
             if (press('Next').disabled) return found;\
             press('Next').click();\
           }} }})()",
        fold(id)
    ));
    serde_json::from_value(cells).unwrap()
}

fn head(id: &str, name: &str) -> String {
    format!(
        "Array.from({}.querySelectorAll('.raw-table th')).find((th) => th.textContent === '{name}')",
        fold(id)
    )
}

/// Numbers as the table shows them; `None` for a dash.
fn read(cells: &[String]) -> Vec<Option<f64>> {
    let number = |cell: &String| {
        let plain = cell.replace('\u{202f}', "").replace('−', "-");
        if plain == "–" { None } else { Some(plain.parse().unwrap()) }
    };
    cells.iter().map(number).collect()
}

#[test]
fn every_trial_is_a_row_that_sorts() {
    let fixture = recorded::session("base");
    let scratch = tempfile::tempdir().unwrap();
    let browser = browser();
    let looked = Looked::open(&browser, &written(&fixture, scratch.path()));
    // Nothing is built before somebody looks.
    assert_eq!(looked.number("document.querySelectorAll('.raw-table').length"), 0.0);
    let folds = looked.number("document.querySelectorAll('details.raw').length");
    assert_eq!(folds, fixture.summary.experiments.len() as f64);

    let id = "workers";
    let own = records(&fixture, id);
    assert!(own.len() > 100, "more than one page");
    unfold(&looked, id);
    assert_eq!(looked.number(&format!("{}.querySelectorAll('tbody tr').length", fold(id))), 100.0);
    let shown: Vec<u64> =
        column(&looked, id, "trial").iter().map(|trial| trial.parse().unwrap()).collect();
    let mut stored: Vec<u64> = own.iter().map(|record| record.trial).collect();
    stored.sort_unstable();
    assert_eq!(shown, stored, "in the order of measuring");

    sorting_orders(&looked, &fixture, id);
    filters_choose(&looked, &own, id);

    for (id, _) in fixture.summary.experiments.iter().map(|e| (&e.id, ())) {
        unfold(&looked, id);
        assert_eq!(column(&looked, id, "trial").len(), records(&fixture, id).len(), "{id}");
    }
    for scheme in ["light", "dark"] {
        looked.scheme(scheme);
        for width in [390, 768, 1280] {
            looked.assert_no_overflow(width);
        }
    }
    looked.assert_quiet();
}

/// By click and by the Enter key, up and down, with what has no number last in both.
fn sorting_orders(looked: &Looked, fixture: &fixture::Fixture, id: &str) {
    let name = "compute_ns";
    let numbers = Numbers::new(design(fixture, id), &fixture.records);
    let own = records(fixture, id);
    let found: Vec<f64> =
        own.iter().filter_map(|record| numbers.of(record, name).measured).collect();
    assert!(!found.is_empty() && found.len() < own.len(), "some trials have none");
    let mut up = found.clone();
    up.sort_by(f64::total_cmp);

    let cell = head(id, name);
    assert_eq!(looked.text(&format!("{cell}.getAttribute('aria-sort')")), "");
    looked.ask(&format!("{cell}.querySelector('button').click()"));
    assert_eq!(looked.text(&format!("{cell}.getAttribute('aria-sort')")), "ascending");
    let shown = read(&column(looked, id, name));
    assert_eq!(shown.iter().flatten().copied().collect::<Vec<_>>(), up);
    assert!(shown[up.len()..].iter().all(Option::is_none), "a dash stands last");

    looked.ask(&format!("{cell}.querySelector('button').focus()"));
    looked.tab.press("Enter");
    assert_eq!(looked.text(&format!("{cell}.getAttribute('aria-sort')")), "descending");
    let shown = read(&column(looked, id, name));
    assert_eq!(
        shown.iter().flatten().copied().collect::<Vec<_>>(),
        up.iter().rev().copied().collect::<Vec<_>>()
    );
    assert!(shown[up.len()..].iter().all(Option::is_none), "in either order");
    let said = looked.text(&format!("{}.querySelector('[role=status]').textContent", fold(id)));
    assert!(said.ends_with("by compute_ns, the largest first"), "{said}");
    let sorted = looked.number(&format!("{}.querySelectorAll('th[aria-sort]').length", fold(id)));
    assert_eq!(sorted, 1.0);
}

fn filters_choose(looked: &Looked, own: &[&Record], id: &str) {
    let choose = |label: &str, option: &str| {
        looked.ask(&format!(
            "(() => {{\
               const label = Array.from({}.querySelectorAll('.raw-tools label'))\
                 .find((one) => one.textContent.startsWith('{label} '));\
               const select = label.querySelector('select');\
               select.value = Array.from(select.options).find((one) => one.text === '{option}').value;\
               select.dispatchEvent(new Event('change')); }})()",
            fold(id)
        ));
    };
    choose("model", "process");
    choose("count", "4");
    let wanted = own.iter().filter(|record| {
        record.treatment.level("model") == Some("process")
            && record.treatment.level("count") == Some("4")
    });
    let wanted = wanted.count();
    assert!(wanted > 0 && wanted < own.len());
    let levels: BTreeSet<String> = column(looked, id, "model").into_iter().collect();
    assert_eq!(levels, BTreeSet::from(["process".to_string()]));
    assert_eq!(column(looked, id, "trial").len(), wanted);
    choose("model", "all");
    choose("count", "all");
    assert_eq!(column(looked, id, "trial").len(), own.len());
}

/// Presses a button and waits for the file of that kind.
pub(super) fn downloaded(looked: &Looked, press: &str, folder: &Path, kind: &str) -> Vec<u8> {
    let allow = json!({"behavior": "allow", "downloadPath": folder});
    looked.tab.call("Browser.setDownloadBehavior", &allow);
    looked.ask(press);
    let since = Instant::now();
    loop {
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        if let Some(file) =
            files.into_iter().find(|file| file.extension().is_some_and(|e| e == kind))
        {
            // The browser may make the file before it fills it.
            let bytes = std::fs::read(file).unwrap_or_default();
            if !bytes.is_empty() && !is_partial(folder) {
                return bytes;
            }
        }
        assert!(since.elapsed() < DOWNLOAD_WAIT, "nothing was downloaded");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Whether a download is still under way.
fn is_partial(folder: &Path) -> bool {
    let mut files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.any(|file| file.extension().is_some_and(|e| e == "crdownload"))
}

#[test]
fn the_download_holds_every_number() {
    let fixture = recorded::session("base");
    let scratch = tempfile::tempdir().unwrap();
    let browser = browser();
    let looked = Looked::open(&browser, &written(&fixture, scratch.path()));
    // Trials that could not be made, and a response that subtracts a control.
    for id in ["allocator", "create"] {
        let design = design(&fixture, id);
        unfold(&looked, id);
        let folder = tempfile::tempdir().unwrap();
        let press = format!("{}.querySelector('.raw-save').click()", self::fold(id));
        let text = String::from_utf8(downloaded(&looked, &press, folder.path(), "csv")).unwrap();
        assert!(text.ends_with('\n'));
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let heads: Vec<String> = reader.headers().unwrap().iter().map(String::from).collect();
        let mut expected: Vec<String> =
            ["session", "host", "experiment", "version", "trial", "block", "position", "treatment"]
                .map(String::from)
                .to_vec();
        expected.extend(design.factors.iter().map(|factor| format!("factor_{}", factor.name)));
        expected.extend(
            [
                "response",
                "unit",
                "value",
                "measured_value",
                "observations",
                "outcome",
                "reason",
                "tags",
                "started_unix_ms",
            ]
            .map(String::from),
        );
        assert_eq!(heads, expected);
        let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        assert_eq!(rows.len(), records(&fixture, id).len() * design.responses.len());
        rows_agree(&fixture, design, &heads, &rows);
    }
    looked.assert_quiet();
}

/// Each row says of its trial and response what the session says.
fn rows_agree(
    fixture: &fixture::Fixture,
    design: &Design,
    heads: &[String],
    rows: &[csv::StringRecord],
) {
    let numbers = Numbers::new(design, &fixture.records);
    let tagger = analysis::Tagger::over(&fixture.manifest.designs, &fixture.records);
    let near = |cell: &str, number: Option<f64>| match number {
        None => assert_eq!(cell, ""),
        Some(number) => {
            let read: f64 = cell.parse().unwrap();
            assert!((read - number).abs() <= 1e-7 * number.abs().max(1e-6), "{cell} for {number}");
        }
    };
    let (mut subtracted, mut refused) = (0, 0);
    for row in rows {
        let cell = |head: &str| &row[heads.iter().position(|one| one == head).unwrap()];
        let trial: u64 = cell("trial").parse().unwrap();
        let record = fixture.records.iter().find(|record| record.trial == trial).unwrap();
        let number = numbers.of(record, cell("response"));
        near(cell("measured_value"), number.measured);
        near(cell("value"), number.value);
        assert_eq!(cell("observations"), number.observations.to_string());
        assert_eq!(cell("treatment"), record.treatment.to_string());
        assert_eq!(cell("block"), record.block.to_string());
        assert_eq!(cell("position"), record.position.to_string());
        assert_eq!(cell("started_unix_ms"), record.started_unix_ms.to_string());
        let (outcome, reason) = analysis::outcome_words(&record.outcome);
        assert_eq!((cell("outcome"), cell("reason")), (outcome, reason.as_str()));
        let tags: Vec<&str> = tagger.tags(record).into_iter().map(|tag| tag.name()).collect();
        assert_eq!(cell("tags"), tags.join(";"));
        for factor in &design.factors {
            assert_eq!(
                Some(cell(&format!("factor_{}", factor.name))),
                record.treatment.level(&factor.name)
            );
        }
        subtracted += usize::from(number.value != number.measured);
        refused += usize::from(outcome == "unsupported");
    }
    assert!(subtracted > 0 || refused > 0, "{} shows neither", design.id);
}

#[test]
fn what_others_wrote_is_shown_and_not_run() {
    let browser = browser();
    for mut fixture in hostile::bitten() {
        // A spreadsheet must not take a name for a formula either.
        fixture.manifest.environment.host = "=cmd|' /C calc'!A0".into();
        let scratch = tempfile::tempdir().unwrap();
        let looked = Looked::open(&browser, &written(&fixture, scratch.path()));
        for experiment in &fixture.summary.experiments {
            let id = &experiment.id;
            unfold(&looked, id);
            looked.ask(&format!(
                "{}.querySelectorAll('.raw-table button').forEach((button) => button.click())",
                fold(id)
            ));
            let folder = tempfile::tempdir().unwrap();
            let press = format!("{}.querySelector('.raw-save').click()", self::fold(id));
            let text =
                String::from_utf8(downloaded(&looked, &press, folder.path(), "csv")).unwrap();
            assert!(text.ends_with('\n'));
            let mut reader = csv::Reader::from_reader(text.as_bytes());
            let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
            assert!(!rows.is_empty());
            assert!(rows.iter().all(|row| row[1].starts_with("'=cmd|")), "{:?}", rows[0]);
            let inside = "script, img, svg, b";
            let made = looked.number(&format!(
                "{}.querySelectorAll('.raw-scroll :is({inside})').length",
                fold(id)
            ));
            assert_eq!(made, 0.0);
        }
        for width in [390, 1280] {
            looked.assert_no_overflow(width);
        }
        assert_eq!(looked.text("typeof window.bitten"), "undefined");
        looked.assert_quiet();
    }
}

#[test]
fn the_table_of_estimates_sorts_across_units() {
    let fixture = recorded::session("base");
    let scratch = tempfile::tempdir().unwrap();
    let browser = browser();
    let looked = Looked::open(&browser, &written(&fixture, scratch.path()));
    let id = "create";
    let experiment = fixture.summary.experiments.iter().find(|e| e.id == id).unwrap();
    let table = format!("document.querySelector('#experiment-{id} .wide')");
    looked.ask(&format!("{table}.closest('details').open = true"));
    looked.tab.wait_for(&format!("#experiment-{id} .wide th button"));
    let names = |looked: &Looked| -> Vec<String> {
        let cells = looked.ask(&format!(
            "Array.from({table}.tBodies[0].rows, (row) => row.cells[1].textContent)"
        ));
        serde_json::from_value(cells).unwrap()
    };
    let written = names(&looked);
    let units: BTreeSet<&str> =
        written.iter().filter_map(|cell| cell.split_whitespace().nth(1)).collect();
    assert!(units.len() > 1, "{units:?}");
    let press = format!("{table}.tHead.rows[0].cells[1].querySelector('button').click()");
    looked.ask(&press);
    let response =
        looked.text(&format!("{table}.tHead.rows[0].cells[1].querySelector('code').textContent"));
    let mut points: Vec<f64> = experiment
        .estimates
        .iter()
        .filter(|row| row.response == response)
        .filter_map(|row| Some(row.estimate?.point))
        .collect();
    points.sort_by(f64::total_cmp);
    let scale = |cell: &str| {
        let (number, unit) = cell.split_once(' ').unwrap();
        let unit = unit.split_whitespace().next().unwrap();
        let factor = [("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)];
        let factor = factor.iter().find(|(name, _)| *name == unit).unwrap().1;
        number.replace('\u{202f}', "").replace('−', "-").parse::<f64>().unwrap() * factor
    };
    let shown = names(&looked);
    assert_ne!(shown, written);
    for (cell, point) in shown.iter().zip(&points) {
        assert!((scale(cell) - point).abs() <= 0.06 * point.abs(), "{cell} for {point}");
    }
    looked.ask(&press);
    let numbers = |cells: &[String]| -> Vec<f64> {
        cells[..points.len()].iter().map(|cell| scale(cell)).collect()
    };
    let down: Vec<f64> = numbers(&names(&looked)).into_iter().rev().collect();
    assert_eq!(down, numbers(&shown));
    looked.ask(&press);
    assert_eq!(names(&looked), written, "and back");
    looked.assert_quiet();
}

#[test]
fn the_contents_stay_within_reach() {
    let fixture = recorded::session("base");
    let scratch = tempfile::tempdir().unwrap();
    let browser = browser();
    let looked = Looked::open(&browser, &written(&fixture, scratch.path()));
    looked.width(1280);
    let settled = "new Promise((done) => setTimeout(() => done(0), 150))";
    let go = |id: &str| {
        looked.ask(&format!(
            "document.getElementById('experiment-{id}').scrollIntoView({{behavior: 'instant'}})"
        ));
        looked.tab.evaluate(settled);
    };
    for id in ["workers", "clock", "create"] {
        go(id);
        let current = looked.ask(
            "Array.from(document.querySelectorAll('#rail [aria-current]'), (link) => link.hash)",
        );
        assert_eq!(current, json!([format!("#experiment-{id}")]));
        let seen = "(() => { const b = document.querySelector('#rail [aria-current]').getBoundingClientRect();\
                    return b.top >= 0 && b.bottom <= innerHeight && b.right > 0; })()";
        assert_eq!(looked.ask(seen), Value::Bool(true), "{id}");
    }
    let apart = "document.getElementById('rail').getBoundingClientRect().right\
                 <= document.querySelector('main').getBoundingClientRect().left + 40";
    assert_eq!(looked.ask(apart), Value::Bool(true), "beside the text, not upon it");

    looked.width(390);
    go("clock");
    let list = "getComputedStyle(document.getElementById('rail-list')).display";
    assert_eq!(looked.text(list), "none");
    looked.ask("document.querySelector('.rail-toggle').focus()");
    looked.tab.press("Enter");
    assert_eq!(looked.text(list), "block");
    assert_eq!(
        looked.text("document.querySelector('.rail-toggle').getAttribute('aria-expanded')"),
        "true"
    );
    looked.assert_no_overflow(390);
    looked.pictures("contents-390");
    looked.tab.press("Escape");
    assert_eq!(looked.text(list), "none");
    assert_eq!(looked.text("document.activeElement.className"), "rail-toggle");
    // Every link of the page has its place, the charts' own among them.
    let lost = "Array.from(document.querySelectorAll('a[href^=\"#\"]'))\
                .filter((link) => !document.getElementById(link.hash.slice(1))).length";
    assert_eq!(looked.number(lost), 0.0);
    let charts = "document.querySelectorAll('.picture[id] > .figure').length";
    assert!(looked.number(charts) > 20.0);
    looked.assert_quiet();
}

#[test]
fn headings_go_down_by_one_and_names_are_there() {
    let fixture = recorded::session("base");
    let scratch = tempfile::tempdir().unwrap();
    let browser = browser();
    let looked = Looked::open(&browser, &written(&fixture, scratch.path()));
    let levels = looked.ask(
        "Array.from(document.querySelectorAll('h1,h2,h3,h4,h5,h6'), (h) => [Number(h.tagName[1]), h.textContent])",
    );
    let mut before = 0;
    for heading in levels.as_array().unwrap() {
        let level = heading[0].as_u64().unwrap();
        assert!(level <= before + 1, "{heading} after a heading of level {before}");
        before = level;
    }
    let nameless = "Array.from(document.querySelectorAll('[role=img], [role=region], button, nav, a'))\
        .filter((one) => !(one.getAttribute('aria-label') || one.textContent).trim())\
        .map((one) => one.outerHTML.slice(0, 120))";
    assert_eq!(looked.ask(nameless), json!([]));
    // What has a name must have a role, landmarks have names of their own, and what scrolls is reached by keys (axe).
    let wrong = "Array.from(document.querySelectorAll('*')).filter((one) => {\
        const named = one.getAttribute('aria-label');\
        const mute = named && !one.getAttribute('role') && ['SPAN', 'DIV', 'P'].includes(one.tagName);\
        const twin = one.getAttribute('role') === 'region' &&\
          document.querySelectorAll(`[role=region][aria-label=\"${CSS.escape(named)}\"]`).length > 1;\
        return mute || twin || (one.matches('.scroll') && !one.matches('[tabindex]')); })\
      .map((one) => one.outerHTML.slice(0, 120))";
    assert_eq!(looked.ask(wrong), json!([]));
}

#[test]
fn without_a_script_the_page_says_where_the_trials_are() {
    let fixture = recorded::session("base");
    let scratch = tempfile::tempdir().unwrap();
    let browser = browser();
    let looked = Looked::open(&browser, &written(&fixture, scratch.path()));
    looked.tab.call("Emulation.setScriptExecutionDisabled", &json!({"value": true}));
    // Another place, so that no answer can come from the page that was open before.
    let elsewhere = tempfile::tempdir().unwrap();
    let page = written(&fixture, elsewhere.path());
    looked.tab.open(&page);
    assert_eq!(looked.text("location.pathname"), page.display().to_string());
    looked.unfold();
    let place = format!("{}.querySelector('summary + p')", fold("create"));
    let said = looked.text(&format!("{place}.textContent"));
    assert!(said.contains("trials.ndjson") && said.contains("scruple export "), "{said}");
    let height = format!("{place}.getBoundingClientRect().height");
    let since = Instant::now();
    while looked.number(&height) == 0.0 {
        assert!(since.elapsed() < DOWNLOAD_WAIT, "the sentence is not shown");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(looked.number("document.querySelectorAll('.raw-table, th button').length"), 0.0);
    for width in [390, 1280] {
        looked.assert_no_overflow(width);
    }
}
