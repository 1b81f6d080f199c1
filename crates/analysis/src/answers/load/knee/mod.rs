//! The rate up to which a server's response time keeps a limit: where to measure next, and what the
//! trials say.
//!
//! One request at a time says what a limit can be and where to begin. Then the rate is doubled until more
//! than 5 % of the requests are late. How late they are says roughly where the capacity is (`twin`), and the
//! rest of the time is spent on trials there. They show what each request asked of the server (`demands`), and
//! that gives the capacity (`modelled`). Where no model of the server explains them, those that were late are
//! counted (`twin`).

use super::MeasuredRequest;
use model::{Estimate, KneeEnd, KneeRules, KneeStage, KneeTrial};
use modelled::Measured;
use refusals::Failures;
use simulated_queue::{LATE_LEAST, SimulatedQueue, Trace};

mod demands;
mod finish;
mod modelled;
mod refusals;
mod simulated_queue;
mod stops;
#[cfg(test)]
mod tests;

/// One request at a time: how many, and for how long.
const ALONE_REQUESTS: u64 = 200;
const ALONE_NS: f64 = 10e9;

/// How often one at a time is tried where too few succeed, each time at this part of the rate of success.
const ALONES_MAX: usize = 5;
const SLOWER_ALONE: f64 = 0.5;

/// The rate that is tried first, as a multiple of that of one request at a time, and how much it rises
/// while it holds.
const FIRST: f64 = 1.5;
const RISE: f64 = 2.0;

/// The lowest rate that is tried, per second, and the highest: beyond what any server of today answers.
const RATE_LEAST: f64 = 0.1;
const RATE_MOST: f64 = 4e6;

/// A trial of the search: how many requests, how long at least, and at least this multiple of the limit,
/// since those of the last limit's time do not count.
const SEARCH_REQUESTS: f64 = 40.0;
const SEARCH_NS: f64 = 0.5e9;
const SEARCH_LIMITS: f64 = 4.0;

/// A trial that measures lasts a multiple of the time in which a queue forgets, if there is time for
/// `TRIALS_LEAST` such trials, and at least `MEASURE_LIMITS` times the limit. The longer the queue is in
/// which requests become late, the less the capacity hangs on how it began: the multiple is `FORGETS_QUEUE`
/// divided by its length, within `FORGETS`.
const FORGETS: [f64; 2] = [2.0, 30.0];
const FORGETS_QUEUE: f64 = 300.0;
const TRIALS_LEAST: usize = 8;
const MEASURE_LIMITS: f64 = 6.0;

/// Of the trials that an interval seems to need, this part is measured before it is computed again.
const CHECK: f64 = 0.8;
const CHECK_FROM: usize = 3;

/// Trials in all, and requests of one trial that measures at most.
const TRIALS_MAX: usize = 60;
const REQUESTS_MAX: f64 = 200_000.0;

/// Requests of a trial that measures at least: ten of them are late.
const TRIAL_REQUESTS: f64 = 200.0;

/// Requests that an interval needs near the capacity.
const REQUESTS_LEAST: f64 = 600.0;

/// The part of a trial's requests that come first and do not count.
const FIRST_PART: f64 = 0.1;

/// Trials whose rates differ from the capacity by at most this part belong to its estimate; where requests
/// queue, by this number divided by how many wait where they are late, but not less than the least.
const NEAR: f64 = 0.15;
const NEAR_QUEUE: f64 = 2.0;
const NEAR_LEAST: f64 = 0.01;

/// A trial of the saturated server: how many requests, how long at least, and which part of the time that is
/// left it may take.
const SATURATED_REQUESTS: f64 = 2_000.0;
const SATURATED_NS: f64 = 1e9;
const SATURATED_PART: f64 = 0.1;

/// After this number of trials without a late request at about the same rate, a higher one is tried, half-way to
/// the one that broke. An interval between the two is at most this wide, as a part of the capacity.
const BISECT_AFTER: usize = 3;
const BETWEEN: f64 = 0.25;

/// A trial is saturated if more than this part is late.
const SATURATED: f64 = 0.6;

/// Trials are not below this part of the highest rate of the search that held, or of one request at a time.
const FLOOR: f64 = 0.3;

/// From one trial to the next the rate rises or falls by at most these factors.
const UP: f64 = 1.25;
const DOWN: f64 = 0.6;
const DOWN_LEAST: f64 = 0.99;

/// Requests that a model of the server is found from: the last.
const MODEL_REQUESTS: usize = 150_000;

/// What is to be done next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KneeStep {
    /// Send requests one at a time.
    Alone {
        /// How many at most.
        requests: u64,
        /// For how long at most, in ms.
        length_ms: u64,
        /// At most at this rate per second, if at any.
        per_s: Option<f64>,
    },
    /// Measure this rate.
    Try {
        /// In requests per second.
        per_s: f64,
        /// For how long, in ms.
        length_ms: u64,
        /// What for.
        stage: KneeStage,
    },
    /// Enough is measured.
    End(KneeEnd),
}

/// What one request at a time showed.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Alone {
    per_s: f64,
    p95_ns: f64,
    /// How many succeeded per second.
    sustained_per_s: f64,
    /// Whether enough of them succeeded.
    succeeded: bool,
}

/// A search under way.
#[derive(Clone, Debug)]
pub struct KneeSearch {
    rules: KneeRules,
    alone: Option<Alone>,
    trials: Vec<KneeTrial>,
    /// The requests of each trial; of one request at a time none.
    traces: Vec<Trace>,
    /// Answers per second of each, without its beginning.
    throughputs: Vec<f64>,
    /// How many requests of each failed or were late.
    failures: Vec<Failures>,
    /// How long a trial near the capacity is, in ns, once that is known.
    length_ns: Option<f64>,
    /// Trials near the capacity when the interval is computed next.
    checked_at: usize,
    /// The capacity by a model of the server.
    modelled_per_s: Option<f64>,
    /// The last estimate, and of how many trials.
    estimate: Option<(usize, Option<Estimate>)>,
    /// Why the search ends, once it is to end.
    ended: Option<KneeEnd>,
}

impl KneeSearch {
    /// Begins one.
    #[must_use]
    pub fn new(rules: KneeRules) -> Self {
        KneeSearch {
            rules,
            alone: None,
            trials: Vec::new(),
            traces: Vec::new(),
            throughputs: Vec::new(),
            failures: Vec::new(),
            length_ns: None,
            checked_at: CHECK_FROM,
            modelled_per_s: None,
            estimate: None,
            ended: None,
        }
    }

    /// Returns the limit that the response times are held against, in ns.
    #[must_use]
    pub fn limit_ns(&self) -> Option<f64> {
        let own = self.alone.map(|alone| KneeRules::TIMES_ALONE * alone.p95_ns);
        self.alone.and(self.rules.limit_ns).or(own)
    }

    /// Returns about what the capacity is; `None` before something broke.
    #[must_use]
    pub fn roughly_per_s(&self) -> Option<f64> {
        self.place()
    }

    /// Returns how long the trials that give an interval take at least, in ns; `None` before it is known
    /// where to measure.
    #[must_use]
    pub fn needed_ns(&self) -> Option<f64> {
        let (place, limit_ns) = (self.roughly_per_s()?, self.limit_ns()?);
        let limits = TRIALS_LEAST as f64 * MEASURE_LIMITS * limit_ns;
        Some(limits.max(REQUESTS_LEAST / place * 1e9))
    }

    /// Adds what one request at a time showed, and how many answers there were at all.
    pub fn add_alone(&mut self, trial: KneeTrial, answered: u64) {
        if self.ended.is_some() {
            return self.add_last(trial, answered);
        }
        let known = trial.p95_ns.filter(|_| answered > 0 && trial.elapsed_ns > 0);
        self.alone = known.map(|p95_ns| Alone {
            per_s: answered as f64 * 1e9 / trial.elapsed_ns as f64,
            p95_ns: (p95_ns as f64).max(1.0),
            sustained_per_s: trial.succeeded as f64 * 1e9 / trial.elapsed_ns as f64,
            succeeded: trial.succeeded as f64 >= KneeRules::WITHIN_LEAST * answered as f64,
        });
        let per_s = self.alone.map_or(0.0, |alone| alone.per_s);
        self.push(
            KneeTrial { per_s, counted: answered, late: 0, ..trial },
            &[],
            0..0,
            Failures::default(),
        );
    }

    /// Adds a trial of a rate, with its requests in the order of their coming.
    pub fn add(&mut self, trial: KneeTrial, requests: &[MeasuredRequest]) {
        let limit_ns = self.limit_ns().unwrap_or(0.0);
        let first_part = if self.refuses() { refusals::FIRST_PART } else { FIRST_PART };
        let (first, last) = (
            (first_part * trial.elapsed_ns as f64).min(1e18) as u64,
            (trial.elapsed_ns as f64 - limit_ns).max(0.0) as u64,
        );
        let from = requests.partition_point(|one| one.at_ns < first);
        let until = requests.partition_point(|one| one.at_ns <= last).max(from);
        let counted = refusals::failures(&requests[from..until], limit_ns);
        let late = counted.clone().filter(|one| one.1).count() as u64;
        let failures = Failures::of(counted, first..last, trial.per_s);
        let counted = (until - from) as u64;
        self.push(KneeTrial { counted, late, ..trial }, requests, from..until, failures);
    }

    fn push(
        &mut self,
        trial: KneeTrial,
        requests: &[MeasuredRequest],
        counted: std::ops::Range<usize>,
        failures: Failures,
    ) {
        self.failures.push(failures);
        let refuses = requests.iter().any(|one| one.refused);
        let begun_ns = if refuses { trial.elapsed_ns / 2 } else { trial.elapsed_ns / 4 };
        let succeeded = requests.iter().filter(|one| !one.refused).filter_map(|one| one.done_ns);
        let succeeded = succeeded.filter(|ns| (begun_ns..=trial.elapsed_ns).contains(ns)).count();
        let taken_ns = (trial.elapsed_ns - begun_ns).max(1) as f64;
        self.throughputs.push(succeeded as f64 * 1e9 / taken_ns);
        let due_ns = requests.iter().map(|one| one.at_ns).collect();
        let done_ns = requests.iter().map(|one| one.done_ns).collect();
        self.traces.push(Trace { per_s: trial.per_s, due_ns, done_ns, counted, late: trial.late });
        self.trials.push(trial);
    }

    /// Returns the next trial, `left_ns` being the time that is left. The same trials and times give the
    /// same answer, and every chain of answers ends.
    pub fn next(&mut self, left_ns: f64) -> KneeStep {
        if let Some(end) = self.ended {
            return KneeStep::End(end);
        }
        match self.step(left_ns - self.last_ns(left_ns)) {
            KneeStep::End(end) => {
                self.ended = Some(end);
                self.last(end, left_ns)
            }
            step => step,
        }
    }

    fn step(&mut self, left_ns: f64) -> KneeStep {
        if self.trials.is_empty() {
            let length_ms = (ALONE_NS.min(left_ns / 4.0) / 1e6).max(1.0) as u64;
            return KneeStep::Alone { requests: ALONE_REQUESTS, length_ms, per_s: None };
        }
        let (Some(alone), Some(limit_ns)) = (self.alone, self.limit_ns()) else {
            return KneeStep::End(KneeEnd::NoAnswer);
        };
        // One at a time may be faster than a limiter allows.
        let alones = self.of(KneeStage::Alone).count();
        if !alone.succeeded && alone.sustained_per_s > 0.0 && alones < ALONES_MAX {
            let per_s = Some(SLOWER_ALONE * alone.sustained_per_s);
            let length_ms = (ALONE_NS.min(left_ns / 4.0) / 1e6).max(1.0) as u64;
            return KneeStep::Alone { requests: ALONE_REQUESTS, length_ms, per_s };
        }
        if alone.p95_ns > limit_ns || !alone.succeeded {
            return KneeStep::End(KneeEnd::LowestBroke);
        }
        if self.trials.len() >= TRIALS_MAX {
            return KneeStep::End(KneeEnd::OutOfTime);
        }
        let Some(broke) = self.broke() else { return self.search(alone, limit_ns, left_ns) };
        if self.refuses() {
            return self.bisect(limit_ns, left_ns);
        }
        if let Some(step) = self.saturate(broke, limit_ns, left_ns) {
            return step;
        }
        self.measure(limit_ns, left_ns)
    }

    fn most(&self) -> f64 {
        self.rules.most_per_s.unwrap_or(RATE_MOST).min(RATE_MOST)
    }

    /// Returns the numbers of the trials of a stage.
    fn of(&self, stage: KneeStage) -> impl DoubleEndedIterator<Item = usize> {
        (0..self.trials.len()).filter(move |number| self.trials[*number].stage == stage)
    }

    /// Returns the number of the trial of the search that broke, with enough late requests to say by how
    /// much.
    fn broke(&self) -> Option<usize> {
        self.of(KneeStage::Search)
            .find(|number| !self.trials[*number].held() && self.trials[*number].late >= LATE_LEAST)
    }

    fn twin(&self) -> Option<SimulatedQueue> {
        let patience_ns = (self.limit_ns()? - self.alone?.p95_ns).max(0.0);
        // What was answered while nearly all were late is what the server can do.
        // The longest says it best.
        let longest = self.saturated().max_by_key(|number| self.trials[*number].due);
        let most = longest.map(|number| self.throughputs[number]);
        let saturated_ns = most.filter(|per_s| *per_s > 0.0).map(|per_s| 1e9 / per_s);
        Some(SimulatedQueue { patience_ns, constant: self.rules.constant, saturated_ns })
    }

    /// Returns the next higher rate of the search: none of those before it broke.
    fn search(&self, alone: Alone, limit_ns: f64, left_ns: f64) -> KneeStep {
        let highest = self.of(KneeStage::Search).map(|number| self.trials[number].per_s);
        let per_s = match highest.reduce(f64::max) {
            Some(held) if held >= self.most() => return KneeStep::End(KneeEnd::HighestHeld),
            Some(held) => held * RISE,
            None => self.rules.from_per_s.unwrap_or(FIRST * alone.per_s),
        };
        let per_s = per_s.min(self.most()).max(RATE_LEAST);
        let wanted_ns =
            (SEARCH_REQUESTS / per_s * 1e9).max(SEARCH_LIMITS * limit_ns).max(SEARCH_NS);
        if wanted_ns > left_ns {
            return KneeStep::End(KneeEnd::OutOfTime);
        }
        let length_ms = (wanted_ns / 1e6).ceil() as u64;
        KneeStep::Try { per_s, length_ms, stage: KneeStage::Search }
    }

    /// Returns a trial that says how much the saturated server does; `None` where that is known, or there is no
    /// time for it. A server that stops now and then may break at a rate far below.
    fn saturate(&self, broke: usize, limit_ns: f64, left_ns: f64) -> Option<KneeStep> {
        let last = self.of(KneeStage::Search).next_back()?;
        let rate = self.trials[last].per_s;
        let is_saturated = self.saturated().any(|number| number == last);
        if last > broke && (is_saturated || rate >= self.most()) {
            return None;
        }
        let per_s = if is_saturated { rate } else { RISE * rate }.min(self.most());
        let wanted_ns = (SATURATED_REQUESTS / per_s * 1e9).max(SEARCH_LIMITS * limit_ns);
        let length_ns = wanted_ns.max(SATURATED_NS);
        let length_ms = (length_ns / 1e6).ceil() as u64;
        let step = KneeStep::Try { per_s, length_ms, stage: KneeStage::Search };
        (length_ns <= SATURATED_PART * left_ns).then_some(step)
    }

    /// Returns the next trial near the capacity.
    fn measure(&mut self, limit_ns: f64, left_ns: f64) -> KneeStep {
        let count = self.of(KneeStage::Measure).count();
        let is_due = count >= self.checked_at;
        let estimate = if is_due { self.capacity() } else { None };
        let Some(place) = self.modelled_per_s.or_else(|| self.place()) else {
            return KneeStep::End(KneeEnd::OutOfTime);
        };
        let place = place.max(self.floor()).min(self.most());
        if place < RATE_LEAST {
            return KneeStep::End(KneeEnd::LowestBroke);
        }
        let least_ns = MEASURE_LIMITS * limit_ns;
        if self.length_ns.is_none() && self.needed_ns().is_none_or(|needed_ns| needed_ns > left_ns)
        {
            return KneeStep::End(KneeEnd::TooSlow);
        }
        // How long it takes a queue near its capacity to forget how it began: its relaxation time in
        // heavy traffic, 4 W / (1 − ρ) with W = L / 3 and 1 − ρ = 2 / (λ L).
        let patience_s = self.twin().map_or(0.0, |twin| twin.patience_ns / 1e9);
        let queue = place * patience_s;
        let forgets_ns = patience_s * (queue + 3.0) * 0.5e9;
        let times = (FORGETS_QUEUE / queue.max(1.0)).clamp(FORGETS[0], FORGETS[1]);
        let each_ns = left_ns / (TRIALS_LEAST as f64 + 0.5);
        let length_ns = *self.length_ns.get_or_insert_with(|| {
            let fast_ns = REQUESTS_MAX / place * 1e9;
            let wanted_ns = (times * forgets_ns).min(fast_ns);
            let least_ns =
                least_ns.max(self.rules.trial_least_ns as f64).max(TRIAL_REQUESTS / place * 1e9);
            wanted_ns.max(least_ns).min(each_ns.max(MEASURE_LIMITS * limit_ns))
        });
        let half = estimate.map_or(f64::INFINITY, |it| (it.high - it.low) / 2.0 / it.point);
        let narrow = half <= self.rules.precision && count >= TRIALS_LEAST;
        if is_due {
            // It narrows with the root of the trials, or sooner.
            let needs = count as f64 * CHECK * (half / self.rules.precision).powi(2);
            let needs =
                if half.is_finite() { (needs.min(1e6) as usize).max(TRIALS_LEAST) } else { 0 };
            self.checked_at = needs.max(count + 1);
        }
        if narrow {
            return KneeStep::End(KneeEnd::Precise);
        }
        if length_ns > left_ns {
            return KneeStep::End(KneeEnd::OutOfTime);
        }
        let measured = self.of(KneeStage::Measure).next_back().map(|number| self.trials[number]);
        if measured
            .is_some_and(|last| last.per_s >= self.most() && last.held() && place >= self.most())
        {
            return KneeStep::End(KneeEnd::HighestHeld);
        }
        // Too short for a queue to build up as in the steady state, it builds up at a higher rate.
        let lead = if length_ns < 3.0 * forgets_ns { patience_s * 0.5e9 / length_ns } else { 0.0 };
        let per_s = place * (1.0 + lead.min(0.8 * self.nearness(place)));
        let length_ms = (length_ns / 1e6).ceil() as u64;
        KneeStep::Try { per_s: per_s.min(self.most()), length_ms, stage: KneeStage::Measure }
    }

    /// Returns below which rate no trial makes sense: a few that were disturbed say little against a rate
    /// that held before. Each trial there that breaks lowers it.
    fn floor(&self) -> f64 {
        let held = self.of(KneeStage::Search).map(|number| self.trials[number]);
        let held = held.filter(KneeTrial::held).map(|trial| trial.per_s).reduce(f64::max);
        let mut floor = FLOOR * held.or(self.alone.map(|alone| alone.per_s)).unwrap_or(0.0);
        for number in self.of(KneeStage::Measure) {
            let trial = &self.trials[number];
            if !trial.held() && trial.per_s <= floor * (1.0 + NEAR) {
                floor *= DOWN;
            }
        }
        floor
    }

    /// Returns where the capacity is by all that is known; `None` before anything broke.
    fn place(&self) -> Option<f64> {
        let twin = self.twin()?;
        let measured = self.of(KneeStage::Measure).next_back();
        let last = measured.or_else(|| self.broke())?;
        let (trial, trace) = (&self.trials[last], &self.traces[last]);
        if self.saturated().any(|number| number == last) {
            // How late they were says less than how many were answered.
            let place = twin.saturated(self.throughputs[last]);
            return Some(place.min(DOWN_LEAST * trial.per_s));
        }
        if measured.is_none() {
            return twin.fit(&[trace]);
        }
        let near = self.near()?;
        let traces: Vec<&Trace> = near.iter().map(|number| &self.traces[*number]).collect();
        let place = twin.fit(&traces).or_else(|| self.above(&twin, traces));
        Some(place?.clamp(DOWN * trial.per_s, UP * trial.per_s))
    }

    /// Returns where the capacity is if too few were late near it: what a higher rate says that broke, together
    /// with these trials.
    fn above<'a>(&'a self, twin: &SimulatedQueue, mut traces: Vec<&'a Trace>) -> Option<f64> {
        let held = traces.iter().map(|trace| trace.per_s).reduce(f64::max)?;
        let higher = (0..self.trials.len()).filter(|number| self.trials[*number].per_s > held);
        let by_rate =
            |a: &usize, b: &usize| self.trials[*a].per_s.total_cmp(&self.trials[*b].per_s);
        let broke = higher.filter(|number| self.traces[*number].late >= LATE_LEAST).min_by(by_rate);
        let Some(broke) = broke else { return Some(UP * held) };
        if traces.len() >= BISECT_AFTER {
            return Some((held * self.trials[broke].per_s).sqrt());
        }
        if self.saturated().any(|number| number == broke) {
            return Some(twin.saturated(self.throughputs[broke]).max(held));
        }
        traces.push(&self.traces[broke]);
        twin.fit(&traces)
    }

    /// Returns the numbers of the trials in which nearly all were late.
    fn saturated(&self) -> impl Iterator<Item = usize> {
        let is = |trial: &KneeTrial| trial.late_part().is_some_and(|part| part > SATURATED);
        (0..self.trials.len()).filter(move |number| is(&self.trials[*number]))
    }

    /// Returns the trials near the capacity: from the four that were measured last, those whose rates are
    /// near what they say together.
    fn near(&self) -> Option<Vec<usize>> {
        let twin = self.twin()?;
        let all: Vec<usize> = self.of(KneeStage::Measure).collect();
        let mut near = all[all.len().checked_sub(1)?.saturating_sub(3)..].to_vec();
        for _ in 0..4 {
            let traces: Vec<&Trace> = near.iter().map(|number| &self.traces[*number]).collect();
            let last = self.trials[*all.last()?].per_s;
            let place = twin.fit(&traces).unwrap_or(last);
            let is_near = |number: &&usize| {
                (self.trials[**number].per_s / place - 1.0).abs() <= self.nearness(place)
            };
            let now: Vec<usize> = all.iter().filter(is_near).copied().collect();
            if now.is_empty() || now == near {
                break;
            }
            near = now;
        }
        Some(near)
    }

    /// Returns by which part a rate may differ from the capacity: where a queue is long, a little more
    /// overloads it.
    fn nearness(&self, place: f64) -> f64 {
        let patience_s = self.twin().map_or(0.0, |twin| twin.patience_ns / 1e9);
        (NEAR_QUEUE / (place * patience_s)).clamp(NEAR_LEAST, NEAR)
    }

    /// Returns the capacity by the models of the server that explain the trials.
    fn modelled(&self) -> Option<Estimate> {
        let alone = self.alone?;
        let mut requests = 0;
        let traces = self.of(KneeStage::Measure).rev().map(|number| &self.traces[number]);
        let recent = traces.take_while(|trace| {
            let enough = requests >= MODEL_REQUESTS;
            requests += trace.due_ns.len();
            !enough
        });
        let saturated = self.twin()?.saturated_ns.map(|ns| 1e9 / ns);
        let measured = Measured {
            traces: recent.collect(),
            alone_ns: alone.p95_ns,
            limit_ns: self.limit_ns()?,
            constant: self.rules.constant,
            at_once: saturated.or_else(|| self.place())? / alone.per_s,
            stops: Vec::new(),
        };
        measured.capacity()
    }

    /// Returns the capacity by a model of the server, or by the requests that were late if there is none.
    fn capacity(&mut self) -> Option<Estimate> {
        if let Some((_, found)) = self.estimate.filter(|known| known.0 == self.trials.len()) {
            return found;
        }
        if self.refuses() {
            return self.capacity_by_refusals();
        }
        let modelled = self.modelled();
        self.modelled_per_s = modelled.map(|it| it.point);
        let is_near = |estimate: &Estimate| {
            let near =
                |number: usize| (self.trials[number].per_s / estimate.point - 1.0).abs() <= NEAR;
            self.of(KneeStage::Measure).any(near)
        };
        let found =
            modelled.map_or_else(|| self.counted(), |estimate| Some(estimate).filter(is_near));
        self.estimate = Some((self.trials.len(), found));
        found
    }

    /// Returns the capacity by the number of requests that were late.
    fn counted(&self) -> Option<Estimate> {
        let near = self.near()?;
        let traces: Vec<&Trace> = near.iter().map(|number| &self.traces[*number]).collect();
        let Some(estimate) = self.twin()?.estimate(&traces) else { return self.between() };
        // All of them far from it, on one side, would be no measurement of it.
        let rates = || near.iter().map(|number| self.trials[*number].per_s);
        let nearness = self.nearness(estimate.point);
        let reached = rates().any(|rate| (rate / estimate.point - 1.0).abs() <= nearness);
        reached.then_some(estimate)
    }

    /// Returns the capacity of a server that turns within a few per cent of its rate: between the highest rate
    /// that held and the lowest that broke. A queue that begins empty may hold for a while at a rate that
    /// is too high by the part of the trial in which what is late builds up.
    fn between(&self) -> Option<Estimate> {
        let patience_ns = self.twin()?.patience_ns;
        let measured = || self.of(KneeStage::Measure).map(|number| self.trials[number]);
        let by_rate = |a: &KneeTrial, b: &KneeTrial| a.per_s.total_cmp(&b.per_s);
        let held = measured().filter(KneeTrial::held).max_by(by_rate)?;
        let broke = measured().filter(|trial| !trial.held()).min_by(by_rate)?;
        let low = held.per_s * (1.0 - patience_ns / held.elapsed_ns.max(1) as f64);
        let is_narrow = low < broke.per_s && broke.per_s / low <= 1.0 + BETWEEN;
        is_narrow.then(|| Estimate {
            point: (low * broke.per_s).sqrt(),
            low,
            high: broke.per_s,
            standard_error: None,
            level: 0.95,
            samples: measured().count() as u32,
        })
    }
}
