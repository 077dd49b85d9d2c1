//! Finds where a host keeps its files, from its descriptor, the environment and the user's home.

use std::path::{Path, PathBuf};

use crate::failure::unexplained;

use super::descriptor::{Descriptor, HomeTable, LocalHome, VariableHolds};
use super::terms::Scope;

/// The folders of one installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Home {
    /// The host's folder for the scope.
    pub(crate) root: PathBuf,
    /// The user's home.
    pub(crate) user: PathBuf,
    /// The project that an installation of local scope is for.
    pub(crate) project: PathBuf,
}

/// The inputs that determine the folders of a host.
#[derive(Clone, Copy)]
pub(crate) struct Surroundings<'a> {
    /// The value of an environment variable.
    pub(crate) environment: &'a dyn Fn(&str) -> Option<String>,
    pub(crate) user: &'a Path,
    pub(crate) project: &'a Path,
    /// A folder the person named for the global scope.
    pub(crate) chosen: Option<&'a str>,
}

impl std::fmt::Debug for Surroundings<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Surroundings")
            .field("user", &self.user)
            .field("project", &self.project)
            .field("chosen", &self.chosen)
            .finish_non_exhaustive()
    }
}

/// Why the folders cannot be determined.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum HomeError {
    #[error("it has no place in a project: {0}")]
    NoLocal(String),
    #[error("a folder can be chosen for the global scope only")]
    ChosenForLocal,
    #[error("the chosen folder is empty")]
    ChosenEmpty,
    #[error("`{0}` holds a path that is not absolute: `{1}`")]
    NotAbsolute(String, String),
}

unexplained!(HomeError);

impl Home {
    /// A chosen folder overrides the environment, and the environment overrides the usual folder. Blank values count as
    /// unset.
    pub(crate) fn resolve(
        descriptor: &Descriptor,
        scope: Scope,
        surroundings: Surroundings<'_>,
    ) -> Result<Home, HomeError> {
        let root = match (scope, surroundings.chosen) {
            (Scope::Local, Some(_)) => return Err(HomeError::ChosenForLocal),
            (Scope::Local, None) => match &descriptor.home.local {
                LocalHome::Folder(local) => surroundings.project.join(local),
                LocalHome::None { none } => return Err(HomeError::NoLocal(none.clone())),
            },
            (Scope::Global, Some(chosen)) if chosen.trim().is_empty() => return Err(HomeError::ChosenEmpty),
            (Scope::Global, Some(chosen)) => surroundings.project.join(expand(chosen, surroundings.user)),
            (Scope::Global, None) => global_root(&descriptor.home, surroundings)?,
        };
        Ok(Home { root, user: surroundings.user.to_owned(), project: surroundings.project.to_owned() })
    }
}

fn global_root(home: &HomeTable, surroundings: Surroundings<'_>) -> Result<PathBuf, HomeError> {
    for variable in &home.environment {
        let Some(value) = (surroundings.environment)(&variable.name).filter(|value| !value.trim().is_empty()) else {
            continue;
        };
        let path = expand(&value, surroundings.user);
        if !path.is_absolute() {
            return Err(HomeError::NotAbsolute(variable.name.clone(), value));
        }
        return Ok(match &variable.holds {
            VariableHolds::Folder => path,
            VariableHolds::File => path.parent().map_or_else(|| path.clone(), Path::to_path_buf),
            VariableHolds::ParentOf(name) => path.join(name),
        });
    }
    Ok(expand(&home.global, surroundings.user))
}

/// Replaces `~` or a leading `~/` by the user's home.
fn expand(text: &str, user: &Path) -> PathBuf {
    match text.strip_prefix('~') {
        Some("") => user.to_owned(),
        Some(rest) if rest.starts_with(['/', '\\']) => user.join(rest.trim_start_matches(['/', '\\'])),
        _ => PathBuf::from(text),
    }
}

#[cfg(test)]
mod tests {
    use super::super::made_up;
    use super::*;

    const ONE_VARIABLE: &str = r#"[home]
        environment = [{ name = "LANTERN_HOME" }]"#;
    const SEVERAL: &str = r#"
        [home]
        global = "~/.config/lantern"
        environment = [
          { name = "LANTERN_FOLDER" },
          { name = "LANTERN_FILE", holds = "file" },
          { name = "XDG_CONFIG_HOME", holds = { parent-of = "lantern" } },
        ]"#;

    fn root(
        facts: &str,
        scope: Scope,
        environment: &[(&str, &str)],
        chosen: Option<&str>,
    ) -> Result<String, HomeError> {
        let descriptor = made_up(facts);
        let environment =
            |name: &str| environment.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        let surroundings = Surroundings {
            environment: &environment,
            user: Path::new("/home/u"),
            project: Path::new("/srv/p"),
            chosen,
        };
        Home::resolve(&descriptor, scope, surroundings).map(|home| home.root.to_string_lossy().into_owned())
    }

    #[test]
    fn a_chosen_folder_overrides_the_environment_and_that_the_usual_folder() {
        let set = [("LANTERN_HOME", "/etc/c")];
        assert_eq!(root(ONE_VARIABLE, Scope::Global, &[], None).unwrap(), "/home/u/.lantern");
        assert_eq!(root(ONE_VARIABLE, Scope::Global, &set, None).unwrap(), "/etc/c");
        assert_eq!(root(ONE_VARIABLE, Scope::Global, &set, Some("~/mine")).unwrap(), "/home/u/mine");
        assert_eq!(root(ONE_VARIABLE, Scope::Global, &set, Some("rel")).unwrap(), "/srv/p/rel");
        assert_eq!(root(ONE_VARIABLE, Scope::Local, &set, None).unwrap(), "/srv/p/.lantern");
    }

    #[test]
    fn a_blank_value_is_unset_and_a_tilde_is_the_home() {
        assert_eq!(root(ONE_VARIABLE, Scope::Global, &[("LANTERN_HOME", "  ")], None).unwrap(), "/home/u/.lantern");
        assert_eq!(root(ONE_VARIABLE, Scope::Global, &[("LANTERN_HOME", "~")], None).unwrap(), "/home/u");
        assert_eq!(root(ONE_VARIABLE, Scope::Global, &[("LANTERN_HOME", "~/x")], None).unwrap(), "/home/u/x");
        assert_eq!(root(ONE_VARIABLE, Scope::Global, &[], Some(" ")), Err(HomeError::ChosenEmpty));
    }

    #[test]
    fn a_variable_may_name_a_file_or_the_parent_folder() {
        let at = |environment: &[(&str, &str)]| root(SEVERAL, Scope::Global, environment, None).unwrap();
        assert_eq!(at(&[]), "/home/u/.config/lantern");
        assert_eq!(at(&[("XDG_CONFIG_HOME", "/x")]), "/x/lantern");
        assert_eq!(at(&[("LANTERN_FILE", "/o/my.json"), ("XDG_CONFIG_HOME", "/x")]), "/o");
        assert_eq!(at(&[("LANTERN_FOLDER", "/d"), ("LANTERN_FILE", "/o/my.json")]), "/d");
    }

    #[test]
    fn values_that_cannot_be_a_folder_are_refused() {
        assert_eq!(root(ONE_VARIABLE, Scope::Local, &[], Some("/x")), Err(HomeError::ChosenForLocal));
        let relative = root(ONE_VARIABLE, Scope::Global, &[("LANTERN_HOME", "here")], None);
        assert_eq!(relative, Err(HomeError::NotAbsolute("LANTERN_HOME".into(), "here".into())));
        let nowhere = "[home]\nlocal = { none = \"it reads the home alone\" }";
        assert_eq!(root(nowhere, Scope::Local, &[], None), Err(HomeError::NoLocal("it reads the home alone".into())));
        assert_eq!(root(nowhere, Scope::Global, &[], None).unwrap(), "/home/u/.lantern");
    }
}
