//! What a traced command did, for people.

use anstyle::Style;
use std::borrow::Cow;
use std::fmt::Write;
use subject::{Figures, Group, Killed, Made, Numbers, Tally};
use sys::tracer::End;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

/// The most numbers of tasks that are listed one by one.
const NUMBERS_MAX: usize = 4;

pub(super) fn text(tally: &Tally, width: usize) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{BOLD}{}{BOLD:#} {}", tally.command(), ending(tally));
    for Killed { program, signal_name, who, .. } in &tally.killed {
        let (program, were) = match who.count {
            1 => (program.clone(), "was"),
            count => (format!("{count} processes of {program}"), "were"),
        };
        let _ = writeln!(out, "  {program} ({}) {were} ended by {signal_name}", numbers(who));
    }
    let _ = writeln!(
        out,
        "  made: {}, {}; executed: {}; {}, of which {} failed",
        counted(tally.count_made("process"), "process", "processes"),
        counted(tally.count_made("thread"), "thread", "threads"),
        counted(tally.executions(), "more program", "more programs"),
        counted(tally.calls(), "system call", "system calls"),
        tally.failed(),
    );
    makings(&mut out, &tally.made, width);
    for group in &tally.groups {
        calls(&mut out, group, width);
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
    for making in made {
        let Made { kind, tasks, makers, by_program, flags, .. } = making;
        let what = match (*kind, tasks.count) {
            (one, 1) => one.to_string(),
            ("thread", count) => format!("{count} threads"),
            (_, count) => format!("{count} processes"),
        };
        let (tasks, by) = (numbers(tasks), numbers(makers));
        let call = Some(making.call.as_str()).filter(|call| !call.is_empty());
        let call = call.unwrap_or("a call that was not seen");
        let _ = writeln!(out, "  {what} {tasks} by {by_program} ({by}), {call}");
        let asked = flags.as_ref().map_or_else(
            || "its arguments could not be read".to_string(),
            |flags| {
                let flags = flags.iter().map(String::as_str);
                flags.chain(making.exit_signal.as_deref()).collect::<Vec<_>>().join(" | ")
            },
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

fn calls(out: &mut String, group: &Group, width: usize) {
    let whose = match group.of {
        "threads" => counted(group.members, "thread that was made", "threads that were made"),
        _ => counted(group.members, "process", "processes"),
    };
    let _ = writeln!(out, "\n{BOLD}{}{BOLD:#}, {whose}", group.program);
    let mut rows: Vec<&Figures> = group.calls.iter().collect();
    // The most frequent first; among equals by name, so that two runs look the same.
    rows.sort_by_key(|row| std::cmp::Reverse(row.calls));
    let _ = writeln!(out, "  {DIM}{:>9}  {:>7}  call{DIM:#}", "calls", "errors");
    for figures in rows {
        let failed = match figures.failed() {
            0 => String::new(),
            failed => failed.to_string(),
        };
        let line =
            format!("  {:>9}  {failed:>7}  {}  {}", figures.calls, figures.name, errors(figures));
        for (index, part) in wrapped_columns(line.trim_end(), width).into_iter().enumerate() {
            let indent = if index == 0 { "" } else { "                      " };
            let _ = writeln!(out, "{indent}{part}");
        }
    }
}

fn errors(figures: &Figures) -> String {
    let alone = figures.errors.len() == 1;
    let one = |(name, count): (&Cow<'static, str>, &u64)| {
        if alone { name.to_string() } else { format!("{name} {count}") }
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
    use sys::Pid;

    fn made(kind: &'static str, tasks: &[Pid], flags: &str) -> Made {
        let of = |tasks: &[Pid]| Numbers {
            count: tasks.len() as u64,
            first: tasks.to_vec(),
            last: tasks.last().copied().unwrap_or(0),
        };
        Made {
            kind,
            tasks: of(tasks),
            makers: of(&[10]),
            by_program: "sh".into(),
            call: "clone".into(),
            flags: Some(flags.split_whitespace().map(String::from).collect()),
            exit_signal: (kind == "process").then_some("SIGCHLD".into()),
        }
    }

    #[test]
    fn those_made_alike_are_one_entry() {
        let list = [
            made(
                "thread",
                &[11, 12, 13, 14, 15, 16, 17, 18, 19],
                "CLONE_VM CLONE_FS CLONE_FILES CLONE_SIGHAND CLONE_THREAD",
            ),
            made("process", &[20], ""),
            made("process", &[21, 22], "CLONE_VM CLONE_VFORK"),
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
        figures.errors.insert("ENOENT".into(), 5);
        assert_eq!(errors(&figures), "ENOENT");
        figures.errors.insert("EACCES".into(), 1);
        assert_eq!(errors(&figures), "EACCES 1, ENOENT 5");
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
