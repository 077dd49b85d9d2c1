//! The table of a family: [`verbs!`]. Help, clap trees, permissions and schemas are made of these tables.

/// Makes a family of verbs.
///
/// ```ignore
/// verbs! {
///     "Todos and seeds";
///     groups { "todo": "List, show and complete todos"; }
///
///     /// Complete a todo
///     ///
///     /// Example: `gsd-tools todo complete 2026-01-05-add-tags.md`.
///     "todo complete": writes json(CompleteReport) = complete(CompleteArgs);
/// }
/// ```
///
/// The effect may say who is asked, as `acts [unasked]` or `writes [asked]`. Answers are `json` in one of some forms, a
/// `bundle` of facts by the name of its list, or `text` that the literal describes; what is `seen` comes with a token for a later
/// write. `"Todos", after check_todos;` calls a function before any verb of the family. `use crate::peer::todos::SHOW;` is
/// a row that another room has.
macro_rules! verbs {
    ($title:literal $(($own:ident))? $(, after $first:path)?; $(groups { $($group:literal : $about:literal;)* })?
     $($(use $($row:ident)::+)? $($(#[doc = $help:literal])+
       $path:literal $(or $alias:literal)? : $effect:ident $([$asking:ident])? $kind:ident($($answer:tt)*)
       = $($function:ident)::+($($arguments:ty)?))?;)+) => {
        pub(crate) const FAMILY: $crate::frame::Family = $crate::frame::Family {
            title: $title,
            groups: &[$($(($group, $about)),*)?],
            verbs: &[$($($($row)::+)? $($crate::frame::table::verb! {
                $(#[doc = $help])+
                $path $(or $alias)? : $effect $([$asking])? $kind($($answer)*) = $($function)::+($($arguments)?)
            })?),+],
            first: $crate::frame::table::verbs!(@first $($first)?),
            usage_code: $crate::frame::table::verbs!(@code $($own)?),
        };
    };
    (@first) => { None };
    (@first $first:path) => { Some($first) };
    // Wrong usage exits 1 in families with a counterpart in the peer, and 2 in our own families.
    (@code) => { 1 };
    (@code own) => { 2 };
}

/// Makes rows for the tables of families elsewhere, each under a name: `use ROW;` stands for it there.
macro_rules! rows {
    ($($(#[doc = $help:literal])+ $name:ident = $path:literal $(or $alias:literal)? : $effect:ident $([$asking:ident])?
       $kind:ident($($answer:tt)*) = $($function:ident)::+($($arguments:ty)?);)+) => {
        $(pub(crate) const $name: $crate::frame::verb::Verb = $crate::frame::table::verb! {
            $(#[doc = $help])+
            $path $(or $alias)? : $effect $([$asking])? $kind($($answer)*) = $($function)::+($($arguments)?)
        };)+
    };
}

/// Makes one row.
macro_rules! verb {
    ($(#[doc = $help:literal])+
     $path:literal $(or $alias:literal)? : $effect:ident $([$asking:ident])? $kind:ident($($answer:tt)*)
     = $($function:ident)::+($($arguments:ty)?)) => {
        $crate::frame::verb::Verb {
            path: $path,
            alias: $crate::frame::table::verb!(@alias $($alias)?),
            help: &[$($help),+],
            effect: $crate::frame::table::verb!(@effect $effect),
            unasked: $crate::frame::table::verb!(@unasked $($asking)?),
            arguments: $crate::frame::table::verb!(@arguments $($arguments)?),
            run: $crate::frame::table::verb!(@run ($($function)::+) $($arguments)?),
            #[cfg(test)]
            answer: $crate::frame::table::verb!(@answer $kind($($answer)*)),
        }
    };
    (@alias) => { None };
    (@alias $alias:literal) => { Some($alias) };
    (@effect reads) => { $crate::acts::listing::Effect::Reads };
    (@effect writes) => { $crate::acts::listing::Effect::Writes };
    (@effect acts) => { $crate::acts::listing::Effect::Acts };
    (@effect runs) => { $crate::acts::listing::Effect::Runs };
    (@effect destroys) => { $crate::acts::listing::Effect::Destroys };
    (@unasked) => { None };
    (@unasked asked) => { Some(false) };
    (@unasked unasked) => { Some(true) };
    (@arguments) => { |command| command };
    (@arguments $arguments:ty) => { <$arguments as clap::Args>::augment_args };
    (@run ($function:path)) => { |context, _| $function(context) };
    (@run ($function:path) $arguments:ty) => {
        |context, matches| {
            let arguments = <$arguments as clap::FromArgMatches>::from_arg_matches(matches);
            let arguments = arguments.map_err(|error| $crate::failure::Failure::usage(error.to_string()))?;
            $function(context, &arguments)
        }
    };
    (@answer json($($form:ty),+ $(,)?)) => {
        $crate::frame::verb::AnswerForm::Json(|generator| vec![$(generator.subschema_for::<$form>()),+])
    };
    (@answer seen($($form:ty),+ $(,)?)) => {
        $crate::frame::verb::AnswerForm::Seen(|generator| vec![$(generator.subschema_for::<$form>()),+])
    };
    (@answer bundle($verb:literal)) => {
        $crate::frame::verb::AnswerForm::Seen(|generator| {
            vec![$crate::operations::bundle::schema_of($verb, generator)]
        })
    };
    (@answer text($what:literal)) => { $crate::frame::verb::AnswerForm::Text($what) };
}

pub(crate) use {rows, verb, verbs};
