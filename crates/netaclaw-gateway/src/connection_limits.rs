//! Limits the number of connections, in total and per address.

use ipnet::IpNet;
use netaclaw_protocol::{Refusal, TooMany, Unavailable};
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};

/// 0 means no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionLimits {
    pub total_max: usize,
    /// Trusted proxies are exempt: many clients share the address of one.
    pub per_address_max: usize,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            total_max: 10_000,
            per_address_max: 2_000,
        }
    }
}

/// The connections of a server, counted.
#[derive(Debug)]
pub(crate) struct ConnectionCounter {
    limits: ConnectionLimits,
    /// Addresses of which many clients come.
    exempt: Vec<IpNet>,
    taken: Arc<Mutex<ConnectionCounts>>,
}

#[derive(Debug, Default)]
struct ConnectionCounts {
    total: usize,
    by_address: HashMap<IpAddr, usize>,
}

/// A connection that is counted for as long as this is kept.
#[derive(Debug)]
pub(crate) struct CountedConnection {
    taken: Arc<Mutex<ConnectionCounts>>,
    address: IpAddr,
}

/// Why a connection is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TooManyConnections {
    Server,
    Address,
}

impl ConnectionCounter {
    pub(crate) fn new(limits: ConnectionLimits, exempt: Vec<IpNet>) -> Self {
        Self {
            limits,
            exempt,
            taken: Arc::default(),
        }
    }

    pub(crate) fn take(&self, address: IpAddr) -> Result<CountedConnection, TooManyConnections> {
        let is_exempt = self
            .exempt
            .iter()
            .any(|net| net.contains(&address.to_canonical()));
        let address = network_of(address);
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if is_reached(taken.total, self.limits.total_max) {
            return Err(TooManyConnections::Server);
        }
        let here = taken.by_address.get(&address).copied().unwrap_or(0);
        if !is_exempt && is_reached(here, self.limits.per_address_max) {
            return Err(TooManyConnections::Address);
        }
        taken.total += 1;
        taken.by_address.insert(address, here + 1);
        Ok(CountedConnection {
            taken: Arc::clone(&self.taken),
            address,
        })
    }
}

impl Drop for CountedConnection {
    fn drop(&mut self) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.total -= 1;
        if let Some(here) = taken.by_address.get_mut(&self.address) {
            *here -= 1;
            if *here == 0 {
                taken.by_address.remove(&self.address);
            }
        }
    }
}

impl TooManyConnections {
    /// The whole answer to whatever was going to be asked.
    pub(crate) fn answer(self) -> String {
        let (status, refusal) = match self {
            Self::Server => (
                "503 Service Unavailable",
                Refusal::new(Unavailable::ConnectionsOfServer),
            ),
            Self::Address => (
                "429 Too Many Requests",
                Refusal::new(TooMany::ConnectionsOfAddress),
            ),
        };
        let body = serde_json::to_string(&refusal).expect("a refusal is plain data");
        format!(
            "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nRetry-After: 5\r\n\
             Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
    }
}

fn is_reached(count: usize, max: usize) -> bool {
    max != 0 && count >= max
}

/// A client with one IPv6 address has all of its /64.
fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => {
            let network = u128::from(v6) & !u128::from(u64::MAX);
            IpAddr::V6(Ipv6Addr::from(network))
        }
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_counted_in_all_and_by_address() {
        let places = ConnectionCounter::new(
            ConnectionLimits {
                total_max: 3,
                per_address_max: 2,
            },
            Vec::new(),
        );
        let [a, b, c]: [IpAddr; 3] =
            ["10.0.0.1", "2001:db8::1", "::ffff:10.0.0.1"].map(|text| text.parse().unwrap());
        let first = places.take(a).unwrap();
        let second = places.take(c).unwrap();
        assert_eq!(places.take(a).unwrap_err(), TooManyConnections::Address);
        let third = places.take(b).unwrap();
        assert_eq!(places.take(b).unwrap_err(), TooManyConnections::Server);
        drop((first, second));
        let same_network = "2001:db8::2".parse().unwrap();
        let fourth = places.take(same_network).unwrap();
        assert_eq!(places.take(b).unwrap_err(), TooManyConnections::Address);
        drop((third, fourth));
        assert!(places.taken.lock().unwrap().by_address.is_empty());
    }

    #[test]
    fn a_trusted_proxy_has_as_many_as_the_server() {
        let limits = ConnectionLimits {
            total_max: 2,
            per_address_max: 1,
        };
        let places = ConnectionCounter::new(limits, vec!["10.0.0.0/8".parse().unwrap()]);
        let proxy = "::ffff:10.1.2.3".parse().unwrap();
        let held = [places.take(proxy).unwrap(), places.take(proxy).unwrap()];
        assert_eq!(places.take(proxy).unwrap_err(), TooManyConnections::Server);
        drop(held);
    }

    #[test]
    fn zero_is_no_limit() {
        let places = ConnectionCounter::new(
            ConnectionLimits {
                total_max: 0,
                per_address_max: 0,
            },
            Vec::new(),
        );
        let address = "127.0.0.1".parse().unwrap();
        let all: Vec<CountedConnection> =
            (0..5_000).map(|_| places.take(address).unwrap()).collect();
        assert_eq!(all.len(), 5_000);
    }
}
