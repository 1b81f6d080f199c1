//! The binary `scruple`: commands, progress, exit codes. The only room that prints, chooses paths
//! and ends the process.

mod advise;
mod allotted;
mod ask;
mod catalog;
mod cli;
mod compare;
mod conduct;
mod core;
mod destination;
mod doctor;
mod dry_run;
mod environment;
mod exit;
mod export;
mod figure;
mod fleet;
mod foresight;
mod input;
mod inquiry;
mod load;
mod lookup;
mod named_files;
mod parallel;
mod plan;
mod progress;
mod quantity;
mod query;
mod redaction;
mod rescue;
mod run;
mod scale;
mod schedule;
mod scratch;
mod selftest;
mod session;
mod session_folders;
mod show;
mod spoken;
mod squeezes;
mod study;
mod study_file;
mod sweep;
mod syscalls;
mod ui;
mod variables;
mod waits;
mod why;

use exit::Exit;
use std::process::ExitCode;

fn main() -> ExitCode {
    // Nothing may come before these two: a process that will fork has no argument parser, no
    // logger and no second thread.
    kit::serve_if_asked(&[experiments::CATALOG, experiments::PLANTED], Some(subject::trial));
    runner::serve_if_asked();
    // A parent that never waits ignores it, and this process inherits that: then none of our own processes could
    // be waited for.
    let _ = sys::signal::heed(sys::signal::SIGCHLD);
    sys::inherited::stop_timers();
    if sys::process::pid() == 1 {
        // Else the first process of a container would not heed Ctrl-C. Its only error is no reason to stop.
        let _ = sys::interrupt::restore_default();
    }

    let cli = match cli::Cli::read() {
        Ok(cli) => cli,
        Err(error) => {
            if let Some(word) = ui::longer_than_help(&error) {
                ui::complain(&anyhow::anyhow!(
                    "{word}: options of several letters begin with two dashes, such as --http2"
                ));
                return Exit::Error.into();
            }
            if let Some(instead) = cli::moved(&error) {
                ui::complain(&anyhow::anyhow!(instead));
                return Exit::Error.into();
            }
            // Help and version are asked for; all else is a wrong command line.
            let code = if error.use_stderr() { Exit::Error } else { Exit::Done };
            ui::complain_of_words(&error);
            return code.into();
        }
    };
    ui::choose_colours(cli.color);
    match perform(&cli.command) {
        Ok(exit) => exit.into(),
        Err(error) => {
            ui::complain(&error);
            match destination::Stopped::is_in(&error) {
                true => Exit::Incomplete.into(),
                false => Exit::Error.into(),
            }
        }
    }
}

/// Checks that this process can measure and clean up behind itself at all.
///
/// # Errors
/// A filter kills a process that makes a system call that is needed, or /proc numbers processes in another way.
fn must_be_able_to_measure() -> anyhow::Result<()> {
    if let Some(deadly) = sys::refusal::deadly() {
        anyhow::bail!("{deadly}");
    }
    anyhow::ensure!(
        !sys::inherited::proc_is_foreign(),
        "/proc shows the processes of another namespace, so that those of a trial are not known from others; \
         mount one of its own (unshare --mount-proc, or mount -t proc proc /proc)"
    );
    Ok(())
}

fn perform(command: &cli::Command) -> anyhow::Result<Exit> {
    use cli::Command as C;
    let measures = matches!(
        command,
        C::Run(_)
            | C::Study(_)
            | C::Scale(_)
            | C::Doctor(_)
            | C::Selftest(_)
            | C::Why(_)
            | C::Waits(_)
            | C::Syscalls(_)
            | C::Load(_)
            | C::Fleet(_)
    );
    if measures {
        must_be_able_to_measure()?;
    }
    match command {
        cli::Command::Run(args) => run::run(args),
        cli::Command::Study(args) => study::study(args),
        cli::Command::Scale(args) => scale::scale(args),
        cli::Command::List(args) => show::list(args),
        cli::Command::Explain(args) => show::explain(args),
        cli::Command::Doctor(args) => doctor::doctor(args),
        cli::Command::Selftest(args) => selftest::selftest(args),
        cli::Command::Why(args) => why::why(args),
        cli::Command::Waits(args) => waits::waits(args),
        cli::Command::Syscalls(args) => syscalls::syscalls(args),
        cli::Command::Report(args) => show::report(args),
        cli::Command::Ask(args) => ask::ask(args),
        cli::Command::Compare(args) => compare::compare(args),
        cli::Command::Export(args) => export::export(args),
        cli::Command::Figure(args) => figure::figure(args),
        cli::Command::Query(args) => query::query(args),
        cli::Command::Advise(args) => advise::advise(args),
        cli::Command::Core(args) => core::core(args),
        cli::Command::Load(args) => load::load(args),
        cli::Command::Fleet(args) => fleet::fleet(args),
        cli::Command::Completions { shell } => show::completions(*shell),
        cli::Command::Man => show::man(),
    }
}
