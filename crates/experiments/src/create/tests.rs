use super::mechanism::{Expected, MECHANISMS, awaited};
use super::parent::{PLACEMENTS, Placement};
use super::pool::{Condvar, Futex, Handing, work};
use super::thread::{joined, mapping_around, stack_of_a_thread};
use super::timing::BREAK_EVEN;
use crate::support::memory::PAGES;
use kit::Stop;
use kit::model::Profile;

const MAPS: &str = "\
7f0000000000-7f0000001000 ---p 00000000 00:00 0
7f0000001000-7f0000005000 rw-p 00000000 00:00 0 [stack]
";

#[test]
fn a_mapping_is_found_by_any_address_in_it() {
    assert_eq!(mapping_around(MAPS, 0x7f00_0000_1000), Some(0x4000));
    assert_eq!(mapping_around(MAPS, 0x7f00_0000_4fff), Some(0x4000));
    assert_eq!(mapping_around(MAPS, 0x7f00_0000_5000), None);
    assert_eq!(mapping_around("rubbish\n\n", 0), None);
}

#[test]
fn a_thread_stands_on_a_stack_of_the_size_asked_for() {
    let small = sys::task::smallest_stack_bytes().max(16 * 1024);
    let found = stack_of_a_thread(Some(small)).unwrap();
    assert!((small as u64..small as u64 + 256 * 1024).contains(&found), "{found}");
    let large = 64 << 20;
    assert!(stack_of_a_thread(Some(large)).unwrap() >= large as u64);
}

#[test]
fn instants_are_in_order_whatever_is_created() {
    for times in [
        joined(None),
        awaited(sys::task::vfork_exit),
        awaited(sys::task::clone_fork_exit),
        awaited(|| sys::task::fork_exit(false)),
    ] {
        let times = times.unwrap();
        assert!(times.start_ns <= times.made_ns && times.made_ns <= times.over_ns, "{times:?}");
    }
}

#[test]
fn a_child_that_ends_badly_is_no_measurement() {
    let stop = awaited(|| sys::task::fork_run(|| 3)).unwrap_err();
    assert_eq!(stop, Stop::failed("a child ended with code 3 instead of 0"));
}

#[test]
fn what_a_limit_forbids_is_unsupported_and_says_what_would_help() {
    const EAGAIN: i32 = 11;
    const ENOMEM: i32 = 12;
    const EINVAL: i32 = 22;
    for (errno, help) in [(EAGAIN, "ulimit -u"), (ENOMEM, "free memory")] {
        let stop = awaited(|| Err(sys::Error::new("fork", errno))).unwrap_err();
        assert!(matches!(&stop, Stop::Unsupported(why) if why.contains(help)), "{stop:?}");
    }
    let lacking = awaited(|| Err(sys::Error::unsupported("clone3", "too old"))).unwrap_err();
    assert!(matches!(lacking, Stop::Unsupported(_)), "{lacking:?}");
    let broken = awaited(|| Err(sys::Error::new("fork", EINVAL))).unwrap_err();
    assert!(matches!(broken, Stop::Failed(_)), "{broken:?}");
}

#[test]
fn the_pool_does_each_job_once() {
    fn hand(handing: &impl Handing) -> u64 {
        std::thread::scope(|scope| {
            let worker = scope.spawn(|| work(handing, None));
            for job in 1..=200 {
                handing.give(job).unwrap();
                handing.hear(job).unwrap();
            }
            handing.give(u32::MAX).unwrap();
            worker.join().unwrap().unwrap()
        })
    }
    assert_eq!(hand(&Futex::new()), 200);
    assert_eq!(hand(&Condvar::default()), 200);
}

#[test]
fn a_pool_that_cannot_go_where_it_should_says_so() {
    let handing = Futex::new();
    handing.give(u32::MAX).unwrap();
    let stop = work(&handing, Some(60_000)).unwrap_err();
    assert!(matches!(stop, Stop::Unsupported(_)), "{stop:?}");
}

#[test]
fn the_break_even_makes_the_cost_a_tenth() {
    let cost = 100.0;
    let task = BREAK_EVEN as f64 * cost;
    assert!((cost / (cost + task) - 0.1_f64).abs() < 1e-12);
}

#[test]
fn expectations_are_ranges_and_can_be_written_as_json() {
    for (name, mechanism) in &MECHANISMS {
        for placement in [Placement::Same, Placement::Other(None), Placement::Free] {
            let Expected { switches, parent_faults, child_faults } =
                mechanism.expected.at(placement);
            for (low, high) in [switches, parent_faults, child_faults] {
                assert!(low < high && high.is_finite(), "{name}");
            }
        }
    }
}

#[test]
fn every_level_has_its_code() {
    let design = super::design();
    crate::check_levels(&design, "mechanism", &MECHANISMS);
    crate::check_levels(&design, "placement", &PLACEMENTS);
    crate::check_levels(&design, "pages", &PAGES);
}

#[test]
fn the_card_gives_the_length_of_the_header() {
    let design = super::design();
    let card = &design.response("echoed_bytes").unwrap().card;
    assert!(card.from.contains(&format!("a header of {} bytes", super::HEADER.len())), "{card:?}");
}

#[test]
fn quick_measures_all_parts_of_the_gap() {
    let design = super::design();
    let planned = design.treatments(Profile::Quick);
    for finding in ["copy_of_rest", "copy_of_rest_64", "libc_of_gap", "libc_of_gap_64"] {
        let finding = design.findings.iter().find(|known| known.id == finding).unwrap();
        let needed = finding.quantity.cells().into_iter().map(|cell| design.complete(cell));
        for treatment in needed {
            assert!(planned.contains(&treatment), "{}: {treatment}", finding.id);
        }
    }
}

#[test]
fn every_profile_measures_the_control_that_is_subtracted() {
    let design = super::design();
    for profile in [Profile::Smoke, Profile::Quick, Profile::Standard, Profile::Thorough] {
        let all = design.treatments(profile);
        for response in &design.responses {
            let Some(control) = &response.subtract else { continue };
            for treatment in &all {
                assert!(all.contains(&treatment.with(control)), "{} {treatment}", response.name);
            }
        }
    }
}

#[test]
fn accounts_count_what_smoke_or_quick_measures() {
    let design = super::design();
    let planned = design.treatments(Profile::Quick);
    for account in &design.accounts {
        for cell in account.terms().flat_map(kit::model::Term::cells) {
            assert!(planned.contains(&design.complete(cell)), "{}: {cell:?}", account.id);
        }
    }
}
