//! What threads wait for, asked while they wait and named when the program has ended.
//!
//! A look reads of each sleeping thread its system call and the top of its stack ([`Asker`]), a few
//! microseconds each, and of a thread that has not run since the last look nothing. Symbols are looked up
//! later ([`naming`]), since a large library takes longer than a look may.

mod demangle;
mod ends;
mod files;
mod naming;
mod primitives;
mod stack;
mod symbols;
mod timeouts;

use model::WaitKind;
use std::collections::HashMap;
use std::rc::Rc;
use sys::proc::wait::{self, Doing, End, Mapping, Memory, Waiting};
use sys::proc::{SchedStat, Thread};
use sys::task::Pid;

use crate::doing::{Asked, Since, WaitId};
use crate::peers::Peers;
use timeouts::TimeOuts;

pub(crate) use naming::{Named, Names};

/// The part of a stack that is searched for return addresses, in bytes: the innermost functions.
const STACK_BYTES: usize = 3072;

/// The most addresses of code that are kept of a stack.
const WORDS_MAX: usize = 48;

/// The most waits that are distinguished by their stacks.
const FOUND_MAX: usize = 4096;

/// The most locks on the heap whose pointers are looked for.
const POINTERS_MAX: usize = 64;

/// The most bytes of a program's static data that are searched for a pointer.
const STATIC_BYTES_MAX: u64 = 1 << 20;

/// How far before a lock a pointer to its object may point.
const OBJECT_BYTES_MAX: u64 = 1 << 20;

/// The most sockets and pipes whose other ends are looked for among all processes.
const PEERS_MAX: usize = 16;

/// Why waits have no names, and what to do.
const REFUSED: &str = "this user may not read what some of its threads wait for (/proc/PID/syscall): a \
     program that changed its user, or a system where kernel.yama.ptrace_scope is above 1, needs root or \
     CAP_SYS_PTRACE";

/// The CPU time that may be spent on what need not be done at each look: in the beginning, in ns, and as a part of
/// the elapsed time.
const ONCE_NS: u64 = 2_000_000;
const ONCE_SHARE: f64 = 0.005;

/// The part of it that searches for pointers may take, since a runtime has a word of its own for each thread.
const POINTERS_PART: f64 = 0.5;

/// A wait as a look found it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Found {
    /// Which address space.
    image: usize,
    /// What kind it is, unless its stack must tell.
    kind: Option<WaitKind>,
    what: String,
    /// It ends at some time by itself.
    is_timed: bool,
    futex: Option<Futex>,
    /// The address of the next instruction.
    at: u64,
    /// Addresses of code that the stack holds, and how far from the stack pointer each lies.
    words: Vec<(u16, u64)>,
}

/// The word of memory that a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Futex {
    address: u64,
    /// The value 2 in a plain wait: a lock that is held and waited for, by the convention of glibc, musl
    /// and Drepper's "Futexes are tricky" (2011). Or a value that names its holder ([`holder_in`]).
    is_lock_word: bool,
    /// A static variable that points to the object that holds the word: its address, and the distance.
    pointer: Option<(u64, u64)>,
}

/// An address space.
#[derive(Debug, Default)]
struct Image {
    pid: Pid,
    /// Those of files, and what may hold code.
    mappings: Vec<Mapping>,
    pointers: HashMap<u64, Option<(u64, u64)>>,
}

impl Image {
    fn of(pid: Pid) -> Self {
        let mut mappings = wait::mappings(pid);
        mappings.retain(|one| one.is_code || !one.file.is_empty());
        Image { pid, mappings, pointers: HashMap::new() }
    }

    /// Returns the mapping that holds an address.
    fn mapping(&self, address: u64) -> Option<&Mapping> {
        let after = self.mappings.partition_point(|one| one.start <= address);
        self.mappings[..after].last().filter(|one| address < one.end)
    }

    fn is_code(&self, address: u64) -> bool {
        self.mapping(address).is_some_and(|one| one.is_code)
    }
}

/// Asks threads what they wait for.
#[derive(Debug, Default)]
pub(crate) struct Asker {
    images: Vec<Image>,
    of_process: HashMap<Pid, usize>,
    found: Vec<Found>,
    ids: HashMap<Found, WaitId>,
    /// Who held or kept a wait when it was last seen.
    holders: HashMap<WaitId, Rc<str>>,
    last: HashMap<(Pid, Pid), (SchedStat, Option<WaitId>)>,
    time_outs: TimeOuts,
    /// The processes of the program at the last look.
    family: Vec<Pid>,
    /// Programs that work for it.
    peers: Peers,
    /// What is at the other end of pipes and sockets.
    ends: HashMap<End, (WaitKind, String)>,
    /// A process that may not be asked.
    refused: bool,
    /// CPU time that was spent once on what is the same at the next look, in ns.
    once_ns: u64,
    /// The same since the last look.
    spent_ns: u64,
    began_ns: Option<u64>,
    /// The CPU time of this thread from which on no thread is asked that ran since the last look.
    until_ns: u64,
}

impl Asker {
    /// Begins with programs that work for the one whose threads are asked, by process ID or name.
    pub(crate) fn beside(with: &[String]) -> Self {
        Asker { peers: Peers::new(with), ..Asker::default() }
    }

    /// Notes a look: these are the processes of the program now, and asking may take this much CPU time, in ns.
    pub(crate) fn begin(&mut self, family: Vec<Pid>, most_ns: u64) {
        self.until_ns = sys::clock::thread_cpu_ns().saturating_add(most_ns);
        self.time_outs.begin(sys::clock::now_ns());
        self.peers.read(&family);
        self.family = family;
    }

    /// Notes that the last look was over.
    pub(crate) fn end(&mut self) {
        self.time_outs.end(sys::clock::now_ns());
    }

    /// Returns what the programs used that work for this one.
    pub(crate) fn peers(&self) -> Vec<model::Peer> {
        self.peers.listed()
    }

    /// Returns what a thread waits for; `None` where it runs, is ready to, or may not be asked.
    pub(crate) fn ask(&mut self, pid: Pid, thread: &Thread) -> Option<Asked> {
        let name = (pid, thread.tid);
        if !matches!(thread.state, 'S' | 'D') {
            self.time_outs.ran(name, thread.account);
            return None;
        }
        let last = self.last.get(&name);
        let before = last.and_then(|(account, wait)| Some((*account, (*wait)?)));
        if let Some((account, id)) = before
            && account == thread.account
        {
            self.time_outs.lasting(name);
            return Some(self.asked(id, Since::Lasting));
        }
        self.time_outs.ran(name, thread.account);
        if sys::clock::thread_cpu_ns() >= self.until_ns {
            return None;
        }
        let wait = match wait::doing(pid, thread.tid) {
            Doing::Waiting(waiting) => self.found(pid, thread, &waiting),
            Doing::Refused => {
                self.refused = true;
                None
            }
            Doing::Running | Doing::Gone => None,
        };
        self.last.insert(name, (thread.account, wait));
        let since = if before.is_some() { Since::Renewed } else { Since::New };
        wait.map(|id| self.asked(id, since))
    }

    /// Takes the CPU time, in ns, that was spent since the last call on what is the same at the next look.
    pub(crate) fn once_ns(&mut self) -> u64 {
        let spent_ns = self.spent_ns;
        self.once_ns += std::mem::take(&mut self.spent_ns);
        spent_ns
    }

    /// Does what need not be done again, unless a part of what may be spent on all that is spent; `None` then.
    fn once<T>(&mut self, part: f64, work: impl FnOnce() -> T) -> Option<T> {
        let now_ns = sys::clock::now_ns();
        let passed_ns = now_ns - *self.began_ns.get_or_insert(now_ns);
        let most_ns = ONCE_NS as f64 + ONCE_SHARE * passed_ns as f64;
        if (self.once_ns + self.spent_ns) as f64 > part * most_ns {
            return None;
        }
        let before_ns = sys::clock::thread_cpu_ns();
        let made = work();
        self.spent_ns += sys::clock::thread_cpu_ns() - before_ns;
        Some(made)
    }

    /// Returns why some threads could not be asked, and what to do; empty where all could be.
    pub(crate) fn unasked(&self) -> String {
        if self.refused { REFUSED.into() } else { String::new() }
    }

    /// Returns who held or kept a wait when it was last seen; empty where nobody is known.
    pub(crate) fn holder(&self, id: WaitId) -> &str {
        self.holders.get(&id).map_or("", |name| name)
    }

    fn asked(&self, id: WaitId, since: Since) -> Asked {
        use WaitKind::{Child, Event, Memory, Pipe, Socket, Storage, Thread, Timer, Unknown};
        let kind = self.found.get(id).and_then(|found| found.kind);
        Asked {
            id,
            since,
            is_secondary: matches!(kind, Some(Thread | Child)),
            may_be_outside: matches!(
                kind,
                Some(Storage | Socket | Pipe | Timer | Event | Memory | Unknown)
            ),
        }
    }

    fn image(&mut self, pid: Pid, at: u64) -> usize {
        // Where it has no code there, it has executed another program, or loaded a library, since.
        if let Some(place) =
            self.of_process.get(&pid).filter(|place| self.images[**place].is_code(at))
        {
            return *place;
        }
        let before_ns = sys::clock::thread_cpu_ns();
        self.images.push(Image::of(pid));
        self.spent_ns += sys::clock::thread_cpu_ns() - before_ns;
        self.of_process.insert(pid, self.images.len() - 1);
        self.images.len() - 1
    }

    fn found(&mut self, pid: Pid, thread: &Thread, waiting: &Waiting) -> Option<WaitId> {
        let tid = thread.tid;
        let image = self.image(pid, waiting.at);
        let memory = Memory::open(pid);
        let mut found = Found { image, ..Found::default() };
        let mut holder = None;
        let call = waiting.call.map(sys::calls::name_of);
        match call.as_deref() {
            Some("futex" | "futex_wait") => {
                let futex = self.futex(image, waiting, memory.as_ref());
                if is_join(pid, waiting) {
                    found.kind = Some(WaitKind::Thread);
                } else {
                    found.futex = Some(futex);
                    let owner = || owner(pid, memory.as_ref()?, &futex);
                    let is_private = waiting.arguments[1] & PRIVATE != 0;
                    let robust = || robust_owner(pid, is_private, holder_in(waiting.arguments[2])?);
                    holder = robust().or_else(owner);
                }
            }
            Some("exit" | "exit_group") => return None,
            other => {
                let (kind, what) = self.call(pid, tid, other, waiting, memory.as_ref());
                (found.kind, found.what) = (Some(kind), what);
            }
        }
        let limit = call.as_deref();
        let limit = limit.and_then(|call| timeouts::limit(pid, call, waiting, memory.as_ref()));
        found.is_timed = limit.is_some();
        found.at = waiting.at;
        if self.found.len() < FOUND_MAX {
            found.words = self.words(image, waiting, memory.as_ref());
            // A thread that has gone on since its call was read has another stack now.
            if wait::doing(pid, tid) != Doing::Waiting(*waiting) {
                return None;
            }
        }
        let kind = found.kind;
        let id = match self.ids.get(&found) {
            Some(id) => *id,
            None => {
                self.found.push(found.clone());
                self.ids.insert(found, self.found.len() - 1);
                self.found.len() - 1
            }
        };
        // Last: it takes longer than many waits for a lock.
        if let Some(kind) = kind.filter(|_| !self.holders.contains_key(&id)) {
            holder = lock_holder(kind, pid, waiting);
        }
        if let Some(limit) = limit {
            self.time_outs.found((pid, tid), id, limit, thread.account);
        }
        if let Some(holder) = holder {
            self.holders.insert(id, holder.into());
        }
        Some(id)
    }

    /// Returns the addresses of code that the top of a stack holds, with their distances from the stack pointer.
    fn words(&self, image: usize, waiting: &Waiting, memory: Option<&Memory>) -> Vec<(u16, u64)> {
        let image = &self.images[image];
        let stack = memory.map(|memory| memory.read(waiting.stack, STACK_BYTES));
        let stack = stack.unwrap_or_default();
        let words = (0..).step_by(8).zip(stack.chunks_exact(8));
        let words = words
            .filter_map(|(place, word)| Some((place, u64::from_ne_bytes(word.try_into().ok()?))));
        words.filter(|(_, address)| image.is_code(*address)).take(WORDS_MAX).collect()
    }

    fn futex(&mut self, image: usize, waiting: &Waiting, memory: Option<&Memory>) -> Futex {
        let [address, operation, value, ..] = waiting.arguments;
        let is_plain = matches!(operation & OPERATION, WAIT | LOCK_PI | LOCK_PI2);
        let is_locked = value as u32 == 2 || holder_in(value).is_some();
        // musl's condition variables wait for a word of the waiter's own stack.
        let is_own = (waiting.stack..waiting.stack + STACK_BYTES as u64).contains(&address);
        let is_lock_word = is_plain && !is_own && (is_locked || operation & OPERATION != WAIT);
        let own = &self.images[image];
        let is_static = own.mapping(address).is_some_and(|one| one.file.starts_with('/'));
        let known = own.pointers.get(&address).copied();
        let mut pointer = known.flatten();
        if !is_static
            && known.is_none()
            && own.pointers.len() < POINTERS_MAX
            && let Some(memory) = memory
        {
            let own = std::mem::take(&mut self.images[image]);
            let found = self.once(POINTERS_PART, || pointer_to(&own, memory, address));
            self.images[image] = own;
            if let Some(found) = found {
                self.images[image].pointers.insert(address, found);
                pointer = found;
            }
        }
        Futex { address, is_lock_word, pointer }
    }

    /// Returns the kind of a wait in a call other than a futex, and what for.
    fn call(
        &mut self,
        pid: Pid,
        tid: Pid,
        call: Option<&str>,
        waiting: &Waiting,
        memory: Option<&Memory>,
    ) -> (WaitKind, String) {
        let [first, second, ..] = waiting.arguments;
        let channel = || wait::wait_channel(pid, tid).unwrap_or_default();
        let on_storage = primitives::is_on_storage;
        match primitives::of_call(call) {
            primitives::Call::Is(kind, what) => (kind, what.into()),
            primitives::Call::File => (WaitKind::Storage, self.descriptor(pid, first).1),
            primitives::Call::Descriptor => match self.descriptor(pid, first) {
                (WaitKind::Storage, path) if primitives::is_inode_lock(&channel()) => {
                    (WaitKind::Lock, format!("the kernel's lock of {path}"))
                }
                other => other,
            },
            primitives::Call::Epoll => self.events(pid, &wait::watched(pid, first)),
            primitives::Call::Poll if second == 0 => {
                (WaitKind::Timer, call.unwrap_or_default().into())
            }
            primitives::Call::Poll => {
                let entries = memory.map(|memory| memory.read(first, 8 * second.min(64) as usize));
                let number =
                    |entry: &[u8]| Some(u64::from(u32::from_ne_bytes(entry[..4].try_into().ok()?)));
                let entries = entries.unwrap_or_default();
                let numbers: Vec<u64> = entries.chunks_exact(8).filter_map(number).collect();
                self.events(pid, &numbers)
            }
            primitives::Call::Select if first == 0 => {
                (WaitKind::Timer, call.unwrap_or_default().into())
            }
            primitives::Call::Select => (WaitKind::Event, String::new()),
            primitives::Call::FileLock => (WaitKind::Lock, self.descriptor(pid, first).1),
            primitives::Call::Memory => {
                let channel = channel();
                match on_storage(&channel) {
                    true => (WaitKind::Storage, "a page of a file".into()),
                    false => (WaitKind::Memory, primitives::memory_words(call, &channel)),
                }
            }
            primitives::Call::Other => {
                let channel = channel();
                let kind = if on_storage(&channel) { WaitKind::Storage } else { WaitKind::Unknown };
                let name = call.unwrap_or_default();
                (kind, if channel.is_empty() { name.into() } else { format!("{name} ({channel})") })
            }
        }
    }

    /// Returns the kind of a wait for one of several descriptors: that of all, where they have one.
    fn events(&mut self, pid: Pid, descriptors: &[u64]) -> (WaitKind, String) {
        let mut all: Vec<(WaitKind, String)> =
            descriptors.iter().take(8).map(|one| self.descriptor(pid, *one)).collect();
        // Event loops wake themselves by an eventfd or a pipe: it is not what they wait for.
        if all.len() > 1 {
            let wakes = [WaitKind::Signal, WaitKind::Message, WaitKind::Pipe];
            all.retain(|(kind, _)| !wakes.contains(kind));
        }
        all.dedup();
        match all.len() {
            1 => all.remove(0),
            _ if descriptors.is_empty() => (WaitKind::Timer, "epoll".into()),
            _ => (WaitKind::Event, format!("one of {} descriptors", descriptors.len())),
        }
    }

    /// Returns what kind of object a descriptor is, and its name.
    fn descriptor(&mut self, pid: Pid, number: u64) -> (WaitKind, String) {
        let Some(link) = wait::descriptor(pid, number) else {
            return (WaitKind::Unknown, format!("descriptor {number}"));
        };
        let kind = match link.as_str() {
            _ if link.starts_with("socket:") => WaitKind::Socket,
            _ if link.starts_with("pipe:") => WaitKind::Pipe,
            "anon_inode:[eventfd]" => return (WaitKind::Signal, "an eventfd".into()),
            "anon_inode:[timerfd]" => return (WaitKind::Timer, "a timerfd".into()),
            _ if link.starts_with("anon_inode:") || link.starts_with("/dev/") => WaitKind::Event,
            _ if link.starts_with('/') => WaitKind::Storage,
            _ => WaitKind::Unknown,
        };
        match kind {
            WaitKind::Socket => self.peer(pid, kind, End { link, writes: None }),
            WaitKind::Pipe => {
                let writes = wait::writes(pid, number);
                self.peer(pid, kind, End { link, writes })
            }
            _ => (kind, link),
        }
    }

    /// Returns what a thread waits for at its end of a socket or pipe: for a process of the program itself, or for
    /// another one.
    fn peer(&mut self, pid: Pid, kind: WaitKind, own: End) -> (WaitKind, String) {
        if let Some(known) = self.ends.get(&own) {
            return known.clone();
        }
        if self.ends.len() >= PEERS_MAX {
            return (kind, String::new());
        }
        let first: Vec<Pid> = self.family.iter().copied().chain(self.peers.pids()).collect();
        let found = self.once(1.0, || ends::peer(pid, kind, &own, &first));
        let Some((process, what)) = found else { return (kind, String::new()) };
        let is_own = process.is_some_and(|process| self.family.contains(&process));
        if let Some(process) = process.filter(|it| !is_own && *it != sys::process::pid()) {
            self.peers.add(process);
        }
        let named = (if is_own { WaitKind::Message } else { kind }, what);
        self.ends.insert(own, named.clone());
        named
    }
}

/// Operations of futex(2), and the bits that hold them.
const OPERATION: u64 = 127;
const WAIT: u64 = 0;
const LOCK_PI: u64 = 6;
const WAIT_BITSET: u64 = 9;
const LOCK_PI2: u64 = 13;
const PRIVATE: u64 = 128;

/// The parts of the word of a robust lock that is waited for.
const WAITERS: u32 = 1 << 31;
const TID_MAX: u32 = 1 << 22;

/// Reports whether a thread waits for the end of another: glibc and musl wait for the word in which the
/// kernel clears the thread's number, which is shared with the kernel.
fn is_join(pid: Pid, waiting: &Waiting) -> bool {
    let [_, operation, value, ..] = waiting.arguments;
    let waits = matches!(operation & OPERATION, WAIT | WAIT_BITSET) && operation & PRIVATE == 0;
    waits && value > 2 && sys::proc::is_thread_of(pid, value as Pid)
}

/// Returns the number of the thread that holds a robust lock: waiters wait for it with the bit FUTEX_WAITERS
/// (set_robust_list(2)).
fn holder_in(value: u64) -> Option<Pid> {
    let holder = (value as u32) ^ WAITERS;
    (1..=TID_MAX).contains(&holder).then_some(holder as Pid)
}

/// Returns the name of a thread of process `pid`, or, of a lock that processes share, of any program that numbers
/// threads as this one does. A lock of musl that is no robust one holds another number (EBUSY), which is mostly that
/// of a thread of the kernel.
fn robust_owner(pid: Pid, is_private: bool, tid: Pid) -> Option<String> {
    let link = |of: Pid, name: &str| std::fs::read_link(format!("/proc/{of}/{name}")).ok();
    let is_of_pid = sys::proc::is_thread_of(pid, tid);
    if !is_of_pid && (is_private || link(tid, "exe").is_none()) {
        return None;
    }
    (link(tid, "ns/pid")? == link(pid, "ns/pid")?).then(|| sys::proc::thread_name(tid, tid))?
}

/// Returns the name of the thread that owns a lock: glibc keeps its number two words behind a mutex's
/// lock word, and the kernel keeps it in the word of a lock with priority inheritance.
fn owner(pid: Pid, memory: &Memory, futex: &Futex) -> Option<String> {
    if !futex.is_lock_word {
        return None;
    }
    let tid = memory.word(futex.address + 8)? as Pid;
    (tid > 0 && sys::proc::is_thread_of(pid, tid)).then(|| sys::proc::thread_name(pid, tid))?
}

/// Returns the process that holds the lock of a file.
fn lock_holder(kind: WaitKind, pid: Pid, waiting: &Waiting) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    if kind != WaitKind::Lock {
        return None;
    }
    let file = std::fs::metadata(format!("/proc/{pid}/fd/{}", waiting.arguments[0])).ok()?;
    Some(sys::proc::stat(wait::locker(file.ino())?)?.name)
}

/// Returns the static variable of the program that points to the heap object holding an address, and how far
/// from the object's beginning the address lies: the nearest such pointer before it. The size that glibc keeps in
/// front of an object must reach that far.
fn pointer_to(image: &Image, memory: &Memory, address: u64) -> Option<(u64, u64)> {
    let program = image.mappings.iter().find(|one| one.file.starts_with('/'))?.file.clone();
    let mut best: Option<(u64, u64)> = None;
    let own = image.mappings.iter().filter(|one| one.is_writable && one.file == program);
    for mapping in own {
        // What is not in the file (.bss) follows it.
        let end = mapping.end + STATIC_BYTES_MAX / 4;
        let bytes = (end - mapping.start).min(STATIC_BYTES_MAX) as usize;
        let held = memory.read(mapping.start, bytes);
        for (place, word) in (mapping.start..).step_by(8).zip(held.chunks_exact(8)) {
            let Ok(word) = word.try_into() else { continue };
            let pointer = u64::from_ne_bytes(word);
            let distance = address.wrapping_sub(pointer);
            if distance < best.map_or(OBJECT_BYTES_MAX, |(_, nearest)| nearest)
                && reaches(memory, pointer, distance)
            {
                best = Some((place, distance));
            }
        }
    }
    best
}

/// Reports whether `pointer` is that of an object larger than `distance`, by what glibc keeps in front of objects: a
/// size of whole 16 bytes with three bits, and in front of the next object the bit that says that this one is in use.
fn reaches(memory: &Memory, pointer: u64, distance: u64) -> bool {
    const IN_USE: u64 = 1;
    let head = |object: u64| {
        let word = memory.read(object.wrapping_sub(8), 8);
        word.try_into().ok().map(u64::from_ne_bytes)
    };
    let Some(size) = head(pointer).map(|word| word & !7) else { return false };
    let is_size =
        pointer.is_multiple_of(16) && size.is_multiple_of(16) && distance < size && size < 1 << 40;
    // An object of its own mapping has no next one.
    let is_mapped = pointer % 4096 == 16 && size.is_multiple_of(4096);
    is_size && (is_mapped || head(pointer + size).is_some_and(|next| next & IN_USE != 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lock of musl that is no robust one holds EBUSY, which is the number of some other thread.
    #[test]
    fn nobody_but_a_thread_that_can_hold_a_lock_holds_it() {
        let own = sys::process::pid();
        let name = sys::proc::thread_name(own, own);
        assert!(name.is_some());
        assert_eq!(robust_owner(own, true, own), name);
        assert_eq!(robust_owner(own, false, own), name);
        let numbers = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
            entry.ok()?.file_name().to_str()?.parse::<Pid>().ok().filter(|pid| *pid != own)
        });
        for other in numbers {
            assert_eq!(robust_owner(own, true, other), None, "{other} is of another process");
            let is_of_kernel = std::fs::read_link(format!("/proc/{other}/exe")).is_err();
            if is_of_kernel {
                assert_eq!(robust_owner(own, false, other), None, "{other} has no program");
            }
        }
    }
}
