use super::exhibits::{drawing, left_behind};
use super::programs::{EVENTS, Event, NO_INSTRUCTION, Plan, START_INSTRUCTIONS};
use super::run::{CACHES, Caching, Compared, STAGES, Way, state};
use isa::pipeline::{Depth, Stage};
use kit::model::Profile;

const ROUNDS: u64 = 20;

fn plan(event: Event, interval: u64) -> Plan {
    Plan { event, interval, rounds: ROUNDS, handler_apart: false, shows_state: false }
}

fn way(stage: Stage, latency: u16) -> Way {
    Way { stage, latency, caching: Caching::None }
}

#[test]
fn what_comes_before_the_loop_is_as_long_as_it_says() {
    for (name, event) in EVENTS {
        let written = plan(event, 8).write();
        let start = (written.program.text.end - written.program.entry) / 4;
        assert_eq!(start, START_INSTRUCTIONS, "{name}");
    }
}

#[test]
fn every_event_loses_what_the_rule_says_in_every_stage() {
    for (name, event) in EVENTS {
        for (stage_name, stage) in STAGES {
            for latency in [0, 1, 2, 4] {
                let plan = plan(event, 16);
                let compared = Compared::by(&plan, &way(stage, latency)).unwrap();
                let index = u64::from(Depth::Five.index(stage).unwrap());
                let rule = match event {
                    Event::NotTaken => 0,
                    event => (index + u64::from(latency)) * event.traps().max(1) * ROUNDS,
                };
                let place = format!("{name} in {stage_name} with {latency}");
                assert_eq!(compared.lost(event), rule, "{place}");
                assert_eq!(compared.with.traps, event.traps() * ROUNDS, "{place}");
                assert_eq!(compared.with.cycles.retired, plan.write().retires, "{place}");
                assert_eq!(compared.without.traps, 0, "{place}");
            }
        }
    }
}

/// A trap costs its slot, what is lost behind it, its handler, and what is lost behind `mret`; the
/// instruction of the slot, which `nop` takes without the event, is not carried out by an ecall.
#[test]
fn an_event_costs_its_parts() {
    let whole = |event, interval| {
        let compared = Compared::by(&plan(event, interval), &way(Stage::WriteBack, 0)).unwrap();
        assert_eq!(compared.whole() % ROUNDS as i64, 0);
        compared.whole() / ROUNDS as i64
    };
    for interval in [8, 16, 64, 512] {
        assert_eq!(whole(Event::Call, interval), 4 + 4 + 4, "{interval}");
        assert_eq!(whole(Event::Illegal, interval), 4 + 4 + 4, "{interval}");
        assert_eq!(whole(Event::CallAgain, interval), 2 * (1 + 4 + 5 + 4) - 1, "{interval}");
        // The interrupted instruction is fetched twice; the word that its handler stores is loaded
        // just before, and waits for one cycle.
        assert_eq!(whole(Event::Timer, interval), 1 + 4 + 4 + 1 + 4, "{interval}");
        assert_eq!(whole(Event::Branch, interval), 4, "{interval}");
        assert_eq!(whole(Event::NotTaken, interval), 0, "{interval}");
    }
}

#[test]
fn what_comes_again_is_what_mepc_says() {
    let again = |event| {
        let compared = Compared::by(&plan(event, 16), &way(Stage::WriteBack, 0)).unwrap();
        compared.with.again
    };
    assert_eq!(again(Event::Timer), ROUNDS);
    assert_eq!(again(Event::Call), 0);
    assert_eq!(again(Event::Illegal), 0);
    assert_eq!(again(Event::CallAgain), ROUNDS);
}

#[test]
fn a_handler_on_the_loops_lines_misses_and_makes_miss() {
    let misses = |caching| {
        let handler_apart = caching == Caching::Apart;
        let plan = Plan { handler_apart, ..plan(Event::Timer, 64) };
        let way = Way { stage: Stage::WriteBack, latency: 0, caching };
        let compared = Compared::by(&plan, &way).unwrap();
        compared.with.misses as i64 - compared.without.misses as i64
    };
    // On lines of its own it misses its two the first time alone.
    assert_eq!(misses(Caching::Apart), 2);
    // In every further round the handler misses them again, and the loop those that they were.
    assert_eq!(misses(Caching::Conflicting), 2 + 4 * (ROUNDS as i64 - 1));
}

#[test]
fn a_trap_leaves_its_address_its_cause_and_the_word() {
    let left = |event| {
        let plan = plan(event, 16);
        let state = state(&plan, &way(Stage::WriteBack, 0)).unwrap();
        let rows = left_behind(&state, event.cause().unwrap(), &plan.write());
        rows.into_iter().map(|row| row[1..].join(" ")).collect::<Vec<_>>()
    };
    let call = [
        "0x00001008 the address of: ecall",
        "0x0000000b environment call from machine mode",
        "0x00000000 nothing",
        "0x00001800 MIE 0, MPIE 0",
        "0x00001800 MIE 0, MPIE 0",
    ];
    assert_eq!(left(Event::Call), call);
    assert_eq!(left(Event::Illegal)[2], format!("{NO_INSTRUCTION:#010x} the word itself"));
    let timer = [
        "0x00001020 the address of: addi t0, t0, 1",
        "0x80000007 timer interrupt",
        "0x00000000 nothing",
        "0x00001808 MIE 1, MPIE 0",
        "0x00001880 MIE 0, MPIE 1",
    ];
    assert_eq!(left(Event::Timer), timer);
}

#[test]
fn every_event_is_drawn_with_what_it_flushes() {
    for (name, event) in EVENTS {
        let drawing = drawing(&plan(event, 16), &way(Stage::WriteBack, 0)).unwrap().unwrap();
        let flushed = drawing
            .rows
            .iter()
            .filter(|row| row.cells.last() == Some(&isa::pipeline::Cell::Flushed));
        let redirects = match event {
            Event::NotTaken => 0,
            // The ecall, `mret`, and the ecall again.
            Event::CallAgain => 3,
            event => 1 + usize::from(event.traps() > 0),
        };
        assert_eq!(flushed.count(), 4 * redirects, "{name}");
        assert_eq!(drawing.notes.len(), redirects, "{name}");
        assert!(drawing.cycles().count() <= 40, "{name}");
    }
}

#[test]
fn every_claim_is_measured_in_quick_and_the_rule_in_smoke() {
    let design = super::design();
    crate::check_levels(&design, "event", &EVENTS);
    crate::check_levels(&design, "stage", &STAGES);
    crate::check_levels(&design, "cache", &CACHES);
    let quick = design.treatments(Profile::Quick);
    for quantity in design
        .claims
        .iter()
        .map(|claim| &claim.quantity)
        .chain(design.findings.iter().map(|finding| &finding.quantity))
    {
        for cell in quantity.cells() {
            assert!(quick.contains(&design.complete(cell)), "{quantity:?}");
        }
    }
    assert!(design.treatments(Profile::Smoke).len() <= 24);
}
