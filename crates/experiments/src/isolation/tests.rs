use super::local::{self, Room, alone, is_on_stack};
use super::worker::{WORKERS, Worker, with_worker};
use super::{ACTS, AT_FIRST, BY_WORKER, FIRST_WRITERS, Moment, crash, design, page_rows};
use std::sync::atomic::Ordering;

#[test]
fn every_level_has_its_code() {
    let design = design();
    crate::check_levels(&design, "worker", &WORKERS);
    crate::check_levels(&design, "act", &ACTS);
    crate::check_levels(&design, "first_writer", &FIRST_WRITERS);
}

/// What main reads after a worker's write, and whether both had the same address.
fn written_by(worker: Worker) -> (u64, bool) {
    let (room, shared) = (Room::new(), sys::pages::shared(8).unwrap());
    let variable = local::variable(worker, &room, &shared);
    variable.store(AT_FIRST, Ordering::SeqCst);
    with_worker(worker, variable, |main_end| {
        let sight = main_end.look().unwrap();
        assert_eq!(sight.value, AT_FIRST);
        assert_eq!(main_end.write(BY_WORKER).unwrap(), BY_WORKER);
        let same = sight.address == local::address(variable) as u64;
        Ok((variable.load(Ordering::SeqCst), same))
    })
    .unwrap()
}

#[test]
fn what_is_shared_is_seen_and_what_is_copied_is_not() {
    assert_eq!(written_by(Worker::Thread), (BY_WORKER, true));
    assert_eq!(written_by(Worker::Process), (AT_FIRST, true));
    assert_eq!(written_by(Worker::SharingProcess), (BY_WORKER, true));
}

#[test]
fn the_variable_has_its_page_to_itself() {
    for page in [4096, 16_384, 65_536] {
        for start in [0x7ffd_0000_0000, 0x7ffd_0000_0008, 0x7ffd_0000_fff8] {
            let address = start + 8 * alone(start, page);
            assert_eq!(address % page, 0);
            assert!(address - start < page, "a whole page lies within two of the largest");
        }
    }
    let room = Room::new();
    assert_eq!(local::address(room.alone()) % sys::pages::page_bytes(), 0);
}

#[test]
fn a_stack_is_found_in_the_list_of_mappings() {
    let maps = "1000-2000 rw-p 0 00:00 0 [heap]\n7000-9000 rw-p 0 00:00 0 [stack]\nx\n";
    assert!(is_on_stack(maps, 0x7000) && is_on_stack(maps, 0x8fff));
    assert!(!is_on_stack(maps, 0x9000) && !is_on_stack(maps, 0x1000) && !is_on_stack("", 0));
}

#[test]
fn a_crash_ends_all_threads_and_only_one_process() {
    let left = |worker| {
        let words = sys::pages::shared(64).unwrap();
        let ended = crash::house(worker, words.words()).unwrap();
        (words.words()[0].load(Ordering::SeqCst), words.words()[1].load(Ordering::SeqCst), ended)
    };
    let (main, bystander, ended) = left(Worker::Thread);
    assert_eq!((main, bystander, ended.signal), (0, 0, Some(sys::signal::SIGSEGV)));
    let (main, bystander, ended) = left(Worker::Process);
    assert_eq!((main, bystander, ended.code), (1, 1, Some(0)));
}

#[test]
fn pages_are_named_by_their_first_sight() {
    let moment = |main_frame, worker_frame| Moment {
        when: "then",
        main_frame,
        worker_frame,
        main_value: 1,
        worker_value: 2,
    };
    let rows = page_rows(&[moment(70, 70), moment(70, 50), moment(90, 50)]);
    let pages: Vec<[&str; 2]> = rows.iter().map(|row| [&*row[1], &*row[2]]).collect();
    assert_eq!(pages, [["A", "A"], ["A", "B"], ["C", "B"]]);
}
