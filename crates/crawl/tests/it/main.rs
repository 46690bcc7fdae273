//! All tests of the crate that go through its public face.

mod agents;
mod assignment;
mod crawl;
mod faults;
mod metrics;
mod order;
mod politeness;
mod robots;
mod rules;
mod support;
mod workbench;
