//! The recorded sessions say what the catalog says today: their sentences, labels, definitions and
//! figures are the catalog's, while everything that decides a number stays as it was recorded.

use super::{RECORDED, folder, manifest};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The keys that decide numbers, by where they stand: these keep their recorded values. All other
/// keys are descriptions, also those that a later version adds.
const KEPT: [(&str, &[&str]); 6] = [
    ("", &["version", "grids", "controls", "planted", "needs", "precision", "time_limit_ms"]),
    ("factors", &["baseline", "unit"]),
    ("levels", &["value", "from"]),
    ("responses", &["unit", "center", "cpu_twin", "subtract", "exact", "independent"]),
    ("findings", &["quantity", "drives"]),
    ("claims", &["quantity", "holds_if"]),
];

/// The lists whose members are matched by name. A recorded member stays where the catalog has none
/// of its name, and one that was never recorded is left out.
const NAMED: [&str; 6] = ["factors", "levels", "responses", "findings", "claims", "accounts"];

#[test]
fn recorded_texts_can_be_renewed_from_the_catalog() {
    let catalog = by_id(experiments::CATALOG.iter().map(|experiment| (experiment.design)()));
    let presets = experiments::presets().into_iter();
    let presets: BTreeMap<String, BTreeMap<String, Value>> =
        presets.map(|preset| (preset.about.name.clone(), by_id(preset.designs))).collect();
    for name in RECORDED.into_iter().chain(["threads"]) {
        let recorded = manifest(name);
        let mut renewed = recorded.clone();
        let preset = recorded["options"]["preset"]["name"].as_str();
        let designs = preset.map_or(&catalog, |preset| &presets[preset]);
        for design in renewed["designs"].as_array_mut().unwrap() {
            let today = designs.get(design["id"].as_str().unwrap());
            *design = today.map_or(design.clone(), |today| self::design(design, today));
        }
        let renewed: model::Manifest = serde_json::from_value(renewed).unwrap();
        assert_eq!(renewed.check(), Ok(()), "{name}");
        let content = serde_json::to_string_pretty(&renewed).unwrap() + "\n";
        let path = folder(name).join("manifest.json");
        let written = std::fs::read_to_string(&path).unwrap();
        if std::env::var_os("SCRUPLE_UPDATE").is_some() {
            std::fs::write(&path, &content).unwrap();
        } else {
            assert!(
                written == content,
                "recorded/{name} is worded as it was: \
                 SCRUPLE_UPDATE=1 cargo test -p lab --test it recorded::texts"
            );
        }
    }
}

fn by_id(designs: impl IntoIterator<Item = model::Design>) -> BTreeMap<String, Value> {
    let value = |design: model::Design| (design.id.clone(), serde_json::to_value(design).unwrap());
    designs.into_iter().map(value).collect()
}

/// Returns a recorded design with the texts of today's, and with those of today's figures and
/// headlines that it can have.
fn design(recorded: &Value, today: &Value) -> Value {
    let mut design = merged("", recorded, today);
    for list in ["figures", "headlines"] {
        let Some(Value::Array(all)) = design.as_object_mut().unwrap().remove(list) else {
            continue;
        };
        for one in all {
            let mut with = design.clone();
            let members = with.as_object_mut().unwrap().entry(list).or_insert(json!([]));
            members.as_array_mut().unwrap().push(one);
            let parsed: model::Design = serde_json::from_value(with.clone()).unwrap();
            if parsed.check().is_ok() {
                design = with;
            }
        }
    }
    design
}

/// Returns the object of a list that has a name, as its `id` or its `name`.
fn member<'a>(list: &'a Value, name: &str) -> Option<&'a Value> {
    list.as_array()?.iter().find(|value| self::name(value) == Some(name))
}

fn name(value: &Value) -> Option<&str> {
    value.get("id").or_else(|| value.get("name"))?.as_str()
}

/// Returns a recorded object with the descriptions of today's; `place` is the list it stands in. An
/// object whose number is computed otherwise today stays whole.
fn merged(place: &str, recorded: &Value, today: &Value) -> Value {
    let computed: &[&str] = match place {
        "findings" => &["quantity"],
        "claims" => &["quantity", "holds_if"],
        "accounts" => {
            return if same_account(recorded, today) { today.clone() } else { recorded.clone() };
        }
        _ => &[],
    };
    if computed.iter().any(|key| recorded[key] != today[key]) {
        return recorded.clone();
    }
    let kept = KEPT.iter().find(|(list, _)| *list == place).map_or(&[][..], |(_, keys)| keys);
    let mut object = Map::new();
    for (key, value) in recorded.as_object().unwrap() {
        let named = NAMED.contains(&key.as_str());
        if kept.contains(&key.as_str()) {
            object.insert(key.clone(), value.clone());
        } else if named && let Some(members) = value.as_array() {
            let renew = |member: &Value| match self::member(&today[key], name(member).unwrap()) {
                Some(today) => merged(key, member, today),
                None => member.clone(),
            };
            object.insert(key.clone(), members.iter().map(renew).collect());
        }
    }
    for (key, value) in today.as_object().unwrap() {
        if !kept.contains(&key.as_str()) {
            object.entry(key.clone()).or_insert_with(|| value.clone());
        }
    }
    Value::Object(object)
}

/// Reports whether two accounts have the same total and parts, whatever these are called.
fn same_account(recorded: &Value, today: &Value) -> bool {
    let numbers = |account: &Value| {
        let mut account = account.clone();
        account["title"] = Value::Null;
        for part in account["parts"].as_array_mut().into_iter().flatten() {
            part["label"] = Value::Null;
        }
        account
    };
    numbers(recorded) == numbers(today)
}
