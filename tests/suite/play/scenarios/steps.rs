//! The steps that the settings add to the loop: pattern mapping, code review, the missing tests, the threats.

use serde_json::Value;

use crate::play::actor::{Actor, DROPPED};

use super::agents::{self, Plan, numbered};
use super::chain;
use super::hooks::{Phase, Threats};
use super::reviewers::{self, Finding};

/// Carries out one step of `loop enter` as the row `steps` of `references/loop-hooks.md` says.
pub(crate) fn step(it: &mut Actor, step: &Value, phase: &Phase) {
    it.by("Do each, in order").is_in_a_step(true);
    match (step["agent"].as_str(), step["skill"].as_str()) {
        (Some("gsd-pattern-mapper"), _) => map_patterns(it, step, phase),
        (_, Some("code-review")) => {
            it.by("and follow it for this phase").reads_workflow("code-review").expects("# Code review").done();
            it.by("this workflow asks nothing and ends with one line of counts");
            review(it, phase, "", phase.findings);
        }
        (_, Some("validate-phase")) => validate(it, phase),
        (_, Some("secure-phase")) => secure(it, phase),
        _ => panic!("a step that the play does not know: {step:#}"),
    }
    for produced in paths_of(step, "produces") {
        it.by("look for the files in `produces`").shell(&format!("ls {produced}")).expects(&produced).done();
    }
    it.is_in_a_step(false);
}

/// The documents that a step names, by their paths.
fn paths_of(step: &Value, key: &str) -> Vec<String> {
    let named = step[key].as_array().into_iter().flatten().filter_map(Value::as_str);
    named.map(str::to_owned).collect()
}

/// gsd-pattern-mapper, as the text of the step says.
fn map_patterns(it: &mut Actor, step: &Value, phase: &Phase) {
    let agent = "gsd-pattern-mapper";
    let model = it.runs("gsd-tools resolve-model {agent} --raw", &[("agent", agent)]).text.trim().to_owned();
    it.knows("model", &model);
    let mut consumed = paths_of(step, "consumes");
    consumed.retain(|path| it.has_file(path));
    let prompt = format!(
        "{}\nPhase directory: {}\n{}",
        step["text"].as_str().expect("the step has a text"),
        phase.folder,
        consumed.join("\n")
    );
    let (folder, plans) = (phase.folder.clone(), phase.plans);
    let spawn =
        it.by("spawn that agent (model:").spawn_in_words((agent, "model"), "Map the patterns", &prompt, move |it| {
            reviewers::pattern_mapper(it, &folder, plans)
        });
    it.sends(spawn).expects("## PATTERN MAPPING COMPLETE").done();
}

/// `workflows/code-review.md`, which has already been read.
pub(crate) fn review(it: &mut Actor, phase: &Phase, flags: &str, findings: &'static [Finding]) {
    load_review(it, phase, flags);
    review_loaded(it, phase, findings);
}

/// Its first step; returns the report's path.
pub(crate) fn load_review(it: &mut Actor, phase: &Phase, flags: &str) -> String {
    let (number, _) = numbered(&phase.folder);
    it.runs_with("gsd-tools init code-review", &[], flags).is("phase_found", true).done();
    it.learns("N", "phase_number");
    it.learns("NN", "padded_phase");
    it.learns("name", "phase_name");
    let folder = it.learns("dir", "phase_dir");
    let report = format!("{folder}/{number}-REVIEW.md");
    it.knows("report", &report);
    report
}

/// The other steps, up to the record.
pub(crate) fn review_loaded(it: &mut Actor, phase: &Phase, findings: &'static [Finding]) {
    let listed = it.runs("gsd-tools verify work {N}", &[]).json();
    let base = it.field("base");
    it.knows("base", &base);
    let files: Vec<String> = listed["files"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|file| file["change"] != "deleted")
        .filter_map(|file| Some(file["path"].as_str()?.to_owned()))
        .collect();
    it.by("Drop everything under `.planning/`");
    let mut planned = phase.plans.iter().flat_map(|plan| plan.files()).filter(|file| it.has_file(file));
    assert!(planned.all(|file| files.iter().any(|path| path == file)));
    it.knows("changed tests", &places_of(&listed["tests"]["findings"], "what"));
    it.knows("keys", &places_of(&listed["keys"], "kind"));
    spawn_reviewer(it, phase, &files, findings);
    let found = if findings.is_empty() { "clean" } else { "issues_found" };
    it.by("The file decides").runs("gsd-tools frontmatter get {report}", &[]).is("status", found).done();
    it.runs("gsd-tools commit \"docs({NN}): add code review report\"", &[]).done();
}

/// Findings of a program, in the form of the reviewer's prompt.
fn places_of(found: &Value, what: &str) -> String {
    let place =
        |one: &Value| format!("{}:{} {}", one["path"].as_str().unwrap(), one["line"], one[what].as_str().unwrap());
    let places: Vec<String> = found.as_array().into_iter().flatten().map(place).collect();
    if places.is_empty() { "none".to_owned() } else { places.join("; ") }
}

/// Step 4 of `workflows/code-review.md`.
pub(crate) fn spawn_reviewer(it: &mut Actor, phase: &Phase, files: &[String], findings: &'static [Finding]) {
    let context = format!("{}/{}-CONTEXT.md", phase.folder, numbered(&phase.folder).0);
    let mut documents = documents_of(phase);
    documents.extend(it.has_file(&context).then_some(context));
    let (documents, list, base) = (documents.join("\n"), files.join("\n"), it.known("base"));
    let (changed, keys) = (it.known("changed tests"), it.known("keys"));
    let blanks = [
        ("depth", "standard"),
        ("if any:", ""),
        ("exceptions", "none"),
        ("base, or none", base.as_str()),
        ("one a line", &list),
        ("paths, or none", "none"),
        ("path, line and what of each; or none", &changed),
        ("path and line of each, or none", &keys),
        ("PLAN and SUMMARY of each plan", &documents),
    ];
    let (files, report) = (files.to_vec(), it.known("report"));
    let name = numbered(&phase.folder).1;
    let spawn = it.spawn("=\"gsd-code-reviewer\"", &blanks, move |it| {
        reviewers::code_reviewer(it, &name, &files, &report, findings)
    });
    it.sends(spawn).done();
}

/// Plan and summary of each plan.
fn documents_of(phase: &Phase) -> Vec<String> {
    let of = |plan: &&Plan| ["PLAN", "SUMMARY"].map(|kind| format!("{}/{}-{kind}.md", phase.folder, plan.id));
    phase.plans.iter().flat_map(of).collect()
}

fn documents_of_kind(phase: &Phase, kind: &str) -> String {
    let paths: Vec<String> = phase.plans.iter().map(|plan| format!("{}/{}-{kind}.md", phase.folder, plan.id)).collect();
    paths.join("\n")
}

/// `workflows/validate-phase.md`: a README that no test compares with the program is a gap.
fn validate(it: &mut Actor, phase: &Phase) {
    it.by("and follow it for this phase").reads_workflow("validate-phase").expects("# Validate phase").done();
    it.runs("gsd-tools init validate-phase", &[])
        .is("phase_found", true)
        .is("settings.nyquist_validation", true)
        .done();
    let (number, _) = numbered(&phase.folder);
    let map = format!("{}/{number}-VALIDATION.md", phase.folder);
    it.knows("map", &map);
    for path in documents_of(phase) {
        it.by("Read `{plans}`, `{summaries}`").reads_file(&path).done();
    }
    it.runs("gsd-tools roadmap get-phase {N}", &[]).done();
    if it.field_if_any("documents.VALIDATION").is_some() {
        it.by("and `{map}`, if `documents.VALIDATION`").reads_file(&map).done();
    } else {
        it.reads("templates/validation.md").done();
        it.by("write it from the plans").writes(&map, &agents::validation(&number, phase.plans, "pending"));
    }
    chain::gate(it, "test", "passed");
    let outside = phase.plans.iter().flat_map(|plan| plan.tasks).filter(|task| !task.is_checkpoint());
    for task in outside.filter(|task| !task.check.starts_with("python3 -m unittest")) {
        it.by("the commands of rows that it does not run").shell(task.check).done();
    }
    let gap = it.has_file("README.md") && !it.has_file("test_readme.py");
    if gap {
        fill_gap(it, phase, &map);
    } else {
        it.by("Neither PARTIAL nor MISSING: step 5");
    }
    let filled = i32::from(gap);
    let audit = format!(
        "\n## Validation Audit 2026-01-06\n\n| Gaps found | Filled | Manual-only | Escalated |\n|---|---|---|---|\n\
         | {filled} | {filled} | 0 | 0 |\n"
    );
    let text = agents::validation(&number, phase.plans, "green").replace("status: verified", "status: validated");
    it.by("Command, File exists and Status of each row").writes(&map, &format!("{text}{audit}"));
    it.runs("gsd-tools commit \"docs(phase-{NN}): validate phase\"", &[]).is("committed", true).done();
}

/// Steps 3 and 4, and the commit of the auditor's files.
fn fill_gap(it: &mut Actor, phase: &Phase, map: &str) {
    it.by("| MISSING | there is none |");
    it.by("Ask **Write the tests** (recommended)").asks(
        "| Gap | Requirement | State | Test |\n|---|---|---|---|\n| 1 | FARE-03 | MISSING | test_readme.py |\n\
         1. Write the tests\n2. Leave to a person\n3. Cancel",
        "1. Write the tests",
    );
    let (plans, summaries) = (documents_of_kind(phase, "PLAN"), documents_of_kind(phase, "SUMMARY"));
    let fills = [
        ("of the map", "unittest, python3 -m unittest"),
        ("per gap", "1, FARE-03, the README shows both calls, MISSING, README.md, test_readme.py"),
        ("plans", &plans),
        ("summaries", &summaries),
        ("map", map),
    ];
    let spawn = it.spawn("=\"gsd-nyquist-auditor\"", &fills, reviewers::nyquist_auditor);
    it.sends(spawn).expects("## GAPS FILLED").done();
    it.by("Look at `git status --short`").shell("git status --short").expects("test_readme.py").done();
    it.by("New tests: run them once more").shell(reviewers::TEST_OF_README_RUN).expects("OK").done();
    if !it.has_read("references/commit-rules.md") {
        it.reads("references/commit-rules.md").done();
    }
    it.by("scope `{NN}`, type test");
    agents::commit(
        it,
        &["test_readme.py"],
        &format!("test({}): hold the README to both calls", numbered(&phase.folder).0),
    );
}

/// `workflows/secure-phase.md`: the place of the planned mitigation cannot be named.
fn secure(it: &mut Actor, phase: &Phase) {
    it.by("and follow it for this phase").reads_workflow("secure-phase").expects("# Secure phase").done();
    let loaded = it.runs("gsd-tools init secure-phase", &[]).is("phase_found", true);
    loaded.is("settings.security_enforcement", true).done();
    let (number, _) = numbered(&phase.folder);
    let report = format!("{}/{number}-SECURITY.md", phase.folder);
    it.knows("report", &report);
    it.learns("level", "settings.security_asvs_level");
    it.learns("block_on", "settings.security_block_on");
    it.knows("origin", "plan");
    it.reads("templates/security.md").done();
    for path in documents_of(phase) {
        if !it.has_read(&path) {
            it.by("from the `<threat_model>` of `{plans}`").reads_file(&path).done();
        }
    }
    it.by("| mitigate | the mitigation is in the code, at a place you can name |").by("Anything else is OPEN");
    let question = "| Threat | Severity | Disposition | State |\n|---|---|---|---|\n| T-01-01 | low | mitigate | OPEN |\n\
        1. Check all\n2. Accept the open ones\n3. Cancel";
    let is_accepted = phase.threats == Threats::Accepted;
    if is_accepted {
        it.by("**Accept the open ones**").asks(question, "2. Accept the open ones");
        it.by("ask for the reason").asks("Why is T-01-01 acceptable?", "It prints, and nothing else");
    } else {
        it.by("Ask **Check all** (recommended)").asks(question, "1. Check all");
        audit(it, phase, &report);
    }
    it.by("Write `{report}` by the template").writes(&report, &security(&number, is_accepted));
    it.runs("gsd-tools commit \"docs(phase-{NN}): verify threat mitigations\"", &[]).is("committed", true).done();
}

/// Step 4 of `workflows/secure-phase.md`.
fn audit(it: &mut Actor, phase: &Phase, report: &str) {
    let (plans, summaries) = (documents_of_kind(phase, "PLAN"), documents_of_kind(phase, "SUMMARY"));
    let fills = [
        ("rows", "| T-01-01 | tampering | greet.py | low | mitigate | prints only | OPEN | |"),
        ("plans", plans.as_str()),
        ("summaries", &summaries),
        ("report, if it exists", if it.has_file(report) { report } else { DROPPED }),
    ];
    let spawn = it.spawn("=\"gsd-security-auditor\"", &fills, reviewers::security_auditor);
    it.sends(spawn).expects("## SECURED").done();
}

/// The document of the threats; the only one is low, so it blocks nothing.
fn security(number: &str, is_accepted: bool) -> String {
    let (state, risk, closed) = if is_accepted {
        ("CLOSED", "| T-01-01 | It prints, and nothing else | the user | 2026-01-06 |", 1)
    } else {
        ("OPEN", "| None | | | |", 0)
    };
    format!(
        "---\nphase: {number}\nslug: say-goodbye\nstatus: verified\nthreats_open: 0\nasvs_level: 1\ncreated: 2026-01-06\n---\n\n\
         # Phase {number} - Security\n\n## Trust Boundaries\n\n| Boundary | From | To | Data |\n|---|---|---|---|\n\
         | command line | caller | greet.py | a name |\n\n## Threat Register\n\n\
         | Threat | STRIDE | Component | Severity | Disposition | Mitigation | Status | Evidence |\n|---|---|---|---|---|---|---|---|\n\
         | T-01-01 | tampering | greet.py | low | mitigate | prints only | {state} | greet.py |\n\n## Accepted Risks Log\n\n\
         | Threat | Reason | Accepted by | Date |\n|---|---|---|---|\n{risk}\n\n## Security Audit Trail\n\n\
         | Date | Threats | Closed | Open | By |\n|---|---|---|---|---|\n| 2026-01-06 | 1 | {closed} | {} | secure-phase |\n\n\
         ## Sign-Off\n\n- [x] Every threat has a disposition\n- [x] Accepted risks name a person and a reason\n\
         - [x] `threats_open: 0`\n\n**Approval:** verified 2026-01-06\n",
        1 - closed,
    )
}
