//! Timestamps as Pi writes them: ISO 8601, UTC, milliseconds, `Z`.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::Offset;

/// Formats Unix milliseconds, e.g. `2026-01-01T00:00:00.000Z`.
pub fn format_timestamp(unix_ms: i64) -> String {
    let timestamp = Timestamp::from_millisecond(unix_ms).unwrap_or(Timestamp::UNIX_EPOCH);
    let time = Offset::UTC.to_datetime(timestamp);
    match u16::try_from(time.year()) {
        Ok(year) => four_digit_year(year, time),
        Err(_) => format!("{timestamp:.3}"),
    }
}

/// Every entry has a timestamp, so this is written digit by digit: the general formatter takes
/// several times as long.
fn four_digit_year(year: u16, time: DateTime) -> String {
    let two = |number: u8| [b'0' + number / 10, b'0' + number % 10];
    let [y3, y2] = two((year / 100) as u8);
    let [y1, y0] = two((year % 100) as u8);
    let [o1, o0] = two(time.month().unsigned_abs());
    let [d1, d0] = two(time.day().unsigned_abs());
    let [h1, h0] = two(time.hour().unsigned_abs());
    let [m1, m0] = two(time.minute().unsigned_abs());
    let [s1, s0] = two(time.second().unsigned_abs());
    let ms = time.millisecond().unsigned_abs();
    let (f2, [f1, f0]) = (b'0' + (ms / 100) as u8, two((ms % 100) as u8));
    let text = [
        y3, y2, y1, y0, b'-', o1, o0, b'-', d1, d0, b'T', h1, h0, b':', m1, m0, b':', s1, s0, b'.',
        f2, f1, f0, b'Z',
    ];
    std::str::from_utf8(&text)
        .expect("digits are ASCII")
        .to_owned()
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

    /// Compared with the general formatter, over days, leap years and the limits of its range.
    #[test]
    fn timestamps_are_those_of_the_general_formatter() {
        let far = [
            Timestamp::MIN.as_millisecond(),
            -62_167_219_200_001,
            -62_167_219_200_000,
            -1,
            0,
            951_782_399_999,
            1_709_164_799_999,
            253_402_207_200_000,
        ];
        let near = (0..20_000).map(|n| n * 12_345_678_901 - 62_000_000_000_000);
        for unix_ms in far.into_iter().chain(near) {
            let timestamp = Timestamp::from_millisecond(unix_ms).unwrap();
            assert_eq!(format_timestamp(unix_ms), format!("{timestamp:.3}"));
        }
    }

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
