//! Tests of the public interface.

mod function;
mod golden;
mod hostile;
mod kraft;
mod rans;
mod round_trip;
mod subjects;
mod survey;
