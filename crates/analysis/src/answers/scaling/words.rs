//! Numbers in sentences.

use laws::fit::Law;
use model::{Bottleneck, Estimate, Founding, ScaleLoss};

/// Returns a number with three digits that count.
pub(super) fn figure(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return if x.is_finite() { "0".into() } else { "–".into() };
    }
    let digits = (2 - x.abs().log10().floor() as i32).clamp(0, 12) as usize;
    let text = format!("{x:.digits$}");
    let text = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text,
    };
    text.replace('-', "−")
}

/// Returns a number with its interval.
pub(super) fn with_interval(estimate: &Estimate) -> String {
    let Estimate { point, low, high, .. } = estimate;
    if low == high {
        return figure(*point);
    }
    format!("{} [{}, {}]", figure(*point), figure(*low), figure(*high))
}

/// Returns a share as a whole number of percent.
fn whole(share: f64) -> String {
    let text = format!("{:.0}", 100.0 * share);
    if text == "-0" { "0".into() } else { text.replace('-', "−") }
}

/// Returns a share as a percentage.
pub(super) fn percent(share: f64) -> String {
    format!("{} %", whole(share))
}

/// Returns a share with its interval.
pub(super) fn percent_of(estimate: &Estimate) -> String {
    let Estimate { point, low, high, .. } = estimate;
    if low == high {
        return percent(*point);
    }
    format!("{} [{}, {}]", percent(*point), whole(*low), whole(*high))
}

/// Returns a length of time in its own unit.
pub(super) fn time(ns: f64) -> String {
    let (value, unit) = match ns.abs() {
        ns if ns < 1e3 => (1.0, "ns"),
        ns if ns < 1e6 => (1e3, "µs"),
        ns if ns < 1e9 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    format!("{} {unit}", figure(ns / value))
}

/// Returns what a part is called.
pub fn loss(into: ScaleLoss) -> &'static str {
    match into {
        ScaleLoss::Useful => "useful",
        ScaleLoss::MoreCpu => "more CPU per operation",
        ScaleLoss::Throttled => "held back by a quota",
        ScaleLoss::Waiting => "waiting for a CPU",
        ScaleLoss::Blocked => "blocked",
        ScaleLoss::Absent => "without a worker",
        ScaleLoss::OffCpu => "on no CPU",
        ScaleLoss::Rest => "not explained",
    }
}

/// Returns how well a cause is founded.
pub fn standing(standing: Founding) -> &'static str {
    match standing {
        Founding::Confirmed => "confirmed by an experiment or by the kernel's count",
        Founding::Consistent => "consistent with what was measured and seen",
        Founding::Suspected => "suspected from times alone",
    }
}

/// Returns a cause as a heading.
pub fn cause(cause: Bottleneck) -> &'static str {
    match cause {
        Bottleneck::Nothing => "nothing found",
        Bottleneck::Serial => "a serial part",
        Bottleneck::Unequal => "unequal shares",
        Bottleneck::Mutex => "a lock that sleeps",
        Bottleneck::Handover => "waiting for one another",
        Bottleneck::Outside => "something outside the program",
        Bottleneck::Repeated => "repeated work",
        Bottleneck::Ignored => "n is not used",
        Bottleneck::Spinning => "spinning, or shared data",
        Bottleneck::Sharing => "shared cache lines",
        Bottleneck::Hardware => "shared hardware",
        Bottleneck::SpinningOrHardware => "spinning or shared hardware",
        Bottleneck::Kernel => "work in the kernel",
        Bottleneck::Quota => "a CPU quota",
        Bottleneck::Oversubscribed => "more threads than CPUs",
        Bottleneck::Cpus => "no more CPUs",
        Bottleneck::Neighbour => "neighbours",
        Bottleneck::Unknown => "cannot tell",
    }
}

/// Returns what a law is called.
pub(super) fn law_name(law: Law) -> &'static str {
    law_words(law).0
}

/// Returns what a law is called, and its formula.
pub(super) fn law_words(law: Law) -> (&'static str, &'static str) {
    match law {
        Law::Linear => ("linear", "X = γ n"),
        Law::Gustafson => ("Gustafson", "X = γ (n − s (n − 1))"),
        Law::Amdahl => ("Amdahl", "X = γ n / (1 + α (n − 1))"),
        Law::Usl => ("universal", "X = γ n / (1 + α (n − 1) + β n (n − 1))"),
        Law::Kink => ("kink", "X = γ min(n, c)"),
        Law::ContendedKink => ("kink with contention", "X = γ m / (1 + α (m − 1)), m = min(n, c)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_that_count() {
        for (x, text) in [
            (1234.5, "1234"),
            (12.345, "12.3"),
            (0.001_234, "0.00123"),
            (2.0, "2"),
            (-0.5, "−0.5"),
            (0.0, "0"),
            (100.0, "100"),
        ] {
            assert_eq!(figure(x), text);
        }
        assert_eq!(time(1_500.0), "1.5 µs");
        assert_eq!(percent(-0.001), "0 %");
    }
}
