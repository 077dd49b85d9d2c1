//! One edit that makes a check see less than before, and how to continue.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::text::shell::typed;
use crate::text::words::words;

words! {
    /// What was done to a check.
    #[derive(Serialize, Hash, PartialOrd, Ord)]
    pub(crate) enum Weakening {
        DeletedTests = "deleted-tests",
        FewerTestsRan = "fewer-tests-ran",
        Skipped = "skipped",
        OnlyOthersSkipped = "only",
        RemovedAssertion = "removed-assertion",
        ChangedExpectation = "changed-expectation",
        ConstantAssertion = "constant-assertion",
        SwallowedFailure = "swallowed-failure",
        LeftEarly = "left-early",
        /// A test exists and no runner finds it.
        NotCollected = "not-collected",
        ChangedSettings = "changed-settings",
        /// Settings that make a runner leave tests out.
        HiddenTests = "hidden-tests",
        ChangedScript = "changed-script",
        ChangedCommand = "changed-command",
        PatchedRunner = "patched-runner",
        /// A file that is loaded instead of a runner, or of something a runner needs.
        ShadowedRunner = "shadowed-runner",
        ChangedPipeline = "changed-pipeline",
        ChangedSnapshot = "changed-snapshot",
        ReadsItself = "reads-itself",
        /// A line that its language reads differently from a person.
        Unreadable = "unreadable",
        StubbedSubject = "stubbed-subject",
        /// The plan promises a test, and none was written.
        MissingTest = "missing-test",
        /// A new test that cannot fail.
        EmptyTest = "empty-test",
        /// A check writes a file that is to be committed.
        WrittenByChecks = "written-by-checks",
        /// A file that runs automatically, and that the plan does not name.
        RunsByItself = "runs-by-itself",
        /// A pinned file differs from the one that the unit started from.
        NotAsPinned = "not-as-pinned",
    }
}

impl Weakening {
    /// True if it is about settings, scripts or files that run automatically, which a plan orders by naming the file.
    /// If tests are left out or a failure is hidden, naming the file is not enough.
    pub(in crate::gate) fn is_of_settings(self) -> bool {
        matches!(
            self,
            Self::ChangedSettings
                | Self::ChangedScript
                | Self::ShadowedRunner
                | Self::ChangedPipeline
                | Self::RunsByItself
        )
    }
}

/// How many of the files that checks wrote are listed.
const LISTED: usize = 5;

/// One place where a check was made weaker.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Finding {
    /// Relative to the project's root; empty if it is about a command and not a file.
    pub(crate) path: String,
    /// Counted from one; zero for the whole file. For removed code, its old line.
    pub(crate) line: usize,
    pub(crate) kind: Weakening,
    pub(crate) what: String,
}

impl Finding {
    pub(super) fn new(path: &str, line: usize, kind: Weakening, what: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, kind, what: what.into() }
    }

    /// Files that checks wrote and that are to be committed.
    pub(crate) fn written_by_checks(paths: &[String]) -> Vec<Self> {
        let what = "the checks changed this file, so that they did not check what would be committed";
        paths.iter().take(LISTED).map(|path| Self::new(path, 0, Weakening::WrittenByChecks, what)).collect()
    }

    /// How to continue, for the plan and for a person. `unit` is the id by which commands know the unit.
    pub(crate) fn way_on(&self, unit: &str) -> String {
        let verdict =
            format!("a person decides: `{}`", typed!("gsd-tools auto verdict {} pass --rationale \"WHY\"", unit));
        if self.path.is_empty() {
            return format!("put the check back; or {verdict}");
        }
        if self.kind == Weakening::WrittenByChecks {
            let cure = "commit what the checks write, or have them write elsewhere";
            // A merge is not decided by a verdict.
            return if unit.is_empty() { cure.to_owned() } else { format!("{cure}; or {verdict}") };
        }
        if matches!(self.kind, Weakening::MissingTest | Weakening::EmptyTest) {
            return format!("write a test that fails where the work is not right; or {verdict}");
        }
        if self.kind.is_of_settings() {
            return format!(
                "undo the change; or the plan names `{0}` before the work begins, among the files of the task or as \
                 `Allowed test changes: {0} (WHY)`; or {verdict}",
                self.path
            );
        }
        format!(
            "undo the change; or the plan allows it before the work begins: `Allowed test changes: {} (WHY)`; or {verdict}",
            self.path
        )
    }
}

/// `path:line: what`
impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.path.as_str(), self.line) {
            ("", _) => formatter.write_str(&self.what),
            (path, 0) => write!(formatter, "{path}: {}", self.what),
            (path, line) => write!(formatter, "{path}:{line}: {}", self.what),
        }
    }
}
