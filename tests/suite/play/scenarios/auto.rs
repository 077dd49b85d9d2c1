//! `/gsd-auto`: a run outside of the session, started, watched, paused, steered, killed and taken up again from inside a
//! client, which passes the person's answer on.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::Stage;
use crate::auto::compile;
use crate::kit::binary;
use crate::play::actor::{Actor, Outcome};

/// A brief becomes a milestone that waits for the person's review, and lands when they say so.
pub(crate) fn auto(stage: &mut Stage) {
    stage.has_code("greet");
    stage.context.write("BRIEF.md", "Make a shelf of files.\n");
    stage.shell("git add BRIEF.md && git commit --quiet -m 'chore: brief'");
    agrees(stage);
    stage.leaves_running = true;
    // A script plays the client of the run; the client of the play only starts it.
    let agent = stage.context.home().join("agent.sh");
    let script = format!(
        "#!/bin/sh\nFAKE_SHAPE=1x6 FAKE_ACTOR=${{FAKE_ACTOR:-sleeper:5000}} exec {} \"$@\"\n",
        compile::fake_agent().display()
    );
    std::fs::write(&agent, script).unwrap();
    stage.shell(&format!("chmod +x {}", agent.display()));
    let driver = format!("--runner fake --runner-program {}", agent.display());
    // What the repository brings is for the person to approve: their own call says how, without a terminal too.
    let mut person = stage.context.command(binary());
    person.args(["auto", "run", "--brief", "BRIEF.md", "--yes"]).args(driver.split(' '));
    let (first, home) = (driver.clone(), stage.context.home());
    let program = Arc::new(Mutex::new(String::new()));
    let seen = Arc::clone(&program);
    stage.types("auto", "BRIEF.md", move |it| {
        begins(it);
        let line = "gsd-tools auto run --brief '{file}' --dry-run";
        let card = it.runs_with(line, &[("file", "BRIEF.md")], &first).expects("python3 -m");
        let spelled = card.call.trim_start_matches("$ ").split_once(" auto ").map(|(program, _)| program.to_owned());
        *seen.lock().unwrap() = spelled.unwrap();
        let refused = start(it, &card.call).lacks("approved: [").lacks("GSD_APPROVED");
        it.by("only a person approves what a repository brings: show `stop.evidence`");
        assert!(refused.text.contains("in a terminal, which asks"), "{}", refused.text);
        let shown = String::from_utf8(person.output().unwrap().stdout).unwrap();
        let digest = shown.split("GSD_APPROVED=").nth(1).and_then(|rest| rest.split(' ').next());
        let digest = digest.unwrap_or_else(|| panic!("{shown}"));
        std::fs::create_dir_all(home.join(".gsd")).unwrap();
        std::fs::write(home.join(".gsd/PREFERENCES.md"), format!("---\napproved: [{digest}]\n---\n")).unwrap();
        "A person has to approve that.".to_owned()
    });
    let first = driver.clone();
    stage.types("auto", "BRIEF.md", move |it| {
        begins(it);
        let line = "gsd-tools auto run --brief '{file}' --dry-run";
        let card = it.runs_with(line, &[("file", "BRIEF.md")], &first).is("dry_run", true).is("card.target", "main");
        start(it, &card.call).is("stop.cause", "detached").done();
        it.by("say that it runs outside of this session");
        "It runs. Next Up: /gsd-auto status".to_owned()
    });
    stage.types("auto", "status", move |it| {
        begins(it);
        // The note at the start of the session names the same call for the person's terminal.
        let call = format!("{} auto status", program.lock().unwrap());
        it.by("step 3. For a live view").shell(&call).is("session.lock", "held").done();
        it.by("`session.lock` held: it runs");
        "It runs.".to_owned()
    });
    stage.types("auto", "pause", |it| {
        begins(it);
        it.runs("gsd-tools auto pause", &[]).is("requested", "pause").done();
        "It will pause after its unit.".to_owned()
    });
    let paused = ends(stage);
    assert_eq!(paused["session"]["stop"]["cause"], "paused", "{paused:#}");
    stage.types("auto", "steer use one shelf", |it| {
        begins(it);
        it.runs("gsd-tools auto steer '{text}'", &[("text", "use one shelf")]).expects("OVERRIDES.md").done();
        "From now on: use one shelf.".to_owned()
    });
    asks_and_is_answered(stage);
    let second = driver.clone();
    stage.types("auto", "", move |it| go_on(it, &second));
    let begun = stage.asks_program("auto status");
    let process = begun["session"]["pid"].as_u64().expect("a process has it");
    stage.shell(&format!("kill -9 {process}"));
    assert_eq!(ends(stage)["session"]["lock"], "free");
    stage.types("auto", "", move |it| go_on(it, &driver));
    let done = ends(stage);
    assert_eq!(done["session"]["stop"]["cause"], "review", "{done:#}");
    stage.types("auto", "land", |it| {
        begins(it);
        it.by("| `abandon`, `land` | the user types");
        "Type `gsd-tools auto land` in a terminal.".to_owned()
    });
    let landed = stage.asks_program("auto land");
    assert_eq!(landed["stop"]["cause"], "complete", "{landed:#}");
    assert_eq!(stage.shell("git log --format=%s main").lines().count(), 3, "one commit landed");
    assert_eq!(stage.shell("git worktree list").lines().count(), 1);
}

/// The person lets the host make these calls, as they would answer its question: a play asks no one.
fn agrees(stage: &Stage) {
    let file = stage.context.home().join(".claude/settings.json");
    let Ok(text) = std::fs::read_to_string(&file) else { return };
    let mut settings: serde_json::Value = serde_json::from_str(&text).unwrap();
    let allowed = settings["permissions"]["allow"].as_array_mut().unwrap();
    let rules: Vec<String> = allowed
        .iter()
        .filter_map(|rule| Some(format!("{} auto *)", rule.as_str()?.split_once(" auto status")?.0)))
        .collect();
    assert!(!rules.is_empty(), "{allowed:?}");
    allowed.extend(rules.into_iter().map(serde_json::Value::from));
    std::fs::write(file, settings.to_string()).unwrap();
}

fn begins(it: &mut Actor) {
    it.reads("references/ui.md").done();
}

/// The last task asks a question, as the sessions of a real client do; the person answers it in the host.
fn asks_and_is_answered(stage: &mut Stage) {
    let worktree = stage.context.project().join(".gsd/worktrees/M001/.gsd/milestones/M001/slices/S01/tasks");
    let question = "{\"version\": 1, \"taskId\": \"T06\", \"sliceId\": \"S01\", \"milestoneId\": \"M001\", \
        \"question\": \"Which store?\", \"options\": [{\"id\": \"a\", \"label\": \"files\"}, {\"id\": \"b\", \"label\": \"SQLite\"}], \
        \"recommendation\": \"a\", \"recommendationRationale\": \"it is there\", \"continueWithDefault\": false}\n";
    std::fs::create_dir_all(&worktree).unwrap();
    std::fs::write(worktree.join("T06-ESCALATION.json"), question).unwrap();
    let asked = stage.asks_program("auto status");
    assert_eq!(asked["questions"][0]["text"], "Which store?", "{asked:#}");
    stage.types("auto", "answer", |it| {
        begins(it);
        it.by("without an option").runs("gsd-tools auto status", &[]).expects("Which store?").done();
        it.by("show the question and its `options`, and ask the user")
            .asks("Which store?\n1. a: files\n2. b: SQLite", "2. b, we have it");
        let answer = [("task", "M001/S01/T06"), ("option", "b"), ("reason", "we have it")];
        it.runs("gsd-tools auto answer", &answer).is("updated", true).done();
        "Answered with b.".to_owned()
    });
    assert_eq!(stage.asks_program("auto status")["questions"], serde_json::json!([]));
}

/// Asks, and makes the call that showed the card again, so that it starts the run.
fn start(it: &mut Actor, call: &str) -> Outcome {
    let question = "Start\n1. Start\n2. Look first\n3. Pull request\n4. Stop";
    it.by("Then ask (header \"Start\")").asks(question, "2. Look first");
    let call = call.trim_start_matches("$ ").replace("--dry-run", "--yes --detach --land ask");
    it.even_if_it_fails().by("The same call with `--yes --detach`").shell(&call)
}

/// The run that is not finished, with the landing that it has.
fn go_on(it: &mut Actor, driver: &str) -> String {
    begins(it);
    let card = it.runs_with("gsd-tools auto run --dry-run", &[], driver).is("dry_run", true);
    start(it, &card.call).is("stop.cause", "detached").done();
    "It continues.".to_owned()
}

/// Waits until no process has the run, and returns its status.
fn ends(stage: &Stage) -> serde_json::Value {
    let began = Instant::now();
    loop {
        let status = stage.asks_program("auto status");
        if status["session"]["lock"] == "free" {
            return status;
        }
        assert!(began.elapsed() < Duration::from_secs(240), "{status:#}");
        std::thread::sleep(Duration::from_millis(300));
    }
}
