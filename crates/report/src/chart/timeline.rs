//! What each thread of a program did over time.

use super::letters::strip::{Strip, colour};
use super::{STYLES, key, px, style_class};
use crate::doc::Drawing;
use crate::text::{Letters, columns, cut, padded};
use maud::{Markup, html};
use model::WatchedCell;

/// The height of a row, in pixels.
const HEIGHT: f64 = 20.0;

/// A letter stands for cells of which at least one part in this number is known.
const KNOWN_PART: u64 = 4;

/// The widest name in a terminal.
const NAME_MAX: usize = 16;

/// A row for each thread, divided into cells of equal length.
pub(crate) struct Timelines {
    /// What a cell may show: running, ready, then each wait.
    pub(crate) states: Vec<String>,
    pub(crate) rows: Vec<(String, Vec<WatchedCell>)>,
    /// The length of a cell, in ns.
    pub(crate) cell_ns: u64,
    pub(crate) letters: Letters,
}

/// Returns the times of a cell by state, in ns. The last state stands for all further ones.
fn times(cell: &WatchedCell) -> [(usize, u64); 3] {
    let wait = cell.wait.map_or(STYLES - 1, |wait| (2 + wait as usize).min(STYLES - 1));
    [(0, cell.time.running_ns), (1, cell.time.ready_ns), (wait, cell.time.waiting_ns)]
}

impl Timelines {
    fn length(&self) -> usize {
        self.rows.iter().map(|(_, cells)| cells.len()).max().unwrap_or(0)
    }

    /// Returns the states that occur, each with its name.
    fn legend(&self) -> Vec<(usize, &str)> {
        let occurs = |state: usize| {
            let cells = self.rows.iter().flat_map(|(_, cells)| cells);
            cells.flat_map(times).any(|(own, ns)| own == state && ns > 0)
        };
        let name = |state: usize| match state {
            state if state == STYLES - 1 => "other waits",
            state => self.states.get(state).map_or("", String::as_str),
        };
        (0..STYLES).filter(|state| occurs(*state)).map(|state| (state, name(state))).collect()
    }

    /// Returns the outline of all that a row shows of one state.
    fn outline(&self, cells: &[WatchedCell], state: usize) -> String {
        let mut path = String::new();
        for (place, cell) in cells.iter().enumerate() {
            // What is not known of a cell stays empty.
            let all = cell.time.all_ns().max(self.cell_ns).max(1) as f64;
            let mut top = HEIGHT;
            for (own, ns) in times(cell) {
                let height = HEIGHT * ns as f64 / all;
                top -= height;
                if own == state && height >= 0.1 {
                    path.push_str(&format!("M{place} {top:.1}h1v{height:.1}h-1z"));
                }
            }
        }
        path
    }
}

impl Drawing for Timelines {
    fn svg(&self) -> Markup {
        let length = self.length();
        let legend = self.legend();
        html! {
            ul.legend aria-label="what a thread did" {
                @for (state, name) in &legend { li { (key(*state)) " " (name) } }
            }
            div.bars {
                @for (name, cells) in &self.rows {
                    span.bar-name { (name) }
                    svg.stack.timeline width="100%" height=(px(HEIGHT)) role="img" preserveAspectRatio="none"
                        viewBox={ "0 0 " (length) " " (HEIGHT) } aria-label={ "timeline of " (name) } {
                        @for (state, described) in &legend {
                            @let outline = self.outline(cells, *state);
                            @if !outline.is_empty() {
                                g class=(style_class(*state)) {
                                    title { (described) }
                                    path.piece d=(outline) {}
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    fn letters(&self, width: usize) -> Vec<String> {
        let names: Vec<String> = self.rows.iter().map(|(name, _)| cut(name, NAME_MAX)).collect();
        let widest = names.iter().map(|name| columns(name)).max().unwrap_or(0);
        let length = self.length();
        let room = width.saturating_sub(widest + 2).min(length).max(1);
        let mut lines = Vec::new();
        for (name, (_, cells)) in names.iter().zip(&self.rows) {
            let mut strip = Strip::new(room);
            for at in 0..room {
                let (from, to) = (at * length / room, ((at + 1) * length / room).min(cells.len()));
                let mut sums = [0_u64; STYLES];
                cells[from.min(to)..to]
                    .iter()
                    .flat_map(times)
                    .for_each(|(own, ns)| sums[own] += ns);
                let most = (0..STYLES).max_by_key(|state| (sums[*state], STYLES - state));
                let whole_ns = (to - from.min(to)).max(1) as u64 * self.cell_ns;
                let is_known = sums.iter().sum::<u64>() >= whole_ns / KNOWN_PART;
                if let Some(state) = most.filter(|state| is_known && sums[*state] > 0) {
                    strip.put(at, self.letter(state), colour(state));
                }
            }
            lines.push(format!("{}  {}", padded(name, widest), strip.painted()));
        }
        for (state, name) in self.legend() {
            lines.push(cut(&format!("{} {name}", self.letter(state)), width));
        }
        lines
    }
}

impl Timelines {
    /// Returns the letter of a state; a wait's is its number in the table.
    fn letter(&self, state: usize) -> char {
        match (state, self.letters) {
            (0, Letters::Unicode) => '█',
            (0, Letters::Ascii) => '#',
            (1, Letters::Unicode) => '░',
            (1, Letters::Ascii) => '+',
            (state, _) => char::from_digit(state as u32 + 1, 10).unwrap_or('?'),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::ThreadTime;

    fn cell(running_ns: u64, ready_ns: u64, waiting_ns: u64, wait: Option<u32>) -> WatchedCell {
        WatchedCell { time: ThreadTime { running_ns, ready_ns, waiting_ns }, wait }
    }

    fn timelines(letters: Letters) -> Timelines {
        let states = ["running", "ready", "a lock", "a pipe"].map(String::from).to_vec();
        let first = vec![cell(9, 1, 0, None), cell(2, 0, 8, Some(0)), cell(0, 0, 10, Some(99))];
        let second = vec![WatchedCell::default(), cell(0, 9, 1, Some(1))];
        let rows = vec![("main".into(), first), ("worker".into(), second)];
        Timelines { states, rows, cell_ns: 10, letters }
    }

    #[test]
    fn letters_show_what_took_most_of_a_cell() {
        let lines = timelines(Letters::Ascii).letters(40);
        let lines: Vec<String> =
            lines.iter().map(|line| anstream::adapter::strip_str(line).to_string()).collect();
        assert_eq!(lines[0].trim_end(), "main    #38");
        assert_eq!(lines[1].trim_end(), "worker   +");
        assert_eq!(lines[2..], ["# running", "+ ready", "3 a lock", "4 a pipe", "8 other waits"]);
    }

    #[test]
    fn what_is_not_known_of_a_cell_stays_empty() {
        let mut lines = timelines(Letters::Ascii);
        lines.rows.truncate(1);
        lines.rows[0].1 = vec![cell(1, 0, 0, None), cell(0, 0, 5, Some(0))];
        let text = anstream::adapter::strip_str(&lines.letters(40)[0]).to_string();
        assert_eq!(text.trim_end(), "main   3");
        let page = lines.svg().into_string();
        assert!(
            page.contains("M0 18.0h1v2.0h-1z") && page.contains("M1 10.0h1v10.0h-1z"),
            "{page}"
        );
    }

    #[test]
    fn a_page_has_an_outline_for_each_state_that_occurs() {
        let page = timelines(Letters::Unicode).svg().into_string();
        assert!(page.contains("M0 2.0h1v18.0h-1z"), "{page}");
        assert_eq!(page.matches("<path").count(), 4 + 2, "{page}");
    }
}
