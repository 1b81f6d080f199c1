use model::Summary;

/// The JSON schema of `summary.json`, as docs/summary.schema.json holds it: indented, with a
/// newline at its end.
pub fn summary_schema() -> String {
    let schema = schemars::schema_for!(Summary);
    // Writing a value of strings and numbers into memory cannot fail; `Value` says so by having
    // a `Display`, whose alternate form is the indented one.
    format!("{:#}\n", schema.to_value())
}

#[cfg(test)]
mod tests {
    use super::summary_schema;

    /// The documented schema is the one of the types.
    ///
    /// After a change of `model::Summary`, raise `model::SUMMARY_FORMAT` and write it anew:
    /// `SCRUPLE_UPDATE=1 cargo test -p store schema`.
    #[test]
    fn the_schema_in_docs_is_that_of_the_types() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/summary.schema.json");
        if std::env::var_os("SCRUPLE_UPDATE").is_some() {
            std::fs::write(path, summary_schema()).unwrap();
        }
        let documented = std::fs::read_to_string(path).unwrap();
        assert!(
            documented == summary_schema(),
            "docs/summary.schema.json is out of date: SCRUPLE_UPDATE=1 cargo test -p store schema"
        );
    }

    #[test]
    fn it_names_every_field_and_says_what_it_is() {
        let schema: serde_json::Value = serde_json::from_str(&summary_schema()).unwrap();
        for field in ["format", "scruple", "session", "complete", "trust", "harness", "experiments"]
        {
            let described = &schema["properties"][field]["description"];
            assert!(described.as_str().is_some_and(|text| !text.is_empty()), "{field}");
            assert!(schema["required"].as_array().unwrap().contains(&field.into()), "{field}");
        }
    }
}
