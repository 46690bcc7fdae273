//! A crawl shared by several agents: which hosts are ours, and how URLs of other hosts reach their agents.
//!
//! What lives here: the outboxes `frontier/outbox-N.urls`, one URL a line with its distance, and the inboxes
//! `frontier/inbox-N.urls`. An inbox is the outbox that agent N has for us; the operator copies it here. What does
//! not: copying them.
//!
//! **Invariant.** A URL is in an outbox once. Every run rewrites the outboxes from the archive on. Inboxes are
//! only read, in full by every run, so none of their URLs is lost.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, Read as _, Write as _};
use std::path::{Path, PathBuf};

use crate::assignment::{AgentId, Assignment, Modulo, Rendezvous};
use crate::config::{AssignmentKind, Config};
use crate::error::CrawlError;
use crate::seeds::Start;

/// Maximum bytes of a line of an inbox; a longer line is invalid.
const LINE_BYTES_MAX: u64 = 1 << 16;

pub(crate) struct Agents {
    me: AgentId,
    assignment: Option<Box<dyn Assignment>>,
    dir: PathBuf,
    outboxes: BTreeMap<AgentId, BufWriter<File>>,
}

impl Agents {
    /// Creates the agents of a crawl, with empty outboxes in `dir`.
    pub(crate) fn create(config: &Config, dir: &Path) -> Result<Agents, CrawlError> {
        let (me, assignment) = (AgentId(config.agent), assignment(config));
        let mut agents =
            Agents { me, assignment, dir: dir.to_path_buf(), outboxes: BTreeMap::new() };
        for agent in live(config).filter(|&agent| agent != me) {
            let path = outbox_path(dir, agent);
            let file = File::create(&path).map_err(|source| CrawlError::Io { path, source })?;
            agents.outboxes.insert(agent, BufWriter::new(file));
        }
        Ok(agents)
    }

    /// Returns the agent that `host` belongs to, unless it is this one.
    pub(crate) fn other(&self, host: &str) -> Option<AgentId> {
        let owner = self.assignment.as_ref()?.owner(host)?;
        (owner != self.me).then_some(owner)
    }

    pub(crate) fn send(&mut self, agent: AgentId, found: &Start) -> Result<(), CrawlError> {
        let path = outbox_path(&self.dir, agent);
        let Some(outbox) = self.outboxes.get_mut(&agent) else { return Ok(()) };
        writeln!(outbox, "{}", found.line()).map_err(|source| CrawlError::Io { path, source })
    }

    pub(crate) fn flush(&mut self) -> Result<(), CrawlError> {
        for (&agent, outbox) in &mut self.outboxes {
            outbox
                .flush()
                .map_err(|source| CrawlError::Io { path: outbox_path(&self.dir, agent), source })?;
        }
        Ok(())
    }
}

/// Returns the assignment of hosts to agents; `None` if there is only one agent.
pub fn assignment(config: &Config) -> Option<Box<dyn Assignment>> {
    Some(match config.assignment {
        _ if config.agents < 2 => return None,
        AssignmentKind::Modulo => Box::new(Modulo::new(live(config))),
        AssignmentKind::Rendezvous => Box::new(Rendezvous::new(live(config))),
    })
}

fn live(config: &Config) -> impl Iterator<Item = AgentId> {
    (0..config.agents).map(AgentId)
}

fn outbox_path(dir: &Path, agent: AgentId) -> PathBuf {
    dir.join(format!("outbox-{}.urls", agent.0))
}

/// A line of an inbox.
pub(crate) struct Line<'a> {
    pub(crate) path: &'a Path,
    /// From 1.
    pub(crate) number: u64,
    /// The text of the line, or why it is invalid.
    pub(crate) text: Result<&'a str, &'static str>,
}

/// Passes every line of every inbox in `dir` to `take`.
pub(crate) fn read_inboxes(dir: &Path, take: &mut dyn FnMut(Line<'_>)) -> Result<(), CrawlError> {
    let failed = |path: &Path| {
        let path = path.to_path_buf();
        move |source| CrawlError::Io { path, source }
    };
    let mut paths = Vec::new();
    for entry in fs::read_dir(dir).map_err(failed(dir))? {
        let path = entry.map_err(failed(dir))?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let is_named =
            name.strip_prefix("inbox-").is_some_and(|rest| rest.strip_suffix(".urls").is_some());
        if is_named && path.is_file() {
            paths.push(path);
        }
    }
    paths.sort_unstable();
    for path in paths {
        let mut lines = BufReader::new(File::open(&path).map_err(failed(&path))?);
        for number in 1.. {
            let mut line = Vec::new();
            let mut bounded = (&mut lines).take(LINE_BYTES_MAX);
            bounded.read_until(b'\n', &mut line).map_err(failed(&path))?;
            let path = path.as_path();
            if line.ends_with(b"\n") {
                let text = str::from_utf8(&line).map_err(|_| "it is no text in UTF-8");
                take(Line { path, number, text });
            } else if lines.skip_until(b'\n').map_err(failed(path))? == 0 {
                // A line without a newline is still being written, or was cut off.
                break;
            } else {
                take(Line { path, number, text: Err("it has more bytes than are read") });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unterminated_and_overlong_lines_are_ignored() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let long = "x".repeat(usize::try_from(LINE_BYTES_MAX).expect("small"));
        for (number, text) in [
            "http://a/\nhttp://b/\r\nhttp://c/shor".to_owned(),
            format!("{long}http://d/\nhttp://e/\n"),
            "x".to_owned(),
            String::new(),
        ]
        .iter()
        .enumerate()
        {
            fs::write(dir.path().join(format!("inbox-{number}.urls")), text).expect("room");
        }
        let mut lines = Vec::new();
        read_inboxes(dir.path(), &mut |line| {
            let text = line.text.map(|text| text.trim().to_owned());
            lines.push((line.number, text.unwrap_or_default()));
        })
        .expect("they can be read");
        let lines: Vec<(u64, &str)> = lines.iter().map(|(at, line)| (*at, line.as_str())).collect();
        assert_eq!(lines, [(1, "http://a/"), (2, "http://b/"), (1, ""), (2, "http://e/")]);
    }
}
