//! One call of `install` or `uninstall`: chooses hosts and scope, plans for each host, asks, and writes.

use crate::acts::project;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use super::report::{InstallReport, PlannedHost};
use super::summary::{Named, Telling};
use super::{Which, ask, diff, every_host};
use crate::acts::hooks::state::Off;
use crate::acts::installs::profiles;
use crate::acts::listing;
use crate::auto::runner::table::Runners;
use crate::disk::{self, AbsolutePath, Disk};
use crate::failure::{Failure, Reason};
use crate::frame::Context;
use crate::hooks;
use crate::install::lock_file::LockFile;
use crate::install::{
    self, Along, AskedOptions, Detected, InstallError, InstallPlan, Installer, Keeping, Leftover, PlanFile, Program,
    Remembered, Target, Together, Wish,
};
use crate::library::Library;
use crate::runtime::{Descriptor, Registry, Scope};
use crate::text::shell::typed;
use crate::world::signals::Requests;

/// The exit code of a call that a person cancelled, as for a program ended by Ctrl-C.
pub(super) const CANCELLED: u8 = 130;

/// One call of `install` or `uninstall`.
pub(super) struct Job {
    pub(super) wish: Wish,
    pub(super) which: Which,
    /// For an install, all hosts; otherwise all places.
    pub(super) all: bool,
    /// Use the detected hosts.
    pub(super) detected: bool,
    pub(super) asking: Asking,
    pub(super) only_show: bool,
    /// `None` keeps what an install has.
    pub(super) permissions: Option<bool>,
    pub(super) nested: Option<bool>,
    /// Names of profiles as they were typed.
    pub(super) profile: Option<Vec<String>>,
    pub(super) asked: AskedOptions,
    pub(super) showing: Showing,
    /// The plan that is applied.
    pub(super) plan: Option<PlanFile>,
}

/// How a plan is shown instead of being applied.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Showing {
    /// Write the plan to FILE and change nothing else; `-` prints it. `gsd-tools apply FILE` makes exactly these changes
    #[arg(long, value_name = "FILE")]
    plan: Option<String>,
    /// Show the changed lines of every file without writing
    #[arg(long)]
    diff: bool,
}

impl Showing {
    /// Whether nothing is written.
    pub(super) fn only_shows(&self) -> bool {
        self.plan.is_some() || self.diff
    }
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

impl Asking {
    /// Whether a person is asked to confirm, if one is there.
    pub(super) fn confirms(self) -> bool {
        !self.yes && !self.no_input
    }
}

/// One install that a call is about.
#[derive(Clone, Debug)]
pub(super) struct ChosenInstall {
    pub(super) host: Descriptor,
    pub(super) scope: Scope,
    /// Where it is, if a note names the place.
    place: Option<Remembered>,
    /// Why the host was detected.
    why: Option<Detected>,
}

/// Hosts; detected ones with the reason.
type Hosts = Vec<(Descriptor, Option<Detected>)>;

/// A choice; `None` if a person cancelled it.
type Chosen<T> = Result<Option<T>, Failure>;

impl Job {
    /// A call that keeps the options of each install.
    pub(super) fn keeping(wish: Wish, which: Which, asking: Asking, only_show: bool) -> Self {
        Self {
            wish,
            which,
            all: false,
            detected: false,
            asking,
            only_show,
            permissions: None,
            nested: None,
            profile: None,
            asked: AskedOptions::default(),
            showing: Showing::default(),
            plan: None,
        }
    }

    pub(super) fn run(&self, context: &mut Context) -> Result<(), Failure> {
        let registry = context.registry()?.clone();
        let library = Library::embedded().map_err(InstallError::from)?;
        let signal = Arc::default();
        let disk = context.disk().stopped_by(Arc::clone(&signal));
        let mut installer = Installer {
            permissions: self.permissions,
            nested: self.nested,
            asked: self.asked,
            only_as_shown: self.plan.is_some(),
            ..installer(context, &disk, &registry, &library)?
        };
        if let Some(names) = &self.profile {
            installer.profile = Some(installer.profiles.typed(names, &library)?);
        }
        let Some(choices) = self.choices(context, &installer)? else {
            cancel(context);
            return Ok(());
        };
        if choices.is_empty() && self.which.json {
            return context.emit(&InstallReport::new(self.wish, self.only_show));
        }
        if choices.is_empty() {
            let nothing = if self.wish == Wish::Uninstall { "remove" } else { "update" };
            context.text(format!("Nothing is installed; there is nothing to {nothing}.\n"));
            return Ok(());
        }
        let planned = self.plan(context, &installer, choices);
        if let Some(plan) = &self.plan {
            plan.must_be(&self.plan_file(&installer, &planned)?)?;
        }
        if let Some(file) = &self.showing.plan {
            let plan = self.plan_file(&installer, &planned)?;
            if file == "-" {
                context.text(plan.to_text());
                return Ok(());
            }
            write_plan(context, file, &plan)?;
        }
        let asks = self.may_confirm(context) && planned.iter().any(|(_, planned)| changes_something(planned));
        if asks {
            let report = self.report(&planned);
            context.tell(
                report.proposal(context.page(), self.names_scope() || self.all || self.wish == Wish::Update).trim_end(),
            );
            if !ask::proceed(context.can_ask(), !report.downgrades())? {
                cancel(context);
                return Ok(());
            }
        }
        let mut shown = String::new();
        let mut keeping = Keeping::Nothing;
        let done = if self.only_show {
            for (_, planned) in &planned {
                if let Ok((target, plan)) = planned {
                    shown.push_str(&self.rehearsal(context, target, plan)?);
                }
            }
            planned
        } else {
            // From here on, a signal takes back what was done.
            let _ = Requests::note_in(&signal);
            self.perform(&installer, planned, &mut keeping)
        };
        let mut report = self.report(&done);
        report.note_keeping(&keeping);
        if self.wish == Wish::Uninstall && !self.only_show {
            report.history = history(context, &installer, &done);
            let gone = done.iter().filter_map(|(_, done)| Some(&done.as_ref().ok()?.0));
            gone.for_each(|target| hooks::forget_calls(context.world(), target.root.as_path()));
        }
        if self.which.json {
            // The text for a person names it in place.
            report.warnings().into_iter().for_each(|warning| context.warn(warning));
        }
        if self.wish.installs() && !self.only_show {
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
            let named = Named { all: self.all, verbose: self.asking.verbose };
            let telling = if self.only_show { Telling::Rehearsed } else { telling };
            context.text(shown.to_owned() + &report.text(screen, telling, named));
            if let Some(error) = report.failure(screen) {
                return Err(error);
            }
        }
        context.exit_with(report.exit_code());
        Ok(())
    }

    /// Plans the changes for each host without finishing interrupted writes.
    pub(super) fn look(
        &self,
        context: &Context,
        installer: &Installer<'_>,
        choices: Vec<ChosenInstall>,
    ) -> Vec<(ChosenInstall, PlannedHost)> {
        self.planned(context, installer, choices, true)
    }

    /// Plans the changes for each host. Every error that can be known in advance is found before the first byte is
    /// written.
    fn plan(
        &self,
        context: &Context,
        installer: &Installer<'_>,
        choices: Vec<ChosenInstall>,
    ) -> Vec<(ChosenInstall, PlannedHost)> {
        self.planned(context, installer, choices, self.only_show)
    }

    fn planned(
        &self,
        context: &Context,
        installer: &Installer<'_>,
        choices: Vec<ChosenInstall>,
        only_looks: bool,
    ) -> Vec<(ChosenInstall, PlannedHost)> {
        let mut targets = Vec::new();
        for choice in choices {
            let target = self.target(context, installer.registry, &choice);
            if (self.all || self.uses_found())
                && let Err(error @ InstallError::NoLocal { .. }) = &target
            {
                context.tell(format!("skipped: {error}"));
                continue;
            }
            let target = target.and_then(|target| {
                if !only_looks {
                    report_settled(context, &installer.settle(&target)?);
                }
                Ok(target)
            });
            targets.push((choice, target));
        }
        // Begun after all interrupted writes are settled: files settled for one host may be read for another.
        let mut together = Together::default();
        let count = targets.len();
        // A person gets the result soon enough.
        let tells = count > 1 && !only_looks && !context.is_for_a_person();
        let mut number = 0;
        let mut plan = |target: Target| {
            if tells {
                number += 1;
                context.tell(format!("[{number} of {count}] {}", target.descriptor.name));
            }
            let plan = installer.plan(self.wish, &target, &mut together);
            plan.map(|plan| (target.clone(), plan)).map_err(|error| target.explain(error))
        };
        let planned = targets.into_iter().map(|(choice, target)| (choice, target.and_then(&mut plan)));
        planned.map(|(choice, planned)| (choice, planned.map_err(Rc::new))).collect()
    }

    /// Makes the changes of all hosts that could be planned, or none of them.
    fn perform(
        &self,
        installer: &Installer<'_>,
        planned: Vec<(ChosenInstall, PlannedHost)>,
        keeping: &mut Keeping,
    ) -> Vec<(ChosenInstall, PlannedHost)> {
        let (planned, failed): (Vec<_>, Vec<_>) = planned.into_iter().enumerate().partition(|(_, (_, it))| it.is_ok());
        let (order, planned): (Vec<(usize, ChosenInstall)>, Vec<_>) = planned
            .into_iter()
            .filter_map(|(number, (choice, planned))| Some(((number, choice), planned.ok()?)))
            .unzip();
        let targets: Vec<Target> = planned.iter().map(|(target, _)| target.clone()).collect();
        let results: Vec<PlannedHost> = match installer.perform(self.wish, planned, &Along::default()) {
            Ok((done, kept)) => {
                *keeping = kept;
                done.into_iter().map(Ok).collect()
            }
            Err(error) => {
                let error = match targets.first() {
                    Some(first) => Rc::new(first.explain(error)),
                    None => Rc::new(error),
                };
                targets.iter().map(|_| Err(Rc::clone(&error))).collect()
            }
        };
        let done = order.into_iter().zip(results).map(|((number, choice), result)| (number, (choice, result)));
        let mut all: Vec<_> = done.chain(failed).collect();
        all.sort_by_key(|(number, _)| *number);
        all.into_iter().map(|(_, host)| host).collect()
    }

    fn rehearsal(&self, context: &Context, target: &Target, plan: &InstallPlan) -> Result<String, Failure> {
        if (self.asking.verbose || self.showing.diff) && !self.which.json {
            return Ok(diff::text(target, plan, context.screen())?);
        }
        Ok(String::new())
    }

    fn report(&self, planned: &[(ChosenInstall, PlannedHost)]) -> InstallReport {
        let mut report = InstallReport::new(self.wish, self.only_show);
        for (choice, planned) in planned {
            report.push(&choice.host, choice.scope, planned, choice.why.as_ref());
        }
        report
    }

    /// The plan file of these plans. A host that cannot be planned is an error: a plan is for all of its hosts.
    fn plan_file(
        &self,
        installer: &Installer<'_>,
        planned: &[(ChosenInstall, PlannedHost)],
    ) -> Result<PlanFile, Failure> {
        if let Some(error) = planned.iter().find_map(|(_, planned)| planned.as_ref().err()) {
            return Err(Failure::because(Reason::Unknown, error.as_ref()));
        }
        let planned = planned.iter().filter_map(|(_, planned)| planned.as_ref().ok());
        Ok(PlanFile::of(self.wish, installer, planned))
    }

    fn target(&self, context: &Context, registry: &Registry, choice: &ChosenInstall) -> Result<Target, InstallError> {
        match &choice.place {
            Some(place) => place.target(registry, &project::install_folder(context), context.world()),
            None => self.which.target(context, choice.host.clone(), choice.scope),
        }
    }

    /// The installs that the call is about: the chosen hosts in the chosen scope, or those that exist.
    pub(super) fn choices(&self, context: &Context, installer: &Installer<'_>) -> Chosen<Vec<ChosenInstall>> {
        if let Some(plan) = &self.plan {
            let choice = |place: &Remembered| {
                let host = installer.registry.find(&place.runtime).map_err(InstallError::from)?;
                Ok(ChosenInstall { host, scope: place.scope, place: Some(place.clone()), why: None })
            };
            return plan.places().map(choice).collect::<Result<_, Failure>>().map(Some);
        }
        if self.wish == Wish::Update || (self.wish == Wish::Uninstall && self.all) {
            return self.installed(context, installer).map(Some);
        }
        let Some(hosts) = self.hosts(context, installer)? else { return Ok(None) };
        let descriptors: Vec<Descriptor> = hosts.iter().map(|(host, _)| host.clone()).collect();
        if descriptors.is_empty() {
            return Ok(Some(Vec::new()));
        }
        let Some(scope) = self.scope(context, installer, &descriptors)? else { return Ok(None) };
        Ok(Some(hosts.into_iter().map(|(host, why)| ChosenInstall { host, scope, place: None, why }).collect()))
    }

    /// The installs that exist: in the usual folders, in this project, and where notes name them. Those of other projects
    /// only count with `--all`.
    fn installed(&self, context: &Context, installer: &Installer<'_>) -> Result<Vec<ChosenInstall>, Failure> {
        let hosts = match self.which.hosts.as_slice() {
            [] => every_host(context, installer.registry)?,
            _ => self.which.named(installer.registry)?,
        };
        let scopes = match (self.which.global || self.which.config_dir.is_some(), self.which.local) {
            (true, _) => vec![Scope::Global],
            (_, true) => vec![Scope::Local],
            _ => vec![Scope::Global, Scope::Local],
        };
        let mut choices = Vec::new();
        let mut roots = BTreeSet::new();
        for host in &hosts {
            for scope in &scopes {
                let is_there = match self.wish {
                    Wish::Uninstall => self.which.is_installed(context, host, *scope, installer),
                    _ => self.which.target(context, host.clone(), *scope).is_ok_and(|it| install::is_installed(&it)),
                };
                if is_there {
                    let target = self.which.target(context, host.clone(), *scope);
                    roots.extend(target.ok().map(|target| (host.id.clone(), target.root)));
                    choices.push(ChosenInstall { host: host.clone(), scope: *scope, place: None, why: None });
                }
            }
        }
        if self.which.config_dir.is_some() {
            return Ok(choices);
        }
        for place in install::remembered(context.world())? {
            let Some(host) = hosts.iter().find(|host| host.id.as_str() == place.runtime) else { continue };
            let is_meant = scopes.contains(&place.scope) && (self.all || place.project.is_none());
            if !is_meant || !place.is_there() {
                continue;
            }
            let root = AbsolutePath::parse(&place.root).map_err(InstallError::from)?;
            if roots.insert((host.id.clone(), root)) {
                let scope = place.scope;
                choices.push(ChosenInstall { host: host.clone(), scope, place: Some(place), why: None });
            }
        }
        Ok(choices)
    }

    /// The hosts that were named, detected, or chosen by a person.
    fn hosts(&self, context: &Context, installer: &Installer<'_>) -> Chosen<Hosts> {
        let unexplained = |hosts: Vec<Descriptor>| hosts.into_iter().map(|host| (host, None)).collect::<Hosts>();
        if self.all {
            return every_host(context, installer.registry).map(|hosts| Some(unexplained(hosts)));
        }
        if !self.which.hosts.is_empty() {
            return self.which.named(installer.registry).map(|hosts| Some(unexplained(hosts)));
        }
        if self.wish == Wish::Install
            && self.which.local
            && !self.detected
            && let Some(lock) = LockFile::read(&project::install_folder(context))?
        {
            let pinned = lock.hosts.keys().map(|host| Ok(installer.registry.find(host).map_err(InstallError::from)?));
            return pinned.collect::<Result<_, Failure>>().map(|hosts| Some(unexplained(hosts)));
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
            let was_asked = which.hosts.is_empty() && !self.all && !self.uses_found();
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

/// Reports the folders in which an interrupted write was finished or undone.
pub(super) fn report_settled(context: &Context, folders: &[AbsolutePath]) {
    for folder in folders {
        context.warn(format!("an interrupted write to `{folder}` was undone, or finished if it was already committed"));
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
    let version = install::version(context.world());
    Ok(Installer {
        world: context.world(),
        disk,
        registry,
        library,
        program,
        version,
        permissions: None,
        unasked,
        nested: None,
        profile: None,
        profiles: profiles(),
        asked: AskedOptions::default(),
        only_as_shown: false,
    })
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
fn history(context: &Context, installer: &Installer<'_>, done: &[(ChosenInstall, PlannedHost)]) -> Option<Leftover> {
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
    let is_elsewhere = install::remembered(context.world()).ok()?.iter().any(Remembered::is_there);
    if is_left || is_elsewhere { None } else { install::history(target).ok().flatten() }
}

/// Ends a call that a person cancelled.
fn cancel(context: &mut Context) {
    context.tell("Cancelled; nothing was changed");
    context.exit_with(CANCELLED);
}

/// Writes a plan to a file; an earlier plan is replaced, and nothing else.
fn write_plan(context: &Context, file: &str, plan: &PlanFile) -> Result<(), Failure> {
    let path = context.here().resolve(file);
    if let Some(text) = disk::read_text(&path)?
        && PlanFile::parse(file, &text).is_err()
    {
        return Err(Failure::usage(format!("`{file}` exists and is not a plan"))
            .hint("name another file, or remove this one")
            .exits(73));
    }
    if let Some(folder) = path.parent().filter(|folder| !disk::is_folder(folder)) {
        let hint = "name a file in a folder that exists";
        return Err(Failure::usage(format!("there is no folder `{folder}`")).hint(hint).exits(73));
    }
    disk::replace(&path, plan.to_text().as_bytes())?;
    context.tell(format!("The plan is in {file}. Apply it: `{}`", typed!("gsd-tools apply {}", file)));
    Ok(())
}
