//! The one handler: what a request needs before it is answered, and the answer.

use super::request::{Persistence, Request};
use super::{LOOK, Server};
use std::time::Duration;

/// The head that all answers share, with the length of their body.
macro_rules! answer {
    ($status:literal, $connection:literal, $length:literal, $body:expr) => {
        concat!(
            "HTTP/1.1 ",
            $status,
            "\r\nContent-Type: text/plain\r\nContent-Length: ",
            $length,
            "\r\n",
            $connection,
            "\r\n",
            $body
        )
    };
}

/// The body of every answer to a request.
macro_rules! body {
    () => {
        "weighed and not wanting"
    };
}

pub(super) const BODY: &str = body!();

const USUAL: &str = answer!("200 OK", "", "23", body!());
const NAMED: &str = answer!("200 OK", "Connection: keep-alive\r\n", "23", body!());
const LAST: &str = answer!("200 OK", "Connection: close\r\n", "23", body!());

/// The body of an answer to a request that would have to wait behind too many; as long as the usual one.
macro_rules! busy {
    () => {
        "weighed and found busy!"
    };
}

const BUSY: &str = answer!("503 Service Unavailable", "", "23", busy!());
const BUSY_NAMED: &str =
    answer!("503 Service Unavailable", "Connection: keep-alive\r\n", "23", busy!());
const BUSY_LAST: &str = answer!("503 Service Unavailable", "Connection: close\r\n", "23", busy!());
const REFUSED: &str = answer!("400 Bad Request", "Connection: close\r\n", "14", "not a request\n");

/// What is to be written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    /// The bytes.
    pub(super) bytes: &'static [u8],
    /// Whether the connection ends with it.
    pub(super) is_last: bool,
}

impl Answer {
    /// The answer to a request.
    pub(super) fn to(request: Request, keep_alive: bool) -> Self {
        Self::one_of([USUAL, NAMED, LAST], request, keep_alive)
    }

    /// The answer to a request that is not served, because too many wait.
    pub(super) fn too_busy(request: Request, keep_alive: bool) -> Self {
        Self::one_of([BUSY, BUSY_NAMED, BUSY_LAST], request, keep_alive)
    }

    fn one_of([usual, named, last]: [&'static str; 3], request: Request, keep_alive: bool) -> Self {
        let (text, is_last) = match request.persistence {
            Persistence::Usual if keep_alive => (usual, false),
            Persistence::Named if keep_alive => (named, false),
            _ => (last, true),
        };
        let bytes = text.as_bytes();
        let bytes = if request.head_only { &bytes[..bytes.len() - BODY.len()] } else { bytes };
        Answer { bytes, is_last }
    }

    /// The answer to garbage.
    pub(super) fn to_garbage() -> Self {
        Answer { bytes: REFUSED.as_bytes(), is_last: true }
    }
}

/// Does what a request needs in a thread that may stand still for it, and reports whether it did: not where
/// too many wait. A server that is to end does not do it to its end.
pub(super) fn perform(server: &Server) -> bool {
    let time = server.begin();
    let Some(slots) = &server.slots else {
        wait(server, time);
        return true;
    };
    let Some(ticket) = slots.enter() else { return false };
    slots.wait_for_turn(ticket, server);
    wait(server, time);
    slots.leave();
    true
}

fn wait(server: &Server, time: Duration) {
    let mut left = time;
    while !left.is_zero() && !server.is_over() {
        let part = left.min(LOOK);
        std::thread::sleep(part);
        left -= part;
    }
}

/// Steps of arithmetic between two looks at the clock: some microseconds, beside which the look
/// itself (a system call) is little.
const STEPS: u64 = 2_000;

/// Computes until the calling thread has had that much CPU time: the work is the same whatever else
/// uses the CPU meanwhile.
pub(super) fn compute(server: &Server, time: Duration) {
    let until_ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let begun_ns = sys::clock::thread_cpu_ns();
    let mut state = 88_172_645_463_325_252;
    while sys::clock::thread_cpu_ns() - begun_ns < until_ns && !server.is_over() {
        state = sys::arithmetic::xorshift(state, sys::black_box(STEPS));
    }
    sys::black_box(state);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::{Model, Plan, Service};

    #[test]
    fn lengths_are_those_of_the_bodies() {
        for text in [USUAL, NAMED, LAST, BUSY, BUSY_NAMED, BUSY_LAST, REFUSED] {
            let (head, body) = text.split_once("\r\n\r\n").unwrap();
            assert!(
                head.contains(&format!("Content-Length: {}\r\n", body.len())) || {
                    head.ends_with(&format!("Content-Length: {}", body.len()))
                }
            );
        }
        assert!(USUAL.ends_with(&LAST[LAST.len() - BODY.len()..]));
    }

    #[test]
    fn an_answer_ends_the_connection_if_either_side_wants_it() {
        let answer = |persistence, keep_alive| {
            Answer::to(Request { head_only: true, persistence }, keep_alive)
        };
        assert!(answer(Persistence::Ends, true).is_last);
        assert!(answer(Persistence::Usual, false).is_last);
        assert!(!answer(Persistence::Usual, true).is_last);
        let named = answer(Persistence::Named, true);
        assert!(!named.is_last && named.bytes.ends_with(b"Connection: keep-alive\r\n\r\n"));
    }

    #[test]
    fn computing_takes_the_time_of_this_thread_and_not_of_the_wall() {
        let service = Service::Compute(Duration::from_millis(3));
        let server =
            Server::new(&Plan { model: Model::Single, service, keep_alive: true }).unwrap();
        let begun_ns = sys::clock::thread_cpu_ns();
        perform(&server);
        assert!(sys::clock::thread_cpu_ns() - begun_ns >= 3_000_000);
    }
}
