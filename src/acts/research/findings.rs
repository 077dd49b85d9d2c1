//! Findings that are kept, in the project or for everybody.

use std::path::PathBuf;

use crate::acts::writing::{Beside, Target};
use crate::acts::{Call, files};
use crate::disk::{self, AbsolutePath, DiskError};
use crate::failure::{Failure, Reason};
use crate::operations::research::findings::{self, FindingKey, KeptReport, ResearchFinding};
use crate::project::layout::Layout;
use crate::project::view::Edits;

/// The finding stored under a key, in the project or for all projects.
pub(crate) fn kept(call: &Call, key: &FindingKey) -> Result<KeptReport, Failure> {
    let layout = call.layout();
    let mut texts = Vec::new();
    for file in [Some(layout.absolute(&in_project(layout, key))), for_everybody(call, key)].into_iter().flatten() {
        texts.extend(files::read(call, &AbsolutePath::parse(&file).map_err(DiskError::from)?)?);
    }
    Ok(findings::kept(texts.iter().map(String::as_str), call.world().now().milliseconds()))
}

/// Keeps a finding under a key. An agent keeps none for everybody.
pub(crate) fn put(call: &Call, key: &FindingKey, finding: &ResearchFinding) -> Result<(), Failure> {
    let text = finding.text().map_err(|error| Failure::because(Reason::SdkFailFast, &error))?;
    if finding.is_for_everybody() {
        if let Some(name) = call.agent_session()? {
            let refused =
                format!("a `curated` finding applies to every project, and an agent runs this call: {name} is set");
            return Err(Failure::usage(refused)
                .exits(77)
                .hint("give `--source` the address of the source, or ask the user to run the call"));
        }
        let Some(file) = for_everybody(call, key) else {
            return Err(Failure::new(Reason::Unknown, "cannot save the finding: there is no home folder")
                .hint("set `HOME`, or give `--source` the address of the source"));
        };
        let file = AbsolutePath::parse(file).map_err(DiskError::from)?;
        let before = disk::read_text(&file)?;
        call.write(Target::Beside(file.parent()), |_| {
            Ok(((), vec![Beside { path: file, before, after: Some(text) }]))
        })?;
    } else {
        call.write(Target::Project, |view| {
            let mut edits = Edits::default();
            edits.write(view, &in_project(view.layout(), key), text)?;
            Ok(((), edits))
        })?;
    }
    Ok(())
}

fn in_project(layout: &Layout, key: &FindingKey) -> String {
    format!("{}/.cache/{}", layout.research(), key.file())
}

fn for_everybody(call: &Call, key: &FindingKey) -> Option<PathBuf> {
    Some(call.world().gsd_home()?.join(".gsd/research-cache").join(key.file()))
}
