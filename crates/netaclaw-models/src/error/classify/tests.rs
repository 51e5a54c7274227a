//! What suppliers really send, and the error that callers act on. A retry must not follow a fault
//! that it cannot cure.

use super::*;

/// Supplier, status, body, expected code.
type Case = (&'static str, u16, &'static str, &'static str);

#[track_caller]
fn check(cases: &[Case]) {
    for (supplier, status, body, expected) in cases {
        let error = classify(Reply {
            status: Some(*status).filter(|s| *s != 200),
            retry_after: None,
            body,
        });
        assert_eq!(error.code(), *expected, "{supplier} {status}: {body}");
    }
}

#[test]
fn a_context_that_is_too_long_is_recognised() {
    check(&[
        (
            "openai",
            400,
            r#"{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 130112 tokens. Please reduce the length of the messages.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
            "context_too_long",
        ),
        (
            "openai, in the stream",
            200,
            r#"{"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again.","type":"invalid_request_error","code":"context_length_exceeded"}}"#,
            "context_too_long",
        ),
        (
            "azure",
            400,
            r#"{"error":{"message":"This model's maximum context length is 8192 tokens, however you requested 8500 tokens","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
            "context_too_long",
        ),
        (
            "anthropic",
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 213462 tokens > 200000 maximum"},"request_id":"req_1"}"#,
            "context_too_long",
        ),
        (
            "anthropic",
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000, decrease input length or `max_tokens` and try again"}}"#,
            "context_too_long",
        ),
        (
            "anthropic",
            413,
            r#"{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#,
            "context_too_long",
        ),
        (
            "deepseek",
            400,
            r#"{"error":{"message":"This model's maximum context length is 131072 tokens. However, you requested 141403 tokens (133211 in the messages, 8192 in the completion). Please reduce the length of the messages or completion.","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}"#,
            "context_too_long",
        ),
        (
            "zhipu",
            400,
            r#"{"error":{"code":"1261","message":"Prompt 超长"}}"#,
            "context_too_long",
        ),
        (
            "tongyi",
            400,
            r#"{"error":{"code":"invalid_parameter_error","param":null,"message":"<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]","type":"invalid_request_error"}}"#,
            "context_too_long",
        ),
        (
            "minimax",
            200,
            r#"{"base_resp":{"status_code":2013,"status_msg":"invalid params, context window exceeds limit"}}"#,
            "context_too_long",
        ),
        (
            "volcengine",
            400,
            r#"{"error":{"code":"InvalidParameter","message":"Total tokens of image and text exceed max message tokens.","type":"BadRequest"}}"#,
            "context_too_long",
        ),
        (
            "ollama",
            400,
            r#"{"error":{"message":"prompt too long; exceeded max context length by 4 tokens","type":"invalid_request_error","param":null,"code":null}}"#,
            "context_too_long",
        ),
        (
            "vllm",
            400,
            r#"{"error":{"message":"You passed 1015 input tokens and requested 10 output tokens. However, the model's context length is only 1024 tokens, resulting in a maximum input length of 1014 tokens. Please reduce the length of the input prompt.","type":"BadRequestError","param":"input_tokens","code":400}}"#,
            "context_too_long",
        ),
        (
            "vllm, older",
            400,
            r#"{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens in the messages.","type":"BadRequestError","param":null,"code":400}"#,
            "context_too_long",
        ),
        (
            "llama.cpp",
            400,
            r#"{"error":{"code":400,"message":"request (42947 tokens) exceeds the available context size (8192 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":42947,"n_ctx":8192}}"#,
            "context_too_long",
        ),
    ]);
}

#[test]
fn a_rate_limit_never_leads_to_compaction() {
    check(&[
        (
            "openai",
            429,
            r#"{"error":{"message":"Rate limit reached for gpt-5 in organization org-x on tokens per min (TPM): Limit 30000, Used 29000, Requested 4000. Please try again in 6s.","type":"tokens","param":null,"code":"rate_limit_exceeded"}}"#,
            "rate_limited",
        ),
        (
            "openai",
            429,
            r#"{"error":{"message":"Request too large for gpt-5 on tokens per min (TPM): Limit 30000, Requested 41000. The input or output tokens must be reduced in order to run successfully.","type":"tokens","param":null,"code":"rate_limit_exceeded"}}"#,
            "rate_limited",
        ),
        (
            "azure",
            429,
            r#"{"error":{"code":"429","message":"Requests to the ChatCompletions_Create Operation have exceeded call rate limit of your current pricing tier. Please retry after 26 seconds."}}"#,
            "rate_limited",
        ),
        (
            "anthropic",
            429,
            r#"{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed the rate limit for your organization of 40,000 input tokens per minute. Reduce the prompt length or the maximum tokens requested."}}"#,
            "rate_limited",
        ),
        (
            "deepseek",
            429,
            r#"{"error":{"message":"Rate limit reached","type":"rate_limit_error"}}"#,
            "rate_limited",
        ),
        (
            "zhipu",
            429,
            r#"{"error":{"code":"1302","message":"您的账户已达到速率限制,请您控制请求频率"}}"#,
            "rate_limited",
        ),
        (
            "tongyi",
            429,
            r#"{"error":{"message":"You have exceeded your current request limit. For details, see: limit","type":"limit_requests","param":null,"code":"limit_requests"}}"#,
            "rate_limited",
        ),
        (
            "tongyi",
            429,
            r#"{"code":"Throttling.RateQuota","message":"Requests rate limit exceeded, please try again later.","request_id":"x"}"#,
            "rate_limited",
        ),
        (
            "tongyi",
            429,
            r#"{"error":{"message":"Allocated quota exceeded, please increase your quota limit.","type":"insufficient_quota","code":"insufficient_quota"}}"#,
            "rate_limited",
        ),
        (
            "minimax",
            200,
            r#"{"base_resp":{"status_code":1002,"status_msg":"rate limit"}}"#,
            "rate_limited",
        ),
        (
            "a proxy",
            429,
            "<html><head><title>429 Too Many Requests</title></head></html>",
            "rate_limited",
        ),
        (
            "openrouter, in the stream",
            200,
            r#"{"error":{"code":429,"message":"Provider returned error"}}"#,
            "rate_limited",
        ),
    ]);
}

#[test]
fn trouble_at_the_supplier_is_worth_a_retry() {
    check(&[
        (
            "openai",
            500,
            r#"{"error":{"message":"The server had an error while processing your request. Sorry about that!","type":"server_error","param":null,"code":null}}"#,
            "overloaded",
        ),
        (
            "openai",
            503,
            r#"{"error":{"message":"The engine is currently overloaded, please try again later","type":"server_error"}}"#,
            "overloaded",
        ),
        (
            "anthropic",
            529,
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            "overloaded",
        ),
        (
            "anthropic, in the stream",
            200,
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            "overloaded",
        ),
        (
            "anthropic",
            500,
            r#"{"type":"error","error":{"type":"api_error","message":"Internal server error"}}"#,
            "overloaded",
        ),
        ("deepseek", 503, "Service is too busy.", "overloaded"),
        (
            "zhipu",
            429,
            r#"{"error":{"code":"1305","message":"该模型当前访问量过大,请您稍后再试"}}"#,
            "overloaded",
        ),
        ("vllm", 500, "Internal Server Error", "overloaded"),
        (
            "a proxy",
            502,
            "<html><title>502 Bad Gateway</title></html>",
            "overloaded",
        ),
        ("a proxy", 504, "", "overloaded"),
    ]);
}

#[test]
fn a_wrong_key_is_reported_and_not_retried() {
    check(&[
        (
            "openai",
            401,
            r#"{"error":{"message":"Incorrect API key provided: sk-1234****5678.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}"#,
            "auth",
        ),
        (
            "azure",
            401,
            r#"{"error":{"code":"401","message":"Access denied due to invalid subscription key or wrong API endpoint."}}"#,
            "auth",
        ),
        (
            "anthropic",
            401,
            r#"{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}"#,
            "auth",
        ),
        (
            "anthropic",
            403,
            r#"{"type":"error","error":{"type":"permission_error","message":"Your API key does not have permission to use the specified resource."}}"#,
            "auth",
        ),
        (
            "deepseek",
            401,
            r#"{"error":{"message":"Authentication Fails, Your api key: ****abcd is invalid","type":"authentication_error","param":null,"code":"invalid_request_error"}}"#,
            "auth",
        ),
        (
            "zhipu",
            401,
            r#"{"error":{"code":"1000","message":"身份验证失败"}}"#,
            "auth",
        ),
        (
            "tongyi",
            401,
            r#"{"error":{"message":"Incorrect API key provided. ","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}"#,
            "auth",
        ),
        (
            "minimax",
            200,
            r#"{"base_resp":{"status_code":1004,"status_msg":"login fail"}}"#,
            "auth",
        ),
        ("vllm", 401, r#"{"error":"Unauthorized"}"#, "auth"),
        (
            "llama.cpp",
            401,
            r#"{"error":{"code":401,"message":"Invalid API Key","type":"authentication_error"}}"#,
            "auth",
        ),
    ]);
}

#[test]
fn an_empty_account_is_not_a_rate_limit() {
    check(&[
        (
            "openai",
            429,
            r#"{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}"#,
            "quota",
        ),
        (
            "anthropic",
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."}}"#,
            "quota",
        ),
        (
            "anthropic",
            402,
            r#"{"type":"error","error":{"type":"billing_error","message":"Billing problem"}}"#,
            "quota",
        ),
        (
            "deepseek",
            402,
            r#"{"error":{"message":"Insufficient Balance","type":"unknown_error","param":null,"code":"invalid_request_error"}}"#,
            "quota",
        ),
        (
            "zhipu",
            429,
            r#"{"error":{"code":"1113","message":"您的账户已欠费,请充值后重试"}}"#,
            "quota",
        ),
        (
            "tongyi",
            400,
            r#"{"error":{"code":"Arrearage","param":null,"message":"Access denied, please make sure your account is in good standing.","type":"Arrearage"}}"#,
            "quota",
        ),
        (
            "minimax",
            200,
            r#"{"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}"#,
            "quota",
        ),
    ]);
}

#[test]
fn an_unknown_model_and_a_wrong_address_are_distinguished() {
    check(&[
        (
            "openai",
            404,
            r#"{"error":{"message":"The model `gpt-9` does not exist or you do not have access to it.","type":"invalid_request_error","param":null,"code":"model_not_found"}}"#,
            "unknown_model",
        ),
        (
            "azure",
            404,
            r#"{"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist."}}"#,
            "unknown_model",
        ),
        (
            "anthropic",
            404,
            r#"{"type":"error","error":{"type":"not_found_error","message":"model: claude-9"}}"#,
            "unknown_model",
        ),
        (
            "deepseek",
            400,
            r#"{"error":{"message":"Model Not Exist","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}"#,
            "unknown_model",
        ),
        (
            "zhipu",
            400,
            r#"{"error":{"code":"1211","message":"模型不存在,请检查模型代码。"}}"#,
            "unknown_model",
        ),
        (
            "tongyi",
            404,
            r#"{"error":{"message":"The model `qwen-x` does not exist or you do not have access to it.","type":"invalid_request_error","param":null,"code":"model_not_found"}}"#,
            "unknown_model",
        ),
        (
            "volcengine",
            404,
            r#"{"error":{"code":"InvalidEndpointOrModel.NotFound","message":"The model or endpoint x does not exist","param":"","type":"NotFound"}}"#,
            "unknown_model",
        ),
        (
            "ollama",
            404,
            r#"{"error":{"message":"model \"llama9\" not found, try pulling it first","type":"api_error","param":null,"code":null}}"#,
            "unknown_model",
        ),
        (
            "vllm",
            404,
            r#"{"object":"error","message":"The model `x` does not exist.","type":"NotFoundError","param":null,"code":404}"#,
            "unknown_model",
        ),
        (
            "some server",
            404,
            "<html><head><title>Not Found</title></head></html>",
            "wrong_address",
        ),
        ("some server", 404, "404 page not found", "wrong_address"),
        ("some server", 301, "", "wrong_address"),
        (
            "some server",
            405,
            r#"{"detail":"Method Not Allowed"}"#,
            "wrong_address",
        ),
    ]);
}

#[test]
fn a_model_without_tools_is_recognised() {
    check(&[
        (
            "openai",
            400,
            r#"{"error":{"message":"Function tools with reasoning_effort are not supported for gpt-5.6-sol in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.","type":"invalid_request_error","param":"reasoning_effort","code":null}}"#,
            "no_tool_support",
        ),
        (
            "ollama",
            400,
            r#"{"error":{"message":"registry.ollama.ai/library/gemma:2b does not support tools","type":"api_error","param":null,"code":null}}"#,
            "no_tool_support",
        ),
        (
            "vllm",
            400,
            r#"{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set","type":"BadRequestError","param":null,"code":400}"#,
            "no_tool_support",
        ),
        (
            "llama.cpp",
            500,
            r#"{"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}"#,
            "no_tool_support",
        ),
        (
            "deepseek",
            400,
            r#"{"error":{"message":"deepseek-reasoner does not support Function Calling","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}"#,
            "no_tool_support",
        ),
    ]);
}

#[test]
fn filters_and_our_own_mistakes() {
    check(&[
        (
            "azure",
            400,
            r#"{"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's content management policy.","type":null,"param":"prompt","code":"content_filter","status":400}}"#,
            "refused",
        ),
        (
            "tongyi",
            400,
            r#"{"error":{"code":"data_inspection_failed","param":null,"message":"Input data may contain inappropriate content.","type":"data_inspection_failed"}}"#,
            "refused",
        ),
        (
            "zhipu",
            400,
            r#"{"error":{"code":"1301","message":"系统检测到输入或生成内容可能包含不安全或敏感内容"}}"#,
            "refused",
        ),
        (
            "openai",
            400,
            r#"{"error":{"message":"Invalid value: 'x'.","type":"invalid_request_error","param":"messages[0].role","code":"invalid_value"}}"#,
            "bad_request",
        ),
        (
            "ollama",
            400,
            r#"{"error":{"message":"invalid message format","type":"api_error","param":null,"code":null}}"#,
            "bad_request",
        ),
        (
            "vllm",
            422,
            r#"{"detail":"body is not valid"}"#,
            "bad_request",
        ),
        (
            "unknown cause, in the stream",
            200,
            r#"{"error":{"message":"something odd"}}"#,
            "stream_broken",
        ),
    ]);
}

#[test]
fn the_suppliers_words_and_its_wish_to_wait_are_kept() {
    let error = classify(Reply {
        status: Some(429),
        retry_after: Some(Duration::from_secs(7)),
        body: r#"{"error":{"message":"Slow\n down"}}"#,
    });
    assert_eq!(error.retry_after(), Some(Duration::from_secs(7)));
    assert_eq!(error.to_string(), "too many requests (HTTP 429): Slow down");
}
