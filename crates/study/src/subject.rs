//! The program, and all that is done around it.

use crate::Around;
use crate::place::Error;
use crate::table::{Table, Value};
use ask::units;
use model::{Subject, SubjectLimits};
use std::collections::BTreeMap;

/// The keys of the file that speak of the program.
pub(crate) const KEYS: [&str; 15] = [
    "command",
    "shell",
    "prepare",
    "cleanup",
    "folder",
    "env",
    "clear_env",
    "stdin",
    "affinity",
    "limits",
    "exit_codes",
    "look_every",
    "linger",
    "workers",
    "time_limit",
];

const COMMAND: &str = "a list of words such as [\"zstd\", \"-{level}\", \"data\"]";

/// How long processes that a program leaves behind may go on, if the file does not say.
const LINGER_MS: u32 = 1_000;

/// The subject, its placeholders not yet looked at.
pub(crate) fn read(top: &Table<'_>, around: &Around<'_>) -> Result<Subject, Error> {
    let shell = top.get("shell").map(|it| it.truth()).transpose()?.unwrap_or_default();
    let command = top
        .get("command")
        .ok_or_else(|| top.error(format!("it has no command; add command = {COMMAND}")))?;
    let truth = |key| Ok(top.get(key).map(|it| it.truth()).transpose()?.unwrap_or_default());
    let text = |key, like| match top.get(key) {
        Some(value) => value.text(like),
        None => Ok(String::new()),
    };
    let affinity = match top.get("affinity") {
        Some(value) => value.word("a list of CPUs such as \"0,2-3\", or \"one\"")?,
        None => String::new(),
    };
    let look_every_ms = match top.get("look_every") {
        Some(value) if value.is_text() && value.text("")? == "never" => Some(0),
        Some(value) => Some(millis(&value, "a time such as \"5ms\", or \"never\"")?),
        None => None,
    };
    Ok(Subject {
        command: match (shell, command.is_text()) {
            (true, _) if command.is_list() => {
                return Err(command.error("with shell = true it must be one text, not a list"));
            }
            (true, _) => vec![command.text("one text for the shell")?],
            (false, true) => {
                let what = format!(
                    "a text is for a shell: add shell = true, or write {}",
                    as_list(&command.text(COMMAND)?)
                );
                return Err(command.error(what));
            }
            (false, false) => words(&command)?,
        },
        shell,
        prepare: commands(top.get("prepare"), shell)?,
        cleanup: commands(top.get("cleanup"), shell)?,
        folder: within(around.folder, &text("folder", "a folder")?),
        environment: environment(top.get("env"))?,
        clear_environment: truth("clear_env")?,
        stdin: match text("stdin", "the name of a file")? {
            file if file.is_empty() => file,
            file => within(around.folder, &file),
        },
        cpus: affinity,
        limits: limits(top.get("limits"))?,
        exit_codes: exit_codes(top.get("exit_codes"))?,
        workers: top
            .get("workers")
            .map(|it| it.word("a number, or \"{n}\""))
            .transpose()?
            .unwrap_or_default(),
        look_every_ms,
        linger_ms: match top.get("linger") {
            Some(value) => millis(&value, "a time such as \"2s\"")?,
            None => LINGER_MS,
        },
        ..Subject::default()
    })
}

/// How a text would look as a list of words.
fn as_list(text: &str) -> String {
    match shell_words::split(text) {
        Ok(words) if !words.is_empty() => format!("{words:?}"),
        _ => COMMAND.to_string(),
    }
}

fn words(value: &Value<'_>) -> Result<Vec<String>, Error> {
    let words = value.words(COMMAND)?;
    if words.first().is_none_or(String::is_empty) {
        return Err(value.error(format!("it names no program; expected {COMMAND}")));
    }
    Ok(words)
}

/// One command, or a list of commands.
fn commands(value: Option<Value<'_>>, shell: bool) -> Result<Vec<Vec<String>>, Error> {
    let Some(value) = value else {
        return Ok(Vec::new());
    };
    if value.is_text() {
        return Ok(vec![one(&value, shell)?]);
    }
    let items = value.list("a command, or a list of commands")?;
    let many = items.iter().any(|item| item.is_list()) || shell;
    if items.is_empty() {
        Ok(Vec::new())
    } else if many {
        items.iter().map(|item| one(item, shell)).collect()
    } else {
        Ok(vec![words(&value)?])
    }
}

fn one(value: &Value<'_>, shell: bool) -> Result<Vec<String>, Error> {
    match (value.is_text(), shell) {
        (true, true) => Ok(["/bin/sh", "-c", &value.text(COMMAND)?].map(String::from).into()),
        (true, false) => {
            let list = as_list(&value.text(COMMAND)?);
            Err(value.error(format!("a text is for a shell: add shell = true, or write {list}")))
        }
        (false, _) => words(value),
    }
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

fn environment(value: Option<Value<'_>>) -> Result<BTreeMap<String, String>, Error> {
    let Some(value) = value else {
        return Ok(BTreeMap::new());
    };
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

fn limits(value: Option<Value<'_>>) -> Result<SubjectLimits, Error> {
    let Some(value) = value else {
        return Ok(SubjectLimits::default());
    };
    let table = value.table("a table such as { memory = \"512MiB\" }")?;
    table.known(&["address_space", "memory", "cpus"])?;
    let size = |key: &str| match table.get(key) {
        None => Ok(String::new()),
        Some(value) => {
            let text = value.word("a size such as \"512MiB\"")?;
            match model::measures::bytes(&text) {
                // What only a treatment completes is looked at when there are treatments.
                None if text.contains('{') => Ok(text),
                None => Err(value.error(format!("{text:?} is no size; write it as \"512MiB\""))),
                Some(bytes) => Ok(bytes.to_string()),
            }
        }
    };
    Ok(SubjectLimits {
        address_space_bytes: size("address_space")?,
        memory_bytes: size("memory")?,
        cpus_quota: match table.get("cpus") {
            None => String::new(),
            Some(value) => value.word("a number of CPUs such as 0.5")?,
        },
    })
}

fn exit_codes(value: Option<Value<'_>>) -> Result<Vec<i32>, Error> {
    let Some(value) = value else {
        return Ok(Vec::new());
    };
    let like = "a list of numbers from 0 to 255, such as [0, 1]";
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
pub(crate) fn millis(value: &Value<'_>, like: &str) -> Result<u32, Error> {
    let text = value.text(like)?;
    let ms = units::time_ns(&text).map(|ns| (ns / 1e6).round());
    match ms {
        Some(ms) if ms <= model::TIME_LIMIT_MS_MAX as f64 => Ok(ms as u32),
        Some(_) => Err(value.error("it is more than a week")),
        None => Err(value.error(format!("{text:?} is no length of time; expected {like}"))),
    }
}
