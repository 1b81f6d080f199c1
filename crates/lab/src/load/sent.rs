//! What a load sends besides its plan: URLs and bodies from files, secrets, and certificates to trust.

use crate::cli::load::LoadArgs;
use crate::input;
use anyhow::{Context, anyhow, ensure};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::path::Path;
use web::load::Target;

/// The largest body, and the largest file of bodies or URLs.
const BYTES_MAX: u64 = 64 << 20;

/// The most URLs or bodies of a file.
const LINES_MAX: usize = 1_000_000;

/// Parts of the names of headers and of parameters in URLs whose values are not stored.
const SECRET: [&str; 12] = [
    "auth",
    "cookie",
    "token",
    "secret",
    "api-key",
    "api_key",
    "apikey",
    "passw",
    "credential",
    "session",
    "signature",
    "private",
];

/// Whole names of parameters in URLs whose values are not stored.
const SECRET_PARAMETERS: [&str; 5] = ["key", "sig", "code", "pwd", "pass"];

const NOT_STORED: &str = "(not stored)";

/// The same in a URL.
const NOT_STORED_IN_URL: &str = "not-stored";

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET.iter().any(|part| name.contains(part))
}

/// Returns a URL without the values of parameters that hold a secret.
pub(super) fn stored_url(url: &str) -> String {
    let Some((before, query)) = url.split_once('?') else { return url.into() };
    let parameters = query.split('&').map(|parameter| match parameter.split_once('=') {
        Some((name, value)) if !value.is_empty() => {
            let secret = is_secret(name)
                || SECRET_PARAMETERS.iter().any(|whole| name.eq_ignore_ascii_case(whole));
            format!("{name}={}", if secret { NOT_STORED_IN_URL } else { value })
        }
        _ => parameter.into(),
    });
    format!("{before}?{}", parameters.collect::<Vec<_>>().join("&"))
}

/// Names and values of headers.
type Headers = Vec<(String, String)>;

/// Returns the URLs to request, of which there is one at least.
pub(super) fn urls(args: &LoadArgs) -> anyhow::Result<Vec<Target>> {
    let Some(file) = &args.urls_from_file else {
        let url = args.url.as_deref().context("a URL is needed")?;
        return Ok(vec![Target::parse(url)?]);
    };
    let text = input::text(file, BYTES_MAX).context("--urls-from-file")?;
    let name = input::name(file);
    let mut targets: Vec<Target> = Vec::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let at = || format!("{name}:{}", index + 1);
        let target = Target::parse(line.trim()).with_context(at)?;
        if let Some(first) = targets.first() {
            ensure!(
                target.has_origin_of(first),
                "{}: {} is on another server than {}; one load asks one server",
                at(),
                target.url(),
                first.url()
            );
        }
        targets.push(target);
    }
    check_lines(targets.len(), "URLs", file)?;
    Ok(targets)
}

/// Returns the bodies to send; none where all are empty.
pub(super) fn bodies(args: &LoadArgs) -> anyhow::Result<Vec<Vec<u8>>> {
    if let Some(file) = &args.body_lines {
        let bytes = input::bytes(file, BYTES_MAX).context("--body-lines")?;
        let mut lines: Vec<Vec<u8>> = bytes
            .split(|byte| *byte == b'\n')
            .map(|line| line.strip_suffix(b"\r").unwrap_or(line).to_vec())
            .collect();
        // The last line ends with the file.
        lines.pop_if(|line| line.is_empty());
        check_lines(lines.len(), "lines", file)?;
        return Ok(lines);
    }
    let body = match (&args.body_file, &args.body) {
        (Some(file), _) => input::bytes(file, BYTES_MAX).context("--body-file")?,
        (None, text) => text.clone().unwrap_or_default().into_bytes(),
    };
    Ok(if body.is_empty() { Vec::new() } else { vec![body] })
}

fn check_lines(count: usize, what: &str, file: &Path) -> anyhow::Result<()> {
    let name = input::name(file);
    ensure!(count > 0, "{name} has no {what}");
    ensure!(count <= LINES_MAX, "{name} has {count} {what}; at most {LINES_MAX} can be sent");
    Ok(())
}

/// Returns the headers that a plan holds, and the values that it must not hold.
pub(super) fn headers(args: &LoadArgs) -> (Headers, Headers) {
    let credentials = args.basic_auth.as_ref().map(|credentials| {
        let value = format!("Basic {}", STANDARD.encode(credentials));
        ("Authorization".to_string(), value)
    });
    let mut headers: Headers = args.headers.iter().cloned().chain(credentials).collect();
    let mut secrets = Vec::new();
    for (name, value) in &mut headers {
        if is_secret(name) {
            secrets.push((name.clone(), std::mem::replace(value, NOT_STORED.into())));
        }
    }
    (headers, secrets)
}

/// Returns the certificates that are trusted, in DER: those of the system and of `--cacert`.
pub(super) fn roots(args: &LoadArgs, secure: bool) -> anyhow::Result<Vec<Vec<u8>>> {
    if !secure {
        ensure!(
            args.cacert.is_none() && !args.insecure,
            "--cacert and --insecure are about certificates, which only https:// has"
        );
        return Ok(Vec::new());
    }
    if args.insecure {
        return Ok(Vec::new());
    }
    // What cannot be read is not trusted. The server's certificate then says so.
    let system = rustls_native_certs::load_native_certs().certs;
    let mut roots: Vec<Vec<u8>> = system.iter().map(|one| one.to_vec()).collect();
    if let Some(file) = &args.cacert {
        let pem = input::bytes(file, BYTES_MAX).context("--cacert")?;
        let found = web::load::certificates(&pem);
        roots.extend(found.map_err(|error| anyhow!("--cacert {}: {error}", input::name(file)))?);
    }
    Ok(roots)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_named_like_a_secret_is_not_stored() {
        for name in
            ["X-Api-Key", "api_key", "X-Auth-Token", "Cookie", "x-amz-signature", "PRIVATE-TOKEN"]
        {
            assert!(is_secret(name), "{name}");
        }
        assert!(!is_secret("Accept") && !is_secret("Content-Type") && !is_secret("X-Request-Id"));
        assert_eq!(
            stored_url("http://h/a?page=2&access_token=T&KEY=K&empty_token=&b"),
            "http://h/a?page=2&access_token=not-stored&KEY=not-stored&empty_token=&b"
        );
        assert_eq!(stored_url("http://h/token=a"), "http://h/token=a");
    }
}
