//! The command line of `scruple figure`.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Save a figure as SVG, PNG or PDF, or its numbers as CSV
///
/// FIGURE is a figure of the report, by its name (create-chart-1) or by a part of its title that no
/// other figure has; without it, all are listed. Or it is what to draw: 'RESPONSE over FACTOR by FACTOR
/// where LEVEL', with EXPERIMENT. before the response if several experiments have it.
/// docs/figures.md shows the way into a paper.
#[derive(Debug, Args)]
pub(crate) struct FigureArgs {
    /// The session [default: the latest in scruple-sessions], then the figure
    #[arg(value_names = ["SESSION", "FIGURE"], num_args = 0..=2)]
    pub(crate) words: Vec<String>,
    /// Write to FILE, as its ending says: .svg, .png, .pdf or .csv (`-`: SVG on standard output)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Set the width: mm, cm, in, pt or px [default: 180mm; for slides 960px]
    #[arg(long, value_name = "WIDTH", value_parser = width)]
    pub(crate) width: Option<Width>,
    /// Set what it is for
    #[arg(long, value_enum, default_value_t = ThemeName::Paper)]
    pub(crate) theme: ThemeName,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ThemeName {
    /// Print: small letters on white
    Paper,
    /// A projector: large letters on white
    Slide,
    /// A dark screen
    Dark,
}

/// The width of a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Width {
    /// In pixels of CSS.
    pub(crate) px: f64,
    /// Whether it was said in a unit of paper.
    pub(crate) on_paper: bool,
}

/// The narrowest and the widest picture, in pixels of CSS: 40 mm and 2 m.
const WIDTH_PX: std::ops::RangeInclusive<f64> = 150.0..=8000.0;

/// Parses the width of a picture.
pub(crate) fn width(text: &str) -> Result<Width, String> {
    let number = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = text[number.len()..].to_ascii_lowercase();
    let px = match unit.as_str() {
        "px" | "" => 1.0,
        "mm" => 96.0 / 25.4,
        "cm" => 96.0 / 2.54,
        "in" => 96.0,
        "pt" => 96.0 / 72.0,
        _ => return Err("its unit is none of mm, cm, in, pt, px".into()),
    };
    let px = number.trim().parse::<f64>().map_err(|_| "expected a width such as 85mm")? * px;
    match WIDTH_PX.contains(&px) {
        true => Ok(Width { px, on_paper: !matches!(unit.as_str(), "px" | "") }),
        false => Err("expected a width from 40mm to 2000mm (150px to 8000px)".into()),
    }
}
