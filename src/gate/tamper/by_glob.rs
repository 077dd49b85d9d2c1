//! Finds tests that no longer match the pattern by which the project's own scripts find them.

use std::collections::BTreeMap;

use super::Text;
use super::assertion::Assertion;
use super::collected::is_brought_in;
use super::facts::Facts;
use super::file::{TestFile, TestRole};
use super::finding::{Finding, Weakening};
use super::lexer::Language;
use crate::gate::globs::{finds, globs_in};
use crate::gate::pins::Pins;

/// Tests that a pattern matched before, and that are now in files which none matches.
pub(super) fn lost(pins: &Pins, files: &[TestFile<'_>], texts: &[Text<'_>]) -> Vec<Finding> {
    let then: Vec<&String> = pins.globs.values().flatten().collect();
    if then.is_empty() {
        return Vec::new();
    }
    let mut now: Vec<String> = Vec::new();
    for (source, globs) in &pins.globs {
        match texts.iter().find(|text| text.path == source) {
            Some(text) => now.extend(text.after.as_deref().map(globs_in).unwrap_or_default()),
            None => now.extend(globs.iter().cloned()),
        }
    }
    let was_found = |path: &str| then.iter().any(|glob| finds(glob, path));
    let is_found = |path: &str| now.iter().any(|glob| finds(glob, path));
    let judged = || files.iter().filter(|file| file.role == TestRole::Tests && has_no_runner(file.path));
    let keys = |facts: &Option<Facts<'_>>| -> Vec<String> {
        facts.iter().flat_map(|facts| &facts.assertions).map(Assertion::key).collect()
    };
    // Assertions in files that are found now, and in those that were found before.
    let mut left: BTreeMap<String, i64> = BTreeMap::new();
    for key in judged().filter(|file| is_found(file.path)).flat_map(|file| keys(&file.after)) {
        *left.entry(key).or_default() += 1;
    }
    let mut found = Vec::new();
    for old in judged().filter(|file| was_found(file.path)) {
        let missed: Vec<String> = keys(&old.before)
            .into_iter()
            .filter(|key| {
                let count = left.entry(key.clone()).or_default();
                *count -= 1;
                *count < 0
            })
            .collect();
        let text = |path: &str| texts.iter().find(|text| text.path == path);
        let has_them = |new: &&TestFile<'_>| {
            let is_copy = old.after.is_none()
                && text(old.path).and_then(|text| text.before.as_ref()).is_some_and(|before| {
                    !before.trim().is_empty() && text(new.path).and_then(|text| text.after.as_ref()) == Some(before)
                });
            is_copy || keys(&new.after).iter().any(|key| missed.contains(key))
        };
        let place = judged().filter(|file| !is_found(file.path) && !is_brought_in(file, files)).find(has_them);
        if let Some(place) = place {
            let glob = then.iter().find(|glob| finds(glob, old.path)).map_or("", |glob| glob.as_str());
            let what = format!(
                "its tests are in `{}` now, and the checks look for them in `{}`: no check runs them",
                place.path, glob
            );
            found.push(Finding::new(old.path, 0, Weakening::NotCollected, what));
        }
    }
    found
}

/// True if only the project's own scripts know which files of a language are tests.
fn has_no_runner(path: &str) -> bool {
    let is_of_runner = ["java", "kt", "kts", "scala", "cs", "swift", "dart", "php", "ex", "exs"]
        .iter()
        .any(|ending| path.rsplit_once('.').is_some_and(|(_, own)| own == *ending));
    !is_of_runner && matches!(Language::of(path), Some(Language::Shell | Language::Braces | Language::Hashes))
}
