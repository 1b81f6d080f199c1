//! What a load was, and what became of it.

mod expected;

pub use expected::{Expectation, Expected, LoadNumber};

use crate::Estimate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How requests come.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Arrivals {
    /// Closed loop: each connection asks again when it has its answer.
    Closed,
    /// Closed loop with a pace: requests come due at constant intervals, whatever is answered, and one
    /// that comes due while every connection waits for an answer is sent when one is free.
    Paced {
        /// Requests per second over all connections, above 0.
        per_s: f64,
    },
    /// Open loop: requests come due at constant intervals, and another connection is opened where
    /// none is free, up to the plan's `connections`.
    Constant {
        /// Requests per second, above 0.
        per_s: f64,
    },
    /// Open loop with exponentially distributed intervals (a Poisson process).
    Poisson {
        /// Requests per second on average, above 0.
        per_s: f64,
        /// Where the random intervals come from.
        seed: u64,
    },
}

impl Arrivals {
    /// The rate at which requests come due, per second; `None` where answers alone decide.
    #[must_use]
    pub fn per_s(&self) -> Option<f64> {
        match self {
            Self::Closed => None,
            Self::Paced { per_s } | Self::Constant { per_s } | Self::Poisson { per_s, .. } => {
                Some(*per_s)
            }
        }
    }
}

/// A load on an HTTP server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadPlan {
    /// What is asked for: `http://HOST:PORT/PATH` or `https://…`; of several URLs, the first.
    pub url: String,
    /// The method: `GET`, `POST`…
    pub method: String,
    /// Headers beside those that the generator sets itself (`Host`, `User-Agent`, `Content-Length`,
    /// `Connection` where there is no keep-alive), in their order. Of those that hold a secret, such as
    /// `Authorization`, the value is not stored.
    pub headers: Vec<(String, String)>,
    /// The length of the body, in bytes; of several bodies, that of the longest.
    pub body_bytes: u64,
    /// How requests come.
    pub arrivals: Arrivals,
    /// Connections: that number in a closed loop, at most that number in an open one. 1 to 65,536.
    pub connections: u32,
    /// Whether a connection serves request after request; otherwise each has its own.
    pub keep_alive: bool,
    /// Threads of the generator, each with its own share of the connections.
    pub threads: u32,
    /// How long requests are sent, in ms; `None` until `requests` are.
    pub duration_ms: Option<u64>,
    /// How many requests are sent at most.
    pub requests: Option<u64>,
    /// How long an answer may take from the sending of its request, connecting included, in ms.
    pub timeout_ms: u64,
    /// How long after the end of the time answers to requests that came due in time are waited for at
    /// most, in ms. Such requests are still sent, and no others.
    #[serde(default)]
    pub drain_ms: u64,
    /// The protocol and the ways that differ from one request repeated by HTTP/1.1.
    #[serde(default)]
    pub options: LoadOptions,
}

impl LoadPlan {
    /// Returns how many requests can be under way at once.
    #[must_use]
    pub fn places(&self) -> u32 {
        self.connections.saturating_mul(self.options.streams.max(1))
    }
}

/// How a load differs from one request that is repeated by HTTP/1.1 to the address of its URL.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LoadOptions {
    /// Whether HTTP/2 is spoken: negotiated by ALPN over TLS, otherwise with prior knowledge.
    pub http2: bool,
    /// Requests that one connection carries at once; more than 1 by HTTP/2 only.
    pub streams: u32,
    /// Whether any certificate is accepted.
    pub insecure: bool,
    /// The file of certificate authorities that are trusted besides those of the system.
    pub cacert: Option<String>,
    /// The Unix socket that is connected to in place of the URL's address.
    pub unix_socket: Option<String>,
    /// The `HOST:PORT` that is connected to in place of the URL's address.
    pub connect_to: Option<String>,
    /// How many requests there are that differ in URL or body.
    pub variants: u32,
    /// In which order these are sent.
    pub order: RequestOrder,
    /// How many redirects of one request are followed at most.
    pub redirects: u32,
    /// How long requests are sent before the clock starts, in ms. They are not counted.
    pub warm_up_ms: u64,
    /// Whether all connections are opened before the first request is due.
    pub preconnect: bool,
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self {
            http2: false,
            streams: 1,
            insecure: false,
            cacert: None,
            unix_socket: None,
            connect_to: None,
            variants: 1,
            order: RequestOrder::InOrder,
            redirects: 0,
            warm_up_ms: 0,
            preconnect: false,
        }
    }
}

/// The order in which different requests are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RequestOrder {
    /// One after the other, and again from the first.
    #[default]
    InOrder,
    /// Each drawn at random.
    Random {
        /// Where the draws come from.
        seed: u64,
    },
}

/// Why a request got no answer.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum LoadError {
    /// Nobody listens (`ECONNREFUSED`).
    Refused,
    /// Reset by the other side (`ECONNRESET`, `EPIPE`).
    Reset,
    /// Closed before the answer was whole.
    Closed,
    /// Any other error of connecting, writing or reading.
    Socket,
    /// What came is no answer of the protocol, or one whose length is beyond all bounds.
    Garbage,
    /// TLS failed: the handshake, the server's certificate, or a record.
    Tls,
    /// The server reset or refused the stream of HTTP/2 (`RST_STREAM`, `GOAWAY`).
    StreamReset,
}

/// What became of the requests. Each that came due is in exactly one of `answered`, `errors`,
/// `timed_out`, `in_flight` and `unsent`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadCounts {
    /// Requests that were sent, or for which connecting began.
    pub sent: u64,
    /// Whole answers, whatever their status.
    pub answered: u64,
    /// Of these, those with a status below 400.
    pub succeeded: u64,
    /// Of these, those that came after the end of the time: what throughput does not count.
    #[serde(default)]
    pub succeeded_late: u64,
    /// Answers by status.
    pub statuses: BTreeMap<u16, u64>,
    /// Requests that failed, by reason.
    pub errors: BTreeMap<LoadError, u64>,
    /// What the first of each reason was: the server's line, the frame, or the system's error.
    #[serde(default)]
    pub causes: BTreeMap<LoadError, String>,
    /// Requests without an answer in the plan's `timeout_ms`.
    pub timed_out: u64,
    /// Requests that were sent, and not answered when the load ended, the plan's `drain_ms` included:
    /// nobody gave them up.
    pub in_flight: u64,
    /// Requests that came due and were never sent.
    pub unsent: u64,
    /// Of the sent ones, those that were repeated on a new connection, because the server had closed a
    /// kept one before any byte of the answer (RFC 9112, 9.3.1) or had refused the stream (RFC 9113,
    /// 8.7). It is no failure, and their time runs on.
    #[serde(default)]
    pub retried: u64,
    /// Answers after which the server closed a connection that was to be kept.
    #[serde(default)]
    pub closed: u64,
}

/// A time that a stated percentage of requests did not exceed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadPercentile {
    /// In percent, 0 to 100.
    pub percent: f64,
    /// In ns; null where too many were given up to know.
    pub ns: Option<u64>,
}

/// Times of requests of which some may have been given up.
///
/// Percentiles are those of Kaplan and Meier (*Journal of the American Statistical Association* 53,
/// 1958): a request that was given up after some time took longer than that, and counts among those
/// that are still waited for until then.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadTimes {
    /// Requests whose time is known.
    pub count: u64,
    /// Requests without an answer: timed out, or in flight or unsent at the end. Their time is at least
    /// what had passed by then.
    pub censored: u64,
    /// The shortest known, in ns.
    pub min_ns: Option<u64>,
    /// The mean, in ns; null where any has no answer.
    pub mean_ns: Option<f64>,
    /// The mean if each without an answer had got it when it was last waited for, in ns: the true mean
    /// is no less.
    #[serde(default)]
    pub mean_least_ns: Option<f64>,
    /// The longest known, in ns.
    pub max_ns: Option<u64>,
    /// At 50, 75, 90, 95, 99, 99.9 and 99.99 %.
    pub percentiles: Vec<LoadPercentile>,
}

/// How answers were shared out over connections: of a closed loop with keep-alive, and of those of its
/// connections that had a request to send.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fairness {
    /// Connections.
    pub connections: u32,
    /// Those that got no answer at all.
    pub starved: u32,
    /// Answers of the connection that got the fewest.
    pub least: u64,
    /// Answers of the connection in the middle.
    pub median: u64,
    /// Answers of the connection that got the most.
    pub most: u64,
    /// Jain's index, (Σx)² / (n Σx²): 1 where all get the same, 1/n where one gets all (Jain, Chiu
    /// and Hawe 1984).
    pub index: f64,
}

/// What the kernel counted meanwhile, over all programs of the network namespace; null where it
/// does not tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Network {
    /// Connections dropped because an accept queue was full (`ListenOverflows`).
    pub listen_overflows: Option<u64>,
    /// Connections dropped at listening sockets, those among them (`ListenDrops`).
    pub listen_drops: Option<u64>,
    /// SYN and SYN-ACK segments sent again (`TCPSynRetrans`).
    pub syn_retransmits: Option<u64>,
    /// Segments sent again (`RetransSegs`).
    pub retransmits: Option<u64>,
}

/// Answers whose last byte came 38 to 50 ms after their first, by HTTP/1.1 without TLS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LateEnds {
    /// How many, without the next.
    pub count: u64,
    /// Answers of which scruple acknowledged the first part at once (`TCP_QUICKACK`), to see what that does.
    pub hurried: u64,
    /// Of these, those that ended late.
    pub hurried_late: u64,
}

/// A time in which no request was answered while several waited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadStall {
    /// The answer before it, in ns from the start of the load.
    pub from_ns: u64,
    /// The answer that ended it, in ns from the start of the load.
    pub until_ns: u64,
    /// Requests that had waited for half of it or more when it ended.
    pub waiting: u32,
    /// Of these, those that were answered before half of its length had passed again.
    pub released: u32,
    /// CPU time of the server meanwhile, in ns; null where it is unknown.
    pub server_cpu_ns: Option<u64>,
}

/// A well-known cause of long response times that a load gives evidence for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum LoadPathology {
    /// All connections stalled at once, and went on at once.
    AllStalled {
        /// How often.
        times: u32,
        /// The longest time, in ns.
        longest_ns: u64,
        /// All of them together, in ns.
        total_ns: u64,
        /// Requests that waited in the longest.
        waiting: u32,
        /// CPUs that the server used meanwhile; null where that is unknown.
        server_cpus: Option<f64>,
    },
    /// The server sends an answer in two parts, and its kernel keeps the second back until the first is
    /// acknowledged (Nagle's algorithm), which the client's kernel delays by 40 ms.
    DelayedAck(LateEnds),
}

/// An operational law that must hold whatever the server is (Denning and Buzen, *The Operational
/// Analysis of Queueing Network Models*, ACM Computing Surveys 10, 1978), held against another source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LawCheck {
    /// `N = X · S`, the mean number of requests in flight at some ten moments a second, at random, against the sum of all
    /// service times over the time; or `N = c`, the sum of all response times over the time against the
    /// connections of a closed loop without a pace.
    pub law: String,
    /// Its left side.
    pub left: f64,
    /// Its right side.
    pub right: f64,
    /// Whether both agree: `N = c` to 2 %, `N = X · S` to 10 % or five standard errors.
    pub holds: bool,
}

/// A mode of connecting that is the kernel's back-off after a lost SYN and not the server's time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SynBackoff {
    /// Seconds after the first SYN, one of the moments at which this kernel sends it again:
    /// 1, 3, 7, 15…; from Linux 6.5 on 1, 2, 3, 4, 5, 7, 11…
    pub seconds: u32,
    /// Requests whose connecting took so long (to 0.1 s above).
    pub requests: u64,
}

/// What the numbers of a load say of its server without a model of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadServer {
    /// Answers per second (X), whatever their status.
    pub answers_per_s: f64,
    /// Requests that were sent and not yet answered, on average over the time (N = X · R, Little's law).
    pub present: f64,
    /// How many requests are in progress at once if each takes as long as the fastest answer, and that one
    /// did not wait: X times the shortest service time.
    pub in_progress: f64,
    /// CPUs that its processes used on average; null where that is unknown.
    pub cpus: Option<f64>,
    /// CPU time of its processes for each answer, in ns; null where that is unknown.
    pub cpu_ns: Option<f64>,
}

/// What happened in a slice of the time. A request counts in the slice in which its answer came or it
/// was given up; those that came after the end count in the last slice.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadSlice {
    /// From the start of the load to that of the slice, in ns.
    pub from_ns: u64,
    /// From the start of the load to the end of the slice, in ns.
    pub until_ns: u64,
    /// Answers with a status below 400, without those after the end of the time.
    pub succeeded: u64,
    /// Requests that failed, timed out or were answered with a status of 400 or above.
    pub failed: u64,
    /// The median response time, in ns; null where it is unknown.
    pub p50_ns: Option<u64>,
    /// The 95th percentile of the response time, in ns; null where it is unknown.
    pub p95_ns: Option<u64>,
    /// The 99th percentile of the response time, in ns; null where it is unknown.
    pub p99_ns: Option<u64>,
    /// The 99th percentile of the lateness, in ns; null where it is unknown.
    pub late_p99_ns: Option<u64>,
    /// Open connections at its end.
    pub connections: u32,
    /// CPU time of the generator's threads, in ns.
    pub generator_cpu_ns: u64,
    /// CPU time of the processes that have the server's listening socket open, in ns; null where they are
    /// not on this machine, or not this user's.
    pub server_cpu_ns: Option<u64>,
}

/// A percentile of the response time with its interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadInterval {
    /// In percent, 0 to 100.
    pub percent: f64,
    /// In ns; null where the load is too short to know.
    pub ns: Option<Estimate>,
}

/// 95 % intervals of a load's numbers: what another load of the same length would find, if the server
/// and the machine stay as they are. Times of requests next to each other depend on each other, which
/// widens the intervals. Null where the load is too short to know.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadIntervals {
    /// Of the mean response time, in ns.
    pub mean_ns: Option<Estimate>,
    /// Of the percentiles of the response time, as in `response`.
    pub percentiles: Vec<LoadInterval>,
    /// Of the percentiles of `succeeded`, where that is not null.
    #[serde(default)]
    pub succeeded: Vec<LoadInterval>,
    /// Of the throughput, per second.
    pub throughput_per_s: Option<Estimate>,
    /// Of the share of the requests that ended without success, 0 to 1.
    pub errors: Option<Estimate>,
}

/// What became of a load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadResult {
    /// The version of this layout.
    pub format: u32,
    /// The version of scruple.
    pub scruple: String,
    /// What was asked for.
    pub plan: LoadPlan,
    /// From the moment at which the first request could come due to the end of the time, or to the last
    /// answer of a load that ends with a number of requests, in ns.
    pub elapsed_ns: u64,
    /// What became of the requests.
    pub counts: LoadCounts,
    /// Answers with a status below 400 within `elapsed_ns`, per second of it.
    pub throughput_per_s: f64,
    /// Bytes read from the server.
    pub read_bytes: u64,
    /// Bytes written to it.
    pub written_bytes: u64,
    /// From the moment at which a request came due to its answer: what a user waits.
    pub response: LoadTimes,
    /// The response times of the answers with a status below 400 alone; null where all answers had one.
    #[serde(default)]
    pub succeeded: Option<LoadTimes>,
    /// From sending to the answer, connecting included: what most tools show.
    pub service: LoadTimes,
    /// From the moment at which it came due to its sending.
    pub lateness: LoadTimes,
    /// The response time less the generator's own lateness: that of a request that was sent late
    /// although a connection was free. What `response` has beyond it is not the server's doing.
    pub punctual: LoadTimes,
    /// 95 % intervals.
    #[serde(default)]
    pub intervals: LoadIntervals,
    /// The load over time, at most 128 slices of equal length except the last.
    #[serde(default)]
    pub series: Vec<LoadSlice>,
    /// Thresholds that were asked for.
    #[serde(default)]
    pub expected: Vec<Expectation>,
    /// How answers were shared out; null where connections do not last.
    pub fairness: Option<Fairness>,
    /// What the kernel counted.
    pub network: Network,
    /// Modes of the kernel's back-off.
    pub syn_backoff: Vec<SynBackoff>,
    /// Times without any answer, at most 1,000 of each thread.
    #[serde(default)]
    pub stalls: Vec<LoadStall>,
    /// Answers that ended as late as a delayed acknowledgement comes.
    #[serde(default)]
    pub late_ends: LateEnds,
    /// Well-known causes of long response times.
    #[serde(default)]
    pub pathologies: Vec<LoadPathology>,
    /// What follows for the server; null where nothing was answered in time.
    #[serde(default)]
    pub server: Option<LoadServer>,
    /// The operational laws.
    pub audit: Vec<LawCheck>,
    /// CPU time of the generator's threads, in ns.
    pub generator_cpu_ns: u64,
    /// CPU time of other processes meanwhile, the server's included, in ns; null where it is unknown,
    /// as of less than 0.1 s, for which the kernel's clock of it is too coarse.
    pub foreign_cpu_ns: Option<u64>,
    /// Sentences that say what makes this result doubtful; empty where nothing does.
    pub doubts: Vec<String>,
}

/// A percentile of the response time with what the generator itself added to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OwnLateness {
    /// In percent: 50, 95 or 99.
    pub percent: f64,
    /// The response time, in ns.
    pub response_ns: u64,
    /// What it would have been had the generator sent each request when it could, in ns.
    pub punctual_ns: u64,
}

impl LoadResult {
    /// What the generator may add to a response time before it makes a result doubtful, in ns: to be
    /// woken at a moment takes a thread some 0.1 ms, also on a machine that has nothing else to do.
    pub const OWN_LATENESS_NS: u64 = 250_000;

    /// What it may add to any response time, as a part of that.
    const OWN_SHARE: f64 = 0.1;

    /// Returns a number and the same with its interval, in ns, per second, or as a share; each `None` where
    /// it is unknown.
    #[must_use]
    pub fn number(&self, number: LoadNumber) -> (Option<f64>, Option<Estimate>) {
        match number {
            LoadNumber::Succeeded(percent) => match &self.succeeded {
                None => self.number(LoadNumber::Percentile(percent)),
                Some(times) => percentile(times, &self.intervals.succeeded, percent),
            },
            LoadNumber::Percentile(percent) => {
                percentile(&self.response, &self.intervals.percentiles, percent)
            }
            LoadNumber::Mean => (self.response.mean_ns, self.intervals.mean_ns),
            LoadNumber::Errors => (self.counts.error_share(), self.intervals.errors),
            LoadNumber::Rate => (Some(self.throughput_per_s), self.intervals.throughput_per_s),
        }
    }

    /// Returns the percentile of the response time, of the 50th, 95th and 99th, that the generator's own
    /// lateness has lengthened most, as a ratio: of those that it has lengthened by more than a tenth
    /// and by more than `least_ns`. `None` where there is none.
    pub fn own_lateness(&self, least_ns: u64) -> Option<OwnLateness> {
        let ratio = |own: &OwnLateness| own.response_ns as f64 / own.punctual_ns.max(1) as f64;
        [50.0, 95.0, 99.0]
            .into_iter()
            .filter_map(|percent| {
                let response_ns = self.response.at(percent)?;
                let punctual_ns = self.punctual.at(percent)?;
                Some(OwnLateness { percent, response_ns, punctual_ns })
            })
            .filter(|own| {
                let added_ns = own.response_ns.saturating_sub(own.punctual_ns);
                added_ns > least_ns && added_ns as f64 > Self::OWN_SHARE * own.punctual_ns as f64
            })
            .max_by(|a, b| ratio(a).total_cmp(&ratio(b)))
    }
}

/// Returns a percentile of some times and the same with its interval, in ns.
fn percentile(
    times: &LoadTimes,
    intervals: &[LoadInterval],
    percent: f64,
) -> (Option<f64>, Option<Estimate>) {
    let known = intervals.iter().find(|it| it.percent == percent);
    (times.at(percent).map(|ns| ns as f64), known.and_then(|it| it.ns))
}

impl LoadCounts {
    /// Returns how many requests failed, whatever the reason.
    #[must_use]
    pub fn failed(&self) -> u64 {
        self.errors.values().sum()
    }

    /// Returns how many requests ended without success: failed, timed out, or answered by a status of 400
    /// or above.
    #[must_use]
    pub fn unsuccessful(&self) -> u64 {
        self.answered - self.succeeded.min(self.answered) + self.failed() + self.timed_out
    }

    /// Returns the share of the requests that ended without success, 0 to 1; `None` where none ended.
    #[must_use]
    pub fn error_share(&self) -> Option<f64> {
        let ended = self.succeeded + self.unsuccessful();
        (ended > 0).then(|| self.unsuccessful() as f64 / ended as f64)
    }

    /// Returns how many requests came due.
    #[must_use]
    pub fn due(&self) -> u64 {
        self.answered + self.failed() + self.timed_out + self.in_flight + self.unsent
    }
}

impl LoadTimes {
    /// Returns a percentile, in ns; `None` where it is not among them or unknown.
    #[must_use]
    pub fn at(&self, percent: f64) -> Option<u64> {
        self.percentiles.iter().find(|known| known.percent == percent)?.ns
    }
}
