//! Errors as text for users: what happened, and what to do.

use super::{ModelError, NetworkStage, TimeoutStage};
use std::fmt;
use std::time::Duration;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    #[default]
    English,
    Chinese,
}

/// Two sentences, and what the supplier said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    pub happened: String,
    pub remedy: String,
    /// The supplier's own text, empty if there was none.
    pub said: String,
    language: Language,
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            happened,
            remedy,
            said,
            language,
        } = self;
        // Chinese marks are as wide as a mark and a space.
        match language {
            Language::English if said.is_empty() => write!(f, "{happened} {remedy}"),
            Language::English => write!(f, "{happened} {remedy} ({said})"),
            Language::Chinese if said.is_empty() => write!(f, "{happened}{remedy}"),
            Language::Chinese => write!(f, "{happened}{remedy}（{said}）"),
        }
    }
}

impl ModelError {
    pub fn explain(&self, language: Language) -> Explanation {
        let (happened, remedy) = match language {
            Language::English => english(self),
            Language::Chinese => chinese(self),
        };
        Explanation {
            happened,
            remedy,
            said: self.detail().map(|d| d.text.clone()).unwrap_or_default(),
            language,
        }
    }
}

fn english(error: &ModelError) -> (String, String) {
    let (happened, remedy) = match error {
        ModelError::Auth(_) => (
            "The model supplier did not accept the API key.",
            "Check the API key of this channel and its access to this model.",
        ),
        ModelError::Quota(_) => (
            "The account at the model supplier has no balance or quota left.",
            "Top up the account or choose another channel.",
        ),
        ModelError::RateLimited { retry_after, .. } => {
            return (
                "The rate limit of the model supplier was exceeded.".into(),
                match retry_after {
                    Some(wait) => format!("Try again in {}.", english_wait(*wait)),
                    None => "Try again later.".into(),
                },
            );
        }
        ModelError::Overloaded { .. } => (
            "The model supplier is overloaded or has an outage.",
            "Try again in a moment, or choose another channel.",
        ),
        ModelError::ContextTooLong(_) => (
            "The context is longer than this model's context window.",
            "Compact the session, start a new one, or choose a model with a larger context window.",
        ),
        ModelError::BadRequest(_) => (
            "The model supplier rejected the request.",
            "Check the settings of the model; the message of the supplier gives the reason.",
        ),
        ModelError::UnknownModel(_) => (
            "The model supplier does not know this model.",
            "Check the name of the model in the channel, or choose one from the supplier's list.",
        ),
        ModelError::NoToolSupport(_) => (
            "This model does not support tools in this way.",
            "Choose a model with tool support, or mark this one in its channel as having none.",
        ),
        ModelError::Refused(_) => (
            "The model supplier refused to answer this.",
            "Rephrase the request.",
        ),
        ModelError::WrongAddress(_) => (
            "The server at this address is not a model API.",
            "Check the channel's base URL.",
        ),
        ModelError::Network { stage, .. } => (
            match stage {
                NetworkStage::Dns => "The host name of the model server was not found.",
                NetworkStage::Connect => "The model server cannot be reached.",
                NetworkStage::Tls => {
                    "A secure connection to the model server could not be \
                                      established."
                }
                NetworkStage::Request => "The connection to the model server was lost.",
            },
            "Check the channel's base URL and the network, and that the server is running.",
        ),
        ModelError::Timeout { stage, after } => {
            let limit = english_wait(*after);
            return (
                match stage {
                    TimeoutStage::Connect => {
                        format!("The model server could not be reached within {limit}.")
                    }
                    TimeoutStage::FirstByte => {
                        format!("The model did not start to answer within {limit}.")
                    }
                    TimeoutStage::Idle => format!("The model sent nothing for {limit}."),
                },
                "Try again; if this happens again, choose another channel or a longer timeout."
                    .into(),
            );
        }
        ModelError::StreamBroken(_) => (
            "The answer ended before it was complete.",
            "The part that was received is kept. Continue, or regenerate the answer.",
        ),
        ModelError::Protocol(_) => (
            "The model server sent a response that NetaClaw does not understand.",
            "Check that the channel's supplier matches the server.",
        ),
        ModelError::AnswerTooLarge { limit_bytes } => {
            return (
                format!("The answer exceeded {} MB.", limit_bytes >> 20),
                "The part that was received is kept. Ask for less at once, or choose another \
                 model."
                    .into(),
            );
        }
        ModelError::EmptyAnswer => (
            "The model sent an empty answer.",
            "Try again, or choose another model.",
        ),
        ModelError::Cancelled => ("The answer was stopped.", "You can continue at any time."),
    };
    (happened.into(), remedy.into())
}

fn chinese(error: &ModelError) -> (String, String) {
    let (happened, remedy) = match error {
        ModelError::Auth(_) => (
            "模型供应商不接受这个 API 密钥。",
            "请检查该渠道的密钥，以及它是否有权使用这个模型。",
        ),
        ModelError::Quota(_) => (
            "模型供应商的账户余额或额度已用完。",
            "请充值，或改用其他渠道。",
        ),
        ModelError::RateLimited { retry_after, .. } => {
            return (
                "模型供应商限制了请求频率。".into(),
                match retry_after {
                    Some(wait) => format!("请在 {}后重试。", chinese_wait(*wait)),
                    None => "请稍候再试。".into(),
                },
            );
        }
        ModelError::Overloaded { .. } => {
            ("模型供应商过载或出现故障。", "请稍后重试，或改用其他渠道。")
        }
        ModelError::ContextTooLong(_) => (
            "上下文长度超过了该模型的上下文窗口。",
            "请压缩会话、新建会话，或换用上下文窗口更大的模型。",
        ),
        ModelError::BadRequest(_) => (
            "模型供应商拒绝了此请求。",
            "请检查模型设置；供应商的消息说明了原因。",
        ),
        ModelError::UnknownModel(_) => (
            "模型供应商没有这个模型。",
            "请检查渠道中的模型名称，或从供应商的列表中选择。",
        ),
        ModelError::NoToolSupport(_) => (
            "该模型不能这样使用工具。",
            "请换用支持工具的模型，或在渠道中将它标为不支持工具。",
        ),
        ModelError::Refused(_) => ("模型供应商拒绝回答此内容。", "请换一种说法。"),
        ModelError::WrongAddress(_) => (
            "该地址上有服务器，但不是模型接口。",
            "请检查渠道的接口地址。",
        ),
        ModelError::Network { stage, .. } => (
            match stage {
                NetworkStage::Dns => "找不到模型服务器的域名。",
                NetworkStage::Connect => "无法连接模型服务器。",
                NetworkStage::Tls => "无法与模型服务器建立安全连接。",
                NetworkStage::Request => "与模型服务器的连接中断。",
            },
            "请检查渠道的接口地址和网络，并确认服务器正在运行。",
        ),
        ModelError::Timeout { stage, after } => {
            let limit = chinese_wait(*after);
            return (
                match stage {
                    TimeoutStage::Connect => format!("{limit}内未能连接模型服务器。"),
                    TimeoutStage::FirstByte => format!("模型在{limit}内没有开始回答。"),
                    TimeoutStage::Idle => format!("模型已有{limit}没有输出。"),
                },
                "请重试；若仍然如此，请改用其他渠道或延长超时时间。".into(),
            );
        }
        ModelError::StreamBroken(_) => (
            "回答在结束前中断。",
            "已收到的部分会保留，可以继续，或重新生成。",
        ),
        ModelError::Protocol(_) => (
            "NetaClaw 无法理解模型服务器的响应。",
            "请确认渠道的供应商类型与服务器一致。",
        ),
        ModelError::AnswerTooLarge { limit_bytes } => {
            return (
                format!("回答超过了 {} MB。", limit_bytes >> 20),
                "已收到的部分会保留。请分次提问，或换用其他模型。".into(),
            );
        }
        ModelError::EmptyAnswer => ("模型给出了空回答。", "请重试，或换用其他模型。"),
        ModelError::Cancelled => ("回答已停止。", "可以随时继续。"),
    };
    (happened.into(), remedy.into())
}

/// A wait as readable text. Seconds are rounded up, so that users do not retry too early.
fn english_wait(wait: Duration) -> String {
    let seconds = wait.as_millis().div_ceil(1000);
    match seconds {
        0 | 1 => "a second".into(),
        2..120 => format!("{seconds} seconds"),
        120..7200 => format!("{} minutes", seconds.div_ceil(60)),
        _ => format!("{} hours", seconds.div_ceil(3600)),
    }
}

fn chinese_wait(wait: Duration) -> String {
    let seconds = wait.as_millis().div_ceil(1000).max(1);
    match seconds {
        0..120 => format!("{seconds} 秒"),
        120..7200 => format!("{} 分钟", seconds.div_ceil(60)),
        _ => format!("{} 小时", seconds.div_ceil(3600)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Detail;
    use super::*;

    #[test]
    fn an_explanation_says_what_happened_what_to_do_and_what_the_supplier_said() {
        let error = ModelError::RateLimited {
            retry_after: Some(Duration::from_millis(20_400)),
            detail: Detail::new(Some(429), "Slow down."),
        };
        assert_eq!(
            error.explain(Language::English).to_string(),
            "The rate limit of the model supplier was exceeded. Try again in 21 seconds. (Slow down.)"
        );
        assert_eq!(
            error.explain(Language::Chinese).to_string(),
            "模型供应商限制了请求频率。请在 21 秒后重试。（Slow down.）"
        );
    }

    #[test]
    fn long_waits_are_said_in_minutes_and_hours() {
        assert_eq!(english_wait(Duration::from_secs(600)), "10 minutes");
        assert_eq!(english_wait(Duration::from_secs(7201)), "3 hours");
        assert_eq!(chinese_wait(Duration::from_secs(125)), "3 分钟");
    }
}
