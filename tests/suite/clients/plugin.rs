//! Our plugin in real clients: written, installed by the lines that `package` prints, and used.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::bench::{Bench, Scope};
use super::checks::Check;
use super::install::NotRun;
use super::{Chosen, Client, claude, codex, copilot, gemini, ready, say};

/// A client, and the check of the plugin in it.
type Trial = (&'static Client, fn(&mut Bench<'_>));

const TRIALS: &[Trial] = &[
    (&claude::CLIENT, claude::check_plugin),
    (&gemini::CLIENT, gemini::check_plugin),
    (&codex::CLIENT, codex::check_plugin),
    (&copilot::CLIENT, copilot::check_plugin),
];

#[test]
#[ignore = "slow: a client"]
fn real_clients_load_our_plugin() {
    let chosen = Chosen::from_environment();
    let mut failures = Vec::new();
    let mut not_run = 0;
    for (client, check) in TRIALS {
        let host = client.package.host;
        match judge(client, *check, &chosen) {
            Ok(findings) => {
                say(&format!("plugins: {host} {}: {} findings", client.package.version, findings.len()));
                failures.extend(findings.into_iter().map(|finding| format!("{host}: {finding}")));
            }
            Err(NotRun(reason)) => {
                say(&format!("plugins: {host}: not run ({reason})"));
                not_run += 1;
            }
        }
    }
    say(&format!("plugins: {} checked, {not_run} not run", TRIALS.len() - not_run));
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn judge(client: &Client, check: fn(&mut Bench<'_>), chosen: &Chosen) -> Result<Vec<String>, NotRun> {
    let (library, program) = ready(&client.package, chosen)?;
    let mut bench = Bench::new(&library, program, Scope::Global);
    let whole = catch_unwind(AssertUnwindSafe(|| {
        (client.before_install)(&bench);
        check(&mut bench);
        bench.expect_told_of_plugin(&client.package);
    }));
    bench.expect(Check::Starts, whole.is_ok(), || "the check itself broke, see above".to_owned());
    Ok(bench.into_results().into_values().flatten().collect())
}
