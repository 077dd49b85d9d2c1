//! Names of branches, from the templates of the configuration.

use crate::project::config::{Branching, Config};
use crate::project::files::FileError;
use crate::project::phase::PhaseId;
use crate::project::view::ProjectView;
use crate::text::slug;

/// The branch for work on a phase, if the project uses branches for phases or milestones.
pub(crate) fn wanted(
    view: &ProjectView,
    config: &Config,
    phase: &str,
    phase_name: &str,
) -> Result<Option<String>, FileError> {
    Ok(match config.branching() {
        Branching::None => None,
        Branching::Phase => Some(of_phase(config, phase, phase_name)),
        Branching::Milestone => {
            let milestone = view.milestone()?;
            milestone
                .version
                .map(|version| of_milestone(config, &version, milestone.name.as_deref().unwrap_or_default()))
        }
    })
}

/// The branch of a phase.
pub(crate) fn of_phase(config: &Config, phase: &str, name: &str) -> String {
    let template = config.text("git.phase_branch_template").unwrap_or_default();
    filled(template, &[("{phase}", PhaseId::new(phase).as_str()), ("{slug}", &slug(name))])
}

/// The branch of a milestone.
pub(crate) fn of_milestone(config: &Config, version: &str, name: &str) -> String {
    let template = config.text("git.milestone_branch_template").unwrap_or_default();
    filled(template, &[("{milestone}", version), ("{slug}", &slug(name))])
}

/// Fills in a template. If the slug is empty, the hyphen before it is removed.
fn filled(template: &str, values: &[(&str, &str)]) -> String {
    let name = values.iter().fold(template.to_owned(), |name, (place, value)| name.replace(place, value));
    name.trim_end_matches(['-', '/']).to_owned()
}

/// The phase of a commit: the one whose files it changes, else the one in the scope of its message, such as
/// `docs(02-03): …`.
pub(crate) fn phase_of_commit<'a>(message: &'a str, files: &'a [String]) -> Option<&'a str> {
    let by_file = files.iter().find_map(|file| {
        let (_, inside) = file.split_once("phases/")?;
        let folder = inside.split('/').next()?;
        folder.starts_with(|first: char| first.is_ascii_alphanumeric()).then_some(folder)
    });
    by_file.or_else(|| {
        let (_, scope) = message.lines().next()?.split_once('(')?;
        let (scope, _) = scope.split_once(')')?;
        scope.contains(|letter: char| letter.is_ascii_digit()).then_some(scope)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::config::ConfigTexts;

    #[test]
    fn templates_are_filled() {
        let config = Config::default();
        assert_eq!(of_phase(&config, "2", "Notes Core!"), "gsd/phase-02-notes-core");
        assert_eq!(of_milestone(&config, "v1.1", ""), "gsd/v1.1");
        let own = ConfigTexts {
            project: Some(r#"{"git":{"phase_branch_template":"work/{slug}/{phase}"}}"#),
            ..ConfigTexts::default()
        };
        assert_eq!(of_phase(&Config::read(own).0, "2.1", "Fix"), "work/fix/02.1");
    }

    #[test]
    fn the_phase_of_a_commit_is_from_its_files_or_its_scope() {
        let files = [".planning/STATE.md".to_owned(), ".planning/phases/03-sync/03-01-PLAN.md".to_owned()];
        assert_eq!(phase_of_commit("docs(02): x", &files), Some("03-sync"));
        assert_eq!(phase_of_commit("docs(02-03): x", &files[..1]), Some("02-03"));
        assert_eq!(phase_of_commit("feat(api): x (2)", &[]), None);
        assert_eq!(phase_of_commit("x", &[]), None);
    }
}
