//! The warnings and failures of a run, as text for users.

use crate::report::{EndReason, StuckPattern};
use netaclaw_models::ModelError;
use netaclaw_protocol::{Trouble, TroubleKind};

impl EndReason {
    pub fn kind(&self) -> TroubleKind {
        match self {
            Self::TurnLimit(_) => TroubleKind::TurnLimit,
            Self::Stuck(_) => TroubleKind::Stuck,
            Self::AnswerCut => TroubleKind::Length,
            Self::ContextTooLong(error) | Self::Model(error) => error.kind(),
            Self::Host(_) => TroubleKind::SessionUnavailable,
        }
    }

    /// `channel` and `model` are who was asked last.
    pub(crate) fn trouble(&self, channel: &str, model: &str) -> Trouble {
        let (zh, en) = match self {
            Self::ContextTooLong(error) | Self::Model(error) => {
                return error.trouble(channel, model);
            }
            Self::TurnLimit(turns) => (
                format!("本次运行达到了 {turns} 个轮次的上限。如需继续，请再发一条消息。"),
                format!("The run reached its limit of {turns} turns. Send a message to continue."),
            ),
            Self::Stuck(pattern) => (
                format!(
                    "模型陷入重复（{}），提醒后仍未停止。请换一种说法，或换用其他模型。",
                    pattern_zh(*pattern)
                ),
                format!(
                    "The model repeated itself ({pattern}) and did not stop when warned. Rephrase \
                     the request, or choose another model."
                ),
            ),
            Self::AnswerCut => (
                "回答达到了模型的输出上限而被截断。可以让它继续，或提高输出上限。".to_owned(),
                "The answer was truncated at the model's output limit. Ask the model to continue, \
                 or raise the limit."
                    .to_owned(),
            ),
            Self::Host(error) => (
                format!("会话暂时无法读写，本次运行已结束。（{error}）请稍后重试。"),
                format!("The run ended: {error}. Try again in a moment."),
            ),
        };
        Trouble::new(self.kind(), zh, en)
    }
}

fn pattern_zh(pattern: StuckPattern) -> &'static str {
    match pattern {
        StuckPattern::SameResults => "同样的工具调用得到同样的结果",
        StuckPattern::SameFailure => "同样的工具调用一再失败",
        StuckPattern::EmptyAnswers => "回答为空",
    }
}

/// The channel or the catalogue says that the model takes no tools.
pub(crate) fn works_without_tools(channel: &str, model: &str) -> Trouble {
    Trouble {
        channel: Some(channel.to_owned()),
        model: Some(model.to_owned()),
        ..Trouble::new(
            TroubleKind::NoToolSupport,
            format!(
                "渠道“{channel}”，模型“{model}”：该模型不支持工具，智能体将不使用工具。\
                 如需工具，请换用支持工具的模型；若它其实支持，请在渠道中改正。"
            ),
            format!(
                "Channel {channel:?}, model {model:?}: this model does not support tools, so the \
                 agent works without them. Choose a model with tool support, or correct the \
                 model's entry in the channel if it does support them."
            ),
        )
    }
}

/// It was unknown, but the supplier has refused the tools.
pub(crate) fn tools_refused(error: &ModelError, channel: &str, model: &str) -> Trouble {
    let said = error.detail().map(|detail| detail.text.clone());
    let quoted = |open, close| match &said {
        Some(said) if !said.is_empty() => format!("{open}{said}{close}"),
        _ => String::new(),
    };
    let words = works_without_tools(channel, model).words;
    Trouble {
        channel: Some(channel.to_owned()),
        model: Some(model.to_owned()),
        said: said.clone().filter(|said| !said.is_empty()),
        ..Trouble::new(
            TroubleKind::NoToolSupport,
            format!("{}{}", words.zh, quoted("（", "）")),
            format!("{}{}", words.en, quoted(" (", ")")),
        )
    }
}

pub(crate) fn unknown_tools(messages: &[&str]) -> Trouble {
    let list = messages.join("; ");
    Trouble::new(
        TroubleKind::UnknownTools,
        format!("智能体的设置中有不存在的工具，已忽略：{list}"),
        format!("The agent's settings name tools that do not exist: {list}"),
    )
}

pub(crate) fn no_sandbox(caution: &str) -> Trouble {
    Trouble::new(
        TroubleKind::NoSandbox,
        "这台机器不完全支持沙箱，而智能体的设置（sandbox.missing）允许继续运行：命令可能做到沙箱本应阻止的事，例如读写服务器能读写的文件，或通过套接字调用本机的服务。请只在信任该智能体时使用。",
        format!("Warning: {caution}. Use this only if you trust the agent."),
    )
}

pub(crate) fn repeating(pattern: StuckPattern) -> Trouble {
    Trouble::new(
        TroubleKind::Repeating,
        format!("模型在重复（{}），已提醒它。", pattern_zh(pattern)),
        format!("The model repeats itself ({pattern}) and has been warned."),
    )
}

pub(crate) fn unreadable(count: usize) -> Trouble {
    Trouble::new(
        TroubleKind::UnreadableMessages,
        format!("会话中有 {count} 条消息无法读取，未发给模型。"),
        format!("{count} messages of the session cannot be read and were not sent to the model."),
    )
}
