//! The list of promises, as people write it: paragraphs of `key: value`.

use super::grammar;
use anyhow::{Context, Result, bail, ensure};
use regex::Regex;

/// What must hold after a command has ended.
#[derive(Clone, Debug)]
pub(super) enum Sight {
    /// This text is on the screen.
    Text(String),
    /// This pattern matches the screen.
    Pattern(Regex),
    /// The standard output is JSON and has a value at this pointer (RFC 6901).
    Json(String),
    /// The command has written this file, and it is not empty.
    File(String),
    /// What this pattern matches in the documents is on the screen: numbers of recorded sessions.
    Quote(Regex),
}

/// A command that is documented, and what it does. Without a document it prepares what others use.
#[derive(Clone, Debug, Default)]
pub(super) struct Promise {
    /// The line of the list on which it begins, from 1.
    pub(super) line: usize,
    /// The documents that show the command.
    pub(super) said: Vec<String>,
    /// The command as the documents show it.
    pub(super) says: String,
    /// The command as it is run, by a shell.
    pub(super) run: String,
    /// The exit codes that are promised; 0 if there are none.
    pub(super) exit: Vec<i32>,
    /// What must be seen.
    pub(super) sights: Vec<Sight>,
    /// Programs without which it cannot be tried; `root` stands for the rights.
    pub(super) needs: Vec<String>,
}

/// Reads the list. Lines that begin with `#` are comments.
///
/// # Errors
/// Names the line that is wrong.
pub(super) fn read(text: &str) -> Result<Vec<Promise>> {
    let mut promises: Vec<Promise> = Vec::new();
    let mut open = false;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.starts_with('#') {
            continue;
        }
        if line.is_empty() {
            open = false;
            continue;
        }
        if !open {
            promises.push(Promise { line: index + 1, ..Promise::default() });
            open = true;
        }
        let promise = promises.last_mut().context("there is no promise")?;
        promise.take(line).with_context(|| format!("line {}", index + 1))?;
    }
    for promise in &mut promises {
        promise.complete().with_context(|| format!("line {}", promise.line))?;
    }
    Ok(promises)
}

impl Promise {
    /// Takes one line.
    fn take(&mut self, line: &str) -> Result<()> {
        let (key, value) = line.split_once(':').context("it is no `key: value`")?;
        let value = value.trim();
        ensure!(!value.is_empty(), "{key} has no value");
        let words = || value.split_whitespace().map(String::from);
        let pattern = || Regex::new(&format!("(?m){value}")).context("it is no regular expression");
        match key {
            "said" => self.said.extend(words()),
            "says" => self.says = value.into(),
            "run" => self.run = value.into(),
            "exit" => {
                self.exit = words().map(|code| code.parse()).collect::<Result<_, _>>()?;
            }
            "needs" => self.needs.extend(words()),
            "sees" => self.sights.push(Sight::Text(value.into())),
            "matches" => self.sights.push(Sight::Pattern(pattern()?)),
            "json" => self.sights.push(Sight::Json(value.into())),
            "file" => self.sights.push(Sight::File(value.into())),
            "quotes" => self.sights.push(Sight::Quote(pattern()?)),
            key => bail!(
                "unknown key {key}; the keys are said, says, run, exit, needs, sees, matches, json, \
                 file and quotes"
            ),
        }
        Ok(())
    }

    /// Checks that it says enough. What is run has the subcommands and options of what is shown.
    fn complete(&mut self) -> Result<()> {
        ensure!(self.said.is_empty() == self.says.is_empty(), "said and says need each other");
        if self.run.is_empty() {
            self.run.clone_from(&self.says);
        }
        ensure!(!self.run.is_empty(), "there is no command");
        if self.exit.is_empty() {
            self.exit.push(0);
        }
        if self.is_preparation() {
            return Ok(());
        }
        ensure!(!self.sights.is_empty(), "nothing is promised of {}", self.says);
        let run = grammar::subject(&self.run);
        let missing = grammar::subject(&self.says).into_iter().find(|word| !run.contains(word));
        if let Some(missing) = missing {
            bail!("{} is tried without {missing}", self.says);
        }
        Ok(())
    }

    /// Reports whether it only prepares what others use.
    pub(super) fn is_preparation(&self) -> bool {
        self.said.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::{Promise, Sight, read};

    fn error(text: &str) -> String {
        format!("{:#}", read(text).unwrap_err())
    }

    #[test]
    fn a_list_is_read() {
        let text = "# A list.\n\nrun: seq 9 > words\n\nsaid: README.md docs/a.md\n\
            says: scruple run NAME --json\nrun: scruple run null --json --runs 6\nexit: 0 3\n\
            needs: gcc\nsees: a: b\nmatches: ^[0-9]+ ms$\njson: /claims/0\nfile: x.csv\n\
            quotes: [0-9]+×\n\nsaid: README.md\nsays: scruple list\nsees: create\n";
        let promises = read(text).unwrap();
        let lines: Vec<usize> = promises.iter().map(|promise| promise.line).collect();
        assert_eq!(lines, [3, 5, 16]);
        let Promise { said, run, exit, needs, sights, .. } = &promises[1];
        assert_eq!(said, &["README.md", "docs/a.md"]);
        assert_eq!(run, "scruple run null --json --runs 6");
        assert_eq!((exit.as_slice(), needs.len(), sights.len()), (&[0, 3][..], 1, 5));
        assert!(matches!(&sights[0], Sight::Text(text) if text == "a: b"));
        assert_eq!((promises[2].run.as_str(), &promises[2].exit), ("scruple list", &vec![0]));
        assert!(promises[0].is_preparation() && !promises[1].is_preparation());
    }

    #[test]
    fn what_is_wrong_in_a_list_is_named_with_its_line() {
        let whole = "said: a.md\nsays: scruple list\n";
        for (text, expected) in [
            ("\nhello", "line 2: it is no `key: value`"),
            ("sees:", "line 1: sees has no value"),
            ("saw: x", "line 1: unknown key saw; the keys are said, says, run, exit"),
            ("matches: (", "line 1: it is no regular expression"),
            ("exit: one", "line 1: invalid digit"),
            ("says: scruple list", "line 1: said and says need each other"),
            ("exit: 0", "line 1: there is no command"),
            (whole, "line 1: nothing is promised of scruple list"),
            (
                "said: a.md\nsays: scruple run --json\nrun: scruple run\nsees: x\n",
                "line 1: scruple run --json is tried without --json",
            ),
            (
                "said: a.md\nsays: scruple run\nrun: scruple list\nsees: x\n",
                "line 1: scruple run is tried without run",
            ),
        ] {
            let error = error(text);
            assert!(error.starts_with(expected), "{text}: {error}");
        }
    }
}
