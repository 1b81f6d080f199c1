//! What a program does, step by step, in a file of the session.

use crate::conduct::Session;
use anyhow::Result;
use isa::trace;
use model::ProgramFile;
use std::io::{BufWriter, Write};
use store::Beside;

/// The most steps that a trace holds: some 15 MB.
pub(super) const STEPS_MAX: u64 = 200_000;

/// Writes the trace of a program.
pub(super) fn write(session: &Session, file: &ProgramFile, content: &[u8]) -> Result<()> {
    let (out, path) =
        session.writer.create_beside(Beside::Traces, &format!("{}.txt", file.level))?;
    let mut out = BufWriter::new(out);
    text(&mut out, file, content)?.and_then(|()| out.flush()).map_err(|error| {
        // A trace that does not say how it ends is none.
        let _ = std::fs::remove_file(&path);
        let (path, dir) = (path.display(), session.dir().display());
        anyhow::anyhow!(
            "cannot write {path}: {error}; to go on without traces: scruple run --resume {dir}"
        )
    })
}

/// Returns the trace: what the outer result says is of the program, what the inner one says of writing.
fn text(out: &mut impl Write, file: &ProgramFile, content: &[u8]) -> Result<std::io::Result<()>> {
    let program = experiments::load(content, file).map_err(anyhow::Error::msg)?;
    let mut machine = experiments::start(&program, file).map_err(anyhow::Error::msg)?;
    let most = STEPS_MAX.min(file.instructions_max);
    let mut lines = || -> std::io::Result<()> {
        // A path is the user's, and may hold anything.
        let path = wording::cleaned(&file.path);
        writeln!(out, "# {}: {path}\n# SHA-256 {}", file.level, file.sha256)?;
        writeln!(out, "#\n{}#\n# {}", trace::LEGEND, trace::FIELDS.join(" "))?;
        for _ in 0..most {
            match trace::step(&mut machine, &program) {
                Ok(line) => writeln!(out, "{line}")?,
                Err(stopped) => return writeln!(out, "# end: {stopped}"),
            }
        }
        match trace::step(&mut machine, &program) {
            Ok(_) => writeln!(out, "# cut: {most} steps are the most that are written; it goes on"),
            Err(stopped) => writeln!(out, "# end: {stopped}"),
        }
    };
    Ok(lines())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests {
    use super::text;
    use model::ProgramFile;

    fn traced(instructions_max: u64) -> String {
        let file = ProgramFile {
            level: "kernel".into(),
            path: "/x/kern\nel".into(),
            sha256: "00".repeat(32),
            instructions_max,
            ..ProgramFile::default()
        };
        let elf = include_bytes!("../../../isa/reference/gcc14-rv32imc.elf");
        let mut out = Vec::new();
        text(&mut out, &file, elf).unwrap().unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_trace_has_each_step_and_says_how_it_ends() {
        let all = traced(10_000_000);
        let steps: Vec<&str> = all.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(steps.len(), 143_467);
        let short = |line: &&&str| line.split_whitespace().nth(2) == Some("2");
        assert_eq!(steps.iter().filter(short).count(), 102_486);
        assert!(steps[0].ends_with(" main"), "{}", steps[0]);
        assert!(all.ends_with("left the program's instructions to 0x00000000\n"));
        assert!(all.starts_with("# kernel: /x/kern"), "{}", &all[..40]);
    }

    #[test]
    fn a_limit_is_said_on_the_last_line() {
        let cut = traced(10);
        assert_eq!(cut.lines().filter(|line| !line.starts_with('#')).count(), 10);
        assert!(cut.lines().last().unwrap().starts_with("# cut: 10 steps are the most"));
        assert!(traced(143_467).lines().last().unwrap().starts_with("# end: "));
    }
}
