//! Converts (Item, Descriptor, Scope) to artifacts. Pure: same input, same bytes; nothing is read or written.
//!
//! Nothing here depends on a particular host: the differences are in the descriptors, as facts and shapes.
//!
//! A command is typed-only if the host can hide it from the model's list (a front matter key, a sidecar file, or a
//! command file instead of a skill); routers are listed. One process serves one event: the registered command line is
//! `<program> hook <dialect> <event>` and does not change between versions, since some hosts trust it by its text. A
//! dialect is named by its shape.

mod adapters;
mod artifact;
pub(crate) mod bill;
mod encode;
mod front_matter;
mod hooks;
mod nesting;
mod plugin;
mod rewrite;
mod settings;
mod spelling;

#[cfg(test)]
pub(crate) mod content_tests;
#[cfg(test)]
mod golden_tests;
#[cfg(test)]
mod hook_tests;

#[cfg(test)]
pub(crate) use artifact::MarkedText;
#[cfg(not(test))]
use artifact::MarkedText;
pub(crate) use artifact::{Anchor, Artifact, Contents, SharedEdit, SharedFile};
#[cfg(all(test, unix))]
pub(crate) use golden_tests::small_library;

pub(crate) use plugin::package;

use std::collections::BTreeSet;

use crate::library::{Item, ItemKind, Library};
use crate::runtime::{Descriptor, Encoding, Home, Place, PlaceAnchor, PlaceItem, Scope};
use crate::text::edit::FileFormat;

use nesting::Nesting;
use rewrite::Rewriter;
pub(crate) use rewrite::with_program;
pub(crate) use settings::block_in;
pub(crate) use spelling::{CONTENT_FOLDER, Spelling, with_short_program};

/// The input of an installation in addition to the library, the host and the scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EmitOptions {
    /// The version of this program.
    pub(crate) version: String,
    /// The host's folder and the user's home, absolute, with `/`.
    pub(crate) root: String,
    pub(crate) user: String,
    /// Allow our program in the host's list of allowed commands, if it keeps one.
    pub(crate) permissions: bool,
    /// The beginnings of our program's calls that run without asking.
    pub(crate) unasked: Vec<String>,
    pub(crate) hooks: bool,
    /// Set the host's status line if it has none. For a local installation the caller must also know that the user's
    /// own settings have none, because the project's would override them.
    pub(crate) status_line: bool,
    /// The suffix of program names on this system: nothing, or `.exe`.
    pub(crate) program_ending: &'static str,
    /// Put commands below the routers that lead to them, if both are skills.
    pub(crate) nested: bool,
    /// The existing files among [`alternatives`], below the host's folder.
    pub(crate) existing: BTreeSet<String>,
    /// Set if the library is only the part that a profile names.
    pub(crate) profile: Option<ProfileNote>,
    /// Replace the user's status line.
    pub(crate) replaces_status_line: bool,
    /// Name our program in hooks by the home that the shell knows, so that the settings fit every home.
    pub(crate) portable_hooks: bool,
}

/// The profile of an install that leaves commands out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProfileNote {
    /// Its names, separated by commas.
    pub(crate) names: String,
    /// The flags that select this install in commands.
    pub(crate) flags: String,
}

/// The file with the profile of an install that leaves something out, in the folder of our content: its names, the
/// flags that select the install, and the path in the library of each item that is left out, each on a line.
pub(crate) const PROFILE_FILE: &str = ".gsd-profile";

impl EmitOptions {
    /// Turns everything on, for the folders of `home`, on this system.
    pub(crate) fn new(home: &Home, version: &str) -> EmitOptions {
        let with_slashes = |path: &std::path::Path| path.to_string_lossy().replace('\\', "/");
        EmitOptions {
            user: with_slashes(&home.user),
            status_line: true,
            ..EmitOptions::outside_homes(&with_slashes(&home.root), version)
        }
    }

    /// For a folder that is below no home and that all users of the system share: without a status line.
    pub(crate) fn outside_homes(root: &str, version: &str) -> EmitOptions {
        EmitOptions {
            version: version.to_owned(),
            root: root.to_owned(),
            // The folder is not below itself.
            user: root.to_owned(),
            permissions: true,
            unasked: Vec::new(),
            hooks: true,
            status_line: false,
            program_ending: std::env::consts::EXE_SUFFIX,
            nested: false,
            existing: BTreeSet::new(),
            profile: None,
            replaces_status_line: false,
            portable_hooks: false,
        }
    }
}

/// Files below the host's folder that are edited instead of others if they exist.
pub(crate) fn alternatives(descriptor: &Descriptor) -> impl Iterator<Item = &str> {
    descriptor.files.values().filter_map(|file| file.instead.as_deref())
}

/// Everything that should be on disk for this host and scope, sorted by place. No place occurs twice.
pub(crate) fn emit_all(
    library: &Library,
    descriptor: &Descriptor,
    scope: Scope,
    options: &EmitOptions,
) -> Vec<Artifact> {
    let local = descriptor.home.local.folder().unwrap_or(".");
    let spelling = Spelling::new(scope, local, &options.root, &options.user)
        .with_absolute_program(descriptor.home.absolute_program);
    let rewriter = Rewriter { library, descriptor, scope, spelling: &spelling, profile: options.profile.as_ref() };
    let nesting = if options.nested { Nesting::of(library, descriptor, scope) } else { Nesting::default() };
    let mut artifacts = emit_items(library, &rewriter, &nesting);
    artifacts.extend(program(library, descriptor, scope, options));
    artifacts.extend(settings::artifacts(library, descriptor, scope, &spelling, options));
    artifacts.extend((scope == Scope::Local).then(|| ignored(descriptor)));
    artifacts.sort_by(|left, right| (&left.anchor, &left.path).cmp(&(&right.anchor, &right.path)));
    artifacts
}

/// The files of all items, in any order. Their texts are most of the work of an install, so all cores share it.
fn emit_items(library: &Library, rewriter: &Rewriter<'_>, nesting: &Nesting) -> Vec<Artifact> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(8);
    let share = |core: usize| {
        let share = library.items().skip(core).step_by(cores);
        share.flat_map(|item| emit(item, rewriter, nesting)).collect::<Vec<Artifact>>()
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..cores).map(|core| scope.spawn(move || share(core))).collect();
        let mut artifacts = share(0);
        for other in others {
            artifacts.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        artifacts
    })
}

/// How many hooks a host with this descriptor runs for us: one process for each of our events that it has.
pub(crate) fn hook_count(library: &Library, descriptor: &Descriptor, scope: Scope) -> usize {
    hooks::count(library.hooks(), descriptor, scope)
}

/// The files of one item.
fn emit(item: &Item, rewriter: &Rewriter<'_>, nesting: &Nesting) -> Vec<Artifact> {
    let place_item = match item.kind {
        ItemKind::Command => PlaceItem::Command,
        ItemKind::Router => PlaceItem::Router,
        ItemKind::Agent => PlaceItem::Agent,
        _ => return vec![shared_content(item, rewriter)],
    };
    let descriptor = rewriter.descriptor;
    let Some(place) = descriptor.place(place_item, rewriter.scope) else { return Vec::new() };
    let form = descriptor.form(place_item);
    let fields = front_matter::fields(item, form, descriptor);
    let mut body = rewriter.body(nesting.router(item).as_ref().unwrap_or(item));
    if form.template {
        body = rewrite::without_placeholders(&body);
    }
    let text = match place.encoding {
        Encoding::Markdown => encode::markdown(&fields, &body),
        Encoding::Toml => encode::toml(&fields, form.body_key.as_deref().unwrap_or("body"), &body),
    };
    let mut artifacts = Vec::new();
    for path in nesting.places(item).unwrap_or_else(|| vec![place.path.replace("{name}", item.name.as_str())]) {
        artifacts.extend(with_sidecar(item, descriptor, placed(place, rewriter.spelling), path, text.clone()));
    }
    artifacts
}

/// The file of an item at `path`, and the file that must accompany it, if any.
fn with_sidecar(item: &Item, descriptor: &Descriptor, anchor: Anchor, path: String, text: String) -> Vec<Artifact> {
    let mut artifacts = Vec::new();
    if item.kind == ItemKind::Command
        && let Some(sidecar) = &descriptor.typed_only.sidecar
    {
        let folder = path.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
        artifacts.push(whole(anchor.clone(), format!("{folder}{}", sidecar.path), sidecar.text.clone(), item.kind));
    }
    artifacts.push(whole(anchor, path, text, item.kind));
    artifacts
}

/// A library file that commands and agents read.
fn shared_content(item: &Item, rewriter: &Rewriter<'_>) -> Artifact {
    let is_markdown = item.path.rsplit_once('.').is_some_and(|(_, ending)| ending == "md");
    let text = if is_markdown { rewriter.body(item) } else { item.body.clone() };
    whole(Anchor::Root, format!("{CONTENT_FOLDER}/{}", item.path), text, item.kind)
}

/// The program and the small files next to it.
fn program(library: &Library, descriptor: &Descriptor, scope: Scope, options: &EmitOptions) -> Vec<Artifact> {
    let small =
        |name: &str, text: String| whole(Anchor::Root, format!("{CONTENT_FOLDER}/{name}"), text, ItemKind::Program);
    let mut artifacts = vec![
        Artifact {
            anchor: Anchor::Root,
            path: format!("{CONTENT_FOLDER}/bin/gsd-tools{}", options.program_ending),
            contents: Contents::Binary,
            executable: true,
            kind: ItemKind::Program,
        },
        small("VERSION", format!("{}\n", options.version)),
        small(".gsd-runtime", format!("{}\n", descriptor.id)),
    ];
    if let Some(note) = &options.profile {
        let left_out = library.left_out(ItemKind::Command).map(|name| format!("commands/{name}.md\n"));
        let left_out = left_out.chain(library.left_out(ItemKind::Agent).map(|name| format!("agents/{name}.md\n")));
        let text = format!("{}\n{}\n{}", note.names, note.flags, left_out.collect::<String>());
        artifacts.push(small(PROFILE_FILE, text));
    }
    if scope == Scope::Local {
        artifacts.push(small("bin/.gitignore", "gsd-tools\ngsd-tools.exe\n".to_owned()));
    }
    artifacts
}

/// Keeps out of a repository what belongs to one computer: the manifest, settings that the host keeps for one person,
/// and edited files that were set aside.
fn ignored(descriptor: &Descriptor) -> Artifact {
    let private = descriptor.files.values().filter_map(|file| file.local_path.as_deref());
    let private: BTreeSet<&str> = ["gsd-file-manifest.json", "gsd-local-patches/"].into_iter().chain(private).collect();
    let block = MarkedText {
        open: "# gsd-tools: files of one computer".to_owned(),
        close: "# end of gsd-tools".to_owned(),
        body: private.into_iter().fold(String::new(), |text, path| text + path + "\n"),
    };
    let file = SharedFile { format: FileFormat::Lines, edits: vec![SharedEdit::Marked(block)] };
    Artifact {
        anchor: Anchor::Root,
        path: ".gitignore".to_owned(),
        contents: Contents::Shared(file),
        executable: false,
        kind: ItemKind::Program,
    }
}

fn whole(anchor: Anchor, path: String, text: String, kind: ItemKind) -> Artifact {
    Artifact { anchor, path, contents: Contents::Whole(text), executable: false, kind }
}

/// The path of a command's or an agent's file, for a reader.
fn file_of(descriptor: &Descriptor, item: PlaceItem, scope: Scope, spelling: &Spelling, name: &str) -> String {
    let Some(place) = descriptor.place(item, scope) else { return String::new() };
    let path = place.path.replace("{name}", name);
    match placed(place, spelling) {
        Anchor::Root => spelling.of(&path),
        Anchor::Home(folder) => format!("~/{folder}/{path}"),
        Anchor::Project => path,
    }
}

/// The anchor of a place. A folder of the home may be the host's own, unless that was moved.
fn placed(place: &Place, spelling: &Spelling) -> Anchor {
    match &place.anchor {
        PlaceAnchor::Root => Anchor::Root,
        PlaceAnchor::Project => Anchor::Project,
        PlaceAnchor::Home(folder) if spelling.of("x") == format!("~/{folder}/x") => Anchor::Root,
        PlaceAnchor::Home(folder) => Anchor::Home(folder.clone()),
    }
}
