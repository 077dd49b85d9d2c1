//! Sends messages to a person. Each channel has a thread and a time limit, so that none holds up the run.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use serde::Serialize;

use super::Real;
use crate::auto::brought::APPROVED;
use crate::auto::engine::{EngineError, TO_ARRIVE};
use crate::auto::event::{MessageDelivery, RunMessage, SentMessage};
use crate::auto::messages::command_of;
use crate::disk::{AbsolutePath, DiskError, Scratch};
use crate::project::milestone_layout::messages::{MessageChannel, MessageCommand, MessageTopic};
use crate::project::milestone_layout::preferences::PreferenceSource;
use crate::text::shell::Typed;
use crate::text::untrusted;
use crate::world::{Program, World};

/// The messages that are being sent.
#[derive(Debug)]
pub(super) struct Mail {
    sender: Sender<MessageDelivery>,
    receiver: Receiver<MessageDelivery>,
    outstanding: usize,
}

impl Default for Mail {
    fn default() -> Self {
        let (sender, receiver) = channel();
        Self { sender, receiver, outstanding: 0 }
    }
}

/// What a command and a webhook get.
#[derive(Serialize)]
struct MessageBody<'a> {
    topic: MessageTopic,
    project: &'a str,
    run: &'a str,
    text: &'a str,
    next: &'a Typed,
}

/// How a message is sent, apart from control sequences for the terminal.
enum Sending {
    /// With the folder for its temporary files.
    Command(Box<Program>, Option<Scratch>),
    Post {
        url: String,
        headers: Vec<(&'static str, String)>,
        text: String,
    },
}

/// The most letters of what a channel says about a failure.
const LETTERS: usize = 200;

impl Real<'_> {
    /// Returns the channels that want messages about a topic, apart from those that need a terminal that is not there.
    pub(super) fn channels_of(&self, topic: MessageTopic) -> Vec<MessageChannel> {
        if !self.messages.wants(topic) {
            return Vec::new();
        }
        let has_terminal = self.world.terminal().stderr;
        self.messages.channels().into_iter().filter(|channel| has_terminal || !channel.needs_a_terminal()).collect()
    }

    pub(super) fn begin_to_send(&mut self, sent: &SentMessage) {
        for channel in &sent.channels {
            self.mail.outstanding += 1;
            let (number, channel) = (sent.number, *channel);
            let done = move |problem: Option<String>| MessageDelivery { number, channel, problem };
            let sender = self.mail.sender.clone();
            let signal = match channel {
                MessageChannel::Bell => Some("\x07".to_owned()),
                MessageChannel::Terminal => Some(notification(self.world, &self.project(), &sent.message.text)),
                _ => None,
            };
            if let Some(signal) = signal {
                (self.parts.signal)(&signal);
                let _ = sender.send(done(None));
                continue;
            }
            match self.sending(channel, &sent.message) {
                Ok(sending) => {
                    let world = self.world.clone();
                    // The receiver is gone only when the run is.
                    std::thread::spawn(move || drop(sender.send(done(carry_out(&world, sending).err()))));
                }
                Err(why) => drop(sender.send(done(Some(why)))),
            }
        }
    }

    /// Waits up to this long for messages that are being sent; returns the outcomes.
    pub(super) fn deliveries_within(&mut self, patience: Duration) -> Vec<MessageDelivery> {
        let until = Instant::now() + patience;
        let mut found = Vec::new();
        while self.mail.outstanding > 0 {
            let rest = until.saturating_duration_since(Instant::now());
            let Ok(delivery) = self.mail.receiver.recv_timeout(rest) else { break };
            self.mail.outstanding -= 1;
            found.push(delivery);
        }
        found
    }

    fn project(&self) -> String {
        untrusted::line(&self.repository.root().name(), 60)
    }

    fn sending(&self, channel: MessageChannel, message: &RunMessage) -> Result<Sending, String> {
        let project = self.project();
        let RunMessage { topic, text, next } = message;
        let body = MessageBody { topic: *topic, project: &project, run: &self.run, text, next };
        let json = serde_json::to_string(&body).map_err(|error| error.to_string())?;
        let title = format!("{project}: {}", topic.word());
        let end = if text.ends_with(['.', '?', '!']) { "" } else { "." };
        let with_next = format!("{text}{end} Next: {}", next.as_str());
        match channel {
            MessageChannel::Command => {
                let command = self.messages.command.as_ref().ok_or("it is not set up")?;
                let values =
                    [("{topic}", topic.word()), ("{project}", &project), ("{text}", text), ("{next}", next.as_str())];
                self.command(command, &values, json).map_err(|error| crate::failure::Failure::from(error).to_string())
            }
            MessageChannel::Desktop => {
                let program = match std::env::consts::OS {
                    "linux" => {
                        Program::new("notify-send").arguments(["--app-name=gsd-tools", "--", &title, &with_next])
                    }
                    "macos" => Program::new("osascript").arguments([
                        "-e",
                        "on run argv",
                        "-e",
                        "display notification (item 2 of argv) with title (item 1 of argv)",
                        "-e",
                        "end run",
                        &title,
                        &with_next,
                    ]),
                    _ => return Err("this system has no program for it that gsd-tools knows; use a command".to_owned()),
                };
                Ok(Sending::Command(Box::new(self.outside_of_project(program)), None))
            }
            MessageChannel::Webhook => {
                let url = self.messages.webhook.as_ref().ok_or("it is not set up")?.url.clone();
                Ok(Sending::Post { url, headers: vec![("Content-Type", "application/json".to_owned())], text: json })
            }
            MessageChannel::Ntfy => {
                let url = self.messages.ntfy.as_ref().ok_or("it is not set up")?.url.clone();
                let headers = vec![("Title", title), ("Content-Type", "text/plain; charset=utf-8".to_owned())];
                Ok(Sending::Post { url, headers, text: with_next })
            }
            MessageChannel::Bell | MessageChannel::Terminal => Err("it is for a terminal".to_owned()),
        }
    }

    /// Returns the program of a message command, whose words `{topic}`, `{project}`, `{text}` and `{next}` are filled
    /// in. One that the project names runs inside the fence of checks.
    fn command(&self, command: &MessageCommand, values: &[(&str, &str)], json: String) -> Result<Sending, EngineError> {
        let (check, arguments) = command_of(&command.text, values).map_err(EngineError::new)?;
        let name = check.program();
        // Users write their own programs as a shell would read them.
        let in_home = name.strip_prefix("~/").zip(self.world.home()).map(|(rest, home)| home.join(rest));
        let named = in_home.map_or_else(|| name.to_owned(), |path| path.display().to_string());
        let mut program = Program::new(named).arguments(arguments);
        for (name, value) in check.variables() {
            program = program.variable(name, value);
        }
        let program = program.stdin(json);
        let inside = |folder: &AbsolutePath| {
            check.folder().map_or_else(|| folder.clone(), |inner| folder.resolve(inner.to_string()))
        };
        if command.source == PreferenceSource::Global {
            let program = self.outside_of_project(program);
            let home = self.world.home().map(AbsolutePath::parse).transpose().map_err(DiskError::from)?;
            let program = home.map_or_else(|| program.clone(), |home| program.clone().folder(inside(&home).as_path()));
            return Ok(Sending::Command(Box::new(program), None));
        }
        let folder = &self.places.worktree;
        let program = program.folder(inside(folder).as_path()).without([APPROVED]);
        let temporary = self.temporary()?;
        let program = match &temporary {
            Some(temporary) => program.fenced(&self.fence_of_checks(folder, temporary.folder())?),
            None => program.detached(),
        };
        Ok(Sending::Command(Box::new(program), temporary))
    }

    /// A program of the user that is unrelated to the project.
    fn outside_of_project(&self, program: Program) -> Program {
        let program = program.without([APPROVED]);
        match self.world.home() {
            Some(home) => program.folder(&home),
            None => program,
        }
    }
}

/// Sends a message, and returns why it did not arrive.
fn carry_out(world: &World, sending: Sending) -> Result<(), String> {
    let shown = |text: String| untrusted::line(text.trim(), LETTERS);
    match sending {
        Sending::Command(program, temporary) => {
            let ended = world.run(&program.timeout(TO_ARRIVE));
            drop(temporary);
            let ended = ended.map_err(|error| shown(error.to_string()))?;
            if ended.success() {
                return Ok(());
            }
            let how = ended.code.map_or_else(|| "it was killed".to_owned(), |code| format!("exit code {code}"));
            let said = shown(ended.error_text());
            Err(if said.is_empty() { how } else { format!("{how}: {said}") })
        }
        Sending::Post { url, headers, text } => {
            let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
            let response = world.post(&url, &headers, &text, TO_ARRIVE).map_err(|error| shown(error.to_string()))?;
            match response.status {
                200..=299 => Ok(()),
                status @ 300..=399 => Err(format!("the server answered {status}, a redirect, which is not followed")),
                status => Err(format!("the server answered {status}")),
            }
        }
    }
}

/// Returns the control sequence with which a terminal is asked for a notification.
fn notification(world: &World, title: &str, text: &str) -> String {
    let plain = |text: &str| text.chars().filter(|letter| !letter.is_control()).collect::<String>();
    let (title, text) = (plain(title).replace(';', ","), plain(text));
    let terminal = world.variable("TERM").unwrap_or_default();
    // Those that know OSC 777 and not OSC 9: VTE, and rxvt with its extension.
    let is_777 = world.is_set("VTE_VERSION") || terminal.starts_with("rxvt");
    let sequence =
        if is_777 { format!("\x1b]777;notify;{title};{text}\x1b\\") } else { format!("\x1b]9;{title}: {text}\x1b\\") };
    if world.is_set("TMUX") {
        // tmux passes on what is wrapped like this, if `allow-passthrough` is on.
        return format!("\x1bPtmux;{}\x1b\\", sequence.replace('\x1b', "\x1b\x1b"));
    }
    sequence
}
