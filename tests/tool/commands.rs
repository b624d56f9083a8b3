//! Help, exit codes, colours, and the commands that look at the machine.

use crate::program::{gridcl, run, write};
use gridcl::Device;

#[test]
fn help_is_printed_and_ends_well() {
    let help = run(&mut gridcl(&["--help"])).with(0);
    for command in ["info", "bandwidth", "latency", "run", "check", "doctor", "trace"] {
        assert!(help.out.contains(&format!("\n  {command} ")), "{command} in:\n{}", help.out);
        assert!(run(&mut gridcl(&[command, "--help"])).with(0).out.contains("Usage:"));
    }
    assert!(run(&mut gridcl(&["--version"])).with(0).out.starts_with("gridcl "));
}

#[test]
fn wrong_calls_end_with_2_and_say_what_is_wrong() {
    for (wrong, said) in [
        (&["nonsense"][..], "nonsense"),
        (&["info", "--jsn"], "--jsn"),
        (&["run", "a.cl"], "KERNEL"),
        (&["run", "a.cl", "k", "--grid", "1,2,3,4"], "not a shape"),
        (&["run", "a.cl", "k", "--arg", "zeros:many"], "not a number of elements"),
        (&["bandwidth", "--sizes", "0"], "copy of nothing"),
        (&["bandwidth", "--kinds", "sideways"], "sideways"),
        (&["trace"], "Usage"),
    ] {
        let ended = run(&mut gridcl(wrong)).with(2);
        assert!(ended.err.contains(said) && ended.out.is_empty(), "{wrong:?}: {}", ended.err);
    }
    assert!(run(&mut gridcl(&[])).with(2).err.contains("Usage"));
}

#[test]
fn info_shows_every_device() {
    let text = run(&mut gridcl(&["info"])).with(0).out;
    let json = run(&mut gridcl(&["info", "--json"])).with(0).json();
    let devices = Device::all();
    assert_eq!(json["devices"].as_array().map(Vec::len), Some(devices.len()));
    for (device, shown) in devices.iter().zip(json["devices"].as_array().unwrap()) {
        assert!(text.contains(device.name()) && text.contains(device.platform()));
        assert_eq!(shown["name"], device.name());
        assert_eq!(shown["global_memory_bytes"], device.total_memory());
        assert_eq!(shown["memory_form"], device.memory_form());
        assert_eq!(shown["max_block_size"], device.max_block_size());
        for substitute in device.substitutes() {
            assert!(text.contains(&substitute.lacks) && text.contains(&substitute.instead), "{substitute:?}");
        }
        assert_eq!(shown["substitutes"].as_array().map(Vec::len), Some(device.substitutes().len()));
    }
    let one = run(&mut gridcl(&["info", "--device", "0", "--json"])).with(0).json();
    assert_eq!(one["devices"].as_array().map(Vec::len), Some(1));
    assert!(run(&mut gridcl(&["info", "--device", "99"])).with(1).err.contains("99"));
}

#[test]
fn info_says_why_a_device_is_left_out() {
    let mut command = gridcl(&["info", "--json"]);
    let ended = run(command.env("GRIDCL_DEVICES", "no such device")).with(1);
    let json = ended.json();
    assert_eq!(json["devices"].as_array().map(Vec::len), Some(0));
    let notes = json["notes"].to_string();
    assert!(notes.contains("fits none") && notes.contains("left out by GRIDCL_DEVICES"), "{notes}");
    let ended = run(gridcl(&["info"]).env("GRIDCL_DEVICES", "no such device")).with(1);
    assert!(ended.err.contains("no OpenCL device"), "{}", ended.err);
}

#[test]
fn output_that_is_no_terminal_has_no_colours() {
    for command in [&["info"][..], &["doctor"], &["--help"], &["nonsense"]] {
        let ended = run(&mut gridcl(command));
        assert!(!ended.out.contains('\u{1b}') && !ended.err.contains('\u{1b}'), "{command:?}: {}", ended.out);
    }
    let forced = run(gridcl(&["info"]).env("CLICOLOR_FORCE", "1")).with(0);
    assert!(forced.out.contains("\u{1b}[1m"), "{}", forced.out);
    let refused = run(gridcl(&["info"]).env("NO_COLOR", "1")).with(0);
    assert!(!refused.out.contains('\u{1b}'));
}

#[test]
fn bandwidths_are_measured_and_drawn() {
    let folder = tempfile::tempdir().expect("a folder");
    let plot = folder.path().join("out.svg");
    let arguments = ["bandwidth", "--sizes", "4K,64K", "--time", "1", "--plot", plot.to_str().unwrap()];
    let text = run(&mut gridcl(&arguments)).with(0).out;
    assert!(text.contains("4 KiB") && text.contains("64 KiB") && text.contains("host to device, pinned"), "{text}");
    let svg = std::fs::read_to_string(&plot).expect("a plot");
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    let lines = svg.matches("<polyline").count();
    assert_eq!(svg.matches("<circle").count(), 2 * lines);
    assert!(lines >= 5, "a line for each direction");

    let json =
        run(&mut gridcl(&["bandwidth", "--sizes", "4K,1M", "--time", "1", "--json", "--kinds", "d2d,h2d-pinned"]));
    let json = json.with(0).json();
    let copies = json["copies"].as_array().expect("copies");
    assert_eq!(copies.len(), 2);
    for copy in copies {
        assert_eq!((&copy["rates"][0]["bytes"], &copy["rates"][1]["bytes"]), (&4096.into(), &1_048_576.into()));
        assert!(copy["rates"][0]["gigabytes_per_second"].as_f64().is_some_and(|rate| rate > 0.0), "{copy}");
    }
}

#[test]
fn copies_between_devices_need_another_device() {
    let mut command = gridcl(&["bandwidth", "--kinds", "peer", "--sizes", "64K", "--time", "1", "--json"]);
    let ended = run(&mut command);
    if Device::all().len() > 1 {
        assert_eq!(ended.with(0).json()["copies"][0]["kind"], "to another device");
    } else {
        assert!(ended.with(1).err.contains("no other device"));
    }
}

#[test]
fn latencies_are_measured() {
    let text = run(&mut gridcl(&["latency", "--repeat", "5"])).with(0).out;
    assert!(text.contains("launch and synchronise") && text.contains("allocate and free 4 KiB"), "{text}");
    let json = run(&mut gridcl(&["latency", "--repeat", "5", "--json"])).with(0).json();
    for call in json["calls"].as_array().expect("calls") {
        let [least, median, most] = ["min_ns", "median_ns", "p99_ns"].map(|key| call[key].as_f64().expect("a time"));
        assert!(0.0 < least && least <= median && median <= most, "{call}");
    }
}

#[test]
fn the_doctor_finds_a_working_machine_well() {
    let text = run(&mut gridcl(&["doctor"])).with(0).out;
    assert!(text.contains("computes") && text.contains("gridcl works here."), "{text}");
    let json = run(&mut gridcl(&["doctor", "--json"])).with(0).json();
    assert_eq!(json["works"], true);
}

#[test]
fn the_doctor_names_what_is_wrong_and_what_mends_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let empty = folder.path().join("vendors");
    std::fs::create_dir(&empty).expect("a folder");
    // A library that is not OpenCL's stands for a machine without the loader; a path that leads nowhere is passed over.
    let ended = run(gridcl(&["doctor"]).env("OPENCL_DYLIB_PATH", "libm.so.6")).with(1);
    assert!(ended.out.contains("no OpenCL loader") && ended.out.contains("apt-get install"), "{}", ended.out);
    let ended = run(gridcl(&["doctor"]).env("OPENCL_DYLIB_PATH", "/no/such/libOpenCL.so")).with(0);
    assert!(ended.out.contains("/no/such/libOpenCL.so leads nowhere"), "{}", ended.out);

    let ended = run(gridcl(&["doctor"]).env("OCL_ICD_VENDORS", &empty)).with(1);
    assert!(ended.out.contains("names no driver") && ended.out.contains("pocl-opencl-icd"), "{}", ended.out);

    write(&empty, "broken.icd", "libno_such_driver.so.1\n");
    let ended = run(gridcl(&["doctor"]).env("OCL_ICD_VENDORS", &empty)).with(1);
    assert!(ended.out.contains("libno_such_driver.so.1 does not load"), "{}", ended.out);

    let ended = run(gridcl(&["doctor"]).env("GRIDCL_DEVICES", "no such device")).with(1);
    assert!(ended.out.contains("unset GRIDCL_DEVICES"), "{}", ended.out);
}

#[test]
fn the_doctor_warns_of_variables_and_folders_that_help_nobody() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    let open = folder.path().join("cache");
    std::fs::create_dir(&open).expect("a folder");
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o777)).expect("permissions");
    let mut command = gridcl(&["doctor", "--json"]);
    command
        .env("GRIDCL_DEVICE", "0")
        .env("GRIDCL_MEMORY", "svn")
        .env("GRIDCL_CACHE", "1")
        .env("GRIDCL_CACHE_DIR", &open);
    let json = run(command.env("GRIDCL_TRACE", "/no/such/folder/out.json")).with(0).json();
    let warnings: Vec<String> = json["findings"]
        .as_array()
        .expect("findings")
        .iter()
        .filter(|finding| finding["grade"] == "warning")
        .map(|finding| format!("{} / {}", finding["what"], finding["mend"]))
        .collect();
    for said in ["GRIDCL_DEVICES meant", "GRIDCL_MEMORY", "chmod go-w", "unset GRIDCL_TRACE"] {
        assert!(warnings.iter().any(|warning| warning.contains(said)), "{said} in {warnings:#?}");
    }
}

#[test]
fn the_log_shows_calls_with_arguments_and_opencl_beneath() {
    let ended = run(gridcl(&["latency", "--repeat", "1"]).env("GRIDCL_LOG", "cl")).with(0);
    let launch = ended.err.lines().find(|line| line.contains("Launch::run(")).expect("a launch");
    for part in ["kernel=\"nothing\"", "grid=Dim3 { x: 1, y: 1, z: 1 }", "= ok [", " us]"] {
        assert!(launch.contains(part), "{part} in {launch}");
    }
    assert!(ended.err.contains("clEnqueueNDRangeKernel"));
    let ended = run(gridcl(&["latency", "--repeat", "1"]).env("GRIDCL_LOG", "api")).with(0);
    assert!(ended.err.contains("Launch::run(") && !ended.err.contains("clEnqueue"));
}
