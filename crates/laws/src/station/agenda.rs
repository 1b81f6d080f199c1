//! What happens next, of all that is to happen.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Slots by their keys, the least first; of equal keys the one that was noted first.
///
/// Keys that come in rising order, as those of equal times do, wait in a line and cost nothing;
/// the others are in a heap. An entry is its key, the number of its noting and its slot in one
/// integer, which compares in two instructions.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    line: VecDeque<u128>,
    heap: BinaryHeap<Reverse<u128>>,
    /// Numbers the entries. It begins anew whenever the agenda is empty; if 2³² are noted without
    /// that, two equal keys on both sides of its overflow change places.
    noted: u32,
}

/// The key of an agenda that is empty.
pub(super) const NEVER: u64 = u64::MAX;

impl Agenda {
    /// Notes a slot under a key below [`NEVER`].
    #[inline]
    pub(super) fn push(&mut self, key: u64, slot: u32) {
        let entry = u128::from(key) << 64 | u128::from(self.noted) << 32 | u128::from(slot);
        self.noted = self.noted.wrapping_add(1);
        if self.line.back().is_none_or(|last| *last <= entry) {
            self.line.push_back(entry);
        } else {
            self.heap.push(Reverse(entry));
        }
    }

    /// The least key; [`NEVER`] if there is none.
    #[inline]
    pub(super) fn key(&self) -> u64 {
        let line = self.line.front().copied().unwrap_or(u128::MAX);
        let heap = self.heap.peek().map_or(u128::MAX, |entry| entry.0);
        (line.min(heap) >> 64) as u64
    }

    /// Takes out the slot with the least key.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<u32> {
        let line = self.line.front().copied().unwrap_or(u128::MAX);
        let entry = match self.heap.peek() {
            Some(Reverse(heap)) if *heap < line => self.heap.pop().map(|entry| entry.0),
            _ => self.line.pop_front(),
        }?;
        if self.line.is_empty() && self.heap.is_empty() {
            self.noted = 0;
        }
        Some(entry as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::{Agenda, NEVER};
    use proptest::prelude::*;

    #[test]
    fn of_equal_keys_the_first_comes_first() {
        let mut agenda = Agenda::default();
        assert_eq!((agenda.key(), agenda.pop()), (NEVER, None));
        for (key, slot) in [(5, 1), (3, 9), (5, 0), (3, 2), (4, 7)] {
            agenda.push(key, slot);
        }
        assert_eq!(agenda.key(), 3);
        let out: Vec<u32> = std::iter::from_fn(|| agenda.pop()).collect();
        assert_eq!(out, [9, 2, 7, 1, 0]);
    }

    proptest! {
        #[test]
        fn an_agenda_is_a_stable_sort(steps in prop::collection::vec((0..50_u64, 0..3_u8), 0..200)) {
            let (mut agenda, mut plain) = (Agenda::default(), Vec::new());
            for (slot, (key, pops)) in (0_u32..).zip(steps) {
                agenda.push(key, slot);
                plain.push((key, slot));
                for _ in 0..pops {
                    plain.sort();
                    let least = (!plain.is_empty()).then(|| plain.remove(0));
                    prop_assert_eq!(agenda.key(), least.map_or(NEVER, |entry| entry.0));
                    prop_assert_eq!(agenda.pop(), least.map(|entry| entry.1));
                }
            }
        }
    }
}
