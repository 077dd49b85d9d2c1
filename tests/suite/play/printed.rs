//! The output of a command, as clients pass it on.

/// What a client reports for a command without output.
const SILENCE: &str = "(empty)";

/// Commands that only read and always print. A client under load may lose the output of a quick one (Qwen Code 0.24.4
/// does, exit code 0): without output, the command runs again.
const NEVER_SILENT: &[&str] =
    &["git rev-parse", "git branch --show-current", "git show", "git log", "git worktree list", "ls "];

/// Our verbs that only read and always print.
const VERBS_NEVER_SILENT: &[&str] = &[
    "agent-skills",
    "audit-uat",
    "check",
    "config-get",
    "frontmatter get",
    "frontmatter validate",
    "init",
    "loop enter",
    "phase-plan-index",
    "plan check",
    "plan lint",
    "resolve-model",
    "roadmap",
    "smart-entry",
    "state get",
    "state json",
    "state validate",
    "summary-extract",
    "uat classify-coverage",
    "uat render-checkpoint",
    "verification fingerprint",
    "verification status",
    "verify",
];

/// True if a command with this output must run again.
pub(crate) fn is_lost(command: &str, printed: &str) -> bool {
    let reads = NEVER_SILENT.iter().any(|begin| command.starts_with(begin));
    let verb = command.split_once("gsd-tools ").map(|(_, verb)| verb);
    let reads = reads || verb.is_some_and(|verb| VERBS_NEVER_SILENT.iter().any(|begin| is_verb(verb, begin)));
    reads && printed.trim() == SILENCE
}

fn is_verb(command: &str, verb: &str) -> bool {
    command.strip_prefix(verb).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// The output of a command, without what some clients add around it.
pub(crate) fn bare(text: &str) -> String {
    let around = ["Chunk ID: ", "Command: ", "<untrusted_context>", "Wall time", "Output:"];
    if !around.iter().any(|begin| text.trim_start().starts_with(begin)) {
        return text.to_owned();
    }
    let Some((_, output)) = text.split_once("Output:") else { return text.to_owned() };
    let ends =
        ["Error: ", "Exit Code: ", "Signal: ", "Background PIDs: ", "Process Group PGID: ", "</untrusted_context>"];
    let lines: Vec<&str> = output.lines().take_while(|line| !ends.iter().any(|end| line.starts_with(end))).collect();
    lines.join("\n").trim_start_matches([' ', '\n']).to_owned()
}
