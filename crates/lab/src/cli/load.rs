//! The command line of `scruple load`.

use crate::load::expect;
use crate::quantity;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use web::load::{CONNECTIONS_MAX, STREAMS_MAX, THREADS_MAX, check_header, check_method};

const EXIT_CODES: &str = "Exit codes: 0 measured, and every --expect is met; 1 an --expect is not met; \
2 usage or environment error, or no request \
succeeded; 3 interrupted (the results so far are shown), an --expect cannot be decided, or no capacity \
found (--find-knee); 125 with --bisect, in the place of 3 and if no \
request succeeded.";

/// Load an HTTP server and measure its users' response times
///
/// scruple records three times per request: response time (from the moment that the request was due),
/// service time (from its sending; most tools report this one), and lateness, their difference.
/// Requests that timed out stay in the percentiles. Errors do not count as throughput.
///
/// Without --rate, each connection sends its next request when it has its answer (closed loop). With
/// --rate, requests come due at that rate. With --open also, further connections are opened when all
/// are waiting. docs/load.md explains how to read the answer.
///
/// scruple loads this machine only. --allow-remote permits others, with a rate and a time limit.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct LoadArgs {
    /// The URL to request, such as http://127.0.0.1:8080/ or https://localhost:8443/
    #[arg(value_name = "URL", required_unless_present = "urls_from_file")]
    pub(crate) url: Option<String>,
    /// Request the URLs of this file, one per line, all of one server
    #[arg(long, value_name = "FILE", conflicts_with = "url")]
    pub(crate) urls_from_file: Option<PathBuf>,
    /// Send the requests of --urls-from-file and --body-lines in this order
    #[arg(long, value_name = "ORDER", value_enum, default_value = "in-order")]
    pub(crate) urls_order: Order,
    /// Use N connections, or at most N in an open loop [default: 50; 500 in an open loop]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(CONNECTIONS_MAX)))]
    pub(crate) connections: Option<u32>,
    /// Send for this time, such as 10s or 1m; with --find-knee, at least this long at each rate
    ///
    /// [default: 10s unless --requests is given; 2s with --find-knee]. If --requests is given also, the
    /// first limit that is reached ends the run.
    #[arg(short = 'z', long, value_name = "TIME", value_parser = quantity::duration_ms)]
    pub(crate) duration: Option<u64>,
    /// Send N requests
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) requests: Option<u64>,
    /// Send at this rate over all connections, such as 500 per second; with --find-knee the highest rate
    #[arg(short = 'q', long, value_name = "RATE", value_parser = parse_rate)]
    pub(crate) rate: Option<f64>,
    /// Send without waiting for earlier answers (open loop), at random intervals (poisson, like users)
    /// or constant ones
    #[arg(long, value_name = "INTERVALS", value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "poisson")]
    pub(crate) open: Option<Open>,
    /// Give up a request after this time
    #[arg(long, value_name = "TIME", value_parser = quantity::duration_ms, default_value = "20s")]
    pub(crate) timeout: u64,
    /// Wait for answers for this time after the end [default: 1s, or --timeout if that is shorter]
    ///
    /// Requests that came due in time are still sent, and no others. Answers that come in this time have
    /// their response time, and do not count for the throughput.
    #[arg(long, value_name = "TIME", value_parser = parse_drain, conflicts_with = "find_knee")]
    pub(crate) drain: Option<u64>,
    /// Require this of the result, such as 'p99 < 50ms'; may be repeated
    ///
    /// The number is p50, p75, p90, p95, p99, p99.9, p99.99 or mean (response time), errors (percentage of
    /// requests without success) or rate (throughput per second), such as 'errors < 0.1%' or 'rate >
    /// 1000/s'; p99(ok) is that of the answers that succeeded. Percentiles and errors are decided by how many requests lie beyond the limit, mean and
    /// rate by their whole 95 % interval. What a load does not show cannot be decided.
    #[arg(long, value_name = "CONDITION", value_parser = expect::parse, conflicts_with = "find_knee")]
    pub(crate) expect: Vec<expect::Threshold>,
    /// Exit with code 125 if nothing can be said of the server, so that `git bisect run` skips it
    #[arg(long, conflicts_with = "find_knee")]
    pub(crate) bisect: bool,
    /// Let another server take turns with URL, and compare the two
    ///
    /// In each of --blocks blocks both get the same load for --duration, in random order. What changes on
    /// the machine over time then affects both. docs/comparing.md explains the result.
    #[arg(long, value_name = "URL", conflicts_with_all = ["find_knee", "hdr_log", "log", "expect", "urls_from_file"])]
    pub(crate) against: Option<String>,
    /// With --against: measure N blocks; a difference needs 6 to be significant
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=1000), requires = "against", default_value = "10")]
    pub(crate) blocks: u32,
    /// With --against: exit with code 1 if this change is found, and with 3 if the data cannot decide,
    /// such as 'p99 > +5%'; may be repeated
    #[arg(long, value_name = "CONDITION", requires = "against")]
    pub(crate) fail_if: Vec<analysis::Condition>,
    /// Send this header, such as 'Accept: text/html'; may be repeated
    #[arg(short = 'H', long = "header", value_name = "HEADER", value_parser = parse_header)]
    pub(crate) headers: Vec<(String, String)>,
    /// Use this method
    #[arg(short, long, value_name = "METHOD", value_parser = parse_method, default_value = "GET")]
    pub(crate) method: String,
    /// Send this text as the body of every request
    #[arg(short = 'd', long, value_name = "TEXT", value_parser = parse_body, conflicts_with = "body_file")]
    pub(crate) body: Option<String>,
    /// Send this file as the body of every request
    #[arg(short = 'D', long, value_name = "FILE")]
    pub(crate) body_file: Option<PathBuf>,
    /// Send the lines of this file as bodies, one per request; with --urls-from-file, the body of the same
    /// line
    #[arg(short = 'Z', long, value_name = "FILE", conflicts_with_all = ["body", "body_file"])]
    pub(crate) body_lines: Option<PathBuf>,
    /// Send this name and password (basic authentication); they are not stored in the result
    #[arg(short = 'a', long, value_name = "USER:PASSWORD", value_parser = parse_credentials)]
    pub(crate) basic_auth: Option<String>,
    /// Follow up to N redirects to the same server; the response time covers them all
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=100), default_value = "0", conflicts_with = "http2")]
    pub(crate) redirect: u32,
    /// Use HTTP/2: negotiated with https, with prior knowledge (h2c) otherwise
    #[arg(long, conflicts_with = "no_keep_alive")]
    pub(crate) http2: bool,
    /// With --http2: send N requests at the same time on each connection
    #[arg(short = 'p', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(STREAMS_MAX)), default_value = "1")]
    pub(crate) streams: u32,
    /// Trust the certificates of this PEM file also
    #[arg(long, value_name = "FILE")]
    pub(crate) cacert: Option<PathBuf>,
    /// Accept any certificate
    #[arg(short = 'k', long)]
    pub(crate) insecure: bool,
    /// Connect to this Unix socket instead of the URL's address
    #[arg(long, value_name = "PATH", conflicts_with = "connect_to")]
    pub(crate) unix_socket: Option<PathBuf>,
    /// Connect to this HOST:PORT instead of the URL's; HOST1:PORT1:HOST2:PORT2 of curl is also accepted
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) connect_to: Option<String>,
    /// Send requests for this time before the clock starts; they are not counted
    #[arg(long, value_name = "TIME", value_parser = quantity::duration_ms)]
    pub(crate) warm_up: Option<u64>,
    /// Open a new connection for each request
    #[arg(long, alias = "disable-keepalive")]
    pub(crate) no_keep_alive: bool,
    /// Run the generator with N threads; one sends about 100,000 requests per second
    #[arg(short, long, value_name = "N", value_parser = parse_threads, default_value = "1")]
    pub(crate) threads: u32,
    /// Do nothing; accepted for users of oha. Response times always start when a request is due
    #[arg(long)]
    pub(crate) latency_correction: bool,
    /// Seed the random intervals; the same seed repeats them
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// Allow loading another machine; needs --rate and a time limit
    #[arg(long)]
    pub(crate) allow_remote: bool,
    /// Raise the rate until response times exceed the limit, and report the rate that the server sustains
    #[arg(long, conflicts_with_all = ["requests", "html", "hdr_log"])]
    pub(crate) find_knee: bool,
    /// With --find-knee: require 95 % of the responses within this time, such as 50ms [default: 5 times
    /// p95 of one request at a time]
    #[arg(long, value_name = "TIME", value_parser = quantity::time, requires = "find_knee")]
    pub(crate) limit: Option<f64>,
    /// With --find-knee: start at this rate [default: 1.5 times that of one request at a time]
    #[arg(long, value_name = "RATE", value_parser = parse_rate, requires = "find_knee")]
    pub(crate) from: Option<f64>,
    /// With --find-knee: measure for this time at most [default: 3m]
    #[arg(long, value_name = "TIME", value_parser = quantity::duration_ms, requires = "find_knee")]
    pub(crate) time_budget: Option<u64>,
    /// Print the result as JSON (docs/load.schema.json; with --find-knee in a layout that may change)
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the result as one HTML file also, which works offline; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Write the times as a histogram log also, which the tools of HdrHistogram read
    #[arg(long, value_name = "FILE")]
    pub(crate) hdr_log: Option<PathBuf>,
    /// Write a line of CSV for each request also; compressed if FILE ends in .gz
    #[arg(long, value_name = "FILE", conflicts_with = "find_knee")]
    pub(crate) log: Option<PathBuf>,
}

/// The order of different requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Order {
    /// One after the other, and again from the first
    InOrder,
    /// Each drawn at random
    Random,
}

/// The intervals of an open loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Open {
    /// Exponentially distributed
    Poisson,
    /// All the same
    Constant,
}

/// Parses requests per second: a number, or one with its unit.
fn parse_rate(text: &str) -> Result<f64, String> {
    const RIGHT: &str = "a rate is a number of requests per second such as 500, or 90/min; from \
                         0.01 to 10,000,000 per second";
    let per_s = quantity::plain(text).or_else(|| quantity::rate(text).ok());
    per_s.filter(|per_s| (0.01..=1e7).contains(per_s)).ok_or_else(|| RIGHT.into())
}

/// Parses a time that may be 0.
fn parse_drain(text: &str) -> Result<u64, String> {
    if text == "0" { Ok(0) } else { quantity::duration_ms(text) }
}

/// Parses a number of threads; in hey and oha, `-t` is a time.
fn parse_threads(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(threads @ 1..=THREADS_MAX) if !text.starts_with('+') => Ok(threads),
        _ => Err(format!(
            "expected a number of threads from 1 to {THREADS_MAX}; the time after which a request is \
             given up is --timeout"
        )),
    }
}

/// Words of other tools whose first letter is an option here, and what they mean.
const OTHERS: [(&str, &str); 8] = [
    ("isable-compression", "nothing: no compression is asked for"),
    ("isable-redirects", "nothing: redirects are followed with -r alone"),
    ("isable-keepalive", "--no-keep-alive"),
    ("uration", "-z TIME"),
    ("ata", "-d TEXT"),
    ("ethod", "-m METHOD"),
    ("eaders", "-H HEADER"),
    ("nsecure", "-k"),
];

/// Refuses the rest of a word of another tool, such as that of `-duration=10s`.
fn not_of_others(text: &str) -> Result<(), String> {
    let word = text.split_once('=').map_or(text, |(word, _)| word);
    let is_glued = std::env::args()
        .any(|typed| ["-d", "-m"].iter().any(|short| typed.strip_prefix(short) == Some(text)));
    let is_word = word.len() >= 3 && word.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    if is_glued && is_word && OTHERS.iter().all(|(rest, _)| *rest != word) {
        return Err("options of several letters begin with two dashes".into());
    }
    match OTHERS.iter().find(|(rest, _)| *rest == word) {
        Some((_, meant)) => {
            Err(format!("options of several letters begin with two dashes; meant here: {meant}"))
        }
        None => Ok(()),
    }
}

/// Refuses a body that is a duration: in wrk and bombardier, `-d` is one.
fn parse_body(text: &str) -> Result<String, String> {
    not_of_others(text)?;
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit());
    if unit.len() < text.len() && ["", "ms", "s", "m", "h"].contains(&unit) {
        return Err(format!(
            "-d is the body of a request; a duration is -z {text}, and such a body comes from a file \
             (-D FILE)"
        ));
    }
    Ok(text.into())
}

/// Checks a name and a password; the error does not repeat them.
fn parse_credentials(text: &str) -> Result<String, String> {
    let sound = text.contains(':') && !text.chars().any(char::is_control) && text.len() <= 4096;
    match sound {
        true => Ok(text.into()),
        false => Err("expected a name and a password, such as alice:secret".into()),
    }
}

fn parse_method(text: &str) -> Result<String, String> {
    not_of_others(text)?;
    check_method(text).map(|()| text.into()).map_err(|error| error.to_string())
}

fn parse_header(text: &str) -> Result<(String, String), String> {
    let (name, value) =
        text.split_once(':').ok_or("expected a name and a value, such as 'Accept: text/html'")?;
    let (name, value) = (name.trim(), value.trim());
    check_header(name, value).map_err(|error| error.to_string())?;
    Ok((name.into(), value.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::duration_ms;

    #[test]
    fn times_are_read_as_hey_and_oha_have_them() {
        let of = |text| duration_ms(text).ok();
        assert_eq!((of("10s"), of("20"), of("1.5s")), (Some(10_000), Some(20_000), Some(1_500)));
        assert_eq!((of("250ms"), of("2m"), of("1h")), (Some(250), Some(120_000), Some(3_600_000)));
        for text in ["", "s", "0", "0.1ms", "-1s", "1y", "nan", "1e9", "99999h", "3ß"] {
            assert!(duration_ms(text).is_err(), "{text}");
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
    fn options_of_other_tools_are_no_bodies() {
        for (text, meant) in
            [("30s", "-z 30s"), ("isable-keepalive", "--no-keep-alive"), ("uration=9s", "-z")]
        {
            assert!(parse_body(text).is_err_and(|why| why.contains(meant)), "{text}");
        }
        for text in ["", "{\"a\":1}", "3.5", "s", "30 s", "data"] {
            assert_eq!(parse_body(text).as_deref(), Ok(text));
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
        for text in ["", "GET /", "CONNECT", "Ä", "ethod=POST"] {
            assert!(parse_method(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_time_for_threads_names_the_right_flag() {
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
            match duration_ms(&text) {
                Ok(ms) => proptest::prop_assert!((1..=7 * 24 * 3600 * 1000).contains(&ms)),
                Err(why) => proptest::prop_assert!(!why.is_empty()),
            }
            if let Ok(rate) = parse_rate(&text) {
                proptest::prop_assert!((0.01..=1e7).contains(&rate));
            }
            let _ = (parse_header(&text), parse_threads(&text), parse_method(&text));
        }
    }
}
