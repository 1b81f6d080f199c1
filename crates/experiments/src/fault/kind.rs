//! What is touched and how: the levels of the factors, with what realises them.

use crate::support::memory::PAGES;
use crate::support::random::Random;
use kit::{Result, Trial};
use sys::pages::{Advice, Huge};

/// What a walk does to a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Touch {
    /// Reads its first byte.
    Read,
    /// Writes its first byte.
    Write,
    /// Fills it.
    Fill,
    /// Copies it to a page of other memory.
    Copy,
}

/// What happens before each walk, so that its pages are in the state asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Before {
    /// Nothing: the pages of anonymous memory are mapped already.
    Nothing,
    /// Anonymous memory is given back, so that it has no pages.
    Discard,
    /// A child is forked, which shares the pages of anonymous memory until they are written.
    Fork,
    /// The file is mapped anew; what is cached of it stays.
    Map,
    /// The file is dropped from the page cache and mapped anew.
    Drop,
}

/// The faults that a walk must meet where no page was populated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Faults {
    /// None.
    None,
    /// One for each page.
    One,
    /// As many as the kernel likes, but not more than pages: one fault may map several.
    AtMostOne,
}

/// A kind of touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    /// What happens before.
    pub(super) before: Before,
    /// What is done to each page.
    pub(super) touch: Touch,
    /// What faults there must be.
    pub(super) faults: Faults,
}

impl Kind {
    const fn new(before: Before, touch: Touch, faults: Faults) -> Self {
        Kind { before, touch, faults }
    }

    /// Whether the pages are those of a file.
    pub(super) fn is_file(self) -> bool {
        matches!(self.before, Before::Map | Before::Drop)
    }

    /// Whether the pages of a file must be absent from the page cache before each walk.
    pub(super) fn is_cold(self) -> bool {
        self.before == Before::Drop
    }
}

/// The levels of the factor `kind`.
pub(super) const KINDS: [(&str, Kind); 9] = [
    ("resident", Kind::new(Before::Nothing, Touch::Read, Faults::None)),
    ("anon_read", Kind::new(Before::Discard, Touch::Read, Faults::One)),
    ("anon_write", Kind::new(Before::Discard, Touch::Write, Faults::One)),
    ("cow_fork", Kind::new(Before::Fork, Touch::Write, Faults::One)),
    ("cow_file", Kind::new(Before::Map, Touch::Write, Faults::One)),
    ("file_warm", Kind::new(Before::Map, Touch::Read, Faults::AtMostOne)),
    ("file_cold", Kind::new(Before::Drop, Touch::Read, Faults::AtMostOne)),
    ("fill", Kind::new(Before::Nothing, Touch::Fill, Faults::None)),
    ("copy", Kind::new(Before::Nothing, Touch::Copy, Faults::None)),
];

/// Whether pages are touched in a shuffled order, each once, or from the first to the last: the levels
/// of the factor `access`.
pub(super) const ACCESSES: [(&str, bool); 2] = [("sequential", false), ("random", true)];

/// What the kernel is advised before a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hint {
    /// Nothing.
    None,
    /// An advice.
    Advice(Advice),
    /// To map all pages at once, as the walk's own touch would do it.
    Populate,
}

impl Hint {
    /// Returns the advice to give for a walk that touches so.
    pub(super) fn advice(self, touch: Touch) -> Option<Advice> {
        match (self, touch) {
            (Hint::None, _) => None,
            (Hint::Advice(advice), _) => Some(advice),
            (Hint::Populate, Touch::Write) => Some(Advice::PopulateWrite),
            (Hint::Populate, _) => Some(Advice::PopulateRead),
        }
    }
}

/// The levels of the factor `advice`.
pub(super) const ADVICES: [(&str, Hint); 5] = [
    ("none", Hint::None),
    ("random", Hint::Advice(Advice::Random)),
    ("sequential", Hint::Advice(Advice::Sequential)),
    ("willneed", Hint::Advice(Advice::WillNeed)),
    ("populate", Hint::Populate),
];

/// A limit on the memory of the trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Limit {
    /// None.
    None,
    /// A memory cgroup of half the size of what is walked.
    Below,
    /// A memory cgroup of four times that size.
    Above,
}

impl Limit {
    /// Returns the limit on memory for a walk over that number of bytes.
    pub(super) fn bytes(self, walked: u64) -> Option<u64> {
        match self {
            Limit::None => None,
            Limit::Below => Some(walked / 2),
            Limit::Above => Some(walked * 4),
        }
    }
}

/// The levels of the factor `limit`.
pub(super) const LIMITS: [(&str, Limit); 3] =
    [("none", Limit::None), ("above", Limit::Above), ("below", Limit::Below)];

/// All that a treatment asks for.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// What is touched.
    pub(super) kind: Kind,
    /// What the kernel is advised before.
    pub(super) hint: Hint,
    /// The size of the pages of anonymous memory.
    pub(super) huge: Huge,
    /// The limit on memory.
    pub(super) limit: Limit,
    /// The size of the memory or file, in bytes.
    pub(super) bytes: u64,
    /// The pages to touch, in their order.
    pub(super) order: Vec<u32>,
}

impl Plan {
    /// Reads the treatment.
    pub(super) fn of(trial: &Trial<'_>) -> Result<Self> {
        let kind = trial.pick("kind", &KINDS)?;
        let shuffled = trial.pick("access", &ACCESSES)?;
        let hint = trial.pick("advice", &ADVICES)?;
        let bytes = trial.number("size")? << 20;
        let pages = bytes / sys::pages::page_bytes() as u64;
        let seed = trial.spec().seed;
        let order = match each_may_wait(kind, shuffled, hint) {
            true => some(shuffled, pages as u32, trial.spec().profile.pick(WAITS_MAX), seed),
            false => order(shuffled, pages as u32, seed),
        };
        Ok(Plan {
            kind,
            hint,
            huge: trial.pick("pages", &PAGES)?,
            limit: trial.pick("limit", &LIMITS)?,
            bytes,
            order,
        })
    }

    /// Pages touched by one walk.
    pub(super) fn touched(&self) -> u64 {
        self.order.len() as u64
    }

    /// Whether each touch must meet a fault of its own: no two lie so near that one fault could
    /// map both, and nothing is read ahead.
    pub(super) fn touches_stand_alone(&self) -> bool {
        let mut places = self.order.clone();
        places.sort_unstable();
        let apart = places.windows(2).all(|two| (two[1] - two[0]) as usize >= SPREAD);
        apart && self.hint == Hint::Advice(Advice::Random)
    }

    /// Whether a walk may have to wait for the disk.
    pub(super) fn needs_disk(&self) -> bool {
        self.kind.is_cold() || self.limit == Limit::Below
    }
}

/// Whether every touch of a walk over a file may be a wait for the disk of its own. Warm walks
/// are bounded like cold ones, since the two are compared.
fn each_may_wait(kind: Kind, shuffled: bool, hint: Hint) -> bool {
    let reads_file = kind.is_file() && kind.touch == Touch::Read;
    reads_file && (shuffled || hint == Hint::Advice(Advice::Random))
}

/// At most one of this number of neighbouring pages is touched where each touch is to stand alone:
/// a fault on a cached page also maps its neighbours, 16 pages by default (`fault_around_bytes`).
pub(super) const SPREAD: usize = 16;

/// Some of the pages only. In no order they lie so far apart, wherever the file is mapped, that a
/// fault on one cannot map another; in order they are the first ones.
pub(super) fn some(shuffled: bool, pages: u32, most: usize, seed: u64) -> Vec<u32> {
    let most = most.min(pages as usize / SPREAD);
    let spread = SPREAD as u32;
    let mut some = match shuffled {
        false => order(shuffled, pages, seed),
        true => {
            let first = Random::new(seed, 1).below(u64::from(spread)) as u32;
            let places = order(shuffled, pages / spread, seed);
            places.into_iter().map(|place| place * spread + first).collect()
        }
    };
    some.truncate(most);
    some
}

/// The most pages touched where each may wait for the disk: on one that turns, a wait is 10 ms.
const WAITS_MAX: [usize; 4] = [32, 128, 512, 2048];

/// All pages, each once, in the order asked for.
pub(super) fn order(shuffled: bool, pages: u32, seed: u64) -> Vec<u32> {
    let mut order: Vec<u32> = (0..pages).collect();
    if shuffled {
        let mut random = Random::new(seed, 0);
        // Fisher and Yates, in the form of Durstenfeld (1964).
        for last in (1..order.len()).rev() {
            order.swap(last, random.below(last as u64 + 1) as usize);
        }
    }
    order
}
