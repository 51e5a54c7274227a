//! The client address: the peer of the connection, or the header of a trusted proxy.

use axum::http::{HeaderMap, HeaderName, header};
use ipnet::IpNet;
use std::net::{IpAddr, SocketAddr};

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The address of the client. Only trusted proxies can name another one than their own, and of the
/// list that they pass on, the right-most address that is not a trusted proxy counts: the client
/// may have written everything left of it.
pub(super) fn client_address(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let peer = peer.to_canonical();
    let is_trusted = |address: &IpAddr| trusted.iter().any(|network| network.contains(address));
    if !is_trusted(&peer) {
        return peer;
    }
    let plain = named(headers, X_FORWARDED_FOR, address_of);
    let standard = named(headers, header::FORWARDED, forwarded_for);
    let client = |hops: Vec<Option<IpAddr>>| {
        let mut client = peer;
        for hop in hops.into_iter().rev() {
            let Some(hop) = hop else { break };
            client = hop;
            if !is_trusted(&client) {
                break;
            }
        }
        client
    };
    match (plain.is_empty(), standard.is_empty()) {
        (false, true) => client(plain),
        (true, false) => client(standard),
        // A proxy writes one of them and may pass the other one on as the client wrote it.
        (false, false) => {
            let (plain, standard) = (client(plain), client(standard));
            if plain == standard { plain } else { peer }
        }
        (true, true) => peer,
    }
}

/// The addresses in all headers of a name, in order. What is not an address is `None`.
fn named(
    headers: &HeaderMap,
    name: HeaderName,
    read: fn(&str) -> Option<IpAddr>,
) -> Vec<Option<IpAddr>> {
    let lines = headers.get_all(name);
    let lines = lines.iter().map(|line| line.to_str().unwrap_or_default());
    lines.flat_map(|line| line.split(',')).map(read).collect()
}

/// `for=` of one element, such as `for="[2001:db8::1]:4711";proto=https`.
fn forwarded_for(element: &str) -> Option<IpAddr> {
    let mut pairs = element.split(';').filter_map(|pair| pair.split_once('='));
    let (_, value) = pairs.find(|(name, _)| name.trim().eq_ignore_ascii_case("for"))?;
    address_of(value.trim().trim_matches('"'))
}

/// An address, with or without a port.
fn address_of(text: &str) -> Option<IpAddr> {
    let text = text.trim();
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    let address = bare.parse::<IpAddr>().ok();
    let address = address.or_else(|| Some(text.parse::<SocketAddr>().ok()?.ip()));
    address.map(|address| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRUSTED: [&str; 2] = ["10.0.0.0/8", "fd00::/8"];

    fn check(peer: &str, headers: &[(&'static str, &str)], expected: &str) {
        let trusted = TRUSTED.map(|text| text.parse().unwrap());
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        let found = client_address(peer.parse().unwrap(), &map, &trusted);
        assert_eq!(found.to_string(), expected, "{peer} {headers:?}");
    }

    #[test]
    fn only_trusted_proxies_are_believed() {
        let spoofed = [("x-forwarded-for", "1.2.3.4"), ("forwarded", "for=1.2.3.4")];
        check("192.0.2.1", &spoofed, "192.0.2.1");
        check("::ffff:192.0.2.1", &spoofed, "192.0.2.1");
        check("10.0.0.1", &[], "10.0.0.1");
        check("10.0.0.1", &spoofed[..1], "1.2.3.4");
        check("::ffff:10.0.0.1", &spoofed[..1], "1.2.3.4");
        check("fd00::1", &spoofed[1..], "1.2.3.4");
    }

    #[test]
    fn the_right_most_foreign_address_counts() {
        for (list, expected) in [
            ("6.6.6.6, 1.2.3.4", "1.2.3.4"),
            ("6.6.6.6, 1.2.3.4, 10.1.1.1", "1.2.3.4"),
            ("10.1.1.1, 10.2.2.2", "10.1.1.1"),
            ("6.6.6.6, nonsense, 10.1.1.1", "10.1.1.1"),
            ("6.6.6.6, ", "10.0.0.1"),
            ("1.2.3.4:5678", "1.2.3.4"),
            ("[2001:db8::1]:5678", "2001:db8::1"),
            ("2001:db8::1", "2001:db8::1"),
        ] {
            check("10.0.0.1", &[("x-forwarded-for", list)], expected);
        }
        let two = [
            ("x-forwarded-for", "6.6.6.6"),
            ("x-forwarded-for", "1.2.3.4"),
        ];
        check("10.0.0.1", &two, "1.2.3.4");
    }

    #[test]
    fn the_standard_header_is_read_too_and_two_that_differ_are_not() {
        for (list, expected) in [
            (
                "for=6.6.6.6, for=1.2.3.4;proto=https;by=10.0.0.1",
                "1.2.3.4",
            ),
            ("proto=https;For=\"[2001:db8::1]:4711\"", "2001:db8::1"),
            ("for=unknown", "10.0.0.1"),
            ("for=_hidden", "10.0.0.1"),
        ] {
            check("10.0.0.1", &[("forwarded", list)], expected);
        }
        let differ = [("x-forwarded-for", "1.2.3.4"), ("forwarded", "for=6.6.6.6")];
        check("10.0.0.1", &differ, "10.0.0.1");
        let agree = [("x-forwarded-for", "1.2.3.4"), ("forwarded", "for=1.2.3.4")];
        check("10.0.0.1", &agree, "1.2.3.4");
    }
}
