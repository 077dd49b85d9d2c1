//! Files of hosts whose client is not available match what their makers publish: `tests/published/<host>-<file>.json`
//! is a schema with its source and date.

use serde_json::Value;

use crate::kit::repository;
use crate::lived::Lived;

#[test]
fn installed_files_match_the_schema_that_the_maker_publishes() {
    let lived = Lived { context: crate::kit::TestContext::new() };
    let mut looked_at = 0;
    for entry in std::fs::read_dir(repository().join("tests/published")).unwrap() {
        let path = entry.unwrap().path();
        let schema: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        assert!(schema["$comment"].as_str().unwrap().contains("Read on 20"), "{}: source and date", path.display());
        let validator = jsonschema::validator_for(&schema).unwrap();
        let (host, file) = path.file_stem().unwrap().to_str().unwrap().split_once('-').unwrap();
        for scope in ["--global", "--local"] {
            lived.gsd(["install", host, scope]).success();
            let report = lived.gsd(["install", host, scope, "--json"]).json();
            let root = report["hosts"][0]["root"].as_str().unwrap();
            let text = std::fs::read_to_string(format!("{root}/{file}.json")).unwrap();
            let written: Value = serde_json::from_str(&text).unwrap();
            let wrong: Vec<String> = validator.iter_errors(&written).map(|error| error.to_string()).collect();
            assert!(wrong.is_empty(), "{host} {scope}: {wrong:?} in {text}");
            assert!(written["hooks"].as_object().is_some_and(|events| !events.is_empty()), "{host} {scope}: {text}");
            looked_at += 1;
        }
    }
    assert!(looked_at >= 4);
}
