use crate::channel::{Channel, ChannelError};
use crate::{Experiment, Procedure, Stop, Trial};
use model::{FromTrial, PROTOCOL_VERSION, Spec, ToTrial};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The first argument that makes the binary a trial.
pub const TRIAL: &str = "__trial";

/// The first argument that makes the binary end at once: the program that `fork+exec` starts.
pub const NOOP: &str = "__noop";

/// Turns this process into a trial if its first argument says so, and never returns then.
///
/// Call it as the first statement of `main`: no argument parser, logger or thread may exist in a
/// process that will fork. `catalogs` are the experiments it can be; `subject` is what it does
/// where the order names a program of the user's instead.
pub fn serve_if_asked(catalogs: &[&[Experiment]], subject: Option<Procedure>) {
    let Some(role) = std::env::args_os().nth(1) else { return };
    if role == NOOP {
        sys::task::exit_now(0);
    }
    if role == TRIAL {
        // 0 if an answer was given, 70 (EX_SOFTWARE) if not.
        let answered = answer(catalogs, subject).is_ok();
        sys::task::exit_now(if answered { 0 } else { 70 });
    }
}

/// Serves one trial.
fn answer(catalogs: &[&[Experiment]], subject: Option<Procedure>) -> Result<(), ChannelError> {
    let mut channel = Channel::open()?;
    let parent = sys::process::parent_pid();
    if sys::process::die_with_parent(parent).is_err() {
        return Err(ChannelError::HungUp);
    }
    // A crash is an observation here; its memory image is of no use and may be gigabytes.
    let _ = sys::limits::disable_core_dumps();
    let (again, heard, read_ns) = match order_of_an_earlier_program()? {
        Some((spec, read_ns)) => {
            (true, ToTrial::Run { version: PROTOCOL_VERSION, spec: Box::new(spec) }, read_ns)
        }
        None => (false, channel.hear()?, sys::clock::now_ns()),
    };
    let message = match understood(heard, catalogs, subject) {
        Ok((spec, procedure)) => {
            // A user's program keeps what its user set.
            if spec.subject.is_none() {
                let _ = sys::inherited::set_usual_signals();
            }
            conduct(procedure, Trial::new(spec, &mut channel, read_ns, again))
        }
        Err(reason) => FromTrial::Failed { reason },
    };
    channel.say(&message)
}

/// The order to run, with what carries it out.
fn understood(
    heard: ToTrial,
    catalogs: &[&[Experiment]],
    subject: Option<Procedure>,
) -> Result<(Spec, Procedure), String> {
    let (version, spec) = match heard {
        ToTrial::Run { version, spec } => (version, spec),
        ToTrial::Go => return Err("a go came before the order to run".into()),
    };
    if version != PROTOCOL_VERSION {
        return Err(format!("protocol {version} asked of a trial that speaks {PROTOCOL_VERSION}"));
    }
    let mut known = catalogs.iter().copied().flatten();
    let procedure = match &spec.subject {
        Some(_) => subject,
        None => known.find(|known| known.id == spec.experiment).map(|known| known.trial),
    };
    let name = &spec.experiment;
    let procedure = procedure.ok_or_else(|| format!("no experiment named {name}"))?;
    Ok((*spec, procedure))
}

/// Returns the order that the trial received before it executed its own program anew
/// ([`Trial::need_environment`]): its arguments after the experiment's name.
fn order_of_an_earlier_program() -> Result<Option<(Spec, u64)>, ChannelError> {
    let mut arguments = std::env::args().skip(3);
    let (Some(read_ns), Some(spec)) = (arguments.next(), arguments.next()) else { return Ok(None) };
    Ok(Some((serde_json::from_str(&spec)?, serde_json::from_str(&read_ns)?)))
}

fn conduct(procedure: Procedure, mut trial: Trial<'_>) -> FromTrial {
    trial.observe("nice", sys::process::nice());
    let ended = catch_unwind(AssertUnwindSafe(|| procedure(&mut trial)));
    match ended {
        Ok(Ok(())) => match trial.finish() {
            Ok((measured, observed, others)) => {
                FromTrial::Measured { measured: Box::new(measured), observed, others }
            }
            Err(reason) => FromTrial::Failed { reason },
        },
        Ok(Err(Stop::Unsupported(reason))) => FromTrial::Unsupported { reason },
        Ok(Err(Stop::Failed(reason))) => FromTrial::Failed { reason },
        Err(panic) => FromTrial::Failed { reason: format!("panicked: {}", panic_text(&*panic)) },
    }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    if let Some(text) = panic.downcast_ref::<&str>() {
        return (*text).to_string();
    }
    panic.downcast_ref::<String>().cloned().unwrap_or_else(|| "no message".into())
}
