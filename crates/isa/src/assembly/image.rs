//! What an assembled text is in memory: its segments, its symbols, and where it begins.

use super::expression::Expression;
use super::layout::{Item, Section, Source, What};
use super::pseudo::Use;
use super::table::Form;
use super::text::shown;
use super::{Assembled, DATA_ADDRESS, HEAP_BYTES, Mistake, Place, TEXT_ADDRESS};
use crate::TIMER_ADDRESS;
use crate::encode::ZERO;
use crate::program::{Program, Segment, Symbol};
use std::collections::BTreeSet;

impl Source {
    /// Makes the program.
    pub(super) fn link(mut self, compressed: bool, mistakes: &mut Vec<Mistake>) -> Assembled {
        for item in &mut self.items {
            let is_short = compressed || matches!(&item.what, What::Code(real) if real.short);
            item.size = if is_short { 2 } else { 4 };
        }
        let laid_out = if compressed { self.shorten() } else { self.lay_out() };
        let (mut chunks, mut lines) = (Chunks::default(), Vec::new());
        if let Err(mistake) = laid_out {
            mistakes.push(mistake);
            // Without addresses, all else would also be wrong.
            self.items.clear();
        }
        self.names.check(mistakes);
        for (at, item) in self.items.iter().enumerate() {
            let bytes = chunks.at(item);
            if let What::Code(real) = &item.what {
                lines.push((item.address, item.place));
                if let Expression::Bits(bits) = real.value
                    && real.extends_sign()
                {
                    let what = format!(
                        "{bits:#x} is 12 bits with a sign, as in Ripes: {}",
                        bits - (1 << 12)
                    );
                    self.notes.push(Mistake { place: item.place, what });
                }
            }
            if let Err(mistake) = self.bytes(at, item, bytes) {
                mistakes.push(mistake);
            }
        }
        if lines.is_empty() && mistakes.is_empty() {
            let what = "the file has no instructions".into();
            mistakes.push(Mistake { place: Place::START, what });
        }
        let program = if mistakes.is_empty() { self.program(chunks) } else { Program::default() };
        lines.sort_by_key(|(address, _)| *address);
        Assembled { program, lines, files: Vec::new(), notes: self.notes }
    }

    /// Returns the program that the bytes of all items make.
    fn program(&self, chunks: Chunks) -> Program {
        let first = self.items.iter().find(|item| matches!(item.what, What::Code(_)));
        let label = |name: &str| {
            let (_, item, _) = self.names.labels().find(|(known, ..)| *known == name)?;
            self.items.get(item).map(|item| item.address)
        };
        let main = || label("main").filter(|_| self.names.is_global("main"));
        let entry = label("_start").or_else(main).or(first.map(|item| item.address));
        let sizes = |item: &Item| if matches!(item.what, What::Code(_)) { item.size } else { 0 };
        let text_bytes = self.items.iter().map(sizes).sum();
        let texts = chunks.of(Section::Text);
        let text = texts.clone().map(|chunk| chunk.address).min().unwrap_or(TEXT_ADDRESS)
            ..texts.map(Chunk::end).max().unwrap_or(TEXT_ADDRESS);
        let data_end = chunks.of(Section::Data).map(Chunk::end).max().unwrap_or(DATA_ADDRESS);
        Program {
            entry: entry.unwrap_or(TEXT_ADDRESS),
            symbols: self.symbols(entry, text.end, data_end),
            text,
            text_bytes,
            segments: chunks.segments(),
            sparse_from: Some(0),
        }
    }

    /// Returns the labels. Those that are called, global, the entry, or whose address is taken (for `mtvec`, or for a
    /// table where the program calls by a register) are functions, which end where the next begins; other labels of
    /// instructions have no size.
    fn symbols(&self, entry: Option<u32>, text_end: u32, data_end: u32) -> Vec<Symbol> {
        let calls_by_register = self.items.iter().any(|item| {
            let What::Code(real) = &item.what else { return false };
            matches!(real.form, Form::JumpRegister(_)) && real.rd != ZERO
        });
        let mut called: BTreeSet<&String> = BTreeSet::new();
        for item in &self.items {
            match &item.what {
                What::Code(real) => {
                    let is_call = matches!(real.form, Form::Jump(_)) && real.rd != ZERO;
                    called.extend(
                        real.value.name().filter(|_| is_call || real.how == Use::DistanceHigh),
                    );
                }
                What::Values(_, values) if calls_by_register => {
                    called.extend(values.iter().filter_map(|(value, _)| value.name()));
                }
                _ => {}
            }
        }
        let mut symbols: Vec<(Symbol, bool, Section)> = self
            .names
            .labels()
            .filter_map(|(name, item, is_global)| {
                let item = self.items.get(item)?;
                let starts = is_global || called.contains(name) || entry == Some(item.address);
                let starts = starts || item.section == Section::Data;
                let symbol = Symbol { name: shown(name), address: item.address, size: 0 };
                Some((symbol, starts, item.section))
            })
            .collect();
        let of_loader =
            [("__global_pointer$", DATA_ADDRESS), ("_end", data_end.next_multiple_of(16))];
        symbols.extend(of_loader.map(|(name, address)| {
            (Symbol { name: name.into(), address, size: 0 }, false, Section::Data)
        }));
        symbols.sort_by_key(|(symbol, ..)| symbol.address);
        let starts: Vec<u32> = symbols
            .iter()
            .filter(|(_, starts, _)| *starts)
            .map(|(symbol, ..)| symbol.address)
            .collect();
        let sized = symbols.into_iter().map(|(symbol, is_start, section)| {
            let end = if section == Section::Text { text_end } else { data_end };
            let next = starts.get(starts.partition_point(|start| *start <= symbol.address));
            let next = next.map_or(end, |next| end.min(*next));
            let size = if is_start { next.saturating_sub(symbol.address) } else { 0 };
            Symbol { size, ..symbol }
        });
        sized.collect()
    }
}

/// A run of bytes of a section.
#[derive(Debug)]
struct Chunk {
    section: Section,
    address: u32,
    bytes: Vec<u8>,
}

impl Chunk {
    fn end(&self) -> u32 {
        self.address.saturating_add(self.bytes.len() as u32)
    }
}

/// All runs of bytes, as they are written.
#[derive(Debug)]
struct Chunks(Vec<Chunk>);

impl Default for Chunks {
    fn default() -> Self {
        let of = |section, address| Chunk { section, address, bytes: Vec::new() };
        Self(vec![of(Section::Text, TEXT_ADDRESS), of(Section::Data, DATA_ADDRESS)])
    }
}

impl Chunks {
    /// Returns the bytes behind which an item is written.
    fn at(&mut self, item: &Item) -> &mut Vec<u8> {
        let Item { section, address, .. } = *item;
        let last = self.0.iter().rposition(|chunk| chunk.section == section);
        let at = last.filter(|_| !matches!(item.what, What::Origin(_))).unwrap_or(self.0.len());
        if at == self.0.len() {
            self.0.push(Chunk { section, address, bytes: Vec::new() });
        }
        &mut self.0[at].bytes
    }

    /// Returns the chunks of a section that have bytes.
    fn of(&self, section: Section) -> impl Iterator<Item = &Chunk> + Clone {
        self.0.iter().filter(move |chunk| chunk.section == section && !chunk.bytes.is_empty())
    }

    /// Returns the segments; behind the last data there is memory for a heap, as far as there is room.
    fn segments(self) -> Vec<Segment> {
        let last = self.of(Section::Data).max_by_key(|chunk| chunk.end());
        let (last, from) =
            last.map_or((DATA_ADDRESS, DATA_ADDRESS), |one| (one.address, one.end()));
        let starts = self.0.iter().filter(|chunk| !chunk.bytes.is_empty()).map(|one| one.address);
        let next = starts.chain([TIMER_ADDRESS, u32::MAX]).filter(|start| *start >= from).min();
        let heap = HEAP_BYTES.min(next.unwrap_or(u32::MAX) - from);
        let chunks = self.0.into_iter().filter(|chunk| {
            let is_heap = chunk.section == Section::Data && chunk.address == last;
            !chunk.bytes.is_empty() || is_heap
        });
        let segment = |chunk: Chunk| {
            let Chunk { section, address, bytes } = chunk;
            let writable = section == Section::Data;
            let heap = if writable && address == last { heap } else { 0 };
            Segment { address, size: bytes.len() as u32 + heap, bytes, writable }
        };
        chunks.map(segment).collect()
    }
}
