//! Name resolution.
//!
//! What lives here: [`DnsResolver`], an asynchronous stub resolver (hickory) over the name servers of the system or of
//! the configuration, with `/etc/hosts`. Its cache is bounded. It keeps an answer as long as the name server
//! allows within `dns_ttl_s_max`, and a failed lookup for at most `dns_negative_ttl_s_max`. What does not: whether
//! an address may be used, and names that need no DNS (both in `guard.rs`).
//!
//! **Invariant.** An address is valid for at least `dns_ttl_s_min`: a host cannot cause endless lookups.
//!
//! Reference: P. Mockapetris, RFC 1035, 1987; M. Andrews, RFC 2308 (negative caching), 1998.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use archive::is_exhausted;
use hickory_resolver::TokioResolver;
use hickory_resolver::config::{
    ConnectionConfig, LookupIpStrategy, NameServerConfig, ResolverConfig, ResolverOpts,
};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::net::{DnsError, NetError};

use super::NoAnswer;
use crate::config::Config;
use crate::outcome::{Failure, FailureKind};
use crate::site::is_public;

/// Maximum number of addresses of a name, to be tried one after the other.
const ADDRESSES_MAX: usize = 8;

/// Maximum number of concurrent lookups at one name server.
const QUESTIONS_MAX: usize = 1024;

/// The message about a name server that does not answer.
const SILENT: &str = "the name server does not answer";

pub(super) struct DnsResolver {
    servers: Vec<SocketAddr>,
    timeout: Duration,
    ttl_min: Duration,
    ttl_max: Duration,
    negative_ttl_max: Duration,
    cached_max: u64,
    /// Created when first needed: a crawl of this machine needs no name servers.
    resolver: OnceLock<Result<TokioResolver, Failure>>,
}

impl DnsResolver {
    pub(super) fn new(config: &Config) -> DnsResolver {
        DnsResolver {
            servers: config.dns_servers.clone(),
            timeout: Duration::from_millis(config.connect_timeout_ms),
            ttl_min: Duration::from_secs(config.dns_ttl_s_min),
            ttl_max: Duration::from_secs(config.dns_ttl_s_max),
            negative_ttl_max: Duration::from_secs(config.dns_negative_ttl_s_max),
            cached_max: config.dns_names_max,
            resolver: OnceLock::new(),
        }
    }

    /// Returns the addresses of a host, the best first, and for how long they are valid.
    pub(super) async fn resolve(&self, host: &str) -> Result<(Vec<IpAddr>, Duration), NoAnswer> {
        let resolver = self.resolver()?;
        let found = tokio::time::timeout(self.timeout, resolver.lookup_ip(host))
            .await
            .map_err(|_| failed(SILENT.to_owned()))?
            .map_err(|error| hitch(error, story))?;
        // IPv4 first: not every machine has IPv6 connectivity.
        let mut addresses: Vec<IpAddr> = found.iter().collect();
        addresses.sort_by_key(|address| (!is_public(*address), address.is_ipv6()));
        addresses.truncate(ADDRESSES_MAX);
        if addresses.is_empty() {
            return Err(failed("the name has no address".to_owned()).into());
        }
        #[expect(clippy::disallowed_methods, reason = "the resolver's answers are dated by it")]
        let ttl = found.valid_until().saturating_duration_since(Instant::now());
        Ok((addresses, ttl.clamp(self.ttl_min, self.ttl_max)))
    }

    /// Returns the resolver. A failure to create it is permanent, unless it was a lack of descriptors.
    fn resolver(&self) -> Result<&TokioResolver, NoAnswer> {
        let made = match self.resolver.get() {
            Some(made) => made,
            None => match self.start().map_err(|error| hitch(error, cannot_ask)) {
                Err(hitch @ NoAnswer::NoDescriptor(_)) => return Err(hitch),
                Err(NoAnswer::Failure(failure)) => self.resolver.get_or_init(|| Err(failure)),
                Ok(resolver) => self.resolver.get_or_init(|| Ok(resolver)),
            },
        };
        made.as_ref().map_err(|failure| failure.clone().into())
    }

    fn start(&self) -> Result<TokioResolver, NetError> {
        let mut builder = if self.servers.is_empty() {
            TokioResolver::builder_tokio()?
        } else {
            let servers = self.servers.iter().map(|&server| name_server(server)).collect();
            let config = ResolverConfig::from_parts(None, Vec::new(), servers);
            TokioResolver::builder_with_config(config, TokioRuntimeProvider::default())
        };
        self.set(builder.options_mut());
        builder.build()
    }

    fn set(&self, options: &mut ResolverOpts) {
        options.ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
        options.cache_size = self.cached_max;
        options.positive_max_ttl = Some(self.ttl_max);
        options.negative_max_ttl = Some(self.negative_ttl_max);
        options.max_active_requests = QUESTIONS_MAX;
        options.timeout = options.timeout.min(self.timeout);
    }
}

fn failed(detail: String) -> Failure {
    Failure::new(FailureKind::Dns, detail)
}

/// Classifies an error of the resolver; `story` describes it.
fn hitch(error: NetError, story: fn(&NetError) -> String) -> NoAnswer {
    match error {
        NetError::Io(error) if is_exhausted(&error) => {
            let code = error.raw_os_error().unwrap_or_default();
            NoAnswer::NoDescriptor(io::Error::from_raw_os_error(code))
        }
        error => failed(story(&error)).into(),
    }
}

fn cannot_ask(error: &NetError) -> String {
    format!("no name server can be asked: {error}")
}

/// Describes an error for people.
fn story(error: &NetError) -> String {
    match error {
        _ if error.is_nx_domain() => "there is no such name".to_owned(),
        _ if error.is_no_records_found() => "the name has no address".to_owned(),
        NetError::Dns(DnsError::ResponseCode(code)) => {
            format!("the name server says {:?}", code.to_str())
        }
        NetError::Timeout => SILENT.to_owned(),
        NetError::NoConnections => "no name server can be reached".to_owned(),
        NetError::Io(cause) => format!("no name server can be reached: {cause}"),
        other => format!("the name server's answer cannot be used: {other}"),
    }
}

fn name_server(address: SocketAddr) -> NameServerConfig {
    let mut connections = vec![ConnectionConfig::udp(), ConnectionConfig::tcp()];
    for connection in &mut connections {
        connection.port = address.port();
    }
    NameServerConfig::new(address.ip(), true, connections)
}
