//! Each error says what to do next: it has at least one hint, in text and as JSON.
//!
//! Every call that a test of the suite makes goes through [`hold`].

use crate::kit::Ran;

/// Errors without a hint, by a part of their message, and why nothing helps.
const NOTHING_HELPS: &[(&str, &str)] = &[("as a test asked", "the test that reads it stopped the call")];

/// Asserts that an error that a call printed has a hint.
pub(crate) fn hold(arguments: &[String], ran: &Ran) {
    for error in errors_without_hint(&ran.stderr) {
        assert!(
            NOTHING_HELPS.iter().any(|(part, _)| error.contains(part)),
            "`gsd-tools {}` fails without a hint:\n{error}",
            arguments.join(" ")
        );
    }
}

/// The errors in a text that have no hint.
fn errors_without_hint(text: &str) -> Vec<String> {
    let mut without = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if let Ok(envelope) = serde_json::from_str::<serde_json::Value>(line)
            && envelope["ok"] == false
        {
            if envelope["hints"].as_array().is_none_or(Vec::is_empty) {
                without.push(line.to_owned());
            }
            continue;
        }
        if !line.starts_with("Error: ") {
            continue;
        }
        let mut error = vec![line];
        // A message may have several lines.
        while let Some(next) = lines.next_if(|next| !next.starts_with("Error: ")) {
            error.push(next);
        }
        if !error.iter().any(|line| line.starts_with("  hint: ")) {
            without.push(error.join("\n"));
        }
    }
    without
}

#[test]
fn an_error_without_a_hint_is_noticed() {
    let whole = "Error: `x` is missing\n  caused by: nothing\n  hint: make it\n";
    assert_eq!(errors_without_hint(whole), [""; 0]);
    assert_eq!(errors_without_hint("warning: `x` is missing\n"), [""; 0]);
    assert_eq!(errors_without_hint("{\"ok\":false,\"message\":\"m\",\"hints\":[\"h\"]}\n"), [""; 0]);
    assert_eq!(errors_without_hint("{\"ok\":false,\"message\":\"m\"}\n").len(), 1);
    assert_eq!(errors_without_hint("Error: first\nError: `x`\nand y\n  hint: make it\n"), ["Error: first"]);
}
