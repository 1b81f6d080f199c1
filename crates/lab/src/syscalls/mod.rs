//! `scruple syscalls -- COMMAND`: how a command makes its threads and processes.

mod text;

use crate::cli::SyscallsArgs;
use crate::destination::place;
use crate::exit::Exit;
use crate::{input, spoken, ui};
use anyhow::Context;
use std::ffi::OsString;
use subject::Tally;
use sys::mailbox::{Mailbox, SIGCHLD, SIGHUP, SIGQUIT};
use sys::signal::{SIGINT, SIGTERM};
use sys::tracer::{Next, Tracer};

pub(crate) fn syscalls(args: &SyscallsArgs) -> anyhow::Result<Exit> {
    let command = spoken::words(&args.command, &args.env)?;
    let (variables, words) = model::split_assignments(&command);
    let Some((program, arguments)) = words.split_first() else {
        anyhow::bail!("no command was given: scruple syscalls -- COMMAND");
    };
    let variables: Vec<_> = variables.iter().filter_map(|word| model::assignment(word)).collect();
    // Before the command runs: what it takes hours to find out should have a place.
    let file = args.output.as_deref().filter(|path| !input::is_standard(path));
    let file = place(file, "--output")?;
    let tracer = Tracer::launch(program, arguments, &variables).map_err(|error| {
        let known = error.errno().map(std::io::Error::from_raw_os_error);
        match known {
            Some(reason) if !error.is_unsupported() => {
                anyhow::anyhow!("cannot run {}: {reason}", program.to_string_lossy())
            }
            _ => anyhow::Error::new(error),
        }
    })?;
    let tally = follow(tracer, &command)?;
    for warning in tally.warnings() {
        ui::warn(&warning);
    }
    let result = if args.json {
        serde_json::to_string_pretty(&tally.json())?
    } else {
        text::text(&tally, ui::width())
    };
    match file {
        Some(file) => {
            // A file gets no colours.
            let plain = anstream::adapter::strip_str(result.trim_end());
            file.put(format!("{plain}\n").as_bytes()).context("--output")?;
        }
        None if args.json => ui::data(&result)?,
        None => ui::people(&result)?,
    }
    Ok(if tally.is_complete() { Exit::Done } else { Exit::Incomplete })
}

/// Follows the command and all that it makes to their ends.
fn follow(mut tracer: Tracer, command: &[OsString]) -> anyhow::Result<Tally> {
    let root = tracer.root();
    let mut tally = Tally::new(root, command);
    // After the fork, so that the command does not inherit that these signals wait.
    let mailbox = Mailbox::open(&[SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT])?;
    loop {
        match tracer.poll()? {
            Next::Event(event) => tally.note(&event),
            Next::Over => return Ok(tally),
            Next::Nothing => {
                let letter = mailbox.next_letter()?;
                if letter.signal == SIGCHLD {
                    continue;
                }
                if tally.root_end.is_some() {
                    tally.leave(tracer.tasks().count());
                    tracer.release()?;
                    return Ok(tally);
                }
                // What a terminal's keys send has reached the command as well; what somebody
                // sent to this process alone has not.
                if letter.sender.is_some() {
                    // Its only error is that the command has ended meanwhile.
                    let _ = sys::process::kill(root, letter.signal);
                }
            }
        }
    }
}
