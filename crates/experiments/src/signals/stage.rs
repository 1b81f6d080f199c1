//! The words that the receiver of signals and their sender share, whether they are threads of one
//! process or processes.

use kit::{OBSERVATIONS_MAX, Stop};
use std::sync::atomic::{AtomicU64, Ordering};

const READY: usize = 0;
const NEXT: usize = 1;
const NOTICED: usize = 2;
const NOTICED_NS: usize = 3;
const SENT: usize = 4;
const SENT_NS: usize = 5;
const STOP: usize = 6;
const LOST: usize = 7;
const HANDLED: usize = 8;
const QUEUE_WAIT_NS: usize = 9;
const LATENCIES: usize = 10;
const FIRST_LATENCY: usize = 11;
const WORDS: usize = FIRST_LATENCY + OBSERVATIONS_MAX;

/// Where receiver and sender meet. Rounds are counted from 1.
#[derive(Clone, Copy)]
pub(super) struct Stage(&'static [AtomicU64]);

impl Stage {
    /// An empty stage.
    pub(super) fn new() -> Result<Self, Stop> {
        let memory = Box::leak(Box::new(sys::pages::shared(WORDS * size_of::<u64>())?));
        // Touched now, so that no first touch falls into the timed region.
        memory.words().iter().for_each(|word| word.store(0, Ordering::Relaxed));
        Ok(Stage(memory.words()))
    }

    fn get(self, word: usize) -> u64 {
        self.0[word].load(Ordering::Acquire)
    }

    fn set(self, word: usize, value: u64) {
        self.0[word].store(value, Ordering::Release);
    }

    /// The word in which the handler counts.
    pub(super) fn handled_word(self) -> &'static AtomicU64 {
        &self.0[HANDLED]
    }

    /// Signals that the handler has handled.
    pub(super) fn handled(self) -> u64 {
        self.get(HANDLED)
    }

    /// The receiver is about to wait in this round.
    pub(super) fn ready(self, round: u64) {
        self.set(READY, round);
    }

    /// The last round for which the receiver was ready.
    pub(super) fn readiness(self) -> u64 {
        self.get(READY)
    }

    /// Whether the receiver is that far.
    pub(super) fn is_ready(self, round: u64) -> bool {
        self.get(READY) >= round
    }

    /// The receiver has noticed this round's signal, and when.
    pub(super) fn notice(self, round: u64, now_ns: u64) {
        self.set(NOTICED_NS, now_ns);
        self.set(NOTICED, round);
    }

    /// Whether the receiver has noticed this round's signal.
    pub(super) fn noticed(self, round: u64) -> bool {
        self.get(NOTICED) >= round
    }

    /// The sender is about to send this round's signal.
    pub(super) fn sending(self, now_ns: u64) {
        self.set(SENT_NS, now_ns);
    }

    /// The sender has sent all of this round's signals.
    pub(super) fn sent(self, round: u64) {
        self.set(SENT, round);
    }

    /// Whether all of this round's signals have been sent.
    pub(super) fn is_sent(self, round: u64) -> bool {
        self.get(SENT) >= round
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

    /// This round's wake-up was lost.
    pub(super) fn lose(self) {
        self.0[LOST].fetch_add(1, Ordering::AcqRel);
    }

    /// Wake-ups lost so far.
    pub(super) fn lost(self) -> u64 {
        self.get(LOST)
    }

    /// Lets the receiver begin another round, or end.
    pub(super) fn go_on(self, round: u64, again: bool) {
        if !again {
            self.set(STOP, 1);
        }
        self.set(NEXT, round + 1);
    }

    /// Whether there is another round, once the sender has decided it.
    pub(super) fn another(self, round: u64) -> Option<bool> {
        (self.get(NEXT) > round).then(|| self.get(STOP) == 0)
    }

    /// The sender says how long it was ready to run and had no CPU.
    pub(super) fn sender_waited(self, waited_ns: Option<u64>) {
        self.set(QUEUE_WAIT_NS, waited_ns.unwrap_or(u64::MAX));
    }

    /// How long the sender was ready to run and had no CPU; absent where the kernel does not report
    /// it.
    pub(super) fn sender_queue_wait_ns(self) -> Option<u64> {
        Some(self.get(QUEUE_WAIT_NS)).filter(|waited| *waited != u64::MAX)
    }
}

/// How long the calling thread has waited for a CPU since an earlier look at its account.
pub(super) fn waited_since(earlier: Option<sys::proc::SchedStat>) -> Option<u64> {
    Some(sys::proc::schedstat_thread()?.since(earlier?).queue_wait_ns)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests {
    use super::*;

    #[test]
    fn rounds_pass_from_one_side_to_the_other() {
        let stage = Stage::new().unwrap();
        assert!(!stage.is_ready(1) && !stage.noticed(1) && !stage.is_sent(1));
        stage.ready(1);
        stage.sending(100);
        stage.sent(1);
        stage.notice(1, 130);
        stage.keep_latency();
        assert!(stage.is_ready(1) && stage.noticed(1) && stage.is_sent(1) && !stage.noticed(2));
        assert_eq!(stage.another(1), None);
        stage.go_on(1, true);
        assert_eq!(stage.another(1), Some(true));
        stage.go_on(2, false);
        assert_eq!(stage.another(2), Some(false));
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
        stage.sender_waited(None);
        assert_eq!(stage.sender_queue_wait_ns(), None);
        stage.sender_waited(Some(7));
        assert_eq!(stage.sender_queue_wait_ns(), Some(7));
        assert_eq!(waited_since(None), None);
    }
}
