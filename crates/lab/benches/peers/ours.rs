//! Our own numbers: trials conducted as a session conducts them.

use super::definitions;
use anyhow::Context;
use kit::Experiment;
use model::{Cell, Design, Profile, Record, Treatment};
use runner::{Order, Runner, Settings};
use std::collections::BTreeMap;

/// What only this benchmark knows.
pub(crate) const OWN: &[Experiment] = &[definitions::EXPERIMENT];

/// One of our numbers: an experiment, its response, and where.
#[derive(Clone, Debug)]
pub(crate) struct Mine {
    pub(crate) experiment: &'static str,
    pub(crate) response: &'static str,
    pub(crate) at: Cell,
}

/// The runner with the trials it conducted so far.
pub(crate) struct Ours {
    runner: Runner,
    designs: BTreeMap<&'static str, Design>,
    all: Vec<u32>,
    records: Vec<Record>,
    // Removed last.
    scratch: Scratch,
}

/// A folder of ours among the temporary files.
struct Scratch(std::path::PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Ours {
    /// Raises the shield.
    pub(crate) fn start() -> anyhow::Result<Self> {
        let all = sys::affinity::allowed()?;
        let name = format!("scruple-peers-{}", sys::process::pid());
        let scratch = Scratch(std::env::temp_dir().join(name));
        let runner = Runner::start(Settings {
            seed: sys::clock::unix_ms(),
            profile: Profile::Standard,
            cpus: all.clone(),
            topology: kit::topology(),
            memory_bytes: 256 << 20,
            disk_bytes: 1 << 20,
            scratch: scratch.0.clone(),
            shield: true,
        })?;
        let known = experiments::CATALOG.iter().chain(OWN);
        let designs = known.map(|experiment| (experiment.id, (experiment.design)())).collect();
        Ok(Ours { runner, designs, all, records: Vec::new(), scratch })
    }

    /// The CPU of the trials, and of the tools beside them.
    pub(crate) fn cpu(&self) -> u32 {
        self.all.last().copied().unwrap_or(0)
    }

    /// A folder for what the tools write.
    pub(crate) fn scratch(&self) -> anyhow::Result<&std::path::Path> {
        std::fs::create_dir_all(&self.scratch.0)?;
        Ok(&self.scratch.0)
    }

    /// Half of the second cache, as the experiment `switch` understands it.
    pub(crate) fn half_l2_bytes(&self) -> Option<usize> {
        let caches = sys::topology::caches(self.cpu());
        let second = caches.iter().find(|cache| cache.level == 2 && cache.holds_data())?;
        Some(second.size_bytes as usize / 2)
    }

    fn design(&self, experiment: &str) -> anyhow::Result<&Design> {
        self.designs
            .get(experiment)
            .with_context(|| format!("no experiment is called {experiment}"))
    }

    /// The treatments that some numbers need, their controls among them, each once.
    pub(crate) fn treatments<'a>(
        &self,
        numbers: impl IntoIterator<Item = &'a Mine>,
    ) -> anyhow::Result<Vec<(&'static str, Treatment)>> {
        let mut all = Vec::new();
        for number in numbers {
            let design = self.design(number.experiment)?;
            let response = design.response(number.response);
            let response = response.with_context(|| format!("no response {}", number.response))?;
            let treatment = design.complete(&number.at);
            let control = response.subtract.as_ref().map(|control| treatment.with(control));
            for one in [Some(treatment), control].into_iter().flatten() {
                if !all.contains(&(number.experiment, one.clone())) {
                    all.push((number.experiment, one));
                }
            }
        }
        Ok(all)
    }

    /// One trial of each treatment, in the random order of this round.
    pub(crate) fn conduct(
        &mut self,
        round: u32,
        treatments: &[(&'static str, Treatment)],
    ) -> anyhow::Result<()> {
        let seed = self.runner.settings().seed;
        let mut experiments: Vec<&str> = treatments.iter().map(|(id, _)| *id).collect();
        experiments.dedup();
        for id in experiments {
            let own = treatments.iter().filter(|(of, _)| *of == id);
            let own: Vec<Treatment> = own.map(|(_, treatment)| treatment.clone()).collect();
            for treatment in runner::order(seed, id, round, &own, &[]) {
                let order = Order {
                    design: self.designs.get(id).context("its design is gone")?,
                    treatment: &treatment,
                    trial: self.records.len() as u64,
                    block: round,
                    position: 0,
                    until: None,
                };
                let record = self.runner.conduct(&order)?.context("interrupted")?;
                if !matches!(record.outcome, model::Outcome::Completed { .. }) {
                    eprintln!("{id}, {treatment}: {:?}", record.outcome);
                }
                self.records.push(record);
            }
        }
        Ok(())
    }

    /// Runs something else on the trials' CPU: what is started there inherits it.
    pub(crate) fn beside<T>(&self, work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
        sys::affinity::pin(&[self.cpu()])?;
        let done = work();
        sys::affinity::pin(&self.all)?;
        done
    }

    /// One number per round, with the control subtracted where there is one.
    pub(crate) fn values(&self, number: &Mine) -> anyhow::Result<BTreeMap<u32, f64>> {
        let design = self.design(number.experiment)?;
        let own = self.records.iter().filter(|record| record.experiment == number.experiment);
        let mut samples = analysis::samples(design, own, number.response);
        Ok(samples.remove(&design.complete(&number.at)).unwrap_or_default().into_iter().collect())
    }

    /// Manipulation checks that failed, each with the number of trials.
    pub(crate) fn failed_checks(&self) -> BTreeMap<String, u32> {
        let mut failed = BTreeMap::new();
        for record in &self.records {
            let checks = record.measured.iter().flat_map(|measured| &measured.checks);
            for check in checks.filter(|check| check.seen < check.low || check.seen > check.high) {
                *failed.entry(format!("{}: {}", record.experiment, check.name)).or_insert(0) += 1;
            }
        }
        failed
    }
}
