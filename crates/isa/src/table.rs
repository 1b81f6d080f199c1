//! A map from small numbers that come in runs, such as lines and halfwords of a program.

use std::collections::HashMap;

/// Log2 of the values of a page.
const PAGE_SHIFT: u32 = 8;

/// Pages that need no hash: 256 KiB of a program at lines of 16 bytes.
const RECENT: usize = 64;

/// The values of a page.
const PAGE: usize = 1 << PAGE_SHIFT;

/// A value for each number, kept by pages of 256: most look-ups go to a page that was asked for lately, and
/// need no hash. A number that was never asked for has the default value.
#[derive(Clone, Debug)]
pub(crate) struct Table<T> {
    pages: Vec<(u32, Box<[T; PAGE]>)>,
    places: HashMap<u32, usize>,
    /// By the low bits of pages, the place of the one that was asked for last.
    recent: [usize; RECENT],
}

impl<T: Copy + Default> Table<T> {
    pub(crate) fn new() -> Self {
        Self { pages: Vec::new(), places: HashMap::new(), recent: [0; RECENT] }
    }

    /// The value of a number.
    #[inline]
    pub(crate) fn get_mut(&mut self, number: u32) -> &mut T {
        let page = number >> PAGE_SHIFT;
        let recent = &mut self.recent[page as usize % RECENT];
        if self.pages.get(*recent).is_none_or(|(known, _)| *known != page) {
            *recent = place(&mut self.pages, &mut self.places, page);
        }
        &mut self.pages[*recent].1[number as usize % PAGE]
    }

    /// All numbers of pages that were asked for, with their values, ascending.
    pub(crate) fn all(&self) -> impl Iterator<Item = (u32, &T)> {
        let mut pages: Vec<_> = self.pages.iter().collect();
        pages.sort_unstable_by_key(|(page, _)| *page);
        pages
            .into_iter()
            .flat_map(|(page, values)| (page << PAGE_SHIFT..=u32::MAX).zip(values.iter()))
    }
}

/// Returns the place of a page, which is added if it is new.
#[cold]
fn place<T: Copy + Default>(
    pages: &mut Vec<(u32, Box<[T; PAGE]>)>,
    places: &mut HashMap<u32, usize>,
    page: u32,
) -> usize {
    let added = pages.len();
    let place = *places.entry(page).or_insert(added);
    if place == added {
        pages.push((page, Box::new([T::default(); PAGE])));
    }
    place
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn values_stay_with_their_numbers() {
        let mut table = Table::new();
        let numbers = [0, 1, 255, 256, 1 << 30, 255, (1 << 30) + 1, u32::MAX, 0];
        for number in numbers {
            *table.get_mut(number) += 1;
        }
        let known: Vec<(u32, i32)> =
            table.all().filter(|(_, value)| **value != 0).map(|(it, value)| (it, *value)).collect();
        let all =
            [(0, 2), (1, 1), (255, 2), (256, 1), (1 << 30, 1), ((1 << 30) + 1, 1), (u32::MAX, 1)];
        assert_eq!(known, all);
    }
}
