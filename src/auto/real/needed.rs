//! Checks that cannot run where the checks of a run do. They stop the run before the first session.

use std::collections::BTreeSet;

use super::Real;
use crate::auto::engine::EngineError;
use crate::auto::environments::{self, EnvironmentKind, KEY, of_file};
use crate::auto::landing::id::Tree;
use crate::auto::set_up::COMMAND;
use crate::auto::stop::{Cause, Stop};
use crate::disk;
use crate::gate::check::Check;
use crate::gate::evidence::{CheckRun, CheckVerdict, Evidence};
use crate::project::declared_commands::missing::{is_declared, missing, unfound};
use crate::text::shell::Typed;
use crate::text::untrusted::line;

const AGAIN: &str = "gsd-tools auto run";

/// How many lines of the output of a check are shown, and how many characters of each.
const SHOWN: usize = 6;
const WIDE: usize = 200;

/// The files in which projects name the packages that they need.
const MANIFESTS: &[&str] =
    &["package.json", "pyproject.toml", "requirements.txt", "requirements-dev.txt", "setup.cfg", "setup.py", "Pipfile"];

/// Endings of scripts: an argument with one is a file of the project, which the work may be about to make.
const SCRIPTS: &[&str] = &[".sh", ".bash", ".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".php"];

/// Programs that run what is installed in `node_modules`.
const OF_NODE: &[&str] = &["npm", "npx", "pnpm", "pnpx", "yarn", "bun", "bunx", "node"];

/// What a check lacks, and the environment that should have it.
struct Lack {
    what: String,
    environment: Option<(String, &'static EnvironmentKind)>,
}

impl Real<'_> {
    /// Returns the end of a run of which a declared check cannot run on the commit that it starts from, for want of
    /// something that is not in git. A check that runs and fails does not count.
    pub(super) fn set_up_needed(
        &self,
        checks: &[Check],
        found: &Evidence,
        tree: &Tree,
    ) -> Result<Option<Stop>, EngineError> {
        let suspects = checks.iter().filter_map(|check| Some((check, found.of(check.command())?)));
        let suspects: Vec<(&Check, &CheckRun)> = suspects.filter(|(_, run)| run.failed()).collect();
        if suspects.is_empty() {
            return Ok(None);
        }
        let tracked: BTreeSet<String> = self.repository.paths(tree)?.into_iter().collect();
        let mut lacks = Vec::new();
        for (check, run) in suspects {
            let manifests = self.manifests(check, tree)?;
            lacks.extend(lack(check, run, &tracked, &manifests).map(|lack| (check, run, lack)));
        }
        let Some((check, run, lack)) = lacks.first() else { return Ok(None) };
        let names: Vec<String> = lacks.iter().map(|(check, ..)| format!("`{}`", line(check.command(), WIDE))).collect();
        let (these, cannot) = if names.len() == 1 {
            ("a check of the project", "it lacks")
        } else {
            ("checks of the project", "the first lacks")
        };
        let text = format!(
            "{these} cannot run where the work is checked: {}; {cannot} `{}`, so that nothing could land",
            names.join(", "),
            line(&lack.what, WIDE)
        );
        let (next, ways) = self.ways_to_run(check, lack, &tracked);
        let output = run.tail.lines().filter(|line| !line.trim().is_empty()).take(SHOWN).map(|text| line(text, WIDE));
        Ok(Some(Stop::new(Cause::SetUpNeeded, text, next).shown(output.chain(ways))))
    }

    /// Returns the texts of the files that name the packages of the project, next to a check and at the root.
    fn manifests(&self, check: &Check, tree: &Tree) -> Result<Vec<String>, EngineError> {
        let folder = check.folder().map(|folder| format!("{folder}/"));
        let paths: Vec<String> = folder
            .into_iter()
            .chain([String::new()])
            .flat_map(|folder| MANIFESTS.iter().map(move |name| format!("{folder}{name}")))
            .collect();
        let found = self.repository.contents(tree.as_str(), &paths)?;
        Ok(found.into_values().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).collect())
    }

    /// Returns the command that gives a check what it lacks, and what else a person can do.
    fn ways_to_run(&self, check: &Check, lack: &Lack, tracked: &BTreeSet<String>) -> (Typed, Vec<String>) {
        let preferences = format!("`{}/.gsd/PREFERENCES.md`", self.places.worktree);
        let mut ways = Vec::new();
        let mut next = Typed::from(AGAIN);
        let mut command = "COMMAND".to_owned();
        if let Some((path, kind)) = &lack.environment {
            let folder = path.strip_suffix(kind.name).unwrap_or_default().trim_end_matches('/');
            let install = environments::install(kind, folder, |path| tracked.contains(path));
            let is_brought = self.environments.brought.iter().any(|one| one.path == *path);
            let is_here = disk::is_folder(self.repository.root().resolve(path));
            let path = line(path, WIDE);
            command = install.to_string();
            ways.push(match (is_here, is_brought) {
                (true, false) => format!(
                    "`{path}` of your checkout is not brought to the worktrees: git has to ignore it, and `{KEY}` must not be false"
                ),
                (true, true) => format!("`{path}` of your checkout is brought to the worktrees, and does not have it"),
                (false, _) => format!("`{path}` is not in your checkout, from which it would be brought to the worktrees"),
            });
            if !is_here || is_brought {
                next = install;
                ways.push(format!("`{AGAIN}` continues after that command"));
            }
        } else if check.program() == lack.what || !lack.what.contains('/') {
            ways.push(format!("install `{}`, so that the check finds it, then run again", line(&lack.what, WIDE)));
        }
        match &self.set_up.command {
            Some(command) => ways.push(format!(
                "the set-up of worktrees has run: `{}`; correct it in {preferences}",
                line(command, WIDE)
            )),
            None => ways.push(format!(
                "or have a command set up each worktree: `worktree_post_create: {command}` below `git:` in {preferences}; it is `{COMMAND}`"
            )),
        }
        ways.push(format!(
            "or name the checks that are to run in place of those of the plans: `verification_commands: [COMMAND]` in \
             {preferences}; `gsd-tools config explain verification_commands` shows how"
        ));
        (next, ways)
    }
}

/// Returns what a failed check lacks that is not in git.
fn lack(check: &Check, run: &CheckRun, tracked: &BTreeSet<String>, manifests: &[String]) -> Option<Lack> {
    let what = if run.verdict == CheckVerdict::NotStarted {
        let what = missing(&run.command, Some(run.exit_code), &run.tail).map(|missing| missing.what);
        what.unwrap_or_else(|| check.program().to_owned())
    } else {
        // Where a test passed, the others fail for another reason.
        let has_passed = run.counts.as_ref().is_some_and(|counts| counts.ran > counts.failed);
        unfound(&run.tail).filter(|name| !has_passed && manifests.iter().any(|text| is_declared(text, name)))?
    };
    let place = |path: &str| match check.folder() {
        Some(folder) => format!("{folder}/{}", path.trim_start_matches("./")),
        None => path.trim_start_matches("./").to_owned(),
    };
    let is_script = SCRIPTS.iter().any(|ending| what.ends_with(ending)) && check.arguments().contains(&what);
    let environment = of_file(&place(&what)).or_else(|| {
        let is_of_node = OF_NODE.contains(&check.program()) && !OF_NODE.contains(&what.as_str());
        let path = place("node_modules");
        let manifest = place("package.json");
        (is_of_node && tracked.contains(&manifest)).then(|| environments::kind_of(&path).map(|kind| (path, kind)))?
    });
    // A file of the project may not be there yet.
    let is_of_project = what.contains('/') && !what.starts_with('/') && environment.is_none();
    (!is_script && !is_of_project).then_some(Lack { what, environment })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::Digest;

    fn lacking(
        command: &str,
        verdict: CheckVerdict,
        exit_code: i32,
        tail: &str,
        manifest: &str,
    ) -> Option<(String, Option<String>)> {
        let run = CheckRun {
            command: command.to_owned(),
            exit_code,
            duration_ms: 1,
            digest: Digest::of(b""),
            tail: tail.to_owned(),
            verdict,
            runs: 1,
            counts: None,
            survivors: Vec::new(),
        };
        let tracked = BTreeSet::from(["package.json".to_owned(), "web/package.json".to_owned()]);
        let found = lack(&Check::parse(command).unwrap(), &run, &tracked, &[manifest.to_owned()]);
        found.map(|lack| (lack.what, lack.environment.map(|(path, _)| path)))
    }

    #[test]
    fn a_check_lacks_what_is_not_in_git_and_never_a_file_of_the_project() {
        use CheckVerdict::{Fail, NotStarted};
        let some = |what: &str, path: Option<&str>| Some((what.to_owned(), path.map(str::to_owned)));
        let node = "{\"devDependencies\": {\"tape\": \"^5\"}}";
        for (command, verdict, code, tail, manifest, expected) in [
            (".venv/bin/python -m unittest", NotStarted, 127, "", "", some(".venv/bin/python", Some(".venv"))),
            (
                "cd web && node_modules/.bin/tape",
                NotStarted,
                127,
                "",
                "",
                some("node_modules/.bin/tape", Some("web/node_modules")),
            ),
            ("npm test", NotStarted, 127, "sh: 1: vitest: not found", "", some("vitest", Some("node_modules"))),
            ("npm test", NotStarted, 127, "", "", some("npm", None)),
            ("pytest -q", NotStarted, 127, "", "", some("pytest", None)),
            ("./check.sh", NotStarted, 127, "", "", None),
            ("bash check.sh", NotStarted, 127, "bash: check.sh: No such file or directory", "", None),
            ("node t.js", Fail, 1, "Error: Cannot find module 'tape'", node, some("tape", Some("node_modules"))),
            ("node t.js", Fail, 1, "Error: Cannot find module './shelf'", node, None),
            ("node t.js", Fail, 1, "Error: Cannot find module 'other'", node, None),
            (
                "python3 t.py",
                Fail,
                1,
                "ModuleNotFoundError: No module named 'requests'",
                "requests>=2\n",
                some("requests", None),
            ),
            ("python3 t.py", Fail, 1, "ModuleNotFoundError: No module named 'shelf'", "requests>=2\n", None),
        ] {
            assert_eq!(lacking(command, verdict, code, tail, manifest), expected, "{command}: {tail}");
        }
    }
}
