//! The clients of installed hosts: whether they are of the major version that the facts about the host are for.

use serde::Deserialize;

use super::{CheckedArea, Examined};
use crate::acts::Call;
use crate::auto::runner::table::Runners;
use crate::auto::runner::version::{major_of, version_of};
use crate::disk::{self, AbsolutePath};
use crate::failure::Failure;
use crate::operations::answers::finding::Finding;
use crate::runtime::Descriptor;
use crate::text::terminal::one_line;
use crate::world::World;

/// How many folders above a program its package may be.
const ABOVE: usize = 4;

/// The part of a `package.json` that has the version.
#[derive(Deserialize)]
struct PackageVersion {
    version: String,
}

/// Compares the version of each host's client in `PATH` with the version that was tried.
pub(crate) fn clients(call: &Call, hosts: &[&Descriptor]) -> Result<Examined, Failure> {
    let mut examined = Examined::new(CheckedArea::Clients);
    let runners = Runners::builtin()?;
    let world = call.world();
    let said: Vec<Option<String>> = std::thread::scope(|scope| {
        let ask = |host: &&Descriptor| {
            let host = (*host).clone();
            let runner = runners.iter().find(|runner| runner.host.as_deref() == Some(host.id.as_str())).cloned();
            scope.spawn(move || {
                let programs = host.programs.as_ref()?;
                let program = world.program_of(&programs.names, &programs.marks)?.path;
                let packaged = AbsolutePath::parse(&program).ok().and_then(|path| version_of_package(&path));
                packaged.or_else(|| version_of(world, runner.as_ref(), &program.to_string_lossy()))
            })
        };
        let asked: Vec<_> = hosts.iter().map(ask).collect();
        asked.into_iter().map(|answer| answer.join().ok().flatten()).collect()
    });
    for (host, said) in hosts.iter().zip(said) {
        let said = said.map(|said| one_line(&said));
        let is_there = || is_in_path(host, world);
        match (said, host.verified.version.as_deref()) {
            (Some(said), Some(tried)) => {
                examined.looked_at.push(format!("{} {said}", host.name));
                if major_of(tried) != major_of(&said) {
                    let name = &host.name;
                    let what = format!("{name} is {said}; this program was tried with {tried}, and may not fit it");
                    let cure =
                        "check that the commands are listed in it, and `gsd-tools hooks status` for its last call";
                    examined.push(Finding::warning("client-version", what).cure(cure));
                }
            }
            (None, Some(_)) if is_there() => {
                let what = format!("the version of {} is not known: its program prints none", host.name);
                examined.push(Finding::note("client-version-unknown", what));
            }
            (Some(said), None) => {
                examined.looked_at.push(format!("{} {said}, tried with no version", host.name));
            }
            (None, _) => {}
        }
    }
    Ok(examined)
}

fn is_in_path(host: &Descriptor, world: &World) -> bool {
    host.programs.as_ref().is_some_and(|programs| world.program_of(&programs.names, &programs.marks).is_some())
}

/// The version in the `package.json` above a program that npm installed: most clients take half a second to print it.
fn version_of_package(program: &AbsolutePath) -> Option<String> {
    let real = disk::real(program).ok()?;
    let mut folder = real.parent();
    for _ in 0..ABOVE {
        let here = folder?;
        if let Ok(Some(text)) = disk::read_config(here.resolve("package.json"))
            && let Ok(package) = serde_json::from_str::<PackageVersion>(&text)
            && here.as_path().components().any(|part| part.as_os_str() == "node_modules")
        {
            return Some(package.version);
        }
        folder = here.parent();
    }
    None
}
