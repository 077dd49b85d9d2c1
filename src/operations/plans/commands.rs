//! Checks the commands with which the plans of a phase verify their work: whether they can run in their folder.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use super::calls::{is_variable, ungrouped, unmarked, with_builds};
use super::found::Found;
use super::index::listed_waves;
use crate::gate::makefile::{Makefile, makefile_of};
use crate::gate::package::leads_elsewhere;
use crate::project::files::{FileError, Files};
use crate::project::folder::{PhaseFolder, plan_id};
use crate::project::plan::{PhasePlan, PlanCheck, PlanTask};
use crate::project::view::ProjectView;

/// What `check verify-command-paths` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CommandPathsReport {
    /// The status of all commands: `broken` before `unresolvable` before `ok`; `not_checked` or `not_applicable` if no
    /// command could be looked up.
    status: PathStatus,
    commands: Vec<CommandPath>,
    counts: CheckCounts,
    /// Why the plans could not be read.
    #[serde(rename = "readError")]
    read_error: Option<String>,
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
    /// The folder as written.
    #[serde(skip_serializing_if = "Option::is_none")]
    raw_target: Option<String>,
    /// The resolved folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    /// The file in the folder that the command needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    manifest: Option<&'static str>,
    /// The script that runs: a file, or a name in the manifest.
    #[serde(skip_serializing_if = "Option::is_none")]
    script: Option<String>,
    /// It is a placeholder for a command that an earlier task creates.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    sentinel: bool,
    /// The folder from which relative paths start, if the command names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    base: Option<String>,
    plan: String,
    task: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum PathStatus {
    /// Its folder exists.
    Ok,
    Broken,
    Unresolvable,
    /// It does not name a folder, and what it runs exists.
    Resolved,
    /// A known program that would have to be run to know, or a plan of the phase writes what it runs.
    NotChecked,
    NotApplicable,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum PathReason {
    MissingDir,
    NoManifest,
    ScriptMissing,
    /// The makefile or justfile does not have the target.
    TargetMissing,
    /// The script file does not exist, and neither this plan nor an earlier one writes it.
    FileMissing,
    OutsideRoot,
    /// Only a shell can determine the folder.
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

/// The number of findings, and of commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct CheckCounts {
    pub(super) blocker: usize,
    warning: usize,
    total: usize,
}

/// What exists at the path of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FolderFacts {
    pub(crate) absolute: String,
    /// `None` if the folder does not exist.
    pub(crate) found: Option<FoundFolder>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FoundFolder {
    pub(crate) in_project: bool,
    /// The text of its package.json.
    pub(crate) package: Option<String>,
}

const MANIFEST: &str = "package.json";

/// A message that says why a phase's plans cannot be read.
pub(crate) fn unresolved(phase: Option<&str>, verb: &str) -> String {
    match phase {
        None => format!("`check {verb}` needs a phase"),
        Some(phase) => format!("phase {phase} has no folder"),
    }
}

/// The report with that message.
pub(crate) fn paths_unresolved(why: String) -> CommandPathsReport {
    let counts = CheckCounts::default();
    CommandPathsReport { status: PathStatus::Unresolvable, commands: Vec::new(), counts, read_error: Some(why) }
}

/// Access to the files on disk, by paths relative to the project's root.
pub(crate) struct SourceTree<F, I> {
    pub(crate) folder: F,
    pub(crate) is_file: I,
}

/// Checks whether the commands of a phase's plans run in existing folders, and whether what they run exists.
pub(crate) fn paths(
    view: &ProjectView,
    folder: &PhaseFolder,
    base: &str,
    disk: &SourceTree<impl Fn(&str) -> FolderFacts, impl Fn(&str) -> bool>,
) -> Result<CommandPathsReport, FileError> {
    let planned = Planned::read(view, folder)?;
    let mut commands = Vec::new();
    for (plan, check) in checks(view, folder)? {
        if let Some(command) = check.command {
            let files = planned.before(&plan);
            let found = judge(&command, &PlannedTree::new(disk, view.files(), &files))?;
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

/// The checks of the active plans, each with the name of its plan.
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

/// True for `MISSING — …`: an earlier task creates the command.
pub(super) fn is_sentinel(command: &str) -> bool {
    command.strip_prefix("MISSING").is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
}

/// The problem with the folder in which a command runs, for the linter.
pub(super) fn finding(check: &PlanCheck, tree: &PlannedTree<'_>, line: usize) -> Result<Option<Found>, FileError> {
    let Some(command) = &check.command else { return Ok(None) };
    let found = judge(unmarked(command), tree)?;
    let place = found.raw.as_deref().unwrap_or(".");
    let found = match found.reason {
        Some(PathReason::MissingDir) => Found::error(line, format!("`{command}` cannot run: `{place}` does not exist")),
        Some(PathReason::OutsideRoot) => {
            Found::warning(line, format!("`{command}` cannot run: `{place}` is outside the project"))
        }
        Some(PathReason::DynamicPath) => {
            Found::warning(line, format!("`{command}` cannot run: the folder it runs in is unknown: `{place}`"))
        }
        _ => return Ok(None),
    };
    Ok(Some(found))
}

/// The files that exist, or will exist, when the commands of a plan run.
pub(super) struct PlannedTree<'a> {
    look: &'a dyn Fn(&str) -> FolderFacts,
    is_file: &'a dyn Fn(&str) -> bool,
    files: &'a dyn Files,
    /// The files that are written before the commands run.
    planned: &'a BTreeSet<String>,
}

impl<'a> PlannedTree<'a> {
    pub(super) fn new(
        disk: &'a SourceTree<impl Fn(&str) -> FolderFacts, impl Fn(&str) -> bool>,
        files: &'a dyn Files,
        planned: &'a BTreeSet<String>,
    ) -> Self {
        Self { look: &disk.folder, is_file: &disk.is_file, files, planned }
    }

    /// The status of a script, by its path.
    fn script(&self, path: &str) -> PathStatus {
        if (self.is_file)(path) {
            PathStatus::Resolved
        } else if self.is_planned(path) {
            PathStatus::NotChecked
        } else {
            PathStatus::Broken
        }
    }

    pub(super) fn is_planned(&self, path: &str) -> bool {
        self.planned.contains(bare(path))
    }

    pub(super) fn is_file(&self, path: &str) -> bool {
        (self.is_file)(bare(path))
    }

    pub(super) fn is_folder(&self, path: &str) -> bool {
        (self.look)(bare(path)).found.is_some()
    }

    pub(super) fn files(&self) -> &dyn Files {
        self.files
    }

    /// The text of a file.
    pub(super) fn text(&self, path: &str) -> Result<Option<String>, FileError> {
        self.files.read(bare(path))
    }

    /// The files of the project, without those of dependencies and builds; `None` if there are very many.
    pub(super) fn paths(&self) -> Option<Vec<String>> {
        const MOST: usize = 20_000;
        const OF_OTHERS: &[&str] =
            &["node_modules", "target", "dist", "build", "out", "venv", "vendor", "coverage", "__pycache__"];
        let mut folders = vec![String::new()];
        let mut found = Vec::new();
        while let Some(folder) = folders.pop() {
            let path = |name: &str| if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
            for entry in self.files.list(&folder).ok().flatten().unwrap_or_default() {
                if !entry.is_folder {
                    found.push(path(&entry.name));
                } else if !entry.name.starts_with('.') && !OF_OTHERS.contains(&entry.name.as_str()) {
                    folders.push(path(&entry.name));
                }
            }
            if found.len() > MOST {
                return None;
            }
        }
        Some(found)
    }

    /// True if a file exists, or will exist when the commands run.
    pub(super) fn has(&self, path: &str) -> bool {
        self.is_file(path) || self.is_planned(path)
    }

    /// True if a file is written before the commands run whose path contains `part`.
    pub(super) fn plans_any(&self, part: &str) -> bool {
        self.planned.iter().any(|path| path.contains(bare(part)))
    }

    /// True if a file in this folder is written before the commands run.
    pub(super) fn plans_inside(&self, folder: &str) -> bool {
        let folder = bare(folder).trim_end_matches('/');
        self.planned.iter().any(|path| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')))
    }
}

/// A path in the form in which plans are compared.
pub(super) fn bare(path: &str) -> &str {
    path.trim().trim_start_matches("./")
}

/// The paths that an entry in a list of files means: `src\\a.ts`, `src/{a,b}.ts`.
pub(super) fn paths_of(entry: &str) -> Vec<String> {
    let path = bare(entry).trim_matches(['`', '*']).trim_end_matches([';', ':', '.']).replace('\\', "/");
    let Some((before, rest)) = path.split_once('{') else { return vec![path] };
    match rest.split_once('}') {
        Some((inside, behind)) if inside.contains(',') && !behind.contains('{') => {
            inside.split(',').map(|part| format!("{before}{}{behind}", part.trim())).collect()
        }
        _ => vec![path],
    }
}

/// The files that plans write, by plan.
pub(super) struct Planned {
    of_plans: BTreeMap<String, (u64, BTreeSet<String>)>,
    /// The files of the open plans of earlier phases.
    earlier: BTreeSet<String>,
}

impl Planned {
    /// Reads the active plans of a phase.
    pub(super) fn read(view: &ProjectView, folder: &PhaseFolder) -> Result<Self, FileError> {
        let waves = listed_waves(view, folder)?;
        let mut of_plans = BTreeMap::new();
        for (file, text) in view.plan_texts(folder)? {
            let wave = waves.get(plan_id(&file)).copied().unwrap_or(1);
            of_plans.insert(file, (wave, written_by(&PhasePlan::parse(&text))));
        }
        let mut earlier = BTreeSet::new();
        if folder.archived.is_none() {
            for other in view.phase_folders()?.iter().take_while(|other| other.path != folder.path) {
                for plan in view.open_plans(other)? {
                    let text = view.text(&other.join(&plan))?.unwrap_or_default();
                    earlier.extend(written_by(&PhasePlan::parse(&text)));
                }
            }
        }
        Ok(Self { of_plans, earlier })
    }

    /// The files that exist when the checks of a plan run: its own, and those of earlier waves and phases.
    pub(super) fn before(&self, plan: &str) -> BTreeSet<String> {
        let wave = self.of_plans.get(plan).map_or(1, |(wave, _)| *wave);
        let before = self.of_plans.iter().filter(|(other, (at, _))| other.as_str() == plan || *at < wave);
        before.flat_map(|(_, (_, files))| files).chain(&self.earlier).cloned().collect()
    }
}

/// The files that a plan writes.
pub(super) fn written_by(plan: &PhasePlan<'_>) -> BTreeSet<String> {
    let tasks = plan.tasks();
    let of_tasks = tasks.iter().flat_map(PlanTask::files).flat_map(paths_of);
    of_tasks.chain(plan.files_modified().iter().flat_map(|file| paths_of(file))).collect()
}

/// What a simple command of a known program runs.
#[derive(Debug)]
enum Runs {
    /// A script, by its path.
    File(String),
    /// A script of a package.json.
    PackageScript(String),
    /// A target of a makefile, or a recipe of a justfile.
    Target(Recipes, String),
    /// Whatever this file in the folder defines.
    By(&'static str),
    /// It is known only by running it.
    Unknown,
}

/// The kinds of files with named recipes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Recipes {
    Makefile,
    Justfile,
}

impl Recipes {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Makefile => "Makefile",
            Self::Justfile => "justfile",
        }
    }

    /// The names that the file can have.
    pub(super) fn names(self) -> &'static [&'static str] {
        match self {
            Self::Makefile => &["GNUmakefile", "makefile", "Makefile"],
            Self::Justfile => &["justfile", "Justfile", ".justfile"],
        }
    }

    /// True if `target` can be made in a folder, by this file or the one that is found. `folder` is empty or ends with
    /// `/`. `None` without such a file.
    pub(super) fn have(
        self,
        target: &str,
        folder: &str,
        file: Option<&str>,
        files: &dyn Files,
    ) -> Result<Option<bool>, FileError> {
        let mut text = None;
        if let Some(file) = file {
            text = files.read(&format!("{folder}{}", bare(file)))?;
        } else if self == Self::Makefile {
            text = makefile_of(files, folder)?.map(|(_, text)| text);
        } else {
            for name in self.names() {
                text = text.or(files.read(&format!("{folder}{name}"))?);
            }
        }
        let Some(text) = text else { return Ok(None) };
        if self == Self::Makefile {
            let makefile = Makefile::read(&text);
            let is_open = makefile.includes().next().is_some()
                || text.lines().any(|line| {
                    let names = line.split_once(':').map_or("", |(names, _)| names);
                    line.contains("$(eval") || names.contains('%') || (names.contains('$') && !names.contains('='))
                });
            return Ok(Some(is_open || makefile.has(target) || files.exists(&format!("{folder}{target}"))));
        }
        Ok(Some(text.lines().any(|line| {
            let line = line.trim_start_matches('@');
            let alias = line.strip_prefix("alias ").unwrap_or(line);
            let rest = alias.strip_prefix(target);
            let is_recipe = rest.is_some_and(|rest| rest.starts_with([' ', ':', '\t']) && rest.contains(':'));
            is_recipe || ["import ", "import? ", "mod ", "mod? "].iter().any(|word| line.starts_with(word))
        })))
    }
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
        // The script of another package, or of each package.
        "npm" | "pnpm" | "yarn" if rest.iter().take_while(|word| *word != "--").any(|word| is_of_others(word)) => {
            Runs::Unknown
        }
        "npm" | "pnpm" | "yarn" => match (first, rest.get(1)) {
            (Some("run" | "run-script"), Some(name)) if !name.starts_with('-') && !name.contains('$') => {
                Runs::PackageScript(name.trim_matches(['"', '\'']).to_owned())
            }
            (Some(name @ ("test" | "start")), _) => Runs::PackageScript(name.to_owned()),
            _ => Runs::Unknown,
        },
        "make" | "just" => {
            let is_plain = |word: &String| {
                !word.contains(['$', '`', '*', '<', '>', '(', '"', '\'', '/', '=', ':']) && !word.starts_with('-')
            };
            match rest {
                // Options may select another file; words after the first name may be its arguments.
                [name, ..] if is_plain(name) => {
                    let recipes = if program == "make" { Recipes::Makefile } else { Recipes::Justfile };
                    Runs::Target(recipes, name.clone())
                }
                _ => Runs::Unknown,
            }
        }
        "cargo" => Runs::By("Cargo.toml"),
        "go" => Runs::By("go.mod"),
        "npx" | "pytest" => Runs::Unknown,
        _ => return None,
    })
}

/// True if a word means another package, or allows a missing script.
fn is_of_others(word: &str) -> bool {
    leads_elsewhere(word) || word == "--if-present"
}

/// Judges a command without a folder: it runs in the root of the project.
fn judge_in_root(command: &str, tree: &PlannedTree<'_>, found: &mut Judged) -> Result<(), FileError> {
    for (words, is_after_build) in with_builds(&simple_commands(command)) {
        let Some(runs) = runs_of(words) else { continue };
        let status = judge_run(runs, "", is_after_build, tree, found)?;
        // If one part is unknown, the whole is unknown; if one part is broken, the whole is broken.
        if found.status != PathStatus::NotChecked || status == PathStatus::Broken {
            found.status = status;
        }
        if status == PathStatus::Broken {
            found.severity = Severity::Blocker;
            break;
        }
    }
    Ok(())
}

/// Judges what a simple command runs; `folder` is empty or ends with `/`.
fn judge_run(
    runs: Runs,
    folder: &str,
    is_after_build: bool,
    tree: &PlannedTree<'_>,
    found: &mut Judged,
) -> Result<PathStatus, FileError> {
    let mut broken = |reason: PathReason| {
        found.reason = Some(reason);
        PathStatus::Broken
    };
    let (script, status) = match runs {
        Runs::By(manifest) if (tree.is_file)(manifest) => return Ok(PathStatus::Resolved),
        Runs::Unknown | Runs::By(_) => return Ok(PathStatus::NotChecked),
        Runs::Target(recipes, name) => return judge_target(recipes, name, folder, tree, found),
        Runs::File(path) => {
            let inside = if path.starts_with('/') { path.clone() } else { format!("{folder}{path}") };
            let status = match tree.script(&inside) {
                PathStatus::Broken if is_after_build => PathStatus::NotChecked,
                PathStatus::Broken => broken(PathReason::FileMissing),
                status => status,
            };
            (path, status)
        }
        Runs::PackageScript(name) => {
            let status = match (tree.look)(".").found.and_then(|root| root.package) {
                Some(package) if has_script(&package, &name) => PathStatus::Resolved,
                _ if tree.is_planned(MANIFEST) => PathStatus::NotChecked,
                Some(_) => broken(PathReason::ScriptMissing),
                None => broken(PathReason::NoManifest),
            };
            (name, status)
        }
    };
    found.script = Some(script);
    Ok(status)
}

/// Judges a target by its name; `folder` is empty or ends with `/`.
fn judge_target(
    recipes: Recipes,
    name: String,
    folder: &str,
    tree: &PlannedTree<'_>,
    found: &mut Judged,
) -> Result<PathStatus, FileError> {
    let is_planned = recipes.names().iter().any(|file| tree.is_planned(&format!("{folder}{file}")));
    let has = recipes.have(&name, folder, None, tree.files)?;
    found.script = Some(name);
    Ok(match has {
        _ if is_planned => PathStatus::NotChecked,
        Some(true) => PathStatus::Resolved,
        Some(false) => {
            found.reason = Some(PathReason::TargetMissing);
            PathStatus::Broken
        }
        None => {
            found.reason = Some(PathReason::NoManifest);
            PathStatus::Broken
        }
    })
}

/// The result for one command.
#[derive(Debug)]
struct Judged {
    status: PathStatus,
    severity: Severity,
    reason: Option<PathReason>,
    form: Option<Form>,
    raw: Option<String>,
    target: Option<String>,
    manifest: Option<&'static str>,
    script: Option<String>,
}

fn judge(command: &str, tree: &PlannedTree<'_>) -> Result<Judged, FileError> {
    let command = ungrouped(command);
    let mut found = Judged {
        status: PathStatus::NotApplicable,
        severity: Severity::None,
        reason: None,
        form: None,
        raw: None,
        target: None,
        manifest: None,
        script: None,
    };
    let Some(NamedFolder { form, raw, rest }) = place_of(command) else {
        judge_in_root(command, tree, &mut found)?;
        return Ok(found);
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
        return Ok(found);
    }
    let facts = (tree.look)(&bare);
    let runner = runner_of(&rest);
    match facts.found {
        None if tree.plans_inside(&bare) => found.status = PathStatus::NotChecked,
        None => verdict(PathStatus::Broken, Severity::Blocker, PathReason::MissingDir),
        Some(folder) if !folder.in_project && !bare.starts_with('/') => {
            verdict(PathStatus::Ok, Severity::Warning, PathReason::OutsideRoot);
        }
        Some(folder) => match (runner, folder.package) {
            (None, _) if !folder.in_project => verdict(PathStatus::Ok, Severity::Warning, PathReason::OutsideRoot),
            (None, _) => found.status = PathStatus::Ok,
            (Some(_), None) if tree.is_planned(&format!("{bare}/{MANIFEST}")) => found.status = PathStatus::NotChecked,
            (Some(_), None) => verdict(PathStatus::Broken, Severity::Blocker, PathReason::NoManifest),
            (Some(scripts), Some(package)) => {
                found.status = PathStatus::Ok;
                found.manifest = Some(MANIFEST);
                let is_rewritten = tree.is_planned(&format!("{bare}/{MANIFEST}"));
                let missing = scripts.iter().find(|script| !is_rewritten && !has_script(&package, script));
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
        judge_inside(&bare, &rest, tree, &mut found)?;
    }
    Ok(found)
}

/// Judges what runs in an existing folder of the project.
fn judge_inside(
    folder: &str,
    commands: &[Vec<String>],
    tree: &PlannedTree<'_>,
    found: &mut Judged,
) -> Result<(), FileError> {
    for (words, is_after_build) in with_builds(commands) {
        let Some(runs @ (Runs::File(_) | Runs::Target(..))) = runs_of(words) else { continue };
        let known = found.script.take();
        if judge_run(runs, &format!("{folder}/"), is_after_build, tree, found)? == PathStatus::Broken {
            found.status = PathStatus::Broken;
            found.severity = Severity::Blocker;
            break;
        }
        found.script = known;
    }
    Ok(())
}

/// The folder that a command names, and what runs there.
#[derive(Debug)]
struct NamedFolder {
    form: Form,
    raw: String,
    /// The simple commands that run there, each as words.
    rest: Vec<Vec<String>>,
}

fn place_of(command: &str) -> Option<NamedFolder> {
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
        return Some(NamedFolder { form: Form::Cd, raw, rest: simple.collect() });
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
    Some(NamedFolder { form: Form::Prefix, raw, rest: vec![words.map(|(_, word)| word).collect()] })
}

/// Programs that need a package.json.
const RUNNERS: &[&str] = &["npm", "npx", "pnpm", "yarn"];

/// The scripts that are run by name; `None` if no command needs a package.json.
fn runner_of(commands: &[Vec<String>]) -> Option<Vec<String>> {
    let runs = commands.iter().filter(|words| words.first().is_some_and(|word| RUNNERS.contains(&word.as_str())));
    let runs: Vec<&Vec<String>> = runs.collect();
    if runs.is_empty() {
        return None;
    }
    let script = |words: &&Vec<String>| {
        let at = words.iter().position(|word| matches!(word.as_str(), "run" | "run-script"))?;
        let name = words.get(at + 1).filter(|name| !name.starts_with('-') && !name.contains('$'))?;
        let is_here = !words.iter().any(|word| is_of_others(word));
        is_here.then(|| name.trim_matches(['"', '\'']).to_owned())
    };
    Some(runs.iter().filter_map(script).collect())
}

/// True if a package.json has a script, or does not parse: then a missing script cannot be reported.
pub(super) fn has_script(package: &str, script: &str) -> bool {
    match serde_json::from_str::<serde_json::Value>(package) {
        Ok(package) => package.get("scripts").and_then(|scripts| scripts.get(script)).is_some(),
        Err(_) => true,
    }
}

/// The simple commands of a line as words. Quotes around a word are kept, with the text between them.
pub(super) fn simple_commands(line: &str) -> Vec<Vec<String>> {
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
    fn a_command_runs_in_the_folder_it_names() {
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
    fn unknown_facts_of_a_command_are_left_out() {
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
    fn the_worst_command_decides_the_status() {
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
