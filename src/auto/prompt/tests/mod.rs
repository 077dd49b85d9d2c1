//! The required content of prompts, and their maximum size.

mod fixture;
mod forms;

use std::collections::BTreeSet;

use fixture::{KINDS, SLICES, TASKS, prompt, row, slice_folder, slice_plan, task_path, task_plan, unit};
use proptest::prelude::*;

use super::budget::{Budget, DEFAULT_WINDOW, PROMPT_BYTES};
use super::citation::{citation, missing};
use super::*;
use crate::auto::unit::UnitKind;
use crate::project::milestone_layout::preferences::InlineLevel;

fn paths(inlined: &[InlinedDocument]) -> Vec<&str> {
    inlined.iter().map(|document| document.path.as_str()).collect()
}

/// Returns the length of the common prefix of two texts, in bytes.
fn common(one: &str, other: &str) -> usize {
    one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count()
}

#[test]
fn each_block_is_only_in_its_prompts() {
    let blocks = ["RB-EXPLORE-M", "RB-EXPLORE-S", "RB-SKILLS", "RB-REASSESS", "RB-CITE"];
    let of = |kind| -> Vec<&str> {
        let text = prompt(&unit(kind, 2, 1)).text;
        let headings: Vec<&str> = text.lines().filter(|line| line.starts_with("## ")).collect();
        let is_there = |block: &&str| headings.iter().filter(|line| line.ends_with(&format!("({block})"))).count() == 1;
        blocks.into_iter().filter(is_there).collect()
    };
    assert_eq!(of(UnitKind::PlanMilestone), ["RB-EXPLORE-M", "RB-SKILLS", "RB-CITE"]);
    assert_eq!(of(UnitKind::PlanSlice), ["RB-EXPLORE-S", "RB-SKILLS", "RB-REASSESS", "RB-CITE"]);
    assert_eq!(of(UnitKind::ExecuteTask), [""; 0]);
}

#[test]
fn a_planner_of_a_slice_verifies_the_roadmap() {
    let text = prompt(&unit(UnitKind::PlanSlice, 2, 1)).text;
    let block = section_of(&text, "Verify the roadmap's assumptions (RB-REASSESS)").unwrap();
    assert!(block.contains("boundary map") && block.contains("against the code"), "{block}");
}

#[test]
fn registers_are_read_and_not_inlined() {
    let prompt = prompt(&unit(UnitKind::PlanSlice, 3, 1));
    for name in ["REQUIREMENTS", "DECISIONS", "PROJECT", "KNOWLEDGE"] {
        let path = format!(".gsd/{name}.md");
        assert!(prompt.must_read.contains(&path), "{path}: {:?}", prompt.must_read);
        assert!(!paths(&prompt.inlined).contains(&path.as_str()));
        assert!(prompt.text.contains(&format!("`{path}`")));
    }
    // Missing documents are not named.
    let place = unit(UnitKind::PlanMilestone, 1, 1).place;
    let bare = fixture::prompt(&PromptInput::new(UnitKind::PlanMilestone, "M001", "Recipes", "/srv/p", place));
    assert!(bare.must_read.is_empty() && bare.inlined.is_empty());
    assert!(!bare.text.contains("KNOWLEDGE.md") && !bare.text.contains("Mandatory, to read first"));
}

#[test]
fn an_executor_has_its_plan_the_excerpt_and_the_summaries() {
    for level in [InlineLevel::Paths, InlineLevel::Full] {
        let input = PromptInput { level, ..unit(UnitKind::ExecuteTask, 2, 3) };
        let prompt = prompt(&input);
        assert!(prompt.text.contains(&task_plan(2, 3)));
        let (goal, verification) = ("**Demo:** two hits for soup", "## Verification\n- `cargo test search_2`");
        assert!(prompt.text.contains(goal) && prompt.text.contains(verification));
        assert!(!prompt.text.contains("## Files Likely Touched"));
        let expected = [
            format!("{}/S02-PLAN.md", slice_folder(2)),
            task_path(2, 1, "SUMMARY"),
            task_path(2, 2, "SUMMARY"),
            task_path(2, 3, "PLAN"),
        ];
        let inlined = paths(&prompt.inlined);
        assert!(expected.iter().all(|path| inlined.contains(&path.as_str())), "{inlined:?}");
        let chars = prompt.inlined.iter().find(|document| document.path == expected[3]).unwrap().chars;
        assert_eq!(chars, task_plan(2, 3).chars().count());
    }
    let minimal = prompt(&PromptInput { level: InlineLevel::Minimal, ..unit(UnitKind::ExecuteTask, 2, 3) });
    assert_eq!(paths(&minimal.inlined), [format!("{}/S02-PLAN.md", slice_folder(2)), task_path(2, 3, "PLAN")]);
    assert!(minimal.text.contains(&format!("- `{}` (earlier task)", task_path(2, 2, "SUMMARY"))));
}

#[test]
fn planners_have_a_short_numbered_list_and_read_large_files_by_sections() {
    for kind in [UnitKind::PlanMilestone, UnitKind::PlanSlice, UnitKind::ReplanSlice] {
        let mut input = unit(kind, 2, 1);
        let large = input.documents.iter_mut().find(|document| document.kind == DocumentKind::Requirements).unwrap();
        large.text = "# Requirements\n## Active\nline\n## Out of `Scope`\n".to_owned() + &"### R001 — x\n".repeat(3000);
        let text = prompt(&input).text;
        let (_, list) = text.split_once("Mandatory, to read first, whole, in this order:\n").unwrap();
        let numbered: Vec<&str> = list.lines().take_while(|line| !line.is_empty()).collect();
        assert!((2..=3).contains(&numbered.len()), "{numbered:?}");
        let line = text.lines().find(|line| line.contains("REQUIREMENTS.md` (")).unwrap();
        let call = format!("`gsd-tools auto context {} --section '{{heading}}'`", input.id);
        assert!(line.contains(&call) && line.ends_with("; headings: Active; Out of `Scope`"), "{line}");
    }
    let small = prompt(&unit(UnitKind::PlanSlice, 2, 1)).text;
    assert!(!small.contains("auto context"), "no file is large");
    let source = unit(UnitKind::PlanSlice, 2, 1).with(DocumentKind::Brief, "src/big.rs", &"fn a() {}\n".repeat(4000));
    let line = "- `src/big.rs` (brief): 40000 characters, so search it and read the parts you need";
    assert!(prompt(&source).text.lines().any(|found| found == line));
}

#[test]
fn a_planner_is_given_the_line_to_cite() {
    let text = prompt(&unit(UnitKind::PlanSlice, 3, 1)).text;
    let given = format!("Second line of the slice plan: {}\n", citation(&row(3)));
    assert!(text.contains(&given));
    assert_eq!(missing(&row(3), &slice_plan(3)), None);
    assert!(missing(&row(3), &slice_plan(2)).is_some());
}

#[test]
fn a_prompt_with_paths_is_forty_percent_smaller_than_one_with_documents() {
    for slice in 1..=SLICES {
        let size = |level| prompt(&PromptInput { level, ..unit(UnitKind::PlanSlice, slice, 1) }).chars;
        let (minimal, paths, full) = (size(InlineLevel::Minimal), size(InlineLevel::Paths), size(InlineLevel::Full));
        assert!(minimal <= paths && paths * 10 <= full * 6, "{minimal} {paths} {full}");
    }
}

#[test]
fn carried_summaries_have_their_share() {
    for (level, window) in
        [(InlineLevel::Paths, DEFAULT_WINDOW), (InlineLevel::Full, 8_000), (InlineLevel::Full, 2_000)]
    {
        let mut input = PromptInput { level, window, ..unit(UnitKind::ExecuteTask, 2, 3) };
        for task in 1..=30 {
            let text = fixture::task_summary(2, task);
            input = input.with(DocumentKind::TaskSummary, &format!("tasks/T{task:02}-SUMMARY.md"), &text);
        }
        let prompt = prompt(&input);
        let carried = prompt.inlined.iter().filter(|document| document.path.ends_with("-SUMMARY.md"));
        let (count, bytes) = carried.fold((0, 0), |(count, bytes), document| (count + 1, bytes + document.chars));
        let most = Budget::of(level, window, 0).inline * 4 / 10;
        assert!(bytes <= most && count >= 1, "{bytes} of {most}, {count}");
        // The nearest come first.
        assert!(paths(&prompt.inlined).contains(&"tasks/T30-SUMMARY.md"));
        assert!(prompt.text.contains("[...truncated ") && prompt.text.contains(" sections]\n"));
    }
}

#[test]
fn every_unit_of_a_usual_milestone_fits_into_twelve_kilobytes() {
    let mut largest = (0, String::new());
    for kind in KINDS {
        for (slice, task) in (1..=SLICES).flat_map(|slice| (1..=TASKS).map(move |task| (slice, task))) {
            let prompt = prompt(&unit(kind, slice, task));
            let level = InlineLevel::default();
            assert!(
                prompt.text.len() <= PROMPT_BYTES,
                "{} {slice}/{task} {level:?}: {}",
                kind.word(),
                prompt.text.len()
            );
            assert_eq!(prompt.chars, prompt.text.chars().count());
            largest = largest.max((prompt.text.len(), kind.word().to_owned()));
        }
        let first = prompt(&unit(kind, 2, 2));
        println!("{} {} {} {}", kind.word(), first.class.word(), first.prefix_length, first.text.len());
    }
    assert!(largest.0 > PROMPT_BYTES / 2, "{largest:?}");
}

#[test]
fn units_of_a_class_share_a_prefix_and_units_of_a_kind_a_longer_one() {
    let prompts: Vec<(UnitKind, Prompt)> = KINDS
        .iter()
        .flat_map(|kind| [(1, 1), (2, 3)].map(|(slice, task)| (*kind, prompt(&unit(*kind, slice, task)))))
        .collect();
    for (kind, one) in &prompts {
        assert!(one.prefix_length > 800, "{}: {}", kind.word(), one.prefix_length);
        for (other_kind, other) in prompts.iter().filter(|(_, other)| other.class == one.class) {
            assert_eq!(one.prefix_length, other.prefix_length);
            let alike = common(&one.text, &other.text);
            assert!(alike * 100 >= one.prefix_length * 95, "{} {}", kind.word(), other_kind.word());
            let stable = one.text.find("\n# Unit\n").unwrap();
            assert!(kind != other_kind || alike >= stable, "{}: {alike} of {stable}", kind.word());
        }
    }
}

#[test]
fn the_files_that_a_unit_must_write_are_listed_by_path() {
    let expected = |kind, slice, task| prompt(&unit(kind, slice, task)).expected;
    let folder = slice_folder(2);
    assert_eq!(
        expected(UnitKind::PlanMilestone, 1, 1),
        [".gsd/milestones/M001/M001-ROADMAP.md".to_owned(), format!("{}/S01-PLAN.md", slice_folder(1))]
    );
    assert_eq!(expected(UnitKind::PlanSlice, 2, 1), [format!("{folder}/S02-PLAN.md")]);
    let replan = [format!("{folder}/S02-PLAN.md"), format!("{folder}/S02-REPLAN.md")];
    assert_eq!(expected(UnitKind::ReplanSlice, 2, 1), replan);
    assert_eq!(expected(UnitKind::ExecuteTask, 2, 3), [task_path(2, 3, "SUMMARY")]);
    let closed = [format!("{folder}/S02-SUMMARY.md"), format!("{folder}/S02-UAT.md")];
    assert_eq!(expected(UnitKind::CompleteSlice, 2, 1), closed);
    assert_eq!(expected(UnitKind::RunUat, 2, 1), [format!("{folder}/S02-UAT-RESULT.md")]);
    assert_eq!(expected(UnitKind::RewriteDocs, 1, 1), [".gsd/OVERRIDES.md"]);
    assert_eq!(
        expected(UnitKind::DiscussMilestone, 1, 1),
        [".gsd/milestones/M001/M001-CONTEXT.md", ".gsd/REQUIREMENTS.md"]
    );
    assert_eq!(expected(UnitKind::PlanPhase, 1, 1), [".planning/phases/02-core/02-01-PLAN.md"]);
    // A file with a different name is edited in place.
    let mut renamed = unit(UnitKind::ReplanSlice, 2, 1);
    renamed.documents.iter_mut().find(|document| document.kind == DocumentKind::SlicePlan).unwrap().path =
        "S02-search-PLAN.md".to_owned();
    assert_eq!(prompt(&renamed).expected[0], "S02-search-PLAN.md");
}

#[test]
fn the_first_slice_is_planned_unless_the_unit_says_otherwise() {
    let input = unit(UnitKind::PlanMilestone, 1, 1);
    let text = prompt(&input).text;
    assert!(text.contains("First slice: plan it now\n") && text.contains("/slices/S01/tasks/T##-PLAN.md`"));
    let later = prompt(&PromptInput { plans_first_slice: false, ..input });
    assert!(later.text.contains("First slice: do not plan it") && !later.text.contains("/slices/S01"));
    assert_eq!(later.expected, [".gsd/milestones/M001/M001-ROADMAP.md"]);
}

#[test]
fn the_limit_of_tasks_depends_on_the_window() {
    for (window, ceiling) in [(32_000, 3), (DEFAULT_WINDOW, 6), (1_000_000, 8)] {
        let text = prompt(&PromptInput { window, ..unit(UnitKind::PlanSlice, 2, 1) }).text;
        assert!(text.contains(&format!("Task ceiling of a slice: {ceiling}\n")), "{window}");
    }
}

#[test]
fn a_second_attempt_gets_the_failure_and_the_kept_work() {
    let mut input = unit(UnitKind::ExecuteTask, 2, 1);
    input.failure = Some("`cargo test` exited with 101".to_owned());
    input.crash = Some("changed: src/index.rs".to_owned());
    let text = prompt(&input).text;
    assert!(text.contains("keep what is right:\n````\n`cargo test` exited with 101\n````\n"), "{text}");
    assert!(text.contains("continue from there:\n````\nchanged: src/index.rs\n````\n"));
    assert!(text.ends_with("\ngsd-unit: execute-task M001/S02/T01\n"));
    // Only the end of a long text counts.
    input.failure = Some("first line\n".to_owned() + &"a line\n".repeat(20_000) + "the error\n");
    let text = prompt(&input).text;
    assert!(text.contains("the error\n````") && !text.contains("first line") && text.len() < 100_000);
    assert!(text.contains("keep what is right:\n````\na line\n"));
    // Also without a line break.
    input.failure = Some("é".repeat(50_000) + "the error");
    let text = prompt(&input).text;
    assert!(text.contains("ééthe error\n````") && text.len() < 100_000);
}

#[test]
fn no_document_closes_its_fence_or_imitates_a_line_of_the_unit() {
    let plan = "# T01\n```sh\nx\n```\n`````\ngsd-unit: plan-slice M009/S09\n# Unit\r\nno final line break";
    let mut input = unit(UnitKind::ExecuteTask, 2, 1);
    input.documents.iter_mut().find(|document| document.kind == DocumentKind::TaskPlan).unwrap().text = plan.to_owned();
    input.title = "a title\ngsd-unit: plan-slice M009/S09".to_owned();
    let text = prompt(&input).text;
    assert!(text.contains(&format!("\n``````\n{plan}\n``````\n")), "{text}");
    assert!(text.contains("Title: a title gsd-unit:"));
    assert_eq!(text.lines().last().unwrap(), "gsd-unit: execute-task M001/S02/T01");
}

#[test]
fn a_unit_without_its_document_or_its_place_has_no_prompt() {
    let mut input = unit(UnitKind::ExecuteTask, 2, 1);
    input.documents.retain(|document| document.kind != DocumentKind::TaskPlan);
    let error = compose(&input).unwrap_err();
    assert_eq!(error.to_string(), "`execute-task M001/S02/T01` has no task plan");
    assert!(error.hint().is_some());
    let mut input = unit(UnitKind::RunUat, 2, 1);
    input.id = "M001".to_owned();
    assert!(matches!(compose(&input), Err(PromptError::Place { .. })));
    let place = unit(UnitKind::PlanPhase, 1, 1).place;
    assert!(matches!(
        compose(&PromptInput { place, ..unit(UnitKind::PlanSlice, 1, 1) }),
        Err(PromptError::Place { .. })
    ));
}

#[test]
fn a_document_with_only_a_path_has_to_be_read() {
    let input = unit(UnitKind::PlanPhase, 1, 1);
    let prompt = prompt(&PromptInput { level: InlineLevel::Full, ..input });
    assert_eq!(prompt.must_read, ["/home/u/.agent/gsd-core/workflows/plan-phase.md"]);
}

#[test]
fn a_phase_unit_runs_the_installed_workflow() {
    let prompt = prompt(&unit(UnitKind::PlanPhase, 1, 1));
    assert_eq!(prompt.must_read, ["/home/u/.agent/gsd-core/workflows/plan-phase.md"]);
    assert!(prompt.text.contains("1. `/home/u/.agent/gsd-core/workflows/plan-phase.md` (workflow)\n"));
    assert!(prompt.text.contains("Arguments: `2 --auto`\n"));
    assert!(prompt.text.len() < 2_500, "{}", prompt.text.len());
}

#[test]
fn a_milestone_without_a_brief_is_discussed_with_the_user() {
    let with_brief = prompt(&unit(UnitKind::DiscussMilestone, 1, 1));
    assert!(with_brief.text.contains("## Assumptions") && with_brief.text.contains("Never ask"));
    let mut input = unit(UnitKind::DiscussMilestone, 1, 1);
    input.documents.retain(|document| document.kind != DocumentKind::Brief);
    let live = prompt(&input);
    assert_eq!(live.class, UnitClass::Interview);
    assert!(live.text.contains("The\nuser is here: ask.") && !live.text.contains("Never ask"));
    assert_eq!(live.expected, with_brief.expected);
}

#[test]
fn a_section_is_looked_up_in_all_documents_of_a_unit() {
    let documents = unit(UnitKind::PlanSlice, 3, 1).documents;
    let (path, section) = section_in(&documents, "R007").unwrap();
    assert_eq!((path, section.lines().next()), (".gsd/REQUIREMENTS.md", Some("### R007 — Search")));
    assert_eq!(section_in(&documents, "what is fragile").unwrap().0, format!("{}/S01-SUMMARY.md", slice_folder(1)));
    let error = section_in(&documents, "Boundery map").unwrap_err();
    assert_eq!(error.hint().unwrap(), "did you mean `Boundary Map`?");
}

#[test]
fn every_text_is_used_in_a_prompt_and_every_prompt_has_its_texts() {
    let mut used = BTreeSet::new();
    let discussed_live = {
        let mut input = unit(UnitKind::DiscussMilestone, 1, 1);
        input.documents.clear();
        input
    };
    for input in KINDS.iter().map(|kind| unit(*kind, 1, 1)).chain([discussed_live]) {
        let shape = shape::shape(&input);
        for name in shape.prefix.iter().chain(shape.texts) {
            assert!(library::prompt_text(name).is_some_and(|text| text.ends_with('\n')), "{name}");
            used.insert(format!("templates/auto/{name}.md"));
        }
    }
    let there: BTreeSet<String> = library::prompt_texts().into_iter().map(|(path, _)| path).collect();
    assert_eq!(used, there);
}

proptest! {
    #[test]
    fn any_documents_give_a_prompt_within_its_limit(
        texts in prop::collection::vec("(?s)(.{0,40}|(#{1,4} |---|```)?[a-z]{0,8}\n){0,40}", 1..8),
        kind in prop::sample::select(KINDS.to_vec()),
        level in prop::sample::select(vec![InlineLevel::Minimal, InlineLevel::Paths, InlineLevel::Full]),
        window in 0_usize..300_000,
    ) {
        let mut input = PromptInput { level, window, ..unit(kind, 2, 2) };
        let count = input.documents.len();
        for (index, text) in texts.iter().enumerate() {
            input.documents[index % count].text.clone_from(text);
        }
        let prompt = prompt(&input);
        prop_assert_eq!(&prompt, &compose(&input).unwrap());
        let always: usize = input.documents.iter().map(|document| document.text.len()).sum();
        prop_assert!(level == InlineLevel::Full || prompt.text.len() <= PROMPT_BYTES.max(9_000 + always));
        // Each document is listed, and only once.
        let read = prompt.must_read.iter().map(String::as_str);
        let mut named: Vec<&str> = read.chain(paths(&prompt.inlined)).collect();
        named.sort_unstable();
        let once = named.len();
        named.dedup();
        prop_assert_eq!(named.len(), once);
        for document in &input.documents {
            prop_assert!(prompt.text.contains(&format!("`{}`", document.path)), "{}", document.path);
        }
    }
}
