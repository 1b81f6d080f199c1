use crate::{Estimate, WaitKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The factor that says how many workers there are.
pub const SCALE_WORKERS: &str = "n";

/// The factor that says how many copies of the program, with one worker each, run at once.
pub const SCALE_COPIES: &str = "copies";

/// The factor that says on which CPUs the program runs: `all` of the session's, or `one`.
pub const SCALE_PLACEMENT: &str = "placement";

/// The response in which a program says how much work it did.
pub const SCALE_WORK: &str = "work";

/// What `scruple scale` says: how throughput follows the number of workers, where the rest of the
/// speedup went, why, and what to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scaling {
    /// Version of the scruple that analysed.
    pub scruple: String,
    /// The session's name; null for data that were measured elsewhere.
    pub session: Option<String>,
    /// The command with `{n}` in it, or the name of the file.
    pub source: String,
    /// How many CPUs the workers could use; null where nobody said.
    pub cpus: Option<u32>,
    /// What throughput counts.
    pub work: ScaleWork,
    /// The answer in plain sentences, the most important first.
    pub answer: Vec<String>,
    /// What to do.
    pub advice: ScaleAdvice,
    /// Why it does not scale further, the first being what costs most within the CPUs.
    pub causes: Vec<ScaleCause>,
    /// What was measured, by rising n.
    pub levels: Vec<ScaleLevel>,
    /// Throughput, work per elapsed time, over n.
    pub throughput: ScaleCurve,
    /// Work per CPU time over n; null where CPU time is not known.
    pub cpu_throughput: Option<ScaleCurve>,
    /// What a reader should know before believing it.
    pub remarks: Vec<String>,
}

/// What throughput counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScaleWork {
    /// What a unit of throughput is: `1/s` where the whole command is the work.
    pub unit: String,
    /// Whether the program says itself how much it did; otherwise each trial is taken to do the
    /// same, whatever n is.
    pub counted: bool,
    /// Whether the work grows with n (Gustafson's case).
    pub grows: bool,
}

/// One number of workers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScaleLevel {
    /// How many workers.
    pub n: f64,
    /// Trials that completed.
    pub trials: u32,
    /// Work per second: the mean of the trials.
    pub throughput: Option<Estimate>,
    /// Work per second of CPU time; null where CPU time is not known.
    pub cpu_throughput: Option<Estimate>,
    /// Throughput over that of one worker; null without one.
    pub speedup: Option<Estimate>,
    /// Where the time of the n workers went; null where it was not seen.
    pub account: Option<ScaleAccount>,
}

/// Where the time of n workers went: n times the elapsed time is the whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScaleAccount {
    /// The whole: n times the elapsed time per unit of work, in ns; the mean of the trials.
    pub budget_ns: f64,
    /// Its parts, with what they leave over last, each as a share of the whole. They sum to 1.
    pub parts: Vec<ScalePart>,
    /// The sum of all parts but the rest.
    pub explained: f64,
    /// What blocked workers waited for, the longest first; empty where nobody looked.
    pub waits: Vec<ScaleWait>,
}

/// One thing that blocked workers waited for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScaleWait {
    /// What kind of thing.
    pub kind: WaitKind,
    /// Its name; empty where it has none.
    pub what: String,
    /// The function of the program that waited; empty where it is not known.
    pub place: String,
    /// Who held or kept it; empty where it is not known.
    pub holder: String,
    /// Its share of the whole of the workers' time: the mean of the trials. Looks that found a thread
    /// waiting for it bound the interval also.
    pub share: Estimate,
    /// The number of these looks.
    pub looks: u32,
}

/// How well a cause is founded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Founding {
    /// An experiment removed or changed it, and throughput followed; or the kernel counted it.
    Confirmed,
    /// What was measured and what was seen agree with it.
    Consistent,
    /// Timing alone points to it.
    Suspected,
}

/// A part of the workers' time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScalePart {
    /// What it went into.
    pub into: ScaleLoss,
    /// Its share of the whole; the mean of the trials. Below 0 where it is a gain.
    pub share: Estimate,
}

/// What the time of workers goes into.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ScaleLoss {
    /// The CPU time that one worker needed for the same work.
    Useful,
    /// CPU time beyond that.
    MoreCpu,
    /// Waiting for a CPU while a quota held the program back.
    Throttled,
    /// Waiting for a CPU.
    Waiting,
    /// A worker was there, and neither ran nor waited for a CPU.
    Blocked,
    /// There were fewer workers than n.
    Absent,
    /// On no CPU: waiting, blocked and absent could not be distinguished.
    OffCpu,
    /// What the parts leave over; below 0 where a time was counted twice.
    Rest,
}

/// A throughput over n, with the laws that were fitted to it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScaleCurve {
    /// The laws, the simplest first.
    pub fits: Vec<ScaleFit>,
    /// The name of the chosen one; null where none could be fitted.
    pub chosen: Option<String>,
    /// Why it was chosen, or why none was.
    pub reason: String,
    /// How intervals were formed: `bootstrap` of trials, or Student's `t`.
    pub intervals: String,
    /// Where throughput is greatest.
    pub peak: ScalePeak,
    /// The chosen curve, at more n than were measured.
    pub curve: Vec<ScaleDrawn>,
}

/// A law fitted to the trials.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScaleFit {
    /// Its name: `linear`, `Gustafson`, `Amdahl`, `kink`, `universal`, `kink with contention`.
    pub law: String,
    /// Its formula.
    pub formula: String,
    /// Its numbers; none where it could not be fitted.
    pub coefficients: Vec<ScaleCoefficient>,
    /// The corrected criterion of Akaike; null with too few trials.
    pub aicc: Option<f64>,
    /// The probability of its lack of fit if it is true; null without replicates.
    pub lack_of_fit_p: Option<f64>,
    /// Whether replicates refute it.
    pub refuted: bool,
    /// Why it could not be fitted; empty where it was.
    pub missing: String,
    /// What it leaves of the mean at each n, as a share of the curve: n and the residual.
    pub residuals: Vec<ScaleResidual>,
}

/// A number of a law.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScaleCoefficient {
    /// Its letter.
    pub symbol: String,
    /// What it stands for.
    pub meaning: String,
    /// Its estimate.
    pub value: f64,
    /// Lower end of the 95 % interval.
    pub low: f64,
    /// Upper end of the 95 % interval.
    pub high: f64,
}

/// What a curve leaves of what was measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScaleResidual {
    /// The number of workers.
    pub n: f64,
    /// The mean of the trials less the curve, as a share of the curve.
    pub share: f64,
}

/// Where a throughput is greatest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScalePeak {
    /// The n; null where there is none up to the largest n measured.
    pub n: Option<f64>,
    /// Lower end of the 95 % interval.
    pub low: Option<f64>,
    /// Upper end; null where it is open or beyond the largest n measured.
    pub high: Option<f64>,
    /// The same in words.
    pub sentence: String,
}

/// A point of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScaleDrawn {
    /// The number of workers.
    pub n: f64,
    /// Its height.
    pub point: f64,
    /// Lower end of the 95 % interval of the curve.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Why a program does not scale further.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScaleCause {
    /// What it is.
    pub cause: Bottleneck,
    /// The number of workers at which it was looked for.
    pub at: f64,
    /// The share of the workers' time there that it costs; null where it is not known.
    pub lost: Option<Estimate>,
    /// How well it is founded.
    pub standing: Founding,
    /// The cause in plain words.
    pub sentence: String,
    /// The numbers that speak for it.
    pub evidence: Vec<String>,
    /// What would have to change to go further.
    pub remedy: String,
}

/// What stops a program from scaling.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Bottleneck {
    /// Nothing in the range measured.
    Nothing,
    /// A part that one worker does alone.
    Serial,
    /// Shares of different size: those who are done wait for the others.
    Unequal,
    /// A lock that puts its waiters to sleep.
    Mutex,
    /// Workers wait for a signal of one another: a queue, a stage of a pipeline, a channel.
    Handover,
    /// Something outside of the program: storage, the network, another process, a time.
    Outside,
    /// Workers that each do again what one does: the whole job, or a part such as a set-up.
    Repeated,
    /// A program that does the same whatever n is.
    Ignored,
    /// A lock, or shared data, at which workers burn CPU time.
    Spinning,
    /// Cache lines that several workers write.
    Sharing,
    /// Memory bandwidth, caches or cores that workers share.
    Hardware,
    /// CPU time grows, and it is not known whether by spinning or by the hardware.
    SpinningOrHardware,
    /// The kernel's work grows with n.
    Kernel,
    /// A CPU quota.
    Quota,
    /// More threads are ready to run than the program has CPUs, though n is not above them.
    Oversubscribed,
    /// The CPUs are used up.
    Cpus,
    /// Other programs, or other machines of the same host.
    Neighbour,
    /// What was measured does not tell.
    Unknown,
}

/// What to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScaleAdvice {
    /// The fewest workers measured with which throughput is within 5 % of the best; null without
    /// data.
    pub n_for_throughput: Option<f64>,
    /// The most throughput among those measured whose work per CPU second is within 10 % of the
    /// best; null where CPU time is not known.
    pub n_for_cost: Option<f64>,
    /// The same in words, and what would have to change to go further.
    pub sentences: Vec<String>,
}
