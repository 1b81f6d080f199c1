//! What is to be started, with the words of the treatment in the place of the placeholders.

use crate::text::shown;
use kit::{Result, Stop};
use model::{Spec, Squeeze, Subject, measures};
use std::fs::File;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A subject of which every text is filled in and read.
#[derive(Debug)]
pub(crate) struct Filled {
    pub(crate) subject: Subject,
    folder: PathBuf,
    /// The CPUs it is confined to; none where it may use all of the session's.
    pub(crate) cpus: Option<Vec<u32>>,
    pub(crate) address_space_bytes: Option<u64>,
    pub(crate) memory_bytes: Option<u64>,
    pub(crate) cpus_quota: Option<f64>,
    /// How many workers it was asked to use.
    pub(crate) workers: Option<u32>,
}

impl Filled {
    /// Fills everything in. `scratch` is the trial's own folder.
    ///
    /// # Errors
    /// A placeholder that nothing stands for, or a text that is no number where one is needed.
    pub(crate) fn of(subject: &Subject, spec: &Spec, scratch: &str) -> Result<Self> {
        let subject = subject
            .filled(&spec.treatment, scratch)
            .map_err(|error| Stop::failed(error.to_string()))?;
        let limits = &subject.limits;
        let size = |what, text: &str| number(what, text, "a size, such as 512MiB", measures::bytes);
        let right = "a number of CPUs, such as 0.5";
        let cpus_quota: Option<f64> =
            number("the quota of CPU time", &limits.cpus_quota, right, |text| text.parse().ok())?;
        if cpus_quota.is_some_and(|cpus| !cpus.is_finite() || cpus < 0.1) {
            return Err(Stop::failed("the quota of CPU time must be at least 0.1 CPUs"));
        }
        let workers =
            number("the number of workers", &subject.workers, "a whole number", |text| {
                text.parse().ok()
            })?;
        let squeezed = subject.squeeze.as_ref().and_then(|factor| spec.treatment.level(factor));
        let squeeze = squeezed.and_then(Squeeze::of_level);
        let may_use_all = squeeze.is_some_and(|squeeze| !squeeze.needs_cpu_beside());
        let folder = if subject.folder.is_empty() { scratch } else { &subject.folder };
        Ok(Filled {
            folder: PathBuf::from(folder),
            cpus: if may_use_all { None } else { cpus(subject.cpus.trim(), spec)? },
            address_space_bytes: size("the limit on address space", &limits.address_space_bytes)?,
            memory_bytes: size("the limit on memory", &limits.memory_bytes)?,
            cpus_quota,
            workers: workers.filter(|workers| *workers > 0),
            subject,
        })
    }

    /// The program, with its environment, folder and standard input. Its standard output and
    /// error are the caller's to give.
    ///
    /// # Errors
    /// A folder or a file for its standard input that is not there.
    pub(crate) fn command(&self) -> Result<Command> {
        let mut command = self.bare(&self.subject.command)?;
        if !self.subject.stdin.is_empty() {
            // As for a shell that stands in that folder.
            let path = self.folder.join(&self.subject.stdin);
            let file = File::open(&path).map_err(|error| {
                Stop::failed(format!("its standard input, {}: {error}", path.display()))
            })?;
            command.stdin(file);
        }
        Ok(command)
    }

    /// A command beside the program: in the same folder and environment, without input.
    ///
    /// # Errors
    /// A folder that is not there.
    pub(crate) fn bare(&self, words: &[String]) -> Result<Command> {
        // Else the kernel's "not found" would be taken for the program's.
        if !self.folder.is_dir() {
            let folder = self.folder.display();
            return Err(Stop::failed(format!("its folder, {folder}, is no folder here")));
        }
        let (variables, words) = model::split_assignments(words);
        let Some((program, arguments)) = words.split_first() else {
            return Err(Stop::failed("a command has no program"));
        };
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&self.folder).stdin(Stdio::null());
        if self.subject.clear_environment {
            // The padding is the trial's, whatever environment the program gets: it moves the stack.
            let padding = std::env::var_os(PADDING);
            command.env_clear().envs(padding.map(|padding| (PADDING, padding)));
        }
        command.envs(&self.subject.environment);
        command.envs(variables.iter().filter_map(|word| model::assignment(word.as_ref())));
        Ok(command)
    }

    /// The program's name, for people.
    pub(crate) fn name(&self) -> String {
        shown(model::program(&self.subject.command).as_bytes(), 200)
    }
}

/// The variable by which a trial's environment gets another size than the last one's.
const PADDING: &str = "SCRUPLE_PADDING";

/// A command line for people: its words with blanks between them.
pub(crate) fn line(words: &[String]) -> String {
    shown(words.join(" ").as_bytes(), 200)
}

/// The number in a filled text; an empty one holds none.
fn number<T>(
    what: &str,
    text: &str,
    right: &str,
    read: impl FnOnce(&str) -> Option<T>,
) -> Result<Option<T>> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let no_number =
        || Stop::failed(format!("{what} is “{}”: it must be {right}", shown(text.as_bytes(), 80)));
    read(text).map(Some).ok_or_else(no_number)
}

fn cpus(text: &str, spec: &Spec) -> Result<Option<Vec<u32>>> {
    match text {
        "" | "all" => Ok(None),
        "one" => match spec.cpus.last() {
            Some(last) => Ok(Some(vec![*last])),
            None => Err(Stop::failed("the plan gives no CPU")),
        },
        list => sys::affinity::parse_list(list)
            .map(Some)
            .map_err(|error| Stop::failed(format!("its CPUs: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{SubjectLimits, Treatment};

    fn spec() -> Spec {
        let treatment = Treatment::from_iter([("n".to_string(), "4".to_string())]);
        Spec { treatment, cpus: vec![0, 1, 5], ..Spec::default() }
    }

    fn filled(subject: Subject) -> Result<Filled> {
        Filled::of(&subject, &spec(), "/scratch")
    }

    fn program() -> Subject {
        Subject { command: vec!["work".into(), "-j{n}".into()], ..Subject::default() }
    }

    #[test]
    fn every_text_is_filled_in() {
        let limits = SubjectLimits {
            address_space_bytes: "{n}000".into(),
            memory_bytes: String::new(),
            cpus_quota: "0.{n}".into(),
        };
        let subject = Subject {
            prepare: vec![vec!["touch".into(), "{scratch}/{n}".into()]],
            environment: [("JOBS".to_string(), "{n}".to_string())].into(),
            workers: "{n}".into(),
            cpus: "one".into(),
            limits,
            ..program()
        };
        let filled = filled(subject).unwrap();
        assert_eq!(filled.subject.command, ["work", "-j4"]);
        assert_eq!(filled.subject.prepare, [["touch", "/scratch/4"]]);
        assert_eq!(filled.subject.environment["JOBS"], "4");
        assert_eq!(filled.folder, PathBuf::from("/scratch"));
        assert_eq!((filled.workers, filled.cpus), (Some(4), Some(vec![5])));
        assert_eq!(filled.address_space_bytes, Some(4000));
        assert_eq!((filled.memory_bytes, filled.cpus_quota), (None, Some(0.4)));
    }

    #[test]
    fn words_before_the_program_are_its_environment() {
        let command = ["JOBS={n}", "LC_ALL=C", "work", "A=1"].map(String::from).to_vec();
        let subject = Subject { command, folder: "/".into(), ..program() };
        let filled = filled(subject).unwrap();
        let command = filled.command().unwrap();
        assert_eq!((command.get_program(), filled.name().as_str()), ("work".as_ref(), "work"));
        assert_eq!(command.get_args().collect::<Vec<_>>(), ["A=1"]);
        let own = |name: &str| command.get_envs().find(|(key, _)| *key == name).unwrap().1.unwrap();
        assert_eq!((own("JOBS"), own("LC_ALL")), ("4".as_ref(), "C".as_ref()));
        let none =
            Subject { command: vec!["A=1".into()], folder: "/".into(), ..Subject::default() };
        let none = Filled::of(&none, &spec(), "/").unwrap();
        assert!(none.command().is_err());
    }

    #[test]
    fn a_program_may_use_all_cpus_unless_a_co_runner_needs_one() {
        for (level, cpus) in [
            (model::NOTHING, None),
            ("cpu-50", None),
            ("storage-100", None),
            (model::BESIDE, Some(vec![1, 5])),
            ("memory-100", Some(vec![1, 5])),
        ] {
            let squeeze = [("squeeze".to_string(), level.to_string())];
            let spec = Spec { treatment: Treatment::from_iter(squeeze), ..spec() };
            let command = vec!["work".into()];
            let squeeze = Some("squeeze".into());
            let subject = Subject { command, cpus: "1,5".into(), squeeze, ..Subject::default() };
            assert_eq!(Filled::of(&subject, &spec, "/scratch").unwrap().cpus, cpus, "{level}");
        }
    }

    #[test]
    fn a_shell_gets_one_text() {
        let subject =
            Subject { command: vec!["a {n} | b".into()], shell: true, ..Subject::default() };
        assert_eq!(filled(subject).unwrap().subject.command, ["/bin/sh", "-c", "a 4 | b"]);
    }

    #[test]
    fn what_is_no_number_is_said_with_its_text() {
        let wrong = |subject: Subject| match filled(subject) {
            Err(Stop::Failed(reason)) => reason,
            other => panic!("{other:?}"),
        };
        let limits = |text: &str| SubjectLimits { memory_bytes: text.into(), ..Default::default() };
        let reason = wrong(Subject { limits: limits("4G\u{1b}[2J"), ..program() });
        assert!(reason.contains("a size, such as 512MiB"), "{reason}");
        assert!(!reason.contains('\u{1b}'), "{reason}");
        assert!(wrong(Subject { cpus: "0-".into(), ..program() }).starts_with("its CPUs: "));
        assert!(wrong(Subject { workers: "many".into(), ..program() }).contains("many"));
        let quota = SubjectLimits { cpus_quota: "0".into(), ..Default::default() };
        assert!(wrong(Subject { limits: quota, ..program() }).contains("at least 0.1"));
    }
}
