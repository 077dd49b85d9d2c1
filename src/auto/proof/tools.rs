//! The environment of checks: the system, and the versions of the programs that their commands name.

use std::time::Duration;

use crate::auto::event::{Environment, ToolVersion};
use crate::gate::check::Check;
use crate::gate::run::CheckPlace;
use crate::text::terminal::without_colours;
use crate::world::{Program, World};

/// How long a program may take to print its version.
const PATIENCE: Duration = Duration::from_secs(10);

/// The longest version that is kept, in characters.
const LONGEST: usize = 120;

/// Programs whose version needs another argument than `--version`.
const ASKED_OTHERWISE: &[(&str, &str)] = &[("go", "version")];

const UNKNOWN: &str = "unknown";

/// Returns the environment of the checks of a place. The programs are run there, within the fence of the checks.
pub(crate) fn environment(world: &World, checks: &[Check], place: &CheckPlace<'_>, fenced: bool) -> Environment {
    let mut tools: Vec<ToolVersion> = Vec::new();
    for program in checks.iter().map(Check::program).chain(["git"]) {
        if tools.iter().all(|known| known.program != program) {
            tools.push(ToolVersion { program: program.to_owned(), version: version(world, program, place) });
        }
    }
    Environment { system: world.system(), locale: world.locale(), fenced, tools }
}

fn version(world: &World, name: &str, place: &CheckPlace<'_>) -> String {
    // A program in the tree is identified by the tree, and might do all of its work when asked for its version.
    if name.contains(['/', '\\']) {
        return "in the tree".to_owned();
    }
    let asked = ASKED_OTHERWISE.iter().find(|(program, _)| *program == name).map_or("--version", |(_, word)| word);
    let mut program = Program::new(name).arguments([asked]).folder(place.folder).timeout(PATIENCE);
    for (name, value) in place.variables {
        program = program.variable(name, value);
    }
    let program = place.fence.map_or_else(|| program.clone(), |fence| fence(program.clone()));
    let Some(finished) = world.run(&program).ok().filter(crate::world::Finished::success) else {
        return UNKNOWN.to_owned();
    };
    let said = [finished.text(), finished.error_text()].join("\n");
    let home = world.home().map(|home| home.display().to_string()).filter(|home| home.len() > 1);
    let line = said.lines().map(without_colours).find(|line| !line.trim().is_empty());
    let line = line.map(|line| line.trim().chars().take(LONGEST).collect::<String>());
    // Some print their install path, which may contain the name of the user.
    line.map_or_else(|| UNKNOWN.to_owned(), |line| home.map_or_else(|| line.clone(), |home| line.replace(&home, "~")))
}
