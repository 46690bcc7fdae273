//! The decoded body of a response, piece by piece.
//!
//! What lives here: a reader that decodes a body as it is read. What does not: decoding it at once, which also checks
//! whether the body is whole (`coding.rs`).
//!
//! **Invariant.** The work is bounded. The memory of a reader, apart from the block, does not depend on the size of
//! the decoded body. It gives the bytes of [`HttpResponse::decoded_body`], unless a coding inside another one is
//! damaged.

use std::io::{self, BufRead, BufReader, Cursor, Read};

use flate2::bufread::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

use crate::http::coding;
use crate::{ArchiveError, HttpResponse, parse_http};

/// The most bytes that a body without a header of its own is tried for.
const TRIED_BYTES_MAX: u64 = 16 << 20;
/// The most bytes that one coding gives to the next. A coding can expand to a thousand times its size, and empty gzip
/// members cost work without a result, so the size of the result does not bound the work.
const LAYER_BYTES_MAX: u64 = 64 << 20;

/// A reader of the decoded body of the response in `block`. It ends where the body breaks off or is damaged.
/// The errors are those of [`HttpResponse::decoded_body`].
pub fn body_reader(block: Vec<u8>) -> Result<Box<dyn Read + Send>, ArchiveError> {
    reader(block, LAYER_BYTES_MAX)
}

fn reader(block: Vec<u8>, layer_bytes_max: u64) -> Result<Box<dyn Read + Send>, ArchiveError> {
    let answer = parse_http(&block)?;
    let (layers, start) = (answer.codings(), answer.body_offset);
    let HttpResponse { body, .. } = answer;
    let is_chunked = layers.first().is_some_and(|name| name == "chunked");
    let chunks = if is_chunked { coding::unchunk(body, usize::MAX) } else { None };
    let body = chunks.map_or_else(|| body_of(block, start), |(body, _)| Cursor::new(body));
    let mut bytes: Box<dyn BufRead + Send> = Box::new(body);
    for name in layers.iter().take(coding::LAYERS_MAX) {
        bytes = decoder(name, Box::new(bytes.take(layer_bytes_max)))?;
    }
    Ok(Box::new(UntilError(bytes)))
}

fn body_of(block: Vec<u8>, start: usize) -> Cursor<Vec<u8>> {
    let mut body = Cursor::new(block);
    body.set_position(start as u64);
    body
}

/// A reader that undoes the coding `name`; `bytes` as it is if it is not in that coding.
fn decoder(
    name: &str,
    mut bytes: Box<dyn BufRead + Send>,
) -> Result<Box<dyn BufRead + Send>, ArchiveError> {
    let damaged = || ArchiveError::DamagedCoding { coding: name.to_owned() };
    let start = bytes.fill_buf().map_err(|_| damaged())?;
    let decoder: Box<dyn Read + Send> = match name {
        "gzip" | "x-gzip" if start.starts_with(&coding::GZIP) => {
            Box::new(MultiGzDecoder::new(bytes))
        }
        "deflate" if ZlibDecoder::new(start).read(&mut [0]).is_ok() => {
            Box::new(ZlibDecoder::new(bytes))
        }
        // Bare deflate has no mark at its beginning: only a stream that ends well is believed.
        "deflate" if inflates(start) => Box::new(DeflateDecoder::new(bytes)),
        _ if coding::is_unsupported(name) => {
            return Err(ArchiveError::Coding { coding: name.to_owned() });
        }
        _ => return Ok(bytes),
    };
    let mut decoded = BufReader::new(decoder);
    decoded.fill_buf().map_err(|_| damaged())?;
    Ok(Box::new(decoded))
}

fn inflates(bytes: &[u8]) -> bool {
    let mut tried = DeflateDecoder::new(bytes).take(TRIED_BYTES_MAX);
    !bytes.is_empty() && io::copy(&mut tried, &mut io::sink()).is_ok()
}

/// Ends at the first error.
struct UntilError<R>(R);

impl<R: Read> Read for UntilError<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        Ok(self.0.read(out).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut out = GzEncoder::new(Vec::new(), Compression::fast());
        out.write_all(bytes).expect("in memory");
        out.finish().expect("in memory")
    }

    /// Members without content cost a decoder work and give nothing.
    #[test]
    fn a_coding_reads_bounded_input_from_the_previous_layer() {
        let members = [gzip(b"").repeat(1000), gzip(b"text")].concat();
        let head = b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip, gzip\r\n\r\n";
        let block = [&head[..], &gzip(&members)].concat();
        let read = |layer_bytes_max| {
            let mut body = Vec::new();
            reader(block.clone(), layer_bytes_max)?.read_to_end(&mut body).expect("read");
            Ok::<_, ArchiveError>(body)
        };
        assert_eq!(read(members.len() as u64).expect("whole"), b"text");
        let cut = read(members.len() as u64 / 2 + 1);
        assert!(matches!(cut, Err(ArchiveError::DamagedCoding { .. })), "{cut:?}");
    }
}
