//! The section `[serve]` of crivello.toml.
//!
//! **Invariant.** By default the server listens on loopback, so that only this machine reaches it.

use std::net::{Ipv4Addr, SocketAddr};

use serde::{Deserialize, Serialize};

use crate::hosts::is_host;

/// How the server presents itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Address and port; loopback unless you want others to reach it.
    pub listen: SocketAddr,
    /// Names that requests may be addressed to, beside loopback and the address that it listens on.
    pub hosts: Vec<String>,
    /// Results on one page.
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
    /// An entry of `hosts` that is not a host name or an address.
    pub fn invalid_host(&self) -> Option<&str> {
        self.hosts.iter().map(String::as_str).find(|host| !is_host(host))
    }
}
