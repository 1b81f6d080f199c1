//! The browser, and what it saw.

use super::pipe::{Browser, Tab};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Length of one slice of a page, in pixels.
const SLICE_PX: f64 = 1600.0;

/// The most of a page that is taken in one picture, in pixels.
const LENGTH_PX_MAX: f64 = 12_000.0;

/// What a page says when something is wrong.
const COMPLAINTS: [&str; 3] =
    ["Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"];

/// A page that was opened, and what is asked of it.
pub(crate) struct Looked {
    pub(crate) tab: Tab,
}

impl Looked {
    /// Opens a page with everything that could complain switched on first.
    pub(crate) fn open(browser: &Browser, page: &Path) -> Looked {
        let tab = Tab::new(browser);
        tab.open(page);
        Looked { tab }
    }

    /// What was complained of, until now.
    pub(crate) fn complaints(&self) -> Vec<Value> {
        self.tab.events(&COMPLAINTS)
    }

    /// The value of an expression.
    pub(crate) fn ask(&self, expression: &str) -> Value {
        let answer = self.tab.evaluate(&format!("JSON.stringify({expression})"));
        serde_json::from_str(answer.as_str().unwrap_or("null")).unwrap()
    }

    pub(crate) fn number(&self, expression: &str) -> f64 {
        self.ask(expression).as_f64().unwrap_or(f64::NAN)
    }

    pub(crate) fn text(&self, expression: &str) -> String {
        self.ask(expression).as_str().unwrap_or_default().to_string()
    }

    pub(crate) fn width(&self, width: u32) {
        let metrics =
            json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false});
        self.tab.call("Emulation.setDeviceMetricsOverride", &metrics);
    }

    pub(crate) fn scheme(&self, scheme: &str) {
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.tab.call("Emulation.setEmulatedMedia", &features);
    }

    /// As it would be on paper.
    pub(crate) fn print(&self) {
        self.tab.call("Emulation.setEmulatedMedia", &json!({"media": "print", "features": []}));
    }

    /// The whole page as a picture; as several, each small enough to be looked at, where
    /// `REPORT_PICTURES=slices` asks for it.
    pub(crate) fn pictures(&self, name: &str) {
        let size = self.ask("[document.documentElement.clientWidth, document.body.scrollHeight]");
        let (width, height) = (size[0].as_f64().unwrap(), size[1].as_f64().unwrap());
        let slices = std::env::var_os("REPORT_PICTURES").is_some_and(|kind| kind == "slices");
        let length = if slices { SLICE_PX } else { LENGTH_PX_MAX };
        let count = if slices { (height / length).ceil() as u32 } else { 1 };
        for index in 0..count {
            let y = f64::from(index) * length;
            let high = length.min(height - y);
            let clip = json!({"x": 0.0, "y": y, "width": width, "height": high, "scale": 1.0});
            let shot = json!({"format": "png", "clip": clip, "captureBeyondViewport": true});
            let data = decoded(&self.tab.call("Page.captureScreenshot", &shot));
            let file = folder().join(format!("{name}-{index}.png"));
            std::fs::write(file, data).unwrap();
        }
    }

    /// The page as it would be printed.
    pub(crate) fn pdf(&self) -> Vec<u8> {
        decoded(&self.tab.call("Page.printToPDF", &json!({})))
    }

    /// No error, no word on the console, and nothing asked for but the page itself.
    pub(crate) fn assert_quiet(&self) {
        let complaints = self.complaints();
        assert!(complaints.is_empty(), "{complaints:?}");
        let requests = self.tab.events(&["Network.requestWillBeSent"]);
        assert!(!requests.is_empty(), "the page itself was asked for");
        let outside: Vec<_> = requests
            .iter()
            .map(|sent| sent["request"]["url"].as_str().unwrap())
            .filter(|url| !url.starts_with("file:///") || !is_page(url))
            .filter(|url| *url != "data:,")
            .collect();
        assert!(outside.is_empty(), "{outside:?}");
    }

    /// How much the first element of each selector stands out from the page, 1 to 21, by the colour
    /// that the property names (contrast ratio, WCAG 2.2).
    pub(crate) fn contrasts(&self, what: &[&str], property: &str) -> Vec<f64> {
        let ratios = self.ask(&format!(
            "(() => {{\
             const light = (text) => {{\
               const [r, g, b] = text.match(/[\\d.]+/g).map((v) => {{\
                 const c = v / 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; }});\
               return 0.2126 * r + 0.7152 * g + 0.0722 * b; }};\
             const paper = light(getComputedStyle(document.body).backgroundColor);\
             return {}.map((q) => light(getComputedStyle(document.querySelector(q)).{property}))\
               .map((ink) => (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05));\
             }})()",
            json!(what)
        ));
        serde_json::from_value(ratios).unwrap()
    }

    /// Opens every fold and shows every figure whole.
    pub(crate) fn unfold(&self) {
        self.ask(
            "(document.querySelectorAll('details').forEach((fold) => { fold.open = true; }),\
              document.querySelectorAll('.enlarge input').forEach((box) => { box.checked = true; }))",
        );
    }

    /// Closes them again.
    pub(crate) fn fold(&self) {
        self.ask(
            "(document.querySelectorAll('details').forEach((fold) => { fold.open = false; }),\
              document.querySelectorAll('.enlarge input').forEach((box) => { box.checked = false; }))",
        );
    }

    pub(crate) fn assert_no_overflow(&self, width: u32) {
        self.width(width);
        let wide = self.number("document.documentElement.scrollWidth");
        let room = self.number("document.documentElement.clientWidth");
        assert_eq!(room, f64::from(width));
        assert!(wide <= room, "{wide} px of page in a window of {room} px");
    }
}

/// The bytes that an answer holds.
fn decoded(answer: &Value) -> Vec<u8> {
    BASE64_STANDARD.decode(answer["data"].as_str().unwrap()).unwrap()
}

/// Whether an address is that of one of a session's two pages, of a comparison or of a load.
fn is_page(url: &str) -> bool {
    let page = url.split('#').next().unwrap_or_default();
    [report::REPORT_PAGE, report::CLAIMS_PAGE, super::comparison::PAGE, super::load::PAGE]
        .iter()
        .any(|name| page.ends_with(&format!("/{name}")))
}

fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report-screenshots");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}
