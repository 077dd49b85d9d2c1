//! `runtimes`: the features that each host supports, and where files are installed.

mod text;

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::Failure;
use crate::frame::{Context, verbs};
use crate::install::InstallError;
use crate::runtime::{
    Descriptor, Evidence, Feature, Home, HomeError, Means, PlaceAnchor, RegistryError, Scope, Surroundings,
    VariableHolds,
};

verbs! {
    "Hosts" (own);

    /// List hosts and the features each supports
    ///
    /// With a host, shows how each feature is supported or why it is not, the host version that this was verified with,
    /// and where files are installed.
    ///
    /// Example: `gsd-tools runtimes claude`.
    "runtimes": reads json(RuntimesReport) = runtimes(RuntimesArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct RuntimesArgs {
    /// Show only this host, in detail
    host: Option<String>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

fn runtimes(context: &mut Context, arguments: &RuntimesArgs) -> Result<(), Failure> {
    let registry = context.registry()?.clone();
    let descriptors = match &arguments.host {
        Some(name) => vec![registry.find(name).map_err(InstallError::from)?],
        None => registry.all().map_err(InstallError::from)?,
    };
    let runtimes = descriptors
        .iter()
        .map(|descriptor| RuntimeRow::new(descriptor, registry.is_theirs(&descriptor.id), context))
        .collect();
    let broken = match &arguments.host {
        Some(_) => Vec::new(),
        None => registry.broken().iter().filter_map(BrokenRow::new).collect(),
    };
    let report = RuntimesReport { runtimes, broken };
    if arguments.json {
        return context.emit(&report);
    }
    let screen = context.page();
    context.text(match (&arguments.host, report.runtimes.first()) {
        (Some(_), Some(row)) => text::page(row, screen),
        _ => text::table(&report, screen),
    });
    Ok(())
}

/// The hosts we know, or the one that was named.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RuntimesReport {
    runtimes: Vec<RuntimeRow>,
    /// The user's own descriptors that cannot be used.
    broken: Vec<BrokenRow>,
}

/// The error in one of the user's own descriptors.
#[derive(Debug, Serialize, JsonSchema)]
struct BrokenRow {
    file: String,
    line: usize,
    column: usize,
    message: String,
    hint: String,
}

impl BrokenRow {
    fn new(error: &RegistryError) -> Option<Self> {
        let RegistryError::Broken { file, fault } = error else { return None };
        let (at, hint) = (&fault.at, fault.cure.clone());
        Some(Self { file: file.clone(), line: at.line, column: at.column, message: at.message.clone(), hint })
    }
}

/// The facts about one host.
#[derive(Debug, Serialize, JsonSchema)]
struct RuntimeRow {
    id: String,
    name: String,
    /// Whether its descriptor is a file of the user.
    own: bool,
    /// Other names for it.
    aliases: Vec<String>,
    verified: VerifiedRow,
    /// The programs in `PATH` with which `install --detected` finds it, in addition to its folder.
    programs: Vec<String>,
    features: Vec<FeatureRow>,
    places: Vec<PlaceRow>,
    environment: Vec<VariableRow>,
    /// Whether `gsd-tools package` can build a plugin for this host.
    plugin: bool,
}

/// How the facts were verified.
#[derive(Debug, Serialize, JsonSchema)]
struct VerifiedRow {
    date: String,
    by: Evidence,
    /// The version of the client that was run.
    version: Option<String>,
}

/// How the host supports a feature, or why it does not.
#[derive(Debug, Serialize, JsonSchema)]
struct FeatureRow {
    what: Feature,
    support: Means,
    note: String,
}

/// Where something is installed.
#[derive(Debug, Serialize, JsonSchema)]
struct PlaceRow {
    what: String,
    scope: Scope,
    /// Relative to the user's home or to the project.
    path: String,
}

/// A variable that moves the host's folder for the user; the first one that is set counts.
#[derive(Debug, Serialize, JsonSchema)]
struct VariableRow {
    name: String,
    /// The meaning of its value.
    holds: String,
}

impl RuntimeRow {
    fn new(descriptor: &Descriptor, own: bool, context: &Context) -> Self {
        let verified = &descriptor.verified;
        Self {
            id: descriptor.id.to_string(),
            name: descriptor.name.clone(),
            own,
            aliases: descriptor.aliases.clone(),
            verified: VerifiedRow { date: verified.date.clone(), by: verified.by, version: verified.version.clone() },
            programs: descriptor.programs.iter().flat_map(|programs| programs.names.clone()).collect(),
            features: Feature::ALL
                .into_iter()
                .map(|what| {
                    let support = descriptor.support(what);
                    FeatureRow { what, support: support.means, note: support.note }
                })
                .collect(),
            places: [Scope::Global, Scope::Local]
                .into_iter()
                .flat_map(|scope| places(descriptor, scope, context))
                .collect(),
            environment: descriptor
                .home
                .environment
                .iter()
                .map(|variable| VariableRow {
                    name: variable.name.clone(),
                    holds: match &variable.holds {
                        VariableHolds::Folder => "the folder itself".to_owned(),
                        VariableHolds::File => "a file in the folder".to_owned(),
                        VariableHolds::ParentOf(name) => format!("the folder above `{name}`"),
                    },
                })
                .collect(),
            plugin: descriptor.plugin.is_some(),
        }
    }
}

/// The paths in one scope, in the order in which people ask for them; empty if the host does not support the scope.
fn places(descriptor: &Descriptor, scope: Scope, context: &Context) -> Vec<PlaceRow> {
    let Some(root) = root(descriptor, scope, context) else { return Vec::new() };
    let row = |what: String, path: String| PlaceRow { what, scope, path };
    let below = |path: &str| format!("{root}/{path}");
    let mut rows = vec![row("folder".to_owned(), root.clone())];
    for place in descriptor.places.iter().filter(|place| place.scopes.contains(&scope)) {
        let what: Vec<&str> = place.items.iter().map(|item| item.words()).collect();
        let path = place.path.replace("{name}", "<name>");
        let path = match &place.anchor {
            PlaceAnchor::Root => below(&path),
            PlaceAnchor::Project => path,
            PlaceAnchor::Home(folder) => format!("~/{folder}/{path}"),
        };
        rows.push(row(what.join(", "), path));
    }
    for (name, file) in &descriptor.files {
        let path = below(file.path(scope, |_| false));
        rows.push(row(name.clone(), path));
    }
    for file in descriptor.own_files.iter().filter(|file| file.scopes.contains(&scope)) {
        rows.push(row(file.purpose.word().to_owned(), below(&file.path)));
    }
    rows.push(row("our content".to_owned(), below("gsd-core")));
    rows
}

/// The host's folder as a person would write it, taking the environment of the call into account.
fn root(descriptor: &Descriptor, scope: Scope, context: &Context) -> Option<String> {
    let user = context.world().home().unwrap_or_else(|| Path::new("~").to_path_buf());
    let environment = |name: &str| context.world().variable(name);
    let surroundings = Surroundings { environment: &environment, user: &user, project: Path::new(""), chosen: None };
    match Home::resolve(descriptor, scope, surroundings) {
        Ok(home) => Some(match home.root.strip_prefix(&user) {
            Ok(below) => format!("~/{}", below.to_string_lossy()),
            Err(_) => home.root.to_string_lossy().into_owned(),
        }),
        Err(HomeError::NoLocal(_)) => None,
        // A variable that does not name a folder is reported by an install.
        Err(_) => Some(descriptor.home.global.clone()),
    }
}
