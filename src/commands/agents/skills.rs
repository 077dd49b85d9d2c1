//! Which skills there are.

use crate::commands::frame::{CommandError, Context, verbs};
use crate::disk::{self, AbsolutePath};
use crate::operations::agents::skill_manifest::{self, FoundRoot, Root, RootScope, SkillManifest};
use crate::project::view::Edits;

verbs! {
    "Skills";

    /// List the skills of the project and of the user
    ///
    /// Reads the skill folders of the supported hosts in the project and in the home folder.
    ///
    /// Example: `gsd-tools skill-manifest --others --pick counts.skills`.
    "skill-manifest": writes json(SkillManifest) = skill_manifest(ManifestArgs);
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

fn skill_manifest(context: &mut Context, arguments: &ManifestArgs) -> Result<(), CommandError> {
    let report = manifest(context, arguments.skills_dir.as_deref(), arguments.others)?;
    if !arguments.write {
        return context.emit(&report);
    }
    let layout = context.layout();
    if !context.has_a_project() {
        context.warn(format!("the list was not written: `{}` does not exist", layout.planning()));
        return context.emit(&report);
    }
    let text = serde_json::to_string_pretty(&report)? + "\n";
    let report = context.update(|view| {
        let mut edits = Edits::default();
        edits.write(view, &format!("{}/skill-manifest.json", view.layout().planning()), text)?;
        Ok((report, edits))
    })?;
    context.emit(&report)
}

fn manifest(context: &Context, chosen: Option<&str>, others: bool) -> Result<SkillManifest, CommandError> {
    let roots = match chosen {
        Some(folder) => vec![Root { path: folder.to_owned(), scope: RootScope::Custom, deprecated: false }],
        None => skill_manifest::roots()
            .map_err(|error| CommandError::because(crate::commands::frame::error::Reason::SdkFailFast, &error))?,
    };
    let home = context.world().home().map(AbsolutePath::parse).transpose()?;
    let boundary = context.project().boundary()?;
    let mut found = Vec::new();
    for root in roots {
        let base = if root.is_in_project() { Some(context.root()) } else { home.as_ref() };
        if let Some(base) = base {
            let folder = base.resolve(&root.path);
            if chosen.is_some() {
                context.hold_to_project(&folder)?;
            }
            found.push(look(root, &folder, |file| {
                let checked = boundary.check(file);
                if let Err(error) = &checked {
                    context.warn(format!("skipped a skill: {error}"));
                }
                checked.is_ok()
            })?);
        }
    }
    Ok(skill_manifest::manifest(found, others))
}

/// The skills of a folder whose file `may_be_read`.
fn look(
    root: Root,
    folder: &AbsolutePath,
    may_be_read: impl Fn(&AbsolutePath) -> bool,
) -> Result<FoundRoot, CommandError> {
    let entries = disk::list(folder)?;
    let present = entries.is_some();
    let (mut skills, mut pages) = (Vec::new(), 0);
    for entry in entries.unwrap_or_default() {
        if entry.is_folder() {
            let file = folder.resolve(&entry.name).resolve("SKILL.md");
            let text = if may_be_read(&file) { disk::read_text(&file)? } else { None };
            skills.extend(text.map(|text| (entry.name.clone(), text)));
        } else if entry.path.extension().is_some_and(|ending| ending == "md") {
            pages += 1;
        }
    }
    let path = folder.as_path().to_string_lossy().replace('\\', "/");
    Ok(FoundRoot { root, path, present, skills, pages })
}
