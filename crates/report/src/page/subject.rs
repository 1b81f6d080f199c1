//! The program of the user's that an experiment is about: the command as it stands in the study,
//! and as each treatment runs it.

use super::Chapter;
use crate::words::{self, counted, short};
use maud::{Markup, html};
use model::{Design, SCRATCH, Subject, Treatment};

/// Treatments whose command lines are shown.
const TREATMENTS_MAX: usize = 64;

/// The most characters of a command line.
const LINE_CHARACTERS: usize = 600;

/// The command with its placeholders, where it runs, and what each treatment makes of it.
pub(super) fn subject(chapter: &Chapter<'_>) -> Markup {
    let Some((design, subject)) =
        chapter.design.and_then(|design| Some((design, design.subject.as_ref()?)))
    else {
        return html! {};
    };
    let treatments: Vec<Treatment> = design
        .treatments(chapter.profile)
        .into_iter()
        .filter(|treatment| !design.repeats(treatment))
        .collect();
    html! {
        p.command { code { (template(subject)) } }
        details {
            summary { "The command as it ran: " (counted(treatments.len() as u64, "treatment")) }
            @let around = around(subject);
            ul.small { @for line in &around { li { (short(line, LINE_CHARACTERS)) } } }
            div.scroll tabindex="0" role="region" aria-label="the command at each treatment" {
                (lines(chapter, design, subject, &treatments))
            }
        }
    }
}

/// The command as the study has it.
fn template(subject: &Subject) -> String {
    let line = match (subject.shell, subject.command.first()) {
        (true, Some(text)) => text.clone(),
        _ => words::command_line(&subject.command),
    };
    short(&line, LINE_CHARACTERS)
}

fn lines(
    chapter: &Chapter<'_>,
    design: &Design,
    subject: &Subject,
    treatments: &[Treatment],
) -> Markup {
    let varying: Vec<String> = design.factors.iter().map(|factor| factor.name.clone()).collect();
    let mut treatments: Vec<&Treatment> = treatments.iter().collect();
    treatments.sort_by_cached_key(|treatment| words::place(design, treatment));
    html! {
        table {
            thead { tr { th scope="col" { "treatment" } th scope="col" { "command" } } }
            tbody {
                @for treatment in treatments.iter().take(TREATMENTS_MAX) {
                    tr {
                        th scope="row" { (chapter.name(treatment, &varying)) }
                        td.words { code { (line(subject, treatment)) } }
                    }
                }
            }
        }
        @if treatments.len() > TREATMENTS_MAX {
            p.quiet { "and " (treatments.len() - TREATMENTS_MAX) " more." }
        }
    }
}

/// The command line of a treatment, the trial's own folder by its placeholder.
fn line(subject: &Subject, treatment: &Treatment) -> String {
    let scratch = format!("{{{SCRATCH}}}");
    let line = match subject.arguments(&subject.command, treatment, &scratch) {
        Ok(words) if subject.shell => words.join(" "),
        Ok(words) => words::command_line(&words),
        Err(unknown) => unknown.to_string(),
    };
    short(&line, LINE_CHARACTERS)
}

/// What is true of every trial of it, in sentences.
fn around(subject: &Subject) -> Vec<String> {
    let mut told = vec![match subject.shell {
        true => "Started by /bin/sh, whose start is timed with it.".to_string(),
        false => "Started without a shell.".to_string(),
    }];
    if !subject.folder.is_empty() {
        told.push(format!("In the folder {}.", subject.folder));
    }
    for (what, commands) in
        [("Before each trial", &subject.prepare), ("After each trial", &subject.cleanup)]
    {
        for words in commands {
            told.push(format!("{what}, not timed: {}.", words::command_line(words)));
        }
    }
    let own: Vec<String> =
        subject.environment.iter().map(|(name, value)| format!("{name}={value}")).collect();
    if subject.clear_environment {
        told.push("With an environment of its own alone.".into());
    }
    if !own.is_empty() {
        told.push(format!("With {} in its environment.", own.join(" ")));
    }
    let limits = &subject.limits;
    for (what, value) in [
        ("Its input is", &subject.stdin),
        ("Its CPUs are", &subject.cpus),
        ("Its address space, in bytes, is at most", &limits.address_space_bytes),
        ("Its memory, in bytes, is at most", &limits.memory_bytes),
        ("Its CPU time per time, in CPUs, is at most", &limits.cpus_quota),
    ] {
        if !value.is_empty() {
            told.push(format!("{what} {value}."));
        }
    }
    if !subject.exit_codes.is_empty() {
        let codes: Vec<String> = subject.exit_codes.iter().map(i32::to_string).collect();
        told.push(format!("It succeeds with the exit codes {}.", codes.join(", ")));
    }
    told
}
