//! What was made lately, for whoever wants the same again.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// How many are remembered; the one that was wanted longest ago goes first.
const KEPT_MAX: usize = 32;

/// Values that follow from what they are made of and from nothing else. Cheap to clone; all clones are
/// the same.
pub struct Lately<K, V> {
    made: Arc<Mutex<VecDeque<(K, V)>>>,
}

impl<K, V: Clone> Lately<K, V> {
    /// The value that was made of the same, or else one that is made now. Nobody waits for somebody who
    /// makes one: it may be made twice.
    pub fn get(&self, same: impl Fn(&K) -> bool, make: impl FnOnce() -> (K, V)) -> V {
        match self.find(same) {
            Some(value) => value,
            None => {
                let (made_of, value) = make();
                self.add(made_of, value.clone());
                value
            }
        }
    }

    pub fn find(&self, same: impl Fn(&K) -> bool) -> Option<V> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let at = made.iter().position(|(made_of, _)| same(made_of))?;
        let found = made.remove(at)?;
        let value = found.1.clone();
        made.push_front(found);
        Some(value)
    }

    /// Forgets what is of no use any more.
    pub fn keep(&self, useful: impl Fn(&K) -> bool) {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        made.retain(|(made_of, _)| useful(made_of));
    }

    pub fn add(&self, made_of: K, value: V) {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        made.truncate(KEPT_MAX - 1);
        made.push_front((made_of, value));
    }
}

impl<K, V> Clone for Lately<K, V> {
    fn clone(&self) -> Self {
        Self {
            made: Arc::clone(&self.made),
        }
    }
}

impl<K, V> Default for Lately<K, V> {
    fn default() -> Self {
        Self {
            made: Arc::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wanted_again_stays_and_what_is_not_goes() {
        let lately = Lately::<usize, usize>::default();
        let get = |n: usize| lately.get(|known| *known == n, || (n, n * 10));
        for n in 0..100 {
            assert_eq!(get(n), n * 10);
            assert_eq!(get(0), 0);
        }
        let known = |n: usize| lately.find(|known| *known == n).is_some();
        assert!(known(0) && known(99));
        assert!(!known(1));
        let kept = (0..100).filter(|n| known(*n)).count();
        assert_eq!(kept, KEPT_MAX);
        lately.keep(|known| *known == 0);
        assert!(known(0) && !known(99));
    }
}
