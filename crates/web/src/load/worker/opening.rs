//! Connections that are opened before the first request is due.

use super::{EVENTS, Worker};
use crate::load::connection::{Phase, Ready, Step};
use crate::load::{Error, system};
use mio::{Events, Token};
use std::io;
use std::sync::atomic::Ordering;
use std::time::Duration;
use sys::clock::now_ns;

/// How long connections are waited for at most.
const PATIENCE_NS: u64 = 10_000_000_000;

impl Worker<'_> {
    /// Opens all connections, if the plan wants that, so that no request's time holds the connecting.
    /// What does not come to be is opened when a request needs it.
    ///
    /// # Errors
    /// None of them could be opened.
    pub(in crate::load) fn prepare(&mut self) -> Result<(), Error> {
        let plan = self.job.plan;
        if !(plan.options.preconnect && plan.keep_alive) {
            return Ok(());
        }
        let patience_ns = plan.timeout_ms.saturating_mul(1_000_000).min(PATIENCE_NS);
        let until_ns = now_ns().saturating_add(patience_ns);
        let mut missing = 0;
        for index in 0..self.job.connections {
            missing += u32::from(self.open_ahead(index));
        }
        let mut events = Events::with_capacity(EVENTS);
        while missing > 0 && !self.job.shared.stop.load(Ordering::Relaxed) {
            let left_ns = until_ns.saturating_sub(now_ns());
            if left_ns == 0 {
                break;
            }
            match self.poll.poll(&mut events, Some(Duration::from_nanos(left_ns))) {
                Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                    return Err(system("wait for events")(error));
                }
                _ => {}
            }
            for event in &events {
                let Token(index) = event.token();
                let ending = event.is_read_closed() || event.is_error();
                let ready = Ready { readable: event.is_readable() || ending, ending };
                if index < self.job.connections as usize {
                    missing -= u32::from(self.has_settled(index as u32, ready));
                }
            }
            self.flush();
        }
        for index in 0..self.job.connections {
            self.close_unopened(index);
        }
        let unreachable = self.unreachable();
        if unreachable.is_some() {
            self.job.shared.failed.store(true, Ordering::Relaxed);
        }
        unreachable.map_or(Ok(()), Err)
    }

    /// Begins to open a connection; whether it is to be waited for.
    fn open_ahead(&mut self, index: u32) -> bool {
        if !self.sessions.is_empty() {
            return self.open_session(index);
        }
        self.opened += 1;
        let token = Token(index as usize);
        let connection = &mut self.connections[index as usize];
        let step = connection.open(self.poll.registry(), token, self.job.route);
        self.is_waiting(index, step)
    }

    /// Handles an event; whether it has settled that a connection is open, or that it is not.
    fn has_settled(&mut self, index: u32, ready: Ready) -> bool {
        if !self.sessions.is_empty() {
            let session = &self.sessions[index as usize];
            let opening = session.is_open() && !session.is_up();
            self.go_on_session(index, ready);
            let session = &self.sessions[index as usize];
            return opening && (session.is_up() || !session.is_open());
        }
        let opening = self.connections[index as usize].phase == Phase::Opening;
        let step = self.connections[index as usize].advance(ready, &mut self.wire);
        !self.is_waiting(index, step) && opening
    }

    /// Whether a connection is still being opened after a step.
    fn is_waiting(&mut self, index: u32, step: Step) -> bool {
        match step {
            Step::Waiting => return true,
            Step::Open => self.reach(),
            Step::Failed(_, cause) => {
                self.connections[index as usize].close();
                self.not_opened(cause);
            }
            _ => self.connections[index as usize].close(),
        }
        false
    }

    /// Closes a connection that has not come to be in time; marks the streams of one that has as open.
    fn close_unopened(&mut self, index: u32) {
        let Some(session) = self.sessions.get_mut(index as usize) else {
            let connection = &mut self.connections[index as usize];
            if connection.phase == Phase::Opening {
                connection.close();
            }
            return;
        };
        let is_up = session.is_up();
        if !is_up {
            session.close();
        }
        let streams = self.job.plan.options.streams;
        for place in index * streams..(index + 1) * streams {
            self.connections[place as usize].free(is_up);
        }
    }
}
