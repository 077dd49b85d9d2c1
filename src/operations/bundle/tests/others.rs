//! Answers of workflows that need few facts.

use super::*;
use crate::operations::facts::{CodeFacts, MilestoneHistory};

#[test]
fn a_new_milestone_knows_the_one_before() {
    let told = |reset| {
        let files = [
            (".planning/MILESTONES.md", "# Milestones\n\n## v1.0 MVP (Shipped: 2026-01-20)\n"),
            (".planning/ROADMAP.md", "- 🚧 **v1.1 Sync** - x\n\n### v1.1 Sync\n\n#### Phase 3: A\n"),
            (".planning/phases/03-a/x.md", ""),
            (".planning/phases/999.1-later/x.md", ""),
        ];
        told(&files, FactsCall::of("new-milestone").flag("reset-phase-numbers", reset))
    };
    let plain = told(false);
    assert_eq!((&plain["current_milestone"], &plain["current_milestone_name"]), (&"v1.1".into(), &"Sync".into()));
    assert_eq!(&plain["latest_completed_milestone_name"], "MVP");
    assert_eq!(&plain["phase_archive_path"], "/p/.planning/milestones/v1.0-phases");
    assert_eq!(&plain["phase_dir_count"], 1);
    assert_eq!(&plain["milestones_path"], "/p/.planning/MILESTONES.md");
    assert_eq!(told(true)["current_milestone"], "v1.1");
}

#[test]
fn closing_a_milestone_lists_only_existing_files() {
    let full = complete_milestone(&[
        (".planning/ROADMAP.md", ""),
        (".planning/config.json", r#"{"git": {"create_tag": false}}"#),
    ]);
    assert_eq!((&full["roadmap_path"], &full["git_create_tag"]), (&"/p/.planning/ROADMAP.md".into(), &false.into()));
    let none = complete_milestone(&[]);
    assert_eq!((&none["state_path"], &none["git_create_tag"]), (&Value::Null, &true.into()));
}

#[test]
fn a_tag_is_asked_about_if_the_repository_has_tags_of_other_kinds() {
    let files = [
        (".planning/ROADMAP.md", "# Roadmap\n\n## v1.1 Sync\n\n### Phase 2: B\n"),
        (".planning/STATE.md", "---\nmilestone: v1.1\n---\n"),
        (".planning/MILESTONES.md", "# Milestones\n\n## v1.0 MVP (Shipped: 2026-01-01)\n"),
    ];
    let with = |tags: &[&str]| {
        let tags = Some(tags.iter().map(|tag| (*tag).to_owned()).collect());
        let git = MilestoneHistory { tags, since: Some("abc".into()), commits: Some(3) };
        complete_milestone_in(&files, &git)
    };
    let tag = |ask: bool| serde_json::json!({"name": "v1.1", "ask": ask});
    for (tags, foreign, ask) in
        [(&[][..], 0, false), (&["v1.0"], 0, false), (&["v2.13.0", "v2.13.1", "v1.0"], 2, true), (&["v1.0.0"], 1, true)]
    {
        let told = with(tags);
        assert_eq!((&told["foreign_tags"], &told["tag"]), (&foreign.into(), &tag(ask)), "{tags:?}");
    }
    let unknown = complete_milestone_in(&files, &MilestoneHistory::default());
    assert_eq!(
        (&unknown["foreign_tags"], &unknown["tag"], &unknown["since"]),
        (&Value::Null, &tag(true), &Value::Null)
    );
    let mut untagged = files.to_vec();
    untagged.push((".planning/config.json", r#"{"git": {"create_tag": false}}"#));
    assert_eq!(complete_milestone(&untagged)["tag"], Value::Null);
}

fn complete_milestone(files: &[(&str, &str)]) -> Value {
    complete_milestone_in(files, &MilestoneHistory::default())
}

fn complete_milestone_in(files: &[(&str, &str)], git: &MilestoneHistory) -> Value {
    told(files, FactsCall::of("complete-milestone").with(git.clone()))
}

#[test]
fn other_active_workstreams_are_listed() {
    let files = MemoryFiles::new([
        (".planning/workstreams/api/STATE.md", "---\nstatus: executing\n---\n"),
        (".planning/workstreams/web/STATE.md", "# S\n\n**Status:** In progress\n"),
        (".planning/workstreams/old/STATE.md", "---\nstatus: archived\n---\n"),
        (".planning/workstreams/done/STATE.md", "# S\n\nStatus: v1.0 milestone complete\n"),
        (".planning/workstreams/bare/notes.md", ""),
    ]);
    let others = |workflow, workstream| {
        let view = ProjectView::new(Layout::new("/p", None, workstream), Box::new(files.clone()));
        let call = FactsCall::of(workflow);
        let given = Given { view: &view, config: &Config::default(), host: &Host::default(), call };
        BundleAnswer::of(&given).unwrap().0["other_active_workstreams"].clone()
    };
    let expected = serde_json::json!([{"name": "bare", "status": "unknown"}, {"name": "web", "status": "In progress"}]);
    // The chain leaves the milestone open while others work.
    for workflow in ["transition", "yolo"] {
        assert_eq!(others(workflow, Some("api")), expected);
        assert_eq!(others(workflow, None), serde_json::json!([]));
    }
}

#[test]
fn a_code_review_is_as_strict_as_its_profile() {
    let told = |config: &str| told(&[ROADMAP, (".planning/config.json", config)], of_phase("code-review", "2"));
    let plain = told("{}");
    assert_eq!((&plain["fallow_enabled"], &plain["fallow_max_crap"]), (&false.into(), &30.into()));
    assert_eq!((&plain["fallow_scope"], &plain["fallow_profile"]), (&"phase".into(), &"standard".into()));
    assert_eq!((&plain["phase_number"], &plain["padded_phase"]), (&"2".into(), &"02".into()));
    assert_eq!((&plain["number"], &plain["phase_status"]), (&"2".into(), &"Pending".into()));
    assert!(&plain["name"].is_string(), "{plain}");
    let strict = told(r#"{"code_quality": {"fallow": {"enabled": true, "profile": "strict"}}}"#);
    assert_eq!((&strict["fallow_enabled"], &strict["fallow_max_crap"]), (&true.into(), &15.into()));
}

#[test]
fn a_phase_is_optional_if_the_workflow_can_ask() {
    let review = told(&[ROADMAP], FactsCall::of("review"));
    assert_eq!(review["phase_number"], Value::Null);
    let assumptions = told(&[ROADMAP], of_phase("discuss-phase-assumptions", "2"));
    assert_eq!((&assumptions["phase_found"], &assumptions["phase_slug"]), (&true.into(), &"note-core".into()));
    assert_eq!(told(&[ROADMAP], FactsCall::of("discuss-phase-assumptions"))["phase_found"], false);
}

#[test]
fn todos_are_also_given_as_a_list() {
    let files = [
        (".planning/todos/pending/a.md", "---\ncreated: 2026-01-05T10:00\ntitle: Add tags\narea: api\n---\n"),
        (".planning/todos/pending/b.md", "---\ncreated: 2026-01-06\ntitle: Mend\narea: ui\n---\n"),
    ];
    let todos = |area: Option<&str>| told(&files, FactsCall::of("todos").text(area.map(str::to_owned)));
    let api = todos(Some("api"));
    assert_eq!((&api["todo_count"], &api["area_filter"]), (&1.into(), &"api".into()));
    assert_eq!(api["todos"][0]["path"], "/p/.planning/todos/pending/a.md");
    let line = "- [2026-01-05] [api] Add tags — [todo file](.planning/todos/pending/a.md)";
    assert_eq!(api["pending_todos_markdown"], line);
    assert_eq!(todos(None)["pending_todos_markdown"].as_str().unwrap().lines().count(), 2);
    assert_eq!(todos(Some("zzz"))["pending_todos_markdown"], "None yet.");
    let none = told(&[], FactsCall::of("todos"));
    assert_eq!((&none["todos_dir_exists"], &none["pending_dir_exists"]), (&false.into(), &false.into()));
}

#[test]
fn maps_of_the_code_are_listed() {
    let files = [(".planning/codebase/STACK.md", ""), (".planning/codebase/notes.txt", "")];
    let mapped = told(&files, FactsCall::of("map-codebase"));
    assert_eq!(mapped["existing_maps"], serde_json::json!(["STACK.md"]));
    assert_eq!((&mapped["has_maps"], &mapped["date"]), (&true.into(), &"2026-01-02".into()));
    assert_eq!(told(&[], FactsCall::of("map-codebase"))["codebase_dir_exists"], false);
}

/// Adopts a project, with or without `--fast`, with these documents to start from.
fn onboard(files: &[(&str, &str)], (fast, documents): (bool, &[&str]), has_source_files: bool) -> Value {
    let code = CodeFacts { has_source_files, ..CodeFacts::default() };
    let documents = documents.iter().map(|&path| path.to_owned()).collect();
    told(files, FactsCall::of("onboard").flag("fast", fast).with(code).with(FoundDocuments(documents)))
}

#[test]
fn adopting_a_project_names_the_first_missing_thing() {
    let map: Vec<String> = CODE_MAP.iter().map(|file| format!(".planning/codebase/{file}")).collect();
    let map: Vec<(&str, &str)> = map.iter().map(|file| (file.as_str(), "")).collect();
    let fast_map: Vec<(&str, &str)> = ["STACK", "INTEGRATIONS", "ARCHITECTURE", "STRUCTURE"]
        .iter()
        .map(|name| *map.iter().find(|(file, _)| file.contains(name)).unwrap())
        .collect();
    let documented: Vec<(&str, &str)> =
        [".planning/PROJECT.md", ".planning/REQUIREMENTS.md", ".planning/ROADMAP.md", ".planning/STATE.md"]
            .map(|file| (file, ""))
            .to_vec();
    let (plain, fast, documents): ((bool, &[&str]), _, _) = ((false, &[]), (true, &[][..]), (false, &["SPEC.md"][..]));
    let action = |files: &[&[(&str, &str)]], request, code| {
        let told = onboard(&files.concat(), request, code);
        (told["next_action"]["kind"].clone(), told["next_action"]["command"].clone())
    };
    let command = |name: &str| Value::from(format!("/gsd-{name}"));
    assert_eq!(action(&[], plain, false), ("new-project".into(), command("new-project")));
    assert_eq!(action(&[], documents, false), ("ingest-docs".into(), command("ingest-docs")));
    assert_eq!(action(&[], documents, true), ("map-codebase".into(), command("map-codebase")));
    assert_eq!(action(&[], fast, true), ("map-codebase".into(), command("map-codebase --fast")));
    assert_eq!(action(&[&fast_map], plain, true), ("map-codebase".into(), command("map-codebase")));
    assert_eq!(action(&[&fast_map], fast, true).0, "complete-map-before-new-project");
    let reason = |files: &[(&str, &str)]| onboard(files, plain, true)["next_action"]["reason"].clone();
    assert!(reason(&fast_map).as_str().unwrap().contains("incomplete"), "a short map is a part of one");
    assert!(reason(&fast_map[..1]).as_str().unwrap().contains("incomplete"));
    assert!(reason(&[]).as_str().unwrap().contains("missing"));
    assert_eq!(action(&[&map], plain, true), ("new-project".into(), command("new-project")));
    assert_eq!(action(&[&map, &documented[..2]], plain, true), ("partial-planning".into(), Value::Null));
    assert_eq!(action(&[&documented], plain, false).0, "write-summary");
    let summary = [(".planning/onboarding/SUMMARY.md", "")];
    assert_eq!(action(&[&documented, &summary], plain, false).0, "ready");
    let told = onboard(&documented[..2], plain, false);
    assert_eq!(told["next_action"]["missing"], serde_json::json!(["ROADMAP.md", "STATE.md"]));
}
