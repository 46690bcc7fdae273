//! Topics: named queries.
//!
//! There are two formats: lines of name, tab and text; or TREC's `<top> <num> Number: 301 <title> … <desc> …
//! </top>`, where the title is the query.
//!
//! **Invariant.** Names are distinct and have no white space. Topics are in the order of the file.

use super::BadLine;
use std::collections::HashSet;

/// Topics in the order of their file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Topics(Vec<Topic>);

/// A named query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topic {
    /// The name in judgements.
    pub name: String,
    /// The query.
    pub text: String,
}

impl Topics {
    /// Parses either format.
    pub fn parse(text: &str) -> Result<Topics, BadLine> {
        let topics = if text.trim_start().to_ascii_lowercase().starts_with("<top") {
            trec(text)?
        } else {
            lines(text)?
        };
        let mut seen = HashSet::new();
        for (line, topic) in &topics {
            if topic.name.is_empty() || topic.name.contains(char::is_whitespace) {
                return Err(BadLine::new(*line, "the name is empty or has spaces in it"));
            }
            if !seen.insert(&topic.name) {
                let what = format!("topic {} occurs twice", topic.name);
                return Err(BadLine::new(*line, what));
            }
        }
        Ok(Topics(topics.into_iter().map(|(_, topic)| topic).collect()))
    }

    /// The topics.
    pub fn topics(&self) -> &[Topic] {
        &self.0
    }
}

fn lines(text: &str) -> Result<Vec<(usize, Topic)>, BadLine> {
    let mut topics = Vec::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let Some((name, text)) = line.split_once('\t') else {
            let what = "not of the form `name`, tab, `text`";
            return Err(BadLine::new(number, what));
        };
        let (name, text) = (name.trim().to_owned(), text.trim().to_owned());
        topics.push((number, Topic { name, text }));
    }
    Ok(topics)
}

fn trec(text: &str) -> Result<Vec<(usize, Topic)>, BadLine> {
    let mut topics = Vec::new();
    let mut line = 1;
    // Tags are ASCII, so places in the lower-case copy are places in the text.
    let lower = text.to_ascii_lowercase();
    let mut rest = 0;
    while let Some(start) = lower[rest..].find("<top>").map(|at| rest + at) {
        line += text[rest..start].matches('\n').count();
        let (inside, no_end) = (start + "<top>".len(), "this topic has no </top>");
        let end = lower[inside..].find("</top>").map(|at| inside + at);
        let end = end.filter(|&end| !lower[inside..end].contains("<top>"));
        let end = end.ok_or_else(|| BadLine::new(line, no_end))?;
        let field = |tag: &str, label: &str| {
            let from = lower[start..end].find(tag)? + start + tag.len();
            let to = lower[from..end].find('<').map_or(end, |at| from + at);
            let value = text[from..to].trim();
            let labelled =
                value.get(..label.len()).is_some_and(|it| it.eq_ignore_ascii_case(label));
            let value = if labelled { value[label.len()..].trim() } else { value };
            Some(value.split_whitespace().collect::<Vec<_>>().join(" ")).filter(|it| !it.is_empty())
        };
        let (Some(name), Some(title)) = (field("<num>", "Number:"), field("<title>", "Topic:"))
        else {
            return Err(BadLine::new(line, "this topic has no <num> or no <title>"));
        };
        topics.push((line, Topic { name, text: title }));
        line += text[start..end].matches('\n').count();
        rest = end;
    }
    Ok(topics)
}
