//! Requests on streams of HTTP/2: which connection carries them, and what becomes of them with it.

use super::Worker;
use crate::load::connection::{Phase, Ready};
use crate::load::http2::{Heard, Lost, Session, error_name};
use mio::Token;
use model::LoadError;
use sys::clock::now_ns;

impl Worker<'_> {
    /// The connection of HTTP/2 that a place is a stream of.
    pub(super) fn session_of(&self, place: u32) -> Option<&Session> {
        self.sessions.get((place / self.job.plan.options.streams) as usize)
    }

    /// Sends the request of a place.
    pub(super) fn ask_session(&mut self, place: u32) {
        let streams = self.job.plan.options.streams;
        let (index, slot) = (place / streams, (place % streams) as u16);
        let connection = &mut self.connections[place as usize];
        connection.was_asked = true;
        connection.phase = Phase::Asking;
        let request = connection.request;
        let session = &mut self.sessions[index as usize];
        session.ask(slot, request, self.wire.requests);
        if session.is_open() {
            self.touch(index);
        } else {
            self.open_session(index);
        }
    }

    /// Opens a connection; whether that has begun.
    pub(super) fn open_session(&mut self, index: u32) -> bool {
        self.opened += 1;
        let token = Token(index as usize);
        let to = (self.poll.registry(), token);
        let session = &mut self.sessions[index as usize];
        match session.open(to, self.job.route, self.wire.requests, now_ns()) {
            Ok(()) => true,
            Err(lost) => {
                let (error, waiting) = (lost.0, session.take_waiting());
                self.lose(index, lost);
                for slot in waiting {
                    self.fail(index * self.job.plan.options.streams + u32::from(slot), error);
                }
                false
            }
        }
    }

    /// A connection has something to write before events are waited for.
    fn touch(&mut self, index: u32) {
        let session = &mut self.sessions[index as usize];
        if !session.is_touched {
            session.is_touched = true;
            self.touched.push(index);
        }
    }

    /// Writes what requests and answers have left to be written, all of a connection at once.
    pub(super) fn flush(&mut self) {
        while let Some(index) = self.touched.pop() {
            let session = &mut self.sessions[index as usize];
            session.is_touched = false;
            if let Err(lost) = session.flush(&mut self.wire) {
                self.lose(index, lost);
            }
        }
    }

    /// A connection may go on.
    pub(super) fn go_on_session(&mut self, index: u32, ready: Ready) {
        let Some(session) = self.sessions.get_mut(index as usize) else { return };
        let was_up = session.is_up();
        let mut heard = std::mem::take(&mut self.heard);
        let outcome = session.advance(ready, &mut self.wire, &mut heard);
        if session.is_up() && !was_up {
            let took_ns = now_ns().saturating_sub(session.opened_ns);
            self.connected(took_ns);
        }
        for one in heard.drain(..) {
            self.hear(index, one);
        }
        self.heard = heard;
        match outcome {
            Ok(false) => self.touch(index),
            Ok(true) => {
                self.touch(index);
                let session = &mut self.sessions[index as usize];
                if !session.is_listed {
                    session.is_listed = true;
                    self.unread.push(index);
                }
            }
            Err(lost) => self.lose(index, lost),
        }
        if self.sessions[index as usize].is_open() && self.sessions[index as usize].is_spent() {
            self.sessions[index as usize].close();
            self.closed(index);
        }
    }

    /// What became of one request.
    fn hear(&mut self, index: u32, heard: Heard) {
        let streams = self.job.plan.options.streams;
        let place = |slot: u16| index * streams + u32::from(slot);
        match heard {
            Heard::Done { slot, status } => self.complete(place(slot), status, true),
            Heard::Reset { slot, code } => {
                self.tally.explain(LoadError::StreamReset, || error_name(code));
                self.fail(place(slot), LoadError::StreamReset);
            }
            Heard::Malformed { slot } => {
                let cause = || "body and content-length differ".to_string();
                self.tally.explain(LoadError::Garbage, cause);
                self.fail(place(slot), LoadError::Garbage);
            }
            Heard::Refused { slot } => {
                let cause = self.sessions[index as usize].refusal();
                self.repeat(place(slot), LoadError::StreamReset, cause);
            }
        }
    }

    /// A connection has come to its end, and its requests with it.
    fn lose(&mut self, index: u32, (error, cause): Lost) {
        let streams = self.job.plan.options.streams;
        let session = &mut self.sessions[index as usize];
        let was_up = session.is_up();
        let carried = session.close();
        let closed = matches!(error, LoadError::Closed | LoadError::Reset);
        let kind = cause.kind();
        self.tally.explain(error, || cause.to_string());
        if !was_up {
            self.not_opened(cause);
        }
        for (slot, untouched) in carried {
            let place = index * streams + u32::from(slot);
            let proven = self.connections[place as usize].proven;
            if was_up && closed && untouched && proven && self.wire.repeats {
                self.repeat(place, error, kind.into());
            } else {
                self.fail(place, error);
            }
        }
        self.closed(index);
    }

    /// A connection was closed: its streams are, and what waited for one is sent on the next.
    fn closed(&mut self, index: u32) {
        let streams = self.job.plan.options.streams;
        let session = &self.sessions[index as usize];
        if session.is_open() {
            return;
        }
        if session.has_waiting() {
            self.open_session(index);
            return;
        }
        for place in index * streams..(index + 1) * streams {
            let connection = &mut self.connections[place as usize];
            if connection.phase == Phase::Idle {
                connection.phase = Phase::Vacant;
            }
        }
    }

    /// A request was given up: its stream is reset. A connection whose server has not said a word is
    /// opened again, with all else that it carries.
    pub(super) fn cancel(&mut self, place: u32) {
        let streams = self.job.plan.options.streams;
        let (index, slot) = (place / streams, (place % streams) as u16);
        let Some(session) = self.sessions.get_mut(index as usize) else { return };
        let stalled = session.cancel(slot, self.wire.requests);
        let is_counted = self.connections[place as usize].is_counted;
        self.tally.stalled += u64::from(stalled && is_counted);
        if session.is_up() || !session.is_open() {
            self.touch(index);
            return;
        }
        for (slot, _) in session.close() {
            session.wait(slot);
        }
        self.closed(index);
    }
}
