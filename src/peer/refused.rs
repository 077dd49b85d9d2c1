//! JSON answers that report a failure. A person at a terminal gets an error with a hint instead.

use serde_json::{Map, Value};

use crate::failure::{DEGRADED, Failure, Reason};
use crate::text::shell::{Typed, typed};

const PHASES: &str = "`gsd-tools roadmap analyze` lists the phases";

/// The possible subjects of an answer: the key, the noun for it, and how to list the existing ones.
const SUBJECTS: &[(&str, &str, &str)] = &[
    ("phase", "phase", PHASES),
    ("phase_number", "phase", PHASES),
    ("workstream", "workstream", "`gsd-tools workstream list` lists the workstreams"),
    ("path", "file", "check the path; it is relative to the current folder"),
    ("file", "file", "check the path; it is relative to the current folder"),
];

/// The start of the reason in an answer that changed nothing because nothing had to change.
const NOTHING_TO_DO: &str = "nothing to do";

/// A hint to the description of a verb.
pub(crate) fn described(verb: &str) -> String {
    format!("`{}` describes what it needs", typed!("gsd-tools help {}", Typed::words(verb)))
}

/// The failure reported in an answer of `verb`; `None` if it reports none.
pub(crate) fn failure_in(answer: &str, verb: &str) -> Option<Failure> {
    let Value::Object(fields) = serde_json::from_str(answer).ok()? else { return None };
    let text = |key: &str| fields.get(key).and_then(Value::as_str);
    let sentence = |key: &str| text(key).filter(|text| text.contains(' '));
    let is = |key: &str, value: bool| fields.get(key) == Some(&Value::Bool(value));
    let help = described(verb);
    if is("disabled", true) {
        let (what, enable) = text("message")?.split_once("; ")?;
        return Some(Failure::usage(what).hint(enable));
    }
    if is("phase_found", false) || (is("found", false) && text("error").is_none()) {
        return Some(missing(&fields, &help));
    }
    if let Some(error) = text("error") {
        let error = error.strip_prefix("fatal: ").unwrap_or(error);
        if ["not_found", "Phase not found", "File not found"].contains(&error) {
            return Some(missing(&fields, &help).exits(DEGRADED));
        }
        let explained = sentence("message").or(sentence("detail")).or(sentence("reason"));
        let message = match explained {
            Some(explained) if !error.contains(' ') => explained.to_owned(),
            _ if error.contains(' ') => error.to_owned(),
            _ => error.replace('_', " "),
        };
        let hint = match text("hint") {
            Some(hint) => hint,
            None if message.starts_with("not a git repository") => "run it in a git repository; `git init` creates one",
            None => &help,
        };
        return Some(Failure::usage(&message).hint(hint).exits(DEGRADED));
    }
    let why = sentence("reason").filter(|why| is("updated", false) && !why.starts_with(NOTHING_TO_DO))?;
    Some(Failure::usage(why).hint(help).exits(DEGRADED))
}
/// The error about a subject that was not found.
fn missing(fields: &Map<String, Value>, help: &str) -> Failure {
    let subject =
        |(key, noun, hint): &(&str, &'static str, &'static str)| Some((fields.get(*key)?.as_str()?, *noun, *hint));
    match SUBJECTS.iter().find_map(subject) {
        Some((name, noun, hint)) => {
            let reason = if noun == "phase" { Reason::PhaseNotFound } else { Reason::Usage };
            Failure::new(reason, format!("there is no {noun} `{name}`")).hint(hint)
        }
        // Answers about a phase that do not name it.
        None if ["phase_found", "phase_dir", "phase_number"].iter().any(|key| fields.contains_key(*key)) => {
            Failure::new(Reason::PhaseNotFound, "there is no such phase").hint(PHASES)
        }
        None => Failure::usage("there is no such thing").hint(help),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::error::Manner;

    fn shown(answer: &str) -> String {
        failure_in(answer, "state get").map(|error| error.render(Manner::default())).unwrap_or_default()
    }

    #[test]
    fn an_answer_that_failed_is_an_error_that_names_its_subject() {
        assert_eq!(
            shown(r#"{"error":"File not found","path":"a.md"}"#),
            "Error: there is no file `a.md`\n  hint: check the path; it is relative to the current folder\n"
        );
        assert_eq!(
            shown(r#"{"error":"not_found","workstream":"x"}"#),
            "Error: there is no workstream `x`\n  hint: `gsd-tools workstream list` lists the workstreams\n"
        );
        assert_eq!(
            shown(r#"{"error":"invalid_name","message":"use a_b"}"#),
            "Error: use a_b\n  hint: `gsd-tools help state get` describes what it needs\n"
        );
        assert_eq!(
            shown(r#"{"disabled":true,"message":"it is disabled; enable it: `x`"}"#),
            "Error: it is disabled\n  hint: enable it: `x`\n"
        );
        assert_eq!(
            shown(r#"{"updated":false,"reason":"no field `x`"}"#),
            "Error: no field `x`\n  hint: `gsd-tools help state get` describes what it needs\n"
        );
        assert!(shown(r#"{"found":false,"phase_number":"77"}"#).starts_with("Error: there is no phase `77`\n"));
        assert!(shown(r#"{"phase_found":false,"phase_number":null}"#).contains(PHASES));
        assert!(shown(r#"{"error":"fatal: not a git repository"}"#).contains("git init"));
    }

    #[test]
    fn other_answers_are_not_failures() {
        let nothing = r#"{"updated":false,"reason":"nothing to do: it is so"}"#;
        for answer in ["text", "[]", nothing, r#"{"found":true}"#, r#"{"error":null}"#, r#"{"rows":[{"error":"x y"}]}"#]
        {
            assert_eq!(shown(answer), "", "{answer}");
        }
    }
}
