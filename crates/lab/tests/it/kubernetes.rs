//! docs/examples/fleet-job.yaml, the Job of a fleet that is gathered.

use crate::support::{said, scruple};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The fields that the template may have, each with its type, as the published schema of `batch/v1` Job
/// has them in Kubernetes 1.25 and 1.37 alike (api/openapi-spec of kubernetes/kubernetes).
const FIELDS: &str = "\
apiVersion string
kind string
metadata.name string
spec.completionMode string
spec.completions integer
spec.parallelism integer
spec.backoffLimit integer
spec.template.metadata.labels.* string
spec.template.spec.restartPolicy string
spec.template.spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[].topologyKey string
spec.template.spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[].labelSelector.matchLabels.* string
spec.template.spec.containers[].name string
spec.template.spec.containers[].image string
spec.template.spec.containers[].command[] string
spec.template.spec.containers[].env[].name string
spec.template.spec.containers[].env[].valueFrom.fieldRef.fieldPath string
spec.template.spec.containers[].resources.requests.* string
spec.template.spec.containers[].volumeMounts[].name string
spec.template.spec.containers[].volumeMounts[].mountPath string
spec.template.spec.containers[].volumeMounts[].readOnly boolean
spec.template.spec.volumes[].name string
spec.template.spec.volumes[].configMap.name string
spec.template.spec.volumes[].persistentVolumeClaim.claimName string
";

fn template() -> PathBuf {
    let path = "../../docs/examples/fleet-job.yaml";
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Returns the fields of the block style that the template is written in, with their values: a line is a
/// comment, `KEY:`, `KEY: VALUE`, `- VALUE` or `- KEY: VALUE`.
fn fields(text: &str) -> Vec<(String, String)> {
    let mut open: Vec<(usize, String)> = Vec::new();
    let mut found = Vec::new();
    for line in text.lines().filter(|line| !line.trim_start().starts_with('#')) {
        let mut rest = line.trim_start();
        let mut indent = line.len() - rest.len();
        open.retain(|(at, _)| *at < indent);
        if let Some(item) = rest.strip_prefix("- ") {
            open.push((indent, "[]".into()));
            (rest, indent) = (item, indent + 2);
        }
        let value = match rest.split_once(':') {
            Some((key, value)) if value.is_empty() || value.starts_with(' ') => {
                open.push((indent, format!(".{key}")));
                value.trim()
            }
            _ => rest,
        };
        if !value.is_empty() {
            let path: String = open.iter().map(|(_, part)| part.as_str()).collect();
            found.push((path.trim_start_matches('.').to_string(), value.to_string()));
        }
    }
    found
}

/// Returns the type that a value has in YAML.
fn kind(value: &str) -> &'static str {
    match value {
        "true" | "false" => "boolean",
        value if value.parse::<i64>().is_ok() => "integer",
        _ => "string",
    }
}

#[test]
fn every_field_of_the_template_is_one_of_the_published_schema() {
    let fields = fields(&std::fs::read_to_string(template()).unwrap());
    let known: BTreeSet<&str> = FIELDS.lines().collect();
    for (path, value) in &fields {
        let line = format!("{path} {}", kind(value));
        let any = path.rsplit_once('.').map(|(map, _)| format!("{map}.* {}", kind(value)));
        let is_known = known.contains(line.as_str()) || any.is_some_and(|it| known.contains(&*it));
        assert!(is_known, "{line}: {value}");
    }
    let value = |wanted: &str| fields.iter().find(|(path, _)| path == wanted).unwrap().1.as_str();
    assert_eq!((value("apiVersion"), value("kind")), ("batch/v1", "Job"));
    assert_eq!(value("spec.completionMode"), "Indexed");
    assert_eq!(value("spec.completions"), value("spec.parallelism"));
    assert!(fields.len() > 25, "{fields:?}");
}

#[test]
fn the_published_schema_itself_holds_where_its_validator_is_there() {
    let there = Command::new("kubernetes-validate").arg("--help").output();
    if !there.is_ok_and(|output| output.status.success()) {
        println!("skipped: no kubernetes-validate (a package of PyPI that holds the schemas)");
        return;
    }
    let mut validate = Command::new("kubernetes-validate");
    let output = validate.arg("--strict").arg(template()).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
}

/// The container's words are words of this scruple.
#[test]
fn the_command_of_the_template_is_understood() {
    let fields = fields(&std::fs::read_to_string(template()).unwrap());
    let of = |(path, _): &&(String, String)| path.ends_with(".command[]");
    let words: Vec<&str> = fields.iter().filter(of).map(|(_, word)| word.as_str()).collect();
    assert_eq!(words[0], "/scruple");
    let dir = tempfile::tempdir().unwrap();
    let output = scruple().args(&words[1..]).current_dir(dir.path()).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    // There is no /plan here, which is the one thing that it lacks.
    assert!(error.contains("/plan/fleet.json"), "{error}");
}
