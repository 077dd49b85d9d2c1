//! Tasks outside the roadmap: `/gsd-fast` and `/gsd-quick`.

use super::Stage;

/// A trivial change: read, edit, check, commit, record.
pub(crate) fn fast(stage: &mut Stage) {
    stage.has("greet");
    stage.types("fast", "print two exclamation marks", |it| {
        it.by("At most three files, about a minute").by("Read before you edit").reads_file("greet.py").done();
        it.by("match the code around").edits("greet.py", "Hello, {name}!", "Hello, {name}!!");
        it.by("match the code around").edits("test_greet.py", "Hello, Ada!", "Hello, Ada!!");
        it.by("**Check** with the narrowest test").shell("python3 -m unittest").expects("OK").done();
        it.by("**Commit** only the files you changed");
        it.runs("git add FILES", &[("FILES", "greet.py test_greet.py")]).done();
        let message = [("type", "feat"), ("what", "greet twice as loud"), ("FILES", "greet.py test_greet.py")];
        it.runs("git commit -m", &message).done();
        let hash = it.by("{short hash}").shell("git log -1 --format=%h").text.trim().to_owned();
        it.by("only if `.planning/STATE.md` has a table under `### Quick Tasks Completed`")
            .reads_file(".planning/STATE.md")
            .expects("### Quick Tasks Completed")
            .done();
        let head = "|---|-------------|------|--------|-----------|\n";
        let row = format!("{head}| 1 | greet twice as loud | 2026-01-06 | {hash} | — |\n");
        it.by("| {next number} | {task} | {YYYY-MM-DD} | {short hash} | — |").edits(".planning/STATE.md", head, &row);
        it.runs("gsd-tools commit \"docs: record fast task\"", &[]).is("committed", true).done();
        "Greets twice as loud; tests pass; committed.".to_owned()
    });
    assert_eq!(stage.shell("python3 greet.py Ada"), "Hello, Ada!!");
    assert_eq!(stage.shell("git rev-list --count HEAD"), "3");
    stage.expect_tidy();
    stage.expect_agreement();
}
