//! A project for the calls of the texts.

use super::*;

/// A project in the middle of its second phase.
pub(super) fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in PROJECT {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

const PROJECT: &[(&str, &str)] = &[
    ("src/main.rs", "fn main() {}\n"),
    (".planning/PROJECT.md", "# Notes\n\n## What This Is\n\nNotes.\n\n## Core Value\n\nNotes are kept.\n"),
    (".planning/config.json", "{\"mode\": \"interactive\"}\n"),
    (
        ".planning/REQUIREMENTS.md",
        "# Requirements: Notes\n\n## v1 Requirements\n\n- [ ] **CORE-01**: User can write a note\n\n## Traceability\n\n\
         | Requirement | Phase | Status |\n|---|---|---|\n| CORE-01 | Phase 2 | Pending |\n",
    ),
    (
        ".planning/ROADMAP.md",
        "# Roadmap: Notes\n\n## Phases\n\n### 🚧 v1.0 First (In Progress)\n\n- [x] **Phase 1: Base** - base\n\
         - [ ] **Phase 2: Core** - core\n- [ ] **Phase 3: Sync** - sync\n\n## Phase Details\n\n\
         ### Phase 2: Core\n\n**Goal**: Users write notes\n**Depends on**: Phase 1\n**Requirements**: [CORE-01]\n\
         **Success Criteria** (what must be TRUE):\n\n1. A note is kept\n\n**Plans**: 1 plans\n\n\
         ### Phase 3: Sync\n\n**Goal**: Notes are shared\n**Requirements**: TBD\n**Plans**: TBD\n\n---\n",
    ),
    (
        ".planning/STATE.md",
        "---\ngsd_state_version: \"1.0\"\nmilestone: v1.0\nstatus: executing\n---\n\n# Project State\n\n\
         ## Current Position\n\nPhase: 2 of 3 (Core)\nPlan: 1 of 1\nStatus: Executing Phase 2\n\
         Last activity: 2026-01-12 — Phase 2 execution started\n\n## Session Continuity\n\n\
         Last session: 2026-01-12\nStopped at: nothing\nResume file: None\n",
    ),
    (
        ".planning/phases/02-core/02-01-PLAN.md",
        "---\nphase: 02-core\nplan: 01\ntype: execute\nwave: 1\ndepends_on: []\nfiles_modified: [src/main.rs]\n\
         autonomous: true\nrequirements: [CORE-01]\nmust_haves:\n  truths: [\"A note is kept\"]\n  artifacts:\n\
             - path: src/main.rs\n      provides: program\n  key_links:\n    - from: src/main.rs\n      \
         to: src/main.rs\n      via: call\n      pattern: main\n---\n\n<objective>\nNotes\n</objective>\n\n\
         <tasks>\n<task type=\"auto\">\n  <name>Task 1: Write</name>\n  <files>src/main.rs</files>\n  \
         <action>Write it.</action>\n  <verify><automated>true</automated></verify>\n  <done>done</done>\n</task>\n\
         </tasks>\n",
    ),
    (
        ".planning/phases/02-core/02-01-SUMMARY.md",
        "---\nphase: 02-core\nplan: 01\nsubsystem: core\ntags: []\nduration: 5min\ncompleted: 2026-01-12\n\
         key-files:\n  created: [src/main.rs]\n  modified: []\nkey-decisions: []\n\
         requirements-completed: [CORE-01]\nstatus: complete\n---\n\n# Phase 2 Plan 1: Notes Summary\n\n\
         **Notes are written**\n\n## Accomplishments\n\n- notes\n",
    ),
    (
        ".planning/phases/02-core/02-VERIFICATION.md",
        "---\nphase: 02-core\nverified: 2026-01-12T00:00:00Z\nstatus: passed\nscore: 1/1\n---\n\n# Report\n",
    ),
    (
        ".planning/phases/02-core/02-UAT.md",
        "---\nstatus: testing\nphase: 02-core\nsource: [02-01-SUMMARY.md]\nstarted: 2026-01-12T00:00:00Z\n\
         updated: 2026-01-12T00:00:00Z\n---\n\n## Current Test\n\nnumber: 1\nname: Write\nexpected: |\n  \
         A note is kept\nawaiting: user response\n\n## Tests\n\n### 1. Write\nexpected: A note is kept\n\
         result: [pending]\n\n## Summary\n\ntotal: 1\npassed: 0\nissues: 0\npending: 1\nskipped: 0\n\
         blocked: 0\n\n## Gaps\n",
    ),
];
