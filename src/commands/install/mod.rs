//! `install`, `uninstall`, `status`, `package` and `recover`.
//!
//! All hosts are planned before the first one is written, so that every error of a plan is known first. A host that
//! fails does not stop the others; the summary and the exit code report it.

mod ask;
mod cost;
mod diff;
mod doctor;
mod explain;
mod history;
mod job;
mod lock;
mod managed;
pub(super) mod package;
pub(super) mod report;
mod status;
mod summary;
mod update;
pub(crate) mod updating;
mod words;

pub(super) use words::{spelled, with_hosts};

use crate::acts::caller;
use crate::acts::project;
use std::cell::OnceCell;

use crate::acts::hooks::state::Off;
use crate::disk::{self, AbsolutePath, DiskError};
use crate::failure::{Explain, Failure};
use crate::frame::{Context, verbs};
use crate::install::{self, AskedOptions, Detected, InstallError, Installer, PlanFile, Target, Wish};
use crate::library::Library;
use crate::runtime::{Descriptor, Registry, Scope};
use job::{Asking, Job, Showing};
use report::Recovered;
use status::StatusReport;

verbs! {
    "Install" (own);

    /// Install commands, workflows, agents and hooks into hosts
    ///
    /// Name the hosts as flags, such as `--claude --codex`; `gsd-tools runtimes` lists them. `--detected` takes the hosts
    /// whose config directory exists or whose program is in PATH; a host that you name needs neither. Without a host, a
    /// terminal asks which, and `--yes` takes the detected ones. `--all` also creates folders for hosts that you do not
    /// have. `gsd-tools --claude` is short for `gsd-tools install --claude`.
    ///
    /// Writes into the host's config directory, adds our hooks to the host's settings, and allows `gsd-tools` in its
    /// permission list. Files of an earlier install that you edited are saved to `gsd-local-patches/`. `--local` installs
    /// into the nearest folder with `.planning`, else into the repository.
    ///
    /// `--profile` installs a part of the commands, with the agents they need: `core` plans and executes phases, `standard`
    /// adds onboarding, review, settings and sessions, and a feature of `gsd-tools capability list` brings its commands.
    /// `gsd-tools cost` compares what each costs a session.
    ///
    /// If one host fails, the others are installed all the same, and the exit code is not 0.
    ///
    /// Example: `gsd-tools install --claude --global`.
    "install": writes [asked] json(report::InstallReport, install::PlanFile) = install(InstallArgs);

    /// Uninstall from hosts and restore the files that install changed
    ///
    /// Removes the installed files, and our entries from settings files; everything else in those files is unchanged.
    /// Installed files that you edited are moved to `gsd-local-patches/`, so that the host no longer reads them.
    ///
    /// Example: `gsd-tools uninstall --claude --global`.
    "uninstall": destroys [asked] json(report::InstallReport, install::PlanFile) = uninstall(UninstallArgs);

    /// Install or uninstall exactly as a plan says
    ///
    /// `install`, `update` and `uninstall` write a plan with `--plan FILE`: every file and every key of settings, with
    /// digests and without contents. This program makes the plan again; if the two differ, nothing is written, and what
    /// changed since is named.
    ///
    /// Example: `gsd-tools apply team.plan --dry-run`.
    "apply": writes [asked] json(report::InstallReport) = apply(ApplyArgs);

    /// Update installs to the version of this program
    ///
    /// Without a host, updates every install for all your projects and those in this project; with `--all`, those in all
    /// projects and folders too. Keeps the options of each install. Installed files that you edited get the changes of
    /// this version; where both changed the same lines, your version is saved to `gsd-local-patches/`.
    ///
    /// With `--check`, lists the installs that are not at this version, how to update the program itself, and exits 1 if
    /// there is something to update.
    ///
    /// Example: `gsd-tools update --check`.
    "update": writes [asked] json(report::InstallReport, install::PlanFile, update::UpdateCheckReport) = update(UpdateInstallsArgs);

    /// Show installed hosts, versions and modified files
    ///
    /// Without a host, shows every install: global, local, and those made with `--config-dir`. Exits 1 if installed files
    /// or our entries in settings are missing or modified, or if a write was interrupted.
    ///
    /// With `--check`, compares this project with its `gsd-tools.lock`, and exits 1 if they differ: for CI.
    ///
    /// Example: `gsd-tools status --json`.
    "status": reads json(status::StatusReport, lock::LockCheckReport) = status(StatusArgs);

    /// Check installs, hooks, clients, the project and its runs
    ///
    /// Shows what was looked at, and for each problem its place and its cure. Runs each of our registered hooks
    /// once, and asks the clients of hosts for their version. Exits 1 if something does not work.
    ///
    /// With `--fix`, repairs what can be repaired without losing anything, all of it or nothing: finishes interrupted writes,
    /// updates installs that lack something, adds missing settings of the project. `gsd-tools undo` takes it back.
    ///
    /// Example: `gsd-tools doctor --fix --dry-run`.
    "doctor": writes [asked] json(doctor::DoctorReport) = doctor::doctor(doctor::DoctorArgs);

    /// Show what an install costs a session, in bytes and tokens
    ///
    /// Every session loads the names and descriptions of commands and agents, our block of instructions, and what our hook
    /// says at its start; a typed command loads its text, and an agent its own. Shows these next to your own commands,
    /// agents and instructions in the same folders, and compares the profiles of `gsd-tools install --profile`.
    ///
    /// Reads installed files as they are; with `--profile`, or if nothing is installed, shows what an install would bring.
    ///
    /// Example: `gsd-tools cost --claude --profile core`.
    "cost": reads json(cost::CostReport) = cost::cost(cost::CostArgs);

    /// Explain whose a file of a host is, and each key or line in it
    ///
    /// For settings and instruction files: a row for each key, entry or block, with its line: ours and since when, as the
    /// history or the manifest says, yours, or another program's, such as GSD Core's. Yours are grouped unless `--verbose` is
    /// given. For an installed file: the install it belongs to, and whether it was edited since. Reads only. Exits 1 if the
    /// file is of no host.
    ///
    /// Example: `gsd-tools explain ~/.claude/settings.json`.
    "explain": reads json(install::Explanation) = explain::explain(explain::ExplainArgs);

    /// List past installs, updates and uninstalls
    ///
    /// Shows the latest first: when, by which version, for which hosts, how many files, and what was taken back. The last 32
    /// calls are kept.
    ///
    /// Example: `gsd-tools history`.
    "history": reads json(history::HistoryReport) = history::history(history::HistoryArgs);

    /// Undo the last install, update or uninstall
    ///
    /// Brings back what was there, including files of another program that an install had replaced. With a number from
    /// `gsd-tools history`, takes back that call; later calls that changed the same installs must be taken back first. Your
    /// edits since are kept: settings are merged, and installed files that you edited are saved to `gsd-local-patches/`.
    ///
    /// Example: `gsd-tools undo --dry-run`.
    "undo": destroys [asked] json(history::UndoReport) = history::undo(history::UndoArgs);

    /// Redo what the last undo took back
    ///
    /// With a number, makes that call again.
    ///
    /// Example: `gsd-tools redo --dry-run`.
    "redo": destroys [asked] json(history::UndoReport) = history::redo(history::UndoArgs);

    /// Pin the version and the content of the installs in this project
    ///
    /// Writes `gsd-tools.lock`, for the hosts that are installed in this project, else for those it already lists. Commit
    /// it: `install --local` then installs what it lists, another version of the program is refused, and `status --check`
    /// compares the project with it.
    ///
    /// Example: `gsd-tools lock`.
    "lock": writes [asked] json(lock::LockReport) = lock::lock(lock::LockArgs);

    /// Build a distributable plugin for a host
    ///
    /// Writes commands, agents, hooks and the program into a folder that the host loads as a plugin, prints how to load
    /// it, and lists what a plugin of this host cannot contain.
    ///
    /// With `--managed`, writes what an administrator places for everyone on a computer instead: hooks that users cannot
    /// remove, and commands and agents where the host reads them from the system. For the hosts that `gsd-tools.lock` pins,
    /// or for the one named by `--host`.
    ///
    /// Example: `gsd-tools package --host claude dist/plugin`.
    "package": writes [asked] json(package::PackageReport, managed::ManagedReport) = package(package::PackageArgs);

    /// Finish or undo writes that were interrupted
    ///
    /// Searches the project and the config directories of all hosts. A write that was committed is finished, any other
    /// is undone. Every command that writes does the same for the folders it writes to.
    ///
    /// Example: `gsd-tools recover`.
    "recover": acts json(report::Recovered) = recover();
}

/// Which hosts, and where.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Which {
    /// Use this host; repeat it for several. `--codex` is short for `--host codex`
    #[arg(long = "host", value_name = "NAME")]
    hosts: Vec<String>,
    /// Global scope: all your projects
    #[arg(long, short = 'g', conflicts_with = "local")]
    global: bool,
    /// Local scope: only this project
    #[arg(long, short = 'l')]
    local: bool,
    /// Use this config directory instead of the host's default
    #[arg(long, short = 'c', value_name = "FOLDER", conflicts_with_all = ["all", "local"])]
    config_dir: Option<String>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// How to install.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct InstallArgs {
    #[command(flatten)]
    which: Which,
    /// Use all supported hosts
    #[arg(long, conflicts_with = "hosts")]
    all: bool,
    /// Use the hosts whose config directory exists or whose program is in PATH
    #[arg(long, conflicts_with_all = ["hosts", "all", "config_dir"])]
    detected: bool,
    #[command(flatten)]
    asking: Asking,
    #[command(flatten)]
    showing: Showing,
    /// Show what would be written without writing it
    #[arg(long)]
    dry_run: bool,
    /// Do not edit the host's permission list; later installs keep it so
    #[arg(long)]
    no_permissions: bool,
    /// Add our entries to the host's permission list again, after `--no-permissions`
    #[arg(long, conflicts_with = "no_permissions")]
    permissions: bool,
    /// Skill layout; later installs keep it
    #[arg(long, value_name = "LAYOUT")]
    skills: Option<SkillLayout>,
    /// Install a part of the commands: core, standard, full, or features, separated by commas; later installs keep it
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    profile: Vec<String>,
    /// The same as `--profile=core`; also `--core-only`
    #[arg(long, alias = "core-only", conflicts_with = "profile")]
    minimal: bool,
    /// Replace your own status line with ours, until the uninstall
    #[arg(long)]
    force_statusline: bool,
    /// Name our program in hooks by `$HOME`; also with `GSD_PORTABLE_HOOKS=1`
    #[arg(long)]
    portable_hooks: bool,
    /// Leave installs of other programs in place, such as GSD Core
    #[arg(long)]
    no_legacy_cleanup: bool,
}

/// The profile of `--minimal`.
const MINIMAL: &str = "core";

/// The layout of commands that are skills.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum SkillLayout {
    /// List every command, on every host
    Flat,
    /// Group commands under routers; hosts that do not search subfolders list only the routers
    Nested,
}

/// How to uninstall.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct UninstallArgs {
    #[command(flatten)]
    which: Which,
    /// Use every install: of all hosts, in all projects and folders
    #[arg(long, conflicts_with = "hosts")]
    all: bool,
    /// Use the hosts that are installed
    #[arg(long, conflicts_with_all = ["hosts", "all", "config_dir"])]
    detected: bool,
    #[command(flatten)]
    asking: Asking,
    #[command(flatten)]
    showing: Showing,
    /// Show what would be removed without removing it
    #[arg(long)]
    dry_run: bool,
}

/// What to update.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct UpdateInstallsArgs {
    #[command(flatten)]
    which: Which,
    /// Update every install: of all hosts, in all projects and folders
    #[arg(long, conflicts_with = "hosts")]
    all: bool,
    /// Show what is not at the version of this program, and how to update the program
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    asking: Asking,
    #[command(flatten)]
    showing: Showing,
    /// Show what would be changed without changing it
    #[arg(long)]
    dry_run: bool,
}

/// The plan to apply.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ApplyArgs {
    /// The plan, made with `--plan FILE`
    file: String,
    #[command(flatten)]
    asking: Asking,
    /// Check whether the plan still fits without writing
    #[arg(long)]
    dry_run: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Whose status.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    which: Which,
    /// Show every install: of all hosts, in all projects and folders
    #[arg(long, conflicts_with = "hosts")]
    all: bool,
    /// List every missing or modified file
    #[arg(long)]
    verbose: bool,
    /// Compare this project with its `gsd-tools.lock`
    #[arg(long, conflicts_with_all = ["all", "hosts", "global", "config_dir"])]
    check: bool,
}

fn install(context: &mut Context, arguments: &InstallArgs) -> Result<(), Failure> {
    let showing = arguments.showing.clone();
    let only_show = arguments.dry_run || showing.only_shows();
    let portable = context.world().variable("GSD_PORTABLE_HOOKS").is_some_and(|value| value == "1");
    let minimal = arguments.minimal.then(|| vec![MINIMAL.to_owned()]);
    let named = (!arguments.profile.is_empty()).then(|| arguments.profile.clone());
    let job = Job {
        all: arguments.all,
        detected: arguments.detected,
        showing,
        permissions: (arguments.no_permissions || arguments.permissions).then_some(arguments.permissions),
        nested: arguments.skills.map(|layout| layout == SkillLayout::Nested),
        profile: minimal.or(named),
        asked: AskedOptions {
            status_line: arguments.force_statusline,
            portable_hooks: arguments.portable_hooks || portable,
            keeps_others: arguments.no_legacy_cleanup,
        },
        ..Job::keeping(Wish::Install, arguments.which.clone(), arguments.asking, only_show)
    };
    job.run(context)
}

fn uninstall(context: &mut Context, arguments: &UninstallArgs) -> Result<(), Failure> {
    let &UninstallArgs { ref which, all, detected, asking, ref showing, dry_run } = arguments;
    let (only_show, showing) = (dry_run || showing.only_shows(), showing.clone());
    // An uninstall removes the guards too.
    if !only_show {
        caller::refuses_agents(context, "uninstall")?;
    }
    let job = Job { all, detected, showing, ..Job::keeping(Wish::Uninstall, which.clone(), asking, only_show) };
    job.run(context)
}

fn update(context: &mut Context, arguments: &UpdateInstallsArgs) -> Result<(), Failure> {
    let &UpdateInstallsArgs { ref which, all, check, asking, ref showing, dry_run } = arguments;
    let (only_show, showing) = (dry_run || showing.only_shows(), showing.clone());
    let job = Job { all, showing, ..Job::keeping(Wish::Update, which.clone(), asking, only_show) };
    if check { job.check(context) } else { job.run(context) }
}

fn apply(context: &mut Context, arguments: &ApplyArgs) -> Result<(), Failure> {
    let file = &arguments.file;
    let Some(text) = disk::read_text(context.here().resolve(file))? else {
        return Err(Failure::usage(format!("there is no file `{file}`"))
            .hint("make a plan with `gsd-tools install --plan FILE`")
            .exits(2));
    };
    let plan = PlanFile::parse(file, &text)?;
    let wish = plan.wish().unwrap_or(Wish::Install);
    if wish == Wish::Uninstall && !arguments.dry_run {
        caller::refuses_agents(context, "apply")?;
    }
    let which = Which { hosts: Vec::new(), global: true, local: false, config_dir: None, json: arguments.json };
    let job = Job {
        permissions: plan.permissions,
        nested: plan.nested,
        profile: plan.profile.as_ref().map(|profile| profile.to_string().split(',').map(str::to_owned).collect()),
        asked: plan.asked(),
        plan: Some(plan),
        ..Job::keeping(wish, which, arguments.asking, arguments.dry_run)
    };
    job.run(context)
}

impl Which {
    /// The hosts that were named.
    fn named(&self, registry: &Registry) -> Result<Vec<Descriptor>, Failure> {
        let mut found: Vec<Descriptor> = Vec::new();
        for name in &self.hosts {
            let descriptor = registry.find(name).map_err(InstallError::from)?;
            if !found.iter().any(|known| known.id == descriptor.id) {
                found.push(descriptor);
            }
        }
        if self.config_dir.is_some() && found.len() > 1 {
            return Err(Failure::usage("`--config-dir` works with one host only")
                .hint("run `gsd-tools install` once for each host and folder")
                .exits(2));
        }
        Ok(found)
    }

    /// Why this host counts as detected in an install without named hosts: its folder exists, or its program.
    fn detected(&self, context: &Context, host: &Descriptor) -> Option<Detected> {
        let by_folder = |scope| Detected::by_folder(&self.target(context, host.clone(), scope).ok()?);
        // If a host's global folder exists, it is in use here, even if the project has no folder for it yet.
        let found = by_folder(Scope::Global).or_else(|| self.local.then(|| by_folder(Scope::Local)).flatten());
        found.or_else(|| Detected::by_program(host, context.world()))
    }

    /// Whether this host is included in an uninstall without named hosts.
    fn is_meant_to_go(&self, context: &Context, host: &Descriptor, installer: &Installer<'_>) -> bool {
        let has = |scope| self.is_installed(context, host, scope, installer);
        (!self.local && has(Scope::Global)) || (!self.global && has(Scope::Local))
    }

    /// Whether the user installed for this host; an install that came with a repository does not count.
    fn is_installed(&self, context: &Context, host: &Descriptor, scope: Scope, installer: &Installer<'_>) -> bool {
        let unlisted = |target: &Target| matches!(installer.unlisted(target), Ok(Some(_)));
        self.target(context, host.clone(), scope)
            .is_ok_and(|target| install::is_installed(&target) || unlisted(&target))
    }

    fn target(&self, context: &Context, descriptor: Descriptor, scope: Scope) -> Result<Target, InstallError> {
        Target::resolve(
            descriptor,
            scope,
            &project::install_folder(context),
            self.config_dir.as_deref(),
            context.world(),
        )
    }
}

/// All hosts. Warns about each descriptor of the user that cannot be used.
fn every_host(context: &Context, registry: &Registry) -> Result<Vec<Descriptor>, Failure> {
    for broken in registry.broken() {
        let cure = broken.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
        context.warn(format!("{broken}{cure}"));
    }
    Ok(registry.all().map_err(InstallError::from)?)
}

fn status(context: &mut Context, StatusArgs { which, all, verbose, check }: &StatusArgs) -> Result<(), Failure> {
    if *check {
        return lock::check(context, which);
    }
    let report = look(context, which, *all)?;
    let code = report.exit_code();
    if which.json {
        context.emit(&report)?;
    } else {
        context.text(report.text(context.page(), *verbose));
    }
    context.exit_with(code);
    Ok(())
}

/// Compares the chosen installs with their manifests; with `all`, those of other projects too.
fn look(context: &Context, which: &Which, all: bool) -> Result<StatusReport, Failure> {
    let registry = context.registry()?.clone();
    let everything = which.hosts.is_empty();
    let descriptors = if everything { every_host(context, &registry)? } else { which.named(&registry)? };
    let scopes = match (which.global, which.local) {
        (false, false) if which.config_dir.is_none() => vec![Scope::Global, Scope::Local],
        (_, true) => vec![Scope::Local],
        _ => vec![Scope::Global],
    };
    let off = Off::read(context.world())?;
    let (library, disk) = (Library::embedded().map_err(InstallError::from)?, context.disk());
    let installer = OnceCell::new();
    let mut report = StatusReport::default();
    job::example(&descriptors).clone_into(&mut report.example);
    let mut looked_apart = false;
    for descriptor in &descriptors {
        report.push_managed(descriptor, install::placed_by_administrator(descriptor, context.world()));
        for scope in &scopes {
            let target = match which.target(context, descriptor.clone(), *scope) {
                // The home folder is not a project.
                Err(InstallError::ProjectIsHome { .. } | InstallError::NoLocal { .. })
                    if everything || scopes.len() > 1 =>
                {
                    continue;
                }
                target => target?,
            };
            let status = install::status(&target);
            let mut is_there = status.as_ref().map_or(true, |status| status.version.is_some() || status.unfinished);
            let unlisted = if !is_there && install::has_traces(&target)? {
                // Finding the running program takes longer than everything else.
                if installer.get().is_none() {
                    let _ = installer.set(job::installer(context, &disk, &registry, &library)?);
                }
                installer.get().and_then(|installer| installer.unlisted(&target).transpose()).transpose()?
            } else {
                None
            };
            is_there |= unlisted.is_some();
            if !everything || is_there {
                report.push(&target, status, unlisted, &off);
            }
            // What cannot be looked at must not prevent the rest of the status.
            report.push_others(&target, install::others(&target).unwrap_or_default());
            if everything && *scope == Scope::Global && which.config_dir.is_none() && !looked_apart {
                report.push_others(&target, install::others_apart(&target).unwrap_or_default());
                looked_apart = true;
            }
            if !is_there {
                report.push_leftovers(install::leftovers(&target).unwrap_or_default());
            }
            if *scope == Scope::Global
                && let Some(found) =
                    Detected::by_folder(&target).or_else(|| Detected::by_program(descriptor, context.world()))
            {
                report.found.push((descriptor.name.clone(), descriptor.id.to_string(), found));
            }
        }
    }
    if scopes.contains(&Scope::Global) && which.config_dir.is_none() {
        remembered(context, &mut report, &descriptors, (&off, all))?;
    }
    if everything && report.is_empty() {
        let folder = project::install_folder(context);
        let target = descriptors
            .iter()
            .find_map(|host| Target::resolve(host.clone(), Scope::Global, &folder, None, context.world()).ok());
        report.history = target.and_then(|target| install::history(&target).ok().flatten());
    }
    report.push_unfinished(install::unfinished_in_state(context.world()));
    report.complete(&off);
    Ok(report)
}

/// Adds the installs of these hosts in chosen folders; with `all`, those of other projects too. One without its manifest
/// does not count as an install, and one whose folder is gone is a finding.
fn remembered(
    context: &Context,
    report: &mut StatusReport,
    hosts: &[Descriptor],
    (off, all): (&Off, bool),
) -> Result<(), Failure> {
    let (registry, folder) = (context.registry()?, project::install_folder(context));
    for place in install::remembered(context.world())?.iter().filter(|place| all || place.project.is_none()) {
        let target = place.target(registry, &folder, context.world());
        let is_asked =
            |target: &Target| hosts.iter().any(|host| host.id == target.descriptor.id) && !report.has(target);
        let Some(target) = target.ok().filter(is_asked) else { continue };
        if !place.is_there() {
            report.note_gone(&target);
            continue;
        }
        let status = install::status(&target);
        if status.as_ref().map_or(true, |status| status.version.is_some() || status.unfinished) {
            report.push(&target, status, None, off);
        }
    }
    Ok(())
}

fn package(context: &mut Context, arguments: &package::PackageArgs) -> Result<(), Failure> {
    if arguments.managed { managed::package(context, arguments) } else { package::package(context, arguments) }
}

fn recover(context: &mut Context) -> Result<(), Failure> {
    let registry = context.registry()?.clone();
    let mut roots = vec![context.here().clone(), context.root().clone(), context.root().resolve(".planning")];
    let folder = project::install_folder(context);
    roots.extend(install::unfinished_anywhere(&registry, &folder, context.world())?);
    let disk = context.disk();
    if context.is_rehearsal() {
        roots.push(AbsolutePath::parse(context.project().locked_tree()).map_err(DiskError::from)?);
        roots.sort();
        roots.dedup();
        let mut unfinished = Vec::new();
        for root in roots {
            if disk::is_unfinished(&root)? {
                unfinished.push(root.to_string());
            }
        }
        return context.emit(&Recovered { finished: Vec::new(), would_finish: Some(unfinished) });
    }
    let mut report = Recovered { finished: project::recover(context)?, would_finish: None };
    for root in roots {
        if disk::is_unfinished(&root)? {
            let hold = disk.hold([&root])?;
            report.finished.extend(hold.recovered().iter().map(ToString::to_string));
        }
    }
    install::settle_history(context.world(), &disk)?;
    let said = match report.finished.as_slice() {
        [] => "No write was interrupted: nothing to recover\n".to_owned(),
        folders => format!("Recovered: {}\n", folders.join(", ")),
    };
    context.say(&report, None, |_| said)
}
