//! Every trial of an experiment: a table that the page's script builds from data embedded once,
//! when somebody opens it, and gives back as CSV.
//!
//! The numbers are not written as table rows. Ten thousand rows would make a page of many
//! megabytes that every reader has to lay out, for the one who wants to look.

mod data;
mod pack;
mod thin;

pub(super) use data::Reader;
pub(super) use thin::embed;

use super::anchor;
use crate::Session;
use crate::say::chapter::Chapter;
use crate::words::{counted, short};
use maud::{Markup, html};

/// The place where the table will stand, and where the data are for those who have no script.
pub(super) fn place(session: &Session<'_>, chapter: &Chapter<'_>) -> Markup {
    let id = &chapter.summary.id;
    html! {
        @if !chapter.records.is_empty() {
            details.raw data-raw=(data_id(id)) {
                summary {
                    "Every trial with its numbers: "
                    (counted(chapter.records.len() as u64, "trial")) ", to sort and to download"
                }
                p.small.without-script {
                    "This table is built by the page's script, which does not run here. The same "
                    "data lie beside the page in " code { "trials.ndjson" } "; as a table they come from "
                    code { (export_command(session, id)) } "."
                }
            }
        }
    }
}

/// The element that holds an experiment's data.
fn data_id(id: &str) -> String {
    format!("{}-data", anchor(id))
}

/// What writes all trials of an experiment as CSV.
fn export_command(session: &Session<'_>, id: &str) -> String {
    let words =
        ["scruple", "export", &session.manifest.session, "--format", "csv", "--experiment", id];
    let words = words.map(|word| short(word, 120));
    crate::words::command_line(&words)
}
