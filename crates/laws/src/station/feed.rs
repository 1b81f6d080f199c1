//! Where requests come from.

use super::agenda::{Agenda, NEVER};
use super::{Clients, Demand, Request, TIME_MAX_NS};
use crate::Error;
use crate::error::within;
use crate::queue::{COUNT_MAX, count};

/// Requests in the order in which they come.
pub(super) trait Feed {
    /// When the next one comes; [`NEVER`] if none is known of yet.
    fn due_ns(&self) -> u64;

    /// The one that comes then.
    fn take(&mut self) -> Result<Option<Request>, Error>;

    /// A connection's request ended. Whether it asks for more.
    fn ended(&mut self, connection: u32, now_ns: u64) -> Result<bool, Error>;
}

/// A time of at most [`TIME_MAX_NS`].
fn time(what: &'static str, ns: u64) -> Result<u64, Error> {
    within(what, ns as f64, ns <= TIME_MAX_NS, "at most 2^53 ns (104 days)")?;
    Ok(ns)
}

fn demand(asked: Demand) -> Result<Demand, Error> {
    time("the wait of a request in ns", asked.wait_ns)?;
    time("the CPU time of a request in ns", asked.cpu_ns)?;
    Ok(asked)
}

/// Requests at given times.
pub(super) struct Open<I> {
    requests: I,
    next: Option<Request>,
}

impl<I: Iterator<Item = Request>> Open<I> {
    pub(super) fn new(requests: I) -> Result<Self, Error> {
        let mut feed = Open { requests, next: None };
        feed.pull(0)?;
        Ok(feed)
    }

    fn pull(&mut self, before_ns: u64) -> Result<(), Error> {
        self.next = self.requests.next();
        if let Some(next) = self.next {
            time("the arrival of a request in ns", next.at_ns)?;
            let right = "at or after that of the request before";
            let holds = next.at_ns >= before_ns;
            within("the arrival of a request in ns", next.at_ns as f64, holds, right)?;
            let connection = f64::from(next.connection);
            within("a connection", connection, next.connection < COUNT_MAX, "below 1,000,000")?;
            demand(next.demand)?;
        }
        Ok(())
    }
}

impl<I: Iterator<Item = Request>> Feed for Open<I> {
    fn due_ns(&self) -> u64 {
        self.next.map_or(NEVER, |next| next.at_ns)
    }

    fn take(&mut self) -> Result<Option<Request>, Error> {
        let taken = self.next;
        if let Some(taken) = taken {
            self.pull(taken.at_ns)?;
        }
        Ok(taken)
    }

    fn ended(&mut self, _: u32, _: u64) -> Result<bool, Error> {
        // It may: who knows what is still to come.
        Ok(true)
    }
}

/// Connections that ask again.
pub(super) struct Closed<T, D> {
    think: T,
    demand: D,
    /// When each connection that thinks asks.
    thinking: Agenda,
    /// Requests that no connection is going to ask for yet.
    left: u64,
    number: u64,
}

impl<T: FnMut() -> u64, D: FnMut(u64) -> Demand> Closed<T, D> {
    pub(super) fn new(clients: &Clients, think: T, demand: D) -> Result<Self, Error> {
        count("connections", clients.connections)?;
        if let Some(until_ns) = clients.until_ns {
            time("the end of the simulation in ns", until_ns)?;
        } else if clients.requests.is_none() {
            let right = "limited where the time is not";
            return Err(Error::Wrong { what: "requests", value: f64::INFINITY, right });
        }
        let requests = clients.requests.unwrap_or(u64::MAX);
        let asking = u64::from(clients.connections).min(requests);
        let left = requests - asking;
        let mut feed = Closed { think, demand, thinking: Agenda::default(), left, number: 0 };
        for connection in (0..clients.connections).take(asking as usize) {
            feed.thinks(connection, 0)?;
        }
        Ok(feed)
    }

    fn thinks(&mut self, connection: u32, now_ns: u64) -> Result<(), Error> {
        let what = "the time between an answer and the next request in ns";
        let think_ns = time(what, (self.think)())?;
        self.thinking.push(now_ns + think_ns, connection);
        Ok(())
    }
}

impl<T: FnMut() -> u64, D: FnMut(u64) -> Demand> Feed for Closed<T, D> {
    fn due_ns(&self) -> u64 {
        self.thinking.key()
    }

    fn take(&mut self) -> Result<Option<Request>, Error> {
        let at_ns = self.thinking.key();
        let Some(connection) = self.thinking.pop() else { return Ok(None) };
        let demand = demand((self.demand)(self.number))?;
        self.number += 1;
        Ok(Some(Request { at_ns, connection, demand }))
    }

    fn ended(&mut self, connection: u32, now_ns: u64) -> Result<bool, Error> {
        let more = self.left > 0;
        if more {
            self.left -= 1;
            self.thinks(connection, now_ns)?;
        }
        Ok(more)
    }
}
