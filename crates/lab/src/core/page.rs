//! A recording as one page with a slider over its cycles. It needs no network.

use super::recording::Recording;
use anyhow::Result;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use model::CoreRun;
use serde::Serialize;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
const BODY: &str = include_str!("page.html");

#[derive(Serialize)]
struct Data<'a> {
    run: &'a CoreRun,
    recording: &'a Recording,
}

/// Returns the page.
pub(super) fn page(run: &CoreRun, recording: &Recording) -> Result<String> {
    // What others wrote stands in it: no text of JSON may end the element.
    let data = serde_json::to_string(&Data { run, recording })?.replace('<', "\\u003c");
    let digest = sys::hash::sha256(SCRIPT.as_bytes());
    let digest: Vec<u8> = (0..digest.len())
        .step_by(2)
        .filter_map(|at| u8::from_str_radix(digest.get(at..at + 2)?, 16).ok())
        .collect();
    let policy = format!(
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{}'; img-src data:; base-uri 'none'; \
         form-action 'none'",
        BASE64_STANDARD.encode(digest)
    );
    let pieces = [
        ("STYLE", STYLE),
        ("POLICY", policy.as_str()),
        ("SCRIPT", SCRIPT),
        ("DATA", data.as_str()),
    ];
    // The data come last: what they hold is not looked through.
    let mut page = BODY.to_owned();
    for (name, piece) in pieces {
        page = page.replacen(&format!("{{{{{name}}}}}"), piece, 1);
    }
    Ok(page)
}
