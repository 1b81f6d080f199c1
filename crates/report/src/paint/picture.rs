//! A drawing as a picture that needs no page: what a page lays out as its window is wide, at absolute places.
//!
//! There is one drawing of each figure, the page's. Here its shares of a width become lengths, what it takes
//! from elsewhere is put in its place, and the few things around it (titles, legend, panels, rows) are laid
//! out. How wide a text is depends on the viewer's fonts: the estimate is that of a wide one.

use crate::chart::{MARKS, px, style_class};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The look of a page, which has the colours, and that of a picture.
const COLOURS: &str = include_str!("page.css");
const STYLE: &str = include_str!("picture.css");

const FONTS: &str = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif";

/// Sizes of letters, lines and gaps, in units of the picture.
const TITLE: f64 = 15.0;
const TEXT: f64 = 13.0;
const SMALL: f64 = 12.0;
const SOURCE: f64 = 10.5;
const LINE: f64 = 17.0;
const MARGIN: f64 = 10.0;
const GAP: f64 = 14.0;

/// The least width of a panel, the width of its axis of values, and the least width of the strip of a row
/// that has its name and number beside it.
const PANEL_MIN: f64 = 290.0;
const AXIS: f64 = 58.0;
const STRIP_MIN: f64 = 150.0;

/// The width in which what a drawing stretches was drawn: see `chart::lines`.
const STRETCHED: f64 = 1000.0;
/// Attributes that a picture keeps; the others are for a page's script and its readers.
const KEPT: [&str; 17] = [
    "class",
    "x",
    "y",
    "x1",
    "x2",
    "y1",
    "y2",
    "cx",
    "cy",
    "width",
    "height",
    "rx",
    "d",
    "transform",
    "text-anchor",
    "dx",
    "dy",
];

/// What a picture is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// Print: small letters on white.
    #[default]
    Paper,
    /// A projector: large letters on white.
    Slide,
    /// A dark screen.
    Dark,
}

/// What a picture is drawn on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sheet {
    /// What it is for.
    pub theme: Theme,
    /// Its width in pixels of CSS, 96 to an inch.
    pub width_px: f64,
    /// Whether the picture says its size in millimetres.
    pub in_mm: bool,
}

/// What stands on a picture around its drawing.
pub(crate) struct Around<'a> {
    pub(crate) title: &'a str,
    /// The parts of a drawing: the number of each, its name and what it is.
    pub(crate) keys: Vec<[String; 3]>,
    pub(crate) source: &'a str,
}

/// Returns a drawing as an SVG document; `None` where there is nothing to draw.
pub(crate) fn picture(markup: &str, around: &Around<'_>, sheet: Sheet) -> Option<String> {
    let unit_px = match sheet.theme {
        Theme::Paper => 0.78,
        Theme::Slide => 1.6,
        Theme::Dark => 1.0,
    };
    let whole = sheet.width_px / unit_px;
    let drawing = Node::parse(markup);
    let mut shared = BTreeMap::new();
    drawing.gather(&mut shared);
    let mut out = Picture { out: String::new(), y: MARGIN, width: whole - 2.0 * MARGIN, shared };
    out.paragraph("title", TITLE, &escaped(around.title));
    let before = out.out.len();
    out.flow(&drawing);
    if out.out.len() == before {
        return None;
    }
    out.keys(&around.keys);
    out.y += 4.0;
    out.paragraph("source", SOURCE, &escaped(around.source));
    let (body, high) = (out.out, out.y + MARGIN);
    let (size, unit) = if sheet.in_mm { (unit_px * 25.4 / 96.0, "mm") } else { (unit_px, "") };
    Some(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" width=\"{}{unit}\" \
         height=\"{}{unit}\" font-family=\"{FONTS}\"><title>{}</title><style>{}</style>\
         <rect class=\"paper\" width=\"{}\" height=\"{}\"/><g transform=\"translate({MARGIN} 0)\">{body}</g></svg>\n",
        px(whole),
        px(high),
        px(whole * size),
        px(high * size),
        escaped(around.title),
        style(sheet.theme == Theme::Dark),
        px(whole),
        px(high),
    ))
}

/// Returns the look of a picture in the colours of a page that is light or dark.
fn style(dark: bool) -> String {
    let colours = COLOURS.split(":root {").nth(if dark { 2 } else { 1 }).unwrap_or_default();
    let colours = colours.split('}').next().unwrap_or_default().split(';');
    let colours = colours.filter_map(|line| line.split_once("--")?.1.split_once(": "));
    colours.fold(STYLE.to_string(), |style, (name, colour)| {
        style.replace(&format!("var(--{name})"), colour)
    })
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Returns how wide a text is at most, in letters of a size; an escaped character is one.
fn wide(text: &str, size: f64, bold: bool) -> f64 {
    let text = text
        .replace("&amp;", "&")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"");
    let of = |letter: char| match letter {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '|' | '\'' | '!' | ' ' | '\u{202f}' => 0.35,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '-' | '/' | '·' => 0.43,
        'm' | 'w' | 'M' | 'W' | '%' | '@' | '—' => 1.0,
        'A'..='Z' => 0.74,
        letter if letter as u32 >= 0x1100 && !('\u{2000}'..'\u{2e80}').contains(&letter) => 1.05,
        _ => 0.64,
    };
    text.chars().map(of).sum::<f64>() * size * if bold { 1.1 } else { 1.0 }
}

/// Returns the lines of a text that is at most `width` wide.
fn wrapped(text: &str, width: f64, size: f64, bold: bool) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if wide(&format!("{line} {word}"), size, bold) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_string()),
        }
    }
    lines
}

/// A part of the markup: an element, or a text, which has no name.
#[derive(Default)]
struct Node<'m> {
    name: &'m str,
    attributes: &'m str,
    text: &'m str,
    children: Vec<Node<'m>>,
}

impl<'m> Node<'m> {
    /// Reads what `maud` writes, no more: every element is closed, and `<`, `>` and `"` of texts and values
    /// are escaped.
    fn parse(markup: &'m str) -> Node<'m> {
        let mut open: Vec<Node<'m>> = Vec::new();
        let mut top = Node::default();
        for (index, piece) in markup.split('<').enumerate() {
            let (tag, text) =
                if index == 0 { ("", piece) } else { piece.split_once('>').unwrap_or((piece, "")) };
            match tag.strip_prefix('/') {
                Some(_) => {
                    let outer = open.pop().unwrap_or_default();
                    let done = std::mem::replace(&mut top, outer);
                    top.children.push(done);
                }
                None if !tag.is_empty() => {
                    let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
                    open.push(std::mem::replace(
                        &mut top,
                        Node { name, attributes, ..Node::default() },
                    ));
                }
                None => {}
            }
            if !text.is_empty() {
                top.children.push(Node { text, ..Node::default() });
            }
        }
        top
    }

    /// Notes the parts that others take from here, by their names.
    fn gather<'n>(&'n self, shared: &mut BTreeMap<&'m str, &'n Node<'m>>) {
        if let Some(id) = self.value("id") {
            shared.insert(id, self);
        }
        self.children.iter().for_each(|child| child.gather(shared));
    }

    /// Returns the attributes with their values.
    fn all(&self) -> impl Iterator<Item = (&'m str, &'m str)> {
        let mut pieces = self.attributes.split('"');
        std::iter::from_fn(move || Some((pieces.next()?.trim().strip_suffix('=')?, pieces.next()?)))
    }

    fn value(&self, name: &str) -> Option<&'m str> {
        self.all().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    fn is(&self, class: &str) -> bool {
        self.value("class").is_some_and(|all| all.split(' ').any(|one| one == class))
    }

    /// Returns the elements of a class within it, outermost first.
    fn of_class<'n>(&'n self, class: &str) -> Vec<&'n Node<'m>> {
        let found = self.children.iter().flat_map(|child| match child.is(class) {
            true => vec![child],
            false => child.of_class(class),
        });
        found.collect()
    }

    /// Returns all of its words.
    fn words(&self) -> String {
        self.text.to_string() + &self.children.iter().map(Node::words).collect::<String>()
    }

    /// Returns a length, in a whole of which it may be a share.
    fn length(&self, name: &str, whole: f64) -> f64 {
        self.value(name).map_or(0.0, |value| length(value, whole))
    }

    /// Returns the runs of its text with their looks.
    fn runs(&self) -> Vec<(&'static str, String)> {
        match self.name {
            "" => vec![("", self.text.to_string())],
            "b" => vec![("strong", self.words())],
            _ if self.is("interval") || self.is("unit") => vec![("interval", self.words())],
            _ => self.children.iter().flat_map(Node::runs).collect(),
        }
    }
}

fn length(value: &str, whole: f64) -> f64 {
    let share = value.strip_suffix('%').map(|share| share.parse::<f64>().unwrap_or(0.0) / 100.0);
    share.map_or_else(|| value.parse().unwrap_or(0.0), |share| share * whole)
}

/// What is drawn so far, and how far down.
struct Picture<'n, 'm> {
    out: String,
    y: f64,
    width: f64,
    shared: BTreeMap<&'m str, &'n Node<'m>>,
}

impl<'n, 'm> Picture<'n, 'm> {
    fn text(&mut self, class: &str, (x, y): (f64, f64), anchor: &str, words: &str) {
        let anchor =
            if anchor == "start" { String::new() } else { format!(" text-anchor=\"{anchor}\"") };
        let _ = write!(
            self.out,
            "<text class=\"{class}\" x=\"{}\" y=\"{}\"{anchor}>{words}</text>",
            px(x),
            px(y)
        );
    }

    fn paragraph(&mut self, class: &str, size: f64, words: &str) {
        let bold = matches!(class, "title" | "head");
        for line in wrapped(words, self.width, size, bold) {
            self.y += size + 3.0;
            self.text(class, (0.0, self.y), "start", &line);
        }
        self.y += 6.0;
    }

    /// Draws runs of text in one line.
    fn line(&mut self, at: (f64, f64), anchor: &str, runs: &[(&str, String)]) {
        let run = |(look, words): &(&str, String)| match look.is_empty() {
            true => words.clone(),
            false => format!("<tspan class=\"{look}\">{words}</tspan>"),
        };
        let words: String = runs.iter().map(run).collect();
        self.text("label", at, anchor, words.trim());
    }

    /// Lays out what a page lays out.
    fn flow(&mut self, node: &'n Node<'m>) {
        match node.name {
            "svg" => {
                let height = node.length("height", 0.0);
                self.inside(node, (0.0, self.y), (self.width, height));
                self.y += height + 4.0;
            }
            "ul" => self.legend(node),
            "h5" | "p" => self.paragraph("head", TEXT, &node.words()),
            _ if node.is("panels") => self.panels(node),
            _ if node.is("rows") => self.rows(node),
            _ if node.is("bars") => self.bars(node),
            _ => node.children.iter().for_each(|child| self.flow(child)),
        }
    }

    fn legend(&mut self, list: &'n Node<'m>) {
        let mut x = 0.0;
        self.y += LINE;
        for item in &list.children {
            let [drawing, name] = [item.children.first(), item.children.last()];
            let (Some(drawing), Some(name)) = (drawing, name) else { continue };
            let (name, before) = (name.words(), if drawing.name == "svg" { 40.0 } else { 24.0 });
            let width = before + wide(name.trim(), TEXT, false);
            if x > 0.0 && x + width > self.width {
                x = 0.0;
                self.y += LINE + 2.0;
            }
            match drawing.name {
                "svg" => {
                    let _ = write!(
                        self.out,
                        "<g class=\"{}\">",
                        drawing.value("class").unwrap_or_default()
                    );
                    self.inside(drawing, (x, self.y - 11.0), (34.0, 14.0));
                    self.out.push_str("</g>");
                }
                _ => self.key(
                    drawing.value("class").unwrap_or_default(),
                    (x, self.y),
                    &drawing.words(),
                ),
            }
            self.text("label", (x + before, self.y), "start", name.trim());
            x += width + GAP;
        }
        self.y += 10.0;
    }

    /// Draws the number of a part in its colour.
    fn key(&mut self, class: &str, (x, y): (f64, f64), number: &str) {
        let (x, y) = (px(x), px(y - 12.0));
        let _ = write!(
            self.out,
            "<g class=\"{class}\" transform=\"translate({x} {y})\"><rect class=\"key\" width=\"18\" height=\"16\" rx=\"3\"/>\
             <text class=\"piece-number\" x=\"9\" y=\"12\" text-anchor=\"middle\">{number}</text></g>"
        );
    }

    /// Draws the names of parts under their drawing.
    fn keys(&mut self, keys: &[[String; 3]]) {
        for [number, name, amount] in keys {
            let amount = escaped(amount);
            let room = self.width - 24.0 - GAP - wide(&amount, TEXT, false);
            for (index, line) in wrapped(&escaped(name), room, TEXT, false).iter().enumerate() {
                self.y += LINE + 1.0;
                if index == 0 {
                    if let Ok(style) = number.parse::<usize>() {
                        let style = style_class(style - 1);
                        self.key(&style, (0.0, self.y), number);
                    }
                    self.text("label", (self.width, self.y), "end", &amount);
                }
                self.text("label", (24.0, self.y), "start", line);
            }
        }
        self.y += if keys.is_empty() { 0.0 } else { 8.0 };
    }

    fn panels(&mut self, grid: &'n Node<'m>) {
        let panels = grid.of_class("panel");
        let fitting = ((self.width + GAP) / (PANEL_MIN + GAP)).floor().max(1.0) as usize;
        let columns = match grid.is("four") {
            true if fitting > 2 && fitting < 4 => 2,
            _ => fitting.min(panels.len().max(1)),
        };
        let width = (self.width - GAP * (columns - 1) as f64) / columns as f64;
        for row in panels.chunks(columns) {
            let titles = row.iter().map(|panel| panel.of_class("panel-title"));
            let titles: Vec<Vec<String>> = titles
                .map(|title| {
                    title
                        .iter()
                        .flat_map(|title| wrapped(&title.words(), width, TEXT, true))
                        .collect()
                })
                .collect();
            let lines = titles.iter().map(Vec::len).max().unwrap_or(0) as f64;
            let (top, mut bottom) = (self.y + 4.0, self.y);
            for (index, (panel, title)) in row.iter().zip(titles).enumerate() {
                let x = index as f64 * (width + GAP);
                for (line, words) in title.iter().enumerate() {
                    self.text("head", (x, top + TEXT + line as f64 * LINE), "start", words);
                }
                bottom = f64::max(bottom, self.panel(panel, (x, top + lines * LINE + 4.0), width));
            }
            self.y = bottom + 6.0;
        }
    }

    /// Draws a panel below its title; returns where it ends.
    fn panel(&mut self, panel: &'n Node<'m>, (x, y): (f64, f64), width: f64) -> f64 {
        let mut end = y;
        for (class, x, width) in [("axis", x, AXIS), ("canvas", x + AXIS, width - AXIS)] {
            for drawing in panel.of_class(class) {
                let height = drawing.length("height", 0.0);
                self.inside(drawing, (x, y), (width, height));
                end = y + height;
            }
        }
        for name in panel.of_class("axis-title") {
            for line in wrapped(&name.words(), width - AXIS, SMALL, false) {
                end += SMALL + 3.0;
                self.text("", (x + AXIS + (width - AXIS) / 2.0, end), "middle", &line);
            }
        }
        end + 4.0
    }

    fn rows(&mut self, rows: &'n Node<'m>) {
        let rows: Vec<Row<'n, 'm>> = rows.of_class("row").into_iter().map(Row::of).collect();
        let widest = |of: fn(&Row<'_, '_>) -> f64| rows.iter().map(of).fold(0.0, f64::max);
        let (label, value) =
            (widest(|row| wide(&row.name, TEXT, false)), widest(|row| row.value_width()));
        let label = label.min(0.4 * self.width);
        // Where there is no room beside it, a strip lies under its name and its number.
        let beside = self.width - label - value - 2.0 * GAP >= STRIP_MIN;
        let (from, to) = match beside {
            true => (label + GAP, self.width - value - GAP),
            false => (0.0, self.width),
        };
        for row in &rows {
            let room = if beside { label } else { self.width - value - GAP };
            let names = wrapped(&row.name, room, TEXT, false);
            let texts = names.len().max(row.values.len()) as f64 * LINE;
            let strip = row.strip.map_or(0.0, |strip| strip.length("height", 0.0));
            let (height, text, top) = match beside {
                true => (strip.max(texts + 4.0), 0.0, self.y),
                false => (strip, texts, self.y + texts),
            };
            let first = |lines: usize| match beside {
                true => self.y + (height - lines as f64 * LINE) / 2.0 + 13.0,
                false => self.y + 13.0,
            };
            let (name_y, value_y) = (first(names.len()), first(row.values.len()));
            for (index, name) in names.iter().enumerate() {
                self.text("label", (0.0, name_y + index as f64 * LINE), "start", name);
            }
            for (index, runs) in row.values.iter().enumerate() {
                let y =
                    value_y + index as f64 * LINE + if row.is_axis && !beside { 18.0 } else { 0.0 };
                self.line((self.width, y), "end", runs);
            }
            if let Some(strip) = row.strip {
                let class = if row.is_axis { "row-axis" } else { "strip" };
                let _ = write!(self.out, "<g class=\"{class}\">");
                let top = if row.is_axis { self.y } else { top };
                self.inside(strip, (from, top), (to - from, height));
                self.out.push_str("</g>");
            }
            self.y += height + text + if row.is_axis && !beside { 6.0 } else { 0.0 };
        }
        self.y += 6.0;
    }

    fn bars(&mut self, bars: &'n Node<'m>) {
        let names = bars.of_class("bar-name");
        let name =
            names.iter().map(|name| wide(&name.words(), TEXT, false)).fold(0.0, f64::max) + GAP;
        for (label, bar) in names.iter().zip(bars.of_class("stack")) {
            let height = bar.length("height", 0.0);
            self.text("label", (0.0, self.y + 19.0), "start", &label.words());
            self.inside(bar, (name, self.y), (self.width - name, height));
            self.y += height;
        }
    }

    /// Draws what lies in a drawing of a size, at a place.
    fn inside(&mut self, drawing: &'n Node<'m>, (x, y): (f64, f64), size: (f64, f64)) {
        let _ = write!(self.out, "<g transform=\"translate({} {})\">", px(x), px(y));
        drawing.children.iter().for_each(|child| self.shape(child, size, 1.0));
        self.out.push_str("</g>");
    }

    /// Draws a shape with lengths in place of shares; `stretch` is what its points are multiplied by across.
    fn shape(&mut self, node: &'n Node<'m>, (width, height): (f64, f64), stretch: f64) {
        let at = |node: &Node<'_>| (node.length("x", width), node.length("y", height));
        let class =
            node.value("class").map_or(String::new(), |class| format!(" class=\"{class}\""));
        match node.name {
            "" => self.out.push_str(node.text),
            "title" => {}
            "use" => {
                let target = node.value("href").unwrap_or_default().trim_start_matches('#');
                let mark = target
                    .strip_prefix("mark")
                    .and_then(|mark| MARKS.get(mark.parse::<usize>().ok()?));
                let (x, y) = at(node);
                if let Some(mark) = mark {
                    let class = if class.is_empty() { " class=\"point\"" } else { &class };
                    let _ = write!(
                        self.out,
                        "<path{class} d=\"{mark}\" transform=\"translate({} {})\"/>",
                        px(x),
                        px(y)
                    );
                } else if let Some(shared) = self.shared.get(target) {
                    self.shape(shared, (width, height), stretch);
                }
            }
            "svg" => {
                let ((x, y), stretched) = (at(node), node.is("stretched"));
                let stretch = if stretched { width / STRETCHED } else { 1.0 };
                let _ = write!(self.out, "<g{class} transform=\"translate({} {})\">", px(x), px(y));
                node.children.iter().for_each(|child| self.shape(child, (width, height), stretch));
                self.out.push_str("</g>");
            }
            name => {
                let _ = write!(self.out, "<{name}");
                for (key, value) in node.all().filter(|(key, _)| KEPT.contains(key)) {
                    let whole = if key.contains('y') || key == "height" { height } else { width };
                    let value = match (key, value.ends_with('%')) {
                        ("d", _) if stretch != 1.0 => stretched(value, stretch),
                        (_, true) => px(length(value, whole)),
                        _ => value.to_string(),
                    };
                    let _ = write!(self.out, " {key}=\"{value}\"");
                }
                self.out.push_str(if name == "circle" { " r=\"2.1\"" } else { "" });
                self.out.push('>');
                node.children.iter().for_each(|child| self.shape(child, (width, height), stretch));
                let _ = write!(self.out, "</{name}>");
            }
        }
    }
}

/// Returns a path through points with each as many times as far to the right.
fn stretched(path: &str, by: f64) -> String {
    let point = |point: &str| {
        let (x, y) = point.split_once(' ').unwrap_or((point, "0"));
        format!("{} {y}", px(x.parse().unwrap_or(0.0) * by))
    };
    let points: Vec<String> =
        path.trim_start_matches('M').trim_end_matches('Z').split('L').map(point).collect();
    format!("M{}{}", points.join("L"), if path.ends_with('Z') { "Z" } else { "" })
}

/// A row: its name, its strip, and the lines of its number.
struct Row<'n, 'm> {
    name: String,
    strip: Option<&'n Node<'m>>,
    values: Vec<Vec<(&'static str, String)>>,
    is_axis: bool,
}

impl<'n, 'm> Row<'n, 'm> {
    fn of(row: &'n Node<'m>) -> Row<'n, 'm> {
        let one = |class: &str| row.of_class(class).into_iter().next();
        let value = one("row-value");
        let lines = value.into_iter().flat_map(|value| {
            match value.children.iter().any(|it| it.name == "div") {
                true => value.children.iter().map(Node::runs).collect(),
                false => vec![value.runs()],
            }
        });
        let values = lines.filter(|runs| !runs.iter().all(|(_, words)| words.trim().is_empty()));
        Row {
            name: one("row-label").map(Node::words).unwrap_or_default(),
            strip: one("strip").filter(|strip| strip.name == "svg"),
            values: values.collect(),
            is_axis: row.is("row-axis"),
        }
    }

    fn value_width(&self) -> f64 {
        let width = |runs: &Vec<(&'static str, String)>| -> f64 {
            runs.iter().map(|(look, words)| wide(words, TEXT, *look == "strong")).sum()
        };
        self.values.iter().map(width).fold(0.0, f64::max)
    }
}
