//! The shape of a cache.

use std::fmt;

/// The shortest line, in bytes: a word, below which an instruction could touch three.
pub const LINE_BYTES_MIN: u32 = 4;

/// The longest line, in bytes.
pub const LINE_BYTES_MAX: u32 = 4096;

/// The most lines of a cache. It bounds what a cache costs to play, in memory.
pub const LINES_MAX: u32 = 1 << 20;

/// Sets, ways and the bytes of a line. A line's set is given by its number modulo the sets, that is,
/// by address bits, as in hardware.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Geometry {
    sets: u32,
    ways: u32,
    line_bytes: u32,
}

impl Geometry {
    /// Makes a geometry of `sets` sets of `ways` ways of lines of `line_bytes`.
    ///
    /// # Errors
    /// [`GeometryError`] if the sets or the bytes of a line are no power of two, a line is shorter
    /// than [`LINE_BYTES_MIN`] or longer than [`LINE_BYTES_MAX`], or there are no lines or more than
    /// [`LINES_MAX`]. Ways need not be a power of two.
    pub fn new(sets: u32, ways: u32, line_bytes: u32) -> Result<Self, GeometryError> {
        if !sets.is_power_of_two() {
            return Err(GeometryError::Sets { sets });
        }
        let right = LINE_BYTES_MIN..=LINE_BYTES_MAX;
        if !line_bytes.is_power_of_two() || !right.contains(&line_bytes) {
            return Err(GeometryError::LineBytes { line_bytes });
        }
        let lines = u64::from(sets) * u64::from(ways);
        if lines == 0 || lines > u64::from(LINES_MAX) {
            return Err(GeometryError::Lines { lines });
        }
        Ok(Geometry { sets, ways, line_bytes })
    }

    /// Makes a geometry of lines that each have one place: one way.
    ///
    /// # Errors
    /// As [`Geometry::new`]; the lines are the sets.
    pub fn direct_mapped(lines: u32, line_bytes: u32) -> Result<Self, GeometryError> {
        Geometry::new(lines, 1, line_bytes)
    }

    /// Makes a geometry of lines that can each be anywhere: one set.
    ///
    /// # Errors
    /// As [`Geometry::new`]; the lines are the ways.
    pub fn fully_associative(lines: u32, line_bytes: u32) -> Result<Self, GeometryError> {
        Geometry::new(1, lines, line_bytes)
    }

    /// Sets, a power of two.
    pub fn sets(self) -> u32 {
        self.sets
    }

    /// Lines of a set.
    pub fn ways(self) -> u32 {
        self.ways
    }

    /// Bytes of a line, a power of two.
    pub fn line_bytes(self) -> u32 {
        self.line_bytes
    }

    /// Lines of all sets.
    pub fn lines(self) -> u32 {
        self.sets * self.ways
    }

    /// Bytes that it holds, without tags.
    pub fn bytes(self) -> u64 {
        u64::from(self.lines()) * u64::from(self.line_bytes)
    }

    /// The set of the line of that number.
    pub(crate) fn set(self, line: u32) -> u32 {
        line & (self.sets - 1)
    }
}

/// As `8 sets x 1 way x 8 B`.
impl fmt::Display for Geometry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Geometry { sets, ways, line_bytes } = self;
        let plural = |count: u32| if count == 1 { "" } else { "s" };
        let (s, w) = (plural(*sets), plural(*ways));
        write!(formatter, "{sets} set{s} x {ways} way{w} x {line_bytes} B")
    }
}

/// Why there is no such cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GeometryError {
    /// The sets are no power of two.
    #[error("{sets} sets; they must be a power of two")]
    Sets {
        /// The sets asked for.
        sets: u32,
    },
    /// The bytes of a line are no power of two, or out of range.
    #[error(
        "lines of {line_bytes} bytes; they must be a power of two from {LINE_BYTES_MIN} to \
         {LINE_BYTES_MAX}"
    )]
    LineBytes {
        /// The bytes asked for.
        line_bytes: u32,
    },
    /// No tree of pseudo-LRU bits for that number of ways.
    #[error("{ways} ways of a tree (plru); they must be a power of two from 1 to 64")]
    Tree {
        /// The ways asked for.
        ways: u32,
    },
    /// There are no lines, or too many.
    #[error("{lines} lines (sets times ways); they must be from 1 to {LINES_MAX}")]
    Lines {
        /// Sets times ways.
        lines: u64,
    },
}

#[cfg(test)]
mod tests {
    use super::{Geometry, GeometryError, LINES_MAX};

    #[test]
    fn a_geometry_adds_up() {
        let geometry = Geometry::new(8, 3, 16).unwrap();
        assert_eq!((geometry.lines(), geometry.bytes()), (24, 384));
        assert_eq!(geometry.set(0x1013), 3);
        assert_eq!(geometry.to_string(), "8 sets x 3 ways x 16 B");
        assert_eq!(Geometry::fully_associative(6, 8).unwrap().bytes(), 48);
        assert_eq!(Geometry::direct_mapped(8, 8).unwrap(), Geometry::new(8, 1, 8).unwrap());
    }

    #[test]
    fn what_no_hardware_has_is_refused() {
        for sets in [0, 3, 12] {
            assert_eq!(Geometry::new(sets, 1, 8), Err(GeometryError::Sets { sets }));
        }
        for line_bytes in [0, 2, 12, 8192] {
            assert_eq!(
                Geometry::new(1, 1, line_bytes),
                Err(GeometryError::LineBytes { line_bytes })
            );
        }
        assert_eq!(Geometry::new(1, 0, 8), Err(GeometryError::Lines { lines: 0 }));
        assert!(Geometry::new(1, LINES_MAX, 8).is_ok());
        let lines = u64::from(LINES_MAX) + 1;
        assert_eq!(Geometry::new(1, LINES_MAX + 1, 8), Err(GeometryError::Lines { lines }));
        // The product of the two largest fits no u32.
        let lines = (1 << 31) * u64::from(u32::MAX);
        assert_eq!(Geometry::new(1 << 31, u32::MAX, 8), Err(GeometryError::Lines { lines }));
        assert_eq!(
            Geometry::direct_mapped(12, 8).unwrap_err().to_string(),
            "12 sets; they must be a power of two"
        );
    }
}
