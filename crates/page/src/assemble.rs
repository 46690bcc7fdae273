//! Builds a URL from parts in normal form, without parsing it again.
//!
//! The parts go to [`Url::deserialize_internal`], the only function of the `url` crate that builds a [`Url`] without
//! parsing. `resolve.rs` ensures that the parts are in normal form. Its tests compare the result with that of the
//! parser.
//!
//! **Invariant.** The parts are those of `url` 2.5, in its order. In builds with debug assertions, the `url` crate
//! checks every URL that is built here.

use std::iter;
use std::net::Ipv4Addr;

use ::url::Url;
use serde::de::value::{Error, MapAccessDeserializer, MapDeserializer};
use serde::de::{DeserializeSeed, Deserializer, IntoDeserializer, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;

/// The part of a URL before its path.
#[derive(Clone, Copy)]
pub(crate) struct Authority<'a> {
    /// The text of this part, such as `http://example.com:8080`.
    pub(crate) prefix: &'a str,
    pub(crate) scheme_bytes: usize,
    /// The host if it is an IPv4 address. `None` if it is a name.
    pub(crate) address: Option<Ipv4Addr>,
    pub(crate) host_bytes: usize,
    /// The port if it differs from the default port of the scheme.
    pub(crate) port: Option<u16>,
}

/// Builds the URL `text`, which begins with `authority`. `query` is the byte where its query begins.
pub(crate) fn assemble(authority: &Authority<'_>, text: &str, query: Option<usize>) -> Option<Url> {
    let host_start = authority.scheme_bytes + "://".len();
    let offset = |bytes: usize| u32::try_from(bytes).ok();
    let parts = Parts {
        at: 0,
        text: text.to_owned(),
        scheme_end: offset(authority.scheme_bytes)?,
        host_start: offset(host_start)?,
        host_end: offset(host_start + authority.host_bytes)?,
        address: authority.address,
        port: authority.port,
        path_start: offset(authority.prefix.len())?,
        query_start: match query {
            Some(at) => Some(offset(at)?),
            None => None,
        },
    };
    Url::deserialize_internal(parts).ok()
}

/// The fields of a [`Url`] in order. `at` is the number of fields that were read.
struct Parts {
    at: usize,
    text: String,
    scheme_end: u32,
    /// The start of the host, and the end of the user name, because the URL has no user.
    host_start: u32,
    host_end: u32,
    address: Option<Ipv4Addr>,
    port: Option<u16>,
    path_start: u32,
    query_start: Option<u32>,
}

impl<'de> Deserializer<'de> for Parts {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_seq(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl<'de> SeqAccess<'de> for Parts {
    type Error = Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Error> {
        self.at += 1;
        let value = match self.at {
            1 => seed.deserialize(std::mem::take(&mut self.text).into_deserializer()),
            2 => seed.deserialize(self.scheme_end.into_deserializer()),
            3 | 4 => seed.deserialize(self.host_start.into_deserializer()),
            5 => seed.deserialize(self.host_end.into_deserializer()),
            6 => match self.address {
                Some(address) => {
                    let entry = iter::once(("Ipv4", address.to_string()));
                    seed.deserialize(MapAccessDeserializer::new(MapDeserializer::new(entry)))
                }
                None => seed.deserialize("Domain".into_deserializer()),
            },
            7 => seed.deserialize(Maybe(self.port)),
            8 => seed.deserialize(self.path_start.into_deserializer()),
            9 => seed.deserialize(Maybe(self.query_start)),
            10 => seed.deserialize(Maybe(None::<u32>)),
            _ => return Ok(None),
        };
        value.map(Some)
    }
}

/// Deserializes an optional value. The deserializers of numbers cannot represent a missing value.
struct Maybe<T>(Option<T>);

impl<'de, T: IntoDeserializer<'de, Error>> Deserializer<'de> for Maybe<T> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Some(value) => visitor.visit_some(value.into_deserializer()),
            None => visitor.visit_none(),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}
