//! Every verb of the program and every event of its hooks, in clones that try to get at a decoy home.
//!
//! Outside the clone nothing changes except the notes of the program and what a call is meant to change; no program of
//! the clone runs; no secret and no key appears; no call takes too long or too much memory. `GSD_SUITE_PROGRAM` tests
//! an older build.

mod calls;
mod measured;
mod stage;

use std::collections::BTreeMap;

use calls::Call;
use stage::Stage;

/// Makes every call, and asserts that none did what the clone wants.
fn hold(stage: Stage) {
    hold_calls(stage, |_| true);
}

fn hold_calls(mut stage: Stage, is_chosen: fn(&Call) -> bool) {
    let calls: Vec<Call> = calls::one_of_each_verb().into_iter().filter(is_chosen).collect();
    stage.play(&calls);
    let hooks = calls::of_hooks_in_brief(&stage.clone_root());
    stage.play(&hooks);
    judge(&stage);
}

fn judge(stage: &Stage) {
    let count = stage.faults.len();
    assert!(count == 0, "{count} faults:\n{}", stage.faults.join("\n"));
}

/// A clone in which these paths are links to files of the user, each with the text of the document that it replaces.
fn links(chosen: fn(&str) -> bool) -> Stage {
    Stage::new(move |stage| {
        let paths: Vec<String> = stage.texts().into_iter().filter(|path| chosen(path)).collect();
        assert!(!paths.is_empty());
        for path in paths {
            stage.link(&path, &stage.twin_of(&path));
        }
    })
}

fn is_of_position(path: &str) -> bool {
    [".planning/STATE.md", ".planning/ROADMAP.md"].contains(&path)
}

fn is_settings(path: &str) -> bool {
    path == ".planning/config.json"
}

#[test]
#[ignore = "slow: minutes"]
fn outside_the_clone_a_hook_changes_nothing_and_a_verb_only_its_target() {
    let mut stage = Stage::new(|_| {});
    // The other calls are made in the test that checks what they write.
    let calls: Vec<_> = calls::of_verbs().into_iter().filter(stage::is_declared).collect();
    stage.play(&calls);
    let hooks = calls::of_hooks(&stage.clone_root());
    stage.play(&hooks);
    judge(&stage);
}

#[test]
#[ignore = "slow: minutes"]
fn a_verb_runs_no_program_of_a_clone_and_writes_through_no_link() {
    let calls = calls::of_verbs();
    let mut stage = Stage::new(|_| {});
    let mut written: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for (number, call) in calls.iter().enumerate().filter(|(_, call)| !stage::is_declared(call)) {
        let _ = stage.call(call);
        let mut paths = stage.changed_files();
        // For an install a sample is enough: all its files are written in the same way.
        let step = paths.len().div_ceil(4).max(1);
        paths = paths.into_iter().step_by(step).collect();
        written.insert(number, paths);
        stage.reset_clone();
    }
    let count: usize = written.values().map(Vec::len).sum();
    assert!(count > 150, "the calls write no more than {count} files: nothing is proved");
    for (number, paths) in written {
        for path in paths {
            for exists in [true, false] {
                stage.lure(&path, exists);
                if stage.faults.len() < 100 {
                    let _ = stage.call(&calls[number]);
                }
                stage.reset_clone();
            }
        }
    }
    judge(&stage);
}

#[test]
#[ignore = "slow: minutes"]
fn targets_of_links_are_not_read() {
    hold(links(|path| !is_of_position(path) && !is_settings(path)));
}

#[test]
#[ignore = "slow: minutes"]
fn targets_of_links_at_state_and_roadmap_are_not_read() {
    hold(links(is_of_position));
}

#[test]
#[ignore = "slow: minutes"]
fn targets_of_links_at_settings_are_not_read() {
    hold(links(|path| is_settings(path) || !path.starts_with(".planning/")));
}

/// Proves that the secrets can be seen if nothing hides them: the same documents, without links.
#[test]
#[ignore = "slow: minutes"]
fn the_same_documents_show_their_secrets_if_they_belong_to_the_project() {
    let mut stage = Stage::new(|stage| {
        for path in stage.texts().into_iter().filter(|path| !is_settings(path)) {
            std::fs::copy(stage.twin_of(&path), stage.clone_root().join(path)).unwrap();
        }
    });
    stage.play(&calls::one_of_each_verb());
    assert!(stage.shown > 60, "{} calls show what they read", stage.shown);
}

#[test]
#[ignore = "slow: minutes"]
fn folders_that_lead_out_are_not_entered() {
    let stage = Stage::new(|stage| {
        for path in stage.texts() {
            let _ = stage.twin_of(&path);
        }
        let planning = stage.clone_root().join(".planning");
        let below = std::fs::read_dir(planning).unwrap().map(|entry| entry.unwrap());
        let below = below.filter(|entry| entry.file_type().unwrap().is_dir());
        let mut folders: Vec<String> =
            below.map(|entry| format!(".planning/{}", entry.file_name().to_string_lossy())).collect();
        folders.extend(["src", ".claude", ".codex", ".gemini", "host", ".gsd"].map(str::to_owned));
        for folder in folders {
            stage.link(&folder, &stage.home().join("documents").join(&folder));
        }
    });
    hold(stage);
}

#[test]
#[ignore = "slow: minutes"]
fn a_planning_folder_that_leads_out_is_not_entered() {
    let stage = Stage::new(|stage| stage.link(".planning", &stage.home().join("documents/.planning")));
    hold(stage);
}

#[test]
#[ignore = "slow: minutes"]
fn host_folders_that_lead_to_those_of_the_user_are_not_entered() {
    let stage = Stage::new(|stage| {
        for folder in [".claude", ".codex", ".gemini"] {
            stage.link(folder, &stage.home().join(folder));
        }
        stage.link(".opencode", &stage.home().join(".config/opencode"));
        stage.link("CLAUDE.md", &stage.home().join(".claude/CLAUDE.md"));
        stage.link("AGENTS.md", &stage.home().join(".new-rules"));
    });
    hold(stage);
}

#[test]
#[ignore = "slow: minutes"]
fn pipes_and_devices_are_not_read_as_state_roadmap_or_settings() {
    let stage = Stage::new(|stage| {
        stage.link(".planning/config.json", "/dev/zero".as_ref());
        stage.link(".planning/ROADMAP.md", "/dev/zero".as_ref());
        std::fs::remove_file(stage.clone_root().join(".planning/STATE.md")).unwrap();
        stage::fifo(&stage.clone_root().join(".planning/STATE.md"));
        stage.link(".claude/settings.json", "/dev/zero".as_ref());
        stage.link(".claude/settings.local.json", "/dev/tty".as_ref());
        stage.link("CLAUDE.md", "/dev/zero".as_ref());
    });
    hold(stage);
}

#[test]
#[ignore = "slow: minutes"]
fn pipes_and_devices_are_not_read_as_documents() {
    let stage = Stage::new(|stage| {
        // Git itself waits for a pipe that replaces its attributes file; a clone cannot contain one.
        let chosen = |path: &String| !is_of_position(path) && !is_settings(path) && path != ".gitattributes";
        for (number, path) in stage.texts().into_iter().filter(chosen).enumerate() {
            if number % 2 == 0 {
                stage.link(&path, "/dev/zero".as_ref());
            } else {
                std::fs::remove_file(stage.clone_root().join(&path)).unwrap();
                stage::fifo(&stage.clone_root().join(&path));
            }
        }
    });
    hold(stage);
}

#[test]
#[ignore = "slow: minutes"]
fn planted_manifests_and_journals_move_nothing() {
    hold(Stage::new(Stage::plant));
}

#[test]
#[ignore = "slow: minutes"]
fn a_repository_that_claims_to_be_a_worktree_of_another_does_not_change_it() {
    let stage = Stage::new(|stage| {
        std::fs::remove_dir_all(stage.clone_root().join(".git")).unwrap();
        let other = stage.other().join(".git");
        std::fs::write(stage.clone_root().join(".git"), format!("gitdir: {}\n", other.display())).unwrap();
    });
    hold(stage);
}

/// Groups of documents that grow together. A build without optimisation takes ten times as long or more, so it gets a
/// part of the largest size, all at once; `GSD_SUITE_PROGRAM` tests an optimised build with documents of the maximum
/// size.
const LARGE: &[fn(&str) -> bool] = &[is_of_position, is_settings, is_of_plan, is_of_project];

fn is_of_plan(path: &str) -> bool {
    path.starts_with(".planning/phases/02-core/02-01")
}

fn is_of_project(path: &str) -> bool {
    [".planning/REQUIREMENTS.md", ".planning/PROJECT.md", "CLAUDE.md"].contains(&path)
}

#[test]
#[ignore = "slow: minutes"]
fn documents_and_settings_of_the_maximum_size_are_read_in_time() {
    let full = std::env::var_os("GSD_SUITE_PROGRAM").is_some();
    let largest = move |limit: u64| if full { limit - 4096 } else { limit >> 6 };
    let settings = largest(8 << 20);
    for chosen in LARGE.chunks(if full { 1 } else { LARGE.len() }) {
        hold(Stage::new(move |stage| {
            for path in stage.texts().into_iter().filter(|path| chosen.iter().any(|is_chosen| is_chosen(path))) {
                stage.grow(&path, if is_settings(&path) { settings } else { largest(16 << 20) });
            }
            stage.grow(".claude/settings.json", settings);
        }));
    }
}

#[test]
#[ignore = "slow: minutes"]
fn files_larger_than_any_document_are_not_read() {
    let stage = Stage::new(|stage| {
        for path in
            stage.texts().into_iter().filter(|path| path.starts_with(".planning/") || path.starts_with(".claude/"))
        {
            let file = std::fs::File::create(stage.clone_root().join(path)).unwrap();
            // A sparse file: it takes no space on the disk.
            file.set_len(2 << 30).unwrap();
        }
    });
    // Git reads the whole of each file to commit, which takes more memory than a call may have.
    hold_calls(stage, |call| !stage::is_by_git(call));
}
