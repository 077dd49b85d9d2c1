//! The milestones that wait while another one runs.

use crate::acts::auto::seen::Seen;
use crate::auto::slices::derive::Standing;
use crate::text::shell::typed;

/// A milestone that waits.
pub(super) struct QueuedMilestone {
    /// Its name, and what it needs before it can run.
    pub(super) line: String,
    /// Whether a person has to discuss it first.
    pub(super) needs_discussion: bool,
}

/// Returns the milestones that wait for `current`.
pub(super) fn waiting(seen: &Seen, current: &str) -> Vec<QueuedMilestone> {
    let open = seen.state.registry.iter().filter(|entry| {
        matches!(entry.standing, Standing::Active | Standing::Pending) && !entry.id.eq_ignore_ascii_case(current)
    });
    open.map(|entry| {
        let title = if entry.title == entry.id { String::new() } else { format!(" {}", entry.title) };
        let milestone = seen.snapshot.milestone(&entry.id);
        let discuss = || typed!("gsd-tools auto discuss {}", entry.id);
        let needs = match milestone {
            Some(found) if found.has_context || found.roadmap.is_some() => None,
            Some(found) if found.has_draft => {
                Some(format!("has a draft of its context that nobody has discussed: `{}`", discuss()))
            }
            _ => Some(format!("has no context: `{}`", discuss())),
        };
        let waits = (!entry.waits_for.is_empty()).then(|| format!("waits for {}", entry.waits_for.join(", ")));
        let needs_discussion = needs.is_some();
        let more: Vec<String> = waits.into_iter().chain(needs).collect();
        let more = if more.is_empty() { String::new() } else { format!(": {}", more.join("; ")) };
        QueuedMilestone { line: format!("{}{title}{more}", entry.id), needs_discussion }
    })
    .collect()
}
