//! Which layer a file belongs to, which ones its paths lead to, and whether it may go there.

use crate::lex::{self, Code};
use crate::path::{Mention, Role, mentions};
use crate::{DRIVER_CRATES, DRIVER_LAYER, LAYERS, PRIVATE, THIS_CRATE};
use std::collections::{BTreeMap, BTreeSet};

/// One layer of the house.
#[derive(Debug)]
pub(crate) struct Layer {
    pub(crate) name: &'static str,
    /// Its module, from the crate root. Of nested ones the innermost counts.
    pub(crate) module: &'static [&'static str],
    /// The other layers that it may use.
    pub(crate) may_use: &'static [&'static str],
}

/// What a path leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Target {
    /// An item of this crate, from the root.
    Ours(Vec<String>),
    /// Something of another crate, or a name of the file's own.
    Other(Vec<String>),
}

/// The sources of the crate, read.
pub(crate) struct Checker<'a> {
    files: Vec<File<'a>>,
    /// What `lib.rs` names anew, such as its re-exports: the new path and the one it stands for.
    aliases: Vec<(Vec<String>, Vec<String>)>,
    /// Files that are compiled for tests only.
    test_only: BTreeSet<String>,
}

struct File<'a> {
    path: &'a str,
    module: Vec<String>,
    mentions: Vec<Mention>,
}

impl<'a> Checker<'a> {
    /// Reads source files, given as path (`src/…`) and text.
    pub(crate) fn new(sources: &'a [(String, String)]) -> Self {
        let (mut files, mut test_only) = (Vec::new(), BTreeSet::new());
        for (path, text) in sources {
            let module = module_of(path);
            let Code { tokens, test_modules } = lex::code(text);
            for name in test_modules {
                let folder = format!("src/{}", [&module[..], &[name.to_owned()]].concat().join("/"));
                test_only.extend([format!("{folder}.rs"), format!("{folder}/mod.rs")]);
            }
            let mentions = mentions(&tokens, &module);
            files.push(File { path, module, mentions });
        }
        let root = files.iter().find(|file| file.path == "src/lib.rs");
        let aliases = root.map(aliases_of).unwrap_or_default();
        Self { files, aliases, test_only }
    }

    /// All breaches of the rules, each with place, path and rule.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let judged = self.files.iter().filter(|file| file.path != "src/lib.rs" && !self.test_only.contains(file.path));
        judged.flat_map(|file| self.complaints_about(file)).collect()
    }

    fn complaints_about(&self, file: &File<'_>) -> Vec<String> {
        let is_program = file.path.starts_with("src/bin/") || file.path == "src/main.rs";
        let layer = layer_of(&file.module);
        if layer.is_none() && !is_program {
            return vec![format!("{}: belongs to no layer of the table", file.path)];
        }
        let imports = file.imports();
        let complain = |mention: &Mention| {
            let target = resolve(&mention.path, &mention.module, &imports);
            let complaint = match (layer, &target) {
                (None, Target::Other(path)) => complain_of_program(path),
                (None, Target::Ours(_)) => None,
                (Some(layer), Target::Other(path)) => complain_of_crate(layer, path),
                (Some(layer), Target::Ours(path)) => self.complain_of_use(layer, path, &mention.role),
            }?;
            let written = mention.path.join("::");
            Some(format!("{}:{}: `{written}`: {complaint}", file.path, mention.line))
        };
        file.mentions.iter().filter_map(complain).collect()
    }

    fn complain_of_use(&self, from: &Layer, path: &[String], role: &Role) -> Option<String> {
        let path = self.without_aliases(path);
        if let (Role::Glob, Some((_, module))) = (role, path.split_last())
            && LAYERS.iter().any(|layer| layer.module.len() > module.len() && begins(layer.module, module))
        {
            return Some("takes in whole layers by `*`".to_owned());
        }
        match layer_of(&path) {
            Some(to) if to.name == from.name || from.may_use.contains(&to.name) => None,
            Some(to) => Some(format!("{} may not use {}", from.name, to.name)),
            // The root itself leads nowhere yet, and exported macros have no other home.
            None if path.is_empty() || (path.len() == 1 && *role == Role::Macro) => None,
            None => Some("is of no layer of the table; name the module that it comes from".to_owned()),
        }
    }

    /// The path with names that `lib.rs` gives replaced by what they stand for.
    fn without_aliases(&self, path: &[String]) -> Vec<String> {
        let mut path = path.to_vec();
        // One re-export may name another; more than a few in a row is a circle.
        for _ in 0..4 {
            let alias = self.aliases.iter().find(|(name, _)| path.starts_with(name));
            match alias {
                Some((name, target)) if layer_of(&path).is_none() => {
                    path = [target, &path[name.len()..]].concat();
                }
                _ => break,
            }
        }
        path
    }
}

impl File<'_> {
    /// What the file's imports name, so that `use crate::rt;` and then `rt::x` is seen through.
    fn imports(&self) -> BTreeMap<String, Target> {
        let mut imports = BTreeMap::new();
        // Twice, since an import may build on one further down.
        for _ in 0..2 {
            for mention in &self.mentions {
                if let Role::Import(name) = &mention.role {
                    let target = resolve(&mention.path, &mention.module, &imports);
                    imports.insert(name.clone(), target);
                }
            }
        }
        imports
    }
}

fn aliases_of(root: &File<'_>) -> Vec<(Vec<String>, Vec<String>)> {
    let alias = |mention: &Mention| {
        let Role::Import(name) = &mention.role else {
            return None;
        };
        let new = [&mention.module[..], std::slice::from_ref(name)].concat();
        // In the root module the name of a layer is one even without `crate::`.
        let target = match resolve(&mention.path, &mention.module, &BTreeMap::new()) {
            Target::Ours(path) => path,
            Target::Other(path) if mention.module.is_empty() && layer_of(&path).is_some() => path,
            Target::Other(_) => return None,
        };
        (new != target).then_some((new, target))
    };
    root.mentions.iter().filter_map(alias).collect()
}

fn complain_of_program(path: &[String]) -> Option<String> {
    let (first, rest) = path.split_first()?;
    let private = rest.first().filter(|layer| PRIVATE.contains(&layer.as_str()));
    if first == THIS_CRATE && private.is_some() {
        return Some("a program may use the public API only".to_owned());
    }
    let driver = DRIVER_CRATES.contains(&first.as_str());
    driver.then(|| format!("only {DRIVER_LAYER} may call OpenCL"))
}

fn complain_of_crate(from: &Layer, path: &[String]) -> Option<String> {
    let first = path.first()?;
    if first == THIS_CRATE {
        return Some("the library is `crate` to itself".to_owned());
    }
    let driver = DRIVER_CRATES.contains(&first.as_str());
    (driver && from.name != DRIVER_LAYER).then(|| format!("only {DRIVER_LAYER} may call OpenCL"))
}

/// The innermost layer that holds the item.
fn layer_of(path: &[String]) -> Option<&'static Layer> {
    let holds = |layer: &&Layer| path.len() >= layer.module.len() && begins(layer.module, &path[..layer.module.len()]);
    LAYERS.iter().filter(holds).max_by_key(|layer| layer.module.len())
}

fn begins(module: &[&str], with: &[String]) -> bool {
    module.iter().zip(with).all(|(a, b)| a == b)
}

/// The module that a file holds, from its path.
fn module_of(path: &str) -> Vec<String> {
    let path = path.strip_prefix("src/").unwrap_or(path);
    let path = path.strip_suffix(".rs").unwrap_or(path);
    let mut module: Vec<String> = path.split('/').map(str::to_owned).collect();
    if module.last().is_some_and(|last| last == "mod") || module == ["lib"] {
        module.pop();
    }
    module
}

fn resolve(path: &[String], module: &[String], imports: &BTreeMap<String, Target>) -> Target {
    let Some((first, rest)) = path.split_first() else {
        return Target::Other(Vec::new());
    };
    let mut base = module.to_vec();
    match first.as_str() {
        "crate" => return Target::Ours(rest.to_vec()),
        "self" => {}
        "super" => drop(base.pop()),
        _ => {
            return match imports.get(first) {
                Some(Target::Ours(base)) => Target::Ours([base, rest].concat()),
                Some(Target::Other(base)) => Target::Other([base, rest].concat()),
                None => Target::Other(path.to_vec()),
            };
        }
    }
    let ups = rest.iter().take_while(|segment| *segment == "super").count();
    base.truncate(base.len().saturating_sub(ups));
    Target::Ours([&base, &rest[ups..]].concat())
}
