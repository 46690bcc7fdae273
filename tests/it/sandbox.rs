//! A folder for each test, runs of the binary in it, and a web to crawl.
//!
//! **Invariant.** The binary writes only to the folder and gets no `CRIVELLO_…` variable. Every process ends with
//! its test.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use simweb::{Options, Server, Truth};
use tempfile::TempDir;

/// Delay of test crawls in milliseconds.
pub(crate) const DELAY_MS: u64 = 20;
/// Page limit per host of test crawls.
pub(crate) const PAGES_PER_HOST_MAX: u64 = 30;

/// A folder for runs of the binary.
pub(crate) struct Sandbox {
    folder: TempDir,
}

/// The result of a run.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    /// Makes an empty collection `web`.
    pub(crate) fn with_collection() -> Self {
        let sandbox = Self::new();
        sandbox.done(&["init", "web"]);
        sandbox
    }

    /// Makes the collection `web` with these settings.
    pub(crate) fn with_settings(text: impl AsRef<[u8]>) -> Self {
        let sandbox = Self::new();
        fs::create_dir(sandbox.path("web")).expect("a folder");
        fs::write(sandbox.path("web/crivello.toml"), text).expect("a file");
        sandbox
    }

    /// Makes the collection `web` with an index of documents in JSONL.
    pub(crate) fn of_documents(lines: &str) -> Self {
        let sandbox = Self::with_collection();
        fs::write(sandbox.path("d.jsonl"), lines).expect("a file");
        sandbox.done(&["import", "d.jsonl", "--dir", "web", "-q"]);
        sandbox.done(&["index", "--dir", "web", "-q"]);
        sandbox
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The binary with these arguments, not yet run.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_crivello"));
        let ours = std::env::vars().filter(|(name, _)| name.starts_with("CRIVELLO_"));
        for (name, _) in ours {
            command.env_remove(name);
        }
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null());
        command
    }

    /// Runs the binary to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        let output = self.command(arguments).output().expect("the binary runs");
        let ran = Ran {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        };
        assert!(!ran.stderr.contains("panicked"), "{arguments:?}: {ran:#?}");
        ran
    }

    /// Runs the binary, which must succeed. Returns standard output.
    pub(crate) fn done(&self, arguments: &[&str]) -> String {
        let ran = self.run(arguments);
        assert_eq!(ran.code, 0, "{arguments:?}: {ran:#?}");
        ran.stdout
    }

    /// Runs the binary with `--json`. Returns the object that it prints.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let arguments: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
        serde_json::from_str(&self.done(&arguments)).expect("JSON")
    }

    /// Starts the binary; the guard ends it.
    pub(crate) fn start(&self, arguments: &[&str]) -> Running {
        let mut command = self.command(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        Running { child: command.spawn().expect("the binary starts") }
    }

    /// Makes the collection `web`, configured to crawl all of `server`'s web.
    pub(crate) fn init(&self, server: &Server) {
        fs::create_dir_all(self.path("web")).expect("a folder");
        fs::write(self.path("web/crivello.toml"), settings(server)).expect("a file");
    }

    /// Crawls all of `server`'s web into `web`, ranks and indexes it.
    pub(crate) fn build(&self, server: &Server) {
        self.init(server);
        let seeds = server.web().seeds();
        let seeds: Vec<&str> = seeds.iter().map(String::as_str).collect();
        self.done(&[&["crawl", "--dir", "web"], seeds.as_slice()].concat());
        self.done(&["rank", "--dir", "web"]);
        self.done(&["index", "--dir", "web"]);
    }
}

/// A process that ends when this value is dropped.
pub(crate) struct Running {
    pub(crate) child: Child,
}

impl Running {
    /// Returns the first line of standard output.
    pub(crate) fn first_line(&mut self) -> String {
        let mut line = String::new();
        let out = self.child.stdout.as_mut().expect("piped");
        BufReader::new(out).read_line(&mut line).expect("a line");
        line.trim().to_owned()
    }

    /// Sends a signal and waits. Returns the exit code.
    pub(crate) fn signal(mut self, name: &str) -> Option<i32> {
        self.send(name);
        self.child.wait().expect("it ends").code()
    }

    /// Sends a signal.
    pub(crate) fn send(&self, name: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args([&format!("-{name}"), &pid]).status();
        assert!(sent.expect("kill runs").success());
    }

    /// Returns standard error up to the end of the process.
    pub(crate) fn stderr(&mut self) -> String {
        let mut text = String::new();
        self.child.stderr.as_mut().expect("piped").read_to_string(&mut text).expect("text");
        text
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A small web with every special host.
pub(crate) fn small_web() -> Server {
    let options = Options { hosts: 4, pages_per_host: 12, ..Options::default() };
    Server::start(options).expect("loopback addresses")
}

/// A small web, and the collection `web` configured to crawl it.
pub(crate) fn init_web() -> (Sandbox, Server) {
    let (sandbox, server) = (Sandbox::new(), small_web());
    sandbox.init(&server);
    (sandbox, server)
}

/// A small web, crawled, ranked and indexed.
pub(crate) fn built_web() -> (Sandbox, Server) {
    let (sandbox, server) = (Sandbox::new(), small_web());
    sandbox.build(&server);
    (sandbox, server)
}

/// The truth about a web whose crawl takes [`PAGES_PER_HOST_MAX`] pages of each host.
pub(crate) fn truth(server: &Server) -> Truth {
    server.web().truth(PAGES_PER_HOST_MAX)
}

/// The configuration for a crawl of a whole web.
fn settings(server: &Server) -> String {
    let mut text = format!(
        "[crawl]\nscope = \"any\"\ndelay_ms = {DELAY_MS}\nip_delay_ms = 0\nretry_ms = 50\n\
         pages_per_host_max = {PAGES_PER_HOST_MAX}\ntimeout_ms = 5000\nbody_timeout_ms = 5000\n\
         body_bytes_max = 1000000\n[crawl.resolve]\n"
    );
    for (name, address) in server.web().resolve() {
        writeln!(text, "\"{name}\" = \"{address}\"").expect("memory");
    }
    text
}

/// Returns status and body of a GET request.
pub(crate) fn get(address: &str, path: &str) -> (u16, String) {
    let authority = address.trim_start_matches("http://").trim_end_matches('/');
    let mut stream = TcpStream::connect(authority).expect("a server");
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a timeout");
    let request = format!("GET {path} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("sent");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("an answer");
    let answer = String::from_utf8_lossy(&answer);
    let status = answer.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
    let body = answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned());
    (status, body.unwrap_or_default())
}

/// Files below a folder, sorted.
pub(crate) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files.extend(files_below(&path));
        } else {
            files.push(path);
        }
    }
    files.sort();
    files
}
