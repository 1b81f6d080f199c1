//! Watching one program while it runs: what its threads wait for, without a trial around it.

use crate::aside::how_it_ended;
use crate::looker::{Budget, Ended, FIRST_LOOK_NS, GLANCES_SHARE, Looked, SHORTEST_NS, look};
use crate::waits::{Asker, Names};
use crate::worker_time::Slots;
use kit::{Result, Stop};
use model::Watched;
use std::ffi::OsString;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;
use sys::cgroup::Throttling;
use sys::launch::Began;
use sys::proc::Census;
use sys::task::Pid;
use sys::usage::Usage;

/// The part of the time that looks may take, of one CPU.
const SHARE: f64 = 0.01;

/// Of more threads than this, a sample is read.
const THREADS_READ: usize = 128;

/// The longest wait without anything to do.
const LONG: Duration = Duration::from_secs(3600);

/// What is watched.
#[derive(Clone, Copy, Debug)]
pub enum Watch<'a> {
    /// A command that is started, with its arguments. Its standard output is this process's, or else its
    /// standard error if `apart`.
    Command {
        /// The program and its arguments.
        words: &'a [OsString],
        /// This process needs standard output for itself.
        apart: bool,
    },
    /// A process that runs, with all its descendants.
    Process(u32),
}

/// How often what was seen so far is shown, and to whom.
pub type Show<'a> = (Duration, &'a mut dyn FnMut(&Watched));

/// How long and how it is watched.
pub struct Watching<'a> {
    /// For how long at most.
    pub limit: Option<Duration>,
    /// Who is shown what was seen so far.
    pub show: Option<Show<'a>>,
}

/// Watches a program until it ends, the time is over, or this process is asked to stop
/// ([`sys::interrupt`]). A command that goes on then is left alone, unless a signal that no terminal sends
/// asked for the end: that is passed on to it.
///
/// # Errors
/// The command cannot be started, or the process does not exist or may not be read.
pub fn watch(what: Watch<'_>, mut watching: Watching<'_>) -> Result<Watched> {
    let mut watcher = Watcher::start(what)?;
    let (mut looks, mut counts) = (Budget::new(SHARE), Budget::new(GLANCES_SHARE));
    let mut due_ns = watcher.began_ns + if watcher.of.is_some() { 0 } else { FIRST_LOOK_NS };
    let mut shown_ns = watcher.began_ns;
    let limit_ns = watching.limit.map(|limit| watcher.began_ns + limit.as_nanos() as u64);
    let mut count_ns = due_ns;
    while watcher.goes_on(due_ns.min(count_ns).min(limit_ns.unwrap_or(u64::MAX)))? {
        let now_ns = sys::clock::now_ns();
        if limit_ns.is_some_and(|limit_ns| now_ns >= limit_ns) {
            break;
        }
        if now_ns < due_ns {
            counts.spend(|| watcher.count());
            count_ns = sys::clock::now_ns() + counts.pause_ns();
            continue;
        }
        looks.spend(|| watcher.look(None));
        looks.spent_once(watcher.asker.once_ns());
        if let Some((every, show)) = &mut watching.show
            && sys::clock::now_ns() - shown_ns >= every.as_nanos() as u64
        {
            show(&watcher.watched());
            shown_ns = sys::clock::now_ns();
        }
        due_ns = sys::clock::now_ns() + looks.pause_ns().max(SHORTEST_NS);
        let is_crowd = watcher.looked.counted.crowd_ns() > 0;
        count_ns = if is_crowd { sys::clock::now_ns() + counts.pause_ns() } else { due_ns };
    }
    watcher.end()
}

struct Watcher {
    pid: Pid,
    /// The process that is watched; a command's descend from this one.
    of: Option<Pid>,
    command: Vec<String>,
    process: OwnedFd,
    began_ns: u64,
    ended: bool,
    /// What this process's children had used before.
    usage: Usage,
    own_ns: u64,
    looked: Looked,
    census: Census,
    asker: Asker,
    names: Names,
    /// A signal was heeded; from the next on this process ends at once.
    asked: bool,
}

impl Watcher {
    fn start(what: Watch<'_>) -> Result<Self> {
        let (pid, of, command, began_ns, queued_ns) = match what {
            Watch::Command { words, apart } => {
                sys::process::become_subreaper()?;
                let command = words.iter().map(|word| word.to_string_lossy().into()).collect();
                let (pid, began) = start(words, apart)?;
                (pid, None, command, began.at_ns, began.queue_wait_ns)
            }
            Watch::Process(pid) => {
                let pid = Pid::try_from(pid).unwrap_or(Pid::MAX);
                let stat = sys::proc::stat(pid);
                let stat =
                    stat.ok_or_else(|| Stop::failed(format!("no process has the ID {pid}")))?;
                (pid, Some(pid), vec![stat.name], sys::clock::now_ns(), 0)
            }
        };
        let process = sys::pidfd::open(pid)?;
        let tick_ns = sys::proc::tick_ns();
        let slots = match of {
            Some(_) => Slots::attached(began_ns, tick_ns),
            None => Slots::new(None, began_ns, tick_ns).queued_before(queued_ns),
        };
        Ok(Watcher {
            pid,
            of,
            command,
            process,
            began_ns,
            ended: false,
            usage: Usage::of_children(),
            own_ns: sys::clock::thread_cpu_ns(),
            looked: Looked { slots, throttling: Throttling::of_all(), ..Looked::default() },
            census: Census::new(of, Vec::new()).sampling(THREADS_READ),
            asker: Asker::default(),
            names: Names::default(),
            asked: false,
        })
    }

    /// Waits until a moment. Returns whether the program is to be watched further.
    fn goes_on(&mut self, until_ns: u64) -> Result<bool> {
        let signal = sys::interrupt::descriptor().filter(|_| !self.asked);
        let both: Vec<_> = std::iter::once(self.process.as_fd()).chain(signal).collect();
        let left_ns = until_ns.saturating_sub(sys::clock::now_ns());
        let found = sys::poll::readable_any(&both, Duration::from_nanos(left_ns).min(LONG))?;
        if found[0] {
            self.ended = true;
            return Ok(false);
        }
        if found.get(1) == Some(&true) {
            sys::interrupt::restore_default()?;
            self.asked = true;
            if self.of.is_some() {
                return Ok(false);
            }
            // What a terminal's keys send has reached the command as well.
            if let Some(signal) =
                sys::interrupt::requested().filter(|it| *it != sys::signal::SIGINT)
            {
                // Its only error is that the command has ended meanwhile.
                let _ = sys::process::kill(self.pid, signal);
            }
        }
        Ok(true)
    }

    fn look(&mut self, ended: Option<Ended>) {
        self.census.begin();
        look(&mut self.looked, &mut self.asker, &mut self.census, ended, u64::MAX);
    }

    /// Counts threads without a look at them.
    fn count(&mut self) {
        self.looked.counted.note(sys::clock::now_ns(), self.census.count(), 0);
    }

    /// Returns what was seen so far.
    fn watched(&mut self) -> Watched {
        let Looked { slots, looks, processes, counted, throttling, .. } = &mut self.looked;
        let (throttled_ns, cpus) = throttling.worst().unwrap_or_default();
        let mut watched = Watched {
            command: self.command.clone(),
            pid: self.of.map(Pid::unsigned_abs),
            elapsed_ns: sys::clock::now_ns() - self.began_ns,
            processes: *processes as u32,
            threads_at_once: counted.most as u32,
            looks: *looks,
            looking_ns: sys::clock::thread_cpu_ns() - self.own_ns,
            unasked: self.asker.unasked(),
            unseen_cpu_ns: slots.unseen_cpu_ns(),
            throttled_ns,
            quota_percent: cpus.map(|cpus| (100.0 * cpus).round() as u32),
            ..Watched::default()
        };
        let names = self.names.of(&self.asker);
        let still: Vec<_> = slots.idle.still().collect();
        watched.still_ns = still.iter().map(|(_, ns)| (*ns).max(0) as u64).sum();
        if let Some(threads) = &slots.threads {
            let counted_ns = counted.crowd_ns();
            threads.enter(&mut watched, names, &self.asker, counted_ns, still.into_iter());
        }
        watched.cpu_ns = watched.time.running_ns;
        watched
    }

    fn end(mut self) -> Result<Watched> {
        let at_ns = sys::clock::now_ns();
        let pid = self.pid;
        self.look((self.ended && self.of.is_none()).then_some(Ended { pid, at_ns }));
        self.asker.end();
        let mut watched = self.watched();
        if self.ended && self.of.is_none() {
            watched.elapsed_ns = at_ns - self.began_ns;
            watched.ended = how_it_ended(&sys::task::wait(pid)?);
            let used = Usage::of_children().since(self.usage).cpu_ns();
            // Less than a tick of each sum, and what ran after the last look.
            let rest_ns = used.saturating_sub(watched.cpu_ns);
            watched.unseen_cpu_ns += rest_ns;
            watched.time.running_ns += rest_ns;
            watched.cpu_ns += rest_ns;
        } else if self.ended {
            watched.ended = "ended".into();
        }
        Ok(watched)
    }
}

/// Starts a command, and returns its process and how its program began.
fn start(words: &[OsString], apart: bool) -> Result<(Pid, Began)> {
    let (variables, words) = model::split_assignments(words);
    let (program, arguments) =
        words.split_first().ok_or_else(|| Stop::failed("no command was given"))?;
    let mut command = Command::new(program);
    command.args(arguments);
    command.envs(variables.iter().filter_map(|word| model::assignment(word)));
    if apart {
        command.stdout(Stdio::from(std::io::stderr().as_fd().try_clone_to_owned()?));
    }
    // The name that the user typed, not the path that was found for it.
    command.arg0(program);
    let cannot = format!("cannot run {}", program.to_string_lossy());
    let begin = sys::launch::report_begin(&mut command)?;
    let child = command.spawn().map_err(|error| Stop::io(cannot, &error))?;
    let began = begin.began().ok_or_else(|| Stop::failed("the program never began"))?;
    Ok((child.id() as Pid, began))
}
