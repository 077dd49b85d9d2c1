//! However a unit ends, nothing of it is left: not the client, not processes that its tools started, not those that
//! left its session.

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::json;

use super::drive::{Desk, Order, alive, end_all};
use super::script::{Act, Script};
use super::table::{self, WAYS};
use super::{each_subject, wish};

/// How long a process may still be there.
const PATIENCE: Duration = Duration::from_secs(1);

/// A number of seconds that no other process sleeps: it finds processes that lost their mark.
fn number() -> u32 {
    static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    400_000 + std::process::id() % 10_000 * 10 + NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
}

fn nothing_lives(mark: &str, text: &str) -> Result<Duration, String> {
    let began = Instant::now();
    loop {
        let left = alive(mark, text);
        if left.is_empty() {
            return Ok(began.elapsed());
        }
        if began.elapsed() > PATIENCE {
            return Err(left.join("\n"));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Ends a unit in one way while its tool runs, and looks for processes that are left.
fn try_way(desk: &Desk<'_>, way: &str) -> Result<Duration, String> {
    desk.clear();
    let sleep = format!("sleep {}", number());
    let daemon = format!("setsid sh -c 'trap \"\" TERM HUP; ({sleep}); :' > /dev/null 2>&1 & echo here > begun");
    // The supervisor must recognise it by something other than its environment; a killed supervisor cannot.
    let nameless = if way == "supervisor killed" { "" } else { "env -i " };
    let daemon = format!("({nameless}setsid {sleep} > /dev/null 2>&1 &); {daemon}");
    let begun = desk.context.project().join("begun");
    let acts = match way {
        "daemon left" => vec![Act::Shell(daemon)],
        _ => vec![Act::Shell(format!("{daemon}; {sleep}"))],
    };
    let limits = if way == "at its limit" { json!({"idle": 3000}) } else { json!({"idle": 60_000}) };
    let mut unit = desk.start(Script::new(desk.subject.hands, &acts), &Order { limits, ..Order::default() });
    let (mark, client) = (unit.mark.clone(), unit.client);
    unit.wait_for(&begun);
    match way {
        "stopped" => std::fs::write(desk.stop_file(), "").unwrap(),
        "client killed" => {
            assert!(Command::new("kill").args(["-KILL", &client.to_string()]).status().unwrap().success());
        }
        "supervisor killed" => {
            unit.kill_supervisor();
            if alive(&mark, &sleep).is_empty() {
                return Err("nothing was left to be found".to_owned());
            }
            let ended = end_all(&desk.context, &mark);
            if ended["survivors"] != json!([]) {
                return Err(ended.to_string());
            }
            return nothing_lives(&mark, &sleep);
        }
        _ => {}
    }
    let report = unit.report();
    let left = nothing_lives(&mark, &sleep).map_err(|left| format!("{left}\n{}", report.text()))?;
    let expected = match way {
        "daemon left" => "ran",
        "client killed" => "no-signal",
        _ => "stopped",
    };
    if report.verdict() == expected { Ok(left) } else { Err(report.text()) }
}

#[test]
#[ignore = "slow: a client"]
fn nothing_of_a_unit_is_left_however_it_ends() {
    let cells = Mutex::new(BTreeMap::new());
    let failures = each_subject("processes", &["claude", "codex"], |subject| {
        let desk = Desk::new(subject)?;
        let mut failures = Vec::new();
        for way in WAYS.into_iter().filter(|way| wish().has(way, *way == "stopped")) {
            let cell = match try_way(&desk, way) {
                Ok(_) => "✓",
                Err(why) => {
                    failures.push(format!("{way}: {why}"));
                    "✗"
                }
            };
            cells.lock().unwrap().insert((subject.name, way), cell.to_owned());
        }
        assert!(failures.is_empty(), "{}", failures.join("\n"));
        Ok(())
    });
    table::expect_in_document("processes", &cells.into_inner().unwrap(), &failures);
}
