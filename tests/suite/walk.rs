//! The loop from planning to the next phase, step by step on a real repository: each step changes only the lines it is
//! for, whatever the line endings and the script of the documents.

use std::collections::BTreeMap;

use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use crate::kit::{Ran, TestContext, repository};

const STATE: &str = ".planning/STATE.md";
const ROADMAP: &str = ".planning/ROADMAP.md";
const REQUIREMENTS: &str = ".planning/REQUIREMENTS.md";
const MIRROR: &str = ".planning/state.json";
const FOLDER: &str = ".planning/phases/02-writing-notes";

/// How one twin of the fixture is written.
struct Twin {
    bom: &'static str,
    ending: &'static str,
    /// Words of the fixture, and their replacements.
    words: &'static [(&'static str, &'static str)],
}

/// Wide characters, combining marks, joined emoji, right-to-left script, a no-break space.
const UNICODE: &[(&str, &str)] = &[
    ("Writing Notes", "Za\u{301}piski\u{a0}筆記 👩\u{200d}🚀"),
    ("Sync", "Gle\u{301}ichlauf ⇄"),
    ("First light", "אור ראשון"),
    ("Write one", "Écrire « une »"),
    ("any editor opens them", "jeder Editor öffnet sie — ſo auch „ed“ İı"),
    ("Ada", "Åsa 🦉"),
];

#[test]
fn a_walk_through_the_loop_changes_the_lines_it_is_for() {
    Twin { bom: "", ending: "\n", words: &[] }.walk();
}

#[test]
fn a_walk_through_the_loop_keeps_windows_line_endings() {
    Twin { bom: "", ending: "\r\n", words: &[] }.walk();
}

#[test]
fn a_walk_through_the_loop_keeps_every_script() {
    Twin { bom: "", ending: "\n", words: UNICODE }.walk();
}

#[test]
fn a_walk_through_the_loop_keeps_byte_order_marks() {
    Twin { bom: "\u{feff}", ending: "\r\n", words: UNICODE }.walk();
}

impl Twin {
    fn say(&self, text: &str) -> String {
        self.words.iter().fold(text.to_owned(), |text, (word, other)| text.replace(word, other))
    }

    /// A document as this twin writes it.
    fn document(&self, text: &str) -> String {
        format!("{}{}", self.bom, self.say(text).replace('\n', self.ending))
    }

    #[expect(clippy::too_many_lines, reason = "one story, told in order")]
    fn walk(&self) {
        let walk = Walk::begin(self);

        let init = walk.reads(&["init", "plan-phase", "2"]);
        assert_eq!((&init["phase_number"], &init["has_plans"]), (&"02".into(), &false.into()));
        for number in [1, 2] {
            walk.write(&format!("{FOLDER}/02-0{number}-PLAN.md"), &plan(number));
        }
        walk.lists_the_plans();
        walk.commit("docs(02): plan the phase");
        let planned = ["state", "planned-phase", "--phase", "2", "--name", "Writing Notes", "--plans", "2"];
        walk.changes(
            &planned,
            &[
                "ROADMAP.md -| 2. Writing Notes | 0/TBD | Not started | - |",
                "ROADMAP.md +| 2. Writing Notes | 0/2 | Planned | - |",
                "STATE.md -Phase: 2 of 3 (Writing Notes)",
                "STATE.md +Phase: 2 of 3 (Writing Notes) — READY TO EXECUTE",
                "STATE.md -Status: Ready to plan",
                "STATE.md -Last activity: 2026-01-08 — Phase 1 complete",
                "STATE.md +Status: Ready to execute",
                "STATE.md +Last activity: 2026-01-15 — Phase 2 planning complete",
            ],
        );
        walk.changes_nothing_more(&planned);
        let annotate = ["roadmap", "annotate-dependencies", "2"];
        walk.changes(
            &annotate,
            &[
                "ROADMAP.md +**Wave 1**",
                "ROADMAP.md +",
                "ROADMAP.md +",
                "ROADMAP.md +**Wave 2** *(blocked on Wave 1 completion)*",
                "ROADMAP.md +",
                "ROADMAP.md +**Cross-cutting constraints:**",
                "ROADMAP.md +",
                "ROADMAP.md +- It is written",
                "ROADMAP.md +",
            ],
        );
        walk.changes_nothing_more(&annotate);
        walk.commit("docs(02): ready to execute");

        let begin = ["state", "begin-phase", "--phase", "2", "--name", "Writing Notes", "--plans", "2"];
        walk.changes(
            &begin,
            &[
                "STATE.md -Phase: 2 of 3 (Writing Notes) — READY TO EXECUTE",
                "STATE.md -Plan: Not started",
                "STATE.md -Status: Ready to execute",
                "STATE.md -Last activity: 2026-01-15 — Phase 2 planning complete",
                "STATE.md +Phase: 2 of 3 (Writing Notes) — EXECUTING",
                "STATE.md +Plan: 1 of 2",
                "STATE.md +Status: Executing Phase 2",
                "STATE.md +Last activity: 2026-01-15 — Phase 2 execution started",
            ],
        );
        let claim: Value = serde_json::from_str(&walk.context.claims()[0]).unwrap();
        assert_eq!(claim["phase"], "2");

        walk.writes_a_summary(1);
        walk.changes(&["state", "advance-plan"], &["STATE.md -Plan: 1 of 2", "STATE.md +Plan: 2 of 2"]);
        walk.changes(&["state", "update-progress"], &[]);
        let metric = ["state", "record-metric", "--phase", "2", "--plan", "1", "--duration", "5min", "--tasks", "1"];
        walk.changes(
            &metric,
            &[
                "STATE.md +**Per-Plan Metrics:**",
                "STATE.md +",
                "STATE.md +| Plan | Duration | Tasks | Files |",
                "STATE.md +|------|----------|-------|-------|",
                "STATE.md +| Phase 2 P1 | 5min | 1 tasks | - files |",
                "STATE.md +",
            ],
        );
        let text = ["--summary", "Plain text", "--rationale", "any editor opens them"];
        walk.changes(
            &[&["state", "add-decision", "--phase", "2"], &text[..]].concat(),
            &["STATE.md +- [Phase 2]: Plain text — any editor opens them"],
        );
        walk.changes(
            &["state", "record-session", "--stopped-at", "Completed 02-01-PLAN.md", "--resume-file", "None"],
            &[
                "STATE.md -Last session: 2026-01-08 10:00",
                "STATE.md -Stopped at: Phase 1 complete",
                "STATE.md +Last session: 2026-01-15T18:00:00.000Z",
                "STATE.md +Stopped at: Completed 02-01-PLAN.md",
            ],
        );
        let progress = ["roadmap", "update-plan-progress", "2"];
        walk.changes(
            &progress,
            &[
                "ROADMAP.md -**Plans**: 2 plans",
                "ROADMAP.md +**Plans**: 1/2 plans executed",
                "ROADMAP.md -- [ ] 02-01-PLAN.md — Write one",
                "ROADMAP.md +- [x] 02-01-PLAN.md — Write one",
                "ROADMAP.md -| 2. Writing Notes | 0/2 | Planned | - |",
                "ROADMAP.md +| 2. Writing Notes | 1/2 | In Progress|  |",
            ],
        );
        walk.changes_nothing_more(&progress);
        let met = ["requirements", "mark-complete", "NOTE-01"];
        walk.changes(
            &met,
            &[
                "REQUIREMENTS.md -- [ ] **NOTE-01**: A person can write a note",
                "REQUIREMENTS.md +- [x] **NOTE-01**: A person can write a note",
                "REQUIREMENTS.md -| NOTE-01 | Phase 2 | Pending |",
                "REQUIREMENTS.md +| NOTE-01 | Phase 2 | Complete |",
            ],
        );
        walk.changes_nothing_more(&met);
        walk.commit("docs(02-01): complete the plan");

        walk.writes_a_summary(2);
        walk.changes(
            &["state", "advance-plan"],
            &[
                "STATE.md -Phase: 2 of 3 (Writing Notes) — EXECUTING",
                "STATE.md +Phase: 2 of 3 (Writing Notes) — READY FOR VERIFICATION",
                "STATE.md -Status: Executing Phase 2",
                "STATE.md +Status: Phase complete — ready for verification",
            ],
        );
        walk.changes(
            &["state", "record-metric", "--phase", "2", "--plan", "2", "--duration", "7min", "--files", "1"],
            &["STATE.md +| Phase 2 P2 | 7min | - tasks | 1 files |"],
        );
        walk.changes(
            &progress,
            &[
                "ROADMAP.md -**Plans**: 1/2 plans executed",
                "ROADMAP.md +**Plans**: 2/2 plans executed",
                "ROADMAP.md -- [ ] 02-02-PLAN.md — List them",
                "ROADMAP.md +- [x] 02-02-PLAN.md — List them",
                "ROADMAP.md -| 2. Writing Notes | 1/2 | In Progress|  |",
                "ROADMAP.md +| 2. Writing Notes | 2/2 | In Progress|  |",
            ],
        );
        walk.commit("docs(02-02): complete the plan");

        assert!(walk.fails(&["phase", "complete", "2"]).contains("verification"));
        walk.writes_the_verification();
        assert_eq!(walk.reads(&["verification", "status", FOLDER])["status"], "passed");
        let complete = ["phase", "complete", "2"];
        let report = walk.changes(
            &complete,
            &[
                "REQUIREMENTS.md -- [ ] **NOTE-02**: A person can list the notes",
                "REQUIREMENTS.md +- [x] **NOTE-02**: A person can list the notes",
                "REQUIREMENTS.md -| NOTE-02 | Phase 2 | Pending |",
                "REQUIREMENTS.md +| NOTE-02 | Phase 2 | Complete |",
                "ROADMAP.md -- [ ] **Phase 2: Writing Notes** - Create and list notes",
                "ROADMAP.md +- [x] **Phase 2: Writing Notes** - Create and list notes (completed 2026-01-15)",
                "ROADMAP.md -| 2. Writing Notes | 2/2 | In Progress|  |",
                "ROADMAP.md +| 2. Writing Notes | 2/2 | Complete    | 2026-01-15 |",
                "STATE.md -**Current focus:** Phase 2 — Writing Notes",
                "STATE.md +**Current focus:** Phase 3 — Sync",
                "STATE.md -Phase: 2 of 3 (Writing Notes) — READY FOR VERIFICATION",
                "STATE.md -Plan: 2 of 2",
                "STATE.md -Status: Phase complete — ready for verification",
                "STATE.md -Last activity: 2026-01-15 — Phase 2 execution started",
                "STATE.md +Phase: 3 of 3 (Sync) — READY TO PLAN",
                "STATE.md +Plan: Not started",
                "STATE.md +Status: Ready to plan",
                "STATE.md +Last activity: 2026-01-15 — Phase 2 complete, transitioned to Phase 3",
                "STATE.md -Progress: [███░░░░░░░] 33%",
                "STATE.md +Progress: [███████░░░] 67%",
                "STATE.md -- Total plans completed: 1",
                "STATE.md +- Total plans completed: 3",
                "STATE.md +| 2 | 2 | 12min | 6min |",
                "STATE.md -Stopped at: Completed 02-01-PLAN.md",
                "STATE.md +Stopped at: Phase 2 complete, ready to plan Phase 3",
            ],
        );
        assert_eq!((&report["next_phase"], &report["warnings"]), (&"3".into(), &Value::Array(vec![])));
        assert_eq!(walk.context.claims(), [""; 0], "the claim ends with the phase");
        walk.commit("docs(02): complete the phase");
        assert_eq!(walk.git(&["status", "--porcelain"]), "");
        walk.says_the_right_things();
    }
}

fn plan(number: u32) -> String {
    let depends_on = if number == 1 { "[]" } else { "[\"02-01\"]" };
    format!(
        "---\nphase: 02-writing-notes\nplan: 0{number}\ntype: execute\nwave: {number}\ndepends_on: {depends_on}\n\
         files_modified: [src/note{number}.txt]\nautonomous: true\nrequirements: [NOTE-0{number}]\nmust_haves:\n  \
         truths:\n    - \"It is written\"\n---\n\n<objective>\nPart {number}\n</objective>\n\n<tasks>\n\n\
         <task type=\"auto\">\n  <name>Task 1: Write</name>\n  <files>src/note{number}.txt</files>\n  \
         <action>Write it.</action>\n  <verify>Read it.</verify>\n  <done>It is there.</done>\n</task>\n\n</tasks>\n"
    )
}

fn summary(number: u32) -> String {
    format!(
        "---\nphase: 02-writing-notes\nplan: 0{number}\nrequirements-completed: [NOTE-0{number}]\nkey-files:\n  \
         created: [src/note{number}.txt]\nduration: 5min\ncompleted: 2026-01-15\nstatus: complete\n---\n\n\
         # Part {number}\n\n**It is written**\n"
    )
}

/// A project under way.
struct Walk<'a> {
    twin: &'a Twin,
    context: TestContext,
}

/// Every file of the project outside `.git`, by its path.
type Files = BTreeMap<String, String>;

impl<'a> Walk<'a> {
    fn begin(twin: &'a Twin) -> Self {
        let walk = Self { twin, context: TestContext::new() };
        let from = repository().join("tests/projects/pocket");
        for entry in walkdir::WalkDir::new(&from).into_iter().map(Result::unwrap) {
            if entry.file_type().is_file() {
                let path = entry.path().strip_prefix(&from).unwrap().to_string_lossy().replace('\\', "/");
                walk.write(&path, &std::fs::read_to_string(entry.path()).unwrap());
            }
        }
        walk.git(&["init", "-q", "-b", "main"]);
        walk.git(&["config", "core.autocrlf", "false"]);
        walk.git(&["add", "-A"]);
        walk.git(&["commit", "-q", "-m", "start"]);
        walk
    }

    /// Writes a document as a person or an agent does, in the form of this twin.
    fn write(&self, path: &str, text: &str) {
        let markdown = std::path::Path::new(path).extension().is_some_and(|extension| extension == "md");
        let text = if markdown { self.twin.document(text) } else { text.to_owned() };
        self.context.write(path, &text);
    }

    fn git(&self, arguments: &[&str]) -> String {
        let output = self.context.command("git").args(arguments).output().unwrap();
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn gsd(&self, arguments: &[&str]) -> Ran {
        let environment = [("GSD_TEST_MODE", "1"), ("GSD_NOW_MS", "1768500000000"), ("GSD_SESSION_KEY", "tests")];
        self.context.gsd_with(arguments.iter().map(|argument| self.twin.say(argument)), &environment, "")
    }

    fn files(&self) -> Files {
        let root = self.context.project();
        let entries = walkdir::WalkDir::new(&root).into_iter().filter_entry(|entry| entry.file_name() != ".git");
        let files = entries.map(Result::unwrap).filter(|entry| !entry.file_type().is_dir());
        files
            .map(|entry| {
                let path = entry.path().strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/");
                (path, std::fs::read_to_string(entry.path()).unwrap())
            })
            .collect()
    }

    fn read_json(&self, path: &str) -> Value {
        serde_json::from_str(&self.context.read(path)).unwrap()
    }

    /// Runs a verb that answers and changes no file.
    fn reads(&self, arguments: &[&str]) -> Value {
        let before = self.files();
        let answer = self.gsd(arguments).json();
        assert_eq!(self.files(), before, "{arguments:?} is a reader");
        answer
    }

    /// Runs a verb that refuses.
    fn fails(&self, arguments: &[&str]) -> String {
        let before = self.files();
        let told = self.gsd(arguments).failure(1);
        assert_eq!(self.files(), before, "{arguments:?} was refused");
        told
    }

    /// Runs a verb and compares its changes with the lines it is for.
    fn changes(&self, arguments: &[&str], expected: &[&str]) -> Value {
        let before = self.files();
        let answer = self.gsd(arguments).json();
        let after = self.files();
        let expected: Vec<String> = expected.iter().map(|line| self.twin.say(line)).collect();
        assert_eq!(self.changed_lines(&before, &after), expected, "{arguments:?}: {answer:#}");
        for path in [STATE, ROADMAP, REQUIREMENTS] {
            self.keeps_its_manners(&before[path], &after[path]);
        }
        answer
    }

    /// Repeats a call, which must change nothing more.
    fn changes_nothing_more(&self, arguments: &[&str]) {
        let before = self.files();
        let _ = self.gsd(arguments).json();
        assert_eq!(self.files(), before, "{arguments:?} the second time");
    }

    fn keeps_its_manners(&self, before: &str, after: &str) {
        assert!(after.starts_with(self.twin.bom), "a byte order mark was lost");
        assert_eq!(after.matches('\u{feff}').count(), before.matches('\u{feff}').count());
        assert_eq!(after.ends_with('\n'), before.ends_with('\n'), "the end of the file");
        let lines = after.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        for line in lines {
            assert_eq!(line.ends_with("\r\n"), self.twin.ending == "\r\n", "{line:?}");
        }
        assert_eq!(after.matches('\r').count(), after.matches("\r\n").count());
        let keeper = self.twin.say("keeper: Ada # asked to be told");
        assert_eq!(after.contains(&keeper), before.contains(&keeper), "a key of the user's was touched");
    }

    /// The changed lines, except the derived ones: the index of STATE.md, its mirror, the claim of the session.
    fn changed_lines(&self, before: &Files, after: &Files) -> Vec<String> {
        let mut lines = Vec::new();
        let paths: std::collections::BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        for path in paths.into_iter().filter(|path| *path != MIRROR) {
            let (Some(old), Some(new)) = (before.get(path), after.get(path)) else {
                lines.push(format!("{path} came or went"));
                continue;
            };
            let derived = path == STATE;
            let (old, new) = if derived { (self.body(old), self.body(new)) } else { (old.as_str(), new.as_str()) };
            let name = path.strip_prefix(".planning/").unwrap_or(path);
            for change in TextDiff::from_lines(old, new).iter_all_changes() {
                let sign = match change.tag() {
                    ChangeTag::Equal => continue,
                    ChangeTag::Delete => '-',
                    ChangeTag::Insert => '+',
                };
                let value = change.value();
                lines.push(format!("{name} {sign}{}", value.strip_suffix(self.twin.ending).unwrap_or(value)));
            }
        }
        lines
    }

    /// The text after the front matter.
    fn body<'t>(&self, text: &'t str) -> &'t str {
        let fence = format!("{0}---{0}", self.twin.ending);
        let at = text.find(&fence).expect("the front matter ends");
        &text[at + fence.len()..]
    }

    /// Commits every open change except the claim of this session, through the program; the commit has exactly those
    /// files.
    fn commit(&self, message: &str) {
        let status = self.git(&["status", "--porcelain", "-z", "--untracked-files=all", "--no-renames"]);
        let paths = status.split('\0').filter_map(|line| line.get(3..));
        let mut open: Vec<&str> = paths.collect();
        open.sort_unstable();
        let before = self.files();
        let report = self.gsd(&[&["commit", message, "--files"], &open[..]].concat()).json();
        assert_eq!(report["committed"], true, "{report}");
        let shown = self.git(&["show", "--name-only", "-z", "--format=", "--no-renames", "HEAD"]);
        let mut committed: Vec<&str> = shown.split('\0').map(str::trim).filter(|path| !path.is_empty()).collect();
        committed.sort_unstable();
        assert_eq!(committed, open);
        assert_eq!(self.git(&["log", "-1", "--format=%s"]).trim(), message);
        let left = self.git(&["status", "--porcelain"]);
        assert_eq!(left, "");
        assert_eq!(self.files(), before, "a commit leaves the files alone");
    }

    /// The planner's own edit of the roadmap.
    fn lists_the_plans(&self) {
        let text = self.context.read(ROADMAP);
        let ending = self.twin.ending;
        let (head, tail) = text.split_once(&format!("newest first{ending}**Plans**: TBD{ending}")).unwrap();
        let listed = self.twin.say(
            "newest first\n**Plans**: 2 plans\n\nPlans:\n- [ ] 02-01-PLAN.md — Write one\n- [ ] 02-02-PLAN.md — List them\n",
        );
        self.context.write(ROADMAP, &format!("{head}{}{tail}", listed.replace('\n', ending)));
    }

    fn writes_a_summary(&self, number: u32) {
        self.context.write(&format!("src/note{number}.txt"), "a note\n");
        self.write(&format!("{FOLDER}/02-0{number}-SUMMARY.md"), &summary(number));
    }

    fn writes_the_verification(&self) {
        let of_plan = |number: u32| ["PLAN", "SUMMARY"].map(|kind| format!("{FOLDER}/02-0{number}-{kind}.md"));
        let documents: Vec<String> = [1, 2].into_iter().flat_map(of_plan).collect();
        let mut call = vec!["verification", "fingerprint", FOLDER, "src/note1.txt", "src/note2.txt"];
        call.extend(documents.iter().map(String::as_str));
        let covered = self.reads(&call);
        let path = format!("{FOLDER}/02-VERIFICATION.md");
        let report = format!(
            "---\nphase: 02-writing-notes\nstatus: passed\ncovered_files: {}\ncovered_digest: {}\n---\n\n# Verified\n",
            covered["covered_files"],
            covered["covered_digest"].as_str().unwrap()
        );
        self.write(&path, &report);
        self.context.write("src/note2.txt", "changed since\n");
        assert_eq!(self.reads(&["verification", "status", FOLDER])["status"], "stale");
        self.context.write("src/note2.txt", "a note\n");
    }

    fn says_the_right_things(&self) {
        let text = self.context.read(STATE);
        let index = text.strip_suffix(self.body(&text)).unwrap().replace(self.twin.bom, "").replace("\r\n", "\n");
        let index: String = index.split_inclusive('\n').filter(|line| !line.starts_with("state_head: ")).collect();
        assert_eq!(
            index,
            self.twin.say(
                "---\ngsd_state_version: '1.0'\nmilestone: v1.0\nmilestone_name: First light\ncurrent_phase: 3\n\
                 current_phase_name: Sync\nstatus: planning\nstopped_at: Phase 2 complete, ready to plan Phase 3\n\
                 last_updated: \"2026-01-15T18:00:00.000Z\"\nlast_activity: 2026-01-15\n\
                 last_activity_desc: Phase 2 complete, transitioned to Phase 3\nkeeper: Ada # asked to be told\n\
                 progress:\n  total_phases: 3\n  completed_phases: 2\n  total_plans: 3\n  completed_plans: 3\n  \
                 percent: 67\n---\n"
            )
        );
        let mirror = self.read_json(MIRROR);
        let phases: Vec<(&str, &str)> = mirror["phases"]
            .as_array()
            .unwrap()
            .iter()
            .map(|phase| (phase["name"].as_str().unwrap(), phase["status"].as_str().unwrap()))
            .collect();
        let (second, third) = (self.twin.say("Writing Notes"), self.twin.say("Sync"));
        assert_eq!(
            phases,
            [("Storage", "complete"), (second.as_str(), "complete"), (third.as_str(), "pending")],
            "{mirror:#}"
        );
        let analysis = self.reads(&["roadmap", "analyze"]);
        assert_eq!((&analysis["current_phase"], &analysis["next_phase"]), (&"3".into(), &"3".into()), "{analysis:#}");
        let next = self.reads(&["init", "plan-phase", "3"]);
        assert_eq!(
            (&next["phase_number"], &next["phase_name"], &next["phase_req_ids"], &next["has_plans"]),
            (&"3".into(), &third.as_str().into(), &"SYNC-01".into(), &false.into())
        );
    }
}
