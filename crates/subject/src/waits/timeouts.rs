//! Whether waits end by their time-outs, rather than by what they wait for.

use crate::doing::WaitId;
use std::collections::HashMap;
use sys::clock::{self, Clock};
use sys::proc::SchedStat;
use sys::proc::wait::{self, Memory, Waiting};
use sys::task::Pid;

/// Waits that lasted at least this part of their time-outs, on average, ended by them: looks that are as far apart as these
/// show a wait that reaches its time-out to last for 86 % of it, and none that is over sooner as longer than it is.
const PART: f64 = 5.0 / 6.0;

/// How much earlier than its time-out a wait may seem to end: clocks that are read one after the other.
const EARLY_NS: u64 = 1_000_000;

/// When a call gives up waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Limit {
    /// After so long, in ns.
    After(u64),
    /// At this time of the monotonic clock, in ns.
    At(u64),
}

/// Operations of futex(2), and the bits that say by which clock they end.
const FUTEX_COMMAND: u64 = 127;
const FUTEX_WAIT: u64 = 0;
const FUTEX_REALTIME: u64 = 256;

/// Returns when a call gives up waiting; `None` where it never does, or that is not known.
pub(super) fn limit(
    pid: Pid,
    call: &str,
    waiting: &Waiting,
    memory: Option<&Memory>,
) -> Option<Limit> {
    let [first, second, third, fourth, fifth, _] = waiting.arguments;
    let ms =
        |argument: u64| u64::try_from(argument as i32).ok().map(|ms| Limit::After(ms * 1_000_000));
    // Of a fraction in ns, or, of select(2), in µs.
    let time = |address: u64, fraction_ns: u64| {
        let bytes = memory.filter(|_| address != 0)?.read(address, 16);
        let word = |at: usize| Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        word(0)?.checked_mul(1_000_000_000)?.checked_add(word(8)?.checked_mul(fraction_ns)?)
    };
    let after = |address: u64| Some(Limit::After(time(address, 1)?));
    let at = |address: u64, realtime: bool| {
        let ns = time(address, 1)?;
        let ahead =
            if realtime { Clock::Realtime.read().saturating_sub(clock::now_ns()) } else { 0 };
        Some(Limit::At(ns.saturating_sub(ahead)))
    };
    match call {
        "epoll_wait" | "epoll_pwait" => ms(fourth),
        "poll" => ms(third),
        "ppoll" | "rt_sigtimedwait" => after(third),
        "epoll_pwait2" | "semtimedop" => after(fourth),
        "pselect6" | "io_getevents" => after(fifth),
        "select" => Some(Limit::After(time(fifth, 1000)?)),
        "futex" if second & FUTEX_COMMAND == FUTEX_WAIT => after(fourth),
        "futex" => at(fourth, second & FUTEX_REALTIME != 0),
        "futex_waitv" => at(fourth, fifth == 0),
        "mq_timedreceive" | "mq_timedsend" => at(fifth, true),
        "read" | "readv" | "recvfrom" | "recvmsg" | "recvmmsg" | "accept" | "accept4" => {
            wait::socket_timeout(pid, first, false).map(Limit::After)
        }
        "write" | "writev" | "sendto" | "sendmsg" | "sendmmsg" | "connect" => {
            wait::socket_timeout(pid, first, true).map(Limit::After)
        }
        _ => None,
    }
}

/// A wait with a time-out that a look found.
#[derive(Clone, Copy, Debug)]
struct Pending {
    id: WaitId,
    limit: Limit,
    /// When a look last found the thread elsewhere, and the first and the last time of looks that found it here.
    since_ns: u64,
    first_ns: u64,
    last_ns: u64,
    account: SchedStat,
    sleeps: Option<u64>,
}

/// How often a thread has gone to sleep; `None` where that is not known.
#[derive(Debug)]
struct Sleeps(fn(Pid) -> Option<u64>);

impl Default for Sleeps {
    fn default() -> Self {
        Sleeps(|tid| sys::proc::status(tid).ok()?.voluntary_switches)
    }
}

/// The waits with time-outs.
#[derive(Debug, Default)]
pub(super) struct TimeOuts {
    sleeps: Sleeps,
    pending: HashMap<(Pid, Pid), Pending>,
    /// How long each wait lasted, and its time-outs, in ns, summed over its occurrences.
    ended: HashMap<WaitId, [u64; 2]>,
    /// The longest time that was left of a wait that ends at some moment, in ns.
    left_ns: HashMap<WaitId, u64>,
    now_ns: u64,
    before_ns: u64,
}

impl TimeOuts {
    /// Notes that a look begins.
    pub(super) fn begin(&mut self, now_ns: u64) {
        let before_ns = std::mem::replace(&mut self.now_ns, now_ns);
        // Threads that the look before did not find have ended by then.
        let gone = |one: &Pending| one.last_ns < before_ns;
        let all: Vec<_> = self.pending.extract_if(|_, one| gone(one)).collect();
        all.iter().for_each(|(_, one)| self.leave(one, before_ns));
        self.before_ns = before_ns;
    }

    /// Notes that a look found a thread in the same wait as the one before.
    pub(super) fn lasting(&mut self, thread: (Pid, Pid)) {
        if let Some(pending) = self.pending.get_mut(&thread) {
            pending.last_ns = self.now_ns;
        }
    }

    /// Notes that a thread has run since the last look.
    pub(super) fn ran(&mut self, thread: (Pid, Pid), account: SchedStat) {
        let Some(one) = self.pending.remove(&thread) else { return };
        // Who loses its CPU is put on one once more without a wait.
        let slices = account.slices.saturating_sub(one.account.slices);
        let sleeps = one.sleeps.and_then(|before| (self.sleeps.0)(thread.1)?.checked_sub(before));
        let runs = sleeps.map_or(slices, |sleeps| slices.min(sleeps)).max(1);
        let least_ns = one.last_ns - one.first_ns;
        let lasted_ns = match runs {
            // Between the looks that found it and those around them.
            1 => least_ns.midpoint(self.now_ns - one.since_ns),
            _ => least_ns.max((self.now_ns - one.last_ns) / runs),
        };
        let span_ns = self.span_ns(&one);
        self.add(one.id, [lasted_ns.min(span_ns), span_ns]);
    }

    /// Notes that a look found a thread in a wait that ends at the latest by a limit.
    pub(super) fn found(
        &mut self,
        thread: (Pid, Pid),
        id: WaitId,
        limit: Limit,
        account: SchedStat,
    ) {
        if let Limit::At(at_ns) = limit {
            let left_ns = self.left_ns.entry(id).or_default();
            *left_ns = at_ns.saturating_sub(self.now_ns).max(*left_ns);
        }
        let (since_ns, now_ns) = (self.before_ns, self.now_ns);
        let sleeps = (self.sleeps.0)(thread.1);
        let found =
            Pending { id, limit, since_ns, first_ns: now_ns, last_ns: now_ns, account, sleeps };
        self.pending.insert(thread, found);
    }

    /// Notes that the last look was over at a moment.
    pub(super) fn end(&mut self, now_ns: u64) {
        let all = std::mem::take(&mut self.pending);
        all.values().for_each(|one| self.leave(one, now_ns));
    }

    /// Returns how long a wait lasted, and its time-outs, in ns, summed over its occurrences.
    pub(super) fn of(&self, id: WaitId) -> [u64; 2] {
        self.ended.get(&id).copied().unwrap_or_default()
    }

    /// Counts a wait whose end nobody saw: if its time is over, it ended by that.
    fn leave(&mut self, one: &Pending, at_ns: u64) {
        let end_ns = match one.limit {
            Limit::After(ns) => one.since_ns.saturating_add(ns),
            Limit::At(ns) => ns,
        };
        if at_ns + EARLY_NS >= end_ns {
            let span_ns = self.span_ns(one);
            self.add(one.id, [span_ns; 2]);
        }
    }

    fn add(&mut self, id: WaitId, times: [u64; 2]) {
        let sums = self.ended.entry(id).or_default();
        sums.iter_mut().zip(times).for_each(|(sum, ns)| *sum = sum.saturating_add(ns));
    }

    fn span_ns(&self, one: &Pending) -> u64 {
        match one.limit {
            Limit::After(ns) => ns,
            Limit::At(_) => self.left_ns.get(&one.id).copied().unwrap_or(0),
        }
    }
}

/// Reports whether waits ended by their time-outs: they lasted as long as these, both summed, in ns.
pub(super) fn are_over([lasted_ns, limits_ns]: [u64; 2]) -> bool {
    lasted_ns > 0 && lasted_ns as f64 >= PART * limits_ns as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    const MS: u64 = 1_000_000;

    thread_local! {
        /// How often the thread that is played has gone to sleep.
        static SLEPT: Cell<u64> = const { Cell::new(0) };
    }

    /// Plays waits of `each` ms, one after the other, for 2 s, at which one looks each `pause` ms, and returns whether
    /// they count as ended by a limit of 50 ms.
    fn is_time_out(each: u64, pause: u64, limit: fn(u64) -> Limit) -> bool {
        let mut outs = TimeOuts { sleeps: Sleeps(|_| Some(SLEPT.get())), ..TimeOuts::default() };
        let (thread, mut last) = ((1, 1), None);
        for now in (1..2000).step_by(pause as usize) {
            outs.begin(now * MS);
            SLEPT.set(now / each);
            // It loses its CPU once after each wait.
            let account = SchedStat { slices: 2 * (now / each), ..SchedStat::default() };
            if last == Some(account) {
                outs.lasting(thread);
            } else {
                outs.ran(thread, account);
                outs.found(thread, 0, limit(now / each * each), account);
            }
            last = Some(account);
        }
        outs.end(2000 * MS);
        are_over(outs.of(0))
    }

    #[test]
    fn waits_that_last_as_long_as_they_may_end_by_their_time_out() {
        let limits: [fn(u64) -> Limit; 2] =
            [|_| Limit::After(50 * MS), |begun| Limit::At((begun + 50) * MS)];
        for limit in limits {
            for pause in [1, 7, 30, 70, 190] {
                assert!(!is_time_out(37, pause, limit), "{pause} {:?}", limit(0));
                assert!(is_time_out(50, pause, limit), "{pause} {:?}", limit(0));
                assert!(!is_time_out(10, pause, limit), "{pause} {:?}", limit(0));
                assert!(!is_time_out(2, pause, limit), "{pause} {:?}", limit(0));
            }
        }
    }

    #[test]
    fn a_wait_that_the_end_of_the_program_ends_counts_if_its_time_is_over() {
        for (ends, by_limit) in [(1000, true), (400, false)] {
            let mut outs = TimeOuts { sleeps: Sleeps(|_| None), ..TimeOuts::default() };
            outs.begin(MS);
            outs.found((1, 1), 0, Limit::After(990 * MS), SchedStat::default());
            outs.end(ends * MS);
            assert_eq!(are_over(outs.of(0)), by_limit);
        }
    }
}
