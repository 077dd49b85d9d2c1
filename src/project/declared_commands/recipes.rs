//! The recipes of a project for `make` and `just`.

use super::{Declared, DeclaredBy};
use crate::project::files::{FileError, Files};

/// The makefile names that `make` looks for, in its order.
pub(crate) const MAKEFILES: &[&str] = &["GNUmakefile", "makefile", "Makefile"];

/// The justfile names, in any case.
const JUSTFILES: &[&str] = &["justfile", ".justfile"];

/// The command for a target of the makefile that `make` reads.
pub(super) fn make(files: &dyn Files, target: &str) -> Result<Option<Declared>, FileError> {
    for name in MAKEFILES {
        if let Some(text) = files.read(name)? {
            let declared = || Declared::new(DeclaredBy::Make, name, format!("make {target}"));
            return Ok(has_target(&text, target).then(declared));
        }
    }
    Ok(None)
}

/// The command for a recipe of the justfile, if it needs no arguments.
pub(super) fn just(files: &dyn Files, recipe: &str) -> Result<Option<Declared>, FileError> {
    let entries = files.list("")?.unwrap_or_default();
    let is_justfile = |name: &str| JUSTFILES.iter().any(|known| name.eq_ignore_ascii_case(known));
    let Some(entry) = entries.into_iter().find(|entry| !entry.is_folder && is_justfile(&entry.name)) else {
        return Ok(None);
    };
    let text = files.read(&entry.name)?.unwrap_or_default();
    let declared = || Declared::new(DeclaredBy::Just, &entry.name, format!("just {recipe}"));
    Ok(has_recipe(&text, recipe).then(declared))
}

/// Whether a makefile has a rule for a target: `test:`, `test lint : build`, `test::`, but not `test := x`.
fn has_target(makefile: &str, target: &str) -> bool {
    makefile.lines().filter(|line| !line.starts_with(['\t', '#'])).any(|line| {
        let Some((targets, rest)) = line.split_once(':') else { return false };
        !rest.trim_start_matches(':').starts_with('=') && targets.split_whitespace().any(|name| name == target)
    })
}

/// Whether a justfile has a recipe, or an alias of one, that needs no arguments.
fn has_recipe(justfile: &str, recipe: &str) -> bool {
    justfile.lines().any(|line| {
        if let Some(alias) = line.strip_prefix("alias ") {
            return alias.split_once(":=").is_some_and(|(name, _)| name.trim() == recipe);
        }
        let head = line.strip_prefix('@').unwrap_or(line);
        let Some(rest) = head.strip_prefix(recipe) else { return false };
        let Some((parameters, rest)) = rest.split_once(':') else { return false };
        let is_name = parameters.is_empty() || parameters.starts_with(char::is_whitespace);
        let has_value = |word: &str| word.starts_with('*') || word.contains('=');
        is_name && !rest.starts_with('=') && parameters.split_whitespace().all(has_value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_makefile_rule_is_not_confused_with_a_variable() {
        for rule in ["test: all", "test:", "test::", "lint test : build", "a:\n\techo\ntest: a"] {
            assert!(has_target(rule, "test"), "{rule}");
        }
        for other in ["test := x", "test ::= x", "tests:", "\ttest: x", "# test:", ".PHONY: test", "unit-test:", ""] {
            assert!(!has_target(other, "test"), "{other}");
        }
    }

    #[test]
    fn a_recipe_counts_if_it_needs_no_arguments() {
        for recipe in ["test:", "@test: build", "test *ARGS:", "test level='1':", "alias test := check"] {
            assert!(has_recipe(recipe, "test"), "{recipe}");
        }
        for other in ["test name:", "test +names:", "test := 'x'", "tests:", "  test:", "# test:", "alias t := test"] {
            assert!(!has_recipe(other, "test"), "{other}");
        }
    }
}
