//! Trace settings.

use super::environment::{Environment, var};
use super::file::FileTelemetry;
use super::server::wrong;
use crate::error::Failure;
use crate::text::Lang;
use reqwest::Url;

/// What collectors call the place for traces.
const TRACES: &str = "/v1/traces";

/// The address for traces of a collector that takes OTLP by HTTP; `None` if none is named.
pub(super) fn traces(
    env: &Environment,
    file: FileTelemetry,
    lang: Lang,
) -> Result<Option<Url>, Failure> {
    let Some(endpoint) = env.otlp_endpoint.clone().or(file.otlp_endpoint) else {
        return Ok(None);
    };
    let url = Url::parse(&endpoint).ok();
    let url = url.filter(|url| matches!(url.scheme(), "http" | "https"));
    let refused = || wrong(var::OTLP_ENDPOINT, &endpoint, lang.otlp_values());
    let mut url = url.ok_or_else(refused)?;
    let path = url.path().trim_end_matches('/');
    if !path.ends_with(TRACES) {
        let path = format!("{path}{TRACES}");
        url.set_path(&path);
    }
    Ok(Some(url))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;

    fn load(variable: &str, value: &str, file: &str) -> Result<Option<String>, String> {
        let env =
            Environment::from_lookup(|name| (name == variable).then(|| OsString::from(value)));
        let file = toml::from_str(file).unwrap();
        let url = traces(&env, file, Lang::En).map_err(|failure| failure.to_string());
        url.map(|url| url.map(|url| url.to_string()))
    }

    #[test]
    fn a_collector_is_named_by_its_address_or_by_that_of_its_traces() {
        let traces = Some("http://127.0.0.1:4318/v1/traces".to_owned());
        let file = "otlp_endpoint = 'http://127.0.0.1:4318'";
        assert_eq!(load("", "", file), Ok(traces.clone()));
        for said in ["http://127.0.0.1:4318/", "http://127.0.0.1:4318/v1/traces"] {
            let file = "otlp_endpoint = 'http://other'";
            assert_eq!(load(var::OTLP_ENDPOINT, said, file), Ok(traces.clone()));
            assert_eq!(load(var::OTEL_ENDPOINT, said, ""), Ok(traces.clone()));
        }
        assert_eq!(load("", "", ""), Ok(None));
        for wrong in ["4318", "127.0.0.1:4318", "ftp://host", "http://"] {
            let said = load(var::OTLP_ENDPOINT, wrong, "").unwrap_err();
            assert!(said.contains(wrong) && said.contains("http://"), "{said}");
        }
    }
}
