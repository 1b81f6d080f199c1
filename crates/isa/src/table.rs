//! A map from small numbers that come in runs, such as lines and halfwords of a program.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Log2 of the values of a page.
const PAGE_SHIFT: u32 = 8;

/// The values of a page.
const PAGE: usize = 1 << PAGE_SHIFT;

/// A value for each number, kept by pages of 256: most look-ups go to the page of the last one and need
/// no hash. A number that was never asked for has the default value.
#[derive(Clone, Debug)]
pub(crate) struct Table<T> {
    pages: Vec<(u32, Box<[T; PAGE]>)>,
    places: HashMap<u32, usize, BuildHasherDefault<PageHasher>>,
    /// The place of the page that was asked for last.
    recent: usize,
}

impl<T: Copy + Default> Table<T> {
    pub(crate) fn new() -> Self {
        Self { pages: Vec::new(), places: HashMap::default(), recent: 0 }
    }

    /// The value of a number.
    #[inline]
    pub(crate) fn get_mut(&mut self, number: u32) -> &mut T {
        let page = number >> PAGE_SHIFT;
        if self.pages.get(self.recent).is_none_or(|(known, _)| *known != page) {
            self.recent = self.place(page);
        }
        &mut self.pages[self.recent].1[number as usize % PAGE]
    }

    #[cold]
    fn place(&mut self, page: u32) -> usize {
        let added = self.pages.len();
        let place = *self.places.entry(page).or_insert(added);
        if place == added {
            self.pages.push((page, Box::new([T::default(); PAGE])));
        }
        place
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

/// A hash of page numbers: Fibonacci hashing (D. E. Knuth, *The art of computer programming* 3,
/// section 6.4). The standard library's hash, which withstands an adversary, takes several times as long.
#[derive(Clone, Copy, Debug, Default)]
struct PageHasher(u64);

impl Hasher for PageHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u32(u32::from(*byte));
        }
    }

    fn write_u32(&mut self, page: u32) {
        let product = (self.0 ^ u64::from(page)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        // The product's low bits, by which the map chooses a bucket, know nothing of a page's high ones.
        self.0 = product ^ (product >> 32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
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
