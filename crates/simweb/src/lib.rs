//! A deterministic web on loopback: the built-in sample, load and fault tests.
//!
//! What lives here: [`Web`], a web as a pure function of [`Options`] and a port. [`Server`] answers
//! for it over HTTP/1.1 and keeps a log. [`Truth`] lists the result that a polite crawler must
//! reach, and [`judge`] compares a log with it. What does not: anything of the engine. The truth is
//! known from how the web was made, without parsing robots.txt, HTML or URLs. So it is independent
//! of the crawler it measures.
//!
//! **Invariant.** A reply depends on the options, the port and the request alone. Two webs with
//! equal options agree on every byte. Memory does not grow with the number of pages.
//!
//! ```
//! use simweb::{Options, Request, Web};
//!
//! let web = Web::new(Options::default(), 8080)?;
//! let reply = web.respond(&Request::get("garden.localhost", "/"));
//! assert_eq!(reply.status, 200);
//! assert_eq!(web.seeds(), ["http://portal.localhost:8080/"]);
//! # Ok::<(), simweb::SimwebError>(())
//! ```

#![forbid(unsafe_code)]

mod answer;
mod changes;
mod connection;
mod error;
mod html;
mod judge;
mod log;
mod needle;
mod options;
mod ordinary;
mod portal;
mod prose;
mod random;
mod reply;
mod server;
mod special;
mod truth;
mod web;
mod words;

pub use changes::Changes;
pub use error::SimwebError;
pub use judge::{GAP_TOLERANCE_MS, Gap, Miscount, Verdict, address_gaps, judge};
pub use log::LogLine;
pub use options::Options;
pub use reply::{Conduct, Reply, Request};
pub use server::Server;
pub use truth::{Capped, Truth, TruthPage};
pub use web::{Host, Kind, Web};
pub use words::Language;
