//! The edits of a host in shared files, and small files that only this host needs.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::library::{ItemKind, Library};
use crate::runtime::{Descriptor, EditForm, FileEdit, HostFormat, PlaceItem, Purpose, Scalar, Scope};
use crate::text::json::JsonEdit;
use crate::text::toml::TomlEdit;
use crate::text::yaml::YamlEdit;

use super::artifact::{Anchor, Artifact, Contents, MarkedText, SharedEdit, SharedFile};
use super::hooks::{HookArtifacts, registrations, status_line};
use super::spelling::Spelling;
use super::{EmitOptions, file_of};

/// The marker lines of our block in a Markdown file.
const BLOCK_OPEN: &str = "<!-- gsd-tools: this block is written by `gsd-tools install` -->";
const BLOCK_CLOSE: &str = "<!-- /gsd-tools -->";

const INSTRUCTIONS: &str = include_str!("instructions.md");

/// Hook registrations, permissions, features, the block of instructions.
pub(crate) fn artifacts(
    library: &Library,
    descriptor: &Descriptor,
    scope: Scope,
    spelling: &Spelling,
    options: &EmitOptions,
) -> Vec<Artifact> {
    let wanted = |purpose: Purpose| match purpose {
        Purpose::Permissions => options.permissions,
        Purpose::Hooks => options.hooks,
        Purpose::Listing => true,
    };
    let mut found = Vec::new();
    let mut shared: BTreeMap<&str, Vec<SharedEdit>> = BTreeMap::new();

    let hooks =
        options.hooks.then(|| registrations(library.hooks(), descriptor, scope, spelling, options.portable_hooks));
    let hooks = hooks.flatten();
    let hook_edits = match hooks {
        Some(HookArtifacts::Own(artifacts)) => {
            found.extend(artifacts);
            None
        }
        Some(HookArtifacts::Edits { file, edits }) => Some((file, edits)),
        None => None,
    };
    if let Some((file, edits)) = &hook_edits {
        shared.entry(file).or_default().extend(edits.iter().cloned());
    }
    let line = options.status_line.then(|| status_line(library.hooks(), descriptor, scope, spelling, options));
    let line = line.flatten();
    if let Some((file, edit)) = &line {
        shared.entry(file).or_default().push(SharedEdit::Json(edit.clone()));
    }
    for edit in descriptor.edits.iter().filter(|edit| wanted(edit.purpose) && edit.scopes.contains(&scope)) {
        let Some(file) = descriptor.files.get(&edit.file) else { continue };
        let edits = shared.entry(&edit.file).or_default();
        if edit.names_calls() {
            edits.extend(options.unasked.iter().filter_map(|call| shared_edit(edit, file.format, spelling, call)));
        } else {
            edits.extend(shared_edit(edit, file.format, spelling, ""));
        }
    }
    if let Some(instructions) = &descriptor.instructions {
        let block = MarkedText {
            open: BLOCK_OPEN.to_owned(),
            close: BLOCK_CLOSE.to_owned(),
            body: block_text(spelling, options)
                .replace("{command}", &descriptor.mention.command.replace("{name}", "<name>"))
                .replace("{skill}", &file_of(descriptor, PlaceItem::Command, scope, spelling, "<name>")),
        };
        shared.entry(&instructions.file).or_default().push(SharedEdit::Marked(block));
    }
    for (name, edits) in shared {
        let Some(file) = descriptor.files.get(name) else { continue };
        found.push(Artifact {
            anchor: Anchor::Root,
            path: file.path(scope, |path| options.existing.contains(path)).to_owned(),
            contents: Contents::Shared(SharedFile { format: file.format.to_file_format(), edits }),
            executable: false,
            kind: ItemKind::Settings,
        });
    }
    for file in descriptor.own_files.iter().filter(|file| wanted(file.purpose) && file.scopes.contains(&scope)) {
        let text = fill(&file.text.replace("{calls}", &calls(spelling, &options.unasked)), spelling);
        found.push(super::whole(Anchor::Root, file.path.clone(), text, ItemKind::Settings));
    }
    found
}

/// The bytes of our block in a file of instructions, with its markers; `None` if it has none.
pub(crate) fn block_in(text: &str) -> Option<usize> {
    let from = text.find(BLOCK_OPEN)?;
    let end = text.get(from..)?.find(BLOCK_CLOSE)? + BLOCK_CLOSE.len();
    let line_break = text.get(from + end..)?.starts_with('\n');
    Some(end + usize::from(line_break))
}

/// The text of the block of instructions.
fn block_text(spelling: &Spelling, options: &EmitOptions) -> String {
    let Some(note) = &options.profile else { return INSTRUCTIONS.to_owned() };
    let install = format!("{} install {} --profile=full", spelling.binary_word(), note.flags);
    format!(
        "{INSTRUCTIONS}A command whose file is missing is not installed: `{install}` installs it; say so to the user.\n"
    )
}

/// The edit, filled in for calls that begin with `call`, if it contains `{call}`.
fn shared_edit(edit: &FileEdit, format: HostFormat, spelling: &Spelling, call: &str) -> Option<SharedEdit> {
    let fill = |text: &str| fill(&text.replace("{call}", call), spelling);
    let path: Vec<String> = edit.path.iter().map(|part| fill(part)).collect();
    let value = match &edit.value {
        Scalar::Flag(flag) => Value::from(*flag),
        Scalar::Number(number) => Value::from(*number),
        Scalar::Text(text) => Value::from(fill(text)),
    };
    match format {
        HostFormat::Json | HostFormat::JsonWithComments | HostFormat::JsonWithCommentsAndTrailingCommas => {
            Some(SharedEdit::Json(match edit.how {
                EditForm::Append => JsonEdit::Append { path, value },
                EditForm::Set => JsonEdit::Set { path, value },
                EditForm::SetIfAbsent => JsonEdit::SetIfAbsent { path, value },
            }))
        }
        HostFormat::Toml => match edit.how {
            EditForm::Set => Some(SharedEdit::Toml(TomlEdit::Set { path, value })),
            EditForm::SetIfAbsent => Some(SharedEdit::Toml(TomlEdit::SetIfAbsent { path, value })),
            EditForm::Append => None,
        },
        HostFormat::Yaml => match edit.how {
            EditForm::Append => Some(SharedEdit::Yaml(YamlEdit::Append { path, value })),
            EditForm::Set | EditForm::SetIfAbsent => None,
        },
        HostFormat::Markdown => None,
    }
}

/// The beginnings of calls that run without asking, as a list of strings.
fn calls(spelling: &Spelling, unasked: &[String]) -> String {
    let program = spelling.binary_word();
    let lines = unasked.iter().map(|call| format!("  {},\n", Value::from(format!("{program} {call}"))));
    format!("[\n{}]", lines.collect::<String>())
}

/// Fills in the places that facts name by `{binary}`, `{binary-pattern}`, `{absolute-binary}`, `{content}` and
/// `{content-pattern}`.
fn fill(text: &str, spelling: &Spelling) -> String {
    text.replace("{binary}", &spelling.binary_word())
        .replace("{binary-pattern}", &spelling.binary_pattern())
        .replace("{absolute-binary}", &spelling.absolute_binary_word())
        .replace("{content}", &spelling.content())
        .replace("{content-pattern}", &spelling.content_pattern())
}
