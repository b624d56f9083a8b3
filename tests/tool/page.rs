//! The page of a timeline in a browser, where there is one.

use crate::program::{gridcl, output, run};
use crate::timelines::timeline;
use std::path::Path;
use std::process::Command;

/// The browsers that know `--headless --dump-dom`.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

fn browser() -> Option<&'static str> {
    let runs = |name: &&str| Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success());
    let found = BROWSERS.into_iter().find(runs);
    if found.is_none() {
        println!("NOT TESTED: there is no Chromium here");
    }
    found
}

/// What the page is after its scripts ran, in a browser without a network.
fn rendered(browser: &str, page: &Path, place: &str) -> String {
    let profile = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(browser);
    command.args([
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--host-resolver-rules=MAP * ~NOTFOUND",
        "--window-size=1200,700",
        "--virtual-time-budget=5000",
        "--dump-dom",
    ]);
    command.arg(format!("--user-data-dir={}", profile.path().display()));
    let output = output(command.arg(format!("file://{}{place}", page.display())));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The value of an attribute of the body.
fn attribute(page: &str, name: &str) -> String {
    let start = page.find(&format!("data-{name}=\"")).unwrap_or_else(|| panic!("no data-{name}:\n{page}"));
    page[start..].split('"').nth(1).expect("a value").to_owned()
}

#[test]
fn it_draws_zooms_and_tells_what_is_under_the_pointer() {
    let Some(browser) = browser() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let file = timeline(folder.path());
    let page = folder.path().join("page.html");
    run(&mut gridcl(&["trace", "view", file.to_str().unwrap(), "-o", page.to_str().unwrap()])).with(0);
    let slices = std::fs::read_to_string(&file).unwrap().matches("\"ph\":\"X\"").count();

    let whole = rendered(browser, &page, "");
    assert_eq!(attribute(&whole, "slices"), slices.to_string(), "all slices of the file are in the page");
    let drawn: usize = attribute(&whole, "drawn").parse().unwrap();
    assert!(0 < drawn && drawn <= slices, "{drawn} of {slices}");

    // A link leads to a part of it.
    let part = rendered(browser, &page, "#t=1000,2000");
    assert_eq!(attribute(&part, "view"), "1000,2000");

    // As with a mouse: over each place of the chart until the kernel is found, then a click, a turn of the wheel, and
    // a search.
    let acts = r#"<script>
        setTimeout(() => {
            const chart = document.getElementById("chart"), tip = document.getElementById("tip");
            chart.setPointerCapture = () => {};
            const box = chart.getBoundingClientRect();
            const send = (kind, x, y) => chart.dispatchEvent(new PointerEvent(kind, { clientX: box.left + x, clientY: box.top + y, pointerId: 1 }));
            const note = (name, value) => { document.body.dataset[name] = value; };
            for (let y = 40; y < box.height && !document.body.dataset.tip; y += 5) {
                for (let x = 191; x < box.width; x += 0.5) {
                    send("pointermove", x, y);
                    if (tip.hidden || !tip.textContent.startsWith("twice")) continue;
                    note("tip", tip.textContent);
                    send("pointerdown", x, y);
                    send("pointerup", x, y);
                    note("panel", document.getElementById("panel").textContent);
                    const before = document.body.dataset.view;
                    chart.dispatchEvent(new WheelEvent("wheel", { deltaY: -400, clientX: box.left + x, clientY: box.top + y, cancelable: true }));
                    note("zoomed", before + ";" + document.body.dataset.view);
                    break;
                }
            }
            const search = document.getElementById("search");
            search.value = "TWICE";
            search.dispatchEvent(new Event("input"));
            note("hits", document.getElementById("hits").textContent);
        }, 10);
    </script></body>"#;
    let text = std::fs::read_to_string(&page).unwrap().replace("</body>", acts);
    std::fs::write(&page, text).unwrap();
    let used = rendered(browser, &page, "");
    assert!(attribute(&used, "tip").contains("grid: (4, 1, 1)"), "{}", attribute(&used, "tip"));
    assert!(attribute(&used, "panel").contains("block(256, 1, 1)"), "{}", attribute(&used, "panel"));
    let views: Vec<f64> = attribute(&used, "zoomed").split([',', ';']).map(|at| at.parse().unwrap()).collect();
    assert!(views[0] <= views[2] && views[3] <= views[1] && views[3] - views[2] < views[1] - views[0], "{views:?}");
    assert_eq!(attribute(&used, "hits"), "3 found");
}
