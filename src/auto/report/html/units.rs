//! Units in detail: attempts, changed files, checks and diffs.

use std::fmt::Write as _;

use super::super::facts;
use super::text::{code, escaped, escaped_lines, prose_lines};
use super::{signed, tables};
use crate::auto::account::page::{RunPage, UnitPage};
use crate::auto::account::{SessionAccount, figures};
use crate::text::screen::counted;
use crate::text::time;

/// How much of all diffs is on a page, in bytes of the page.
const DIFFS: usize = 900_000;
/// How much of a line of a diff is shown, in bytes.
const LINE: usize = 600;
/// A page with more units shows less of each session.
const MANY: usize = 100;

/// The details of all units, by slice.
pub(super) fn details(page: &RunPage) -> String {
    let diffs = page.units.iter().filter(|unit| unit.diff.is_some()).count();
    let most = DIFFS / diffs.max(1);
    let (mut body, mut slice_before) = (String::new(), None);
    for (number, unit) in page.units.iter().enumerate() {
        if slice_before != Some(&unit.slice) {
            let slice = page.slices.iter().find(|slice| slice.id == unit.slice);
            let title = slice
                .and_then(|slice| slice.title.as_ref())
                .map(|title| format!(" {}", escaped(&facts::short_title(title))));
            let _ = writeln!(body, "<h3>{}{}</h3>", escaped(&unit.slice), title.unwrap_or_default());
            slice_before = Some(&unit.slice);
        }
        body += &detail(page, number + 1, unit, most);
    }
    body
}

fn detail(page: &RunPage, number: usize, unit: &UnitPage, most: usize) -> String {
    let (account, totals) = (&unit.account, unit.account.totals());
    let (light, sign, word) = facts::unit_state(page, unit);
    let mut meta = vec![word.to_owned()];
    if account.sessions.len() != 1 {
        meta.push(counted(account.sessions.len(), "attempt"));
    }
    meta.extend(totals.usd.map(figures::dollars));
    meta.push(time::lasting(account.milliseconds));
    let title = unit
        .title
        .as_ref()
        .map_or_else(|| account.unit.kind.word().to_owned(), |title| escaped(&facts::short_title(title)));
    let attempts: String = account.sessions.iter().map(|session| attempt(page, session)).collect();
    let attempts =
        if attempts.is_empty() { attempts } else { format!("<h4>Attempts</h4><ul class=\"plain\">{attempts}</ul>") };
    let checks = if account.checks.is_empty() {
        String::new()
    } else {
        tables::checks("Last run of its checks", &account.checks)
    };
    format!(
        "<details class=\"unit\"><summary><span class=\"id\">{}</span><span class=\"name\">{title}</span>\
         <span class=\"meta\"><span class=\"{} sign\" aria-hidden=\"true\">{sign}</span>{}</span></summary>\n\
         <div class=\"body\" id=\"u{number}\">{}{attempts}{checks}{}</div></details>\n",
        escaped(&facts::label(unit)),
        super::class(light),
        escaped(&meta.join(", ")),
        commit(unit),
        diff(number, unit, most)
    )
}

/// The full name of a unit, its commit and how much that changes.
fn commit(unit: &UnitPage) -> String {
    let mut parts = vec![code(&unit.account.unit.to_string()), format!("began {}", facts::moment(unit.account.began))];
    parts.extend(unit.account.commit.as_ref().map(|commit| format!("commit {}", code(facts::short(commit)))));
    parts.extend(unit.changes.map(facts::changed));
    format!("<p class=\"soft small\">{}</p>", parts.join(" \u{b7} "))
}

fn attempt(page: &RunPage, session: &SessionAccount) -> String {
    let is_long = page.units.len() > MANY;
    let why = session.why.as_ref().filter(|why| !why.trim().is_empty()).map(|why| {
        let (text, is_cut) = facts::first(why.trim(), if is_long { 600 } else { 2_000 });
        format!(
            "<div class=\"why\" tabindex=\"0\" role=\"group\" aria-label=\"Reason\">{}{}</div>",
            prose_lines(text),
            if is_cut { " \u{2026}" } else { "" }
        )
    });
    let files = &session.changed;
    let most = if is_long { 10 } else { 40 };
    let mut listed: Vec<String> = files.iter().take(most).map(|file| code(file)).collect();
    if files.len() > most {
        listed.push(format!("and {} more", files.len() - most));
    }
    let files = if listed.is_empty() {
        String::new()
    } else {
        format!("<div class=\"files\">Changed {}</div>", listed.join(", "))
    };
    format!(
        "<li>{} <span class=\"soft\">attempt {}, {}</span>{}{files}</li>\n",
        signed(facts::outcome(page, session)),
        session.attempt,
        escaped(&facts::session_spent(session)),
        why.unwrap_or_default()
    )
}

fn diff(number: usize, unit: &UnitPage, most: usize) -> String {
    let command = code(&facts::diff_command(unit));
    let Some(diff) = unit.diff.as_ref().filter(|diff| !diff.is_empty()) else {
        let is_kept = unit.account.commit.is_some();
        return if is_kept { format!("<p class=\"soft small\">Diff: {command}</p>") } else { String::new() };
    };
    let (lines, is_cut) = lines(diff, most);
    let rest = if is_cut {
        format!("<p class=\"soft small screen\">The diff is longer: {command}</p>")
    } else {
        String::new()
    };
    let name = format!("Diff {number}: {}", facts::label(unit));
    format!(
        "<h4 class=\"screen\">Diff</h4><pre tabindex=\"0\" role=\"region\" aria-label=\"{}\">{lines}</pre>{rest}\
         <p class=\"soft small paper\">Diff: {command}</p>",
        escaped(&name)
    )
}

/// What a line of a diff is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DiffLine {
    Added,
    Removed,
    Head,
    Same,
}

/// What a line of a diff is. Lines before the first hunk of a file are its head, whatever they begin with.
fn kind_of(line: &str, in_hunk: &mut bool) -> DiffLine {
    if line.starts_with("diff ") {
        *in_hunk = false;
    } else if line.starts_with("@@") {
        *in_hunk = true;
        return DiffLine::Head;
    }
    match (line.as_bytes().first(), *in_hunk) {
        (Some(b'+'), true) => DiffLine::Added,
        (Some(b'-'), true) => DiffLine::Removed,
        (_, true) => DiffLine::Same,
        (_, false) => DiffLine::Head,
    }
}

/// The lines of a diff as markup, at most `most` bytes; true if some are left out. Neighbours of one kind share an
/// element.
fn lines(diff: &str, most: usize) -> (String, bool) {
    let (mut markup, mut open, mut in_hunk) = (String::new(), None, false);
    let close = |kind: DiffLine| match kind {
        DiffLine::Added => "</ins>",
        DiffLine::Removed => "</del>",
        DiffLine::Head | DiffLine::Same => "</span>",
    };
    let mut is_cut = false;
    for line in diff.lines() {
        if markup.len() > most {
            is_cut = true;
            break;
        }
        let kind = kind_of(line, &mut in_hunk);
        if open == Some(kind) {
            markup.push('\n');
        } else {
            markup.extend(open.map(close));
            markup.push_str(match kind {
                DiffLine::Added => "<ins>",
                DiffLine::Removed => "<del>",
                DiffLine::Head => "<span class=\"h\">",
                DiffLine::Same => "<span>",
            });
            open = Some(kind);
        }
        let (shown, is_long) = facts::first(line, LINE);
        markup += &escaped_lines(shown);
        if is_long {
            markup.push('\u{2026}');
        }
    }
    markup.extend(open.map(close));
    (markup, is_cut)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_diff_keep_their_signs() {
        let diff = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n same\n-<old>\n--- a\n+new\n";
        let (markup, is_cut) = lines(diff, 10_000);
        assert_eq!(
            markup,
            "<span class=\"h\">diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@</span><span> same</span>\
             <del>-&lt;old&gt;\n--- a</del><ins>+new</ins>"
        );
        assert!(!is_cut);
    }

    #[test]
    fn a_long_diff_is_cut_between_lines() {
        let diff = "@@ -0,0 +1,9 @@\n".to_owned() + &"+line\n".repeat(1000) + "+" + &"x".repeat(2000);
        let (markup, is_cut) = lines(&diff, 300);
        assert!(is_cut && markup.len() < 350 && markup.ends_with("+line</ins>"), "{markup}");
        assert!(lines(&("+".to_owned() + &"x".repeat(2000)), 5000).0.len() < 700);
    }
}
