//! Answers as lists of facts.
//!
//! A fact that several answers have is a row of [`facts_of!`], with one name, one type, one sentence and one value. An
//! [`answer!`] lists the names in its order, and has rows for what only it says.

/// Something that answers say about a `Source`.
pub(crate) trait FactOf {
    type Source;
    type Form;
    /// The sentence that schemas have for it.
    const ABOUT: &'static str;

    fn of(source: &Self::Source) -> Self::Form;
}

/// Makes facts, which [`answer!`] names.
///
/// ```ignore
/// facts_of! { |phase: PhaseFacts|
///     /// How many plans the phase has.
///     plan_count: usize = phase.standing.work.plans.len();
/// }
/// ```
macro_rules! facts_of {
    (|$from:ident: $source:ty| $($(#[doc = $about:literal])+ $name:ident: $form:ty = $value:expr;)+) => {$(
        $(#[doc = $about])+
        #[expect(non_camel_case_types, reason = "the name of a key")]
        #[derive(Debug)]
        pub(crate) enum $name {}

        impl $crate::operations::answers::answer::FactOf for $name {
            type Source = $source;
            type Form = $form;
            const ABOUT: &'static str = concat!($($about),+);

            fn of($from: &$source) -> $form {
                let _ = $from;
                $value
            }
        }
    )+};
}

/// Makes an answer or a part of one: a struct, and the function `of` that takes its values from a source. A row is a key
/// that is a fact's name, or `key = name` for a fact under another key, or `key: Type = value` for what only this answer
/// says. The facts are of the module that `with` names, and about the value that it is given.
///
/// ```ignore
/// answer! {
///     /// A phase of `progress json`.
///     pub(crate) struct PhaseProgress |phase: PhaseFacts| with listed(phase) {
///         number, name, plans = plan_count,
///         /// Work on it began.
///         begun: bool = phase.standing.work.summaries > 0,
///     }
/// }
/// ```
macro_rules! answer {
    ($(#[$outer:meta])* $visible:vis struct $answer:ident |$from:ident: $source:ty| {$($rows:tt)+}) => {
        answer! { $(#[$outer])* $visible struct $answer |$from: $source| with self($from) {$($rows)+} }
    };
    ($(#[$outer:meta])* $visible:vis struct $answer:ident |$from:ident: $source:ty| with $facts:ident($about:expr) {$(
        $(#[doc = $doc:literal])*
        $(#[serde($($serde:tt)+)])*
        $key:ident $(= $fact:ident)? $(: $form:ty = $value:expr)?
    ),+ $(,)?}) => {
        #[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
        #[allow(clippy::struct_excessive_bools, clippy::struct_field_names, reason = "each is a key of the answer")]
        $(#[$outer])*
        $visible struct $answer {$(
            $(#[doc = $doc])*
            $(#[serde($($serde)+)])*
            #[schemars(description = answer!(@about $facts $key [$($fact)?] [$($form)?] [$($doc)*]))]
            $visible $key: answer!(@form $facts $key [$($fact)?] [$($form)?]),
        )+}

        impl $answer {
            $visible fn of($from: &$source) -> Self {
                Self {$($key: answer!(@value $facts $key [$($fact)?] [$($value)?] $about),)+}
            }
        }
    };
    (@about $facts:ident $key:ident [] [] []) => { answer!(@about $facts $key [$key] [] []) };
    (@about $facts:ident $key:ident [$fact:ident] [] []) => {
        <$facts::$fact as $crate::operations::answers::answer::FactOf>::ABOUT.trim_ascii()
    };
    (@about $facts:ident $key:ident [] [$form:ty] [$($doc:literal)*]) => { concat!($($doc),*).trim_ascii() };
    (@form $facts:ident $key:ident [] []) => { answer!(@form $facts $key [$key] []) };
    (@form $facts:ident $key:ident [$fact:ident] []) => {
        <$facts::$fact as $crate::operations::answers::answer::FactOf>::Form
    };
    (@form $facts:ident $key:ident [] [$form:ty]) => { $form };
    (@value $facts:ident $key:ident [] [] $about:expr) => { answer!(@value $facts $key [$key] [] $about) };
    (@value $facts:ident $key:ident [$fact:ident] [] $about:expr) => {
        <$facts::$fact as $crate::operations::answers::answer::FactOf>::of($about)
    };
    (@value $facts:ident $key:ident [] [$value:expr] $about:expr) => { $value };
}

pub(crate) use {answer, facts_of};
