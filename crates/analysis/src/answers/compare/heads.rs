//! What is known of sessions before their trials are read.

use model::{Design, Manifest};
use std::collections::HashMap;
use std::sync::Arc;

/// The manifest of a session, whose designs it shares with other sessions that have the same.
#[derive(Clone, Debug)]
pub struct Head {
    /// What was measured where, without the designs.
    pub manifest: Manifest,
    /// The experiments, as they were when the session began.
    pub designs: Vec<Arc<Design>>,
}

impl Head {
    pub(crate) fn design(&self, id: &str) -> Option<&Arc<Design>> {
        self.designs.iter().find(|design| design.id == id)
    }
}

/// Makes heads of manifests. The designs are nearly all of a manifest, and nearly all sessions of a
/// catalog have the same: each that differs is held once.
#[derive(Debug, Default)]
pub struct Heads {
    known: HashMap<String, Vec<Arc<Design>>>,
}

impl Heads {
    /// Returns the head of a session.
    pub fn head(&mut self, mut manifest: Manifest) -> Head {
        let designs = std::mem::take(&mut manifest.designs);
        let designs = designs.into_iter().map(|design| self.shared(design)).collect();
        Head { manifest, designs }
    }

    fn shared(&mut self, design: Design) -> Arc<Design> {
        let known = self.known.entry(design.id.clone()).or_default();
        if let Some(found) = known.iter().find(|it| ***it == design) {
            return Arc::clone(found);
        }
        let new = Arc::new(design);
        known.push(Arc::clone(&new));
        new
    }
}

/// The heads of one side.
#[derive(Clone, Debug)]
pub struct SideHeads {
    /// What it is called.
    pub name: String,
    /// Its sessions, at least one.
    pub heads: Vec<Head>,
}

impl SideHeads {
    /// Returns the experiment as the first session that has it defines it.
    pub(crate) fn design(&self, id: &str) -> Option<&Arc<Design>> {
        self.heads.iter().find_map(|head| head.design(id))
    }
}
