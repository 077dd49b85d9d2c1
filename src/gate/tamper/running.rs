//! Files that run automatically: a unit changes one only if its plan names it.

use std::collections::BTreeMap;

use super::Text;
use super::finding::{Finding, Weakening};
use super::settings::{kept, line_of};
use crate::project::check_files::Format;
use crate::project::self_running::{Running, SelfRunning};
use crate::text::untrusted;

/// The most characters of a setting that are shown.
const SHOWN: usize = 80;

/// The findings for a changed file that runs automatically. In a file with many settings, only changes of those that
/// run something count.
pub(super) fn changed(running: &SelfRunning, text: &Text<'_>) -> Vec<Finding> {
    running.of(text.path).iter().flat_map(|why| in_file(*why, text)).collect()
}

fn in_file(why: Running<'_>, text: &Text<'_>) -> Vec<Finding> {
    let when = why.when;
    let found = |line: usize, what: String| Finding::new(text.path, line, Weakening::RunsByItself, what);
    match why.format {
        Format::Whole | Format::Code => {
            let what = match (&text.before, &text.after) {
                (None, _) => "is new and runs",
                (_, None) => "is gone, and ran",
                _ => "is changed and runs",
            };
            vec![found(0, format!("it {what} on its own {when}"))]
        }
        Format::Lines => {
            let (then, now) = (lines(text.before.as_deref(), why.keys), lines(text.after.as_deref(), why.keys));
            let differs = |line: &&&str| then.get(*line) != now.get(*line);
            let mut all: Vec<&&str> = then.keys().chain(now.keys()).filter(differs).collect();
            all.dedup();
            let shown = |line: &&str| {
                let after = text.after.as_deref().unwrap_or_default();
                let at = after.lines().position(|other| other.trim() == *line).map_or(0, |at| at + 1);
                found(at, format!("`{}` runs on its own {when}", untrusted::line(line, SHOWN)))
            };
            all.into_iter().map(shown).collect()
        }
        format => {
            let read =
                |text: Option<&str>| text.map_or_else(|| Some(BTreeMap::new()), |text| kept(format, why.keys, text));
            let (Some(then), Some(now)) = (read(text.before.as_deref()), read(text.after.as_deref())) else {
                return vec![found(0, format!("it cannot be read, and parts of it run on their own {when}"))];
            };
            let mut keys: Vec<&String> = then.keys().chain(now.keys()).collect();
            keys.sort();
            keys.dedup();
            keys.retain(|key| then.get(*key) != now.get(*key));
            let shown = |key: &String| {
                let line = text.after.as_deref().map_or(0, |after| line_of(after, key));
                let value = now.get(key).map(|value| format!(": {value}")).unwrap_or_default();
                found(line, format!("`{}` runs on its own {when}{value}", untrusted::line(key, SHOWN)))
            };
            keys.into_iter().map(shown).collect()
        }
    }
}

/// The lines that contain one of these words, each with its number of occurrences.
fn lines<'a>(text: Option<&'a str>, words: &[String]) -> BTreeMap<&'a str, usize> {
    let mut found = BTreeMap::new();
    let holds = |line: &&str| !line.starts_with('#') && words.iter().any(|word| line.contains(word.as_str()));
    for line in text.unwrap_or_default().lines().map(str::trim).filter(holds) {
        *found.entry(line).or_default() += 1;
    }
    found
}
