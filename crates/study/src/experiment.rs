//! The file that declares an experiment of the catalog: all that is not its trial.
//!
//! docs/experiment-files.md describes every key.

use crate::place::{Result, Source};
use crate::table::Value;
use crate::{factors, figures, no_such};
use ask::units;
use model::{
    Account, Card, Cell, Center, Claim, Control, Design, Diagnosis, Factor, Finding, Grid,
    Headline, Level, Limit, Needs, Part, Planted, Profile, Quantity, Region, Response, Suspect,
    Term, Unit, Yes,
};

const KEYS: &str = "version chapter question words answers why because method precision precise time_limit needs factors grids \
    responses findings figures accounts claims headlines controls planted diagnoses";

const RESPONSE_KEYS: &str =
    "label unit center cpu_twin subtract exact independent from to corrected source limits";

const PROFILES: [Profile; 4] =
    [Profile::Smoke, Profile::Quick, Profile::Standard, Profile::Thorough];

/// An expression of the quantity language, for errors.
const EXPRESSION: &str = "an expression such as \"call_ns[getppid] / call_ns[empty]\"";

/// Parses the text of `ID.toml` as the design of the experiment `id`.
///
/// # Errors
/// The first thing that is wrong with it, with its place, and what would be right.
pub fn experiment(id: &str, text: &str) -> Result<Design> {
    experiment_with(id, text, Vec::new())
}

/// Returns what is measured of a program of the user's, whatever it is: the responses that every trial of a
/// [`model::Subject`] records, with their definition cards.
///
/// # Errors
/// If `measured.toml` is wrong.
pub fn measured() -> Result<Vec<Response>> {
    let source = Source { file: "measured.toml", text: include_str!("measured.toml") };
    let table = source.parse()?;
    let all = Value::top(source, &table).entries_of("responses")?;
    each(all, |value| response(value, &Design::default()))
}

/// Parses the text of a design that has these responses besides those that it declares.
///
/// # Errors
/// As [`experiment`].
pub fn experiment_with(id: &str, text: &str, responses: Vec<Response>) -> Result<Design> {
    let file = format!("{id}.toml");
    let source = Source { file: &file, text };
    let table = source.parse()?;
    let top = Value::top(source, &table);
    top.known(KEYS)?;
    let mut design = Design {
        id: id.into(),
        version: top.needed("version")?.number("a whole number")?.value as u32,
        chapter: top.text_of("chapter")?,
        question: top.text_of("question")?,
        words: top.read("words", |words| words.words("a list of words"))?.unwrap_or_default(),
        because: optional_line(&top, "because")?,
        method: line(&top, "method")?,
        needs: needs(&top)?,
        precision: share(&top.needed("precision")?)?,
        time_limit_ms: (in_unit(&top.needed("time_limit")?, &Unit::Ns)? / 1e6) as u64,
        responses,
        ..Design::default()
    };
    design.factors = each(top.entries_of("factors")?, factor)?;
    design.grids = each(list(&top, "grids")?, |value| grid(value, &design))?;
    let own = each(top.entries_of("responses")?, |value| response(value, &design))?;
    design.responses.extend(own);
    design.findings = each(top.entries_of("findings")?, |value| finding(value, &design))?;
    top.read("precise", |precise| set_precise(precise, &mut design.findings))?;
    design.answers = each(list(&top, "answers")?, |value| finding_named(value, &design))?;
    design.why = top.read("why", |value| finding_named(value, &design))?.unwrap_or_default();
    design.figures = figures::read(&top, &design)?;
    design.accounts = each(top.entries_of("accounts")?, |value| account(value, &design))?;
    design.claims = each(top.entries_of("claims")?, |value| claim(value, &design))?;
    design.headlines = each(list(&top, "headlines")?, |value| headline(value, &design))?;
    design.controls = each(list(&top, "controls")?, |value| control(value, &design))?;
    design.planted = each(top.entries_of("planted")?, |value| planted(value, &design))?;
    design.diagnoses = each(top.entries_of("diagnoses")?, |value| diagnosis(value, &design))?;
    design.check().map_err(|error| top.error(error.what))?;
    figures::check(&top, &design)?;
    Ok(design)
}

/// Returns the items of a list that may be missing.
pub(crate) fn list<'s>(top: &Value<'s>, key: &str) -> Result<Vec<Value<'s>>> {
    Ok(top.read(key, |value| value.list("a list of tables"))?.unwrap_or_default())
}

pub(crate) fn each<'s, T>(
    values: Vec<Value<'s>>,
    read: impl Fn(&Value<'s>) -> Result<T>,
) -> Result<Vec<T>> {
    values.iter().map(read).collect()
}

/// Joins the lines of a text.
fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn line(table: &Value<'_>, key: &str) -> Result<String> {
    table.text_of(key).map(|text| unwrapped(&text))
}

fn optional_line(table: &Value<'_>, key: &str) -> Result<String> {
    Ok(table.read(key, |value| value.text("a text"))?.map_or(String::new(), |it| unwrapped(&it)))
}

/// Returns the name of a finding of a design.
fn finding_named(value: &Value<'_>, design: &Design) -> Result<String> {
    let id = value.text("the name of a finding")?;
    let known = design.findings.iter().map(|finding| finding.id.as_str());
    if known.clone().any(|known| known == id) {
        return Ok(id);
    }
    Err(value.error(no_such("finding", &id, known)))
}

pub(crate) fn in_unit(value: &Value<'_>, unit: &Unit) -> Result<f64> {
    let text = value.text("a number with its unit, such as \"5 s\" or \"64 MiB\"")?;
    units::in_unit(&text, unit).map_err(|what| value.error(what))
}

fn share(value: &Value<'_>) -> Result<f64> {
    let found = units::share(&value.text("a share such as \"5%\"")?);
    found.ok_or_else(|| value.error("expected a share such as \"5%\""))
}

fn from(table: &Value<'_>) -> Result<Profile> {
    let profiles = PROFILES.map(|profile| (profile.name(), profile));
    Ok(table.read("from", |value| value.choice(&profiles))?.unwrap_or(Profile::Smoke))
}

fn needs(top: &Value<'_>) -> Result<Needs> {
    let mut needs = Needs { cpus: 1, ..Needs::default() };
    let Some(value) = top.get("needs") else { return Ok(needs) };
    let table = value.fields(
        "a table such as { cpus = 2, memory = \"64 MiB\" }",
        "cpus memory disk privileges",
    )?;
    let bytes = |key| table.read(key, |value| in_unit(value, &Unit::Bytes));
    needs.memory_bytes = bytes("memory")?.unwrap_or_default() as u64;
    needs.disk_bytes = bytes("disk")?.unwrap_or_default() as u64;
    if let Some(cpus) = table.read("cpus", |value| value.number("a number of CPUs"))? {
        needs.cpus = cpus.value as u32;
    }
    let privileges = table.read("privileges", |value| value.words("a list of texts"))?;
    needs.privileges = privileges.unwrap_or_default();
    Ok(needs)
}

fn factor(value: &Value<'_>) -> Result<Factor> {
    let table = value.fields("a factor", "about label baseline unit levels")?;
    let unit = table.read("unit", |unit| unit.text("a unit"))?;
    let mut factor = Factor {
        name: value.name.clone(),
        about: line(table, "about")?,
        levels: Vec::new(),
        baseline: table.needed("baseline")?.word("the name of a level")?,
        unit: unit.map(axis_unit),
        label: table.text_or_empty("label")?,
    };
    for value in table.needed("levels")?.table("a table with an entry for each")?.entries() {
        factor.levels.push(level(&value)?);
    }
    factors::sort(&mut factor.levels);
    if factor.level(&factor.baseline).is_none() {
        let known = factor.levels.iter().map(|level| level.name.as_str());
        return Err(table.error_at("baseline", no_such("level", &factor.baseline, known)));
    }
    Ok(factor)
}

/// Returns the unit of an axis: one that its levels are values of, or a name that they bear.
fn axis_unit(name: String) -> Unit {
    if let (unit, 1.0) = units::unit(&name) { unit } else { Unit::Other(name) }
}

/// Reads a level: what it does in one line, or a table. A name that is a number is its value.
fn level(value: &Value<'_>) -> Result<Level> {
    let name = value.name.clone();
    let number: Option<f64> = name.parse().ok().filter(|number: &f64| number.is_finite());
    if value.is_text() {
        let about = unwrapped(&value.text("a text")?);
        return Ok(Level { value: number, ..Level::new(&name, &about) });
    }
    let what = "what the level does, or a table { about = …, from = … }";
    let table = value.fields(what, "about label from value")?;
    let given = table.read("value", |value| value.number("a number"))?;
    let value = given.map(|number| number.value).or(number);
    let (label, from) = (table.text_or_empty("label")?, from(table)?);
    Ok(Level { value, label, from, ..Level::new(&name, &line(table, "about")?) })
}

pub(crate) fn grid(value: &Value<'_>, design: &Design) -> Result<Grid> {
    let table = value.table("a grid such as { from = \"quick\", count = [1, 2] }")?;
    let mut grid = Grid { from: from(table)?, vary: Vec::new() };
    for entry in table.entries().into_iter().filter(|entry| entry.name != "from") {
        let wrong = |what| entry.error_at_name(what);
        let factor = factors::find(&design.factors, &entry.name, wrong)?;
        let expected = "\"all\", \"machine\", or a list of levels";
        let levels = match entry.is_text().then(|| entry.text(expected)).transpose()?.as_deref() {
            Some("all") => Vec::new(),
            Some(model::OF_MACHINE) => {
                grid.vary.push((entry.name.clone(), vec![model::OF_MACHINE.into()]));
                continue;
            }
            _ => entry.words(expected)?,
        };
        if let Some(wrong) = levels.iter().find(|level| factor.level(level).is_none()) {
            let known = factor.levels.iter().map(|level| level.name.as_str());
            return Err(entry.error(no_such("level", wrong, known)));
        }
        grid.vary.push((entry.name.clone(), levels));
    }
    Ok(grid)
}

fn response(value: &Value<'_>, design: &Design) -> Result<Response> {
    let table = value.fields("a response", RESPONSE_KEYS)?;
    let known = [Unit::Ns, Unit::Bytes, Unit::Count, Unit::Ppm, Unit::PerSecond];
    let suffixed = |unit: &Unit| unit.suffix().is_some_and(|suffix| value.name.ends_with(suffix));
    let unit = match table.get("unit") {
        Some(unit) => Unit::Other(unit.text("a unit")?),
        None => known.into_iter().find(suffixed).ok_or_else(|| {
            value.error("its name does not end in _ns, _bytes, _count, _ppm or _per_s; add unit")
        })?,
    };
    let truth = |key| Ok(table.read(key, Value::truth)?.unwrap_or_default());
    let centers = [
        ("median", Center::Median),
        ("mean", Center::Mean),
        ("sum", Center::Sum),
        ("max", Center::Max),
    ];
    let mut response = Response {
        name: value.name.clone(),
        label: line(table, "label")?,
        unit,
        center: table.read("center", |value| value.choice(&centers))?.unwrap_or(Center::Median),
        cpu_twin: table.read("cpu_twin", |name| name.text("a response"))?,
        subtract: table.read("subtract", |at| cell(at, design))?,
        exact: truth("exact")?,
        independent: truth("independent")?,
        card: Card {
            from: line(table, "from")?,
            to: line(table, "to")?,
            corrected: unwrapped(&table.text_or_empty("corrected")?),
            source: line(table, "source")?,
        },
        limits: Vec::new(),
    };
    for limit in list(table, "limits")? {
        let table = limit.fields("a limit { value = …, label = …, at = … }", "value label at")?;
        response.limits.push(Limit {
            value: table.needed("value")?.number("a number")?.value,
            label: line(table, "label")?,
            at: cell(&table.needed("at")?, design)?,
        });
    }
    Ok(response)
}

/// Marks the findings for which measuring goes on until they are precise: all, if no list says.
fn set_precise(precise: &Value<'_>, findings: &mut [Finding]) -> Result<()> {
    let ids = precise.words("a list of findings")?;
    let known: Vec<&str> = findings.iter().map(|finding| finding.id.as_str()).collect();
    if let Some(wrong) = ids.iter().find(|id| !known.contains(&id.as_str())) {
        return Err(precise.error(no_such("finding", wrong, known.into_iter())));
    }
    for finding in findings {
        finding.drives = ids.contains(&finding.id);
    }
    Ok(())
}

/// Reads a finding: a sentence with its quantity in `{ }`.
fn finding(says: &Value<'_>, design: &Design) -> Result<Finding> {
    let text = says.text("a sentence")?;
    let parts = text.split_once('{').and_then(|(before, rest)| {
        rest.split_once('}').map(|(quantity, after)| (before, quantity, after))
    });
    let Some((before, asked, after)) = parts else {
        return Err(says.error(format!("the sentence has no number; put {EXPRESSION} in {{ }}")));
    };
    let quantity =
        ask::quantity(asked, design).map_err(|error| says.error_within(before.len() + 1, error))?;
    let sentence = unwrapped(&format!("{before}{{}}{after}"));
    Ok(Finding { id: says.name.clone(), sentence, quantity, drives: true })
}

fn claim(value: &Value<'_>, design: &Design) -> Result<Claim> {
    let table = value.fields("a claim", "text source why note shown holds")?;
    let (quantity, holds_if) = condition(&table.needed("holds")?, design)?;
    let claim = Claim {
        id: value.name.clone(),
        text: line(table, "text")?,
        source: line(table, "source")?,
        mechanism: line(table, "why")?,
        quantity,
        holds_if,
        note: unwrapped(&table.text_or_empty("note")?),
        shown: unwrapped(&table.text_or_empty("shown")?),
    };
    if !claim.shown.is_empty() && claim.shown().is_none() {
        return Err(table.error_at("shown", crate::claims::SHOWN_NEEDS.into()));
    }
    Ok(claim)
}

/// Reads an answer of the first screen.
pub(crate) fn headline(value: &Value<'_>, design: &Design) -> Result<Headline> {
    let table = value.fields(
        "a headline { group = …, label = …, of = …, says = … }",
        "group label of claim says turned yes",
    )?;
    let (of, decides) = (table.text_of("of")?, table.read("claim", |id| id.text("a claim"))?);
    let finding = design.findings.iter().find(|finding| finding.id == of);
    let claim_of = |id: &str| design.claims.iter().find(|claim| claim.id == id);
    let claims = || design.claims.iter().map(|claim| claim.id.as_str());
    if let Some(wrong) = decides.as_ref().filter(|id| claim_of(id).is_none()) {
        return Err(table.error_at("claim", no_such("claim", wrong, claims())));
    }
    let Some(quantity) = finding.map(|it| &it.quantity).or(claim_of(&of).map(|it| &it.quantity))
    else {
        let known = design.findings.iter().map(|finding| finding.id.as_str()).chain(claims());
        return Err(table.error_at("of", no_such("finding or claim", &of, known)));
    };
    let says = line(table, "says")?;
    if says.matches("{}").count() != 1 {
        let what = "put {} where its number stands, once, as in \"{} as fast as one thread\"";
        return Err(table.error_at("says", what.into()));
    }
    let is_ratio = matches!(quantity, Quantity::Ratio { .. } | Quantity::Proportion { .. });
    let turned = table.read("turned", Value::truth)?.unwrap_or_default();
    if turned && !is_ratio {
        return Err(table.error_at("turned", "only a ratio can be turned".into()));
    }
    let choices = [
        ("supported", Yes::Supported),
        ("refuted", Yes::Refuted),
        ("above", Yes::Above),
        ("below", Yes::Below),
    ];
    let yes = table.read("yes", |value| value.choice(&choices))?;
    let fits = match yes {
        None => true,
        Some(Yes::Supported | Yes::Refuted) => decides.is_some() || claim_of(&of).is_some(),
        Some(Yes::Above | Yes::Below) => is_ratio,
    };
    if !fits {
        let what = "supported and refuted need a claim, above and below a ratio";
        return Err(table.error_at("yes", what.into()));
    }
    let (group, label) = (table.text_of("group")?, table.text_of("label")?);
    Ok(Headline { group, label, of, claim: decides, says, turned, yes })
}

fn account(value: &Value<'_>, design: &Design) -> Result<Account> {
    let table = value.fields("an account", "title total parts")?;
    let mut account = Account {
        id: value.name.clone(),
        title: line(table, "title")?,
        total: term(&table.needed("total")?, design)?,
        parts: Vec::new(),
    };
    for part in list(table, "parts")? {
        let table = part.fields("a part { label = …, is = … }", "label is count each")?;
        let (count, each) = match table.get("is") {
            Some(is) => (Term::Known { value: 1.0 }, term(&is, design)?),
            None => (term(&table.needed("count")?, design)?, term(&table.needed("each")?, design)?),
        };
        account.parts.push(Part { label: line(table, "label")?, count, each });
    }
    Ok(account)
}

fn control(value: &Value<'_>, design: &Design) -> Result<Control> {
    let table = value.fields("a pair { response = …, a = …, b = … }", "response a b")?;
    let (a, b) = (cell(&table.needed("a")?, design)?, cell(&table.needed("b")?, design)?);
    Ok(Control { response: table.text_of("response")?, a, b })
}

fn planted(value: &Value<'_>, design: &Design) -> Result<Planted> {
    let table = value.fields("a known answer", "what truth without size")?;
    let (quantity, truth) = condition(&table.needed("truth")?, design)?;
    let size = table.read("size", |size| size.number("a share of 1"))?;
    Ok(Planted {
        id: value.name.clone(),
        what: line(table, "what")?,
        quantity,
        without: table.needed("without")?.number("a number")?.value,
        truth,
        size: size.map(|size| size.value),
    })
}

fn diagnosis(value: &Value<'_>, design: &Design) -> Result<Diagnosis> {
    let table = value.fields("a diagnosis", "what response whole base suspects planted")?;
    let mut diagnosis = Diagnosis {
        id: value.name.clone(),
        what: line(table, "what")?,
        response: table.text_of("response")?,
        whole: cell(&table.needed("whole")?, design)?,
        base: cell(&table.needed("base")?, design)?,
        suspects: Vec::new(),
        planted: table.read("planted", |name| name.text("a suspect"))?,
    };
    for suspect in table.entries_of("suspects")? {
        let without = cell(&suspect, design)?;
        diagnosis.suspects.push(Suspect { name: suspect.name.clone(), without });
    }
    Ok(diagnosis)
}

fn cell(value: &Value<'_>, design: &Design) -> Result<Cell> {
    let text = value.text("levels such as \"fork, touched=64\"")?;
    ask::cell(&text, design).map_err(|error| value.error_within(0, error))
}

fn condition(value: &Value<'_>, design: &Design) -> Result<(Quantity, Region)> {
    let text = value.text("a condition such as \"call_ns[a] / call_ns[b] >= 10\"")?;
    ask::condition(&text, design).map_err(|error| value.error_within(0, error))
}

fn term(value: &Value<'_>, design: &Design) -> Result<Term> {
    if value.is_text() {
        let text = value.text(EXPRESSION)?;
        return ask::term(&text, design).map_err(|error| value.error_within(0, error));
    }
    Ok(Term::Known { value: value.number("a number or an expression")?.value })
}
