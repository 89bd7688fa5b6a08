"""`FixAgent`: deterministic fixers, and any command line."""
