//! The search page, cached copies and the JSON interface, over HTTP.
//!
//! [`Site`] is the HTTP server. Crate `search` answers the queries.
//!
//! **Invariant.** Crawled text reaches a page only through `maud`, which escapes it. A cached copy is rebuilt
//! from text and known elements. Its frame blocks scripts, forms and network access. Pages work without
//! JavaScript. No page makes the browser connect to another host.
#![forbid(unsafe_code)]

mod allowed_hosts;
mod cached_copy;
mod config;
mod connection_slots;
mod connections;
mod error;
mod http;
mod page;
mod pool;
mod state;
mod write_timeout;

pub use config::Config;
pub use error::ServeError;
pub use http::{RESULTS_MAX, Site};
