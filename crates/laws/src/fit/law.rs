//! The laws that can be fitted, and what their numbers stand for.

/// A law that can be fitted, X as a function of n.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Law {
    /// X = γ n.
    Linear,
    /// X = γ (n − s (n − 1)), s the serial part of the time on n workers.
    Gustafson,
    /// X = γ n / (1 + α (n − 1)): the next with β = 0.
    Amdahl,
    /// X = γ n / (1 + α (n − 1) + β n (n − 1)).
    Usl,
    /// X = γ min(n, c).
    Kink,
    /// X = γ m / (1 + α (m − 1)), m = min(n, c): a kink with contention below it.
    ContendedKink,
}

/// What a law's number stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Coefficient {
    /// γ: the throughput of one worker.
    Gamma,
    /// s: the serial part of the time on n workers.
    Serial,
    /// α: contention.
    Alpha,
    /// β: coherency.
    Beta,
    /// c: how many workers are served at a time.
    Cores,
}

impl Law {
    /// All of them, the simplest first.
    pub const ALL: [Law; 6] =
        [Law::Linear, Law::Gustafson, Law::Amdahl, Law::Kink, Law::Usl, Law::ContendedKink];

    /// What its numbers stand for, in the order of [`Fit::parameters`].
    pub fn coefficients(self) -> &'static [Coefficient] {
        use Coefficient::{Alpha, Beta, Cores, Gamma, Serial};
        match self {
            Law::Linear => &[Gamma],
            Law::Gustafson => &[Gamma, Serial],
            Law::Amdahl => &[Gamma, Alpha],
            Law::Usl => &[Gamma, Alpha, Beta],
            Law::Kink => &[Gamma, Cores],
            Law::ContendedKink => &[Gamma, Alpha, Cores],
        }
    }

    pub(super) fn is_kinked(self) -> bool {
        matches!(self, Law::Kink | Law::ContendedKink)
    }

    /// At how many different n there must be points.
    pub fn levels_needed(self) -> usize {
        match self {
            // One below the kink, and two beyond it to see that it is flat.
            Law::Kink => 3,
            // Three below it, to tell contention from a kink between two of them.
            Law::ContendedKink => 5,
            other => other.coefficients().len(),
        }
    }
}
