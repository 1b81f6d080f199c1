//! What a program does, step by step, as text.

use super::loaded::Loaded;
use isa::trace;
use std::fmt::Write;

/// The most steps that a trace holds: some 15 MB.
const STEPS_MAX: u64 = 200_000;

/// Returns the trace of a program. Each instruction counts as one cycle in it.
pub(super) fn text(loaded: &Loaded) -> anyhow::Result<String> {
    let (file, mut machine) = (&loaded.file, loaded.start()?);
    let most = STEPS_MAX.min(file.instructions_max);
    // A path is the user's, and may hold anything.
    let path = wording::cleaned(&file.path);
    let mut out = format!("# {path}\n# SHA-256 {}\n#\n{}#\n", file.sha256, trace::LEGEND);
    writeln!(out, "# {}", trace::FIELDS.join(" "))?;
    for _ in 0..most {
        match trace::step(&mut machine, &loaded.program) {
            Ok(line) => writeln!(out, "{line}")?,
            Err(stopped) => {
                writeln!(out, "# end: {stopped}")?;
                return Ok(out);
            }
        }
    }
    match trace::step(&mut machine, &loaded.program) {
        Ok(_) => writeln!(out, "# cut: {most} steps are the most that are written; it goes on")?,
        Err(stopped) => writeln!(out, "# end: {stopped}")?,
    }
    Ok(out)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests {
    use super::text;
    use crate::core::loaded::Loaded;
    use model::ProgramFile;

    fn traced(instructions_max: u64) -> String {
        let file = ProgramFile {
            path: "/x/kern\nel".into(),
            sha256: "00".repeat(32),
            instructions_max,
            ..ProgramFile::default()
        };
        let elf = include_bytes!("../../../isa/reference/gcc14-rv32imc.elf");
        let program = experiments::load(elf, &file).unwrap();
        let loaded = Loaded {
            program,
            lines: Vec::new(),
            files: Vec::new(),
            notes: Vec::new(),
            file,
            input: Vec::new(),
            folder: None,
            arguments: Vec::new(),
            skips_ebreak: false,
        };
        text(&loaded).unwrap()
    }

    #[test]
    fn a_trace_has_each_step_and_says_how_it_ends() {
        let all = traced(10_000_000);
        let steps: Vec<&str> = all.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(steps.len(), 143_467);
        let short = |line: &&&str| line.split_whitespace().nth(2) == Some("2");
        assert_eq!(steps.iter().filter(short).count(), 102_486);
        assert!(steps[0].ends_with(" main"), "{}", steps[0]);
        assert!(all.ends_with("left the program's instructions to 0xfffffffc\n"));
        assert!(all.starts_with("# /x/kern"), "{}", &all[..40]);
    }

    #[test]
    fn a_limit_is_said_on_the_last_line() {
        let cut = traced(10);
        assert_eq!(cut.lines().filter(|line| !line.starts_with('#')).count(), 10);
        assert!(cut.lines().last().unwrap().starts_with("# cut: 10 steps are the most"));
        assert!(traced(143_467).lines().last().unwrap().starts_with("# end: "));
    }
}
