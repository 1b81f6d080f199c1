//! `scruple core`: one program of the user's on the simulated core.

mod diagram;
pub(crate) mod options;
mod page;
mod recording;
mod run;
mod sizes;

pub(crate) use options::{Moment, Shape, Window};

use crate::cli::core::{CoreArgs, Example, PolicyName, Preset, WritesName};
use crate::destination::place;
use crate::exit::Exit;
use crate::{input, ui};
use anyhow::{Context, bail, ensure};
use isa::cache::{self, Geometry, Policy, Writes};
use isa::pipeline::Parameters;
use isa::system::{Config, System};
use isa::{Program, assembly};
use model::{CoreCurve, ProgramFile};
use run::Loaded;
use std::path::Path;

/// The most bytes of a file.
const FILE_BYTES_MAX: u64 = 256 << 20;

/// The most bytes of a text that is assembled.
const TEXT_BYTES_MAX: usize = 8 << 20;

/// The most bytes of a program's input.
const INPUT_BYTES_MAX: u64 = 16 << 20;

/// The mistakes of a text that are listed.
const MISTAKES_SHOWN: usize = 20;

/// The seed of random replacement.
const SEED: u64 = 1;

pub(crate) fn core(args: &CoreArgs) -> anyhow::Result<Exit> {
    let Some(path) = args.file.as_deref().filter(|_| args.example.is_none()) else {
        let text = match args.example {
            Some(Example::Trap) => include_str!("examples/trap.s"),
            _ => include_str!("examples/sort.s"),
        };
        ui::data(text)?;
        return Ok(Exit::Done);
    };
    let to_stdout = args.html.as_deref().is_some_and(input::is_standard);
    let twice = "--json and --html - each want standard output: give one of them a file";
    ensure!(!(to_stdout && args.json), twice);
    sys::interrupt::install()?;
    let config = config(args)?;
    let content = read(path)?;
    let loaded = load(args, path, &content, args.compressed)?;
    let html = place(args.html.as_deref(), "--html")?;
    let ran = run::run(&loaded, &config, args.pipeline)?;
    let exit = ran.exit();
    let mut result = run::result(&loaded, &config, &ran);
    if args.sizes {
        result.curves = curves(args, path, &content, &loaded, &config)?;
    }
    if !to_stdout {
        let words = |width| {
            let text = report::core(&result).text(width);
            match args.pipeline {
                Some(_) => text + "\n" + &diagram::text(&loaded, &config, &ran, width),
                None => text,
            }
        };
        ui::show(args.json, &result, words)?;
    }
    if let Some(file) = html {
        let recording = recording::record(&loaded, &config, &ran)?;
        file.put(page::page(&result, &recording)?.as_bytes()).context("--html")?;
    }
    if !args.json && !result.failure.is_empty() {
        ui::complain(&anyhow::anyhow!("{} failed: {}", result.file, result.failure));
    }
    Ok(exit)
}

/// Returns what the core is built of.
fn config(args: &CoreArgs) -> anyhow::Result<Config> {
    let mut core = match args.preset {
        Preset::Textbook => Parameters::textbook(),
        Preset::Cv32e40p => Parameters::cv32e40p(),
        Preset::Ultraembedded => Parameters::ultraembedded(),
    };
    args.set.iter().for_each(|setting| setting.apply(&mut core));
    core.check().context("--set")?;
    let policy = match args.policy {
        PolicyName::Lru => Policy::Lru,
        PolicyName::Fifo => Policy::Fifo,
        PolicyName::Random => Policy::Random { seed: SEED },
        PolicyName::Tree => Policy::Tree,
    };
    let cache = |shape: Option<Shape>, flag: &'static str| {
        let of = |geometry: Geometry| cache::Config::new(geometry, policy).context(flag);
        shape.map(|shape| of(shape.0)).transpose()
    };
    let writes = match args.writes {
        WritesName::Back => Writes { back: true, allocate: true },
        WritesName::Through => Writes { back: false, allocate: false },
    };
    let config = Config {
        core,
        instruction: cache(args.icache, "--icache")?,
        data: cache(args.dcache, "--dcache")?.map(|cache| cache.writing(writes)),
        second: cache(args.l2, "--l2")?,
        second_miss: args.l2_miss,
    };
    System::new(&config).context("--l2")?;
    Ok(config)
}

/// Returns the misses over the size of the instruction cache: of a file as it is, of a text in both kinds of
/// instructions.
fn curves(
    args: &CoreArgs,
    path: &Path,
    content: &[u8],
    loaded: &Loaded,
    config: &Config,
) -> anyhow::Result<Vec<CoreCurve>> {
    if loaded.lines.is_empty() {
        return Ok(vec![sizes::curve(loaded, "misses", config.instruction)?]);
    }
    let kinds = [("RV32", false), ("RV32C", true)].into_iter();
    let curve = |(name, compressed)| {
        sizes::curve(&load(args, path, content, compressed)?, name, config.instruction)
    };
    kinds.map(curve).collect()
}

fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    match input::is_standard(path) {
        true => input::bytes(path, FILE_BYTES_MAX),
        false => Ok(kit::programs::read(path).map_err(anyhow::Error::msg)?.0),
    }
}

/// Returns the program of a file; text is assembled.
fn load(args: &CoreArgs, path: &Path, content: &[u8], compressed: bool) -> anyhow::Result<Loaded> {
    let name = input::name(path);
    let given = args.input.as_deref().map(|path| input::bytes(path, INPUT_BYTES_MAX));
    let given = given.transpose().context("--input")?.unwrap_or_default();
    let file = ProgramFile {
        path: name.clone(),
        sha256: sys::hash::sha256(content),
        instructions_max: args.instructions,
        stack_bytes: args.stack,
        memory: args.memory,
        ..ProgramFile::default()
    };
    if content.starts_with(b"\x7fELF") {
        ensure!(!compressed, "--compressed is for assembly language; {name} is an ELF file");
        let program =
            experiments::load(content, &file).map_err(anyhow::Error::msg).context(name)?;
        return Ok(Loaded { program, lines: Vec::new(), file, input: given });
    }
    ensure!(!content.is_empty(), "{name} is empty");
    let text = std::str::from_utf8(content).ok().filter(|text| !text.contains('\0'));
    let Some(text) = text else {
        bail!(
            "{name} is neither an ELF file nor a text in UTF-8; scruple core takes an ELF file or a .s file"
        );
    };
    ensure!(
        text.len() <= TEXT_BYTES_MAX,
        "{name} has more than 8 MiB of text, the most that is assembled"
    );
    let assembled = assembly::assemble(text, &args.define, compressed);
    let assembly::Assembled { mut program, lines } =
        assembled.map_err(|mistakes| complain(&name, &mistakes))?;
    if let Some(memory) = args.memory {
        program.add_memory(memory.address, memory.bytes);
    }
    Ok(Loaded { program, lines, file, input: given })
}

/// Lists the mistakes of a text; the last line is the error of the command.
fn complain(name: &str, mistakes: &[assembly::Mistake]) -> anyhow::Error {
    let (last, others) = match mistakes {
        [only] => return anyhow::anyhow!("{name}:{only}"),
        _ => (mistakes.len(), mistakes.iter().take(MISTAKES_SHOWN)),
    };
    for mistake in others {
        ui::note(&format!("{name}:{mistake}"));
    }
    anyhow::anyhow!("{name} cannot be assembled: {last} mistakes")
}

/// Returns the name of an address: a label that begins there.
fn label(program: &Program, address: u32) -> Option<String> {
    let of_loader = ["_end", "__global_pointer$"];
    let is_label = |symbol: &&isa::Symbol| {
        symbol.address == address && !of_loader.contains(&symbol.name.as_str())
    };
    let found = program.symbols.iter().filter(is_label).max_by_key(|symbol| symbol.size)?;
    Some(wording::short(&found.name, 40))
}
