//! Tests situations, plans and status without a disk: trees in memory, changed by installs and by people.

#![allow(clippy::unwrap_used, reason = "trees in memory are made by hand")]

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::disk::{DiskError, Faults, Holder, MemoryTree};
use crate::emit::{Anchor, Contents, MarkedText, SharedEdit, SharedFile};
use crate::library::ItemKind;
use crate::runtime::{Descriptor, made_up};
use crate::text::edit::FileFormat;
use crate::text::json::JsonEdit;
use crate::text::toml::TomlEdit;
use crate::text::yaml::YamlEdit;

const HOME: &str = "/nowhere/home";
const PROJECT: &str = "/nowhere/home/work/project";
const PROGRAM: &str = "/nowhere/bin/gsd-tools";
const IMAGE: &str = "\x7fELF of this program";
const ROOT: &str = "/nowhere/home/.lantern";
const OPTIONS: InstallOptions = InstallOptions {
    nested: false,
    without_permissions: false,
    profile: CommandProfile::FULL,
    replaces_status_line: false,
    portable_hooks: false,
    keeps_others: false,
};
const MANNER: InstallManner<'_> = InstallManner { version: "0.1.0", options: &OPTIONS, keeps_edits: false };

fn path(text: &str) -> AbsolutePath {
    AbsolutePath::parse(text).unwrap()
}

/// A home with the program, and these files of a person.
fn home<const N: usize>(files: [(&str, &str); N]) -> MemoryTree {
    let mut tree = MemoryTree::of(files);
    tree.write_program(&path(PROGRAM), IMAGE);
    tree.make_folder(&path(PROJECT));
    // The folder for locks exists, and stays.
    tree.make_folder(&path(HOME).resolve(".local/state/gsd-tools"));
    tree
}

fn world() -> World {
    World::with([("HOME", HOME)], path(PROJECT).as_path())
}

fn target(descriptor: Descriptor, scope: Scope) -> Target {
    Target::resolve(descriptor, scope, &path(PROJECT), None, &world()).unwrap()
}

fn lantern(scope: Scope) -> Target {
    target(made_up(""), scope)
}

fn program() -> Program {
    Program { path: path(PROGRAM).as_path().to_path_buf(), digest: Digest::of(IMAGE.as_bytes()) }
}

/// The plan from the tree to the artifacts; `None` is an uninstall.
fn plan(tree: &MemoryTree, target: &Target, wanted: Option<&[Artifact]>) -> Result<InstallPlan, InstallError> {
    let mut situation = InstallSituation::new(target, Vec::new(), program(), Snapshot::in_memory(tree.clone()));
    situation.open(target)?;
    situation.look(target, wanted.unwrap_or_default())?;
    InstallPlan::between(wanted, target, &situation, MANNER)
}

/// Plans and applies; returns the plan as text.
fn bring(tree: &mut MemoryTree, target: &Target, wanted: Option<&[Artifact]>) -> String {
    let plan = plan(tree, target, wanted).unwrap();
    tree.apply(&plan.changes).unwrap();
    plan.report(target).to_string()
}

fn drift(tree: &MemoryTree, target: &Target) -> Vec<Drift> {
    status::look(target, &mut Snapshot::in_memory(tree.clone())).unwrap().drift
}

fn artifact(anchor: Anchor, path: &str, contents: Contents) -> Artifact {
    let executable = contents == Contents::Binary;
    Artifact { anchor, path: path.to_owned(), contents, executable, kind: ItemKind::Command }
}

fn whole(path: &str, text: &str) -> Artifact {
    artifact(Anchor::Root, path, Contents::Whole(text.to_owned()))
}

fn shared(path: &str, format: FileFormat, edits: Vec<SharedEdit>) -> Artifact {
    artifact(Anchor::Root, path, Contents::Shared(SharedFile { format, edits }))
}

const JSON: FileFormat = FileFormat::Json(JsonDialect::Comments);

fn keys(path: &[&str]) -> Vec<String> {
    path.iter().map(|key| (*key).to_owned()).collect()
}

fn allow(word: &str) -> SharedEdit {
    SharedEdit::Json(JsonEdit::Append { path: keys(&["permissions", "allow"]), value: json!(word) })
}

fn hook(command: &str) -> SharedEdit {
    let value = json!({ "hooks": [{ "type": "command", "command": command }] });
    SharedEdit::Json(JsonEdit::Append { path: keys(&["hooks", "Stop"]), value })
}

fn block(body: &str) -> SharedEdit {
    SharedEdit::Marked(MarkedText { open: "<!-- ours -->".into(), close: "<!-- /ours -->".into(), body: body.into() })
}

fn feature(key: &str) -> SharedEdit {
    SharedEdit::Toml(TomlEdit::Set { path: keys(&["features", key]), value: json!(true) })
}

fn entry(text: &str) -> SharedEdit {
    SharedEdit::Yaml(YamlEdit::Append { path: keys(&["read"]), value: json!(text) })
}

#[test]
fn a_plan_of_a_host_with_json_settings_reads_as_text() {
    let mut tree = home([
        ("/nowhere/home/.lantern/settings.json", "{\n  // mine\n  \"permissions\": {\"allow\": [\"ls\"]}\n}\n"),
        ("/nowhere/home/.lantern/skills/mine/SKILL.md", "mine"),
        ("/nowhere/home/.lantern/agents/b.md", "mine too"),
    ]);
    let old = tree.clone();
    let target = lantern(Scope::Global);
    let mut wanted = vec![
        whole("agents/a.md", "a"),
        whole("agents/b.md", "b"),
        artifact(Anchor::Root, "bin/gsd-tools", Contents::Binary),
        shared("settings.json", JSON, vec![allow("gsd-tools"), hook("gsd-tools hook stop")]),
    ];
    assert_eq!(
        bring(&mut tree, &target, Some(&wanted)),
        "create ~/.lantern/agents/a.md\n\
         set-aside ~/.lantern/agents/b.md to ~/.lantern/gsd-local-patches/agents/b.md\n\
         create ~/.lantern/bin/gsd-tools\n\
         merge ~/.lantern/settings.json\n    \
             + permissions.allow[]: \"gsd-tools\"\n    \
             + hooks.Stop[]: {\"hooks\":[{\"type\":\"command\",\"command\":\"gsd-tools hook stop\"}]}\n"
    );
    assert_eq!(drift(&tree, &target), []);
    wanted.remove(0);
    wanted[0] = whole("agents/b.md", "b, second edition");
    wanted[2] = shared("settings.json", JSON, vec![allow("gsd-tools state")]);
    assert_eq!(
        bring(&mut tree, &target, Some(&wanted)),
        "remove ~/.lantern/agents/a.md\n\
         update ~/.lantern/agents/b.md\n\
         keep ~/.lantern/bin/gsd-tools\n\
         merge ~/.lantern/settings.json\n    \
             + permissions.allow[]: \"gsd-tools state\"\n    \
             - permissions.allow[]: \"gsd-tools\"\n    \
             - hooks.Stop[]: {\"hooks\":[{\"type\":\"command\",\"command\":\"gsd-tools hook stop\"}]}\n"
    );
    assert!(plan(&tree, &target, Some(&wanted)).unwrap().is_empty(), "a second install has nothing to do");
    assert_eq!(
        bring(&mut tree, &target, None),
        "remove ~/.lantern/agents/b.md\n\
         remove ~/.lantern/bin/gsd-tools\n\
         merge ~/.lantern/settings.json\n    - permissions.allow[]: \"gsd-tools state\"\n"
    );
    let moved = [("agents/b.md", None), ("gsd-local-patches/agents/b.md", Some(&b"mine too"[..]))];
    for (file, bytes) in moved {
        assert_eq!(tree.bytes(&path(ROOT).resolve(file)), bytes, "{file}");
    }
    let others = |tree: &MemoryTree| -> BTreeMap<AbsolutePath, Vec<u8>> {
        let files = tree.files().filter(|(path, _)| !path.to_string().ends_with("agents/b.md"));
        files.map(|(path, bytes)| (path.clone(), bytes.to_vec())).collect()
    };
    assert_eq!(others(&tree), others(&old));
}

#[test]
fn a_plan_in_a_project_shows_modified_files_and_files_that_stay() {
    let mut tree = home([("/nowhere/home/work/project/NOTES.md", "# Notes\n")]);
    let old = tree.clone();
    let target = lantern(Scope::Local);
    let notes = SharedFile { format: FileFormat::Markdown, edits: vec![block("Read this.")] };
    let wanted = [
        whole("skills/a/SKILL.md", "a"),
        whole("skills/b/SKILL.md", "b"),
        shared("config.toml", FileFormat::Toml, vec![feature("hooks")]),
        shared("config.yaml", FileFormat::Yaml, vec![entry("NOTES.md")]),
        artifact(Anchor::Project, "NOTES.md", Contents::Shared(notes)),
    ];
    assert_eq!(
        bring(&mut tree, &target, Some(&wanted)),
        "create .lantern/config.toml\n    + features.hooks: true\n\
         create .lantern/config.yaml\n    + read[]: \"NOTES.md\"\n\
         create .lantern/skills/a/SKILL.md\n\
         create .lantern/skills/b/SKILL.md\n\
         merge NOTES.md\n"
    );
    let mut touched = tree.clone();
    let root = path(PROJECT).resolve(".lantern");
    touched.write(&root.resolve("skills/a/SKILL.md"), "mine");
    touched.remove(&root.resolve("skills/b/SKILL.md"));
    touched.write(&root.resolve("config.toml"), "[features]\nhooks = false\n");
    let shown = |path: &str| path.to_owned();
    assert_eq!(
        drift(&touched, &target),
        [
            Drift::Edited { path: shown(".lantern/skills/a/SKILL.md") },
            Drift::Missing { path: shown(".lantern/skills/b/SKILL.md") },
            Drift::EditMissing { path: shown(".lantern/config.toml") },
        ]
    );
    let removed = bring(&mut touched, &target, None);
    let aside = "gsd-local-patches/skills/a/SKILL.md";
    assert!(removed.contains(&format!("set-aside .lantern/skills/a/SKILL.md to .lantern/{aside}\n")), "{removed}");
    assert_eq!(touched.bytes(&root.resolve("skills/a/SKILL.md")), None);
    assert_eq!(touched.bytes(&root.resolve(aside)), Some(&b"mine"[..]));
    bring(&mut tree, &target, None);
    assert_eq!(tree, old);
}

#[test]
fn a_manifest_that_came_with_a_repository_owns_nothing() {
    let mut tree = home([]);
    let target = lantern(Scope::Local);
    bring(&mut tree, &target, Some(&[whole("a.md", "a")]));
    let notes: Vec<AbsolutePath> =
        tree.files().map(|(path, _)| path.clone()).filter(|path| path.is_within(&target.notes_folder())).collect();
    assert_eq!(notes.len(), 1);
    tree.remove(&notes[0]);
    let found = plan(&tree, &target, None).unwrap();
    assert_eq!((found.report(&target).to_string().as_str(), found.claimed.len()), ("", 1));
    tree.apply(&found.changes).unwrap();
    assert_eq!(tree.bytes(&target.root.resolve("a.md")), Some(&b"a"[..]));
}

/// The location of the manifest decides, not the scope of the install: a host in a project can have files in the home.
#[test]
fn a_manifest_of_the_users_own_folders_needs_no_note() {
    let mut tree = home([]);
    let text = {
        let global = lantern(Scope::Global);
        bring(&mut tree, &global, Some(&[whole("a.md", "a")]));
        String::from_utf8(tree.bytes(&global.root.resolve(manifest::FILE)).unwrap().to_vec()).unwrap()
    };
    let below_the_project = path(PROJECT).resolve(".lantern");
    for folder in [path(ROOT), below_the_project.clone()] {
        tree.write(&folder.resolve(manifest::FILE), text.as_str());
    }
    let claimed = |scope, folder: &AbsolutePath| {
        let mut snapshot = Snapshot::in_memory(tree.clone());
        vouch::read(&lantern(scope), folder, &mut snapshot).unwrap().claimed.is_some()
    };
    assert!(claimed(Scope::Local, &below_the_project), "it may have come with the repository");
    assert!(!claimed(Scope::Local, &path(ROOT)));
    assert!(!claimed(Scope::Global, &below_the_project), "a host's folder that the user keeps in a project");
}

/// Runs the test with an installer for the small library.
fn with_installer(world: &World, test: impl FnOnce(&Installer<'_>)) {
    let (library, registry) = (emit::small_library(), Registry::embedded());
    let holder = Holder { process: 1, folder: world.folder().unwrap(), since: String::new() };
    let disk = Disk::new(world.lock_folders(), holder, Faults::default());
    let (permissions, unasked) = (Some(true), vec!["state".to_owned()]);
    let (registry, library, disk) = (&registry, &library, &disk);
    test(&Installer {
        world,
        disk,
        registry,
        library,
        program: program(),
        version: MANNER.version.to_owned(),
        permissions,
        unasked,
        nested: None,
        profile: None,
        profiles: Profiles::default(),
        asked: AskedOptions::default(),
        only_as_shown: false,
    });
}

/// Runs the test for every host, in both scopes.
fn for_every_host(test: impl Fn(&Installer<'_>, &Target)) {
    let world = world();
    with_installer(&world, |installer| {
        for descriptor in installer.registry.all().unwrap() {
            for scope in [Scope::Global, Scope::Local] {
                match Target::resolve(descriptor.clone(), scope, &path(PROJECT), None, &world) {
                    Ok(target) => test(installer, &target),
                    Err(error) => assert!(matches!(error, InstallError::NoLocal { .. }), "{error}"),
                }
            }
        }
    });
}

#[test]
fn every_host_gets_its_files_in_memory_and_each_is_looked_at_once() {
    for_every_host(|installer, target| {
        let mut tree = home([("/nowhere/home/work/project/README.md", "mine")]);
        let old = tree.clone();
        let plan = |tree: &MemoryTree, wish| {
            tree.forget_looks();
            let plan = installer.plan_from(&mut Snapshot::in_memory(tree.clone()), wish, target).unwrap();
            assert_eq!(tree.looked_at_twice(), [], "{}", target.root);
            plan
        };
        let first = plan(&tree, Wish::Install);
        assert!(first.steps.len() > 5, "{}", target.root);
        tree.apply(&first.changes).unwrap();
        let second = plan(&tree, Wish::Install);
        assert!(second.is_empty() && second.steps.iter().all(|step| step.act == Act::Keep), "{}", target.root);
        assert_eq!(drift(&tree, target), [], "{}", target.root);
        tree.apply(&plan(&tree, Wish::Uninstall).changes).unwrap();
        assert_eq!(tree, old, "{}", target.root);
    });
}

#[test]
fn an_install_for_every_host_looks_at_each_file_once() {
    let world = world();
    with_installer(&world, |installer| {
        for scope in [Scope::Global, Scope::Local] {
            let hosts = installer.registry.all().unwrap().into_iter();
            let targets: Vec<Target> =
                hosts.filter_map(|host| Target::resolve(host, scope, &path(PROJECT), None, &world).ok()).collect();
            assert!(targets.len() > 5);
            let mut tree = home([("/nowhere/home/work/project/README.md", "mine")]);
            for target in &targets {
                let seen = &mut Snapshot::in_memory(tree.clone());
                tree.apply(&installer.plan_from(seen, Wish::Install, target).unwrap().changes).unwrap();
            }
            tree.forget_looks();
            let mut seen = Snapshot::in_memory(tree.clone());
            for target in &targets {
                let plan = installer.plan_from(&mut seen, Wish::Install, target).unwrap();
                assert!(plan.steps.len() > 5, "{}", target.root);
            }
            assert_eq!(tree.looked_at_twice(), [], "{scope:?}");
        }
    });
}

#[test]
fn a_plan_is_not_applied_if_one_of_its_manifests_has_changed() {
    let (mut tree, target) = (home([]), lantern(Scope::Global));
    bring(&mut tree, &target, Some(&[whole("a.md", "a"), whole("b.md", "b")]));
    let stale = plan(&tree, &target, Some(&[whole("a.md", "second")])).unwrap();
    let manifest = target.root.resolve(manifest::FILE);
    let text = String::from_utf8(tree.bytes(&manifest).unwrap().to_vec()).unwrap();
    tree.write(&manifest, text.replace("a.md", "c.md"));
    let before = tree.clone();
    assert!(matches!(tree.apply(&stale.changes), Err(DiskError::Changed { .. })));
    assert_eq!(tree, before);
}

fn perform(installer: &Installer<'_>, wish: Wish, target: &Target, plan: InstallPlan) -> InstallPlan {
    installer.perform(wish, vec![(target.clone(), plan)], &Along::default()).unwrap().0.remove(0).1
}

#[test]
fn an_outdated_plan_is_made_again_under_the_lock() {
    let temporary = crate::testing::folder();
    let folder = disk::canonical(&path(temporary.path().to_str().unwrap())).unwrap();
    let (home, project) = (folder.resolve("home"), folder.resolve("project"));
    let world = World::with([("HOME", home.as_path().to_str().unwrap())], project.as_path());
    with_installer(&world, |installer| {
        let image = folder.resolve("gsd-tools");
        write(&image, IMAGE);
        std::fs::set_permissions(&image, PermissionsExt::from_mode(0o755)).unwrap();
        let program = Program { path: image.as_path().to_path_buf(), ..program() };
        let (version, unasked) = (installer.version.clone(), installer.unasked.clone());
        let (profile, profiles) = (None, Profiles::default());
        let installer = Installer { program, version, unasked, profile, profiles, ..*installer };
        let hosts = installer.registry.all().unwrap().into_iter();
        let mut targets = hosts.map(|host| Target::resolve(host, Scope::Global, &project, None, &world).unwrap());
        let merges = |target: &Target| {
            let settings = target.root.resolve("settings.json");
            write(&settings, "{}\n");
            let plan = installer.plan(Wish::Install, target, &mut Together::default()).unwrap();
            plan.steps.iter().any(|step| step.act == Act::Merge && step.path == settings)
        };
        let one = targets.find(merges).expect("a host with shared settings");
        let other = targets.next().expect("another host");
        let settings = one.root.resolve("settings.json");
        let shown = installer.plan(Wish::Install, &one, &mut Together::default()).unwrap();
        write(&settings, "{\"mine\": 1}\n");
        let applied = perform(&installer, Wish::Install, &one, shown);
        assert!(applied.steps.iter().any(|step| step.act == Act::Merge));
        assert!(disk::read_text(&settings).unwrap().unwrap().contains("\"mine\": 1"));
        assert!(status(&one).unwrap().drift.is_empty());

        // Another call makes the same install while this one waits.
        let shown = installer.plan(Wish::Install, &other, &mut Together::default()).unwrap();
        let again = installer.plan(Wish::Install, &other, &mut Together::default()).unwrap();
        perform(&installer, Wish::Install, &other, again);
        let applied = perform(&installer, Wish::Install, &other, shown);
        assert!(applied.is_empty(), "nothing was left to do");
        assert!(applied.steps.iter().all(|step| step.act == Act::Keep));
    });
}

#[test]
fn a_plan_with_nothing_to_do_takes_no_lock() {
    let temporary = crate::testing::folder();
    let folder = disk::canonical(&path(temporary.path().to_str().unwrap())).unwrap();
    let world = World::with([("HOME", folder.as_path().to_str().unwrap())], folder.as_path());
    with_installer(&world, |installer| {
        let descriptor = installer.registry.all().unwrap().remove(0);
        let target = Target::resolve(descriptor, Scope::Global, &folder, None, &world).unwrap();
        let plan = installer.plan(Wish::Uninstall, &target, &mut Together::default()).unwrap();
        assert!(perform(installer, Wish::Uninstall, &target, plan).is_empty());
    });
    assert_eq!(disk::list(&folder).unwrap().unwrap(), []);
}

fn write(file: &AbsolutePath, text: &str) {
    disk::write_fleeting(file, text.as_bytes()).unwrap();
}

#[test]
fn a_plan_depends_on_the_manifests_of_unchanged_neighbours() {
    let (mut tree, target) = (home([]), lantern(Scope::Local));
    let shared = artifact(Anchor::Project, "shared.md", Contents::Whole("ours".to_owned()));
    bring(&mut tree, &target, Some(&[whole("a.md", "a"), shared]));
    let neighbour = path(PROJECT).resolve(".other");
    let snapshot = Snapshot::in_memory(tree.clone());
    let mut situation = InstallSituation::new(&target, vec![neighbour.clone()], program(), snapshot);
    situation.open(&target).unwrap();
    situation.look(&target, &[]).unwrap();
    let stale = InstallPlan::between(None, &target, &situation, MANNER).unwrap();
    assert!(stale.changes.iter().all(|change| change.path().parent() != Some(neighbour.clone())));
    // Meanwhile another host was installed, which may own the shared file too.
    tree.write(&neighbour.resolve(manifest::FILE), "{}");
    assert!(matches!(tree.apply(&stale.changes), Err(DiskError::Changed { .. })));
    tree.remove(&neighbour.resolve(manifest::FILE));
    tree.apply(&stale.changes).unwrap();
}

/// Files that only we own and that an install may have, as paths below their anchor.
const FILES: &[(Option<&str>, &str)] = &[
    (None, "skills/a/SKILL.md"),
    (None, "skills/b/SKILL.md"),
    (None, "content/deep/er/c.md"),
    (Some(".shared"), "skills/a/SKILL.md"),
    (Some(".shared"), "d.md"),
];

/// Settings of a person, and the text at their start where the person may add something.
const SETTINGS: &[(&str, &[&str], &str)] = &[
    (
        "settings.json",
        &[
            "{\n}\n",
            "{\n  // mine\n  \"own\": [1, 2]\n}\n",
            "{\n  \"permissions\": {\n    \"allow\": [\n      \"ls\"\n    ]\n  }\n}\n",
        ],
        "{\n",
    ),
    ("config.toml", &["", "# mine\nmodel = \"x\"\n", "model = \"x\"\n\n[features]\nown = true\n"], ""),
    ("config.yaml", &["own: 1\n", "# mine\nread:\n  - OWN.md\nown: 1\n"], ""),
    ("NOTES.md", &["", "# Mine\n\ntext\n"], ""),
];

/// The contents of one of our versions: the edition of each file, if it has it, and the number of edits of each
/// settings file.
type Version = (Vec<Option<u8>>, Vec<usize>);

fn artifacts((files, settings): &Version) -> Vec<Artifact> {
    let mut wanted = vec![artifact(Anchor::Root, "bin/gsd-tools", Contents::Binary)];
    for ((folder, path), edition) in FILES.iter().zip(files) {
        let anchor = folder.map_or(Anchor::Root, |folder| Anchor::Home(folder.to_owned()));
        let text = edition.map(|edition| Contents::Whole(format!("ours: {path}, edition {edition}\n")));
        wanted.extend(text.map(|text| artifact(anchor, path, text)));
    }
    for ((path, ..), count) in SETTINGS.iter().zip(settings) {
        let (format, edits) = match *path {
            "settings.json" => (JSON, vec![allow("ours"), hook("ours"), allow("ours too")]),
            "config.toml" => (FileFormat::Toml, vec![feature("ours"), feature("too")]),
            "config.yaml" => (FileFormat::Yaml, vec![entry("OURS.md"), entry("TOO.md")]),
            _ => (FileFormat::Markdown, vec![block("Ours.")]),
        };
        let edits: Vec<SharedEdit> = edits.into_iter().take(*count).collect();
        if !edits.is_empty() {
            wanted.push(shared(path, format, edits));
        }
    }
    wanted.sort_by(|left, right| (&left.anchor, &left.path).cmp(&(&right.anchor, &right.path)));
    wanted
}

/// What a person does between two of our calls.
#[derive(Clone, Debug)]
enum Deed {
    /// Writes their own bytes where one of our files may be.
    Write(usize),
    /// Removes such a file.
    Remove(usize),
    /// Writes a file next to ours.
    Add(usize),
    /// Adds a line to settings, which exist by then.
    Edit(usize),
}

fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    let deed = prop_oneof![
        2 => (0..FILES.len()).prop_map(Deed::Write),
        1 => (0..FILES.len()).prop_map(Deed::Remove),
        2 => (0..FILES.len()).prop_map(Deed::Add),
        4 => (0..SETTINGS.len()).prop_map(Deed::Edit),
    ];
    prop::collection::vec(deed, 0..5)
}

fn version() -> impl Strategy<Value = Version> {
    let editions = prop::collection::vec(prop::option::weighted(0.7, 0..3_u8), FILES.len());
    (editions, prop::collection::vec(0..4_usize, SETTINGS.len()))
}

/// The tree, and the person's part of it.
struct Life {
    tree: MemoryTree,
    /// Each of their texts that must still exist at the end.
    kept: Vec<String>,
    /// Their settings, as they would be without us.
    settings: BTreeMap<AbsolutePath, String>,
    count: usize,
}

impl Life {
    fn new(settings: &[Option<usize>]) -> Self {
        let mut life = Self { tree: home([]), kept: Vec::new(), settings: BTreeMap::new(), count: 0 };
        life.tree.make_folder(&path(ROOT));
        for ((file, texts, _), chosen) in SETTINGS.iter().zip(settings) {
            let Some(text) = chosen.and_then(|chosen| texts.get(chosen)) else { continue };
            let file = path(ROOT).resolve(file);
            life.tree.write(&file, *text);
            life.settings.insert(file, (*text).to_owned());
        }
        life
    }

    fn place(index: usize) -> AbsolutePath {
        let (folder, file) = FILES[index];
        folder.map_or_else(|| path(ROOT), |folder| path(HOME).resolve(folder)).resolve(file)
    }

    fn does(&mut self, deed: &Deed) {
        self.count += 1;
        let own = format!("mine, number {}\n", self.count);
        match deed {
            Deed::Write(index) => {
                self.forget(&Self::place(*index));
                self.tree.write(&Self::place(*index), own.clone());
                self.kept.push(own);
            }
            Deed::Remove(index) => {
                self.forget(&Self::place(*index));
                self.tree.remove(&Self::place(*index));
            }
            Deed::Add(index) => {
                let beside = Self::place(*index).beside(&format!("mine-{}.md", self.count));
                self.tree.write(&beside, own.clone());
                self.kept.push(own);
            }
            Deed::Edit(index) => {
                let (file, _, opening) = SETTINGS[*index];
                let line = match file {
                    "settings.json" => format!("  \"own-{}\": 1,\n", self.count),
                    "config.toml" => format!("own-{} = 1\n", self.count),
                    "config.yaml" => format!("own-{}: 1\n", self.count),
                    _ => format!("My line {}.\n", self.count),
                };
                let file = path(ROOT).resolve(file);
                let edited = |text: &str| format!("{opening}{line}{}", text.strip_prefix(opening).unwrap_or(text));
                // If they had no file, they add to one of our files.
                let Some(theirs) = self.settings.get_mut(&file) else { return };
                let text = std::str::from_utf8(self.tree.bytes(&file).unwrap()).unwrap();
                let is_plain = |text: &str| text.starts_with(opening) && text != "{\n}\n";
                if is_plain(text) && is_plain(theirs) {
                    let text = edited(text);
                    *theirs = edited(theirs);
                    self.tree.write(&file, text);
                }
            }
        }
    }

    /// A text that they replace or remove themselves need not be kept.
    fn forget(&mut self, file: &AbsolutePath) {
        let gone = self.tree.bytes(file).map(<[u8]>::to_vec);
        self.kept.retain(|text| Some(text.as_bytes()) != gone.as_deref());
    }
}

proptest! {
    #[test]
    fn an_uninstall_leaves_a_persons_own_content(
        settings in prop::collection::vec(prop::option::of(0..3_usize), SETTINGS.len()),
        before in deeds(),
        first in version(),
        between in deeds(),
        second in version(),
        after in deeds(),
    ) {
        let target = lantern(Scope::Global);
        let mut life = Life::new(&settings);
        for deed in &before {
            life.does(deed);
        }
        let old = life.tree.clone();
        for (version, deeds) in [(&first, &between), (&second, &after)] {
            let wanted = artifacts(version);
            bring(&mut life.tree, &target, Some(&wanted));
            prop_assert!(plan(&life.tree, &target, Some(&wanted)).unwrap().is_empty(), "a second install has nothing to do");
            prop_assert_eq!(drift(&life.tree, &target), []);
            for deed in deeds {
                life.does(deed);
            }
        }
        bring(&mut life.tree, &target, None);
        let files: BTreeMap<&AbsolutePath, &str> =
            life.tree.files().map(|(path, bytes)| (path, std::str::from_utf8(bytes).unwrap())).collect();
        for text in &life.kept {
            prop_assert!(files.values().any(|file| file == text), "lost: {text}");
        }
        for (file, text) in &life.settings {
            prop_assert_eq!(files.get(file).copied(), Some(text.as_str()), "{}", file);
        }
        for (file, text) in &files {
            let is_theirs = life.kept.iter().any(|kept| kept == text) || life.settings.contains_key(*file);
            // A file that they replaced since may have been set aside before.
            let was_theirs = text.starts_with("mine, number ");
            prop_assert!(is_theirs || was_theirs || **file == path(PROGRAM), "left: {file}: {text}");
        }
        if before.iter().chain(&between).chain(&after).all(|deed| matches!(deed, Deed::Edit(_))) {
            let folders = |tree: &MemoryTree| tree.folders().cloned().collect::<Vec<_>>();
            prop_assert_eq!(folders(&life.tree), folders(&old));
            prop_assert_eq!(life.tree.files().count(), old.files().count());
        }
    }
}
