//! What can be set about a crawl.
//!
//! What lives here: [`Config`], the table `[crawl]` of `crivello.toml`, its defaults and its
//! check. It has many fields because it is that table and nothing else: each stage is handed the
//! few values it needs. What does not: seeds and folders, which are arguments of the crawl.
//!
//! **Invariant.** A `Config` that passes [`Config::check`] can be obeyed on any machine.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use serde::{Deserialize, Serialize};

use crate::error::CrawlError;

/// The table `[crawl]`. A missing key has its default; an unknown key is an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// What the crawler calls itself. The letters before the first `/`, space or digit are the
    /// name that robots.txt files address.
    pub user_agent: String,
    /// A web page or an e-mail address where the owners of sites reach whoever runs this crawl.
    /// Required unless every host is on this machine.
    pub contact: String,

    /// Silence between the end of one request to a host and the next one, in milliseconds.
    /// A longer Crawl-delay in robots.txt wins.
    pub delay_ms: u64,
    /// The same between requests to one IP address, whichever of its hosts they go to.
    pub ip_delay_ms: u64,
    /// The longest Crawl-delay that is obeyed to the letter, in milliseconds.
    pub crawl_delay_ms_max: u64,

    /// How many requests may be under way at once.
    pub fetchers: usize,
    /// How many threads drive them.
    pub fetch_threads: usize,
    /// How many threads parse and archive what was fetched.
    pub parsers: usize,
    /// How many idle connections are kept open for the next visit of their host.
    pub idle_connections_max: usize,

    /// Which links are followed: those to the seeds' own hosts, to their domains, or any.
    pub scope: Scope,
    /// Whether links are followed at all; `false` fetches exactly the seeds.
    pub follow: bool,
    /// Whether the sitemaps named in robots.txt files are read.
    pub sitemaps: bool,
    /// In which order the pages of a host are visited.
    pub order: Order,

    /// Pages fetched in all, those of earlier runs included; 0 for no limit.
    pub pages_max: u64,
    /// Pages fetched from one host; 0 for no limit.
    pub pages_per_host_max: u64,
    /// Requests made to one host, whatever the answer; 0 for no limit.
    pub requests_per_host_max: u64,
    /// URLs of one host that may wait; later ones are dropped and counted.
    pub waiting_per_host_max: usize,
    /// URLs of all hosts that may wait; later ones are dropped and counted.
    pub waiting_max: usize,
    /// Hosts that may be known; later ones are dropped and counted.
    pub hosts_max: usize,
    /// Links kept of one page; the earlier ones are preferred.
    pub links_per_page_max: usize,
    /// Bytes of a URL.
    pub url_bytes_max: usize,
    /// How often the same segment may occur in a path; more looks like a trap.
    pub path_repeats_max: usize,
    /// How many parameters a query string may have.
    pub query_parameters_max: usize,
    /// Endings of paths that are not worth a request.
    pub skip_extensions: Vec<String>,

    /// Time to reach a server, TLS included, in milliseconds.
    pub connect_timeout_ms: u64,
    /// Time from the request to the end of the answer's head, in milliseconds.
    pub timeout_ms: u64,
    /// Time for a whole body, in milliseconds.
    pub body_timeout_ms: u64,
    /// Bytes of a body as sent; a longer one is not kept.
    pub body_bytes_max: usize,
    /// Bytes of a body after decompression; the rest is not parsed.
    pub decoded_bytes_max: usize,
    /// Bytes of the head of an answer.
    pub head_bytes_max: usize,
    /// Redirects that may follow each other.
    pub redirects_max: u8,

    /// How often a visit that failed for a passing reason is tried again.
    pub retries: u8,
    /// The wait before the first such retry, in milliseconds; it doubles each time.
    pub retry_ms: u64,
    /// The longest Retry-After that the crawl waits for, in seconds; a host that asks for more is
    /// set aside.
    pub retry_after_s_max: u64,
    /// Failures in a row after which a host is set aside.
    pub host_failures_max: u32,
    /// How long a host stays set aside, in seconds. It comes back twice; then only a crawl resumed
    /// later tries it again.
    pub set_aside_s: u64,

    /// How seen URLs are remembered.
    pub sieve: SieveKind,
    /// URLs that the offline sieve gathers before it merges.
    pub sieve_buffer_keys: usize,

    /// Addresses of hosts, instead of asking the name server: `"shop.test" = "127.0.0.1"`. Hosts
    /// named here may have private addresses.
    pub resolve: BTreeMap<String, IpAddr>,

    /// Which of the agents this process is, from 0.
    pub agent: u16,
    /// How many agents share the crawl. The URLs of other agents' hosts are written to
    /// `frontier/outbox-N.urls`.
    pub agents: u16,
    /// How hosts are shared among the agents.
    pub assignment: AssignmentKind,

    /// Address and port where a running crawl tells how it stands, as a page and for Prometheus;
    /// empty for nowhere.
    pub metrics: String,

    /// Whether what is fetched is archived. `false` is for measuring: everything is done but that,
    /// so nothing is left of the crawl and it cannot be resumed.
    pub store: bool,
    /// Size at which the archive begins its next file, in bytes.
    pub archive_file_bytes_max: u64,
    /// Effort of the archive's compression, from 1 (fast) to 9 (small).
    pub gzip_level: u32,
}

/// Which links are followed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// Those to hosts of the seeds, with or without `www.`.
    #[default]
    Host,
    /// Those to the registered domains of the seeds (`example.co.uk` and all below it).
    Domain,
    /// All.
    Any,
}

/// In which order the pages of a host are visited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// First found, first visited.
    #[default]
    BreadthFirst,
    /// Fewer path levels first.
    ShallowFirst,
}

/// How seen URLs are remembered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SieveKind {
    /// Signatures in memory, eight bytes and some a URL.
    #[default]
    Memory,
    /// Sorted signatures on disk, memory flat.
    Offline,
}

/// How hosts are shared among agents.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AssignmentKind {
    /// Hash of the host modulo the number of agents; for comparison.
    Modulo,
    /// Highest hash of host and agent.
    #[default]
    Rendezvous,
}

/// Pictures, sound, films, fonts, programs, packed files, and what only a browser wants.
const SKIP_EXTENSIONS: &str = "7z aac avi avif bin bmp bz2 css deb dmg eot exe flac gif gz ico iso \
    jar jpeg jpg js m4a m4v map mid mkv mov mp3 mp4 mpeg mpg msi ogg ogv otf png rar rpm svg swf \
    tar tgz tif tiff ttf wasm wav weba webm webp wmv woff woff2 xz zip zst";

impl Default for Config {
    fn default() -> Self {
        Config {
            user_agent: concat!("crivello/", env!("CARGO_PKG_VERSION")).to_owned(),
            contact: String::new(),
            delay_ms: 1_000,
            ip_delay_ms: 100,
            crawl_delay_ms_max: 60_000,
            fetchers: 64,
            fetch_threads: 1,
            parsers: 1,
            idle_connections_max: 256,
            scope: Scope::default(),
            follow: true,
            sitemaps: true,
            order: Order::default(),
            pages_max: 0,
            pages_per_host_max: 10_000,
            requests_per_host_max: 50_000,
            waiting_per_host_max: 200_000,
            waiting_max: 10_000_000,
            hosts_max: 1_000_000,
            links_per_page_max: 2_000,
            url_bytes_max: 2_048,
            path_repeats_max: 3,
            query_parameters_max: 8,
            skip_extensions: SKIP_EXTENSIONS.split_whitespace().map(str::to_owned).collect(),
            connect_timeout_ms: 10_000,
            timeout_ms: 20_000,
            body_timeout_ms: 60_000,
            body_bytes_max: 8 << 20,
            decoded_bytes_max: 32 << 20,
            head_bytes_max: 64 << 10,
            redirects_max: 5,
            retries: 2,
            retry_ms: 5_000,
            retry_after_s_max: 300,
            host_failures_max: 5,
            set_aside_s: 3_600,
            sieve: SieveKind::default(),
            sieve_buffer_keys: 1 << 20,
            resolve: BTreeMap::new(),
            agent: 0,
            agents: 1,
            assignment: AssignmentKind::default(),
            metrics: String::new(),
            store: true,
            archive_file_bytes_max: 1 << 30,
            gzip_level: 1,
        }
    }
}

impl Config {
    /// Whether every value can be obeyed; the first that cannot is named.
    pub fn check(&self) -> Result<(), CrawlError> {
        let wrong = |key, why: &str| Err(CrawlError::Config { key, why: why.to_owned() });
        if self.agent_name().is_empty() {
            return wrong("user_agent", "it must begin with a name of letters, such as `crivello`");
        }
        for (key, text) in [("user_agent", &self.user_agent), ("contact", &self.contact)] {
            if text.chars().any(|letter| !(' '..='~').contains(&letter)) {
                return wrong(
                    key,
                    "it may hold printable ASCII only, since it is sent as a header",
                );
            }
        }
        // URLs, heads and bodies stay well below what the archive would refuse.
        for (key, value, limit) in [
            ("fetchers", self.fetchers, 65_536),
            ("fetch_threads", self.fetch_threads, 256),
            ("parsers", self.parsers, 256),
            ("links_per_page_max", self.links_per_page_max, 100_000),
            ("url_bytes_max", self.url_bytes_max, 16_384),
            ("sieve_buffer_keys", self.sieve_buffer_keys, 1 << 28),
            ("body_bytes_max", self.body_bytes_max, 1 << 27),
            ("decoded_bytes_max", self.decoded_bytes_max, 1 << 30),
            ("head_bytes_max", self.head_bytes_max, 1 << 17),
        ] {
            if value == 0 || value > limit {
                return wrong(key, &format!("{value} is not between 1 and {limit}"));
            }
        }
        if self.head_bytes_max < 8_192 {
            return wrong("head_bytes_max", "a head needs at least 8192 bytes");
        }
        if !self.metrics.is_empty() && self.metrics.parse::<SocketAddr>().is_err() {
            return wrong("metrics", "it must be an address and a port, such as `127.0.0.1:9700`");
        }
        if self.agent >= self.agents {
            return wrong("agent", "it must be less than `agents`");
        }
        if !(1..=9).contains(&self.gzip_level) {
            return wrong("gzip_level", "it must be between 1 and 9");
        }
        Ok(())
    }

    /// The name that robots.txt files address.
    pub fn agent_name(&self) -> &str {
        agent_name(&self.user_agent)
    }

    /// The value of the header `User-Agent`.
    pub fn user_agent_header(&self) -> String {
        if self.contact.is_empty() {
            self.user_agent.clone()
        } else {
            format!("{} (+{})", self.user_agent, self.contact)
        }
    }
}

/// The letters that a user agent begins with: the name that robots.txt files address.
pub(crate) fn agent_name(user_agent: &str) -> &str {
    let letter = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'-' || *byte == b'_';
    let end = user_agent.bytes().take_while(|byte| letter(byte)).count();
    user_agent.get(..end).unwrap_or_default()
}
