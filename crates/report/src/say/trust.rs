//! Whether to believe a session at all, in sentences: what its A/A controls say of the machine.

use super::claims::{self, FLOOR_MEANING};
use super::disturbance;
use crate::Session;
use crate::doc::{Block, Table, Text, Tone};
use crate::words;
use model::{ControlResult, Design, Estimate, Visible};
use wording::number::{self, Terms, ratio, share};
use wording::{capital, counted, short};

/// Controls that are named one by one.
const NAMED_MAX: usize = 3;

/// What the controls of a session say of the machine.
struct Found {
    tone: Tone,
    /// What stands at the top of everything, and under [`QUESTION`].
    warning: &'static str,
    answer: &'static str,
    why: Vec<Text>,
}

/// Returns what the controls of a session say: with [`Tone::Bad`] that identical treatments differed,
/// where, by how much, and what is therefore not to be believed; with [`Tone::Open`] that no control has
/// enough trials.
fn found(session: &Session<'_>) -> Found {
    let trust = &session.summary.trust;
    let mut different: Vec<&ControlResult> =
        trust.controls.iter().filter(|control| control.differs).collect();
    different.sort_by(|a, b| excess(&b.ratio).total_cmp(&excess(&a.ratio)));
    let Some(worst) = different.first() else {
        if is_computed(session) {
            let why =
                "Every number here is computed, not measured: it is the same on every machine.";
            return Found { tone: Tone::Good, warning: "", answer: "yes", why: vec![why.into()] };
        }
        if trust.controls.is_empty() || !trust.holds {
            let why = "No A/A control has enough trials: how far this machine can be trusted is not \
                       known.";
            let (warning, answer) = ("trust not known", "not known");
            return Found { tone: Tone::Open, warning, answer, why: vec![why.into()] };
        }
        let why = agreed(&trust.controls);
        return Found { tone: Tone::Good, warning: "", answer: "yes", why: vec![why.into()] };
    };
    let name = |of: &ControlResult| (of.experiment.clone(), of.response.clone());
    let named = different.iter().take(NAMED_MAX).enumerate().map(|(index, control)| {
        let again = index > 0 && name(different[index - 1]) == name(control);
        let (experiment, response) = (short(&control.experiment, 80), short(&control.response, 80));
        let whose = (!again).then(|| format!("{experiment} ({response})"));
        let at = (!control.at.0.is_empty()).then(|| words::cell(&control.at));
        let name = wording::clauses([whose, at], ", ");
        wording::clauses([name, Some(ratio(&control.ratio))], " by ")
    });
    let named = wording::clauses(named, "; ").unwrap_or_default();
    let more = match different.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    let worst = share(excess(&worst.ratio));
    let so = format!("Do not believe differences of up to {worst} in this session.");
    let why = format!(
        "Identical treatments differed: {named}{more}. Their ratio is 1 by construction; what moved \
         them also moves every other number here."
    );
    let why = vec![Text::strong(so), why.into()];
    Found { tone: Tone::Bad, warning: "do not trust", answer: "not all", why }
}

/// Returns that no control differs, and how many intervals exclude the ratio that all have.
fn agreed(controls: &[ControlResult]) -> String {
    let excludes = |it: &&ControlResult| it.ratio.low > 1.0 || it.ratio.high < 1.0;
    let pairs = counted(controls.len() as u64, "pair");
    let exclude = match controls.iter().filter(excludes).count() {
        0 => String::new(),
        1 => " One 95 % interval excludes 1; one in twenty does by chance.".into(),
        n => format!(" {n} of the 95 % intervals exclude 1; one in twenty does by chance."),
    };
    format!("Identical treatments do not differ significantly ({pairs}).{exclude}")
}

/// Returns how small the differences are that the session's ratios can show, and what a verdict takes.
fn visible(session: &Session<'_>) -> Option<String> {
    let Visible { ratios, median, of_verdicts } = session.summary.trust.visible?;
    let median = number::rough(median, Terms::Share);
    let shown = match ratios {
        1 => format!("the ratio shows differences of {median}"),
        _ => format!("half of {ratios} ratios show differences of {median}"),
    };
    let verdict = of_verdicts
        .map(|floor| format!("half the verdicts {}", number::rough(floor, Terms::Share)));
    wording::clauses([Some(shown), verdict], ", ")
}

/// Returns that other minutes may differ.
fn only_within(session: &Session<'_>) -> Option<String> {
    let span = words::within(session.records.iter())?;
    Some(format!("measured within {span}, so that other minutes may differ"))
}

/// Reports whether nothing of a session is measured, so that it has no control and needs none.
fn is_computed(session: &Session<'_>) -> bool {
    let designs = &session.manifest.designs;
    session.summary.trust.controls.is_empty()
        && !designs.is_empty()
        && designs.iter().all(Design::is_exact)
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
            number::rough(floor, Terms::Share),
            session.summary.trust.floor_in_ten_times.map_or_else(String::new, |later| format!(
                ", or of {} in ten times the time",
                number::rough(later, Terms::Share)
            ))
        ),
        None => "There were too few blocks to say how small a difference could be found.".into(),
    }
}

/// Returns what must be read before any number: that the machine found differences between identical
/// things, or that nobody knows.
pub(crate) fn warning(session: &Session<'_>) -> Option<Block<'static>> {
    let Found { tone, warning, why, .. } = found(session);
    (tone != Tone::Good).then(|| Block::said(tone, warning, why))
}

/// Above this share of the trials' time, what others took of the CPUs changes numbers.
const DISTURBED: f64 = 0.05;

/// Returns in one line whether the numbers can be believed: the strongest doubt, if there is any.
pub(crate) fn line(session: &Session<'_>) -> (Tone, String) {
    let summary = session.summary;
    let found = found(session);
    let worst = |controls: &[ControlResult]| {
        let differing = controls.iter().filter(|control| control.differs);
        differing.map(|control| excess(&control.ratio)).fold(0.0, f64::max)
    };
    match found.tone {
        Tone::Good => {}
        Tone::Bad => {
            let size = share(worst(&summary.trust.controls));
            let text = format!("Do not trust differences of up to {size}: identical runs differed");
            return (Tone::Bad, text);
        }
        tone => return (tone, "Trust not known: too few identical runs to compare".into()),
    }
    if !summary.complete {
        return (Tone::Care, "Not complete: some planned trials are missing".into());
    }
    if is_computed(session) {
        return (Tone::Good, "Trustworthy: every number is computed, not measured".into());
    }
    let taken = [
        (summary.meter.throttled_share, "a CPU quota stopped the trials for {} of their time"),
        (summary.meter.steal_share, "other machines took {} of the trials' CPU time"),
        (summary.harness.foreign_cpu_share, "other programs used {} of one CPU"),
    ];
    let taken = taken.into_iter().filter_map(|(part, text)| Some((part?, text)));
    if let Some((part, text)) = taken.clone().find(|(part, _)| *part > DISTURBED) {
        let text = text.replace("{}", &share(part));
        let disturbed = format!("Identical runs do not differ significantly, but {text}");
        let text = wording::clauses([Some(disturbed), only_within(session)], "; ");
        return (Tone::Care, text.unwrap_or_default());
    }
    let agreed = Some("Trustworthy: no identical runs differ significantly".to_string());
    let clauses = wording::clauses([agreed, visible(session), only_within(session)], "; ");
    (Tone::Good, clauses.unwrap_or_default())
}

/// What the heading over it asks.
pub(crate) const QUESTION: &str = "Can these numbers be trusted?";

/// Returns whether the numbers can be believed.
pub(crate) fn answer(session: &Session<'_>) -> Block<'static> {
    card(session, visible(session))
}

fn card(session: &Session<'_>, visible: Option<String>) -> Block<'static> {
    let Found { tone, answer, why, .. } = found(session);
    let why = why.first().filter(|_| tone == Tone::Good).map(Text::words);
    // Where ratios say what they can show, the noisiest control's floor is another scale.
    let needs_floor = !is_computed(session) && session.summary.trust.visible.is_none();
    let floor = needs_floor.then(|| floor_sentence(session));
    let sentence = |text: String| format!("{}.", capital(&text));
    let within = only_within(session).filter(|_| !is_computed(session)).map(sentence);
    let text = wording::sentences([why, floor, visible.map(sentence), within]);
    Block::said(tone, answer, vec![text.into()])
}

/// Returns whether the numbers can be believed, and behind labels why: controls, what disturbed, shield,
/// what floors and grades mean.
pub(crate) fn trust(session: &Session<'_>) -> Vec<Block<'static>> {
    let mut disturbed = vec![Block::List(disturbance::disturbance(session))];
    disturbed.extend(disturbance::over_time(session));
    let meanings = vec![
        Block::small(FLOOR_MEANING),
        Block::Anchored("grades", claims::grade_meaning(session).into()),
    ];
    let controls = controls(session);
    let label = counted(controls.rows.len() as u64, "A/A control");
    let controls =
        (!controls.rows.is_empty()).then(|| Block::fold(label, vec![Block::Table(controls)]));
    // What is said at the top is not said again.
    let unsaid = visible(session).filter(|_| found(session).tone != Tone::Good);
    let mut blocks = vec![Block::heading(2, QUESTION), card(session, unsaid)];
    blocks.extend(controls);
    blocks.extend([
        Block::fold("What disturbed", disturbed),
        Block::fold("The shield from other programs", shield(session)),
        Block::fold("What a floor and a grade mean", meanings),
    ]);
    blocks
}

fn controls(session: &Session<'_>) -> Table {
    let rows = session.summary.trust.controls.iter().map(|control| {
        [
            format!("{}{}", short(&control.experiment, 80), words::at_cell(&control.at)),
            short(&control.response, 80),
            ratio(&control.ratio),
            if control.differs { "✗ a difference" } else { "✓ none that is significant" }
                .to_string(),
        ]
    });
    Table::of(&["experiment", "response", "#ratio of the two", "found"]).rows(rows)
}

fn shield(session: &Session<'_>) -> Vec<Block<'static>> {
    let shield = &session.manifest.shield;
    let mut blocks = vec![Block::plain(match shield.means.is_empty() {
        true => "Trials ran without a shield from other programs.".to_string(),
        false => format!("In force: {}.", short(&shield.means.join("; "), 400)),
    })];
    if let (Some(without), Some(with)) = (shield.share_without, shield.share_with) {
        let text = "Next to one rival on the same CPU a pinned loop kept {} of it unshielded and {} \
                    shielded.";
        let shares = [without, with].map(|kept| Text::strong(share(kept)));
        blocks.push(Block::plain(Text::filled(text, shares)));
    }
    if !shield.missing.is_empty() {
        let missing = shield.missing.iter().map(|text| format!("Missing: {}", short(text, 400)));
        blocks.push(Block::list(missing));
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::fixture;
    use model::Cell;

    fn ratio_of(point: f64, low: f64, high: f64) -> Estimate {
        Estimate { point, low, high, standard_error: None, level: 0.95, samples: 9 }
    }

    /// Returns the tone and all sentences.
    fn said(session: &Session<'_>) -> (Tone, String) {
        let found = found(session);
        (found.tone, found.why.iter().map(Text::words).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn what_is_only_computed_needs_no_control() {
        let mut fixture = fixture::session(3);
        fixture.summary.trust.controls.clear();
        fixture.summary.trust.floor = None;
        for design in &mut fixture.manifest.designs {
            design.responses.iter_mut().for_each(|response| response.exact = true);
        }
        let fixture::Fixture { manifest, records, summary } = &fixture;
        let session = Session { manifest, records, summary };
        let (tone, text) = said(&session);
        assert!(tone == Tone::Good && text.contains("computed, not measured"), "{text}");
        let (tone, text) = line(&session);
        assert!(tone == Tone::Good && text.contains("computed"), "{text}");
    }

    fn said_with(ratios: &[Estimate]) -> (Tone, String) {
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
        said(&Session { manifest, records, summary })
    }

    #[test]
    fn controls_that_agree_raise_no_alarm_and_none_at_all_raises_one() {
        assert_eq!(said_with(&[ratio_of(1.01, 0.99, 1.03)]).0, Tone::Good);
        assert_eq!(said_with(&[]).0, Tone::Open);
    }

    #[test]
    fn a_control_whose_interval_excludes_1_is_counted_although_none_differs() {
        let mut fixture = fixture::session(3);
        let trust = &mut fixture.summary.trust;
        let control = trust.controls[0].clone();
        let with = |low, high| ControlResult {
            ratio: ratio_of(f64::midpoint(low, high), low, high),
            differs: false,
            ..control.clone()
        };
        trust.controls = vec![with(0.99, 1.02), with(1.01, 1.03), with(0.97, 0.99)];
        trust.holds = true;
        let fixture::Fixture { manifest, records, summary } = &fixture;
        let (tone, text) = said(&Session { manifest, records, summary });
        assert_eq!(tone, Tone::Good);
        assert_eq!(
            text,
            "Identical treatments do not differ significantly (3 pairs). 2 of the 95 % intervals \
             exclude 1; one in twenty does by chance."
        );
    }

    #[test]
    fn the_first_line_speaks_of_the_ratios_under_it() {
        let mut fixture = fixture::session(3);
        fixture.summary.trust.floor = Some(0.023);
        fixture.summary.trust.visible =
            Some(Visible { ratios: 72, median: 0.07, of_verdicts: Some(0.15) });
        let fixture::Fixture { manifest, records, summary } = &fixture;
        let (tone, text) = line(&Session { manifest, records, summary });
        assert_eq!(tone, Tone::Good);
        let shown = "half of 72 ratios show differences of 7 %, half the verdicts 15 %; ";
        assert!(text.contains(shown) && text.ends_with("so that other minutes may differ"));
        assert!(!text.contains("2.3 %"), "{text}");
    }

    #[test]
    fn the_size_not_to_believe_is_the_far_end_of_the_worst() {
        let ratios = [ratio_of(1.02, 1.01, 1.03), ratio_of(0.95, 0.8, 0.98)];
        let text = said_with(&ratios).1;
        assert!(text.contains("by 0.95× [0.80, 0.98]; 1.020×"), "{text}");
        // 0.8 is a quarter too little: the other of the two is a quarter more.
        assert!(text.contains("differences of up to 25 % in this session."), "{text}");
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
        let text = said(&Session { manifest, records, summary }).1;
        assert!(text.contains("null (pass_ns), work memory by 1.20"), "{text}");
        assert!(text.contains("; work cpu by 1.10"), "{text}");
    }

    #[test]
    fn many_differences_are_counted() {
        let ratios = vec![ratio_of(1.02, 1.01, 1.03); 5];
        let text = said_with(&ratios).1;
        assert!(text.contains(" and 2 more."), "{text}");
    }
}
