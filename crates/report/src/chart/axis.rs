//! A horizontal axis of levels: where each lies, in which unit, and what of this machine lies
//! among them.

use super::material::{Estimates, levels_of};
use super::scale::Scale;
use crate::words;
use model::{Design, Environment, Factor, Response, Treatment, Unit};
use std::collections::BTreeMap;
use wording::number::binary;

/// Measured levels from which a quantity is worth an axis, where no figure asks for one.
pub(super) const LEVELS_MIN: usize = 3;

/// Bytes that span more than this take a logarithmic axis: sizes grow by doubling.
const BYTES_LOG_SPAN: f64 = 8.0;

/// The most characters of a level under the axis.
const LABEL_CHARACTERS_MAX: usize = 16;

/// An axis of levels.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    /// The factor in words.
    pub(crate) name: String,
    /// What the levels are measured in; empty where nobody says.
    pub(crate) unit: String,
    /// The measured levels, ascending.
    pub(crate) levels: Vec<(f64, String)>,
    /// Sizes of this machine within the levels, ascending: "L2 1 MiB".
    pub(crate) landmarks: Vec<(f64, String)>,
    pub(crate) scale: Scale,
}

/// A factor whose levels are quantities, and where they lie.
#[derive(Clone, Debug)]
pub(super) struct Values<'a> {
    pub(super) factor: &'a Factor,
    by_level: BTreeMap<&'a str, f64>,
    /// What a step of 1 is in bytes, if it is bytes at all.
    bytes: Option<f64>,
    unit: String,
    /// Whether the levels' names say their values.
    named: bool,
}

impl<'a> Values<'a> {
    /// Where the levels of a factor lie, if all that were measured are quantities: by declaration,
    /// or because a response of the name `FACTOR_bytes` measured what each of them was here.
    pub(super) fn of(
        factor: &'a Factor,
        design: &Design,
        estimates: &Estimates<'_>,
        measured: &[&Treatment],
    ) -> Option<Values<'a>> {
        let levels = levels_of(factor, measured);
        let declared: Option<BTreeMap<&str, f64>> =
            levels.iter().map(|level| Some((level.name.as_str(), level.value?))).collect();
        if let Some(by_level) = declared {
            let unit = unit_of(factor);
            let bytes = unit.as_ref().and_then(bytes_per);
            let unit = unit.as_ref().map(in_words).unwrap_or_default();
            return Some(Values { factor, by_level, bytes, unit, named: true });
        }
        let response = design.response(&format!("{}_bytes", factor.name))?;
        let by_level: Option<BTreeMap<&str, f64>> = levels
            .iter()
            .map(|level| {
                let own = measured.iter().filter(|t| t.level(&factor.name) == Some(&level.name));
                Some((level.name.as_str(), same_everywhere(own.copied(), response, estimates)?))
            })
            .collect();
        let by_level = by_level?;
        let different = by_level.values().map(|value| value.to_bits());
        let different = different.collect::<std::collections::BTreeSet<_>>().len();
        (response.unit == Unit::Bytes && different == by_level.len()).then(|| Values {
            factor,
            by_level,
            bytes: Some(1.0),
            unit: String::new(),
            named: false,
        })
    }

    /// The lowest level, with where it lies.
    pub(super) fn first(&self) -> Option<(&'a str, f64)> {
        let levels = self.by_level.iter().map(|(level, value)| (*level, *value));
        levels.min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// Where a treatment lies.
    pub(super) fn at(&self, treatment: &Treatment) -> Option<f64> {
        self.by_level.get(treatment.level(&self.factor.name)?).copied()
    }

    /// The axis with what of a machine lies on it.
    pub(super) fn axis(&self, environment: &Environment) -> Axis {
        let mut levels: Vec<(f64, String)> = self
            .by_level
            .iter()
            .map(|(name, value)| {
                let name = if self.named { (*name).to_string() } else { binary(*value) };
                (*value, wording::short(&name, LABEL_CHARACTERS_MAX))
            })
            .collect();
        levels.sort_by(|a, b| a.0.total_cmp(&b.0));
        let values: Vec<f64> = levels.iter().map(|(value, _)| *value).collect();
        let scale = if self.bytes.is_some() {
            Scale::over_levels_beyond(&values, BYTES_LOG_SPAN)
        } else {
            Scale::over_levels(&values)
        };
        Axis {
            name: words::factor(self.factor),
            unit: self.unit.clone(),
            landmarks: self
                .bytes
                .map(|step| landmarks(environment, step, &values))
                .unwrap_or_default(),
            levels,
            scale: scale.unwrap_or(Scale::Linear { low: 0.0, high: 1.0 }),
        }
    }
}

/// The number that a response was measured to be, if it was one and the same at all treatments.
fn same_everywhere<'t>(
    treatments: impl Iterator<Item = &'t Treatment>,
    response: &Response,
    estimates: &Estimates<'_>,
) -> Option<f64> {
    let mut found = treatments
        .filter_map(|t| estimates.get(&(response.name.as_str(), t)))
        .map(|estimate| estimate.point);
    let first = found.next()?;
    found.all(|other| other.to_bits() == first.to_bits()).then_some(first)
}

/// The unit of a factor's levels. Sessions from before a factor had one say it at the end of the
/// line about it: "how much is walked, in MiB".
fn unit_of(factor: &Factor) -> Option<Unit> {
    let from_about = || match factor.about.rsplit_once(", in ")?.1 {
        "bytes" => Some(Unit::Bytes),
        unit @ ("KiB" | "MiB" | "GiB") => Some(Unit::Other(unit.into())),
        _ => None,
    };
    factor.unit.clone().or_else(from_about)
}

fn bytes_per(unit: &Unit) -> Option<f64> {
    match unit {
        Unit::Bytes => Some(1.0),
        // A unit in powers of 1024; "K" is one of something else.
        Unit::Other(name) if name.ends_with("iB") => {
            Some(model::measures::bytes(&format!("1{name}"))? as f64)
        }
        _ => None,
    }
}

fn in_words(unit: &Unit) -> String {
    if *unit == Unit::Count { String::new() } else { wording::unit(unit) }
}

/// Cache line, page and caches of data that lie within the levels, in the levels' unit.
fn landmarks(environment: &Environment, step: f64, levels: &[f64]) -> Vec<(f64, String)> {
    let least = levels.iter().copied().filter(|value| *value > 0.0).fold(f64::INFINITY, f64::min);
    let most = levels.iter().copied().fold(0.0, f64::max);
    let data = || environment.caches.iter().filter(|cache| cache.kind != "Instruction");
    let line = data().map(|cache| u64::from(cache.line_bytes)).max();
    let lines = line.into_iter().map(|bytes| ("cache line".to_string(), bytes));
    let page = std::iter::once(("page".to_string(), environment.page_bytes));
    let caches = data().map(|cache| {
        let letter = if cache.kind == "Data" { "d" } else { "" };
        (format!("L{}{letter}", cache.level), cache.size_bytes)
    });
    let mut found: Vec<(f64, String)> = lines
        .chain(page)
        .chain(caches)
        .map(|(name, bytes)| (bytes as f64 / step, format!("{name} {}", binary(bytes as f64))))
        .filter(|(value, _)| *value >= least && *value <= most)
        .collect();
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    found.dedup_by(|a, b| a.0.to_bits() == b.0.to_bits());
    found
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test should stop where it fails")]
mod tests {
    use super::*;
    use model::{CpuCache, Level};

    fn machine() -> Environment {
        let cache = |level, kind: &str, size_bytes| CpuCache {
            level,
            kind: kind.into(),
            size_bytes,
            line_bytes: 64,
        };
        Environment {
            page_bytes: 4096,
            caches: vec![
                cache(1, "Data", 48 << 10),
                cache(1, "Instruction", 32 << 10),
                cache(2, "Unified", 1 << 20),
                cache(3, "Unified", 32 << 20),
            ],
            ..Environment::default()
        }
    }

    fn factor(about: &str, unit: Option<Unit>, values: &[f64]) -> Factor {
        let level =
            |value: &f64| Level { value: Some(*value), ..Level::new(&value.to_string(), "") };
        Factor {
            name: "size".into(),
            about: about.into(),
            levels: values.iter().map(level).collect(),
            baseline: values[0].to_string(),
            unit,
            ..Factor::default()
        }
    }

    fn axis_of(factor: &Factor) -> Axis {
        let treatments: Vec<Treatment> = factor
            .levels
            .iter()
            .map(|level| Treatment::from_iter([("size".to_string(), level.name.clone())]))
            .collect();
        let measured: Vec<&Treatment> = treatments.iter().collect();
        let values = Values::of(factor, &Design::default(), &BTreeMap::new(), &measured).unwrap();
        values.axis(&machine())
    }

    #[test]
    fn caches_lie_on_an_axis_of_bytes_and_on_no_other() {
        let names = |axis: &Axis| -> Vec<String> {
            axis.landmarks.iter().map(|(_, name)| name.clone()).collect()
        };
        let mib = factor("", Some(Unit::Other("MiB".into())), &[0.0, 0.5, 8.0, 64.0]);
        let axis = axis_of(&mib);
        assert_eq!(names(&axis), ["L2 1 MiB", "L3 32 MiB"]);
        assert_eq!(axis.landmarks[0].0, 1.0);
        assert_eq!(axis.unit, "MiB");
        let bytes = factor("", Some(Unit::Bytes), &[8.0, 64.0, 65536.0]);
        assert_eq!(names(&axis_of(&bytes)), ["cache line 64 B", "page 4 KiB", "L1d 48 KiB"]);
        let threads = factor("how many", None, &[1.0, 64.0, 4096.0]);
        assert_eq!(names(&axis_of(&threads)), Vec::<String>::new());
    }

    #[test]
    fn an_older_session_says_its_unit_in_the_line_about_the_factor() {
        let axis = axis_of(&factor("how far, in bytes", None, &[0.0, 8.0, 64.0, 128.0]));
        assert_eq!(axis.unit, "bytes");
        assert!(axis.scale.is_log(), "{:?}", axis.scale);
        assert_eq!(axis.landmarks.len(), 1);
    }

    #[test]
    fn what_a_level_was_here_is_measured() {
        let mut walk = factor("memory walked", None, &[1.0, 2.0, 3.0]);
        for level in &mut walk.levels {
            level.value = None;
        }
        let mut design = crate::fixture::create();
        let mut response = design.responses[0].clone();
        (response.name, response.unit) = ("size_bytes".into(), Unit::Bytes);
        design.responses = vec![response];
        let treatments: Vec<Treatment> = ["1", "2", "3"]
            .iter()
            .map(|name| Treatment::from_iter([("size".to_string(), (*name).to_string())]))
            .collect();
        let measured: Vec<&Treatment> = treatments.iter().collect();
        let exact = |point: f64| model::Estimate {
            point,
            low: point,
            high: point,
            standard_error: None,
            level: 0.95,
            samples: 6,
        };
        let mut estimates: Estimates<'_> = treatments
            .iter()
            .zip([0.0, 65536.0, 2097152.0])
            .map(|(treatment, bytes)| (("size_bytes", treatment), exact(bytes)))
            .collect();
        let axis = Values::of(&walk, &design, &estimates, &measured).unwrap().axis(&machine());
        let levels: Vec<&str> = axis.levels.iter().map(|(_, name)| name.as_str()).collect();
        assert_eq!(levels, ["0", "64 KiB", "2 MiB"]);
        // Two levels that were the same here are no axis.
        estimates.insert(("size_bytes", &treatments[1]), exact(2097152.0));
        assert!(Values::of(&walk, &design, &estimates, &measured).is_none());
    }
}
