//! How agents are started on the host of the call: by which name, in which worktree, how many at once.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::acts::{Call, files, hosts, program};
use crate::auto::runner::table::Runners;
use crate::auto::runner::version::{major_of, version_of};
use crate::disk;
use crate::failure::{Failure, Reason};
use crate::project::wave::{WAVE_NOTE, WaveNote};
use crate::runtime::{AgentReach, Dispatch, Isolation};

/// The value for a fact that the host's vendor does not document.
const UNDOCUMENTED: &str = "undocumented";

/// How a host runs agents, in the form for scripts.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DispatchReport {
    named_dispatch: Value,
    nested: Value,
    max_depth: Value,
    background: Value,
    subagent_toolkit: Value,
    background_dispatch: Value,
    isolation: Value,
    max_concurrency: Value,
}

impl From<&Dispatch> for DispatchReport {
    fn from(dispatch: &Dispatch) -> Self {
        let toolkit = dispatch.tools.map(|tools| match tools {
            AgentReach::Full => "full",
            AgentReach::ReadOnly => "read-only",
        });
        Self {
            named_dispatch: told(dispatch.named),
            nested: told(dispatch.nested),
            max_depth: told(dispatch.depth),
            background: told(dispatch.background),
            subagent_toolkit: told(toolkit),
            background_dispatch: told(dispatch.nested_background),
            isolation: told(dispatch.isolation.map(Isolation::word)),
            max_concurrency: told(dispatch.concurrency),
        }
    }
}

fn told(fact: Option<impl Into<Value>>) -> Value {
    fact.map_or_else(|| UNDOCUMENTED.into(), Into::into)
}

/// The name under which a host starts the agent `requested`: the same name if the host starts agents by name.
pub(crate) fn agent_type<'text>(dispatch: Option<&Dispatch>, requested: &'text str) -> &'text str {
    if requested.is_empty() {
        return DOER;
    }
    if dispatch.is_none_or(|dispatch| dispatch.named != Some(false)) {
        return requested;
    }
    let of_kind = STAND_INS.iter().find(|(suffixes, _)| suffixes.iter().any(|suffix| requested.ends_with(suffix)));
    of_kind.map_or(DOER, |(_, stand_in)| stand_in)
}

/// The fixed agent used for agents that make changes.
const DOER: &str = "coder";

/// Endings of agent names, and the fixed agent used for them if a host can start only a few fixed ones.
const STAND_INS: &[(&[&str], &str)] = &[
    (&["planner", "roadmapper"], "plan"),
    (&["checker", "mapper", "researcher", "verifier", "reviewer", "auditor", "analyzer"], "explore"),
];

/// True if agents that would start agents should be started one by one: they can be left to it only if the host lets an
/// agent in the background start others, two levels deep.
pub(crate) fn should_flatten(dispatch: Option<&Dispatch>) -> bool {
    !(agents_start_agents(dispatch) && dispatch.is_some_and(|dispatch| dispatch.nested_background == Some(true)))
}

/// True if an agent that the session waits for can start agents, two levels deep.
pub(crate) fn agents_start_agents(dispatch: Option<&Dispatch>) -> bool {
    dispatch.is_some_and(|dispatch| {
        dispatch.nested == Some(true) && dispatch.depth.is_some_and(|depth| !(0..2).contains(&depth))
    })
}

/// What `dispatch-capacity` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CapacityReport {
    pub(crate) runtime: String,
    pub(crate) capacity: u32,
    declared: Value,
    source: &'static str,
    reason: &'static str,
}

impl CapacityReport {
    /// True if the number was given or documented, and is not our cautious default.
    pub(crate) fn is_known(&self) -> bool {
        self.source != "fallback"
    }
}

/// How many agents run at once: as many as the person says, else as many as the host runs, else one.
pub(crate) fn capacity(runtime: &str, dispatch: Option<&Dispatch>, asked: Option<&str>) -> CapacityReport {
    let asked = asked.and_then(|asked| asked.trim().parse::<u32>().ok()).filter(|asked| *asked > 0);
    let declared = dispatch.and_then(|dispatch| dispatch.concurrency);
    let (capacity, source, reason) = match (asked, declared) {
        (Some(asked), _) => (asked, "live", "ok"),
        (None, Some(declared)) => (declared, "descriptor", "ok"),
        (None, None) if dispatch.is_some() => (1, "fallback", UNDOCUMENTED),
        (None, None) => (1, "fallback", "unknown_runtime"),
    };
    let declared = dispatch.map_or(Value::Null, |dispatch| told(dispatch.concurrency));
    CapacityReport { runtime: runtime.to_owned(), capacity, declared, source, reason }
}

/// What `dispatch-isolation` answers.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct IsolationReport {
    pub(crate) runtime: String,
    pub(crate) isolation: Isolation,
    /// The program that starts an agent in an existing worktree; null without a folder, or if the host does it.
    exec: Option<ExecReport>,
    pub(crate) harness_flag: Option<String>,
}

/// A program to run.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
struct ExecReport {
    command: String,
    args: Vec<String>,
    /// The folder to run it in.
    cwd: String,
}

impl ExecReport {
    fn new(template: &[String], folder: &str, prompt: Option<&str>) -> Option<Self> {
        let (command, arguments) = template.split_first()?;
        let arguments = arguments.iter().filter(|argument| prompt.is_some() || !argument.contains("{prompt}"));
        // The prompt is filled in last, so that placeholders in its text are not replaced.
        let filled =
            |argument: &String| argument.replace("{folder}", folder).replace("{prompt}", prompt.unwrap_or_default());
        Some(Self { command: command.clone(), args: arguments.map(filled).collect(), cwd: folder.to_owned() })
    }
}

/// Where an agent is to run, and its prompt.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RunIn<'text> {
    pub(crate) folder: Option<&'text str>,
    pub(crate) prompt: Option<&'text str>,
    /// The major version of the program, if the call depends on it.
    pub(crate) major: Option<u64>,
}

/// Decides who gives agents worktrees: as asked, else as the host does; none are used if the project wants none.
pub(crate) fn isolation(
    runtime: &str,
    dispatch: Option<&Dispatch>,
    asked: Option<Isolation>,
    use_worktrees: bool,
    run_in: RunIn<'_>,
) -> IsolationReport {
    let of_host = || dispatch.and_then(|dispatch| dispatch.isolation).unwrap_or(Isolation::None);
    let isolation = if use_worktrees { asked.unwrap_or_else(of_host) } else { Isolation::None };
    let flag = dispatch.and_then(|dispatch| dispatch.isolation_flag.clone());
    let of_major = |dispatch: &Dispatch| dispatch.run_in_majors.get(&run_in.major?.to_string()).cloned();
    let template = dispatch.and_then(|dispatch| of_major(dispatch).or_else(|| dispatch.run_in.clone()));
    let template = template.filter(|_| isolation == Isolation::OrchestratorWorktree);
    IsolationReport {
        runtime: runtime.to_owned(),
        isolation,
        exec: template.zip(run_in.folder).and_then(|(run, folder)| ExecReport::new(&run, folder, run_in.prompt)),
        harness_flag: flag.filter(|_| isolation != Isolation::None),
    }
}

/// The variable with the number of agents that may run at once.
pub(crate) const CAPACITY_VARIABLE: &str = "GSD_DISPATCH_MAX_CONCURRENCY";

/// The known facts about how the host of the call runs agents.
pub(crate) fn facts(call: &Call) -> Result<Option<Dispatch>, Failure> {
    Ok(call.host()?.descriptor.as_ref().and_then(|descriptor| descriptor.dispatch.clone()))
}

/// Decides who makes the worktrees of agents here; `forced` overrides what the host supports. With `folder`, the report
/// also says how an agent is started in that worktree.
pub(crate) fn isolation_of_call(
    call: &Call,
    forced: Option<&str>,
    folder: Option<&str>,
    prompt: Option<&str>,
) -> Result<IsolationReport, Failure> {
    let use_worktrees = call.config()?.flag("workflow.use_worktrees");
    let words = [Isolation::HarnessWorktree, Isolation::OrchestratorWorktree, Isolation::None];
    let asked = forced.and_then(|word| words.into_iter().find(|known| known.word().eq_ignore_ascii_case(word)));
    if let (Some(word), None) = (forced, asked) {
        call.warn(format!(
            "ignored `--force-isolation {word}`: it takes harness-worktree, orchestrator-worktree or none"
        ));
    }
    let facts = facts(call)?;
    let has_majors = facts.as_ref().filter(|facts| folder.is_some() && !facts.run_in_majors.is_empty());
    let program = has_majors.and_then(|facts| facts.run_in.as_ref()?.first());
    let runners = Runners::builtin().map_err(|error| Failure::because(Reason::Unknown, &error))?;
    let runner = program.and_then(|program| runners.iter().find(|runner| runner.programs.contains(program)));
    let major = program.and_then(|program| major_of(&version_of(call.world(), runner, program)?));
    let run_in = RunIn { folder, prompt, major };
    let report = isolation(&call.host()?.id, facts.as_ref(), asked, use_worktrees, run_in);
    if asked.is_some_and(|asked| asked != report.isolation) {
        call.warn("ignored `--force-isolation`: `workflow.use_worktrees` is off");
    }
    Ok(report)
}

/// How many agents may run at once here.
pub(crate) fn capacity_of_call(call: &Call) -> Result<CapacityReport, Failure> {
    let asked = call.world().variable(CAPACITY_VARIABLE);
    Ok(capacity(&call.host()?.id, facts(call)?.as_ref(), asked.as_deref()))
}

/// True if there is an agent of this name that may be used.
pub(crate) fn has_agent(call: &Call, name: &str) -> Result<bool, Failure> {
    Ok(call.config()?.flag("workflow.agent_hint_routing")
        && !name.is_empty()
        && !name.contains(['/', '\\'])
        && hosts::agent_files(call, name).iter().any(disk::is_file))
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RecordedReport {
    recorded: bool,
    path: String,
}

/// Records who gives executors their worktrees, outside the project's tree. The note of an unmerged wave is not
/// changed: it says what is to be merged, and how its executors are started.
pub(crate) fn note(
    call: &Call,
    isolation: Isolation,
    flag: Option<&String>,
    (phase, plan): (Option<&String>, Option<&String>),
) -> Result<RecordedReport, Failure> {
    let path = call.local_state()?.file(WAVE_NOTE);
    let written_at = call.world().now().milliseconds();
    let noted = files::edit_note(call, &path, |text| {
        // A note that does not parse may be the only record of some worktrees.
        let known = text.map(serde_json::from_str::<WaveNote>).transpose().map_err(|error| {
            Failure::usage(format!("`{path}` is not valid JSON: {error}"))
                .hint("correct the file; or merge the worktrees that `git worktree list` shows, then delete it")
        })?;
        if known.is_some_and(|note| note.is_open()) {
            return Ok((false, None));
        }
        let note = WaveNote {
            isolation: isolation.word().to_owned(),
            harness_flag: flag.cloned(),
            phase: phase.cloned(),
            plan: plan.cloned(),
            written_at,
            ..WaveNote::default()
        };
        Ok((true, Some(serde_json::to_string(&note)?)))
    })?;
    if !noted {
        call.warn(format_args!(
            "nothing was recorded: an earlier wave is not merged yet; run `{} worktree cleanup-wave`",
            program::word_of(call)
        ));
    }
    Ok(RecordedReport { recorded: noted && !call.is_rehearsal(), path: path.to_string() })
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TeamsReport {
    pub(crate) active: bool,
    runtime: String,
    env_present: bool,
    source: String,
}

/// Reports whether the host has teams of agents: few have, and only if their environment says so.
pub(crate) fn teams(call: &Call) -> Result<TeamsReport, Failure> {
    let runtime = call.host()?.id.clone();
    let variable_of = |dispatch: Option<Dispatch>| dispatch.and_then(|dispatch| dispatch.teams_variable);
    let of_call = call.host()?.descriptor.clone();
    let hosts = of_call.into_iter().chain(call.registry()?.all()?);
    let with_teams = hosts.into_iter().find_map(|host| Some((host.id, variable_of(host.dispatch)?)));
    let env_present = with_teams.as_ref().is_some_and(|(_, variable)| call.world().flag(variable));
    let source = match &with_teams {
        Some((host, _)) if host.as_str() != runtime => format!("off: non-{host}"),
        _ if env_present => "on: env".to_owned(),
        _ => "off: flag absent".to_owned(),
    };
    Ok(TeamsReport { active: source.starts_with("on"), runtime, env_present, source })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dispatch(named: bool, nested_background: bool, depth: i64) -> Dispatch {
        Dispatch {
            named: Some(named),
            nested: Some(true),
            depth: Some(depth),
            nested_background: Some(nested_background),
            isolation: Some(Isolation::HarnessWorktree),
            isolation_flag: Some("--flag".to_owned()),
            ..Dispatch::default()
        }
    }

    #[test]
    fn an_agent_keeps_its_name_if_the_host_uses_names() {
        assert_eq!(agent_type(None, "gsd-planner"), "gsd-planner");
        assert_eq!(agent_type(Some(&dispatch(true, true, 1)), ""), "coder");
        let fixed = dispatch(false, false, 1);
        let of = |requested| agent_type(Some(&fixed), requested);
        assert_eq!([of("gsd-planner"), of("gsd-plan-checker"), of("gsd-executor")], ["plan", "explore", "coder"]);
    }

    #[test]
    fn waves_are_left_to_agents_only_if_that_works_in_the_background() {
        assert!(!should_flatten(Some(&dispatch(true, true, 2))));
        assert!(should_flatten(Some(&dispatch(true, true, 1))));
        assert!(should_flatten(Some(&dispatch(true, false, 5))));
        assert!(should_flatten(None));
    }

    #[test]
    fn as_many_agents_run_as_the_person_says() {
        let documented = Dispatch { concurrency: Some(20), ..Dispatch::default() };
        let of = |dispatch, asked| {
            let report = capacity("x", dispatch, asked);
            (report.capacity, report.source, report.reason)
        };
        assert_eq!(of(Some(&documented), None), (20, "descriptor", "ok"));
        assert_eq!(of(Some(&documented), Some("3")), (3, "live", "ok"));
        for nonsense in ["0", "x", "-1", "99999999999"] {
            assert_eq!(of(Some(&documented), Some(nonsense)).0, 20);
        }
        let silent = Dispatch::default();
        assert_eq!(of(Some(&silent), None), (1, "fallback", "undocumented"));
        assert_eq!(of(None, None), (1, "fallback", "unknown_runtime"));
    }

    #[test]
    fn a_project_without_worktrees_gets_none_even_if_asked() {
        let host = dispatch(true, true, 2);
        let of = |asked, use_worktrees| {
            let report = isolation("x", Some(&host), asked, use_worktrees, RunIn::default());
            (report.isolation, report.harness_flag.is_some())
        };
        assert_eq!(of(None, true), (Isolation::HarnessWorktree, true));
        assert_eq!(of(Some(Isolation::None), true), (Isolation::None, false));
        assert_eq!(of(Some(Isolation::HarnessWorktree), false), (Isolation::None, false));
        assert_eq!(isolation("x", None, None, true, RunIn::default()).isolation, Isolation::None);
    }
}
