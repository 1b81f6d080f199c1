//! The timer and the software interrupt, as memory (the layout is that of the RISC-V Advanced Core
//! Local Interruptor Specification for one hart).

/// Where the timer lies.
pub const TIMER_ADDRESS: u32 = 0x0200_0000;

/// How many bytes of address it has.
pub const TIMER_BYTES: u32 = 0x1_0000;

/// The word whose lowest bit is the software interrupt.
pub const MSIP_ADDRESS: u32 = TIMER_ADDRESS;

/// The time at which the timer's interrupt becomes pending, 8 bytes.
pub const MTIMECMP_ADDRESS: u32 = TIMER_ADDRESS + 0x4000;

/// The time, 8 bytes.
pub const MTIME_ADDRESS: u32 = TIMER_ADDRESS + 0xbff8;

/// A number of 64 bits with one half replaced.
pub(super) const fn replaced(number: u64, half: u32, high: bool) -> u64 {
    if high {
        number & 0xffff_ffff | (half as u64) << 32
    } else {
        number & !0xffff_ffff | half as u64
    }
}

/// Its state. The time goes on with the cycles of the machine.
#[derive(Clone, Debug)]
pub(super) struct Timer {
    pub(super) software: bool,
    /// `mtimecmp`; the highest number is never reached in earnest, and means never.
    pub(super) compare: u64,
    /// What is added to the cycles so far to give the time.
    offset: u64,
}

impl Timer {
    pub(super) fn new() -> Self {
        Self { software: false, compare: u64::MAX, offset: 0 }
    }

    pub(super) fn time(&self, clock: u64) -> u64 {
        clock.wrapping_add(self.offset)
    }

    pub(super) fn set_time(&mut self, time: u64, clock: u64) {
        self.offset = time.wrapping_sub(clock);
    }

    /// A word of it; `None` where there is none.
    #[cold]
    pub(super) fn read(&self, address: u32, clock: u64) -> Option<u32> {
        const COMPARE_HIGH: u32 = MTIMECMP_ADDRESS + 4;
        const TIME_HIGH: u32 = MTIME_ADDRESS + 4;
        Some(match address {
            MSIP_ADDRESS => u32::from(self.software),
            MTIMECMP_ADDRESS => self.compare as u32,
            COMPARE_HIGH => (self.compare >> 32) as u32,
            MTIME_ADDRESS => self.time(clock) as u32,
            TIME_HIGH => (self.time(clock) >> 32) as u32,
            _ => return None,
        })
    }

    /// Writes a word of it; `None` where there is none.
    #[cold]
    pub(super) fn write(&mut self, address: u32, value: u32, clock: u64) -> Option<()> {
        self.read(address, clock)?;
        let high = address & 4 != 0;
        match address {
            MSIP_ADDRESS => self.software = value & 1 != 0,
            MTIMECMP_ADDRESS.. if address < MTIME_ADDRESS => {
                self.compare = replaced(self.compare, value, high)
            }
            _ => self.set_time(replaced(self.time(clock), value, high), clock),
        }
        Some(())
    }
}
