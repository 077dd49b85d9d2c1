//! One task of a plan: whether it adds behaviour, and where its content is.

use schemars::JsonSchema;
use serde::Serialize;

use crate::project::check_files::{Role, role_of};
use crate::project::plan::{PhasePlan, PlanTask};

/// What `task is-behavior-adding` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BehaviorReport {
    /// One task meets all checks.
    pub(crate) is_behavior_adding: bool,
    pub(crate) checks: BehaviorChecks,
    /// The checks that no task meets; null if one task meets all.
    pub(crate) reason: Option<String>,
}

/// The checks that some task of the text meets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct BehaviorChecks {
    /// Its tests are written first.
    pub(crate) tdd_true: bool,
    /// It describes the expected behaviour.
    pub(crate) has_behavior_block: bool,
    /// It touches a source file other than a test.
    pub(crate) has_source_files: bool,
}

/// What `task resolve-content` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ResolveReport {
    /// The content is outside the plan and was found.
    pub(crate) resolved: bool,
}

/// Checks whether a task of `text` adds behaviour. A text without tasks counts as one task.
pub(crate) fn is_behavior_adding(text: &str) -> BehaviorReport {
    let mut tasks = PhasePlan::parse(text).tasks();
    if tasks.is_empty() {
        tasks.push(PlanTask::whole(text));
    }
    let each: Vec<BehaviorChecks> = tasks.iter().map(checks).collect();
    let any = |check: fn(&BehaviorChecks) -> bool| each.iter().any(check);
    let checks = BehaviorChecks {
        tdd_true: any(|checks| checks.tdd_true),
        has_behavior_block: any(|checks| checks.has_behavior_block),
        has_source_files: any(|checks| checks.has_source_files),
    };
    let is_behavior_adding = any(|checks| checks.tdd_true && checks.has_behavior_block && checks.has_source_files);
    let unmet: Vec<&str> = [
        (checks.tdd_true, "tdd=\"true\" frontmatter absent"),
        (checks.has_behavior_block, "<behavior> block missing or empty"),
        (checks.has_source_files, "<files> has no non-test source file"),
    ]
    .into_iter()
    .filter_map(|(met, unmet)| (!met).then_some(unmet))
    .collect();
    let unmet = if unmet.is_empty() { "no task meets all checks".to_owned() } else { unmet.join("; ") };
    let reason = (!is_behavior_adding).then(|| format!("Not behavior-adding: {unmet}"));
    BehaviorReport { is_behavior_adding, checks, reason }
}

fn checks(task: &PlanTask<'_>) -> BehaviorChecks {
    let files = task.files();
    BehaviorChecks {
        tdd_true: task.is_test_first(),
        has_behavior_block: task.text("behavior").is_some_and(|text| !text.is_empty()),
        has_source_files: files.iter().any(|file| is_source(file)),
    }
}

/// True if a path is source code: not a document, data or a test.
fn is_source(path: &str) -> bool {
    const OTHER: &[&str] = &["md", "mdx", "txt", "json", "yaml", "yml", "toml", "ini", "cfg", "lock"];
    let extension = path.rsplit_once('.').map_or(String::new(), |(_, extension)| extension.to_ascii_lowercase());
    role_of(&path.replace('\\', "/")) != Some(Role::Test) && !OTHER.contains(&extension.as_str())
}

/// Finds the task with this `tracker-id`. This program keeps no task contents outside plans, so the text of the plan
/// applies. `None` if no task has the id.
pub(crate) fn resolve_content(text: &str, tracker: &str) -> Option<ResolveReport> {
    let has = PhasePlan::parse(text).tracker_ids().any(|known| known == tracker);
    has.then_some(ResolveReport { resolved: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn behaviour_needs_tests_first_a_behaviour_and_source() {
        let reason = |text: &str| is_behavior_adding(text).reason;
        let unmet = |checks: &str| Some(format!("Not behavior-adding: {checks}"));
        let all = "<task type=\"auto\" tdd='true'><files>\n  - src/a.go\n</files><behavior>\nx\n</behavior></task>";
        assert_eq!(reason(all), None);
        assert_eq!(reason("tdd=\"true\" <behavior>x</behavior> <files>x.rs (new)</files>"), None);
        assert_eq!(reason(&all.replace("tdd='true'", "")), unmet("tdd=\"true\" frontmatter absent"));
        assert_eq!(reason(&all.replace("\nx\n", "\n")), unmet("<behavior> block missing or empty"));
        let none =
            "tdd=\"true\" frontmatter absent; <behavior> block missing or empty; <files> has no non-test source file";
        assert_eq!(reason("<task><files>a.md</files></task>"), unmet(none));
        for file in ["a.md", "tests/a.py", "a_test.go", "src/a.test.ts", "src/__tests__/a.ts", "test_a.py"] {
            let none = unmet("<files> has no non-test source file");
            assert_eq!(reason(&all.replace("src/a.go", file)), none, "{file}");
        }
        for file in ["Makefile", "testing/a.ts", "latest.rs", "README.md, src/b.rs"] {
            assert_eq!(reason(&all.replace("src/a.go", file)), None, "{file}");
        }
        let two = format!("{}{}", all.replace("'true'", "'false'"), "<task tdd=\"true\"><files>b.md</files></task>");
        assert_eq!(reason(&two), unmet("no task meets all checks"));
    }

    #[test]
    fn a_task_is_found_by_its_tracker() {
        let text =
            "<tasks>\n<task type=\"auto\" tracker-id=\"A-1\"><name>a</name></task>\n<task tracker-id='B'/>\n</tasks>";
        assert!(resolve_content(text, "A-1").is_some_and(|report| !report.resolved));
        assert!(resolve_content(text, "B").is_some());
        assert!(resolve_content(text, "a-1").is_none() && resolve_content("", "").is_none());
    }
}
