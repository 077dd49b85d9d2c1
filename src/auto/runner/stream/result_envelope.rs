//! `system`, `assistant` and `user` lines, and a final `result`.

use serde_json::{Map, Value};

use super::dialect::{Read, StreamFacts};
use super::look::{
    Input, Keys, SNAKE, Tools, all_text, amount, first_of, flag, is_refusal, list, owned, session_tokens, status, text,
    tokens, wait_seconds,
};
use crate::auto::runner::event::{
    ClientEvent, ClientFailure, Quota, QuotaStatus, Terminal, Tokens, ToolState, UsageScope,
};

/// The keys of the counts by model, which include sub-agents.
const BY_MODEL: Keys = Keys {
    input: "/inputTokens",
    output: "/outputTokens",
    read: "/cacheReadInputTokens",
    written: "/cacheCreationInputTokens",
};

#[derive(Debug)]
pub(super) struct ResultEnvelope {
    facts: StreamFacts,
    /// The answer of the model whose pieces are being read: each piece is a separate line.
    answer: Option<String>,
    tools: Tools,
}

impl ResultEnvelope {
    pub(super) fn new(facts: StreamFacts) -> Self {
        Self { facts, answer: None, tools: Tools::default() }
    }

    fn input(&self) -> Input {
        if self.facts.input_includes_cached { Input::Whole } else { Input::Fresh }
    }

    fn system(line: &Value, events: &mut Vec<ClientEvent>) {
        match text(line, "/subtype") {
            Some("init" | "session_start") => events.push(ClientEvent::Started {
                session: owned(line, "/session_id"),
                model: owned(line, "/model"),
                purse: owned(line, "/apiKeySource"),
            }),
            Some("api_retry" | "retry") => events.push(ClientEvent::Retry {
                status: status(line, "/error_status").or_else(|| status(line, "/status")),
                wait_seconds: wait_seconds(line, &["/retry_delay_ms", "/delay_ms", "/delayMs"]),
                why: first_of(line, &["/error", "/message", "/reason"]),
            }),
            _ => {}
        }
    }

    fn assistant(&mut self, line: &Value, events: &mut Vec<ClientEvent>) {
        // Text that the client writes as the model's when the model gave none.
        if text(line, "/message/model") == Some("<synthetic>") {
            let said = line.pointer("/message/content").map(all_text).unwrap_or_default();
            events.push(ClientEvent::Trouble { status: None, text: said });
            return;
        }
        let id = owned(line, "/message/id");
        if id.is_none() || id != self.answer {
            events.push(ClientEvent::ModelCall);
            self.answer.clone_from(&id);
        }
        for piece in list(line, "/message/content") {
            match text(piece, "/type") {
                Some("text") => {
                    events.extend(owned(piece, "/text").map(|text| ClientEvent::Text { text }));
                }
                Some("tool_use") => {
                    let name = text(piece, "/name").unwrap_or("tool");
                    self.tools.called(owned(piece, "/id"), name, piece.get("input"), events);
                }
                _ => {}
            }
        }
        let used = line.pointer("/message/usage").and_then(|usage| tokens(usage, &SNAKE, self.input()));
        if let (Some(tokens), Some(id)) = (used, id) {
            events.push(ClientEvent::Usage { scope: UsageScope::Call(id), tokens });
        }
    }

    fn user(&mut self, line: &Value, events: &mut Vec<ClientEvent>) {
        let refused = |id: &str| {
            let mut decisions = list(line, "/tool_result_meta");
            decisions.any(|told| {
                let decision = text(told, "/permission_decision/decision");
                text(told, "/id") == Some(id) && decision.is_some_and(|decision| decision != "accept")
            })
        };
        for piece in list(line, "/message/content").filter(|piece| text(piece, "/type") == Some("tool_result")) {
            let id = owned(piece, "/tool_use_id");
            let is_error = flag(piece, "/is_error") == Some(true);
            let is_denied = id.as_deref().is_some_and(refused)
                || flag(piece, "/_meta/rawResponse/sandboxDenied") == Some(true)
                || (is_error && piece.get("content").is_some_and(|content| is_refusal(&all_text(content))));
            let state = match (is_denied, is_error) {
                (true, _) => ToolState::Denied,
                (false, true) => ToolState::Failed,
                (false, false) => ToolState::Finished,
            };
            events.push(self.tools.ended(id, state));
        }
    }

    /// Adds a tool event from a separate line, as some clients write it.
    fn tool_event(&mut self, line: &Value, events: &mut Vec<ClientEvent>) {
        let id = first_of(line, &["/call_id", "/id"]);
        let named = line.get("tool_call").and_then(Value::as_object).and_then(|call| call.keys().next().cloned());
        let name = first_of(line, &["/name", "/tool_call/name"]).or(named).unwrap_or_else(|| "tool".to_owned());
        if text(line, "/subtype") == Some("completed") {
            let result = line.get("tool_call").map(all_text).unwrap_or_default();
            let state = if is_refusal(&result) { ToolState::Denied } else { ToolState::Finished };
            events.push(ClientEvent::Tool { id, name, state });
        } else {
            self.tools.called(id, &name, line.get("tool_call"), events);
        }
    }

    fn result(&self, line: &Value, events: &mut Vec<ClientEvent>) {
        for denied in list(line, "/permission_denials") {
            let name = first_of(denied, &["/tool_name", "/name"]).unwrap_or_else(|| "tool".to_owned());
            events.push(ClientEvent::Tool { id: owned(denied, "/tool_use_id"), name, state: ToolState::Denied });
        }
        let by_model = line.get("modelUsage").and_then(Value::as_object).into_iter().flat_map(Map::values);
        let sum = by_model.filter_map(|model| tokens(model, &BY_MODEL, Input::Fresh)).reduce(Tokens::plus);
        let sum = sum.map(|tokens| ClientEvent::Usage { scope: UsageScope::Session, tokens });
        events.extend(sum.or_else(|| session_tokens(line.get("usage"), &SNAKE, self.input())));
        events.extend(amount(line, "/total_cost_usd").map(|amount| ClientEvent::dollars(UsageScope::Session, amount)));
        events.push(ClientEvent::Terminal(self.terminal(line)));
    }

    fn terminal(&self, line: &Value) -> Terminal {
        let reason = text(line, "/terminal_reason");
        let is_reason_good = match &self.facts.terminal_reason {
            Some(only) => reason == Some(only.as_str()),
            None => reason.is_none_or(|reason| reason == "completed"),
        };
        let is_success = text(line, "/subtype") == Some("success")
            && flag(line, "/is_error") == Some(false)
            && line.get("api_error_status").is_none_or(Value::is_null);
        if is_success && is_reason_good {
            return Terminal::Success;
        }
        let subtype = text(line, "/subtype").filter(|subtype| *subtype != "success");
        let kind = reason.filter(|reason| !matches!(*reason, "api_error" | "completed")).or(subtype);
        let said = first_of(line, &["/result", "/error/message", "/errors/0", "/error"]);
        Terminal::Failure(ClientFailure {
            status: status(line, "/api_error_status"),
            kind: kind.map(str::to_owned),
            text: said.or_else(|| reason.map(str::to_owned)).unwrap_or_else(|| "no reason given".to_owned()),
        })
    }
}

fn quota(line: &Value) -> Option<Quota> {
    let info = line.get("rate_limit_info")?;
    let windows = info.get("unifiedWindows").and_then(Value::as_object);
    let used = windows.map(|windows| windows.values().filter_map(|window| amount(window, "/utilization")));
    let fullest = used.and_then(|used| used.reduce(f64::max)).or_else(|| amount(info, "/utilization"));
    // If the account can buy more, the client continues.
    let goes_on = text(info, "/overageStatus").is_some_and(|status| status.starts_with("allowed"));
    let status = match text(info, "/status") {
        Some("rejected") if !goes_on => QuotaStatus::Rejected,
        Some("allowed_warning" | "rejected") => QuotaStatus::Warning,
        _ => QuotaStatus::Allowed,
    };
    let resets_at = info.get("resetsAt").and_then(Value::as_i64);
    Some(Quota { resets_at, used: fullest, status })
}

impl Read for ResultEnvelope {
    fn line(&mut self, line: &Value, events: &mut Vec<ClientEvent>) {
        match text(line, "/type") {
            Some("system") => Self::system(line, events),
            Some("assistant") => self.assistant(line, events),
            Some("user") => self.user(line, events),
            Some("tool_call") => self.tool_event(line, events),
            Some("rate_limit_event") => events.extend(quota(line).map(ClientEvent::Quota)),
            Some("result") => self.result(line, events),
            _ => {}
        }
    }
}
