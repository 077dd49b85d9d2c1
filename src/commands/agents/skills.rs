//! Lists the available skills.

use crate::acts::files;
use crate::acts::hosts;
use crate::acts::writing::Target;
use crate::disk::{self, AbsolutePath};
use crate::failure::Failure;
use crate::frame::{Context, verbs};
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

fn skill_manifest(context: &mut Context, arguments: &ManifestArgs) -> Result<(), Failure> {
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
    let report = context.write(Target::Project, |view| {
        let mut edits = Edits::default();
        edits.write(view, &format!("{}/skill-manifest.json", view.layout().planning()), text)?;
        Ok((report, edits))
    })?;
    context.emit(&report)
}

fn manifest(context: &Context, chosen: Option<&str>, others: bool) -> Result<SkillManifest, Failure> {
    let roots = match chosen {
        Some(folder) => vec![Root { path: folder.to_owned(), scope: RootScope::Custom, deprecated: false, host: None }],
        None => {
            skill_manifest::roots().map_err(|error| Failure::because(crate::failure::Reason::SdkFailFast, &error))?
        }
    };
    let home = context.world().home().map(AbsolutePath::parse).transpose()?;
    let boundary = context.project().boundary()?;
    let mut found = Vec::new();
    for root in roots {
        let base = if root.is_in_project() { Some(context.root()) } else { home.as_ref() };
        if let Some(base) = base {
            let of_host = root.host.as_deref().map(|host| moved(context, host)).transpose()?.flatten();
            let folder = match of_host {
                Some(home) => home.resolve(root.below_host()),
                None => base.resolve(&root.path),
            };
            if chosen.is_some() {
                files::hold_to_project(context, &folder)?;
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

/// The user's folder of a host; `None` for a user without a home.
fn moved(context: &Context, host: &str) -> Result<Option<AbsolutePath>, Failure> {
    let Some(descriptor) = hosts::host_if_known(context, host)? else { return Ok(None) };
    let home = hosts::home_of(context, &descriptor)?;
    Ok(home.map(|home| AbsolutePath::parse(home.root)).transpose()?)
}

/// Reads the skills of a folder whose file `may_be_read`, and those in the folders of routers.
fn look(root: Root, folder: &AbsolutePath, may_be_read: impl Fn(&AbsolutePath) -> bool) -> Result<FoundRoot, Failure> {
    let entries = disk::list(folder)?;
    let present = entries.is_some();
    let (mut skills, mut inner, mut pages) = (Vec::new(), Vec::new(), 0);
    let read = |name: String| -> Result<Option<(String, String)>, Failure> {
        let file = folder.resolve(&name).resolve("SKILL.md");
        let text = if may_be_read(&file) { disk::read_text(&file)? } else { None };
        Ok(text.map(|text| (name, text)))
    };
    for entry in entries.unwrap_or_default() {
        if entry.is_folder() {
            skills.extend(read(entry.name.clone())?);
            if skill_manifest::is_router(&entry.name) {
                let below = format!("{}/skills", entry.name);
                for nested in disk::list(folder.resolve(&below))?.unwrap_or_default() {
                    if nested.is_folder() {
                        inner.extend(read(format!("{below}/{}", nested.name))?);
                    }
                }
            }
        } else if entry.path.extension().is_some_and(|ending| ending == "md") {
            pages += 1;
        }
    }
    skills.extend(inner);
    let path = folder.as_path().to_string_lossy().replace('\\', "/");
    Ok(FoundRoot { root, path, present, skills, pages })
}
