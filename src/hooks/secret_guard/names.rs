//! Which names, as a shell spells them, are those of files with secrets.

use crate::text::shell::Spelling;

/// Files with the values left out, or encrypted.
const EXAMPLES: &[&str] =
    &[".example", ".sample", ".template", ".tmpl", ".tpl", ".dist", ".defaults", ".schema", ".vault"];

/// Names that stand for all secret ones where a pattern is to be judged.
const USUAL: &[&str] =
    &[".env", ".env.local", ".env.development", ".env.production", ".env.staging", ".env.test", ".secrets"];

/// Whether a name, as a shell spells it, is or matches that of a file with secrets.
pub(super) fn is_secret(name: &Spelling) -> bool {
    let path = name.text().to_lowercase();
    if path.split(['/', '\\']).any(|part| part == ".secrets") {
        return true;
    }
    let file = name.file_name();
    if !file.has_wildcards() {
        return is_secret_name(&file.text().to_lowercase());
    }
    // In a shell, a pattern finds names that begin with a dot only if it begins with one.
    file.starts_with(".") && searches(&file)
}

fn is_secret_name(name: &str) -> bool {
    let suffix = name.strip_prefix(".env").unwrap_or("-");
    let named = suffix.strip_prefix('.').is_some_and(|suffix| !suffix.is_empty());
    name == ".secrets" || suffix.is_empty() || named && !EXAMPLES.iter().any(|example| name.ends_with(example))
}

/// Whether a pattern that finds hidden files too is about files with secrets. One that finds everything is not.
pub(super) fn searches(pattern: &Spelling) -> bool {
    let excluded = pattern.starts_with("!");
    let about = |name: &Spelling| {
        let file = name.file_name();
        let letters = file.text().chars().filter(|letter| letter.is_alphanumeric()).count();
        if file.has_wildcards() { letters > 0 && USUAL.iter().any(|usual| file.fits(usual)) } else { is_secret(name) }
    };
    !excluded && pattern.names().iter().any(about)
}
