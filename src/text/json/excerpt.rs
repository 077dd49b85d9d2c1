//! The part of a file that edits can touch.
//!
//! An edit parses its document again, so many edits of a large file would parse all of it many times. Parts that no
//! edit looks at are therefore replaced by a placeholder first, of the same kind and with the same last line where
//! edits look at that. In the end each placeholder is replaced by the original part.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use jsonc_parser::ast;
use serde_json::Value;

use super::super::edit::{JsonDialect, ParseError, indentation, without_mark};
use super::super::splice::Splices;
use super::print::Printer;
use super::{JsonEdit, readable, span, to_value, tree};

/// A JSON text with some parts set aside.
#[derive(Debug)]
pub(crate) struct Excerpt {
    text: String,
    /// In text order.
    aside: Vec<Aside>,
}

#[derive(Debug)]
struct Aside {
    start: usize,
    stand_in: String,
    part: String,
}

impl Excerpt {
    /// The part of `text` that `edits` look at, whether they are made or undone.
    pub(crate) fn of<'edit>(
        text: &str,
        dialect: JsonDialect,
        edits: impl Iterator<Item = &'edit JsonEdit>,
    ) -> Result<Self, ParseError> {
        let (bare, mark) = without_mark(text);
        let all = || Self { text: text.to_owned(), aside: Vec::new() };
        let readable = readable(bare);
        let Some(root) = tree(&readable, dialect)? else { return Ok(all()) };
        if bare.contains(NAME) {
            return Ok(all());
        }
        let mut cutter = Cutter { text: bare, splices: Splices::default(), aside: Vec::new() };
        cutter.visit(&root, Some(&Wanted::of(edits)));
        let excerpt = format!("{}{}", &text[..mark], cutter.splices.apply(bare));
        cutter.aside.sort_by_key(|aside| aside.start);
        // New entries copy the style of the others, which may be among the parts set aside.
        let looks_the_same = Printer::of(bare, true) == Printer::of(&excerpt[mark..], true);
        Ok(if looks_the_same { Self { text: excerpt, aside: cutter.aside } } else { all() })
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Puts all parts back into the edited excerpt; `None` if an edit changed a placeholder.
    pub(crate) fn whole(&self, edited: &str) -> Option<String> {
        let mut whole =
            String::with_capacity(edited.len() + self.aside.iter().map(|aside| aside.part.len()).sum::<usize>());
        let mut rest = edited;
        for aside in &self.aside {
            let (before, after) = rest.split_once(aside.stand_in.as_str())?;
            whole.push_str(before);
            whole.push_str(&aside.part);
            rest = after;
        }
        whole.push_str(rest);
        (edited.matches(NAME).count() == self.aside.len()).then_some(whole)
    }
}

/// The name in every placeholder, and in no other text.
const NAME: &str = "gsd-tools-aside-";

/// A value or a run of entries below this size is not worth a placeholder.
const SMALLEST: usize = 256;

/// The places that edits look at, below one place.
#[derive(Default)]
struct Wanted<'edit> {
    below: HashMap<&'edit str, Wanted<'edit>>,
    /// An edit looks at the whole value.
    whole: bool,
    /// The elements that edits insert into a list.
    strings: HashSet<&'edit str>,
    others: Vec<&'edit Value>,
}

impl<'edit> Wanted<'edit> {
    fn of(edits: impl Iterator<Item = &'edit JsonEdit>) -> Self {
        let mut root = Self::default();
        for edit in edits {
            let mut place = &mut root;
            for key in edit.path() {
                place = place.below.entry(key).or_default();
            }
            match edit {
                JsonEdit::Append { value: Value::String(text), .. } => drop(place.strings.insert(text)),
                JsonEdit::Append { value, .. } => place.others.push(value),
                JsonEdit::SetIfAbsent { .. } | JsonEdit::Set { .. } => place.whole = true,
            }
        }
        root
    }

    fn is_list(&self) -> bool {
        !self.whole && self.below.is_empty() && !(self.strings.is_empty() && self.others.is_empty())
    }

    fn is_object(&self) -> bool {
        !self.whole && self.strings.is_empty() && self.others.is_empty()
    }

    fn has(&self, element: &ast::Value<'_>) -> bool {
        match element {
            ast::Value::StringLit(literal) => self.strings.contains(literal.value.as_ref()),
            _ => !self.others.is_empty() && self.others.contains(&&to_value(element)),
        }
    }
}

struct Cutter<'text> {
    text: &'text str,
    splices: Splices,
    aside: Vec<Aside>,
}

impl Cutter<'_> {
    /// Sets aside the parts of a value that are not wanted; without `wanted`, all of it.
    fn visit(&mut self, node: &ast::Value<'_>, wanted: Option<&Wanted<'_>>) {
        match (node, wanted) {
            (ast::Value::Object(object), Some(wanted)) if wanted.is_object() => {
                let properties = &object.properties;
                let below = |index: usize| wanted.below.get(properties[index].name.as_str());
                let spans: Vec<_> = properties.iter().map(span).collect();
                for index in self.put_runs_aside(&spans, true, |index| below(index).is_some()) {
                    self.visit(&properties[index].value, below(index));
                }
            }
            (ast::Value::Array(array), Some(wanted)) if wanted.is_list() => {
                let spans: Vec<_> = array.elements.iter().map(span).collect();
                for index in self.put_runs_aside(&spans, false, |index| wanted.has(&array.elements[index])) {
                    if !wanted.has(&array.elements[index]) {
                        self.visit(&array.elements[index], None);
                    }
                }
            }
            (node, None) => self.put_aside(span(node), false),
            _ => {}
        }
    }

    /// Sets aside runs of entries that are not wanted, and returns the indexes of the others. The first two and the
    /// last two stay, because a new entry copies their style.
    fn put_runs_aside(
        &mut self,
        entries: &[Range<usize>],
        keyed: bool,
        is_wanted: impl Fn(usize) -> bool,
    ) -> Vec<usize> {
        const EDGE: usize = 2;
        let mut left = Vec::new();
        let mut run = 0;
        for index in 0..=entries.len() {
            let stays = index < EDGE || index + EDGE >= entries.len() || is_wanted(index);
            if !stays {
                continue;
            }
            if run < index {
                self.put_aside(entries[run].start..entries[index - 1].end, keyed);
            }
            if index < entries.len() {
                left.push(index);
            }
            run = index + 1;
        }
        left
    }

    fn put_aside(&mut self, range: Range<usize>, keyed: bool) {
        let part = &self.text[range.clone()];
        if part.len() < SMALLEST {
            return;
        }
        let name = format!("\"{NAME}{}\"", self.aside.len());
        let last_line = part.contains('\n').then(|| indentation(self.text, range.end));
        let stand_in = match (keyed, last_line) {
            (true, Some(indentation)) => format!("{name}:[\n{indentation}0]"),
            (true, None) => format!("{name}:0"),
            (false, Some(indentation)) => format!("[\n{indentation}{name}]"),
            (false, None) => name,
        };
        self.aside.push(Aside { start: range.start, stand_in: stand_in.clone(), part: part.to_owned() });
        self.splices.replace(range, stand_in);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::JsonDocument;
    use super::*;

    const LENIENT: JsonDialect = JsonDialect::CommentsAndTrailingCommas;

    fn append(path: &[&str], value: Value) -> JsonEdit {
        JsonEdit::Append { path: path.iter().map(|key| (*key).to_owned()).collect(), value }
    }

    fn edits() -> Vec<JsonEdit> {
        let path = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect();
        vec![
            append(&["allow"], "x7".into()),
            append(&["allow"], "new".into()),
            append(&["hooks", "Stop"], serde_json::json!({ "n": 7 })),
            append(&["hooks", "Start"], serde_json::json!({ "n": 1 })),
            JsonEdit::Set { path: path(&["line", "type"]), value: "command".into() },
            JsonEdit::SetIfAbsent { path: path(&["env", "A"]), value: 1.into() },
        ]
    }

    /// The text after all edits, after undoing them, and the result of each edit; `none` for a refused one.
    fn after(text: &str, aside: bool) -> (String, String, Vec<String>) {
        let excerpt = if aside { Some(Excerpt::of(text, LENIENT, edits().iter()).unwrap()) } else { None };
        let whole = |document: &JsonDocument| match &excerpt {
            Some(excerpt) => excerpt.whole(&document.to_string()).unwrap(),
            None => document.to_string(),
        };
        let read = excerpt.as_ref().map_or(text, Excerpt::text);
        let mut document = JsonDocument::parse(read, LENIENT).unwrap();
        let applied: Vec<_> = edits().iter().map(|edit| document.apply(edit)).collect();
        let made = whole(&document);
        for (edit, applied) in edits().iter().zip(&applied).rev() {
            if let Ok(applied) = applied {
                document.revert(edit, applied).unwrap();
            }
        }
        // The line of a refusal is another one in the excerpt; refused edits are found again in the whole text.
        let results = applied.iter().map(|applied| format!("{:?}", applied.as_ref().map_err(std::mem::discriminant)));
        (made, whole(&document), results.collect())
    }

    #[test]
    fn parts_that_edits_do_not_look_at_are_set_aside() {
        let many = |line: fn(usize) -> String| (0..500).map(line).collect::<Vec<_>>().join(",\n    ");
        let strings = many(|at| format!("\"x{at}\""));
        let objects = many(|at| format!("{{\"n\": {at}}}"));
        let text = format!(
            "\u{feff}{{\n  \"mine\": {{\"a\": [\n{strings}\n  ]}},\n  \"allow\": [\n    {strings} // last\n  ],\n  \"hooks\": {{\n    \"Stop\": [{objects}]}}\n}}\n"
        );
        let excerpt = Excerpt::of(&text, LENIENT, edits().iter()).unwrap();
        assert!(excerpt.text().len() * 10 < text.len(), "{}", excerpt.text());
        assert_eq!(excerpt.whole(excerpt.text()).unwrap(), text);
        assert_eq!(after(&text, true), after(&text, false));
        let named = format!("{{\"a\": \"{NAME}0{}\"}}", "x".repeat(400));
        assert_eq!(Excerpt::of(&named, LENIENT, edits().iter()).unwrap().text(), named);
    }

    #[test]
    fn an_edit_that_removes_a_placeholder_is_detected() {
        let text = format!("{{\"a\": 1, \"b\": \"{}\"}}", "x".repeat(400));
        let excerpt = Excerpt::of(&text, LENIENT, std::iter::empty()).unwrap();
        assert!(excerpt.text().len() < 60);
        assert_eq!(excerpt.whole("{\"a\": 1}"), None);
        assert_eq!(excerpt.whole(&excerpt.text().repeat(2)), None);
    }

    /// Values with long runs, on one line or several, with comments in between.
    fn json() -> impl Strategy<Value = String> {
        let gap = "(|\n|\n  |\n\t| /\\* c \\*/ ?|// c\n)";
        let scalar = prop_oneof!["[1-9][0-9]{0,2}", "\"x?[a-z0-9 ]{0,4}\"", Just(format!("\"{}\"", "y".repeat(300)))];
        scalar.prop_recursive(3, 200, 40, move |inner| {
            let list = (prop::collection::vec((gap, inner.clone()), 0..40), gap).prop_map(|(items, end)| {
                let items: Vec<String> = items.into_iter().map(|(gap, item)| format!("{gap}{item}")).collect();
                format!("[{}{end}]", items.join(","))
            });
            let key = "(allow|hooks|Stop|line|type|env|A|k[0-9]{1,3})";
            let map = (prop::collection::btree_map(key, (gap, inner), 0..40), gap).prop_map(|(entries, end)| {
                let entries: Vec<String> =
                    entries.into_iter().map(|(key, (gap, value))| format!("{gap}\"{key}\": {value}")).collect();
                format!("{{{}{end}}}", entries.join(","))
            });
            prop_oneof![list, map]
        })
    }

    proptest! {
        #[test]
        fn edits_of_an_excerpt_equal_those_of_the_whole(text in json()) {
            prop_assert_eq!(after(&text, true), after(&text, false));
        }
    }
}
