//! `crivello config`: check, show, schema.

use std::io::Write as _;

use anyhow::{Context as _, Result};
use serde_json::{Map, Value, json};

use crate::config::{Config, TEMPLATE};
use crate::context::{Context, Exit};
use crate::talk;

#[derive(clap::Subcommand)]
#[command(after_help = "Example:\n  crivello config show --dir my-web")]
pub(crate) enum Args {
    /// Read crivello.toml and say whether it is right
    #[command(after_help = "Example:\n  crivello config check --dir my-web")]
    Check,
    /// Print every key with the value in force: defaults, file, environment, --set
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
    let config = context.config(&context.collection()?)?;
    match args {
        Args::Check if context.json => context.print_json(&json!({ "ok": true }))?,
        Args::Check => talk::say(context.quiet, "the configuration is right"),
        Args::Show if context.json => context.print_json(&config)?,
        Args::Show => {
            let text = toml::to_string(&config).context("the settings cannot be written")?;
            std::io::stdout().lock().write_all(text.as_bytes())?;
        }
        Args::Schema => {}
    }
    Ok(Exit::Done)
}

/// Types from the defaults, descriptions from the comments of the commented file.
fn schema() -> Value {
    let defaults = serde_json::to_value(Config::default()).unwrap_or_default();
    let mut sections = Map::new();
    for (section, keys) in defaults.as_object().into_iter().flatten() {
        let mut properties = Map::new();
        for (key, value) in keys.as_object().into_iter().flatten() {
            let kind = match value {
                Value::Bool(_) => "boolean",
                Value::Number(number) if number.is_f64() => "number",
                Value::Number(_) => "integer",
                Value::Array(_) => "array",
                Value::Object(_) => "object",
                Value::Null | Value::String(_) => "string",
            };
            let about = comment(section, key);
            let property = json!({ "type": kind, "default": value, "description": about });
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

/// The comment that stands above a key in the commented file.
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
