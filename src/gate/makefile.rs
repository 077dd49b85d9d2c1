//! The parts of a makefile that checks depend on: its targets, their prerequisites and recipes, and the variables in
//! these.

pub(super) use crate::project::declared_commands::recipes::MAKEFILES as NAMES;
use crate::project::files::{FileError, Files};

/// Variables that affect how every recipe is run.
const OF_ALL: &[&str] = &["SHELL", ".SHELLFLAGS", "MAKEFLAGS", "GNUMAKEFLAGS", ".DEFAULT_GOAL", "MAKE", "PATH"];

/// The makefile that `make` reads in a folder, which is empty or ends with `/`: its name and its text.
pub(crate) fn makefile_of(files: &dyn Files, folder: &str) -> Result<Option<(&'static str, String)>, FileError> {
    for name in NAMES {
        if let Some(text) = files.read(&format!("{folder}{name}"))? {
            return Ok(Some((name, text)));
        }
    }
    Ok(None)
}

/// A makefile.
#[derive(Debug, Default)]
pub(crate) struct Makefile<'text> {
    rules: Vec<MakeRule<'text>>,
    /// In the order of the file; each `+=` is a separate entry.
    variables: Vec<Variable<'text>>,
    includes: Vec<&'text str>,
}

#[derive(Debug)]
struct MakeRule<'text> {
    name: &'text str,
    line: usize,
    needs: Vec<String>,
    recipe: Vec<String>,
}

#[derive(Debug)]
struct Variable<'text> {
    name: &'text str,
    value: String,
    adds: bool,
}

impl<'text> Makefile<'text> {
    pub(crate) fn read(text: &'text str) -> Self {
        let mut read = Self::default();
        let mut open: Vec<usize> = Vec::new();
        let mut lines = text.lines().enumerate().peekable();
        while let Some((number, line)) = lines.next() {
            let mut whole = line.trim_end().trim_end_matches('\\').to_owned();
            let mut goes_on = line.trim_end().ends_with('\\');
            while goes_on && let Some((_, next)) = lines.next() {
                whole.push(' ');
                whole.push_str(next.trim().trim_end_matches('\\').trim());
                goes_on = next.trim_end().ends_with('\\');
            }
            if line.starts_with('\t') {
                let recipe = whole.trim().to_owned();
                for rule in open.iter().filter(|_| !recipe.is_empty()) {
                    if let Some(rule) = read.rules.get_mut(*rule) {
                        rule.recipe.push(recipe.clone());
                    }
                }
                continue;
            }
            let first = line.trim_end().trim_end_matches('\\');
            if let Some(paths) =
                ["include ", "-include ", "sinclude "].iter().find_map(|word| first.trim_start().strip_prefix(word))
            {
                read.includes.extend(paths.split_whitespace());
            } else if let Some(variable) = variable(first, &whole) {
                read.variables.push(variable);
            } else if let Some((names, needs)) =
                first.split_once(':').filter(|(names, _)| !names.contains(['=', '#', '$']))
            {
                let rest = whole.split_once(':').map_or(needs, |(_, rest)| rest).trim_start_matches(':');
                let (needs, inline) = rest.split_once(';').unwrap_or((rest, ""));
                let needs =
                    needs.split_whitespace().take_while(|word| !word.starts_with('#')).filter(|word| *word != "|");
                let needs: Vec<String> = needs.map(str::to_owned).collect();
                open.clear();
                for name in names.split_whitespace() {
                    open.push(read.rules.len());
                    let recipe =
                        Some(inline.trim().to_owned()).filter(|inline| !inline.is_empty()).into_iter().collect();
                    read.rules.push(MakeRule { name, line: number + 1, needs: needs.clone(), recipe });
                }
            }
        }
        read
    }

    pub(crate) fn includes(&self) -> impl Iterator<Item = &'text str> {
        self.includes.iter().copied()
    }

    pub(super) fn variable_names(&self) -> impl Iterator<Item = &'text str> {
        self.variables.iter().map(|variable| variable.name)
    }

    pub(crate) fn has(&self, target: &str) -> bool {
        self.rules_of(target).next().is_some()
    }

    /// The target that is made if none is named.
    pub(super) fn default_target(&self) -> Option<&str> {
        let goal =
            self.variables.iter().rfind(|variable| variable.name == ".DEFAULT_GOAL").map(|goal| goal.value.as_str());
        goal.or_else(|| {
            self.rules.iter().map(|rule| rule.name).find(|name| !name.starts_with('.') && !name.contains('%'))
        })
    }

    pub(super) fn is_phony(&self, target: &str) -> bool {
        self.needs(".PHONY").contains(&target)
    }

    pub(super) fn line(&self, target: &str) -> usize {
        self.rules_of(target).next().map_or(0, |rule| rule.line)
    }

    pub(super) fn needs(&self, target: &str) -> Vec<&str> {
        self.rules_of(target).flat_map(|rule| rule.needs.iter().map(String::as_str)).collect()
    }

    /// The recipe lines of a target.
    pub(super) fn recipe(&self, target: &str) -> Vec<&str> {
        self.rules_of(target).flat_map(|rule| rule.recipe.iter().map(String::as_str)).collect()
    }

    fn rules_of(&self, target: &str) -> impl Iterator<Item = &MakeRule<'text>> {
        self.rules.iter().filter(move |rule| rule.name == target)
    }

    /// The value of a variable, as written.
    pub(super) fn value(&self, name: &str) -> Option<String> {
        let mut value: Option<String> = None;
        for variable in self.variables.iter().filter(|variable| variable.name == name) {
            value = match value {
                Some(before) if variable.adds => Some(format!("{before} {}", variable.value)),
                _ => Some(variable.value.clone()),
            };
        }
        value
    }

    /// The line with those variables replaced whose values are known here.
    pub(super) fn expanded(&self, line: &str) -> String {
        let mut text = line.to_owned();
        for _ in 0..8 {
            let Some(name) = references(&text).into_iter().find(|name| self.value(name).is_some()) else { break };
            let value = self.value(&name).unwrap_or_default();
            // A variable that names itself would never end.
            let value = if references(&value).contains(&name) { String::new() } else { value };
            text = text.replace(&format!("$({name})"), &value).replace(&format!("${{{name}}}"), &value);
            if text.len() > 1 << 16 {
                break;
            }
        }
        text
    }

    /// These targets and all their prerequisites.
    pub(super) fn closure(&self, targets: &[String]) -> Vec<String> {
        let mut open: Vec<String> = targets.iter().rev().cloned().collect();
        let mut seen: Vec<String> = Vec::new();
        while let Some(name) = open.pop() {
            if seen.contains(&name) {
                continue;
            }
            let calls = self.recipe(&name).into_iter().filter_map(|line| {
                let rest = line.split_once("$(MAKE)").or_else(|| line.split_once("make "))?.1;
                rest.split_whitespace().find(|word| !word.starts_with('-')).map(str::to_owned)
            });
            let needs = self.needs(&name).into_iter().flat_map(|need| {
                // A prerequisite in a variable is replaced by its words; of a function, only the variable is known.
                let words = self.expanded(need);
                let is_plain = !words.contains('$') && need.contains('$');
                if is_plain { words.split_whitespace().map(str::to_owned).collect() } else { vec![need.to_owned()] }
            });
            open.extend(needs.chain(calls));
            seen.push(name);
        }
        // A pattern rule may make anything that is needed.
        let patterns = self.rules.iter().map(|rule| rule.name).filter(|name| name.contains('%'));
        for name in patterns.filter(|_| !targets.is_empty()) {
            if !seen.iter().any(|seen| seen == name) {
                seen.push(name.to_owned());
            }
        }
        seen
    }

    /// The variables used to make these targets, and those that affect every recipe.
    pub(super) fn variables_of(&self, targets: &[String]) -> Vec<String> {
        let mut open: Vec<String> = OF_ALL.iter().map(|name| (*name).to_owned()).collect();
        for target in targets {
            open.extend(self.recipe(target).into_iter().flat_map(references));
            open.extend(self.needs(target).into_iter().flat_map(references));
        }
        // Variables passed to every program, such as options of a runner.
        let exported = self.variables.iter().map(|variable| variable.name);
        open.extend(exported.filter(|name| super::runners::is_variable_of_runners(name)).map(str::to_owned));
        let mut seen: Vec<String> = Vec::new();
        while let Some(name) = open.pop() {
            if !seen.contains(&name) {
                open.extend(self.value(&name).iter().flat_map(|value| references(value)));
                seen.push(name);
            }
        }
        seen.sort();
        seen
    }
}

/// `X = a`, `X := a`, `X ?= a`, `X += a`, `export X=a`, `override X = a`
fn variable<'text>(first: &'text str, whole: &str) -> Option<Variable<'text>> {
    let bare = ["export ", "override ", "private "]
        .iter()
        .fold(first.trim_start(), |line, word| line.strip_prefix(word).unwrap_or(line));
    let (left, _) = bare.split_once('=')?;
    let name = left.trim_end_matches([':', '?', '+', '!']).trim();
    let is_name =
        !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "._-".contains(letter));
    let value = whole.split_once('=')?.1.trim().to_owned();
    is_name.then(|| Variable { name, value, adds: left.ends_with('+') })
}

/// The names of the variables in a text.
fn references(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        rest = &rest[at + 1..];
        let close = match rest.chars().next() {
            Some('(') => ')',
            Some('{') => '}',
            Some('$') => {
                rest = &rest[1..];
                continue;
            }
            _ => continue,
        };
        let Some(end) = rest.find(close) else { break };
        let name = &rest[1..end];
        if name.chars().all(|letter| letter.is_ascii_alphanumeric() || "._-".contains(letter)) && !name.is_empty() {
            found.push(name.to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_makefile_is_read_with_continued_lines() {
        let text = "include a.mk\n-include b.mk c.mk\nPY ?= python3\nFLAGS = -q \\\n  -x\nFLAGS += -v\n.PHONY: test\nall: build\n\
                    test: unit | dirs # all\n\t@$(PY) -m pytest \\\n\t  $(FLAGS)\nunit dirs:; echo a\n";
        let makefile = Makefile::read(text);
        assert_eq!(makefile.includes().collect::<Vec<_>>(), ["a.mk", "b.mk", "c.mk"]);
        assert_eq!(
            (makefile.default_target(), makefile.is_phony("test"), makefile.is_phony("all")),
            (Some("all"), true, false)
        );
        assert_eq!((makefile.needs("test"), makefile.recipe("unit")), (vec!["unit", "dirs"], vec!["echo a"]));
        assert_eq!(makefile.recipe("test"), ["@$(PY) -m pytest  $(FLAGS)"]);
        assert_eq!(makefile.expanded("$(PY) ${FLAGS} $(X)"), "python3 -q  -x -v $(X)");
        assert_eq!(makefile.closure(&["test".to_owned()]), ["test", "dirs", "unit"]);
        assert!(makefile.variables_of(&["test".to_owned()]).contains(&"FLAGS".to_owned()));
    }

    #[test]
    fn a_self_referencing_variable_terminates() {
        let makefile = Makefile::read("A = $(A) x\nB = $(C)\nC = $(B)\nt:\n\t$(A)\n\t$(B)\n");
        assert_eq!(makefile.expanded("$(A)"), "");
        assert!(makefile.expanded("$(B)").len() < 100 && !makefile.variables_of(&["t".to_owned()]).is_empty());
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read(text in "(?s)([a-c: =\t\n\\\\$(){}#;+?]|include |export ){0,60}") {
            let makefile = Makefile::read(&text);
            let targets: Vec<String> = makefile.default_target().map(str::to_owned).into_iter().collect();
            let all = makefile.closure(&targets);
            let _ = (makefile.variables_of(&all), makefile.expanded(&text));
        }
    }
}
