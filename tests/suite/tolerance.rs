//! Surplus words that a call may have, and the names under which hosts are known: scripts of the peer program rely on
//! both.

use crate::kit::{TestContext, verbs};

const ROADMAP: &str =
    "# Roadmap\n\n## Phases\n\n- [ ] **Phase 1: Base** - b\n\n### Phase 1: Base\n**Goal**: stand\n**Plans**: TBD\n";
const STATE: &str = "---\nmilestone: v1.0\n---\n# State\n\n## Current Position\n\nPhase: 1 of 1 (Base)\nStatus: Ready to plan\n\n## Accumulated Context\n";

fn project() -> TestContext {
    let context = TestContext::new();
    context.write(".planning/ROADMAP.md", ROADMAP);
    context.write(".planning/STATE.md", STATE);
    context.write(".planning/config.json", "{}\n");
    context.write(".planning/phases/01-base/01-CONTEXT.md", "# C\n");
    context
}

#[test]
fn a_verb_that_reads_ignores_unknown_words_and_reports_them_once() {
    let context = project();
    for call in [
        "find-phase 1 --bogus surplus",
        "roadmap analyze --bogus=1 surplus",
        "roadmap get-phase 1 more words --and --flags",
        "state json --verbose",
    ] {
        let ran = context.gsd_with(call.split(' '), &[], "");
        assert_eq!(ran.code, 0, "{call}: {}", ran.stderr);
        assert_eq!(ran.stderr.matches("ignores it").count(), 1, "{call}: {}", ran.stderr);
        let strict = context.gsd_with(call.split(' '), &[("GSD_EXIT_CONTRACT", "v2")], "");
        assert_eq!((strict.code, strict.stdout.as_str()), (64, ""), "{call}");
    }
    let plain = context.gsd(["find-phase", "1"]).success();
    assert_eq!(context.gsd(["find-phase", "1", "--bogus"]).stdout, plain);
}

#[test]
fn a_verb_that_writes_refuses_unknown_words() {
    let context = project();
    for call in ["state update Status Busy --bogus", "state update Status Busy surplus", "phase remove 1 --bogus"] {
        let ran = context.gsd_with(call.split(' '), &[], "");
        assert_eq!(ran.code, 1, "{call}");
    }
    assert_eq!(
        (context.read(".planning/STATE.md").as_str(), context.read(".planning/ROADMAP.md").as_str()),
        (STATE, ROADMAP)
    );
}

#[test]
fn an_unknown_subcommand_of_any_family_has_one_reason() {
    let context = project();
    let words = verbs().iter().filter_map(|(path, _)| path.split_once(' ').map(|(family, _)| family));
    let mut families: Vec<&str> = words.collect();
    families.sort_unstable();
    families.dedup();
    // These take free words instead of subcommands.
    families.retain(|family| !verbs().iter().any(|(path, _)| path == family));
    assert!(families.len() >= 26, "{families:?}");
    for family in families {
        let told = context.gsd(["--json-errors", family, "no-such-verb"]);
        assert!(told.stderr.contains("\"reason\":\"sdk_unknown_command\""), "{family}: {}", told.stderr);
    }
}

#[test]
fn a_flag_given_twice_counts_once_and_an_ignored_value_is_reported() {
    let context = project();
    assert_eq!(context.gsd(["init", "debug", "--diagnose", "--diagnose"]).code, 0);
    assert_eq!(context.gsd(["init", "execute-phase", "1", "--wave", "1", "--wave", "1"]).code, 0);
    assert_eq!(context.gsd(["init", "plan-phase", "1", "--prd", "a.md", "--prd", "b.md"]).code, 0);
    let flags = ["--phase", "1", "--phase", "2", "--action", "added", "--note", "x"];
    let ran = context.gsd_with(["state", "add-roadmap-evolution"].iter().chain(&flags), &[], "");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("`--phase 2` is ignored, since `--phase 1` counts"), "{}", ran.stderr);
    assert!(context.read(".planning/STATE.md").contains("- Phase 1 added: x"));
    // Verbs about installs use the last value, like other programs of a shell.
    context.write("one/gsd-user-files-backup/a.md", "a");
    context.write("two/gsd-user-files-backup/b.md", "b");
    let last = context.gsd(["restore-custom-files", "--config-dir", "one", "--config-dir", "two"]);
    assert!(last.stdout.contains("b.md") && !last.stdout.contains("a.md"), "{} {}", last.stdout, last.stderr);
}

#[test]
fn a_flag_without_its_value_counts_as_not_given_if_workflows_pass_it_on() {
    let context = project();
    let excluded = |flags: &[&str]| {
        let call = ["init", "plan-phase", "1"].iter().chain(flags).copied();
        let ran = context.gsd_with(call, &[], "");
        assert_eq!(ran.code, 0, "{flags:?}: {}", ran.stderr);
        let answer: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        answer["section_manifest"]["excluded"].as_array().unwrap().clone()
    };
    let with = excluded(&["--prd", "x.md"]);
    let own: Vec<_> = excluded(&[]).into_iter().filter(|section| !with.contains(section)).collect();
    assert!(!own.is_empty());
    for flags in [&["--prd", "--reviews"][..], &["--prd", ""], &["--prd"]] {
        let excluded = excluded(flags);
        assert!(own.iter().all(|section| excluded.contains(section)), "{flags:?}: {excluded:?}");
    }
}

#[test]
fn the_name_of_a_new_phase_folder_is_every_word_up_to_the_next_flag() {
    let context = project();
    for flags in [["--phase", "5", "--name", "Two", "Words"], ["--name", "Two", "Words", "--phase", "5"]] {
        let call = ["scaffold", "phase-dir"].iter().chain(&flags).copied();
        let ran = context.gsd_with(call, &[], "");
        assert!(ran.stdout.contains("05-two-words"), "{} {}", ran.stdout, ran.stderr);
    }
}

#[test]
fn a_preview_stays_json_if_a_plain_value_is_requested() {
    let context = project();
    context.write(".planning/phases/01-base/01-01-PLAN.md", "---\nphase: 01\n---\n");
    context.write(".planning/phases/01-base/01-01-SUMMARY.md", "# S\n");
    let call = ["milestone", "complete", "v1.0", "--force", "--dry-run", "--raw"];
    let preview = context.gsd(call).json();
    assert_eq!((&preview["dry_run"], &preview["version"]), (&true.into(), &"v1.0".into()), "{preview}");
    assert!(preview["would_archive"]["roadmap"].is_object() && preview["stats"]["plans"] == 1, "{preview}");
    // A verb without its own preview shows the lines that would change.
    let diff = context.gsd(["phase", "remove", "1", "--force", "--dry-run", "--raw"]).success();
    assert!(diff.contains("-- [ ] **Phase 1: Base** - b\n"), "{diff}");
    let old = TestContext::new();
    old.write(".gsd/PROJECT.md", "# P\n");
    old.write(
        ".gsd/milestones/M001/M001-ROADMAP.md",
        "# M001: First\n\n## Slices\n\n- [ ] **S01: One** `risk:low` `depends:[]`\n",
    );
    let preview = old.gsd(["from-gsd2", "--dry-run", "--raw"]).json();
    assert_eq!((&preview["success"], &preview["dryRun"]), (&true.into(), &true.into()), "{preview}");
}

#[test]
fn a_host_is_recognised_by_every_name_and_in_any_case() {
    let context = project();
    for (name, id) in [
        ("codex-app", "codex"),
        ("codex-cli", "codex"),
        ("CODEX", "codex"),
        ("claude_code", "claude"),
        ("github-copilot", "copilot"),
        ("copilot-cli", "copilot"),
        ("cursor-cli", "cursor"),
        ("open-code", "opencode"),
        ("qwen-code", "qwen"),
        ("Augment_Code", "augment"),
    ] {
        let told = context.gsd_with(["init", "progress"], &[("GSD_RUNTIME", name)], "").json();
        assert_eq!(told["agent_runtime"], id, "{name}");
        context.write(".planning/config.json", &format!("{{\"runtime\": \"{name}\"}}\n"));
        assert_eq!(context.gsd(["init", "progress"]).json()["agent_runtime"], id, "{name} in the configuration");
        context.write(".planning/config.json", "{}\n");
    }
    let spelled = context.gsd_with(["smart-entry"], &[("GSD_RUNTIME", "codex-app")], "").stdout;
    assert!(!spelled.contains("/gsd-"), "{spelled}");
}

#[test]
fn a_call_below_a_project_without_a_repository_finds_it() {
    let context = project();
    context.write(".planning/config.json", "{\"mode\": \"yolo\"}\n");
    context.write("src/deep/x.txt", "");
    let below = context.project().join("src/deep");
    for (call, told) in [
        ("config-get mode", "yolo"),
        ("config-path", "project/.planning/config.json"),
        ("roadmap analyze", "\"phase_count\": 1"),
        ("state-snapshot", "\"current_phase\": \"1\""),
        ("state get Status", "Ready to plan"),
    ] {
        let ran = context.command(crate::kit::binary()).current_dir(&below).args(call.split(' ')).output().unwrap();
        let stdout = String::from_utf8_lossy(&ran.stdout).into_owned();
        assert!(ran.status.success() && stdout.contains(told), "{call}: {stdout}");
    }
}

#[test]
fn phases_with_uncommitted_changes_are_not_archived_unless_forced() {
    let context = project();
    let git = |line: &str| assert!(context.command("git").args(line.split(' ')).output().unwrap().status.success());
    for line in ["init -q", "add -A", "commit -qm init"] {
        git(line);
    }
    context.write(".planning/phases/01-base/new.md", "mine");
    let refused = context.gsd(["phases", "clear", "--confirm"]).failure(1);
    assert!(refused.contains("1 uncommitted change in `.planning/phases`"), "{refused}");
    assert_eq!(context.read(".planning/phases/01-base/new.md"), "mine");
    git("add -A");
    assert_eq!(context.gsd(["phases", "clear", "--confirm"]).code, 1, "staged changes too");
    git("commit -qm new");
    assert!(context.gsd(["phases", "clear", "--confirm"]).failure(1).contains("not done"), "what is open stays too");
    context.write(".planning/phases/01-base/new.md", "changed");
    let index = context.project().join(".git/index");
    let whole = std::fs::read(&index).unwrap();
    std::fs::write(&index, "no index").unwrap();
    for call in ["phases clear --confirm", "phase remove 1"] {
        let refused = context.gsd_with(call.split(' '), &[], "").failure(1);
        assert!(refused.contains("git does not show what changed"), "{call}: {refused}");
    }
    assert_eq!(context.read(".planning/phases/01-base/new.md"), "changed");
    std::fs::write(&index, whole).unwrap();
    assert_eq!(context.gsd(["phases", "clear", "--confirm", "--force"]).json()["cleared"], 1);
}

#[test]
fn a_milestone_of_another_version_gets_a_message_before_it_is_refused() {
    let context = project();
    let ran = context.gsd(["milestone", "complete", "v2.0", "--confirm"]);
    assert!(ran.stderr.contains("`v1.0`, not at `v2.0`"), "{}", ran.stderr);
}
