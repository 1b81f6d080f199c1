//! Which fully associative LRU caches hold a line, for several sizes at once.
//!
//! Under LRU a cache holds the lines accessed last, so that each size holds all that a smaller one
//! does (the stack property: R. L. Mattson, J. Gecsei, D. R. Slutz and I. L. Traiger, *Evaluation
//! techniques for storage hierarchies*, IBM Systems Journal 9(2), 1970). One list in the order of
//! last access answers for all of them. What matters of a line's place in it is only between which
//! two of the sizes it lies; so each line knows that, each size knows the last line that it holds,
//! and an access moves as many borders as it passes, however far it reaches (Y. H. Kim, M. D. Hill
//! and D. A. Wood, *Implementing stack simulation for highly-associative memories*, SIGMETRICS 1991).

use crate::table::Table;

/// No node: the end of the list.
const NONE: u32 = u32::MAX;

/// A line in the list.
#[derive(Clone, Copy, Debug)]
struct Node {
    /// The one accessed after it.
    newer: u32,
    /// The one accessed before it.
    older: u32,
    /// How many of the sizes do not hold it, the smallest first.
    missed_by: u32,
}

/// All lines ever accessed, in the order of their last access.
#[derive(Clone, Debug)]
pub(super) struct Recency {
    /// Sizes in lines, ascending, each once.
    sizes: Vec<u32>,
    /// The oldest line that each size holds; [`NONE`] as long as it has a place to spare.
    oldest_held: Vec<u32>,
    nodes: Vec<Node>,
    newest: u32,
    oldest: u32,
    /// By line, the place of its node, and 1; 0 where there is none.
    places: Table<u32>,
}

impl Recency {
    /// Makes caches with these numbers of lines.
    pub(super) fn new(mut sizes: Vec<u32>) -> Self {
        sizes.sort_unstable();
        sizes.dedup();
        Recency {
            oldest_held: vec![NONE; sizes.len()],
            sizes,
            nodes: Vec::new(),
            newest: NONE,
            oldest: NONE,
            places: Table::new(),
        }
    }

    /// The sizes, ascending, each once.
    pub(super) fn sizes(&self) -> &[u32] {
        &self.sizes
    }

    /// Accesses a line: how many of the sizes miss it, the smallest first; `None` if it is new, so
    /// that all do.
    #[inline]
    pub(super) fn access(&mut self, line: u32) -> Option<usize> {
        let known = self.places.get_mut(line);
        if *known == 0 {
            self.add(line);
            return None;
        }
        let place = *known - 1;
        let missed_by = self.nodes[place as usize].missed_by as usize;
        if place != self.newest {
            self.age(place, missed_by);
            self.leave(place);
            self.lead(place);
        }
        Some(missed_by)
    }

    /// Accesses a new line.
    #[cold]
    fn add(&mut self, line: u32) {
        // No more lines exist than numbers below `NONE`: a line has four bytes or more.
        let place = self.nodes.len() as u32;
        *self.places.get_mut(line) = place + 1;
        self.nodes.push(Node { newer: NONE, older: NONE, missed_by: 0 });
        self.age(place, self.sizes.len());
        self.lead(place);
        // A size that this line has filled holds all lines that there are.
        if let Ok(full) = self.sizes.binary_search(&(place + 1)) {
            self.oldest_held[full] = self.oldest;
        }
    }

    /// The number of a line that was accessed, counted from 0 in the order of first accesses; 0 also for one
    /// that was not.
    pub(super) fn number(&mut self, line: u32) -> usize {
        self.places.get_mut(line).saturating_sub(1) as usize
    }

    /// Accesses a line only if the smallest of the sizes holds it; returns what
    /// [`access`](Self::access) would.
    pub(super) fn touch(&mut self, line: u32) -> Option<usize> {
        let place = self.places.get_mut(line).checked_sub(1)?;
        match self.nodes[place as usize].missed_by {
            0 => self.access(line),
            missed_by => Some(missed_by as usize),
        }
    }

    /// Makes room at the front of the `missing` smallest sizes: each full one gives up its oldest.
    fn age(&mut self, front: u32, missing: usize) {
        for index in 0..missing {
            let oldest = self.oldest_held[index];
            if oldest == NONE {
                break;
            }
            let node = &mut self.nodes[oldest as usize];
            node.missed_by = index as u32 + 1;
            self.oldest_held[index] = if node.newer == NONE { front } else { node.newer };
        }
    }

    /// Takes a line that is not the newest out of the list.
    fn leave(&mut self, place: u32) {
        let Node { newer, older, missed_by } = self.nodes[place as usize];
        self.nodes[newer as usize].older = older;
        if older == NONE {
            self.oldest = newer;
        } else {
            self.nodes[older as usize].newer = newer;
        }
        if let Some(oldest) = self.oldest_held.get_mut(missed_by as usize)
            && *oldest == place
        {
            *oldest = newer;
        }
    }

    /// Puts a line that is not in the list at its front.
    fn lead(&mut self, place: u32) {
        if self.newest == NONE {
            self.oldest = place;
        } else {
            self.nodes[self.newest as usize].newer = place;
        }
        self.nodes[place as usize] = Node { newer: NONE, older: self.newest, missed_by: 0 };
        self.newest = place;
    }
}

#[cfg(test)]
mod tests {
    use super::Recency;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_line_is_missed_by_the_sizes_that_are_no_larger_than_its_distance(
            sizes in prop::collection::vec(1_u32..20, 0..6),
            lines in prop::collection::vec(0_u32..24, 0..400),
        ) {
            let mut recency = Recency::new(sizes);
            let sizes = recency.sizes().to_vec();
            let mut list: Vec<u32> = Vec::new();
            for line in lines {
                let distance = list.iter().position(|other| *other == line);
                let missed_by = distance.map(|distance| {
                    sizes.iter().filter(|size| **size as usize <= distance).count()
                });
                if let Some(distance) = distance {
                    list.remove(distance);
                }
                list.insert(0, line);
                prop_assert_eq!(recency.access(line), missed_by);
            }
        }
    }
}
