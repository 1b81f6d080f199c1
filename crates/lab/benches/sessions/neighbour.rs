//! A neighbour that takes the CPUs in bursts.
//!
//! A process computes for a random time and sleeps for a random time, both exponentially distributed
//! with the same mean: it takes half of a CPU, in bursts that are longer than a time slice and
//! shorter than a session.

use anyhow::Context;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The first argument that makes the benchmark's binary a neighbour.
pub(crate) const ROLE: &str = "__neighbour";

/// The mean time of a burst, and of the silence between two.
pub(crate) const MEAN: Duration = Duration::from_millis(50);

/// No time is longer: an exponential one may be anything.
const TIMES_MEAN_MAX: f64 = 20.0;

/// Whom the sessions have beside them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nobody.
    None,
    /// One process on each CPU.
    Bursts,
    /// One process on the CPU where the scheduler puts it.
    One,
}

impl Kind {
    pub(crate) const ALL: [Self; 3] = [Kind::None, Kind::Bursts, Kind::One];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::None => "none",
            Kind::Bursts => "bursts",
            Kind::One => "one",
        }
    }
}

/// The processes, which end with this value, and with this process however it ends.
pub(crate) struct Neighbour(Vec<Child>);

impl Neighbour {
    /// Starts the processes; `None` where there are to be none.
    pub(crate) fn start(kind: Kind, seed: u64) -> anyhow::Result<Option<Self>> {
        let allowed = sys::affinity::allowed()?;
        let places: Vec<Vec<u32>> = match kind {
            Kind::None => return Ok(None),
            Kind::Bursts => allowed.iter().map(|cpu| vec![*cpu]).collect(),
            Kind::One => vec![allowed],
        };
        let own = std::env::current_exe()?;
        // Filled one by one, so that those which were started end if one cannot be.
        let mut neighbour = Neighbour(Vec::new());
        for (number, cpus) in places.iter().enumerate() {
            let child = Command::new(&own)
                .arg(ROLE)
                .args(
                    [(seed << 20) + number as u64, u64::try_from(sys::process::pid())?]
                        .map(|word| word.to_string()),
                )
                .args(cpus.iter().map(u32::to_string))
                .stdin(Stdio::null())
                .spawn()
                .context("cannot start a neighbour")?;
            neighbour.0.push(child);
        }
        Ok(Some(neighbour))
    }

    /// Whether all are still there.
    pub(crate) fn is_alive(&mut self) -> bool {
        self.0.iter_mut().all(|child| matches!(child.try_wait(), Ok(None)))
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The life of one: ends with its parent.
pub(crate) fn serve(words: &[String]) -> anyhow::Result<()> {
    let number = |at: usize| words.get(at).and_then(|word| word.parse::<u64>().ok());
    let seed = number(0).context("wants a seed")?;
    let parent = i32::try_from(number(1).context("wants its parent")?)?;
    let cpus: Vec<u32> = words.iter().skip(2).map(|word| word.parse()).collect::<Result<_, _>>()?;
    sys::process::die_with_parent(parent)?;
    sys::affinity::pin(&cpus)?;
    let mut random = Random(seed);
    loop {
        let (burst, silence) = (random.time(), random.time());
        let begun = Instant::now();
        while begun.elapsed() < burst {
            std::hint::spin_loop();
        }
        std::thread::sleep(silence);
    }
}

/// Steele, Lea and Flood, *Fast splittable pseudorandom number generators*, OOPSLA 2014.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// An exponential time of mean [`MEAN`], by inversion.
    pub(crate) fn time(&mut self) -> Duration {
        // 53 bits, never 0.
        let uniform = ((self.next() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
        MEAN.mul_f64((-uniform.ln()).clamp(0.0, TIMES_MEAN_MAX))
    }
}
