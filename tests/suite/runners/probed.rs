//! `auto probe` with the real clients: the measured versions match the facts.

use serde_json::Value;

use super::{NotRun, each_subject};
use crate::clients::facts;
use crate::clients::install::search_path;
use crate::kit::{TestContext, binary};

#[test]
#[ignore = "slow: a client"]
fn a_probe_of_a_measured_version_finds_no_difference() {
    let failures = each_subject("probe", &["claude"], |subject| {
        if !facts::all().unwrap().contains_key(subject.name) {
            return Err(NotRun("nothing is known of how to probe it".to_owned()));
        }
        let program = subject.program()?;
        let context = TestContext::on_disk();
        let mut command = context.command(binary());
        command.env("PATH", search_path(&program)).args(["auto", "probe", subject.name, "--json", "--program"]);
        let output = command.arg(&program).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let report: Value = serde_json::from_str(&said)
            .unwrap_or_else(|_| panic!("{said}\n{}", String::from_utf8_lossy(&output.stderr)));
        let client = &report["clients"][0];
        let trials = client["trials"].as_array().unwrap();
        let differs = trials.iter().chain([client]).flat_map(|part| part["differs"].as_array().unwrap());
        assert_eq!(differs.count(), 0, "{report:#}");
        assert_eq!((output.status.code(), trials.len()), (Some(0), 11), "{report:#}");
        assert!(std::fs::read_dir(context.home()).unwrap().next().is_none(), "nothing of the user's is written");
        Ok(())
    });
    assert_eq!(failures, [""; 0]);
}
