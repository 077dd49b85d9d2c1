//! Facts that agents and hosts need: the skills of an agent, where a host keeps skills, which file it reads first.

use crate::acts::hosts;
use schemars::JsonSchema;
use serde::Serialize;

use crate::disk::{self, AbsolutePath};
use crate::failure::Failure;
use crate::frame::{Context, verbs};
use crate::operations::agents::skills::{self, SkillSurroundings};

verbs! {
    "Host folders";

    /// Print the prompt block that lists an agent's skills
    ///
    /// Reads `agent_skills` in the configuration: folders, and names such as `global:reviewing` of skills in the host's
    /// folder for the user's skills. Skips skills without a `SKILL.md` and those outside these folders, the project and
    /// `agent_skills_security.trusted_global_roots`, with a warning.
    ///
    /// Example: `gsd-tools agent-skills gsd-planner`.
    "agent-skills": reads json(&str, skills::SkillsReport) = agent_skills(SkillsArgs);

    /// Print the folder where a host keeps the user's skills
    ///
    /// Example: `gsd-tools skills-root codex --raw`.
    "skills-root": reads json(SkillsRootReport) = skills_root(HostArgs);

    use crate::peer::agents::INSTRUCTION_FILE;
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

fn agent_skills(context: &mut Context, arguments: &SkillsArgs) -> Result<(), Failure> {
    let Some(agent) = &arguments.agent else { return context.emit_raw(&"", "") };
    let home = context.world().home().map(|home| home.to_string_lossy().into_owned()).unwrap_or_default();
    let host = context.host()?;
    let descriptor = host.descriptor.as_ref();
    let skills = descriptor.map(|descriptor| hosts::skills_folder(context, descriptor)).transpose()?.flatten();
    let plugin_skill = descriptor.and_then(|descriptor| descriptor.plugin_skill.as_deref());
    let around = SkillSurroundings { home: &home, skills, plugin_skill };
    let real = |path: &str| {
        let real = disk::exists(path).then(|| disk::real(&AbsolutePath::parse(path).ok()?).ok()).flatten()?;
        Some(real.to_string())
    };
    let report = skills::of_agent(&context.view(), context.config()?, agent, &around, real);
    for warning in report.warnings.iter().chain(&report.notes) {
        context.warn(warning);
    }
    if arguments.json {
        return context.emit(&report);
    }
    context.text(&report.block);
    Ok(())
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct SkillsRootReport {
    skills_root: String,
}

fn skills_root(context: &mut Context, HostArgs { host }: &HostArgs) -> Result<(), Failure> {
    let descriptor = hosts::host_named(context, host)?;
    let Some(root) = hosts::skills_folder(context, &descriptor)? else {
        return Err(Failure::usage(format!("{} has no folder for skills", descriptor.name))
            .hint("`gsd-tools runtimes` lists what each host supports"));
    };
    context.emit_raw(&SkillsRootReport { skills_root: root.clone() }, root)
}
