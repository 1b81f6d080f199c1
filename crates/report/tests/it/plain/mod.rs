//! What the program says, without the colours that it puts there itself.

/// Text without them; any other command to a terminal stays to be found.
pub(crate) fn plain(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |plain, part| {
        let colour = part
            .split_once('m')
            .filter(|(code, _)| code.bytes().all(|byte| byte.is_ascii_digit() || byte == b';'));
        plain + colour.map_or(part, |(_, rest)| rest)
    })
}
