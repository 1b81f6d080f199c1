//! A group of version 2 hands its controllers down only where no process is in it itself
//! (cgroups(7), "no internal processes"), and the group that we find ourselves in holds at least us.

use super::{Cgroup, Version, find};
use crate::{Error, Pid, Result, process};
use std::path::PathBuf;

/// Our own group of version 2, which hands controllers down since we live in a group below it.
#[derive(Debug)]
pub struct Nest {
    plan: Plan,
    family: Vec<Pid>,
}

/// What a nest consists of: enough for somebody else to clear it away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The group that we were in.
    pub base: PathBuf,
    /// The group below it that we live in.
    pub home: PathBuf,
    /// What the base did not hand down before.
    pub controllers: Vec<String>,
}

impl Plan {
    /// A nest named `name` below our own group, for those of these controllers that our own group has
    /// and does not hand down; `None` where there are none, as in version 1 and at the root.
    pub fn below_own(controllers: &[&str], name: &str) -> Option<Self> {
        let own = controllers.iter().find_map(|one| blocked(one))?;
        let missing = controllers.iter().filter(|one| blocked(one).as_ref() == Some(&own));
        let controllers = missing.map(|one| find::v2_name(one).to_string()).collect();
        let home = own.path().join(name);
        Some(Plan { base: own.path, home, controllers })
    }

    /// Moves this process and its `family`, and has the base hand the controllers down.
    ///
    /// # Errors
    /// `EBUSY` where others than those are in the base; `EACCES`, `EPERM`, `EROFS`. Everything is as
    /// before then.
    pub fn settle(self, family: &[Pid]) -> Result<Nest> {
        let base = self.base();
        let mut ours = family.to_vec();
        ours.push(process::pid());
        if let Some(other) = base.processes().into_iter().find(|pid| !ours.contains(pid)) {
            let call = format!(
                "hand controllers down from {}, in which is process {other}, too",
                base.path.display()
            );
            return Err(Error::new(call, libc::EBUSY));
        }
        let home = base.child(&name_of(&self.home))?;
        let nest = Nest { plan: self, family: family.to_vec() };
        for pid in ours {
            home.add(pid)?;
        }
        for controller in &nest.plan.controllers {
            base.hand_down(controller)?;
        }
        Ok(nest)
    }

    /// Makes everything as it was, except for who is to go back: the base takes no process before.
    fn close(&self) {
        for controller in &self.controllers {
            let _ = self.base().write("cgroup.subtree_control", &format!("-{controller}"));
        }
    }

    /// Cleans up for a process that settled and is dead: kills what is left in the nest except
    /// this process, which goes back to the base.
    pub fn clear(&self) {
        if !self.home.exists() {
            return;
        }
        self.close();
        let _ = self.base().add(process::pid());
        let home = Cgroup { path: self.home.clone(), version: Version::V2 };
        let _ = home.kill_all();
        let _ = home.remove();
    }

    fn base(&self) -> Cgroup {
        Cgroup { path: self.base.clone(), version: Version::V2 }
    }
}

impl Nest {
    /// Sets who goes back with this process, in the place of the family that it settled with.
    pub fn set_family(&mut self, family: &[Pid]) {
        self.family = family.to_vec();
    }

    /// The group in which groups with the controllers can be made.
    pub fn base(&self) -> Cgroup {
        self.plan.base()
    }
}

impl Drop for Nest {
    fn drop(&mut self) {
        // Each step stands for itself: who is gone cannot be moved.
        self.plan.close();
        for pid in self.family.iter().copied().chain([process::pid()]) {
            let _ = self.base().add(pid);
        }
        let _ = Cgroup { path: self.plan.home.clone(), version: Version::V2 }.remove();
    }
}

/// Our own group, if it has the controller and cannot hand it down while a process is in it. A true
/// root can: it alone has no `cgroup.type`.
fn blocked(controller: &str) -> Option<Cgroup> {
    let own = Cgroup::own(controller).ok()?;
    let inner = own.version == Version::V2
        && own.path.join("cgroup.type").exists()
        && !find::is_core_of_v2(controller);
    (inner && !own.hands_down(controller)).then_some(own)
}

fn name_of(path: &std::path::Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
