//! The suppliers and their quirks, as data: each difference between two servers that claim the same
//! API is a field here, and never an `if` about a supplier's name elsewhere.

use netaclaw_protocol::Supplier;

/// A supplier as screens offer it, and as clients talk to it.
#[derive(Debug)]
pub struct SupplierInfo {
    pub supplier: Supplier,
    pub label: &'static str,
    pub api: ApiFamily,
    /// Empty when every customer has an address of their own.
    pub base_url: &'static str,
    pub needs_key: bool,
    /// Where a key is usually found on a machine.
    pub key_variable: Option<&'static str>,
    pub(crate) quirks: Quirks,
}

/// The API of a supplier. Its name is the `api` of the answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApiFamily {
    OpenaiChat,
    AnthropicMessages,
    Demo,
}

impl ApiFamily {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenaiChat => "openai-completions",
            Self::AnthropicMessages => "anthropic-messages",
            Self::Demo => "netaclaw-demo",
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Quirks {
    pub(crate) auth: Auth,
    /// What the limit for the answer is called.
    pub(crate) max_tokens: &'static str,
    /// Whether usage has to be asked for, and may be.
    pub(crate) asks_for_usage: bool,
    /// How requests enable thinking for a model that supports it, unless the catalog has a better
    /// entry.
    pub(crate) thinking: ThinkingStyle,
    pub(crate) reasoning_back: ReasoningBack,
    /// Whether thinking may come inside the text, between tags at its beginning.
    pub(crate) think_tags: bool,
    /// Whether a delta may repeat everything said before it.
    pub(crate) repeats_reasoning: bool,
    /// Members of the request that are always there, and true.
    pub(crate) always: &'static [&'static str],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Auth {
    Bearer,
    Header(&'static str),
}

/// How a request says how hard to think.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ThinkingStyle {
    /// Not at all: the model does not think, or has no known parameter for it.
    None,
    /// `reasoning_effort`.
    Effort(&'static EffortNames),
    /// `thinking: {type: enabled | disabled}`.
    Switch,
    /// The same, with an effort.
    SwitchAndEffort(&'static EffortNames),
    /// `thinking: {type: adaptive | disabled}`.
    AdaptiveSwitch,
    /// `enable_thinking` and `thinking_budget`.
    FlagAndBudget,
    /// Anthropic's `thinking: {type: enabled, budget_tokens}`.
    Budget,
    /// Anthropic's `thinking: {type: adaptive}` with `output_config.effort`, up to `most`.
    Adaptive {
        off: AdaptiveOff,
        most: &'static str,
    },
}

/// What is sent to an adaptive model that should not think.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AdaptiveOff {
    Disabled,
    /// The model always thinks and rejects requests without thinking; the lowest effort with hidden
    /// thinking comes closest.
    LeastEffort,
}

/// What the levels are called. Index 0 is the level `off`; `None` leaves the member out.
#[derive(Debug, PartialEq)]
pub(crate) struct EffortNames {
    pub(crate) names: [Option<&'static str>; 6],
    /// OpenAI's newer models take tools in chat completions only while they do not think.
    pub(crate) tools_only_when_off: bool,
}

/// Whether an answer's thinking goes back with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReasoningBack {
    Never,
    /// With answers that called tools, if it is known.
    WithCalls,
    /// With answers that called tools, empty if need be: leaving it out is an error.
    RequiredWithCalls,
    /// With every answer.
    Always,
}

pub(crate) const EFFORT_CLASSIC: EffortNames = EffortNames {
    names: [
        Some("low"),
        Some("low"),
        Some("low"),
        Some("medium"),
        Some("high"),
        Some("high"),
    ],
    tools_only_when_off: false,
};
pub(crate) const EFFORT_MINIMAL: EffortNames = EffortNames {
    names: [
        Some("minimal"),
        Some("minimal"),
        Some("low"),
        Some("medium"),
        Some("high"),
        Some("high"),
    ],
    tools_only_when_off: false,
};
pub(crate) const EFFORT_NONE: EffortNames = EffortNames {
    names: [
        Some("none"),
        Some("low"),
        Some("low"),
        Some("medium"),
        Some("high"),
        Some("xhigh"),
    ],
    tools_only_when_off: false,
};
pub(crate) const EFFORT_NONE_WITH_TOOLS: EffortNames = EffortNames {
    names: EFFORT_NONE.names,
    tools_only_when_off: true,
};
pub(crate) const EFFORT_ALWAYS: EffortNames = EffortNames {
    names: [
        Some("low"),
        Some("low"),
        Some("low"),
        Some("medium"),
        Some("high"),
        Some("xhigh"),
    ],
    tools_only_when_off: false,
};
pub(crate) const EFFORT_ON_OFF: EffortNames = EffortNames {
    names: [
        Some("none"),
        Some("low"),
        Some("low"),
        Some("medium"),
        Some("high"),
        Some("high"),
    ],
    tools_only_when_off: false,
};
const EFFORT_DEEPSEEK: EffortNames = EffortNames {
    names: [
        None,
        Some("low"),
        Some("low"),
        Some("high"),
        Some("high"),
        Some("max"),
    ],
    tools_only_when_off: false,
};
pub(crate) const EFFORT_LOW_HIGH: EffortNames = EffortNames {
    names: [
        Some("low"),
        Some("low"),
        Some("low"),
        Some("high"),
        Some("high"),
        Some("high"),
    ],
    tools_only_when_off: false,
};
const EFFORT_COMPATIBLE: EffortNames = EffortNames {
    names: [
        None,
        Some("low"),
        Some("low"),
        Some("medium"),
        Some("high"),
        Some("high"),
    ],
    tools_only_when_off: false,
};

/// What most servers that copy OpenAI's API have in common.
const COMPATIBLE: Quirks = Quirks {
    auth: Auth::Bearer,
    max_tokens: "max_tokens",
    asks_for_usage: true,
    thinking: ThinkingStyle::Effort(&EFFORT_COMPATIBLE),
    reasoning_back: ReasoningBack::WithCalls,
    think_tags: true,
    repeats_reasoning: false,
    always: &[],
};

pub const SUPPLIERS: &[SupplierInfo] = &[
    SupplierInfo {
        supplier: Supplier::Openai,
        label: "OpenAI",
        api: ApiFamily::OpenaiChat,
        base_url: "https://api.openai.com/v1",
        needs_key: true,
        key_variable: Some("OPENAI_API_KEY"),
        quirks: Quirks {
            max_tokens: "max_completion_tokens",
            thinking: ThinkingStyle::Effort(&EFFORT_CLASSIC),
            reasoning_back: ReasoningBack::Never,
            think_tags: false,
            ..COMPATIBLE
        },
    },
    SupplierInfo {
        supplier: Supplier::Azure,
        label: "Azure OpenAI",
        api: ApiFamily::OpenaiChat,
        base_url: "",
        needs_key: true,
        key_variable: Some("AZURE_OPENAI_API_KEY"),
        quirks: Quirks {
            auth: Auth::Header("api-key"),
            max_tokens: "max_completion_tokens",
            thinking: ThinkingStyle::Effort(&EFFORT_CLASSIC),
            reasoning_back: ReasoningBack::Never,
            think_tags: false,
            ..COMPATIBLE
        },
    },
    SupplierInfo {
        supplier: Supplier::Anthropic,
        label: "Anthropic",
        api: ApiFamily::AnthropicMessages,
        base_url: "https://api.anthropic.com",
        needs_key: true,
        key_variable: Some("ANTHROPIC_API_KEY"),
        quirks: Quirks {
            auth: Auth::Header("x-api-key"),
            thinking: ThinkingStyle::Budget,
            think_tags: false,
            ..COMPATIBLE
        },
    },
    SupplierInfo {
        supplier: Supplier::Deepseek,
        label: "DeepSeek",
        api: ApiFamily::OpenaiChat,
        base_url: "https://api.deepseek.com/v1",
        needs_key: true,
        key_variable: Some("DEEPSEEK_API_KEY"),
        quirks: Quirks {
            thinking: ThinkingStyle::SwitchAndEffort(&EFFORT_DEEPSEEK),
            reasoning_back: ReasoningBack::RequiredWithCalls,
            think_tags: false,
            ..COMPATIBLE
        },
    },
    SupplierInfo {
        supplier: Supplier::Zhipu,
        label: "智谱 (Zhipu GLM)",
        api: ApiFamily::OpenaiChat,
        base_url: "https://open.bigmodel.cn/api/paas/v4",
        needs_key: true,
        key_variable: Some("ZHIPU_API_KEY"),
        quirks: Quirks {
            // It rejects `stream_options` and sends usage anyway.
            asks_for_usage: false,
            thinking: ThinkingStyle::Switch,
            think_tags: false,
            ..COMPATIBLE
        },
    },
    SupplierInfo {
        supplier: Supplier::Tongyi,
        label: "通义千问 (Qwen)",
        api: ApiFamily::OpenaiChat,
        base_url: "https://dashscope.aliyuncs.com/compatible-mode/v1",
        needs_key: true,
        key_variable: Some("DASHSCOPE_API_KEY"),
        quirks: Quirks {
            thinking: ThinkingStyle::FlagAndBudget,
            reasoning_back: ReasoningBack::Never,
            think_tags: false,
            ..COMPATIBLE
        },
    },
    SupplierInfo {
        supplier: Supplier::Minimax,
        label: "MiniMax",
        api: ApiFamily::OpenaiChat,
        base_url: "https://api.minimaxi.com/v1",
        needs_key: true,
        key_variable: Some("MINIMAX_API_KEY"),
        quirks: Quirks {
            max_tokens: "max_completion_tokens",
            thinking: ThinkingStyle::AdaptiveSwitch,
            reasoning_back: ReasoningBack::Always,
            repeats_reasoning: true,
            always: &["reasoning_split"],
            ..COMPATIBLE
        },
    },
    SupplierInfo {
        supplier: Supplier::Volcengine,
        label: "火山方舟 (Volcengine Ark)",
        api: ApiFamily::OpenaiChat,
        base_url: "https://ark.cn-beijing.volces.com/api/v3",
        needs_key: true,
        key_variable: Some("ARK_API_KEY"),
        quirks: Quirks {
            thinking: ThinkingStyle::Switch,
            think_tags: false,
            ..COMPATIBLE
        },
    },
    SupplierInfo {
        supplier: Supplier::Gemini,
        label: "Google Gemini",
        api: ApiFamily::OpenaiChat,
        base_url: "https://generativelanguage.googleapis.com/v1beta/openai",
        needs_key: true,
        key_variable: Some("GEMINI_API_KEY"),
        quirks: Quirks {
            reasoning_back: ReasoningBack::Never,
            ..COMPATIBLE
        },
    },
    SupplierInfo {
        supplier: Supplier::Moonshot,
        label: "Kimi (月之暗面 Moonshot)",
        api: ApiFamily::OpenaiChat,
        base_url: "https://api.moonshot.cn/v1",
        needs_key: true,
        key_variable: Some("MOONSHOT_API_KEY"),
        quirks: Quirks {
            thinking: ThinkingStyle::Switch,
            ..COMPATIBLE
        },
    },
    SupplierInfo {
        supplier: Supplier::Siliconflow,
        label: "硅基流动 (SiliconFlow)",
        api: ApiFamily::OpenaiChat,
        base_url: "https://api.siliconflow.cn/v1",
        needs_key: true,
        key_variable: Some("SILICONFLOW_API_KEY"),
        quirks: Quirks {
            thinking: ThinkingStyle::FlagAndBudget,
            ..COMPATIBLE
        },
    },
    SupplierInfo {
        supplier: Supplier::Openrouter,
        label: "OpenRouter",
        api: ApiFamily::OpenaiChat,
        base_url: "https://openrouter.ai/api/v1",
        needs_key: true,
        key_variable: Some("OPENROUTER_API_KEY"),
        quirks: COMPATIBLE,
    },
    SupplierInfo {
        supplier: Supplier::Xai,
        label: "xAI Grok",
        api: ApiFamily::OpenaiChat,
        base_url: "https://api.x.ai/v1",
        needs_key: true,
        key_variable: Some("XAI_API_KEY"),
        quirks: Quirks {
            thinking: ThinkingStyle::Effort(&EFFORT_LOW_HIGH),
            reasoning_back: ReasoningBack::Never,
            ..COMPATIBLE
        },
    },
    SupplierInfo {
        supplier: Supplier::Mistral,
        label: "Mistral",
        api: ApiFamily::OpenaiChat,
        base_url: "https://api.mistral.ai/v1",
        needs_key: true,
        key_variable: Some("MISTRAL_API_KEY"),
        quirks: Quirks {
            // It rejects members that it does not know, and sends usage anyway.
            asks_for_usage: false,
            thinking: ThinkingStyle::None,
            reasoning_back: ReasoningBack::Never,
            ..COMPATIBLE
        },
    },
    SupplierInfo {
        supplier: Supplier::Ollama,
        label: "Ollama",
        api: ApiFamily::OpenaiChat,
        base_url: "http://127.0.0.1:11434/v1",
        needs_key: false,
        key_variable: None,
        quirks: Quirks {
            thinking: ThinkingStyle::Effort(&EFFORT_ON_OFF),
            ..COMPATIBLE
        },
    },
    SupplierInfo {
        supplier: Supplier::Vllm,
        label: "vLLM",
        api: ApiFamily::OpenaiChat,
        base_url: "http://127.0.0.1:8000/v1",
        needs_key: false,
        key_variable: None,
        quirks: COMPATIBLE,
    },
    SupplierInfo {
        supplier: Supplier::Lmstudio,
        label: "LM Studio",
        api: ApiFamily::OpenaiChat,
        base_url: "http://127.0.0.1:1234/v1",
        needs_key: false,
        key_variable: None,
        quirks: COMPATIBLE,
    },
    SupplierInfo {
        supplier: Supplier::Compatible,
        label: "OpenAI-compatible",
        api: ApiFamily::OpenaiChat,
        base_url: "",
        needs_key: false,
        key_variable: None,
        quirks: COMPATIBLE,
    },
    SupplierInfo {
        supplier: Supplier::Demo,
        label: "Demo",
        api: ApiFamily::Demo,
        base_url: "",
        needs_key: false,
        key_variable: None,
        quirks: COMPATIBLE,
    },
];

/// What is known about a supplier.
pub fn supplier(supplier: Supplier) -> &'static SupplierInfo {
    SUPPLIERS
        .iter()
        .find(|info| info.supplier == supplier)
        .expect("every supplier has its row")
}
