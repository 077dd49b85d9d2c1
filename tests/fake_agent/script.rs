//! A script: what to do for which unit, step by step.
//!
//! `[{"match": {"unit": "execute-task M001/S01/*", "attempt": 1}, "steps": [...], "exit": 0, "terminal": "success",
//! "usage": {"input": 1000, "output": 111}}]`. The first row that matches is played. `unit` may omit the kind; `*`
//! matches anything. A step is one of `{"write": {"path", "content"}}`, `{"edit": {"path", "from", "to"}}`,
//! `{"delete": path}`, `{"sleep_ms": n}`, `{"work_ms": n}`, `{"spawn_daemon": true}`, `{"emit": event}`,
//! `{"line": text}`, `{"raw_bytes": [..]}`, `{"flood": lines}`, `{"hang": true}`, `{"ignore_sigterm": true}`,
//! `{"say": text}`, `{"tool": name}`, `{"denied": name}`, `{"failed": name}`, `{"sh": text}`,
//! `{"retry": {"status", "wait_ms"}}`, `{"question": text}`, `{"ideal": true}`, `{"abort": true}`. `terminal` is
//! `success`, `none` or `{"status", "text"}`.

use std::io::Write;

use crate::ideal;
use crate::json::Json;
use crate::speak::{Say, Voice};
use crate::world::{self, Call};

/// Plays the row for the unit, and returns the exit code.
pub fn play(rows: &Json, call: &Call, voice: &mut Voice) -> Result<u8, String> {
    let Some(row) = rows.list().iter().find(|row| fits(row, call)) else {
        return Err(format!("the script has no row for `{} {}`, attempt {}", call.kind, call.id, call.attempt));
    };
    if let Some(usage) = row.get("usage") {
        let number =
            |key: &str, usual: u64| usage.get(key).and_then(Json::number).map_or(usual, |number| number as u64);
        (voice.input, voice.output) = (number("input", voice.input), number("output", voice.output));
    }
    let steps = row.get("steps").map(Json::list).unwrap_or_default();
    if steps.iter().any(|step| step.get("ignore_sigterm").is_some()) {
        world::ignore_signals();
    }
    voice.say(&Say::Start);
    for step in steps {
        play_step(step, call, voice)?;
    }
    match row.get("terminal") {
        None => voice.say(&Say::Success),
        Some(Json::Text(word)) if word == "success" => voice.say(&Say::Success),
        Some(Json::Text(_)) => {}
        Some(failure) => voice.say(&Say::Failure {
            status: failure.get("status").and_then(Json::number).unwrap_or(500.0) as u16,
            text: failure.field("text").to_owned(),
        }),
    }
    Ok(row.get("exit").and_then(Json::number).unwrap_or(0.0) as u8)
}

fn fits(row: &Json, call: &Call) -> bool {
    let Some(wanted) = row.get("match") else { return true };
    let unit = wanted.field("unit");
    let is_unit = unit.is_empty() || is_like(&call.id, unit) || is_like(&format!("{} {}", call.kind, call.id), unit);
    let attempt = wanted.get("attempt").and_then(Json::number);
    is_unit && attempt.is_none_or(|attempt| attempt as u32 == call.attempt)
}

fn is_like(text: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => text == pattern,
        Some((before, after)) => text
            .strip_prefix(before)
            .is_some_and(|rest| (0..=rest.len()).any(|at| rest.is_char_boundary(at) && is_like(&rest[at..], after))),
    }
}

fn play_step(step: &Json, call: &Call, voice: &mut Voice) -> Result<(), String> {
    let Json::Map(map) = step else { return Err(format!("{step} is no step")) };
    let Some((name, value)) = map.iter().next() else { return Err("a step is empty".to_owned()) };
    let number = value.number().unwrap_or(0.0) as u64;
    let text = value.text().unwrap_or_default();
    match name.as_str() {
        "write" => world::write(value.field("path"), value.field("content"))?,
        "edit" => world::edit(value.field("path"), value.field("from"), value.field("to"))?,
        "delete" => std::fs::remove_file(text).map_err(|error| format!("{text}: {error}"))?,
        "sleep_ms" => world::sleep(number),
        "work_ms" => world::work(number),
        "spawn_daemon" => world::spawn_daemon()?,
        "emit" => voice.line(&value.to_string()),
        "line" => voice.line(text),
        "raw_bytes" => {
            let bytes: Vec<u8> = value.list().iter().filter_map(Json::number).map(|number| number as u8).collect();
            let _ = std::io::stdout().write_all(&bytes).and_then(|()| std::io::stdout().flush());
        }
        "flood" => (0..number).for_each(|line| voice.say(&Say::Text(format!("line {line} of a flood")))),
        "hang" => world::hang(),
        "ignore_sigterm" => {}
        "say" => voice.say(&Say::Text(text.to_owned())),
        "tool" => voice.say(&Say::Tool { name: text.to_owned(), end: "finished" }),
        "failed" => voice.say(&Say::Tool { name: text.to_owned(), end: "failed" }),
        "denied" => voice.say(&Say::Tool { name: text.to_owned(), end: "denied" }),
        "question" => voice.say(&Say::Question(text.to_owned())),
        "retry" => {
            let field = |key: &str| value.get(key).and_then(Json::number).unwrap_or(0.0);
            voice.say(&Say::Retry { status: field("status") as u16, wait_ms: field("wait_ms") as u64 });
        }
        "ideal" => ideal::work(call)?,
        "sh" => world::shell(text)?,
        "abort" => std::process::abort(),
        other => return Err(format!("`{other}` is no step")),
    }
    Ok(())
}
