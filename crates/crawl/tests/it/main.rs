//! All tests of the crate that go through its public face.

mod agents;
mod assignment;
mod crawl;
mod credentials;
mod depth;
mod descriptors;
mod directives;
mod faults;
mod filters;
mod hostile;
mod http2;
mod limits;
mod long_sitemaps;
mod metrics;
mod names;
mod order;
mod pause;
mod politeness;
mod recrawl;
mod resume;
mod robots;
mod rules;
mod sitemaps;
mod support;
mod tls;
mod workbench;
