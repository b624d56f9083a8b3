//! Who needs which symbol: the mentions of functions and macros, followed to the end.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::usage::{Target, Use};

/// A function or a macro; one name may be both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Node<'s> {
    /// A function.
    Function(&'s str),
    /// A macro.
    Macro(&'s str),
}

/// Symbols by index, in hidden-parameter order.
pub(super) type Symbols = BTreeSet<usize>;

/// The mentions of a text.
#[derive(Debug, Default)]
pub(super) struct Graph<'s> {
    direct: HashMap<Node<'s>, Symbols>,
    /// For each node, those that mention it.
    users: HashMap<Node<'s>, Vec<Node<'s>>>,
}

impl<'s> Graph<'s> {
    /// Notes what `node` mentions.
    pub(super) fn add(&mut self, node: Node<'s>, uses: &[Use<'s>]) {
        for one in uses {
            let used = match one.target {
                Target::Symbol(symbol) => {
                    self.direct.entry(node).or_default().insert(symbol);
                    continue;
                }
                Target::SizeOf(_) => continue,
                Target::Function(name, _) => Node::Function(name),
                Target::Macro(name) => Node::Macro(name),
            };
            self.users.entry(used).or_default().push(node);
        }
    }

    /// The symbols that each node needs, by itself or through others.
    pub(super) fn needs(&self) -> Needs<'s> {
        Needs(self.closure(|_| true))
    }

    /// The symbols that each macro names, by itself or through other macros.
    pub(super) fn macro_needs(&self) -> Needs<'s> {
        Needs(self.closure(|node| matches!(node, Node::Macro(_))))
    }

    fn closure(&self, follow: impl Fn(&Node<'s>) -> bool) -> HashMap<Node<'s>, Symbols> {
        let mut by_symbol: BTreeMap<usize, Vec<Node<'s>>> = BTreeMap::new();
        for (node, symbols) in self.direct.iter().filter(|(node, _)| follow(node)) {
            symbols.iter().for_each(|&symbol| by_symbol.entry(symbol).or_default().push(*node));
        }
        let mut needs: HashMap<Node<'s>, Symbols> = HashMap::new();
        for (symbol, mut open) in by_symbol {
            while let Some(node) = open.pop() {
                if needs.entry(node).or_default().insert(symbol) {
                    open.extend(self.users.get(&node).into_iter().flatten().filter(|user| follow(user)));
                }
            }
        }
        needs
    }
}

/// The symbols of every function and macro.
#[derive(Debug)]
pub(super) struct Needs<'s>(HashMap<Node<'s>, Symbols>);

impl<'s> Needs<'s> {
    /// The symbols of `node`.
    pub(super) fn of(&self, node: Node<'s>) -> impl Iterator<Item = usize> + '_ {
        self.0.get(&node).into_iter().flatten().copied()
    }

    /// Whether `node` needs any.
    pub(super) fn any(&self, node: Node<'s>) -> bool {
        self.of(node).next().is_some()
    }
}
