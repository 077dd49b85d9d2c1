//! How the texts of an installation spell the paths of our files.

pub(crate) use crate::runtime::CONTENT_FOLDER;
use crate::runtime::Scope;
use crate::text::shell::shell_word;

/// The paths of one installation, as texts and command lines write them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spelling {
    /// The host's folder: `~/.x` in a global installation, `.x` in a local one, absolute outside the home.
    ///
    /// The home is spelled `~` and not as a variable: hosts that allow commands by their text refuse those with a
    /// variable.
    root: String,
    /// The same without `~`, for places that no shell expands.
    absolute_root: String,
    /// How our program is called if that does not follow from the root.
    program: Option<String>,
}

impl Spelling {
    /// Spells the paths of an installation. `root` and `user` are absolute with `/`; `local` is the host's folder below
    /// the project.
    pub(crate) fn new(scope: Scope, local: &str, root: &str, user: &str) -> Spelling {
        let root = root.trim_end_matches('/');
        let below_home = root.strip_prefix(user.trim_end_matches('/')).and_then(|rest| rest.strip_prefix('/'));
        let (spelled, absolute) = match (scope, below_home) {
            (Scope::Local, _) => (local.to_owned(), local.to_owned()),
            (Scope::Global, Some(below)) => (format!("~/{below}"), root.to_owned()),
            (Scope::Global, None) => (root.to_owned(), root.to_owned()),
        };
        Spelling { root: spelled, absolute_root: absolute, program: None }
    }

    /// The same, with the program called by its absolute path if `wanted`, because no shell changes that.
    pub(crate) fn with_absolute_program(self, wanted: bool) -> Spelling {
        let program = wanted.then(|| shell_word(&self.absolute_binary()));
        Spelling { program, ..self }
    }

    /// The spelling for a folder without a path yet: `root` is its placeholder, and `program` is one word of a shell,
    /// if our program is not called by its path.
    pub(crate) fn of_word(root: &str, program: Option<&str>) -> Spelling {
        Spelling { root: root.to_owned(), absolute_root: root.to_owned(), program: program.map(str::to_owned) }
    }

    /// A path below the host's folder, for a reader.
    pub(crate) fn of(&self, path: &str) -> String {
        format!("{}/{path}", self.root)
    }

    /// The folder of our files.
    pub(crate) fn content(&self) -> String {
        self.of(CONTENT_FOLDER)
    }

    /// The folder of our files as the beginning of a path pattern, for hosts whose patterns begin with `//` if they are
    /// absolute: a single `/` is then relative to the settings file or the project.
    pub(crate) fn content_pattern(&self) -> String {
        let content = self.content();
        if content.starts_with('/') { format!("/{content}") } else { content }
    }

    /// The path of a library file where it is installed.
    pub(crate) fn library(&self, path: &str) -> String {
        format!("{}/{path}", self.content())
    }

    /// The same inside double quotes of a shell, which does not expand `~` there.
    pub(crate) fn library_in_quotes(&self, path: &str) -> String {
        let spelled = self.library(path);
        match spelled.strip_prefix("~/") {
            Some(below) => format!("$HOME/{below}"),
            None => spelled,
        }
    }

    /// Our program, for a reader.
    pub(crate) fn binary(&self) -> String {
        self.program.clone().unwrap_or_else(|| format!("{}/bin/gsd-tools", self.content()))
    }

    /// Our program as one word of a shell.
    pub(crate) fn binary_word(&self) -> String {
        self.program.clone().unwrap_or_else(|| shell_word(&self.binary()))
    }

    /// Our program as one word of a shell, for a file that is not shared in a project.
    pub(crate) fn absolute_binary_word(&self) -> String {
        self.program.clone().unwrap_or_else(|| shell_word(&self.absolute_binary()))
    }

    /// Our program as one word of a shell that names the home by its variable, which is the same in every home; `None`
    /// if the program is not below the home.
    pub(crate) fn portable_binary_word(&self) -> Option<String> {
        let below_home = format!("{}/bin/gsd-tools", self.content());
        let below_home = below_home.strip_prefix("~/")?;
        let is_plain = shell_word(below_home) == below_home;
        let quoted = || below_home.chars().flat_map(|c| "\\\"$`".contains(c).then_some('\\').into_iter().chain([c]));
        Some(format!("\"$HOME/{}\"", if is_plain { below_home.to_owned() } else { quoted().collect() }))
    }

    /// Our program as the beginning of a command pattern, for hosts that replace a leading `~/` with the home folder:
    /// then the pattern is for the absolute path, and the same for every home.
    pub(crate) fn binary_pattern(&self) -> String {
        let below_home = format!("{}/bin/gsd-tools", self.content());
        let is_plain = below_home.starts_with("~/") && shell_word(&below_home) == below_home;
        if is_plain { below_home } else { self.binary_word() }
    }

    pub(crate) fn absolute_binary(&self) -> String {
        format!("{}/{CONTENT_FOLDER}/bin/gsd-tools", self.absolute_root)
    }
}

/// The text with the path of our program shortened, for a person: it is long, and the same in every entry of an install.
pub(crate) fn with_short_program(text: String) -> String {
    const PROGRAM: &str = "/bin/gsd-tools";
    let Some(at) = text.find(PROGRAM) else { return text };
    let start = text[..at].rfind([' ', '"', '(', '\'']).map_or(0, |before| before + 1);
    format!("{}.../gsd-tools{}", &text[..start], &text[at + PROGRAM.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_below_the_home_is_spelled_with_a_tilde() {
        let spelling = Spelling::new(Scope::Global, ".x", "/home/u/.x/", "/home/u");
        assert_eq!(spelling.library("workflows/a.md"), "~/.x/gsd-core/workflows/a.md");
        assert_eq!(spelling.library_in_quotes("workflows/a.md"), "$HOME/.x/gsd-core/workflows/a.md");
        assert_eq!(spelling.binary_word(), "~/.x/gsd-core/bin/gsd-tools");
        assert_eq!(spelling.binary_pattern(), "~/.x/gsd-core/bin/gsd-tools");
        assert_eq!(spelling.absolute_binary_word(), "/home/u/.x/gsd-core/bin/gsd-tools");
        assert_eq!(spelling.portable_binary_word().unwrap(), "\"$HOME/.x/gsd-core/bin/gsd-tools\"");
        let odd = Spelling::new(Scope::Global, ".x", "/home/u/my $x", "/home/u");
        assert_eq!(odd.portable_binary_word().unwrap(), "\"$HOME/my \\$x/gsd-core/bin/gsd-tools\"");
        assert_eq!(Spelling::new(Scope::Global, ".x", "/srv/x", "/home/u").portable_binary_word(), None);
    }

    #[test]
    fn a_program_called_by_its_absolute_path_has_a_pattern_for_every_home() {
        let whole = |root: &str| Spelling::new(Scope::Global, ".x", root, "/home/u").with_absolute_program(true);
        let spelling = whole("/home/u/.x");
        assert_eq!(spelling.binary(), "/home/u/.x/gsd-core/bin/gsd-tools");
        assert_eq!(spelling.binary_pattern(), "~/.x/gsd-core/bin/gsd-tools");
        assert_eq!(spelling.library("a.md"), "~/.x/gsd-core/a.md");
        let quoted = whole("/home/u/my x");
        assert_eq!(quoted.binary_word(), "\"/home/u/my x/gsd-core/bin/gsd-tools\"");
        assert_eq!(quoted.binary_pattern(), quoted.binary_word());
        let outside = whole("/srv/x");
        assert_eq!(outside.binary_pattern(), "/srv/x/gsd-core/bin/gsd-tools");
    }

    #[test]
    fn another_place_is_absolute_and_a_project_is_relative() {
        let outside = Spelling::new(Scope::Global, ".x", "/srv/x", "/home/u");
        assert_eq!(outside.binary_word(), "/srv/x/gsd-core/bin/gsd-tools");
        assert_eq!(outside.content_pattern(), "//srv/x/gsd-core");
        let beside = Spelling::new(Scope::Global, ".x", "/home/user2/x", "/home/u");
        assert_eq!(beside.binary_word(), "/home/user2/x/gsd-core/bin/gsd-tools");
        let local = Spelling::new(Scope::Local, ".x", "/srv/p/.x", "/home/u");
        assert_eq!(local.binary_word(), ".x/gsd-core/bin/gsd-tools");
        assert_eq!(local.library_in_quotes("a.md"), ".x/gsd-core/a.md");
        assert_eq!(local.content_pattern(), ".x/gsd-core");
    }

    #[test]
    fn characters_that_a_shell_would_interpret_are_quoted() {
        let spelling = Spelling::new(Scope::Global, ".x", "/home/j d/my $x", "/home/j d");
        assert_eq!(spelling.binary_word(), "~/\"my \\$x/gsd-core/bin/gsd-tools\"");
        assert_eq!(spelling.absolute_binary_word(), "\"/home/j d/my \\$x/gsd-core/bin/gsd-tools\"");
    }
}
