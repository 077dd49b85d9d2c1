//! A milestone of two slices with two tasks each, from a brief to the branch it lands on, by `auto run` with real
//! clients against a scripted model, with our hooks installed: no question is asked, nothing is left over, and the
//! ledger matches the server's.
//!
//! `GSD_CLIENTS` and `GSD_RUNNERS` select as in [`crate::runners`]; the row here is called `milestone`.
//! `GSD_RUNNERS_KEEP=1` keeps home and project of a run that failed.

mod agent;
mod order;
mod own;
mod phases;
mod reviews;
mod scene;
mod table;
mod texts;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::time::Instant;

use serde_json::Value;

use agent::{Agent, CHEATED};
use order::Opening;
use scene::Scene;
use table::Row;

use crate::clients::faults::{Count, Usage};
use crate::clients::install::NotRun;
use crate::clients::process::end_processes_of;
use crate::clients::say;
use crate::clients::server::ModelServer;
use crate::runners::subjects::Subject;
use crate::runners::{each_subject, wish};

/// The name of this test among the rows that `GSD_RUNNERS` selects.
const ROW: &str = "milestone";

/// The maximum length of a prompt, in bytes.
const LONGEST_PROMPT: usize = 12 * 1024;

/// The least share of the common text of a class that equals the unit before, in percent.
const LEAST_SHARE: f64 = 95.0;

/// Clients that put text in front of the prompt that differs in each unit: a tree of the folders, the last commits, the
/// number of the session. They have no switch to turn it off.
const CHANGES_IN_FRONT: [&str; 3] = ["copilot", "gemini", "qwen"];

const UNITS: [&str; 7] = [
    "discuss-milestone M001",
    "plan-milestone M001",
    "execute-task M001/S01/T01",
    "execute-task M001/S01/T02",
    "plan-slice M001/S02",
    "execute-task M001/S02/T01",
    "execute-task M001/S02/T02",
];

#[test]
#[ignore = "slow: a client"]
fn a_brief_becomes_a_landed_milestone_with_each_real_client() {
    let rows = Mutex::new(Vec::new());
    let failures = each_subject(ROW, &["claude", "codex"], |subject| {
        if !wish().has(ROW, true) {
            return Err(NotRun("GSD_RUNNERS asks for another row".to_owned()));
        }
        let row = play(subject, "unattended")?;
        rows.lock().unwrap().push(row);
        Ok(())
    });
    let rows = rows.into_inner().unwrap();
    say(&table::text(&rows));
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    table::note(&rows);
}

#[test]
#[ignore = "slow: a client"]
fn a_client_that_may_run_only_the_checks_lands_a_milestone() {
    const SAFE: &str = "milestone, safe";
    let failures = each_subject(SAFE, &[], |subject| match subject.name {
        "claude" if wish().has(SAFE, false) => play(subject, "safe").map(drop),
        _ => Err(NotRun("one client is tried, and where it is asked for".to_owned())),
    });
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[test]
#[ignore = "slow: a client"]
fn a_session_that_cheats_is_refused_and_the_next_one_finishes_honestly() {
    const CHEAT: &str = "milestone, cheated";
    let failures = each_subject(CHEAT, &["claude", "codex"], |subject| {
        if !wish().has(CHEAT, true) {
            return Err(NotRun("GSD_RUNNERS asks for another row".to_owned()));
        }
        let player = own::player(subject.name);
        let Some(player) = player else { return Err(NotRun("no milestone is played in it".to_owned())) };
        let server = ModelServer::start(Agent::that_cheats(player.hands)).unwrap();
        let scene = Scene::new(subject, &server.url())?;
        let finished = scene.run(subject, "unattended");
        end_processes_of(&scene.context.home());
        let said = || format!("{}\n{}", finished.stdout, finished.stderr);
        let report: Value = serde_json::from_str(&finished.stdout).unwrap_or_else(|_| panic!("{}", said()));
        assert_eq!((finished.code, &report["stop"]["cause"]), (Some(0), &Value::from("complete")), "{}", said());
        assert_eq!(report["sessions"], UNITS.len() + 1, "{}", said());
        let test = texts::SLICES[0].tasks[0].test_path();
        let refused: Vec<&str> = finished.stderr.lines().filter(|line| line.contains("does not count")).collect();
        assert!(refused.len() == 1 && refused[0].contains(&test), "{}", said());
        assert!(finished.stderr.contains("taken back, and kept in refs/gsd/checkpoint/"), "{}", said());
        assert!(finished.stderr.contains(&format!("execute-task {CHEATED}: attempt 2")), "{}", said());
        landed(&scene, &report);
        assert_eq!(scene.context.read(&test), texts::SLICES[0].tasks[0].test());
        assert_eq!(scene.residue(), [""; 0]);
        Ok(())
    });
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

fn play(subject: &Subject, profile: &str) -> Result<Row, NotRun> {
    let player = own::player(subject.name);
    let Some(player) = player else { return Err(NotRun("no milestone is played in it".to_owned())) };
    let agent = Agent::new(player.hands, profile == "unattended");
    let server = ModelServer::start(agent.that_tampers(subject.name)).unwrap();
    let scene = Scene::new(subject, &server.url())?;
    let judged = catch_unwind(AssertUnwindSafe(|| judge((subject, profile), &scene, &server)));
    end_processes_of(&scene.context.home());
    let why = match judged {
        Ok(row) => return Ok(row),
        Err(why) => why,
    };
    if std::env::var_os("GSD_RUNNERS_KEEP").is_some() {
        let kept = scene.context.keep();
        let requests: Vec<Value> = server.requests().into_iter().map(|request| request.body).collect();
        std::fs::write(kept.join("requests.json"), serde_json::to_string_pretty(&requests).unwrap()).unwrap();
        say(&format!("kept: {}", kept.display()));
    }
    std::panic::resume_unwind(why)
}

fn judge((subject, profile): (&Subject, &str), scene: &Scene, server: &ModelServer) -> Row {
    own::sign_in(&scene.context, subject.name);
    let users = own::users(&scene.context, subject.name);
    let begin = Instant::now();
    let finished = scene.run(subject, profile);
    let seconds = begin.elapsed().as_secs_f64();
    let said = || format!("{}\n{}", finished.stdout, finished.stderr);
    let report: Value = serde_json::from_str(&finished.stdout).unwrap_or_else(|_| panic!("{}", said()));
    assert_eq!((finished.code, &report["stop"]["cause"]), (Some(0), &Value::from("complete")), "{}", said());

    let (requests, count) = (server.requests(), server.count());
    let openings = Opening::of(&requests);
    let units: Vec<String> = openings.iter().map(|it| format!("{} {}", it.order.kind, it.order.id)).collect();
    assert_eq!(units, UNITS, "{}", said());
    assert_eq!(report["sessions"], UNITS.len(), "{}", said());

    let ended = scene.log("unit-ended");
    for session in &ended {
        assert_eq!(session["verdict"], "ran", "{session}");
        // If a client asks before running commands, only the checks are known to be allowed.
        assert!(profile == "safe" || session.get("denied").is_none(), "{session}");
        assert!(session.get("survivors").is_none(), "{session}");
    }
    let ledger = ledger(&ended, &report, count);

    landed(scene, &report);
    assert_eq!(scene.residue(), [""; 0]);
    let now = own::users(&scene.context, subject.name);
    let changed = users.keys().chain(now.keys()).filter(|path| users.get(*path) != now.get(*path));
    // Leaves out what a database of the client has not written back when the client is ended.
    let changed = changed.filter(|path| !path.ends_with("-wal") && !path.ends_with("-shm"));
    let changed: BTreeSet<&String> = changed.collect();
    assert!(changed.is_empty(), "what is the user's has changed: {changed:#?}");
    if profile == "unattended" {
        own::expect_refreshed(&scene.context, subject.name);
    }

    let calls = scene.hook_calls();
    let asks = |event: &str| calls.iter().filter(|(words, _)| words.contains(event)).count();
    assert!(calls.iter().all(|(_, code)| *code == 0), "{calls:?}");
    assert!(asks("before-tool") > UNITS.len() && asks("after-tool") > UNITS.len(), "{calls:?}");

    // A session has no person to inform about the project, and the agent works as ordered.
    for note in ["PROJECT STATE", "WORKFLOW:", "PLANNING:"] {
        assert!(requests.iter().all(|request| !request.text().contains(note)), "a session was told `{note}`");
    }

    let longest = openings.iter().map(|it| it.order.prompt.len()).max().unwrap_or_default();
    assert!(longest <= LONGEST_PROMPT, "a prompt has {longest} bytes");
    let (stable, request) = shared(subject.name, &openings);
    Row {
        subject: subject.name,
        version: subject.package.version,
        sessions: ended.len(),
        ledger,
        count,
        longest,
        stable,
        request,
        seconds,
    }
}

/// The tokens of the log, which equal those of the report and of the server. Some clients count their requests outside
/// the conversation, and some do not.
fn ledger(ended: &[Value], report: &Value, count: Count) -> Usage {
    let of = |session: &Value, key: &str| session["usage"][key].as_u64().unwrap();
    let usage = |session: &Value| Usage {
        input: of(session, "input"),
        cached: of(session, "cache_read"),
        output: of(session, "output"),
    };
    let ledger = ended.iter().map(usage).fold(Usage::default(), Usage::plus);
    let less = |all: u64, beside: u64| all - beside;
    let conversation = Usage {
        input: less(count.usage.input, count.beside.input),
        cached: less(count.usage.cached, count.beside.cached),
        output: less(count.usage.output, count.beside.output),
    };
    assert!(ledger == count.usage || ledger == conversation, "{ledger:?} is neither {count:?} nor {conversation:?}");
    assert_eq!(report["tokens"], ledger.input + ledger.output);
    ledger
}

/// Checks that one commit on the branch has everything that was built and every document, and that it works.
fn landed(scene: &Scene, report: &Value) {
    assert_eq!(Some(scene.git(&["rev-parse", "main"]).as_str()), report["landed"].as_str());
    assert_eq!(scene.git(&["rev-list", "--count", "main"]), "2", "one commit");
    let summary = scene.context.read(".gsd/milestones/M001/M001-SUMMARY.md");
    assert!(summary.contains("status: complete"), "{summary}");
    let requirements = scene.context.read(".gsd/REQUIREMENTS.md");
    assert!(requirements.contains("validated by M001/S01"), "{requirements}");
    for task in texts::SLICES.iter().flat_map(|slice| &slice.tasks) {
        assert_eq!(scene.context.read(&task.source_path()), task.source());
    }
    let mut tests = scene.context.command("python3");
    let ran = tests.args(["-B", "-m", "unittest"]).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

/// The least shares that units have in common with the unit of their class before: of our texts, and of the request.
fn shared(subject: &str, openings: &[Opening]) -> (f64, f64) {
    let (mut stable, mut request) = (100.0_f64, 100.0_f64);
    for (number, this) in openings.iter().enumerate() {
        let before = openings[..number].iter().rev().find(|before| before.order.is_of_class_of(&this.order));
        let Some(before) = before else { continue };
        let shared = this.shared_with(before);
        let has_all = shared.cached >= LEAST_SHARE || CHANGES_IN_FRONT.contains(&subject);
        assert!(shared.stable >= LEAST_SHARE && has_all, "{}: {shared:?}\n{}", this.order.id, shared.difference);
        (stable, request) = (stable.min(shared.stable), request.min(shared.request));
    }
    (stable, request)
}
