//! Messages to a person about transitions of a run: what each says, and what keeps them from being sent. They are recorded before they are sent, so that
//! none is sent twice.

use super::ceilings::{Ceilings, Spend};
use super::event::{Event, Run, RunMessage};
use super::hold::Hold;
use super::stop::{Cause, Stop};
use crate::failure::Failure;
use crate::gate::check::Check;
use crate::gate::secrets;
use crate::project::milestone_layout::messages::{MessageSettings, MessageTopic as Topic};
use crate::project::milestone_layout::preferences::PreferenceSource;
use crate::text::shell::Typed;
use crate::text::time;
use crate::text::untrusted;

/// A shorter wait is not worth a message.
const SHORTEST_WAIT: i64 = 60_000;

/// The most letters of a message.
const LETTERS: usize = 300;

/// Returns the message about an entry of the log; `None` for most. `hold` is the wait before it.
pub(crate) fn about(run: &Run, event: &Event, hold: Option<&Hold>) -> Option<RunMessage> {
    let milestone = match run.expected.as_ref().and_then(|expected| expected.title.as_deref()) {
        Some(title) if title != run.milestone => format!("{} {title}", run.milestone),
        _ => run.milestone.clone(),
    };
    let is_long = |hold: &Hold| hold.end().wall - hold.since.wall >= SHORTEST_WAIT;
    let watch = || Typed::from("gsd-tools auto watch");
    Some(match event {
        Event::Landed { commit, .. } => {
            let short = commit.get(..7).unwrap_or(commit);
            let text = format!("{milestone} landed on {} as {short}", run.target);
            RunMessage::new(Topic::Landed, &text, "gsd-tools auto report")
        }
        Event::Stopped(stop) => {
            let topic = topic_of(stop)?;
            let what = if topic == Topic::NeedsYou { "needs you" } else { "stopped" };
            RunMessage::new(topic, &format!("{milestone} {what}: {}", stop.text), stop.next.clone())
        }
        Event::Held { why, .. } => {
            let until = time::in_words(hold.filter(|hold| is_long(hold))?.end().wall)?;
            RunMessage::new(Topic::Waiting, &format!("{milestone} waits until {until}: {why}"), watch())
        }
        Event::HoldEnded => {
            hold.filter(|hold| is_long(hold))?;
            RunMessage::new(Topic::Resumed, &format!("{milestone} continues after its wait"), watch())
        }
        _ => return None,
    })
}

/// The topic of a stop; `None` for one that the person at the terminal asked for, or that landed.
fn topic_of(stop: &Stop) -> Option<Topic> {
    match (stop.cause, stop.cause.code()) {
        (Cause::Complete | Cause::UnitsDone | Cause::Detached | Cause::NotWanted, _) => None,
        (_, 10 | 12) => Some(Topic::NeedsYou),
        _ => Some(Topic::Stopped),
    }
}

/// Returns the message about four fifths of a ceiling, if the run has used them.
pub(crate) fn about_ceiling(run: &Run, ceilings: &Ceilings, spent: &Spend) -> Option<RunMessage> {
    let most = ceilings.most_sessions(run.forecast);
    let used = spent.money.unwrap_or_default();
    let text = if ceilings.money > 0.0 && used >= ceilings.money * 0.8 {
        format!("${used:.2} of ${:.2}", ceilings.money)
    } else if u64::from(spent.sessions) * 5 >= u64::from(most) * 4 {
        format!("{} of {most} sessions", spent.sessions)
    } else {
        return None;
    };
    let text = format!("{} has used {text}: it stops at that ceiling", run.milestone);
    Some(RunMessage::new(Topic::Ceiling, &text, "gsd-tools auto watch"))
}

/// Returns the message about a failure that ends a run.
pub(crate) fn about_failure(run: &Run, failure: &Failure) -> RunMessage {
    RunMessage::new(Topic::Stopped, &format!("{} stopped: {failure}", run.milestone), "gsd-tools auto run")
}

/// The words of a command that are filled in, and what stands for each while its line is read.
const FILLED: [(&str, &str); 4] =
    [("{topic}", "GSD-TOPIC-"), ("{project}", "GSD-PROJECT-"), ("{text}", "GSD-TEXT-"), ("{next}", "GSD-NEXT-")];

/// Reads the command for messages, and fills in these values: each stays inside of its argument.
pub(crate) fn command_of(line: &str, values: &[(&str, &str)]) -> Result<(Check, Vec<String>), String> {
    let line = FILLED.iter().fold(line.to_owned(), |line, (name, token)| line.replace(name, token));
    let check = Check::parse(&line).map_err(|refused| {
        let text = refused.to_string().replacen("is not run as a check", "is not run", 1);
        FILLED.iter().fold(text, |text, (name, token)| text.replace(token, name))
    })?;
    let filled = |word: &String| {
        let known = FILLED.iter().filter_map(|(name, token)| {
            let (_, value) = values.iter().find(|(key, _)| key == name)?;
            Some((*token, *value))
        });
        filled_in(word, &known.collect::<Vec<_>>())
    };
    let arguments = check.arguments().iter().map(filled).collect();
    Ok((check, arguments))
}

/// Fills in tokens from left to right, so that a value with the letters of a token stays as it is.
fn filled_in(word: &str, values: &[(&str, &str)]) -> String {
    let found = values.iter().filter_map(|(token, value)| Some((word.find(token)?, *token, *value)));
    match found.min() {
        Some((at, token, value)) => {
            let (before, rest) = word.split_at(at);
            format!("{before}{value}{}", filled_in(rest.strip_prefix(token).unwrap_or_default(), values))
        }
        None => word.to_owned(),
    }
}

/// Returns why messages could not be sent as they are set up, one line each.
pub(crate) fn unmet(settings: &MessageSettings) -> Vec<String> {
    let at = |source: PreferenceSource, line: usize, what: &str| format!("`{}` line {line}: {what}", source.file());
    let problems = settings.problems.iter().map(|problem| at(problem.source, problem.line, &problem.what));
    let command = settings.command.as_ref().and_then(|command| {
        let what = command_of(&command.text, &[]).err()?;
        Some(at(command.source, command.line, &format!("in `messages.command`: {what}")))
    });
    let addresses = [("messages.webhook", &settings.webhook), ("messages.ntfy", &settings.ntfy)];
    let addresses = addresses.into_iter().filter_map(|(key, address)| {
        let address = address.as_ref()?;
        let is_one = ["https://", "http://"].iter().any(|start| address.url.starts_with(start));
        let is_one = is_one && !address.url.chars().any(|letter| letter.is_control() || letter.is_whitespace());
        let what = format!("`{key}` is not an address that begins with `https://` or `http://`");
        (!is_one).then(|| at(PreferenceSource::Global, address.line, &what))
    });
    problems.chain(command).chain(addresses).collect()
}

impl RunMessage {
    /// A message. Text from documents is put on one line, without what hides or moves text; one with what looks like a
    /// key is left out.
    fn new(topic: Topic, text: &str, next: impl Into<Typed>) -> Self {
        let text = if secrets::holds_key(text.as_bytes()) {
            let what = text.split(": ").next().filter(|first| !secrets::holds_key(first.as_bytes()));
            format!("{}: the rest is left out, since it has what looks like a key", what.unwrap_or("a run"))
        } else {
            text.to_owned()
        };
        let next: Typed = next.into();
        let next =
            if secrets::holds_key(next.as_str().as_bytes()) { Typed::from("gsd-tools auto status") } else { next };
        Self { topic, text: untrusted::line(&text, LETTERS), next }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_stays_inside_of_its_argument() {
        let values =
            [("{text}", "M001 needs you: `rm -rf ~`; $HOME {next} GSD-NEXT- \"x\""), ("{next}", "gsd-tools auto run")];
        let (check, arguments) = command_of("notify --title 'a {topic}' {text} {next}!", &values).unwrap();
        assert_eq!(check.program(), "notify");
        assert_eq!(arguments, ["--title", "a GSD-TOPIC-", values[0].1, "gsd-tools auto run!"]);
        let refused = command_of("notify {text} | tee x", &[]).unwrap_err();
        assert!(refused.contains("{text}") && !refused.contains("GSD-TEXT-"), "{refused}");
    }

    #[test]
    fn a_text_with_what_looks_like_a_key_is_cut_off_before_it() {
        let message =
            RunMessage::new(Topic::NeedsYou, "M001 needs you: use ghp_0123456789abcdefABCDEF0123456789abcd", "x");
        assert_eq!(message.text, "M001 needs you: the rest is left out, since it has what looks like a key");
        let message = RunMessage::new(Topic::NeedsYou, "M001 needs you:\n\u{1b}[2J\u{202e}red", "x");
        assert_eq!(message.text, "M001 needs you:  [2Jred");
    }
}
