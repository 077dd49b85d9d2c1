//! Lists the available skills.

use crate::acts::agents::skills;
use crate::acts::writing::Target;
use crate::failure::Failure;
use crate::frame::{Context, verbs};
use crate::project::view::Edits;

verbs! {
    "Skills";

    /// List the skills of the project and of the user
    ///
    /// Reads the skill folders of the supported hosts in the project and in the home folder.
    ///
    /// Example: `gsd-tools skill-manifest --others --pick counts.skills`.
    "skill-manifest": writes json(crate::operations::agents::skill_manifest::SkillManifest) = skill_manifest(ManifestArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct ManifestArgs {
    /// Search only this folder
    #[arg(long)]
    skills_dir: Option<String>,
    /// Leave out the skills of the library itself
    #[arg(long)]
    others: bool,
    /// Also write the list to `.planning/skill-manifest.json`
    #[arg(long)]
    write: bool,
    /// Print JSON (default)
    #[arg(long, hide = true)]
    json: bool,
}

fn skill_manifest(context: &mut Context, arguments: &ManifestArgs) -> Result<(), Failure> {
    let report = skills::manifest(context, arguments.skills_dir.as_deref(), arguments.others)?;
    if !arguments.write {
        return context.emit(&report);
    }
    let layout = context.layout();
    if !context.has_a_project() {
        context.warn(format!("the list was not written: `{}` does not exist", layout.planning()));
        return context.emit(&report);
    }
    let text = serde_json::to_string_pretty(&report)? + "\n";
    let report = context.write(Target::Project, |view| {
        let mut edits = Edits::default();
        edits.write(view, &format!("{}/skill-manifest.json", view.layout().planning()), text)?;
        Ok((report, edits))
    })?;
    context.emit(&report)
}
