//! The commands by which the plans of a phase check their own work: whether they can run where they say.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use crate::project::files::FileError;
use crate::project::folder::PhaseFolder;
use crate::project::plan::{PhasePlan, PlanCheck, PlanTask};
use crate::project::view::ProjectView;

/// What `check verify-command-paths` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CommandPathsReport {
    /// Of all commands: `broken` before `unresolvable` before `ok`; without one that could be looked up `not_checked`,
    /// or `not_applicable`.
    status: PathStatus,
    commands: Vec<CommandPath>,
    counts: CheckCounts,
    /// Why the plans could not be looked at.
    #[serde(rename = "readError")]
    read_error: Option<String>,
}

impl CommandPathsReport {
    /// What is wrong: whether it must be repaired, the plan, and a sentence.
    pub(crate) fn findings(&self) -> Vec<(bool, String, String)> {
        let wrong = self.commands.iter().filter(|command| command.severity != Severity::None);
        wrong
            .map(|command| {
                let place = command.raw_target.as_deref().unwrap_or(".");
                let script = command.script.as_deref().unwrap_or_default();
                let why = match command.reason {
                    Some(PathReason::MissingDir) => format!("`{place}` does not exist"),
                    Some(PathReason::NoManifest) => format!("`{place}` has no {MANIFEST}"),
                    Some(PathReason::ScriptMissing) => format!("`{place}` has no script `{script}`"),
                    Some(PathReason::FileMissing) => format!("`{script}` does not exist and no plan writes it"),
                    Some(PathReason::OutsideRoot) => format!("`{place}` is outside the project"),
                    Some(PathReason::DynamicPath) | None => format!("the folder it runs in is unknown: `{place}`"),
                };
                let sentence = format!("`{}` cannot run: {why}", command.command);
                (command.severity == Severity::Blocker, command.plan.clone(), sentence)
            })
            .collect()
    }
}

/// One command, the folder it runs in and what it runs there.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CommandPath {
    command: String,
    status: PathStatus,
    severity: Severity,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<PathReason>,
    /// How the command names its folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    form: Option<Form>,
    /// The folder as it is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    raw_target: Option<String>,
    /// The folder itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    /// The file of the folder that the command needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    manifest: Option<&'static str>,
    /// The script that is run: a file, or a name in the manifest.
    #[serde(skip_serializing_if = "Option::is_none")]
    script: Option<String>,
    /// It stands for a command that an earlier task makes.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    sentinel: bool,
    /// The folder that relative paths start from, where the command names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    base: Option<String>,
    plan: String,
    task: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum PathStatus {
    /// Its folder is there.
    Ok,
    Broken,
    Unresolvable,
    /// It names no folder, and what it runs is there.
    Resolved,
    /// A known program, and only running it would tell; or a plan of the phase writes what it runs.
    NotChecked,
    NotApplicable,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum PathReason {
    MissingDir,
    NoManifest,
    ScriptMissing,
    /// No such script file, and no plan of the phase writes it.
    FileMissing,
    OutsideRoot,
    /// Only a shell can tell the folder.
    DynamicPath,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Form {
    Cd,
    Prefix,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Severity {
    None,
    Warning,
    Blocker,
}

/// How many findings there are, and how many commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct CheckCounts {
    pub(super) blocker: usize,
    warning: usize,
    total: usize,
}

/// What there is at a folder's path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FolderFacts {
    pub(crate) absolute: String,
    /// None where there is no such folder.
    pub(crate) found: Option<FoundFolder>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FoundFolder {
    pub(crate) in_project: bool,
    /// The text of its package.json.
    pub(crate) package: Option<String>,
}

const MANIFEST: &str = "package.json";

/// Why a phase's plans cannot be looked at.
pub(crate) fn unresolved(phase: Option<&str>, verb: &str) -> String {
    match phase {
        None => format!("`check {verb}` needs a phase"),
        Some(phase) => format!("phase {phase} has no folder"),
    }
}

/// The report that says so.
pub(crate) fn paths_unresolved(why: String) -> CommandPathsReport {
    let counts = CheckCounts::default();
    CommandPathsReport { status: PathStatus::Unresolvable, commands: Vec::new(), counts, read_error: Some(why) }
}

/// What is on disk, by paths from the project's root.
pub(crate) struct SourceTree<F, I> {
    pub(crate) folder: F,
    pub(crate) is_file: I,
}

/// Whether the commands of a phase's plans run in folders that are there, and run what is there.
pub(crate) fn paths(
    view: &ProjectView,
    folder: &PhaseFolder,
    base: &str,
    disk: &SourceTree<impl Fn(&str) -> FolderFacts, impl Fn(&str) -> bool>,
) -> Result<CommandPathsReport, FileError> {
    let tree = Tree { look: &disk.folder, is_file: &disk.is_file, planned: planned_files(view, folder)? };
    let mut commands = Vec::new();
    for (plan, check) in checks(view, folder)? {
        if let Some(command) = check.command {
            let found = judge(&command, &tree);
            commands.push(CommandPath {
                status: found.status,
                severity: found.severity,
                reason: found.reason,
                form: found.form,
                raw_target: found.raw,
                target: found.target,
                manifest: found.manifest,
                script: found.script,
                sentinel: is_sentinel(&command),
                base: found.form.map(|_| base.to_owned()),
                plan,
                task: check.task,
                command,
            });
        }
    }
    let any = |status: &PathStatus| commands.iter().any(|command| command.status == *status);
    let status = match [PathStatus::Broken, PathStatus::Unresolvable, PathStatus::Ok, PathStatus::Resolved]
        .into_iter()
        .chain([PathStatus::NotChecked])
        .find(any)
    {
        Some(PathStatus::Resolved) => Some(PathStatus::Ok),
        status => status,
    };
    let counts = CheckCounts::of(commands.iter().map(|command| command.severity));
    let status = status.unwrap_or(if commands.is_empty() { PathStatus::Ok } else { PathStatus::NotApplicable });
    Ok(CommandPathsReport { status, commands, counts, read_error: None })
}

/// The checks of the plans that still count, with the name of the plan.
pub(super) fn checks(view: &ProjectView, folder: &PhaseFolder) -> Result<Vec<(String, PlanCheck)>, FileError> {
    let mut found = Vec::new();
    for (plan, text) in view.plan_texts(folder)? {
        let checks = PhasePlan::parse(&text).checks();
        found.extend(checks.into_iter().map(|check| (plan.clone(), check)));
    }
    Ok(found)
}

impl CheckCounts {
    pub(super) fn of(severities: impl Iterator<Item = Severity>) -> Self {
        severities.fold(Self::default(), |counts, severity| Self {
            blocker: counts.blocker + usize::from(severity == Severity::Blocker),
            warning: counts.warning + usize::from(severity == Severity::Warning),
            total: counts.total + 1,
        })
    }
}

/// `MISSING — …`: an earlier task makes the command.
pub(super) fn is_sentinel(command: &str) -> bool {
    command.strip_prefix("MISSING").is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
}

/// What there is and will be around the commands.
struct Tree<'a> {
    look: &'a dyn Fn(&str) -> FolderFacts,
    is_file: &'a dyn Fn(&str) -> bool,
    /// The files that the plans of the phase write.
    planned: BTreeSet<String>,
}

impl Tree<'_> {
    /// What is known of a script by its path.
    fn script(&self, path: &str) -> PathStatus {
        if (self.is_file)(path) {
            PathStatus::Resolved
        } else if self.is_planned(path) {
            PathStatus::NotChecked
        } else {
            PathStatus::Broken
        }
    }

    fn is_planned(&self, path: &str) -> bool {
        self.planned.contains(path.trim_start_matches("./"))
    }
}

/// The files that the plans of a phase that still count write.
fn planned_files(view: &ProjectView, folder: &PhaseFolder) -> Result<BTreeSet<String>, FileError> {
    let mut planned = BTreeSet::new();
    for (_, text) in view.plan_texts(folder)? {
        let plan = PhasePlan::parse(&text);
        let of_tasks = plan.tasks();
        let of_tasks = of_tasks.iter().flat_map(PlanTask::files).map(str::to_owned);
        planned.extend(of_tasks.chain(plan.files_modified()).map(|file| file.trim_start_matches("./").to_owned()));
    }
    Ok(planned)
}

/// What a simple command of a known program runs.
#[derive(Debug)]
enum Runs {
    /// A script by its path.
    File(String),
    /// A script of a package.json.
    PackageScript(String),
    /// Whatever this file in the folder says.
    By(&'static str),
    /// Only running it would tell.
    Unknown,
}

fn runs_of(words: &[String]) -> Option<Runs> {
    let is_setting = |word: &&String| word.split_once('=').is_some_and(|(name, _)| is_variable(name));
    let words = &words[words.iter().take_while(is_setting).count()..];
    let (program, rest) = words.split_first()?;
    let first = rest.first().map(String::as_str);
    Some(match program.as_str() {
        "python" | "python3" | "node" | "bash" | "sh" | "ruby" => match first {
            Some(path) if !path.starts_with('-') && !path.contains(['$', '`', '*', '<']) => {
                Runs::File(path.trim_matches(['"', '\'']).to_owned())
            }
            _ => Runs::Unknown,
        },
        "npm" | "pnpm" | "yarn" => match (first, rest.get(1)) {
            (Some("run" | "run-script"), Some(name)) if !name.starts_with('-') && !name.contains('$') => {
                Runs::PackageScript(name.clone())
            }
            (Some(name @ ("test" | "start")), _) => Runs::PackageScript(name.to_owned()),
            _ => Runs::Unknown,
        },
        "cargo" => Runs::By("Cargo.toml"),
        "go" => Runs::By("go.mod"),
        "npx" | "pytest" => Runs::Unknown,
        _ => return None,
    })
}

/// Whether a simple command makes files that those after it may run: it builds or installs something.
fn makes_files(words: &[String]) -> bool {
    const STARTS: &[&str] = &["build", "install", "compile", "bundle", "generate"];
    words.iter().take(4).any(|word| {
        let name = word.trim_matches(['"', '\'']);
        matches!(
            name,
            "ci" | "i" | "make" | "cmake" | "tsc" | "webpack" | "vite" | "rollup" | "esbuild" | "mvn" | "gradle"
        ) || STARTS.iter().any(|start| name.starts_with(start))
    })
}

fn is_variable(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Judges a command that names no folder: it runs in the project's root.
fn judge_in_root(command: &str, tree: &Tree<'_>, found: &mut Found) {
    let mut made = false;
    for words in simple_commands(command) {
        let after_build = made;
        made |= makes_files(&words);
        let status = match runs_of(&words) {
            None => continue,
            Some(Runs::By(manifest)) if (tree.is_file)(manifest) => PathStatus::Resolved,
            Some(Runs::Unknown | Runs::By(_)) => PathStatus::NotChecked,
            Some(Runs::File(path)) => {
                let status = match tree.script(&path) {
                    PathStatus::Broken if after_build => PathStatus::NotChecked,
                    status => status,
                };
                if status == PathStatus::Broken {
                    found.reason = Some(PathReason::FileMissing);
                }
                found.script = Some(path);
                status
            }
            Some(Runs::PackageScript(name)) => {
                let package = (tree.look)(".").found.and_then(|root| root.package);
                let status = match package {
                    Some(package) if has_script(&package, &name) => PathStatus::Resolved,
                    _ if tree.is_planned(MANIFEST) => PathStatus::NotChecked,
                    Some(_) => {
                        found.reason = Some(PathReason::ScriptMissing);
                        PathStatus::Broken
                    }
                    None => {
                        found.reason = Some(PathReason::NoManifest);
                        PathStatus::Broken
                    }
                };
                found.script = Some(name);
                status
            }
        };
        // What cannot be told of one part cannot be told of the whole; what is broken is broken.
        if found.status != PathStatus::NotChecked || status == PathStatus::Broken {
            found.status = status;
        }
        if status == PathStatus::Broken {
            found.severity = Severity::Blocker;
            return;
        }
    }
}

/// What was found about one command.
#[derive(Debug)]
struct Found {
    status: PathStatus,
    severity: Severity,
    reason: Option<PathReason>,
    form: Option<Form>,
    raw: Option<String>,
    target: Option<String>,
    manifest: Option<&'static str>,
    script: Option<String>,
}

fn judge(command: &str, tree: &Tree<'_>) -> Found {
    let mut found = Found {
        status: PathStatus::NotApplicable,
        severity: Severity::None,
        reason: None,
        form: None,
        raw: None,
        target: None,
        manifest: None,
        script: None,
    };
    let Some(Place { form, raw, rest }) = place_of(command) else {
        judge_in_root(command, tree, &mut found);
        return found;
    };
    found.form = Some(form);
    let bare: String = raw.chars().filter(|letter| !matches!(letter, '"' | '\'')).collect();
    found.raw = Some(raw);
    let mut verdict = |status, severity, reason| {
        found.status = status;
        found.severity = severity;
        found.reason = Some(reason);
    };
    if bare.contains(['$', '`', '*']) || bare.starts_with('~') || bare == "-" {
        verdict(PathStatus::Unresolvable, Severity::Warning, PathReason::DynamicPath);
        return found;
    }
    let facts = (tree.look)(&bare);
    let runner = runner_of(&rest);
    match facts.found {
        None => verdict(PathStatus::Broken, Severity::Blocker, PathReason::MissingDir),
        Some(folder) if !folder.in_project && !bare.starts_with('/') => {
            verdict(PathStatus::Ok, Severity::Warning, PathReason::OutsideRoot);
        }
        Some(folder) => match (runner, folder.package) {
            (None, _) if !folder.in_project => verdict(PathStatus::Ok, Severity::Warning, PathReason::OutsideRoot),
            (None, _) => found.status = PathStatus::Ok,
            (Some(_), None) => verdict(PathStatus::Broken, Severity::Blocker, PathReason::NoManifest),
            (Some(scripts), Some(package)) => {
                found.status = PathStatus::Ok;
                found.manifest = Some(MANIFEST);
                let missing = scripts.iter().find(|script| !has_script(&package, script));
                if missing.is_some() {
                    found.severity = Severity::Warning;
                    found.reason = Some(PathReason::ScriptMissing);
                }
                found.script = missing.or(scripts.first()).cloned();
            }
        },
    }
    found.target = Some(facts.absolute);
    if found.status == PathStatus::Ok && !bare.starts_with('/') {
        let scripts = rest.iter().take_while(|words| !makes_files(words)).filter_map(|words| match runs_of(words) {
            Some(Runs::File(path)) => Some(path),
            _ => None,
        });
        let inside = |path: &str| if path.starts_with('/') { path.to_owned() } else { format!("{bare}/{path}") };
        for path in scripts {
            if tree.script(&inside(&path)) == PathStatus::Broken {
                found.status = PathStatus::Broken;
                found.severity = Severity::Blocker;
                found.reason = Some(PathReason::FileMissing);
                found.script = Some(path);
                break;
            }
        }
    }
    found
}

/// The folder a command names, and what runs there.
#[derive(Debug)]
struct Place {
    form: Form,
    raw: String,
    /// The simple commands that run there, as words.
    rest: Vec<Vec<String>>,
}

fn place_of(command: &str) -> Option<Place> {
    let mut simple = simple_commands(command).into_iter().peekable();
    let mut raw: Option<String> = None;
    while let Some(words) = simple.next_if(|words| words.len() == 2 && words[0] == "cd") {
        let folder = &words[1];
        raw = Some(match raw {
            Some(above) if !folder.starts_with('/') => format!("{}/{folder}", above.trim_end_matches('/')),
            _ => folder.clone(),
        });
    }
    if let Some(raw) = raw {
        return Some(Place { form: Form::Cd, raw, rest: simple.collect() });
    }
    let first = simple.next()?;
    if !RUNNERS.contains(&first.first()?.as_str()) {
        return None;
    }
    let own: Vec<String> = first.into_iter().take_while(|word| word != "--").collect();
    let at = own.iter().position(|word| word == "--prefix" || word.starts_with("--prefix="))?;
    let (raw, taken) = match own[at].strip_prefix("--prefix=") {
        Some(attached) => (attached.to_owned(), 1),
        None => (own.get(at + 1)?.clone(), 2),
    };
    let words = own.into_iter().enumerate().filter(|(index, _)| !(at..at + taken).contains(index));
    Some(Place { form: Form::Prefix, raw, rest: vec![words.map(|(_, word)| word).collect()] })
}

/// Programs that look for a package.json.
const RUNNERS: &[&str] = &["npm", "npx", "pnpm", "yarn"];

/// The scripts that are run by name; none where nothing needs a package.json.
fn runner_of(commands: &[Vec<String>]) -> Option<Vec<String>> {
    let runs = commands.iter().filter(|words| words.first().is_some_and(|word| RUNNERS.contains(&word.as_str())));
    let runs: Vec<&Vec<String>> = runs.collect();
    if runs.is_empty() {
        return None;
    }
    let script = |words: &&Vec<String>| {
        let at = words.iter().position(|word| matches!(word.as_str(), "run" | "run-script"))?;
        words.get(at + 1).filter(|name| !name.starts_with('-') && !name.contains('$')).cloned()
    };
    Some(runs.iter().filter_map(script).collect())
}

/// A package.json that does not parse is not told to lack a script.
fn has_script(package: &str, script: &str) -> bool {
    match serde_json::from_str::<serde_json::Value>(package) {
        Ok(package) => package.get("scripts").and_then(|scripts| scripts.get(script)).is_some(),
        Err(_) => true,
    }
}

/// The simple commands of a line as words; a word in quotes keeps them, and what is between them.
fn simple_commands(line: &str) -> Vec<Vec<String>> {
    let mut commands = vec![Vec::new()];
    let mut word = String::new();
    let mut quote = None;
    for letter in line.chars() {
        match (quote, letter) {
            (Some(open), _) => {
                word.push(letter);
                if letter == open {
                    quote = None;
                }
            }
            (None, '"' | '\'') => {
                word.push(letter);
                quote = Some(letter);
            }
            (None, '&' | ';' | '|' | '\n') => {
                take_word(&mut word, &mut commands);
                commands.push(Vec::new());
            }
            (None, letter) if letter.is_whitespace() => take_word(&mut word, &mut commands),
            (None, letter) => word.push(letter),
        }
    }
    take_word(&mut word, &mut commands);
    commands.retain(|words| !words.is_empty());
    commands
}

fn take_word(word: &mut String, commands: &mut [Vec<String>]) {
    if let Some(words) = commands.last_mut()
        && !word.is_empty()
    {
        words.push(std::mem::take(word));
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    const PHASE: &str = ".planning/phases/01-a";

    fn plan(checks: &str) -> String {
        format!("---\nphase: 1\n---\n<tasks>\n<task><name>T</name><verify>{checks}</verify></task>\n</tasks>\n")
    }

    pub(in crate::operations) fn with_plan<R>(checks: &str, ask: impl FnOnce(&ProjectView, &PhaseFolder) -> R) -> R {
        let plan = plan(checks).replace("phase: 1", "phase: 1\nfiles_modified: [tools/new.py]");
        let old = plan.replace("phase: 1", "status: superseded");
        let files =
            [(".planning/phases/01-a/01-01-PLAN.md", plan.as_str()), (".planning/phases/01-a/01-02-PLAN.md", &old)];
        let view = ProjectView::of(files);
        let folder = view.folder_at(PHASE, None).unwrap().unwrap();
        ask(&view, &folder)
    }

    fn facts(path: &str) -> FolderFacts {
        let found =
            |in_project, package: Option<&str>| Some(FoundFolder { in_project, package: package.map(str::to_owned) });
        FolderFacts {
            absolute: format!("/p/{path}"),
            found: match path {
                "." => found(true, Some(r#"{"scripts": {"test": "x"}}"#)),
                "app" => found(true, Some(r#"{"scripts": {"build": "x"}}"#)),
                "broken" => found(true, Some("{")),
                "src" => found(true, None),
                ".." => found(false, None),
                _ => None,
            },
        }
    }

    fn is_file(path: &str) -> bool {
        ["tools/old.py", "app/run.sh", "Cargo.toml", "/usr/bin/x"].contains(&path)
    }

    fn told(command: &str) -> String {
        with_plan(&format!("<automated>{command}</automated>"), |view, folder| {
            let report = paths(view, folder, "/p", &SourceTree { folder: facts, is_file }).unwrap();
            assert_eq!(report.counts.total, 1);
            let found = &report.commands[0];
            format!("{:?} {:?} {:?} {:?}", found.status, found.severity, found.reason, found.script)
        })
    }

    #[test]
    fn a_command_runs_where_it_says() {
        for (command, answer) in [
            ("ls && test -f x", "NotApplicable None None None"),
            ("cd app && npm run build", "Ok None None Some(\"build\")"),
            ("cd app; npm ci && npm run nope", "Ok Warning Some(ScriptMissing) Some(\"nope\")"),
            ("cd app && cd nope && ls", "Broken Blocker Some(MissingDir) None"),
            ("cd \"app\" && cargo test", "Ok None None None"),
            ("cd src && npm test", "Broken Blocker Some(NoManifest) None"),
            ("cd .. && npm test", "Ok Warning Some(OutsideRoot) None"),
            ("cd $APP && npm test", "Unresolvable Warning Some(DynamicPath) None"),
            ("cd broken && npm run x", "Ok None None Some(\"x\")"),
            ("npm --prefix app run nope", "Ok Warning Some(ScriptMissing) Some(\"nope\")"),
            ("npm run build --prefix=nope", "Broken Blocker Some(MissingDir) None"),
            ("npm test -- --prefix nope", "Resolved None None Some(\"test\")"),
            ("cd app && bash run.sh", "Ok None None None"),
            ("cd app && bash nope.sh", "Broken Blocker Some(FileMissing) Some(\"nope.sh\")"),
            ("MISSING — the first task makes it", "NotApplicable None None None"),
            ("cd", "NotApplicable None None None"),
            ("cd 'app", "Ok None None None"),
        ] {
            assert_eq!(told(command), answer, "{command}");
        }
    }

    #[test]
    fn a_command_in_the_root_is_looked_up_by_what_it_runs() {
        for (command, answer) in [
            ("npm test", "Resolved None None Some(\"test\")"),
            ("CI=1 pnpm run test && ls", "Resolved None None Some(\"test\")"),
            ("npm run nope", "Broken Blocker Some(ScriptMissing) Some(\"nope\")"),
            ("npm ci", "NotChecked None None None"),
            ("python3 tools/old.py --all", "Resolved None None Some(\"tools/old.py\")"),
            ("python3 ./tools/new.py", "NotChecked None None Some(\"./tools/new.py\")"),
            ("python3 tools/none.py", "Broken Blocker Some(FileMissing) Some(\"tools/none.py\")"),
            ("pytest -q; node 'scripts/none.js'", "Broken Blocker Some(FileMissing) Some(\"scripts/none.js\")"),
            ("bash $SCRIPT", "NotChecked None None None"),
            ("python -m unittest", "NotChecked None None None"),
            ("cargo test", "Resolved None None None"),
            ("cargo test && pytest", "NotChecked None None None"),
            ("go test ./...", "NotChecked None None None"),
            ("npm ci && node dist/index.js", "NotChecked None None Some(\"dist/index.js\")"),
            ("CI=1 npm run test && npx tsc -p . && node dist/x.js", "NotChecked None None Some(\"dist/x.js\")"),
            ("node dist/index.js && npm ci", "Broken Blocker Some(FileMissing) Some(\"dist/index.js\")"),
        ] {
            assert_eq!(told(command), answer, "{command}");
        }
    }

    #[test]
    fn what_is_not_known_of_a_command_takes_no_room() {
        let told = with_plan("<automated>pytest</automated>", |view, folder| {
            serde_json::to_string(&paths(view, folder, "/p", &SourceTree { folder: facts, is_file }).unwrap().commands)
                .unwrap()
        });
        assert_eq!(
            told,
            r#"[{"command":"pytest","status":"not_checked","severity":"none","plan":"01-01-PLAN.md","task":"T"}]"#
        );
    }

    #[test]
    fn the_worst_command_is_the_answer() {
        let status = |checks: &str| {
            with_plan(checks, |view, folder| {
                paths(view, folder, "/p", &SourceTree { folder: facts, is_file }).unwrap().status
            })
        };
        let (good, bad, dynamic) =
            ("<automated>cd app</automated>", "<automated>cd no</automated>", "<automated>cd $X</automated>");
        assert_eq!(status(&format!("{good}{bad}{dynamic}")), PathStatus::Broken);
        assert_eq!(status(&format!("{good}{dynamic}")), PathStatus::Unresolvable);
        assert_eq!(status(good), PathStatus::Ok);
        assert_eq!(status(""), PathStatus::Ok);
        assert_eq!(status("<automated>ls</automated>"), PathStatus::NotApplicable);
        assert_eq!(status("<automated>pytest</automated>"), PathStatus::NotChecked);
        assert_eq!(status("<automated>pytest</automated><automated>cargo test</automated>"), PathStatus::Ok);
    }
}
