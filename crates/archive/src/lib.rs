//! WARC and CDXJ in and out; where a page is.
