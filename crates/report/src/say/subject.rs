//! The program of the user's that an experiment is about: the command as it stands in the study,
//! and as each treatment runs it.

use super::chapter::Chapter;
use crate::doc::{Block, Role, Table, Text};
use crate::words;
use model::{SCRATCH, Subject, Treatment};
use wording::{counted, short};

/// Treatments whose command lines are shown.
const TREATMENTS_MAX: usize = 64;

/// The most characters of a command line.
const LINE_CHARACTERS: usize = 600;

/// Returns the command with its placeholders.
pub(crate) fn subject(chapter: &Chapter<'_>) -> Option<Block<'static>> {
    let subject = chapter.design.subject.as_ref()?;
    Some(Block::paragraph(Role::Command, Text::code(template(subject))))
}

/// Returns where the command runs, and what each treatment makes of it.
pub(crate) fn details(chapter: &Chapter<'_>) -> Option<Block<'static>> {
    let design = chapter.design;
    let subject = design.subject.as_ref()?;
    let mut treatments = design.treatments(chapter.profile);
    treatments.retain(|treatment| !design.repeats(treatment));
    treatments.sort_by_cached_key(|treatment| words::place(design, treatment));
    let varying: Vec<String> = design.factors.iter().map(|factor| factor.name.clone()).collect();
    let rows = treatments.iter().take(TREATMENTS_MAX).map(|treatment| {
        let name = words::treatment(design, treatment, &varying);
        [Text::from(name), Text::code(line(subject, treatment))]
    });
    let lines = Table::of(&["treatment", "command"]).kind("", "the command at each treatment");
    let mut details = vec![Block::facts(around(subject)), Block::Table(lines.rows(rows))];
    let read = analysis::read_as(design, chapter.records.iter().copied());
    let read = read.into_iter().map(|(label, text)| (label, short(&text, LINE_CHARACTERS)));
    let read: Vec<String> = read.map(|(label, text)| format!("{label} {text}")).collect();
    if !read.is_empty() {
        let text = format!("Numbers that the program printed were read so: {}.", read.join("; "));
        details.push(Block::small(text));
    }
    details.extend(Block::left_out(treatments.len(), TREATMENTS_MAX, "more treatment", "."));
    let label = format!("The command as it ran: {}", counted(treatments.len() as u64, "treatment"));
    Some(Block::fold(label, details))
}

/// The command as the study has it.
fn template(subject: &Subject) -> String {
    let line = match (subject.shell, subject.command.first()) {
        (true, Some(text)) => text.clone(),
        _ => wording::command_line(&subject.command),
    };
    short(&line, LINE_CHARACTERS)
}

/// The command line of a treatment, the trial's own folder by its placeholder.
fn line(subject: &Subject, treatment: &Treatment) -> String {
    let scratch = format!("{{{SCRATCH}}}");
    let line = match subject.arguments(&subject.command, treatment, &scratch) {
        Ok(words) if subject.shell => words.join(" "),
        Ok(words) => wording::command_line(&words),
        Err(unknown) => unknown.to_string(),
    };
    short(&line, LINE_CHARACTERS)
}

/// Returns what is true of every trial of it.
fn around(subject: &Subject) -> Vec<(&'static str, String)> {
    let start = if subject.shell { "by /bin/sh, whose start is timed" } else { "without a shell" };
    let mut facts = vec![("started", start.to_string()), ("folder", subject.folder.clone())];
    let before = subject.prepare.iter().map(|words| ("before each trial, not timed", words));
    let after = subject.cleanup.iter().map(|words| ("after each trial, not timed", words));
    facts.extend(before.chain(after).map(|(name, words)| (name, wording::command_line(words))));
    let own: Vec<String> =
        subject.environment.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let withheld = subject.withheld.keys().map(|name| format!("{name} (its value is not stored)"));
    let others = subject.clear_environment.then(|| "no other variable".to_string());
    let any = subject.exit_codes == Subject::any_exit_code();
    let codes: Vec<String> = subject.exit_codes.iter().map(i32::to_string).collect();
    let limits = &subject.limits;
    facts.extend([
        (
            "environment",
            own.into_iter().chain(withheld).chain(others).collect::<Vec<_>>().join(", "),
        ),
        ("input", subject.stdin.clone()),
        ("CPUs", subject.cpus.clone()),
        ("most address space, bytes", limits.address_space_bytes.clone()),
        ("most memory, bytes", limits.memory_bytes.clone()),
        ("most CPU time per time, CPUs", limits.cpus_quota.clone()),
        ("exit codes of success", if any { "any".into() } else { codes.join(", ") }),
    ]);
    facts.retain(|(_, value)| !value.is_empty());
    facts.iter_mut().for_each(|(_, value)| *value = short(value, LINE_CHARACTERS));
    facts
}

#[cfg(test)]
mod tests {
    use crate::fixture::{self, Fixture};
    use crate::{Session, html};
    use model::{Cell, Control, Inquiry, Subject};

    fn page(subject: Subject) -> String {
        let mut fixture = fixture::session(3);
        fixture.manifest.designs[0].subject = Some(subject);
        fixture.manifest.options.inquiry = Some(Inquiry::Study);
        let Fixture { manifest, records, summary } = &fixture;
        html(&Session { manifest, records, summary })
    }

    #[test]
    fn the_command_is_shown_with_its_placeholders_and_as_it_ran() {
        let list = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
        let subject = Subject {
            command: list(&["./<b>", "{mechanism}", "a b"]),
            folder: "/x\u{1b}[31m".into(),
            prepare: vec![list(&["sync"])],
            ..Subject::default()
        };
        let page = page(subject.clone());
        assert!(page.contains("<code>'./&lt;b&gt;' {mechanism} 'a b'</code>"), "not the command");
        assert!(page.contains("<code>'./&lt;b&gt;' fork 'a b'</code>"), "not as it ran");
        assert!(page.contains("before each trial, not timed</dt><dd>sync</dd>"), "{page}");
        assert!(page.contains("folder</dt><dd>/x\u{fffd}[31m</dd>"));
        assert!(page.contains("What your programs cost on"));
        let shell = Subject { command: list(&["ls | {mechanism}"]), shell: true, ..subject };
        assert!(self::page(shell).contains("<code>ls | fork</code>"));
    }

    #[test]
    fn the_second_of_two_identical_treatments_is_called_so() {
        let mut design = fixture::create();
        let at = |level| Cell::new([("memory", level)]);
        let [first, second] = [0, 1].map(|index| design.factors[1].levels[index].name.clone());
        let other = design.factors[0].levels[1].name.clone();
        assert_eq!(design.factors[1].name, "memory");
        design.findings.clear();
        design.claims.clear();
        design.controls =
            vec![Control { response: "create_ns".into(), a: at(&first), b: at(&second) }];
        let sentences = |design: &model::Design, memory: &str| {
            let cell = Cell::new([("mechanism", other.as_str()), ("memory", memory)]);
            crate::treatment(design, &design.complete(&cell))
        };
        // An experiment of the catalog means what its factors say.
        assert!(sentences(&design, &first).contains("memory"), "{}", sentences(&design, &first));
        design.subject = Some(Subject::default());
        assert!(!sentences(&design, &first).contains("memory"), "{}", sentences(&design, &first));
        assert!(
            sentences(&design, &second).ends_with(" · again"),
            "{}",
            sentences(&design, &second)
        );
    }
}
