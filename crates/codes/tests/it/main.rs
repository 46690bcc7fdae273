//! Tests of the public interface.

mod golden;
mod hostile;
mod kraft;
mod round_trip;
