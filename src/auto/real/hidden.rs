//! Work that git ignores: it is in the worktree of its unit, and in no commit.

use serde::{Deserialize, Serialize};

use super::Real;
use crate::auto::engine::EngineError;
use crate::auto::landing::ignored::IgnoredFile;
use crate::auto::unit::Unit;
use crate::disk::{self, AbsolutePath};
use crate::gate::verdict::{GateVerdict, Outcome};
use crate::project::check_files::fits;

/// The note with the ignored files from before a unit, among the notes of the run.
const NOTE: &str = "ignored.json";

/// The most files that are listed.
const LISTED: usize = 5;

/// The files that git ignored before the first attempt at a unit.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Before {
    unit: String,
    paths: Vec<String>,
}

impl Real<'_> {
    fn ignored_note(&self) -> AbsolutePath {
        self.places.notes.resolve(NOTE)
    }

    fn ignored_before(&self) -> Result<Before, EngineError> {
        let text = disk::read_text(self.ignored_note())?.unwrap_or_default();
        Ok(serde_json::from_str(&text).unwrap_or_default())
    }

    /// Records what git ignores before the first attempt at a unit whose checks may miss files.
    pub(super) fn note_ignored(&self, unit: &Unit) -> Result<(), EngineError> {
        let name = unit.to_string();
        if !unit.kind.is_gated() || self.ignored_before()?.unit == name {
            return Ok(());
        }
        let before = Before { unit: name, paths: self.repository.ignored_files(&self.worktree)? };
        let text = serde_json::to_string(&before)?;
        disk::make_folder(&self.places.notes)?;
        Ok(disk::write_fleeting(&self.ignored_note(), text.as_bytes())?)
    }

    /// Returns why the work of a unit may not be committed as it is: git ignores a file that its plan names, or does
    /// not ignore a file that was copied from a person's checkout.
    pub(super) fn hidden_work(&self, unit: &Unit) -> Result<Option<String>, EngineError> {
        if let Some(path) = self.shown_copy()? {
            let text = format!(
                "git does not ignore `{path}` any more, which was copied from the person's checkout and is not to be committed"
            );
            return Ok(Some(text));
        }
        if let Some(path) = self.shown_environment()? {
            let text = format!(
                "git does not ignore `{path}` any more, which was brought from the person's checkout and is not to be committed"
            );
            return Ok(Some(text));
        }
        let planned = self.planned_files(unit)?;
        if planned.is_empty() {
            return Ok(None);
        }
        let (patterns, paths): (Vec<_>, Vec<_>) = planned.into_iter().partition(|path| path.contains('*'));
        let is_there = |path: &String| {
            let place = self.places.worktree.resolve(path);
            disk::is_file(&place) || disk::is_link(&place)
        };
        let mut suspects: Vec<String> = paths.into_iter().filter(|path| !self.is_planning(path)).collect();
        suspects.retain(is_there);
        if !patterns.is_empty() {
            let all = self.repository.ignored_files(&self.worktree)?;
            suspects.extend(all.into_iter().filter(|path| patterns.iter().any(|pattern| fits(pattern, path))));
        }
        let ignored = self.repository.ignoring(&self.worktree, &suspects)?;
        let named =
            ignored.iter().take(LISTED).map(|one| format!("the plan names `{}`, and {}", one.path, way_on(one)));
        let text = named.collect::<Vec<_>>().join("\n");
        Ok((!text.is_empty()).then_some(text))
    }

    /// Returns a file that was copied into the worktree and that git would commit.
    fn shown_copy(&self) -> Result<Option<String>, EngineError> {
        let copied: Vec<String> = self.included()?.iter().cloned().collect();
        let ignored = self.repository.ignoring(&self.worktree, &copied)?;
        let is_shown = |path: &String| {
            let bytes = |root: &AbsolutePath| disk::read_bytes(root.resolve(path)).ok().flatten();
            let mine = bytes(self.repository.root());
            !ignored.iter().any(|one| one.path == *path) && mine.is_some() && mine == bytes(&self.places.worktree)
        };
        Ok(copied.into_iter().find(is_shown))
    }

    /// Returns the files that the plans of a unit name.
    fn planned_files(&self, unit: &Unit) -> Result<Vec<String>, EngineError> {
        let files = if unit.kind.is_gated() { self.plans_of(unit)?.expected } else { Vec::new() };
        Ok(files.into_iter().map(|path| path.trim_start_matches("./").to_owned()).collect())
    }

    /// Returns the unit's new files that git ignores, if its checks failed on the tree to be committed, one line each:
    /// those that the failure names first, and whether there are such.
    fn ignored_since(&self, unit: &Unit, failure: &str) -> Result<(bool, Vec<String>), EngineError> {
        let before = self.ignored_before()?;
        let known = if before.unit == unit.to_string() { before.paths } else { Vec::new() };
        let new = self.repository.ignored_files(&self.worktree)?.into_iter();
        let new = new.filter(|path| known.binary_search(path).is_err() && !self.is_planning(path));
        self.missed(new.collect(), failure)
    }

    /// Adds to failed checks the files that they did not see.
    pub(super) fn blame_ignored(&self, unit: &Unit, verdict: &mut GateVerdict) -> Result<(), EngineError> {
        let Some(failure) = verdict.failure.as_mut().filter(|_| verdict.outcome == Outcome::Failed) else {
            return Ok(());
        };
        let (is_named, lines) = self.ignored_since(unit, &failure.text)?;
        if !lines.is_empty() {
            let lines = lines.join("\n");
            let (first, last) = if is_named { (&lines, &failure.text) } else { (&failure.text, &lines) };
            failure.text = format!("{first}\n\n{last}");
        }
        Ok(())
    }

    /// Like [`Self::ignored_since`], for all files that git ignores in the worktree, and only those that the failure
    /// names.
    pub(super) fn ignored_in(&self, failure: &str) -> Result<Vec<String>, EngineError> {
        let mut all = self.repository.ignored_files(&self.worktree)?;
        all.retain(|path| is_named(path, failure) && !self.is_planning(path));
        Ok(self.missed(all, failure)?.1)
    }

    fn missed(&self, mut paths: Vec<String>, failure: &str) -> Result<(bool, Vec<String>), EngineError> {
        let copied = self.included()?;
        paths.retain(|path| !copied.contains(path));
        paths.sort_by_key(|path| !is_named(path, failure));
        let is_named = paths.first().is_some_and(|path| is_named(path, failure));
        paths.truncate(LISTED);
        let lines = self.repository.ignoring(&self.worktree, &paths)?;
        let lines = lines.iter().map(|one| format!("the checks did not see `{}`: {}", one.path, way_on(one)));
        Ok((is_named, lines.collect()))
    }
}

/// True if the output of a check mentions a file: by its path, its name, or as a module.
fn is_named(path: &str, text: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
    text.contains(name) || (stem.len() > 2 && text.contains(stem))
}

/// Returns the rule by which git ignores a file, and how to change that.
fn way_on(one: &IgnoredFile) -> String {
    let IgnoredFile { path, source, line, pattern } = one;
    let is_of_tree = source.rsplit('/').next() == Some(".gitignore") && !source.starts_with('/');
    let name = if source.ends_with("info/exclude") { ".git/info/exclude" } else { source };
    let cure = if is_of_tree {
        format!("change line {line} of `{name}` so that git sees it")
    } else {
        format!("add the line `!{pattern}` to `.gitignore`")
    };
    format!(
        "git ignores it by `{pattern}` (`{name}` line {line}), so that it is not committed; {cure}, or do without `{path}`"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ignored(source: &str, pattern: &str) -> String {
        way_on(&IgnoredFile {
            path: "lib/a.py".to_owned(),
            source: source.to_owned(),
            line: "3".to_owned(),
            pattern: pattern.to_owned(),
        })
    }

    #[test]
    fn the_fix_is_in_the_tree_whatever_file_has_the_rule() {
        assert!(ignored("lib/.gitignore", "*.py").contains("change line 3 of `lib/.gitignore`"));
        let of_person = ignored("/r/.git/info/exclude", "lib/");
        assert!(of_person.contains("(`.git/info/exclude` line 3)"), "{of_person}");
        assert!(of_person.contains("add the line `!lib/` to `.gitignore`"), "{of_person}");
    }

    #[test]
    fn output_can_mention_a_file_by_its_path_name_or_module() {
        for text in ["cat: src/shelf.txt: no such file", "No module named 'src.shelf'", "cannot find ./shelf"] {
            assert!(is_named("src/shelf.txt", text), "{text}");
        }
        assert!(!is_named("src/shelf.txt", "1 test failed") && !is_named("a.o", "a test failed"));
    }
}
