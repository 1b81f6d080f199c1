//! From records to samples: one number per completed trial.

use crate::session::disturbance::{Losses, Taken, corrected, cpu_ns, is_timed, of_corrected};
use crate::session::tags::Tag;
use crate::stats::dependence::shared_correlation;
use crate::stats::frequency::{Frequency, Tally, sum};
use crate::stats::interval::median_located;
use crate::stats::order::{mean, median_in_place};
use model::{
    Center, Counters, Design, Estimate, Measured, Outcome, Quantity, Record, Response, Series,
    Treatment,
};
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// Values that are computed when they are first asked for, and kept, since many quantities ask for the
/// same: by response and treatment.
type Kept<V> = RefCell<HashMap<(String, Treatment), V>>;

fn kept<V: Clone>(
    cache: &Kept<V>,
    response: &str,
    treatment: &Treatment,
    compute: impl FnOnce() -> V,
) -> V {
    let key = (response.to_string(), treatment.clone());
    if let Some(known) = cache.borrow().get(&key) {
        return known.clone();
    }
    let value = compute();
    cache.borrow_mut().insert(key, value.clone());
    value
}

/// Values by block.
pub(crate) type ByBlock = BTreeMap<u32, f64>;

/// Returns one number per completed trial of a response: block and value, by treatment, in the
/// response's unit.
///
/// The observations of a trial are divided by the operations each is the total of, and then become one number
/// as the response's `center` says (the median for a response the design does not name). Where a record holds
/// no series of that name, the names of [`from_counters`] and those of the tags are filled from the record
/// itself. Where the response names a control, the control's value in the same block is subtracted, never
/// clamped; a trial whose block lacks the control is left out, and the control itself keeps its value.
pub fn samples<'a>(
    design: &'a Design,
    records: impl IntoIterator<Item = &'a Record>,
    response: &str,
) -> BTreeMap<Treatment, Vec<(u32, f64)>> {
    let table = Table::new(design, records);
    let trials = |treatment: &Treatment| {
        let trials = table.trials_by_block(response, treatment);
        (!trials.is_empty()).then(|| (treatment.clone(), trials))
    };
    table.treatments().into_iter().filter_map(trials).collect()
}

pub(crate) fn center_of(design: &Design, response: &str) -> Center {
    design.response(response).map_or(Center::Median, |response| response.center)
}

/// Returns the observations of a completed trial, each per operation; empty if there are none.
pub(crate) fn observations(record: &Record, response: &str) -> Vec<f64> {
    let mut found: Vec<f64> = Vec::new();
    // Series by series: most of the time of an analysis goes by here.
    for one in series(record, response) {
        let operations = one.per.max(1) as f64;
        found.extend(one.values.iter().map(|&total| total as f64 / operations));
    }
    if found.is_empty() && completed(record).is_some() {
        found.extend(from_record(record, response));
    }
    found
}

/// Returns the observations that a completed trial stored: each a total, and the operations it is of.
pub(crate) fn raw_observations<'a>(
    record: &'a Record,
    response: &'a str,
) -> impl Iterator<Item = (i64, u64)> {
    series(record, response).flat_map(|one| one.values.iter().map(|&total| (total, one.per.max(1))))
}

/// Returns the series of a response in a completed trial.
fn series<'a>(record: &'a Record, response: &'a str) -> impl Iterator<Item = &'a Series> {
    let all = completed(record).into_iter().flat_map(|measured| &measured.series);
    all.filter(move |series| series.response == response)
}

/// Returns what a completed trial measured.
fn completed(record: &Record) -> Option<&Measured> {
    match (&record.outcome, &record.measured) {
        (Outcome::Completed { .. }, Some(measured)) => Some(measured),
        _ => None,
    }
}

/// Returns how often something happened in some trials, and how often it could have happened: exact
/// counts, as [`model::Quantity::Frequency`] counts them. `None` if no completed trial observed it.
pub fn events_among<'a>(
    records: impl IntoIterator<Item = &'a Record>,
    response: &str,
) -> Option<(u64, u64)> {
    let sum = sum(records.into_iter().map(|record| tally(record, response)));
    (sum.chances > 0).then_some((sum.events, sum.chances))
}

/// Returns the events and chances of a completed trial: an observation over one operation is one event if
/// it is above 0; one over n operations is that many events among n.
pub(crate) fn tally(record: &Record, response: &str) -> Tally {
    let tally = sum(raw_observations(record, response).map(|(total, chances)| Tally {
        events: u64::try_from(total).unwrap_or(0).min(chances),
        chances,
    }));
    match completed(record).and_then(|_| from_record(record, response)) {
        Some(value) if tally.chances == 0 => Tally { events: u64::from(value > 0.0), chances: 1 },
        _ => tally,
    }
}

/// Returns the one number of a trial; `None` if it did not complete or did not measure this.
pub(crate) fn trial_value(record: &Record, response: &str, center: Center) -> Option<f64> {
    centre(observations(record, response), center)
}

/// Returns the one number that observations become; `None` of none.
pub(crate) fn centre(mut observations: Vec<f64>, center: Center) -> Option<f64> {
    if observations.is_empty() {
        return None;
    }
    match center {
        Center::Median => median_in_place(&mut observations),
        Center::Mean => mean(&observations),
        Center::Sum => Some(observations.iter().sum()),
        Center::Max => observations.into_iter().max_by(f64::total_cmp),
    }
}

/// Returns what the kernel counted over the timed region, under the names by which a design may ask for
/// it: `wall_ns`, `cpu_ns` (user and system), `user_ns`, `system_ns`, `queue_wait_ns`,
/// `on_cpu_ns`, `minor_faults_count`, `major_faults_count`, `voluntary_switches_count`,
/// `involuntary_switches_count`, `migrations_count`, `read_bytes`, `write_bytes`.
///
/// Beside these a design may ask for the tags that a trial shows by itself ([`crate::Tag`]), as 1
/// where the trial has the tag and 0 where it has not: `tag_preempted_count`,
/// `tag_stolen_from_count`, `tag_migrated_count`, `tag_foreign_load_count`, `tag_throttled_count`.
/// A trial of which the kernel reported too little gives no number.
pub(crate) fn from_counters(counters: &Counters, response: &str) -> Option<f64> {
    let value = match response {
        "wall_ns" => Some(counters.wall_ns),
        "cpu_ns" => cpu_ns(counters),
        "user_ns" => counters.user_ns,
        "system_ns" => counters.system_ns,
        "queue_wait_ns" => counters.queue_wait_ns,
        "on_cpu_ns" => counters.on_cpu_ns,
        "minor_faults_count" => counters.minor_faults,
        "major_faults_count" => counters.major_faults,
        "voluntary_switches_count" => counters.voluntary_switches,
        "involuntary_switches_count" => counters.involuntary_switches,
        "migrations_count" => counters.migrations,
        "read_bytes" => counters.read_bytes,
        "write_bytes" => counters.write_bytes,
        _ => None,
    };
    value.map(|value| value as f64)
}

/// Reports whether a trial completed and measured this.
pub(crate) fn has_value(record: &Record, response: &str) -> bool {
    let response = of_corrected(response).unwrap_or(response);
    let Some(measured) = completed(record) else { return false };
    let mut series = measured.series.iter();
    series.any(|one| one.response == response && !one.values.is_empty())
        || from_record(record, response).is_some()
}

/// Returns the value of a response that no series holds: a counter of the trial, or one of its tags.
fn from_record(record: &Record, response: &str) -> Option<f64> {
    let counters = &record.measured.as_ref()?.counters;
    from_counters(counters, response).or_else(|| Tag::count(record, response))
}

/// The trials of one experiment, sorted by treatment.
///
/// It keeps what it has computed, so it serves one thread.
pub struct Table<'a> {
    pub(crate) design: &'a Design,
    by_treatment: HashMap<&'a Treatment, Vec<&'a Record>>,
    /// Block and value of each trial.
    trials: Kept<Rc<Vec<(u32, f64)>>>,
    controls: Kept<Option<Rc<ByBlock>>>,
    losses: Kept<Losses>,
    alike: OnceCell<Option<f64>>,
    levels_alike: RefCell<HashMap<String, Option<f64>>>,
}

impl<'a> Table<'a> {
    /// Returns the trials of `design` among the records.
    pub fn new(design: &'a Design, records: impl IntoIterator<Item = &'a Record>) -> Self {
        let mut by_treatment: HashMap<&Treatment, Vec<&Record>> = HashMap::new();
        for record in records.into_iter().filter(|record| record.experiment == design.id) {
            by_treatment.entry(&record.treatment).or_default().push(record);
        }
        let (trials, controls, losses) = (Kept::default(), Kept::default(), Kept::default());
        Table {
            design,
            by_treatment,
            trials,
            controls,
            losses,
            alike: OnceCell::new(),
            levels_alike: RefCell::default(),
        }
    }

    /// Returns the correlation that the blocks of this experiment's numbers show, computed once.
    pub(crate) fn alike(&self, compute: impl FnOnce() -> Option<f64>) -> Option<f64> {
        *self.alike.get_or_init(compute)
    }

    /// Returns the correlation that the blocks of a response's levels show together, of all its treatments: a
    /// level may drift with the machine.
    pub(crate) fn levels_alike(&self, response: &str) -> Option<f64> {
        if let Some(known) = self.levels_alike.borrow().get(response) {
            return *known;
        }
        let levels = self.treatments().into_iter().map(|it| self.blocks(response, it));
        let levels: Vec<Vec<f64>> = levels.map(|blocks| blocks.into_values().collect()).collect();
        let found = shared_correlation(&levels.iter().map(Vec::as_slice).collect::<Vec<_>>());
        self.levels_alike.borrow_mut().insert(response.to_string(), found);
        found
    }

    /// Returns all records of a treatment, whatever their outcome, in the order of the session.
    pub fn records(&self, treatment: &Treatment) -> &[&'a Record] {
        self.by_treatment.get(treatment).map_or(&[], Vec::as_slice)
    }

    /// Returns the treatments that have a record, in order.
    pub fn treatments(&self) -> Vec<&'a Treatment> {
        let mut treatments: Vec<&Treatment> = self.by_treatment.keys().copied().collect();
        treatments.sort_unstable();
        treatments
    }

    /// Returns the treatments that a quantity needs, of those that have a record.
    pub(crate) fn needed(&self, quantity: &Quantity) -> Vec<Treatment> {
        let all: Vec<Treatment> = self.treatments().into_iter().cloned().collect();
        quantity.treatments(self.design, &all).into_iter().cloned().collect()
    }

    /// Returns block and value of each trial, before subtraction.
    fn raw(&self, response: &str, treatment: &Treatment) -> Rc<Vec<(u32, f64)>> {
        kept(&self.trials, response, treatment, || {
            let measured = of_corrected(response).unwrap_or(response);
            let center = center_of(self.design, measured);
            let elapsed =
                of_corrected(response).filter(|elapsed| !self.losses(elapsed, treatment).is_timed);
            let value = |it: &&Record| {
                let value = match elapsed {
                    None => trial_value(it, measured, center)?,
                    Some(elapsed) => self.corrected(it, elapsed)?,
                };
                Some((it.block, value))
            };
            Rc::new(self.records(treatment).iter().filter_map(value).collect())
        })
    }

    /// Returns the elapsed time of a trial and what others took from it; `None` where the trial lacks
    /// the number or its CPU time.
    fn taken(&self, record: &Record, response: &str) -> Option<(f64, Option<Taken>)> {
        let value = trial_value(record, response, center_of(self.design, response))?;
        let twin = self.design.response(response)?.cpu_twin.as_deref()?;
        let twin = trial_value(record, twin, center_of(self.design, twin))?;
        Some((value, Taken::from(record, value, twin)))
    }

    /// Returns the elapsed time of a trial less what others took from it.
    pub(crate) fn corrected(&self, record: &Record, response: &str) -> Option<f64> {
        let (value, taken) = self.taken(record, response)?;
        Some(taken.map_or(value, |taken| value * taken.left()))
    }

    /// Returns what others took from the trials of a treatment.
    pub(crate) fn losses(&self, response: &str, treatment: &Treatment) -> Losses {
        kept(&self.losses, response, treatment, || {
            let records = self.records(treatment).iter();
            let own = records.filter_map(|it| Some((*it, self.taken(it, response)?)));
            let (trials, times): (Vec<_>, Vec<_>) =
                own.map(|(record, (value, taken))| ((record, taken), (value, taken))).unzip();
            let losses = Losses::among(&trials);
            if is_timed(&times) { losses.of_timed() } else { losses }
        })
    }

    /// Returns the value of the control to subtract, by block; `None` if nothing is subtracted.
    ///
    /// The control itself keeps its value: it is a treatment that one may ask for.
    pub(crate) fn control(&self, response: &str, treatment: &Treatment) -> Option<Rc<ByBlock>> {
        let design = self.design.response(of_corrected(response).unwrap_or(response))?;
        let cell = design.subtract.as_ref()?;
        kept(&self.controls, response, treatment, || {
            let control = treatment.with(cell);
            (control != *treatment).then(|| Rc::new(block_means(&self.raw(response, &control))))
        })
    }

    /// Returns block and number of each trial, with the control of the same block subtracted where the
    /// response asks for it. Never clamped; a trial whose block lacks the control gives no number.
    fn trials_by_block(&self, response: &str, treatment: &Treatment) -> Vec<(u32, f64)> {
        let raw = self.raw(response, treatment);
        match self.control(response, treatment) {
            None => raw.to_vec(),
            Some(control) => raw
                .iter()
                .filter_map(|(block, value)| Some((*block, value - control.get(block)?)))
                .collect(),
        }
    }

    /// Returns one number per trial, as [`Table::trials_by_block`].
    pub(crate) fn trials(&self, response: &str, treatment: &Treatment) -> Vec<f64> {
        self.trials_by_block(response, treatment).into_iter().map(|(_, value)| value).collect()
    }

    /// Returns the name of a treatment's corrected numbers where its row shows these: others took elapsed
    /// time from its trials or from those of the control that is subtracted, and it is known how much.
    pub fn carrier(&self, response: &Response, treatment: &Treatment) -> Option<String> {
        response.cpu_twin.as_ref()?;
        let control = response.subtract.as_ref().map(|cell| treatment.with(cell));
        let mut behind = vec![self.losses(&response.name, treatment)];
        behind.extend(control.map(|control| self.losses(&response.name, &control)));
        let is_corrected =
            behind.iter().any(|it| it.disturbed.shifts()) && behind.iter().all(|it| it.is_known);
        is_corrected.then(|| corrected(&response.name))
    }

    /// Returns the number of a response at a treatment: how often it happened if the design asks that
    /// ([`Design::is_frequency`]), else the median over trials. It is exact where it is computed and all
    /// trials have the same.
    /// `carrier` is the name of the numbers that stand in for the response's own.
    pub fn estimate(
        &self,
        response: &Response,
        carrier: Option<&str>,
        treatment: &Treatment,
    ) -> Option<Estimate> {
        if self.design.is_frequency(&response.name) {
            let trials = self.records(treatment).iter();
            let tallies: Vec<Tally> = trials.map(|record| tally(record, &response.name)).collect();
            return Some(Frequency::over(&tallies, response.independent)?.estimate());
        }
        let name = carrier.unwrap_or(&response.name);
        let values = self.trials(name, treatment);
        let (first, rest) = values.split_first()?;
        if response.exact && rest.iter().all(|value| value == first) {
            return Some(Estimate::exactly(*first, values.len() as u32));
        }
        let alike = if response.exact { None } else { self.levels_alike(name) };
        let located = median_located(&values)?;
        Some(located.drifting(alike).estimate(|value| value))
    }

    /// Returns one number per block: the mean of the block's trials, less the control.
    pub(crate) fn blocks(&self, response: &str, treatment: &Treatment) -> ByBlock {
        let blocks = block_means(&self.raw(response, treatment));
        match self.control(response, treatment) {
            Some(control) => less(&blocks, &control),
            None => blocks,
        }
    }
}

/// Returns the treatments of a response that have a logarithm in every block, with their numbers.
pub(crate) fn logarithms<'a>(table: &Table<'a>, response: &str) -> Vec<(&'a Treatment, ByBlock)> {
    let column = |treatment: &'a Treatment| {
        let mut values = table.blocks(response, treatment);
        let fine = |value: &f64| *value > 0.0 && value.is_finite();
        if values.is_empty() || !values.values().all(fine) {
            return None;
        }
        values.values_mut().for_each(|value| *value = value.ln());
        Some((treatment, values))
    };
    table.treatments().into_iter().filter_map(column).collect()
}

/// Returns one column less another, in the blocks that have both.
pub(crate) fn less(column: &ByBlock, other: &ByBlock) -> ByBlock {
    column.iter().filter_map(|(block, value)| Some((*block, value - other.get(block)?))).collect()
}

fn block_means(trials: &[(u32, f64)]) -> ByBlock {
    let mut sums: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    for (block, value) in trials {
        let sum = sums.entry(*block).or_default();
        *sum = (sum.0 + value, sum.1 + 1.0);
    }
    sums.into_iter().map(|(block, (sum, count))| (block, sum / count)).collect()
}

#[cfg(test)]
mod tests;
