//! The agents' parts, each as its text says, and the plans and documents that they invent.

use crate::play::actor::Actor;

/// A plan of the plays, and what its executor does.
#[derive(Debug)]
pub(crate) struct Plan {
    /// Such as `01-02`.
    pub(crate) id: &'static str,
    pub(crate) wave: u32,
    pub(crate) depends_on: &'static [&'static str],
    pub(crate) requirements: &'static [&'static str],
    pub(crate) objective: &'static str,
    pub(crate) truth: &'static str,
    pub(crate) tasks: &'static [Task],
    /// Only a person can judge whether it reached its goal.
    pub(crate) asks_a_person: bool,
    /// The gap it closes, such as `G-01-1`; empty for one that the verification found, which has no id.
    pub(crate) closes: Option<&'static str>,
}

#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) name: &'static str,
    /// `auto`, or a kind of checkpoint.
    pub(crate) kind: &'static str,
    /// Files as they are when the task is done; none at a checkpoint.
    pub(crate) files: &'static [(&'static str, &'static str)],
    pub(crate) check: &'static str,
    /// Type and subject of the commit.
    pub(crate) commit: (&'static str, &'static str),
}

/// The text of a file that a task removes.
pub(crate) const GONE: &str = "\u{1}gone\u{1}";

impl Plan {
    pub(crate) fn files(&self) -> Vec<&'static str> {
        self.paths(false)
    }

    /// The files that the tasks leave, or those that they remove.
    fn paths(&self, is_gone: bool) -> Vec<&'static str> {
        let all = self.tasks.iter().flat_map(|task| task.files).filter(|(_, text)| (*text == GONE) == is_gone);
        let mut files: Vec<_> = all.map(|(path, _)| *path).collect();
        files.sort_unstable();
        files.dedup();
        files
    }

    fn list(items: &[&str]) -> String {
        format!("[{}]", items.join(", "))
    }

    /// The plan's document, in the form of `templates/plan.md`.
    pub(crate) fn text(&self, phase: &str) -> String {
        let (_, number) = self.id.split_once('-').unwrap();
        let first = self.files().first().copied().unwrap_or("greet.py");
        let autonomous = !self.tasks.iter().any(Task::is_checkpoint);
        let gone = self.paths(true);
        let gone = if gone.is_empty() { String::new() } else { format!("files_deleted: {}\n", Self::list(&gone)) };
        let ids = self.closes.filter(|gap| !gap.is_empty()).map(|gap| format!("gap_ids: [{gap}]\n"));
        let gap = self.closes.map(|_| format!("gap_closure: true\n{}", ids.unwrap_or_default())).unwrap_or_default();
        let head = format!(
            "---\nphase: {phase}\nplan: {number}\ntype: execute\nwave: {}\ndepends_on: {}\nfiles_modified: {}\n{gone}\
             autonomous: {autonomous}\nrequirements: {}\nestimate:\n  tokens: 9000\n  tasks: {}\nmust_haves:\n  truths:\n    \
             - \"{}\"\n  artifacts:\n    - path: \"{first}\"\n      provides: \"{}\"\n  key_links: []\n{gap}---\n",
            self.wave,
            Self::list(self.depends_on),
            Self::list(&[self.files(), self.paths(true)].concat()),
            Self::list(self.requirements),
            self.tasks.len(),
            self.truth,
            self.objective,
        );
        let tasks: Vec<String> = self.tasks.iter().enumerate().map(|(at, task)| task.text(at + 1)).collect();
        format!(
            "{head}\n<objective>\n{}\n\nPurpose: the goal of the phase\nOutput: {}\n</objective>\n\n<execution_context>\n\
             Executor: follow the execute-plan workflow; close with the summary form.\n</execution_context>\n\n<context>\n\
             @.planning/PROJECT.md\n@.planning/STATE.md\n</context>\n\n<tasks>\n\n{}\n</tasks>\n\n<threat_model>\n\
             Trust boundaries: the command line\n\n| Threat | STRIDE | Component | Severity | Disposition | Mitigation |\n\
             |---|---|---|---|---|---|\n| T-01-01 | tampering | greet.py | low | mitigate | prints only |\n</threat_model>\n\n\
             <verification>\n- [ ] python3 -m unittest\n</verification>\n\n<success_criteria>\n- {}\n</success_criteria>\n\n\
             ## Artifacts this phase produces\n\n- {}\n\n<output>\nWrite {}-SUMMARY.md in the phase directory.\n</output>\n",
            self.objective,
            self.files().join(", "),
            tasks.join("\n"),
            self.truth,
            self.files().join("\n- "),
            self.id,
        )
    }

    /// The summary's document, in the form of `templates/summary.md`.
    pub(crate) fn summary(&self, phase: &str, head_before: &str, commits: &[String]) -> String {
        let (_, number) = self.id.split_once('-').unwrap();
        let lines: Vec<String> = self
            .tasks
            .iter()
            .filter(|task| !task.is_checkpoint())
            .zip(commits)
            .enumerate()
            .map(|(at, (task, hash))| {
                format!("{}. **Task {}: {}** - `{hash}` ({})", at + 1, at + 1, task.name, task.commit.0)
            })
            .collect();
        format!(
            "---\nphase: {phase}\nplan: {number}\nsubsystem: cli\ntags: [python]\nrequires: []\nprovides:\n  - {objective}\n\
             affects: []\nactuals:\n  tokens: 0\n  tasks: {tasks}\n  commits: {count}\ntech-stack:\n  added: []\n  patterns: []\n\
             key-files:\n  created: {files}\n  modified: []\n  deleted: {gone}\nkey-decisions:\n  - \"Plain functions: nothing to configure\"\n\
             patterns-established: []\nrequirements-completed: {requirements}\ncoverage:\n  - id: D1\n    description: \
             \"{truth}\"\n    requirement: \"{requirement}\"\n    verification:\n      - kind: unit\n        ref: \
             \"{check}\"\n        status: pass\n    human_judgment: {human}\n    rationale: \"{why}\"\ncommits: {count}\n\
             plan_head_before: {head_before}\nduration: 5min\ncompleted: 2026-01-06\nstatus: complete\n---\n\n\
             # Phase {phase} Plan {number}: {objective} Summary\n\n**{truth}**\n\n## Performance\n- **Duration:** 5 min\n- **Tasks:** {tasks}\n\
             - **Files modified:** 1\n\n## Accomplishments\n- {truth}\n\n## Task Commits\n{lines}\n\n\
             ## Files Created/Modified\n- `{first}` - {objective}\n\n## Decisions Made\nNone\n\n\
             ## Deviations from Plan\nNone\n\n## Issues Encountered\nNone\n\n## User Setup Required\nNone\n\n\
             ## Threat Flags\nNone\n\n## Known Stubs\nNone\n\n## Authentication Gates\nNone\n\n\
             ## Next Phase Readiness\nReady\n\n## Self-Check: PASSED\n",
            objective = self.objective,
            tasks = self.tasks.len(),
            count = commits.len(),
            files = Self::list(&self.files()),
            gone = Self::list(&self.paths(true)),
            requirements = Self::list(self.requirements),
            truth = self.truth,
            requirement = self.requirements.first().unwrap_or(&"none"),
            check = self.tasks[0].check,
            human = self.asks_a_person,
            why = if self.asks_a_person { "how it reads is a matter of taste" } else { "" },
            lines = lines.join("\n"),
            first = self.files().first().copied().unwrap_or("greet.py"),
        )
    }
}

impl Task {
    pub(crate) fn is_checkpoint(&self) -> bool {
        self.kind.starts_with("checkpoint")
    }

    fn text(&self, number: usize) -> String {
        if self.is_checkpoint() {
            return format!(
                "<task type=\"{}\" gate=\"blocking\">\n  <name>Task {number}: {}</name>\n  <what-built>the command line</what-built>\n  \
                 <how-to-verify>Run {}</how-to-verify>\n  <resume-signal>Type approved, or what is wrong</resume-signal>\n</task>\n",
                self.kind, self.name, self.check
            );
        }
        let files: Vec<_> = self.files.iter().map(|(path, _)| *path).collect();
        format!(
            "<task type=\"{}\">\n  <name>Task {number}: {}</name>\n  <files>{}</files>\n  <read_first>greet.py</read_first>\n  \
             <action>{}, in {}, with a test of its own; nothing else changes.</action>\n  <verify>\n    \
             <automated>{}</automated>\n    <fails_when>the behaviour is missing</fails_when>\n  </verify>\n  \
             <acceptance_criteria>\n    - the command passes\n  </acceptance_criteria>\n  <done>{}</done>\n</task>\n",
            self.kind,
            self.name,
            files.join(", "),
            self.name,
            files.join(" and "),
            self.check,
            self.name,
        )
    }
}

/// gsd-planner writes these plans into the folder that its prompt names.
pub(crate) fn planner_of_a_quick_task(
    plan: &'static Plan,
    path: String,
    phase: String,
) -> impl FnOnce(&mut Actor) -> String {
    move |it| {
        it.by("then the project instruction file").reads_file("CLAUDE.md").done();
        it.reads("templates/plan.md").expects("files_modified").done();
        recalls(it, false);
        it.by("one plan of 1-3 tasks at the path and under the ids given").writes(&path, &plan.text(&phase));
        it.runs("gsd-tools verify plan-structure", &[("plan", &path)]).is("valid", true).done();
        format!("## PLANNING COMPLETE\n\n| wave | plan | objective |\n|---|---|---|\n| 1 | 01 | {} |", plan.objective)
    }
}

/// Does the tasks of a plan, each with its check and its commit; returns the hashes.
pub(crate) fn tasks(it: &mut Actor, scope: &str, tasks: &[Task]) -> Vec<String> {
    let mut hashes = Vec::new();
    for task in tasks {
        it.by("Read every `<read_first>` file before you edit anything").reads_file("greet.py").done();
        it.by("Then run `<automated>` once").even_if_it_fails().shell(task.check).done();
        for (path, text) in task.files {
            it.by("carry out `<action>` with its exact names and values");
            if *text == GONE {
                it.shell(&format!("rm {path}")).done();
            } else {
                it.writes(path, text);
            }
        }
        it.by("Run `<automated>`").shell(task.check).done();
        let paths: Vec<_> = task.files.iter().map(|(path, _)| *path).collect();
        let (kind, subject) = task.commit;
        it.by("Commit the task by the commit rules");
        hashes.push(commit(it, &paths, &format!("{kind}({scope}): {subject}")));
    }
    hashes
}

/// Makes one commit as `references/commit-rules.md` says.
pub(crate) fn commit(it: &mut Actor, paths: &[&str], message: &str) -> String {
    let paths = paths.join(" ");
    it.runs("git status --short", &[]).done();
    it.runs("git add -- path/one", &[("path/one path/two", &paths)]).done();
    let words = [("feat(02-01): store notes in SQLite", message), ("path/one path/two", &paths)];
    it.runs("git commit -m 'feat(02-01)", &words).done();
    let hash = it.runs("git rev-parse --short HEAD", &[]).text.trim().to_owned();
    it.runs("git show --stat --format= HEAD", &[]).done();
    hash
}

/// How every executor begins.
pub(crate) fn executor_begins(it: &mut Actor) {
    it.by("read every path under `<required_reading>`").reads_listed("<required_reading>", "</required_reading>");
    it.reads("workflows/execute-plan.md").expects("# Execute one plan").done();
    it.reads("references/commit-rules.md").done();
    it.reads("references/deviation-rules.md").done();
    it.runs("git status --short", &[]).done();
    it.runs("git branch --show-current", &[]).done();
}

/// gsd-executor on a quick task: it does not change the state.
pub(crate) fn executor_of_a_quick_task(
    plan: &'static Plan,
    scope: String,
    summary: String,
    phase: String,
) -> impl FnOnce(&mut Actor) -> String {
    move |it| {
        executor_begins(it);
        let before = it.runs("git rev-parse HEAD", &[]).text.trim().to_owned();
        let hashes = tasks(it, &scope, plan.tasks);
        it.by("Run the plan's `<verification>`").shell("python3 -m unittest").expects("OK").done();
        it.reads("templates/summary.md").done();
        it.by("every commit is in `git log`").shell("git log --oneline -5").expects(&hashes[0]).done();
        it.by("SUMMARY.md with `status: complete`").writes(&summary, &plan.summary(&phase, &before, &hashes));
        it.by("A quick task has its own id and scope, commits no planning files");
        format!("## PLAN COMPLETE\nPlan: {}   Self-Check: PASSED\nSUMMARY: {summary}", plan.id)
    }
}

/// Asks for learnings from the person's projects, and for connections in the graph of the code.
pub(crate) fn recalls(it: &mut Actor, is_researched: bool) {
    it.runs("gsd-tools learnings query --tag", &[("topic", "python")]).done();
    if !is_researched {
        it.runs("gsd-tools graphify status", &[]).lacks("\"exists\": true").done();
    }
}

/// gsd-planner in mode standard.
pub(crate) fn planner(it: &mut Actor, plans: &'static [&'static Plan], folder: &str) -> String {
    let (number, phase) = numbered(folder);
    it.runs("gsd-tools roadmap get-phase", &[("N", &number)]).is("found", true).done();
    for kind in ["CONTEXT", "RESEARCH", "PATTERNS", "UAT", "VERIFICATION"] {
        let path = format!("{folder}/{number}-{kind}.md");
        if it.has_file(&path) {
            it.by("Read every file the prompt lists").reads_file(&path).done();
        }
    }
    it.by("then the project instruction file").reads_file("CLAUDE.md").done();
    it.reads("templates/plan.md").expects("files_modified").done();
    recalls(it, it.has_file(&format!("{folder}/{number}-RESEARCH.md")));
    if plans.iter().any(|plan| plan.closes.is_some()) {
        it.reads("references/planner-gaps.md").expects("gap_closure: true").done();
    }
    for plan in plans {
        let path = format!("{folder}/{}-PLAN.md", plan.id);
        it.by("Existing plans keep their numbers; new ones").writes(&path, &plan.text(&phase));
    }
    let map = format!("{folder}/{number}-VALIDATION.md");
    if it.is_ordered(&format!("Seed {map}")) {
        it.reads("templates/validation.md").done();
        it.by("If the prompt asks for it, write or complete `{NN}-VALIDATION.md`")
            .writes(&map, &validation(&number, plans, "pending"));
    }
    it.runs("gsd-tools plan lint {phase_dir}", &[("phase_dir", folder)]).is("valid", true).done();
    let list: Vec<String> = plans.iter().map(|plan| format!("- {}: {}", plan.id, plan.objective)).collect();
    format!("## PLANNING COMPLETE\n\n{}", list.join("\n"))
}

/// The phase's number and name, from its folder.
pub(crate) fn numbered(folder: &str) -> (String, String) {
    let phase = folder.rsplit('/').next().unwrap().to_owned();
    (phase.split('-').next().unwrap().to_owned(), phase)
}

/// gsd-plan-checker, satisfied with what it sees.
pub(crate) fn plan_checker(it: &mut Actor, plans: &[String], folder: &str) -> String {
    for path in plans.iter().map(String::as_str).chain(["CLAUDE.md"]) {
        it.by("Read every file the prompt lists").reads_file(path).done();
    }
    it.reads("references/verdicts-plan-checker.md").done();
    it.runs("gsd-tools roadmap get-phase", &[("N", &numbered(folder).0)]).is("found", true).done();
    it.runs("gsd-tools plan lint {phase_dir}", &[("phase_dir", folder)]).is("valid", true).done();
    "## VERIFICATION PASSED\n\n| plan | tasks |\n|---|---|".to_owned()
}

/// Follows `references/research.md` for a file and one question, without a tool for the web.
pub(crate) fn research(it: &mut Actor, output: &str, question: &str) {
    it.reads("references/research.md").done();
    let questions = format!(".planning/tmp/{output}-questions.json");
    it.knows("questions", &questions);
    let asked = format!("{{\"questions\": [{{\"text\": \"{question}\", \"kind\": \"web\"}}]}}\n");
    it.by("Write the questions the web must answer as JSON").writes(&questions, &asked);
    let planned = it.runs("gsd-tools research-plan --input", &[]).json();
    let query = planned["items"][0]["fetch"]["query"].as_str().unwrap_or_else(|| panic!("nothing to ask: {planned}"));
    it.runs("gsd-tools websearch", &[("query", query)]).is("available", false).done();
    it.by("Memory and what nobody found are not kept").by("Remove `{questions}` when done");
    it.shell(&format!("rm {questions}")).done();
}

/// gsd-phase-researcher, which finds that nothing needs to be installed.
pub(crate) fn phase_researcher(it: &mut Actor, folder: &str) -> String {
    let (number, phase) = numbered(folder);
    let context = format!("{folder}/{number}-CONTEXT.md");
    for path in [context.as_str(), "CLAUDE.md"] {
        it.by("Read every file the prompt lists").reads_file(path).done();
    }
    it.runs("gsd-tools roadmap get-phase", &[("N", &number)]).is("found", true).done();
    it.reads("templates/research.md").done();
    it.by("Manifest and lock files, existing patterns").reads_file("greet.py").done();
    research(it, &format!("{number}-RESEARCH"), "how sys.argv is read");
    it.by("Probe the tools").shell("python3 --version").expects("Python 3").done();
    let text = format!(
        "# Phase {phase} - Research\n\n**Confidence:** HIGH\n\n\
         ## Standard Stack\n\nNone: the standard library. [VERIFIED: python3]\n\n## Open Questions\n\nNone\n\n\
         ## Validation Architecture\n\nunittest; quick and full command: `python3 -m unittest`\n"
    );
    it.by("Write with the Write tool to the path in the prompt")
        .writes(&format!("{folder}/{number}-RESEARCH.md"), &text);
    "## RESEARCH COMPLETE\nNothing to install.".to_owned()
}

/// The document that says how the phase is tested, with one row for each task; `state` is the state of each row.
pub(crate) fn validation(number: &str, plans: &[&Plan], state: &str) -> String {
    let rows: Vec<String> = plans
        .iter()
        .flat_map(|plan| plan.tasks.iter().enumerate().map(move |(at, task)| (plan, at + 1, task)))
        .map(|(plan, at, task)| {
            let requirement = plan.requirements.first().unwrap_or(&"none");
            format!(
                "| {}-T{at} | {} | {} | {requirement} | none | unit | `{}` | {state} |",
                plan.id, plan.id, plan.wave, task.check
            )
        })
        .collect();
    let status = if state == "pending" { "draft" } else { "verified" };
    format!(
        "---\nphase: {number}\nslug: say-goodbye\nstatus: {status}\n---\n\n# Phase {number} - \
         Validation\n\n## Test Infrastructure\n\n| Property | Value |\n|---|---|\n| Framework | unittest |\n| Quick command | \
         `python3 -m unittest` |\n| Full command | `python3 -m unittest` |\n\n## Verification Map\n\n| Task | Plan | Wave | \
         Requirement | Threat | Test | Command | Status |\n|---|---|---|---|---|---|---|---|\n{}\n",
        rows.join("\n")
    )
}

/// gsd-executor on a plan of a phase; with a worktree it works in the folder that its prompt names.
pub(crate) fn executor(it: &mut Actor, plan: &'static Plan, folder: &str, worktree: bool) -> String {
    if worktree {
        it.works_in_its_worktree();
    }
    executor_begins(it);
    let folder = knows_its_plan(it, plan, folder);
    let before = it.runs("git rev-parse HEAD", &[]).text.trim().to_owned();
    let hashes = tasks(it, plan.id, plan.tasks);
    closes_its_plan(it, plan, &folder, &before, &hashes)
}

/// The orchestrator runs the plan itself, following `workflows/execute-plan.md`.
pub(crate) fn inline(it: &mut Actor, plan: &'static Plan, folder: &str) {
    super::hooks::hooks(it, "execute:wave:pre");
    it.reads("workflows/execute-plan.md").expects("# Execute one plan").done();
    let text = format!("{folder}/{}-PLAN.md", plan.id);
    it.by("Inline, without the executor agent: first Read the plan").reads_file(&text).done();
    it.reads("references/commit-rules.md").done();
    it.reads("references/deviation-rules.md").done();
    let folder = knows_its_plan(it, plan, folder);
    let before = it.runs("git rev-parse HEAD", &[]).text.trim().to_owned();
    let hashes = tasks(it, plan.id, plan.tasks);
    closes_its_plan(it, plan, &folder, &before, &hashes);
}

/// gsd-executor up to the checkpoint of its plan.
pub(crate) fn executor_to_checkpoint(it: &mut Actor, plan: &'static Plan, folder: &str, _: bool) -> String {
    executor_begins(it);
    knows_its_plan(it, plan, folder);
    it.runs("git rev-parse HEAD", &[]).done();
    let at = plan.tasks.iter().position(Task::is_checkpoint).expect("the plan has a checkpoint");
    let hashes = tasks(it, plan.id, &plan.tasks[..at]);
    it.runs("gsd-tools check auto-mode --pick active", &[]).expects("false").done();
    it.reads("references/checkpoints.md").done();
    it.by("prepare what the person needs, return `CHECKPOINT REACHED`");
    checkpoint_return(plan, &hashes)
}

/// The return of an executor at the checkpoint of its plan.
pub(crate) fn checkpoint_return(plan: &Plan, hashes: &[String]) -> String {
    let at = plan.tasks.iter().position(Task::is_checkpoint).expect("the plan has a checkpoint");
    let rows: Vec<String> = plan.tasks[..at]
        .iter()
        .zip(hashes)
        .enumerate()
        .map(|(at, (task, hash))| format!("| {} | {} | {hash} | {} |", at + 1, task.name, task.files[0].0))
        .collect();
    format!(
        "## CHECKPOINT REACHED\nType: human-verify   Gate: blocking   Plan: {}   Progress: {at}/{}\n\n### Completed Tasks\n\
         | Task | Name | Commit | Files |\n|---|---|---|---|\n{}\n\n### Current Task\n{}: {} - waits for a person\n\n\
         ### Checkpoint Details\nRun `{}`\n\n### Awaiting\napproved, or what is wrong",
        plan.id,
        plan.tasks.len(),
        rows.join("\n"),
        at + 1,
        plan.tasks[at].name,
        plan.tasks[at].check,
    )
}

/// A fresh gsd-executor after the checkpoint of its plan, which the person approved.
pub(crate) fn executor_from_checkpoint(it: &mut Actor, plan: &'static Plan, folder: &str, hashes: &[String]) -> String {
    executor_begins(it);
    let folder = knows_its_plan(it, plan, folder);
    let first = &hashes[0];
    it.by("every hash given is in `git log`").shell("git log --oneline -5").expects(first).done();
    let at = plan.tasks.iter().position(Task::is_checkpoint).expect("the plan has a checkpoint");
    it.by("With a resume task start there");
    let rest = tasks(it, plan.id, &plan.tasks[at + 1..]);
    let before = it.by("`plan_head_before` is the parent of the first").shell(&format!("git rev-parse {first}~1"));
    let hashes = [hashes, &rest].concat();
    closes_its_plan(it, plan, &folder, before.text.trim(), &hashes)
}

/// Sets the names used in `workflows/execute-plan.md`; returns the phase's folder as this actor sees it.
pub(crate) fn knows_its_plan(it: &mut Actor, plan: &Plan, folder: &str) -> String {
    let (number, _) = numbered(folder);
    let (_, own) = plan.id.split_once('-').unwrap();
    let folder = it.here(folder);
    for (name, value) in [("NN", number.as_str()), ("MM", own), ("id", plan.id), ("dir", &folder)] {
        it.knows(name, value);
    }
    folder
}

/// Verification, SUMMARY and `plan close`.
pub(crate) fn closes_its_plan(it: &mut Actor, plan: &Plan, folder: &str, before: &str, hashes: &[String]) -> String {
    let (_, phase) = numbered(folder);
    it.by("Run the plan's `<verification>`").shell("python3 -m unittest").expects("OK").done();
    it.reads("templates/summary.md").done();
    it.by("every commit is in `git log`").shell("git log --oneline -5").expects(&hashes[0]).done();
    let summary = format!("{folder}/{}-SUMMARY.md", plan.id);
    it.by("write `{dir}/{id}-SUMMARY.md`").writes(&summary, &plan.summary(&phase, before, hashes));
    it.runs("gsd-tools plan close {id}", &[]).lacks("\"committed\": false").done();
    format!("## PLAN COMPLETE\nPlan: {}   Self-Check: PASSED\nSUMMARY: {summary}", plan.id)
}

/// gsd-verifier, satisfied with what it sees, or missing this truth.
pub(crate) fn verifier(
    it: &mut Actor,
    phase: &str,
    plans: &'static [&'static Plan],
    folder: &str,
    missing: Option<&'static str>,
) -> String {
    let (number, name) = numbered(folder);
    it.knows("dir", folder);
    it.knows("NN", &number);
    it.by("Read every path under `<required_reading>`").reads_file("CLAUDE.md").done();
    let mut covered = Vec::new();
    for plan in plans {
        for kind in ["PLAN", "SUMMARY"] {
            let path = format!("{folder}/{}-{kind}.md", plan.id);
            it.by("Read every path under `<required_reading>`").reads_file(&path).done();
            covered.push(path);
        }
        covered.extend(plan.files().iter().map(|file| (*file).to_owned()));
    }
    covered.sort();
    covered.dedup();
    it.reads("templates/verification-report.md").done();
    it.reads("references/verdicts-verifier.md").done();
    let map = format!("{folder}/{number}-VALIDATION.md");
    for kind in ["CONTEXT", "UAT", "VERIFICATION", "VALIDATION", "REVIEW"] {
        let path = format!("{folder}/{number}-{kind}.md");
        if it.has_file(&path) {
            it.by("Read every path under `<required_reading>`, the phase's CONTEXT.md").reads_file(&path).done();
        }
    }
    it.runs("gsd-tools roadmap get-phase", &[("N", phase)]).done();
    let work = it.runs("gsd-tools verify work {N}", &[("N", phase)]).is("unreported", serde_json::json!([]));
    let nothing = serde_json::json!([]);
    work.is("tests.clean", true).is("artifacts_missing", nothing.clone()).is("links_missing", nothing).done();
    it.by("existing tests named for it").shell("python3 -m unittest").expects("OK").done();
    let fills = [("every PLAN.md and SUMMARY.md", covered.join(" ")), ("every source and test file", String::new())];
    let fills: Vec<_> = fills.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let print = it.runs("gsd-tools verification fingerprint", &fills).json();
    if it.has_file(&map) {
        it.by("`{NN}-VALIDATION.md` exists: write it again").writes(&map, &validation(&number, plans, "green"));
    }
    let report = format!("{folder}/{number}-VERIFICATION.md");
    let truths: Vec<String> = plans
        .iter()
        .enumerate()
        .map(|(at, plan)| format!("| {} | {} | VERIFIED | test |", at + 1, plan.truth))
        .collect();
    let status = if missing.is_some() { "gaps_found" } else { "passed" };
    let (row, gaps) = missing.map_or_else(Default::default, |truth| {
        let gap = format!(
            "gaps:\n  - truth: \"{truth}\"\n    status: failed\n    reason: \"nothing calls it\"\n    artifacts: []\n    \
             missing: [\"a switch\"]\n"
        );
        (format!("\n| {} | {truth} | FAILED | the call |", plans.len() + 1), gap)
    });
    let text = format!(
        "---\nphase: {name}\nverified: 2026-01-06T10:00:00Z\nstatus: {status}\nscore: {count}/{all} must-haves verified\n\
         covered_files: {files}\ncovered_digest: {digest}\nbehavior_unverified: 0\noverrides_applied: 0\n{gaps}---\n\n\
         # Phase {phase} Verification Report\n\n**Status:** {status}\n\n## Goal Achievement\n\n### Observable Truths\n\
         | # | Truth | Status | Evidence |\n|---|---|---|---|\n{truths}{row}\n\n**Score:** {count}/{all}\n",
        all = plans.len() + usize::from(missing.is_some()),
        count = plans.len(),
        files = print["covered_files"],
        digest = print["covered_digest"],
        truths = truths.join("\n"),
    );
    it.by("Write `{dir}/{NN}-VERIFICATION.md` by the template").writes(&report, &text);
    it.runs("gsd-tools frontmatter validate {file}", &[("file", &report)]).is("valid", true).done();
    format!("## Verification Complete\nStatus: {status}   Score: {}   Report: {report}", plans.len())
}

/// The progress of the conversation about a phase, as in its UAT document.
pub(crate) struct Talk<'a> {
    pub(crate) status: &'a str,
    /// The lines below `## Current Test`.
    pub(crate) current: &'a str,
    /// The result of the test that only a person can judge, with its keys.
    pub(crate) judged: &'a str,
    /// The entry below `## Gaps`.
    pub(crate) gap: &'a str,
}

/// Everything passed, or was covered by a check.
pub(crate) const ACCEPTED: Talk<'_> =
    Talk { status: "complete", current: "[testing complete]", judged: "pass", gap: "" };

/// A UAT document: a test for each plan; tests covered by a check have passed.
pub(crate) fn uat(plans: &[&Plan], number: &str, talk: &Talk<'_>) -> String {
    let tests: Vec<String> = plans
        .iter()
        .enumerate()
        .map(|(at, plan)| {
            let (test, truth) = (at + 1, plan.truth);
            let result = if plan.asks_a_person { talk.judged } else { "pass\nsource: automated\ncoverage_id: D1" };
            format!("### {test}. {truth}\nexpected: {truth}\nresult: {result}\n")
        })
        .collect();
    let sources: Vec<String> = plans.iter().map(|plan| format!("{}-SUMMARY.md", plan.id)).collect();
    let count = plans.len();
    let judged = plans.iter().filter(|plan| plan.asks_a_person).count();
    let counted = |word: &str| if talk.judged.starts_with(word) { judged } else { 0 };
    let (issues, pending) = (counted("issue"), counted("[pending]"));
    format!(
        "---\nstatus: {}\nphase: {number}\nsource: [{}]\nstarted: 2026-01-06T10:00:00Z\nupdated: 2026-01-06T10:00:00Z\n---\n\n\
         ## Current Test\n\n{}\n\n## Tests\n\n{}\n## Summary\n\ntotal: {count}\npassed: {}\nissues: {issues}\n\
         pending: {pending}\nskipped: 0\nblocked: 0\n\n## Gaps\n\n{}\n## Deferred Follow-Ups\n",
        talk.status,
        sources.join(", "),
        talk.current,
        tests.join("\n"),
        count - issues - pending,
        talk.gap,
    )
}
