//! What looks at a program cost it: `cargo bench -p lab --bench looks -- [PAIRS] [PROGRAM...]`.
//!
//! Each pair is three short sessions on the programs of looks.c, one with looks and two with `look_every = "never"`, in
//! changing order; the environment's SCRUPLE names another binary. Prints for each program the ratio of elapsed
//! times, with looks to without, with its 95 % interval (Student's t of the logarithms), and the same of two
//! sessions without looks.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints, and may stop")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

const PROGRAMS: [&str; 6] = [
    "two-threads",
    "short-threads",
    "short-processes",
    "crowd",
    "ping-pong-one-cpu",
    "ping-pong-two-cpus",
];

/// The pairs of sessions where nothing else is asked for.
const PAIRS: u32 = 20;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if !args.iter().any(|arg| arg == "--bench") {
        return;
    }
    let pairs = args.iter().find_map(|arg| arg.parse().ok()).unwrap_or(PAIRS);
    let is_chosen = |name: &&str| args.iter().any(|arg| arg == name);
    let all = !PROGRAMS.iter().any(is_chosen);
    let programs: Vec<&str> = PROGRAMS.into_iter().filter(|name| all || is_chosen(name)).collect();
    let folder = std::env::temp_dir().join(format!("scruple-looks-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/looks.c");
    let compiled = Command::new("cc")
        .args(["-O2", "-pthread", "-o"])
        .arg(folder.join("looks"))
        .arg(source)
        .status();
    assert!(compiled.unwrap().success(), "cc does not compile looks.c");
    let (mut with, mut control) = (BTreeMap::new(), BTreeMap::new());
    for pair in 0..pairs {
        // Which comes first changes, so that a drift of the machine cancels out.
        let order = [[true, false, false], [false, true, false], [false, false, true]];
        let mut walls =
            order[pair as usize % 3].map(|looks| (looks, session(&folder, &programs, looks, pair)));
        walls.sort_by_key(|(looks, _)| *looks);
        let [(_, one), (_, other), (_, looked)] = &walls;
        for (name, wall) in one {
            control.entry(name.clone()).or_insert_with(Vec::new).push((other[name] / wall).ln());
            let both = (wall * other[name]).sqrt();
            with.entry(name.clone()).or_insert_with(Vec::new).push((looked[name] / both).ln());
        }
    }
    println!("| program | with looks : without | without : without |\n|---|---|---|");
    for name in programs {
        println!("| {name} | {} | {} |", ratio(&with[name]), ratio(&control[name]));
    }
    let _ = std::fs::remove_dir_all(&folder);
}

/// Returns the geometric mean of the elapsed times of each program in a session.
fn session(folder: &Path, programs: &[&str], looks: bool, seed: u32) -> BTreeMap<String, f64> {
    let levels: Vec<String> = programs.iter().map(|name| format!("{name:?}")).collect();
    let levels = levels.join(", ");
    let every = if looks { "" } else { "look_every = \"never\"\n" };
    let study = format!(
        "command = [\"./looks\", \"{{what}}\"]\nworkers = \"2\"\n{every}[factors]\nwhat = [{levels}]\n"
    );
    let (file, place) = (folder.join("study.toml"), folder.join("session"));
    std::fs::write(&file, study).unwrap();
    let own = std::env::var("SCRUPLE").unwrap_or_else(|_| env!("CARGO_BIN_EXE_scruple").into());
    let output = Command::new(own)
        .args(["study", "--runs", "2", "--seed", &seed.to_string(), "--output"])
        .arg(&place)
        .arg(&file)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut logarithms: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for line in std::fs::read_to_string(place.join("trials.ndjson")).unwrap().lines() {
        let Ok(record) = serde_json::from_str::<model::Record>(line) else { continue };
        let series = record.measured.iter().flat_map(|measured| &measured.series);
        let wall = series.filter(|one| &*one.response == "wall_ns").map(|one| one.values[0]).next();
        let (Some(what), Some(wall)) = (record.treatment.level("what"), wall) else { continue };
        logarithms.entry(what.into()).or_default().push((wall as f64).ln());
    }
    std::fs::remove_dir_all(&place).unwrap();
    let mean = |all: &Vec<f64>| (all.iter().sum::<f64>() / all.len() as f64).exp();
    logarithms.iter().map(|(name, all)| (name.clone(), mean(all))).collect()
}

/// Returns a ratio with its interval, of its logarithms.
fn ratio(logarithms: &[f64]) -> String {
    let count = logarithms.len() as f64;
    let mean = logarithms.iter().sum::<f64>() / count;
    let squares: f64 = logarithms.iter().map(|x| (x - mean).powi(2)).sum();
    let error = (squares / (count - 1.0) / count).sqrt();
    let wide = laws::tail::student_quantile(count - 1.0, 0.05) * error;
    let [point, low, high] = [mean, mean - wide, mean + wide].map(f64::exp);
    format!("{point:.3} [{low:.3}, {high:.3}]")
}
