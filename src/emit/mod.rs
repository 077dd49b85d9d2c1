//! (Item, Descriptor, Scope) to artifacts. Pure.
