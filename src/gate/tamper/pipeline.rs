//! What a server runs for every change: its checking steps must not be removed or weakened. Adding steps is allowed.

use std::collections::BTreeSet;

use serde_json::Value;

use super::finding::{Finding, Weakening};
use super::script::HIDING;
use super::{Text, short};
use crate::project::check_files::is_pipeline;
use crate::text::words::word_list;
use crate::text::yaml::YamlDocument;

/// Words that make a command a check if it has one of them.
const CHECKING: &[&str] = word_list!(
    "audit bats build cargo check checks clippy coverage ctest eslint fmt gradle jest lint mocha mvn mypy nox phpunit
     pylint pyright pytest rspec ruff shellcheck test tests tox tsc typecheck unittest verify vet vitest"
);

/// Words with which a command runs fewer tests, or ignores those that fail.
const NARROWING: &[&str] = word_list!(
    "-k --ignore --deselect --co --collect-only --exit-zero --passWithNoTests --exclude --skip --no-run -n -i"
);

/// Keys whose values are commands.
const COMMANDS: &[&str] =
    &["run", "script", "before_script", "after_script", "command", "commands", "bash", "pwsh", "powershell", "install"];

/// Changes that make the pipeline check less.
pub(super) fn changed(texts: &[Text<'_>]) -> Vec<Finding> {
    let pipelines: Vec<&Text<'_>> = texts.iter().filter(|text| is_pipeline(text.path)).collect();
    // A step may move from one file to another.
    let after = pipelines.iter().filter_map(|text| text.after.as_deref());
    let there: Vec<String> = after.flat_map(|text| PipelineFacts::read(text).commands).collect();
    pipelines.iter().flat_map(|text| in_file(text, &there)).collect()
}

fn in_file(text: &Text<'_>, there: &[String]) -> Vec<Finding> {
    let Some(before) = text.before.as_deref() else { return Vec::new() };
    let after = text.now();
    let (then, now) = (PipelineFacts::read(before), PipelineFacts::read(after));
    let new_lines = text.new_lines();
    let mut found = Vec::new();
    let mut add = |line: usize, what: String| found.push(text.finding(line, Weakening::ChangedPipeline, what));
    if text.after.is_some() && then.is_read && !now.is_read {
        add(0, "it cannot be read any more".to_owned());
        return found;
    }
    for command in &then.commands {
        if !there.iter().any(|other| is_as_good(command, other)) {
            let how = if text.after.is_none() { "the file is gone, and with it" } else { "no step runs any more:" };
            add(new_lines.first().map_or(0, |(line, _)| *line), format!("{how} `{}`", short(command, ' ')));
        }
    }
    for (step, excuse) in &now.excuses {
        let was_there = then.steps.contains(step);
        if was_there && !then.excuses.contains(&(step.clone(), excuse.clone())) {
            let what = format!("`{}` makes `{}` count for less", short(excuse, ' '), short(step, ' '));
            add(line_of(after, excuse), what);
        }
    }
    for trigger in then.triggers.difference(&now.triggers).filter(|_| text.after.is_some()) {
        add(0, format!("it does not run for `{}` any more", short(trigger, ' ')));
    }
    for filter in now.filters.difference(&then.filters) {
        if then.is_read {
            add(0, format!("it runs for less: `{}`", short(filter, ' ')));
        }
    }
    let checks =
        |line: &str| segments(line).iter().any(|part| is_checking(part)) && !line.trim_start().starts_with('#');
    for (number, line) in new_lines.into_iter().filter(|(_, line)| checks(line)) {
        // For these, the findings about steps say more.
        let mut hiding = HIDING.iter().filter(|pattern| **pattern != "continue-on-error");
        if let Some(pattern) = hiding.find(|pattern| line.contains(**pattern) && text.has_more(pattern)) {
            add(number, format!("`{pattern}` hides a failure"));
        }
    }
    found
}

/// What a pipeline file contains.
#[derive(Debug, Default)]
struct PipelineFacts {
    is_read: bool,
    /// Commands that check.
    commands: Vec<String>,
    /// The steps and jobs, by what they do.
    steps: BTreeSet<String>,
    /// Settings that make a step or a job count for less.
    excuses: BTreeSet<(String, String)>,
    triggers: BTreeSet<String>,
    filters: BTreeSet<String>,
}

impl PipelineFacts {
    fn read(text: &str) -> Self {
        let mut facts = Self::default();
        let document = YamlDocument::parse(text).ok().and_then(|document| document.to_json());
        if let Some(root) = document.filter(Value::is_object) {
            facts.is_read = true;
            facts.triggers(&root);
            facts.walk(&root, "", false);
        } else {
            let lines = text.lines().map(str::trim).filter(|line| !line.starts_with("//") && !line.starts_with('#'));
            facts.commands = lines.flat_map(segments).filter(|part| is_checking(part)).collect();
        }
        facts
    }

    fn triggers(&mut self, root: &Value) {
        let Some(on) = root.get("on").or_else(|| root.get("true")) else { return };
        match on {
            Value::String(name) => {
                self.triggers.insert(name.clone());
            }
            Value::Array(names) => self.triggers.extend(names.iter().filter_map(Value::as_str).map(str::to_owned)),
            Value::Object(events) => {
                for (name, event) in events {
                    self.triggers.insert(name.clone());
                    let texts = |key: &str| {
                        event.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
                    };
                    self.filters.extend(event.get("paths").map(|_| format!("{name}.paths")));
                    for key in ["paths-ignore", "branches-ignore"] {
                        self.filters.extend(texts(key).map(|pattern| format!("{name}.{key}: {pattern}")));
                    }
                    self.triggers.extend(texts("branches").map(|branch| format!("{name} of {branch}")));
                }
            }
            _ => {}
        }
    }

    fn walk(&mut self, value: &Value, name: &str, is_of_commands: bool) {
        match value {
            Value::Object(entries) => {
                let step = step_name(entries, name);
                self.steps.insert(step.clone());
                for (key, value) in entries {
                    if let Some(excuse) = excuse(key, value).filter(|_| !only_hands_on(entries)) {
                        self.excuses.insert((step.clone(), excuse));
                    }
                    self.walk(value, key, COMMANDS.contains(&key.as_str()));
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.walk(item, name, is_of_commands)),
            Value::String(text) if is_of_commands => {
                self.commands.extend(text.lines().flat_map(segments).filter(|part| is_checking(part)));
            }
            _ => {}
        }
    }
}

/// What identifies a step: the command it runs, else its name.
fn step_name(entries: &serde_json::Map<String, Value>, name: &str) -> String {
    let own = ["run", "bash", "script", "uses", "name"].iter().find_map(|key| entries.get(*key));
    match own {
        Some(Value::String(text)) => text.trim().to_owned(),
        Some(other) => other.to_string(),
        None => name.to_owned(),
    }
}

/// Words of steps that publish what others made, and check nothing.
const HANDING_ON: &[&str] =
    &["artifact", "cache", "codecov", "coveralls", "deploy", "notify", "publish", "release", "slack", "upload"];

/// True if a step with one command or action only publishes what others made.
fn only_hands_on(entries: &serde_json::Map<String, Value>) -> bool {
    let own = ["run", "uses"].iter().find_map(|key| entries.get(*key)).and_then(Value::as_str);
    own.is_some_and(|text| {
        let parts = text.lines().flat_map(segments).collect::<Vec<_>>();
        let hands_on =
            |part: &String| part.split(|letter: char| !letter.is_alphanumeric()).any(|word| HANDING_ON.contains(&word));
        !parts.is_empty() && parts.iter().all(|part| hands_on(part) && !is_checking(part))
    })
}

/// A setting that makes a step or a job count for less.
fn excuse(key: &str, value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        other => other.to_string(),
    };
    let counts_less = match key {
        "continue-on-error" | "allow_failure" | "continueOnError" => text != "false",
        "if" | "condition" => {
            !["always()", "!cancelled()", "${{ always() }}", "${{ !cancelled() }}", "success()", "true", "succeeded()"]
                .contains(&text.as_str())
        }
        "when" => matches!(text.as_str(), "manual" | "never" | "delayed"),
        "enabled" => text == "false",
        "shell" => ["true", "echo", ":", "/bin/true", "/usr/bin/true"]
            .contains(&text.split_whitespace().next().unwrap_or_default()),
        _ => false,
    };
    counts_less.then(|| format!("{key}: {text}"))
}

/// The commands of a line, without the variables before them.
fn segments(line: &str) -> Vec<String> {
    let parts = line.split(['&', ';', '|', '\n']).map(|part| {
        let words = part.split_whitespace().skip_while(|word| {
            word.split_once('=').is_some_and(|(name, _)| {
                !name.is_empty() && name.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_')
            })
        });
        words.collect::<Vec<_>>().join(" ")
    });
    parts.filter(|part| !part.is_empty()).collect()
}

fn is_checking(command: &str) -> bool {
    let mut words = command.split(|letter: char| !letter.is_alphanumeric());
    let says =
        ["echo ", "printf ", "apt-get ", "apt ", "brew ", "pip install ", "npm install", "npm ci", "cargo install "];
    words.any(|word| CHECKING.contains(&word)) && !says.iter().any(|says| command.starts_with(says))
}

/// True if a command still checks what the earlier one did.
fn is_as_good(then: &str, now: &str) -> bool {
    let Some(rest) = now.strip_prefix(then) else { return false };
    let is_word = rest.is_empty() || rest.starts_with(|next: char| next.is_whitespace() || next == '\'' || next == '"');
    is_word && !rest.split_whitespace().any(|word| NARROWING.contains(&word.split('=').next().unwrap_or_default()))
}

fn line_of(text: &str, excuse: &str) -> usize {
    let key = excuse.split(':').next().unwrap_or_default();
    text.lines().position(|line| line.trim_start_matches(['-', ' ']).starts_with(key)).map_or(0, |line| line + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CI: &str = "name: ci\non:\n  push:\n    branches: [main]\n  pull_request:\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - \
                      uses: actions/checkout@v3\n      - run: npm ci\n      - run: make test\n      - name: lint\n        run: |\n          npm run lint\n          \
                      cargo clippy -- -D warnings\n      - run: echo done\n";

    fn found(path: &str, before: &str, after: &str) -> Vec<String> {
        let side = |text: &str| (text != "-").then(|| text.to_owned());
        let texts = [Text { path, before: side(before), after: side(after) }];
        changed(&texts).into_iter().map(|finding| finding.to_string()).collect()
    }

    #[test]
    fn steps_that_are_removed_or_count_for_less_are_found() {
        for (from, to) in [
            ("make test", "true"),
            ("make test", "echo make test"),
            ("make test", "make test || true"),
            ("make test", "make test; true"),
            ("      - run: make test\n", ""),
            ("          npm run lint\n", ""),
            ("      - run: make test\n", "      - run: make test\n        continue-on-error: true\n"),
            ("      - run: make test\n", "      - run: make test\n        if: false\n"),
            ("      - run: make test\n", "      - run: make test\n        if: ${{ github.actor == 'me' }}\n"),
            ("      - run: make test\n", "      - run: make test\n        shell: /bin/true {0}\n"),
            ("    runs-on", "    continue-on-error: true\n    runs-on"),
            ("    runs-on", "    if: false\n    runs-on"),
            ("  pull_request:\n", ""),
            ("[main]", "[none]"),
            ("  pull_request:\n", "  pull_request:\n    paths: [docs]\n"),
            ("  pull_request:\n", "  pull_request:\n    paths-ignore: [src]\n"),
            ("cargo clippy -- -D warnings", "cargo clippy"),
            ("npm run lint\n", "npm run lint --exit-zero\n"),
            ("jobs:", "jobs: ["),
        ] {
            assert!(CI.contains(from), "{from}");
            assert!(!found(".github/workflows/ci.yml", CI, &CI.replace(from, to)).is_empty(), "{from} -> {to}");
        }
        assert!(found(".github/workflows/ci.yml", CI, "-")[0].contains("the file is gone, and with it"));
        let gitlab = "test:\n  script:\n    - pytest -q\n";
        for after in [
            "test:\n  script:\n    - pytest -q\n  allow_failure: true\n",
            "test:\n  script:\n    - pytest -q\n  when: manual\n",
            "test:\n  script:\n    - pytest -q -k good\n",
            "test:\n  script:\n    - 'true'\n",
        ] {
            assert!(!found(".gitlab-ci.yml", gitlab, after).is_empty(), "{after}");
        }
        let jenkins = "pipeline {\n  stage('test') { steps { sh 'make test' } }\n}\n";
        assert!(!found("Jenkinsfile", jenkins, &jenkins.replace("make test", "true")).is_empty());
    }

    #[test]
    fn steps_that_are_added_moved_or_reformatted_are_accepted() {
        for (from, to) in [
            ("checkout@v3", "checkout@v4"),
            ("ubuntu-latest", "ubuntu-24.04"),
            ("npm ci", "npm ci --prefer-offline"),
            ("npm ci", "npm install"),
            ("make test", "make test V=1"),
            ("make test", "make build && make test"),
            ("make test", "CI=1 make test"),
            ("run: make test", "run: |\n          make deps\n          make test"),
            ("- run: make test", "- name: tests\n        run: make test"),
            ("[main]", "[main, next]"),
            ("  pull_request:\n", "  pull_request:\n  workflow_dispatch:\n"),
            ("echo done", "echo all done"),
            ("      - run: echo done\n", ""),
            ("name: ci", "name: checks"),
            (
                "      - run: echo done\n",
                "      - run: cargo test\n      - uses: codecov/codecov-action@v4\n        if: always()\n",
            ),
            (
                "jobs:\n",
                "jobs:\n  nightly:\n    continue-on-error: true\n    runs-on: ubuntu-latest\n    steps:\n      - run: cargo +nightly test\n",
            ),
            ("jobs:\n", "# the checks\njobs:\n"),
        ] {
            assert!(CI.contains(from), "{from}");
            assert_eq!(
                found(".github/workflows/ci.yml", CI, &CI.replace(from, to)),
                Vec::<String>::new(),
                "{from} -> {to}"
            );
        }
        assert_eq!(found(".github/workflows/new.yml", "-", CI), Vec::<String>::new());
        assert_eq!(found("docs/ci.yml", CI, "-"), Vec::<String>::new());
        let texts = [
            Text { path: ".github/workflows/ci.yml", before: Some(CI.to_owned()), after: None },
            Text { path: ".github/workflows/checks.yaml", before: None, after: Some(CI.to_owned()) },
        ];
        assert_eq!(changed(&texts), []);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_judged(before in "(?s)(on:|run:|- |[a-c: \n]|make test){0,30}", after in "(?s)(on:|run:|- |[a-c: \n]|if: false){0,30}") {
            let _ = found(".github/workflows/a.yml", &before, &after);
        }
    }
}
