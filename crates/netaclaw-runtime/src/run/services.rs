//! Requests of tools to the session, passed to the one place that may call the host: tools run
//! concurrently, the host gets one call at a time.

use crate::host::OpenApproval;
use async_trait::async_trait;
use futures::future::BoxFuture;
use netaclaw_governance::{Approval, ApprovalRequest};
use netaclaw_protocol::{ApprovalUse, TodoItem, TodoList};
use netaclaw_tools::{
    Clarifier, ClarifyAnswer, ClarifyQuestion, ServiceError, TodoService, ToolUpdate,
};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{mpsc, oneshot};

/// Live output waits here for the loop. When it is full, output is left out, as the result says
/// everything anyway; requests wait for room.
pub(super) const MESSAGES_MAX: usize = 256;

/// The request of a running tool.
pub(super) enum ToolRequest {
    Update {
        call: usize,
        update: ToolUpdate,
    },
    ReplaceTodo {
        items: Vec<TodoItem>,
        reply: oneshot::Sender<Result<TodoList, ServiceError>>,
    },
    Ask {
        call: usize,
        question: ClarifyQuestion,
        reply: oneshot::Sender<Result<BoxFuture<'static, ClarifyAnswer>, ServiceError>>,
    },
    Approve {
        call: usize,
        request: ApprovalRequest,
        reply: oneshot::Sender<Result<OpenApproval, ServiceError>>,
    },
    /// Standing approvals have allowed a call.
    Allowed {
        call: usize,
        by: Vec<ApprovalUse>,
    },
    /// A question has been answered or a call decided on, and its tool continues.
    PersonAnswered {
        call: usize,
    },
}

/// The list in force, as the loop and its tools see it.
#[derive(Clone, Debug, Default)]
pub(super) struct SharedTodo(Arc<Mutex<TodoList>>);

impl SharedTodo {
    pub(super) fn get(&self) -> TodoList {
        self.lock().clone()
    }

    pub(super) fn set(&self, list: TodoList) {
        *self.lock() = list;
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, TodoList> {
        // A list is replaced as a whole, so a panic elsewhere cannot have left half of one.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The services of one call.
pub(super) struct BatchServices {
    pub(super) call: usize,
    pub(super) messages_tx: mpsc::Sender<ToolRequest>,
    pub(super) todo: SharedTodo,
}

impl BatchServices {
    /// Sends a request and waits for the reply. After the end of the round there are no replies.
    async fn request<T>(
        &self,
        message: impl FnOnce(oneshot::Sender<Result<T, ServiceError>>) -> ToolRequest,
    ) -> Result<T, ServiceError> {
        let (reply, answer) = oneshot::channel();
        let sent = self.messages_tx.send(message(reply)).await;
        sent.map_err(|_| ServiceError::Stopped)?;
        answer.await.map_err(|_| ServiceError::Stopped)?
    }
}

impl BatchServices {
    async fn answered(&self) {
        let answered = ToolRequest::PersonAnswered { call: self.call };
        // After the end of the round there is no receiver.
        self.messages_tx.send(answered).await.ok();
    }

    /// Says which standing approvals allowed a call, before it runs.
    pub(super) async fn allowed(&self, call: usize, by: &[ApprovalUse]) {
        if !by.is_empty() {
            let by = by.to_vec();
            let message = ToolRequest::Allowed { call, by };
            // After the end of the round there is no receiver.
            self.messages_tx.send(message).await.ok();
        }
    }

    /// Waits as long as the user takes.
    pub(super) async fn approve(&self, request: ApprovalRequest) -> Result<Approval, ServiceError> {
        let call = self.call;
        let opened = self.request(|reply| ToolRequest::Approve {
            call,
            request,
            reply,
        });
        match opened.await? {
            OpenApproval::Remembered(approval) => Ok(approval),
            OpenApproval::Asked(waiting) => {
                let approval = waiting.await;
                self.answered().await;
                Ok(approval)
            }
        }
    }
}

#[async_trait]
impl TodoService for BatchServices {
    async fn list(&self) -> TodoList {
        self.todo.get()
    }

    async fn replace(&self, items: Vec<TodoItem>) -> Result<TodoList, ServiceError> {
        self.request(|reply| ToolRequest::ReplaceTodo { items, reply })
            .await
    }
}

#[async_trait]
impl Clarifier for BatchServices {
    async fn ask(&self, question: ClarifyQuestion) -> Result<ClarifyAnswer, ServiceError> {
        let waiting = self
            .request(|reply| ToolRequest::Ask {
                call: self.call,
                question,
                reply,
            })
            .await?;
        let answer = waiting.await;
        self.answered().await;
        Ok(answer)
    }
}
