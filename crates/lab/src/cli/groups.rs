//! The list of commands in `scruple --help`, in groups.

use super::Cli;
use clap::{Command, CommandFactory};
use std::fmt::Write;

/// Commands by what people come for. `completions` and `man` stand in the manual alone.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Measure", &["run", "list", "explain"]),
    ("Your programs", &["study", "scale", "why", "waits", "syscalls", "core"]),
    ("Servers", &["load", "plan"]),
    ("Read what was measured", &["report", "ask", "compare", "figure", "export", "query"]),
    ("This machine", &["doctor", "selftest"]),
    ("More", &["fleet", "help"]),
];

/// The room for a command's name.
const NAME_COLUMNS: usize = 10;

/// Returns the command line with a help that lists its commands in groups.
pub(crate) fn grouped() -> Command {
    let command = Cli::command();
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}{}\n{{options}}\n{{after-help}}",
        list(&command),
        heading(&command, "Options"),
    );
    command.help_template(template)
}

/// Writes all groups, each with its heading and a line for each command.
fn list(command: &Command) -> String {
    let name_style = command.get_styles().get_literal();
    let mut list = String::new();
    for (group, names) in GROUPS {
        let _ = writeln!(list, "{}", heading(command, group));
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about =
                about.map_or_else(|| "Print the help of a command".into(), ToString::to_string);
            let _ = writeln!(list, "  {name_style}{name:NAME_COLUMNS$}{name_style:#}{about}");
        }
        list.push('\n');
    }
    list
}

/// Writes a heading as clap does.
fn heading(command: &Command, text: &str) -> String {
    let style = command.get_styles().get_header();
    format!("{style}{text}:{style:#}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_command_is_in_one_group() {
        let listed: Vec<&str> =
            GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let once: BTreeSet<&str> = listed.iter().copied().collect();
        assert_eq!(listed.len(), once.len());
        let command = Cli::command();
        let mut names: BTreeSet<&str> = command.get_subcommands().map(Command::get_name).collect();
        names.extend(["help"]);
        assert_eq!(names.difference(&once).copied().collect::<Vec<_>>(), ["completions", "man"]);
        assert!(once.is_subset(&names) && once.iter().all(|name| name.len() < NAME_COLUMNS));
    }

    #[test]
    fn the_help_shows_each_group_and_the_options() {
        let help = grouped().render_help().to_string();
        for part in
            ["\nServers:\n  load      ", "\nOptions:\n      --color", "\nExit codes: 0 done"]
        {
            assert!(help.contains(part), "{part} in {help}");
        }
    }
}
