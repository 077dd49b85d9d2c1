//! One call of `install` or `uninstall`: chooses hosts and scope, plans for each host, asks, and writes.

use crate::acts::project;
use std::collections::BTreeMap;

use super::report::{InstallReport, PlannedHost};
use super::summary::{Named, Telling};
use super::{Which, ask, diff, every_host};
use crate::acts::hooks::state::Off;
use crate::acts::listing;
use crate::auto::runner::table::Runners;
use crate::disk::{Disk, Snapshot};
use crate::failure::Failure;
use crate::frame::Context;
use crate::hooks;
use crate::install::{self, Detected, InstallError, InstallPlan, Installer, Leftover, Program, Target, Wish};
use crate::library::Library;
use crate::runtime::{Descriptor, Registry, RuntimeId, Scope};
use crate::text::shell::typed;

/// The exit code of a call that a person cancelled, as for a program ended by Ctrl-C.
const CANCELLED: u8 = 130;

/// One call of `install` or `uninstall`.
pub(super) struct Job {
    pub(super) wish: Wish,
    pub(super) which: Which,
    /// Use the detected hosts.
    pub(super) detected: bool,
    pub(super) asking: Asking,
    pub(super) only_show: bool,
    pub(super) permissions: bool,
    pub(super) nested: Option<bool>,
}

/// What is asked at a terminal, and how much is shown.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct Asking {
    /// Do not ask for confirmation
    #[arg(long, short = 'y')]
    yes: bool,
    /// Never ask; fail if something is missing
    #[arg(long)]
    no_input: bool,
    /// With `--dry-run`, list every file and show full diffs
    #[arg(long, short = 'v')]
    verbose: bool,
}

/// Why each host was detected.
type Why = BTreeMap<RuntimeId, Detected>;

/// Hosts; detected ones with the reason.
type Hosts = Vec<(Descriptor, Option<Detected>)>;

/// A choice; `None` if a person cancelled it.
type Chosen<T> = Result<Option<T>, Failure>;

impl Job {
    pub(super) fn run(&self, context: &mut Context) -> Result<(), Failure> {
        let registry = context.registry()?.clone();
        let library = Library::embedded().map_err(InstallError::from)?;
        let disk = context.disk();
        let installer = Installer {
            permissions: self.permissions,
            nested: self.nested,
            ..installer(context, &disk, &registry, &library)?
        };
        let Some(chosen) = self.hosts(context, &installer)? else {
            cancel(context);
            return Ok(());
        };
        let why: Why = chosen.iter().filter_map(|(host, found)| Some((host.id.clone(), found.clone()?))).collect();
        let descriptors: Vec<Descriptor> = chosen.into_iter().map(|(host, _)| host).collect();
        if descriptors.is_empty() {
            context.text("Nothing is installed; there is nothing to remove.\n");
            return Ok(());
        }
        let Some(scope) = self.scope(context, &installer, &descriptors)? else {
            cancel(context);
            return Ok(());
        };
        let planned = self.plan(context, &installer, descriptors, scope);
        let asks = self.may_confirm(context) && planned.iter().any(|(_, planned)| changes_something(planned));
        if asks {
            let report = self.report(scope, &planned, &why);
            context.tell(report.proposal(context.page(), self.names_scope()).trim_end());
            if !ask::proceed(context.can_ask(), !report.downgrades())? {
                cancel(context);
                return Ok(());
            }
        }
        let mut shown = String::new();
        let done = if self.only_show {
            for (_, planned) in &planned {
                if let Ok((target, plan)) = planned {
                    shown.push_str(&self.rehearsal(context, target, plan)?);
                }
            }
            planned
        } else {
            self.perform(context, &installer, planned)
        };
        let mut report = self.report(scope, &done, &why);
        if self.wish == Wish::Uninstall && !self.only_show {
            report.history = history(context, &installer, &done);
            let gone = done.iter().filter_map(|(_, done)| Some(&done.as_ref().ok()?.0));
            gone.for_each(|target| hooks::forget_calls(context.world(), target.root.as_path()));
        }
        if self.which.json {
            // The text for a person names it in place.
            report.warnings().into_iter().for_each(|warning| context.warn(warning));
        }
        if self.wish == Wish::Install && !self.only_show {
            // With hooks disabled, a new install would silently do nothing at its events.
            let off = Off::read(context.world())?;
            for finding in [off.finding(), off.finding_of_variable()].into_iter().flatten() {
                context.warn(finding.line());
            }
        }
        self.answer(context, &report, &shown, asks)
    }

    fn answer(&self, context: &mut Context, report: &InstallReport, shown: &str, asked: bool) -> Result<(), Failure> {
        if self.which.json {
            context.emit(report)?;
        } else {
            let (screen, telling) = (context.page(), if asked { Telling::DoneAsAsked } else { Telling::Done });
            let named = Named { all: self.which.all, verbose: self.asking.verbose };
            let telling = if self.only_show { Telling::Rehearsed } else { telling };
            context.text(shown.to_owned() + &report.text(screen, telling, named));
            if let Some(error) = report.failure(screen) {
                return Err(error);
            }
        }
        context.exit_with(report.exit_code());
        Ok(())
    }

    /// Plans the changes for each host. Every error that can be known in advance is found before the first byte is
    /// written.
    fn plan(
        &self,
        context: &Context,
        installer: &Installer<'_>,
        descriptors: Vec<Descriptor>,
        scope: Scope,
    ) -> Vec<(Descriptor, PlannedHost)> {
        let mut targets = Vec::new();
        for descriptor in descriptors {
            let target = self.which.target(context, descriptor.clone(), scope);
            if (self.which.all || self.uses_found())
                && let Err(error @ InstallError::NoLocal { .. }) = &target
            {
                context.tell(format!("skipped: {error}"));
                continue;
            }
            let target = target.and_then(|target| {
                if !self.only_show {
                    installer.settle(&target)?;
                }
                Ok(target)
            });
            targets.push((descriptor, target));
        }
        // Taken after all interrupted writes are settled: files settled for one host may be read for another.
        let mut seen = Snapshot::default();
        let mut plan = |target| {
            let plan = installer.plan(self.wish, &target, &mut seen).map_err(|error| target.explain(error))?;
            Ok((target, plan))
        };
        targets.into_iter().map(|(descriptor, target)| (descriptor, target.and_then(&mut plan))).collect()
    }

    fn perform(
        &self,
        context: &Context,
        installer: &Installer<'_>,
        planned: Vec<(Descriptor, PlannedHost)>,
    ) -> Vec<(Descriptor, PlannedHost)> {
        let count = planned.len();
        // A person gets the result soon enough.
        let tells = count > 1 && !context.is_for_a_person();
        let perform = |(number, (descriptor, planned)): (usize, (Descriptor, PlannedHost))| {
            let done = planned.and_then(|(target, plan)| {
                if tells {
                    context.tell(format!("[{} of {count}] {}", number + 1, descriptor.name));
                }
                let plan = installer.perform(self.wish, &target, plan).map_err(|error| target.explain(error))?;
                Ok((target, plan))
            });
            (descriptor, done)
        };
        planned.into_iter().enumerate().map(perform).collect()
    }

    fn rehearsal(&self, context: &Context, target: &Target, plan: &InstallPlan) -> Result<String, Failure> {
        if self.asking.verbose && !self.which.json {
            return Ok(diff::text(target, plan, context.screen())?);
        }
        Ok(String::new())
    }

    fn report(&self, scope: Scope, planned: &[(Descriptor, PlannedHost)], why: &Why) -> InstallReport {
        let mut report = InstallReport::new(self.wish, self.only_show);
        for (descriptor, planned) in planned {
            report.push(descriptor, scope, planned, why.get(&descriptor.id));
        }
        report
    }

    /// The hosts that were named, detected, or chosen by a person.
    fn hosts(&self, context: &Context, installer: &Installer<'_>) -> Chosen<Hosts> {
        let unexplained = |hosts: Vec<Descriptor>| hosts.into_iter().map(|host| (host, None)).collect::<Hosts>();
        if self.which.all || !self.which.hosts.is_empty() {
            return self.which.named(context, installer.registry).map(|hosts| Some(unexplained(hosts)));
        }
        let asks = !self.uses_found() && self.may_ask(context);
        let known = every_host(context, installer.registry)?;
        if self.wish == Wish::Uninstall {
            let is_meant = |host: &Descriptor| self.which.is_meant_to_go(context, host, installer);
            let there: Vec<Descriptor> = known.into_iter().filter(is_meant).collect();
            if !self.uses_found() && !asks {
                return Err(self.no_host(&there));
            }
            if asks && !there.is_empty() {
                let rows = there.into_iter().map(|host| ("installed".to_owned(), host)).collect();
                return Ok(ask::hosts(rows, Vec::new(), self.wish)?.map(unexplained));
            }
            return Ok(Some(unexplained(there)));
        }
        let detect = |host: Descriptor| (self.which.detected(context, &host), host);
        let (found, others): (Vec<_>, Vec<_>) = known.into_iter().map(detect).partition(|(found, _)| found.is_some());
        let others: Vec<Descriptor> = others.into_iter().map(|(_, host)| host).collect();
        if asks {
            let is_installed = |host: &Descriptor| {
                let has = |scope| self.which.is_installed(context, host, scope, installer);
                if self.which.local { has(Scope::Local) } else { has(Scope::Global) }
            };
            let rows = found.into_iter().map(|(why, host)| {
                let why = why.filter(|_| !is_installed(&host)).map(|why| why.short());
                (why.unwrap_or_else(|| "installed".to_owned()), host)
            });
            return Ok(ask::hosts(rows.collect(), others, self.wish)?.map(unexplained));
        }
        if !self.uses_found() {
            let found: Vec<Descriptor> = found.into_iter().map(|(_, host)| host).collect();
            return Err(self.no_host(&found));
        }
        if found.is_empty() {
            return Err(self.nothing_detected(context, &others));
        }
        Ok(Some(found.into_iter().map(|(why, host)| (host, why)).collect()))
    }

    /// The error that no host was detected, with the places that were searched, and the command to type.
    fn nothing_detected(&self, context: &Context, hosts: &[Descriptor]) -> Failure {
        let folder = |host: &Descriptor| {
            let target = self.which.target(context, host.clone(), Scope::Global).ok()?;
            Some(target.shown(&target.root))
        };
        let folders: Vec<String> = hosts.iter().filter_map(folder).collect();
        let names =
            |host: &Descriptor| host.programs.iter().flat_map(|programs| programs.names.clone()).collect::<Vec<_>>();
        let mut programs: Vec<String> = hosts.iter().flat_map(names).collect();
        programs.sort();
        programs.dedup();
        let scope = if self.which.local { Scope::Local } else { Scope::Global };
        Failure::usage("no host was found on this machine")
            .cause(format!("none of these folders exists: {}", folders.join(", ")))
            .cause(format!("none of these programs is in PATH: {}", programs.join(", ")))
            .hint(format!("name a host: `{}`", typed!("gsd-tools install --{} --{}", example(hosts), scope.word())))
            .hint("`gsd-tools runtimes` lists the supported hosts")
            .exits(2)
    }

    /// Whether the detected hosts are used without asking. `--yes` agrees to installing into them, but not to removing
    /// them.
    fn uses_found(&self) -> bool {
        self.detected || (self.asking.yes && self.wish == Wish::Install)
    }

    fn no_host(&self, likely: &[Descriptor]) -> Failure {
        let error = Failure::usage("no host given").exits(2);
        let example = likely
            .first()
            .map(|host| format!(", such as `{}`", typed!("gsd-tools {} --{}", self.wish.word(), host.id)));
        match (self.wish, example) {
            (Wish::Uninstall, None) => error.hint("nothing is installed; `gsd-tools status` shows what is"),
            (wish, example) => {
                let which = if wish == Wish::Install { "found on this machine" } else { "that are installed" };
                let example = example.unwrap_or_else(|| " with `--host NAME`".to_owned());
                error
                    .hint(format!("add `--detected` for the hosts {which}, or name some{example}"))
                    .hint("`gsd-tools runtimes` lists the supported hosts")
            }
        }
    }

    /// The scope that was named or chosen; for an uninstall, else the one these hosts are installed in.
    fn scope(&self, context: &Context, installer: &Installer<'_>, hosts: &[Descriptor]) -> Chosen<Scope> {
        let which = &self.which;
        if self.names_scope() {
            return Ok(Some(if which.local { Scope::Local } else { Scope::Global }));
        }
        let can_ask = self.may_ask(context);
        if self.wish == Wish::Install {
            let was_asked = which.hosts.is_empty() && !which.all && !self.uses_found();
            return if was_asked && can_ask { ask::scope(self.wish) } else { Ok(Some(Scope::Global)) };
        }
        // An install that came with a repository does not count.
        let is_anywhere = |scope| hosts.iter().any(|host| which.is_installed(context, host, scope, installer));
        match (is_anywhere(Scope::Global), is_anywhere(Scope::Local)) {
            (true, true) if can_ask => ask::scope(self.wish),
            (true, true) => Err(Failure::usage("installed both globally and in this project")
                .hint("add --global or --local to say which install to remove")
                .exits(2)),
            (false, true) => Ok(Some(Scope::Local)),
            _ => Ok(Some(Scope::Global)),
        }
    }

    fn names_scope(&self) -> bool {
        self.which.local || self.which.global || self.which.config_dir.is_some()
    }

    /// Whether a person can be asked to choose.
    fn may_ask(&self, context: &Context) -> bool {
        context.can_ask() && !self.which.json && !self.asking.no_input && !self.asking.yes
    }

    /// Whether a person is asked before anything is written.
    fn may_confirm(&self, context: &Context) -> bool {
        let quiet = self.which.json || self.only_show || self.asking.no_input || self.asking.yes;
        crate::acts::caller::can_confirm(context) && !quiet
    }
}

/// The inputs of an install, including everything that we install.
pub(super) fn installer<'a>(
    context: &'a Context,
    disk: &'a Disk,
    registry: &'a Registry,
    library: &'a Library,
) -> Result<Installer<'a>, Failure> {
    let unasked = listing::unasked_calls(context.verbs()).into_iter().map(str::to_owned).collect();
    let program = Program::running(context.world())?;
    Ok(Installer { world: context.world(), disk, registry, library, program, permissions: true, unasked, nested: None })
}

/// The host to name in an example: the one whose client is preferred.
pub(super) fn example(hosts: &[Descriptor]) -> &str {
    let runners = Runners::builtin().ok();
    let first = runners.iter().flat_map(Runners::iter).find_map(|runner| {
        let host = runner.host.as_deref()?;
        hosts.iter().find(|known| known.id.as_str() == host)
    });
    first.or(hosts.first()).map_or("host NAME", |host| host.id.as_str())
}

fn changes_something(planned: &PlannedHost) -> bool {
    planned.as_ref().is_ok_and(|(_, plan)| !plan.is_empty())
}

/// The kept history of installs, if the last one was removed. Unreadable history is ignored.
fn history(context: &Context, installer: &Installer<'_>, done: &[(Descriptor, PlannedHost)]) -> Option<Leftover> {
    let target = done.iter().find_map(|(_, planned)| planned.as_ref().ok()).map(|(target, _)| target)?;
    let is_there = |host: &Descriptor| {
        let is_there = |scope| {
            let folder = project::install_folder(context);
            let target = Target::resolve(host.clone(), scope, &folder, None, context.world());
            target.is_ok_and(|target| install::is_installed(&target))
        };
        is_there(Scope::Global) || is_there(Scope::Local)
    };
    let is_left = installer.registry.all().ok()?.iter().any(is_there);
    let is_elsewhere = !install::remembered(context.world()).ok()?.is_empty();
    if is_left || is_elsewhere { None } else { install::history(target).ok().flatten() }
}

/// Ends a call that a person cancelled.
fn cancel(context: &mut Context) {
    context.tell("Cancelled; nothing was changed");
    context.exit_with(CANCELLED);
}
