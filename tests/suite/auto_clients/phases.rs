//! A project in phases: a real client runs our installed workflows one by one, each in the fence, with our hooks.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

use serde_json::Value;

use super::order::Order;
use super::scene::Scene;
use super::texts::{SLICES, Task};
use crate::clients::install::NotRun;
use crate::clients::process::end_processes_of;
use crate::clients::server::{ModelServer, Part, Reply, Request};
use crate::play::cast::{CASTS, Hands};
use crate::runners::{each_subject, wish};

/// The name of this test among the rows that `GSD_RUNNERS` selects.
const ROW: &str = "phases";

const DOCUMENTS: [(&str, &str); 2] = [
    (
        ".planning/ROADMAP.md",
        "# Roadmap\n\n## v1.0 Shelf\n\n- [ ] **Phase 1: Adding** - books are added\n- [ ] **Phase 2: Listing** - books are listed\n\n\
         ### Phase 1: Adding\n**Goal**: books are added\n\n### Phase 2: Listing\n**Goal**: books are listed\n",
    ),
    (".planning/STATE.md", "---\nmilestone: v1.0\n---\n# State\n\n## Current Position\n\nPhase: 1 of 2 (Adding)\n"),
];

/// Our calls that the workflows begin and end with, which a fence must let through.
const CALLS: [&str; 4] = ["state begin-phase", "worktree create-wave", "plan close", "commit "];

#[test]
#[ignore = "slow: a client"]
fn the_phases_of_a_project_land_with_a_real_client() {
    let failures = each_subject(ROW, &["claude"], |subject| {
        if !wish().has(ROW, true) {
            return Err(NotRun("GSD_RUNNERS asks for another row".to_owned()));
        }
        let cast = CASTS.iter().find(|cast| cast.package.host == subject.name);
        let Some(cast) = cast else { return Err(NotRun("no project is played in it".to_owned())) };
        let server = ModelServer::start(Agent { hands: cast.hands, done: Mutex::default() }).unwrap();
        let scene = Scene::with(subject, &server.url(), &DOCUMENTS)?;
        let finished = scene.call(subject, &[]);
        end_processes_of(&scene.context.home());
        let said = || format!("{}\n{}", finished.stdout, finished.stderr);
        let report: Value = serde_json::from_str(&finished.stdout).unwrap_or_else(|_| panic!("{}", said()));
        assert_eq!((finished.code, &report["stop"]["cause"]), (Some(0), &Value::from("complete")), "{}", said());
        assert_eq!(report["sessions"], 6, "discussed, planned and executed, twice: {}", said());
        let conversation: String = server.requests().iter().map(Request::text).collect();
        for call in CALLS {
            assert!(conversation.contains(&format!("gsd-tools {call}")), "{call} was not made");
        }
        for failed in ["Exit code", "Error:", "exited with code 1"] {
            assert!(!conversation.contains(failed), "a call of a workflow failed: {conversation}");
        }
        assert!(scene.hook_calls().iter().all(|(_, code)| *code == 0), "{:?}", scene.hook_calls());
        let roadmap = scene.git(&["show", "main:.planning/ROADMAP.md"]);
        assert!(roadmap.contains("[x] **Phase 1") && roadmap.contains("[x] **Phase 2"), "{roadmap}");
        for task in tasks() {
            assert_eq!(scene.context.read(&task.source_path()), task.source());
        }
        assert_eq!(scene.residue(), [""; 0]);
        Ok(())
    });
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// One task for each phase.
fn tasks() -> impl Iterator<Item = &'static Task> {
    SLICES[0].tasks.iter()
}

#[derive(Debug)]
struct Agent {
    hands: Hands,
    /// How many steps of each unit are done, by its prompt.
    done: Mutex<BTreeMap<String, usize>>,
}

enum Step {
    Read(String),
    Write(String, String),
    Shell(String),
}

impl Part for Agent {
    fn reply(&self, request: &Request) -> Reply {
        let Some(order) = Order::within(&request.text()) else { return Reply::Say("Nothing to say.".to_owned()) };
        let folder = Path::new(order.fact("Working directory"));
        let path = |path: &str| folder.join(path).to_string_lossy().into_owned();
        let mut all = self.done.lock().unwrap();
        let done = all.entry(order.prompt.clone()).or_default();
        let step = steps(&order).into_iter().nth(*done);
        *done += 1;
        match step {
            Some(Step::Read(file)) => Reply::Call((self.hands.read)(&file, &path(&file))),
            Some(Step::Write(file, text)) => Reply::Call((self.hands.write)(&path(&file), &text)),
            Some(Step::Shell(line)) => Reply::Call((self.hands.shell)(&line)),
            None => Reply::Say(format!("{} {} is done.", order.kind, order.id)),
        }
    }
}

/// The steps of a workflow's agent, in order.
fn steps(order: &Order) -> Vec<Step> {
    let number: usize = order.id.parse().unwrap();
    let (task, plan) = (tasks().nth(number - 1).unwrap(), format!("{number:02}-01"));
    let shell = |line: String| Step::Shell(line);
    let commit =
        |message: &str, path: &str| shell(format!("gsd-tools commit 'docs({number:02}): {message}' --files {path}"));
    let mut steps: Vec<Step> = order.mandatory().into_iter().map(|path| Step::Read(path.to_owned())).collect();
    assert!(!steps.is_empty(), "no workflow is named:\n{}", order.prompt);
    match order.kind.as_str() {
        "discuss-phase" => {
            let context = order.target("context");
            steps.push(shell(format!("gsd-tools init phase-op {number}")));
            steps.push(Step::Write(
                context.to_owned(),
                "# Context\n\n## Decisions\n\n- D-01: One module a task.\n".to_owned(),
            ));
            steps.push(commit("write down what is decided", context));
        }
        "plan-phase" => {
            let path = order.target("first plan");
            steps.push(shell(format!("gsd-tools init plan-phase {number}")));
            steps.push(Step::Write(path.to_owned(), phase_plan(number, task)));
            steps.push(shell(format!("gsd-tools verify plan-structure {path}")));
            steps.push(commit("plan the phase", path));
        }
        "execute-phase" => {
            let verification = order.target("verification");
            let summary = verification.replace("-VERIFICATION.md", "-01-SUMMARY.md");
            steps.push(shell(format!("gsd-tools init execute-phase {number}")));
            steps.push(shell(format!("gsd-tools state begin-phase --phase {number} --plans 1")));
            steps.push(shell(format!("gsd-tools worktree create-wave --phase {number} --plans {plan}")));
            steps.push(Step::Write(task.source_path(), task.source()));
            steps.push(Step::Write(task.test_path(), task.test()));
            steps.push(shell("python3 -m unittest".to_owned()));
            steps.push(shell(format!(
                "git add {} {} && git commit --quiet -m 'feat({plan}): add the module'",
                task.source_path(),
                task.test_path()
            )));
            steps.push(Step::Write(summary.clone(), phase_summary(number, task)));
            steps.push(commit("sum up the plan", &summary));
            steps.push(shell(format!("gsd-tools plan close {plan}")));
            let text = format!(
                "---\nphase: {number:02}\nstatus: passed\nscore: 1/1\n---\n\n# Phase {number:02} Verification\n"
            );
            steps.push(Step::Write(verification.to_owned(), text));
            steps.push(commit("verify the phase", ".planning"));
        }
        other => panic!("nobody expected the unit `{other} {}`", order.id),
    }
    steps
}

fn phase_plan(number: usize, task: &Task) -> String {
    format!(
        "---\nphase: {number:02}\nplan: 01\ntype: execute\nwave: 1\ndepends_on: []\nfiles_modified: [{0}, {1}]\nautonomous: true\n\
         must_haves:\n  truths:\n    - the tests pass\n---\n\n<objective>\nMake {0} and its test.\n</objective>\n\n<tasks>\n\
         <task type=\"auto\">\n  <name>Task 1: Make the module</name>\n  <files>{0}, {1}</files>\n  <action>Write both.</action>\n  \
         <verify><automated>python3 -m unittest</automated></verify>\n  <done>The tests pass.</done>\n</task>\n</tasks>\n",
        task.source_path(),
        task.test_path()
    )
}

fn phase_summary(number: usize, task: &Task) -> String {
    format!(
        "---\nphase: {number:02}\nplan: 01\nkey-files: [{0}]\ncompleted: 2026-01-05\n---\n\n# Phase {number:02} Plan 01 Summary\n\n\
         **{0} is there, and its test passes**\n\n## Accomplishments\n\n- {0}\n",
        task.source_path()
    )
}
