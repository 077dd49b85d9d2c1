//! What the commits of a phase changed, and whether its tests became weaker: read from git, not from a SUMMARY.

use crate::acts::named;
use crate::acts::named::no_phase;
use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use crate::acts::Call;
use crate::acts::git::phase_work::{self, PhaseWork};
use crate::acts::git::tree::CommitFiles;
use crate::acts::git::uncommitted::Uncommitted;
use crate::failure::Failure;
use crate::gate::discovery::{Wanted, discover};
use crate::gate::pins::{Pins, Planned};
use crate::gate::secrets::{SecretFound, added_secrets, holds_key};
use crate::gate::tamper::{FileChange, Finding, Weakening, Work, inspect};
use crate::operations::plans::promises;
use crate::operations::plans::summary_check::{is_named, listed_files, named_files};
use crate::project::check_files::{Role, role_of};
use crate::project::folder::{PhaseFolder, plan_id};
use crate::project::plan::PhasePlan;
use crate::project::self_running::SelfRunning;
use crate::project::view::ProjectView;

/// What `verify work` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct WorkReport {
    phase: String,
    /// The commit before the first of the phase, or the empty tree if the first has no parent; `null` if the phase has
    /// no commit.
    base: Option<String>,
    commits: usize,
    files: Vec<ChangedFile>,
    /// The files that the SUMMARY of a plan does not name although the plan's commits changed them.
    unreported: Vec<String>,
    /// The files that a SUMMARY names and that no commit of the phase changed.
    without_commit: Vec<String>,
    /// Files changed since `base` by commits without the scope of the phase: a person's changes, or work not attributed
    /// to the phase.
    other_files: Vec<String>,
    tests: TestsPart,
    keys: Option<Vec<KeyFound>>,
    /// The artifacts that the plans promise and that are missing or not as promised.
    artifacts_missing: Vec<MissingArtifact>,
    /// The links that the plans promise and that were not found.
    links_missing: Vec<MissingLink>,
    /// How many artifacts and links the plans promise.
    promised: usize,
    /// What could not be checked.
    problems: Vec<String>,
}

/// Whether the tests in the changed files became weaker.
#[derive(Debug, Default, Serialize, JsonSchema)]
struct TestsPart {
    /// Whether nothing was found; `null` if there was nothing to check, or if tests became weaker only by commits of
    /// unknown scope.
    clean: Option<bool>,
    findings: Vec<TestFinding>,
    /// The findings that a plan allows under `Allowed test changes:`.
    allowed: Vec<TestFinding>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct MissingArtifact {
    plan: String,
    path: String,
    issues: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct MissingLink {
    plan: String,
    from: Option<String>,
    to: Option<String>,
    detail: String,
}

/// A line that was added since `base`, in any file, and that looks as if it contains a key. The key itself is not
/// shown.
#[derive(Debug, Serialize, JsonSchema)]
struct KeyFound {
    path: String,
    /// Counted from 1.
    line: usize,
    /// How the key begins.
    kind: String,
}

/// One file that a phase changed.
#[derive(Debug, Serialize, JsonSchema)]
struct ChangedFile {
    path: String,
    change: Change,
    is_test: bool,
    /// The scopes of the commits that changed it: plans, or the phase itself.
    plans: Vec<String>,
    /// Whether the SUMMARY of each plan that changed it names it.
    reported: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Change {
    Added,
    Modified,
    Deleted,
    /// The commits of the phase reverted their own change to it.
    Unchanged,
}

/// What `verify tests` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TestsReport {
    #[serde(flatten)]
    tests: TestsPart,
    keys: Option<Vec<KeyFound>>,
    /// The commit that the tests are compared with.
    base: Option<String>,
    /// What could not be checked.
    problems: Vec<String>,
}

/// One place where a check became weaker.
#[derive(Debug, Serialize, JsonSchema)]
struct TestFinding {
    /// Empty if it is about a command and not a file.
    path: String,
    /// Counted from 1; 0 for the whole file. For removed code, its old line.
    line: usize,
    kind: &'static str,
    what: String,
}

/// Reports what the commits of a phase changed, next to what its documents say.
pub(crate) fn work(call: &Call, phase: &str) -> Result<WorkReport, Failure> {
    let view = call.view();
    let folder = folder_of(call, &view, phase)?;
    let reported = Reported::of(&view, &folder)?;
    let plans = Plans::of(&view, &folder)?;
    let promises = Promises::of(&view, &folder)?;
    drop(view);
    let (work, mut problems) = seen(call, &folder)?;
    let touched = work.files();
    let without_commit = reported.all().filter(|path| !touched.contains_key(path.as_str())).cloned().collect();
    let (mut files, mut tests, mut other_files, mut keys) = (Vec::new(), TestsPart::default(), Vec::new(), None);
    if let Some(base) = &work.base {
        problems.extend(uncommitted(call)?);
        let (before, after) = (files_of(call, base)?, files_of(call, "HEAD")?);
        files = touched.iter().filter_map(|(path, plans)| changed(path, plans, &reported, (&before, &after))).collect();
        let planning = format!("{}/", call.layout().planning());
        let differing = before.differing(&after);
        keys = Some(keys_in((&before, &after), &differing)?);
        other_files = differing;
        other_files.retain(|path| !path.starts_with(&planning) && !touched.contains_key(path.as_str()));
        let (found, more) = plans.compared_with((&before, &after), &work)?;
        tests = found;
        problems.extend(more);
    }
    let is_unreported = |file: &&ChangedFile| !file.reported && file.change != Change::Unchanged;
    let unreported = files.iter().filter(is_unreported).map(|file| file.path.clone()).collect();
    Ok(WorkReport {
        phase: folder.token().to_owned(),
        base: work.base.clone(),
        commits: work.commits.len(),
        files,
        unreported,
        without_commit,
        other_files,
        tests,
        keys,
        artifacts_missing: promises.artifacts,
        links_missing: promises.links,
        promised: promises.count,
        problems,
    })
}

/// The change of a file; `None` if it existed neither before nor after.
fn changed(
    path: &str,
    plans: &BTreeSet<&str>,
    reported: &Reported,
    (before, after): (&CommitFiles, &CommitFiles),
) -> Option<ChangedFile> {
    let change = match (before.entry(path), after.entry(path)) {
        (None, None) => return None,
        (None, Some(_)) => Change::Added,
        (Some(_), None) => Change::Deleted,
        (Some(old), Some(new)) if old == new => Change::Unchanged,
        _ => Change::Modified,
    };
    Some(ChangedFile {
        path: path.to_owned(),
        change,
        is_test: role_of(path) == Some(Role::Test),
        plans: plans.iter().map(|plan| (*plan).to_owned()).collect(),
        reported: reported.has(path, plans),
    })
}

/// What the executed plans of a phase promise about the source, and which of it is missing.
#[derive(Debug, Default)]
struct Promises {
    artifacts: Vec<MissingArtifact>,
    links: Vec<MissingLink>,
    count: usize,
}

impl Promises {
    fn of(view: &ProjectView, folder: &PhaseFolder) -> Result<Self, Failure> {
        let mut found = Self::default();
        for (file, text) in view.plan_texts(folder)? {
            if folder.summary_of(&file).is_none() {
                continue;
            }
            let (plan, id) = (PhasePlan::parse(&text), plan_id(&file).to_owned());
            if let Some(report) = promises::artifacts(view, &plan) {
                found.count += report.total;
                let missing = report.artifacts.into_iter().filter(|artifact| !artifact.passed);
                found.artifacts.extend(missing.map(|artifact| MissingArtifact {
                    plan: id.clone(),
                    path: artifact.path,
                    issues: artifact.issues,
                }));
            }
            if let Some(report) = promises::key_links(view, &plan, &folder.join(&file))? {
                found.count += report.total;
                let missing = report.links.into_iter().filter(|link| !link.verified);
                found.links.extend(missing.map(|link| MissingLink {
                    plan: id.clone(),
                    from: link.from,
                    to: link.to,
                    detail: link.detail,
                }));
            }
        }
        Ok(found)
    }
}

/// Reports whether the tests became weaker since a commit, or since the first of a phase.
pub(crate) fn tests(call: &Call, base: Option<&str>, phase: Option<&str>) -> Result<TestsReport, Failure> {
    let mut problems = sub_repositories(call)?;
    if let Some(why) = phase_work::silent(call) {
        problems.push(why);
        return Ok(TestsReport { tests: TestsPart::default(), keys: None, base: None, problems });
    }
    let (mut plans, mut of_phase) = (Plans::default(), None);
    let mut base = base.map(str::to_owned);
    if let Some(phase) = phase {
        let view = call.view();
        let folder = folder_of(call, &view, phase)?;
        plans = Plans::of(&view, &folder)?;
        let (work, found) = seen(call, &folder)?;
        problems = found;
        base = base.or_else(|| work.base.clone());
        of_phase = Some(work);
    }
    let Some(base) = base else {
        return Ok(TestsReport { tests: TestsPart::default(), keys: None, base: None, problems });
    };
    problems.extend(uncommitted(call)?);
    let (before, after) = (files_of(call, &base)?, files_of(call, "HEAD")?);
    let planning = format!("{}/", call.layout().planning());
    let differing = before.differing(&after);
    let keys = Some(keys_in((&before, &after), &differing)?);
    let tests = if let Some(work) = of_phase {
        let (tests, more) = plans.compared_with((&before, &after), &work)?;
        problems.extend(more);
        tests
    } else {
        let paths = differing.into_iter().filter(|path| !path.starts_with(&planning));
        let mut tests = plans.compared((&before, &after), paths)?;
        // Between identical commits nothing became weaker.
        tests.clean = tests.clean.or(Some(true));
        tests
    };
    Ok(TestsReport { tests, keys, base: Some(base), problems })
}

/// The keys that were added to these files between two commits.
fn keys_in((before, after): (&CommitFiles, &CommitFiles), paths: &[String]) -> Result<Vec<KeyFound>, Failure> {
    let named: BTreeSet<&str> = paths.iter().map(String::as_str).collect();
    after.read_ahead(|path| named.contains(path))?;
    let mut contents = Vec::new();
    for path in paths {
        let new = after.bytes(path)?;
        // The contents of a removed file may have moved into another one.
        if new.as_deref().is_none_or(holds_key) {
            contents.push((path, before.bytes(path)?, new));
        }
    }
    let changes: Vec<FileChange<'_>> = contents
        .iter()
        .map(|(path, before, after)| FileChange { path, before: before.as_deref(), after: after.as_deref() })
        .collect();
    let found = |SecretFound { path, line, kind }| KeyFound { path, line, kind };
    Ok(added_secrets(&changes).into_iter().map(found).collect())
}

/// What the executed plans of a phase say about its tests.
#[derive(Debug, Default)]
struct Plans {
    verify: Vec<String>,
    expected: Vec<String>,
    text: String,
}

impl Plans {
    fn of(view: &ProjectView, folder: &PhaseFolder) -> Result<Self, Failure> {
        let mut found = Self::default();
        for (file, text) in view.plan_texts(folder)? {
            if folder.summary_of(&file).is_none() {
                continue;
            }
            let plan = PhasePlan::parse(&text);
            found.verify.extend(plan.checks().into_iter().filter_map(|check| check.command));
            found.expected.extend(plan.files_modified());
            found.text.push_str(&text);
            found.text.push('\n');
        }
        Ok(found)
    }

    /// The findings in the files of a phase's commits; and, as problems, what commits without any scope made weaker
    /// while the phase was worked on. That may be the phase's work or a person's, so it is unknown whether the tests
    /// are unchanged.
    fn compared_with(
        &self,
        trees: (&CommitFiles, &CommitFiles),
        work: &PhaseWork,
    ) -> Result<(TestsPart, Vec<String>), Failure> {
        let (touched, unscoped) = (work.files(), work.unscoped());
        let paths: BTreeSet<&str> = touched.keys().chain(unscoped.keys()).copied().collect();
        let mut tests = self.compared(trees, paths.into_iter().map(str::to_owned))?;
        let is_of_none = |finding: &TestFinding| {
            !touched.contains_key(finding.path.as_str()) && unscoped.contains_key(finding.path.as_str())
        };
        let (of_none, own): (Vec<TestFinding>, Vec<TestFinding>) = tests.findings.into_iter().partition(is_of_none);
        tests.findings = own;
        if !of_none.is_empty() {
            tests.clean = Some(false).filter(|_| !tests.findings.is_empty());
        }
        let problem = |finding: &TestFinding| {
            let commit = unscoped.get(finding.path.as_str()).map(String::as_str).unwrap_or_default();
            format!(
                "`{}` became weaker by a commit without the scope of a phase, `{}`: line {}: {}; find out whose work it is",
                finding.path,
                commit.replace('`', "'"),
                finding.line,
                finding.what
            )
        };
        let problems = of_none.iter().map(problem).collect();
        Ok((tests, problems))
    }

    /// The findings in these files between two commits, and those that the plans allow.
    fn compared(
        &self,
        (before, after): (&CommitFiles, &CommitFiles),
        paths: impl Iterator<Item = String>,
    ) -> Result<TestsPart, Failure> {
        let mut contents = Vec::new();
        for path in paths.filter(|path| before.blob(path) != after.blob(path)) {
            let (old, new) = (before.bytes(&path)?, after.bytes(&path)?);
            contents.push((path, old, new));
        }
        if contents.is_empty() {
            return Ok(TestsPart::default());
        }
        let changes: Vec<FileChange<'_>> = contents
            .iter()
            .map(|(path, before, after)| FileChange { path, before: before.as_deref(), after: after.as_deref() })
            .collect();
        let wanted = Wanted { preference: &[], verify: &self.verify };
        let (discovery, now) = (discover(before, wanted)?, discover(after, wanted)?);
        let paths: Vec<String> = before.paths().cloned().collect();
        let pins = Pins::of(
            before,
            Planned {
                discovery: &discovery,
                earlier: &[],
                paths: &paths,
                expected: &self.expected,
                plan: &self.text,
                is_fix: false,
            },
        )?;
        let is_file = |path: &&String| !path.contains('*') && !path.ends_with('/');
        let absent: Vec<String> =
            self.expected.iter().filter(is_file).filter(|path| after.blob(path).is_none()).cloned().collect();
        let running = SelfRunning::default();
        let work = Work { pins: &pins, changes: &changes, now: Some(&now), absent: &absent, running: &running };
        let found = inspect(work);
        // Files that run automatically have nothing to do with tests.
        let told = |findings: Vec<Finding>| {
            let findings = findings.into_iter().filter(|finding| finding.kind != Weakening::RunsByItself);
            findings.map(TestFinding::of).collect::<Vec<_>>()
        };
        let (findings, allowed) = (told(found.findings), told(found.allowed));
        Ok(TestsPart { clean: Some(findings.is_empty()), findings, allowed })
    }
}

impl TestFinding {
    fn of(finding: Finding) -> Self {
        Self { path: finding.path, line: finding.line, kind: finding.kind.word(), what: finding.what }
    }
}

/// The files that the SUMMARYs of a phase name as created, changed or deleted, by plan.
#[derive(Debug, Default)]
struct Reported(BTreeMap<String, SummaryFiles>);

/// The files that one SUMMARY names.
#[derive(Debug, Default)]
struct SummaryFiles {
    /// Under its `key-files`.
    claimed: BTreeSet<String>,
    /// Anywhere, including patterns.
    all: BTreeSet<String>,
}

impl SummaryFiles {
    /// The files that a SUMMARY names, without those in the planning folder.
    fn by(view: &ProjectView, summary: &str) -> Self {
        let planning = format!("{}/", view.layout().planning());
        let bare = |files: Vec<String>| {
            let bare = files.into_iter().map(|file| {
                let file = file.split(" (").next().unwrap_or(&file).trim().trim_matches('`').to_owned();
                file.trim_start_matches("./").to_owned()
            });
            bare.filter(|file| !file.starts_with(&planning)).collect()
        };
        Self { claimed: bare(listed_files(summary)), all: bare(named_files(summary)) }
    }

    fn has(&self, path: &str) -> bool {
        self.all.contains(path) || self.all.iter().any(|name| is_named(name, path))
    }
}

impl Reported {
    fn of(view: &ProjectView, folder: &PhaseFolder) -> Result<Self, Failure> {
        let mut found = BTreeMap::new();
        for plan in folder.plans() {
            let Some(summary) = folder.summary_of(plan) else { continue };
            let text = view.text(&folder.join(summary))?.unwrap_or_default();
            found.insert(plan_id(plan).to_owned(), SummaryFiles::by(view, &text));
        }
        Ok(Self(found))
    }

    fn all(&self) -> impl Iterator<Item = &String> {
        self.0.values().flat_map(|named| &named.claimed).collect::<BTreeSet<_>>().into_iter()
    }

    /// True if each of the plans names the file. A commit of the phase itself, such as a fix, has no SUMMARY: then that
    /// of any plan is enough.
    fn has(&self, path: &str, plans: &BTreeSet<&str>) -> bool {
        let mut of_plans = plans.iter().filter_map(|plan| self.0.get(*plan)).peekable();
        match of_plans.peek() {
            Some(_) => of_plans.all(|named| named.has(path)),
            None => self.0.values().any(|named| named.has(path)),
        }
    }
}

/// The files that the commits of one plan changed and that its SUMMARY does not name.
pub(crate) fn unreported(
    call: &Call,
    view: &ProjectView,
    folder: &PhaseFolder,
    plan: &str,
    summary: &str,
) -> Result<Vec<String>, Failure> {
    let named = SummaryFiles::by(view, summary);
    let work = PhaseWork::of(call, folder)?;
    let changed = work.files().into_iter().filter(|(_, scopes)| scopes.contains(plan)).map(|(file, _)| file);
    Ok(changed.filter(|file| !named.has(file)).map(str::to_owned).collect())
}

fn folder_of(call: &Call, view: &ProjectView, phase: &str) -> Result<PhaseFolder, Failure> {
    named::phase_named(call, view, phase)?.folder.ok_or_else(|| no_phase(phase))
}

/// The work of a phase, and what could not be checked.
fn seen(call: &Call, folder: &PhaseFolder) -> Result<(PhaseWork, Vec<String>), Failure> {
    let mut problems = sub_repositories(call)?;
    if let Some(why) = phase_work::silent(call) {
        problems.push(why);
        return Ok((PhaseWork::default(), problems));
    }
    let work = PhaseWork::of(call, folder)?;
    if work.commits.is_empty() {
        problems.push(no_commit(folder));
    }
    Ok((work, problems))
}

/// The files of a commit. Those that the checks depend on are read at once.
fn files_of(call: &Call, commit: &str) -> Result<CommitFiles, Failure> {
    CommitFiles::of(call, commit, |path| role_of(path).is_some())
}

fn no_commit(folder: &PhaseFolder) -> String {
    let token = folder.token();
    format!(
        "no commit has the scope of phase {token}, such as `feat({token}-01): ...`, so that none of its files is known"
    )
}

/// Reports repositories inside this one, whose files are committed there.
fn sub_repositories(call: &Call) -> Result<Vec<String>, Failure> {
    let config = call.config()?;
    let named = config.sub_repositories();
    let problem = || format!("the repositories inside of this one were not looked at: {}", named.join(", "));
    Ok(if named.is_empty() { Vec::new() } else { vec![problem()] })
}

/// The files with uncommitted changes.
fn uncommitted(call: &Call) -> Result<Option<String>, Failure> {
    const SHOWN: usize = 5;
    let changed = Uncommitted::of(call)?.files;
    if changed.is_empty() {
        return Ok(None);
    }
    let named: Vec<String> = changed.iter().take(SHOWN).map(|path| format!("`{path}`")).collect();
    let more = if changed.len() > SHOWN { ", ..." } else { "" };
    Ok(Some(format!("not committed, so not looked at: {}{more}", named.join(", "))))
}
