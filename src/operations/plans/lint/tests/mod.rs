mod variants;

use super::*;
use crate::operations::plans::commands::FoundFolder;
use crate::project::config::{Config, ConfigTexts};
use crate::project::files::MemoryFiles;

const ROADMAP: &str = "### Phase 1: A\n**Requirements**: [A-1, A-2]\n";

/// A sound plan: each fault in the tables below is one edit of it.
const SOUND: &str = r#"---
phase: 01-a
plan: 01
type: execute
wave: 1
depends_on: []
files_modified: [src/notes.ts, src/notes.test.ts]
autonomous: true
requirements: [A-1]
estimate:
  tokens: 40000
must_haves:
  truths:
    - "A note that is added is there after a restart"
  artifacts:
    - path: src/notes.ts
  key_links:
    - from: src/notes.ts
      to: src/store.ts
      via: import
---

<objective>
Notes are kept in SQLite (D-01).

Purpose: nothing that is written is lost
Output: src/notes.ts
</objective>

<context>
@src/store.ts
</context>

<tasks>
<task type="auto">
  <name>Task 1: Store notes</name>
  <files>src/notes.ts, src/notes.test.ts</files>
  <read_first>src/store.ts</read_first>
  <action>Add `addNote(text: string): Note` to src/notes.ts: it trims the text, refuses an empty one with `EmptyNote`,
  and writes the row by `store.run` (D-01).</action>
  <verify>
    <automated>npx vitest run src/notes.test.ts</automated>
    <fails_when>an empty note is stored, or a stored one is not read back</fails_when>
  </verify>
  <acceptance_criteria>
    - `addNote("")` throws `EmptyNote`
  </acceptance_criteria>
  <done>A note is read back by a second process</done>
</task>
</tasks>

<threat_model>
Trust boundaries: the text of a note

| Threat | STRIDE | Component | Severity | Disposition | Mitigation |
|---|---|---|---|---|---|
| T-01-01 | tampering | addNote | high | mitigate | Task 1: bound parameters |
</threat_model>

<success_criteria>
- The tests of src/notes.test.ts pass
</success_criteria>
"#;

const PACKAGE: &str = r#"{"scripts": {"test": "vitest run", "lint": "true"}}"#;

const FILES: &[(&str, &str)] = &[
    (".planning/ROADMAP.md", ROADMAP),
    ("src/store.ts", "export const store = 1;\n"),
    ("package.json", PACKAGE),
    ("Makefile", "test:\n\tnpx vitest run\n"),
    ("justfile", "test arg='x':\n    npx vitest run\nalias t := test\n"),
    ("web/package.json", r#"{"scripts": {"build": "vite build"}}"#),
];

fn limits(config: &str) -> PlanLimits {
    PlanLimits::of(&Config::read(ConfigTexts { project: Some(config), ..ConfigTexts::default() }).0)
}

/// The lint report of phase 1 with these additional files.
fn linted_with(config: &str, more: &[(&str, &str)]) -> LintReport {
    let files = MemoryFiles::new(FILES.iter().chain(more).copied());
    let disk = files.clone();
    let view = files.view();
    let folder = view.find_phase("1").unwrap().folder.unwrap();
    let look = |path: &str| {
        let inside = if path == "." { String::new() } else { format!("{path}/") };
        let package = disk.texts.get(&format!("{inside}package.json")).cloned();
        let found = disk.texts.keys().any(|file| file.starts_with(&inside));
        FolderFacts {
            absolute: format!("/p/{path}"),
            found: found.then_some(FoundFolder { in_project: true, package }),
        }
    };
    let is_file = |path: &str| disk.texts.contains_key(path);
    lint(&view, &folder, &limits(config), &SourceTree { folder: look, is_file }).unwrap()
}

fn linted(plan: &str) -> LintReport {
    linted_with("{}", &[(".planning/phases/01-a/01-01-PLAN.md", plan)])
}

/// The findings for `SOUND` with one edit.
fn edited(from: &str, to: &str) -> (LintReport, String) {
    assert!(SOUND.contains(from), "{from}");
    let plan = SOUND.replacen(from, to, 1);
    (linted(&plan), plan)
}

fn has(found: &[LintFinding], part: &str) -> bool {
    found.iter().any(|finding| finding.sentence.contains(part))
}

#[test]
fn a_sound_plan_reports_only_uncovered_items() {
    let report = linted(SOUND);
    assert!(report.valid && report.errors.is_empty() && report.warnings.is_empty(), "{report:?}");
    assert_eq!((report.plans, report.requirements_uncovered), (1, vec!["A-2".to_owned()]));
}

const TASK: &str = "<task type=\"auto\"><name>Task N: More</name><files>src/notes.ts</files><action>Call it</action><verify>\
    <automated>npm test</automated><fails_when>a note is lost</fails_when></verify><done>d</done></task>\n";

#[test]
fn each_fault_of_a_plan_is_an_error_that_names_its_line() {
    let tasks = |count: usize| format!("</task>\n{}</tasks>", TASK.repeat(count));
    let many: Vec<String> = (0..14).map(|number| format!("src/f{number}.ts")).collect();
    let many = format!("files_modified: [src/notes.ts, src/notes.test.ts, {}]", many.join(", "));
    let check = "<automated>npx vitest run src/notes.test.ts</automated>";
    let run = |command: &str| format!("<automated>{command}</automated>");
    let cases: Vec<(&str, &str, String, &str)> = vec![
        ("six tasks", "</task>\n</tasks>", tasks(5), "has 6 tasks"),
        ("sixteen files", "files_modified: [src/notes.ts, src/notes.test.ts]", many, "changes 16 files"),
        ("estimate", "tokens: 40000", "tokens: 900000".into(), "900000 tokens, over the 100000"),
        ("wired later", "Notes are kept in SQLite (D-01).", "v1: a static list, wired later.".into(), "\"wired\""),
        ("for now", "it trims the text", "return a static list for now; it trims the text".into(), "static list for now"),
        ("files", "<files>src/notes.ts, src", "<files>src/other.ts, src/notes.ts, src".into(), "`src/other.ts`, which `files_modified`"),
        ("bare file", "<files>src/notes.ts, src", "<files>Rakefile, src/notes.ts, src".into(), "`Rakefile`"),
        ("ls src", check, run("ls src"), "passes before the work is begun"),
        ("test -d", check, run("test -d src &amp;&amp; cat package.json").replace("&amp;", "&"), "passes before the work is begun"),
        ("|| true", check, run("npm test || true"), "cannot fail"),
        ("true", check, run("true"), "cannot fail"),
        ("echo", check, run("echo ok"), "cannot fail"),
        ("head", check, run("npm test | tail -5"), "cannot fail"),
        ("idle script", check, run("npm run lint"), "cannot fail"),
        ("prose", check, run("Check by hand that it works"), "is not a command"),
        ("no script", check, run("npm run nosuch"), "no script `nosuch`"),
        ("no script there", check, run("cd web && npm run nosuch"), "no script `nosuch`"),
        ("no target", check, run("make nosuch"), "no target `nosuch`"),
        ("no recipe", check, run("just nosuch"), "no target `nosuch`"),
        ("no test", check, run("npx mocha test/none.test.js"), "runs the test `test/none.test.js`"),
        ("no test", check, run("pytest tests/nosuch_test.py"), "runs the test `tests/nosuch_test.py`"),
        ("no fails_when", "    <fails_when>an empty note is stored, or a stored one is not read back</fails_when>\n", String::new(), "has no <fails_when>"),
        ("hollow fails_when", "an empty note is stored, or a stored one is not read back", "the command fails".into(), "says nothing"),
        ("no check", check, String::new(), "without an <automated> command"),
        ("no done", "<done>A note is read back by a second process</done>", String::new(), "missing <done>"),
        ("wave", "wave: 1", "wave: two".into(), "`wave: two` cannot be read"),
        ("autonomous", "autonomous: true", "autonomous: no-idea".into(), "`autonomous: no-idea` cannot be read"),
        ("depends_on", "depends_on: []", "depends_on: [01-07]".into(), "`01-07` is not a plan of this phase"),
        ("depends_on", "depends_on: []", "depends_on: [the importer]".into(), "`the importer` is not a plan"),
        ("no truths", "  truths:\n    - \"A note that is added is there after a restart\"\n", String::new(), "no truths"),
        ("link", "from: src/notes.ts", "from: src/none.ts".into(), "`from: src/none.ts`, which does not exist"),
        ("accepted", "| high | mitigate | Task 1: bound parameters |", "| high | accept | rare |".into(), "is `accept`"),
        ("no task", "| mitigate | Task 1: bound parameters |", "| mitigate | validation |".into(), "does not name a task"),
        ("checkpoint", "</task>\n</tasks>", "</task>\n<task type=\"checkpoint:decision\" gate=\"blocking\"><decision>d</decision><options>o</options><resume-signal>r</resume-signal></task>\n</tasks>".into(), "autonomous is not false"),
    ];
    for (name, from, to, part) in cases {
        let (report, plan) = edited(from, &to);
        assert!(!report.valid && has(&report.errors, part), "{name}: {report:?}");
        let finding = report.errors.iter().find(|finding| finding.sentence.contains(part)).unwrap();
        let line = finding.line.unwrap_or_else(|| panic!("{name}: {finding:?}"));
        assert!((1..=plan.lines().count()).contains(&line), "{name}: {finding:?}");
        assert_eq!(finding.plan.as_deref(), Some("01-01"), "{name}");
        assert_eq!(report.errors.len(), 1, "{name}: {report:?}");
    }
}

#[test]
fn each_fault_that_may_be_intended_is_a_warning() {
    let action = "it trims the text";
    let criterion = "`addNote(\"\")` throws `EmptyNote`";
    let truth = "A note that is added is there after a restart";
    let cases: Vec<(&str, &str, String, &str)> = vec![
        ("four tasks", "</task>\n</tasks>", format!("</task>\n{}</tasks>", TASK.repeat(3)), "has 4 tasks"),
        ("estimate", "tokens: 40000", "tokens: 120000".into(), "120000 tokens"),
        ("estimate", "tokens: 40000", "tokens: plenty".into(), "not a number of tokens"),
        ("placeholder", action, "show a placeholder list in the view; it trims".into(), "\"placeholder\""),
        ("placeholder", action, "return placeholder data from the form handler; it trims".into(), "\"placeholder\""),
        ("simplified", action, "build a simplified version of the parser; it trims".into(), "\"simplified\""),
        ("for now", action, "keep them in memory for now; it trims".into(), "\"for\""),
        ("stub", action, "stub the export; it trims".into(), "\"stub\""),
        ("v1", truth, "v1: static list, v2 reads the table".into(), "\"v1\""),
        ("later", action, "the index will be added later, it trims".into(), "\"added\""),
        ("TBD", action, "the limit is TBD; it trims".into(), "`TBD` leaves something open"),
        ("TBD", "Purpose: nothing", "Purpose: FIXME nothing".into(), "`FIXME` leaves something open"),
        ("TBD", "via: import", "via: TBD".into(), "`TBD` leaves something open"),
        ("???", action, "the limit is ???, it trims".into(), "`???` leaves something open"),
        ("vague", action, "handle errors properly and validate as needed, etc. It trims".into(), "\"properly\" (line "),
        ("vague", action, "handle edge cases with proper error handling; it trims".into(), "\"handle edge cases\""),
        ("vague", action, "align with the existing code; it trims".into(), "\"align with\""),
        ("vague", criterion, "it shows an appropriate message, and so on".into(), "\"appropriate\""),
        (
            "vague",
            "- The tests of src/notes.test.ts pass",
            "- errors are shown if necessary".into(),
            "\"if necessary\"",
        ),
        ("truth", truth, "bcrypt is installed".into(), "is about an installed package"),
        ("truth", truth, "bcrypt installed".into(), "is about an installed package"),
        ("truth", truth, "src/notes.ts exports addNote".into(), "is about a file"),
        ("truth", truth, "The Note model exists".into(), "is about a piece of code"),
        (
            "idle file",
            "[src/notes.ts, src",
            "[src/idle.ts, src/notes.ts, src".into(),
            "`src/idle.ts`, which no task changes",
        ),
        (
            "only there",
            "<automated>npx vitest run src/notes.test.ts<",
            "<automated>test -f src/notes.ts<".into(),
            "an empty file passes",
        ),
        ("requirements", "requirements: [A-1]", "requirements: []".into(), "the phase has A-1, A-2"),
        ("link", "to: src/store.ts", "to: src/none.ts".into(), "`to: src/none.ts`"),
        ("fence", "  and writes the row", "  ```ts\nrun()\n```\n and writes the row".into(), "fenced code block"),
        ("type", "type: execute", "type: standard".into(), "`type: standard`"),
    ];
    for (name, from, to, part) in cases {
        let (report, plan) = edited(from, &to);
        assert!(has(&report.warnings, part), "{name} {to}: {report:?}");
        let finding = report.warnings.iter().find(|finding| finding.sentence.contains(part)).unwrap();
        let line = finding.line.unwrap_or_else(|| panic!("{name}: {finding:?}"));
        assert!((1..=plan.lines().count()).contains(&line), "{name}: {finding:?}");
        assert!(report.valid, "{name} {to}: {report:?}");
        assert_eq!(report.warnings.len(), 1, "{name} {to}: {report:?}");
    }
    let bare = SOUND.split("<acceptance_criteria>").collect::<Vec<_>>();
    let rest = bare[1].split_once("</acceptance_criteria>").unwrap().1.split("<success_criteria>").next().unwrap();
    let report = linted(&format!("{}{rest}", bare[0]));
    assert!(report.valid && has(&report.warnings, "no <success_criteria>"), "{report:?}");
}

#[test]
fn a_finding_has_the_line_of_its_words() {
    let (report, plan) = edited("it trims the text, refuses", "it trims the text; for now, refuses");
    let line = report.warnings[0].line.unwrap();
    assert!(plan.lines().nth(line - 1).unwrap().contains("for now"), "{report:?}");
    let (report, plan) = edited("wave: 1", "wave: two");
    assert_eq!(plan.lines().nth(report.errors[0].line.unwrap() - 1), Some("wave: two"));
    let (report, plan) = edited("<automated>npx", "<automated>true || npx");
    assert!(plan.lines().nth(report.errors[0].line.unwrap() - 1).unwrap().contains("true || npx"), "{report:?}");
}

#[test]
fn innocent_sentences_are_not_reported() {
    for innocent in [
        "The input has the placeholder \"Search notes\" and a label",
        "Set placeholder=\"Title\" on the field",
        "`placeholder` is passed through to the textarea",
        "Replace the placeholder in src/a.ts with the real list",
        "Swap the stub from plan 01-02 for the client",
        "There is no placeholder and no stub left in src/notes.ts",
        "The email field shows a placeholder until something is typed",
        "Use bound parameters: one placeholder a value, never string concatenation",
        "The query has as many placeholders as values",
        "The placeholder route is removed",
        "An image placeholder is shown while the picture loads",
        "Call POST /v1/notes with version v1.0 of the client, never v1 tokens",
        "Mount the router at /api/v1 and document the v1 endpoint",
        "The requirements of v1 are A-1 and A-2",
        "Stub `fetch` in the test with vi.fn",
        "Write type stubs for the parser into notes.pyi",
        "Show \"TBD\" where a note has no date",
        "grep finds no TBD, FIXME or XXX",
        "The id has the form NOTE-XXX, the phone number 555-XXX-XXXX",
        "Use `a ?? b`, and `???` is refused as a title",
        "Read /etc/hosts and write to dist/etc/x",
        "Align the icon with the left edge, 8 px from the border",
        "Nothing is hard-coded for now or later",
        "A later event is drawn before an earlier one",
        "The list is static: it is part of the product",
        "Do not leave anything to be wired later",
        "Events wired later than the first render are replayed",
        "The footer shows the song for now playing",
        "The message is 'coming later, as needed'",
    ] {
        for from in ["it trims the text", "A note is read back by a second process"] {
            let (report, _) = edited(from, innocent);
            assert!(report.valid && report.warnings.is_empty(), "{innocent}: {report:?}");
        }
    }
    for truth in [
        "A user can have the app installed to the home screen",
        "The plugin is listed once it is installed",
        "notes.csv exists after an export",
        "A note exists for each day of the week that has one",
        "The page lists packages that are installed on the server, newest first, with their size",
    ] {
        let (report, _) = edited("A note that is added is there after a restart", truth);
        assert!(report.valid && report.warnings.is_empty(), "{truth}: {report:?}");
    }
}

#[test]
fn sound_checks_are_not_reported() {
    for check in [
        "npm test",
        "npm run test -- --run",
        "make test",
        "just test",
        "just t",
        "npx vitest run",
        "npx vitest run src/notes.test.ts -t adds",
        "npx vitest run notes.test.ts",
        "npx tsc --noEmit && npm test",
        "test ! -e src/store.ts",
        "test -f src/store.ts && grep -q addNote src/store.ts",
        "cd web && npm run build",
        "test \"$(grep -c addNote src/store.ts)\" -ge 1",
        "node --test",
        "cargo test",
        "MISSING — Wave 0 writes it",
        "npm run build --prefix web",
        "git diff --exit-code src/store.ts",
        "curl -fsS http://localhost:3000/health | grep -q ok",
    ] {
        let (report, _) = edited("npx vitest run src/notes.test.ts", check);
        assert!(report.valid && report.warnings.is_empty(), "{check}: {report:?}");
    }
}

#[test]
fn files_and_folders_are_listed_in_many_ways() {
    for (listed, files) in [
        ("[src/]", "src/notes.ts, src/a/b.ts"),
        ("[src/*.ts]", "src/notes.ts"),
        ("[\"src/**/*.ts\"]", "src/a/b.ts"),
        ("[./src/notes.ts]", "src/notes.ts"),
        ("[src/notes.ts]", "\n- `src/notes.ts` (new)\n"),
        ("[src/notes.ts]", "src/notes.ts, .planning/phases/01-a/01-VALIDATION.md"),
        ("[src/notes.ts, src/notes.test.ts]", "none (only checks)"),
        ("[]", "n/a"),
    ] {
        let plan = SOUND.replace("[src/notes.ts, src/notes.test.ts]", listed);
        let plan = plan.replace("<files>src/notes.ts, src/notes.test.ts</files>", &format!("<files>{files}</files>"));
        let report = linted(&plan);
        assert!(!has(&report.errors, "files_modified"), "{listed} {files}: {report:?}");
    }
}

#[test]
fn settings_decide_what_a_plan_needs() {
    let at = ".planning/phases/01-a/01-01-PLAN.md";
    let unguarded =
        format!("{}{}", SOUND.split("<threat_model>").next().unwrap(), SOUND.split("</threat_model>").nth(1).unwrap());
    assert!(has(&linted(&unguarded).errors, "no <threat_model>"));
    let off = linted_with(r#"{"workflow": {"security_enforcement": false}}"#, &[(at, &unguarded)]);
    assert!(off.valid && off.warnings.is_empty(), "{off:?}");
    let accepted = SOUND.replace("| high | mitigate | Task 1: bound parameters |", "| high | accept | rare |");
    for (from, valid) in [("critical", true), ("none", true), ("high", false), ("low", false)] {
        let config = format!(r#"{{"workflow": {{"security_block_on": "{from}"}}}}"#);
        assert_eq!(linted_with(&config, &[(at, &accepted)]).valid, valid, "{from}");
    }
    let budget = linted_with(r#"{"workflow": {"smart_zone_tokens": 30000}}"#, &[(at, SOUND)]);
    assert!(has(&budget.warnings, "over the 30000"), "{budget:?}");
    let small = linted_with(r#"{"workflow": {"smart_zone_tokens": 20000}}"#, &[(at, SOUND)]);
    assert!(has(&small.errors, "over the 20000"), "{small:?}");
    let asks = SOUND.replace("autonomous: true", "autonomous: false").replace(
        "</task>\n</tasks>",
        "</task>\n<task type=\"checkpoint:human-verify\" gate=\"blocking\"><what-built>w</what-built><how-to-verify>h</how-to-verify>\
         <resume-signal>r</resume-signal></task>\n</tasks>",
    );
    assert!(has(&linted_with("{}", &[(at, &asks)]).warnings, "human_verify_mode"));
    let between = linted_with(r#"{"workflow": {"human_verify_mode": "mid-flight"}}"#, &[(at, &asks)]);
    assert!(between.valid && between.warnings.is_empty(), "{between:?}");
    let waits = asks.replace("gate=\"blocking\"", "gate=\"blocking-human\"");
    assert!(linted_with("{}", &[(at, &waits)]).warnings.is_empty());
}

#[test]
fn plans_are_compared_with_each_other() {
    let one = (".planning/phases/01-a/01-01-PLAN.md", SOUND);
    let with = |second: &str| linted_with("{}", &[one, (".planning/phases/01-a/01-02-PLAN.md", second)]);
    let later = SOUND.replace("plan: 01", "plan: 02").replace("T-01-01", "T-01-02");
    let later = later.replace("src/notes.ts", "src/list.ts").replace("src/notes.test.ts", "src/list.test.ts");
    let sound = with(&later);
    assert!(sound.valid && sound.warnings.is_empty(), "{sound:?}");
    let shared = with(&later.replace("files_modified: [", "files_modified: [src/notes.ts, "));
    assert!(has(&shared.errors, "all write `src/notes.ts`"), "{shared:?}");
    let same = later.replace("T-01-02", "T-01-01").replace("| tampering |", "| spoofing |");
    let threats = with(&same);
    assert!(threats.valid && has(&threats.warnings, "01-01 and 01-02 each have a threat T-01-01"), "{threats:?}");
    // Files written by an earlier plan exist; those written by a plan of the same wave do not.
    let uses = later.replace("run src/list.test.ts", "run src/list.test.ts && node src/notes.ts");
    assert!(has(&with(&uses).errors, "`src/notes.ts` does not exist"));
    let waits = uses.replace("wave: 1", "wave: 2").replace("depends_on: []", "depends_on: [01-01]");
    assert!(with(&waits).valid, "{:?}", with(&waits));
    let early = later.replace("depends_on: []", "depends_on: [01-01]");
    assert!(has(&with(&early).errors, "its dependencies put it in wave 2"));
    let late = later.replace("wave: 1", "wave: 3").replace("depends_on: []", "depends_on: [01-01]");
    assert!(with(&late).valid && has(&with(&late).warnings, "its dependencies put it in wave 2"));
}

#[test]
fn files_of_earlier_phases_and_dependencies_are_known() {
    let before = (
        ".planning/phases/00-base/00-01-PLAN.md",
        "---\nphase: 00-base\nplan: 01\nfiles_modified: [src/early.ts]\n---\n",
    );
    let plan = SOUND.replace("to: src/store.ts", "to: src/early.ts").replace("depends_on: []", "depends_on: [00-01]");
    let plan = plan.replace("run src/notes.test.ts", "run src/notes.test.ts && node src/early.ts");
    let report = linted_with("{}", &[before, (".planning/phases/01-a/01-01-PLAN.md", &plan)]);
    assert!(report.valid && report.warnings.len() == 1, "{report:?}");
    assert!(has(&report.warnings, "`00-01` is not a plan of this phase"));
}

#[test]
fn a_plan_that_is_done_is_left_out_with_its_checks() {
    let gone = SOUND.replace("npx vitest run src/notes.test.ts", "node gone.js");
    let linted = |more: &[(&str, &str)]| {
        let open = SOUND.replace("plan: 01", "plan: 02").replace("src/notes", "src/list").replace("T-01-01", "T-01-02");
        let plans =
            [(".planning/phases/01-a/01-01-PLAN.md", gone.as_str()), (".planning/phases/01-a/01-02-PLAN.md", &open)];
        let report = linted_with("{}", &[&plans, more].concat());
        (report.valid, report.plans, report.errors.len())
    };
    let summary = ".planning/phases/01-a/01-01-SUMMARY.md";
    assert_eq!(linted(&[]), (false, 2, 1));
    assert_eq!(linted(&[(summary, "---\nstatus: complete\n---\n")]), (true, 1, 0));
    assert_eq!(linted(&[(summary, "---\nstatus: blocked\n---\n")]), (false, 2, 1));
}

#[test]
fn requirements_are_those_of_the_current_milestone_even_if_it_is_folded() {
    let files = [
        (".planning/STATE.md", "---\nmilestone: v1.0\n---\n\n# S\n"),
        (
            ".planning/ROADMAP.md",
            "<details>\n<summary>v1.0 MVP</summary>\n\n### Phase 1: A\n**Requirements**: [A-1, A-2]\n\n</details>\n",
        ),
        (".planning/phases/01-a/01-01-PLAN.md", SOUND),
    ];
    let view = ProjectView::of(files);
    let folder = view.find_phase("1").unwrap().folder.unwrap();
    assert_eq!(requirements_of(&view, &folder).unwrap(), ["A-1", "A-2"]);
    assert!(view.phase_named("1").unwrap().is_some());
    let without = view.after(&{
        let mut edits = crate::project::view::Edits::default();
        edits.removals.push(".planning/phases/01-a/01-01-PLAN.md".to_owned());
        edits.emptied.push(".planning/phases/01-a".to_owned());
        edits
    });
    assert!(without.find_phase("1").unwrap().folder.is_none());
    assert!(without.phase_named("1").unwrap().is_some(), "the roadmap names it");
}

#[test]
fn unreadable_and_undecided_decisions_are_found() {
    let report = |context: &str| {
        let plan = (".planning/phases/01-a/01-01-PLAN.md", SOUND);
        linted_with("{}", &[plan, (".planning/phases/01-a/01-CONTEXT.md", context)])
    };
    let uncovered = report("<decisions>\n- **D-01:** one\n- **D-02:** two\n</decisions>\n");
    assert_eq!(uncovered.decisions_uncovered, ["D-02"]);
    let unreadable = report("<decisions>\n- **D-01:** one\n- D-02: two\n</decisions>\n");
    assert!(!unreadable.valid && unreadable.errors[0].sentence.contains("line 3"), "{unreadable:?}");
    let asked = report("<decisions>\n- **D-01:** one or two?\n</decisions>\n");
    assert!(asked.valid && asked.warnings[0].sentence.contains("D-01 is not decided"), "{asked:?}");
}

#[test]
fn a_broken_plan_is_named_with_each_finding() {
    let plan = SOUND.replace("<name>Task 1: Store notes</name>", "").replace("depends_on: []", "depends_on: [01-01]");
    let report = linted(&plan);
    assert!(!report.valid);
    assert_eq!(report.errors[0].plan.as_deref(), Some("01-01"));
    assert!(has(&report.errors, "depend on each other in a cycle"), "{report:?}");
}

#[test]
fn the_plan_of_a_quick_task_is_checked_by_its_text() {
    let files = MemoryFiles::new(FILES.iter().copied());
    let disk = SourceTree {
        folder: |path: &str| FolderFacts { absolute: path.to_owned(), found: None },
        is_file: |path: &str| FILES.iter().any(|(file, _)| *file == path),
    };
    let at = ".planning/quick/1-a/1-PLAN.md";
    let view = files.view();
    assert!(is_quick(view.layout(), at) && is_quick(view.layout(), &format!("./{at}")));
    for other in [".planning/phases/01-quick/01-01-PLAN.md", "quick/a-PLAN.md", ".planning/phases/quick-PLAN.md"] {
        assert!(!is_quick(view.layout(), other), "{other}");
    }
    let plan = SOUND.replace("requirements: [A-1]", "requirements: []");
    let plan = plan.split("<threat_model>").next().unwrap();
    let sound = quick(&view, at, plan, &limits("{}"), &disk).unwrap();
    assert!(sound.valid, "{sound:?}");
    for (from, to, part) in [
        ("npx vitest run src/notes.test.ts", "npm test || true", "cannot fail"),
        ("an empty note is stored, or a stored one is not read back", "it fails", "says nothing"),
        ("it trims the text", "static list for now", "for now"),
        ("<files>src/notes.ts", "<files>src/other.ts", "src/other.ts"),
    ] {
        let report = quick(&view, at, &plan.replace(from, to), &limits("{}"), &disk).unwrap();
        let told = report.errors.iter().any(|error| error.contains(part) && error.starts_with("line "));
        assert!(!report.valid && told, "{to}: {report:?}");
    }
}

proptest::proptest! {
    #[test]
    fn any_plan_is_linted(
        front in "(wave: [a1]|must_haves:\n  truths: \\[x, v1\\]|estimate:\n  tokens: [9x]{1,3}|depends_on: \\[[01-]{1,5}\\]|\n|files_modified: a\\*){0,6}",
        body in "(<task type=\"auto\">|</task>|<action>|</action>|<automated>|</automated>|cd a &&|ls |\\|\\| true|<threat_model>|</threat_model>|\
            \\|T-1\\|high\\|accept\\||placeholder|for now|é|```|`|\"|\\?\\?\\?|TBD|\n|<files>|</files>|a/\\*\\*| ){0,40}",
    ) {
        let plan = format!("---\nphase: 1\n{front}\n---\n{body}");
        let report = linted(&plan);
        let lines = plan.lines().count() + 1;
        for finding in report.errors.iter().chain(&report.warnings) {
            proptest::prop_assert!(finding.line.is_none_or(|line| (1..=lines).contains(&line)), "{finding:?}");
        }
    }
}

#[test]
fn a_folder_without_a_plan_is_not_valid_and_one_without_open_plans_says_so() {
    let report = linted_with("{}", &[(".planning/phases/01-a/01-CONTEXT.md", "# Context\n")]);
    assert!(!report.valid && has(&report.errors, "there is no plan in `.planning/phases/01-a`"), "{report:?}");
    let done = "---\nphase: 01-a\nplan: 01\n---\n# Done\n\n## Task Commits\n\n1. Task 1 - `abc1234` (feat)\n";
    let plan = (".planning/phases/01-a/01-01-PLAN.md", SOUND);
    let report = linted_with("{}", &[plan, (".planning/phases/01-a/01-01-SUMMARY.md", done)]);
    assert!(report.valid && has(&report.warnings, "every plan here is done"), "{report:?}");
}
