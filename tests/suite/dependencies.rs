//! The packages that come with the program, checked against `deny.toml`. If available, `cargo deny check` reads the
//! same file, and checks advisories too.

use std::process::Command;

use serde_json::Value;
use toml_edit::DocumentMut;

use crate::kit::repository;

const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Every locked package, for whatever system it is used.
fn packages() -> Vec<Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--locked", "--format-version", "1"])
        .current_dir(repository())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let all = metadata["packages"].as_array().unwrap();
    let others: Vec<Value> = all.iter().filter(|package| !package["source"].is_null()).cloned().collect();
    assert!(others.len() > 80, "{}", others.len());
    others
}

/// The words of a list in `deny.toml`, or the names in it.
fn listed(table: &str, key: &str) -> Vec<String> {
    let text = std::fs::read_to_string(repository().join("deny.toml")).unwrap();
    let document: DocumentMut = text.parse().unwrap();
    let list = document[table][key].as_array().unwrap();
    let word = |item: &toml_edit::Value| {
        let named = item.as_inline_table().and_then(|row| row.get("name"));
        named.unwrap_or(item).as_str().unwrap().to_owned()
    };
    list.iter().map(word).collect()
}

#[test]
fn every_package_has_an_allowed_licence() {
    let allowed = listed("licenses", "allow");
    let is_allowed = |requirement: &spdx::LicenseReq| allowed.contains(&requirement.to_string());
    let faults: Vec<String> = packages()
        .iter()
        .filter_map(|package| {
            let text = package["license"].as_str().unwrap_or_default();
            let licence = spdx::Expression::parse_mode(text, spdx::ParseMode::LAX);
            let is_fine = licence.is_ok_and(|licence| licence.evaluate(is_allowed));
            (!is_fine).then(|| format!("{} {}: {text:?}", package["name"], package["version"]))
        })
        .collect();
    assert_eq!(faults, [""; 0]);
}

#[test]
fn every_package_comes_from_the_public_registry_and_none_is_banned() {
    let banned = listed("bans", "deny");
    assert!(banned.contains(&"openssl".to_owned()), "{banned:?}");
    for package in packages() {
        let name = package["name"].as_str().unwrap();
        assert_eq!(package["source"], CRATES_IO, "{name}");
        assert!(!banned.iter().any(|banned| banned == name), "{name} is banned in deny.toml");
    }
}
