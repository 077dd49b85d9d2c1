//! The project's documents: `/gsd-docs-update` writes them, has each claim checked, and corrects what is wrong.

use super::Stage;
use crate::play::actor::{Actor, DROPPED, Spawn};

const README: &str = "README.md";
const DEVELOPMENT: &str = "docs/DEVELOPMENT.md";
const TESTING: &str = "docs/TESTING.md";

/// A document that a person wrote; one line is wrong.
const WRITTEN_BY_HAND: &str = "# Testing\n\nRun `python3 -m unittest`.\n\nThe tests are in `tests/test_greet.py`.\n\nEach test names what holds.\n";
const WRONG: &str = "`tests/test_greet.py`";
const RIGHT: &str = "`test_greet.py`";

const MARK: &str = "<!-- generated-by: gsd-doc-writer -->";
const README_TEXT: &str = "# Greet\n\nGreets people on the command line.\n\n    python3 greet.py Ada\n\nWithout a name it greets the \
    world (`greet.main`).\n\nHow to change it: [docs/DEVELOPMENT.md](docs/DEVELOPMENT.md).\n";
/// Its second command does not exist.
const DEVELOPMENT_TEXT: &str = "# Development\n\nPlain Python, nothing to install.\n\n## Check\n\n    python3 -m unitest\n\nTests are \
    described in [TESTING.md](TESTING.md).\n";

/// A document to check: its path, and what is wrong the first time.
struct Checked {
    path: &'static str,
    wrong: Option<(&'static str, &'static str)>,
}

const DOCUMENTS: &[Checked] = &[
    Checked { path: README, wrong: None },
    Checked { path: DEVELOPMENT, wrong: Some(("python3 -m unitest", "python3 -m unittest")) },
    Checked { path: TESTING, wrong: Some((WRONG, RIGHT)) },
    Checked { path: "AGENTS.md", wrong: None },
    Checked { path: "CLAUDE.md", wrong: None },
];

pub(crate) fn docs(stage: &mut Stage) {
    stage.has("greet");
    stage.context.write(TESTING, WRITTEN_BY_HAND);
    stage.shell("git add -A && git commit --quiet -m 'docs: say how to test'");
    stage.types("docs-update", "", update);
    assert!(stage.context.read(README).starts_with(MARK));
    assert!(stage.context.read(DEVELOPMENT).contains("python3 -m unittest\n"));
    assert_eq!(
        stage.context.read(TESTING),
        WRITTEN_BY_HAND.replace(WRONG, RIGHT),
        "a person's document changed elsewhere"
    );
    let changed = stage.shell("git show --format=%s --name-only HEAD");
    assert_eq!(changed, "docs: generate project documentation\n\nREADME.md\ndocs/DEVELOPMENT.md\ndocs/TESTING.md");
    assert_eq!(stage.shell("ls -A .planning/tmp"), "");
    stage.expect_tidy();
    let head = stage.shell("git rev-parse HEAD");
    stage.types("docs-update", "--verify-only", |it| {
        begin(it);
        it.by("With `--verify-only`: the queue is the others");
        let found = check(it, DOCUMENTS, false);
        assert_eq!(found, Vec::<&str>::new());
        it.by("go to step 4, without fixes, then report and clean up as in step 5");
        clean_up(it, &[]);
        "Every claim holds.".to_owned()
    });
    assert_eq!(stage.shell("git rev-parse HEAD"), head);
    stage.expect_tidy();
}

/// Step 1.
fn begin(it: &mut Actor) {
    it.reads("references/ui.md").done();
    it.runs("gsd-tools docs-init", &[]).is("planning_exists", true).expects("AGENTS.md").done();
    let model = it.runs("gsd-tools resolve-model gsd-doc-verifier", &[]).json();
    it.knows("verifier_model", model["model"].as_str().unwrap_or_default());
    it.runs("mkdir -p .planning/tmp", &[]).done();
}

fn update(it: &mut Actor) -> String {
    begin(it);
    it.by("| readme, architecture, getting-started, development, testing, configuration |");
    it.by("Then look for what a reader would miss: a program, package or part").reads_file("greet.py").done();
    it.by("otherwise, written by people")
        .asks("docs/TESTING.md is yours.\n1. Keep\n2. Supplement\n3. Rewrite", "1. Keep");
    it.by("`existing_docs` of no type are kept and checked");
    it.by("Show the queue as a table (path, type, mode) and ask *Go*").asks("The queue\n1. Go\n2. Change", "1. Go");
    it.by("first readme, architecture, configuration; then the rest");
    let first = writer(it, "readme", README, &format!("{MARK}\n{README_TEXT}"), ".planning/PROJECT.md");
    it.sends(first).expects("README.md: create").done();
    let text = format!("{MARK}\n{DEVELOPMENT_TEXT}");
    let second = writer(it, "development", DEVELOPMENT, &text, &format!(".planning/PROJECT.md, {README}"));
    it.sends(second).expects("docs/DEVELOPMENT.md: create").done();
    it.by("Disk decides").shell(&format!("ls {README} {DEVELOPMENT}")).done();
    let found = check(it, DOCUMENTS, true);
    assert_eq!(found, [DEVELOPMENT, TESTING]);
    it.by("Failures in a kept document: show them, and ask").asks(
        "docs/TESTING.md:5 names a file that is not there.\n1. Correct these lines\n2. Leave it",
        "1. Correct these lines",
    );
    for document in DOCUMENTS.iter().filter(|document| document.wrong.is_some()) {
        correct(it, document);
    }
    it.reads("references/secret-scan.md").done();
    let files = [README, DEVELOPMENT, TESTING].map(|path| format!("'{path}'")).join(" ");
    let scanned = it.even_if_it_fails().runs("grep -rnIE", &[("files or folders", &files)]);
    scanned.lacks(".md:").done();
    it.runs("gsd-tools commit \"docs: generate project documentation\"", &[("documents written", &files)])
        .is("committed", true)
        .done();
    clean_up(it, &[DEVELOPMENT, TESTING]);
    it.by("Report a table: document, mode, lines, claims checked, claims failed");
    "| document | mode | lines | claims checked | claims failed |\n|---|---|---|---|---|".to_owned()
}

fn clean_up(it: &mut Actor, corrected: &[&str]) {
    let results = DOCUMENTS.iter().map(|document| result_of(document.path));
    let copies = corrected.iter().map(|path| format!(".planning/tmp/{}.before", name_of(path)));
    let files: Vec<String> = results.chain(copies).map(|path| format!("'{path}'")).collect();
    it.runs("rm {the verify and before files", &[("the verify and before files", &files.join(" "))]).done();
}

/// The writer of a new document.
fn writer(it: &mut Actor, kind: &'static str, path: &'static str, text: &str, read: &str) -> Spawn {
    let project = it.field("project_type");
    let fills = [
        ("type", kind),
        ("mode", "create"),
        ("path", path),
        ("only for type topic", DROPPED),
        ("what to cover", ""),
        ("project_type as it is", &project),
        (".planning/codebase", read),
    ];
    let (text, read): (String, Vec<String>) = (text.to_owned(), read.split(", ").map(str::to_owned).collect());
    it.spawn("=\"gsd-doc-writer\"", &fills, move |it| {
        for file in read.iter().map(String::as_str).chain(["CLAUDE.md"]) {
            it.by("Read every path the prompt lists, the document if it exists, and the project instruction file")
                .reads_file(file)
                .done();
        }
        it.by(&format!("| {kind} |")).reads_file("greet.py").done();
        it.by("Before you name a path, command, endpoint, option, symbol or version: look it up").shell("ls").done();
        it.by("First line `<!-- generated-by: gsd-doc-writer -->`").writes(path, &text);
        it.by("Return one line");
        format!("{path}: create, {} lines", text.lines().count())
    })
}

/// Step 4: one agent for each document, all at once; returns the documents that have a fault.
fn check(it: &mut Actor, documents: &'static [Checked], wrong: bool) -> Vec<&'static str> {
    it.by("One agent a document of the queue, kept ones too, at most five at once");
    let spawns = documents.iter().map(|document| verifier(it, document, wrong)).collect();
    for returned in it.sends_side_by_side(spawns) {
        returned.expects("claims hold").done();
    }
    let mut found = Vec::new();
    for document in documents {
        let result = it.by("Read only `claims_checked`, `claims_failed` and `failures` of each result");
        let result = result.reads_file(&result_of(document.path));
        if !result.text.contains("\"claims_failed\": 0") {
            found.push(document.path);
        }
    }
    found
}

fn name_of(path: &str) -> String {
    path.replace('/', "-")
}

fn result_of(path: &str) -> String {
    format!(".planning/tmp/verify-{}.json", name_of(path))
}

/// gsd-doc-verifier on a document, which may still be `wrong`.
fn verifier(it: &mut Actor, document: &'static Checked, wrong: bool) -> Spawn {
    let path = document.path;
    let fills = [("path", path), ("name", &*name_of(path))];
    it.spawn("=\"gsd-doc-verifier\"", &fills, move |it| {
        let text = it.by("Read `doc_path` in the prompt and go through it line by line").reads_file(path).text;
        let wrong = document.wrong.filter(|_| wrong);
        let mut failures = Vec::new();
        if let Some((claim, actual)) = wrong {
            let line = text.lines().position(|line| line.contains(claim)).unwrap() + 1;
            it.by("a search without a hit counts as failed only after a second search by another name");
            it.by("until it is shown or disproven").shell("ls -R . | head -20").done();
            failures.push(serde_json::json!({"line": line, "claim": claim, "expected": "it exists", "actual": actual}));
        }
        let failed = failures.len();
        let result = serde_json::json!({
            "doc_path": path, "claims_checked": 2, "claims_passed": 2 - failed, "claims_failed": failed, "failures": failures,
        });
        let output = result_of(path);
        assert!(it.is_ordered(&format!("output: {output}")), "the result goes elsewhere");
        it.by("Write `output` in the prompt with").writes(&output, &format!("{result:#}\n"));
        format!("{path}: {} of 2 claims hold", 2 - failed)
    })
}

/// The writer corrects one document, and it is checked again.
fn correct(it: &mut Actor, document: &'static Checked) {
    let (path, name) = (document.path, name_of(document.path));
    let (wrong, right) = document.wrong.unwrap();
    it.knows("path", path);
    it.knows("name", &name);
    it.runs("cp '{path}' .planning/tmp/{name}.before", &[]).done();
    let prompt = format!("type: fix\nmode: fix\npath: {path}\nproject: plain Python\nfailures: {}", result_of(path));
    let spawn = it
        .by("then the writer with mode `fix` and `failures: .planning/tmp/verify-{name}.json`")
        .spawn_in_words(("gsd-doc-writer", "doc_writer_model"), &format!("Correct {path}"), &prompt, move |it| {
            it.by("Read every path the prompt lists, the document if it exists").reads_file(path).done();
            it.by("Read every path the prompt lists").reads_file(&result_of(path)).expects(wrong).done();
            it.by("`fix`: correct only the lines in `failures`").edits(path, wrong, right);
            format!("{path}: fix, 1 line")
        });
    it.sends(spawn).expects(": fix").done();
    it.by("A file with less than a tenth of its lines afterwards").shell(&format!("wc -l '{path}'")).done();
    it.by("each followed by a new check of that document");
    let spawn = verifier(it, document, false);
    it.sends(spawn).expects("2 of 2 claims hold").done();
    it.by("Read only `claims_checked`").reads_file(&result_of(path)).expects("\"claims_failed\": 0").done();
}
