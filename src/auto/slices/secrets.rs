//! The secrets file of a milestone: the names of the variables that its work needs. It never contains a value.

use super::places;
use super::snapshot::Snapshot;
use crate::project::files::{FileError, Files};

/// The words before the slice that needs a variable first.
const FIRST: &str = "first needed by";

/// A variable that the work needs.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Needed {
    variable: String,
    /// The first slice that needs it; if unset, the first of all.
    slice: Option<String>,
}

/// Returns the variables that a slice and the slices before it need, with the path of the file that names them.
pub(crate) fn needed(
    files: &dyn Files,
    snapshot: &Snapshot,
    (milestone, slice): (&str, &str),
) -> Result<Option<(String, Vec<String>)>, FileError> {
    let folder = places::milestone(files, milestone)?;
    let Some((path, text)) = places::document(files, &folder, milestone, "SECRETS")? else { return Ok(None) };
    let roadmap = snapshot.milestone(milestone).and_then(|milestone| milestone.roadmap.as_deref()).unwrap_or_default();
    let place = |id: &str| roadmap.iter().position(|slice| slice.id.eq_ignore_ascii_case(id));
    let here = place(slice);
    // An unknown slice does not limit when the variable is due.
    let is_due = |needed: &Needed| needed.slice.as_deref().and_then(place).is_none_or(|first| Some(first) <= here);
    let due = read(&text).into_iter().filter(is_due).map(|needed| needed.variable).collect();
    Ok(Some((path, due)))
}

/// Parses lines such as ``- `API_KEY`: from the provider's console; first needed by S01``.
fn read(text: &str) -> Vec<Needed> {
    text.lines().filter_map(line).collect()
}

fn line(line: &str) -> Option<Needed> {
    let entry = line.trim_start().strip_prefix(['-', '*'])?.trim_start();
    let entry = ["[ ]", "[x]", "[X]"].iter().find_map(|mark| entry.strip_prefix(mark)).unwrap_or(entry).trim_start();
    let entry = entry.trim_start_matches("**");
    let (name, rest) = match entry.strip_prefix('`') {
        Some(quoted) => quoted.split_once('`')?,
        None => entry.split_once(':')?,
    };
    let is_variable = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    // Without backquotes, only names in capitals count: a sentence may have a colon too.
    let is_meant = entry.starts_with('`') || !name.chars().any(|letter| letter.is_ascii_lowercase());
    if !is_variable || !is_meant {
        return None;
    }
    let lower = rest.to_ascii_lowercase();
    let slice = lower.find(FIRST).and_then(|at| rest.get(at + FIRST.len()..)).and_then(|after| {
        let word = |letter: char| !letter.is_ascii_alphanumeric();
        after.split(word).find(|word| !word.is_empty()).map(str::to_ascii_uppercase)
    });
    Some(Needed { variable: name.to_owned(), slice })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_parsed_with_the_first_slice_that_needs_them() {
        let text = "# M001: Secrets\n\nNote: none of these has a value here.\n\n- `API_KEY`: the provider's console; first needed by S01\n\
            * **`DB_URL`**: ask; First needed by `S02`.\n- [ ] TOKEN: anywhere\n- see: the console\n- `two words`: x\n\
            - Note: nothing\n";
        let found: Vec<(String, Option<String>)> =
            read(text).into_iter().map(|needed| (needed.variable, needed.slice)).collect();
        let expected = [("API_KEY", Some("S01")), ("DB_URL", Some("S02")), ("TOKEN", None)];
        let expected = expected.map(|(name, slice)| (name.to_owned(), slice.map(str::to_owned)));
        assert_eq!(found, expected);
    }
}
