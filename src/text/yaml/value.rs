//! Reads any YAML value, with what [`Value`] cannot read: integers of any size, and which key is repeated.

use std::fmt;

use serde::de::{Deserialize, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess, Visitor};
use serde_yaml::value::{Tag, TaggedValue};
use serde_yaml::{Mapping, Value};

/// A value whose integers beyond 64 bits are texts.
#[derive(Debug)]
pub(super) struct AnyValue(pub(super) Value);

/// The beginning of the message about a repeated key.
const REPEATED: &str = "duplicate key `";

/// The key that an error of [`AnyValue`] is about, if it is about a repeated key.
pub(super) fn repeated(message: &str) -> Option<&str> {
    // The error may have a path before the message.
    let (_, rest) = message.split_once(REPEATED)?;
    rest.rsplit_once('`').map(|(key, _)| key)
}

impl<'de> Deserialize<'de> for AnyValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyVisitor).map(AnyValue)
    }
}

struct AnyVisitor;

impl<'de> Visitor<'de> for AnyVisitor {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any YAML value")
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<Value, E> {
        Ok(Value::Bool(flag))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Number(number.into()))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Value, E> {
        Ok(Value::Number(number.into()))
    }

    fn visit_i128<E: Error>(self, number: i128) -> Result<Value, E> {
        Ok(Value::String(number.to_string()))
    }

    fn visit_u128<E: Error>(self, number: u128) -> Result<Value, E> {
        Ok(Value::String(number.to_string()))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Value, E> {
        Ok(Value::Number(number.into()))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        Ok(Value::String(text.to_owned()))
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(AnyValue(entry)) = entries.next_element()? {
            list.push(entry);
        }
        Ok(Value::Sequence(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Mapping::new();
        while let Some(AnyValue(key)) = entries.next_key()? {
            if map.contains_key(&key) {
                let key = match key {
                    Value::String(text) => text,
                    other => serde_yaml::to_string(&other).unwrap_or_default().trim_end().to_owned(),
                };
                return Err(A::Error::custom(format!("{REPEATED}{key}`")));
            }
            let AnyValue(value) = entries.next_value()?;
            map.insert(key, value);
        }
        Ok(Value::Mapping(map))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<Value, A::Error> {
        let (tag, contents) = data.variant::<String>()?;
        if tag.is_empty() {
            return Err(A::Error::custom("empty YAML tag is not allowed"));
        }
        let AnyValue(value) = contents.newtype_variant()?;
        Ok(Value::Tagged(Box::new(TaggedValue { tag: Tag::new(tag), value })))
    }
}
