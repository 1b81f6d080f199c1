//! Whether to believe a session at all, in sentences: what its A/A controls say of the machine.

use super::disturbance;
use super::evidence::FLOOR_MEANING;
use crate::Session;
use crate::doc::{Block, Kind, Note, Role, Table, Text, Tone};
use crate::format::{self, Terms, ratio};
use crate::words::{self, counted, short};
use model::{ControlResult, Estimate};

/// Controls that are named one by one.
const NAMED_MAX: usize = 3;

/// What must be read before any number of the session.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Alarm {
    /// Identical treatments differed: the sentences that say where, by how much, and what is
    /// therefore not to be believed.
    Differs { what: String, so: String },
    /// No control has enough trials.
    NotKnown,
}

/// What is said without a control.
const NOT_KNOWN: &str =
    "No A/A control has enough trials: how far this machine can be trusted is not known.";

/// What stands at the top of everything that is said of a session; `None` where its controls found
/// no difference.
fn alarm(session: &Session<'_>) -> Option<Alarm> {
    let trust = &session.summary.trust;
    if trust.controls.is_empty() {
        return Some(Alarm::NotKnown);
    }
    let mut different: Vec<&ControlResult> =
        trust.controls.iter().filter(|control| control.differs).collect();
    if different.is_empty() {
        return (!trust.holds).then_some(Alarm::NotKnown);
    }
    different.sort_by(|a, b| excess(&b.ratio).total_cmp(&excess(&a.ratio)));
    let named = different.iter().take(NAMED_MAX).enumerate().map(|(index, control)| {
        let name = |of: &ControlResult| (of.experiment.clone(), of.response.clone());
        let again = index > 0 && name(different[index - 1]) == name(control);
        let (experiment, response) = (short(&control.experiment, 80), short(&control.response, 80));
        let whose = if again { String::new() } else { format!("{experiment} ({response})") };
        let at = if control.at.0.is_empty() { String::new() } else { words::cell(&control.at) };
        let name = [whose, at].into_iter().filter(|part| !part.is_empty());
        let name = name.collect::<Vec<_>>().join(", ");
        let by = if name.is_empty() { "" } else { " by " };
        format!("{name}{by}{}", ratio(&control.ratio))
    });
    let named: Vec<String> = named.collect();
    let more = match different.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    let worst = format::rounded(excess(&different[0].ratio), Terms::Share);
    Some(Alarm::Differs {
        what: format!("Identical treatments differed: {}{more}.", named.join("; ")),
        so: format!("Do not believe differences of up to {worst} in this session."),
    })
}

/// By how much a ratio that should be 1 may miss it, as a share: the far end of its interval,
/// whichever of the two treatments is the larger.
fn excess(ratio: &Estimate) -> f64 {
    let ends = [ratio.point, ratio.low, ratio.high];
    let misses = ends.into_iter().filter(|x| x.is_finite() && *x > 0.0).map(|x| x.max(1.0 / x));
    misses.fold(1.0, f64::max) - 1.0
}

/// The floor of the controls, in a sentence; each number has its own.
fn floor_sentence(session: &Session<'_>) -> String {
    match session.summary.trust.floor {
        Some(floor) => format!(
            "Floor: the noisiest of these controls could have found a difference of {}{}.",
            format::rough(floor, Terms::Share),
            session.summary.trust.floor_in_ten_times.map_or_else(String::new, |later| format!(
                ", or of {} in ten times the time",
                format::rough(later, Terms::Share)
            ))
        ),
        None => "There were too few blocks to say how small a difference could be found.".into(),
    }
}

/// Returns what must be read before any number: that the machine found differences between identical
/// things, or that nobody knows.
pub(crate) fn warning(session: &Session<'_>) -> Option<Block<'static>> {
    let (tone, mark, word, text): (_, _, _, Vec<Text>) = match alarm(session)? {
        Alarm::Differs { what, so } => {
            let why = format!(
                "{what} Their ratio is 1 by construction; what moved them also moves every other \
                 number here."
            );
            (Tone::Bad, "✗", "do not trust", vec![Text::strong(so), why.into()])
        }
        Alarm::NotKnown => (Tone::Care, "?", "trust not known", vec![NOT_KNOWN.into()]),
    };
    Some(Block::Note(Note { tone, mark, word: word.into(), text }))
}

/// What the heading over it asks.
pub(crate) const QUESTION: &str = "Can these numbers be trusted?";

/// Returns whether the numbers can be believed. What is said at the top is not said again.
pub(crate) fn answer(session: &Session<'_>) -> Note {
    let floor = floor_sentence(session);
    let (tone, mark, word, text) = match alarm(session) {
        None => {
            let pairs = counted(session.summary.trust.controls.len() as u64, "A/A control");
            let text = format!("Identical treatments did not differ ({pairs}). {floor}");
            (Tone::Good, "✓", "yes", text)
        }
        Some(Alarm::NotKnown) => (Tone::Care, "?", "not known", floor),
        Some(Alarm::Differs { .. }) => (Tone::Bad, "✗", "not all", floor),
    };
    Note { tone, mark, word: word.into(), text: vec![text.into()] }
}

/// Returns whether the numbers can be believed: controls, floor, shield, what disturbed.
pub(crate) fn trust(session: &Session<'_>) -> Vec<Block<'static>> {
    let mut answer = answer(session);
    answer.text.push(FLOOR_MEANING.into());
    let mut blocks = vec![Block::heading(2, QUESTION), Block::Note(answer)];
    let mut shielded = vec![Block::heading(3, "The shield")];
    shielded.extend(shield(session));
    let disturbed =
        vec![Block::heading(3, "What disturbed"), Block::List(disturbance::disturbance(session))];
    blocks.push(Block::Columns(Kind::Parts, vec![shielded, disturbed]));
    if !session.summary.trust.controls.is_empty() {
        let label = "The A/A controls: identical treatments, compared";
        blocks.push(Block::fold(label, vec![Block::Table(controls(session))]));
    }
    blocks
}

fn controls(session: &Session<'_>) -> Table {
    let heads = ["experiment", "response", "#ratio of the two", "found"];
    let mut table = Table::of(&heads);
    for control in &session.summary.trust.controls {
        let at = match control.at.0.is_empty() {
            true => String::new(),
            false => format!(", {}", words::cell(&control.at)),
        };
        table.row([
            format!("{}{at}", short(&control.experiment, 80)),
            short(&control.response, 80),
            ratio(&control.ratio),
            if control.differs { "✗ a difference" } else { "✓ no difference" }.to_string(),
        ]);
    }
    table
}

fn shield(session: &Session<'_>) -> Vec<Block<'static>> {
    let shield = &session.manifest.shield;
    let share = |x: f64| format::rounded(x, Terms::Share);
    let mut blocks = vec![Block::paragraph(
        Role::Plain,
        match shield.means.is_empty() {
            true => "Trials ran without a shield from other programs.".to_string(),
            false => format!("In force: {}.", short(&shield.means.join("; "), 400)),
        },
    )];
    if let (Some(without), Some(with)) = (shield.share_without, shield.share_with) {
        let text = Text::from("Next to one rival on the same CPU a pinned loop kept ")
            .then(Text::strong(share(without)))
            .then(" of it unshielded and ")
            .then(Text::strong(share(with)))
            .then(" shielded.");
        blocks.push(Block::paragraph(Role::Plain, text));
    }
    let missing = |text: &String| format!("Missing: {}", short(text, 400)).into();
    if !shield.missing.is_empty() {
        blocks.push(Block::List(shield.missing.iter().map(missing).collect()));
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Alarm {
        /// All of it in one text.
        fn text(&self) -> String {
            match self {
                Alarm::Differs { what, so } => format!("{what} {so}"),
                Alarm::NotKnown => NOT_KNOWN.into(),
            }
        }
    }

    use crate::fixture;
    use model::Cell;

    fn ratio_of(point: f64, low: f64, high: f64) -> Estimate {
        Estimate { point, low, high, standard_error: None, level: 0.95, samples: 9 }
    }

    fn alarm_with(ratios: &[Estimate]) -> Option<Alarm> {
        let mut fixture = fixture::session(3);
        let trust = &mut fixture.summary.trust;
        trust.controls = ratios
            .iter()
            .map(|ratio| ControlResult {
                experiment: "null".into(),
                response: "wall_ns".into(),
                at: Cell::default(),
                ratio: *ratio,
                differs: ratio.low > 1.0 || ratio.high < 1.0,
            })
            .collect();
        trust.holds = trust.controls.iter().all(|control| !control.differs);
        let fixture::Fixture { manifest, records, summary } = &fixture;
        alarm(&Session { manifest, records, summary })
    }

    #[test]
    fn controls_that_agree_raise_no_alarm_and_none_at_all_raises_one() {
        assert_eq!(alarm_with(&[ratio_of(1.01, 0.99, 1.03)]), None);
        assert_eq!(alarm_with(&[]), Some(Alarm::NotKnown));
    }

    #[test]
    fn the_size_not_to_believe_is_the_far_end_of_the_worst() {
        let ratios = [ratio_of(1.02, 1.01, 1.03), ratio_of(0.95, 0.8, 0.98)];
        let text = alarm_with(&ratios).map(|alarm| alarm.text()).unwrap_or_default();
        assert!(text.contains("by 0.95× [0.80, 0.98]; 1.020×"), "{text}");
        // 0.8 is a quarter too little: the other of the two is a quarter more.
        assert!(text.ends_with("differences of up to 25 % in this session."), "{text}");
    }

    #[test]
    fn pairs_of_one_experiment_are_told_apart_by_their_treatments() {
        let mut fixture = fixture::session(3);
        let pair = |work: &str, point| ControlResult {
            experiment: "null".into(),
            response: "pass_ns".into(),
            at: Cell::new([("work", work)]),
            ratio: ratio_of(point, point - 0.01, point + 0.01),
            differs: true,
        };
        fixture.summary.trust.controls = vec![pair("cpu", 1.1), pair("memory", 1.2)];
        fixture.summary.trust.holds = false;
        let fixture::Fixture { manifest, records, summary } = &fixture;
        let text = alarm(&Session { manifest, records, summary }).map(|alarm| alarm.text());
        let text = text.unwrap_or_default();
        assert!(text.contains("null (pass_ns), work memory by 1.20"), "{text}");
        assert!(text.contains("; work cpu by 1.10"), "{text}");
    }

    #[test]
    fn many_differences_are_counted() {
        let ratios = vec![ratio_of(1.02, 1.01, 1.03); 5];
        let text = alarm_with(&ratios).map(|alarm| alarm.text()).unwrap_or_default();
        assert!(text.contains(" and 2 more."), "{text}");
    }
}
