//! What is asked of the benchmark, from its words.

use super::neighbour::Kind;
use anyhow::{Context, bail};
use std::path::PathBuf;

/// What the benchmark does.
pub(crate) const USAGE: &str = "\
cargo bench -p lab --bench sessions -- <WHAT> [OPTIONS]

  null     sessions in which nothing is to be found: how often is something found?
  planted  sessions with planted delays: how often are they found and sized?
  between  sessions of one setting, compared with each other: how often is a difference found?
  study    two programs, one 0, 2 or 5 % longer: how often does a study with all defaults find it,
           and how often hyperfine, if it is installed, in the same time?
  decided  runs of the whole catalog with all defaults: how many claims are decided, and does a
           verdict turn from one session to the next?

  --sessions N           how many [200; planted, study: 20; between: 12;
                         decided: 5]
  --neighbour KIND       none; bursts: a process on each CPU that takes half of it, in bursts; one:
                         a single such process, on whichever CPU [bursts; between, decided: none]
  --experiment NAME      what a session between others measures [create]
  --from DIR             compare the sessions that are there, and measure none
  --blocks N             blocks of a session that is not planted [12]
  --time-budget TIME     time of a planted session, as scruple takes it [30s]
  --seed N               where the neighbour's bursts come from [1]
  --keep DIR             keep the sessions there";

/// The kind of session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// A/A sessions.
    Null,
    /// Sessions with planted delays.
    Planted,
    /// Sessions of one setting against each other.
    Between,
    /// Studies of two programs.
    Study,
    /// Default runs.
    Decided,
}

/// One call of the benchmark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) what: What,
    pub(crate) sessions: u32,
    pub(crate) neighbour: Kind,
    pub(crate) blocks: u32,
    pub(crate) time_budget: String,
    pub(crate) seed: u64,
    pub(crate) keep: Option<PathBuf>,
    /// What sessions of one setting measure.
    pub(crate) experiment: String,
    /// Where sessions of one setting are already.
    pub(crate) from: Option<PathBuf>,
}

impl Asked {
    /// From the words behind the program's name. cargo adds `--bench`.
    ///
    /// # Errors
    /// Names the word that is wrong, and what would be right.
    pub(crate) fn parse(words: &[String]) -> anyhow::Result<Self> {
        let mut words = words.iter().map(String::as_str).filter(|word| *word != "--bench");
        let what = match words.next() {
            Some("null") => What::Null,
            Some("planted") => What::Planted,
            Some("between") => What::Between,
            Some("study") => What::Study,
            Some("decided") => What::Decided,
            other => bail!(
                "{}: null, planted, between, study or decided?\n\n{USAGE}",
                other.unwrap_or("nothing asked")
            ),
        };
        let mut asked = Asked {
            what,
            sessions: match what {
                What::Null => 200,
                What::Planted | What::Study => 20,
                What::Between => 12,
                What::Decided => 5,
            },
            neighbour: match what {
                What::Between | What::Decided => Kind::None,
                What::Null | What::Planted | What::Study => Kind::Bursts,
            },
            blocks: 12,
            time_budget: "30s".into(),
            seed: 1,
            keep: None,
            experiment: "create".into(),
            from: None,
        };
        while let Some(flag) = words.next() {
            let value = words.next().with_context(|| format!("{flag} wants a value\n\n{USAGE}"))?;
            let number = || value.parse().with_context(|| format!("{flag} {value}: no number"));
            match flag {
                "--sessions" => asked.sessions = u32::try_from(number()?)?.max(1),
                "--blocks" => asked.blocks = u32::try_from(number()?)?.max(1),
                "--seed" => asked.seed = number()?,
                "--time-budget" => asked.time_budget = value.into(),
                "--keep" => asked.keep = Some(value.into()),
                "--experiment" => asked.experiment = value.into(),
                "--from" => asked.from = Some(value.into()),
                "--neighbour" => {
                    let kind = Kind::ALL.into_iter().find(|kind| kind.name() == value);
                    asked.neighbour =
                        kind.with_context(|| format!("--neighbour {value}: none, bursts or one"))?;
                }
                _ => bail!("I do not know {flag}\n\n{USAGE}"),
            }
        }
        Ok(asked)
    }
}
