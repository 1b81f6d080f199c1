use super::*;
use crate::support::random::Random;
use proptest::collection::vec;
use proptest::prelude::{Just, ProptestConfig, Strategy, prop_oneof, proptest};
use std::collections::BTreeMap;

/// What is done to the heap.
#[derive(Clone, Debug)]
enum Action {
    Allocate(usize),
    /// Gives back one of those in use, counted round and round.
    Release(usize),
    /// Gives back one that was given back before.
    ReleaseAgain(usize),
    /// Gives back what is no payload.
    ReleaseNonsense(usize),
}

/// What is known of a payload by whoever has it.
struct Mine {
    request_bytes: usize,
    pattern: u64,
}

/// A heap beside a model of it: what is in use, and what is written there.
struct Pair {
    heap: Heap,
    arena_bytes: usize,
    used: BTreeMap<usize, Mine>,
    gone: Vec<usize>,
    refused: u64,
    next_pattern: u64,
}

impl Pair {
    fn new(bytes: usize) -> Self {
        let heap = Heap::new(bytes);
        let arena_bytes = heap.blocks().map(|block| block.bytes).sum();
        Pair {
            heap,
            arena_bytes,
            used: BTreeMap::new(),
            gone: Vec::new(),
            refused: 0,
            next_pattern: 0,
        }
    }

    fn act(&mut self, action: &Action) {
        match action {
            Action::Allocate(bytes) => self.allocate(*bytes),
            Action::Release(which) if !self.used.is_empty() => {
                let payload = *self.used.keys().nth(which % self.used.len()).unwrap();
                self.look_at(payload);
                assert_eq!(self.heap.release(payload), Ok(()));
                self.used.remove(&payload);
                self.gone.push(payload);
            }
            Action::ReleaseAgain(which) if !self.gone.is_empty() => {
                let payload = self.gone[which % self.gone.len()];
                if !self.used.contains_key(&payload) {
                    // Merged with a neighbour it is no payload any more.
                    assert!(self.heap.release(payload).is_err());
                }
            }
            Action::ReleaseNonsense(payload) if !self.used.contains_key(payload) => {
                assert!(self.heap.release(*payload).is_err());
            }
            _ => {}
        }
        self.check();
    }

    fn allocate(&mut self, bytes: usize) {
        let needed = Heap::block_bytes(bytes);
        let first_fit = self
            .heap
            .blocks()
            .find(|block| !block.in_use && needed.is_some_and(|needed| block.bytes >= needed));
        match self.heap.allocate(bytes) {
            Some(payload) => {
                assert_eq!(Some(payload), first_fit.map(|block| block.payload()), "first fit");
                self.next_pattern += 0x0101_0101;
                // To the last byte, beyond what was asked for: the tags must stand it.
                for word in self.heap.words(payload) {
                    word.store(self.next_pattern, Ordering::Relaxed);
                }
                let mine = Mine { request_bytes: bytes, pattern: self.next_pattern };
                assert!(self.used.insert(payload, mine).is_none(), "{payload} is in use");
            }
            None => {
                assert_eq!(first_fit, None, "there was room for {bytes}");
                self.refused += 1;
            }
        }
    }

    fn look_at(&self, payload: usize) {
        let mine = &self.used[&payload];
        let mut words = 0;
        for word in self.heap.words(payload) {
            assert_eq!(word.load(Ordering::Relaxed), mine.pattern, "{payload} was changed");
            words += 1;
        }
        assert!(words * WORD_BYTES >= mine.request_bytes.max(1));
    }

    /// All that must hold after every action.
    fn check(&mut self) {
        let blocks: Vec<Listed> = self.heap.blocks().collect();
        assert_eq!(blocks.iter().map(|block| block.bytes).sum::<usize>(), self.arena_bytes);
        for pair in blocks.windows(2) {
            assert_eq!(pair[0].end(), pair[1].offset, "no gap and no overlap");
            assert!(pair[0].in_use || pair[1].in_use, "free neighbours: {pair:?}");
        }
        for block in &blocks {
            assert_eq!(block.payload() % ALIGNMENT, 0);
            assert_eq!(block.bytes % ALIGNMENT, 0);
            assert!(block.bytes >= LEAST_BLOCK_BYTES);
            assert_eq!(self.heap.before(block.end()), Some(*block), "the footer says the same");
        }
        let in_use: Vec<usize> =
            blocks.iter().filter(|block| block.in_use).map(Listed::payload).collect();
        assert_eq!(in_use, self.used.keys().copied().collect::<Vec<_>>());
        for block in blocks.iter().filter(|block| block.in_use) {
            assert!(block.payload_bytes() >= self.used[&block.payload()].request_bytes);
        }
        assert_eq!(self.heap.refused(), self.refused);
    }

    /// Whatever was done, all can be given back, and then the heap is one free block.
    fn end(mut self) {
        let payloads: Vec<usize> = self.used.keys().copied().collect();
        for payload in payloads {
            self.look_at(payload);
            self.heap.release(payload).unwrap();
        }
        let blocks: Vec<Listed> = self.heap.blocks().collect();
        assert_eq!(
            blocks,
            [Listed { offset: START, bytes: self.arena_bytes, in_use: false }],
            "merged again"
        );
    }
}

fn actions() -> impl Strategy<Value = Vec<Action>> {
    let size = prop_oneof![
        8 => 0_usize..200,
        2 => 0_usize..3000,
        1 => Just(usize::MAX),
        1 => Just(usize::MAX - 20),
    ];
    let action = prop_oneof![
        5 => size.prop_map(Action::Allocate),
        4 => (0_usize..1000).prop_map(Action::Release),
        1 => (0_usize..1000).prop_map(Action::ReleaseAgain),
        1 => (0_usize..3000).prop_map(Action::ReleaseNonsense),
    ];
    vec(action, 0..120)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn it_does_what_its_model_does(arena_bytes in 0_usize..2500, actions in actions()) {
        let mut pair = Pair::new(arena_bytes);
        for action in &actions {
            pair.act(action);
        }
        pair.end();
    }
}

#[test]
fn it_does_so_for_long() {
    let mut random = Random::new(20_261_120, 0);
    let mut pair = Pair::new(16 << 10);
    let mut refused_at_least_once = false;
    for _ in 0..20_000 {
        let size = random.below(300) as usize;
        let which = random.next() as usize;
        // In long waves of more allocations than releases and the other way round.
        let action = match random.below(16) + 4 * u64::from(pair.refused % 64 < 32) {
            0..=8 => Action::Release(which),
            9 => Action::ReleaseAgain(which),
            10 => Action::ReleaseNonsense(which % (17 << 10)),
            _ => Action::Allocate(size),
        };
        pair.act(&action);
        refused_at_least_once |= pair.refused > 0;
    }
    assert!(refused_at_least_once, "the heap was never full");
    pair.end();
}

#[test]
fn two_requests_of_eight_bytes_lie_as_a_hand_draws_them() {
    let mut heap = Heap::new(256);
    assert_eq!((heap.allocate(8), heap.allocate(8)), (Some(16), Some(48)));
    let listed: Vec<(usize, usize, bool)> =
        heap.blocks().map(|block| (block.offset, block.bytes, block.in_use)).collect();
    assert_eq!(listed, [(8, 32, true), (40, 32, true), (72, 176, false)]);
    assert_eq!(heap.release(16), Ok(()));
    assert_eq!(heap.release(16), Err(Misuse::NotInUse));
    assert_eq!(heap.release(48), Ok(()));
    assert_eq!(heap.release(48), Err(Misuse::NoPayload), "its block was merged away");
    assert_eq!(heap.blocks().count(), 1);
}

#[test]
fn a_likeness_of_a_header_in_a_payload_fools_nobody() {
    let mut heap = Heap::new(512);
    let payload = heap.allocate(100).unwrap();
    for word in heap.words(payload) {
        word.store(32 | IN_USE, Ordering::Relaxed);
    }
    assert_eq!(heap.release(payload + 16), Err(Misuse::NoPayload));
    assert_eq!(heap.release(usize::MAX), Err(Misuse::NoPayload));
}

#[test]
fn a_rest_too_small_for_a_block_stays_with_it() {
    // One free block of 80 bytes: 48 would leave 32, 64 would leave 16.
    let mut split = Heap::new(96);
    split.allocate(32).unwrap();
    assert_eq!(split.blocks().map(|block| block.bytes).collect::<Vec<_>>(), [48, 32]);
    let mut whole = Heap::new(96);
    whole.allocate(48).unwrap();
    assert_eq!(whole.blocks().map(|block| block.bytes).collect::<Vec<_>>(), [80]);
}

#[test]
fn sizes_are_those_of_the_lecture() {
    let of = |request_bytes| Heap::block_bytes(request_bytes);
    assert_eq!([of(0), of(8), of(16)], [Some(32); 3]);
    assert_eq!([of(17), of(24), of(32)], [Some(48); 3]);
    assert_eq!((of(48), of(64), of(128)), (Some(64), Some(80), Some(144)));
    assert_eq!((of(usize::MAX), of(usize::MAX - 16)), (None, None));
}
