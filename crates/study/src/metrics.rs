//! Numbers that are picked from what a program prints.

use crate::is_word;
use crate::place::Result;
use crate::table::Value;
use ask::units;
use model::{Card, Decimal, Metric, Pick, Response, Stream, Unit};
use regex::Regex;

/// The parts into which a unit that nobody knows is divided: a ratio of 2.873 keeps its places.
const PARTS: u64 = 1_000_000;

/// The most bytes of a compiled expression: a small one, such as `\d{9999}{99}`, can be huge.
const REGEX_BYTES_MAX: usize = 1 << 20;

/// All metrics with their responses, in the order of the file.
pub(crate) fn read(value: &Value<'_>) -> Result<Vec<(Metric, Response)>> {
    let table = value.table("a table of metrics, such as [metrics.speed]")?;
    table.entries().iter().map(metric).collect()
}

fn metric(value: &Value<'_>) -> Result<(Metric, Response)> {
    if !is_word(&value.name) {
        return Err(value.error_at_name("a metric's name must be a word of a-z, 0-9 and _"));
    }
    let table = value.fields(
        "a table such as { regex = 'in ([0-9.]+) s', unit = \"s\" }",
        "regex pointer from unit scale decimal label",
    )?;
    let pick = pick(value, table.get("regex"), table.get("pointer"))?;
    let streams = [("stdout", Stream::Stdout), ("stderr", Stream::Stderr)];
    let from = table.read("from", |value| value.choice(&streams))?.unwrap_or_default();
    let text = table.read("unit", |unit| unit.text("a unit such as \"MB/s\""))?;
    let (unit, factor) = units::unit(text.as_deref().unwrap_or_default());
    let scale = table.read("scale", scale)?.unwrap_or(1.0);
    let name = match unit.suffix() {
        Some(suffix) if !value.name.ends_with(suffix) => format!("{}{suffix}", value.name),
        _ => value.name.clone(),
    };
    let label = table.read("label", |label| label.text("a text"))?;
    let label = label.unwrap_or_else(|| value.name.replace('_', " "));
    let per = match unit {
        Unit::Other(_) | Unit::PerSecond | Unit::Ppm => PARTS,
        Unit::Ns | Unit::Bytes | Unit::Count => 1,
    };
    let stream = if from == Stream::Stdout { "standard output" } else { "standard error" };
    let source = match &pick {
        Pick::Regex(regex) => format!("{stream}, the last match of {regex}"),
        Pick::Pointer(pointer) => format!("{stream} as JSON, at {pointer}"),
    };
    let corrected = if scale == 1.0 { String::new() } else { format!("multiplied by {scale}") };
    let card =
        Card::new("where the program itself begins to count", "where it ends", &corrected, &source);
    let unit_name = match &unit {
        Unit::Other(name) => name.clone(),
        Unit::PerSecond => text.unwrap_or_default(),
        _ => String::new(),
    };
    let response = Response::new(&name, &label, unit, card);
    let marks = [(".", Decimal::Point), (",", Decimal::Comma)];
    let decimal = table.read("decimal", |value| value.choice(&marks))?;
    let scale = scale * factor;
    let metric = Metric {
        response: name,
        from,
        pick,
        scale,
        per,
        of_unit: factor,
        decimal,
        unit: unit_name,
    };
    Ok((metric, response))
}

fn scale(value: &Value<'_>) -> Result<f64> {
    match value.number("a number that what is found is multiplied by")?.value {
        0.0 => Err(value.error("multiplied by 0 every number is the same")),
        scale => Ok(scale),
    }
}

fn pick(value: &Value<'_>, regex: Option<Value<'_>>, pointer: Option<Value<'_>>) -> Result<Pick> {
    match (regex, pointer) {
        (Some(regex), None) => {
            let text = regex.text("a regular expression")?;
            let compiled = regex::RegexBuilder::new(&text).size_limit(REGEX_BYTES_MAX).build();
            let compiled: Regex = compiled.map_err(|error| {
                let message = error.to_string();
                let last = message.lines().last().unwrap_or_default().trim_start_matches("error: ");
                regex.error(format!("this is no regular expression: {last}"))
            })?;
            if compiled.captures_len() < 2 {
                let what = "it has no group: put ( ) around the number, as in 'took ([0-9.]+) s'";
                return Err(regex.error(what));
            }
            Ok(Pick::Regex(text))
        }
        (None, Some(pointer)) => {
            let text = pointer.text("a JSON pointer such as \"/results/0/mean\"")?;
            if !text.is_empty() && !text.starts_with('/') {
                return Err(pointer.error(format!("a JSON pointer begins with /: \"/{text}\"")));
            }
            Ok(Pick::Pointer(text))
        }
        (Some(_), Some(both)) => {
            Err(both.error_at_name("a metric is picked by regex or by pointer, not by both"))
        }
        (None, None) => Err(value
            .error_at_name("it does not say how it is found: add regex = '…' or pointer = '/…'")),
    }
}
