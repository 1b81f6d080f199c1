use crate::treatment::is_word_character;
use crate::{Design, Treatment};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// A program of the user's that every trial of a design starts, once.
///
/// Wherever a text may hold a placeholder, `{factor}` stands for the word of the factor's level;
/// `{scratch}` for a folder of the trial's own that is removed after it. Braces around anything
/// that is no word of a-z, 0-9 and `_` are left as they are, so that `awk '{ print $1 }'` needs no
/// care; `{{word}}` is the text `{word}`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Subject {
    /// The program and its arguments, with placeholders; one element only where `shell` is set. Words before
    /// the program that set variables (`OMP_NUM_THREADS=2`) belong to its environment, in every command.
    pub command: Vec<String>,
    /// Whether `command` is a text for `/bin/sh -c`. Placeholders are put into it as they are.
    pub shell: bool,
    /// Commands before each trial, one after the other; not timed. With placeholders.
    pub prepare: Vec<Vec<String>>,
    /// Commands after each trial, whatever became of it; not timed. With placeholders.
    pub cleanup: Vec<Vec<String>>,
    /// The folder it is started in: absolute, or empty for the trial's own. With placeholders.
    pub folder: String,
    /// Variables that are set or replaced in its environment. With placeholders.
    pub environment: BTreeMap<String, String>,
    /// Further such variables, of which a session does not store the values: each with a hash of its value
    /// that only the machine can make which measured it, or with an empty text.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub withheld: BTreeMap<String, String>,
    /// Whether its environment holds those and nothing else.
    pub clear_environment: bool,
    /// The file that is its standard input; empty means none. With placeholders.
    pub stdin: String,
    /// The CPUs it may use, as a list such as `0,2-3`, or `one` for the last of the session's;
    /// empty means all of the session's. With placeholders.
    pub cpus: String,
    /// Limits on it.
    pub limits: SubjectLimits,
    /// The exit codes that mean success; empty means 0 alone.
    pub exit_codes: Vec<i32>,
    /// Numbers that are picked from what it prints.
    pub metrics: Vec<Metric>,
    /// The words that stand for levels where they differ from the levels' names, by factor and
    /// level.
    pub words: BTreeMap<String, BTreeMap<String, String>>,
    /// The levels that stand for several arguments, or for none, by factor and level. Where their
    /// placeholder is a whole argument of a command, these take its place.
    pub lists: BTreeMap<String, BTreeMap<String, Vec<String>>>,
    /// How many workers it is asked to use, mostly `{n}`; empty where that is not known. With
    /// placeholders. That number of its threads, the busiest, are asked what kept them waiting.
    pub workers: String,
    /// How often its processes are looked at for their memory and their waiting, in milliseconds;
    /// none means as often as costs little, 0 never.
    pub look_every_ms: Option<u32>,
    /// How long processes that it leaves behind may go on before they are killed, in milliseconds.
    /// What they use meanwhile is counted.
    pub linger_ms: u32,
    /// Programs that work for it, by process ID or name: their CPU time is none of its neighbours'.
    pub with: Vec<String>,
    /// The factor whose levels say which resource is taken from it, and how much of it: the
    /// level's name is `none`, or a resource with the part that is taken in percent, `cpu-25`.
    pub squeeze: Option<String>,
}

/// Limits on a subject. Texts with placeholders that must become a size, in bytes or with a unit as
/// `512MiB`; empty means none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SubjectLimits {
    /// Address space of each process (`RLIMIT_AS`), in bytes.
    pub address_space_bytes: String,
    /// Memory of all its processes together (a memory cgroup), in bytes.
    pub memory_bytes: String,
    /// CPU time of all its processes together per time, in CPUs (a CPU cgroup): `0.5`.
    pub cpus_quota: String,
}

/// A number picked from what a subject prints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Metric {
    /// The response it is an observation of.
    pub response: String,
    /// Where it is printed.
    pub from: Stream,
    /// How it is found.
    pub pick: Pick,
    /// What the number found is multiplied by to be in the response's unit: 1e9 for seconds of a
    /// response in nanoseconds.
    pub scale: f64,
    /// Into how many parts the unit is divided in the integer that is stored, which is the number
    /// found times `scale` times this, rounded, as an observation over that number of operations
    /// ([`crate::Series::per`]): 1 where parts mean nothing, as of nanoseconds, and 1,000,000 keeps
    /// six places of a ratio. At least 1.
    #[serde(default = "whole")]
    pub per: u64,
    /// What `scale` holds of the unit that is expected: a number that is printed with another unit of the same
    /// kind is divided by it. 1e6 where milliseconds are expected.
    #[serde(default = "one")]
    pub of_unit: f64,
    /// The decimal mark, for numbers such as 12,345; none where the program's other numbers are to show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decimal: Option<Decimal>,
    /// The unit's name where it is none of time, size or share, so that a number may be printed with it; empty
    /// without one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub unit: String,
}

impl Default for Metric {
    fn default() -> Self {
        Metric {
            response: String::new(),
            from: Stream::Stdout,
            pick: Pick::Regex(String::new()),
            scale: 1.0,
            per: 1,
            of_unit: 1.0,
            decimal: None,
            unit: String::new(),
        }
    }
}

fn one() -> f64 {
    1.0
}

/// The mark between the whole part of a number and its fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decimal {
    /// As in 0.5; a comma groups digits.
    Point,
    /// As in 0,5; a point groups digits.
    Comma,
}

fn whole() -> u64 {
    1
}

/// Where a subject prints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stream {
    /// Its standard output.
    #[default]
    Stdout,
    /// Its standard error.
    Stderr,
}

/// How a number is found in a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pick {
    /// By the first group of a regular expression, at its last match.
    Regex(String),
    /// By a JSON pointer (RFC 6901), the text being one JSON value.
    Pointer(String),
}

/// Returns the name and the value of a word that sets a variable for the command after it, as in a shell:
/// `OMP_NUM_THREADS=2`. `None` for any other word.
pub fn assignment(word: &OsStr) -> Option<(&OsStr, &OsStr)> {
    let bytes = word.as_bytes();
    let (name, value) = bytes.split_at(bytes.iter().position(|byte| *byte == b'=')?);
    let fits = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let is_name = name.first().is_some_and(|first| !first.is_ascii_digit());
    (is_name && name.iter().all(fits))
        .then(|| (OsStr::from_bytes(name), OsStr::from_bytes(&value[1..])))
}

/// Splits a command into the words before its program that set variables, and the program with its arguments.
pub fn split_assignments<W: AsRef<OsStr>>(command: &[W]) -> (&[W], &[W]) {
    let own = command.iter().take_while(|word| assignment(word.as_ref()).is_some()).count();
    command.split_at(own)
}

/// Returns the word of a command that names its program; empty if there is none.
pub fn program(command: &[String]) -> &str {
    split_assignments(command).1.first().map_or("", String::as_str)
}

/// The placeholder of the trial's own folder.
pub const SCRATCH: &str = "scratch";

/// A placeholder that nothing stands for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{{{0}}} is no factor, and not {{{SCRATCH}}}")]
pub struct UnknownPlaceholder(pub String);

impl Subject {
    /// A text with the words of a treatment in the place of its placeholders.
    ///
    /// # Errors
    /// The first placeholder that is neither a factor of the treatment nor `{scratch}`.
    pub fn fill(
        &self,
        text: &str,
        treatment: &Treatment,
        scratch: &str,
    ) -> Result<String, UnknownPlaceholder> {
        let mut filled = String::with_capacity(text.len());
        for piece in pieces(text) {
            match piece {
                Piece::Text(text) => filled.push_str(text),
                Piece::Braced(word) => filled.extend(["{", word, "}"]),
                Piece::Placeholder(SCRATCH) => filled.push_str(scratch),
                Piece::Placeholder(factor) => {
                    let Some(level) = treatment.level(factor) else {
                        return Err(UnknownPlaceholder(factor.into()));
                    };
                    let word = self.words.get(factor).and_then(|words| words.get(level));
                    match self.list(factor, level) {
                        Some(list) => filled.push_str(&list.join(" ")),
                        None => filled.push_str(word.map_or(level, String::as_str)),
                    }
                }
            }
        }
        Ok(filled)
    }

    /// The text that [`Subject::fill`] makes into `word`, whatever braces are in it: what looks like
    /// a placeholder has its braces doubled.
    #[must_use]
    pub fn literal(word: &str) -> String {
        let mut text = String::with_capacity(word.len());
        for piece in pieces(word) {
            match piece {
                Piece::Text(part) => text.push_str(part),
                Piece::Placeholder(name) => text.extend(["{{", name, "}}"]),
                // An outer brace stays a brace beside doubled ones.
                Piece::Braced(name) => text.extend(["{{{", name, "}}}"]),
            }
        }
        text
    }

    /// Reports whether an exit code means success.
    pub fn accepts(&self, code: i32) -> bool {
        if self.exit_codes.is_empty() { code == 0 } else { self.exit_codes.contains(&code) }
    }

    /// Returns all exit codes, for programs whose code means nothing.
    pub fn any_exit_code() -> Vec<i32> {
        (0..=255).collect()
    }

    /// Replaces the values of its variables by hashes: a session is to hold none.
    pub fn withhold(&mut self, hash: impl Fn(&str, &str) -> String) {
        let variables = std::mem::take(&mut self.environment).into_iter();
        self.withheld.extend(variables.map(|(name, value)| {
            let hash = hash(&name, &value);
            (name, hash)
        }));
    }

    /// A command with the words of a treatment in the place of its placeholders. An argument that
    /// is nothing but a placeholder becomes as many as its level stands for.
    ///
    /// # Errors
    /// As [`Subject::fill`].
    pub fn arguments(
        &self,
        command: &[String],
        treatment: &Treatment,
        scratch: &str,
    ) -> Result<Vec<String>, UnknownPlaceholder> {
        let mut filled = Vec::with_capacity(command.len());
        for argument in command {
            let factor = argument.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
            let list = factor.and_then(|factor| self.list(factor, treatment.level(factor)?));
            match list {
                Some(list) => filled.extend(list.iter().cloned()),
                None => filled.push(self.fill(argument, treatment, scratch)?),
            }
        }
        Ok(filled)
    }

    /// Returns the subject with the words of a treatment in every text, and with the shell in front of a
    /// command that is for one: as it is started.
    ///
    /// # Errors
    /// As [`Subject::fill`].
    pub fn filled(
        &self,
        treatment: &Treatment,
        scratch: &str,
    ) -> Result<Subject, UnknownPlaceholder> {
        let fill = |text: &String| self.fill(text, treatment, scratch);
        let words = |command: &Vec<String>| self.arguments(command, treatment, scratch);
        let SubjectLimits { address_space_bytes, memory_bytes, cpus_quota } = &self.limits;
        let variables = self.environment.iter();
        let mut command = words(&self.command)?;
        if self.shell {
            command.splice(0..0, ["/bin/sh", "-c"].map(String::from));
        }
        Ok(Subject {
            command,
            prepare: self.prepare.iter().map(words).collect::<Result<_, _>>()?,
            cleanup: self.cleanup.iter().map(words).collect::<Result<_, _>>()?,
            folder: fill(&self.folder)?,
            environment: variables
                .map(|(name, value)| Ok((name.clone(), fill(value)?)))
                .collect::<Result<_, _>>()?,
            stdin: fill(&self.stdin)?,
            cpus: fill(&self.cpus)?,
            limits: SubjectLimits {
                address_space_bytes: fill(address_space_bytes)?,
                memory_bytes: fill(memory_bytes)?,
                cpus_quota: fill(cpus_quota)?,
            },
            workers: fill(&self.workers)?,
            ..self.clone()
        })
    }

    fn list(&self, factor: &str, level: &str) -> Option<&Vec<String>> {
        self.lists.get(factor)?.get(level)
    }

    /// Every text that may hold placeholders.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let commands = std::iter::once(&self.command).chain(&self.prepare).chain(&self.cleanup);
        let limits = &self.limits;
        [&self.folder, &self.stdin, &self.cpus, &self.workers]
            .into_iter()
            .chain([&limits.address_space_bytes, &limits.memory_bytes, &limits.cpus_quota])
            .chain(commands.flatten())
            .chain(self.environment.values())
            .map(String::as_str)
    }

    /// Every text that stands for a level.
    pub(crate) fn stand_ins(&self) -> impl Iterator<Item = &str> {
        let words = self.words.values().flat_map(BTreeMap::values);
        let lists = self.lists.values().flat_map(BTreeMap::values).flatten();
        words.chain(lists).map(String::as_str)
    }

    /// The names of its placeholders, `{scratch}` among them.
    pub fn placeholders(&self) -> impl Iterator<Item = &str> {
        self.texts().flat_map(pieces).filter_map(|piece| match piece {
            Piece::Placeholder(name) => Some(name),
            Piece::Text(_) | Piece::Braced(_) => None,
        })
    }

    /// Whether it fits its design.
    ///
    /// # Errors
    /// A sentence that names what is wrong and says what would be right.
    pub(crate) fn check(&self, design: &Design) -> Result<(), String> {
        let blank = |command: &Vec<String>| program(command).is_empty();
        if blank(&self.command) || self.prepare.iter().chain(&self.cleanup).any(blank) {
            return Err("a command of it has no program".into());
        }
        if self.shell && self.command.len() != 1 {
            return Err("a command for the shell must be one text".into());
        }
        let known = |name: &str| name == SCRATCH || design.factor(name).is_some();
        if let Some(name) = self.placeholders().find(|name| !known(name)) {
            return Err(UnknownPlaceholder(name.into()).to_string());
        }
        if let Some(name) = self.squeeze.as_ref().filter(|name| design.factor(name).is_none()) {
            return Err(format!("{name}, which is to be squeezed, is no factor of it"));
        }
        for metric in &self.metrics {
            crate::ensure!(
                design.response(&metric.response).is_some(),
                "{} is picked, but is no response of it",
                metric.response
            );
            crate::ensure!(
                metric.scale.is_finite() && metric.scale != 0.0,
                "the scale of {} must be a number but 0",
                metric.response
            );
            crate::ensure!(
                metric.per != 0,
                "the parts of {} must be one at least",
                metric.response
            );
            crate::ensure!(
                metric.of_unit.is_finite() && metric.of_unit > 0.0,
                "the unit of {} must be a number above 0",
                metric.response
            );
        }
        Ok(())
    }
}

/// A part of a text with placeholders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece<'a> {
    Text(&'a str),
    /// The word of `{word}`.
    Placeholder(&'a str),
    /// The word of `{{word}}`, which is the text `{word}`.
    Braced(&'a str),
}

/// The parts of a text, in their order.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut found = Vec::new();
    let (mut from, mut at) = (0, 0);
    while let Some(open) = text[at..].find('{').map(|offset| at + offset) {
        at = open + 1;
        let doubled = text[at..].starts_with('{');
        let inner = &text[at + usize::from(doubled)..];
        let length = inner.find(|c| !is_word_character(c)).unwrap_or(inner.len());
        let closing = if doubled { "}}" } else { "}" };
        if length == 0 || !inner[length..].starts_with(closing) {
            continue;
        }
        found.push(Piece::Text(&text[from..open]));
        at += usize::from(doubled) + length + closing.len();
        from = at;
        let word = &inner[..length];
        found.push(if doubled { Piece::Braced(word) } else { Piece::Placeholder(word) });
    }
    found.push(Piece::Text(&text[from..]));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(text: &str) -> Result<String, UnknownPlaceholder> {
        let words = [("n".to_string(), [("two".to_string(), "2".to_string())].into())].into();
        let levels = [("n", "two"), ("size_mb", "100")];
        let levels = levels.map(|(factor, level)| (factor.to_string(), level.to_string()));
        Subject { words, ..Subject::default() }.fill(text, &Treatment::from_iter(levels), "/tmp/x")
    }

    #[test]
    fn placeholders_become_the_words_of_levels() {
        assert_eq!(fill("-T{n} {size_mb}M").as_deref(), Ok("-T2 100M"));
        assert_eq!(fill("{scratch}/out{n}{n}").as_deref(), Ok("/tmp/x/out22"));
        assert_eq!(fill("").as_deref(), Ok(""));
    }

    #[test]
    fn other_braces_are_left_as_they_are() {
        for text in ["{ print $1 }", "{}", "a{1,3}", "{", "}", "{n", "x{{", "${HOME}", "é{"] {
            assert_eq!(fill(text).as_deref(), Ok(text));
        }
        assert_eq!(fill("{{n}} and {n}").as_deref(), Ok("{n} and 2"));
        assert_eq!(fill("{{n}").as_deref(), Ok("{2"));
    }

    #[test]
    fn words_before_the_program_set_variables() {
        let (own, command) = split_assignments(&["A=1", "_b2=", "./x", "C=3"]);
        assert_eq!((own, command), (&["A=1", "_b2="][..], &["./x", "C=3"][..]));
        for word in ["=1", "2A=1", "./A=1", "A-B=1", "--a=1", "A", ""] {
            assert_eq!(assignment(word.as_ref()), None, "{word}");
        }
        let value = assignment("A=b=c".as_ref());
        assert_eq!(value, Some(("A".as_ref(), "b=c".as_ref())));
        assert_eq!(program(&["A=1".to_string()]), "");
    }

    #[test]
    fn a_level_may_stand_for_several_arguments_or_for_none() {
        let list = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
        let levels = [("none".to_string(), list(&[])), ("two".to_string(), list(&["-T", "2"]))];
        let lists = [("threads".to_string(), levels.into())].into();
        let subject = Subject { lists, ..Subject::default() };
        let command = list(&["xz", "{threads}", "a{threads}b", "{scratch}", "{}"]);
        let arguments = |level: &str| {
            let treatment = Treatment::from_iter([("threads".to_string(), level.to_string())]);
            subject.arguments(&command, &treatment, "/tmp/x")
        };
        assert_eq!(arguments("none"), Ok(list(&["xz", "ab", "/tmp/x", "{}"])));
        assert_eq!(arguments("two"), Ok(list(&["xz", "-T", "2", "a-T 2b", "/tmp/x", "{}"])));
        assert_eq!(arguments("one"), Ok(list(&["xz", "one", "aoneb", "/tmp/x", "{}"])));
        let unknown = subject.arguments(&list(&["{jobs}"]), &Treatment::default(), "");
        assert_eq!(unknown, Err(UnknownPlaceholder("jobs".into())));
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig {
            failure_persistence: None,
            ..proptest::prelude::ProptestConfig::default()
        })]

        #[test]
        fn a_literal_is_filled_with_itself(word in "([{}]{0,3}[n_ é]{0,2}){0,4}") {
            proptest::prop_assert_eq!(fill(&Subject::literal(&word)), Ok(word));
        }
    }

    #[test]
    fn what_nothing_stands_for_is_named() {
        assert_eq!(fill("-j{jobs}"), Err(UnknownPlaceholder("jobs".into())));
    }
}
