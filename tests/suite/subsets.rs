//! Any hosts installed, any of them uninstalled in any order: the others stay intact meanwhile, and when all are gone
//! every byte is restored. `GSD_SUBSETS_MOST` sets how many at once, if more than a few should be tried.

use std::cell::Cell;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, RngSeed, TestRunner};

use crate::conformance::tell;
use crate::kit::repository;
use crate::lived::Lived;
use crate::tree::difference;

/// Every host with every scope it supports.
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

/// Some of the installs, as indexes into their list, in the order in which they are uninstalled.
fn some_in_any_order(count: usize) -> impl Strategy<Value = Vec<usize>> {
    // Each status checks every installed program: twice as many take four times as long.
    let most = std::env::var("GSD_SUBSETS_MOST").map_or(8, |most| most.parse().unwrap());
    prop::sample::subsequence((0..count).collect::<Vec<_>>(), 1..=count.min(most)).prop_shuffle()
}

/// The seed in the environment, otherwise a different one each time.
fn seed() -> u64 {
    let named = std::env::var("GSD_SUBSETS_SEED").ok().map(|seed| seed.parse().unwrap());
    named.unwrap_or_else(|| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        u64::from(now.subsec_nanos()) ^ now.as_secs()
    })
}

/// How long new cases are started. A failing one is shrunk for the same time again.
const PATIENCE: Duration = Duration::from_secs(30);

#[test]
#[ignore = "slow: minutes"]
fn any_hosts_can_be_installed_and_uninstalled_in_any_order() {
    let (installs, seed, start) = (installs(), seed(), Instant::now());
    let config = ProptestConfig {
        cases: 24,
        max_shrink_iters: 64,
        max_shrink_time: u32::try_from(PATIENCE.as_millis()).unwrap(),
        failure_persistence: None,
        rng_algorithm: RngAlgorithm::ChaCha,
        rng_seed: RngSeed::Fixed(seed),
        ..ProptestConfig::default()
    };
    let tried = Cell::new(0);
    let failed = Cell::new(false);
    let outcome = TestRunner::new(config).run(&some_in_any_order(installs.len()), |order| {
        // At least two cases are tried, however slow the machine.
        if tried.get() >= 2 && start.elapsed() > PATIENCE && !failed.get() {
            return Ok(());
        }
        tried.set(tried.get() + 1);
        failed.set(true);
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
            // Exits 1 if a host that is still installed has changed files.
            let status = lived.gsd_with(&["status", "--json"], &[]).json();
            let left = status["installs"].as_array().unwrap().len();
            prop_assert_eq!(left, order.len() - step - 1, "{} {} of {:?}", host, scope, order);
        }
        prop_assert_eq!(difference(&old, &lived.tree()), Vec::<String>::new(), "{:?}", order);
        failed.set(false);
        Ok(())
    });
    tell(&format!("subsets: {} cases with GSD_SUBSETS_SEED={seed}\n", tried.get()));
    outcome.unwrap_or_else(|error| panic!("GSD_SUBSETS_SEED={seed}: {error}"));
}
