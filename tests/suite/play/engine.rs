//! The model of a play: each conversation is an actor with its own script, on its own thread.
//!
//! A request of a client belongs to the conversation that began with the same words. Its actor receives the content of
//! the request and returns the model's answer. A play that fails ends: every later request is answered with a farewell.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::clients::server::{Part, Reply, Request};

use super::heard::Heard;
use super::script::flat;

/// How long an actor may think, and how long it waits for its client.
const PATIENCE: Duration = Duration::from_secs(240);
const FAREWELL: &str = "All done.";

/// The conversations of a play.
#[derive(Debug, Default)]
pub(crate) struct Engine {
    conversations: Mutex<Vec<Arc<Conversation>>>,
    journal: Mutex<Journal>,
}

/// What happened, in order, and why the play failed if it did.
#[derive(Debug, Default)]
struct Journal {
    lines: Vec<String>,
    failure: Option<String>,
}

#[derive(Debug)]
struct Conversation {
    /// Words of its first message; `None` for the conversation that a person began.
    begins_with: Option<String>,
    line: Mutex<Line>,
}

/// The line between the client and the actor.
#[derive(Debug)]
struct Line {
    to_actor: Option<Sender<Heard>>,
    from_actor: Receiver<Reply>,
    begun: bool,
    answered: Option<(usize, Reply)>,
}

/// The actor's end of the line.
#[derive(Debug)]
pub(crate) struct Voice {
    hears: Receiver<Heard>,
    speaks: Sender<Reply>,
}

impl Engine {
    /// Adds a conversation that will begin with these words; the last one expected is matched first.
    pub(crate) fn expect_conversation(&self, begins_with: Option<&str>) -> Voice {
        let (to_actor, hears) = channel();
        let (speaks, from_actor) = channel();
        let line = Line { to_actor: Some(to_actor), from_actor, begun: false, answered: None };
        let begins_with = begins_with.map(flat);
        self.conversations.lock().unwrap().push(Arc::new(Conversation { begins_with, line: Mutex::new(line) }));
        Voice { hears, speaks }
    }

    pub(crate) fn note(&self, line: String) {
        self.journal.lock().unwrap().lines.push(line);
    }

    /// Records a failure. Only the first one counts; all conversations end.
    pub(crate) fn fail(&self, reason: String) {
        let mut journal = self.journal.lock().unwrap();
        journal.lines.push(format!("FAILED {reason}"));
        journal.failure.get_or_insert(reason);
        drop(journal);
        self.end_conversations();
    }

    pub(crate) fn failure(&self) -> Option<String> {
        self.journal.lock().unwrap().failure.clone()
    }

    pub(crate) fn journal(&self) -> String {
        self.journal.lock().unwrap().lines.join("\n")
    }

    /// Forgets the conversations; every actor that waits in one of them stops waiting.
    pub(crate) fn end_conversations(&self) {
        self.conversations.lock().unwrap().clear();
    }

    fn conversation_of(&self, heard: &Heard) -> Option<Arc<Conversation>> {
        let opening = flat(&heard.opening);
        let conversations = self.conversations.lock().unwrap();
        let mut fitting: Vec<_> = conversations
            .iter()
            .rev()
            .filter(|conversation| conversation.begins_with.as_ref().is_none_or(|words| opening.contains(words)))
            .filter(|conversation| {
                // A busy line belongs to a conversation that has begun.
                let begun = conversation.line.try_lock().is_ok_and(|line| line.begun);
                (heard.said == 0) != begun
            })
            .cloned()
            .collect();
        fitting.sort_by_key(|conversation| std::cmp::Reverse(conversation.begins_with.as_ref().map_or(0, String::len)));
        fitting.into_iter().next()
    }
}

impl Part for Engine {
    fn reply(&self, request: &Request) -> Reply {
        let farewell = || Reply::Say(FAREWELL.to_owned());
        let Some(heard) = Heard::of(request) else { return farewell() };
        let Some(conversation) = self.conversation_of(&heard) else {
            let begin: String =
                flat(&heard.opening).chars().rev().take(120).collect::<Vec<_>>().into_iter().rev().collect();
            self.note(format!("a request of no conversation, after {} answers: ...{begin}", heard.said));
            return farewell();
        };
        let said = heard.said;
        let mut line = conversation.line.lock().unwrap();
        // A client that lost the answer sends the same request again.
        if let Some((before, reply)) = &line.answered
            && *before >= said
            && said > 0
        {
            return reply.clone();
        }
        line.begun = true;
        let Some(to_actor) = &line.to_actor else { return farewell() };
        if to_actor.send(heard).is_err() {
            return farewell();
        }
        match line.from_actor.recv_timeout(PATIENCE) {
            Ok(reply) => {
                line.answered = Some((said, reply.clone()));
                reply
            }
            Err(RecvTimeoutError::Timeout) => {
                self.fail("an actor gave no answer in time".to_owned());
                farewell()
            }
            Err(RecvTimeoutError::Disconnected) => farewell(),
        }
    }
}

impl Voice {
    /// The client's next request; `None` when the play is over.
    pub(crate) fn hear(&self) -> Option<Heard> {
        self.hears.recv_timeout(PATIENCE).ok()
    }

    pub(crate) fn speak(&self, reply: Reply) {
        // The receiver is gone when the play is over; the next `hear` returns `None`.
        let _ = self.speaks.send(reply);
    }
}
