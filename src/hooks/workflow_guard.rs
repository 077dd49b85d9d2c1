//! If the project asks for it: reminds of the commands when files are changed without one, and keeps agents from adding
//! files that git ignores.

use std::path::{Path, PathBuf};

use super::checkout::{Checkout, Head};
use super::git_line::GitLine;
use super::scene::Scene;
use super::verdict::Reaction;
use crate::library::ToolSet;
use crate::text::shell::{Argument, runs};

pub(super) fn look(scene: &Scene<'_>) -> Reaction {
    if !scene.project.flag("hooks.workflow_guard", false) {
        return Reaction::Nothing;
    }
    match scene.payload.tool() {
        Some(ToolSet::Shell) => {
            let head = |folder: &Path| Checkout::of(&scene.here.join(folder)).map(|checkout| checkout.head());
            let refused = scene.payload.command().is_some_and(|command| forces_in_agent_branch(&command, head));
            if refused { Reaction::block("FORCED_ADD", FORCED) } else { Reaction::Nothing }
        }
        Some(ToolSet::Write | ToolSet::Edit) => advice(scene).into(),
        _ => Reaction::Nothing,
    }
}

const FORCED: &str = "on the branch of an agent, `git add -f` is not allowed: ignored files are not part of the work. \
                      Instead, run `git add` without `-f`, and name ignored files that matter in the SUMMARY.";

/// True if a script adds ignored files on an agent's branch, or on one that cannot be read.
pub(super) fn forces_in_agent_branch(script: &str, head: impl Fn(&Path) -> Option<Head>) -> bool {
    if !script.contains("git") {
        return false;
    }
    let mut folder = PathBuf::new();
    for run in runs(script) {
        if run.program == "cd" {
            folder = run.arguments.first().and_then(Argument::text).map_or(folder.clone(), |to| folder.join(to));
        }
        let Some(call) = GitLine::of(&run) else { continue };
        if call.verb == "add" && call.has(&["force"], &['f']) {
            let at = call.folder.as_ref().map_or_else(|| folder.clone(), |to| folder.join(to));
            // The session's folder is checked too, because the script's target folder may not exist yet.
            let heads = [head(&at), head(Path::new(""))];
            if heads.iter().flatten().any(Head::may_be_of_agent) {
                return true;
            }
        }
    }
    false
}

/// The least time between two reminders in a session, in milliseconds.
const EVERY: i64 = 10 * 60 * 1000;

/// The file of a session with the time of the last reminder.
const TOLD: &str = "workflow";

fn advice(scene: &Scene<'_>) -> Option<String> {
    // An agent works as part of a command, and so does a unit.
    if scene.payload.agent().is_some() || scene.world.is_unit() {
        return None;
    }
    let name = scene.payload.paths().into_iter().find(|name| is_of_the_work(&scene.path(name), &scene.project.root))?;
    let of_agent = Checkout::of(scene.here).is_some_and(|checkout| checkout.head().may_be_of_agent());
    let told: Option<i64> = scene.recall(TOLD);
    if of_agent || told.is_some_and(|told| (0..EVERY).contains(&(scene.now() - told))) {
        return None;
    }
    scene.leave(TOLD, &scene.now());
    Some(format!(
        "WORKFLOW: `{name}` is being changed outside a command, so neither STATE.md nor a summary will mention it. \
         Use `gsd-fast` for a small change and `gsd-quick` for a larger one. If the user asked for exactly this \
         change, continue."
    ))
}

/// True if a file is part of what is built: in the project, and neither planning, prose nor settings.
fn is_of_the_work(path: &Path, root: &Path) -> bool {
    let Ok(inside) = path.strip_prefix(root) else { return false };
    let hidden = inside.components().any(|part| part.as_os_str().to_string_lossy().starts_with('.'));
    let name = inside.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let prose =
        matches!(extension, "md" | "mdx" | "rst" | "txt" | "adoc") || matches!(name.as_str(), "license" | "readme");
    !hidden && !prose && !name.is_empty() && !name.starts_with("settings")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forces(script: &str, head: &Head) -> bool {
        forces_in_agent_branch(script, |_| Some(head.clone()))
    }

    #[test]
    fn agents_may_not_force_add_ignored_files() {
        let agent = Head::Branch("worktree-agent-1".into());
        for script in [
            "git add -f x",
            "git add --force x",
            "git add -Af",
            "git add x -f",
            "git -C . add -f x",
            "cd x && git add -f y",
            "bash -c 'git add -f x'",
            "git status; git add . -f",
            "GIT_DIR=x git add -f y",
        ] {
            assert!(forces(script, &agent), "{script}");
        }
        for script in [
            "git add x",
            "git add -A",
            "git add -- -f",
            "echo git add -f",
            "git stash -f",
            "git commit -m 'git add -f'",
            "git checkout -f x",
            "rm -f x",
            "",
        ] {
            assert!(!forces(script, &agent), "{script}");
        }
    }

    #[test]
    fn a_person_may_and_an_unreadable_branch_may_not() {
        assert!(!forces("git add -f x", &Head::Branch("main".into())));
        assert!(!forces("git add -f x", &Head::Commit));
        assert!(forces("git add -f x", &Head::Unreadable));
        assert!(!forces_in_agent_branch("git add -f x", |_| None));
        let agent = |at: &Path| Some(Head::Branch(if at == Path::new("w") { "agent-1" } else { "main" }.into()));
        assert!(forces_in_agent_branch("git -C w add -f x", agent));
        assert!(forces_in_agent_branch("cd w; git add -f x", agent));
        assert!(!forces_in_agent_branch("git -C v add -f x", agent));
    }

    #[test]
    fn code_counts_as_work_and_prose_and_settings_do_not() {
        let of = |path: &str| is_of_the_work(Path::new(path), Path::new("/p"));
        for path in ["/p/src/a.rs", "/p/Cargo.toml", "/p/package.json", "/p/Makefile", "/p/a/b.html"] {
            assert!(of(path), "{path}");
        }
        for path in [
            "/p/.planning/x.rs",
            "/p/README.md",
            "/p/docs/a.md",
            "/p/.gitignore",
            "/p/.github/x.yml",
            "/tmp/a.rs",
            "/p/LICENSE",
            "/p",
        ] {
            assert!(!of(path), "{path}");
        }
    }
}
