//! Tests of the public interface: against a model, and with damaged or changing files.

mod champions;
mod ciff;
mod codes;
mod commits;
mod contents;
mod damage;
mod envelope;
mod format;
mod hostile;
mod killed_builds;
mod lexicon;
mod limits;
mod order;
mod random_walks;
mod round_trip;
#[cfg(unix)]
mod sigbus;
mod updates;
