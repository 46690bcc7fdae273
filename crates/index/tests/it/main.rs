//! Tests of the public interface: against a model, and with damaged or changing files.

mod champions;
mod child;
mod ciff;
mod codes;
mod commits;
mod contents;
mod damage;
mod envelope;
#[cfg(unix)]
mod faults;
mod format;
mod hostile;
mod lexicon;
mod limits;
mod order;
mod round_trip;
mod updates;
mod walks;
