//! An install is kept in the history, and the kept record undoes it exactly.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests prepare and inspect folders by hand")]

use std::collections::BTreeMap;

use super::*;
use crate::disk::history::History;
use crate::disk::{Faults, Holder};

/// Everything in a home except the user's state: folders, and files with mode and bytes.
fn tree(home: &AbsolutePath) -> BTreeMap<String, Option<(u32, Vec<u8>)>> {
    use std::os::unix::fs::PermissionsExt;
    let state = home.resolve(".local/state/gsd-tools");
    let all = walkdir::WalkDir::new(home).into_iter().map(Result::unwrap);
    let all = all.filter(|entry| !entry.path().starts_with(&state) && !state.as_path().starts_with(entry.path()));
    let look = |entry: walkdir::DirEntry| {
        let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
        let what = entry.file_type().is_file().then(|| (mode, std::fs::read(entry.path()).unwrap()));
        (entry.path().display().to_string(), what)
    };
    all.map(look).collect()
}

#[test]
fn an_install_and_an_uninstall_can_be_undone_to_the_byte() {
    let library = Library::embedded().unwrap();
    let registry = Registry::embedded();
    for (number, descriptor) in registry.all().unwrap().into_iter().enumerate() {
        let temporary = crate::testing::folder();
        let home = AbsolutePath::parse(temporary.path().canonicalize().unwrap()).unwrap();
        let project = home.resolve("project");
        std::fs::create_dir_all(project.resolve(".git")).unwrap();
        std::fs::write(home.resolve("program"), "#!/bin/sh\n").unwrap();
        std::fs::create_dir_all(home.resolve(".local/state")).unwrap();
        let name = descriptor.id.to_string();
        let world = World::with([("HOME", &home.to_string())], project.as_path());
        let scope = if number % 2 == 0 { Scope::Global } else { Scope::Local };
        let Ok(target) = Target::resolve(descriptor, scope, &project, None, &world) else { continue };
        // Some content of the user in every file that would be shared.
        for file in target.descriptor.files.values() {
            let path = target.root.resolve(file.path(scope, |_| false));
            if path.as_path().extension().is_some_and(|extension| extension == "json") {
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, "{\n    \"mine\": [1, 2]\n}").unwrap();
            }
        }
        let holder = Holder { process: std::process::id(), folder: "/".into(), since: "now".into() };
        let disk = Disk::new(world.lock_folders(), holder, Faults::default());
        let path = home.resolve("program");
        let digest = Digest::of_file(&path).unwrap().unwrap();
        let installer = Installer {
            world: &world,
            disk: &disk,
            registry: &registry,
            library: &library,
            program: Program { path: path.as_path().to_path_buf(), digest },
            version: env!("CARGO_PKG_VERSION").to_owned(),
            permissions: Some(true),
            unasked: vec!["gsd-tools state".to_owned()],
            nested: None,
            profile: None,
            profiles: Profiles::default(),
            asked: AskedOptions::default(),
            only_as_shown: false,
        };
        let history = History::in_state(&target.state);
        let take_back = |what: &str| {
            let last = history.list().unwrap().pop().unwrap().unwrap();
            let record: CallRecord = serde_json::from_value(last.what.clone()).unwrap();
            assert!(record.verb.word() == what && record.installs[0].runtime == name && last.is_whole, "{last:?}");
            let plan = installer.plan_undo(CallVerb::Undo, None).unwrap();
            installer.undo(plan).unwrap();
        };
        let perform = |wish| {
            let plan = installer.plan(wish, &target, &mut Together::default()).unwrap();
            installer.perform(wish, vec![(target.clone(), plan)], &Along::default()).unwrap()
        };
        let before = tree(&home);
        perform(Wish::Install);
        let whole = tree(&home);
        assert_ne!(before, whole, "{name}");
        take_back("install");
        assert_eq!(tree(&home), before, "{name}: the install was not taken back");
        perform(Wish::Install);
        assert_eq!(tree(&home), whole, "{name}");
        perform(Wish::Install);
        assert_eq!(history.list().unwrap().len(), 3, "{name}: an install that changes nothing is not kept");
        perform(Wish::Uninstall);
        take_back("uninstall");
        assert_eq!(tree(&home), whole, "{name}: the uninstall was not taken back");
        perform(Wish::Install);
        assert_eq!(history.list().unwrap().len(), 5, "{name}: it is whole again, with what our notes say of it");
    }
}
