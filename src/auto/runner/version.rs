//! The version of an installed client, and its differences: the facts about a client are for one major version.

use std::time::Duration;

use super::table::Runner;
use crate::disk::Scratch;
use crate::world::fence::{Fence, Fencing};
use crate::world::{Finished, Program, World};

/// How long a client may take to print its version.
const LIMIT: Duration = Duration::from_secs(20);

/// Returns the version that `program`, a client that is run as `runner`, prints, on one line. `None` if it prints none.
/// Some clients write to their folders and to temporary files even then, so it runs in a view of them, as a session
/// does.
pub(crate) fn version_of(world: &World, runner: Option<&Runner>, program: &str) -> Option<String> {
    let mut question = Program::apart(program).arguments(["--version"]).timeout(LIMIT);
    let scratch = Scratch::new(&world.temporary_folder()).ok()?;
    let staged = runner.map(|runner| runner.stage(world, &scratch.path("client"), &[])).transpose().ok()?.flatten();
    if let Some(staged) = &staged {
        let fence =
            Fence::around([staged.folder().as_path()]).with_temporary(scratch.make_folder("tmp").ok()?.as_path());
        question = staged.variables().iter().fold(question, |question, (name, value)| question.variable(name, value));
        question = if world.fencing() == Fencing::Unavailable { question } else { question.fenced(&fence) };
    }
    let said = world.run(&question).ok();
    // Nothing was refreshed that would have to be copied back.
    drop(staged);
    let said = said.filter(Finished::success)?;
    let lines = [said.text(), said.error_text()];
    let mut lines = lines.iter().flat_map(|text| text.lines()).map(str::trim);
    lines.find(|line| major_of(line).is_some()).map(str::to_owned)
}

impl Runner {
    /// Returns the row for a client with this version.
    pub(crate) fn for_version(&self, said: &str) -> Self {
        let Some(major) = major_of(said).filter(|_| self.differs(said)) else { return self.clone() };
        let Some(other) = self.majors.iter().find(|other| other.major == major) else { return self.clone() };
        let (arguments, choose_folder) = (other.arguments.clone(), other.choose_folder.clone());
        Self { arguments, choose_folder, verified: false, ..self.clone() }
    }

    /// True if the facts are about another major version than this one.
    fn differs(&self, said: &str) -> bool {
        let measured = self.version.as_deref().and_then(major_of);
        measured.zip(major_of(said)).is_some_and(|(measured, found)| measured != found)
    }

    /// Returns a warning for users of a client with this version, if any.
    pub(crate) fn warning_on(&self, said: Option<&str>) -> Option<String> {
        let (title, measured) = (&self.title, self.version.as_ref()?);
        let Some(said) = said else {
            return Some(format!(
                "{title} does not say its version; it is started as {measured} is, with which gsd-tools was tried"
            ));
        };
        self.differs(said).then(|| {
            format!(
                "{title} says that it is `{said}`; gsd-tools was tried with {measured}. `gsd-tools auto probe` shows differences, where it knows the client"
            )
        })
    }
}

/// Returns the first number of the first version in a line.
pub(crate) fn major_of(line: &str) -> Option<u64> {
    let words = line.split(|letter: char| letter.is_whitespace() || matches!(letter, '/' | '@' | '(' | ')' | '-'));
    let versions = words.filter_map(|word| {
        let (major, rest) = word.trim_start_matches('v').split_once('.')?;
        rest.starts_with(|letter: char| letter.is_ascii_digit()).then(|| major.parse().ok())?
    });
    versions.take(1).next()
}

#[cfg(test)]
mod tests {
    use super::super::table::Runners;
    use super::*;

    #[test]
    fn the_major_version_is_found_in_the_output_of_each_client() {
        let said = [
            ("2.1.330 (Claude Code)", 2),
            ("codex-cli 0.169.0", 0),
            ("GitHub Copilot CLI 1.0.102.", 1),
            ("v2.0.20", 2),
            ("opencode/2.0.28 linux-x64", 2),
            ("1.6.0", 1),
        ];
        for (line, major) in said {
            assert_eq!(major_of(line), Some(major), "{line}");
        }
        for line in ["", "no version", "See https://example.com/a.b", "Version 2"] {
            assert_eq!(major_of(line), None, "{line}");
        }
    }

    #[test]
    fn a_client_of_another_major_version_is_called_differently_and_its_user_is_warned() {
        let runner = Runners::builtin().unwrap().find("opencode").unwrap().clone();
        let second = runner.for_version("v2.0.20");
        assert!(second.arguments.contains(&"--standalone".to_owned()), "{:?}", second.arguments);
        assert!(second.choose_folder.is_empty() && !second.verified);
        let warning = runner.warning_on(Some("v2.0.20")).unwrap();
        assert!(warning.contains("v2.0.20") && warning.contains("1.18.33"), "{warning}");
        assert_eq!(runner.for_version("1.19.0").arguments, runner.arguments);
        assert_eq!(runner.warning_on(Some("1.19.0")), None);
        assert!(runner.warning_on(None).is_some_and(|warning| warning.contains("does not say its version")));
        assert_eq!(
            runner.warning_on(Some("3.0.0")).map(|_| runner.for_version("3.0.0").arguments),
            Some(runner.arguments)
        );
    }

    #[test]
    fn every_other_major_version_has_a_dated_fact_and_works_without_a_shared_service() {
        for runner in Runners::builtin().unwrap().iter() {
            for other in &runner.majors {
                assert!(other.fact.date.parse::<jiff::civil::Date>().is_ok() && !other.fact.source.is_empty());
                assert!(runner.version.as_deref().and_then(major_of) != Some(other.major), "{}", runner.name);
            }
        }
    }
}
