//! Serial ports: the keyboard and display of RARS, and the port of QtRvSim, which have the same registers.

use super::Machine;

/// Where they lie.
pub(super) const PORTS: [u32; 2] = [0xffff_0000, 0xffff_c000];

/// The bytes of their registers.
pub(super) const BYTES: u32 = 16;

/// Returns the register of a port.
fn register(address: u32) -> Option<u32> {
    PORTS.iter().map(|port| address.wrapping_sub(*port)).find(|register| *register < BYTES)
}

impl Machine {
    /// Reads a register of a port.
    pub(super) fn read_port(&mut self, address: u32) -> Option<u32> {
        Some(match register(address).filter(|_| self.host.answers)? {
            // Whether a character can be read, that character, and whether one can be written.
            0 => self.host.has_input().into(),
            4 => self.host.take().map_or(0, u32::from),
            8 => 1,
            _ => 0,
        })
    }

    /// Writes to a register of a port.
    pub(super) fn store_to_port(&mut self, address: u32, value: u8) -> Option<()> {
        if register(address).filter(|_| self.host.answers)? == 12 {
            self.host.write(&[value]);
        }
        Some(())
    }
}
