//! A matrix in device memory.

use super::count;
use gridcl::{DeviceBuffer, Error, ErrorKind, Result, Stream};

/// `rows` times `columns` numbers, row by row; a picture, where rows are lines.
pub(crate) struct Matrix {
    pub(super) elements: DeviceBuffer<f32>,
    pub(super) rows: u32,
    pub(super) columns: u32,
}

impl Matrix {
    /// A copy of `elements`, row by row.
    pub(crate) fn new(stream: &Stream, [rows, columns]: [usize; 2], elements: &[f32]) -> Result<Self> {
        if rows.checked_mul(columns) != Some(elements.len()) {
            let problem = format!("{rows} rows of {columns} are not {} elements", elements.len());
            return Err(Error::new(ErrorKind::InvalidValue, problem));
        }
        count("elements", elements.len())?;
        let (rows, columns) = (count("rows", rows)?, count("columns", columns)?);
        Ok(Self { elements: DeviceBuffer::from_slice(stream, elements)?, rows, columns })
    }

    /// # Safety
    /// The elements are not defined until a kernel wrote them.
    pub(super) unsafe fn uninit(stream: &Stream, [rows, columns]: [u32; 2]) -> Result<Self> {
        let elements = rows as usize * columns as usize;
        count("elements", elements)?;
        // SAFETY: the caller's.
        Ok(Self { elements: unsafe { DeviceBuffer::uninit(stream.device(), elements) }?, rows, columns })
    }

    /// The number of rows and of columns.
    pub(crate) fn shape(&self) -> [usize; 2] {
        [self.rows as usize, self.columns as usize]
    }

    /// Its elements, for kernels that do not care for rows.
    pub(crate) fn elements(&self) -> &DeviceBuffer<f32> {
        &self.elements
    }

    /// The same, to change them.
    pub(crate) fn elements_mut(&mut self) -> &mut DeviceBuffer<f32> {
        &mut self.elements
    }

    /// Its elements on the host, after all work of the stream so far.
    pub(crate) fn to_vec(&self, stream: &Stream) -> Result<Vec<f32>> {
        self.elements.to_vec(stream)
    }
}
