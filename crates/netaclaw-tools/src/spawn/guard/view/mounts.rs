//! Paths that are covered by mounts, and the paths inside that stay visible.

use super::TEMP;
use super::devices::{EMPTY_DIR, EMPTY_FILE};
use crate::spawn::plan::Plan;
use rustix::fs::CWD;
use rustix::mount::{
    MountFlags, MoveMountFlags, OpenTreeFlags, mount, mount_bind, move_mount, open_tree,
};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// All covers of one child, those above before those below.
pub(super) struct Mounts {
    covers: Vec<Mount>,
    kept: Vec<KeptPath>,
}

struct Mount {
    place: PathBuf,
    /// What is seen there; nothing if absent.
    by: Option<PathBuf>,
}

/// A path that the child works with although it is below a cover.
struct KeptPath {
    place: PathBuf,
    is_dir: bool,
    /// Taken when it is put back.
    tree: Option<OwnedFd>,
}

impl Mounts {
    /// Holds what is to stay visible open, so that it can be put back on top of the covers.
    pub(super) fn of(plan: &Plan) -> io::Result<Self> {
        let hidden = plan.hidden.iter().filter(|place| place.exists());
        let mut covers: Vec<Mount> = hidden
            .map(|place| Mount {
                place: place.clone(),
                by: None,
            })
            .collect();
        // A link would lead the mount elsewhere.
        if Path::new(TEMP).symlink_metadata()?.is_dir() {
            covers.push(Mount {
                place: TEMP.into(),
                by: Some(plan.temp.clone()),
            });
        }
        covers.sort_by_key(|cover| cover.place.components().count());
        let mut kept: Vec<PathBuf> = plan
            .places()
            .filter_map(|path| path.canonicalize().ok())
            .collect();
        kept.sort_by_key(|place| place.components().count());
        kept.dedup();
        kept.retain(|place| covers.iter().any(|cover| is_below(place, &cover.place)));
        let kept = kept
            .into_iter()
            .map(KeptPath::of)
            .collect::<io::Result<_>>()?;
        Ok(Self { covers, kept })
    }

    pub(super) fn apply(&mut self) -> io::Result<()> {
        let mut applied: Vec<PathBuf> = Vec::new();
        for at in 0..self.covers.len() {
            let place = self.covers[at].place.clone();
            if applied.iter().any(|above| self.is_shadowed(&place, above)) {
                continue;
            }
            let inside: Vec<usize> = (0..self.kept.len())
                .filter(|kept| self.belongs_to(*kept, at))
                .collect();
            self.covers[at].mount(!inside.is_empty())?;
            for kept in inside {
                self.kept[kept].put_back()?;
            }
            applied.push(place);
        }
        Ok(())
    }

    /// Whether a cover above already took the place away, and nothing brought it back.
    fn is_shadowed(&self, place: &Path, above: &Path) -> bool {
        is_below(place, above)
            && !self
                .kept
                .iter()
                .any(|kept| is_below(&kept.place, above) && is_below(place, &kept.place))
    }

    /// Whether a kept place is put back on this cover, and not on one further below.
    fn belongs_to(&self, kept: usize, cover: usize) -> bool {
        let (place, above) = (&self.kept[kept].place, &self.covers[cover].place);
        let is_nearer = |other: &Mount| {
            is_below(&other.place, above)
                && is_below(place, &other.place)
                && !self.is_shadowed(&other.place, above)
        };
        is_below(place, above) && !self.covers.iter().any(is_nearer)
    }
}

fn is_below(path: &Path, above: &Path) -> bool {
    path != above && path.starts_with(above)
}

impl Mount {
    fn mount(&self, holds_kept: bool) -> io::Result<()> {
        let place = &self.place;
        match (&self.by, place.is_dir()) {
            (Some(by), _) => mount_bind(by, place)?,
            (None, false) => mount_bind(EMPTY_FILE, place)?,
            (None, true) if !holds_kept => mount_bind(EMPTY_DIR, place)?,
            (None, true) => {
                let flags = MountFlags::NOSUID | MountFlags::NODEV;
                mount("tmpfs", place, "tmpfs", flags, c"mode=755,size=64k")?;
            }
        }
        Ok(())
    }
}

impl KeptPath {
    fn of(place: PathBuf) -> io::Result<Self> {
        let clone = OpenTreeFlags::OPEN_TREE_CLONE
            | OpenTreeFlags::OPEN_TREE_CLOEXEC
            | OpenTreeFlags::AT_RECURSIVE;
        Ok(Self {
            is_dir: place.is_dir(),
            tree: Some(open_tree(CWD, &place, clone)?),
            place,
        })
    }

    fn put_back(&mut self) -> io::Result<()> {
        let Some(tree) = self.tree.take() else {
            return Ok(());
        };
        match (self.is_dir, self.place.parent()) {
            (true, _) => std::fs::create_dir_all(&self.place)?,
            (false, Some(parent)) => {
                std::fs::create_dir_all(parent)?;
                if !self.place.exists() {
                    File::create(&self.place)?;
                }
            }
            (false, None) => {}
        }
        let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
        Ok(move_mount(tree, "", CWD, &self.place, flags)?)
    }
}
