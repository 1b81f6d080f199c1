//! Holds docs/*.schema.json and docs/schemas.md to the types that they describe.

mod page;

use model::{Comparison, FleetResult, LoadResult, Summary};
use schemars::{JsonSchema, schema_for};

/// A document that scruple writes as JSON.
struct Document {
    /// Its schema is docs/NAME.schema.json.
    name: &'static str,
    /// Where users meet it.
    of: &'static str,
    /// Fields that must be there, each with a description.
    fields: &'static [&'static str],
    /// The schema, indented, with a newline at its end.
    schema: String,
}

/// Describes the document of type `T`.
fn document<T: JsonSchema>(
    name: &'static str,
    of: &'static str,
    fields: &'static [&'static str],
) -> Document {
    Document { name, of, fields, schema: format!("{:#}\n", schema_for!(T).to_value()) }
}

/// Returns all documents, in the order of docs/schemas.md.
fn documents() -> [Document; 4] {
    [
        document::<Summary>(
            "summary",
            "`summary.json`, and `scruple run --json`",
            &["format", "scruple", "session", "complete", "trust", "harness", "experiments"],
        ),
        document::<Comparison>(
            "comparison",
            "`scruple compare --json`",
            &["format", "scruple", "sides", "facts", "controls", "experiments", "gates"],
        ),
        document::<LoadResult>(
            "load",
            "`scruple load --json`",
            &["format", "plan", "counts", "response", "service", "lateness", "audit", "doubts"],
        ),
        document::<FleetResult>(
            "fleet",
            "`result.json` of a fleet, and `scruple fleet collect --json`",
            &["format", "plan", "complete", "nodes", "spreads", "outliers"],
        ),
    ]
}

/// Asserts that a file of docs/ holds `text`, after writing it if the environment asks for that.
fn hold(file: &str, text: &str) {
    let path = format!("{}/../../docs/{file}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("SCRUPLE_UPDATE").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == text,
        "docs/{file} is out of date: SCRUPLE_UPDATE=1 cargo test -p store schema"
    );
}

/// After a change of a type, raise its `model::…_FORMAT` and write the documents anew:
/// `SCRUPLE_UPDATE=1 cargo test -p store schema`.
#[test]
fn the_schemas_in_docs_are_those_of_the_types() {
    for document in documents() {
        hold(&format!("{}.schema.json", document.name), &document.schema);
    }
}

#[test]
fn the_page_of_schemas_is_made_of_them() {
    let page = page::page(&documents());
    hold("schemas.md", &page);
    for part in ["| `standard_error` |", "`\"supported\"`", "[Estimate](#summary-estimate)"] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn schemas_name_every_field_and_describe_it() {
    for document in documents() {
        let schema: serde_json::Value = serde_json::from_str(&document.schema).unwrap();
        for field in document.fields {
            let described = &schema["properties"][field]["description"];
            assert!(described.as_str().is_some_and(|text| !text.is_empty()), "{field}");
            let required = schema["required"].as_array().unwrap();
            assert!(required.contains(&serde_json::json!(field)), "{field}");
        }
    }
}
