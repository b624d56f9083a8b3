//! The cache over folders of its own.

use super::*;
use std::os::unix::fs::PermissionsExt;

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().to_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

fn used(cache: &Cache, key: &str, seconds_ago: u64) {
    let file = File::options().write(true).open(cache.path(key)).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(seconds_ago)).unwrap();
}

#[test]
fn what_is_put_is_got() {
    let folder = tempfile::tempdir().unwrap();
    let below = folder.path().join("a/b");
    let cache = Cache::open(&below, 1000).unwrap();
    assert_eq!(fs::metadata(&below).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(cache.get("x"), None);
    cache.put("x", b"one");
    cache.put("x", b"two");
    assert_eq!(cache.get("x").as_deref(), Some(&b"two"[..]));
    assert_eq!(names(&below), ["x.gridcl"], "no temporary file stays");
    cache.remove("x");
    cache.remove("x");
    assert_eq!(cache.get("x"), None);
}

#[test]
fn the_least_recently_used_go_first() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::open(folder.path(), 250).unwrap();
    for (key, age) in [("a", 30), ("b", 20)] {
        cache.put(key, &[0; 100]);
        used(&cache, key, age);
    }
    assert!(cache.get("a").is_some(), "used just now");
    cache.put("c", &[0; 100]);
    assert_eq!(names(folder.path()), ["a.gridcl", "c.gridcl"]);
    cache.put("large", &[0; 251]);
    assert_eq!(names(folder.path()), ["a.gridcl", "c.gridcl"], "what can never fit drives nothing out");
}

#[test]
fn other_files_are_left_alone_and_old_temporary_ones_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::open(folder.path(), 50).unwrap();
    for name in ["notes.txt", ".writing-old", ".writing-new"] {
        fs::write(folder.path().join(name), [0; 100]).unwrap();
    }
    let old = File::options().write(true).open(folder.path().join(".writing-old")).unwrap();
    old.set_modified(SystemTime::now() - 2 * LEFT_BEHIND).unwrap();
    cache.put("a", &[0; 10]);
    assert_eq!(names(folder.path()), [".writing-new", "a.gridcl", "notes.txt"]);
}

#[test]
fn a_folder_that_others_may_write_to_is_not_used() {
    let folder = tempfile::tempdir().unwrap();
    for mode in [0o770, 0o707, 0o777] {
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode)).unwrap();
        assert!(Cache::open(folder.path(), 1000).unwrap_err().to_string().contains("others may write"));
    }
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    assert!(Cache::open(folder.path(), 1000).is_ok());
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    assert!(Cache::open(&file, 1000).is_err());
}

#[test]
fn a_folder_that_is_gone_or_full_of_surprises_costs_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::open(folder.path(), 1000).unwrap();
    fs::create_dir(cache.path("folder")).unwrap();
    assert_eq!(cache.get("folder"), None);
    cache.put("folder", b"x");
    fs::write(cache.path("large"), [0; 2000]).unwrap();
    assert_eq!(cache.get("large"), None);
    drop(folder);
    assert_eq!(cache.get("x"), None);
    cache.put("x", b"x");
    assert_eq!(cache.get("x"), None);
}

#[test]
fn many_threads_may_put_and_get_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::open(folder.path(), 5000).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4_u8 {
            let cache = &cache;
            scope.spawn(move || {
                for round in 0..50 {
                    let key = (round % 7).to_string();
                    cache.put(&key, &[thread; 1000]);
                    if let Some(bytes) = cache.get(&key) {
                        assert!(bytes.len() == 1000 && bytes.iter().all(|&byte| byte == bytes[0]), "torn");
                    }
                }
            });
        }
    });
}

#[test]
fn the_environment_says_where_and_how_much() {
    let read = |variables: &[(&str, &str)]| {
        let variables: Vec<(String, OsString)> =
            variables.iter().map(|&(name, value)| (name.to_owned(), value.into())).collect();
        Setting::read(&move |name| variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone()))
    };
    let at = |folder: &str, limit| Some(Setting { folder: folder.into(), limit });
    let on = ("GRIDCL_CACHE", "1");
    let home = ("HOME", "/home/me");
    assert_eq!(read(&[on, home]), at("/home/me/.cache/gridcl", LIMIT));
    assert_eq!(read(&[on, home, ("XDG_CACHE_HOME", "/cache")]), at("/cache/gridcl", LIMIT));
    assert_eq!(read(&[on, home, ("XDG_CACHE_HOME", "not/absolute")]), at("/home/me/.cache/gridcl", LIMIT));
    assert_eq!(read(&[home, ("GRIDCL_CACHE_DIR", "here")]), at("here", LIMIT));
    assert_eq!(read(&[on]), None);
    assert_eq!(read(&[home, ("GRIDCL_CACHE", "0"), ("GRIDCL_CACHE_DIR", "/here")]), None);
    assert_eq!(read(&[("GRIDCL_CACHE_DIR", "/x"), ("GRIDCL_CACHE_SIZE", "64K")]), at("/x", 64 << 10));
    assert_eq!(read(&[("GRIDCL_CACHE_DIR", "/x"), ("GRIDCL_CACHE_SIZE", "much")]), at("/x", LIMIT));
    assert_eq!(read(&[("GRIDCL_CACHE_DIR", "/x"), ("GRIDCL_CACHE_SIZE", "0")]), None);
    assert_eq!(read(&[("GRIDCL_CACHE_DIR", "/x"), ("GRIDCL_CACHE", "maybe")]), at("/x", LIMIT));
    #[cfg(feature = "testing")]
    assert_eq!(read(&[home]), None, "a test suite leaves its user's cache alone");
}

#[test]
fn sizes_have_units() {
    for (text, bytes) in [("0", 0), ("1000", 1000), ("64K", 65536), ("2 MiB", 2 << 20), ("1g", 1 << 30)] {
        assert_eq!(parse_size(text), Some(bytes), "{text}");
    }
    for text in ["", "M", "-1", "1T", "99999999999999999999", "99999999999999999G"] {
        assert_eq!(parse_size(text), None, "{text}");
    }
}

#[test]
fn an_entry_that_others_could_have_planted_is_not_read() {
    let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let cache = Cache::open(folder.path(), 1 << 20).unwrap();
    let planted = elsewhere.path().join("planted");
    fs::write(&planted, b"bytes").unwrap();
    std::os::unix::fs::symlink(&planted, cache.path("link")).unwrap();
    assert_eq!(cache.get("link"), None, "a link leads out of the folder");
    let pipe = std::ffi::CString::new(cache.path("pipe").to_str().unwrap()).unwrap();
    // SAFETY: the path is a NUL-terminated string.
    assert_eq!(unsafe { libc::mkfifo(pipe.as_ptr(), 0o600) }, 0);
    assert_eq!(cache.get("pipe"), None, "a pipe is not waited for");
    fs::create_dir(cache.path("folder")).unwrap();
    assert_eq!(cache.get("folder"), None);
    for mode in [0o620, 0o602, 0o666] {
        cache.put("open", b"bytes");
        fs::set_permissions(cache.path("open"), fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(cache.get("open"), None, "others may write to it: {mode:o}");
    }
    cache.put("large", b"bytes");
    File::options().write(true).open(cache.path("large")).unwrap().set_len((1 << 20) + 1).unwrap();
    assert_eq!(cache.get("large"), None, "it is larger than any entry");
    // Or the next entry would have to make room for it.
    fs::remove_file(cache.path("large")).unwrap();
    cache.put("theirs", b"bytes");
    assert!(cache.get("theirs").is_some());
    // Only root can give a file away.
    if std::os::unix::fs::chown(cache.path("theirs"), Some(12_345), None).is_ok() {
        assert_eq!(cache.get("theirs"), None, "another user's");
    }
    // What is written replaces the link, not what it leads to.
    cache.put("link", b"ours");
    assert_eq!(cache.get("link").as_deref(), Some(&b"ours"[..]));
    assert_eq!(fs::read(&planted).unwrap(), b"bytes");
}

#[test]
fn a_folder_of_another_user_is_not_used() {
    let folder = tempfile::tempdir().unwrap();
    // Only root can give a folder away.
    if std::os::unix::fs::chown(folder.path(), Some(12_345), None).is_ok() {
        let error = Cache::open(folder.path(), 1000).unwrap_err().to_string();
        assert!(error.contains("it belongs to user 12345"), "{error}");
    }
}
