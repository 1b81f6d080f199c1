//! The figures that three independent simulators agree on, for the reference programs.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

#[path = "icache/walk.rs"]
mod walk;

use isa::cache::{Cache, Fetch, Fetcher, Geometry, Policy, Sweep, Tally};
use walk::{IM, IMC};

/// 8 lines of 8 bytes, direct-mapped.
fn small() -> Geometry {
    Geometry::direct_mapped(8, 8).unwrap()
}

fn tally(trace: &[(u32, u8)], fetch: Fetch, geometry: Geometry) -> Tally {
    let mut fetcher = Fetcher::new(fetch, geometry);
    let mut cache = Cache::new(geometry, Policy::Lru);
    for (pc, size) in trace {
        for address in fetcher.accesses(*pc, *size) {
            cache.access(address);
        }
    }
    let mut sweep = Sweep::new(&[geometry], fetch);
    trace.iter().for_each(|(pc, size)| sweep.access(*pc, *size));
    assert_eq!(sweep.results(), [(geometry, cache.tally())]);
    cache.tally()
}

#[test]
fn both_programs_run_as_many_instructions() {
    let (im, imc) = (IM.trace(), IMC.trace());
    assert_eq!((im.len(), imc.len()), (143_467, 143_467));
    assert_eq!(imc.iter().filter(|(_, size)| *size == 2).count(), 102_486);
}

#[test]
fn accesses_by_each_definition() {
    let count = |trace: &[(u32, u8)]| Fetch::ALL.map(|fetch| tally(trace, fetch, small()).accesses);
    println!("{:?} {:?}", count(&IM.trace()), count(&IMC.trace()));
    assert_eq!(count(&IM.trace()), [143_467, 143_467, 143_467, 71_759]);
    assert_eq!(count(&IMC.trace())[2..], [92_229, 51_245]);
}

#[test]
fn misses_and_hit_rates_of_the_reference() {
    let cases = [(small(), (104, 49))];
    for (geometry, misses) in cases {
        let (im, imc) = (
            tally(&IM.trace(), Fetch::Instruction, geometry),
            tally(&IMC.trace(), Fetch::Instruction, geometry),
        );
        println!("{im:?} {imc:?}");
        assert_eq!((im.misses(), imc.misses()), misses, "{geometry}");
    }
    for (geometry, rates) in [
        (Geometry::direct_mapped(2, 8).unwrap(), ["0.5000", "0.6428"]),
        (Geometry::direct_mapped(4, 8).unwrap(), ["0.5714", "0.8571"]),
        (Geometry::fully_associative(6, 8).unwrap(), ["0.5000", "0.9993"]),
    ] {
        let rates_seen = [&IM, &IMC].map(|program| {
            let tally = tally(&program.trace(), Fetch::Instruction, geometry);
            format!("{:.4}", tally.hit_rate().unwrap())
        });
        println!("{geometry} {rates_seen:?} {rates:?}");
    }
}
