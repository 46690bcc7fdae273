//! What can go wrong: wrong options, or an address that cannot be listened on.
//!
//! **Invariant.** A message about what was asked for says what to change.

use std::{io, net::SocketAddr};

/// The error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SimwebError {
    /// An option is outside its range.
    #[error("option {option} is {value}, but must be {range}")]
    Option {
        /// The option's name.
        option: &'static str,
        /// What it was.
        value: String,
        /// What it may be.
        range: &'static str,
    },
    /// The threads of the server cannot be started.
    #[error("cannot start the threads of the simulated web")]
    Threads {
        /// Why.
        source: io::Error,
    },
    /// A loopback address cannot be listened on.
    #[error(
        "cannot listen on {address} (choose another port, fewer addresses, or raise `ulimit -n`)"
    )]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
}
