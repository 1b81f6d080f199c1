//! Tests that compare the documents with the command line.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use super::Cli;
use clap::{Arg, ArgAction, Command, CommandFactory};
use std::fmt::Write;
use std::path::{Path, PathBuf};

const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");

/// docs/commands.md is generated from the declaration.
#[test]
fn docs_commands_are_those_of_the_declaration() {
    let path = Path::new(DOCS).join("commands.md");
    let generated = reference();
    if std::env::var_os("SCRUPLE_UPDATE").is_some() {
        std::fs::write(&path, &generated).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == generated,
        "docs/commands.md is stale: SCRUPLE_UPDATE=1 cargo test -p lab docs"
    );
    for command in Cli::command().get_subcommands() {
        assert!(generated.contains(&format!("\n## {}\n", command.get_name())));
    }
}

/// The first line of a command's help fits a list of commands.
#[test]
fn a_command_is_summarised_in_60_characters() {
    fn check(command: &Command) {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        assert!((1..=60).contains(&about.chars().count()), "{}: {about}", command.get_name());
        subcommands(command).for_each(check);
    }
    subcommands(&Cli::command()).for_each(check);
}

/// clap replaces `{n}` in a help text by a line break; a reader must see it where the text has it.
#[test]
fn helps_show_placeholders() {
    let count = |text: &str| text.matches("{n}").count();
    fn check(command: &Command, count: fn(&str) -> usize) -> usize {
        let own = command.get_arguments().filter(|arg| !arg.is_hide_set());
        let texts = own.filter_map(|arg| arg.get_long_help().or(arg.get_help()));
        let texts = texts.chain(command.get_long_about().or(command.get_about()));
        let texts = texts.chain(command.get_after_help());
        let written: usize = texts.map(|text| count(&text.to_string())).sum();
        let shown = count(&command.clone().render_long_help().to_string());
        assert_eq!(shown, written, "{}", command.get_name());
        written + subcommands(command).map(|below| check(below, count)).sum::<usize>()
    }
    assert!(check(&Cli::command(), count) > 0, "no help has a placeholder");
}

/// Every `scruple …` in a block of a document parses, and its experiments are in the catalog.
#[test]
fn docs_show_commands_that_parse() {
    let mut seen = 0;
    let root = Path::new(DOCS).join("..");
    let pages = pages(Path::new(DOCS)).into_iter();
    for page in pages.chain(["README.md", "CONTRIBUTING.md"].map(|name| root.join(name))) {
        let text = std::fs::read_to_string(&page).unwrap();
        for words in typed(&text) {
            let shown = words.join(" ");
            if let Err(why) = crate::show::with_experiments().try_get_matches_from(&words) {
                assert!(!why.use_stderr(), "{}: {shown}\n{why}", page.display());
            }
            seen += 1;
        }
    }
    assert!(seen > 20, "only {seen} commands were found");
}

/// In running text commands are shortened and have placeholders, but their names and options exist.
#[test]
fn docs_name_commands_and_options_that_exist() {
    let mut seen = 0;
    let root = Path::new(DOCS).join("..");
    let pages = pages(Path::new(DOCS)).into_iter();
    for page in pages.chain(["README.md", "CONTRIBUTING.md"].map(|name| root.join(name))) {
        for said in mentioned(&std::fs::read_to_string(&page).unwrap()) {
            let wrong = unknown(&said);
            assert!(wrong.is_none(), "{}: `{said}`: {}", page.display(), wrong.unwrap());
            seen += 1;
        }
    }
    assert!(seen > 50, "only {seen} commands were found");
    let found =
        mentioned("a `scruple run\nclock` and `scruple-x`\n```sh\nscruple no\n```\n`scruple list`");
    assert_eq!(found, ["scruple run clock", "scruple list"]);
    assert_eq!(unknown("scruple report DIR"), None);
    assert_eq!(unknown("scruple run …"), None);
    assert!(unknown("scruple rum clock").is_some());
    assert!(unknown("scruple run --sede 7").is_some());
}

/// Returns the code in running text that begins with `scruple`.
fn mentioned(page: &str) -> Vec<String> {
    let mut fenced = false;
    let outside = page.lines().filter(|line| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        // A heading may name what there is not.
        !fenced && !fence && !line.starts_with('#')
    });
    let text = outside.collect::<Vec<_>>().join(" ");
    let code = text.split('`').skip(1).step_by(2);
    code.filter(|code| code.starts_with("scruple ")).map(String::from).collect()
}

/// Returns the error for an unknown name or option; other words may be missing or placeholders.
fn unknown(said: &str) -> Option<String> {
    use clap::error::ErrorKind::{InvalidSubcommand, UnknownArgument};
    let placeholder = |word: &String| {
        word.contains(['…', '[', ']', '|']) || word.chars().all(|one| one.is_ascii_uppercase())
    };
    let words = words(said).into_iter().filter(|word| !placeholder(word));
    let why = Cli::command().try_get_matches_from(words).err()?;
    matches!(why.kind(), InvalidSubcommand | UnknownArgument).then(|| why.to_string())
}

#[test]
fn what_is_typed_is_found_and_taken_apart() {
    let text = "```sh\n$ scruple run --seed 7 \\\n  clock   # why\nFOO=1 cargo run --release -- list\n\
        scruple report 'a b' > out.txt && scruple compare a b --fail-if \"create > +5%\"\n\
        jq . x | scruple man\n\
        cargo xtask tidy\n```\n```text\nscruple nothing\n```\nscruple no\n";
    let expected = [
        vec!["scruple", "run", "--seed", "7", "clock"],
        vec!["scruple", "list"],
        vec!["scruple", "report", "a b"],
        vec!["scruple", "compare", "a", "b", "--fail-if", "create > +5%"],
        vec!["scruple", "man"],
    ];
    assert_eq!(typed(text), expected);
    let parse = |words: &[&str]| crate::show::with_experiments().try_get_matches_from(words);
    assert!(parse(&["scruple", "run", "clock"]).is_ok());
    assert!(parse(&["scruple", "run", "nothing"]).is_err());
    assert!(parse(&["scruple", "run", "--sede", "7"]).is_err());
}

/// Returns all documents below a folder.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(pages(&path));
        } else if path.extension().is_some_and(|ending| ending == "md") {
            found.push(path);
        }
    }
    found
}

/// Returns the calls of scruple in the blocks of a page that are marked as `sh`.
fn typed(page: &str) -> Vec<Vec<String>> {
    let mut calls = Vec::new();
    let mut line = String::new();
    let mut inside = None;
    for text in page.lines() {
        if let Some(kind) = text.trim().strip_prefix("```") {
            inside = inside.is_none().then(|| kind.trim().to_string());
        } else if inside.as_deref() == Some("sh") {
            line.push_str(text.trim_end_matches('\\'));
            if !text.ends_with('\\') {
                calls.extend(commands(&std::mem::take(&mut line)));
            }
        }
    }
    calls
}

/// Returns the calls of scruple in one line, each as its words.
fn commands(line: &str) -> Vec<Vec<String>> {
    let mut all = vec![Vec::new()];
    for word in words(line) {
        match word.as_str() {
            "&&" | "||" | "|" | ";" | "&" => all.push(Vec::new()),
            _ => all.last_mut().unwrap().push(word),
        }
    }
    all.into_iter().filter_map(call).collect()
}

/// Returns the arguments of a command if it calls scruple.
fn call(words: Vec<String>) -> Option<Vec<String>> {
    let variable = |word: &String| word.contains('=') && !word.starts_with('-');
    let prompt = |word: &String| word == "$" || word == "sudo" || variable(word);
    let mut words: Vec<String> = words.into_iter().skip_while(prompt).collect();
    if let Some(at) = words.iter().position(|word| matches!(word.as_str(), ">" | "2>" | ">>")) {
        words.truncate(at);
    }
    let program = words.first()?.rsplit('/').next()?.to_string();
    if program == "cargo" && words.get(1).is_some_and(|word| word == "run") {
        let at = words.iter().position(|word| word == "--")?;
        words.drain(..at);
        words[0] = "scruple".into();
        return Some(words);
    }
    words[0].clone_from(&program);
    (program == "scruple").then_some(words)
}

/// Splits a line into words as a shell does, without its comment.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for character in line.chars() {
        match (quote, character) {
            (Some(open), _) if character == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None, ' ') => words.extend(word.take()),
            (None, '#') if word.is_none() => break,
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    words
}

/// Writes the whole command line as a page.
fn reference() -> String {
    let mut cli = Cli::command();
    cli.build();
    let mut page = String::from(
        "# Commands\n\nGenerated from the declaration of the command line: change \
         crates/lab/src/cli.rs, not this file.\n`scruple help COMMAND` and `scruple man` print the \
         same.\n",
    );
    let named = |command: &Command| format!("[{0}](#{0})", command.get_name());
    let all: Vec<String> = subcommands(&cli).map(named).collect();
    write!(page, "\n{}\n", all.join(" · ")).unwrap();
    page.push_str("\n## For every command\n");
    arguments(&mut page, cli.get_arguments().filter(|arg| is_for_all(arg)));
    if let Some(text) = cli.get_after_help() {
        write!(page, "\n{}\n", escaped(&text.to_string())).unwrap();
    }
    page.push_str(
        "\n`NO_COLOR` in the environment, `TERM=dumb` and a pipe switch colours off. Results go to \
         standard\noutput, progress and warnings to standard error. `COLUMNS` sets the width of results; without \
         it they are as\nwide as the terminal, or 100 columns in a pipe.\n",
    );
    for command in subcommands(&cli) {
        section(&mut page, command, "");
    }
    page
}

fn subcommands(cli: &Command) -> impl Iterator<Item = &Command> {
    let helps = |command: &&Command| command.get_name() == "help" || command.is_hide_set();
    cli.get_subcommands().filter(move |command| !helps(command))
}

/// Reports whether an option is the same for all commands, so that one table has it.
fn is_for_all(arg: &Arg) -> bool {
    arg.is_global_set() || matches!(arg.get_action(), ArgAction::Help | ArgAction::Version)
}

/// Writes a command and its subcommands.
fn section(page: &mut String, command: &Command, above: &str) {
    let name = format!("{above}{}", command.get_name());
    write!(page, "\n## {name}\n").unwrap();
    let about = command.get_long_about().or(command.get_about());
    write!(page, "\n{}\n", escaped(&about.map(ToString::to_string).unwrap_or_default())).unwrap();
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").trim();
    write!(page, "\n```text\n{usage}\n```\n").unwrap();
    let own = command.get_arguments().filter(|arg| !is_for_all(arg) && !arg.is_hide_set());
    arguments(page, own);
    if let Some(text) = command.get_after_help() {
        write!(page, "\n{}\n", escaped(&text.to_string())).unwrap();
    }
    for below in subcommands(command) {
        section(page, below, &format!("{name} "));
    }
}

fn arguments<'a>(page: &mut String, all: impl Iterator<Item = &'a Arg>) {
    let mut all: Vec<&Arg> = all.collect();
    if all.is_empty() {
        return;
    }
    all.sort_by_key(|arg| !arg.is_positional());
    page.push_str("\n| argument | meaning |\n|---|---|\n");
    for arg in all {
        writeln!(page, "| {} | {} |", name(arg), cell(&meaning(arg))).unwrap();
    }
}

/// Returns the notation of an argument: `-o`, `--output DIR`.
fn name(arg: &Arg) -> String {
    let value = || {
        let names = arg.get_value_names().unwrap_or_default();
        names.iter().map(|name| name.to_string()).collect::<Vec<_>>().join(" ")
    };
    if arg.is_positional() {
        let many = matches!(arg.get_action(), ArgAction::Append);
        return format!("`{}{}`", value(), if many { "…" } else { "" });
    }
    let value =
        if arg.get_action().takes_values() { format!(" {}", value()) } else { String::new() };
    let short = arg.get_short().map(|short| format!("`-{short}`"));
    let long = arg.get_long().map(|long| format!("`--{long}{value}`"));
    [short, long].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Returns the meaning of an argument, with its possible values and its default.
fn meaning(arg: &Arg) -> String {
    let help = arg.get_long_help().or(arg.get_help());
    let mut text = escaped(&help.map(ToString::to_string).unwrap_or_default());
    let defaults: Vec<String> = arg
        .get_default_values()
        .iter()
        .map(|value| format!("`{}`", value.to_string_lossy()))
        .collect();
    if !defaults.is_empty() && arg.get_action().takes_values() {
        write!(text, "\n\nDefault: {}.", defaults.join(", ")).unwrap();
    }
    // The shells are known to the library alone, and no reader wants a table of them.
    let values = arg.get_possible_values();
    if arg.get_action().takes_values() && values.len() > 1 {
        let each = values.iter().filter(|value| !value.is_hide_set()).map(|value| {
            let help = value.get_help().map(|help| format!(": {}", escaped(&help.to_string())));
            format!("`{}`{}", value.get_name(), help.unwrap_or_default())
        });
        write!(text, "\n\n{}", each.collect::<Vec<_>>().join("; ")).unwrap();
    }
    text
}

/// Returns a text as a table cell, with `<br>` between its paragraphs.
fn cell(text: &str) -> String {
    let parts: Vec<String> = text.split("\n\n").map(|part| part.replace('\n', " ")).collect();
    parts.iter().map(|part| part.trim()).collect::<Vec<_>>().join("<br>").replace('|', "\\|")
}

/// Escapes a help text for Markdown, except its code.
fn escaped(text: &str) -> String {
    let mut code = false;
    let mut out = String::new();
    for character in text.chars() {
        code ^= character == '`';
        if !code && matches!(character, '*' | '_' | '<' | '[' | '\\') {
            out.push('\\');
        }
        out.push(character);
    }
    out
}
