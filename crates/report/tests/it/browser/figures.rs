//! What the buttons of a figure save.

use super::eyes::Looked;
use super::made_up::written;
use super::pipe::browser;
use super::raw::downloaded;
use crate::recorded;
use serde_json::Value;

/// Keeps what is saved in place of handing it to the browser; `saved(name)` is the last file.
const KEEP: &str = "(() => { window.files = []; URL.createObjectURL = (blob) => \
    { window.files.push(blob); return '#'; }; return 0; })()";

/// Presses a button of each figure and returns what is wrong with the pictures.
const WRONG: &str = "Promise.all(Array.from(document.querySelectorAll('figure.figure'), async (figure) => {\
    figure.querySelector('.save button').click();\
    const text = await window.files.at(-1).text();\
    const picture = new DOMParser().parseFromString(text, 'image/svg+xml').documentElement;\
    const title = figure.querySelector('h3').textContent;\
    const wrong = (what) => title + ': ' + what;\
    if (picture.localName !== 'svg') return wrong(text.slice(0, 200));\
    if (picture.namespaceURI !== 'http://www.w3.org/2000/svg') return wrong('namespace');\
    const [, , width, height] = picture.getAttribute('viewBox').split(' ').map(Number);\
    if (picture.getAttribute('width') !== String(width)) return wrong('width');\
    if (/%\"|NaN|undefined|class=|style=|href=|var\\(/.test(text)) return wrong('not by itself');\
    const words = Array.from(picture.querySelectorAll('text'), (one) => one.textContent);\
    if (!words.some((word) => title.startsWith(word))) return wrong('no title');\
    if (!words.some((word) => word.includes('session ') && word.includes('scruple '))) return wrong('no source');\
    const marks = (one) => one.querySelectorAll('circle, path').length;\
    if (marks(picture) < figure.querySelectorAll('.mark:not(.hit) circle, .lone circle').length) return wrong('no marks');\
    document.body.append(picture);\
    const stray = Array.from(picture.querySelectorAll('text, path, line, rect')).filter((one) => {\
      const box = one.getBBox();\
      const at = one.getCTM();\
      const [x, y] = [box.x + at.e, box.y + at.f];\
      return x < -2 || y < -2 || x + box.width > width + 2 || y + box.height > height + 2; });\
    picture.remove();\
    return stray.length ? wrong(stray[0].outerHTML + ' beyond ' + width + ' x ' + height) : null;\
  })).then((all) => ({ all: all.length, wrong: all.filter((one) => one) }))";

#[test]
fn every_figure_is_saved_as_a_picture_that_needs_no_page() {
    let scratch = tempfile::tempdir().unwrap();
    let browser = browser();
    for (name, least) in [("base", 70), ("servers", 5), ("speedup", 3)] {
        let folder = scratch.path().join(name);
        std::fs::create_dir(&folder).unwrap();
        let looked = Looked::open(&browser, &written(&recorded::session(name), &folder));
        for (width, scheme) in [(1280, "light"), (390, "dark")] {
            looked.width(width);
            looked.scheme(scheme);
            looked.ask(KEEP);
            looked
                .ask("document.querySelectorAll('details').forEach((one) => { one.open = true; })");
            let found = looked.tab.evaluate(&format!("{WRONG}.then(JSON.stringify)"));
            let found: Value = serde_json::from_str(found.as_str().unwrap()).unwrap();
            let wrong = found["wrong"].as_array().unwrap();
            assert_eq!(wrong.first(), None, "{} at {width}: {} of them", name, wrong.len());
            assert!(found["all"].as_u64().unwrap() >= least, "{name}: {found}");
        }
        looked.assert_quiet();
    }
}

#[test]
fn a_figure_is_downloaded_in_three_forms() {
    let scratch = tempfile::tempdir().unwrap();
    let browser = browser();
    let looked = Looked::open(&browser, &written(&recorded::session("base"), scratch.path()));
    looked.width(1280);
    let saved = |kind: &str| {
        let folder = tempfile::tempdir().unwrap();
        let press = format!(
            "Array.from(document.querySelectorAll('#experiment-create-chart-1 .save button'))\
             .find((one) => one.textContent === '{}').click()",
            kind.to_uppercase()
        );
        downloaded(&looked, &press, folder.path(), kind)
    };
    let svg = String::from_utf8(saved("svg")).unwrap();
    assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 "), "{svg}");
    assert!(svg.contains("process (fork)") && svg.ends_with("</svg>"));
    let width = |text: &str| text.split(" width=\"").nth(1)?.split('"').next()?.parse().ok();
    let width: u32 = width(&svg).unwrap();
    let png = saved("png");
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
    let size = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    assert_eq!(size(16), 2 * width);
    // A blank picture of this size takes a tenth of that.
    assert!(png.len() > 50_000, "{} bytes", png.len());
    let csv = saved("csv");
    let mut rows = csv::Reader::from_reader(&csv[..]);
    let heads: Vec<String> = rows.headers().unwrap().iter().map(String::from).collect();
    let label = "time to create and to wait for the end";
    let expected = ["treatment", label, &format!("{label} unit"), "95 % interval low"];
    assert_eq!(heads[..4], expected);
    let rows: Vec<csv::StringRecord> = rows.records().map(Result::unwrap).collect();
    let drawn = "document.querySelectorAll('#experiment-create-chart-1 .behind tbody tr').length";
    assert_eq!(rows.len() as f64, looked.number(drawn));
    let fork = rows.iter().find(|row| &row[0] == "process (fork)").unwrap();
    assert!(fork[1].parse::<f64>().unwrap() > 0.0 && &fork[2] == "µs", "{fork:?}");
    // The browser lists the picture that it draws on its canvas as a request, of a `data:` address.
    assert_eq!(looked.complaints(), Vec::<Value>::new());
}
