//! Bit streams, instantaneous codes and block codes.
