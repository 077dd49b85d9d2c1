//! Unusual projects, each as a small one with its expected state.

use super::{DerivedProject, path, tree};
use crate::project::files::{FileError, Files, FolderEntry, MemoryFiles};

/// A name, the documents, and the state: the phase with the active ids, then why nothing continues, then the
/// milestones.
type Edge = (&'static str, &'static [(&'static str, &'static str)], &'static str);

const CONTEXT: &str = "# M001: Shelf\n";
const BOTH_DONE: &str = "# M001: Shelf\n\n## Slices\n\n- [x] **S01: A**\n- [x] **S02: B** `depends:[S01]`\n";
const ONE_OPEN: &str = "# M001: Shelf\n\n## Slices\n\n- [ ] **S01: A**\n- [ ] **S02: B** `depends:[S01]`\n";
const PLAN: &str = "# S01: A\n\n## Tasks\n\n- [x] **T01: One**\n- [ ] **T02: Two**\n";

const EDGES: &[Edge] = &[
    ("nothing", &[], "pre-planning\n"),
    ("a folder that holds no work", &[("M001/NOTES", "later\n")], "pre-planning\n"),
    (
        "a folder that holds no work beside one that does",
        &[("M001/NOTES", "later\n"), ("M002/CONTEXT", "# M002: Shelf\n")],
        "pre-planning M002\nM002 active\n",
    ),
    (
        "only parked",
        &[("M001/CONTEXT", CONTEXT), ("M001/PARKED", "later\n"), ("M002/PARKED", "later\n")],
        "pre-planning\n! M001 is parked\n! M002 is parked\nM001 parked\nM002 parked\n",
    ),
    (
        "milestones that wait for each other",
        &[
            ("M001/CONTEXT", "---\ndepends_on: [M002]\n---\n# M001: A\n"),
            ("M002/CONTEXT", "---\ndepends_on: [M001]\n---\n# M002: B\n"),
        ],
        "blocked\n! M001 waits for M002\n! M002 waits for M001\nM001 pending after M002\nM002 pending after M001\n",
    ),
    (
        "a milestone that waits for one that is not there, before one that can go on",
        &[("M001/CONTEXT", "---\ndepends_on: [M009]\n---\n"), ("M002/CONTEXT", "# M002\n")],
        "pre-planning M002\nM001 pending after M009\nM002 active\n",
    ),
    (
        "a slice that waits for one that is not there",
        &[("M001/ROADMAP", "## Slices\n\n- [ ] **S01: A** `depends:[S07]`\n")],
        "blocked M001\n! S01 waits for S07\nM001 active\n",
    ),
    (
        "an order against the numbers",
        &[
            ("QUEUE-ORDER.json", "{\"order\":[\"M003\",\"M009\",\"M002\"],\"updatedAt\":\"2026-01-01T00:00:00Z\"}"),
            ("M001/CONTEXT", "# M001\n"),
            ("M002/CONTEXT", "# M002\n"),
            ("M003/CONTEXT", "# M003\n"),
        ],
        "pre-planning M003\nM003 active\nM002 pending\nM001 pending\n",
    ),
    (
        "identifiers of a team among others",
        &[("M001-abc123/CONTEXT", "# M001-abc123: A\n"), ("M002/CONTEXT", "# M002: B\n")],
        "pre-planning M001-abc123\nM001-abc123 active\nM002 pending\n",
    ),
    (
        "a table as a roadmap",
        &[(
            "M001/ROADMAP",
            "## Slices\n\n| ID | Title | Depends | Status |\n|---|---|---|---|\n| S01 | A | none | done |\n| S02 | B | S01 | open |\n",
        )],
        "planning M001 S02\nM001 active\n",
    ),
    (
        "prose as a roadmap",
        &[("M001/ROADMAP", "# M001\n\n## S01: A (Complete)\n\nFirst.\n\n## S02: B\n\nDepends on: S01\n")],
        "planning M001 S02\nM001 active\n",
    ),
    (
        "a range of dependencies",
        &[(
            "M001/ROADMAP",
            "## Slices\n\n- [x] **S01: A**\n- [ ] **S02: B** `depends:[S01]`\n- [ ] **S03: C** `depends:[S01..S02]`\n",
        )],
        "planning M001 S02\nM001 active\n",
    ),
    (
        "tasks as headings, of which one is reported",
        &[
            ("M001/ROADMAP", ONE_OPEN),
            ("M001/S01/PLAN", "# S01: A\n\n## Tasks\n\n### T01: One\n\n### T02 -- Two\n"),
            ("M001/S01/T01/PLAN", "# T01\n"),
            ("M001/S01/T01/SUMMARY", "# T01\n"),
        ],
        "executing M001 S01 T02\nM001 active\n",
    ),
    (
        "a plan with front matter",
        &[
            ("M001/ROADMAP", ONE_OPEN),
            (
                "M001/S01/PLAN",
                "---\nestimated: 2\n---\n# S01: A\n\n## Tasks\n\n- [x] **T01: One**\n- [ ] **T02: Two**\n",
            ),
            ("M001/S01/T01/PLAN", "# T01\n"),
        ],
        "executing M001 S01 T02\nM001 active\n",
    ),
    (
        "a plan without a task",
        &[("M001/ROADMAP", ONE_OPEN), ("M001/S01/PLAN", "# S01: A\n\n## Tasks\n\nnone yet\n")],
        "planning M001 S01\nM001 active\n",
    ),
    (
        "a folder of tasks without a document",
        &[("M001/ROADMAP", ONE_OPEN), ("M001/S01/PLAN", PLAN), ("M001/S01/T01/NOTES.txt", "x\n")],
        "planning M001 S01\nM001 active\n",
    ),
    (
        "a task that is reported and whose checks failed",
        &[
            ("M001/ROADMAP", ONE_OPEN),
            ("M001/S01/PLAN", PLAN),
            ("M001/S01/T01/SUMMARY", "# T01\n"),
            ("M001/S01/T01/VERIFY.json", "{\"passed\":false,\"discoverySource\":\"task-plan\",\"checks\":[]}"),
        ],
        "executing M001 S01 T01\nM001 active\n",
    ),
    (
        "a summary that says failure",
        &[("M001/ROADMAP", ONE_OPEN), ("M001/SUMMARY", "---\nstatus: blocked\n---\n# M001\n")],
        "planning M001 S01\nM001 active\n",
    ),
    (
        "a summary that is a blocker",
        &[("M001/ROADMAP", ONE_OPEN), ("M001/SUMMARY", "# BLOCKER\n\nIt did not work.\n")],
        "planning M001 S01\nM001 active\n",
    ),
    (
        "a summary without a status, of a roadmap with open boxes",
        &[("M001/ROADMAP", ONE_OPEN), ("M001/SUMMARY", "# M001: Shelf\n\nIt is there.\n")],
        "complete\nM001 complete\n",
    ),
    (
        "a verdict in the body",
        &[("M001/ROADMAP", BOTH_DONE), ("M001/VALIDATION", "# M001\n\n**Verdict:** PASS\n")],
        "completing-milestone M001\nM001 active\n",
    ),
    (
        "a validation without a verdict",
        &[("M001/ROADMAP", BOTH_DONE), ("M001/VALIDATION", "# M001\n\nLooks good.\n")],
        "validating-milestone M001\nM001 active\n",
    ),
    (
        "a validation that was skipped",
        &[("M001/ROADMAP", BOTH_DONE), ("M001/VALIDATION", "---\nskip_validation: true\n---\n# M001\n")],
        "completing-milestone M001\nM001 active\n",
    ),
    (
        "a validation that needs attention parks its milestone",
        &[
            ("M001/ROADMAP", BOTH_DONE),
            ("M001/VALIDATION", "---\nverdict: needs-attention\n---\n"),
            ("M002/CONTEXT", "# M002\n"),
        ],
        "pre-planning M002\nM001 parked\nM002 active\n",
    ),
    (
        "a validation that needs remediation",
        &[("M001/ROADMAP", BOTH_DONE), ("M001/VALIDATION", "---\nverdict: needs-remediation\n---\n")],
        "blocked M001\n! M001: the validation says `needs-remediation`\nM001 active\n",
    ),
    (
        "a blocker of a task",
        &[
            ("M001/ROADMAP", ONE_OPEN),
            ("M001/S01/PLAN", PLAN),
            ("M001/S01/T01/SUMMARY", "---\nblocker_discovered: true\n---\n# T01\n"),
        ],
        "replanning-slice M001 S01 T02\nM001 active\n",
    ),
    (
        "a blocker for which the slice was planned again",
        &[
            ("M001/ROADMAP", ONE_OPEN),
            ("M001/S01/PLAN", PLAN),
            ("M001/S01/REPLAN", "# S01\n"),
            ("M001/S01/REPLAN-TRIGGER", "**Source:** capture\n"),
            ("M001/S01/T01/SUMMARY", "---\nblocker_discovered: true\n---\n# T01\n"),
        ],
        "executing M001 S01 T02\nM001 active\n",
    ),
    (
        "a request to plan again",
        &[
            ("M001/ROADMAP", ONE_OPEN),
            ("M001/S01/PLAN", PLAN),
            ("M001/S01/REPLAN-TRIGGER", "**Source:** capture\n"),
            ("M001/S01/T01/SUMMARY", "# T01\n"),
        ],
        "replanning-slice M001 S01 T02\nM001 active\n",
    ),
    (
        "a question that a person has to answer",
        &[
            ("M001/ROADMAP", ONE_OPEN),
            ("M001/S01/PLAN", PLAN),
            ("M001/S01/REPLAN-TRIGGER", "**Source:** capture\n"),
            ("M001/S01/T01/SUMMARY", "# T01\n"),
            (
                "M001/S01/T02/ESCALATION.json",
                "{\"version\":1,\"taskId\":\"T02\",\"sliceId\":\"S01\",\"milestoneId\":\"M001\",\"question\":\"Which?\",\"options\":[{\"id\":\"a\",\"label\":\"A\",\"tradeoffs\":\"x\"},{\"id\":\"b\",\"label\":\"B\",\"tradeoffs\":\"y\"}],\"recommendation\":\"a\",\"recommendationRationale\":\"z\",\"continueWithDefault\":false,\"createdAt\":\"2026-01-02T10:00:00Z\"}",
            ),
        ],
        "escalating-task M001 S01 T02\nM001 active\n",
    ),
    (
        "a slice that was put off",
        &[("M001/ROADMAP", "## Slices\n\n- [ ] **S01: A** `status:deferred`\n- [ ] **S02: B**\n")],
        "planning M001 S02\nM001 active\n",
    ),
    (
        "only a slice that was put off",
        &[("M001/ROADMAP", "## Slices\n\n- [x] **S01: A**\n- [ ] **S02: B** `status:deferred`\n")],
        "blocked M001\n! S02 is deferred\nM001 active\n",
    ),
    (
        "a slice that was skipped",
        &[("M001/ROADMAP", "## Slices\n\n- [ ] **S01: A** `status:skipped`\n- [ ] **S02: B** `depends:[S01]`\n")],
        "planning M001 S02\nM001 active\n",
    ),
    (
        "a record that cannot be read",
        &[("M001/ROADMAP", ONE_OPEN), ("M001/S01/PLAN", PLAN), ("M001/S01/T01/VERIFY.json", "{\n\"passed\": tru")],
        "blocked\n! `.gsd/milestones/M001/slices/S01/tasks/T01-VERIFY.json` line 2: EOF while parsing a value\n",
    ),
];

#[test]
fn each_edge_has_its_state() {
    for (name, documents, expected) in EDGES {
        assert_eq!(DerivedProject::of(&tree(documents)).shown(), *expected, "{name}");
    }
}

/// A change that an editor makes to a text.
type TextChange = fn(&str) -> String;

/// Line ends and a byte order mark make no difference.
#[test]
fn each_edge_has_its_state_whatever_editor_wrote_it() {
    let variants: [(&str, TextChange); 3] = [
        ("CRLF", |text| text.replace('\n', "\r\n")),
        ("a byte order mark", |text| format!("\u{feff}{text}")),
        ("both", |text| format!("\u{feff}{}", text.replace('\n', "\r\n"))),
    ];
    for (name, documents, expected) in EDGES {
        for (variant, change) in variants {
            let mut files = tree(documents);
            for text in files.texts.values_mut() {
                *text = change(text);
            }
            assert_eq!(DerivedProject::of(&files).shown(), *expected, "{name}, with {variant}");
        }
    }
}

/// Files of which one exists and cannot be read.
#[derive(Debug)]
struct Locked {
    files: MemoryFiles,
    path: String,
}

impl Files for Locked {
    fn read(&self, path: &str) -> Result<Option<String>, FileError> {
        if path == self.path {
            return Err(FileError { path: path.to_owned(), reason: "permission denied".to_owned(), hint: None });
        }
        self.files.read(path)
    }

    fn list(&self, path: &str) -> Result<Option<Vec<FolderEntry>>, FileError> {
        self.files.list(path)
    }

    fn changed_at(&self, paths: &[String]) -> Vec<Option<i64>> {
        self.files.changed_at(paths)
    }

    fn touched_at(&self, path: &str) -> Option<i64> {
        self.files.touched_at(path)
    }

    fn digest(&self, path: &str) -> Result<Option<String>, FileError> {
        self.files.digest(path)
    }
}

#[test]
fn a_file_that_cannot_be_read_blocks_and_does_not_count_as_missing() {
    use super::super::derive::{Phase, Scope, derive};
    use super::super::reading::{Extent, snapshot};
    let documents = [
        ("M001/CONTEXT", CONTEXT),
        ("M001/ROADMAP", BOTH_DONE),
        ("M001/VALIDATION", "---\nverdict: pass\n---\n"),
        ("M001/SUMMARY", "---\nstatus: failed\n---\n"),
        ("REQUIREMENTS.md", "# Requirements\n"),
        ("OVERRIDES.md", "# Overrides\n"),
        ("QUEUE-ORDER.json", "{\"order\":[]}"),
    ];
    for (name, _) in documents {
        let files = Locked { files: tree(&documents), path: path(name) };
        let snapshot = snapshot(&files, Extent::Active(&Scope::default()));
        let state = derive(&snapshot, &Scope::default(), &crate::auto::preferences::Preferences::default());
        assert_eq!(state.phase, Phase::Blocked, "{name}");
        assert_eq!(state.blockers, [format!("`{}`: permission denied", files.path)], "{name}");
    }
}
