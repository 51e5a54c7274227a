//! What a failed request to the admin store means for a session.

use netaclaw_admin::{AdminError, ModelChoiceError};
use netaclaw_engine::{EngineError, StoreFailure};
use netaclaw_protocol::{Trouble, TroubleKind};

pub(crate) fn admin_error(error: AdminError) -> EngineError {
    match error {
        AdminError::NotFound { .. } => EngineError::NotFound(error.to_string()),
        AdminError::Invalid(_) | AdminError::Model(_) | AdminError::Sealed { .. } => {
            EngineError::NotReady(Box::new(setup_trouble(&error)))
        }
        AdminError::Store { .. } => EngineError::Internal(Box::new(StoreFailure::new(error))),
        other => EngineError::Internal(Box::new(other)),
    }
}

/// What has to be set right before the agent can run, and where.
fn setup_trouble(error: &AdminError) -> Trouble {
    let zh = match error {
        AdminError::Model(ModelChoiceError::NoChannel) => {
            "没有可用的模型渠道。请添加或启用一个渠道。".to_owned()
        }
        AdminError::Model(ModelChoiceError::ChannelMissing { id, .. }) => {
            format!("渠道“{id}”不存在。请另选一个渠道。")
        }
        AdminError::Model(ModelChoiceError::ChannelDisabled { name, .. }) => {
            format!("渠道“{name}”已停用。请启用它，或另选一个渠道。")
        }
        AdminError::Model(ModelChoiceError::NoModel { name, .. }) => {
            format!("渠道“{name}”没有模型。请为它添加模型，或在智能体中指定模型。")
        }
        AdminError::Sealed { channel } => {
            format!("渠道“{channel}”的密钥无法解密。请恢复密钥文件，或重新填写该渠道的密钥。")
        }
        other => format!("智能体的设置有误：{other}"),
    };
    Trouble::new(TroubleKind::NotReady, zh, error.to_string())
}
