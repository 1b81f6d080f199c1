//! A small compressor in the manner of LZ77 (Ziv and Lempel 1977): real work of the kind that
//! parallel compressors do, the same on every machine, and checked by undoing it.
//!
//! A block becomes sequences of: a byte with the number of literals, the literals, a byte with the
//! length of a match (0 for none), and where there is one its distance in two bytes, the lower
//! first. Matches are found through one table of the last place of every four bytes, as the quick
//! levels of known compressors do.

/// The most bytes of a block: a distance fits into two bytes.
pub(super) const BLOCK_BYTES: usize = 32 << 10;

const TABLE_BITS: u32 = 12;
const MATCH_MIN: usize = 4;
const LENGTH_MAX: usize = 255;

/// What a compressor needs beside its input: made once, so that compressing allocates nothing.
#[derive(Debug)]
pub(super) struct Compressor {
    /// The last place of each hash of four bytes, plus one.
    table: Vec<u32>,
    out: Vec<u8>,
}

impl Compressor {
    pub(super) fn new() -> Self {
        // The worst case: two more bytes for every 255 literals.
        let room = BLOCK_BYTES + 2 * (BLOCK_BYTES / LENGTH_MAX + 2);
        Compressor { table: vec![0; 1 << TABLE_BITS], out: Vec::with_capacity(room) }
    }

    /// Compresses a block of at most [`BLOCK_BYTES`].
    pub(super) fn compress(&mut self, block: &[u8]) -> &[u8] {
        debug_assert!(block.len() <= BLOCK_BYTES, "a distance has two bytes");
        self.table.fill(0);
        self.out.clear();
        let (mut at, mut literals_from) = (0, 0);
        while at + MATCH_MIN <= block.len() {
            let slot = &mut self.table[hash(block, at)];
            let before = *slot as usize;
            *slot = at as u32 + 1;
            let length = if before > 0 { common(block, before - 1, at) } else { 0 };
            if length < MATCH_MIN {
                at += 1;
                continue;
            }
            self.sequence(&block[literals_from..at], length, at + 1 - before);
            at += length;
            literals_from = at;
        }
        self.sequence(&block[literals_from..], 0, 0);
        &self.out
    }

    fn sequence(&mut self, mut literals: &[u8], length: usize, distance: usize) {
        while literals.len() > LENGTH_MAX {
            let (now, later) = literals.split_at(LENGTH_MAX);
            self.put(now, 0, 0);
            literals = later;
        }
        self.put(literals, length, distance);
    }

    fn put(&mut self, literals: &[u8], length: usize, distance: usize) {
        self.out.push(literals.len() as u8);
        self.out.extend_from_slice(literals);
        self.out.push(length as u8);
        if length > 0 {
            self.out.extend_from_slice(&(distance as u16).to_le_bytes());
        }
    }
}

fn hash(block: &[u8], at: usize) -> usize {
    let word = u32::from_le_bytes([block[at], block[at + 1], block[at + 2], block[at + 3]]);
    (word.wrapping_mul(2_654_435_761) >> (32 - TABLE_BITS)) as usize
}

/// How many bytes are the same at two places, up to the longest match.
fn common(block: &[u8], before: usize, at: usize) -> usize {
    block[at..].iter().zip(&block[before..]).take(LENGTH_MAX).take_while(|(a, b)| a == b).count()
}

/// Undoes [`Compressor::compress`]; absent if the bytes are not what it makes.
pub(super) fn expand(packed: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(BLOCK_BYTES);
    let mut rest = packed;
    while let Some((literals, after)) = rest.split_first() {
        let (literals, after) = after.split_at_checked(usize::from(*literals))?;
        out.extend_from_slice(literals);
        let (length, after) = after.split_first()?;
        rest = after;
        if *length > 0 {
            let (distance, after) = rest.split_first_chunk::<2>()?;
            rest = after;
            let from = out.len().checked_sub(usize::from(u16::from_le_bytes(*distance)))?;
            for index in from..from + usize::from(*length) {
                out.push(*out.get(index)?);
            }
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::{BLOCK_BYTES, Compressor, expand};
    use proptest::prelude::*;

    #[test]
    fn repetition_shrinks_and_noise_hardly_grows() {
        let mut compressor = Compressor::new();
        let same = vec![7; BLOCK_BYTES];
        let packed = compressor.compress(&same).to_vec();
        assert!(packed.len() < BLOCK_BYTES / 50, "{}", packed.len());
        assert_eq!(expand(&packed), Some(same));
        let mut random = crate::support::random::Random::new(1, 0);
        let noise: Vec<u8> = (0..BLOCK_BYTES).map(|_| random.next() as u8).collect();
        let room = compressor.out.capacity();
        let packed = compressor.compress(&noise).to_vec();
        assert!(packed.len() <= BLOCK_BYTES + 2 * (BLOCK_BYTES / 255 + 2));
        assert_eq!(compressor.out.capacity(), room, "compressing allocates nothing");
        assert_eq!(expand(&packed), Some(noise));
    }

    proptest! {
        #[test]
        fn what_is_compressed_comes_back(words in prop::collection::vec(0_u8..6, 0..3000)) {
            let text: Vec<u8> = words.iter().flat_map(|word| [b'a' + word, b'e', *word]).collect();
            prop_assert_eq!(expand(Compressor::new().compress(&text)), Some(text));
        }

        #[test]
        fn any_bytes_are_expanded_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            if let Some(out) = expand(&bytes) {
                prop_assert!(out.len() <= bytes.len() * 255);
            }
        }
    }
}
