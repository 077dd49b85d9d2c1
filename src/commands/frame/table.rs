//! The table of a family: [`verbs!`]. Help, clap trees, permissions and schemas are made from these tables.

/// Defines a family of verbs.
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
/// The effect may say who is asked, as `acts [unasked]` or `writes [asked]`. Answers are `json` in one of several
/// forms, a `bundle` of facts by the name of its list, or `text` described by the literal; a `seen` answer has a token
/// for a later write. `"Todos", after check_todos;` calls a function before any verb of the family.
macro_rules! verbs {
    ($title:literal $(($own:ident))? $(, after $first:path)?; $(groups { $($group:literal : $about:literal;)* })?
     $($(#[doc = $help:literal])+
       $path:literal $(or $alias:literal)? : $effect:ident $([$asking:ident])? $kind:ident($($answer:tt)*)
       = $($function:ident)::+($($arguments:ty)?);)+) => {
        pub(in crate::commands) const FAMILY: $crate::commands::frame::Family = $crate::commands::frame::Family {
            title: $title,
            groups: &[$($(($group, $about)),*)?],
            verbs: &[$($crate::commands::frame::verb::Verb {
                path: $path,
                alias: $crate::commands::frame::table::verbs!(@alias $($alias)?),
                help: &[$($help),+],
                effect: $crate::commands::frame::table::verbs!(@effect $effect),
                unasked: $crate::commands::frame::table::verbs!(@unasked $($asking)?),
                arguments: $crate::commands::frame::table::verbs!(@arguments $($arguments)?),
                run: $crate::commands::frame::table::verbs!(@run ($($function)::+) $($arguments)?),
                #[cfg(test)]
                answer: $crate::commands::frame::table::verbs!(@answer $kind($($answer)*)),
            }),+],
            first: $crate::commands::frame::table::verbs!(@first $($first)?),
            usage_code: $crate::commands::frame::table::verbs!(@code $($own)?),
        };
    };
    (@first) => { None };
    (@first $first:path) => { Some($first) };
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
        $crate::commands::frame::verb::Answer::Json(|generator| vec![$(generator.subschema_for::<$form>()),+])
    };
    (@answer seen($($form:ty),+ $(,)?)) => {
        $crate::commands::frame::verb::Answer::Seen(|generator| vec![$(generator.subschema_for::<$form>()),+])
    };
    (@answer bundle($verb:literal)) => {
        $crate::commands::frame::verb::Answer::Seen(|generator| {
            vec![$crate::operations::bundle::schema_of($verb, generator)]
        })
    };
    (@answer text($what:literal)) => { $crate::commands::frame::verb::Answer::Text($what) };
    // Wrong usage exits 1 in families with a counterpart in the peer, and 2 in our own families.
    (@code) => { 1 };
    (@code own) => { 2 };
}

pub(in crate::commands) use verbs;
