//! What agents and hosts need told: skills of an agent, where a host keeps skills, which file it reads first.

use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::frame::{CommandError, Context, verbs};
use crate::disk;
use crate::operations::agents::skills;
use crate::runtime::{Descriptor, Home, PlaceAnchor, Scope, Surroundings};

/// The instruction file that most hosts read.
const COMMON_INSTRUCTIONS: &str = "AGENTS.md";

verbs! {
    "Host folders";

    /// Print the prompt block that lists an agent's skills
    ///
    /// Reads `agent_skills` in the configuration. Skips skills without a `SKILL.md` and those outside the project and
    /// outside `agent_skills_security.trusted_global_roots`, with a warning.
    ///
    /// Example: `gsd-tools agent-skills gsd-planner`.
    "agent-skills": reads json(&str, skills::SkillsReport) = agent_skills(SkillsArgs);

    /// Print the folder where a host keeps the user's skills
    ///
    /// Example: `gsd-tools skills-root codex --raw`.
    "skills-root": reads json(SkillsRootReport) = skills_root(HostArgs);

    /// Print the name of the instruction file that a host reads
    ///
    /// Without a host, reads `GSD_RUNTIME`; without that, prints `AGENTS.md`.
    ///
    /// Example: `gsd-tools project-instruction-file codex`.
    "project-instruction-file": reads text("the name of the host's instruction file")
        = instruction_file(OptionalHostArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct SkillsArgs {
    /// The agent, such as `gsd-planner`
    agent: Option<String>,
    /// Print the full report as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct HostArgs {
    /// The host, such as `codex`
    host: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct OptionalHostArgs {
    /// The host, such as `codex`
    host: Option<String>,
}

fn agent_skills(context: &mut Context, arguments: &SkillsArgs) -> Result<(), CommandError> {
    let Some(agent) = &arguments.agent else { return context.emit_raw(&"", "") };
    let home = context.world().home().map(|home| home.to_string_lossy().into_owned()).unwrap_or_default();
    let report = skills::of_agent(&context.view(), context.config()?, agent, &home, |path| disk::is_file(path));
    if arguments.json {
        return context.emit(&report);
    }
    for warning in &report.warnings {
        context.warn(warning);
    }
    context.text(&report.block);
    Ok(())
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct SkillsRootReport {
    skills_root: String,
}

fn skills_root(context: &mut Context, HostArgs { host }: &HostArgs) -> Result<(), CommandError> {
    let descriptor = context.host_named(host)?;
    let Some(root) = skills_folder(context, &descriptor)? else {
        return Err(CommandError::usage(format!("{} has no folder for skills", descriptor.name))
            .hint("`gsd-tools runtimes` lists what each host supports"));
    };
    context.emit_raw(&SkillsRootReport { skills_root: root.clone() }, root)
}

/// The folders of the host of the call, for the user.
pub(in crate::commands) fn home(context: &Context) -> Result<Home, CommandError> {
    let host = context.host()?;
    let (Some(descriptor), Some(user)) = (&host.descriptor, context.world().home()) else {
        return Err(CommandError::usage(format!("the config directory of `{}` is unknown", host.id))
            .hint("`gsd-tools runtimes` lists the supported hosts; `GSD_RUNTIME` names the one to use"));
    };
    let environment = |name: &str| context.world().variable(name);
    let surroundings =
        Surroundings { environment: &environment, user: &user, project: context.root().as_path(), chosen: None };
    Ok(Home::resolve(descriptor, Scope::Global, surroundings)?)
}

/// The folder above a host's skills, for the user; `None` where it knows no skills.
fn skills_folder(context: &Context, descriptor: &Descriptor) -> Result<Option<String>, CommandError> {
    if let (Some(skills), Some(user)) = (&descriptor.home.skills, context.world().home()) {
        return Ok(Some(skills.replacen('~', &user.to_string_lossy(), 1)));
    }
    let place =
        descriptor.places.iter().find(|place| place.scopes.contains(&Scope::Global) && place.path.contains("skills/"));
    let (Some(place), Some(user)) = (place, context.world().home()) else { return Ok(None) };
    let environment = |name: &str| context.world().variable(name);
    let surroundings =
        Surroundings { environment: &environment, user: &user, project: context.here().as_path(), chosen: None };
    let home = Home::resolve(descriptor, Scope::Global, surroundings)?;
    let start = match &place.anchor {
        PlaceAnchor::Root => home.root,
        PlaceAnchor::Project => home.project,
        PlaceAnchor::Home(folder) => home.user.join(folder),
    };
    let below = place.path.split("skills/").next().unwrap_or_default();
    Ok(Some(format!("{}/{below}skills", start.to_string_lossy())))
}

fn instruction_file(context: &mut Context, OptionalHostArgs { host }: &OptionalHostArgs) -> Result<(), CommandError> {
    let named = host.clone().or_else(|| context.world().variable("GSD_RUNTIME"));
    let file = match named {
        Some(host) => context.host_named(&host)?.instruction_file,
        None => COMMON_INSTRUCTIONS.to_owned(),
    };
    context.text(file + "\n");
    Ok(())
}
