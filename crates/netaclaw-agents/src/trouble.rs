//! Maps errors of the admin store to errors of a session.

use netaclaw_admin::AdminError;
use netaclaw_engine::{EngineError, StoreFailure};
use netaclaw_protocol::{NotFound, NotReady};

pub(crate) fn admin_error(error: AdminError) -> EngineError {
    match error {
        AdminError::NotFound {
            kind,
            name,
            nearest,
        } => EngineError::NotFound(NotFound::NoRecord {
            kind,
            name,
            nearest,
        }),
        AdminError::Invalid(invalid) => EngineError::NotReady(NotReady::AgentNotValid {
            field: invalid.field,
            problem: invalid.problem,
        }),
        AdminError::Model(error) => EngineError::NoModel(error),
        AdminError::Sealed { channel } => {
            EngineError::NotReady(NotReady::ChannelSealed { channel })
        }
        AdminError::Store { .. } => EngineError::Internal(Box::new(StoreFailure::new(error))),
        other => EngineError::Internal(Box::new(other)),
    }
}
