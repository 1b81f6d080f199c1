//! What a traced command did, for people.

use super::tally::{Figures, Group, Kind, Made, Tally};
use anstyle::Style;
use std::fmt::Write;
use sys::Pid;
use sys::tracer::End;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

/// The most numbers of tasks that are listed one by one.
const NUMBERS_MAX: usize = 4;

pub(super) fn text(tally: &Tally, width: usize) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{BOLD}{}{BOLD:#} {}", tally.command(), ending(tally));
    for (pid, program, signal) in &tally.killed {
        let signal = sys::calls::signal_name(*signal);
        let _ = writeln!(out, "  {program} ({pid}) was ended by {signal}");
    }
    let _ = writeln!(
        out,
        "  made: {}, {}; executed: {} more; {}, of which {} failed",
        counted(tally.processes_made() as u64, "process", "processes"),
        counted(tally.threads_made() as u64, "thread", "threads"),
        counted(tally.executed.len() as u64, "program", "programs"),
        counted(tally.calls(), "system call", "system calls"),
        tally.failed(),
    );
    makings(&mut out, &tally.made, width);
    for (kind, group) in &tally.groups {
        calls(&mut out, kind, group, width);
    }
    for line in wrapped(
        "Every system call stopped the command twice, which slows it much: the counts are right, \
         and no time is given.",
        width,
    ) {
        let _ = write!(out, "\n{DIM}{line}{DIM:#}");
    }
    out
}

fn ending(tally: &Tally) -> String {
    match tally.root_end {
        Some(End::Exited(code)) => format!("ended with exit code {code}"),
        Some(End::Killed(signal)) => {
            format!("was ended by {}", sys::calls::signal_name(signal))
        }
        None => "has not ended".into(),
    }
}

/// How each thread and process was made; those that one program made alike are one entry.
fn makings(out: &mut String, made: &[Made], width: usize) {
    if made.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{BOLD}How they were made{BOLD:#}");
    let mut alike: Vec<(&Made, Vec<Pid>, Vec<Pid>)> = Vec::new();
    for one in made {
        let found = alike.iter_mut().find(|(first, ..)| is_alike(first, one));
        match found {
            Some((_, tasks, makers)) => {
                tasks.push(one.task);
                if !makers.contains(&one.by) {
                    makers.push(one.by);
                }
            }
            None => alike.push((one, vec![one.task], vec![one.by])),
        }
    }
    for (one, tasks, makers) in alike {
        let what = match (one.is_thread, tasks.len()) {
            (true, 1) => "thread".to_string(),
            (false, 1) => "process".to_string(),
            (true, count) => format!("{count} threads"),
            (false, count) => format!("{count} processes"),
        };
        let (numbers, by, program) = (numbers(&tasks), numbers(&makers), &one.by_program);
        let call = if one.call.is_empty() { "a call that was not seen" } else { &one.call };
        let _ = writeln!(out, "  {what} {numbers} by {program} ({by}), {call}");
        let asked = one.cloned.map_or_else(
            || "its arguments could not be read".to_string(),
            |cloned| cloned.to_string().replace('|', " | "),
        );
        for line in wrapped(&asked, width.saturating_sub(4)) {
            let _ = writeln!(out, "    {line}");
        }
    }
}

fn is_alike(a: &Made, b: &Made) -> bool {
    let flags = |made: &Made| made.cloned.map(|cloned| (cloned.flags, cloned.exit_signal));
    a.is_thread == b.is_thread
        && a.by_program == b.by_program
        && a.call == b.call
        && flags(a) == flags(b)
}

/// `12, 13, 14`, or `12 … 99` for many.
fn numbers(tasks: &[Pid]) -> String {
    match tasks {
        [first, .., last] if tasks.len() > NUMBERS_MAX => format!("{first} … {last}"),
        few => few.iter().map(Pid::to_string).collect::<Vec<_>>().join(", "),
    }
}

fn calls(out: &mut String, kind: &Kind, group: &Group, width: usize) {
    let members = group.members.len() as u64;
    let whose = if kind.threads {
        counted(members, "thread that was made", "threads that were made")
    } else {
        counted(members, "process", "processes")
    };
    let _ = writeln!(out, "\n{BOLD}{}{BOLD:#}, {whose}", kind.program);
    let mut rows: Vec<(&str, &Figures)> =
        group.calls.iter().map(|(name, figures)| (name.as_ref(), figures)).collect();
    // The most frequent first; among equals by name, so that two runs look the same.
    rows.sort_by(|a, b| b.1.calls.cmp(&a.1.calls).then(a.0.cmp(b.0)));
    let _ = writeln!(out, "  {DIM}{:>9}  {:>7}  call{DIM:#}", "calls", "errors");
    for (name, figures) in rows {
        let failed = match figures.failed() {
            0 => String::new(),
            failed => failed.to_string(),
        };
        let line = format!("  {:>9}  {failed:>7}  {name}  {}", figures.calls, errors(figures));
        for (index, part) in wrapped_columns(line.trim_end(), width).into_iter().enumerate() {
            let indent = if index == 0 { "" } else { "                      " };
            let _ = writeln!(out, "{indent}{part}");
        }
    }
}

fn errors(figures: &Figures) -> String {
    let one = |(errno, count): (&i32, &u64)| {
        let name = sys::calls::error_name(*errno);
        if figures.errors.len() == 1 { name.into_owned() } else { format!("{name} {count}") }
    };
    figures.errors.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn counted(count: u64, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {many}") }
}

/// Lines of at most `width` columns, broken at spaces.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.len() - 1;
        let line = &mut lines[last];
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(word.to_string());
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

/// A row of the table: what does not fit goes to lines of its own.
fn wrapped_columns(line: &str, width: usize) -> Vec<String> {
    if line.chars().count() <= width {
        return vec![line.to_string()];
    }
    match line.rsplit_once("  ") {
        Some((before, errors)) if !before.trim().is_empty() => {
            let mut lines = vec![before.trim_end().to_string()];
            lines.extend(wrapped(errors, width.saturating_sub(22)));
            lines
        }
        _ => vec![line.to_string()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sys::calls::Cloned;

    fn made(task: Pid, cloned: Cloned) -> Made {
        let is_thread = cloned.is_thread();
        let (by_program, call) = ("sh".to_string(), "clone".to_string());
        Made { task, is_thread, by: 10, by_program, call, cloned: Some(cloned) }
    }

    #[test]
    fn those_made_alike_are_one_entry() {
        let thread = Cloned::by_clone(0x1_0f00);
        let list: Vec<Made> = (11..20)
            .map(|task| made(task, thread))
            .chain([made(20, Cloned::by_fork()), made(21, Cloned::by_vfork())])
            .collect();
        let mut out = String::new();
        makings(&mut out, &list, 60);
        let plain = anstream::adapter::strip_str(&out).to_string();
        assert_eq!(
            plain,
            "\nHow they were made\n  9 threads 11 … 19 by sh (10), clone\n    \
             CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |\n    CLONE_THREAD\n  \
             process 20 by sh (10), clone\n    SIGCHLD\n  \
             process 21 by sh (10), clone\n    CLONE_VM | CLONE_VFORK | SIGCHLD\n"
        );
    }

    #[test]
    fn errors_are_named_and_counted_where_there_are_several() {
        let mut figures = Figures { calls: 9, ..Figures::default() };
        assert_eq!(errors(&figures), "");
        figures.errors.insert(2, 5);
        assert_eq!(errors(&figures), "ENOENT");
        figures.errors.insert(13, 1);
        assert_eq!(errors(&figures), "ENOENT 5, EACCES 1");
        assert_eq!(figures.failed(), 6);
    }

    #[test]
    fn long_rows_are_broken_and_words_are_kept() {
        assert_eq!(wrapped("aa bb cc", 5), ["aa bb", "cc"]);
        assert_eq!(wrapped("longer-than-that", 5), ["longer-than-that"]);
        let row = "          1        2  openat  ENOENT 1, EACCES 1";
        assert_eq!(wrapped_columns(row, 80), [row]);
        let broken = wrapped_columns(row, 40);
        assert_eq!(broken[0], "          1        2  openat");
        assert_eq!(broken[1], "ENOENT 1, EACCES 1");
    }
}
