//! A study to begin from, made of two commands or more.

use crate::spoken::Spoken;
use std::fmt::Write;

/// A commented study that compares some commands. It is understood by [`crate::read`], whatever the commands. They
/// run in `folder`, where that is not the one in which the study lies.
///
/// # Errors
/// There is one command alone.
pub fn example(commands: &[Spoken], folder: Option<&str>) -> Result<String, String> {
    model::ensure!(commands.len() >= 2, "a study to begin from compares two commands at least");
    // What only a shell understands is left to one.
    let shell = commands.iter().any(|command| command.shell.is_some());
    let mut levels = String::new();
    let mut names: Vec<String> = Vec::new();
    for (index, command) in commands.iter().enumerate() {
        let whole = command.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut name = whole.clone();
        let count = whole.chars().count();
        if count > 40 {
            name = whole.chars().take(39).chain(['…']).collect();
            // Long commands mostly differ at their ends.
            if names.contains(&name) && commands[..index].iter().all(|it| it.text != command.text) {
                name = std::iter::once('…').chain(whole.chars().skip(count - 39)).collect();
            }
        }
        while names.contains(&name) {
            name.push_str(" again");
        }
        let word = if shell { quoted(&command.for_sh()) } else { list(&command.words) };
        let _ = writeln!(levels, "  {{ name = {}, word = {word} }},", quoted(&name));
        names.push(name);
    }
    let (command, note) = if shell {
        ("\"{command}\"\nshell = true", "one text for /bin/sh, whose start is timed with it")
    } else {
        ("[\"{command}\"]", "a list of words, taken as they are: there is no shell")
    };
    let folder = folder.map(|folder| format!("folder = {}\n", quoted(folder))).unwrap_or_default();
    let (first, second) = (quoted(&names[0]), quoted(&names[1]));
    let (base, other) = (plain(&names[0]), plain(&names[1]));
    Ok(format!(
        "# A study of your own programs. Try it:  scruple study THIS_FILE --dry-run\n\
         # Every key is described in docs/studies.md.\n\n\
         question = {}\n\n\
         # The command of every trial: {note}.\n\
         # {{command}} stands for the word of the factor's level.\n\
         command = {command}\n{folder}\n\
         # What is varied. The first level is the baseline that the others are compared with.\n\
         # A factor of numbers would be:  n = [1, 2, 4, 8]  or  n = \"1..8\"  with {{n}} in the command.\n\
         [factors.command]\nlevels = [\n{levels}]\n\n\
         # What you expect, and what would refute it.\n\
         [[claims]]\n\
         text = {}\nsource = \"me\"\n\
         ratio = {{ of = {{ command = {second} }}, to = {{ command = {first} }}, response = \"wall_ns\" }}\n\
         holds = \"< 1\"\n\n\
         # Numbers that the program prints, such as \"speed: 12.5 MB/s\":\n\
         # [metrics.speed]\n\
         # regex = 'speed: (\\S+) MB/s'\n\
         # unit = \"MB/s\"\n",
        quoted(&format!("Which costs less: {base} or {other}?")),
        quoted(&format!("{other} takes less time than {base}.")),
    ))
}

/// A commented study that compares some programs as courses ask for it: each does three kinds of work with one to
/// eight workers, on one CPU and on all. A program is called with the kind of work and the number of workers.
///
/// # Errors
/// There is one program alone, or one of them takes a shell.
pub fn course(commands: &[Spoken], folder: Option<&str>) -> Result<String, String> {
    model::ensure!(commands.len() >= 2, "a comparison takes two programs at least");
    let mut levels = String::new();
    let mut names: Vec<String> = Vec::new();
    for command in commands {
        let name = program(command, commands)?;
        let _ =
            writeln!(levels, "  {{ name = {}, word = {} }},", quoted(&name), list(&command.words));
        names.push(name);
    }
    let folder = folder.map(|folder| format!("folder = {}\n", quoted(folder))).unwrap_or_default();
    let (first, second) = (quoted(&names[0]), quoted(&names[1]));
    let claims = ["cpu", "mem", "io"].map(|work| {
        format!(
            "[[claims]]\n\
             text = {}\nsource = \"me\"\n\
             ratio = {{ of = {{ program = {second}, work = \"{work}\", n = 4 }}, \
             to = {{ program = {first}, work = \"{work}\", n = 4 }}, response = \"wall_ns\" }}\n\
             holds = \"within 5% of 1\"\n\n",
            quoted(&format!(
                "Four workers on {work} take the same time in both programs (within 5 %)."
            ))
        )
    });
    let figures = ["cpu", "mem", "io"].map(|work| {
        format!(
            "[figures.{work}]\ntitle = \"Execution time against number of workers: {work}\"\n\
             shows = \"wall_ns over n by program and cpus where work={work}\"\n\n"
        )
    });
    Ok(format!(
        "# Two programs that do the same work in another way. Try it:  scruple study THIS_FILE --dry-run\n\
         # Every key is described in docs/studies.md.\n\n\
         question = {}\n\n\
         # Each trial calls a program with the kind of work and the number of workers: ./A cpu 4\n\
         command = [\"{{program}}\", \"{{work}}\", \"{{n}}\"]\n\
         workers = \"{{n}}\"\naffinity = \"{{cpus}}\"\n{folder}\
         # The memory of trials below about 0.1 s is that of their memory cgroup, where one can be made.\n\
         responses = [\"wall\", \"cpu_share\", \"peak_pss\", \"peak_cgroup\", \"written\"]\n\n\
         # What is varied. The first level of each is the baseline.\n\
         [factors.program]\nlevels = [\n{levels}]\n\n\
         [factors.work]\nlevels = [\"cpu\", \"mem\", \"io\"]\n\n\
         [factors.n]\nlevels = \"1..8\"\nlabel = \"workers\"\n\n\
         [factors.cpus]\nlevels = [{{ name = \"all CPUs\", word = \"all\" }}, \
         {{ name = \"one CPU\", word = \"one\" }}]\n\n\
         {}[figures.memory]\ntitle = \"Peak memory against number of workers: mem\"\n\
         shows = \"peak_pss_bytes, peak_cgroup_bytes over n by program where work=mem\"\n\n\
         # What you expect, and what would refute it.\n{}",
        quoted(&format!("Which costs less for the same work: {} or {}?", names[0], names[1])),
        figures.concat(),
        claims.concat().trim_end(),
    ) + "\n")
}

/// Returns what a program is called among those that are compared: its file's name, or the whole command where
/// others have the same, as scripts of one interpreter do.
fn program(command: &Spoken, commands: &[Spoken]) -> Result<String, String> {
    let text = &command.text;
    model::ensure!(
        command.shell.is_none(),
        "--compare takes programs, and {text} is a line for a shell"
    );
    model::ensure!(
        !text.contains(['{', '}']),
        "--compare adds {{work}} and {{n}} itself; name the program alone in place of {text}"
    );
    let same = commands.iter().filter(|it| *it == command).count();
    model::ensure!(same == 1, "{text} is there twice");
    let file = |command: &Spoken| {
        let first = command.words.first().map_or("", String::as_str);
        first.rsplit('/').next().unwrap_or(first).to_string()
    };
    let alike = commands.iter().filter(|it| file(it) == file(command)).count();
    Ok(if alike == 1 { file(command) } else { text.clone() })
}

/// A name within a sentence.
fn plain(name: &str) -> String {
    name.replace(['{', '}'], "")
}

fn list(words: &[String]) -> String {
    format!("[{}]", words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(", "))
}

/// A text as TOML writes it: as in JSON, with an escape for each control character.
fn quoted(text: &str) -> String {
    let escaped = |c: char| match c.is_control() {
        true => format!("\\u{:04X}", u32::from(c)),
        false => c.to_string(),
    };
    serde_json::Value::from(text).to_string().chars().map(escaped).collect()
}
