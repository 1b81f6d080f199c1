//! How servers end, and what they leave.

use super::client::{Client, GET};
use super::*;

/// How many descriptors a process has.
fn descriptors(pid: sys::Pid) -> usize {
    std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count()
}

#[test]
fn every_model_ends_when_it_is_told_and_leaves_nothing() {
    for model in models() {
        let server = start(&plan(model));
        let address = server.address();
        // One connection in the middle of things, one that has not begun.
        let mut busy = Client::to(address);
        assert_eq!(busy.ask(GET).status, 200);
        let _idle = Client::to(address);
        let family = server.family();
        let ended = server.end(Duration::from_secs(5)).unwrap();
        assert_eq!(ended.code, Some(0), "{model:?} was not ready to end: {ended:?}");
        for pid in family {
            assert!(!sys::task::exists(pid), "{model:?} left process {pid}");
        }
        let refused = TcpStream::connect(address).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ConnectionRefused, "{model:?}");
    }
}

#[test]
fn a_server_ends_while_a_request_waits_for_long() {
    let service = Service::Wait(Duration::from_secs(60));
    for model in models() {
        let listener = listen_for(model, 128).unwrap();
        let plan = Plan { service, ..plan(model) };
        let server = Running::start(listener, &plan, &[]).unwrap();
        let mut client = Client::to(server.address());
        client.say(GET);
        assert!(client.hears_nothing_for(Duration::from_millis(50)), "{model:?}");
        let ended = server.end(Duration::from_secs(5)).unwrap();
        assert_eq!(ended.code, Some(0), "{model:?}: {ended:?}");
    }
}

#[test]
fn who_is_killed_takes_its_children_along() {
    for model in [Model::PreFork(3), Model::ForkPerRequest] {
        let server = start(&plan(model));
        let mut client = Client::to(server.address());
        assert_eq!(client.ask(GET).status, 200);
        let children = sys::process::descendants(server.pid(), &[]);
        assert!(!children.is_empty());
        drop(server);
        eventually("they are gone", || {
            children.iter().all(|pid| {
                let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
                // A zombie is whose who adopts it.
                sys::proc::parse_stat(&stat).is_none_or(|stat| stat.state == 'Z')
            })
        });
    }
}

#[test]
fn nothing_is_left_of_connections_that_have_ended() {
    for model in models() {
        let server = start(&plan(model));
        let has = || (descriptors(server.pid()), server.family().len());
        let before = has();
        for round in 0..40 {
            let mut client = Client::to(server.address());
            match round % 4 {
                // As usual; without a request; in the middle of one; without waiting for the answer.
                0 => assert_eq!(client.ask(GET).status, 200),
                1 => {}
                2 => client.say("GET / HTTP/1.1\r\n"),
                _ => client.say(GET),
            }
        }
        let mut last = Client::to(server.address());
        assert_eq!(last.ask(GET).status, 200, "{model:?}");
        drop(last);
        eventually(&format!("{model:?} has what it had: {before:?}"), || has() == before);
    }
}

#[test]
fn a_silent_peer_is_left() {
    for model in models() {
        let server = start_with(&plan(model), Duration::from_millis(200));
        let mut never = Client::to(server.address());
        assert!(never.is_left(), "{model:?}");
        let mut once = Client::to(server.address());
        assert_eq!(once.ask(GET).status, 200);
        assert!(once.is_left(), "{model:?}");
    }
}

#[test]
fn without_descriptors_a_server_waits_for_some() {
    for model in [Model::Single, Model::ThreadPerConnection, Model::EventLoop, Model::Tokio(1)] {
        let listener = listen(128).unwrap();
        let address = listener.local_addr().unwrap();
        let server = super::super::Server::new(&plan(model)).unwrap();
        let pid = sys::task::fork_run(|| {
            let _ = sys::process::close_all_but(&[listener.as_fd()]);
            // Enough for the server itself, and for some of the connections.
            let limited = sys::limits::set(sys::limits::Resource::OpenFiles, Some(12));
            i32::from(limited.is_err() || super::super::run(listener, &server).is_err())
        })
        .unwrap();
        let mut clients: Vec<Client> = (0..16).map(|_| Client::to(address)).collect();
        for client in &mut clients {
            client.say(GET);
        }
        for mut client in clients {
            assert_eq!(client.hear(false).status, 200, "{model:?}");
        }
        sys::process::kill(pid, sys::signal::SIGTERM).unwrap();
        assert_eq!(sys::task::wait(pid).unwrap().code, Some(0), "{model:?}");
    }
}

#[test]
fn a_server_without_workers_is_none() {
    for model in [Model::Pool(0), Model::PreFork(0), Model::ReusePort(0), Model::Tokio(0)] {
        let mut server = Running::start(listen(1).unwrap(), &plan(model), &[]).unwrap();
        let error = server.wait_until_ready(PATIENCE).unwrap_err();
        assert!(error.to_string().contains("refused what it needs"), "{model:?}: {error}");
    }
}

#[test]
fn a_model_that_forks_refuses_a_process_with_threads() {
    let begun = std::sync::Barrier::new(2);
    std::thread::scope(|scope| {
        scope.spawn(|| begun.wait());
        for model in [Model::ForkPerRequest, Model::PreFork(2)] {
            let error = super::super::run(
                listen(1).unwrap(),
                &super::super::Server::new(&plan(model)).unwrap(),
            )
            .unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput, "{model:?}");
        }
        begun.wait();
    });
}

#[test]
fn the_child_has_no_descriptor_but_its_own() {
    let (ours, _theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    let server = start(&plan(Model::Single));
    assert!(ours.as_fd().try_clone_to_owned().is_ok());
    let sockets = std::fs::read_dir(format!("/proc/{}/fd", server.pid()))
        .unwrap()
        .flatten()
        .filter(|entry| {
            let number: u32 = entry.file_name().to_str().unwrap().parse().unwrap();
            let leads = std::fs::read_link(entry.path()).unwrap_or_default();
            number > 2 && leads.to_string_lossy().starts_with("socket:")
        })
        .count();
    assert_eq!(sockets, 1);
}
