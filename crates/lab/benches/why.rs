//! Which resource is named of programs whose limit is known: `cargo test -p lab --bench why -- --bench`.
//!
//! `-- --bench K` conducts K sessions each (1 by default); a program's name conducts those of it
//! alone. The environment's SCRUPLE names another binary. The programs are in why.c beside this file, which cc
//! compiles, and tools of the machine; what is missing is skipped with the reason.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints, and may stop")]

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

const JSON: &str = "import json; t = json.dumps([{'a': i, 'b': [str(i)] * 5} for i in range(60000)]); \
                    [json.loads(t) for _ in range(4)]";
const SQLITE: &str = "import sqlite3, os; c = sqlite3.connect('FOLDER/db'); \
                      c.execute('create table if not exists t(x)'); \
                      [(c.execute('insert into t values(?)', (i,)), c.commit()) for i in range(SYNCS // 3)]; \
                      c.close(); os.remove('FOLDER/db')";

/// A program with its command, and what may be named of it.
const PROGRAMS: [(&str, &[&str], &[&str]); 10] = [
    ("arithmetic", &["PLANTED", "arithmetic"], &["cpu"]),
    ("chase", &["PLANTED", "chase"], &["memory", "cache"]),
    ("stream", &["PLANTED", "stream"], &["memory"]),
    ("fsync", &["PLANTED", "fsync", "FOLDER/file", "SYNCS"], &["storage"]),
    ("sleep", &["PLANTED", "sleep"], &["timer"]),
    ("ping-pong", &["PLANTED", "ping-pong"], &["queue", "message", "kernel"]),
    ("getppid", &["PLANTED", "getppid"], &["kernel"]),
    ("grep", &["grep", "-rl", "uint8_t", "/usr/include"], &["cpu", "kernel", "storage"]),
    ("json", &["python3", "-c", JSON], &["cpu"]),
    ("sqlite", &["python3", "-c", SQLITE], &["storage"]),
];

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if !args.iter().any(|arg| arg == "--bench") {
        return;
    }
    let sessions = args.iter().find_map(|arg| arg.parse().ok()).unwrap_or(1);
    let is_chosen = |name: &&str| args.iter().any(|arg| arg == name);
    let all = !PROGRAMS.iter().any(|(name, ..)| is_chosen(name));
    let folder = std::env::temp_dir().join(format!("scruple-why-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let planted = folder.join("planted");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/why.c");
    let compiled = Command::new("cc").arg("-O2").arg(source).arg("-o").arg(&planted).status();
    let is_compiled = compiled.is_ok_and(|status| status.success());
    let syncs = syncs(&folder.join("file")).to_string();
    let mut grades: BTreeMap<&str, u32> = BTreeMap::new();
    for (name, words, expected) in PROGRAMS.into_iter().filter(|(name, ..)| all || is_chosen(name))
    {
        if words[0] == "PLANTED" && !is_compiled {
            println!("{name:10} skipped: cc does not compile why.c");
            continue;
        }
        let fill = |word: &&str| {
            let word = word.replace("PLANTED", &planted.to_string_lossy());
            word.replace("FOLDER", &folder.to_string_lossy()).replace("SYNCS", &syncs)
        };
        let words: Vec<String> = words.iter().map(fill).collect();
        for seed in 0..sessions {
            let (grade, said) = session(&folder.join("session"), &words, seed, expected);
            *grades.entry(grade).or_default() += 1;
            println!("{name:10} {grade:11} {said}");
        }
    }
    println!("{grades:?}");
    let _ = std::fs::remove_dir_all(&folder);
}

/// Returns how often a small write is synchronised in half a second: disks differ a hundredfold.
fn syncs(path: &Path) -> u32 {
    let mut file = std::fs::File::create(path).unwrap();
    let began = Instant::now();
    for _ in 0..50 {
        file.write_all(&[7; 4096]).unwrap();
        file.sync_all().unwrap();
    }
    (25.0 / began.elapsed().as_secs_f64()).clamp(30.0, 20_000.0) as u32
}

/// Conducts one session, and returns its grade with what it said.
fn session(dir: &Path, words: &[String], seed: u32, expected: &[&str]) -> (&'static str, String) {
    let own = std::env::var("SCRUPLE").unwrap_or_else(|_| env!("CARGO_BIN_EXE_scruple").into());
    let output = Command::new(own)
        .args(["why", "--json", "--seed", &seed.to_string(), "--output"])
        .arg(dir)
        .arg("--")
        .args(words)
        .output()
        .unwrap();
    let _ = std::fs::remove_dir_all(dir);
    let Ok(answered) = serde_json::from_slice::<serde_json::Value>(&output.stdout) else {
        let said = String::from_utf8_lossy(&output.stderr);
        return ("cannot tell", said.lines().last().unwrap_or_default().into());
    };
    let kernel = (answered["named_kernel"] == true).then_some("kernel");
    let named = answered["named"].as_str().or_else(|| answered["named_wait"].as_str()).or(kernel);
    let open: Vec<&str> =
        answered["open"].as_array().into_iter().flatten().filter_map(|it| it.as_str()).collect();
    let grade = match named {
        None => "cannot tell",
        Some(name) if expected.contains(&name) => "right",
        // It says that it may be memory.
        Some("cpu") if open.contains(&"memory") => "cannot tell",
        Some(_) => "wrong",
    };
    (grade, answered["answer"].as_str().unwrap_or_default().into())
}
