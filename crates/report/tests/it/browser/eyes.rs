//! The browser, and what it saw.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use headless_chrome::protocol::cdp::types::Event;
use headless_chrome::protocol::cdp::{Emulation, Log, Network, Page, Runtime};
use headless_chrome::{Browser, LaunchOptions, Tab};
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Where a browser may be found, in the order of preference.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// Length of one slice of a page, in pixels.
const SLICE_PX: f64 = 1600.0;

/// The most of a page that is taken in one picture, in pixels.
const LENGTH_PX_MAX: f64 = 12_000.0;

fn browser_path() -> PathBuf {
    if let Some(path) = std::env::var_os("CHROME") {
        return path.into();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = BROWSERS
        .iter()
        .flat_map(|name| std::env::split_paths(&path).map(move |folder| folder.join(name)))
        .find(|candidate| candidate.is_file());
    found.unwrap_or_else(|| {
        panic!(
            "no browser to look at the report: none of {} is on PATH and $CHROME is not set; \
             `cargo xtask test` installs one",
            BROWSERS.join(", ")
        )
    })
}

/// A browser of its own, without a window.
pub(crate) fn browser() -> Browser {
    let flags = [
        "--disable-gpu",
        "--disable-component-update",
        "--disable-background-networking",
        "--hide-scrollbars",
    ];
    let options = LaunchOptions::default_builder()
        .path(Some(browser_path()))
        .sandbox(false)
        .window_size(Some((1280, 900)))
        .idle_browser_timeout(Duration::from_secs(120))
        .args(flags.iter().map(OsStr::new).collect())
        .build()
        .expect("complete options");
    Browser::new(options).expect("the browser starts")
}

/// What went wrong in a page, and what it asked the network for.
#[derive(Default)]
struct Witness {
    complaints: Mutex<Vec<String>>,
    requests: Mutex<Vec<String>>,
}

/// A page that was opened, and what is asked of it.
pub(crate) struct Looked {
    pub(crate) tab: Arc<Tab>,
    witness: Arc<Witness>,
}

impl Looked {
    /// Opens a page with everything that could complain switched on first.
    pub(crate) fn open(browser: &Browser, page: &Path) -> Looked {
        let tab = browser.new_tab().unwrap();
        let witness = Arc::new(Witness::default());
        let listener = Arc::clone(&witness);
        tab.add_event_listener(Arc::new(move |event: &Event| match event {
            Event::RuntimeExceptionThrown(thrown) => {
                listener.complaints.lock().unwrap().push(format!("{:?}", thrown.params));
            }
            Event::RuntimeConsoleAPICalled(said) => {
                listener.complaints.lock().unwrap().push(format!("{:?}", said.params));
            }
            Event::LogEntryAdded(entry) => {
                listener.complaints.lock().unwrap().push(format!("{:?}", entry.params));
            }
            Event::NetworkRequestWillBeSent(sent) => {
                listener.requests.lock().unwrap().push(sent.params.request.url.clone());
            }
            _ => {}
        }))
        .unwrap();
        tab.call_method(Runtime::Enable(None)).unwrap();
        tab.call_method(Log::Enable(None)).unwrap();
        let network: Network::Enable = serde_json::from_value(json!({})).unwrap();
        tab.call_method(network).unwrap();
        tab.navigate_to(&format!("file://{}", page.display())).unwrap();
        tab.wait_until_navigated().unwrap();
        Looked { tab, witness }
    }

    /// What was complained of, until now.
    pub(crate) fn complaints(&self) -> Vec<String> {
        self.witness.complaints.lock().unwrap().clone()
    }

    /// The value of an expression.
    pub(crate) fn ask(&self, expression: &str) -> Value {
        let text = format!("JSON.stringify({expression})");
        let answer = self.tab.evaluate(&text, true).unwrap().value.unwrap_or(Value::Null);
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
        let metrics: Emulation::SetDeviceMetricsOverride = serde_json::from_value(metrics).unwrap();
        self.tab.call_method(metrics).unwrap();
    }

    pub(crate) fn scheme(&self, scheme: &str) {
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        let media: Emulation::SetEmulatedMedia = serde_json::from_value(features).unwrap();
        self.tab.call_method(media).unwrap();
    }

    /// As it would be on paper.
    pub(crate) fn print(&self) {
        let media: Emulation::SetEmulatedMedia =
            serde_json::from_value(json!({"media": "print", "features": []})).unwrap();
        self.tab.call_method(media).unwrap();
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
            let clip =
                Page::Viewport { x: 0.0, y, width, height: length.min(height - y), scale: 1.0 };
            let shot: Page::CaptureScreenshot = serde_json::from_value(json!({
                "format": "png", "clip": clip, "captureBeyondViewport": true
            }))
            .unwrap();
            let data = self.tab.call_method(shot).unwrap().data;
            let file = folder().join(format!("{name}-{index}.png"));
            std::fs::write(file, BASE64_STANDARD.decode(&data).unwrap()).unwrap();
        }
    }

    /// No error, no word on the console, and nothing asked for but the page itself.
    pub(crate) fn assert_quiet(&self) {
        let complaints = self.witness.complaints.lock().unwrap();
        assert!(complaints.is_empty(), "{complaints:?}");
        let requests = self.witness.requests.lock().unwrap();
        assert!(!requests.is_empty(), "the page itself was asked for");
        let outside: Vec<_> = requests
            .iter()
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

    pub(crate) fn assert_no_overflow(&self, width: u32) {
        self.width(width);
        let wide = self.number("document.documentElement.scrollWidth");
        let room = self.number("document.documentElement.clientWidth");
        assert_eq!(room, f64::from(width));
        assert!(wide <= room, "{wide} px of page in a window of {room} px");
    }
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
