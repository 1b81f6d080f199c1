//! Whether the programs and files that a design names are there, looked at before the first trial: a
//! missing program is one clear error, and not one failed trial after another.

use model::{Design, Profile, SCRATCH, Subject, Treatment};
use std::collections::BTreeSet;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Stands for the trial's own folder, in which nothing lies yet.
const HERE: &str = "\u{1}";

/// Folders whose files the kernel makes when they are read.
const OF_KERNEL: [&str; 3] = ["/proc", "/sys", "/dev"];

/// Among this number of words stands the program that another one starts.
const LAUNCHER_WORDS: usize = 8;

/// Where programs are looked for without a PATH.
const PATH: &str = "/bin:/usr/bin";

/// The longest first line of a script that Linux reads (BINPRM_BUF_SIZE).
const LINE_BYTES: usize = 256;

/// Something that a design names and that is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The key of a study that names it.
    pub key: &'static str,
    /// What is wrong with it.
    pub what: String,
}

/// Returns the first thing that a design's program names and that is not there: a folder, a file, or a
/// program that cannot be executed. `None` if nothing is missing.
pub fn missing(design: &Design) -> Option<Missing> {
    let subject = design.subject.as_ref()?;
    let mut seen = BTreeSet::new();
    design.treatments(Profile::Thorough).iter().find_map(|treatment| {
        let mut new = |text: &str| seen.insert(text.to_string());
        of_treatment(subject, treatment, &mut new)
    })
}

/// A program that is looked for in the folders of a PATH.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lookup {
    program: String,
    folder: String,
    path: String,
}

impl Lookup {
    /// Returns where it is found now.
    pub fn find(&self) -> Option<PathBuf> {
        in_path(&self.program, &self.folder, &self.path).find(|file| is_executable(file))
    }
}

/// Returns the programs that the commands of a treatment look for in a PATH, those of an `env` in the first line
/// of a script included.
pub fn looked_up(subject: &Subject, treatment: &Treatment) -> BTreeSet<Lookup> {
    let Ok(filled) = subject.filled(treatment, HERE) else { return BTreeSet::new() };
    let fill = |text: &str| subject.fill(text, treatment, HERE).ok();
    let mut all = BTreeSet::new();
    for words in filled.prepare.iter().chain([&filled.command]).chain(&filled.cleanup) {
        let path = path_of(subject, words, &fill);
        let lookup = |program: &str| Lookup {
            program: program.into(),
            folder: filled.folder.clone(),
            path: path.clone(),
        };
        let program = model::program(words);
        let file = match program.contains('/') {
            true => Some(Path::new(&filled.folder).join(program)),
            false => lookup(program).find(),
        };
        all.extend((!program.contains('/')).then(|| lookup(program)));
        let interpreter = file.map(|file| interpreter(&file)).unwrap_or_default();
        if let [env, program] = &interpreter[..]
            && env.ends_with("/env")
        {
            all.insert(lookup(program));
        }
    }
    all
}

/// Returns the first two words of a script's first line behind `#!`; nothing of another file.
fn interpreter(file: &Path) -> Vec<String> {
    let line = first_line(file).unwrap_or_default();
    let words = line.split_whitespace().filter(|word| !word.starts_with('-'));
    words.take(2).map(String::from).collect()
}

/// Returns a script's first line behind `#!`; `None` of another file.
fn first_line(file: &Path) -> Option<String> {
    let mut begin = [0; LINE_BYTES];
    let read = std::fs::File::open(file).and_then(|mut file| file.read(&mut begin)).ok()?;
    let line = begin[..read].split(|byte| *byte == b'\n').next()?;
    Some(String::from_utf8_lossy(line.strip_prefix(b"#!")?).into_owned())
}

/// Returns the files that the commands of a treatment name: programs and what interprets them, and words and
/// values of variables that are paths of files. Those in the trial's own folder are not there yet.
pub fn named_files(subject: &Subject, treatment: &Treatment) -> BTreeSet<PathBuf> {
    let Ok(filled) = subject.filled(treatment, HERE) else { return BTreeSet::new() };
    let fill = |text: &str| subject.fill(text, treatment, HERE).ok();
    let folder = Path::new(&filled.folder);
    let mut named = BTreeSet::from([folder.join(&filled.stdin)]);
    named.extend(looked_up(subject, treatment).iter().filter_map(Lookup::find));
    let values = subject.environment.values().filter_map(|value| fill(value));
    let commands = || filled.prepare.iter().chain([&filled.command]).chain(&filled.cleanup);
    for words in commands() {
        // What starts another program (env, nice, taskset, time) names it among its first words.
        let path = path_of(subject, words, &fill);
        named.extend(words.iter().take(LAUNCHER_WORDS).filter_map(|program| {
            let (program, folder, path) = (program.clone(), filled.folder.clone(), path.clone());
            Lookup { program, folder, path }.find()
        }));
    }
    let texts: Vec<String> = commands().flatten().cloned().chain(values).collect();
    // A text may be a line for a shell, or name its files in a list, or behind a `=`, an `@` or an option's letter.
    let parts = texts.iter().flat_map(|text| {
        let pieces = text.split(|c: char| c.is_whitespace() || "=;|&<>()\"'`:,@".contains(c));
        let behind = pieces.clone().filter_map(|piece| piece.strip_prefix('-')?.get(1..));
        pieces.chain(behind).chain([text.as_str()])
    });
    named.extend(parts.filter(|part| !part.is_empty()).map(|part| folder.join(part)));
    let interpreters: Vec<PathBuf> =
        named.iter().filter_map(|file| interpreter(file).first().map(PathBuf::from)).collect();
    named.extend(interpreters);
    let is_of_kernel = |file: &PathBuf| OF_KERNEL.iter().any(|folder| file.starts_with(folder));
    named.retain(|file| file.is_absolute() && !is_of_kernel(file) && file.is_file());
    named
}

/// Returns what a treatment lacks; `new` reports whether a text has not been looked at yet.
fn of_treatment(
    subject: &Subject,
    treatment: &Treatment,
    new: &mut dyn FnMut(&str) -> bool,
) -> Option<Missing> {
    // What lies in the trial's own folder is not there yet.
    let fill = |text: &str| {
        let filled = subject.fill(text, treatment, "").ok()?;
        let own = format!("{{{SCRATCH}}}");
        (!text.contains(&own)).then_some(filled)
    };
    let folder = fill(&subject.folder)?;
    if !folder.is_empty() && new(&folder) && !Path::new(&folder).is_dir() {
        let what = format!("the folder {folder} is not there");
        return Some(Missing { key: "folder", what });
    }
    if let Some(stdin) = fill(&subject.stdin).filter(|stdin| !stdin.is_empty())
        && subject.prepare.is_empty()
        && !Path::new(&stdin).is_file()
    {
        let what = format!("the file {stdin} is not there");
        return Some(Missing { key: "stdin", what });
    }
    let command = if subject.shell { &[][..] } else { std::slice::from_ref(&subject.command) };
    for (key, commands) in
        [("prepare", &subject.prepare[..]), ("command", command), ("cleanup", &subject.cleanup)]
    {
        for words in commands {
            let words = subject.arguments(words, treatment, HERE).ok()?;
            let program = model::program(&words);
            if program.contains(HERE) {
                return None;
            }
            // What prepares the trial may make the program that is called by its path.
            let made = key != "prepare" && program.contains('/') && !subject.prepare.is_empty();
            if made || !new(&format!("{key} {program}")) {
                continue;
            }
            let path = path_of(subject, &words, &fill);
            if let Some(what) = absent(program, &folder, &path) {
                return Some(Missing { key, what });
            }
        }
    }
    None
}

/// Returns the folders in which the program of a command is looked for.
fn path_of(subject: &Subject, words: &[String], fill: &dyn Fn(&str) -> Option<String>) -> String {
    let (set, _) = model::split_assignments(words);
    let set = set.iter().find_map(|word| word.strip_prefix("PATH=")).map(String::from);
    let own = set.or_else(|| subject.environment.get("PATH").and_then(|path| fill(path)));
    let inherited = || {
        let path = std::env::var_os("PATH").filter(|_| !subject.clear_environment)?;
        Some(path.to_string_lossy().into_owned())
    };
    own.or_else(inherited).unwrap_or_else(|| PATH.to_string())
}

/// Returns why a program cannot be started; `None` if it can.
fn absent(program: &str, folder: &str, path: &str) -> Option<String> {
    if program.is_empty() {
        return Some("it names no program".into());
    }
    if program.contains('/') {
        let file = Path::new(folder).join(program);
        if is_executable(&file) {
            return without_interpreter(&file);
        }
        let shown = file.display();
        return Some(match (file.is_dir(), file.exists()) {
            (true, _) => format!("{shown} is a folder, no program"),
            (_, true)
                if first_line(&file).is_some() || file.extension().is_none_or(|it| it == "out") =>
            {
                format!("{shown} may not be executed; chmod +x makes it a program")
            }
            (_, true) => format!("{shown} is not executable"),
            (false, false) => format!("there is no program {shown}"),
        });
    }
    if in_path(program, folder, path).any(|file| is_executable(&file)) {
        return None;
    }
    let beside = is_executable(&Path::new(folder).join(program));
    Some(if beside {
        format!("no program {program:?} is in PATH; the one in {folder} is \"./{program}\"")
    } else {
        format!("no program {program:?} is in PATH ({path}); install it, or name its path")
    })
}

/// Returns what the first line of a script lacks; `None` where it names an interpreter that is there, or of a program.
fn without_interpreter(file: &Path) -> Option<String> {
    let line = first_line(file)?;
    let shown = file.display();
    if line.ends_with('\r') {
        return Some(format!(
            "the first line of {shown} ends with a carriage return, which no interpreter has in its name; \
             sed -i 's/\\r$//' {shown} removes them"
        ));
    }
    let interpreter = line.split_whitespace().next()?;
    let is_there = !interpreter.starts_with('/') || Path::new(interpreter).exists();
    (!is_there)
        .then(|| format!("{interpreter}, which {shown} names in its first line, is not there"))
}

/// Returns where a program is looked for.
fn in_path(program: &str, folder: &str, path: &str) -> impl Iterator<Item = PathBuf> {
    let places = path.split(':').map(|place| if place.is_empty() { "." } else { place });
    places.map(move |place| Path::new(folder).join(place).join(program))
}

fn is_executable(file: &Path) -> bool {
    let any = |rights: std::fs::Permissions| rights.mode() & 0o111 != 0;
    std::fs::metadata(file).is_ok_and(|facts| facts.is_file() && any(facts.permissions()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_that_words_name_are_found() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["prog", "data", "script.py", "in", "cfg", "w.awk"] {
            std::fs::write(dir.path().join(name), name).unwrap();
        }
        let words = |words: &[&str]| words.iter().map(|word| word.to_string()).collect();
        let subject = Subject {
            command: words(&["env", "./prog", "{x}", "--in=data", "/proc/stat", "{scratch}/data"]),
            prepare: vec![
                words(&["sh", "-c", "cat script.py>/dev/null"]),
                words(&["nice", "-n", "1", "true", "@cfg", "-fw.awk"]),
            ],
            folder: dir.path().display().to_string(),
            stdin: "in".into(),
            ..Subject::default()
        };
        let treatment = Treatment::from_iter([("x".into(), "prog".into())]);
        let found = named_files(&subject, &treatment);
        let own: Vec<&str> = found
            .iter()
            .filter_map(|file| file.strip_prefix(dir.path()).ok()?.to_str())
            .map(|name| name.trim_start_matches("./"))
            .collect();
        let own: BTreeSet<&str> = own.into_iter().collect();
        assert_eq!(own, BTreeSet::from(["prog", "data", "script.py", "in", "cfg", "w.awk"]));
        let names = |name: &str| found.iter().any(|file| file.ends_with(name));
        assert!(
            names("sh") && names("env") && names("true") && !names("null") && !names("stat"),
            "{found:?}"
        );
    }

    #[test]
    fn programs_are_looked_for_as_they_will_be() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().display().to_string();
        let absent = |program: &str| absent(program, &folder, "/bin:/usr/bin");
        assert_eq!(absent("sh"), None);
        assert_eq!(absent("/bin/sh"), None);
        assert!(absent("").unwrap().contains("no program"));
        assert!(absent("no-such-program").unwrap().contains("(/bin:/usr/bin)"));
        assert!(absent("./no").unwrap().starts_with("there is no program"));
        assert!(
            absent("..").unwrap().contains("PATH") && absent("./.").unwrap().contains("folder")
        );
        std::fs::write(dir.path().join("own"), "#!/bin/sh\n").unwrap();
        assert!(absent("./own").unwrap().contains("chmod +x"));
        std::fs::write(dir.path().join("own.c"), "int x;").unwrap();
        assert!(absent("./own.c").unwrap().ends_with("is not executable"));
        let mut rights = std::fs::metadata(dir.path().join("own")).unwrap().permissions();
        std::os::unix::fs::PermissionsExt::set_mode(&mut rights, 0o755);
        std::fs::set_permissions(dir.path().join("own"), rights).unwrap();
        assert_eq!(absent("./own"), None);
        for (line, why) in [("#!/no/such/sh -e", "/no/such/sh, which"), ("#!/bin/sh\r", "carriage")]
        {
            std::fs::write(dir.path().join("own"), format!("{line}\necho\n")).unwrap();
            assert!(absent("./own").unwrap().contains(why), "{line}");
        }
        assert!(absent("own").unwrap().contains("\"./own\""));
    }

    #[test]
    fn what_a_trial_makes_for_itself_is_not_looked_for() {
        let of = |prepare: &[&[&str]], command: &[&str]| {
            let list = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
            let subject = Subject {
                command: list(command),
                prepare: prepare.iter().map(|words| list(words)).collect(),
                folder: "/".into(),
                ..Subject::default()
            };
            let mut seen = BTreeSet::new();
            of_treatment(&subject, &Treatment::default(), &mut |it| seen.insert(it.to_string()))
        };
        assert_eq!(of(&[], &["{scratch}/made"]), None);
        assert_eq!(of(&[&["sh"]], &["/no/such/program"]), None);
        assert_eq!(of(&[], &["/no/such/program"]).unwrap().key, "command");
        assert_eq!(of(&[], &["PATH=/bin", "A=1", "sh"]), None);
        assert!(of(&[], &["PATH=/no", "sh"]).unwrap().what.contains("(/no)"));
        assert_eq!(of(&[&["no-such-program"]], &["/no"]).unwrap().key, "prepare");
    }
}
