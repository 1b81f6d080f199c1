//! What a traced command did, counted call by call. Nothing here grows with the number of calls, nor with
//! that of the threads and processes that have ended: a build makes hundreds of thousands.

use serde::Serialize;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use sys::Pid;
use sys::calls::{Call, Cloned, error_name, signal_name};
use sys::tracer::{End, Event};

/// Version of the layout of `--json`.
const FORMAT: u32 = 1;

/// The most process and thread numbers that are kept of those that did the same.
const NUMBERS_MAX: usize = 100;

/// Bits of a file's mode by which its program runs with the rights of another.
const SET_ID_BITS: u32 = 0o6000;

/// One system call's figures.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Figures {
    /// The call.
    pub name: Cow<'static, str>,
    /// How often it was called.
    pub calls: u64,
    /// How often each error was the answer.
    pub errors: BTreeMap<Cow<'static, str>, u64>,
}

impl Figures {
    /// Returns how many of the calls failed.
    pub fn failed(&self) -> u64 {
        self.errors.values().sum()
    }
}

/// Threads or processes whose calls are counted together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Group {
    /// The program, by the kernel's name for it (15 characters).
    pub program: String,
    /// What they are: `threads` that were made, or first threads of `processes`.
    pub of: &'static str,
    /// How many threads or processes are counted here.
    pub members: u64,
    /// Their calls, by name.
    pub calls: Vec<Figures>,
}

/// Threads or processes that did the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Numbers {
    /// How often it was done.
    pub count: u64,
    /// The numbers of the first who did, each once.
    #[serde(rename = "pids")]
    pub first: Vec<Pid>,
    /// Who did it last.
    #[serde(skip)]
    pub last: Pid,
}

impl Numbers {
    fn add(&mut self, task: Pid) {
        self.count += 1;
        self.last = task;
        if self.first.len() < NUMBERS_MAX && !self.first.contains(&task) {
            self.first.push(task);
        }
    }

    fn serialize_first<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.first.serialize(to)
    }
}

/// Threads or processes that were made alike.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Made {
    /// What was made: `process`, or `thread` of an existing one.
    pub kind: &'static str,
    /// Those that were made.
    #[serde(flatten)]
    pub tasks: Numbers,
    /// Those that made them.
    #[serde(rename = "by", serialize_with = "Numbers::serialize_first")]
    pub makers: Numbers,
    /// The program that made them.
    pub by_program: String,
    /// The call; empty where its beginning was not seen.
    pub call: String,
    /// The flags that were asked for; absent where they could not be read.
    pub flags: Option<Vec<String>>,
    /// The signal that the maker gets at their end.
    pub exit_signal: Option<Cow<'static, str>>,
}

impl Made {
    fn is_alike(&self, other: &Made) -> bool {
        self.kind == other.kind
            && self.by_program == other.by_program
            && self.call == other.call
            && self.flags == other.flags
            && self.exit_signal == other.exit_signal
    }
}

/// A program that was executed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Executed {
    /// Its file.
    pub path: String,
    /// The processes that did.
    #[serde(flatten)]
    pub by: Numbers,
}

/// Processes of one program that one signal ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Killed {
    /// The program.
    pub program: String,
    /// The signal.
    pub signal: i32,
    /// Its name.
    pub signal_name: Cow<'static, str>,
    /// The processes.
    #[serde(flatten)]
    pub who: Numbers,
}

/// What is known of a living task.
#[derive(Clone, Debug)]
struct Task {
    process: Pid,
    is_thread: bool,
    /// Where its calls are counted, once it has called.
    group: Option<usize>,
}

impl Task {
    fn of(process: Pid, is_thread: bool) -> Self {
        Task { process, is_thread, group: None }
    }
}

/// What a command and all that it made did.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    root: Pid,
    command: Vec<String>,
    tasks: HashMap<Pid, Task>,
    /// The program that each process runs.
    programs: HashMap<Pid, String>,
    /// In the order in which they first called.
    pub groups: Vec<Group>,
    /// In the order in which the first of each was made.
    pub made: Vec<Made>,
    /// Programs executed, after the command itself.
    executed: Vec<Executed>,
    /// Processes that a signal ended.
    pub killed: Vec<Killed>,
    /// Signals delivered, by name.
    signals: BTreeMap<Cow<'static, str>, u64>,
    /// How the command itself ended; `None` while it runs.
    pub root_end: Option<End>,
    /// Programs that ran without the rights that they would have had.
    without_rights: BTreeSet<String>,
    /// Tasks that were left to themselves.
    left: usize,
}

impl Tally {
    /// Begins a tally of a command whose first process is `root`.
    pub fn new(root: Pid, command: &[OsString]) -> Self {
        let mut tally = Tally {
            root,
            command: command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
            ..Tally::default()
        };
        tally.tasks.insert(root, Task::of(root, false));
        tally.look_at_program(root);
        tally
    }

    /// Counts an event. The task that it is about stands still.
    pub fn note(&mut self, event: &Event) {
        match event {
            Event::Entered { task, call, .. } => {
                self.figures(*task, call).calls += 1;
            }
            Event::Left { task, call, result } => {
                if let Err(errno) = result {
                    let errors = &mut self.figures(*task, call).errors;
                    *errors.entry(error_name(*errno)).or_default() += 1;
                }
            }
            Event::Made { by, task, call, cloned } => self.make(*by, *task, *call, *cloned),
            Event::Executed { task, former } => {
                if former != task {
                    self.tasks.remove(former);
                }
                self.tasks.insert(*task, Task::of(*task, false));
                let path = self.look_at_program(*task);
                let new = Executed { path, by: Numbers::default() };
                let index = same(&mut self.executed, new, |known, new| known.path == new.path);
                self.executed[index].by.add(*task);
            }
            Event::Signalled { signal, .. } => {
                *self.signals.entry(signal_name(*signal)).or_default() += 1;
            }
            Event::Ended { task, end } => self.end(*task, *end),
        }
    }

    fn make(&mut self, by: Pid, task: Pid, call: Option<Call>, cloned: Option<Cloned>) {
        let maker = self.process_of(by);
        let is_thread = match cloned {
            Some(cloned) => cloned.is_thread(),
            None => thread_group(task).is_some_and(|process| process != task),
        };
        let process = if is_thread { maker } else { task };
        let by_program = self.program_of(maker);
        self.tasks.insert(task, Task::of(process, is_thread));
        if !is_thread {
            self.programs.insert(task, by_program.clone());
        }
        let signal = cloned.map(|cloned| cloned.exit_signal).filter(|signal| *signal != 0);
        let new = Made {
            kind: if is_thread { "thread" } else { "process" },
            by_program,
            call: call.map_or_else(String::new, |call| call.name().into_owned()),
            flags: cloned.map(|cloned| cloned.names()),
            exit_signal: signal.map(signal_name),
            ..Made::default()
        };
        let index = same(&mut self.made, new, Made::is_alike);
        self.made[index].tasks.add(task);
        self.made[index].makers.add(by);
    }

    fn end(&mut self, task: Pid, end: End) {
        let known = self.tasks.remove(&task);
        if known.is_none_or(|known| known.is_thread) {
            return;
        }
        if let End::Killed(signal) = end {
            let (program, who) = (self.program_of(task), Numbers::default());
            let new = Killed { program, signal, signal_name: signal_name(signal), who };
            let alike = |known: &Killed, new: &Killed| {
                known.program == new.program && known.signal == new.signal
            };
            let index = same(&mut self.killed, new, alike);
            self.killed[index].who.add(task);
        }
        if task == self.root {
            // The kernel may give the number to another process later.
            self.root_end.get_or_insert(end);
        }
        self.programs.remove(&task);
    }

    /// Notes that this number of tasks was left to itself.
    pub fn leave(&mut self, tasks: usize) {
        self.left = tasks;
    }

    /// Reports whether all that the command made was followed to its end.
    pub fn is_complete(&self) -> bool {
        self.left == 0
    }

    fn process_of(&self, task: Pid) -> Pid {
        self.tasks.get(&task).map_or(task, |known| known.process)
    }

    fn program_of(&self, process: Pid) -> String {
        self.programs.get(&process).cloned().unwrap_or_else(|| "?".into())
    }

    fn figures(&mut self, task: Pid, call: &Call) -> &mut Figures {
        let known = self.tasks.get(&task).cloned().unwrap_or_else(|| Task::of(task, false));
        let index = known.group.unwrap_or_else(|| self.join(task, &known));
        let (name, calls) = (call.name(), &mut self.groups[index].calls);
        let at = calls.binary_search_by(|known| known.name.cmp(&name)).unwrap_or_else(|at| {
            calls.insert(at, Figures { name, ..Figures::default() });
            at
        });
        &mut calls[at]
    }

    /// Counts a task where those like it are counted.
    fn join(&mut self, task: Pid, known: &Task) -> usize {
        let program = self.program_of(known.process);
        let of = if known.is_thread { "threads" } else { "processes" };
        let new = Group { program, of, members: 0, calls: Vec::new() };
        let alike = |known: &Group, new: &Group| known.program == new.program && known.of == new.of;
        let index = same(&mut self.groups, new, alike);
        self.groups[index].members += 1;
        self.tasks.insert(task, Task { group: Some(index), ..known.clone() });
        index
    }

    /// Reads which program a process has just begun; returns its path.
    fn look_at_program(&mut self, process: Pid) -> String {
        let name = std::fs::read(format!("/proc/{process}/comm")).unwrap_or_default();
        let name = printable(String::from_utf8_lossy(&name).trim_end_matches('\n'));
        // Empty where the process is gone already.
        let name = if name.is_empty() { "?".into() } else { name };
        self.programs.insert(process, name.clone());
        let exe = format!("/proc/{process}/exe");
        let path = std::fs::read_link(&exe).map_or(name, |path| printable(&path.to_string_lossy()));
        let sets_id =
            std::fs::metadata(&exe).is_ok_and(|file| file.permissions().mode() & SET_ID_BITS != 0);
        if sets_id && !sys::process::is_root() {
            self.without_rights.insert(path.clone());
        }
        path
    }

    /// Returns what should be known before the counts are used.
    pub fn warnings(&self) -> Vec<String> {
        let mut all: Vec<String> = self
            .without_rights
            .iter()
            .map(|path| {
                format!(
                    "{path} is set-user-id or set-group-id and ran without those rights, as every \
                     traced program does unless root traces it"
                )
            })
            .collect();
        match self.left {
            0 => {}
            1 => all.push("1 thread or process had not ended; it goes on, unwatched".into()),
            left => all
                .push(format!("{left} threads or processes had not ended; they go on, unwatched")),
        }
        all
    }

    /// Returns how many of a kind (`thread` or `process`) were made.
    pub fn count_made(&self, kind: &str) -> u64 {
        let made = self.made.iter().filter(|made| made.kind == kind);
        made.map(|made| made.tasks.count).sum()
    }

    /// Returns how many programs were executed after the command itself.
    pub fn executions(&self) -> u64 {
        self.executed.iter().map(|executed| executed.by.count).sum()
    }

    fn all_figures(&self) -> impl Iterator<Item = &Figures> {
        self.groups.iter().flat_map(|group| &group.calls)
    }

    /// Returns how many system calls were made.
    pub fn calls(&self) -> u64 {
        self.all_figures().map(|figures| figures.calls).sum()
    }

    /// Returns how many system calls failed.
    pub fn failed(&self) -> u64 {
        self.all_figures().map(Figures::failed).sum()
    }

    /// Returns the command as it was typed.
    pub fn command(&self) -> String {
        printable(&self.command.join(" "))
    }

    /// Returns all of it as `scruple syscalls --json` prints it.
    pub fn json(&self) -> Value {
        let end = match self.root_end {
            Some(End::Exited(code)) => json!({"code": code}),
            Some(End::Killed(signal)) => {
                json!({"signal": signal, "signal_name": signal_name(signal)})
            }
            None => Value::Null,
        };
        json!({
            "format": FORMAT,
            "command": self.command,
            "pid": self.root,
            "end": end,
            "complete": self.is_complete(),
            "processes_made": self.count_made("process"),
            "threads_made": self.count_made("thread"),
            "calls": self.calls(),
            "errors": self.failed(),
            "made": self.made,
            "executed": self.executed,
            "killed": self.killed,
            "signals": self.signals,
            "groups": self.groups,
            "warnings": self.warnings(),
        })
    }
}

/// Returns where in a list the first entry is that is like `new`, which is put at its end if there is
/// none.
fn same<T>(list: &mut Vec<T>, new: T, alike: impl Fn(&T, &T) -> bool) -> usize {
    list.iter().position(|known| alike(known, &new)).unwrap_or_else(|| {
        list.push(new);
        list.len() - 1
    })
}

/// Returns the process that a task belongs to.
fn thread_group(task: Pid) -> Option<Pid> {
    parse_thread_group(&std::fs::read(format!("/proc/{task}/status")).ok()?)
}

/// Returns the process that a task's status names; the task's name, which stands before it, may be any
/// bytes.
fn parse_thread_group(status: &[u8]) -> Option<Pid> {
    let status = String::from_utf8_lossy(status);
    status.lines().find_map(|line| line.strip_prefix("Tgid:")?.trim().parse().ok())
}

/// Returns text that a traced program chose, without what a terminal would take for a command.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(number: u64) -> Call {
        Call { number, arguments: [0; 6], is_native: true }
    }

    fn tally() -> Tally {
        Tally::new(sys::process::pid(), &["a".into(), "b\u{1b}[31m".into()])
    }

    #[test]
    fn a_task_whose_name_is_not_utf8_still_belongs_to_its_process() {
        assert_eq!(parse_thread_group(b"Name:\ta\xff\xfe\nTgid:\t17\nPid:\t19\n"), Some(17));
        assert_eq!(parse_thread_group(b"Name:\ta\n"), None);
        assert_eq!(parse_thread_group(b"Tgid:\t99999999999\n"), None);
    }

    #[test]
    fn calls_are_counted_when_they_begin_and_errors_when_they_end() {
        let mut tally = tally();
        let task = tally.root;
        for result in [Ok(1), Err(2), Err(2), Err(13)] {
            tally.note(&Event::Entered { task, call: call(0), cloned: None });
            tally.note(&Event::Left { task, call: call(0), result });
        }
        // The last call of a task does not end.
        tally.note(&Event::Entered { task, call: call(1), cloned: None });
        tally.note(&Event::Ended { task, end: End::Exited(3) });
        assert_eq!((tally.calls(), tally.failed()), (5, 3));
        assert_eq!(tally.root_end, Some(End::Exited(3)));
        let json = tally.json();
        assert_eq!(json["end"]["code"], 3);
        let groups = json["groups"].as_array().unwrap();
        assert_eq!(groups.len(), 1);
        let calls = groups[0]["calls"].as_array().unwrap();
        let failing = calls.iter().find(|one| one["calls"] == 4).unwrap();
        assert_eq!(failing["errors"], json!({"ENOENT": 2, "EACCES": 1}));
    }

    #[test]
    fn threads_and_processes_are_kinds_of_their_own() {
        let mut tally = tally();
        let root = tally.root;
        let thread = Cloned::by_clone(0x1_0100);
        let made =
            |by, task, cloned| Event::Made { by, task, call: Some(call(56)), cloned: Some(cloned) };
        tally.note(&made(root, 900_001, thread));
        tally.note(&made(900_001, 900_002, Cloned::by_fork()));
        tally.note(&Event::Entered { task: 900_001, call: call(0), cloned: None });
        tally.note(&Event::Entered { task: 900_002, call: call(0), cloned: None });
        assert_eq!((tally.count_made("thread"), tally.count_made("process")), (1, 1));
        let kinds: Vec<&str> = tally.groups.iter().map(|group| group.of).collect();
        assert_eq!(kinds, ["threads", "processes"]);
        tally.note(&Event::Ended { task: 900_002, end: End::Killed(9) });
        tally.note(&Event::Ended { task: 900_001, end: End::Killed(9) });
        assert_eq!(tally.killed.len(), 1, "a thread's end is its process's");
        assert_eq!(tally.killed[0].who.first, [900_002]);
        assert!(tally.root_end.is_none() && tally.is_complete());
        tally.leave(1);
        assert!(!tally.is_complete() && tally.warnings()[0].contains("had not ended"));
    }

    #[test]
    fn a_long_command_is_counted_in_a_bounded_space() {
        let mut tally = tally();
        let (root, made) = (tally.root, 900_000..901_000);
        for task in made.clone() {
            let cloned = Some(Cloned::by_fork());
            tally.note(&Event::Made { by: root, task, call: Some(call(57)), cloned });
            tally.note(&Event::Entered { task, call: call(0), cloned: None });
            tally.note(&Event::Entered { task, call: call(0), cloned: None });
            tally.note(&Event::Executed { task, former: task });
            tally.note(&Event::Ended { task, end: End::Killed(9) });
        }
        assert_eq!((tally.count_made("process"), tally.calls()), (1000, 2000));
        assert_eq!(tally.executions(), 1000);
        let [made_alike] = &tally.made[..] else { panic!("{:?}", tally.made) };
        assert_eq!(made_alike.tasks.first.len(), NUMBERS_MAX);
        assert_eq!((made_alike.tasks.last, made_alike.makers.count), (900_999, 1000));
        assert_eq!(made_alike.makers.first, [root]);
        let [group] = &tally.groups[..] else { panic!("one kind") };
        assert_eq!(group.members, 1000);
        assert_eq!((tally.killed.len(), tally.executed.len()), (1, 1));
        assert_eq!((tally.tasks.len(), tally.programs.len()), (1, 1));
    }

    #[test]
    fn what_a_program_calls_itself_cannot_paint_the_terminal() {
        assert_eq!(tally().command(), "a b?[31m");
    }
}
