//! What a phase needs in addition to its plans: a person at a checkpoint, a debugger at a failed gate, and during
//! acceptance a plan that closes a gap.

use crate::play::actor::Actor;

use super::agents::{self, ACCEPTED, Plan, Talk};
use super::chain;
use super::hooks::{Phase, Threats, hooks};

/// One plan in turn, whose executor returns at its checkpoint; the person approves, and a fresh executor continues.
pub(crate) fn run_plan_with_checkpoint(it: &mut Actor, folder: &str, plan: &'static Plan) {
    let stop = run_plan_to_checkpoint(it, folder, plan, "", agents::executor_to_checkpoint);
    it.by("Otherwise show the checkpoint box of").asks(&stop.shown, "approved");
    run_plan_from_checkpoint(it, folder, plan, stop);
}

/// The state in which an executor stopped for a person.
pub(crate) struct Stop {
    /// The text shown to the person.
    pub(crate) shown: String,
    /// The work done so far, as the executor's table shows it.
    table: String,
    hashes: Vec<String>,
}

/// One plan in turn, up to its checkpoint; `done` lists the commits made before.
pub(crate) fn run_plan_to_checkpoint(
    it: &mut Actor,
    folder: &str,
    plan: &'static Plan,
    done: &str,
    part: chain::Part,
) -> Stop {
    assert!(chain::begin_wave(it, folder, &[plan]).is_empty(), "a plan with a checkpoint runs in the main tree");
    it.by("Then spawn `in_turn` one after the other");
    let into = folder.to_owned();
    let spawn = chain::executor_with(it, plan, None, done, move |it| part(it, plan, &into, false));
    let returned = it.sends(spawn).expects("## CHECKPOINT REACHED").text;
    it.runs("gsd-tools plan check {id}", &[("id", plan.id)]).is("finished", false).done();
    it.by("| not | `## CHECKPOINT REACHED` |");
    it.reads("workflows/execute-phase/steps/checkpoint-return.md").done();
    let rows = returned.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| Task"));
    let table: Vec<&str> = rows.collect();
    let hashes: Vec<String> = table.iter().map(|row| row.split('|').nth(3).unwrap().trim().to_owned()).collect();
    it.runs("gsd-tools verify commits", &[("hashes", &hashes.join(" "))]).is("all_valid", true).done();
    let shown = "### CHECKPOINT: Verification\nRun `python3 greet.py --goodbye Ada`\n---\n→ approved, or what is wrong";
    Stop { shown: shown.to_owned(), table: table.join("\n"), hashes }
}

/// The rest of a plan whose checkpoint the person approved.
pub(crate) fn run_plan_from_checkpoint(it: &mut Actor, folder: &str, plan: &'static Plan, stop: Stop) {
    let next = plan.tasks.iter().position(agents::Task::is_checkpoint).unwrap() + 2;
    let fills = [
        ("id", plan.id),
        ("the table of the return", &stop.table),
        ("n", &next.to_string()),
        ("name", plan.tasks[next - 1].name),
        ("type", "human-verify"),
        ("the reply", "approved"),
    ];
    it.by("Spawn a fresh `gsd-executor`; never resume the old one");
    let more = it.block("Continuation of plan", &fills);
    let (into, hashes) = (folder.to_owned(), stop.hashes);
    let spawn =
        chain::executor_with(it, plan, None, "", move |it| agents::executor_from_checkpoint(it, plan, &into, &hashes));
    it.sends(spawn.with(&more)).expects("## PLAN COMPLETE").done();
    chain::judge(it, &[plan.id]);
}

/// What a gate found after a wave, and the edit that fixes it.
pub(crate) struct RedGate {
    pub(crate) wave: u32,
    /// A file, words in it, and their replacement.
    pub(crate) mend: (&'static str, &'static str, &'static str),
}

/// The test gate fails: the person lets it be fixed, a debugger finds the cause, and the gate passes.
pub(crate) fn fix_red_gate(it: &mut Actor, folder: &str, plans: &[&'static Plan], red: &RedGate) {
    chain::gate(it, "build", "passed");
    chain::gate(it, "test", "failed");
    let (exit_code, tail) = (it.field("exit_code"), it.field("tail"));
    it.by("ask **Fix now**").asks("The test gate is red.\n1. Fix now\n2. Continue", "1. Fix now");
    it.reads("workflows/execute-phase/steps/fix-red-gate.md").done();
    let model = it.runs("gsd-tools resolve-model gsd-debugger --raw", &[]).text.trim().to_owned();
    it.knows("model", &model);
    let number = plans[0].id[..2].to_owned();
    let commits = it.by("timeline: commits").shell("git log --format=%h -3").text;
    let commits: Vec<&str> = commits.split_whitespace().collect();
    let slug = format!("phase-{number}-test-{}", commits[0]);
    let documents: Vec<String> = plans
        .iter()
        .flat_map(|plan| ["PLAN", "SUMMARY"].map(|kind| format!("{folder}/{}-{kind}.md", plan.id)))
        .collect();
    let fills = [
        ("gate", "test"),
        ("command", "python3 -m unittest"),
        ("exit_code", &exit_code),
        ("wave a | phase {N}", &format!("wave {}", red.wave)),
        ("the last lines of", &tail),
        ("short hash of HEAD", commits[0]),
        ("first", commits[2]),
        ("last", commits[0]),
        ("PLAN and SUMMARY of the plans concerned", &documents.join("\n")),
    ];
    let mend = red.mend;
    let spawn = it.spawn("=\"gsd-debugger\"", &fills, move |it| mends_the_gate(it, &slug, &number, mend));
    it.sends(spawn).expects("## DEBUG COMPLETE").done();
    it.by("Run the same gate again; its exit code decides");
    chain::gate(it, "test", "passed");
    chain::wave_is_green(it, folder, plans, true);
}

/// gsd-debugger on a failed gate.
fn mends_the_gate(it: &mut Actor, slug: &str, phase: &str, (path, old, new): (&str, &str, &str)) -> String {
    let session = begin_session(it, slug);
    it.by("**Reproduce** with the smallest input")
        .even_if_it_fails()
        .shell("python3 -m unittest")
        .expects("FAILED")
        .done();
    it.by("**Read** whole functions along the failing path").reads_file(path).done();
    let cause = format!("{path} does not name what another plan added");
    it.by("Write it before each action").writes(&session, &debug(slug, "investigating", &cause));
    it.by("write a reasoning checkpoint into Current Focus").writes(&session, &debug(slug, "fixing", &cause));
    it.reads("references/commit-rules.md").done();
    it.by("the smallest change that removes the cause").edits(path, old, new);
    it.by("passes now, for the reason meant").shell("python3 -m unittest").expects("OK").done();
    it.by("and commit with the scope the prompt names");
    agents::commit(it, &[path], &format!("fix(phase-{phase}): name every module"));
    it.by("at once if the prompt says that a gate judges").writes(&session, &debug(slug, "resolved", &cause));
    resolved(it, slug);
    it.by("append one entry to the knowledge base")
        .writes(".planning/debug/knowledge-base.md", &format!("# Knowledge base\n\n## {slug}\n- cause: {cause}\n"));
    it.knows("slug", slug);
    it.knows("debug", ".planning/debug");
    it.runs("docs: resolve debug {slug}", &[]).is("committed", true).done();
    format!("## DEBUG COMPLETE\nDebug Session: .planning/debug/resolved/{slug}.md\nRoot Cause: {cause}")
}

/// How every debugger begins that is given symptoms; returns the session's file.
fn begin_session(it: &mut Actor, slug: &str) -> String {
    it.by("every path under `<required_reading>`").reads_listed("<required_reading>", "</required_reading>");
    it.by("the project instruction file").reads_file("CLAUDE.md").done();
    let known = ".planning/debug/knowledge-base.md";
    if it.has_file(known) {
        it.by("`{debug}/knowledge-base.md` if it exists").reads_file(known).done();
    }
    it.reads("templates/debug.md").done();
    let session = format!(".planning/debug/{slug}.md");
    it.by("The session file `{debug}/{slug}.md`").writes(&session, &debug(slug, "gathering", ""));
    session
}

fn resolved(it: &mut Actor, slug: &str) {
    let from = format!(".planning/debug/{slug}.md");
    it.by("move").shell("mkdir -p .planning/debug/resolved").done();
    it.by("move").shell(&format!("mv {from} .planning/debug/resolved/{slug}.md")).done();
}

fn debug(slug: &str, status: &str, cause: &str) -> String {
    format!(
        "---\nstatus: {status}\ntrigger: \"{slug}\"\ncreated: 2026-01-06T10:00:00Z\nupdated: 2026-01-06T10:00:00Z\n---\n\n\
         ## Current Focus\nhypothesis: {cause}\n\n## Symptoms\nexpected: it works\n\n## Eliminated\n\n## Evidence\n\n\
         ## Resolution\nroot_cause: {cause}\n"
    )
}

/// What the person misses, and why.
pub(crate) struct Gap {
    pub(crate) id: &'static str,
    pub(crate) words: &'static str,
    pub(crate) truth: &'static str,
    pub(crate) cause: &'static str,
    pub(crate) reproduction: &'static str,
}

impl Gap {
    /// The entry below `## Gaps`.
    fn entry(&self, status: &str, cause: &str, slug: &str) -> String {
        let session = if slug.is_empty() { String::new() } else { format!(".planning/debug/{slug}.md") };
        format!(
            "```yaml\n- gap_id: {}\n  truth: \"{}\"\n  status: {status}\n  reason: \"User reported: {}\"\n  severity: major\n  \
             test: 3\n  root_cause: \"{cause}\"\n  artifacts: []\n  missing: []\n  debug_session: \"{session}\"\n```\n",
            self.id, self.truth, self.words
        )
    }

    fn issue(&self) -> String {
        format!("issue\nreported: \"{}\"\nseverity: major", self.words)
    }
}

/// `/gsd-verify-work N`: the person reports a gap, a debugger names its cause, a planner plans the fix.
pub(crate) fn verify_work_with_gap(
    it: &mut Actor,
    phase: &str,
    plans: &'static [&'static Plan],
    gap: &'static Gap,
    fixes: &'static [&'static Plan],
) -> String {
    let folder = chain::begin_verify(it, phase, plans);
    hooks(it, "verify:pre");
    chain::look_at_history(it, &folder, plans);
    for plan in plans {
        let summary = format!("{folder}/{}-SUMMARY.md", plan.id);
        let bucket = if plan.asks_a_person { "/present/0" } else { "/auto_passed/0" };
        let classified = it.runs("gsd-tools uat classify-coverage", &[("SUMMARY", &summary)]).json();
        assert!(classified.pointer(bucket).is_some(), "{}: {classified}", plan.id);
    }
    it.reads("templates/uat.md").done();
    let number = &plans[0].id[..2];
    let uat = format!("{folder}/{number}-UAT.md");
    let write =
        |it: &mut Actor, line: &str, talk: &Talk<'_>| it.by(line).writes(&uat, &agents::uat(plans, number, talk));
    let asked = plans.iter().find(|plan| plan.asks_a_person).expect("a plan that asks a person");
    let current = format!(
        "number: 3\nname: {}\nexpected: |\n  Run `{}`: {}\nawaiting: user response",
        asked.objective, asked.tasks[0].check, asked.truth
    );
    let begun = Talk { status: "testing", current: &current, judged: "[pending]", gap: "" };
    write(it, "write UAT.md by it", &begun);
    let shown = it.runs("gsd-tools uat render-checkpoint", &[]).expects(asked.truth).text;
    it.by("Show its output verbatim and wait for a plain answer").asks(&shown, gap.words);
    it.by("does not work, missing, wrong → major");
    let issue = gap.issue();
    let entry = gap.entry("failed", "", "");
    it.by("or a gap is `failed`");
    let over = Talk { status: "partial", current: "[testing complete]", judged: &issue, gap: &entry };
    write(it, "After each answer write result, counters", &over);
    it.runs("complete UAT", &[("passed", "2"), ("issues", "1")]).is("committed", true).done();
    it.by("Issues: step 7");
    it.reads("workflows/diagnose-issues.md").done();
    it.by("Slug: the gap's id and two or three");
    let slug = format!("{}-everybody", gap.id.to_lowercase());
    diagnose(it, &folder, plans, gap, &slug);
    let entry = gap.entry("failed", gap.cause, &slug);
    let known = Talk { status: "diagnosed", current: "[testing complete]", judged: &issue, gap: &entry };
    write(it, "into the gap go `root_cause`", &known);
    it.by("Check that the agent left no").shell("git status --short").lacks(".py").done();
    it.runs("add root causes from diagnosis", &[]).is("committed", true).done();
    it.reads("workflows/verify-work/steps/gap-planning.md").done();
    plan_gaps(it, &folder, fixes);
    it.by("Show the plans and the gaps each closes");
    "Next Up: /gsd-execute-phase 1 --gaps-only".to_owned()
}

fn diagnose(it: &mut Actor, folder: &str, plans: &'static [&'static Plan], gap: &'static Gap, slug: &str) {
    let model = it.runs("gsd-tools resolve-model gsd-debugger --raw", &[]).text.trim().to_owned();
    let summaries: Vec<String> = plans.iter().map(|plan| format!("{folder}/{}-SUMMARY.md", plan.id)).collect();
    it.knows("model", &model);
    let fills = [
        ("gap_id", gap.id),
        ("slug", slug),
        ("truth", gap.truth),
        ("expected of the test", gap.truth),
        ("reported", gap.words),
        ("messages the user quoted", "none"),
        ("n", "3"),
        ("SUMMARYs of the plans that built it", &summaries.join("\n")),
    ];
    let slug = slug.to_owned();
    let spawn = it.spawn("=\"gsd-debugger\"", &fills, move |it| {
        let session = begin_session(it, &slug);
        it.by("**Reproduce** with the smallest input").shell(gap.reproduction).done();
        it.by("**Read** whole functions along the failing path").reads_file("greet.py").done();
        it.by("file status `investigating` with `root_cause` filled")
            .writes(&session, &debug(&slug, "investigating", gap.cause));
        format!("## ROOT CAUSE FOUND\nDebug Session: {session}\nRoot Cause: {}", gap.cause)
    });
    it.sends(spawn).expects("## ROOT CAUSE FOUND").done();
}

/// `workflows/verify-work/steps/gap-planning.md`.
fn plan_gaps(it: &mut Actor, folder: &str, fixes: &'static [&'static Plan]) {
    let into = folder.to_owned();
    let planner = it.spawn("=\"gsd-planner\"", &[], move |it| agents::planner(it, fixes, &into));
    it.sends(planner).expects("## PLANNING COMPLETE").done();
    let listed: Vec<String> = fixes.iter().map(|plan| format!("{folder}/{}-PLAN.md", plan.id)).collect();
    let (checked, into) = (listed.clone(), folder.to_owned());
    let fills = [("n", "1"), ("new plans", &listed.join(", "))];
    let spawn = it.spawn("=\"gsd-plan-checker\"", &fills, move |it| agents::plan_checker(it, &checked, &into));
    it.sends(spawn).expects("## VERIFICATION PASSED").done();
    it.runs("gsd-tools plan record {dir}", &[]).expects("\"committed\": true").done();
}

/// `/gsd-execute-phase N --gaps-only`: the orchestrator runs the one small plan itself, and the gap is closed.
pub(crate) fn execute_gaps(
    it: &mut Actor,
    phase: &str,
    plans: &'static [&'static Plan],
    fix: &'static Plan,
    gap: &'static Gap,
) -> String {
    let folder = chain::load_phase(it, phase, plans);
    it.runs("grep -l '^gap_closure: true'", &[]).expects(fix.id).done();
    chain::begin_phase(it);
    it.by("**Inline.**").by("run it yourself");
    agents::inline(it, fix, &folder);
    it.by("go on at Judge");
    chain::judge(it, &[fix.id]);
    chain::after_wave(it, &folder, &[fix], false);
    it.reads("workflows/execute-phase/steps/close.md").done();
    chain::verify_phase(it, phase, &folder, plans);
    it.by("Section gap-closure-artifacts, also with `--gaps-only`");
    it.reads_section("execute-phase", "gap-closure-artifacts").expects("# Close what the gap plans closed").done();
    close_gap(it, &folder, plans, fix, gap);
    chain::complete_phase(it, &folder);
    chain::evolve(
        it,
        &folder,
        plans,
        &format!("- ✓ Saying goodbye - Phase {phase}"),
        &format!("- ✓ Saying goodbye, to everybody where nobody is named - Phase {phase}"),
    );
    it.by("Otherwise close with Next Up `{command}`");
    format!("Next Up: /gsd-verify-work {phase}")
}

/// The text below `## Current Test` once the gap is fixed.
fn mended(fix: &Plan, gap: &Gap) -> String {
    format!("number: 3\nname: {}\nexpected: |\n  {}\nawaiting: user response", fix.objective, gap.truth)
}

/// The plans whose work was tested before the gap was planned.
fn tested(plans: &'static [&'static Plan], fix: &Plan) -> Vec<&'static Plan> {
    plans.iter().copied().filter(|plan| plan.id != fix.id).collect()
}

fn close_gap(it: &mut Actor, folder: &str, plans: &'static [&'static Plan], fix: &Plan, gap: &Gap) {
    let number = &fix.id[..2];
    let uat = format!("{folder}/{number}-UAT.md");
    let text = it.by("Gaps in its `## Gaps`").reads_file(&uat).text;
    let (_, rest) = text.split_once("debug_session: \".planning/debug/").expect("the gap names a debug session");
    let slug = rest.split_once(".md").unwrap().0.to_owned();
    let again = mended(fix, gap);
    let entry = gap.entry("resolved", gap.cause, &format!("resolved/{slug}"));
    let talk = Talk { status: "testing", current: &again, judged: "[pending]", gap: &entry };
    let text = agents::uat(&tested(plans, fix), number, &talk);
    it.by("gets `result: [pending]` in place of its result").writes(&uat, &text);
    let session = format!(".planning/debug/{slug}.md");
    it.by("Each resolved gap's `debug_session`").edits(&session, "status: investigating", "status: resolved");
    resolved(it, &slug);
    let files = [("changed", format!("{uat} .planning/debug/resolved/{slug}.md")), ("old debug paths", session)];
    let files: Vec<_> = files.iter().map(|(name, value)| (*name, value.as_str())).collect();
    it.runs("resolve UAT gaps", &files).is("committed", true).done();
}

/// `/gsd-verify-work N` again: the person tries what was fixed, and accepts the phase.
pub(crate) fn verify_work_again(
    it: &mut Actor,
    phase: &str,
    plans: &'static [&'static Plan],
    fix: &'static Plan,
    gap: &'static Gap,
) -> String {
    let folder = chain::begin_verify(it, phase, plans);
    let number = &fix.id[..2];
    let uat = format!("{folder}/{number}-UAT.md");
    let text = it.by("go on at its first open test (step 4)").reads_file(&uat).expects("status: testing").text;
    let slug = text.split("debug/resolved/").nth(1).and_then(|rest| rest.split(".md").next()).unwrap().to_owned();
    let entry = gap.entry("resolved", gap.cause, &format!("resolved/{slug}"));
    let shown = it.runs("gsd-tools uat render-checkpoint", &[]).expects(gap.truth).text;
    it.by("Show its output verbatim and wait for a plain answer").asks(&shown, "pass");
    let over = Talk { status: "resolved", gap: &entry, ..ACCEPTED };
    let text = agents::uat(&tested(plans, fix), number, &over);
    it.by("After each answer write result, counters").writes(&uat, &text);
    it.runs("complete UAT", &[("passed", "3"), ("issues", "0")]).is("committed", true).done();
    chain::accept(it, &Phase { threats: Threats::Accepted, ..Phase::new(&folder, plans) })
}

/// gsd-phase-researcher before the phase is planned.
pub(crate) fn research(it: &mut Actor, folder: &str) {
    it.by("ask *Research first*").asks("1. Research first\n2. Skip", "1. Research first");
    let into = folder.to_owned();
    let fills = [("security_enforcement of settings", "true")];
    let spawn = it.spawn("=\"gsd-phase-researcher\"", &fills, move |it| agents::phase_researcher(it, &into));
    it.sends(spawn).expects("## RESEARCH COMPLETE").done();
}
