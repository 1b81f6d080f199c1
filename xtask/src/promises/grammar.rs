//! Whether a documented command parses, by what `--help` shows.

use std::collections::{BTreeMap, BTreeSet};

/// What `scruple … --help` prints, by the words of the command; none if there is no such command.
pub(super) struct Grammar<F> {
    help: F,
    read: BTreeMap<String, Option<Help>>,
}

/// What a help page lists.
#[derive(Clone, Debug)]
struct Help {
    options: BTreeSet<String>,
    has_commands: bool,
}

impl<F: FnMut(&[&str]) -> Option<String>> Grammar<F> {
    /// `help` returns the page of a command, or none if that fails.
    pub(super) fn new(help: F) -> Self {
        Grammar { help, read: BTreeMap::new() }
    }

    fn help(&mut self, words: &[&str]) -> Option<Help> {
        let key = words.join(" ");
        if let Some(help) = self.read.get(&key) {
            return help.clone();
        }
        let help = (self.help)(words).map(|page| Help::of(&page));
        self.read.insert(key, help.clone());
        help
    }

    /// Returns what is wrong with a line of commands: a subcommand or an option that does not exist.
    pub(super) fn fault(&mut self, line: &str) -> Option<String> {
        let commands = commands(line);
        commands.iter().find_map(|words| match words.split_first() {
            Some((program, rest)) if program == "scruple" => self.fault_of(rest),
            _ => None,
        })
    }

    fn fault_of(&mut self, words: &[String]) -> Option<String> {
        let is_name = |word: &&String| !word.starts_with('-') && !is_placeholder(word);
        let mut path: Vec<&str> =
            words.first().filter(is_name).map(String::as_str).into_iter().collect();
        if path == ["help"] {
            path.clear();
        }
        let mut unknown = |path: &[&str]| match self.help(path) {
            Some(help) => Ok(help),
            None => Err(format!("scruple has no subcommand {}", path.join(" "))),
        };
        let mut help = match unknown(&path) {
            Ok(help) => help,
            Err(fault) => return Some(fault),
        };
        if let Some(word) = words.get(1).filter(|word| help.has_commands && is_name(word)) {
            path.extend((path.len() == 1).then_some(word.as_str()));
            help = match unknown(&path) {
                Ok(help) => help,
                Err(fault) => return Some(fault),
            };
        }
        let missing = options_of(words).into_iter().find(|option| !help.options.contains(option));
        missing.map(|option| format!("scruple {} has no option {option}", path.join(" ")))
    }
}

impl Help {
    fn of(page: &str) -> Self {
        let mut options: BTreeSet<String> = ["-h", "--help"].map(String::from).into();
        for line in page.lines().map(str::trim) {
            if line.starts_with('-') || line.contains("alias") {
                let words = line.split([' ', ',', '[', ']', '=', '<']);
                options.extend(words.filter(|word| is_option(word)).map(String::from));
            }
        }
        let has_commands = page.lines().any(|line| line == "Commands:");
        Help { options, has_commands }
    }
}

/// Returns the subcommands of scruple and the options that a line names.
pub(super) fn subject(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    for words in
        commands(line).iter().filter(|words| words.first().is_some_and(|it| it == "scruple"))
    {
        found.extend(words.get(1).cloned());
        found.extend(options_of(words));
    }
    found
}

fn options_of(words: &[String]) -> Vec<String> {
    let own = words.iter().take_while(|word| *word != "--");
    let names = own.map(|word| word.split('=').next().unwrap_or(word));
    names.filter(|word| is_option(word)).map(String::from).collect()
}

fn is_option(word: &str) -> bool {
    let name = word.strip_prefix("--").or_else(|| word.strip_prefix('-'));
    name.is_some_and(|name| name.starts_with(|c: char| c.is_ascii_alphabetic()))
}

/// Reports whether a word stands for another: `[OPTIONS]`, `…`, `<x>`, `COMMAND`.
fn is_placeholder(word: &str) -> bool {
    !word.chars().any(|c| c.is_lowercase()) || word.starts_with(['[', '<', '…'])
}

/// Returns the words of each command of a line, as a shell splits them. A redirection, a pipe, an
/// operator or a comment ends a command.
fn commands(line: &str) -> Vec<Vec<String>> {
    let mut found = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if open == c => quote = None,
            (Some('\''), c) => word.get_or_insert_default().push(c),
            (_, '\\') => word.get_or_insert_default().extend(chars.next()),
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                word.get_or_insert_default();
                quote = Some(c);
            }
            (None, '#') if word.is_none() => break,
            (None, c) if c.is_whitespace() || "|&;<>".contains(c) => {
                if let Some(last) = found.last_mut() {
                    last.extend(word.take());
                }
                if !c.is_whitespace() {
                    found.push(Vec::new());
                }
            }
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    if let Some(last) = found.last_mut() {
        last.extend(word);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{Grammar, commands, subject};

    fn page(words: &[&str]) -> Option<String> {
        let page = match words {
            [] => "Commands:\n  run  Measure\n\nOptions:\n  -V, --version\n",
            ["run"] => {
                "Options:\n  -o, --output <DIR>\n          text --not-this\n  --json[=<KEYS>]\n"
            }
            ["fleet"] => "Commands:\n  run  Measure\n",
            ["fleet", "run"] => "Options:\n      --nodes <N>  Nodes [aliases: --machines]\n",
            _ => return None,
        };
        Some(page.into())
    }

    #[test]
    fn what_does_not_parse_is_named() {
        let mut grammar = Grammar::new(page);
        for right in [
            "scruple --version",
            "scruple help COMMAND",
            "scruple run [EXPERIMENT…] -o DIR --json=a",
            "scruple run create -- --no-option-of-ours",
            "scruple fleet run --nodes 3 --machines 4 > --x",
            "scruple COMMAND --help",
            "echo --x | grep '--y'",
        ] {
            assert_eq!(grammar.fault(right), None, "{right}");
        }
        for (wrong, expected) in [
            ("scruple measure", "scruple has no subcommand measure"),
            ("scruple fleet start", "scruple has no subcommand fleet start"),
            ("scruple run --outptu x", "scruple run has no option --outptu"),
            ("scruple run --not-this", "scruple run has no option --not-this"),
            ("ls && scruple run -x", "scruple run has no option -x"),
            ("scruple fleet run --json", "scruple fleet run has no option --json"),
        ] {
            assert_eq!(grammar.fault(wrong).as_deref(), Some(expected));
        }
    }

    #[test]
    fn lines_are_split_as_a_shell_splits_them() {
        let line = "scruple ask 'a > b' \"c d\\\"\" e\\ f --json > x; ls # -l";
        let expected: [&[&str]; 3] =
            [&["scruple", "ask", "a > b", "c d\"", "e f", "--json"], &["x"], &["ls"]];
        assert_eq!(commands(line), expected);
        assert_eq!(
            subject("scruple scale --levels 1,2 -o=x -- cmd -k"),
            ["scale", "--levels", "-o"]
        );
        assert_eq!(subject("ls -l; scruple ask 'a - b' -5"), ["ask"]);
    }
}
