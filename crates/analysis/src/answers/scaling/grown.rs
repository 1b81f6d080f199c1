//! Why each operation takes more CPU time with more workers: who spins, who shares what.

use super::account::share;
use super::cause::{MOST, Search};
use super::level::{Level, ratio};
use super::repeated::{repeated, repeated_or_busy};
use super::rows::{Found, ROWS};
use super::trials::ScaleTrial;
use super::words::{figure, percent};
use model::{Bottleneck, Founding, ScaleLoss};

/// Where a spinning lock's holder loses its CPU, all others burn theirs until it is back; where memory is short, no more
/// workers run at a time than before, and work that each worker repeats grows with their number alone. So CPU time that
/// is more than twice as much above one worker's on one CPU, or, by worker, when there are more of them than CPUs,
/// speaks for spinning.
const CROWDED: f64 = 2.0;

/// Work that workers repeat costs at least this part of it by worker when there are more of them than CPUs: less only
/// as far as they no longer slow each other down.
const REPEATS: f64 = 0.6;

/// Less than this part of it speaks for spinning, too: who shares hardware or cache lines does so as long as two run at
/// a time, but many locks and barriers spin only while there are CPUs for all.
const SLEPT: f64 = 0.25;

/// Growth that differs by less than this part of one worker's CPU time is alike.
const CLEAR: f64 = 0.1;

/// What workers lose in an experiment that takes something away that they share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Apart {
    /// More than twice what they lose otherwise.
    More,
    /// Most of what they lose otherwise.
    Alike,
    /// Less than half of it.
    Other,
}

impl Apart {
    fn of(lost: f64, otherwise: f64) -> Self {
        match lost / otherwise {
            CROWDED.. => Apart::More,
            MOST.. => Apart::Alike,
            _ => Apart::Other,
        }
    }
}

/// What becomes of CPU time that grew with workers when there are more of them than CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Crowd {
    More,
    /// It grows with the number of workers, as what each of them repeats does.
    ByWorker,
    Alike,
    Less,
}

impl Crowd {
    /// Tells what becomes of the growth where there are this number of times as many workers beyond the first.
    fn of(beyond: f64, within: f64, workers: f64) -> Self {
        let times = beyond / within;
        match (beyond - within).abs() >= CLEAR {
            true if times >= CROWDED * workers => Crowd::More,
            true if times < SLEPT => Crowd::Less,
            true if times >= REPEATS * workers => Crowd::ByWorker,
            _ => Crowd::Alike,
        }
    }
}

impl Search<'_> {
    /// Finds why each operation takes more CPU time. Little more, which no experiment explains, has no cause.
    pub(super) fn more_cpu(&mut self) -> Option<Found> {
        let consistent = |row| Some(Found::new(row, Founding::Consistent));
        let confirmed = |row| Some(Found::new(row, Founding::Confirmed));
        let (n, growth) = (self.at.described.n, self.signs.cpu_growth);
        self.evidence.push(format!(
            "CPU time per operation is {} higher with {} workers than with one, {} of that in the \
             kernel",
            percent(growth),
            figure(n),
            percent(self.signs.system_share)
        ));
        if self.signs.steal * n >= MOST * growth {
            let guests = "the hypervisor gave that amount of CPU time to other guests";
            self.evidence.push(guests.into());
            return consistent(&ROWS.guests);
        }
        let is_kernel = self.signs.system_share >= MOST;
        if growth >= CLEAR
            && let Some(found) = repeated(self.case, self.one, &mut self.evidence)
            && (!is_kernel || found.row.cause == Bottleneck::Repeated)
        {
            return Some(found);
        }
        if is_kernel {
            return consistent(&ROWS.kernel);
        }
        let (copies, placed, beyond) = (self.by_copies(), self.by_placement(), self.by_crowd());
        let is_hardware = matches!(copies, Some(Apart::Alike | Apart::More));
        if beyond == Some(Crowd::Less)
            && !is_hardware
            && matches!(placed, None | Some(Apart::Other))
            && let Some(found) = self.spinning_while_free()
        {
            return Some(found);
        }
        match (copies, placed, beyond) {
            _ if is_hardware => return confirmed(&ROWS.hardware),
            (_, Some(Apart::More), _) => return consistent(&ROWS.spin_lock),
            (_, Some(Apart::Alike), _) | (Some(_), None, None | Some(Crowd::ByWorker)) => {
                return repeated_or_busy(self.case, self.one);
            }
            (Some(_), Some(_), Some(Crowd::Alike)) => return confirmed(&ROWS.sharing),
            (Some(_), ..) => return confirmed(&ROWS.spinning),
            (_, _, Some(Crowd::More)) => return consistent(&ROWS.spinning),
            (_, Some(_), Some(Crowd::Alike)) => return consistent(&ROWS.sharing_or_hardware),
            _ => {}
        }
        let alike = "without --copies the two cannot be distinguished: it runs separate copies with \
                     one worker each at the same time";
        self.evidence.push(alike.into());
        // Two CPUs of a machine are seldom quite alike, nor independent of one another.
        (growth >= CLEAR).then(|| Found::new(&ROWS.spinning_or_hardware, Founding::Suspected))
    }

    /// Finds whether workers lose as much when they take turns on one CPU. Then they share nothing at the same
    /// moment: they repeat work, or what they lose is spinning for a worker that has no CPU.
    fn by_placement(&mut self) -> Option<Apart> {
        let n = self.at.described.n;
        let placed = self.case.placed.iter().filter(|trial| trial.n == n);
        let each: Vec<f64> = placed.filter_map(|trial| trial.cpu_each_ns()).collect();
        let grown = ratio(&each, &self.one.level.values(ScaleTrial::cpu_each_ns))?.point - 1.0;
        self.evidence.push(format!(
            "all on one CPU, {} workers need {} more CPU time per operation than one",
            figure(n),
            percent(grown)
        ));
        Some(Apart::of(grown, self.signs.cpu_growth))
    }

    /// Finds what the copies say: separate copies share the hardware and nothing of the program: what
    /// they also lose is the hardware's.
    fn by_copies(&mut self) -> Option<Apart> {
        let copies = &self.case.copies;
        let each: Vec<f64> = copies.iter().filter_map(|trial| trial.cpu_each_ns()).collect();
        let alone = self.one.level.values(ScaleTrial::cpu_each_ns);
        let apart = ratio(&each, &alone)?.point - 1.0;
        self.evidence.push(format!(
            "{} separate copies of one worker each need {} more CPU time each than one alone; {} \
             workers of one program need {} more",
            copies.first()?.copies,
            percent(apart),
            figure(self.at.described.n),
            percent(self.signs.cpu_growth)
        ));
        Some(Apart::of(apart, self.signs.cpu_growth))
    }

    /// Finds what becomes of CPU time that grew within the CPUs when there are more workers than them.
    fn by_crowd(&mut self) -> Option<Crowd> {
        let (most, within) = (self.case.most()?, self.case.within()?);
        let beyond = self.grown(most.level)?;
        if most.described.n < 2.0 * within.described.n {
            return None;
        }
        let workers = (most.described.n - 1.0) / (within.described.n - 1.0);
        let crowd = Crowd::of(beyond, self.signs.cpu_growth, workers);
        let is_more = crowd == Crowd::More;
        let meaning = if is_more { ": workers spin while the worker that they wait for has no CPU" } else { "" };
        self.evidence.push(format!(
            "with {} workers, more than the CPUs, it is {} higher{meaning}",
            figure(most.described.n),
            percent(beyond)
        ));
        Some(crowd)
    }

    fn grown(&self, level: &Level<'_>) -> Option<f64> {
        let of = |level: &Level<'_>| level.values(ScaleTrial::cpu_each_ns);
        Some(ratio(&of(level), &of(self.one.level))?.point - 1.0)
    }

    /// Finds what workers wait for that spin only while there is a CPU for each of them: beyond, they sleep for at
    /// least half of the CPU time that they no longer use, and looks find what for.
    fn spinning_while_free(&mut self) -> Option<Found> {
        let most = self.case.most()?;
        let account = most.described.account.as_ref()?;
        let alone_ns = self.one.level.mean(ScaleTrial::cpu_each_ns)?;
        let less_ns = (self.signs.cpu_growth - self.grown(most.level)?) * alone_ns;
        let asleep = share(account, ScaleLoss::Blocked) + share(account, ScaleLoss::Absent);
        if asleep * account.budget_ns < MOST * less_ns {
            return None;
        }
        let mut beyond = Search::new(self.case, self.one, most, account);
        let found = beyond.by_waits(ScaleLoss::Blocked, false)?;
        let at = figure(most.described.n);
        self.evidence.push(format!(
            "up to the CPUs, workers spin while they wait; with {at} workers they sleep instead"
        ));
        self.evidence.extend(beyond.evidence.iter().map(|one| format!("with {at} workers, {one}")));
        Some(found)
    }
}
