//! The program, and all that is done around it.

use crate::Around;
use crate::place::Result;
use crate::table::Value;
use ask::units;
use model::{Subject, SubjectLimits};
use std::collections::BTreeMap;

/// The keys of the file that speak of the program.
pub(crate) const KEYS: &str = "command shell prepare cleanup folder env clear_env stdin affinity limits \
    exit_codes look_every linger with workers time_limit";

const COMMAND: &str = "a list of words such as [\"zstd\", \"-{level}\", \"data\"]";

const WITH: &str = "a list of process IDs or names such as [\"postgres\"]";

/// How long processes that a program leaves behind may go on, if the file does not say.
const LINGER_MS: u32 = 1_000;

/// The subject, its placeholders not yet looked at.
pub(crate) fn read(top: &Value<'_>, around: &Around<'_>) -> Result<Subject> {
    let truth = |key| Ok(top.read(key, Value::truth)?.unwrap_or_default());
    let text = |key, like| Ok(top.read(key, |value| value.text(like))?.unwrap_or_default());
    let word = |key, like| Ok(top.read(key, |value| value.word(like))?.unwrap_or_default());
    let shell = truth("shell")?;
    let commands = |key| Ok(top.read(key, |value| commands(value, shell))?.unwrap_or_default());
    let stdin: String = text("stdin", "the name of a file")?;
    Ok(Subject {
        command: command(&top.needed_as("command", COMMAND)?, shell)?,
        shell,
        prepare: commands("prepare")?,
        cleanup: commands("cleanup")?,
        folder: within(around.folder, &text("folder", "a folder")?),
        environment: top.read("env", environment)?.unwrap_or_default(),
        clear_environment: truth("clear_env")?,
        stdin: if stdin.is_empty() { stdin } else { within(around.folder, &stdin) },
        cpus: word("affinity", "a list of CPUs such as \"0,2-3\", \"one\" or \"all\"")?,
        limits: top.read("limits", limits)?.unwrap_or_default(),
        exit_codes: top.read("exit_codes", exit_codes)?.unwrap_or_default(),
        workers: word("workers", "a number, or \"{n}\"")?,
        with: top.read("with", |value| value.words(WITH))?.unwrap_or_default(),
        look_every_ms: top.read("look_every", look_every)?,
        linger_ms: top
            .read("linger", |value| millis(value, "a time such as \"2s\""))?
            .unwrap_or(LINGER_MS),
        ..Subject::default()
    })
}

/// Reads the command of the trials; one for a shell is one text.
fn command(value: &Value<'_>, shell: bool) -> Result<Vec<String>> {
    if !shell {
        return one(value, false);
    }
    if value.is_list() {
        return Err(value.error("with shell = true it must be one text, not a list"));
    }
    Ok(vec![value.text("one text for the shell")?])
}

fn look_every(value: &Value<'_>) -> Result<u32> {
    if value.is_text() && value.text("")? == "never" {
        return Ok(0);
    }
    millis(value, "a time such as \"5ms\", or \"never\"")
}

fn words(value: &Value<'_>) -> Result<Vec<String>> {
    let words = value.words(COMMAND)?;
    if words.first().is_none_or(String::is_empty) {
        return Err(value.error(format!("it names no program; expected {COMMAND}")));
    }
    Ok(words)
}

/// One command, or a list of commands.
fn commands(value: &Value<'_>, shell: bool) -> Result<Vec<Vec<String>>> {
    if value.is_text() {
        return Ok(vec![one(value, shell)?]);
    }
    let items = value.list("a command, or a list of commands")?;
    let many = items.iter().any(|item| item.is_list()) || shell;
    if items.is_empty() {
        Ok(Vec::new())
    } else if many {
        items.iter().map(|item| one(item, shell)).collect()
    } else {
        Ok(vec![words(value)?])
    }
}

fn one(value: &Value<'_>, shell: bool) -> Result<Vec<String>> {
    if !value.is_text() {
        return words(value);
    }
    let text = value.text(COMMAND)?;
    if shell {
        return Ok(["/bin/sh", "-c", &text].map(String::from).into());
    }
    let list = match shell_words::split(&text) {
        Ok(words) if !words.is_empty() => format!("{words:?}"),
        _ => COMMAND.to_string(),
    };
    Err(value.error(format!("a text is for a shell: add shell = true, or write {list}")))
}

/// A path as seen from a folder.
fn within(folder: &str, path: &str) -> String {
    if path.is_empty() || path == "." {
        folder.to_string()
    } else if path.starts_with('/') || path.starts_with("{scratch}") {
        path.to_string()
    } else {
        format!("{}/{path}", folder.trim_end_matches('/'))
    }
}

fn environment(value: &Value<'_>) -> Result<BTreeMap<String, String>> {
    let entries = value.table("a table such as { LC_ALL = \"C\" }")?.entries();
    entries
        .into_iter()
        .map(|entry| {
            if entry.name.is_empty() || entry.name.contains(['=', '\0']) {
                return Err(entry.error_at_name("no variable can have such a name"));
            }
            let text = entry.word("a text")?;
            Ok((entry.name, text))
        })
        .collect()
}

fn limits(value: &Value<'_>) -> Result<SubjectLimits> {
    let table =
        value.fields("a table such as { memory = \"512MiB\" }", "address_space memory cpus")?;
    let size = |key| Ok(table.read(key, size)?.unwrap_or_default());
    let cpus = table.read("cpus", |value| value.word("a number of CPUs such as 0.5"))?;
    Ok(SubjectLimits {
        address_space_bytes: size("address_space")?,
        memory_bytes: size("memory")?,
        cpus_quota: cpus.unwrap_or_default(),
    })
}

/// Reads a size as a number of bytes.
fn size(value: &Value<'_>) -> Result<String> {
    let text = value.word("a size such as \"512MiB\"")?;
    match model::measures::bytes(&text) {
        // What only a treatment completes is looked at when there are treatments.
        None if text.contains('{') => Ok(text),
        None => Err(value.error(format!("{text:?} is no size; write it as \"512MiB\""))),
        Some(bytes) => Ok(bytes.to_string()),
    }
}

fn exit_codes(value: &Value<'_>) -> Result<Vec<i32>> {
    let like = "a list of numbers from 0 to 255, such as [0, 1], or \"any\"";
    if value.is_text() {
        return value.choice(&[("any", ())]).map(|()| Subject::any_exit_code());
    }
    let code = |item: &Value<'_>| {
        let number = item.number("a number from 0 to 255")?.value;
        if number.fract() == 0.0 && (0.0..=255.0).contains(&number) {
            Ok(number as i32)
        } else {
            Err(item.error("expected a number from 0 to 255"))
        }
    };
    value.list(like)?.iter().map(code).collect()
}

/// A length of time in whole milliseconds; below a week.
pub(crate) fn millis(value: &Value<'_>, like: &str) -> Result<u32> {
    let text = value.text(like)?;
    let ms = units::time_ns(&text).map(|ns| (ns / 1e6).round());
    match ms {
        Some(ms) if ms <= model::TIME_LIMIT_MS_MAX as f64 => Ok(ms as u32),
        Some(_) => Err(value.error("it is more than a week")),
        None => Err(value.error(format!("{text:?} is no length of time; expected {like}"))),
    }
}
