//! `crivello config`: check, show, schema. The values are checked in `config.rs` and in each crate.
//!
//! **Invariant.** `check` finds every error that a command would report, also in the files that the settings name.

use std::collections::BTreeMap;
use std::io::Write as _;

use anyhow::{Context as _, Result};
use serde_json::{Map, Value, json};

use crate::config::{Config, TEMPLATE};
use crate::context::{Context, Exit};

#[derive(clap::Subcommand)]
#[command(after_help = "Example:\n  crivello config show --dir my-web")]
pub(crate) enum Args {
    /// Check crivello.toml
    #[command(after_help = "Example:\n  crivello config check --dir my-web")]
    Check,
    /// Print every key with its value from defaults, file, environment and --set; secrets as `…`
    #[command(
        after_help = "Example:\n  crivello config show --dir my-web --set crawl.delay_ms=500"
    )]
    Show,
    /// Print a JSON Schema of crivello.toml, for editors
    #[command(after_help = "Example:\n  crivello config schema > crivello.schema.json")]
    Schema,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<Exit> {
    if matches!(args, Args::Schema) {
        context.print_json(&schema())?;
        return Ok(Exit::Done);
    }
    let collection = context.collection()?;
    let config = context.config(&collection)?;
    if matches!(args, Args::Check) {
        context.check_files(&collection, &config)?;
    }
    match args {
        Args::Check if context.json => context.print_json(&json!({ "ok": true }))?,
        Args::Check => context.say("Valid", collection.config_file().display().to_string()),
        Args::Show if context.json => context.print_json(&config.without_secrets())?,
        Args::Show => {
            let text = toml::to_string(&config.without_secrets())
                .context("the settings cannot be written")?;
            std::io::stdout().lock().write_all(text.as_bytes())?;
        }
        Args::Schema => {}
    }
    Ok(Exit::Done)
}

/// The least and greatest values of numbers, by section and key.
type Bounds = BTreeMap<String, (Value, Value)>;

fn bounds(config: &Config) -> Bounds {
    let of_crawl = config
        .crawl
        .ranges()
        .into_iter()
        .map(|range| (format!("crawl.{}", range.key), (json!(range.least), json!(range.most))));
    let others = config.bounds().into_iter().map(|bound| {
        let path = format!("{}.{}", bound.section, bound.key);
        (path, (number(bound.least), number(bound.most)))
    });
    of_crawl.chain(others).collect()
}

/// A number as JSON, a whole one without a point.
fn number(value: f64) -> Value {
    serde_json::from_str(&value.to_string()).unwrap_or_default()
}

/// The schema: types and bounds from the defaults, choices from the parsers, descriptions from the comments of the
/// template.
fn schema() -> Value {
    let bounds = bounds(&Config::default());
    let defaults = serde_json::to_value(Config::default()).unwrap_or_default();
    let mut sections = Map::new();
    for (section, keys) in defaults.as_object().into_iter().flatten() {
        let mut properties = Map::new();
        for (key, value) in keys.as_object().into_iter().flatten() {
            let mut property = property(&format!("{section}.{key}"), value, &bounds);
            let choices = Config::choices(section, key);
            if !choices.is_empty() {
                let of_items =
                    if value.is_array() { &mut property["items"] } else { &mut property };
                of_items["type"] = "string".into();
                of_items["enum"] = choices.into();
            }
            property["description"] = comment(section, key).into();
            properties.insert(key.clone(), property);
        }
        let about = json!({
            "type": "object", "properties": properties, "additionalProperties": false
        });
        sections.insert(section.clone(), about);
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "crivello.toml",
        "type": "object",
        "properties": sections,
        "additionalProperties": false,
    })
}

/// Tables that may have other keys than the default ones, with values of one type.
const OPEN: [&str; 1] = ["search.ranks"];

fn without_default(mut property: Value) -> Value {
    property.as_object_mut().map(|property| property.remove("default"));
    property
}

/// The schema of a value, by its default. A table with default keys may have no other ones, unless it is [`OPEN`]. A
/// list of numbers has the length of its default.
fn property(path: &str, value: &Value, bounds: &Bounds) -> Value {
    let kind = match value {
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
        Value::Null | Value::String(_) => "string",
    };
    let mut property = json!({ "type": kind, "default": value });
    match value {
        Value::Number(_) => {
            if let Some((least, most)) = bounds.get(path) {
                property["minimum"] = least.clone();
                property["maximum"] = most.clone();
            }
        }
        Value::Array(items) if items.first().is_some_and(Value::is_number) => {
            property["items"] = without_default(self::property(path, &items[0], bounds));
            property["minItems"] = items.len().into();
            property["maxItems"] = items.len().into();
        }
        Value::Object(keys) if !keys.is_empty() => {
            let inner = |(key, value): (&String, &Value)| {
                (key.clone(), self::property(&format!("{path}.{key}"), value, bounds))
            };
            let properties: Map<String, Value> = keys.iter().map(inner).collect();
            let any = properties.values().next().filter(|_| OPEN.contains(&path)).cloned();
            property["additionalProperties"] = any.map_or(false.into(), without_default);
            property["properties"] = properties.into();
        }
        _ => {}
    }
    property
}

/// The comment above a key of the template.
fn comment(section: &str, key: &str) -> String {
    let Some((_, after)) = TEMPLATE.split_once(&format!("[{section}]\n")) else {
        return String::new();
    };
    let mut lines = Vec::new();
    for line in after.lines() {
        if let Some(text) = line.strip_prefix("# ") {
            lines.push(text);
        } else if line.starts_with(&format!("{key} =")) {
            return lines.join(" ");
        } else {
            lines.clear();
        }
    }
    String::new()
}
