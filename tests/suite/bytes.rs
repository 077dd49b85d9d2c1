//! Every command that writes documents, on every available project and on its twins: with Windows line endings, and in
//! other scripts. A dry run writes nothing; the command reports each line it changed; those are the lines it is for;
//! endings, marks and everything else keep their bytes.
//!
//! The table below must name every command that the program declares to write.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Once, OnceLock};

use regex::Regex;
use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use crate::conformance::tell;
use crate::kit::{Ran, TestContext, repository, verbs};
use crate::tree::Kept;

/// A command that writes, and what it may touch.
struct Writer {
    verb: &'static str,
    /// Calls worth trying; each on a fresh copy of each project.
    calls: &'static [&'static [&'static str]],
    /// Files (by the end of their path) and the labels of the lines that may change there; `*` for any line, `+` for
    /// creating and removing the whole file.
    may: &'static [(&'static str, &'static [&'static str])],
}

const STATE: &str = ".planning/STATE.md";
const ROADMAP: &str = "ROADMAP.md";

/// Fields of STATE.md that give the position.
const POSITION: &[&str] = &[
    "Phase",
    "Plan",
    "Status",
    "Last activity",
    "Last Activity",
    "Last Activity Description",
    "Current focus",
    "Current Phase",
    "Current Phase Name",
    "Current Plan",
    "Total Plans in Phase",
    "Progress",
];

/// Fields of STATE.md that say how many phases there are.
const COUNT: &[&str] = &["Phase", "Progress"];

const WRITERS: &[Writer] = &[
    Writer {
        verb: "auto steer",
        calls: &[&["use", "one", "file"], &["Écoute: 待つ"]],
        may: &[(".gsd/OVERRIDES.md", &["*"])],
    },
    Writer {
        verb: "auto capture",
        calls: &[&["sort", "by", "date"], &["stop: Écoute: 待つ"]],
        may: &[(".gsd/CAPTURES.md", &["*"])],
    },
    Writer {
        verb: "auto answer",
        calls: &[&["M001/S02/T01", "b", "--why", "they ask for it"], &["M001/S02/T01", "z"], &["M001/S01/T01", "a"]],
        may: &[("T01-ESCALATION.json", &["*"])],
    },
    Writer {
        verb: "auto verdict",
        calls: &[
            &["M001/S01/T02", "fail", "--rationale", "seen: it hangs"],
            &["M002/S01/T01", "pass", "--rationale", "seen"],
            &["M003/S01", "pass", "--rationale", "paper was added"],
            &["M003", "fail", "--rationale", "nothing is printed"],
            &["M004", "pass", "--rationale", "nothing to see"],
        ],
        may: &[("-VERIFY.json", &["*"]), ("S01-UAT-RESULT.md", &["*"]), ("M003-VALIDATION.md", &["*"])],
    },
    Writer {
        verb: "auto park",
        calls: &[&["M002", "--why", "waits"], &["M004"], &["M009"]],
        may: &[("M002-PARKED.md", &["+"])],
    },
    Writer { verb: "auto unpark", calls: &[&["M004"], &["M001"]], may: &[("M004-PARKED.md", &["+"])] },
    Writer {
        verb: "auto complete-slice",
        calls: &[&["M001/S01"], &["M001/S02"], &["M002/S01"]],
        may: &[
            ("S01-SUMMARY.md", &["+"]),
            ("S01-UAT.md", &["+"]),
            ("M001-ROADMAP.md", &["*"]),
            (".gsd/REQUIREMENTS.md", &["*"]),
            (".gsd/DECISIONS.md", &["*"]),
        ],
    },
    Writer {
        verb: "auto validate",
        calls: &[&["M002"], &["M003"], &["M001"]],
        may: &[("M002-VALIDATION.md", &["+"]), ("M001-VALIDATION.md", &["+"])],
    },
    Writer { verb: "auto complete-milestone", calls: &[&["M003"], &["M001"]], may: &[("M003-SUMMARY.md", &["+"])] },
    Writer {
        verb: "auto record knowledge",
        calls: &[
            &["rule", "Close every file", "--why", "it leaks"],
            &["rule", "Notes end with a newline"],
            &["lesson", "Écoute | 待つ"],
        ],
        may: &[(".gsd/KNOWLEDGE.md", &["*"])],
    },
    Writer {
        verb: "state update",
        calls: &[&["Status", "Écoute: 待つ"], &["status", "x"], &["Nothing", "x"]],
        may: &[("STATE.md", &["Status"])],
    },
    Writer {
        verb: "state patch",
        calls: &[&["--Status", "Busy", "--Plan", "9 of 9"]],
        may: &[("STATE.md", &["Status", "Plan"])],
    },
    Writer {
        verb: "state begin-phase",
        calls: &[&["--phase", "2", "--name", "Notes", "--plans", "3"], &["--phase", "99"]],
        may: &[("STATE.md", POSITION)],
    },
    Writer {
        verb: "state planned-phase",
        calls: &[&["--phase", "2", "--name", "Notes", "--plans", "3"]],
        may: &[("STATE.md", POSITION), (ROADMAP, &["*"])],
    },
    Writer { verb: "state complete-phase", calls: &[&["2"], &[]], may: &[("STATE.md", POSITION)] },
    Writer { verb: "state advance-plan", calls: &[&[]], may: &[("STATE.md", POSITION)] },
    Writer { verb: "state update-progress", calls: &[&[]], may: &[("STATE.md", &["Progress"])] },
    Writer {
        verb: "state record-metric",
        calls: &[&["--phase", "2", "--plan", "1", "--duration", "5min", "--tasks", "2", "--files", "3"]],
        may: &[("STATE.md", &["*"])],
    },
    Writer {
        verb: "state add-decision",
        calls: &[&["--phase", "2", "--summary", "Keep it: plain", "--rationale", "less"]],
        may: &[("STATE.md", &["*"])],
    },
    Writer { verb: "state add-blocker", calls: &[&["--text", "no key yet"]], may: &[("STATE.md", &["*"])] },
    Writer { verb: "state resolve-blocker", calls: &[&["--text", "a"]], may: &[("STATE.md", &["*"])] },
    Writer {
        verb: "state record-session",
        calls: &[&["--stopped-at", "here", "--resume-file", "None"]],
        may: &[("STATE.md", &["Last session", "Stopped at", "Stopped At", "Resume file", "Resume File", "Progress"])],
    },
    Writer {
        verb: "state milestone-switch",
        calls: &[&["--milestone", "v9.0", "--name", "Nächste: 次"], &["--name", "x"]],
        may: &[("STATE.md", &["*"])],
    },
    Writer {
        verb: "state add-roadmap-evolution",
        calls: &[&["--phase", "2", "--action", "edited", "--note", "goal: plain"]],
        may: &[("STATE.md", &["*"])],
    },
    Writer {
        verb: "state signal-waiting",
        calls: &[&["--question", "Which?", "--options", "A|B"]],
        may: &[("WAITING.json", &["question", "options", "since", "phase", "+"])],
    },
    Writer { verb: "state signal-resume", calls: &[&[]], may: &[("WAITING.json", &["+"])] },
    Writer {
        verb: "state sync",
        calls: &[&[], &["--verify"]],
        may: &[("STATE.md", &["Last activity", "Last Activity", "Progress", "Total Plans in Phase"])],
    },
    Writer {
        verb: "state prune",
        calls: &[&["--keep-recent", "1"], &[]],
        may: &[("STATE.md", &["*"]), ("STATE-ARCHIVE.md", &["+"])],
    },
    Writer { verb: "state rebuild", calls: &[&[]], may: &[("STATE.md", &["*"])] },
    Writer { verb: "roadmap update-plan-progress", calls: &[&["1"], &["2"], &["99"]], may: &[("ROADMAP.md", &["*"])] },
    Writer { verb: "roadmap annotate-dependencies", calls: &[&["1"], &["2"]], may: &[("ROADMAP.md", &["*"])] },
    Writer {
        verb: "roadmap upgrade",
        calls: &[&["--apply"]],
        may: &[
            ("ROADMAP.md", &["*"]),
            ("STATE.md", &["*"]),
            ("REQUIREMENTS.md", &["*"]),
            ("config.json", &["phase_id_convention", "+"]),
            ("", &["+"]),
        ],
    },
    Writer {
        verb: "requirements mark-complete",
        calls: &[&["AUTH-01"], &["NOTE-01,NOTE-02"]],
        may: &[("REQUIREMENTS.md", &["*"])],
    },
    Writer { verb: "requirements revert-phase", calls: &[&["AUTH-02"]], may: &[("REQUIREMENTS.md", &["*"])] },
    Writer {
        verb: "phase add",
        calls: &[&["Dark mode"]],
        may: &[("ROADMAP.md", &["*"]), ("STATE.md", COUNT), (".gitkeep", &["+"])],
    },
    Writer {
        verb: "phase insert",
        calls: &[&["1", "Hot fix"]],
        may: &[("ROADMAP.md", &["*"]), ("STATE.md", COUNT), (".gitkeep", &["+"])],
    },
    Writer {
        verb: "phase add-batch",
        calls: &[&["Dark mode", "Light mode"]],
        may: &[("ROADMAP.md", &["*"]), ("STATE.md", COUNT), (".gitkeep", &["+"])],
    },
    Writer {
        verb: "phase remove",
        calls: &[&["1", "--force"], &["2", "--force"], &["99"]],
        may: &[("ROADMAP.md", &["*"]), ("REQUIREMENTS.md", &["*"]), ("STATE.md", POSITION), ("", &["+"])],
    },
    Writer { verb: "phases clear", calls: &[&["--confirm", "--force"], &["--confirm"], &[]], may: &[("", &["+"])] },
    Writer {
        verb: "milestone complete",
        calls: &[
            &["v1.0", "--confirm", "--force", "--name", "Nächste: 次"],
            &["v1.1", "--confirm", "--force", "--archive-quick"],
            &["v1.0", "--confirm", "--no-archive-phases"],
        ],
        may: &[("STATE.md", &["*"]), ("MILESTONES.md", &["*", "+"]), (ROADMAP, &["*"]), ("", &["+"])],
    },
    Writer {
        verb: "milestone archive-quick",
        calls: &[&["v1.0"], &["../x"]],
        may: &[("STATE.md", &["*"]), ("", &["+"])],
    },
    Writer {
        verb: "quick-tasks-append",
        calls: &[&["--task", "Écrire: a|b", "--quick-id", "260112-xyz", "--slug", "a-b"], &["Plain", "words"]],
        may: &[("STATE.md", &["260112-xyz", "2", "1"])],
    },
    Writer {
        verb: "from-gsd2",
        calls: &[&[], &["--force"]],
        may: &[
            ("", &["+"]),
            ("STATE.md", &["*"]),
            ("ROADMAP.md", &["*"]),
            ("PROJECT.md", &["*"]),
            ("REQUIREMENTS.md", &["*"]),
        ],
    },
    Writer { verb: "estimate-calibrate", calls: &[&[]], may: &[("estimation-calibration.json", &["+"])] },
    Writer { verb: "quick-tasks-migrate", calls: &[&[]], may: &[("STATE.md", &["*"])] },
    Writer {
        verb: "phase complete",
        calls: &[&["1"], &["2"]],
        may: &[("ROADMAP.md", &["*"]), ("REQUIREMENTS.md", &["*"]), ("STATE.md", &["*"])],
    },
    Writer {
        verb: "config-set",
        calls: &[&["mode", "yolo"], &["workflow.research", "false"]],
        may: &[("config.json", &["mode", "workflow.research", "+"])],
    },
    Writer { verb: "yolo start", calls: &[&[], &["--from", "2"]], may: &[("config.json", &["*", "+"])] },
    Writer {
        verb: "config-set-model-profile",
        calls: &[&["budget"]],
        may: &[("config.json", &["model_profile", "+"])],
    },
    Writer { verb: "config-ensure-section", calls: &[&[]], may: &[("config.json", &["+"])] },
    Writer { verb: "config-new-project", calls: &[&["{\"mode\":\"yolo\"}"]], may: &[("config.json", &["*", "+"])] },
    Writer { verb: "migrate-config", calls: &[&[]], may: &[("config.json", &["*"])] },
    Writer {
        verb: "frontmatter set",
        calls: &[&[STATE, "--field", "status", "--value", "x"]],
        may: &[("STATE.md", &["status"])],
    },
    Writer { verb: "frontmatter merge", calls: &[&[STATE, "--data", "{\"a\":1}"]], may: &[("STATE.md", &["a"])] },
    Writer {
        verb: "template fill",
        calls: &[&["summary", "--phase", "2", "--plan", "9"]],
        may: &[("-SUMMARY.md", &["+"])],
    },
    Writer {
        verb: "todo complete",
        calls: &[&["2026-01-05-refactor.md"], &["2026-01-06-ui-fix.md"]],
        may: &[(".md", &["+"])],
    },
    Writer {
        verb: "scaffold",
        calls: &[
            &["context", "--phase", "3"],
            &["uat", "--phase", "2", "--name", "Notes: \"core\""],
            &["phase-dir", "--phase", "12", "--name", "Dark mode"],
            &["verification", "--phase", "99"],
        ],
        may: &[(".md", &["+"]), (".gitkeep", &["+"])],
    },
    Writer {
        verb: "validate health",
        calls: &[&["--repair"], &["--repair", "--backfill"]],
        may: &[
            ("config.json", &["workflow.nyquist_validation", "workflow.ai_integration_phase", "+"]),
            ("MILESTONES.md", &["*", "+"]),
        ],
    },
    Writer {
        verb: "capability set",
        calls: &[
            &["ui", "--off", "--gate", "workflow.ui_review=false"],
            &["tdd", "--on", "--gate", "workflow.tdd_mode=true"],
            &["ui"],
            &["ui", "--gate", "workflow.nope=true"],
        ],
        may: &[("config.json", &["workflow", "workflow.ui_review", "workflow.tdd_mode", "+"])],
    },
    Writer {
        verb: "research-store put",
        calls: &[&[
            "1d8218c067705fc7006bfd711db87fe8e7de340d3696c2d23c5cb283d4540441",
            "--content",
            "x",
            "--source",
            "http://x",
            "--provider",
            "context7",
            "--confidence",
            "LOW",
            "--kind",
            "docs",
        ]],
        may: &[(".json", &["+"])],
    },
    Writer {
        verb: "audit-open acknowledge",
        calls: &[
            &["--category", "todos", "--milestone", "v1.0", "--filename", "2026-01-06-ui-fix.md"],
            &["--category", "debug_sessions", "--milestone", "v1.0", "--slug", "crash"],
            &["--category", "seeds", "--milestone", "v1.0", "--seed-id", "SEED-001-collab"],
            &["--category", "uat_gaps", "--milestone", "v1.0", "--phase", "1", "--file", "01-UAT.md"],
        ],
        may: &[(".md", &["*"])],
    },
    Writer {
        verb: "intel patch-meta",
        calls: &[&[".planning/config.json"], &["nope.json"]],
        may: &[("config.json", &["_meta.updated_at", "_meta.version", "_meta"])],
    },
    Writer { verb: "intel snapshot", calls: &[&[]], may: &[(".last-refresh.json", &["*"])] },
    Writer { verb: "graphify build", calls: &[&["snapshot"], &[]], may: &[(".last-build-snapshot.json", &["*"])] },
    Writer {
        verb: "stamp-codebase-map",
        calls: &[&[], &["--files", "STACK.md"]],
        may: &[(".planning/codebase/", &["*"]), (".md", &["last_mapped_commit", "last_mapped_at"])],
    },
    Writer { verb: "skill-manifest", calls: &[&["--write"], &[]], may: &[("skill-manifest.json", &["*"])] },
    Writer {
        verb: "generate-claude-md",
        calls: &[&[], &["--output", ".planning/PROJECT.md", "--force"], &["--output", "RULES.md", "--auto"]],
        may: &[(".md", &["*"])],
    },
    Writer {
        verb: "refactor evaluate",
        calls: &[&["--phase", "2"]],
        may: &[("-REFACTOR.md", &["*"]), ("complexity-baseline.json", &["*"])],
    },
    Writer {
        verb: "refactor accept",
        calls: &[&["--phase", "1"], &["--phase", "2"]],
        may: &[("-REFACTOR.md", &["*"]), ("complexity-baseline.json", &["*"])],
    },
    Writer {
        verb: "refactor decline",
        calls: &[&["--phase", "1", "--reason", "later: yes"], &["--phase", "2", "--reason", "x"]],
        may: &[("-REFACTOR.md", &["*"]), ("complexity-baseline.json", &["*"])],
    },
    Writer {
        verb: "workstream create",
        calls: &[&["mobile"], &["mobile", "--migrate-name", "old"], &["mobile", "--no-migrate"], &["api"]],
        may: &[("active-workstream", &["*"]), (".planning/workstreams/", &["*"]), (".md", &["*", "+"]), ("", &["+"])],
    },
    Writer {
        verb: "workstream complete",
        calls: &[&["api"], &["web"], &["zzz"]],
        may: &[("active-workstream", &["*"]), ("", &["+"])],
    },
    Writer {
        verb: "workstream set",
        calls: &[&["web"], &["zzz"], &["--clear"]],
        may: &[("active-workstream", &["*"])],
    },
    Writer {
        verb: "verification defer-human",
        calls: &[&["1"], &["1", "--tests-only"], &["2"]],
        may: &[("STATE.md", &["human check"]), ("-UAT.md", &["*", "+"])],
    },
    Writer {
        verb: "verification settle-human",
        calls: &[&["1"], &["2"]],
        may: &[("STATE.md", &["human check"]), ("-VERIFICATION.md", &["status"])],
    },
    Writer { verb: "intel api-surface", calls: &[&[]], may: &[("API-SURFACE.md", &["*"])] },
];

/// The calls of the table, as the words after the program's name.
pub(crate) fn sample_calls() -> impl Iterator<Item = Vec<&'static str>> {
    WRITERS
        .iter()
        .flat_map(|writer| writer.calls.iter().map(|call| writer.verb.split(' ').chain(call.iter().copied()).collect()))
}

/// Commands that write elsewhere than in the documents of a project, and the test that checks what they write.
const ELSEWHERE: &[(&str, &str)] = &[
    ("install", "the folders of hosts: install.rs"),
    ("apply", "the folders of hosts: undo.rs"),
    ("lock", "the lock of a project: team.rs"),
    ("redo", "the folders of hosts: undo.rs"),
    ("doctor", "the folders of hosts, and settings of the project: doctor.rs"),
    ("undo", "the folders of hosts: undo.rs"),
    ("update", "the folders of hosts: undo.rs"),
    ("uninstall", "the folders of hosts: install.rs"),
    ("package", "a folder of its own: install.rs"),
    ("auto abandon", "worktrees and branches of runs: auto_abandon.rs"),
    ("man-pages", "a folder of its own: shell.rs"),
    ("yolo stop", "what a start has changed: yolo.rs"),
    ("handoff write", "a file that a session leaves: handoff.rs"),
    ("handoff clear", "a file that a session leaves: handoff.rs"),
    ("capability disable", "a file in the folder of a host: capability.rs"),
    ("capability enable", "a file in the folder of a host: capability.rs"),
];

/// Commands that start a project.
const STARTERS: &[&str] = &["config-ensure-section", "config-new-project"];

#[test]
fn a_folder_without_a_project_stays_without_one() {
    let context = TestContext::new();
    context.write("README.md", "# App\n");
    let mut kept = Kept::of(&context.everything());
    let mut made = BTreeSet::new();
    for writer in WRITERS {
        for call in writer.calls {
            let words: Vec<&str> = writer.verb.split(' ').chain(call.iter().copied()).collect();
            let _ = context.gsd_of_many(&words, &[]);
            if context.project().join(".planning").exists() {
                made.insert(writer.verb);
            }
            kept.put_back();
        }
    }
    assert_eq!(made, STARTERS.iter().copied().collect());
}

#[test]
fn the_table_names_every_command_that_writes_documents() {
    let writing = verbs().iter().filter(|(_, effect)| ["writes", "destroys"].contains(&effect.as_str()));
    let writers: BTreeSet<&str> = writing.map(|(verb, _)| verb.as_str()).collect();
    let elsewhere = ELSEWHERE.iter().map(|(verb, _)| *verb);
    let listed: BTreeSet<&str> = WRITERS.iter().map(|writer| writer.verb).chain(elsewhere).collect();
    assert_eq!(listed.len(), WRITERS.len() + ELSEWHERE.len(), "each stands once");
    assert_eq!(listed, writers, "left: the table of this file; right: the program");
}

/// A test for each group of commands: a group is the first words of its verbs.
macro_rules! groups {
    ($($group:ident: $words:expr;)*) => {
        const GROUPS: &[(&str, &[&str])] = &[$((stringify!($group), $words)),*];

        mod a_command_changes_the_lines_it_is_for {
            $(#[test]
            fn $group() {
                super::hold(stringify!($group));
            })*
        }
    };
}

groups! {
    auto: &["auto"];
    code: &["graphify", "intel", "refactor", "stamp-codebase-map"];
    documents: &["audit-open", "frontmatter", "generate-claude-md", "skill-manifest", "template", "validate"];
    estimates_and_imports: &["estimate-calibrate", "from-gsd2", "quick-tasks-append", "quick-tasks-migrate"];
    milestones: &["milestone"];
    notes: &["research-store", "scaffold", "todo"];
    phases: &["phase", "phases"];
    roadmap_and_requirements: &["requirements", "roadmap"];
    settings: &[
        "capability",
        "config-ensure-section",
        "config-new-project",
        "config-set",
        "config-set-model-profile",
        "migrate-config",
        "yolo",
    ];
    state: &["state"];
    verification: &["verification"];
    workstreams: &["workstream"];
}

fn group_of(verb: &str) -> Vec<&'static str> {
    let word = verb.split(' ').next().unwrap();
    GROUPS.iter().filter(|(_, words)| words.contains(&word)).map(|(group, _)| *group).collect()
}

/// A separate process and one that answers many calls give the same answer, and write the same.
#[test]
fn a_call_has_the_same_answer_in_a_process_that_answers_many() {
    let projects = projects();
    for (number, writer) in WRITERS.iter().enumerate() {
        let (call, project) = (writer.calls[0], &projects[number % projects.len()]);
        let mut bench = Bench::new(project, Twin::Plain);
        let words: Vec<&str> = writer.verb.split(' ').chain(call.iter().copied()).collect();
        let [own, many] = [true, false].map(|is_real| {
            bench.is_real = is_real;
            let Ran { code, stdout, stderr } = bench.call(&words);
            let left = (code, stdout, stderr, bench.documents_now());
            bench.kept.put_back();
            left
        });
        assert_eq!(own, many, "{} on {}", words.join(" "), project.display());
    }
}

#[test]
fn every_command_of_the_table_is_in_one_group() {
    for writer in WRITERS {
        assert_eq!(group_of(writer.verb).len(), 1, "{}", writer.verb);
    }
    let idle: Vec<&str> = GROUPS.iter().flat_map(|(_, words)| *words).copied().collect();
    let idle: Vec<&str> = idle
        .into_iter()
        .filter(|word| WRITERS.iter().all(|writer| writer.verb.split(' ').next() != Some(*word)))
        .collect();
    assert_eq!(idle, [""; 0], "words that no command of the table begins with");
}

/// Makes every call of a group on every project, and again on its twins.
fn hold(group: &str) {
    let projects = projects();
    let mut benches: BTreeMap<(&Path, Twin), Bench> = BTreeMap::new();
    let jobs = WRITERS
        .iter()
        .flat_map(|writer| writer.calls.iter().map(move |call| (writer, *call)))
        .flat_map(|(writer, call)| projects.iter().map(move |project| (writer, call, project.as_path())));
    let (mut trials, mut wrote, mut faults) = (0, BTreeSet::new(), Vec::new());
    for (number, (writer, call, project)) in jobs.enumerate() {
        if group_of(writer.verb) != [group] {
            continue;
        }
        // A call that does not change the plain copy is tried on the twins in one case of four.
        let mut twice = number.is_multiple_of(4);
        for twin in TWINS {
            if *twin != Twin::Plain && !twice {
                continue;
            }
            trials += 1;
            let bench = benches.entry((project, *twin)).or_insert_with(|| Bench::new(project, *twin));
            // One case of twelve runs separate processes.
            bench.is_real = trials % 12 == 1;
            let (changed, found) = bench.run(writer, call, *twin == Twin::Plain);
            twice |= changed || !found.is_empty();
            if changed {
                wrote.insert(writer.verb);
            }
            let name = project.file_name().unwrap().to_string_lossy();
            faults.extend(
                found.into_iter().map(|fault| format!("{} {call:?} on {name} ({twin:?}): {fault}", writer.verb)),
            );
        }
    }
    assert!(faults.is_empty(), "{} faults in {trials} trials:\n{}", faults.len(), faults.join("\n"));
    let verbs = WRITERS.iter().map(|writer| writer.verb).filter(|verb| group_of(verb) == [group]);
    let idle: Vec<&str> = verbs.filter(|verb| !wrote.contains(verb)).collect();
    assert_eq!(idle, [""; 0], "these changed no byte of any project: nothing is proved of them");
}

/// How a copy of a project is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Twin {
    Plain,
    /// Windows line endings and a byte order mark.
    Windows,
    /// Words in other scripts.
    Scripts,
}

const TWINS: &[Twin] = &[Twin::Plain, Twin::Windows, Twin::Scripts];

impl Twin {
    fn of(self, path: &Path, text: &str) -> String {
        let markdown = path.extension().is_some_and(|extension| extension == "md");
        match self {
            Self::Windows if markdown => {
                format!("\u{feff}{}", text.trim_start_matches('\u{feff}').replace("\r\n", "\n").replace('\n', "\r\n"))
            }
            Self::Scripts if markdown => {
                text.replace("Users", "Nutzer — 用戶").replace("Notes", "Za\u{301}piski\u{a0}筆記 👩\u{200d}🚀")
            }
            _ => text.to_owned(),
        }
    }
}

/// The projects of this repository, and the recorded ones if available.
fn projects() -> Vec<PathBuf> {
    static TOLD: Once = Once::new();
    let recorded = std::env::var_os("GSD_CONFORMANCE_DIR").map(|folder| Path::new(&folder).join("projects"));
    if recorded.is_none() {
        TOLD.call_once(|| tell("bytes: the recorded projects were not run (GSD_CONFORMANCE_DIR is not set)\n"));
    }
    let own = repository().join("tests/projects");
    let folders = [Some(own), recorded].into_iter().flatten();
    let mut projects: Vec<PathBuf> = folders
        .flat_map(|folder| std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    projects.sort();
    assert!(projects.len() >= 6);
    projects
}

/// A copy of a project on which calls run one after the other. Each call finds it in the original state.
struct Bench {
    context: TestContext,
    /// Home, project and temporary folder.
    kept: Kept,
    documents: BTreeMap<String, String>,
    /// True if each call has its own process.
    is_real: bool,
}

impl Bench {
    fn new(project: &Path, twin: Twin) -> Self {
        let context = TestContext::new();
        copy(project, &context.project(), twin);
        if project.join("src").is_dir() && project.join(".planning/codebase").is_dir() {
            commit(&context);
        }
        let (kept, documents) = (Kept::of(&context.everything()), documents(&context.project()));
        Self { context, kept, documents, is_real: true }
    }

    /// Returns true if the call changed a byte, and what is wrong with the result.
    fn run(&mut self, writer: &Writer, call: &[&str], rehearse: bool) -> (bool, Vec<String>) {
        let told = self.changes(writer, call, rehearse);
        self.kept.put_back();
        told
    }

    fn changes(&self, writer: &Writer, call: &[&str], rehearse: bool) -> (bool, Vec<String>) {
        let words: Vec<&str> = writer.verb.split(' ').chain(call.iter().copied()).collect();
        let before = &self.documents;
        let rehearsed = rehearse.then(|| self.call(&[&words[..], &["--dry-run"]].concat()));
        let wrote = self.written();
        if !wrote.is_empty() {
            return (false, vec![format!("a rehearsal wrote {}", wrote.join(", "))]);
        }
        let ran = self.call(&words);
        let after = self.documents_now();
        if let Some(rehearsed) = rehearsed
            && (ran.code == 0) != (rehearsed.code == 0)
        {
            let fault = format!("a rehearsal exits {}, the command {}: {}", rehearsed.code, ran.code, ran.stderr);
            return (false, vec![fault]);
        }
        if ran.code != 0 {
            let wrote = if after == *before { None } else { Some("failed, and wrote".to_owned()) };
            return (false, wrote.into_iter().collect());
        }
        let mut faults = kept_forms(before, &after);
        match serde_json::from_str::<Value>(&ran.stdout) {
            Ok(report) => faults.extend(told_truly(&report, before, &after, writer)),
            Err(error) => faults.push(format!("{error}: {}", ran.stdout)),
        }
        (*before != after, faults)
    }

    /// What was written, created or removed in the project. Git's own files are not documents.
    fn written(&self) -> Vec<String> {
        let paths = self.kept.changed().into_iter();
        let paths = paths.filter_map(|path| Some(path.strip_prefix("/project/")?.to_owned()));
        paths.filter(|path| path.split('/').all(|part| part != ".git")).collect()
    }

    /// The documents as they are now. Files that were not written to are not read again.
    fn documents_now(&self) -> BTreeMap<String, String> {
        let mut documents = self.documents.clone();
        for path in self.written() {
            let place = self.context.project().join(&path);
            if place.is_file() {
                documents.insert(path, text(&place));
            } else {
                documents.remove(&path);
            }
        }
        documents
    }

    fn call(&self, words: &[&str]) -> Ran {
        let clock = [("GSD_TEST_MODE", "1"), ("GSD_NOW_MS", "1768500000000")];
        if self.is_real { self.context.gsd_with(words, &clock, "") } else { self.context.gsd_of_many(words, &clock) }
    }
}

/// Makes the project a repository: first its documents, then its source as the work of phase 2.
fn commit(context: &TestContext) {
    let steps: [&[&str]; 5] = [
        &["init", "-q", "-b", "main"],
        &["add", ".planning"],
        &["commit", "-qm", "docs: start"],
        &["add", "."],
        &["commit", "-qm", "feat(02-01): the shelf"],
    ];
    for step in steps {
        assert!(context.command("git").args(step).status().unwrap().success(), "{step:?}");
    }
}

fn copy(from: &Path, to: &Path, twin: Twin) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target, twin);
        } else {
            match std::fs::read_to_string(&path) {
                Ok(text) => std::fs::write(target, twin.of(&path, &text)).unwrap(),
                Err(_) => drop(std::fs::copy(&path, target).unwrap()),
            }
        }
    }
}

/// Every file of a project with its text.
fn documents(root: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                // Git's own files are not documents.
                folders.extend(Some(path).filter(|path| !path.ends_with(".git")));
            } else {
                let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
                found.insert(name, text(&path));
            }
        }
    }
    found
}

fn text(path: &Path) -> String {
    String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned()
}

/// Checks that line endings, byte order marks and the last line's ending are as they were.
fn kept_forms(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> Vec<String> {
    let mut faults = Vec::new();
    for (path, old) in before {
        let Some(new) = after.get(path).filter(|new| *new != old) else { continue };
        let bare = |text: &str| text.matches('\n').count() - text.matches("\r\n").count();
        let windows = |text: &str| text.matches("\r\n").count();
        if bare(old) == 0 && bare(new) > 0 && windows(old) > 0 || windows(old) == 0 && windows(new) > 0 {
            faults.push(format!("{path}: line endings changed"));
        }
        if old.starts_with('\u{feff}') != new.starts_with('\u{feff}') {
            faults.push(format!("{path}: the byte order mark changed"));
        }
        let grew = old.trim_end().lines().last() != new.trim_end().lines().last();
        if !old.is_empty() && !grew && old.ends_with('\n') != new.ends_with('\n') {
            faults.push(format!("{path}: the end of the file changed"));
        }
    }
    faults
}

/// Checks that the report names every line that changed, and only lines the command is for.
fn told_truly(
    report: &Value,
    before: &BTreeMap<String, String>,
    after: &BTreeMap<String, String>,
    writer: &Writer,
) -> Vec<String> {
    // A file of the host does not belong to the project: the tests of its command check it.
    let outside = |change: &Value| change["file"].as_str().is_some_and(|file| file.starts_with('/'));
    let told: Vec<&Value> =
        report["changed"].as_array().into_iter().flatten().filter(|change| !outside(change)).collect();
    let mut faults = Vec::new();
    if before == after && (report["updated"] == true || !told.is_empty()) {
        faults.push(format!("nothing changed, and it says: {report}"));
    }
    let paths: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    // A moved folder is one entry, with the number of its files.
    let within = |path: &str, folder: &Value| {
        folder
            .as_str()
            .is_some_and(|folder| path == folder || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')))
    };
    let moves: Vec<&&Value> = told.iter().filter(|change| change["moved_to"].is_string()).collect();
    let arrived = |path: &str| moves.iter().any(|change| within(path, &change["moved_to"]));
    let left = |path: &str| moves.iter().any(|change| within(path, &change["file"]));
    for path in paths.into_iter().filter(|path| !derived(path)) {
        let of_file: Vec<&&Value> = told.iter().filter(|change| change["file"] == path.as_str()).collect();
        match (before.get(path), after.get(path)) {
            (Some(old), Some(new)) => faults.extend(told_lines(path, old, new, &of_file)),
            (None, Some(_)) if arrived(path) => {}
            (Some(_), None) if left(path) => {}
            (None, Some(_))
                if of_file.iter().all(|change| change["created"] != true) && !path.ends_with(".gitkeep") =>
            {
                faults.push(format!("{path} was made, and the report does not say so"));
            }
            (Some(_), None) if of_file.iter().all(|change| change["removed"] != true) => {
                faults.push(format!("{path} was removed, and the report does not say so"));
            }
            _ => {}
        }
        let changed = before.get(path) != after.get(path);
        let whole = before.contains_key(path) != after.contains_key(path);
        let allowed = writer.may.iter().find(|(ending, _)| path.ends_with(ending)).map(|(_, labels)| *labels);
        for change in &of_file {
            let label = change["field"].as_str();
            if is_figures(path, change) {
                if !COUNTS.contains(&writer.verb) {
                    faults.push(format!("{path}: no figures are for it to count: {change}"));
                }
                continue;
            }
            let fits = allowed.is_some_and(|labels| {
                labels
                    .iter()
                    .any(|allowed| *allowed == "*" || if whole { *allowed == "+" } else { label == Some(*allowed) })
            });
            if changed && !fits {
                faults.push(format!("{path}: not for it to change: {change}"));
            }
        }
    }
    faults
}

/// Checks that each added or removed line is the value of one entry.
fn told_lines(path: &str, old: &str, new: &str, told: &[&&Value]) -> Vec<String> {
    if Path::new(path).extension().is_some_and(|extension| extension == "json") {
        let same = serde_json::from_str::<Value>(old).ok() == serde_json::from_str::<Value>(new).ok();
        return if same || !told.is_empty() { Vec::new() } else { vec![format!("{path}: changed and not told")] };
    }
    let mut faults = figures_told(path, old, new, told);
    let told: Vec<&&Value> = told.iter().filter(|change| !is_figures(path, change)).copied().collect();
    let (old, new) = if path.ends_with("STATE.md") && !told.iter().any(|change| is_front(change, old, new)) {
        (body(old), body(new))
    } else {
        (old, new)
    };
    // A last line that gets a line ending because others follow it counts as the same line.
    let ending = if old.contains("\r\n") { "\r\n" } else { "\n" };
    let ended = |text: &str| format!("{text}{}", if text.ends_with('\n') { "" } else { ending });
    let (old, new) = (ended(old), ended(new));
    // The mark at the beginning belongs to no line; `kept_forms` checks it.
    let bare = |text: &str| text.trim_start_matches('\u{feff}').to_owned();
    let (old, new) = (bare(&old), bare(&new));
    let diff = TextDiff::from_lines(&old, &new);
    for change in diff.iter_all_changes() {
        let line = change.value().trim();
        let key = match change.tag() {
            ChangeTag::Equal => continue,
            ChangeTag::Delete => "old",
            ChangeTag::Insert => "new",
        };
        if line.bytes().all(|byte| matches!(byte, b'|' | b'-' | b':' | b' ')) {
            continue;
        }
        let says = |entry: &Value| {
            let value = entry[key].as_str().unwrap_or("\0").trim_end_matches('…').trim();
            let label = entry["field"].as_str().unwrap_or_default().trim_end_matches('…');
            line.contains(value) && line.contains(label)
        };
        if !told.iter().any(|entry| says(entry)) {
            faults.push(format!("{path}: changed and not told ({key}): {line}"));
        }
    }
    faults
}

/// The verbs that update the counts of STATE.md: those called to do so, and those that change what is counted.
const COUNTS: &[&str] = &[
    "milestone complete",
    "phase add",
    "phase add-batch",
    "phase complete",
    "phase insert",
    "phase remove",
    "phases clear",
    "state advance-plan",
    "state begin-phase",
    "state complete-phase",
    "state milestone-switch",
    "state planned-phase",
    "state rebuild",
    "state sync",
    "state update-progress",
];

/// True if the entry is about the counts in the front matter of STATE.md.
fn is_figures(path: &str, change: &Value) -> bool {
    path.ends_with("STATE.md") && change["field"] == "progress"
}

/// Checks that one entry reports the counts that changed, and no others.
fn figures_told(path: &str, old: &str, new: &str, told: &[&&Value]) -> Vec<String> {
    let figures = |text: &str| -> BTreeSet<String> {
        let front = &text[..text.len() - body(text).len()];
        let block = front.lines().skip_while(|line| line.trim_end() != "progress:").skip(1);
        block.take_while(|line| line.starts_with(' ')).map(|line| line.trim().to_owned()).collect()
    };
    let (old, new) = (figures(old), figures(new));
    let entry = told.iter().find(|change| is_figures(path, change));
    let said = |key: &str| -> BTreeSet<String> {
        let lines = entry.and_then(|entry| entry[key].as_str()).unwrap_or_default();
        lines.split(", ").filter(|line| !line.is_empty()).map(str::to_owned).collect()
    };
    let changed: [BTreeSet<String>; 2] =
        [old.difference(&new).cloned().collect(), new.difference(&old).cloned().collect()];
    let wrong = [said("old"), said("new")] != changed;
    wrong.then(|| format!("{path}: figures {changed:?} changed, and {entry:?} is told")).into_iter().collect()
}

/// True if the entry is about a line of the front matter.
fn is_front(change: &Value, old: &str, new: &str) -> bool {
    let front = &old[..old.len() - body(old).len()];
    change["field"].as_str().is_some_and(|label| {
        let key = format!("{label}:");
        let is_key = label.chars().all(|letter| letter.is_ascii_lowercase());
        front.lines().any(|line| line.trim_start().starts_with(&key)) || is_key && !body(new).contains(&key)
    })
}

fn body(text: &str) -> &str {
    static FRONT: OnceLock<Regex> = OnceLock::new();
    let bare = text.trim_start_matches('\u{feff}');
    if !bare.starts_with("---") {
        return text;
    }
    let front = FRONT.get_or_init(|| Regex::new(r"(?s)\A---\r?\n.*?\n---[ \t]*\r?\n").unwrap());
    front.find(bare).map_or(text, |front| &bare[front.end()..])
}

/// True for files derived from other documents: not reported, and free to change.
fn derived(path: &str) -> bool {
    path.ends_with("state.json") || path.ends_with(ROADMAP) && path.contains("-phases/")
}
