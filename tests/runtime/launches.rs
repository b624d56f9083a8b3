//! launches
