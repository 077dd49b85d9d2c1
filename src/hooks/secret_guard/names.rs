//! The names of secret files: a table stored as data, and the user's additions.

use std::path::Path;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::Value;

use crate::text::shell::Spelling;

static TABLE: LazyLock<NameTable> =
    LazyLock::new(|| toml_edit::de::from_str(include_str!("secrets.toml")).unwrap_or_default());

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct NameTable {
    secret: Vec<SecretNames>,
}

/// Names of one kind.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct SecretNames {
    pub(super) kind: SecretKind,
    names: Vec<String>,
    #[serde(default)]
    but: Vec<String>,
    /// Texts without which a file of such a name is not secret.
    #[serde(default)]
    only_with: Vec<String>,
    /// Whether a file that cannot be read counts as not secret.
    #[serde(default)]
    pub(super) is_seen: bool,
}

/// What can be done with a file instead of reading it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum SecretKind {
    /// Its values can be loaded.
    Environment,
    Key,
    Credentials,
    #[default]
    Other,
}

impl SecretNames {
    /// True if a file of such a name is secret whatever it contains.
    pub(super) fn is_certain(&self) -> bool {
        self.only_with.is_empty()
    }

    /// True if the content of a file is secret.
    pub(super) fn is_secret(&self, content: &str) -> bool {
        self.is_certain()
            || content.lines().map(str::to_lowercase).any(|line| {
                !line.trim_start().starts_with('#')
                    && !line.contains("${")
                    && self.only_with.iter().any(|text| line.contains(text.as_str()))
            })
    }
}

/// The table, with the additions of the settings.
#[derive(Debug, Default)]
pub(super) struct GuardedNames {
    added: SecretNames,
    /// Names that the user declared as not secret.
    excepted: Vec<String>,
}

impl GuardedNames {
    /// Combines the user's own settings and the project's: the latter can add names but except none.
    pub(super) fn with(user: Option<&Value>, project: Option<&Value>) -> Self {
        let patterns = |value: Option<&Value>| -> Vec<String> {
            let list = value.and_then(Value::as_array).into_iter().flatten();
            list.filter_map(Value::as_str).map(str::to_lowercase).collect()
        };
        let (excepted, mut names): (Vec<_>, Vec<_>) =
            patterns(user).into_iter().partition(|pattern| pattern.starts_with('!'));
        names.extend(patterns(project).into_iter().filter(|pattern| !pattern.starts_with('!')));
        let excepted = excepted.iter().map(|pattern| pattern[1..].to_owned()).collect();
        Self { added: SecretNames { names, ..SecretNames::default() }, excepted }
    }

    /// The row that a name without wildcards belongs to.
    pub(super) fn row(&self, name: &str) -> Option<&SecretNames> {
        let path = name.replace('\\', "/").to_lowercase();
        let path = without_marks_of_a_copy(&path);
        // A sentence may end in a name; a file name with a blank is rare.
        if path.is_empty() || path.rsplit('/').next().is_some_and(|file| file.contains(' ')) {
            return None;
        }
        if self.added.has(path) {
            return Some(&self.added);
        }
        if self.excepted.iter().any(|pattern| fits(pattern, path)) {
            return None;
        }
        // What the first row excludes is not secret in any other row.
        let (first, others) = TABLE.secret.split_first()?;
        if first.but.iter().any(|pattern| fits(pattern, path)) {
            return None;
        }
        others.iter().find(|row| row.has(path))
    }

    /// True if a pattern of a program that also finds hidden files is meant for secret files. One that matches
    /// everything is not.
    pub(super) fn searches(&self, pattern: &Spelling) -> bool {
        !pattern.starts_with("!") && pattern.names().iter().any(|name| self.is_about(name))
    }

    fn is_about(&self, name: &Spelling) -> bool {
        let file = name.file_name();
        if !file.has_wildcards() {
            return self.row(&name.text()).is_some();
        }
        let letters = file.text().chars().filter(|letter| letter.is_alphanumeric()).count();
        let rows = TABLE.secret.iter().chain([&self.added]);
        // `*.json` is not meant for the few of them that contain an account.
        letters > 0
            && rows
                .filter(|row| row.kind != SecretKind::Credentials || row.is_certain())
                .flat_map(|row| row.names.iter().map(move |name| (row, name)))
                .filter(|(_, usual)| !usual.contains(['*', '/']) && !part_fits("*.json", usual))
                .any(|(_, usual)| file.fits(usual) && self.row(usual).is_some())
    }

    /// As [`Self::searches`], for a shell pattern, which matches names that begin with a dot only if it begins with
    /// one.
    pub(super) fn is_found_by(&self, pattern: &Spelling) -> bool {
        let file = pattern.file_name();
        if file.starts_with(".") {
            return self.searches(pattern);
        }
        let usual = TABLE.secret.iter().flat_map(|row| &row.names).filter(|usual| !usual.contains(['*', '/']));
        let letters = file.text().chars().filter(|letter| letter.is_alphanumeric()).count();
        let mut usual = usual.filter(|usual| !usual.starts_with('.'));
        letters > 0 && usual.any(|usual| file.fits(usual) && self.row(usual).is_some_and(SecretNames::is_certain))
    }
}

impl SecretNames {
    fn has(&self, path: &str) -> bool {
        self.names.iter().any(|pattern| fits(pattern, path)) && !self.but.iter().any(|pattern| fits(pattern, path))
    }
}

/// True if the end of a path matches a pattern: each part is a pattern for a part, and `**` at the end matches
/// everything below.
fn fits(pattern: &str, path: &str) -> bool {
    let (pattern, below) = pattern.strip_suffix("/**").map_or((pattern, false), |folder| (folder, true));
    // This runs for every word of a command line, so the test that excludes most of them comes first.
    let last = pattern.rsplit('/').next().unwrap_or_default();
    if below {
        if !path.contains(last) {
            return false;
        }
    } else if !part_fits(last, path.rsplit('/').next().unwrap_or_default()) {
        return false;
    } else if !pattern.contains('/') {
        return true;
    }
    let is_absolute = pattern.starts_with('/');
    let wanted: Vec<&str> = pattern.split('/').filter(|part| !part.is_empty()).collect();
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let ends_at = |end: usize| {
        end >= wanted.len()
            && (!is_absolute || end == wanted.len())
            && wanted.iter().zip(&parts[end - wanted.len()..end]).all(|(wanted, part)| part_fits(wanted, part))
    };
    if below { (0..parts.len()).any(ends_at) } else { ends_at(parts.len()) }
}

/// True if a name, in lower case, matches a pattern. Most patterns have one `*` at one end: every word of a command
/// line is compared with all of them.
fn part_fits(pattern: &str, name: &str) -> bool {
    let is_plain = |text: &str| !text.contains(['*', '?', '[']);
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(end), _) if is_plain(end) => name.ends_with(end),
        (_, Some(start)) if is_plain(start) => name.starts_with(start),
        (None, None) if is_plain(pattern) => name == pattern,
        _ => Spelling::pattern(pattern).fits(name),
    }
}

/// The name of the original of a copy made by an editor or a careful person.
fn without_marks_of_a_copy(path: &str) -> &str {
    let start = path.rfind('/').map_or(0, |slash| slash + 1);
    let (folder, file) = path.split_at(start);
    if let Some(copy) = file.strip_prefix('#').and_then(|file| file.strip_suffix('#')).filter(|_| folder.is_empty()) {
        return copy;
    }
    let mut file = path;
    while let Some(shorter) =
        ["~", ".bak", ".old", ".orig", ".save", ".swp", ".backup"].iter().find_map(|mark| file.strip_suffix(mark))
    {
        if Path::new(shorter).file_name().is_none() {
            break;
        }
        file = shorter;
    }
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_secret(names: &GuardedNames, path: &str) -> bool {
        names.row(path).is_some()
    }

    #[test]
    fn files_are_judged_by_their_names() {
        assert!(TABLE.secret.len() > 10);
        let names = GuardedNames::default();
        for path in [
            ".env",
            "/a/.env",
            "a\\.env",
            ".env.local",
            ".Env.Production",
            ".secrets",
            ".secrets/db",
            "/x/.secrets/a/b",
            ".env~",
            ".env.bak",
            "#.env#",
            ".env-old",
            ".envrc",
            "deploy/prod.env",
            "~/.ssh/id_rsa",
            "id_ed25519",
            "certs/server.key",
            "server.key.bak",
            "tls/privkey.pem",
            ".npmrc",
            "~/.pypirc",
            "/srv/app/.netrc",
            "~/.aws/credentials",
            "~/.config/gcloud/application_default_credentials.json",
            "~/.kube/config",
            "~/.docker/config.json",
            "app/service-account-dev.json",
            "config/master.key",
            "/etc/shadow",
        ] {
            assert!(is_secret(&names, path), "{path}");
        }
        for path in [
            "",
            ".env.example",
            ".env.local.dist",
            ".env.",
            "secrets",
            "process.env",
            ".env/bin/x",
            "id_rsa.pub",
            "id_ed25519_personal.pub",
            "server.crt",
            "fullchain.pem",
            "ca.pem",
            "public.key",
            "aws/credentials.md",
            "src/environment.ts",
            "credentials.rs",
            "config/secrets.rb",
            ".envoy.yaml",
            "docs/api-key.md",
            "example.env",
            "turkey",
            "monkey.js",
            ".env.production.example",
            "config.json",
            ".kube/cache",
            "etc/shadow.md",
        ] {
            assert!(!is_secret(&names, path), "{path}");
        }
    }

    #[test]
    fn patterns_that_find_hidden_files_are_judged_by_usual_names() {
        let names = GuardedNames::default();
        let searches = |glob: &str| names.searches(&Spelling::pattern(glob));
        for glob in [".env", "**/.env", "*.env", ".env*", ".env.*", "{.env,x}", "**/*.{env,ts}", "*.pem", "id_*"] {
            assert!(searches(glob), "{glob}");
        }
        for glob in ["*", "**/*", "*.ts", "*.*", ".*", "!.env", ".env.example", "*.{ts,js}", "", "*.md", "*.json"] {
            assert!(!searches(glob), "{glob}");
        }
    }

    #[test]
    fn the_user_can_add_and_except_names_and_a_project_can_only_add() {
        let user = serde_json::json!(["*.vault-export", "!*.pem", "!.env.ci", 3]);
        let project = serde_json::json!(["Notes.TXT", "!.env"]);
        let names = GuardedNames::with(Some(&user), Some(&project));
        for path in ["a.vault-export", "docs/notes.txt", ".env"] {
            assert!(is_secret(&names, path), "{path}");
        }
        for path in ["key.pem", ".env.ci"] {
            assert!(!is_secret(&names, path), "{path}");
        }
        assert!(is_secret(&GuardedNames::with(None, Some(&user)), "key.pem"), "a project excepts nothing");
    }

    #[test]
    fn some_files_are_secret_because_of_their_content() {
        let names = GuardedNames::default();
        let secret = |path: &str, content: &str| names.row(path).unwrap().is_secret(content);
        assert!(secret(".npmrc", "a=b\n//packages.example/:_authToken=npm_x\n"));
        assert!(!secret(".npmrc", "registry=https://r\n//r/:_authToken=${NPM_TOKEN}\n"));
        assert!(secret("x.pem", "-----BEGIN RSA PRIVATE KEY-----"));
        assert!(!secret("x.pem", "-----BEGIN CERTIFICATE-----"));
        assert!(secret(".envrc", "export API_KEY=x") && !secret(".envrc", "use flake\n# API_KEY=x"));
        assert!(secret(".env", "PORT=1"), "by its name alone");
    }
}
