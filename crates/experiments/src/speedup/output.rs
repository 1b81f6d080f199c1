//! Blocks that are compressed by all workers and written one after the other, and the same without
//! the order.

use super::lz::{BLOCK_BYTES, Compressor, expand};
use super::stage::Wait;
use crate::support::random::Random;
use kit::Result;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};

/// Blocks of a round, dealt to the workers in turn.
const BLOCKS: usize = 12;

/// What the workers share.
#[derive(Debug)]
pub(super) struct Output {
    input: Vec<u8>,
    ordered: bool,
    workers: usize,
    /// One file for all, or one for each worker.
    files: Vec<File>,
    /// The block that is to be written next, where there is an order.
    turn: AtomicU64,
    /// Where the next block of the common file begins.
    end_bytes: AtomicU64,
    written: AtomicU64,
    failed: AtomicU64,
    /// File, offset and length of each block of the last round.
    places: Mutex<[(usize, u64, usize); BLOCKS]>,
}

/// A worker's own tools.
#[derive(Debug)]
pub(super) struct Packer {
    compressor: Compressor,
    end_bytes: u64,
}

impl Packer {
    pub(super) fn new() -> Self {
        Packer { compressor: Compressor::new(), end_bytes: 0 }
    }
}

impl Output {
    /// Makes the files in the current folder.
    pub(super) fn new(workers: usize, ordered: bool) -> Result<Self> {
        let files = (0..if ordered { 1 } else { workers }).map(|index| {
            let path = format!("packed-{index}");
            File::options().create(true).truncate(true).read(true).write(true).open(path)
        });
        Ok(Output {
            input: text(BLOCKS * BLOCK_BYTES),
            ordered,
            workers,
            files: files.collect::<std::io::Result<_>>()?,
            turn: AtomicU64::new(0),
            end_bytes: AtomicU64::new(0),
            written: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            places: Mutex::new([(0, 0, 0); BLOCKS]),
        })
    }

    fn block(&self, index: usize) -> &[u8] {
        &self.input[index * BLOCK_BYTES..(index + 1) * BLOCK_BYTES]
    }

    /// One worker's part of a round: its blocks, in their order. Returns how long it wrote while no
    /// other might, in nanoseconds.
    pub(super) fn work(&self, packer: &mut Packer, index: usize, wait: Wait) -> u64 {
        let mut alone_ns = 0;
        packer.end_bytes = 0;
        for block in (index..BLOCKS).step_by(self.workers) {
            let packed = packer.compressor.compress(self.block(block));
            if self.ordered {
                wait.until(|| self.turn.load(Ordering::Acquire) == block as u64);
                let begun_ns = sys::clock::now_ns();
                let at = self.end_bytes.load(Ordering::Relaxed);
                self.write(block, 0, at, packed);
                self.end_bytes.store(at + packed.len() as u64, Ordering::Relaxed);
                self.turn.store(block as u64 + 1, Ordering::Release);
                alone_ns += sys::clock::now_ns() - begun_ns;
            } else {
                self.write(block, index, packer.end_bytes, packed);
                packer.end_bytes += packed.len() as u64;
            }
        }
        alone_ns
    }

    fn write(&self, block: usize, file: usize, at: u64, packed: &[u8]) {
        let written = self.files[file].write_all_at(packed, at).is_ok();
        let count = if written { &self.written } else { &self.failed };
        count.fetch_add(1, Ordering::Relaxed);
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        places[block] = (file, at, packed.len());
    }

    /// Whether all blocks of the round were written; makes all ready for the next.
    pub(super) fn settle(&self) -> bool {
        self.turn.store(0, Ordering::Relaxed);
        self.end_bytes.store(0, Ordering::Relaxed);
        self.written.swap(0, Ordering::Relaxed) == BLOCKS as u64
    }

    /// How many blocks, as the last round left them in the files, do not become their input again.
    pub(super) fn wrong(&self) -> Result<u64> {
        let places = *self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let mut wrong = self.failed.load(Ordering::Relaxed);
        let mut end_bytes = 0;
        for (block, (file, at, length)) in places.into_iter().enumerate() {
            let mut packed = vec![0; length];
            self.files[file].read_exact_at(&mut packed, at)?;
            let in_order = !self.ordered || at == end_bytes;
            end_bytes = at + length as u64;
            let same = expand(&packed).as_deref() == Some(self.block(block));
            wrong += u64::from(!same || !in_order);
        }
        Ok(wrong)
    }
}

/// Text that compresses as prose does: words drawn from a few hundred, the frequent ones often.
fn text(bytes: usize) -> Vec<u8> {
    let mut random = Random::new(1, 0);
    let words: Vec<Vec<u8>> = (0..400)
        .map(|_| (0..2 + random.below(8)).map(|_| b'a' + random.below(26) as u8).collect())
        .collect();
    let mut text = Vec::with_capacity(bytes + 16);
    while text.len() < bytes {
        let rank = random.below(1 + random.clone().below(words.len() as u64));
        text.extend_from_slice(&words[rank as usize]);
        text.push(b' ');
    }
    text.truncate(bytes);
    text
}

#[cfg(test)]
mod tests {
    use super::super::lz::{BLOCK_BYTES, Compressor};
    use super::text;

    #[test]
    fn the_text_is_the_same_each_time_and_compresses_as_prose_does() {
        let once = text(BLOCK_BYTES);
        assert_eq!(once, text(BLOCK_BYTES));
        let ratio = BLOCK_BYTES as f64 / Compressor::new().compress(&once).len() as f64;
        assert!((1.3..4.0).contains(&ratio), "{ratio}");
    }
}
