//! What the checks of a unit depend on, as it was before the unit ran: commands, test files, settings of runners,
//! scripts. Each file is recorded as its digest, so that the value is small enough for a log.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::allowance::Allowance;
use super::check::{Check, Refused, Source};
use super::discovery::Discovery;
use super::globs::{finds, globs_in};
use super::leaned::{leaned, others};
use super::makefile::{self, Makefile, makefile_of};
use super::package::{script_words, scripts_of};
use super::runners::tools_in;
use super::tamper::Finding;
use crate::disk::Digest;
use crate::project::check_files::{Role, fits, role_of};
use crate::project::files::{FileError, Files};

/// What the checks of a unit depend on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pins {
    pub(crate) source: Source,
    pub(crate) checks: Vec<Check>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) refused: Vec<Refused>,
    pub(crate) files: BTreeMap<String, Pin>,
    /// The scripts of `package.json` that the checks call, directly or through others.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) scripts: BTreeSet<String>,
    /// The targets of makefiles that the checks make, with all prerequisites.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) targets: BTreeSet<String>,
    /// The files that the makefiles of the checks include, whether or not they exist.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) included: BTreeSet<String>,
    /// The files that the checks run, other than those the unit works on.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) runs: BTreeSet<String>,
    /// The patterns by which scripts find existing tests, for each script; those of the checks themselves under an
    /// empty path.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) globs: BTreeMap<String, Vec<String>>,
    /// The runners and linters that the checks are known to call.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) tools: BTreeSet<String>,
    /// The top-level Python modules of the project, other than its tests.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) modules: BTreeSet<String>,
    /// The files that tests name and that are not tests themselves.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) leaned: BTreeSet<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) allowed: Vec<Allowance>,
    /// The files that the plan says the unit works on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) expected: Vec<String>,
    /// Whether the plan says that the unit fixes something that is broken.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_fix: bool,
}

/// A file as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pin {
    pub(crate) role: Role,
    pub(crate) digest: Digest,
}

/// What is known about a unit when its checks are pinned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Planned<'a> {
    pub(crate) discovery: &'a Discovery,
    /// The checks that passed in the work before. They run again before it lands, so what they depend on is pinned too.
    pub(crate) earlier: &'a [Check],
    /// Every tracked file of the tree that the unit starts from.
    pub(crate) paths: &'a [String],
    /// The files that the plan says the unit works on. A program among them that a check runs is the work, not the check.
    pub(crate) expected: &'a [String],
    /// The text of the plan, for its allowances.
    pub(crate) plan: &'a str,
    /// Whether the plan says that the unit fixes something that is broken.
    pub(crate) is_fix: bool,
}

impl Pins {
    pub(crate) fn of(files: &dyn Files, planned: Planned<'_>) -> Result<Self, FileError> {
        let Planned { discovery, earlier, paths, expected, plan, is_fix } = planned;
        let earlier = earlier.iter().filter(|check| !discovery.checks.contains(check));
        let guarded: Vec<Check> = discovery.checks.iter().chain(earlier).cloned().collect();
        let scripts = called_scripts(files, paths, &guarded)?;
        let made = Made::by(files, &guarded)?;
        let tracked: BTreeSet<&str> = paths.iter().map(String::as_str).collect();
        let mut roles: BTreeMap<&str, Role> =
            paths.iter().filter_map(|path| Some((path.as_str(), role_of(path)?))).collect();
        let mut runs = BTreeSet::new();
        for program in programs(files, paths, &guarded, &scripts)? {
            let is_work = expected.iter().any(|path| path.trim_start_matches("./") == program);
            if let Some(path) = tracked.get(program.as_str()).filter(|_| !is_work) {
                roles.entry(path).or_insert(Role::Script);
                runs.insert((*path).to_owned());
            }
        }
        for path in made.included.iter().filter_map(|path| tracked.get(path.as_str())) {
            roles.entry(path).or_insert(Role::Script);
        }
        let tests = roles.iter().filter(|(_, role)| **role == Role::Test).map(|(path, _)| *path);
        let leaned = leaned(files, tests, &others(paths, &roles))?;
        let mut pinned = BTreeMap::new();
        for (path, role) in roles {
            // A link or a folder of another repository is not a file.
            let digest = files.digest(path)?.and_then(|digest| Digest::parse(&digest));
            pinned.extend(digest.map(|digest| (path.to_owned(), Pin { role, digest })));
        }
        let globs = globs(files, paths, &guarded, &runs, &pinned)?;
        Ok(Self {
            source: discovery.source,
            checks: discovery.checks.clone(),
            refused: discovery.refused.clone(),
            files: pinned,
            tools: tools(files, paths, &guarded, (&scripts, &made))?,
            scripts,
            included: made.included,
            runs,
            globs,
            leaned,
            modules: paths.iter().filter_map(|path| module_of(path)).map(str::to_owned).collect(),
            targets: made.targets,
            allowed: Allowance::of_plan(plan),
            expected: expected.iter().map(|path| path.trim_start_matches("./").to_owned()).collect(),
            is_fix,
        })
    }

    /// True if a file that a unit made or changed shows that its work is right and is not itself the work: a test, its
    /// recorded answers, or a new file that a check runs. Settings of runners count as work, because a fix may be in
    /// them.
    pub(crate) fn shows_work(&self, path: &str, is_new: bool) -> bool {
        let is_run = |check: &Check| {
            let words: Vec<&str> =
                std::iter::once(check.program()).chain(check.arguments().iter().map(String::as_str)).collect();
            run_by(&words) == Some(path)
        };
        match role_of(path) {
            Some(Role::Config) => false,
            Some(_) => true,
            None => is_new && self.checks.iter().any(is_run),
        }
    }

    /// True if the plan orders the change that was found. `Allowed test changes` that cover a file allow any change of
    /// it. If the plan names a file among those that the unit works on, its settings and scripts may change; tests must
    /// still run, and failures must still be seen.
    pub(crate) fn orders(&self, finding: &Finding) -> bool {
        self.allows(&finding.path).is_some() || (finding.kind.is_of_settings() && self.names(&finding.path))
    }

    /// True if the plan names a file among those that the unit works on. A folder without a pattern names none of its
    /// files.
    fn names(&self, path: &str) -> bool {
        let is_of = |pattern: &str| {
            let name = pattern.rsplit('/').next().unwrap_or_default();
            name.contains('*') && name.contains(char::is_alphanumeric) && fits(pattern, path)
        };
        !path.is_empty() && self.expected.iter().any(|expected| expected == path || is_of(expected))
    }

    /// The allowance that covers a path.
    pub(crate) fn allows(&self, path: &str) -> Option<&Allowance> {
        self.allowed.iter().find(|allowance| allowance.covers(path))
    }
}

/// The top-level Python module that a file is, or belongs to.
pub(in crate::gate) fn module_of(path: &str) -> Option<&str> {
    let inside = path.strip_suffix(".py").filter(|_| role_of(path).is_none())?;
    let inside = ["src/", "lib/", "python/"].iter().find_map(|folder| inside.strip_prefix(folder)).unwrap_or(inside);
    inside.split('/').next()
}

/// True if a path is a file with this name, in any folder.
fn is_named(path: &str, name: &str) -> bool {
    path.rsplit('/').next() == Some(name)
}

/// Package managers, which call the scripts of a package.
const MANAGERS: &[&str] =
    &["npm", "pnpm", "yarn", "bun", "npx", "bunx", "run-s", "run-p", "npm-run-all", "turbo", "nx"];

/// The scripts that the checks call, those that these call, and what runs before and after each.
fn called_scripts(files: &dyn Files, paths: &[String], checks: &[Check]) -> Result<BTreeSet<String>, FileError> {
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    for path in paths.iter().filter(|path| is_named(path, "package.json")) {
        texts.extend(scripts_of(files.read(path)?.as_deref().unwrap_or_default()));
    }
    let by_manager = checks.iter().filter(|check| MANAGERS.contains(&check.program()));
    let words = by_manager.flat_map(Check::arguments).map(|word| if word == "t" { "test" } else { word.as_str() });
    let mut open: Vec<String> = words.map(str::to_owned).collect();
    let mut called = BTreeSet::new();
    while let Some(name) = open.pop() {
        let Some(text) = texts.get(&name) else { continue };
        if !called.insert(name.clone()) {
            continue;
        }
        open.extend(script_words(text).map(str::to_owned));
        open.extend(["pre", "post"].map(|when| format!("{when}{name}")));
    }
    Ok(called)
}

/// What the checks build with `make`.
#[derive(Debug, Default)]
struct Made {
    targets: BTreeSet<String>,
    /// Files that the makefiles include.
    included: BTreeSet<String>,
    /// The texts of all of them.
    texts: Vec<String>,
}

impl Made {
    fn by(files: &dyn Files, checks: &[Check]) -> Result<Self, FileError> {
        let mut made = Self::default();
        for check in checks.iter().filter(|check| is_make(check)) {
            let mut folder = check.folder().map(|folder| format!("{folder}/")).unwrap_or_default();
            if let Some(at) = check.arguments().iter().position(|word| word == "-C")
                && let Some(other) = check.arguments().get(at + 1)
            {
                folder = format!("{folder}{}/", other.trim_end_matches('/'));
            }
            let Some((_, mut text)) = makefile_of(files, &folder)? else { continue };
            let included: Vec<String> =
                Makefile::read(&text).includes().map(|path| format!("{folder}{path}")).collect();
            for path in included {
                if let Some(more) = files.read(&path)? {
                    text.push('\n');
                    text.push_str(&more);
                }
                made.included.insert(path);
            }
            let makefile = Makefile::read(&text);
            let named: Vec<String> = targets_of(check).map(str::to_owned).collect();
            let named = if named.is_empty() {
                makefile.default_target().map(str::to_owned).into_iter().collect()
            } else {
                named
            };
            made.targets.extend(makefile.closure(&named));
            made.texts.push(text);
        }
        Ok(made)
    }
}

pub(super) fn is_make(check: &Check) -> bool {
    matches!(check.program(), "make" | "gmake")
}

/// The targets that a call of `make` names.
pub(super) fn targets_of(check: &Check) -> impl Iterator<Item = &str> {
    let words = check.arguments();
    let is_value = |at: usize| {
        at.checked_sub(1).and_then(|at| words.get(at)).is_some_and(|word| matches!(word.as_str(), "-C" | "-f" | "-j"))
    };
    let plain = words
        .iter()
        .enumerate()
        .filter(move |(at, word)| !word.starts_with('-') && !word.contains('=') && !is_value(*at));
    plain.map(|(_, word)| word.as_str())
}

/// The runners and linters that the checks are known to call: by name, through a script, or through a makefile.
fn tools(
    files: &dyn Files,
    paths: &[String],
    checks: &[Check],
    (scripts, made): (&BTreeSet<String>, &Made),
) -> Result<BTreeSet<String>, FileError> {
    let mut texts: Vec<String> = checks.iter().map(ToString::to_string).collect();
    for path in paths.iter().filter(|path| is_named(path, "package.json")) {
        let all = scripts_of(files.read(path)?.as_deref().unwrap_or_default());
        texts.extend(all.into_iter().filter(|(name, _)| scripts.contains(name)).map(|(_, text)| text));
    }
    for program in programs(files, paths, checks, scripts)? {
        let is_shell = program.rsplit_once('.').is_none_or(|(_, ending)| ending == "sh");
        texts.extend(if is_shell && paths.contains(&program) { files.read(&program)? } else { None });
    }
    texts.extend(made.texts.iter().cloned());
    Ok(tools_in(texts.iter().map(String::as_str)).map(str::to_owned).collect())
}

/// The patterns by which scripts, makefiles and the checks themselves find existing tests.
fn globs(
    files: &dyn Files,
    paths: &[String],
    checks: &[Check],
    runs: &BTreeSet<String>,
    pinned: &BTreeMap<String, Pin>,
) -> Result<BTreeMap<String, Vec<String>>, FileError> {
    let mut texts: Vec<(String, String)> = checks.iter().map(|check| (String::new(), check.to_string())).collect();
    let is_makefile = |path: &str| makefile::NAMES.iter().any(|name| is_named(path, name)) || fits("*.mk", path);
    let is_made = checks.iter().any(is_make);
    for path in paths.iter().filter(|path| runs.contains(*path) || is_made && is_makefile(path)) {
        texts.extend(files.read(path)?.map(|text| (path.clone(), text)));
    }
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (path, text) in texts {
        let finds_one = |glob: &String| pinned.iter().any(|(path, pin)| pin.role == Role::Test && finds(glob, path));
        let globs: Vec<String> = globs_in(&text).into_iter().filter(finds_one).collect();
        if !globs.is_empty() {
            found.entry(path).or_default().extend(globs);
        }
    }
    Ok(found)
}

/// Programs that run a file given as an argument.
const INTERPRETERS: &[&str] = &[
    "bash", "bun", "dash", "deno", "node", "perl", "php", "python", "python3", "ruby", "sh", "source", "ts-node",
    "tsx", "zsh",
];

/// The files that the checks run: programs by their paths, and the scripts passed to an interpreter.
fn programs(
    files: &dyn Files,
    paths: &[String],
    checks: &[Check],
    scripts: &BTreeSet<String>,
) -> Result<BTreeSet<String>, FileError> {
    let mut found = BTreeSet::new();
    for check in checks {
        let words: Vec<&str> =
            std::iter::once(check.program()).chain(check.arguments().iter().map(String::as_str)).collect();
        let folder = check.folder().map(|folder| format!("{folder}/")).unwrap_or_default();
        found.extend(run_by(&words).map(|path| format!("{folder}{path}")));
    }
    for path in paths {
        let folder = &path[..path.rfind('/').map_or(0, |at| at + 1)];
        let lines: Vec<String> = if is_named(path, "package.json") {
            let texts = scripts_of(files.read(path)?.as_deref().unwrap_or_default());
            texts.into_iter().filter(|(name, _)| scripts.contains(name)).map(|(_, text)| text).collect()
        } else if makefile::NAMES.iter().any(|name| is_named(path, name))
            && checks.iter().any(|check| check.program() == "make")
        {
            files.read(path)?.unwrap_or_default().lines().map(str::to_owned).collect()
        } else {
            continue;
        };
        for part in lines.iter().flat_map(|line| line.split(['&', ';', '|'])) {
            let words: Vec<&str> = part.trim_start_matches(['\t', ' ', '@', '-']).split_whitespace().collect();
            found.extend(run_by(&words).map(|path| format!("{folder}{path}")));
        }
    }
    Ok(found)
}

/// The file that a command runs.
fn run_by<'a>(words: &[&'a str]) -> Option<&'a str> {
    let (program, arguments) = words.split_first()?;
    let path =
        if INTERPRETERS.contains(program) { arguments.iter().find(|word| !word.starts_with('-'))? } else { program };
    Some(path.trim_start_matches("./"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::discovery::{Wanted, discover};
    use crate::project::files::MemoryFiles;

    fn pins(files: &[(&str, &str)], verify: Option<&str>, expected: &[&str], plan: &str) -> Pins {
        let memory = MemoryFiles::new(files.iter().copied());
        let verify: Vec<String> = verify.iter().map(|line| (*line).to_owned()).collect();
        let discovery = discover(&memory, Wanted { preference: &[], verify: &verify }).unwrap();
        let paths: Vec<String> = files.iter().map(|(path, _)| (*path).to_owned()).collect();
        let expected: Vec<String> = expected.iter().map(|path| (*path).to_owned()).collect();
        Pins::of(
            &memory,
            Planned { discovery: &discovery, earlier: &[], paths: &paths, expected: &expected, plan, is_fix: false },
        )
        .unwrap()
    }

    fn roles(pins: &Pins) -> Vec<(&str, Role)> {
        pins.files.iter().map(|(path, pin)| (path.as_str(), pin.role)).collect()
    }

    #[test]
    fn tests_and_new_files_run_by_checks_show_work_and_settings_do_not() {
        let pins = pins(&[("package.json", "{}")], Some("sh checks/a.sh && node src/a.js --check"), &[], "");
        let shown = [("src/a.test.js", false), ("src/a.test.js", true), ("checks/a.sh", true)];
        assert!(shown.iter().all(|(path, is_new)| pins.shows_work(path, *is_new)));
        let work = [("src/a.js", false), ("src/b.js", true), ("package.json", false), ("package.json", true)];
        assert!(!work.iter().any(|(path, is_new)| pins.shows_work(path, *is_new)));
    }

    #[test]
    fn tests_settings_and_what_the_checks_run_are_pinned() {
        let package = r#"{"scripts": {"pretest": "node scripts/setup.js", "test": "npm run unit && sh ./run.sh",
            "unit": "node --test", "start": "node src/a.js"}}"#;
        let files = [
            ("package.json", package),
            ("run.sh", ""),
            ("scripts/setup.js", ""),
            ("src/a.js", ""),
            ("src/a.test.js", ""),
            ("tests/__snapshots__/a.snap", ""),
            ("README.md", ""),
        ];
        let pins = pins(&files, None, &[], "Allowed test changes: src/a.test.js (x)\n");
        assert_eq!(pins.source, Source::PackageJson);
        assert_eq!(
            roles(&pins),
            [
                ("package.json", Role::Config),
                ("run.sh", Role::Script),
                ("scripts/setup.js", Role::Script),
                ("src/a.test.js", Role::Test),
                ("tests/__snapshots__/a.snap", Role::Snapshot)
            ]
        );
        assert!(pins.scripts.iter().map(String::as_str).eq(["pretest", "test", "unit"]));
        assert!(pins.allows("src/a.test.js").is_some() && pins.allows("run.sh").is_none());
    }

    #[test]
    fn files_that_makefiles_include_make_and_call_are_pinned() {
        let files = [
            ("Makefile", "include rules.mk\ntest: unit\nbuild:\n\techo a\n"),
            ("rules.mk", "PY = python3\nunit:\n\t$(PY) -m pytest\n"),
            ("other.mk", ""),
        ];
        let made = pins(&files, Some("make test"), &[], "");
        assert_eq!(roles(&made), [("Makefile", Role::Script), ("rules.mk", Role::Script)]);
        assert!(made.targets.iter().map(String::as_str).eq(["test", "unit"]));
        assert!(made.tools.contains("pytest") && !made.tools.contains("jest"));
        assert!(pins(&files, Some("make -s"), &[], "").targets.contains("unit"), "the first target");
        assert!(pins(&files, Some("cargo test"), &[], "").targets.is_empty());
    }

    #[test]
    fn a_program_that_the_unit_writes_is_the_work_and_not_the_check() {
        let files = [("src/main.py", ""), ("check.py", ""), ("app/x.sh", "")];
        let verify = Some("python3 src/main.py add 1 2 && python3 check.py && cd app && ./x.sh");
        let pins = pins(&files, verify, &["src/main.py"], "");
        assert_eq!(roles(&pins), [("app/x.sh", Role::Script), ("check.py", Role::Script)]);
    }

    #[test]
    fn pins_survive_being_written_and_read() {
        let pins = pins(&[("Cargo.toml", ""), ("tests/a.rs", "x")], None, &[], "");
        let text = serde_json::to_string(&pins).unwrap();
        assert_eq!(serde_json::from_str::<Pins>(&text).unwrap(), pins);
        assert!(text.contains("\"checks\":[\"cargo test\"]"), "{text}");
    }
}
