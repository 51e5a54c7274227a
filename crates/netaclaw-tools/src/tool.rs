//! The `Tool` trait.

use crate::context::ToolContext;
use crate::output::ToolOutput;
use crate::schema::schema_of;
use async_trait::async_trait;
use netaclaw_governance::{ApprovedCall, CallLimits, ToolManifest};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A capability that a model can call.
///
/// The contract, which `contract` tests for every implementation:
/// - `manifest` always says the same.
/// - Whatever goes wrong is an output with `is_error`. A panic is a mistake in the tool; the
///   caller survives it.
/// - `execute` ends soon after the context's token is cancelled, and blocks no thread of the
///   executor: files and sums go to `spawn_blocking`.
/// - It touches only what the context gives it.
#[async_trait]
pub trait Tool: Send + Sync + 'static {
    fn manifest(&self) -> ToolManifest;

    /// Puts arguments in shape that models often get wrong, before they are checked.
    fn normalize(&self, _args: &mut Value) {}

    /// Carries out a call. Callers go through [`crate::execute`], which also checks arguments and
    /// guards against hanging, panics and floods.
    async fn execute(&self, call: ApprovedCall, context: ToolContext) -> ToolOutput;
}

/// A tool whose arguments are a Rust type, from which its schema is made.
#[async_trait]
pub trait TypedTool: Send + Sync + 'static {
    type Input: DeserializeOwned + JsonSchema + Send;

    /// The manifest; the schema in it is replaced by that of the input.
    fn manifest(&self) -> ToolManifest;

    fn normalize(&self, _args: &mut Value) {}

    async fn run(&self, call: Call<Self::Input>, context: ToolContext) -> ToolOutput;
}

/// An approved call with its arguments read. Only an [`ApprovedCall`] becomes one.
#[derive(Debug)]
pub struct Call<I> {
    tool_call_id: String,
    output_cap: usize,
    limits: CallLimits,
    input: I,
}

impl<I> Call<I> {
    pub fn tool_call_id(&self) -> &str {
        &self.tool_call_id
    }

    /// Bytes of text that the model receives. A tool that can continue from a cut makes the cut
    /// itself.
    pub fn output_cap(&self) -> usize {
        self.output_cap
    }

    /// How far the call may go.
    pub fn limits(&self) -> &CallLimits {
        &self.limits
    }

    pub fn input(&self) -> &I {
        &self.input
    }

    pub fn into_input(self) -> I {
        self.input
    }
}

#[async_trait]
impl<T: TypedTool> Tool for T {
    fn manifest(&self) -> ToolManifest {
        ToolManifest {
            schema: schema_of::<T::Input>().into(),
            ..TypedTool::manifest(self)
        }
    }

    fn normalize(&self, args: &mut Value) {
        TypedTool::normalize(self, args);
    }

    async fn execute(&self, call: ApprovedCall, context: ToolContext) -> ToolOutput {
        let tool_call_id = call.tool_call_id().to_owned();
        let output_cap = call.manifest().output_cap;
        let limits = call.limits().clone();
        let mut args = call.into_args();
        TypedTool::normalize(self, &mut args);
        match serde_json::from_value(args) {
            Ok(input) => {
                let call = Call {
                    tool_call_id,
                    output_cap,
                    limits,
                    input,
                };
                self.run(call, context).await
            }
            // The schema has let it pass, so schema and type disagree in a detail.
            Err(error) => ToolOutput::error(format!("The arguments are not valid: {error}.")),
        }
    }
}
