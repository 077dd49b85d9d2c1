//! The values of a settings file, each with its key and line, whatever the format of the file is.

use serde_json::Value;

/// A value that is not an object, or an element of a list.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SettingsLeaf {
    /// The keys that lead to the value, or to its list.
    pub(crate) path: Vec<String>,
    /// Whether it is an element of the list at the path.
    pub(crate) is_element: bool,
    pub(crate) value: Value,
    /// The line where it begins, counted from 1; `None` if that cannot be determined.
    pub(crate) line: Option<usize>,
}

/// The lines of a text, to find that of an offset without counting all lines before it.
#[derive(Debug)]
pub(super) struct LineNumbers {
    starts: Vec<usize>,
}

impl LineNumbers {
    pub(super) fn of(text: &str) -> Self {
        let ending = if text.contains('\n') { '\n' } else { '\r' };
        Self { starts: text.match_indices(ending).map(|(at, _)| at + 1).collect() }
    }

    /// The line of a byte, counted from 1.
    pub(super) fn at(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset) + 1
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::text::edit::JsonDialect;
    use crate::text::json::JsonDocument;
    use crate::text::toml::TomlDocument;
    use crate::text::yaml::YamlDocument;

    fn shown(leaves: &[SettingsLeaf]) -> Vec<String> {
        let line = |leaf: &SettingsLeaf| leaf.line.map_or_else(|| "?".to_owned(), |line| line.to_string());
        let key = |leaf: &SettingsLeaf| leaf.path.join(".") + if leaf.is_element { "[]" } else { "" };
        leaves.iter().map(|leaf| format!("{} {} {}", line(leaf), key(leaf), leaf.value)).collect()
    }

    #[test]
    fn each_format_has_its_values_with_their_lines() {
        let json =
            "\u{feff}{\n  // mine\n  \"a\": 1,\n  \"b\": {\"c\": [\n    {\"d\": 2},\n    3\n  ], \"e\": {}}\n}\n";
        let json = JsonDocument::parse(json, JsonDialect::Comments).unwrap().leaves();
        assert_eq!(shown(&json), ["3 a 1", "5 b.c[] {\"d\":2}", "6 b.c[] 3", "7 b.e {}"]);
        let toml = "a = 1\n\n[b]\nc = [1,\n 2]\nd = { e = 3 }\nf.g = 4\n\n[[h]]\ni = 5\n[[h]]\ni = 6\n";
        let toml = shown(&TomlDocument::parse(toml).unwrap().leaves());
        let expected =
            ["1 a 1", "4 b.c[] 1", "5 b.c[] 2", "6 b.d.e 3", "7 b.f.g 4", "9 h[] {\"i\":5}", "11 h[] {\"i\":6}"];
        assert_eq!(toml, expected);
        let yaml = "a: 1\nb:\n  c:\n    - d: 2\n      e: 3\n    - x\n  f: {g: [4]}\n";
        let yaml = shown(&YamlDocument::parse(yaml).unwrap().leaves());
        assert_eq!(yaml, ["1 a 1", "4 b.c[] {\"d\":2,\"e\":3}", "6 b.c[] \"x\"", "7 b.f.g[] 4"]);
        assert_eq!(JsonDocument::parse("[]", JsonDialect::Strict).unwrap().leaves().len(), 1);
        assert_eq!(JsonDocument::parse("", JsonDialect::Strict).unwrap().leaves(), []);
        let list = JsonDocument::parse("[1]", JsonDialect::Strict).unwrap().leaves();
        assert_eq!((list[0].is_element, &list[0].value), (true, &json!(1)));
    }
}
