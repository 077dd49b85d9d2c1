//! Which skills there are, in the project and in the folders of hosts.

use crate::acts::{Call, files, hosts};
use crate::disk::{self, AbsolutePath};
use crate::failure::Failure;
use crate::operations::agents::skill_manifest::{self, FoundRoot, Root, RootScope, SkillManifest};

/// The skills below `chosen`, else below every folder that hosts read; `others` leaves out our own.
pub(crate) fn manifest(call: &Call, chosen: Option<&str>, others: bool) -> Result<SkillManifest, Failure> {
    let roots = match chosen {
        Some(folder) => vec![Root { path: folder.to_owned(), scope: RootScope::Custom, deprecated: false, host: None }],
        None => {
            skill_manifest::roots().map_err(|error| Failure::because(crate::failure::Reason::SdkFailFast, &error))?
        }
    };
    let home = call.world().home().map(AbsolutePath::parse).transpose()?;
    let boundary = call.project().boundary()?;
    let mut found = Vec::new();
    for root in roots {
        let base = if root.is_in_project() { Some(call.root()) } else { home.as_ref() };
        if let Some(base) = base {
            let of_host = root.host.as_deref().map(|host| moved(call, host)).transpose()?.flatten();
            let folder = match of_host {
                Some(home) => home.resolve(root.below_host()),
                None => base.resolve(&root.path),
            };
            if chosen.is_some() {
                files::hold_to_project(call, &folder)?;
            }
            found.push(look(root, &folder, |file| {
                let checked = boundary.check(file);
                if let Err(error) = &checked {
                    call.warn(format!("skipped a skill: {error}"));
                }
                checked.is_ok()
            })?);
        }
    }
    Ok(skill_manifest::manifest(found, others))
}

/// The user's folder of a host; `None` for a user without a home.
fn moved(call: &Call, host: &str) -> Result<Option<AbsolutePath>, Failure> {
    let Some(descriptor) = hosts::host_if_known(call, host)? else { return Ok(None) };
    let home = hosts::home_of(call, &descriptor)?;
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
