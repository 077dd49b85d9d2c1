//! `hooks`: enables and disables our hooks without editing the settings of hosts, and measures what hooks cost.

mod bench;

use crate::acts::caller;
use crate::acts::files;
use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::Failure;

use crate::acts::hooks::state::{HooksState, Off, targets, whose};

use crate::disk::{AbsolutePath, Change, Digest};
use crate::frame::{Context, verbs};
use crate::hooks::{self, Switch, has_managed_hooks};
use crate::install::{self, NotLoaded, UnknownHooks};
use crate::operations::answers::finding::Finding;
use crate::text::screen::{Mark, Screen};
use crate::text::shell::typed;
use crate::text::time;

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

    /// Show which hooks are registered and enabled, for each install
    ///
    /// Exits 1 if a file that may register hooks cannot be read, or the program that they call is missing.
    ///
    /// Example: `gsd-tools hooks status --json`.
    "hooks status": reads json(HookStatus) = status(StatusArgs);

    /// Run every registered hook and show how long each takes
    ///
    /// Runs each hook with a sample event, and prints the median and the 99th percentile. Hooks of other programs are
    /// run too, after a prompt.
    ///
    /// Example: `gsd-tools hooks bench --host codex --ours`.
    "hooks bench": runs json(crate::acts::hooks::cost::BenchReport) = bench::bench(bench::BenchArgs);
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

fn off(context: &mut Context, arguments: &SwitchArgs) -> Result<(), Failure> {
    // Guards protect against an agent, so an agent may not disable them.
    caller::refuses_agents(context, "hooks off")?;
    switch(context, arguments, false)
}

fn on(context: &mut Context, arguments: &SwitchArgs) -> Result<(), Failure> {
    switch(context, arguments, true)
}

/// The result of `hooks off` or `hooks on`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct SwitchReport {
    /// The hosts whose hooks are disabled now, or would be; `*` for all.
    off: Vec<String>,
    /// Whether the call changed that.
    changed: bool,
    /// The file with this setting.
    file: String,
    /// The hosts whose hooks an administrator placed for everyone on this computer: those cannot be disabled.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    managed: Vec<String>,
}

fn switch(context: &mut Context, arguments: &SwitchArgs, speak: bool) -> Result<(), Failure> {
    let registry = context.registry()?.clone();
    let host = arguments.host.as_deref().map(|name| registry.find(name)).transpose()?;
    let host = host.as_ref().map(|descriptor| descriptor.id.as_str());
    let file = Switch::file(context.world()).ok_or_else(no_home)?;
    let file = AbsolutePath::parse(file)?;
    let (switch, changed) = files::change(context, &[&file.parent().unwrap_or_else(|| file.clone())], |changes| {
        let before = Switch::read(context.world())?;
        let known = registry.ids().map(ToString::to_string);
        let after = if speak { before.clone().on(host, known) } else { before.clone().off(host) };
        let digest = Digest::of_file(&file)?;
        match (after.text(), digest) {
            _ if after == before => {}
            (Some(text), digest) => changes.write(file.clone(), text, digest),
            (None, Some(digest)) => {
                changes.remove(file.clone(), digest);
                // The folder of our settings may have been created only for this file.
                changes.extend(file.parent().map(|path| Change::RemoveFolder { path }));
            }
            (None, None) => {}
        }
        Ok((after.clone(), after != before))
    })?;
    let report = SwitchReport { off: switch.hosts(), changed, file: file.to_string(), managed: managed(context)? };
    if arguments.json || context.is_rehearsal() {
        return context.emit(&report);
    }
    let known: Vec<String> = registry.ids().map(ToString::to_string).collect();
    let mut said = told(whose(&report.off, &known).as_deref());
    if !report.managed.is_empty() && !report.off.is_empty() {
        said = format!("{said}. {}", told_of_managed(&report.managed));
    }
    let text = context.page().prose("", "", &said);
    context.text(text);
    Ok(())
}

/// The hosts whose hooks an administrator placed here.
fn managed(context: &Context) -> Result<Vec<String>, Failure> {
    let hosts = context.registry()?.all()?;
    let placed = hosts.into_iter().filter(|host| has_managed_hooks(host.id.as_str(), context.world()));
    Ok(placed.map(|host| host.name).collect())
}

fn told_of_managed(hosts: &[String]) -> String {
    format!("An administrator placed hooks for {}; `hooks off` does not disable them.", hosts.join(", "))
}

fn no_home() -> Failure {
    Failure::usage("there is no home folder to keep settings in")
}

/// A sentence that says whose hooks are disabled.
fn told(whose: Option<&str>) -> String {
    match whose {
        None => "Hooks are enabled.".to_owned(),
        Some(whose) => format!("Hooks are disabled for {whose}. Enable: `gsd-tools hooks on`"),
    }
}

/// The hooks that are registered and enabled.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct HookStatus {
    /// The hosts whose hooks are disabled; `*` for all.
    off: Vec<String>,
    /// Whether the variable `GSD_HOOKS`, as set for this call, disables all of them.
    off_by_variable: bool,
    /// The hosts whose hooks are disabled, for a person.
    #[serde(skip)]
    off_in_words: Option<String>,
    installs: Vec<InstallHooks>,
    /// The hosts whose hooks an administrator placed for everyone on this computer: those cannot be disabled.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    managed: Vec<String>,
    /// Files that cannot be read, in which more may be registered.
    unreadable: Vec<UnreadableHooks>,
    /// Problems that keep hooks from running.
    findings: Vec<Finding>,
    /// Installs whose hooks the host does not run, for a person.
    #[serde(skip)]
    without: Vec<WithoutHooks>,
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
    #[serde(skip)]
    title: String,
    scope: &'static str,
    on: bool,
    /// The host's names for the events at which it calls us.
    events: Vec<String>,
    /// When the host last called one of them outside of `auto run`; left out if no call is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_called: Option<String>,
    /// The same for a person, such as `8 hours ago`.
    #[serde(skip)]
    ago: Option<String>,
    /// The settings files with these hooks that the host does not load.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_loaded: Vec<NotLoaded>,
    /// What is wrong with the program that they call.
    #[serde(skip_serializing_if = "Option::is_none")]
    program: Option<String>,
    #[serde(skip)]
    install: String,
}

/// An install of which the host runs no hooks.
#[derive(Debug)]
struct WithoutHooks {
    title: String,
    state: HooksState,
    install: String,
}

fn status(context: &mut Context, arguments: &StatusArgs) -> Result<(), Failure> {
    let report = look(context)?;
    let is_dead = report.installs.iter().any(|install| install.program.is_some());
    context.exit_with(u8::from(is_dead || !report.unreadable.is_empty()));
    if arguments.json {
        return context.emit(&report);
    }
    let screen = context.page();
    context.text(screen.commands(&report.text(screen)));
    Ok(())
}

fn look(context: &Context) -> Result<HookStatus, Failure> {
    let off = Off::read(context.world())?;
    let mut report = HookStatus {
        off: off.switch.hosts(),
        off_by_variable: off.by_variable,
        off_in_words: off.whose(),
        installs: Vec::new(),
        managed: managed(context)?,
        unreadable: Vec::new(),
        findings: [off.finding(), off.finding_of_variable()].into_iter().flatten().collect(),
        without: Vec::new(),
    };
    for target in targets(context, None)? {
        let registered = install::registered(&target)?;
        let (runtime, scope) = (target.descriptor.id.to_string(), target.scope.word());
        let title = target.title();
        // A module of another program has none of our hooks, whatever its content.
        for UnknownHooks { file, why, .. } in registered.unknown.into_iter().filter(|unknown| unknown.may_be_ours) {
            report.unreadable.push(UnreadableHooks { runtime: runtime.clone(), scope, file, why });
        }
        // An unreadable file is among the unknown ones.
        let mut not_loaded = install::not_loaded(&target).unwrap_or_default();
        not_loaded.retain(|file| registered.hooks.iter().any(|hook| hook.ours && hook.file == file.path));
        let (mut events, mut commands): (Vec<String>, Vec<String>) = Default::default();
        for hook in registered.hooks.into_iter().filter(|hook| hook.ours) {
            commands.push(hook.command);
            if !events.contains(&hook.event) {
                events.push(hook.event);
            }
        }
        if !events.is_empty() {
            let on = !off.is_off(&runtime);
            let called = hooks::last_called(context.world(), target.root.as_path());
            let ago = called.map(|at| time::ago(context.world().now().milliseconds() - at));
            let last_called = called.and_then(time::shown);
            let program = install::program_fault(context.world(), &target, &commands)?;
            let install = typed!("gsd-tools install {}", target.flags()).into();
            let found =
                InstallHooks { runtime, title, scope, on, events, last_called, ago, not_loaded, program, install };
            report.installs.push(found);
        } else if let Ok(status) = install::status(&target)
            && status.version.is_some()
        {
            let state = HooksState::of(&target, &status, &off);
            report.without.push(WithoutHooks {
                title,
                state,
                install: typed!("gsd-tools install {}", target.flags()).into(),
            });
        }
    }
    let not_loaded = report.installs.iter().flat_map(|install| &install.not_loaded);
    report.findings.extend(not_loaded.map(|file| Finding::warning("settings-not-loaded", file.to_string())));
    let dead = report.installs.iter().filter_map(|install| Some((install, install.program.as_ref()?)));
    report.findings.extend(dead.map(|(install, what)| {
        let what = format!("the hooks of {} do not run: {what}", install.title);
        Finding::error("hooks-without-program", what).fix(install.install.clone())
    }));
    let missing = report.without.iter().filter(|install| install.state == HooksState::NotRegistered);
    report.findings.extend(missing.map(|install| {
        let what = format!("{} is installed, but its hooks are not registered", install.title);
        Finding::warning("hooks-not-registered", what).fix(install.install.clone())
    }));
    report.findings.extend(report.unreadable.iter().map(|UnreadableHooks { runtime, scope, file, why }| {
        Finding::error("hooks-unknown", format!("the hooks of {runtime} ({scope}) are not known: {why}")).at(file)
    }));
    Ok(report)
}

impl HookStatus {
    fn text(&self, screen: Screen) -> String {
        let is_dead = self.installs.iter().any(|install| install.program.is_some());
        let is_not_loaded = self.installs.iter().any(|install| !install.not_loaded.is_empty());
        let all = told(self.off_in_words.as_deref());
        let all = match all.strip_suffix("enabled.") {
            Some(hooks) if is_dead => format!("{hooks}enabled, but not every host can run them."),
            Some(hooks) if is_not_loaded => format!("{hooks}enabled, but not every host loads them."),
            _ => all,
        };
        let mut text = screen.prose("", "", &all);
        if self.off_by_variable {
            let what =
                format!("{} is set: every hook is disabled wherever it is set. Enable: unset it", hooks::VARIABLE);
            text += &screen.prose("", "", &what);
        }
        for install in &self.installs {
            if let Some(what) = &install.program {
                let what = format!("{}: registered, but {what}. Cure: `{}`", install.title, install.install);
                text += &screen.item("  ", Mark::Failed, &what);
                continue;
            }
            let (mark, word) = match (install.on, install.not_loaded.is_empty()) {
                (false, _) => (Mark::Warning, "registered, but disabled:"),
                (true, false) => (Mark::Warning, "registered, but not loaded:"),
                (true, true) => (Mark::Done, "registered for"),
            };
            let events = install.events.join(", ");
            let called = match &install.ago {
                Some(ago) => format!("last called {ago}"),
                None => "never called yet".to_owned(),
            };
            text += &screen.item("  ", mark, &format!("{}: {word} {events}; {called}", install.title));
            for file in &install.not_loaded {
                text += &screen.prose("    ", "    ", &file.to_string());
            }
        }
        for WithoutHooks { title, state, install } in &self.without {
            text += &match state {
                HooksState::NotRegistered => {
                    let what = format!("{title}: installed, but no hooks registered. Register: `{install}`");
                    screen.item("  ", Mark::Failed, &what)
                }
                // The file is named below.
                HooksState::Unknown => continue,
                _ => screen.item("  ", Mark::Open, &format!("{title}: installed, without hooks")),
            };
        }
        for file in &self.unreadable {
            let what = format!("{} ({}): not known, for `{}`: {}", file.runtime, file.scope, file.file, file.why);
            text += &screen.item("  ", Mark::Failed, &what);
        }
        if !self.managed.is_empty() {
            text += &screen.item("  ", Mark::Done, &told_of_managed(&self.managed));
        } else if self.installs.is_empty() && self.without.is_empty() && self.unreadable.is_empty() {
            text += &screen.prose(
                "  ",
                "  ",
                "Nothing is installed, so no host runs hooks. `gsd-tools install` installs them.",
            );
        }
        text
    }
}
