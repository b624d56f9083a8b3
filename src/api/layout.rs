//! How the elements of the two ends of a copy lie, and the box of bytes that this makes. Without a device.

use crate::error::{Error, ErrorKind, Result};
use crate::rt::copy::{Extent, Pitch, Region};
use std::fmt;

/// The size of a box in elements: `depth` slices of `height` rows of `width`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Elements of a row.
    pub width: usize,
    /// Rows of a slice.
    pub height: usize,
    /// Slices; 1 for what has two dimensions.
    pub depth: usize,
}

impl Shape {
    /// The number of elements; the largest number where there are more.
    pub fn len(self) -> usize {
        self.width.saturating_mul(self.height).saturating_mul(self.depth)
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    pub(super) fn extent(self, element: usize) -> Extent {
        Extent { width: self.width.saturating_mul(element), rows: self.height, slices: self.depth }
    }
}

impl From<(usize, usize)> for Shape {
    fn from((width, height): (usize, usize)) -> Self {
        Self { width, height, depth: 1 }
    }
}

impl From<(usize, usize, usize)> for Shape {
    fn from((width, height, depth): (usize, usize, usize)) -> Self {
        Self { width, height, depth }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} x {} x {}", self.width, self.height, self.depth)
    }
}

/// How the elements of one end lie.
#[derive(Clone, Copy, Debug)]
pub enum Layout {
    /// One behind the other; they take the other end's shape.
    Row,
    /// In rows that begin so many elements apart, of the other end's shape.
    Stepped(usize),
    /// In a shape of their own, with pitches in bytes.
    Box(Shape, [usize; 2]),
}

/// One end: how many elements, and how they lie.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side {
    pub(super) elements: usize,
    pub(super) layout: Layout,
}

/// The box that a copy of elements of so many bytes moves.
///
/// # Errors
/// [`ErrorKind::InvalidValue`] where the ends differ in length or shape, and where neither says the shape.
pub(super) fn fit(to: Side, from: Side, element: usize) -> Result<Region> {
    let shape = match (to.layout, from.layout) {
        (Layout::Box(to, _), Layout::Box(from, _)) if to != from => {
            let problem = format!("the source has {from} elements");
            return Err(Error::new(ErrorKind::InvalidValue, problem)
                .argument("target", format_args!("{to} elements"))
                .help("copy boxes of the same shape"));
        }
        (Layout::Box(shape, _), _) | (_, Layout::Box(shape, _)) => shape,
        (Layout::Row, Layout::Row) if to.elements == from.elements => {
            return Ok(Region::flat(to.elements * element));
        }
        (Layout::Row, Layout::Row) => {
            return Err(Error::new(ErrorKind::InvalidValue, format!("the source has {} elements", from.elements))
                .argument("target", format_args!("{} elements", to.elements))
                .help("copy slices of the same length"));
        }
        (Layout::Stepped(step), _) | (_, Layout::Stepped(step)) => {
            return Err(Error::new(ErrorKind::InvalidValue, "neither end says how long the rows are")
                .argument("step", step)
                .help("let one end be a pitched buffer or a view of one"));
        }
    };
    let pitch = |name, side: Side| pitch(side, shape, element).map_err(|error| error.argument(name, side));
    Ok(Region { extent: shape.extent(element), to: pitch("target", to)?, from: pitch("source", from)? })
}

/// How a shape lies at one end, in bytes; refused where the end has no room for it.
fn pitch(side: Side, shape: Shape, element: usize) -> Result<Pitch> {
    let step = match side.layout {
        Layout::Box(_, [row, slice]) => return Ok(Pitch { row, slice }),
        Layout::Row if side.elements == shape.len() => shape.width,
        Layout::Row => {
            let problem = format!("the other end has {shape} = {} elements", shape.len());
            return Err(Error::new(ErrorKind::InvalidValue, problem).help("copy as many elements"));
        }
        Layout::Stepped(step) if step < shape.width => {
            let problem = format!("rows of {} elements do not fit", shape.width);
            return Err(Error::new(ErrorKind::InvalidPitch, problem).help("a step is no smaller than a row"));
        }
        Layout::Stepped(step) => step,
    };
    let pitch = Pitch { row: step, slice: step.saturating_mul(shape.height) };
    match shape.extent(1).span(pitch) {
        Some(needed) if needed <= side.elements => {
            Ok(Pitch { row: step.saturating_mul(element), slice: pitch.slice.saturating_mul(element) })
        }
        needed => {
            let needed = needed.map_or_else(|| "more than there can be".to_owned(), |needed| needed.to_string());
            Err(Error::new(ErrorKind::InvalidValue, format!("the other end's {shape} elements need {needed}")))
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} elements", self.elements)?;
        match self.layout {
            Layout::Stepped(step) => write!(f, " in steps of {step}"),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(elements: usize, layout: Layout) -> Side {
        Side { elements, layout }
    }

    fn refusal(to: Side, from: Side) -> String {
        fit(to, from, 4).expect_err("a refusal").to_string()
    }

    const BOX: Layout = Layout::Box(Shape { width: 3, height: 2, depth: 2 }, [512, 1024]);

    #[test]
    fn a_row_takes_the_other_ends_shape() -> Result<()> {
        let region = fit(side(12, BOX), side(12, Layout::Row), 4)?;
        assert_eq!(region.extent, Extent { width: 12, rows: 2, slices: 2 });
        assert_eq!((region.to, region.from), (Pitch { row: 512, slice: 1024 }, Pitch { row: 12, slice: 24 }));
        assert_eq!(fit(side(7, Layout::Row), side(7, Layout::Row), 4)?, Region::flat(28));
        Ok(())
    }

    #[test]
    fn steps_are_in_elements_and_slices_follow_each_other() -> Result<()> {
        // The last row needs no room behind it.
        let region = fit(side(5 * 3 + 3, Layout::Stepped(5)), side(12, BOX), 4)?;
        assert_eq!(region.to, Pitch { row: 20, slice: 40 });
        assert!(refusal(side(17, Layout::Stepped(5)), side(12, BOX)).contains("need 18"));
        let short = refusal(side(100, Layout::Stepped(2)), side(12, BOX));
        assert_eq!(
            short,
            "target = 100 elements in steps of 2: rows of 3 elements do not fit; a step is no smaller than a row"
        );
        assert!(refusal(side(100, Layout::Stepped(usize::MAX)), side(12, BOX)).contains("more than there can be"));
        assert!(refusal(side(100, Layout::Stepped(9)), side(100, Layout::Row)).contains("neither end"));
        Ok(())
    }

    #[test]
    fn ends_that_differ_are_refused() {
        let other = Layout::Box(Shape::from((3, 4)), [512, 2048]);
        assert!(
            refusal(side(12, BOX), side(12, other)).contains("target = 3 x 2 x 2 elements: the source has 3 x 4 x 1")
        );
        assert!(
            refusal(side(12, BOX), side(11, Layout::Row)).contains("source = 11 elements: the other end has 3 x 2 x 2")
        );
        assert!(refusal(side(2, Layout::Row), side(1, Layout::Row)).contains("the source has 1 elements"));
    }

    #[test]
    fn an_empty_shape_needs_no_room() -> Result<()> {
        let nothing = Layout::Box(Shape::from((0, 9)), [0, 0]);
        assert!(fit(side(0, nothing), side(0, Layout::Row), 4)?.extent.is_empty());
        assert!(fit(side(0, Layout::Stepped(1)), side(0, nothing), 4)?.extent.is_empty());
        Ok(())
    }
}
