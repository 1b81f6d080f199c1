//! The stages in some cycles, in letters and colours.

use super::loaded::Loaded;
use super::run::Ran;
use super::{Window, recording};
use anstyle::{AnsiColor, Style};
use isa::pipeline::{Ink, Look, Stage};
use isa::system::Config;

/// Steps that are drawn around an event.
const AROUND: usize = 12;

/// Returns the stages in the cycles that were asked for.
pub(super) fn text(loaded: &Loaded, config: &Config, ran: &Ran, width: usize) -> String {
    let (steps, cycles) = match ran.window {
        Some(Window::Cycles(from, to)) => (recording::STEPS_MAX, Some((from, to))),
        _ => (AROUND, None),
    };
    let seen = match recording::steps(loaded, config, ran, steps, cycles.map(|(_, to)| to)) {
        Ok(seen) => seen,
        Err(why) => return format!("No pipeline is drawn: {why}.\n"),
    };
    let look = Look { columns: width, cycles, operands: &seen.operands, paint: &paint };
    seen.drawing.text(&look)
}

/// Paints a piece; a pipe and NO_COLOR take the colours away.
pub(super) fn paint(ink: Ink, text: &str) -> String {
    let style = match ink {
        Ink::Quiet => Style::new().dimmed(),
        Ink::In(stage) | Ink::Held(stage) => {
            let colour = match stage {
                Stage::Fetch => AnsiColor::Blue,
                Stage::Decode => AnsiColor::Cyan,
                Stage::Execute => AnsiColor::Green,
                Stage::Memory => AnsiColor::Yellow,
                Stage::WriteBack => AnsiColor::Magenta,
            };
            let style = colour.on_default();
            if matches!(ink, Ink::In(_)) { style.bold() } else { style }
        }
        Ink::Lost => AnsiColor::Red.on_default().bold(),
        Ink::Mark => AnsiColor::Red.on_default(),
    };
    format!("{style}{text}{style:#}")
}
