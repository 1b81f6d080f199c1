//! Fewer bytes for the same page: what HTML lets a writer leave out is left out.

/// Ends that HTML lets one leave out (HTML standard, 13.1.2.4).
const ENDS: [&str; 4] = ["td", "th", "tr", "li"];

/// Elements of drawings that close themselves where they are empty.
const EMPTY: [&str; 5] = ["circle", "line", "rect", "use", "path"];

/// Elements of which there are thousands: what needs no quotes in them has none (HTML standard,
/// 13.1.2.3), and an empty class is no class.
const BARE: [&str; 9] = ["circle", "line", "rect", "use", "path", "text", "svg", "g", "td"];

/// Elements whose content is no markup.
const RAW: [&str; 2] = ["style", "script"];

/// The same page in fewer bytes: a tenth of a page of tables and dots.
///
/// It looks at no text, and reads what `maud` writes, no more: attributes in double quotes, and
/// `<`, `>` and `"` of whatever comes from outside escaped, in scripts' data too.
pub(super) fn slim(page: &str) -> String {
    let mut slim = String::with_capacity(page.len());
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        let (text, tag) = rest.split_at(at);
        slim.push_str(text);
        let Some(end) = tag.find('>') else {
            slim.push_str(tag);
            return slim;
        };
        let inside = &tag[1..end];
        rest = &tag[end + 1..];
        if let Some(name) = inside.strip_prefix('/') {
            if !ENDS.contains(&name) {
                slim.push_str(&tag[..=end]);
            }
            continue;
        }
        let name = inside.split(' ').next().unwrap_or_default();
        slim.push('<');
        match BARE.contains(&name) {
            true => attributes(&mut slim, inside),
            false => slim.push_str(inside),
        }
        if EMPTY.contains(&name) {
            rest = closed(&mut slim, name, rest);
        }
        slim.push('>');
        if RAW.contains(&name) {
            let content = rest.find("</").unwrap_or(rest.len());
            slim.push_str(&rest[..content]);
            rest = &rest[content..];
        }
    }
    slim.push_str(rest);
    slim
}

/// Closes an element that nothing stands in, and takes its end away.
fn closed<'p>(slim: &mut String, name: &str, rest: &'p str) -> &'p str {
    let end = rest.strip_prefix("</").and_then(|rest| rest.strip_prefix(name));
    let Some(after) = end.and_then(|rest| rest.strip_prefix('>')) else {
        return rest;
    };
    // Behind a value without quotes the slash would be a part of it.
    slim.push_str(if slim.ends_with('"') { "/" } else { " /" });
    after
}

/// A tag without the quotes that it can do without.
fn attributes(slim: &mut String, tag: &str) {
    let mut rest = tag;
    while let Some((before, after)) = rest.split_once("=\"") {
        let Some((value, after)) = after.split_once('"') else {
            break;
        };
        if value.is_empty() && before.ends_with(" class") {
            slim.push_str(&before[..before.len() - " class".len()]);
        } else if !value.is_empty() && value.bytes().all(is_bare) {
            slim.push_str(before);
            slim.push('=');
            slim.push_str(value);
        } else {
            slim.push_str(before);
            slim.push_str("=\"");
            slim.push_str(value);
            slim.push('"');
        }
        rest = after;
    }
    slim.push_str(rest);
}

/// Whether a byte may stand in a value without quotes; fewer than HTML allows.
fn is_bare(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"#%.-_".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::slim;

    #[test]
    fn what_may_be_left_out_is_left_out() {
        let cases = [
            (
                "<tr><td class=\"\">1</td><td class=\"number\">2</td></tr>",
                "<tr><td>1<td class=number>2",
            ),
            ("<line x1=\"4%\" y1=\"-2.5\"></line>", "<line x1=4% y1=-2.5 />"),
            ("<path d=\"M0 4L5 6\"></path>", "<path d=\"M0 4L5 6\"/>"),
            ("<use href=\"#mark0\"></use><g id=\"a\"></g>", "<use href=#mark0 /><g id=a></g>"),
            ("<p class=\"small\">a = b</p>", "<p class=\"small\">a = b</p>"),
        ];
        for (long, short) in cases {
            assert_eq!(slim(long), short);
            // What is slim already stays as it is.
            assert_eq!(slim(short), short);
        }
    }

    #[test]
    fn what_is_needed_stays() {
        for kept in [
            "<td title=\"a b\">x=\"y\"",
            "<text x=\"a&quot;b\" y=\"\">&lt;td class=\"\"&gt;</text>",
            "<path><title>t</title></path>",
            "<style>td[class=\"a\"] > b { content: \"<\" }</style>",
            "<script>const a = \"<td class=\";</script><svg role=img></svg>",
            "<script type=\"application/json\">{\"a\":\"x=\",\"b\":1}</script>",
            "a < b",
        ] {
            assert_eq!(slim(kept), kept);
        }
    }
}
