//! Real installs of other programs of the family: our install and its undo bring every byte back, and after an
//! install and an uninstall only the user's files are left.
//!
//! Nothing of these programs is in this repository. `GSD_PEERS` names a folder with `pkg/PEER` for each of them, and
//! two scripts: `lay.sh PEER HOST SCOPE HOME PROJECT` installs one, and `user.sh HOST SCOPE HOME PROJECT` writes files of
//! the user; `tests/peers/get.sh` makes such a folder. Only paths are printed, not contents.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::kit::{TestContext, no_peer};
use crate::lived::Lived;
use crate::tree::Tree;

/// What those programs leave outside the folders of hosts: it is shared by all of them, or a cache.
const OUTSIDE: &[&str] = &["/home/.gsd", "/home/.local", "/home/.cache", "/home/.npm", "/project/.git/"];

struct PeerCase {
    peer: String,
    host: String,
    scope: &'static str,
}

impl PeerCase {
    fn name(&self) -> String {
        format!("{}/{}-{}", self.peer, self.host, self.scope)
    }

    /// Every peer in the folder, with each of our hosts and scopes; `GSD_PEERS_ONLY` has parts of their names.
    fn all(folder: &Path) -> Vec<Self> {
        let only = std::env::var("GSD_PEERS_ONLY").unwrap_or_default();
        let packages = std::fs::read_dir(folder.join("pkg")).unwrap().map(|it| it.unwrap().file_name());
        let mut peers: Vec<String> = packages.map(|name| name.into_string().unwrap()).collect();
        peers.retain(|peer| peer.starts_with("gsd-core") || peer.starts_with("get-shit-done"));
        peers.sort();
        let hosts = TestContext::new().gsd(["runtimes", "--json"]).json();
        let ids = |value: &Value| value["id"].as_str().map(str::to_owned);
        let hosts: Vec<String> = find_list(&hosts).iter().filter_map(ids).collect();
        let mut cases = Vec::new();
        for peer in &peers {
            for host in &hosts {
                for scope in ["global", "local"] {
                    cases.push(Self { peer: peer.clone(), host: host.clone(), scope });
                }
            }
        }
        cases.retain(|case| only.split(',').any(|part| case.name().contains(part)));
        cases
    }

    /// The result in a few words, and whether it is as it should be; `None` if one of the programs has no such install.
    fn run(&self, folder: &Path) -> Option<(bool, String)> {
        let lived = Lived { context: TestContext::new() };
        let (home, project) = (lived.context.home(), lived.context.project());
        let place = [home.to_str().unwrap(), project.to_str().unwrap()];
        let script = |name: &str, words: &[&str]| {
            let mut command = lived.context.command(folder.join(name));
            command.args(words).args([self.host.as_str(), self.scope]).args(place);
            command.env("NOUSER", "1").output().unwrap().status.success()
        };
        if !script("user.sh", &[]) {
            return None;
        }
        let user = of_files(&lived);
        let is_laid = script("lay.sh", &[&self.peer]);
        let theirs = of_files(&lived);
        let (host, scope) = (format!("--{}", self.host), format!("--{}", self.scope));
        let place = lived.gsd(["status", &host, &scope, "--json"]);
        let place: Value = serde_json::from_str(&place.stdout).unwrap_or_default();
        let root = place["installs"][0]["root"].as_str().unwrap_or_default().to_owned();
        let manifests = theirs.keys().filter_map(|path| path.strip_suffix("/gsd-file-manifest.json"));
        let is_in_root = manifests.into_iter().any(|folder| !folder.is_empty() && root.ends_with(folder));
        let status = lived.gsd(["status", "--json"]).json();
        let others = status["others"].as_array().cloned().unwrap_or_default();
        // One that does not know the host installs for another one instead; some use another folder of the host.
        if !is_laid || !(is_in_root || others.iter().any(|other| other["runtime"] == self.host.as_str())) {
            return None;
        }
        let is_named = !others.is_empty();
        let uninstalled = lived.gsd(["uninstall", &host, &scope, "--yes"]);
        let untouched = paths(&theirs, &of_files(&lived));
        let installed = lived.gsd(["install", &host, &scope, "--yes", "--json"]);
        if installed.code != 0 {
            return Some((!untouched.is_empty() || uninstalled.code == 0, "we do not install there".to_owned()));
        }
        let report: Value = serde_json::from_str(&installed.stdout).unwrap();
        if report["hosts"].as_array().is_some_and(Vec::is_empty) {
            return Some((untouched.is_empty(), "we have no such install".to_owned()));
        }
        let report = &report["hosts"][0];
        lived.gsd(["undo", "--yes"]).success();
        let undone = paths(&theirs, &of_files(&lived));
        lived.gsd(["install", &host, &scope, "--yes"]).success();
        lived.gsd(["uninstall", &host, &scope, "--yes"]).success();
        let after = of_files(&lived);
        let mut left = paths(&user, &after);
        // These programs write whole settings files again, in their form.
        left.retain(|path| settings(user.get(path)) != settings(after.get(path)) || settings(user.get(path)).is_none());
        let unsure = report["taken_over"][0]["unsure"].as_array().map_or(0, Vec::len);
        let is_right = is_named && untouched.is_empty() && undone.is_empty() && (left.is_empty() || unsure > 0);
        let told = format!(
            "named {is_named}, uninstall changed {}, program {}, set aside {}, undo differs {}, left {}, unsure {unsure}",
            untouched.len(),
            report["taken_over"][0]["program"],
            report["set_aside"].as_array().map_or(0, Vec::len),
            shown(&undone),
            shown(&left),
        );
        Some((is_right, told))
    }
}

/// The longest list in the answer of `runtimes`.
fn find_list(answer: &Value) -> Vec<Value> {
    let lists = answer.as_object().into_iter().flat_map(|keys| keys.values()).chain([answer]);
    lists.filter_map(Value::as_array).max_by_key(|list| list.len()).cloned().unwrap_or_default()
}

/// Files and links, with their modes and bytes.
fn of_files(lived: &Lived) -> Tree {
    let mut tree = lived.tree();
    tree.retain(|path, what| !what.starts_with("folder") && !OUTSIDE.iter().any(|outside| path.starts_with(outside)));
    tree
}

/// The paths at which two trees differ.
fn paths(before: &Tree, after: &Tree) -> Vec<String> {
    let differs = |path: &&String| before.get(*path) != after.get(*path);
    let mut paths: Vec<String> = before.keys().chain(after.keys()).filter(differs).cloned().collect();
    paths.sort();
    paths.dedup();
    paths
}

/// The settings in a file, if it has some.
fn settings(what: Option<&String>) -> Option<Value> {
    serde_json::from_str(what?.split_once('\n')?.1).ok()
}

fn shown(paths: &[String]) -> String {
    let first: Vec<&str> = paths.iter().take(3).map(String::as_str).collect();
    format!("{} {}", paths.len(), first.join(" ")).trim_end().to_owned()
}

#[test]
#[ignore = "slow: another program"]
fn an_undo_brings_real_installs_back_and_an_uninstall_leaves_only_the_users_files() {
    let Some(folder) = std::env::var_os("GSD_PEERS").map(PathBuf::from) else {
        no_peer("takeover of real installs", "make a folder by tests/peers/get.sh and set GSD_PEERS to it");
        return;
    };
    let (mut wrong, mut ran) = (String::new(), 0);
    for case in PeerCase::all(&folder) {
        let Some((is_right, told)) = case.run(&folder) else { continue };
        ran += 1;
        println!("{} {}: {told}", if is_right { "ok" } else { "WRONG" }, case.name());
        if !is_right {
            // Writing to a string cannot fail.
            let _ = writeln!(wrong, "{}: {told}", case.name());
        }
    }
    assert!(ran > 0, "no case ran");
    assert!(wrong.is_empty(), "{wrong}");
}
