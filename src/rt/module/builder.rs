//! Puts a module together: texts, files, include folders, definitions, options.

use super::Module;
use super::binary::{self, Recipe};
use super::include::{self, File};
use crate::error::{Error, ErrorKind, Result};
use crate::rt::device::Device;
use crate::trace;
use std::fmt::{self, Display};
use std::io::Write;
use std::path::{Path, PathBuf};

/// What a module is built from; made by [`Module::builder`].
///
/// Several texts and files become one module, in the order given. Files that they include are put in by gridcl where it
/// finds them: beside the including file, or in the include folders. So a symbol may be declared in an included file,
/// messages name files and lines as they were written, and the disk cache notices a change of any of them. Files that
/// are not found so are left to the driver, and the module to be built at every load.
///
/// ```
/// use gridcl::{Device, Module};
/// let module = Module::builder(Device::get(0)?)
///     .define("N", 4)
///     .source("scale.cl", "__kernel void scale(__global float *x) { x[get_global_id(0)] *= N; }")
///     .source("shift.cl", "__kernel void shift(__global float *x) { x[get_global_id(0)] += N; }")
///     .option("-cl-fast-relaxed-math")
///     .build()?;
/// assert_eq!(module.kernel_names()?.len(), 2);
/// # Ok::<(), gridcl::Error>(())
/// ```
#[derive(Clone)]
#[must_use = "nothing is built before `build`"]
pub struct ModuleBuilder {
    device: Device,
    parts: Vec<Part>,
    folders: Vec<PathBuf>,
    defines: Vec<(String, String)>,
    options: Vec<String>,
    lazy: bool,
    cached: bool,
}

/// A text, or a file with its bytes where they were read before.
#[derive(Clone)]
enum Part {
    Text(File),
    File(PathBuf, Option<Vec<u8>>),
}

impl Module {
    /// Starts to put a module for `device` together.
    pub fn builder(device: Device) -> ModuleBuilder {
        ModuleBuilder {
            device,
            parts: Vec::new(),
            folders: Vec::new(),
            defines: Vec::new(),
            options: Vec::new(),
            lazy: false,
            cached: true,
        }
    }
}

impl ModuleBuilder {
    /// Adds OpenCL C text, which messages call `name`.
    pub fn source(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.parts.push(Part::Text(File { name: name.into(), text: text.into(), path: None, identity: None }));
        self
    }

    /// Adds the text of a file, which [`build`](Self::build) reads.
    pub fn file(mut self, path: impl Into<PathBuf>) -> Self {
        self.parts.push(Part::File(path.into(), None));
        self
    }

    /// The same with the bytes at hand.
    pub(super) fn file_of(mut self, path: &Path, bytes: Vec<u8>) -> Self {
        self.parts.push(Part::File(path.to_owned(), Some(bytes)));
        self
    }

    /// Adds a folder to look for included files in, after those added before.
    pub fn include_dir(mut self, path: impl Into<PathBuf>) -> Self {
        self.folders.push(path.into());
        self
    }

    /// Defines a macro in front of all texts: `define("N", 16)`, `define("SQUARE(x)", "((x) * (x))")`,
    /// `define("FAST", "")`.
    pub fn define(mut self, name: impl Into<String>, value: impl Display) -> Self {
        self.defines.push((name.into(), value.to_string()));
        self
    }

    /// Adds options for the compiler, as `clBuildProgram` takes them. Folders of `-I` are include folders as well.
    pub fn option(mut self, options: impl Into<String>) -> Self {
        self.options.push(options.into());
        self
    }

    /// Whether the text is built at first use (`true`), or at once (`false`, the default), when its errors are seen at
    /// once too.
    pub fn lazy(mut self, lazy: bool) -> Self {
        self.lazy = lazy;
        self
    }

    /// Whether the disk cache may have it (the default).
    pub fn cache(mut self, cached: bool) -> Self {
        self.cached = cached;
        self
    }

    /// Reads the files and builds the module.
    ///
    /// # Errors
    /// [`ErrorKind::BuildFailed`] with the compiler's first errors, the source lines they mean and the whole log, and
    /// for files that include themselves without a guard; [`ErrorKind::FileNotFound`] for a file that cannot be read;
    /// [`ErrorKind::InvalidImage`] for one that is not text, and for a module without a kernel;
    /// [`ErrorKind::InvalidValue`] for a definition of several lines and for an unknown option.
    pub fn build(self) -> Result<Module> {
        let device = self.device;
        trace::observe("ModuleBuilder::build", &[("device", &device)], || self.load())
    }

    fn load(self) -> Result<Module> {
        let defines = self.defines.iter().map(|(name, value)| define(name, value)).collect::<Result<String>>()?;
        let mut files = Vec::new();
        for part in self.parts {
            files.push(match part {
                Part::Text(file) => file,
                Part::File(path, bytes) => text_file(path, bytes)?,
            });
        }
        let name = files.first().map_or_else(|| super::TEXT_NAME.to_owned(), |file| file.name.clone());
        let mut options = self.options.join(" ").trim().to_owned();
        let mut folders = self.folders;
        let named = folders.len();
        folders.extend(folders_in(&options));
        let expanded = include::expand(&files, &folders, &load)?;
        if !expanded.complete {
            // No driver takes a path with a space in it.
            let given = folders[..named].iter().rev().filter_map(|folder| folder.to_str());
            for folder in given.filter(|folder| !folder.contains([' ', '"', '\''])) {
                options = format!("-I {folder} {options}");
            }
        }
        let text = defines + &expanded.text;
        let recipe = Recipe { name, text, options, complete: expanded.complete };
        Module::load(self.device, recipe, None, self.cached, self.lazy)
    }
}

fn define(name: &str, value: &str) -> Result<String> {
    let starts_well = name.starts_with(|first: char| first.is_alphabetic() || first == '_');
    if !starts_well || [name, value].iter().any(|text| text.contains(['\n', '\r', '\0'])) {
        return Err(Error::new(ErrorKind::InvalidValue, "a macro is a name and a value of one line")
            .argument("define", format_args!("{name:?} as {value:?}")));
    }
    Ok(format!("#define {name} {value}\n"))
}

/// The folders of `-I` among the compiler's options.
fn folders_in(options: &str) -> Vec<PathBuf> {
    let mut words = options.split_whitespace();
    let mut folders = Vec::new();
    while let Some(word) = words.next() {
        let folder = match word.strip_prefix("-I") {
            Some("") => words.next(),
            other => other,
        };
        folders.extend(folder.map(|folder| PathBuf::from(folder.trim_matches('"'))));
    }
    folders
}

/// Reads a file that a text includes. Its comments may be in any encoding.
fn load(path: &Path) -> Option<(PathBuf, String)> {
    let identity = path.canonicalize().ok().filter(|path| path.is_file())?;
    let bytes = std::fs::read(&identity).ok()?;
    Some((identity, String::from_utf8_lossy(&bytes).into_owned()))
}

fn text_file(path: PathBuf, bytes: Option<Vec<u8>>) -> Result<File> {
    let bytes = bytes.map_or_else(|| read(&path), Ok)?;
    let name = path.display().to_string();
    let refuse = |problem: &'static str| Error::new(ErrorKind::InvalidImage, problem).argument("path", &name);
    if binary::is_binary(&bytes) {
        return Err(refuse("the file is a module binary").help("load it alone, with Module::from_file"));
    }
    let text = String::from_utf8(bytes).map_err(|_| refuse("the file is not text"))?;
    let identity = path.canonicalize().ok();
    Ok(File { name, text, path: Some(path), identity })
}

pub(super) fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|error| {
        Error::new(ErrorKind::FileNotFound, "the file cannot be read").argument("path", path.display()).caused_by(error)
    })
}

pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let written = tempfile::NamedTempFile::new_in(folder).and_then(|mut file| {
        file.write_all(bytes)?;
        file.persist(path).map(drop).map_err(|error| error.error)
    });
    written.map_err(|error| {
        Error::new(ErrorKind::FileNotFound, "the file cannot be written")
            .argument("path", path.display())
            .caused_by(error)
    })
}

impl fmt::Debug for ModuleBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModuleBuilder").field("device", &self.device).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_found_among_options() {
        let found = folders_in("-DN=1 -I a -Ib/c -I\"d\" -cl-std=CL1.2 -I");
        assert_eq!(found, [PathBuf::from("a"), PathBuf::from("b/c"), PathBuf::from("d")]);
    }

    #[test]
    fn definitions_are_one_line() {
        assert_eq!(define("SQUARE(x)", "((x) * (x))").unwrap(), "#define SQUARE(x) ((x) * (x))\n");
        for (name, value) in [("", "1"), ("1x", "1"), ("X", "1\n2"), ("X\n", ""), ("X", "\0")] {
            assert_eq!(define(name, value).unwrap_err().kind(), ErrorKind::InvalidValue);
        }
    }
}
