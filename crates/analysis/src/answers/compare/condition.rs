//! What a gate asks, in words: `create > +5%`.

use model::{Cell, Design, Treatment};
use std::collections::BTreeSet;
use std::str::FromStr;

/// The shape of a condition, shown after a wrong one.
const SHAPE: &str = "EXPERIMENT[.RESPONSE][{FACTOR=LEVEL,…}] > +N% or < -N%, such as \
                     'create > +5%' or 'create.cpu_ns{mechanism=fork} > +5%'";

/// The largest change that can be asked about, in per cent.
const PERCENT_MAX: f64 = 1e6;

/// A change that is not wanted.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// As it was given.
    pub text: String,
    /// The experiment.
    pub experiment: String,
    /// The response; the one of the first finding if none is named.
    pub response: Option<String>,
    /// The levels that a treatment must have to be looked at.
    pub at: Cell,
    /// On which side of the edge it is met.
    pub direction: Direction,
    /// The ratio of side to base beyond which it is met: 1.05 for +5 %.
    pub edge: f64,
}

/// On which side of its edge a condition is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The number has grown by more.
    Above,
    /// The number has shrunk by more.
    Below,
}

impl FromStr for Condition {
    /// What is wrong, and what would be right.
    type Err = String;

    /// Reads a condition. A change without a sign has that of its direction: `> 5%` is `> +5%`, `< 5%`
    /// is `< -5%`.
    fn from_str(text: &str) -> Result<Self, String> {
        Condition::read(text).map_err(|what| format!("{what}; expected {SHAPE}"))
    }
}

impl Condition {
    fn read(text: &str) -> Result<Self, String> {
        // A level's name may hold the sign, so what is in braces comes off first.
        let (name, at, rest) = match text.split_once('{') {
            Some((name, rest)) if !name.contains(['<', '>']) => {
                let (levels, rest) = rest.split_once('}').ok_or("the brace { is not closed")?;
                (name, cell(levels)?, rest.trim_start())
            }
            _ => {
                let sign = text.find(['<', '>']).ok_or("it has neither > nor <")?;
                (&text[..sign], Cell::default(), &text[sign..])
            }
        };
        let (experiment, response) = match name.trim().split_once('.') {
            Some((experiment, response)) => (experiment.trim(), Some(response.trim())),
            None => (name.trim(), None),
        };
        if !is_word(experiment) || response.is_some_and(|name| !is_word(name)) {
            let name = short(name.trim());
            return Err(format!("{name:?} is no name of an experiment or response"));
        }
        let (direction, change) = match (rest.strip_prefix('>'), rest.strip_prefix('<')) {
            (Some(change), _) => (Direction::Above, change),
            (_, Some(change)) => (Direction::Below, change),
            _ => return Err("expected > or < after the names".into()),
        };
        let edge = edge(change.trim(), direction)?;
        Ok(Condition {
            text: text.trim().to_string(),
            experiment: experiment.to_string(),
            response: response.map(str::to_string),
            at,
            direction,
            edge,
        })
    }
}

/// Cuts a wrong text to what is repeated in the error.
fn short(text: &str) -> String {
    text.chars().take(40).collect()
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-')
}

fn cell(text: &str) -> Result<Cell, String> {
    let mut cell = Cell::default();
    for pair in text.split(',') {
        let named = pair.split_once('=').map(|(factor, level)| (factor.trim(), level.trim()));
        let named = named.filter(|(factor, level)| !factor.is_empty() && !level.is_empty());
        let (factor, level) =
            named.ok_or_else(|| format!("{:?} is not FACTOR=LEVEL", short(pair)))?;
        model::ensure!(
            cell.0.insert(factor.to_string(), level.to_string()).is_none(),
            "{} is named twice in the braces",
            short(factor)
        );
    }
    Ok(cell)
}

/// Returns the ratio that a change in per cent means.
fn edge(text: &str, direction: Direction) -> Result<f64, String> {
    let Some(number) = text.strip_suffix('%') else {
        return Err(format!("the change {:?} does not end in %", short(text)));
    };
    let (sign, digits) = match number.trim().strip_prefix(['+', '-', '−']) {
        Some(digits) if number.trim().starts_with('+') => (1.0, digits),
        Some(digits) => (-1.0, digits),
        None => (if direction == Direction::Above { 1.0 } else { -1.0 }, number.trim()),
    };
    let plain = digits.bytes().all(|b| b.is_ascii_digit() || b == b'.') && digits != ".";
    let percent = digits.parse::<f64>().ok().filter(|_| plain);
    let Some(percent) = percent.filter(|percent| *percent <= PERCENT_MAX) else {
        return Err(format!("{:?} is no number of per cent up to {PERCENT_MAX}", short(number)));
    };
    let edge = 1.0 + sign * percent / 100.0;
    if edge <= 0.0 { Err(format!("nothing can shrink by {percent} % or more")) } else { Ok(edge) }
}

impl Condition {
    /// Reports whether some session knows what it names.
    ///
    /// # Errors
    /// A sentence that says which name is unknown and which are known.
    pub fn check(&self, designs: &[&Design]) -> Result<(), String> {
        let Condition { experiment, .. } = self;
        let known: Vec<&&Design> = designs.iter().filter(|it| it.id == *experiment).collect();
        if known.is_empty() {
            let names = experiment_names(designs);
            return Err(format!("no session has an experiment {experiment}; there are: {names}"));
        }
        if let Some(response) = &self.response {
            let names = known.iter().flat_map(|it| &it.responses).map(|it| it.name.as_str());
            has(experiment, "response", response, names.collect())?;
        }
        for (factor, level) in &self.at.0 {
            let factors = || known.iter().flat_map(|it| &it.factors);
            let names = factors().map(|it| it.name.as_str());
            has(experiment, "factor", factor, names.collect())?;
            let levels = factors().filter(|it| it.name == *factor).flat_map(|it| &it.levels);
            has(factor, "level", level, levels.map(|it| it.name.as_str()).collect())?;
        }
        Ok(())
    }

    /// Returns the response that it looks at: the one named, or that of the first finding.
    pub(crate) fn response_of<'a>(&'a self, design: &'a Design) -> Option<&'a str> {
        let main = || design.findings.first().map(|finding| finding.quantity.response());
        let first = || design.responses.first().map(|response| response.name.as_str());
        self.response.as_deref().or_else(main).or_else(first)
    }

    pub(crate) fn looks_at(&self, treatment: &Treatment) -> bool {
        treatment.matches(&self.at)
    }

    /// Reports whether a number meets it.
    pub(crate) fn is_met(&self, ratio: f64) -> bool {
        match self.direction {
            Direction::Above => ratio > self.edge,
            Direction::Below => ratio < self.edge,
        }
    }
}

/// Returns the names of all experiments, each once, with commas between them.
fn experiment_names(designs: &[&Design]) -> String {
    let names: BTreeSet<&str> = designs.iter().map(|design| design.id.as_str()).collect();
    names.into_iter().collect::<Vec<_>>().join(", ")
}

/// Reports a name that is not among those that something has.
fn has(what: &str, kind: &str, name: &str, mut names: Vec<&str>) -> Result<(), String> {
    if names.contains(&name) {
        return Ok(());
    }
    let mut seen = BTreeSet::new();
    names.retain(|name| seen.insert(*name));
    Err(format!("{what} has no {kind} {name}; it has: {}", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Condition {
        text.parse().unwrap()
    }

    #[test]
    fn conditions_are_read() {
        let one = read("create > +5%");
        assert_eq!((one.experiment.as_str(), one.response.as_deref()), ("create", None));
        assert_eq!((one.direction, one.at), (Direction::Above, Cell::default()));
        assert!((one.edge - 1.05).abs() < 1e-12);
        for text in ["create>5%", "create >5 %", " create  > + 5%".replace("+ ", "+").as_str()] {
            assert!((read(text).edge - 1.05).abs() < 1e-12, "{text}");
        }
        let one = read("clock.call_ns{clock=a>b, via = x} < -2.5%");
        assert_eq!(one.response.as_deref(), Some("call_ns"));
        assert_eq!(one.at, Cell::new([("clock", "a>b"), ("via", "x")]));
        assert_eq!(one.direction, Direction::Below);
        assert!((one.edge - 0.975).abs() < 1e-12 && one.is_met(0.97) && !one.is_met(0.975));
        // A change without a sign has that of its direction; one with a sign keeps it.
        assert!((read("a < 5%").edge - 0.95).abs() < 1e-12);
        assert!((read("a < +5%").edge - 1.05).abs() < 1e-12);
        assert!((read("a > −5%").edge - 0.95).abs() < 1e-12);
        assert_eq!(read("a > 0%").edge, 1.0);
    }

    #[test]
    fn what_is_wrong_is_said_with_what_would_be_right() {
        for (text, why) in [
            ("", "neither > nor <"),
            ("create", "neither > nor <"),
            ("create = 5%", "neither > nor <"),
            ("create >", "does not end in %"),
            ("create > 5", "does not end in %"),
            ("create > five%", "no number"),
            ("create > 1e3%", "no number"),
            ("create > ++5%", "no number"),
            ("create > .%", "no number"),
            ("create > NaN%", "no number"),
            ("create > 99999999%", "no number"),
            ("create < -100%", "shrink"),
            ("> 5%", "no name"),
            ("a b > 5%", "no name"),
            ("a. > 5%", "no name"),
            ("a{x=1 > 5%", "not closed"),
            ("a{x} > 5%", "FACTOR=LEVEL"),
            ("a{} > 5%", "FACTOR=LEVEL"),
            ("a{x=1,x=2} > 5%", "twice"),
            ("a{x=1} 5%", "expected > or <"),
        ] {
            let error = text.parse::<Condition>().unwrap_err().to_string();
            assert!(error.contains(why), "{text:?}: {error}");
            assert!(error.contains("create.cpu_ns{mechanism=fork} > +5%"), "{error}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_text_is_a_condition_or_refused_in_words(
            text in prop_oneof![
                ".*",
                "[a-z_.{}=,<>+%0-9 −-]{0,30}",
                "[a-z]{1,5}(\\.[a-z_]{1,5})?(\\{[a-z]=[a-z<>]\\})? ?[<>] ?[+-]?[0-9]{1,4}(\\.[0-9]{1,2})?%",
            ],
        ) {
            match text.parse::<Condition>() {
                Ok(condition) => {
                    prop_assert!(condition.edge > 0.0 && condition.edge.is_finite());
                    prop_assert!(is_word(&condition.experiment));
                    // Beyond the edge it is met, on the edge and before it is not.
                    let (beyond, before) = match condition.direction {
                        Direction::Above => (1.001, 0.999),
                        Direction::Below => (0.999, 1.001),
                    };
                    prop_assert!(condition.is_met(condition.edge * beyond));
                    prop_assert!(!condition.is_met(condition.edge * before));
                    prop_assert!(!condition.is_met(condition.edge));
                    prop_assert_eq!(condition.text.parse::<Condition>().unwrap(), condition);
                }
                Err(why) => prop_assert!(why.to_string().contains("; expected ")),
            }
        }

        #[test]
        fn what_was_written_is_what_is_read(
            experiment in "[a-z][a-z_]{0,8}",
            response in prop::option::of("[a-z][a-z_]{0,8}"),
            levels in prop::collection::btree_map("[a-z]{1,4}", "[a-z0-9<>% ]{0,3}[a-z0-9<>%]", 0..3),
            above in any::<bool>(),
            percent in 0_u32..90,
        ) {
            let mut text = experiment.clone();
            if let Some(response) = &response {
                text += &format!(".{response}");
            }
            if !levels.is_empty() {
                let pairs: Vec<String> = levels.iter().map(|(f, l)| format!("{f}={l}")).collect();
                text += &format!("{{{}}}", pairs.join(", "));
            }
            let sign = if above { "> +" } else { "< -" };
            text += &format!(" {sign}{percent}%");
            let read: Condition = text.parse().unwrap();
            prop_assert_eq!(read.experiment, experiment);
            prop_assert_eq!(read.response, response);
            let levels = levels.into_iter().map(|(f, l)| (f, l.trim().to_string())).collect();
            prop_assert_eq!(read.at, Cell(levels));
            let change = f64::from(percent) / 100.0 * if above { 1.0 } else { -1.0 };
            prop_assert!((read.edge - 1.0 - change).abs() < 1e-12);
        }
    }
}
