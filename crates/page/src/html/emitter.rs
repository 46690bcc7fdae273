//! Between tokenizer and extractor: tags with their attributes, text handed through as it comes.
//!
//! Comments, doctypes and errors are dropped. A name longer than any we know is cut, and then it
//! is no name we know. What does not live here: what a tag means (`extract.rs`).
//!
//! **Invariant.** Memory does not grow with a tag: names and values are bounded, and there are no
//! more values than attributes that count.

use std::convert::Infallible;

use html5gum::{Emitter, Error, State};

use crate::Limits;

use super::attributes::{Attribute, Attributes};
use super::extract::Extractor;

/// Longer than every name of an element or attribute that means something here.
const NAME_BYTES_MAX: usize = 16;

/// The emitter that the tokenizer drives; see [`Emitter`] for its "current" things.
pub(super) struct TagEmitter<'a> {
    extractor: &'a mut Extractor,
    last_start_tag: Vec<u8>,
    tag: Vec<u8>,
    is_end_tag: bool,
    is_self_closing: bool,
    attributes: Attributes,
    attribute_name: Vec<u8>,
    current: Current,
}

/// The attribute that is being read.
#[derive(Clone, Copy)]
enum Current {
    /// Its name is not complete, or there is none.
    Named,
    /// Its value is kept.
    Kept(Attribute),
    /// Its value does not count.
    Dropped,
}

impl<'a> TagEmitter<'a> {
    pub(super) fn new(extractor: &'a mut Extractor, limits: &Limits) -> Self {
        let value_bytes_max = limits.url_bytes_max.max(limits.description_bytes_max);
        Self {
            extractor,
            last_start_tag: Vec::new(),
            tag: Vec::new(),
            is_end_tag: false,
            is_self_closing: false,
            attributes: Attributes::new(value_bytes_max),
            attribute_name: Vec::new(),
            current: Current::Named,
        }
    }

    fn begin_tag(&mut self, is_end_tag: bool) {
        self.is_end_tag = is_end_tag;
        self.is_self_closing = false;
        self.tag.clear();
        self.attributes.clear();
        self.attribute_name.clear();
        self.current = Current::Named;
    }

    /// The name of the current attribute is complete.
    fn end_attribute_name(&mut self) {
        if !matches!(self.current, Current::Named) {
            return;
        }
        self.current = match Attribute::from_name(&self.attribute_name) {
            Some(attribute) if self.attributes.begin(attribute) => Current::Kept(attribute),
            _ => Current::Dropped,
        };
    }
}

fn push_name(name: &mut Vec<u8>, bytes: &[u8]) {
    let room = NAME_BYTES_MAX - name.len();
    name.extend_from_slice(&bytes[..bytes.len().min(room)]);
}

impl Emitter for TagEmitter<'_> {
    type Token = Infallible;

    #[inline]
    fn emit_string(&mut self, text: &[u8]) {
        self.extractor.text(text);
    }

    fn init_start_tag(&mut self) {
        self.begin_tag(false);
    }

    fn init_end_tag(&mut self) {
        self.begin_tag(true);
    }

    fn push_tag_name(&mut self, bytes: &[u8]) {
        push_name(&mut self.tag, bytes);
    }

    fn set_self_closing(&mut self) {
        self.is_self_closing = true;
    }

    fn init_attribute(&mut self) {
        self.end_attribute_name();
        self.attribute_name.clear();
        self.current = Current::Named;
    }

    fn push_attribute_name(&mut self, bytes: &[u8]) {
        push_name(&mut self.attribute_name, bytes);
    }

    fn push_attribute_value(&mut self, bytes: &[u8]) {
        self.end_attribute_name();
        if let Current::Kept(attribute) = self.current {
            self.attributes.push(attribute, bytes);
        }
    }

    fn emit_current_tag(&mut self) -> Option<State> {
        if self.is_end_tag {
            self.last_start_tag.clear();
            self.extractor.end_tag(&self.tag);
            return None;
        }
        self.end_attribute_name();
        self.last_start_tag.clone_from(&self.tag);
        self.extractor.start_tag(&self.tag, &self.attributes, self.is_self_closing)
    }

    fn current_is_appropriate_end_tag_token(&mut self) -> bool {
        self.is_end_tag && !self.tag.is_empty() && self.tag == self.last_start_tag
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&mut self) -> bool {
        self.extractor.is_in_foreign_content()
    }

    fn set_last_start_tag(&mut self, last_start_tag: Option<&[u8]>) {
        self.last_start_tag.clear();
        self.last_start_tag.extend_from_slice(last_start_tag.unwrap_or_default());
    }

    fn should_emit_errors(&mut self) -> bool {
        false
    }

    fn pop_token(&mut self) -> Option<Infallible> {
        None
    }

    fn emit_eof(&mut self) {}
    fn emit_error(&mut self, _: Error) {}
    fn init_comment(&mut self) {}
    fn push_comment(&mut self, _: &[u8]) {}
    fn emit_current_comment(&mut self) {}
    fn init_doctype(&mut self) {}
    fn push_doctype_name(&mut self, _: &[u8]) {}
    fn set_force_quirks(&mut self) {}
    fn set_doctype_public_identifier(&mut self, _: &[u8]) {}
    fn set_doctype_system_identifier(&mut self, _: &[u8]) {}
    fn push_doctype_public_identifier(&mut self, _: &[u8]) {}
    fn push_doctype_system_identifier(&mut self, _: &[u8]) {}
    fn emit_current_doctype(&mut self) {}
}
