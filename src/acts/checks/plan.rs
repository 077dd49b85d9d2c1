//! The results of an executed plan: its SUMMARY, its commits, its files.

use crate::acts::Call;
use crate::acts::checks::work;
use crate::acts::facts;
use crate::disk;
use crate::failure::Failure;
use crate::operations::plans::close::PlanEnd;
use crate::operations::plans::close::PlanPlace;
use crate::operations::plans::summary_check::{self, SelfCheck};
use crate::project::git_settings::names_no_filter;
use crate::project::plan::{MustHave, PhasePlan, PhaseSummary};
use crate::project::plan_commits;
use crate::project::view::ProjectView;
use crate::text::front_matter::{self, Value};
use crate::world::Finished;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::Path;

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CheckedPlan {
    pub(crate) plan: String,
    pub(crate) finished: bool,
    pub(crate) summary: SummaryState,
    /// The commits of the plan, newest first: hash and subject.
    pub(crate) commits: Vec<String>,
    /// The files that its commits changed and that its SUMMARY does not name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) unreported: Vec<String>,
    /// Why it is not finished.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) findings: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SummaryState {
    Missing,
    Complete,
    Halted,
    Blocked,
}

/// What is answered about a plan that promises nothing of a kind.
pub(crate) fn promises_none(list: MustHave, path: &str) -> Failure {
    let error = format!("No must_haves.{} found in frontmatter", list.key());
    Failure::usage(&*error).answered_about(&*error, "plan", path)
}

pub(crate) fn checked(call: &Call, view: &ProjectView, place: &PlanPlace, tdd: bool) -> Result<CheckedPlan, Failure> {
    let plan = view.text(&place.path())?.unwrap_or_default();
    let summary_path = place.summary();
    let summary = summary_path.as_ref().map(|path| view.text(path)).transpose()?.flatten();
    let commits = commits_of(call, view, place, works_outside(view, &PhasePlan::parse(&plan)));
    let mut findings = Vec::new();
    let state = match summary.as_deref() {
        None => {
            findings.push(format!("no SUMMARY: `{}`", place.summary_path()));
            SummaryState::Missing
        }
        Some(text) => {
            findings.extend(unusable(text).map(|reason| format!("`{}` {reason}", place.summary_path())));
            findings.extend(findings_of(call, place, text)?);
            match PlanEnd::of(&PhaseSummary::parse(text)) {
                PlanEnd::Complete => SummaryState::Complete,
                PlanEnd::Halted => SummaryState::Halted,
                PlanEnd::Blocked => {
                    findings.push("its SUMMARY says `status: blocked`: it is still to be done".to_owned());
                    SummaryState::Blocked
                }
            }
        }
    };
    if let (Some(path), true) = (&summary_path, call.config()?.commit_docs())
        && is_uncommitted(call, path)
    {
        findings.push(format!("`{path}` is not committed"));
    }
    if let Some(commits) = &commits {
        if commits.is_empty() && state == SummaryState::Complete {
            let what = if works_outside(view, &PhasePlan::parse(&plan)) { " and changes what it builds" } else { "" };
            findings.push(format!("no commit has the scope `({})`{what}", place.id()));
        }
        if tdd && PhasePlan::parse(&plan).has_test_first_task() && !test_came_first(commits) {
            findings.push("no `test(..)` commit comes before its first `feat(..)` commit".to_owned());
        }
    }
    Ok(CheckedPlan {
        plan: place.id().to_owned(),
        finished: findings.is_empty(),
        summary: state,
        unreported: summary
            .as_deref()
            .filter(|_| commits.is_some())
            .map_or_else(|| Ok(Vec::new()), |text| work::unreported(call, view, place.folder(), place.id(), text))?,
        commits: commits.unwrap_or_default(),
        findings,
    })
}

/// The problems with the claims of a SUMMARY.
fn findings_of(call: &Call, place: &PlanPlace, text: &str) -> Result<Vec<String>, Failure> {
    let mut findings = Vec::new();
    if summary_check::self_check(text) == SelfCheck::Failed {
        findings.push("its Self-Check says FAILED".to_owned());
    }
    let files = PhaseSummary::parse(text).value("key-files");
    let named = ["created", "modified"].iter().filter_map(|key| files.as_ref()?.get(key));
    for file in named.flat_map(Value::texts) {
        let path = file.split(" (").next().unwrap_or(file).trim().trim_matches('`');
        if !path.is_empty() && !disk::exists(call.root().resolve(path)) {
            findings.push(format!("`{path}` of its key-files does not exist"));
        }
    }
    // With repositories inside this one, the commits are in those.
    if call.config()?.sub_repositories().is_empty() {
        findings.extend(commit_findings(call, place, text));
    }
    Ok(findings)
}

/// The problems with the commits that a SUMMARY lists: those that do not exist, and those that do not belong to the
/// plan.
fn commit_findings(call: &Call, place: &PlanPlace, text: &str) -> Vec<String> {
    let listed = summary_check::task_commits(text);
    let git = |line: &[&str]| call.world().git(call.root().as_path(), line).ok();
    let is_before = |hash: &str, other: &str| {
        git(&["merge-base", "--is-ancestor", hash, other]).is_some_and(|finished| finished.success())
    };
    let said = |line: &[&str]| git(line).filter(Finished::success).map(|found| found.text()).unwrap_or_default();
    let written = said(&["log", "--diff-filter=A", "--format=%H", "-1", "--", &place.path()]);
    let (there, invented): (Vec<&str>, Vec<&str>) = listed.hashes.iter().partition(|hash| facts::is_commit(call, hash));
    let mut findings: Vec<String> =
        invented.iter().map(|hash| format!("commit `{hash}` of its Task Commits does not exist")).collect();
    findings.extend(listed.placeholders.iter().map(|word| format!("`{word}` in its Task Commits is not a commit")));
    let of_plan = |hash: &&&str| !written.is_empty() && is_before(hash, "HEAD") && !is_before(hash, &written);
    // If all of them are older, the plan was committed afterwards.
    let knows_order = there.iter().any(|hash| of_plan(&hash));
    let phase = place.folder().token();
    for hash in there {
        let subject = said(&["log", "-1", "--format=%s", hash, "--"]);
        let is_of_phase = !plan_commits::scopes_among(&subject, [place.id(), phase]).is_empty()
            || plan_commits::is_of_plans_of(&subject, phase);
        if !is_before(hash, "HEAD") {
            findings.push(format!("commit `{hash}` of its Task Commits is not in the history of this branch"));
        } else if plan_commits::has_number(&subject) && !is_of_phase {
            findings.push(format!("commit `{hash}` of its Task Commits is of another phase: `{subject}`"));
        } else if knows_order && is_before(hash, &written) {
            findings.push(format!("commit `{hash}` of its Task Commits is older than the plan"));
        }
    }
    findings
}

/// True if a plan is to change files outside of the planning folder. A plan that does not is finished by its documents.
fn works_outside(view: &ProjectView, plan: &PhasePlan<'_>) -> bool {
    let planning = view.layout().planning();
    let is_outside = |file: &String| !Path::new(file.trim_start_matches("./")).starts_with(planning);
    plan.files_modified().iter().chain(&plan.files_deleted()).any(is_outside)
}

/// Why a SUMMARY is unusable: it is empty, or its front matter cannot be read.
pub(crate) fn unusable(summary: &str) -> Option<&'static str> {
    if summary.trim().is_empty() {
        return Some("is empty");
    }
    front_matter::is_unclosed(summary).then_some("line 1: the front matter is not closed by a line `---`")
}

/// Subjects of commits with the plan's scope, made since the plan was written; with `with_work`, only of those that
/// change something outside of the planning folder, since the commit that closes a plan is not work on it. `None` if
/// git fails.
fn commits_of(call: &Call, view: &ProjectView, place: &PlanPlace, with_work: bool) -> Option<Vec<String>> {
    let root = view.layout().root();
    let run = |arguments: &[&str]| {
        let finished = call.world().git(root, arguments).ok().filter(Finished::success)?;
        Some(finished.text())
    };
    let path = place.path();
    let written = run(&["log", "--diff-filter=A", "--format=%H", "-1", "--", &path])?;
    let span = if written.is_empty() { "HEAD".to_owned() } else { format!("{written}..HEAD") };
    let pattern = format!("--grep={}", plan_commits::loose_pattern(place.id()));
    let mut line = vec!["log", "--format=%h %s", "-E", "-i", &pattern, &span];
    let planning = format!(":(exclude){}", view.layout().planning());
    // The files of repositories inside this one are committed there.
    if with_work && call.config().is_ok_and(|config| config.sub_repositories().is_empty()) {
        line.extend(["--full-history", "--", ":/", &planning]);
    }
    let log = run(&line)?;
    let is_of_plan = |line: &&str| {
        line.split_once(' ').is_some_and(|(_, subject)| !plan_commits::scopes_among(subject, [place.id()]).is_empty())
    };
    Some(log.lines().filter(is_of_plan).map(str::to_owned).collect())
}

fn test_came_first(commits: &[String]) -> bool {
    let kind =
        |commit: &String, kind: &str| commit.split_once(' ').is_some_and(|(_, subject)| subject.starts_with(kind));
    let oldest_first = || commits.iter().rev();
    let feature = oldest_first().position(|commit| kind(commit, "feat("));
    let test = oldest_first().position(|commit| kind(commit, "test("));
    feature.is_none_or(|feature| test.is_some_and(|test| test < feature))
}

fn is_uncommitted(call: &Call, path: &str) -> bool {
    let line = ["--no-optional-locks", "status", "--porcelain", "--", path];
    let status =
        call.world().git_differences(call.layout().root(), names_no_filter, line).ok().filter(Finished::success);
    status.is_some_and(|status| !status.text().is_empty())
}
