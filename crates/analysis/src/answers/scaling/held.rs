//! What the workers of one level waited for, and who ran meanwhile, over its trials.

use super::level::{Level, NOTABLE, centre};
use super::trials::ScaleTrial;
use crate::stats::order;
use model::{Estimate, Runner, ScaleWait, Wait, WaitKind, Waits, may_be_held};
use std::collections::BTreeMap;

/// The share of its time at which a thread that also runs with others counts as a worker.
const WORKER_SHARE: f64 = 0.25;

/// A lock that is waited for nearly as much as something else is held by those who wait for that.
pub(crate) const HELD: f64 = 0.75;

/// While nothing runs, those sleep who also wait for a lock that they hold, for at least this part of the time. Of n
/// workers one may never find it held.
pub(crate) const TURNS: f64 = 0.5;

/// What explains more than half of something explains most of it.
const MOST: f64 = 0.5;

/// What was seen of the workers of one level.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// What blocked workers waited for, as shares of n times the elapsed time, the longest first.
    pub(super) waits: Vec<ScaleWait>,
    /// The share of the elapsed time in which no thread of the program ran or was ready to.
    pub(super) still: f64,
    /// The wait that explains most of that time, with its share of the elapsed time.
    pub(super) still_for: Option<(Wait, f64)>,
    /// What those waited for, at other times, who slept while nothing ran: the part of that time.
    turns: BTreeMap<Key, f64>,
    /// The number of CPUs that the running threads together could use.
    pub(super) cpus: Option<u32>,
    /// The thread that ran in most of the time in which workers were idle.
    pub(super) runner: Option<Alone>,
    /// How the CPU time was divided among the workers.
    pub(super) balance: Option<Balance>,
    /// Looks that found a thread still in the same wait, and in a new one, by kind.
    spells: BTreeMap<WaitKind, (u32, u32)>,
    /// The share of each kind in each trial.
    of_kind: BTreeMap<WaitKind, Vec<f64>>,
    /// How often a worker was looked at.
    samples: f64,
    /// The programs that worked for it, and how many CPUs each used on average.
    pub(super) peers: Vec<(String, f64)>,
    /// Why waits have no names; empty where they have.
    pub(super) unasked: String,
}

/// A thread that ran while workers were idle.
#[derive(Debug)]
pub(super) struct Alone {
    pub(super) name: String,
    pub(super) is_first: bool,
    /// It also runs while others do.
    pub(super) is_worker: bool,
    /// Its share of the time in which workers were idle beside a running thread.
    pub(super) share: f64,
}

/// How CPU time was divided among the n busiest threads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Balance {
    /// Their mean CPU time by that of the busiest one (the POP project's "load balance", Rosas, Giménez and Labarta,
    /// Supercomputing Frontiers and Innovations 1, 2014).
    pub(super) share: f64,
    /// What the others had less than the busiest one, as a share of n times the elapsed time: what they lose if they
    /// wait for it at the end.
    pub(super) lost: f64,
}

impl Alone {
    /// Returns what it is called.
    pub(super) fn words(&self) -> String {
        if self.is_first { "the first thread".into() } else { format!("thread {}", self.name) }
    }
}

impl Held {
    /// Returns what is known of a level; `None` where no trial was looked at.
    pub(super) fn of(level: &Level<'_>) -> Option<Self> {
        let seen: Vec<(&ScaleTrial, &Waits)> = level
            .trials
            .iter()
            .filter_map(|trial| Some((*trial, trial.waits.as_deref()?)))
            .collect();
        if seen.is_empty() {
            return None;
        }
        let elapsed: f64 = seen.iter().map(|(trial, _)| trial.wall_ns).sum();
        let still: f64 = seen.iter().map(|(_, waits)| waits.still_ns as f64).sum();
        let looks: u32 = seen.iter().map(|(_, waits)| waits.looks).sum();
        let samples = f64::from(looks) * level.n;
        Some(Held {
            waits: waits(&seen, samples),
            still: still / elapsed,
            cpus: seen.iter().filter_map(|(_, waits)| waits.cpus).max(),
            still_for: still_for(&seen, elapsed),
            turns: turns(&seen, still),
            runner: runner(&seen),
            balance: balance(&seen, level.n),
            spells: spells(&seen),
            of_kind: of_kind(&seen),
            samples,
            peers: peers(&seen, elapsed),
            unasked: seen.iter().map(|(_, waits)| waits.unasked.clone()).max().unwrap_or_default(),
        })
    }

    /// Returns the sum of the shares of some kinds of waits.
    pub(super) fn share(&self, kinds: &[WaitKind]) -> f64 {
        self.waits.iter().filter(|one| kinds.contains(&one.kind)).map(|one| one.share.point).sum()
    }

    /// Returns how many CPUs the programs that worked for it used.
    pub(super) fn peers_used(&self) -> f64 {
        self.peers.iter().map(|(_, used)| used).sum()
    }

    /// Reports whether the interval of the sum of some kinds excludes none.
    pub(super) fn is_sure(&self, kinds: &[WaitKind]) -> bool {
        let own = self.of_kind.iter().filter(|(kind, _)| kinds.contains(kind));
        let sums = own.map(|(_, shares)| shares.clone()).reduce(|sums, shares| {
            sums.into_iter().zip(shares).map(|(sum, share)| sum + share).collect()
        });
        sums.is_some_and(|sums| {
            // What each of several trials shows is there, however much they differ.
            let in_each = sums.len() > 1 && sums.iter().all(|share| *share >= 2.0 * NOTABLE);
            in_each || centre(&sums).is_some_and(|share| sampled(share, self.samples).low > 0.0)
        })
    }

    /// Returns the lock that is held by those of n workers who wait for something else, for `waited` of their time:
    /// others wait for it nearly as much. The last of n workers waits for all others, the first for none; a semaphore may
    /// let half of them in.
    pub(super) fn lock_of(&self, waited: f64, n: f64) -> Option<&ScaleWait> {
        let waited = HELD * waited;
        let lock = &[WaitKind::Lock];
        if self.share(lock) >= ((n - 1.0) / 2.0).min(1.0) * waited && self.is_sure(lock) {
            return self.longest(lock);
        }
        self.waits.iter().find(|one| {
            let key = (one.kind, one.what.clone(), one.place.clone());
            may_be_held(one.kind, &one.what)
                && self.turns.get(&key).is_some_and(|part| *part >= TURNS * (n - 1.0) / n)
                && one.share.point >= 0.5 * waited
                && self.is_sure(&[one.kind])
        })
    }

    /// Reports whether waits of a kind last for at least `times` as long as from one look to the next: then they are
    /// phases of the program rather than exchanges between its workers.
    pub(super) fn is_phase(&self, kind: WaitKind, times: u32) -> bool {
        self.spells.get(&kind).is_none_or(|(lasting, renewed)| *lasting >= times * renewed)
    }

    /// Returns the longest wait of some kinds.
    pub(super) fn longest(&self, kinds: &[WaitKind]) -> Option<&ScaleWait> {
        self.waits.iter().find(|one| kinds.contains(&one.kind))
    }
}

/// What tells two waits apart.
type Key = (WaitKind, String, String);

fn key(wait: &Wait) -> Key {
    (wait.kind, wait.what.clone(), wait.place.clone())
}

/// Returns by what a trial's waits in ns become shares of n times the elapsed time. What was accounted as blocked is
/// divided as the looks divided it.
fn per_ns((trial, waits): (&ScaleTrial, &Waits)) -> f64 {
    let sum_ns: u64 = waits.waits.iter().map(|wait| wait.ns).sum();
    let blocked_ns = trial.blocked_ns.unwrap_or(sum_ns as f64);
    blocked_ns / sum_ns.max(1) as f64 / (trial.n * trial.wall_ns)
}

fn of_kind(seen: &[(&ScaleTrial, &Waits)]) -> BTreeMap<WaitKind, Vec<f64>> {
    let mut all: BTreeMap<WaitKind, Vec<f64>> = BTreeMap::new();
    for (place, (trial, waits)) in seen.iter().enumerate() {
        for wait in &waits.waits {
            let shares = all.entry(wait.kind).or_insert_with(|| vec![0.0; seen.len()]);
            shares[place] += wait.ns as f64 * per_ns((trial, waits));
        }
    }
    all
}

/// Returns the waits as shares of n times the elapsed time.
fn waits(seen: &[(&ScaleTrial, &Waits)], samples: f64) -> Vec<ScaleWait> {
    let mut all: BTreeMap<Key, (Vec<f64>, u32, String)> = BTreeMap::new();
    let keys = seen.iter().flat_map(|(_, waits)| &waits.waits).filter(|wait| wait.ns > 0).map(key);
    for key in keys {
        all.entry(key).or_default();
    }
    for (trial, waits) in seen {
        let per_ns = per_ns((trial, waits));
        for (known, (shares, found, holder)) in &mut all {
            let own = waits.waits.iter().find(|wait| key(wait) == *known);
            shares.push(own.map_or(0.0, |wait| wait.ns as f64 * per_ns));
            *found += own.map_or(0, |wait| wait.looks);
            if let Some(held) = own.map(|wait| &wait.holder).filter(|held| !held.is_empty()) {
                holder.clone_from(held);
            }
        }
    }
    let wait = |((kind, what, place), (shares, found, holder)): (Key, (Vec<f64>, u32, String))| {
        let share = sampled(centre(&shares)?, samples);
        Some(ScaleWait { kind, what, place, holder, share, looks: found })
    };
    let mut waits: Vec<ScaleWait> = all.into_iter().filter_map(wait).collect();
    waits.sort_by(|a, b| b.share.point.total_cmp(&a.share.point));
    waits
}

/// Widens the interval of a share by what this number of samples leaves open: two standard errors of a
/// binomial proportion.
fn sampled(share: Estimate, samples: f64) -> Estimate {
    let p = share.point.clamp(0.0, 1.0);
    let error = 2.0 * (p * (1.0 - p) / samples.max(1.0)).sqrt();
    let (below, above) = (share.point - share.low, share.high - share.point);
    Estimate {
        low: (share.point - below.max(error)).max(0.0),
        high: (share.point + above.max(error)).min(share.point.max(1.0)),
        ..share
    }
}

fn still_for(seen: &[(&ScaleTrial, &Waits)], elapsed: f64) -> Option<(Wait, f64)> {
    let mut all: BTreeMap<Key, (u64, Wait)> = BTreeMap::new();
    for wait in seen.iter().flat_map(|(_, waits)| &waits.waits).filter(|wait| wait.still_ns > 0) {
        let into = all.entry(key(wait)).or_insert_with(|| (0, wait.clone()));
        into.0 += wait.still_ns;
    }
    let (ns, wait) = all.into_values().max_by_key(|(ns, _)| *ns)?;
    Some((wait, ns as f64 / elapsed))
}

fn turns(seen: &[(&ScaleTrial, &Waits)], still_ns: f64) -> BTreeMap<Key, f64> {
    let mut all = BTreeMap::new();
    for wait in seen.iter().flat_map(|(_, waits)| &waits.waits) {
        *all.entry(key(wait)).or_default() += wait.turns_ns as f64 / still_ns.max(1.0);
    }
    all
}

/// Returns who ran while most workers were idle.
fn runner(seen: &[(&ScaleTrial, &Waits)]) -> Option<Alone> {
    let mut all: BTreeMap<(bool, &str), Vec<&Runner>> = BTreeMap::new();
    for (_, waits) in seen {
        // Workers often have one name: of each trial, the one that ran most counts.
        // Threads that no look saw have no name.
        let others = waits.runners.iter().filter(|one| !one.is_first && !one.name.is_empty());
        let first = waits.runners.iter().find(|one| one.is_first);
        for one in others.max_by_key(|one| one.idle_ns).into_iter().chain(first) {
            all.entry((one.is_first, &one.name)).or_default().push(one);
        }
    }
    let sum = |runners: &[&Runner], of: fn(&Runner) -> u64| {
        runners.iter().map(|one| of(one)).sum::<u64>()
    };
    let whole: u64 = seen.iter().flat_map(|(_, waits)| &waits.runners).map(|one| one.idle_ns).sum();
    let most = all.into_iter().max_by_key(|(_, runners)| sum(runners, |one| one.idle_ns))?;
    let ((is_first, name), runners) = most;
    let (alone, together) =
        (sum(&runners, |one| one.alone_ns), sum(&runners, |one| one.together_ns));
    Some(Alone {
        name: name.into(),
        is_first,
        is_worker: together as f64 >= WORKER_SHARE * (alone + together) as f64,
        share: sum(&runners, |one| one.idle_ns) as f64 / whole.max(1) as f64,
    })
}

fn balance(seen: &[(&ScaleTrial, &Waits)], n: f64) -> Option<Balance> {
    let of = |(trial, waits): &(&ScaleTrial, &Waits)| {
        let busiest: Vec<f64> =
            waits.cpu_each_ns.iter().take(n as usize).map(|ns| *ns as f64).collect();
        let most = busiest.first().copied().filter(|most| *most > 0.0)?;
        let share = busiest.iter().sum::<f64>() / n / most;
        Some((share, (1.0 - share) * most / trial.wall_ns))
    };
    let (shares, lost): (Vec<f64>, Vec<f64>) = seen.iter().filter_map(of).unzip();
    Some(Balance { share: order::mean(&shares)?, lost: order::mean(&lost)? })
}

fn spells(seen: &[(&ScaleTrial, &Waits)]) -> BTreeMap<WaitKind, (u32, u32)> {
    let mut spells = BTreeMap::new();
    for wait in seen.iter().flat_map(|(_, waits)| &waits.waits) {
        let (lasting, renewed) = spells.entry(wait.kind).or_insert((0, 0));
        *lasting += wait.lasting;
        *renewed += wait.renewed;
    }
    spells
}

fn peers(seen: &[(&ScaleTrial, &Waits)], elapsed: f64) -> Vec<(String, f64)> {
    let mut all: BTreeMap<&str, u64> = BTreeMap::new();
    for peer in seen.iter().flat_map(|(_, waits)| &waits.peers) {
        *all.entry(&peer.name).or_default() += peer.cpu_ns;
    }
    all.into_iter().map(|(name, ns)| (name.to_string(), ns as f64 / elapsed)).collect()
}

/// Returns whether one number explains most of another.
pub(super) fn explains(part: f64, whole: f64) -> bool {
    whole > 0.0 && part >= MOST * whole
}

/// Returns a wait in words: "the lock `table` (mutex), in `drain`".
pub fn words(kind: WaitKind, what: &str, place: &str) -> String {
    let name = match (kind, what) {
        (WaitKind::Thread | WaitKind::Child, _) | (_, "") => kind_words(kind).to_string(),
        (WaitKind::Storage, what) if what.starts_with('/') => format!("storage ({what})"),
        (WaitKind::Socket, what) if !what.starts_with("a ") => format!("a socket: {what}"),
        (_, what) => what.to_string(),
    };
    if place.is_empty() { name } else { format!("{name}, in {place}") }
}

/// Returns what a kind of wait is called.
pub fn kind_words(kind: WaitKind) -> &'static str {
    match kind {
        WaitKind::Lock => "a lock",
        WaitKind::Signal => "another thread or process",
        WaitKind::Hidden => "another thread (by a lock, a channel or a queue)",
        WaitKind::Message => "a message of another thread or process",
        WaitKind::Barrier => "a barrier",
        WaitKind::Thread => "the end of another thread",
        WaitKind::Child => "the end of a child process",
        WaitKind::Storage => "storage",
        WaitKind::Socket => "a socket",
        WaitKind::Pipe => "a pipe",
        WaitKind::Timer => "a timer",
        WaitKind::Event => "one of several descriptors",
        WaitKind::Memory => "memory",
        WaitKind::Unknown => "something that was not recognised",
    }
}
