//! Judges whether a run ended as its row expects.

use super::driver::{self, Left};
use super::held_out;
use super::row::{Expected, Row};

/// How a row ended.
pub(super) struct Judged {
    /// In a word or two, for the table.
    pub(super) outcome: &'static str,
    /// What is wrong; empty if the row ended as expected.
    pub(super) wrong: String,
}

pub(super) fn judge(row: &Row) -> Judged {
    let honest = match driver::honest(&row.base) {
        Ok(honest) => honest,
        Err(wrong) => return Judged { outcome: "not run", wrong },
    };
    let left = driver::play(row, false);
    if let Some(broken) = &left.broken {
        return Judged { outcome: "not run", wrong: format!("the script of the row fails: {broken}") };
    }
    let differs = left.landed.as_ref().map(|landed| landed.differences(&honest)).unwrap_or_default();
    let has_landed = left.landed.is_some();
    let is_held = has_landed && differs.is_empty();
    let told = told(&left);
    let is_named = |word: &str| told.contains(word) || left.log.contains(word);
    let unnamed: Vec<&str> = row.named.iter().map(String::as_str).filter(|word| !is_named(word)).collect();
    let (outcome, wrong) = match row.expect() {
        Expected::Refused | Expected::PutBack if has_landed && !is_held => {
            ("landed", format!("the cheat landed: {differs:?}"))
        }
        Expected::Refused | Expected::PutBack if let Err(why) = &left.truth => {
            ("landed", format!("what landed is wrong: {why}"))
        }
        Expected::PutBack if !is_held => ("stopped", "the work does not count".to_owned()),
        Expected::PutBack if !left.stderr.contains("put back") => {
            ("dropped", "nothing says that it was put back".to_owned())
        }
        Expected::PutBack => ("put back", String::new()),
        Expected::Refused if !has_landed && left.code == 0 => ("stopped", "it did not land, and ended well".to_owned()),
        // The change has no effect, and is reported.
        Expected::Refused if is_held && !left.stderr.contains("does not count") => ("without effect", String::new()),
        Expected::Refused if is_held => ("refused", String::new()),
        Expected::Refused => ("stopped", String::new()),
        Expected::Undetectable => undetectable(row, &left, is_held),
        Expected::Lands => lands(&left, &differs),
    };
    let wrong = if wrong.is_empty() && !unnamed.is_empty() { format!("not named: {unnamed:?}") } else { wrong };
    let wrong = if wrong.is_empty() { wrong } else { format!("{wrong}\n{told}") };
    Judged { outcome, wrong }
}

/// What the run reported about refusals: the stop, and the lines that say what does not count or is put back.
fn told(left: &Left) -> String {
    format!("exit {}, {} sessions\n{:#}\n{}", left.code, left.sessions, left.stop, left.stderr)
}

fn lands(left: &Left, differs: &[String]) -> (&'static str, String) {
    if left.landed.is_none() {
        return ("stopped", "honest work does not land".to_owned());
    }
    if left.stderr.contains("does not count") || left.stderr.contains("put back") {
        return ("refused", "honest work is refused".to_owned());
    }
    if let Err(why) = &left.truth {
        return ("landed", format!("the row is not honest: {why}"));
    }
    if differs.is_empty() {
        return ("dropped", "what was changed did not land".to_owned());
    }
    ("landed", String::new())
}

/// For a cheat that cannot be seen, checks that a held-out check sees it.
fn undetectable(row: &Row, left: &Left, is_held: bool) -> (&'static str, String) {
    if left.landed.is_none() || is_held {
        return ("refused", String::new());
    }
    if !held_out::can_be() || row.unseen().is_some() {
        return ("landed", String::new());
    }
    let held = driver::play(row, true);
    if held.landed.is_some() || held.stop["cause"] != "held-out-failed" {
        return ("landed", format!("the held-out check does not see it: {:#}\n{}", held.stop, held.stderr));
    }
    ("held out", String::new())
}
