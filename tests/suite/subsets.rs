//! Any hosts installed, any of them uninstalled in any order: the rest stays whole meanwhile, and when all are gone every
//! byte is back.

use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, RngSeed, TestRunner};

use crate::kit::repository;
use crate::lived::Lived;
use crate::tree::difference;

/// Every host with every scope it has.
fn installs() -> Vec<(String, &'static str)> {
    let mut installs = Vec::new();
    for entry in std::fs::read_dir(repository().join("src/runtime/descriptors")).unwrap() {
        let path = entry.unwrap().path();
        let host = path.file_stem().unwrap().to_string_lossy().into_owned();
        let descriptor: toml_edit::DocumentMut = std::fs::read_to_string(&path).unwrap().parse().unwrap();
        installs.push((host.clone(), "--global"));
        if descriptor["home"]["local"].is_str() {
            installs.push((host, "--local"));
        }
    }
    installs.sort();
    installs
}

/// Some of the installs, as places in their list, in the order in which they are taken back.
fn some_in_any_order(count: usize) -> impl Strategy<Value = Vec<usize>> {
    let some = prop::sample::subsequence((0..count).collect::<Vec<_>>(), 1..=count);
    prop_oneof![some, Just((0..count).collect::<Vec<_>>())].prop_shuffle()
}

#[test]
fn any_hosts_can_be_installed_and_uninstalled_in_any_order() {
    let installs = installs();
    let config = ProptestConfig {
        cases: 4,
        max_shrink_iters: 0,
        failure_persistence: None,
        rng_algorithm: RngAlgorithm::ChaCha,
        rng_seed: RngSeed::Fixed(7),
        ..ProptestConfig::default()
    };
    let outcome = TestRunner::new(config).run(&some_in_any_order(installs.len()), |order| {
        let lived = Lived::new();
        let old = lived.tree();
        for scope in ["--global", "--local"] {
            let hosts: Vec<String> = order
                .iter()
                .map(|place| &installs[*place])
                .filter(|(_, its)| *its == scope)
                .map(|(host, _)| format!("--{host}"))
                .collect();
            if !hosts.is_empty() {
                let mut words = vec!["install", scope];
                words.extend(hosts.iter().map(String::as_str));
                lived.gsd_with(&words, &[]).success();
            }
        }
        for (step, place) in order.iter().enumerate() {
            let (host, scope) = &installs[*place];
            lived.gsd_with(&["uninstall", &format!("--{host}"), scope], &[]).success();
            // Exits 1 if anything of a host that is still installed is not as it was left.
            let status = lived.gsd_with(&["status", "--json"], &[]).json();
            let left = status["installs"].as_array().unwrap().len();
            prop_assert_eq!(left, order.len() - step - 1, "{} {} of {:?}", host, scope, order);
        }
        prop_assert_eq!(difference(&old, &lived.tree()), Vec::<String>::new(), "{:?}", order);
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}
