//! The Agent Client Protocol: JSON-RPC, one message per line, in which this program has the role of the editor. It
//! opens a session, sends the prompt, answers requests for permission, and treats the answer to the prompt as the end.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::dialect::Read;
use super::look::{
    Input, Keys, SNAKE, amount, first_of, flag, list, owned, session_tokens, status_in, text, tool_call,
};
use crate::auto::runner::event::{ClientEvent, MoneyUnit, ToolState, UsageScope};

const INITIALIZE: u64 = 1;
const SESSION: u64 = 2;
const PROMPT: u64 = 3;

/// The version of the protocol.
const VERSION: u32 = 1;

/// The JSON-RPC code for an unknown method.
const NO_METHOD: i64 = -32601;

const KEYS: Keys =
    Keys { input: "/inputTokens", output: "/outputTokens", read: "/cachedReadTokens", written: "/cachedWriteTokens" };

/// The parameters for opening a session.
#[derive(Clone, Debug, Default)]
pub(crate) struct Opening {
    pub(crate) folder: String,
    pub(crate) prompt: String,
    /// The session to continue.
    pub(crate) resume: Option<String>,
    pub(crate) answers: Permission,
}

/// What the agent may do when it asks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Permission {
    /// Everything.
    Everything,
    /// Read, search and edit; run these commands.
    Edits(Vec<String>),
    /// Nothing that makes changes.
    #[default]
    Nothing,
}

#[derive(Debug)]
pub(super) struct Conversation {
    opening: Opening,
    session: Option<String>,
    /// The messages to send.
    outgoing: Vec<Vec<u8>>,
    /// The names of tools by the id of their call, and whether they have ended.
    tools: BTreeMap<String, (String, bool)>,
    /// Whether the last update was a piece of an answer of the model.
    speaks: bool,
    is_prompted: bool,
}

/// The version in the head of each message.
const RPC: &str = "2.0";

impl Conversation {
    pub(super) fn new(opening: Opening) -> Self {
        let mut new = Self {
            opening,
            session: None,
            outgoing: Vec::new(),
            tools: BTreeMap::new(),
            speaks: false,
            is_prompted: false,
        };
        // It has no capabilities: the agent reads and writes files itself, inside the fence.
        let params = json!({"protocolVersion": VERSION, "clientCapabilities": {}});
        new.request(INITIALIZE, "initialize", &params);
        new
    }

    fn send(&mut self, message: &Value) {
        self.outgoing.push(format!("{message}\n").into_bytes());
    }

    fn request(&mut self, id: u64, method: &str, params: &Value) {
        self.send(&json!({"jsonrpc": RPC, "id": id, "method": method, "params": params}));
    }

    fn answered(&mut self, id: u64, result: &Value, events: &mut Vec<ClientEvent>) {
        let folder = self.opening.folder.clone();
        match id {
            INITIALIZE => {
                let can_load = flag(result, "/agentCapabilities/loadSession") == Some(true);
                if let Some(session) = self.opening.resume.clone().filter(|_| can_load) {
                    let params = json!({"sessionId": session, "cwd": folder, "mcpServers": []});
                    self.request(SESSION, "session/load", &params);
                    self.session = Some(session);
                } else {
                    let params = json!({"cwd": folder, "mcpServers": []});
                    self.request(SESSION, "session/new", &params);
                }
            }
            SESSION => {
                let session = owned(result, "/sessionId").or_else(|| self.session.clone()).unwrap_or_default();
                let model = owned(result, "/models/currentModelId");
                events.push(ClientEvent::Started { session: Some(session.clone()), model, purse: None });
                let prompt = json!([{"type": "text", "text": self.opening.prompt}]);
                let params = json!({"sessionId": session, "prompt": prompt});
                self.request(PROMPT, "session/prompt", &params);
                self.session = Some(session);
                self.is_prompted = true;
            }
            PROMPT => Self::end(result, events),
            _ => {}
        }
    }

    fn end(result: &Value, events: &mut Vec<ClientEvent>) {
        let counted = session_tokens(result.get("usage"), &KEYS, Input::Whole);
        let note = || result.pointer("/_meta/quota/token_count");
        events.extend(counted.or_else(|| session_tokens(note(), &SNAKE, Input::Whole)));
        let reason = text(result, "/stopReason").unwrap_or_default();
        events.push(if reason == "end_turn" {
            ClientEvent::success()
        } else {
            let kind = match reason {
                "max_turn_requests" => "turn limit",
                other => other,
            };
            let said = format!("the agent stopped: {reason}");
            ClientEvent::failure(None, Some(kind.to_owned()), said)
        });
    }

    fn failed(error: &Value, events: &mut Vec<ClientEvent>) {
        let said = first_of(error, &["/data/message", "/data/details", "/message"]).unwrap_or_default();
        let is_login = error.get("code").and_then(Value::as_i64) == Some(-32000);
        let kind = if is_login { Some("authentication".to_owned()) } else { owned(error, "/data/errorName") };
        let status = status_in(&said);
        events.push(ClientEvent::failure(status, kind, said));
    }

    fn update(&mut self, update: &Value, events: &mut Vec<ClientEvent>) {
        match text(update, "/sessionUpdate") {
            Some("agent_message_chunk" | "agent_thought_chunk") => {
                self.speak(events);
                let is_message = text(update, "/sessionUpdate") == Some("agent_message_chunk");
                let said = owned(update, "/content/text").filter(|_| is_message);
                events.extend(said.map(|text| ClientEvent::Text { text }));
            }
            Some("tool_call") => {
                self.tool_start(update, events);
                self.tool_end(update, events);
            }
            Some("tool_call_update") => self.tool_end(update, events),
            Some("usage_update") => events.extend(amount(update, "/cost/amount").map(|amount| ClientEvent::Money {
                scope: UsageScope::Session,
                amount,
                unit: if text(update, "/cost/currency") == Some("USD") {
                    MoneyUnit::Dollars
                } else {
                    MoneyUnit::Credits
                },
            })),
            _ => {}
        }
    }

    fn speak(&mut self, events: &mut Vec<ClientEvent>) {
        if !std::mem::replace(&mut self.speaks, true) {
            events.push(ClientEvent::ModelCall);
        }
    }

    /// Records a tool call. Some agents first report it when they ask for permission, or when it has ended.
    fn tool_start(&mut self, call: &Value, events: &mut Vec<ClientEvent>) {
        let id = owned(call, "/toolCallId");
        if id.as_ref().is_some_and(|id| self.tools.contains_key(id)) {
            return;
        }
        self.speak(events);
        let name = first_of(call, &["/title", "/kind"]).unwrap_or_else(|| "tool".to_owned());
        if let Some(id) = &id {
            self.tools.insert(id.clone(), (name.clone(), false));
        }
        tool_call(id, &name, call.get("rawInput"), events);
    }

    fn tool_end(&mut self, update: &Value, events: &mut Vec<ClientEvent>) {
        let state = match text(update, "/status") {
            Some("completed") => ToolState::Finished,
            Some("failed") => ToolState::Failed,
            _ => return,
        };
        self.tool_start(update, events);
        self.speaks = false;
        let id = owned(update, "/toolCallId");
        let call = id.as_ref().and_then(|id| self.tools.get_mut(id));
        let (name, has_ended) = call.map_or_else(
            || ("tool".to_owned(), false),
            |(name, has_ended)| (name.clone(), std::mem::replace(has_ended, true)),
        );
        if !has_ended {
            events.push(ClientEvent::Tool { id, name, state });
        }
    }

    /// Answers whether a tool may run.
    fn permit(&mut self, id: &Value, params: &Value, events: &mut Vec<ClientEvent>) {
        let is_allowed = self.opening.answers.allow(params);
        let wanted: &[&str] =
            if is_allowed { &["allow_always", "allow_once"] } else { &["reject_once", "reject_always"] };
        let option = wanted.iter().find_map(|kind| {
            let mut options = list(params, "/options");
            options.find(|option| text(option, "/kind") == Some(kind))?.get("optionId")
        });
        let call = params.get("toolCall").unwrap_or(&Value::Null);
        self.tool_start(call, events);
        if !is_allowed {
            let name = first_of(params, &["/toolCall/title", "/toolCall/kind"]).unwrap_or_else(|| "tool".to_owned());
            events.push(ClientEvent::Tool {
                id: owned(params, "/toolCall/toolCallId"),
                name,
                state: ToolState::Denied,
            });
        }
        let outcome = match option {
            Some(option) => json!({"outcome": "selected", "optionId": option}),
            None => json!({"outcome": "cancelled"}),
        };
        self.send(&json!({"jsonrpc": RPC, "id": id, "result": {"outcome": outcome}}));
    }
}

impl Permission {
    fn allow(&self, params: &Value) -> bool {
        let kind = text(params, "/toolCall/kind").unwrap_or("other");
        let is_reading = matches!(kind, "read" | "search" | "think");
        match self {
            Self::Everything => true,
            Self::Nothing => is_reading,
            Self::Edits(commands) => match kind {
                "edit" | "move" | "delete" => true,
                "execute" => {
                    let command = first_of(params, &["/toolCall/rawInput/command", "/toolCall/title"]);
                    command.is_some_and(|command| is_one_of(&command, commands))
                }
                _ => is_reading,
            },
        }
    }
}

/// True if a line is one of the commands with further words, and contains no other command.
fn is_one_of(line: &str, commands: &[String]) -> bool {
    let is_plain = !line.contains(['\n', ';', '&', '|', '`', '$', '<', '>', '(', ')']);
    let begins = |command: &String| {
        line.trim().strip_prefix(command.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    let is_whole = commands.iter().any(|command| command == line.trim());
    is_whole || (is_plain && commands.iter().filter(|command| !command.is_empty()).any(begins))
}

impl Read for Conversation {
    fn line(&mut self, line: &Value, events: &mut Vec<ClientEvent>) {
        let none = Value::Null;
        let params = line.get("params").unwrap_or(&none);
        match (text(line, "/method"), line.get("id")) {
            (Some("session/update"), _) if self.is_prompted => {
                self.update(params.get("update").unwrap_or(&none), events);
            }
            (Some("session/request_permission"), Some(id)) => self.permit(id, params, events),
            (Some(_), Some(id)) => {
                let error = json!({"code": NO_METHOD, "message": "this client has no such method"});
                self.send(&json!({"jsonrpc": RPC, "id": id, "error": error}));
            }
            (Some(_) | None, None) => {}
            (None, Some(id)) => match (line.get("error"), line.get("result"), id.as_u64()) {
                (Some(error), _, _) => Self::failed(error, events),
                (None, result, Some(id)) => self.answered(id, result.unwrap_or(&none), events),
                _ => {}
            },
        }
    }

    fn answers(&mut self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.outgoing)
    }

    fn cancel(&mut self) -> Vec<Vec<u8>> {
        if let Some(session) = self.session.clone().filter(|_| self.is_prompted) {
            let params = json!({"sessionId": session});
            self.send(&json!({"jsonrpc": RPC, "method": "session/cancel", "params": params}));
        }
        self.answers()
    }
}
