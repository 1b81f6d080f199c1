//! Which connection sends which request when, and what ends without an answer.

use super::{TIMEOUT_STEP_NS, Worker};
use crate::load::connection::Phase;
use crate::load::tally::record;
use crate::load::{End, Error, Noted, system};
use mio::Token;
use model::Arrivals;
use std::cmp::Reverse;
use std::io;
use std::sync::atomic::Ordering;
use std::time::Duration;
use sys::clock::now_ns;

impl Worker<'_> {
    /// Sends what is due, as long as connections are free. What is due beyond stays in the
    /// schedule, which knows the next moment and needs no list of those that passed.
    pub(super) fn dispatch(&mut self) {
        loop {
            let now_ns = now_ns();
            // What comes due at the very end is not part of the load.
            let passed_ns = now_ns.min(self.end_ns - 1).saturating_sub(self.start_ns);
            let is_due = |due: &super::Due| due.peek_ns().is_some_and(|due_ns| due_ns <= passed_ns);
            if now_ns >= self.drained_ns || !self.due.as_ref().is_some_and(is_due) {
                return;
            }
            let Some(index) = self.take_free() else { return };
            if let Some(due_ns) = self.due.as_mut().and_then(|due| due.next_by(passed_ns)) {
                self.send(index, self.start_ns + due_ns, now_ns);
            }
        }
    }

    /// A connection that has nothing to do: in an open loop the one that was used last, so that no
    /// more are opened than needed, and with a pace one after the other.
    fn take_free(&mut self) -> Option<u32> {
        if matches!(self.job.plan.arrivals, Arrivals::Paced { .. }) {
            return self.free.pop_front();
        }
        while let Some(index) = self.free.pop_back() {
            if self.connections[index as usize].phase == Phase::Idle {
                return Some(index);
            }
            // The server has closed it while it was idle.
            self.vacant.push(index);
        }
        self.vacant.pop()
    }

    /// A connection has nothing to do from `now_ns` on.
    pub(super) fn freed(&mut self, index: u32, now_ns: u64) {
        if self.free.is_empty() && self.vacant.is_empty() {
            self.free_since_ns = now_ns;
        }
        let shared = self.session_of(index).is_some_and(|session| session.is_open());
        let connection = &mut self.connections[index as usize];
        connection.free(shared);
        let open = connection.phase == Phase::Idle;
        match self.job.plan.arrivals {
            Arrivals::Closed => self.ask_again(index, now_ns),
            Arrivals::Paced { .. } => self.free.push_back(index),
            Arrivals::Constant { .. } | Arrivals::Poisson { .. } if open => {
                self.free.push_back(index);
            }
            Arrivals::Constant { .. } | Arrivals::Poisson { .. } => self.vacant.push(index),
        }
    }

    /// Sends the next request of a connection in a closed loop, at this moment.
    pub(super) fn ask_again(&mut self, index: u32, now_ns: u64) {
        if now_ns >= self.end_ns {
            return;
        }
        if self.job.plan.requests.is_some() && !self.warming {
            let take = |left: u64| left.checked_sub(1);
            let budget = &self.job.shared.budget;
            if budget.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_err() {
                return;
            }
        }
        self.send(index, now_ns, now_ns);
    }

    /// Sends a request.
    fn send(&mut self, index: u32, due_ns: u64, now_ns: u64) {
        self.busy += 1;
        self.job.progress.in_flight.store(self.busy, Ordering::Relaxed);
        let plan = self.job.plan;
        let request = self.picks.next();
        let connection = &mut self.connections[index as usize];
        connection.request = request;
        connection.detour = None;
        connection.retried = false;
        connection.is_counted = true;
        let tally = &mut self.tally;
        tally.sent += 1;
        if now_ns == due_ns {
            tally.prompt_sent += 1;
        } else {
            record(&mut tally.lateness.known, now_ns.saturating_sub(due_ns));
        }
        // A closed loop has no request before it has a connection.
        let free_since_ns = if self.due.is_some() { self.free_since_ns } else { due_ns };
        connection.own_late_ns = now_ns.saturating_sub(due_ns.max(free_since_ns));
        tally.waited += u64::from(free_since_ns > due_ns);
        connection.due_ns = due_ns;
        connection.sent_ns = now_ns;
        let timeout_ns = plan.timeout_ms.saturating_mul(1_000_000);
        self.timeout_from_ns = self.timeout_from_ns.min(now_ns.saturating_add(timeout_ns));
        self.ask(index);
    }

    /// Sends the request of a place, on its open connection or on a new one.
    pub(super) fn ask(&mut self, index: u32) {
        if !self.sessions.is_empty() {
            self.ask_session(index);
            return;
        }
        let connection = &mut self.connections[index as usize];
        self.opened += u64::from(!connection.is_open());
        let token = Token(index as usize);
        let registry = self.poll.registry();
        let step = connection.ask(registry, token, self.job.route, &mut self.wire);
        self.handle(index, step);
    }

    /// Connections that have rested long enough may be opened again.
    pub(super) fn rested(&mut self, now_ns: u64) {
        while let Some(Reverse((until_ns, index))) = self.resting.peek().copied() {
            if until_ns > now_ns {
                return;
            }
            self.resting.pop();
            self.freed(index, now_ns);
        }
    }

    /// Gives up requests whose time is over. All have the same time, so that none that is sent
    /// later ends before, and the connections are looked through about once in that time.
    pub(super) fn expire(&mut self, now_ns: u64) {
        if self.busy == 0 || now_ns < self.timeout_from_ns {
            return;
        }
        self.timeout_from_ns = u64::MAX;
        let timeout_ns = self.job.plan.timeout_ms.saturating_mul(1_000_000);
        let mut next_ns = u64::MAX;
        for index in 0..self.places() {
            let connection = &self.connections[index as usize];
            if !connection.is_busy() {
                continue;
            }
            let until_ns = connection.sent_ns.saturating_add(timeout_ns);
            if until_ns <= now_ns {
                self.time_out(index, now_ns);
            } else {
                next_ns = next_ns.min(until_ns);
            }
        }
        self.timeout_from_ns =
            self.timeout_from_ns.min(next_ns).max(now_ns.saturating_add(TIMEOUT_STEP_NS));
    }

    /// A request's time is over. What the connection still brings would answer it and not the next,
    /// so it is closed.
    fn time_out(&mut self, index: u32, now_ns: u64) {
        let connection = &mut self.connections[index as usize];
        if connection.is_counted {
            let tally = &mut self.tally;
            tally.timed_out += 1;
            connection.record(now_ns, tally, |times| &mut times.censored);
        }
        let counted = connection.is_counted;
        connection.close();
        self.cancel(index);
        if counted {
            self.note(index, now_ns, End::TimedOut);
        }
        self.depart(index, now_ns, false);
        self.freed(index, now_ns);
    }

    /// Sets the alarm to the next moment at which there is something to do without an event, and
    /// returns how long events may be waited for.
    pub(super) fn set_alarm(&mut self, now_ns: u64) -> sys::Result<Option<Duration>> {
        if !self.unread.is_empty() {
            return Ok(Some(Duration::ZERO));
        }
        let is_over = now_ns >= self.end_ns;
        let mut next_ns = if is_over { self.drained_ns } else { self.end_ns };
        if self.warming {
            next_ns = next_ns.min(self.clock_ns);
        }
        if let Some(Reverse((until_ns, _))) = self.resting.peek() {
            next_ns = next_ns.min(*until_ns);
        }
        if self.busy > 0 {
            next_ns = next_ns.min(self.timeout_from_ns);
        }
        if !(self.free.is_empty() && self.vacant.is_empty())
            && let Some(due_ns) = self.due.as_ref().and_then(|due| due.peek_ns())
        {
            let due_ns = self.start_ns.saturating_add(due_ns);
            next_ns = if due_ns < self.end_ns { next_ns.min(due_ns) } else { next_ns };
        }
        // One that goes off too early costs a look; setting it costs a system call.
        if next_ns < self.alarm_ns {
            self.alarm.set(next_ns)?;
            self.alarm_ns = next_ns;
        }
        Ok(None)
    }

    /// Reports whether all requests that a plan's number or time allows were sent and answered or given
    /// up.
    pub(super) fn is_done(&self, now_ns: u64) -> bool {
        let is_over = now_ns >= self.end_ns;
        let in_time = |due_ns: u64| self.start_ns.saturating_add(due_ns) < self.end_ns;
        let all_sent = match &self.due {
            Some(due) => due.peek_ns().is_none_or(|due_ns| is_over && !in_time(due_ns)),
            None => {
                is_over
                    || self.job.plan.requests.is_some()
                        && self.job.shared.budget.load(Ordering::Relaxed) == 0
            }
        };
        all_sent && self.busy == 0 && !self.warming
    }

    /// The reason, where every attempt at connecting has failed so far and none is under way: a
    /// server that is not there is an error, one that goes away is a result.
    pub(super) fn unreachable(&mut self) -> Option<Error> {
        let shared = self.job.shared;
        let failed = self.opened > 0 && self.unopened >= self.opened;
        if self.reached || !failed || shared.reached.load(Ordering::Relaxed) {
            return None;
        }
        let cause = self.cause.take().unwrap_or_else(|| io::ErrorKind::NotConnected.into());
        Some(system(&format!("connect to {}", self.job.route))(cause))
    }

    /// Tells how far it is.
    pub(super) fn tell(&self) {
        let progress = self.job.progress;
        progress.answered.store(self.tally.answered(), Ordering::Relaxed);
        progress.failed.store(self.tally.failed() + self.tally.timed_out, Ordering::Relaxed);
    }

    /// The end: what has no answer is kept as what had passed by then.
    pub(super) fn finish(&mut self, now_ns: u64) {
        for index in 0..self.places() {
            if !self.connections[index as usize].is_busy() {
                continue;
            }
            self.was_there(index, now_ns, false);
            let connection = &self.connections[index as usize];
            if connection.is_counted {
                self.tally.in_flight += 1;
                self.tally.late_ns += now_ns.saturating_sub(self.end_ns) as f64;
                connection.record(now_ns, &mut self.tally, |times| &mut times.censored);
                self.note(index, now_ns, End::InFlight);
            }
        }
        let end_ns = now_ns.min(self.end_ns);
        if let Some(last_ns) = end_ns.checked_sub(self.start_ns + 1) {
            while let Some(due_ns) = self.due.as_mut().and_then(|due| due.next_by(last_ns)) {
                self.never_sent(due_ns, now_ns);
            }
        }
        // Those of one connection together.
        let lines = self.connections.chunks(self.job.plan.options.streams as usize);
        let asked = lines.filter(|line| line.iter().any(|place| place.was_asked));
        let answers = asked.map(|line| line.iter().map(|place| place.answers).sum()).collect();
        let tally = &mut self.tally;
        tally.answers = answers;
        tally.read_bytes = self.wire.read_bytes;
        tally.written_bytes = self.wire.written_bytes;
        (tally.end_ns, tally.drained_ns) = (end_ns, now_ns);
        self.hand_over(now_ns);
        self.connections.clear();
    }

    /// A request came due, in ns after the start, and was never sent.
    fn never_sent(&mut self, due_ns: u64, now_ns: u64) {
        let ended_ns = now_ns - self.start_ns;
        let tally = &mut self.tally;
        tally.unsent += 1;
        for times in [&mut tally.response, &mut tally.punctual, &mut tally.lateness] {
            record(&mut times.censored, ended_ns - due_ns);
        }
        if self.job.note {
            let (sent_ns, done_ns, connection) = (None, None, None);
            let end = End::Unsent;
            tally.noted.push(Noted { due_ns, sent_ns, done_ns, ended_ns, connection, end });
        }
    }
}
