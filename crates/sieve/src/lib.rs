//! Every key in as often as you like, out once, in order of first appearance.
