//! What can be observed on this machine, how small a difference can be found, what is missing, and
//! what would bring it.

mod channels;
mod disturbances;
mod prediction;

use crate::cli::DoctorArgs;
use crate::exit::Exit;
use crate::{environment, ui};
use anstyle::{AnsiColor, Style};
use channels::{Channel, Text};
use disturbances::Disturbance;
use model::{Environment, Unit};
use prediction::{Kind, Prediction};
use serde_json::{Value, json};
use std::fmt::Write;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Yellow.on_default();

/// What was found.
struct Findings {
    environment: Environment,
    channels: Vec<Channel>,
    disturbances: Vec<Disturbance>,
    /// None where it was not asked for; else what was predicted, or why nothing was.
    prediction: Option<anyhow::Result<Prediction>>,
}

pub(crate) fn doctor(args: &DoctorArgs) -> anyhow::Result<Exit> {
    let environment = environment::look();
    let channels = channels::channels();
    let prediction = (!args.no_measure).then(|| prediction::predict(&environment));
    let measured = prediction.as_ref().and_then(|it| it.as_ref().ok());
    let disturbances = disturbances::disturbances(&environment, measured);
    let findings = Findings { environment, channels, disturbances, prediction };
    ui::show(args.json, &findings.json(), |_| findings.text())?;
    // After Ctrl-C the answer lacks what was asked for.
    let interrupted = sys::interrupt::requested().is_some();
    Ok(if interrupted { Exit::Incomplete } else { Exit::Done })
}

impl Findings {
    fn json(&self) -> Value {
        let mut prediction = match &self.prediction {
            None => json!({"why": "not asked for (--no-measure)"}),
            Some(Err(why)) => json!({"why": format!("{why:#}")}),
            Some(Ok(prediction)) => json!(prediction),
        };
        prediction["there"] = matches!(self.prediction, Some(Ok(_))).into();
        json!({
            "environment": self.environment,
            "channels": self.channels.iter().map(Channel::json).collect::<Vec<_>>(),
            "prediction": prediction,
            "disturbances": self.disturbances,
        })
    }

    fn text(&self) -> String {
        let mut out = String::new();
        let _ = writeln!(out, "{BOLD}This machine{BOLD:#}");
        for (name, value) in facts(&self.environment) {
            let first = format!("  {name:<12} ");
            let value = wording::stated(&value).map_or("not known".into(), wording::cleaned);
            hanging(&mut out, &first, FACT_INDENT, &value, Style::new());
        }
        let Environment { topology, cpus_allowed, .. } = &self.environment;
        let width = ui::width().saturating_sub(FACT_INDENT);
        for line in wording::cpus::drawing(topology, cpus_allowed, width) {
            let _ = writeln!(out, "{:FACT_INDENT$}{line}", "");
        }
        let _ = writeln!(out, "\n{BOLD}What can be observed{BOLD:#}");
        for channel in &self.channels {
            channel_lines(channel, &mut out);
        }
        if let Some(prediction) = &self.prediction {
            let _ = writeln!(out, "\n{BOLD}How small a difference can be found{BOLD:#}");
            match prediction {
                Ok(prediction) => prediction_lines(prediction, &mut out),
                Err(why) => {
                    let _ = writeln!(out, "  {BAD}✗{BAD:#} nothing is predicted: {why:#}");
                }
            }
        }
        let _ = writeln!(out, "\n{BOLD}What moves numbers here{BOLD:#}");
        if self.disturbances.is_empty() {
            let _ = writeln!(out, "  nothing was noticed");
        }
        for disturbance in &self.disturbances {
            hanging(&mut out, &format!("  {BAD}!{BAD:#} "), 4, &disturbance.what, Style::new());
            hanging(&mut out, "    ", 4, disturbance.advice, DIM);
        }
        out
    }
}

/// Columns before a fact of the machine.
const FACT_INDENT: usize = 15;

/// Columns before what is said of a channel.
const CHANNEL_INDENT: usize = 27;

/// Writes text after `first`, which takes `indent` columns; its further lines stand under its first.
fn hanging(out: &mut String, first: &str, indent: usize, text: &str, style: Style) {
    let lines = report::wrapped(text, ui::width().saturating_sub(indent));
    for (index, line) in lines.iter().enumerate() {
        let before = if index == 0 { first.to_string() } else { " ".repeat(indent) };
        let _ = writeln!(out, "{before}{style}{line}{style:#}");
    }
}

fn channel_lines(channel: &Channel, out: &mut String) {
    let Channel { name, text: Text { serves, remedy }, found } = channel;
    match found {
        Ok(found) => {
            let first = format!("  {GOOD}✓ {name:<22}{GOOD:#} ");
            hanging(out, &first, CHANNEL_INDENT, found, Style::new());
        }
        Err(why) => {
            let indent = " ".repeat(CHANNEL_INDENT);
            let first = format!("  {BAD}✗ {name:<22}{BAD:#} ");
            hanging(out, &first, CHANNEL_INDENT, why, Style::new());
            for further in [format!("for: {serves}"), format!("to get it: {remedy}")] {
                hanging(out, &indent, CHANNEL_INDENT, &further, DIM);
            }
        }
    }
}

/// Writes the table of predicted floors, and what it rests on.
fn prediction_lines(prediction: &Prediction, out: &mut String) {
    let heads = prediction.kinds[0].floors.iter().map(|floor| format!("{:>14}", floor.time));
    let _ = writeln!(out, "  {:<12}{}", "work", heads.collect::<String>());
    for kind in &prediction.kinds {
        let floors = kind.floors.iter().map(|it| format!("{:>14}", floor_text(it.floor)));
        let _ = writeln!(out, "  {:<12}{}", kind.work, floors.collect::<String>());
    }
    let doubted = prediction.kinds.iter().filter(|kind| !kind.remark.is_empty());
    let remarks = doubted.map(|Kind { work, remark, .. }| format!("{work}: {remark}"));
    let differ = prediction.differ.iter().map(|work| {
        format!(
            "identical treatments differ already now in {work}: do not trust small differences here"
        )
    });
    for text in remarks.chain(differ) {
        hanging(out, &format!("  {BAD}!{BAD:#} "), 4, &text, Style::new());
    }
    for line in prediction.basis() {
        hanging(out, "    ", 4, &line, DIM);
    }
}

fn floor_text(floor: Option<f64>) -> String {
    floor.map_or("–".into(), |floor| wording::number::value(1e6 * floor, &Unit::Ppm))
}

fn facts(environment: &Environment) -> Vec<(&'static str, String)> {
    let cpus = format!(
        "{} online; for this process {}",
        environment.cpus_online,
        wording::cpus::described(&environment.topology, &environment.cpus_allowed)
    );
    let caches: Vec<String> = environment
        .caches
        .iter()
        .map(|cache| format!("L{} {} {} KiB", cache.level, cache.kind, cache.size_bytes >> 10))
        .collect();
    let memory = match environment.memory_bytes {
        0 => String::new(),
        bytes => format!(
            "{:.1} GB, {:.1} GB available",
            bytes as f64 / 1e9,
            environment.memory_available_bytes as f64 / 1e9
        ),
    };
    let hypervisor = Some(environment.hypervisor.as_str()).filter(|name| !name.is_empty());
    let hypervisor = hypervisor.unwrap_or("none seen");
    vec![
        ("kernel", environment.kernel.clone()),
        ("processor", environment.cpu_model.clone()),
        ("CPUs", cpus),
        ("caches", caches.join(", ")),
        ("memory", memory),
        ("hypervisor", hypervisor.into()),
        ("C library", environment.libc.clone()),
        ("rights", environment.rights.clone()),
    ]
}
