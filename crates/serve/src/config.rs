//! The section `[serve]` of crivello.toml.
//!
//! **Invariant.** By default the server listens on loopback, so only this machine can reach it.

use std::net::{Ipv4Addr, SocketAddr};

use serde::{Deserialize, Serialize};

use crate::allowed_hosts::is_host;

/// The configuration of the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The address and port to listen on. An address other than loopback is reachable from other machines.
    pub listen: SocketAddr,
    /// Host names accepted in requests, in addition to loopback and the listening address.
    pub hosts: Vec<String>,
    /// The number of results on one page.
    pub results_per_page: usize,
    /// The name at the top of the page.
    pub title: String,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 7700)),
            hosts: Vec::new(),
            results_per_page: 10,
            title: "Crivello".to_owned(),
        }
    }
}

impl Config {
    /// The first entry of `hosts` that is neither a host name nor an address.
    pub fn invalid_host(&self) -> Option<&str> {
        self.hosts.iter().map(String::as_str).find(|host| !is_host(host))
    }
}
