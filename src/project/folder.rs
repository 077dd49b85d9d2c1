//! A phase's folder: which of its files are plans, summaries and other artifacts.

use std::sync::Arc;

use super::phase::{self, PhaseId, PhaseIndex};

/// A folder of a phase with the names of its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PhaseFolder {
    pub(crate) name: String,
    /// Relative to the project's root.
    pub(crate) path: String,
    /// The milestone it is archived under, such as `v1.0`.
    pub(crate) archived: Option<String>,
    /// Sorted; files of the `plans` subfolder include that prefix.
    pub(crate) files: Arc<[String]>,
    /// The length of the identifier at the start of the name.
    token_length: usize,
}

impl PhaseFolder {
    /// The folder at `path` with the names of its files.
    pub(crate) fn new(path: &str, archived: Option<&str>, files: Vec<String>) -> Self {
        let files = files.into();
        let name = path.rsplit('/').next().unwrap_or(path).to_owned();
        let token_length = phase::folder_token(&name).unwrap_or(&name).len();
        Self { name, path: path.to_owned(), archived: archived.map(str::to_owned), files, token_length }
    }

    /// The identifier in the folder's name; the whole name if it has none.
    pub(crate) fn token(&self) -> &str {
        &self.name[..self.token_length]
    }

    /// The identifier in the folder's name.
    pub(crate) fn numbered(&self) -> Option<&str> {
        phase::folder_token(&self.name).map(|_| self.token())
    }

    /// Whether this is the folder of `phase`.
    pub(crate) fn is_of(&self, phase: &PhaseId) -> bool {
        self.numbered().is_some_and(|token| phase.matches(token) || phase.as_str().eq_ignore_ascii_case(token))
    }

    /// The first number of an identifier with several: `04` of `04-80-percent`, which is either phase 4-80 or phase 4
    /// with a name that starts with a number.
    pub(crate) fn first_number(&self) -> Option<&str> {
        let token = self.numbered()?;
        let bare = phase::without_code(token);
        let dash = bare.find('-')?;
        Some(&token[..token.len() - bare.len() + dash])
    }

    /// Treats all but the first number of the identifier as the beginning of the name.
    pub(crate) fn shorten_token(&mut self) {
        self.token_length = self.first_number().map_or(self.token_length, str::len);
    }

    /// The identifier without a project code, and the rest of the name, split at the first dash.
    pub(crate) fn number_and_name(&self) -> (&str, &str) {
        let bare = phase::without_code(&self.name);
        bare.split_once('-').unwrap_or((bare, ""))
    }

    /// The part of the folder's name after its identifier.
    pub(crate) fn slug(&self) -> &str {
        self.name[self.token().len().min(self.name.len())..].trim_start_matches('-')
    }

    pub(crate) fn id(&self) -> PhaseId {
        PhaseId::new(self.token())
    }

    /// The plan files, in order. A plan belongs to the folder that contains it, whatever number its name begins with.
    pub(crate) fn plans(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(String::as_str).filter(|file| is_plan(file))
    }

    /// A message about files that look like plans but have names that cannot be executed.
    pub(crate) fn told_misnamed(&self) -> Option<String> {
        let misnamed: Vec<&str> = self.misnamed_plans().collect();
        (!misnamed.is_empty()).then(|| {
            format!(
                "ignored, because plans are named `<phase>-<number>-PLAN.md`: {}; rename those to execute",
                misnamed.join(", ")
            )
        })
    }

    /// The plans whose name contains an identifier: `02-01-PLAN.md`, `PLAN.md`, or one in the `plans` folder.
    pub(crate) fn named_plans(&self) -> impl Iterator<Item = &str> {
        self.plans().filter(|file| is_named_plan(file))
    }

    /// Files whose names look like plans but are not among [`Self::named_plans`].
    pub(crate) fn misnamed_plans(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(String::as_str).filter(|file| !is_named_plan(file) && looks_like_a_plan(file))
    }

    /// Files with the number of a plan but a name that no verb reads as one: `01-02-plan.md`, `01-02 PLAN.md`.
    pub(crate) fn unread_plans(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(String::as_str).filter(|file| !is_plan(file) && has_the_number_of_a_plan(file))
    }

    /// The summary files, in order.
    pub(crate) fn summaries(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(String::as_str).filter(|file| is_summary(file))
    }

    /// The summary of a plan, if it has one.
    pub(crate) fn summary_of(&self, plan: &str) -> Option<&str> {
        const ENDING: &str = "-SUMMARY.md";
        let stem = plan.strip_suffix(".md").unwrap_or(plan);
        let (before, after) = plan.split_once("PLAN").unwrap_or((plan, ""));
        let is_named_alike = |file: &str| {
            let behind = file.strip_prefix(before).and_then(|rest| rest.strip_prefix("SUMMARY"));
            behind == Some(after) && before.len() < plan.len()
        };
        let id = canonical_id(plan_id(plan));
        let is_of = |file: &str| file.strip_suffix(ENDING).is_some_and(|named| named == stem || named == id);
        let is_it = |file: &&str| is_named_alike(file) || is_of(file) || (*file == plan && before == plan);
        self.files.iter().map(String::as_str).find(is_it)
    }

    /// The first artifact of a kind, such as `CONTEXT` or `VERIFICATION`: `02-CONTEXT.md` or `CONTEXT.md`.
    pub(crate) fn artifact(&self, kind: &str) -> Option<&str> {
        self.artifacts(kind).next()
    }

    /// All artifacts of a kind, in order: those whose numeric prefix names this phase, and those without a prefix. Of
    /// contexts, the one without a prefix comes first: a person put it there by hand.
    pub(crate) fn artifacts(&self, kind: &str) -> impl Iterator<Item = &str> {
        let before_kind = move |file: &'_ str| -> Option<usize> {
            let before = file.strip_suffix(".md")?.strip_suffix(kind)?;
            (before.is_empty() || before.ends_with('-')).then_some(before.len())
        };
        let goes_first = kind == "CONTEXT";
        let bare = self.files.iter().map(String::as_str).find(|file| goes_first && before_kind(file) == Some(0));
        let of_kind = move |file: &&str| before_kind(file).is_some() && !file.contains('/');
        let token = self.token();
        let all = self.files.iter().map(String::as_str).filter(of_kind).filter(move |file| belongs(file, token));
        bare.into_iter().chain(all.filter(move |file| Some(*file) != bare))
    }

    /// The kinds of documents that the phase has in addition to plans and summaries.
    pub(crate) fn kinds(&self) -> Vec<&str> {
        let kind = |file: &'_ str| -> Option<std::ops::Range<usize>> {
            let stem = file.strip_suffix(".md").filter(|stem| !stem.contains('/'))?;
            let start = stem
                .find(|letter: char| letter.is_ascii_uppercase())
                .filter(|start| *start == 0 || stem[..*start].ends_with('-'))?;
            let is_kind = stem[start..].bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'-');
            is_kind.then_some(start..stem.len())
        };
        let others = self.files.iter().map(String::as_str).filter(|file| !is_plan(file) && !is_summary(file));
        let mut kinds: Vec<&str> = others.filter_map(|file| kind(file).map(|range| &file[range])).collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds.retain(|kind| self.artifact(kind).is_some());
        kinds
    }

    /// As [`Self::artifact`], as a path relative to the project's root.
    pub(crate) fn artifact_path(&self, kind: &str) -> Option<String> {
        self.artifact(kind).map(|file| self.join(file))
    }

    pub(crate) fn join(&self, file: &str) -> String {
        [self.path.as_str(), "/", file].concat()
    }
}

/// An index of folders by phase, so that a large project is not searched for each of its phases.
#[derive(Clone, Debug)]
pub(crate) struct FolderIndex<'folders> {
    folders: &'folders [PhaseFolder],
    index: PhaseIndex,
}

impl<'folders> FolderIndex<'folders> {
    pub(crate) fn new(folders: &'folders [PhaseFolder]) -> Self {
        let numbered = folders.iter().enumerate().filter_map(|(at, folder)| Some((at, folder.numbered()?)));
        Self { folders, index: PhaseIndex::new(numbered) }
    }

    /// The first folder that [is of](PhaseFolder::is_of) `phase`.
    pub(crate) fn find(&self, phase: &PhaseId) -> Option<&'folders PhaseFolder> {
        let found = [self.index.find(phase.as_str()), self.index.find_spelling(phase.as_str())];
        Some(&self.folders[found.into_iter().flatten().min()?])
    }
}

/// `02-03` of `02-03-PLAN.md`; a nested plan keeps its path.
pub(crate) fn plan_id(plan: &str) -> &str {
    if plan.contains('/') {
        return plan;
    }
    plan.strip_suffix("-PLAN.md").or_else(|| plan.strip_suffix(".md")).unwrap_or(plan)
}

/// `02-03` of `02-03-user-interface`: the numbers at the start of a plan's identifier; the whole identifier if it
/// starts with something else.
pub(crate) fn canonical_id(id: &str) -> &str {
    let bare = phase::without_code(id);
    let code = id.len() - bare.len();
    let mut length = 0;
    for (index, part) in bare.split('-').enumerate() {
        let fits = if index == 0 {
            part.starts_with(|first: char| first.is_ascii_digit())
        } else {
            !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit())
        };
        if !fits {
            break;
        }
        length += part.len() + usize::from(index > 0);
    }
    if length == 0 { id } else { &id[..code + length] }
}

/// Whether a file of a phase has a path that the program reports: a plan, or a document of a kind, such as
/// `02-CONTEXT.md`.
pub(crate) fn is_artifact(file: &str) -> bool {
    let stem = file.strip_suffix(".md");
    let kind = stem.and_then(|stem| stem.rsplit('-').next()).unwrap_or_default();
    is_plan(file) || is_summary(file) || (kind.len() > 2 && kind.bytes().all(|byte| byte.is_ascii_uppercase()))
}

fn is_summary(file: &str) -> bool {
    match file.strip_prefix("plans/") {
        Some(nested) => {
            nested.strip_suffix(".md").is_some() && (nested.starts_with("SUMMARY-") || is_behind(nested, "-SUMMARY-"))
        }
        None => file.ends_with("-SUMMARY.md") || file == "SUMMARY.md",
    }
}

pub(crate) fn is_named_plan(file: &str) -> bool {
    is_plan(file) && (file.contains('/') || file.ends_with("-PLAN.md") || file == "PLAN.md")
}

fn looks_like_a_plan(file: &str) -> bool {
    let lower = file.to_ascii_lowercase();
    let Some(stem) = lower.strip_suffix(".md").filter(|stem| !stem.contains('/')) else { return false };
    let other = ["-outline", ".pre-bounce", "-review", "-summary"].iter().any(|suffix| stem.ends_with(suffix));
    !other && stem.split('-').any(|word| word == "plan")
}

/// Whether a name begins with two numbers, in any digits, followed by the word `plan` or a word in another script.
fn has_the_number_of_a_plan(file: &str) -> bool {
    let lower = file.to_lowercase();
    let Some(stem) = lower.strip_suffix(".md").or_else(|| lower.strip_suffix(".markdown")) else { return false };
    let behind_number = |text: &'_ str| -> Option<usize> {
        let end = text.find(|letter: char| !(letter.is_numeric() || letter == '.'))?;
        let sign = text[end..].chars().next().filter(|sign| !sign.is_alphanumeric() && *sign != '/')?;
        (end > 0).then_some(end + sign.len_utf8())
    };
    let Some(first) = behind_number(stem) else { return false };
    let Some(second) = behind_number(&stem[first..]) else { return false };
    let name = &stem[first + second..];
    let other = ["outline", "pre-bounce", "review", "summary"].iter().any(|kind| name.contains(kind));
    !other && (name.contains("plan") || name.chars().any(|letter| !letter.is_ascii() && letter.is_alphabetic()))
}

#[expect(clippy::case_sensitive_file_extension_comparisons, reason = "the names of artifacts are exact")]
fn is_plan(file: &str) -> bool {
    if !file.ends_with(".md")
        || file.ends_with("-OUTLINE.md")
        || file.ends_with(".pre-bounce.md")
        || file.ends_with("-PLAN-REVIEW.md")
    {
        return false;
    }
    let numbered = |rest: &str| rest.starts_with(|first: char| first.is_ascii_digit());
    if let Some(nested) = file.strip_prefix("plans/") {
        return nested.strip_prefix("PLAN-").is_some_and(numbered) || is_behind(nested, "-PLAN-");
    }
    if file.contains('/') || file.ends_with("-SUMMARY.md") {
        return false;
    }
    file.ends_with("-PLAN.md")
        || file == "PLAN.md"
        || file.strip_prefix("PLAN-").is_some_and(numbered)
        || is_behind(file, "-PLAN-")
}

/// Whether `kind` is between the number of a phase and the number of a plan: `02-PLAN-03-slug.md`.
fn is_behind(file: &str, kind: &str) -> bool {
    let numbered = |rest: &str| rest.starts_with(|first: char| first.is_ascii_digit());
    let bare = phase::without_code(file);
    bare.split_once(kind).is_some_and(|(phase, rest)| numbered(phase) && numbered(rest))
}

/// Whether a file's numeric prefix names the phase `token`, or it has none.
fn belongs(file: &str, token: &str) -> bool {
    let bare_file = phase::without_code(file);
    if file.starts_with("PLAN-") || !bare_file.starts_with(|first: char| first.is_ascii_digit()) {
        return true;
    }
    let bare_token = phase::without_code(token);
    let starts = |prefix: &str| {
        bare_file.get(..prefix.len()).is_some_and(|head| head.eq_ignore_ascii_case(prefix))
            && bare_file[prefix.len()..].starts_with('-')
    };
    starts(bare_token) || starts(PhaseId::new(bare_token).as_str()) || starts(bare_token.trim_start_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str, files: &[&str]) -> PhaseFolder {
        PhaseFolder::new(&format!(".planning/phases/{name}"), None, files.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn plans_are_distinguished_from_similar_files() {
        let files = [
            "02-01-PLAN-OUTLINE.md",
            "02-01-PLAN.md",
            "02-02-PLAN.pre-bounce.md",
            "02-01-PLAN-REVIEW.md",
            "03-01-PLAN.md",
            "PLAN.md",
            "PLAN-01-x.md",
            "plans/PLAN-02-y.md",
            "plans/02-PLAN-04-z.md",
            "plans/02-SUMMARY-04-z.md",
            "plans/02-PLAN-05-OUTLINE.md",
            "plans/02-PLAN-06.pre-bounce.md",
            "02-PLAN-03.md",
            "02-01-SUMMARY.md",
            "notes.md",
        ];
        let folder = folder("02-notes-core", &files);
        assert_eq!(
            folder.plans().collect::<Vec<_>>(),
            [
                "02-01-PLAN.md",
                "03-01-PLAN.md",
                "PLAN.md",
                "PLAN-01-x.md",
                "plans/PLAN-02-y.md",
                "plans/02-PLAN-04-z.md",
                "02-PLAN-03.md"
            ]
        );
        assert_eq!(folder.summary_of("plans/02-PLAN-04-z.md"), Some("plans/02-SUMMARY-04-z.md"));
        assert_eq!(folder.misnamed_plans().collect::<Vec<_>>(), ["PLAN-01-x.md", "02-PLAN-03.md"]);
        for file in [
            "01-02-plan.md",
            "01-02-Plan.md",
            "01-02-PLAN-同步.md",
            "01-02-PLAN：x.md",
            "01-02-计划.md",
            "01－02－PLAN.md",
            "01-02 PLAN.md",
            "01-02_PLAN.md",
            "01-02-PLAN (1).md",
            "01-02-PLAN.markdown",
            "01-02-PLAN-login.md",
        ] {
            let folder = PhaseFolder::new("phases/01-a", None, vec![file.to_owned()]);
            assert_eq!(folder.unread_plans().count(), 1, "{file}");
        }
        for file in [
            "01-02-PLAN.md",
            "01-02-SUMMARY.md",
            "01-PLAN-02.md",
            "PLAN.md",
            "01-02-PLAN-REVIEW.md",
            "01-02-NOTES.md",
            "test-plan.md",
            "01-CONTEXT.md",
            "01-计划.md",
            "01-02-PLAN-OUTLINE.md",
        ] {
            let folder = PhaseFolder::new("phases/01-a", None, vec![file.to_owned()]);
            assert_eq!(folder.unread_plans().count(), 0, "{file}");
        }
        assert_eq!(folder.summaries().collect::<Vec<_>>(), ["plans/02-SUMMARY-04-z.md", "02-01-SUMMARY.md"]);
        assert_eq!(folder.summary_of("02-01-PLAN.md"), Some("02-01-SUMMARY.md"));
        assert_eq!(folder.summary_of("02-PLAN-03.md"), None);
    }

    #[test]
    fn a_summary_may_leave_out_the_words_of_its_plan() {
        let folder = folder("02-notes-core", &["02-01-SUMMARY.md", "02-03-PLAN-SUMMARY.md", "plans/SUMMARY-04-z.md"]);
        assert_eq!(folder.summary_of("02-01-user-interface-PLAN.md"), Some("02-01-SUMMARY.md"));
        assert_eq!(folder.summary_of("02-03-PLAN.md"), Some("02-03-PLAN-SUMMARY.md"));
        assert_eq!(folder.summary_of("plans/PLAN-04-z.md"), Some("plans/SUMMARY-04-z.md"));
        assert_eq!(folder.summary_of("02-02-PLAN.md"), None);
        for (id, canonical) in [("12A.1-01-x", "12A.1-01"), ("ACME-01-02-x", "ACME-01-02"), ("x-y", "x-y"), ("", "")] {
            assert_eq!(canonical_id(id), canonical);
        }
    }

    #[test]
    fn a_project_code_may_precede_the_number() {
        let folder = folder("ACME-01-foundation", &["01-01-PLAN.md", "01-CONTEXT.md"]);
        assert_eq!(folder.token(), "ACME-01");
        assert_eq!(folder.number_and_name(), ("01", "foundation"));
        assert_eq!(folder.slug(), "foundation");
        assert_eq!(folder.plans().count(), 1);
        assert_eq!(folder.artifact("CONTEXT"), Some("01-CONTEXT.md"));
    }

    #[test]
    fn a_context_without_a_number_comes_first() {
        let folder = folder("01-a", &["01-CONTEXT.md", "01-UAT.md", "CONTEXT.md", "UAT.md"]);
        assert_eq!(folder.artifacts("CONTEXT").collect::<Vec<_>>(), ["CONTEXT.md", "01-CONTEXT.md"]);
        assert_eq!(folder.artifact("UAT"), Some("01-UAT.md"));
    }

    #[test]
    fn a_milestone_prefixed_folder_keeps_both_numbers() {
        let folder = folder("02-01-prefixed", &["02-01-01-PLAN.md"]);
        assert_eq!((folder.token(), folder.slug()), ("02-01", "prefixed"));
        assert_eq!(folder.number_and_name(), ("02", "01-prefixed"));
        assert_eq!(plan_id(folder.plans().next().unwrap()), "02-01-01");
    }

    proptest::proptest! {
        #[test]
        fn a_name_is_found_by_parts_just_as_by_the_whole_name(
            files in proptest::collection::vec(r"(plans/)?(02-|P-02-)?(01-)?(x-)?(PLAN|SUMMARY|CONTEXT)(-PLAN|-SUMMARY|-CONTEXT)?(-03)?(\.md)?", 0..8),
            plan in r"(plans/)?(02-)?(01-)?(x-)?(PLAN)?(-PLAN)?(-03)?(\.md)?",
        ) {
            let names: Vec<&str> = files.iter().map(String::as_str).collect();
            let folder = folder("02-notes", &names);
            let stem = plan.strip_suffix(".md").unwrap_or(&plan);
            let whole = [
                plan.replacen("PLAN", "SUMMARY", 1),
                format!("{stem}-SUMMARY.md"),
                format!("{}-SUMMARY.md", canonical_id(plan_id(&plan))),
            ];
            let summary = files.iter().find(|file| whole.contains(file)).map(String::as_str);
            proptest::prop_assert_eq!(folder.summary_of(&plan), summary);
            for kind in ["CONTEXT", "SUMMARY"] {
                let (suffix, plain) = (format!("-{kind}.md"), format!("{kind}.md"));
                let is_kind = |file: &&str| !file.contains('/') && (file.ends_with(&suffix) || *file == plain);
                let mut expected: Vec<&str> =
                    names.iter().copied().filter(is_kind).filter(|file| belongs(file, folder.token())).collect();
                if kind == "CONTEXT" && let Some(bare) = names.iter().find(|file| **file == plain) {
                    expected.retain(|file| file != bare);
                    expected.insert(0, *bare);
                }
                proptest::prop_assert_eq!(folder.artifacts(kind).collect::<Vec<_>>(), expected);
            }
        }
    }
}
