//! Servers that are written for other runtimes, as their users write them.
//!
//! Each gets the listening socket as its standard input, and what a request needs as arguments. Go and Java
//! are compiled once for all trials that share a folder.

use super::{Plan, StartError};
use std::ffi::OsString;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use sys::Pid;
use sys::launch::Launch;
use sys::program::{Bounds, Failure};

/// A runtime, and how it serves a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runtime {
    /// Go: net/http, with a goroutine for each connection.
    Go,
    /// Java: a thread of the system for each connection.
    JavaThreads,
    /// Java: a virtual thread for each connection (Java 21).
    JavaVirtual,
    /// Node.js: its http server, one thread with an event loop.
    Node,
    /// Python: http.server, with a thread for each connection.
    PythonThreads,
    /// Python: asyncio, one thread with an event loop.
    PythonAsyncio,
}

/// Where programs are looked for: a trial has no PATH.
const FOLDERS: [&str; 5] =
    ["/usr/local/bin", "/usr/bin", "/bin", "/usr/local/go/bin", "/usr/lib/go/bin"];

/// Keeps Java from a file of counters in /tmp.
const NO_FILES: &str = "-XX:-UsePerfData";

/// The most bytes of a compiler's complaint that are shown.
const COMPLAINT_BYTES_MAX: usize = 2000;

/// What a runtime needs.
struct Needs {
    /// The program that runs the server; none where it is compiled to one.
    runs: Option<&'static str>,
    /// The program that compiles it.
    compiles: Option<&'static str>,
    file: &'static str,
    source: &'static str,
    /// Its last argument.
    model: &'static str,
    /// Packages that bring the programs, on Debian.
    package: &'static str,
}

impl Runtime {
    fn needs(self) -> Needs {
        let java = |model| Needs {
            runs: Some("java"),
            compiles: Some("javac"),
            file: "Server.java",
            source: include_str!("runtimes/Server.java"),
            model,
            package: "a JDK, version 11 or later (default-jdk)",
        };
        let python = |model| Needs {
            runs: Some("python3"),
            compiles: None,
            file: "server.py",
            source: include_str!("runtimes/server.py"),
            model,
            package: "Python, version 3.9 or later (python3)",
        };
        match self {
            Runtime::Go => Needs {
                runs: None,
                compiles: Some("go"),
                file: "server.go",
                source: include_str!("runtimes/server.go"),
                model: "",
                package: "Go, version 1.22 or later (golang-go)",
            },
            Runtime::JavaThreads => java("threads"),
            Runtime::JavaVirtual => java("virtual"),
            Runtime::Node => Needs {
                runs: Some("node"),
                compiles: None,
                file: "server.js",
                source: include_str!("runtimes/server.js"),
                model: "",
                package: "Node.js, version 18 or later (nodejs)",
            },
            Runtime::PythonThreads => python("threads"),
            Runtime::PythonAsyncio => python("asyncio"),
        }
    }

    /// Whether each connection has a thread of the system, which ends with it.
    pub fn has_a_thread_each(self) -> bool {
        matches!(self, Runtime::JavaThreads | Runtime::PythonThreads)
    }

    /// Compiles the server, if it has to be and is not there from an earlier call with the same folder.
    ///
    /// # Errors
    /// [`StartError::Missing`] without its runtime, or with too old a one; what the compiler complains about.
    pub fn prepare(self, folder: &Path) -> Result<(), StartError> {
        let needs = self.needs();
        let missing = || StartError::Missing(format!("needs {}", needs.package));
        for program in [needs.runs, needs.compiles].into_iter().flatten() {
            find(program).ok_or_else(missing)?;
        }
        let written = |error| StartError::System { what: "writing a server's program", error };
        let own = folder.join(needs.file);
        let done = folder.join(format!("{}.done", needs.file));
        if !done.exists() {
            std::fs::create_dir_all(folder).map_err(written)?;
            std::fs::write(&own, needs.source).map_err(written)?;
            if let Some(compiler) = needs.compiles.and_then(find) {
                compile(&compiler, folder, needs.file)?;
            }
            std::fs::write(&done, "").map_err(written)?;
        }
        if self == Runtime::JavaVirtual && !has_virtual_threads(folder) {
            return Err(StartError::Missing(
                "needs Java 21 or later, which has virtual threads (openjdk-21-jdk)".into(),
            ));
        }
        Ok(())
    }

    /// Starts the server, which [`Runtime::prepare`] has put into a folder. Returns its process.
    pub(super) fn start(
        self,
        listener: TcpListener,
        plan: &Plan,
        cpus: &[u32],
        folder: &Path,
    ) -> Result<Pid, StartError> {
        let needs = self.needs();
        let mut command = match needs.runs.and_then(find) {
            Some(program) => Command::new(program),
            None => Command::new(folder.join("server")),
        };
        match (needs.compiles, needs.runs) {
            (Some(_), Some(_)) => command.args([NO_FILES, "-cp"]).arg(folder).arg("Server"),
            // Without files of bytecode next to Python's library.
            (None, Some("python3")) => command.arg("-B").arg(folder.join(needs.file)),
            (None, _) => command.arg(folder.join(needs.file)),
            (Some(_), None) => &mut command,
        };
        let (wait, compute, every) = plan.service.parts();
        command.args([wait.as_nanos(), compute.as_nanos(), every.into()].map(|it| it.to_string()));
        command.args([if plan.keep_alive { "yes" } else { "no" }, needs.model]);
        command.env_clear().stdin(Stdio::from(OwnedFd::from(listener)));
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let launch = Launch { cpus: cpus.to_vec(), ..Launch::default() };
        sys::launch::arrange(&mut command, &launch)?;
        let error = |error| StartError::System { what: "starting a server's program", error };
        let child = command.spawn().map_err(error)?;
        Ok(child.id().cast_signed())
    }
}

fn find(program: &str) -> Option<PathBuf> {
    FOLDERS.iter().map(|folder| Path::new(folder).join(program)).find(|file| file.is_file())
}

/// Runs a compiler in a folder, which also holds what the compiler keeps.
fn compile(compiler: &Path, folder: &Path, file: &str) -> Result<(), StartError> {
    let folder = folder.canonicalize().map_err(|error| StartError::System {
        what: "opening the folder of a server's program",
        error,
    })?;
    let is_go = compiler.ends_with("go");
    let quiet = format!("-J{NO_FILES}");
    let arguments = if is_go { vec!["build", "-o", "server", file] } else { vec![&quiet, file] };
    let cache = folder.join("cache");
    let mut command = Command::new(compiler);
    let variables: [(&str, OsString); 5] = [
        ("PATH", FOLDERS.join(":").into()),
        ("HOME", folder.clone().into()),
        ("TMPDIR", folder.clone().into()),
        ("GOCACHE", cache.clone().into()),
        ("GO111MODULE", "off".into()),
    ];
    command.args(arguments).env_clear().envs(variables).current_dir(&folder).stdin(Stdio::null());
    let bounds = Bounds { time: None, complaint_bytes_max: COMPLAINT_BYTES_MAX, stop: &|| false };
    let compiled = sys::program::answer(&mut command, &bounds, COMPLAINT_BYTES_MAX);
    // Hundreds of megabytes that nobody needs again; what cannot be removed goes with the folder.
    let _ = std::fs::remove_dir_all(cache);
    let name = compiler.display();
    match compiled {
        Ok((_, ended)) if ended.status.success() => Ok(()),
        Ok((_, ended)) => Err(StartError::Missing(format!(
            "needs a {name} that compiles {file}; this one says: {}",
            String::from_utf8_lossy(&ended.complaint).trim()
        ))),
        Err(Failure::System(error)) => {
            Err(StartError::System { what: "starting a compiler", error })
        }
        Err(other) => Err(StartError::Missing(format!("{name}: {other}"))),
    }
}

/// Whether Java has virtual threads: the server asks for them before anything else, and ends without.
fn has_virtual_threads(folder: &Path) -> bool {
    let Some(java) = find("java") else { return false };
    let mut command = Command::new(java);
    command.args([NO_FILES, "-cp"]).arg(folder).args(["Server", "0", "0", "1", "no", "asked"]);
    command.env_clear().stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
