//! `scruple figure`: a figure of a session in a file of its own.

use crate::ask::only;
use crate::cli::figure::{FigureArgs, ThemeName, Width};
use crate::destination::Destination;
use crate::exit::Exit;
use crate::{input, lookup, session, ui};
use anyhow::{Context, bail, ensure};
use model::{Design, Manifest};
use report::{Saved, Sheet, Theme};
use std::path::{Path, PathBuf};
use store::Stored;

/// Figures that an error names.
const NAMED_MAX: usize = 6;

/// What a file holds, by its ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Svg,
    Png,
    Pdf,
    Csv,
}

pub(crate) fn figure(args: &FigureArgs) -> anyhow::Result<Exit> {
    let form = args.output.as_deref().map(form).transpose()?;
    let (dir, wanted) = session_and_figure(&args.words)?;
    let mut stored = store::open(&dir)?;
    session::say_what_is_odd(&stored);
    let Some(wanted) = wanted else {
        ensure!(
            args.output.is_none(),
            "which figure? `scruple figure {}` lists them",
            dir.display()
        );
        return list(&figures(&stored, sheet(args)));
    };
    let drawn = match expression(&stored.manifest, wanted) {
        Some(design) => {
            let design = design?;
            let name = format!("{}-chart-1", design.id);
            stored.manifest.designs = vec![design];
            let found = figures(&stored, sheet(args)).into_iter().find(|one| one.name == name);
            found.with_context(|| {
                format!("{wanted:?} has nothing to draw: no trial measured it here")
            })?
        }
        None => find(figures(&stored, sheet(args)), wanted)?,
    };
    let (Some(form), Some(path)) = (form, args.output.as_deref()) else {
        bail!("where to? -o FILE.svg, FILE.png, FILE.pdf or FILE.csv; `-o -` prints the SVG");
    };
    write(&drawn, form, path)?;
    if !input::is_standard(path) {
        ui::note(&format!("{}. {}", drawn.title, drawn.caption));
    }
    Ok(Exit::Done)
}

/// Returns the form that a file's ending tells.
fn form(path: &Path) -> anyhow::Result<Form> {
    let ending = path.extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase);
    Ok(match ending.as_deref() {
        _ if input::is_standard(path) => Form::Svg,
        Some("svg") => Form::Svg,
        Some("png") => Form::Png,
        Some("pdf") => Form::Pdf,
        Some("csv") => Form::Csv,
        _ => bail!("{}: its ending is none of .svg, .png, .pdf and .csv", path.display()),
    })
}

/// Returns the folder of the session, and the figure that was named. One word is a session if it is the path of
/// something that exists, or may be one.
fn session_and_figure(words: &[String]) -> anyhow::Result<(PathBuf, Option<&str>)> {
    let (session, figure) = match words {
        [session, figure] => (Some(session), Some(figure)),
        [word] if Path::new(word).exists() || word.contains('/') => (Some(word), None),
        words => (None, words.first()),
    };
    Ok((lookup::session(session.map(Path::new))?, figure.map(String::as_str)))
}

fn sheet(args: &FigureArgs) -> Sheet {
    let theme = match args.theme {
        ThemeName::Paper => Theme::Paper,
        ThemeName::Slide => Theme::Slide,
        ThemeName::Dark => Theme::Dark,
    };
    let usual = match theme {
        Theme::Slide => Width { px: 960.0, on_paper: false },
        _ => Width { px: 180.0 * 96.0 / 25.4, on_paper: true },
    };
    let Width { px, on_paper } = args.width.unwrap_or(usual);
    Sheet { theme, width_px: px, in_mm: on_paper }
}

fn figures(stored: &Stored, sheet: Sheet) -> Vec<Saved> {
    let Stored { manifest, records, .. } = stored;
    let summary = session::summarise(manifest, records, &manifest.designs);
    report::figures(&report::Session { manifest, records, summary: &summary }, sheet)
}

/// Prints the names and titles of figures.
fn list(figures: &[Saved]) -> anyhow::Result<Exit> {
    let wide = figures.iter().map(|one| one.name.chars().count()).max().unwrap_or(0);
    let line = |one: &Saved| format!("{:wide$}  {}\n", one.name, one.title);
    ui::result(figures.iter().map(line).collect::<String>().trim_end())?;
    Ok(Exit::Done)
}

/// Returns the figure of a name, or the only one with a part of its title.
fn find(mut figures: Vec<Saved>, wanted: &str) -> anyhow::Result<Saved> {
    let low = wanted.to_lowercase();
    if let Some(at) = figures.iter().position(|one| one.name == wanted) {
        return Ok(figures.swap_remove(at));
    }
    let found: Vec<usize> = (0..figures.len())
        .filter(|at| {
            let Saved { name, title, .. } = &figures[*at];
            title.to_lowercase().contains(&low) || name.to_lowercase().contains(&low)
        })
        .collect();
    let whole = found.iter().find(|at| figures[**at].title.to_lowercase() == low);
    match (found.as_slice(), whole) {
        (_, Some(at)) | ([at], None) => return Ok(figures.swap_remove(*at)),
        ([], None) => {}
        (several, None) => {
            let named = several.iter().take(NAMED_MAX).map(|at| &figures[*at]);
            let named: Vec<String> =
                named.map(|one| format!("{} ({})", one.name, one.title)).collect();
            bail!(
                "{} figures have {wanted:?} in their title, such as {}",
                several.len(),
                named.join(", ")
            );
        }
    }
    let hint = ask::hint(wanted, figures.iter().map(|one| one.name.as_str()));
    bail!(
        "no figure of this session is named {wanted:?}; {hint} `scruple figure` lists all with their titles"
    )
}

/// Returns the design that an expression is about, with the figure that it describes as the only one; `None`
/// if the text is no expression.
fn expression(manifest: &Manifest, text: &str) -> Option<anyhow::Result<Design>> {
    let named = ask::experiment(text);
    let plot =
        named.as_ref().and_then(|name| text.trim().strip_prefix(name.as_str())?.strip_prefix('.'));
    let plot = plot.unwrap_or(text);
    let known: Vec<_> = manifest
        .designs
        .iter()
        .filter(|design| named.as_ref().is_none_or(|name| design.id == *name))
        .collect();
    let is_response = |design: &&Design| {
        let first =
            plot.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or_default();
        design.responses.iter().any(|response| response.name == first)
    };
    let words = [" over ", " by ", " where "];
    let looks_like_one = words.iter().any(|word| plot.contains(word)) && !plot.contains(". ");
    let names_one = plot.split(' ').next().is_some_and(|first| first.contains('_'));
    if !(known.iter().any(is_response) || looks_like_one && names_one) {
        return None;
    }
    let found = only(known, plot, ask::plot, "can draw this").transpose()?;
    Some(found.map(|(design, plot)| {
        let title = title(design, &plot);
        let figure = model::Figure { title, plot, ..model::Figure::default() };
        Design { figures: vec![figure], ..design.clone() }
    }))
}

/// Returns the title of a figure that an expression describes.
fn title(design: &Design, plot: &model::Plot) -> String {
    let label = |name: &String| {
        design.response(name).map_or(name.clone(), |response| response.label.clone())
    };
    let labels: Vec<String> = plot.responses.iter().map(label).collect();
    let plain = |name: &String| name.replace('_', " ");
    let over = plot.over.iter().map(|name| format!(" over {}", plain(name)));
    let by: Vec<String> = plot.by.iter().map(plain).collect();
    let by = (!by.is_empty()).then(|| format!(" by {}", wording::listed(&by)));
    wording::listed(&labels) + &over.chain(by).collect::<String>()
}

/// Writes a figure in a form.
fn write(figure: &Saved, form: Form, path: &Path) -> anyhow::Result<()> {
    let nothing = || format!("figure {} has nothing to draw", figure.name);
    let svg = || figure.svg.as_deref().with_context(nothing);
    let bytes = match form {
        Form::Svg => svg()?.as_bytes().to_vec(),
        Form::Csv => {
            let csv = figure.csv.as_deref();
            csv.with_context(|| format!("figure {} has no table of numbers", figure.name))?.into()
        }
        Form::Png => pixels::png(svg()?)?,
        Form::Pdf => pixels::pdf(svg()?)?,
    };
    Destination::open(Some(path), false)?.put(&bytes)
}

/// Pictures of dots, and pages.
mod pixels {
    use anyhow::{Context, bail};
    use resvg::tiny_skia::{Pixmap, Transform};
    use svg2pdf::usvg::{Options, Tree, fontdb::Database};

    /// Pixels of a PNG for one of the picture.
    const SCALE: f32 = 2.0;

    /// Families that have upright and bold letters of a width as estimated, the nearest first.
    const FAMILIES: [&str; 6] =
        ["Helvetica", "Arial", "Liberation Sans", "DejaVu Sans", "Noto Sans", "FreeSans"];

    fn read(svg: &str) -> anyhow::Result<Tree> {
        let mut fonts = Database::new();
        fonts.load_system_fonts();
        let known = |family: &str| {
            fonts.faces().any(|face| face.families.iter().any(|(name, _)| name == family))
        };
        let family = FAMILIES.iter().find(|family| known(family)).map(ToString::to_string);
        let any = || fonts.faces().next().and_then(|face| Some(face.families.first()?.0.clone()));
        let Some(family) = family.or_else(any) else {
            bail!(
                "there is no font here to draw letters with: install one (such as fonts-dejavu), or write \
                 .svg, which takes the fonts of its viewer"
            );
        };
        fonts.set_sans_serif_family(family);
        let options = Options { fontdb: fonts.into(), ..Options::default() };
        Tree::from_str(svg, &options).context("the picture cannot be read")
    }

    pub(super) fn png(svg: &str) -> anyhow::Result<Vec<u8>> {
        let tree = read(svg)?;
        let size = tree.size().to_int_size().scale_by(SCALE).context("the picture is too small")?;
        let mut pixels =
            Pixmap::new(size.width(), size.height()).context("the picture is too large")?;
        resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
        Ok(pixels.encode_png()?)
    }

    pub(super) fn pdf(svg: &str) -> anyhow::Result<Vec<u8>> {
        let page = svg2pdf::PageOptions { dpi: 96.0 };
        svg2pdf::to_pdf(&read(svg)?, svg2pdf::ConversionOptions::default(), page)
            .map_err(|error| anyhow::anyhow!("the picture cannot become a PDF: {error}"))
    }
}
