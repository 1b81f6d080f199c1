//! Two programs, one of which takes a little longer: how often does a study with all defaults find
//! it, and how often hyperfine in the same time?

use crate::asked::Asked;
use crate::neighbour::Neighbour;
use crate::tally::Count;
use anyhow::{Context, bail};
use model::{Summary, Verdict};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The first argument that makes the benchmark's binary the program that is measured.
pub(crate) const ROLE: &str = "__work";

/// Steps of the program: about 20 ms.
const STEPS: u64 = 10_000_000;

/// By how many thousandths the second program does more.
const PLANTED: [u64; 3] = [0, 20, 50];

/// At least so many of 20 must be found, by what was planted; of nothing, at most one.
const FOUND_OF_20: [(u64, u64); 2] = [(20, 18), (50, 20)];

/// The difference that hyperfine's own script calls significant (scripts/welch_ttest.py): p of Welch's
/// t-test below this.
const WELCH: f64 = 0.05;

/// Computes so many steps.
pub(crate) fn work(words: &[String]) -> anyhow::Result<()> {
    let steps: u64 = words.first().context("wants steps")?.parse()?;
    let mut state = 1_u64;
    for step in 0..steps {
        state = std::hint::black_box(state.wrapping_mul(6_364_136_223_846_793_005) ^ step);
    }
    std::hint::black_box(state);
    Ok(())
}

/// Prints how often each planting was found. Returns whether the bar holds for scruple.
pub(crate) fn study(asked: &Asked, mut neighbour: Option<&mut Neighbour>) -> anyhow::Result<bool> {
    let has_hyperfine = Command::new("hyperfine").arg("--version").stdout(Stdio::null()).status();
    let has_hyperfine = has_hyperfine.is_ok_and(|status| status.success());
    if !has_hyperfine {
        println!("hyperfine is not installed: scruple alone is measured");
    }
    let mut holds = true;
    println!("| planted | scruple study finds | hyperfine finds (Welch, 5 %) |\n|---|---|---|");
    for thousandths in PLANTED {
        let (mut ours, mut theirs) = (Count::default(), Count::default());
        for number in 0..asked.sessions {
            let folder = tempfile::tempdir()?;
            let begun = Instant::now();
            ours.add(found_by_study(thousandths, folder.path(), asked, number)?);
            let took = begun.elapsed();
            if has_hyperfine {
                theirs.add(found_by_hyperfine(thousandths, folder.path(), took)?);
            }
            if sys::interrupt::requested().is_some() {
                bail!("interrupted");
            }
            if neighbour.as_mut().is_some_and(|neighbour| !neighbour.is_alive()) {
                bail!("a neighbour has ended");
            }
            eprintln!("{thousandths} of 1000, session {number}: {} {}", ours.text(), theirs.text());
        }
        println!("| {:.1} % | {} | {} |", thousandths as f64 / 10.0, ours.text(), theirs.text());
        holds &= match FOUND_OF_20.iter().find(|(planted, _)| *planted == thousandths) {
            Some((_, least)) => ours.events * 20 >= least * ours.sessions,
            None => ours.events * 20 <= ours.sessions,
        };
    }
    Ok(holds)
}

fn programs(thousandths: u64) -> anyhow::Result<[Vec<String>; 2]> {
    let own = std::env::current_exe()?.display().to_string();
    let program = |steps: u64| vec![own.clone(), ROLE.to_string(), steps.to_string()];
    Ok([program(STEPS), program(STEPS * (1000 + thousandths) / 1000)])
}

fn found_by_study(
    thousandths: u64,
    folder: &Path,
    asked: &Asked,
    number: u32,
) -> anyhow::Result<bool> {
    let [base, other] = programs(thousandths)?;
    let text = format!(
        "command = [{:?}, {ROLE:?}, \"{{steps}}\"]\n[factors]\nsteps = [{}, {}]\n[[claims]]\n\
         text = \"The second takes longer.\"\n\
         ratio = {{ of = {{ steps = {} }}, to = {{ steps = {} }}, response = \"wall\" }}\n\
         holds = \"> 1\"\n",
        base[0],
        base[2],
        other_level(thousandths, &other),
        other_level(thousandths, &other),
        base[2]
    );
    let file = folder.join("two.toml");
    std::fs::write(&file, text)?;
    let session = folder.join("session");
    let seed = (asked.seed * 1_000 + u64::from(number)).to_string();
    let output = Command::new(env!("CARGO_BIN_EXE_scruple"))
        .arg("study")
        .arg(&file)
        .args(["--seed", &seed, "--output"])
        .arg(&session)
        .stdin(Stdio::null())
        .output()
        .context("cannot start scruple")?;
    if !output.status.success() {
        bail!("scruple study: {}", String::from_utf8_lossy(&output.stderr));
    }
    let text = std::fs::read_to_string(session.join("summary.json"))?;
    let summary: Summary = serde_json::from_str(&text)?;
    let claim = summary.experiments.iter().flat_map(|it| &it.claims).next();
    let verdict = claim.context("the study has lost its claim")?.verdict;
    // Where nothing was planted either verdict is a false one.
    Ok(match thousandths {
        0 => verdict != Verdict::Inconclusive,
        _ => verdict == Verdict::Supported,
    })
}

/// The level of the second program: two levels of a factor cannot be the same number, so that where
/// nothing is planted it does one step more.
fn other_level(thousandths: u64, other: &[String]) -> String {
    if thousandths == 0 { (STEPS + 1).to_string() } else { other[2].clone() }
}

fn found_by_hyperfine(thousandths: u64, folder: &Path, time: Duration) -> anyhow::Result<bool> {
    let [base, other] = programs(thousandths)?;
    let begun = Instant::now();
    Command::new(&base[0]).args(&base[1..]).status()?;
    let once = begun.elapsed().max(Duration::from_millis(1));
    let runs = (time.as_secs_f64() / 2.0 / once.as_secs_f64()).max(10.0) as u64;
    let file = folder.join("hyperfine.json");
    let status = Command::new("hyperfine")
        .args(["--shell=none", "--style=none", "--warmup=3", "--runs", &runs.to_string()])
        .arg("--export-json")
        .arg(&file)
        .args([base.join(" "), other.join(" ")])
        .stdout(Stdio::null())
        .status()?;
    if !status.success() {
        bail!("hyperfine ended with {status}");
    }
    let told: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&file)?)?;
    let times = |at: usize| -> Vec<f64> {
        let all = told["results"][at]["times"].as_array();
        all.into_iter().flatten().filter_map(serde_json::Value::as_f64).collect()
    };
    let (a, b) = (times(0), times(1));
    let moments = |values: &[f64]| Some((analysis::mean(values)?, analysis::variance(values)?));
    let ((ma, va), (mb, vb)) = moments(&a).zip(moments(&b)).context("hyperfine gave no times")?;
    let (ea, eb) = (va / a.len() as f64, vb / b.len() as f64);
    let freedom =
        (ea + eb).powi(2) / (ea * ea / (a.len() - 1) as f64 + eb * eb / (b.len() - 1) as f64);
    let p = laws::tail::student_outside(freedom, (mb - ma) / (ea + eb).sqrt());
    Ok(p < WELCH && (mb > ma || thousandths == 0))
}
