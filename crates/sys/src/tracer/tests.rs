use super::*;
use crate::calls::Reader;
use crate::gate::SharedGate;
use crate::{process, task};
use std::ffi::OsString;
use std::sync::atomic::Ordering;

/// What a traced child did, event by event; `None` where tracing is forbidden.
fn events_of(work: impl Fn() -> i32) -> Option<(Pid, Vec<Event>)> {
    events_seen(work, |_| ())
}

/// The same; each event is shown to `see` before its task goes on.
fn events_seen(work: impl Fn() -> i32, see: impl Fn(&Event)) -> Option<(Pid, Vec<Event>)> {
    let gate = SharedGate::new().unwrap();
    let pid = task::fork_run(|| {
        gate.arrived().store(1, Ordering::Release);
        while gate.released().load(Ordering::Acquire) == 0 {
            let _ = crate::futex::wait_shared(gate.released(), 0, None);
        }
        work()
    })
    .unwrap();
    crate::testing::eventually("arrival", || gate.arrived().load(Ordering::Acquire) == 1);
    let attached = Tracer::attach(pid);
    gate.released().store(1, Ordering::Release);
    let mut tracer = match attached {
        Ok(tracer) => tracer,
        Err(error) => {
            assert!(error.is_unsupported(), "{error}");
            let _ = crate::futex::wake_shared(gate.released(), 1);
            task::wait(pid).unwrap();
            return None;
        }
    };
    let mut events = Vec::new();
    while let Some(event) = tracer.next_event().unwrap() {
        see(&event);
        events.push(event);
    }
    Some((pid, events))
}

fn names(events: &[Event], of: Pid) -> Vec<String> {
    let entered = events.iter().filter_map(|event| match event {
        Event::Entered { task, call, .. } if *task == of => Some(call.name().into_owned()),
        _ => None,
    });
    entered.collect()
}

fn ends(events: &[Event]) -> Vec<(Pid, End)> {
    let ended = events.iter().filter_map(|event| match event {
        Event::Ended { task, end } => Some((*task, *end)),
        _ => None,
    });
    ended.collect()
}

fn count(names: &[String], name: &str) -> usize {
    names.iter().filter(|found| *found == name).count()
}

#[test]
fn each_call_enters_once_and_leaves_once_with_its_result() {
    let Some((pid, events)) = events_of(|| {
        for _ in 0..10 {
            crate::syscall::getppid();
        }
        7
    }) else {
        return;
    };
    assert_eq!(count(&names(&events, pid), "getppid"), 10);
    let own = i64::from(process::pid());
    let told = events.iter().filter(|event| match event {
        Event::Left { call, result, .. } => call.name() == "getppid" && *result == Ok(own),
        _ => false,
    });
    assert_eq!(told.count(), 10);
    assert_eq!(ends(&events), [(pid, End::Exited(7))]);
}

#[test]
fn a_thread_is_made_by_a_clone_with_its_flags() {
    let Some((pid, events)) = events_of(|| {
        let joined = std::thread::spawn(crate::syscall::getppid).join();
        i32::from(joined.is_err())
    }) else {
        return;
    };
    let made: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::Made { by, task, cloned, call } => Some((*by, *task, *cloned, *call)),
            _ => None,
        })
        .collect();
    let [(by, thread, Some(cloned), Some(call))] = made[..] else { panic!("{made:?}") };
    assert_eq!(by, pid);
    assert!(cloned.is_thread() && cloned.has("CLONE_VM"), "{cloned}");
    assert_eq!(cloned.exit_signal, 0);
    assert!(call.makes_a_task());
    assert_eq!(count(&names(&events, thread), "getppid"), 1);
    assert!(ends(&events).contains(&(thread, End::Exited(0))));
    assert_eq!(ends(&events).last(), Some(&(pid, End::Exited(0))));
}

#[test]
fn forks_of_forks_are_followed_and_their_ends_told() {
    let Some((pid, events)) = events_of(|| {
        let child = task::fork_with(|| {
            let grandchild = task::fork_with(|| 3).unwrap_or(-1);
            task::wait(grandchild).map_or(9, |ended| ended.code.unwrap_or(9) + 1)
        });
        task::wait(child.unwrap_or(-1)).map_or(9, |ended| ended.code.unwrap_or(9) + 1)
    }) else {
        return;
    };
    let made: Vec<(Pid, Pid)> = events
        .iter()
        .filter_map(|event| match event {
            Event::Made { by, task, cloned, .. } => {
                let cloned = cloned.unwrap();
                assert_eq!((cloned.exit_signal, cloned.is_thread()), (libc::SIGCHLD, false));
                Some((*by, *task))
            }
            _ => None,
        })
        .collect();
    let [(first, child), (second, grandchild)] = made[..] else { panic!("{made:?}") };
    assert_eq!((first, second), (pid, child));
    let expected = [(grandchild, End::Exited(3)), (child, End::Exited(4)), (pid, End::Exited(5))];
    assert_eq!(ends(&events), expected);
}

#[test]
fn a_signal_is_handed_on_and_a_stopped_group_stays_stopped() {
    // Released once the stop is delivered: a signal to continue that comes before would undo it.
    let gate = SharedGate::new().unwrap();
    let work = || {
        let stopper = process::pid();
        let helper = task::fork_with(|| {
            while gate.released().load(Ordering::Acquire) == 0 {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            // Again and again: the first may come between the delivery and the stop.
            while gate.arrived().load(Ordering::Acquire) == 0 {
                let _ = process::kill(stopper, libc::SIGCONT);
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            0
        });
        let _ = process::kill(stopper, libc::SIGSTOP);
        gate.arrived().store(1, Ordering::Release);
        let _ = task::wait(helper.unwrap_or(-1));
        let _ = process::kill(stopper, libc::SIGTERM);
        0
    };
    let release = |event: &Event| {
        if matches!(event, Event::Signalled { signal: libc::SIGSTOP, .. }) {
            gate.released().store(1, Ordering::Release);
        }
    };
    let Some((pid, events)) = events_seen(work, release) else {
        return;
    };
    let place = |of_root: bool, name: &str| {
        events.iter().position(|event| match event {
            Event::Entered { task, call, .. } => (*task == pid) == of_root && call.name() == name,
            _ => false,
        })
    };
    let (continued, went_on) = (place(false, "kill").unwrap(), place(true, "wait4").unwrap());
    assert!(continued < went_on, "it went on before it was told to");
    let signals: Vec<i32> = events
        .iter()
        .filter_map(|event| match event {
            Event::Signalled { task, signal } if *task == pid => Some(*signal),
            _ => None,
        })
        .collect();
    assert_eq!(signals.first(), Some(&libc::SIGSTOP), "{signals:?}");
    assert!(signals.contains(&libc::SIGCONT), "{signals:?}");
    assert_eq!(ends(&events).last(), Some(&(pid, End::Killed(libc::SIGTERM))));
}

#[test]
fn a_program_is_launched_and_one_that_is_none_is_an_error() {
    let arguments: Vec<OsString> = ["-c", "exec true"].map(OsString::from).to_vec();
    let mut tracer = match Tracer::launch("sh".as_ref(), &arguments, &[]) {
        Ok(tracer) => tracer,
        Err(error) => return assert!(error.is_unsupported(), "{error}"),
    };
    let root = tracer.root();
    let (mut executed, mut path, mut end) = (0, None, None);
    while let Some(event) = tracer.next_event().unwrap() {
        match event {
            Event::Entered { task, call, .. } if call.name() == "execve" => {
                path = tracer.memory(task).text(call.arguments[0], 64);
            }
            Event::Executed { task, former } => {
                assert_eq!((task, former), (root, root));
                executed += 1;
            }
            Event::Ended { end: how, .. } => end = Some(how),
            _ => {}
        }
    }
    assert_eq!((executed, end), (1, Some(End::Exited(0))));
    assert!(path.is_some_and(|path| path.ends_with("/true")), "true is a program of its own");
    let error = Tracer::launch("/no/such/program".as_ref(), &[], &[]).unwrap_err();
    assert_eq!(error.errno(), Some(libc::ENOENT), "{error}");
    let error = Tracer::launch("/".as_ref(), &[], &[]).unwrap_err();
    assert_eq!(error.errno(), Some(libc::EACCES), "{error}");
    let error = Tracer::launch("a\0b".as_ref(), &[], &[]).unwrap_err();
    assert_eq!(error.errno(), Some(libc::EINVAL), "{error}");
}

#[test]
fn a_thread_that_executes_takes_the_number_of_its_process() {
    let Some((pid, events)) = events_of(|| {
        let thread = std::thread::spawn(|| {
            let child = std::ffi::CString::new("/bin/true").unwrap_or_default();
            let arguments = [child.as_ptr(), std::ptr::null()];
            // SAFETY: a C string and a vector that ends in null, both of which live on.
            unsafe { libc::execv(child.as_ptr(), arguments.as_ptr()) };
        });
        let _ = thread.join();
        1
    }) else {
        return;
    };
    let executed: Vec<(Pid, Pid)> = events
        .iter()
        .filter_map(|event| match event {
            Event::Executed { task, former } => Some((*task, *former)),
            _ => None,
        })
        .collect();
    let [(task, former)] = executed[..] else { panic!("{executed:?}") };
    assert_eq!(task, pid);
    assert_ne!(former, pid);
    assert_eq!(ends(&events).last(), Some(&(pid, End::Exited(0))));
}

#[test]
fn who_is_killed_is_followed_to_the_end() {
    let gate = SharedGate::new().unwrap();
    let pid = task::fork_run(|| {
        gate.arrived().store(1, Ordering::Release);
        std::thread::sleep(std::time::Duration::from_secs(60));
        0
    })
    .unwrap();
    crate::testing::eventually("arrival", || gate.arrived().load(Ordering::Acquire) == 1);
    let attached = Tracer::attach(pid);
    process::kill(pid, libc::SIGKILL).unwrap();
    match attached {
        Ok(mut tracer) => {
            let mut last = None;
            while let Some(event) = tracer.next_event().unwrap() {
                last = Some(event);
            }
            let end = End::Killed(libc::SIGKILL);
            assert_eq!(last, Some(Event::Ended { task: pid, end }));
            assert_eq!(tracer.poll().unwrap(), Next::Over);
        }
        Err(error) => {
            assert!(error.is_unsupported(), "{error}");
            task::wait(pid).unwrap();
        }
    }
}

#[test]
fn who_is_released_goes_on_untraced() {
    let gate = SharedGate::new().unwrap();
    let pid = task::fork_run(|| {
        gate.arrived().store(1, Ordering::Release);
        while gate.released().load(Ordering::Acquire) == 0 {
            let _ = crate::futex::wait_shared(gate.released(), 0, None);
        }
        4
    })
    .unwrap();
    crate::testing::eventually("arrival", || gate.arrived().load(Ordering::Acquire) == 1);
    match Tracer::attach(pid) {
        Ok(tracer) => tracer.release().unwrap(),
        Err(error) => assert!(error.is_unsupported(), "{error}"),
    }
    gate.released().store(1, Ordering::Release);
    let _ = crate::futex::wake_shared(gate.released(), 1);
    assert_eq!(task::wait(pid).unwrap().code, Some(4));
}

/// A child that makes one process after the other is released at some moment between two events;
/// how it ended, or `None` where tracing is forbidden.
fn released_after(events: usize) -> Option<task::Ended> {
    let gate = SharedGate::new().unwrap();
    let pid = task::fork_run(|| {
        while gate.released().load(Ordering::Acquire) == 0 {
            let _ = crate::futex::wait_shared(gate.released(), 0, None);
        }
        let made = || (0..20).all(|_| task::fork_with(|| 0).and_then(task::wait).is_ok());
        i32::from(!made())
    })
    .unwrap();
    let attached = Tracer::attach(pid);
    gate.released().store(1, Ordering::Release);
    let _ = crate::futex::wake_shared(gate.released(), 1);
    let may_trace = attached.is_ok();
    if let Ok(mut tracer) = attached {
        for _ in 0..events {
            assert!(tracer.next_event().unwrap().is_some());
        }
        while tracer.poll().unwrap() != Next::Nothing {}
        tracer.release().unwrap();
    }
    let mut ended = None;
    crate::testing::eventually("the end of all", || {
        ended = task::try_wait(pid).unwrap();
        ended.is_some()
    });
    ended.filter(|_| may_trace)
}

#[test]
fn what_is_being_made_when_all_are_released_goes_on_too() {
    for events in 10..40 {
        let Some(ended) = released_after(events) else { return };
        assert_eq!(ended.code, Some(0), "released after {events} events");
    }
}
