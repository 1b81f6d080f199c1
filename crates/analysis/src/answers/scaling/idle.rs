//! Why workers were idle: what they waited for, and who ran meanwhile.

use super::account::share;
use super::cause::{MOST, Search};
use super::held::{self, Alone, Held, explains};
use super::level::NOTABLE;
use super::rows::{Found, ROWS};
use super::words::{figure, percent, percent_of, time};
use model::{Founding, ScaleLoss, ScaleWait, Wait, WaitKind, is_of_go};

/// A wait below this share of the workers' time is not listed.
const NOTED: f64 = 0.02;

/// The most waits that are listed as evidence.
const WAITS_MAX: usize = 4;

/// What may lie outside of the program.
const OUTSIDE: [WaitKind; 5] =
    [WaitKind::Storage, WaitKind::Socket, WaitKind::Pipe, WaitKind::Timer, WaitKind::Event];

/// Another thread or process of the program.
const ANOTHER: [WaitKind; 3] = [WaitKind::Signal, WaitKind::Hidden, WaitKind::Message];

/// The end of other threads.
const JOINS: [WaitKind; 2] = [WaitKind::Thread, WaitKind::Child];

/// All other workers.
const TOGETHER: [WaitKind; 3] = [WaitKind::Barrier, WaitKind::Thread, WaitKind::Child];

/// What a runtime's threads wait for together, whichever of its tasks do.
const NETWORK: [WaitKind; 3] = [WaitKind::Socket, WaitKind::Pipe, WaitKind::Event];

/// This number of looks that find a thread in the same wait, for each that finds it in a new one, shows a wait for the end of
/// the work.
const TO_THE_END: u32 = 5;

/// A wait that fewer looks found is not named where sleeps alone show that there are waits.
const LOOKS_MIN: u32 = 3;

/// What n workers waited beyond what one did, for the same work, as shares of n times the elapsed time.
struct Lack {
    blocked: f64,
    absent: f64,
    /// Time in which nothing of the program ran.
    still: f64,
    /// The part of the blocked time that is beyond one worker's.
    part: f64,
}

impl Lack {
    fn of(search: &Search<'_>, into: ScaleLoss, by_sleeps: bool) -> Self {
        let own = search.account;
        let alone = search.one.described.account.as_ref();
        let shorter = alone.map_or(0.0, |alone| alone.budget_ns / own.budget_ns);
        let beyond = |into| share(own, into) - shorter * alone.map_or(0.0, |it| share(it, into));
        let part_of = match into {
            ScaleLoss::OffCpu => ScaleLoss::OffCpu,
            _ => ScaleLoss::Blocked,
        };
        let blocked = beyond(part_of);
        let still = |held: &Held| held.still;
        let still_alone = Held::of(search.one.level).as_ref().map_or(0.0, still);
        let still = search.held.as_ref().map_or(0.0, still) - shorter * still_alone;
        // Servers have the workers that the program lacks.
        let is_served = search.held.as_ref().is_some_and(|held| held.peers_used() >= MOST);
        let absent = if is_served { 0.0 } else { beyond(ScaleLoss::Absent).max(0.0) };
        // Many short sleeps lose more time around the sleeps than in them, and none where a worker is missing.
        match by_sleeps {
            true => Lack { blocked: share(own, part_of), absent: 0.0, still, part: 1.0 },
            false => Lack {
                blocked: blocked.max(0.0),
                absent,
                still,
                part: (blocked / share(own, part_of).max(f64::EPSILON)).clamp(0.0, 1.0),
            },
        }
    }

    /// Reports whether nothing of the program ran in most of what was lost, and one wait explains that.
    fn is_still(&self, held: &Held) -> bool {
        let known = held.still_for.as_ref().is_some_and(|(_, part)| explains(*part, held.still));
        known && explains(self.still, self.blocked + self.absent)
    }
}

impl Search<'_> {
    /// Finds why workers were idle. Without looks at what they waited for, it is not known.
    pub(super) fn idle_workers(&mut self, into: ScaleLoss) -> Option<Found> {
        if let Some(ns) = self.signs.blocked_each_ns {
            let (each, switches) = (time(ns), figure(self.signs.more_switches));
            self.evidence.push(format!(
                "a worker blocks for {each} each time ({switches} more switches than with one worker)"
            ));
        }
        if into == ScaleLoss::OffCpu {
            let unseen = "its processes are too short-lived for sampling: blocked, absent and waiting \
                          for a CPU are one part";
            self.evidence.push(unseen.into());
        }
        match self.held {
            Some(_) => self.by_waits(into, false),
            None => Some(Found::new(&ROWS.serial, Founding::Suspected)),
        }
    }

    /// Finds what idle workers waited for. If nothing ran meanwhile, the wait of the thread that the others wait
    /// for decides; else the kind of wait that took most of their time, and who ran.
    pub(super) fn by_waits(&mut self, into: ScaleLoss, by_sleeps: bool) -> Option<Found> {
        let held = self.held.as_ref()?;
        self.evidence.extend(listed(held));
        let lack = Lack::of(self, into, by_sleeps);
        let is_sure = |wait: &Wait| held.is_sure(&[wait.kind]);
        let still_for = held.still_for.as_ref().filter(|(wait, _)| is_sure(wait));
        if let Some((wait, _)) = still_for.filter(|_| lack.is_still(held)) {
            // Who is waited for neither ran nor was seen to wait; beside many short sleeps it is about to wake up.
            if !by_sleeps && JOINS.contains(&wait.kind) {
                return None;
            }
            if let Some(found) = still(held, wait, by_sleeps, self.at.described.n) {
                let part = percent(held.still);
                self.evidence.push(format!(
                    "for {part} of the elapsed time, no thread of the program ran or was ready to"
                ));
                return Some(found);
            }
        }
        let of = |kinds: &[WaitKind]| lack.part * held.share(kinds);
        let joined = of(&JOINS) + lack.absent;
        // Who waits for the end of others that had as much work waits for something else that they do.
        let unequal = held.balance.map_or(joined, |balance| joined.min(balance.lost));
        let joined = match is_alone(held) {
            // Many short sleeps are hardly waits for the end of others.
            _ if by_sleeps => 0.0,
            true => joined,
            false => unequal,
        };
        let kinds: [(&[WaitKind], f64); 5] = [
            (&[WaitKind::Lock], of(&[WaitKind::Lock])),
            (&ANOTHER, of(&ANOTHER)),
            (&TOGETHER, of(&[WaitKind::Barrier]) + joined),
            (&[WaitKind::Memory], of(&[WaitKind::Memory])),
            (&OUTSIDE, of(&OUTSIDE)),
        ];
        let most = kinds.into_iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        let lock = held.lock_of(held.share(&OUTSIDE), self.at.described.n);
        if let Some(lock) = lock.filter(|lock| {
            most.0 == OUTSIDE && (by_sleeps || lack.part * lock.share.point >= NOTABLE)
        }) {
            return Some(of_lock(lock));
        }
        let (kinds, most) = most;
        let absent = lack.absent;
        let longest = held.longest(kinds);
        let is_of_go = longest.is_some_and(|one| is_of_go(&one.what));
        let longest = if is_of_go && held.share(&NETWORK) >= NOTABLE {
            match of_network(held) {
                Ok(longest) => longest,
                Err(hides) => {
                    self.evidence.push(hides.into());
                    return None;
                }
            }
        } else {
            longest
        };
        let is_seen =
            most > 0.0 && longest.is_some_and(|one| one.looks >= LOOKS_MIN && one.share.low > 0.0);
        let is_sure = held.is_sure(kinds) || absent >= NOTABLE;
        if !(by_sleeps && is_seen || most >= NOTABLE && is_sure) {
            return None;
        }
        self.evidence.extend(company(held, kinds));
        let name = longest.map(words).unwrap_or_default();
        Some(of_kind(held, longest.map_or(kinds[0], |one| one.kind), name))
    }
}

/// Returns what a program waits for of which nothing runs: a lock that one holds asleep, or what comes from outside; a
/// time-out is such a thing.
fn still(held: &Held, wait: &Wait, by_sleeps: bool, n: f64) -> Option<Found> {
    let lock = held.lock_of(held.share(&[wait.kind]), n).filter(|lock| lock.kind != wait.kind);
    if let Some(lock) = lock {
        return Some(of_lock(lock));
    }
    let is_hidden = !by_sleeps && ANOTHER.contains(&wait.kind);
    let row = if is_hidden { &ROWS.still_hidden } else { &ROWS.still };
    (is_hidden || OUTSIDE.contains(&wait.kind))
        .then(|| Found::named(row, held::words(wait.kind, &wait.what, &wait.place)))
}

/// Returns that workers wait for what others hold asleep.
fn of_lock(lock: &ScaleWait) -> Found {
    let row = if lock.kind == WaitKind::Hidden { &ROWS.hidden } else { &ROWS.lock };
    Found::named(row, words(lock))
}

/// Returns what Go's threads wait for beside goroutines that wait for a socket, by who worked meanwhile; the evidence
/// where that hides it.
fn of_network(held: &Held) -> Result<Option<&ScaleWait>, &'static str> {
    match held.peers_used() < MOST {
        true => Err("the runtime hides whether workers wait for one another or for a socket"),
        false => Ok(held.longest(&NETWORK)),
    }
}

fn words(wait: &ScaleWait) -> String {
    held::words(wait.kind, &wait.what, &wait.place)
}

/// Returns the longest waits as evidence.
fn listed(held: &Held) -> Vec<String> {
    let named = held.waits.iter().filter(|one| one.share.point >= NOTED).take(WAITS_MAX);
    let line = |one: &ScaleWait| {
        let holder = Some(&one.holder).filter(|holder| !holder.is_empty());
        let holder = holder.map_or(String::new(), |holder| format!(" (held by {holder})"));
        let share = percent_of(&one.share);
        format!("{share} of the workers' time: waiting for {}{holder}", words(one))
    };
    let unasked = Some(held.unasked.clone()).filter(|text| !text.is_empty());
    named.map(line).chain(unasked).collect()
}

/// Returns who ran while workers waited for these kinds of things, as evidence.
fn company(held: &Held, kinds: &[WaitKind]) -> Option<String> {
    if kinds == ANOTHER {
        let runner = held.runner.as_ref().filter(|one| one.share >= MOST)?;
        let (who, share) = (runner.words(), percent(runner.share));
        return Some(format!("{who} ran for {share} of the time in which workers were idle"));
    }
    let share = percent(held.balance.filter(|_| kinds == TOGETHER)?.share);
    Some(format!("load balance: the mean worker has {share} of the busiest one's CPU time"))
}

/// Reports whether one thread ran alone while others were idle that is the first one, or does not run with the others.
fn is_alone(held: &Held) -> bool {
    held.runner.as_ref().is_some_and(|one| one.share >= MOST && (one.is_first || !one.is_worker))
}

/// Returns the cause that a kind of wait stands for. Where one thread ran alone meanwhile, and waits are as long as
/// phases of the program, the others had no work.
fn of_kind(held: &Held, kind: WaitKind, name: String) -> Found {
    let runner = held.runner.as_ref();
    let is_alone = is_alone(held);
    let who = runner.map_or(String::new(), Alone::words);
    // Go's goroutines wait while the threads that would run them do something else.
    let is_own = !is_of_go(&name);
    match kind {
        WaitKind::Lock => Found::named(&ROWS.lock, name),
        WaitKind::Signal if is_alone && held.is_phase(kind, 1) => Found::named(&ROWS.alone, who),
        WaitKind::Message if is_alone && held.is_phase(kind, TO_THE_END) => {
            Found::named(&ROWS.alone, who)
        }
        // A runtime divides its tasks among all threads, the first one included, and hands over among them.
        WaitKind::Hidden
            if is_alone && runner.is_some_and(|one| !one.is_worker) && held.is_phase(kind, 1) =>
        {
            Found::named(&ROWS.alone, who)
        }
        WaitKind::Signal | WaitKind::Hidden | WaitKind::Message
            if is_own && held.is_phase(kind, TO_THE_END) && is_unequal(held) =>
        {
            Found::named(&ROWS.unequal, String::new())
        }
        WaitKind::Signal | WaitKind::Message => Found::named(&ROWS.handover, name),
        WaitKind::Hidden => Found::named(&ROWS.hidden, name),
        WaitKind::Memory => Found::named(&ROWS.memory, name),
        WaitKind::Barrier | WaitKind::Thread | WaitKind::Child
            if is_alone && held.longest(&[WaitKind::Barrier]).is_none() =>
        {
            Found::named(&ROWS.alone, who)
        }
        WaitKind::Barrier | WaitKind::Thread | WaitKind::Child => {
            Found::named(&ROWS.unequal, String::new())
        }
        _ => Found::named(&ROWS.outside, name),
    }
}

/// Reports whether unequal CPU times explain most of what workers waited for one another.
fn is_unequal(held: &Held) -> bool {
    held.balance.is_some_and(|balance| explains(balance.lost, held.share(&ANOTHER)))
}
