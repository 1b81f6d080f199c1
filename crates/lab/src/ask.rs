//! Any quantity of any session.

use crate::cli::ask::AskArgs;
use crate::exit::Exit;
use crate::{lookup, session, session_folders, ui};
use anyhow::{Context, anyhow, bail, ensure};
use model::{Asked, Design, Quantity};

/// The most sessions that are asked at once.
const SESSIONS_MAX: usize = 4096;

pub(crate) fn ask(args: &AskArgs) -> anyhow::Result<Exit> {
    let (mut answers, mut unknown, mut is_whole) = (Vec::new(), Vec::new(), true);
    let latest = args.sessions.is_empty().then(|| lookup::session(None)).transpose()?;
    for path in args.sessions.iter().chain(&latest) {
        let folders = session_folders::of_path(path, SESSIONS_MAX, "ask takes")?;
        let among = folders.len();
        for folder in folders {
            let stored = session_folders::or_left_out(&folder, among, store::open(&folder))?;
            let Some(stored) = stored else {
                is_whole = false;
                continue;
            };
            session::say_what_is_odd(&stored);
            match find(&stored.manifest.designs, &args.quantity) {
                Ok((design, quantity)) => {
                    let mut answer = answer(&stored, design, &quantity);
                    if among > 1 {
                        answer.folder = folder.display().to_string();
                    }
                    answers.push(answer);
                }
                Err(error) => unknown.push((folder, error)),
            }
        }
    }
    ensure!(!answers.is_empty() || !unknown.is_empty(), "no session can be read");
    // A folder of sessions also holds those of other experiments.
    let known = unknown.is_empty() && is_whole;
    if answers.is_empty() {
        unknown.into_iter().next().map_or(Ok(()), |(_, error)| Err(error))?;
    } else {
        for (folder, error) in unknown {
            ui::note(&format!("{} is left out: {error}", folder.display()));
        }
    }
    ui::show(args.json, &answers, |width| report::asked(&answers).text(width))?;
    let all = answers.iter().all(|answer| answer.result.estimate.is_some());
    Ok(if all && known { Exit::Done } else { Exit::Incomplete })
}

fn answer(stored: &store::Stored, design: &Design, quantity: &Quantity) -> Asked {
    Asked {
        session: stored.manifest.session.clone(),
        folder: String::new(),
        experiment: design.id.clone(),
        asked: ask::full_text(quantity, design),
        result: analysis::ask(design, &stored.records, quantity),
    }
}

/// Returns the design that an expression is about: the one that it names, or else the only one in
/// which all of its names are known.
fn find<'d>(designs: &'d [Design], text: &str) -> anyhow::Result<(&'d Design, Quantity)> {
    let named = ask::experiment(text);
    if let Some(name) = named.filter(|name| designs.iter().all(|design| design.id != *name)) {
        let hint = ask::hint(&name, designs.iter().map(|design| design.id.as_str()));
        let what = format!("the session has no experiment {name:?}; {hint}");
        return Err(marked(text, &ask::Error { at: text.find(&name).unwrap_or_default(), what }));
    }
    only(designs, text, ask::quantity, "have such a quantity")?
        .context("the session has no experiment")
}

/// Returns the only one of some designs by which a text can be understood, with what it then says;
/// `None` if there is no design. `can` says what several of them do.
pub(crate) fn only<'d, T>(
    designs: impl IntoIterator<Item = &'d Design>,
    text: &str,
    parse: impl Fn(&str, &Design) -> Result<T, ask::Error>,
    can: &str,
) -> anyhow::Result<Option<(&'d Design, T)>> {
    let (mut known, mut furthest) = (Vec::new(), None::<ask::Error>);
    for design in designs {
        match parse(text, design) {
            Ok(found) => known.push((design, found)),
            // The design that knows the most of it is the one that was meant.
            Err(error) if furthest.as_ref().is_none_or(|far| error.at > far.at) => {
                furthest = Some(error);
            }
            Err(_) => {}
        }
    }
    if known.len() > 1 {
        let names: Vec<String> =
            known.iter().map(|(design, _)| format!("{}.{text}", design.id)).collect();
        bail!("several experiments {can}; write {}", names.join(" or "));
    }
    match (known.pop(), furthest) {
        (None, Some(error)) => Err(marked(text, &error)),
        (found, _) => Ok(found),
    }
}

/// Returns an error that names the column of the expression.
fn marked(text: &str, error: &ask::Error) -> anyhow::Error {
    let column = text.get(..error.at).map_or(0, |before| before.chars().count()) + 1;
    anyhow!("'{text}', column {column}: {}", error.what)
}
