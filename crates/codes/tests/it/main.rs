//! Tests of the public interface.

mod golden;
mod hostile;
mod kraft;
mod rans;
mod round_trip;
mod subjects;
mod survey;
