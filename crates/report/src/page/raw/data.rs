//! The trials of an experiment as columns, treatments and levels by their index.

use super::pack::{self, array, numbers, steps, text};
use crate::Session;
use crate::say::chapter::Chapter;
use crate::words::{self, short};
use analysis::{Number, Numbers, Tag, Tagger, outcome_words};
use model::{Design, Record, Response, Treatment, Unit};
use std::collections::{BTreeSet, HashMap};

/// The most characters of a name or a level; more only a hostile session has.
const NAME_CHARACTERS_MAX: usize = 200;

/// Reads trials for the table of one session.
pub(in crate::page) struct Reader<'a> {
    session: &'a Session<'a>,
    tagger: Tagger,
}

/// What is embedded of an experiment's trials.
struct Part<'a> {
    chapter: &'a Chapter<'a>,
    /// The trials, in the order in which they were made.
    trials: Vec<&'a Record>,
    /// In the order of the design.
    treatments: Vec<&'a Treatment>,
    /// The index of each trial's treatment.
    places: Vec<usize>,
}

/// A response with its values: one for each trial.
struct Column<'a> {
    name: &'a str,
    declared: Option<&'a Response>,
    numbers: Vec<Number>,
}

/// The most characters of a reason why a trial gave no number.
const REASON_CHARACTERS_MAX: usize = 300;

impl<'a> Reader<'a> {
    /// A reader that knows what is ordinary among all trials of the session.
    pub(in crate::page) fn new(session: &'a Session<'a>) -> Self {
        Reader { session, tagger: Tagger::over(&session.manifest.designs, session.records) }
    }

    /// The trials of some blocks as a JSON object that needs no escaping in HTML.
    pub(super) fn json(&self, chapter: &Chapter<'_>, blocks: &BTreeSet<u32>) -> String {
        let part = Part::new(chapter, blocks);
        let columns = part.columns(self.session.records);
        let pairs = [self.names(&part, blocks), self.trials(&part), responses(&part, &columns)];
        let pairs: Vec<String> = pairs
            .into_iter()
            .flatten()
            .map(|(name, value)| format!("\"{name}\":{value}"))
            .collect();
        format!("{{{}}}", pairs.join(","))
    }

    /// What is said once: names, factors, levels, treatments.
    fn names(&self, part: &Part<'_>, blocks: &BTreeSet<u32>) -> Vec<(&'static str, String)> {
        let (chapter, manifest) = (part.chapter, self.session.manifest);
        let factors = part.factors();
        let levels: Vec<Vec<&str>> =
            factors.iter().map(|factor| levels(chapter.design, factor, &part.treatments)).collect();
        let place = |treatment: &Treatment| {
            let index = |(factor, levels): (&&str, &Vec<&str>)| {
                let level = treatment.level(factor);
                levels.iter().position(|known| Some(*known) == level)
            };
            // A treatment that lacks a factor has no level of it.
            let index = |pair| index(pair).map_or("-1".into(), |index: usize| index.to_string());
            array(factors.iter().zip(&levels).map(index))
        };
        let varying = chapter.varying();
        let varies =
            (0..factors.len()).filter(|index| varying.iter().any(|name| name == factors[*index]));
        let all: BTreeSet<u32> = chapter.records.iter().map(|record| record.block).collect();
        vec![
            ("session", name(&manifest.session)),
            ("host", name(&manifest.environment.host)),
            ("experiment", name(&chapter.summary.id)),
            ("version", chapter.design.map_or("null".into(), |design| design.version.to_string())),
            ("factors", array(factors.iter().map(|factor| name(factor)))),
            ("varying", array(varies.map(|index| index.to_string()))),
            ("levels", array(levels.iter().map(|own| array(own.iter().map(|level| name(level)))))),
            ("treatments", array(part.treatments.iter().map(|treatment| place(treatment)))),
            ("blocks", format!("[{},{}]", blocks.len(), all.len())),
            ("stored", chapter.records.len().to_string()),
            ("command", name(&super::export_command(self.session, &chapter.summary.id))),
        ]
    }

    /// What is known of each trial beside its numbers.
    fn trials(&self, part: &Part<'_>) -> Vec<(&'static str, String)> {
        let column = |of: &dyn Fn(&Record) -> i128| {
            format!("\"{}\"", steps(part.trials.iter().map(|record| of(record))))
        };
        let ends: Vec<(&str, String)> =
            part.trials.iter().map(|record| outcome_words(&record.outcome)).collect();
        let outcomes: Vec<&(&str, String)> =
            ends.iter().collect::<BTreeSet<_>>().into_iter().collect();
        let ended = ends.iter().map(|end| outcomes.binary_search(&end).unwrap_or_default() as i128);
        let outcome = |(word, reason): &&(&str, String)| {
            array([text(word), text(&short(reason, REASON_CHARACTERS_MAX))])
        };
        let tagged = |record: &Record| {
            let own = self.tagger.tags(record);
            let bits = Tag::ALL.iter().enumerate().filter(|(_, tag)| own.contains(tag));
            bits.map(|(index, _)| 1_i128 << index).sum()
        };
        let places = part.places.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
        vec![
            ("outcomes", array(outcomes.iter().map(outcome))),
            ("tags", array(Tag::ALL.iter().map(|tag| text(tag.name())))),
            ("trial", column(&|record| record.trial.into())),
            ("block", column(&|record| record.block.into())),
            ("position", column(&|record| record.position.into())),
            ("started", column(&|record| record.started_unix_ms.into())),
            ("outcome", text(&steps(ended))),
            ("tagged", column(&tagged)),
            ("treatment", format!("\"{places}\"")),
        ]
    }
}

impl<'a> Part<'a> {
    fn new(chapter: &'a Chapter<'a>, blocks: &BTreeSet<u32>) -> Self {
        let own = chapter.records.iter().copied();
        let mut trials: Vec<&Record> =
            own.filter(|record| blocks.contains(&record.block)).collect();
        trials.sort_by_key(|record| record.trial);
        let distinct: BTreeSet<&Treatment> =
            trials.iter().map(|record| &record.treatment).collect();
        let mut treatments: Vec<&Treatment> = distinct.into_iter().collect();
        if let Some(design) = chapter.design {
            treatments.sort_by_cached_key(|treatment| words::place(design, treatment));
        }
        let index: HashMap<&Treatment, usize> =
            treatments.iter().enumerate().map(|(index, treatment)| (*treatment, index)).collect();
        let places = trials.iter().map(|record| index[&record.treatment]).collect();
        Part { chapter, trials, treatments, places }
    }

    /// The factors in the order of the design; those that it does not know stand last.
    fn factors(&self) -> Vec<&'a str> {
        let design = self.chapter.design;
        let mut factors: Vec<&str> = design
            .iter()
            .flat_map(|design| design.factors.iter().map(|factor| factor.name.as_str()))
            .collect();
        let seen: BTreeSet<&str> = self
            .treatments
            .iter()
            .flat_map(|treatment| treatment.0.keys().map(String::as_str))
            .collect();
        factors.extend(
            seen.into_iter().filter(|name| design.is_none_or(|d| d.factor(name).is_none())),
        );
        factors
    }

    /// The responses of the design; those that trials hold, where there is no design.
    fn columns(&self, records: &[Record]) -> Vec<Column<'a>> {
        let unknown = Design { id: self.chapter.summary.id.clone(), ..Design::default() };
        let numbers = Numbers::new(self.chapter.design.unwrap_or(&unknown), records);
        let column = |(name, declared): (&'a str, Option<&'a Response>)| {
            let own = self.trials.iter().map(|record| numbers.of(record, name));
            Column { name, declared, numbers: own.collect() }
        };
        match self.chapter.design {
            Some(design) => {
                design.responses.iter().map(|one| column((&one.name, Some(one)))).collect()
            }
            None => {
                let measured = self.trials.iter().filter_map(|record| record.measured.as_ref());
                let series = measured.flat_map(|measured| &measured.series);
                let seen: BTreeSet<&str> = series.map(|series| series.response.as_str()).collect();
                seen.into_iter().map(|name| column((name, None))).collect()
            }
        }
    }

    /// How many observations each trial's number was made from, as the difference to what is usual
    /// at its treatment: mostly nothing.
    fn observations(&self, column: &Column<'_>) -> (String, String) {
        let counts = column.numbers.iter().map(|number| i128::from(number.observations));
        let counts: Vec<i128> = counts.collect();
        let mut usual: Vec<Option<i128>> = vec![None; self.treatments.len()];
        for (count, place) in counts.iter().zip(&self.places) {
            usual[*place].get_or_insert(*count);
        }
        let usual: Vec<i128> = usual.into_iter().map(Option::unwrap_or_default).collect();
        let beyond = counts.iter().zip(&self.places).map(|(count, place)| count - usual[*place]);
        let beyond = steps(beyond);
        (steps(usual), beyond)
    }

    /// The index of the control that a response subtracts at each treatment; −1 where it subtracts
    /// nothing, −2 where the control is not among the trials.
    fn controls(&self, response: &Response) -> Option<String> {
        let cell = response.subtract.as_ref()?;
        let index = |treatment: &&Treatment| {
            let control = treatment.with(cell);
            if control == **treatment {
                return -1;
            }
            let found = self.treatments.iter().position(|other| **other == control);
            found.map_or(-2, |index| index as i128)
        };
        Some(text(&steps(self.treatments.iter().map(index))))
    }
}

/// The numbers, a column per response.
fn responses(part: &Part<'_>, columns: &[Column<'_>]) -> Vec<(&'static str, String)> {
    let response = |column: &Column<'_>| {
        let (usual, beyond) = part.observations(column);
        let unit = column.declared.map_or(String::new(), |response| unit(&response.unit));
        let label = column.declared.map_or(String::new(), words::label);
        let mut pairs = vec![
            ("name", name(column.name)),
            ("unit", name(&unit)),
            ("label", name(&label)),
            ("usual", text(&usual)),
            ("beyond", text(&beyond)),
        ];
        let values: Vec<Option<f64>> =
            column.numbers.iter().map(|number| number.measured).collect();
        match pack::column(&values, &part.places) {
            Some((packed, decimals)) => {
                pairs.push(("packed", text(&packed)));
                pairs.push(("decimals", decimals.to_string()));
            }
            None => pairs.push(("values", text(&numbers(values)))),
        }
        if let Some(controls) = column.declared.and_then(|response| part.controls(response)) {
            pairs.push(("controls", controls));
        }
        let pairs: Vec<String> =
            pairs.into_iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
        format!("{{{}}}", pairs.join(","))
    };
    vec![("responses", array(columns.iter().map(response)))]
}

fn name(written: &str) -> String {
    text(&short(written, NAME_CHARACTERS_MAX))
}

/// The levels of a factor in the order of the design, as far as they were measured.
fn levels<'a>(
    design: Option<&'a Design>,
    factor: &str,
    treatments: &[&'a Treatment],
) -> Vec<&'a str> {
    let seen: BTreeSet<&str> =
        treatments.iter().filter_map(|treatment| treatment.level(factor)).collect();
    let declared = design.and_then(|design| design.factor(factor));
    let place = |level: &str| {
        let known = declared.and_then(|f| f.levels.iter().position(|other| other.name == level));
        known.unwrap_or(usize::MAX)
    };
    let mut levels: Vec<&str> = seen.into_iter().collect();
    levels.sort_by_key(|level| place(level));
    levels
}

/// A unit by the name it has in the export.
fn unit(unit: &Unit) -> String {
    match unit {
        Unit::Ns => "ns".into(),
        Unit::Bytes => "bytes".into(),
        Unit::Count => "count".into(),
        Unit::Ppm => "ppm".into(),
        Unit::PerSecond => "per_second".into(),
        Unit::Other(name) => name.clone(),
    }
}
