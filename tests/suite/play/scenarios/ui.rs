//! A phase with a user interface: `/gsd-ui-phase N` before it is planned, `/gsd-ui-review N` once it is built.

use serde_json::{Value, json};

use super::Stage;
use super::agents::{Plan, Task};
use super::chain::TRACKING;
use crate::play::actor::{Actor, DROPPED};

const PHASE: &str = "01-greeting-page";
const FOLDER: &str = ".planning/phases/01-greeting-page";

const PAGE: &str = "<!doctype html>\n<html lang=\"en\">\n<title>Greet</title>\n<link rel=\"stylesheet\" href=\"page.css\">\n\
    <form>\n  <label for=\"name\">Name</label>\n  <input id=\"name\" required>\n  <button>Greet me</button>\n</form>\n\
    <output></output>\n<script>\n  document.forms[0].onsubmit = (event) => {\n    event.preventDefault();\n    \
    document.querySelector(\"output\").textContent = `Hello, ${name.value}!`;\n  };\n</script>\n</html>\n";
const STYLE: &str =
    "body { font: 16px/24px sans-serif; margin: 16px; }\nbutton { background: #1d4ed8; color: #fff; }\n";
const TEST_PAGE: &str = "import pathlib\nimport unittest\n\n\nclass Page(unittest.TestCase):\n    \
    def test_it_has_a_labelled_field(self):\n        page = pathlib.Path(\"page.html\").read_text()\n        \
    self.assertIn('<label for=\"name\">', page)\n";

const PAGE_PLAN: Plan = Plan {
    id: "01-01",
    wave: 1,
    depends_on: &[],
    requirements: &["PAGE-01"],
    objective: "A page greets who is named",
    truth: "The page greets whoever is typed into its form",
    tasks: &[Task {
        name: "Make the page",
        kind: "auto",
        files: &[("page.html", PAGE), ("page.css", STYLE), ("test_page.py", TEST_PAGE)],
        check: "python3 -m unittest test_page",
        commit: ("feat", "greet on a page"),
    }],
    asks_a_person: false,
    closes: None,
};

/// The researcher's first button text, the checker's proposal, and the person's decision.
const VAGUE: &str = "Submit";
const CLEAR: &str = "Say hello (default)";
const DECIDED: &str = "Greet me";

pub(crate) fn ui(stage: &mut Stage) {
    stage.has("greet");
    stage.has("page");
    assert_eq!(steps(stage, "plan:pre"), ["ui-phase", "gsd-pattern-mapper"]);
    stage.types("ui-phase", "1", design);
    stage.expect_tidy();
    stage.expect_agreement();
    assert_eq!(steps(stage, "plan:pre"), ["gsd-pattern-mapper"]);
    let contract = stage.context.read(&format!("{FOLDER}/01-UI-SPEC.md"));
    assert!(contract.contains("status: approved") && contract.contains(DECIDED), "{contract}");
    stage.is_built(PHASE, &[&PAGE_PLAN]);
    stage.types("ui-review", "1", review);
    stage.expect_tidy();
    stage.expect_agreement();
    assert!(stage.context.read(&format!("{FOLDER}/01-UI-REVIEW.md")).contains("score: 21/24"));
}

/// The names of the steps at a point of the phase.
fn steps(stage: &Stage, point: &str) -> Vec<String> {
    let answer = stage.asks_program(&format!("loop enter {point} 1"));
    let steps = answer["steps"].as_array().into_iter().flatten();
    let name = |step: &Value| step["skill"].as_str().or(step["agent"].as_str()).unwrap_or_default().to_owned();
    steps.map(name).collect()
}

/// How both workflows begin.
fn begin(it: &mut Actor, verb: &str) {
    it.knows("phase", "1");
    it.reads("references/ui.md").done();
    it.runs(verb, &[]).is("phase_found", true).done();
    it.learns("N", "number");
    it.learns("NN", "padded_phase");
    it.learns("name", "name");
    it.learns("goal", "goal");
}

/// `/gsd-ui-phase 1`: a contract, an objection, a revision, and a choice of the person.
fn design(it: &mut Actor) -> String {
    begin(it, "gsd-tools init ui-phase");
    let folder = super::chain::expected_folder(it);
    it.knows("dir", &folder);
    let spec = format!("{folder}/01-UI-SPEC.md");
    it.knows("spec", &spec);
    it.even_if_it_fails().runs("gsd-tools check ui-plan-gate", &[]).is("frontend", true).done();
    it.by("| `has_context` false | ⚠ line");
    send_researcher(it, "new", "", &spec, VAGUE);
    it.by("Ask them in one go").asks("The button?\n1. Say hello\n2. Greet me", "2. Greet me");
    send_checker(it, 1, "", &spec, VAGUE);
    it.by("`## ISSUES FOUND`: step 2 in mode revision");
    send_researcher(it, "revision", ISSUE, &spec, CLEAR);
    it.by("enter them in `{spec}` yourself and take the mark `(default)` away").edits(&spec, CLEAR, DECIDED);
    send_checker(it, 2, ISSUE, &spec, DECIDED);
    it.by("its Approval becomes `approved {date}`").edits(
        &spec,
        "|---|---|\n\n**Approval:** pending",
        "|---|---|\n| copywriting | PASS |\n\n**Approval:** approved 2026-01-06",
    );
    it.runs("gsd-tools frontmatter set {spec}", &[]).done();
    it.runs("UI-SPEC approved", &[]).is("recorded", true).done();
    it.runs("UI design contract", &[("tracking", TRACKING)]).is("committed", true).done();
    it.by("Next Up: `");
    "Next Up: /gsd-plan-phase 1".to_owned()
}

const ISSUE: &str = "copywriting BLOCK, Copywriting Contract, Primary action: the button says what happens";

fn send_researcher(it: &mut Actor, mode: &str, issues: &str, spec: &str, label: &'static str) {
    let there = if mode == "new" { DROPPED } else { spec };
    let fills = [
        ("new | update | revision", mode),
        ("each that exists of `documents`", there),
        ("revision", if issues.is_empty() { DROPPED } else { "" }),
        ("the checker's lines", issues),
        ("if any", ""),
        ("the user's", "none"),
    ];
    let (path, mode) = (spec.to_owned(), mode.to_owned());
    let spawn = it.spawn("=\"gsd-ui-researcher\"", &fills, move |it| ui_researcher(it, &mode, &path, label));
    it.sends(spawn).expects("## UI-SPEC COMPLETE").done();
}

/// gsd-ui-researcher on a page of one form.
fn ui_researcher(it: &mut Actor, mode: &str, spec: &str, label: &str) -> String {
    begin_agent(it);
    it.by("the project instruction file").reads_file("CLAUDE.md").done();
    it.reads("templates/ui-spec.md").done();
    it.reads("references/ui-considerations.md").done();
    if mode == "revision" {
        it.by("`mode: revision` changes what the issues name and nothing else").edits(spec, VAGUE, label);
        return format!("## UI-SPEC COMPLETE\n{spec}: the button says what happens\nOpen choices: none");
    }
    it.by("List the component folders").shell("git ls-files").lacks("components.json").done();
    it.by("Write with the Write tool to the path in the prompt").writes(spec, &contract(label));
    format!("## UI-SPEC COMPLETE\n{spec}\n**Open choices**: the words on the button, {label} (default), {DECIDED}")
}

fn begin_agent(it: &mut Actor) {
    it.by("Read every path under `<required_reading>`").reads_listed("<required_reading>", "</required_reading>");
}

fn send_checker(it: &mut Actor, round: usize, issues: &str, spec: &str, label: &'static str) {
    let round = round.to_string();
    let fills = [
        ("n", round.as_str()),
        ("each that exists of `documents`", DROPPED),
        ("from round 2 on", if issues.is_empty() { DROPPED } else { "" }),
        ("its lines", issues),
    ];
    let spec = spec.to_owned();
    let spawn = it.spawn("=\"gsd-ui-checker\"", &fills, move |it| ui_checker(it, &spec, label));
    let heading = if label == VAGUE { "## ISSUES FOUND" } else { "## UI-SPEC VERIFIED" };
    it.sends(spawn).expects(heading).done();
}

/// gsd-ui-checker, which objects to a vague button text.
fn ui_checker(it: &mut Actor, spec: &str, label: &str) -> String {
    begin_agent(it);
    it.reads("references/ui-considerations.md").done();
    let table = "| Dimension | Verdict | Why |\n|---|---|---|\n| visuals | PASS | |";
    if label == VAGUE {
        it.by("a label \"Submit\", \"OK\", \"Click here\"").reads_file(spec).expects(VAGUE).done();
        return format!("## ISSUES FOUND\n\n{table}\n| copywriting | BLOCK | a button says {VAGUE} |\n\n{ISSUE}");
    }
    it.by("check that each issue of the last round is gone").reads_file(spec).lacks(VAGUE).done();
    format!("## UI-SPEC VERIFIED\n\n{table}\n| copywriting | PASS | |")
}

/// The contract of the page, in the form of `templates/ui-spec.md`.
fn contract(label: &str) -> String {
    format!(
        "---\nphase: 01\nslug: greeting-page\nstatus: draft\nshadcn_initialized: false\npreset: none\ncreated: 2026-01-06\n---\n\n\
         # Phase 1: Greeting Page - UI Design Contract\n\n## Design System\n\n| Property | Value | Source |\n|---|---|---|\n\
         | Component library | none | nothing is installed |\n\n## Component Inventory\n\n\
         | Component | Use here | Origin | Path or reason |\n|---|---|---|---|\n| Form | name and button | new | there is none |\n\n\
         ## Spacing Scale\n\n| Token | px | Use |\n|---|---|---|\n| m | 16 | around everything |\n\n## Typography\n\n\
         | Role | Size | Weight | Line height |\n|---|---|---|---|\n| Text | 16 | 400 | 24 |\n\n## Color\n\n\
         | Role | Value | Share | Use |\n|---|---|---|---|\n| Ground | #ffffff | 60 % | page |\n\
         | Accent | #1d4ed8 | 10 % | only: button |\n\n## Copywriting Contract\n\n| Element | Text |\n|---|---|\n\
         | Primary action | {label} |\n| Error: no name | Who should be greeted? Type a name |\n\n## UI Considerations\n\n\
         | Screen or component | Category | Answer | State |\n|---|---|---|---|\n| Form | input | checked on sending | answered |\n\n\
         ## Registry Safety\n\n| Component | Registry | Brings in | Reviewed |\n|---|---|---|---|\n\n## Checker Sign-Off\n\n\
         | Dimension | Verdict |\n|---|---|\n\n**Approval:** pending\n"
    )
}

/// `/gsd-ui-review 1`: an audit of the code only.
fn review(it: &mut Actor) -> String {
    begin(it, "gsd-tools init ui-review");
    let folder = it.learns("dir", "phase_dir");
    let report = format!("{folder}/01-UI-REVIEW.md");
    it.knows("report", &report);
    it.knows("shots", ".planning/ui-reviews/01");
    let gate = it.even_if_it_fails().runs("gsd-tools check ui-plan-gate", &[]);
    gate.is("frontend", true).is("hasUiSpec", true).done();
    it.by("Otherwise nothing; do not start it");
    let paths = [format!("{folder}/01-01-SUMMARY.md"), format!("{folder}/01-01-PLAN.md")].join("\n");
    let contract = it.field("documents.UI-SPEC");
    let fills = [
        ("each that exists of `documents`", contract.as_str()),
        ("paths in `summaries`", &paths),
        ("address, or unknown", "unknown"),
        ("if any", ""),
        ("errors", "none"),
    ];
    let path = report.clone();
    let spawn = it.spawn("=\"gsd-ui-auditor\"", &fills, move |it| ui_auditor(it, &path));
    it.sends(spawn).expects("## UI REVIEW COMPLETE").done();
    it.by("The file decides").shell(&format!("ls {report}")).done();
    it.runs("UI audit review", &[]).is("committed", true).done();
    it.by("else `/gsd-progress`");
    "Next Up: /gsd-progress".to_owned()
}

/// gsd-ui-auditor, which examines the code.
fn ui_auditor(it: &mut Actor, report: &str) -> String {
    begin_agent(it);
    it.by("Install nothing, start no server");
    for path in ["page.html", "page.css"] {
        it.by("every file the SUMMARYs name that people see").reads_file(path).done();
    }
    let pillars = json!({"Copywriting": 3, "Visuals": 4, "Color": 4, "Typography": 4, "Spacing": 3, "Experience": 3});
    let rows: Vec<String> = pillars
        .as_object()
        .into_iter()
        .flatten()
        .map(|(pillar, score)| format!("| {pillar} | {score} | page.html:5 |"))
        .collect();
    let text = format!(
        "---\nphase: 01\nreviewed: 2026-01-06\nbaseline: UI-SPEC\nscreenshots: none\nscore: 21/24\nblockers: 0\n---\n\n\
         # Phase 1: UI Review\n\n## Pillar Scores\n| Pillar | Score | Why |\n|---|---|---|\n{}\n\n## Top 3 Priority Fixes\n\
         1. The error text of the contract - nobody reads it - page.html:7\n\n## Detailed Findings\n### Copywriting\n\
         - warning: page.html:7 - the browser's own words - those of the contract\n\n## Files Audited\npage.html, page.css\n",
        rows.join("\n")
    );
    it.by("Write `{dir}/{NN}-UI-REVIEW.md`").writes(report, &text);
    format!("## UI REVIEW COMPLETE\nScore: 21/24   Blockers: 0   Report: {report}")
}
