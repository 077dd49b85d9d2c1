//! `Task(subagent_type="x", prompt="…")` in the words of a host.

use crate::runtime::Spawn;

/// Rewrites the spawn calls of a text in the host's words. An unclosed call is left unchanged. `role` returns the first
/// words of an agent's prompt if the host does not know our agents.
pub(super) fn rewrite(text: &str, spawn: &Spawn, role: &dyn Fn(&str) -> Option<String>) -> String {
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
        result.push_str(&call(&arguments, spawn, role));
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

fn call(arguments: &[&str], spawn: &Spawn, role: &dyn Fn(&str) -> Option<String>) -> String {
    let agent = arguments.iter().find_map(|argument| argument.trim_start().strip_prefix("subagent_type="));
    let agent = agent.map(|value| value.trim_end_matches(',').trim_matches('"'));
    let mut written: Vec<String> = Vec::new();
    for argument in arguments {
        let bare = argument.trim_start();
        let space = &argument[..argument.len() - bare.len()];
        if let Some(value) = bare.strip_prefix("subagent_type=") {
            let (value, comma) = value.strip_suffix(',').map_or((value, ""), |value| (value, ","));
            let named = spawn.agent.as_ref().map(|key| format!("{key}={value}"));
            let words: Vec<String> = named.into_iter().chain(spawn.always.clone()).collect();
            if !words.is_empty() {
                written.push(format!("{space}{}{comma}", words.join(", ")));
            }
        } else if let Some(value) = bare.strip_prefix("prompt=") {
            let begin = agent.and_then(role);
            let value = begin.map_or_else(|| value.to_owned(), |begin| beginning_with(&begin, value));
            written.push(format!("{space}{}={value}", spawn.prompt));
        } else if let Some(argument) = other(bare, spawn) {
            written.push(format!("{space}{argument}"));
        }
    }
    if spawn.is_line() {
        let prompt =
            written.iter().find_map(|argument| argument.trim_start().strip_prefix(&format!("{}=", spawn.prompt)));
        return spawn.call.replace("{prompt}", prompt.unwrap_or("\"\""));
    }
    let agent = agent.unwrap_or("{agent}");
    let name = spawn.call.replace("{agent}", agent).replace("{agent_}", &agent.replace('-', "_"));
    format!("{name}({})", written.concat().trim_start())
}

/// Another argument in the host's words; `None` if its tool has no such parameter. A placeholder stays.
fn other(argument: &str, spawn: &Spawn) -> Option<String> {
    let (Some(names), Some((name, value))) = (&spawn.arguments, argument.split_once('=')) else {
        return Some(argument.to_owned());
    };
    Some(format!("{}={value}", names.get(name)?))
}

/// A prompt, quoted or the name of one, that begins with these words; on a separate line if the prompt has lines.
fn beginning_with(words: &str, prompt: &str) -> String {
    let Some(quoted) = prompt.strip_prefix('"') else { return format!("\"{words} \" + {prompt}") };
    match quoted.strip_prefix('\n') {
        Some(lines) => {
            let indentation = &lines[..lines.len() - lines.trim_start_matches(' ').len()];
            format!("\"\n{indentation}{words}\n{lines}")
        }
        None => format!("\"{words} {quoted}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "x Task(subagent_type=\"gsd-a\", model={m}, prompt=\"\nGo (on), {a, b}\") y MyTask(1) Task(open";

    fn rewritten(text: &str, spawn: &Spawn) -> String {
        rewrite(text, spawn, &|agent| spawn.role.as_ref().map(|role| role.replace("{file}", agent)))
    }

    #[test]
    fn a_call_takes_the_words_of_the_host() {
        let spawn = Spawn {
            call: "spawn_agent".into(),
            agent: Some("agent_type".into()),
            prompt: "message".into(),
            ..Spawn::default()
        };
        let expected =
            "x spawn_agent(agent_type=\"gsd-a\", model={m}, message=\"\nGo (on), {a, b}\") y MyTask(1) Task(open";
        assert_eq!(rewritten(TEXT, &spawn), expected);
    }

    #[test]
    fn an_agent_may_be_a_separate_tool() {
        let spawn = Spawn { call: "{agent}".into(), agent: None, prompt: "query".into(), ..Spawn::default() };
        assert_eq!(rewritten(TEXT, &spawn), "x gsd-a(model={m}, query=\"\nGo (on), {a, b}\") y MyTask(1) Task(open");
        let spawn = Spawn { call: "sub_{agent_}".into(), ..spawn };
        assert!(rewritten(TEXT, &spawn).starts_with("x sub_gsd_a(model={m}, query="));
    }

    #[test]
    fn an_agent_may_be_started_by_a_shell_line() {
        let spawn = Spawn {
            call: "run -p {prompt}".into(),
            agent: None,
            role: Some("Read {file}.".into()),
            ..Spawn::default()
        };
        let expected = "x run -p \"\nRead gsd-a.\nGo (on), {a, b}\" y MyTask(1) Task(open";
        assert_eq!(rewritten(TEXT, &spawn), expected);
    }

    #[test]
    fn required_arguments_are_next_to_the_agent_or_replace_it() {
        let spawn = Spawn { always: Some("alone=true".into()), ..Spawn::default() };
        let expected = "x Task(subagent_type=\"gsd-a\", alone=true, model={m}, prompt=\"\nGo (on), {a, b}\") y MyTask(1) Task(open";
        assert_eq!(rewritten(TEXT, &spawn), expected);
        let nameless = Spawn { agent: None, ..spawn };
        let expected = "x Task(alone=true, model={m}, prompt=\"\nGo (on), {a, b}\") y MyTask(1) Task(open";
        assert_eq!(rewritten(TEXT, &nameless), expected);
    }

    #[test]
    fn arguments_without_a_parameter_of_the_tool_are_left_out() {
        let with = |arguments: &[(&str, &str)]| {
            let arguments = arguments.iter().map(|(name, own)| ((*name).to_owned(), (*own).to_owned())).collect();
            let spawn = Spawn { arguments: Some(arguments), ..Spawn::default() };
            let text = "Task(subagent_type=\"gsd-a\", model={m}, {argument}, description=\"Do a, b\", prompt=\"Go\")";
            rewritten(text, &spawn)
        };
        assert_eq!(with(&[]), "Task(subagent_type=\"gsd-a\", {argument}, prompt=\"Go\")");
        assert_eq!(
            with(&[("description", "title")]),
            "Task(subagent_type=\"gsd-a\", {argument}, title=\"Do a, b\", prompt=\"Go\")"
        );
    }

    #[test]
    fn a_prompt_begins_with_the_role_if_agents_are_texts() {
        let spawn = Spawn { agent: None, role: Some("Read {file}.".into()), ..Spawn::default() };
        let call = |prompt: &str| rewritten(&format!("Task(subagent_type=\"gsd-a\", prompt={prompt})"), &spawn);
        assert_eq!(call("\"\n   Go\n   on\""), "Task(prompt=\"\n   Read gsd-a.\n   Go\n   on\")");
        assert_eq!(call("\"Go\""), "Task(prompt=\"Read gsd-a. Go\")");
        assert_eq!(call("errand"), "Task(prompt=\"Read gsd-a. \" + errand)");
    }

    #[test]
    fn the_canonical_words_stay() {
        assert_eq!(rewritten(TEXT, &Spawn::default()), TEXT);
    }
}
