//! The built-in sample web, for the collections that were begun with it.
//!
//! What lives here: which collections these are, and a server for the time that a command needs it. What does not: the
//! web itself (`simweb`).
//!
//! **Invariant.** Only a collection whose every seed is the portal of the sample, whose scope is everything and which
//! says nothing of addresses by itself is taken for one of the sample; it is crawled at the port it was begun with.

use std::io::ErrorKind;

use anyhow::{Context as _, Result};
use collection::Collection;
use page::Url;
use simweb::{Options, Server, SimwebError, Web};

use crate::context::Context;
use crate::talk;

/// Where all links of the sample can be reached from.
const PORTAL: &str = "portal.localhost";

/// The sample web while a command crawls it.
pub(super) struct Sample {
    /// `None` if somebody else answers.
    _server: Option<Server>,
}

impl Sample {
    /// The sample web of a collection that was begun with it, where nothing else is asked for: the crawl is told its
    /// addresses.
    pub(super) fn of(
        collection: &Collection,
        seeds: &[String],
        config: &mut crawl::Config,
        context: &Context,
    ) -> Result<Option<Sample>> {
        let begun = crawl::read_seeds(&collection.frontier_dir())?;
        let port = port_of(&begun).filter(|_| seeds.is_empty() && config.resolve.is_empty());
        let Some(port) = port.filter(|_| config.scope == crawl::Scope::Any) else {
            return Ok(None);
        };
        let (server, remark) = match Server::start(options(port)) {
            Ok(server) => (Some(server), "is served for the time of this crawl".to_owned()),
            Err(SimwebError::Listen { source, .. }) if source.kind() == ErrorKind::AddrInUse => {
                (None, format!("is taken to be what answers at port {port}, which is in use"))
            }
            Err(error) => return Err(error).context("the sample web cannot start"),
        };
        config.resolve = Web::new(options(port), port)?.resolve();
        talk::say(
            context.quiet,
            &format!("sample   the web that this folder was begun with {remark}"),
        );
        Ok(Some(Sample { _server: server }))
    }
}

/// The port of the sample web that a crawl was begun with; `None` if it was begun with anything else.
pub(super) fn port_of(begun: &[Url]) -> Option<u16> {
    let is_sample = |url: &Url| url.host_str() == Some(PORTAL);
    begun.first().filter(|_| begun.iter().all(is_sample))?.port_or_known_default()
}

/// The sample at a port.
pub(super) fn options(port: u16) -> Options {
    Options { port, log_lines_max: 0, ..Options::default() }
}
