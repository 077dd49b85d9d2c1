//! Checks that a descriptor makes sense as a whole, beyond its format. For the files of users, each fault has its
//! position in the file and a fix; our own files are checked by tests.

use std::ops::Range;

use toml_edit::{Document, Item};

use super::descriptor::{Descriptor, Evidence, LocalHome, RuntimeId};
use super::files::{EditForm, HostFormat};
use super::matrix::Means;
use super::tables::{EventName, HookForm};
use super::terms::{Encoding, Feature, Lack, Place, PlaceAnchor, PlaceItem, Scope};
use crate::text::edit::{FileFormat, ParseError};
use crate::text::nearest::nearest;

/// What is wrong with a descriptor, where, and how to fix it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{at}")]
pub(crate) struct DescriptorFault {
    pub(crate) at: ParseError,
    pub(crate) cure: String,
}

/// A step on the path to a value in the file.
#[derive(Clone, Copy, Debug)]
enum PathStep<'a> {
    Key(&'a str),
    Index(usize),
}

use PathStep::{Index, Key};

/// Names in the host's folder that are needed for bookkeeping.
const RESERVED: &[&str] = &["gsd-file-manifest.json", "gsd-local-patches"];

const ALL_KEYS: &str = "`gsd-tools guide own-host` explains every key";

impl Descriptor {
    /// Parses a descriptor and checks that it makes sense.
    pub(crate) fn read(text: &str) -> Result<Descriptor, DescriptorFault> {
        let descriptor = Descriptor::parse(text).map_err(|error| unreadable(text, &error))?;
        descriptor.check(text)?;
        Ok(descriptor)
    }

    /// Returns the first fault of this descriptor, which was read from `text`.
    pub(crate) fn check(&self, text: &str) -> Result<(), DescriptorFault> {
        let file = File { text, tree: Document::parse(text).ok() };
        self.check_itself(&file)?;
        self.check_programs(&file)?;
        self.check_home(&file)?;
        self.check_places(&file)?;
        self.check_paths(&file)?;
        self.check_files(&file)?;
        self.check_hooks(&file)?;
        self.check_lacks(&file)
    }

    /// Makes a fault at this key of the file.
    pub(super) fn fault(text: &str, key: &str, wrong: String, cure: &str) -> DescriptorFault {
        File { text, tree: Document::parse(text).ok() }.fault(&[Key(key)], wrong, cure)
    }

    fn check_itself(&self, file: &File<'_>) -> Result<(), DescriptorFault> {
        for (number, alias) in self.aliases.iter().enumerate() {
            let wrong = format!("`{alias}` cannot name a host");
            let path = [Key("aliases"), Index(number)];
            file.refuse(alias.parse::<RuntimeId>().is_err(), &path, wrong, "use small letters, digits and `-`")?;
        }
        file.check_date(&[Key("verified"), Key("date")], &self.verified.date)?;
        let has_version = self.verified.version.is_some();
        if self.verified.by == Evidence::Client {
            let cure = "add `version = \"...\"`, or say `by = \"vendor-doc\"` or `by = \"secondary\"`";
            file.refuse(!has_version, &[Key("verified")], "a client that was run has a version", cure)?;
        } else {
            let path = [Key("verified"), Key("version")];
            let cure = "say `by = \"client\"`, or leave it out";
            file.refuse(has_version, &path, "a version is of a client that was run", cure)?;
        }
        let mentions = [("command", Some(&self.mention.command)), ("router", self.mention.router.as_ref())];
        for (key, mention) in mentions.into_iter().filter_map(|(key, mention)| Some((key, mention?))) {
            let path = [Key("mention"), Key(key)];
            let is_nameless = !mention.contains("{name}");
            file.refuse(is_nameless, &path, "the name of the command is missing", "put `{name}` where it belongs")?;
        }
        Ok(())
    }

    fn check_programs(&self, file: &File<'_>) -> Result<(), DescriptorFault> {
        let Some(programs) = &self.programs else { return Ok(()) };
        let at = |key| [Key("programs"), Key(key)];
        file.check_date(&at("date"), &programs.date)?;
        let is_empty = programs.source.trim().is_empty();
        file.refuse(is_empty, &at("source"), "the source is empty", "write where you have the names from")?;
        let cure = "write one, or leave the table `programs` out";
        file.refuse(programs.names.is_empty(), &at("names"), "there is no name", cure)?;
        let is_name = |name: &String| !name.trim().is_empty() && !name.contains(['/', '\\']);
        if let Some(name) = programs.names.iter().find(|name| !is_name(name)) {
            let wrong = format!("`{name}` is not the name of a program");
            return Err(file.fault(&at("names"), wrong, "write the name without a folder"));
        }
        let is_blank = programs.marks.iter().any(|mark| mark.trim().is_empty());
        file.refuse(is_blank, &at("marks"), "an empty mark is in every path", "write a word, or leave `marks` out")
    }

    fn check_home(&self, file: &File<'_>) -> Result<(), DescriptorFault> {
        let is_out = self.home.global.strip_prefix("~/").is_none_or(|below| !is_below(below));
        let (path, cure) = ([Key("home"), Key("global")], "begin it with `~/`, without `..`");
        file.refuse(is_out, &path, "this is not a folder below the user's home", cure)?;
        let LocalHome::Folder(folder) = &self.home.local else { return Ok(()) };
        let path = [Key("home"), Key("local")];
        let cure = "write it from the project's folder, such as `.lantern`, without `..`";
        file.refuse(!is_below(folder), &path, "this is not a folder below the project", cure)?;
        let wrong = format!("`{folder}` belongs to the project itself");
        let is_taken = matches!(folder.as_str(), ".git" | ".planning");
        file.refuse(is_taken, &path, wrong, "write the host's own folder, such as `.lantern`")
    }

    fn check_places(&self, file: &File<'_>) -> Result<(), DescriptorFault> {
        for (number, place) in self.places.iter().enumerate() {
            let at = |key| [Key("place"), Index(number), Key(key)];
            let cure = "write it with `/`, without `..`";
            file.refuse(!is_below(&place.path), &at("path"), "this is not a path below a folder", cure)?;
            let is_nameless = !place.path.contains("{name}");
            let cure = "put `{name}` where the name belongs";
            file.refuse(is_nameless, &at("path"), "all files would have the same name", cure)?;
            let is_out = matches!(&place.anchor, PlaceAnchor::Home(folder) if !is_below(folder));
            let wrong = "this is not a folder below the user's home";
            file.refuse(is_out, &at("anchor"), wrong, "write it without `..`")?;
            let is_keyless = |item: &&PlaceItem| self.form(**item).body_key.is_none();
            if let Some(item) = place.items.iter().filter(|_| place.encoding == Encoding::Toml).find(is_keyless) {
                let wrong = format!("it is unknown which TOML key holds the text of {}", item.words());
                return Err(file.fault(&at("encoding"), wrong, "add `body-key` to their table"));
            }
        }
        let scopes = [Some(Scope::Global), self.home.local.folder().map(|_| Scope::Local)];
        for scope in scopes.into_iter().flatten() {
            for item in [PlaceItem::Command, PlaceItem::Router, PlaceItem::Agent] {
                let of = |place: &&(usize, &Place)| place.1.items.contains(&item) && place.1.scopes.contains(&scope);
                let places: Vec<(usize, &Place)> = self.places.iter().enumerate().collect();
                let found: Vec<usize> = places.iter().filter(of).map(|(number, _)| *number).collect();
                let (word, scope) = (item.words(), scope.word());
                match found.as_slice() {
                    [_] => {}
                    [] => {
                        let wrong = format!("{word} have no place in the {scope} scope");
                        let cure = "name them in the `items` of one `[[place]]`";
                        return Err(file.fault(&[Key("place")], wrong, cure));
                    }
                    [_, second, ..] => {
                        let wrong = format!("{word} have a second place in the {scope} scope");
                        let path = [Key("place"), Index(*second)];
                        return Err(file.fault(&path, wrong, "leave them in only one `[[place]]`"));
                    }
                }
            }
        }
        let place = |item| self.place(item, Scope::Global).map(|place| (&place.anchor, &place.path));
        let (command, agent) = (place(PlaceItem::Command), place(PlaceItem::Agent));
        let cure = "give them another folder: a command and an agent may have the same name";
        let is_shared = command.is_some() && command == agent;
        file.refuse(is_shared, &[Key("place")], "agents and commands have the same place", cure)
    }

    /// Checks that every path is below the host's folder and used only once.
    fn check_paths(&self, file: &File<'_>) -> Result<(), DescriptorFault> {
        const PLAIN: &str = "write it with `/`, without `..`";
        let reserved = |path: &str| path.split('/').next().is_some_and(|first| RESERVED.contains(&first));
        let keeps = |path: &str| format!("`{path}` is where this program keeps its own records");
        let paths = self.paths();
        for (number, (at, path)) in paths.iter().enumerate() {
            file.refuse(!is_below(path), at, "this is not a path below the host's folder", PLAIN)?;
            file.refuse(reserved(path), at, keeps(path), "choose another name")?;
            let place = self.places.iter().filter(|place| place.anchor == PlaceAnchor::Root).find(|place| {
                place.path.split_once("{name}").is_some_and(|(before, after)| {
                    path.len() > before.len() + after.len() && path.starts_with(before) && path.ends_with(after)
                })
            });
            if let Some(place) = place {
                let words: Vec<&str> = place.items.iter().map(|item| item.words()).collect();
                let wrong = format!("this may be the place of {}", words.join(", "));
                return Err(file.fault(at, wrong, "choose a path that no other `[[place]]` has"));
            }
            let is_used = paths[..number].iter().any(|(_, other)| other == path);
            file.refuse(is_used, at, format!("`{path}` is already used for something else"), "choose another path")?;
        }
        if let Some(form) = &self.plugin {
            let wrong = "this is not a path below the plugin's folder";
            let others = [("marketplace", form.marketplace.as_ref()), ("programs", form.programs.as_ref())];
            let all = [("manifest", Some(&form.manifest)), ("hooks", Some(&form.hooks))].into_iter().chain(others);
            for (key, path) in all {
                let is_out = path.is_some_and(|path| !is_below(path));
                file.refuse(is_out, &[Key("plugin"), Key(key)], wrong, PLAIN)?;
            }
            for (number, place) in form.places.iter().enumerate() {
                let at = [Key("plugin"), Key("place"), Index(number), Key("path")];
                file.refuse(!is_below(&place.path), &at, wrong, PLAIN)?;
            }
        }
        for (number, place) in self.places.iter().enumerate() {
            let at = [Key("place"), Index(number), Key("path")];
            file.refuse(reserved(&place.path), &at, keeps(&place.path), "choose another name")?;
        }
        Ok(())
    }

    /// Every path without a `{name}` below the host's folder, and its position in the descriptor.
    fn paths(&self) -> Vec<(Vec<PathStep<'_>>, &str)> {
        let mut paths = Vec::new();
        for (name, of_host) in &self.files {
            let others = [("local-path", of_host.local_path.as_ref()), ("instead", of_host.instead.as_ref())];
            let all = [("path", Some(&of_host.path))].into_iter().chain(others);
            let all = all.filter_map(|(key, path)| Some((vec![Key("files"), Key(name), Key(key)], path?.as_str())));
            paths.extend(all);
        }
        for (number, own_file) in self.own_files.iter().enumerate() {
            paths.push((vec![Key("own-file"), Index(number), Key("path")], own_file.path.as_str()));
        }
        let form = |kind, key| vec![Key("hooks"), Key("form"), Key(kind), Key(key)];
        match self.hooks.as_ref().map(|hooks| &hooks.form) {
            Some(HookForm::Shells { path, .. }) => paths.push((form("shells", "path"), path)),
            Some(HookForm::Adapter { path, .. }) => paths.push((form("adapter", "path"), path)),
            Some(HookForm::Executables { folder }) => paths.push((form("executables", "folder"), folder)),
            Some(HookForm::Nested { .. } | HookForm::Flat { .. } | HookForm::Tables { .. }) | None => {}
        }
        if let Some(sidecar) = &self.typed_only.sidecar {
            paths.push((vec![Key("typed-only"), Key("sidecar"), Key("path")], &sidecar.path));
        }
        paths
    }

    fn check_files(&self, file: &File<'_>) -> Result<(), DescriptorFault> {
        let is_json = |format: HostFormat| matches!(format.to_file_format(), FileFormat::Json(_));
        for (name, of_host) in &self.files {
            let is_unlike = of_host.loads.is_some_and(|loads| !is_json(loads) || !is_json(of_host.format));
            let at = [Key("files"), Key(name), Key("loads")];
            file.refuse(is_unlike, &at, "only a JSON file can be read more or less strictly", "leave `loads` out")?;
        }
        for (number, edit) in self.edits.iter().enumerate() {
            let at = |key| [Key("edit"), Index(number), Key(key)];
            let is_writable = match self.format(&edit.file, file, &at("file"))? {
                HostFormat::Json | HostFormat::JsonWithComments | HostFormat::JsonWithCommentsAndTrailingCommas => true,
                HostFormat::Toml => edit.how != EditForm::Append,
                HostFormat::Yaml => edit.how == EditForm::Append,
                HostFormat::Markdown => false,
            };
            let wrong = format!("the file `{}` cannot be edited that way", edit.file);
            let cure = "JSON takes all of them, TOML `set` and `set-if-absent`, YAML `append`, Markdown none";
            file.refuse(!is_writable, &at("how"), wrong, cure)?;
        }
        Ok(())
    }

    fn check_hooks(&self, file: &File<'_>) -> Result<(), DescriptorFault> {
        let json = [HostFormat::Json, HostFormat::JsonWithComments, HostFormat::JsonWithCommentsAndTrailingCommas];
        if let Some(line) = &self.status_line {
            let at = [Key("status-line"), Key("file")];
            let is_json = json.contains(&self.format(&line.file, file, &at)?);
            file.refuse(!is_json, &at, "a status line can only be set in JSON", ALL_KEYS)?;
        }
        if let Some(instructions) = &self.instructions {
            let at = [Key("instructions"), Key("file")];
            let is_markdown = self.format(&instructions.file, file, &at)? == HostFormat::Markdown;
            let cure = "say `format = \"markdown\"`";
            file.refuse(!is_markdown, &at, "instructions can only be in Markdown", cure)?;
        }
        let Some(hooks) = &self.hooks else { return Ok(()) };
        if let Some(name) = hooks.form.file() {
            let at = [Key("hooks"), Key("form")];
            let fits = match self.format(name, file, &at)? {
                HostFormat::Toml => matches!(hooks.form, HookForm::Tables { .. }),
                HostFormat::Yaml => matches!(hooks.form, HookForm::Flat { version: None, .. }),
                format => json.contains(&format) && !matches!(hooks.form, HookForm::Tables { .. }),
            };
            let wrong = format!("hooks of this form do not fit the file `{name}`");
            let cure = "`nested` and `flat` are for JSON; `flat` without a version for YAML as well, `tables` for TOML";
            file.refuse(!fits, &at, wrong, cure)?;
        }
        for (event, name) in &hooks.events {
            let is_empty = match name {
                EventName::Whole(name) => name.trim().is_empty(),
                EventName::ByTool(names) => {
                    names.is_empty() || names.iter().any(|name| name.name.trim().is_empty() || name.tools.is_empty())
                }
            };
            let at = [Key("hooks"), Key("events"), Key(event.word())];
            let cure = "write it, or remove the line";
            file.refuse(is_empty, &at, "the host's name of the event is missing", cure)?;
        }
        Ok(())
    }

    fn check_lacks(&self, file: &File<'_>) -> Result<(), DescriptorFault> {
        for (number, Lack { what, .. }) in self.lacks.iter().enumerate() {
            let is_there = Feature::ALL.contains(what) && self.support(*what).means == Means::Native;
            let wrong = format!("`{}` is listed as lacking, but the rest of the file describes it", what.word());
            let cure = "remove this row, or what describes it";
            file.refuse(is_there, &[Key("lacks"), Index(number)], wrong, cure)?;
        }
        Ok(())
    }

    /// The format of one of `files`; a fault if this name is not among them.
    fn format(&self, name: &str, file: &File<'_>, at: &[PathStep<'_>]) -> Result<HostFormat, DescriptorFault> {
        if let Some(found) = self.files.get(name) {
            return Ok(found.format);
        }
        let cure = match nearest(name, self.files.keys().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("describe it in `[files.{name}]`"),
        };
        Err(file.fault(at, format!("there is no file `{name}` here"), cure))
    }
}

/// The text of a descriptor, and the positions of its values.
struct File<'a> {
    text: &'a str,
    tree: Option<Document<&'a str>>,
}

impl File<'_> {
    /// Returns a fault at `path` if the value there is wrong.
    fn refuse(
        &self,
        is_wrong: bool,
        path: &[PathStep<'_>],
        wrong: impl Into<String>,
        cure: impl Into<String>,
    ) -> Result<(), DescriptorFault> {
        if is_wrong { Err(self.fault(path, wrong, cure)) } else { Ok(()) }
    }

    fn check_date(&self, path: &[PathStep<'_>], date: &str) -> Result<(), DescriptorFault> {
        let is_wrong = date.parse::<jiff::civil::Date>().is_err();
        self.refuse(is_wrong, path, format!("`{date}` is not a date"), "write it as `2026-01-02`")
    }

    fn fault(&self, path: &[PathStep<'_>], wrong: impl Into<String>, cure: impl Into<String>) -> DescriptorFault {
        let start = self.span(path).map_or(0, |span| span.start);
        DescriptorFault { at: ParseError::at(self.text, start, wrong), cure: cure.into() }
    }

    /// The position of the value at `path`, or of the innermost enclosing value that has a position.
    fn span(&self, path: &[PathStep<'_>]) -> Option<Range<usize>> {
        let mut item = self.tree.as_ref()?.as_item();
        let mut span = None;
        for step in path {
            let (below, key) = match step {
                Key(key) => {
                    let table = item.as_table_like()?;
                    (table.get(key), table.key(key).and_then(toml_edit::Key::span))
                }
                Index(number) => {
                    let tables = item.as_array_of_tables().and_then(|tables| tables.get(*number));
                    if let Some(table) = tables {
                        span = table.span().or(span);
                        // The rest of the path is in this table, which is not an item.
                        return Self::span_in(table, &path[path_index(path, step) + 1..]).or(span);
                    }
                    (None, item.as_array().and_then(|array| array.get(*number)).and_then(toml_edit::Value::span))
                }
            };
            span = below.and_then(Item::span).or(key).or(span);
            match below {
                Some(below) => item = below,
                None => return span,
            }
        }
        span
    }

    fn span_in(table: &toml_edit::Table, path: &[PathStep<'_>]) -> Option<Range<usize>> {
        let Some(Key(key)) = path.first() else { return None };
        let key_span = || table.key(key).and_then(toml_edit::Key::span);
        table.get(key).and_then(Item::span).or_else(key_span)
    }
}

/// The index of this step in `path`.
fn path_index(path: &[PathStep<'_>], step: &PathStep<'_>) -> usize {
    path.iter().position(|other| std::ptr::eq(other, step)).unwrap_or(0)
}

/// The fault of a text that does not parse as a descriptor.
fn unreadable(text: &str, error: &toml_edit::de::Error) -> DescriptorFault {
    let message: Vec<&str> = error.message().lines().collect();
    let at = ParseError::at(text, error.span().map_or(0, |span| span.start), message.join("; "));
    let mut quoted = at.message.split('`').skip(1).step_by(2);
    let cure = match (quoted.next(), at.message.starts_with("unknown ")) {
        (Some(unknown), true) => match nearest(unknown, quoted) {
            Some(near) => format!("did you mean `{near}`?"),
            None => ALL_KEYS.to_owned(),
        },
        _ => ALL_KEYS.to_owned(),
    };
    DescriptorFault { at, cure }
}

/// True if a path leads down from a folder.
fn is_below(path: &str) -> bool {
    let plain = |part: &str| !part.is_empty() && part != "." && part != "..";
    !path.contains(['\\', ':']) && path.split('/').all(plain)
}

#[cfg(test)]
mod tests {
    use super::super::made_up_text;
    use super::*;

    /// The fault of a made-up host with these facts: the line, what is wrong, the fix.
    #[track_caller]
    fn fault(facts: &str) -> (String, String, String) {
        let text = made_up_text(facts);
        let fault = Descriptor::read(&text).expect_err("nothing was found");
        let line = text.lines().nth(fault.at.line - 1).unwrap_or_default().to_owned();
        (line, fault.at.message, fault.cure)
    }

    #[track_caller]
    fn check(facts: &str, line: &str, wrong: &str, cure: &str) {
        let found = fault(facts);
        assert!(found.0.contains(line), "on `{}`", found.0);
        assert!(found.1.contains(wrong), "{found:?}");
        assert!(found.2.contains(cure), "{found:?}");
    }

    #[test]
    fn a_sound_descriptor_has_no_fault() {
        assert!(Descriptor::read(&made_up_text("")).is_ok());
    }

    #[test]
    fn a_mistake_in_a_key_is_reported_at_its_place() {
        check("argument = 1", "argument = 1", "unknown field `argument`", "did you mean `arguments`?");
        check("include = \"att\"", "include", "unknown variant `att`", "did you mean `at`?");
        check("zzzzzz = 1", "zzzzzz", "unknown field", "guide own-host");
        check("name = 7", "name = 7", "invalid type", "guide own-host");
        let fault = Descriptor::read("id = \"x\"\nname = \"X\n").unwrap_err();
        assert_eq!(fault.at.line, 2, "{fault}");
    }

    #[test]
    fn facts_that_do_not_fit_together_are_reported_at_their_place() {
        check("aliases = [\"a\", \"B C\"]", "aliases", "`B C` cannot name", "small letters");
        check("[verified]\ndate = \"soon\"", "date = \"soon\"", "is not a date", "2026-01-02");
        check("[verified]\nby = \"client\"", "[verified]", "has a version", "vendor-doc");
        check("[verified]\nversion = \"1\"", "version", "client that was run", "leave it out");
        check("[mention]\ncommand = \"/gsd\"", "command = \"/gsd\"", "is missing", "{name}");
        check("[home]\nglobal = \"/etc/x\"", "global", "below the user's home", "~/");
        check("[home]\nlocal = \"../x\"", "local", "below the project", "without `..`");
        let place = "[[place]]\nencoding = \"markdown\"\n";
        check(&format!("{place}items = [\"command\"]\npath = \"a/x.md\""), "path = ", "same name", "{name}");
        check(
            &format!("{place}items = [\"command\"]\npath = \"../{{name}}\""),
            "path = ",
            "not a path below",
            "without `..`",
        );
        check(
            &format!("{place}items = [\"command\"]\npath = \"a/{{name}}\""),
            "place",
            "routers have no place",
            "[[place]]",
        );
        let all = format!("{place}items = [\"command\", \"router\", \"agent\"]\npath = \"a/{{name}}\"\n");
        check(&all, "place", "have the same place", "another folder");
        check(&format!("{all}\n{all}"), "[[place]]", "second place", "one `[[place]]`");
        check(&all.replace("markdown", "toml"), "encoding", "holds the text of commands", "body-key");
        check("[files.s]\nformat = \"json\"\npath = \"/s\"", "path = \"/s\"", "not a path below", "without `..`");
        let hooks = |form: &str| {
            format!("[hooks]\ndialect = \"plugin\"\ntimeout = \"seconds\"\nform = {{ {form} }}\nevents = {{}}")
        };
        for form in [
            "shells = { path = \"../x.json\", version = 1 }",
            "adapter = { path = \"../x.js\", adapter = \"plugin-events\" }",
            "executables = { folder = \"../x\" }",
        ] {
            check(&hooks(form), "form", "not a path below", "without `..`");
        }
        check(
            "[typed-only]\nsidecar = { path = \"../x\", text = \"\" }",
            "sidecar",
            "not a path below",
            "without `..`",
        );
        let plugin = "[plugin]\nmanifest = \"p.json\"\nhook-root = \"$R\"\nload = []\nhooks = \"../h.json\"\ncommand = \"/{name}\"\n\
                      agent = { named = \"{name}\" }\nplace = []";
        check(plugin, "hooks = ", "below the plugin's folder", "without `..`");
        check("[home]\nlocal = \".git\"", "local", "belongs to the project", ".lantern");
        let account = "[files.s]\nformat = \"json\"\npath = \"gsd-file-manifest.json\"";
        check(account, "path = ", "its own records", "another name");
        let twice = "[files.a]\nformat = \"json\"\npath = \"s\"\n[files.b]\nformat = \"json\"\npath = \"s\"";
        check(twice, "path = ", "is already used for something else", "another path");
        let places = "[[place]]\nencoding = \"markdown\"\nitems = [\"command\", \"router\"]\npath = \"a/gsd-{name}.md\"\n\
                      [[place]]\nencoding = \"markdown\"\nitems = [\"agent\"]\npath = \"b/{name}\"\n";
        check(
            &format!("{places}[files.s]\nformat = \"json\"\npath = \"a/gsd-x.md\""),
            "a/gsd-x.md",
            "place of commands",
            "`[[place]]`",
        );
        check(
            &places.replace("b/{name}", "gsd-local-patches/{name}"),
            "gsd-local-patches",
            "its own records",
            "another name",
        );
        check("[status-line]\nfile = \"s\"\npath = [\"x\"]", "file = \"s\"", "there is no file `s`", "[files.s]");
        let settings = "[files.settings]\nformat = \"toml\"\npath = \"s\"\n";
        check(&format!("{settings}loads = \"json\""), "loads", "only a JSON file", "leave `loads` out");
        let edit = "[[edit]]\npurpose = \"permissions\"\nfile = \"settings\"\npath = [\"x\"]\nvalue = 1\n";
        check(&format!("{settings}{edit}how = \"append\""), "how", "cannot be edited that way", "`set`");
        check(
            &format!("{settings}{edit}how = \"set\"").replace("file = \"settings\"", "file = \"setings\""),
            "file = \"setings\"",
            "there is no file `setings`",
            "did you mean `settings`?",
        );
        let hooks =
            "[hooks]\ndialect = \"standard\"\ntimeout = \"seconds\"\nform = { nested = { file = \"settings\" } }\n";
        check(&format!("{settings}{hooks}events = {{}}"), "form", "do not fit", "JSON");
        let json = settings.replace("toml", "json");
        check(
            &format!("{json}{hooks}events = {{ before-tool = \"\" }}"),
            "events",
            "name of the event",
            "remove the line",
        );
        check("[[lacks]]\nwhat = \"commands\"\nwhy = \"x\"", "lacks", "is listed as lacking", "remove this row");
    }
}
