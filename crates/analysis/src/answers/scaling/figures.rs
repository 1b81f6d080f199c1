//! Figures that were measured elsewhere: text with the columns n, throughput and perhaps trial and cpu_s.

use super::trials::ScaleTrial;

/// The most lines that are fitted: each is a trial, and nobody measures more of a curve.
const TRIALS_MAX: usize = 10_000;

/// The columns that there may be.
const NAMES: [&str; 4] = ["n", "throughput", "trial", "cpu_s"];

/// Where the columns stand, in the order of [`NAMES`], and how many there are.
type Columns = ([Option<usize>; 4], usize);

/// Reads the trials of a text with the columns n and throughput, and perhaps trial and cpu_s.
///
/// # Errors
/// What is wrong, after its line and column: `3:2: …`.
pub fn figures(text: &str) -> Result<Vec<ScaleTrial>, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut columns: Option<Columns> = None;
    let mut trials = Vec::new();
    for (line, content) in (1..).zip(text.lines()) {
        let content = content.split('#').next().unwrap_or_default().trim();
        if content.is_empty() {
            continue;
        }
        let fields = fields(content);
        let is_head = columns.is_none() && fields[0].parse::<f64>().is_err();
        if is_head {
            columns = Some(head(&fields, line)?);
            continue;
        }
        // Without names, the first two columns are n and throughput.
        let plain = ([Some(0), Some(1), None, None], fields.len());
        trials.push(trial(&fields, *columns.get_or_insert(plain), line, trials.len())?);
        model::ensure!(trials.len() <= TRIALS_MAX, "{line}:1: more than {TRIALS_MAX} trials");
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
    let fields: Vec<&str> = match separator {
        Some(separator) => line.split(separator).collect(),
        None => line.split_whitespace().collect(),
    };
    fields.into_iter().map(|field| field.trim().trim_matches('"')).collect()
}

/// Returns the columns by the names in the first line.
fn head(fields: &[&str], line: usize) -> Result<Columns, String> {
    let names: Vec<String> = fields.iter().map(|field| field.to_ascii_lowercase()).collect();
    let place = |name: &str| names.iter().position(|known| known == name);
    model::ensure!(
        place("n").is_some() && place("throughput").is_some(),
        "{line}:1: expected the columns n and throughput (and perhaps trial and cpu_s); there \
             are: {}",
        fields.join(", ")
    );
    for (at, name) in names.iter().enumerate() {
        model::ensure!(place(name) == Some(at), "{line}:{}: two columns are named {name}", at + 1);
        if !NAMES.contains(&name.as_str()) {
            let (place, names) = (at + 1, NAMES.join(", "));
            return Err(format!(
                "{line}:{place}: no column is named {:?}; there are: {names}",
                fields[at]
            ));
        }
    }
    Ok((NAMES.map(place), fields.len()))
}

fn trial(
    fields: &[&str],
    (places, count): Columns,
    line: usize,
    block: usize,
) -> Result<ScaleTrial, String> {
    let found = fields.len();
    if found != count || found < 2 {
        let count = count.max(2);
        let place = found.min(count) + 1;
        return Err(format!("{line}:{place}: expected {count} columns, and there are {found}"));
    }
    let number = |place: usize, what: &str, least: f64| {
        let value: Option<f64> = fields[place].parse().ok().filter(|value: &f64| value.is_finite());
        value.filter(|value| *value >= least && *value > 0.0).ok_or_else(|| {
            format!(
                "{line}:{}: {:?} is no {what}; expected a number {}",
                place + 1,
                fields[place],
                if least >= 1.0 { "of at least 1" } else { "above 0" }
            )
        })
    };
    let [n, throughput, round, cpu_s] = places;
    let n = number(n.unwrap_or(0), "number of workers", 1.0)?;
    let throughput = number(throughput.unwrap_or(1), "throughput", 0.0)?;
    // Trials of the same number were measured in the same round, and are compared within it.
    let round = round.and_then(|place| fields[place].parse::<u32>().ok());
    let mut trial = ScaleTrial::of_throughput(n, throughput, round.unwrap_or(block as u32));
    // CPU seconds for each unit of work, of which the trial is one.
    trial.cpu_ns =
        cpu_s.map(|place| Ok::<f64, String>(number(place, "CPU time", 0.0)? * 1e9)).transpose()?;
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
