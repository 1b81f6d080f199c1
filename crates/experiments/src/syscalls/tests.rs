use super::entity::{ENTITIES, Entity};
use super::watch::{self, Line, Operation, Watched};
use super::{COUNTED, design, recipe, shown};
use kit::Stop;
use sys::calls::Cloned;

/// What a level does, in a process of the test; `None` where tracing is forbidden.
fn traced(level: &str, count: usize) -> Option<Watched> {
    let entity: Entity = ENTITIES.iter().find(|(name, _)| *name == level).unwrap().1;
    match watch::watch(&watch::fork(entity, count).unwrap(), count) {
        Ok(watched) => Some(watched),
        Err(Stop::Unsupported(_)) => None,
        Err(Stop::Failed(reason)) => panic!("{level}: {reason}"),
    }
}

#[test]
fn levels_and_counted_calls_are_those_declared() {
    let design = design();
    crate::check_levels(&design, "entity", &ENTITIES);
    for (_, response) in COUNTED {
        assert!(design.response(response).is_some(), "{response}");
    }
}

#[test]
fn every_level_makes_what_it_says_and_ends_well() {
    // posix_spawn starts this program, which is another one under test; a session measures it.
    for (level, entity) in ENTITIES.iter().filter(|(level, _)| *level != "posix_spawn") {
        let Some(watched) = traced(level, 3) else { return };
        assert_eq!(watched.exit_code, 0, "{level}");
        assert_eq!(watched.made_before, entity.made_before, "{level}");
        let made: Vec<usize> = watched.operations.iter().map(|one| one.made.len()).collect();
        assert_eq!(made, [entity.makes; 3], "{level}");
    }
}

#[test]
fn nothing_is_counted_as_nothing() {
    let Some(watched) = traced("nothing", 4) else { return };
    assert!(watched.operations.iter().all(|operation| operation.lines.is_empty()));
    assert_eq!(watched.operations.len(), 4);
}

#[test]
fn a_fork_is_told_from_a_thread_by_its_flags() {
    let (Some(fork), Some(thread)) = (traced("fork", 1), traced("pthread", 1)) else { return };
    let [process] = fork.operations[0].made[..] else { panic!("one process") };
    let [thread] = thread.operations[0].made[..] else { panic!("one thread") };
    assert!(!process.is_thread() && !process.has("CLONE_VM") && process.exit_signal != 0);
    assert!(thread.is_thread() && thread.has("CLONE_VM") && thread.exit_signal == 0);
    assert_eq!(fork.operations[0].count("wait4"), 1);
    let by_made = fork.operations[0].lines.iter().filter(|line| !line.by_maker);
    assert!(by_made.into_iter().any(|line| line.name == "exit_group"));
}

#[test]
fn a_stack_that_libc_cannot_keep_is_mapped_each_time() {
    let Some(watched) = traced("pthread_fresh_stack", 4) else { return };
    for operation in &watched.operations[1..] {
        assert!(operation.count("mmap") >= 1 && operation.count("munmap") >= 1);
    }
}

fn line(by_maker: bool, name: &str, says: &str) -> Line {
    Line { by_maker, name: name.into(), says: says.into(), error: None }
}

#[test]
fn the_same_call_again_and_again_by_one_side_is_one_row() {
    let operation = Operation {
        lines: vec![
            line(true, "rt_sigaction", "SIGHUP"),
            line(true, "rt_sigaction", "SIGINT"),
            line(false, "rt_sigaction", "SIGINT"),
            line(true, "mmap", "4096 bytes"),
            line(false, "rt_sigaction", "SIGINT"),
        ],
        made: Vec::new(),
    };
    assert_eq!(
        shown::rows(&operation),
        [
            ["maker", "rt_sigaction", "2", "…", ""],
            ["maker", "mmap", "1", "4096 bytes", ""],
            ["made", "rt_sigaction", "2", "SIGINT", ""],
        ]
    );
}

#[test]
fn the_recipe_counts_what_the_maker_calls() {
    let operation = Operation {
        lines: vec![
            line(true, "mmap", ""),
            line(true, "mmap", ""),
            line(true, "clone3", ""),
            line(false, "mprotect", ""),
        ],
        made: Vec::new(),
    };
    assert_eq!(recipe(&operation), 2);
}

#[test]
fn the_table_of_flags_says_what_is_and_what_is_not() {
    let rows = shown::flags(&Cloned::by_fork());
    let no = |row: &Vec<String>| row[1] == "no";
    assert!(rows[..5].iter().all(no) && rows[5][0] == "CLONE_VFORK" && no(&rows[5]));
    assert_eq!(rows[6][..2], ["exit signal", "SIGCHLD"]);
    let rows = shown::flags(&Cloned::by_vfork());
    assert_eq!(rows[0][..2], ["CLONE_VM", "yes"]);
}
