//! What can be set about a crawl.
//!
//! What lives here: [`Config`], the table `[crawl]` of `crivello.toml`, and its defaults. It has many
//! fields because it is that table and nothing else: each stage is handed the few values it needs. What
//! does not: which values can be obeyed (`config/check.rs`); seeds and folders, which are arguments of the
//! crawl.
//!
//! **Invariant.** The defaults are those of the commented file that `crivello init` writes.

mod check;

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use archive::Compression;
use serde::{Deserialize, Serialize};
use sieve::{Plan, SieveKind};

use crate::normalisation::Normalisation;

pub use check::Range;

/// The table `[crawl]`. A missing key has its default; an unknown key is an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of its own")]
pub struct Config {
    /// What the crawler calls itself. The letters before the first `/`, space or digit are the
    /// name that robots.txt files address.
    pub user_agent: String,
    /// A web page or an e-mail address where the owners of sites reach whoever runs this crawl.
    /// Required unless every host is on this machine.
    pub contact: String,

    /// What sets the pace of a host: the clock (`delay_ms` and bursts), or how long its server
    /// takes (`slice_ms` and `relative_…`).
    pub politeness: PolitenessKind,
    /// Silence between the end of one request to a host and the next one, in milliseconds.
    /// A longer Crawl-delay in robots.txt wins.
    pub delay_ms: u64,
    /// After so many requests to a host, `delay_ms` apart, it is left alone for `burst_pause_ms`;
    /// 0 for no bursts.
    pub burst_requests: u32,
    /// The silence after a burst, in milliseconds.
    pub burst_pause_ms: u64,
    /// Relative: requests to a host follow each other for so long, in milliseconds; 0 for one
    /// request at a time.
    pub slice_ms: u64,
    /// Relative: the silence after a slice is so many times what the server took in it.
    pub relative_factor: u32,
    /// Relative: the shortest such silence, in milliseconds.
    pub relative_ms_min: u64,
    /// Relative: the longest such silence, in milliseconds.
    pub relative_ms_max: u64,
    /// The same between requests to one IP address, whichever of its hosts they go to.
    pub ip_delay_ms: u64,
    /// The longest Crawl-delay that is obeyed to the letter, in milliseconds.
    pub crawl_delay_ms_max: u64,

    /// How many requests may be under way at once.
    pub fetchers: usize,
    /// How many threads parse and archive what was fetched.
    pub parsers: usize,
    /// How many idle connections are kept open for the next visit of their host.
    pub idle_connections_max: usize,

    /// Which links are followed: those to the seeds' own hosts, to their domains, to what begins
    /// as given, to what matches, or any.
    pub scope: Scope,
    /// What URLs begin with if the scope is `prefix`; none means the folders of the seeds.
    pub scope_prefixes: Vec<String>,
    /// Regular expressions of which URLs match one if the scope is `pattern`.
    pub scope_patterns: Vec<String>,
    /// Rules that make one URL of several which a server answers alike.
    pub normalise: Vec<Normalisation>,
    /// Whether links are followed at all; `false` fetches exactly the seeds.
    pub follow: bool,
    /// Whether a run asks for the addresses it is given and leaves all else as it was, also what waits from before;
    /// if none are given, those of earlier runs. No key of the file: `--list` says so for one run.
    #[serde(skip)]
    pub alone: bool,
    /// Whether the sitemaps named in robots.txt files are read.
    pub sitemaps: bool,
    /// In which order the pages of a host are visited.
    pub order: Order,
    /// What the order `priority` heeds, and how much.
    pub weights: Weights,
    /// Words that two of these signals look for.
    pub keywords: Vec<String>,

    /// Which URLs are queued, as an expression; empty for all. See `docs/guide/filters.md`.
    pub fetch_filter: String,
    /// Which pages are read for their links.
    pub parse_filter: String,
    /// Which pages are archived.
    pub store_filter: String,
    /// Which links are followed.
    pub link_filter: String,

    /// Bytes of bodies in all, those of earlier runs included; 0 for no limit.
    pub bytes_max: u64,
    /// Time that a run may take, in seconds; 0 for no limit.
    pub time_s_max: u64,
    /// Links from the first page of a site to a page of it; 0 for no limit.
    pub depth_max: u16,
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
    /// Bytes of memory for the URLs that wait and the rules of robots.txt files; the rest is on disk.
    pub waiting_memory_bytes: usize,
    /// A URL whose turn would come later than this, in seconds, is pruned and counted; 0 for never.
    pub turn_s_max: u64,
    /// Hosts that may be known; later ones are dropped and counted.
    pub hosts_max: usize,
    /// Links kept of one page; the earlier ones are preferred.
    pub links_per_page_max: usize,
    /// Bytes of a URL.
    pub url_bytes_max: usize,
    /// How often the same segment may occur in a path; more looks like a trap.
    pub path_repeats_max: usize,
    /// The first and the last year that a date in a URL may have; others look like a calendar without
    /// end.
    pub calendar_years: [u16; 2],
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
    /// Bytes of a sitemap, as sent and after decompression; of a longer one the first URLs count. The
    /// protocol allows 50 MiB.
    pub sitemap_bytes_max: usize,
    /// Bytes of the head of an answer.
    pub head_bytes_max: usize,
    /// Redirects that may follow each other.
    pub redirects_max: u8,

    /// How often a visit that failed for a passing reason is tried again, with 0 once if other pages of its host answer after
    /// it; after so many a host that cannot be reached is set aside, and that costs none of its pages a try.
    pub retries: u8,
    /// The wait before the first such retry, in milliseconds; it doubles each time.
    pub retry_ms: u64,
    /// The longest Retry-After that a run waits for, in seconds; a host that asks for more is set aside
    /// until that time, also by later runs.
    pub retry_after_s_max: u64,
    /// Failures in a row after which a host is set aside: each that concerns the host (name,
    /// connection), and different pages that fail with no good answer in between.
    pub host_failures_max: u32,
    /// How long a host stays set aside, in seconds. It comes back twice; then only a crawl resumed
    /// later tries it again.
    pub set_aside_s: u64,

    /// How seen URLs are remembered.
    pub sieve: SieveKind,
    /// URLs that an offline or LSM sieve gathers in memory, some forty bytes each.
    pub sieve_buffer_keys: usize,
    /// Signatures of recent URLs that are kept in front of the sieve, eight bytes each; 0 for none.
    pub sieve_cache_keys: usize,
    /// URLs that a Bloom sieve is made for; more make it less precise.
    pub sieve_capacity: u64,
    /// Precision of a Bloom sieve: with as many URLs it takes one new one in 2^precision for known
    /// and loses it. It takes 0.18 bytes of memory for each URL and bit of precision.
    pub sieve_precision: u32,

    /// Addresses of hosts, instead of asking the name server: `"shop.test" = "127.0.0.1"`. Hosts
    /// named here may have private addresses.
    pub resolve: BTreeMap<String, IpAddr>,
    /// The name servers to ask, `"127.0.0.1:53"`; none for those of the system.
    pub dns_servers: Vec<SocketAddr>,
    /// The shortest time that an address is used before it is asked for again, in seconds, whatever
    /// the name server says.
    pub dns_ttl_s_min: u64,
    /// The longest.
    pub dns_ttl_s_max: u64,
    /// How long it is believed that a name does not exist, in seconds at most.
    pub dns_negative_ttl_s_max: u64,
    /// Names of which the answers are kept.
    pub dns_names_max: u64,

    /// A PEM file with certificates of authorities to be trusted besides those of the browsers.
    pub tls_roots: PathBuf,
    /// Whether HTTP/2 is spoken to servers that offer it over TLS.
    pub http2: bool,

    /// Headers sent to every host, `{ "X-Key" = "…" }`. The archive keeps their names, not their
    /// values; that is so for `auth` and cookies, too.
    pub headers: BTreeMap<String, String>,
    /// What single hosts are told: `[{ host = "shop.test", user = "me", password = "…" }]`.
    pub auth: Vec<HostAuth>,
    /// A file of cookies in Netscape's format, sent where they belong and nowhere else.
    pub cookies_file: PathBuf,

    /// Which of the agents this process is, from 0.
    pub agent: u16,
    /// How many agents share the crawl. The URLs of other agents' hosts are written to
    /// `frontier/outbox-N.urls`.
    pub agents: u16,
    /// How hosts are shared among the agents.
    pub assignment: AssignmentKind,

    /// Whether pages that the collection has are asked for again.
    pub recrawl: Recrawl,
    /// The shortest time after which a page is due again, in seconds; also the time after its first
    /// visit.
    pub recrawl_min_s: u64,
    /// The longest time after which a page is due again, in seconds.
    pub recrawl_max_s: u64,

    /// Address and port where a running crawl tells how it stands, as a page and for Prometheus;
    /// empty for nowhere.
    pub metrics: String,

    /// Whether what is fetched is archived. `false` is for measuring: everything is done but that,
    /// so nothing is left of the crawl and it cannot be resumed.
    pub store: bool,
    /// Size at which the archive begins its next file, in bytes.
    pub archive_file_bytes_max: u64,
    /// How the archive is compressed. Files of both kinds may stand side by side.
    pub archive_compression: CompressionKind,
    /// Effort of the compression with gzip, from 1 (fast) to 9 (small).
    pub gzip_level: u32,
    /// Effort of the compression with zstd, from 1 (fast) to 19 (small).
    pub zstd_level: i32,
}

/// How the archive is compressed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CompressionKind {
    /// With gzip, which every tool for WARC files reads.
    #[default]
    Gzip,
    /// With zstd, which takes less time and less room, but which fewer tools read.
    Zstd,
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
    /// Those that begin as one of `scope_prefixes`, or as the folder of a seed.
    Prefix,
    /// Those that match one of `scope_patterns`.
    Pattern,
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
    /// The best by `weights` first.
    Priority,
    /// Refused by [`Config::check`], which says why.
    DepthFirst,
}

/// What each signal counts in the order `priority`; 0 for not at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Weights {
    /// A URL of few path levels.
    pub short_url: u16,
    /// A link that leads off the site it stands on.
    pub off_site: u16,
    /// Keywords in the URL.
    pub url_keywords: u16,
    /// Likeness of the linking page's text to the keywords.
    pub page_keywords: u16,
}

impl Default for Weights {
    fn default() -> Self {
        Weights { short_url: 1, off_site: 0, url_keywords: 1, page_keywords: 0 }
    }
}

/// What sets the pace of a host.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PolitenessKind {
    /// A fixed silence after every request, and a longer one after a burst.
    #[default]
    Absolute,
    /// A silence that is a multiple of the time the server took.
    Relative,
}

/// What some hosts are told besides the request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HostAuth {
    /// Which hosts: `shop.test` means https on its usual port, `shop.test:8443` https on another one, `*.shop.test`
    /// all below it. `http://shop.test` is told in the clear, where anybody on the way can read it.
    pub host: String,
    /// The user of basic authentication; empty for none.
    pub user: String,
    /// The password.
    pub password: String,
    /// Headers for these hosts only.
    pub headers: BTreeMap<String, String>,
}

/// Which of the pages that a collection has are asked for again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Recrawl {
    /// None.
    #[default]
    Never,
    /// Those that are given to the run.
    Given,
    /// Those that are due by how often they have changed.
    Due,
    /// All.
    All,
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
    #[expect(clippy::too_many_lines, reason = "one line a key")]
    fn default() -> Self {
        Config {
            user_agent: concat!("crivello/", env!("CARGO_PKG_VERSION")).to_owned(),
            contact: String::new(),
            politeness: PolitenessKind::default(),
            delay_ms: 1_000,
            burst_requests: 0,
            burst_pause_ms: 10_000,
            slice_ms: 2_000,
            relative_factor: 3,
            relative_ms_min: 500,
            relative_ms_max: 60_000,
            ip_delay_ms: 100,
            crawl_delay_ms_max: 60_000,
            fetchers: 64,
            parsers: 1,
            idle_connections_max: 256,
            scope: Scope::default(),
            scope_prefixes: Vec::new(),
            scope_patterns: Vec::new(),
            normalise: vec![
                Normalisation::SessionIds,
                Normalisation::Tracking,
                Normalisation::Escapes,
            ],
            follow: true,
            alone: false,
            sitemaps: true,
            order: Order::default(),
            weights: Weights::default(),
            keywords: Vec::new(),
            fetch_filter: String::new(),
            parse_filter: String::new(),
            store_filter: String::new(),
            link_filter: String::new(),
            bytes_max: 0,
            time_s_max: 0,
            depth_max: 0,
            pages_max: 0,
            pages_per_host_max: 10_000,
            requests_per_host_max: 50_000,
            waiting_per_host_max: 200_000,
            waiting_max: 10_000_000,
            waiting_memory_bytes: 16 << 20,
            turn_s_max: 0,
            hosts_max: 1_000_000,
            links_per_page_max: 20_000,
            url_bytes_max: 2_048,
            path_repeats_max: 3,
            calendar_years: [1900, 2040],
            query_parameters_max: 8,
            skip_extensions: SKIP_EXTENSIONS.split_whitespace().map(str::to_owned).collect(),
            connect_timeout_ms: 10_000,
            timeout_ms: 20_000,
            body_timeout_ms: 60_000,
            body_bytes_max: 8 << 20,
            decoded_bytes_max: 32 << 20,
            sitemap_bytes_max: 50 << 20,
            head_bytes_max: 64 << 10,
            redirects_max: 5,
            retries: 2,
            retry_ms: 5_000,
            retry_after_s_max: 300,
            host_failures_max: 10,
            set_aside_s: 3_600,
            sieve: SieveKind::default(),
            sieve_buffer_keys: 1 << 20,
            sieve_cache_keys: 1 << 16,
            sieve_capacity: 10_000_000,
            sieve_precision: 20,
            resolve: BTreeMap::new(),
            dns_servers: Vec::new(),
            dns_ttl_s_min: 30,
            dns_ttl_s_max: 86_400,
            dns_negative_ttl_s_max: 60,
            dns_names_max: 100_000,
            tls_roots: PathBuf::new(),
            http2: true,
            headers: BTreeMap::new(),
            auth: Vec::new(),
            cookies_file: PathBuf::new(),
            agent: 0,
            agents: 1,
            assignment: AssignmentKind::default(),
            recrawl: Recrawl::default(),
            recrawl_min_s: 24 * 3600,
            recrawl_max_s: 90 * 24 * 3600,
            metrics: String::new(),
            store: true,
            archive_file_bytes_max: 1 << 30,
            archive_compression: CompressionKind::default(),
            gzip_level: 1,
            zstd_level: 1,
        }
    }
}

impl Config {
    /// How the archive is to be compressed, and with what effort.
    pub fn compression(&self) -> Compression {
        match self.archive_compression {
            CompressionKind::Gzip => Compression::Gzip { level: self.gzip_level },
            CompressionKind::Zstd => Compression::Zstd { level: self.zstd_level },
        }
    }

    /// How long a visit takes at most, but for the want of descriptors: it may be sent twice, and wait for room before
    /// its body is read on.
    pub(crate) fn visit_ms_max(&self) -> u64 {
        let twice_ms = self.timeout_ms.saturating_add(self.body_timeout_ms).saturating_mul(2);
        self.connect_timeout_ms.saturating_add(twice_ms)
    }

    /// The sieve that the configuration asks for.
    pub(crate) fn sieve_plan(&self) -> Plan {
        Plan {
            kind: self.sieve,
            buffer_keys: self.sieve_buffer_keys,
            capacity: self.sieve_capacity,
            precision: self.sieve_precision,
            cache_keys: self.sieve_cache_keys,
        }
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
