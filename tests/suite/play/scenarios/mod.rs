//! The plays. A scenario reads like a play: what a person types, and what each conversation then does.

pub(crate) mod agents;
mod auto;
mod capture;
mod chain;
mod debug;
mod discuss;
mod docs;
mod hooks;
mod milestone;
mod mishaps;
mod new_project;
mod next;
mod onboard;
mod pause;
mod plans;
mod repairs;
mod review_fix;
mod reviewers;
mod seeds;
mod small;
mod steps;
mod ui;
mod whole_loop;
mod workstreams;
mod wrong_texts;
mod yolo;

use super::stage::Stage;

pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    /// The hosts in which it belongs to the full programme.
    hosts: &'static [&'static str],
    pub(crate) play: fn(&mut Stage),
}

impl Scenario {
    pub(crate) fn plays_in(&self, host: &str) -> bool {
        self.hosts.contains(&host)
    }
}

const CLAUDE: &[&str] = &["claude"];
/// Three clients that differ in how they spawn agents, ask questions and call hooks.
const THREE: &[&str] = &["claude", "codex", "opencode"];
const CLAUDE_AND_CODEX: &[&str] = &["claude", "codex"];
/// Clients whose executors run in parallel, each in a worktree.
const WITH_WORKTREES: &[&str] = &["claude", "codex", "opencode", "qwen"];
const EVERYWHERE: &[&str] = &["claude", "codex", "opencode", "gemini", "qwen"];

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario { name: "fast", hosts: EVERYWHERE, play: small::fast },
    Scenario { name: "chain", hosts: EVERYWHERE, play: chain::chain },
    Scenario { name: "seeds", hosts: EVERYWHERE, play: seeds::seeds },
    Scenario { name: "pair", hosts: CLAUDE_AND_CODEX, play: chain::pair },
    Scenario { name: "loop", hosts: CLAUDE_AND_CODEX, play: whole_loop::whole_loop },
    Scenario { name: "killed", hosts: WITH_WORKTREES, play: mishaps::killed },
    Scenario { name: "garbled", hosts: EVERYWHERE, play: mishaps::garbled },
    Scenario { name: "wrong-call", hosts: CLAUDE, play: wrong_texts::wrong_call },
    Scenario { name: "no-isolation", hosts: CLAUDE, play: wrong_texts::no_isolation },
    Scenario { name: "new-project", hosts: CLAUDE, play: new_project::new_project },
    Scenario { name: "greenfield", hosts: CLAUDE, play: new_project::greenfield },
    Scenario { name: "quick", hosts: EVERYWHERE, play: small::quick },
    Scenario { name: "ui", hosts: CLAUDE, play: ui::ui },
    Scenario { name: "review-fix", hosts: CLAUDE_AND_CODEX, play: review_fix::review_fix },
    Scenario { name: "onboard", hosts: THREE, play: onboard::onboard },
    Scenario { name: "docs", hosts: THREE, play: docs::docs },
    Scenario { name: "milestone", hosts: THREE, play: milestone::milestone },
    Scenario { name: "pause", hosts: THREE, play: pause::pause },
    Scenario { name: "capture", hosts: THREE, play: capture::capture },
    Scenario { name: "debug", hosts: CLAUDE_AND_CODEX, play: debug::debug },
    Scenario { name: "auto", hosts: THREE, play: auto::auto },
    Scenario { name: "yolo", hosts: THREE, play: yolo::yolo },
    Scenario { name: "yolo-gaps", hosts: CLAUDE_AND_CODEX, play: yolo::yolo_gaps },
    Scenario { name: "workstreams", hosts: THREE, play: workstreams::workstreams },
];
