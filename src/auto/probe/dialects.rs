//! The form of a model's answer on the wire, in each vendor's protocol.

use serde_json::{Value, json};

pub(crate) use super::exchange::Dialect;
use super::exchange::{Reply, Request, ToolCall, Usage};

/// A complete body, or server-sent events ready to be written.
#[derive(Debug)]
pub(crate) enum ReplyBody {
    Whole(Value),
    Stream(Vec<String>),
}

/// Returns the answer to a side request of a client: which models there are, how many tokens a text has.
pub(crate) fn side_answer(method: &str, path: &str) -> Option<Value> {
    let path = path.split('?').next().unwrap_or(path);
    match (method, path) {
        ("HEAD", _) => Some(json!({})),
        ("GET", _) if path.ends_with("/models") => Some(json!({
            "object": "list",
            "data": [{"id": MODEL, "object": "model", "created": 0, "owned_by": "suite"}],
            "models": [],
        })),
        // What the service enables for this client: hooks, agents, skills.
        ("POST", _) if path.ends_with("/get-models") => Some(json!({
            "default_model": MODEL,
            "models": [{"name": MODEL, "suggested_prefix_char_count": 1000, "suggested_suffix_char_count": 1000}],
            "languages": [],
            "feature_flags": {"enable_hooks": true, "beachhead_enable_sub_agent_tool": true, "enable_skills": true},
        })),
        ("POST", _) if path.ends_with("/find-missing") => {
            Some(json!({"unknown_memory_names": [], "nonindexed_blob_names": []}))
        }
        ("POST", _) if path.ends_with("/count_tokens") => Some(json!({"input_tokens": 10})),
        ("POST", _) if path.ends_with(":countTokens") => Some(json!({"totalTokens": 10})),
        _ => None,
    }
}

/// The model's name, for clients that let the user choose one.
pub(crate) const MODEL: &str = "suite-model";

/// Returns `reply` in the form that the client expects, streamed if it asked for a stream.
pub(crate) fn answer(dialect: Dialect, request: &Request, reply: &Reply, usage: &Usage, serial: usize) -> ReplyBody {
    let streamed = match dialect {
        Dialect::GenerateContent => request.path.contains(":streamGenerateContent"),
        _ => request.body["stream"].as_bool().unwrap_or(false),
    };
    match dialect {
        Dialect::Messages => messages(request, reply, usage, serial, streamed),
        Dialect::Responses => responses(reply, usage, serial, streamed),
        Dialect::ChatCompletions => chat(request, reply, usage, serial, streamed),
        Dialect::GenerateContent => generate_content(reply, usage, serial, streamed),
        Dialect::Nodes => nodes(reply, serial),
    }
}

/// Returns the part of a streamed text before the service marks it as complete.
pub(crate) fn beginning(dialect: Dialect, events: &[String]) -> String {
    let first = match dialect {
        Dialect::Messages => 3,
        Dialect::Responses => 2,
        Dialect::ChatCompletions | Dialect::GenerateContent | Dialect::Nodes => 1,
    };
    let text: String = events.iter().take(first).map(String::as_str).collect();
    text.replace(r#""finishReason":"STOP","#, "")
}

/// A part of a reply: one text, or one call.
enum ReplyPart<'reply> {
    Text(&'reply str),
    Call(&'reply ToolCall, String),
}

/// Returns the parts of `reply`; calls have identifiers that sort in their order.
fn pieces<'reply>(reply: &'reply Reply, prefix: &str, serial: usize) -> Vec<ReplyPart<'reply>> {
    let calls = match reply {
        Reply::Say(text) => return vec![ReplyPart::Text(text)],
        Reply::Call(call) => std::slice::from_ref(call),
        Reply::Calls(calls) => calls,
    };
    let identified = |(index, call)| ReplyPart::Call(call, format!("{prefix}_{serial:06}_{index:02}"));
    calls.iter().enumerate().map(identified).collect()
}

fn messages(request: &Request, reply: &Reply, usage: &Usage, serial: usize, streamed: bool) -> ReplyBody {
    let pieces = pieces(reply, "toolu", serial);
    let stop = if matches!(reply, Reply::Say(_)) { "end_turn" } else { "tool_use" };
    let mut message = json!({
        "id": format!("msg_{serial:04}"), "type": "message", "role": "assistant", "model": request.body["model"],
        "content": [], "stop_reason": null, "stop_sequence": null,
        "usage": {"input_tokens": usage.input, "cache_read_input_tokens": usage.cached, "cache_creation_input_tokens": 0,
                  "output_tokens": 1},
    });
    if !streamed {
        let block = |piece: &ReplyPart<'_>| match piece {
            ReplyPart::Text(text) => json!({"type": "text", "text": text}),
            ReplyPart::Call(call, id) => {
                json!({"type": "tool_use", "id": id, "name": call.name, "input": call.arguments})
            }
        };
        message["content"] = pieces.iter().map(block).collect();
        message["stop_reason"] = json!(stop);
        message["usage"]["output_tokens"] = json!(usage.output);
        return ReplyBody::Whole(message);
    }
    let mut events = vec![json!({"type": "message_start", "message": message})];
    for (index, piece) in pieces.iter().enumerate() {
        let (opening, delta) = match piece {
            ReplyPart::Text(text) => (json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": text})),
            ReplyPart::Call(call, id) => (
                json!({"type": "tool_use", "id": id, "name": call.name, "input": {}}),
                json!({"type": "input_json_delta", "partial_json": call.arguments.to_string()}),
            ),
        };
        events.push(json!({"type": "content_block_start", "index": index, "content_block": opening}));
        events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": null},
                       "usage": {"output_tokens": usage.output}}));
    events.push(json!({"type": "message_stop"}));
    named_events(&events)
}

fn responses(reply: &Reply, usage: &Usage, serial: usize, streamed: bool) -> ReplyBody {
    let item = |piece: &ReplyPart<'_>| match piece {
        ReplyPart::Text(text) => json!({
            "type": "message", "id": format!("msg_{serial:04}"), "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}],
        }),
        ReplyPart::Call(ToolCall { name, namespace, arguments }, id) => {
            let mut item = json!({
                "type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": name, "status": "completed",
            });
            if arguments.is_string() {
                item["type"] = json!("custom_tool_call");
                item["input"] = arguments.clone();
            } else {
                item["arguments"] = json!(arguments.to_string());
            }
            if let Some(namespace) = namespace {
                item["namespace"] = json!(namespace);
            }
            item
        }
    };
    let items: Vec<Value> = pieces(reply, "call", serial).iter().map(item).collect();
    let id = format!("resp_{serial:04}");
    let completed = json!({
        "id": id, "object": "response", "status": "completed", "output": items,
        "usage": {"input_tokens": usage.sent(), "input_tokens_details": {"cached_tokens": usage.cached},
                  "output_tokens": usage.output, "output_tokens_details": {"reasoning_tokens": 0},
                  "total_tokens": usage.sent() + usage.output},
    });
    if !streamed {
        return ReplyBody::Whole(completed);
    }
    let mut events = vec![json!({"type": "response.created", "response": {"id": id}})];
    for (index, item) in items.iter().enumerate() {
        events.push(json!({"type": "response.output_item.added", "output_index": index, "item": item}));
        events.push(json!({"type": "response.output_item.done", "output_index": index, "item": item}));
    }
    events.push(json!({"type": "response.completed", "response": completed}));
    named_events(&events)
}

fn chat(request: &Request, reply: &Reply, usage: &Usage, serial: usize, streamed: bool) -> ReplyBody {
    let finish = if matches!(reply, Reply::Say(_)) { "stop" } else { "tool_calls" };
    let mut message = json!({"role": "assistant", "content": null});
    let mut calls = Vec::new();
    for (index, piece) in pieces(reply, "call", serial).iter().enumerate() {
        match piece {
            ReplyPart::Text(text) => message["content"] = json!(text),
            ReplyPart::Call(call, id) => calls.push(json!({
                "index": index, "id": id, "type": "function",
                "function": {"name": call.name, "arguments": call.arguments.to_string()},
            })),
        }
    }
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    let usage = json!({
        "prompt_tokens": usage.sent(), "prompt_tokens_details": {"cached_tokens": usage.cached},
        "completion_tokens": usage.output, "total_tokens": usage.sent() + usage.output,
    });
    let head = |object: &str| json!({"id": format!("chat_{serial:04}"), "object": object, "created": 0, "model": request.body["model"]});
    if !streamed {
        let mut whole = head("chat.completion");
        whole["choices"] = json!([{"index": 0, "message": message, "finish_reason": finish}]);
        whole["usage"] = usage;
        return ReplyBody::Whole(whole);
    }
    let chunk = |choices: Value| {
        let mut chunk = head("chat.completion.chunk");
        chunk["choices"] = choices;
        chunk
    };
    let mut last = chunk(json!([]));
    last["usage"] = usage;
    let mut events = Vec::from([
        plain_event(&chunk(json!([{"index": 0, "delta": message, "finish_reason": null}]))),
        plain_event(&chunk(json!([{"index": 0, "delta": {}, "finish_reason": finish}]))),
        plain_event(&last),
    ]);
    events.push("data: [DONE]\n\n".to_owned());
    ReplyBody::Stream(events)
}

fn generate_content(reply: &Reply, usage: &Usage, serial: usize, streamed: bool) -> ReplyBody {
    let part = |piece: &ReplyPart<'_>| match piece {
        ReplyPart::Text(text) => json!({"text": text}),
        ReplyPart::Call(call, _) => json!({"functionCall": {"name": call.name, "args": call.arguments}}),
    };
    let parts: Vec<Value> = pieces(reply, "call", serial).iter().map(part).collect();
    let whole = json!({
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": usage.sent(), "cachedContentTokenCount": usage.cached,
                          "candidatesTokenCount": usage.output, "totalTokenCount": usage.sent() + usage.output},
        "modelVersion": MODEL,
    });
    if streamed { ReplyBody::Stream(vec![plain_event(&whole)]) } else { ReplyBody::Whole(whole) }
}

fn nodes(reply: &Reply, serial: usize) -> ReplyBody {
    let mut line = json!({"text": "", "stop_reason": 3});
    let mut nodes = Vec::new();
    for (index, piece) in pieces(reply, "call", serial).iter().enumerate() {
        let node = match piece {
            ReplyPart::Text(text) => {
                line["text"] = json!(text);
                line["stop_reason"] = json!(1);
                json!({"id": 1, "type": 0, "content": text})
            }
            ReplyPart::Call(call, id) => json!({"id": index + 1, "type": 5, "content": "", "tool_use": {
                "tool_use_id": id, "tool_name": call.name, "input_json": call.arguments.to_string(),
            }}),
        };
        nodes.push(node);
    }
    line["nodes"] = json!(nodes);
    ReplyBody::Stream(vec![format!("{line}\n")])
}

fn named_events(events: &[Value]) -> ReplyBody {
    ReplyBody::Stream(
        events
            .iter()
            .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default()))
            .collect(),
    )
}

fn plain_event(event: &Value) -> String {
    format!("data: {event}\n\n")
}
