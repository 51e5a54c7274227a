//! Timestamps as Pi writes them: ISO 8601, UTC, milliseconds, `Z`.

use jiff::Timestamp;

/// Formats Unix milliseconds, e.g. `2026-01-01T00:00:00.000Z`.
pub fn format_timestamp(unix_ms: i64) -> String {
    let timestamp = Timestamp::from_millisecond(unix_ms).unwrap_or(Timestamp::UNIX_EPOCH);
    format!("{timestamp:.3}")
}

/// Unix milliseconds of an ISO timestamp; `None` if it cannot be read.
pub fn parse_timestamp(text: &str) -> Option<i64> {
    text.parse::<Timestamp>()
        .ok()
        .map(Timestamp::as_millisecond)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_have_three_digits_and_round_trip() {
        assert_eq!(
            format_timestamp(1_767_225_600_000),
            "2026-01-01T00:00:00.000Z"
        );
        assert_eq!(
            format_timestamp(1_767_225_600_050),
            "2026-01-01T00:00:00.050Z"
        );
        assert_eq!(
            parse_timestamp("2026-01-01T00:00:00.050Z"),
            Some(1_767_225_600_050)
        );
        assert_eq!(parse_timestamp("yesterday"), None);
    }
}
