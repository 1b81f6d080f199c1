//! The session that a command is about: by its path, its name, the beginning of its name, or the latest.

use crate::{destination, plan, plan::Purpose, ui};
use anyhow::{Result, bail};
use model::{Design, Manifest};
use std::path::{Path, PathBuf};

/// Where sessions are put and looked for if nothing else is said.
pub(crate) const SESSIONS: &str = "scruple-sessions";

/// How a session is made.
const MEASURE: &str = "`scruple run` measures one";

/// The most sessions that an error names.
const NAMED_MAX: usize = 8;

/// Returns the session that a word names, or the latest, and says which.
///
/// # Errors
/// As [`named`] and [`latest`].
pub(crate) fn session(word: Option<&Path>) -> Result<PathBuf> {
    if let Some(word) = word { named(word) } else { Ok(say("session", latest(|_, _| true)?)) }
}

/// Returns the session that the first of two kinds of words names: if it is not a session but `holds` says
/// that the latest session has something of this name, the latest, and the word.
///
/// # Errors
/// As [`named`].
pub(crate) fn session_or_part(
    word: Option<&Path>,
    holds: impl Fn(&Manifest) -> Vec<String>,
) -> Result<(PathBuf, Option<&str>)> {
    let name = word.filter(|word| !word.exists()).and_then(Path::to_str);
    let (Some(name), Ok(latest)) = (name, latest(|_, _| true)) else {
        return Ok((session(word)?, None));
    };
    let parts = holds(&latest.1);
    if parts.iter().any(|part| part == name) {
        return Ok((say("session", latest), Some(name)));
    }
    Ok((find(Path::new(name), &parts)?, None))
}

/// Returns the latest session, by the time at which it was begun, of those that are wanted. One that has no
/// trial, or that cannot be read, is none.
///
/// # Errors
/// If there is none; the error says how to get one.
pub(crate) fn latest(wanted: impl Fn(&Path, &Manifest) -> bool) -> Result<(PathBuf, Manifest)> {
    let mut found = sessions(Path::new(SESSIONS));
    found.sort_by_cached_key(|dir| std::cmp::Reverse(begun(dir)));
    let read = found.into_iter().filter_map(|dir| Some((store::read_manifest(&dir).ok()?, dir)));
    match read.map(|(manifest, dir)| (dir, manifest)).find(|(dir, it)| wanted(dir, it)) {
        Some(found) => Ok(found),
        None => bail!("no session that fits is in {SESSIONS}/ of this folder: {MEASURE}"),
    }
}

/// Says which session was taken, as what, and how old it is; returns its folder.
pub(crate) fn say(role: &str, (dir, manifest): (PathBuf, Manifest)) -> PathBuf {
    let age_s = sys::clock::unix_ms().saturating_sub(manifest.started_unix_ms) / 1000;
    let (n, noun) = match age_s {
        0..120 => (age_s, "second"),
        120..7200 => (age_s / 60, "minute"),
        7200..172_800 => (age_s / 3600, "hour"),
        _ => (age_s / 86_400, "day"),
    };
    let command = Purpose::of(&manifest.options).command();
    let age = wording::counted(n, noun);
    ui::note(&format!("{role} {} of scruple {command}, {age} old", dir.display()));
    dir
}

/// Reports whether two sessions ask the same: by the same command, of the same programs, and with an
/// experiment in common besides the control.
pub(crate) fn alike(one: &Manifest, other: &Manifest) -> bool {
    let program = |it: &Design| it.subject.as_ref().map(|subject| subject.command.clone());
    let same = |it: &Design, to: &Design| it.id == to.id && program(it) == program(to);
    let of = |it: &Manifest| it.designs.iter().filter(|it| it.id != plan::CONTROL).count();
    let own = |it: &&Design| it.id != plan::CONTROL || of(one) + of(other) == 0;
    Purpose::of(&one.options) == Purpose::of(&other.options)
        && one.designs.iter().filter(own).any(|it| other.designs.iter().any(|to| same(it, to)))
}

/// Returns the path that a word is, if something is there, or else the only session whose name begins so: in
/// the folder that the path names, or else here and in the usual folder.
///
/// # Errors
/// If no session or several have such a name; the error names them and says where they were looked for.
pub(crate) fn named(word: &Path) -> Result<PathBuf> {
    find(word, &[])
}

/// Does what [`named`] does. `others` are what the word could be meant for besides sessions.
fn find(word: &Path, others: &[String]) -> Result<PathBuf> {
    let (Some(begin), false) = (word.file_name().and_then(|it| it.to_str()), word.exists()) else {
        return Ok(word.to_path_buf());
    };
    let places = match word.parent() {
        Some(parent) if parent != Path::new("") => vec![parent],
        _ => vec![Path::new(""), Path::new(SESSIONS)],
    };
    let all: Vec<PathBuf> = places.iter().flat_map(|place| sessions(place)).collect();
    if let Some(whole) = all.iter().find(|dir| name(dir) == begin) {
        return Ok(whole.clone());
    }
    let mut found: Vec<&PathBuf> =
        all.iter().filter(|dir| !begin.is_empty() && name(dir).starts_with(begin)).collect();
    let place = |place: &&Path| match place.to_str() {
        Some("") => "this folder".to_string(),
        _ => place.display().to_string(),
    };
    let looked: Vec<String> = places.iter().map(place).collect();
    match &mut found[..] {
        [] => {}
        [one] => {
            let manifest = store::read_manifest(one)?;
            return Ok(say("session", ((*one).clone(), manifest)));
        }
        several => {
            let many = several.len();
            several.sort_by_cached_key(|dir| std::cmp::Reverse(begun(dir)));
            let names: Vec<&str> = several.iter().take(NAMED_MAX).map(|dir| name(dir)).collect();
            let more = if many > NAMED_MAX { ", …" } else { "" };
            bail!("{many} sessions have names that begin with {begin}: {}{more}", names.join(", "));
        }
    }
    let known = all.iter().map(|dir| name(dir)).chain(others.iter().map(String::as_str));
    let hint = match ask::meant(begin, known) {
        Some(meant) => format!("; did you mean {meant}?"),
        None if all.is_empty() => format!(", where there are no sessions: {MEASURE}"),
        None => String::new(),
    };
    bail!("no session is named {}; looked in {}{hint}", word.display(), looked.join(" and "))
}

/// Returns the sessions in a folder.
fn sessions(folder: &Path) -> Vec<PathBuf> {
    let read = if folder == Path::new("") { Path::new(".") } else { folder };
    let entries = std::fs::read_dir(read).into_iter().flatten().flatten();
    let dirs = entries.map(|entry| folder.join(entry.file_name()));
    dirs.filter(|dir| destination::is_session(dir) && trial_bytes(dir) > 0).collect()
}

/// Returns the name of a session that was begun then, by which sessions can be sorted: that of the folder,
/// unless somebody chose it.
fn begun(dir: &Path) -> String {
    let own = name(dir);
    if own.starts_with("20") && own.as_bytes().get(10) == Some(&b'T') {
        return own.to_string();
    }
    store::read_manifest(dir).map(|manifest| manifest.session).unwrap_or_default()
}

fn name(dir: &Path) -> &str {
    dir.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

/// Returns the bytes of the trials of the session in a folder.
pub(crate) fn trial_bytes(dir: &Path) -> u64 {
    std::fs::metadata(dir.join(store::TRIALS_FILE)).map_or(0, |file| file.len())
}
