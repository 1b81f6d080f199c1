//! Figures that were measured elsewhere: tables of a number of workers and of a throughput, a time or a speedup, in
//! the forms in which they are published.

use super::trials::ScaleTrial;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The most lines that are fitted: each is a trial, and nobody measures more of a curve.
const TRIALS_MAX: usize = 10_000;

/// What a column holds; figures.toml has the names of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Meaning {
    Workers,
    Throughput,
    Time,
    Speedup,
    Efficiency,
    Trial,
    CpuSeconds,
    Qualifier,
}

use Meaning::{CpuSeconds, Efficiency, Qualifier, Speedup, Throughput, Time, Trial, Workers};

static NAMES: LazyLock<BTreeMap<Meaning, Vec<String>>> = LazyLock::new(|| {
    toml::from_str(include_str!("figures.toml")).unwrap_or_else(|error| unreachable!("{error}"))
});

/// What can be fitted, the best first: others beside it say the same.
const FITTED: [Meaning; 4] = [Throughput, Time, Speedup, Efficiency];

/// Units of time that may stand behind a number, in seconds.
const UNITS: [(&str, f64); 15] = [
    ("ms", 1e-3),
    ("us", 1e-6),
    ("\u{b5}s", 1e-6),
    ("ns", 1e-9),
    ("minutes", 60.0),
    ("minute", 60.0),
    ("min", 60.0),
    ("hours", 3600.0),
    ("hour", 3600.0),
    ("h", 3600.0),
    ("seconds", 1.0),
    ("second", 1.0),
    ("secs", 1.0),
    ("sec", 1.0),
    ("s", 1.0),
];

/// What may stand behind a throughput or a number of workers.
const MULTIPLES: [(char, f64); 4] = [('k', 1e3), ('K', 1e3), ('M', 1e6), ('G', 1e9)];

/// The columns of a table.
#[derive(Clone, Debug)]
struct Columns {
    count: usize,
    /// Where each meaning that is read stands.
    places: Vec<(Meaning, usize)>,
    /// Its commas are decimal ones: one of them stands before other than three digits.
    has_decimal_comma: bool,
    /// What one in a column of times is, in seconds.
    unit_s: f64,
    /// What the columns are called that are read; empty without a head.
    read: String,
}

/// A table as it was read.
#[derive(Clone, Debug)]
pub struct Figures {
    /// Its rows.
    pub trials: Vec<ScaleTrial>,
    /// How its columns were understood.
    pub read_as: String,
}

/// Reads a table: CSV, with semicolons and decimal commas, tabs or blanks, or Markdown. Its head says which column has the
/// number of workers and which a throughput, a time, a speedup or an efficiency; without a head, the first two
/// columns are the number of workers and the throughput.
///
/// # Errors
/// What is wrong, after its line and column: `3:2: …`.
pub fn figures(text: &str) -> Result<Figures, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if let Some(upright) = upright(text) {
        // A place is a line and a column; here these were exchanged.
        return figures(&upright).map_err(|why| match why.splitn(3, ':').collect::<Vec<_>>()[..] {
            [line, column, ref rest] => format!("{column}:{line}:{rest}"),
            _ => why,
        });
    }
    let mut columns: Option<Columns> = None;
    let mut commented: Option<Columns> = None;
    let mut trials = Vec::new();
    let has_decimal_comma = text.lines().flat_map(fields).any(is_decimal);
    for (line, whole) in (1..).zip(text.lines()) {
        let (content, comment) = whole.split_once('#').unwrap_or((whole, ""));
        let fields = fields(content.trim());
        if fields.iter().all(|field| field.chars().all(|c| "-:=+".contains(c))) {
            // A rule of Markdown, or nothing; tools for figures have heads in comments.
            commented = head(&self::fields(comment.trim()), line).ok().or(commented);
            continue;
        }
        if columns.is_none() && number(fields[0], Workers, false).is_none() {
            columns = Some(head(&fields, line)?);
            continue;
        }
        let plain = || Columns {
            count: fields.len(),
            places: vec![(Workers, 0), (Throughput, 1)],
            has_decimal_comma: false,
            unit_s: 1.0,
            read: String::new(),
        };
        let columns = columns.get_or_insert_with(|| {
            commented.take().filter(|one| one.count == fields.len()).unwrap_or_else(plain)
        });
        columns.has_decimal_comma = has_decimal_comma;
        trials.push(trial(&fields, columns, line, trials.len())?);
        model::ensure!(trials.len() <= TRIALS_MAX, "{line}:1: more than {TRIALS_MAX} trials");
    }
    match columns.filter(|_| !trials.is_empty()) {
        Some(columns) => Ok(Figures { trials, read_as: columns.read }),
        None => {
            Err("1:1: there are no figures; expected lines of n and throughput, such as 4,392.5"
                .into())
        }
    }
}

/// Returns a table whose names stand before its rows with them above its columns.
fn upright(text: &str) -> Option<String> {
    let rows: Vec<Vec<&str>> = text.lines().filter(|line| !line.is_empty()).map(fields).collect();
    let (name, first) = rows.first()?.split_first()?;
    let is_table = first.iter().all(|field| number(field, Workers, false).is_some())
        && rows.iter().all(|row| row.len() == rows[0].len());
    if first.len() < 2 || !is_table || meaning(name) != Some(Workers) {
        return None;
    }
    let mut upright = String::new();
    for place in 0..rows[0].len() {
        let column: Vec<&str> = rows.iter().map(|row| row[place]).collect();
        upright += &(column.join("\t") + "\n");
    }
    Some(upright)
}

fn fields(line: &str) -> Vec<&str> {
    let line = line.trim_matches('|').trim();
    let separator = ['|', ';', '\t', ','].into_iter().find(|separator| line.contains(*separator));
    let fields: Vec<&str> = match separator {
        // Blanks between numbers divide them, and the comma is a decimal one.
        Some(',') if line.split(',').next().is_some_and(|first| is_row(first.trim())) => {
            line.split_whitespace().collect()
        }
        Some(separator) => line.split(separator).collect(),
        None => line.split_whitespace().collect(),
    };
    fields.into_iter().map(|field| field.trim().trim_matches(['"', '*', '`'])).collect()
}

/// Reports whether a number has a decimal comma for sure.
fn is_decimal(text: &str) -> bool {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let parts = digits.split_once(',');
    let is_number = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
    parts.is_some_and(|(whole, rest)| is_number(whole) && is_number(rest) && rest.len() != 3)
}

/// Reports whether numbers stand one beside the other.
fn is_row(text: &str) -> bool {
    text.contains(' ') && text.chars().all(|c| c.is_ascii_digit() || c == ' ')
}

/// Returns the meaning of a column's name.
fn meaning(name: &str) -> Option<Meaning> {
    let name = name.to_lowercase().replace(['_', '-'], " ");
    let (plain, unit) = name.split_once(['(', '[']).unwrap_or((&name, ""));
    let words: Vec<&str> = plain.split_whitespace().collect();
    let qualifiers = words.iter().take_while(|word| NAMES[&Qualifier].contains(&word.to_string()));
    let qualifiers = qualifiers.count();
    // A qualifier may be the name itself: “elapsed”.
    let named = (0..=qualifiers).find_map(|from| known(&words[from..].join(" ")));
    let named = named.or_else(|| known(&name)).or_else(|| form(plain));
    named.or_else(|| form(unit.trim_end_matches([')', ']']))).filter(|it| *it != Qualifier)
}

/// Returns the meaning of a name that is known.
fn known(name: &str) -> Option<Meaning> {
    let found = NAMES.iter().find(|(_, names)| names.iter().any(|known| known == name));
    found.map(|(meaning, _)| *meaning)
}

/// Returns the meaning of a name or unit by its form: something by time is a throughput, and time by something a time.
fn form(text: &str) -> Option<Meaning> {
    let (over, under) = text.split_once('/').or_else(|| text.split_once(" per "))?;
    match [over, under].map(|text| UNITS.iter().any(|(unit, _)| text.trim() == *unit)) {
        [_, true] => Some(Throughput),
        [true, _] => Some(Time),
        _ => None,
    }
}

/// Returns the columns by the names in the first line.
fn head(fields: &[&str], line: usize) -> Result<Columns, String> {
    let meanings: Vec<Option<Meaning>> = fields.iter().map(|name| meaning(name)).collect();
    let place = |meaning: Meaning| meanings.iter().position(|known| *known == Some(meaning));
    let fitted = FITTED.into_iter().find_map(|meaning| Some((meaning, place(meaning)?)));
    let (Some(workers), Some(fitted)) = (place(Workers), fitted) else {
        return Err(format!(
            "{line}:1: expected a column for the number of workers (n, threads, cores) and one for a \
             throughput, a time (seconds) or a speedup; there are: {}",
            fields.join(", ")
        ));
    };
    let is_same = |at: &usize| [Some(Workers), Some(fitted.0)].contains(&meanings[*at]);
    let mut same = (0..fields.len()).filter(|at| is_same(at) && ![workers, fitted.1].contains(at));
    if let Some(at) = same.next() {
        return Err(format!(
            "{line}:{}: {} says again what another column says",
            at + 1,
            fields[at]
        ));
    }
    let others = [Trial, CpuSeconds].into_iter().filter_map(|one| Some((one, place(one)?)));
    let places: Vec<_> = [(Workers, workers), fitted].into_iter().chain(others).collect();
    let what = match fitted.0 {
        Time => "the time of the whole work, whose inverse is the throughput",
        Speedup => "the throughput in multiples of one worker's",
        Efficiency => "the speedup by the number of workers",
        _ => "the throughput",
    };
    let (n, value) = (fields[workers], fields[fitted.1]);
    let left_out: Vec<&str> = (0..fields.len())
        .filter(|at| places.iter().all(|(_, place)| place != at))
        .map(|at| fields[at])
        .collect();
    let left_out = match left_out.is_empty() {
        true => String::new(),
        false => format!("; left out: {}", left_out.join(", ")),
    };
    let read = format!("{n} is the number of workers, {value} is {what}{left_out}");
    let words = || value.split(|c: char| !c.is_alphanumeric());
    let is_unit = |(unit, _): &&(&str, f64)| words().any(|word| word == *unit);
    let unit_s = UNITS.iter().find(is_unit).map_or(1.0, |(_, unit_s)| *unit_s);
    Ok(Columns { count: fields.len(), places, has_decimal_comma: false, unit_s, read })
}

/// Reads a number as tables have it: with a decimal comma, groups of thousands, a unit of time, a percent sign, a multiple
/// (1.2M) or an “x” for times; a time may have minutes and hours (1m4.2s, 01:04:12).
fn number(text: &str, meaning: Meaning, has_decimal_comma: bool) -> Option<f64> {
    let text = text.trim_start_matches(['~', '\u{2248}']).trim();
    if meaning == Time
        && let Some((before, seconds)) =
            text.rsplit_once(':').or_else(|| text.strip_suffix('s')?.rsplit_once('m'))
        && seconds.starts_with(|c: char| c.is_ascii_digit())
    {
        let minutes = before.split([':', 'h']).try_fold(0.0, |sum, part| {
            Some(60.0 * sum + number(part, Workers, has_decimal_comma)?)
        })?;
        return Some(60.0 * minutes + number(seconds, Workers, has_decimal_comma)?);
    }
    let (text, scale) = match meaning {
        Time => UNITS
            .iter()
            .find_map(|(unit, scale)| Some((text.strip_suffix(unit)?, *scale)))
            .unwrap_or((text, 1.0)),
        Speedup => (text.trim_end_matches(['x', 'X', '\u{d7}']), 1.0),
        Efficiency => text.strip_suffix('%').map_or((text, 1.0), |text| (text, 0.01)),
        _ => MULTIPLES
            .iter()
            .find_map(|(letter, scale)| Some((text.strip_suffix(*letter)?, *scale)))
            .unwrap_or((text, 1.0)),
    };
    let text = text.trim();
    let plain = match has_decimal_comma {
        true => text.replace(',', "."),
        false
            if text
                .split(',')
                .skip(1)
                .all(|group| group.split('.').next().is_some_and(|it| it.len() == 3)) =>
        {
            text.replace(',', "")
        }
        false => return None,
    };
    let value: f64 = plain.parse().ok()?;
    Some(value * scale).filter(|value| value.is_finite())
}

fn trial(
    fields: &[&str],
    columns: &Columns,
    line: usize,
    block: usize,
) -> Result<ScaleTrial, String> {
    let found = fields.len();
    if found != columns.count || found < 2 {
        let count = columns.count.max(2);
        let place = found.min(count) + 1;
        return Err(format!("{line}:{place}: expected {count} columns, and there are {found}"));
    }
    let of = |(meaning, place): (Meaning, usize)| {
        let what = match meaning {
            Workers => "number of workers",
            Throughput => "throughput",
            CpuSeconds => "CPU time",
            Time => "time",
            _ => "speedup",
        };
        number(fields[place], meaning, columns.has_decimal_comma)
            .filter(|value| *value > 0.0)
            .ok_or_else(|| {
                format!(
                    "{line}:{}: {:?} is no {what}; expected a number above 0",
                    place + 1,
                    fields[place]
                )
            })
    };
    let place = |meaning: Meaning| columns.places.iter().find(|(own, _)| *own == meaning).copied();
    let n = of(columns.places[0])?;
    let (meaning, at) = columns.places[1];
    let value = of((meaning, at))?;
    let throughput = match meaning {
        Time => 1.0 / (value * columns.unit_s),
        Efficiency => n * value,
        _ => value,
    };
    let round = place(Trial).and_then(|(_, place)| fields[place].parse::<u32>().ok());
    let mut trial = ScaleTrial::of_throughput(n, throughput, round.unwrap_or(block as u32));
    trial.cpu_ns =
        place(CpuSeconds).map(|cpu_s| Ok::<f64, String>(of(cpu_s)? * 1e9)).transpose()?;
    Ok(trial)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<(f64, f64)>, String> {
        let all = figures(text)?.trials;
        Ok(all.iter().map(|it| (it.n, it.throughput().unwrap())).collect())
    }

    #[test]
    fn a_head_names_columns_and_may_be_left_out() {
        assert_eq!(read("n,throughput\n1,20\n2,39.5\n"), Ok(vec![(1.0, 20.0), (2.0, 39.5)]));
        assert_eq!(read("1 20\n2 39.5"), Ok(vec![(1.0, 20.0), (2.0, 39.5)]));
        assert_eq!(read("# a ray tracer\n\"n\";\"throughput\"\n1;20\n\n"), Ok(vec![(1.0, 20.0)]));
        assert_eq!(read("trial,throughput,n\n7,20,1"), Ok(vec![(1.0, 20.0)]));
        let cpu = figures("n,throughput,cpu_s\n2,20,0.1\n").unwrap().trials;
        assert!((cpu[0].cpu_throughput().unwrap() - 10.0).abs() < 1e-9);
    }

    /// Forms that papers, blogs and tools publish, each of 1, 2 and 4 workers with throughputs as 1, 2 and 2.5.
    #[test]
    fn published_forms_are_read() {
        for text in [
            "threads,seconds\n1,10\n2,5\n4,4\n",
            "cores,speedup\n1,1\n2,2\n4,2.5\n",
            "N,X\n1,100\n2,200\n4,250\n",
            "1;10,5\n2;21,0\n4;26,25\n",
            "| Threads | Time (s) | Speedup |\n|---:|:--|---|\n| 1 | 10 | 1.0x |\n| 2 | 5 | 2.0x |\n| 4 | 4 | 2.5x |\n",
            "cores speedup\n1 1.0x\n2 2.0x\n4 2.5\u{d7}\n",
            "# threads seconds\n1 10\n2 5\n4 4\n",
            "n\tthroughput\n1\t1,000.0\n2\t2,000.0\n4\t2,500.0\n",
            "| n | seconds |\n| --- | --- |\n| 1 | 1,600 |\n| 2 | 800 |\n| 4 | 640 |\n",
            "p,efficiency\n1,100%\n2,100%\n4,62.5%\n",
            "Number of cores,Time (ms)\n1,10\n2,5\n4,4\n",
            "Threads, Elapsed\n1, 400 ms\n2, 200 ms\n4, 160 ms\n",
            "Number of threads;Runtime [s]\n1;10,0\n2;5,0\n4;4,0\n",
            "procs,run,ops/s\n1,1,8\n2,1,16\n4,1,20\n",
            "workers,requests per second\n1,1.2k\n2,2.4k\n4,3k\n",
            "vCPUs,rps\n1,0.8M\n2,1.6M\n4,2M\n",
            "goroutines,ns/op\n1,400\n2,200\n4,160\n",
            "MPI ranks,Wall time (s)\n1,10\n2,5\n4,4\n",
            "np time speedup\n1 10 1\n2 5 2\n4 4 2.5\n",
            "jobs,elapsed_seconds\n1,10\n2,5\n4,4\n",
            "Prozesse;Laufzeit (s)\n1;10,0\n2;5,0\n4;4,0\n",
            "threads,time\n1,2m0s\n2,60s\n4,48s\n",
            "threads,time\n1,01:00:00\n2,00:30:00\n4,24:00\n",
            "nodes,score (jobs/min)\n1,8\n2,16\n4,20\n",
            "n,1,2,4\ntime,10,5,4\n",
        ] {
            let read = read(text).unwrap_or_else(|why| panic!("{text}: {why}"));
            let first = read[0].1;
            let ratios: Vec<f64> =
                read.iter().map(|(_, x)| (x / first * 1e6).round() / 1e6).collect();
            assert_eq!(ratios, [1.0, 2.0, 2.5], "{text}");
            assert_eq!(read.iter().map(|it| it.0).collect::<Vec<_>>(), [1.0, 2.0, 4.0], "{text}");
        }
        assert!((read("n,Time [ms]\n1,10\n").unwrap()[0].1 - 100.0).abs() < 1e-9);
        // A load below one worker is one.
        assert_eq!(read("0.5,50\n1,100\n").unwrap().len(), 2);
        assert!(
            figures("threads,seconds,speedup\n1,1,1")
                .unwrap()
                .read_as
                .ends_with("left out: speedup")
        );
    }

    #[test]
    fn errors_name_line_and_column() {
        for (text, begins) in [
            ("", "1:1: there are no figures"),
            ("n,throughput\n", "1:1: there are no figures"),
            ("colour,throughput\n1,2", "1:1: expected a column for the number of workers"),
            ("n,latency (ms)\n1,2", "1:1: expected a column for the number of workers"),
            ("n,cpu time\n1,2", "1:1: expected a column for the number of workers"),
            ("n,throughput,cores\n1,2,1", "1:3: cores says again"),
            ("n,throughput\n1,2\n2\n", "3:2: expected 2 columns"),
            ("n,throughput\n1,2\n2,3,4\n", "3:3: expected 2 columns"),
            ("n,throughput\n1,2\n2,x\n", "3:2: \"x\" is no throughput"),
            ("n,throughput\n0,2\n", "2:1: \"0\" is no number of workers"),
            ("n,throughput\n1,-2\n", "2:2: \"-2\" is no throughput"),
            ("n,throughput\n1,nan\n", "2:2: \"nan\" is no throughput"),
            ("n,throughput\n1,inf\n", "2:2: \"inf\" is no throughput"),
            ("1\n", "1:2: expected 2 columns"),
            ("n,1,2,4\nthroughput,1,2,none", "2:4: \"none\" is no throughput"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.starts_with(begins), "{text:?}: {error}");
        }
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig {
            failure_persistence: None,
            ..proptest::prelude::ProptestConfig::default()
        })]

        #[test]
        fn any_text_is_read_or_refused_with_a_place(
            text in proptest::prop_oneof!["[nthroughput,0-9.\n\"; -]{0,60}", ".*"],
        ) {
            if let Err(error) = read(&text) {
                let place: Vec<&str> = error.splitn(3, ':').collect();
                proptest::prop_assert!(place[0].parse::<usize>().is_ok(), "{error}");
                proptest::prop_assert!(place[1].parse::<usize>().is_ok(), "{error}");
            }
        }
    }
}
