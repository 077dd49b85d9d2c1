//! How files depend on each other: no cycle inside a room, and no folder with too many files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

use crate::kit::repository;

/// Files that name each other, because their subjects in a shell do: a command has words, and a word may contain
/// commands.
const CIRCLES: &[&[&str]] = &[&["text/shell/read", "text/shell/word"]];

/// The most Rust files in a folder of these rooms, without tests.
const FILES: usize = 20;

/// The rooms that are grouped by subject, and the most subjects in each.
const GROUPED: &[&str] = &["commands", "operations"];
const SUBJECTS: usize = 25;

/// A module by its path below `src`; the path of the crate is empty.
type Module = Vec<String>;

/// The source without comments and without test-only code, by module.
fn modules() -> BTreeMap<Module, String> {
    let source = repository().join("src");
    let comment = Regex::new(r"(?m)//[^\n]*").unwrap();
    let tests =
        Regex::new(r"(?ms)^#\[cfg\((?:all\()?test[^\n]*\n(?:#[^\n]*\n)*(?:pub\([^)]*\) )?mod \w+ \{.*").unwrap();
    let files = walkdir::WalkDir::new(&source).into_iter().map(Result::unwrap);
    let files = files.filter(|entry| entry.path().extension().is_some_and(|extension| extension == "rs"));
    let paths =
        files.map(walkdir::DirEntry::into_path).filter(|path| !is_of_tests(path.strip_prefix(&source).unwrap()));
    let read = |path: &Path| {
        let text = std::fs::read_to_string(path).unwrap();
        comment.replace_all(&tests.replace(&text, ""), "").into_owned()
    };
    paths.map(|path| (module_of(path.strip_prefix(&source).unwrap()), read(&path))).collect()
}

fn is_of_tests(path: &Path) -> bool {
    let is_of_tests = |part: &str| part == "tests" || part.ends_with("_tests") || part == "made_up";
    path.with_extension("").components().any(|part| is_of_tests(&part.as_os_str().to_string_lossy()))
}

fn module_of(path: &Path) -> Module {
    let parts = path.with_extension("");
    let mut parts: Module = parts.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if parts.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
        parts.pop();
    }
    parts
}

/// The paths that a `use` tree imports, with groups expanded.
fn flat(tree: &str) -> Vec<String> {
    let tree = tree.trim();
    let Some((before, inside)) = tree.split_once('{') else {
        let path = tree.split(" as ").next().unwrap_or(tree).trim();
        return vec![path.trim_end_matches("::self").trim_end_matches("::*").to_owned()];
    };
    let inside = inside.strip_suffix('}').unwrap_or(inside);
    let (mut parts, mut depth) = (vec![String::new()], 0);
    for letter in inside.chars() {
        depth += i32::from(letter == '{') - i32::from(letter == '}');
        if letter == ',' && depth == 0 {
            parts.push(String::new());
        } else {
            parts.last_mut().unwrap().push(letter);
        }
    }
    let parts = parts.iter().filter(|part| !part.trim().is_empty());
    parts.flat_map(|part| flat(&format!("{before}{}", part.trim()))).collect()
}

/// The names in a module: paths of `use`, with true if they are re-exported, and paths in its code.
struct Names {
    used: Vec<(Module, bool)>,
    told: Vec<Module>,
}

/// `path` as seen in `module`, from the root of the crate; `None` if it is not in this crate.
fn absolute(module: &Module, path: &str, all: &BTreeMap<Module, String>) -> Option<Module> {
    let mut segments: Vec<&str> = path.split("::").map(str::trim).collect();
    let mut base = module.clone();
    match segments[0] {
        "crate" => base.clear(),
        "self" => {}
        "super" => {
            base.pop();
            while segments.get(1) == Some(&"super") {
                segments.remove(1);
                base.pop();
            }
        }
        first => {
            let child = [module.as_slice(), &[first.to_owned()]].concat();
            if !all.contains_key(&child) {
                return None;
            }
            segments.insert(0, "self");
        }
    }
    Some([base, segments[1..].iter().map(|segment| (*segment).to_owned()).collect()].concat())
}

fn names(module: &Module, text: &str, all: &BTreeMap<Module, String>) -> Names {
    static IMPORTS: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?m)^\s*(pub(?:\([^)]*\))? )?use ([^;]+);").unwrap());
    static PATH: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\b(?:crate|super|self)(?:::\w+)+").unwrap());
    let found = IMPORTS.captures_iter(text).flat_map(|found| {
        let handed_on = found.get(1).is_some();
        flat(&found[2]).into_iter().map(move |path| (path, handed_on)).collect::<Vec<_>>()
    });
    let used = found.filter_map(|(path, handed_on)| Some((absolute(module, &path, all)?, handed_on))).collect();
    let code = IMPORTS.replace_all(text, "");
    let told = PATH.find_iter(&code).filter_map(|path| absolute(module, path.as_str(), all)).collect();
    Names { used, told }
}

/// The module whose file defines what `path` names: re-exports are followed.
fn home(
    path: &Module,
    all: &BTreeMap<Module, String>,
    handed_on: &BTreeMap<Module, Module>,
    depth: usize,
) -> Option<Module> {
    let length = (0..=path.len()).rev().find(|length| all.contains_key(&path[..*length]))?;
    let name = path.get(..=length).map(<[String]>::to_vec);
    match name.and_then(|name| handed_on.get(&name)).filter(|_| depth < 8) {
        Some(target) => home(&[target.as_slice(), &path[length + 1..]].concat(), all, handed_on, depth + 1),
        None => Some(path[..length].to_vec()),
    }
}

/// The modules that each module depends on. Modules that contain each other are left out: a folder's `mod.rs` is its
/// interface.
fn arrows(all: &BTreeMap<Module, String>) -> BTreeMap<Module, BTreeSet<Module>> {
    let named: BTreeMap<&Module, Names> = all.iter().map(|(module, text)| (module, names(module, text, all))).collect();
    let handed_on: BTreeMap<Module, Module> = named
        .iter()
        .flat_map(|(module, names)| {
            names.used.iter().filter(|(_, handed_on)| *handed_on).map(move |used| (module, used))
        })
        .filter_map(|(module, (path, _))| Some(([module.as_slice(), &[path.last()?.clone()]].concat(), path.clone())))
        .collect();
    let mut arrows = BTreeMap::new();
    for (module, names) in &named {
        let used = names.used.iter().filter(|(_, handed_on)| !handed_on).map(|(path, _)| path);
        let homes = used.chain(&names.told).filter_map(|path| home(path, all, &handed_on, 0));
        let others = homes.filter(|home| !home.starts_with(module) && !module.starts_with(home));
        arrows.insert((*module).clone(), others.collect());
    }
    arrows
}

/// Each room that a file names, by the file's path below `src`.
pub(crate) fn rooms_named() -> BTreeSet<(String, String)> {
    let all = modules();
    let paths = all.iter().flat_map(|(module, text)| {
        let Names { used, told } = names(module, text, &all);
        let paths = used.into_iter().map(|(path, _)| path).chain(told);
        paths.filter_map(|path| Some((module.join("/"), path.first()?.clone()))).collect::<Vec<_>>()
    });
    paths.collect()
}

/// The modules that can be reached from a module.
fn reached(from: &Module, arrows: &BTreeMap<Module, BTreeSet<Module>>) -> BTreeSet<Module> {
    let mut reached = BTreeSet::new();
    let mut waiting = vec![from];
    while let Some(module) = waiting.pop() {
        waiting.extend(arrows[module].iter().filter(|next| reached.insert((*next).clone())));
    }
    reached
}

#[test]
fn no_files_depend_on_each_other_in_a_cycle() {
    let all = modules();
    assert!(all.len() > 300, "{}", all.len());
    let arrows = arrows(&all);
    let reached: BTreeMap<&Module, BTreeSet<Module>> =
        arrows.keys().map(|module| (module, reached(module, &arrows))).collect();
    let shown = |module: &Module| module.join("/");
    let mut circles: BTreeSet<Vec<String>> = BTreeSet::new();
    for (module, ahead) in &reached {
        if ahead.contains(*module) {
            let members = ahead.iter().filter(|other| reached[other].contains(*module));
            circles.insert(members.map(shown).collect());
        }
    }
    let known: BTreeSet<Vec<String>> =
        CIRCLES.iter().map(|circle| circle.iter().map(|&file| file.to_owned()).collect()).collect();
    assert_eq!(circles, known, "left: the circles there are; right: those that are known");
}

/// How the reason of an exception begins: with the future user of the item, or with one that the compiler does not see.
const USERS: &[&str] = &["for ", "tests ", "the suite of tests", "other systems"];

/// The faults in the exceptions for dead code in a file.
fn dead_code_faults(path: &str, text: &str) -> Vec<String> {
    let attribute = Regex::new(r"(?s)#(!?)\[[^\]]*?\b(allow|expect)\(([^\]]*?)\)\s*\)?\]").unwrap();
    let group = Regex::new(r"\b(dead_code|unused|warnings)\b").unwrap();
    let reason = Regex::new(r#"reason\s*=\s*"([^"]*)""#).unwrap();
    let module =
        Regex::new(r"^(?:\s*(?:#\[[^\]]*\]|///[^\n]*))*\s*(?:pub(?:\([^)]*\))? )?(mod|impl)\b\s*(\w*)").unwrap();
    let mut faults = Vec::new();
    let mut seen = 0;
    for found in attribute.captures_iter(text) {
        seen += found[0].matches("dead_code").count();
        let lints = reason.replace_all(&found[3], "").into_owned();
        if !group.is_match(&lints) {
            continue;
        }
        let line = text[..found.get(0).unwrap().start()].lines().count() + 1;
        let mut fault = |what: &str| faults.push(format!("{path}:{line}: {what}"));
        if &found[1] == "!" {
            fault("an exception for a whole file");
        }
        if &found[2] == "allow" || !lints.contains("dead_code") {
            fault("`expect(dead_code)` is the form that says when it is no longer needed");
        }
        let why = reason.captures(&found[3]).map(|reason| reason[1].to_owned()).unwrap_or_default();
        if !USERS.iter().any(|user| why.starts_with(user)) || why.split(' ').count() < 4 {
            fault("the reason does not name what will use it");
        }
        // An exception for a whole module hides unused items.
        if let Some(item) = module.captures(&text[found.get(0).unwrap().end()..]) {
            fault(&format!("an exception for all of `{} {}`", &item[1], &item[2]));
        }
    }
    if seen != text.matches("dead_code").count() {
        faults.push(format!("{path}: an exception in a form that this test does not read"));
    }
    faults
}

#[test]
fn dead_code_is_allowed_item_by_item_with_its_future_user() {
    let root = repository();
    let files = walkdir::WalkDir::new(root.join("src")).into_iter().map(Result::unwrap);
    let files = files.filter(|entry| entry.path().extension().is_some_and(|extension| extension == "rs"));
    let (mut faults, mut excused) = (Vec::new(), 0);
    for file in files {
        let path = file.path().strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/");
        let text = std::fs::read_to_string(file.path()).unwrap();
        excused += text.matches("dead_code").count();
        faults.extend(dead_code_faults(&path, &text));
    }
    assert!(excused > 0, "no exception was found: is the source elsewhere?");
    assert_eq!(faults, Vec::<String>::new());
}

#[test]
fn an_exception_for_dead_code_is_noticed_in_every_form() {
    let faults = |text: &str| dead_code_faults("src/lib.rs", text).len();
    let good = r#"#[cfg_attr(not(test), expect(dead_code, reason = "for the verb that undoes installs"))]"#;
    assert_eq!(faults(&format!("{good}\npub(crate) fn undo() {{}}\n")), 0);
    assert_eq!(faults(&format!("{good}\n#[derive(Debug)]\nstruct Model;\n")), 0);
    assert_eq!(faults("#[expect(clippy::unused_self, reason = \"dead_code\")]\nfn a() {}\n"), 0);
    for bad in [
        format!("{good}\nmod auto;\n"),
        format!("{good}\n#[cfg(unix)]\npub(crate) mod auto;\n"),
        format!("{good}\nimpl Undo {{}}\n"),
        good.replace("#[", "#![") + "\n",
        "#[expect(dead_code)]\nfn a() {}\n".to_owned(),
        "#[expect(\n    dead_code,\n    reason = \"later\"\n)]\nfn a() {}\n".to_owned(),
        "#[allow(dead_code, reason = \"for the verb that undoes installs\")]\nfn a() {}\n".to_owned(),
        good.replace("undoes installs", "undoes [all] installs") + "\nfn a() {}\n",
        "#[expect(unused, reason = \"for the verb that undoes installs\")]\nfn a() {}\n".to_owned(),
    ] {
        assert_ne!(faults(&bad), 0, "{bad}");
    }
}

#[test]
fn no_folder_has_more_than_20_files() {
    let all = modules();
    let mut large = Vec::new();
    for room in GROUPED {
        let below: Vec<&Module> =
            all.keys().filter(|module| module.first().is_some_and(|first| first == room)).collect();
        let subjects: BTreeSet<&String> = below.iter().filter_map(|module| module.get(1)).collect();
        if subjects.len() > SUBJECTS {
            large.push(format!("{room} has {} subjects", subjects.len()));
        }
        let mut folders: BTreeMap<&[String], usize> = BTreeMap::new();
        for module in below.iter().filter(|module| module.len() > 2) {
            *folders.entry(&module[..module.len() - 1]).or_default() += 1;
        }
        let crowded = folders.into_iter().filter(|(_, files)| *files > FILES);
        large.extend(crowded.map(|(folder, files)| format!("{} has {files} files", folder.join("/"))));
    }
    assert_eq!(large, Vec::<String>::new());
}

#[test]
fn names_are_followed_through_groups_and_faces() {
    let paths = flat("crate::{disk::{self, Digest as D}, text::toml::*}");
    assert_eq!(paths, ["crate::disk", "crate::disk::Digest", "crate::text::toml"]);
    let text = |text: &str| text.to_owned();
    let module = |path: &str| path.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect::<Module>();
    let all = BTreeMap::from([
        (module(""), text("mod a;\nmod b;")),
        (module("a"), text("pub(crate) use one::Thing;")),
        (module("a/one"), text("use crate::b;")),
        (module("b"), text("use crate::{a::Thing};\nfn f() { super::b::g() }")),
    ]);
    let arrows = arrows(&all);
    assert_eq!(arrows[&module("b")], BTreeSet::from([module("a/one")]));
    assert_eq!(arrows[&module("a/one")], BTreeSet::from([module("b")]));
    assert!(arrows[&module("a")].is_empty(), "a face hands on");
}
