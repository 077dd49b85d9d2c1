//! What the agent writes: a small library in two slices of two tasks, with the documents in the forms of the prompts.

/// What the milestone should be.
pub(crate) const BRIEF: &str = "# A shelf of books\n\nPeople keep books on a shelf and lend them. Make a Python package `shelf`: books are added and \
listed, lent and given back. Every function has a test with `unittest`. No package from outside.\n";

/// What the project has at the start, by path.
pub(crate) const PROJECT: &[(&str, &str)] = &[
    ("README.md", "# Shelf\n\nTests: `python3 -m unittest`.\n"),
    (".gitignore", "__pycache__/\n"),
    ("shelf/__init__.py", "\"\"\"A shelf of books.\"\"\"\n"),
    ("tests/__init__.py", ""),
];

/// A task: its place, what it makes, and the test for it.
#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) id: &'static str,
    title: &'static str,
    module: &'static str,
    source: &'static str,
    test: &'static str,
}

#[derive(Debug)]
pub(crate) struct Slice {
    pub(crate) id: &'static str,
    title: &'static str,
    risk: &'static str,
    depends: &'static str,
    after: &'static str,
    pub(crate) tasks: [Task; 2],
}

pub(crate) const SLICES: [Slice; 2] = [
    Slice {
        id: "S01",
        title: "Books on a shelf",
        risk: "high",
        depends: "",
        after: "books are added and listed by title",
        tasks: [
            Task {
                id: "T01",
                title: "Add a book",
                module: "adding",
                source: "def add(shelf, title):\n    if title in shelf:\n        raise ValueError(title)\n    shelf[title] = None\n",
                test: "shelf = {}\n        adding.add(shelf, \"Emma\")\n        self.assertEqual(shelf, {\"Emma\": None})\n        \
                       with self.assertRaises(ValueError):\n            adding.add(shelf, \"Emma\")",
            },
            Task {
                id: "T02",
                title: "List the books",
                module: "listing",
                source: "def titles(shelf):\n    return sorted(shelf)\n",
                test: "self.assertEqual(listing.titles({\"b\": None, \"a\": None}), [\"a\", \"b\"])",
            },
        ],
    },
    Slice {
        id: "S02",
        title: "Books that are lent",
        risk: "medium",
        depends: "S01",
        after: "a book is lent to somebody and given back",
        tasks: [
            Task {
                id: "T01",
                title: "Lend a book",
                module: "lending",
                source: "def lend(shelf, title, reader):\n    if shelf[title] is not None:\n        raise ValueError(title)\n    shelf[title] = reader\n",
                test: "shelf = {\"Emma\": None}\n        lending.lend(shelf, \"Emma\", \"Ada\")\n        \
                       self.assertEqual(shelf[\"Emma\"], \"Ada\")",
            },
            Task {
                id: "T02",
                title: "Give a book back",
                module: "returning",
                source: "def give_back(shelf, title):\n    shelf[title] = None\n",
                test: "shelf = {\"Emma\": \"Ada\"}\n        returning.give_back(shelf, \"Emma\")\n        \
                       self.assertIsNone(shelf[\"Emma\"])",
            },
        ],
    },
];

pub(crate) const CONTEXT: &str = "---
depends_on: []
---
# M001: A shelf of books
## Vision
People know which books they have and who has them.
## Scope
- Adding, listing, lending and giving back, as functions of a package
## Out of Scope
- A user interface, since the brief asks for a package
## Decisions
- A shelf is a dictionary from title to reader: the brief names nothing else
## Constraints
- No package from outside
## Assumptions
- Titles are unique: the brief has no other name for a book; if wrong: books get numbers
## Existing Code
- `shelf/__init__.py`: the package, empty so far
## Done When
- `python3 -m unittest` passes
";

pub(crate) const REQUIREMENTS: &str = "# Requirements
## Active
### R001 — Keep books
- Class: functional
- Status: active
- Description: Books are added and listed
- Why it matters: people have to know what they have
- Source: brief
- Primary owning slice: none yet
- Supporting slices: none
- Validation: unmapped
- Notes: none
## Validated
## Deferred
## Out of Scope
## Traceability
| ID | Class | Status | Primary owner | Supporting | Proof |
|---|---|---|---|---|---|
| R001 | functional | active | none yet | none | unmapped |
## Coverage
- Active requirements: 1
- Mapped to slices: 0
- Validated: 0
- Unmapped active requirements: 1
";

pub(crate) fn roadmap() -> String {
    let row = |slice: &Slice| {
        let Slice { id, title, risk, depends, after, .. } = slice;
        format!("- [ ] **{id}: {title}** `risk:{risk}` `depends:[{depends}]`\n  > After this: {after}\n")
    };
    let rows: String = SLICES.iter().map(row).collect();
    format!(
        "# M001: A shelf of books
**Vision:** people know which books they have and who has them
## Success Criteria
- Books are added, listed, lent and given back
## Key Risks / Unknowns
- The form of a shelf: everything rests on it
## Proof Strategy
- The form of a shelf: S01 shows that adding and listing work with it
## Verification Classes
- Contract verification: `python3 -m unittest`
- Integration verification: none
- Operational verification: none
- UAT verification: none
## Milestone Definition of Done
- `python3 -m unittest` passes
## Requirement Coverage
- Covers: R001
- Leaves out: none
## Slices
{rows}## Boundary Map
### S01 → S02
Produces: a dictionary from title to reader, `None` for a book that is on the shelf
Consumes: nothing
"
    )
}

/// The plan of a slice; `citation` is the line that the prompt gives for it.
pub(crate) fn slice_plan(slice: &Slice, citation: &str) -> String {
    let Slice { id, title, after, .. } = slice;
    let task = |task: &Task| {
        let (source, test, check) = (task.source_path(), task.test_path(), task.check());
        format!(
            "- [ ] **{}: {}** `est:15m`\n  - Why: {after}\n  - Files: `{source}`, `{test}`\n  - Verify: {check}\n",
            task.id, task.title
        )
    };
    let tasks: String = slice.tasks.iter().map(task).collect();
    let paths = slice.tasks.iter().flat_map(|task| [task.source_path(), task.test_path()]);
    let files: Vec<String> = paths.map(|path| format!("- `{path}`\n")).collect();
    let files = files.concat();
    format!(
        "# {id}: {title}\n{citation}\n**Goal:** {after}  **Demo:** `python3 -m unittest` passes\n## Must-Haves\n- {after}\n\
         ## Verification\n- `python3 -m unittest`\n## Tasks\n{tasks}## Files Likely Touched\n{files}"
    )
}

impl Slice {
    /// The line that its plan repeats, for a planner that wrote the row itself.
    pub(crate) fn citation(&self) -> String {
        let Self { id, title, risk, depends, .. } = self;
        format!("**Roadmap:** {id}: {title} `risk:{risk}` `depends:[{depends}]`")
    }
}

impl Task {
    pub(crate) fn source_path(&self) -> String {
        format!("shelf/{}.py", self.module)
    }

    pub(crate) fn test_path(&self) -> String {
        format!("tests/test_{}.py", self.module)
    }

    fn check(&self) -> String {
        format!("python3 -m unittest tests.test_{}", self.module)
    }

    pub(crate) fn source(&self) -> String {
        format!("\"\"\"{}.\"\"\"\n\n\n{}", self.title, self.source)
    }

    pub(crate) fn test(&self) -> String {
        let (module, test) = (self.module, self.test);
        format!(
            "import unittest\n\nfrom shelf import {module}\n\n\nclass Test(unittest.TestCase):\n    def test_{module}(self):\n        \
             {test}\n"
        )
    }

    pub(crate) fn plan(&self) -> String {
        let Self { id, title, .. } = self;
        let (source, test, check) = (self.source_path(), self.test_path(), self.check());
        format!(
            "---
estimated_steps: 2
estimated_files: 2
skills_used: []
---
# {id}: {title}
## Description
A function on a dictionary from title to reader, and its test. A book on the shelf has no reader: `None`.
## Failure Modes
- none
## Load Profile
- none
## Negative Tests
- none
## Steps
1. Write `{source}`.
2. Write `{test}`.
## Must-Haves
- [ ] `{check}` passes
## Verification
- `{check}`
## Observability Impact
- none
## Inputs
- `shelf/__init__.py`: the package
## Expected Output
- `{source}`: the function
- `{test}`: its test
"
        )
    }

    pub(crate) fn summary(&self, slice: &str) -> String {
        let Self { id, title, .. } = self;
        let (source, test, check) = (self.source_path(), self.test_path(), self.check());
        format!(
            "---
id: {id}
parent: {slice}
milestone: M001
provides: [{source}]
requires: []
affects: []
key_files: [{source}, {test}]
key_decisions: []
patterns_established: []
drill_down_paths: []
observability_surfaces: []
duration: 2m
verification_result: passed
completed_at: 2026-01-05T10:00:00Z
blocker_discovered: false
---
# {id}: {title}
**{title} with one function of the package**
## What Happened
{source} has the function as planned, on a dictionary from title to reader. {test} tries it, and was run.
## Verification
The test of the function ran and passed.
## Verification Evidence
| Command | Exit code | Verdict | Duration |
|---|---|---|---|
| `{check}` | 0 | pass | 1s |
## Diagnostics
- `{check}`
## Deviations
- none
## Known Issues
- none
## Files Created/Modified
- `{source}` — the function
- `{test}` — its test
"
        )
    }
}
