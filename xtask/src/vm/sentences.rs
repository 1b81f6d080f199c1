//! What a person reads on a page or a terminal, sentence by sentence.

/// Elements within a sentence. Every other one ends it.
const WITHIN: [&str; 13] =
    ["a", "abbr", "b", "code", "em", "i", "mark", "small", "span", "strong", "sub", "sup", "var"];

/// Elements that nobody reads.
const UNREAD: [&str; 2] = ["script", "style"];

/// Returns the text of a page of HTML as this project writes it, a line for each block.
pub(crate) fn text_of(page: &str) -> String {
    let mut text = String::new();
    let mut rest = page;
    while let Some((before, tag)) = rest.split_once('<') {
        text.push_str(before);
        let (tag, after) = tag.split_once('>').unwrap_or((tag, ""));
        rest = after;
        let name = tag.trim_start_matches('/').split([' ', '/', '\n']).next().unwrap_or_default();
        if UNREAD.contains(&tag.split(' ').next().unwrap_or_default()) {
            rest = after.split_once(&format!("</{name}")).map_or("", |(_, rest)| rest);
            rest = rest.split_once('>').map_or("", |(_, rest)| rest);
        }
        if !WITHIN.contains(&name) {
            text.push_str("\n\n");
        }
    }
    text.push_str(rest);
    let entities = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    entities.into_iter().fold(text, |text, (entity, letter)| text.replace(entity, letter))
}

/// Returns the sentences of a text, whose paragraphs may be wrapped.
pub(crate) fn sentences(text: &str) -> Vec<String> {
    let mut paragraphs = vec![String::new()];
    for line in text.lines() {
        if line.trim().is_empty() {
            paragraphs.push(String::new());
        }
        // Of any kind, such as the space that does not break.
        for word in line.split_whitespace() {
            if let Some(paragraph) = paragraphs.last_mut() {
                let space = if paragraph.is_empty() { "" } else { " " };
                paragraph.push_str(&format!("{space}{word}"));
            }
        }
    }
    let sentences = paragraphs.iter().flat_map(|paragraph| paragraph.split_inclusive(". "));
    sentences.map(|sentence| sentence.trim().to_string()).filter(|it| !it.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::{sentences, text_of};

    #[test]
    fn a_page_is_read_as_a_person_reads_it() {
        let page = "<style>p { x: 1 CPU }</style><h2>Does it <em>pay</em>?</h2><p>Yes &amp; no. It\n\
                    depends.</p><script>\"64 CPUs <b>\"</script><td>8</td><td>CPUs</td>";
        let read = ["Does it pay?", "Yes & no.", "It depends.", "8", "CPUs"];
        assert_eq!(sentences(&text_of(page)), read);
    }

    #[test]
    fn a_wrapped_paragraph_is_one_text() {
        assert_eq!(sentences("two\n  \u{a0}CPUs. One\n\nthree\n"), ["two CPUs.", "One", "three"]);
    }
}
