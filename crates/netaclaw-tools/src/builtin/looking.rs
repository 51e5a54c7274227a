//! What tools say of themselves that only look at files of the workspace.

use netaclaw_governance::{Concurrency, EgressTarget, ToolManifest, WorkerUse};
use netaclaw_protocol::{ToolCategory, ToolLabel, ToolRisk, ToolStatus};
use serde_json::Value;
use std::time::Duration;

/// The properties of each tool; everything else is the same for all.
pub(super) struct LookingTool {
    pub(super) name: &'static str,
    pub(super) label_zh: &'static str,
    pub(super) label_en: &'static str,
    pub(super) description: &'static str,
    pub(super) guidance: &'static str,
    pub(super) timeout: Duration,
}

impl LookingTool {
    pub(super) fn manifest(self) -> ToolManifest {
        ToolManifest {
            name: self.name.to_owned(),
            label: ToolLabel {
                zh: self.label_zh.to_owned(),
                en: self.label_en.to_owned(),
            },
            description: self.description.into(),
            guidance: self.guidance.to_owned(),
            category: ToolCategory::Files,
            schema: Value::Null.into(),
            risk: ToolRisk::Read,
            default_status: ToolStatus::Enabled,
            worker: WorkerUse::Local,
            needs: Vec::new(),
            timeout: Some(self.timeout),
            output_cap: 50 << 10,
            concurrency: Concurrency::Parallel,
            outlet: EgressTarget::None,
        }
    }
}
