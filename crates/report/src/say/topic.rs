//! Which experiments are about words that people use.

use model::Design;

/// Points of a word that stands in an experiment's name, in the words that it declares, in what it varies and
/// asks, and in what people say of it.
const NAME: u32 = 10;
const DECLARED: u32 = 8;
const FIGURE: u32 = 6;
const QUESTION: u32 = 4;
const LEVEL: u32 = 3;
const CLAIM: u32 = 1;

/// What has less than this part of the most points is not named.
const LEAST: u32 = 3;

/// The shortest word that another may begin with and still be meant by it: `threading` means `thread`.
const STEM_MIN: usize = 4;

/// The shortest word that is the beginning of another: `mem` means `memory`.
const BEGINNING_MIN: usize = 3;

/// The most letters that a word may have beyond its stem.
const ENDING_MAX: usize = 3;

/// Returns the experiments that are about some words, those first that are most about them. Each word must
/// stand somewhere in an experiment: in its name, its own words, its figures, its question, its levels or its
/// claims.
pub fn experiments_about<'d>(phrase: &str, designs: &'d [Design]) -> Vec<&'d Design> {
    let typed = words(phrase);
    let mut found: Vec<(u32, &Design)> =
        designs.iter().map(|design| (points(design, &typed), design)).collect();
    found.sort_by_key(|(points, _)| std::cmp::Reverse(*points));
    let most = found.first().map_or(0, |(points, _)| *points);
    found.retain(|(points, _)| *points > 0 && points * LEAST >= most);
    found.into_iter().map(|(_, design)| design).collect()
}

/// Reports whether each word of a phrase stands in a text.
pub(crate) fn names(text: &str, phrase: &str) -> bool {
    let known = words(text);
    let typed = words(phrase);
    !typed.is_empty()
        && typed.iter().all(|typed| known.iter().any(|known| likeness(known, typed) > 0))
}

/// Returns the points of an experiment: the sum of the best of each word; 0 if one stands nowhere in it.
fn points(design: &Design, typed: &[String]) -> u32 {
    let fields = fields(design);
    let best = |typed: &String| {
        let points = |(weight, known): &(u32, Vec<String>)| {
            known.iter().map(|known| weight * likeness(known, typed)).max().unwrap_or(0)
        };
        fields.iter().map(points).max().unwrap_or(0)
    };
    let all: Vec<u32> = typed.iter().map(best).collect();
    if all.contains(&0) { 0 } else { all.iter().sum() }
}

/// Returns the texts of an experiment as words, each with its weight.
fn fields(design: &Design) -> Vec<(u32, Vec<String>)> {
    let mut fields = vec![(NAME, words(&design.id)), (QUESTION, words(&design.question))];
    fields.extend(design.words.iter().map(|text| (DECLARED, words(text))));
    for figure in &design.figures {
        let texts = figure.words.iter().chain([&figure.link, &figure.title]);
        fields.extend(texts.map(|text| (FIGURE, words(text))));
    }
    for factor in &design.factors {
        let texts = factor.levels.iter().flat_map(|level| [&level.name, &level.label]);
        fields.extend(texts.chain([&factor.name]).map(|text| (LEVEL, words(text))));
    }
    fields.extend(design.claims.iter().map(|claim| (CLAIM, words(&claim.text))));
    fields
}

/// Returns 2 for the same word, 1 for one that begins with the other, 0 for others.
fn likeness(known: &str, typed: &str) -> u32 {
    let is_stem = |stem: &str, word: &str| {
        stem.len() >= STEM_MIN && word.starts_with(stem) && word.len() - stem.len() <= ENDING_MAX
    };
    match () {
        () if known == typed => 2,
        () if is_stem(known, typed) || known.starts_with(typed) && typed.len() >= BEGINNING_MIN => {
            1
        }
        () => 0,
    }
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn design(id: &str, words: &[&str], question: &str) -> Design {
        let words = words.iter().map(ToString::to_string).collect();
        Design { id: id.into(), words, question: question.into(), ..Design::default() }
    }

    #[test]
    fn an_experiment_is_found_by_any_of_its_texts_and_the_best_comes_first() {
        let designs = [
            design("false_sharing", &["cache line"], "What do two counters cost each other?"),
            design("counters", &["mutex", "atomic"], "What does a counter cost?"),
            design("traps", &[], "Why are traps hazards?"),
        ];
        for (phrase, wanted) in [
            ("mutex", &["counters"][..]),
            ("Cache-Line", &["false_sharing"]),
            ("counter", &["counters", "false_sharing"]),
            ("mutexes", &["counters"]),
            ("cache mutex", &[]),
            ("thread", &[]),
            ("a", &["counters"]),
            ("", &[]),
        ] {
            let found: Vec<&str> =
                experiments_about(phrase, &designs).iter().map(|it| it.id.as_str()).collect();
            assert_eq!(found, wanted, "{phrase}");
        }
    }
}
