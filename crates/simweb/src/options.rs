//! The options of a simulated web, and their limits.
//!
//! **Invariant.** Options that were checked make a web; every page of it has a needle.

use crate::SimwebError;

/// Most ordinary hosts. With [`PAGES_MAX`] it keeps every page's number within a needle's 42 bits.
const HOSTS_MAX: u32 = 100_000;
/// Most pages of one host.
const PAGES_MAX: u32 = 1_000_000;
/// Most loopback addresses; each one is a listening socket.
const ADDRESSES_MAX: u32 = 60_000;
/// The last edition. Editions add and delete pages only near the end of a site.
pub(crate) const EDITION_MAX: u32 = 16;
/// The greatest `page_bytes_min`.
const PAGE_BYTES_MAX: usize = 1 << 20;
/// Longest mean latency.
const LATENCY_MS_MAX: u64 = 60_000;

/// Which web to make. The default is the built-in sample.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// The number from which everything random is drawn.
    pub seed: u64,
    /// The number of ordinary hosts, without the portal and the special hosts.
    pub hosts: u32,
    /// Pages of each ordinary host, its root included.
    pub pages_per_host: u32,
    /// Loopback addresses that the hosts share, from 127.0.1.1 on.
    pub addresses: u32,
    /// Whether hosts are named by their addresses, `127.0.1.2` rather than `garden.localhost`. This
    /// serves crawlers that cannot be configured to resolve names. It requires `oddities` to be
    /// off, and more addresses than ordinary hosts.
    pub numeric: bool,
    /// The fewest bytes of a page of an ordinary host; 0 means no minimum. Shorter pages get
    /// further paragraphs of prose, each with a link.
    pub page_bytes_min: usize,
    /// The port of all addresses; 0 lets [`crate::Server::start`] choose one.
    pub port: u16,
    /// Mean time before an answer; each one waits between half and one and a half times this.
    pub latency_ms: u64,
    /// Share of requests to ordinary hosts that fail with 503. The third attempt always succeeds,
    /// and robots.txt never fails.
    pub error_rate: f64,
    /// Whether there are special hosts.
    pub oddities: bool,
    /// The number of changes to the web. Each edition changes, deletes and adds a few pages of the
    /// ordinary hosts; [`crate::Web::changes`] lists them.
    pub edition: u32,
    /// How many requests the server's log keeps; 0 keeps none, for load tests.
    pub log_lines_max: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            seed: 1,
            hosts: 12,
            pages_per_host: 40,
            addresses: 64,
            numeric: false,
            page_bytes_min: 0,
            port: 0,
            latency_ms: 0,
            error_rate: 0.0,
            oddities: true,
            edition: 0,
            log_lines_max: 1_000_000,
        }
    }
}

impl Options {
    /// Says which option is out of range, if any.
    pub(crate) fn check(&self) -> Result<(), SimwebError> {
        let fault = |option, value: String, range| SimwebError::Option { option, value, range };
        if !(1..=HOSTS_MAX).contains(&self.hosts) {
            return Err(fault("hosts", self.hosts.to_string(), "from 1 to 100000"));
        }
        if !(1..=PAGES_MAX).contains(&self.pages_per_host) {
            let value = self.pages_per_host.to_string();
            return Err(fault("pages_per_host", value, "from 1 to 1000000"));
        }
        if !(1..=ADDRESSES_MAX).contains(&self.addresses) {
            return Err(fault("addresses", self.addresses.to_string(), "from 1 to 60000"));
        }
        if self.edition > EDITION_MAX {
            return Err(fault("edition", self.edition.to_string(), "at most 16"));
        }
        if self.numeric && (self.oddities || self.addresses <= self.hosts) {
            let range = "more than the hosts, and without special hosts, where hosts are numeric";
            return Err(fault("addresses", self.addresses.to_string(), range));
        }
        if self.page_bytes_min > PAGE_BYTES_MAX {
            let value = self.page_bytes_min.to_string();
            return Err(fault("page_bytes_min", value, "at most 1048576"));
        }
        if self.latency_ms > LATENCY_MS_MAX {
            return Err(fault("latency_ms", self.latency_ms.to_string(), "at most 60000"));
        }
        if !(0.0..=1.0).contains(&self.error_rate) {
            return Err(fault("error_rate", self.error_rate.to_string(), "from 0 to 1"));
        }
        Ok(())
    }
}
