//! What a thread hands over after each slice of the time.

use super::Worker;
use crate::load::Times;
use crate::load::connection::Phase;
use crate::load::series::Piece;

/// What had been counted when the last slice ended.
#[derive(Debug, Default)]
pub(super) struct Handed {
    succeeded: u64,
    failed: u64,
    cpu_ns: u64,
}

impl Worker<'_> {
    /// Begins the first slice.
    pub(super) fn begin_slices(&mut self) {
        self.slice_until_ns = self.start_ns + self.job.slice_ns;
        self.handed.cpu_ns = sys::clock::thread_cpu_ns();
    }

    /// Hands over what happened since the last time, and begins the slice of `now_ns`. A thread that has
    /// nothing to do is not woken for it.
    pub(super) fn hand_over(&mut self, now_ns: u64) {
        self.quiet.look();
        let tally = &mut self.tally;
        let handed = Handed {
            succeeded: tally.succeeded() - tally.succeeded_late,
            failed: tally.answered() - tally.succeeded() + tally.failed() + tally.timed_out,
            cpu_ns: sys::clock::thread_cpu_ns(),
        };
        let is_open = |phase: Phase| !matches!(phase, Phase::Vacant | Phase::Resting);
        let open = self.connections.iter().filter(|connection| is_open(connection.phase));
        let piece = Piece {
            thread: self.job.thread,
            until_ns: self.slice_until_ns - self.start_ns,
            prompt: cut(&mut tally.prompt),
            prompt_sent: std::mem::take(&mut tally.prompt_sent),
            response: cut(&mut tally.response),
            refused: cut(&mut tally.refused),
            service: cut(&mut tally.service),
            lateness: cut(&mut tally.lateness),
            punctual: cut(&mut tally.punctual),
            succeeded: handed.succeeded - self.handed.succeeded,
            failed: handed.failed - self.handed.failed,
            connections: open.count() as u32,
            cpu_ns: handed.cpu_ns - self.handed.cpu_ns,
            noted: std::mem::take(&mut tally.noted),
        };
        self.handed = handed;
        // Nobody listens when the load has failed.
        let _ = self.job.pieces.send(piece);
        let slices = now_ns.saturating_sub(self.start_ns) / self.job.slice_ns + 1;
        self.slice_until_ns = self.start_ns + slices * self.job.slice_ns;
    }
}

/// Returns the times so far, and leaves none in histograms of the same size.
fn cut(times: &mut Times) -> Times {
    let empty = Times { known: empty(&times.known), censored: empty(&times.censored) };
    std::mem::replace(times, empty)
}

fn empty(like: &hdrhistogram::Histogram<u64>) -> hdrhistogram::Histogram<u64> {
    hdrhistogram::Histogram::new_from(like)
}
