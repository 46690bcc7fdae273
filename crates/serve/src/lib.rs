//! The search page, cached copies and the JSON interface, over HTTP.
//!
//! What lives here: [`Engine`], everything a search needs opened together (the command line uses it
//! too), and [`Site`], the HTTP server around it. What does not: how the index was built.
//!
//! **Invariant.** Crawled text reaches a page only through `maud`, which escapes it. A cached copy is written
//! anew of text and known elements, and shown in a frame without scripts, forms or network. No page needs
//! JavaScript, and no page makes the browser connect to another host.
#![forbid(unsafe_code)]

mod config;
mod connections;
mod copy;
mod engine;
mod error;
mod hosts;
mod http;
mod page;
mod places;
mod pool;
mod progress;
mod state;

pub use config::Config;
pub use engine::{Captured, Completions, Engine, Found, Question, Ranking, Results, stopped_after};
pub use error::ServeError;
pub use http::{RESULTS_MAX, Site};
