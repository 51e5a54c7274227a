//! The contract every provider keeps.

use super::Files;
use async_trait::async_trait;
use netaclaw_session::contract::ContractHarness;
use netaclaw_session::{SessionTreeProvider, contract_suite};
use std::sync::Arc;

#[async_trait]
impl ContractHarness for Files {
    async fn open(&self) -> Arc<dyn SessionTreeProvider> {
        Arc::new(Files::open(self))
    }
}

contract_suite!(Files::new());
