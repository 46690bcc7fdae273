//! What the names of elements mean for text: who breaks a line, whose content is no markup.
//!
//! **Invariant.** An element that is not named here is inline and holds markup.
//!
//! Reference: <https://html.spec.whatwg.org/multipage/rendering.html>, section "Non-replaced elements".

use html5gum::State;

use crate::flow::Gap;

/// What the start or the end of an element puts between the text before and after it.
pub(super) fn gap(name: &[u8]) -> Gap {
    match name {
        b"td" | b"th" | b"button" | b"input" | b"select" | b"iframe" | b"object" | b"video"
        | b"audio" => Gap::Space,
        b"address" | b"article" | b"aside" | b"blockquote" | b"body" | b"br" | b"caption"
        | b"center" | b"dd" | b"details" | b"dialog" | b"dir" | b"div" | b"dl" | b"dt"
        | b"fieldset" | b"figcaption" | b"figure" | b"footer" | b"form" | b"frame"
        | b"frameset" | b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" | b"head" | b"header"
        | b"hgroup" | b"hr" | b"html" | b"legend" | b"li" | b"listing" | b"main" | b"menu"
        | b"nav" | b"ol" | b"optgroup" | b"option" | b"p" | b"plaintext" | b"pre" | b"search"
        | b"section" | b"summary" | b"table" | b"tbody" | b"textarea" | b"tfoot" | b"thead"
        | b"title" | b"tr" | b"ul" | b"xmp" => Gap::Line,
        _ => Gap::None,
    }
}

/// Where characters go that the tokenizer takes for no markup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Raw {
    /// They are the title.
    Title,
    /// They are text like any other.
    Shown,
    /// They are nothing.
    Skipped,
}

/// How the content of an element is tokenized that holds no markup, and where it goes.
///
/// As the standard says for an agent that runs no scripts: `noscript` is not among them.
pub(super) fn raw(name: &[u8]) -> Option<(State, Raw)> {
    match name {
        b"title" => Some((State::RcData, Raw::Title)),
        b"textarea" => Some((State::RcData, Raw::Skipped)),
        b"script" => Some((State::ScriptData, Raw::Skipped)),
        b"style" | b"iframe" | b"noembed" | b"noframes" => Some((State::RawText, Raw::Skipped)),
        b"xmp" => Some((State::RawText, Raw::Shown)),
        b"plaintext" => Some((State::PlainText, Raw::Shown)),
        _ => None,
    }
}

/// Whether this is `h1` … `h6`.
pub(super) fn is_heading(name: &[u8]) -> bool {
    matches!(name, [b'h', b'1'..=b'6'])
}
