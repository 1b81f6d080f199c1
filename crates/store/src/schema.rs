use model::{
    Advice, Comparison, FleetResult, Knee, LoadPrediction, LoadResult, Scaling, Selftest, Summary,
    Why,
};
use schemars::Schema;

/// The JSON schema of `summary.json`, as docs/summary.schema.json holds it: indented, with a
/// newline at its end.
pub fn summary_schema() -> String {
    text(schemars::schema_for!(Summary))
}

/// The JSON schema of what `scruple selftest --json` prints, as docs/selftest.schema.json holds it.
pub fn selftest_schema() -> String {
    text(schemars::schema_for!(Selftest))
}

/// The JSON schema of what `scruple compare --json` prints, as docs/comparison.schema.json holds it.
pub fn comparison_schema() -> String {
    text(schemars::schema_for!(Comparison))
}

/// The JSON schema of what `scruple scale --json` prints, as docs/scale.schema.json holds it.
pub fn scale_schema() -> String {
    text(schemars::schema_for!(Scaling))
}

/// The JSON schema of what `scruple why --json` prints, as docs/why.schema.json holds it.
pub fn why_schema() -> String {
    text(schemars::schema_for!(Why))
}

/// The JSON schema of what `scruple plan --json` prints, as docs/plan.schema.json holds it.
pub fn plan_schema() -> String {
    text(schemars::schema_for!(Advice))
}

/// The JSON schema of what `scruple load --json` prints, as docs/load.schema.json holds it.
pub fn load_schema() -> String {
    text(schemars::schema_for!(LoadResult))
}

/// The JSON schema of what `scruple load --find-knee --json` prints, as docs/knee.schema.json holds
/// it.
pub fn knee_schema() -> String {
    text(schemars::schema_for!(Knee))
}

/// The JSON schema of what `scruple load --predict --json` prints, as docs/prediction.schema.json
/// holds it.
pub fn prediction_schema() -> String {
    text(schemars::schema_for!(LoadPrediction))
}

/// The JSON schema of what `scruple fleet collect --json` prints, as docs/fleet.schema.json holds it.
pub fn fleet_schema() -> String {
    text(schemars::schema_for!(FleetResult))
}

fn text(schema: Schema) -> String {
    // Writing a value of strings and numbers into memory cannot fail; `Value` says so by having
    // a `Display`, whose alternate form is the indented one.
    format!("{:#}\n", schema.to_value())
}

#[cfg(test)]
mod page;

#[cfg(test)]
mod tests {
    use super::{
        comparison_schema, fleet_schema, knee_schema, load_schema, page, plan_schema,
        prediction_schema, scale_schema, selftest_schema, summary_schema, why_schema,
    };

    /// The documented schemas are those of the types.
    ///
    /// After a change of a type that one describes, raise its `model::…_FORMAT` and write them anew:
    /// `SCRUPLE_UPDATE=1 cargo test -p store schema`.
    #[test]
    fn the_schemas_in_docs_are_those_of_the_types() {
        let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");
        let schemas = [
            ("summary", summary_schema()),
            ("selftest", selftest_schema()),
            ("comparison", comparison_schema()),
            ("scale", scale_schema()),
            ("why", why_schema()),
            ("plan", plan_schema()),
            ("load", load_schema()),
            ("knee", knee_schema()),
            ("prediction", prediction_schema()),
            ("fleet", fleet_schema()),
        ];
        for (name, schema) in schemas {
            let path = format!("{docs}/{name}.schema.json");
            if std::env::var_os("SCRUPLE_UPDATE").is_some() {
                std::fs::write(&path, &schema).unwrap();
            }
            let documented = std::fs::read_to_string(&path).unwrap();
            assert!(
                documented == schema,
                "docs/{name}.schema.json is out of date: \
                 SCRUPLE_UPDATE=1 cargo test -p store schema"
            );
        }
    }

    /// docs/schemas.md holds the same for people.
    #[test]
    fn the_page_of_schemas_is_made_of_them() {
        let page = page::page(&[
            ("summary", "`summary.json`, and `scruple run --json`", summary_schema()),
            ("selftest", "`scruple selftest --json`", selftest_schema()),
            ("comparison", "`scruple compare --json`", comparison_schema()),
            ("scale", "`scruple scale --json`", scale_schema()),
            ("why", "`scruple why --json`", why_schema()),
            ("plan", "`scruple plan --json`", plan_schema()),
            ("load", "`scruple load --json`", load_schema()),
            ("knee", "`scruple load --find-knee --json`", knee_schema()),
            ("prediction", "`scruple load --predict --json`", prediction_schema()),
            (
                "fleet",
                "`result.json` of a fleet, and `scruple fleet collect --json`",
                fleet_schema(),
            ),
        ]);
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schemas.md");
        if std::env::var_os("SCRUPLE_UPDATE").is_some() {
            std::fs::write(path, &page).unwrap();
        }
        let written = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            written == page,
            "docs/schemas.md is out of date: SCRUPLE_UPDATE=1 cargo test -p store schema"
        );
        for part in ["| `standard_error` |", "`\"supported\"`", "[Estimate](#summary-estimate)"] {
            assert!(page.contains(part), "{part}");
        }
    }

    #[test]
    fn they_name_every_field_and_say_what_it_is() {
        let summary: &[&str] =
            &["format", "scruple", "session", "complete", "trust", "harness", "experiments"];
        let selftest: &[&str] =
            &["format", "complete", "trusted", "sentence", "answers", "causes", "controls"];
        let comparison: &[&str] =
            &["format", "scruple", "sides", "facts", "controls", "experiments", "gates"];
        let scale: &[&str] =
            &["format", "scruple", "answer", "advice", "causes", "levels", "throughput", "remarks"];
        let why: &[&str] = &["format", "answer", "squeezes", "not_squeezed", "counted", "warnings"];
        let plan: &[&str] = &["format", "load", "costs", "models", "alike", "measured", "gaps"];
        let load: &[&str] =
            &["format", "plan", "counts", "response", "service", "lateness", "audit", "doubts"];
        let knee: &[&str] = &["format", "plan", "rules", "end", "rates", "trials", "doubts"];
        let prediction: &[&str] = &["format", "plan", "server", "cpus", "loads", "complete"];
        let fleet: &[&str] = &["format", "plan", "complete", "nodes", "spreads", "outliers"];
        for (schema, fields) in [
            (fleet_schema(), fleet),
            (why_schema(), why),
            (summary_schema(), summary),
            (selftest_schema(), selftest),
            (comparison_schema(), comparison),
            (scale_schema(), scale),
            (plan_schema(), plan),
            (load_schema(), load),
            (knee_schema(), knee),
            (prediction_schema(), prediction),
        ] {
            let schema: serde_json::Value = serde_json::from_str(&schema).unwrap();
            for field in fields {
                let described = &schema["properties"][field]["description"];
                assert!(described.as_str().is_some_and(|text| !text.is_empty()), "{field}");
                let required = schema["required"].as_array().unwrap();
                assert!(required.contains(&serde_json::json!(field)), "{field}");
            }
        }
    }
}
