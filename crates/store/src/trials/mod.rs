//! Reading `trials.ndjson`: in order, on all CPUs, and in as little memory as the trials need.

use crate::lines::{Line, read_line};
use crate::plan::Plan;
use crate::words::{explain, in_words};
use crate::{Error, LINE_BYTES_MAX, TRIALS_BYTES_MAX};
use model::{Record, share_names};
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// Bytes of whole lines that are read before they are parsed: some thousand trials, which share
/// their names, against a few tens of microseconds for the start of a thread.
const CHUNK_BYTES: usize = 4 << 20;

/// The most threads that parse. Each holds a chunk, and beyond a few the reading itself is what
/// takes the time.
const THREADS_MAX: usize = 8;

/// What `trials.ndjson` holds.
pub(crate) struct Trials {
    pub(crate) records: Vec<Record>,
    /// Lines that repeat an earlier one, which are not among the records.
    pub(crate) repeated: u64,
    /// Lines that are no records of the session.
    pub(crate) damage: Damage,
    /// The whole lines' bytes.
    pub(crate) whole_bytes: u64,
    pub(crate) torn: Option<Torn>,
}

/// Lines that are no records of their session: somebody has edited the file, or the disk lost something.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Damage {
    /// Their number.
    pub lines: u64,
    /// The first of them in the order of the file, each with its number and what is wrong with it.
    pub first: Vec<(u64, String)>,
}

impl Damage {
    /// The most lines that are named.
    const NAMED_MAX: usize = 10;

    fn add(&mut self, line: u64, what: String) {
        self.lines += 1;
        self.first.push((line, what));
        self.first.sort_by_key(|(line, _)| *line);
        self.first.truncate(Self::NAMED_MAX);
    }

    fn join(&mut self, other: Damage) {
        let more = other.lines - other.first.len() as u64;
        other.first.into_iter().for_each(|(line, what)| self.add(line, what));
        self.lines += more;
    }
}

/// An incomplete last line of `trials.ndjson`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Torn {
    /// Its number, from 1.
    pub line: u64,
    /// The bytes there are of it.
    pub bytes: u64,
}

/// Reads the lines of `file`, which is called `path` in errors.
pub(crate) fn read_trials(file: &File, path: &Path, plan: &Plan) -> Result<Trials, Error> {
    let found = file.metadata().map_err(Error::io("read", path))?.len();
    if found > TRIALS_BYTES_MAX {
        return Err(Error::TooLarge { path: path.to_path_buf(), found, limit: TRIALS_BYTES_MAX });
    }
    // It may grow while it is read: somebody may be measuring.
    let input = BufReader::with_capacity(1 << 16, file.take(TRIALS_BYTES_MAX));
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX);
    read_all(input, path, plan, Shares { threads, bytes: CHUNK_BYTES })
}

/// How the lines are shared out.
#[derive(Clone, Copy, Debug)]
struct Shares {
    threads: usize,
    bytes: usize,
}

fn read_all(
    mut input: impl BufRead,
    path: &Path,
    plan: &Plan,
    shares: Shares,
) -> Result<Trials, Error> {
    let mut chunks: Vec<Chunk> = (0..shares.threads).map(|_| Chunk::default()).collect();
    let mut trials = Trials {
        records: Vec::new(),
        repeated: 0,
        damage: Damage::default(),
        whole_bytes: 0,
        torn: None,
    };
    let mut lines = Vec::new();
    let mut line = 1;
    loop {
        let mut end = Ok(Line::Whole);
        let mut rest_bytes = 0;
        for chunk in &mut chunks {
            chunk.clear(line);
            if matches!(end, Ok(Line::Whole)) {
                end = chunk.fill(&mut input, shares.bytes);
            }
            line += chunk.ends.len() as u64;
            let whole_bytes = chunk.ends.last().copied().unwrap_or(0);
            trials.whole_bytes += whole_bytes as u64;
            rest_bytes += (chunk.bytes.len() - whole_bytes) as u64;
        }
        for mut parsed in parse_all(&chunks, plan) {
            trials.records.append(&mut parsed.records);
            lines.append(&mut parsed.lines);
            trials.damage.join(parsed.damage);
        }
        match end.map_err(Error::io("read", path))? {
            Line::Whole => {}
            Line::End => break,
            Line::Torn => {
                trials.torn = Some(Torn { line, bytes: rest_bytes });
                break;
            }
            Line::TooLong => {
                let what = format!(
                    "longer than {LINE_BYTES_MAX} bytes, which no record may be; remove this line"
                );
                return Err(Error::Broken { path: path.to_path_buf(), line, what });
            }
        }
    }
    let whole = trials.records.len();
    let contradicting = keep_once(&mut trials.records, &lines);
    trials.repeated = (whole - trials.records.len()) as u64 - contradicting.lines;
    trials.damage.join(contradicting);
    trials.records.shrink_to_fit();
    // A file of which most is something else is not this session's.
    match trials.damage.first.first() {
        Some((line, what)) if trials.damage.lines > trials.records.len() as u64 => {
            Err(Error::Broken { path: path.to_path_buf(), line: *line, what: what.clone() })
        }
        _ => Ok(trials),
    }
}

/// Keeps the first record of each trial, where `lines` has the number of each record's line. Returns the
/// lines that say something else of a trial than an earlier one; those that repeat one are dropped.
fn keep_once(records: &mut Vec<Record>, lines: &[u64]) -> Damage {
    let mut seen = HashMap::with_capacity(records.len());
    let mut repeats = HashSet::new();
    let mut contradicting = Damage::default();
    for (at, record) in records.iter().enumerate() {
        let first =
            *seen.entry((&record.experiment, record.block, &record.treatment)).or_insert(at);
        if first == at {
            continue;
        }
        if *record != records[first] {
            let Record { experiment, block, treatment, .. } = record;
            let what = format!(
                "it contradicts line {} on the same trial ({experiment}, block {block}, {treatment}): \
                 lines of several sessions stand in one file; keep the lines of one, or compare the \
                 sessions' own folders",
                lines[first]
            );
            contradicting.add(lines[at], in_words(&what));
        }
        repeats.insert(at);
    }
    let mut at = 0..;
    records.retain(|_| at.next().is_some_and(|at| !repeats.contains(&at)));
    contradicting
}

/// Some whole lines, one after the other.
#[derive(Debug, Default)]
struct Chunk {
    /// The number of the first.
    first: u64,
    bytes: Vec<u8>,
    /// Where each ends.
    ends: Vec<usize>,
}

impl Chunk {
    fn clear(&mut self, first: u64) {
        self.first = first;
        self.bytes.clear();
        self.ends.clear();
    }

    /// Reads lines until there are `bytes` of them, or no more whole ones; returns the last one's kind.
    fn fill(&mut self, input: &mut impl BufRead, bytes: usize) -> std::io::Result<Line> {
        while self.bytes.len() < bytes {
            match read_line(input, &mut self.bytes, LINE_BYTES_MAX)? {
                Line::Whole => self.ends.push(self.bytes.len()),
                end => return Ok(end),
            }
        }
        Ok(Line::Whole)
    }

    /// Returns what its lines hold.
    fn parse(&self, plan: &Plan) -> Parsed {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        share_names(|| {
            let mut parsed = Parsed::default();
            for (line, (start, &end)) in (self.first..).zip(starts.zip(&self.ends)) {
                match parse(&self.bytes[start..end], plan) {
                    Ok(record) => {
                        parsed.records.push(record);
                        parsed.lines.push(line);
                    }
                    Err(what) => parsed.damage.add(line, what),
                }
            }
            parsed
        })
    }
}

/// What some lines hold.
#[derive(Default)]
struct Parsed {
    records: Vec<Record>,
    /// The line of each.
    lines: Vec<u64>,
    damage: Damage,
}

/// What each chunk holds, in order; the first is parsed on this thread.
fn parse_all(chunks: &[Chunk], plan: &Plan) -> Vec<Parsed> {
    let Some((first, rest)) = chunks.split_first() else { return Vec::new() };
    std::thread::scope(|scope| {
        let others: Vec<_> = rest
            .iter()
            .map(|chunk| {
                // Where no thread can be had, this one does it.
                let thread = (!chunk.ends.is_empty())
                    .then(|| std::thread::Builder::new().spawn_scoped(scope, || chunk.parse(plan)));
                (chunk, thread.and_then(Result::ok))
            })
            .collect();
        let own = first.parse(plan);
        let join =
            |(chunk, thread): (&Chunk, Option<std::thread::ScopedJoinHandle<'_, Parsed>>)| {
                match thread.map(std::thread::ScopedJoinHandle::join) {
                    None => chunk.parse(plan),
                    Some(Ok(parsed)) => parsed,
                    Some(Err(panic)) => std::panic::resume_unwind(panic),
                }
            };
        std::iter::once(own).chain(others.into_iter().map(join)).collect()
    })
}

/// The record of one line, or what is wrong with it.
fn parse(line: &[u8], plan: &Plan) -> Result<Record, String> {
    plan.check_stamp(line)?;
    let mut record: Record = serde_json::from_slice(line)
        .map_err(|error| in_words(&format!("this is not a record: {}", explain(&error))))?;
    // A list that was read grew by doubling; most of what is held is observations.
    if let Some(measured) = &mut record.measured {
        measured.series.shrink_to_fit();
        measured.series.iter_mut().for_each(|series| series.values.shrink_to_fit());
        measured.checks.shrink_to_fit();
    }
    // The plan's own, which all trials of a treatment share.
    record.treatment = plan.check(&record).map_err(|what| in_words(&what))?.clone();
    Ok(record)
}

#[cfg(test)]
mod tests;
