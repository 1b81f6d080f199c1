//! The functions that are entered again, each as it is called in a loop.

use std::ffi::CString;
use std::path::Path;
use sys::blocks::Churn;
use sys::handler::{Act, HANDLER_LETTER};
use sys::relock::Relock;
use sys::stdio::{Appender, Printing, Stream};
use sys::tokens::{Splitting, TOKENS, TokenLine};

/// The file of records, in the trial's own folder.
pub(super) const RECORDS: &str = "records";

/// What is called again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    /// A line is split into tokens.
    Split(Splitting),
    /// A record is printed.
    Print(Printing),
    /// A record is written by `write(2)`.
    Write,
    /// A lock is taken and given back.
    Lock {
        /// Whether its holder may take it again.
        recursive: bool,
    },
    /// Blocks are allocated and freed.
    Allocate {
        /// Whether the process has another thread, so that libc takes its locks.
        threaded: bool,
    },
}

/// The levels of the factor `function`.
pub(super) const FUNCTIONS: [(&str, Subject); 12] = [
    ("strtok", Subject::Split(Splitting::Shared)),
    ("strtok_r", Subject::Split(Splitting::Own)),
    ("fprintf", Subject::Print(Printing::OneCall)),
    ("fprintf_three", Subject::Print(Printing::ThreeCalls)),
    ("fprintf_three_held", Subject::Print(Printing::ThreeCallsHeld)),
    ("fputs", Subject::Print(Printing::Text)),
    ("fputs_unlocked", Subject::Print(Printing::TextUnlocked)),
    ("write", Subject::Write),
    ("plain_lock", Subject::Lock { recursive: false }),
    ("recursive_lock", Subject::Lock { recursive: true }),
    ("malloc", Subject::Allocate { threaded: false }),
    ("malloc_threaded", Subject::Allocate { threaded: true }),
];

impl Subject {
    /// Makes what a process needs to call it, in that process: what a handler does that enters the
    /// subject again.
    pub(super) fn prepare(self) -> sys::Result<Act> {
        Ok(match self {
            Subject::Split(how) => Act::Split(TokenLine::leaked(HANDLER_LETTER), how),
            Subject::Print(how) => {
                // The name holds no zero byte; an empty one would be an error of fopen.
                let name = CString::new(RECORDS).unwrap_or_default();
                Act::Print(Stream::create(&name)?, how)
            }
            Subject::Write => Act::Write(Appender::create(Path::new(RECORDS))?),
            Subject::Lock { recursive } => Act::Lock(Relock::leaked(recursive)?),
            Subject::Allocate { .. } => Act::Allocate,
        })
    }

    /// Things that a call can get wrong.
    pub(super) fn chances_per_use(self) -> u64 {
        if let Subject::Split(_) = self { TOKENS as u64 } else { 1 }
    }

    /// Whether what was printed is to be read back.
    pub(super) fn leaves_records(self) -> bool {
        matches!(self, Subject::Print(_) | Subject::Write)
    }

    /// Whether the process is to have a thread that only sleeps.
    pub(super) fn wants_company(self) -> bool {
        self == Subject::Allocate { threaded: true }
    }
}

/// Returns one caller's loop body, which does the same: it gets the number of the call, and returns
/// how many things went wrong as far as the caller can see.
pub(super) fn caller(tools: Act, index: usize) -> Box<dyn FnMut(u64) -> u64> {
    let letter = b'A' + index as u8;
    match tools {
        Act::Nothing => Box::new(|_| 0),
        Act::Split(_, how) => {
            let line = TokenLine::leaked(letter);
            Box::new(move |_| line.split(how))
        }
        Act::Print(stream, how) => {
            Box::new(move |number| u64::from(!stream.print(how, letter, number)))
        }
        Act::Write(file) => Box::new(move |number| u64::from(!file.write(letter, number))),
        Act::Lock(lock) => Box::new(move |_| {
            lock.take_and_give();
            0
        }),
        Act::Allocate => {
            let mut churn = Churn::new(index as u64 + 1);
            Box::new(move |_| churn.turn())
        }
    }
}

/// What is to be done when all have called enough: nothing that was printed may be left in a buffer.
pub(super) fn finish(tools: Act) -> sys::Result<()> {
    if let Act::Print(stream, _) = tools { stream.flush() } else { Ok(()) }
}

/// How many records of a file are whole and there for the first time: one that is there twice, or
/// in pieces, is not counted.
pub(super) fn whole_records(text: &[u8]) -> u64 {
    let mut seen = std::collections::HashSet::new();
    let lines = text.split(|byte| *byte == b'\n');
    lines.filter_map(sys::stdio::parse_record).filter(|record| seen.insert(*record)).count() as u64
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests {
    use super::*;

    #[test]
    fn whole_records_are_counted_once() {
        let folder = std::env::temp_dir().join(format!("records-{}", std::process::id()));
        let file = Appender::create(&folder).unwrap();
        for number in [1, 2, 2, 3] {
            assert!(file.write(b'A', number));
        }
        let mut text = std::fs::read(&folder).unwrap();
        std::fs::remove_file(&folder).unwrap();
        assert_eq!(whole_records(&text), 3);
        text[3] = b'x';
        assert_eq!(whole_records(&text), 2);
        assert_eq!(whole_records(b""), 0);
    }

    #[test]
    fn every_function_can_be_called_alone() {
        let callable = [
            Subject::Split(Splitting::Own),
            Subject::Lock { recursive: false },
            Subject::Lock { recursive: true },
            Subject::Allocate { threaded: false },
        ];
        for subject in callable {
            let tools = subject.prepare().unwrap();
            let mut call = caller(tools, 0);
            assert_eq!((0..100).map(&mut call).sum::<u64>(), 0, "{subject:?}");
            finish(tools).unwrap();
        }
    }
}
