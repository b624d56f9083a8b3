//! What stands in a timeline: calls, device work, and how they belong together.

use crate::child::{folder, run, traced};
use crate::events::{Event, calls, check, copies, one, read, work};

/// Bytes of the first copy of both dialects' program.
const LARGE: u64 = 4 << 20;

/// Both dialects' program, whose calls have the same names but for the beginning.
#[track_caller]
fn shows_what_the_program_did(prefix: &str, program: &str, form: &str) {
    let folder = folder();
    let events = read(&traced(program, folder.path(), &[("GRIDCL_MEMORY", form)]));
    check(&events);
    let call = |name: &str| calls(&events, &format!("{prefix}{name}"));
    let up = one(&work(&events, "copy pinned to device"), "the way up");
    let kernel = one(&work(&events, "twice"), "the kernel");
    let down = one(&work(&events, "copy device to pinned"), "the way down");
    let set = one(&work(&events, "set"), "the set");

    assert_eq!(up.argument("bytes"), LARGE);
    assert_eq!(down.argument("bytes"), LARGE / 2);
    assert_eq!(set.argument("bytes"), LARGE / 4);
    assert_eq!((kernel.argument("grid"), kernel.argument("block")), (&"(3, 2, 1)".into(), &"(64, 1, 1)".into()));
    assert_eq!((kernel.text("cat"), up.text("cat"), set.text("cat")), ("kernel", "copy", "set"));
    for copy in [up, down] {
        let rate = copy.argument("bytes").as_f64().unwrap() / (copy.end() - copy.start()).max(1) as f64;
        let shown = copy.argument("GB/s").as_f64().expect("a bandwidth");
        assert!((rate - shown).abs() <= 0.001 + rate * 0.02, "{shown} GB/s, by its times {rate}");
    }

    // One stream's work is in order, and between the calls that enqueue it and the wait.
    assert_eq!((up.track(), kernel.track()), (down.track(), down.track()));
    assert_ne!(set.track(), kernel.track(), "the other stream");
    assert!(up.end() <= kernel.start() && kernel.end() <= down.start(), "in order");
    let enqueued = call("MemcpyAsync");
    assert_eq!(enqueued.len(), 2);
    let wait = one(&call("StreamSynchronize"), "the wait");
    for (work, enqueue) in [(up, enqueued[0]), (kernel, one(&call("LaunchKernel"), "the launch")), (down, enqueued[1])]
    {
        assert!(enqueue.start() <= work.start(), "{} begins after its call: {}", work.0, enqueue.0);
        assert!(work.end() <= wait.end(), "{} ends before the wait does: {}", work.0, wait.0);
        assert_eq!(arrow_from(&events, work), enqueue.start(), "the arrow leaves the call {}", enqueue.0);
    }
    let count = if prefix == "musa" { "count" } else { "sizeBytes" };
    assert_eq!(enqueued[0].argument(count), &LARGE.to_string());
    assert_eq!(enqueued[0].argument("result"), &format!("{prefix}Success"));
    let moment = events.iter().find(|event| event.phase() == "i").expect("the event's record");
    assert_eq!((moment.track(), moment.name()), (down.track(), "event record"));
    assert!(down.end() <= moment.start() && moment.start() <= wait.end());
}

/// When the call began that enqueued some work.
fn arrow_from(events: &[Event], work: &Event) -> u64 {
    let reaches =
        |event: &&Event| event.phase() == "f" && event.track() == work.track() && event.start() == work.start();
    let number = &events.iter().find(reaches).expect("an arrow").0["id"];
    let start = events.iter().find(|event| event.phase() == "s" && event.0["id"] == *number).expect("its beginning");
    let around = events.iter().filter(|event| {
        event.is_api()
            && event.track() == start.track()
            && event.start() <= start.start()
            && start.start() <= event.end()
    });
    around.map(Event::start).next_back().expect("a call")
}

#[test]
fn a_musa_program_is_shown() {
    for form in ["svm", "coarse", "buffer"] {
        shows_what_the_program_did("musa", "musa_program", form);
    }
}

#[test]
fn a_tops_program_is_shown() {
    for form in ["svm", "buffer"] {
        shows_what_the_program_did("tops", "tops_program", form);
    }
}

#[test]
fn a_program_of_the_safe_api_is_shown() {
    let folder = folder();
    let events = read(&traced("safe_program", folder.path(), &[]));
    check(&events);
    for name in ["ModuleBuilder::build", "DeviceBuffer::from_slice", "Launch::run", "DeviceBuffer::to_vec"] {
        assert_eq!(one(&calls(&events, name), name).argument("result"), "ok");
    }
    assert!(calls(&events, "Stream::download").is_empty(), "what a call does within itself is not shown");
    assert_eq!(one(&calls(&events, "Launch::run"), "the launch").argument("kernel"), "\"twice\"");
    let kernel = one(&work(&events, "twice"), "the kernel");
    let up = one(&copies(&events, "copy host to device"), "the way up");
    assert_eq!(up.argument("bytes"), 4000);
    assert!(up.end() <= kernel.start());
    let callback = events.iter().find(|event| event.name() == "callback").expect("the callback");
    assert!(callback.end() - callback.start() >= 2_000_000, "it slept: {}", callback.0);
    assert_ne!(callback.track(), one(&calls(&events, "Launch::run"), "").track(), "on a thread of its own");
}

#[test]
fn threads_and_streams_have_tracks_of_their_own() {
    let folder = folder();
    let events = read(&traced("two_threads", folder.path(), &[]));
    check(&events);
    for name in ["left", "right"] {
        let named = |event: &&Event| event.name() == "thread_name" && event.argument("name") == name;
        let track = events.iter().find(named).unwrap_or_else(|| panic!("the thread {name}")).track();
        let launches = calls(&events, "Launch::run");
        assert_eq!(launches.iter().filter(|launch| launch.track() == track).count(), 1, "{name}");
    }
    let kernels = work(&events, "twice");
    assert_eq!(kernels.len(), 2);
    assert_ne!(kernels[0].track(), kernels[1].track());
}

#[test]
fn many_commands_are_all_shown() {
    let folder = folder();
    let events = read(&traced("many_launches", folder.path(), &[]));
    check(&events);
    assert_eq!(work(&events, "twice").len(), 5_000);
    assert_eq!(calls(&events, "Launch::run").len(), 5_000);
}

#[test]
fn two_devices_are_two_processes_of_the_timeline() {
    let folder = folder();
    let file = folder.path().join("out.json");
    let variables = [("GRIDCL_TRACE", file.to_str().unwrap()), ("POCL_DEVICES", "pthread pthread")];
    let output = run("two_devices", folder.path(), &variables);
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("two devices") {
        println!("NOT TESTED: there are no two devices here");
        return;
    }
    assert!(output.status.success(), "{said}");
    let events = read(&file);
    check(&events);
    let named = |event: &&Event| event.name() == "process_name" && event.track().0 > 1;
    assert_eq!(events.iter().filter(named).count(), 2);
    let device = |number: u64| events.iter().filter(move |event| event.is_device_work() && event.track().0 == number);
    let given: u64 =
        copies(&events, "copy host to device").iter().map(|copy| copy.argument("bytes").as_u64().unwrap()).sum();
    assert!(device(2).count() > 0 && device(3).count() > 0);
    assert_eq!(given, 1 << 20, "what the program gave the first device");
    assert!(events.iter().any(|event| event.name() == "transfer"), "the thread between the devices");
}
