//! The traced child, and what is written down of it.

use super::entity::Entity;
use crate::support::child::Child;
use kit::{Result, Stop};
use std::collections::HashMap;
use std::io::ErrorKind;
use sys::calls::{Call, Cloned};
use sys::task::Pid;
use sys::tracer::{End, Event, Tracer};

/// The child's mark: a call that nothing else makes in an operation.
const MARK: &str = "getppid";

/// Exit code of a child that the system refused what it asked for.
const REFUSED: i32 = 3;

/// Exit code of a child in which something else went wrong.
const BROKEN: i32 = 4;

fn code_of(error: &sys::Error) -> i32 {
    let kind = error.errno().map(|errno| std::io::Error::from_raw_os_error(errno).kind());
    match kind {
        // A limit (EAGAIN), no memory, a filter of the container's, an old kernel.
        Some(
            ErrorKind::WouldBlock
            | ErrorKind::OutOfMemory
            | ErrorKind::PermissionDenied
            | ErrorKind::Unsupported,
        ) => REFUSED,
        _ => BROKEN,
    }
}

/// One system call of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// Whether it is the maker's; else it is of what was made.
    pub(super) by_maker: bool,
    /// The call's name.
    pub(super) name: String,
    /// What its arguments say.
    pub(super) says: String,
    /// The name of its error.
    pub(super) error: Option<String>,
}

/// What lies between two marks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Operation {
    /// The calls in the order in which they began.
    pub(super) lines: Vec<Line>,
    /// What was made.
    pub(super) made: Vec<Cloned>,
}

impl Operation {
    /// How many calls there were.
    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// The calls of the maker.
    pub(super) fn by_maker(&self) -> impl Iterator<Item = &Line> {
        self.lines.iter().filter(|line| line.by_maker)
    }

    /// How many calls have that name.
    pub(super) fn count(&self, name: &str) -> usize {
        self.lines.iter().filter(|line| line.name == name).count()
    }
}

/// What was seen of the child's whole life.
#[derive(Debug)]
pub(super) struct Watched {
    pub(super) operations: Vec<Operation>,
    /// Threads and processes made before the first mark.
    pub(super) made_before: usize,
    /// Of the child; −1 if a signal ended it.
    pub(super) exit_code: i32,
}

/// Forks a child that stands at its gate.
pub(super) fn fork(entity: Entity, count: usize) -> Result<Child> {
    Child::fork(Stop::failed("the child died before it began"), |gate| {
        gate.arrive_and_wait();
        let mut mark = || {
            sys::syscall::getppid();
        };
        (entity.live)(count, &mut mark).map_or_else(|error| code_of(&error), |()| 0)
    })
}

/// Traces it to its end.
pub(super) fn watch(child: &Child, count: usize) -> Result<Watched> {
    let mut tracer = Tracer::attach(child.pid())?;
    child.release();
    let watched = Watched { operations: Vec::new(), made_before: 0, exit_code: -1 };
    let mut notes = Notes { root: child.pid(), count, marks: 0, open: HashMap::new(), watched };
    while let Some(event) = tracer.next_event()? {
        notes.take(&event, &tracer);
    }
    kit::require!(
        notes.watched.exit_code != REFUSED,
        "the system refuses to make this entity: raise `ulimit -u` and `ulimit -v`, or take a \
             container and a kernel (5.5 or newer) that allow clone3"
    );
    Ok(notes.watched)
}

/// The trial's notes.
struct Notes {
    root: Pid,
    count: usize,
    /// Marks so far.
    marks: usize,
    /// Where the line of each task's present call stands: operation and place.
    open: HashMap<Pid, (usize, usize)>,
    watched: Watched,
}

impl Notes {
    /// The operation that goes on, if one does.
    fn current(&mut self) -> Option<(usize, &mut Operation)> {
        let index = self.marks.checked_sub(1).filter(|index| *index < self.count)?;
        Some((index, self.watched.operations.get_mut(index)?))
    }

    fn take(&mut self, event: &Event, tracer: &Tracer) {
        match event {
            Event::Entered { task, call, .. } if *task == self.root && call.name() == MARK => {
                self.marks += 1;
                if self.marks <= self.count {
                    self.watched.operations.push(Operation::default());
                }
                self.open.remove(task);
            }
            Event::Entered { task, call, cloned } => {
                let says = call.describe(cloned.as_ref(), &tracer.memory(*task));
                self.enter(*task, call, says);
            }
            Event::Left { task, result, .. } => {
                if let Some((operation, place)) = self.open.remove(task)
                    && let Err(errno) = result
                {
                    let line = &mut self.watched.operations[operation].lines[place];
                    line.error = Some(sys::calls::error_name(*errno).into_owned());
                }
            }
            Event::Made { cloned, .. } => match self.current() {
                // Every way that is traced here tells what it asks for.
                Some((_, operation)) => operation.made.extend(*cloned),
                None => self.watched.made_before += usize::from(self.marks == 0),
            },
            Event::Ended { task, end: End::Exited(code) } if *task == self.root => {
                self.watched.exit_code = *code;
            }
            Event::Executed { .. } | Event::Signalled { .. } | Event::Ended { .. } => {}
        }
    }

    fn enter(&mut self, task: Pid, call: &Call, says: String) {
        let by_maker = task == self.root;
        let line = Line { by_maker, name: call.name().into_owned(), says, error: None };
        if let Some((index, operation)) = self.current() {
            operation.lines.push(line);
            let place = operation.lines.len() - 1;
            self.open.insert(task, (index, place));
        }
    }
}
