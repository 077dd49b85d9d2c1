//! The user's own folder, `.gsd` in the home folder: defaults, and openings in the fences of unattended programs. A
//! project cannot open anything.

use std::path::PathBuf;

use crate::disk;
use crate::failure::Failure;
use crate::project::milestone_layout::fence::{self, FencePreferences, KEY};
use crate::text::untrusted::line;
use crate::world::World;
use crate::world::fence::{Openings, is_known_variable};

const HINT: &str = "correct or remove that entry, then run the command again";

/// The name of the file with the user's preferences.
pub(crate) const PREFERENCES: &str = "PREFERENCES.md";

/// The path of a file in the user's own folder.
pub(crate) fn file(world: &World, name: &str) -> Option<PathBuf> {
    Some(world.gsd_home()?.join(".gsd").join(name))
}

/// True if the user's own folder has a file of this name.
pub(crate) fn has_file(world: &World, name: &str) -> bool {
    file(world, name).is_some_and(disk::is_file)
}

/// The text of the user's own defaults.
pub(crate) fn defaults(world: &World) -> Result<Option<String>, Failure> {
    match file(world, "defaults.json") {
        Some(file) => Ok(disk::read_config(file)?),
        None => Ok(None),
    }
}

/// The openings in the user's own preferences. An entry that cannot be used is refused.
pub(crate) fn openings(world: &World) -> Result<Openings, Failure> {
    let text = match file(world, PREFERENCES).map(disk::read_config).transpose() {
        // They are hidden from sessions if they name a held-out check.
        Err(_) if world.is_unit() => None,
        read => read?.flatten(),
    };
    let Some(text) = text else { return Ok(Openings::default()) };
    let opened = fence::read(&text).and_then(|preferences| opened(preferences, world));
    opened.map_err(|why| {
        let message = format!("`~/.gsd/PREFERENCES.md` line {}: `{KEY}` {why}", fence::line(&text));
        Failure::usage(message).exits(64).hint(HINT)
    })
}

fn opened(preferences: FencePreferences, world: &World) -> Result<Openings, String> {
    let FencePreferences { read, sockets, network: ports, terminals } = preferences;
    let place = |path: String| {
        let below = path.strip_prefix("~/").and_then(|rest| Some(world.home()?.join(rest)));
        let place = below.unwrap_or_else(|| PathBuf::from(&path));
        if place.is_absolute() { Ok(place) } else { Err(format!("has `{path}` in `read`: begin it with `/` or `~/`")) }
    };
    let read = read.into_iter().map(place).collect::<Result<_, _>>()?;
    if let Some(unknown) = sockets.iter().find(|name| !is_known_variable(name)) {
        return Err(format!("has `{unknown}` in `sockets`, which no fence removes"));
    }
    if ports.is_some() && !world.fences_ports() {
        return Err("has `network`, and this system cannot limit ports: Linux 6.7 or later can".to_owned());
    }
    Ok(Openings { read, sockets, ports, terminals })
}

/// The openings as a text for people; `None` without any.
pub(crate) fn shown(openings: &Openings) -> Option<String> {
    let Openings { read, sockets, ports, terminals } = openings;
    let list = |words: Vec<String>| (!words.is_empty()).then(|| words.join(", "));
    let read = list(read.iter().map(|path| path.display().to_string()).collect()).map(|list| format!("reading {list}"));
    let sockets = list(sockets.clone()).map(|list| format!("sockets by {list}"));
    let terminals = terminals.then(|| "terminals".to_owned());
    let ports = ports.as_ref().map(|ports| list(ports.iter().map(u16::to_string).collect()));
    let ports = ports.map(|list| list.map_or("no TCP".to_owned(), |list| format!("only TCP to port {list}")));
    let all: Vec<String> = [read, sockets, terminals, ports].into_iter().flatten().collect();
    (!all.is_empty()).then(|| line(&all.join("; "), 200))
}
