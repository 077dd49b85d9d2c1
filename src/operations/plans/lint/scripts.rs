//! Package scripts that a command runs by name: of the package in its folder, of another package, or of all.

use super::needed::{Missing, Sought, file, has_end, is_open};
use crate::operations::plans::calls::{Call, entered};
use crate::operations::plans::commands::{PlannedTree, has_script};
use crate::project::files::FileError;
use crate::text::words::word_list;

const MANIFEST: &str = "package.json";

/// The package whose script runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ScriptPackage<'a> {
    /// The package of the folder, or of the nearest parent folder.
    Here,
    Folder(&'a str),
    /// A package given by its name or its folder.
    Package(&'a str),
    All,
}

/// What a package manager is asked to do.
#[derive(Debug, PartialEq, Eq)]
enum ManagerRequest<'a> {
    Script {
        name: &'a str,
        place: ScriptPackage<'a>,
        /// If the script does not exist, a program of that name is run.
        or_program: bool,
    },
    /// Words that run a program.
    Program(&'a [&'a str]),
    File(&'a str),
    Other,
}

/// The result for a call of a package manager.
pub(super) enum ManagerCall<'a> {
    Found(Option<Missing>),
    /// It runs a program with these words.
    Program(&'a [&'a str]),
}

/// What is missing for a call of a package manager.
pub(super) fn missing<'a>(
    manager: &str,
    arguments: &'a [&'a str],
    call: &Call,
    tree: &PlannedTree<'_>,
) -> Result<ManagerCall<'a>, FileError> {
    Ok(match asked(manager, arguments) {
        ManagerRequest::File(path) => ManagerCall::Found(file(path, call, tree)),
        ManagerRequest::Program(words) => ManagerCall::Program(words),
        ManagerRequest::Script { name, or_program: true, .. } if PROGRAMS.contains(&name) => {
            let at = arguments.iter().position(|word| *word == name).unwrap_or_default();
            ManagerCall::Program(&arguments[at..])
        }
        ManagerRequest::Script { name, place, or_program } if !is_open(name) => {
            let without =
                of_script(name, place, call, tree)?.filter(|place| !(place.is_open && tree.plans_any(MANIFEST)));
            ManagerCall::Found(without.and_then(|place| {
                if or_program { as_program(name, &place, tree) } else { Some(Missing::surely(place.why)) }
            }))
        }
        _ => ManagerCall::Found(None),
    })
}

/// Why a place does not have the script.
struct Without {
    why: String,
    /// The texts of the package.json files that were read.
    packages: Vec<String>,
    folder: String,
    /// A package that a plan writes may be meant.
    is_open: bool,
}

/// Programs from packages with other names, or that the manager runs without a script.
const PROGRAMS: &[&str] = word_list!(
    "vitest jest mocha ava tap tsc tsx ts-node eslint oxlint biome prettier playwright cypress vite next nuxt astro
     turbo nx lerna prisma drizzle-kit webpack rollup esbuild c8 nyc knip stylelint markdownlint markdownlint-cli2
     storybook svelte-check svelte-kit vue-tsc wrangler expo ng nest changeset rimraf husky node node-gyp tsup"
);

/// A name that is not a script may be a program of an installed package.
fn as_program(name: &str, place: &Without, tree: &PlannedTree<'_>) -> Option<Missing> {
    let bins = [place.folder.as_str(), ""].map(|folder| format!("{folder}node_modules/.bin/{name}"));
    let quoted = format!("\"{name}\"");
    if bins.iter().any(|bin| tree.is_file(bin)) || place.packages.iter().any(|text| text.contains(&quoted)) {
        return None;
    }
    let has_packages = place.packages.iter().any(|text| text.to_lowercase().contains("dependencies\""));
    let why = place.why.clone();
    Some(if has_packages { Missing::maybe(why) } else { Missing::surely(why) })
}

/// What the arguments of a package manager ask for.
fn asked<'a>(manager: &str, arguments: &'a [&'a str]) -> ManagerRequest<'a> {
    const FLAGS: &[&str] = word_list!(
        "-s --silent --quiet -q --verbose --color --no-color --stream --parallel --no-bail --aggregate-output --offline
         --frozen-lockfile --bail --if-present -y --yes --bun --watch --workspace-root --include-workspace-root
         --no-audit --foreground-scripts --ignore-scripts"
    );
    let mut place = ScriptPackage::Here;
    let mut plain: Vec<(usize, &str)> = Vec::new();
    let mut at = 0;
    while let Some(word) = arguments.get(at).copied().filter(|word| *word != "--") {
        at += 1;
        if !word.starts_with('-') {
            plain.push((at - 1, word));
            // Words after the name belong to the script, except that `npm` reads its own options there too.
            let is_named = plain.len() > usize::from(matches!(plain[0].1, "run" | "run-script" | "workspace"));
            if manager != "npm" && is_named && plain[0].1 != "workspace" {
                break;
            }
            continue;
        }
        let (option, attached) = word.split_once('=').map_or((word, None), |(option, value)| (option, Some(value)));
        let takes = match option {
            "-w" | "--workspace" if manager == "npm" => true,
            "--filter" | "-F" | "--filter-prod" | "-C" | "--dir" | "--cwd" | "--prefix" => true,
            "-w" if manager == "pnpm" => {
                place = ScriptPackage::Folder("/");
                continue;
            }
            "-r" | "--recursive" | "--workspaces" | "-ws" => {
                place = ScriptPackage::All;
                continue;
            }
            "--if-present" => return ManagerRequest::Other,
            _ if attached.is_some() || FLAGS.contains(&option) => continue,
            // An unknown option may have a value.
            _ if plain.is_empty() => return ManagerRequest::Other,
            _ => continue,
        };
        let value = if takes { attached.or_else(|| arguments.get(at).copied()) } else { None };
        at += usize::from(attached.is_none());
        let Some(value) = value else { return ManagerRequest::Other };
        place = match option {
            "-C" | "--dir" | "--cwd" | "--prefix" => ScriptPackage::Folder(value),
            _ => ScriptPackage::Package(value),
        };
    }
    of_plain(manager, arguments, &plain, place)
}

/// What the words other than options ask for.
fn of_plain<'a>(
    manager: &str,
    arguments: &'a [&'a str],
    plain: &[(usize, &'a str)],
    place: ScriptPackage<'a>,
) -> ManagerRequest<'a> {
    let script = |name, or_program| ManagerRequest::Script { name, place, or_program };
    let Some((at, verb)) = plain.first().copied() else { return ManagerRequest::Other };
    let next = plain.get(1).map(|(_, word)| *word);
    let behind = arguments.get(at + 1..).unwrap_or_default();
    let behind = behind.strip_prefix(&["--"]).unwrap_or(behind);
    match (manager, verb) {
        ("bun", "run") => match next {
            Some(path) if path.contains('/') || has_end(path, CODE) => ManagerRequest::File(path),
            Some(name) => script(name, true),
            None => ManagerRequest::Other,
        },
        ("bun", "x") | ("npm" | "pnpm" | "yarn", "exec" | "dlx" | "x") => ManagerRequest::Program(behind),
        ("bun", path) if has_end(path, CODE) => ManagerRequest::File(path),
        ("bun", _) => ManagerRequest::Other,
        (_, "run" | "run-script") => next.map_or(ManagerRequest::Other, |name| script(name, manager == "yarn")),
        (_, "test" | "start" | "stop" | "restart") => script(verb, false),
        (_, "t" | "tst") if manager != "yarn" => script("test", false),
        ("yarn", "workspace") => {
            let names: Vec<&str> = plain.iter().skip(2).map(|(_, word)| *word).collect();
            match (next, names.as_slice()) {
                (Some(package), ["run", name, ..] | [name, ..]) if !OWN.contains(name) => {
                    ManagerRequest::Script { name, place: ScriptPackage::Package(package), or_program: true }
                }
                _ => ManagerRequest::Other,
            }
        }
        ("pnpm" | "yarn", name) if !OWN.contains(&name) => script(name, true),
        _ => ManagerRequest::Other,
    }
}

const CODE: &[&str] = &["ts", "tsx", "js", "jsx", "mjs", "cjs", "mts"];

/// Commands of the managers themselves.
const OWN: &[&str] = word_list!(
    "add approve-builds audit autoclean bin cache catalogs check ci clean config constraints cp create dedupe deploy dlx
     doctor env exec explain fetch generate-lock-entry global help i import info init install install-test it ln link
     licenses list ls login logout node npm outdated owner pack patch patch-commit plugin policies prune publish rb
     rebuild remove rm root run search self-update server set setup stage store tag team un uninstall unlink unplug up
     update upgrade upgrade-interactive version versions view why workspace workspaces"
);

/// Why no package of a place has a script; `None` if one has it, or if that is unknown.
fn of_script(
    name: &str,
    place: ScriptPackage<'_>,
    call: &Call,
    tree: &PlannedTree<'_>,
) -> Result<Option<Without>, FileError> {
    let folder = match place {
        ScriptPackage::Here => call.folder.clone(),
        ScriptPackage::Folder("/") => String::new(),
        ScriptPackage::Folder(path) => match entered(&call.folder, path) {
            Some(folder) => folder,
            None => return Ok(None),
        },
        ScriptPackage::Package(wanted) => {
            if is_open(wanted) || wanted.contains(['!', '^', '[']) || wanted.contains("...") {
                return Ok(None);
            }
            match folder_of(wanted, call, tree)? {
                // A folder of packages means each package in it.
                Some(folder) if !tree.has(&format!("{folder}{MANIFEST}")) => return Ok(None),
                Some(folder) => folder,
                None => {
                    let why = format!("there is no package `{wanted}`");
                    return Ok(Some(Without { why, packages: Vec::new(), folder: String::new(), is_open: true }));
                }
            }
        }
        ScriptPackage::All => {
            let packages: Vec<String> = packages(tree)?.into_iter().map(|(_, text)| text).collect();
            if packages.iter().any(|text| has_script(text, name)) {
                return Ok(None);
            }
            let why = format!("no package has a script `{name}`");
            return Ok(Some(Without { why, packages, folder: String::new(), is_open: true }));
        }
    };
    let shown = if folder.is_empty() { "." } else { folder.trim_end_matches('/') };
    if !folder.is_empty() && !tree.is_folder(shown) {
        let why = format!("`{shown}` does not exist");
        let is_planned = tree.plans_inside(shown);
        return Ok((!is_planned).then(|| Without { why, packages: Vec::new(), folder, is_open: false }));
    }
    // A manager looks for the nearest manifest in parent folders.
    let mut at = folder.clone();
    loop {
        let path = format!("{at}{MANIFEST}");
        if tree.is_planned(&path) {
            return Ok(None);
        }
        if let Some(text) = tree.text(&path)? {
            let has = has_script(&text, name) || (name == "start" && tree.has(&format!("{at}server.js")));
            let why = format!("`{shown}` has no script `{name}`");
            let root = if at.is_empty() { None } else { tree.text(MANIFEST)? };
            let packages = std::iter::once(text).chain(root).collect();
            return Ok((!has).then_some(Without { why, packages, folder: at, is_open: false }));
        }
        let Some(above) = at.trim_end_matches('/').rsplit_once('/').map(|(above, _)| format!("{above}/")) else {
            if at.is_empty() {
                let why = format!("`{shown}` has no {MANIFEST}");
                return Ok(Some(Without { why, packages: Vec::new(), folder, is_open: false }));
            }
            at = String::new();
            continue;
        };
        at = above;
    }
}

/// The folder of a package of the project, found by name or path.
fn folder_of(wanted: &str, call: &Call, tree: &PlannedTree<'_>) -> Result<Option<String>, FileError> {
    for start in [call.folder.as_str(), ""] {
        let folder = entered(start, wanted);
        if let Some(folder) = folder
            && tree.has(&format!("{folder}{MANIFEST}"))
        {
            return Ok(Some(folder));
        }
    }
    let is_named = |text: &str| {
        let name = serde_json::from_str::<serde_json::Value>(text).ok();
        let name = name.as_ref().and_then(|package| package.get("name")?.as_str());
        // `--filter api` finds `@x/api` too.
        name.is_some_and(|name| name == wanted || name.rsplit('/').next() == Some(wanted))
    };
    let found = packages(tree)?.into_iter().find(|(_, text)| is_named(text)).map(|(folder, _)| folder);
    Ok(found.or_else(|| entered(&call.folder, wanted).filter(|folder| tree.is_folder(folder.trim_end_matches('/')))))
}

/// The packages of the project, with their folders.
fn packages(tree: &PlannedTree<'_>) -> Result<Vec<(String, String)>, FileError> {
    let mut found = Vec::new();
    for path in tree.paths().into_iter().flatten().filter(|path| path.rsplit('/').next() == Some(MANIFEST)) {
        if let Some(text) = tree.text(&path)? {
            found.push((path.trim_end_matches(MANIFEST).to_owned(), text));
        }
    }
    Ok(found)
}

/// Checks the tasks of `turbo run`: each is a script of a package.
pub(super) fn of_turbo(arguments: &[&str], call: &Call, tree: &PlannedTree<'_>) -> Sought {
    let ["run", rest @ ..] = arguments else { return Ok(None) };
    let config = tree.text(&format!("{}turbo.json", call.folder))?.unwrap_or_default();
    let names =
        rest.iter().take_while(|word| !word.starts_with('-')).filter(|name| !is_open(name) && !name.contains('#'));
    for name in names {
        let is_known =
            config.contains(&format!("\"{name}\"")) || tree.plans_any(MANIFEST) || tree.plans_any("turbo.json");
        if !is_known && of_script(name, ScriptPackage::All, call, tree)?.is_some() {
            return Ok(Some(Missing::surely(format!("no package has a script `{name}`"))));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_request_to_a_manager_is_read_from_its_words() {
        let told = |line: &str| {
            let words: Vec<&str> = line.split(' ').collect();
            format!("{:?}", asked(words[0], &words[1..]))
        };
        for (line, answer) in [
            ("npm test -- -w x", "Script { name: \"test\", place: Here, or_program: false }"),
            ("npm run -s a", "Script { name: \"a\", place: Here, or_program: false }"),
            ("npm run a -w packages/b", "Script { name: \"a\", place: Package(\"packages/b\"), or_program: false }"),
            ("npm run a --workspace=@x/b", "Script { name: \"a\", place: Package(\"@x/b\"), or_program: false }"),
            ("npm run a --workspaces --if-present", "Other"),
            ("npm --prefix web run a", "Script { name: \"a\", place: Folder(\"web\"), or_program: false }"),
            ("npm --loglevel silent run a", "Other"),
            ("npm ci", "Other"),
            ("npm exec -- tsx a.ts", "Program([\"tsx\", \"a.ts\"])"),
            ("pnpm a --filter b", "Script { name: \"a\", place: Here, or_program: true }"),
            ("pnpm --filter b a", "Script { name: \"a\", place: Package(\"b\"), or_program: true }"),
            ("pnpm -r run a", "Script { name: \"a\", place: All, or_program: false }"),
            ("pnpm -w run a", "Script { name: \"a\", place: Folder(\"/\"), or_program: false }"),
            ("pnpm install", "Other"),
            ("yarn a", "Script { name: \"a\", place: Here, or_program: true }"),
            ("yarn workspace b run a", "Script { name: \"a\", place: Package(\"b\"), or_program: true }"),
            ("yarn workspace b add a", "Other"),
            ("bun run a", "Script { name: \"a\", place: Here, or_program: true }"),
            ("bun run src/a.ts", "File(\"src/a.ts\")"),
            ("bun test a", "Other"),
        ] {
            assert_eq!(told(line), answer, "{line}");
        }
    }
}
