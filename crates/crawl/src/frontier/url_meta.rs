//! The properties of a URL on its way through the sieve.
//!
//! What lives here: [`UrlMeta`], and how it is appended to its URL in the key for the sieve. A sieve identifies a key
//! by the signature of the URL alone, and emits the key that was offered first. So the mark of the first offer
//! counts, and needs no other storage. What does not: the use of a mark (`hosts.rs`).
//!
//! **Invariant.** [`UrlMeta::split`] returns the URL and the mark that [`UrlMeta::append`] joined.

/// The properties of a URL until it waits at its host.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct UrlMeta {
    pub(super) hops: u8,
    pub(super) sitemap: bool,
    /// Links from the first page of the site; for a sitemap, the number of indexes.
    pub(super) depth: u16,
    /// Its class among the pages of its host.
    pub(super) class: u8,
    /// Whether it continues a visit: it comes before the other pages of its host.
    pub(super) is_next: bool,
    /// Whether a recrawl fetches it again.
    pub(super) is_known: bool,
}

/// Hops, class, flags, depth.
const BYTES: usize = 5;
const SITEMAP: u8 = 1;
const NEXT: u8 = 2;
const KNOWN: u8 = 4;

impl UrlMeta {
    /// Appends the mark to a URL.
    pub(super) fn append(self, key: &mut Vec<u8>) {
        let flags = [(self.sitemap, SITEMAP), (self.is_next, NEXT), (self.is_known, KNOWN)];
        let flags = flags.iter().map(|&(is, flag)| if is { flag } else { 0 }).sum();
        let [low, high] = self.depth.to_le_bytes();
        key.extend([self.hops, self.class, flags, low, high]);
    }

    /// Splits a key into URL and mark; `None` if the key is invalid.
    pub(super) fn split(key: &[u8]) -> Option<(&str, UrlMeta)> {
        let (url, &[hops, class, flags, low, high]) = key.split_last_chunk::<BYTES>()?;
        let mark = UrlMeta {
            hops,
            sitemap: flags & SITEMAP != 0,
            depth: u16::from_le_bytes([low, high]),
            class,
            is_next: flags & NEXT != 0,
            is_known: flags & KNOWN != 0,
        };
        Some((str::from_utf8(url).ok()?, mark))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn url_metadata_survives_a_round_trip(
            url in "http://[a-zé]{0,9}/",
            (hops, class, depth) in any::<(u8, u8, u16)>(),
            (sitemap, is_next, is_known) in any::<(bool, bool, bool)>(),
        ) {
            let mark = UrlMeta { hops, sitemap, depth, class, is_next, is_known };
            let mut key = url.clone().into_bytes();
            mark.append(&mut key);
            prop_assert_eq!(UrlMeta::split(&key), Some((url.as_str(), mark)));
        }

        #[test]
        fn any_bytes_parse_as_a_key_or_are_refused(key in prop::collection::vec(any::<u8>(), 0..9)) {
            prop_assert!(UrlMeta::split(&key).is_none_or(|(url, _)| url.len() + BYTES == key.len()));
        }
    }
}
