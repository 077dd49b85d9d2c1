//! How a person likes to work: sessions read, questions asked, pages written.

use serde_json::Value;

use crate::kit::TestContext;

fn session(context: &TestContext, project: &str, name: &str, messages: &[&str]) {
    let folder = context.home().join(".claude/projects").join(project);
    std::fs::create_dir_all(&folder).unwrap();
    let lines: Vec<String> = messages
        .iter()
        .map(|text| format!(r#"{{"type":"user","userType":"external","cwd":"/p","message":{{"content":"{text}"}}}}"#))
        .collect();
    std::fs::write(folder.join(format!("{name}.jsonl")), lines.join("\n")).unwrap();
}

fn read_lines(report: &Value) -> Vec<Value> {
    let text = std::fs::read_to_string(report["output_file"].as_str().unwrap()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn sessions_are_listed_and_typed_messages_are_extracted() {
    let context = TestContext::new();
    assert!(context.gsd(["scan-sessions"]).failure(1).contains("no Claude Code sessions"));
    session(&context, "-p-garden", "a1", &["Fix the gate", "<command-name>/x</command-name>", &"L".repeat(3000)]);
    session(&context, "-p-pocket", "b1", &["Other"]);
    let before = std::fs::read(context.home().join(".claude/projects/-p-garden/a1.jsonl")).unwrap();
    let projects = context.gsd(["scan-sessions", "--json"]).json();
    assert_eq!((projects.as_array().unwrap().len(), &projects[0]["sessionCount"]), (2, &1.into()));
    assert!(context.gsd(["scan-sessions", "--verbose"]).success().contains("Total: 2 projects"));
    let report = context.gsd(["extract-messages", "garden"]).json();
    assert_eq!((&report["messages_extracted"], &report["messages_truncated"]), (&2.into(), &1.into()));
    assert_eq!(read_lines(&report)[0]["content"], "Fix the gate");
    assert!(context.gsd(["extract-messages", "p"]).failure(1).contains("several projects"));
    assert!(context.gsd(["extract-messages", "nope"]).failure(1).contains("no project matches"));
    assert!(context.gsd(["extract-messages", "garden", "--session", "zz"]).failure(1).contains("no session `zz`"));
    assert!(context.gsd(["extract-messages"]).failure(1).contains("needs <PROJECT>"));
    let sample = context.gsd(["profile-sample", "--limit", "2", "--max-chars", "5"]).json();
    assert_eq!((&sample["messages_sampled"], &sample["per_project_cap"]), (&2.into(), &1.into()));
    let contents: Vec<usize> = read_lines(&sample).iter().map(|line| line["content"].as_str().unwrap().len()).collect();
    assert!(contents.iter().all(|length| *length <= 5 + "... [truncated]".len()), "{contents:?}");
    assert_eq!(std::fs::read(context.home().join(".claude/projects/-p-garden/a1.jsonl")).unwrap(), before);
    assert!(context.gsd_with(["scan-sessions"], &[("GSD_RUNTIME", "codex")], "").failure(1).contains("is unknown"));
}

#[test]
fn answers_become_a_profile_a_command_and_a_part_of_the_instructions() {
    let context = TestContext::new();
    assert_eq!(context.gsd(["profile-questionnaire"]).json()["questions"].as_array().unwrap().len(), 8);
    assert!(context.gsd(["profile-questionnaire", "--answers", "a,b"]).failure(1).contains("expected 8 answers"));
    let analysis = context.gsd(["profile-questionnaire", "--answers", "a,b,c,d,a,b,c,d"]).success();
    context.write("analysis.json", &analysis);
    let profile = context.gsd(["write-profile", "--input", "analysis.json"]).json();
    assert_eq!((&profile["dimensions_scored"], &profile["medium_confidence"]), (&8.into(), &8.into()));
    let page = std::fs::read_to_string(profile["profile_path"].as_str().unwrap()).unwrap();
    assert!(page.starts_with("# Developer Profile") && page.contains("terse-direct"));
    let command = context.gsd(["generate-dev-preferences", "--analysis", "analysis.json", "--stack", "Rust"]).json();
    assert!(command["command_path"].as_str().unwrap().starts_with(context.home().to_str().unwrap()), "{command}");
    context.write("RULES.md", "# Mine\r\n");
    let call = ["generate-claude-profile", "--analysis", "analysis.json", "--output", "RULES.md"];
    assert_eq!(context.gsd(call).json()["action"], "appended");
    assert_eq!(context.gsd(call).json()["action"], "unchanged");
    let text = context.read("RULES.md");
    assert!(text.starts_with("# Mine\r\n") && text.contains("| Communication | terse-direct | MEDIUM |\r\n"), "{text}");
    let global = context.gsd(["generate-claude-profile", "--analysis", "analysis.json", "--global"]).json();
    assert_eq!((&global["action"], &global["is_global"]), (&"created".into(), &true.into()));
    context.write("RULES.md", "<!-- GSD:profile-start -->\nopen\n");
    assert!(context.gsd(call).failure(1).contains("not closed"));
    assert_eq!(context.read("RULES.md"), "<!-- GSD:profile-start -->\nopen\n");
}

#[test]
fn an_analysis_that_cannot_be_used_writes_nothing() {
    let context = TestContext::new();
    context.write("bad.json", "{}");
    for (verb, flag) in [
        ("write-profile", "--input"),
        ("generate-dev-preferences", "--analysis"),
        ("generate-claude-profile", "--analysis"),
    ] {
        assert!(context.gsd([verb]).failure(1).contains(flag), "{verb}");
        assert!(context.gsd([verb, flag, "none.json"]).failure(1).contains("not found"), "{verb}");
        assert!(context.gsd([verb, flag, "bad.json"]).failure(1).contains("dimensions"), "{verb}");
    }
    assert!(std::fs::read_dir(context.home()).unwrap().next().is_none());
}
