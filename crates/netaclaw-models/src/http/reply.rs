//! Answers that are not streams: refusals, and lists.

use super::Transport;
use crate::error::{Detail, ModelError, Reply, TimeoutStage, classify};
use reqwest::Response;
use reqwest::header::HeaderMap;
use serde::de::DeserializeOwned;
use std::time::{Duration, SystemTime};

/// More of a refusal is not read; the sentence that matters comes first.
const REFUSAL_BYTES_MAX: usize = 64 * 1024;
/// A list of models is long at some proxies, but not longer.
const JSON_BYTES_MAX: usize = 8 * 1024 * 1024;

/// What a response with a bad status says.
pub(crate) async fn error_reply(transport: &Transport, response: Response) -> ModelError {
    let status = response.status().as_u16();
    let retry_after = retry_after(response.headers());
    // A body that cannot be read does not hide the status.
    let body = read(transport, response, REFUSAL_BYTES_MAX)
        .await
        .unwrap_or_default();
    classify(Reply {
        status: Some(status),
        retry_after,
        body: &String::from_utf8_lossy(&body),
    })
}

/// A whole response as JSON.
pub(crate) async fn read_json<T: DeserializeOwned>(
    transport: &Transport,
    response: Response,
) -> Result<T, ModelError> {
    let body = read(transport, response, JSON_BYTES_MAX).await?;
    serde_json::from_slice(&body)
        .map_err(|error| ModelError::Protocol(Detail::text(format!("not valid JSON: {error}"))))
}

/// Reads up to `limit` bytes and leaves the rest.
pub(crate) async fn read(
    transport: &Transport,
    mut response: Response,
    limit: usize,
) -> Result<Vec<u8>, ModelError> {
    let idle = transport.timeouts().idle;
    let mut body = Vec::new();
    while body.len() < limit {
        let chunk = tokio::time::timeout(idle, response.chunk())
            .await
            .map_err(|_| ModelError::Timeout {
                stage: TimeoutStage::Idle,
                after: idle,
            })?
            .map_err(|error| transport.failed(error))?;
        match chunk {
            Some(chunk) => body.extend_from_slice(&chunk),
            None => break,
        }
    }
    body.truncate(limit);
    Ok(body)
}

/// The server's `retry-after`: milliseconds, seconds or a date.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| headers.get(name)?.to_str().ok().map(str::trim);
    if let Some(ms) = text("retry-after-ms").and_then(|ms| ms.parse::<f64>().ok()) {
        return Duration::try_from_secs_f64(ms / 1000.0).ok();
    }
    let value = text("retry-after")?;
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let until = jiff::fmt::rfc2822::DateTimeParser::new()
        .parse_timestamp(value)
        .ok()?;
    // A date in the past means now.
    Some(
        SystemTime::from(until)
            .duration_since(SystemTime::now())
            .unwrap_or_default(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::header::HeaderValue;

    #[test]
    fn retry_after_is_read_in_all_its_forms() {
        let read = |name: &'static str, value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, HeaderValue::from_str(value).unwrap());
            retry_after(&headers)
        };
        assert_eq!(read("retry-after", "7"), Some(Duration::from_secs(7)));
        assert_eq!(read("retry-after", "0.5"), Some(Duration::from_millis(500)));
        assert_eq!(
            read("retry-after-ms", "1500"),
            Some(Duration::from_millis(1500))
        );
        assert_eq!(
            read("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT"),
            Some(Duration::ZERO)
        );
        let far = read("retry-after", "Wed, 21 Oct 2065 07:28:00 GMT").unwrap();
        assert!(far > Duration::from_secs(3600));
        assert_eq!(read("retry-after", "soon"), None);
        assert_eq!(read("retry-after", "-3"), None);
    }
}
