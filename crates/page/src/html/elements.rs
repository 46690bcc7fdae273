//! The meaning of element names: which elements break a line, and which contain no markup.
//!
//! **Invariant.** An element that is not listed here is inline and contains markup.
//!
//! Reference: <https://html.spec.whatwg.org/multipage/rendering.html>, section "Non-replaced elements".

use crate::flow::Gap;

/// Bytes of the longest name in the list.
const NAME_BYTES_MAX: usize = 10;

/// The elements. Elements that are treated alike share one variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element {
    A,
    Area,
    Base,
    /// A block: its start and its end break the line.
    Block,
    Body,
    /// Not a block, but its words are separate from the words before and after it.
    Cell,
    /// `svg` and `math`.
    Foreign,
    Frame,
    /// `h1` … `h6`.
    Heading,
    Html,
    Img,
    /// Inline: it does not separate words.
    Inline,
    Link,
    Meta,
    Noscript,
    /// An element that contains no markup.
    Raw(Raw),
    Template,
}

/// The elements whose content is text without markup.
///
/// The list follows the standard for a user agent without scripts, so `noscript` is not in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Raw {
    Iframe,
    Noembed,
    Noframes,
    Plaintext,
    Script,
    Style,
    Textarea,
    Title,
    Xmp,
}

impl Element {
    /// The element of this name, in any case.
    pub(super) fn from_name(name: &[u8]) -> Self {
        let mut lower = [0; NAME_BYTES_MAX];
        let Some(lower) = lower.get_mut(..name.len()) else { return Self::Inline };
        for (lower, byte) in lower.iter_mut().zip(name) {
            *lower = byte.to_ascii_lowercase();
        }
        match &*lower {
            b"a" => Self::A,
            b"area" => Self::Area,
            b"base" => Self::Base,
            b"body" => Self::Body,
            b"frame" => Self::Frame,
            b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" => Self::Heading,
            b"html" => Self::Html,
            b"iframe" => Self::Raw(Raw::Iframe),
            b"img" => Self::Img,
            b"link" => Self::Link,
            b"math" | b"svg" => Self::Foreign,
            b"meta" => Self::Meta,
            b"noembed" => Self::Raw(Raw::Noembed),
            b"noframes" => Self::Raw(Raw::Noframes),
            b"noscript" => Self::Noscript,
            b"plaintext" => Self::Raw(Raw::Plaintext),
            b"script" => Self::Raw(Raw::Script),
            b"style" => Self::Raw(Raw::Style),
            b"template" => Self::Template,
            b"textarea" => Self::Raw(Raw::Textarea),
            b"title" => Self::Raw(Raw::Title),
            b"xmp" => Self::Raw(Raw::Xmp),
            b"td" | b"th" | b"button" | b"input" | b"select" | b"object" | b"video" | b"audio" => {
                Self::Cell
            }
            b"address" | b"article" | b"aside" | b"blockquote" | b"br" | b"caption" | b"center"
            | b"dd" | b"details" | b"dialog" | b"dir" | b"div" | b"dl" | b"dt" | b"fieldset"
            | b"figcaption" | b"figure" | b"footer" | b"form" | b"frameset" | b"head"
            | b"header" | b"hgroup" | b"hr" | b"legend" | b"li" | b"listing" | b"main"
            | b"menu" | b"nav" | b"ol" | b"optgroup" | b"option" | b"p" | b"pre" | b"search"
            | b"section" | b"summary" | b"table" | b"tbody" | b"tfoot" | b"thead" | b"tr"
            | b"ul" => Self::Block,
            _ => Self::Inline,
        }
    }

    /// The separator that the start or the end of the element puts into the text.
    pub(super) fn gap(self) -> Gap {
        match self {
            Self::Cell | Self::Raw(Raw::Iframe) => Gap::Space,
            Self::Block
            | Self::Body
            | Self::Frame
            | Self::Heading
            | Self::Html
            | Self::Raw(Raw::Plaintext | Raw::Textarea | Raw::Title | Raw::Xmp) => Gap::Line,
            _ => Gap::None,
        }
    }
}

impl Raw {
    /// The name of the end tag.
    pub(super) fn name(self) -> &'static [u8] {
        match self {
            Self::Iframe => b"iframe",
            Self::Noembed => b"noembed",
            Self::Noframes => b"noframes",
            Self::Plaintext => b"plaintext",
            Self::Script => b"script",
            Self::Style => b"style",
            Self::Textarea => b"textarea",
            Self::Title => b"title",
            Self::Xmp => b"xmp",
        }
    }
}
