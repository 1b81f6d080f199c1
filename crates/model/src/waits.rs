//! What the threads of a program waited for, by looks at them while it ran.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What kind of thing a thread waits for.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum WaitKind {
    /// A lock: a mutex, a reader-writer lock, an interpreter's lock, a lock on a file.
    Lock,
    /// A signal of another thread: a condition variable, a semaphore, a futex of another use.
    Signal,
    /// Another thread, by a lock, a channel or a queue: the language's runtime hides which.
    Hidden,
    /// A message of another thread or process of the program, through a pipe or a socket.
    Message,
    /// A barrier that other threads have not reached.
    Barrier,
    /// The end of another thread.
    Thread,
    /// The end, or a change, of a child process.
    Child,
    /// A file system or a block device: fsync, a read that is not cached.
    Storage,
    /// A socket.
    Socket,
    /// A pipe.
    Pipe,
    /// A time: a sleep, a timer.
    Timer,
    /// One of several descriptors (epoll, poll, select).
    Event,
    /// Memory: a page fault, or the lock of the address space.
    Memory,
    /// Something that was not recognised.
    #[default]
    Unknown,
}

/// What threads of Go wait for when no goroutine can run, whatever the goroutines wait for: they are idle.
pub const GOROUTINES: &str =
    "work (an idle thread of Go, which hides what its goroutines wait for)";

/// The same as earlier versions stored it.
const GOROUTINES_BEFORE: &str = "other goroutines (Go hides whether a lock or a channel)";

/// Reports whether what is waited for, in whichever place, is what idle threads of Go wait for.
pub fn is_of_go(what: &str) -> bool {
    [GOROUTINES, GOROUTINES_BEFORE].iter().any(|known| what.starts_with(known))
}

/// What threads of the Java VM wait for where nothing tells them from those of the program.
pub const JAVA_THREADS: &str =
    "a thread of the Java VM itself, or one that libjvm.so hides (no symbols)";

/// Reports whether a wait is that of a runtime's own threads, which have nothing to do.
pub fn is_of_runtime(what: &str) -> bool {
    is_of_go(what) || what == JAVA_THREADS
}

/// Reports whether what is waited for may be held as a lock is, though its kind does not say so: a semaphore, or what a
/// runtime hides.
pub fn may_be_held(kind: WaitKind, what: &str) -> bool {
    match kind {
        WaitKind::Signal => what.contains("semaphore"),
        WaitKind::Hidden => !is_of_runtime(what),
        _ => false,
    }
}

/// One thing that threads waited for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Wait {
    /// What kind of thing.
    pub kind: WaitKind,
    /// Its name: the symbol of a lock, the path of a file, the two ends of a socket; empty where it has
    /// none.
    pub what: String,
    /// The function of the program that waited; empty where it is not known.
    pub place: String,
    /// What held it or kept it, as far as it is known: the thread that holds a lock, the program at the
    /// other end of a socket.
    pub holder: String,
    /// Time that the workers waited for it, in ns; of a program whose number of workers is not known,
    /// time of all its threads.
    pub ns: u64,
    /// The part of it in threads that hardly ran, in ns: known where the number of workers is not.
    #[serde(default)]
    pub idle_ns: u64,
    /// Elapsed time in which no thread of the program ran or was ready to run, as far as this wait
    /// explains it, in ns.
    pub still_ns: u64,
    /// Elapsed time in which no thread ran or was ready, while the thread whose wait explains that was one that also
    /// waited for this at other times, in ns: those take turns.
    #[serde(default)]
    pub turns_ns: u64,
    /// Looks that found a thread waiting for it.
    pub looks: u32,
    /// Looks that found a thread in the same wait as the look before: it had not run since.
    #[serde(default)]
    pub lasting: u32,
    /// Looks that found a thread waiting for it that also waited at the look before, and had run since.
    #[serde(default)]
    pub renewed: u32,
}

/// A thread that ran while workers were idle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Runner {
    /// Its name.
    pub name: String,
    /// Whether it is the first thread of the program's first process.
    pub is_first: bool,
    /// CPU time, in ns.
    pub cpu_ns: u64,
    /// Time that workers were idle while it ran, in ns, summed over the idle workers.
    pub idle_ns: u64,
    /// The part of it in which the idle workers had not begun, or had ended, in ns.
    pub absent_ns: u64,
    /// Elapsed time in which looks found it alone ready to run, in ns.
    pub alone_ns: u64,
    /// Elapsed time in which looks found it and others ready to run, in ns.
    pub together_ns: u64,
}

/// A program that works for the one that is looked at, such as the server that it talks to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Peer {
    /// Its name.
    pub name: String,
    /// CPU time of its processes meanwhile, in ns.
    pub cpu_ns: u64,
}

/// What the looks at a program saw of its waits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Waits {
    /// Looks that asked threads what they wait for.
    pub looks: u32,
    /// What they waited for, the longest first.
    pub waits: Vec<Wait>,
    /// Who ran while workers were idle, the longest first.
    pub runners: Vec<Runner>,
    /// CPU time of each thread that ran, in ns, the most first.
    pub cpu_each_ns: Vec<u64>,
    /// Elapsed time in which no thread ran or was ready to run, in ns.
    pub still_ns: u64,
    /// The number of CPUs that its running threads together were allowed to use for most of the time; null where
    /// none was seen to run.
    #[serde(default)]
    pub cpus: Option<u32>,
    /// Programs that worked for it: those that the user named, and those at the other ends of its sockets and
    /// pipes.
    #[serde(default)]
    pub peers: Vec<Peer>,
    /// Why waits have no name, with the remedy; empty where all could be asked.
    pub unasked: String,
}

impl Waits {
    /// Returns the CPU time of the programs that worked for it, in ns.
    pub fn peers_ns(&self) -> u64 {
        self.peers.iter().map(|peer| peer.cpu_ns).sum()
    }
}

/// What `scruple waits` saw of one program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Watched {
    /// The version of scruple.
    pub scruple: String,
    /// The command that was started, or the name of the process that was watched.
    pub command: Vec<String>,
    /// The process that was watched; null where scruple started the command.
    pub pid: Option<u32>,
    /// What it ran under and what changes its times: inherited state, a quota that throttled it; in sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<String>,
    /// Time for which a CPU quota held it back, in ns over all CPUs.
    #[serde(default)]
    pub throttled_ns: u64,
    /// The quota that did, in percent of one CPU; null where none did.
    #[serde(default)]
    pub quota_percent: Option<u32>,
    /// How it ended, such as "ended with exit code 0"; empty where it went on.
    pub ended: String,
    /// For how long it was watched, in ns.
    pub elapsed_ns: u64,
    /// CPU time of all its processes meanwhile, in ns.
    pub cpu_ns: u64,
    /// The most processes at once.
    pub processes: u32,
    /// The most threads at once that were counted: at least that many.
    pub threads_at_once: u32,
    /// How many looks there were.
    pub looks: u32,
    /// CPU time that the looks took, in ns.
    pub looking_ns: u64,
    /// The time of all threads, between the first and the last look at each.
    pub time: ThreadTime,
    /// Threads that one look alone found: they lived for about as long as from one look to the next, or shorter.
    #[serde(default)]
    pub brief_threads: u64,
    /// The part of the waiting time that was not looked at since its threads had ended by the next look, in ns:
    /// estimated by how often looks found them.
    #[serde(default)]
    pub unseen_ns: u64,
    /// The part of the waiting time of threads that were counted and not looked at, in ns: of a crowd, a sample is.
    #[serde(default)]
    pub unread_ns: u64,
    /// The part of the CPU time of threads that had ended by the next look, or of a crowd were not looked at, in ns: the
    /// kernel's sums have it, and how long they were ready or waited was not counted.
    #[serde(default)]
    pub unseen_cpu_ns: u64,
    /// Elapsed time in which no thread ran or was ready to run, in ns.
    pub still_ns: u64,
    /// What threads waited for, the longest first.
    pub waits: Vec<WatchedWait>,
    /// The threads that ran or were ready longest, those first.
    pub threads: Vec<WatchedThread>,
    /// How many threads were seen beyond those.
    pub other_threads: u64,
    /// The length of a cell of the threads' timelines, in ns.
    pub cell_ns: u64,
    /// Why waits have no name, with the remedy; empty where all could be asked.
    pub unasked: String,
}

/// What became of a thread's time, in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadTime {
    /// On a CPU.
    pub running_ns: u64,
    /// Ready to run, and waiting for a CPU.
    pub ready_ns: u64,
    /// Asleep: it waited for something else than a CPU.
    pub waiting_ns: u64,
}

impl ThreadTime {
    /// Returns the sum, in ns.
    pub fn all_ns(self) -> u64 {
        self.running_ns + self.ready_ns + self.waiting_ns
    }
}

/// One thing that threads waited for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WatchedWait {
    /// What kind of thing.
    pub kind: WaitKind,
    /// Its name, as in [`Wait::what`].
    pub what: String,
    /// The function of the program that waited, as in [`Wait::place`].
    pub place: String,
    /// What held it or kept it, as in [`Wait::holder`].
    pub holder: String,
    /// Time that working threads waited for it, in ns: those that ran or were ready at least a twentieth as
    /// long as the busiest thread.
    pub ns: u64,
    /// Time that all other threads waited for it, in ns.
    pub idle_ns: u64,
    /// Elapsed time in which no thread ran or was ready, as far as this wait explains it, in ns.
    pub still_ns: u64,
    /// Findings: a look that finds three threads waiting for it counts three.
    pub found: u64,
}

/// A thread that was watched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WatchedThread {
    /// What it calls itself.
    pub name: String,
    /// Its process; 0 for threads that ended between two looks, together.
    pub pid: u32,
    /// Its own number.
    pub tid: u32,
    /// Its time.
    pub time: ThreadTime,
    /// What it waited for longest: a place in the list of waits.
    pub wait: Option<u32>,
    /// Its timeline; a cell without time lies before its beginning or after its end.
    pub cells: Vec<WatchedCell>,
}

/// A part of a thread's timeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WatchedCell {
    /// Its time.
    pub time: ThreadTime,
    /// What it waited for most of its waiting time: a place in the list of waits.
    pub wait: Option<u32>,
}
