//! Other forms of the same faults, and sound plans that resemble them: one row for each form.

use super::*;

const CHECK: &str = "npx vitest run src/notes.test.ts";
const ACTION: &str = "it trims the text";
const DONE: &str = "A note is read back by a second process";
const CRITERION: &str = "`addNote(\"\")` throws `EmptyNote`";
const TRUTH: &str = "A note that is added is there after a restart";
const FAILS: &str = "an empty note is stored, or a stored one is not read back";
const LISTED: &str = "<files>src/notes.ts, src/notes.test.ts</files>";

/// Additional files of the project for commands.
const MORE: &[(&str, &str)] = &[
    ("packages/api/package.json", r#"{"name": "@x/api", "scripts": {"e2e": "playwright test"}}"#),
    ("Cargo.toml", "[package]\nname = \"x\"\n"),
    ("tests/known.rs", ""),
    ("go.mod", "module x\n"),
    ("cmd/x/main.go", "package main\n"),
    ("scripts/check.sh", "npm test\n"),
    ("scripts/__init__.py", ""),
    ("Taskfile.yml", "tasks:\n  lint:\n    cmds: [true]\n"),
    ("composer.json", r#"{"scripts": {"check": "phpunit"}}"#),
    ("deno.json", r#"{"tasks": {"check": "deno test"}}"#),
];

fn with_more(plan: &str) -> LintReport {
    let plan = (".planning/phases/01-a/01-01-PLAN.md", plan);
    linted_with("{}", &[MORE, &[plan]].concat())
}

fn checked(check: &str) -> LintReport {
    with_more(&SOUND.replacen(CHECK, check, 1))
}

#[test]
fn a_script_or_a_file_that_does_not_exist_is_an_error() {
    for check in [
        "npm run -s nosuch",
        "npm -w packages/api run nosuch",
        "npm run nosuch --workspace=@x/api",
        "npm run nosuch --workspaces",
        "npm run 'nosuch'",
        "npm exec -- tsx scripts/nosuch.ts",
        "pnpm nosuch",
        "pnpm --filter @x/api run nosuch",
        "pnpm --filter api nosuch",
        "pnpm -C packages/api run nosuch",
        "pnpm -r run nosuch",
        "yarn nosuch",
        "yarn workspace @x/api nosuch",
        "bun run nosuch",
        "bun scripts/nosuch.ts",
        "npx turbo run nosuch",
        "deno task nosuch",
        "make -s nosuch",
        "make -C web nosuch",
        "make test nosuch",
        "make -j 4 nosuch",
        "just -f justfile nosuch",
        "task nosuch",
        "composer nosuch",
        "composer run-script nosuch",
        "uv run python scripts/nosuch.py",
        "uv run scripts/nosuch.py",
        "poetry run python -u scripts/nosuch.py",
        "python3 -m scripts.nosuch",
        "./scripts/nosuch.sh",
        "scripts/nosuch.sh --fast",
        "source scripts/nosuch.sh",
        "npx tsx scripts/nosuch.ts",
        "go run ./cmd/nosuch",
        "go test ./internal/nosuch/...",
        "cargo run --bin nosuch",
        "cargo test --test nosuch",
        "cargo run --example=nosuch",
        "bash -c 'npm run nosuch'",
        "timeout 60 npm run nosuch",
        "env CI=1 npm run nosuch",
        "(cd web && npm run nosuch)",
        "if npm run nosuch; then exit 1; fi",
        "./gradlew test",
        "$ npm run nosuch",
        "`npm run nosuch`",
        "docker compose -f nosuch.yml run test",
        "npx vitest run --config nosuch.config.ts",
    ] {
        let report = checked(check);
        assert!(has(&report.errors, "cannot run"), "{check}: {report:?}");
        assert_eq!(report.errors.len(), 1, "{check}: {report:?}");
    }
    for check in [
        "pnpm vitest run src/nosuch.test.ts",
        "pnpm exec vitest run src/nosuch.test.ts",
        "npx jest nosuch",
        "python3 -m nosuch",
        "python3 -m unittest nosuch.test_a",
    ] {
        let report = checked(check);
        assert!(
            report.valid && has(&report.warnings, "neither this plan nor an earlier one writes it"),
            "{check}: {report:?}"
        );
    }
}

#[test]
fn files_that_a_plan_writes_or_a_package_has_count_as_existing() {
    for check in [
        "npm run e2e -w packages/api",
        "npm run e2e --workspace=@x/api",
        "npm run e2e --workspaces --if-present",
        "pnpm --filter @x/api e2e",
        "pnpm -r run e2e",
        "pnpm --filter './packages/*' run e2e",
        "yarn workspace @x/api e2e",
        "(cd web && npm run build)",
        "(cd packages/api; npm run e2e)",
        "cd src && npm test",
        "npm run 'test'",
        "npm run \"test\"",
        "pnpm install && pnpm test",
        "pnpm vitest run src/notes.test.ts",
        "yarn tsc --noEmit",
        "npx turbo run e2e",
        "make -s test",
        "just -f justfile test",
        "task lint",
        "composer check",
        "composer validate",
        "deno task check",
        "go test ./...",
        "go run ./cmd/x -v",
        "cargo test --test known",
        "cargo run --bin x",
        "bash scripts/check.sh",
        "./scripts/check.sh | tail -5; test -s out.txt",
        "python3 -m unittest discover -s tests",
        "python3 -m http.server --help >/dev/null && npm test",
        "source .venv/bin/activate && npm test",
        "./target/debug/x --check",
        "npm run test && cat dist/out.txt",
        "gofmt -l . | grep -q . && exit 1 || true",
        "npx jest notes",
        "docker compose run web npm test",
    ] {
        let report = checked(check);
        assert!(report.valid, "{check}: {report:?}");
    }
    let writes = |file: &str, check: &str| {
        let plan = SOUND.replace("src/notes.test.ts]", &format!("src/notes.test.ts, {file}]"));
        let plan = plan.replace("src/notes.test.ts</files>", &format!("src/notes.test.ts, {file}</files>"));
        with_more(&plan.replacen(CHECK, check, 1))
    };
    for (file, check) in [
        ("scripts/new.sh", "timeout 60 ./scripts/new.sh"),
        ("scripts/new.py", "uv run scripts/new.py"),
        ("scripts/new.py", "python3 -m scripts.new"),
        ("package.json", "pnpm fresh"),
        ("packages/b/package.json", "npm run fresh -w packages/b"),
        ("internal/a/a.go", "go test ./internal/a"),
        ("tests/fresh.rs", "cargo test --test fresh"),
        ("src/bin/fresh.rs", "cargo run --bin fresh"),
        ("web/Makefile", "make -C web fresh"),
        ("Taskfile.yml", "task fresh"),
    ] {
        let report = writes(file, check);
        assert!(report.valid, "{check}: {report:?}");
    }
}

#[test]
fn a_check_that_cannot_fail_or_passes_before_the_work_is_found() {
    for check in [
        "npm test 2>&1 | tee out.log",
        "(npm test || true)",
        "{ npm test || true; }",
        "npm test || { echo failed; }",
        "npm test || (echo failed)",
        "set +e; npm test; exit 0",
        "npm test & wait",
        "git rev-parse HEAD",
        "[[ -d src ]]",
        "test -s src/store.ts",
        "ls src | grep store",
        "bash -c \"ls src\"",
        "`ls src`",
        "$ ls src",
        "```bash\nls src\n```",
        "(ls src)",
        "/bin/ls src",
    ] {
        let report = checked(check);
        assert!(!report.valid, "{check}: {report:?}");
    }
    for (check, part) in [
        ("npx vitest run --passWithNoTests", "nothing to run"),
        ("npm test --if-present", "nothing to run"),
        ("cargo test --no-run", "runs none of them"),
        ("cargo test -- --list", "runs none of them"),
        ("cargo test | grep -c ok", "only `grep` decides"),
        ("npm test | grep -v fail", "only `grep` decides"),
        ("grep -q store src/store.ts", "passes before the work is begun"),
        ("grep -r store src", "passes before the work is begun"),
        ("command -v node", "something is installed"),
        ("which node", "something is installed"),
        ("npm ls vitest", "something is installed"),
    ] {
        let report = checked(check);
        assert!(report.valid && has(&report.warnings, part), "{check}: {report:?}");
    }
    for check in ["set -o pipefail; npm test | grep -q ok", "! grep -q store src/store.ts", "test -s src/notes.ts"] {
        let report = checked(check);
        assert!(report.valid && report.warnings.is_empty(), "{check}: {report:?}");
    }
}

#[test]
fn sentences_that_only_resemble_a_fault_are_not_reported() {
    for innocent in [
        "The TODO list app shows its todos",
        "A kanban board has the columns TODO, IN PROGRESS and DONE",
        "Parse lines that begin with TODO or FIXME and list them",
        "Store the string 'TBD' in `events.venue` when the venue is empty",
        "The type is to be determined by the flag",
        "Style ::placeholder in gray and pass `placeholder` on",
        "Fake timers advance 10 s in the test",
        "Never return mock data in production",
        "Hardcoded in the fixture: 3 notes",
        "A temporary redirect (307) leads to /login",
        "Wire the button to the later of the two handlers",
        "The job is retried later: after 5, 25 and 125 s",
        "Return 501 with the text not implemented for PATCH",
        "The version v1 of the file format has 4 magic bytes",
        "`for now()` iterates from now",
        "suitable is one of the enum's values",
        "Add validation of the title: 1 to 200 letters",
        "The token is wired through the header",
    ] {
        for part in [ACTION, DONE, CRITERION] {
            let (report, _) = edited(part, innocent);
            assert!(report.valid && report.warnings.is_empty(), "{innocent} {part}: {report:?}");
        }
    }
    for truth in [
        "A user installs the plugin and sees it listed",
        "The search is available to guests",
        "Search is available",
        "A CSV can be imported",
        "The page lists each package.json that was scanned",
        "`npm install x` installs the tool, and `x --help` prints its usage",
    ] {
        let (report, _) = edited(TRUTH, truth);
        assert!(report.valid && report.warnings.is_empty(), "{truth}: {report:?}");
    }
}

#[test]
fn a_truth_about_packages_is_a_warning_in_each_form() {
    for truth in [
        "bcrypt is in package.json",
        "bcrypt is added to package.json",
        "package.json lists bcrypt",
        "bcrypt is a dependency",
        "fastapi is in pyproject.toml",
        "pyproject.toml declares fastapi as dependency",
        "serde is a dependency in Cargo.toml",
        "go.mod requires chi",
        "requirements.txt includes flask",
        "tailwind is set up",
        "TypeScript is configured",
        "bcrypt is available",
        "psycopg can be imported",
        "npm install succeeds",
        "bcrypt ist installiert",
        "bcrypt 已安装",
    ] {
        let (report, _) = edited(TRUTH, truth);
        assert!(report.valid && has(&report.warnings, "is about"), "{truth}: {report:?}");
    }
}

#[test]
fn files_are_compared_however_they_are_listed() {
    for (listed, is_outside) in [
        ("Create: src/other.ts\nModify: src/notes.ts, src/notes.test.ts", true),
        ("1. src/other.ts\n2. src/notes.ts\n3. src/notes.test.ts", true),
        ("- [ ] src/other.ts\n- src/notes.ts\n- src/notes.test.ts", true),
        ("Create `src/other.ts`\nsrc/notes.ts\nsrc/notes.test.ts", true),
        ("src/notes.ts, src/notes.test.ts and src/other.ts", true),
        ("src/notes.ts + src/other.ts, src/notes.test.ts", true),
        ("src/notes.ts, src/notes.test.ts, src/{a,b}.ts", true),
        ("src/notes.ts, src/notes.test.ts, [other](src/other.ts)", true),
        ("src/notes.ts:10-20, src/notes.test.ts", false),
        ("**src/notes.ts**, **src/notes.test.ts**", false),
        ("src/notes.ts, src/notes.test.ts.", false),
        ("src\\notes.ts, src\\notes.test.ts", false),
        ("src/{notes,notes.test}.ts", false),
        ("src/notes.ts (delete src/old.ts), src/notes.test.ts", false),
    ] {
        let (report, _) = edited(LISTED, &format!("<files>{listed}</files>"));
        assert_eq!(has(&report.errors, "`files_modified` does not list"), is_outside, "{listed}: {report:?}");
        assert_eq!(report.valid, !is_outside, "{listed}: {report:?}");
    }
    let (report, _) = edited(
        "files_modified: [src/notes.ts, src/notes.test.ts]",
        "files_modified:\n  - path: src/notes.ts\n  - path: src/notes.test.ts",
    );
    assert!(report.valid && report.warnings.is_empty(), "{report:?}");
}

#[test]
fn blocks_without_content_count_as_missing() {
    let model = SOUND.split("<threat_model>").nth(1).unwrap().split("</threat_model>").next().unwrap();
    let row = "| T-01-01 | tampering | addNote | high | mitigate | Task 1: bound parameters |\n";
    for hollow in ["None", "n/a", "TODO", "", "<!-- none -->"] {
        let (report, _) = edited(model, &format!("\n{hollow}\n"));
        assert!(has(&report.errors, "no <threat_model>"), "{hollow}: {report:?}");
    }
    let (report, _) = edited("<threat_model>", "<!-- <threat_model>");
    assert!(has(&report.errors, "no <threat_model>"), "{report:?}");
    for (from, to) in [(row, ""), (model, "\nNo threats here.\n"), ("<threat_model>", "```\n<threat_model>")] {
        let end = if to.starts_with("```") { "</threat_model>\n```" } else { "</threat_model>" };
        let plan = SOUND.replacen(from, to, 1).replace("</threat_model>", end);
        let report = linted(&plan);
        assert!(report.valid && has(&report.warnings, "<threat_model>"), "{to}: {report:?}");
    }
    let (report, _) = edited(model, "\nIt crosses no trust boundary: only texts of the page change.\n");
    assert!(report.valid && report.warnings.is_empty(), "{report:?}");
    for hollow in ["- TODO", "n/a", "- none", "- {measurable}", "<!-- none -->", "- ", "..."] {
        let plan = SOUND.replace(&format!("- {CRITERION}"), hollow);
        let report = linted(&plan.replace("- The tests of src/notes.test.ts pass", hollow));
        assert!(report.valid && has(&report.warnings, "no <success_criteria>"), "{hollow}: {report:?}");
    }
    for hollow in
        ["vitest fails", "errors occur", "an assertion in notes.test.ts fails", "{what is broken}", "测试失败"]
    {
        let (report, _) = edited(FAILS, hollow);
        assert!(has(&report.errors, "says nothing"), "{hollow}: {report:?}");
    }
    let fails = format!("<fails_when>{FAILS}</fails_when>");
    let (report, _) = edited(&fails, &format!("<!-- {fails} -->"));
    assert!(has(&report.errors, "has no <fails_when>"), "{report:?}");
}

#[test]
fn the_size_is_read_in_each_form() {
    let said = "estimate:\n  tokens: 40000\n";
    for large in
        ["estimate: 900000\n", "estimate: 900k tokens\n", "estimate_tokens: 900000\n", "estimate:\n  tokens: 0900K\n"]
    {
        let (report, _) = edited(said, large);
        assert!(has(&report.errors, "900000 tokens, over the 100000"), "{large}: {report:?}");
    }
    for none in ["", "estimate:\n  tokens:\n"] {
        let (report, _) = edited(said, none);
        assert!(report.valid && has(&report.warnings, "no `estimate.tokens`"), "{none}: {report:?}");
    }
    let heading = "### Task N: More\n\n**Files:** src/notes.ts\n\n";
    let capital = TASK.replace("<task", "<Task").replace("</task", "</Task");
    for more in [heading.repeat(6), capital.repeat(5)] {
        let (report, _) = edited("</task>\n</tasks>", &format!("</task>\n{more}</tasks>"));
        assert!(has(&report.errors, "has 6 tasks"), "{more}: {report:?}");
    }
}

#[test]
fn a_todo_is_found_in_each_part() {
    for (words, parts) in [
        ("TODO: pick a limit", vec![ACTION, DONE, CRITERION, "nothing that is written is lost", TRUTH]),
        ("Limit: TODO", vec![ACTION, DONE, CRITERION]),
    ] {
        for part in parts {
            let (report, _) = edited(part, words);
            assert!(report.valid && has(&report.warnings, "leaves something open"), "{words} {part}: {report:?}");
        }
    }
}
