//! Answers of one kind under each other, each a place on an axis that all of them share.

use super::cell::Cell;
use super::letters::{Sheet, without_axis};
use super::scale::{Scale, drawable};
use super::ticks::Ticks;
use super::{across, mark_of, percent, style_class};
use crate::doc::{Drawing, Tone};
use crate::text::{DIM, Letters, paint, wrapped};
use maud::{Markup, html};
use model::Estimate;
use wording::number::{Parts, Terms};
use wording::uncapital;

/// From this width on, a terminal has room for the words of an answer; below it they are marks.
const WORDS_FROM: usize = 100;

/// About as many ticks on an axis.
const TICKS: usize = 4;

/// Ratios are drawn at least this far from 1 on both sides, so that tiny ones do not look large.
const REACH_MIN: f64 = 1.25;

/// The room that the label of a tick takes, as a part of the axis: 50 of its 260 pixels.
const LABEL_ROOM: f64 = 0.18;

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
    /// What stands for the words where there is no room for them; none where the number says it.
    pub(crate) mark: Option<char>,
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

/// Returns the ticks whose labels have room, so that no two labels touch.
fn labelled<'a>(scale: &Scale, ticks: &'a Ticks) -> Vec<&'a (f64, String)> {
    let mut kept: Vec<&(f64, String)> = Vec::new();
    for tick in &ticks.at {
        if kept.last().is_none_or(|last| scale.place(tick.0) - scale.place(last.0) > LABEL_ROOM) {
            kept.push(tick);
        }
    }
    kept
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
                        @for (value, word) in labelled(&scale, &ticks) { text x=(at(*value)) y="100%" dy="14" { (word) } }
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
        let mut marks: Vec<(char, String)> = Vec::new();
        let mut row = |one: &Answer| {
            let says = uncapital(&one.says);
            let label = match one.mark {
                None => one.label.clone(),
                Some(_) if width >= WORDS_FROM => format!("{}: {says}", one.label),
                Some(mark) => {
                    if !marks.contains(&(mark, says.clone())) {
                        marks.push((mark, says));
                    }
                    format!("{} {mark}", one.label)
                }
            };
            (self.style, Cell::alone(label, one.estimate, 0))
        };
        let rows: Vec<(usize, Cell)> = self.strips.iter().map(&mut row).collect();
        let (one, sheet) = (self.band.map(|_| 1.0), Sheet::new(width, Letters::Unicode));
        let mut lines = without_axis(self.terms, self.scale(), &rows, one, sheet);
        let key = marks.iter().map(|(mark, says)| format!("{mark} {says}"));
        let key = key.collect::<Vec<_>>().join("; ");
        lines.extend(wrapped(&key, width - 2).iter().map(|line| format!("  {}", paint(DIM, line))));
        lines
    }
}
