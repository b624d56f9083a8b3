//! default_stream
