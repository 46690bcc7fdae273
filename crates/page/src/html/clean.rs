//! Rewrites a page so that it runs and loads nothing, to show a copy of it in a browser.
//!
//! The copy contains only text, known elements and known attributes. Anything else is written as text or left out, so
//! no construct passes because a browser reads the markup differently.
//! Scripts, styles, frames, forms, external pictures, `link`, `meta` and foreign content (`svg`, `math`) are removed.
//!
//! `scan.rs` and `extract.rs` read a page for the index.
//!
//! **Invariant.** Every `<` of the output begins a tag of an element in [`ELEMENTS`] or a tag that this module adds.
//! Attributes are links or are in [`ATTRIBUTES`]. Memory is bounded whatever the length of the page, and time is
//! linear in it.
//!
//! Reference: <https://html.spec.whatwg.org/multipage/parsing.html#tokenization>.

use encoding_rs::{Decoder, Encoding, UTF_8};
use memchr::memchr;

use super::elements::{Element, Raw};
use super::scan::{attribute, is_space};

/// A longer tag is left out.
const TAG_BYTES_MAX: usize = 64 << 10;

/// The elements that stay, sorted. None of them loads anything or changes how text is read.
const ELEMENTS: [&str; 81] = [
    "a",
    "abbr",
    "address",
    "article",
    "aside",
    "b",
    "bdi",
    "bdo",
    "big",
    "blockquote",
    "body",
    "br",
    "caption",
    "center",
    "cite",
    "code",
    "col",
    "colgroup",
    "dd",
    "del",
    "details",
    "dfn",
    "div",
    "dl",
    "dt",
    "em",
    "figcaption",
    "figure",
    "font",
    "footer",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hgroup",
    "hr",
    "html",
    "i",
    "img",
    "ins",
    "kbd",
    "li",
    "main",
    "mark",
    "menu",
    "nav",
    "ol",
    "p",
    "pre",
    "q",
    "rp",
    "rt",
    "ruby",
    "s",
    "samp",
    "search",
    "section",
    "small",
    "span",
    "strike",
    "strong",
    "sub",
    "summary",
    "sup",
    "table",
    "tbody",
    "td",
    "template",
    "tfoot",
    "th",
    "thead",
    "time",
    "tr",
    "tt",
    "u",
    "ul",
    "var",
];

/// The attributes that stay, sorted. [`keeps_attribute`] decides on links and pictures.
const ATTRIBUTES: [&str; 28] = [
    "align",
    "alt",
    "border",
    "cellpadding",
    "cellspacing",
    "cite",
    "colspan",
    "datetime",
    "dir",
    "face",
    "headers",
    "height",
    "hidden",
    "id",
    "lang",
    "name",
    "nowrap",
    "open",
    "reversed",
    "rowspan",
    "scope",
    "size",
    "span",
    "start",
    "title",
    "valign",
    "value",
    "width",
];

/// Rewrites a page piece by piece, in UTF-8.
pub struct Cleaner {
    decoder: Decoder,
    /// Text that was read but not written yet.
    pending: String,
    inside: Inside,
    is_xml: bool,
    has_begun: bool,
    has_title: bool,
}

/// The construct that the next character is part of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    Markup,
    Comment,
    /// A declaration or a malformed tag, up to the next `>`.
    Bogus,
    /// The content of an element without markup.
    Raw(Raw),
}

/// The result of one step at the beginning of the text.
enum Step {
    /// The number of bytes that the step consumed.
    Done(usize),
    /// The step needs more text.
    More,
}

impl Cleaner {
    /// Cleans a page in the charset of this name in the encoding standard. Unknown names mean UTF-8. In XML,
    /// `<script/>` is a complete element.
    pub fn new(charset: &str, is_xml: bool) -> Self {
        let encoding = Encoding::for_label(charset.as_bytes()).unwrap_or(UTF_8);
        Self {
            decoder: encoding.new_decoder_with_bom_removal(),
            pending: String::new(),
            inside: Inside::Markup,
            is_xml,
            has_begun: false,
            has_title: false,
        }
    }

    /// Reads the next bytes of the page and appends the cleaned markup to `out`.
    pub fn push(&mut self, bytes: &[u8], is_last: bool, out: &mut String) {
        let most = self.decoder.max_utf8_buffer_length(bytes.len());
        self.pending.reserve(most.unwrap_or(bytes.len()));
        let _ = self.decoder.decode_to_string(bytes, &mut self.pending, is_last);
        if !self.has_begun {
            self.has_begun = true;
            out.push_str("<!DOCTYPE html>");
        }
        let pending = std::mem::take(&mut self.pending);
        let mut rest = pending.as_str();
        while !rest.is_empty() {
            let step = match self.inside {
                Inside::Markup => self.markup(rest, out),
                Inside::Comment => self.comment(rest),
                Inside::Bogus => self.bogus(rest),
                Inside::Raw(raw) => self.raw(raw, rest, is_last, out),
            };
            match step {
                Step::Done(bytes) => rest = &rest[bytes..],
                Step::More if is_last => rest = "",
                // A tag of this length is left out.
                Step::More if rest.len() > TAG_BYTES_MAX => {
                    if let Inside::Raw(raw) = self.inside {
                        self.end_raw(raw, out);
                    }
                    self.inside = Inside::Bogus;
                    rest = "";
                }
                Step::More => break,
            }
        }
        rest.clone_into(&mut self.pending);
        if let Inside::Raw(raw) = self.inside
            && is_last
        {
            self.end_raw(raw, out);
        }
    }

    /// Handles the text up to the next `<`, or the construct that this `<` begins.
    fn markup(&mut self, rest: &str, out: &mut String) -> Step {
        let bytes = rest.as_bytes();
        let text = memchr(b'<', bytes).unwrap_or(bytes.len());
        if text > 0 {
            out.push_str(&rest[..text]);
            return Step::Done(text);
        }
        match bytes.get(1..) {
            Some([letter, ..]) if letter.is_ascii_alphabetic() => self.start_tag(rest, out),
            Some([b'/', letter, ..]) if letter.is_ascii_alphabetic() => end_tag(rest, out),
            None | Some([] | [b'/' | b'!'] | [b'!', b'-']) => Step::More,
            Some([b'!', b'-', b'-', ..]) => self.comment_open(rest),
            Some([b'!' | b'?' | b'/', ..]) => {
                self.inside = Inside::Bogus;
                Step::Done(2)
            }
            Some(_) => {
                out.push_str("&lt;");
                Step::Done(1)
            }
        }
    }

    fn start_tag(&mut self, rest: &str, out: &mut String) -> Step {
        let Some(tag) = Tag::read(rest, 1) else { return Step::More };
        let Tag { name, attributes, is_self_closing, end } = tag;
        let element = Element::from_name(name.as_bytes());
        // Without frames and scripts, this content is visible.
        let is_read = matches!(element, Element::Raw(Raw::Noembed | Raw::Noframes));
        if let Element::Raw(raw) = element
            && !is_read
        {
            if self.is_xml && is_self_closing {
                return Step::Done(end);
            }
            self.inside = Inside::Raw(raw);
            self.begin_raw(raw, out);
        } else if let Some(name) = kept(name) {
            out.push('<');
            out.push_str(name);
            for (attribute, value) in attributes {
                push_attribute(name, attribute, value, out);
            }
            out.push('>');
        }
        Step::Done(end)
    }

    /// Handles the beginning of a comment, from its `<!--`.
    fn comment_open(&mut self, rest: &str) -> Step {
        let inside = &rest[4..];
        match inside.as_bytes() {
            [] | [b'-'] => Step::More,
            [b'>', ..] => Step::Done(5),
            [b'-', b'>', ..] => Step::Done(6),
            _ => {
                self.inside = Inside::Comment;
                Step::Done(4)
            }
        }
    }

    fn comment(&mut self, rest: &str) -> Step {
        let bytes = rest.as_bytes();
        let mut at = 0;
        while let Some(found) = memchr(b'-', &bytes[at..]) {
            let after = &bytes[at + found + 1..];
            let end = match after {
                [b'-', b'>', ..] => Some(2),
                [b'-', b'!', b'>', ..] => Some(3),
                // This may be the end of the comment, so more text is needed.
                [] | [b'-'] | [b'-', b'!'] if found + at > 0 => return Step::Done(at + found),
                [] | [b'-'] | [b'-', b'!'] => return Step::More,
                _ => None,
            };
            at += found + 1;
            if let Some(end) = end {
                self.inside = Inside::Markup;
                return Step::Done(at + end);
            }
        }
        Step::Done(bytes.len())
    }

    fn bogus(&mut self, rest: &str) -> Step {
        match memchr(b'>', rest.as_bytes()) {
            Some(end) => {
                self.inside = Inside::Markup;
                Step::Done(end + 1)
            }
            None => Step::Done(rest.len()),
        }
    }

    /// The content of an element without markup, up to its end tag.
    fn raw(&mut self, raw: Raw, rest: &str, is_last: bool, out: &mut String) -> Step {
        let bytes = rest.as_bytes();
        let content = memchr(b'<', bytes).unwrap_or(bytes.len());
        if content > 0 {
            self.push_raw(raw, &rest[..content], out);
            return Step::Done(content);
        }
        let name_end = 2 + raw.name().len();
        let is_end = raw != Raw::Plaintext
            && bytes.get(1).is_none_or(|byte| *byte == b'/')
            && starts_with_ignoring_case(raw.name(), bytes.get(2..).unwrap_or_default());
        if is_end && bytes.len() <= name_end && !is_last {
            return Step::More;
        }
        if is_end && bytes.get(name_end).is_some_and(|byte| is_space(*byte) || b"/>".contains(byte))
        {
            let Some(tag) = Tag::read(rest, 2) else { return Step::More };
            self.end_raw(raw, out);
            self.inside = Inside::Markup;
            return Step::Done(tag.end);
        }
        self.push_raw(raw, "<", out);
        Step::Done(1)
    }

    fn begin_raw(&mut self, raw: Raw, out: &mut String) {
        match raw {
            Raw::Title if !self.has_title => out.push_str("<title>"),
            Raw::Plaintext | Raw::Xmp => out.push_str("<pre>"),
            _ => {}
        }
    }

    fn push_raw(&self, raw: Raw, content: &str, out: &mut String) {
        match raw {
            Raw::Title if !self.has_title => push_escaped(content, "<", out),
            Raw::Textarea => push_escaped(content, "<", out),
            Raw::Plaintext | Raw::Xmp => push_escaped(content, "<&", out),
            _ => {}
        }
    }

    fn end_raw(&mut self, raw: Raw, out: &mut String) {
        match raw {
            Raw::Title if !self.has_title => {
                out.push_str("</title>");
                self.has_title = true;
            }
            Raw::Plaintext | Raw::Xmp => out.push_str("</pre>"),
            _ => {}
        }
    }
}

/// A complete start or end tag.
struct Tag<'a> {
    name: &'a str,
    attributes: Vec<(&'a str, &'a str)>,
    is_self_closing: bool,
    /// The byte after its `>`.
    end: usize,
}

impl<'a> Tag<'a> {
    /// The tag whose name begins at `start`; `None` if the text ends first.
    fn read(text: &'a str, start: usize) -> Option<Self> {
        let bytes = text.as_bytes();
        let is_end = |byte: &u8| is_space(*byte) || b"/>".contains(byte);
        let mut at = start + bytes[start..].iter().position(is_end)?;
        let name = &text[start..at];
        let mut attributes = Vec::new();
        loop {
            match *bytes.get(at)? {
                b'>' => {
                    let is_self_closing = bytes[at - 1] == b'/';
                    return Some(Self { name, attributes, is_self_closing, end: at + 1 });
                }
                byte if byte == b'/' || is_space(byte) => at += 1,
                _ => {
                    let (name, value, end) = attribute(text, at)?;
                    attributes.push((name, value));
                    at = end;
                }
            }
        }
    }
}

fn end_tag(rest: &str, out: &mut String) -> Step {
    let Some(tag) = Tag::read(rest, 2) else { return Step::More };
    if let Some(name) = kept(tag.name) {
        out.push_str("</");
        out.push_str(name);
        out.push('>');
    }
    Step::Done(tag.end)
}

/// The name of an element if it stays.
fn kept(name: &str) -> Option<&'static str> {
    let at = ELEMENTS.binary_search(&name.to_ascii_lowercase().as_str()).ok()?;
    Some(ELEMENTS[at])
}

fn push_attribute(element: &str, name: &str, value: &str, out: &mut String) {
    let name = name.to_ascii_lowercase();
    if keeps_attribute(element, &name, value) {
        out.push(' ');
        out.push_str(&name);
        out.push_str("=\"");
        push_escaped(value, "<\"", out);
        out.push('"');
    }
}

/// Returns whether an attribute stays. Links must lead to the web or to the same page. Pictures must be data URLs.
fn keeps_attribute(element: &str, name: &str, value: &str) -> bool {
    let begins = |start: &str| {
        value.get(..start.len()).is_some_and(|value| value.eq_ignore_ascii_case(start))
    };
    match (element, name) {
        ("a", "href") => ["#", "http://", "https://"].into_iter().any(begins),
        ("img", "src") => begins("data:image/"),
        _ => ATTRIBUTES.binary_search(&name).is_ok(),
    }
}

/// Appends text with the characters in `escaped` as character references. They may be `<`, `&` and `"`.
fn push_escaped(text: &str, escaped: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '<' if escaped.contains('<') => out.push_str("&lt;"),
            '&' if escaped.contains('&') => out.push_str("&amp;"),
            '"' if escaped.contains('"') => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
}

/// Returns whether one of the two begins with the other, in any case.
fn starts_with_ignoring_case(name: &[u8], bytes: &[u8]) -> bool {
    let both = name.len().min(bytes.len());
    name[..both].eq_ignore_ascii_case(&bytes[..both])
}
