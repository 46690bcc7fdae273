//! A web: its options, its hosts and their addresses.
//!
//! What lives here: [`Web`] and its [`Host`]s. What does not: the answer to a request (`answer.rs`).
//!
//! **Invariant.** No state is kept for a page of an ordinary host.

use crate::{
    Options, SimwebError,
    special::{self, Table},
    words::TOPICS,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    net::{IpAddr, Ipv4Addr},
};

/// The address of the dead host, where no server listens.
const DEAD: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);
/// The purpose of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The seed: it links to every other host.
    Portal,
    /// A site with a topic.
    Ordinary,
    /// robots.txt with Disallow and Allow, `*`, `$`, percent-encoding and a Crawl-delay.
    Robots,
    /// robots.txt answers 503: nothing may be fetched.
    Robots503,
    /// robots.txt is two redirects away, with a byte order mark, CRLF and odd case.
    RobotsMoved,
    /// Pages that only the sitemaps name.
    Sitemap,
    /// Every answer takes a while.
    Slow,
    /// 503 at first, 500 always, closed connections, missing pages.
    Flaky,
    /// Connection refused.
    Dead,
    /// An endless chain of months.
    Calendar,
    /// The first ordinary host again, with other dates.
    Mirror,
    /// Encodings other than UTF-8.
    Charset,
    /// Redirects: chains, loops, to another host.
    Redirect,
    /// Compressed when asked.
    Gzip,
    /// noindex, nofollow, canonical, base, refresh.
    Meta,
    /// Answers that are no page: binary, truncated, endless, empty.
    Broken,
    /// One page under many spellings of its URL.
    Spelling,
}

impl Kind {
    /// The kinds of the special hosts, in the order of the portal.
    pub const SPECIAL: [Self; 15] = [
        Self::Robots,
        Self::Robots503,
        Self::RobotsMoved,
        Self::Sitemap,
        Self::Slow,
        Self::Flaky,
        Self::Dead,
        Self::Calendar,
        Self::Mirror,
        Self::Charset,
        Self::Redirect,
        Self::Gzip,
        Self::Meta,
        Self::Broken,
        Self::Spelling,
    ];

    /// First label of the name of the host of this kind.
    pub fn label(self) -> &'static str {
        match self {
            Self::Portal => "portal",
            Self::Ordinary => "ordinary",
            Self::Robots => "robots",
            Self::Robots503 => "robots503",
            Self::RobotsMoved => "robotsmoved",
            Self::Sitemap => "sitemap",
            Self::Slow => "slow",
            Self::Flaky => "flaky",
            Self::Dead => "dead",
            Self::Calendar => "calendar",
            Self::Mirror => "mirror",
            Self::Charset => "charset",
            Self::Redirect => "redirect",
            Self::Gzip => "gzip",
            Self::Meta => "meta",
            Self::Broken => "broken",
            Self::Spelling => "spelling",
        }
    }
}

/// A host of the web.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// Its name, such as `garden.localhost`.
    pub name: String,
    /// Its address, besides 127.0.0.1, where the Host header chooses.
    pub address: Ipv4Addr,
    /// What it is for.
    pub kind: Kind,
    /// Its place in [`Web::hosts`].
    pub number: u32,
}

/// A whole web.
#[derive(Debug)]
pub struct Web {
    options: Options,
    port: u16,
    hosts: Vec<Host>,
    numbers: BTreeMap<String, u32>,
    tables: BTreeMap<u32, Table>,
}

impl Web {
    /// The web of these options at this port (`options.port` is not looked at).
    pub fn new(options: Options, port: u16) -> Result<Self, SimwebError> {
        options.check()?;
        let mut web = Self {
            options,
            port,
            hosts: Vec::new(),
            numbers: BTreeMap::new(),
            tables: BTreeMap::new(),
        };
        web.add_host("portal", Kind::Portal);
        for ordinary in 0..web.options.hosts {
            let name = ordinary_label(ordinary);
            web.add_host(&name, Kind::Ordinary);
        }
        if web.options.oddities {
            for kind in Kind::SPECIAL {
                let number = web.add_host(kind.label(), kind);
                if let Some(table) = special::table(kind, web.port) {
                    web.tables.insert(number, table);
                }
            }
        }
        Ok(web)
    }

    fn add_host(&mut self, label: &str, kind: Kind) -> u32 {
        let number = u32::try_from(self.hosts.len()).expect("options limit the hosts");
        let address =
            if kind == Kind::Dead { DEAD } else { nth_address(number % self.options.addresses) };
        let name =
            if self.options.numeric { address.to_string() } else { format!("{label}.localhost") };
        self.numbers.insert(name.clone(), number);
        self.hosts.push(Host { name, address, kind, number });
        number
    }

    /// The options it was made from.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The port of all URLs.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// All hosts, the portal first.
    pub fn hosts(&self) -> &[Host] {
        &self.hosts
    }

    /// The special host of a kind, if there are special hosts.
    pub fn special(&self, kind: Kind) -> Option<&Host> {
        self.hosts.iter().find(|host| host.kind == kind)
    }

    /// The URLs to start from: the portal.
    pub fn seeds(&self) -> Vec<String> {
        vec![self.url(&self.hosts[0], "/")]
    }

    /// Name and address of every host, for a crawler that takes them from a list.
    pub fn resolve(&self) -> BTreeMap<String, IpAddr> {
        self.hosts.iter().map(|host| (host.name.clone(), IpAddr::V4(host.address))).collect()
    }

    /// The URL of a path of a host.
    pub fn url(&self, host: &Host, path: &str) -> String {
        url(&host.name, self.port, path)
    }

    /// The host of this name. Case and a port after the name are ignored.
    pub fn host(&self, name: &str) -> Option<&Host> {
        let name = name.split(':').next().unwrap_or_default();
        let number = match self.numbers.get(name) {
            Some(&number) => number,
            None => *self.numbers.get(&name.to_ascii_lowercase())?,
        };
        self.hosts.get(usize::try_from(number).ok()?)
    }

    /// The addresses on which the server listens: those of all hosts except the dead one, and
    /// 127.0.0.1. On 127.0.0.1 every host answers to its name.
    pub fn addresses(&self) -> BTreeSet<Ipv4Addr> {
        let live = self.hosts.iter().filter(|host| host.kind != Kind::Dead);
        live.map(|host| host.address).chain([Ipv4Addr::LOCALHOST]).collect()
    }

    /// Returns whether failed requests change the answer to later ones.
    pub(crate) fn counts_attempts(&self, host: &Host) -> bool {
        match host.kind {
            Kind::Ordinary => self.options.error_rate > 0.0,
            kind => kind == Kind::Flaky,
        }
    }

    pub(crate) fn table(&self, host: &Host) -> Option<&Table> {
        self.tables.get(&host.number)
    }
}

/// The URL of a path; port 80 is not written.
pub(crate) fn url(name: &str, port: u16, path: &str) -> String {
    match port {
        80 => format!("http://{name}{path}"),
        _ => format!("http://{name}:{port}{path}"),
    }
}

/// `garden`, `cucina`, …, then `garden-2` and so on.
fn ordinary_label(ordinary: u32) -> String {
    let topics = u32::try_from(TOPICS.len()).expect("a dozen");
    let topic = &TOPICS[usize::try_from(ordinary % topics).expect("below a dozen")];
    match ordinary / topics {
        0 => topic.label.to_owned(),
        series => format!("{}-{}", topic.label, series + 1),
    }
}

/// 127.0.1.1, 127.0.1.2, …, 127.0.1.254, 127.0.2.1, ….
fn nth_address(number: u32) -> Ipv4Addr {
    let (block, place) = (256 + number / 254 * 256, number % 254 + 1);
    Ipv4Addr::from(0x7f00_0000 + block + place)
}
