//! One thread of the generator: an event loop over its share of the connections.

mod opening;
mod picks;
mod sending;
mod slices;
pub(super) mod stalls;
mod streams;

use super::answer::Known;
use super::connection::{Connection, Phase, Ready, Step, Wire};
use super::http2::{Heard, Session};
use super::request::{Encoder, Request, is_idempotent};
use super::schedule::Due;
use super::series::Piece;
use super::tally::Tally;
use super::transport::{BUFFER_BYTES, CIPHER_BYTES, Route};
use super::{End, Error, Noted, system};
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token, Waker};
use model::{Arrivals, LoadError, LoadPlan};
use picks::Picks;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use sys::clock::now_ns;
use sys::timerfd::Alarm;

/// Tokens beyond those of connections.
const ALARM: Token = Token(usize::MAX - 1);
const STOP: Token = Token(usize::MAX - 2);

/// Events taken from the kernel at once.
const EVENTS: usize = 1024;

/// How long a connection that failed rests at least, in ns; doubled with each failure in a row.
const REST_NS: u64 = 10_000_000;

/// How often the rest is doubled at most: to 160 ms.
const REST_DOUBLINGS_MAX: u32 = 4;

/// Time-outs closer together than this are looked for together, in ns.
const TIMEOUT_STEP_NS: u64 = 1_000_000;

/// What all threads share.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// Whether the load is to end now.
    pub(super) stop: AtomicBool,
    /// Whether a thread has ended without having reached anybody.
    pub(super) failed: AtomicBool,
    /// Whether any connection ever came to be.
    pub(super) reached: AtomicBool,
    /// Requests that a closed loop may still send.
    pub(super) budget: AtomicU64,
}

/// How far one thread is.
#[derive(Debug, Default)]
pub(super) struct Progress {
    pub(super) answered: AtomicU64,
    pub(super) failed: AtomicU64,
    pub(super) in_flight: AtomicU64,
}

/// What a thread is to do.
pub(super) struct Job<'a> {
    pub(super) plan: &'a LoadPlan,
    pub(super) route: &'a Route,
    pub(super) requests: &'a [Request],
    pub(super) encoder: &'a Encoder<'a>,
    /// Its number, among all threads.
    pub(super) thread: u32,
    pub(super) threads: u32,
    /// The number of its first connection among those of all threads.
    pub(super) first: u32,
    pub(super) connections: u32,
    /// Whether each request is noted.
    pub(super) note: bool,
    /// After how many seconds the kernel repeats a SYN.
    pub(super) syn_repeats_s: &'a [u32],
    pub(super) shared: &'a Shared,
    pub(super) progress: &'a Progress,
    /// How long a slice is, in ns, and where what happened in it goes.
    pub(super) slice_ns: u64,
    pub(super) pieces: Sender<Piece>,
}

/// A thread that is ready to start.
pub(super) struct Worker<'a> {
    job: Job<'a>,
    poll: Poll,
    alarm: Alarm,
    /// When the alarm is set for.
    alarm_ns: u64,
    /// Each for one request at a time: a connection of its own, or a stream of one of the sessions.
    connections: Vec<Connection>,
    /// Connections of HTTP/2; none where another protocol is spoken.
    sessions: Vec<Session>,
    /// Sessions that may have something to write.
    touched: Vec<u32>,
    /// What sessions have heard, while it is looked through.
    heard: Vec<Heard>,
    picks: Picks,
    /// Whether the clock has not started, so that nothing is counted yet.
    warming: bool,
    /// When the clock starts.
    clock_ns: u64,
    free: VecDeque<u32>,
    /// Places of an open loop in which no connection is open.
    vacant: Vec<u32>,
    /// Since when some connection has been free without a break, as of the last look.
    free_since_ns: u64,
    /// Requests to send.
    due: Option<Due>,
    /// When connections have rested.
    resting: BinaryHeap<Reverse<(u64, u32)>>,
    /// Connections of which more can be read at once.
    unread: Vec<u32>,
    /// No request times out before.
    timeout_from_ns: u64,
    /// Requests without an answer.
    busy: u64,
    /// Attempts at connecting, and those that failed.
    opened: u64,
    unopened: u64,
    /// Whether one ever succeeded.
    reached: bool,
    /// Why connecting failed last, before it ever succeeded.
    cause: Option<io::Error>,
    start_ns: u64,
    /// The end of the time, and when answers are no longer waited for.
    end_ns: u64,
    drained_ns: u64,
    last_ns: u64,
    /// The end of the slice, and what had been counted by its beginning.
    slice_until_ns: u64,
    handed: slices::Handed,
    /// What the thread had used when the clock started.
    began: Began,
    quiet: stalls::Quiet,
    tally: Tally,
    wire: Wire<'a>,
}

/// What a thread has used at some moment.
#[derive(Clone, Copy, Debug, Default)]
struct Began {
    cpu_ns: u64,
    at_ns: u64,
    scheduled: Option<sys::proc::SchedStat>,
}

impl Began {
    fn now() -> Self {
        Self {
            cpu_ns: sys::clock::thread_cpu_ns(),
            at_ns: now_ns(),
            scheduled: sys::proc::schedstat_thread(),
        }
    }
}

impl<'a> Worker<'a> {
    /// Makes all that the thread needs, and what wakes it when the load is to end.
    pub(super) fn new(job: Job<'a>) -> Result<(Self, Waker), Error> {
        let poll = Poll::new().map_err(system("make an epoll instance"))?;
        let waker = Waker::new(poll.registry(), STOP).map_err(system("make a waker"))?;
        let alarm = Alarm::new().map_err(|error| system("make a timer")(other(&error)))?;
        poll.registry()
            .register(&mut SourceFd(&alarm.as_raw_fd()), ALARM, Interest::READABLE)
            .map_err(system("watch the timer"))?;
        let plan = job.plan;
        let options = &plan.options;
        let due = Due::new(plan, job.thread, job.threads);
        let cipher_bytes = if job.route.is_secure() { CIPHER_BYTES } else { 0 };
        let wire = Wire {
            requests: job.requests,
            repeats: is_idempotent(&plan.method),
            bodiless: plan.method == "HEAD",
            known: Known::default(),
            buffer: vec![0; BUFFER_BYTES].into_boxed_slice(),
            cipher: vec![0; cipher_bytes].into_boxed_slice(),
            read_bytes: 0,
            written_bytes: 0,
            late_ends: 0,
            hurried: 0,
        };
        let places = (job.connections * options.streams) as usize;
        let sessions = if options.http2 { job.connections } else { 0 };
        let place = |_| Connection::new(options.redirects > 0);
        let worker = Self {
            poll,
            alarm,
            alarm_ns: u64::MAX,
            connections: (0..places).map(place).collect(),
            sessions: (0..sessions).map(|_| Session::new(options.streams, wire.bodiless)).collect(),
            touched: Vec::new(),
            heard: Vec::new(),
            picks: Picks::new(options, job.requests.len(), job.thread, job.threads),
            warming: false,
            clock_ns: 0,
            free: VecDeque::with_capacity(places),
            vacant: Vec::with_capacity(places),
            free_since_ns: 0,
            due,
            resting: BinaryHeap::with_capacity(places),
            unread: Vec::new(),
            timeout_from_ns: u64::MAX,
            busy: 0,
            opened: 0,
            unopened: 0,
            reached: false,
            cause: None,
            start_ns: 0,
            end_ns: u64::MAX,
            drained_ns: u64::MAX,
            last_ns: 0,
            slice_until_ns: u64::MAX,
            handed: slices::Handed::default(),
            began: Began::default(),
            quiet: stalls::Quiet::default(),
            tally: Tally::default(),
            wire,
            job,
        };
        Ok((worker, waker))
    }

    /// Puts its part of the load on the server, from the moment `start_ns` on.
    pub(super) fn run(mut self, start_ns: u64) -> Result<Tally, Error> {
        sys::clock::sleep_ns(start_ns.saturating_sub(now_ns()));
        self.begin(start_ns);
        let mut events = Events::with_capacity(EVENTS);
        let drained_ns = loop {
            let now_ns = now_ns();
            if now_ns >= self.slice_until_ns {
                self.hand_over(now_ns);
            }
            if now_ns >= self.drained_ns {
                break now_ns;
            }
            if self.job.shared.stop.load(Ordering::Relaxed) {
                break now_ns;
            }
            if self.warming && now_ns >= self.clock_ns {
                self.start_clock();
            }
            self.rested(now_ns);
            self.expire(now_ns);
            self.dispatch();
            self.flush();
            if let Some(error) = self.unreachable() {
                self.job.shared.failed.store(true, Ordering::Relaxed);
                return Err(error);
            }
            if self.is_done(now_ns) {
                let is_over = now_ns >= self.end_ns;
                break if is_over { self.last_ns.max(self.end_ns) } else { self.last_ns };
            }
            self.tell();
            let wait =
                self.set_alarm(now_ns).map_err(|error| system("set a timer")(other(&error)))?;
            match self.poll.poll(&mut events, wait) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(system("wait for events")(error)),
            }
            self.take(&events);
        };
        if self.warming {
            // It was ended before its clock started: nothing counts.
            self.start_clock();
        }
        self.tally.cpu_ns = sys::clock::thread_cpu_ns().saturating_sub(self.began.cpu_ns);
        self.tally.wall_ns = now_ns().saturating_sub(self.began.at_ns);
        self.tally.queue_wait_ns = sys::proc::schedstat_thread()
            .zip(self.began.scheduled)
            .map(|(after, before)| after.since(before).queue_wait_ns);
        self.finish(drained_ns);
        Ok(self.tally)
    }

    /// The load starts: a closed loop asks on all connections, an open one waits for arrivals.
    fn begin(&mut self, start_ns: u64) {
        let plan = self.job.plan;
        let warm_up_ns = plan.options.warm_up_ms.saturating_mul(1_000_000);
        let duration_ns = plan.duration_ms.map(|ms| ms.saturating_mul(1_000_000));
        self.clock_ns = start_ns.saturating_add(warm_up_ns);
        self.end_ns = duration_ns.map_or(u64::MAX, |ns| self.clock_ns.saturating_add(ns));
        self.drained_ns = self.end_ns.saturating_add(plan.drain_ms.saturating_mul(1_000_000));
        self.count_from(start_ns);
        self.warming = warm_up_ns > 0;
        if self.warming {
            // What is sent until the clock starts is no part of a number of requests.
            let endless = LoadPlan { requests: None, ..plan.clone() };
            self.due = Due::new(&endless, self.job.thread, self.job.threads);
        } else {
            self.begin_slices();
        }
        for index in 0..self.places() {
            let open = self.connections[index as usize].phase == Phase::Idle;
            match plan.arrivals {
                Arrivals::Closed => {
                    let now_ns = now_ns();
                    self.tally.unstarted_ns += now_ns.saturating_sub(start_ns) as f64;
                    self.ask_again(index, now_ns);
                }
                Arrivals::Constant { .. } | Arrivals::Poisson { .. } if !open => {
                    self.vacant.push(index);
                }
                _ => self.free.push_back(index),
            }
        }
    }

    /// Warming up is over. Requests under way are answered, and not counted.
    fn start_clock(&mut self) {
        self.warming = false;
        self.due = Due::new(self.job.plan, self.job.thread, self.job.threads);
        self.tally = Tally::default();
        (self.wire.read_bytes, self.wire.written_bytes) = (0, 0);
        for connection in &mut self.connections {
            connection.is_counted = false;
            connection.was_asked = false;
            connection.answers = 0;
        }
        self.count_from(self.clock_ns);
        self.begin_slices();
        self.free_since_ns = self.clock_ns;
    }

    fn count_from(&mut self, start_ns: u64) {
        self.start_ns = start_ns;
        self.last_ns = start_ns;
        self.began = Began::now();
        self.quiet = stalls::Quiet::since(start_ns);
    }

    /// How many requests can be under way at once.
    fn places(&self) -> u32 {
        self.connections.len() as u32
    }

    /// Handles events, and what was left unread before.
    fn take(&mut self, events: &Events) {
        let unread = std::mem::take(&mut self.unread);
        let all = Ready { readable: true, ending: true };
        for index in &unread {
            if self.sessions.is_empty() {
                self.connections[*index as usize].is_listed = false;
                self.go_on(*index, all);
            } else {
                self.sessions[*index as usize].is_listed = false;
                self.go_on_session(*index, all);
            }
        }
        for event in events {
            let Token(index) = event.token();
            if index >= self.connections.len() {
                if event.token() == ALARM {
                    self.alarm_ns = u64::MAX;
                }
                continue;
            }
            let ending = event.is_read_closed() || event.is_error();
            let ready = Ready { readable: event.is_readable() || ending, ending };
            if self.sessions.is_empty() {
                self.go_on(index as u32, ready);
            } else {
                self.go_on_session(index as u32, ready);
            }
        }
    }

    /// A connection may go on.
    fn go_on(&mut self, index: u32, ready: Ready) {
        let connection = &mut self.connections[index as usize];
        let before = connection.phase;
        let step = connection.advance(ready, &mut self.wire);
        if before == Phase::Connecting && connection.phase == Phase::Asking {
            let took_ns = now_ns().saturating_sub(connection.sent_ns);
            self.connected(took_ns);
        }
        self.handle(index, step);
    }

    /// Somebody is there.
    fn reach(&mut self) {
        if !self.reached {
            self.reached = true;
            self.job.shared.reached.store(true, Ordering::Relaxed);
        }
    }

    /// A connection has come to be for a request.
    fn connected(&mut self, took_ns: u64) {
        self.reach();
        // Nothing but a repeated SYN takes whole seconds, and a tenth is for all else.
        let (seconds, rest_ns) = (took_ns / 1_000_000_000, took_ns % 1_000_000_000);
        if seconds > 0 && rest_ns <= 100_000_000 {
            let mut repeats = self.job.syn_repeats_s.iter();
            if let Some(repeat) = repeats.find(|repeat| u64::from(**repeat) == seconds) {
                *self.tally.syn_backoff.entry(*repeat).or_default() += 1;
            }
        }
    }

    /// What a connection's step means for its request.
    fn handle(&mut self, index: u32, step: Step) {
        match step {
            Step::Waiting => {}
            Step::Unread => {
                let connection = &mut self.connections[index as usize];
                if !connection.is_listed {
                    connection.is_listed = true;
                    self.unread.push(index);
                }
            }
            // Opened ahead, it waits for its request.
            Step::Open => {}
            Step::Gone => self.connections[index as usize].close(),
            Step::Done { status, reusable } => {
                if !self.is_redirected(index, status, reusable) {
                    self.complete(index, status, reusable);
                }
            }
            Step::Stale(error, cause) => {
                self.connections[index as usize].close();
                self.repeat(index, error, cause);
            }
            Step::Failed(error, cause) => {
                let opening = self.connections[index as usize].phase == Phase::Connecting;
                self.tally.explain(error, || cause.to_string());
                if opening {
                    self.not_opened(cause);
                }
                self.fail(index, error);
            }
        }
    }

    /// Follows a redirect, if the plan wants that; the time of the request runs on.
    fn is_redirected(&mut self, index: u32, status: u16, reusable: bool) -> bool {
        let most = self.job.plan.options.redirects;
        let connection = &mut self.connections[index as usize];
        if most == 0 || connection.detour.as_ref().is_some_and(|detour| detour.hops >= most) {
            return false;
        }
        let Some(location) = connection.answer.location.take() else { return false };
        let (before, at) = (connection.detour.as_deref(), connection.request as usize);
        let next = self.job.encoder.follow(at, before, (status, &location));
        let Some(next) = next else { return false };
        connection.detour = Some(Box::new(next));
        connection.proven = true;
        if !(reusable && self.job.plan.keep_alive) {
            connection.close();
        }
        self.ask(index);
        true
    }

    /// Sends a request a second time, on a new connection.
    fn repeat(&mut self, index: u32, error: LoadError, cause: io::Error) {
        if now_ns() >= self.end_ns {
            return;
        }
        let connection = &mut self.connections[index as usize];
        if connection.retried {
            self.tally.explain(error, || cause.to_string());
            self.fail(index, error);
            return;
        }
        connection.retried = true;
        self.tally.retried += u64::from(connection.is_counted);
        self.ask(index);
    }

    /// An attempt at connecting has failed.
    fn not_opened(&mut self, cause: io::Error) {
        self.unopened += 1;
        let without_port =
            [io::ErrorKind::AddrNotAvailable, io::ErrorKind::AddrInUse].contains(&cause.kind());
        self.tally.without_port += u64::from(without_port);
        // ENFILE and EMFILE.
        let without_descriptor = matches!(cause.raw_os_error(), Some(23 | 24));
        self.tally.without_descriptor += u64::from(without_descriptor);
        if !self.reached {
            self.cause = Some(cause);
        }
    }

    /// An answer is whole.
    fn complete(&mut self, index: u32, status: u16, reusable: bool) {
        let now_ns = now_ns();
        // What comes later was in flight at the end.
        if now_ns >= self.drained_ns {
            return;
        }
        let late = now_ns >= self.end_ns;
        self.answered(index, now_ns);
        let connection = &mut self.connections[index as usize];
        connection.proven = true;
        connection.failures = 0;
        if !(reusable && self.job.plan.keep_alive) {
            connection.close();
        }
        if connection.is_counted {
            connection.record(now_ns, &mut self.tally, |times| &mut times.known);
            connection.count_late_end(now_ns, &mut self.wire, &mut self.tally.late_ends);
            *self.tally.statuses.entry(status).or_default() += 1;
            if status >= 400 {
                let response_ns = now_ns.saturating_sub(connection.due_ns);
                super::tally::record(&mut self.tally.refused.known, response_ns);
            }
            self.tally.closed += u64::from(self.job.plan.keep_alive && !reusable);
            self.tally.succeeded_late += u64::from(late && status < 400);
            self.tally.late_answers += u64::from(late);
            connection.answers += 1;
            self.note(index, now_ns, End::Status(status));
        }
        self.depart(index, now_ns, status < 400);
        self.freed(index, now_ns);
    }

    /// Notes what became of the request of a connection, where that is wanted.
    fn note(&mut self, index: u32, ended_ns: u64, end: End) {
        if self.job.note {
            let connection = &self.connections[index as usize];
            let since_start = |ns: u64| ns.saturating_sub(self.start_ns);
            self.tally.noted.push(Noted {
                due_ns: since_start(connection.due_ns),
                sent_ns: Some(since_start(connection.sent_ns)),
                done_ns: matches!(end, End::Status(_)).then(|| since_start(ended_ns)),
                ended_ns: since_start(ended_ns),
                connection: Some(self.job.first + index / self.job.plan.options.streams),
                end,
            });
        }
    }

    /// A request has left the system.
    fn depart(&mut self, index: u32, now_ns: u64, succeeded: bool) {
        self.busy -= 1;
        self.was_there(index, now_ns, succeeded);
        self.job.progress.in_flight.store(self.busy, Ordering::Relaxed);
        if self.connections[index as usize].is_counted {
            self.tally.late_ns += now_ns.saturating_sub(self.end_ns) as f64;
            self.last_ns = self.last_ns.max(now_ns);
        }
    }

    /// Adds what a request was of the second half of the time.
    pub(super) fn was_there(&mut self, index: u32, until_ns: u64, succeeded: bool) {
        let there_ns = (self.connections[index as usize].due_ns, until_ns);
        let begin_ns = u64::midpoint(self.start_ns, self.end_ns);
        self.tally.half.add(there_ns, begin_ns, self.end_ns, succeeded);
    }

    /// A request has failed.
    fn fail(&mut self, index: u32, error: LoadError) {
        let now_ns = now_ns();
        if now_ns >= self.drained_ns {
            return;
        }
        let connection = &mut self.connections[index as usize];
        let rest_ns = REST_NS << connection.failures.min(REST_DOUBLINGS_MAX);
        let proven = connection.proven;
        connection.close();
        connection.proven = false;
        if connection.is_counted {
            self.tally.failed_ns += (now_ns - connection.sent_ns) as f64;
            *self.tally.errors.entry(error).or_default() += 1;
            self.note(index, now_ns, End::Failed(error));
        }
        self.depart(index, now_ns, false);
        // One that has answered before is opened again at once: servers close connections after so
        // many requests. One that never has could be refused a million times a second.
        if proven {
            self.freed(index, now_ns);
            return;
        }
        let connection = &mut self.connections[index as usize];
        connection.failures = connection.failures.saturating_add(1);
        connection.phase = Phase::Resting;
        self.resting.push(Reverse((now_ns + rest_ns, index)));
    }
}

fn other(error: &sys::Error) -> io::Error {
    match error.errno() {
        Some(errno) => io::Error::from_raw_os_error(errno),
        None => io::Error::other(error.to_string()),
    }
}
