//! The command line of `scruple load`.

use crate::quantity;
use clap::{Args, ValueEnum};
use model::ServerKind;
use std::path::PathBuf;

/// The most connections: what web::load takes.
const CONNECTIONS_MAX: i64 = 1 << 16;

/// The most threads of the generator.
const THREADS_MAX: u32 = 1024;

/// The most workers of a server that is simulated: what laws::station takes.
const SERVER_WORKERS_MAX: u32 = 1_000_000;

/// The longest time, in ms: a week.
const TIME_MAX_MS: f64 = 7.0 * 24.0 * 3600.0 * 1e3;

const EXIT_CODES: &str = "Exit codes: 0 measured, whatever the server answered; 2 usage or \
environment error, or nothing was answered; 3 interrupted (what was measured until then is shown), \
or no capacity was found (--find-knee) or not all was predicted (--predict).";

/// Put a load on an HTTP server, and say what users would wait
///
/// Three times of each request are kept: response (from the moment it was to come), service (from its
/// sending: what most tools show), and lateness, the difference. Requests that were given up stay in
/// the percentiles. Errors are no throughput.
///
/// Without --rate, each connection asks again when it has its answer (closed loop). With it, requests
/// come due at that rate; with --open, too, on further connections where all are waiting.
/// docs/load.md says how to read the answer.
///
/// Only this machine is asked unless --allow-remote is given, with a rate and a time limit.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct LoadArgs {
    /// What to ask for, such as http://127.0.0.1:8080/; http alone, no https
    #[arg(value_name = "URL")]
    pub(crate) url: String,
    /// Connections; in an open loop so many at most [default: 50; 500 in an open loop]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=CONNECTIONS_MAX))]
    pub(crate) connections: Option<u32>,
    /// How long to ask, such as 10s or 1m; with --find-knee, how long to ask at one rate at least
    ///
    /// [default: 10s unless --requests is given; 2s with --find-knee]. With --requests, too, whatever
    /// comes first ends it.
    #[arg(short = 'z', long, value_name = "TIME", value_parser = parse_time_ms)]
    pub(crate) duration: Option<u64>,
    /// How many requests to send
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) requests: Option<u64>,
    /// Requests per second over all connections, such as 500; with --find-knee the highest rate to try
    #[arg(short = 'q', long, value_name = "RATE", value_parser = parse_rate)]
    pub(crate) rate: Option<f64>,
    /// Open loop: requests come whether or not those before were answered, at random intervals
    /// (poisson, as users come) or at constant ones
    #[arg(long, value_name = "INTERVALS", value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "poisson")]
    pub(crate) open: Option<Open>,
    /// The time after which a request is given up
    #[arg(long, value_name = "TIME", value_parser = parse_time_ms, default_value = "20s")]
    pub(crate) timeout: u64,
    /// A header, such as 'Accept: text/html'; may be repeated
    #[arg(short = 'H', long = "header", value_name = "HEADER", value_parser = parse_header)]
    pub(crate) headers: Vec<(String, String)>,
    /// The method
    #[arg(short, long, value_name = "METHOD", value_parser = parse_method, default_value = "GET")]
    pub(crate) method: String,
    /// The body of every request
    #[arg(short = 'd', long, value_name = "TEXT", conflicts_with = "body_file")]
    pub(crate) body: Option<String>,
    /// A file with the body of every request
    #[arg(short = 'D', long, value_name = "FILE")]
    pub(crate) body_file: Option<PathBuf>,
    /// A new connection for each request
    #[arg(long, alias = "disable-keepalive")]
    pub(crate) no_keep_alive: bool,
    /// Threads of the generator; one sends some 100,000 requests per second
    #[arg(short, long, value_name = "N", value_parser = parse_threads, default_value = "1")]
    pub(crate) threads: u32,
    /// No effect, for who comes from oha: response times always begin when a request was to come
    #[arg(long)]
    pub(crate) latency_correction: bool,
    /// Where random intervals come from; the same seed repeats them
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// Allow another machine than this one to be asked; only with --rate and a time limit
    #[arg(long)]
    pub(crate) allow_remote: bool,
    /// Raise the rate until the response time breaks, and say how much the server bears
    #[arg(long, conflicts_with_all = ["requests", "html", "hdr_log"])]
    pub(crate) find_knee: bool,
    /// With --find-knee: what 95 % of the responses may take, such as 50ms [default: 5 times what they
    /// take at the lowest rate]
    #[arg(long, value_name = "TIME", value_parser = quantity::time, requires = "find_knee")]
    pub(crate) limit: Option<f64>,
    /// With --find-knee: the rate to begin with
    #[arg(long, value_name = "RATE", value_parser = parse_rate, requires = "find_knee", default_value = "50")]
    pub(crate) from: f64,
    /// With --find-knee: the time to measure in [default: 2m]
    #[arg(long, value_name = "TIME", value_parser = parse_time_ms, requires = "find_knee")]
    pub(crate) time_budget: Option<u64>,
    /// Say whether the server does as the queue that it should be: single, pool:8 (workers), each (a
    /// thread per connection) or event-loop:2 (threads)
    ///
    /// It is asked for one request at a time and for as many as it answers. Then requests come at
    /// random, at 50, 70 and 90 % of that, and a simulated server of that kind gets the very same
    /// arrivals. docs/simulation.md says more.
    #[arg(long, value_name = "SERVER", value_parser = parse_server, conflicts_with_all = ["find_knee", "requests", "rate", "open", "hdr_log", "allow_remote"])]
    pub(crate) predict: Option<ServerKind>,
    /// With --predict: CPUs that the server may use [default: as many as it was seen to use]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65_536), requires = "predict")]
    pub(crate) server_cpus: Option<u32>,
    /// Print the result as JSON (docs/load.schema.json; with --find-knee docs/knee.schema.json, with
    /// --predict docs/prediction.schema.json)
    #[arg(long)]
    pub(crate) json: bool,
    /// Also write the result as a page, one file that works offline; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Also write the times as a log of histograms that HdrHistogram's tools read
    #[arg(long, value_name = "FILE")]
    pub(crate) hdr_log: Option<PathBuf>,
}

/// The intervals of an open loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Open {
    /// Exponentially distributed
    Poisson,
    /// All the same
    Constant,
}

/// A length of time in ms: a number and ms, s, m, min or h; without a unit seconds, as hey has it.
fn parse_time_ms(text: &str) -> Result<u64, String> {
    const RIGHT: &str = "a time is a number and ms, s, m or h, such as 10s";
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match &text[digits.len()..] {
        "ms" => 1.0,
        "" | "s" => 1e3,
        "m" | "min" => 60e3,
        "h" => 3600e3,
        _ => return Err(RIGHT.into()),
    };
    let ms = plain_number(digits).ok_or(RIGHT)? * factor;
    match ms.round() {
        ms @ 1.0..=TIME_MAX_MS => Ok(ms as u64),
        _ => Err("expected a time from 1ms to one week".into()),
    }
}

/// Requests per second: a number, or one with its unit.
fn parse_rate(text: &str) -> Result<f64, String> {
    const RIGHT: &str = "a rate is a number of requests per second such as 500, or 90/min; from \
                         0.01 to 10,000,000 per second";
    let per_s = plain_number(text).or_else(|| quantity::rate(text).ok());
    per_s.filter(|per_s| (0.01..=1e7).contains(per_s)).ok_or_else(|| RIGHT.into())
}

/// Digits with at most one point.
fn plain_number(text: &str) -> Option<f64> {
    let plain = |c: char| c.is_ascii_digit() || c == '.';
    let typed = text.chars().all(plain) && text.starts_with(|c: char| c.is_ascii_digit());
    text.parse().ok().filter(|_| typed)
}

/// What a server is taken for.
fn parse_server(text: &str) -> Result<ServerKind, String> {
    const RIGHT: &str = "expected single, pool:K with K workers, each (a thread or process for each \
                         connection), or event-loop:T with T threads; K and T from 1 to 1,000,000";
    let (name, number) = text.split_once(':').map_or((text, None), |(name, n)| (name, Some(n)));
    let count = |text: &str| {
        let digits = text.chars().all(|c| c.is_ascii_digit());
        text.parse().ok().filter(|n| digits && (1..=SERVER_WORKERS_MAX).contains(n))
    };
    match (name, number) {
        ("single", None) => Ok(ServerKind::Single),
        ("each", None) => Ok(ServerKind::Each),
        ("event-loop", None) => Ok(ServerKind::EventLoop(1)),
        ("pool", Some(n)) => count(n).map(ServerKind::Pool).ok_or_else(|| RIGHT.into()),
        ("event-loop", Some(n)) => count(n).map(ServerKind::EventLoop).ok_or_else(|| RIGHT.into()),
        _ => Err(RIGHT.into()),
    }
}

/// hey and oha have `-t` for a time.
fn parse_threads(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(threads @ 1..=THREADS_MAX) if !text.starts_with('+') => Ok(threads),
        _ => Err(format!(
            "expected a number of threads from 1 to {THREADS_MAX}; the time after which a request is \
             given up is --timeout"
        )),
    }
}

/// What a name of a method or header may consist of (RFC 9110, 5.6.2: a token).
fn is_token(text: &str) -> bool {
    let of_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    (1..=256).contains(&text.len()) && text.chars().all(of_token)
}

fn parse_method(text: &str) -> Result<String, String> {
    match text {
        _ if !is_token(text) => Err("expected a method such as GET or POST".into()),
        // Their answers end by other rules.
        "CONNECT" | "connect" => Err("CONNECT asks for a tunnel and is no request".into()),
        _ => Ok(text.into()),
    }
}

fn parse_header(text: &str) -> Result<(String, String), String> {
    /// The generator itself says how long the body is, and sends it at once.
    const OWN: [&str; 3] = ["content-length", "transfer-encoding", "expect"];
    let (name, value) =
        text.split_once(':').ok_or("expected a name and a value, such as 'Accept: text/html'")?;
    let (name, value) = (name.trim(), value.trim());
    if !is_token(name) {
        return Err(format!("{name:?} is no name of a header"));
    }
    if OWN.contains(&name.to_ascii_lowercase().as_str()) {
        return Err(format!("{name} follows from the body; leave it out"));
    }
    if value.len() > 8192 || value.chars().any(|c| c.is_control() && c != '\t') {
        return Err(format!("the value of {name} is too long or has control characters"));
    }
    Ok((name.into(), value.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_hey_and_oha_have_them() {
        let of = |text| parse_time_ms(text).ok();
        assert_eq!((of("10s"), of("20"), of("1.5s")), (Some(10_000), Some(20_000), Some(1_500)));
        assert_eq!((of("250ms"), of("2m"), of("1h")), (Some(250), Some(120_000), Some(3_600_000)));
        for text in
            ["", "s", "0", "0.1ms", "-1s", "+1s", "1y", "nan", "1e9", "99999h", "10 s", "3ß"]
        {
            assert!(parse_time_ms(text).is_err(), "{text}");
        }
    }

    #[test]
    fn rates_are_per_second_unless_they_say_otherwise() {
        let of = |text| parse_rate(text).ok();
        assert_eq!((of("500"), of("0.5"), of("90/min")), (Some(500.0), Some(0.5), Some(1.5)));
        for text in ["", "0", "-5", "1e3", "inf", "NaN", "5/d", "100000000", "+5"] {
            assert!(parse_rate(text).is_err_and(|why| why.contains("500")), "{text}");
        }
    }

    #[test]
    fn headers_cannot_smuggle_a_second_request() {
        assert_eq!(parse_header("Accept:text/html"), Ok(("Accept".into(), "text/html".into())));
        assert_eq!(parse_header("X-Empty: "), Ok(("X-Empty".into(), String::new())));
        for text in ["", "none", ": x", "a b: c", "A: b\r\nC: d", "Content-Length: 5", "expect: x"]
        {
            assert!(parse_header(text).is_err(), "{text}");
        }
        for text in ["", "GET /", "CONNECT", "Ä"] {
            assert!(parse_method(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_server_is_one_of_four_kinds() {
        let of = |text| parse_server(text).ok();
        assert_eq!((of("single"), of("each")), (Some(ServerKind::Single), Some(ServerKind::Each)));
        assert_eq!(of("pool:8"), Some(ServerKind::Pool(8)));
        assert_eq!(
            (of("event-loop"), of("event-loop:4")),
            (of("event-loop:1"), Some(ServerKind::EventLoop(4)))
        );
        for text in [
            "",
            "pool",
            "pool:0",
            "pool:+8",
            "pool:8:8",
            "single:1",
            "each:2",
            "nginx",
            "event-loop:",
            "pool:1000001",
        ] {
            assert!(parse_server(text).is_err_and(|why| why.contains("pool:K")), "{text}");
        }
    }

    #[test]
    fn a_time_for_threads_is_told_its_flag() {
        assert_eq!(parse_threads("4"), Ok(4));
        assert!(parse_threads("20s").is_err_and(|why| why.contains("--timeout")));
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig {
            failure_persistence: None,
            ..proptest::prelude::ProptestConfig::default()
        })]

        #[test]
        fn any_text_is_sound_or_refused_in_words(
            text in proptest::prop_oneof!["[0-9.+-]{0,25}[a-zßµ/]{0,4}", ".*"],
        ) {
            match parse_time_ms(&text) {
                Ok(ms) => proptest::prop_assert!((1..=TIME_MAX_MS as u64).contains(&ms)),
                Err(why) => proptest::prop_assert!(!why.is_empty()),
            }
            if let Ok(rate) = parse_rate(&text) {
                proptest::prop_assert!((0.01..=1e7).contains(&rate));
            }
            let _ = (parse_header(&text), parse_threads(&text), parse_method(&text));
        }
    }
}
