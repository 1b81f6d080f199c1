//! What can be chosen of the core, as people type it.

use isa::cache::Geometry;
use isa::pipeline::{Depth, Latency, Parameters, Prediction, Stage};
use model::{CoreParameter, measures};

/// The cycles that are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Window {
    Cycles(u64, u64),
    First(Moment),
}

/// What a reader may want to see without knowing its cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    Trap,
    Stall,
    Branch,
    Miss,
}

/// The most cycles that are drawn in a terminal.
const CYCLES_MAX: u64 = 1000;

impl Window {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let moments = [
            ("trap", Moment::Trap),
            ("stall", Moment::Stall),
            ("branch", Moment::Branch),
            ("miss", Moment::Miss),
        ];
        if let Some((_, moment)) = moments.into_iter().find(|(name, _)| *name == text) {
            return Ok(Window::First(moment));
        }
        let ends = text
            .split_once("..")
            .and_then(|(from, to)| Some((from.parse().ok()?, to.parse().ok()?)));
        match ends {
            Some((from, to)) if from < to && to - from <= CYCLES_MAX => {
                Ok(Window::Cycles(from, to))
            }
            _ => Err(format!(
                "expected at most {CYCLES_MAX} cycles, such as 100..160, or trap, stall, branch or miss"
            )),
        }
    }
}

/// The shape of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape(pub(crate) Geometry);

impl Shape {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        const RIGHT: &str = "expected size, ways (or full) and bytes of a line, such as 1KiB,2,16";
        let parts: Vec<&str> = text.split(',').collect();
        let &[size, ways, line] = parts.as_slice() else { return Err(RIGHT.into()) };
        let bytes = |text: &str| {
            let plain =
                text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()));
            plain.or_else(|| measures::bytes(text)).and_then(|bytes: u64| u32::try_from(bytes).ok())
        };
        let (size, line) = (bytes(size).ok_or(RIGHT)?, bytes(line).ok_or(RIGHT)?);
        let lines = size.checked_div(line).filter(|lines| lines * line == size && size > 0);
        let lines = lines.ok_or("the size must be a multiple of the line")?;
        let ways = if ways == "full" { lines } else { ways.parse().map_err(|_| RIGHT)? };
        let sets = lines.checked_div(ways).filter(|sets| sets * ways == lines);
        let sets = sets
            .ok_or_else(|| format!("{lines} lines cannot be divided into sets of {ways} ways"))?;
        Geometry::new(sets, ways, line).map(Shape).map_err(|error| error.to_string())
    }
}

/// A parameter of the pipeline with a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    parameter: usize,
    value: String,
}

/// A parameter: its name, its values, how it is set and how it is shown.
struct Parameter {
    name: &'static str,
    values: &'static str,
    set: fn(&mut Parameters, &str) -> Option<()>,
    show: fn(&Parameters) -> String,
}

const STAGES: &str = "IF, ID, EX, MEM or WB";

macro_rules! parameter {
    ($name:literal, $field:ident, $values:expr, $parse:ident, $show:expr) => {
        Parameter {
            name: $name,
            values: $values,
            set: |parameters, text| {
                parameters.$field = $parse(text)?;
                Some(())
            },
            show: |parameters| $show(parameters.$field),
        }
    };
}

const PARAMETERS: [Parameter; 19] = [
    parameter!("depth", depth, "4 or 5", depth, |depth: Depth| depth.stages().to_string()),
    parameter!("forwarding", forwarding, "on or off", switch, |on| if on { "on" } else { "off" }
        .to_string()),
    parameter!("hazards", hazards, "wait or none", hazards, |waits| if waits {
        "wait"
    } else {
        "none"
    }
    .to_string()),
    parameter!("loaded", loaded, STAGES, stage, show_stage),
    parameter!("multiplied", multiplied, STAGES, stage, show_stage),
    parameter!("branch", branch, STAGES, stage, show_stage),
    parameter!(
        "predict",
        prediction,
        "not-taken, btfn, 1-bit:16, 2-bit:16 or gshare:16",
        prediction,
        show_prediction
    ),
    parameter!("predicted", predicted, "IF or ID", stage, show_stage),
    parameter!("jump", jump, STAGES, stage, show_stage),
    parameter!("jalr", jump_register, STAGES, stage, show_stage),
    parameter!("trap", trap, STAGES, stage, show_stage),
    parameter!("mret", trap_return, STAGES, stage, show_stage),
    parameter!(
        "latency",
        latency,
        "cycles, or those of branch,jal,jalr,exception,interrupt,mret",
        latency,
        show_latency
    ),
    parameter!("multiply", multiply, "cycles", number, show_number),
    parameter!("divide", divide, "cycles", number, show_number),
    parameter!("csr", csr, "cycles", number, show_number),
    parameter!("behind-memory", behind_memory, "cycles", number, show_number),
    parameter!("fetch", fetch_bytes, "bytes", number, show_number),
    parameter!("miss", miss, "cycles", number, show_number),
];

fn number<T: std::str::FromStr>(text: &str) -> Option<T> {
    text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))
}

fn show_number(value: impl ToString) -> String {
    value.to_string()
}

fn latency(text: &str) -> Option<Latency> {
    let cycles: Vec<u16> = text.split(',').map(number).collect::<Option<_>>()?;
    match *cycles {
        [all] => Some(Latency::all(all)),
        [branch, jump, jump_register, trap, interrupt, trap_return] => {
            Some(Latency { branch, jump, jump_register, trap, interrupt, trap_return })
        }
        _ => None,
    }
}

fn show_latency(latency: Latency) -> String {
    if latency == Latency::all(latency.branch) {
        return latency.branch.to_string();
    }
    let Latency { branch, jump, jump_register, trap, interrupt, trap_return } = latency;
    format!("{branch},{jump},{jump_register},{trap},{interrupt},{trap_return}")
}

fn show_stage(stage: Stage) -> String {
    stage.name().into()
}

fn stage(text: &str) -> Option<Stage> {
    Stage::ALL.into_iter().find(|stage| stage.name().eq_ignore_ascii_case(text))
}

fn switch(text: &str) -> Option<bool> {
    [("on", true), ("off", false)].into_iter().find(|(name, _)| *name == text).map(|(_, on)| on)
}

fn hazards(text: &str) -> Option<bool> {
    [("wait", true), ("none", false)].into_iter().find(|(name, _)| *name == text).map(|(_, on)| on)
}

fn depth(text: &str) -> Option<Depth> {
    [("4", Depth::Four), ("5", Depth::Five)]
        .into_iter()
        .find(|(name, _)| *name == text)
        .map(|(_, depth)| depth)
}

fn prediction(text: &str) -> Option<Prediction> {
    let (name, entries) =
        text.split_once(':').map_or((text, None), |(name, digits)| (name, Some(digits)));
    let entries = match entries {
        Some(digits) => Some(number(digits)?),
        None => None,
    };
    Some(match (name, entries) {
        ("not-taken", None) => Prediction::NotTaken,
        ("btfn", None) => Prediction::Backward,
        ("1-bit", Some(entries)) => Prediction::OneBit { entries },
        ("2-bit", Some(entries)) => Prediction::TwoBit { entries },
        ("gshare", Some(entries)) => Prediction::Gshare { entries },
        _ => return None,
    })
}

fn show_prediction(prediction: Prediction) -> String {
    match prediction.entries() {
        0 => prediction.name().into(),
        entries => format!("{}:{entries}", prediction.name()),
    }
}

impl Setting {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        let known = PARAMETERS.iter().position(|parameter| parameter.name == name);
        let parameter = known.ok_or_else(|| {
            let names: Vec<&str> = PARAMETERS.iter().map(|parameter| parameter.name).collect();
            format!("expected NAME=VALUE, of one of these: {}", names.join(", "))
        })?;
        let set = (PARAMETERS[parameter].set)(&mut Parameters::textbook(), value);
        set.ok_or_else(|| format!("{name} takes {}", PARAMETERS[parameter].values))?;
        Ok(Setting { parameter, value: value.into() })
    }

    /// Gives the pipeline the value.
    pub(super) fn apply(&self, parameters: &mut Parameters) {
        // It was tried when it was read.
        let _ = (PARAMETERS[self.parameter].set)(parameters, &self.value);
    }
}

/// Returns all parameters of a pipeline.
pub(super) fn shown(parameters: &Parameters) -> Vec<CoreParameter> {
    let one = |parameter: &Parameter| CoreParameter {
        name: parameter.name.into(),
        value: (parameter.show)(parameters),
    };
    PARAMETERS.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::{Moment, Setting, Shape, Window};

    #[test]
    fn what_is_typed_is_understood_or_refused_with_what_would_be_right() {
        assert_eq!(Window::parse("100..160"), Ok(Window::Cycles(100, 160)));
        assert_eq!(Window::parse("trap"), Ok(Window::First(Moment::Trap)));
        for bad in ["", "5", "9..9", "9..5", "..", "0..1001", "-1..5", "1...5", "traps"] {
            assert!(Window::parse(bad).is_err_and(|why| why.contains("100..160")), "{bad}");
        }
        let shape = |text| Shape::parse(text).map(|shape| shape.0.to_string());
        assert_eq!(shape("1KiB,2,16"), Ok("32 sets x 2 ways x 16 B".into()));
        assert_eq!(shape("64,full,8"), Ok("1 set x 8 ways x 8 B".into()));
        for bad in [
            "", "1KiB", "1KiB,2", "0,1,8", "100,1,8", "64,3,8", "64,0,8", "64,1,0", "64,-1,8",
            "9GiB,1,8", "96,1,8",
        ] {
            assert!(Shape::parse(bad).is_err(), "{bad}");
        }
        for good in [
            "branch=ID",
            "latency=2",
            "latency=0,0,0,2,2,2",
            "forwarding=off",
            "predict=gshare:64",
            "miss=10",
            "depth=4",
            "jalr=ex",
        ] {
            assert!(Setting::parse(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "branch",
            "branch=XX",
            "branch=",
            "miss=-1",
            "latency=1,2",
            "latency=",
            "miss=99999999",
            "predict=2-bit",
            "x=1",
            "fetch=300",
        ] {
            assert!(Setting::parse(bad).is_err(), "{bad}");
        }
    }
}
