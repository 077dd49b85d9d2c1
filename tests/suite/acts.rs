//! What every command that works through git, or on files that are not documents, must satisfy: its dry run makes the
//! same checks, says what it would do, and changes nothing.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::kit::{Ran, TestContext, verbs};
use crate::tree::{Kept, difference, tree};

/// A command, a call that does something in a [`project`], and what its dry run answers.
struct Act {
    verb: &'static str,
    arguments: &'static [&'static str],
    /// A call to make first.
    first: &'static [&'static str],
    /// Places in the answer, and the value at each.
    says: &'static [(&'static str, &'static str)],
}

const FILES: &[&str] = &["--manifest", "wave.json", "--agent-id", "a3", "--path"];

const ACTS: &[Act] = &[
    Act {
        verb: "auto-chain start",
        arguments: &[],
        first: &[],
        says: &[("/active", "true"), ("/source", "\"auto_chain\""), ("/diff", "--- /dev/null")],
    },
    Act {
        verb: "auto-chain stop",
        arguments: &[],
        first: &["auto-chain", "start"],
        says: &[("/active", "false"), ("/source", "\"stopped\""), ("/diff", "+{\\\"active\\\":false")],
    },
    Act {
        verb: "capability install",
        arguments: &["feature", "--yes", "--scope", "project"],
        first: &[],
        says: &[
            ("/status", "\"rehearsed\""),
            ("/disclosure/0", "text at plan:pre"),
            ("/diff", "b/.planning/capabilities/demo/capability.json"),
        ],
    },
    Act {
        verb: "capability remove",
        arguments: &["demo"],
        first: &["capability", "install", "feature", "--yes"],
        says: &[("/status", "\"rehearsed\""), ("/removedFiles/0", "\"capability.json\""), ("/diff", "+++ /dev/null")],
    },
    Act {
        verb: "capability trust revoke",
        arguments: &["demo"],
        first: &["capability", "install", "feature", "--yes"],
        says: &[("/status", "\"rehearsed\""), ("/diff", "+      \\\"consent\\\": null")],
    },
    Act {
        verb: "capability update",
        // Installs again what had its trust revoked.
        arguments: &["old", "--yes"],
        first: &[],
        says: &[("/status", "\"rehearsed\""), ("/fromVersion", "\"0.9.0\""), ("/version", "\"1.0.0\"")],
    },
    Act {
        verb: "commit",
        arguments: &["docs(01): note", "--files", ".planning/STATE.md", ".planning/new.md", "none.md"],
        first: &[],
        says: &[
            ("/reason", "\"rehearsed\""),
            ("/skipped_files", "[\"none.md\"]"),
            (
                "/would_commit",
                "{\"message\":\"docs(01): note\",\"files\":[\".planning/STATE.md\",\".planning/new.md\"],\
                 \"branch\":\"gsd/phase-01-base\",\"new_branch\":true}",
            ),
        ],
    },
    Act {
        verb: "commit-to-subrepo",
        arguments: &["fix: a", "--files", "web/a.txt", "web/b.txt"],
        first: &[],
        says: &[(
            "/repos/web/would_commit",
            "{\"message\":\"fix: a\",\"files\":[\"a.txt\",\"b.txt\"],\"branch\":\"main\"}",
        )],
    },
    Act {
        verb: "commit-docs-guard disable",
        arguments: &[],
        first: &["commit-docs-guard", "enable"],
        says: &[("/disabled", "false"), ("/action", "\"removed\""), ("/diff", "+++ /dev/null")],
    },
    Act {
        verb: "commit-docs-guard enable",
        arguments: &[],
        first: &[],
        says: &[("/enabled", "false"), ("/action", "\"written\""), ("/diff", "+++ b/.git/hooks/pre-commit")],
    },
    Act {
        verb: "generate-claude-profile",
        arguments: &["--analysis", "analysis.json"],
        first: &[],
        says: &[("/action", "\"created\""), ("/diff", "--- /dev/null")],
    },
    Act {
        verb: "generate-dev-preferences",
        arguments: &["--analysis", "analysis.json"],
        first: &[],
        says: &[("/diff", "--- /dev/null")],
    },
    Act {
        verb: "hooks off",
        arguments: &["--host", "codex"],
        first: &[],
        says: &[("/off", "[\"codex\"]"), ("/changed", "true"), ("/diff", "+codex")],
    },
    Act { verb: "hooks on", arguments: &[], first: &["hooks", "off"], says: &[("/off", "[]"), ("/diff", "-*")] },
    Act {
        verb: "learnings copy",
        arguments: &[],
        first: &[],
        says: &[("/would_create", "1"), ("/diff", "Read the log first.")],
    },
    Act {
        verb: "learnings delete",
        arguments: &["a-1"],
        first: &[],
        says: &[("/deleted", "false"), ("/would_delete", "true"), ("/diff", "-{\\\"id\\\":\\\"a-1\\\"")],
    },
    Act {
        verb: "git pr-branch",
        arguments: &["--target", "HEAD~1"],
        first: &["commit", "docs: a", "--files", ".planning/STATE.md"],
        says: &[("/created", "false"), ("/left_out", "[]"), ("/commits/0/subject", "docs: a")],
    },
    Act {
        verb: "learnings prune",
        arguments: &["--older-than", "90d"],
        first: &[],
        says: &[("/removed", "0"), ("/would_remove", "1"), ("/diff", "-{\\\"id\\\":\\\"a-1\\\"")],
    },
    Act {
        verb: "plan close",
        arguments: &["01-01"],
        first: &[],
        says: &[
            ("/closed/0/status", "\"complete\""),
            ("/commit/reason", "\"rehearsed\""),
            ("/diff", "Completed 01-01-PLAN.md"),
        ],
    },
    Act {
        verb: "plan record",
        arguments: &["1"],
        first: &[],
        says: &[("/plans/1/id", "\"01-02\""), ("/commit/reason", "\"rehearsed\""), ("/diff", "STATE.md")],
    },
    Act {
        verb: "plan undo",
        arguments: &["01-01"],
        first: &["commit", "feat(01-01): a", "--files", ".planning/STATE.md"],
        says: &[("/commits/0/subject", "feat(01-01): a"), ("/files", "[]"), ("/diff", "STATE.md")],
    },
    Act {
        verb: "pr-subrepo",
        arguments: &["feat: a", "--repo", "web", "--branch", "feat/a"],
        first: &[],
        says: &[(
            "/would_commit",
            "{\"message\":\"feat: a\",\"files\":[\"a.txt\"],\"branch\":\"feat/a\",\"new_branch\":true}",
        )],
    },
    Act {
        verb: "record-dispatch-isolation",
        arguments: &["--isolation", "none"],
        first: &[],
        says: &[("/recorded", "false"), ("/diff", "--- /dev/null")],
    },
    Act {
        verb: "recover",
        arguments: &[],
        first: &[],
        says: &[("/finished", "[]"), ("/would_finish/0", "/.planning\"")],
    },
    Act {
        verb: "restore-custom-files",
        arguments: &["--config-dir", "host", "--apply"],
        first: &[],
        says: &[
            ("/entries/0/outcome", "\"eligible\""),
            ("/applied", "false"),
            ("/diff", "+++ b/host/agents/gsd-mine.md"),
        ],
    },
    Act {
        verb: "worktree cleanup-wave",
        arguments: &["--manifest", "wave.json"],
        first: &[],
        says: &[
            ("/result/entries/0/status", "\"would_merge_remove\""),
            // Each could be merged by itself; after the first, the second cannot.
            ("/result/entries/1/reason", "\"merge_failed\""),
            ("/result/entries/1/stderr", "same.txt"),
        ],
    },
    Act {
        verb: "worktree create",
        arguments: &["--branch", "agent-a3", "--base", "HEAD", "--root", ".", "--path", "trees/a3"],
        first: &[],
        says: &[
            ("/reason", "\"rehearsed\""),
            ("/entry/branch", "\"agent-a3\""),
            ("/cwd", "trees/a3"),
            ("/diff", "agent-a3"),
        ],
    },
    Act {
        verb: "worktree create-wave",
        arguments: &["--phase", "1", "--plans", "01-02,01-03"],
        // Nothing runs in parallel here, so the setting noted earlier is removed.
        first: &["record-dispatch-isolation", "--isolation", "none"],
        says: &[("/isolation", "\"none\""), ("/in_turn/0/why", "repositories")],
    },
    #[cfg(unix)]
    Act {
        verb: "worktree reap-orphans",
        arguments: &[],
        first: &[],
        says: &[("/reaped", "0"), ("/would_reap", "1"), ("/entries/0/status", "\"would_reap\"")],
    },
    Act {
        verb: "worktree record-agent",
        arguments: &["--path", "trees/a3", "--branch", "agent-a3", "--base", "HEAD"],
        first: &[],
        says: &[("/reason", "\"rehearsed\""), ("/diff", "agent-a3")],
    },
    Act {
        verb: "worktree set-baseref",
        arguments: &[],
        first: &[],
        says: &[("/changed", "false"), ("/diff", "\\\"head\\\"")],
    },
    Act {
        verb: "write-profile",
        arguments: &["--input", "analysis.json"],
        first: &[],
        says: &[("/dimensions_scored", "8"), ("/diff", "+# Developer Profile")],
    },
];

/// The calls of the table, as the words after the program's name.
pub(crate) fn sample_calls() -> impl Iterator<Item = Vec<&'static str>> {
    ACTS.iter().map(Act::words)
}

#[test]
fn the_table_names_every_command_that_claims_a_rehearsal() {
    let acting = verbs().iter().filter(|(_, effect)| effect == "acts");
    let claimed: BTreeSet<&str> = acting.map(|(verb, _)| verb.as_str()).collect();
    let listed: BTreeSet<&str> = ACTS.iter().map(|act| act.verb).collect();
    assert_eq!(listed, claimed, "left: the table of this file; right: the program");
}

/// A test for each group of commands: a group is the first words of its verbs.
macro_rules! groups {
    ($($group:ident: $words:expr;)*) => {
        const GROUPS: &[(&str, &[&str])] = &[$((stringify!($group), $words)),*];

        mod a_rehearsal_tells_what_would_be_done_and_does_nothing {
            $(#[test]
            fn $group() {
                super::hold(stringify!($group));
            })*
        }
    };
}

groups! {
    capabilities: &["capability"];
    commits: &["commit", "commit-docs-guard", "commit-to-subrepo", "git", "pr-subrepo"];
    plans: &["auto-chain", "plan", "recover"];
    profile: &["generate-claude-profile", "generate-dev-preferences", "learnings", "write-profile"];
    switches: &["hooks", "record-dispatch-isolation", "restore-custom-files"];
    worktrees: &["worktree"];
}

fn group_of(verb: &str) -> Vec<&'static str> {
    let word = verb.split(' ').next().unwrap();
    GROUPS.iter().filter(|(_, words)| words.contains(&word)).map(|(group, _)| *group).collect()
}

#[test]
fn every_command_of_the_table_is_in_one_group() {
    for act in ACTS {
        assert_eq!(group_of(act.verb).len(), 1, "{}", act.verb);
    }
}

fn hold(group: &str) {
    let context = project();
    let mut kept = Kept::of(&context.everything());
    let mut faults = Vec::new();
    for act in ACTS.iter().filter(|act| group_of(act.verb) == [group]) {
        kept.put_back();
        if !act.first.is_empty() {
            context.gsd_with(act.first, &[], "").success();
        }
        let before = everything(&context);
        let rehearsed = act.run(&context, &["--dry-run"]);
        let changed = before.against(&everything(&context));
        if !changed.is_empty() {
            faults.push(format!("{}: the rehearsal changed {}", act.verb, changed.join("\n")));
        }
        let report: Value = serde_json::from_str(&rehearsed.stdout).unwrap_or_default();
        if report["dry_run"] != true {
            faults.push(format!("{}: {}{}", act.verb, rehearsed.stdout, rehearsed.stderr));
        }
        for (place, says) in act.says {
            let there = report.pointer(place).map(ToString::to_string).unwrap_or_default();
            if !there.contains(says) {
                faults.push(format!("{}: {place} is {there}, no {says} in {report:#}", act.verb));
            }
        }
        let ran = act.run(&context, &[]);
        if ran.code != rehearsed.code {
            faults.push(format!(
                "{}: the rehearsal exits {}, the act {}: {}",
                act.verb, rehearsed.code, ran.code, ran.stdout
            ));
        }
        if before.against(&everything(&context)).is_empty() {
            faults.push(format!("{}: the act itself changed nothing: {}", act.verb, ran.stdout));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

impl Act {
    fn words(&self) -> Vec<&'static str> {
        let manifest: &[&str] =
            if ["worktree create", "worktree record-agent"].contains(&self.verb) { &FILES[..4] } else { &[] };
        self.verb.split(' ').chain(manifest.iter().chain(self.arguments).copied()).collect()
    }

    fn run(&self, context: &TestContext, flags: &[&str]) -> Ran {
        context.gsd_with(self.words().iter().chain(flags), &[], "")
    }
}

/// Everything that a command could change: each file, folder and link of the project, the repositories and the home,
/// and what git reports about them.
#[derive(PartialEq, Eq)]
struct Everything {
    trees: [crate::tree::Tree; 3],
    git: Vec<String>,
}

impl Everything {
    fn against(&self, later: &Self) -> Vec<String> {
        let files = self.trees.iter().zip(&later.trees).flat_map(|(before, after)| difference(before, after));
        let git = self.git.iter().zip(&later.git).filter(|(before, after)| before != after);
        files.chain(git.map(|(before, after)| format!("{before} to {after}"))).collect()
    }
}

fn everything(context: &TestContext) -> Everything {
    let temporary = context.home().parent().unwrap().join("tmp");
    // First: git may update an index when asked for the status.
    let trees = [tree(&context.project()), tree(&context.home()), tree(&temporary)];
    let asked: [&[&str]; 5] = [
        &["status", "--porcelain"],
        &["worktree", "list"],
        &["branch", "-a", "-v"],
        &["-C", "web", "status", "--porcelain"],
        &["-C", "web", "branch", "-a", "-v"],
    ];
    Everything {
        trees,
        git: asked.iter().map(|line| git(context, &[&["--no-optional-locks"], *line].concat())).collect(),
    }
}

fn git(context: &TestContext, arguments: &[&str]) -> String {
    let output = context.command("git").args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

/// A repository in which every command of the table has something to do: changed documents, a nested repository, two
/// worktrees of agents that both changed a file and one that was left over, learnings, an analysis, a file set aside by
/// an update, features to install, and an interrupted write.
fn project() -> TestContext {
    let context = TestContext::new();
    let run = |line: &str| git(&context, &line.split(' ').collect::<Vec<_>>());
    let config = r#"{"git": {"branching_strategy": "phase"}, "planning": {"sub_repos": ["web"]}}"#;
    context.write(".planning/config.json", config);
    context.write(".planning/STATE.md", "# Project State\n\nStatus: one\n");
    context.write(".planning/phases/01-base/01-LEARNINGS.md", "## Lessons\n### Logs\nRead the log first.\n");
    for (plan, file) in [("01", "a"), ("02", "b"), ("03", "c")] {
        let text = format!("---\nphase: 01-base\nplan: {plan}\nfiles_modified: [{file}]\n---\n");
        context.write(&format!(".planning/phases/01-base/01-{plan}-PLAN.md"), &text);
    }
    let summary = "---\nduration: 2min\nstatus: complete\n---\n\n# Phase 1 Plan 1: A Summary\n";
    context.write(".planning/phases/01-base/01-01-SUMMARY.md", summary);
    context.write("wave.json", "{\"worktrees\": []}\n");
    run("init -q -b main");
    context.write(
        ".git/info/exclude",
        "/wave.json\n/trees/\n/web/\n/host/\n/feature/\n/old/\n/analysis.json\n.gsd-transaction/\n",
    );
    run("add .planning/config.json .planning/STATE.md");
    run("commit -q -m first");
    for name in ["a1", "a2"] {
        let branch = format!("agent-{name}");
        let path = format!("trees/{name}");
        let made =
            ["worktree", "create", "--manifest", "wave.json", "--agent-id", name, "--path", &path, "--root", "."];
        context
            .gsd_with(made.into_iter().chain(["--branch", &branch, "--base", &run("rev-parse HEAD")]), &[], "")
            .success();
        context.write(&format!("{path}/same.txt"), name);
        run(&format!("-C {path} add same.txt"));
        run(&format!("-C {path} commit -q -m work"));
    }
    // No process has this number: it is above what a system assigns.
    run("worktree add -q --lock --reason 2147483646 -b left trees/left");
    let lock =
        std::fs::File::options().append(true).open(context.project().join(".git/worktrees/left/locked")).unwrap();
    lock.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(3600)).unwrap();
    context.write("web/a.txt", "one\n");
    run("init -q -b main web");
    run("-C web add a.txt");
    run("-C web commit -q -m first");
    run("init -q --bare web/.git/remote.git");
    run("-C web remote add origin .git/remote.git");
    context.write("web/a.txt", "two\n");
    context.write("web/b.txt", "new\n");
    let knowledge = context.home().join(".gsd/knowledge");
    std::fs::create_dir_all(&knowledge).unwrap();
    std::fs::write(knowledge.join("a-1.json"), "{\"id\":\"a-1\",\"date\":\"2020-01-01T00:00:00Z\"}").unwrap();
    let analysis = context.gsd(["profile-questionnaire", "--answers", "a,b,c,d,a,b,c,d"]).success();
    context.write("analysis.json", &analysis);
    context.write("host/gsd-user-files-backup/agents/gsd-mine.md", "mine\n");
    for (folder, id) in [("feature", "demo"), ("old", "old")] {
        context.write(&format!("{folder}/capability.json"), &crate::features::declaration(id, "1.0.0", "Look first."));
    }
    let source = context.project().join("old");
    let old =
        serde_json::json!({"version": "0.9.0", "source": source, "installed_at": "", "files": {}, "consent": null});
    let state = context.home().join(".local/state/gsd-tools");
    std::fs::create_dir_all(&state).unwrap();
    std::fs::write(state.join("capabilities.json"), serde_json::json!({"installed": {"old": old}}).to_string())
        .unwrap();
    std::fs::create_dir_all(context.project().join(".planning/.gsd-transaction")).unwrap();
    context.write(".planning/STATE.md", "# Project State\n\nStatus: two\n");
    context.write(".planning/new.md", "new\n");
    context
}

/// The git call that makes a command refuse, the command, and the place of the reason in its answer.
const REFUSALS: &[(&str, &str, &str)] = &[
    // An ignored file, a file of another folder, a file that is not there, part of a merge.
    ("status", "commit x --files wave.json", "/reason"),
    ("status", "commit x --files ../home", "/reason"),
    ("status", "commit x --files none.md", "/reason"),
    ("merge -q --no-commit --no-ff agent-a1", "commit x --files .planning/new.md", "/reason"),
    ("status", "commit-to-subrepo x --files web/none.txt", "/repos/web/reason"),
    ("status", "pr-subrepo x --repo web --branch a..b", "/reason"),
    ("config core.hooksPath hooks", "commit-docs-guard enable", "/reason"),
    ("status", "learnings prune --older-than 9x", "/reason"),
    ("branch agent-a3", CREATE, "/reason"),
    ("branch agent-a3/b", CREATE, "/reason"),
    ("worktree add -q --detach trees/a3", CREATE, "/reason"),
    (
        "status",
        "worktree create --manifest wave.json --agent-id a --path t --branch agent-a1 --base HEAD --root .",
        "/reason",
    ),
    (
        "status",
        "worktree record-agent --manifest none.json --agent-id a --path t --branch agent-t --base HEAD",
        "/reason",
    ),
    // Staged, uncommitted or untracked where the merge would write; another branch; a merge under way.
    ("add .planning/new.md", CLEANUP, "/result/entries/0/reason"),
    ("untracked: same.txt", CLEANUP, "/result/entries/0/reason"),
    ("-C trees/a1 checkout -q -b other", CLEANUP, "/result/entries/0/reason"),
    ("merge -q --no-commit --no-ff agent-a1", CLEANUP, "/result/entries/0/reason"),
];

const CREATE: &str =
    "worktree create --manifest wave.json --agent-id a3 --path trees/a3 --branch agent-a3 --base HEAD --root .";
const CLEANUP: &str = "worktree cleanup-wave --manifest wave.json";

#[test]
fn a_rehearsal_refuses_what_the_command_refuses() {
    refuses(|call| !call.starts_with("worktree"));
}

#[test]
fn a_rehearsal_of_a_worktree_refuses_what_the_command_refuses() {
    refuses(|call| call.starts_with("worktree"));
}

fn refuses(is_chosen: fn(&str) -> bool) {
    let context = project();
    let mut kept = Kept::of(&context.everything());
    for (line, call, place) in REFUSALS.iter().filter(|(_, call, _)| is_chosen(call)) {
        kept.put_back();
        match line.strip_prefix("untracked: ") {
            Some(file) => context.write(file, "mine\n"),
            None => drop(git(&context, &line.split(' ').collect::<Vec<_>>())),
        }
        let before = everything(&context);
        let rehearsed = context.gsd_with(call.split(' ').chain(["--dry-run"]), &[], "");
        assert_eq!(before.against(&everything(&context)), Vec::<String>::new(), "{call} after {line}");
        let ran = context.gsd_with(call.split(' '), &[], "");
        let why = |ran: &Ran| {
            let answer: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
            let first = ran.stderr.lines().next().unwrap_or_default().to_owned();
            answer.pointer(place).map_or(first, ToString::to_string)
        };
        assert_eq!((rehearsed.code, why(&rehearsed)), (ran.code, why(&ran)), "{call} after {line}");
        let succeeds = ["\"committed\"", "\"ok\"", "\"created\"", "\"rehearsed\""].contains(&why(&rehearsed).as_str());
        assert!(!succeeds, "{call} after {line} is no refusal: {}", ran.stdout);
    }
}
