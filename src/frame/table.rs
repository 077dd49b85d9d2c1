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
        pub(crate) const FAMILY: $crate::frame::Family = $crate::frame::Family {
            title: $title,
            groups: &[$($(($group, $about)),*)?],
            verbs: &[$($crate::frame::verb::Verb {
                path: $path,
                alias: $crate::frame::table::verbs!(@alias $($alias)?),
                help: &[$($help),+],
                effect: $crate::frame::table::verbs!(@effect $effect),
                unasked: $crate::frame::table::verbs!(@unasked $($asking)?),
                arguments: $crate::frame::table::verbs!(@arguments $($arguments)?),
                run: $crate::frame::table::verbs!(@run ($($function)::+) $($arguments)?),
                #[cfg(test)]
                answer: $crate::frame::table::verbs!(@answer $kind($($answer)*)),
            }),+],
            first: $crate::frame::table::verbs!(@first $($first)?),
            usage_code: $crate::frame::table::verbs!(@code $($own)?),
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
        $crate::frame::verb::Answer::Json(|generator| vec![$(generator.subschema_for::<$form>()),+])
    };
    (@answer seen($($form:ty),+ $(,)?)) => {
        $crate::frame::verb::Answer::Seen(|generator| vec![$(generator.subschema_for::<$form>()),+])
    };
    (@answer bundle($verb:literal)) => {
        $crate::frame::verb::Answer::Seen(|generator| {
            vec![$crate::operations::bundle::schema_of($verb, generator)]
        })
    };
    (@answer text($what:literal)) => { $crate::frame::verb::Answer::Text($what) };
    // Wrong usage exits 1 in families with a counterpart in the peer, and 2 in our own families.
    (@code) => { 1 };
    (@code own) => { 2 };
}

pub(crate) use verbs;
