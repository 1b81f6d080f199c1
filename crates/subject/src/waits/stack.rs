//! From the words of a stack to the functions that called each other.
//!
//! Words on a stack are no call chain: most are left from functions that have returned. A word counts only
//! as the return address where the unwinding table of the function before it says that it lies there. Where the table says
//! nothing, or says it by a register that is not known, the next word counts whose instruction calls that
//! function.

use super::files::Files;
use super::symbols::{Callee, Symbols};
use super::{Found, Image};
use std::rc::Rc;

/// The most functions of a stack that are looked at.
const FUNCTIONS_MAX: usize = 32;

/// A function on a stack.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) file: String,
    /// Its symbol; empty where none covers it.
    pub(super) symbol: String,
}

/// An address in a file of a process.
pub(super) struct Located {
    pub(super) symbols: Rc<Symbols>,
    pub(super) file: String,
    /// As the file counts it.
    pub(super) address: u64,
}

impl Located {
    /// Returns the file of a process that holds an address, and where.
    pub(super) fn find(address: u64, image: &Image, files: &mut Files) -> Option<Self> {
        let before = image.mappings.partition_point(|one| one.start <= address);
        let nearest = image.mappings[..before].iter().rfind(|one| one.file.starts_with('/'))?;
        let symbols = files.symbols(image, nearest)?;
        let own = symbols.address(address, &nearest.file, &image.mappings)?;
        Some(Located { symbols, file: nearest.file.clone(), address: own })
    }

    /// Returns the function that an address behind a call, or the one that is executed, belongs to.
    fn frame(&self, back: u64) -> Frame {
        let symbol = self.symbols.function(self.address - back).unwrap_or_default();
        Frame { file: self.file.clone(), symbol: symbol.to_string() }
    }
}

/// Returns the functions of a stack, the innermost first, as far as they are sure. Where a function was called by
/// another name than that of the code that it led to, both are there.
pub(super) fn functions(found: &Found, image: &Image, files: &mut Files) -> Vec<Frame> {
    let mut frames = Vec::new();
    let Some(mut here) = Located::find(found.at, image, files) else { return frames };
    let mut back = 0;
    let mut stack = 0;
    frames.push(here.frame(back));
    while frames.len() < FUNCTIONS_MAX {
        let callers = here.symbols.callers(here.address - back);
        let known = callers.iter().find_map(|caller| {
            let returns_at = stack + caller.returns_at;
            let (_, word) =
                found.words.iter().find(|(place, _)| i64::from(*place) == returns_at)?;
            let there = Located::find(*word, image, files)?;
            let callee = there.symbols.called_before(there.address)?;
            Some((there, callee, stack + caller.stack))
        });
        let next = match callers.is_empty() {
            true => searched(&here, back, stack, &found.words, image, files),
            false => known,
        };
        let Some((there, callee, above)) = next else { break };
        let named = there.symbols.named(&callee).unwrap_or_default();
        if !named.is_empty() && frames.last().is_none_or(|frame| frame.symbol != named) {
            frames.push(Frame { file: here.file.clone(), symbol: named });
        }
        (here, stack, back) = (there, above, 1);
        frames.push(here.frame(back));
    }
    frames
}

/// Returns the next word that returns from a call of this function. Behind a call of who knows what, none is sure.
fn searched(
    here: &Located,
    back: u64,
    stack: i64,
    words: &[(u16, u64)],
    image: &Image,
    files: &mut Files,
) -> Option<(Located, Callee, i64)> {
    for (place, word) in words.iter().filter(|(place, _)| i64::from(*place) >= stack) {
        let Some(there) = Located::find(*word, image, files) else { continue };
        let Some(callee) = there.symbols.called_before(there.address) else { continue };
        if callee == Callee::Indirect {
            return None;
        }
        if here.symbols.is_led_to(here.address - back, &callee, there.file == here.file) {
            return Some((there, callee, i64::from(*place) + 8));
        }
    }
    None
}
