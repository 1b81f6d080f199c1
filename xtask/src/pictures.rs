//! `cargo xtask pictures`: the pictures of the documents, from the recorded sessions.
//!
//! Nobody draws or crops one by hand: they show what the report makes of `recorded/` now.

use crate::shell::{Run, command};
use crate::{machine, steps};
use anyhow::{Context, Result, ensure};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// A picture of a part of a page.
struct Picture {
    /// Where it comes to lie, from the root of the workspace.
    path: &'static str,
    /// The page, in the folder where the sessions were rendered.
    page: &'static str,
    /// The id of the part of the page that is shown; the whole page from its top if empty.
    part: &'static str,
    height_px: u32,
}

/// The width of all pictures.
const WIDTH_PX: u32 = 1000;

const PICTURES: [Picture; 6] = [
    picture("docs/report.png", "base/report.html", "", 840),
    picture("docs/pictures/chapter.png", "base/report.html", "experiment-false_sharing", 460),
    picture("docs/pictures/threads.png", "threads/report.html", "experiment-workers", 420),
    picture("docs/pictures/trust.png", "base/report.html", "trust", 190),
    picture("docs/pictures/claims.png", "base/claims.html", "", 800),
    picture("docs/pictures/compare.png", COMPARISON, "", 1050),
];

const fn picture(
    path: &'static str,
    page: &'static str,
    part: &'static str,
    height_px: u32,
) -> Picture {
    Picture { path, page, part, height_px }
}

/// The recorded sessions, the base first, and the page that holds one against the other.
const SESSIONS: [&str; 2] = ["recorded/base", "recorded/later"];
const COMPARISON: &str = "compare.html";

/// What cannot be computed again of a session.
const RECORDED: [&str; 2] = ["manifest.json", "trials.ndjson"];

/// A picture larger than this does not belong into the repository, in bytes.
const SIZE_BYTES_MAX: usize = 200_000;

/// How long a browser may take for one picture.
const PATIENCE: Duration = Duration::from_secs(60);

/// Renders the recorded sessions with the built binary and takes their pictures.
///
/// # Errors
/// If there is no browser, scruple cannot be built, or a picture is empty or too large.
pub(crate) fn pictures(root: &Path, install: bool) -> Result<()> {
    let browser = machine::provide("browser", install)?;
    let folder = steps::target(root).join("pictures");
    let _ = std::fs::remove_dir_all(&folder);
    for name in ["base", "threads"] {
        render(root, &folder.join(name))?;
    }
    compare(root, &folder.join(COMPARISON))?;
    for picture in &PICTURES {
        let bytes = take(&browser, &folder, picture)
            .with_context(|| format!("{}: no picture", picture.path))?;
        let path = root.join(picture.path);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(&path, &bytes)
            .with_context(|| format!("cannot write {}", path.display()))?;
        println!("-- {}: {} kB", picture.path, bytes.len() / 1000);
    }
    Ok(())
}

/// Copies a recorded session and makes its pages beside the copy: the record stays as it is.
fn render(root: &Path, session: &Path) -> Result<()> {
    let name = session.file_name().context("a session has a name")?;
    std::fs::create_dir_all(session)?;
    for file in RECORDED {
        let from = root.join("recorded").join(name).join(file);
        std::fs::copy(&from, session.join(file))
            .with_context(|| format!("cannot copy {}", from.display()))?;
    }
    scruple(root).arg("report").arg(session).read().context("the session could not be rendered")?;
    Ok(())
}

/// Makes the page that holds the recorded sessions against one another. It names them as they were
/// called, so that no path of this machine is in the picture; it writes nothing into them.
fn compare(root: &Path, page: &Path) -> Result<()> {
    let mut compare = scruple(root);
    compare.arg("compare").args(SESSIONS).arg("--html").arg(page);
    compare.read().context("the sessions could not be compared")?;
    Ok(())
}

/// The built binary.
fn scruple(root: &Path) -> Command {
    let mut command = command("cargo run --release --quiet --");
    command.current_dir(root);
    command
}

fn take(browser: &Path, folder: &Path, picture: &Picture) -> Result<Vec<u8>> {
    let (profile, file) = (folder.join("browser"), folder.join("picture.png"));
    let page = folder.join(picture.page);
    let text = std::fs::read_to_string(&page)
        .with_context(|| format!("cannot read {}", page.display()))?;
    let alone = page.with_file_name("part.html");
    std::fs::write(&alone, part_alone(&text, picture.part)?)?;
    command(&format!("timeout {}", PATIENCE.as_secs()))
        .arg(browser)
        .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"])
        .args(["--force-device-scale-factor=1", "--blink-settings=preferredColorScheme=1"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("--window-size={WIDTH_PX},{}", picture.height_px))
        .arg(format!("--screenshot={}", file.display()))
        .arg(address(&alone))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .run()?;
    let bytes = std::fs::read(&file).context("the browser wrote none")?;
    std::fs::remove_file(&file)?;
    look(&bytes, picture)?;
    Ok(bytes)
}

/// A picture is a PNG of the size that was asked for, and small enough to be kept.
fn look(bytes: &[u8], picture: &Picture) -> Result<()> {
    let number = |at: usize| -> Option<u32> {
        Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
    };
    ensure!(bytes.starts_with(b"\x89PNG"), "this is no PNG");
    let (width, height) = (number(16), number(20));
    let right = width == Some(WIDTH_PX) && height == Some(picture.height_px);
    ensure!(right, "its size is {width:?} × {height:?}");
    ensure!(
        bytes.len() <= SIZE_BYTES_MAX,
        "{} bytes, and at most {SIZE_BYTES_MAX} are kept",
        bytes.len()
    );
    Ok(())
}

/// A page that shows one of its parts alone. A browser without a window that is sent to a part by
/// `#part` paints what is above it, so the rest is hidden instead.
///
/// # Errors
/// If the page has no such part.
fn part_alone(page: &str, part: &str) -> Result<String> {
    if part.is_empty() {
        return Ok(page.to_string());
    }
    ensure!(page.contains(&format!(" id=\"{part}\"")), "the page has no part called {part}");
    let style = format!(
        "<style>body *:not(:has(#{part}), #{part}, #{part} *) {{ display: none !important; }}</style></body>"
    );
    let (before, after) = page.rsplit_once("</body>").context("the page has no end")?;
    Ok(format!("{before}{style}{after}"))
}

/// A file's address for a browser.
fn address(file: &Path) -> String {
    let mut address = String::from("file://");
    for byte in file.display().to_string().bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' => address.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => address.push(char::from(byte)),
            _ => address.push_str(&format!("%{byte:02X}")),
        }
    }
    address
}

#[cfg(test)]
mod tests {
    use super::{PICTURES, RECORDED, SESSIONS, WIDTH_PX, address, look, part_alone};
    use std::path::Path;

    fn root() -> &'static Path {
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
    }

    #[test]
    fn every_picture_in_the_tree_is_one_that_the_chore_made() {
        for picture in &PICTURES {
            let bytes = std::fs::read(root().join(picture.path)).unwrap();
            look(&bytes, picture).unwrap_or_else(|why| panic!("{}: {why}", picture.path));
        }
        for entry in std::fs::read_dir(root().join("docs/pictures")).unwrap() {
            let path = Path::new("docs/pictures").join(entry.unwrap().file_name());
            assert!(
                PICTURES.iter().any(|known| Path::new(known.path) == path),
                "{}: who made it?",
                path.display()
            );
        }
        for session in SESSIONS {
            for file in RECORDED {
                assert!(root().join(session).join(file).is_file());
            }
        }
    }

    #[test]
    fn what_is_no_such_picture_is_refused() {
        let picture = &PICTURES[0];
        let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        png.extend(WIDTH_PX.to_be_bytes());
        png.extend(picture.height_px.to_be_bytes());
        look(&png, picture).unwrap();
        let mut large = png.clone();
        large.resize(super::SIZE_BYTES_MAX + 1, 0);
        png[17] += 1;
        for wrong in [&b""[..], b"\x89PNG", &png, &large] {
            assert!(look(wrong, picture).is_err());
        }
    }

    #[test]
    fn a_part_is_shown_alone_or_missed() {
        let page = "<body><section><h2 id=\"trust\">T</h2></section></body>";
        let alone = part_alone(page, "trust").unwrap();
        assert!(alone.contains(":has(#trust)") && alone.ends_with("</body>"));
        assert_eq!(part_alone(page, "").unwrap(), page);
        assert!(part_alone(page, "gone").is_err());
    }

    #[test]
    fn addresses_are_escaped() {
        let path = Path::new("/a b/ü#/report.html");
        assert_eq!(address(path), "file:///a%20b/%C3%BC%23/report.html");
    }
}
