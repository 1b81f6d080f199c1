//! Every number and the drawing of docs/pipeline.md are what the pipeline gives; its cycles of a
//! reference program are those of another simulator.

use isa::cache::{Cache, Geometry, Outcome};
use isa::encode::{T0, ZERO, addi, csrrs, csrrw, ecall, jal, mret, nop};
use isa::pipeline::{Code, Cycles, Drawing, Latency, Look, Parameters, Pipeline, Stage, operands};
use isa::{Kind, Machine, Program, Setup, Step, csr};
use std::fmt::Write as _;

const PAGE: &str = include_str!("../../../../docs/pipeline.md");
const RV32IM: &[u8] = include_bytes!("../../reference/gcc14-rv32im.elf");
const RV32IMC: &[u8] = include_bytes!("../../reference/gcc14-rv32imc.elf");

/// What the other simulator counts for rv32im, with branches in EX.
const KNOWN_CYCLES: u64 = 163_989;

fn machine(elf: &[u8]) -> Machine {
    Machine::new(&Program::from_elf(elf).unwrap(), &Setup::default()).unwrap()
}

fn pass(elf: &[u8], parameters: Parameters) -> Pipeline {
    let mut pipeline = Pipeline::new(parameters).unwrap();
    machine(elf).run(1_000_000, |step| {
        pipeline.step(step, 0);
    });
    pipeline
}

/// The same behind a cache of 8 lines of 8 bytes, asked once per instruction at its first word.
fn behind_cache(elf: &[u8], miss: u16) -> Cycles {
    let mut cache = Cache::new(Geometry::direct_mapped(8, 8).unwrap());
    let mut pipeline = Pipeline::new(Parameters { miss, ..Parameters::textbook() }).unwrap();
    machine(elf).run(1_000_000, |step| {
        let missed = matches!(cache.access(step.pc & !3), Outcome::Miss(_));
        pipeline.step(step, u8::from(missed));
    });
    *pipeline.cycles()
}

/// Digits in groups of three, as the page has them.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The rows of the table that has this head, without their bars.
fn table(head: &str) -> Vec<Vec<&'static str>> {
    let rows = PAGE.lines().skip_while(|line| *line != head).skip(2);
    rows.take_while(|line| line.starts_with('|'))
        .map(|row| row.trim_matches('|').split('|').map(str::trim).collect())
        .collect()
}

#[test]
fn the_cycles_of_the_page_are_those_of_the_pipeline() {
    let textbook = Parameters::textbook();
    let early = Parameters { branch: Stage::Decode, ..textbook };
    let late = Parameters { branch: Stage::Memory, ..textbook };
    let jumps = Parameters { jump: Stage::Decode, jump_register: Stage::Decode, ..textbook };
    let narrow = Parameters { fetch_bytes: 2, ..textbook };
    let rows = [
        pass(RV32IM, textbook).cycles().total(),
        pass(RV32IM, early).cycles().total(),
        pass(RV32IM, late).cycles().total(),
        pass(RV32IM, jumps).cycles().total(),
        pass(RV32IM, Parameters { latency: Latency::all(2), ..textbook }).cycles().total(),
        pass(RV32IM, Parameters { forwarding: false, ..textbook }).cycles().total(),
        pass(RV32IM, Parameters::cv32e40p()).cycles().total(),
        pass(RV32IMC, textbook).cycles().total(),
        pass(RV32IM, textbook).fetches(),
        pass(RV32IMC, textbook).fetches(),
        pass(RV32IM, narrow).cycles().total(),
        pass(RV32IMC, narrow).cycles().total(),
        behind_cache(RV32IM, 10).total(),
        behind_cache(RV32IMC, 10).total(),
    ];
    let shown: Vec<_> = table("| question | answer |").iter().map(|row| row[1]).collect();
    assert_eq!(rows.map(grouped).to_vec(), shown);
}

#[test]
fn the_parts_of_the_page_are_those_of_the_cycles() {
    let cycles = *pass(RV32IM, Parameters::textbook()).cycles();
    let mut rows: Vec<_> = cycles.by_cause().into_iter().filter(|part| part.cycles > 0).collect();
    rows.sort_by_key(|part| std::cmp::Reverse(part.cycles));
    let rows: Vec<_> =
        rows.iter().map(|part| vec![part.name.to_owned(), grouped(part.cycles)]).collect();
    assert_eq!(rows, table("| cause | cycles |"));
}

/// How the other simulator may have counted: the stages of `jal` and `jalr`, whether the filling of
/// the pipeline is counted, and whether what is lost behind the last instruction, a `jalr`, is.
fn readings() -> Vec<[String; 4]> {
    let (mut jal, mut jalr, mut branches, mut steps) = (0, 0, 0, 0);
    machine(RV32IM).run(1_000_000, |step: &Step| {
        steps += 1;
        jal += u64::from(step.kind == Kind::Jump);
        jalr += u64::from(step.kind == Kind::JumpRegister);
        branches += u64::from(step.kind == Kind::Branch && step.redirects());
    });
    assert_eq!((steps, branches, jal, jalr), (143_467, 10_239, 10, 11));
    let mut found = Vec::new();
    for (jal_lost, jal_stage) in (0..).zip(Stage::ALL) {
        for (jalr_lost, jalr_stage) in (0..).zip(Stage::ALL).skip(1) {
            for (filling, last) in [(false, false), (false, true), (true, false), (true, true)] {
                let behind = jal_lost * jal + jalr_lost * (jalr - 1 + u64::from(last));
                if steps + 2 * branches + behind + 4 * u64::from(filling) == KNOWN_CYCLES {
                    let counted = |yes| if yes { "counted" } else { "not" }.to_owned();
                    let stage = |stage: Stage| stage.name().to_owned();
                    let [filling, last] = [filling, last].map(counted);
                    found.push([stage(jal_stage), stage(jalr_stage), filling, last]);
                }
            }
        }
    }
    found
}

#[test]
fn one_reading_of_the_known_cycles_is_what_the_pipeline_does() {
    let cycles = *pass(RV32IM, Parameters::textbook()).cycles();
    assert_eq!(cycles.total(), KNOWN_CYCLES);
    assert_eq!((cycles.data, cycles.control), (0, 2 * (10_239 + 10 + 10)));
    let shown = table("| jal | jalr | filling | behind the last |");
    assert_eq!(readings().iter().map(|row| row.to_vec()).collect::<Vec<_>>(), shown);
}

/// A call and its handler, which steps over it; a jump on the spot; and what lies behind both.
const CALL: [(u32, &str); 12] = [
    (ecall(), "ecall"),
    (nop(), "nop"),
    (jal(ZERO, 0), "j ."),
    (nop(), "nop"),
    (csrrs(T0, csr::MEPC, ZERO), "csrr t0, mepc"),
    (addi(T0, T0, 4), "addi t0, t0, 4"),
    (csrrw(ZERO, csr::MEPC, T0), "csrw mepc, t0"),
    (mret(), "mret"),
    (nop(), "nop"),
    (nop(), "nop"),
    (nop(), "nop"),
    (nop(), "nop"),
];

/// The call as the page draws it.
fn drawing() -> String {
    let before = [addi(T0, ZERO, 0x110), csrrw(ZERO, csr::MTVEC, T0)];
    let base = 0x100 - 8;
    let words: Vec<u32> = before.into_iter().chain(CALL.map(|(word, _)| word)).collect();
    let program = Program::from_words(base, &words);
    let mut machine = Machine::new(&program, &Setup::default()).unwrap();
    let mut pipeline = Pipeline::new(Parameters::textbook()).unwrap();
    let mut steps = Vec::new();
    machine.run(8, |step| steps.push((*step, pipeline.step(step, 0))));
    let code = |pc: u32| {
        let place = (pc.wrapping_sub(0x100) / 4) as usize;
        Code { size: 4, text: CALL.get(place).map_or("", |(_, text)| text).to_owned() }
    };
    let operands = operands(pipeline.parameters(), &steps[2..]);
    let look =
        Look { columns: 80, cycles: None, operands: &operands, paint: &|_, text| text.into() };
    Drawing::new(pipeline.parameters(), &steps[2..], code).text(&look)
}

#[test]
fn the_drawing_of_the_page_is_the_pipelines() {
    let mut block = String::new();
    let _ = write!(block, "```text\n{}```\n", drawing());
    assert!(PAGE.contains(&block), "{block}");
}
