//! A command line as a person types it: its words where no shell is needed, or what needs one.

use wording::quoted;

/// The variables whose values may stand in a study's file and in a session: they hold no secret.
const PLAIN: [&str; 6] = ["HOME", "PWD", "USER", "TMPDIR", "PATH", "LD_LIBRARY_PATH"];

const SH: &str = "sh";
const BASH: &str = "bash";

/// What a shell runs itself, or changes for the commands after it.
const BUILTINS: &str = "cd . export exec eval ulimit umask set unset alias if for while until case { wait read \
                        command";

/// What only shells such as bash run themselves.
const BASH_BUILTINS: &str = "source [[ (( function declare let shopt builtin pushd popd dirs typeset local mapfile \
                             readarray select coproc disown enable compgen";

/// Commands of a shell that `sh` does otherwise than bash in some systems.
const DIFFERENT_BUILTINS: &str =
    "printf set kill ulimit trap type read test [ export times jobs hash .";

/// Marks with which any shell does the same. A line with another one is read by bash, for which people type.
const COMMON_MARKS: &str = "/._-+:,=%@'\"|&;<>*?~{}";

/// Of these marks, those that mean something else together, in bash or everywhere else.
const BASH_TEXTS: [&str; 9] = ["==", "&>", "|&", "<<<", "+=", "~+", "~-", "echo -", "=("];

/// Returns the value of a variable of the environment.
pub type Variable<'a> = &'a dyn Fn(&str) -> Option<String>;

/// A command line that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spoken {
    /// The line as a shell takes it, without `time`.
    pub text: String,
    /// Its words, those that set variables first; not expanded where it needs a shell.
    pub words: Vec<String>,
    /// What needs a shell, if something does.
    pub shell: Option<Shell>,
    /// `time` stood before it and was left out.
    pub timed: bool,
}

/// What needs a shell, and which.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shell {
    /// Such as "a pipe".
    pub what: String,
    /// The shell that knows it: `sh` or `bash`.
    pub program: &'static str,
}

impl Spoken {
    /// Returns the command to type in place of a line that needs a shell.
    pub fn by_shell(&self) -> String {
        let program = self.shell.as_ref().map_or(SH, |shell| shell.program);
        if !self.text.contains('\n') {
            return format!("{program} -c {}", quoted(&self.text));
        }
        // On one line, as a person's shell reads it again.
        let text = self.text.replace('\\', "\\\\").replace('\'', "\\'").replace('\n', "\\n");
        format!("{program} -c $'{text}'")
    }

    /// Returns the line for `/bin/sh`.
    pub(crate) fn for_sh(&self) -> String {
        match &self.shell {
            Some(shell) if shell.program != SH => {
                format!("{} -c {}", shell.program, quoted(&self.text))
            }
            _ => self.text.clone(),
        }
    }
}

/// Reads a command line as a shell does: quotation marks, backslashes, `~`, and the variables of [`PLAIN`].
///
/// # Errors
/// A quotation mark that is never closed, or no word at all.
pub fn spoken(line: &str, variable: Variable<'_>) -> Result<Spoken, String> {
    let (text, timed) = untimed(line.trim());
    let split = |text: &str| match shell_words::split(text) {
        Ok(words) => Ok(words),
        // In $'…' a quotation mark may stand behind a backslash, and in <<E it is no mark.
        Err(_) if text.contains("$'") || text.contains("<<") => Ok(vec![text.to_string()]),
        Err(_) => Err(format!("{line:?}: a quotation mark that opens is never closed")),
    };
    let words = split(text)?;
    if words.is_empty() {
        return Err("a command has no word in it".into());
    }
    let (words, shell) = match expanded(text, variable) {
        Ok(text) => {
            let words = split(&text)?;
            let shell = first_word(&words);
            (words, shell)
        }
        Err(shell) => (words, Some(shell)),
    };
    // A person types for the shell that they use, and another one may run another command without a word.
    let shell = shell.map(|shell| match is_for_bash(text) {
        true => Shell { program: BASH, ..shell },
        false => shell,
    });
    Ok(Spoken { text: text.to_string(), words, shell, timed })
}

/// Reads a command whose words a shell has made already.
pub fn spoken_words(words: &[String]) -> Spoken {
    let timed = words.len() > 1 && words[0] == "time" && !words[1].starts_with('-');
    let words = words[usize::from(timed)..].to_vec();
    // A keyword in quotation marks would be none.
    let text = wording::command_line(&words).replacen("'!' ", "! ", 1);
    Spoken { text, shell: first_word(&words), words, timed }
}

/// Reports whether a line may mean something else to another shell than bash, or nothing.
fn is_for_bash(text: &str) -> bool {
    let is_common = |c: char| c.is_alphanumeric() || " \t".contains(c) || COMMON_MARKS.contains(c);
    let is_builtin = |word: &str| {
        [BASH_BUILTINS, DIFFERENT_BUILTINS]
            .iter()
            .any(|names| names.split(' ').any(|it| it == word))
    };
    let mut words = text.split(|c: char| c.is_whitespace() || ";&|()".contains(c));
    // {a,b} and {1..9}; a placeholder is none.
    let expands = text.split('{').skip(1).any(|rest| {
        let inner = rest.split_once('}').map_or("", |(inner, _)| inner);
        inner.contains(',') || inner.contains("..")
    });
    expands
        || !text.chars().all(is_common)
        || words.any(is_builtin)
        || BASH_TEXTS.iter().any(|mark| text.contains(mark))
}

fn sh<T>(what: &str) -> Result<T, Shell> {
    Err(Shell { what: what.into(), program: SH })
}

fn bash<T>(what: &str) -> Result<T, Shell> {
    Err(Shell { what: what.into(), program: BASH })
}

/// Returns a line without the shell's keyword `time`, and whether it was there.
fn untimed(text: &str) -> (&str, bool) {
    let Some(rest) = text.strip_prefix("time").filter(|it| it.starts_with(char::is_whitespace))
    else {
        return (text, false);
    };
    let rest = rest.trim_start();
    let rest = rest.strip_prefix("-p ").unwrap_or(rest).trim_start();
    // A program of this name has options; the keyword has none but -p.
    if rest.is_empty() || rest.starts_with('-') { (text, false) } else { (rest, true) }
}

/// Returns what the first word of a command needs a shell for.
fn first_word(words: &[String]) -> Option<Shell> {
    let first = model::program(words);
    let is_one_of = |names: &str| names.split_whitespace().any(|name| name == first);
    let needs = |what: &str, program| Some(Shell { what: format!("{first}, {what}"), program });
    match first {
        "" => None,
        "!" => needs("which turns an exit code round", SH),
        _ if appends(first) => needs("which adds to a variable", BASH),
        _ if is_one_of(BUILTINS) => needs("which a shell runs itself", SH),
        _ if is_one_of(BASH_BUILTINS) => needs("which bash runs itself", BASH),
        _ => None,
    }
}

/// Reports whether a word adds to a variable: `PATH+=:/opt`.
fn appends(word: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    word.split_once("+=").is_some_and(|(name, _)| !name.is_empty() && name.chars().all(is_name))
}

/// Returns a line in which `~` and some variables are replaced by their values, quoted.
fn expanded(line: &str, variable: Variable<'_>) -> Result<String, Shell> {
    let mut out = String::with_capacity(line.len());
    let (mut quote, mut at, mut word) = (None, 0, 0);
    while let Some(letter) = line[at..].chars().next() {
        let rest = &line[at + letter.len_utf8()..];
        let mut length = letter.len_utf8();
        match (quote, letter) {
            (Some(open), letter) if letter == open => {
                quote = None;
                out.push(letter);
            }
            (Some('\''), _) => out.push(letter),
            (_, '\\') => {
                let next = rest.chars().next();
                length += next.map_or(0, char::len_utf8);
                out.extend([letter].into_iter().chain(next));
            }
            (_, '`') => return sh("a command in `…`"),
            (quote, '$') => {
                let (value, taken) = dollar(rest, quote.is_some(), variable)?;
                let set = model::assignment(line[word..at].as_ref()).is_some();
                push_value(&mut out, &value, quote.is_some(), set || taken == 0)?;
                length += taken;
            }
            (None, '\'' | '"') => {
                quote = Some(letter);
                out.push(letter);
            }
            (None, '~') if at == word || opens_value(&line[word..at]) => {
                out.push_str(&shell_words::quote(&home(rest, variable)?));
            }
            (None, letter) if letter.is_whitespace() && letter != '\n' => {
                word = at + length;
                out.push(letter);
            }
            (None, letter) => {
                operator(letter, rest, at == word)?;
                out.push(letter);
            }
            (_, letter) => out.push(letter),
        }
        at += length;
    }
    Ok(out)
}

/// Reports whether a value begins behind this part of a word: `NAME=`, or a `:` within such a value.
fn opens_value(word: &str) -> bool {
    model::assignment(word.as_ref()).is_some() && word.ends_with(['=', ':'])
}

/// Returns the home folder that a `~` means, if the user's own is meant.
fn home(rest: &str, variable: Variable<'_>) -> Result<String, Shell> {
    let ends =
        rest.is_empty() || rest.starts_with(['/', ':']) || rest.starts_with(char::is_whitespace);
    match variable("HOME").filter(|_| ends) {
        Some(home) => Ok(home),
        None => sh("~ before a name"),
    }
}

/// Returns what a `$` and the text behind it mean, and how many bytes of the text belong to it.
fn dollar(rest: &str, quoted: bool, variable: Variable<'_>) -> Result<(String, usize), Shell> {
    let braced = rest.strip_prefix('{');
    let name = braced.unwrap_or(rest);
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let name = &name[..name.find(|c| !fits(c)).unwrap_or(name.len())];
    if name.is_empty() && braced.is_none() {
        return match rest.chars().next() {
            Some('(') if rest.starts_with("((") => sh("a calculation in $((…))"),
            Some('(') => sh("a command in $(…)"),
            Some('\'' | '"') if !quoted => bash("$'…'"),
            Some('?' | '$' | '!' | '#' | '@' | '*' | '-') => sh("a variable"),
            _ => Ok(("$".into(), 0)),
        };
    }
    let closed = braced.is_none_or(|braced| braced[name.len()..].starts_with('}'));
    match variable(name).filter(|_| closed && PLAIN.contains(&name)) {
        Some(value) => Ok((value, name.len() + if braced.is_some() { 2 } else { 0 })),
        None => sh(&format!("the variable ${}", if braced.is_some() { "{…}" } else { name })),
    }
}

/// Adds a variable's value. `whole`: it stays one word, as within an assignment.
fn push_value(out: &mut String, value: &str, quoted: bool, whole: bool) -> Result<(), Shell> {
    if quoted {
        value.chars().for_each(|c| {
            out.extend("\\\"$`".contains(c).then_some('\\'));
            out.push(c);
        });
        return Ok(());
    }
    // Else a shell would split it, and take it for a pattern.
    if !whole && value.contains(|c: char| c.is_whitespace() || "*?[".contains(c)) {
        return sh("a variable whose value is several words");
    }
    out.push_str(&shell_words::quote(value));
    Ok(())
}

/// Refuses a letter outside of quotation marks that means more than itself to a shell.
fn operator(letter: char, rest: &str, begins: bool) -> Result<(), Shell> {
    let end = rest.find(|c: char| c.is_whitespace()).unwrap_or(rest.len());
    let word = &rest[..end];
    match letter {
        '|' if rest.starts_with('|') => sh("||"),
        '|' if rest.starts_with('&') => bash("|&"),
        '|' => sh("a pipe"),
        '&' if rest.starts_with('&') => sh("&&"),
        '&' if rest.starts_with('>') => bash("&>"),
        '&' => sh("&"),
        ';' => sh("several commands"),
        '\n' => sh("several lines"),
        '<' | '>' if rest.starts_with('(') => bash("a command in the place of a file"),
        '<' if rest.starts_with("<<") => bash("<<<"),
        '<' | '>' => sh("a redirection"),
        '(' | ')' => sh("parentheses"),
        '*' | '?' => sh("a pattern of file names"),
        '[' if word.contains(']') && !(begins && word.is_empty()) => sh("a pattern of file names"),
        '{' => match word.split_once('}') {
            Some((inner, _)) if inner.contains(',') || inner.contains("..") => bash("{…,…}"),
            _ => Ok(()),
        },
        _ => Ok(()),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests {
    use super::*;

    fn variable(name: &str) -> Option<String> {
        let value = match name {
            "HOME" => "/h/a b",
            "PWD" => "/w",
            "TOKEN" => "secret",
            "USER" => "a*",
            _ => return None,
        };
        Some(value.into())
    }

    fn read(line: &str) -> Spoken {
        spoken(line, &variable).unwrap()
    }

    #[track_caller]
    fn words(line: &str, expected: &[&str]) {
        let spoken = read(line);
        assert_eq!(spoken.shell, None, "{line}");
        assert_eq!(spoken.words, expected, "{line}");
    }

    #[track_caller]
    fn shell(line: &str, what: &str, command: &str) {
        let spoken = read(line);
        let shell = spoken.shell.as_ref().unwrap_or_else(|| panic!("{line} needs no shell"));
        assert!(shell.what.contains(what), "{line}: {shell:?}");
        assert_eq!(spoken.by_shell(), command, "{line}");
    }

    #[test]
    fn words_are_read_as_a_shell_reads_them() {
        words("OMP_NUM_THREADS=2 ./a.out", &["OMP_NUM_THREADS=2", "./a.out"]);
        words("A='x y' B= ./a \"it's\" a\\ b", &["A=x y", "B=", "./a", "it's", "a b"]);
        words("~/bin/x ~ a~ '~' --f=~/x", &["/h/a b/bin/x", "/h/a b", "a~", "~", "--f=~/x"]);
        words("P=~/lib:~/b ./x", &["P=/h/a b/lib:/h/a b/b", "./x"]);
        words("\"$HOME/x\" '$HOME' \\$HOME", &["/h/a b/x", "$HOME", "$HOME"]);
        words("L=$HOME/lib:${PWD} $PWD/x", &["L=/h/a b/lib:/w", "/w/x"]);
        words("a $ 5$ x{n} {} '*' \"|\" # why", &["a", "$", "5$", "x{n}", "{}", "*", "|"]);
        words("[ -f x ]", &["[", "-f", "x", "]"]);
        words("python3 -c 'print(\"a; b\")'", &["python3", "-c", "print(\"a; b\")"]);
        words("time -v ./x", &["time", "-v", "./x"]);
        for line in ["time ./x", "time -p ./x"] {
            words(line, &["./x"]);
            assert!(read(line).timed);
        }
    }

    #[test]
    fn what_needs_a_shell_is_written_for_one() {
        shell("a | b", "a pipe", "sh -c 'a | b'");
        shell("a 'b' > c", "a redirection", r"sh -c 'a '\''b'\'' > c'");
        shell("time a && b", "&&", "sh -c 'a && b'");
        shell("! a b", "!", "bash -c '! a b'");
        shell("cd x", "cd", "sh -c 'cd x'");
        shell("ls *.c", "pattern", "sh -c 'ls *.c'");
        shell("ls [ab].c", "pattern", "bash -c 'ls [ab].c'");
        shell("a $TOKEN", "$TOKEN", "bash -c 'a $TOKEN'");
        shell("a ${PWD%/*}", "variable", "bash -c 'a ${PWD%/*}'");
        shell("a $HOME/x", "several words", "bash -c 'a $HOME/x'");
        shell("a $USER", "several words", "bash -c 'a $USER'");
        shell("a $(b)", "$(…)", "bash -c 'a $(b)'");
        shell("~root/x", "~", "sh -c '~root/x'");
        shell("a <(b)", "place of a file", "bash -c 'a <(b)'");
        shell("a f{1,2}", "{", "bash -c 'a f{1,2}'");
        shell("source e", "source", "bash -c 'source e'");
    }

    #[test]
    fn several_lines_stay_several() {
        assert_eq!(read("a <<E\nit's\nE").by_shell(), r"bash -c $'a <<E\nit\'s\nE'");
        // /bin/sh, which reads a study's line, need not know $'…'.
        assert_eq!(read("a <<E\nit's\nE").for_sh(), "bash -c 'a <<E\nit'\\''s\nE'");
        assert_eq!(read(". ./set 1").by_shell(), "bash -c '. ./set 1'");
    }

    #[test]
    fn what_other_shells_read_differently_is_written_for_bash() {
        for line in [
            "echo $UID | cat",
            "echo \"${RANDOM}\"",
            "a; let x=1",
            "for ((i=0;i<3;i++)); do a; done",
            "a ${x^^}",
            "a ${x:0:2} | b",
            "a ${x:-$EUID}",
            "a=(1 2); b",
            "[ a == a ] && b",
            "a >(b)",
            "echo -e 'a' | b",
            "printf %q x | b",
            "ls ~+ | b",
            "pushd a",
            "cd x; local y",
            "a ${x[1]}",
            "echo 'a\\tb' | b",
            "a $[1+1]",
            "set -o pipefail; a | b",
            "kill -l | b",
            "FOO+=x a",
            "a | b f{1..3}",
            "a '$FOO' $'x\\'y'",
        ] {
            assert_eq!(read(line).shell.map(|shell| shell.program), Some(BASH), "{line}");
        }
        for line in ["cd x && make -j2", "echo 'x y' | b > \"c\" 2>&1", "a | tee localx"] {
            assert_eq!(read(line).shell.map(|shell| shell.program), Some(SH), "{line}");
        }
    }

    #[test]
    fn words_of_a_shell_stay_as_they_are() {
        let words = |words: &[&str]| {
            spoken_words(&words.iter().map(ToString::to_string).collect::<Vec<_>>())
        };
        assert_eq!(words(&["expr", "2", "*", "3"]).shell, None);
        assert_eq!(words(&["time", "./x"]).words, ["./x"]);
        assert_eq!(words(&["time", "-v", "./x"]).words.len(), 3);
        assert_eq!(words(&["!", "a", "b c"]).by_shell(), r"sh -c '! a '\''b c'\'''");
    }

    #[test]
    fn what_is_no_command_is_refused() {
        assert!(spoken("a 'b", &variable).unwrap_err().contains("never closed"));
        assert!(spoken("  ", &variable).unwrap_err().contains("no word"));
    }
}
