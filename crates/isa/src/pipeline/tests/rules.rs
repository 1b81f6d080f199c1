//! The rules one by one, with the numbers that are known for them.

use super::super::engine::KINDS;
use super::super::{
    Cycles, Depth, Error, Latency, Parameters, Pipeline, Prediction, Predictor, Stage,
};
use super::{ecall, interrupted, pass, reads, run, step, to, writes};
use crate::{Kind, Step};

/// The cycles of some steps without their retirement and the filling of the pipeline.
fn lost(parameters: Parameters, steps: &[Step]) -> Cycles {
    let pipeline = run(parameters, steps);
    let cycles = *pipeline.cycles();
    let known = cycles.retired + cycles.trapped + cycles.fill;
    assert_eq!(
        cycles.total() - known,
        cycles.by_cause()[2..10].iter().map(|part| part.cycles).sum()
    );
    Cycles { retired: 0, trapped: 0, fill: 0, ..cycles }
}

/// A step that goes to 0x100, and what lies there.
fn there(step: Step) -> [Step; 2] {
    [to(0x100, step), super::step(0x100, Kind::Alu)]
}

#[test]
fn bubbles_are_the_index_of_the_resolving_stage_and_the_latency() {
    for (index, stage) in (0..).zip(Stage::ALL) {
        for latency in [0, 1, 2, 5] {
            let all = Parameters {
                branch: stage,
                jump: stage,
                jump_register: stage,
                trap: stage,
                trap_return: stage,
                latency: Latency::all(latency),
                ..Parameters::textbook()
            };
            let cycles = index + u64::from(latency);
            let jump = Parameters {
                jump: stage,
                latency: Latency::all(latency),
                ..Parameters::textbook()
            };
            assert_eq!(lost(jump, &there(step(0, Kind::Jump))).control, cycles);
            if stage == Stage::Fetch {
                assert!(Pipeline::new(all).is_err());
                continue;
            }
            assert_eq!(lost(all, &there(step(0, Kind::Branch))).control, cycles);
            assert_eq!(lost(all, &there(step(0, Kind::JumpRegister))).control, cycles);
            assert_eq!(lost(all, &there(step(0, Kind::Return))).trap_return, cycles);
            assert_eq!(lost(all, &there(ecall(0, 0x100))).trap, cycles);
        }
    }
}

/// Two and four cycles for branches in EX and traps at WB; one open core with a latency of two
/// loses four and six.
#[test]
fn branches_in_ex_lose_two_and_traps_at_wb_four() {
    for (latency, branch, trap) in [(0, 2, 4), (2, 4, 6)] {
        let parameters = Parameters { latency: Latency::all(latency), ..Parameters::textbook() };
        assert_eq!(lost(parameters, &there(step(0, Kind::Branch))).control, branch);
        assert_eq!(lost(parameters, &there(ecall(0, 0x100))).trap, trap);
    }
}

/// A branch back from 0x100 to 0xe0, taken or not, and what comes then.
fn backward(taken: bool) -> [Step; 2] {
    let branch = Step { offset: -0x20, ..step(0x100, Kind::Branch) };
    let branch = if taken { to(0xe0, branch) } else { branch };
    [branch, step(branch.next, Kind::Alu)]
}

#[test]
fn a_right_prediction_loses_the_stage_that_knows_the_target_and_a_wrong_one_the_resolving() {
    for (predicted, right) in [(Stage::Fetch, [0, 0]), (Stage::Decode, [1, 3])] {
        for (latency, right) in [0, 2].into_iter().zip(right) {
            let prediction = Prediction::Backward;
            let parameters = Parameters {
                prediction,
                predicted,
                latency: Latency::all(latency),
                ..Parameters::textbook()
            };
            assert_eq!(lost(parameters, &backward(true)).control, right);
            let wrong = 2 + u64::from(latency);
            assert_eq!(lost(parameters, &backward(false)).control, wrong);
            // A forward branch is predicted not taken.
            assert_eq!(
                lost(parameters, &there(Step { offset: 8, ..step(0, Kind::Branch) })).control,
                wrong
            );
        }
    }
}

/// What is predicted of a branch that goes T or N, one letter each, and how often that is wrong.
fn predicted(prediction: Prediction, outcomes: &str) -> (String, u64) {
    let mut predictor = Predictor::new(prediction).unwrap();
    let guesses = outcomes.chars().map(|outcome| {
        let [branch, _] = backward(outcome == 'T');
        if predictor.step(&branch) { 'T' } else { 'N' }
    });
    (guesses.collect(), predictor.mispredicted())
}

/// By hand: a loop of three rounds, twice, and a branch that alternates.
#[test]
fn predictors_say_what_they_do_by_hand() {
    let one = Prediction::OneBit { entries: 4 };
    let two = Prediction::TwoBit { entries: 4 };
    assert_eq!(predicted(Prediction::NotTaken, "TTNTTN"), ("NNNNNN".into(), 4));
    assert_eq!(predicted(Prediction::Backward, "TTNTTN"), ("TTTTTT".into(), 2));
    assert_eq!(predicted(one, "TTNTTN"), ("NTTNTT".into(), 4));
    // The counter goes 1, 2, 3, 2, 3, 3.
    assert_eq!(predicted(two, "TTNTTN"), ("NTTTTT".into(), 3));
    assert_eq!(predicted(one, "TNTNTN"), ("NTNTNT".into(), 6));
    assert_eq!(predicted(two, "TNTNTN"), ("NTNTNT".into(), 6));
    // Two bits of history tell the two outcomes apart once their counters have learnt.
    let gshare = Prediction::Gshare { entries: 4 };
    assert_eq!(predicted(gshare, "TNTNTNTN"), ("NNNNTNTN".into(), 2));
}

#[test]
fn branches_at_the_same_place_of_a_table_share_it() {
    let wrong = |entries| {
        let mut predictor = Predictor::new(Prediction::OneBit { entries }).unwrap();
        for _ in 0..10 {
            predictor.step(&to(0x80, step(0x100, Kind::Branch)));
            predictor.step(&step(0x104, Kind::Branch));
        }
        assert_eq!(predictor.branches(), 20);
        predictor.mispredicted()
    };
    assert_eq!((wrong(1), wrong(2)), (20, 1));
    // What is no branch, or traps, is not predicted.
    let mut predictor = Predictor::new(Prediction::OneBit { entries: 1 }).unwrap();
    predictor.step(&to(0, step(4, Kind::Jump)));
    predictor.step(&Step { kind: Kind::Branch, ..ecall(0, 0x100) });
    assert_eq!(predictor.branches(), 0);
}

#[test]
fn what_waits_for_data_holds_up_those_behind_it() {
    let load = writes(5, step(0, Kind::Load));
    let cycles =
        |user: Step| *pass(Parameters::textbook(), &[(load, 0, 7), (user, 0, 0)]).0.cycles();
    let other = cycles(step(4, Kind::Alu));
    assert_eq!((other.memory, other.data, other.total()), (7, 0, 6 + 7));
    // A user waits one cycle more, as for any load.
    let user = cycles(reads(5, step(4, Kind::Alu)));
    assert_eq!((user.memory, user.data, user.total()), (7, 1, 6 + 8));
    let alone = *pass(Parameters::textbook(), &[(load, 0, 7)]).0.cycles();
    assert_eq!((alone.memory, alone.total()), (7, 5 + 7));
}

#[test]
fn what_goes_on_loses_nothing() {
    let steps = [step(0, Kind::Branch), step(4, Kind::Alu), step(8, Kind::Store)];
    let pipeline = run(Parameters::textbook(), &steps);
    assert_eq!(*pipeline.cycles(), Cycles { retired: 3, fill: 4, ..Cycles::default() });
    // A jump to the following instruction flushes as any other does.
    assert_eq!(lost(Parameters::textbook(), &[step(0, Kind::Jump), steps[1]]).control, 2);
}

#[test]
fn a_trapped_instruction_is_lost_and_an_interrupt_waits_for_no_operand() {
    let load = writes(5, step(0, Kind::Load));
    let add = reads(5, step(4, Kind::Alu));
    let steps = [load, interrupted(0x100, add), step(0x100, Kind::Alu)];
    let pipeline = run(Parameters::textbook(), &steps);
    let cycles = Cycles { retired: 2, trapped: 1, trap: 4, fill: 4, ..Cycles::default() };
    assert_eq!(*pipeline.cycles(), cycles);
    // An exception may come of its operand, so it waits.
    let faults = Step { trap: ecall(0, 0).trap, ..to(0x100, reads(5, step(4, Kind::Load))) };
    let cycles = lost(Parameters::textbook(), &[load, faults, step(0x100, Kind::Alu)]);
    assert_eq!((cycles.data, cycles.trap), (1, 4));
    // What trapped wrote nothing: its reader waits for nobody.
    let faults = writes(6, faults);
    let reader = reads(6, step(0x100, Kind::Alu));
    let early = Parameters { trap: Stage::Decode, ..Parameters::textbook() };
    assert_eq!(lost(early, &[faults, reader]).data, 0);
}

/// The stalls of a user so many instructions behind the producer.
fn stalls(parameters: Parameters, producer: Kind, user: Kind) -> [u64; 4] {
    std::array::from_fn(|between| {
        let mut steps = vec![writes(5, step(0, producer))];
        steps.extend((0..between).map(|place| step(4 + 4 * place as u32, Kind::Alu)));
        steps.push(reads(5, step(4 + 4 * between as u32, user)));
        lost(parameters, &steps).data
    })
}

/// Patterson and Hennessy, chapter 4: one stall between a load and its use; with branches in ID one
/// behind arithmetic and two behind a load; two without forwarding.
#[test]
fn stalls_are_those_of_the_textbook() {
    let textbook = Parameters::textbook();
    let early = Parameters { branch: Stage::Decode, ..textbook };
    let none = Parameters { forwarding: false, ..textbook };
    assert_eq!(stalls(textbook, Kind::Alu, Kind::Alu), [0, 0, 0, 0]);
    assert_eq!(stalls(textbook, Kind::Load, Kind::Alu), [1, 0, 0, 0]);
    assert_eq!(stalls(textbook, Kind::Load, Kind::Branch), [1, 0, 0, 0]);
    assert_eq!(stalls(early, Kind::Alu, Kind::Branch), [1, 0, 0, 0]);
    assert_eq!(stalls(early, Kind::Load, Kind::Branch), [2, 1, 0, 0]);
    assert_eq!(stalls(none, Kind::Alu, Kind::Alu), [2, 1, 0, 0]);
    assert_eq!(stalls(none, Kind::Load, Kind::Alu), [2, 1, 0, 0]);
    let late = Parameters { loaded: Stage::WriteBack, ..textbook };
    assert_eq!(stalls(late, Kind::Load, Kind::Alu), [2, 1, 0, 0]);
    let four = Parameters { forwarding: false, ..Parameters::cv32e40p() };
    assert_eq!(stalls(four, Kind::Alu, Kind::Alu), [1, 0, 0, 0]);
}

#[test]
fn nobody_waits_for_x0_or_for_a_value_that_was_written_again() {
    let zero = [writes(0, step(0, Kind::Load)), reads(0, step(4, Kind::Alu))];
    assert_eq!(lost(Parameters::textbook(), &zero).data, 0);
    let load = writes(5, step(0, Kind::Load));
    let again = [load, writes(5, step(4, Kind::Alu)), reads(5, step(8, Kind::Alu))];
    assert_eq!(lost(Parameters::textbook(), &again).data, 0);
}

/// The manual's table "Cycle counts per instruction type", row by row, as what a second instruction
/// behind the one in question comes later.
#[test]
fn cv32e40p_takes_the_cycles_of_its_manual() {
    let cycles = |first: Step| {
        let next = step(first.next, Kind::Alu);
        let (_, times) = pass(Parameters::cv32e40p(), &[(first, 0, 0), (next, 0, 0)]);
        times[1].after - times[0].after + times[0].after - times[0].execute - 1
    };
    let odd = 0x102;
    let kinds = [
        (step(0, Kind::Alu), 1),
        (step(0, Kind::Multiply), 1),
        (step(0, Kind::Divide), 35),
        (step(0, Kind::Load), 1),
        (step(0, Kind::Store), 1),
        (to(0x100, step(0, Kind::Jump)), 2),
        (to(odd, step(0, Kind::Jump)), 3),
        (to(0x100, step(0, Kind::JumpRegister)), 2),
        (step(0, Kind::Branch), 1),
        (to(0x100, step(0, Kind::Branch)), 3),
        (to(odd, step(0, Kind::Branch)), 4),
        (step(0, Kind::Csr), 4),
    ];
    for (first, manual) in kinds {
        assert_eq!(cycles(first), manual, "{first:?}");
    }
    let cv32e40p = Parameters::cv32e40p();
    assert_eq!(stalls(cv32e40p, Kind::Load, Kind::Alu), [1, 0, 0, 0]);
    assert_eq!(stalls(cv32e40p, Kind::Alu, Kind::JumpRegister), [1, 0, 0, 0]);
}

#[test]
fn long_work_in_ex_holds_up_who_comes_behind() {
    let parameters = Parameters { multiply: 2, divide: 30, csr: 3, ..Parameters::textbook() };
    let steps = [step(0, Kind::Multiply), step(4, Kind::Divide), step(8, Kind::Csr)];
    assert_eq!(lost(parameters, &steps).execution, 35);
    let trapped = Step { trap: ecall(0, 0).trap, ..step(0, Kind::Csr) };
    assert_eq!(lost(parameters, &[trapped]).execution, 0);
}

#[test]
fn a_pipelined_multiplier_lets_only_the_user_of_the_product_wait() {
    let pipelined = Parameters { multiplied: Stage::Memory, ..Parameters::textbook() };
    assert_eq!(stalls(pipelined, Kind::Multiply, Kind::Alu), [1, 0, 0, 0]);
    assert_eq!(stalls(pipelined, Kind::Alu, Kind::Multiply), [0; 4]);
}

#[test]
fn what_may_not_follow_a_load_or_store_waits_behind_it() {
    let parameters = Parameters { behind_memory: 1, ..Parameters::textbook() };
    for kind in [Kind::Multiply, Kind::Divide, Kind::Csr, Kind::Return, Kind::Fence] {
        for access in [Kind::Load, Kind::Store] {
            let steps = [step(0, access), step(4, kind), step(8, kind)];
            assert_eq!(lost(parameters, &steps).data, 1, "{kind:?}");
            let between = [step(0, access), step(4, Kind::Alu), step(8, kind)];
            assert_eq!(lost(parameters, &between).data, 0, "{kind:?}");
        }
    }
    assert_eq!(lost(parameters, &[step(0, Kind::Load), step(4, Kind::Store)]).data, 0);
}

#[test]
fn each_kind_of_redirect_has_its_latency() {
    let [branch, jump, jump_register, trap, interrupt, trap_return] = [1, 2, 3, 4, 5, 6];
    let latency = Latency { branch, jump, jump_register, trap, interrupt, trap_return };
    let parameters = Parameters { latency, ..Parameters::textbook() };
    let kinds = [Kind::Branch, Kind::Jump, Kind::JumpRegister];
    let lost = |step| lost(parameters, &there(step));
    assert_eq!(kinds.map(|kind| lost(step(0, kind)).control), [2 + 1, 2 + 2, 2 + 3]);
    let interrupted = interrupted(0x100, step(0, Kind::Alu));
    assert_eq!([lost(ecall(0, 0x100)).trap, lost(interrupted).trap], [4 + 4, 4 + 5]);
    assert_eq!(lost(step(0, Kind::Return)).trap_return, 4 + 6);
}

fn small(pc: u32) -> Step {
    Step { next: pc + 2, size: 2, ..step(pc, Kind::Alu) }
}

#[test]
fn words_are_fetched_once_and_a_straddling_target_costs_a_second_fetch() {
    // Two 16-bit instructions, one of 32 bits in two words, one of 16: three words.
    let steps = [small(0), small(2), small(4), step(6, Kind::Alu), small(10)];
    let pipeline = run(Parameters::textbook(), &steps);
    assert_eq!((pipeline.fetches(), pipeline.cycles().total()), (3, 5 + 4));
    let jump = to(0x102, step(0, Kind::Jump));
    let pipeline = run(Parameters::textbook(), &[jump, step(0x102, Kind::Alu)]);
    assert_eq!((pipeline.fetches(), pipeline.cycles().fetch), (3, 1));
    let wide = Parameters { fetch_bytes: 8, ..Parameters::textbook() };
    assert_eq!(run(wide, &[jump, step(0x102, Kind::Alu)]).cycles().fetch, 0);
    // A bus of 16 bits takes two cycles for every instruction of 32.
    let narrow = Parameters { fetch_bytes: 2, ..Parameters::textbook() };
    let steps = [step(0, Kind::Alu), step(4, Kind::Alu), small(8)];
    let pipeline = run(narrow, &steps);
    assert_eq!((pipeline.fetches(), pipeline.cycles().fetch), (5, 2));
    // Nothing was fetched where nothing could be; it took a cycle to find out.
    let none = Step { size: 0, ..ecall(u32::MAX, 0x100) };
    assert_eq!(run(Parameters::textbook(), &[none]).cycles().total(), 5);
}

#[test]
fn a_miss_costs_its_lines_and_long_work_hides_it() {
    let parameters = Parameters { miss: 10, divide: 34, ..Parameters::textbook() };
    let missed = |first: Kind, lines: u8| {
        let (pipeline, _) =
            pass(parameters, &[(step(0, first), 0, 0), (step(4, Kind::Alu), lines, 0)]);
        (pipeline.cycles().miss, pipeline.cycles().execution)
    };
    assert_eq!(missed(Kind::Alu, 1), (10, 0));
    assert_eq!(missed(Kind::Alu, 2), (20, 0));
    assert_eq!(missed(Kind::Divide, 1), (0, 34));
    // 37 cycles pass between the fetches' ends and the end of the division; 35 are the division's.
    assert_eq!(missed(Kind::Divide, 4), (6, 34));
}

#[test]
fn an_empty_pipeline_has_no_cycles() {
    let pipeline = run(Parameters::textbook(), &[]);
    assert_eq!(pipeline.cycles().total(), 0);
    let pipeline = run(Parameters::textbook(), &[step(0, Kind::Alu)]);
    assert_eq!(pipeline.cycles().total(), 5);
}

#[test]
fn what_cannot_be_built_is_refused_with_what_would_be_right() {
    let refused = |parameters: Parameters| Pipeline::new(parameters).unwrap_err().to_string();
    let textbook = Parameters::textbook();
    let early = Parameters { trap: Stage::Fetch, ..textbook };
    assert_eq!(refused(early), "the stage of traps is IF; ID or a later one would be right");
    let early = Parameters { loaded: Stage::Decode, ..textbook };
    assert_eq!(
        refused(early),
        "the stage of loaded values is ID; EX or a later one would be right"
    );
    let missing = Parameters { depth: Depth::Four, ..textbook };
    assert_eq!(
        refused(missing),
        "the stage of loaded values is MEM, and a pipeline of four stages has no such stage"
    );
    let late =
        Parameters { prediction: Prediction::Backward, predicted: Stage::Execute, ..textbook };
    assert_eq!(
        refused(late),
        "branches are predicted in EX and resolved in EX; an earlier stage than that would be right"
    );
    for entries in [0, 3, 1 << 21] {
        let wrong = Parameters { prediction: Prediction::Gshare { entries }, ..textbook };
        assert_eq!(wrong.check(), Err(Error::Entries { entries }));
    }
    for bytes in [0, 1, 3, 128] {
        let wrong = Parameters { fetch_bytes: bytes, ..textbook };
        assert_eq!(wrong.check(), Err(Error::FetchBytes { bytes }));
    }
    assert!(textbook.check().is_ok() && Parameters::cv32e40p().check().is_ok());
}

#[test]
fn every_kind_stands_at_its_number() {
    assert!(KINDS.iter().enumerate().all(|(place, kind)| *kind as usize == place));
    assert_eq!(KINDS.last(), Some(&Kind::Illegal));
}
