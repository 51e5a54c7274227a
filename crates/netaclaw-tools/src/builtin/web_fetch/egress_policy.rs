//! The egress policy of `web_fetch`: names become addresses here, and nowhere else.

use super::address::is_public;
use async_trait::async_trait;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

/// What can be connected to. Code chooses it, never a model or a setting.
#[async_trait]
pub trait EgressPolicy: Send + Sync + 'static {
    fn may_connect(&self, address: IpAddr) -> bool;

    async fn look_up(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

/// All public addresses, and none of the machine's own network.
#[derive(Clone, Copy, Debug)]
pub struct PublicInternet;

#[async_trait]
impl EgressPolicy for PublicInternet {
    fn may_connect(&self, address: IpAddr) -> bool {
        is_public(address)
    }

    async fn look_up(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let found = tokio::net::lookup_host((host, 0)).await?;
        Ok(found.map(|address| address.ip()).collect())
    }
}

#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not on the public internet")]
pub(super) struct NotPublic(pub(super) String);

/// Gives the connection the very addresses that were checked, so that a second answer cannot be
/// another one.
pub(super) struct CheckedResolver(pub(super) Arc<dyn EgressPolicy>);

impl Resolve for CheckedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let reach = self.0.clone();
        Box::pin(async move {
            let host = name.as_str().to_owned();
            let found = reach.look_up(&host).await?;
            // One bad address is enough: who mixes them means no good.
            if !found.iter().all(|address| reach.may_connect(*address)) {
                return Err(NotPublic(host).into());
            }
            let found = found.into_iter().map(|address| SocketAddr::new(address, 0));
            Ok(Box::new(found) as Addrs)
        })
    }
}
