//! Targets, recipes and tasks that a command names, looked up in their files.

use super::needed::{Missing, Sought, file, is_open};
use crate::operations::plans::calls::{Call, entered};
use crate::operations::plans::commands::{PlannedTree, Recipes};
use crate::project::files::FileError;
use crate::text::words::word_list;

fn no_target(name: &str, keeper: &str, folder: &str) -> Missing {
    let place = if folder.is_empty() { "." } else { folder.trim_end_matches('/') };
    Missing::surely(format!("the {keeper} of `{place}` has no target `{name}`"))
}

/// Options of a program with their values, and the other words.
struct ProgramWords<'a> {
    folder: Option<&'a str>,
    file: Option<&'a str>,
    plain: Vec<&'a str>,
    /// There is an option that selects another file or is unrelated to targets.
    is_other: bool,
}

/// Splits the words after a program. The lists name its options, short and long, by their meaning.
fn words<'a>(
    arguments: &[&'a str],
    folders: &[&str],
    files: &[&str],
    values: &[&str],
    others: &[&str],
) -> ProgramWords<'a> {
    let mut found = ProgramWords { folder: None, file: None, plain: Vec::new(), is_other: false };
    let mut at = 0;
    while let Some(word) = arguments.get(at).copied().filter(|word| *word != "--") {
        at += 1;
        let (option, attached) = match word.split_once('=') {
            Some((option, value)) if word.starts_with("--") => (option, Some(value)),
            _ => (word, None),
        };
        // `-Cweb`
        let short = folders.iter().chain(files).find(|known| {
            known.len() == 2 && option.starts_with(**known) && option.len() > 2 && !option.starts_with("--")
        });
        let (option, attached) = match short {
            Some(known) => (*known, Some(&option[2..])),
            None => (option, attached),
        };
        let takes = [folders, files, values].iter().any(|list| list.contains(&option));
        if others.contains(&option) {
            found.is_other = true;
        } else if takes {
            let value = attached.or_else(|| arguments.get(at).copied());
            at += usize::from(attached.is_none());
            if folders.contains(&option) {
                found.folder = value;
            } else if files.contains(&option) {
                found.file = value;
            }
        } else if !word.starts_with('-') {
            found.plain.push(word);
        }
    }
    found
}

/// True if a target is a plain name.
fn is_plain(word: &str) -> bool {
    !is_open(word) && !word.contains(['/', '=', ':', '(', '"', '\''])
}

/// What is missing for `make`.
pub(super) fn of_make(arguments: &[&str], call: &Call, tree: &PlannedTree<'_>) -> Sought {
    let asked = words(
        arguments,
        &["-C", "--directory"],
        &["-f", "--file", "--makefile"],
        &["-I", "--include-dir", "-o", "-W", "--eval"],
        &["--version", "-v", "--help", "-h"],
    );
    let Some(folder) = asked.folder.map_or(Some(call.folder.clone()), |path| entered(&call.folder, path)) else {
        return Ok(None);
    };
    if asked.is_other {
        return Ok(None);
    }
    // `make -j 4 test`
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let names = asked.plain.into_iter().filter(|word| !is_number(word));
    in_recipes(Recipes::Makefile, names, asked.file, &folder, call, tree)
}

/// What is missing for `just`.
pub(super) fn of_just(arguments: &[&str], call: &Call, tree: &PlannedTree<'_>) -> Sought {
    let asked = words(
        arguments,
        &["-d", "--working-directory"],
        &["-f", "--justfile"],
        &["--set", "--dotenv-path", "--dotenv-filename", "--shell", "--color", "-E"],
        &["-l", "--list", "--summary", "--evaluate", "--show", "-s", "-g", "--choose", "--fmt", "--version", "-c"],
    );
    if asked.is_other || asked.folder.is_some() {
        return Ok(None);
    }
    // Words after the first name may be its arguments.
    let names = asked.plain.into_iter().take_while(|name| !name.contains('=')).take(1);
    in_recipes(Recipes::Justfile, names, asked.file, &call.folder, call, tree)
}

fn in_recipes<'a>(
    recipes: Recipes,
    names: impl Iterator<Item = &'a str>,
    file_of: Option<&str>,
    folder: &str,
    call: &Call,
    tree: &PlannedTree<'_>,
) -> Sought {
    if let Some(path) = file_of
        && let Some(missing) = file(path, call, tree)
    {
        return Ok(Some(missing));
    }
    for name in names.filter(|name| is_plain(name)) {
        let mut at = folder.to_owned();
        loop {
            let is_planned = match file_of {
                Some(path) => is_open(path) || tree.is_planned(&format!("{at}{path}")),
                None => recipes.names().iter().any(|file| tree.is_planned(&format!("{at}{file}"))),
            };
            if is_planned {
                return Ok(None);
            }
            match recipes.have(name, &at, file_of, tree.files())? {
                Some(true) => break,
                Some(false) if tree.is_planned(&format!("{at}{name}")) => break,
                Some(false) => return Ok(Some(no_target(name, recipes.name(), &at))),
                // `just` also looks in parent folders.
                None if recipes == Recipes::Justfile && !at.is_empty() => {
                    let above = at.trim_end_matches('/').rsplit_once('/').map(|(above, _)| format!("{above}/"));
                    at = above.unwrap_or_default();
                }
                None if file_of.is_some() => return Ok(None),
                None => {
                    let place = if folder.is_empty() { "." } else { folder.trim_end_matches('/') };
                    return Ok(Some(Missing::surely(format!("`{place}` has no {}", recipes.name()))));
                }
            }
        }
    }
    Ok(None)
}

/// The text of the first of these files that exists in a folder; also `None` if a plan writes one of them.
fn kept(folder: &str, names: &[&str], tree: &PlannedTree<'_>) -> Result<Option<String>, FileError> {
    if names.iter().any(|name| tree.is_planned(&format!("{folder}{name}"))) {
        return Ok(None);
    }
    for name in names {
        if let Some(text) = tree.text(&format!("{folder}{name}"))? {
            return Ok(Some(text));
        }
    }
    Ok(None)
}

/// What is missing for `task`.
pub(super) fn of_task(arguments: &[&str], call: &Call, tree: &PlannedTree<'_>) -> Sought {
    const FILES: &[&str] = word_list!(
        "Taskfile.yml taskfile.yml Taskfile.yaml taskfile.yaml Taskfile.dist.yml taskfile.dist.yml Taskfile.dist.yaml
         taskfile.dist.yaml"
    );
    if arguments.iter().any(|word| word.starts_with('-') && !matches!(*word, "-s" | "--silent" | "-f" | "--force")) {
        return Ok(None);
    }
    let Some(text) = kept(&call.folder, FILES, tree)? else { return Ok(None) };
    let has = |name: &str| {
        text.contains("includes:")
            || text.lines().any(|line| {
                let line = line.trim().trim_start_matches(['"', '\'']);
                let rest = line.strip_prefix(name).map(|rest| rest.trim_start_matches(['"', '\'']));
                rest.is_some_and(|rest| rest.starts_with(':')) || (line.starts_with("aliases") && line.contains(name))
            })
    };
    let mut names = arguments.iter().filter(|word| is_plain(word) && !word.starts_with('-'));
    Ok(names.find(|name| !has(name)).map(|name| no_target(name, "Taskfile", &call.folder)))
}

/// What is missing for `composer`.
pub(super) fn of_composer(arguments: &[&str], call: &Call, tree: &PlannedTree<'_>) -> Sought {
    const OWN: &[&str] = word_list!(
        "about archive audit browse bump check-platform-reqs clear-cache clearcache cc config create-project depends why
         diagnose dump-autoload dumpautoload exec fund global help info init install i licenses list outdated prohibits
         why-not reinstall remove rm require r search self-update selfupdate show status suggests update u upgrade
         validate"
    );
    let plain: Vec<&str> = arguments.iter().copied().take_while(|word| *word != "--").collect();
    let name = match plain.as_slice() {
        ["run" | "run-script", name, ..] => *name,
        [name, ..] if !OWN.contains(name) && !matches!(*name, "run" | "run-script") => *name,
        _ => return Ok(None),
    };
    let Some(text) = kept(&call.folder, &["composer.json"], tree)? else { return Ok(None) };
    let is_unknown = !name.starts_with('-') && !is_open(name) && !text.contains(&format!("\"{name}\""));
    Ok(is_unknown.then(|| Missing::surely(format!("composer.json has no script `{name}`"))))
}

/// What is missing for `deno`.
pub(super) fn of_deno(arguments: &[&str], call: &Call, tree: &PlannedTree<'_>) -> Sought {
    let plain: Vec<&str> = arguments.iter().copied().filter(|word| !word.starts_with('-')).collect();
    match plain.as_slice() {
        ["task", name, ..] if !is_open(name) => {
            if arguments.iter().any(|word| matches!(*word, "--cwd" | "-c" | "--config" | "-f" | "--filter" | "-r")) {
                return Ok(None);
            }
            let config = kept(&call.folder, &["deno.json", "deno.jsonc"], tree)?;
            let package = kept(&call.folder, &["package.json"], tree)?;
            let is_planned = ["deno.json", "deno.jsonc", "package.json"]
                .iter()
                .any(|name| tree.is_planned(&format!("{}{name}", call.folder)));
            let texts: Vec<String> = config.into_iter().chain(package).collect();
            let has = texts.iter().any(|text| text.contains(&format!("\"{name}\"")));
            let is_unknown = !has && !is_planned && !texts.is_empty();
            Ok(is_unknown.then(|| Missing::surely(format!("deno.json has no task `{name}`"))))
        }
        ["run", path, ..] if path.rsplit_once('.').is_some_and(|(_, end)| matches!(end, "ts" | "js")) => {
            Ok(file(path, call, tree))
        }
        _ => Ok(None),
    }
}
