//! Serves the requests of running tools, one at a time.

use super::Driver;
use super::services::ToolRequest;
use crate::event::RunEvent;
use crate::host::{HostError, OpenApproval};
use crate::todo::todo_entry;
use netaclaw_protocol::{ApprovalUsed, RunPhase, TodoItem, TodoList, ToolOutput};
use netaclaw_tools::{ServiceError, ToolUpdate};

impl Driver<'_> {
    /// After a stop nothing is begun for a tool. A tool that is gone needs no reply.
    pub(super) async fn serve(&mut self, message: ToolRequest) -> Result<(), HostError> {
        let stopped = self.input.cancel.is_cancelled();
        match message {
            ToolRequest::Update { call, update } => self.show_update(call, update).await,
            ToolRequest::ReplaceTodo { reply, .. } if stopped => {
                reply.send(Err(ServiceError::Stopped)).ok();
            }
            ToolRequest::ReplaceTodo { items, reply } => {
                let replaced = self.replace_todo(items).await;
                let told = replaced.as_ref().map_err(|_| ServiceError::Unavailable);
                reply.send(told.cloned()).ok();
                replaced?;
            }
            ToolRequest::Ask { reply, .. } if stopped => {
                reply.send(Err(ServiceError::Stopped)).ok();
            }
            ToolRequest::Ask {
                call,
                question,
                reply,
            } => match self.host.open_question(question).await {
                Ok(waiting) => {
                    self.waits_for_user(call);
                    reply.send(Ok(waiting)).ok();
                }
                Err(error) => {
                    reply.send(Err(ServiceError::Unavailable)).ok();
                    return Err(error);
                }
            },
            ToolRequest::Approve { reply, .. } if stopped => {
                reply.send(Err(ServiceError::Stopped)).ok();
            }
            ToolRequest::Approve {
                call,
                request,
                reply,
            } => match self.host.open_approval(request).await {
                Ok(opened) => {
                    if matches!(opened, OpenApproval::Asked(_)) {
                        self.waits_for_user(call);
                    }
                    reply.send(Ok(opened)).ok();
                }
                Err(error) => {
                    reply.send(Err(ServiceError::Unavailable)).ok();
                    return Err(error);
                }
            },
            ToolRequest::Allowed { call, by } => {
                let open = &mut self.calls.open[call];
                open.allowed_by.clone_from(&by);
                let used = ApprovalUsed {
                    tool_call_id: open.id.clone(),
                    allowed_by: by,
                };
                self.host.emit(RunEvent::ApprovalUsed(used));
            }
            ToolRequest::PersonAnswered { call } => {
                // What comes now is work; the time before it was the user's.
                let open = &mut self.calls.open[call];
                open.waiting = false;
                open.started_ms = self.input.clock.monotonic_ms();
                self.tell_waiting();
            }
        }
        Ok(())
    }

    fn waits_for_user(&mut self, call: usize) {
        self.calls.open[call].waiting = true;
        self.tell_waiting();
    }

    fn tell_waiting(&mut self) {
        let phase = match self
            .calls
            .open
            .iter()
            .any(|call| call.waiting && !call.ended)
        {
            true => RunPhase::WaitingForUser,
            false => RunPhase::RunningTools,
        };
        self.host.emit(RunEvent::Phase {
            phase,
            detail: None,
        });
    }

    async fn replace_todo(&mut self, items: Vec<TodoItem>) -> Result<TodoList, HostError> {
        let list = TodoList {
            revision: self.todo.get().revision + 1,
            items,
        };
        self.host.append(None, todo_entry(&list)).await?;
        self.todo.set(list.clone());
        self.host.emit(RunEvent::Todo(list.clone()));
        Ok(list)
    }

    async fn show_update(&mut self, call: usize, update: ToolUpdate) {
        let open = &mut self.calls.open[call];
        // What comes after the result is too late.
        if open.ended {
            return;
        }
        let tool_call_id = open.id.clone();
        match update {
            ToolUpdate::Output(text) => {
                let offset = open.output_chars;
                open.output_chars += text.chars().count() as u64;
                self.host.emit(RunEvent::ToolOutput(ToolOutput {
                    run_id: self.input.run_id.clone(),
                    tool_call_id,
                    offset,
                    text,
                }));
            }
            ToolUpdate::Process(update) => self.show_step(call, update).await,
        }
    }
}
