//! The ways to wait for a signal.

use kit::{Result, Stop};
use sys::clock::now_ns;
use sys::wait_signal::{self, SignalFd, SignalSet};
use sys::{handler, signal};

/// Wakes a receiver that would sleep for ever.
pub(super) const RESCUE: i32 = signal::SIGUSR2;

/// How a receiver waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// The handler sets a flag; `while (!flag) pause();`.
    Pause,
    /// The same, but the signal is blocked during the look at the flag: `unblock; pause; block`.
    UnblockPause,
    /// The signal is blocked; `while (!flag) sigsuspend(unblocked)`.
    Suspend,
    /// The same with `ppoll`.
    Poll,
    /// The signal is blocked and has no handler that runs: `sigwait`.
    Wait,
    /// The same with `read` from a signalfd.
    Descriptor,
}

/// The levels of the factor `waiter`.
pub(super) const WAYS: [(&str, Way); 6] = [
    ("pause", Way::Pause),
    ("unblock_pause", Way::UnblockPause),
    ("sigsuspend", Way::Suspend),
    ("ppoll", Way::Poll),
    ("sigwait", Way::Wait),
    ("signalfd", Way::Descriptor),
];

/// Who waits, seen from its own thread.
#[derive(Debug)]
pub(super) struct Receiver {
    way: Way,
    signal: i32,
    window_ns: u64,
    /// The signal, and the one that rescues.
    both: SignalSet,
    only: SignalSet,
    /// The mask while asleep in sigsuspend or ppoll.
    open: SignalSet,
    descriptor: Option<SignalFd>,
    taken: u64,
}

impl Receiver {
    /// Takes on handlers and mask of a way, and verifies the mask.
    ///
    /// `window_ns` is spent between the look at the flag and the sleep.
    pub(super) fn new(way: Way, signal: i32, window_ns: u64) -> Result<Self> {
        handler::count(signal)?;
        handler::interrupt(RESCUE)?;
        let (both, only) = (SignalSet::of(&[signal, RESCUE]), SignalSet::of(&[signal]));
        let open = wait_signal::blocked()?.without(&[signal, RESCUE]);
        wait_signal::unblock(&both)?;
        match way {
            Way::Pause => {}
            Way::UnblockPause | Way::Suspend | Way::Poll => wait_signal::block(&only)?,
            // Nothing interrupts these for good; the one that rescues is taken like the other.
            Way::Wait | Way::Descriptor => wait_signal::block(&both)?,
        }
        let descriptor = if way == Way::Descriptor { Some(SignalFd::new(&both)?) } else { None };
        let receiver = Receiver { way, signal, window_ns, both, only, open, descriptor, taken: 0 };
        receiver.verify()?;
        Ok(receiver)
    }

    /// Reads back from the kernel, in both of its accounts, that the signal is really blocked, or
    /// really not.
    fn verify(&self) -> Result<()> {
        let asked = self.way != Way::Pause;
        let by_call = wait_signal::blocked()?.contains(self.signal);
        let by_proc = wait_signal::masks_of(wait_signal::thread_id())?.blocks(self.signal);
        if by_call == asked && by_proc == asked {
            return Ok(());
        }
        Err(Stop::failed(format!(
            "signal {} should be blocked: {asked}; pthread_sigmask says {by_call}, /proc {by_proc}",
            self.signal
        )))
    }

    /// Whether nothing stands between the look at the flag and the sleep.
    pub(super) fn is_prompt(&self) -> bool {
        self.window_ns == 0
    }

    /// How many signals have been handled, in whichever way.
    pub(super) fn handled(&self) -> u64 {
        if matches!(self.way, Way::Wait | Way::Descriptor) {
            self.taken
        } else {
            handler::counted()
        }
    }

    /// Waits until `count` signals have been handled: the loop whose race is studied.
    pub(super) fn wait_for(&mut self, count: u64) -> Result<()> {
        while self.handled() < count {
            self.sleep()?;
        }
        Ok(())
    }

    /// Sleeps until something comes.
    pub(super) fn sleep(&mut self) -> Result<()> {
        if self.window_ns > 0 {
            let until = now_ns() + self.window_ns;
            while now_ns() < until {
                std::hint::spin_loop();
            }
        }
        match self.way {
            Way::Pause => wait_signal::pause(),
            Way::UnblockPause => {
                wait_signal::unblock(&self.only)?;
                wait_signal::pause();
                wait_signal::block(&self.only)?;
            }
            Way::Suspend => wait_signal::suspend(&self.open),
            Way::Poll => wait_signal::poll_nothing(&self.open),
            Way::Wait => {
                let came = wait_signal::take(&self.both)?;
                self.taken += u64::from(came == self.signal);
            }
            Way::Descriptor => {
                let Some(descriptor) = &self.descriptor else {
                    return Err(Stop::failed("no signalfd was made"));
                };
                let came = descriptor.read()?;
                self.taken += u64::from(came == self.signal);
            }
        }
        Ok(())
    }

    /// Blocks the signal, whatever the way.
    pub(super) fn shut(&self) -> Result<()> {
        Ok(wait_signal::block(&self.only)?)
    }

    /// Handles all that is pending: by the handler where the way has one, else by taking it.
    pub(super) fn drain(&mut self) -> Result<()> {
        match self.way {
            Way::Wait | Way::Descriptor => {
                while let Some(came) = wait_signal::take_pending(&self.both)? {
                    self.taken += u64::from(came == self.signal);
                }
            }
            // What is pending is handled before this returns.
            _ => wait_signal::unblock(&self.only)?,
        }
        Ok(())
    }

    /// Takes on the mask with which the way begins.
    pub(super) fn reset(&self) -> Result<()> {
        match self.way {
            Way::Pause => wait_signal::unblock(&self.only)?,
            _ => wait_signal::block(&self.only)?,
        }
        Ok(())
    }
}
