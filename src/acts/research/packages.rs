//! Asking registries about packages.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use crate::acts::{Call, files};
use crate::operations::research::packages::{self, Ecosystem, PackageReport, RegistryAnswer};
use crate::world::web::encoded;
use crate::world::{Program, World, WorldError};

/// How long npm may take to print one of its settings.
const PATIENCE: Duration = Duration::from_secs(20);

/// How many packages are looked up in parallel.
const BESIDE_EACH_OTHER: usize = 8;

/// Asks the registry about each of the packages, several in parallel.
pub(crate) fn look_up(call: &Call, ecosystem: Ecosystem, names: &[String]) -> Vec<PackageReport> {
    let world = call.world();
    let now = world.now().milliseconds();
    let registries: BTreeMap<Option<&str>, Result<String, WorldError>> =
        names.iter().map(|name| scope(name)).map(|scope| (scope, registry(call, ecosystem, scope))).collect();
    let mut reports = Vec::new();
    for some in names.chunks(BESIDE_EACH_OTHER) {
        let told: Vec<RegistryAnswer> = thread::scope(|threads| {
            let asked: Vec<_> = some
                .iter()
                .map(|name| {
                    let registry = &registries[&scope(name)];
                    threads.spawn(move || match registry {
                        Ok(registry) => ask(world, ecosystem, registry, name),
                        Err(error) => unreachable(&error.to_string()),
                    })
                })
                .collect();
            asked.into_iter().map(|asked| asked.join().unwrap_or_else(|_| unreachable("the question failed"))).collect()
        });
        reports.extend(some.iter().zip(&told).map(|(name, told)| packages::judge(ecosystem, name, told, now)));
    }
    reports
}

/// `@types` for `@types/node`: a scope can have its own registry.
fn scope(name: &str) -> Option<&str> {
    name.split_once('/').map(|(scope, _)| scope).filter(|scope| scope.starts_with('@'))
}

/// The address of the registry to ask about packages. If the project's registry differs from the user's, no registry is
/// asked: a repository may not choose which server learns about it, and the user's registry may have another package
/// with that name.
fn registry(call: &Call, ecosystem: Ecosystem, scope: Option<&str>) -> Result<String, WorldError> {
    if let Some(known) = ecosystem.registry() {
        return Ok(known.to_owned());
    }
    let own = npm_registry(call.world(), scope)?;
    let settings = files::read(call, &call.root().resolve(".npmrc")).ok().flatten().unwrap_or_default();
    let setting = |key: &str| {
        let lines = settings.lines().filter_map(|line| line.split_once('='));
        let mut values =
            lines.filter(|(name, _)| name.trim() == key).map(|(_, value)| value.trim().trim_matches(['"', '\'']));
        values.next_back().map(str::to_owned)
    };
    let named = scope.and_then(|scope| setting(&format!("{scope}:registry"))).or_else(|| setting("registry"));
    match named.filter(|named| named.trim_end_matches('/') != own.trim_end_matches('/')) {
        Some(named) => Err(WorldError::NoAnswer {
            server: "npm".to_owned(),
            why: format!("the project's `.npmrc` sets `{named}`; set that registry in your own `~/.npmrc` to use it"),
        }),
        None => Ok(own),
    }
}

/// The address of the registry in the user's own npm settings.
pub(crate) fn npm_registry(world: &World, scope: Option<&str>) -> Result<String, WorldError> {
    let no_answer = |why: String| WorldError::NoAnswer { server: "npm".to_owned(), why };
    let setting = |key: &str| -> Result<Option<String>, WorldError> {
        let npm = Program::apart("npm").arguments(["config", "get", key]);
        let finished = world.run(&npm.variable("npm_config_update_notifier", "false").timeout(PATIENCE))?;
        Ok(Some(finished.text()).filter(|told| finished.success() && told != "undefined"))
    };
    let own = scope.map(|scope| setting(&format!("{scope}:registry"))).transpose()?.flatten();
    let told = own.map_or_else(|| setting("registry"), |own| Ok(Some(own)))?;
    let told = told.ok_or_else(|| no_answer("it has no registry configured".to_owned()))?;
    // The value of a variable may be a key.
    if told.contains('$') {
        Err(no_answer("the address of its registry contains a variable".to_owned()))
    } else {
        Ok(told)
    }
}

fn unreachable(why: &str) -> RegistryAnswer {
    RegistryAnswer::Unreachable(why.to_owned())
}

fn ask(world: &World, ecosystem: Ecosystem, registry: &str, name: &str) -> RegistryAnswer {
    const JSON: &[(&str, &str)] = &[("Accept", "application/json")];
    let name = encoded(name);
    let page = match world.fetch(&ecosystem.page(registry, &name), JSON) {
        Err(error) => return unreachable(&error.to_string()),
        Ok(response) if response.status == 404 => return RegistryAnswer::Nothing,
        Ok(response) if response.status != 200 => {
            return unreachable(&format!("the registry answered with status {}", response.status));
        }
        Ok(response) => match serde_json::from_slice(&response.body) {
            Ok(page) => page,
            Err(error) => return unreachable(&format!("the answer of the registry is not JSON: {error}")),
        },
    };
    // If the number of downloads is unavailable, it stays unknown, and the rest is still valid.
    let downloads = ecosystem.downloads_page(&name).and_then(|page| {
        let response = world.fetch(&page, JSON).ok().filter(|response| response.status == 200)?;
        serde_json::from_slice(&response.body).ok()
    });
    RegistryAnswer::Page { page, downloads }
}
