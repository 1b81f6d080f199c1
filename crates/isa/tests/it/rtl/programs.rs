//! The programs that run on the RTL core and on ours. Each measures its own cycles, stores them and
//! its result, and ends in a jump to itself.

use isa::encode::*;
use isa::{MTIMECMP_ADDRESS, Program, Segment, Symbol, csr};

/// Where the programs start: behind the compiled one.
const START: u32 = 0x1_2000;

/// Cycles, result, and the word whose store ends the program; [`TABLE`] is behind it, and the stack grows
/// down to it.
pub(crate) const MAILBOX: u32 = 0x1_4000;

/// Where a program finds its data, relative to `gp`.
const TABLE: i32 = 0x100;

const DATA_BYTES: u32 = 0x4000;

/// A program with the name that the table gives it.
pub(crate) struct Sample {
    pub(crate) name: &'static str,
    pub(crate) program: Program,
}

/// Returns all programs in the order of the table.
pub(crate) fn samples() -> Vec<Sample> {
    let stepping = |name, body: Vec<u32>, table: &[u32]| sample(name, &body, &step_over(), table);
    let compiled = include_bytes!("../../../reference/gcc12-rv32im.elf");
    let call = || repeat(200, &[ecall(), add(A0, A0, S9)]);
    let mut samples = vec![
        stepping("arithmetic", arithmetic(), &[]),
        stepping("loads and stores", loads(), &pointers()),
        stepping("branches", branches(), &[]),
        stepping("recursive calls", fibonacci(), &[]),
        stepping("jump table", interpreter(), &operations()),
        stepping("multiplications", multiplications(), &[]),
        stepping("divisions", divisions(), &[]),
        stepping("sort", sort(), &random(1, 64)),
        stepping("matrix product", matrix(), &random(1, 128)),
        stepping("crc32", crc(), &random(1, 32)),
        stepping("copy", copy(), &random(1, 128)),
        stepping("sieve", sieve(), &[]),
        stepping("csrs", csrs(), &[]),
        stepping("ecall and mret", call(), &[]),
        sample("ecall, registers saved", &call(), &saving(), &[]),
        stepping("other exceptions", exceptions(), &[]),
        sample("timer interrupts", &ticks(&timed_work()), &tick(), &[]),
        sample("timer and divisions", &ticks(&timed_divisions()), &tick(), &[]),
        reference("compiled by GCC 12", compiled),
    ];
    for (seed, name) in (1..).zip(["random 1", "random 2", "random 3", "random 4"]) {
        samples.push(stepping(name, mixture(seed), &random(1, 64)));
    }
    samples.push(stepping("register fields", fields(), &[]));
    samples
}

/// Surrounds what is measured with two reads of the counter of cycles.
fn sample(name: &'static str, body: &[u32], handler: &[u32], table: &[u32]) -> Sample {
    let mut code = Vec::new();
    code.extend(li(GP, MAILBOX));
    code.extend(li(SP, MAILBOX + DATA_BYTES));
    // The handler comes last.
    let handler_at = 14 + body.len();
    code.extend(li(T0, START + 4 * handler_at as u32));
    code.push(csrrw(ZERO, csr::MTVEC, T0));
    let begin = code.len();
    code.push(csrrs(S10, csr::CYCLE, ZERO));
    code.extend(body);
    let end = code.len();
    code.extend([csrrs(S11, csr::CYCLE, ZERO), sub(S11, S11, S10)]);
    code.extend([sw(S11, 0, GP), sw(A0, 4, GP), sw(ZERO, 8, GP), j(0)]);
    assert_eq!(code.len(), handler_at);
    code.extend(handler);
    let mut program = Program::from_words(START, &code);
    let mut data = vec![0; TABLE as usize];
    data.extend(table.iter().flat_map(|word| word.to_le_bytes()));
    program.segments.push(Segment {
        address: MAILBOX,
        bytes: data,
        size: DATA_BYTES,
        writable: true,
    });
    let symbol = |name: &str, place: usize| Symbol {
        name: name.into(),
        address: START + 4 * place as u32,
        size: 4,
    };
    program.symbols = vec![symbol("begin", begin), symbol("end", end)];
    Sample { name, program }
}

/// A program of a compiler, called from one of ours.
fn reference(name: &'static str, file: &[u8]) -> Sample {
    let compiled = Program::from_elf(file).unwrap();
    let main = compiled.address_of("main").unwrap();
    let sink = compiled.address_of("sink").unwrap();
    let mut body = li(T0, main).to_vec();
    body.push(jalr(RA, 0, T0));
    body.extend(li(T0, sink));
    body.push(lw(A0, 0, T0));
    let Sample { mut program, .. } = sample(name, &body, &step_over(), &[]);
    program.segments.extend(compiled.segments);
    Sample { name, program }
}

/// A handler that goes on behind the instruction that trapped, and counts.
fn step_over() -> Vec<u32> {
    vec![
        csrrs(T5, csr::MEPC, ZERO),
        addi(T5, T5, 4),
        csrrw(ZERO, csr::MEPC, T5),
        addi(S9, S9, 1),
        mret(),
    ]
}

/// The same with registers saved and restored, as a system would.
fn saving() -> Vec<u32> {
    let saved = [RA, T0, T1, T2, A0, A1];
    let at = |place: usize| 4 * place as i32;
    let mut code = vec![addi(SP, SP, -24)];
    code.extend(saved.iter().enumerate().map(|(place, register)| sw(*register, at(place), SP)));
    code.extend([csrrs(T0, csr::MCAUSE, ZERO), csrrs(T1, csr::MEPC, ZERO), addi(T1, T1, 4)]);
    code.extend([csrrw(ZERO, csr::MEPC, T1), add(S9, S9, T0)]);
    code.extend(saved.iter().enumerate().map(|(place, register)| lw(*register, at(place), SP)));
    code.extend([addi(SP, SP, 24), mret()]);
    code
}

/// A handler that sets the timer again until `s4` interrupts have come.
fn tick() -> Vec<u32> {
    vec![
        addi(S4, S4, -1),
        lw(T4, -8, S3),
        addi(T4, T4, 300),
        bne(S4, ZERO, 8),
        addi(T4, ZERO, -1),
        sw(T4, 0, S2),
        // The core keeps an interrupt pending until this.
        csrrw(ZERO, csr::MIP, ZERO),
        addi(S5, S5, 1),
        mret(),
    ]
}

/// Work under 20 interrupts of the timer, of which the last comes well before its end.
fn ticks(work: &[u32]) -> Vec<u32> {
    let mut code = Vec::new();
    code.extend(li(S2, MTIMECMP_ADDRESS));
    // The word at 8 bytes below it is mtime.
    code.extend([lui(S3, 0x200c), addi(S4, ZERO, 20), lw(T4, -8, S3), addi(T4, T4, 400)]);
    code.extend([sw(T4, 0, S2), sw(ZERO, 4, S2)]);
    // The timer's interrupt here, the external one in the testbench.
    code.extend(li(T0, 1 << 7 | 1 << 11));
    code.extend([csrrw(ZERO, csr::MIE, T0), csrrsi(ZERO, csr::MSTATUS, 8)]);
    code.extend(work);
    code.extend([add(A0, A0, S5), csrrw(ZERO, csr::MIE, ZERO)]);
    code
}

/// A loop that counts `s0` down.
fn repeat(times: u32, body: &[u32]) -> Vec<u32> {
    let mut code = li(S0, times).to_vec();
    code.extend(body);
    code.extend([addi(S0, S0, -1), bne(S0, ZERO, -4 * (body.len() as i32 + 1))]);
    code
}

/// Words that look random and are the same everywhere.
fn random(seed: u32, count: usize) -> Vec<u32> {
    let next = |word: &u32| Some(word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
    std::iter::successors(Some(seed), next).map(|word| word ^ word >> 15).take(count).collect()
}

/// A step of xorshift: `a1` becomes the next of its random numbers.
fn draw() -> [u32; 6] {
    [
        slli(T0, A1, 13),
        xor(A1, A1, T0),
        srli(T0, A1, 17),
        xor(A1, A1, T0),
        slli(T0, A1, 5),
        xor(A1, A1, T0),
    ]
}

fn arithmetic() -> Vec<u32> {
    let mut code = vec![addi(A1, ZERO, 7)];
    code.extend(repeat(
        500,
        &[
            add(A0, A0, A1),
            xor(A1, A1, A0),
            slli(A2, A0, 3),
            srli(A3, A0, 29),
            or(A2, A2, A3),
            sub(A0, A0, A2),
            sltu(A4, A0, A1),
            add(A0, A0, A4),
        ],
    ));
    code
}

/// Words that point to each other, for [`loads`].
fn pointers() -> [u32; 3] {
    let table = MAILBOX + TABLE as u32;
    [table + 8, 5, table + 4]
}

fn loads() -> Vec<u32> {
    repeat(
        300,
        &[
            lw(A1, TABLE + 4, GP),
            add(A0, A0, A1),
            addi(A2, A1, 1),
            sw(A2, TABLE + 4, GP),
            addi(T1, GP, TABLE),
            lw(T1, 0, T1),
            lw(T1, 0, T1),
            lw(T1, 0, T1),
            addi(T2, T2, 3),
            xor(A0, A0, T1),
            lhu(A3, TABLE + 4, GP),
            sb(A3, TABLE + 64, GP),
            lbu(A4, TABLE + 64, GP),
            add(A0, A0, A4),
        ],
    )
}

fn branches() -> Vec<u32> {
    let mut body = draw().to_vec();
    body.extend([
        andi(T1, A1, 1),
        beq(T1, ZERO, 8),
        addi(A0, A0, 3),
        blt(A1, ZERO, 12),
        addi(A0, A0, 1),
        j(8),
        addi(A0, A0, -7),
        andi(T1, A1, 6),
        bne(T1, ZERO, 12),
        xori(A0, A0, 0x55),
        slli(A0, A0, 1),
    ]);
    let mut code = vec![addi(A1, ZERO, 77)];
    code.extend(repeat(400, &body));
    code
}

fn fibonacci() -> Vec<u32> {
    let function = [
        slti(T0, A0, 2),
        bne(T0, ZERO, 4 * 15),
        addi(SP, SP, -12),
        sw(RA, 8, SP),
        sw(S1, 4, SP),
        mv(S1, A0),
        addi(A0, A0, -1),
        jal(RA, -4 * 7),
        sw(A0, 0, SP),
        addi(A0, S1, -2),
        jal(RA, -4 * 10),
        lw(T0, 0, SP),
        add(A0, A0, T0),
        lw(S1, 4, SP),
        lw(RA, 8, SP),
        addi(SP, SP, 12),
        ret(),
    ];
    let mut code = vec![j(4 * (function.len() as i32 + 1))];
    code.extend(function);
    code.extend([addi(A0, ZERO, 12), jal(RA, -4 * (function.len() as i32 + 1))]);
    code
}

/// Operations 0 to 3 for [`interpreter`], a word each.
fn operations() -> Vec<u32> {
    random(1, 64).iter().map(|word| word >> 9 & 3).collect()
}

/// Carries out the operations of a table by jumps through a register.
fn interpreter() -> Vec<u32> {
    let mut round = vec![
        // t1 = the place of the operation, each of which has 4 instructions.
        lw(T1, TABLE, T2),
        addi(T2, T2, 4),
        slli(T1, T1, 4),
        add(T1, T1, A5),
        jalr(ZERO, 0, T1),
    ];
    let operations = [
        [addi(A0, A0, 1), xor(A0, A0, T2), j(4 * 14), nop()],
        [slli(A0, A0, 1), addi(A0, A0, 3), sub(A0, A0, T1), j(4 * 9)],
        [xor(A0, A0, A5), j(4 * 7), nop(), nop()],
        [srli(A3, A0, 3), add(A0, A0, A3), j(4 * 2), nop()],
    ];
    round.extend(operations.as_flattened());
    round.extend([addi(A6, A6, -1), bne(A6, ZERO, -4 * (round.len() as i32 + 1))]);
    let mut body = vec![mv(T2, GP), addi(A6, ZERO, 64)];
    // a5 = the first operation: behind this, the setup and the five.
    body.extend(round);
    let mut code = vec![auipc(A5, 0), addi(A5, A5, 4 * (2 + 2 + 2 + 5))];
    code.extend(repeat(20, &body));
    code
}

fn multiplications() -> Vec<u32> {
    let mut code = li(A1, 0x9e37_79b9).to_vec();
    code.extend(repeat(
        300,
        &[
            mul(A1, A1, A1),
            addi(A1, A1, 5),
            mul(A2, A1, S0),
            mul(A3, A1, A2),
            mulhu(A4, A1, A2),
            mulh(A5, A3, A4),
            addi(T0, T0, 1),
            add(A0, A0, A5),
            xor(A0, A0, A4),
            sub(A0, A0, A3),
        ],
    ));
    code
}

/// The greatest common divisors of pairs, and quotients of all signs.
fn divisions() -> Vec<u32> {
    let mut body = draw().to_vec();
    body.extend([
        srli(A2, A1, 16),
        andi(A3, A1, 0x7ff),
        beq(A3, ZERO, 20),
        remu(A4, A2, A3),
        mv(A2, A3),
        mv(A3, A4),
        bne(A3, ZERO, -12),
        add(A0, A0, A2),
        div(A4, A1, A2),
        rem(A5, A1, A0),
        add(A0, A0, A4),
        xor(A0, A0, A5),
    ]);
    let mut code = vec![addi(A1, ZERO, 77)];
    code.extend(repeat(40, &body));
    code
}

/// Sorts 64 words by insertion and sums them by place.
fn sort() -> Vec<u32> {
    vec![
        addi(A1, GP, TABLE + 4),
        addi(A2, GP, TABLE + 256),
        addi(A6, GP, TABLE),
        // The next word goes down while the one before it is larger.
        lw(T0, 0, A1),
        mv(A3, A1),
        lw(T1, -4, A3),
        bge(T0, T1, 16),
        sw(T1, 0, A3),
        addi(A3, A3, -4),
        bne(A3, A6, -16),
        sw(T0, 0, A3),
        addi(A1, A1, 4),
        bne(A1, A2, -36),
        // a0 = sum of place times word.
        lw(T0, -4, A1),
        mul(T0, T0, A1),
        add(A0, A0, T0),
        addi(A1, A1, -4),
        bne(A1, A6, -16),
    ]
}

/// The product of two matrices of 8 × 8 words.
fn matrix() -> Vec<u32> {
    vec![
        addi(A1, GP, TABLE),
        addi(A5, ZERO, 8),
        // A row.
        addi(A2, GP, TABLE + 256),
        addi(A6, ZERO, 8),
        // A column.
        mv(T0, A1),
        mv(T1, A2),
        addi(T2, ZERO, 8),
        addi(T3, ZERO, 0),
        lw(A3, 0, T0),
        lw(A4, 0, T1),
        addi(T0, T0, 4),
        addi(T1, T1, 32),
        mul(A3, A3, A4),
        addi(T2, T2, -1),
        add(T3, T3, A3),
        bne(T2, ZERO, -28),
        xor(A0, A0, T3),
        slli(T3, A0, 1),
        srli(A0, A0, 31),
        or(A0, A0, T3),
        addi(A2, A2, 4),
        addi(A6, A6, -1),
        bne(A6, ZERO, -72),
        addi(A1, A1, 32),
        addi(A5, A5, -1),
        bne(A5, ZERO, -92),
    ]
}

/// The CRC-32 of 128 bytes, bit by bit.
fn crc() -> Vec<u32> {
    let mut code = li(A2, 0xedb8_8320).to_vec();
    code.extend([
        addi(A0, ZERO, -1),
        addi(A1, GP, TABLE),
        addi(A3, A1, 128),
        lbu(T0, 0, A1),
        xor(A0, A0, T0),
        addi(T1, ZERO, 8),
        andi(T2, A0, 1),
        srli(A0, A0, 1),
        beq(T2, ZERO, 8),
        xor(A0, A0, A2),
        addi(T1, T1, -1),
        bne(T1, ZERO, -20),
        addi(A1, A1, 1),
        bltu(A1, A3, -40),
        xori(A0, A0, -1),
    ]);
    code
}

/// Copies 128 words as words, halfwords and bytes.
fn copy() -> Vec<u32> {
    let round = |load: u32, store: u32, bytes: i32| {
        [
            addi(A1, GP, TABLE),
            addi(A2, GP, TABLE + 0x200),
            addi(A3, GP, TABLE + 0x200),
            load,
            addi(A1, A1, bytes),
            store,
            addi(A2, A2, bytes),
            bltu(A1, A3, -16),
        ]
    };
    let mut code = round(lw(T0, 0, A1), sw(T0, 0, A2), 4).to_vec();
    code.extend(round(lhu(T0, 0, A1), sh(T0, 0, A2), 2));
    code.extend(round(lbu(T0, 0, A1), sb(T0, 0, A2), 1));
    code.extend([lw(A0, -4, A2), lw(T0, -8, A2), xor(A0, A0, T0)]);
    code
}

/// Counts the primes below 500.
fn sieve() -> Vec<u32> {
    vec![
        addi(A1, ZERO, 2),
        addi(A2, ZERO, 500),
        addi(A5, ZERO, 1),
        add(T0, GP, A1),
        lbu(T1, TABLE, T0),
        bne(T1, ZERO, 32),
        addi(A0, A0, 1),
        add(A3, A1, A1),
        bge(A3, A2, 20),
        add(T2, GP, A3),
        sb(A5, TABLE, T2),
        add(A3, A3, A1),
        blt(A3, A2, -12),
        addi(A1, A1, 1),
        blt(A1, A2, -44),
    ]
}

/// Reads and writes csrs, alone and behind loads and stores.
fn csrs() -> Vec<u32> {
    repeat(
        200,
        &[
            csrrw(A1, csr::MSCRATCH, S0),
            add(A0, A0, A1),
            csrrs(A2, csr::MSCRATCH, A0),
            sw(A2, TABLE, GP),
            csrrc(A3, csr::MSCRATCH, A2),
            lw(A4, TABLE, GP),
            csrrw(ZERO, csr::MSCRATCH, A3),
            xor(A0, A0, A4),
        ],
    )
}

fn exceptions() -> Vec<u32> {
    repeat(
        50,
        &[
            // No instruction.
            0x0000_002b,
            add(A0, A0, S9),
            ebreak(),
            lw(A7, TABLE + 1, GP),
            add(A0, A0, S9),
            sw(A0, TABLE, GP),
            sw(A7, TABLE + 2, GP),
            lhu(A7, TABLE + 3, GP),
            ecall(),
            add(A0, A0, S9),
        ],
    )
}

fn timed_work() -> Vec<u32> {
    let mut body = draw().to_vec();
    body.extend([
        andi(T1, A1, 1),
        beq(T1, ZERO, 8),
        addi(A0, A0, 3),
        sw(A1, TABLE, GP),
        lw(A2, TABLE, GP),
        add(A0, A0, A2),
    ]);
    let mut code = vec![addi(A1, ZERO, 77)];
    code.extend(repeat(1500, &body));
    code
}

fn timed_divisions() -> Vec<u32> {
    let mut body = draw().to_vec();
    body.extend([divu(A2, A1, A7), mul(A3, A2, A1), add(A0, A0, A3)]);
    let mut code = vec![addi(A1, ZERO, 77), addi(A7, ZERO, 7)];
    code.extend(repeat(1000, &body));
    code
}

/// A loop of instructions of all kinds in a random order, with random registers and constants.
fn mixture(seed: u32) -> Vec<u32> {
    const POOL: [Register; 16] = [A0, A1, A2, A3, A4, A5, A6, A7, S1, S2, S3, S4, S5, S6, T0, T1];
    let mut body: Vec<u32> = random(seed, 200)
        .iter()
        .map(|word| {
            let word = word.wrapping_mul(0x9e37_79b9).rotate_left(13);
            let register = |at: u32| POOL[(word >> at & 15) as usize];
            let (rd, first, second) = (register(0), register(4), register(8));
            let constant = (word as i32) >> 20;
            let place = TABLE + 4 * (word >> 12 & 31) as i32;
            match word >> 27 {
                0..=4 => add(rd, first, second),
                5 => sub(rd, first, second),
                6 => xor(rd, first, second),
                7 => sltu(rd, first, second),
                8..=10 => addi(rd, first, constant),
                11 => srli(rd, first, 5),
                12..=14 => lw(rd, place, GP),
                15 => lbu(rd, place + 1, GP),
                16 => lhu(rd, place + 2, GP),
                17 | 18 => sw(first, place, GP),
                19 => sb(first, place + 3, GP),
                20 | 21 => mul(rd, first, second),
                22 => mulhu(rd, first, second),
                23 => div(rd, first, second),
                24 => remu(rd, first, second),
                25 => csrrw(rd, csr::MSCRATCH, first),
                26 => blt(first, second, 12),
                27 => bgeu(first, second, 8),
                28 => beq(first, first, 12),
                29 => jal(rd, 8),
                30 => ecall(),
                _ => lw(rd, TABLE + 1, GP),
            }
        })
        .collect();
    // Somewhere for the last branch to go.
    body.extend([nop(), nop()]);
    let mut code = repeat(20, &body);
    code.extend(POOL.iter().map(|register| xor(A0, A0, *register)));
    code
}

/// What the core holds up for nothing: it compares the fields of registers also where an instruction has
/// a constant there, and waits to write a register that a load before it writes.
fn fields() -> Vec<u32> {
    repeat(
        100,
        &[
            lw(A1, TABLE, GP),
            addi(A2, A3, 11),
            lw(A2, TABLE, GP),
            sw(A0, TABLE + 12, GP),
            lw(A4, TABLE, GP),
            addi(A4, ZERO, 1),
            add(A0, A0, A4),
            srai(A0, A0, 1),
            and(A0, A0, A1),
            addi(T6, T3, 0),
        ],
    )
}
