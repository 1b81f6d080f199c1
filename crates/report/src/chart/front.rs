//! Answers of one kind under each other, each a place on an axis that all of them share.

use super::body::Cell;
use super::letters::{Sheet, rows_in};
use super::scale::{Scale, drawable};
use super::ticks::Ticks;
use super::{across, mark_of, percent, style_class};
use crate::doc::{Drawing, Tone};
use crate::text::{Letters, wrapped};
use maud::{Markup, html};
use model::Estimate;
use wording::number::{Parts, Terms, joined};
use wording::uncapital;

/// From this width on, a terminal shows the axis.
const AXIS_FROM: usize = 100;

/// About as many ticks on an axis.
const TICKS: usize = 4;

/// Ratios are drawn at least this far from 1 on both sides, so that tiny ones do not look large.
const REACH_MIN: f64 = 1.25;

/// Free space at the ends of an axis, as a factor.
const ROOM: f64 = 1.15;

/// Answers that share an axis.
pub(crate) struct Answers<'a> {
    pub(crate) strips: Vec<Answer>,
    pub(crate) terms: Terms<'a>,
    /// Between which ratios there is no difference worth its name; none where no ratios are drawn.
    pub(crate) band: Option<(f64, f64)>,
    /// The colour of the group.
    pub(crate) style: usize,
}

/// One answer.
pub(crate) struct Answer {
    /// What is asked, in a few words.
    pub(crate) label: String,
    /// The answer in words.
    pub(crate) says: String,
    /// Plain where the words hold the number, quiet where no difference was found, open where nothing
    /// is decided.
    pub(crate) tone: Tone,
    pub(crate) estimate: Estimate,
    pub(crate) number: Parts,
    /// Where on the page there is more.
    pub(crate) to: String,
}

impl Answers<'_> {
    fn scale(&self) -> Scale {
        let ends = self
            .strips
            .iter()
            .flat_map(|one| [one.estimate.point, one.estimate.low, one.estimate.high]);
        let known = || ends.clone().filter_map(drawable).filter(|x| *x > 0.0);
        let (low, high) = (known().fold(f64::INFINITY, f64::min), known().fold(0.0, f64::max));
        let (low, high) = match self.band {
            Some(_) => (low.min(1.0 / REACH_MIN), high.max(REACH_MIN)),
            None if high > 0.0 => (low, high),
            None => (1.0, 1.0),
        };
        Scale::Log { low: low / ROOM, high: high * ROOM, zero: false }
    }
}

impl Drawing for Answers<'_> {
    fn svg(&self) -> Markup {
        let scale = self.scale();
        let ticks = Ticks::new(&scale, TICKS, self.terms);
        let at = |x: f64| percent(across(&scale, x));
        let rows = self.strips.len().max(1) as f64;
        let bounds = |estimate: &Estimate| [estimate.low, estimate.high].map(at);
        html! {
            div.front-strips.(style_class(self.style)) {
                ul {
                    @for one in &self.strips {
                        li {
                            a href=(one.to) {
                                span.front-label { (one.label) }
                                span.front-says.quiet[one.tone != Tone::Plain].open[one.tone == Tone::Open] { (one.says) }
                                span.front-number { b { (one.number.point) } " " span.interval { (one.number.interval) } }
                            }
                        }
                    }
                }
                svg.front-field height="100%" aria-hidden="true" focusable="false" {
                    @if let Some((low, high)) = self.band {
                        rect.front-band x=(at(low)) width=(percent(across(&scale, high) - across(&scale, low)))
                            height="100%" {}
                    }
                    g.grid {
                        @for (value, _) in &ticks.at { line x1=(at(*value)) x2=(at(*value)) y2="100%" {} }
                    }
                    @if self.band.is_some() { line.front-one x1=(at(1.0)) x2=(at(1.0)) y2="100%" {} }
                    g.row-axis {
                        @for (value, word) in &ticks.at { text x=(at(*value)) y="100%" dy="14" { (word) } }
                    }
                    @for (index, one) in self.strips.iter().enumerate() {
                        @let y = percent((index as f64 + 0.5) / rows);
                        @let [low, high] = bounds(&one.estimate);
                        line.whisker x1=(low) x2=(high) y1=(y) y2=(y) {}
                        use.point href=(mark_of(0)) x=(at(one.estimate.point)) y=(y) {}
                    }
                }
            }
        }
    }

    fn letters(&self, width: usize) -> Vec<String> {
        let scale = self.scale();
        if width < AXIS_FROM {
            let words = |one: &Answer| {
                let text = format!("{}: {} ({})", one.label, one.says, joined(&one.number));
                let lines = wrapped(&text, width.saturating_sub(2));
                lines.into_iter().enumerate().map(|(at, line)| match at {
                    0 => line,
                    _ => format!("  {line}"),
                })
            };
            return self.strips.iter().flat_map(words).collect();
        }
        let row = |one: &Answer| {
            let label = match one.tone {
                Tone::Plain => one.label.clone(),
                _ => format!("{}: {}", one.label, uncapital(&one.says)),
            };
            (self.style, Cell::alone(label, one.estimate, 0))
        };
        let rows: Vec<(usize, Cell)> = self.strips.iter().map(row).collect();
        rows_in(self.terms, Some(scale), &rows, Sheet::new(width, Letters::Unicode))
    }
}
