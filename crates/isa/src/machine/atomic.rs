//! The atomic instructions of 32 bits (A), of the one hart that there is.

use super::Machine;
use super::execute::exception;
use crate::step::{Access, Exception, Step};

impl Machine {
    /// `lr.w`: the word, which is reserved until `sc.w` or a trap.
    fn load_reserved(&mut self, step: &mut Step, address: u32) -> Option<u32> {
        step.access = Some(Access { address, bytes: 4, write: false });
        if !address.is_multiple_of(4) {
            return exception(step, Exception::LoadMisaligned, address);
        }
        let Some(bytes) = self.memory.read::<4>(address) else {
            return exception(step, Exception::LoadAccess, address);
        };
        self.reserved = Some(address);
        Some(u32::from_le_bytes(bytes))
    }

    /// `sc.w`: 0 if the word was reserved, and is stored; otherwise 1.
    fn store_conditional(&mut self, step: &mut Step, address: u32, value: u32) -> Option<u32> {
        step.access = Some(Access { address, bytes: 4, write: true });
        if !address.is_multiple_of(4) {
            return exception(step, Exception::StoreMisaligned, address);
        }
        if self.reserved.take() != Some(address) {
            return Some(1);
        }
        self.store(step, address, value.to_le_bytes())
    }

    /// Does what an atomic instruction says: what `rd` is to hold.
    #[cold]
    pub(super) fn atomic(
        &mut self,
        step: &mut Step,
        word: u32,
        address: u32,
        value: u32,
    ) -> Option<u32> {
        match word >> 27 {
            0x02 => return self.load_reserved(step, address),
            0x03 => return self.store_conditional(step, address, value),
            _ => step.access = Some(Access { address, bytes: 4, write: true }),
        }
        if !address.is_multiple_of(4) {
            return exception(step, Exception::StoreMisaligned, address);
        }
        let Some(bytes) = self.memory.read::<4>(address) else {
            return exception(step, Exception::StoreAccess, address);
        };
        let old = u32::from_le_bytes(bytes);
        let new = match word >> 27 {
            0x00 => old.wrapping_add(value),
            0x04 => old ^ value,
            0x08 => old | value,
            0x0c => old & value,
            0x10 => (old as i32).min(value as i32) as u32,
            0x14 => (old as i32).max(value as i32) as u32,
            0x18 => old.min(value),
            0x1c => old.max(value),
            // `amoswap.w`; there is no other.
            _ => value,
        };
        self.store(step, address, new.to_le_bytes())?;
        Some(old)
    }
}
