//! The content that a command line leaves in the files it writes, if that can be determined.

use super::content::Content;
use std::collections::BTreeMap;
use std::path::PathBuf;

use super::super::git_line::GitLine;
use super::script;
use crate::text::shell::{Argument, FileWritten, Run, Spelling, runs};

/// The files that a script overwrites, relative to the folder it starts in, with the known facts about their new
/// content.
pub(in crate::hooks) fn written_by(script: &str) -> Vec<(String, Content)> {
    if !script.contains(".planning") && !script.contains(".md") {
        return Vec::new();
    }
    let mut written: Vec<(String, Content)> = Vec::new();
    // What the script itself has written so far, by name.
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
            if run.program != "cp" && run.program != "rsync" && run.program != "install" {
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
            "truncate" => match truncated(&run) {
                Some(0) => (Some(Content::Lines(0)), self::names(&without_size(&run.arguments))),
                Some(most) => (Some(Content::Bytes(most)), self::names(&without_size(&run.arguments))),
                None => (None, Vec::new()),
            },
            "cat" if passes_on => (own(), Vec::new()),
            _ => (content(&run), Vec::new()),
        };
        let content = content.map(|content| match content {
            Content::OfFiles(files) => Content::OfFiles(files.iter().map(|file| from_here(file)).collect()),
            Content::Picked { file, text, at_start } => Content::Picked { file: from_here(&file), text, at_start },
            content => content,
        });
        if let Some(content) = content.clone().filter(|_| run.is_piped) {
            before = Some((run.pipeline, content));
        }
        let appends = matches!(run.program.as_str(), "tee" | "sponge") && run.arguments.iter().any(is_append);
        let redirected = run
            .writes
            .iter()
            .flat_map(|written| documents(&written.file).into_iter().map(|name| (name, written.append)));
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

/// The content of a file that was written and then appended to.
fn joined(before: &Content, behind: &Content) -> Option<Content> {
    match (before, behind) {
        (Content::Lines(before), Content::Lines(behind)) => Some(Content::Lines(before.saturating_add(*behind))),
        (Content::OfFiles(before), Content::OfFiles(behind)) => {
            Some(Content::OfFiles(before.iter().chain(behind).cloned().collect()))
        }
        _ => None,
    }
}

/// True for the option with which `tee` and `sponge` append to a file.
fn is_append(word: &Argument) -> bool {
    let option = word.shown();
    option == "--append" || option.starts_with('-') && !option.starts_with("--") && option.contains('a')
}

/// The value of an operand of `dd`.
fn operand(run: &Run, name: &str) -> Option<Argument> {
    run.arguments.iter().find(|word| word.shown().starts_with(name))?.behind('=')
}

/// The file that `dd` overwrites, unless it changes only a part of it.
fn dd_target(run: &Run) -> Vec<String> {
    let is_part = run.arguments.iter().any(|word| {
        let word = word.shown();
        word.starts_with("seek=") || word.starts_with("conv=") && word.contains("notrunc") || word.starts_with("oflag=")
    });
    operand(run, "of=").and_then(|file| file.text()).filter(|_| !is_part).into_iter().collect()
}

fn names(words: &[Argument]) -> Vec<String> {
    words.iter().flat_map(documents).filter(|name| !name.starts_with('-')).collect()
}

/// The documents that this guard protects, by their last part; a pattern may mean one of them.
const GUARDED: &[&str] = &["ROADMAP.md", "STATE.md"];

/// The files that a word may name: for a pattern, the documents that it matches. Everything in a folder counts as the
/// folder.
fn documents(word: &Argument) -> Vec<String> {
    if let Some(text) = word.text().filter(|text| text.ends_with("/*")) {
        return vec![text];
    }
    let known = word.names().filter(Spelling::is_known);
    known.flat_map(|name| if name.has_wildcards() { fitting(&name, "") } else { vec![name.text()] }).collect()
}

/// The documents that the last part of a pattern or name matches, in its own folder, or else in `folder`.
fn fitting(name: &Spelling, folder: &str) -> Vec<String> {
    let text = name.text();
    let folder = text.rsplit_once('/').map_or(folder, |(own, _)| own);
    let fits = GUARDED.iter().filter(|document| name.file_name().fits(document));
    fits.map(|document| if folder.is_empty() { (*document).to_owned() } else { format!("{folder}/{document}") })
        .collect()
}

/// The documents that another program may find. The folders it searches are among the words, but are not meant.
fn found(words: &[Argument]) -> Vec<String> {
    let names = words.iter().flat_map(Argument::names).filter(Spelling::is_known);
    names.flat_map(|name| fitting(&name, ".planning")).collect()
}

/// The files that a program changes in place, removes, or replaces with an earlier version.
fn changed_in_place(run: &Run) -> Vec<(String, Content)> {
    let all = |names: Vec<String>, content: &Content| -> Vec<(String, Content)> {
        names.into_iter().map(|name| (name, content.clone())).collect()
    };
    match run.program.as_str() {
        "rm" | "unlink" | "shred" if run.is_found || run.is_handed_input => {
            all(found(&run.arguments), &Content::Removed)
        }
        // Everything in a folder counts as the folder.
        "rm" | "unlink" | "shred" => {
            let names = names(&run.arguments).into_iter();
            all(names.map(|name| name.strip_suffix("/*").unwrap_or(&name).to_owned()).collect(), &Content::Removed)
        }
        "find" if run.arguments.iter().any(|word| word.is("-delete")) => all(sought(&run.arguments), &Content::Removed),
        "sed" | "gsed" if run.arguments.iter().any(|word| is_in_place(&word.shown())) => {
            let mut words = names(&run.arguments);
            // The suffix of `-i ''` is a separate word on some systems.
            words.retain(|word| !word.is_empty());
            if words.is_empty() {
                return Vec::new();
            }
            let script = words.remove(0);
            script::left_by(&script, is_quiet(run)).map_or_else(Vec::new, |content| all(words, &content))
        }
        "git" => GitLine::of(run).map_or_else(Vec::new, |call| older(&call)),
        "ed" | "red" | "ex" | "vi" | "vim" | "nvim" => {
            let commands: Vec<String> = run.arguments.iter().map(Argument::shown).chain(run.input.clone()).collect();
            let left = commands.iter().flat_map(|text| text.lines()).find_map(script::left_by_editor);
            left.map_or_else(Vec::new, |content| all(names(&run.arguments), &content))
        }
        "awk" | "gawk" | "perl" | "ruby" if changes_in_place(run) => {
            let left = run.arguments.iter().map(Argument::shown).find_map(|text| script::kept_by_number(&text));
            left.map_or_else(Vec::new, |lines| all(names(&run.arguments), &Content::Lines(lines)))
        }
        "curl" | "pandoc" => all(values(run, &['o'], &["--output"]), &Content::Foreign),
        "wget" => all(values(run, &['O'], &["--output-document"]), &Content::Foreign),
        "openssl" => all(values(run, &[], &["-out"]), &Content::Foreign),
        "sort" => {
            let targets = values(run, &['o'], &["--output"]);
            let names = names(&run.arguments);
            let is_sorted = |target: &String| names.iter().filter(|name| *name == target).count() > 1;
            all(targets.into_iter().filter(|target| !is_sorted(target)).collect(), &Content::Foreign)
        }
        "tar" | "bsdtar" if run.arguments.first().is_some_and(|word| is_extracting(&word.shown())) => {
            all(names(run.arguments.get(1..).unwrap_or_default()), &Content::Foreign)
        }
        "unzip" if !run.arguments.iter().any(|word| is_listing(&word.shown())) => {
            all(names(&run.arguments), &Content::Foreign)
        }
        "script" => all(names(&run.arguments), &Content::Foreign),
        "ln" => all(names(&run.arguments).pop().into_iter().collect(), &Content::Foreign),
        program if is_interpreter(program) => {
            let code: Vec<String> = run.arguments.iter().map(Argument::shown).chain(run.input.clone()).collect();
            code.iter().flat_map(|code| script::written_by_code(code)).collect()
        }
        _ => Vec::new(),
    }
}

fn is_interpreter(program: &str) -> bool {
    program.starts_with("python")
        || matches!(program, "node" | "deno" | "bun" | "tsx" | "perl" | "ruby" | "php" | "lua")
}

/// True if the first word of a call of `tar` extracts files from an archive.
fn is_extracting(word: &str) -> bool {
    !word.starts_with("--") && word.contains('x') && !word.contains('c')
}

/// True if an option of `unzip` keeps it from writing files.
fn is_listing(word: &str) -> bool {
    word.starts_with('-') && word.contains(['l', 'p', 't', 'v', 'Z'])
}

/// True if an option of `awk`, `perl` or `ruby` makes it change its files.
fn changes_in_place(run: &Run) -> bool {
    let words: Vec<String> = run.arguments.iter().map(Argument::shown).collect();
    if run.program.ends_with("awk") {
        return words.windows(2).any(|pair| pair[0] == "-i" && pair[1] == "inplace");
    }
    let flags = |word: &String| {
        word.strip_prefix('-')
            .is_some_and(|flags| flags.split(['e', 'E']).next().is_some_and(|flags| flags.contains('i')))
    };
    words.iter().any(flags)
}

/// The values of an option: `-o name`, `-so name`, `--output name`, `--output=name`.
fn values(run: &Run, short: &[char], long: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    let mut words = run.arguments.iter();
    while let Some(word) = words.next() {
        let text = word.shown();
        let is_short = text.starts_with('-') && !text.starts_with("--") && text.ends_with(short);
        if is_short || long.contains(&text.as_str()) {
            found.extend(words.next().map(documents).unwrap_or_default());
        } else if let Some((_, value)) = text.split_once('=').filter(|(name, _)| long.contains(name)) {
            found.push(value.to_owned());
        }
    }
    found
}

/// The documents that `find` is asked for, in the folders that it searches; the folders, if it is asked for everything.
fn sought(words: &[Argument]) -> Vec<String> {
    let texts: Vec<String> = words.iter().map(Argument::shown).collect();
    let places: Vec<&String> = texts.iter().take_while(|text| !text.starts_with(['-', '!', '('])).collect();
    let wanted = texts.windows(2).filter(|pair| matches!(pair[0].as_str(), "-name" | "-iname"));
    let patterns: Vec<Spelling> = wanted.map(|pair| Spelling::pattern(&pair[1])).collect();
    let only_types = texts
        .iter()
        .filter(|text| text.starts_with('-'))
        .all(|text| matches!(text.as_str(), "-delete" | "-type" | "-mindepth" | "-depth"));
    if patterns.is_empty() {
        return if only_types { places.into_iter().cloned().collect() } else { Vec::new() };
    }
    patterns.iter().flat_map(|pattern| fitting(pattern, ".planning")).collect()
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

/// The files that `git checkout` and `git restore` replace with those of a commit before the last, and those that git
/// removes.
fn older(call: &GitLine<'_>) -> Vec<(String, Content)> {
    let words: Vec<String> = call.arguments.iter().map(Argument::shown).collect();
    let dashes = words.iter().position(|word| word == "--");
    let before = &words[..dashes.unwrap_or(words.len())];
    let commit = match call.verb.as_str() {
        "checkout" => before.iter().find(|word| !word.starts_with('-')),
        "restore" => return older_of_restore(&words),
        "clean" if call.has(&["force"], &['f']) && !call.has(&["dry-run"], &['n']) => {
            let names = words.iter().filter(|word| !word.starts_with('-'));
            return names.map(|name| (name.clone(), Content::Removed)).collect();
        }
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

/// True if a name is a commit before the last, and not a branch or the last one.
fn is_older(commit: &str) -> bool {
    let is_digest = commit.len() >= 7 && commit.chars().all(|letter| letter.is_ascii_hexdigit());
    is_digest || commit.contains(['~', '^']) || commit.contains("@{")
}

/// The output of a program.
fn content(run: &Run) -> Option<Content> {
    match run.program.as_str() {
        "" if run.reads.is_empty() => Some(Content::Lines(0)),
        ":" | "true" => Some(Content::Lines(0)),
        "head" | "tail" => most_lines(run).map(Content::Lines),
        "awk" | "gawk" | "mawk" | "perl" | "ruby" => {
            run.arguments.iter().find_map(|word| script::kept_by_number(&word.shown())).map(Content::Lines)
        }
        "grep" | "egrep" | "fgrep" => picked(run),
        "git" => of_commit(run),
        "curl" | "wget" => Some(Content::Foreign),
        "jq" if run.arguments.iter().any(|word| word.is("-n") || word.is("--null-input")) => Some(Content::Foreign),
        "exec" if run.arguments.is_empty() => Some(Content::Foreign),
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

/// The output of `git show COMMIT:FILE`. The last version of the target file is not a loss.
fn of_commit(run: &Run) -> Option<Content> {
    let call = GitLine::of(run).filter(|call| matches!(call.verb.as_str(), "show" | "cat-file"))?;
    let named = call.arguments.iter().map(Argument::shown).find(|word| word.contains(':') && !word.starts_with('-'))?;
    let (commit, file) = named.split_once(':')?;
    let is_target = |written: &FileWritten| written.file.text().is_some_and(|name| name == file);
    let is_last = !is_older(commit) && run.writes.iter().any(is_target);
    (!is_last).then(|| Content::Older(named.clone()))
}

/// The lines of one file that `grep` selects by a text without special characters.
fn picked(run: &Run) -> Option<Content> {
    let (options, words): (Vec<String>, Vec<String>) =
        run.arguments.iter().map(Argument::shown).partition(|word| word.starts_with('-'));
    if options.iter().any(|option| option != "-n" && option != "-E" && option != "-F") {
        return None;
    }
    let [pattern, file] = words.as_slice() else { return None };
    let (text, at_start) = pattern.strip_prefix('^').map_or((pattern.as_str(), false), |text| (text, true));
    let is_plain = !text.is_empty() && text.chars().all(|letter| letter.is_alphanumeric() || "# -_:".contains(letter));
    is_plain.then(|| Content::Picked { file: file.clone(), text: text.to_owned(), at_start })
}

/// The most lines that `echo` prints: some shells convert `\n` to a line break without being asked to.
fn echoed(run: &Run) -> Option<usize> {
    let known = |word: &Argument| word.spellings.iter().all(Spelling::is_known).then(|| word.shown());
    let texts: Option<Vec<String>> = run.arguments.iter().map(|word| word.text().or_else(|| known(word))).collect();
    let lines = texts?.iter().map(|text| breaks(text)).sum::<Option<usize>>()?;
    Some(lines.saturating_add(1))
}

/// The most lines that `printf` prints: the format is used again until all values are used.
fn formatted(run: &Run) -> Option<usize> {
    let (format, values) = run.arguments.split_first()?;
    let format = format.text()?;
    let taken = format.replace("%%", "").matches('%').count();
    let mut lines = 1_usize;
    for value in values {
        // The expansion of a pattern is unknown.
        let is_many = value.spellings.iter().any(Spelling::has_wildcards) || value.names().nth(1).is_some();
        let value = value.text().filter(|value| !is_many && !value.contains(".."))?;
        lines = lines.saturating_add(breaks(&value)?);
    }
    let times = values.len().div_ceil(taken.max(1)).max(1);
    Some(lines.saturating_add(breaks(&format)?.saturating_mul(times)))
}

/// How many line breaks a text has, literal or escaped; `None` if they may be written as numbers.
fn breaks(text: &str) -> Option<usize> {
    let by_number = ["\\0", "\\1", "\\x", "\\u"].iter().any(|start| text.contains(start));
    (!by_number).then(|| text.matches('\n').count() + text.matches("\\n").count())
}

fn files(words: &[Argument]) -> Option<Content> {
    let files: Option<Vec<String>> = words.iter().map(Argument::text).collect();
    let files = files.filter(|files| !files.is_empty() && files.iter().all(|file| !file.starts_with('-')))?;
    Some(Content::OfFiles(files.into_iter().filter(|file| file != "/dev/null").collect()))
}

/// The most lines that `head` and `tail` print: `-5`, `-n 5`, `-n5`.
fn most_lines(run: &Run) -> Option<usize> {
    let mut words = run.arguments.iter().map(Argument::shown);
    while let Some(word) = words.next() {
        let Some(option) = word.strip_prefix('-') else { continue };
        let number = match option.strip_prefix('n').or_else(|| option.strip_prefix("-lines=")) {
            Some("") => words.next()?,
            Some(number) => number.to_owned(),
            None if option == "-lines" => words.next()?,
            None if option.starts_with(|first: char| first.is_ascii_digit()) => option.to_owned(),
            // It counts bytes, or leaves something out.
            None if option.starts_with('c') || option.starts_with("-bytes") => return None,
            None => continue,
        };
        // `-n -5` (all but five) and `-n +5` (from line five on) give no fixed number.
        return if number.starts_with('+') { None } else { number.parse().ok() };
    }
    Some(10)
}

/// The words of `truncate` without a size that is a separate word.
fn without_size(words: &[Argument]) -> Vec<Argument> {
    let is_flag = |word: &Argument| matches!(word.shown().as_str(), "-s" | "--size");
    let is_size = |at: usize| at.checked_sub(1).is_some_and(|before| is_flag(&words[before]));
    words.iter().enumerate().filter(|(at, _)| !is_size(*at)).map(|(_, word)| word.clone()).collect()
}

/// How many bytes `truncate` leaves of its files; `None` if it makes them longer, or as long as another one.
fn truncated(run: &Run) -> Option<u64> {
    let words: Vec<String> = run.arguments.iter().map(Argument::shown).collect();
    let size = words.iter().enumerate().find_map(|(at, word)| match word.as_str() {
        "-s" | "--size" => words.get(at + 1).cloned(),
        word => word.strip_prefix("--size=").or_else(|| word.strip_prefix("-s")).map(str::to_owned),
    })?;
    let size = size.strip_prefix('<').unwrap_or(&size);
    if !size.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    let digits = size.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = match size[digits.len()..].chars().next().map(|unit| unit.to_ascii_uppercase()) {
        None => 1,
        Some('K') => 1 << 10,
        Some('M') => 1 << 20,
        Some(_) => return None,
    };
    digits.parse::<u64>().ok().map(|size| size.saturating_mul(unit))
}

/// The file that a program replaces, and the files that replace it.
fn copied(run: &Run) -> Option<(String, Vec<String>)> {
    let of_git = GitLine::of(run).filter(|call| call.verb == "mv");
    let arguments = match (&of_git, run.program.as_str()) {
        (Some(call), _) => call.arguments,
        (None, "cp" | "mv" | "install" | "rsync") => &run.arguments[..],
        _ => return None,
    };
    let words: Option<Vec<String>> = arguments.iter().map(Argument::text).collect();
    let mut words: Vec<String> = words?;
    if run.program == "install" {
        // The mode and the owner are separate words.
        for option in ["-m", "-o", "-g", "-S"] {
            if let Some(at) = words.iter().position(|word| word == option) {
                words.drain(at..words.len().min(at + 2));
            }
        }
    }
    words.retain(|word| !word.starts_with('-'));
    let target = words.pop()?;
    match words.as_slice() {
        [_] => Some((target, words)),
        _ => None,
    }
}
