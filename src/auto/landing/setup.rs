//! Git settings that a person has to know about before a run starts: filters that cannot run, hooks that will not run.

use super::error::LandingError;
use super::repository::Repository;
use crate::world::path::can_be_run;

/// The hooks that a person would expect to run for commits, merges and branches, as of git 2.51.
const HOOKS: &[&str] = &[
    "pre-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "pre-merge-commit",
    "post-merge",
    "post-checkout",
    "post-index-change",
    "reference-transaction",
];

impl Repository {
    /// Refuses a repository whose files need a filter that cannot run here: git could not check them out.
    pub(crate) fn check_filters(&self) -> Result<(), LandingError> {
        let line = ["config", "--null", "--get-regexp", r"^filter\..*\.(required|smudge|process|clean)$"];
        // The user's settings: the engine's own calls use fenced filters.
        let told = self.git.world().git(self.root().as_path(), line)?.stdout;
        let told = String::from_utf8_lossy(&told).into_owned();
        let settings: Vec<(&str, &str)> = told.split('\0').filter_map(|setting| setting.split_once('\n')).collect();
        let value = |key: &str| settings.iter().rfind(|(known, _)| *known == key).map(|(_, value)| *value);
        for (key, value_of_key) in &settings {
            let Some(name) = key.strip_prefix("filter.").and_then(|key| key.strip_suffix(".required")) else {
                continue;
            };
            if !matches!(*value_of_key, "true" | "yes" | "on" | "1" | "") {
                continue;
            }
            let of = |part: &str| value(&format!("filter.{name}.{part}")).filter(|line| !line.is_empty());
            let lines = match of("process") {
                Some(process) => vec![process],
                None => [of("smudge"), of("clean")].into_iter().flatten().collect(),
            };
            let missing = lines.into_iter().find_map(|line| {
                let program = line.split_whitespace().next()?.trim_matches(['"', '\'']);
                // Only a plain name is looked up; what a shell would do with other text is unknown.
                let is_name = program.chars().all(|letter| letter.is_alphanumeric() || "._-".contains(letter));
                (is_name && !self.git.world().finds(program)).then(|| program.to_owned())
            });
            let Some(program) = missing else { continue };
            if !self.git.ask(["ls-files", "--", &format!(":(top,attr:filter={name})")])?.is_empty() {
                return Err(LandingError::FilterMissing { name: name.to_owned(), program });
            }
        }
        Ok(())
    }

    /// Returns the installed hooks of the repository, none of which will run.
    pub(crate) fn idle_hooks(&self) -> Result<Vec<&'static str>, LandingError> {
        let set = self.git.world().git(self.root().as_path(), ["config", "--path", "--get", "core.hooksPath"])?;
        let folder = match set.text().as_str() {
            "" => self.common().resolve("hooks"),
            set => self.root().resolve(set),
        };
        let is_there = |hook: &&&str| can_be_run(folder.resolve(hook).as_path());
        Ok(HOOKS.iter().filter(is_there).copied().collect())
    }
}
