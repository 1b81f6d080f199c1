//! Which numbers are asked for, by the names that people give them.

use crate::no_such;
use crate::place::Result;
use crate::table::Value;
use model::Response;
use model::measures::{CPU, CPU_SHARE, PEAK_PSS, WALL};

/// What is in front where the study does not say.
const DEFAULT: [&str; 4] = [WALL, CPU, CPU_SHARE, PEAK_PSS];

/// The response that a value means: its own name, or that without its unit.
pub(crate) fn response<'r>(responses: &'r [Response], value: &Value<'_>) -> Result<&'r Response> {
    let name = value.text("the name of a response, such as \"wall_ns\"")?;
    let without_unit = |response: &&Response| {
        let suffix = response.unit.suffix().unwrap_or_default();
        response.name.strip_suffix(suffix) == Some(name.as_str())
    };
    let exact = responses.iter().find(|response| response.name == name);
    exact.or_else(|| responses.iter().find(without_unit)).ok_or_else(|| {
        let known = responses.iter().map(|response| response.name.as_str());
        value.error(no_such("response", &name, known))
    })
}

/// All responses, those in front first, and how many these are.
pub(crate) fn ordered(
    mut all: Vec<Response>,
    metrics: usize,
    asked: Option<&Value<'_>>,
) -> Result<(Vec<Response>, usize)> {
    let mut front: Vec<String> = Vec::new();
    match asked {
        Some(value) => {
            for item in
                value.list("a list of responses, such as [\"wall_ns\", \"peak_pss_bytes\"]")?
            {
                let name = response(&all, &item)?.name.clone();
                if front.contains(&name) {
                    return Err(item.error(format!("{name} stands here twice")));
                }
                front.push(name);
            }
            if front.is_empty() {
                return Err(value.error("name one response at least"));
            }
        }
        None => {
            front.extend(DEFAULT.map(String::from));
            front.extend(all[all.len() - metrics..].iter().map(|metric| metric.name.clone()));
        }
    }
    let place = |response: &Response| {
        front.iter().position(|name| *name == response.name).unwrap_or(front.len())
    };
    all.sort_by_key(place);
    Ok((all, front.len()))
}
