//! Runs the programs of the test on the RTL core ultraembedded/riscv under Icarus Verilog and compares
//! its cycles with those of the pipeline: `cargo xtask rtl DIR`, where DIR is a checkout of the core.
//! It ends with code 3 if a difference has no reason, or if the core takes other cycles than recorded.

#![expect(clippy::unwrap_used, reason = "a benchmark may stop at the first surprise")]

#[path = "../tests/it/rtl/mod.rs"]
mod rtl;

use rtl::{compute, fault, measurements, samples, table};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const TESTBENCH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/rtl/testbench.v");
const RECORDED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/rtl/recorded.csv");

fn main() -> ExitCode {
    // cargo adds words of its own.
    let words: Vec<String> = std::env::args().skip(1).collect();
    let Some(folder) = words.iter().find(|word| !word.starts_with("--")) else {
        println!("no folder of the core is named; docs/machine.md says how");
        return ExitCode::SUCCESS;
    };
    match compare(Path::new(folder), words.iter().any(|word| word == "--write")) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(3),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns whether the pipeline does what the core does, and the core what is recorded.
fn compare(folder: &Path, write: bool) -> Result<bool, String> {
    let sources = sources(folder)?;
    let place = tempfile::tempdir().map_err(|error| error.to_string())?;
    let simulation = place.path().join("core");
    let mut compile = Command::new("iverilog");
    compile.args(["-g2005", "-o"]).arg(&simulation).arg("-I").arg(folder.join("core/riscv"));
    run(compile.arg(TESTBENCH).args(&sources))?;
    let mut measured = String::from("program,cycles,result\n");
    for sample in samples() {
        let (name, program) = (sample.name, &sample.program);
        let image = place.path().join("image");
        let words = program.segments.iter().map(|segment| (segment.address, &segment.bytes[..]));
        std::fs::write(&image, hex(words)).map_err(|error| error.to_string())?;
        let mut simulate = Command::new("vvp");
        simulate.arg("-n").arg(&simulation).arg(format!("+image={}", image.display()));
        let said = run(&mut simulate)?;
        let numbers: Vec<u32> = said.split_whitespace().flat_map(str::parse).collect();
        let [cycles, result] = numbers[..] else {
            return Err(format!("{name}: the core did not come to the program's end: {said}"));
        };
        println!("{name}: {cycles}");
        let _ = writeln!(measured, "{name},{cycles},{result}");
    }
    let rows: Vec<_> = measurements(&measured)
        .into_iter()
        .zip(samples())
        .map(|((name, rtl), sample)| (name, rtl, compute(&sample.program)))
        .collect();
    println!("\n{}", table(&rows));
    let mut faults: Vec<String> = rows.iter().filter_map(fault).collect();
    if write {
        std::fs::write(RECORDED, &measured).map_err(|error| format!("{RECORDED}: {error}"))?;
    } else if std::fs::read_to_string(RECORDED).is_ok_and(|recorded| recorded != measured) {
        faults.push(format!("the core takes other cycles than {RECORDED} says; see --write"));
    }
    faults.iter().for_each(|fault| println!("{fault}"));
    Ok(faults.is_empty())
}

/// Returns the core's files.
fn sources(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let place = folder.join("core/riscv");
    let files = place.read_dir().map_err(|error| format!("{}: {error}", place.display()))?;
    let mut sources: Vec<PathBuf> = files.flatten().map(|file| file.path()).collect();
    sources.retain(|file| file.extension().is_some_and(|extension| extension == "v"));
    // A register file of one vendor's parts, which the default configuration does not use.
    sources.retain(|file| !file.ends_with("riscv_xilinx_2r1w.v"));
    sources.sort();
    Ok(sources)
}

/// Returns memory as `$readmemh` reads it.
fn hex<'a>(segments: impl Iterator<Item = (u32, &'a [u8])>) -> String {
    let mut text = String::new();
    for (address, bytes) in segments {
        let _ = writeln!(text, "@{:x}", address / 4);
        for bytes in bytes.chunks(4) {
            let mut word = [0; 4];
            word[..bytes.len()].copy_from_slice(bytes);
            let _ = writeln!(text, "{:08x}", u32::from_le_bytes(word));
        }
    }
    text
}

/// Returns what a command printed.
fn run(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("cannot start {name}: {error}"))?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("{name}: {}: {}", output.status, complaint.trim()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
