//! The built-in sample web, for collections that began with it. The web itself is in the crate `simweb`.
//!
//! **Invariant.** The sample is served only if every seed is its portal, the scope is `any` and `resolve` is empty. The
//! crawl uses the port that the collection began with.

use std::io::ErrorKind;

use anyhow::{Context as _, Result};
use collection::Collection;
use page::Url;
use simweb::{Options, Server, SimwebError, Web};

use crate::context::Context;

/// The host that links to all pages of the sample.
const PORTAL: &str = "portal.localhost";

/// The sample web while a command crawls it.
pub(super) struct Sample {
    /// `None` if another process serves it.
    _server: Option<Server>,
}

impl Sample {
    /// Serves the sample web if the collection began with it and no other seed is given. Sets its addresses in `config`.
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
            Ok(server) => (Some(server), "it is served during this crawl".to_owned()),
            Err(SimwebError::Listen { source, .. }) if source.kind() == ErrorKind::AddrInUse => {
                (None, format!("port {port} is in use, probably by a server of it"))
            }
            Err(error) => return Err(error).context("the sample web cannot start"),
        };
        config.resolve = Web::new(options(port), port)?.resolve();
        context.say(
            "Sample",
            format!("This is the built-in sample web; {remark}. Its faults are on purpose."),
        );
        Ok(Some(Sample { _server: server }))
    }
}

/// The port of the sample web that a crawl began with; `None` if it began with other seeds.
pub(super) fn port_of(begun: &[Url]) -> Option<u16> {
    let is_sample = |url: &Url| url.host_str() == Some(PORTAL);
    begun.first().filter(|_| begun.iter().all(is_sample))?.port_or_known_default()
}

/// The options of the sample at a port.
pub(super) fn options(port: u16) -> Options {
    Options { port, log_lines_max: 0, ..Options::default() }
}
