//! The macros in which both dialects write down what C has and Rust has not: opaque handles, enumerations that
//! may hold any integer, flags, structures that start as zeros, and result codes.
//!
//! Each macro makes the Rust items and, beside them, a table of what it made, so that the C headers are printed
//! from the very lines that Rust compiles. No macro knows a dialect.

use std::ffi::{CStr, c_int};
use std::fmt;

/// Opaque handles: a pointer type, and the type without contents that it points at.
///
/// `c_handle! { /// doc  pub type H = *mut S; … }`; used once per module, it leaves the table
/// `HANDLES: &[(handle, pointee)]` there.
macro_rules! c_handle {
    ($($(#[$meta:meta])* $vis:vis type $handle:ident = *mut $pointee:ident;)+) => {
        $(
            $(#[$meta])*
            $vis type $handle = *mut $pointee;

            #[doc = concat!("What a [`", stringify!($handle), "`] names; it is never looked into.")]
            #[repr(C)]
            $vis struct $pointee {
                _private: [u8; 0],
            }
        )+

        #[allow(dead_code, reason = "read when the C header is printed")]
        pub(crate) const HANDLES: &[(&str, &str)] =
            &[$((stringify!($handle), stringify!($pointee))),+];
    };
}

/// Enumerations: a transparent C integer, since a caller may pass any value, and constants at module level.
///
/// `c_enum! { /// doc  pub struct E { /// doc  first = 0, /// doc  second = 1 } … }`; the table is
/// `E::NAMES: &[(name, value)]` in the order written. `Debug` prints the first name of a value.
macro_rules! c_enum {
    ($(
        $(#[$meta:meta])*
        $vis:vis struct $enum:ident {
            $($(#[$constant_meta:meta])* $constant:ident = $value:expr),+ $(,)?
        }
    )+) => {$(
        $(#[$meta])*
        #[repr(transparent)]
        #[derive(Clone, Copy, Default, PartialEq, Eq, Hash, ::bytemuck::Zeroable)]
        $vis struct $enum(pub ::std::ffi::c_int);

        $(
            $(#[$constant_meta])*
            $vis const $constant: $enum = $enum($value);
        )+

        impl $enum {
            /// Every constant and its value, in the order of the C header.
            pub(crate) const NAMES: &'static [(&'static str, ::std::ffi::c_int)] =
                &[$((stringify!($constant), $value)),+];
        }

        impl ::std::fmt::Debug for $enum {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                $crate::dialect::c_enum::fmt_value(f, stringify!($enum), Self::NAMES, self.0)
            }
        }
    )+};
}

/// Flags of one argument: unsigned constants at module level.
///
/// `c_flags! { /// doc  TABLE { /// doc  FlagOne = 0x1, … } … }`; the table is the module's
/// `TABLE: &[(name, value)]`.
macro_rules! c_flags {
    ($(
        $(#[$meta:meta])*
        $table:ident { $($(#[$flag_meta:meta])* $flag:ident = $value:expr),+ $(,)? }
    )+) => {$(
        $(
            $(#[$flag_meta])*
            pub const $flag: ::std::ffi::c_uint = $value;
        )+

        $(#[$meta])*
        #[allow(dead_code, reason = "read when the C header is printed")]
        pub(crate) const $table: &[(&str, ::std::ffi::c_uint)] =
            &[$((stringify!($flag), $flag)),+];
    )+};
}

/// Structures of C; `Default` is all zeros, as C's `= {}` gives.
///
/// Takes plain structs; the table is `S::FIELDS: &[(name, Rust type, offset)]`, where a name that is a Rust keyword
/// keeps its `r#`.
macro_rules! c_struct {
    ($(
        $(#[$meta:meta])*
        $vis:vis struct $struct:ident {
            $($(#[$field_meta:meta])* $field_vis:vis $field:ident: $type:ty),+ $(,)?
        }
    )+) => {$(
        $(#[$meta])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug, PartialEq, ::bytemuck::Zeroable)]
        $vis struct $struct {
            $($(#[$field_meta])* $field_vis $field: $type),+
        }

        impl $struct {
            /// Every field, its type and its offset in bytes.
            #[allow(dead_code, reason = "read when the C header is printed")]
            pub(crate) const FIELDS: &'static [(&'static str, &'static str, usize)] = &[$((
                stringify!($field),
                stringify!($type),
                ::std::mem::offset_of!($struct, $field),
            )),+];
        }

        impl Default for $struct {
            fn default() -> Self {
                ::bytemuck::Zeroable::zeroed()
            }
        }
    )+};
}

/// The result codes of a dialect: a transparent C integer with a name and a text for each code.
///
/// `c_error! { /// doc  pub struct E { success = 0, "text"; … } aliases { /// doc  other = success; … } }`. The text
/// documents the constant as well. The tables are `E::NAMES: &[(name, value)]` and `E::ALIASES: &[(alias, of)]`.
macro_rules! c_error {
    (
        $(#[$meta:meta])*
        $vis:vis struct $error:ident { $($code:ident = $value:literal, $text:literal;)+ }
        aliases { $($(#[$alias_meta:meta])* $alias:ident = $of:ident;)* }
    ) => {
        $(#[$meta])*
        #[must_use = "nothing else says that a call failed"]
        #[repr(transparent)]
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        $vis struct $error(pub ::std::ffi::c_int);

        $(
            #[doc = concat!(stringify!($value), ": ", $text, ".")]
            $vis const $code: $error = $error($value);
        )+
        $(
            $(#[$alias_meta])*
            $vis const $alias: $error = $of;
        )*

        impl $error {
            /// Every code, in the order of the C header.
            pub(crate) const NAMES: &'static [(&'static str, ::std::ffi::c_int)] =
                &[$((stringify!($code), $value)),+];

            /// Second names, and the code that each stands for.
            #[allow(dead_code, reason = "read when the C header is printed")]
            pub(crate) const ALIASES: &'static [(&'static str, &'static str)] =
                &[$((stringify!($alias), stringify!($of))),*];

            /// Whether the call did what it was asked to.
            #[must_use]
            pub const fn is_ok(self) -> bool {
                self.0 == 0
            }

            /// The code as a `Result`, for `?`.
            pub const fn into_result(self) -> Result<(), Self> {
                if self.is_ok() { Ok(()) } else { Err(self) }
            }

            /// Whether the value is one of the dialect's codes.
            #[must_use]
            pub fn is_known(self) -> bool {
                self.strings().is_some()
            }

            /// The name of the code's constant; for a value that is no code, a text that says so.
            #[must_use]
            pub fn name(self) -> &'static ::std::ffi::CStr {
                self.strings().map_or($crate::dialect::c_enum::UNRECOGNIZED, |(name, _)| name)
            }

            /// What the code means, in words; for a value that is no code, a text that says so.
            #[must_use]
            pub fn text(self) -> &'static ::std::ffi::CStr {
                self.strings().map_or($crate::dialect::c_enum::UNRECOGNIZED, |(_, text)| text)
            }

            fn strings(self) -> Option<(&'static ::std::ffi::CStr, &'static ::std::ffi::CStr)> {
                use $crate::dialect::c_enum::c_str;
                match self.0 {
                    $($value => Some(const {
                        (c_str(concat!(stringify!($code), "\0")), c_str(concat!($text, "\0")))
                    }),)+
                    _ => None,
                }
            }
        }

        impl ::std::fmt::Debug for $error {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                $crate::dialect::c_enum::fmt_value(f, stringify!($error), Self::NAMES, self.0)
            }
        }

        impl ::std::fmt::Display for $error {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(&self.text().to_string_lossy())
            }
        }

        impl ::std::error::Error for $error {}
    };
}

pub(crate) use {c_enum, c_error, c_flags, c_handle, c_struct};

/// Name and text of a value that is no code of its dialect.
pub(crate) const UNRECOGNIZED: &CStr = c"unrecognized error code";

/// A literal that ends in NUL as a C string; any other does not compile.
pub(crate) const fn c_str(literal: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(literal.as_bytes()) {
        Ok(text) => text,
        Err(_) => unreachable!(),
    }
}

/// Prints the first name that `value` has in `names`, or the value in the brackets of its type.
pub(crate) fn fmt_value(f: &mut fmt::Formatter<'_>, of: &str, names: &[(&str, c_int)], value: c_int) -> fmt::Result {
    match names.iter().find(|(_, known)| *known == value) {
        Some((name, _)) => f.write_str(name),
        None => write!(f, "{of}({value})"),
    }
}

/// Checks size and offsets of a [`c_struct!`] against what a C compiler made of the vendor's declaration.
#[cfg(test)]
#[track_caller]
pub(crate) fn assert_layout<T>(fields: &[(&str, &str, usize)], size: usize, offsets: &[(&str, usize)]) {
    assert_eq!(size_of::<T>(), size, "size");
    for (field, offset) in offsets {
        let found = fields.iter().find(|(name, ..)| name == field);
        let found = found.map(|(_, _, at)| at);
        assert_eq!(found, Some(offset), "offset of {field}");
    }
}

#[cfg(test)]
#[allow(non_camel_case_types, non_upper_case_globals, unreachable_pub, reason = "as in a dialect")]
mod tests {
    use std::ffi::{c_uint, c_void};
    use std::ptr::null_mut;

    c_handle! {
        /// A handle.
        pub(super) type thing_t = *mut thing_st;
    }

    c_enum! {
        /// A kind.
        pub(super) struct kind_t {
            /// One way.
            kindOne = 1,
            /// The other.
            kindTwo = 2,
            /// The other by another name.
            kindAlso = 2,
        }
    }

    c_flags! {
        /// Flags.
        THING_FLAGS {
            /// None.
            thingDefault = 0x0,
            /// The highest bit.
            thingTop = 0x8000_0000,
        }
    }

    c_struct! {
        /// A structure.
        pub(super) struct pair_t {
            /// The kind.
            pub(super) kind: kind_t,
            /// The place.
            pub(super) ptr: *mut c_void,
        }
    }

    c_error! {
        /// A code.
        pub(super) struct code_t {
            codeSuccess = 0, "no error";
            codeBad = 7, "it went wrong";
        }
        aliases {
            /// 7 by another name.
            codeWorse = codeBad;
        }
    }

    #[test]
    fn enumerations_print_their_first_name() {
        let printed = [kindOne, kindTwo, kindAlso, kind_t(9)].map(|value| format!("{value:?}"));
        assert_eq!(printed, ["kindOne", "kindTwo", "kindTwo", "kind_t(9)"]);
        assert_eq!((kind_t::NAMES.len(), kind_t::default()), (3, kind_t(0)));
    }

    #[test]
    fn structures_start_as_zeros() {
        let zero = pair_t::default();
        assert_eq!((zero.kind, zero.ptr), (kind_t(0), null_mut()));
        super::assert_layout::<pair_t>(pair_t::FIELDS, 16, &[("kind", 0), ("ptr", 8)]);
        assert_eq!(pair_t::FIELDS[1].1, "*mut c_void");
    }

    #[test]
    fn tables_hold_what_was_made() {
        let null: thing_t = null_mut();
        assert!(null.is_null());
        assert_eq!(HANDLES, [("thing_t", "thing_st")]);
        let all: c_uint = THING_FLAGS.iter().map(|(_, value)| value).sum();
        assert_eq!(all, thingDefault | thingTop);
        assert_eq!(code_t::ALIASES, [("codeWorse", "codeBad")]);
    }

    #[test]
    fn codes_have_names_and_texts() {
        assert_eq!(codeWorse.name(), c"codeBad");
        assert_eq!(codeWorse.text(), c"it went wrong");
        assert_eq!(format!("{codeWorse:?}, {codeWorse}"), "codeBad, it went wrong");
        assert_eq!(format!("{:?}", code_t(8)), "code_t(8)");
        assert_eq!(code_t(8).to_string(), "unrecognized error code");
        assert!(codeSuccess.is_ok() && codeBad.is_known() && !code_t(8).is_known());
        assert_eq!(codeSuccess.into_result(), Ok(()));
        assert_eq!(codeBad.into_result(), Err(codeBad));
    }
}
