//! The crawler: frontier, workbench, politeness, robots.txt, fetching, agents.
//!
//! What lives here: [`run`], which crawls from seeds into an archive, and everything it is made of.
//!
//! ```text
//!   seeds, links ─▶ sieve ─▶ hosts ─▶ workbench ─▶ fetchers ─▶ archive ─▶ parsers
//!         ▲                                                                 │
//!         └────────────── links, redirects, robots.txt rules ◀──────────────┘
//! ```
//!
//! One coordinating thread owns the frontier (`frontier/`), so the frontier needs no lock. Fetchers (`fetch/`) are
//! asynchronous and only fetch. Parsers (`parser.rs`) are threads that append an answer to the archive and then
//! parse it. Only a page that `store_filter` may refuse is parsed first. What does not: the meaning of a
//! page (`page`), the format of the archive (`archive`), and their use.
//!
//! **Invariant.** The archive is the journal: an answer is archived before the frontier acts on it. The frontier
//! can be rebuilt from the archive and the seeds.

#![forbid(unsafe_code)]

mod address;
mod agents;
mod answer;
mod asked;
mod assignment;
mod checkpoint;
mod clock;
mod config;
mod descriptors;
mod engine;
mod error;
mod fetch;
mod filter;
mod frontier;
mod gaps;
mod gone;
mod guard;
mod halt;
mod health;
mod inbox;
mod journal;
mod metrics;
mod normalisation;
mod order;
mod outcome;
mod owed;
mod parser;
mod pending;
mod politeness;
mod recrawl;
mod referrers;
mod replay;
mod report;
mod rests;
mod robots;
mod rules;
mod seeds;
mod settings;
mod share;
mod site;
mod sitemap;
mod standing;
mod trap;
mod untold;
mod visit_record;
mod visited;
mod workbench;

pub use address::read_address;
pub use agents::assignment;
pub use answer::{Purpose, URLS_BYTES_MAX, is_temporary, keeps_previous};
pub use assignment::{AgentId, Assignment, Modulo, Rendezvous};
pub use checkpoint::{VisitLogsFound, lost_files, named_files, verify_visit_logs};
pub use clock::{Clock, Moment, SystemClock};
pub use config::{
    AssignmentKind, CompressionKind, Config, HostAuth, Order, PolitenessKind, Range, Recrawl,
    Scope, Weights,
};
pub use engine::{Dirs, run};
pub use error::CrawlError;
pub use fetch::unsent_credentials;
pub use filter::{Facts, Filter, FilterError, Point};
pub use frontier::SITEMAP_DEPTH_MAX;
pub use gaps::{Bodies, Lost};
pub use gone::{
    MissingFile, fate as describe_loss, is_answer, missing_captures, missing_files,
    unreadable_captures,
};
pub use inbox::inbox_hops;
pub use journal::{read_failure, says_noindex};
pub use metrics::{Board, serve_metrics};
pub use normalisation::Normalisation;
pub use order::{
    Blame, BreadthFirst, CLASSES, FetchMode, Priority, ShallowFirst, VisitOrder, Waiting,
    visit_order,
};
pub use outcome::{Failure, FailureKind};
pub use pending::{is_named_by_seeds, is_recrawl_pending};
pub use politeness::{Pace, Politeness};
pub use referrers::{Excess, Reference, ReferenceFinder};
pub use report::{AsideHost, Census, Report, SieveReport, Snapshot, known_report, read_report};
pub use rests::{LostRobots, check_cooldowns};
pub use robots::{ROBOTS_HOPS_MAX, Robots, RobotsExplanation, Verdict, explain_robots};
pub use rules::{Refusal, Rules};
pub use seeds::{
    check_seed, check_seeds, has_not_begun, read_seeds, read_sitemap_seeds, seed_lines,
};
pub use settings::Settings;
pub use share::host_limit;
pub use sieve::SieveKind;
pub use site::{HostId, host_of, is_public};
pub use sitemap::URLS_MAX as SITEMAP_URLS_MAX;
pub use standing::CrawlStatus;
pub use untold::check_unreported_losses;
pub use visit_record::VisitRecord;
pub use visited::{Visited, VisitedUrl};
pub use workbench::Workbench;
