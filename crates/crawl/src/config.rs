//! The configuration of a crawl.
//!
//! What lives here: [`Config`], the table `[crawl]` of `crivello.toml`, and its defaults. It has many fields
//! because it is that table and nothing else; each stage gets only the few values that it needs. What does not:
//! which values are valid (`config/check.rs`); seeds and folders, which are arguments of the crawl.
//!
//! **Invariant.** The defaults equal those of the commented file that `crivello init` writes.

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
    /// The name of the crawler. Its letters before the first `/`, space or digit are the name that robots.txt
    /// files address.
    pub user_agent: String,
    /// A web page or an e-mail address where site owners reach the operator of this crawl. Required unless every
    /// host is on this machine.
    pub contact: String,

    /// The basis of the pauses: fixed times (`delay_ms` and bursts), or the time the server takes (`slice_ms` and
    /// `relative_…`).
    pub politeness: PolitenessKind,
    /// Pause between the end of a request to a host and the next request, in milliseconds. A longer Crawl-delay in
    /// robots.txt wins.
    pub delay_ms: u64,
    /// Number of requests to a host, `delay_ms` apart, before a pause of `burst_pause_ms`; 0 for no bursts.
    pub burst_requests: u32,
    /// The pause after a burst, in milliseconds.
    pub burst_pause_ms: u64,
    /// Relative: how long requests to a host follow each other without a pause, in milliseconds; 0 for one request
    /// at a time.
    pub slice_ms: u64,
    /// Relative: the pause after a slice, as a multiple of the time that the server took in it.
    pub relative_factor: u32,
    /// Relative: the shortest such pause, in milliseconds.
    pub relative_ms_min: u64,
    /// Relative: the longest such pause, in milliseconds.
    pub relative_ms_max: u64,
    /// Pause between requests to one IP address, for all of its hosts, in milliseconds.
    pub ip_delay_ms: u64,
    /// The longest Crawl-delay that is obeyed in full, in milliseconds.
    pub crawl_delay_ms_max: u64,

    /// Number of concurrent requests.
    pub fetchers: usize,
    /// Number of threads that parse and archive answers.
    pub parsers: usize,
    /// Number of idle connections kept open for the next visit of their host.
    pub idle_connections_max: usize,

    /// Which links are followed.
    pub scope: Scope,
    /// The prefixes of URLs in scope `prefix`; if empty, the folders of the seeds.
    pub scope_prefixes: Vec<String>,
    /// Regular expressions in scope `pattern`; a URL must match one of them.
    pub scope_patterns: Vec<String>,
    /// Rules that merge URLs to which a server gives the same answer.
    pub normalise: Vec<Normalisation>,
    /// Whether links are followed; `false` fetches exactly the seeds.
    pub follow: bool,
    /// Whether a run fetches only the addresses it is given, or the seeds if none are given. All other waiting
    /// URLs stay as they are. Not a key of the file: `--list` sets it for one run.
    #[serde(skip)]
    pub alone: bool,
    /// Whether sitemaps named in robots.txt files are fetched.
    pub sitemaps: bool,
    /// The order in which the pages of a host are visited.
    pub order: Order,
    /// The weights of the signals in the order `priority`.
    pub weights: Weights,
    /// The keywords for two of these signals.
    pub keywords: Vec<String>,

    /// Which URLs are queued, as an expression; empty for all. See `docs/guide/filters.md`.
    pub fetch_filter: String,
    /// Which pages are parsed for links.
    pub parse_filter: String,
    /// Which pages are archived.
    pub store_filter: String,
    /// Which links are followed.
    pub link_filter: String,

    /// Maximum bytes of bodies, earlier runs included; 0 for no limit.
    pub bytes_max: u64,
    /// Maximum duration of a run, in seconds; 0 for no limit.
    pub time_s_max: u64,
    /// Maximum number of links from the first page of a site; 0 for no limit.
    pub depth_max: u16,
    /// Maximum number of pages, earlier runs included; 0 for no limit.
    pub pages_max: u64,
    /// Maximum number of pages of one host; 0 for no limit.
    pub pages_per_host_max: u64,
    /// Maximum number of requests to one host, whatever the answer; 0 for no limit.
    pub requests_per_host_max: u64,
    /// Maximum number of waiting URLs of one host; later ones are dropped and counted.
    pub waiting_per_host_max: usize,
    /// Maximum number of waiting URLs of all hosts; later ones are dropped and counted.
    pub waiting_max: usize,
    /// Bytes of memory for waiting URLs and robots.txt rules; the rest is on disk.
    pub waiting_memory_bytes: usize,
    /// A URL that would be visited later than this, in seconds, is pruned and counted; 0 for never.
    pub turn_s_max: u64,
    /// Maximum number of hosts; later ones are dropped and counted.
    pub hosts_max: usize,
    /// Maximum number of links kept of one page; the first ones are kept.
    pub links_per_page_max: usize,
    /// Maximum bytes of a URL.
    pub url_bytes_max: usize,
    /// How often the same segment may occur in a path; more look like a trap.
    pub path_repeats_max: usize,
    /// The first and last year that a date in a URL may have; others look like an endless calendar.
    pub calendar_years: [u16; 2],
    /// Maximum number of parameters in a query string.
    pub query_parameters_max: usize,
    /// File extensions that are not fetched.
    pub skip_extensions: Vec<String>,

    /// Time to connect to a server, TLS included, in milliseconds.
    pub connect_timeout_ms: u64,
    /// Time from the request to the end of the answer's head, in milliseconds.
    pub timeout_ms: u64,
    /// Time for a whole body, in milliseconds.
    pub body_timeout_ms: u64,
    /// Maximum bytes of a body as sent; a longer one is not kept.
    pub body_bytes_max: usize,
    /// Maximum bytes of a body after decompression; the rest is not parsed.
    pub decoded_bytes_max: usize,
    /// Maximum bytes of a sitemap, as sent and after decompression; of a longer one the first URLs count. The
    /// protocol allows 50 MiB.
    pub sitemap_bytes_max: usize,
    /// Maximum bytes of the head of an answer.
    pub head_bytes_max: usize,
    /// Maximum number of consecutive redirects.
    pub redirects_max: u8,

    /// How often a visit with a temporary failure is retried; with 0, once if other pages of its host answer
    /// afterwards. A host that stays unreachable is set aside; this costs its pages no attempts.
    pub retries: u8,
    /// The wait before the first such retry, in milliseconds; it doubles each time.
    pub retry_ms: u64,
    /// The longest Retry-After that a run waits for, in seconds. A host that requests more is set aside until that
    /// time, also by later runs.
    pub retry_after_s_max: u64,
    /// Number of consecutive failures after which a host is set aside. Each failed lookup or connection counts,
    /// and each different page that fails, if no good answer comes in between.
    pub host_failures_max: u32,
    /// How long a host stays set aside, in seconds. It returns twice in a run; after that only a later run tries
    /// it again.
    pub set_aside_s: u64,

    /// How seen URLs are remembered.
    pub sieve: SieveKind,
    /// Number of URLs that an offline or LSM sieve buffers in memory, about 40 bytes each.
    pub sieve_buffer_keys: usize,
    /// Number of recent URL signatures cached in front of the sieve, 8 bytes each; 0 for none.
    pub sieve_cache_keys: usize,
    /// Number of URLs that a Bloom sieve is sized for; more make it less precise.
    pub sieve_capacity: u64,
    /// Precision of a Bloom sieve. At full capacity, one new URL in 2^precision is taken for a known one and lost.
    /// It uses 0.18 bytes of memory for each URL and bit of precision.
    pub sieve_precision: u32,

    /// Addresses of hosts that replace DNS: `"shop.test" = "127.0.0.1"`. These hosts may have private addresses.
    pub resolve: BTreeMap<String, IpAddr>,
    /// The name servers, `"127.0.0.1:53"`; if empty, those of the system.
    pub dns_servers: Vec<SocketAddr>,
    /// Minimum time that a resolved address is used, in seconds, whatever the name server says.
    pub dns_ttl_s_min: u64,
    /// Maximum time that a resolved address is used, in seconds.
    pub dns_ttl_s_max: u64,
    /// Maximum time that a failed lookup is remembered, in seconds.
    pub dns_negative_ttl_s_max: u64,
    /// Maximum number of names in the DNS cache.
    pub dns_names_max: u64,

    /// A PEM file with root certificates to trust in addition to those of browsers.
    pub tls_roots: PathBuf,
    /// Whether to use HTTP/2 with servers that offer it over TLS.
    pub http2: bool,

    /// Headers sent to every host, `{ "X-Key" = "…" }`. The archive keeps their names, not their values. The same
    /// rule holds for `auth` and cookies.
    pub headers: BTreeMap<String, String>,
    /// Credentials for single hosts: `[{ host = "shop.test", user = "me", password = "…" }]`.
    pub auth: Vec<HostAuth>,
    /// A file of cookies in Netscape's format, sent only to the hosts they belong to.
    pub cookies_file: PathBuf,

    /// The number of this agent, from 0.
    pub agent: u16,
    /// Number of agents that share the crawl. The URLs of other agents' hosts are written to
    /// `frontier/outbox-N.urls`.
    pub agents: u16,
    /// How hosts are assigned to agents.
    pub assignment: AssignmentKind,

    /// Whether known pages are fetched again.
    pub recrawl: Recrawl,
    /// The shortest time after which a page is due again, in seconds; also the time after its first visit.
    pub recrawl_min_s: u64,
    /// The longest time after which a page is due again, in seconds.
    pub recrawl_max_s: u64,

    /// Address and port where a running crawl reports its counts, as a page and for Prometheus; empty for none.
    pub metrics: String,

    /// Whether answers are archived. `false` is for benchmarks: everything else is done, but nothing is left of
    /// the crawl and it cannot be resumed.
    pub store: bool,
    /// Size at which a new archive file is started, in bytes.
    pub archive_file_bytes_max: u64,
    /// How the archive is compressed. Files of both kinds can be in one archive.
    pub archive_compression: CompressionKind,
    /// Compression level of gzip, from 1 (fast) to 9 (small).
    pub gzip_level: u32,
    /// Compression level of zstd, from 1 (fast) to 19 (small).
    pub zstd_level: i32,
}

/// How the archive is compressed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CompressionKind {
    /// gzip, which every WARC tool reads.
    #[default]
    Gzip,
    /// zstd, which is faster and smaller, but which fewer tools read.
    Zstd,
}

/// Which links are followed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// Links to hosts of the seeds, with or without `www.`.
    #[default]
    Host,
    /// Links to the registered domains of the seeds (`example.co.uk` and its subdomains).
    Domain,
    /// Links that begin with one of `scope_prefixes`, or with the folder of a seed.
    Prefix,
    /// Links that match one of `scope_patterns`.
    Pattern,
    /// All links.
    Any,
}

/// The order in which the pages of a host are visited.
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
    /// Not supported: [`Config::check`] returns an error that says why.
    DepthFirst,
}

/// The weight of each signal in the order `priority`; 0 to ignore it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Weights {
    /// A URL of few path levels.
    pub short_url: u16,
    /// A link from another site.
    pub off_site: u16,
    /// Keywords in the URL.
    pub url_keywords: u16,
    /// Similarity of the linking page's text to the keywords.
    pub page_keywords: u16,
}

impl Default for Weights {
    fn default() -> Self {
        Weights { short_url: 1, off_site: 0, url_keywords: 1, page_keywords: 0 }
    }
}

/// The basis of the pauses between requests to a host.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PolitenessKind {
    /// A fixed pause after every request, and a longer one after a burst.
    #[default]
    Absolute,
    /// A pause that is a multiple of the time the server took.
    Relative,
}

/// Credentials and headers for some hosts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HostAuth {
    /// The hosts: `shop.test` means https on its usual port, `shop.test:8443` https on another one, `*.shop.test`
    /// all subdomains. `http://shop.test` sends in the clear, where others can read it.
    pub host: String,
    /// The user of basic authentication; empty for none.
    pub user: String,
    /// The password.
    pub password: String,
    /// Headers for these hosts only.
    pub headers: BTreeMap<String, String>,
}

/// Which known pages are fetched again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Recrawl {
    /// None.
    #[default]
    Never,
    /// The addresses that are given to the run.
    Given,
    /// The pages that are due, by how often they have changed.
    Due,
    /// All.
    All,
}

/// How hosts are assigned to agents.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AssignmentKind {
    /// Hash of the host modulo the number of agents; for comparison.
    Modulo,
    /// Highest hash of host and agent.
    #[default]
    Rendezvous,
}

/// Images, audio, video, fonts, programs, archives, and files for browsers only.
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
    /// Returns the compression of the archive, with its level.
    pub fn compression(&self) -> Compression {
        match self.archive_compression {
            CompressionKind::Gzip => Compression::Gzip { level: self.gzip_level },
            CompressionKind::Zstd => Compression::Zstd { level: self.zstd_level },
        }
    }

    /// Returns the longest duration of a visit, without waits for descriptors. A visit may be sent twice, and wait
    /// for room before the rest of its body is read.
    pub(crate) fn visit_ms_max(&self) -> u64 {
        let twice_ms = self.timeout_ms.saturating_add(self.body_timeout_ms).saturating_mul(2);
        self.connect_timeout_ms.saturating_add(twice_ms)
    }

    /// Returns the configuration of the sieve.
    pub(crate) fn sieve_plan(&self) -> Plan {
        Plan {
            kind: self.sieve,
            buffer_keys: self.sieve_buffer_keys,
            capacity: self.sieve_capacity,
            precision: self.sieve_precision,
            cache_keys: self.sieve_cache_keys,
        }
    }

    /// Returns the name that robots.txt files address.
    pub fn agent_name(&self) -> &str {
        agent_name(&self.user_agent)
    }

    /// Returns the value of the header `User-Agent`.
    pub fn user_agent_header(&self) -> String {
        if self.contact.is_empty() {
            self.user_agent.clone()
        } else {
            format!("{} (+{})", self.user_agent, self.contact)
        }
    }
}

/// Returns the letters at the beginning of a user agent: the name that robots.txt files address.
pub(crate) fn agent_name(user_agent: &str) -> &str {
    let letter = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'-' || *byte == b'_';
    let end = user_agent.bytes().take_while(|byte| letter(byte)).count();
    user_agent.get(..end).unwrap_or_default()
}
