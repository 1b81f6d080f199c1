//! A stand-in for a database: a request holds one of a few slots for a time. Those that find none free wait
//! in the order in which they came, in all models alike, so that models differ in how they wait and in
//! nothing else. Processes that are forked later share the slots.

use super::{LOOK, Server};
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{AcqRel, Acquire};
use sys::futex;
use sys::shared_futexes::SharedFutexes;

/// The words: how many requests came in, how many are done, and after these the bells.
const CAME: usize = 0;
const DONE: usize = 1;
const FIRST_BELL: usize = 2;

/// Up to this number, each thread or process that waits has a bell of its own; beyond, some wake for another's
/// turn and wait on.
const BELLS: u32 = 1024;

/// A request's place in the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ticket(u32);

#[derive(Debug)]
pub(super) struct Slots {
    count: u32,
    /// The most requests that may wait.
    queue: Option<u32>,
    words: SharedFutexes,
}

impl Slots {
    pub(super) fn new(count: u32, queue: Option<u32>) -> sys::Result<Self> {
        Ok(Slots { count, queue, words: SharedFutexes::new(FIRST_BELL + BELLS as usize)? })
    }

    /// The number of slots.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// Lets a request in, unless too many wait already. Each ticket is to be followed by one
    /// [`Slots::leave`], once its turn has come.
    pub(super) fn enter(&self) -> Option<Ticket> {
        let most = self.queue.map(|queue| self.count.saturating_add(queue));
        let came = self.words.word(CAME).fetch_update(AcqRel, Acquire, |came| {
            let inside = came.wrapping_sub(self.words.word(DONE).load(Acquire));
            most.is_none_or(|most| inside < most).then(|| came.wrapping_add(1))
        });
        came.ok().map(Ticket)
    }

    /// Whether a request has a slot. It keeps it until it leaves.
    pub(super) fn has_turn(&self, ticket: Ticket) -> bool {
        // Each that is done makes room for the next in order: tickets below this number have had a turn.
        let granted = self.words.word(DONE).load(Acquire).wrapping_add(self.count);
        (granted.wrapping_sub(ticket.0) as i32) > 0
    }

    /// Waits in this thread until a request has a slot, or the server is to end.
    pub(super) fn wait_for_turn(&self, ticket: Ticket, server: &Server) {
        let bell = self.bell(ticket.0);
        loop {
            let rung = bell.load(Acquire);
            if self.has_turn(ticket) || server.is_over() {
                return;
            }
            // However it ended, it is looked again.
            let _ = futex::wait_shared(bell, rung, Some(LOOK));
        }
    }

    /// Frees the slot of a request that is done.
    pub(super) fn leave(&self) {
        let next = self.words.word(DONE).fetch_add(1, AcqRel).wrapping_add(self.count);
        let bell = self.bell(next);
        bell.fetch_add(1, AcqRel);
        let _ = futex::wake_shared(bell, u32::MAX >> 1);
    }

    fn bell(&self, ticket: u32) -> &AtomicU32 {
        self.words.word(FIRST_BELL + (ticket % BELLS) as usize)
    }

    /// How many requests hold a slot or wait for one.
    #[cfg(test)]
    pub(super) fn inside(&self) -> u32 {
        self.words.word(CAME).load(Acquire).wrapping_sub(self.words.word(DONE).load(Acquire))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::{Model, Plan, Service};
    use std::sync::Mutex;

    fn turns(slots: &Slots, tickets: &[Option<Ticket>]) -> Vec<bool> {
        tickets.iter().map(|ticket| slots.has_turn(ticket.unwrap())).collect()
    }

    #[test]
    fn turns_come_in_order_and_no_more_wait_than_may() {
        for begun in [0, u32::MAX - 1] {
            let slots = Slots::new(2, Some(2)).unwrap();
            // Numbers that overflow are as good.
            slots.words.word(CAME).store(begun, std::sync::atomic::Ordering::Release);
            slots.words.word(DONE).store(begun, std::sync::atomic::Ordering::Release);
            let tickets: Vec<_> = (0..4).map(|_| slots.enter()).collect();
            assert_eq!(turns(&slots, &tickets), [true, true, false, false]);
            assert_eq!((slots.enter(), slots.inside()), (None, 4));
            slots.leave();
            assert_eq!(turns(&slots, &tickets), [true, true, true, false]);
            assert!(slots.enter().is_some() && slots.enter().is_none());
        }
        let unbounded = Slots::new(1, None).unwrap();
        assert!((0..5000).all(|_| unbounded.enter().is_some()));
    }

    #[test]
    fn threads_and_processes_wait_their_turn() {
        let service = Service::Nothing;
        let server =
            Server::new(&Plan { model: Model::Single, service, keep_alive: true }).unwrap();
        let slots = Slots::new(2, None).unwrap();
        // The only slots are held until all wait, by two that came first.
        let first = [slots.enter(), slots.enter()];
        assert_eq!(turns(&slots, &first), [true, true]);
        let (held, seen) = (SharedFutexes::new(1).unwrap(), Mutex::new(Vec::new()));
        let work = |ticket: Ticket| {
            slots.wait_for_turn(ticket, &server);
            let others = held.word(0).fetch_add(1, AcqRel);
            std::thread::sleep(std::time::Duration::from_millis(1));
            held.word(0).fetch_sub(1, AcqRel);
            slots.leave();
            others
        };
        let children: Vec<_> = (0..3)
            .map(|_| slots.enter().unwrap())
            .map(|ticket| sys::task::fork_run(|| work(ticket) as i32).unwrap())
            .collect();
        std::thread::scope(|scope| {
            for _ in 0..6 {
                let ticket = slots.enter().unwrap();
                let (work, seen) = (&work, &seen);
                scope.spawn(move || {
                    let others = work(ticket);
                    seen.lock().unwrap().push(others);
                });
            }
            assert_eq!((slots.inside(), held.word(0).load(Acquire)), (11, 0));
            slots.leave();
            slots.leave();
        });
        assert!(seen.lock().unwrap().iter().all(|others| *others < 2), "{seen:?}");
        for child in children {
            assert!(sys::task::wait(child).unwrap().code.unwrap() < 2);
        }
        assert_eq!((slots.inside(), held.word(0).load(Acquire)), (0, 0));
    }
}
