//! What a command line leaves of the files that it writes, as far as it tells.

use super::content::Content;
use std::collections::BTreeMap;
use std::path::PathBuf;

use super::super::git_line::GitLine;
use super::script;
use crate::text::shell::{Argument, Run, Spelling, runs};

/// The files that a script overwrites, relative to the folder it starts in, and what is known of their new content.
pub(in crate::hooks) fn written_by(script: &str) -> Vec<(String, Content)> {
    if !script.contains(".planning") && !script.contains(".md") {
        return Vec::new();
    }
    let mut written: Vec<(String, Content)> = Vec::new();
    // What the script itself wrote before, by its name.
    let mut known: BTreeMap<String, Content> = BTreeMap::new();
    let mut folder = PathBuf::new();
    let mut before: Option<(usize, Content)> = None;
    for run in runs(script) {
        if matches!(run.program.as_str(), "cd" | "pushd") {
            folder = run.arguments.first().and_then(Argument::text).map_or(folder.clone(), |to| folder.join(to));
        }
        let from_here = |name: &str| folder.join(name).to_string_lossy().into_owned();
        let piped = before.take().filter(|(pipeline, _)| *pipeline == run.pipeline).map(|(_, content)| content);
        let changes = changed_in_place(&run);
        if !changes.is_empty() {
            written.extend(changes.into_iter().map(|(name, content)| (from_here(&name), content)));
            continue;
        }
        if let Some((target, sources)) = copied(&run) {
            if run.program == "mv" {
                written.extend(sources.iter().map(|source| (from_here(source), Content::Moved)));
            }
            let sources = sources.iter().filter(|source| *source != "/dev/null").map(|source| from_here(source));
            let sources: Vec<String> = sources.collect();
            let content = match sources.as_slice() {
                [source] => known.get(source).cloned(),
                _ => None,
            };
            known.remove(&from_here(&target));
            written.push((from_here(&target), content.unwrap_or(Content::OfFiles(sources))));
            continue;
        }
        let passes_on = run.is_fed && run.arguments.iter().all(|word| word.shown().starts_with('-'));
        let names = names(&run.arguments);
        let own = || if run.is_fed && run.here.is_none() { piped } else { content(&run) };
        let (content, files) = match run.program.as_str() {
            "tee" | "sponge" => (own(), names),
            "dd" => (operand(&run, "if=").map_or_else(own, |file| files(&[file])), dd_target(&run)),
            "truncate" if empties(&run) => (Some(Content::Lines(0)), names),
            "cat" if passes_on => (own(), Vec::new()),
            _ => (content(&run), Vec::new()),
        };
        let content = content.map(|content| match content {
            Content::OfFiles(files) => Content::OfFiles(files.iter().map(|file| from_here(file)).collect()),
            content => content,
        });
        if let Some(content) = content.clone().filter(|_| run.is_piped) {
            before = Some((run.pipeline, content));
        }
        let appends = matches!(run.program.as_str(), "tee" | "sponge") && run.arguments.iter().any(is_append);
        let redirected = run.writes.iter().filter_map(|written| Some((written.file.text()?, written.append)));
        for (name, append) in redirected.chain(files.into_iter().map(|name| (name, appends))) {
            let name = from_here(&name);
            let now =
                if append { known.get(&name).and_then(|old| joined(old, content.as_ref()?)) } else { content.clone() };
            match now {
                Some(content) => known.insert(name.clone(), content),
                None => known.remove(&name),
            };
            written.extend(content.clone().filter(|_| !append).map(|content| (name, content)));
        }
    }
    written
}

/// What a file has that was written before, and then had something appended.
fn joined(before: &Content, behind: &Content) -> Option<Content> {
    match (before, behind) {
        (Content::Lines(before), Content::Lines(behind)) => Some(Content::Lines(before.saturating_add(*behind))),
        (Content::OfFiles(before), Content::OfFiles(behind)) => {
            Some(Content::OfFiles(before.iter().chain(behind).cloned().collect()))
        }
        _ => None,
    }
}

/// The option of `tee` and `sponge` by which a file stays as it is and gets longer.
fn is_append(word: &Argument) -> bool {
    let option = word.shown();
    option == "--append" || option.starts_with('-') && !option.starts_with("--") && option.contains('a')
}

/// The value of an operand of `dd`.
fn operand(run: &Run, name: &str) -> Option<Argument> {
    run.arguments.iter().find(|word| word.shown().starts_with(name))?.behind('=')
}

/// The file that `dd` writes again, if it does not change a part of it.
fn dd_target(run: &Run) -> Vec<String> {
    let is_part = run.arguments.iter().any(|word| {
        let word = word.shown();
        word.starts_with("seek=") || word.starts_with("conv=") && word.contains("notrunc") || word.starts_with("oflag=")
    });
    operand(run, "of=").and_then(|file| file.text()).filter(|_| !is_part).into_iter().collect()
}

fn names(words: &[Argument]) -> Vec<String> {
    words.iter().filter_map(Argument::text).filter(|name| !name.starts_with('-')).collect()
}

/// The files that a program changes where they are, removes, or puts an earlier version in the place of.
fn changed_in_place(run: &Run) -> Vec<(String, Content)> {
    let all = |names: Vec<String>, content: &Content| -> Vec<(String, Content)> {
        names.into_iter().map(|name| (name, content.clone())).collect()
    };
    match run.program.as_str() {
        // All that is in a folder is the folder.
        "rm" | "unlink" | "shred" => {
            let names = names(&run.arguments).into_iter();
            all(names.map(|name| name.strip_suffix("/*").unwrap_or(&name).to_owned()).collect(), &Content::Removed)
        }
        "sed" | "gsed" if run.arguments.iter().any(|word| is_in_place(&word.shown())) => {
            let mut words = names(&run.arguments);
            // The suffix of `-i ''` is a word of its own on some systems.
            words.retain(|word| !word.is_empty());
            if words.is_empty() {
                return Vec::new();
            }
            let script = words.remove(0);
            script::left_by(&script, is_quiet(run)).map_or_else(Vec::new, |content| all(words, &content))
        }
        "git" => GitLine::of(run).map_or_else(Vec::new, |call| older(&call)),
        program if program.starts_with("python") || program == "node" => {
            let code: Vec<String> = run.arguments.iter().map(Argument::shown).chain(run.input.clone()).collect();
            code.iter().flat_map(|code| script::written_by_code(code)).collect()
        }
        _ => Vec::new(),
    }
}

fn is_in_place(option: &str) -> bool {
    option.starts_with("--in-place") || option.starts_with('-') && !option.starts_with("--") && option.contains('i')
}

fn is_quiet(run: &Run) -> bool {
    let quiet = |option: String| {
        option == "--quiet" || option.starts_with('-') && !option.starts_with("--") && option.contains('n')
    };
    run.arguments.iter().map(Argument::shown).any(quiet)
}

/// What `git checkout` and `git restore` put in the place of files from a commit before the last.
fn older(call: &GitLine<'_>) -> Vec<(String, Content)> {
    let words: Vec<String> = call.arguments.iter().map(Argument::shown).collect();
    let dashes = words.iter().position(|word| word == "--");
    let before = &words[..dashes.unwrap_or(words.len())];
    let commit = match call.verb.as_str() {
        "checkout" => before.iter().find(|word| !word.starts_with('-')),
        "restore" => return older_of_restore(&words),
        "rm" if !call.has(&["cached"], &[]) => {
            let names = words.iter().filter(|word| !word.starts_with('-'));
            return names.map(|name| (name.clone(), Content::Removed)).collect();
        }
        _ => None,
    };
    let Some(commit) = commit.filter(|commit| is_older(commit)) else { return Vec::new() };
    let files = words.iter().filter(|word| !word.starts_with('-') && *word != commit);
    files.map(|file| (file.clone(), Content::Older(commit.clone()))).collect()
}

fn older_of_restore(words: &[String]) -> Vec<(String, Content)> {
    let mut commit = None;
    let mut files = Vec::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match word.as_str() {
            "-s" | "--source" => commit = rest.next().cloned(),
            option if option.starts_with("--source=") => commit = Some(option["--source=".len()..].to_owned()),
            option if option.starts_with('-') => {}
            file => files.push(file.to_owned()),
        }
    }
    let Some(commit) = commit.filter(|commit| is_older(commit)) else { return Vec::new() };
    files.into_iter().map(|file| (file, Content::Older(commit.clone()))).collect()
}

/// Whether a name is that of a commit before the last, and not of a branch or of the last one.
fn is_older(commit: &str) -> bool {
    let is_digest = commit.len() >= 7 && commit.chars().all(|letter| letter.is_ascii_hexdigit());
    is_digest || commit.contains(['~', '^']) || commit.contains("@{")
}

/// What a program prints.
fn content(run: &Run) -> Option<Content> {
    match run.program.as_str() {
        "" if run.reads.is_empty() => Some(Content::Lines(0)),
        ":" | "true" => Some(Content::Lines(0)),
        "head" | "tail" => most_lines(run).map(Content::Lines),
        "sed" | "gsed" => match script::left_by(names(&run.arguments).first()?, is_quiet(run))? {
            content @ Content::Lines(_) => Some(content),
            _ => None,
        },
        "tee" if !run.reads.is_empty() => files(&run.reads),
        "cat" if run.output().is_none() => {
            let words: Vec<Argument> = run.arguments.iter().chain(&run.reads).cloned().collect();
            files(&words)
        }
        "echo" => echoed(run).map(Content::Lines),
        "printf" => formatted(run).map(Content::Lines),
        _ => run.output().map(|text| Content::Lines(text.lines().count())),
    }
}

/// How many lines `echo` prints at the most: some shells take `\n` for a line break without being asked to.
fn echoed(run: &Run) -> Option<usize> {
    let texts: Option<Vec<String>> = run.arguments.iter().map(Argument::text).collect();
    let lines = texts?.iter().map(|text| breaks(text)).sum::<Option<usize>>()?;
    Some(lines.saturating_add(1))
}

/// How many lines `printf` prints at the most: the format is used again until there are no values left.
fn formatted(run: &Run) -> Option<usize> {
    let (format, values) = run.arguments.split_first()?;
    let format = format.text()?;
    let taken = format.replace("%%", "").matches('%').count();
    let mut lines = 1_usize;
    for value in values {
        // What a pattern becomes is not known.
        let is_many = value.spellings.iter().any(Spelling::has_wildcards) || value.names().nth(1).is_some();
        let value = value.text().filter(|value| !is_many && !value.contains(".."))?;
        lines = lines.saturating_add(breaks(&value)?);
    }
    let times = values.len().div_ceil(taken.max(1)).max(1);
    Some(lines.saturating_add(breaks(&format)?.saturating_mul(times)))
}

/// How many line breaks a text has, spelled out or not; `None` where they may be spelled by numbers.
fn breaks(text: &str) -> Option<usize> {
    let by_number = ["\\0", "\\1", "\\x", "\\u"].iter().any(|start| text.contains(start));
    (!by_number).then(|| text.matches('\n').count() + text.matches("\\n").count())
}

fn files(words: &[Argument]) -> Option<Content> {
    let files: Option<Vec<String>> = words.iter().map(Argument::text).collect();
    let files = files.filter(|files| !files.is_empty() && files.iter().all(|file| !file.starts_with('-')))?;
    Some(Content::OfFiles(files.into_iter().filter(|file| file != "/dev/null").collect()))
}

/// How many lines `head` and `tail` print at the most: `-5`, `-n 5`, `-n5`.
fn most_lines(run: &Run) -> Option<usize> {
    let mut words = run.arguments.iter().map(Argument::shown);
    while let Some(word) = words.next() {
        let Some(option) = word.strip_prefix('-') else { continue };
        let number = match option.strip_prefix('n').or_else(|| option.strip_prefix("-lines=")) {
            Some("") => words.next()?,
            Some(number) => number.to_owned(),
            None if option == "-lines" => words.next()?,
            None if option.starts_with(|first: char| first.is_ascii_digit()) => option.to_owned(),
            // Bytes are counted, or something is left out.
            None if option.starts_with('c') || option.starts_with("-bytes") => return None,
            None => continue,
        };
        // All but so many, and from that line on, is no number.
        return if number.starts_with('+') { None } else { number.parse().ok() };
    }
    Some(10)
}

/// Whether `truncate` leaves nothing.
fn empties(run: &Run) -> bool {
    let words: Vec<String> = run.arguments.iter().map(Argument::shown).collect();
    let sized = words.windows(2).any(|pair| matches!(pair[0].as_str(), "-s" | "--size") && pair[1] == "0");
    sized || words.iter().any(|word| word == "-s0" || word == "--size=0")
}

/// The file that a program puts others in the place of, and those.
fn copied(run: &Run) -> Option<(String, Vec<String>)> {
    if !matches!(run.program.as_str(), "cp" | "mv" | "install" | "rsync") {
        return None;
    }
    let words: Option<Vec<String>> = run.arguments.iter().map(Argument::text).collect();
    let mut words: Vec<String> = words?.into_iter().filter(|word| !word.starts_with('-')).collect();
    let target = words.pop()?;
    match words.as_slice() {
        [_] => Some((target, words)),
        _ => None,
    }
}
