//! Figures that were measured elsewhere: text with the columns n, throughput and perhaps trial and cpu_s.

use super::trials::ScaleTrial;

/// The most lines that are fitted: each is a trial, and nobody measures more of a curve.
const TRIALS_MAX: usize = 10_000;

/// Where the columns stand.
struct Columns {
    n: usize,
    throughput: usize,
    trial: Option<usize>,
    cpu_s: Option<usize>,
    count: usize,
}

/// Reads the trials of a text with the columns n and throughput, and perhaps trial and cpu_s.
///
/// # Errors
/// What is wrong, after its line and column: `3:2: …`.
pub fn figures(text: &str) -> Result<Vec<ScaleTrial>, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut columns: Option<Columns> = None;
    let mut trials = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line_number = index + 1;
        let content = line.split('#').next().unwrap_or_default().trim();
        if content.is_empty() {
            continue;
        }
        let fields = fields(content);
        let Some(known) = &columns else {
            let (found, is_head) = head(&fields, line_number)?;
            if !is_head {
                trials.push(trial(&fields, &found, line_number, 0)?);
            }
            columns = Some(found);
            continue;
        };
        trials.push(trial(&fields, known, line_number, trials.len())?);
        if trials.len() > TRIALS_MAX {
            return Err(format!("{line_number}:1: more than {TRIALS_MAX} trials"));
        }
    }
    if trials.is_empty() {
        return Err(
            "1:1: there are no figures; expected lines of n and throughput, such as 4,392.5".into(),
        );
    }
    Ok(trials)
}

fn fields(line: &str) -> Vec<&str> {
    let separator = [',', ';', '\t'].into_iter().find(|separator| line.contains(*separator));
    match separator {
        Some(separator) => {
            line.split(separator).map(|field| field.trim().trim_matches('"')).collect()
        }
        None => line.split_whitespace().map(|field| field.trim_matches('"')).collect(),
    }
}

/// Returns the columns by the names in the first line, or the first two where it is figures already.
fn head(fields: &[&str], line: usize) -> Result<(Columns, bool), String> {
    if fields.first().is_some_and(|field| field.parse::<f64>().is_ok()) {
        return Ok((
            Columns { n: 0, throughput: 1, trial: None, cpu_s: None, count: fields.len() },
            false,
        ));
    }
    let names: Vec<String> = fields.iter().map(|field| field.to_ascii_lowercase()).collect();
    let place = |name: &str| names.iter().position(|known| known == name);
    let (Some(n), Some(throughput)) = (place("n"), place("throughput")) else {
        return Err(format!(
            "{line}:1: expected the columns n and throughput (and perhaps trial and cpu_s); there \
             are: {}",
            fields.join(", ")
        ));
    };
    if let Some(at) = names.iter().enumerate().find(|(at, name)| place(name) != Some(*at)) {
        return Err(format!("{line}:{}: two columns are named {}", at.0 + 1, at.1));
    }
    let known = ["n", "throughput", "trial", "cpu_s"];
    if let Some(at) = names.iter().position(|name| !known.contains(&name.as_str())) {
        return Err(format!(
            "{line}:{}: no column is named {:?}; there are: n, throughput, trial, cpu_s",
            at + 1,
            fields[at]
        ));
    }
    let (trial, cpu_s) = (place("trial"), place("cpu_s"));
    Ok((Columns { n, throughput, trial, cpu_s, count: fields.len() }, true))
}

fn trial(
    fields: &[&str],
    columns: &Columns,
    line: usize,
    block: usize,
) -> Result<ScaleTrial, String> {
    if fields.len() != columns.count || fields.len() < 2 {
        let count = columns.count.max(2);
        let place = fields.len().min(count) + 1;
        return Err(format!(
            "{line}:{place}: expected {count} columns, and there are {}",
            fields.len()
        ));
    }
    let number = |place: usize, what: &str, least: f64| {
        let value: Option<f64> = fields[place].parse().ok().filter(|value: &f64| value.is_finite());
        match value {
            Some(value) if value >= least && value > 0.0 => Ok(value),
            _ => Err(format!(
                "{line}:{}: {:?} is no {what}; expected a number {}",
                place + 1,
                fields[place],
                if least >= 1.0 { "of at least 1" } else { "above 0" }
            )),
        }
    };
    let n = number(columns.n, "number of workers", 1.0)?;
    let throughput = number(columns.throughput, "throughput", 0.0)?;
    // Trials of the same number were measured in the same round, and are compared within it.
    let round = columns.trial.and_then(|place| fields[place].parse::<u32>().ok());
    let mut trial = ScaleTrial::of_throughput(n, throughput, round.unwrap_or(block as u32));
    if let Some(place) = columns.cpu_s {
        // CPU seconds for each unit of work, of which the trial is one.
        trial.cpu_ns = Some(number(place, "CPU time", 0.0)? * 1e9);
    }
    Ok(trial)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<(f64, f64)>, String> {
        let all = figures(text)?;
        Ok(all.iter().map(|it| (it.n, it.throughput().unwrap())).collect())
    }

    #[test]
    fn a_head_names_columns_and_may_be_left_out() {
        assert_eq!(read("n,throughput\n1,20\n2,39.5\n"), Ok(vec![(1.0, 20.0), (2.0, 39.5)]));
        assert_eq!(read("1 20\n2 39.5"), Ok(vec![(1.0, 20.0), (2.0, 39.5)]));
        assert_eq!(read("# a ray tracer\n\"n\";\"throughput\"\n1;20\n\n"), Ok(vec![(1.0, 20.0)]));
        assert_eq!(read("trial,throughput,n\n7,20,1"), Ok(vec![(1.0, 20.0)]));
        let cpu = figures("n,throughput,cpu_s\n2,20,0.1\n").unwrap();
        assert!((cpu[0].cpu_throughput().unwrap() - 10.0).abs() < 1e-9);
    }

    #[test]
    fn errors_name_line_and_column() {
        for (text, begins) in [
            ("", "1:1: there are no figures"),
            ("n,throughput\n", "1:1: there are no figures"),
            ("workers,throughput\n1,2", "1:1: expected the columns n and throughput"),
            ("n,throughput,colour\n1,2,red", "1:3: no column is named \"colour\""),
            ("n,throughput,n\n1,2,1", "1:3: two columns are named n"),
            ("n,throughput\n1,2\n2\n", "3:2: expected 2 columns"),
            ("n,throughput\n1,2\n2,3,4\n", "3:3: expected 2 columns"),
            ("n,throughput\n1,2\n2,x\n", "3:2: \"x\" is no throughput"),
            ("n,throughput\n0,2\n", "2:1: \"0\" is no number of workers"),
            ("n,throughput\n1,-2\n", "2:2: \"-2\" is no throughput"),
            ("n,throughput\n1,nan\n", "2:2: \"nan\" is no throughput"),
            ("n,throughput\n1,inf\n", "2:2: \"inf\" is no throughput"),
            ("1\n", "1:2: expected 2 columns"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.starts_with(begins), "{text:?}: {error}");
        }
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig {
            failure_persistence: None,
            ..proptest::prelude::ProptestConfig::default()
        })]

        #[test]
        fn any_text_is_read_or_refused_with_a_place(
            text in proptest::prop_oneof!["[nthroughput,0-9.\n\"; -]{0,60}", ".*"],
        ) {
            if let Err(error) = read(&text) {
                let place: Vec<&str> = error.splitn(3, ':').collect();
                proptest::prop_assert!(place[0].parse::<usize>().is_ok(), "{error}");
                proptest::prop_assert!(place[1].parse::<usize>().is_ok(), "{error}");
            }
        }
    }
}
