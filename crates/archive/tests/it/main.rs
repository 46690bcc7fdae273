//! Tests of the public interface, one module a topic.

mod any_bytes;
mod captures;
mod concurrent;
mod damage;
mod drafts;
mod foreign;
mod full_disk;
mod http;
mod page;
mod resident;
mod resync;
mod round_trip;
mod samples;
mod truncated;
mod warcio;
mod zstd;
