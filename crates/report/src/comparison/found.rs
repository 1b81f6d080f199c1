//! One number of a side against the base, as the page and the terminal both tell it.

use model::{Estimate, SessionEffect};

/// One side against the base.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found<'a> {
    pub(crate) effect: &'a SessionEffect,
    pub(crate) size: Size<'a>,
    /// Whether the side is larger than the base.
    pub(crate) larger: bool,
}

/// In which terms one side is told against the base.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Size<'a> {
    /// A multiple of it.
    Ratio(&'a Estimate),
    /// Less it, in the number's own terms: there is no multiple of an exponent.
    Difference(&'a Estimate),
    /// In none: the base is 0.
    Unformed,
}

impl<'a> Found<'a> {
    /// What one side (its place among the others) is against the base, whether or not that is a
    /// ratio; `None` where nothing could be compared.
    pub(crate) fn of(
        values: &[Option<Estimate>],
        effects: &'a [Option<SessionEffect>],
        other: usize,
    ) -> Option<Self> {
        let effect = effects.get(other)?.as_ref()?;
        let size = match (&effect.ratio, &effect.difference) {
            (Some(ratio), _) => Size::Ratio(ratio),
            (None, Some(difference)) => Size::Difference(difference),
            (None, None) if effect.differs || effect.p_value.is_some() => Size::Unformed,
            (None, None) => return None,
        };
        let point = |side: usize| values.get(side).copied().flatten().map(|v| v.point);
        let larger = match size {
            Size::Ratio(ratio) => ratio.point > 1.0,
            Size::Difference(difference) => difference.point > 0.0,
            Size::Unformed => point(other + 1) > point(0),
        };
        Some(Found { effect, size, larger })
    }

    /// The mark of a difference.
    pub(crate) fn direction(&self) -> &'static str {
        if self.larger { "▲" } else { "▼" }
    }

    /// How far the side surely lies from the base, as the logarithm of a ratio: the end of its
    /// interval that is nearer to 1. Least where it holds 1 and where there is no ratio, but not 0,
    /// since the verdict comes from elsewhere.
    pub(crate) fn sure(&self) -> f64 {
        match self.size {
            Size::Ratio(ratio) if ratio.low > 1.0 => ratio.low.ln(),
            Size::Ratio(ratio) if ratio.high < 1.0 && ratio.high > 0.0 => -ratio.high.ln(),
            _ => f64::MIN_POSITIVE,
        }
    }
}

/// Of what differs, the most that is sure first.
pub(crate) fn by_sureness(a: &Found<'_>, b: &Found<'_>) -> std::cmp::Ordering {
    b.sure().total_cmp(&a.sure())
}

/// How many findings are told one by one where so many lines are left for them and for responses:
/// half of the lines at least, since findings are what the experiments ask.
pub(crate) fn for_findings(findings: usize, responses: usize, lines: usize) -> usize {
    findings.min(lines.saturating_sub(responses).max(lines.div_ceil(2)))
}
