//! One field of an answer, for `--pick`.

use serde_json::Value;

use crate::failure::{Failure, Reason};

/// The text of one field of a JSON answer.
pub(super) fn pick(answer: &str, field: &str) -> Result<String, Failure> {
    let value: Value = serde_json::from_str(answer).map_err(|_| {
        Failure::new(Reason::PickOutputNotJson, format!("cannot pick `{field}`: the answer is text, not JSON"))
            .hint("leave out `--pick` to see it")
    })?;
    field_of(&value, field).map(scalar).ok_or_else(|| {
        let why = why_another_shape(&value);
        let why = why.map_or_else(|| "the answer has no such field".to_owned(), |why| format!("the answer is: {why}"));
        let error = Failure::new(Reason::PickFieldAbsent, format!("cannot pick `{field}`: {why}"));
        match &value {
            Value::Object(fields) => {
                let keys: Vec<&str> = fields.keys().map(String::as_str).collect();
                error.hint(format!("the answer has: {}", keys.join(", ")))
            }
            _ => error.hint("the answer is not a JSON object"),
        }
    })
}

/// What an answer says about a failure, or why it has an unusual form.
fn why_another_shape(answer: &Value) -> Option<&str> {
    let texts = ["error", "message", "reason"].iter().filter_map(|key| answer.get(key)?.as_str());
    // A single word is a code, which a caller can pick by its key.
    texts.into_iter().find(|text| text.contains(' '))
}

/// Follows `a.b[0].c`; a negative index counts from the end.
fn field_of<'a>(value: &'a Value, field: &str) -> Option<&'a Value> {
    field.split('.').try_fold(value, |value, segment| match segment.strip_suffix(']').and_then(|s| s.split_once('[')) {
        None => value.as_object()?.get(segment),
        Some((name, index)) => {
            let list = if name.is_empty() { value } else { value.as_object()?.get(name)? }.as_array()?;
            let index: i64 = index.parse().ok()?;
            let from_start = if index < 0 { i64::try_from(list.len()).ok()?.checked_add(index)? } else { index };
            list.get(usize::try_from(from_start).ok()?)
        }
    })
}

/// A picked value in the form for a shell: bare text, nothing for null, a list with commas.
fn scalar(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(scalar).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_picked_by_its_path() {
        let answer = r#"{"a":{"b":[{"c":"x"},{"c":null}]},"n":3,"list":["p",null,["q"]],"yes":true}"#;
        let picked = |field| pick(answer, field).unwrap();
        assert_eq!(picked("a.b[0].c"), "x");
        assert_eq!(picked("a.b[-1].c"), "");
        assert_eq!(picked("n"), "3");
        assert_eq!(picked("yes"), "true");
        assert_eq!(picked("list"), "p,,q");
        assert_eq!(picked("a.b[1]"), r#"{"c":null}"#);
    }

    #[test]
    fn a_missing_field_is_reported_with_the_existing_ones() {
        for field in ["z", "a.z", "a[0]", "list[9]", "list[-9]", "n.z", "list[x]"] {
            let error = pick(r#"{"a":{},"list":[1],"n":1}"#, field).unwrap_err();
            assert_eq!(error.reason, Reason::PickFieldAbsent, "{field}");
        }
        assert_eq!(pick("text", "a").unwrap_err().reason, Reason::PickOutputNotJson);
    }
}
