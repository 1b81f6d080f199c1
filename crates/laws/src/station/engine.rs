//! The play itself: one event after the other, in the order of their times.

use super::agenda::{Agenda, NEVER};
use super::feed::Feed;
use super::shared::Shared;
use super::{Demand, End, Request, Station, Totals, Visit, Waiting};
use crate::Error;
use std::collections::VecDeque;

/// The latest time that is played, in ns: 146 years. What is noted of times before it overflows no
/// `u64`.
const LAST_NS: u64 = 1 << 62;

/// What a request's next event on the agenda is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// None: it waits in a queue, or shares the CPUs.
    Nothing,
    /// Its wait without a worker is over.
    Asks,
    /// Its wait with a worker is over.
    Computes,
    /// It is done.
    Done,
    /// There is no request in this slot.
    Gone,
}

/// A request that is there.
#[derive(Clone, Copy, Debug)]
struct Present {
    /// What is known of it so far, as if the simulation ended now.
    visit: Visit,
    demand: Demand,
    next: Next,
}

/// A connection whose worker stays with it.
#[derive(Debug, Default)]
struct Seat {
    /// It has a worker.
    bound: bool,
    /// Its request is served, or waits for a worker.
    busy: bool,
    /// Requests that came over it before that one was answered.
    behind: VecDeque<u32>,
}

pub(super) struct Engine<'a, F, S> {
    station: &'a Station,
    feed: F,
    sink: S,
    now_ns: u64,
    agenda: Agenda,
    cpus: Option<Shared>,
    slots: Vec<Present>,
    unused: Vec<u32>,
    /// Workers that have nothing to do.
    free: u32,
    /// Requests that wait for a worker.
    queue: VecDeque<u32>,
    /// By connection, where workers stay with theirs.
    seats: Vec<Seat>,
    present: u64,
    busy: u64,
    totals: Totals,
}

impl<'a, F: Feed, S: FnMut(&Visit)> Engine<'a, F, S> {
    pub(super) fn new(station: &'a Station, feed: F, sink: S) -> Self {
        Engine {
            station,
            feed,
            sink,
            now_ns: 0,
            agenda: Agenda::default(),
            // Workers that are no more than the CPUs never share one.
            cpus: station
                .cpus
                .filter(|cpus| station.workers.is_none_or(|workers| workers > *cpus))
                .map(Shared::new),
            slots: Vec::new(),
            unused: Vec::new(),
            free: station.workers.unwrap_or(u32::MAX),
            queue: VecDeque::new(),
            seats: Vec::new(),
            present: 0,
            busy: 0,
            totals: Totals::default(),
        }
    }

    /// Plays until nothing is to come, or until a time.
    pub(super) fn run(mut self, until_ns: Option<u64>) -> Result<Totals, Error> {
        let first_ns = self.feed.due_ns();
        self.now_ns = if first_ns == NEVER { 0 } else { first_ns };
        let until_ns = until_ns.unwrap_or(NEVER);
        let start_ns = self.now_ns;
        loop {
            let computed_ns = self.cpus.as_ref().map_or(NEVER, Shared::due_ns);
            let noted_ns = self.agenda.key();
            let comes_ns = self.feed.due_ns();
            let next_ns = computed_ns.min(noted_ns).min(comes_ns);
            if next_ns == NEVER || next_ns > until_ns {
                break;
            }
            if next_ns > LAST_NS {
                let right = "at most 2^62 ns (146 years); less work, or a faster station";
                let what = "the end of the simulation in ns";
                return Err(Error::Wrong { what, value: next_ns as f64, right });
            }
            self.pass(next_ns);
            self.totals.events += 1;
            // A request that leaves makes room before another comes.
            if computed_ns == next_ns {
                if let Some(slot) = self.cpus.as_mut().and_then(|cpus| cpus.leave(next_ns)) {
                    self.done(slot)?;
                }
            } else if noted_ns == next_ns {
                if let Some(slot) = self.agenda.pop() {
                    self.fire(slot)?;
                }
            } else if let Some(request) = self.feed.take()? {
                self.comes(&request);
            }
        }
        if until_ns != NEVER && self.now_ns < until_ns {
            self.pass(until_ns);
        }
        self.totals.elapsed_ns = self.now_ns - start_ns;
        self.leave_unfinished();
        Ok(self.totals)
    }

    /// Time passes, and nothing happens in it.
    fn pass(&mut self, now_ns: u64) {
        let passed = u128::from(now_ns - self.now_ns);
        self.totals.present_ns += passed * u128::from(self.present);
        self.totals.busy_ns += passed * u128::from(self.busy);
        self.now_ns = now_ns;
    }

    fn comes(&mut self, request: &Request) {
        let visit = Visit {
            number: self.totals.came,
            connection: request.connection,
            came_ns: request.at_ns,
            end: End::Unfinished { begun_ns: None },
        };
        let present = Present { visit, demand: request.demand, next: Next::Nothing };
        self.totals.came += 1;
        self.present += 1;
        let slot = if let Some(slot) = self.unused.pop() {
            self.slots[slot as usize] = present;
            slot
        } else {
            self.slots.push(present);
            (self.slots.len() - 1) as u32
        };
        if self.station.waiting == Waiting::Apart && request.demand.wait_ns > 0 {
            self.note(slot, Next::Asks, request.demand.wait_ns);
        } else if self.claims(slot) {
            self.asks(slot);
        }
    }

    fn note(&mut self, slot: u32, next: Next, after_ns: u64) {
        self.slots[slot as usize].next = next;
        self.agenda.push(self.now_ns + after_ns, slot);
    }

    fn fire(&mut self, slot: u32) -> Result<(), Error> {
        let present = &mut self.slots[slot as usize];
        let next = std::mem::replace(&mut present.next, Next::Nothing);
        match next {
            Next::Asks => self.asks(slot),
            Next::Computes => self.computes(slot),
            Next::Done => self.done(slot)?,
            Next::Nothing | Next::Gone => {}
        }
        Ok(())
    }

    /// Whether nothing of its own connection is before a request.
    fn claims(&mut self, slot: u32) -> bool {
        if !self.station.bound {
            return true;
        }
        let connection = self.slots[slot as usize].visit.connection as usize;
        if self.seats.len() <= connection {
            self.seats.resize_with(connection + 1, Seat::default);
        }
        let seat = &mut self.seats[connection];
        if seat.busy {
            seat.behind.push_back(slot);
            return false;
        }
        seat.busy = true;
        true
    }

    fn seat(&mut self, slot: u32) -> Option<&mut Seat> {
        let connection = self.slots[slot as usize].visit.connection as usize;
        self.seats.get_mut(connection)
    }

    /// A request asks for a worker.
    fn asks(&mut self, slot: u32) {
        if self.station.bound && self.seat(slot).is_some_and(|seat| seat.bound) {
            self.begins(slot);
        } else if self.free > 0 {
            self.free -= 1;
            self.takes_worker(slot);
        } else {
            self.queue.push_back(slot);
        }
    }

    fn takes_worker(&mut self, slot: u32) {
        if self.station.bound
            && let Some(seat) = self.seat(slot)
        {
            seat.bound = true;
        }
        self.begins(slot);
    }

    /// Gives a free worker to the request that has waited longest.
    fn worker_free(&mut self) {
        match self.queue.pop_front() {
            Some(slot) => self.takes_worker(slot),
            None => self.free += 1,
        }
    }

    fn begins(&mut self, slot: u32) {
        self.busy += 1;
        let present = &mut self.slots[slot as usize];
        present.visit.end = End::Unfinished { begun_ns: Some(self.now_ns) };
        let Demand { wait_ns, cpu_ns } = present.demand;
        if self.station.waiting == Waiting::Apart || wait_ns == 0 {
            self.computes(slot);
        } else if self.cpus.is_some() {
            self.note(slot, Next::Computes, wait_ns);
        } else {
            self.note(slot, Next::Done, wait_ns + cpu_ns);
        }
    }

    fn computes(&mut self, slot: u32) {
        let cpu_ns = self.slots[slot as usize].demand.cpu_ns;
        match &mut self.cpus {
            Some(cpus) => cpus.enter(self.now_ns, slot, cpu_ns),
            None => self.note(slot, Next::Done, cpu_ns),
        }
    }

    fn done(&mut self, slot: u32) -> Result<(), Error> {
        let Present { visit, demand, .. } = self.slots[slot as usize];
        let begun_ns = match visit.end {
            End::Unfinished { begun_ns: Some(begun_ns) } => begun_ns,
            _ => self.now_ns,
        };
        self.totals.answered += 1;
        self.totals.cpu_ns += u128::from(demand.cpu_ns);
        self.busy -= 1;
        self.ends(slot, End::Answered { begun_ns, done_ns: self.now_ns });
        let more = self.feed.ended(visit.connection, self.now_ns)?;
        if self.station.bound {
            self.answered_bound(slot, more);
        } else {
            self.worker_free();
        }
        Ok(())
    }

    /// The worker goes on with its connection's next request, or waits for one.
    fn answered_bound(&mut self, slot: u32, more: bool) {
        let Some(seat) = self.seat(slot) else { return };
        if let Some(next) = seat.behind.pop_front() {
            self.begins(next);
            return;
        }
        seat.busy = false;
        if !more {
            seat.bound = false;
            self.worker_free();
        }
    }

    /// A request leaves, and its slot is there for another. What is asked of the slot before that
    /// comes still finds its connection.
    fn ends(&mut self, slot: u32, end: End) {
        self.present -= 1;
        let present = &mut self.slots[slot as usize];
        (present.next, present.visit.end) = (Next::Gone, end);
        self.unused.push(slot);
        (self.sink)(&present.visit);
    }

    fn leave_unfinished(&mut self) {
        let mut left: Vec<Present> =
            self.slots.iter().filter(|slot| slot.next != Next::Gone).copied().collect();
        left.sort_unstable_by_key(|present| present.visit.number);
        self.totals.unfinished = left.len() as u64;
        for present in left {
            (self.sink)(&present.visit);
        }
    }
}
