//! What a program asks of the world around it: environment calls, semihosting, and `tohost`.

use super::Machine;
use super::execute::exception;
use super::files::{Files, Mode, NOTHING};
use crate::Program;
use crate::encode::{A0, A1, A2, A3, A6, A7, Register, slli, srai};
use crate::step::{Exception, Step};

/// The most bytes of a program's output that are kept.
pub const OUTPUT_MAX_BYTES: usize = 1 << 16;

/// The most bytes that are looked at for the end of a string.
const STRING_MAX_BYTES: usize = 1 << 12;

/// Cycles of a second, where a program asks for the time.
const CYCLES_OF_SECOND: u64 = 1_000_000;

/// An address that no double word has.
const NOWHERE: u32 = 1;

/// What the host knows of a program.
#[derive(Clone, Debug)]
pub(super) struct Host {
    /// Whether there is a host.
    pub(super) answers: bool,
    pub(super) output: Vec<u8>,
    /// The double word by which a program speaks to a debugger (HTIF), and that of the answer.
    pub(super) tohost: u32,
    fromhost: u32,
    /// What it can read, the last byte first.
    input: Vec<u8>,
    /// How often it read behind the end of that.
    pub(super) reads_nothing: u64,
    pub(super) files: Files,
    /// The state of the random numbers that it can ask for.
    random: u64,
    /// Where the memory begins that it can ask for.
    heap: u32,
    /// Whether an `ebreak` does nothing.
    pub(super) skips_breakpoints: bool,
    /// Its low half was stored, and the high half not yet.
    half_stored: bool,
    /// How many bytes of [`FEATURES`] were read.
    features_read: usize,
}

impl Host {
    pub(super) fn new(program: &Program, answers: bool) -> Self {
        let place = |name| {
            let address = program.address_of(name).filter(|address| answers && address % 8 == 0);
            address.unwrap_or(NOWHERE)
        };
        Self {
            answers,
            output: Vec::new(),
            tohost: place("tohost"),
            fromhost: place("fromhost"),
            input: Vec::new(),
            reads_nothing: 0,
            files: Files::default(),
            random: 1,
            heap: program.address_of("_end").unwrap_or(NOWHERE),
            skips_breakpoints: false,
            half_stored: false,
            features_read: 0,
        }
    }

    /// Takes the next byte of the input; none behind its end.
    pub(super) fn take(&mut self) -> Option<u8> {
        let byte = self.input.pop();
        self.reads_nothing += u64::from(byte.is_none());
        byte
    }

    /// Reports whether there is input; behind its end, that is noted as a read.
    pub(super) fn has_input(&mut self) -> bool {
        self.reads_nothing += u64::from(self.input.is_empty());
        !self.input.is_empty()
    }

    pub(super) fn write(&mut self, bytes: &[u8]) {
        let left = OUTPUT_MAX_BYTES - self.output.len();
        self.output.extend(bytes.iter().take(left));
    }
}

/// Calls of RARS and of Venus that others do not have.
mod simulators {
    pub(super) const VENUS_OPEN: u32 = 13;
    pub(super) const VENUS_READ: u32 = 14;
    pub(super) const VENUS_WRITE: u32 = 15;
    pub(super) const VENUS_CLOSE: u32 = 16;
    pub(super) const VENUS_FLUSH: u32 = 18;
    pub(super) const VENUS_AT_END: u32 = 19;
    pub(super) const VENUS_ERROR: u32 = 20;
    /// The flag of a file that is written at its end.
    pub(super) const APPEND: u32 = 8;
    /// The library of Venus, whose function is in `a6`.
    pub(super) const VENUS_MEMORY: u32 = 0x3cc;
}

/// Calls of Linux, as newlib and Ripes use them.
mod linux {
    pub(super) const OPEN_AT: u32 = 56;
    pub(super) const TIME_OF_DAY: u32 = 169;
    pub(super) const CLOCK: u32 = 403;
    /// The folder of a file whose name is relative (`AT_FDCWD`).
    pub(super) const HERE: u32 = -100_i32 as u32;
    pub(super) const NO_FILE: u32 = -2_i32 as u32;
    pub(super) const APPEND: u32 = 0o2000;
    pub(super) const CLOSE: u32 = 57;
    pub(super) const SEEK: u32 = 62;
    pub(super) const READ: u32 = 63;
    pub(super) const WRITE: u32 = 64;
    pub(super) const STATUS: u32 = 80;
    pub(super) const EXIT: u32 = 93;
    pub(super) const EXIT_GROUP: u32 = 94;
    pub(super) const BREAK: u32 = 214;
    /// Errors, as results.
    pub(super) const BAD_ADDRESS: u32 = -14_i32 as u32;
    pub(super) const BAD_FILE: u32 = -9_i32 as u32;
    pub(super) const NO_SEEK: u32 = -29_i32 as u32;
    pub(super) const NO_CALL: u32 = -38_i32 as u32;
}

impl Machine {
    /// What the program wrote so far, at most [`OUTPUT_MAX_BYTES`].
    pub fn output(&self) -> &[u8] {
        &self.host.output
    }

    /// Gives the program what it can read.
    pub fn set_input(&mut self, mut input: Vec<u8>) {
        input.reverse();
        self.host.input = input;
    }

    /// Lets the program go on behind an `ebreak`, as a debugger does whose user continues.
    pub fn skip_breakpoints(&mut self, skips: bool) {
        self.host.skips_breakpoints = skips;
    }

    /// Takes the next line of the input with its end, at most a number of bytes.
    fn line(&mut self, most: u32) -> Vec<u8> {
        let mut line = Vec::new();
        while line.len() < most as usize && line.last() != Some(&b'\n') {
            let Some(byte) = self.host.input.pop() else { break };
            line.push(byte);
        }
        self.host.reads_nothing += u64::from(line.is_empty() && most > 0);
        line
    }

    /// Reads bytes of the input into memory, as of a file: how many, or the number of an error.
    fn read_input(&mut self, address: u32, most: u32) -> u32 {
        let left = self.host.input.len().saturating_sub(most as usize);
        let bytes: Vec<u8> = self.host.input.drain(left..).rev().collect();
        let count = bytes.len() as u32;
        self.host.reads_nothing += u64::from(count == 0 && most > 0);
        if self.store_bytes(address, bytes) { count } else { linux::BAD_ADDRESS }
    }

    /// Reads a line into memory: how many bytes, or the number of an error.
    fn read_line(&mut self, address: u32, most: u32, ends: bool) -> u32 {
        let mut line = self.line(most.saturating_sub(ends.into()));
        let count = line.len() as u32;
        line.extend(ends.then_some(0));
        if self.store_bytes(address, line) { count } else { linux::BAD_ADDRESS }
    }

    /// Reads a line as a number, 0 where it is none.
    fn read_number(&mut self) -> u32 {
        let line = self.line(64);
        let text = String::from_utf8_lossy(&line);
        text.trim().parse::<i64>().map_or(0, |number| number as u32)
    }

    /// Returns the next of a sequence of random numbers, which a seed begins (xorshift64).
    fn random(&mut self) -> u32 {
        let state = &mut self.host.random;
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        (*state >> 32) as u32
    }

    /// Returns the text at an address, up to a 0.
    pub(super) fn string(&self, address: u32) -> String {
        let bytes = (address..=u32::MAX).take(STRING_MAX_BYTES).map_while(|address| {
            self.memory.bytes(address, 1)?.first().copied().filter(|byte| *byte != 0)
        });
        String::from_utf8_lossy(&bytes.collect::<Vec<u8>>()).into_owned()
    }

    /// Stores bytes; reports whether memory is there for all.
    pub fn store_bytes(&mut self, address: u32, bytes: Vec<u8>) -> bool {
        (address..=u32::MAX).zip(bytes).all(|(address, byte)| {
            self.text.stored(address, 1);
            self.memory.write(address, [byte]).is_some()
        })
    }

    /// Stores a time as seconds and their parts, of 64 bits each; a cycle is a microsecond.
    fn store_time(&mut self, address: u32, parts_of_cycle: u64) -> u32 {
        let (seconds, cycles) = (self.clock / CYCLES_OF_SECOND, self.clock % CYCLES_OF_SECOND);
        self.reads_clock = true;
        let stored = self.memory.write(address, seconds.to_le_bytes()).and_then(|()| {
            let parts = (cycles * parts_of_cycle).to_le_bytes();
            self.memory.write(address.wrapping_add(8), parts)
        });
        if stored.is_some() { 0 } else { linux::BAD_ADDRESS }
    }

    /// Returns how often the program read behind the end of its input.
    pub fn reads_nothing(&self) -> u64 {
        self.host.reads_nothing
    }

    fn exit(&mut self, status: u32) {
        self.exited = Some(status);
        self.set_alarm();
    }

    /// Answers an `ecall`, whose number is in `a7` (Linux, RARS, Ripes), or in `a0` where that is 0
    /// (Venus). It traps if it is no call of the host: a program with a handler has its own.
    #[cold]
    pub(super) fn host_call(&mut self, step: &mut Step) -> Option<u32> {
        if self.is_answered() { Some(0) } else { exception(step, Exception::MachineCall, 0) }
    }

    /// Answers an `ecall`, if it is a call of the host.
    fn is_answered(&mut self) -> bool {
        if !self.host.answers || self.control.has_handler() {
            return false;
        }
        let (number, value) = match self.register(A7) {
            0 => (self.register(A0), self.register(A1)),
            number => (number, self.register(A0)),
        };
        let answer = |machine: &mut Self, value| machine.set_register(A0, value);
        match number {
            1 => self.host.write((value as i32).to_string().as_bytes()),
            2 => self.host.write(f32::from_bits(value).to_string().as_bytes()),
            4 => self.write_string(value),
            5 => {
                let number = self.read_number();
                answer(self, number);
            }
            8 => {
                let most = if self.register(A7) == 0 { A2 } else { A1 };
                self.read_line(value, self.register(most), true);
            }
            12 => {
                let byte = self.host.take();
                answer(self, byte.map_or(u32::MAX, u32::from));
            }
            9 => {
                let start = self.allocate(value);
                answer(self, start);
            }
            10 => self.exit(0),
            11 => self.host.write(&[value as u8]),
            // RARS has another call of this number, whose value is an address and no status.
            17 if self.register(A7) == 0 || value < 256 => self.exit(value),
            linux::EXIT | linux::EXIT_GROUP => self.exit(value),
            34 => self.host.write(format!("{value:#010x}").as_bytes()),
            35 => self.host.write(format!("{value:#034b}").as_bytes()),
            36 => self.host.write(value.to_string().as_bytes()),
            _ => {
                match self.linux_call(number, value).or_else(|| self.simulator_call(number, value))
                {
                    Some(result) => answer(self, result),
                    None => return false,
                }
            }
        }
        true
    }

    /// Answers a call of Linux beside those that end the program; none if it is no such call.
    fn linux_call(&mut self, number: u32, value: u32) -> Option<u32> {
        Some(match number {
            linux::WRITE => self.write_file(value, self.register(A1), self.register(A2)),
            linux::READ if value == 0 => self.read_input(self.register(A1), self.register(A2)),
            linux::BREAK => self.set_break(value),
            linux::READ => {
                let read = self.read_file(value, self.register(A1), self.register(A2));
                if read == NOTHING { 0 } else { read }
            }
            linux::CLOSE => {
                self.host.files.close(value);
                0
            }
            linux::OPEN_AT if value == linux::HERE => {
                let mode = Mode::of_flags(self.register(A2), linux::APPEND);
                let file = self.open_file(self.register(A1), mode);
                if file == NOTHING { linux::NO_FILE } else { file }
            }
            linux::CLOCK => self.store_time(self.register(A1), 1000),
            linux::TIME_OF_DAY => self.store_time(value, 1),
            linux::SEEK => {
                let (by, from) = (self.register(A1) as i32, self.register(A2));
                self.host.files.seek(value, by, from).unwrap_or(linux::NO_SEEK)
            }
            linux::STATUS => linux::NO_CALL,
            _ => return None,
        })
    }

    /// Answers a call of RARS or of Venus that others do not have; none if it is no such call.
    fn simulator_call(&mut self, number: u32, value: u32) -> Option<u32> {
        use simulators::*;
        let is_venus = self.register(A7) == 0;
        let [second, third] = [A2, A3].map(|register| self.register(register));
        Some(match number {
            // The name of the folder.
            17 => {
                let fits = self.register(A1) >= 2 && self.store_bytes(value, b"/\0".to_vec());
                if fits { value } else { NOTHING }
            }
            50 | 51 | 54..=56 | 59 => self.dialog(number, value),
            // The time in milliseconds.
            30 => {
                let milliseconds = self.clock / (CYCLES_OF_SECOND / 1000);
                self.reads_clock = true;
                self.set_register(A1, (milliseconds >> 32) as u32);
                milliseconds as u32
            }
            // Nobody hears or waits.
            31..=33 => value,
            // Random numbers: their seed, any, and those below another.
            40 => {
                self.host.random = u64::from(self.register(A1)) | 1 << 32;
                value
            }
            41 => self.random(),
            42 => self.random() % self.register(A1).max(1),
            1024 => self.open_file(value, Mode::of_flags(self.register(A1), APPEND)),
            VENUS_OPEN if is_venus => match second {
                1 => self.open_file(value, Mode::Write),
                2 => self.open_file(value, Mode::Append),
                _ => self.open_file(value, Mode::Read),
            },
            VENUS_WRITE if is_venus => self.write_file(value, second, third),
            VENUS_READ if is_venus => self.read_file(value, second, third),
            VENUS_CLOSE if is_venus => self.host.files.close(value).map_or(NOTHING, |()| 0),
            VENUS_AT_END if is_venus => self.host.files.is_at_end(value).unwrap_or(true).into(),
            VENUS_FLUSH | VENUS_ERROR if is_venus => 0,
            VENUS_MEMORY => match self.register(A6) {
                1 => self.allocate(value.min(i32::MAX as u32) / 16 * 16 + 16),
                2 => {
                    self.allocate(value.saturating_mul(second).min(i32::MAX as u32) / 16 * 16 + 16)
                }
                _ => 0,
            },
            _ => return None,
        })
    }

    /// Answers a call of RARS that opens a window: the text is written, and the answer is a line of the input.
    fn dialog(&mut self, number: u32, text: u32) -> u32 {
        self.write_string(text);
        let second = self.register(A1);
        match number {
            56 => self.host.write((second as i32).to_string().as_bytes()),
            59 => self.write_string(second),
            _ => {}
        }
        self.host.write(b"\n");
        match number {
            // Yes is 0, no is 1.
            50 => return (!self.line(64).starts_with(b"y")).into(),
            54 => self.read_line(second, self.register(A2), true),
            _ => 0,
        };
        if matches!(number, 51 | 54) {
            self.set_register(A1, 0);
        }
        if number == 51 { self.read_number() } else { text }
    }

    /// Gives a program more of the memory behind its data (`sbrk`): where that begins, or -1 where there is
    /// none.
    fn allocate(&mut self, bytes: u32) -> u32 {
        let start = self.host.heap;
        let next = start.wrapping_add(bytes);
        let there = bytes == 0 || self.memory.has(start, bytes);
        if start == NOWHERE || !(there || (bytes as i32) < 0) {
            return u32::MAX;
        }
        self.host.heap = next;
        start
    }

    /// Moves the end of the memory that a program may use, where memory is there (`brk`): where it is then, 0
    /// for a program that does not say where its data end.
    fn set_break(&mut self, end: u32) -> u32 {
        let now = self.host.heap;
        if now == NOWHERE {
            return 0;
        }
        let there = |bytes: u32| self.memory.has(now, bytes);
        if end.checked_sub(now).is_some_and(there) {
            self.host.heap = end;
        }
        self.host.heap
    }

    /// Writes bytes of memory to standard output or error: how many, or the number of an error.
    fn write_file(&mut self, file: u32, address: u32, count: u32) -> u32 {
        match self.memory.copied(address, count) {
            Some(bytes) if matches!(file, 1 | 2) => {
                self.host.write(&bytes);
                count
            }
            Some(bytes) if self.host.files.write(file, &bytes).is_some() => count,
            _ => linux::BAD_FILE,
        }
    }

    fn write_string(&mut self, address: u32) {
        for address in (address..=u32::MAX).take(STRING_MAX_BYTES) {
            match self.memory.bytes(address, 1) {
                Some(&[byte]) if byte != 0 && self.host.output.len() < OUTPUT_MAX_BYTES => {
                    self.host.output.push(byte);
                }
                _ => return,
            }
        }
    }

    fn word(&self, address: u32) -> Option<u32> {
        self.memory.bytes(address, 4)?.first_chunk().copied().map(u32::from_le_bytes)
    }

    /// The numbers of a block of memory.
    fn words<const N: usize>(&self, address: u32) -> Option<[u32; N]> {
        let mut words = [0; N];
        for (word, offset) in words.iter_mut().zip((0..).step_by(4)) {
            *word = self.word(address.wrapping_add(offset))?;
        }
        Some(words)
    }

    /// Answers an `ebreak` between the two shifts by which a debugger knows that it is asked something
    /// (RISC-V Semihosting, version 0.4). Another `ebreak` traps.
    #[cold]
    pub(super) fn semihosting_call(&mut self, step: &mut Step) -> Option<u32> {
        let pc = step.pc;
        const ZERO: Register = crate::encode::ZERO;
        const AROUND: [u32; 2] = [slli(ZERO, ZERO, 31), srai(ZERO, ZERO, 7)];
        let around = [pc.wrapping_sub(4), pc.wrapping_add(4)].map(|address| self.word(address));
        if self.host.skips_breakpoints && around != AROUND.map(Some) {
            return Some(0);
        }
        if !self.host.answers || around != AROUND.map(Some) {
            return exception(step, Exception::Breakpoint, pc);
        }
        let answer = self.semihosting(self.register(A0), self.register(A1));
        self.set_register(A0, answer.unwrap_or(u32::MAX));
        Some(0)
    }

    /// Does what an operation asks for: its result, `None` for −1.
    fn semihosting(&mut self, operation: u32, value: u32) -> Option<u32> {
        match operation {
            OPEN => {
                let [name, mode, length] = self.words(value)?;
                let name = self.memory.bytes(name, length.min(64) as usize)?;
                match (name, mode) {
                    (b":tt", 0..4) => Some(INPUT),
                    (b":tt", 4..) => Some(OUTPUT),
                    (b":semihosting-features", _) => {
                        self.host.features_read = 0;
                        Some(FEATURES_FILE)
                    }
                    _ => None,
                }
            }
            // To close, to ask for an error, and to seek.
            0x02 | 0x13 => Some(0),
            0x0a => {
                let [file, position] = self.words(value)?;
                self.host.features_read = position as usize;
                (file == FEATURES_FILE).then_some(0)
            }
            0x03 => {
                let bytes = self.memory.bytes(value, 1)?;
                self.host.write(bytes);
                Some(0)
            }
            0x04 => {
                self.write_string(value);
                Some(0)
            }
            // What was not written, or not read.
            0x05 => {
                let [file, address, count] = self.words(value)?;
                let bytes = self.memory.bytes(address, count as usize)?;
                if file == OUTPUT {
                    self.host.write(bytes);
                    return Some(0);
                }
                Some(count)
            }
            0x06 => self.read(value),
            0x09 => Some(u32::from(matches!(self.word(value)?, INPUT | OUTPUT))),
            0x0c => (self.word(value)? == FEATURES_FILE).then_some(FEATURES.len() as u32),
            0x18 => {
                self.exit(u32::from(value != EXITED));
                Some(0)
            }
            0x20 => {
                let [reason, status] = self.words(value)?;
                self.exit(if reason == EXITED { status } else { status.max(1) });
                Some(0)
            }
            // There are no time, no arguments and no input.
            _ => None,
        }
    }

    /// Reads from a file: the bytes that it did not have.
    fn read(&mut self, block: u32) -> Option<u32> {
        let [file, mut address, count] = self.words(block)?;
        let rest = FEATURES.get(self.host.features_read..).unwrap_or_default();
        let rest = if file == FEATURES_FILE { rest } else { &[] };
        let rest = rest.get(..count as usize).unwrap_or(rest);
        for byte in rest {
            self.memory.write(address, [*byte])?;
            address = address.wrapping_add(1);
        }
        self.host.features_read += rest.len();
        Some(count - rest.len() as u32)
    }

    /// Takes what was stored to `tohost`, of which 32 bits come at a time: what it says is complete with
    /// the high half, or when the low half is stored again, as older tests do.
    #[cold]
    pub(super) fn tohost_stored(&mut self, address: u32) {
        let tohost = self.host.tohost;
        if address == tohost && !std::mem::replace(&mut self.host.half_stored, true) {
            return;
        }
        self.host.half_stored = false;
        let Some([low, high]) = self.words(tohost) else { return };
        let _ = self.memory.write(tohost, [0; 8]);
        match high >> 16 {
            0 if low & 1 == 1 => self.exit(low >> 1),
            0 if low != 0 => self.proxied(low),
            // A character for the terminal.
            0x0101 => self.host.write(&[low as u8]),
            _ => {}
        }
    }

    /// Ends a program that stored to the low half of `tohost` alone and then waits: its status, where it did so.
    pub(super) fn verdict(&mut self) -> Option<u32> {
        let tohost = Some(self.host.tohost).filter(|tohost| *tohost != NOWHERE)?;
        let [low, _] = self.words(tohost).filter(|[low, high]| *low != 0 && *high == 0)?;
        let status = if low == 1 { 0 } else { (low >> 1).max(1) };
        self.exit(status);
        Some(status)
    }

    /// Carries out a call whose number and arguments are double words of memory.
    fn proxied(&mut self, block: u32) {
        let Some([number, _, first, _, address, _, count, _]) = self.words(block) else { return };
        let result = match number {
            linux::WRITE => self.write_file(first, address, count),
            linux::EXIT => return self.exit(first),
            _ => linux::NO_CALL,
        };
        let sign = if (result as i32) < 0 { u32::MAX } else { 0 };
        let [low, high] = [result, sign].map(u32::to_le_bytes);
        let _ = self.memory.write(block, low);
        let _ = self.memory.write(block.wrapping_add(4), high);
        let _ = self.memory.write(self.host.fromhost, 1_u64.to_le_bytes());
    }
}

const OPEN: u32 = 0x01;

/// Files of semihosting.
const INPUT: u32 = 1;
const OUTPUT: u32 = 2;
const FEATURES_FILE: u32 = 3;

/// The file of what a debugger can: an exit has a status, and output is no error.
const FEATURES: &[u8] = b"SHFB\x03";

/// The reason of a program that ends by itself (`ADP_Stopped_ApplicationExit`).
const EXITED: u32 = 0x2_0026;
