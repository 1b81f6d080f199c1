//! The process-and-thread study: the same work done by N threads and by N processes.

mod work;

use crate::support::storage::{self, Storage};
use kit::model::Profile;
use kit::workers::{Crew, Fate, MODEL_LEVELS, Model, crew};
use kit::{Result, Stop, Trial, per_second, ppm};
use sys::pages::{Huge, Mapping};
use sys::task::Pid;
use work::{Amount, FILE_BYTES, Place, WORKERS, Way, Work, expected_sum, labour};

experiment!("workers", "workers.toml");

/// Memory beside the buffers: the trial itself and its workers' stacks and page tables.
const SPARE_BYTES: u64 = 64 << 20;

/// Workers that live together for less than this share of the time hardly meet.
const OVERLAP_MIN: f64 = 0.5;

/// The levels of the factor `affinity`: all workers are on one CPU, or wherever the scheduler puts
/// them.
const AFFINITIES: [(&str, bool); 2] = [("one", true), ("free", false)];

/// The levels of the factor `files`: each worker writes a file of its own, or all the same.
const FILES: [(&str, bool); 2] = [("own", false), ("shared", true)];

/// What one trial is to do.
#[derive(Debug)]
struct Plan {
    model: Model,
    work: Work,
    count: usize,
    on_one_cpu: bool,
    one_file: bool,
    amount: Amount,
    seed: u64,
}

fn trial(trial: &mut Trial) -> Result<()> {
    let plan = Plan::read(trial)?;
    let storage = plan.prepare(trial)?;
    let allowed = plan.pin(trial)?;
    let before = Behind::now(storage.as_ref());
    let places: Vec<Place> = (0..plan.count).map(|index| plan.place(index)).collect();
    trial.begin()?;
    let mut memory = Ok(Held::default());
    let crew = crew(
        plan.model,
        plan.count,
        &allowed,
        |worker| labour(worker, plan.work, &plan.amount, &places[worker.index], plan.seed),
        |pids| memory = Held::of(pids),
    )?;
    trial.end()?;
    plan.must_have_worked(&crew)?;
    let memory = memory?;
    let behind = Behind::now(storage.as_ref()).since(&before);
    plan.record_time(trial, &crew);
    plan.record_waiting(trial, &crew);
    plan.record_storage(trial, &crew, behind);
    trial.record_one("pss_bytes", memory.pss_bytes as i64);
    trial.record_one("rss_bytes", memory.rss_bytes as i64);
    trial.record_one("uss_bytes", memory.uss_bytes as i64);
    plan.check(trial, &crew, &memory);
    Ok(())
}

impl Plan {
    fn read(trial: &Trial) -> Result<Self> {
        let work = trial.pick("worker", &WORKERS)?;
        Ok(Plan {
            model: trial.pick("model", &MODEL_LEVELS)?,
            work,
            count: trial.number("count")? as usize,
            on_one_cpu: trial.pick("affinity", &AFFINITIES)?,
            one_file: trial.pick("files", &FILES)?,
            amount: Amount::of(work, trial.spec().profile),
            seed: trial.spec().seed,
        })
    }

    fn footprint_bytes(&self) -> u64 {
        self.count as u64 * self.amount.held_bytes(self.work)
    }

    /// Warms the memory, or lays out the files.
    fn prepare(&self, trial: &mut Trial) -> Result<Option<Storage>> {
        trial.need_tasks(self.count)?;
        let way = match self.work {
            Work::Cpu => return Ok(None),
            Work::Memory(_) => {
                trial.need_memory(self.footprint_bytes() + SPARE_BYTES)?;
                warm(self.footprint_bytes() as usize, trial.spec().cpus.len())?;
                return Ok(None);
            }
            Work::Files(way) => way,
        };
        let storage = Storage::of(trial)?;
        storage.need_bytes(self.count as u64 * self.amount.file_bytes(way))?;
        if matches!(way, Way::Synchronous | Way::Committed) {
            storage.need_device()?;
        }
        let files = if self.one_file { 1 } else { self.count };
        // What is appended to begins empty.
        let in_all = if way == Way::Flushed { 0 } else { FILE_BYTES * self.count as u64 };
        for index in 0..files {
            storage::lay_out(&self.place(index).path, in_all / files as u64)?;
        }
        Ok(Some(storage))
    }

    /// A worker's part of the files.
    fn place(&self, index: usize) -> Place {
        if self.one_file {
            return Place { path: "file-shared".into(), offset_bytes: FILE_BYTES * index as u64 };
        }
        Place { path: format!("file-{index}").into(), offset_bytes: 0 }
    }

    /// Confines the maker, and so all workers, and returns the CPUs they are to stay on.
    fn pin(&self, trial: &mut Trial) -> Result<Vec<u32>> {
        if self.on_one_cpu {
            return Ok(vec![trial.pin_to_one()?]);
        }
        trial.need_cpus(2)?;
        let cpus = trial.spec().cpus.clone();
        trial.pin(&cpus)?;
        Ok(cpus)
    }

    /// A crew that did not do its work measured something else.
    fn must_have_worked(&self, crew: &Crew) -> Result<()> {
        let refused = crew.count(Fate::Refused) + crew.count(Fate::NotMade);
        kit::require!(
            refused == 0,
            "{refused} of {} workers were refused what they asked for; a limit on processes, \
                 address space or memory (ulimit -u, ulimit -v, a cgroup) is too low",
            self.count
        );
        let failed = crew.count(Fate::Failed) + crew.count(Fate::Killed);
        kit::ensure!(failed == 0, "{failed} of {} workers failed or died", self.count);
        Ok(())
    }

    fn record_time(&self, trial: &mut Trial, crew: &Crew) {
        let counters = trial.counters_mut();
        counters.wall_ns = crew.wall_ns;
        let used_ns = counters.user_ns.zip(counters.system_ns).map(|(user, system)| user + system);
        let wall_ns = crew.wall_ns.max(1);
        trial.record_one("wall_ns", wall_ns as i64);
        if let Some(used_ns) = used_ns {
            let cpu_ns = used_ns.saturating_sub(crew.watch_cpu_ns);
            trial.record_one("cpu_ns", cpu_ns as i64);
            trial.record_one("cpu_ppm", ppm(cpu_ns, wall_ns));
            if self.could_escape(trial) {
                trial.record_one("confined_cpu_ppm", ppm(cpu_ns, wall_ns));
            }
        }
        trial.record_one("work_ns", crew.work_ns.max(1) as i64);
        let work_cpu_ns: u64 = crew.reports.iter().map(|report| report.life.cpu_ns).sum();
        trial.record_one("work_cpu_ns", work_cpu_ns as i64);
        let needs_only_cpu = !matches!(self.work, Work::Files(_));
        if needs_only_cpu && self.on_one_cpu {
            trial.record_one("compute_ns", wall_ns as i64);
        }
        let lives = crew.reports.iter().map(|report| report.life.wall_ns());
        trial.record_all("per_worker_ns", 1, lives);
        if self.count > 1 {
            trial.record_one("overlap_ppm", crew.together_ppm());
        }
    }

    /// Whether the workers are confined and there is somewhere else to be found.
    fn could_escape(&self, trial: &Trial) -> bool {
        self.on_one_cpu && trial.spec().cpus.len() > 1
    }

    fn record_waiting(&self, trial: &mut Trial, crew: &Crew) {
        let queue_wait_ns = crew.reports.iter().map(|report| report.life.queue_wait_ns).sum();
        trial.counters_mut().queue_wait_ns = queue_wait_ns;
        trial.record_known("queue_wait_ns", queue_wait_ns);
        let voluntary: u64 = crew.reports.iter().map(|report| report.life.sleeps).sum();
        let involuntary: u64 = crew.reports.iter().map(|report| report.involuntary_switches).sum();
        // The maker's own sleep is no wait of the work.
        trial.counters_mut().voluntary_switches = Some(voluntary);
        trial.record_one("voluntary_switches_count", voluntary as i64);
        trial.record_one("involuntary_switches_count", involuntary as i64);
        if self.could_escape(trial) {
            let escaped = crew.reports.iter().map(|report| i64::from(report.escaped)).collect();
            trial.record("escaped_count", 1, escaped);
        }
        if matches!(self.work, Work::Files(_)) {
            let writes: u64 = crew.reports.iter().map(|report| report.work).sum();
            trial.record("blocked_count", writes.max(1), vec![voluntary as i64]);
        }
    }

    fn record_storage(&self, trial: &mut Trial, crew: &Crew, behind: (Option<u64>, Option<u64>)) {
        if !matches!(self.work, Work::Files(_)) {
            return;
        }
        let written_bytes = trial.counters_mut().write_bytes;
        trial.record_known("written_bytes", written_bytes);
        let (device_bytes, kernel_wait_ns) = behind;
        trial.record_known("device_bytes", device_bytes);
        trial.record_known("kernel_queue_wait_ns", kernel_wait_ns);
        let writes: u64 = crew.reports.iter().map(|report| report.work).sum();
        trial.record_one("writes_per_s", per_second(writes, crew.work_ns));
    }

    fn check(&self, trial: &mut Trial, crew: &Crew, memory: &Held) {
        // More workers than CPUs take turns, so that some begin late and end late by themselves.
        let cpus = if self.on_one_cpu { 1 } else { trial.spec().cpus.len() };
        if (2..=cpus).contains(&self.count) && trial.spec().profile >= Profile::Quick {
            trial.check_cpus("workers_overlap", crew.together_ppm() as f64 / 1e6, OVERLAP_MIN, 1.0);
        }
        let all = self.count as f64;
        trial.check("workers_done", crew.count(Fate::Done) as f64, all, all);
        let units: u64 = crew.reports.iter().map(|report| report.work).sum();
        let expected = all * self.amount.expected(self.work) as f64;
        trial.check("work_units", units as f64, expected, expected);
        if self.work == Work::Cpu {
            // The loop was run and not removed: every worker's sum is what the arithmetic says.
            let wrong = crew.reports.iter().enumerate().filter(|(index, report)| {
                let expected = expected_sum(*index, self.amount.expected(self.work));
                (f64::from_bits(report.result) - expected).abs() > 1e-6 * expected.abs().max(1.0)
            });
            trial.check("sums_wrong", wrong.count() as f64, 0.0, 0.0);
        }
        if matches!(self.work, Work::Memory(_)) {
            let asked = self.footprint_bytes() as f64;
            trial.check("memory_held_bytes", memory.pss_bytes as f64, asked, asked * 1.2 + 64e6);
        }
        if self.on_one_cpu {
            let escaped = crew.reports.iter().filter(|report| report.escaped).count();
            trial.check("workers_escaped", escaped as f64, 0.0, 0.0);
        }
    }
}

/// What happens behind a write, out of the workers' sight: in the device, and in the kernel's own
/// threads.
#[derive(Debug)]
struct Behind {
    device_bytes: Option<u64>,
    kernel_waits: Option<sys::kworker::Waits>,
}

impl Behind {
    fn now(storage: Option<&Storage>) -> Self {
        Behind {
            device_bytes: storage.and_then(Storage::device_written_bytes),
            kernel_waits: storage.and_then(|_| sys::kworker::waits()),
        }
    }

    /// Bytes written to the device, and time that the kernel's workers waited for a CPU, in ns.
    fn since(&self, before: &Behind) -> (Option<u64>, Option<u64>) {
        let written = self.device_bytes.zip(before.device_bytes);
        let waits = self.kernel_waits.as_ref().zip(before.kernel_waits.as_ref());
        (
            written.map(|(now, then)| now.saturating_sub(then)),
            waits.map(|(now, then)| now.since_ns(then)),
        )
    }
}

/// Memory of the maker and all workers together.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    rss_bytes: u64,
    pss_bytes: u64,
    uss_bytes: u64,
}

impl Held {
    fn of(workers: &[Pid]) -> Result<Self> {
        let mut sum = Held::default();
        for pid in workers.iter().copied().chain([sys::process::pid()]) {
            let memory = sys::proc::memory(pid)?;
            sum.rss_bytes += memory.rss_bytes;
            sum.pss_bytes += memory.pss_bytes;
            sum.uss_bytes += memory.uss_bytes;
        }
        Ok(sum)
    }
}

/// Touches the whole footprint once and gives it back.
///
/// In a virtual machine a page that the guest has not used lately must first be fetched from the
/// host, which costs several times the page fault itself; without this the first worker, or the
/// eighth, would pay for it. It is done on all CPUs at once only to be quick, but in pages of the
/// size that the workers use: the allocator takes small pages from other free memory than huge
/// ones, and that must also be warm.
fn warm(bytes: usize, cpus: usize) -> Result<()> {
    let share = bytes.div_ceil(cpus.max(1));
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..cpus.max(1)).map(|_| scope.spawn(move || touch_once(share))).collect();
        // All of them hold their part until the last is done, so that no page is touched twice.
        let held: Vec<_> = threads.into_iter().map(|thread| thread.join()).collect();
        for part in held {
            part.map_err(|_| Stop::failed("warming the memory panicked"))??;
        }
        Ok(())
    })
}

fn touch_once(bytes: usize) -> Result<Mapping> {
    let mut mapping = Mapping::new(bytes, Huge::Never)
        .map_err(|error| Stop::unsupported(format!("{error}: warming the memory was refused")))?;
    mapping.touch(work::STRIDE_BYTES);
    Ok(mapping)
}

#[cfg(test)]
mod tests {
    use super::{AFFINITIES, FILES, WORKERS, design};
    use kit::workers::MODEL_LEVELS;

    #[test]
    fn every_level_has_its_code() {
        let design = design();
        crate::check_levels(&design, "model", &MODEL_LEVELS);
        crate::check_levels(&design, "worker", &WORKERS);
        crate::check_levels(&design, "affinity", &AFFINITIES);
        crate::check_levels(&design, "files", &FILES);
    }
}
