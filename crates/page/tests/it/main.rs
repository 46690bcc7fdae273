//! Tests of the public interface.

mod analysis;
mod charset;
mod clean;
mod directives;
mod formats;
mod hostile;
mod html;
mod html5lib;
mod language;
mod resident;
mod shared;
mod url;
mod wanted;
