//! Our own numbers: trials of the experiment `switch`, conducted as a session conducts them.

use anyhow::Context;
use model::{Cell, Design, Profile, Record, Treatment};
use runner::{Order, Runner, Settings};

/// The runner with the trials it conducted so far.
pub(crate) struct Ours {
    runner: Runner,
    design: Design,
    treatments: Vec<Treatment>,
    all: Vec<u32>,
    records: Vec<Record>,
    // Removed last.
    _scratch: Scratch,
}

/// A folder of ours among the temporary files.
struct Scratch(std::path::PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Ours {
    /// Raises the shield and plans the treatments.
    pub(crate) fn start() -> anyhow::Result<Self> {
        let known = experiments::CATALOG.iter().find(|experiment| experiment.id == "switch");
        let design = (known.context("the catalog has no experiment switch")?.design)();
        let all = sys::affinity::allowed()?;
        let name = format!("scruple-switch-peers-{}", sys::process::pid());
        let scratch = Scratch(std::env::temp_dir().join(name));
        let runner = Runner::start(Settings {
            seed: sys::clock::unix_ms(),
            profile: Profile::Standard,
            cpus: all.clone(),
            memory_bytes: 256 << 20,
            disk_bytes: 1 << 20,
            scratch: scratch.0.clone(),
            shield: true,
        })?;
        let kinds = ["ring", "single", "self"];
        let sizes = ["none", "half_l2"];
        let cell = |kind, size| Cell::new([("kind", kind), ("working_set", size)]);
        let processes = sizes.iter().flat_map(|size| kinds.map(|kind| cell(kind, *size)));
        let threads = ["ring", "single"].map(|kind| cell(kind, "none").with("model", "thread"));
        let treatments = processes.chain(threads).map(|cell| design.complete(&cell)).collect();
        Ok(Ours { runner, design, treatments, all, records: Vec::new(), _scratch: scratch })
    }

    /// The CPU of the trials, and of the tools beside them.
    pub(crate) fn cpu(&self) -> u32 {
        self.all.last().copied().unwrap_or(0)
    }

    /// Half of the second cache, as the experiment understands it.
    pub(crate) fn half_l2_bytes(&self) -> Option<usize> {
        let caches = sys::topology::caches(self.cpu());
        let second = caches.iter().find(|cache| cache.level == 2 && cache.holds_data())?;
        Some(second.size_bytes as usize / 2)
    }

    /// One trial of each treatment, in the block's random order.
    pub(crate) fn conduct_block(&mut self, block: u32) -> anyhow::Result<()> {
        let seed = self.runner.settings().seed;
        for treatment in runner::order(seed, &self.design.id, block, &self.treatments) {
            let order = Order {
                design: &self.design,
                treatment: &treatment,
                trial: self.records.len() as u64,
                block,
                position: 0,
            };
            let record = self.runner.conduct(&order)?.context("interrupted")?;
            if !matches!(record.outcome, model::Outcome::Completed { .. }) {
                eprintln!("{treatment}: {:?}", record.outcome);
            }
            self.records.push(record);
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

    /// Blocks so far.
    pub(crate) fn blocks(&self) -> usize {
        self.records.len() / self.treatments.len()
    }

    /// One number per block, in the blocks' order, with the control subtracted where there is one.
    pub(crate) fn values(&self, response: &str, at: &Cell) -> anyhow::Result<Vec<f64>> {
        let mut samples = analysis::samples(&self.design, &self.records, response);
        let mut trials = samples.remove(&self.design.complete(at)).unwrap_or_default();
        trials.sort_by_key(|(block, _)| *block);
        if trials.len() != self.blocks() {
            anyhow::bail!("{response}: {} of {} trials tell it", trials.len(), self.blocks());
        }
        Ok(trials.into_iter().map(|(_, value)| value).collect())
    }

    /// The definitions side by side.
    pub(crate) fn definitions(&self) -> [(&'static str, &'static str, Cell); 6] {
        let none = || Cell::new([("kind", "ring"), ("working_set", "none")]);
        [
            ("a hop, nothing subtracted", "hop_ns", none()),
            ("scruple: one way, the same footprint subtracted", "switch_ns", none()),
            ("lmbench: one way, one buffer subtracted", "lat_ctx_ns", none()),
            ("perf bench sched pipe: a round trip, hot", "round_trip_ns", none()),
            ("LEBench: a round trip, the first 1000", "lebench_ns", none()),
            ("a round trip, the very first", "first_trip_ns", none()),
        ]
    }
}
