//! A place where an answer waits for the test, so that a test can look between two events.

use std::sync::Arc;
use tokio::sync::Semaphore;

#[derive(Clone, Debug)]
pub struct Hold {
    reached: Arc<Semaphore>,
    released: Arc<Semaphore>,
}

impl Default for Hold {
    fn default() -> Self {
        Self {
            reached: Arc::new(Semaphore::new(0)),
            released: Arc::new(Semaphore::new(0)),
        }
    }
}

impl Hold {
    /// Waits until the server has reached this point.
    pub async fn reached(&self) {
        take(&self.reached).await;
    }

    /// Lets the server continue.
    pub fn release(&self) {
        self.released.add_permits(1);
    }

    /// The server's side.
    pub(crate) async fn wait(&self) {
        self.reached.add_permits(1);
        take(&self.released).await;
    }
}

async fn take(semaphore: &Semaphore) {
    semaphore
        .acquire()
        .await
        .expect("it is never closed")
        .forget();
}
