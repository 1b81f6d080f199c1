//! What must not be torn apart at the end of a line.

use std::borrow::Cow;

/// A number and its per cent sign keep together: the space between them does not break. Only in
/// text; what stands in a tag or in `code`, which people copy into a shell, stays as it is.
///
/// It relies on what is escaped: no `<` or `>` in the text or in an attribute is one of its own.
pub(super) fn percents(html: &str) -> Cow<'_, str> {
    if !html.contains(" %") {
        return Cow::Borrowed(html);
    }
    let mut bound = String::with_capacity(html.len() + html.len() / 200);
    let mut code = false;
    for piece in html.split_inclusive('>') {
        let (text, tag) = piece.split_at(piece.find('<').unwrap_or(piece.len()));
        match code {
            true => bound.push_str(text),
            false => push(&mut bound, text),
        }
        bound.push_str(tag);
        code = match tag {
            _ if tag.starts_with("<code") => true,
            "</code>" => false,
            _ => code,
        };
    }
    Cow::Owned(bound)
}

fn push(bound: &mut String, text: &str) {
    let mut rest = text;
    while let Some(at) = rest.find(" %") {
        let (before, after) = rest.split_at(at);
        bound.push_str(before);
        // "11 %" and "(… %)", not "100 %s".
        let number = before.ends_with(|last: char| last.is_ascii_digit() || last == '…');
        bound.push(if number { '\u{a0}' } else { ' ' });
        rest = &after[1..];
    }
    bound.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::percents;

    #[test]
    fn numbers_keep_their_per_cent_sign_and_nothing_else_changes() {
        for (html, bound) in [
            ("<p>a 95 % b</p>", "<p>a 95\u{a0}% b</p>"),
            ("5 % and 6 %", "5\u{a0}% and 6\u{a0}%"),
            ("<p title=\"5 %\">x %</p>", "<p title=\"5 %\">x %</p>"),
            (
                "<code>f '&gt; 5 %'</code> 5 %<code class=\"a\">5 %</code>",
                "<code>f '&gt; 5 %'</code> 5\u{a0}%<code class=\"a\">5 %</code>",
            ),
            ("5 %", "5\u{a0}%"),
            ("none", "none"),
            ("5 % >", "5\u{a0}% >"),
        ] {
            assert_eq!(percents(html), bound, "{html}");
        }
    }
}
