//! `scruple core`: one program of the user's on the simulated core.

mod diagram;
mod late;
mod loaded;
pub(crate) mod options;
mod page;
mod recording;
mod run;
mod sizes;
mod sources;
mod trace;

pub(crate) use options::{Moment, Shape, Window};

use crate::cli::core::{CoreArgs, Example, Preset, WritesName};
use crate::destination::place;
use crate::exit::Exit;
use crate::{input, sweep, ui};
use anyhow::{Context, ensure};
use isa::Program;
use isa::cache::{self, Geometry, Writes};
use isa::pipeline::Parameters;
use isa::system::{Config, System};
use loaded::Loaded;
use model::CoreCurve;
use sources::File;

pub(crate) fn core(args: &CoreArgs) -> anyhow::Result<Exit> {
    if let Some(example) = args.example {
        ui::data(match example {
            Example::Trap => include_str!("examples/trap.s"),
            Example::Sort => include_str!("examples/sort.s"),
        })?;
        return Ok(Exit::Done);
    }
    if let Some(chosen) = &args.sweep {
        return sweep::sweep(args, chosen);
    }
    let files = [args.html.as_deref(), args.trace.as_deref()];
    let to_stdout = files.into_iter().flatten().filter(|path| input::is_standard(path)).count();
    let twice = "--json, --html - and --trace - each want standard output: give all but one a file";
    ensure!(to_stdout + usize::from(args.json) <= 1, twice);
    sys::interrupt::install()?;
    let config = config(args)?;
    let files = sources::read(args)?;
    let loaded = sources::load(args, &files, args.compressed)?;
    let html = place(args.html.as_deref(), "--html")?;
    let traced = place(args.trace.as_deref(), "--trace")?;
    let ran = run::run(&loaded, &config, args.pipeline)?;
    loaded.notes.iter().for_each(|note| ui::note(note));
    ran.notes(args.input.is_some()).iter().for_each(|note| ui::note(note));
    let exit = ran.exit();
    let mut result = run::result(&loaded, &config, &ran);
    if args.sizes {
        result.curves = curves(args, &files, &loaded, &config)?;
    }
    if to_stdout == 0 {
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
    if let Some(file) = traced {
        file.put(trace::text(&loaded)?.as_bytes()).context("--trace")?;
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
    let policy = experiments::policy(args.policy);
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
    files: &[File],
    loaded: &Loaded,
    config: &Config,
) -> anyhow::Result<Vec<CoreCurve>> {
    if loaded.lines.is_empty() {
        return Ok(vec![sizes::curve(loaded, "misses", config.instruction)?]);
    }
    let kinds = [("RV32", false), ("RV32C", true)].into_iter();
    let curve = |(name, compressed)| {
        sizes::curve(&sources::load(args, files, compressed)?, name, config.instruction)
    };
    kinds.map(curve).collect()
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
