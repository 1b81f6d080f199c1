//! Starting a program under the tracer.

use super::{Event, Tracer};
use crate::error::last_errno;
use crate::{Error, Pid, Result, process, task};
use std::collections::BTreeMap;
use std::ffi::{CString, OsStr, OsString, c_char};
use std::io::{PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::ffi::OsStrExt;

unsafe extern "C" {
    /// The environment of this process, for the C library.
    static mut environ: *const *const c_char;
}

impl Tracer {
    /// Starts `program` (looked for in `PATH`, as a shell does) with `arguments`
    /// and this process's descriptors, and stops it where the program itself
    /// begins. Its environment is this process's with `variables` set. SIGPIPE has its default action, as under a shell.
    ///
    /// # Errors
    /// `ENOENT`, `EACCES` and so on: a program that cannot be executed is an
    /// error here. Unsupported where tracing is forbidden.
    pub fn launch(
        program: &OsStr,
        arguments: &[OsString],
        variables: &[(&OsStr, &OsStr)],
    ) -> Result<Self> {
        let call = || format!("execvp({})", program.to_string_lossy());
        let invalid = || Error::new(call(), libc::EINVAL);
        let words = std::iter::once(program).chain(arguments.iter().map(OsString::as_os_str));
        let words = words.map(c_string).collect::<Option<Vec<_>>>().ok_or_else(invalid)?;
        let environment = environment(variables).ok_or_else(invalid)?;
        let (words, environment) = (vector(&words), vector(&environment));
        let pipe = || std::io::pipe().map_err(|error| Error::io("pipe2", &error));
        let (gate, mut opener) = pipe()?;
        let (mut answer, failure) = pipe()?;
        let (vectors, opener_number) = ((&words[..], &environment[..]), opener.as_raw_fd());
        // The child's ends move into the closure, and so are closed in this process.
        let child = task::fork_with(move || execute(vectors, gate, opener_number, failure))?;
        let mut tracer = Self::attach(child).inspect_err(|_| end(child))?;
        // A child that is gone already is seen by the loop below.
        let _ = opener.write_all(&[1]);
        loop {
            match tracer.next_event() {
                Ok(Some(Event::Executed { .. })) => return Ok(tracer),
                Ok(Some(_)) => {}
                Ok(None) => {
                    let mut errno = [0; 4];
                    let known = answer.read_exact(&mut errno).is_ok();
                    let errno = if known { i32::from_ne_bytes(errno) } else { libc::ECANCELED };
                    return Err(Error::new(call(), errno));
                }
                Err(error) => {
                    end(child);
                    return Err(error);
                }
            }
        }
    }
}

/// What the child does: waits until it is traced, and executes the program.
fn execute(
    (words, environment): (&[*const c_char], &[*const c_char]),
    mut gate: PipeReader,
    opener: RawFd,
    mut failure: PipeWriter,
) -> i32 {
    // SAFETY: the descriptor is this process's own copy, whose owner it never comes back to.
    // While it was open, the gate could not see its other end close.
    unsafe { libc::close(opener) };
    // End of file: the tracer is gone, and nobody would see the program.
    if gate.read_exact(&mut [0]).is_err() {
        return task::EXEC_FAILED_CODE;
    }
    // SAFETY: sets the default action, which involves no code of ours. Rust's
    // runtime ignores SIGPIPE, and programs would inherit that.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    // SAFETY: both vectors hold C strings that live in the parent's frame, of which this process
    // has a copy, and end in null. This process has one thread, and nothing else reads its
    // environment before the program replaces it; `execvp` looks for PATH in the new one.
    unsafe {
        environ = environment.as_ptr();
        libc::execvp(words[0], words.as_ptr());
    }
    // The parent reports why; if the pipe is gone, the exit code says that it failed.
    let _ = failure.write_all(&last_errno().to_ne_bytes());
    task::EXEC_FAILED_CODE
}

/// Ends a child that never became the program.
fn end(child: Pid) {
    // Either fails only for a child that is gone and reaped.
    let _ = process::kill(child, libc::SIGKILL);
    let _ = task::wait(child);
}

/// Returns this process's environment with some variables set; `None` if one holds a zero byte.
fn environment(variables: &[(&OsStr, &OsStr)]) -> Option<Vec<CString>> {
    let mut all: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
    all.extend(variables.iter().map(|(name, value)| ((*name).into(), (*value).into())));
    let entry = |(name, value): (OsString, OsString)| {
        let mut text = name;
        text.push("=");
        text.push(value);
        c_string(&text)
    };
    all.into_iter().map(entry).collect()
}

/// Returns pointers to some strings, with null behind them.
fn vector(strings: &[CString]) -> Vec<*const c_char> {
    strings.iter().map(|text| text.as_ptr()).chain([std::ptr::null()]).collect()
}

fn c_string(text: &OsStr) -> Option<CString> {
    CString::new(text.as_bytes()).ok()
}
