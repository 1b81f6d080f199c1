//! The way of the pc through the reference programs, told from their disassembly alone: `main` calls
//! `kernel` ten times, which goes 1,024 times through its loop. No machine carries anything out.

/// Sizes of the instructions of a routine with one loop: before it, in it, after it.
struct Routine {
    start: u32,
    before: &'static [u8],
    body: &'static [u8],
    after: &'static [u8],
}

/// A program: in the loop of `main` the second instruction calls `kernel`.
pub struct Program {
    main: Routine,
    kernel: Routine,
    /// Bytes of both.
    pub text_bytes: u32,
}

pub const IM: Program = Program {
    main: Routine { start: 0x1_00b4, before: &[4; 8], body: &[4; 5], after: &[4; 9] },
    kernel: Routine { start: 0x1_010c, before: &[4; 3], body: &[4; 14], after: &[4] },
    text_bytes: 160,
};

pub const IMC: Program = Program {
    main: Routine {
        start: 0x1_00b4,
        before: &[2; 8],
        body: &[2, 2, 2, 2, 4],
        after: &[2, 2, 2, 4, 2, 2, 2, 2, 2],
    },
    kernel: Routine {
        start: 0x1_00e4,
        before: &[2, 4, 2],
        body: &[4, 4, 2, 2, 2, 4, 2, 4, 2, 2, 2, 2, 2, 2],
        after: &[2],
    },
    text_bytes: 94,
};

const CALLS: u32 = 10;
const ROUNDS: u32 = 1024;

impl Program {
    /// The address and size of each instruction that it carries out.
    pub fn trace(&self) -> Vec<(u32, u8)> {
        let mut kernel = Vec::new();
        let at = straight(self.kernel.start, self.kernel.before, &mut kernel);
        let mut end = at;
        for _ in 0..ROUNDS {
            end = straight(at, self.kernel.body, &mut kernel);
        }
        let end = straight(end, self.kernel.after, &mut kernel);
        let mut trace = Vec::new();
        let at = straight(self.main.start, self.main.before, &mut trace);
        let mut after = at;
        for _ in 0..CALLS {
            let (call, rest) = self.main.body.split_at(2);
            after = straight(at, call, &mut trace);
            trace.extend(&kernel);
            after = straight(after, rest, &mut trace);
        }
        let kernel_start = straight(after, self.main.after, &mut trace);
        assert_eq!(kernel_start, self.kernel.start, "main and kernel adjoin");
        assert_eq!(end - self.main.start, self.text_bytes);
        trace
    }
}

/// Goes through instructions of these sizes; returns the address behind them.
fn straight(mut pc: u32, sizes: &[u8], trace: &mut Vec<(u32, u8)>) -> u32 {
    for size in sizes {
        trace.push((pc, *size));
        pc += u32::from(*size);
    }
    pc
}
