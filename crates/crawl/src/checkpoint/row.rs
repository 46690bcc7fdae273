//! What the log keeps of a visit: all that the frontier was told of it, and where its record is.
//!
//! What lives here: [`Settled`], made of an answer that has just come or of its record in the archive, and
//! the rows of a block, where a text that came before is a number. What does not: blocks and files.
//!
//! **Invariant.** Bytes of any origin decode to rows or to nothing, in memory proportional to them; what
//! was encoded decodes to the same.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use archive::{HttpResponse, Kind, Location, Record, parse_http};
use codes::vbyte;
use xxhash_rust::xxh3::xxh3_64;

use crate::answer::{Answers, Links, Purpose};
use crate::clock::Moment;
use crate::journal::{self, BEFORE, Entry};
use crate::outcome::{Answered, FailureKind, Harvest};
use crate::recrawl::Validator;
use crate::robots;

/// A visit that is archived.
#[derive(Debug, PartialEq)]
pub(crate) struct Settled {
    pub(crate) url: String,
    pub(crate) entry: Entry,
    pub(crate) date_s: i64,
    /// Microseconds of that second.
    pub(crate) date_us: u32,
    /// Where its record begins in its archive file, and how many bytes it has there.
    pub(crate) offset: u64,
    pub(crate) length: u64,
    /// Tells payloads apart; 0 where there is none.
    pub(crate) payload: u64,
    /// Of the answer, if it has one.
    pub(crate) validator: Validator,
    /// When the answer came that has the body of this one, if that is in another record.
    pub(crate) refers_to: Option<Moment>,
    /// `None` if there was no answer, or none of HTTP.
    pub(crate) answered: Option<Answered>,
    robots: RobotsText,
}

/// The robots.txt that an answer brought, as a text: its rules are read again from it.
#[derive(Debug, PartialEq)]
enum RobotsText {
    None,
    Undecodable,
    Text(Vec<u8>),
}

/// What is known of a visit beside its answer.
pub(crate) struct Circumstances<'a> {
    pub(crate) url: String,
    pub(crate) entry: Entry,
    pub(crate) date: Moment,
    pub(crate) location: &'a Location,
    /// See [`Answered`].
    pub(crate) before: u16,
    pub(crate) unchanged: bool,
    /// See [`Settled`].
    pub(crate) refers_to: Option<Moment>,
}

impl Settled {
    /// Reads a record; `None` if it is not about a visit.
    pub(crate) fn of_record(record: &Record, answers: &Answers) -> Option<Settled> {
        Settled::read(record, &|url, entry, http| {
            let date = Moment { s: record.date_s, us: record.date_us };
            answers.read(entry.purpose, url, http, date, entry.depth, Links::All)
        })
    }

    /// Reads a record, but not what its answer leads to.
    pub(crate) fn outline(record: &Record) -> Option<Settled> {
        Settled::read(record, &|_, _, http| Answered {
            status: http.status,
            bytes: http.body.len() as u64,
            ..Answered::default()
        })
    }

    fn read(
        record: &Record,
        answer: &dyn Fn(&str, &Entry, &HttpResponse<'_>) -> Answered,
    ) -> Option<Settled> {
        let entry = Entry::read(record)?;
        let url = record.target.clone()?;
        let is_answer = record.kind != Kind::Metadata && entry.failure.is_none();
        let http = parse_http(&record.block).ok().filter(|_| is_answer);
        let read = || http.as_ref().map(|http| answer(&url, &entry, http));
        let answered = journal::read_unstored(record).or_else(read).map(|answered| {
            let bytes = journal::length_elsewhere(record).unwrap_or(answered.bytes);
            let has_wait = answered.retry_after_ms.is_some() && !answered.is_unstored;
            let took_ms = if has_wait { journal::read_took_ms(record) } else { answered.took_ms };
            Answered { bytes, took_ms, ..answered }
        });
        let before = record.header(BEFORE).and_then(|value| value.parse().ok()).unwrap_or(0);
        let circumstances = Circumstances {
            url,
            entry,
            date: Moment { s: record.date_s, us: record.date_us },
            location: &record.location,
            before,
            unchanged: record.kind == Kind::Revisit,
            refers_to: journal::refers_to(record),
        };
        Some(Settled::new(circumstances, http.as_ref(), answered))
    }

    /// A visit with its answer and what that means, or without.
    pub(crate) fn new(
        circumstances: Circumstances<'_>,
        http: Option<&HttpResponse<'_>>,
        answered: Option<Answered>,
    ) -> Settled {
        let Circumstances { url, entry, date, location, before, unchanged, refers_to } =
            circumstances;
        let Moment { s: date_s, us: date_us } = date;
        let answered = answered.map(|answered| Answered { before, unchanged, ..answered });
        let has_robots =
            answered.as_ref().is_some_and(|answered| answered.harvest.robots.is_some());
        let robots = match http.filter(|_| has_robots).map(|http| robots::text(http)) {
            None => RobotsText::None,
            Some(None) => RobotsText::Undecodable,
            Some(Some(body)) => RobotsText::Text(body.into_owned()),
        };
        let payload = http.filter(|_| !unchanged).map_or(0, |http| xxh3_64(http.body));
        let validator = http.map(Validator::of).unwrap_or_default();
        let (offset, length) = (location.offset, location.length);
        Settled {
            url,
            entry,
            date_s,
            date_us,
            offset,
            length,
            payload,
            validator,
            refers_to,
            answered,
            robots,
        }
    }

    /// One without a robots.txt.
    #[cfg(test)]
    pub(crate) fn plain(
        url: String,
        entry: Entry,
        date_s: i64,
        (offset, length): (u64, u64),
        payload: u64,
        answered: Option<Answered>,
    ) -> Settled {
        let (validator, robots, date_us) = (Validator::default(), RobotsText::None, 0);
        Settled {
            url,
            entry,
            date_s,
            date_us,
            offset,
            length,
            payload,
            validator,
            refers_to: None,
            answered,
            robots,
        }
    }

    /// When it took place.
    pub(crate) fn date(&self) -> Moment {
        Moment { s: self.date_s, us: self.date_us }
    }

    /// Reads the rules of a robots.txt again, which decoding leaves out.
    pub(crate) fn read_robots(&mut self, answers: &Answers) {
        let Some(answered) = &mut self.answered else { return };
        answered.harvest.robots = match &self.robots {
            RobotsText::None => None,
            RobotsText::Undecodable => Some(answers.robots(None)),
            RobotsText::Text(text) => Some(answers.robots(Some(text))),
        };
    }
}

/// Rows on their way into a block.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub(super) bytes: Vec<u8>,
    pub(super) count: u32,
    /// The number of every text so far.
    texts: HashMap<Box<str>, u64>,
}

impl Rows {
    pub(super) fn push(&mut self, settled: &Settled) {
        let Settled {
            url,
            entry,
            date_s,
            date_us,
            offset,
            length,
            payload,
            validator,
            refers_to,
            answered,
            robots,
        } = settled;
        let purpose = PURPOSES.iter().position(|&purpose| purpose == entry.purpose);
        let purpose = u8::try_from(purpose.expect("all of them are there")).expect("there are 3");
        let mark = |is: bool, bit: u8| if is { bit } else { 0 };
        let marks = mark(entry.is_inconclusive, INCONCLUSIVE) | mark(entry.blames_host, BLAME);
        self.bytes.push(purpose | marks);
        self.bytes.extend([entry.attempts, entry.hops]);
        vbyte::write(&mut self.bytes, entry.depth.into());
        self.put(url);
        self.bytes.extend(date_s.to_le_bytes());
        vbyte::write(&mut self.bytes, (*date_us).into());
        vbyte::write(&mut self.bytes, *offset);
        vbyte::write(&mut self.bytes, *length);
        self.bytes.extend(payload.to_le_bytes());
        vbyte::write(&mut self.bytes, validator.0.into());
        let refers_to = refers_to.and_then(|date| Some((u64::try_from(date.s).ok()? + 1, date.us)));
        let (refers_to_s, refers_to_us) = refers_to.unwrap_or_default();
        vbyte::write(&mut self.bytes, refers_to_s);
        vbyte::write(&mut self.bytes, refers_to_us.into());
        self.put(entry.robots_for.as_deref().unwrap_or_default());
        self.put(entry.failure.map_or("", FailureKind::name));
        match robots {
            RobotsText::None => self.bytes.push(0),
            RobotsText::Undecodable => self.bytes.push(1),
            RobotsText::Text(text) => {
                self.bytes.push(2);
                vbyte::write(&mut self.bytes, text.len() as u64);
                self.bytes.extend_from_slice(text);
            }
        }
        self.bytes.push(u8::from(answered.is_some()));
        if let Some(answered) = answered {
            self.put_answered(answered);
        }
        self.count += 1;
    }

    fn put_answered(&mut self, answered: &Answered) {
        let Answered {
            status,
            bytes,
            retry_after_ms,
            took_ms,
            before,
            unchanged,
            harvest,
            is_unstored,
        } = answered;
        let Harvest { robots: _, redirect, links, sitemaps, refused, similarity } = harvest;
        let (unchanged, is_unstored) = (u64::from(*unchanged), u64::from(*is_unstored));
        for number in [u64::from(*status), *bytes, u64::from(*before), unchanged, is_unstored] {
            vbyte::write(&mut self.bytes, number);
        }
        self.bytes.extend(similarity.to_le_bytes());
        let wait = retry_after_ms.map_or(0, |_| 1 + 2 * u64::from(*took_ms));
        vbyte::write(&mut self.bytes, wait);
        vbyte::write(&mut self.bytes, retry_after_ms.unwrap_or(0));
        self.put(redirect.as_deref().unwrap_or_default());
        for urls in [links, sitemaps] {
            vbyte::write(&mut self.bytes, urls.len() as u64);
            for url in urls {
                self.put(url);
            }
        }
        vbyte::write(&mut self.bytes, refused.len() as u64);
        for (name, times) in refused {
            self.put(name);
            vbyte::write(&mut self.bytes, *times);
        }
    }

    /// The number of a text that came before, from 1, or 0 and the text itself.
    fn put(&mut self, text: &str) {
        if let Some(&number) = self.texts.get(text) {
            return vbyte::write(&mut self.bytes, number);
        }
        let number = self.texts.len() as u64 + 1;
        self.texts.insert(text.into(), number);
        vbyte::write(&mut self.bytes, 0);
        vbyte::write(&mut self.bytes, text.len() as u64);
        self.bytes.extend_from_slice(text.as_bytes());
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.texts.clear();
        self.count = 0;
    }
}

/// What the byte of the purpose has besides if the answer does not tell what the page is now.
const INCONCLUSIVE: u8 = 4;
/// The bit of one that its host is to blame for if it was in vain.
const BLAME: u8 = 8;

const PURPOSES: [Purpose; 3] = [Purpose::Page, Purpose::Robots, Purpose::Sitemap];

/// The rows of a block; `None` if they are none.
pub(super) fn decode(bytes: &[u8], count: u32) -> Option<Vec<Settled>> {
    let mut input = Input { bytes, texts: Vec::new() };
    let rows: Option<Vec<Settled>> = (0..count).map(|_| input.row()).collect();
    rows.filter(|_| input.bytes.is_empty())
}

struct Input<'a> {
    bytes: &'a [u8],
    texts: Vec<&'a str>,
}

impl<'a> Input<'a> {
    fn row(&mut self) -> Option<Settled> {
        let &[purpose, attempts, hops] = self.take(3)?.first_chunk()?;
        let (is_inconclusive, blames_host) = (purpose & INCONCLUSIVE != 0, purpose & BLAME != 0);
        let purpose = *PURPOSES.get(usize::from(purpose & !(INCONCLUSIVE | BLAME)))?;
        let depth = u16::try_from(self.number()?).ok()?;
        let url = self.text()?.to_owned();
        let date_s = i64::from_le_bytes(*self.take(8)?.first_chunk()?);
        let date_us = u32::try_from(self.number()?).ok()?;
        let (offset, length) = (self.number()?, self.number()?);
        let payload = u64::from_le_bytes(*self.take(8)?.first_chunk()?);
        let validator = Validator(u32::try_from(self.number()?).ok()?);
        let (refers_to_s, us) = (self.number()?, u32::try_from(self.number()?).ok()?);
        let refers_to = match refers_to_s.checked_sub(1) {
            None => None,
            Some(s) => Some(Moment { s: i64::try_from(s).ok()?, us }),
        };
        let robots_for = Some(self.text()?).filter(|site| !site.is_empty()).map(str::to_owned);
        let failure = match self.text()? {
            "" => None,
            name => Some(FailureKind::from_name(name)?),
        };
        let robots = match self.take(1)? {
            [0] => RobotsText::None,
            [1] => RobotsText::Undecodable,
            [2] => {
                let length = usize::try_from(self.number()?).ok()?;
                RobotsText::Text(self.take(length)?.to_vec())
            }
            _ => return None,
        };
        let answered = match self.take(1)? {
            [0] => None,
            [1] => Some(self.answered()?),
            _ => return None,
        };
        let entry = Entry {
            purpose,
            attempts,
            hops,
            depth,
            robots_for,
            failure,
            is_inconclusive,
            blames_host,
        };
        Some(Settled {
            url,
            entry,
            date_s,
            date_us,
            offset,
            length,
            payload,
            validator,
            refers_to,
            answered,
            robots,
        })
    }

    fn answered(&mut self) -> Option<Answered> {
        let status = u16::try_from(self.number()?).ok()?;
        let bytes = self.number()?;
        let before = u16::try_from(self.number()?).ok()?;
        let (unchanged, is_unstored) = (self.number()? == 1, self.number()? == 1);
        let similarity = f32::from_le_bytes(*self.take(4)?.first_chunk()?);
        let wait = self.number()?;
        let took_ms = u32::try_from(wait / 2).ok()?;
        let retry_after_ms = Some(self.number()?).filter(|_| wait % 2 == 1);
        let redirect = Some(self.text()?).filter(|url| !url.is_empty()).map(str::to_owned);
        let (links, sitemaps) = (self.urls()?, self.urls()?);
        let mut refused = BTreeMap::new();
        for _ in 0..self.number()? {
            let name = Cow::Owned(self.text()?.to_owned());
            refused.insert(name, self.number()?);
        }
        let harvest = Harvest { robots: None, redirect, links, sitemaps, refused, similarity };
        Some(Answered {
            status,
            bytes,
            retry_after_ms,
            took_ms,
            before,
            unchanged,
            harvest,
            is_unstored,
        })
    }

    fn urls(&mut self) -> Option<Vec<String>> {
        let count = self.number()?;
        // Every one of them takes a byte at least.
        let mut urls = Vec::with_capacity(usize::try_from(count).ok()?.min(self.bytes.len()));
        for _ in 0..count {
            urls.push(self.text()?.to_owned());
        }
        Some(urls)
    }

    fn text(&mut self) -> Option<&'a str> {
        let number = self.number()?;
        if let Some(place) = number.checked_sub(1) {
            return self.texts.get(usize::try_from(place).ok()?).copied();
        }
        let length = usize::try_from(self.number()?).ok()?;
        let text = str::from_utf8(self.take(length)?).ok()?;
        self.texts.push(text);
        Some(text)
    }

    fn number(&mut self) -> Option<u64> {
        vbyte::read(&mut self.bytes)
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(length)?;
        self.bytes = rest;
        Some(taken)
    }
}
