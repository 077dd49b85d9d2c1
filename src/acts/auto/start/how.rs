//! Which client a run works with, and which settings of an unfinished run a call changes.

use super::request::{RunRequest, unfinished};
use crate::acts::Call;
use crate::acts::auto::place::Preferred;
use crate::acts::caller;
use crate::acts::listing;
use crate::auto::ceilings::Ceilings;
use crate::auto::environments::Environments;
use crate::auto::event::{LandingMode, Means, Run};
use crate::auto::memory::Memory;
use crate::auto::real::Driver;
use crate::auto::runner::own::{UNKNOWN_FOLDERS_HINT, unknown_folders};
use crate::auto::runner::table::{Profile, Runner, Runners};
use crate::auto::runner::version::version_of;
use crate::failure::{Failure, Reason};
use crate::text::shell::typed;
use crate::text::words::of_word;
use crate::world::fence::Fencing;

/// How sessions are run, and what is recorded of it.
pub(crate) struct How {
    pub(crate) driver: Driver,
    /// Whether sessions are to be fenced, if the system can do it.
    pub(crate) wants_fence: bool,
    pub(crate) means: Means,
}

/// The call's options other than the client, or else those of the unfinished run.
pub(crate) fn means(call: &Call, request: &RunRequest, memory: &Memory) -> Means {
    let (asked, before) = (&request.how, unfinished(memory));
    let kept = before.map(|run| run.means.clone()).unwrap_or_default();
    // Another client has other models, and is another program.
    let is_other = before.is_some_and(|run| asked.runner.as_ref().is_some_and(|runner| *runner != run.runner));
    let (model, program) = if is_other { (None, None) } else { (kept.model, kept.program) };
    // A relative path is resolved from the folder of this call, wherever a later one is made.
    let place = |program: &String| {
        let is_path = program.contains(std::path::is_separator);
        if is_path { call.here().resolve(program).to_string() } else { program.clone() }
    };
    Means {
        model: asked.model.clone().or(model).filter(|model| !model.is_empty()),
        program: asked.runner_program.as_ref().map(place).or(program),
        planning_only: asked.allow_planning_only || kept.planning_only,
        taken_over: asked.take_over || kept.taken_over,
        without_settings: asked.no_project_settings || (kept.without_settings && !asked.project_settings),
        set_up: None,
        environments: Environments::default(),
        client: None,
        landing: asked.land.unwrap_or(kept.landing),
    }
}

/// Reports which settings of an unfinished run a call changes.
pub(crate) fn say_changes(call: &Call, run: &Run, how: &How) {
    let own =
        |model: &Option<String>| model.as_ref().map_or("the client's own".to_owned(), |model| format!("`{model}`"));
    let found =
        |program: &Option<String>| program.as_ref().map_or("found by its name".to_owned(), |path| format!("`{path}`"));
    let fence = |is_fenced: bool| if is_fenced { "on" } else { "off" }.to_owned();
    let driver = &how.driver;
    let rows = [
        ("client", format!("`{}`", run.runner), format!("`{}`", driver.runner.name)),
        ("program of the client", found(&run.means.program), found(&how.means.program)),
        ("model", own(&run.means.model), own(&how.means.model)),
        ("profile", format!("`{}`", run.profile), format!("`{}`", driver.profile.word())),
        ("fence", fence(run.fenced), fence(how.wants_fence)),
        ("landing", run.means.landing.word().to_owned(), how.means.landing.word().to_owned()),
        ("client's settings of the project", fence(!run.means.without_settings), fence(!how.means.without_settings)),
    ];
    for (what, before, now) in rows.iter().filter(|(_, before, now)| before != now) {
        call.tell(format!("Changed for this run: the {what} is {now}; it was {before}."));
    }
}

pub(crate) fn how(call: &Call, request: &RunRequest, memory: &Memory, means: Means) -> Result<How, Failure> {
    let before = unfinished(memory);
    // Who wants to look at the work before it lands does not mean an agent.
    if means.landing == LandingMode::Branch && before.is_some_and(|run| run.means.landing != LandingMode::Branch) {
        caller::refuses_agents(call, "auto run --land branch")?;
    }
    // Nor what lets sessions do more than a person has agreed to.
    if request.how.no_fence && before.is_none_or(|run| run.fenced) {
        caller::refuses_agents(call, "auto run --no-fence")?;
    }
    if !request.how.allow_key.is_empty() {
        caller::refuses_agents(call, "auto run --allow-key")?;
    }
    let wants_fence = !request.how.no_fence && (request.how.fence || before.is_none_or(|run| run.fenced));
    let runners = Runners::builtin().map_err(|error| Failure::because(Reason::Unknown, &error))?;
    let runner = match request.how.runner.as_ref().or(before.map(|run| &run.runner)) {
        Some(name) => runners.find(name).map_err(|error| Failure::because(Reason::Usage, &error))?,
        None => first_installed(call, &runners)?,
    };
    // Refused before a worktree is made, because its sessions would fail.
    if runner.only_with.as_ref().is_some_and(|variable| !call.world().flag(variable)) {
        return Err(Failure::usage(format!("`{}` works in no project of yours", runner.name))
            .hint(format!("run `{}`, or leave `--runner` out", typed!("gsd-tools {}", runner.name))));
    }
    if runner.programs.is_empty() && runner.only_with.is_none() && means.program.is_none() {
        let named = typed!("gsd-tools auto run --runner {} --runner-program PROGRAM", runner.name);
        return Err(Failure::usage(format!("`{}` needs a program, and none is named", runner.name))
            .hint(format!("name it: `{named}`")));
    }
    let profile = request.how.profile.as_deref().or(before.map(|run| run.profile.as_str())).unwrap_or("unattended");
    let profile: Profile = of_word(profile).ok_or_else(|| {
        Failure::usage(format!("`{profile}` is not a profile")).hint("the profiles are safe and unattended")
    })?;
    if means.without_settings && runner.without_project_settings.is_empty() {
        let message = format!("how {} is started without the settings of a project is not known", runner.title);
        return Err(Failure::usage(message).hint(
            "leave `--no-project-settings` out and approve what the project has for it, or take another client",
        ));
    }
    let fencing = call.world().fencing();
    let can_fence = fencing != Fencing::Unavailable;
    match fencing {
        Fencing::Unavailable if wants_fence => {
            call.warn("this system cannot keep programs from writing outside the worktree");
        }
        Fencing::Partial if wants_fence => {
            call.warn("this kernel keeps programs from writing outside the worktree, but not from emptying a file there: Linux 6.2 does");
        }
        _ => {}
    }
    if can_fence && wants_fence && runner.own.is_none() {
        return Err(Failure::usage(unknown_folders(runner)).hint(UNKNOWN_FOLDERS_HINT));
    }
    let world = call.world();
    let program = means.program.clone().or_else(|| runner.installed(world)).filter(|_| runner.version.is_some());
    let client = program.as_ref().and_then(|program| version_of(world, Some(runner), program));
    let warning = program.and_then(|_| runner.warning_on(client.as_deref()));
    if let Some(warning) = warning {
        call.warn(warning);
    }
    let runner = client.as_deref().map_or_else(|| runner.clone(), |client| runner.for_version(client));
    let means = Means { client, ..means };
    let driver = Driver {
        runner,
        program: means.program.clone(),
        profile,
        model: means.model.clone(),
        calls: listing::unasked_calls(call.verbs()).into_iter().map(str::to_owned).collect(),
        without: caller::session_variables(call)?,
        is_fenced: can_fence && wants_fence,
        leaves_settings_out: means.without_settings,
    };
    let how = How { driver, wants_fence, means };
    if let Some(run) = before {
        say_changes(call, run, &how);
    }
    Ok(how)
}

/// The first client of the table whose program is installed.
pub(crate) fn first_installed<'a>(call: &Call, runners: &'a Runners) -> Result<&'a Runner, Failure> {
    let is_there = |runner: &&Runner| runner.verified && runner.installed(call.world()).is_some();
    runners.iter().find(is_there).ok_or_else(|| {
        let named = |runner: &Runner| format!("{} (`{}`)", runner.title, runner.programs.join("` or `"));
        let known: Vec<String> = runners.iter().filter(|one| one.verified && one.is_offered()).map(named).collect();
        let first = runners.iter().find(|one| one.is_offered()).map(|one| one.name.as_str()).unwrap_or_default();
        let by_path = typed!("gsd-tools auto run --runner {} --runner-program PATH", first);
        Failure::usage("no client is installed that could run the sessions")
            .hint(format!("install one: {}; one that is not in PATH is named as in `{by_path}`", known.join(", ")))
    })
}

/// The ceilings of the run: the earlier ones, with those that the call gives. A new run begins with those of the
/// preferences.
pub(crate) fn ceilings(request: &RunRequest, memory: &Memory, preferred: &Preferred) -> Ceilings {
    let (asked, mut before) = (&request.how, memory.ceilings);
    if unfinished(memory).is_none() {
        let document = &preferred.document;
        before.money = document.budget_ceiling.unwrap_or(before.money);
        before.unit_money = document.per_unit_cost_cap_usd;
        before.unit_minutes = document.time_limits.hard.unwrap_or(before.unit_minutes);
        before.idle_minutes = document.time_limits.idle;
    }
    Ceilings {
        sessions: asked.max_sessions.or(before.sessions),
        money: asked.budget.unwrap_or(before.money),
        unit_money: asked.unit_budget.or(before.unit_money),
        unit_minutes: asked.unit_minutes.unwrap_or(before.unit_minutes),
        ..before
    }
}
