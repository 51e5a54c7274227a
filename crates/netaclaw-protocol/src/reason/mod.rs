//! Why something was refused: a closed list of codes with their parameters, and what each of them
//! says in every language of the app. The texts are here and nowhere else.
//!
//! A reason is written once, as a variant with both texts. Its code is the name of the variant, so
//! that renaming a variant changes the protocol; `docs/protocol.md` lists all codes, and a test
//! compares it with this module.

mod access;
mod agent;
mod call;
mod field;
mod model;
mod request;
mod run;
mod server;
mod session;
mod skill;
#[cfg(test)]
mod tests;

pub use access::{Forbidden, Unauthorized};
pub use agent::{ModelChoiceError, NamedBy, NotReady};
pub use call::CallEnd;
pub use field::{FieldProblem, LimitedText, UsedBy};
pub use model::{ModelProblem, ModelRemedy};
pub use request::{BadRequest, TooLarge, TooMany};
pub use run::{CompactionProblem, RunTrouble, StuckPattern, SummaryFlaw};
pub use server::{InternalError, StoreFault, StorePart, Unavailable};
pub use session::{Busy, Conflict, NotFound, ReadOnly, SessionDamage, StaleParent};
pub use skill::SkillProblem;

use crate::{ErrorCode, LocalizedText};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Defines an enum of reasons. `zh` and `en` take what `format!` takes, with the parameters in scope.
macro_rules! reasons {
    ($(#[$attribute:meta])* $name:ident {
        $(
            $(#[$about:meta])*
            $variant:ident $({ $($(#[$described:meta])* $field:ident: $type:ty),+ $(,)? })? => {
                zh($($zh:tt)+), en($($en:tt)+) $(,)?
            }
        )+
    }) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
        #[serde(tag = "code", rename_all = "snake_case", rename_all_fields = "camelCase")]
        pub enum $name {
            $(
                $(#[$about])*
                $variant $({ $($(#[$described])* $field: $type),+ })?,
            )+
        }

        impl $name {
            /// For people, in the languages of the app.
            pub fn words(&self) -> $crate::LocalizedText {
                match self {
                    $(Self::$variant $({ $($field),+ })? => {
                        $crate::LocalizedText::new(format!($($zh)+), format!($($en)+))
                    })+
                }
            }

            /// One of each, with parameters that are easy to find in a text.
            #[cfg(test)]
            pub(crate) fn samples() -> Vec<Self> {
                vec![$(Self::$variant $({
                    $($field: $crate::reason::tests::Sample::sample(stringify!($field))),+
                })?,)+]
            }
        }

        /// In English.
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self {
                    $(Self::$variant $({ $($field),+ })? => write!(f, $($en)+),)+
                }
            }
        }

        impl std::error::Error for $name {}
    };
}
use reasons;

macro_rules! define {
    ($($(#[$about:meta])* $kind:ident($type:ident) => $code:ident,)+) => {
        /// Why a command or a request was refused.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
        #[serde(untagged)]
        pub enum Reason {
            $($(#[$about])* $kind($type),)+
        }

        impl Reason {
            /// What kind of refusal it is, for programs that do not know the reason.
            pub fn error_code(&self) -> ErrorCode {
                match self {
                    $(Self::$kind(_) => ErrorCode::$code,)+
                }
            }

            /// For people, in the languages of the app.
            pub fn words(&self) -> LocalizedText {
                match self {
                    $(Self::$kind(reason) => reason.words(),)+
                }
            }

            #[cfg(test)]
            pub(crate) fn samples() -> Vec<Self> {
                let mut samples = Vec::new();
                $(samples.extend($type::samples().into_iter().map(Self::$kind));)+
                samples
            }
        }

        /// In English.
        impl fmt::Display for Reason {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Self::$kind(reason) => reason.fmt(f),)+
                }
            }
        }
    };
}

define! {
    BadRequest(BadRequest) => BadRequest,
    /// A model was chosen that cannot be.
    WrongModel(ModelChoiceError) => BadRequest,
    Unauthorized(Unauthorized) => Unauthorized,
    Forbidden(Forbidden) => Forbidden,
    NotFound(NotFound) => NotFound,
    Conflict(Conflict) => Conflict,
    ReadOnly(ReadOnly) => Conflict,
    Busy(Busy) => SessionBusy,
    StaleParent(StaleParent) => StaleParent,
    TooLarge(TooLarge) => TooLarge,
    TooMany(TooMany) => RateLimited,
    Unavailable(Unavailable) => Unavailable,
    NotReady(NotReady) => Unavailable,
    /// The same as for a choice, when a run needs the model that was chosen before.
    NoModel(ModelChoiceError) => Unavailable,
    Store(StoreFault) => Unavailable,
    Internal(InternalError) => Internal,
}

impl std::error::Error for Reason {}

macro_rules! from {
    ($($name:ident),+ $(,)?) => {
        $(impl From<$name> for Reason {
            fn from(reason: $name) -> Self {
                Self::$name(reason)
            }
        })+
    };
}

from!(
    BadRequest,
    Unauthorized,
    Forbidden,
    NotFound,
    Conflict,
    ReadOnly,
    Busy,
    StaleParent,
    TooLarge,
    TooMany,
    Unavailable,
    NotReady,
);

impl From<StoreFault> for Reason {
    fn from(fault: StoreFault) -> Self {
        Self::Store(fault)
    }
}

impl From<InternalError> for Reason {
    fn from(error: InternalError) -> Self {
        Self::Internal(error)
    }
}
