//! What a reader is shown, whatever the medium: a sequence of blocks that [`crate::paint`] draws.
//!
//! A sentence is written once, here. A block says what something is (an answer, a caveat, a table), never
//! how it looks. Text may come from outside: painters make it harmless.

use crate::words;
use maud::Markup;
use model::{Estimate, Verdict};
use wording::number::{Parts, Terms, joined, parts};
use wording::short;

/// A whole page, or all that a command prints.
pub struct Doc<'a> {
    /// The version of scruple that measured or analysed.
    pub(crate) scruple: String,
    /// The page's name in a window's title.
    pub(crate) title: String,
    /// The kind of document in a few words, above its first heading.
    pub(crate) kind: Text,
    /// Links that stay beside the text of a long page.
    pub(crate) contents: Vec<Text>,
    /// Returns what a page's script reads, in at most this number of bytes.
    pub(crate) data: Option<Box<dyn Fn(usize) -> Vec<Data> + 'a>>,
    /// What stands under a page.
    pub(crate) footer: Text,
    /// What was measured where and when, under each figure that is taken from a page.
    pub(crate) source: String,
    /// The content, in reading order.
    pub(crate) blocks: Vec<Block<'a>>,
}

/// A part of a document.
pub(crate) enum Block<'a> {
    /// A heading; level 1 is the document's own.
    Heading(u8, Text),
    /// A paragraph.
    Paragraph(Role, Text),
    /// A caveat or a verdict: a mark, a word and sentences.
    Note(Note),
    /// Claims with their verdicts.
    Claims(Vec<Claim>),
    /// The most important of them, a sentence each.
    KeyClaims(Vec<Claim>),
    /// Sentences of equal rank.
    List(Vec<Text>),
    /// Rows and columns.
    Table(Table),
    /// Names with their values.
    Facts(Vec<(String, Text)>),
    /// A drawing in letters, line by line.
    Letters(Vec<String>),
    /// A drawing with its title and caption.
    Figure(Figure<'a>),
    /// The same with an address on the page.
    Chart(String, Figure<'a>),
    /// Details behind a label: closed on a page, left out of a terminal unless all is asked for.
    Fold(Fold<'a>),
    /// A small paragraph with a name that links on the page lead to.
    Anchored(&'static str, Text),
    /// What only a page shows.
    OnPage(Markup),
    /// What only a terminal shows, which has no folds and little room.
    InTerminal(Vec<Block<'a>>),
    /// Blocks with an address on the page.
    Section(String, Vec<Block<'a>>),
    /// A heading and blocks with an address on the page, and links to it and back.
    Chapter(String, Vec<Block<'a>>),
    /// What each chapter answers.
    Answers(Vec<Answer>),
    /// Blocks that stand next to each other where there is room.
    Columns(Kind, Vec<Vec<Block<'a>>>),
}

/// What a chapter answers.
pub(crate) struct Answer {
    /// The chapter's address on the page, its name and its question.
    pub(crate) chapter: String,
    pub(crate) name: String,
    pub(crate) question: String,
    /// How many of its claims have which verdict.
    pub(crate) verdicts: String,
    pub(crate) answer: Text,
    /// Why it is so, where that is known.
    pub(crate) why: Option<Text>,
}

/// Data that a page's script reads.
pub(crate) struct Data {
    /// The address of the section that they belong to.
    pub(crate) of: String,
    /// JSON, compressed by gzip and written in base64.
    pub(crate) gzip: String,
}

/// Details behind a label.
pub(crate) struct Fold<'a> {
    pub(crate) label: Text,
    /// What kind of details they are, as a class of the page.
    pub(crate) kind: &'static str,
    /// Whether they are seen from the start.
    pub(crate) open: bool,
    pub(crate) blocks: Vec<Block<'a>>,
}

/// A claim, its verdict and what that rests on.
pub(crate) struct Claim {
    pub(crate) verdict: Verdict,
    /// The verdict in words, with the region that was tested, and of an open claim where it points.
    pub(crate) judged: String,
    /// Why it is open and what is missing; empty where it is decided, or has no number.
    pub(crate) open: String,
    pub(crate) text: String,
    pub(crate) source: String,
    /// What the number compares, in which direction: "fork ÷ pthread".
    pub(crate) direction: String,
    /// The number that was measured, or in two words why there is none.
    pub(crate) number: Text,
    /// Why there is no number; empty where there is one.
    pub(crate) missing: String,
    /// Where the number should lie, and where it lies, for a page; empty where there is no number.
    pub(crate) drawing: Markup,
    /// Why people claim it, and where it belongs.
    pub(crate) about: Vec<Text>,
    /// What a reader must know with the number.
    pub(crate) caveat: Option<String>,
    /// What the verdict rests on.
    pub(crate) evidence: Vec<Text>,
}

/// What blocks next to each other are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An answer, and the figure that shows it.
    Glance,
    /// Definitions, one a card.
    Cards,
}

/// What a paragraph is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// What was asked, of which machine.
    Lead,
    /// The answer.
    Answer,
    /// A sentence that belongs to the answer.
    Further,
    /// Anything else.
    Plain,
    /// What a reader must know with what was just said.
    Caveat,
    /// What was just said, exactly.
    Definition,
    /// What only few readers need.
    Small,
    /// A command to type.
    Command,
}

/// How something is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Good,
    Bad,
    /// Look here.
    Care,
    /// Nobody knows.
    Open,
    /// What was wanted is not there.
    Absent,
    Plain,
    Quiet,
}

/// A caveat or a verdict.
pub(crate) struct Note {
    pub(crate) tone: Tone,
    /// The word that stands with the tone's mark where a reader may not see colours.
    pub(crate) word: String,
    /// Sentences; each is a paragraph.
    pub(crate) text: Vec<Text>,
}

/// Rows and columns.
#[derive(Default)]
pub(crate) struct Table {
    /// What kind of rows it has, as a class of the page.
    pub(crate) kind: &'static str,
    /// What it shows, for those who do not see it.
    pub(crate) about: String,
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Row>,
}

/// A column.
pub(crate) struct Column {
    pub(crate) head: String,
    /// Whether it holds numbers: aligned on the right, never broken.
    pub(crate) number: bool,
}

/// A row; its first cell names it.
pub(crate) struct Row {
    pub(crate) tone: Tone,
    pub(crate) cells: Vec<Text>,
    /// What stands in the place of all further cells.
    pub(crate) instead: Option<Text>,
}

/// A drawing with its title, what its marks mean, and the numbers behind it.
pub(crate) struct Figure<'a> {
    pub(crate) title: Text,
    pub(crate) drawing: Box<dyn Drawing + 'a>,
    /// What its marks mean, what was held still, and all else that is known of it.
    pub(crate) caption: Vec<Text>,
    pub(crate) numbers: Option<Table>,
    /// The same for other programs, where they want it in another form.
    pub(crate) data: Option<Table>,
    /// Whether the numbers are seen from the start.
    pub(crate) shown: bool,
}

/// A drawing that each painter can ask for.
pub(crate) trait Drawing {
    /// Draws it for a page.
    fn svg(&self) -> Markup;
    /// Draws it in letters, at most `width` columns wide. Without a line the figure is left out: a
    /// table has its numbers.
    fn letters(&self, _width: usize) -> Vec<String> {
        Vec::new()
    }
}

/// A run of text.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Text(pub(crate) Vec<Span>);

/// A piece of a text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Span {
    Plain(String),
    Strong(String),
    Code(String),
    Quiet(String),
    /// A number with its interval.
    Number(Parts),
    /// The number of a part of a drawing, in its colour.
    Key(usize),
    /// A text in which each character is a coloured cell of a picture.
    Cells(String),
    /// What only a page shows.
    OnPage(String),
    /// A text, and the address on the page or beside it that it leads to.
    Link(String, String),
    /// The number by which a table on a page sorts the cell; NaN sorts it last.
    Sorted(f64),
}

impl Text {
    /// Returns text in which every word counts.
    pub(crate) fn strong(text: impl Into<String>) -> Text {
        Text(vec![Span::Strong(text.into())])
    }

    /// Returns text that is typed as it is.
    pub(crate) fn code(text: impl Into<String>) -> Text {
        Text(vec![Span::Code(text.into())])
    }

    /// Returns a number with its interval.
    pub(crate) fn number(parts: Parts) -> Text {
        Text(vec![Span::Number(parts)])
    }

    /// Returns a number as far as it is known.
    pub(crate) fn known(estimate: Option<Estimate>, terms: Terms<'_>) -> Text {
        estimate.map_or("–".into(), |estimate| Text::number(parts(&estimate, terms)))
    }

    /// Returns a small drawing that only a page shows.
    pub(crate) fn on_page(markup: Markup) -> Text {
        Text(vec![Span::OnPage(markup.into_string())])
    }

    /// Returns text that matters less.
    pub(crate) fn quiet(text: impl Into<String>) -> Text {
        Text(vec![Span::Quiet(text.into())])
    }

    /// Returns a text that leads to an address.
    pub(crate) fn link(text: impl Into<String>, to: impl Into<String>) -> Text {
        Text(vec![Span::Link(text.into(), to.into())])
    }

    /// Returns a sentence with texts in the places of its `{}`.
    pub(crate) fn filled<const N: usize>(sentence: &str, texts: [Text; N]) -> Text {
        let mut pieces = sentence.split("{}");
        let first = Text::from(pieces.next().unwrap_or_default());
        pieces.zip(texts).fold(first, |all, (piece, text)| all.then(text).then(piece))
    }

    /// Appends more text.
    #[must_use]
    pub(crate) fn then(mut self, more: impl Into<Text>) -> Text {
        self.0.extend(more.into().0);
        self
    }

    /// Says by which number a table on a page sorts the cell.
    #[must_use]
    pub(crate) fn sorted(mut self, by: f64) -> Text {
        self.0.push(Span::Sorted(by));
        self
    }

    /// Returns the words alone.
    pub(crate) fn words(&self) -> String {
        self.0.iter().map(Span::words).collect()
    }
}

impl Span {
    /// Returns the words alone.
    pub(crate) fn words(&self) -> String {
        match self {
            Span::Plain(text)
            | Span::Strong(text)
            | Span::Code(text)
            | Span::Quiet(text)
            | Span::Cells(text)
            | Span::Link(text, _) => text.clone(),
            Span::Number(parts) => joined(parts),
            Span::OnPage(_) | Span::Sorted(_) => String::new(),
            Span::Key(index) => (index + 1).to_string(),
        }
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Text {
        text.to_string().into()
    }
}

impl From<String> for Text {
    fn from(text: String) -> Text {
        Text(vec![Span::Plain(text)])
    }
}

impl<'a> Doc<'a> {
    /// Returns an empty document.
    pub(crate) fn new(scruple: &str, kind: &'static str, title: impl Into<String>) -> Doc<'a> {
        let footer = format!("Made by scruple {}. This file needs no network.", short(scruple, 40));
        Doc {
            scruple: scruple.into(),
            title: title.into(),
            kind: format!("scruple · {kind}").into(),
            contents: Vec::new(),
            data: None,
            footer: footer.into(),
            source: String::new(),
            blocks: Vec::new(),
        }
    }

    /// Appends a block.
    pub(crate) fn push(&mut self, block: Block<'a>) {
        self.blocks.push(block);
    }
}

impl<'a> Block<'a> {
    /// Returns a paragraph.
    pub(crate) fn paragraph(role: Role, text: impl Into<Text>) -> Block<'a> {
        Block::Paragraph(role, text.into())
    }

    /// Returns a heading.
    pub(crate) fn heading(level: u8, text: impl Into<Text>) -> Block<'a> {
        Block::Heading(level, text.into())
    }

    /// Returns a note of one paragraph with the mark and the word of its tone.
    pub(crate) fn note(tone: Tone, text: impl Into<Text>) -> Block<'a> {
        let word = match tone {
            Tone::Good => "yes",
            Tone::Bad => "wrong",
            Tone::Care => "note",
            Tone::Open | Tone::Absent | Tone::Plain | Tone::Quiet => "",
        };
        Block::said(tone, word, vec![text.into()])
    }

    /// Returns a note with a word of its own.
    pub(crate) fn said(tone: Tone, word: impl Into<String>, text: Vec<Text>) -> Block<'a> {
        Block::Note(Note { tone, word: word.into(), text })
    }

    /// Returns sentences of equal rank.
    pub(crate) fn list(items: impl IntoIterator<Item = impl Into<Text>>) -> Block<'a> {
        Block::List(items.into_iter().map(Into::into).collect())
    }

    /// Returns names with their values.
    pub(crate) fn facts(
        facts: impl IntoIterator<Item = (impl Into<String>, impl Into<Text>)>,
    ) -> Block<'a> {
        let facts = facts.into_iter().map(|(name, fact)| (name.into(), fact.into()));
        Block::Facts(facts.collect())
    }

    /// Returns how many were left out where at most `most` are shown, and the file that has them.
    pub(crate) fn more(all: usize, most: usize, file: &str) -> Option<Block<'a>> {
        let left_out = all.saturating_sub(most);
        let text = format!("and {left_out} more, in {{}}.");
        (left_out > 0).then(|| Block::small(Text::filled(&text, [Text::code(file)])))
    }

    /// Returns how many `noun`s were left out where at most `most` are shown, and what is said of them.
    pub(crate) fn left_out(all: usize, most: usize, noun: &str, said: &str) -> Option<Block<'a>> {
        words::left_out(all, most, noun).map(|more| Block::small(format!("{more}{said}")))
    }

    /// Returns a paragraph that only few readers need.
    pub(crate) fn small(text: impl Into<Text>) -> Block<'a> {
        Block::paragraph(Role::Small, text)
    }

    /// Returns a paragraph without a role.
    pub(crate) fn plain(text: impl Into<Text>) -> Block<'a> {
        Block::paragraph(Role::Plain, text)
    }

    /// Returns details behind a label, closed.
    pub(crate) fn fold(label: impl Into<Text>, blocks: Vec<Block<'a>>) -> Block<'a> {
        Block::details("", label, false, blocks)
    }

    /// Returns details of a kind behind a label.
    pub(crate) fn details(
        kind: &'static str,
        label: impl Into<Text>,
        open: bool,
        blocks: Vec<Block<'a>>,
    ) -> Block<'a> {
        Block::Fold(Fold { label: label.into(), kind, open, blocks })
    }
}

impl<'a> Figure<'a> {
    /// Returns a drawing with its title and caption, without its numbers.
    pub(crate) fn new(
        title: impl Into<Text>,
        drawing: impl Drawing + 'a,
        caption: Vec<Text>,
    ) -> Figure<'a> {
        let drawing = Box::new(drawing);
        let title = title.into();
        Figure { title, drawing, caption, numbers: None, data: None, shown: false }
    }
}

impl Tone {
    /// Returns the mark of a tone; it is read without its colour.
    pub(crate) fn mark(self) -> &'static str {
        match self {
            Tone::Good => "✓",
            Tone::Bad => "✗",
            Tone::Care => "!",
            Tone::Open => "?",
            Tone::Absent => "–",
            Tone::Plain | Tone::Quiet => "·",
        }
    }
}

impl Table {
    /// Returns a table without rows. A head that begins with `#` is that of a column of numbers.
    pub(crate) fn of(heads: &[impl AsRef<str>]) -> Table {
        let column = |head: &str| Column {
            head: head.trim_start_matches('#').into(),
            number: head.starts_with('#'),
        };
        let heads = heads.iter().map(AsRef::as_ref);
        Table { columns: heads.map(column).collect(), ..Table::default() }
    }

    /// Says what kind of table it is and what it shows.
    #[must_use]
    pub(crate) fn kind(mut self, kind: &'static str, about: impl Into<String>) -> Table {
        (self.kind, self.about) = (kind, about.into());
        self
    }

    /// Returns the table with ordinary rows.
    #[must_use]
    pub(crate) fn rows<C: Into<Text>>(
        mut self,
        rows: impl IntoIterator<Item = impl IntoIterator<Item = C>>,
    ) -> Table {
        rows.into_iter().for_each(|cells| self.row(cells));
        self
    }

    /// Appends a row of ordinary cells.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = impl Into<Text>>) {
        self.toned(Tone::Plain, cells);
    }

    /// Appends a row that stands out as its tone says.
    pub(crate) fn toned(&mut self, tone: Tone, cells: impl IntoIterator<Item = impl Into<Text>>) {
        let cells = cells.into_iter().map(Into::into).collect();
        self.rows.push(Row { tone, cells, instead: None });
    }

    /// Appends a row that has one text in the place of its cells.
    pub(crate) fn absent(&mut self, name: impl Into<Text>, text: impl Into<Text>) {
        let (cells, instead) = (vec![name.into()], Some(text.into()));
        self.rows.push(Row { tone: Tone::Plain, cells, instead });
    }
}
