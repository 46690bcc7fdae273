//! Tests of the public interface, one module a topic.

mod any_bytes;
mod behind;
mod captures;
mod concurrent;
mod damage;
mod drafts;
mod foreign;
mod full_disk;
mod http;
mod page;
mod resident;
mod round_trip;
mod samples;
mod shrunk;
mod warcio;
mod zstd;
