//! `hooks`: enables and disables our hooks without editing the settings of hosts, and measures what hooks cost.

mod bench;

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

#[cfg(test)]
pub(super) use bench::BenchReport;

use crate::commands::frame::{CommandError, Context, verbs};
use crate::disk::{AbsolutePath, Change, Digest};
use crate::hooks::{self, Switch};
use crate::install::{self, Target, UnknownHooks};
use crate::operations::answers::finding::Finding;
use crate::runtime::Scope;

verbs! {
    "Hooks" (own);
    groups { "hooks": "Enable, disable, list and measure hooks"; }

    /// Disable our hooks, for one host or for all
    ///
    /// Takes effect at once: hosts need no restart, and their settings are not edited. To disable hooks for one session
    /// only, set `GSD_HOOKS=off`. An agent cannot call this command.
    ///
    /// Example: `gsd-tools hooks off --host codex`.
    "hooks off": acts json(SwitchReport) = off(SwitchArgs);

    /// Enable our hooks, for one host or for all
    ///
    /// Reverts `gsd-tools hooks off`. Takes effect at once.
    ///
    /// Example: `gsd-tools hooks on`.
    "hooks on": acts json(SwitchReport) = on(SwitchArgs);

    /// Show which hooks are enabled, for each install
    ///
    /// Exits 1 if a file that may register hooks cannot be read.
    ///
    /// Example: `gsd-tools hooks status --json`.
    "hooks status": reads json(HookStatus) = status(StatusArgs);

    /// Run every registered hook and show how long each takes
    ///
    /// Runs each hook with a sample event, and prints the median and the 99th percentile. Hooks of other programs are
    /// run too, after a prompt.
    ///
    /// Example: `gsd-tools hooks bench --host codex --ours`.
    "hooks bench": runs json(BenchReport) = bench::bench(bench::BenchArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct SwitchArgs {
    /// Only the hooks of this host
    #[arg(long, value_name = "NAME")]
    host: Option<String>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct StatusArgs {
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

fn off(context: &mut Context, arguments: &SwitchArgs) -> Result<(), CommandError> {
    // What guards against an agent is not the agent's to silence.
    context.refuses_agents("hooks off")?;
    switch(context, arguments, false)
}

fn on(context: &mut Context, arguments: &SwitchArgs) -> Result<(), CommandError> {
    switch(context, arguments, true)
}

/// What `hooks off` and `hooks on` came to.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct SwitchReport {
    /// The hosts whose hooks are silent now, or would be; `*` for all.
    off: Vec<String>,
    /// Whether that was different before.
    changed: bool,
    /// The file that says so.
    file: String,
}

fn switch(context: &mut Context, arguments: &SwitchArgs, speak: bool) -> Result<(), CommandError> {
    let registry = context.registry()?.clone();
    let host = arguments.host.as_deref().map(|name| registry.find(name)).transpose()?;
    let host = host.as_ref().map(|descriptor| descriptor.id.as_str());
    let file = Switch::file(context.world()).ok_or_else(no_home)?;
    let file = AbsolutePath::parse(file)?;
    let (switch, changed) = context.change(&file.parent().unwrap_or_else(|| file.clone()), |changes| {
        let before = Switch::read(context.world())?;
        let known = registry.ids().map(ToString::to_string);
        let after = if speak { before.clone().on(host, known) } else { before.clone().off(host) };
        let digest = Digest::of_file(&file)?;
        match (after.text(), digest) {
            _ if after == before => {}
            (Some(text), digest) => changes.write(file.clone(), text, digest),
            (None, Some(digest)) => {
                changes.remove(file.clone(), digest);
                // The folder of our settings may have been made for this file alone.
                changes.extend(file.parent().map(|path| Change::RemoveFolder { path }));
            }
            (None, None) => {}
        }
        Ok((after.clone(), after != before))
    })?;
    let report = SwitchReport { off: switch.hosts(), changed, file: file.to_string() };
    if arguments.json || context.is_rehearsal() {
        return context.emit(&report);
    }
    context.text(told(&report.off));
    Ok(())
}

fn no_home() -> CommandError {
    CommandError::usage("there is no home folder to keep settings in")
}

/// Whose hooks are silent, in a sentence.
fn told(off: &[String]) -> String {
    match off {
        [] => "Hooks are on.\n".to_owned(),
        [all] if all == "*" => "Hooks are off for every host; `gsd-tools hooks on` lets them speak again.\n".to_owned(),
        hosts => format!("Hooks are off for {}; those of other hosts are on.\n", hosts.join(", ")),
    }
}

/// Whose hooks are silent, and of which installs.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct HookStatus {
    /// As the switch says it; `*` for all.
    off: Vec<String>,
    /// The variable `GSD_HOOKS` silences all of them where it is set like this.
    off_by_variable: bool,
    installs: Vec<InstallHooks>,
    /// Files that cannot be read, in which more may be registered.
    unreadable: Vec<UnreadableHooks>,
    /// What keeps hooks from speaking.
    findings: Vec<Finding>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct UnreadableHooks {
    runtime: String,
    scope: &'static str,
    file: String,
    why: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct InstallHooks {
    runtime: String,
    scope: &'static str,
    on: bool,
    /// The host's names of the events at which it calls us.
    events: Vec<String>,
}

fn status(context: &mut Context, arguments: &StatusArgs) -> Result<(), CommandError> {
    let json = arguments.json;
    let switch = Switch::read(context.world())?;
    let off_by_variable = hooks::is_off_by_variable(context.world());
    let (mut installs, mut unreadable) = (Vec::new(), Vec::new());
    for target in targets(context, None)? {
        let registered = install::registered(&target)?;
        let (runtime, scope) = (target.descriptor.id.to_string(), target.scope.word());
        // A module of somebody else's is none of our hooks, whatever it holds.
        for UnknownHooks { file, why, .. } in registered.unknown.into_iter().filter(|unknown| unknown.may_be_ours) {
            unreadable.push(UnreadableHooks { runtime: runtime.clone(), scope, file, why });
        }
        let mut events: Vec<String> = Vec::new();
        for hook in registered.hooks.into_iter().filter(|hook| hook.ours) {
            if !events.contains(&hook.event) {
                events.push(hook.event);
            }
        }
        if !events.is_empty() {
            let id = &target.descriptor.id;
            let on = !off_by_variable && !switch.is_off(Some(id.as_str()));
            installs.push(InstallHooks { runtime: id.to_string(), scope: target.scope.word(), on, events });
        }
    }
    let off = switch.hosts();
    let mut findings = Vec::new();
    if !off.is_empty() {
        findings.push(
            Finding::note("hooks-off", format!("hooks are off for {}", off.join(", "))).fix("gsd-tools hooks on"),
        );
    }
    if off_by_variable {
        let what = format!("{} is set: every hook is silent where it is", hooks::VARIABLE);
        findings.push(Finding::note("hooks-off-by-variable", what).cure("unset it"));
    }
    findings.extend(unreadable.iter().map(|UnreadableHooks { runtime, scope, file, why }| {
        Finding::error("hooks-unknown", format!("the hooks of {runtime} ({scope}) are not known: {why}")).at(file)
    }));
    let report = HookStatus { off, off_by_variable, installs, unreadable, findings };
    if !report.unreadable.is_empty() {
        context.exit_with(1);
    }
    if json {
        return context.emit(&report);
    }
    let mut text = told(&report.off);
    if off_by_variable {
        let _ = writeln!(text, "{} is set: every hook is silent where it is.", hooks::VARIABLE);
    }
    for install in &report.installs {
        let word = if install.on { "on" } else { "off" };
        let _ = writeln!(text, "  {} ({}): {word}; {}", install.runtime, install.scope, install.events.join(", "));
    }
    for file in &report.unreadable {
        let _ = writeln!(text, "  {} ({}): not known, for `{}`: {}", file.runtime, file.scope, file.file, file.why);
    }
    context.text(text);
    Ok(())
}

/// Every place of the hosts, or of one, that can be told: for the user and for this project.
fn targets(context: &Context, host: Option<&str>) -> Result<Vec<Target>, CommandError> {
    let registry = context.registry()?;
    let descriptors = match host {
        Some(name) => vec![registry.find(name)?],
        None => registry.all()?,
    };
    let mut targets = Vec::new();
    for descriptor in descriptors {
        for scope in [Scope::Global, Scope::Local] {
            // A place that cannot be told holds nothing that could be looked at.
            targets.extend(Target::resolve(descriptor.clone(), scope, context.root(), None, context.world()));
        }
    }
    Ok(targets)
}
