//! The words that the receiver of signals and their sender share, whether they are threads of one
//! process or processes.

use kit::{OBSERVATIONS_MAX, Result};
use std::sync::atomic::{AtomicU64, Ordering};

/// The last round in which the receiver was about to wait.
pub(super) const READY: usize = 0;

/// The last round whose signal the receiver has noticed.
pub(super) const NOTICED: usize = 2;

/// The last round of which the sender has sent all signals.
pub(super) const SENT: usize = 4;

/// When the sender was about to send this round's signal.
pub(super) const SENT_NS: usize = 5;

/// Wake-ups lost so far, counted by the sender.
pub(super) const LOST: usize = 7;

/// Signals that the handler has handled.
pub(super) const HANDLED: usize = 8;

/// How long the sender was ready to run and had no CPU; `u64::MAX` where the kernel does not
/// report it.
pub(super) const QUEUE_WAIT_NS: usize = 9;

const NEXT: usize = 1;
const NOTICED_NS: usize = 3;
const STOP: usize = 6;
const LATENCIES: usize = 10;
const FIRST_LATENCY: usize = 11;
const WORDS: usize = FIRST_LATENCY + OBSERVATIONS_MAX;

/// Where receiver and sender meet. Rounds are counted from 1.
#[derive(Clone, Copy)]
pub(super) struct Stage(&'static [AtomicU64]);

impl Stage {
    /// An empty stage.
    pub(super) fn new() -> Result<Self> {
        Ok(Stage(sys::pages::shared_for_ever(WORDS)?))
    }

    /// One of its words.
    pub(super) fn word(self, word: usize) -> &'static AtomicU64 {
        &self.0[word]
    }

    /// What is in a word.
    pub(super) fn get(self, word: usize) -> u64 {
        self.0[word].load(Ordering::Acquire)
    }

    /// The same, unless nobody knows it.
    pub(super) fn known(self, word: usize) -> Option<u64> {
        Some(self.get(word)).filter(|known| *known != u64::MAX)
    }

    /// Writes a word.
    pub(super) fn set(self, word: usize, value: u64) {
        self.0[word].store(value, Ordering::Release);
    }

    /// Whether that came to pass in this round, or in a later one.
    pub(super) fn reached(self, word: usize, round: u64) -> bool {
        self.get(word) >= round
    }

    /// The receiver has noticed this round's signal, and when.
    pub(super) fn notice(self, round: u64, now_ns: u64) {
        self.set(NOTICED_NS, now_ns);
        self.set(NOTICED, round);
    }

    /// Keeps the time from this round's signal to its being noticed, while there is room.
    pub(super) fn keep_latency(self) {
        let kept = self.get(LATENCIES);
        if kept < OBSERVATIONS_MAX as u64 {
            let latency = self.get(NOTICED_NS).saturating_sub(self.get(SENT_NS));
            self.set(FIRST_LATENCY + kept as usize, latency);
            self.set(LATENCIES, kept + 1);
        }
    }

    /// The latencies kept.
    pub(super) fn latencies(self) -> Vec<i64> {
        let kept = self.get(LATENCIES) as usize;
        (FIRST_LATENCY..FIRST_LATENCY + kept).map(|word| self.get(word) as i64).collect()
    }

    /// Lets the receiver begin another round, or end.
    pub(super) fn go_on(self, round: u64, again: bool) {
        if !again {
            self.set(STOP, 1);
        }
        self.set(NEXT, round + 1);
    }

    /// Passes the time until the sender has decided it; says whether there is another round.
    pub(super) fn another(self, round: u64, pass: impl Fn()) -> bool {
        while !self.reached(NEXT, round + 1) {
            pass();
        }
        self.get(STOP) == 0
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests {
    use super::*;

    #[test]
    fn rounds_pass_from_one_side_to_the_other() {
        let stage = Stage::new().unwrap();
        assert!([READY, NOTICED, SENT].iter().all(|word| !stage.reached(*word, 1)));
        stage.set(READY, 1);
        stage.set(SENT_NS, 100);
        stage.set(SENT, 1);
        stage.notice(1, 130);
        stage.keep_latency();
        assert!([READY, NOTICED, SENT].iter().all(|word| stage.reached(*word, 1)));
        assert!(!stage.reached(NOTICED, 2));
        // Nothing is decided yet.
        assert!(!stage.reached(NEXT, 2));
        assert!(stage.another(1, || stage.go_on(1, true)));
        assert!(stage.another(1, || panic!("it is decided")));
        stage.go_on(2, false);
        assert!(!stage.another(2, || panic!("it is decided")));
        assert_eq!(stage.latencies(), [30]);
    }

    #[test]
    fn latencies_end_where_there_is_no_room() {
        let stage = Stage::new().unwrap();
        (0..2 * OBSERVATIONS_MAX).for_each(|_| stage.keep_latency());
        assert_eq!(stage.latencies().len(), OBSERVATIONS_MAX);
    }

    #[test]
    fn what_the_kernel_does_not_tell_is_absent() {
        let stage = Stage::new().unwrap();
        stage.set(QUEUE_WAIT_NS, kit::workers::queue_wait_since(None).unwrap_or(u64::MAX));
        assert_eq!(stage.known(QUEUE_WAIT_NS), None);
        stage.set(QUEUE_WAIT_NS, 7);
        assert_eq!(stage.known(QUEUE_WAIT_NS), Some(7));
        assert_eq!(kit::workers::queue_wait_since(None), None);
    }
}
