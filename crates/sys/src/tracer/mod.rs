//! Following processes and threads by `ptrace`, with all that they make.
//!
//! Where [`StopCounter`] counts the stops of one child, [`Tracer`] tells what
//! they are: which call with which arguments and result, who made whom, who
//! executed what, which signals came and how each task ended. Both use
//! `PTRACE_SEIZE`: signals are handed on as they came, and a stopped job stays
//! stopped (`PTRACE_LISTEN`). A traced process is killed if the tracer ends
//! (`PTRACE_O_EXITKILL`).
//!
//! A *task* is what the kernel schedules: a thread, or a process's first
//! thread, whose number is the process's. What is made with `CLONE_UNTRACED`
//! is not followed. All must be done by one thread: the kernel knows a tracer
//! by its thread.

mod launch;
mod request;
mod stops;

pub use request::Memory;
pub use stops::{Followed, StopCounter};

use crate::calls::{CLONE_ARGS_BYTES, Call, Cloned};
use crate::{Pid, Result};
use request::{Info, Waited, event_message, plain, seize, syscall_info, wait_for};
use std::collections::{HashMap, HashSet};

/// What `PTRACE_O_TRACESYSGOOD` adds to the signal of a system-call stop.
const SYSCALL_STOP: i32 = libc::SIGTRAP | 0x80;

/// `PTRACE_EVENT_STOP`: the first stop of a new task, or a stop of its group.
const EVENT_STOP: i32 = 128;

/// Something that a traced task did. The task stands still until the next one
/// is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A system call begins.
    Entered {
        /// Whose.
        task: Pid,
        /// Which.
        call: Call,
        /// What it asks for, if it makes a thread or a process.
        cloned: Option<Cloned>,
    },
    /// A system call ends. The calls that end a task have no end of their own.
    Left {
        /// Whose.
        task: Pid,
        /// Which.
        call: Call,
        /// Its result, or its error number.
        result: std::result::Result<i64, i32>,
    },
    /// A task was made, which is followed from now on.
    Made {
        /// Who made it.
        by: Pid,
        /// Its number.
        task: Pid,
        /// By which call; absent if its beginning was not seen.
        call: Option<Call>,
        /// What was asked for.
        cloned: Option<Cloned>,
    },
    /// A program was executed. All other threads of the process end by it.
    Executed {
        /// The process.
        task: Pid,
        /// The thread that asked for it, which now has the process's number.
        former: Pid,
    },
    /// A signal is about to be delivered.
    Signalled {
        /// To whom.
        task: Pid,
        /// Which.
        signal: i32,
    },
    /// A task is gone.
    Ended {
        /// Which.
        task: Pid,
        /// How.
        end: End,
    },
}

/// How a task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum End {
    /// With an exit code.
    Exited(i32),
    /// By a signal.
    Killed(i32),
}

/// What there is at the moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// Something happened.
    Event(Event),
    /// Nothing yet. SIGCHLD comes when there is something.
    Nothing,
    /// All tasks have ended.
    Over,
}

/// How a task goes on after its event was handed out.
#[derive(Debug, Clone, Copy)]
enum GoOn {
    /// With a signal, or 0.
    Run(i32),
    /// It stays stopped with its group until SIGCONT comes.
    Listen,
}

/// What is known of a task.
#[derive(Debug, Default)]
struct Task {
    /// The call it is in.
    call: Option<Call>,
    cloned: Option<Cloned>,
}

/// Follows a process and all that it makes.
#[derive(Debug)]
pub struct Tracer {
    root: Pid,
    tasks: HashMap<Pid, Task>,
    /// New tasks whose first stop came before their makers' word of them.
    early: HashSet<Pid>,
    /// The task whose event was handed out last.
    held: Option<(Pid, GoOn)>,
}

impl Tracer {
    /// Attaches to the child `pid`, which must have one thread, and stops it.
    /// It goes on with the first call of [`Tracer::next_event`].
    ///
    /// # Errors
    /// Unsupported where tracing is forbidden; `ESRCH` where the child has ended.
    pub fn attach(pid: Pid) -> Result<Self> {
        let follow = libc::PTRACE_O_TRACECLONE
            | libc::PTRACE_O_TRACEFORK
            | libc::PTRACE_O_TRACEVFORK
            | libc::PTRACE_O_TRACEEXEC;
        seize(pid, follow)?;
        Ok(Self {
            root: pid,
            tasks: HashMap::from([(pid, Task::default())]),
            early: HashSet::new(),
            held: Some((pid, GoOn::Run(0))),
        })
    }

    /// The process that was attached to.
    pub fn root(&self) -> Pid {
        self.root
    }

    /// The tasks that live, as far as is known.
    pub fn tasks(&self) -> impl Iterator<Item = Pid> {
        self.tasks.keys().copied()
    }

    /// The memory of the task whose event was handed out last.
    pub fn memory(&self, task: Pid) -> Memory {
        Memory(task)
    }

    /// Lets the last task go on and waits for the next event; `None` once all
    /// tasks have ended.
    ///
    /// # Errors
    /// What `ptrace` and `wait4` say; unsupported before Linux 5.3.
    pub fn next_event(&mut self) -> Result<Option<Event>> {
        match self.advance(true)? {
            Next::Event(event) => Ok(Some(event)),
            Next::Nothing | Next::Over => Ok(None),
        }
    }

    /// As [`Tracer::next_event`], without waiting.
    ///
    /// # Errors
    /// As [`Tracer::next_event`].
    pub fn poll(&mut self) -> Result<Next> {
        self.advance(false)
    }

    fn advance(&mut self, wait: bool) -> Result<Next> {
        if let Some((task, how)) = self.held.take() {
            go_on(task, how)?;
        }
        loop {
            if self.tasks.is_empty() {
                self.adopt_early()?;
            }
            let Some(Waited { task, status, .. }) = wait_for(-1, wait)? else {
                return Ok(if self.tasks.is_empty() { Next::Over } else { Next::Nothing });
            };
            if let Some(event) = self.understand(task, status)? {
                return Ok(Next::Event(event));
            }
        }
    }

    /// An event, or `None` where the task went on already.
    fn understand(&mut self, task: Pid, status: libc::c_int) -> Result<Option<Event>> {
        if !libc::WIFSTOPPED(status) {
            let end = if libc::WIFSIGNALED(status) {
                End::Killed(libc::WTERMSIG(status))
            } else {
                End::Exited(libc::WEXITSTATUS(status))
            };
            self.early.remove(&task);
            let Some(known) = self.tasks.remove(&task) else { return Ok(None) };
            if known.cloned.is_some() {
                // It was killed before it could tell whom it had made.
                self.adopt_early()?;
            }
            return Ok(Some(Event::Ended { task, end }));
        }
        if !self.tasks.contains_key(&task) {
            self.early.insert(task);
            return Ok(None);
        }
        let signal = libc::WSTOPSIG(status);
        let event = status >> 16;
        self.held = Some((task, GoOn::Run(0)));
        let notice = match (event, signal) {
            (EVENT_STOP, libc::SIGTRAP) => Ok(None),
            (EVENT_STOP, _) => {
                self.held = Some((task, GoOn::Listen));
                Ok(None)
            }
            (event, _) if makes(event) => self.made(task).map(Some),
            (libc::PTRACE_EVENT_EXEC, _) => self.executed(task).map(Some),
            (0, SYSCALL_STOP) => self.called(task),
            (0, _) => {
                self.held = Some((task, GoOn::Run(signal)));
                Ok(Some(Event::Signalled { task, signal }))
            }
            _ => Ok(None),
        };
        match notice {
            // Killed in the middle of its stop: the next wait tells how it ended.
            Err(error) if error.errno() == Some(libc::ESRCH) => {
                self.held = None;
                Ok(None)
            }
            Ok(None) => {
                if let Some((task, how)) = self.held.take() {
                    go_on(task, how)?;
                }
                Ok(None)
            }
            other => other,
        }
    }

    fn made(&mut self, by: Pid) -> Result<Event> {
        let task = event_message(by)?;
        self.tasks.insert(task, Task::default());
        if self.early.remove(&task) {
            go_on(task, GoOn::Run(0))?;
        }
        let maker = self.tasks.get(&by);
        let (call, cloned) = maker.map_or((None, None), |maker| (maker.call, maker.cloned));
        Ok(Event::Made { by, task, call, cloned })
    }

    fn executed(&mut self, task: Pid) -> Result<Event> {
        let former = event_message(task)?;
        if former != task
            && let Some(moved) = self.tasks.remove(&former)
        {
            self.tasks.insert(task, moved);
        }
        Ok(Event::Executed { task, former })
    }

    fn called(&mut self, task: Pid) -> Result<Option<Event>> {
        let info = syscall_info(task)?;
        let Some(known) = self.tasks.get_mut(&task) else { return Ok(None) };
        Ok(match info {
            Info::Entry(call) => {
                known.call = Some(call);
                known.cloned = asked_for(task, &call);
                Some(Event::Entered { task, call, cloned: known.cloned })
            }
            Info::Exit(result) => {
                known.cloned = None;
                // Without a call it is the end of one that began before we came.
                known.call.take().map(|call| Event::Left { task, call, result })
            }
            Info::Other => None,
        })
    }

    /// Takes in new tasks whose maker will never tell of them.
    fn adopt_early(&mut self) -> Result<()> {
        for task in std::mem::take(&mut self.early) {
            self.tasks.insert(task, Task::default());
            go_on(task, GoOn::Run(0))?;
        }
        Ok(())
    }

    /// Leaves all tasks to themselves: they go on untraced.
    ///
    /// # Errors
    /// What `wait4` says.
    pub fn release(mut self) -> Result<()> {
        if let Some((task, how)) = self.held.take() {
            self.detach(task, how);
        }
        // New tasks that are free already, and whose makers have not reported them yet.
        let mut free = std::mem::take(&mut self.early);
        for task in &free {
            self.detach(*task, GoOn::Run(0));
        }
        for task in self.tasks.keys() {
            // One that is gone cannot be interrupted; the wait below tells.
            let _ = plain(libc::PTRACE_INTERRUPT as _, "PTRACE_INTERRUPT", *task, 0);
        }
        while !self.tasks.is_empty() {
            let Some(Waited { task, status, .. }) = wait_for(-1, true)? else { break };
            if !self.tasks.contains_key(&task) {
                free.insert(task);
            }
            if !libc::WIFSTOPPED(status) {
                self.tasks.remove(&task);
                continue;
            }
            // Whom it has just made is traced as well, and would die with its tracer.
            if makes(status >> 16)
                && let Ok(made) = event_message(task)
                && !free.remove(&made)
            {
                self.tasks.insert(made, Task::default());
            }
            let signal = libc::WSTOPSIG(status);
            let deliver = if status >> 16 == 0 && signal != SYSCALL_STOP { signal } else { 0 };
            self.detach(task, GoOn::Run(deliver));
        }
        Ok(())
    }

    fn detach(&mut self, task: Pid, how: GoOn) {
        let signal = match how {
            GoOn::Run(signal) => signal,
            GoOn::Listen => 0,
        };
        // Its only error is that the task is gone.
        let _ = plain(libc::PTRACE_DETACH as _, "PTRACE_DETACH", task, signal);
        self.tasks.remove(&task);
    }
}

/// Whether an event of ptrace is that a task was made.
fn makes(event: libc::c_int) -> bool {
    matches!(event, libc::PTRACE_EVENT_CLONE | libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK)
}

/// What a call that makes a task asks for; `None` for others, and where the
/// memory with the answer cannot be read.
fn asked_for(task: Pid, call: &Call) -> Option<Cloned> {
    if !call.makes_a_task() {
        return None;
    }
    match call.name().as_ref() {
        "clone" => Some(Cloned::by_clone(call.arguments[0])),
        "fork" => Some(Cloned::by_fork()),
        "vfork" => Some(Cloned::by_vfork()),
        _ => {
            let mut bytes = [0; CLONE_ARGS_BYTES];
            Memory(task).read(call.arguments[0], &mut bytes).ok()?;
            Some(Cloned::by_clone3(&bytes))
        }
    }
}

fn go_on(task: Pid, how: GoOn) -> Result<()> {
    let done = match how {
        GoOn::Run(signal) => plain(libc::PTRACE_SYSCALL as _, "PTRACE_SYSCALL", task, signal),
        GoOn::Listen => plain(libc::PTRACE_LISTEN as _, "PTRACE_LISTEN", task, 0),
    };
    match done {
        // Killed in the middle of its stop: the next wait tells how it ended.
        Err(error) if error.errno() == Some(libc::ESRCH) => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests;
