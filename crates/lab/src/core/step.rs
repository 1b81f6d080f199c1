//! A recording in a terminal, cycle by cycle, back and forth.

use super::recording::{Recording, Row, What};
use crate::ui;
use anstyle::{AnsiColor, Style};
use anyhow::{Result, ensure};
use isa::assembly::register_name;
use isa::pipeline::Stage;
use report::Letters;
use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use sys::terminal::{Key, Keys};

const DIM: Style = Style::new().dimmed();
const BOLD: Style = Style::new().bold();
const CHANGED: Style = AnsiColor::Yellow.on_default().bold();

/// Fails unless somebody can press keys and see what they do.
pub(super) fn check_terminal() -> Result<()> {
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let is_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    ensure!(
        is_terminal && !dumb,
        "--step needs a terminal for keys and screen; --html FILE writes a page instead"
    );
    Ok(())
}

/// The other screen of the terminal, which is left whatever happens.
struct Screen;

impl Screen {
    fn enter() -> Self {
        write("\x1b[?1049h\x1b[?25l");
        Screen
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        write("\x1b[?25h\x1b[?1049l");
    }
}

/// Writes to the terminal; if that fails, there is nobody to tell.
fn write(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Shows the recording until a key ends it.
pub(super) fn show(recording: &Recording) -> Result<()> {
    let colours = anstream::AutoStream::choice(&std::io::stdout()) != anstream::ColorChoice::Never;
    let view = View { recording, colours, letters: ui::letters() };
    let mut cycle = recording.first;
    let mut keys = Keys::open()?;
    let _screen = Screen::enter();
    loop {
        let (width, height) =
            terminal_size::terminal_size().map_or((80, 24), |(width, height)| (width.0, height.0));
        let lines = view.lines(cycle, width.into(), height.into());
        write(&format!("\x1b[H{}\x1b[J", lines.join("\x1b[K\r\n") + "\x1b[K"));
        cycle = match keys.wait() {
            None | Some(Key::Quit | Key::Letter('q')) => return Ok(()),
            Some(Key::Right | Key::Letter('l' | ' ')) => cycle + 1,
            Some(Key::Left | Key::Letter('h')) => cycle.saturating_sub(1),
            Some(Key::PageDown) => cycle + 10,
            Some(Key::PageUp) => cycle.saturating_sub(10),
            Some(Key::Home) => recording.first,
            Some(Key::End) => recording.last,
            Some(Key::Down | Key::Letter('n' | 'j')) => view.event(cycle, true),
            Some(Key::Up | Key::Letter('p' | 'k')) => view.event(cycle, false),
            Some(_) => cycle,
        }
        .clamp(recording.first, recording.last);
    }
}

struct View<'r> {
    recording: &'r Recording,
    colours: bool,
    letters: Letters,
}

/// What everything holds at the end of a cycle.
struct State {
    registers: Vec<u32>,
    csrs: Vec<u32>,
    sets: Vec<Vec<Vec<Option<u32>>>>,
    /// Registers and csrs that change in the cycle, and places of caches with whether the line was there.
    registers_now: Vec<u8>,
    lines_now: BTreeMap<(usize, u32, usize), bool>,
    /// What changes in the cycle, in words.
    said: Vec<String>,
}

impl View<'_> {
    /// Returns the cycle of the next event, or of the one before.
    fn event(&self, cycle: u64, forth: bool) -> u64 {
        let said = &self.recording.said;
        match forth {
            true => said
                .iter()
                .find(|(when, _)| *when > cycle)
                .map_or(self.recording.last, |(when, _)| *when),
            false => said
                .iter()
                .rfind(|(when, _)| *when < cycle)
                .map_or(self.recording.first, |(when, _)| *when),
        }
    }

    fn paint(&self, style: Style, text: &str) -> String {
        if self.colours { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    fn state(&self, cycle: u64) -> State {
        let recording = self.recording;
        let mut state = State {
            registers: recording.registers.clone(),
            csrs: recording.csrs.iter().map(|(_, value)| *value).collect(),
            sets: recording.caches.iter().map(|cache| cache.sets.clone()).collect(),
            registers_now: Vec::new(),
            lines_now: BTreeMap::new(),
            said: Vec::new(),
        };
        for change in recording.changes.iter().take_while(|change| change.cycle <= cycle) {
            let now = change.cycle == cycle;
            let said = match &change.what {
                What::Register(register, value) => {
                    if let Some(place) = state.registers.get_mut(usize::from(*register)) {
                        *place = *value;
                    }
                    state.registers_now.extend(now.then_some(*register));
                    format!("{} = {value:#010x} ({})", register_name(*register), *value as i32)
                }
                What::Csr(number, value) => {
                    if let Some(place) = state.csrs.get_mut(*number) {
                        *place = *value;
                    }
                    let name = recording.csrs.get(*number).map_or("csr", |(name, _)| *name);
                    format!("{name} = {value:#010x}")
                }
                What::Memory(address, value) => {
                    format!("memory at {address:#010x} = {value:#010x}")
                }
                What::Line(number, set, way, line, hit) => {
                    let places =
                        state.sets.get_mut(*number).and_then(|sets| sets.get_mut(*set as usize));
                    if let Some(place) = places.and_then(|places| places.get_mut(*way)) {
                        *place = Some(*line);
                    }
                    if now {
                        state.lines_now.insert((*number, *set, *way), *hit);
                    }
                    let name = recording.caches.get(*number).map_or("", |cache| cache.name);
                    let what = if *hit { "is there" } else { "is missed and fetched" };
                    format!("{name} cache: line {line:#x} {what}")
                }
                What::Output(text) => format!("output {text:?}"),
            };
            state.said.extend(now.then_some(said));
        }
        state
    }

    /// Returns the lines of the screen.
    fn lines(&self, cycle: u64, width: usize, height: usize) -> Vec<String> {
        let state = self.state(cycle);
        let Recording { first, last, ending, .. } = self.recording;
        let mut lines = vec![
            self.paint(
                BOLD,
                &cut(&format!("cycle {cycle} of {first} to {last} ({ending})"), width),
            ),
            self.paint(
                DIM,
                &cut(
                    "left, right: a cycle; up, down: an event; Home, End, page keys; q quits",
                    width,
                ),
            ),
        ];
        for name in &self.recording.stages {
            let stage = Stage::ALL.into_iter().find(|stage| stage.name() == *name);
            let letter = stage.map_or(' ', Stage::letter);
            let there = |row: &&Row| {
                cell(row, cycle).is_some_and(|cell| cell.to_ascii_uppercase() == letter)
            };
            let text = self.recording.rows.iter().find(there).map_or_else(String::new, |row| {
                let held = if cell(row, cycle) == Some(letter) { "" } else { "  (held)" };
                let fate = match row.fate {
                    'x' => "  (wrong path)",
                    't' => "  (traps)",
                    _ => "",
                };
                format!("{:>8x}  {}{held}{fate}", row.pc, row.text)
            });
            lines.push(format!(
                "{} {}",
                self.paint(BOLD, &format!("{name:<3}")),
                cut(&text, width.saturating_sub(4))
            ));
        }
        let said = self
            .recording
            .said
            .iter()
            .filter(|(when, _)| *when == cycle)
            .map(|(_, what)| what.clone());
        let mut said: Vec<String> = said.chain(state.said.iter().cloned()).collect();
        said.resize(said.len().max(2), String::new());
        lines.extend(
            said.iter()
                .take(4)
                .map(|what| self.paint(CHANGED, &cut(&wording::cleaned(what), width))),
        );
        lines.extend(self.registers(&state, width));
        lines.extend(self.caches(&state, width));
        // The rest of the screen.
        lines.truncate(height);
        let rows = height - lines.len();
        if rows > 3 {
            lines.extend(self.diagram(cycle, width, rows - 1));
        }
        lines
            .iter()
            .map(|line| self.letters.of_lines(line, usize::MAX))
            .map(|line| line.trim_end_matches('\n').to_owned())
            .collect()
    }

    fn registers(&self, state: &State, width: usize) -> Vec<String> {
        let named = state.registers.iter().zip(0..).map(|(value, number)| {
            let text = format!("{:>4} {value:08x}", register_name(number));
            let style = if state.registers_now.contains(&number) { CHANGED } else { Style::new() };
            self.paint(style, &text)
        });
        let csrs = state.csrs.iter().zip(&self.recording.csrs);
        let csrs = csrs.map(|(value, (name, _))| format!("{name:>7} {value:08x}"));
        let mut lines = in_columns(named.collect(), 13, width);
        lines.extend(in_columns(csrs.collect(), 16, width));
        lines
    }

    fn caches(&self, state: &State, width: usize) -> Vec<String> {
        let mut lines = Vec::new();
        for (number, cache) in self.recording.caches.iter().enumerate() {
            let Some(sets) = state.sets.get(number) else { continue };
            lines.push(self.paint(BOLD, &cut(&format!("{}: {}", cache.name, cache.shape), width)));
            let ways = sets.first().map_or(0, Vec::len);
            let set = |(set, places): (u32, &Vec<Option<u32>>)| {
                let place = |(way, line): (usize, &Option<u32>)| {
                    let text = line.map_or("       -".into(), |line| format!("{line:8x}"));
                    match state.lines_now.get(&(number, set, way)) {
                        None => text,
                        Some(true) => self.paint(AnsiColor::Green.on_default().bold(), &text),
                        Some(false) => self.paint(AnsiColor::Red.on_default().bold(), &text),
                    }
                };
                let places: Vec<String> = places.iter().enumerate().map(place).collect();
                format!("{set:>3}: {}", places.join(" "))
            };
            lines.extend(
                in_columns((0..).zip(sets).map(set).collect(), 4 + 9 * ways, width)
                    .into_iter()
                    .take(8),
            );
        }
        lines
    }

    /// The stages around the cycle, in letters.
    fn diagram(&self, cycle: u64, width: usize, height: usize) -> Vec<String> {
        let names = 30.min(width / 2);
        let wide = ((width - names) / 2).max(1) as u64;
        let from = cycle.saturating_sub(wide / 2).max(self.recording.first);
        let cycles = from..from + wide;
        let head: String = cycles
            .clone()
            .map(|one| format!("{:<2}", if one == cycle { "v" } else { "" }))
            .collect();
        let caption = format!("cycles {from} to {}", cycles.end - 1);
        let mut lines = vec![self.paint(DIM, &format!("{caption:names$}{}", head.trim_end()))];
        let seen = |row: &&Row| row.start < cycles.end && row.start + row.cells.len() as u64 > from;
        let rows: Vec<&Row> = self.recording.rows.iter().filter(seen).collect();
        // Those that are somewhere now are in the middle.
        let now = rows.iter().position(|row| cell(row, cycle).is_some()).unwrap_or(0);
        let skipped = now.saturating_sub(height / 3);
        for row in rows.into_iter().skip(skipped).take(height.saturating_sub(1)) {
            let name = cut(&format!("{:x} {}", row.pc, row.text), names - 1);
            let cells = cycles.clone().map(|one| {
                let text = format!("{:<2}", cell(row, one).unwrap_or(' '));
                if one == cycle { self.paint(CHANGED, &text) } else { text }
            });
            let name = format!("{name:names$}");
            let name = if row.fate == 'x' { self.paint(DIM, &name) } else { name };
            lines.push(name + &cells.collect::<String>());
        }
        lines
    }
}

fn cell(row: &Row, cycle: u64) -> Option<char> {
    let place = usize::try_from(cycle.checked_sub(row.start)?).ok()?;
    row.cells.as_bytes().get(place).map(|byte| char::from(*byte))
}

/// Puts texts of the same number of columns next to each other, as far as there is room.
fn in_columns(texts: Vec<String>, columns: usize, width: usize) -> Vec<String> {
    let count = ((width + 2) / (columns + 2)).max(1);
    texts.chunks(count).map(|texts| texts.join("  ")).collect()
}

fn cut(text: &str, width: usize) -> String {
    text.chars().take(width).collect()
}
