//! `Task(subagent_type="x", prompt="…")` in the words of a host.

use crate::runtime::Spawn;

/// A text with its spawn calls in the host's words. A call that is not closed is left alone.
pub(super) fn rewrite(text: &str, spawn: &Spawn) -> String {
    if *spawn == Spawn::default() {
        return text.to_owned();
    }
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("Task(") {
        let inside = &rest[start + "Task(".len()..];
        let is_word = !rest[..start].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let Some(arguments) = is_word.then(|| arguments(inside)).flatten() else {
            result.push_str(&rest[..start + "Task(".len()]);
            rest = inside;
            continue;
        };
        result.push_str(&rest[..start]);
        result.push_str(&call(&arguments, spawn));
        rest = &inside[arguments.iter().map(|argument| argument.len()).sum::<usize>() + 1..];
    }
    result.push_str(rest);
    result
}

/// The arguments of a call up to its closing parenthesis, each but the last with its comma.
fn arguments(inside: &str) -> Option<Vec<&str>> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut depth = 0;
    let mut quote: Option<char> = None;
    for (position, c) in inside.char_indices() {
        match (quote, c) {
            (Some(open), _) if open == c => quote = None,
            (None, '"') => quote = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')') if depth == 0 => {
                found.push(&inside[start..position]);
                return Some(found);
            }
            (None, ')' | ']' | '}') => depth -= 1,
            (None, ',') if depth == 0 => {
                found.push(&inside[start..=position]);
                start = position + 1;
            }
            (Some(_) | None, _) => {}
        }
    }
    None
}

fn call(arguments: &[&str], spawn: &Spawn) -> String {
    let mut agent = None;
    let mut written: Vec<String> = Vec::new();
    for argument in arguments {
        let bare = argument.trim_start();
        let space = &argument[..argument.len() - bare.len()];
        if let Some(value) = bare.strip_prefix("subagent_type=") {
            agent = Some(value.trim_end_matches(',').trim_matches('"').to_owned());
            if let Some(key) = &spawn.agent {
                written.push(format!("{space}{key}={value}"));
            }
            if let Some(always) = &spawn.always {
                let call = written.pop().unwrap_or_default();
                let (agent, comma) = call.strip_suffix(',').map_or((call.as_str(), ""), |agent| (agent, ","));
                written.push(format!("{agent}, {always}{comma}"));
            }
        } else if let Some(value) = bare.strip_prefix("prompt=") {
            written.push(format!("{space}{}={value}", spawn.prompt));
        } else {
            written.push((*argument).to_owned());
        }
    }
    let name = spawn.call.replace("{agent}", agent.as_deref().unwrap_or("{agent}"));
    format!("{name}({})", written.concat().trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "x Task(subagent_type=\"gsd-a\", model={m}, prompt=\"\nGo (on), {a, b}\") y MyTask(1) Task(open";

    #[test]
    fn a_call_takes_the_words_of_the_host() {
        let spawn = Spawn {
            call: "spawn_agent".into(),
            agent: Some("agent_type".into()),
            prompt: "message".into(),
            always: None,
        };
        let expected =
            "x spawn_agent(agent_type=\"gsd-a\", model={m}, message=\"\nGo (on), {a, b}\") y MyTask(1) Task(open";
        assert_eq!(rewrite(TEXT, &spawn), expected);
    }

    #[test]
    fn an_agent_may_be_a_tool_of_its_own() {
        let spawn = Spawn { call: "{agent}".into(), agent: None, prompt: "query".into(), always: None };
        assert_eq!(rewrite(TEXT, &spawn), "x gsd-a(model={m}, query=\"\nGo (on), {a, b}\") y MyTask(1) Task(open");
    }

    #[test]
    fn what_every_call_needs_stands_beside_the_agent() {
        let spawn = Spawn { always: Some("alone=true".into()), ..Spawn::default() };
        let expected = "x Task(subagent_type=\"gsd-a\", alone=true, model={m}, prompt=\"\nGo (on), {a, b}\") y MyTask(1) Task(open";
        assert_eq!(rewrite(TEXT, &spawn), expected);
    }

    #[test]
    fn the_canonical_words_stay() {
        assert_eq!(rewrite(TEXT, &Spawn::default()), TEXT);
    }
}
