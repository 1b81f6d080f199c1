//! What a traced command did, for people.

use anstyle::Style;
use std::fmt::Write;
use subject::{Figures, Group, Kind, Made, Numbers, Tally};
use sys::tracer::End;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

/// The most numbers of tasks that are listed one by one.
const NUMBERS_MAX: usize = 4;

pub(super) fn text(tally: &Tally, width: usize) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{BOLD}{}{BOLD:#} {}", tally.command(), ending(tally));
    for ((program, signal), who) in &tally.killed {
        let signal = sys::calls::signal_name(*signal);
        let (program, were) = match who.count {
            1 => (program.clone(), "was"),
            count => (format!("{count} processes of {program}"), "were"),
        };
        let _ = writeln!(out, "  {program} ({}) {were} ended by {signal}", numbers(who));
    }
    let _ = writeln!(
        out,
        "  made: {}, {}; executed: {}; {}, of which {} failed",
        counted(tally.processes_made(), "process", "processes"),
        counted(tally.threads_made(), "thread", "threads"),
        counted(tally.executions(), "more program", "more programs"),
        counted(tally.calls(), "system call", "system calls"),
        tally.failed(),
    );
    makings(&mut out, &tally.made, width);
    for (kind, group) in &tally.groups {
        calls(&mut out, kind, group, width);
    }
    for line in report::wrapped(
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

/// Writes how each thread and process was made; those that one program made alike are one entry.
fn makings(out: &mut String, made: &[Made], width: usize) {
    if made.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{BOLD}How they were made{BOLD:#}");
    for Made { how, tasks, makers } in made {
        let what = match (how.is_thread, tasks.count) {
            (true, 1) => "thread".to_string(),
            (false, 1) => "process".to_string(),
            (true, count) => format!("{count} threads"),
            (false, count) => format!("{count} processes"),
        };
        let (tasks, by, program) = (numbers(tasks), numbers(makers), &how.by_program);
        let call = if how.call.is_empty() { "a call that was not seen" } else { &how.call };
        let _ = writeln!(out, "  {what} {tasks} by {program} ({by}), {call}");
        let asked = how.cloned.map_or_else(
            || "its arguments could not be read".to_string(),
            |cloned| cloned.to_string().replace('|', " | "),
        );
        for line in report::wrapped(&asked, width.saturating_sub(4)) {
            let _ = writeln!(out, "    {line}");
        }
    }
}

/// Writes `12, 13, 14`, or `12 … 99` for many.
fn numbers(of: &Numbers) -> String {
    match of.first.as_slice() {
        [first, ..] if of.first.len() > NUMBERS_MAX => format!("{first} … {}", of.last),
        few => few.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
    }
}

fn calls(out: &mut String, kind: &Kind, group: &Group, width: usize) {
    let whose = if kind.threads {
        counted(group.members, "thread that was made", "threads that were made")
    } else {
        counted(group.members, "process", "processes")
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

/// Returns a row of the table: what does not fit goes to lines of its own.
fn wrapped_columns(line: &str, width: usize) -> Vec<String> {
    if line.chars().count() <= width {
        return vec![line.to_string()];
    }
    match line.rsplit_once("  ") {
        Some((before, errors)) if !before.trim().is_empty() => {
            let mut lines = vec![before.trim_end().to_string()];
            lines.extend(report::wrapped(errors, width.saturating_sub(22)));
            lines
        }
        _ => vec![line.to_string()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use subject::How;
    use sys::Pid;
    use sys::calls::Cloned;

    fn made(tasks: &[Pid], cloned: Cloned) -> Made {
        let of = |tasks: &[Pid]| Numbers {
            count: tasks.len() as u64,
            first: tasks.to_vec(),
            last: tasks.last().copied().unwrap_or(0),
        };
        let (by_program, call) = ("sh".to_string(), "clone".to_string());
        let how = How { is_thread: cloned.is_thread(), by_program, call, cloned: Some(cloned) };
        Made { how, tasks: of(tasks), makers: of(&[10]) }
    }

    #[test]
    fn those_made_alike_are_one_entry() {
        let list = [
            made(&[11, 12, 13, 14, 15, 16, 17, 18, 19], Cloned::by_clone(0x1_0f00)),
            made(&[20], Cloned::by_fork()),
            made(&[21, 22], Cloned::by_vfork()),
        ];
        let mut out = String::new();
        makings(&mut out, &list, 60);
        let plain = anstream::adapter::strip_str(&out).to_string();
        assert_eq!(
            plain,
            "\nHow they were made\n  9 threads 11 … 19 by sh (10), clone\n    \
             CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |\n    CLONE_THREAD\n  \
             process 20 by sh (10), clone\n    SIGCHLD\n  \
             2 processes 21, 22 by sh (10), clone\n    CLONE_VM | CLONE_VFORK | SIGCHLD\n"
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
    fn long_rows_are_broken() {
        let row = "          1        2  openat  ENOENT 1, EACCES 1";
        assert_eq!(wrapped_columns(row, 80), [row]);
        let broken = wrapped_columns(row, 40);
        assert_eq!(broken[0], "          1        2  openat");
        assert_eq!(broken[1], "ENOENT 1, EACCES 1");
    }
}
