//! The OpenCL loader, the drivers that it is told of, the hardware that the system shows, and whether devices work.

use super::Finding;
use gridcl::{Device, DeviceBuffer, Module, launch};
use std::ffi::{CStr, CString};
use std::fs::{read_dir, read_to_string};
use std::path::{Path, PathBuf};

/// Where the loader finds its drivers' names.
const VENDORS: &str = "/etc/OpenCL/vendors";
const INSTALL_LOADER: &str = "sudo apt-get install ocl-icd-libopencl1    # Debian, Ubuntu\n\
    sudo dnf install ocl-icd                    # Fedora\n\
    or name its file in OPENCL_DYLIB_PATH";
const INSTALL_DRIVER: &str = "sudo apt-get install pocl-opencl-icd        # the CPU as a device; Debian, Ubuntu\n\
    sudo dnf install pocl                       # Fedora\n\
    or the driver of the GPU's vendor";

/// The loader, and the libraries that it will load.
pub(super) fn loader() -> Vec<Finding> {
    let notes = Device::discovery();
    if let Some(note) = notes.iter().find(|note| note.starts_with("no OpenCL loader")) {
        return vec![Finding::bad(note.clone(), INSTALL_LOADER)];
    }
    let mut findings = vec![Finding::good("the OpenCL loader is there")];
    let given = std::env::var_os("OCL_ICD_VENDORS").filter(|given| !given.is_empty()).map(PathBuf::from);
    let place = given.clone().unwrap_or_else(|| VENDORS.into());
    if given.is_some() && place.extension().is_none_or(|extension| extension != "icd") && place.is_file() {
        findings.push(driver(&place, "OCL_ICD_VENDORS"));
        return findings;
    }
    let mut files: Vec<PathBuf> = match place.is_file() {
        true => vec![place.clone()],
        false => read_dir(&place).into_iter().flatten().flatten().map(|entry| entry.path()).collect(),
    };
    files.retain(|file| file.extension().is_some_and(|extension| extension == "icd"));
    files.sort();
    if files.is_empty() {
        findings.push(Finding::bad(format!("{} names no driver", place.display()), INSTALL_DRIVER));
    }
    for file in files {
        let name = read_to_string(&file).unwrap_or_default();
        findings.push(driver(Path::new(name.trim()), &file.display().to_string()));
    }
    findings
}

/// Whether a driver's library can be loaded.
fn driver(library: &Path, named_by: &str) -> Finding {
    match load(library) {
        Ok(()) => Finding::good(format!("{} ({named_by})", library.display())),
        Err(problem) => Finding::warning(
            format!("the driver {} does not load: {problem}", library.display()),
            format!("install the package that it belongs to, or remove {named_by}"),
        ),
    }
}

fn load(library: &Path) -> Result<(), String> {
    let name = CString::new(library.as_os_str().as_encoded_bytes()).map_err(|_| "its name holds a zero byte")?;
    // SAFETY: drivers are loaded by every program that uses OpenCL; it stays loaded.
    let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_LOCAL) };
    if !handle.is_null() {
        return Ok(());
    }
    // SAFETY: the text stays until the thread's next call of this family.
    let problem = unsafe { libc::dlerror() };
    if problem.is_null() {
        return Err("the system does not say why".into());
    }
    // SAFETY: as above, and it ends with a zero byte.
    Err(unsafe { CStr::from_ptr(problem) }.to_string_lossy().into_owned())
}

/// Nodes of devices that the user may not open, and GPUs without a driver for OpenCL.
pub(super) fn hardware() -> Vec<Finding> {
    let mut nodes: Vec<PathBuf> = vec!["/dev/kfd".into(), "/dev/nvidiactl".into()];
    let in_dri = read_dir("/dev/dri").into_iter().flatten().flatten().map(|entry| entry.path());
    nodes.extend(
        in_dri.filter(|path| path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"renderD"))),
    );
    let mut findings = Vec::new();
    for node in nodes.into_iter().filter(|node| node.exists()) {
        findings.push(match is_open_to_us(&node) {
            true => Finding::good(format!("{} is open to this user", node.display())),
            false => Finding::warning(
                format!("this user may not open {}", node.display()),
                "sudo usermod -aG render,video $USER         # then log in again",
            ),
        });
    }
    if Path::new("/dev/nvidiactl").exists() && !Device::all().iter().any(|device| device.vendor().starts_with("NVIDIA"))
    {
        findings.push(Finding::warning(
            "there is an NVIDIA GPU, and no OpenCL driver offers it",
            "echo libnvidia-opencl.so.1 | sudo tee /etc/OpenCL/vendors/nvidia.icd\n\
             in a container: NVIDIA_DRIVER_CAPABILITIES=compute,utility",
        ));
    }
    findings
}

fn is_open_to_us(node: &Path) -> bool {
    let Ok(name) = CString::new(node.as_os_str().as_encoded_bytes()) else { return false };
    // SAFETY: the name lives for the call.
    unsafe { libc::access(name.as_ptr(), libc::R_OK | libc::W_OK) == 0 }
}

/// Whether there are devices, and whether each computes.
pub(super) fn devices() -> Vec<Finding> {
    let devices = Device::all();
    let mut findings = Vec::new();
    if devices.is_empty() {
        let hidden = std::env::var("GRIDCL_DEVICES").ok().filter(|wanted| !wanted.trim().is_empty());
        let mend = match hidden {
            Some(wanted) => {
                format!("unset GRIDCL_DEVICES                        # it is \"{wanted}\"\n{INSTALL_DRIVER}")
            }
            None => INSTALL_DRIVER.into(),
        };
        findings.push(Finding::bad("no OpenCL device", mend));
    }
    for device in devices {
        findings.push(match try_out(device) {
            Ok(()) => Finding::good(format!("{device} ({}) computes", device.platform())),
            Err(problem) => Finding::bad(
                format!("{device} ({}) does not compute: {problem}", device.platform()),
                "GRIDCL_LOG=cl gridcl doctor                 # shows the OpenCL call that fails",
            ),
        });
    }
    findings
}

/// Builds and runs a kernel.
fn try_out(device: Device) -> Result<(), String> {
    let compute = || -> gridcl::Result<Vec<u32>> {
        let stream = device.create_stream()?;
        let text = "__kernel void squares(__global uint *x) { uint i = get_global_id(0); x[i] = i * i; }";
        let squares = Module::from_source(device, text)?.kernel("squares")?;
        let x = DeviceBuffer::<u32>::zeroed(&stream, 64)?;
        // SAFETY: 64 work items, 64 elements.
        unsafe { launch!(squares<<<4, 16, 0, &stream>>>(x)) }?;
        x.to_vec(&stream)
    };
    let squares = compute().map_err(|error| error.to_string())?;
    if squares.iter().enumerate().all(|(index, square)| *square as usize == index * index) {
        Ok(())
    } else {
        Err("a kernel gave wrong results".into())
    }
}
