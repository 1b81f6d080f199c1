//! The files that programs are made of, each read once.

use super::Image;
use super::symbols::Symbols;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The files that were read.
#[derive(Debug, Default)]
pub(super) struct Files(HashMap<String, Option<Rc<Symbols>>>);

impl Files {
    /// Returns the symbols of a file of a process, whose root may be another one.
    pub(super) fn symbols(&mut self, image: &Image, file: &str) -> Option<Rc<Symbols>> {
        if !self.0.contains_key(file) {
            let path = file.trim_end_matches(" (deleted)");
            let inside = PathBuf::from(format!("/proc/{}/root{path}", image.pid));
            let read = Symbols::read(&inside).or_else(|| Symbols::read(Path::new(path)));
            self.0.insert(file.to_string(), read.map(Rc::new));
        }
        self.0.get(file)?.clone()
    }
}
