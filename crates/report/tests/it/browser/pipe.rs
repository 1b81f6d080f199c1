//! A browser of its own, asked over a pipe in the Chrome DevTools Protocol: messages in JSON, each with
//! a zero byte at its end.

use serde_json::{Value, json};
use std::cell::{Cell, RefCell};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::rc::Rc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Where a browser may be found, in the order of preference.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// How the browser is started, next to a folder for its profile.
const FLAGS: [&str; 14] = [
    "--headless",
    "--no-sandbox",
    "--remote-debugging-pipe",
    "--window-size=1280,900",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-sync",
    "--disable-component-update",
    "--disable-background-networking",
    "--disable-background-timer-throttling",
    "--no-first-run",
];

/// Longer than a busy machine needs for anything that is asked here.
const PATIENCE: Duration = Duration::from_secs(120);

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

/// The process, and both ends of its pipes.
struct Process {
    child: Child,
    asked: RefCell<ChildStdin>,
    answers: Receiver<Value>,
    /// What the browser said without being asked.
    events: RefCell<Vec<Value>>,
    number: Cell<u64>,
    _profile: TempDir,
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A running browser without a window.
pub(crate) struct Browser(Rc<Process>);

/// Starts a browser.
pub(crate) fn browser() -> Browser {
    let profile = tempfile::tempdir().unwrap();
    // It reads from descriptor 3 and writes to 4; a shell puts the pipes there.
    let mut child = Command::new("sh")
        .args(["-c", "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null", "sh"])
        .arg(browser_path())
        .args(FLAGS)
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("a shell starts");
    let asked = RefCell::new(child.stdin.take().unwrap());
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let (sender, answers) = channel();
    std::thread::spawn(move || {
        let mut message = Vec::new();
        while output.read_until(0, &mut message).is_ok_and(|bytes| bytes > 1) {
            let value = serde_json::from_slice(&message[..message.len() - 1]).unwrap();
            if sender.send(value).is_err() {
                return;
            }
            message.clear();
        }
    });
    let (events, number) = (RefCell::default(), Cell::new(0));
    Browser(Rc::new(Process { child, asked, answers, events, number, _profile: profile }))
}

impl Process {
    /// Asks, and waits for the answer, which must be no error.
    fn call(&self, session: Option<&str>, method: &str, params: &Value) -> Value {
        self.ask(session, method, params).unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// Asks, and waits for the answer or the error.
    fn ask(&self, session: Option<&str>, method: &str, params: &Value) -> Result<Value, Value> {
        let id = self.number.get() + 1;
        self.number.set(id);
        let mut message = json!({"id": id, "method": method, "params": params});
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.asked.borrow_mut().write_all(&bytes).expect("the browser listens");
        loop {
            let mut answer = self.hear(method);
            if answer["id"] == id {
                let error = answer["error"].take();
                return if error.is_null() { Ok(answer["result"].take()) } else { Err(error) };
            }
            self.events.borrow_mut().push(answer);
        }
    }

    fn hear(&self, what: &str) -> Value {
        self.answers.recv_timeout(PATIENCE).unwrap_or_else(|error| panic!("{what}: {error}"))
    }
}

/// A tab, to which all questions go that a page is asked.
pub(crate) struct Tab {
    process: Rc<Process>,
    session: String,
}

impl Tab {
    pub(crate) fn new(Browser(process): &Browser) -> Tab {
        let made = process.call(None, "Target.createTarget", &json!({"url": "about:blank"}));
        let target = json!({"targetId": made["targetId"], "flatten": true});
        let attached = process.call(None, "Target.attachToTarget", &target);
        let session = attached["sessionId"].as_str().unwrap().to_string();
        let tab = Tab { process: Rc::clone(process), session };
        for domain in ["Page", "Runtime", "Log", "Network"] {
            tab.call(&format!("{domain}.enable"), &json!({}));
        }
        tab.call("Page.setLifecycleEventsEnabled", &json!({"enabled": true}));
        tab
    }

    /// Asks for a method of the protocol, and returns its answer.
    pub(crate) fn call(&self, method: &str, params: &Value) -> Value {
        self.process.call(Some(&self.session), method, params)
    }

    /// What the page said without being asked until now: the parameters of these events.
    pub(crate) fn events(&self, methods: &[&str]) -> Vec<Value> {
        // What happened before an answer was said before it.
        self.evaluate("0");
        let events = self.process.events.borrow();
        let mine = events.iter().filter(|event| event["sessionId"] == *self.session);
        let named = mine.filter(|event| methods.iter().any(|method| event["method"] == *method));
        named.map(|event| event["params"].clone()).collect()
    }

    /// Opens a file, and waits until nothing more is loaded.
    pub(crate) fn open(&self, page: &Path) {
        let url = format!("file://{}", page.display());
        let loader = self.call("Page.navigate", &json!({"url": url}))["loaderId"].take();
        let is_idle = |event: &Value| {
            event["method"] == "Page.lifecycleEvent"
                && event["params"]["name"] == "networkAlmostIdle"
                && event["params"]["loaderId"] == loader
        };
        while !self.process.events.borrow().iter().any(is_idle) {
            let event = self.process.hear(&url);
            self.process.events.borrow_mut().push(event);
        }
    }

    /// The value of an expression, or of its promise; null where it has none.
    pub(crate) fn evaluate(&self, expression: &str) -> Value {
        let params = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        self.call("Runtime.evaluate", &params)["result"]["value"].take()
    }

    /// Waits until a selector finds something. A page that is left meanwhile answers with an error.
    pub(crate) fn wait_for(&self, selector: &str) {
        let end = Instant::now() + PATIENCE;
        let expression = format!("!!document.querySelector({})", json!(selector));
        let params = json!({"expression": expression, "returnByValue": true});
        let found = || self.process.ask(Some(&self.session), "Runtime.evaluate", &params);
        while !found().is_ok_and(|answer| answer["result"]["value"] == true) {
            assert!(Instant::now() < end, "there is no {selector}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn point_at(&self, x: f64, y: f64) {
        self.call("Input.dispatchMouseEvent", &json!({"type": "mouseMoved", "x": x, "y": y}));
    }

    pub(crate) fn press(&self, key: &str) {
        let (code, text) = match key {
            "Enter" => (13, "\r"),
            "Escape" => (27, ""),
            "ArrowRight" => (39, ""),
            "/" => (191, ""),
            "ArrowDown" => (40, ""),
            _ => panic!("what is the code of {key}?"),
        };
        let mut event =
            json!({"type": "keyDown", "key": key, "code": key, "windowsVirtualKeyCode": code});
        let up = json!({"type": "keyUp", "key": key, "code": key, "windowsVirtualKeyCode": code});
        if !text.is_empty() {
            event["text"] = text.into();
        }
        self.call("Input.dispatchKeyEvent", &event);
        self.call("Input.dispatchKeyEvent", &up);
    }
}
