//! Why a compaction failed, for programs and for users.

use netaclaw_models::ModelError;
use netaclaw_protocol::{CompactionFault, Words};

/// The context stays as it is.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CompactionFailure {
    #[error("there is nothing to compact yet")]
    NothingToCompress,
    #[error("the summary would save too little: {before} tokens before, {after} after")]
    NoGain { before: u64, after: u64 },
    #[error("the model {model} did not write a usable summary: {flaw}")]
    BadSummary { model: String, flaw: Flaw },
    #[error("{error}")]
    Model {
        channel: String,
        model: String,
        #[source]
        error: ModelError,
    },
    #[error("the context window of the model {model} is too small to compact this session")]
    AuxiliaryTooSmall { model: String },
    #[error("the model {model} timed out")]
    TimedOut { model: String },
    #[error("the compaction was stopped")]
    Cancelled,
}

/// What is wrong with what a model wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    #[error("it is empty")]
    Empty,
    #[error("it contains only thinking")]
    OnlyThinking,
    #[error("it is too short")]
    TooShort,
    #[error("it was truncated")]
    CutOff,
    #[error("it is longer than the text that it replaces")]
    Longer,
}

impl Flaw {
    fn zh(self) -> &'static str {
        match self {
            Self::Empty => "内容为空",
            Self::OnlyThinking => "只有思考过程",
            Self::TooShort => "内容过短",
            Self::CutOff => "内容被截断",
            Self::Longer => "比原文还长",
        }
    }
}

impl CompactionFailure {
    pub fn fault(&self) -> CompactionFault {
        match self {
            Self::NothingToCompress => CompactionFault::NothingToCompress,
            Self::NoGain { .. } => CompactionFault::NoGain,
            Self::BadSummary { .. } => CompactionFault::BadSummary,
            Self::Model { .. } => CompactionFault::ModelFailed,
            Self::AuxiliaryTooSmall { .. } => CompactionFault::AuxiliaryTooSmall,
            Self::TimedOut { .. } => CompactionFault::TimedOut,
            Self::Cancelled => CompactionFault::Cancelled,
        }
    }

    /// Whether asking once more may help.
    pub fn is_retryable(&self) -> bool {
        !matches!(
            self,
            Self::NothingToCompress | Self::NoGain { .. } | Self::AuxiliaryTooSmall { .. }
        )
    }

    pub fn words(&self) -> Words {
        match self {
            Self::NothingToCompress => Words::new(
                "目前没有可以压缩的内容。",
                "There is nothing to compact yet.",
            ),
            Self::NoGain { before, after } => Words::new(
                format!("压缩能节省的空间太少（{before} → {after} Token），已保留原文。"),
                format!(
                    "Compaction would save too little ({before} → {after} tokens). Nothing was \
                     changed."
                ),
            ),
            Self::BadSummary { model, flaw } => Words::new(
                format!(
                    "模型“{model}”没有写出可用的摘要：{}。已保留原文。",
                    flaw.zh()
                ),
                format!(
                    "The model “{model}” did not write a usable summary: {flaw}. Nothing was \
                     changed."
                ),
            ),
            Self::Model {
                channel,
                model,
                error,
            } => error.trouble(channel, model).words,
            Self::AuxiliaryTooSmall { model } => Words::new(
                format!(
                    "模型“{model}”的上下文窗口太小，无法压缩此会话。请为智能体另选一个辅助模型。"
                ),
                format!(
                    "The context window of the model “{model}” is too small to compact this \
                     session. Choose another auxiliary model for the agent."
                ),
            ),
            Self::TimedOut { model } => Words::new(
                format!("模型“{model}”生成摘要超时。已保留原文。"),
                format!(
                    "The model “{model}” timed out while writing the summary. Nothing was changed."
                ),
            ),
            Self::Cancelled => Words::new("压缩已停止。", "The compaction was stopped."),
        }
    }
}
