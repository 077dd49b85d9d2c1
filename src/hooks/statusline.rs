//! One line for the host's screen: the model, where the project stands, the folder, the context in use.

use crate::text::front_matter::FrontMatter;

use super::context_monitor::ContextUse;
use super::payload::Payload;

/// The host keeps this much of the window, per hundred, for itself: what is left of it cannot be used.
const RESERVE: f64 = 16.5;

/// The line. `state` is the text of STATE.md, if there is one.
pub(crate) fn line(payload: &Payload, state: Option<&str>, used: Option<&ContextUse>, color: bool) -> String {
    let mut parts: Vec<String> = Vec::new();
    parts.extend(payload.model().map(|model| dim(model, color)));
    parts.extend(state.and_then(project));
    parts.extend(payload.folder().and_then(folder_name).map(|name| dim(name, color)));
    let mut line = parts.join(" │ ");
    if let Some(used) = used {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&bar(used.remaining, color));
    }
    line
}

/// `Phase 2 Notes · executing`.
fn project(state: &str) -> Option<String> {
    let front = FrontMatter::parse(state)?;
    let status = front.text("status");
    let phase = front.text("current_phase").map(|number| match front.text("current_phase_name") {
        Some(name) => format!("Phase {number} {name}"),
        None => format!("Phase {number}"),
    });
    match (phase.or_else(|| front.text("milestone")), status) {
        (Some(place), Some(status)) => Some(format!("{place} · {status}")),
        (place, status) => place.or(status),
    }
}

fn folder_name(path: &str) -> Option<&str> {
    path.rsplit(['/', '\\']).find(|part| !part.is_empty())
}

/// Ten cells of the context that can be used, and the percentage of it in use.
fn bar(remaining: f64, color: bool) -> String {
    let usable = ((remaining - RESERVE) / (100.0 - RESERVE) * 100.0).clamp(0.0, 100.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 100")]
    let used = (100.0 - usable).round() as usize;
    let filled = (used / 10).min(10);
    let text = format!("{}{} {used}%", "█".repeat(filled), "░".repeat(10 - filled));
    let code = match used {
        0..50 => "32",
        50..65 => "33",
        65..80 => "38;5;208",
        _ => "5;31",
    };
    if color { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text }
}

fn dim(text: &str, color: bool) -> String {
    if color { format!("\u{1b}[2m{text}\u{1b}[0m") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_holds_what_is_known() {
        let payload = Payload::parse(
            r#"{"model":{"display_name":"Opus 5.5"},"workspace":{"current_dir":"/home/u/acme"},
                "context_window":{"remaining_percentage":58.25}}"#,
        )
        .unwrap();
        let used = payload.context_use(0);
        let state = "---\nstatus: executing\ncurrent_phase: 2\ncurrent_phase_name: Notes\n---\n";
        assert_eq!(
            line(&payload, Some(state), used.as_ref(), false),
            "Opus 5.5 │ Phase 2 Notes · executing │ acme █████░░░░░ 50%"
        );
        assert_eq!(line(&Payload::parse("{}").unwrap(), None, None, true), "");
    }

    #[test]
    fn the_reserve_of_the_host_counts_as_used() {
        assert!(bar(16.5, false).ends_with(" 100%"));
        assert!(bar(100.0, false).ends_with("░░░░░░░░░░ 0%"));
    }
}
