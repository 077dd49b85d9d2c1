//! The instruction file of a project: created, kept, not changed.

use crate::kit::TestContext;

#[test]
fn the_file_of_the_host_is_made_and_kept() {
    let context = TestContext::new();
    context.write(".planning/PROJECT.md", "# Acme\n\n## What This Is\n\nNotes.\n");
    let shown = context.gsd(["generate-claude-md", "--dry-run"]).json();
    assert!(shown["diff"].as_str().unwrap().contains("GSD:project-start"), "{shown}");
    let report = context.gsd(["generate-claude-md"]).json();
    assert_eq!((&report["action"], &report["sections_total"]), (&"created".into(), &6.into()));
    let file = report["claude_md_path"].as_str().unwrap().to_owned();
    assert!(std::fs::read_to_string(&file).unwrap().contains("**Project:** Acme\n\nNotes."));
    let again = context.gsd(["generate-claude-md"]).json();
    assert_eq!((&again["action"], &again["updated"]), (&"unchanged".into(), &false.into()));
    context.write("RULES.md", "# Mine\n");
    let left = context.gsd(["generate-claude-md", "--output", "RULES.md"]).json();
    assert_eq!((&left["action"], context.read("RULES.md").as_str()), (&"skipped".into(), "# Mine\n"));
    assert!(context.gsd(["generate-claude-md", "--output", "../x.md"]).failure(1).contains("outside"));
    context.write(".planning/config.json", r#"{"claude_md_path":"docs/AGENT.md"}"#);
    context.gsd(["generate-claude-md"]).success();
    assert!(context.read("docs/AGENT.md").contains("GSD:workflow-start"));
}

#[test]
fn the_host_of_the_call_names_its_file() {
    let context = TestContext::new();
    context.write(".planning/PROJECT.md", "# Acme\n");
    let file = || {
        let report = context.gsd_with(["generate-claude-md"], &[("GSD_RUNTIME", "codex")], "").json();
        report["claude_md_path"].as_str().unwrap().to_owned()
    };
    assert!(file().ends_with("/project/AGENTS.md"), "{}", file());
    context.gsd(["config-new-project"]).success();
    assert!(file().ends_with("/project/AGENTS.md"), "what every new file says is no choice: {}", file());
    context.gsd(["config-set", "claude_md_path", "docs/CLAUDE.md"]).success();
    assert!(file().ends_with("/project/AGENTS.md"), "a file that this host does not read: {}", file());
    context.gsd(["config-set", "claude_md_path", "docs/AGENTS.md"]).success();
    assert!(file().ends_with("/docs/AGENTS.md"), "{}", file());
}

#[test]
fn text_around_the_sections_keeps_every_byte() {
    let context = TestContext::new();
    context.write(".planning/PROJECT.md", "# Acme\n\n## What This Is\n\nNotes.\n");
    context.gsd(["generate-claude-md", "--output", "RULES.md"]).success();
    let made = context.read("RULES.md");
    let mut mine = String::from("# Mine  \n\n\nbefore\n");
    for line in made.split_inclusive('\n') {
        mine.push_str(line);
        if line.starts_with("<!-- GSD:") && line.contains("-end") {
            mine.push_str("\n  between  \n");
        }
    }
    mine.push_str("behind, without an end of line");
    context.write("RULES.md", &mine);
    context.write(".planning/PROJECT.md", "# Acme\n\n## What This Is\n\nOther notes.\n");
    context.gsd(["generate-claude-md", "--output", "RULES.md"]).success();
    assert_eq!(context.read("RULES.md"), mine.replace("\nNotes.\n", "\nOther notes.\n"));
}
