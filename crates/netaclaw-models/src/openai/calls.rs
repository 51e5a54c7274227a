//! Assembles tool calls from fragments.
//!
//! The API says: by its index. Servers send no index, the same index for every call, the
//! arguments before the name, or ids only with the first fragment. So a fragment is looked up by
//! its id first, by its index second and by its place last; and a call is shown to the world as
//! soon as it has a name, because nothing can be done with it before.

use super::content::{CallDelta, arguments_of};
use crate::answer::Answer;
use crate::error::{Detail, ModelError};

#[derive(Default)]
pub(super) struct Calls {
    calls: Vec<Call>,
}

#[derive(Default)]
struct Call {
    id: String,
    index: Option<i64>,
    name: String,
    arguments: String,
    /// Its part of the answer, once it has begun.
    part: Option<usize>,
}

impl Call {
    /// Whether the arguments could be all there is.
    fn seems_complete(&self) -> bool {
        serde_json::from_str::<serde::de::IgnoredAny>(&self.arguments).is_ok()
    }
}

impl Calls {
    pub(super) fn take(&mut self, delta: CallDelta, answer: &mut Answer) {
        let function = delta.function.unwrap_or_default();
        let fragment = Fragment {
            id: delta.id.unwrap_or_default(),
            index: delta.index,
            name: function.name.unwrap_or_default(),
            arguments: function.arguments.map(arguments_of).unwrap_or_default(),
        };
        let at = self.find(&fragment).unwrap_or_else(|| {
            self.calls.push(Call::default());
            self.calls.len() - 1
        });
        let taken = self.calls.iter().any(|call| call.id == fragment.id);
        let call = &mut self.calls[at];
        call.index = call.index.or(fragment.index);
        if call.id.is_empty() && !taken {
            call.id = fragment.id;
        }
        if call.name.is_empty() {
            call.name = fragment.name;
        }
        call.arguments.push_str(&fragment.arguments);
        match call.part {
            Some(part) => answer.arguments(part, &fragment.arguments),
            None if call.name.is_empty() => {}
            None => {
                if call.id.is_empty() {
                    call.id = new_id();
                }
                let part = answer.call(&call.id, &call.name);
                // With everything that came before the name.
                answer.arguments(part, &call.arguments);
                call.part = Some(part);
            }
        }
    }

    fn find(&self, fragment: &Fragment) -> Option<usize> {
        let last = |test: &dyn Fn(&Call) -> bool| self.calls.iter().rposition(test);
        if !fragment.id.is_empty() {
            let by_id = last(&|call| call.id == fragment.id);
            let Some(at) = by_id else {
                return self.adopt(fragment);
            };
            // The same id with another index and a name of its own is another call after all.
            let call = &self.calls[at];
            let other = fragment.index.is_some()
                && call.index.is_some()
                && fragment.index != call.index
                && !fragment.name.is_empty();
            return (!other).then_some(at);
        }
        let at = match fragment.index {
            Some(index) => last(&|call| call.index == Some(index))?,
            None => self.calls.len().checked_sub(1)?,
        };
        self.continued_call(at, fragment)
    }

    /// A fragment with a new id: the first of a call, unless a call is waiting for just this id.
    fn adopt(&self, fragment: &Fragment) -> Option<usize> {
        let index = fragment.index?;
        let at = self
            .calls
            .iter()
            .rposition(|call| call.index == Some(index))?;
        let call = &self.calls[at];
        // Some proxies make up a new id for every fragment.
        let goes_on = fragment.name.is_empty() && !call.name.is_empty() && !call.seems_complete();
        (call.id.is_empty() || goes_on).then_some(at)
    }

    /// A second name where the first call could be complete begins another call.
    fn continued_call(&self, at: usize, fragment: &Fragment) -> Option<usize> {
        let call = &self.calls[at];
        let anew = !fragment.name.is_empty() && !call.name.is_empty() && call.seems_complete();
        (!anew).then_some(at)
    }

    /// A call that never got a name cannot be made.
    pub(super) fn end(&self) -> Result<(), ModelError> {
        let nameless = |call: &Call| call.part.is_none() && !call.arguments.trim().is_empty();
        match self.calls.iter().any(nameless) {
            true => Err(ModelError::Protocol(Detail::text(
                "a tool call without a name",
            ))),
            false => Ok(()),
        }
    }
}

struct Fragment {
    id: String,
    index: Option<i64>,
    name: String,
    arguments: String,
}

/// For servers that leave it out; results have to name something.
fn new_id() -> String {
    format!("call_{:016x}", fastrand::u64(..))
}
