//! The section `[serve]` of crivello.toml.
//!
//! **Invariant.** Nobody else reaches a server that is not told otherwise: the default listens on loopback.

use std::net::{Ipv4Addr, SocketAddr};

use serde::{Deserialize, Serialize};

/// How the server presents itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Address and port; loopback unless you want others to reach it.
    pub listen: SocketAddr,
    /// Results on one page.
    pub results_per_page: usize,
    /// The name at the top of the page.
    pub title: String,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 7700)),
            results_per_page: 10,
            title: "Crivello".to_owned(),
        }
    }
}
