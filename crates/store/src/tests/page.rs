//! The schemas as a page for people: a table for each type, with links between them.

use super::Document;
use serde_json::{Map, Value};
use std::fmt::Write;

/// Documents by name, what they are the schema of, and their text.
pub(super) fn page(documents: &[Document]) -> String {
    let mut page = String::from(
        "# JSON schemas\n\nGenerated from the schemas; change the types in crates/model, not this \
         file. A field without *may be\nmissing* is always there. Units stand last in a name \
         ([glossary](glossary.md#units)).\nEach document has a `format`, a number that rises when \
         its form changes.\n\nThe JSON of `scale`, `why`, `waits`, `core`, `plan`, `selftest`, of \
         `load --find-knee` and of compared loads\nhas the same names and units, but is not described \
         here and has no `format`: it may change with each version\nof scruple.\n",
    );
    for Document { name, of, schema, .. } in documents {
        let schema: Value = serde_json::from_str(schema).unwrap();
        write!(
            page,
            "\n## {name}\n\n{of}; the schema itself: [{name}.schema.json]({name}.schema.json).\n"
        )
        .unwrap();
        shape(&mut page, name, &schema);
        for (part, schema) in schema["$defs"].as_object().unwrap() {
            // The page is one document, in which several have a type of that name.
            write!(page, "\n### {name} {part}\n").unwrap();
            shape(&mut page, name, schema);
        }
    }
    page
}

/// What a type is, and a table of its fields or of its forms.
fn shape(page: &mut String, document: &str, schema: &Value) {
    write!(page, "\n{}\n", described(schema)).unwrap();
    if let Some(fields) = schema["properties"].as_object() {
        page.push_str("\n| field | type | meaning |\n|---|---|---|\n");
        rows(page, document, fields, &schema["required"]);
    }
    if let Some(forms) = schema["oneOf"].as_array() {
        page.push_str("\n| one of | meaning |\n|---|---|\n");
        for form in forms {
            forms_rows(page, document, form);
        }
    }
}

fn rows(page: &mut String, document: &str, fields: &Map<String, Value>, required: &Value) {
    for (name, field) in fields {
        let always = required.as_array().is_some_and(|all| all.iter().any(|one| one == name));
        let missing = if always { "" } else { ", may be missing" };
        let kind = kind(document, field);
        writeln!(page, "| `{name}` | {kind}{missing} | {} |", cell(&described(field))).unwrap();
    }
}

/// A form of a type that has several: a word, or an object that a word in it tells apart.
fn forms_rows(page: &mut String, document: &str, form: &Value) {
    let meaning = cell(&described(form));
    if let Some(words) = form["enum"].as_array() {
        for word in words {
            writeln!(page, "| `{word}` | {meaning} |").unwrap();
        }
        return;
    }
    if let Some(fields) = form["properties"].as_object() {
        let shown = fields.iter().map(|(name, field)| match field.get("const") {
            Some(word) => format!("`{name}` `{word}`"),
            None => format!("`{name}` {}", kind(document, field)),
        });
        let shown: Vec<String> = shown.collect();
        writeln!(page, "| {} | {meaning} |", shown.join(", ")).unwrap();
        return;
    }
    writeln!(page, "| {} | {meaning} |", kind(document, form)).unwrap();
}

/// The type of a field, in words.
fn kind(document: &str, schema: &Value) -> String {
    if let Some(word) = schema.get("const") {
        return format!("`{word}`");
    }
    if let Some(path) = schema["$ref"].as_str() {
        let name = path.rsplit('/').next().unwrap_or(path);
        return format!("[{name}](#{document}-{})", name.to_lowercase());
    }
    if let Some(all) = schema["anyOf"].as_array() {
        let kinds: Vec<String> = all.iter().map(|one| kind(document, one)).collect();
        return kinds.join(" or ");
    }
    let one = |word: &str| match word {
        "array" if schema["prefixItems"].is_array() => {
            let items = schema["prefixItems"].as_array().unwrap();
            let items: Vec<String> = items.iter().map(|item| kind(document, item)).collect();
            format!("list of {}", items.join(", "))
        }
        "array" => format!("list of {}", kind(document, &schema["items"])),
        "object" if schema["additionalProperties"].is_object() => {
            format!("object of {}", kind(document, &schema["additionalProperties"]))
        }
        "string" if schema["enum"].is_array() => {
            let words: Vec<String> =
                schema["enum"].as_array().unwrap().iter().map(|word| format!("`{word}`")).collect();
            words.join(" or ")
        }
        _ => word.to_string(),
    };
    match &schema["type"] {
        Value::String(word) => one(word),
        Value::Array(words) => {
            let words: Vec<String> = words.iter().filter_map(Value::as_str).map(one).collect();
            words.join(" or ")
        }
        _ => "anything".into(),
    }
}

fn described(schema: &Value) -> String {
    // Links between types are rustdoc's; here they are names.
    schema["description"].as_str().unwrap_or("").replace("[`", "`").replace("`]", "`")
}

/// The text of a cell, whose lines and paragraphs cannot be such.
fn cell(text: &str) -> String {
    let parts: Vec<String> = text.split("\n\n").map(|part| part.replace('\n', " ")).collect();
    parts.join("<br>").replace('|', "\\|")
}
